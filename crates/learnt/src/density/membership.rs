//! A normal mixture of rows whose clusters are known: shares, means and covariances of each.
//!
//! Weights n_k/n, means, and covariances with divisor n_k - 1 (`sample`) or n_k (`likelihood`, the
//! estimates of largest likelihood given the clusters). Noise is left out. The log-likelihood is that of
//! the mixture, Σ ln Σ_k w_k φ_k(x).

use crate::metrics::Clustered;
use learnt_core::linalg::Cholesky;
use learnt_core::prelude::*;
use std::f64::consts::TAU;

/// Divisor of covariances.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum CovarianceDivisor {
    /// Rows less one: without bias.
    Sample,
    /// Rows: of largest likelihood.
    Likelihood,
}

/// Mixture from known membership: weights, means and covariances of given clusters.
#[derive(Params, Clone, Debug)]
pub struct MixtureFromLabels {
    /// Divisor of the covariances.
    #[param(positional, default = CovarianceDivisor::Sample)]
    pub divisor: CovarianceDivisor,
}

/// The parameters of a mixture.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct KnownMixture {
    /// Share of each cluster.
    pub weights: Vec<f64>,
    /// Mean of each, one a row.
    pub means: Matrix,
    /// Covariance of each, one under another.
    pub covariances: Matrix,
    /// Number of each cluster.
    pub clusters: Vec<i64>,
    /// Log-likelihood of the rows under the mixture; none where a covariance is singular.
    pub log_likelihood: f64,
}

impl Function for MixtureFromLabels {
    type Inputs<'a> = Clustered<'a>;
    type Output = KnownMixture;
    const ABOUT: &'static Callable =
        &Callable::new("mixture.mixture_from_labels", FunctionKind::Analysis).threads();

    fn call(&self, given: Clustered, run: &Context) -> Result<KnownMixture> {
        let (x, d) = (given.X.to_matrix(), given.X.ncols());
        let mut numbers: Vec<u32> = given.labels.iter().flatten().copied().collect();
        numbers.sort_unstable();
        numbers.dedup();
        let total = given.labels.iter().flatten().count();
        if total == 0 {
            return Err(Error::new(Code::Undefined, "no row is in a cluster"));
        }
        run.claim(8 * (numbers.len() * d * (d + 1)) as u64, "the covariances")?;
        let (mut weights, mut means) = (Vec::new(), Vec::new());
        let mut covariances = Vec::new();
        for &k in &numbers {
            let rows: Vec<usize> = (0..x.nrows()).filter(|&i| given.labels[i] == Some(k)).collect();
            let n = rows.len() as f64;
            let divisor = match self.divisor {
                CovarianceDivisor::Sample => n - 1.0,
                CovarianceDivisor::Likelihood => n,
            };
            if divisor <= 0.0 {
                let message = format!("cluster {k} has one row, and so no sample covariance");
                return Err(Error::new(Code::TooFew, message).hint("take divisor 'likelihood'"));
            }
            let first = x.row(rows[0]);
            let mean: Vec<f64> = (0..d)
                .map(|j| first[j] + rows.iter().map(|&i| x[(i, j)] - first[j]).sum::<f64>() / n)
                .collect();
            let product = |i: usize, j: usize| {
                let of = |&r: &usize| (x[(r, i)] - mean[i]) * (x[(r, j)] - mean[j]);
                rows.iter().map(of).sum::<f64>() / divisor
            };
            covariances.push(Matrix::from_fn(d, d, product));
            means.push(mean);
            weights.push(n / total as f64);
        }
        if !covariances.iter().all(|c| c.as_slice().iter().all(|v| v.is_finite())) {
            return Err(Error::numeric("squares overflow: the values are too large"));
        }
        let means = Matrix::from_rows(&means)?;
        let used: Vec<usize> = (0..x.nrows()).filter(|&i| given.labels[i].is_some()).collect();
        let log_likelihood = log_likelihood(&x, &used, &weights, &means, &covariances);
        let all = covariances.iter().flat_map(|c| c.as_slice()).copied().collect();
        Ok(KnownMixture {
            covariances: Matrix::from_vec(numbers.len() * d, d, all)?,
            clusters: numbers.into_iter().map(i64::from).collect(),
            weights,
            means,
            log_likelihood,
        })
    }
}

/// Σ ln Σ_k w_k φ_k over rows; not a number where a covariance is singular.
fn log_likelihood(
    x: &Matrix,
    rows: &[usize],
    weights: &[f64],
    means: &Matrix,
    covariances: &[Matrix],
) -> f64 {
    let factors: Option<Vec<Cholesky>> = covariances.iter().map(Cholesky::new).collect();
    let Some(factors) = factors else { return f64::NAN };
    let d = means.ncols() as f64;
    let of = |&row: &usize| {
        let joint: Vec<f64> = (0..weights.len())
            .map(|k| {
                let mut z: Vec<f64> =
                    x.row(row).iter().zip(means.row(k)).map(|(x, m)| x - m).collect();
                factors[k].solve_lower_in_place(&mut z);
                let square: f64 = z.iter().map(|z| z * z).sum();
                let spread = factors[k].ln_determinant();
                weights[k].ln() - 0.5 * (square + spread + d * TAU.ln())
            })
            .collect();
        let most = joint.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        most + joint.iter().map(|j| (j - most).exp()).sum::<f64>().ln()
    };
    rows.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::GaussianMixture;

    fn groups() -> (Matrix, Vec<Option<u32>>) {
        let x = Matrix::from_fn(60, 2, |i, j| {
            (i % 2) as f64 * 6.0 + ((i * (7 + 3 * j)) as f64 * 0.7).sin() * (1.0 + j as f64)
        });
        let labels =
            (0..60).map(|i| if i == 59 { None } else { Some(if i % 2 == 0 { 4 } else { 9 }) });
        (x, labels.collect())
    }

    #[test]
    fn covariances_are_those_of_the_sample_and_noise_is_left_out() {
        let (x, labels) = groups();
        let given = Clustered { X: x.view(), labels: &labels };
        let found = MixtureFromLabels::default().compute(given).unwrap();
        assert_eq!(found.clusters, [4, 9]);
        assert!((found.weights[0] - 30.0 / 59.0).abs() < 1e-15);
        let own: Vec<usize> = (0..60).filter(|i| i % 2 == 0).collect();
        let column = |j: usize| -> Vec<f64> { own.iter().map(|&i| x[(i, j)]).collect() };
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        for a in 0..2 {
            for b in 0..2 {
                let (p, q) = (column(a), column(b));
                let (mp, mq) = (mean(&p), mean(&q));
                let sum: f64 = p.iter().zip(&q).map(|(p, q)| (p - mp) * (q - mq)).sum();
                assert!((found.covariances[(a, b)] - sum / 29.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn clusters_far_apart_are_nearly_a_fixed_point_of_em() {
        let (x, labels) = groups();
        let all: Vec<Option<u32>> = labels.iter().map(|label| label.or(Some(9))).collect();
        let learner = MixtureFromLabels { divisor: CovarianceDivisor::Likelihood };
        let found = learner.compute(Clustered { X: x.view(), labels: &all }).unwrap();
        let em = GaussianMixture {
            n_components: 2,
            means_init: Some(found.means.rows().map(<[f64]>::to_vec).collect()),
            reg_covar: 0.0,
            ..Default::default()
        };
        let data = OwnedDataset::unsupervised(x);
        let model = em.fit(&data.view()).unwrap();
        let own: f64 =
            model.log_density_in(&data.x.frame(), &Context::default()).unwrap().iter().sum();
        assert!(found.log_likelihood <= own + 1e-6);
        assert!((found.log_likelihood - own).abs() < 0.5, "{} {own}", found.log_likelihood);
    }

    #[test]
    fn one_row_has_no_sample_covariance() {
        let x = Matrix::column_vector(vec![1.0, 2.0, 9.0]);
        let labels = [Some(0), Some(0), Some(1)];
        let given = Clustered { X: x.view(), labels: &labels };
        let error = MixtureFromLabels::default().compute(given).unwrap_err();
        assert_eq!(error.code(), Code::TooFew);
        let ml = MixtureFromLabels { divisor: CovarianceDivisor::Likelihood };
        assert!(ml.compute(given).unwrap().log_likelihood.is_nan());
    }
}
