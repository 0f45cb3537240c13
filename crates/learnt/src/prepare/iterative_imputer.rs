//! Imputation by models: each column is predicted from the others, in turn, until nothing moves.
//!
//! Missing values start at the column's mean (mode for categories). A round goes through the columns
//! from the fewest missing values to the most, the first of equals first: a learner is fitted on the
//! rows where the column is known and fills those where it is not. Stops when no number moves by
//! more than `tol` times the largest known one and no category changes, or after `max_iter` rounds.
//! New rows are filled by the same models in the same order.

use super::affine::check_width;
use super::categories::TableCounts;
use crate::learner::{Fitted, Learner};
use crate::linear::LinearRegression;
use learnt_core::estimator::Accepts;
use learnt_core::linalg::ColumnMoments;
use learnt_core::part::FittedPart;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// Imputes missing values with predictions from the other columns (chained equations).
///
/// Values start at the mean, go from the fewest missing to the most and are not drawn at random, so
/// there is no `initial_strategy`, `imputation_order` or `sample_posterior`; every column is an input
/// of every other, so there is no `n_nearest_features`; a column without any value is filled with 0.
/// The default learner is plain least squares, not Bayesian ridge regression.
///
/// ```
/// use learnt::{prepare::IterativeImputer, prelude::*};
/// let x = Matrix::from_fn(9, 2, |i, j| if (i, j) == (4, 1) { f64::NAN } else { (i * (j + 1)) as f64 });
/// let data = OwnedDataset::unsupervised(x);
/// let model = IterativeImputer::default().fit(&data.view())?;
/// assert!((model.transform(&data.x.frame())?.values()[(4, 1)] - 8.0).abs() < 1e-9);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct IterativeImputer {
    /// The regressor for numeric columns; by default least squares.
    #[param(positional, learner = regressor, default = LinearRegression)]
    pub estimator: Learner,
    /// The classifier for categorical columns; without one they keep their mode.
    #[param(learner = classifier, default = None)]
    pub classifier: Option<Learner>,
    /// Maximum number of rounds (iterations).
    #[param(default = 10, range = 0..)]
    pub max_iter: usize,
    /// Convergence tolerance: the largest change, as a share of the largest known value.
    #[param(default = 1e-3, range = 0.0..)]
    pub tol: f64,
    /// Fit no models for columns that training has complete; new gaps there get the mean.
    #[param(default = false)]
    pub skip_complete: bool,
}

/// A fitted [`IterativeImputer`].
#[derive(Model, Debug)]
#[model(transformer, validate = validate, converged = has_converged, parts = parts)]
pub struct IterativeImputerModel {
    /// What missing values start from.
    pub initial: Vec<f64>,
    /// Rounds made.
    pub n_iter: usize,
    fills: Vec<Fill>,
    has_converged: bool,
}

/// One model of one round.
#[derive(Stored, Debug)]
struct Fill {
    column: usize,
    inputs: Vec<usize>,
    /// From class codes to level codes; empty for numbers.
    levels: Vec<f64>,
    part: Fitted,
}

impl Estimator for IterativeImputer {
    type Model = IterativeImputerModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::transformer("impute.IterativeImputer")
        .weights()
        .missing()
        .categories()
        .iterations()
        .threads()
        .complexity(30)
        .cost("a fit for each column and round");

    fn accepts(&self) -> Accepts {
        let takes = |learner: &Learner| learner.any_accepts().weights;
        let weights = takes(&self.estimator) && self.classifier.as_ref().is_none_or(takes);
        Accepts { weights, ..Self::ABOUT.accepts }
    }

    fn train(&self, data: &Dataset, run: &Context) -> Result<IterativeImputerModel> {
        let initial = starting_values(data);
        let mut filling = Filling::new(data, &initial);
        let order = filling.order(self.skip_complete);
        let (mut fills, mut monitor) = (Vec::new(), run.monitor("imputation", self.max_iter));
        while monitor.advance()? {
            let before = filling.table.values().clone();
            for &j in &order {
                let learner = match data.x.schema().column(j).levels() {
                    None => Some(&self.estimator),
                    Some(_) => self.classifier.as_ref(),
                };
                if let Some(learner) = learner {
                    fills.extend(filling.fill(j, &**learner, &run.untraced())?);
                }
            }
            let change = filling.change(&before);
            // Another category is a change without a size: as large as the largest value.
            monitor.record(if change.is_finite() { change } else { 1.0 });
            if change <= self.tol {
                monitor.converge();
            }
        }
        let ended = monitor.finish();
        let (n_iter, has_converged) = (ended.n_iter, ended.converged);
        Ok(IterativeImputerModel { initial, n_iter, fills, has_converged })
    }
}

/// Means of numbers, modes of categories, 0 without values.
fn starting_values(data: &Dataset) -> Vec<f64> {
    let means = ColumnMoments::of(data).mean;
    let counts = TableCounts::of(data).columns;
    let start = |j: usize| match data.x.schema().column(j).levels() {
        None => means[j],
        Some(_) => counts[j].mode().map_or(0.0, |k| k as f64),
    };
    (0..data.x.ncols()).map(start).collect()
}

/// A table whose gaps are being filled.
struct Filling<'a> {
    data: &'a Dataset<'a>,
    table: Table,
    known: Vec<Vec<usize>>,
    gaps: Vec<Vec<usize>>,
}

impl<'a> Filling<'a> {
    fn new(data: &'a Dataset<'a>, initial: &[f64]) -> Self {
        let split = |j: usize| -> (Vec<usize>, Vec<usize>) {
            (0..data.nrows()).partition(|&i| !data.x.values().at(i, j).is_nan())
        };
        let (known, gaps) = (0..data.x.ncols()).map(split).unzip();
        let mut table = data.x.to_table();
        start(&mut table, initial);
        Filling { data, table, known, gaps }
    }

    /// Columns from the fewest gaps to the most; only those with gaps if complete ones are skipped.
    fn order(&self, skip_complete: bool) -> Vec<usize> {
        let wanted = |j: &usize| !(skip_complete && self.gaps[*j].is_empty());
        let mut order: Vec<usize> = (0..self.gaps.len()).filter(wanted).collect();
        order.sort_by_key(|&j| self.gaps[j].len());
        order
    }

    /// Fits a model of column `j` and fills its gaps; `None` if there is nothing to learn from.
    fn fill(
        &mut self,
        j: usize,
        learner: &dyn AnyEstimator,
        run: &Context,
    ) -> Result<Option<Fill>> {
        let schema = self.data.x.schema();
        let accepts = learner.any_accepts();
        let usable = |k: &usize| {
            *k != j && (accepts.categories || schema.column(*k).kind == ColumnKind::Numeric)
        };
        let inputs: Vec<usize> = (0..schema.len()).filter(usable).collect();
        let known = &self.known[j];
        let one_value = known.iter().all(|&i| self.at(i, j) == self.at(known[0], j));
        let is_class = schema.column(j).levels().is_some();
        if inputs.is_empty() || known.is_empty() || (is_class && one_value) {
            return Ok(None);
        }
        let (y, levels) = self.target(j);
        let x = self.table.frame().gather(known).frame().select(&inputs);
        let weights: Option<Vec<f64>> =
            self.data.weights.map(|w| known.iter().map(|&i| w[i]).collect());
        let train = OwnedDataset { x, y: Some(y), weights, ..OwnedDataset::default() };
        let name = &schema.column(j).name;
        let part = Fitted::fit(learner, name, &train.view(), run)?;
        let fill = Fill { column: j, inputs, levels, part };
        fill.apply(&mut self.table, &self.gaps[j], run)?;
        Ok(Some(fill))
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.table.values()[(i, j)]
    }

    /// The known values of a column as a target, and from class codes to level codes.
    fn target(&self, j: usize) -> (OwnedTarget, Vec<f64>) {
        let values: Vec<f64> = self.known[j].iter().map(|&i| self.at(i, j)).collect();
        let Some(levels) = self.data.x.schema().column(j).levels() else {
            return (OwnedTarget::Real(Matrix::column_vector(values)), Vec::new());
        };
        let label = |&v: &f64| Label::from(levels.get(v as usize).map_or("", String::as_str));
        let labels: Vec<Label> = values.iter().map(label).collect();
        let (codes, classes) = Label::encode(&labels);
        let code = |class: &Label| {
            let name = class.to_string();
            levels.iter().position(|level| *level == name).map_or(f64::NAN, |k| k as f64)
        };
        let back = classes.iter().map(code).collect();
        (OwnedTarget::Class { codes, classes }, back)
    }

    /// Largest change of a number over the largest known one; infinite if a category changed.
    fn change(&self, before: &Matrix) -> f64 {
        let (mut moved, mut largest) = (0.0_f64, 0.0_f64);
        for j in 0..self.gaps.len() {
            let is_number = self.data.x.schema().column(j).levels().is_none();
            for &i in &self.gaps[j] {
                let change = (self.at(i, j) - before[(i, j)]).abs();
                moved = moved.max(if is_number || change == 0.0 { change } else { f64::INFINITY });
            }
            if is_number {
                largest = self.known[j].iter().fold(largest, |l, &i| l.max(self.at(i, j).abs()));
            }
        }
        if moved == 0.0 { 0.0 } else { moved / largest }
    }
}

/// Puts the starting values where values are missing.
fn start(table: &mut Table, initial: &[f64]) {
    for i in 0..table.values().nrows() {
        for (value, start) in table.values_mut().row_mut(i).iter_mut().zip(initial) {
            *value = if value.is_nan() { *start } else { *value };
        }
    }
}

impl Fill {
    /// Fills the gaps of the column with predictions.
    fn apply(&self, table: &mut Table, gaps: &[usize], run: &Context) -> Result<()> {
        if gaps.is_empty() {
            return Ok(());
        }
        let x = table.frame().gather(gaps).frame().select(&self.inputs);
        let predicted = self.part.with_rows(&x.frame(), run, |x| self.predicted(x, run))?;
        for (&i, value) in gaps.iter().zip(predicted) {
            table.values_mut()[(i, self.column)] = value;
        }
        Ok(())
    }

    fn predicted(&self, x: &Frame, run: &Context) -> Result<Vec<f64>> {
        if let Some(regressor) = self.part.model.as_regressor() {
            return Ok(regressor.predict_in(x, run)?.column(0));
        }
        let Some(classifier) = self.part.model.as_classifier() else {
            return Err(Error::internal("a fill that predicts nothing"));
        };
        let level = |code: u32| self.levels.get(code as usize).copied().unwrap_or(0.0);
        Ok(classifier.classify_in(x, run)?.into_iter().map(level).collect())
    }
}

impl IterativeImputerModel {
    /// The models in the order of their use, each under its column and round.
    fn parts(&self, schema: &Schema, _: &[Label]) -> Result<Vec<FittedPart<'_>>> {
        if schema.len() != self.initial.len() {
            return Err(invalid("models and columns differ"));
        }
        let mut rounds = vec![0; schema.len()];
        let mut out = Vec::new();
        for fill in &self.fills {
            let column = schema.column(fill.column);
            let level = |&code: &f64| column.levels()?.get(code as usize).map(String::as_str);
            let levels = fill.levels.iter().filter_map(level);
            let classes: Vec<Label> = levels.map(Label::from).collect();
            rounds[fill.column] += 1;
            let name = format!("{}, round {}", column.name, rounds[fill.column]);
            let part = fill.part.part(schema.select(&fill.inputs), &classes);
            out.push(FittedPart { name, ..part });
        }
        Ok(out)
    }

    fn validate(&self) -> Result<()> {
        let width = self.initial.len();
        let sane = |fill: &Fill| {
            let model = &fill.part.model;
            fill.column < width
                && fill.inputs.iter().all(|&j| j < width)
                && fill.levels.iter().all(|level| level.is_finite())
                && (model.as_regressor().is_some() || model.as_classifier().is_some())
        };
        match self.initial.iter().all(|v| v.is_finite()) && self.fills.iter().all(sane) {
            true => Ok(()),
            false => Err(invalid("models and columns differ")),
        }
    }
}

impl Transformer for IterativeImputerModel {
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        check_width(x, self.initial.len())?;
        let gap = |j: usize| -> Vec<usize> {
            (0..x.nrows()).filter(|&i| x.values().at(i, j).is_nan()).collect()
        };
        let gaps: Vec<Vec<usize>> = (0..x.ncols()).map(gap).collect();
        let mut table = x.to_table();
        start(&mut table, &self.initial);
        for fill in &self.fills {
            fill.apply(&mut table, &gaps[fill.column], run)?;
        }
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_columns_are_recovered() {
        let hole = |i: usize, j: usize| (i * 5 + j * 3).is_multiple_of(13);
        let value = |i: usize, j: usize| {
            let (a, b) = ((i % 7) as f64, (i % 5) as f64);
            [a, b, 1.0 + 2.0 * a - b][j]
        };
        let x = Matrix::from_fn(60, 3, |i, j| if hole(i, j) { f64::NAN } else { value(i, j) });
        let data = OwnedDataset::unsupervised(x);
        let learner = IterativeImputer { max_iter: 200, tol: 1e-12, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        let filled = model.transform(&data.x.frame()).unwrap();
        for i in 0..60 {
            for j in 0..3 {
                assert!((filled.values()[(i, j)] - value(i, j)).abs() < 1e-6, "{i} {j}");
            }
        }
        assert!(model.converged());
    }

    #[test]
    fn a_category_keeps_its_mode_without_a_classifier() {
        let columns =
            vec![Column::numeric("x"), Column::categorical("c", vec!["b".into(), "a".into()])];
        let values = Matrix::from_rows(&[[0.0, 0.0], [1.0, 0.0], [2.0, f64::NAN], [3.0, 1.0]]);
        let x = Table::new(values.unwrap(), Schema::new(columns).unwrap()).unwrap();
        let data = OwnedDataset { x, ..Default::default() };
        let fill = |classifier: Option<Learner>| {
            let learner = IterativeImputer { classifier, ..Default::default() };
            let model = learner.fit(&data.view()).unwrap();
            model.transform(&data.x.frame()).unwrap().values()[(2, 1)]
        };
        assert_eq!(fill(None), 0.0);
        assert_eq!(fill(Some(crate::baseline::DummyClassifier::default().into())), 0.0);
    }

    #[test]
    fn a_transformer_is_no_estimator() {
        let estimator = crate::prepare::StandardScaler::default().into();
        let error = IterativeImputer { estimator, ..Default::default() }.check().unwrap_err();
        assert_eq!(error.message(), "`estimator` must be a regressor, got StandardScaler");
    }
}
