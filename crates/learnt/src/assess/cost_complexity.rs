//! The size of a tree by cross-validation: weakest-link subtrees, the error of each on other rows, and the
//! smallest that is within one standard error of the best.
//!
//! The tree of all rows has subtrees T_1 > T_2 > ... that are optimal for complexities from alpha_1 = 0 on.
//! T_k is judged by the trees of the training parts of folds, pruned at √(alpha_k alpha_{k+1}) (the last at
//! infinity). Errors are shares of wrong classes or mean squares over all rows; their standard error is
//! that of the mean over rows. `best_alpha` has the least error, the larger alpha of equals;
//! `one_standard_error_alpha` is the largest with an error up to the least one and its standard error.
//!
//! Reference: Breiman, Friedman, Olshen and Stone (1984), section 3.4.

use super::Examples;
use super::examples::loss;
use crate::Learner;
use crate::select::{Split, usual_splitter};
use crate::tree::{DecisionTreeClassifier, DecisionTreeRegressor, Growth, PruningPath};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::prelude::*;

/// Complexity of a tree by cross-validation, with the rule of one standard error.
#[derive(Params, Clone, Debug)]
pub struct CostComplexity {
    /// Whether the target holds classes or numbers.
    #[param(default = TreeTask::Classification, positional)]
    pub task: TreeTask,
    /// Number of folds.
    #[param(default = 10, range = 2..)]
    pub cv: usize,
    /// How trees grow; `ccp_alpha` is what is looked for.
    #[param(flatten)]
    pub growth: Growth,
}

/// What a tree predicts.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeTask {
    /// Classes.
    Classification,
    /// Numbers.
    Regression,
}

/// The subtrees, the largest first.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct ComplexityTable {
    /// The alpha with the least error.
    pub best_alpha: f64,
    /// The largest alpha whose error is within one standard error of the least.
    pub one_standard_error_alpha: f64,
    /// The smallest alpha for which each subtree is optimal.
    pub ccp_alphas: Vec<f64>,
    /// The same over the impurity of the root.
    pub cp: Vec<f64>,
    /// Splits of each subtree.
    pub splits: Vec<u64>,
    /// Impurity of the leaves over that of the root.
    pub relative_impurity: Vec<f64>,
    /// Error on rows that were not trained on.
    pub cv_error: Vec<f64>,
    /// Its standard error.
    pub cv_standard_error: Vec<f64>,
}

impl Function for CostComplexity {
    type Inputs<'a> = Examples<'a>;
    type Output = ComplexityTable;
    const ABOUT: &'static Callable = &Callable::new("tree.cost_complexity", FunctionKind::Analysis)
        .reference("Breiman, Friedman, Olshen and Stone (1984)")
        .randomness()
        .threads();

    fn call(&self, given: Examples, run: &Context) -> Result<ComplexityTable> {
        let growth = Growth { ccp_alpha: 0.0, ..self.growth.clone() };
        match self.task {
            TreeTask::Classification => {
                let tree = DecisionTreeClassifier { growth, ..Default::default() };
                let target = given.target(&Learner::from(tree.clone()))?;
                let data = given.data(&target);
                let path = tree.fit_in(&data, run)?.pruning_path();
                self.table(&data, &path, run, |train, test, alphas, run| {
                    let full = tree.fit_in(train, run)?;
                    alphas
                        .iter()
                        .map(|&a| numbers(full.pruned(a).classify_in(test, run)?))
                        .collect()
                })
            }
            TreeTask::Regression => {
                let tree = DecisionTreeRegressor { growth, ..Default::default() };
                let target = given.target(&Learner::from(tree.clone()))?;
                let data = given.data(&target);
                let path = tree.fit_in(&data, run)?.pruning_path();
                self.table(&data, &path, run, |train, test, alphas, run| {
                    let full = tree.fit_in(train, run)?;
                    let said = |&a: &f64| Ok(full.pruned(a).predict_in(test, run)?.into_vec());
                    alphas.iter().map(said).collect()
                })
            }
        }
    }

    fn chart(&self, found: &ComplexityTable) -> Option<Chart> {
        let leaves: Vec<f64> = found.splits.iter().map(|&splits| splits as f64 + 1.0).collect();
        let panel = Panel::new("leaves", "error on other rows")
            .mark(Mark::line("error", leaves.clone(), found.cv_error.clone()))
            .mark(Mark::line(
                "error and one standard error",
                leaves,
                found.cv_error.iter().zip(&found.cv_standard_error).map(|(e, s)| e + s).collect(),
            ));
        let about = "Error of the weakest-link subtrees on rows that they were not trained on.";
        Some(Chart::new("Size of a tree", about).panel(panel))
    }
}

fn numbers(codes: Vec<u32>) -> Result<Vec<f64>> {
    Ok(codes.into_iter().map(f64::from).collect())
}

impl CostComplexity {
    /// `says` fits on training rows and gives the predictions of its subtrees for other rows.
    fn table(
        &self,
        data: &Dataset,
        path: &PruningPath,
        run: &Context,
        says: impl Fn(&Dataset, &Frame, &[f64], &Context) -> Result<Vec<Vec<f64>>> + Sync,
    ) -> Result<ComplexityTable> {
        let alphas = &path.ccp_alphas;
        let middle =
            |k: usize| alphas.get(k + 1).map_or(f64::INFINITY, |next| (alphas[k] * next).sqrt());
        let judged: Vec<f64> = (0..alphas.len()).map(middle).collect();
        let splits: Vec<Split> = usual_splitter(data, self.cv).splits(data, run)?.collect();
        let target = data.y.ok_or_else(|| Error::internal("a table without a target"))?;
        let folds = run.try_par_map(splits.len(), |fold| {
            let split = &splits[fold];
            let (train, test) = (data.gather(&split.train), data.x.gather(&split.test));
            let said = says(&train.view(), &test.frame(), &judged, &run.child(fold as u64))?;
            let losses = |said: &Vec<f64>| -> Vec<f64> {
                split.test.iter().zip(said).map(|(&row, &p)| loss(target, row, p)).collect()
            };
            Ok(said.iter().map(losses).collect::<Vec<_>>())
        })?;
        let rows: Vec<usize> = splits.iter().flat_map(|split| split.test.clone()).collect();
        let total: f64 = rows.iter().map(|&row| data.weight(row)).sum();
        let (mut cv_error, mut cv_standard_error) = (Vec::new(), Vec::new());
        for k in 0..alphas.len() {
            let losses: Vec<f64> = folds.iter().flat_map(|fold| fold[k].iter().copied()).collect();
            let mean = |f: &dyn Fn(f64) -> f64| {
                rows.iter().zip(&losses).map(|(&row, &l)| data.weight(row) * f(l)).sum::<f64>()
                    / total
            };
            let error = mean(&|l| l);
            cv_error.push(error);
            cv_standard_error.push((mean(&|l| (l - error).powi(2)) / rows.len() as f64).sqrt());
        }
        let better = |best: usize, k: usize| if cv_error[k] <= cv_error[best] { k } else { best };
        let best = (1..alphas.len()).fold(0, better);
        let bar = cv_error[best] + cv_standard_error[best];
        let simple = (0..alphas.len()).rev().find(|&k| cv_error[k] <= bar).unwrap_or(best);
        let root = path.impurities.last().copied().unwrap_or(0.0);
        let over = |x: &f64| if root > 0.0 { x / root } else { 0.0 };
        Ok(ComplexityTable {
            best_alpha: alphas[best],
            one_standard_error_alpha: alphas[simple],
            cp: alphas.iter().map(over).collect(),
            ccp_alphas: alphas.clone(),
            splits: path.leaves.iter().map(|&leaves| leaves as u64 - 1).collect(),
            relative_impurity: path.impurities.iter().map(over).collect(),
            cv_error,
            cv_standard_error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu() -> OwnedDataset {
        crate::datasets::load("cpu").unwrap()
    }

    #[test]
    fn the_chosen_alphas_lie_in_the_sequence_and_one_standard_error_prunes_more() {
        let data = cpu();
        let y = data.view().real_target().unwrap().column(0);
        let labels: Vec<Label> = y.iter().map(|&y| Label::from_real(y)).collect();
        let (codes, classes) = Label::encode(&labels);
        let study = CostComplexity { task: TreeTask::Regression, ..Default::default() };
        let examples = Examples {
            x: data.x.frame(),
            y: Classes { codes: &codes, classes: &classes },
            sample_weight: None,
        };
        let found = study.compute(examples).unwrap();
        assert!(found.ccp_alphas.contains(&found.best_alpha));
        assert!(found.ccp_alphas.contains(&found.one_standard_error_alpha));
        assert!(found.one_standard_error_alpha >= found.best_alpha);
        let tree = DecisionTreeRegressor::default();
        let path = tree.cost_complexity_pruning_path(&data.view()).unwrap();
        assert_eq!(found.ccp_alphas, path.ccp_alphas);
        assert_eq!(found.splits.last(), Some(&0));
        assert!((found.relative_impurity.last().unwrap() - 1.0).abs() < 1e-12);
        // The root alone is judged by means of other rows: about the variance.
        let mean = y.iter().sum::<f64>() / y.len() as f64;
        let variance = y.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / y.len() as f64;
        let last = found.cv_error.last().unwrap();
        assert!((last / variance - 1.0).abs() < 0.1, "{last} and {variance}");
        let least = found.cv_error.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(least < 0.6 * variance);
    }
}
