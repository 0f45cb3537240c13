//! The contract: a learner has parameters and trains a model; a model plays roles.

mod about;
mod roles;

pub use about::{About, Accepts, Offers, Power, Uses};
pub(crate) use roles::for_roles;
pub use roles::{
    Admitted, Classifier, Clusterer, Decoder, Density, Detector, Method, Prediction, ROLES,
    Regressor, Role, Roles, Transformer, classes_of_scores, first_maximum,
};

use crate::answer::Answer;
use crate::context::Context;
use crate::data::{Dataset, Label, Schema};
use crate::error::{Code, Error, Result};
use crate::names::Names;
use crate::params::Params;
use crate::part::FittedPart;
use crate::persist::{Node, Stored};
use crate::question::{Asked, Question};
use crate::rounds::{self, Job, Notices, Plan};
use std::any::Any;
use std::fmt::Debug;

/// A learning algorithm with its parameters set.
pub trait Estimator: Params + Default + Clone {
    /// What training leaves behind.
    type Model: Model + Stored;

    /// How it is fitted: `Self` if it is [`Rounds`](rounds::Rounds), an engine that it names
    /// ([`FitBy`](rounds::FitBy)), [`Pass`](rounds::Pass), or [`Whole`](rounds::Whole).
    type Fit: rounds::Plan<Self>;

    /// The facts that front ends and checks need.
    const ABOUT: &'static About;

    /// The algorithm of a learner that needs the whole table. Parameters and data are already
    /// checked, no weight is zero.
    fn train(&self, data: &Dataset, run: &Context) -> Result<Self::Model> {
        rounds::train(self, data, run)
    }

    /// Checks, then trains, with all threads and seed 0.
    fn fit(&self, data: &Dataset) -> Result<Self::Model> {
        self.fit_in(data, &Context::default())
    }

    /// Checks, then trains, in the given run. Rows of weight zero are left out.
    fn fit_in(&self, data: &Dataset, run: &Context) -> Result<Self::Model> {
        let notices = <Self::Fit as Plan<Self>>::NOTICES;
        with_checked(self, data, notices, run, |data| self.train(data, run))
    }

    /// Goes on training a model with more rows, or begins one. The classes of the first rows are
    /// those of all later ones. Parameters and data are already checked, no weight is zero.
    fn update(
        &self,
        _model: Option<&Self::Model>,
        _data: &Dataset,
        _run: &Context,
    ) -> Result<Self::Model> {
        let message = format!("{} cannot go on training with more rows", Self::ABOUT.name());
        Err(Error::unsupported(message)
            .hint("fit it on all rows at once, or take one that `learnt list learners` says takes updates"))
    }

    /// Checks, then goes on training, in the given run. Rows of weight zero are left out.
    fn update_in(
        &self,
        model: Option<&Self::Model>,
        data: &Dataset,
        run: &Context,
    ) -> Result<Self::Model> {
        with_checked(self, data, Notices::Nothing, run, |data| self.update(model, data, run))
    }

    /// A model of each of these settings from one pass that they share, with the bits of fits apart;
    /// `None` where nothing is shared.
    fn train_together(
        _: &[&Self],
        _data: &Dataset,
        _run: &Context,
    ) -> Option<Result<Vec<Self::Model>>> {
        None
    }

    /// The roles of the model; fixed for most learners, the last step's for a pipeline.
    fn roles(&self) -> Roles {
        Self::ABOUT.roles
    }

    /// What the learner takes; a pipeline takes what its first step takes.
    fn accepts(&self) -> Accepts {
        Self::ABOUT.accepts
    }

    /// What a model would offer; some parameters take away probabilities.
    fn offers(&self) -> Offers {
        Self::ABOUT.offers
    }

    /// The fit as rounds of a mergeable summary, if it is.
    fn job(&self) -> Option<Box<dyn Job>> {
        rounds::job(self)
    }
}

/// Checks parameters and data, leaves out rows of weight zero, and calls `work` with the others. What
/// `work` notices by itself is looked for only when it fails, to say where it is.
fn with_checked<E: Estimator, T>(
    learner: &E,
    data: &Dataset,
    notices: Notices,
    run: &Context,
    work: impl FnOnce(&Dataset) -> Result<T>,
) -> Result<T> {
    let name = E::ABOUT.name();
    let accepts = learner.accepts();
    learner.check().map_err(|error| error.within(name))?;
    // Rows of weight zero are never seen by the learner, and checked all the same.
    let noticed = data.weights.is_none() && notices.covers(accepts.missing);
    let needs_target = learner.roles().needs_target();
    match noticed {
        true => data.check_around(accepts, needs_target),
        false => data.check(accepts, needs_target, run),
    }
    .map_err(|error| error.within(name))?;
    if data.weights.is_some() && !accepts.weights {
        let message = format!("{name}: this learner takes no weights");
        return Err(Error::new(Code::Weights, message).hint("leave the weights out"));
    }
    run.checkpoint()?;
    let done = match data.weights {
        Some(weights) if weights.contains(&0.0) => {
            let kept: Vec<usize> = (0..data.nrows()).filter(|&i| weights[i] > 0.0).collect();
            work(&data.gather(&kept).view())
        }
        _ => work(data),
    };
    let explained = |error: Error| match noticed && run.checkpoint().is_ok() {
        true => data.x.check(accepts, run).err().unwrap_or(error),
        false => error,
    };
    done.map_err(|error| explained(error).within(name))
}

/// The methods of [`Model`] by which it shows its roles.
macro_rules! role_methods {
    ($($name:ident, $method:ident, $class:ident, $($rest:tt),*;)*) => {$(
        #[doc = concat!("As a ", stringify!($name), ", if it is one.")]
        fn $method(&self) -> Option<&dyn $class> {
            None
        }
    )*};
}

/// What training leaves behind: plain data that owns all it needs. `#[derive(Model)]` writes it.
pub trait Model: Any + Debug + Send + Sync {
    for_roles!(role_methods);

    /// What its inputs may hold, where that is not what [`About`] says: a pipeline takes what its
    /// first step takes.
    fn accepts(&self) -> Option<Accepts> {
        None
    }
    /// Public fields by name, for Python's `coef_` and for `learnt inspect`.
    fn attributes(&self) -> Vec<(&'static str, Node)>;
    /// Tables for people: coefficients with their tests, tree text, component loadings.
    fn report(&self, _names: &Names) -> Option<Answer> {
        None
    }
    /// What a reader of the tables of later steps must know: reference levels, categories that were pooled.
    /// The columns are those that it was given.
    fn remarks(&self, _schema: &Schema) -> Vec<String> {
        Vec::new()
    }
    /// Questions beyond prediction that [`Model::answer`] takes.
    fn questions(&self) -> &'static [Question] {
        &[]
    }
    /// The answer to one of its questions.
    fn answer(&self, asked: &Asked) -> Result<Answer> {
        Err(Error::unsupported(format!("no answer to '{}'", asked.name)))
    }
    /// The fitted learners inside; `schema` and `classes` are those of the whole.
    fn parts(&self, _schema: &Schema, _classes: &[Label]) -> Result<Vec<FittedPart<'_>>> {
        Ok(Vec::new())
    }
    /// Models that are made from this one, such as the trees of a forest, with their names and learners;
    /// they see the columns and classes of the whole.
    fn members(&self) -> Vec<(String, &'static About, Box<dyn Model>)> {
        Vec::new()
    }
    /// The stored form.
    fn stored(&self) -> Node;
    /// The version of the stored form.
    fn version(&self) -> u32;
    /// Whether training met its convergence criterion; true for closed forms.
    fn converged(&self) -> bool {
        true
    }
}

/// The erased twin of [`Estimator`]: what pipelines, search, the command line and Python use.
pub trait AnyEstimator: Params + Any {
    /// The facts.
    fn about(&self) -> &'static About;
    /// The roles of the model that this learner would train.
    fn any_roles(&self) -> Roles;
    /// What this learner takes.
    fn any_accepts(&self) -> Accepts;
    /// Checks, then trains.
    fn fit_any(&self, data: &Dataset, run: &Context) -> Result<Box<dyn Model>>;
    /// Checks, then trains the settings of several learners of this kind together; `None` where that
    /// saves nothing.
    fn fit_together(
        &self,
        all: &[&dyn AnyEstimator],
        data: &Dataset,
        run: &Context,
    ) -> Option<Result<Vec<Box<dyn Model>>>>;
    /// What a model would offer.
    fn any_offers(&self) -> Offers;
    /// Checks, then goes on training a model of this learner, or begins one.
    fn update_any(
        &self,
        model: Option<&dyn Model>,
        data: &Dataset,
        run: &Context,
    ) -> Result<Box<dyn Model>>;
    /// A copy.
    fn clone_any(&self) -> Box<dyn AnyEstimator>;
    /// The fit as rounds, if it can be.
    fn any_job(&self) -> Option<Box<dyn Job>>;
    /// Whether a fit fails by itself on every value that this learner refuses as not finite.
    fn notices_all(&self) -> bool;
    /// Whether the stored form of a model can be read: what a loader would say about it.
    fn read_back(&self, stored: &Node) -> Result<()>;
}

impl<E: Estimator> AnyEstimator for E {
    fn about(&self) -> &'static About {
        E::ABOUT
    }
    fn any_roles(&self) -> Roles {
        self.roles()
    }
    fn any_accepts(&self) -> Accepts {
        self.accepts()
    }
    fn fit_any(&self, data: &Dataset, run: &Context) -> Result<Box<dyn Model>> {
        Ok(Box::new(self.fit_in(data, run)?))
    }
    fn fit_together(
        &self,
        all: &[&dyn AnyEstimator],
        data: &Dataset,
        run: &Context,
    ) -> Option<Result<Vec<Box<dyn Model>>>> {
        let mut typed: Vec<&E> = Vec::with_capacity(all.len());
        for learner in all {
            let any: &dyn Any = *learner;
            typed.push(any.downcast_ref()?);
        }
        let boxed = |model| Box::new(model) as Box<dyn Model>;
        let models = E::train_together(&typed, data, run)?;
        Some(models.map(|models| models.into_iter().map(boxed).collect()))
    }
    fn any_offers(&self) -> Offers {
        self.offers()
    }
    fn update_any(
        &self,
        model: Option<&dyn Model>,
        data: &Dataset,
        run: &Context,
    ) -> Result<Box<dyn Model>> {
        let typed = model.map(|model| {
            let any: &dyn Any = model;
            any.downcast_ref::<E::Model>().ok_or_else(|| {
                let message = format!("this is not a model of {}", E::ABOUT.name());
                Error::new(Code::Usage, message).hint("go on with the learner that began it")
            })
        });
        Ok(Box::new(self.update_in(typed.transpose()?, data, run)?))
    }
    fn clone_any(&self) -> Box<dyn AnyEstimator> {
        Box::new(self.clone())
    }
    fn any_job(&self) -> Option<Box<dyn Job>> {
        self.job()
    }
    fn notices_all(&self) -> bool {
        <E::Fit as Plan<E>>::NOTICES.covers(self.accepts().missing)
    }
    fn read_back(&self, stored: &Node) -> Result<()> {
        E::Model::from_node(stored).map(drop)
    }
}

impl Clone for Box<dyn AnyEstimator> {
    fn clone(&self) -> Self {
        (**self).clone_any()
    }
}

/// A learner in the registry.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The facts.
    pub about: &'static About,
    /// A learner with default parameters.
    pub build: fn() -> Box<dyn AnyEstimator>,
    /// A model from its stored form, which is checked.
    pub decode: fn(&Node, u32) -> Result<Box<dyn Model>>,
    /// Names and texts of the model's attributes.
    pub attributes: fn() -> &'static [(&'static str, &'static str)],
    /// Names of the attributes that a model file does not hold.
    pub transient: fn() -> &'static [&'static str],
    /// Names of the attributes whose first side is one an output.
    pub per_output: fn() -> &'static [&'static str],
    /// Questions that its models answer.
    pub questions: fn() -> &'static [Question],
}

/// Names and texts of a model's public fields. `#[derive(Model)]` writes it.
pub trait Described {
    /// Name and doc comment of each public field.
    const FIELDS: &'static [(&'static str, &'static str)];
    /// The version of the stored form that this build writes.
    const VERSION: u32;
    /// Names of the fields that are not stored: what the fit gave about its training rows.
    const TRANSIENT: &'static [&'static str] = &[];
    /// Names of the fields whose first side is one an output: a regressor of one output shows them
    /// without it.
    const PER_OUTPUT: &'static [&'static str] = &[];
    /// Questions that the model answers.
    const QUESTIONS: &'static [Question] = &[];
}

/// The registry entry of a learner.
pub const fn entry<E: Estimator>() -> Entry
where
    E::Model: Described,
{
    Entry {
        about: E::ABOUT,
        build: || Box::new(E::default()),
        decode: |node, version| {
            if version != <E::Model as Described>::VERSION {
                let message = format!(
                    "{}: stored form {version}, and this build reads {}",
                    E::ABOUT.name(),
                    <E::Model as Described>::VERSION
                );
                return Err(Error::new(Code::FileVersion, message));
            }
            Ok(Box::new(E::Model::from_node(node)?))
        },
        attributes: || <E::Model as Described>::FIELDS,
        transient: || <E::Model as Described>::TRANSIENT,
        per_output: || <E::Model as Described>::PER_OUTPUT,
        questions: || <E::Model as Described>::QUESTIONS,
    }
}
