//! Cross-validation of penalties by summaries: every fold is summed once, and the products of a
//! training set are the merged sums of the other folds. A test error from sums about the mean is
//! mean (y - a - xb)² = (S_yy - 2 bᵀS_xy + bᵀS b)/w + (ȳ - a - x̄b)².

use super::elastic_net::{ElasticNetModel, Net};
use super::path::{falling, grid, solutions};
use super::problem::{Problem, Settings};
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

/// What the chosen penalties of a learner with folds come from.
#[derive(Clone, Debug)]
pub(super) struct Search<'a> {
    pub(super) l1_ratios: &'a [f64],
    pub(super) alphas: &'a Alphas,
    pub(super) eps: f64,
    pub(super) fit_intercept: bool,
    pub(super) cv: Option<usize>,
    pub(super) settings: Settings,
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

impl Search<'_> {
    /// The penalty of least mean error, the largest of equals, and the fit with it.
    pub(super) fn choose(&self, data: &Dataset, run: &Context) -> Result<Chosen> {
        let folds = Folds::of(data, self.cv, self.fit_intercept, run)?;
        let whole = folds.problem(None, run)?;
        self.claim(data, folds.count(), run)?;
        let alphas: Vec<Vec<f64>> =
            self.l1_ratios.iter().map(|ratio| self.penalties(&whole, *ratio)).collect();
        let (ratios, count) = (alphas.len(), folds.count());
        let columns = run.try_par_map(ratios * count, |k| {
            let (ratio, fold) = (k / count, k % count);
            self.fold_errors(&folds, fold, self.l1_ratios[ratio], &alphas[ratio], &run.child(0))
        })?;
        let errors: Vec<Matrix> = (0..ratios)
            .map(|ratio| {
                Matrix::from_fn(alphas[ratio].len(), count, |i, k| columns[ratio * count + k][i])
            })
            .collect();
        let (ratio, i) = best(&folds, &errors)?;
        let net = Net {
            alpha: alphas[ratio][i],
            l1_ratio: self.l1_ratios[ratio],
            fit_intercept: self.fit_intercept,
            settings: self.settings,
        };
        let model = net.fit(&whole, run)?;
        Ok(Chosen { model, alpha: net.alpha, l1_ratio: net.l1_ratio, alphas, errors })
    }

    /// Every fold keeps the coefficients of every penalty while it is tried.
    fn claim(&self, data: &Dataset, folds: usize, run: &Context) -> Result<()> {
        let Alphas::Count(count) = self.alphas else { return Ok(()) };
        let at_once = run.threads().min(folds * self.l1_ratios.len()).max(1) as u64;
        let each = (8 * data.x.ncols() as u64 + 128).saturating_mul(at_once);
        let errors = 16 * (folds * self.l1_ratios.len()) as u64;
        let what = format!("a path of {count} penalties over {} columns", data.x.ncols());
        run.claim((*count as u64).saturating_mul(each.saturating_add(errors)), &what)
    }

    fn penalties(&self, whole: &Problem, l1_ratio: f64) -> Vec<f64> {
        match self.alphas {
            Alphas::Given(alphas) => falling(alphas),
            Alphas::Count(count) => {
                grid(whole.largest_l1(0, self.settings.positive) / l1_ratio, self.eps, *count)
            }
        }
    }

    /// Test errors of a fold along the path of the others.
    fn fold_errors(
        &self,
        folds: &Folds,
        fold: usize,
        l1_ratio: f64,
        alphas: &[f64],
        run: &Context,
    ) -> Result<Vec<f64>> {
        let problem = folds.problem(Some(fold), run)?;
        let solved = solutions(&problem, 0, l1_ratio, alphas, &self.settings, run)?;
        let error = |coef: &[f64]| {
            let intercept = if self.fit_intercept { problem.intercept(0, coef) } else { 0.0 };
            folds.part(fold).errors(0, coef, intercept).0
        };
        Ok(solved.iter().map(|solved| error(&solved.coef)).collect())
    }

    /// What has no grid needs its penalties.
    pub(super) fn constraints(&self) -> Result<()> {
        if self.l1_ratios.is_empty() {
            return Err(Error::parameter("l1_ratio", "at least one number", "none"));
        }
        if let Alphas::Given(alphas) = self.alphas {
            return super::path::check_alphas(Some(alphas));
        }
        match self.l1_ratios.contains(&0.0) {
            true => Err(Error::parameter("l1_ratio", "above 0 where alphas is a number", 0.0)
                .hint("give the list of alphas, or use RidgeCV")),
            false => Ok(()),
        }
    }
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
