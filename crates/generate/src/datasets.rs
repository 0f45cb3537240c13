//! Python loaders of the bundled data sets: one function for each.

use learnt::datasets::BUNDLED;
use std::fmt::Write as _;

/// The module that holds them.
pub(super) const MODULE: &str = "datasets";
const ARGUMENTS: &str = "*, return_X_y=False, as_frame=False";

/// Their names.
pub(super) fn names() -> impl Iterator<Item = String> {
    BUNDLED.iter().map(|set| format!("load_{}", set.name))
}

/// The functions.
pub(super) fn definitions() -> String {
    let mut out = String::new();
    for set in BUNDLED {
        let _ = write!(
            out,
            "\n\ndef load_{0}({ARGUMENTS}):\n    \"\"\"{1}\n\n    {2} rows, {3} columns. Source: \
             {4}. Terms: {5}.\n    See `load` for what is returned.\n    \"\"\"\n    \
             return load(\"{0}\", return_X_y=return_X_y, as_frame=as_frame)\n",
            set.name, set.about, set.rows, set.columns, set.source, set.licence
        );
    }
    out
}

/// Their stubs.
pub(super) fn stubs() -> String {
    let arguments = "*, return_X_y: bool = False, as_frame: bool = False";
    BUNDLED
        .iter()
        .map(|set| format!("\ndef load_{}({arguments}) -> Any: ...\n", set.name))
        .collect()
}

/// The section of the reference page.
pub(super) fn section() -> String {
    let mut out = "\n## Bundled data\n\n- Python: `learnt.datasets.load_NAME(*, return_X_y=False, \
                   as_frame=False)`, `learnt.datasets.load(name)`, `learnt.datasets.names()`\n- \
                   Command: `learnt dataset NAME`\n\n| Name | Rows | Columns | Target | About | Source | Terms |\n\
                   | --- | --- | --- | --- | --- | --- | --- |\n"
        .to_string();
    for set in BUNDLED {
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} | {} | {} | {} |",
            set.name,
            set.rows,
            set.columns,
            set.target.map_or(String::new(), |target| format!("`{target}`")),
            set.about,
            set.source,
            set.licence
        );
    }
    out
}
