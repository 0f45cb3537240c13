//! Formulas, written and coded as in R.
//!
//! `target ~ terms`. Terms are added with `+` and taken away with `-`: a column `a`, an interaction
//! `a:b`, `a*b` for both and their interaction, `a/b` for `a + a:b`, `(a + b)^2` for all of them and
//! their pairs, `.` for all columns, `1` and `0` (or `-1`) for the intercept. A column may be raised,
//! `a^2`, or changed by `log`, `log2`, `log10`, `exp`, `sqrt` or `abs`; `factor(a)` makes categories
//! of numbers. Names with other characters stand in backticks.

mod design;
mod parse;
mod transformer;

pub use design::design_matrix;
pub use parse::{Formula, Shape, Side, Variable};
pub use transformer::{FormulaState, FormulaTransformer, FormulaTransformerModel, Values};
