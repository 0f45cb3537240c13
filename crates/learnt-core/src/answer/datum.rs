//! One value of an answer: a number, a word, an array, a matrix, a data set.

use crate::data::{Label, Matrix, OwnedDataset};
use crate::error::{Error, Result};

/// A value of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// Nothing.
    Missing,
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Count(i64),
    /// A number.
    Real(f64),
    /// A p-value: never printed as zero.
    P(f64),
    /// A word or sentence.
    Text(String),
    /// Yes or no for each row.
    Flags(Vec<bool>),
    /// Whole numbers.
    Counts(Vec<i64>),
    /// Numbers.
    Reals(Vec<f64>),
    /// Words.
    Texts(Vec<String>),
    /// A matrix of numbers.
    Matrix(Matrix),
    /// A matrix of whole numbers.
    CountMatrix(Matrix),
    /// A class for each row.
    Labels {
        /// Codes of the classes.
        codes: Vec<u32>,
        /// The classes, in the order of their codes.
        classes: Vec<Label>,
    },
    /// Several values.
    List(Vec<Datum>),
    /// Rows with or without a target.
    Data(Box<OwnedDataset>),
}

impl Datum {
    /// The number, if it is one.
    pub fn as_real(&self) -> Option<f64> {
        match self {
            Datum::Real(x) | Datum::P(x) => Some(*x),
            Datum::Count(i) => Some(*i as f64),
            Datum::Flag(b) => Some(f64::from(u8::from(*b))),
            _ => None,
        }
    }

    /// Whether it is one value and no array.
    pub fn is_scalar(&self) -> bool {
        matches!(
            self,
            Datum::Missing
                | Datum::Flag(_)
                | Datum::Count(_)
                | Datum::Real(_)
                | Datum::P(_)
                | Datum::Text(_)
        )
    }
}

/// A type that an answer can hold. Structs of them get [`crate::function::Output`] by a derive.
pub trait DatumType: Sized {
    /// As a datum.
    fn into_datum(self) -> Datum;
    /// From a datum of this type.
    fn from_datum(datum: Datum) -> Result<Self>;
}

fn wrong(expected: &str) -> Error {
    Error::internal(format!("an answer holds another type than {expected}"))
}

macro_rules! datum_types {
    ($($type:ty, $words:literal: $value:pat => $back:expr, $self:ident => $into:expr;)*) => {$(
        impl DatumType for $type {
            fn into_datum(self) -> Datum {
                let $self = self;
                $into
            }
            fn from_datum(datum: Datum) -> Result<Self> {
                match datum {
                    $value => Ok($back),
                    _ => Err(wrong($words)),
                }
            }
        }
        impl From<$type> for Datum {
            fn from(value: $type) -> Datum {
                value.into_datum()
            }
        }
    )*};
}
datum_types! {
    f64, "a number": Datum::Real(x) | Datum::P(x) => x, x => Datum::Real(x);
    bool, "yes or no": Datum::Flag(b) => b, b => Datum::Flag(b);
    String, "text": Datum::Text(text) => text, text => Datum::Text(text);
    Vec<f64>, "numbers": Datum::Reals(values) => values, values => Datum::Reals(values);
    Vec<bool>, "flags": Datum::Flags(values) => values, values => Datum::Flags(values);
    Vec<i64>, "whole numbers": Datum::Counts(values) => values, values => Datum::Counts(values);
    Vec<String>, "texts": Datum::Texts(values) => values, values => Datum::Texts(values);
    Matrix, "a matrix": Datum::Matrix(matrix) | Datum::CountMatrix(matrix) => matrix, matrix => Datum::Matrix(matrix);
    OwnedDataset, "a data set": Datum::Data(data) => *data, data => Datum::Data(Box::new(data));
}

macro_rules! whole_numbers {
    ($($type:ty),*) => {$(
        impl DatumType for $type {
            fn into_datum(self) -> Datum {
                Datum::Count(i64::try_from(self).unwrap_or(i64::MAX))
            }
            fn from_datum(datum: Datum) -> Result<Self> {
                match datum {
                    Datum::Count(i) => <$type>::try_from(i).map_err(|_| wrong("a whole number")),
                    _ => Err(wrong("a whole number")),
                }
            }
        }
        impl From<$type> for Datum {
            fn from(value: $type) -> Datum {
                value.into_datum()
            }
        }
    )*};
}
whole_numbers!(i64, usize, u64, u32);

macro_rules! arrays_of_counts {
    ($($type:ty),*) => {$(
        impl DatumType for Vec<$type> {
            fn into_datum(self) -> Datum {
                Datum::Counts(self.into_iter().map(|i| i64::try_from(i).unwrap_or(i64::MAX)).collect())
            }
            fn from_datum(datum: Datum) -> Result<Self> {
                let Datum::Counts(values) = datum else { return Err(wrong("whole numbers")) };
                let back = |i: i64| <$type>::try_from(i).map_err(|_| wrong("whole numbers"));
                values.into_iter().map(back).collect()
            }
        }
    )*};
}
arrays_of_counts!(usize, u64, u32);

/// Whatever it is.
impl DatumType for Datum {
    fn into_datum(self) -> Datum {
        self
    }
    fn from_datum(datum: Datum) -> Result<Self> {
        Ok(datum)
    }
}

impl From<&str> for Datum {
    fn from(text: &str) -> Datum {
        Datum::Text(text.to_string())
    }
}

impl<T: DatumType> DatumType for Option<T> {
    fn into_datum(self) -> Datum {
        self.map_or(Datum::Missing, T::into_datum)
    }
    fn from_datum(datum: Datum) -> Result<Self> {
        match datum {
            Datum::Missing => Ok(None),
            datum => T::from_datum(datum).map(Some),
        }
    }
}

/// Several arrays of different lengths: folds, samples.
impl<T> DatumType for Vec<Vec<T>>
where
    Vec<T>: DatumType,
{
    fn into_datum(self) -> Datum {
        Datum::List(self.into_iter().map(<Vec<T> as DatumType>::into_datum).collect())
    }
    fn from_datum(datum: Datum) -> Result<Self> {
        match datum {
            Datum::List(items) => {
                items.into_iter().map(<Vec<T> as DatumType>::from_datum).collect()
            }
            _ => Err(wrong("a list")),
        }
    }
}

/// A class for each row, owned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnedLabels {
    /// Codes of the classes.
    pub codes: Vec<u32>,
    /// The classes, in the order of their codes.
    pub classes: Vec<Label>,
}

impl OwnedLabels {
    fn of(labels: impl Iterator<Item = Label>) -> OwnedLabels {
        let (codes, classes) = Label::encode(&labels.collect::<Vec<_>>());
        OwnedLabels { codes, classes }
    }
}

impl DatumType for OwnedLabels {
    fn into_datum(self) -> Datum {
        Datum::Labels { codes: self.codes, classes: self.classes }
    }
    fn from_datum(datum: Datum) -> Result<Self> {
        match datum {
            Datum::Labels { codes, classes } => Ok(OwnedLabels { codes, classes }),
            // Front ends keep labels as arrays of numbers or words.
            Datum::Counts(values) => Ok(Self::of(values.into_iter().map(Label::Int))),
            Datum::Texts(values) => Ok(Self::of(values.into_iter().map(Label::Text))),
            Datum::Flags(values) => Ok(Self::of(values.into_iter().map(Label::Bool))),
            Datum::Reals(values) => Ok(Self::of(values.into_iter().map(Label::Real))),
            _ => Err(wrong("labels")),
        }
    }
}
