//! The columns of a formula's terms, named and coded as in R.
//!
//! Categories are coded by treatment: a column for each level but the first, levels sorted unless
//! ordered; `C(f, b)` makes `b` the first; `C(f, sum)` compares with the mean of the levels. A category is coded in full where the term without it is not in the model, and so is the
//! first category of a model without intercept. In an interaction the first category varies fastest.
//! Missing values stay missing.

use super::basis::{self, Basis};
use super::expression::Program;
use super::parse::{Formula, Made, Shape, Variable};
use learnt_core::persist::invalid;
use learnt_core::prelude::*;
use learnt_core::question::Terms;

/// Name of the column that is added to the linear predictor as it is.
pub const OFFSET: &str = "(offset)";

/// Name of the column of ones.
const INTERCEPT: &str = "(Intercept)";

/// A factor of a product: a changed column, or 1 where a column has a level.
#[derive(Clone, Debug, Stored)]
struct Piece {
    column: usize,
    shape: Shape,
    /// The power, the level or the degree.
    number: f64,
    /// The level that counts as -1, with contrasts that sum to zero.
    #[model(later)]
    last: Option<f64>,
    /// What is computed, in the shapes that compute.
    #[model(later)]
    program: Program,
    /// Which of the design's bases, from 1, in the shape of one; 0 for powers as they are.
    #[model(later)]
    basis: usize,
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
    /// What is added up to the offset, the last column if there is one.
    #[model(later)]
    offset: Vec<Piece>,
    #[model(later)]
    bases: Vec<Basis>,
    /// Which columns belong together; empty in files of older releases.
    #[model(later)]
    terms: Vec<TermColumns>,
}

/// The columns of one term, which stand together.
#[derive(Clone, Debug, Stored)]
struct TermColumns {
    name: String,
    variables: Vec<String>,
    columns: usize,
}

/// The terms of a formula as they meet a table: levels of factors and bases of polynomials.
pub(super) struct Known<'a> {
    pub(super) schema: &'a Schema,
    pub(super) values: &'a [Vec<f64>],
    pub(super) bases: &'a [Basis],
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
    let (values, bases) = (distinct(&formula, x)?, basis::of_table(&formula, x)?);
    let known = Known { schema: x.schema(), values: &values, bases: &bases };
    Design::new(&formula, &known, true)?.apply(x, &Context::default())
}

/// Sorted distinct numbers of every column that is used as a factor; empty for others.
pub(super) fn distinct(formula: &Formula, x: &Frame) -> Result<Vec<Vec<f64>>> {
    let mut out = vec![Vec::new(); x.ncols()];
    for variable in formula.variables().filter(|v| v.shape == Shape::Factor) {
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
    /// The columns of these terms.
    pub(super) fn new(formula: &Formula, known: &Known, with_intercept: bool) -> Result<Design> {
        let mut products: Vec<Product> = Vec::new();
        let mut terms = Vec::new();
        let mut intercept_is_spanned = formula.intercept();
        for term in &formula.terms {
            let mut own = vec![Product { name: String::new(), pieces: Vec::new() }];
            for variable in term {
                check_base(variable, known)?;
                let without: Vec<Variable> =
                    term.iter().filter(|other| *other != variable).cloned().collect();
                let categorical = is_categorical(variable, known.schema);
                let spanned = !categorical || intercept_is_spanned;
                let margin = without.is_empty() || formula.contains(&without);
                let coded = coded(variable, known, formula, spanned && margin);
                intercept_is_spanned |= categorical;
                own = crossed(&own, &coded);
            }
            if term.is_empty() {
                own[0].name = INTERCEPT.to_string();
            }
            if term.is_empty() && !with_intercept {
                continue;
            }
            let variables: Vec<String> = term.iter().map(|v| label(v, known.schema)).collect();
            let name = if term.is_empty() { INTERCEPT.to_string() } else { variables.join(":") };
            terms.push(TermColumns { name, variables, columns: own.len() });
            products.extend(own);
        }
        if products.is_empty() && formula.offsets.is_empty() {
            return Err(Error::new(Code::Usage, "the formula has no terms but the intercept"));
        }
        let offset = formula.offsets.iter().map(|variable| computed(variable, 0)).collect();
        Ok(Design { products, offset, bases: known.bases.to_vec(), terms })
    }

    /// Which columns belong together.
    pub(super) fn terms(&self) -> Option<Terms> {
        let mut out = Terms::default();
        let mut start = 0;
        for term in &self.terms {
            let columns = (start..start + term.columns).collect();
            out.push(term.name.clone(), term.variables.clone(), columns);
            start += term.columns;
        }
        (!self.terms.is_empty()).then_some(out)
    }

    fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.products.iter().flat_map(|product| &product.pieces).chain(&self.offset)
    }

    /// Refuses a design that reaches beyond these columns.
    pub(super) fn validate(&self, columns: usize) -> Result<()> {
        for piece in self.pieces() {
            let computed = match piece.shape {
                Shape::Computed => piece.program.is_sound(columns),
                Shape::Basis => {
                    if let Some(basis) = piece.basis_of(&self.bases) {
                        basis.validate(piece.number as usize)?;
                    }
                    let known = piece.basis <= self.bases.len();
                    known && piece.number >= 1.0 && piece.program.is_sound(columns)
                }
                _ => true,
            };
            if piece.column >= columns || !piece.number.is_finite() || !computed {
                return Err(invalid("a design of other columns than its table"));
            }
        }
        let counted: usize = self.terms.iter().map(|term| term.columns).sum();
        if !self.terms.is_empty() && counted != self.products.len() {
            return Err(invalid("terms of another design"));
        }
        match self.products.is_empty() && self.offset.is_empty() {
            true => Err(invalid("a design without columns")),
            false => {
                self.schema().map(drop).map_err(|_| invalid("names of a design are not unique"))
            }
        }
    }

    fn schema(&self) -> Result<Schema> {
        let offset = (!self.offset.is_empty()).then(|| OFFSET.to_string());
        Schema::numeric(self.products.iter().map(|product| product.name.clone()).chain(offset))
    }

    /// The columns for these rows.
    pub(super) fn apply(&self, x: &Frame, run: &Context) -> Result<Table> {
        const ROWS: usize = 1024;
        let width = self.products.len() + usize::from(!self.offset.is_empty());
        let mut out = Matrix::zeros(x.nrows(), width);
        run.par_fill(out.as_mut_slice(), ROWS * width, |start, piece| {
            for (i, row) in piece.chunks_exact_mut(width).enumerate() {
                let at = start / width + i;
                let value = |p: &Piece| p.of(|j| x.values().at(at, j), &self.bases);
                for (out, product) in row.iter_mut().zip(&self.products) {
                    *out = product.pieces.iter().map(value).product();
                }
                if !self.offset.is_empty() {
                    row[width - 1] = self.offset.iter().map(value).sum();
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
            let product = self.products.get(j);
            let pieces = product.map_or(&self.offset, |product| &product.pieces);
            let absent = |piece: &Piece| piece.columns().any(|j| !x.values().at(i, j).is_finite());
            if pieces.iter().any(absent) {
                continue;
            }
            let name = product.map_or(OFFSET, |product| &product.name);
            let message = format!("'{name}' is not a finite number in row {}", i + 1);
            return Err(Error::new(Code::NotFinite, message)
                .hint("look at that row: log() needs positive numbers, sqrt() none below zero"));
        }
        Ok(())
    }
}

impl Piece {
    /// The columns that it reads.
    fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        let own = self.program.operations.is_empty().then_some(self.column);
        own.into_iter().chain(self.program.columns())
    }

    fn basis_of<'b>(&self, bases: &'b [Basis]) -> Option<&'b Basis> {
        bases.get(self.basis.checked_sub(1)?)
    }

    #[inline]
    fn of(&self, at: impl Fn(usize) -> f64, bases: &[Basis]) -> f64 {
        let value = || at(self.column);
        match self.shape {
            Shape::Plain => value(),
            Shape::Power => value().powi(self.number as i32),
            Shape::Log => value().ln(),
            Shape::Log2 => value().log2(),
            Shape::Log10 => value().log10(),
            Shape::Exp => value().exp(),
            Shape::Sqrt => value().sqrt(),
            Shape::Abs => value().abs(),
            Shape::Factor => match value() {
                missing if missing.is_nan() => missing,
                level if Some(level) == self.last => -1.0,
                level => f64::from(level == self.number),
            },
            Shape::Computed => self.program.value(at),
            Shape::Basis => {
                let x = self.program.value(at);
                let degree = self.number as usize;
                match self.basis_of(bases) {
                    Some(basis) => basis.column(x, degree),
                    None => x.powi(degree as i32),
                }
            }
        }
    }
}

/// The piece of a variable that is computed.
fn computed(variable: &Variable, degree: usize) -> Piece {
    let program = variable.made.as_ref().map(|made| made.program.clone()).unwrap_or_default();
    let (column, shape) = (variable.column, variable.shape);
    Piece { column, shape, number: degree as f64, last: None, program, basis: 0 }
}

fn is_categorical(variable: &Variable, schema: &Schema) -> bool {
    variable.shape == Shape::Factor || schema.column(variable.column).levels().is_some()
}

/// Refuses a level to compare with that a factor of numbers does not have.
fn check_base(variable: &Variable, known: &Known) -> Result<()> {
    let Some(base) = variable.base.as_ref().filter(|_| variable.shape == Shape::Factor) else {
        return Ok(());
    };
    let levels: Vec<String> =
        known.values.get(variable.column).into_iter().flatten().map(f64::to_string).collect();
    match levels.is_empty() || levels.contains(base) {
        true => Ok(()),
        false => Err(Error::unknown("level", base, levels.iter().map(String::as_str))),
    }
}

/// The columns of one variable.
fn coded(variable: &Variable, known: &Known, formula: &Formula, contrasts: bool) -> Vec<Product> {
    if let Some(made) = &variable.made {
        return made_columns(variable, made, formula);
    }
    let column = known.schema.column(variable.column);
    let piece = |shape, number| Piece {
        column: variable.column,
        shape,
        number,
        last: None,
        program: Program::default(),
        basis: 0,
    };
    let levels = match (&column.kind, variable.shape) {
        (ColumnKind::Numeric, Shape::Factor) => {
            let named = |&value: &f64| (value.to_string(), value);
            known.values.get(variable.column).into_iter().flatten().map(named).collect()
        }
        (ColumnKind::Categorical { levels, ordered }, _) => level_order(levels, *ordered),
        (ColumnKind::Numeric, shape) => {
            let name = label(variable, known.schema);
            let pieces = vec![piece(shape, f64::from(variable.power))];
            return vec![Product { name, pieces }];
        }
    };
    let mut levels: Vec<(String, f64)> = levels;
    let base = levels.iter().position(|(level, _)| Some(level) == variable.base.as_ref());
    if let Some(base) = base {
        levels[..=base].rotate_right(1);
    }
    let prefix = label(variable, known.schema);
    if variable.sum
        && contrasts
        && let Some((_, last)) = levels.pop()
    {
        let product = |(k, (_, code)): (usize, (String, f64))| Product {
            name: format!("C({prefix}, sum){}", k + 1),
            pieces: vec![Piece { last: Some(last), ..piece(Shape::Factor, code) }],
        };
        return levels.into_iter().enumerate().map(product).collect();
    }
    let product = |(level, code): (String, f64)| Product {
        name: format!("{prefix}{level}"),
        pieces: vec![piece(Shape::Factor, code)],
    };
    levels.into_iter().skip(usize::from(contrasts)).map(product).collect()
}

/// The columns of an expression: one, or one a degree.
fn made_columns(variable: &Variable, made: &Made, formula: &Formula) -> Vec<Product> {
    if made.degree == 0 {
        return vec![Product { name: made.text.clone(), pieces: vec![computed(variable, 0)] }];
    }
    let basis = formula.bases().iter().position(|known| *known == made).map_or(0, |at| at + 1);
    let product = |degree: usize| Product {
        name: format!("{}{degree}", made.text),
        pieces: vec![Piece { basis, ..computed(variable, degree) }],
    };
    (1..=made.degree).map(product).collect()
}

/// Levels with their codes, sorted unless they have an order of their own.
fn level_order(levels: &[String], ordered: bool) -> Vec<(String, f64)> {
    let mut out: Vec<(String, f64)> = levels.iter().cloned().zip((0..).map(f64::from)).collect();
    if !ordered {
        out.sort_by(|a, b| a.0.cmp(&b.0));
    }
    out
}

/// The name of a variable, as R writes it.
fn label(variable: &Variable, schema: &Schema) -> String {
    if let Some(made) = &variable.made {
        return made.text.clone();
    }
    let column = &schema.column(variable.column).name;
    match variable.shape {
        Shape::Power => format!("I({column}^{})", variable.power),
        Shape::Log => format!("log({column})"),
        Shape::Log2 => format!("log2({column})"),
        Shape::Log10 => format!("log10({column})"),
        Shape::Exp => format!("exp({column})"),
        Shape::Sqrt => format!("sqrt({column})"),
        Shape::Abs => format!("abs({column})"),
        Shape::Factor => format!("factor({column})"),
        Shape::Plain | Shape::Computed | Shape::Basis => column.clone(),
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
    fn contrasts_that_sum_to_zero_compare_with_the_mean_of_the_levels() {
        let design = design_matrix(&table().frame(), "C(f, sum)").unwrap();
        let names: Vec<&str> = design.schema().names().collect();
        assert_eq!(names, ["(Intercept)", "C(f, sum)1", "C(f, sum)2"]);
        // Levels in sorted order are a, b, c; the rows hold b, a, c.
        let rows: Vec<&[f64]> = design.values().rows().take(3).collect();
        assert_eq!(rows, [[1.0, 0.0, 1.0], [1.0, 1.0, 0.0], [1.0, -1.0, -1.0]]);
    }

    #[test]
    fn expressions_and_offsets_are_computed() {
        let design =
            design_matrix(&table().frame(), "I(x/2) + log(x + 1) + offset(3 * x)").unwrap();
        let names: Vec<&str> = design.schema().names().collect();
        assert_eq!(names, ["(Intercept)", "I(x/2)", "log(x + 1)", OFFSET]);
        assert_eq!(design.values().row(4), [1.0, 2.0, 5_f64.ln(), 12.0]);
    }

    /// `poly(0:5, 2)` of R 4.2.
    #[test]
    fn polynomials_are_those_of_r() {
        let design = design_matrix(&table().frame(), "poly(x, 2)").unwrap();
        let names: Vec<&str> = design.schema().names().collect();
        assert_eq!(names, ["(Intercept)", "poly(x, 2)1", "poly(x, 2)2"]);
        let expected = [
            [-0.597614304667197, 0.545544725589981],
            [-0.358568582800318, -0.109108945117996],
            [-0.119522860933439, -0.436435780471985],
        ];
        for (row, expected) in design.values().rows().zip(expected) {
            assert!((row[1] - expected[0]).abs() < 1e-14 && (row[2] - expected[1]).abs() < 1e-14);
        }
        let raw = design_matrix(&table().frame(), "poly(x, 3, raw = TRUE)").unwrap();
        assert_eq!(raw.values().row(3), [1.0, 3.0, 9.0, 27.0]);
        let error = design_matrix(&table().frame(), "poly(x, 6)").unwrap_err();
        assert_eq!(error.code(), Code::TooFew);
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
