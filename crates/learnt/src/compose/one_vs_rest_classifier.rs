//! One against the rest: a two-class learner made to choose among many classes.
//!
//! For each class the learner is fitted to tell it from all others; the class of the largest score is
//! chosen, the first of equals. Scores are margins, or probabilities less ½ where the learner has no
//! margins. Probabilities are those of the two-class models divided by their sum. Two classes are one
//! problem, the learner's own.
//!
//! Rifkin and Klautau (2004), Journal of Machine Learning Research 5, 101-141.

use super::two_class::{accepts, add_tables, class_rows, two_class_scores};
use crate::learner::{Fitted, Learner};
use crate::linear::LogisticRegression;
use learnt_core::error::plain;
use learnt_core::estimator::{Accepts, first_maximum};
use learnt_core::part::FittedPart;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// One-vs-rest (one-vs-all) multiclass classification: one two-class classifier for each class.
///
/// There is one label a row.
///
/// ```
/// use learnt::{compose::OneVsRestClassifier, linear::LogisticRegression, prelude::*};
/// let x = Matrix::from_rows(&[[0.0, 0.0], [0.0, 1.0], [9.0, 0.0], [9.0, 1.0], [0.0, 9.0], [1.0, 9.0]])?;
/// let data = OwnedDataset::classification(x, &["a", "a", "b", "b", "c", "c"].map(Label::from));
/// let estimator = LogisticRegression { c: 10.0, ..Default::default() }.into();
/// let model = OneVsRestClassifier { estimator }.fit(&data.view())?;
/// assert_eq!(model.classify(&data.x.frame())?, [0, 0, 1, 1, 2, 2]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct OneVsRestClassifier {
    /// The two-class classifier; by default logistic regression.
    #[param(positional, learner = classifier, default = LogisticRegression)]
    pub estimator: Learner,
}

/// A fitted [`OneVsRestClassifier`].
#[derive(Model, Debug)]
#[model(classifier, validate = validate, report = table, converged = converged)]
#[model(accepts = accepts, parts = parts)]
pub struct OneVsRestClassifierModel {
    /// Number of classes.
    pub n_classes: usize,
    /// One for each class, none for a class without rows; a single one for two classes.
    parts: Vec<Option<Fitted>>,
    converged: bool,
}

impl Estimator for OneVsRestClassifier {
    type Model = OneVsRestClassifierModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("multiclass.OneVsRestClassifier")
        .alias(&["one-vs-rest", "ovr"])
        .weights()
        .only_by_name()
        .decision_scores()
        .threads()
        .iterations()
        .complexity(30)
        .cost("a fit for each class")
        .reference("Rifkin and Klautau (2004), Journal of Machine Learning Research 5, 101-141")
        .exempt(&[("weights_scale", "the default learner has an absolute penalty")]);

    fn accepts(&self) -> Accepts {
        accepts(&self.estimator)
    }

    fn train(&self, data: &Dataset, run: &Context) -> Result<OneVsRestClassifierModel> {
        let rows = class_rows(data)?;
        let (codes, classes) = data.class_target()?;
        let learner = &*self.estimator;
        let parts = match rows.len() {
            2 => vec![Some(Fitted::fit(learner, &name(&classes[1]), data, run)?)],
            count => run.try_par_fits(count, |k, inner| {
                if rows[k] == 0 {
                    return Ok(None);
                }
                let codes: Vec<u32> = codes.iter().map(|&c| u32::from(c as usize == k)).collect();
                let sides = [Label::Bool(false), Label::Bool(true)];
                let data = data.with_target(Target::Class { codes: &codes, classes: &sides });
                Fitted::fit(learner, &name(&classes[k]), &data, inner).map(Some)
            })?,
        };
        let converged = parts.iter().flatten().all(|part| part.model.converged());
        Ok(OneVsRestClassifierModel { n_classes: rows.len(), parts, converged })
    }
}

fn name(class: &Label) -> String {
    format!("class {} against the rest", plain(&class.to_string()))
}

impl OneVsRestClassifierModel {
    /// The models, one for each class; a single one for two classes.
    pub fn models(&self) -> impl Iterator<Item = Option<&dyn Model>> {
        self.parts.iter().map(|part| part.as_ref().map(|part| part.model.as_ref()))
    }

    fn parts(&self, schema: &Schema, classes: &[Label]) -> Result<Vec<FittedPart<'_>>> {
        let sides = [Label::Bool(false), Label::Bool(true)];
        let classes = if self.n_classes == 2 { classes } else { &sides };
        Ok(self.parts.iter().flatten().map(|part| part.part(schema.clone(), classes)).collect())
    }

    /// The model of the only problem, if there are two classes.
    fn only(&self) -> Result<Option<&dyn Classifier>> {
        match self.parts.as_slice() {
            [Some(part)] => part.classifier().map(Some),
            _ => Ok(None),
        }
    }

    /// One column a class; `f` gives the numbers of a class that has a model.
    fn columns(
        &self,
        x: &Frame,
        absent: f64,
        f: impl Fn(&Fitted) -> Result<Vec<f64>>,
    ) -> Result<Matrix> {
        let mut out = Matrix::zeros(x.nrows(), self.parts.len());
        for (k, part) in self.parts.iter().enumerate() {
            let column = part.as_ref().map(&f).transpose()?;
            for i in 0..x.nrows() {
                out[(i, k)] = column.as_ref().and_then(|c| c.get(i)).copied().unwrap_or(absent);
            }
        }
        Ok(out)
    }

    fn accepts(&self) -> Accepts {
        self.parts.iter().flatten().next().map(Fitted::accepts).unwrap_or_default()
    }

    fn validate(&self) -> Result<()> {
        let expected = if self.n_classes == 2 { 1 } else { self.n_classes };
        let fits = self.n_classes > 1
            && self.parts.len() == expected
            && self.parts.iter().any(Option::is_some)
            && self.parts.iter().flatten().all(|part| part.model.as_classifier().is_some());
        if fits { Ok(()) } else { Err(invalid("models do not fit the classes")) }
    }

    fn table(&self, names: &Names) -> Answer {
        let mut report = Answer::new("One against the rest");
        let sides = match self.n_classes {
            2 => names.classes.clone(),
            _ => vec!["false".to_string(), "true".to_string()],
        };
        let parts = self.parts.iter().flatten();
        add_tables(&mut report, parts.map(|part| (part, names.with_classes(sides.clone()))));
        report
    }
}

impl Classifier for OneVsRestClassifierModel {
    fn decision_scores_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        match self.only()? {
            Some(model) => model.decision_scores_in(x, run),
            None => self.columns(x, f64::NEG_INFINITY, |part| two_class_scores(part, x, run)),
        }
    }

    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        if let Some(model) = self.only()? {
            return model.probabilities_in(x, run);
        }
        let mut out = self.columns(x, 0.0, |part| {
            let both = part.classifier()?.probabilities_in(x, run)?;
            Ok(both.rows().map(|row| row.last().copied().unwrap_or(0.0)).collect())
        })?;
        (0..out.nrows()).for_each(|i| normalise(out.row_mut(i)));
        Ok(out)
    }

    fn classify_in(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        match self.only()? {
            Some(model) => model.classify_in(x, run),
            None => Ok(self.decision_scores_in(x, run)?.rows().map(first_maximum).collect()),
        }
    }
}

/// Divides by the sum; equal parts if nothing is probable.
fn normalise(row: &mut [f64]) {
    let total: f64 = row.iter().sum();
    let share = 1.0 / row.len().max(1) as f64;
    row.iter_mut().for_each(|p| *p = if total > 0.0 { *p / total } else { share });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bayes::GaussianNB;
    use crate::linear::Ridge;

    fn sample(n: usize, classes: usize) -> OwnedDataset {
        let noise = |i: usize, j: usize| ((i * 31 + j * 17) % 23) as f64 / 23.0;
        let x = Matrix::from_fn(n, 2, |i, j| {
            let angle = (i % classes) as f64 * std::f64::consts::TAU / classes as f64;
            3.0 * if j == 0 { angle.cos() } else { angle.sin() } + 2.0 * noise(i, j)
        });
        let labels: Vec<Label> = (0..n).map(|i| Label::Int((i % classes) as i64)).collect();
        OwnedDataset::classification(x, &labels)
    }

    #[test]
    fn two_classes_are_the_two_class_learner() {
        let data = sample(60, 2);
        let frame = data.x.frame();
        let alone = LogisticRegression::default().fit(&data.view()).unwrap();
        let model = OneVsRestClassifier::default().fit(&data.view()).unwrap();
        let run = Context::default();
        assert_eq!(
            model.decision_scores_in(&frame, &run).unwrap(),
            alone.decision_scores_in(&frame, &run).unwrap()
        );
        assert_eq!(model.probabilities(&frame).unwrap(), alone.probabilities(&frame).unwrap());
        assert_eq!(model.classify(&frame).unwrap(), alone.classify(&frame).unwrap());
    }

    #[test]
    fn each_class_has_the_model_that_tells_it_from_the_rest() {
        let data = sample(90, 3);
        let model = OneVsRestClassifier::default().fit(&data.view()).unwrap();
        let labels: Vec<Label> = (0..90).map(|i| Label::Bool(i % 3 == 1)).collect();
        let second = OwnedDataset::classification(data.x.values().clone(), &labels);
        let alone = LogisticRegression::default().fit(&second.view()).unwrap();
        let run = Context::default();
        let margins = model.decision_scores_in(&data.x.frame(), &run).unwrap();
        let expected = alone.decision_scores_in(&data.x.frame(), &run).unwrap();
        assert_eq!(margins.column(1), expected.column(0));
        let right = model.classify(&data.x.frame()).unwrap();
        assert!(right.iter().enumerate().filter(|(i, k)| i % 3 == **k as usize).count() > 80);
    }

    #[test]
    fn learners_without_margins_are_compared_by_probability() {
        let data = sample(90, 4);
        let estimator = Learner::from(GaussianNB::default());
        let model = OneVsRestClassifier { estimator }.fit(&data.view()).unwrap();
        let probabilities = model.probabilities(&data.x.frame()).unwrap();
        for (row, code) in probabilities.rows().zip(model.classify(&data.x.frame()).unwrap()) {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert_eq!(first_maximum(row), code);
        }
    }

    #[test]
    fn what_is_no_classifier_is_refused_by_name() {
        let estimator = Learner::from(Ridge::default());
        let error = OneVsRestClassifier { estimator }.fit(&sample(9, 3).view()).unwrap_err();
        assert!(error.message().contains("`estimator` must be a classifier, got Ridge"), "{error}");
        let mut learner = OneVsRestClassifier::default();
        let error = learner.set("estimator", &Value::Text("ridgge".into())).unwrap_err();
        assert!(error.to_string().contains("ridge"), "{error}");
    }

    #[test]
    fn parameters_of_the_learner_are_reached_by_name() {
        let mut learner = OneVsRestClassifier::default();
        assert!(learner.set("estimatr__C", &Value::Real(3.0)).is_err());
        learner.set("estimator", &Value::Text("logistic-regression".into())).unwrap();
        learner.set("estimator__C", &Value::Real(3.0)).unwrap();
        assert_eq!(learner.get("estimator__C").unwrap(), Value::Real(3.0));
        let spec = r#"{"learner": "logistic-regression", "params": {"C": 2.0}}"#;
        learner.set("estimator", &Value::parse(spec)).unwrap();
        assert_eq!(learner.get("estimator__C").unwrap(), Value::Real(2.0));
        let again = learner.get("estimator").unwrap();
        learner.set("estimator", &again).unwrap();
        assert_eq!(learner.get("estimator").unwrap(), again);
        learner.set("estimator", &Value::Text("lda".into())).unwrap();
        assert!(learner.get("estimator__shrinkage").is_ok());
    }

    #[test]
    fn a_class_without_rows_is_never_chosen() {
        let data = sample(90, 3);
        let rows: Vec<usize> = (0..90).filter(|i| i % 3 != 1).collect();
        let part = data.view().gather(&rows);
        let model = OneVsRestClassifier::default().fit(&part.view()).unwrap();
        assert!(model.classify(&data.x.frame()).unwrap().iter().all(|&code| code != 1));
        assert!(model.probabilities(&data.x.frame()).unwrap().rows().all(|row| row[1] == 0.0));
    }
}
