//! Indicator regression: least squares on 0/1 indicators of the classes.
//!
//! Minimises Σ w ‖e_y - a - Bx‖² with e_k the k-th unit vector; chooses the class of the largest fitted
//! value, equivalently the nearest e_k, the first of equals. With an intercept the fitted values of a
//! row sum to 1, but may leave [0, 1]. Two classes have one output, 1 for the second class, and the
//! threshold 0.5; exactly 0.5 goes to the first class unless `on_boundary` says otherwise. Solved as
//! `LinearRegression` is, one or two passes over the data. A class between others may never be
//! chosen: see [`masking`](crate::discriminant::masking).
//!
//! Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning, section 4.2.

use super::geometry::OnBoundary;
use super::least_squares::{LeastSquares, Solution, Stage as Pass, Summary};
use learnt_core::error::plain;
use learnt_core::estimator::first_maximum;
use learnt_core::linalg::linear_predict;
use learnt_core::prelude::*;

/// Linear regression of an indicator matrix: least squares on indicators of the classes.
///
/// ```
/// use learnt::{linear::IndicatorRegression, prelude::*};
/// let x = Matrix::column_vector(vec![1.0, 2.0, 3.0, 4.0]);
/// let data = OwnedDataset::classification(x, &["a", "a", "b", "b"].map(Label::from));
/// let model = IndicatorRegression::default().fit(&data.view())?;
/// let fitted = model.fitted_in(&data.x.frame(), &Context::default())?;
/// assert!((fitted[(3, 1)] - 1.1).abs() < 1e-12);
/// assert_eq!(model.classify(&data.x.frame())?, [0, 0, 1, 1]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct IndicatorRegression {
    /// Fit an intercept; without one fitted values do not sum to 1.
    #[param(default = true)]
    pub fit_intercept: bool,
    /// The class of a fitted value of exactly 0.5, for two classes.
    #[param(default = OnBoundary::First)]
    pub on_boundary: OnBoundary,
}

/// A fitted [`IndicatorRegression`].
#[derive(Model, Clone, Debug)]
#[model(classifier, report = table, looks)]
pub struct IndicatorRegressionModel {
    /// Coefficients: one row for two classes, else one a class (n_classes × n_features).
    #[shape(outputs, columns)]
    #[finite]
    pub coef: Matrix,
    /// Intercepts, one for each row of the coefficients.
    #[shape(outputs)]
    #[finite]
    pub intercept: Vec<f64>,
    on_boundary: OnBoundary,
    notes: Vec<String>,
}

/// Where a fit is; also its checkpoint.
#[derive(Stored, Clone, Debug)]
pub struct Stage {
    classes: Vec<String>,
    pass: Pass,
}

impl IndicatorRegression {
    fn regression(&self) -> LeastSquares {
        LeastSquares { intercept: self.fit_intercept, ..LeastSquares::default() }
    }
}

/// Outputs of the regression: one for two classes.
fn outputs(classes: usize) -> usize {
    if classes == 2 { 1 } else { classes }
}

impl Estimator for IndicatorRegression {
    type Model = IndicatorRegressionModel;
    type Fit = Self;
    const ABOUT: &'static About = &About::classifier("linear_model.IndicatorRegression")
        .full_rank()
        .without_probabilities()
        .weights()
        .decision_scores()
        .threads()
        .streaming()
        .complexity(20)
        .cost("n (p + K)² time, (p + K)² memory")
        .reference("Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning")
        .exempt(&[(
            "beats_the_dummy",
            "the class between two others on a line is masked, as it must be",
        )]);
}

impl Rounds for IndicatorRegression {
    type State = Stage;
    type Summary = Summary;
    type Output = IndicatorRegressionModel;

    fn begin(&self, outline: &Outline, run: &Context) -> Result<Stage> {
        let classes: Vec<String> = outline.classes.iter().map(ToString::to_string).collect();
        if classes.len() < 2 {
            let message = format!("{} class in the target, and two are needed", classes.len());
            return Err(Error::new(Code::OneClass, message));
        }
        let block = rounds::block_rows(outline.schema.len()) as u64;
        let indicators = block.min(outline.rows) * outputs(classes.len()) as u64;
        run.claim(8 * indicators * run.threads() as u64, "the indicators of the classes")?;
        let outline = Outline { outputs: outputs(classes.len()), ..*outline };
        Ok(Stage { pass: self.regression().begin(&outline, run)?, classes })
    }

    fn summarize(
        &self,
        stage: &Stage,
        block: &Block,
        memo: &mut Memo,
        run: &Context,
    ) -> Result<Summary> {
        let (codes, _) = block.data.class_target()?;
        let outputs = outputs(stage.classes.len());
        let first = if outputs == 1 { 1 } else { 0 };
        let indicators =
            Matrix::from_fn(codes.len(), outputs, |i, k| f64::from(codes[i] == first + k as u32));
        let data = block.data.with_target(Target::Real(indicators.view()));
        self.regression().summarize(&stage.pass, &Block { data, ..*block }, memo, run)
    }

    fn advance(
        &self,
        stage: Stage,
        all: Summary,
        run: &Context,
    ) -> Result<Step<Stage, IndicatorRegressionModel>> {
        let Stage { classes, pass } = stage;
        Ok(match self.regression().advance(pass, all, run)? {
            Step::Again(pass) => Step::Again(Stage { classes, pass }),
            Step::Done(solution) => Step::Done(self.model(solution, run)),
        })
    }
}

impl IndicatorRegression {
    fn model(&self, solution: Solution, run: &Context) -> IndicatorRegressionModel {
        let mut notes = Vec::new();
        if !solution.aliased.is_empty() {
            let names: Vec<String> =
                solution.aliased.iter().take(5).map(|&j| plain(&solution.names[j])).collect();
            notes.push(format!(
                "{} columns depend on others (such as {}); the coefficients are those of smallest norm",
                solution.aliased.len(),
                names.join(", ")
            ));
        }
        notes.iter().for_each(|note| run.warn(Code::Numeric, note.clone()));
        IndicatorRegressionModel {
            coef: solution.coef,
            intercept: solution.intercept,
            on_boundary: self.on_boundary,
            notes,
        }
    }
}

impl Classifier for IndicatorRegressionModel {
    /// The fitted values; for two classes the one of the second less 0.5.
    fn decision_scores_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let mut out = linear_predict(x, &self.coef, &self.intercept, run)?;
        if self.coef.nrows() == 1 {
            out.as_mut_slice().iter_mut().for_each(|fit| *fit -= 0.5);
        }
        Ok(out)
    }

    fn classify_in(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        let margins = self.decision_scores_in(x, run)?;
        Ok(match margins.ncols() {
            1 => margins.as_slice().iter().map(|&m| self.on_boundary.class(m, 0.0)).collect(),
            _ => margins.rows().map(first_maximum).collect(),
        })
    }
}

impl IndicatorRegressionModel {
    /// The fitted values, one column a class: estimates of the posteriors that may leave [0, 1].
    pub fn fitted_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let fitted = linear_predict(x, &self.coef, &self.intercept, run)?;
        Ok(match fitted.ncols() {
            1 => Matrix::from_fn(fitted.nrows(), 2, |i, k| match k {
                0 => 1.0 - fitted[(i, 0)],
                _ => fitted[(i, 0)],
            }),
            _ => fitted,
        })
    }

    fn table(&self, names: &Names) -> Answer {
        let mut report = Answer::new("Indicator regression");
        for (k, &intercept) in self.intercept.iter().enumerate() {
            let class = plain(&names.scored_class(k, self.intercept.len()));
            let mut table = Columns::new(&format!("class {class}"), &["term", "estimate"]);
            table.push(vec!["(intercept)".into(), Cell::Number(intercept)]);
            for (name, &value) in names.columns.iter().zip(self.coef.row(k)) {
                table.push(vec![name.as_str().into(), Cell::Number(value)]);
            }
            report.tables.push(table);
        }
        report.notes.extend(self.notes.iter().cloned());
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(classes: &[i64]) -> OwnedDataset {
        let labels: Vec<Label> = classes.iter().map(|&c| Label::Int(c)).collect();
        let x = Matrix::column_vector((0..classes.len()).map(|i| i as f64).collect());
        OwnedDataset::classification(x, &labels)
    }

    #[test]
    fn a_fitted_value_of_one_half_is_of_the_first_class_unless_told_otherwise() {
        let data = line(&[0, 0, 1, 1]);
        let middle = Table::unnamed(Matrix::column_vector(vec![1.5]));
        for (on_boundary, expected) in [(OnBoundary::First, 0), (OnBoundary::Second, 1)] {
            let learner = IndicatorRegression { on_boundary, ..Default::default() };
            let mut model = learner.fit(&data.view()).unwrap();
            // Exact numbers, so that the tie is hit.
            (model.coef, model.intercept) = (Matrix::column_vector(vec![0.5]), vec![-0.25]);
            assert_eq!(model.classify(&middle.frame()).unwrap(), [expected]);
        }
    }

    #[test]
    fn equal_fits_of_three_classes_go_to_the_first() {
        let mut model =
            IndicatorRegression::default().fit(&line(&[0, 1, 2, 0, 1, 2]).view()).unwrap();
        (model.coef, model.intercept) = (Matrix::zeros(3, 1), vec![0.2, 0.4, 0.4]);
        let row = Table::unnamed(Matrix::column_vector(vec![1.0]));
        assert_eq!(model.classify(&row.frame()).unwrap(), [1]);
    }

    #[test]
    fn fitted_values_of_a_row_sum_to_one() {
        let data = line(&[0, 1, 2, 2, 1, 0, 0, 1]);
        let model = IndicatorRegression::default().fit(&data.view()).unwrap();
        let fitted = model.fitted_in(&data.x.frame(), &Context::default()).unwrap();
        fitted.rows().for_each(|row| assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12));
    }

    #[test]
    fn one_class_is_refused() {
        let error = IndicatorRegression::default().fit(&line(&[1, 1, 1]).view()).unwrap_err();
        assert_eq!(error.code(), Code::OneClass);
    }
}
