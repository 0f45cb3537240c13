//! From arguments to tables: files, bundled sets, standard input.

use crate::commands::Call;
use crate::learner;
use crate::looks::{without, without_odd};
use learnt::data::{Column, OwnedDataset, Schema, Table, Volume};
use learnt::datasets::Bundled;
use learnt::error::{Code, Error, Result, plain, shell};
use learnt::estimator::AnyEstimator;
use learnt::prepare::{Formula, Side};
use learnt::trained::{Missing, Trained};
use learnt_io::{ColumnRoles, Encoding, Format, Header, Ragged, ReadOptions, TargetTask, TypeRule};
use std::collections::BTreeSet;
use std::path::Path;

/// A table, where it came from, and what was noticed on the way.
pub(crate) struct Input {
    pub(crate) table: Table,
    pub(crate) name: String,
    pub(crate) default_target: Option<String>,
    pub(crate) default_task: Option<TargetTask>,
    pub(crate) digest: Option<String>,
}

/// A data set with the names of its targets.
pub(crate) struct Supervised {
    pub(crate) data: OwnedDataset,
    pub(crate) targets: Vec<String>,
    pub(crate) name: String,
    pub(crate) digest: Option<String>,
    /// Rows that were left out because values were missing; none where they are not to be.
    pub(crate) dropped: Option<u64>,
}

/// What the arguments say about reading.
pub(crate) fn options(call: &Call) -> Result<ReadOptions> {
    let mut options = ReadOptions { digest: true, ..ReadOptions::default() };
    options.format = call.text("format").map(Format::parse).transpose()?;
    options.delimiter = call.text("delimiter").map(delimiter).transpose()?;
    if let Some(&lines) = call.args.try_get_one::<usize>("skip-lines").ok().flatten() {
        options.skip_lines = lines;
    }
    options.header = match call.text("header") {
        Some("yes") => Header::Yes,
        Some("no") => Header::No,
        _ => Header::Auto,
    };
    options.na = call.texts("na");
    options.encoding = call.text("encoding").map(Encoding::parse).transpose()?.unwrap_or_default();
    if call.text("ragged") == Some("skip") {
        options.ragged = Ragged::Skip;
    }
    options.dedupe_names = call.flag("dedupe-names");
    options.decimal_comma = call.flag("decimal-comma");
    options.thousands = match call.text("thousands") {
        Some(mark) if mark.len() == 1 => Some(mark.as_bytes()[0]),
        Some(mark) => {
            return Err(Error::parameter("--thousands", "one character", format!("'{mark}'")));
        }
        None => None,
    };
    if let Some(size) = call.text("max-input") {
        options.max_input = crate::commands::bytes(size, "--max-input")?;
        options.max_ratio = u64::MAX;
    }
    if let Some(&count) = call.args.try_get_one::<usize>("max-features").ok().flatten() {
        options.max_features = count;
    }
    for pair in call.texts("type") {
        let (column, kind) = pair_of("--type", &pair)?;
        options.types.push((column.to_string(), TypeRule::parse(kind)?));
    }
    for column in call.texts("ignore") {
        options.types.push((column, TypeRule::Skip));
    }
    Ok(options)
}

fn delimiter(word: &str) -> Result<u8> {
    match word {
        "\\t" | "tab" => Ok(b'\t'),
        _ if word.len() == 1 => Ok(word.as_bytes()[0]),
        _ => Err(Error::parameter("--delimiter", "one character, or `tab`", format!("'{word}'"))),
    }
}

fn pair_of<'a>(flag: &str, pair: &'a str) -> Result<(&'a str, &'a str)> {
    pair.rsplit_once('=')
        .ok_or_else(|| Error::parameter(flag, "of the form COLUMN=VALUE", format!("'{pair}'")))
}

/// Reads the table that the arguments name, and says what was inferred.
pub(crate) fn read(call: &Call) -> Result<Input> {
    read_with(call, &options(call)?)
}

pub(crate) fn read_with(call: &Call, options: &ReadOptions) -> Result<Input> {
    let name = call.text("data").unwrap_or_default();
    let bundled = bundled(name);
    let loaded = match bundled {
        Some(set) => learnt_io::read_bytes(set.name, set.text.as_bytes(), options, &call.run)?,
        None => {
            learnt_io::read(name, options, &call.run).map_err(|error| or_bundled(error, name))?
        }
    };
    call.say(&format!("read {name}: {}", loaded.report));
    loaded.report.notes.iter().for_each(|note| call.say(&format!("note: {note}")));
    let table = renamed(loaded.table, &call.texts("rename"))?;
    Ok(Input {
        table,
        name: name.to_string(),
        default_target: bundled.and_then(|set| set.target).map(ToString::to_string),
        default_task: bundled.and_then(task_of),
        digest: loaded.report.digest,
    })
}

/// The bundled set of a name that no file has.
pub(crate) fn bundled(name: &str) -> Option<&'static Bundled> {
    match Path::new(name).exists() || name == "-" {
        true => None,
        false => learnt::datasets::describe(name).ok(),
    }
}

/// What a bundled set's target is for.
pub(crate) fn task_of(set: &Bundled) -> Option<TargetTask> {
    match set.task {
        learnt::function::Task::Classification => Some(TargetTask::Classify),
        learnt::function::Task::Regression => Some(TargetTask::Regress),
        learnt::function::Task::Unsupervised => None,
    }
}

/// A file that is not there may be a misspelt bundled set.
pub(crate) fn or_bundled(error: Error, name: &str) -> Error {
    if error.code() != Code::Io || Path::new(name).exists() || name.contains("://") {
        return error;
    }
    let known: Vec<&str> = learnt::datasets::BUNDLED.iter().map(|set| set.name).collect();
    match learnt::error::nearest(name, &known) {
        Some(near) => error.hint(format!("or did you mean the bundled set '{near}'?")),
        None => error.hint("`learnt dataset` lists the bundled sets"),
    }
}

fn renamed(table: Table, pairs: &[String]) -> Result<Table> {
    if pairs.is_empty() {
        return Ok(table);
    }
    let (values, schema) = table.into_parts();
    let mut columns = schema.columns().to_vec();
    for pair in pairs {
        let (old, new) = pair_of("--rename", pair)?;
        columns[schema.find(old)?].name = new.to_string();
    }
    Table::new(values, Schema::new(columns)?)
}

/// What the arguments say the columns are for.
pub(crate) struct ColumnChoice<'a> {
    pub(crate) targets: Vec<String>,
    pub(crate) weight: Option<&'a str>,
    pub(crate) group: Option<&'a str>,
    pub(crate) sequence: Option<&'a str>,
    pub(crate) task: Option<TargetTask>,
    pub(crate) leaning: Option<TargetTask>,
}

impl<'a> ColumnChoice<'a> {
    pub(crate) fn new(call: &'a Call, default_target: Option<&str>) -> Result<Self> {
        let formula = call.text("formula").map(Side::split).transpose()?;
        // What has a logarithm is a number.
        let changed = formula.as_ref().is_some_and(|formula| formula.response.is_some());
        let left = formula.and_then(|formula| formula.target);
        if let (Some(target), Some(left)) = (call.text("target"), &left)
            && target != left
        {
            let message = format!("the target is '{target}' by -t and '{left}' by the formula");
            return Err(Error::new(Code::Usage, message).hint("leave out -t"));
        }
        let target = call.text("target").or(left.as_deref()).or(default_target);
        Ok(ColumnChoice {
            targets: target.map(|target| vec![target.to_string()]).unwrap_or_default(),
            weight: call.text("weight"),
            group: call.text("group"),
            sequence: call.text("sequence"),
            task: call.text("task").map(TargetTask::parse).transpose()?,
            leaning: changed.then_some(TargetTask::Regress),
        })
    }

    /// `-t a,b` names two columns, unless one column has that name.
    pub(crate) fn settle(&mut self, schema: &Schema) {
        if let [one] = self.targets.as_slice()
            && one.contains(',')
            && schema.position(one).is_none()
        {
            self.targets = one.split(',').map(|name| name.trim().to_string()).collect();
        }
    }

    /// The columns of a table that the formula leaves out; none without a formula.
    pub(crate) fn unused(&self, call: &Call, schema: &Schema) -> Result<Vec<String>> {
        let Some(formula) = call.text("formula") else { return Ok(Vec::new()) };
        let own = |name: &&str| {
            let others = [self.weight, self.group, self.sequence];
            self.targets.iter().all(|target| target != name) && !others.contains(&Some(*name))
        };
        let inputs: Vec<&str> = schema.names().filter(own).collect();
        let places: Vec<usize> = inputs.iter().filter_map(|name| schema.position(name)).collect();
        let terms = Side::split(formula)?.terms;
        let inputs_alone = schema.select(&places);
        let used = Formula::predicting(terms, &inputs_alone, &self.targets)?.columns();
        let used: BTreeSet<usize> = used.into_iter().collect();
        // A column that is taken away is still named, so the formula needs it.
        let named = Formula::words(terms)?;
        let is_named = |j: usize| named.iter().any(|word| word == inputs[j]);
        let unused = (0..inputs.len()).filter(|&j| !used.contains(&j) && !is_named(j));
        Ok(unused.map(|j| inputs[j].to_string()).collect())
    }

    pub(crate) fn roles(&self) -> ColumnRoles<'_> {
        ColumnRoles {
            targets: &self.targets,
            weight: self.weight,
            group: self.group,
            sequence: self.sequence,
            task: self.task,
            leaning: self.leaning,
        }
    }
}

/// Splits a table into inputs, target and weights, and says what the target was taken for. The
/// learner decides whether there is a target, and what an unclear one is.
pub(crate) fn supervised(call: &Call, input: Input, learner: Option<&str>) -> Result<Supervised> {
    let with_target = learner.is_none_or(|name| learner::needs_target(call, name));
    let mut asked = ColumnChoice::new(call, input.default_target.as_deref())?;
    asked.leaning = learner.and_then(learner::leaning).or(asked.leaning);
    let mut table = input.table;
    asked.settle(table.schema());
    if !with_target && call.text("target").is_none() {
        // A bundled set's own target is no input of an unsupervised fit.
        let kept = (0..table.schema().len())
            .filter(|&j| !asked.targets.contains(&table.schema().column(j).name));
        table = table.frame().select(&kept.collect::<Vec<_>>());
        asked.targets.clear();
    } else if asked.targets.is_empty() {
        return Err(no_target(table.schema(), call.text("formula")));
    } else if asked.targets.first() == input.default_target.as_ref() {
        asked.task = asked.task.or(input.default_task);
    }
    asked.targets.iter().try_for_each(|target| table.schema().find(target).map(drop))?;
    let unused = asked.unused(call, table.schema())?;
    if !unused.is_empty() {
        table = without(&table, &unused);
    }
    table = without_odd(call, table, &asked)?;
    if call.flag("drop-unlabelled") {
        table = labelled(call, table, &asked.targets);
    }
    let mut dropped = None;
    if call.text("impute") == Some("drop-rows") || infers(call, learner) {
        let rows = table.values().nrows();
        table = without_missing(call, table);
        dropped = Some((rows - table.values().nrows()) as u64);
    }
    let mut parts = learnt_io::to_dataset(table, &asked.roles())?;
    parts.notes.iter().for_each(|note| call.say(note));
    parts.data.x = in_volume(call, parts.data.x)?;
    if call.text("volume").is_none() {
        warn_of_giveaways(call, &parts.data);
    }
    Ok(Supervised {
        data: parts.data,
        targets: parts.targets,
        name: input.name,
        digest: input.digest,
        dropped,
    })
}

/// Whether a formula is for tests and intervals, so that rows with missing values are left out as in R: the
/// learner has no penalty, and nothing says how missing values are filled.
pub(crate) fn infers(call: &Call, learner: Option<&str>) -> bool {
    let asked = call.text("formula").is_some() && call.text("impute") == Some("auto");
    asked
        && !call.flag("no-prepare")
        && learner.is_some_and(|name| learner::is_for_inference(call, name))
}

/// A word about columns that alone predict the target.
fn warn_of_giveaways(call: &Call, data: &OwnedDataset) {
    let found = learnt::prepare::giveaways(&data.view());
    let name = |column: usize| data.x.schema().column(column).name.as_str();
    let Some(first) = found.first() else { return };
    let shown: Vec<String> = found
        .iter()
        .take(3)
        .map(|one| format!("'{}' ({:.1}%)", plain(name(one.column)), 100.0 * one.share))
        .collect();
    let more =
        if found.len() > 3 { format!(" and {} more", found.len() - 3) } else { String::new() };
    let (column, verb) =
        if found.len() == 1 { ("column", "predicts") } else { ("columns", "predict") };
    let message = format!(
        "the {column} {}{more} alone {verb} the target almost perfectly: made from it, or known only after it? --ignore {} leaves one out",
        shown.join(", "),
        shell(name(first.column))
    );
    call.run.warn(Code::Target, message);
}

/// The volume that `--volume` says the columns are.
pub(crate) fn volume(call: &Call) -> Result<Option<Volume>> {
    call.text("volume").map(Volume::parse).transpose()
}

/// The inputs as the cells of a volume, with `--volume`.
fn in_volume(call: &Call, table: Table) -> Result<Table> {
    let Some(volume) = volume(call)? else { return Ok(table) };
    let (values, schema) = table.into_parts();
    Table::new(values, schema.with_volume(volume)?)
}

/// Refuses volumes and notes groups that a learner has no use for.
pub(crate) fn check_uses(call: &Call, learner: &dyn AnyEstimator) -> Result<()> {
    let (accepts, name) = (learner.any_accepts(), learner.about().command());
    if call.text("volume").is_some() && !accepts.volumes {
        return Err(Error::unsupported(format!("{name} takes tables and no images"))
            .hint("leave out --volume: the cells are columns like others"));
    }
    if call.text("group").is_some() && !accepts.groups {
        call.say(&format!(
            "note: {name} makes no folds of its own, so --group leaves only its column out"
        ));
    }
    Ok(())
}

/// The table without the column that names sequences, and the offsets of those.
pub(crate) fn without_sequence(
    table: Table,
    column: Option<&str>,
) -> Result<(Table, Option<Vec<usize>>)> {
    if column.is_none() {
        return Ok((table, None));
    }
    let roles = ColumnRoles { sequence: column, ..ColumnRoles::default() };
    let data = learnt_io::to_dataset(table, &roles)?.data;
    Ok((data.x, data.sequences))
}

/// The rows that have their targets, and a word about the others.
fn labelled(call: &Call, table: Table, targets: &[String]) -> Table {
    let places: Vec<usize> =
        targets.iter().filter_map(|name| table.schema().position(name)).collect();
    let known = |i: &usize| places.iter().all(|&j| !table.values()[(*i, j)].is_nan());
    let rows = table.values().nrows();
    let kept: Vec<usize> = (0..rows).filter(known).collect();
    if kept.len() == rows {
        return table;
    }
    call.say(&format!("dropped {} of {rows} rows without a target", rows - kept.len()));
    table.frame().gather(&kept)
}

/// The rows without a missing value, and a word about the others.
fn without_missing(call: &Call, table: Table) -> Table {
    let whole = |i: &usize| table.values().row(*i).iter().all(|value| !value.is_nan());
    let rows = table.values().nrows();
    let kept: Vec<usize> = (0..rows).filter(whole).collect();
    if kept.len() == rows {
        return table;
    }
    let holes = |j: &usize| (0..rows).any(|i| table.values()[(i, *j)].is_nan());
    let names: Vec<String> = (0..table.schema().len())
        .filter(holes)
        .map(|j| plain(&table.schema().column(j).name))
        .collect();
    let shown = names.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
    let more = if names.len() > 5 { ", …" } else { "" };
    call.say(&format!(
        "dropped {} of {rows} rows with missing values ({shown}{more}); --impute median fills them instead",
        rows - kept.len()
    ));
    table.frame().gather(&kept)
}

/// The rows that a model whose training left out rows with missing values can be asked about, by the columns
/// that it needs, and its target where that is asked for: the table and the numbers of its rows. All rows for
/// other models.
pub(crate) fn complete_rows(
    call: &Call,
    trained: &Trained,
    table: Table,
    with_target: bool,
) -> (Table, Option<Vec<usize>>) {
    if trained.history.missing != Missing::Skip {
        return (table, None);
    }
    let targets = trained.history.targets.iter().map(String::as_str).filter(|_| with_target);
    let needed = trained.history.schema.names().chain(targets);
    let places: Vec<usize> = needed.filter_map(|name| table.schema().position(name)).collect();
    let rows = table.values().nrows();
    let whole = |i: &usize| places.iter().all(|&j| !table.values()[(*i, j)].is_nan());
    let kept: Vec<usize> = (0..rows).filter(whole).collect();
    if kept.len() == rows {
        return (table, None);
    }
    call.say(&format!("left out {} of {rows} rows with missing values", rows - kept.len()));
    (table.frame().gather(&kept), Some(kept))
}

/// The table with a column once more under another name.
pub(crate) fn with_copy(table: Table, column: &str, name: &str) -> Result<Table> {
    let at = table.schema().find(column)?;
    let width = table.schema().len();
    let mut columns = table.schema().columns().to_vec();
    columns.push(Column { name: name.to_string(), ..columns[at].clone() });
    let values = learnt::data::Matrix::from_fn(table.values().nrows(), width + 1, |i, j| {
        table.values()[(i, if j < width { j } else { at })]
    });
    Table::new(values, Schema::new(columns)?)
}

fn no_target(schema: &Schema, formula: Option<&str>) -> Error {
    let last = schema.names().last().unwrap_or_default();
    let error = Error::new(Code::Target, "no target column is named");
    match formula {
        Some(_) => error.hint("a formula has the target before ~, as in 'price ~ size + rooms'"),
        None => error.hint(format!("add -t COLUMN, for example -t {}", shell(last))),
    }
}
