//! The columns of a formula's terms, named and coded as in R.
//!
//! Categories are coded by treatment: a column for each level but the first, levels sorted unless
//! ordered; `C(f, b)` makes `b` the first. A category is coded in full where the term without it is not in the model, and so is the
//! first category of a model without intercept. In an interaction the first category varies fastest.
//! Missing values stay missing.

use super::parse::{Formula, Shape, Variable};
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// Name of the column of ones.
const INTERCEPT: &str = "(Intercept)";

/// A factor of a product: a changed column, or 1 where a column has a level.
#[derive(Clone, Debug, Stored)]
struct Piece {
    column: usize,
    shape: Shape,
    /// The power or the level.
    number: f64,
}

/// A column of the design: a product.
#[derive(Clone, Debug, Stored)]
struct Product {
    name: String,
    pieces: Vec<Piece>,
}

/// The columns of a formula for tables of one schema.
#[derive(Clone, Debug, Stored)]
pub(super) struct Design {
    products: Vec<Product>,
}

/// The columns of a formula's terms.
///
/// ```
/// use learnt::{prepare::design_matrix, prelude::*};
/// let table = Table::unnamed(Matrix::from_rows(&[[2.0, 3.0], [5.0, 7.0]])?);
/// let design = design_matrix(&table.frame(), "x0 * x1 + x0^2")?;
/// let names: Vec<&str> = design.schema().names().collect();
/// assert_eq!(names, ["(Intercept)", "x0", "x1", "I(x0^2)", "x0:x1"]);
/// assert_eq!(design.values().row(1), [1.0, 5.0, 7.0, 25.0, 35.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn design_matrix(x: &Frame, formula: &str) -> Result<Table> {
    let formula = Formula::parse(formula, x.schema())?;
    let values = distinct(&formula, x)?;
    Design::new(&formula, x.schema(), &values, true)?.apply(x, &Context::default())
}

/// Sorted distinct numbers of every column that is used as a factor; empty for others.
pub(super) fn distinct(formula: &Formula, x: &Frame) -> Result<Vec<Vec<f64>>> {
    let mut out = vec![Vec::new(); x.ncols()];
    for variable in formula.terms.iter().flatten().filter(|v| v.shape == Shape::Factor) {
        let mut values = x.values().column(variable.column);
        values.retain(|value| !value.is_nan());
        out[variable.column] = sorted_once(values, &x.schema().column(variable.column).name)?;
    }
    Ok(out)
}

/// Sorted, each once; an error above a thousand.
pub(super) fn sorted_once(mut values: Vec<f64>, name: &str) -> Result<Vec<f64>> {
    const MOST: usize = 1000;
    values.sort_by(f64::total_cmp);
    values.dedup();
    match values.len() > MOST {
        false => Ok(values),
        true => {
            let message = format!("factor({name}) has more than {MOST} levels");
            Err(Error::new(Code::Category, message).column(name).hint("use the column as a number"))
        }
    }
}

impl Design {
    /// The columns of these terms; `values` holds the levels of columns used as factors.
    pub(super) fn new(
        formula: &Formula,
        schema: &Schema,
        values: &[Vec<f64>],
        with_intercept: bool,
    ) -> Result<Design> {
        let mut products: Vec<Product> = Vec::new();
        let mut intercept_is_spanned = formula.intercept();
        for term in &formula.terms {
            let mut own = vec![Product { name: String::new(), pieces: Vec::new() }];
            for variable in term {
                let without: Vec<Variable> =
                    term.iter().filter(|other| *other != variable).cloned().collect();
                let categorical = is_categorical(variable, schema);
                let spanned = !categorical || intercept_is_spanned;
                let margin = without.is_empty() || formula.contains(&without);
                let coded = coded(variable, schema, values, spanned && margin);
                intercept_is_spanned |= categorical;
                own = crossed(&own, &coded);
            }
            if term.is_empty() {
                own[0].name = INTERCEPT.to_string();
            }
            products.extend(own.into_iter().filter(|_| with_intercept || !term.is_empty()));
        }
        match products.is_empty() {
            true => Err(Error::new(Code::Usage, "the formula has no terms but the intercept")),
            false => Ok(Design { products }),
        }
    }

    /// Refuses a design that reaches beyond these columns.
    pub(super) fn validate(&self, columns: usize) -> Result<()> {
        let pieces = self.products.iter().flat_map(|product| &product.pieces);
        let inside = pieces.clone().all(|piece| piece.column < columns && piece.number.is_finite());
        match inside && !self.products.is_empty() {
            true => {
                self.schema().map(drop).map_err(|_| invalid("names of a design are not unique"))
            }
            false => Err(invalid("a design of other columns than its table")),
        }
    }

    fn schema(&self) -> Result<Schema> {
        Schema::numeric(self.products.iter().map(|product| product.name.clone()))
    }

    /// The columns for these rows.
    pub(super) fn apply(&self, x: &Frame, run: &Context) -> Result<Table> {
        const ROWS: usize = 1024;
        let width = self.products.len();
        let mut out = Matrix::zeros(x.nrows(), width);
        run.par_fill(out.as_mut_slice(), ROWS * width, |start, piece| {
            for (i, row) in piece.chunks_exact_mut(width).enumerate() {
                let at = start / width + i;
                for (out, product) in row.iter_mut().zip(&self.products) {
                    *out =
                        product.pieces.iter().map(|p| p.of(x.values().at(at, p.column))).product();
                }
            }
        });
        run.checkpoint()?;
        self.check_finite(x, &out)?;
        Table::new(out, self.schema()?)
    }

    /// A number that a function made infinite or undefined is named.
    fn check_finite(&self, x: &Frame, out: &Matrix) -> Result<()> {
        for (i, row) in out.rows().enumerate() {
            let Some(j) = row.iter().position(|value| !value.is_finite()) else { continue };
            let product = &self.products[j];
            if product.pieces.iter().any(|piece| !x.values().at(i, piece.column).is_finite()) {
                continue;
            }
            let message = format!("'{}' is not a finite number in row {}", product.name, i + 1);
            return Err(Error::new(Code::NotFinite, message)
                .hint("look at that row: log() needs positive numbers, sqrt() none below zero"));
        }
        Ok(())
    }
}

impl Piece {
    #[inline]
    fn of(&self, value: f64) -> f64 {
        match self.shape {
            Shape::Plain => value,
            Shape::Power => value.powi(self.number as i32),
            Shape::Log => value.ln(),
            Shape::Log2 => value.log2(),
            Shape::Log10 => value.log10(),
            Shape::Exp => value.exp(),
            Shape::Sqrt => value.sqrt(),
            Shape::Abs => value.abs(),
            Shape::Factor if value.is_nan() => value,
            Shape::Factor => f64::from(value == self.number),
        }
    }
}

fn is_categorical(variable: &Variable, schema: &Schema) -> bool {
    variable.shape == Shape::Factor || schema.column(variable.column).levels().is_some()
}

/// The columns of one variable.
fn coded(
    variable: &Variable,
    schema: &Schema,
    values: &[Vec<f64>],
    contrasts: bool,
) -> Vec<Product> {
    let column = schema.column(variable.column);
    let piece = |shape, number| vec![Piece { column: variable.column, shape, number }];
    let (prefix, levels) = match (&column.kind, variable.shape) {
        (ColumnKind::Numeric, Shape::Factor) => {
            let named = |&value: &f64| (value.to_string(), value);
            let levels = values.get(variable.column).into_iter().flatten().map(named).collect();
            (format!("factor({})", column.name), levels)
        }
        (ColumnKind::Categorical { levels, ordered }, _) => {
            (column.name.clone(), level_order(levels, *ordered))
        }
        (ColumnKind::Numeric, shape) => {
            let name = shown(&column.name, variable);
            return vec![Product { name, pieces: piece(shape, f64::from(variable.power)) }];
        }
    };
    let mut levels: Vec<(String, f64)> = levels;
    let base = levels.iter().position(|(level, _)| Some(level) == variable.base.as_ref());
    if let Some(base) = base {
        levels[..=base].rotate_right(1);
    }
    let skipped = usize::from(contrasts);
    let product = |(level, code): (String, f64)| Product {
        name: format!("{prefix}{level}"),
        pieces: piece(Shape::Factor, code),
    };
    levels.into_iter().skip(skipped).map(product).collect()
}

/// Levels with their codes, sorted unless they have an order of their own.
fn level_order(levels: &[String], ordered: bool) -> Vec<(String, f64)> {
    let mut out: Vec<(String, f64)> = levels.iter().cloned().zip((0..).map(f64::from)).collect();
    if !ordered {
        out.sort_by(|a, b| a.0.cmp(&b.0));
    }
    out
}

fn shown(column: &str, variable: &Variable) -> String {
    match variable.shape {
        Shape::Power => format!("I({column}^{})", variable.power),
        Shape::Log => format!("log({column})"),
        Shape::Log2 => format!("log2({column})"),
        Shape::Log10 => format!("log10({column})"),
        Shape::Exp => format!("exp({column})"),
        Shape::Sqrt => format!("sqrt({column})"),
        Shape::Abs => format!("abs({column})"),
        Shape::Plain | Shape::Factor => column.to_string(),
    }
}

/// All products of two sets of columns, the first varying fastest.
fn crossed(first: &[Product], second: &[Product]) -> Vec<Product> {
    let both = |a: &Product, b: &Product| Product {
        name: format!("{}{}{}", a.name, if a.name.is_empty() { "" } else { ":" }, b.name),
        pieces: a.pieces.iter().chain(&b.pieces).cloned().collect(),
    };
    second.iter().flat_map(|b| first.iter().map(move |a| both(a, b))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let columns = vec![
            Column::numeric("x"),
            Column::categorical("f", ["b", "a", "c"].map(String::from).to_vec()),
            Column::categorical("g g", ["u", "v"].map(String::from).to_vec()),
        ];
        let values = Matrix::from_fn(6, 3, |i, j| [i as f64, (i % 3) as f64, (i / 3) as f64][j]);
        Table::new(values, Schema::new(columns).unwrap()).unwrap()
    }

    fn names(formula: &str) -> Vec<String> {
        let design = design_matrix(&table().frame(), formula).unwrap();
        design.schema().names().map(String::from).collect()
    }

    #[test]
    fn the_first_level_in_sorted_order_is_the_reference() {
        assert_eq!(names("x + f"), ["(Intercept)", "x", "fb", "fc"]);
    }

    #[test]
    fn another_level_may_be_the_reference() {
        assert_eq!(names("x + C(f, c)"), ["(Intercept)", "x", "fa", "fb"]);
        assert_eq!(names("factor(x, 2)")[..3], ["(Intercept)", "factor(x)0", "factor(x)1"]);
        assert!(!names("factor(x, 2)").contains(&"factor(x)2".to_string()));
        let error = design_matrix(&table().frame(), "C(f, z)").unwrap_err();
        assert_eq!(error.code(), Code::Unknown);
    }

    #[test]
    fn categories_are_coded_in_full_where_their_margin_is_absent() {
        assert_eq!(names("f - 1"), ["fa", "fb", "fc"]);
        assert_eq!(names("0 + f + `g g`"), ["fa", "fb", "fc", "g gv"]);
        assert_eq!(names("x:f"), ["(Intercept)", "x:fa", "x:fb", "x:fc"]);
        assert_eq!(names("x*f - x:f"), ["(Intercept)", "x", "fb", "fc"]);
    }

    #[test]
    fn the_first_category_of_an_interaction_varies_fastest() {
        let all = names("f * `g g`");
        assert_eq!(all, ["(Intercept)", "fb", "fc", "g gv", "fb:g gv", "fc:g gv"]);
    }

    #[test]
    fn numbers_become_categories_on_request() {
        assert_eq!(names("factor(x) - 1")[..2], ["factor(x)0", "factor(x)1"]);
        let design = design_matrix(&table().frame(), "factor(x)").unwrap();
        assert_eq!(design.values().row(2), [1.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn mistakes_are_named() {
        let error = |formula: &str| design_matrix(&table().frame(), formula).unwrap_err();
        assert_eq!(error("x + y").code(), Code::Unknown);
        assert_eq!(error("f^2").code(), Code::NotNumeric);
        assert_eq!(error("-1").code(), Code::Usage);
        let undefined = error("log(x)");
        assert_eq!(undefined.code(), Code::NotFinite);
        assert!(undefined.message().contains("'log(x)'") && undefined.message().contains("row 1"));
    }
}
