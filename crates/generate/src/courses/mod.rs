//! `docs/courses.md`: what courses teach, and where it is on each surface, from `docs/courses.txt`.
//!
//! A name that does not exist is refused, so the page cannot promise what is not there.

mod names;
mod table;

use names::{Called, Names};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use table::{Item, Module, Row};

use crate::MARK;

/// The table that the page is made from.
const TABLE: &str = "docs/courses.txt";

/// The page; an error lists every name that does not exist.
pub(super) fn page(root: &Path, generated: &BTreeMap<PathBuf, String>) -> Result<String, String> {
    let text = fs::read_to_string(root.join(TABLE)).map_err(|error| format!("{TABLE}: {error}"))?;
    let modules = table::parse(&text).map_err(|error| format!("{TABLE}:\n{error}"))?;
    let names = Names::read(root, generated);
    let mut wrong = Vec::new();
    let mut sections = String::new();
    let mut counts = Vec::new();
    for module in &modules {
        let rows: Vec<Found> =
            module.rows.iter().map(|row| find(row, &names, &mut wrong)).collect();
        counts.push((module, Count::of(&rows)));
        sections += &section(module, &rows);
    }
    match wrong.is_empty() {
        true => Ok(head(&counts) + &sections),
        false => Err(format!("{TABLE}:\n{}", wrong.join("\n"))),
    }
}

/// A capability with what it is called.
struct Found<'a> {
    row: &'a Row,
    called: Vec<Called>,
}

impl Found<'_> {
    /// Whether something gives all of it on this surface.
    fn is_on(&self, surface: fn(&Called) -> &String) -> bool {
        self.row.missing.is_empty() && self.called.iter().any(|called| !surface(called).is_empty())
    }

    /// Whether the command is left out because a function of the user is needed.
    fn takes_a_function(&self) -> bool {
        self.row.given_by.contains(&Item::Callable)
    }

    fn cell(&self, surface: fn(&Called) -> &String) -> String {
        let mut names: Vec<&str> = Vec::new();
        for name in self.called.iter().map(|called| surface(called).as_str()) {
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        }
        names.join(", ")
    }
}

fn find<'a>(row: &'a Row, names: &Names, wrong: &mut Vec<String>) -> Found<'a> {
    let mut called = Vec::new();
    for item in &row.given_by {
        match names.called(item) {
            Ok(found) => called.push(found),
            Err(message) => wrong.push(format!("line {}: {message}", row.line)),
        }
    }
    for test in row.tests.iter().filter(|test| !names.has_test(test)) {
        wrong.push(format!("line {}: no test '{test}'", row.line));
    }
    Found { row, called }
}

/// How many capabilities are how far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Count {
    rows: usize,
    everywhere: usize,
    by_function: usize,
    rust: usize,
    partly: usize,
    not_yet: usize,
}

impl Count {
    fn of(rows: &[Found]) -> Count {
        let count = |holds: &dyn Fn(&Found) -> bool| rows.iter().filter(|row| holds(row)).count();
        let both = |row: &Found| row.is_on(|c| &c.rust) && row.is_on(|c| &c.python);
        Count {
            rows: rows.len(),
            everywhere: count(&|row| both(row) && row.is_on(|c| &c.command)),
            by_function: count(&|row| {
                both(row) && !row.is_on(|c| &c.command) && row.takes_a_function()
            }),
            rust: count(&|row| row.is_on(|c| &c.rust)),
            partly: count(&|row| !row.row.missing.is_empty()),
            not_yet: count(&|row| row.called.is_empty()),
        }
    }

    fn plus(self, other: Count) -> Count {
        Count {
            rows: self.rows + other.rows,
            everywhere: self.everywhere + other.everywhere,
            by_function: self.by_function + other.by_function,
            rust: self.rust + other.rust,
            partly: self.partly + other.partly,
            not_yet: self.not_yet + other.not_yet,
        }
    }

    fn cells(self) -> String {
        let Count { rows, everywhere, by_function, rust, partly, not_yet } = self;
        format!("{rows} | {everywhere} | {by_function} | {rust} | {partly} | {not_yet}")
    }
}

fn head(counts: &[(&Module, Count)]) -> String {
    let total = counts.iter().fold(Count::default(), |sum, (_, count)| sum.plus(*count));
    let mut out = format!(
        "<!-- {MARK} -->\n# Courses\n\n\
         What courses on machine learning teach, and where it is: in the command, in Python and in Rust,\n\
         with the test that checks it. {} capabilities: {} on all three surfaces, {} more in Rust and Python\n\
         because they take a function of your own, {} wholly in Rust, {} partly there, {} not yet.\n\n\
         Commands that fit a learner need data after its name (`learnt fit ridge my.csv -t price`); MODEL is\n\
         a file that such a command wrote. Python's names lead to the reference.\n\n",
        total.rows, total.everywhere, total.by_function, total.rust, total.partly, total.not_yet,
    );
    out += "| module | capabilities | on all three | Rust and Python | wholly in Rust | partly | not yet |\n";
    out += "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    for (module, count) in counts {
        let name = &module.name;
        let _ = writeln!(out, "| [{name}](#{name}): {} | {} |", module.title, count.cells());
    }
    let _ = writeln!(out, "| all | {} |", total.cells());
    out
}

fn section(module: &Module, rows: &[Found]) -> String {
    let mut out = format!("\n## {}\n\n", module.name);
    out += "| capability | command | Python | Rust | test |\n| --- | --- | --- | --- | --- |\n";
    for found in rows {
        let name = match found.row.missing.as_str() {
            "" => found.row.name.clone(),
            missing => format!("{} (still missing: {missing})", found.row.name),
        };
        if found.called.is_empty() {
            let _ = writeln!(out, "| {name} | not yet | not yet | not yet | |");
            continue;
        }
        let or = |cell: String, other: &str| if cell.is_empty() { other.to_string() } else { cell };
        let command = match found.takes_a_function() {
            true => "takes a function of yours",
            false => "not yet",
        };
        let tests: Vec<String> = found.row.tests.iter().map(|test| format!("`{test}`")).collect();
        let _ = writeln!(
            out,
            "| {name} | {} | {} | {} | {} |",
            or(found.cell(|c| &c.command), command),
            or(found.cell(|c| &c.python), "not yet"),
            or(found.cell(|c| &c.rust), "not yet"),
            tests.join(", "),
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value as Json;

    #[test]
    fn the_table_holds_every_capability_and_only_names_that_exist() {
        let root = crate::root();
        let text = fs::read_to_string(root.join(TABLE)).unwrap();
        let modules = table::parse(&text).unwrap();
        let sizes: Vec<(&str, usize)> =
            modules.iter().map(|module| (module.name.as_str(), module.rows.len())).collect();
        let expected = [
            ("data", 32),
            ("linear", 48),
            ("kernel", 22),
            ("neighbors", 29),
            ("bayes", 16),
            ("tree", 35),
            ("ensemble", 33),
            ("neural", 29),
            ("smooth", 30),
            ("sequence", 27),
            ("reduce", 15),
            ("cluster", 40),
            ("rules", 10),
            ("metrics", 35),
            ("select", 34),
            ("theory", 18),
            ("optimize", 14),
            ("core", 4),
        ];
        assert_eq!(sizes, expected);
        assert_eq!(page(&root, &BTreeMap::new()).err(), None);
    }

    /// A case that waits says which capability it needs; once that is there, the case is to be tested.
    #[test]
    fn every_reference_case_is_tested_or_waits_for_a_capability() {
        let root = crate::root();
        let modules = table::parse(&fs::read_to_string(root.join(TABLE)).unwrap()).unwrap();
        let names = Names::read(&root, &BTreeMap::new());
        let is_there = |name: &str| {
            let mut rows = modules.iter().flat_map(|module| &module.rows);
            let row = rows.find(|row| row.name == name);
            row.map(|row| !row.given_by.is_empty() && row.missing.is_empty())
        };
        for (file, case) in reference_cases(&root) {
            let id = case["id"].as_str().unwrap();
            let waits = case["not_yet"].as_array().cloned().unwrap_or_default();
            for wait in &waits {
                let needs = wait["needs"].as_str().unwrap();
                assert_eq!(is_there(needs), Some(false), "{file} {id} waits for '{needs}'");
            }
            let waits_wholly = waits.iter().any(|wait| wait["expect"].is_null());
            assert!(waits_wholly || names.is_quoted(id), "{file}: no test names '{id}'");
        }
    }

    fn reference_cases(root: &Path) -> Vec<(String, Json)> {
        let mut out = Vec::new();
        for entry in fs::read_dir(root.join("tests").join("golden")).unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".json") {
                let text = fs::read_to_string(entry.path()).unwrap();
                let cases: Json = serde_json::from_str(&text).unwrap();
                let cases = cases.as_array().into_iter().flatten();
                out.extend(cases.map(|case| (name.clone(), case.clone())));
            }
        }
        out
    }

    #[test]
    fn rows_are_counted_by_how_far_they_are() {
        let text = "[a] b\neverywhere | linear_model.Ridge | t::t\nrust | rust:x | t::t\n\
                    partly | linear_model.Ridge | t::t | more\nmine | callable | t::t\nnot yet";
        let modules = table::parse(text).unwrap();
        let (everywhere, rust) = (called("r", "c", "p"), called("r", "", ""));
        let given = [
            vec![everywhere],
            vec![rust],
            vec![called("r", "c", "p")],
            vec![called("r", "", "p")],
            vec![],
        ];
        let rows: Vec<Found> =
            modules[0].rows.iter().zip(given).map(|(row, called)| Found { row, called }).collect();
        let expected =
            Count { rows: 5, everywhere: 1, by_function: 1, rust: 3, partly: 1, not_yet: 1 };
        assert_eq!(Count::of(&rows), expected);
    }

    fn called(rust: &str, command: &str, python: &str) -> Called {
        Called { rust: rust.into(), command: command.into(), python: python.into() }
    }
}
