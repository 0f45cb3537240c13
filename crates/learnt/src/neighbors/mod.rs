//! Nearest neighbours and the index engine under them.

mod index;

pub use index::{Index, Metric, Neighbors, Structure, Within};

use learnt_core::prelude::*;

/// The learners of this family.
pub const ENTRIES: &[Entry] = &[];
