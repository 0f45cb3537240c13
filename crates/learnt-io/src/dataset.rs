//! A table into inputs, target, weights, groups and sequences.
//!
//! The target decides the task, and the choice is stated. A target of categories is classified; a
//! target of numbers is regressed. Doubtful targets ask for the task instead: at most ten different
//! whole numbers (they look like class numbers), and categories of which more than half the rows
//! have their own (they look like names).

use learnt_core::data::{
    Column, ColumnKind, Label, MatRef, Matrix, OwnedDataset, OwnedTarget, Schema, Table, offsets_of,
};
use learnt_core::error::{Code, Error, Result, plain};

/// What is to be learnt about a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetTask {
    /// Its class.
    Classify,
    /// Its value.
    Regress,
}

impl TargetTask {
    /// From `classify` or `regress`.
    pub fn parse(name: &str) -> Result<TargetTask> {
        match name {
            "classify" => Ok(TargetTask::Classify),
            "regress" => Ok(TargetTask::Regress),
            _ => Err(Error::unknown("task", name, ["classify", "regress"])),
        }
    }
}

/// Which columns of a table are not inputs.
#[derive(Clone, Copy, Debug, Default)]
pub struct ColumnRoles<'a> {
    /// The columns to be predicted.
    pub targets: &'a [String],
    /// How much each row counts.
    pub weight: Option<&'a str>,
    /// Which rows belong together.
    pub group: Option<&'a str>,
    /// Consecutive rows with the same value are one sequence.
    pub sequence: Option<&'a str>,
    /// What is to be learnt; found from the target otherwise.
    pub task: Option<TargetTask>,
    /// What a target of few whole numbers is taken for, if that is not said.
    pub leaning: Option<TargetTask>,
}

/// A data set made from a table.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The data set.
    pub data: OwnedDataset,
    /// Names of the targets.
    pub targets: Vec<String>,
    /// What is to be learnt; `None` without a target.
    pub task: Option<TargetTask>,
    /// Sentences that the user should read: the task, and why.
    pub notes: Vec<String>,
}

/// The most different whole numbers that look like class numbers.
const FEW: usize = 10;
/// The fewest different categories that look like names.
const MANY: usize = 20;

/// Cuts a table into inputs, targets, weights, groups and sequences.
pub fn to_dataset(table: Table, roles: &ColumnRoles) -> Result<Prepared> {
    let places = Places::find(table.schema(), roles)?;
    let frame = table.frame();
    let values = frame.values();
    let mut notes = Vec::new();
    let (y, task) = target(&table, &places.targets, roles, &mut notes)?;
    let weights =
        places.weight.map(|j| weights(table.schema().column(j), values, j)).transpose()?;
    let groups = places.group.map(|j| groups(values, j));
    let sequences = places.sequence.map(|j| sequences(values, j));
    let inputs = places.inputs(table.schema().len());
    if inputs.is_empty() {
        return Err(Error::new(Code::Empty, "no input columns are left beside the target"));
    }
    let x = if inputs.len() == table.schema().len() { table } else { frame.select(&inputs) };
    let data = OwnedDataset { x, y, weights, groups, sequences };
    Ok(Prepared { data, targets: roles.targets.to_vec(), task, notes })
}

/// Where the columns that are not inputs stand.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub(crate) targets: Vec<usize>,
    pub(crate) weight: Option<usize>,
    pub(crate) group: Option<usize>,
    pub(crate) sequence: Option<usize>,
}

impl Places {
    /// Finds them by name; a misspelt name gets its neighbour.
    pub(crate) fn find(schema: &Schema, roles: &ColumnRoles) -> Result<Places> {
        let places = Places {
            targets: roles.targets.iter().map(|name| schema.find(name)).collect::<Result<_>>()?,
            weight: roles.weight.map(|name| schema.find(name)).transpose()?,
            group: roles.group.map(|name| schema.find(name)).transpose()?,
            sequence: roles.sequence.map(|name| schema.find(name)).transpose()?,
        };
        let mut all: Vec<usize> = places.all().collect();
        all.sort_unstable();
        match all.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(places),
            Some(pair) => {
                let name = plain(&schema.column(pair[0]).name);
                let message = format!("column '{name}' is given two roles");
                Err(Error::new(Code::Usage, message).column(name))
            }
        }
    }

    fn all(&self) -> impl Iterator<Item = usize> {
        self.targets.iter().copied().chain(self.weight).chain(self.group).chain(self.sequence)
    }

    /// The columns that are inputs, of `width` in all.
    pub(crate) fn inputs(&self, width: usize) -> Vec<usize> {
        (0..width).filter(|&j| !self.all().any(|other| other == j)).collect()
    }
}

fn target(
    table: &Table,
    places: &[usize],
    roles: &ColumnRoles,
    notes: &mut Vec<String>,
) -> Result<(Option<OwnedTarget>, Option<TargetTask>)> {
    let values = table.values().view();
    match places {
        [] => Ok((None, None)),
        [place] => {
            let column = table.schema().column(*place);
            refuse_missing(column, values, *place)?;
            let distinct = Distinct::of(values, *place);
            let (task, note) = decide(column, &distinct, values.nrows() as u64, roles)?;
            notes.push(note);
            let y = match task {
                TargetTask::Regress => {
                    OwnedTarget::Real(Matrix::column_vector(values.column(*place)))
                }
                TargetTask::Classify => classes_of(column, &distinct).encode(values, *place),
            };
            Ok((Some(y), Some(task)))
        }
        several => {
            for &place in several {
                numeric_only(table.schema().column(place))?;
                refuse_missing(table.schema().column(place), values, place)?;
            }
            if roles.task == Some(TargetTask::Classify) {
                let message = "several targets can only be regressed";
                return Err(Error::new(Code::Target, message).hint("name one target"));
            }
            notes.push(format!("task: regress, {} targets", several.len()));
            Ok((Some(OwnedTarget::Real(values.gather_columns(several))), Some(TargetTask::Regress)))
        }
    }
}

fn numeric_only(column: &Column) -> Result<()> {
    match column.kind {
        ColumnKind::Numeric => Ok(()),
        ColumnKind::Categorical { .. } => {
            let message =
                format!("target '{}' is text, and numbers are needed", plain(&column.name));
            Err(Error::new(Code::Target, message).column(&column.name))
        }
    }
}

fn refuse_missing(column: &Column, values: MatRef, j: usize) -> Result<()> {
    let missing = |&i: &usize| values.at(i, j).is_nan();
    match (0..values.nrows()).find(missing) {
        None => Ok(()),
        Some(first) => {
            let count = (0..values.nrows()).filter(missing).count() as u64;
            Err(missing_target(&column.name, count, first as u64))
        }
    }
}

/// The error for a target with missing values.
pub(crate) fn missing_target(name: &str, count: u64, first: u64) -> Error {
    let row = first + 1;
    let message = format!("target '{}' has {count} missing values (first: row {row})", plain(name));
    Error::new(Code::Missing, message)
        .column(name)
        .row(row)
        .hint("--drop-unlabelled leaves out these rows, --impute drop-rows those with any hole")
}

/// The different numbers of a column, as far as they matter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Distinct {
    /// Sorted, `-0` as 0.
    pub(crate) values: Vec<f64>,
    /// Whether all are whole numbers.
    pub(crate) whole: bool,
}

impl Distinct {
    fn of(values: MatRef, j: usize) -> Distinct {
        Distinct::of_values(values.column(j))
    }

    /// Of some numbers; NaN is left out.
    pub(crate) fn of_values(mut values: Vec<f64>) -> Distinct {
        values.retain(|value| !value.is_nan());
        values.iter_mut().for_each(|value| *value += 0.0);
        values.sort_unstable_by(f64::total_cmp);
        values.dedup();
        let whole = values.iter().all(|value| value.fract() == 0.0 && value.abs() < 9e15);
        Distinct { values, whole }
    }

    /// Of both.
    pub(crate) fn merge(mut self, other: Distinct) -> Distinct {
        self.values.extend(other.values);
        Distinct::of_values(self.values)
    }
}

/// The task for a target and the sentence about it, or the error that asks for it.
pub(crate) fn decide(
    column: &Column,
    distinct: &Distinct,
    rows: u64,
    roles: &ColumnRoles,
) -> Result<(TargetTask, String)> {
    let name = plain(&column.name);
    let few = distinct.whole && distinct.values.len() <= FEW;
    let task = roles.task.or(roles.leaning.filter(|_| few && column.kind == ColumnKind::Numeric));
    match (&column.kind, task) {
        (ColumnKind::Categorical { levels, .. }, task) => {
            let count = levels.len();
            if task == Some(TargetTask::Regress) {
                numeric_only(column)?;
            }
            if task.is_none() && count > MANY && 2 * count as u64 > rows {
                let message = format!("target '{name}' has {count} different texts in {rows} rows");
                return Err(ask(&column.name, message, "say --task classify if they are classes"));
            }
            Ok((TargetTask::Classify, format!("task: classify '{name}', {count} classes (text)")))
        }
        (ColumnKind::Numeric, Some(TargetTask::Classify)) => {
            let count = distinct.values.len();
            Ok((
                TargetTask::Classify,
                format!("task: classify '{name}', {count} classes (numbers)"),
            ))
        }
        (ColumnKind::Numeric, Some(TargetTask::Regress)) => {
            Ok((TargetTask::Regress, format!("task: regress '{name}'")))
        }
        (ColumnKind::Numeric, None) if few && distinct.values.len() == 2 => Ok((
            TargetTask::Classify,
            format!(
                "task: classify '{name}', 2 classes (two numbers; --task regress takes them as amounts)"
            ),
        )),
        (ColumnKind::Numeric, None) if few => {
            let message = format!(
                "target '{name}' has {} different whole numbers: classes or amounts",
                distinct.values.len()
            );
            Err(ask(&column.name, message, "say --task classify or --task regress"))
        }
        (ColumnKind::Numeric, None) => {
            Ok((TargetTask::Regress, format!("task: regress '{name}' (numbers)")))
        }
    }
}

fn ask(name: &str, message: String, hint: &str) -> Error {
    Error::new(Code::Target, message).column(name).hint(hint)
}

/// Classes of a target, and the code of each value.
#[derive(Clone, Debug)]
pub(crate) struct Classes {
    /// Sorted.
    pub(crate) labels: Vec<Label>,
    /// For categories, what each code of the column becomes.
    codes: Option<Vec<u32>>,
    numbers: Vec<f64>,
}

/// The classes of a target: levels that are there, or different numbers.
pub(crate) fn classes_of(column: &Column, distinct: &Distinct) -> Classes {
    match column.levels() {
        None => {
            let label = |&value: &f64| match distinct.whole {
                true => Label::Int(value as i64),
                false => Label::Real(value),
            };
            let labels = distinct.values.iter().map(label).collect();
            Classes { labels, codes: None, numbers: distinct.values.clone() }
        }
        Some(levels) => {
            let met =
                |code: usize| distinct.values.binary_search_by(|v| v.total_cmp(&(code as f64)));
            let present: Vec<usize> = (0..levels.len()).filter(|&code| met(code).is_ok()).collect();
            let texts: Vec<Label> =
                present.iter().map(|&code| Label::Text(levels[code].clone())).collect();
            let (codes, labels) = Label::encode(&texts);
            let mut all = vec![0; levels.len()];
            for (&level, code) in present.iter().zip(codes) {
                all[level] = code;
            }
            Classes { labels, codes: Some(all), numbers: Vec::new() }
        }
    }
}

impl Classes {
    /// The code of a value of the column.
    pub(crate) fn code(&self, value: f64) -> u32 {
        match &self.codes {
            Some(codes) => codes.get(value as usize).copied().unwrap_or_default(),
            None => {
                let value = value + 0.0;
                let found = self.numbers.binary_search_by(|number| number.total_cmp(&value));
                found.unwrap_or_default() as u32
            }
        }
    }

    fn encode(self, values: MatRef, j: usize) -> OwnedTarget {
        let codes = (0..values.nrows()).map(|i| self.code(values.at(i, j))).collect();
        OwnedTarget::Class { codes, classes: self.labels }
    }
}

fn weights(column: &Column, values: MatRef, j: usize) -> Result<Vec<f64>> {
    match column.kind {
        ColumnKind::Numeric => Ok(values.column(j)),
        ColumnKind::Categorical { .. } => Err(text_weights(&column.name)),
    }
}

/// The error for weights that are text.
pub(crate) fn text_weights(name: &str) -> Error {
    let message = format!("weight column '{}' holds text", plain(name));
    Error::new(Code::Weights, message).column(name)
}

/// Offsets of the runs of equal values; missing values are equal.
fn sequences(values: MatRef, j: usize) -> Vec<usize> {
    let differ = |a: f64, b: f64| a != b && !(a.is_nan() && b.is_nan());
    offsets_of(values.nrows(), |i| differ(values.at(i - 1, j), values.at(i, j)))
}

/// Rows with equal values get equal numbers, in sorted order; missing values are one group.
fn groups(values: MatRef, j: usize) -> Vec<u32> {
    let column = values.column(j);
    let distinct = Distinct::of_values(column.clone());
    let missing = distinct.values.len() as u32;
    let code = |value: &f64| {
        let value = value + 0.0;
        match distinct.values.binary_search_by(|known| known.total_cmp(&value)) {
            Ok(place) => place as u32,
            Err(_) => missing,
        }
    };
    column.iter().map(code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(target: Vec<f64>, column: Column) -> Table {
        let rows = target.len();
        let values = Matrix::from_fn(rows, 2, |i, j| if j == 0 { i as f64 } else { target[i] });
        Table::new(values, Schema::new(vec![Column::numeric("x"), column]).unwrap()).unwrap()
    }

    fn prepared(table: Table, task: Option<TargetTask>) -> Result<Prepared> {
        let targets = ["y".to_string()];
        to_dataset(table, &ColumnRoles { targets: &targets, task, ..ColumnRoles::default() })
    }

    #[test]
    fn class_numbers_are_never_regressed_silently() {
        let numbers = || table(vec![0.0, 1.0, 2.0, 1.0], Column::numeric("y"));
        let error = prepared(numbers(), None).unwrap_err();
        assert_eq!(error.code(), Code::Target);
        assert_eq!(error.hint_text(), Some("say --task classify or --task regress"));
        let classified = prepared(numbers(), Some(TargetTask::Classify)).unwrap();
        let Some(OwnedTarget::Class { codes, classes }) = classified.data.y else { panic!() };
        assert_eq!(codes, [0, 1, 2, 1]);
        assert_eq!(classes, [Label::Int(0), Label::Int(1), Label::Int(2)]);
        let regressed = prepared(numbers(), Some(TargetTask::Regress)).unwrap();
        assert!(matches!(regressed.data.y, Some(OwnedTarget::Real(_))));
    }

    #[test]
    fn two_numbers_are_classes_and_the_way_out_is_said() {
        let numbers = || table(vec![0.0, 1.0, 1.0, 0.0], Column::numeric("y"));
        let found = prepared(numbers(), None).unwrap();
        assert!(matches!(found.data.y, Some(OwnedTarget::Class { .. })));
        assert!(
            found.notes.iter().any(|note| note.contains("--task regress")),
            "{:?}",
            found.notes
        );
        let regressed = prepared(numbers(), Some(TargetTask::Regress)).unwrap();
        assert!(matches!(regressed.data.y, Some(OwnedTarget::Real(_))));
    }

    #[test]
    fn the_task_is_stated() {
        let reals = table(vec![0.5, 1.0, 2.0], Column::numeric("y"));
        let found = prepared(reals, None).unwrap();
        assert_eq!(found.task, Some(TargetTask::Regress));
        assert_eq!(found.notes, ["task: regress 'y' (numbers)"]);
        let levels = vec!["a".to_string(), "b".to_string()];
        let texts = table(vec![1.0, 0.0, 1.0], Column::categorical("y", levels));
        assert_eq!(prepared(texts, None).unwrap().task, Some(TargetTask::Classify));
    }

    #[test]
    fn names_as_a_target_ask() {
        let levels: Vec<String> = (0..30).map(|i| format!("name {i:02}")).collect();
        let values = (0..40).map(|i| f64::from(i % 30)).collect();
        let error = prepared(table(values, Column::categorical("y", levels)), None).unwrap_err();
        assert!(error.message().contains("30 different texts in 40 rows"), "{error}");
    }

    #[test]
    fn a_misspelt_target_gets_its_neighbour() {
        let targets = ["targett".to_string()];
        let table = table(vec![0.5], Column::numeric("target"));
        let error = to_dataset(table, &ColumnRoles { targets: &targets, ..ColumnRoles::default() })
            .unwrap_err();
        assert_eq!(error.hint_text(), Some("did you mean 'target'?"));
    }

    #[test]
    fn declared_levels_that_are_absent_are_no_classes() {
        let levels = ["c", "b", "a"].map(String::from).to_vec();
        let texts = table(vec![2.0, 0.0, 2.0], Column::categorical("y", levels));
        let Some(OwnedTarget::Class { codes, classes }) = prepared(texts, None).unwrap().data.y
        else {
            panic!()
        };
        assert_eq!((codes, classes), (vec![0, 1, 0], vec![Label::from("a"), Label::from("c")]));
    }

    #[test]
    fn a_missing_target_names_its_row() {
        let error = prepared(table(vec![0.5, f64::NAN], Column::numeric("y")), None).unwrap_err();
        assert_eq!((error.code(), error.row_number()), (Code::Missing, Some(2)));
    }
}
