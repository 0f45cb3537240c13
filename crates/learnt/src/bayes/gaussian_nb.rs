//! Gaussian naive Bayes: independent normal columns within each class.
//!
//! Chooses the class k with the largest  ln π_k - ½ Σ_j (ln(2π σ²_kj) + (x_j - θ_kj)² / σ²_kj).
//! Means θ and variances σ² (divisor n_k) are weighted moments of the class, plus
//! ε = `var_smoothing` times the largest variance of a column over all rows. One pass: each block
//! sums around the first row of each class in it, blocks merge by the formula of Chan, Golub and
//! LeVeque. Equal scores go to the first class.
//!
//! Chan, Golub and LeVeque (1983), The American Statistician 37(3), 242–247.

use learnt_core::context::piece_rows;
use learnt_core::error::plain;
use learnt_core::estimator::first_maximum;
use learnt_core::linalg::vector_math;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;
use learnt_core::vectorized;

/// Gaussian naive Bayes: columns that are normal and independent within each class.
///
/// The smoothing uses weighted variances, so that a weight of two is a repeated row.
///
/// ```
/// use learnt::{bayes::GaussianNB, prelude::*};
/// let x = Matrix::column_vector(vec![1.0, 2.0, 5.0, 6.0]);
/// let data = OwnedDataset::classification(x, &["a", "a", "b", "b"].map(Label::from));
/// let model = GaussianNB::default().fit(&data.view())?;
/// assert_eq!(model.theta.as_slice(), [1.5, 5.5]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct GaussianNB {
    /// Prior probabilities of the classes, in order; else their shares among the rows.
    #[param(default = None, range = 0.0..=1.0)]
    pub priors: Option<Vec<f64>>,
    /// The share of the largest variance of a column that is added to all variances.
    #[param(default = 1e-9, range = 0.0.., search = log(1e-12, 1e-1))]
    pub var_smoothing: f64,
}

/// A fitted [`GaussianNB`].
#[derive(Model, Clone, Debug)]
#[model(classifier, validate = validate, report = table, looks)]
pub struct GaussianNBModel {
    /// Mean of each column in each class (n_classes × n_features).
    #[shape(classes, columns)]
    #[finite]
    pub theta: Matrix,
    /// Variance of each column in each class, smoothing included (n_classes × n_features).
    #[shape(classes, columns)]
    #[positive]
    pub var: Matrix,
    /// Probability of each class.
    #[shape(classes)]
    #[share]
    pub class_prior: Vec<f64>,
    /// Weight of the training rows of each class.
    #[shape(classes)]
    #[finite]
    pub class_count: Vec<f64>,
    /// What was added to the variances.
    #[finite]
    pub epsilon: f64,
}

/// Weight, mean and sum of squared deviations of each class.
#[derive(Clone, Debug, Stored)]
pub struct Moments {
    weight: Vec<f64>,
    mean: Matrix,
    squares: Matrix,
}

impl Merge for Moments {
    fn merge(mut self, later: Self) -> Result<Self> {
        let shape = |moments: &Moments| (moments.weight.len(), moments.mean.ncols());
        if shape(&self) != shape(&later) {
            return Err(Error::shape(
                "moments",
                format!("{:?} classes and columns", shape(&self)),
                format!("{:?}", shape(&later)),
            ));
        }
        for k in 0..self.weight.len() {
            let (mean, squares) = (self.mean.row_mut(k), self.squares.row_mut(k));
            let other = (later.weight[k], later.mean.row(k), later.squares.row(k));
            self.weight[k] = combine(self.weight[k], mean, squares, other);
        }
        Ok(self)
    }
}

/// Adds other moments to these; returns the weight of both.
fn combine(
    weight: f64,
    mean: &mut [f64],
    squares: &mut [f64],
    (other_weight, other_mean, other_squares): (f64, &[f64], &[f64]),
) -> f64 {
    let total = weight + other_weight;
    if other_weight == 0.0 || total == 0.0 {
        return total;
    }
    let share = other_weight / total;
    for j in 0..mean.len() {
        let gap = other_mean[j] - mean[j];
        mean[j] += gap * share;
        squares[j] += other_squares[j] + gap * gap * weight * share;
    }
    total
}

impl Estimator for GaussianNB {
    type Model = GaussianNBModel;
    type Fit = Pass<Moments>;
    const ABOUT: &'static About = &About::classifier("naive_bayes.GaussianNB")
        .alias(&["naive-bayes"])
        .weights()
        .threads()
        .streaming()
        .online()
        .complexity(10)
        .cost("n p time in one pass, K p memory")
        .reference("Chan, Golub and LeVeque (1983), The American Statistician 37(3), 242–247");

    /// Merges the moments of more rows: one pass of updates equals a fit, up to rounding.
    fn update(
        &self,
        model: Option<&GaussianNBModel>,
        data: &Dataset,
        run: &Context,
    ) -> Result<GaussianNBModel> {
        let (_, classes) = data.class_target()?;
        check_priors(self.priors.as_deref(), classes.len())?;
        let size = rounds::block_rows(data.x.ncols());
        let parts = run.par_ranges(data.nrows(), size, |range| {
            Moments::of(&data.rows(range.start, range.end))
        });
        let mut all = model.map(GaussianNBModel::moments);
        for part in parts {
            all = Some(match all {
                Some(all) => all.merge(part?)?,
                None => part?,
            });
        }
        let all = all.ok_or_else(|| Error::internal("no rows to learn from"))?;
        self.finish(all, &Outline::of(data))
    }
}

impl OnePass<Moments> for GaussianNB {
    fn admit(&self, outline: &Outline) -> Result<()> {
        check_priors(self.priors.as_deref(), outline.class_names()?.len())
    }

    fn finish(&self, all: Moments, outline: &Outline) -> Result<GaussianNBModel> {
        let (names, classes) = (outline.names(), outline.class_names()?);
        let total: f64 = all.weight.iter().sum();
        let epsilon = self.var_smoothing * largest_variance(&all, total);
        let mut var = all.squares;
        for (k, &weight) in all.weight.iter().enumerate() {
            for (j, v) in var.row_mut(k).iter_mut().enumerate() {
                *v = if weight > 0.0 { *v / weight } else { 0.0 } + epsilon;
                if *v <= 0.0 && weight > 0.0 {
                    return Err(constant_column(&names[j], &classes[k]));
                }
                // A class without rows is never chosen; 1 keeps its arithmetic finite.
                *v = if *v > 0.0 { *v } else { 1.0 };
            }
        }
        let shares = || all.weight.iter().map(|weight| weight / total).collect();
        Ok(GaussianNBModel {
            theta: all.mean,
            var,
            class_prior: self.priors.clone().unwrap_or_else(shares),
            class_count: all.weight,
            epsilon,
        })
    }
}

fn check_priors(priors: Option<&[f64]>, classes: usize) -> Result<()> {
    let Some(priors) = priors else { return Ok(()) };
    let sum: f64 = priors.iter().sum();
    match priors.len() == classes && (sum - 1.0).abs() < 1e-8 {
        true => Ok(()),
        false => Err(Error::parameter(
            "priors",
            format!("{classes} numbers, one for each class, that sum to 1"),
            format!("{} that sum to {sum}", priors.len()),
        )),
    }
}

fn constant_column(column: &str, class: &str) -> Error {
    let message = format!(
        "column '{}' is constant in class '{}', so its normal distribution has no width",
        plain(column),
        plain(class)
    );
    Error::numeric(message).column(column).hint("set var_smoothing above 0, such as 1e-9")
}

/// From sums around the first row of each class.
impl Summarize for Moments {
    const NOTICES: Notices = Notices::All;

    fn is_finite(&self) -> bool {
        self.mean.as_slice().iter().all(|mean| mean.is_finite())
    }

    fn of(data: &Dataset) -> Result<Moments> {
        let (codes, classes) = data.class_target()?;
        let (x, columns) = (data.x.values(), data.x.ncols());
        let mut weight = vec![0.0; classes.len()];
        let mut sums = Matrix::zeros(classes.len(), columns);
        let mut squares = Matrix::zeros(classes.len(), columns);
        let mut origin = Matrix::zeros(classes.len(), columns);
        let mut seen = vec![false; classes.len()];
        for (i, &code) in codes.iter().enumerate() {
            if !std::mem::replace(&mut seen[code as usize], true) {
                x.copy_row(i, origin.row_mut(code as usize));
            }
        }
        const ROWS: usize = 128;
        let mut chunk = vec![0.0; ROWS.min(codes.len()) * columns];
        for start in (0..codes.len()).step_by(ROWS) {
            let end = (start + ROWS).min(codes.len());
            let rows = contiguous(x.rows(start, end), &mut chunk);
            vectorized!({
                for (row, i) in rows.chunks_exact(columns).zip(start..end) {
                    let k = codes[i] as usize;
                    weight[k] += data.weight(i);
                    let (sums, squares) = (sums.row_mut(k), squares.row_mut(k));
                    add_row(row, data.weight(i), origin.row(k), sums, squares);
                }
            });
        }
        for (k, &weight) in weight.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            for j in 0..columns {
                let shift = sums[(k, j)] / weight;
                squares[(k, j)] = (squares[(k, j)] - shift * sums[(k, j)]).max(0.0);
                origin[(k, j)] += shift;
            }
        }
        Ok(Moments { weight, mean: origin, squares })
    }
}

/// The rows as one slice, copied only where they are not neighbours in memory.
fn contiguous<'a>(x: MatRef<'a>, buffer: &'a mut [f64]) -> &'a [f64] {
    let count = x.nrows() * x.ncols();
    if x.col_stride() == 1 && x.row_stride() == x.ncols() {
        return &x.memory()[..count];
    }
    x.write_rows(&mut buffer[..count]);
    &buffer[..count]
}

#[inline(always)]
fn add_row(row: &[f64], weight: f64, origin: &[f64], sums: &mut [f64], squares: &mut [f64]) {
    let columns = row.iter().zip(origin).zip(sums.iter_mut().zip(squares.iter_mut()));
    for ((x, origin), (sum, square)) in columns {
        let gap = x - origin;
        let weighted = weight * gap;
        *sum += weighted;
        *square += weighted * gap;
    }
}

/// The largest variance of a column over all rows; 1 if every column is constant.
fn largest_variance(all: &Moments, total: f64) -> f64 {
    let columns = all.mean.ncols();
    let (mut mean, mut squares) = (vec![0.0; columns], vec![0.0; columns]);
    let mut weight = 0.0;
    for k in 0..all.weight.len() {
        let class = (all.weight[k], all.mean.row(k), all.squares.row(k));
        weight = combine(weight, &mut mean, &mut squares, class);
    }
    let largest = squares.iter().fold(0.0, |largest, square| (square / total).max(largest));
    if largest > 0.0 { largest } else { 1.0 }
}

impl Classifier for GaussianNBModel {
    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let classes = self.theta.nrows();
        self.by_rows(x, run, |rows| vector_math::softmax(rows, classes))
    }

    fn classify_in(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        Ok(self.log_joint_in(x, run)?.rows().map(first_maximum).collect())
    }
}

impl GaussianNBModel {
    fn validate(&self) -> Result<()> {
        match self.class_prior.iter().any(|&p| p > 0.0) {
            true => Ok(()),
            false => Err(invalid("no class has a probability")),
        }
    }

    /// The moments that the model was made from.
    fn moments(&self) -> Moments {
        let squares = Matrix::from_fn(self.var.nrows(), self.var.ncols(), |k, j| {
            self.class_count[k] * (self.var[(k, j)] - self.epsilon).max(0.0)
        });
        Moments { weight: self.class_count.clone(), mean: self.theta.clone(), squares }
    }

    /// Joint log-likelihoods ln π_k + ln p(x | k), one column a class.
    pub fn log_joint_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        self.by_rows(x, run, |_| {})
    }

    /// Joint log-likelihoods of chunks of rows, each finished by `finish`.
    fn by_rows(
        &self,
        x: &Frame,
        run: &Context,
        finish: impl Fn(&mut [f64]) + Sync,
    ) -> Result<Matrix> {
        const ROWS: usize = 128;
        let (classes, columns) = (self.theta.nrows(), self.theta.ncols());
        if x.ncols() != columns {
            let expected = format!("{columns} columns as in training");
            return Err(Error::shape("x", expected, format!("{} columns", x.ncols())));
        }
        let constants = self.constants();
        let precision: Vec<f64> = self.var.as_slice().iter().map(|v| -0.5 / v).collect();
        let mut out = Matrix::zeros(x.nrows(), classes);
        run.par_fill(out.as_mut_slice(), piece_rows(columns) * classes, |first, out| {
            let mut buffer = vec![0.0; ROWS * columns];
            for (c, out) in out.chunks_mut(ROWS * classes).enumerate() {
                let start = first / classes + c * ROWS;
                let end = start + out.len() / classes;
                let rows = contiguous(x.values().rows(start, end), &mut buffer);
                log_joint(rows, self.theta.as_slice(), &precision, &constants, out);
                x.noticed(start, end, out);
                finish(out);
            }
        });
        run.checkpoint()?;
        Ok(out)
    }

    /// ln π_k - ½ Σ_j ln(2π σ²_kj).
    fn constants(&self) -> Vec<f64> {
        let widths = |k: usize| {
            self.var.row(k).iter().map(|v| (std::f64::consts::TAU * v).ln()).sum::<f64>()
        };
        let empty = |k: usize| self.class_count[k] == 0.0 || self.class_prior[k] == 0.0;
        let constant = |k: usize| match empty(k) {
            true => f64::NEG_INFINITY,
            false => self.class_prior[k].ln() - 0.5 * widths(k),
        };
        (0..self.theta.nrows()).map(constant).collect()
    }

    fn table(&self, names: &Names) -> Answer {
        let mut report = Answer::new("Gaussian naive Bayes");
        for (k, prior) in self.class_prior.iter().enumerate() {
            let title = format!("class {}, prior {prior:.4}", plain(&names.class(k)));
            let mut table = Columns::new(&title, &["column", "mean", "sd"]);
            for (j, name) in names.columns.iter().enumerate().take(self.theta.ncols()) {
                table.push(vec![
                    name.as_str().into(),
                    Cell::Number(self.theta[(k, j)]),
                    Cell::Number(self.var[(k, j)].sqrt()),
                ]);
            }
            report.tables.push(table);
        }
        report
    }
}

/// Adds the constants to Σ_j precision_kj (x_j - θ_kj)² for each row and class.
fn log_joint(x: &[f64], theta: &[f64], precision: &[f64], constants: &[f64], out: &mut [f64]) {
    let columns = theta.len() / constants.len();
    vectorized!({
        for (row, out) in x.chunks_exact(columns).zip(out.chunks_exact_mut(constants.len())) {
            for (k, out) in out.iter_mut().enumerate() {
                let class = k * columns..(k + 1) * columns;
                let sum = scaled_distance(row, &theta[class.clone()], &precision[class]);
                *out = constants[k] + sum;
            }
        }
    });
}

/// Σ precision (x - θ)², in four interleaved sums, which go through memory once (`linalg::lane_sum`).
#[inline(always)]
fn scaled_distance(x: &[f64], theta: &[f64], precision: &[f64]) -> f64 {
    let (x4, x_rest) = x.as_chunks::<4>();
    let (t4, t_rest) = theta.as_chunks::<4>();
    let (p4, p_rest) = precision.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for ((x, t), p) in x4.iter().zip(t4).zip(p4) {
        for l in 0..4 {
            let gap = x[l] - t[l];
            sums[l] += gap * gap * p[l];
        }
    }
    let sums = std::hint::black_box(sums);
    let rest = x_rest.iter().zip(t_rest).zip(p_rest);
    let rest: f64 = rest.map(|((x, t), p)| (x - t) * (x - t) * p).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> OwnedDataset {
        let x = Matrix::from_fn(60, 3, |i, j| ((i * [7, 11, 5][j]) % 13) as f64 + 1e6 * j as f64);
        let labels: Vec<Label> = (0..60).map(|i| Label::Int((i * i % 3) as i64)).collect();
        OwnedDataset::classification(x, &labels)
    }

    #[test]
    fn merged_moments_are_those_of_all_rows() {
        let data = data();
        let whole = Moments::of(&data.view()).unwrap();
        let (a, b) = (data.view().rows(0, 17), data.view().rows(17, 60));
        let merged = Moments::of(&a).unwrap().merge(Moments::of(&b).unwrap()).unwrap();
        assert_eq!(whole.weight, merged.weight);
        for (a, b) in whole.squares.as_slice().iter().zip(merged.squares.as_slice()) {
            assert!((a - b).abs() <= 1e-9 * a.abs());
        }
    }

    #[test]
    fn one_pass_of_updates_row_by_row_is_a_fit() {
        let (data, learner) = (data(), GaussianNB::default());
        let run = Context::default();
        let mut model = None;
        for i in 0..60 {
            let row = data.view().rows(i, i + 1);
            model = Some(learner.update_in(model.as_ref(), &row, &run).unwrap());
        }
        let (model, fitted) = (model.unwrap(), learner.fit(&data.view()).unwrap());
        assert_eq!(model.class_count, fitted.class_count);
        let pairs = [(&model.theta, &fitted.theta), (&model.var, &fitted.var)];
        for (a, b) in pairs.iter().flat_map(|(a, b)| a.as_slice().iter().zip(b.as_slice())) {
            assert!((a - b).abs() <= 1e-9 * b.abs(), "{a} is not {b}");
        }
    }

    #[test]
    fn weight_two_is_a_repeated_row() {
        let data = data();
        let rows: Vec<usize> = (0..60).chain((0..60).filter(|i| i % 4 == 0)).collect();
        let weights: Vec<f64> = (0..60).map(|i| if i % 4 == 0 { 2.0 } else { 1.0 }).collect();
        let repeated = GaussianNB::default().fit(&data.view().gather(&rows).view()).unwrap();
        let weighted = GaussianNB::default().fit(&data.view().with_weights(&weights)).unwrap();
        let pairs = repeated.var.as_slice().iter().zip(weighted.var.as_slice());
        assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-8 * a));
        assert_eq!(repeated.class_count, weighted.class_count);
    }

    #[test]
    fn a_constant_column_needs_smoothing() {
        let x = Matrix::from_fn(6, 2, |i, j| if j == 0 { 3.0 } else { i as f64 });
        let data = OwnedDataset::classification(x, &[0, 0, 0, 1, 1, 1].map(Label::Int));
        let bare = GaussianNB { var_smoothing: 0.0, ..Default::default() };
        let error = bare.fit(&data.view()).unwrap_err();
        assert!(error.message().contains("column 'x0' is constant in class '0'"));
        let model = GaussianNB::default().fit(&data.view()).unwrap();
        assert_eq!(model.classify(&data.x.frame()).unwrap(), [0, 0, 0, 1, 1, 1]);
        let still = OwnedDataset { x: Table::unnamed(Matrix::zeros(6, 1)), ..data };
        let model = GaussianNB::default().fit(&still.view()).unwrap();
        assert_eq!(model.probabilities(&still.x.frame()).unwrap().row(0), [0.5, 0.5]);
    }

    #[test]
    fn priors_must_sum_to_one_and_move_the_border() {
        let x = Matrix::column_vector(vec![0.0, 1.0, 2.0, 3.0]);
        let data = OwnedDataset::classification(x, &[0, 0, 1, 1].map(Label::Int));
        let with = |priors: Vec<f64>| GaussianNB { priors: Some(priors), ..Default::default() };
        assert!(with(vec![0.5, 0.4]).fit(&data.view()).is_err());
        assert!(with(vec![1.0]).fit(&data.view()).is_err());
        let border = Table::unnamed(Matrix::column_vector(vec![1.5]));
        let class = |priors| with(priors).fit(&data.view()).unwrap().classify(&border.frame());
        assert_eq!(class(vec![0.5, 0.5]).unwrap(), [0]);
        assert_eq!(class(vec![0.1, 0.9]).unwrap(), [1]);
    }

    #[test]
    fn rows_far_from_every_class_have_finite_probabilities() {
        let model = GaussianNB::default().fit(&data().view()).unwrap();
        let far = Table::unnamed(Matrix::from_fn(2, 3, |i, _| [1e200, 1e9][i]));
        let probabilities = model.probabilities(&far.frame()).unwrap();
        for row in probabilities.rows() {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}
