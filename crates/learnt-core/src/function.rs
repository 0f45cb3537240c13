//! Functions: whatever is not a learner, defined once.
//!
//! A function is a struct of parameters ([`Params`]) with declared inputs ([`Inputs`]) and a declared
//! result ([`Output`]). From the one definition come the Rust call, a verb of the command, the Python
//! function with its stub, the reference page and the common checks. Before a function runs, its
//! parameters and inputs are checked here: finite numbers, one length, weights that count.

use crate::answer::{Answer, Datum, DatumType};
use crate::chart::Chart;
use crate::context::Context;
use crate::data::{Dataset, Frame, Label, MatRef, Matrix, OwnedDataset, Target};
use crate::error::{Code, Error, Result};
use crate::params::Params;

/// A function with its parameters set.
pub trait Function: Params + Default + Clone {
    /// What it is computed from; `()` if from its parameters alone.
    type Inputs<'a>: Inputs<'a>;
    /// What it gives.
    type Output: Output;

    /// The facts that front ends and checks need.
    const ABOUT: &'static Callable;

    /// The computation. Parameters and inputs are already checked.
    fn call(&self, inputs: Self::Inputs<'_>, run: &Context) -> Result<Self::Output>;

    /// Checks, then computes, with all threads and seed 0.
    fn compute(&self, inputs: Self::Inputs<'_>) -> Result<Self::Output> {
        self.compute_in(inputs, &Context::default())
    }

    /// Checks, then computes, in the given run.
    fn compute_in(&self, inputs: Self::Inputs<'_>, run: &Context) -> Result<Self::Output> {
        let specs = <Self::Inputs<'_> as Inputs<'_>>::SPECS;
        let checked = self.check().and_then(|()| check_inputs(specs, &inputs.given(), run));
        let called = checked.and_then(|()| self.call(inputs, run));
        called.map_err(|error| error.within(Self::ABOUT.name()))
    }

    /// The picture of a result, where it has one.
    fn chart(&self, _output: &Self::Output) -> Option<Chart> {
        None
    }

    /// Sentences about a result.
    fn notes(&self, _output: &Self::Output) -> Vec<String> {
        Vec::new()
    }
}

/// The facts about a function, as data.
#[derive(Debug)]
pub struct Callable {
    /// Module and function as in Python: `metrics.roc_curve`.
    pub path: &'static str,
    /// What sort of function it is; also its verb.
    pub kind: FunctionKind,
    /// Other names on the command line.
    pub aliases: &'static [&'static str],
    /// Whether the result depends on the seed.
    pub randomness: bool,
    /// Whether several threads help.
    pub threads: bool,
    /// Where the method comes from.
    pub reference: &'static str,
    /// How it scores models, for metrics.
    pub scorers: &'static [Scorer],
    /// Common checks that do not hold, each with the reason.
    pub exempt: &'static [(&'static str, &'static str)],
}

/// What sort of function it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FunctionKind {
    /// Scores and curves of predictions and clusterings.
    Metric,
    /// Bounds and counts of learning theory.
    Theory,
    /// Simulations that show how methods behave.
    Study,
    /// Data drawn from known distributions.
    Generator,
    /// Rows divided into training and test parts.
    Split,
    /// Distributions, summaries, correlations, resampling.
    Statistic,
    /// Linear algebra and geometry.
    Algebra,
    /// Analyses of a table that are not models to predict with.
    Analysis,
}

impl FunctionKind {
    /// Every kind with its name, its plural, its verb and what it holds.
    pub const ALL: &'static [(FunctionKind, &'static str, &'static str, &'static str)] = &[
        (
            FunctionKind::Metric,
            "metrics",
            "metric",
            "Scores and curves of predictions and clusterings",
        ),
        (FunctionKind::Theory, "theory", "theory", "Bounds and counts of learning theory"),
        (FunctionKind::Study, "studies", "study", "Simulations that show how methods behave"),
        (FunctionKind::Generator, "generators", "make", "Data drawn from known distributions"),
        (FunctionKind::Split, "splits", "split", "Rows divided into training and test parts"),
        (
            FunctionKind::Statistic,
            "statistics",
            "stat",
            "Distributions, summaries, correlations, resampling",
        ),
        (FunctionKind::Algebra, "algebra", "algebra", "Linear algebra and geometry"),
        (
            FunctionKind::Analysis,
            "analyses",
            "analyze",
            "Analyses of a table that are no models to predict with",
        ),
    ];

    fn row(self) -> &'static (FunctionKind, &'static str, &'static str, &'static str) {
        let found = Self::ALL.iter().find(|(kind, ..)| *kind == self);
        found.unwrap_or(&Self::ALL[0])
    }

    /// The plural, as `learnt list` takes it.
    pub fn plural(self) -> &'static str {
        self.row().1
    }

    /// The verb of the command.
    pub fn verb(self) -> &'static str {
        self.row().2
    }

    /// What functions of this kind are.
    pub fn description(self) -> &'static str {
        self.row().3
    }
}

/// A way in which a metric scores models: in `score`, `cv` and `compare`.
#[derive(Clone, Copy, Debug)]
pub struct Scorer {
    /// The name.
    pub name: &'static str,
    /// Other names, scikit-learn's among them.
    pub aliases: &'static [&'static str],
    /// What is scored.
    pub task: Task,
    /// Which way is better.
    pub direction: Direction,
    /// Parameters that differ from the function's defaults, as they would be typed.
    pub params: &'static [(&'static str, &'static str)],
    /// One sentence.
    pub doc: &'static str,
}

impl Scorer {
    /// A score of which more is better.
    pub const fn higher(name: &'static str, task: Task, doc: &'static str) -> Self {
        Scorer { name, aliases: &[], task, direction: Direction::Higher, params: &[], doc }
    }

    /// A score of which less is better.
    pub const fn lower(name: &'static str, task: Task, doc: &'static str) -> Self {
        Scorer { name, aliases: &[], task, direction: Direction::Lower, params: &[], doc }
    }

    /// Other names.
    #[must_use]
    pub const fn alias(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// Parameters that differ from the function's defaults.
    #[must_use]
    pub const fn set(mut self, params: &'static [(&'static str, &'static str)]) -> Self {
        self.params = params;
        self
    }
}

/// What a target calls for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Classes.
    Classification,
    /// Numbers.
    Regression,
    /// No target.
    Unsupervised,
}

impl Task {
    /// The task that the target calls for.
    pub fn of(data: &Dataset) -> Task {
        match data.y {
            Some(Target::Class { .. }) => Task::Classification,
            Some(Target::Real(_)) => Task::Regression,
            None => Task::Unsupervised,
        }
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Task::Classification => "classification",
            Task::Regression => "regression",
            Task::Unsupervised => "clustering",
        }
    }
}

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Larger scores are better.
    Higher,
    /// Smaller scores are better.
    Lower,
}

impl Callable {
    /// The facts of a function; the methods below add to it.
    pub const fn new(path: &'static str, kind: FunctionKind) -> Self {
        Callable {
            path,
            kind,
            aliases: &[],
            randomness: false,
            threads: false,
            reference: "",
            scorers: &[],
            exempt: &[],
        }
    }

    /// Other names on the command line.
    #[must_use]
    pub const fn alias(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// The result depends on the seed.
    #[must_use]
    pub const fn randomness(mut self) -> Self {
        self.randomness = true;
        self
    }

    /// Several threads help.
    #[must_use]
    pub const fn threads(mut self) -> Self {
        self.threads = true;
        self
    }

    /// Where the method comes from.
    #[must_use]
    pub const fn reference(mut self, reference: &'static str) -> Self {
        self.reference = reference;
        self
    }

    /// How it scores models.
    #[must_use]
    pub const fn scores(mut self, scorers: &'static [Scorer]) -> Self {
        self.scorers = scorers;
        self
    }

    /// Common checks that do not hold, with reasons.
    #[must_use]
    pub const fn exempt(mut self, exempt: &'static [(&'static str, &'static str)]) -> Self {
        self.exempt = exempt;
        self
    }

    /// The name of the function: the last part of the path.
    pub fn name(&self) -> &'static str {
        self.path.rsplit_once('.').map_or(self.path, |(_, name)| name)
    }

    /// The module: the path without the name.
    pub fn module(&self) -> &'static str {
        self.path.rsplit_once('.').map_or("", |(module, _)| module)
    }

    /// The name on the command line: `metrics.roc_curve` is `roc-curve`, `datasets.make_moons` is
    /// `moons`.
    pub fn command(&self) -> String {
        let name = self.name();
        let bare = match self.kind {
            FunctionKind::Generator => name.strip_prefix("make_").unwrap_or(name),
            _ => name,
        };
        snake(bare).replace('_', "-")
    }
}

/// `StratifiedKFold` is `stratified_k_fold`; names in snake case stay.
fn snake(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut out = String::new();
    for (i, &c) in letters.iter().enumerate() {
        let after_lower = i > 0 && letters[i - 1].is_lowercase();
        let before_lower = i > 0 && letters.get(i + 1).is_some_and(|next| next.is_lowercase());
        if c.is_uppercase() && (after_lower || (before_lower && letters[i - 1] != '_')) {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// One input of a function.
#[derive(Clone, Copy, Debug)]
pub struct InputSpec {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its shape.
    pub kind: InputKind,
    /// Whether it may be left out.
    pub optional: bool,
    /// Whether missing values are allowed in it.
    pub missing: bool,
    /// Whether it has its own length, not that of the others.
    pub apart: bool,
}

/// The shape of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// One number a row.
    Numbers,
    /// Several numbers a row; one-dimensional arrays are one column.
    Matrix,
    /// One class a row. All labels of a call share one list of classes.
    Labels,
    /// One cluster a row; noise has none.
    Clusters,
    /// Rows of a table with its columns.
    Table,
}

/// One input as it is given.
#[derive(Clone, Copy, Debug)]
pub enum Given<'a> {
    /// One number a row.
    Numbers(&'a [f64]),
    /// Several numbers a row.
    Matrix(MatRef<'a>),
    /// One class a row.
    Labels(Classes<'a>),
    /// One cluster a row; `None` is noise.
    Clusters(&'a [Option<u32>]),
    /// Rows of a table.
    Table(Frame<'a>),
}

impl Given<'_> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Given::Numbers(values) => values.len(),
            Given::Matrix(values) => values.nrows(),
            Given::Labels(labels) => labels.codes.len(),
            Given::Clusters(labels) => labels.len(),
            Given::Table(frame) => frame.nrows(),
        }
    }
}

/// A class for each row: codes into a list of classes that is sorted.
#[derive(Clone, Copy, Debug)]
pub struct Classes<'a> {
    /// Codes of the classes.
    pub codes: &'a [u32],
    /// The classes, sorted.
    pub classes: &'a [Label],
}

/// The inputs of a function. `#[derive(Inputs)]` writes it for a struct with one lifetime.
pub trait Inputs<'a>: Sized {
    /// What there is to give, in order.
    const SPECS: &'static [InputSpec];

    /// From what was given, in the order of the specs.
    fn from_given(given: &[Option<Given<'a>>]) -> Result<Self>;

    /// What was given, in the order of the specs.
    fn given(&self) -> Vec<Option<Given<'a>>>;
}

impl<'a> Inputs<'a> for () {
    const SPECS: &'static [InputSpec] = &[];

    fn from_given(_given: &[Option<Given<'a>>]) -> Result<Self> {
        Ok(())
    }

    fn given(&self) -> Vec<Option<Given<'a>>> {
        Vec::new()
    }
}

/// A type that a field of inputs can have.
pub trait InputType<'a>: Sized {
    /// The shape.
    const KIND: InputKind;
    /// Whether it may be left out.
    const OPTIONAL: bool = false;
    /// From what was given.
    fn take(given: Option<Given<'a>>) -> Option<Self>;
    /// As it would be given.
    fn give(&self) -> Option<Given<'a>>;
}

macro_rules! input_types {
    ($($type:ty: $kind:ident;)*) => {$(
        impl<'a> InputType<'a> for $type {
            const KIND: InputKind = InputKind::$kind;
            fn take(given: Option<Given<'a>>) -> Option<Self> {
                match given {
                    Some(Given::$kind(value)) => Some(value),
                    _ => None,
                }
            }
            fn give(&self) -> Option<Given<'a>> {
                Some(Given::$kind(*self))
            }
        }
    )*};
}
input_types! {
    &'a [f64]: Numbers;
    MatRef<'a>: Matrix;
    Classes<'a>: Labels;
    &'a [Option<u32>]: Clusters;
    Frame<'a>: Table;
}

impl<'a, T: InputType<'a>> InputType<'a> for Option<T> {
    const KIND: InputKind = T::KIND;
    const OPTIONAL: bool = true;
    fn take(given: Option<Given<'a>>) -> Option<Self> {
        match given {
            None => Some(None),
            given => T::take(given).map(Some),
        }
    }
    fn give(&self) -> Option<Given<'a>> {
        self.as_ref().and_then(T::give)
    }
}

/// One field of inputs from what was given; for `#[derive(Inputs)]`.
pub fn take<'a, T: InputType<'a>>(
    given: &[Option<Given<'a>>],
    index: usize,
    spec: &InputSpec,
) -> Result<T> {
    T::take(given.get(index).copied().flatten())
        .ok_or_else(|| Error::new(Code::Usage, format!("the input '{}' is missing", spec.name)))
}

/// Refuses inputs of different lengths, values that are not finite, and weights that cannot count.
pub fn check_inputs(specs: &[InputSpec], given: &[Option<Given>], run: &Context) -> Result<()> {
    let mut rows: Option<(&str, usize)> = None;
    for (spec, given) in specs.iter().zip(given) {
        let Some(given) = given else { continue };
        match rows {
            _ if spec.apart => {}
            None => rows = Some((spec.name, given.rows())),
            Some((_, n)) if n == given.rows() => {}
            Some((first, n)) => {
                let expected = format!("{n} rows, as many as '{first}'");
                return Err(Error::shape(spec.name, expected, format!("{} rows", given.rows())));
            }
        }
        if given.rows() == 0 {
            return Err(Error::new(Code::Empty, format!("'{}' has no rows", spec.name)));
        }
        if !spec.missing {
            check_finite(spec.name, given, run)?;
        }
        if let (true, Given::Numbers(weights)) = (spec.name == "sample_weight", given) {
            check_weights(weights)?;
        }
    }
    run.checkpoint()
}

fn check_finite(name: &str, given: &Given, run: &Context) -> Result<()> {
    let bad = |row: usize, column: usize, value: f64| {
        let what = if value.is_nan() { "missing" } else { "infinite" };
        Error::new(Code::Missing, format!("'{name}' is {what} in row {}", row + 1))
            .row(row as u64 + 1)
            .hint(match column {
                0 => "leave such rows out, or fill them first".to_string(),
                column => format!("column {}; leave such rows out, or fill them first", column + 1),
            })
    };
    match given {
        Given::Numbers(values) => match values.iter().position(|value| !value.is_finite()) {
            Some(row) => Err(bad(row, 0, values[row])),
            None => Ok(()),
        },
        Given::Matrix(values) => first_bad(*values, run)
            .map_or(Ok(()), |(row, column)| Err(bad(row, column, values.at(row, column)))),
        Given::Table(frame) => first_bad(frame.values(), run)
            .map_or(Ok(()), |(row, column)| Err(bad(row, column, frame.values().at(row, column)))),
        Given::Labels(_) | Given::Clusters(_) => Ok(()),
    }
}

/// The first value that is not finite, row by row.
fn first_bad(values: MatRef, run: &Context) -> Option<(usize, usize)> {
    let columns = values.ncols();
    let found = run.par_ranges(values.nrows(), 65_536, |rows| {
        rows.into_iter()
            .find_map(|i| (0..columns).find(|&j| !values.at(i, j).is_finite()).map(|j| (i, j)))
    });
    found.into_iter().flatten().next()
}

fn check_weights(weights: &[f64]) -> Result<()> {
    if let Some(row) = weights.iter().position(|&weight| weight < 0.0) {
        return Err(Error::new(Code::Weights, format!("the weight of row {} is below 0", row + 1)));
    }
    match weights.iter().any(|&weight| weight > 0.0) {
        true => Ok(()),
        false => Err(Error::new(Code::Weights, "all weights are 0")),
    }
}

/// What a function gives. `#[derive(Output)]` writes it for a struct whose public fields are values.
pub trait Output: Sized + Send {
    /// Names and texts of the values; one named `value` is the result itself.
    const FIELDS: &'static [(&'static str, &'static str)];

    /// The values, in the order of the fields.
    fn into_data(self) -> Vec<Datum>;

    /// From values in the order of the fields.
    fn from_data(data: Vec<Datum>) -> Result<Self>;
}

macro_rules! plain_outputs {
    ($($type:ty),*) => {$(
        impl Output for $type {
            const FIELDS: &'static [(&'static str, &'static str)] = &[("value", "")];
            fn into_data(self) -> Vec<Datum> {
                vec![DatumType::into_datum(self)]
            }
            fn from_data(data: Vec<Datum>) -> Result<Self> {
                DatumType::from_datum(data.into_iter().next().unwrap_or(Datum::Missing))
            }
        }
    )*};
}
plain_outputs!(
    f64,
    bool,
    i64,
    u64,
    usize,
    String,
    Vec<f64>,
    Vec<i64>,
    Vec<bool>,
    Matrix,
    OwnedDataset
);

/// The erased twin of [`Function`]: what the command line and Python use.
pub trait AnyFunction: Params {
    /// The facts.
    fn about(&self) -> &'static Callable;
    /// Checks, then computes: the values of the result and notes about it.
    fn call_any(&self, given: &[Option<Given>], run: &Context) -> Result<Answer>;
    /// The picture of a result of this function.
    fn chart_any(&self, answer: &Answer) -> Result<Option<Chart>>;
    /// A copy.
    fn clone_any(&self) -> Box<dyn AnyFunction>;
}

impl<F: Function> AnyFunction for F {
    fn about(&self) -> &'static Callable {
        F::ABOUT
    }

    fn call_any(&self, given: &[Option<Given>], run: &Context) -> Result<Answer> {
        let inputs = F::Inputs::from_given(given).map_err(|e| e.within(F::ABOUT.name()))?;
        let output = self.compute_in(inputs, run)?;
        let notes = self.notes(&output);
        Ok(named_values(F::ABOUT, F::Output::FIELDS, output.into_data(), notes))
    }

    fn chart_any(&self, answer: &Answer) -> Result<Option<Chart>> {
        Ok(self.chart(&F::Output::from_data(values_of(answer))?))
    }

    fn clone_any(&self) -> Box<dyn AnyFunction> {
        Box::new(self.clone())
    }
}

/// The answer with the values of a result; one without a name of its own has the function's.
fn named_values(
    about: &Callable,
    fields: &[(&'static str, &'static str)],
    data: Vec<Datum>,
    notes: Vec<String>,
) -> Answer {
    let name = |name: &str| if name == "value" { about.name() } else { name }.to_string();
    let values = fields.iter().map(|(field, _)| name(field)).zip(data).collect();
    Answer { values, notes, ..Answer::default() }
}

fn values_of(answer: &Answer) -> Vec<Datum> {
    answer.values.iter().map(|(_, datum)| datum.clone()).collect()
}

/// A function in the list.
#[derive(Clone, Copy)]
pub struct FunctionEntry {
    /// The facts.
    pub about: &'static Callable,
    /// What it is computed from.
    pub inputs: &'static [InputSpec],
    /// Names and texts of what it gives.
    pub outputs: &'static [(&'static str, &'static str)],
    /// The function with default parameters.
    pub build: fn() -> Box<dyn AnyFunction>,
}

/// The entry of a function.
pub const fn function<F: Function>() -> FunctionEntry {
    FunctionEntry {
        about: F::ABOUT,
        inputs: <F::Inputs<'static> as Inputs<'static>>::SPECS,
        outputs: <F::Output as Output>::FIELDS,
        build: || Box::new(F::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_on_the_command_line() {
        let command = |path, kind| Callable::new(path, kind).command();
        assert_eq!(command("metrics.roc_curve", FunctionKind::Metric), "roc-curve");
        assert_eq!(command("datasets.make_moons", FunctionKind::Generator), "moons");
        assert_eq!(
            command("model_selection.StratifiedKFold", FunctionKind::Split),
            "stratified-k-fold"
        );
    }

    #[test]
    fn inputs_are_checked_before_the_call() {
        let spec = |name| InputSpec {
            name,
            doc: "",
            kind: InputKind::Numbers,
            optional: false,
            missing: false,
            apart: false,
        };
        let specs = [spec("y"), spec("sample_weight")];
        let run = Context::default();
        let check = |y: &[f64], w: &[f64]| {
            check_inputs(&specs, &[Some(Given::Numbers(y)), Some(Given::Numbers(w))], &run)
        };
        assert!(check(&[1.0, 2.0], &[1.0, 0.0]).is_ok());
        assert_eq!(check(&[1.0], &[1.0, 1.0]).unwrap_err().code(), Code::Shape);
        assert_eq!(check(&[1.0, f64::NAN], &[1.0, 1.0]).unwrap_err().code(), Code::Missing);
        assert_eq!(check(&[1.0, 2.0], &[1.0, -1.0]).unwrap_err().code(), Code::Weights);
        assert_eq!(check(&[1.0, 2.0], &[0.0, 0.0]).unwrap_err().code(), Code::Weights);
        assert_eq!(check(&[], &[]).unwrap_err().code(), Code::Empty);
    }
}
