//! Arrow's arrays as columns: integers, floats and decimals are numbers; texts, dictionaries of
//! texts and booleans are categories. Dates and times become texts such as `2024-07-01 14:30:00`. Binary and
//! nested types are refused by name.

use crate::columns::Collected;
use crate::options::{ReadOptions, TypeRule};
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types as ty;
use arrow_schema::{DataType, Schema, TimeUnit};
use learnt_core::dates;
use learnt_core::error::{Code, Error, Result, plain};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls into the Arrow and Parquet libraries; a panic there on damaged bytes is an error here.
pub(crate) fn guarded<T>(what: &str, f: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|_| Err(damaged(what, "inconsistent content")))
}

/// The error for bytes that are not what the format says.
pub(crate) fn damaged(what: &str, why: impl std::fmt::Display) -> Error {
    Error::new(Code::Parse, format!("the {what} file is damaged: {}", plain(&why.to_string())))
}

/// The columns to keep, by position, each empty. Names are checked, types that cannot be read are
/// refused by name.
pub(crate) fn plan(
    schema: &Schema,
    options: &ReadOptions,
    notes: &mut Vec<String>,
) -> Result<Vec<(usize, Collected)>> {
    let names = schema.fields().iter().map(|field| field.name().clone()).collect();
    let names = crate::names::check_names(names, options, notes)?;
    options.check_names(&names)?;
    let kept = names.into_iter().enumerate().filter(|(_, name)| !options.skips(name));
    kept.map(|(j, name)| {
        let column = empty(name, schema.field(j).data_type(), options)?;
        Ok((j, column))
    })
    .collect()
}

fn empty(name: String, kind: &DataType, options: &ReadOptions) -> Result<Collected> {
    let is_text =
        |kind: &DataType| matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    match kind {
        DataType::Boolean => Ok(Collected::text(name)),
        DataType::Dictionary(_, values) if is_text(values) => Ok(Collected::text(name)),
        kind if is_text(kind) || is_date(kind) => Ok(Collected::text(name)),
        // Of names that are numbers no digit is lost.
        DataType::Int64 | DataType::UInt64 | DataType::Decimal128(..)
            if options.rule(&name).is_some_and(TypeRule::is_text) =>
        {
            Ok(Collected::text(name))
        }
        DataType::Null | DataType::Decimal128(..) => Ok(Collected::numeric(name)),
        kind if kind.is_integer() || kind.is_floating() => Ok(Collected::numeric(name)),
        _ => Err(unsupported(&name, kind, options)),
    }
}

fn is_date(kind: &DataType) -> bool {
    matches!(kind, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..))
}

fn unsupported(name: &str, kind: &DataType, options: &ReadOptions) -> Error {
    let shown = match kind {
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => "lists".into(),
        DataType::ListView(_) | DataType::LargeListView(_) => "lists".into(),
        DataType::Struct(_) => "structures".to_string(),
        DataType::Map(..) => "maps".to_string(),
        DataType::Union(..) => "unions".to_string(),
        other => plain(&other.to_string()),
    };
    let name = plain(name);
    let message = format!("column '{name}' holds {shown}, which are not supported");
    let hint = match options.rule(&name) {
        Some(TypeRule::Categorical) => format!("convert it to text first, or --type {name}=skip"),
        _ => format!("--type {name}=skip leaves it out"),
    };
    Error::unsupported(message).column(name).hint(hint)
}

/// Adds an array to a column.
pub(crate) fn append(array: &dyn Array, to: &mut Collected) -> Result<()> {
    to.cells.try_reserve(array.len()).map_err(|_| no_room(array.len()))?;
    match array.data_type() {
        DataType::Float64 => reals::<ty::Float64Type>(array, to, |value| value),
        DataType::Float32 => reals::<ty::Float32Type>(array, to, f64::from),
        DataType::Float16 => reals::<ty::Float16Type>(array, to, f64::from),
        DataType::Int8 => reals::<ty::Int8Type>(array, to, f64::from),
        DataType::Int16 => reals::<ty::Int16Type>(array, to, f64::from),
        DataType::Int32 => reals::<ty::Int32Type>(array, to, f64::from),
        DataType::UInt8 => reals::<ty::UInt8Type>(array, to, f64::from),
        DataType::UInt16 => reals::<ty::UInt16Type>(array, to, f64::from),
        DataType::UInt32 => reals::<ty::UInt32Type>(array, to, f64::from),
        DataType::Int64 => integers::<ty::Int64Type>(array, to),
        DataType::UInt64 => integers::<ty::UInt64Type>(array, to),
        DataType::Decimal128(_, scale) => decimals(array, *scale, to),
        DataType::Boolean => booleans(array, to),
        DataType::Utf8 => texts(array.as_string_opt::<i32>().into_iter().flatten(), to),
        DataType::LargeUtf8 => texts(array.as_string_opt::<i64>().into_iter().flatten(), to),
        DataType::Utf8View => texts(array.as_string_view_opt().into_iter().flatten(), to),
        DataType::Dictionary(..) => dictionary(array, to)?,
        DataType::Date32 => times::<ty::Date32Type>(array, 1, to),
        DataType::Date64 => times::<ty::Date64Type>(array, 86_400_000, to),
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => times::<ty::TimestampSecondType>(array, 86_400, to),
            TimeUnit::Millisecond => times::<ty::TimestampMillisecondType>(array, 86_400_000, to),
            TimeUnit::Microsecond => {
                times::<ty::TimestampMicrosecondType>(array, 86_400_000_000, to);
            }
            TimeUnit::Nanosecond => {
                times::<ty::TimestampNanosecondType>(array, 86_400_000_000_000, to);
            }
        },
        DataType::Null => to.cells.resize(to.cells.len() + array.len(), f64::NAN),
        other => return Err(damaged("Arrow", format!("a column of type {other}"))),
    }
    Ok(())
}

fn no_room(rows: usize) -> Error {
    Error::new(Code::Memory, format!("no memory for {rows} rows"))
}

fn reals<T: arrow_array::ArrowPrimitiveType>(
    array: &dyn Array,
    to: &mut Collected,
    number: impl Fn(T::Native) -> f64,
) {
    let Some(values) = array.as_primitive_opt::<T>() else { return };
    match values.null_count() {
        0 => to.cells.extend(values.values().iter().map(|&value| number(value))),
        _ => to.cells.extend(values.iter().map(|value| value.map_or(f64::NAN, &number))),
    }
}

fn integers<T: arrow_array::ArrowPrimitiveType>(array: &dyn Array, to: &mut Collected)
where
    i128: From<T::Native>,
{
    for value in array.as_primitive_opt::<T>().into_iter().flatten() {
        match value.map(i128::from) {
            Some(value) if to.levels.is_some() => to.push_text(&value.to_string()),
            Some(value) => to.push_integer(value),
            None => to.cells.push(f64::NAN),
        }
    }
}

/// Numbers of ticks, so many a day, as texts of dates.
fn times<T: arrow_array::ArrowPrimitiveType>(array: &dyn Array, day: i64, to: &mut Collected)
where
    i64: From<T::Native>,
{
    for value in array.as_primitive_opt::<T>().into_iter().flatten() {
        match value {
            Some(value) => to.push_text(&written(value.into(), day)),
            None => to.cells.push(f64::NAN),
        }
    }
}

/// `2024-07-01`, with the time of day behind it unless it is midnight.
fn written(ticks: i64, day: i64) -> String {
    let (year, month, date) = dates::from_days(ticks.div_euclid(day));
    let rest = ticks.rem_euclid(day);
    if rest == 0 {
        return format!("{year:04}-{month:02}-{date:02}");
    }
    let second = day / 86_400;
    let (seconds, fraction) = (rest / second, rest % second);
    let (hour, minute, left) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let mut text = format!("{year:04}-{month:02}-{date:02} {hour:02}:{minute:02}:{left:02}");
    if fraction > 0 {
        let places = second.ilog10() as usize;
        let digits = format!("{fraction:0places$}");
        text.push('.');
        text.push_str(digits.trim_end_matches('0'));
    }
    text
}

fn decimals(array: &dyn Array, scale: i8, to: &mut Collected) {
    let values = array.as_primitive_opt::<ty::Decimal128Type>().into_iter().flatten();
    if to.levels.is_some() {
        let shown = |value: Option<i128>| value.map(|unscaled| decimal_text(unscaled, scale));
        return values.map(shown).for_each(|text| texts([text.as_deref()].into_iter(), to));
    }
    for value in values {
        let number = value.and_then(|unscaled| {
            fast_float2::parse::<f64, _>(format!("{unscaled}e{}", -i32::from(scale))).ok()
        });
        // 15 digits always come back; more do where f64 gives them again.
        const EXACT: u128 = 1_000_000_000_000_000;
        if let (Some(unscaled), Some(number)) = (value, number)
            && unscaled.unsigned_abs() >= EXACT
        {
            to.rounded += u64::from(!gives_back(unscaled, scale, number));
        }
        to.cells.push(number.unwrap_or(f64::NAN));
    }
}

/// All digits of a decimal, without zeros at the end of its fraction.
fn decimal_text(unscaled: i128, scale: i8) -> String {
    let sign = if unscaled < 0 { "-" } else { "" };
    let digits = unscaled.unsigned_abs().to_string();
    let places = usize::from(scale.unsigned_abs());
    if scale <= 0 {
        let zeros = if unscaled == 0 { 0 } else { places };
        return format!("{sign}{digits}{}", "0".repeat(zeros));
    }
    let digits = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    match fraction.trim_end_matches('0') {
        "" => format!("{sign}{whole}"),
        fraction => format!("{sign}{whole}.{fraction}"),
    }
}

/// Whether the shortest text of a number has the digits of a decimal.
fn gives_back(unscaled: i128, scale: i8, number: f64) -> bool {
    let shortest = format!("{number:e}");
    let (digits, power) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let fraction = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let digits: Option<i128> = digits.replace('.', "").parse().ok();
    let power: Option<i32> = power.parse().ok();
    let (Some(digits), Some(power)) = (digits, power) else { return false };
    // number = digits · 10^(power - fraction), unscaled · 10^-scale.
    let shift = power - fraction as i32 + i32::from(scale);
    let scaled = |value: i128, by: i32| 10_i128.checked_pow(by.unsigned_abs())?.checked_mul(value);
    match shift >= 0 {
        true => scaled(digits, shift) == Some(unscaled),
        false => scaled(unscaled, -shift) == Some(digits),
    }
}

fn booleans(array: &dyn Array, to: &mut Collected) {
    for value in array.as_boolean_opt().into_iter().flatten() {
        match value {
            Some(value) => to.push_text(if value { "true" } else { "false" }),
            None => to.cells.push(f64::NAN),
        }
    }
}

/// Empty texts are missing, as in every other format.
fn texts<'a>(values: impl Iterator<Item = Option<&'a str>>, to: &mut Collected) {
    for value in values {
        match value {
            Some("") | None => to.cells.push(f64::NAN),
            Some(text) => to.push_text(text),
        }
    }
}

fn dictionary(array: &dyn Array, to: &mut Collected) -> Result<()> {
    let dictionary =
        array.as_any_dictionary_opt().ok_or_else(|| damaged("Arrow", "a dictionary"))?;
    let mut entries = Collected::text("");
    let values = dictionary.values();
    append(values.as_ref(), &mut entries)?;
    let levels = entries.levels.unwrap_or_default();
    let keys = if values.is_empty() { Vec::new() } else { dictionary.normalized_keys() };
    for row in 0..array.len() {
        let key = (!array.is_null(row)).then(|| keys.get(row)).flatten();
        let code = key.and_then(|&key| entries.cells.get(key)).filter(|code| !code.is_nan());
        match code {
            Some(&code) => to.push_text(levels.text(code as usize)),
            None => to.cells.push(f64::NAN),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_as_texts_have_all_their_digits() {
        let cases = [
            (110, 2, "1.1"),
            (-5, 3, "-0.005"),
            (1200, 2, "12"),
            (0, 4, "0"),
            (0, -3, "0"),
            (7, -2, "700"),
            (12_345_678_901_234_567_890, 2, "123456789012345678.9"),
        ];
        for (unscaled, scale, text) in cases {
            assert_eq!(decimal_text(unscaled, scale), text);
        }
    }
}
