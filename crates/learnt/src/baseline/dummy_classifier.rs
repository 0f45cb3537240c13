//! Dummy classification: classes by their frequency alone.
//!
//! Predicts the most frequent class with probability 1, or with its share (`prior`), draws classes
//! at random, or always says a given class. Equal frequencies go to the first class in sorted order.

use learnt_core::estimator::first_maximum;
use learnt_core::prelude::*;
use learnt_core::stats::sample;

/// Baseline classifier: predicts classes by their frequency, whatever the inputs.
///
/// ```
/// use learnt::{baseline::DummyClassifier, prelude::*};
/// let labels = ["a", "b", "b"].map(Label::from);
/// let data = OwnedDataset::classification(Matrix::zeros(3, 1), &labels);
/// let model = DummyClassifier::default().fit(&data.view())?;
/// assert_eq!(model.classify(&data.x.frame())?, [1, 1, 1]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct DummyClassifier {
    /// How classes are chosen.
    #[param(default = ClassifierStrategy::Prior)]
    pub strategy: ClassifierStrategy,
    /// The class that the strategy `constant` predicts, as its label.
    #[param(default = None)]
    pub constant: Option<Value>,
}

/// Ways to choose a class.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum ClassifierStrategy {
    /// The most frequent class; probabilities are the shares of the classes.
    Prior,
    /// The most frequent class, with probability 1.
    MostFrequent,
    /// A class drawn with its share as probability, the same each time for the same rows.
    Stratified,
    /// A class drawn evenly, the same each time for the same rows.
    Uniform,
    /// The class `constant`.
    Constant,
}

/// A fitted [`DummyClassifier`].
#[derive(Model, Clone, Debug)]
#[model(classifier, validate = validate)]
pub struct DummyClassifierModel {
    /// Share of each class among the training rows.
    #[shape(classes)]
    #[share]
    pub class_prior: Vec<f64>,
    strategy: ClassifierStrategy,
    constant: u32,
    seed: u64,
}

impl DummyClassifier {
    fn constraints(&self) -> Result<()> {
        match (self.strategy, &self.constant) {
            (ClassifierStrategy::Constant, None) => {
                Err(Error::parameter("constant", "given with the strategy 'constant'", "none"))
            }
            _ => Ok(()),
        }
    }
}

impl Estimator for DummyClassifier {
    type Model = DummyClassifierModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("dummy.DummyClassifier")
        .alias(&["dummy", "baseline"])
        .weights()
        .missing()
        .infinite()
        .categories()
        .randomness()
        .complexity(0)
        .cost("n time")
        .baseline()
        .exempt(&[
            ("beats_the_dummy", "it is the dummy"),
            ("seeds_differ", "only the strategies 'stratified' and 'uniform' draw"),
        ]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<DummyClassifierModel> {
        let (codes, classes) = data.class_target()?;
        let mut class_prior = vec![0.0; classes.len()];
        for (i, &code) in codes.iter().enumerate() {
            class_prior[code as usize] += data.weight(i);
        }
        let total: f64 = class_prior.iter().sum();
        class_prior.iter_mut().for_each(|share| *share /= total);
        let constant = match (&self.constant, self.strategy) {
            (Some(wanted), ClassifierStrategy::Constant) => position(wanted, classes)?,
            _ => first_maximum(&class_prior),
        };
        Ok(DummyClassifierModel {
            class_prior,
            strategy: self.strategy,
            constant,
            seed: run.seed(),
        })
    }
}

/// The code of the class with this label.
fn position(wanted: &Value, classes: &[Label]) -> Result<u32> {
    let name = match wanted {
        Value::Text(text) => text.clone(),
        other => other.to_string(),
    };
    let names: Vec<String> = classes.iter().map(ToString::to_string).collect();
    match names.iter().position(|class| *class == name) {
        Some(code) => Ok(code as u32),
        None => Err(Error::unknown("class", &name, names.iter().map(String::as_str))),
    }
}

impl DummyClassifierModel {
    fn validate(&self) -> Result<()> {
        let sum: f64 = self.class_prior.iter().sum();
        match (sum - 1.0).abs() < 1e-9 && (self.constant as usize) < self.class_prior.len() {
            true => Ok(()),
            false => Err(learnt_core::persist::invalid("shares of classes do not sum to one")),
        }
    }

    /// The class of a row. A draw belongs to the row's values, so that its position does not matter.
    fn code(&self, x: &Frame, i: usize) -> usize {
        let rng = || Context::default().with_seed(self.seed).row_rng(0, row_key(x, i));
        match self.strategy {
            ClassifierStrategy::Prior
            | ClassifierStrategy::MostFrequent
            | ClassifierStrategy::Constant => self.constant as usize,
            ClassifierStrategy::Uniform => {
                sample::below(&mut rng(), self.class_prior.len() as u64) as usize
            }
            ClassifierStrategy::Stratified => {
                let place = sample::uniform(&mut rng());
                let mut reached = 0.0;
                let drawn = self.class_prior.iter().position(|share| {
                    reached += share;
                    place < reached
                });
                drawn.unwrap_or(self.class_prior.len() - 1)
            }
        }
    }
}

impl Classifier for DummyClassifierModel {
    fn classify_in(&self, x: &Frame, _run: &Context) -> Result<Vec<u32>> {
        Ok((0..x.nrows()).map(|i| self.code(x, i) as u32).collect())
    }

    fn probabilities_in(&self, x: &Frame, _run: &Context) -> Result<Matrix> {
        let mut out = Matrix::zeros(x.nrows(), self.class_prior.len());
        for i in 0..x.nrows() {
            match self.strategy {
                ClassifierStrategy::Prior => out.row_mut(i).copy_from_slice(&self.class_prior),
                _ => out.row_mut(i)[self.code(x, i)] = 1.0,
            }
        }
        Ok(out)
    }
}

/// A number made from the bits of a row.
fn row_key(x: &Frame, i: usize) -> u64 {
    (0..x.ncols()).fold(0x9e37_79b9_7f4a_7c15, |key: u64, j| {
        (key ^ x.values().at(i, j).to_bits()).wrapping_mul(0x0100_0000_01b3).rotate_left(29)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> OwnedDataset {
        let x = Matrix::from_fn(5, 1, |i, _| i as f64);
        OwnedDataset::classification(x, &["b", "a", "b", "a", "c"].map(Label::from))
    }

    #[test]
    fn equal_frequencies_go_to_the_first_class() {
        let model = DummyClassifier::default().fit(&data().view()).unwrap();
        assert_eq!(model.classify(&data().x.frame()).unwrap(), [0; 5]);
        assert_eq!(model.class_prior, [0.4, 0.4, 0.2]);
    }

    #[test]
    fn an_unknown_constant_is_refused_with_the_known_classes() {
        let learner = DummyClassifier {
            strategy: ClassifierStrategy::Constant,
            constant: Some(Value::Text("d".into())),
        };
        let error = learner.fit(&data().view()).unwrap_err();
        assert!(error.hint_text().unwrap().contains("a, b, c"));
    }
}
