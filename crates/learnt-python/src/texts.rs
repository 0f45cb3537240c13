//! Columns of Python's texts as codes of sorted levels.
//!
//! Names taken from a list are few objects that stand again and again: an object is known again by where it is in
//! memory. Texts that came from a file are as many objects as rows: they are known by their hash, which Python keeps
//! in them, and compared once. Only different texts are sorted.

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyString};

/// The most objects that are known by their place in memory.
const MOST_OBJECTS: usize = 1 << 16;
/// The number of a missing value among levels.
const MISSING: u32 = u32::MAX;

/// Codes with NaN for missing values, and the sorted levels.
pub(crate) type Levels<'py> = Option<(Bound<'py, PyArray1<f64>>, Vec<String>)>;

/// Codes and levels of a column of texts and missing values (None, NaN); `None` if it holds anything else, or no text.
pub(crate) fn levels<'py>(objects: &Bound<'py, PyArray1<Py<PyAny>>>) -> PyResult<Levels<'py>> {
    let py = objects.py();
    let view = objects
        .try_readonly()
        .map_err(|e| PyValueError::new_err(format!("the column cannot be read: {e}")))?;
    let view = view.as_array();
    let (mut places, mut hashes) = (Places::default(), Places::default());
    let mut texts: Vec<&str> = Vec::new();
    let mut numbers = Vec::with_capacity(view.len());
    for object in view {
        let address = object.as_ptr() as u64;
        // Objects stand at multiples of 16.
        let known = places.find(address >> 4, |_| true);
        if let Ok(number) = known {
            numbers.push(number);
            continue;
        }
        let object = object.bind(py);
        let number = match object.cast_exact::<PyString>() {
            Ok(text) => {
                let (hash, Ok(text)) = (object.hash()? as u64, text.to_str()) else {
                    return Ok(None);
                };
                match hashes.find(hash, |number| texts[number as usize] == text) {
                    Ok(number) => number,
                    Err(place) => {
                        texts.push(text);
                        hashes.take(place, hash, texts.len() as u32 - 1)
                    }
                }
            }
            Err(_) if is_missing(object) => MISSING,
            Err(_) => return Ok(None),
        };
        numbers.push(number);
        if let Err(place) = known
            && places.taken < MOST_OBJECTS
        {
            places.take(place, address >> 4, number);
        }
    }
    if texts.is_empty() {
        return Ok(None);
    }
    let order = sorted(&texts);
    let mut codes = vec![0.0; texts.len()];
    order.iter().enumerate().for_each(|(code, &number)| codes[number as usize] = code as f64);
    let code = |&number: &u32| codes.get(number as usize).copied().unwrap_or(f64::NAN);
    let column = PyArray1::from_vec(py, numbers.iter().map(code).collect());
    Ok(Some((column, order.iter().map(|&number| texts[number as usize].to_string()).collect())))
}

fn is_missing(object: &Bound<'_, PyAny>) -> bool {
    object.is_none() || object.cast_exact::<PyFloat>().is_ok_and(|number| number.value().is_nan())
}

/// The numbers of different texts in the order of the texts.
///
/// What all begin with is left out, and eight bytes after it are compared as one number.
fn sorted(texts: &[&str]) -> Vec<u32> {
    let shared = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let first = texts.first().copied().unwrap_or_default();
    let common = texts.iter().fold(first.len(), |common, text| common.min(shared(first, text)));
    let key = |text: &str| {
        let mut bytes = [0; 8];
        bytes.iter_mut().zip(text.bytes().skip(common)).for_each(|(byte, next)| *byte = next);
        u64::from_be_bytes(bytes)
    };
    let mut keyed: Vec<(u64, u32)> =
        texts.iter().zip(0..).map(|(text, number)| (key(text), number)).collect();
    let text = |number: u32| texts[number as usize];
    keyed.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| text(a.1).cmp(text(b.1))));
    keyed.into_iter().map(|(_, number)| number).collect()
}

/// Numbers by key, in a table of which at least half stays free.
struct Places {
    /// Key and number; a free place has no number.
    table: Vec<(u64, Option<u32>)>,
    taken: usize,
}

impl Default for Places {
    fn default() -> Self {
        Places { table: vec![(0, None); 256], taken: 0 }
    }
}

impl Places {
    /// The number of a key that `is_same` confirms, or the free place where it belongs.
    fn find(&self, key: u64, is_same: impl Fn(u32) -> bool) -> Result<u32, usize> {
        let last = self.table.len() - 1;
        // The multiplier spreads keys over the upper bits (Knuth 1998, sec. 6.4).
        let spread = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut place = (spread >> (64 - self.table.len().trailing_zeros())) as usize;
        loop {
            match self.table[place] {
                (_, None) => return Err(place),
                (found, Some(number)) if found == key && is_same(number) => return Ok(number),
                _ => place = (place + 1) & last,
            }
        }
    }

    /// Puts a number at the free place that was found for its key, and gives it back.
    fn take(&mut self, place: usize, key: u64, number: u32) -> u32 {
        self.table[place] = (key, Some(number));
        self.taken += 1;
        if 2 * self.taken > self.table.len() {
            let larger = vec![(0, None); 4 * self.table.len()];
            let before = std::mem::replace(&mut self.table, larger);
            for (key, number) in before {
                if let (Some(number), Err(place)) = (number, self.find(key, |_| false)) {
                    self.table[place] = (key, Some(number));
                }
            }
        }
        number
    }
}
