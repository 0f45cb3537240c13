//! What boosting begins with: a constant, or what another learner says about a row.

use super::compose::both;
use super::loss::Loss;
use crate::learner::{Fitted, Learner};
use learnt_core::estimator::{Accepts, AnyEstimator};
use learnt_core::params::{Kind, ParamType, Variant};
use learnt_core::part::FittedPart;
use learnt_core::persist::Node;
use learnt_core::prelude::*;
use std::sync::Arc;

/// The random stream of the learner, which no round has.
const BEGINNING: u64 = 0;
/// The name of the part.
const NAME: &str = "init";

/// What rounds begin with, where it is not the best constant.
#[derive(Clone, Debug)]
pub enum BoostingStart {
    /// Scores of zero.
    Zero,
    /// What this learner predicts.
    Learner(Learner),
}

impl BoostingStart {
    /// What a booster that begins with this takes.
    pub(super) fn accepts(given: Option<&Self>, own: Accepts) -> Accepts {
        match given {
            Some(BoostingStart::Learner(learner)) => both(own, learner.any_accepts()),
            _ => own,
        }
    }
}

impl ParamType for BoostingStart {
    fn kind() -> Kind {
        Kind::choice(vec![
            Variant::Word("zero", "Scores of zero."),
            Variant::Of(Learner::kind(), "What this learner predicts."),
        ])
    }
    fn to_value(&self) -> Value {
        match self {
            BoostingStart::Zero => Value::Text("zero".to_string()),
            BoostingStart::Learner(learner) => learner.to_value(),
        }
    }
    fn from_value(value: &Value) -> Option<Self> {
        Self::from_value_as(value, None)
    }
    fn from_value_as(value: &Value, role: Option<&str>) -> Option<Self> {
        match value {
            Value::Text(word) if word == "zero" => Some(BoostingStart::Zero),
            value => Learner::from_value_as(value, role).map(BoostingStart::Learner),
        }
    }
    fn explain(value: &Value) -> Option<Error> {
        Learner::explain(value).map(|error| error.within(NAME))
    }
    fn learners<'a>(&'a self, field: &str) -> Vec<(String, &'a dyn AnyEstimator)> {
        match self {
            BoostingStart::Zero => Vec::new(),
            BoostingStart::Learner(learner) => learner.learners(field),
        }
    }
    fn learner_mut(&mut self, field: &str, name: &str) -> Option<&mut dyn AnyEstimator> {
        match self {
            BoostingStart::Zero => None,
            BoostingStart::Learner(learner) => learner.learner_mut(field, name),
        }
    }
}

/// The fitted learner that rounds begin with, if there is one.
#[derive(Clone, Debug, Default)]
pub(super) struct Beginning(Option<Arc<Fitted>>);

impl Beginning {
    /// Fits the learner on these rows; nothing is fitted for a constant.
    pub(super) fn fit(
        start: Option<&BoostingStart>,
        data: &Dataset,
        run: &Context,
    ) -> Result<Self> {
        match start {
            Some(BoostingStart::Learner(learner)) => {
                let part = Fitted::fit(&**learner, NAME, data, &run.child(BEGINNING))?;
                Ok(Beginning(Some(Arc::new(part))))
            }
            _ => Ok(Beginning(None)),
        }
    }

    pub(super) fn is_constant(&self) -> bool {
        self.0.is_none()
    }

    /// The scores of rows before the first round; none where they are a constant.
    pub(super) fn scores(&self, loss: Loss, x: &Frame, run: &Context) -> Result<Option<Matrix>> {
        let Some(part) = &self.0 else { return Ok(None) };
        if let Some(model) = part.model.as_regressor() {
            return model.predict_in(x, run).map(Some);
        }
        let shares = part.classifier()?.probabilities_in(x, run).map_err(|error| {
            match error.code() == Code::Unsupported {
                true => Error::parameter(
                    NAME,
                    "a classifier that gives probabilities (predict_proba)",
                    part.about.name(),
                ),
                false => error,
            }
        })?;
        let mut scores = Matrix::zeros(x.nrows(), loss.scores());
        (0..x.nrows()).for_each(|i| loss.scores_of_shares(shares.row(i), scores.row_mut(i)));
        Ok(Some(scores))
    }

    /// What models that begin with this take.
    pub(super) fn accepts(&self, own: Accepts) -> Accepts {
        self.0.as_ref().map_or(own, |part| both(own, part.accepts()))
    }

    /// The learner as a part of its model.
    pub(super) fn parts(&self, schema: &Schema, classes: &[Label]) -> Vec<FittedPart<'_>> {
        self.0.iter().map(|part| part.part(schema.clone(), classes)).collect()
    }

    /// Whether the part can say what boosting of classes or of numbers needs.
    pub(super) fn fits(&self, classes: bool) -> bool {
        self.0.as_ref().is_none_or(|part| match classes {
            true => part.model.as_classifier().is_some(),
            false => part.model.as_regressor().is_some(),
        })
    }

    /// Refuses what only trees could say.
    pub(super) fn check_question(&self, name: &str) -> Result<()> {
        match self.is_constant() || !["contributions", "tree_dependence"].contains(&name) {
            true => Ok(()),
            false => Err(Error::unsupported(format!(
                "'{name}' looks at trees alone, and this model begins with a learner (`init`)"
            ))
            .hint("ask for 'partial_dependence' or 'permutation_importance'")),
        }
    }
}

impl PartialEq for Beginning {
    fn eq(&self, other: &Self) -> bool {
        self.to_node() == other.to_node()
    }
}

impl Stored for Beginning {
    fn to_node(&self) -> Node {
        self.0.as_ref().map_or(Node::Null, |part| part.to_node())
    }
    fn from_node(node: &Node) -> Result<Self> {
        Ok(Beginning(Option::<Fitted>::from_node(node)?.map(Arc::new)))
    }
}
