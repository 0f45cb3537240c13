//! Stacking of classifiers: a last classifier learns from what the others say about rows they have not seen.
//!
//! Members are fitted on K - 1 of K folds and predict the fold left out; the last learner is fitted on
//! these predictions, and works on those of members fitted on all rows.
//!
//! Wolpert, "Stacked generalization", Neural Networks 5 (1992), 241-259.

use super::stacking::{self, StackMethod, fit, last_rows};
use super::{accepts_of_all, accepts_of_parts, check_classifiers, check_names, parts_of};
use crate::learner::{Fitted, Learner, Named};
use crate::linear::LogisticRegression;
use learnt_core::estimator::Accepts;
use learnt_core::part::FittedPart;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// Stacking classifier: several classifiers of any kind, combined by one more that is fitted on their predictions.
///
/// `cv` is a number of folds; in Python it may be a splitter too.
///
/// ```
/// use learnt::{bayes::GaussianNB, ensemble::StackingClassifier, tree::DecisionTreeClassifier};
/// use learnt::{Named, prelude::*};
/// let estimators = vec![
///     Named::new("tree", DecisionTreeClassifier::default()),
///     Named::new("bayes", GaussianNB::default()),
/// ];
/// let data = learnt::datasets::load("iris")?;
/// let model = StackingClassifier { estimators, ..Default::default() }.fit(&data.view())?;
/// assert_eq!(model.classify(&data.x.frame())?.len(), 150);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct StackingClassifier {
    /// The classifiers, each with a name.
    #[param(positional, required, learner = classifier)]
    pub estimators: Vec<Named<Learner>>,
    /// The classifier that combines them.
    #[param(learner = classifier, default = LogisticRegression)]
    pub final_estimator: Learner,
    /// Number of folds.
    #[param(default = 5, range = 2..)]
    pub cv: usize,
    /// What members say about rows.
    #[param(default = StackMethod::Auto)]
    pub stack_method: StackMethod,
    /// Whether the last learner also sees the columns themselves.
    #[param(default = false)]
    pub passthrough: bool,
}

/// A fitted [`StackingClassifier`].
#[derive(Model, Debug)]
#[model(classifier, validate = validate, accepts = accepts, parts = parts)]
pub struct StackingClassifierModel {
    method: StackMethod,
    passthrough: bool,
    members: Vec<Fitted>,
    last: Fitted,
    /// Columns that the last learner sees.
    width: usize,
    classes: Vec<Label>,
}

impl Estimator for StackingClassifier {
    type Model = StackingClassifierModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("ensemble.StackingClassifier")
        .alias(&["stacking"])
        .weights()
        .only_by_name()
        .decision_scores()
        .threads()
        .complexity(80)
        .cost("K + 1 fits of each learner")
        .reference("Wolpert (1992), Neural Networks 5, 241-259")
        .check_with(&[("estimators", r#"[["tree", "tree"], ["bayes", "gaussian-nb"]]"#)])
        .exempt(&[
            ("weights_repeat", "folds are cut by rows"),
            ("weights_scale", "the default last learner has an absolute penalty"),
            (
                "sklearn:check_sample_weight_equivalence_on_dense_data",
                "folds are a number, not a list of rows",
            ),
            ("sklearn:check_fit2d_1feature", "five folds refuse a class of three rows"),
        ]);

    fn accepts(&self) -> Accepts {
        let members = accepts_of_all(self.estimators.iter().map(|named| &named.value));
        stacking::accepts(members, self.final_estimator.any_accepts(), self.passthrough)
    }

    fn train(&self, data: &Dataset, run: &Context) -> Result<StackingClassifierModel> {
        let method = self.stack_method;
        let (members, last, width) = fit(
            &self.estimators,
            &self.final_estimator,
            self.cv,
            method,
            self.passthrough,
            data,
            run,
        )?;
        let (_, classes) = data.class_target()?;
        Ok(StackingClassifierModel {
            method,
            passthrough: self.passthrough,
            members,
            last,
            width,
            classes: classes.to_vec(),
        })
    }
}

impl StackingClassifier {
    fn constraints(&self) -> Result<()> {
        check_names(&self.estimators)
    }
}

impl StackingClassifierModel {
    fn accepts(&self) -> Accepts {
        stacking::accepts(accepts_of_parts(&self.members), self.last.accepts(), self.passthrough)
    }

    fn parts(&self, schema: &Schema, classes: &[Label]) -> Result<Vec<FittedPart<'_>>> {
        let mut parts = parts_of(&self.members, schema, classes);
        let seen = stacking::last_schema(schema, self.width, self.passthrough)?;
        let name = "final_estimator".to_string();
        parts.push(FittedPart { name, ..self.last.part(seen, classes) });
        Ok(parts)
    }

    fn validate(&self) -> Result<()> {
        check_classifiers(&self.members)?;
        match self.last.model.as_classifier() {
            Some(_) => Ok(()),
            None => Err(invalid("a last learner that is no classifier")),
        }
    }

    fn table(&self, x: &Frame, run: &Context) -> Result<Table> {
        let shape = (self.passthrough, self.width);
        last_rows(&self.members, self.method, &self.classes, shape, x, run)
    }
}

impl Classifier for StackingClassifierModel {
    fn decision_scores_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        self.last.classifier()?.decision_scores_in(&self.table(x, run)?.frame(), run)
    }

    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        self.last.classifier()?.probabilities_in(&self.table(x, run)?.frame(), run)
    }

    fn classify_in(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        self.last.classifier()?.classify_in(&self.table(x, run)?.frame(), run)
    }
}
