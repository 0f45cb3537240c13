//! What a stored value must be like: shapes that agree and numbers that are finite. Fields declare
//! it (`#[shape(classes, columns)]`, `#[finite]`), and `derive(Stored)` checks it after reading.

use super::invalid;
use crate::data::{Column, Matrix, Schema};
use crate::error::Result;

/// Sizes by name. The first field that names a size sets it; all others must agree. None is zero.
#[derive(Default)]
pub struct Sizes(Vec<(&'static str, usize)>);

/// One side of a shape.
#[derive(Clone, Copy, Debug)]
pub enum Side {
    /// A size that other fields share.
    Named(&'static str),
    /// So many.
    Fixed(usize),
}

impl Sizes {
    /// Sets or compares a size.
    pub fn agree(&mut self, side: Side, size: usize) -> bool {
        match side {
            Side::Fixed(wanted) => size == wanted,
            Side::Named(_) if size == 0 => false,
            Side::Named(name) => match self.0.iter().find(|(known, _)| *known == name) {
                Some((_, known)) => *known == size,
                None => {
                    self.0.push((name, size));
                    true
                }
            },
        }
    }

    /// Refuses a field whose shape does not agree with those before it.
    pub fn check(&mut self, field: &str, value: &impl Shaped, sides: &[Side]) -> Result<()> {
        match value.fits(self, sides) {
            true => Ok(()),
            false => Err(invalid(format!("`{field}` does not have the shape of the other fields"))),
        }
    }

    /// Refuses indices that are not below a size.
    pub fn below(&mut self, field: &str, indices: &[u32], name: &'static str) -> Result<()> {
        let bound = self.0.iter().find(|(known, _)| *known == name).map_or(0, |(_, size)| *size);
        match indices.iter().all(|&index| (index as usize) < bound) {
            true => Ok(()),
            false => Err(invalid(format!("`{field}` holds an index that is too large"))),
        }
    }
}

/// A value that has a shape.
pub trait Shaped {
    /// Whether its sides agree with the sizes so far. What is absent fits everything.
    fn fits(&self, sizes: &mut Sizes, sides: &[Side]) -> bool;
}

macro_rules! without_sides {
    ($($t:ty),*) => {$(
        impl Shaped for $t {
            fn fits(&self, _: &mut Sizes, sides: &[Side]) -> bool {
                sides.is_empty()
            }
        }
    )*};
}
without_sides!(f64, u32, u64, i64, bool, u8, String, Column);

/// A number of things has that size.
impl Shaped for usize {
    fn fits(&self, sizes: &mut Sizes, sides: &[Side]) -> bool {
        match sides {
            [] => true,
            [side] => sizes.agree(*side, *self),
            _ => false,
        }
    }
}

impl<T: Shaped> Shaped for Vec<T> {
    fn fits(&self, sizes: &mut Sizes, sides: &[Side]) -> bool {
        match sides.split_first() {
            None => false,
            Some((first, rest)) => {
                sizes.agree(*first, self.len()) && self.iter().all(|item| item.fits(sizes, rest))
            }
        }
    }
}

impl Shaped for Matrix {
    fn fits(&self, sizes: &mut Sizes, sides: &[Side]) -> bool {
        match sides {
            [rows, columns] => {
                sizes.agree(*rows, self.nrows()) && sizes.agree(*columns, self.ncols())
            }
            _ => false,
        }
    }
}

impl Shaped for Schema {
    fn fits(&self, sizes: &mut Sizes, sides: &[Side]) -> bool {
        matches!(sides, [side] if sizes.agree(*side, self.len()))
    }
}

impl<T: Shaped> Shaped for Option<T> {
    fn fits(&self, sizes: &mut Sizes, sides: &[Side]) -> bool {
        self.as_ref().is_none_or(|value| value.fits(sizes, sides))
    }
}

/// A value made of numbers.
pub trait Numbers {
    /// Whether all of them are so.
    fn all(&self, so: fn(f64) -> bool) -> bool;
}

impl Numbers for f64 {
    fn all(&self, so: fn(f64) -> bool) -> bool {
        so(*self)
    }
}

impl Numbers for Matrix {
    fn all(&self, so: fn(f64) -> bool) -> bool {
        self.as_slice().iter().all(|&x| so(x))
    }
}

impl<T: Numbers> Numbers for Vec<T> {
    fn all(&self, so: fn(f64) -> bool) -> bool {
        self.iter().all(|item| item.all(so))
    }
}

impl<T: Numbers> Numbers for Option<T> {
    fn all(&self, so: fn(f64) -> bool) -> bool {
        self.as_ref().is_none_or(|value| value.all(so))
    }
}

/// Refuses numbers that are not so; `what` says how they must be.
pub fn check_numbers(
    field: &str,
    value: &impl Numbers,
    what: &str,
    so: fn(f64) -> bool,
) -> Result<()> {
    match value.all(so) {
        true => Ok(()),
        false => Err(invalid(format!("`{field}` holds a number that is not {what}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: Side = Side::Named("rows");
    const COLUMNS: Side = Side::Named("columns");

    #[test]
    fn sizes_must_agree_and_none_is_zero() {
        let mut sizes = Sizes::default();
        assert!(Matrix::zeros(2, 3).fits(&mut sizes, &[ROWS, COLUMNS]));
        assert!(vec![0.0; 2].fits(&mut sizes, &[ROWS]));
        assert!(!vec![0.0; 3].fits(&mut sizes, &[ROWS]));
        assert!(vec![vec![0_u32; 3]; 2].fits(&mut sizes, &[ROWS, COLUMNS]));
        assert!(!vec![vec![0_u32; 3], vec![]].fits(&mut sizes, &[ROWS, COLUMNS]));
        assert!(None::<Vec<f64>>.fits(&mut sizes, &[ROWS]));
        assert!(!Vec::<f64>::new().fits(&mut sizes, &[Side::Named("others")]));
        assert!(vec![1.0, 2.0].fits(&mut sizes, &[Side::Fixed(2)]));
        assert!(sizes.below("codes", &[0, 2], "columns").is_ok());
        assert!(sizes.below("codes", &[3], "columns").is_err());
        assert!(sizes.below("codes", &[0], "nothing").is_err());
    }
}
