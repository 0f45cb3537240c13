//! Tests of a least-squares specification, as functions: nested models, RESET, Breusch-Pagan.

use super::RowsAndNumbers;
use crate::linear::diagnostics::{breusch_pagan, reset};
use crate::linear::{LinearRegression, LinearRegressionModel, Sampling, Test, nested_test};
use learnt_core::prelude::*;

/// A test with its statistic.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct TestResult {
    /// The statistic: F, or χ² for large samples.
    pub statistic: f64,
    /// Its p-value.
    #[output(p)]
    pub pvalue: f64,
    /// Degrees of freedom of the numerator.
    pub df: f64,
    /// Degrees of freedom of the residuals; infinite for χ².
    pub df_residual: f64,
}

impl From<Test> for TestResult {
    fn from(test: Test) -> Self {
        let Test { statistic, df, df_residual, p } = test;
        TestResult { statistic, pvalue: p, df, df_residual }
    }
}

/// Least squares on these rows.
fn fitted(given: &RowsAndNumbers, run: &Context) -> Result<LinearRegressionModel> {
    LinearRegression::default().fit_in(&given.data(), run)
}

/// F test of nested linear models: whether columns beyond some add to the fit.
#[derive(Params, Clone, Debug)]
pub struct NestedTest {
    /// Names of the columns of the smaller model.
    #[param(required, positional)]
    pub columns: Vec<String>,
    /// Distribution of the statistic.
    pub distribution: TestDistribution,
}

/// Distribution of the statistic.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TestDistribution {
    /// F, exact for normal errors.
    #[default]
    F,
    /// χ², for large samples.
    Chi2,
}

impl Function for NestedTest {
    type Inputs<'a> = RowsAndNumbers<'a>;
    type Output = TestResult;
    const ABOUT: &'static Callable =
        &Callable::new("linear_model.nested_test", FunctionKind::Analysis);

    fn call(&self, given: RowsAndNumbers, run: &Context) -> Result<TestResult> {
        let find = |name: &String| given.x.schema().find(name);
        let kept = self.columns.iter().map(find).collect::<Result<Vec<usize>>>()?;
        let table = given.x.select(&kept);
        let small = fitted(&RowsAndNumbers { x: table.frame(), ..given }, run)?;
        let sampling = match self.distribution {
            TestDistribution::F => Sampling::Exact,
            TestDistribution::Chi2 => Sampling::LargeSample,
        };
        nested_test(&small, &fitted(&given, run)?, 0, sampling).map(TestResult::from)
    }
}

/// RESET test of linearity: whether powers of the fitted values add to the fit.
#[derive(Params, Clone, Debug)]
pub struct ResetTest {
    /// Highest power.
    #[param(default = 3, range = 2..)]
    pub power: usize,
}

impl Function for ResetTest {
    type Inputs<'a> = RowsAndNumbers<'a>;
    type Output = TestResult;
    const ABOUT: &'static Callable =
        &Callable::new("linear_model.reset_test", FunctionKind::Analysis)
            .reference("Ramsey (1969)")
            .exempt(&[(
                "scaled weights",
                "a perfect fit leaves rounding, whose test is arbitrary",
            )]);

    fn call(&self, given: RowsAndNumbers, run: &Context) -> Result<TestResult> {
        reset(&fitted(&given, run)?, &given.data(), 0, self.power).map(TestResult::from)
    }
}

/// Breusch-Pagan test of equal variance (heteroscedasticity), in Koenker's studentised form.
#[derive(Params, Clone, Debug)]
pub struct BreuschPagan {}

impl Function for BreuschPagan {
    type Inputs<'a> = RowsAndNumbers<'a>;
    type Output = TestResult;
    const ABOUT: &'static Callable =
        &Callable::new("linear_model.breusch_pagan", FunctionKind::Analysis)
            .reference("Breusch and Pagan (1979); Koenker (1981)")
            .exempt(&[(
                "scaled weights",
                "a perfect fit leaves rounding, whose test is arbitrary",
            )]);

    fn call(&self, given: RowsAndNumbers, run: &Context) -> Result<TestResult> {
        breusch_pagan(&fitted(&given, run)?, &given.data(), 0).map(TestResult::from)
    }
}
