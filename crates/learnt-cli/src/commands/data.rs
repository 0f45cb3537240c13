//! `learnt describe`, `dataset` and `convert`, and the rows that `make` draws.

use super::{Call, READING, ROLES};
use crate::ExitCode;
use crate::input;
use crate::looks;
use crate::output::{print, print_as_is, print_json};
use crate::place;
use learnt::answer::{Cell, Columns, Datum, finite, number};
use learnt::data::{Column, Matrix, OwnedDataset, OwnedTarget, Schema, Table};
use learnt::error::{Error, Result, shell};
use learnt::prepare::Look;
use learnt::stats::summary;
use learnt_io::{Format, WriteOptions};
use serde_json::{Value as Json, json};
use std::path::Path;

/// How many columns a table for people shows.
const SHOWN: usize = 30;

pub(crate) fn describe(call: &Call) -> Result<ExitCode> {
    let mut options = input::options(call)?;
    options.allow_empty = true;
    let input = input::read_with(call, &options)?;
    if let Some(target) = call.text("target") {
        input.table.schema().find(target)?;
    }
    let own = input.default_target.as_deref();
    let own = own.filter(|target| input.table.schema().position(target).is_some());
    let target = call.text("target").or(own);
    let table = &input.table;
    call.run.claim(32 * table.values().nrows() as u64, "the sorted values of a column")?;
    let columns: Vec<Described> =
        (0..table.schema().len()).map(|j| describe_column(table, j)).collect();
    let ordinary = (0..columns.len()).filter(|&j| columns[j].look.is_ordinary());
    let of_table = |j: usize| (table.schema().column(j), table.values().view().column(j));
    looks::say_untidy(call, ordinary.map(of_table));
    let (rows, width) = (table.values().nrows(), table.schema().len());
    if call.json {
        let columns: Vec<Json> = columns.iter().map(|c| c.json(target)).collect();
        let payload = json!({
            "data": { "path": input.name, "rows": rows, "digest": input.digest }, "columns": columns,
            "notes": notes(table, &columns_missing(table)),
        });
        print_json("describe", None, payload);
        return Ok(ExitCode::SUCCESS);
    }
    let limit = if call.flag("all") { width } else { SHOWN };
    let shown: Vec<&Described> = columns
        .iter()
        .filter(|c| columns.len() <= limit || Some(c.name.as_str()) != target)
        .take(limit)
        .chain(columns.iter().filter(|c| width > limit && Some(c.name.as_str()) == target))
        .collect();
    let out = table_of(&shown, target, call.line_width());
    print(&format!("{}  {rows} rows x {width} columns\n\n{}", input.name, call.fitted(&out)));
    if out.columns.len() < HEADS.len() {
        let (some, all) = (out.columns.len(), HEADS.len());
        print(&format!(" {some} of {all} summary columns shown; --all\n"));
    }
    if width > limit {
        print(&format!(" {limit} of {width} columns shown; --all\n"));
    }
    for note in notes(table, &columns_missing(table)) {
        print(&format!(" {note}\n"));
    }
    if let Some(target) = target {
        let (data, target) = (shell(&input.name), shell(target));
        let options = [READING, ROLES].map(|names| call.repeated(names)).concat();
        call.next(&format!("learnt compare {data} -t {target}{options}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// What a table for people shows of each column.
const HEADS: [&str; 13] = [
    "column", "type", "missing", "distinct", "mean", "sd", "min", "25%", "median", "75%", "max",
    "picture", "note",
];

/// What is shown of it, from wide lines to short ones. Notes come with each.
const LAYOUTS: [&[usize]; 7] = [
    &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
    &[0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12],
    &[0, 1, 2, 4, 5, 6, 8, 10, 11, 12],
    &[0, 1, 2, 4, 5, 8, 11, 12],
    &[0, 1, 2, 4, 11, 12],
    &[0, 1, 2, 11, 12],
    &[0, 1, 2, 12],
];

/// Characters of a note that are worth more than another number.
const NOTE: usize = 24;

/// The widest table in which notes still have room.
fn table_of(columns: &[&Described], target: Option<&str>, line_width: usize) -> Columns {
    let rows: Vec<Vec<Cell>> = columns.iter().map(|column| column.cells(target)).collect();
    let of = |layout: &[usize]| {
        let mut out = Columns::new("", &layout.iter().map(|&k| HEADS[k]).collect::<Vec<_>>());
        for cells in &rows {
            out.push(layout.iter().map(|&k| cells[k].clone()).collect());
        }
        out
    };
    let width = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let has_room = |layout: &&[usize]| {
        let numbers = of(&layout[..layout.len() - 1]).to_text();
        width(&of(layout).to_text()).min(width(&numbers) + 2 + NOTE) <= line_width
    };
    let least = LAYOUTS[LAYOUTS.len() - 1];
    of(LAYOUTS.into_iter().find(has_room).unwrap_or(least))
}

/// What is said about a column.
struct Described {
    name: String,
    kind: String,
    missing: usize,
    distinct: usize,
    /// Mean, standard deviation, smallest, lower quartile, median, upper quartile, largest.
    summary: Option<[f64; 7]>,
    common: Vec<(String, usize)>,
    look: Look,
    /// A histogram of numbers, or the shares of the commonest levels.
    picture: String,
}

/// Bars of a small picture.
const BARS: usize = 8;

/// Counts as bars of one line: the largest is the highest.
fn bars(counts: &[usize]) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let height = |count: usize| HEIGHTS[(count * (HEIGHTS.len() - 1)).div_ceil(most)];
    counts.iter().map(|&count| if count == 0 { ' ' } else { height(count) }).collect()
}

/// How many of the sorted numbers lie in each of equal ranges.
fn histogram(sorted: &[f64]) -> Vec<usize> {
    let (Some(&low), Some(&high)) = (sorted.first(), sorted.last()) else { return Vec::new() };
    let width = high - low;
    let mut counts = vec![0; BARS];
    for &x in sorted {
        let place = if width > 0.0 { (x - low) / width * BARS as f64 } else { 0.0 };
        counts[(place as usize).min(BARS - 1)] += 1;
    }
    counts
}

fn describe_column(table: &Table, j: usize) -> Described {
    let column = table.schema().column(j);
    let values: Vec<f64> = table.values().view().column(j);
    let known: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
    let mut sorted = known.clone();
    sorted.sort_by(f64::total_cmp);
    let mut distinct = sorted.clone();
    distinct.dedup();
    let mut described = Described {
        name: column.name.clone(),
        kind: "num".to_string(),
        missing: values.len() - known.len(),
        distinct: distinct.len(),
        summary: None,
        common: Vec::new(),
        look: learnt::prepare::look(column, &values),
        picture: String::new(),
    };
    match column.levels() {
        Some(levels) => {
            described.kind = format!("cat({})", levels.len());
            let mut counts: Vec<(String, usize)> =
                levels.iter().map(|level| (level.clone(), 0)).collect();
            for v in known {
                if let Some(count) = counts.get_mut(v as usize) {
                    count.1 += 1;
                }
            }
            counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            if matches!(described.look, Look::Ordinary) {
                let largest: Vec<usize> =
                    counts.iter().take(BARS).map(|(_, count)| *count).collect();
                described.picture = bars(&largest);
            }
            described.common = counts;
        }
        None => {
            if !sorted.is_empty() {
                described.picture = bars(&histogram(&sorted));
                let at = |p| summary::sorted_quantile(&sorted, p).unwrap_or(f64::NAN);
                let mean = summary::mean(&sorted, None).unwrap_or(f64::NAN);
                let sd = summary::sd(&sorted, None, 1.0).unwrap_or(f64::NAN);
                described.summary = Some([mean, sd, at(0.0), at(0.25), at(0.5), at(0.75), at(1.0)]);
            }
        }
    }
    described
}

impl Described {
    fn cells(&self, target: Option<&str>) -> Vec<Cell> {
        let at =
            |k: usize| self.summary.map_or(Cell::Text(String::new()), |s| Cell::Text(number(s[k])));
        let mut note = Vec::new();
        if target == Some(self.name.as_str()) {
            note.push("target".to_string());
        }
        if !self.look.is_ordinary() && target != Some(self.name.as_str()) {
            note.push(self.look.to_string());
        }
        let levels = matches!(self.look, Look::Ordinary | Look::Constant | Look::Code { .. });
        if levels && !self.common.is_empty() {
            let shown = self.common.iter().take(4).map(|(level, count)| format!("{level} {count}"));
            let more = if self.common.len() > 4 { ", …" } else { "" };
            note.push(format!("{}{more}", shown.collect::<Vec<_>>().join(", ")));
        }
        let mut cells = vec![
            Cell::Text(self.name.clone()),
            Cell::Text(self.kind.clone()),
            Cell::Count(self.missing as i64),
            Cell::Count(self.distinct as i64),
        ];
        cells.extend((0..7).map(at));
        cells.push(Cell::Text(self.picture.clone()));
        cells.push(Cell::Text(note.join("; ")));
        cells
    }

    fn json(&self, target: Option<&str>) -> Json {
        let at = |k: usize| self.summary.map_or(Json::Null, |s| finite(s[k]));
        let levels: Vec<Json> = self
            .common
            .iter()
            .take(100)
            .map(|(level, count)| json!({ "level": level, "count": count }))
            .collect();
        json!({
            "name": self.name, "type": self.kind, "missing": self.missing, "distinct": self.distinct,
            "mean": at(0), "sd": at(1), "min": at(2), "lower_quartile": at(3), "median": at(4),
            "upper_quartile": at(5), "max": at(6), "levels": levels, "look": self.look.word(), "picture": self.picture, "target": target == Some(self.name.as_str()),
        })
    }
}

fn columns_missing(table: &Table) -> Vec<usize> {
    let values = table.values().view();
    (0..table.schema().len())
        .map(|j| (0..values.nrows()).filter(|&i| values.at(i, j).is_nan()).count())
        .collect()
}

/// What stands out in the whole table.
fn notes(table: &Table, missing: &[usize]) -> Vec<String> {
    let mut notes = Vec::new();
    let cells: usize = missing.iter().sum();
    let columns = missing.iter().filter(|&&count| count > 0).count();
    notes.push(match cells {
        0 => "no missing cells".to_string(),
        _ => format!("{cells} missing cells in {columns} columns"),
    });
    let numeric: Vec<usize> = (0..table.schema().len())
        .filter(|&j| table.schema().column(j).levels().is_none() && missing[j] == 0)
        .collect();
    if numeric.len() <= 60 && table.values().nrows() <= 100_000 {
        let columns: Vec<Vec<f64>> = numeric.iter().map(|&j| table.values().column(j)).collect();
        let mut strong = Vec::new();
        for a in 0..columns.len() {
            for b in 0..a {
                if let Some(r) =
                    summary::correlation(&columns[a], &columns[b], None).filter(|r| r.abs() > 0.9)
                {
                    strong.push((r, numeric[b], numeric[a]));
                }
            }
        }
        strong.sort_by(|x, y| y.0.abs().total_cmp(&x.0.abs()));
        if let Some(&(r, a, b)) = strong.first() {
            let name = |j: usize| learnt::error::plain(&table.schema().column(j).name);
            let more = match strong.len() {
                1 => String::new(),
                count => format!("; {count} pairs above 0.9"),
            };
            notes.push(format!("{} and {} correlate {r:.3}{more}", name(a), name(b)));
        }
    }
    notes
}

pub(crate) fn dataset(call: &Call) -> Result<ExitCode> {
    let Some(name) = call.text("name") else {
        let sets = learnt::datasets::BUNDLED;
        if call.json {
            let sets: Vec<Json> = sets
                .iter()
                .map(|set| json!({ "name": set.name, "rows": set.rows, "columns": set.columns, "target": set.target, "task": set.task.name(), "source": set.source, "licence": set.licence }))
                .collect();
            print_json("dataset", None, json!({ "datasets": sets }));
            return Ok(ExitCode::SUCCESS);
        }
        let mut table =
            Columns::new("", &["name", "rows", "columns", "task", "target", "source", "licence"]);
        for set in sets {
            table.push(vec![
                set.name.into(),
                Cell::Count(set.rows as i64),
                Cell::Count(set.columns as i64),
                set.task.name().into(),
                set.target.unwrap_or("").into(),
                set.source.into(),
                set.licence.into(),
            ]);
        }
        print(&call.fitted(&table));
        return Ok(ExitCode::SUCCESS);
    };
    let set = learnt::datasets::describe(name)?;
    match call.text("out") {
        Some(path) if path != "-" => {
            let options = learnt_io::ReadOptions::default();
            let loaded = learnt_io::read_bytes(set.name, set.text.as_bytes(), &options, &call.run)?;
            place::table(call, path, &loaded.table, &WriteOptions::default())?;
        }
        _ => print_as_is(set.text),
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes drawn rows as one table.
pub(crate) fn write_drawn(
    call: &Call,
    name: &str,
    data: OwnedDataset,
    target: Option<&str>,
    more: &[(String, Datum)],
) -> Result<ExitCode> {
    let mut table = whole(data, target)?;
    for (name, datum) in more {
        if let Datum::Reals(values) = datum {
            let (before, schema) = table.into_parts();
            let mut columns = schema.columns().to_vec();
            columns.push(Column::numeric(name));
            let width = before.ncols();
            let cell = |i: usize, j: usize| if j < width { before[(i, j)] } else { values[i] };
            let after = Matrix::from_fn(before.nrows(), width + 1, cell);
            table = Table::new(after, Schema::new(columns)?)?;
        }
    }
    call.say(&format!("{name}  {} rows  seed {}", table.values().nrows(), call.run.seed()));
    place::table(call, call.text("out").unwrap_or("-"), &table, &WriteOptions::default())?;
    Ok(ExitCode::SUCCESS)
}

/// Inputs and target as one table; a single target may have a name of its own.
fn whole(data: OwnedDataset, target: Option<&str>) -> Result<Table> {
    let (x, schema) = data.x.into_parts();
    let mut columns = schema.columns().to_vec();
    let targets = match data.y {
        None => Matrix::zeros(x.nrows(), 0),
        Some(OwnedTarget::Real(y)) => {
            let name = |j: usize| match y.ncols() {
                1 => target.unwrap_or("y").to_string(),
                _ => format!("y{j}"),
            };
            columns.extend((0..y.ncols()).map(|j| Column::numeric(name(j))));
            y
        }
        Some(OwnedTarget::Class { codes, classes }) => {
            columns.push(Column::categorical(
                target.unwrap_or("class"),
                classes.iter().map(ToString::to_string).collect(),
            ));
            Matrix::column_vector(codes.into_iter().map(f64::from).collect())
        }
    };
    let width = x.ncols();
    let values = Matrix::from_fn(x.nrows(), columns.len(), |i, j| {
        if j < width { x[(i, j)] } else { targets[(i, j - width)] }
    });
    Table::new(values, Schema::new(columns)?)
}

pub(crate) fn convert(call: &Call) -> Result<ExitCode> {
    let mut options = input::options(call)?;
    options.allow_empty = true;
    let input = input::read_with(call, &options)?;
    let to = call.text("to-path").unwrap_or_default();
    let format = call.text("to").map(Format::parse).transpose()?;
    if format.is_none() && to == "-" {
        return Err(Error::parameter("--to", "given when writing to standard output", "nothing")
            .hint("add --to csv"));
    }
    if format.is_none() && Format::of_path(Path::new(to)).is_none() {
        return Err(Error::unknown("file format", to, Format::ALL.iter().map(|f| f.name()))
            .hint("add --to FORMAT"));
    }
    place::table(call, to, &input.table, &WriteOptions { format, ..WriteOptions::default() })?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_show_the_shape_and_nothing_where_nothing_is() {
        assert_eq!(bars(&[1, 0, 8, 4]), "▂ █▅");
        assert_eq!(histogram(&[0.0, 1.0, 1.0, 8.0]), [1, 2, 0, 0, 0, 0, 0, 1]);
        assert_eq!(histogram(&[3.0, 3.0]), [2, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(histogram(&[f64::NEG_INFINITY, 1.0]).iter().sum::<usize>(), 2);
    }
}
