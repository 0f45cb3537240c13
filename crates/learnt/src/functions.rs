//! Every function by name: metrics, bounds, studies, generators, splits, statistics and analyses.
//!
//! A function is one file with a struct of parameters and one line in its family's `FUNCTIONS`; the
//! command line and Python see it through this list alone.

use learnt_core::error::{Error, Result};
use learnt_core::function::{FunctionEntry, FunctionKind};

/// Every function, family by family.
pub const FUNCTIONS: &[&[FunctionEntry]] = &[
    #[cfg(feature = "metrics")]
    crate::metrics::FUNCTIONS,
    #[cfg(feature = "linear")]
    crate::linear::analyses::FUNCTIONS,
    #[cfg(feature = "discriminant")]
    crate::discriminant::FUNCTIONS,
    #[cfg(feature = "theory")]
    crate::theory::FUNCTIONS,
    #[cfg(feature = "tree")]
    crate::tree::FUNCTIONS,
    #[cfg(feature = "ensemble")]
    crate::ensemble::FUNCTIONS,
    #[cfg(feature = "datasets")]
    crate::datasets::FUNCTIONS,
    #[cfg(feature = "datasets")]
    crate::datasets::LAWS,
    #[cfg(feature = "prepare")]
    crate::prepare::FUNCTIONS,
    #[cfg(feature = "algebra")]
    crate::algebra::FUNCTIONS,
    #[cfg(feature = "cluster")]
    crate::cluster::FUNCTIONS,
    #[cfg(feature = "density")]
    crate::density::FUNCTIONS,
    #[cfg(feature = "neighbors")]
    crate::neighbors::FUNCTIONS,
    #[cfg(feature = "reduce")]
    crate::reduce::FUNCTIONS,
    #[cfg(feature = "select")]
    crate::select::SPLITTERS,
    #[cfg(feature = "select")]
    crate::select::SAMPLES,
    #[cfg(feature = "assess")]
    crate::assess::FUNCTIONS,
    #[cfg(feature = "statistics")]
    crate::statistics::DISTRIBUTIONS,
    #[cfg(feature = "statistics")]
    crate::statistics::SAMPLING,
    #[cfg(feature = "statistics")]
    crate::statistics::SUMMARIES,
    #[cfg(feature = "statistics")]
    crate::statistics::INFORMATION,
    #[cfg(feature = "statistics")]
    crate::statistics::RESIDUAL_TESTS,
    #[cfg(feature = "select")]
    crate::select::PAIRED_TESTS,
    #[cfg(feature = "statistics")]
    crate::statistics::SPECIAL_FUNCTIONS,
];

/// All functions.
pub fn functions() -> impl Iterator<Item = &'static FunctionEntry> {
    FUNCTIONS.iter().flat_map(|family| family.iter())
}

/// The functions of one kind.
pub fn functions_of(kind: FunctionKind) -> impl Iterator<Item = &'static FunctionEntry> {
    functions().filter(move |entry| entry.about.kind == kind)
}

/// The function with this path (`metrics.roc_curve`), name (`roc_curve`) or command name
/// (`roc-curve`).
pub fn find_function(name: &str) -> Result<&'static FunctionEntry> {
    // By path first: every call from Python comes by it, and the names of commands are made anew.
    let by_path = functions().find(|entry| entry.about.path == name);
    let by_name = || {
        functions().find(|entry| {
            let about = entry.about;
            about.name() == name || about.command() == name || about.aliases.contains(&name)
        })
    };
    let found = by_path.or_else(by_name);
    found.ok_or_else(|| Error::unknown("function", name, functions().map(|e| e.about.name())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_within_a_kind() {
        for (kind, ..) in FunctionKind::ALL {
            let mut names: Vec<String> = functions_of(*kind)
                .flat_map(|entry| {
                    let aliases = entry.about.aliases.iter().map(ToString::to_string);
                    aliases.chain([entry.about.command()])
                })
                .collect();
            names.sort_unstable();
            assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        }
    }
}
