//! A trained model with everything that a file, a command or Python needs around it: the learner and
//! its parameters, the columns it was trained on, classes, seed, warnings and self-test rows.

use crate::answer::Answer;
use crate::context::{Context, Recorder};
use crate::data::{Column, ColumnKind, Dataset, Frame, Label, Matrix, Schema, Table, Target};
use crate::error::{Code, Error, Result, nearest, plain};
use crate::estimator::{About, AnyEstimator, Entry, Model};
use crate::params::{Value, all_values};
use crate::part::FittedPart;
use crate::persist::{Node, Stored, file, invalid};
use crate::rounds::{self, Outline, Source};
use std::collections::BTreeMap;
use std::path::Path;

/// A model with its context.
#[derive(Debug)]
pub struct Trained {
    /// The facts about its learner.
    pub about: &'static About,
    /// The model itself.
    pub model: Box<dyn Model>,
    /// What it was trained with and on.
    pub history: History,
}

/// What a model was trained with and on.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// All parameters.
    pub params: Vec<(String, Value)>,
    /// The input columns.
    pub schema: Schema,
    /// Names of the target columns; empty if unknown.
    pub targets: Vec<String>,
    /// Classes of the target, in order of their codes.
    pub classes: Vec<Label>,
    /// What prediction does with a category that training did not see.
    pub unknown: Unknown,
    /// The seed of the run.
    pub seed: u64,
    /// Number of training rows.
    pub rows: u64,
    /// SHA-256 of the training file, if it was one.
    pub digest: Option<String>,
    /// What the user was warned of.
    pub warnings: Vec<String>,
    /// The version that trained it.
    pub version: String,
    /// Synthetic inputs with the outputs they had after training.
    pub examples: Option<Examples>,
}

/// What prediction does with a category that training did not see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unknown {
    /// Refuses, and lists the values.
    #[default]
    Error,
    /// Treats it as missing.
    Missing,
}

/// Synthetic rows inside the ranges of the training columns, and what the model gave for them.
/// Never training rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Examples {
    /// Inputs.
    pub inputs: Matrix,
    /// Outputs.
    pub outputs: Matrix,
}

/// What a model says about new rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Prediction {
    /// Numbers, one column per output.
    Real(Matrix),
    /// Codes of classes.
    Class(Vec<u32>),
    /// Clusters; `None` is noise.
    Cluster(Vec<Option<u32>>),
    /// A transformed table.
    Table(Table),
}

impl Trained {
    /// Trains a learner by name. `targets` names the target columns.
    pub fn fit(
        learner: &dyn AnyEstimator,
        data: &Dataset,
        targets: &[String],
        run: &Context,
    ) -> Result<Trained> {
        Self::made(learner, data, targets, run, |run| learner.fit_any(data, run))
    }

    /// Trains a learner over blocks, for data larger than memory.
    pub fn fit_source(
        learner: &dyn AnyEstimator,
        source: &dyn Source,
        targets: &[String],
        run: &Context,
    ) -> Result<Trained> {
        let name = learner.about().name();
        learner.check().map_err(|error| error.within(name))?;
        let job = learner.any_job().ok_or_else(|| {
            Error::unsupported(format!("{name} cannot be fitted from a stream")).hint(
                "`learnt list --streaming` names the learners that can; or leave out --stream",
            )
        })?;
        let recorder = Recorder::new(run.observer());
        let watched = run.observed_by(&recorder);
        let checked = Checked { source, learner };
        let done =
            rounds::drive(job.as_ref(), &checked, &watched).map_err(|error| error.within(name))?;
        let model = job.model(done)?;
        let mut ranges = Vec::new();
        source.with(0, &mut |block| {
            ranges = ranges_of(&block.data.x);
            Ok(())
        })?;
        Self::assemble(learner, model, &source.outline(), &ranges, targets, &recorder, run)
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
            Some(before) => before.go_on(learner, data, targets, run),
            None => {
                Self::made(learner, data, targets, run, |run| learner.update_any(None, data, run))
            }
        }
    }

    fn go_on(
        &self,
        learner: &dyn AnyEstimator,
        data: &Dataset,
        targets: &[String],
        run: &Context,
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
            learner.update_any(Some(self.model.as_ref()), &Dataset { x: *x, y, ..*data }, &watched)
        })?;
        let mut history = self.history.clone();
        history.params = all_values(learner)?;
        history.rows += data.nrows() as u64;
        history.digest = None;
        let new = recorder.warnings().iter().map(ToString::to_string).collect::<Vec<_>>();
        history
            .warnings
            .extend(new.into_iter().filter(|text| !self.history.warnings.contains(text)));
        let mut trained = Trained { about: learner.about(), model, history };
        trained.history.examples = self
            .history
            .examples
            .as_ref()
            .and_then(|examples| trained.outputs_of(&examples.inputs));
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
    fn made(
        learner: &dyn AnyEstimator,
        data: &Dataset,
        targets: &[String],
        run: &Context,
        make: impl FnOnce(&Context) -> Result<Box<dyn Model>>,
    ) -> Result<Trained> {
        let recorder = Recorder::new(run.observer());
        let model = make(&run.observed_by(&recorder))?;
        let outline = rounds::InMemory::new(*data);
        let rows = data.nrows().min(rounds::block_rows(data.x.ncols()));
        let ranges = ranges_of(&data.x.rows(0, rows));
        Self::assemble(learner, model, &outline.outline(), &ranges, targets, &recorder, run)
    }

    fn assemble(
        learner: &dyn AnyEstimator,
        model: Box<dyn Model>,
        outline: &Outline,
        ranges: &[(f64, f64)],
        targets: &[String],
        recorder: &Recorder,
        run: &Context,
    ) -> Result<Trained> {
        let history = History {
            params: all_values(learner)?,
            schema: outline.schema.clone(),
            targets: targets.to_vec(),
            classes: outline.classes.to_vec(),
            unknown: Unknown::Error,
            seed: run.seed(),
            rows: outline.rows,
            digest: None,
            warnings: recorder.warnings().iter().map(ToString::to_string).collect(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            examples: None,
        };
        let mut trained = Trained { about: learner.about(), model, history };
        trained.history.examples = trained.make_examples(ranges);
        Ok(trained)
    }

    /// Input rows as the model knows them: columns by name, categories by level. Extra columns are
    /// ignored; [`Trained::extra_columns`] names them.
    pub fn align(&self, x: &Frame) -> Result<Table> {
        let schema = &self.history.schema;
        let source = self.positions(x.schema())?;
        let mut values = Matrix::zeros(x.nrows(), schema.len());
        for (j, &from) in source.iter().enumerate() {
            let (wanted, given) = (schema.column(j), x.schema().column(from));
            let recoded = recode(wanted, given, x, from, self.history.unknown)?;
            for (i, value) in recoded.into_iter().enumerate() {
                values[(i, j)] = value;
            }
        }
        Table::new(values, schema.clone())
    }

    /// Calls `f` with the rows as the model knows them, without a copy where they already are.
    pub fn with_aligned<T>(&self, x: &Frame, f: impl FnOnce(&Frame) -> Result<T>) -> Result<T> {
        if *x.schema() == self.history.schema {
            return f(x);
        }
        let table = self.align(x)?;
        f(&table.frame())
    }

    /// Columns of `x` that the model does not use.
    pub fn extra_columns<'s>(&self, x: &'s Schema) -> Vec<&'s str> {
        x.names().filter(|name| self.history.schema.position(name).is_none()).collect()
    }

    /// Where each training column stands in the given schema.
    fn positions(&self, given: &Schema) -> Result<Vec<usize>> {
        let index: BTreeMap<&str, usize> = given.names().zip(0..).collect();
        let schema = &self.history.schema;
        let missing: Vec<&str> = schema.names().filter(|name| !index.contains_key(name)).collect();
        if missing.is_empty() {
            return Ok(schema.names().map(|name| index[name]).collect());
        }
        let extra: Vec<&str> = self.extra_columns(given);
        let suggestion = missing.iter().find_map(|name| {
            nearest(name, &extra)
                .map(|near| format!("did you mean column '{}' for '{}'?", plain(near), plain(name)))
        });
        let shown: Vec<String> =
            missing.iter().take(5).map(|name| format!("'{}'", plain(name))).collect();
        let more = if missing.len() > 5 {
            format!(" and {} more", missing.len() - 5)
        } else {
            String::new()
        };
        let message = format!(
            "the columns differ from those the model was trained on; missing: {}{more}",
            shown.join(", ")
        );
        let hint =
            suggestion.unwrap_or_else(|| "`learnt inspect MODEL --schema` lists them".to_string());
        Err(Error::new(Code::Schema, message).column(missing[0]).hint(hint))
    }

    /// What the model says about new rows, by its first role: regression, classification,
    /// clustering, transformation.
    pub fn predict(&self, x: &Frame, run: &Context) -> Result<Prediction> {
        self.with_aligned(x, |x| self.predict_aligned(x, run))
    }

    fn predict_aligned(&self, x: &Frame, run: &Context) -> Result<Prediction> {
        let model = &self.model;
        if let Some(regressor) = model.as_regressor() {
            return regressor.predict_in(x, run).map(Prediction::Real);
        }
        if let Some(classifier) = model.as_classifier() {
            return classifier.classify_in(x, run).map(Prediction::Class);
        }
        if let Some(clusterer) = model.as_clusterer() {
            return clusterer.assign_in(x, run).map(Prediction::Cluster);
        }
        if let Some(transformer) = model.as_transformer() {
            return transformer.transform_in(x, run).map(Prediction::Table);
        }
        Err(Error::unsupported("this model makes no predictions"))
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
            self.model.answer(&question.ask(arguments, Some(data), *run)?)
        })
    }

    /// Class probabilities of new rows.
    pub fn probabilities(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let classifier = self.model.as_classifier().ok_or_else(|| {
            Error::unsupported(format!("{} is not a classifier", self.about.name()))
        })?;
        self.with_aligned(x, |x| classifier.probabilities_in(x, run))
    }

    /// The numbers that self-tests compare: probabilities where offered, else the prediction.
    fn outputs(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        if let Some(classifier) = self.model.as_classifier()
            && let Ok(probabilities) = classifier.probabilities_in(x, run)
        {
            return Ok(probabilities);
        }
        Ok(match self.predict_aligned(x, run)? {
            Prediction::Real(values) => values,
            Prediction::Class(codes) => {
                Matrix::column_vector(codes.into_iter().map(f64::from).collect())
            }
            Prediction::Cluster(labels) => {
                let code = |label: Option<u32>| label.map_or(-1.0, f64::from);
                Matrix::column_vector(labels.into_iter().map(code).collect())
            }
            Prediction::Table(table) => table.into_parts().0,
        })
    }

    /// Eight rows that fill the ranges of the columns evenly, with their outputs.
    fn make_examples(&self, ranges: &[(f64, f64)]) -> Option<Examples> {
        const ROWS: usize = 8;
        let schema = &self.history.schema;
        let spread = |i: usize, j: usize| {
            let golden = 0.618_033_988_749_895 * (i + 1) as f64 + 0.414_213_562_373_095 * j as f64;
            golden - golden.floor()
        };
        let inputs = Matrix::from_fn(ROWS, schema.len(), |i, j| match &schema.column(j).kind {
            ColumnKind::Categorical { levels, .. } if levels.is_empty() => f64::NAN,
            ColumnKind::Categorical { levels, .. } => ((i + j) % levels.len()) as f64,
            ColumnKind::Numeric => {
                let (low, high) = ranges.get(j).copied().unwrap_or_default();
                low + (high - low) * spread(i, j)
            }
        });
        self.outputs_of(&inputs)
    }

    /// Self-test rows with what the model gives for them.
    fn outputs_of(&self, inputs: &Matrix) -> Option<Examples> {
        let frame = Frame::new(inputs.view(), &self.history.schema).ok()?;
        let outputs = self.outputs(&frame, &Context::default().with_threads(1)).ok()?;
        Some(Examples { inputs: inputs.clone(), outputs })
    }

    /// Repeats the self-test; true if every output has the same bits. `None` without a self-test.
    pub fn verify(&self) -> Result<Option<bool>> {
        let same = |(a, b): &(f64, f64)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
        Ok(self.self_test()?.map(|pairs| pairs.iter().all(same)))
    }

    /// Outputs of the self-test rows now, each beside the one in the file. `None` without a
    /// self-test.
    pub fn self_test(&self) -> Result<Option<Vec<(f64, f64)>>> {
        let Some(examples) = &self.history.examples else { return Ok(None) };
        let frame = Frame::new(examples.inputs.view(), &self.history.schema)?;
        let outputs = self.outputs(&frame, &Context::default().with_threads(1))?;
        let (now, then) = (outputs.as_slice(), examples.outputs.as_slice());
        if now.len() != then.len() {
            return Err(invalid("the self-test has another number of outputs"));
        }
        Ok(Some(now.iter().copied().zip(then.iter().copied()).collect()))
    }

    /// The bytes of a model file. Equal fits give equal bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut map = BTreeMap::new();
        map.insert("tool".to_string(), "learnt".to_string().to_node());
        map.insert("learner".to_string(), self.about.path.to_string().to_node());
        map.insert("model_version".to_string(), self.model.version().to_node());
        map.insert("model".to_string(), self.model.stored());
        map.insert("history".to_string(), self.history.to_node());
        file::to_bytes(&Node::Map(map))
    }

    /// A model from bytes; `find` looks up learners by path.
    pub fn from_bytes(bytes: &[u8], find: impl Fn(&str) -> Option<Entry>) -> Result<Trained> {
        let root = file::from_bytes(bytes)?;
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
        let trained = Trained { about: entry.about, model, history };
        trained.check_widths()?;
        Ok(trained)
    }

    /// A first prediction finds models whose parts do not fit their columns or classes.
    fn check_widths(&self) -> Result<()> {
        let Some(examples) = &self.history.examples else { return Ok(()) };
        let frame = Frame::new(examples.inputs.view(), &self.history.schema)
            .map_err(|error| invalid(error.message()))?;
        let outputs = self
            .outputs(&frame, &Context::default().with_threads(1))
            .map_err(|error| invalid(error.message()))?;
        let fits = (outputs.nrows(), outputs.ncols())
            == (examples.outputs.nrows(), examples.outputs.ncols());
        let classes = self.history.classes.len();
        let probabilities = self.model.as_classifier().is_some() && self.about.offers.probabilities;
        match fits && (!probabilities || outputs.ncols() == classes) {
            true => Ok(()),
            false => Err(invalid("the model's outputs do not fit its classes")),
        }
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
            ..self.history.clone()
        };
        Trained { about: part.about, model, history }
    }

    /// Saves to a file: afterwards the path holds the old bytes or the new, never a mixture.
    pub fn save(&self, path: &Path) -> Result<()> {
        file::write_atomically(path, &self.to_bytes()?)
    }

    /// Loads from a file; `find` looks up learners by path.
    pub fn load(path: &Path, find: impl Fn(&str) -> Option<Entry>) -> Result<Trained> {
        let place = plain(&path.display().to_string());
        let bytes = std::fs::read(path).map_err(|error| Error::from(error).within(&place))?;
        Self::from_bytes(&bytes, find).map_err(|error| error.within(&place))
    }
}

/// Checks every block as `Estimator::fit` checks the whole, before the learner sees it.
struct Checked<'a> {
    source: &'a dyn Source,
    learner: &'a dyn AnyEstimator,
}

impl Source for Checked<'_> {
    fn outline(&self) -> Outline<'_> {
        self.source.outline()
    }
    fn in_memory(&self) -> bool {
        self.source.in_memory()
    }
    fn with(&self, index: u64, f: &mut dyn FnMut(&rounds::Block) -> Result<()>) -> Result<()> {
        // Blocks are already spread over the threads.
        let alone = Context::default().with_threads(1);
        self.source.with(index, &mut |block| {
            block.data.check(
                self.learner.any_accepts(),
                self.learner.any_roles().needs_target(),
                &alone,
            )?;
            f(block)
        })
    }
}

/// Smallest and largest finite value of each column; 0 and 0 if there is none.
fn ranges_of(x: &Frame) -> Vec<(f64, f64)> {
    let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); x.ncols()];
    for i in 0..x.nrows() {
        for (j, (low, high)) in ranges.iter_mut().enumerate() {
            let value = x.values().at(i, j);
            if value.is_finite() {
                (*low, *high) = (low.min(value), high.max(value));
            }
        }
    }
    ranges
        .into_iter()
        .map(|(low, high)| if low <= high { (low, high) } else { (0.0, 0.0) })
        .collect()
}

/// One column in the model's coding.
fn recode(
    wanted: &Column,
    given: &Column,
    x: &Frame,
    from: usize,
    unknown: Unknown,
) -> Result<Vec<f64>> {
    let values = x.values().column(from);
    match (wanted.levels(), given.levels()) {
        (None, None) => Ok(values),
        (None, Some(levels)) => {
            let first = values.iter().find(|v| !v.is_nan()).and_then(|&v| levels.get(v as usize));
            let message = format!(
                "column '{}' was numeric in training, and now holds text such as '{}'",
                plain(&wanted.name),
                plain(first.map_or("", String::as_str))
            );
            Err(Error::new(Code::Schema, message).column(&wanted.name))
        }
        (Some(known), Some(levels)) => {
            let codes: BTreeMap<&str, f64> =
                known.iter().map(String::as_str).zip((0..).map(f64::from)).collect();
            let map: Vec<Option<f64>> =
                levels.iter().map(|l| codes.get(l.as_str()).copied()).collect();
            let name = |v: f64| levels.get(v as usize).cloned().unwrap_or_default();
            let code = |v: f64| map.get(v as usize).copied().flatten();
            translate(wanted, &values, code, name, unknown)
        }
        (Some(known), None) => {
            let codes: BTreeMap<&str, f64> =
                known.iter().map(String::as_str).zip((0..).map(f64::from)).collect();
            let code = |v: f64| codes.get(v.to_string().as_str()).copied();
            translate(wanted, &values, code, |v| v.to_string(), unknown)
        }
    }
}

fn translate(
    wanted: &Column,
    values: &[f64],
    code: impl Fn(f64) -> Option<f64>,
    name: impl Fn(f64) -> String,
    unknown: Unknown,
) -> Result<Vec<f64>> {
    let mut unseen: BTreeMap<String, usize> = BTreeMap::new();
    let mut out = Vec::with_capacity(values.len());
    for &value in values {
        let translated = if value.is_nan() { Some(f64::NAN) } else { code(value) };
        if translated.is_none() && unknown == Unknown::Error {
            *unseen.entry(name(value)).or_default() += 1;
        }
        out.push(translated.unwrap_or(f64::NAN));
    }
    if unseen.is_empty() {
        return Ok(out);
    }
    let shown: Vec<String> = unseen
        .iter()
        .take(5)
        .map(|(level, count)| format!("'{}' ({count})", plain(level)))
        .collect();
    let message = format!(
        "column '{}' holds {} categories that were not in training: {}",
        plain(&wanted.name),
        unseen.len(),
        shown.join(", ")
    );
    Err(Error::new(Code::Category, message)
        .column(&wanted.name)
        .hint("fit with --unknown missing to treat them as missing"))
}

const FIELDS: &[&str] = &[
    "param_names",
    "param_values",
    "schema",
    "targets",
    "classes",
    "unknown",
    "seed",
    "rows",
    "digest",
    "warnings",
    "version",
    "example_inputs",
    "example_outputs",
];

impl Stored for History {
    fn to_node(&self) -> Node {
        let (names, values): (Vec<String>, Vec<String>) = self
            .params
            .iter()
            .map(|(name, value)| (name.clone(), value.to_json().to_string()))
            .unzip();
        let inputs = self.examples.as_ref().map(|examples| examples.inputs.clone());
        let outputs = self.examples.as_ref().map(|examples| examples.outputs.clone());
        let unknown = if self.unknown == Unknown::Error { "error" } else { "missing" };
        let nodes = [
            names.to_node(),
            values.to_node(),
            self.schema.to_node(),
            self.targets.to_node(),
            self.classes.to_node(),
            Node::Text(unknown.to_string()),
            Node::Text(self.seed.to_string()),
            self.rows.to_node(),
            self.digest.to_node(),
            self.warnings.to_node(),
            self.version.to_node(),
            inputs.to_node(),
            outputs.to_node(),
        ];
        Node::Map(FIELDS.iter().map(ToString::to_string).zip(nodes).collect())
    }

    fn from_node(node: &Node) -> Result<Self> {
        node.only("history", FIELDS)?;
        let names: Vec<String> = node.field("param_names")?;
        let values: Vec<String> = node.field("param_values")?;
        if names.len() != values.len() {
            return Err(invalid("parameters without values"));
        }
        let values: Vec<Value> = values
            .into_iter()
            .map(|text| Value::from_node(&Node::Text(text)))
            .collect::<Result<_>>()?;
        let inputs: Option<Matrix> = node.field("example_inputs")?;
        let outputs: Option<Matrix> = node.field("example_outputs")?;
        let classes: Vec<Label> = node.field("classes")?;
        if classes.windows(2).any(|pair| pair[0].order(&pair[1]) != std::cmp::Ordering::Less) {
            return Err(invalid("classes out of order"));
        }
        Ok(History {
            params: names.into_iter().zip(values).collect(),
            schema: node.field("schema")?,
            targets: node.field("targets")?,
            classes,
            unknown: match node.field::<String>("unknown")?.as_str() {
                "error" => Unknown::Error,
                "missing" => Unknown::Missing,
                _ => return Err(invalid("an unknown policy for unseen categories")),
            },
            seed: node.field::<String>("seed")?.parse().map_err(|_| invalid("the seed"))?,
            rows: node.field("rows")?,
            digest: node.field("digest")?,
            warnings: node.field("warnings")?,
            version: node.field("version")?,
            examples: inputs.zip(outputs).map(|(inputs, outputs)| Examples { inputs, outputs }),
        })
    }
}
