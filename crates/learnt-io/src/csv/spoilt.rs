//! What made a column text although most of its values are numbers, and what to say so that they are read.

use super::infer::is_missing;
use super::number::{NumberStyle, WIDE_SPACES, measured};
use crate::options::{ReadOptions, TypeRule};
use learnt_core::error::{plain, shell};
use std::borrow::Cow;

fn is_digits(field: &str) -> bool {
    let field = field.trim_ascii();
    !field.is_empty() && field.bytes().all(|byte| byte.is_ascii_digit())
}

/// Says which word made a column text where most values are numbers.
pub(super) fn note_spoilt(
    rows: &[Vec<Cow<'_, str>>],
    names: &[String],
    numeric: &[bool],
    style: NumberStyle,
    options: &ReadOptions,
    notes: &mut Vec<String>,
) {
    for (j, name) in names.iter().enumerate().filter(|&(j, _)| !numeric[j]) {
        if options.skips(name) || options.rule(name).is_some_and(|rule| *rule != TypeRule::Numeric)
        {
            continue;
        }
        let known = |field: &&Cow<'_, str>| !is_missing(field, options);
        let fields = || rows.iter().filter_map(|row| row.get(j)).filter(known);
        let comma = NumberStyle { decimal_comma: true, ..style };
        let grouped =
            |field: &str| field.contains(['.', ' ', '\'', '_']) || field.contains(WIDE_SPACES);
        let both = fields().any(|field| field.contains(',') && grouped(field.trim()));
        // Decimal commas that were found must be said as soon as a mark is.
        let said =
            if style.decimal_comma && !options.decimal_comma { "--decimal-comma " } else { "" };
        let marked = thousands_mark(fields(), style).map(|found| (found, said));
        let commas = || thousands_mark(fields(), comma).map(|found| (found, "--decimal-comma "));
        if let Some(((mark, example), more)) = marked.or_else(|| both.then(commas).flatten()) {
            let (name, example) = (plain(name), plain(example));
            notes.push(format!(
                "{name}: read as text because of the thousands separators in '{example}'; {more}--thousands '{mark}' reads numbers"
            ));
            continue;
        }
        if let Some((example, more)) = unit_of(fields(), style) {
            let what = if measured(example).is_signed_behind() { "sign" } else { "unit" };
            let (shown, example, word) = (plain(name), plain(example), shell(name));
            notes.push(format!(
                "{shown}: read as text because of the {what} in '{example}'; --type {word}=unit{more} reads numbers"
            ));
            continue;
        }
        let zeros = |field: &&Cow<'_, str>| field.trim_ascii().starts_with('0') && field.len() > 1;
        if let Some(code) = fields().find(zeros).filter(|_| fields().all(|f| is_digits(f))) {
            let (name, code) = (plain(name), plain(code));
            notes.push(format!(
                "{name}: codes with leading zeros, such as '{code}', are categories and keep their zeros"
            ));
            continue;
        }
        note_words(name, fields(), style, notes);
    }
}

/// Says which words made a column text where most values are numbers.
fn note_words<'a>(
    name: &str,
    fields: impl Iterator<Item = &'a Cow<'a, str>> + Clone,
    style: NumberStyle,
    notes: &mut Vec<String>,
) {
    const FEW: usize = 4;
    let is_number = |field: &&Cow<'_, str>| style.parse(field).is_some();
    let numbers = fields.clone().filter(is_number).count();
    let all = fields.clone().count();
    let mut words: Vec<&str> = Vec::new();
    for word in fields.filter(|field| !is_number(field)) {
        if words.len() < FEW && !words.contains(&word.trim()) {
            words.push(word.trim());
        }
    }
    // Words without letters and digits, and those of spreadsheets, stand for nothing.
    let empty = |word: &&str| word.starts_with('#') || !word.contains(char::is_alphanumeric);
    let hollow = words.len() < FEW && words.iter().all(empty) && 2 * numbers >= all;
    if numbers == 0 || words.is_empty() || !hollow && 10 * numbers < 9 * all {
        return;
    }
    let shown = if words.len() < FEW { &words[..] } else { &words[..1] };
    let quoted: Vec<String> = shown.iter().map(|word| format!("'{}'", plain(word))).collect();
    let (name, list) = (plain(name), quoted.join(", "));
    let commas = shown.iter().any(|word| word.contains(','));
    let na = match commas {
        true => {
            shown.iter().map(|word| format!("--na {}", shell(word))).collect::<Vec<_>>().join(" ")
        }
        false => format!("--na '{}'", plain(&shown.join(","))),
    };
    notes.push(format!(
        "{name}: read as text because of {list}; {na} or --type {name}=num to change"
    ));
}

/// A text with a unit, if all of these texts are numbers with the same unit, and what else must be said so
/// that they are read.
fn unit_of<'a>(
    mut fields: impl Iterator<Item = &'a Cow<'a, str>> + Clone,
    style: NumberStyle,
) -> Option<(&'a str, &'static str)> {
    const LONGEST: usize = 8;
    let around = |field: &'a str| measured(field).unit();
    let all = fields.clone();
    let signed = |field: &&'a Cow<'a, str>| measured(field).is_signed_behind();
    let first = fields.next()?.as_ref();
    let unit = around(first);
    let money = |text: &str| text.is_empty() || ["$", "€", "£", "¥", "USD", "EUR"].contains(&text);
    let marked = all.clone().find(signed);
    let fits = (unit != ("", "") || marked.is_some())
        && money(unit.0)
        && unit.1.chars().count() <= LONGEST;
    if !fits || !all.clone().all(|field| around(field) == unit) {
        return None;
    }
    let comma = NumberStyle { decimal_comma: true, thousands: Some(b'.') };
    let grouped = NumberStyle { thousands: Some(b','), ..style };
    let styles =
        [(style, ""), (grouped, " --thousands ,"), (comma, " --decimal-comma --thousands .")];
    let reads =
        |style: NumberStyle| all.clone().all(|field| measured(field).number(style).is_some());
    let example = if unit == ("", "") { marked.map_or(first, AsRef::as_ref) } else { first };
    styles.into_iter().find(|(style, _)| reads(*style)).map(|(_, more)| (example, more))
}

/// The mark between groups of three digits that makes all of these texts numbers, and a text with it.
fn thousands_mark<'a>(
    fields: impl Iterator<Item = &'a Cow<'a, str>> + Clone,
    style: NumberStyle,
) -> Option<(char, &'a str)> {
    let point = if style.decimal_comma { ',' } else { '.' };
    let marks = [',', '.', '\'', '_', ' '].into_iter().filter(|&mark| mark != point);
    marks.into_iter().find_map(|mark| {
        let grouped = NumberStyle { thousands: Some(mark as u8), ..style };
        let has = |field: &&Cow<'a, str>| {
            let inside = field.trim();
            inside.contains(mark) || mark == ' ' && inside.contains(WIDE_SPACES)
        };
        let example = fields.clone().find(has)?;
        let all = fields.clone().all(|field| grouped.parse(field).is_some());
        all.then(|| (mark, example.as_ref()))
    })
}
