//! Density through a classifier: rows are told from points of a known density, and the odds are the
//! ratio of the two.
//!
//! N₀ points are drawn uniformly in the ranges of the columns, with density g₀ = 1/V. The classifier
//! learns μ(x), the probability that x is a row, with rows of weight N₀/(N+N₀) and points of weight
//! N/(N+N₀), so that both sides weigh the same. Then g(x) = g₀ μ/(1-μ), with μ at most 1 - 1e-9, and 0
//! outside the ranges. A classifier that takes no weights needs as many points as rows.
//!
//! T. Hastie, R. Tibshirani and J. Friedman (2009), section 14.2.4.

use crate::Learner;
use learnt_core::prelude::*;
use learnt_core::stats::sample::uniform;

/// Rows, and places whose density is asked for.
#[derive(Inputs, Clone, Copy)]
pub struct RowsAndPoints<'a> {
    /// The rows.
    #[input(name = "X")]
    pub x: MatRef<'a>,
    /// The places; the rows themselves by default.
    #[input(apart)]
    pub at: Option<MatRef<'a>>,
}

/// Density through a classifier: the odds that a place is a row and not a point of a uniform density.
#[derive(Params, Clone, Debug)]
pub struct DensityByClassifier {
    /// A classifier that gives probabilities.
    #[param(positional, required, learner = classifier)]
    pub estimator: Learner,
    /// Number of points of the uniform density; as many as rows by default.
    #[param(range = 1..)]
    pub n_reference: Option<usize>,
}

/// Densities, and the shares that they follow from.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct ClassifiedDensity {
    /// The density at each place.
    pub value: Vec<f64>,
    /// The probability μ of a row there.
    pub share: Vec<f64>,
    /// The uniform density g₀.
    pub reference: f64,
}

impl Function for DensityByClassifier {
    type Inputs<'a> = RowsAndPoints<'a>;
    type Output = ClassifiedDensity;
    const ABOUT: &'static Callable =
        &Callable::new("density.density_by_classifier", FunctionKind::Analysis)
            .randomness()
            .threads()
            .reference("Hastie, Tibshirani and Friedman (2009), section 14.2.4");

    fn call(&self, given: RowsAndPoints, run: &Context) -> Result<ClassifiedDensity> {
        let (n, d) = (given.x.nrows(), given.x.ncols());
        let at = given.at.unwrap_or(given.x);
        if at.ncols() != d {
            let expected = format!("{d} columns as X has");
            return Err(Error::shape("at", expected, format!("{} columns", at.ncols())));
        }
        let ranges: Vec<(f64, f64)> = (0..d)
            .map(|j| {
                let column = given.x.column(j);
                let low = column.iter().copied().fold(f64::INFINITY, f64::min);
                (low, column.into_iter().fold(f64::NEG_INFINITY, f64::max))
            })
            .collect();
        let volume: f64 = ranges.iter().map(|(low, high)| high - low).product();
        if !(volume > 0.0 && volume.is_finite()) {
            let message = format!("the ranges of the columns have the volume {volume}");
            return Err(Error::new(Code::Undefined, message).hint("drop constant columns"));
        }
        let points = self.n_reference.unwrap_or(n);
        let model = self.classifier(given.x, points, &ranges, run)?;
        let classifier = model
            .as_classifier()
            .ok_or_else(|| Error::internal("a classifier that classifies nothing"))?;
        let places = Table::unnamed(at.to_matrix());
        let both = classifier.probabilities_in(&places.frame(), run)?;
        let share: Vec<f64> = both.rows().map(|row| row[row.len() - 1]).collect();
        let reference = volume.recip();
        let density = |(place, &share): (&[f64], &f64)| {
            let inside = place.iter().zip(&ranges).all(|(x, (low, high))| low <= x && x <= high);
            let share = share.clamp(0.0, 1.0 - 1e-9);
            if inside { reference * share / (1.0 - share) } else { 0.0 }
        };
        let value = places.values().rows().zip(&share).map(density).collect();
        Ok(ClassifiedDensity { value, share, reference })
    }
}

impl DensityByClassifier {
    /// The classifier that tells rows from points.
    fn classifier(
        &self,
        x: MatRef,
        points: usize,
        ranges: &[(f64, f64)],
        run: &Context,
    ) -> Result<Box<dyn Model>> {
        let (n, d) = (x.nrows(), x.ncols());
        let accepts = self.estimator.any_accepts();
        if !accepts.weights && points != n {
            let expected = format!("{n}, the number of rows, for a classifier without weights");
            return Err(Error::parameter("n_reference", expected, points));
        }
        run.claim(8 * ((n + points) * (d + 2)) as u64, "the rows and the points")?;
        let mut rng = run.rng(0x6465_6e63);
        let all = Matrix::from_fn(n + points, d, |i, j| match i < n {
            true => x.at(i, j),
            false => ranges[j].0 + uniform(&mut rng) * (ranges[j].1 - ranges[j].0),
        });
        let (rows, total) = (n as f64, (n + points) as f64);
        let weights: Vec<f64> = (0..n + points)
            .map(|i| if i < n { points as f64 / total } else { rows / total })
            .collect();
        let codes: Vec<u32> = (0..n + points).map(|i| u32::from(i < n)).collect();
        let sides = [Label::Bool(false), Label::Bool(true)];
        let table = Table::unnamed(all);
        let data = Dataset::new(table.frame())
            .with_target(Target::Class { codes: &codes, classes: &sides })
            .with_weights(&weights);
        self.estimator.fit_any(&crate::learner::offered(&data, data.x, accepts), run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ensemble::HistGradientBoostingClassifier;
    use crate::linear::LogisticRegression;

    /// Quantiles of a density on the unit interval.
    fn rows(n: usize, quantile: impl Fn(f64) -> f64) -> Matrix {
        Matrix::from_fn(n, 1, |i, _| quantile((i as f64 + 0.5) / n as f64))
    }

    #[test]
    fn uniform_rows_have_a_flat_density() {
        let x =
            Matrix::from_fn(900, 2, |i, j| if j == 0 { (i % 30) as f64 } else { (i / 30) as f64 });
        let learner = DensityByClassifier {
            estimator: LogisticRegression::default().into(),
            n_reference: Some(4000),
        };
        let found = learner.compute(RowsAndPoints { x: x.view(), at: None }).unwrap();
        let flat = 1.0 / (29.0 * 29.0);
        assert!((found.reference - flat).abs() < 1e-15);
        assert!(found.value.iter().all(|g| (g / flat - 1.0).abs() < 0.15));
    }

    #[test]
    fn a_rising_density_rises_and_has_the_mass_one() {
        // Density 2x, whose quantiles are roots.
        let x = rows(2000, f64::sqrt);
        let at = rows(200, |share| share);
        let learner = DensityByClassifier {
            estimator: HistGradientBoostingClassifier::default().into(),
            n_reference: Some(4000),
        };
        let given = RowsAndPoints { x: x.view(), at: Some(at.view()) };
        let found = learner.compute(given).unwrap();
        let mass = found.value.iter().sum::<f64>() / 200.0;
        assert!((mass - 1.0).abs() < 0.1, "{mass}");
        let near = |place: usize| found.value[place - 10..place + 10].iter().sum::<f64>() / 20.0;
        for (place, expected) in [(40, 0.4), (100, 1.0), (160, 1.6)] {
            assert!((near(place) - expected).abs() < 0.25, "{place}: {}", near(place));
        }
        let outside = Matrix::column_vector(vec![-3.0, 7.0]);
        let given = RowsAndPoints { x: x.view(), at: Some(outside.view()) };
        assert_eq!(learner.compute(given).unwrap().value, [0.0, 0.0]);
    }
}
