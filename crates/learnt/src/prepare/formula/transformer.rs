//! Formula transformer: the columns of a formula's terms.
//!
//! The right side of a formula decides the columns, coded as in R (see the family's `formula`).
//! Levels of categories are those of training: a new number in `factor(a)` is an error. There is no
//! column of ones, because learners have their own intercept. One pass for the levels, and one more for each
//! degree of a polynomial.

use super::basis::{Basis, Sums, values};
use super::design::{Design, Known, distinct, sorted_once};
use super::parse::Formula;
use super::response::Side;
use crate::prepare::affine::check_width;
use learnt_core::prelude::*;
use learnt_core::question::Terms;

/// Design matrix of an R-style formula such as `wt * cyl + log(hp)`.
///
/// Interactions, powers and functions of columns, and categories coded by treatment.
///
/// ```
/// use learnt::{prepare::FormulaTransformer, prelude::*};
/// let data = OwnedDataset::unsupervised(Matrix::from_rows(&[[2.0, 3.0], [5.0, 7.0]])?);
/// let learner = FormulaTransformer { formula: "x0 * x1".to_string(), ..Default::default() };
/// let model = learner.fit(&data.view())?;
/// assert_eq!(model.transform(&data.x.frame())?.values().row(1), [5.0, 7.0, 35.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct FormulaTransformer {
    /// The terms, such as `a + b:c + d^2`; `.` is all columns. What stands before a `~` is left out.
    #[param(positional, default = ".".to_string())]
    pub formula: String,
    /// Whether to add a column of ones where the formula has an intercept.
    #[param(default = false)]
    pub include_intercept: bool,
}

/// A fitted [`FormulaTransformer`].
#[derive(Model, Clone, Debug)]
#[model(transformer, validate = validate, terms = terms)]
pub struct FormulaTransformerModel {
    /// Whether the formula has an intercept.
    pub intercept: bool,
    columns: Vec<Column>,
    levels: Vec<Vec<f64>>,
    design: Design,
}

/// What a block must know.
#[derive(Clone, Debug, Stored)]
pub struct FormulaState {
    formula: Formula,
    columns: Vec<Column>,
    /// Polynomials as far as they are known, and the levels of factors after the first pass.
    bases: Vec<Basis>,
    levels: Option<Vec<Vec<f64>>>,
}

/// Distinct numbers of the columns that are used as factors, and sums of polynomials.
#[derive(Clone, Debug, Stored)]
pub struct Values {
    names: Vec<String>,
    values: Vec<Vec<f64>>,
    sums: Vec<Sums>,
}

impl Merge for Values {
    fn merge(mut self, later: Self) -> Result<Self> {
        for ((own, name), later) in self.values.iter_mut().zip(&self.names).zip(&later.values) {
            own.extend(later);
            *own = sorted_once(std::mem::take(own), name)?;
        }
        self.sums.iter_mut().zip(&later.sums).for_each(|(own, later)| own.add(later));
        Ok(self)
    }
}

impl Estimator for FormulaTransformer {
    type Model = FormulaTransformerModel;
    type Fit = Self;
    const ABOUT: &'static About = &About::transformer("preprocessing.FormulaTransformer")
        .alias(&["formula"])
        .missing()
        .categories()
        .threads()
        .streaming()
        .complexity(5)
        .cost("n q time for q terms")
        .reference("Chambers and Hastie (1992), Statistical Models in S, chapter 2");
}

impl Rounds for FormulaTransformer {
    type State = FormulaState;
    type Summary = Values;
    type Output = FormulaTransformerModel;

    fn begin(&self, outline: &Outline, _run: &Context) -> Result<FormulaState> {
        let formula = Formula::parse(Side::split(&self.formula)?.terms, outline.schema)?;
        let bases = vec![Basis::default(); formula.bases().len()];
        Ok(FormulaState {
            formula,
            columns: outline.schema.columns().to_vec(),
            bases,
            levels: None,
        })
    }

    fn summarize(
        &self,
        state: &FormulaState,
        block: &Block,
        _: &mut Memo,
        _: &Context,
    ) -> Result<Values> {
        let (formula, x) = (&state.formula, &block.data.x);
        let sums = formula.bases().into_iter().zip(&state.bases);
        let sums = sums.map(|(made, basis)| basis.sums(values(made, x))).collect();
        let names = state.columns.iter().map(|column| column.name.clone()).collect();
        let values = if state.levels.is_some() { Vec::new() } else { distinct(formula, x)? };
        Ok(Values { names, values, sums })
    }

    fn advance(
        &self,
        mut state: FormulaState,
        all: Values,
        _run: &Context,
    ) -> Result<Step<FormulaState, FormulaTransformerModel>> {
        let levels = state.levels.take().unwrap_or(all.values);
        let made = state.formula.bases();
        let mut ready = true;
        for ((basis, made), sums) in state.bases.iter_mut().zip(&made).zip(&all.sums) {
            if !basis.is_ready(made.degree) {
                basis.advance(sums, made)?;
            }
            ready &= basis.is_ready(made.degree);
        }
        if !ready {
            return Ok(Step::Again(FormulaState { levels: Some(levels), ..state }));
        }
        let schema = Schema::new(state.columns.clone())?;
        let known = Known { schema: &schema, values: &levels, bases: &state.bases };
        let design = Design::new(&state.formula, &known, self.include_intercept)?;
        Ok(Step::Done(FormulaTransformerModel {
            intercept: state.formula.intercept(),
            columns: state.columns,
            levels,
            design,
        }))
    }
}

impl FormulaTransformerModel {
    fn validate(&self) -> Result<()> {
        if self.levels.len() != self.columns.len() {
            return Err(learnt_core::persist::invalid("levels and columns differ"));
        }
        self.design.validate(self.columns.len())
    }

    /// Which of its columns belong to one term.
    fn terms(&self) -> Option<Terms> {
        self.design.terms()
    }

    /// Refuses a number that was no level of its factor in training.
    fn check_levels(&self, x: &Frame) -> Result<()> {
        for (j, levels) in self.levels.iter().enumerate().filter(|(_, levels)| !levels.is_empty()) {
            let unseen = |value: &f64| !value.is_nan() && !levels.contains(value);
            if let Some(value) = x.values().column(j).iter().find(|value| unseen(value)) {
                let name = &self.columns[j].name;
                let known: Vec<String> = levels.iter().take(10).map(f64::to_string).collect();
                let message = format!("factor({name}) had no level {value} in training");
                return Err(Error::new(Code::Category, message)
                    .column(name)
                    .hint(format!("its levels are {}", known.join(", "))));
            }
        }
        Ok(())
    }
}

impl Transformer for FormulaTransformerModel {
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        check_width(x, self.columns.len())?;
        self.check_levels(x)?;
        if x.schema().columns().iter().map(|c| &c.kind).eq(self.columns.iter().map(|c| &c.kind)) {
            return self.design.apply(x, run);
        }
        let codes: Vec<Vec<f64>> =
            (0..x.ncols()).map(|j| recoded(x.schema().column(j), &self.columns[j])).collect();
        let values = Matrix::from_fn(x.nrows(), x.ncols(), |i, j| {
            let value = x.values().at(i, j);
            match self.columns[j].levels() {
                None => value,
                Some(_) => codes[j].get(value as usize).copied().unwrap_or(f64::NAN),
            }
        });
        let table = Table::new(values, Schema::new(self.columns.clone())?)?;
        self.design.apply(&table.frame(), run)
    }
}

/// The training code of each level of a column; missing for a level that training did not see.
fn recoded(given: &Column, known: &Column) -> Vec<f64> {
    let (Some(given), Some(known)) = (given.levels(), known.levels()) else { return Vec::new() };
    let code = |level: &String| known.iter().position(|name| name == level);
    given.iter().map(|level| code(level).map_or(f64::NAN, |code| code as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mixed() -> OwnedDataset {
        let color = Column::categorical("color", vec!["red".into(), "blue".into()]);
        let schema = Schema::new(vec![Column::numeric("size"), color]).unwrap();
        let values = Matrix::from_fn(4, 2, |i, j| if j == 0 { i as f64 } else { (i % 2) as f64 });
        let data = OwnedDataset::unsupervised(Matrix::zeros(4, 1));
        OwnedDataset { x: Table::new(values, schema).unwrap(), ..data }
    }

    fn fitted(formula: &str) -> FormulaTransformerModel {
        let learner = FormulaTransformer { formula: formula.to_string(), ..Default::default() };
        learner.fit(&mixed().view()).unwrap()
    }

    #[test]
    fn levels_are_matched_by_name() {
        let model = fitted("color:size");
        let color = Column::categorical("color", vec!["blue".into(), "red".into()]);
        let schema = Schema::new(vec![Column::numeric("size"), color]).unwrap();
        let turned = Table::new(Matrix::from_rows(&[[7.0, 0.0]]).unwrap(), schema).unwrap();
        let out = model.transform(&turned.frame()).unwrap();
        let names: Vec<&str> = out.schema().names().collect();
        assert_eq!(names, ["colorblue:size", "colorred:size"]);
        assert_eq!(out.values().row(0), [7.0, 0.0]);
    }

    #[test]
    fn a_new_level_of_a_factor_is_refused() {
        let model = fitted("factor(size)");
        let new = Table::new(Matrix::from_rows(&[[9.0, 0.0]]).unwrap(), mixed().x.schema().clone());
        let error = model.transform(&new.unwrap().frame()).unwrap_err();
        assert_eq!(error.code(), Code::Category);
        assert!(error.message().contains("no level 9"));
    }

    #[test]
    fn the_target_before_the_tilde_is_left_out() {
        let out = fitted("y ~ size + color").transform(&mixed().x.frame()).unwrap();
        assert_eq!(out.schema().names().collect::<Vec<_>>(), ["size", "colorred"]);
    }
}
