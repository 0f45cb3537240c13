//! What the columns of a table are by their looks: identifiers, free text, dates and constants, which are
//! no inputs as they are, and codes, which are no quantities.
//!
//! A constant has at most one value. A date is a column of texts that are all dates in one order, or of whole
//! numbers that are all dates written as yyyymmdd. Free text has many words to a value (three on average) and
//! more than half of its values differ. An identifier is a column of texts nearly all of which differ, or of
//! different whole numbers that count rows (consecutive, unless a name such as `year` says that they measure
//! time) or whose name says so (`customer_id`). Small tables show no identifiers: they need fifty rows. Whole
//! numbers of such a name that come again and again (`store_id`) are codes.

use learnt_core::data::wording::{says_identifier, says_time};
use learnt_core::dates;
use learnt_core::error::{plain, shell};
use learnt_core::prelude::*;
use std::collections::BTreeMap;
use std::fmt;

/// What a column is by its looks.
#[derive(Clone, Debug, PartialEq)]
pub enum Look {
    /// A quantity or a category.
    Ordinary,
    /// At most one value.
    Constant,
    /// A name or number for each row.
    Identifier {
        /// Different values.
        distinct: usize,
        /// Values that are known.
        known: usize,
    },
    /// Whole numbers that name things, several rows each.
    Code {
        /// Different values.
        distinct: usize,
    },
    /// Sentences.
    Text {
        /// Mean number of words.
        words: f64,
    },
    /// Dates or times.
    Date {
        /// The first, as it is written.
        first: String,
        /// The last.
        last: String,
    },
}

impl Look {
    /// Whether a learner has a use for the column as it is.
    pub fn is_ordinary(&self) -> bool {
        *self == Look::Ordinary
    }

    /// One word.
    pub fn word(&self) -> &'static str {
        match self {
            Look::Ordinary => "",
            Look::Constant => "constant",
            Look::Identifier { .. } => "identifier",
            Look::Code { .. } => "code",
            Look::Text { .. } => "free text",
            Look::Date { .. } => "date",
        }
    }
}

impl fmt::Display for Look {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Look::Ordinary => write!(f, "an ordinary column"),
            Look::Constant => write!(f, "constant"),
            Look::Identifier { distinct, known } => {
                write!(f, "an identifier ({distinct} different values in {known} rows)")
            }
            Look::Code { distinct } => write!(f, "a code ({distinct} different whole numbers)"),
            Look::Text { words } => write!(f, "free text ({words:.0} words on average)"),
            Look::Date { first, last } => write!(f, "a date ({first} to {last})"),
        }
    }
}

/// Rows that a table must have before a column is called an identifier or free text.
const ENOUGH: usize = 50;
/// Share of different values from which texts are identifiers.
const NEARLY_ALL: f64 = 0.95;
/// Words to a value from which texts are sentences.
const SENTENCE: f64 = 3.0;

/// What each column of a table looks like.
pub fn looks(x: &Frame) -> Vec<Look> {
    (0..x.ncols()).map(|j| look(x.schema().column(j), &x.values().column(j))).collect()
}

/// What one column looks like.
pub fn look(column: &Column, values: &[f64]) -> Look {
    match column.levels() {
        Some(levels) => look_of_levels(levels, values),
        None => look_of_numbers(&column.name, values),
    }
}

fn look_of_levels(levels: &[String], values: &[f64]) -> Look {
    let mut seen = vec![false; levels.len()];
    let mut known = 0;
    for &value in values.iter().filter(|value| !value.is_nan()) {
        if let Some(flag) = seen.get_mut(value as usize) {
            *flag = true;
            known += 1;
        }
    }
    let texts = levels.iter().zip(&seen).filter(|(_, seen)| **seen);
    look_of_texts(texts.map(|(text, _)| text.as_str()), known)
}

/// What a column of so many known texts looks like, of which these are the different ones.
pub fn look_of_texts<'a>(texts: impl Iterator<Item = &'a str> + Clone, known: usize) -> Look {
    let distinct = texts.clone().count();
    if distinct <= 1 {
        return Look::Constant;
    }
    if let Some(look) = look_of_dates(texts.clone()) {
        return look;
    }
    let share = distinct as f64 / known as f64;
    let words: usize = texts.map(|text| text.split_whitespace().count()).sum();
    let words = words as f64 / distinct as f64;
    if known < ENOUGH || share <= 0.5 {
        Look::Ordinary
    } else if words >= SENTENCE {
        Look::Text { words }
    } else if share >= NEARLY_ALL {
        Look::Identifier { distinct, known }
    } else {
        Look::Ordinary
    }
}

fn look_of_dates<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Option<Look> {
    let order = dates::order_of(texts.clone())?;
    let key = |text: &&str| dates::parse(text, order).unwrap_or(f64::NAN);
    let first = texts.clone().min_by(|a, b| key(a).total_cmp(&key(b)))?;
    let last = texts.max_by(|a, b| key(a).total_cmp(&key(b)))?;
    Some(Look::Date { first: first.to_string(), last: last.to_string() })
}

/// What is untidy about the levels of a column, if anything is, and what to say to the command: two that differ in
/// capitals or spaces alone, or dates written in more than one way.
pub fn untidy(name: &str, levels: &[String]) -> Option<String> {
    let word = shell(name);
    let mut known: BTreeMap<String, &str> = BTreeMap::new();
    for level in levels {
        let words: Vec<String> = level.split_whitespace().map(str::to_lowercase).collect();
        if let Some(other) = known.insert(words.join(" "), level) {
            let (a, b) = (plain(other), plain(level));
            return Some(format!(
                "'{a}' and '{b}' differ in capitals or spaces alone, and are two levels; --type {word}=tidy makes them one"
            ));
        }
    }
    let ordered = |text: &String| dates::order_of(std::iter::once(text.as_str()));
    let orders = levels.iter().map(ordered).collect::<Option<Vec<_>>>()?;
    dates::order_of(levels.iter().map(String::as_str)).is_none().then_some(())?;
    let other = orders.iter().position(|order| *order != orders[0])?;
    let (a, b) = (plain(&levels[0]), plain(&levels[other]));
    Some(format!(
        "dates are written in several ways, such as '{a}' and '{b}', and are taken as categories; --type {word}=dmy (day first) or {word}=mdy reads them, then --date {word}=year,month uses them"
    ))
}

/// A number of nines, below or above all others, that probably stands for a missing value, and how often it is met.
pub fn stand_in(values: &[f64]) -> Option<(f64, usize)> {
    const NINES: [f64; 4] = [99.0, 999.0, 9999.0, 99_999.0];
    let known = || values.iter().copied().filter(|value| !value.is_nan());
    let low = known().fold(f64::INFINITY, f64::min);
    let high = known().fold(f64::NEG_INFINITY, f64::max);
    let ends = [low, high].into_iter().filter(|end| NINES.contains(&end.abs()));
    ends.into_iter().find_map(|end| {
        let others = || known().filter(|value| *value != end);
        let least = others().fold(f64::INFINITY, f64::min);
        let most = others().fold(f64::NEG_INFINITY, f64::max);
        let gap = if end == low { least - end } else { end - most };
        let count = known().filter(|value| *value == end).count();
        (count > 1 && most > least && gap > 2.0 * (most - least)).then_some((end, count))
    })
}

fn look_of_numbers(name: &str, values: &[f64]) -> Look {
    let known = || values.iter().copied().filter(|value| !value.is_nan());
    let count = known().count();
    let low = known().fold(f64::INFINITY, f64::min);
    let high = known().fold(f64::NEG_INFINITY, f64::max);
    if count == 0 || low == high {
        return Look::Constant;
    }
    let whole = |value: f64| value.fract() == 0.0 && value.abs() < 9e15;
    if count < ENOUGH || !known().all(whole) {
        return Look::Ordinary;
    }
    if known().all(|value| written_date(value).is_some()) {
        return Look::Date { first: low.to_string(), last: high.to_string() };
    }
    let counts_rows = high - low < 1.02 * count as f64 && !says_time(name);
    if !counts_rows && !says_identifier(name) {
        return Look::Ordinary;
    }
    let mut sorted: Vec<f64> = known().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.dedup();
    let distinct = sorted.len();
    let nearly_all = distinct as f64 >= NEARLY_ALL * count as f64;
    match (says_identifier(name), nearly_all, counts_rows && distinct == count) {
        (true, true, _) | (_, _, true) => Look::Identifier { distinct, known: count },
        (true, false, false) if low >= 0.0 => Look::Code { distinct },
        _ => Look::Ordinary,
    }
}

/// The days of a number written as yyyymmdd, from 1900 to 2100.
pub(super) fn written_date(value: f64) -> Option<i64> {
    let number = (19_000_101.0..=21_001_231.0).contains(&value).then_some(value as i64)?;
    dates::to_days(number / 10_000, (number / 100 % 100) as u32, (number % 100) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datasets::generate::{Churn, Housing};

    fn found(x: &Table) -> Vec<(String, &'static str)> {
        let looks = looks(&x.frame());
        let names = x.schema().names().map(ToString::to_string);
        names.zip(looks.iter().map(Look::word)).filter(|(_, word)| !word.is_empty()).collect()
    }

    #[test]
    fn customers_and_houses_have_the_columns_that_are_no_inputs() {
        let run = Context::default();
        let churn = Churn::default().call((), &run).unwrap();
        let names: Vec<(String, &str)> = found(&churn.x);
        let wanted = [
            ("customerID", "identifier"),
            ("Country", "constant"),
            ("SignupDate", "date"),
            ("LastContact", "date"),
            ("Note", "free text"),
        ];
        assert_eq!(names, wanted.map(|(name, word)| (name.to_string(), word)));
        let housing = Housing::default().call((), &run).unwrap();
        let wanted = [("Id", "identifier"), ("SaleDate", "date")];
        assert_eq!(found(&housing.x), wanted.map(|(name, word)| (name.to_string(), word)));
    }

    #[test]
    fn levels_that_differ_in_capitals_or_spaces_and_dates_of_several_kinds_are_untidy() {
        let said = |levels: &[&str]| {
            untidy("a b", &levels.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        let cities = said(&["Lyon", "Paris", "paris "]).unwrap();
        assert!(cities.starts_with("'Paris' and 'paris '"), "{cities}");
        assert!(cities.contains("--type 'a b'=tidy"), "{cities}");
        assert!(said(&["a  b", "A b"]).is_some());
        let dates = said(&["2020-01-02", "2020-05-06", "03/04/2021"]).unwrap();
        assert!(dates.contains("'2020-01-02' and '03/04/2021'"), "{dates}");
        assert!(dates.contains("--type 'a b'=dmy"), "{dates}");
        assert_eq!(said(&["a b", "ab", "2020-01-02"]), None);
        assert_eq!(said(&["13/04/2021", "03/04/2021"]), None);
        assert_eq!(said(&[]), None);
    }

    #[test]
    fn nines_far_from_all_others_stand_for_missing_values() {
        assert_eq!(stand_in(&[1.0, 4.0, -999.0, 2.0, f64::NAN, -999.0]), Some((-999.0, 2)));
        assert_eq!(stand_in(&[1.0, 9999.0, 2.0, 9999.0]), Some((9999.0, 2)));
        assert_eq!(stand_in(&[1.0, 4.0, -999.0, 2.0]), None);
        assert_eq!(stand_in(&[600.0, 999.0, 999.0, 20.0]), None);
        assert_eq!(stand_in(&[999.0, 999.0, f64::NAN]), None);
        assert_eq!(stand_in(&[]), None);
    }

    #[test]
    fn bundled_sets_of_courses_have_none() {
        for set in crate::datasets::BUNDLED {
            let found = found(&set.load().unwrap().x);
            let constants = found.iter().all(|(_, word)| *word == "constant");
            assert!(constants, "{}: {found:?}", set.name);
        }
    }

    #[test]
    fn whole_numbers_are_identifiers_by_name_or_by_counting() {
        let running: Vec<f64> = (0..100).map(f64::from).collect();
        let word = |name: &str, values: &[f64]| look(&Column::numeric(name), values).word();
        assert_eq!(word("row", &running), "identifier");
        assert_eq!(word("year", &running), "");
        assert_eq!(word("row", &running[..40]), "");
        let spread: Vec<f64> = (0..100).map(|i| f64::from(i * 37 % 9973)).collect();
        assert_eq!(word("area", &spread), "");
        assert_eq!(word("accountId", &spread), "identifier");
        assert_eq!(word("bid", &spread), "");
        let again: Vec<f64> = (0..100).map(|i| f64::from(i % 12)).collect();
        assert_eq!(word("store_id", &again), "code");
        assert_eq!(word("rooms", &again), "");
        assert_eq!(word("index", &again.iter().map(|x| x - 5.0).collect::<Vec<_>>()), "");
        let dates: Vec<f64> = (0..100).map(|i| f64::from(20_240_101 + i % 28)).collect();
        assert_eq!(word("day", &dates), "date");
        assert_eq!(word("nothing", &[f64::NAN; 3]), "constant");
    }
}
