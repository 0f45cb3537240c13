//! The allocator of the programs: that of the system, with large pages for what is large.
//!
//! The first write to each page of new memory stops the program until the system has found and cleared the page.
//! Of pages of four kilobytes that takes several times as long as writing the numbers. Linux is asked for pages of two
//! megabytes for every block of at least four (as NumPy asks for its arrays); where it has none, and on other systems,
//! this is the allocator of the system and nothing else.
//!
//! The command and the Python package have it. A program of your own may:
//!
//! ```
//! #[global_allocator]
//! static MEMORY: learnt_core::LargePages = learnt_core::LargePages;
//! # assert_eq!(vec![0.0_f64; 1 << 20].iter().sum::<f64>(), 0.0);
//! ```
#![allow(
    unsafe_code,
    reason = "an allocator is unsafe by its trait; every call is handed on as it came"
)]

use std::alloc::{GlobalAlloc, Layout, System};

/// The allocator of the system, which asks for large pages for large blocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct LargePages;

// SAFETY: every block comes from `System` and goes back to it with the layout that it came with. Advice about pages
// changes neither their addresses nor what they hold.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that `System` asks for.
        advised(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        advised(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        advised(unsafe { System.realloc(block, layout, size) }, size)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

/// A block after Linux was asked for large pages, if it is large.
#[cfg(target_os = "linux")]
#[inline]
fn advised(block: *mut u8, size: usize) -> *mut u8 {
    const LARGE: usize = 4 << 20;
    const PAGE: usize = 4 << 10;
    if size >= LARGE && !block.is_null() {
        let before = block.align_offset(PAGE);
        // SAFETY: whole pages inside a block of the caller's own. The advice may be refused, and then changes nothing.
        unsafe { libc::madvise(block.add(before).cast(), size - before, libc::MADV_HUGEPAGE) };
    }
    block
}

#[cfg(not(target_os = "linux"))]
#[inline]
fn advised(block: *mut u8, _size: usize) -> *mut u8 {
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks small and large grow, shrink and keep what was written.
    #[test]
    fn blocks_are_zero_where_asked_and_keep_their_bytes_when_they_grow() {
        for (size, grown) in
            [(16, 64), (3 << 20, 9 << 20), (6 << 20, 40 << 20), (40 << 20, 5 << 20)]
        {
            let layout = Layout::from_size_align(size, 16).unwrap();
            // SAFETY: sizes are positive, and blocks are read and written within them.
            unsafe {
                let block = LargePages.alloc_zeroed(layout);
                assert!(!block.is_null());
                assert!((0..size).all(|i| *block.add(i) == 0));
                *block = 7;
                *block.add(size.min(grown) - 1) = 9;
                let block = LargePages.realloc(block, layout, grown);
                assert_eq!((*block, *block.add(size.min(grown) - 1)), (7, 9));
                *block.add(grown - 1) = 1;
                LargePages.dealloc(block, Layout::from_size_align(grown, 16).unwrap());
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn large_blocks_are_advised_to_have_large_pages() {
        let size = 64 << 20;
        let layout = Layout::from_size_align(size, 16).unwrap();
        // SAFETY: the block is not read or written.
        let block = unsafe { LargePages.alloc(layout) } as usize;
        let text = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
        let mut inside = false;
        let flags = text.lines().find_map(|line| {
            let bound = |text: &str| usize::from_str_radix(text, 16).ok();
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            if let Some((Some(from), Some(to))) = range.map(|(from, to)| (bound(from), bound(to))) {
                inside = (from..to).contains(&(block + size / 2));
            }
            line.strip_prefix("VmFlags:").filter(|_| inside)
        });
        // SAFETY: the block came from there with this layout.
        unsafe { LargePages.dealloc(block as *mut u8, layout) };
        // A system without large pages has no such flag.
        if std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() && flags.is_some() {
            assert!(flags.unwrap_or_default().contains(" hg"), "{flags:?}");
        }
    }
}
