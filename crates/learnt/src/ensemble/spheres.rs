//! Boosting on nested spheres: stumps against one tree, margins of training rows, shrinkage and subsampling.
//!
//! p standard normal columns; the class is whether their sum of squares is above the median of chi-squared
//! with p degrees of freedom. Labels may be flipped. Errors and deviances are those of drawn test rows.
//!
//! References: Hastie, Tibshirani and Friedman (2009), sections 10.1, 10.6 and 10.12; Schapire, Freund, Bartlett
//! and Lee (1998), Annals of Statistics 26, 1651-1686.

use super::compose::AdaBoostClassifier;
use super::gradient::GradientBoostingClassifier;
use crate::tree::{DecisionTreeClassifier, Growth};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::context::Rng;
use learnt_core::prelude::*;
use learnt_core::stats::distribution::{ChiSquared, Continuous};
use learnt_core::stats::sample;

/// Rows of nested spheres; a share of the labels is flipped.
fn spheres(rows: usize, columns: usize, flipped: f64, rng: &mut Rng) -> Result<OwnedDataset> {
    let chi_squared = ChiSquared::new(columns as f64);
    let bound =
        chi_squared.ok_or_else(|| Error::internal("spheres without columns"))?.quantile(0.5);
    let x = Matrix::from_fn(rows, columns, |_, _| sample::standard_normal(rng));
    let label = |i: usize, rng: &mut Rng| {
        let outside = x.row(i).iter().map(|x| x * x).sum::<f64>() > bound;
        Label::Int(i64::from(outside != (sample::uniform(rng) < flipped)))
    };
    let y: Vec<Label> = (0..rows).map(|i| label(i, rng)).collect();
    Ok(OwnedDataset::classification(x, &y))
}

fn error_of(model: &dyn Classifier, data: &OwnedDataset, run: &Context) -> Result<f64> {
    let view = data.view();
    let (codes, _) = view.class_target()?;
    let called = model.classify_in(&view.x, run)?;
    Ok(called.iter().zip(codes).filter(|(a, b)| a != b).count() as f64 / codes.len() as f64)
}

/// AdaBoost with stumps on nested spheres, beside one stump and one full tree.
#[derive(Params, Clone, Debug)]
pub struct NestedSpheres {
    /// Number of rounds.
    #[param(default = 200, range = 1..=10_000)]
    pub rounds: usize,
    /// Rows of the training set.
    #[param(default = 1000, range = 20..=100_000)]
    pub rows: usize,
    /// Rows of the test set.
    #[param(default = 2000, range = 20..=1_000_000)]
    pub test_rows: usize,
    /// Number of columns.
    #[param(default = 10, range = 1..=1000)]
    pub columns: usize,
}

/// Errors by round.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct SphereErrors {
    /// Rounds.
    pub round: Vec<u64>,
    /// Test error of AdaBoost after each.
    pub test_error: Vec<f64>,
    /// Training error after each.
    pub training_error: Vec<f64>,
    /// Mean exponential loss of the training rows after each.
    pub exponential_loss: Vec<f64>,
    /// Smallest margin of a training row after each, as a share of the weight of members.
    pub least_margin: Vec<f64>,
    /// Test error of one stump.
    pub stump: f64,
    /// Test error of one tree grown to its end.
    pub tree: f64,
    /// Leaves of that tree.
    pub leaves: u64,
}

impl Function for NestedSpheres {
    type Inputs<'a> = ();
    type Output = SphereErrors;
    const ABOUT: &'static Callable = &Callable::new("ensemble.nested_spheres", FunctionKind::Study)
        .reference("Hastie, Tibshirani and Friedman (2009), section 10.1")
        .randomness()
        .threads();

    fn call(&self, (): (), run: &Context) -> Result<SphereErrors> {
        let cells = (self.rows + self.test_rows) as u64 * (self.columns as u64 + 4);
        run.claim(16 * cells, "rows of the spheres")?;
        let mut rng = run.rng(1);
        let train = spheres(self.rows, self.columns, 0.0, &mut rng)?;
        let test = spheres(self.test_rows, self.columns, 0.0, &mut rng)?;
        let learner = AdaBoostClassifier { n_estimators: self.rounds, ..Default::default() };
        let model = learner.fit_in(&train.view(), &run.untraced())?;
        let (margins, on_test) =
            (model.staged_margins(&train.view(), run)?, model.staged_margins(&test.view(), run)?);
        let wrong = |margins: &Vec<f64>| {
            margins.iter().filter(|m| **m <= 0.0).count() as f64 / margins.len() as f64
        };
        let growth = Growth { max_depth: Some(1), ..Growth::default() };
        let stump = DecisionTreeClassifier { growth, ..Default::default() };
        let tree = DecisionTreeClassifier::default().fit_in(&train.view(), run)?;
        let mut weight = 0.0;
        let least = |(margins, step): (&Vec<f64>, &f64)| {
            weight += step;
            margins.iter().copied().fold(f64::INFINITY, f64::min) / weight
        };
        // Members have doubled weights: half a margin is the score of exponential loss.
        let loss = |margins: &Vec<f64>| {
            margins.iter().map(|m| (-0.5 * m).exp()).sum::<f64>() / margins.len() as f64
        };
        Ok(SphereErrors {
            round: (1..=margins.len() as u64).collect(),
            test_error: on_test.iter().map(wrong).collect(),
            training_error: margins.iter().map(wrong).collect(),
            exponential_loss: margins.iter().map(loss).collect(),
            least_margin: margins.iter().zip(&model.estimator_weights).map(least).collect(),
            stump: error_of(&stump.fit_in(&train.view(), run)?, &test, run)?,
            tree: error_of(&tree, &test, run)?,
            leaves: tree.n_leaves as u64,
        })
    }

    fn chart(&self, found: &SphereErrors) -> Option<Chart> {
        let x: Vec<f64> = found.round.iter().map(|&round| round as f64).collect();
        let line = |name: &str, y: &[f64]| Mark::line(name, x.clone(), y.to_vec());
        let errors = Panel::new("rounds", "error")
            .mark(line("test error", &found.test_error))
            .mark(line("training error", &found.training_error))
            .mark(Mark::horizontal("one stump", vec![found.stump]).dashed())
            .mark(Mark::horizontal("one full tree", vec![found.tree]).dashed());
        let losses = Panel::new("rounds", "training rows")
            .mark(line("mean exponential loss", &found.exponential_loss))
            .mark(line("least margin", &found.least_margin));
        let about =
            "Stumps that hardly beat guessing add up to less error than one tree grown to its end.";
        Some(Chart::new("AdaBoost on nested spheres", about).panel(errors).panel(losses))
    }
}

/// How margins of training rows grow with the rounds of AdaBoost, also after no row is wrong.
#[derive(Params, Clone, Debug)]
pub struct MarginStudy {
    /// Rounds whose margins are shown.
    #[param(default = vec![5, 50, 200], range = 1..=10_000)]
    pub rounds: Vec<usize>,
    /// Rows of the training set.
    #[param(default = 300, range = 20..=100_000)]
    pub rows: usize,
    /// Number of columns.
    #[param(default = 10, range = 1..=1000)]
    pub columns: usize,
    /// Depth of the trees.
    #[param(default = 3, range = 1..=100)]
    pub depth: usize,
}

/// Margins, a row a number of rounds.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Margins {
    /// Rounds.
    pub rounds: Vec<u64>,
    /// Share of wrong rows.
    pub training_error: Vec<f64>,
    /// Smallest margin.
    pub least: Vec<f64>,
    /// Median of the margins.
    pub median: Vec<f64>,
    /// Sorted margins of all rows, a line a number of rounds.
    pub margins: Matrix,
}

impl Function for MarginStudy {
    type Inputs<'a> = ();
    type Output = Margins;
    const ABOUT: &'static Callable = &Callable::new("ensemble.margin_study", FunctionKind::Study)
        .reference("Schapire, Freund, Bartlett and Lee (1998)")
        .randomness()
        .threads();

    fn call(&self, (): (), run: &Context) -> Result<Margins> {
        run.claim(32 * (self.rows * (self.columns + 4)) as u64, "rows of the spheres")?;
        let data = spheres(self.rows, self.columns, 0.0, &mut run.rng(1))?;
        let most = self.rounds.iter().copied().max().unwrap_or(1);
        let growth = Growth { max_depth: Some(self.depth), ..Growth::default() };
        let tree = DecisionTreeClassifier { growth, ..Default::default() };
        let learner = AdaBoostClassifier {
            estimator: Some(tree.into()),
            n_estimators: most,
            ..Default::default()
        };
        let model = learner.fit_in(&data.view(), &run.untraced())?;
        let staged = model.staged_margins(&data.view(), run)?;
        let mut found = Margins {
            rounds: Vec::new(),
            training_error: Vec::new(),
            least: Vec::new(),
            median: Vec::new(),
            margins: Matrix::zeros(self.rounds.len(), self.rows),
        };
        for (k, &round) in self.rounds.iter().enumerate() {
            // Boosting may have ended before.
            let reached = round.min(staged.len());
            let weight: f64 = model.estimator_weights[..reached].iter().sum();
            let mut margins: Vec<f64> = staged[reached - 1].iter().map(|m| m / weight).collect();
            margins.sort_by(f64::total_cmp);
            let wrong = margins.iter().filter(|m| **m <= 0.0).count();
            found.rounds.push(reached as u64);
            found.training_error.push(wrong as f64 / self.rows as f64);
            found.least.push(margins[0]);
            found.median.push(margins[self.rows / 2]);
            found.margins.row_mut(k).copy_from_slice(&margins);
        }
        Ok(found)
    }

    fn chart(&self, found: &Margins) -> Option<Chart> {
        let rows = found.margins.ncols();
        let share: Vec<f64> = (1..=rows).map(|i| i as f64 / rows as f64).collect();
        let mut panel = Panel::new("margin", "share of rows below");
        for (k, rounds) in found.rounds.iter().enumerate() {
            let name = format!("{rounds} rounds");
            panel = panel.mark(Mark::line(name, found.margins.row(k).to_vec(), share.clone()));
        }
        let about = "Margins of training rows grow after the last of them is right.";
        Some(Chart::new("Margins of AdaBoost", about).panel(panel))
    }
}

/// Test deviance of boosting by round, for learning rates and shares of rows.
#[derive(Params, Clone, Debug)]
pub struct ShrinkageStudy {
    /// Learning rates, one a curve.
    #[param(default = vec![1.0, 0.1, 1.0, 0.1], above = 0.0, range = ..=1.0)]
    pub learning_rates: Vec<f64>,
    /// Shares of rows drawn for a round, one a curve.
    #[param(default = vec![1.0, 1.0, 0.5, 0.5], above = 0.0, range = ..=1.0)]
    pub subsamples: Vec<f64>,
    /// Number of rounds.
    #[param(default = 150, range = 1..=10_000)]
    pub rounds: usize,
    /// Leaves of a tree.
    #[param(default = 4, range = 2..=1000)]
    pub leaves: usize,
    /// Rows of a training set.
    #[param(default = 500, range = 20..=100_000)]
    pub rows: usize,
    /// Rows of the test set.
    #[param(default = 1000, range = 20..=1_000_000)]
    pub test_rows: usize,
    /// Number of columns.
    #[param(default = 10, range = 1..=1000)]
    pub columns: usize,
    /// Share of labels that are flipped.
    #[param(default = 0.1, range = 0.0..=0.5)]
    pub flipped: f64,
    /// Number of training sets.
    #[param(default = 1, range = 1..=1000)]
    pub repeats: usize,
}

/// Deviances: a row a curve.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct ShrinkageCurves {
    /// Learning rate of each curve.
    pub learning_rates: Vec<f64>,
    /// Share of rows of each curve.
    pub subsamples: Vec<f64>,
    /// Least mean test deviance of each curve.
    pub best: Vec<f64>,
    /// The round where it is.
    pub best_round: Vec<u64>,
    /// Test deviance, a line a curve, from the start on.
    pub deviance: Matrix,
}

impl Function for ShrinkageStudy {
    type Inputs<'a> = ();
    type Output = ShrinkageCurves;
    const ABOUT: &'static Callable =
        &Callable::new("ensemble.shrinkage_study", FunctionKind::Study)
            .reference("Hastie, Tibshirani and Friedman (2009), section 10.12")
            .randomness()
            .threads();

    fn call(&self, (): (), run: &Context) -> Result<ShrinkageCurves> {
        let curves = self.learning_rates.len();
        if self.subsamples.len() != curves || curves == 0 {
            let expected = format!("{curves} numbers, one a learning rate");
            return Err(Error::parameter("subsamples", expected, self.subsamples.len()));
        }
        let cells = (self.rows + self.test_rows) as u64 * (self.columns as u64 + 4);
        run.claim(16 * cells + 8 * (curves * self.rounds) as u64, "rows of the spheres")?;
        let found = run.try_par_map(curves * self.repeats, |task| {
            self.curve(task % curves, &run.child((task / curves) as u64))
        })?;
        let mut deviance = Matrix::zeros(curves, self.rounds + 1);
        for (task, curve) in found.iter().enumerate() {
            let line = deviance.row_mut(task % curves).iter_mut();
            line.zip(curve).for_each(|(sum, x)| *sum += x / self.repeats as f64);
        }
        let least = |line: &[f64]| {
            (1..line.len()).fold(0, |best, k| if line[k] < line[best] { k } else { best })
        };
        let rounds: Vec<usize> = deviance.rows().map(least).collect();
        Ok(ShrinkageCurves {
            learning_rates: self.learning_rates.clone(),
            subsamples: self.subsamples.clone(),
            best: rounds.iter().enumerate().map(|(k, &round)| deviance[(k, round)]).collect(),
            best_round: rounds.into_iter().map(|round| round as u64).collect(),
            deviance,
        })
    }

    fn chart(&self, found: &ShrinkageCurves) -> Option<Chart> {
        let x: Vec<f64> = (0..found.deviance.ncols()).map(|round| round as f64).collect();
        let mut panel = Panel::new("rounds", "test deviance");
        for k in 0..found.best.len() {
            let (rate, share) = (found.learning_rates[k], found.subsamples[k]);
            let name = format!("rate {rate}, {share} of the rows");
            panel = panel.mark(Mark::line(name, x.clone(), found.deviance.row(k).to_vec()));
        }
        // Curves of rate 1 leave the picture.
        let start = found.deviance[(0, 0)];
        let low = found.best.iter().copied().fold(start, f64::min);
        let panel = panel.range_y(low - 0.05 * (start - low), start + 0.5 * (start - low));
        let about = "Small steps need more rounds and end lower; half the rows help small steps.";
        Some(Chart::new("Shrinkage and subsampling", about).panel(panel))
    }
}

impl ShrinkageStudy {
    /// Twice the mean log loss of the test rows, from the start on.
    fn curve(&self, which: usize, run: &Context) -> Result<Vec<f64>> {
        let mut rng = run.rng(1);
        let train = spheres(self.rows, self.columns, self.flipped, &mut rng)?;
        let test = spheres(self.test_rows, self.columns, self.flipped, &mut rng)?;
        let mut learner = GradientBoostingClassifier::default();
        learner.growth.learning_rate = self.learning_rates[which];
        learner.growth.subsample = self.subsamples[which];
        learner.growth.n_estimators = self.rounds;
        learner.growth.max_depth = None;
        learner.growth.max_leaf_nodes = Some(self.leaves);
        let model = learner.fit_in(&train.view(), &run.untraced())?;
        model.staged_deviances(&test.view(), run)
    }
}

#[cfg(test)]
mod tests {
    use super::super::golden::case;
    use super::*;

    #[test]
    fn stumps_on_nested_spheres_have_the_errors_of_the_notes() {
        let expected = case("adaboost-nested-spheres")["expect"]["test_error"].clone();
        let study = NestedSpheres { rounds: 200, rows: 2000, test_rows: 5000, columns: 10 };
        let found = study.compute(()).unwrap();
        for (round, range) in [1, 100, 200].into_iter().zip(expected.as_array().unwrap()) {
            let (low, high) = (range["min"].as_f64().unwrap(), range["max"].as_f64().unwrap());
            let error = found.test_error[round - 1];
            assert!((low..=high).contains(&error), "after {round}: {error}");
        }
        assert!(found.stump > 0.4 && found.test_error[199] < found.tree, "{}", found.tree);
        assert!(found.exponential_loss.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12));
    }

    #[test]
    fn margins_grow_after_the_last_row_is_right() {
        let found = MarginStudy::default().compute(()).unwrap();
        assert_eq!(found.training_error[1..], [0.0, 0.0]);
        assert!(
            found.least[2] > found.least[1] && found.least[1] > found.least[0],
            "{:?}",
            found.least
        );
    }

    #[test]
    fn small_steps_end_lower_and_lower_still_with_half_the_rows() {
        let expected = case("boosting-shrinkage-subsampling")["expect"].clone();
        let study = ShrinkageStudy {
            learning_rates: vec![1.0, 0.1, 0.1],
            subsamples: vec![1.0, 1.0, 0.5],
            rounds: 400,
            rows: 1000,
            test_rows: 2000,
            repeats: 3,
            ..Default::default()
        };
        let found = study.compute(()).unwrap();
        for (best, name) in found.best.iter().zip(["nu_1", "nu_01", "nu_01_half"]) {
            let bound = |side: &str| expected[name][side].as_f64().unwrap();
            assert!((bound("min")..=bound("max")).contains(best), "{name}: {best}");
        }
        assert!(found.best[1] < found.best[0] && found.best[2] < found.best[1]);
    }
}
