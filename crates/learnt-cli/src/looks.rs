//! Columns that are no inputs by their looks, and what is said about them and about untidy ones.

use crate::commands::Call;
use crate::input::ColumnChoice;
use crate::learner;
use learnt::data::wording::says_postal_code;
use learnt::data::{Column, ColumnKind, Schema, Table};
use learnt::dates::order_of;
use learnt::error::{Result, plain, shell};
use learnt::prepare::{Formula, Look, Side};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Whether the arguments use a column whatever it looks like: --keep, --type or the formula name it.
fn is_kept(call: &Call, name: &str) -> bool {
    let kept = call.texts("keep");
    // What is only written anew is still what it looks like.
    let settles = |kind: &str| !["tidy", "dmy", "mdy"].contains(&kind);
    let of_name =
        |pair: &String| pair.rsplit_once('=').is_some_and(|(c, k)| c == name && settles(k));
    let typed = call.texts("type").iter().any(of_name);
    let terms = call.text("formula").and_then(|formula| Side::split(formula).ok());
    let words = terms.and_then(|side| Formula::words(side.terms).ok()).unwrap_or_default();
    let formula = words.iter().any(|word| word == name);
    let read = learner::Read::of(call).is_ok_and(|read| read.columns().iter().any(|c| c == name));
    formula || read || typed || kept.iter().any(|word| word == name || word == "all")
}

/// The columns that are no inputs by their looks, each with a sentence; none if no other would be left.
fn odd_columns(
    call: &Call,
    schema: &Schema,
    asked: &ColumnChoice,
    look: impl Fn(usize) -> Look,
) -> Result<Vec<String>> {
    let read = learner::Read::of(call)?.columns();
    for name in call.texts("keep").iter().chain(&read).filter(|name| *name != "all") {
        schema.find(name)?;
    }
    let others = [asked.weight, asked.group, asked.sequence];
    let input =
        |name: &str| asked.targets.iter().all(|t| t != name) && !others.contains(&Some(name));
    let inputs: Vec<usize> = (0..schema.len()).filter(|&j| input(&schema.column(j).name)).collect();
    let mut found = Vec::new();
    for &j in &inputs {
        let (name, look) = (&schema.column(j).name, look(j));
        let input = matches!(look, Look::Ordinary | Look::Code { .. });
        if !input && !is_kept(call, name) {
            found.push((name.clone(), look));
        }
    }
    if found.len() == inputs.len() {
        return Ok(Vec::new());
    }
    let constant: Vec<&str> = found
        .iter()
        .filter(|(_, look)| *look == Look::Constant)
        .map(|(name, _)| name.as_str())
        .collect();
    let many = constant.len() > 5;
    for (name, look) in found.iter().filter(|(_, look)| !many || *look != Look::Constant) {
        say_left_out(call, name, look);
    }
    if many {
        let shown: Vec<String> = constant.iter().take(3).map(|name| plain(name)).collect();
        let count = constant.len();
        call.say(&format!("left out: {count} columns are constant: {}, …", shown.join(", ")));
    }
    Ok(found.into_iter().map(|(name, _)| name).collect())
}

/// The sentence about a column that is left out, and how to use it.
fn say_left_out(call: &Call, name: &str, look: &Look) {
    let (shown, word) = (plain(name), shell(name));
    let other = match look {
        Look::Date { .. } => format!("; --date {word}=year,month uses it"),
        Look::Text { .. } => format!("; --text {word}=hash:64 uses it"),
        Look::Identifier { .. } => format!("; --keep {word} uses it"),
        Look::Constant | Look::Ordinary | Look::Code { .. } => String::new(),
    };
    call.say(&format!("left out: {shown} is {look}{other}"));
}

/// The table without columns that are no inputs by their looks.
pub(crate) fn without_odd(call: &Call, table: Table, asked: &ColumnChoice) -> Result<Table> {
    if call.text("volume").is_some() || call.flag("no-prepare") {
        return Ok(table);
    }
    let frame = table.frame();
    let look =
        |j: usize| learnt::prepare::look(frame.schema().column(j), &frame.values().column(j));
    let odd = odd_columns(call, table.schema(), asked, look)?;
    say_days(call, &table, look)?;
    let others = [asked.weight, asked.group, asked.sequence];
    let is_input =
        |name: &String| !asked.targets.contains(name) && !others.contains(&Some(name.as_str()));
    let codes: Vec<usize> = (0..table.schema().len())
        .filter(|&j| is_input(&table.schema().column(j).name))
        .filter(|&j| !is_kept(call, &table.schema().column(j).name))
        .filter(|&j| matches!(look(j), Look::Code { .. }))
        .collect();
    for &j in &codes {
        let (name, found) = (&table.schema().column(j).name, look(j));
        let (shown, word) = (plain(name), shell(name));
        call.say(&format!("as categories: {shown} is {found}; --keep {word} takes it as a number"));
    }
    let shown = |name: &String| !odd.contains(name) && !others.contains(&Some(name.as_str()));
    let columns = (0..table.schema().len()).filter(|&j| shown(&table.schema().column(j).name));
    say_untidy(call, columns.map(|j| (table.schema().column(j), frame.values().column(j))));
    let table = if codes.is_empty() { table } else { with_levels(table, &codes)? };
    if odd.is_empty() {
        return Ok(table);
    }
    Ok(without(&table, &odd))
}

/// What --date makes of numbers that are not written as dates.
fn say_days(call: &Call, table: &Table, look: impl Fn(usize) -> Look) -> Result<()> {
    for (name, _) in learner::Read::of(call)?.dates {
        let j = table.schema().find(&name)?;
        if table.schema().column(j).levels().is_some() || matches!(look(j), Look::Date { .. }) {
            continue;
        }
        let values = table.values().column(j);
        // Others are refused by the encoder.
        let known = || values.iter().copied().filter(|value| value.abs() < 2e6);
        if known().next().is_none() {
            continue;
        }
        let day = |days: f64| {
            let (year, month, day) = learnt::dates::from_days(days.floor() as i64);
            format!("{year:04}-{month:02}-{day:02}")
        };
        let first = day(known().fold(f64::INFINITY, f64::min));
        let last = day(known().fold(f64::NEG_INFINITY, f64::max));
        let shown = plain(&name);
        call.say(&format!(
            "note: {shown}: numbers are taken as days after 1970-01-01, here {first} to {last}"
        ));
    }
    Ok(())
}

/// Sentences about columns that may not be what they are taken for, a few of many.
pub(crate) fn say_untidy<'a>(call: &Call, columns: impl Iterator<Item = (&'a Column, Vec<f64>)>) {
    const MOST: usize = 8;
    let lines: Vec<String> =
        columns.filter_map(|(column, values)| untidy(call, column, &values)).collect();
    lines.iter().take(MOST).for_each(|line| call.say(line));
    if lines.len() > MOST {
        call.say(&format!("note: the same of {} more columns", lines.len() - MOST));
    }
}

/// A sentence about a column that may not be what it is taken for.
fn untidy(call: &Call, column: &Column, values: &[f64]) -> Option<String> {
    let (shown, word) = (plain(&column.name), shell(&column.name));
    match column.levels() {
        Some(levels) => {
            let own = learnt::prepare::untidy(&column.name, levels);
            let what = own.or_else(|| nearly_dates(&column.name, levels))?;
            Some(format!("note: {shown}: {what}"))
        }
        None if says_postal_code(&column.name) && !is_kept(call, &column.name) => {
            let other = format!("--type {word}=cat takes it as categories");
            Some(format!("as a number: {shown} is a postal code by its name; {other}"))
        }
        None => {
            let (value, count) = learnt::prepare::stand_in(values)?;
            let what = format!("{count} values are {value}, far from all others");
            Some(format!("note: {shown}: {what}; --na {value} takes them as missing"))
        }
    }
}

/// What is said of dates among which a few other words stand.
fn nearly_dates(name: &str, levels: &[String]) -> Option<String> {
    const MOST: usize = 3;
    const FEWEST_DATES: usize = 10;
    let is_date = |level: &&String| order_of(std::iter::once(level.as_str())).is_some();
    let others: Vec<&String> =
        levels.iter().filter(|level| !is_date(level)).take(MOST + 1).collect();
    if others.is_empty() || others.len() > MOST || levels.len() < FEWEST_DATES + others.len() {
        return None;
    }
    let dates = levels.iter().filter(|level| !others.contains(level)).map(String::as_str);
    order_of(dates)?;
    let words: Vec<&str> = others.iter().map(|word| word.as_str()).collect();
    let (shown, tokens, word) = (plain(&words.join("', '")), shell(&words.join(",")), shell(name));
    Some(format!(
        "all values are dates but '{shown}', and they are taken as categories; --na {tokens} reads that as missing, then --date {word}=year,month uses the dates"
    ))
}

/// The table without the columns of these names, of which there may be many.
pub(crate) fn without(table: &Table, names: &[String]) -> Table {
    let names: BTreeSet<&String> = names.iter().collect();
    let kept =
        (0..table.schema().len()).filter(|&j| !names.contains(&table.schema().column(j).name));
    table.frame().select(&kept.collect::<Vec<_>>())
}

/// The table with the whole numbers of some columns as categories.
fn with_levels(table: Table, places: &[usize]) -> Result<Table> {
    let (mut values, schema) = table.into_parts();
    let mut columns = schema.columns().to_vec();
    for &j in places {
        let mut numbers: Vec<f64> = values.view().column(j);
        numbers.retain(|value| !value.is_nan());
        numbers.sort_unstable_by(f64::total_cmp);
        numbers.dedup();
        for i in 0..values.nrows() {
            let value = values[(i, j)];
            if let Ok(code) = numbers.binary_search_by(|number| number.total_cmp(&value)) {
                values[(i, j)] = code as f64;
            }
        }
        let levels = Arc::new(numbers.iter().map(ToString::to_string).collect());
        columns[j].kind = ColumnKind::Categorical { levels, ordered: false };
    }
    Table::new(values, Schema::new(columns)?)
}

/// The columns of a file in blocks that are no inputs by their looks: texts only.
pub(crate) fn odd_of_stream(
    call: &Call,
    source: &learnt_io::FileSource,
    asked: &ColumnChoice,
) -> Result<Vec<String>> {
    use learnt::rounds::Source;
    if call.text("volume").is_some() || call.flag("no-prepare") {
        return Ok(Vec::new());
    }
    let (outline, report) = (source.outline(), source.report());
    let look = |j: usize| {
        let column = outline.schema.column(j);
        let missing =
            report.columns.iter().find(|c| c.name == column.name).map_or(0, |c| c.missing);
        let known = outline.rows.saturating_sub(missing) as usize;
        match column.levels() {
            Some(levels) => {
                learnt::prepare::look_of_texts(levels.iter().map(String::as_str), known)
            }
            None => Look::Ordinary,
        }
    };
    let names = outline.schema.columns().iter().filter(|column| column.levels().is_none());
    for name in names.map(|column| &column.name) {
        if learnt::data::wording::says_identifier(name) && !is_kept(call, name) {
            let (shown, word) = (plain(name), shell(name));
            call.say(&format!(
                "note: {shown} is a number that names things: --type {word}=cat makes categories, --ignore {word} leaves it out"
            ));
        }
    }
    let odd = odd_columns(call, outline.schema, asked, look)?;
    let others = [asked.weight, asked.group, asked.sequence];
    let shown = |c: &&Column| !odd.contains(&c.name) && !others.contains(&Some(c.name.as_str()));
    let columns = outline.schema.columns().iter().filter(shown);
    say_untidy(call, columns.map(|column| (column, Vec::new())));
    Ok(odd)
}
