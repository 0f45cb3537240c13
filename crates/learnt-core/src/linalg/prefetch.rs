//! Asking for memory before it is read.
//!
//! A kernel that reads some rows, works on them in registers and then reads the next ones leaves the memory idle while
//! it works, and waits for it afterwards: the processor by itself asks for what comes next only as far as it sees it
//! coming. A kernel that asks for the next rows before it works on these has them when it needs them.
#![allow(
    unsafe_code,
    reason = "the instruction takes an address; it reads nothing, and any address will do"
)]

use crate::data::MatRef;

/// Bytes that memory is brought in.
const LINE: usize = 64;

/// Asks for the cache lines of some numbers.
#[inline(always)]
pub fn prefetch<T>(values: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for value in values.iter().step_by((LINE / size_of::<T>()).max(1)) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint about an address, which may be any: it neither faults nor changes what a program sees.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, LINE);
}

/// How many rows before it is read a row is asked for, where rows are read one at a time.
pub fn rows_ahead(columns: usize) -> usize {
    const NUMBERS: usize = 512;
    (NUMBERS / columns.max(1)).max(1)
}

/// Asks for `count` rows from `first` on, where they are stored row by row: for those of the table after the last of
/// the view, too.
#[inline(always)]
pub fn prefetch_rows(x: MatRef, first: usize, count: usize) {
    if x.col_stride() == 1 {
        let memory = x.memory();
        let (start, end) = (first * x.row_stride(), (first + count) * x.row_stride());
        prefetch(&memory[start.min(memory.len())..end.min(memory.len())]);
    }
}
