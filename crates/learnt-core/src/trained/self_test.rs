//! The self-test of a model file: synthetic rows with the outputs they had after training.

use super::{Examples, History, Trained};
use crate::context::Context;
use crate::data::{ColumnKind, Frame, Matrix};
use crate::error::{Code, Error, Result};
use crate::estimator::{Admitted, AnyEstimator, Method, Prediction};
use crate::persist::invalid;
use std::borrow::Cow;

impl Trained {
    /// The numbers that self-tests compare: the finest that the model's first role gives.
    fn outputs(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let role = self.first_role()?;
        let rows = Admitted { x: *x, sequences: None };
        let call = |method: &Method| (method.call)(self.model.as_ref(), &rows, run);
        let tested = role.methods.iter().find(|method| method.name == role.tested);
        let outcome = match tested.map(call) {
            Some(Err(error)) if error.code() != Code::Unsupported => Err(error),
            Some(Ok(prediction)) => Ok(prediction),
            _ => call(&role.methods[0]),
        };
        outcome.map(Prediction::into_matrix)
    }

    /// Eight rows that fill the ranges of the columns evenly, with their outputs.
    pub(super) fn make_examples(&self, ranges: &[(f64, f64)]) -> Result<Option<Examples>> {
        const ROWS: usize = 8;
        let schema = &self.history.schema;
        let spread = |i: usize, j: usize| {
            let golden = 0.618_033_988_749_895 * (i + 1) as f64 + 0.414_213_562_373_095 * j as f64;
            golden - golden.floor()
        };
        let inputs = Matrix::from_fn(ROWS, schema.len(), |i, j| match &schema.column(j).kind {
            ColumnKind::Categorical { levels, .. } if levels.is_empty() => f64::NAN,
            ColumnKind::Categorical { levels, .. } => ((i + j) % levels.len()) as f64,
            ColumnKind::Numeric => {
                let (low, high) = ranges.get(j).copied().unwrap_or_default();
                low + (high - low) * spread(i, j)
            }
        });
        match self.model.is_sure() {
            true => Ok(Some(Examples { inputs, outputs: None })),
            false => self.outputs_of(&inputs),
        }
    }

    /// What a file says of training: with outputs of the self-test, which wait for the first file where the
    /// model is sure to give numbers.
    pub(super) fn history_for_file(&self) -> Result<Cow<'_, History>> {
        match &self.history.examples {
            Some(Examples { inputs, outputs: None }) => {
                let examples = self.outputs_of(inputs)?;
                Ok(Cow::Owned(History { examples, ..self.history.clone() }))
            }
            _ => Ok(Cow::Borrowed(&self.history)),
        }
    }

    /// Self-test rows with what the model gives for them, if it gives anything. What there was no
    /// memory for is an error: files of equal fits have equal bytes.
    pub(super) fn outputs_of(&self, inputs: &Matrix) -> Result<Option<Examples>> {
        let frame = Frame::new(inputs.view(), &self.history.schema)?;
        match self.outputs(&frame, &Context::default().with_threads(1)) {
            Ok(outputs) => Ok(Some(Examples { inputs: inputs.clone(), outputs: Some(outputs) })),
            Err(error) if error.code() == Code::Memory => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Repeats the self-test; true if every output has the same bits. `None` without a self-test.
    pub fn verify(&self) -> Result<Option<bool>> {
        let same = |(a, b): &(f64, f64)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
        Ok(self.self_test()?.map(|pairs| pairs.iter().all(same)))
    }

    /// Outputs of the self-test rows now, each beside the one in the file. `None` without a
    /// self-test.
    pub fn self_test(&self) -> Result<Option<Vec<(f64, f64)>>> {
        let Some(examples) = &self.history.examples else { return Ok(None) };
        let frame = Frame::new(examples.inputs.view(), &self.history.schema)?;
        let outputs = self.outputs(&frame, &Context::default().with_threads(1))?;
        let (now, then) = (outputs.as_slice(), examples.outputs.as_ref().unwrap_or(&outputs));
        let then = then.as_slice();
        if now.len() != then.len() {
            return Err(invalid("the self-test has another number of outputs"));
        }
        Ok(Some(now.iter().copied().zip(then.iter().copied()).collect()))
    }

    /// A first prediction finds models whose parts do not fit their columns or classes. A file without
    /// self-test rows is asked about rows of zeros.
    pub(super) fn check_widths(&self) -> Result<()> {
        let zeros = Matrix::zeros(1, self.history.schema.len());
        let examples = self.history.examples.as_ref();
        let inputs = examples.map_or(&zeros, |examples| &examples.inputs);
        let frame = Frame::new(inputs.view(), &self.history.schema)
            .map_err(|error| invalid(error.message()))?;
        let run = Context::default().with_threads(1);
        let outputs = match (self.outputs(&frame, &run), examples) {
            (Ok(outputs), _) => Some(outputs),
            (Err(error), Some(_)) => return Err(invalid(error.message())),
            (Err(_), None) => None,
        };
        let sides = |outputs: &Matrix| (outputs.nrows(), outputs.ncols());
        let then = examples.and_then(|examples| examples.outputs.as_ref());
        let fits = outputs.zip(then).is_none_or(|(now, then)| sides(&now) == sides(then));
        match fits && self.fits_classes(&frame, &run) {
            true => Ok(()),
            false => Err(invalid("the model's outputs do not fit its classes")),
        }
    }

    /// Whether probabilities, or decision scores, are as many as the classes ask for.
    fn fits_classes(&self, x: &Frame, run: &Context) -> bool {
        let Some(classifier) = self.model.as_classifier() else { return true };
        let classes = self.history.classes.len();
        if let Ok(probabilities) = classifier.probabilities_in(x, run) {
            return probabilities.ncols() == classes;
        }
        match classifier.decision_scores_in(x, run) {
            Ok(scores) if classes <= 2 => classes == 2 && scores.ncols() <= 2,
            Ok(scores) => {
                [classes, classes * classes.saturating_sub(1) / 2].contains(&scores.ncols())
            }
            Err(_) => true,
        }
    }

    /// Refuses a model that could not be loaded again, or that gives no number for rows like those it
    /// was trained on: what overflowed in training is found before anybody relies on it.
    pub(super) fn check_sound(&self, learner: &dyn AnyEstimator) -> Result<()> {
        let unsound = |what: &str| {
            let message = format!("the fitted model is of no use: {what}");
            Error::numeric(message).within(self.about.name()).hint(
                "values, targets or weights are too large or too small: put them on another scale",
            )
        };
        // Models that hold training rows hold what was checked before training.
        if !self.about.stores_rows {
            learner.read_back(&self.model.stored()).map_err(|error| unsound(error.message()))?;
        }
        let predicts = self.model.as_regressor().is_some() || self.model.as_classifier().is_some();
        let whole = |matrix: &Matrix| matrix.as_slice().iter().all(|value| !value.is_nan());
        match &self.history.examples {
            Some(Examples { inputs, outputs: Some(outputs) })
                if predicts && whole(inputs) && !whole(outputs) =>
            {
                Err(unsound("a prediction for rows like those of training is not a number"))
            }
            _ => Ok(()),
        }
    }
}
