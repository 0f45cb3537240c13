//! Summaries of numbers: means, spreads, quantiles, covariances and correlations, with weights.
//!
//! Weights count repetitions where a divisor is less `ddof`; quantiles with weights are those of the
//! weighted distribution, which only shares of the total weight determine.

use crate::prepare::{correlation_matrix, covariance_matrix};
use learnt_core::prelude::*;
use learnt_core::stats::distribution::{Continuous, StudentT};
use learnt_core::stats::summary;

/// Summaries and correlations.
pub const SUMMARIES: &[FunctionEntry] = &[
    function::<Mean>(),
    function::<Variance>(),
    function::<StandardDeviation>(),
    function::<Median>(),
    function::<Quantile>(),
    function::<Range>(),
    function::<GeometricMean>(),
    function::<Covariance>(),
    function::<Correlation>(),
    function::<PearsonCorrelation>(),
    function::<Describe>(),
];

/// Numbers that may count differently.
#[derive(Inputs, Clone, Copy)]
pub struct WeightedNumbers<'a> {
    /// The numbers.
    pub x: &'a [f64],
    /// How much each number counts.
    pub sample_weight: Option<&'a [f64]>,
}

/// Mean: Σ w x / Σ w.
#[derive(Params, Clone, Debug)]
pub struct Mean {}

/// Variance: Σ w (x - mean)² / (Σ w - ddof).
#[derive(Params, Clone, Debug)]
pub struct Variance {
    /// What the divisor is less than the total weight: 1 for a sample, 0 for the numbers themselves.
    #[param(default = 1.0, range = 0.0..)]
    pub ddof: f64,
}

/// Standard deviation: the square root of the variance.
#[derive(Params, Clone, Debug)]
pub struct StandardDeviation {
    /// What the divisor is less than the total weight: 1 for a sample, 0 for the numbers themselves.
    #[param(default = 1.0, range = 0.0..)]
    pub ddof: f64,
}

/// Median: the middle of the sorted numbers.
#[derive(Params, Clone, Debug)]
pub struct Median {}

/// Quantiles: the numbers with these shares of the others below them.
///
/// Without weights neighbours are interpolated (type 7), as NumPy does; with weights it is the
/// inverse of the weighted distribution, averaged where that is flat (type 2).
#[derive(Params, Clone, Debug)]
pub struct Quantile {
    /// The shares.
    #[param(positional, default = vec![0.25, 0.5, 0.75], range = 0.0..=1.0)]
    pub q: Vec<f64>,
}

/// Range: the largest number less the smallest.
#[derive(Params, Clone, Debug)]
pub struct Range {}

/// Geometric mean: exp(Σ w ln x / Σ w).
#[derive(Params, Clone, Debug)]
pub struct GeometricMean {}

fn existing(found: Option<f64>) -> Result<f64> {
    found.ok_or_else(|| {
        Error::numeric("it does not exist: too few, too large or negative numbers for it")
    })
}

/// Makes functions of one number of the structs above.
macro_rules! summaries {
    ($($type:ident, $path:literal, $aliases:expr, |$self:ident, $x:ident, $w:ident| $body:expr;)*) => {
        $(impl Function for $type {
            type Inputs<'a> = WeightedNumbers<'a>;
            type Output = f64;
            const ABOUT: &'static Callable =
                &Callable::new($path, FunctionKind::Statistic).alias($aliases);

            fn call(&self, given: WeightedNumbers, _run: &Context) -> Result<f64> {
                let ($self, $x, $w) = (self, given.x, given.sample_weight);
                existing($body)
            }
        })*
    };
}
summaries! {
    Mean, "stats.mean", &[], |_s, x, w| summary::mean(x, w);
    Variance, "stats.variance", &["var"], |s, x, w| summary::variance(x, w, s.ddof);
    StandardDeviation, "stats.sd", &["std"], |s, x, w| summary::sd(x, w, s.ddof);
    Median, "stats.median", &[], |_s, x, w| match w {
        None => summary::median(x),
        Some(w) => summary::weighted_quantile(x, w, 0.5),
    };
    GeometricMean, "stats.gmean", &["geometric-mean"], |_s, x, w| summary::geometric_mean(x, w);
}

/// Numbers.
#[derive(Inputs, Clone, Copy)]
pub struct PlainNumbers<'a> {
    /// The numbers.
    pub x: &'a [f64],
}

impl Function for Range {
    type Inputs<'a> = PlainNumbers<'a>;
    type Output = f64;
    const ABOUT: &'static Callable = &Callable::new("stats.range", FunctionKind::Statistic);

    fn call(&self, given: PlainNumbers, _run: &Context) -> Result<f64> {
        existing(summary::range(given.x))
    }
}

impl Function for Quantile {
    type Inputs<'a> = WeightedNumbers<'a>;
    type Output = Vec<f64>;
    const ABOUT: &'static Callable = &Callable::new("stats.quantile", FunctionKind::Statistic)
        .reference("Hyndman and Fan (1996), Sample quantiles in statistical packages");

    fn call(&self, given: WeightedNumbers, _run: &Context) -> Result<Vec<f64>> {
        let found = match given.sample_weight {
            None => summary::quantiles(given.x, &self.q),
            weights => summary::averaged_quantiles(given.x, weights, &self.q),
        };
        found.ok_or_else(|| Error::numeric("the numbers are too large for quantiles"))
    }
}

/// Rows that may count differently.
#[derive(Inputs, Clone, Copy)]
pub struct WeightedRows<'a> {
    /// The rows.
    #[allow(non_snake_case)]
    #[input(name = "X")]
    pub x: MatRef<'a>,
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
}

/// Covariance matrix of the columns.
#[derive(Params, Clone, Debug)]
pub struct Covariance {
    /// What the divisor is less than the total weight: 1 for a sample, 0 for the rows themselves.
    #[param(default = 1.0, range = 0.0..)]
    pub ddof: f64,
}

impl Function for Covariance {
    type Inputs<'a> = WeightedRows<'a>;
    type Output = Matrix;
    const ABOUT: &'static Callable =
        &Callable::new("stats.covariance", FunctionKind::Statistic).alias(&["cov"]);

    fn call(&self, given: WeightedRows, _run: &Context) -> Result<Matrix> {
        covariance_matrix(given.x, given.sample_weight, self.ddof)
    }
}

/// Correlation matrix of the columns.
#[derive(Params, Clone, Debug)]
pub struct Correlation {}

/// A table whose rows may count differently.
#[derive(Inputs, Clone, Copy)]
pub struct WeightedTable<'a> {
    /// The table.
    #[allow(non_snake_case)]
    #[input(name = "X")]
    pub x: Frame<'a>,
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
}

impl Function for Correlation {
    type Inputs<'a> = WeightedTable<'a>;
    type Output = Matrix;
    const ABOUT: &'static Callable =
        &Callable::new("stats.correlation", FunctionKind::Statistic).alias(&["corrcoef"]);

    fn call(&self, given: WeightedTable, _run: &Context) -> Result<Matrix> {
        correlation_matrix(&given.x, given.sample_weight)
    }
}

/// Pearson's correlation of two columns, with the test that it is zero.
///
/// t = r √((n - 2) / (1 - r²)) has n - 2 degrees of freedom if both are normal and independent.
#[derive(Params, Clone, Debug)]
pub struct PearsonCorrelation {}

/// Two numbers for each row.
#[derive(Inputs, Clone, Copy)]
pub struct Pairs<'a> {
    /// The first number of each row.
    pub x: &'a [f64],
    /// The second number of each row.
    pub y: &'a [f64],
}

/// A statistic and how likely one as far from zero is by chance.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Tested {
    /// The statistic.
    pub statistic: f64,
    /// The probability of one at least as far from what is tested, if that holds.
    pub pvalue: f64,
}

impl Function for PearsonCorrelation {
    type Inputs<'a> = Pairs<'a>;
    type Output = Tested;
    const ABOUT: &'static Callable =
        &Callable::new("stats.pearsonr", FunctionKind::Statistic).alias(&["pearson"]);

    fn call(&self, given: Pairs, _run: &Context) -> Result<Tested> {
        let found = summary::correlation(given.x, given.y, None);
        let r = found.ok_or_else(|| Error::numeric("one of the columns is constant"))?;
        let df = given.x.len() as f64 - 2.0;
        let pvalue = match StudentT::new(df) {
            None => 1.0,
            Some(_) if r.abs() >= 1.0 => 0.0,
            Some(t) => 2.0 * t.sf(r.abs() * (df / ((1.0 - r) * (1.0 + r))).sqrt()),
        };
        Ok(Tested { statistic: r, pvalue })
    }
}

/// Describes the numeric columns of a table: how many values, mean, standard deviation, quantiles.
#[derive(Params, Clone, Debug)]
pub struct Describe {
    /// What the divisor of the variance is less than the number of values.
    #[param(default = 1.0, range = 0.0..)]
    pub ddof: f64,
}

/// A table that may have gaps.
#[derive(Inputs, Clone, Copy)]
pub struct GappyTable<'a> {
    /// The table; columns of text are left out.
    #[allow(non_snake_case)]
    #[input(missing)]
    #[input(name = "X")]
    pub x: Frame<'a>,
}

/// Summaries of the numeric columns, one value a column; what does not exist is not a number.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Description {
    /// Names of the columns.
    pub column: Vec<String>,
    /// Number of values.
    pub count: Vec<i64>,
    /// Number of missing values.
    pub missing: Vec<i64>,
    /// Means.
    pub mean: Vec<f64>,
    /// Standard deviations.
    pub sd: Vec<f64>,
    /// Smallest values.
    pub min: Vec<f64>,
    /// Lower quartiles.
    pub lower_quartile: Vec<f64>,
    /// Medians.
    pub median: Vec<f64>,
    /// Upper quartiles.
    pub upper_quartile: Vec<f64>,
    /// Largest values.
    pub max: Vec<f64>,
}

impl Function for Describe {
    type Inputs<'a> = GappyTable<'a>;
    type Output = Description;
    const ABOUT: &'static Callable =
        &Callable::new("stats.describe", FunctionKind::Statistic).threads();

    fn call(&self, given: GappyTable, run: &Context) -> Result<Description> {
        let columns = given.x.schema().columns();
        let numeric: Vec<usize> =
            (0..columns.len()).filter(|&j| columns[j].levels().is_none()).collect();
        if numeric.is_empty() {
            return Err(Error::new(Code::NotNumeric, "the table has no numeric column"));
        }
        let described = run.try_par_map(numeric.len(), |k| {
            let values: Vec<f64> =
                given.x.values().column(numeric[k]).into_iter().filter(|v| !v.is_nan()).collect();
            Ok(self.column(&values))
        })?;
        let take = |f: fn(&[f64; 7]) -> f64| described.iter().map(|(_, v)| f(v)).collect();
        let rows = given.x.nrows() as i64;
        Ok(Description {
            column: numeric.iter().map(|&j| columns[j].name.clone()).collect(),
            count: described.iter().map(|(n, _)| *n as i64).collect(),
            missing: described.iter().map(|(n, _)| rows - *n as i64).collect(),
            mean: take(|v| v[0]),
            sd: take(|v| v[1]),
            min: take(|v| v[2]),
            lower_quartile: take(|v| v[3]),
            median: take(|v| v[4]),
            upper_quartile: take(|v| v[5]),
            max: take(|v| v[6]),
        })
    }
}

impl Describe {
    /// How many values, then mean, standard deviation and five quantiles.
    fn column(&self, values: &[f64]) -> (usize, [f64; 7]) {
        let at = |found: Option<f64>| found.unwrap_or(f64::NAN);
        let q = summary::quantiles(values, &[0.0, 0.25, 0.5, 0.75, 1.0])
            .unwrap_or_else(|| vec![f64::NAN; 5]);
        let mean = at(summary::mean(values, None));
        let sd = at(summary::sd(values, None, self.ddof));
        (values.len(), [mean, sd, q[0], q[1], q[2], q[3], q[4]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_summaries_are_repetitions() {
        let (x, w) = ([1.0, 4.0, 2.0], [2.0, 1.0, 3.0]);
        let many = [1.0, 1.0, 4.0, 2.0, 2.0, 2.0];
        let weighted = WeightedNumbers { x: &x, sample_weight: Some(&w) };
        let plain = WeightedNumbers { x: &many, sample_weight: None };
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-14, "{a} {b}");
        close(Mean {}.compute(weighted).unwrap(), Mean {}.compute(plain).unwrap());
        let variance = Variance::default();
        close(variance.compute(weighted).unwrap(), variance.compute(plain).unwrap());
        close(Median {}.compute(weighted).unwrap(), Median {}.compute(plain).unwrap());
        assert!(
            GeometricMean {}.compute(WeightedNumbers { x: &[-1.0], sample_weight: None }).is_err()
        );
    }

    #[test]
    fn a_table_is_described_without_its_gaps_and_text() {
        let penguins = crate::datasets::load("penguins").unwrap();
        let found = Describe::default().compute(GappyTable { x: penguins.x.frame() }).unwrap();
        assert!(found.column.iter().all(|name| name != "island"));
        let k = found.column.iter().position(|name| name.contains("bill")).unwrap();
        assert_eq!((found.count[k], found.missing[k]), (342, 2));
        assert!(found.min[k] < found.median[k] && found.median[k] < found.max[k]);
    }

    #[test]
    fn a_perfect_correlation_has_no_chance() {
        let pairs = Pairs { x: &[1.0, 2.0, 3.0, 4.0], y: &[2.0, 4.0, 6.0, 8.0] };
        let found = PearsonCorrelation {}.compute(pairs).unwrap();
        assert!((found.statistic - 1.0).abs() < 1e-15 && found.pvalue < 1e-12);
    }
}
