//! The verbs of functions: `learnt metric`, `theory`, `study`, `make`, `split`, `stat`, `algebra` and
//! `analyze`.
//!
//! Inputs are columns of a table, by name, or lists in JSON: `--y-true '[1, 0, 1]'`.

use super::Call;
use super::data::write_drawn;
use crate::ExitCode;
use crate::args::{INPUT, PARAM};
use crate::input;
use crate::picture;
use learnt::answer::{Answer, Columns, Datum};
use learnt::data::{Label, Matrix, Table};
use learnt::error::{Code, Error, Result, plain};
use learnt::function::{
    AnyFunction, Classes, FunctionEntry, FunctionKind, Given, InputKind, InputSpec,
};
use learnt::params::Value;
use serde_json::json;

/// Rows of a table that a terminal shows without `--all`.
const SHOWN: usize = 40;

/// Computes the function and prints or writes its answer.
pub(crate) fn run(call: &Call, verb: &str, name: &str) -> Result<ExitCode> {
    let entry = learnt::functions()
        .find(|entry| {
            let about = entry.about;
            about.kind.verb() == verb && (about.command() == name || about.aliases.contains(&name))
        })
        .ok_or_else(|| Error::internal("a function without its entry"))?;
    let table = match call.text("data") {
        Some(_) => Some(input::read(call)?.table),
        None => None,
    };
    on_table(call, verb, entry, table)
}

/// The same for a table that is read.
pub(crate) fn on_table(
    call: &Call,
    verb: &str,
    entry: &FunctionEntry,
    table: Option<Table>,
) -> Result<ExitCode> {
    let mut function = build(call, entry)?;
    count_rows(function.as_mut(), table.as_ref())?;
    let inputs = Inputs::read(call, entry.inputs, table.as_ref())?;
    let mut answer = function.call_any(&inputs.given(), &call.run)?;
    if entry.about.kind == FunctionKind::Split {
        answer = parts_of_rows(&answer);
    }
    if call.text("plot").is_some() {
        answer.charts.extend(function.chart_any(&answer)?);
        picture::plot_answer(call, &answer)?;
    }
    match answer.values.as_mut_slice() {
        [(_, Datum::Data(data)), more @ ..] => {
            let target = learnt::datasets::generate::target_name(entry.about.path);
            write_drawn(call, &entry.about.command(), std::mem::take(data.as_mut()), target, more)
        }
        _ => {
            let seed = entry.about.randomness.then_some(call.run.seed());
            let facts = json!({ "function": entry.about.path });
            let most = if call.flag("all") { usize::MAX } else { SHOWN };
            super::answer::show(call, verb, seed, facts, &answer, most)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The function with its flags, as far as they can be checked without data.
pub(crate) fn build(call: &Call, entry: &FunctionEntry) -> Result<Box<dyn AnyFunction>> {
    let mut function = (entry.build)();
    for id in call.args.ids() {
        let Some(name) = id.as_str().strip_prefix(PARAM) else { continue };
        let Some(word) = call.text(id.as_str()) else { continue };
        let spec = function.specs().iter().find(|spec| spec.name == name);
        let value = spec.map_or_else(|| Value::parse(word), |spec| spec.parse(word));
        function.set(name, &value).map_err(|error| error.within(entry.about.name()))?;
    }
    Ok(function)
}

/// Which part each row is in: one column if every row is tested once (the number of its fold) or if
/// there is one division, else a column for each division.
fn parts_of_rows(answer: &Answer) -> Answer {
    let lists = |name: &str| match answer.value(name) {
        Some(Datum::List(items)) => items.iter().map(numbers).collect(),
        Some(datum @ Datum::Counts(_)) => vec![numbers(datum)],
        _ => Vec::new(),
    };
    let parts =
        [("train", lists("train")), ("test", lists("test")), ("validation", lists("validation"))];
    let all = parts.iter().flat_map(|(_, lists)| lists).flatten();
    let rows = all.max().map_or(0, |row| row + 1);
    let mut table = Columns::titled("").counts("row", (1..=rows as i64).collect());
    let tests = &parts[1].1;
    let mut fold = vec![0_i64; rows];
    for (k, list) in tests.iter().enumerate() {
        list.iter()
            .for_each(|&row| fold[row] += if fold[row] == 0 { k as i64 + 1 } else { i64::MIN });
    }
    if tests.len() > 1 && fold.iter().all(|&k| k > 0) {
        table = table.counts("fold", fold);
    } else {
        for k in 0..tests.len() {
            let mut words = vec![String::new(); rows];
            for (word, lists) in &parts {
                lists
                    .get(k)
                    .into_iter()
                    .flatten()
                    .for_each(|&row| words[row] = (*word).to_string());
            }
            let name =
                if tests.len() == 1 { "part".to_string() } else { format!("split_{}", k + 1) };
            table = table.texts(name, words);
        }
    }
    Answer { tables: vec![table], notes: answer.notes.clone(), ..Answer::default() }
}

/// The row numbers in a list.
fn numbers(datum: &Datum) -> Vec<usize> {
    match datum {
        Datum::Counts(values) => values.iter().filter_map(|&i| usize::try_from(i).ok()).collect(),
        _ => Vec::new(),
    }
}

/// A function that divides rows by their number learns it from the table.
fn count_rows(function: &mut dyn AnyFunction, table: Option<&Table>) -> Result<()> {
    let divides = function.about().kind == FunctionKind::Split;
    match table {
        Some(table) if divides => {
            function.set("n_samples", &Value::Int(table.values().nrows() as i64))
        }
        None if divides && function.get("n_samples")? == Value::Int(0) => {
            let verb =
                format!("learnt {} {}", FunctionKind::Split.verb(), function.about().command());
            let message = "neither rows to divide nor their number";
            Err(Error::new(Code::Usage, message)
                .hint(format!("{verb} data.csv, or {verb} --n-samples 100")))
        }
        _ => Ok(()),
    }
}

/// Inputs as they were read, in the order of the specs.
struct Inputs {
    parts: Vec<Option<Part>>,
    classes: Vec<Label>,
}

/// One input as it was read.
enum Part {
    Numbers(Vec<f64>),
    Matrix(Matrix),
    Labels(Vec<u32>),
    Clusters(Vec<Option<u32>>),
    Table(Table),
}

impl Inputs {
    fn read(call: &Call, specs: &[InputSpec], table: Option<&Table>) -> Result<Inputs> {
        let named: Vec<Option<String>> =
            specs.iter().map(|spec| column_of(call, spec, table)).collect();
        let mut labels: Vec<(usize, Vec<Label>)> = Vec::new();
        let mut parts: Vec<Option<Part>> = Vec::new();
        for (index, spec) in specs.iter().enumerate() {
            let part = match &named[index] {
                Some(text) if text.trim_start().starts_with('[') => Some(inline(spec, text)?),
                Some(text) => Some(from_columns(spec, text, table)?),
                None if wants_rest(spec) && table.is_some() => rest(specs, &named, table),
                None => None,
            };
            if let Some(Raw::Labels(values)) = part {
                labels.push((index, values));
                parts.push(None);
                continue;
            }
            if part.is_none() && !spec.optional {
                return Err(missing(spec, table));
            }
            parts.push(part.map(|part| part.into_part(spec)).transpose()?);
        }
        let all: Vec<Label> = labels.iter().flat_map(|(_, values)| values.clone()).collect();
        let (codes, classes) = Label::encode(&all);
        let mut start = 0;
        for (index, values) in labels {
            let own = codes[start..start + values.len()].to_vec();
            start += values.len();
            parts[index] = Some(match specs[index].kind {
                InputKind::Clusters => Part::Clusters(clusters(&own, &classes)),
                _ => Part::Labels(own),
            });
        }
        Ok(Inputs { parts, classes })
    }

    fn given(&self) -> Vec<Option<Given<'_>>> {
        self.parts.iter().map(|part| part.as_ref().map(|part| self.one(part))).collect()
    }

    fn one<'a>(&'a self, part: &'a Part) -> Given<'a> {
        match part {
            Part::Numbers(values) => Given::Numbers(values),
            Part::Matrix(matrix) => Given::Matrix(matrix.view()),
            Part::Labels(codes) => Given::Labels(Classes { codes, classes: &self.classes }),
            Part::Clusters(labels) => Given::Clusters(labels),
            Part::Table(table) => Given::Table(table.frame()),
        }
    }
}

/// Labels of clusters: -1 is noise.
fn clusters(codes: &[u32], classes: &[Label]) -> Vec<Option<u32>> {
    let noise = |code: u32| matches!(classes[code as usize], Label::Int(-1));
    codes.iter().map(|&code| (!noise(code)).then_some(code)).collect()
}

/// Values before they have the shape of their input.
enum Raw {
    Labels(Vec<Label>),
    Columns(Table),
    Rows(Matrix),
}

impl Raw {
    fn into_part(self, spec: &InputSpec) -> Result<Part> {
        Ok(match (self, spec.kind) {
            (Raw::Columns(table), InputKind::Table) => Part::Table(table),
            (Raw::Columns(table), kind) => {
                for column in table.schema().columns() {
                    if column.levels().is_some() {
                        let message = format!("column '{}' holds text", plain(&column.name));
                        return Err(Error::new(Code::NotNumeric, message)
                            .column(&column.name)
                            .hint(format!("choose numeric columns with --{}", flag(spec))));
                    }
                }
                Raw::Rows(table.into_parts().0).into_matrix(kind)
            }
            (rows @ Raw::Rows(_), InputKind::Table) => match rows {
                Raw::Rows(matrix) => Part::Table(Table::unnamed(matrix)),
                _ => return Err(Error::internal("rows that are none")),
            },
            (rows, kind) => rows.into_matrix(kind),
        })
    }

    fn into_matrix(self, kind: InputKind) -> Part {
        match self {
            Raw::Rows(matrix) if kind == InputKind::Numbers => {
                Part::Numbers(matrix.view().column(0))
            }
            Raw::Rows(matrix) => Part::Matrix(matrix),
            Raw::Columns(table) => Part::Matrix(table.into_parts().0),
            Raw::Labels(_) => Part::Labels(Vec::new()),
        }
    }
}

fn flag(spec: &InputSpec) -> String {
    spec.name.replace('_', "-").to_lowercase()
}

/// The column that an input is read from: the flag's, that of `--target` for `y`, or one of the input's own
/// name.
fn column_of(call: &Call, spec: &InputSpec, table: Option<&Table>) -> Option<String> {
    let target = || call.text("target").filter(|_| spec.name == "y");
    let said = call.text(&format!("{INPUT}{}", spec.name)).or_else(target).map(ToString::to_string);
    let own = || {
        let found = table.and_then(|table| table.schema().position(spec.name));
        found.map(|_| spec.name.to_string())
    };
    said.or_else(own)
}

/// Whether the input takes all columns that nobody else does.
fn wants_rest(spec: &InputSpec) -> bool {
    matches!(spec.kind, InputKind::Matrix | InputKind::Table) && !spec.optional
}

/// The columns that no other input names.
fn rest(specs: &[InputSpec], named: &[Option<String>], table: Option<&Table>) -> Option<Raw> {
    let table = table?;
    let taken: Vec<&str> = specs
        .iter()
        .zip(named)
        .filter_map(|(_, name)| name.as_deref())
        .flat_map(|name| name.split(','))
        .map(str::trim)
        .collect();
    let kept: Vec<usize> = (0..table.schema().len())
        .filter(|&j| !taken.contains(&table.schema().column(j).name.as_str()))
        .collect();
    (!kept.is_empty()).then(|| Raw::Columns(table.frame().select(&kept)))
}

/// Named columns of the table.
fn from_columns(spec: &InputSpec, names: &str, table: Option<&Table>) -> Result<Raw> {
    let table = table.ok_or_else(|| {
        let message = format!("--{} names a column, and there is no table", flag(spec));
        Error::new(Code::Usage, message)
            .hint(format!("add a data file, or write --{} '[1, 0, 1]'", flag(spec)))
    })?;
    let whole = table.schema().position(names).map(|j| vec![j]);
    let places = match whole {
        Some(places) => places,
        None => names
            .split(',')
            .map(|name| table.schema().find(name.trim()))
            .collect::<Result<Vec<_>>>()?,
    };
    match spec.kind {
        InputKind::Labels | InputKind::Clusters => column_labels(table, places[0]).map(Raw::Labels),
        _ => Ok(Raw::Columns(table.frame().select(&places))),
    }
}

/// The labels in a column.
fn column_labels(table: &Table, j: usize) -> Result<Vec<Label>> {
    let column = table.schema().column(j);
    let label = |(row, &value): (usize, &f64)| match (value.is_nan(), column.levels()) {
        (true, _) => {
            let message = format!("column '{}' is missing in row {}", plain(&column.name), row + 1);
            Err(Error::new(Code::Missing, message).column(&column.name).row(row as u64 + 1))
        }
        (_, Some(levels)) => Ok(Label::Text(levels[value as usize].clone())),
        (_, None) => Ok(Label::from_real(value)),
    };
    table.values().view().column(j).iter().enumerate().map(label).collect()
}

/// A list in JSON.
fn inline(spec: &InputSpec, text: &str) -> Result<Raw> {
    let bad = || {
        let what = format!("--{}", flag(spec));
        Error::parameter(&what, "a column or a list such as [1, 0, 1]", format!("'{text}'"))
    };
    let Value::List(items) = Value::parse(text) else { return Err(bad()) };
    if matches!(spec.kind, InputKind::Labels | InputKind::Clusters) {
        let labels = items.iter().map(Label::from_value).collect::<Option<Vec<_>>>();
        return labels.map(Raw::Labels).ok_or_else(bad);
    }
    let number = |value: &Value| match value {
        Value::Null => Some(f64::NAN),
        value => value.as_real(),
    };
    let row = |item: &Value| match item {
        Value::List(values) => values.iter().map(number).collect::<Option<Vec<f64>>>(),
        value => number(value).map(|x| vec![x]),
    };
    let rows = items.iter().map(row).collect::<Option<Vec<_>>>().ok_or_else(bad)?;
    Matrix::from_rows(&rows).map(Raw::Rows)
}

fn missing(spec: &InputSpec, table: Option<&Table>) -> Error {
    let message = format!("the input '{}' is missing: {}", spec.name, first_line(spec.doc));
    let hint = match table {
        Some(_) => format!("add --{} COLUMN", flag(spec)),
        None => format!("add a data file and --{0} COLUMN, or --{0} '[1, 0, 1]'", flag(spec)),
    };
    Error::new(Code::Usage, message).hint(hint)
}

fn first_line(doc: &str) -> &str {
    doc.lines().next().unwrap_or_default()
}
