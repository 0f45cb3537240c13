//! Logistic regression with an L2 penalty on tables with far more columns than rows.
//!
//! The weights are combinations W = A X of the centred rows, because a part across them only adds to the
//! penalty. With L Lᵀ = X Xᵀ the scores are L V and |W| = |V| for V = Lᵀ Aᵀ: the same problem on a table of
//! as many columns as rows, which the usual method solves. Centring changes the intercepts alone; without
//! intercepts rows stay as they are. X Xᵀ gets 1e-12 of its mean diagonal on the diagonal, so that dependent
//! rows have a factor too. n² p / 2 steps, then none that grows with p.
//!
//! Hastie and Tibshirani (2004), Biostatistics 5(3), 329-340.

use super::logistic_regression::{ClassWeight, LogisticRegression, LogisticRegressionModel};
use learnt_core::linalg::{Cholesky, add_scaled, dot, matvec, row_products_in};
use learnt_core::prelude::*;

/// What is added to the diagonal of the products of rows, as a share of its mean.
const RIDGE: f64 = 1e-12;

/// The rows that count, with their weights and classes.
#[derive(Clone, Debug, Stored)]
pub(super) struct KeptRows {
    weights: Vec<f64>,
    codes: Vec<usize>,
    values: Matrix,
}

impl KeptRows {
    /// The rows of a block; `factors` of the weights by class, or none.
    pub(super) fn of(data: &Dataset, factors: &[f64]) -> Result<KeptRows> {
        let (codes, _) = data.class_target()?;
        let factor = |code: u32| factors.get(code as usize).copied().unwrap_or(1.0);
        let weight = |i: usize| data.weight(i) * factor(codes[i]);
        let kept: Vec<usize> = (0..data.nrows()).filter(|&i| weight(i) > 0.0).collect();
        Ok(KeptRows {
            weights: kept.iter().map(|&i| weight(i)).collect(),
            codes: kept.iter().map(|&i| codes[i] as usize).collect(),
            values: data.x.values().gather_rows(&kept),
        })
    }

    /// Σ w of each class.
    pub(super) fn counts(&self, classes: usize) -> Vec<f64> {
        let mut counts = vec![0.0; classes];
        for (&code, weight) in self.codes.iter().zip(&self.weights) {
            counts[code] += weight;
        }
        counts
    }

    /// The fitted model, whose classes have these names.
    pub(super) fn fit(
        self,
        learner: &LogisticRegression,
        classes: &[String],
        run: &Context,
    ) -> Result<LogisticRegressionModel> {
        let KeptRows { weights, codes, mut values } = self;
        let (n, p) = (values.nrows(), values.ncols());
        let mean = match learner.fit_intercept {
            true => centre(&mut values),
            false => vec![0.0; p],
        };
        let mut products = row_products_in(values.view(), run)?;
        let trace: f64 = (0..n).map(|i| products[(i, i)]).sum();
        let ridge = match trace > 0.0 {
            true => RIDGE * trace / n as f64,
            false => 1.0,
        };
        (0..n).for_each(|i| products[(i, i)] += ridge);
        let factor = Cholesky::new_in(products, run)?.ok_or_else(|| {
            Error::numeric("the products of rows are too large for double precision")
                .hint("divide the columns by their largest values")
        })?;
        let labels: Vec<Label> = classes.iter().map(|name| Label::from(name.as_str())).collect();
        let codes: Vec<u32> = codes.into_iter().map(|code| code as u32).collect();
        let table = Table::unnamed(factor.lower.clone());
        let data = Dataset {
            y: Some(Target::Class { codes: &codes, classes: &labels }),
            weights: Some(&weights),
            ..Dataset::new(table.frame())
        };
        // Class weights are in the row weights already.
        let inner = LogisticRegression { class_weight: ClassWeight::Equal, ..learner.clone() };
        let reduced = inner.train(&data, run)?;
        let mut coef = Matrix::zeros(reduced.coef.nrows(), p);
        let mut intercept = reduced.intercept.clone();
        for k in 0..coef.nrows() {
            let mut shares = reduced.coef.row(k).to_vec();
            factor.solve_upper_in_place(&mut shares);
            let slopes = matvec(values.view().transposed(), &shares);
            intercept[k] -= dot(&slopes, &mean);
            coef.row_mut(k).copy_from_slice(&slopes);
        }
        Ok(LogisticRegressionModel { coef, intercept, ..reduced })
    }
}

impl Merge for KeptRows {
    fn merge(mut self, later: Self) -> Result<Self> {
        self.weights.extend(later.weights);
        self.codes.extend(later.codes);
        let (rows, width) = (self.weights.len(), self.values.ncols());
        let mut values = self.values.into_vec();
        values.extend(later.values.into_vec());
        Ok(KeptRows { values: Matrix::from_vec(rows, width, values)?, ..self })
    }
}

/// Rows less their mean; gives the mean.
fn centre(values: &mut Matrix) -> Vec<f64> {
    let (n, p) = (values.nrows(), values.ncols());
    // About the first row, which keeps constant columns exactly constant.
    let first: Vec<f64> = values.rows().next().map_or(vec![0.0; p], <[f64]>::to_vec);
    let mut mean = vec![0.0; p];
    for i in 0..n {
        add_scaled(values.row_mut(i), -1.0, &first);
        add_scaled(&mut mean, 1.0 / n as f64, values.row(i));
    }
    (0..n).for_each(|i| add_scaled(values.row_mut(i), -1.0, &mean));
    mean.iter().zip(&first).map(|(mean, first)| mean + first).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::stats::sample::standard_normal;

    fn table(n: usize, p: usize, classes: usize) -> OwnedDataset {
        let mut rng = Context::default().rng(5);
        let mut x = Matrix::from_fn(n, p, |_, j| standard_normal(&mut rng) + (j % 7) as f64);
        // A row twice: dependent rows have no factor without the addition to the diagonal.
        let copy = x.row(0).to_vec();
        x.row_mut(1).copy_from_slice(&copy);
        let names = ["a", "b", "c"];
        let labels: Vec<Label> = (0..n).map(|i| Label::from(names[i % classes])).collect();
        let weights = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
        OwnedDataset { weights: Some(weights), ..OwnedDataset::classification(x, &labels) }
    }

    /// The mean objective, and its largest derivative by a weight or an intercept.
    fn objective(
        model: &LogisticRegressionModel,
        data: &OwnedDataset,
        strength: f64,
    ) -> (f64, f64) {
        let (view, x) = (data.view(), data.x.values());
        let (codes, classes) = view.class_target().unwrap();
        let probabilities = model.probabilities(&data.x.frame()).unwrap();
        let total: f64 = (0..x.nrows()).map(|i| view.weight(i)).sum();
        let squares: f64 = model.coef.as_slice().iter().map(|w| w * w).sum();
        let loss: f64 = (0..x.nrows())
            .map(|i| -view.weight(i) * probabilities[(i, codes[i] as usize)].ln())
            .sum();
        let mut worst = 0.0_f64;
        for k in 0..model.coef.nrows() {
            let class = if classes.len() == 2 { 1 } else { k };
            let wrong: Vec<f64> = (0..x.nrows())
                .map(|i| {
                    let own = f64::from(codes[i] as usize == class);
                    view.weight(i) * (probabilities[(i, class)] - own)
                })
                .collect();
            worst = worst.max(wrong.iter().sum::<f64>().abs());
            for j in 0..x.ncols() {
                let slope: f64 = (0..x.nrows()).map(|i| wrong[i] * x[(i, j)]).sum();
                worst = worst.max((slope + strength * model.coef[(k, j)]).abs());
            }
        }
        ((loss + 0.5 * strength * squares) / total, worst / total)
    }

    #[test]
    fn far_more_columns_than_rows_reach_the_optimum() {
        for classes in [2, 3] {
            for c in [1.0, 1e-3] {
                let data = table(40, 600, classes);
                let learner = LogisticRegression { c, tol: 1e-9, ..Default::default() };
                let model = learner.fit(&data.view()).unwrap();
                let (_, slope) = objective(&model, &data, 1.0 / c);
                assert!(model.converged && slope < 1e-8, "{classes} classes, C {c}: {slope}");
            }
        }
    }

    #[test]
    fn columns_of_zeros_lead_to_the_wide_route_and_the_same_model() {
        let data = table(30, 400, 2);
        let learner = LogisticRegression {
            class_weight: ClassWeight::Balanced,
            tol: 1e-9,
            ..Default::default()
        };
        let x = data.x.values();
        let padded = Matrix::from_fn(30, 520, |i, j| if j < 400 { x[(i, j)] } else { 0.0 });
        let wide = OwnedDataset { x: Table::unnamed(padded), ..data.clone() };
        let (a, b) = (learner.fit(&wide.view()).unwrap(), learner.fit(&data.view()).unwrap());
        for j in 0..400 {
            assert!((a.coef[(0, j)] - b.coef[(0, j)]).abs() < 1e-7);
        }
        assert!((a.intercept[0] - b.intercept[0]).abs() < 1e-6);
        assert!((400..520).all(|j| a.coef[(0, j)].abs() < 1e-12));
    }

    #[test]
    fn without_intercept_rows_are_not_centred() {
        let data = table(25, 600, 2);
        let learner = LogisticRegression { fit_intercept: false, tol: 1e-9, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        assert_eq!(model.intercept, [0.0]);
        let scores = model.decision_scores_in(&data.x.frame(), &Context::default()).unwrap();
        let x = data.x.values();
        for i in 0..25 {
            assert!((scores[(i, 0)] - dot(x.row(i), model.coef.row(0))).abs() < 1e-9);
        }
    }
}
