//! Masking: classes that indicator regression never predicts, beside two remedies.
//!
//! Fitted values are linear, so that the indicator of a class between two others is nowhere the largest.
//! Terms of second degree, or linear discriminant analysis, bring such a class back.
//!
//! Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning, section 4.2.

use super::LinearDiscriminantAnalysis;
use crate::linear::IndicatorRegression;
use crate::linear::analyses::RowsAndClasses;
use crate::prepare::PolynomialFeatures;
use learnt_core::error::plain;
use learnt_core::prelude::*;

/// How often each class is predicted on the training rows, by three methods.
#[derive(Clone, Debug, PartialEq)]
pub struct Masking {
    /// The classes.
    pub classes: Vec<Label>,
    /// Rows of each class.
    pub rows: Vec<usize>,
    /// Indicator regression.
    pub linear: Predicted,
    /// Indicator regression with products of two columns; absent where there are too many.
    pub quadratic: Option<Predicted>,
    /// Linear discriminant analysis; absent where it cannot be fitted.
    pub discriminant: Option<Predicted>,
}

/// Predictions on the training rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicted {
    /// Number of rows predicted as each class.
    pub counts: Vec<usize>,
    /// Number of rows predicted wrongly.
    pub errors: usize,
}

/// Looks for masked classes.
///
/// ```
/// use learnt::{discriminant::masking, prelude::*};
/// let x = Matrix::column_vector((0..6).map(f64::from).collect());
/// let data = OwnedDataset::classification(x, &[0, 0, 1, 1, 2, 2].map(Label::Int));
/// let found = masking(&data.view(), &Context::default())?;
/// assert_eq!(found.masked(), [1]);
/// assert_eq!(found.discriminant.map(|lda| lda.errors), Some(0));
/// # Ok::<(), Error>(())
/// ```
pub fn masking(data: &Dataset, run: &Context) -> Result<Masking> {
    let (codes, classes) = data.class_target()?;
    let linear = predicted(&IndicatorRegression::default(), data, run)?;
    let second_degree = PolynomialFeatures { include_bias: false, ..Default::default() };
    let products = second_degree
        .fit_in(&Dataset::new(data.x), run)
        .and_then(|model| model.transform_in(&data.x, run));
    let quadratic = products.and_then(|table| {
        predicted(&IndicatorRegression::default(), &Dataset { x: table.frame(), ..*data }, run)
    });
    let discriminant = predicted(&LinearDiscriminantAnalysis::default(), data, run);
    let mut rows = vec![0; classes.len()];
    codes.iter().for_each(|&code| rows[code as usize] += 1);
    Ok(Masking {
        classes: classes.to_vec(),
        rows,
        linear,
        quadratic: absent(quadratic)?,
        discriminant: absent(discriminant)?,
    })
}

/// Masking of classes by indicator regression: how often each class is predicted, beside two remedies.
#[derive(Params, Clone, Debug)]
pub struct MaskingReport {}

/// Number of rows predicted as each class.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct MaskingCounts {
    /// The classes.
    pub classes: Vec<String>,
    /// Rows of each class.
    pub rows: Vec<usize>,
    /// Predicted by indicator regression.
    pub indicators: Vec<usize>,
    /// Predicted with products of two columns; absent where there are too many.
    pub second_degree: Option<Vec<usize>>,
    /// Predicted by linear discriminant analysis; absent where it cannot be fitted.
    pub discriminant: Option<Vec<usize>>,
    /// Wrong predictions of the three methods.
    pub errors: Vec<f64>,
    /// Classes that indicator regression never predicts.
    pub masked: Vec<String>,
}

impl Function for MaskingReport {
    type Inputs<'a> = RowsAndClasses<'a>;
    type Output = MaskingCounts;
    const ABOUT: &'static Callable =
        &Callable::new("linear_model.masking_report", FunctionKind::Analysis).threads();

    fn call(&self, given: RowsAndClasses, run: &Context) -> Result<MaskingCounts> {
        let found = masking(&given.data(), run)?;
        let masked = found.masked();
        let name = |k: usize| found.classes[k].to_string();
        let methods = [Some(&found.linear), found.quadratic.as_ref(), found.discriminant.as_ref()];
        let errors = methods.map(|method| method.map_or(f64::NAN, |method| method.errors as f64));
        Ok(MaskingCounts {
            classes: (0..found.classes.len()).map(name).collect(),
            errors: errors.to_vec(),
            masked: masked.into_iter().map(name).collect(),
            rows: found.rows,
            indicators: found.linear.counts,
            second_degree: found.quadratic.map(|method| method.counts),
            discriminant: found.discriminant.map(|method| method.counts),
        })
    }
}

/// A method that cannot be fitted is left out; being stopped is still an error.
fn absent(found: Result<Predicted>) -> Result<Option<Predicted>> {
    match found {
        Err(error) if error.code() == Code::Cancelled => Err(error),
        found => Ok(found.ok()),
    }
}

fn predicted<E: Estimator>(learner: &E, data: &Dataset, run: &Context) -> Result<Predicted> {
    let (truth, classes) = data.class_target()?;
    let model = learner.fit_in(data, run)?;
    let classifier =
        model.as_classifier().ok_or_else(|| Error::internal("a classifier is needed"))?;
    let codes = classifier.classify_in(&data.x, run)?;
    let mut counts = vec![0; classes.len()];
    codes.iter().for_each(|&code| counts[code as usize] += 1);
    let errors = codes.iter().zip(truth).filter(|(a, b)| a != b).count();
    Ok(Predicted { counts, errors })
}

impl Masking {
    /// Classes with rows that indicator regression never predicts.
    pub fn masked(&self) -> Vec<usize> {
        let never = |&k: &usize| self.rows[k] > 0 && self.linear.counts[k] == 0;
        (0..self.rows.len()).filter(never).collect()
    }

    /// As a table.
    pub fn report(&self) -> Answer {
        let head = ["class", "rows", "indicators", "second degree", "discriminant"];
        let mut table = Columns::new("Predictions of each class on the training rows", &head);
        let cell = |found: Option<usize>| match found {
            Some(count) => Cell::Count(count as i64),
            None => Cell::Empty("could not be fitted".to_string()),
        };
        let columns = [Some(&self.linear), self.quadratic.as_ref(), self.discriminant.as_ref()];
        for (k, class) in self.classes.iter().enumerate() {
            let counts = columns.iter().map(|column| cell(column.map(|found| found.counts[k])));
            let front = [Cell::Text(class.to_string()), Cell::Count(self.rows[k] as i64)];
            table.push(front.into_iter().chain(counts).collect());
        }
        let errors = columns.iter().map(|column| cell(column.map(|found| found.errors)));
        let front = [Cell::Text("(errors)".to_string()), Cell::Empty("no such count".to_string())];
        table.push(front.into_iter().chain(errors).collect());
        let mut report = Answer::new("Masking");
        report.tables.push(table);
        for k in self.masked() {
            report.notes.push(format!(
                "class '{}' is never predicted by indicator regression",
                plain(&self.classes[k].to_string())
            ));
        }
        report
    }
}
