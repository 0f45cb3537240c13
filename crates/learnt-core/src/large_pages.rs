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
    reason = "an allocator is unsafe by its trait; every call is handed on as it came, and advice changes no memory"
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
///
/// Advice splits a mapping where it begins and ends, and what is split cannot grow in place any more. So it begins with
/// the page in which the block begins, where the allocator keeps its size, and ends with the last page.
#[cfg(target_os = "linux")]
#[inline]
fn advised(block: *mut u8, size: usize) -> *mut u8 {
    const LARGE: usize = 4 << 20;
    const PAGE: usize = 4 << 10;
    if size >= LARGE && !block.is_null() {
        let before = block.addr() % PAGE;
        // SAFETY: the pages of a block, of which the first and the last may hold other blocks too: the advice changes
        // neither what pages hold nor who may read them, and is refused where it makes no sense.
        unsafe {
            let first = block.wrapping_sub(before);
            libc::madvise(first.cast(), before + size, libc::MADV_HUGEPAGE)
        };
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

    /// The mapping of this process that holds an address: where it is, its kilobytes in memory, and its flags.
    #[cfg(target_os = "linux")]
    fn mapping(address: usize) -> Option<(std::ops::Range<usize>, usize, String)> {
        let text = std::fs::read_to_string("/proc/self/smaps").ok()?;
        let bound = |text: &str| usize::from_str_radix(text, 16).ok();
        let (mut inside, mut kept) = (None, 0);
        for line in text.lines() {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            if let Some((Some(from), Some(to))) = range.map(|(from, to)| (bound(from), bound(to))) {
                inside = Some(from..to).filter(|range| range.contains(&address));
            }
            let Some(range) = &inside else { continue };
            if let Some(rest) = line.strip_prefix("Rss:") {
                kept = rest.trim().trim_end_matches(" kB").parse().ok()?;
            }
            if let Some(flags) = line.strip_prefix("VmFlags:") {
                return Some((range.clone(), kept, flags.to_string()));
            }
        }
        None
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn large_blocks_are_advised_as_a_whole_and_grow_without_a_copy() {
        // A system without large pages has no such flag.
        if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
            return;
        }
        // Near whole pages and far from them: the last page holds some of the block, or nothing.
        for size in [64 << 20, (64 << 20) - 8, (64 << 20) - 32, (64 << 20) + 1000] {
            let layout = Layout::from_size_align(size, 16).unwrap();
            // SAFETY: nothing of the blocks is read or written.
            unsafe {
                let block = LargePages.alloc(layout);
                let (range, _, flags) = mapping(block.addr()).unwrap();
                assert!(range.contains(&(block.addr() + size - 1)), "{range:x?} {size}");
                assert!(flags.contains(" hg"), "{flags}");
                // A copy would have written every page.
                let block = LargePages.realloc(block, layout, 2 * size);
                let (_, kept, _) = mapping(block.addr()).unwrap();
                assert!(kept < 32 << 10, "{kept} kB of a block that nobody wrote");
                LargePages.dealloc(block, Layout::from_size_align(2 * size, 16).unwrap());
            }
        }
    }
}
