//! Folders of `crates/learnt/src` use each other only where the table in ARCHITECTURE.md says so, and
//! never in a circle. Code of tests is free. Each folder is a feature of the crate, which needs the features that
//! the table says, so that every choice of features compiles.

use super::{Source, name_at, text_of};
use std::collections::{BTreeMap, BTreeSet};

const LIBRARY: &str = "crates/learnt/src/";
const PAGE: &str = "ARCHITECTURE.md";
const MANIFEST: &str = "crates/learnt/Cargo.toml";
/// The folder that is part of every build.
const ALWAYS: &str = "baseline";
/// How the table begins.
const HEAD: &str = "| from | to | why |";

type Edge = (String, String);

/// Compares the edges of the sources with those of the table.
pub(super) fn check(sources: &[Source]) -> Vec<String> {
    let declared = declared(text_of(sources, PAGE));
    if declared.is_empty() {
        return vec![format!("{PAGE}: no table of edges between folders: `{HEAD}`")];
    }
    let found = found(sources);
    let mut problems: Vec<String> = found
        .iter()
        .filter(|(edge, _)| !declared.contains(*edge))
        .map(|((from, to), place)| format!("{place}: {from} uses {to}, which {PAGE} does not name"))
        .collect();
    let unused = declared.iter().filter(|edge| !found.contains_key(*edge));
    problems.extend(unused.map(|(from, to)| format!("{PAGE}: {from} does not use {to} any more")));
    problems.extend(features(text_of(sources, MANIFEST), &folders(sources), &declared));
    let all: BTreeSet<Edge> = found.into_keys().collect();
    if let Some(circle) = circle(&all) {
        problems.push(format!("folders use each other in a circle: {}", circle.join(" → ")));
    }
    problems
}

/// The rows of the table.
fn declared(page: &str) -> BTreeSet<Edge> {
    let rows = page.lines().skip_while(|line| *line != HEAD).skip(2);
    let row = |line: &str| {
        let mut cells = line.split('|').map(str::trim).skip(1);
        Some((cells.next()?.to_string(), cells.next()?.to_string()))
    };
    rows.take_while(|line| line.starts_with('|')).filter_map(row).collect()
}

/// The folders of the library.
fn folders(sources: &[Source]) -> BTreeSet<String> {
    let paths = sources.iter().filter_map(|source| source.path.strip_prefix(LIBRARY));
    paths.filter_map(|path| Some(path.split_once('/')?.0.to_string())).collect()
}

/// Features that do not need what their folders use, or that are missing.
fn features(manifest: &str, folders: &BTreeSet<String>, edges: &BTreeSet<Edge>) -> Vec<String> {
    let own = folders.iter().filter(|folder| *folder != ALWAYS);
    own.filter_map(|folder| {
        let used = edges.iter().filter(|(from, _)| from == folder).map(|(_, to)| to.as_str());
        let names: Vec<String> =
            used.filter(|to| *to != ALWAYS).map(|to| format!("\"{to}\"")).collect();
        let line = format!("{folder} = [{}]", names.join(", "));
        let there = manifest.lines().any(|found| found == line)
            && manifest.lines().any(|found| found == format!("  \"{folder}\","));
        (!there).then(|| format!("{MANIFEST}: the features want `{line}`, and its name in `full`"))
    })
    .collect()
}

/// Every edge between two folders, with the place where it was seen first.
fn found(sources: &[Source]) -> BTreeMap<Edge, String> {
    let library: Vec<(&Source, Vec<&str>)> = sources
        .iter()
        .filter(|source| source.path.ends_with(".rs") && !is_test_file(source, sources))
        .filter_map(|source| {
            Some((source, source.path.strip_prefix(LIBRARY)?.split('/').collect()))
        })
        .collect();
    let folders: BTreeSet<&str> =
        library.iter().filter(|(_, parts)| parts.len() > 1).map(|(_, parts)| parts[0]).collect();
    let mut out = BTreeMap::new();
    for (source, parts) in &library {
        if !folders.contains(parts[0]) {
            continue;
        }
        // `super` repeated this often is the root of the crate.
        let depth = parts.len() - usize::from(parts.last() == Some(&"mod.rs"));
        let root = "super::".repeat(depth);
        let code = without_tests(&source.text);
        for used in names_after(&code, "crate::").into_iter().chain(names_after(&code, &root)) {
            if folders.contains(used.as_str()) && used != parts[0] {
                out.entry((parts[0].to_string(), used)).or_insert_with(|| source.path.clone());
            }
        }
    }
    out
}

/// Whether the file is a module that another declares for tests only.
fn is_test_file(source: &Source, sources: &[Source]) -> bool {
    let Some((folder, file)) = source.path.rsplit_once('/') else { return false };
    let line = format!("#[cfg(test)]\nmod {};", file.trim_end_matches(".rs"));
    sources.iter().any(|other| {
        other.path.rsplit_once('/').is_some_and(|(at, _)| at == folder)
            && other.text.contains(&line)
    })
}

/// The code before the module of tests, without comments.
fn without_tests(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let code = text[..end].lines().map(|line| line.split("//").next().unwrap_or(""));
    code.collect::<Vec<_>>().join("\n")
}

/// The names that follow a prefix: one, or the first of each path inside braces.
fn names_after(code: &str, prefix: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (at, _) in code.match_indices(prefix) {
        let before = code[..at].chars().next_back().unwrap_or(' ');
        if super::in_name(before) || before == ':' || before == '$' {
            continue;
        }
        let rest = &code[at + prefix.len()..];
        match rest.strip_prefix('{') {
            None => out.push(name_at(rest).to_string()),
            Some(group) => out.extend(first_names(group)),
        }
    }
    out
}

/// The first name of each path of a group such as `{a::B, c::{D, E}}`.
fn first_names(group: &str) -> Vec<String> {
    let mut depth = 0;
    let mut out = vec![String::new()];
    for c in group.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => out.push(String::new()),
            c => out.last_mut().into_iter().for_each(|name| name.push(c)),
        }
    }
    out.iter().map(|path| name_at(path.trim()).to_string()).collect()
}

/// A circle among the edges, as the folders along it.
fn circle(edges: &BTreeSet<Edge>) -> Option<Vec<String>> {
    let starts: BTreeSet<&String> = edges.iter().map(|(from, _)| from).collect();
    starts.into_iter().find_map(|start| way(edges, vec![start.clone()]))
}

/// A way along the edges from the last folder back to the first.
fn way(edges: &BTreeSet<Edge>, path: Vec<String>) -> Option<Vec<String>> {
    let (first, last) = (path.first()?, path.last()?);
    edges.iter().filter(|(from, _)| from == last).find_map(|(_, to)| {
        let longer = [path.as_slice(), std::slice::from_ref(to)].concat();
        match (to == first, path.contains(to)) {
            (true, _) => Some(longer),
            (false, true) => None,
            (false, false) => way(edges, longer),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::files;
    use super::*;

    const TABLE: &str = "| from | to | why |\n|---|---|---|\n| linear | select | folds |\n";

    const FEATURES: &str = "full = [\n  \"linear\",\n  \"select\",\n  \"tree\",\n]\nlinear = [\"select\"]\nselect = []\ntree = []\n";

    fn problems(page: &str, linear: &str, select: &str) -> Vec<String> {
        problems_with(FEATURES, page, linear, select)
    }

    fn problems_with(features: &str, page: &str, linear: &str, select: &str) -> Vec<String> {
        check(&files(&[
            ("ARCHITECTURE.md", page),
            ("crates/learnt/Cargo.toml", features),
            ("crates/learnt/src/linear/ridge.rs", linear),
            ("crates/learnt/src/select/mod.rs", select),
            ("crates/learnt/src/tree/mod.rs", ""),
        ]))
    }

    #[test]
    fn declared_edges_and_edges_of_tests_are_fine() {
        let linear = "use crate::select::Splitter;\n// crate::tree\n#[cfg(test)]\nmod tests {\n    use crate::tree::Tree;\n}\n";
        assert_eq!(problems(TABLE, linear, "use super::prelude;"), Vec::<String>::new());
    }

    #[test]
    fn an_edge_that_is_not_declared_is_refused_however_it_is_written() {
        for used in [
            "use crate::tree::Tree;",
            "use crate::{error, tree::Tree};",
            "super::super::tree::grow()",
        ] {
            let found = problems(TABLE, &format!("use crate::select::Splitter;\n{used}"), "");
            assert_eq!(found.len(), 1, "{used}: {found:?}");
            assert!(found[0].contains("linear uses tree"), "{found:?}");
        }
    }

    #[test]
    fn a_declared_edge_that_is_gone_is_refused() {
        assert_eq!(
            problems(TABLE, "", ""),
            ["ARCHITECTURE.md: linear does not use select any more"]
        );
    }

    #[test]
    fn a_circle_is_refused_even_if_it_is_declared() {
        let page = format!("{TABLE}| select | linear | no reason |\n");
        let features = FEATURES.replace("select = []", "select = [\"linear\"]");
        let found =
            problems_with(&features, &page, "use crate::select::A;", "use crate::linear::B;");
        assert_eq!(found, ["folders use each other in a circle: linear → select → linear"]);
    }

    #[test]
    fn a_feature_that_lacks_what_its_folder_uses_is_refused() {
        for (from, to) in [("linear = [\"select\"]", "linear = []"), ("  \"tree\",\n", "")] {
            let features = FEATURES.replace(from, to);
            let found = problems_with(&features, TABLE, "use crate::select::Splitter;", "");
            assert_eq!(found.len(), 1, "{found:?}");
        }
    }

    #[test]
    fn a_page_without_the_table_is_refused() {
        assert_eq!(problems("", "", "").len(), 1);
    }
}
