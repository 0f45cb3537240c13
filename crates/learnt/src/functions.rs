//! Every function by name: metrics, bounds, studies, generators, splits, statistics and analyses.
//!
//! A function is one file with a struct of parameters and one line in its family's `FUNCTIONS`; the
//! command line and Python see it through this list alone.

use crate::{
    algebra, assess, cluster, datasets, density, discriminant, ensemble, linear, metrics,
    neighbors, prepare, reduce, select, statistics, theory, tree,
};
use learnt_core::error::{Error, Result};
use learnt_core::function::{FunctionEntry, FunctionKind};

/// Every function, family by family.
pub const FUNCTIONS: &[&[FunctionEntry]] = &[
    metrics::FUNCTIONS,
    linear::analyses::FUNCTIONS,
    discriminant::FUNCTIONS,
    theory::FUNCTIONS,
    tree::FUNCTIONS,
    ensemble::FUNCTIONS,
    datasets::FUNCTIONS,
    datasets::LAWS,
    prepare::FUNCTIONS,
    algebra::FUNCTIONS,
    cluster::FUNCTIONS,
    density::FUNCTIONS,
    neighbors::FUNCTIONS,
    reduce::FUNCTIONS,
    select::SPLITTERS,
    select::SAMPLES,
    assess::FUNCTIONS,
    statistics::DISTRIBUTIONS,
    statistics::SAMPLING,
    statistics::SUMMARIES,
    statistics::INFORMATION,
    statistics::RESIDUAL_TESTS,
    select::PAIRED_TESTS,
    statistics::SPECIAL_FUNCTIONS,
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
    let found = functions().find(|entry| {
        let about = entry.about;
        about.path == name
            || about.name() == name
            || about.command() == name
            || about.aliases.contains(&name)
    });
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
