//! Learners as parameters, and fitted learners as parts of a model.
//!
//! A composite declares fields of type [`Learner`], `Option<Learner>` or `Vec<Named<Learner>>`, with
//! `#[param(learner = role)]` where a role is needed. Nested names, checks and the stored form follow
//! from the types; its model keeps what was fitted as [`Fitted`].

use learnt_core::estimator::Accepts;
use learnt_core::params::{Kind, LearnerSpec, ParamType, all_values};
use learnt_core::part::FittedPart;
use learnt_core::persist::{Node, invalid};
use learnt_core::prelude::*;
use learnt_core::trained::{Trained, accepts_of, with_looked};
use std::ops::Deref;

pub use learnt_core::params::Named;

/// Any learner with its parameters, as a parameter of another.
///
/// ```
/// use learnt::{Learner, linear::Ridge, prelude::*};
/// let learner = Learner::from(Ridge { alpha: 2.0, ..Default::default() });
/// assert_eq!(learner.get("alpha")?, Value::Real(2.0));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Learner(pub Box<dyn AnyEstimator>);

impl<E: Estimator> From<E> for Learner {
    fn from(learner: E) -> Self {
        Learner(Box::new(learner))
    }
}

/// What stands in a field that must be given until it is: the learner that knows the target only.
impl Default for Learner {
    fn default() -> Self {
        Learner::from(crate::baseline::DummyClassifier::default())
    }
}

impl Deref for Learner {
    type Target = dyn AnyEstimator;

    fn deref(&self) -> &Self::Target {
        self.0.as_ref()
    }
}

impl ParamType for Learner {
    fn kind() -> Kind {
        Kind::Learner(None)
    }
    fn to_value(&self) -> Value {
        Value::Learner(LearnerSpec::of(self.0.as_ref()))
    }
    fn from_value(value: &Value) -> Option<Self> {
        Self::from_value_as(value, None)
    }
    fn from_value_as(value: &Value, role: Option<&str>) -> Option<Self> {
        read(value, role).ok()
    }
    fn explain(value: &Value) -> Option<Error> {
        read(value, None).err()
    }
    fn learners<'a>(&'a self, field: &str) -> Vec<(String, &'a dyn AnyEstimator)> {
        vec![(field.to_string(), self.0.as_ref())]
    }
    fn learner_mut(&mut self, field: &str, name: &str) -> Option<&mut dyn AnyEstimator> {
        match field == name {
            true => Some(self.0.as_mut()),
            false => None,
        }
    }
}

/// A learner from its specification or its bare name. A name shared by several learners means the
/// one with this role.
fn read(value: &Value, role: Option<&str>) -> Result<Learner> {
    let spec = match value {
        Value::Learner(spec) => spec.clone(),
        Value::Text(name) => LearnerSpec { learner: name.clone(), params: Vec::new() },
        other => return Err(Error::parameter("learner", "a learner", other)),
    };
    let found = crate::find_all(&spec.learner);
    let plays = |entry: &&&Entry| role.is_some_and(|r| entry.about.roles.names().contains(&r));
    let entry = found.iter().find(plays).or(found.first());
    let learner = entry.map_or(spec.learner, |entry| entry.about.path.to_string());
    crate::build(&LearnerSpec { learner, params: spec.params }).map(Learner)
}

/// A fitted learner: a part of a composite's model.
#[derive(Debug)]
pub struct Fitted {
    /// The name of the part: of the step, the column, the class.
    pub name: String,
    /// The facts about its learner.
    pub about: &'static About,
    /// The model.
    pub model: Box<dyn Model>,
}

impl Fitted {
    /// Fits a learner as the part of this name.
    pub fn fit(
        learner: &dyn AnyEstimator,
        name: &str,
        data: &Dataset,
        run: &Context,
    ) -> Result<Self> {
        let data = offered(data, data.x, learner.any_accepts());
        let model = learner.fit_any(&data, run).map_err(|error| error.within(name))?;
        Ok(Fitted { name: name.to_string(), about: learner.about(), model })
    }

    /// What the part's inputs may hold.
    pub fn accepts(&self) -> Accepts {
        accepts_of(self.about, self.model.as_ref())
    }

    /// Calls with rows that the part's learner takes, and refuses others: the parts before it may give any.
    pub fn with_rows<T>(
        &self,
        x: &Frame,
        run: &Context,
        call: impl FnOnce(&Frame) -> Result<T>,
    ) -> Result<T> {
        with_looked(self.about, self.model.as_ref(), x, run, |x| Ok(call(x)))
            .map_err(|error| error.within(&self.name))?
    }

    /// As a transformer, or an error that names the part.
    pub fn transformer(&self) -> Result<&dyn Transformer> {
        self.model.as_transformer().ok_or_else(|| self.lacks("transformer"))
    }

    /// As a classifier, or an error that names the part.
    pub fn classifier(&self) -> Result<&dyn Classifier> {
        self.model.as_classifier().ok_or_else(|| self.lacks("classifier"))
    }

    /// As a part of a model that sees these columns and classes.
    pub fn part(&self, schema: Schema, classes: &[Label]) -> FittedPart<'_> {
        FittedPart {
            name: self.name.clone(),
            about: self.about,
            model: self.model.as_ref(),
            schema,
            classes: classes.to_vec(),
        }
    }

    fn lacks(&self, role: &str) -> Error {
        Error::unsupported(format!("'{}' ({}) is not a {role}", self.name, self.about.name()))
    }
}

impl Stored for Fitted {
    fn to_node(&self) -> Node {
        let fields = [
            ("name", self.name.to_node()),
            ("learner", self.about.path.to_string().to_node()),
            ("version", self.model.version().to_node()),
            ("model", self.model.stored()),
        ];
        Node::Map(fields.into_iter().map(|(name, node)| (name.to_string(), node)).collect())
    }

    fn from_node(node: &Node) -> Result<Self> {
        node.only("part", &["name", "learner", "version", "model"])?;
        let path: String = node.field("learner")?;
        let entry = crate::entries()
            .find(|entry| entry.about.path == path)
            .ok_or_else(|| invalid("a part with an unknown learner"))?;
        let stored =
            node.map("part")?.get("model").ok_or_else(|| invalid("a part without its model"))?;
        let model = (entry.decode)(stored, node.field("version")?)?;
        Ok(Fitted { name: node.field("name")?, about: entry.about, model })
    }
}

/// The fitted learners inside a trained model, each as a model of its own.
///
/// ```
/// use learnt::{cluster::KMeans, compose::Pipeline, prepare::StandardScaler, prelude::*};
/// use learnt::trained::Trained;
/// let pipeline =
///     Pipeline::default().then("scale", StandardScaler::default()).then("means", KMeans::default());
/// let data = learnt::datasets::load("iris")?;
/// let trained = Trained::fit(&pipeline, &data.view(), &[], &Context::default())?;
/// let parts = learnt::parts(&trained)?;
/// assert_eq!(parts[1].name, "means");
/// assert_eq!(parts[1].value.about.name(), "KMeans");
/// # Ok::<(), Error>(())
/// ```
pub fn parts(trained: &Trained) -> Result<Vec<Named<Trained>>> {
    let history = &trained.history;
    let learner = trained.about.path.to_string();
    let owner = crate::build(&LearnerSpec { learner, params: history.params.clone() })?;
    let learners = owner.learners();
    let mut out = Vec::new();
    for part in trained.model.parts(&history.schema, &history.classes)? {
        // Parts of a wrapper have names of their own and share its one learner.
        let named = learners.iter().find(|inner| inner.name == part.name);
        let alike = || learners.iter().find(|inner| inner.learner.about().path == part.about.path);
        let params = named.or_else(alike).map(|inner| all_values(inner.learner)).transpose()?;
        let entry = crate::entries()
            .find(|entry| entry.about.path == part.about.path)
            .ok_or_else(|| Error::internal("a part that the registry does not know"))?;
        let model = (entry.decode)(&part.model.stored(), part.model.version())?;
        let value = trained.of_part(&part, model, params.unwrap_or_default());
        out.push(Named { name: part.name.clone(), value });
    }
    for (name, about, model) in trained.model.members() {
        let part = FittedPart {
            name,
            about,
            model: trained.model.as_ref(),
            schema: history.schema.clone(),
            classes: history.classes.clone(),
        };
        let value = trained.of_part(&part, model, Vec::new());
        out.push(Named { name: part.name.clone(), value });
    }
    Ok(out)
}

/// The rows that each member of a trained ensemble drew, by number among those that counted, those that it drew
/// twice twice; `None` where members draw no rows.
///
/// ```
/// use learnt::{ensemble::RandomForestRegressor, prelude::*, trained::Trained};
/// let forest = RandomForestRegressor { n_estimators: 3, ..Default::default() };
/// let data = learnt::datasets::load("cpu")?;
/// let trained = Trained::fit(&forest, &data.view(), &[], &Context::default())?;
/// let draws = learnt::draws(&trained)?.unwrap_or_default();
/// assert!(draws.len() == 3 && draws.iter().all(|rows| rows.len() == data.view().nrows()));
/// # Ok::<(), Error>(())
/// ```
pub fn draws(trained: &Trained) -> Result<Option<Vec<Vec<u32>>>> {
    let history = &trained.history;
    let learner = trained.about.path.to_string();
    let owner = crate::build(&LearnerSpec { learner, params: history.params.clone() })?;
    let run = Context::default().with_seed(history.seed);
    owner.any_draws(history.rows as usize, &run)
}

/// What a part is given: these rows, and weights only if it takes them.
pub(crate) fn offered<'a>(data: &Dataset<'a>, x: Frame<'a>, accepts: Accepts) -> Dataset<'a> {
    Dataset { x, weights: data.weights.filter(|_| accepts.weights), ..*data }
}
