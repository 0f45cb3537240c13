//! Dates as people write them, and as days after the first of January 1970 in the Gregorian calendar.
//!
//! Year, month and day with `-`, `/` or `.` between them, the year first or last, or with the English name of the
//! month, and a time of day behind a space or a `T`: `2024-07-01`, `1.7.2024`, `07/01/2024 14:30`, `1 Jul 2024`,
//! `July 1, 2024 2:30 PM`, `2024-07-01T14:30:05Z`. Whether the day or the month stands first is told by all texts
//! of a column together. Calendar days after the algorithms of E. G. Richards, Calendars (2013), in the form of
//! eras of 400 years.

/// The order of the parts of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Year, month, day.
    YearFirst,
    /// Day, month, year.
    DayFirst,
    /// Month, day, year.
    MonthFirst,
}

/// Days in an era of 400 years.
const ERA: i64 = 146_097;
/// Days from the first of March of the year 0 to the first of January 1970.
const SHIFT: i64 = 719_468;

/// Year, month from 1 and day from 1 of a number of days after 1970-01-01.
pub fn from_days(days: i64) -> (i64, u32, u32) {
    let shifted = days + SHIFT;
    let (era, day) = (shifted.div_euclid(ERA), shifted.rem_euclid(ERA));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month as u32, day as u32)
}

/// Days after 1970-01-01, if there is such a date.
pub fn to_days(year: i64, month: u32, day: u32) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || year.abs() > 9999 {
        return None;
    }
    let (month, day) = (i64::from(month), i64::from(day));
    let shifted = year - i64::from(month <= 2);
    let (era, of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year - SHIFT;
    (from_days(days) == (year, month as u32, day as u32)).then_some(days)
}

/// The day of the week, 0 for Monday to 6 for Sunday.
pub fn weekday(days: i64) -> u32 {
    (days + 3).rem_euclid(7) as u32
}

/// Days with their fraction after 1970-01-01, if the text is a date in this order.
pub fn parse(text: &str, order: Order) -> Option<f64> {
    let (days, time) = divided(text.trim(), order)?;
    Some(days as f64 + time_of_day(time.trim_start_matches(['T', ',']).trim())?)
}

/// A date in this order with its year first, `2024-07-01`, and its time of day as it was written.
pub fn year_first(text: &str, order: Order) -> Option<String> {
    let text = text.trim();
    parse(text, order)?;
    let (days, time) = divided(text, order)?;
    let (year, month, day) = from_days(days);
    Some(format!("{year:04}-{month:02}-{day:02}{}", time.trim_start_matches(',')))
}

/// The day after 1970-01-01, and what stands behind the date.
fn divided(text: &str, order: Order) -> Option<(i64, &str)> {
    let (date, time) = text.split_at(text.find(['T', ' ']).unwrap_or(text.len()));
    match in_digits(date, order) {
        Some(days) => Some((days, time)),
        None => with_month_name(text, order),
    }
}

/// `2024-07-01`, `1.7.2024` or `07/01/2024`: one mark between the parts.
fn in_digits(date: &str, order: Order) -> Option<i64> {
    let mark = date.find(['-', '/', '.']).map(|at| char::from(date.as_bytes()[at]))?;
    let parts: Vec<&str> = date.split(mark).collect();
    let [first, second, third] = parts.as_slice() else { return None };
    let (year, month, day) = ordered([first, second, third], order);
    to_days(year_of(year)?, whole(month)?, whole(day)?)
}

/// `1 Jul 2024`, `1-Jul-2024` or `July 1, 2024`, with whatever stands behind it.
fn with_month_name(text: &str, order: Order) -> Option<(i64, &str)> {
    const MARKS: [char; 5] = [' ', '-', '/', '.', ','];
    let mut rest = text;
    let mut part = || {
        let start = rest.trim_start_matches(MARKS);
        let (part, after) = start.split_at(start.find(MARKS).unwrap_or(start.len()));
        rest = after;
        part
    };
    let parts = [part(), part(), part()];
    let (year, month, day) = ordered(parts, order);
    Some((to_days(year_of(year)?, month_of(month)?, whole(day)?)?, rest))
}

/// Year, month and day of three parts in this order.
fn ordered([first, second, third]: [&str; 3], order: Order) -> (&str, &str, &str) {
    match order {
        Order::YearFirst => (first, second, third),
        Order::DayFirst => (third, second, first),
        Order::MonthFirst => (third, first, second),
    }
}

/// A year of four digits.
fn year_of(part: &str) -> Option<i64> {
    let digits = part.len() == 4 && part.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| part.parse().ok()).flatten()
}

/// One or two digits.
fn whole(part: &str) -> Option<u32> {
    let digits = (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| part.parse().ok()).flatten()
}

/// The month from 1 of its English name, whole or short.
fn month_of(part: &str) -> Option<u32> {
    const NAMES: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let word = part.to_ascii_lowercase();
    let is =
        |name: &&str| word == **name || word == name[..3] || (word == "sept" && name[..4] == word);
    NAMES.iter().position(is).map(|k| k as u32 + 1)
}

/// The share of a day that a time is; 0 for none. An offset from Greenwich is taken off.
fn time_of_day(text: &str) -> Option<f64> {
    if text.is_empty() {
        return Some(0.0);
    }
    if let Some(half) = text.get(text.len().saturating_sub(2)..)
        && ["am", "pm"].contains(&half.to_ascii_lowercase().as_str())
    {
        return half_day(text[..text.len() - 2].trim_end(), half.eq_ignore_ascii_case("pm"));
    }
    let (text, offset) = match text.strip_suffix('Z') {
        Some(rest) => (rest, 0.0),
        None => match text.rfind(['+', '-']) {
            Some(at) => {
                let sign = if text.as_bytes()[at] == b'-' { -1.0 } else { 1.0 };
                (&text[..at], sign * clock(&text[at + 1..])?)
            }
            None => (text, 0.0),
        },
    };
    Some(clock(text)? - offset)
}

/// `2:30` in the first or the second half of a day, as a share of it.
fn half_day(text: &str, second: bool) -> Option<f64> {
    let time = clock(text)?;
    let hours = whole(text.split(':').next()?).filter(|hours| (1..=12).contains(hours))?;
    Some(time - if hours == 12 { 0.5 } else { 0.0 } + if second { 0.5 } else { 0.0 })
}

/// `14:30`, `9:05`, `14:30:05` or `14:30:05.25` as a share of a day.
fn clock(text: &str) -> Option<f64> {
    let parts: Vec<&str> = text.split(':').collect();
    let digits = |part: &str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit());
    let hours_of = |part: &str| whole(part).map(f64::from).filter(|hours| *hours < 25.0);
    let minutes_of =
        |part: &str| digits(part).then(|| part.parse::<f64>().ok()).flatten().filter(|m| *m < 60.0);
    let seconds = |part: &str| {
        let (whole_seconds, fraction) = part.split_once('.').unwrap_or((part, "0"));
        let fraction_is_digits = fraction.bytes().all(|b| b.is_ascii_digit());
        (digits(whole_seconds) && fraction_is_digits)
            .then(|| part.parse::<f64>().ok())
            .flatten()
            .filter(|s| *s < 61.0)
    };
    let (hours, minutes, seconds) = match parts.as_slice() {
        [hours, minutes] => (hours_of(hours)?, minutes_of(minutes)?, 0.0),
        [hours, minutes, rest] => (hours_of(hours)?, minutes_of(minutes)?, seconds(rest)?),
        _ => return None,
    };
    Some((hours * 3600.0 + minutes * 60.0 + seconds) / 86_400.0)
}

/// The order in which all of these texts are dates. Where days and months cannot be told apart, the month
/// stands first with `/` between the parts, as in American English, and the day elsewhere.
pub fn order_of<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Option<Order> {
    let slashes = texts.clone().any(|text| text.contains('/'));
    let tried = match slashes {
        true => [Order::YearFirst, Order::MonthFirst, Order::DayFirst],
        false => [Order::YearFirst, Order::DayFirst, Order::MonthFirst],
    };
    let all = |order: &Order| texts.clone().all(|text| parse(text, *order).is_some());
    let some = texts.clone().next().is_some();
    tried.into_iter().find(all).filter(|_| some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_written_with_its_year_first_and_keeps_its_time() {
        let written = |text: &str, order| year_first(text, order);
        assert_eq!(written(" 1.7.2024 14:30", Order::DayFirst).unwrap(), "2024-07-01 14:30");
        assert_eq!(written("07/01/2024", Order::MonthFirst).unwrap(), "2024-07-01");
        let iso = "2024-07-01T14:30:05Z";
        assert_eq!(written(iso, Order::YearFirst).unwrap(), iso);
        assert_eq!(
            written("2024-07-01 23:30-05:00", Order::YearFirst).unwrap(),
            "2024-07-01 23:30-05:00"
        );
        assert_eq!(written("31.4.2024", Order::DayFirst), None);
    }

    #[test]
    fn days_and_dates_are_the_same_both_ways() {
        assert_eq!(to_days(1970, 1, 1), Some(0));
        assert_eq!(to_days(2000, 2, 29), Some(11_016));
        assert_eq!(from_days(19_905), (2024, 7, 1));
        assert_eq!(to_days(1900, 2, 29), None);
        assert_eq!(to_days(2023, 4, 31), None);
        for days in (-200_000..200_000).step_by(37) {
            let (year, month, day) = from_days(days);
            assert_eq!(to_days(year, month, day), Some(days));
        }
        assert_eq!((weekday(0), weekday(19_905), weekday(-4)), (3, 0, 6));
    }

    #[test]
    fn dates_are_read_as_people_write_them() {
        let day = Some(19_905.0);
        assert_eq!(parse("2024-07-01", Order::YearFirst), day);
        assert_eq!(parse("1.7.2024", Order::DayFirst), day);
        assert_eq!(parse("07/01/2024", Order::MonthFirst), day);
        assert_eq!(parse("2024-07-01 12:00", Order::YearFirst), Some(19_905.5));
        assert_eq!(parse("2024-07-01T18:00:00.000Z", Order::YearFirst), Some(19_905.75));
        assert_eq!(parse("2024-07-01T14:00:00+02:00", Order::YearFirst), Some(19_905.5));
        let wrong = [
            "",
            "2024-07",
            "2024-13-01",
            "24-07-01",
            "1-2-3",
            "2024-07-01 noon",
            "A-1-2024",
            "2024.07-01",
        ];
        for text in wrong {
            assert_eq!(parse(text, Order::YearFirst), None, "{text}");
        }
    }

    #[test]
    fn months_have_names_and_hours_one_digit_or_a_half_of_the_day() {
        let (day, noon) = (Some(19_905.0), Some(19_905.5));
        for text in ["1 Jul 2024", "01-Jul-2024", "1 July 2024", "1. JULY 2024"] {
            assert_eq!(parse(text, Order::DayFirst), day, "{text}");
            assert_eq!(parse(text, Order::MonthFirst), None, "{text}");
        }
        assert_eq!(parse("July 1, 2024", Order::MonthFirst), day);
        assert_eq!(parse("2024-Jul-01", Order::YearFirst), day);
        assert_eq!(parse("7/1/2024 12:00 PM", Order::MonthFirst), noon);
        assert_eq!(parse("7/1/2024 12:00:00 am", Order::MonthFirst), day);
        assert_eq!(parse("Jul 1, 2024, 6:00PM", Order::MonthFirst), Some(19_905.75));
        assert_eq!(parse("7/1/2024 6:00", Order::MonthFirst), Some(19_905.25));
        let wrong =
            ["1 Juli 2024", "1 Jul 24", "32 Jul 2024", "1 Jul 2024 13:00 PM", "1 Jul 2024 call"];
        for text in wrong {
            assert_eq!(parse(text, Order::DayFirst), None, "{text}");
        }
        assert_eq!(order_of(["02 Oct 2019", "31 Dec 2020"].into_iter()), Some(Order::DayFirst));
        assert_eq!(year_first("1 Jul 2024 9:05", Order::DayFirst).unwrap(), "2024-07-01 9:05");
    }

    #[test]
    fn the_order_of_a_column_is_that_of_all_its_texts() {
        assert_eq!(order_of(["01/02/2024", "25/02/2024"].into_iter()), Some(Order::DayFirst));
        assert_eq!(order_of(["01/02/2024", "02/25/2024"].into_iter()), Some(Order::MonthFirst));
        assert_eq!(order_of(["01/02/2024"].into_iter()), Some(Order::MonthFirst));
        assert_eq!(order_of(["1.2.2024"].into_iter()), Some(Order::DayFirst));
        assert_eq!(order_of(["2024-01-02", "2024/01/02"].into_iter()), Some(Order::YearFirst));
        assert_eq!(order_of(["2024-01-02", "yesterday"].into_iter()), None);
        assert_eq!(order_of([].into_iter()), None);
    }
}
