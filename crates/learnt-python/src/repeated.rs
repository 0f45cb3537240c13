//! Columns of Python objects in which few objects stand again and again, as names taken from a list do: what is
//! asked of every value is then asked of each object once.

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;

/// The most different objects.
const MOST: usize = 1 << 16;
/// Places of the table, as a power of two: half of them stay free.
const BITS: u32 = 17;
const FREE: u32 = u32::MAX;

/// The different objects by the order in which they come, and for each place the number of its object; `None`
/// where they are too many.
pub(crate) type Repeated<'py> = Option<(Vec<Py<PyAny>>, Bound<'py, PyArray1<u32>>)>;

/// Looks at which object stands where, not at what it is.
pub(crate) fn of<'py>(objects: &Bound<'py, PyArray1<Py<PyAny>>>) -> PyResult<Repeated<'py>> {
    let py = objects.py();
    let view = objects.try_readonly().map_err(|e| {
        pyo3::exceptions::PyValueError::new_err(format!("the column cannot be read: {e}"))
    })?;
    let view = view.as_array();
    let mut table = vec![(0_usize, FREE); 1 << BITS];
    let mut different: Vec<Py<PyAny>> = Vec::new();
    let mut numbers = Vec::with_capacity(view.len());
    for object in view {
        let address = object.as_ptr() as usize;
        // The multiplier spreads addresses over the upper bits (Knuth 1998, sec. 6.4).
        let spread = (address as u64 >> 4).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut place = (spread >> (64 - BITS)) as usize;
        while table[place].1 != FREE && table[place].0 != address {
            place = (place + 1) % table.len();
        }
        if table[place].1 == FREE {
            if different.len() == MOST {
                return Ok(None);
            }
            table[place] = (address, different.len() as u32);
            different.push(object.clone_ref(py));
        }
        numbers.push(table[place].1);
    }
    Ok(Some((different, PyArray1::from_vec(py, numbers))))
}
