//! Polynomial targets in the Legendre basis, whose errors are exact sums.
//!
//! f(x) = Σ_q a_q L_q(x), a_q standard normal over √Σ 1/(2q+1), so that E f² = 1 for x uniform on
//! [-1, 1]. Because E L_p L_q = [p = q] / (2q + 1), the squared distance of two expansions is
//! Σ (a_q - b_q)² / (2q + 1). (q + 1) L_{q+1} = (2q + 1) x L_q - q L_{q-1}.

use super::{DISTRIBUTION, Drawn, Noisy, ROWS, claim, noisy_target};
use learnt_core::prelude::*;
use learnt_core::stats::sample;

/// A random polynomial of one input with noise.
#[derive(Params, Clone, Debug)]
pub struct Legendre {
    /// Number of rows.
    #[param(positional, default = 100, range = 1..)]
    pub n_samples: usize,
    /// Degree of the polynomial.
    #[param(default = 10, range = 0..=1000)]
    pub degree: usize,
    /// Standard deviation of the noise.
    #[param(default = 0.5, range = 0.0..)]
    pub noise: f64,
    /// Whether to give the polynomial itself too.
    #[param(default = false)]
    pub return_noiseless: bool,
}

/// A polynomial by its coefficients in the Legendre basis.
#[derive(Clone, Debug, PartialEq)]
pub struct LegendreTarget {
    /// a_0, a_1, ...
    pub coefficients: Vec<f64>,
}

/// L_0(x), ..., L_degree(x).
pub fn legendre_values(x: f64, degree: usize) -> Vec<f64> {
    let mut values = vec![1.0, x];
    for q in 1..degree {
        let (k, next) = (q as f64, values.len());
        values.push(((2.0 * k + 1.0) * x * values[next - 1] - k * values[next - 2]) / (k + 1.0));
    }
    values.truncate(degree + 1);
    values
}

impl Legendre {
    /// The polynomial that belongs to this seed.
    pub fn target(&self, run: &Context) -> LegendreTarget {
        let mut rng = run.rng(DISTRIBUTION);
        let scale = (0..=self.degree).map(|q| 1.0 / (2 * q + 1) as f64).sum::<f64>().sqrt();
        let coefficient = |_| sample::standard_normal(&mut rng) / scale;
        LegendreTarget { coefficients: (0..=self.degree).map(coefficient).collect() }
    }

    /// The rows with the polynomial itself.
    pub fn noisy(&self, run: &Context) -> Noisy {
        let target = self.target(run);
        let mut rng = run.rng(ROWS);
        let x = (0..self.n_samples).map(|_| 2.0 * sample::uniform(&mut rng) - 1.0).collect();
        noisy_target(Matrix::column_vector(x), |row| target.value(row[0]), self.noise, &mut rng)
    }
}

impl Function for Legendre {
    type Inputs<'a> = ();
    type Output = Drawn;
    const ABOUT: &'static Callable =
        &Callable::new("datasets.make_legendre", FunctionKind::Generator).randomness();

    fn call(&self, _inputs: (), run: &Context) -> Result<Drawn> {
        claim(self.n_samples, 2, run)?;
        Ok(Drawn::of(self.noisy(run), self.return_noiseless))
    }
}

impl LegendreTarget {
    /// f(x).
    pub fn value(&self, x: f64) -> f64 {
        let values = legendre_values(x, self.coefficients.len().saturating_sub(1));
        values.iter().zip(&self.coefficients).map(|(l, a)| l * a).sum()
    }

    /// E of the squared part of degrees above this one: what no polynomial of that degree reaches.
    pub fn beyond(&self, degree: usize) -> f64 {
        let kept = &self.coefficients[..self.coefficients.len().min(degree + 1)];
        self.squared_distance(kept)
    }

    /// E (f - g)² for x uniform on [-1, 1], g given by its own coefficients.
    pub fn squared_distance(&self, other: &[f64]) -> f64 {
        let at = |c: &[f64], q: usize| c.get(q).copied().unwrap_or(0.0);
        let term = |q: usize| {
            let difference = at(&self.coefficients, q) - at(other, q);
            difference * difference / (2 * q + 1) as f64
        };
        (0..self.coefficients.len().max(other.len())).map(term).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::linalg::PivotedQr;
    use learnt_core::stats::summary;

    #[test]
    fn the_mean_square_over_many_draws_is_one() {
        let distribution = Legendre { degree: 20, ..Default::default() };
        let square = |seed: u64| {
            distribution.target(&Context::default().with_seed(seed)).squared_distance(&[])
        };
        let mean = (0..2000).map(square).sum::<f64>() / 2000.0;
        assert!((mean - 1.0).abs() < 0.05, "{mean}");
    }

    #[test]
    fn distances_agree_with_integration() {
        let f = LegendreTarget { coefficients: vec![0.3, -1.0, 0.7] };
        let n = 20_000;
        let middle = |i: usize| -1.0 + (2 * i + 1) as f64 / n as f64;
        let sum: f64 = (0..n).map(|i| (f.value(middle(i)) - 0.1).powi(2)).sum();
        assert!((sum / n as f64 - f.squared_distance(&[0.1])).abs() < 1e-8);
    }

    /// E_out(degree 10) - E_out(degree 2) for one data set.
    fn overfit(distribution: &Legendre, run: &Context) -> f64 {
        let data = distribution.noisy(run).data;
        let target = distribution.target(run);
        let x = data.x.values().column(0);
        let view = data.view();
        let y = view.real_target().unwrap().column(0);
        let error = |degree: usize| {
            let rows: Vec<Vec<f64>> = x.iter().map(|&x| legendre_values(x, degree)).collect();
            let fit = PivotedQr::new(Matrix::from_rows(&rows).unwrap().view()).solve(&y);
            target.squared_distance(&fit)
        };
        error(10) - error(2)
    }

    #[test]
    fn overfitting_falls_with_rows_and_rises_with_noise() {
        let median = |rows: usize, variance: f64| {
            let distribution = Legendre {
                n_samples: rows,
                degree: 20,
                noise: variance.sqrt(),
                ..Default::default()
            };
            let all: Vec<f64> = (0..600)
                .map(|s| overfit(&distribution, &Context::default().with_seed(s)))
                .collect();
            summary::median(&all).unwrap()
        };
        let (few, more) = (median(40, 0.5), median(80, 0.5));
        assert!((0.059..0.333).contains(&few), "{few}");
        assert!((-0.209..-0.011).contains(&more), "{more}");
        let noisy = median(40, 2.0);
        assert!((0.577..1.393).contains(&noisy), "{noisy}");
    }
}
