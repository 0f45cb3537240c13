//! Dates as numbers that learners can use: year, month, weekday, days since the first.
//!
//! Texts are read as people write dates ([`learnt_core::dates`]); the order of day and month is that of all
//! texts of training. Numbers are dates written as yyyymmdd if all of training are, else days after the first of
//! January 1970. A text that is no date is an error; a missing one stays missing. One pass.

use super::affine::check_width;
use super::profile::written_date;
use learnt_core::dates::{self, Order};
use learnt_core::error::{plain, shell};
use learnt_core::linalg::ColumnMoments;
use learnt_core::prelude::*;

/// Encodes dates and times as numbers: year, month, weekday, days elapsed.
///
/// ```
/// use learnt::{prepare::{DateEncoder, DatePart}, prelude::*};
/// let days = Column::categorical("day", vec!["2024-02-29".into(), "2024-07-01".into()]);
/// let x = Table::new(Matrix::column_vector(vec![0.0, 1.0]), Schema::new(vec![days])?)?;
/// let data = OwnedDataset { x, ..OwnedDataset::default() };
/// let learner = DateEncoder { parts: vec![DatePart::Month, DatePart::Elapsed] };
/// let table = learner.fit(&data.view())?.transform(&data.x.frame())?;
/// assert_eq!(table.values().row(1), [7.0, 123.0]);
/// assert_eq!(table.schema().column(0).name, "day: month");
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct DateEncoder {
    /// What becomes a column, in this order.
    #[param(default = vec![DatePart::Year, DatePart::Month, DatePart::Weekday, DatePart::Elapsed])]
    pub parts: Vec<DatePart>,
}

/// A number that a date has.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatePart {
    /// The year.
    Year,
    /// The month, 1 to 12.
    Month,
    /// The day of the month, 1 to 31.
    Day,
    /// The day of the week, 1 for Monday to 7 for Sunday.
    Weekday,
    /// The day of the year, 1 to 366.
    Yearday,
    /// The hour with its fraction, 0 to below 24.
    Hour,
    /// Days since the first date of training.
    Elapsed,
}

/// How the dates of a column are written.
#[derive(Stored, Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    YearFirst,
    DayFirst,
    MonthFirst,
    Digits,
    Days,
}

/// A fitted [`DateEncoder`].
#[derive(Model, Clone, Debug)]
#[model(transformer, validate = validate)]
pub struct DateEncoderModel {
    /// The first date of each column, in days after 1970-01-01.
    #[shape(columns)]
    #[finite]
    pub first: Vec<f64>,
    written: Vec<Written>,
    parts: Vec<DatePart>,
}

/// Days around 1970 within which there are dates.
const MOST: f64 = 2_900_000.0;

impl DateEncoder {
    fn constraints(&self) -> Result<()> {
        let twice = (1..self.parts.len()).any(|k| self.parts[..k].contains(&self.parts[k]));
        match self.parts.is_empty() || twice {
            true => {
                Err(Error::parameter("parts", "one or more different parts", "none, or one twice"))
            }
            false => Ok(()),
        }
    }
}

impl Estimator for DateEncoder {
    type Model = DateEncoderModel;
    type Fit = Pass<ColumnMoments>;
    const ABOUT: &'static About = &About::transformer("preprocessing.DateEncoder")
        .missing()
        .categories()
        .reads_text()
        .streaming()
        .complexity(5)
        .cost("n p time, p memory")
        .exempt(&[("categories", "texts that are no dates are an error")]);
}

impl OnePass<ColumnMoments> for DateEncoder {
    fn finish(&self, all: ColumnMoments, outline: &Outline) -> Result<DateEncoderModel> {
        let (mut first, mut written) = (Vec::new(), Vec::new());
        for (j, column) in outline.schema.columns().iter().enumerate() {
            let (how, start) = match column.levels() {
                Some(levels) => of_texts(column, levels)?,
                None => of_numbers(all.low[j], all.high[j]),
            };
            written.push(how);
            first.push(start);
        }
        Ok(DateEncoderModel { first, written, parts: self.parts.clone() })
    }
}

/// How texts are written, and the first of them.
fn of_texts(column: &Column, levels: &[String]) -> Result<(Written, f64)> {
    if levels.is_empty() {
        return Ok((Written::YearFirst, 0.0));
    }
    let texts = || levels.iter().map(String::as_str);
    let Some(order) = dates::order_of(texts()) else {
        let one = |text: &&str| dates::order_of(std::iter::once(*text)).is_none();
        return Err(match texts().find(one) {
            Some(example) => no_date(column, example),
            None => in_several_ways(column),
        });
    };
    let days = texts().filter_map(|text| dates::parse(text, order));
    let written = match order {
        Order::YearFirst => Written::YearFirst,
        Order::DayFirst => Written::DayFirst,
        Order::MonthFirst => Written::MonthFirst,
    };
    Ok((written, days.fold(f64::INFINITY, f64::min)))
}

/// What numbers mean, and the first day.
fn of_numbers(low: f64, high: f64) -> (Written, f64) {
    match (written_date(low), written_date(high)) {
        (Some(first), Some(_)) => (Written::Digits, first as f64),
        _ if low.is_finite() => (Written::Days, low),
        _ => (Written::Days, 0.0),
    }
}

fn no_date(column: &Column, text: &str) -> Error {
    let name = plain(&column.name);
    let message = format!("column '{name}' holds '{}', which is no date", plain(text));
    Error::new(Code::Parse, message)
        .column(name)
        .hint("dates are written as 2024-07-01, 1.7.2024 or 07/01/2024, with or without a time")
}

/// The error of dates that no single order reads.
fn in_several_ways(column: &Column) -> Error {
    let (name, word) = (plain(&column.name), shell(&column.name));
    let message = format!("column '{name}' holds dates that are written in several ways");
    Error::new(Code::Parse, message).column(name).hint(format!(
        "write them in one way, such as 2024-07-01; the command does so with --type {word}=dmy (day first) or {word}=mdy"
    ))
}

impl DateEncoderModel {
    fn validate(&self) -> Result<()> {
        match self.written.len() == self.first.len() && !self.parts.is_empty() {
            true => Ok(()),
            false => Err(learnt_core::persist::invalid("dates of other columns than the table's")),
        }
    }

    /// The days of each value of a column.
    fn days(&self, x: &Frame, j: usize) -> Result<Vec<f64>> {
        let column = x.schema().column(j);
        let values = x.values().column(j);
        let Some(levels) = column.levels() else {
            return values.into_iter().map(|value| self.day_of_number(column, j, value)).collect();
        };
        let order = match self.written[j] {
            Written::DayFirst => Order::DayFirst,
            Written::MonthFirst => Order::MonthFirst,
            Written::YearFirst | Written::Digits | Written::Days => Order::YearFirst,
        };
        let day = |level: &String| dates::parse(level, order);
        let days: Vec<Option<f64>> = levels.iter().map(day).collect();
        let one = |value: f64| match (value.is_nan(), days.get(value as usize).copied().flatten()) {
            (true, _) => Ok(f64::NAN),
            (false, Some(day)) => Ok(day),
            (false, None) => Err(no_date(column, levels.get(value as usize).map_or("", |t| t))),
        };
        values.into_iter().map(one).collect()
    }

    fn day_of_number(&self, column: &Column, j: usize, value: f64) -> Result<f64> {
        let day = match self.written[j] {
            _ if value.is_nan() => Some(value),
            Written::Digits => written_date(value).map(|day| day as f64),
            _ => Some(value).filter(|value| value.abs() <= MOST),
        };
        day.ok_or_else(|| no_date(column, &value.to_string()))
    }

    fn part(&self, part: DatePart, days: f64, j: usize) -> f64 {
        if days.is_nan() {
            return days;
        }
        let whole = days.floor() as i64;
        let (year, month, day) = dates::from_days(whole);
        match part {
            DatePart::Year => year as f64,
            DatePart::Month => f64::from(month),
            DatePart::Day => f64::from(day),
            DatePart::Weekday => f64::from(dates::weekday(whole) + 1),
            DatePart::Yearday => (whole - dates::to_days(year, 1, 1).unwrap_or(whole) + 1) as f64,
            DatePart::Hour => 24.0 * (days - days.floor()),
            DatePart::Elapsed => days - self.first[j],
        }
    }
}

impl Transformer for DateEncoderModel {
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        check_width(x, self.first.len())?;
        let width = self.first.len() * self.parts.len();
        run.claim(8 * (x.nrows() * width) as u64, "the parts of dates")?;
        let mut out = Matrix::zeros(x.nrows(), width);
        let mut names = Vec::with_capacity(width);
        for j in 0..self.first.len() {
            let days = self.days(x, j)?;
            for (k, &part) in self.parts.iter().enumerate() {
                let place = j * self.parts.len() + k;
                names.push(format!("{}: {}", x.schema().column(j).name, word(part)));
                for (i, &day) in days.iter().enumerate() {
                    out[(i, place)] = self.part(part, day, j);
                }
            }
        }
        Table::new(out, Schema::numeric(names)?)
    }
}

fn word(part: DatePart) -> &'static str {
    match part {
        DatePart::Year => "year",
        DatePart::Month => "month",
        DatePart::Day => "day",
        DatePart::Weekday => "weekday",
        DatePart::Yearday => "yearday",
        DatePart::Hour => "hour",
        DatePart::Elapsed => "elapsed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(levels: &[&str]) -> OwnedDataset {
        let column = Column::categorical("d", levels.iter().map(ToString::to_string).collect());
        let codes = (0..levels.len()).map(|i| i as f64).collect();
        let schema = Schema::new(vec![column]).unwrap();
        let x = Table::new(Matrix::column_vector(codes), schema).unwrap();
        OwnedDataset { x, ..Default::default() }
    }

    fn all() -> DateEncoder {
        use DatePart::{Day, Elapsed, Hour, Month, Weekday, Year, Yearday};
        DateEncoder { parts: vec![Year, Month, Day, Weekday, Yearday, Hour, Elapsed] }
    }

    #[test]
    fn every_part_of_a_date_is_right() {
        let data = texts(&["2024-03-01 18:00", "2023-12-31 00:00"]);
        let table = all().fit(&data.view()).unwrap().transform(&data.x.frame()).unwrap();
        assert_eq!(table.values().row(0), [2024.0, 3.0, 1.0, 5.0, 61.0, 18.0, 61.75]);
        assert_eq!(table.values().row(1), [2023.0, 12.0, 31.0, 7.0, 365.0, 0.0, 0.0]);
    }

    #[test]
    fn new_dates_are_read_in_the_order_of_training() {
        let model = all().fit(&texts(&["25.12.2023", "01.02.2024"]).view()).unwrap();
        let new = texts(&["03.04.2025"]);
        let row = model.transform(&new.x.frame()).unwrap().values().row(0).to_vec();
        assert_eq!(row[..3], [2025.0, 4.0, 3.0]);
        let error = model.transform(&texts(&["soon"]).x.frame()).unwrap_err();
        assert!(error.message().contains("'soon', which is no date"), "{error}");
        let error = all().fit(&texts(&["2024-01-01", "never"]).view()).unwrap_err();
        assert!(error.message().contains("'never'"), "{error}");
    }

    #[test]
    fn numbers_are_digits_or_days() {
        let digits =
            OwnedDataset::unsupervised(Matrix::column_vector(vec![20_240_229.0, 20_240_301.0]));
        let model = all().fit(&digits.view()).unwrap();
        let table = model.transform(&digits.x.frame()).unwrap();
        assert_eq!(table.values().row(1)[..3], [2024.0, 3.0, 1.0]);
        assert_eq!(table.values()[(1, 6)], 1.0);
        let days = OwnedDataset::unsupervised(Matrix::column_vector(vec![0.0, f64::NAN, 365.0]));
        let table = all().fit(&days.view()).unwrap().transform(&days.x.frame()).unwrap();
        assert_eq!(table.values()[(2, 0)], 1971.0);
        assert!(table.values().row(1).iter().all(|x| x.is_nan()));
    }
}
