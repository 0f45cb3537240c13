//! A trained model with everything that a file, a command or Python needs around it: the learner and
//! its parameters, the columns it was trained on, classes, seed, warnings and self-test rows.

mod checked;
mod gate;
mod history;
mod seen;
mod self_test;
mod table;

pub use crate::estimator::Prediction;
pub use checked::checked;
pub use gate::{Missing, Rows, Unseen, accepts_of, check_rows, with_looked};
pub use history::{Examples, History, Unknown};
pub use table::beside;

use crate::answer::Answer;
use crate::context::{Context, Recorder, Traced};
use crate::data::{ColumnKind, Dataset, Frame, Label, Matrix, Schema, Table, Target};
use crate::error::{Code, Error, Result, plain};
use crate::estimator::{
    About, Accepts, AnyEstimator, Clusterer, Entry, Method, Model, ROLES, Role, check_weighted,
};
use crate::names::Names;
use crate::params::{Value, all_values};
use crate::part::FittedPart;
use crate::persist::{Node, Stored, file, invalid, place};
use crate::rounds::{self, Checkpoint, Finished, Outline, Source};
use checked::Checked;
use seen::Seen;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A model with its context.
#[derive(Debug)]
pub struct Trained {
    /// The facts about its learner.
    pub about: &'static About,
    /// The model itself.
    pub model: Box<dyn Model>,
    /// What it was trained with and on.
    pub history: History,
    /// What the fit gave beside the model, in memory only: a file holds neither.
    pub outcome: Outcome,
}

/// What a fit gives beside the model. Not part of a model file, so that files of equal fits have
/// equal bytes and hold nothing about single training rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The cluster of each training row, `None` for noise; empty for other roles.
    pub labels: Vec<Option<u32>>,
    /// The objective after each iteration.
    pub trace: Vec<Traced>,
}

impl Trained {
    /// Trains a learner by name. `targets` names the target columns.
    pub fn fit(
        learner: &dyn AnyEstimator,
        data: &Dataset,
        targets: &[String],
        run: &Context,
    ) -> Result<Trained> {
        Self::from_rows(learner, data, targets, run, |run| learner.fit_any(data, run))
    }

    /// Trains some of the members of a learner, by number; [`Trained::joined`] makes one model of all.
    pub fn fit_members(
        learner: &dyn AnyEstimator,
        members: Range<usize>,
        data: &Dataset,
        targets: &[String],
        run: &Context,
    ) -> Result<Trained> {
        Self::from_rows(learner, data, targets, run, |run| learner.fit_members(members, data, run))
    }

    /// One model of members that were fitted apart, in the order of their numbers: that of one fit.
    pub fn joined(learner: &dyn AnyEstimator, parts: &[&Trained]) -> Result<Trained> {
        let first = parts.first().ok_or_else(|| Error::internal("no members to join"))?;
        let same = |part: &&&Trained| {
            let (a, b) = (&part.history, &first.history);
            (a.rows, a.seed, &a.schema, &a.classes) == (b.rows, b.seed, &b.schema, &b.classes)
        };
        if !parts.iter().all(|part| same(&part)) {
            let message = "members of other rows, columns or seeds cannot be joined";
            return Err(Error::new(Code::Usage, message));
        }
        let models: Vec<&dyn Model> = parts.iter().map(|part| part.model.as_ref()).collect();
        let model = learner.join_any(&models)?;
        let history = first.history.clone();
        let outcome = Outcome::default();
        let mut trained = Trained { about: learner.about(), model, history, outcome };
        let inputs = first.history.examples.as_ref().map(|examples| &examples.inputs);
        trained.history.examples = inputs.map_or(Ok(None), |inputs| trained.outputs_of(inputs))?;
        trained.check_sound(learner)?;
        Ok(trained)
    }

    /// Trains a learner over blocks, for data larger than memory.
    pub fn fit_source(
        learner: &dyn AnyEstimator,
        source: &dyn Source,
        targets: &[String],
        run: &Context,
    ) -> Result<Trained> {
        Self::fit_source_kept(learner, source, targets, None, run)
    }

    /// The same, with a checkpoint from which a killed fit goes on.
    pub fn fit_source_kept(
        learner: &dyn AnyEstimator,
        source: &dyn Source,
        targets: &[String],
        checkpoint: Option<&Checkpoint>,
        run: &Context,
    ) -> Result<Trained> {
        let name = learner.about().name();
        learner.check().map_err(|error| error.within(name))?;
        let job = learner.any_job().ok_or_else(|| {
            Error::unsupported(format!("{name} cannot be fitted from a stream")).hint(
                "`learnt list --streaming` names the learners that can; or leave out --stream",
            )
        })?;
        check_weighted(name, learner.any_accepts(), source.outline().weighted)?;
        let recorder = Recorder::new(run.observer());
        let watched = run.observed_by(&recorder);
        let noticed = source.in_memory() && learner.notices_all();
        let checked = Checked::new(source, learner, !noticed);
        let kept = checkpoint.map(|checkpoint| (checkpoint, &recorder));
        let explained = |error: Error| match noticed && run.checkpoint().is_ok() {
            true => Checked::new(source, learner, true).first_error().err().unwrap_or(error),
            false => error,
        };
        let done = rounds::drive_kept(job.as_ref(), &checked, kept, &watched)
            .map_err(|error| explained(error).within(name))?;
        let (model, warnings, trace) = (job.model(done)?, recorder.warnings(), recorder.trace());
        Self::from_rounds(learner, Finished { model, warnings, trace }, source, targets, run)
    }

    /// The model that rounds left, wherever they ran, with its history.
    pub fn from_rounds(
        learner: &dyn AnyEstimator,
        finished: Finished,
        source: &dyn Source,
        targets: &[String],
        run: &Context,
    ) -> Result<Trained> {
        let mut seen = Seen::default();
        source.with(0, &mut |block| {
            seen = Seen::of(&block.data.x, run);
            Ok(())
        })?;
        Self::assemble(learner, finished, &source.outline(), seen, targets, run)
    }

    /// Goes on training a model with more rows, or begins one without `before`. Columns are matched
    /// by name; classes must be among those of the first rows, which may name more than they hold.
    pub fn update(
        before: Option<&Trained>,
        learner: &dyn AnyEstimator,
        data: &Dataset,
        targets: &[String],
        run: &Context,
    ) -> Result<Trained> {
        match before {
            Some(before) => before.updated(learner, data, targets, run),
            None => Self::from_rows(learner, data, targets, run, |run| {
                learner.update_any(None, data, run)
            }),
        }
    }

    /// A larger model of the same rows: with the members or rounds that the learner asks for, after those of
    /// this one. Columns are matched by name.
    pub fn extended(
        &self,
        learner: &dyn AnyEstimator,
        data: &Dataset,
        targets: &[String],
        run: &Context,
    ) -> Result<Trained> {
        let mut trained = self.went_on(learner, data, targets, run, |data, run| {
            learner.extend_any(self.model.as_ref(), data, run)
        })?;
        trained.history.rows = data.nrows() as u64;
        trained.history.seed = run.seed();
        Ok(trained)
    }

    fn updated(
        &self,
        learner: &dyn AnyEstimator,
        data: &Dataset,
        targets: &[String],
        run: &Context,
    ) -> Result<Trained> {
        self.went_on(learner, data, targets, run, |data, run| {
            learner.update_any(Some(self.model.as_ref()), data, run)
        })
    }

    /// A model that follows from this one and from rows, as it knows them.
    fn went_on(
        &self,
        learner: &dyn AnyEstimator,
        data: &Dataset,
        targets: &[String],
        run: &Context,
        make: impl FnOnce(&Dataset, &Context) -> Result<Box<dyn Model>>,
    ) -> Result<Trained> {
        self.check_targets(targets)?;
        let codes = self.recoded_classes(data)?;
        let recorder = Recorder::new(run.observer());
        let watched = run.observed_by(&recorder);
        let model = self.with_aligned(&data.x, |x| {
            let y = match (&codes, data.y) {
                (Some(codes), _) => Some(Target::Class { codes, classes: &self.history.classes }),
                (None, y) => y,
            };
            make(&Dataset { x: *x, y, ..*data }, &watched)
        })?;
        let mut history = self.history.clone();
        history.params = all_values(learner)?;
        history.rows += data.counted_rows() as u64;
        history.digest = None;
        let new = recorder.warnings().iter().map(ToString::to_string).collect::<Vec<_>>();
        history
            .warnings
            .extend(new.into_iter().filter(|text| !self.history.warnings.contains(text)));
        let outcome = Outcome::of(model.as_ref(), data, &recorder, run);
        let mut trained = Trained { about: learner.about(), model, history, outcome };
        let inputs = self.history.examples.as_ref().map(|examples| &examples.inputs);
        trained.history.examples = inputs.map_or(Ok(None), |inputs| trained.outputs_of(inputs))?;
        trained.check_sound(learner)?;
        Ok(trained)
    }

    fn check_targets(&self, targets: &[String]) -> Result<()> {
        let known = &self.history.targets;
        if known.is_empty() || targets.is_empty() || known == targets {
            return Ok(());
        }
        let message = format!(
            "the target is '{}', and the model was trained on '{}'",
            plain(&targets.join("', '")),
            plain(&known.join("', '"))
        );
        Err(Error::new(Code::Target, message))
    }

    /// The codes of the target in the model's classes.
    fn recoded_classes(&self, data: &Dataset) -> Result<Option<Vec<u32>>> {
        let Some(Target::Class { codes, classes }) = data.y else { return Ok(None) };
        let known = &self.history.classes;
        let place = |label: &Label| known.binary_search_by(|class| class.order(label)).ok();
        let places: Vec<Option<usize>> = classes.iter().map(place).collect();
        let code = |&code: &u32| match places.get(code as usize).copied().flatten() {
            Some(place) => Ok(place as u32),
            None => {
                let class = classes.get(code as usize).map_or(String::new(), ToString::to_string);
                let message = format!("class '{}' is not one of the first rows'", plain(&class));
                Err(Error::new(Code::Target, message)
                    .hint("name all classes when training begins, with `classes`"))
            }
        };
        codes.iter().map(code).collect::<Result<_>>().map(Some)
    }

    /// A model of these rows with its history.
    fn from_rows(
        learner: &dyn AnyEstimator,
        data: &Dataset,
        targets: &[String],
        run: &Context,
        make: impl FnOnce(&Context) -> Result<Box<dyn Model>>,
    ) -> Result<Trained> {
        let recorder = Recorder::new(run.observer());
        let model = make(&run.observed_by(&recorder))?;
        let outcome = Outcome::of(model.as_ref(), data, &recorder, run);
        let outline = Outline { rows: data.counted_rows() as u64, ..Outline::of(data) };
        let seen = Seen::of_first(data, run);
        let finished = Finished { model, warnings: recorder.warnings(), trace: Vec::new() };
        let trained = Self::assemble(learner, finished, &outline, seen, targets, run)?;
        Ok(Trained { outcome, ..trained })
    }

    fn assemble(
        learner: &dyn AnyEstimator,
        finished: Finished,
        outline: &Outline,
        seen: Seen,
        targets: &[String],
        run: &Context,
    ) -> Result<Trained> {
        let Finished { model, warnings, trace } = finished;
        let history = History {
            params: all_values(learner)?,
            schema: outline.schema.clone(),
            targets: targets.to_vec(),
            classes: outline.classes.to_vec(),
            unknown: if takes_unknown(learner) { Unknown::Other } else { Unknown::Error },
            missing: Missing::Error,
            fills: seen.fills,
            seed: run.seed(),
            rows: outline.rows,
            digest: None,
            warnings: warnings.iter().map(ToString::to_string).collect(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            examples: None,
            formula: None,
            dropped: 0,
            weight: None,
        };
        let outcome = Outcome { labels: Vec::new(), trace };
        let mut trained = Trained { about: learner.about(), model, history, outcome };
        trained.history.examples = trained.make_examples(&seen.ranges)?;
        trained.check_sound(learner)?;
        Ok(trained)
    }

    /// Forgets the levels of columns whose texts are read anew (dates, free text): any text is let in, and
    /// the file keeps none of training.
    pub fn open(&mut self, names: &[String]) -> Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        let mut columns = self.history.schema.columns().to_vec();
        let mut inputs = self.history.examples.take().map(|examples| examples.inputs);
        for (j, column) in columns.iter_mut().enumerate() {
            if let ColumnKind::Categorical { levels, .. } = &mut column.kind
                && names.contains(&column.name)
            {
                *levels = Arc::default();
                if let Some(fill) = self.history.fills.get_mut(j) {
                    *fill = f64::NAN;
                }
                if let Some(inputs) = &mut inputs {
                    (0..inputs.nrows()).for_each(|i| inputs[(i, j)] = f64::NAN);
                }
            }
        }
        self.history.schema = Schema::new(columns)?;
        self.history.examples = inputs.map_or(Ok(None), |inputs| self.outputs_of(&inputs))?;
        Ok(())
    }

    /// The prediction for new rows by the model's first role, in the order of [`ROLES`].
    pub fn predict(&self, x: &Frame, run: &Context) -> Result<Prediction> {
        self.ask_rows("predict", x, None, None, run).map(|(answer, _)| answer)
    }

    /// Class probabilities of new rows.
    pub fn probabilities(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let (answer, _) = self.ask_rows("probabilities", x, None, None, run)?;
        Ok(answer.into_matrix())
    }

    /// What the model gives for admitted rows by a method of its roles; `predict` is the first of
    /// the first role.
    pub fn call(&self, method: &str, rows: &Rows, run: &Context) -> Result<Prediction> {
        let method = self.method(method)?;
        (method.call)(self.model.as_ref(), &rows.admitted(), run)
    }

    /// The names of all methods that its roles have.
    pub fn methods(&self) -> impl Iterator<Item = &'static str> {
        let played = ROLES.iter().filter(|role| (role.played_by)(self.model.as_ref()));
        played.flat_map(|role| role.methods.iter().map(|method| method.name))
    }

    fn method(&self, name: &str) -> Result<&'static Method> {
        let wanted = name.replace('-', "_");
        if wanted == "predict" {
            return Ok(&self.first_role()?.methods[0]);
        }
        let all = || ROLES.iter().flat_map(|role| role.methods.iter().map(move |m| (role, m)));
        match all().find(|(_, method)| method.name == wanted) {
            Some((role, method)) if (role.played_by)(self.model.as_ref()) => Ok(method),
            Some((role, _)) => {
                // Of a pipeline the last step decides, which has no name here.
                let is = self.first_role()?.name;
                let message = format!("{wanted} needs a {}, and this model is a {is}", role.name);
                let methods: Vec<&str> = self.methods().collect();
                Err(Error::unsupported(message).hint(format!("it has {}", methods.join(", "))))
            }
            None => Err(Error::unknown("method", name, self.methods())),
        }
    }

    fn first_role(&self) -> Result<&'static Role> {
        ROLES
            .iter()
            .find(|role| (role.played_by)(self.model.as_ref()))
            .ok_or_else(|| Error::unsupported("this model makes no predictions"))
    }

    /// The rows before the transformation; transformed rows need no names.
    pub fn inverse_transform(&self, values: crate::data::MatRef, run: &Context) -> Result<Table> {
        let transformer = self.model.as_transformer().ok_or_else(|| {
            Error::unsupported(format!("{} is not a transformer", self.about.name()))
        })?;
        let schema = Schema::unnamed(values.ncols());
        let rows = Frame::new(values, &schema)?;
        let accepts = Accepts { missing: self.accepts().missing, ..Accepts::default() };
        rows.check(accepts, run).map_err(|error| error.within(self.about.name()))?;
        transformer.inverse_transform_in(&rows, run)
    }

    /// Rows drawn from the model's density, with the columns of the training rows.
    pub fn sample(&self, rows: usize, run: &Context) -> Result<Table> {
        let density = self
            .model
            .as_density()
            .ok_or_else(|| Error::unsupported(format!("{} is not a density", self.about.name())))?;
        Table::new(density.sample(rows, run)?, self.history.schema.clone())
    }

    /// What the model says about itself, in the names of what it was trained on.
    pub fn report(&self) -> Option<Answer> {
        let names = Names::new(&self.history.schema, &self.history.classes);
        self.model.report(&names.with_targets(&self.history.targets))
    }

    /// The answer to a question by name; rows are matched to those of training.
    pub fn ask(
        &self,
        name: &str,
        arguments: &[(String, Value)],
        data: Option<Dataset>,
        run: &Context,
    ) -> Result<Answer> {
        let known = self.model.questions();
        let question = known.iter().find(|question| question.name == name).ok_or_else(|| {
            match known.is_empty() {
                true => Error::unsupported(format!("{} answers no questions", self.about.name())),
                false => Error::unknown("question", name, known.iter().map(|q| q.name)),
            }
        })?;
        let Some(data) = data else {
            return self.model.answer(&question.ask(arguments, None, *run)?);
        };
        self.with_aligned(&data.x, |x| {
            let data = Dataset { x: *x, ..data };
            data.check(self.accepts(), false, run)
                .map_err(|error| error.within(self.about.name()))?;
            self.model.answer(&question.ask(arguments, Some(data), *run)?)
        })
    }

    /// The bytes of a model file. Equal fits give equal bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        file::to_bytes(self.to_tree()?)
    }

    /// The tree that a file holds.
    fn to_tree(&self) -> Result<Node> {
        let mut map = BTreeMap::new();
        map.insert("tool".to_string(), "learnt".to_string().to_node());
        map.insert("learner".to_string(), self.about.path.to_string().to_node());
        map.insert("model_version".to_string(), self.model.version().to_node());
        map.insert("model".to_string(), self.model.stored());
        map.insert("history".to_string(), self.history_for_file()?.to_node());
        Ok(Node::Map(map))
    }

    /// A model from bytes; `find` looks up learners by path.
    pub fn from_bytes(bytes: &[u8], find: impl Fn(&str) -> Option<Entry>) -> Result<Trained> {
        Self::from_tree(&file::from_bytes(bytes)?, find)
    }

    /// A model from the tree that a file holds.
    pub fn from_tree(root: &Node, find: impl Fn(&str) -> Option<Entry>) -> Result<Trained> {
        root.only("file", &["tool", "learner", "model_version", "model", "history"])?;
        if root.field::<String>("tool")? != "learnt" {
            return Err(invalid("made by another tool"));
        }
        let path: String = root.field("learner")?;
        let entry = find(&path).ok_or_else(|| {
            let message =
                format!("the model's learner '{}' is unknown to this build", plain(&path));
            Error::new(Code::FileVersion, message).hint("use a newer learnt")
        })?;
        let stored = root.map("file")?.get("model").ok_or_else(|| invalid("no model"))?;
        let history: History = root.field("history")?;
        let model = (entry.decode)(stored, root.field("model_version")?).map_err(|error| {
            match error.code() {
                Code::FileVersion => error,
                _ => Error::new(Code::FileInvalid, error.message()),
            }
        })?;
        let trained = Trained { about: entry.about, model, history, outcome: Outcome::default() };
        trained.check_widths()?;
        Ok(trained)
    }

    /// The model of a part of this one, as a model of its own.
    pub fn of_part(
        &self,
        part: &FittedPart,
        model: Box<dyn Model>,
        params: Vec<(String, Value)>,
    ) -> Trained {
        let history = History {
            params,
            schema: part.schema.clone(),
            classes: part.classes.clone(),
            digest: None,
            warnings: Vec::new(),
            examples: None,
            fills: Vec::new(),
            ..self.history.clone()
        };
        Trained { about: part.about, model, history, outcome: Outcome::default() }
    }

    /// Saves to a file: afterwards the path holds the old bytes or the new, never a mixture.
    pub fn save(&self, path: &Path) -> Result<()> {
        let tree = self.to_tree()?;
        place::replace(path, |sink| file::write(tree, sink))
    }

    /// Loads from a file; `find` looks up learners by path.
    pub fn load(path: &Path, find: impl Fn(&str) -> Option<Entry>) -> Result<Trained> {
        let place = plain(&path.display().to_string());
        let tree = read_whole(path).and_then(|bytes| file::from_bytes(&bytes));
        tree.and_then(|tree| Self::from_tree(&tree, find)).map_err(|error| error.within(&place))
    }
}

/// A whole file, however long it says it is: no more than there is memory for.
fn read_whole(path: &Path) -> Result<Vec<u8>> {
    use std::io::Read;
    let run = Context::default();
    let file = std::fs::File::open(path)?;
    run.claim(file.metadata()?.len(), "the model file")?;
    let most = crate::memory::available().map_or(u64::MAX, |free| free / 2);
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    match bytes.len() as u64 == most {
        true => Err(Error::new(Code::Memory, "the model file is larger than memory")),
        false => Ok(bytes),
    }
}

impl Outcome {
    /// Clusters as the fit found them, else by assigning the training rows.
    fn of(model: &dyn Model, data: &Dataset, recorder: &Recorder, run: &Context) -> Outcome {
        let labels = model.as_clusterer().map_or(Vec::new(), |clusterer| {
            let found = clusterer.labels();
            match found.len() == data.nrows() {
                true => found,
                false => assigned(clusterer, &data.x, run)
                    .unwrap_or_else(|_| with_zero_weights(&found, data)),
            }
        });
        Outcome { labels, trace: recorder.trace() }
    }
}

/// The clusters of rows, some rows at a time: whatever prepares them makes no second copy of the table.
fn assigned(clusterer: &dyn Clusterer, x: &Frame, run: &Context) -> Result<Vec<Option<u32>>> {
    const ROWS: usize = 16_384;
    let mut labels = Vec::with_capacity(x.nrows());
    for first in (0..x.nrows()).step_by(ROWS) {
        run.checkpoint()?;
        labels.extend(clusterer.assign_in(&x.rows(first, x.nrows().min(first + ROWS)), run)?);
    }
    Ok(labels)
}

/// Labels of all rows from those of the rows that count: rows of weight zero have none.
fn with_zero_weights(found: &[Option<u32>], data: &Dataset) -> Vec<Option<u32>> {
    let mut found = found.iter().copied();
    let label = |i: usize| if data.weight(i) > 0.0 { found.next().flatten() } else { None };
    (0..data.nrows()).map(label).collect()
}

/// Whether a learner, or one inside it, has something else than an error for unknown categories.
pub fn takes_unknown(learner: &dyn AnyEstimator) -> bool {
    let own = learner.get("handle_unknown").is_ok_and(|value| value != Value::Text("error".into()));
    let reads_text = learner.about().reads_text;
    own || reads_text || learner.learners().iter().any(|inner| takes_unknown(inner.learner))
}
