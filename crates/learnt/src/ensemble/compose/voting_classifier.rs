//! Votes of classifiers: the class with the largest (weighted) number of votes, or the mean of their
//! probabilities.
//!
//! Hard: argmax_k Σ w_m [classifier m says k]; soft: argmax_k Σ w_m p_m(k). Ties go to the lowest class.
//!
//! Kuncheva, "Combining Pattern Classifiers" (2004).

use super::{
    accepts_of_all, accepts_of_parts, check_classifiers, check_names, check_weights, codes_of,
    fit_all, member_report, parts_of, shares_of,
};
use crate::learner::{Fitted, Learner, Named};
use learnt_core::estimator::{Accepts, Offers};
use learnt_core::part::FittedPart;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// Voting classifier: several classifiers of any kind vote, or average their probabilities.
///
/// With hard votes, probabilities are shares of votes.
///
/// ```
/// use learnt::{bayes::GaussianNB, ensemble::VotingClassifier, tree::DecisionTreeClassifier};
/// use learnt::{Named, prelude::*};
/// let estimators = vec![
///     Named::new("tree", DecisionTreeClassifier::default()),
///     Named::new("bayes", GaussianNB::default()),
/// ];
/// let data = learnt::datasets::load("iris")?;
/// let model = VotingClassifier { estimators, ..Default::default() }.fit(&data.view())?;
/// assert_eq!(model.classify(&data.x.frame())?.len(), 150);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct VotingClassifier {
    /// The classifiers, each with a name.
    #[param(positional, required, learner = classifier)]
    pub estimators: Vec<Named<Learner>>,
    /// Whether votes or probabilities are added up.
    #[param(default = Voting::Hard)]
    pub voting: Voting,
    /// How much each classifier counts; none means equally.
    #[param(default = None)]
    pub weights: Option<Vec<f64>>,
}

/// What is added up.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum Voting {
    /// Votes.
    Hard,
    /// Probabilities.
    Soft,
}

/// A fitted [`VotingClassifier`].
#[derive(Model, Debug)]
#[model(classifier, validate = validate, report = report, accepts = accepts, parts = parts)]
pub struct VotingClassifierModel {
    pub(super) voting: Voting,
    pub(super) weights: Vec<f64>,
    pub(super) parts: Vec<Fitted>,
    pub(super) classes: Vec<Label>,
}

impl Estimator for VotingClassifier {
    type Model = VotingClassifierModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("ensemble.VotingClassifier")
        .alias(&["voting"])
        .weights()
        .only_by_name()
        .threads()
        .complexity(80)
        .cost("a fit of each learner")
        .reference("Kuncheva (2004)")
        .check_with(&[("estimators", r#"[["tree", "tree"], ["bayes", "gaussian-nb"]]"#)]);

    fn accepts(&self) -> Accepts {
        accepts_of_all(self.estimators.iter().map(|named| &named.value))
    }

    fn offers(&self) -> Offers {
        Offers { probabilities: true, ..Self::ABOUT.offers }
    }

    fn train(&self, data: &Dataset, run: &Context) -> Result<VotingClassifierModel> {
        let (_, classes) = data.class_target()?;
        let weights = check_weights(self.weights.as_deref(), self.estimators.len())?;
        let parts = fit_all(&self.estimators, data, run)?;
        Ok(VotingClassifierModel { voting: self.voting, weights, parts, classes: classes.to_vec() })
    }
}

impl VotingClassifier {
    fn constraints(&self) -> Result<()> {
        check_weights(self.weights.as_deref(), self.estimators.len())?;
        check_names(&self.estimators)
    }
}

impl VotingClassifierModel {
    fn accepts(&self) -> Accepts {
        accepts_of_parts(&self.parts)
    }

    fn parts(&self, schema: &Schema, classes: &[Label]) -> Result<Vec<FittedPart<'_>>> {
        Ok(parts_of(&self.parts, schema, classes))
    }

    fn validate(&self) -> Result<()> {
        check_classifiers(&self.parts)?;
        let weights = check_weights(Some(&self.weights), self.parts.len());
        match weights.is_ok() && !self.classes.is_empty() {
            true => Ok(()),
            false => Err(invalid("weights that do not fit the members")),
        }
    }

    fn report(&self, _: &Names) -> Answer {
        member_report("Votes", &self.parts, "weight", &self.weights)
    }
}

impl Classifier for VotingClassifierModel {
    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let total: f64 = self.weights.iter().sum();
        let mut sums = Matrix::zeros(x.nrows(), self.classes.len());
        for (part, weight) in self.parts.iter().zip(&self.weights) {
            match self.voting {
                Voting::Hard => {
                    for (i, k) in
                        codes_of(part, self.classes.len(), x, run)?.into_iter().enumerate()
                    {
                        sums[(i, k as usize)] += weight / total;
                    }
                }
                Voting::Soft => {
                    let shares = shares_of(part, self.classes.len(), x, run)?;
                    let cells = sums.as_mut_slice().iter_mut().zip(shares.as_slice());
                    cells.for_each(|(sum, share)| *sum += weight / total * share);
                }
            }
        }
        (0..sums.nrows()).for_each(|i| {
            let row = sums.row_mut(i);
            let total: f64 = row.iter().sum();
            row.iter_mut().for_each(|share| *share = (*share / total).min(1.0));
        });
        Ok(sums)
    }
}
