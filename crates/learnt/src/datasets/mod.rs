//! Data without files or network: small sets that are compiled in, and generators.
//!
//! [`load`] gives a bundled set by name, [`BUNDLED`] lists them with their origin and licence;
//! [`FUNCTIONS`] lists what can be drawn, each with its parameters.

mod bundled;
pub mod generate;
mod text;

pub use bundled::{BUNDLED, Bundled, Levels};
pub use generate::{FUNCTIONS, LAWS};

use learnt_core::prelude::*;

/// The description of a bundled data set.
pub fn describe(name: &str) -> Result<&'static Bundled> {
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    BUNDLED
        .iter()
        .find(|set| set.name == plain(name))
        .ok_or_else(|| Error::unknown("data set", name, BUNDLED.iter().map(|set| set.name)))
}

/// A bundled data set by name.
///
/// ```
/// let iris = learnt::datasets::load("iris")?;
/// assert_eq!((iris.x.values().nrows(), iris.x.values().ncols()), (150, 4));
/// # Ok::<(), learnt::prelude::Error>(())
/// ```
pub fn load(name: &str) -> Result<OwnedDataset> {
    describe(name)?.load()
}

/// The text of a bundled data set: comma separated, one header line, empty cells are missing.
pub fn csv(name: &str) -> Result<&'static str> {
    Ok(describe(name)?.text)
}
