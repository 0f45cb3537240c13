//! The one table of coefficients that every linear model shows.
//!
//! With inference: term, coefficient, standard error, t or z, p, and the ends of the 95% interval;
//! without: term and coefficient. A statistic b / se is compared with Student's distribution where
//! the dispersion is estimated, with the normal one where it is known. A likelihood adds its own
//! figures, spelt the same everywhere: the ratio 2 (ln L - ln L0) is compared with χ² on as many
//! degrees of freedom as there are coefficients more than in the model without inputs.

use super::evidence::absent;
use super::inference::{CoefficientTest, Test};
use learnt_core::prelude::*;
use learnt_core::stats::distribution::{ChiSquared, Continuous, Normal, StudentT};

/// The distribution that a statistic is compared with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scale {
    /// Student's t with these degrees of freedom.
    Student(f64),
    /// The normal distribution.
    Normal,
}

impl Scale {
    /// The name of the statistic.
    pub(super) fn letter(self) -> &'static str {
        match self {
            Scale::Student(_) => "t",
            Scale::Normal => "z",
        }
    }

    /// The half-width of an interval of this level, in standard errors.
    pub(super) fn half_width(self, level: f64) -> Result<f64> {
        if !(level > 0.0 && level < 1.0) {
            return Err(Error::parameter("level", "a number above 0 and below 1", level));
        }
        let tail = (1.0 - level) / 2.0;
        Ok(match self {
            Scale::Student(df) => student(df)?.upper_quantile(tail),
            Scale::Normal => Normal::standard().upper_quantile(tail),
        })
    }

    /// The row of a coefficient; `half` is the half-width of its interval in standard errors.
    pub(super) fn test(
        self,
        name: &str,
        estimate: f64,
        standard_error: f64,
        half: f64,
    ) -> Result<CoefficientTest> {
        let t = estimate / standard_error;
        let (lower, upper) = (estimate - half * standard_error, estimate + half * standard_error);
        if ![t, lower, upper].iter().all(|number| number.is_finite()) {
            return Err(absent(format!("the standard error of '{name}' is zero or not finite")));
        }
        let tail = match self {
            Scale::Student(df) => student(df)?.sf(t.abs()),
            Scale::Normal => Normal::standard().sf(t.abs()),
        };
        Ok(CoefficientTest {
            name: name.to_string(),
            estimate,
            standard_error,
            t,
            p: 2.0 * tail,
            lower,
            upper,
        })
    }
}

fn student(df: f64) -> Result<StudentT> {
    StudentT::new(df).ok_or_else(|| Error::internal("degrees of freedom that are not positive"))
}

/// The table of tested coefficients, then the columns that have none.
pub(super) fn with_tests(
    title: &str,
    statistic: &str,
    tests: &[CoefficientTest],
    undetermined: &[String],
) -> Columns {
    with_tests_at(title, statistic, tests, undetermined, ["2.5%", "97.5%"])
}

/// The same with other names of the intervals' ends.
pub(super) fn with_tests_at(
    title: &str,
    statistic: &str,
    tests: &[CoefficientTest],
    undetermined: &[String],
    ends: [&str; 2],
) -> Columns {
    let head = ["term", "coefficient", "std. error", statistic, "p", ends[0], ends[1]];
    let mut table = Columns::new(title, &head);
    for test in tests {
        table.push(vec![
            Cell::Text(test.name.clone()),
            Cell::Number(test.estimate),
            Cell::Number(test.standard_error),
            Cell::Number(test.t),
            Cell::Probability(test.p),
            Cell::Number(test.lower),
            Cell::Number(test.upper),
        ]);
    }
    for name in undetermined {
        let mut cells = vec![Cell::Text(name.clone())];
        cells.extend((1..head.len()).map(|_| Cell::Empty("aliased with other columns".into())));
        table.push(cells);
    }
    table
}

/// The table of coefficients alone.
pub(super) fn without_tests(
    title: &str,
    intercept: Option<f64>,
    names: &[String],
    coefficients: &[f64],
) -> Columns {
    let mut table = Columns::new(title, &["term", "coefficient"]);
    if let Some(b) = intercept {
        table.push(vec!["(intercept)".into(), Cell::Number(b)]);
    }
    for (name, &b) in names.iter().zip(coefficients) {
        table.push(vec![Cell::Text(name.clone()), Cell::Number(b)]);
    }
    table
}

/// A report with a table of coefficients for each output.
pub(super) fn of_outputs(title: &str, coef: &Matrix, intercept: &[f64], names: &Names) -> Answer {
    tables_of(title, coef, intercept, names, |_| true)
}

/// The same without coefficients of zero.
pub(super) fn of_sparse_outputs(
    title: &str,
    coef: &Matrix,
    intercept: &[f64],
    names: &Names,
) -> Answer {
    let mut report = tables_of(title, coef, intercept, names, |b| b != 0.0);
    let kept = coef.as_slice().iter().filter(|b| **b != 0.0).count();
    report.push("coefficients other than zero", kept as f64);
    report.notes.push("Coefficients of exactly zero are left out.".into());
    report
}

fn tables_of(
    title: &str,
    coef: &Matrix,
    intercept: &[f64],
    names: &Names,
    shown: impl Fn(f64) -> bool,
) -> Answer {
    let mut report = Answer::new(title);
    for (t, row) in coef.rows().enumerate() {
        let title = if coef.nrows() == 1 { String::new() } else { names.output(t) };
        let kept = names.columns.iter().zip(row).filter(|(_, b)| shown(**b));
        let (terms, values): (Vec<String>, Vec<f64>) = kept.map(|(n, b)| (n.clone(), *b)).unzip();
        report.tables.push(without_tests(&title, Some(intercept[t]), &terms, &values));
    }
    report
}

/// What a likelihood says about a fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Likelihood {
    pub(super) log_likelihood: Option<f64>,
    pub(super) deviance: f64,
    pub(super) null_deviance: Option<f64>,
    pub(super) aic: Option<f64>,
    pub(super) bic: Option<f64>,
    pub(super) pseudo_r2: Option<f64>,
    /// That all coefficients but the intercepts are zero: a likelihood ratio, or F where the
    /// dispersion is estimated.
    pub(super) overall: Option<Test>,
}

impl Likelihood {
    /// The figures, in one order.
    pub(super) fn add_to(&self, report: &mut Answer) {
        report.push_some("log-likelihood", self.log_likelihood);
        report.push("deviance", self.deviance);
        report.push_some("null deviance", self.null_deviance);
        report.push_some("pseudo R2", self.pseudo_r2);
        if let Some(test) = self.overall {
            let known = test.df_residual.is_infinite();
            let name = if known { "likelihood ratio" } else { "F" };
            report.push(name, test.statistic);
            report.push(format!("p of {name}"), Datum::P(test.p));
        }
        report.push_some("AIC", self.aic);
        report.push_some("BIC", self.bic);
    }
}

/// The likelihood-ratio test on `df` degrees of freedom; none without any.
pub(super) fn likelihood_ratio(statistic: f64, df: f64) -> Option<Test> {
    let statistic = statistic.max(0.0);
    let p = ChiSquared::new(df)?.sf(statistic);
    Some(Test { statistic, df, df_residual: f64::INFINITY, p })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_dispersion_is_the_limit_of_many_degrees_of_freedom() {
        let half = Scale::Normal.half_width(0.95).unwrap();
        assert!((half - 1.959_963_984_540_054).abs() < 1e-12);
        let normal = Scale::Normal.test("a", 3.0, 1.0, half).unwrap();
        let student = Scale::Student(1e9).test("a", 3.0, 1.0, half).unwrap();
        assert!((normal.p - student.p).abs() < 1e-8);
        assert!(Scale::Normal.test("a", 0.0, 0.0, half).is_err());
        assert!(Scale::Normal.half_width(1.0).is_err());
    }

    #[test]
    fn a_standard_error_or_an_interval_beyond_all_numbers_is_no_test() {
        for (estimate, error) in [(1.0, f64::INFINITY), (1e308, 1e308), (-1e308, 1e308)] {
            assert!(Scale::Normal.test("a", estimate, error, 1.96).is_err(), "{estimate} {error}");
        }
    }

    #[test]
    fn a_ratio_without_coefficients_has_no_test() {
        assert!(likelihood_ratio(3.0, 0.0).is_none());
        // χ² with two degrees of freedom has the tail exp(-x / 2).
        let test = likelihood_ratio(4.0, 2.0).unwrap();
        assert!((test.p - (-2.0_f64).exp()).abs() < 1e-14);
    }
}
