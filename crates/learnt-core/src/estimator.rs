//! The contract: a learner has parameters and trains a model; a model plays roles.

mod about;
mod roles;

pub use about::{About, Accepts, Offers, Power, Uses};
pub(crate) use roles::for_roles;
pub use roles::{
    Admitted, Classifier, Clusterer, Decoder, Density, Detector, Method, Prediction, ROLES,
    Regressor, Role, Roles, Transformer, classes_of_scores, first_maximum, shares_of_scores,
};

use crate::answer::Answer;
use crate::context::Context;
use crate::data::{Dataset, Frame, Label, OwnedDataset, Schema, Table};
use crate::error::{Code, Error, Result};
use crate::names::Names;
use crate::params::Params;
use crate::part::FittedPart;
use crate::persist::{Node, Stored};
use crate::question::{Asked, Question, Terms};
use crate::rounds::{self, Job, Notices, Plan};
use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;

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

    /// A larger model of the same rows: more members or rounds, after those of a smaller model. With the seed
    /// of that model it has the bits of a fit from the start. Parameters and data are already checked, no
    /// weight is zero.
    fn extend(&self, _model: &Self::Model, _data: &Dataset, _run: &Context) -> Result<Self::Model> {
        let message = format!("{} has no members or rounds to add to a model", Self::ABOUT.name());
        Err(Error::unsupported(message).hint("fit it anew"))
    }

    /// Checks, then makes a model larger, in the given run. Rows of weight zero are left out.
    fn extend_in(&self, model: &Self::Model, data: &Dataset, run: &Context) -> Result<Self::Model> {
        with_checked(self, data, Notices::Nothing, run, |data| self.extend(model, data, run))
    }

    /// How many members a model would have, if they can be fitted apart.
    fn members(&self) -> Option<usize> {
        None
    }

    /// A model of some of its members, by number: anywhere, and [joined](Estimator::join) later. Parameters
    /// and data are already checked, no weight is zero.
    fn train_members(
        &self,
        _members: Range<usize>,
        _data: &Dataset,
        _run: &Context,
    ) -> Result<Self::Model> {
        Err(no_members::<Self>())
    }

    /// The model of members that were fitted apart, in the order of their numbers. It has the bits of a fit.
    fn join(&self, _parts: &[&Self::Model]) -> Result<Self::Model> {
        Err(no_members::<Self>())
    }

    /// The rows that each member draws from so many in this run, by number, those that it drew twice twice; `None`
    /// where members draw no rows.
    fn draws(&self, _rows: usize, _run: &Context) -> Result<Option<Vec<Vec<u32>>>> {
        Ok(None)
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
    let accepts = learner.accepts();
    let name = E::ABOUT.name();
    // Rows of weight zero are never seen by the learner, and checked all the same.
    let noticed = data.weights.is_none() && notices.covers(accepts.missing);
    let (needs_target, checked) = (learner.roles().needs_target(), learner.check());
    let kept = checked.and_then(|()| {
        check_values(data, accepts, needs_target, noticed, run)?;
        counting_rows(name, data, accepts, run)
    });
    let done = kept.and_then(|kept| match kept {
        Some(kept) => work(&kept.view()),
        None => work(data),
    });
    done.map_err(|error| explained(error, data, accepts, noticed, run).within(name))
}

/// Refuses data that a learner cannot take; where it notices values that are not finite by itself, they are
/// not looked at.
fn check_values(
    data: &Dataset,
    accepts: Accepts,
    needs_target: bool,
    noticed: bool,
    run: &Context,
) -> Result<()> {
    match noticed {
        true => data.check_around(0, accepts, needs_target),
        false => data.check(accepts, needs_target, run),
    }
}

/// The place of a value that is not finite, where a learner has noticed that there is one.
fn explained(
    error: Error,
    data: &Dataset,
    accepts: Accepts,
    noticed: bool,
    run: &Context,
) -> Error {
    match noticed && run.checkpoint().is_ok() {
        true => data.x.check(accepts, run).err().unwrap_or(error),
        false => error,
    }
}

/// The rows with weight, where some have none.
fn counting_rows(
    name: &str,
    data: &Dataset,
    accepts: Accepts,
    run: &Context,
) -> Result<Option<OwnedDataset>> {
    check_weighted(name, accepts, data.weights.is_some())?;
    run.checkpoint()?;
    let weights = data.weights.filter(|weights| weights.contains(&0.0));
    Ok(weights.map(|weights| {
        let kept: Vec<usize> = (0..data.nrows()).filter(|&i| weights[i] > 0.0).collect();
        data.gather(&kept)
    }))
}

/// Refuses weights for a learner that takes none.
pub(crate) fn check_weighted(name: &str, accepts: Accepts, weighted: bool) -> Result<()> {
    match weighted && !accepts.weights {
        false => Ok(()),
        true => Err(Error::new(Code::Weights, format!("{name}: this learner takes no weights"))
            .hint("leave the weights out")),
    }
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
    /// Whether its predictions look at every value they read ([`Frame::read`](crate::data::Frame::read),
    /// [`Frame::noticed`](crate::data::Frame::noticed)) and bear what is not finite, so that the gate needs no
    /// pass of its own over the rows.
    fn looks(&self) -> bool {
        false
    }
    /// Whether a prediction arranges what it needs of the model before it looks at rows, so that rows are best asked for
    /// in large numbers.
    fn prepares(&self) -> bool {
        false
    }
    /// Whether its predictions for finite rows are surely numbers, so that the self-test of its file need not be
    /// taken when the fit ends: one that would make what the first question makes.
    fn is_sure(&self) -> bool {
        false
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
    /// Which of the columns that it gives belong to one term, for tests of whole terms by later steps.
    fn terms(&self) -> Option<Terms> {
        None
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
    /// The rows as the learner at the end sees them, where steps before it change them.
    fn prepared_rows(&self, _x: &Frame, _run: &Context) -> Result<Option<Table>> {
        Ok(None)
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
    /// Checks, then makes a model of this learner larger on the same rows.
    fn extend_any(
        &self,
        model: &dyn Model,
        data: &Dataset,
        run: &Context,
    ) -> Result<Box<dyn Model>>;
    /// How many members a model would have, if they can be fitted apart.
    fn any_members(&self) -> Option<usize>;
    /// Checks, then trains some of the members.
    fn fit_members(
        &self,
        members: Range<usize>,
        data: &Dataset,
        run: &Context,
    ) -> Result<Box<dyn Model>>;
    /// The rows that each member draws from so many in this run.
    fn any_draws(&self, rows: usize, run: &Context) -> Result<Option<Vec<Vec<u32>>>>;
    /// The model of members that were fitted apart.
    fn join_any(&self, parts: &[&dyn Model]) -> Result<Box<dyn Model>>;
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
        let typed = model.map(model_of::<E>).transpose()?;
        Ok(Box::new(self.update_in(typed, data, run)?))
    }
    fn extend_any(
        &self,
        model: &dyn Model,
        data: &Dataset,
        run: &Context,
    ) -> Result<Box<dyn Model>> {
        Ok(Box::new(self.extend_in(model_of::<E>(model)?, data, run)?))
    }
    fn any_members(&self) -> Option<usize> {
        self.members()
    }
    fn fit_members(
        &self,
        members: Range<usize>,
        data: &Dataset,
        run: &Context,
    ) -> Result<Box<dyn Model>> {
        if members.is_empty() || self.members().is_some_and(|all| members.end > all) {
            let expected = format!("some of the {} members", self.members().unwrap_or(0));
            return Err(Error::parameter("members", expected, format!("{members:?}")));
        }
        let train = |data: &Dataset| self.train_members(members.clone(), data, run);
        Ok(Box::new(with_checked(self, data, Notices::Nothing, run, train)?))
    }
    fn any_draws(&self, rows: usize, run: &Context) -> Result<Option<Vec<Vec<u32>>>> {
        self.draws(rows, run)
    }
    fn join_any(&self, parts: &[&dyn Model]) -> Result<Box<dyn Model>> {
        let typed: Vec<&E::Model> =
            parts.iter().map(|part| model_of::<E>(*part)).collect::<Result<_>>()?;
        match typed.is_empty() {
            true => Err(Error::internal("no members to join")),
            false => Ok(Box::new(self.join(&typed)?)),
        }
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

fn no_members<E: Estimator>() -> Error {
    let message = format!("{} has no members that are fitted apart", E::ABOUT.name());
    Error::unsupported(message).hint("forests and bagging have")
}

/// A model as one of this learner.
fn model_of<E: Estimator>(model: &dyn Model) -> Result<&E::Model> {
    let any: &dyn Any = model;
    any.downcast_ref().ok_or_else(|| {
        let message = format!("this is not a model of {}", E::ABOUT.name());
        Error::new(Code::Usage, message).hint("go on with the learner that began it")
    })
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
