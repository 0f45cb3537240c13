//! Formulas, written and coded as in R.
//!
//! `target ~ terms`. Terms are added with `+` and taken away with `-`: a column `a`, an interaction
//! `a:b`, `a*b` for both and their interaction, `a/b` for `a + a:b`, `(a + b)^2` for all of them and
//! their pairs, `.` for all columns, `1` and `0` (or `-1`) for the intercept. A column may be raised,
//! `a^2`, or changed by a function, inside which stands arithmetic: `log(a + 1)`, `I(a/b)`. `poly(a, 2)` is an
//! orthogonal polynomial, `factor(a)` makes categories of numbers, `C(a, base)` chooses the level that others
//! are compared with, `offset(a)` is added as it is. The left side is a column or a function of one that has an
//! inverse. Names with other characters stand in backticks.

mod basis;
mod call;
mod design;
mod expression;
mod parse;
mod response;
mod token;
mod transformer;

pub use design::{OFFSET, design_matrix};
pub use parse::{Formula, Shape, Variable};
pub use response::{Response, Side};
pub use transformer::{FormulaState, FormulaTransformer, FormulaTransformerModel, Values};
