//! Large tables of numbers that are read out of order.
//!
//! Before a processor reads an address it must know the page that the address lies in, and it remembers few pages.
//! Of pages of two megabytes instead of four kilobytes it needs five hundred times fewer, so that reading a column
//! of a table by rows no longer waits twice for each number. Linux is asked for large pages; where it has none, or on
//! another system, the memory is that of a `Vec`.

use std::ops::{Deref, DerefMut};

/// So many numbers that pages matter: 32 megabytes.
#[cfg(target_os = "linux")]
const MANY: usize = 1 << 22;

/// Numbers in memory that is made of large pages where the system has them.
///
/// ```
/// # use learnt_core::linalg::Pages;
/// let mut numbers = Pages::zeros(3);
/// numbers[1] = 2.0;
/// assert_eq!(*numbers, [0.0, 2.0, 0.0]);
/// ```
#[derive(Debug)]
pub struct Pages(Memory);

#[derive(Debug)]
enum Memory {
    Plain(Vec<f64>),
    #[cfg(target_os = "linux")]
    Mapped(memmap2::MmapMut),
}

impl Pages {
    /// So many zeros.
    pub fn zeros(length: usize) -> Self {
        #[cfg(target_os = "linux")]
        if length >= MANY
            && let Ok(map) = memmap2::MmapMut::map_anon(length * size_of::<f64>())
            && map.advise(memmap2::Advice::HugePage).is_ok()
        {
            return Pages(Memory::Mapped(map));
        }
        Pages(Memory::Plain(vec![0.0; length]))
    }
}

impl Deref for Pages {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        match &self.0 {
            Memory::Plain(numbers) => numbers,
            #[cfg(target_os = "linux")]
            Memory::Mapped(map) => pulp::bytemuck::cast_slice(map),
        }
    }
}

impl DerefMut for Pages {
    fn deref_mut(&mut self) -> &mut [f64] {
        match &mut self.0 {
            Memory::Plain(numbers) => numbers,
            #[cfg(target_os = "linux")]
            Memory::Mapped(map) => pulp::bytemuck::cast_slice_mut(map),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_numbers_are_zero_and_keep_what_is_written() {
        let length = (1 << 22) + 5;
        let mut numbers = Pages::zeros(length);
        assert_eq!(numbers.len(), length);
        assert!(numbers.iter().all(|&x| x == 0.0));
        numbers[length - 1] = 3.0;
        assert_eq!(numbers[length - 1], 3.0);
        if cfg!(target_os = "linux") {
            assert_eq!(numbers.as_ptr().align_offset(4096), 0);
        }
    }
}
