//! Cross-validation of penalties by summaries: every fold is summed once, and the products of a
//! training set are the merged sums of the other folds. A test error from sums about the mean is
//! mean (y - a - xb)² = (S_yy - 2 bᵀS_xy + bᵀS b)/w + (ȳ - a - x̄b)².

use super::coordinate_descent::CoordinateDescent;
use super::elastic_net::{ElasticNetModel, Net};
use super::path::{falling, grid, solutions};
use super::problem::Problem;
use super::sums::{Stage, Summary};
use crate::select::Splitter;
use learnt_core::prelude::*;
use learnt_core::rounds::{InMemory, Source};

/// Summaries of consecutive folds.
pub(super) struct Folds {
    stage: Stage,
    parts: Vec<Summary>,
    centred: bool,
    weighted: bool,
}

/// The penalties to choose from, largest first.
#[derive(Choice, Clone, Debug, PartialEq)]
pub enum Alphas {
    /// So many, on a geometric grid from the least that leaves no coefficient.
    #[choice(range = 1..)]
    Count(usize),
    /// These.
    #[choice(range = 0.0..)]
    Given(Vec<f64>),
}

/// The penalties and folds that a learner chooses by.
#[derive(Params, Clone, Debug, PartialEq)]
pub struct PenaltySearch {
    /// Least penalty of a grid as a share of the largest.
    #[param(default = 1e-3, above = 0.0, below = 1.0)]
    pub eps: f64,
    /// Number of penalties on a grid, or the penalties themselves.
    #[param(default = Alphas::Count(100))]
    pub alphas: Alphas,
    /// Number of cross-validation folds; none is five.
    #[param(default = None, range = 2..)]
    pub cv: Option<usize>,
}

/// The best penalty, with what it was chosen from.
pub(super) struct Chosen {
    /// The fit of all rows at the best penalty.
    pub(super) model: ElasticNetModel,
    pub(super) alpha: f64,
    pub(super) l1_ratio: f64,
    /// Penalties of each ratio.
    pub(super) alphas: Vec<Vec<f64>>,
    /// Mean squared error of each ratio, (n_alphas × n_folds).
    pub(super) errors: Vec<Matrix>,
}

impl Folds {
    /// Sums up each fold; `cv` none is five folds.
    pub(super) fn of(
        data: &Dataset,
        cv: Option<usize>,
        centred: bool,
        run: &Context,
    ) -> Result<Folds> {
        let count = cv.unwrap_or(5);
        let splits = Splitter::KFold { n_splits: count, shuffle: false }.splits(data, run)?;
        let source = InMemory::new(*data);
        let outline = source.outline();
        let training = outline.rows - outline.rows.div_ceil(count as u64);
        let stage = Stage::for_rows(&outline, training, run)?;
        let mut parts = Vec::new();
        for split in splits {
            // Folds in the order of the rows are consecutive.
            if let (Some(&first), Some(&last)) = (split.test.first(), split.test.last()) {
                parts.push(stage.sum(&data.rows(first, last + 1), true, run)?);
            }
        }
        Ok(Folds { stage, parts, centred, weighted: data.weights.is_some() })
    }

    pub(super) fn count(&self) -> usize {
        self.parts.len()
    }

    /// The summary of a fold.
    pub(super) fn part(&self, fold: usize) -> &Summary {
        &self.parts[fold]
    }

    /// The problem of all folds but one, or of all.
    pub(super) fn problem(&self, without: Option<usize>, run: &Context) -> Result<Problem> {
        let kept = self.parts.iter().enumerate().filter(|(k, _)| Some(*k) != without);
        let mut all: Option<Summary> = None;
        for (_, part) in kept {
            all = Some(match all {
                Some(all) => all.merge(part.clone())?,
                None => part.clone(),
            });
        }
        let all = all.ok_or_else(|| Error::internal("no fold"))?;
        let all = if self.centred { all } else { all.about_origin() };
        self.stage.problem(all, self.centred, run)
    }

    /// The mean over folds; weighted rows make folds count by their weight.
    pub(super) fn mean(&self, values: &[f64]) -> f64 {
        let weight = |part: &Summary| if self.weighted { part.weight() } else { 1.0 };
        let total: f64 = self.parts.iter().map(weight).sum();
        let sum: f64 = self.parts.iter().zip(values).map(|(part, x)| weight(part) * x).sum();
        sum / total
    }
}

impl PenaltySearch {
    /// The ratio and penalty of least mean error, the first and the largest of equals, and the fit
    /// with them.
    pub(super) fn choose(
        &self,
        l1_ratios: &[f64],
        descent: &CoordinateDescent,
        data: &Dataset,
        run: &Context,
    ) -> Result<Chosen> {
        let folds = Folds::of(data, self.cv, descent.fit_intercept, run)?;
        let whole = folds.problem(None, run)?;
        let largest = whole.largest_l1(0, descent.positive);
        let alphas: Vec<Vec<f64>> =
            l1_ratios.iter().map(|ratio| self.penalties(largest / ratio)).collect();
        let (ratios, count) = (alphas.len(), folds.count());
        let columns = run.try_par_map(ratios * count, |k| {
            let (ratio, fold) = (k / count, k % count);
            fold_errors(&folds, fold, l1_ratios[ratio], &alphas[ratio], descent, &run.child(0))
        })?;
        let errors: Vec<Matrix> = (0..ratios)
            .map(|ratio| {
                Matrix::from_fn(alphas[ratio].len(), count, |i, k| columns[ratio * count + k][i])
            })
            .collect();
        let (ratio, i) = best(&folds, &errors)?;
        let net = Net {
            alpha: alphas[ratio][i],
            l1_ratio: l1_ratios[ratio],
            fit_intercept: descent.fit_intercept,
            settings: descent.settings(),
        };
        let model = net.fit(&whole, run)?;
        Ok(Chosen { model, alpha: net.alpha, l1_ratio: net.l1_ratio, alphas, errors })
    }

    /// The penalties to try, from the largest one downwards.
    fn penalties(&self, largest: f64) -> Vec<f64> {
        match &self.alphas {
            Alphas::Given(alphas) => falling(alphas),
            Alphas::Count(count) => grid(largest, self.eps, *count),
        }
    }

    /// What has no grid needs its penalties.
    pub(super) fn fits(&self, l1_ratios: &[f64]) -> Result<()> {
        if l1_ratios.is_empty() {
            return Err(Error::parameter("l1_ratio", "at least one number", "none"));
        }
        if let Alphas::Given(alphas) = &self.alphas {
            return super::path::check_alphas(Some(alphas));
        }
        match l1_ratios.contains(&0.0) {
            true => Err(Error::parameter("l1_ratio", "above 0 where alphas is a number", 0.0)
                .hint("give the list of alphas, or use RidgeCV")),
            false => Ok(()),
        }
    }
}

/// Test errors of a fold along the path of the others.
fn fold_errors(
    folds: &Folds,
    fold: usize,
    l1_ratio: f64,
    alphas: &[f64],
    descent: &CoordinateDescent,
    run: &Context,
) -> Result<Vec<f64>> {
    let problem = folds.problem(Some(fold), run)?;
    let solved = solutions(&problem, 0, l1_ratio, alphas, &descent.settings(), run)?;
    let error = |coef: &[f64]| {
        let intercept = if descent.fit_intercept { problem.intercept(0, coef) } else { 0.0 };
        folds.part(fold).errors(0, coef, intercept).0
    };
    Ok(solved.iter().map(|solved| error(&solved.coef)).collect())
}

/// The place of the least mean error: the first ratio and the largest penalty of equals.
fn best(folds: &Folds, errors: &[Matrix]) -> Result<(usize, usize)> {
    let mut best: Option<(f64, usize, usize)> = None;
    for (ratio, errors) in errors.iter().enumerate() {
        for (i, row) in errors.rows().enumerate() {
            let mean = folds.mean(row);
            if mean.is_finite() && best.is_none_or(|(least, ..)| mean < least) {
                best = Some((mean, ratio, i));
            }
        }
    }
    best.map(|(_, ratio, i)| (ratio, i))
        .ok_or_else(|| Error::numeric("no penalty has a finite error on the test folds"))
}
