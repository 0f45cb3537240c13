//! Column names: neither empty nor twice.

use crate::options::ReadOptions;
use learnt_core::error::{Code, Error, Result, plain};
use std::collections::{BTreeMap, BTreeSet};

/// Names for columns without: x0, x1, ...
pub(crate) fn unnamed(count: usize) -> Vec<String> {
    (0..count).map(|j| format!("x{j}")).collect()
}

/// The names as they are if none is empty or repeated; numbered if that was asked for.
pub(crate) fn check_names(
    names: Vec<String>,
    options: &ReadOptions,
    notes: &mut Vec<String>,
) -> Result<Vec<String>> {
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (j, name) in names.iter().enumerate() {
        places.entry(name).or_default().push(j + 1);
    }
    let bad: Vec<String> = places
        .iter()
        .filter(|(name, places)| name.is_empty() || places.len() > 1)
        .map(|(name, places)| format!("'{}' (columns {})", plain(name), shown(places)))
        .collect();
    if bad.is_empty() {
        return Ok(names);
    }
    let message =
        format!("empty or repeated column names: {}", bad[..bad.len().min(10)].join(", "));
    if !options.dedupe_names {
        return Err(Error::new(Code::Names, message).hint("--dedupe-names numbers them"));
    }
    notes.push(format!("{message}; they were numbered"));
    Ok(numbered(names))
}

fn shown(places: &[usize]) -> String {
    let mut texts: Vec<String> = places.iter().take(5).map(usize::to_string).collect();
    if places.len() > 5 {
        texts.push("...".to_string());
    }
    texts.join(" and ")
}

/// Every name once: `a`, `a_2`, `a_3`; an empty one is `column_` and its number.
fn numbered(names: Vec<String>) -> Vec<String> {
    let mut taken: BTreeSet<String> = names.iter().cloned().collect();
    let mut seen = BTreeSet::new();
    let mut next: BTreeMap<String, usize> = BTreeMap::new();
    let rename = |(j, name): (usize, String)| {
        if !name.is_empty() && seen.insert(name.clone()) {
            return name;
        }
        let stem = if name.is_empty() { "column".to_string() } else { name };
        let number = next.entry(stem.clone()).or_insert(if stem == "column" { j + 1 } else { 2 });
        loop {
            let candidate = format!("{stem}_{number}");
            *number += 1;
            if taken.insert(candidate.clone()) {
                return candidate;
            }
        }
    };
    names.into_iter().enumerate().map(rename).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_and_empty_names_are_listed_or_numbered() {
        let names = || ["a", "", "a", "a_2", "a"].map(String::from).to_vec();
        let mut notes = Vec::new();
        let error = check_names(names(), &ReadOptions::default(), &mut notes).unwrap_err();
        assert_eq!(error.code(), Code::Names);
        assert!(error.message().contains("'a' (columns 1 and 3 and 5)"), "{error}");
        let options = ReadOptions { dedupe_names: true, ..ReadOptions::default() };
        let fixed = check_names(names(), &options, &mut notes).unwrap();
        assert_eq!(fixed, ["a", "column_2", "a_3", "a_2", "a_4"]);
        assert_eq!(notes.len(), 1);
    }
}
