//! The contract: a learner has parameters and trains a model; a model plays roles.

use crate::answer::Answer;
use crate::context::Context;
use crate::data::{Dataset, Frame, Label, Matrix, Schema, Table};
use crate::error::{Code, Error, Result};
use crate::params::Params;
use crate::part::FittedPart;
use crate::persist::{Node, Stored};
use crate::question::{Asked, Question};
use crate::rounds::{self, Job};
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
        with_checked(self, data, run, |data| self.train(data, run))
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
            .hint("fit it on all rows at once, or take SGDClassifier, SGDRegressor or GaussianNB"))
    }

    /// Checks, then goes on training, in the given run. Rows of weight zero are left out.
    fn update_in(
        &self,
        model: Option<&Self::Model>,
        data: &Dataset,
        run: &Context,
    ) -> Result<Self::Model> {
        with_checked(self, data, run, |data| self.update(model, data, run))
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

/// Checks parameters and data, leaves out rows of weight zero, and calls `work` with the others.
fn with_checked<E: Estimator, T>(
    learner: &E,
    data: &Dataset,
    run: &Context,
    work: impl FnOnce(&Dataset) -> Result<T>,
) -> Result<T> {
    let name = E::ABOUT.name();
    let accepts = learner.accepts();
    learner.check().map_err(|error| error.within(name))?;
    data.check(accepts, learner.roles().needs_target(), run).map_err(|error| error.within(name))?;
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
    done.map_err(|error| error.within(name))
}

/// What training leaves behind: plain data that owns all it needs. `#[derive(Model)]` writes it.
pub trait Model: Any + Debug + Send + Sync {
    /// As a regressor, if it is one.
    fn as_regressor(&self) -> Option<&dyn Regressor> {
        None
    }
    /// As a classifier, if it is one.
    fn as_classifier(&self) -> Option<&dyn Classifier> {
        None
    }
    /// As a transformer, if it is one.
    fn as_transformer(&self) -> Option<&dyn Transformer> {
        None
    }
    /// As a clusterer, if it is one.
    fn as_clusterer(&self) -> Option<&dyn Clusterer> {
        None
    }
    /// Public fields by name, for Python's `coef_` and for `learnt inspect`.
    fn attributes(&self) -> Vec<(&'static str, Node)>;
    /// Tables for people: coefficients with their tests, tree text, component loadings.
    fn report(&self) -> Option<Answer> {
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
    /// The stored form.
    fn stored(&self) -> Node;
    /// The version of the stored form.
    fn version(&self) -> u32;
    /// Whether training met its convergence criterion; true for closed forms.
    fn converged(&self) -> bool {
        true
    }
}

/// Predicts numbers.
pub trait Regressor: Model {
    /// One row of outputs for each row of `x`.
    fn predict_in(&self, x: &Frame, run: &Context) -> Result<Matrix>;

    /// The same, with all threads.
    fn predict(&self, x: &Frame) -> Result<Matrix> {
        self.predict_in(x, &Context::default())
    }
}

/// Predicts classes.
pub trait Classifier: Model {
    /// Probabilities (n_rows × n_classes), each row summing to one.
    fn probabilities_in(&self, _x: &Frame, _run: &Context) -> Result<Matrix> {
        Err(Error::unsupported("this model gives no probabilities"))
    }

    /// Scores whose sign or order gives the class: one column for two classes, else one a class.
    fn decision_scores_in(&self, _x: &Frame, _run: &Context) -> Result<Matrix> {
        Err(Error::unsupported("this model gives no decision scores"))
    }

    /// Class codes; by default the class of the largest probability, the first of equals.
    fn classify_in(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        Ok(self.probabilities_in(x, run)?.rows().map(first_maximum).collect())
    }

    /// Class codes, with all threads.
    fn classify(&self, x: &Frame) -> Result<Vec<u32>> {
        self.classify_in(x, &Context::default())
    }

    /// Probabilities, with all threads.
    fn probabilities(&self, x: &Frame) -> Result<Matrix> {
        self.probabilities_in(x, &Context::default())
    }
}

/// Turns tables into tables.
pub trait Transformer: Model {
    /// The table after the transformation; the schema names its columns.
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table>;

    /// The rows before the transformation, where it can be undone.
    fn inverse_transform_in(&self, _x: &Frame, _run: &Context) -> Result<Table> {
        Err(Error::unsupported("this transformation has no inverse"))
    }

    /// The same, with all threads.
    fn transform(&self, x: &Frame) -> Result<Table> {
        self.transform_in(x, &Context::default())
    }
}

/// Groups rows.
pub trait Clusterer: Model {
    /// The cluster of each training row; `None` is noise.
    fn labels(&self) -> Vec<Option<u32>>;

    /// The cluster of new rows, where the method defines it.
    fn assign_in(&self, _x: &Frame, _run: &Context) -> Result<Vec<Option<u32>>> {
        Err(Error::unsupported("this clustering does not extend to new rows"))
    }
}

/// Position of the largest value, the first of equals. NaN is never largest.
pub fn first_maximum(values: &[f64]) -> u32 {
    let mut best = 0;
    for (i, &value) in values.iter().enumerate() {
        if value > values[best] || values[best].is_nan() {
            best = i;
        }
    }
    best as u32
}

/// The facts about a learner, as data.
#[derive(Debug)]
pub struct About {
    /// Module and class as in Python: `linear_model.Ridge`.
    pub path: &'static str,
    /// Other names on the command line; one shared by a classifier and a regressor means
    /// whichever the target calls for.
    pub aliases: &'static [&'static str],
    /// What a model can be used as.
    pub roles: Roles,
    /// What the learner takes.
    pub accepts: Accepts,
    /// What a model offers beyond its role.
    pub offers: Offers,
    /// What a run needs to know.
    pub uses: Uses,
    /// Time and memory in n rows, p columns, and parameters.
    pub cost: &'static str,
    /// Where the method comes from.
    pub reference: &'static str,
    /// Order of simplicity, lower is simpler: baselines 0, linear 20, naive Bayes 10, trees 40,
    /// neighbours 50, ensembles 70, networks 90.
    pub complexity: u8,
    /// Whether columns should be on one scale before fitting.
    pub wants_scaling: bool,
    /// Whether the numeric target must be above zero.
    pub positive_target: bool,
    /// Whether a comparison leaves it out unless it is named: a wrapper of another learner, or a
    /// cost that grows without measure.
    pub only_by_name: bool,
    /// Whether a model stores training rows.
    pub stores_rows: bool,
    /// Common checks that do not hold, each with the reason.
    pub exempt: &'static [(&'static str, &'static str)],
}

/// What a model can be used as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Roles {
    pub regressor: bool,
    pub classifier: bool,
    pub transformer: bool,
    pub clusterer: bool,
    /// Classifiers of exactly two classes.
    pub two_classes: bool,
}

impl Roles {
    /// None of them.
    pub const NONE: Roles = Roles {
        regressor: false,
        classifier: false,
        transformer: false,
        clusterer: false,
        two_classes: false,
    };

    /// Whether fitting needs a target.
    pub fn needs_target(self) -> bool {
        self.regressor || self.classifier
    }

    /// The names of the roles.
    pub fn names(self) -> Vec<&'static str> {
        let all = [
            (self.regressor, "regressor"),
            (self.classifier, "classifier"),
            (self.transformer, "transformer"),
            (self.clusterer, "clusterer"),
        ];
        all.iter().filter(|(has, _)| *has).map(|(_, name)| *name).collect()
    }
}

/// What a learner takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accepts {
    /// Missing values in the inputs.
    pub missing: bool,
    /// Categorical columns as they are.
    pub categories: bool,
    /// Row weights.
    pub weights: bool,
    /// Several numeric targets at once.
    pub many_outputs: bool,
}

/// What a model offers beyond its role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offers {
    /// Class probabilities, whatever the parameters.
    pub probabilities: bool,
    /// Class probabilities with some parameters: [`Estimator::offers`] knows with which.
    pub some_probabilities: bool,
    /// Decision scores.
    pub decision_scores: bool,
    /// The inverse of a transformation.
    pub inverse_transform: bool,
    /// Clusters of new rows.
    pub assign: bool,
}

/// What a run needs to know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// The result depends on the seed.
    pub randomness: bool,
    /// Several threads help.
    pub threads: bool,
    /// It iterates, so it may not converge.
    pub iterations: bool,
    /// It fits files larger than memory.
    pub streaming: bool,
    /// It goes on training with more rows.
    pub online: bool,
}

impl About {
    /// The facts of a learner that plays no role yet; the methods below add to it.
    pub const fn new(path: &'static str, roles: Roles) -> Self {
        About {
            path,
            aliases: &[],
            roles,
            accepts: Accepts {
                missing: false,
                categories: false,
                weights: false,
                many_outputs: false,
            },
            offers: Offers {
                probabilities: false,
                some_probabilities: false,
                decision_scores: false,
                inverse_transform: false,
                assign: false,
            },
            uses: Uses {
                randomness: false,
                threads: false,
                iterations: false,
                streaming: false,
                online: false,
            },
            cost: "",
            reference: "",
            complexity: 50,
            wants_scaling: false,
            positive_target: false,
            only_by_name: false,
            stores_rows: false,
            exempt: &[],
        }
    }

    /// A regressor.
    pub const fn regressor(path: &'static str) -> Self {
        Self::new(path, Roles { regressor: true, ..Roles::NONE })
    }

    /// A classifier with probabilities.
    pub const fn classifier(path: &'static str) -> Self {
        let roles = Roles { classifier: true, ..Roles::NONE };
        let mut about = Self::new(path, roles);
        about.offers.probabilities = true;
        about
    }

    /// A transformer.
    pub const fn transformer(path: &'static str) -> Self {
        Self::new(path, Roles { transformer: true, ..Roles::NONE })
    }

    /// A clusterer.
    pub const fn clusterer(path: &'static str) -> Self {
        Self::new(path, Roles { clusterer: true, ..Roles::NONE })
    }

    /// The class name: the last part of the path.
    pub const fn name(&self) -> &'static str {
        let bytes = self.path.as_bytes();
        let mut start = bytes.len();
        while start > 0 && bytes[start - 1] != b'.' {
            start -= 1;
        }
        self.path.split_at(start).1
    }

    /// The module: the path without the class.
    pub fn module(&self) -> &'static str {
        self.path.rsplit_once('.').map_or("", |(module, _)| module)
    }

    /// The name on the command line: `LogisticRegression` is `logistic-regression`.
    pub fn command(&self) -> String {
        let name = self.name();
        let mut out = String::new();
        let letters: Vec<char> = name.chars().collect();
        for (i, &c) in letters.iter().enumerate() {
            let after_lower = i > 0 && letters[i - 1].is_lowercase();
            let before_lower = i > 0 && letters.get(i + 1).is_some_and(|next| next.is_lowercase());
            if c.is_uppercase() && (after_lower || before_lower) {
                out.push('-');
            }
            out.extend(c.to_lowercase());
        }
        out
    }
}

/// Adds one fact to an [`About`] in a constant expression.
macro_rules! facts {
    ($($(#[$doc:meta])* $name:ident: $($field:ident).+ = $value:expr;)*) => {
        impl About {$(
            $(#[$doc])*
            #[must_use]
            pub const fn $name(mut self) -> Self {
                self.$($field).+ = $value;
                self
            }
        )*}
    };
}
facts! {
    /// Takes missing values.
    missing: accepts.missing = true;
    /// Takes categorical columns.
    categories: accepts.categories = true;
    /// Takes row weights.
    weights: accepts.weights = true;
    /// Takes several numeric targets.
    many_outputs: accepts.many_outputs = true;
    /// Gives decision scores.
    decision_scores: offers.decision_scores = true;
    /// Gives no probabilities.
    without_probabilities: offers.probabilities = false;
    /// Has an inverse transform.
    inverse_transform: offers.inverse_transform = true;
    /// Assigns new rows to clusters.
    assign: offers.assign = true;
    /// Depends on the seed.
    randomness: uses.randomness = true;
    /// Profits from threads.
    threads: uses.threads = true;
    /// Iterates.
    iterations: uses.iterations = true;
    /// Fits files larger than memory.
    streaming: uses.streaming = true;
    /// Goes on training with more rows.
    online: uses.online = true;
    /// Gives probabilities with some parameters only.
    some_probabilities: offers.some_probabilities = true;
    /// Takes exactly two classes.
    two_classes: roles.two_classes = true;
    /// Wants columns on one scale.
    scaling: wants_scaling = true;
    /// Needs a target above zero with its default parameters.
    positive: positive_target = true;
    /// A comparison leaves it out unless it is named.
    only_by_name: only_by_name = true;
    /// Its models store training rows.
    rows_stored: stores_rows = true;
}

impl About {
    /// Also a transformer: PCA-like clusterers, encoders of a model's own.
    #[must_use]
    pub const fn also_transformer(mut self) -> Self {
        self.roles.transformer = true;
        self
    }

    /// Other names on the command line.
    #[must_use]
    pub const fn alias(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// Order of simplicity.
    #[must_use]
    pub const fn complexity(mut self, complexity: u8) -> Self {
        self.complexity = complexity;
        self
    }

    /// Time and memory.
    #[must_use]
    pub const fn cost(mut self, cost: &'static str) -> Self {
        self.cost = cost;
        self
    }

    /// Where the method comes from.
    #[must_use]
    pub const fn reference(mut self, reference: &'static str) -> Self {
        self.reference = reference;
        self
    }

    /// Common checks that do not hold, with reasons.
    #[must_use]
    pub const fn exempt(mut self, exempt: &'static [(&'static str, &'static str)]) -> Self {
        self.exempt = exempt;
        self
    }
}

/// The erased twin of [`Estimator`]: what pipelines, search, the command line and Python use.
pub trait AnyEstimator: Params {
    /// The facts.
    fn about(&self) -> &'static About;
    /// The roles of the model that this learner would train.
    fn any_roles(&self) -> Roles;
    /// What this learner takes.
    fn any_accepts(&self) -> Accepts;
    /// Checks, then trains.
    fn fit_any(&self, data: &Dataset, run: &Context) -> Result<Box<dyn Model>>;
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
    /// Questions that its models answer.
    pub questions: fn() -> &'static [Question],
}

/// Names and texts of a model's public fields. `#[derive(Model)]` writes it.
pub trait Described {
    /// Name and doc comment of each public field.
    const FIELDS: &'static [(&'static str, &'static str)];
    /// The version of the stored form that this build writes.
    const VERSION: u32;
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
        questions: || <E::Model as Described>::QUESTIONS,
    }
}
