//! Numbers that begin where a cache line begins.
//!
//! A vector register that is loaded from two cache lines takes two loads, and the memory of a plain `Vec` begins
//! anywhere. Kernels that read again and again what they have copied themselves keep it here.

use pulp::bytemuck::Zeroable;
use std::ops::{Deref, DerefMut};

/// Bytes of a cache line, and of the widest vectors.
const LINE: usize = 64;

/// A slice of numbers from the beginning of a cache line on.
///
/// ```
/// # use learnt_core::linalg::Lines;
/// let mut numbers = Lines::<f64>::zeros(3);
/// numbers[1] = 2.0;
/// assert_eq!(*numbers, [0.0, 2.0, 0.0]);
/// assert_eq!(numbers.as_ptr().align_offset(64), 0);
/// ```
#[derive(Debug)]
pub struct Lines<T> {
    numbers: Vec<T>,
    start: usize,
    length: usize,
}

impl<T: Zeroable + Clone> Lines<T> {
    /// So many zeros.
    pub fn zeros(length: usize) -> Self {
        let spare = LINE / size_of::<T>().max(1);
        let numbers = vec![T::zeroed(); length + spare];
        let start = numbers.as_ptr().align_offset(LINE).min(spare);
        Lines { numbers, start, length }
    }
}

impl<T> Lines<T> {
    /// Keeps the first numbers, at most as many as there are.
    pub fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }
}

impl<T> Deref for Lines<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.numbers[self.start..self.start + self.length]
    }
}

impl<T> DerefMut for Lines<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.numbers[self.start..self.start + self.length]
    }
}
