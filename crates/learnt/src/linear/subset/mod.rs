//! Subset selection in least squares: best subsets, and steps forward and backward.
//!
//! One pass reduces the rows to a triangle ([`reduced`]); sets of columns grow ([`grow`]) and shrink
//! ([`shrink`]) on it, so the search never sees the rows again, and fits stream unless the size is
//! chosen by cross-validation ([`folds`]).

mod best_subset;
mod folds;
mod grow;
mod model;
mod reduced;
mod search;
mod shrink;
mod steps;
mod stepwise;
mod table;

pub use best_subset::{BestSubsetCriterion, BestSubsetRegression};
pub use model::SubsetRegressionModel;
pub use stepwise::{Direction, StepwiseCriterion, StepwiseRegression};

#[cfg(test)]
mod tests {
    use super::reduced::{Reduced, Sums};
    use super::table::{Measure, SizeTable};
    use super::*;
    use crate::linear::LinearRegression;
    use learnt_core::context::Recorder;
    use learnt_core::prelude::*;
    use learnt_core::stats::sample::standard_normal;

    /// Correlated columns, of which every third one counts, and noise.
    fn random(n: usize, p: usize, seed: u64, noise: f64) -> OwnedDataset {
        let mut rng = Context::default().rng(seed);
        let mut x = Matrix::from_fn(n, p, |_, _| standard_normal(&mut rng));
        for i in 0..n {
            (1..p).for_each(|j| x[(i, j)] = 0.6 * x[(i, j - 1)] + 0.8 * x[(i, j)] + 2.0);
        }
        let y = (0..n).map(|i| {
            let signal: f64 = (0..p).step_by(3).map(|j| x[(i, j)] / (1.0 + j as f64)).sum();
            signal + noise * standard_normal(&mut rng)
        });
        let y = y.collect();
        OwnedDataset::regression(x, y)
    }

    fn reduced(data: &OwnedDataset) -> Reduced {
        let names: Vec<String> = data.x.schema().names().map(str::to_string).collect();
        Reduced::new(&names, Sums::of(&data.view()).unwrap(), true).unwrap()
    }

    fn members(mask: usize) -> Vec<usize> {
        (0..usize::BITS as usize).filter(|j| mask >> j & 1 == 1).collect()
    }

    /// The smallest residual sum of each size, by trying every set with the ordinary fit's engine.
    fn exhaustive(data: &OwnedDataset) -> Vec<f64> {
        let reduced = reduced(data);
        let p = data.x.values().ncols();
        let mut best = vec![f64::INFINITY; p + 1];
        for mask in 0..1_usize << p {
            let set = members(mask);
            let rss = grow::Grow::with(&reduced, &set).rss() * reduced.length[p].powi(2);
            best[set.len()] = best[set.len()].min(rss);
        }
        best
    }

    #[test]
    fn best_subsets_are_those_of_an_exhaustive_search() {
        let mut cases = vec![(1, 1.0), (4, 0.1), (10, 1.0), (10, 30.0)];
        cases.extend((0..40).map(|k| (8, 0.1 * 1.3_f64.powi(k))));
        for (seed, (p, noise)) in (1..).zip(cases) {
            let data = random(40, p, seed, noise);
            let model = BestSubsetRegression::default().fit(&data.view()).unwrap();
            let expected = exhaustive(&data);
            assert_eq!(model.rss.len(), p + 1);
            for (size, (rss, expected)) in model.rss.iter().zip(&expected).enumerate() {
                assert!((rss - expected).abs() <= 1e-10 * expected, "{p} {size} {rss} {expected}");
                assert_eq!(model.subsets[size].len(), size);
            }
            assert!(model.rss.windows(2).all(|pair| pair[1] <= pair[0]));
        }
    }

    #[test]
    fn residual_sums_and_standard_errors_are_those_of_the_ordinary_fit() {
        let data = random(60, 6, 9, 1.0);
        let model = BestSubsetRegression { n_features: Some(3), ..Default::default() };
        let model = model.fit(&data.view()).unwrap();
        let chosen = &model.subsets[3];
        let narrow = OwnedDataset { x: data.x.frame().select(chosen), ..data.clone() };
        let plain = LinearRegression::default().fit(&narrow.view()).unwrap();
        let table = plain.inference(0, 0.95).unwrap();
        assert!((model.rss[3] - table.rss).abs() < 1e-10 * table.rss);
        assert!((model.intercept[0] - plain.intercept[0]).abs() < 1e-10);
        for (k, &j) in chosen.iter().enumerate() {
            assert!((model.coef[(0, j)] - plain.coef[(0, k)]).abs() < 1e-10);
        }
        let report = model.report(&Names::default()).unwrap();
        let errors = report.tables[0].columns[2].reals().unwrap();
        for (error, test) in errors.into_iter().zip(&table.coefficients) {
            assert!((error - test.standard_error).abs() < 1e-10 * error);
        }
        assert!((table.adjusted_r2.unwrap() - model.adjusted_r2.unwrap()[3]).abs() < 1e-10);
        assert!(report.notes.iter().any(|note| note.contains("too small")));
    }

    #[test]
    fn columns_far_from_zero_and_nearly_alike_keep_their_digits() {
        let base = random(200, 3, 11, 1.0);
        let x = base.x.values();
        let wide = Matrix::from_fn(200, 4, |i, j| match j {
            3 => x[(i, 0)] + 1e-6 * x[(i, 1)] + 1e4,
            j => x[(i, j)] + 1e4,
        });
        let data = OwnedDataset { x: Table::unnamed(wide), ..base };
        let model = BestSubsetRegression::default().fit(&data.view()).unwrap();
        for (set, rss) in model.subsets.iter().zip(&model.rss).skip(1) {
            let narrow = OwnedDataset { x: data.x.frame().select(set), ..data.clone() };
            let plain = LinearRegression::default().fit(&narrow.view()).unwrap();
            let expected = plain.inference(0, 0.95).unwrap().rss;
            assert!((rss - expected).abs() < 1e-8 * expected, "{rss} {expected}");
        }
    }

    #[test]
    fn the_first_column_added_is_the_most_correlated_with_the_target() {
        let data = random(50, 8, 21, 2.0);
        let x = data.x.values();
        let y = data.view().real_target().unwrap().column(0);
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        let correlation = |j: usize| {
            let column = x.column(j);
            let (mx, my) = (mean(&column), mean(&y));
            let product: f64 = column.iter().zip(&y).map(|(a, b)| (a - mx) * (b - my)).sum();
            let square: f64 = column.iter().map(|a| (a - mx) * (a - mx)).sum();
            product.abs() / square.sqrt()
        };
        let all: Vec<f64> = (0..8).map(correlation).collect();
        let first = learnt_core::estimator::first_maximum(&all) as usize;
        let model = StepwiseRegression::default().fit(&data.view()).unwrap();
        assert_eq!(model.subsets[1], [first]);
    }

    fn five_rows() -> OwnedDataset {
        let x = [[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 3.0], [5.0, 8.0]];
        OwnedDataset::regression(Matrix::from_rows(&x).unwrap(), vec![1.0, 3.0, 2.0, 5.0, 4.0])
    }

    #[test]
    fn the_last_column_left_is_the_one_with_the_largest_t() {
        let learner = StepwiseRegression {
            direction: Direction::Backward,
            criterion: StepwiseCriterion::Size,
            n_features: Some(1),
            ..Default::default()
        };
        let model = learner.fit(&five_rows().view()).unwrap();
        assert_eq!(
            (model.selected.as_slice(), model.path[1].as_str()),
            (&["x0".into()][..], "- x1")
        );
        assert!((model.rss[1] - 3.6).abs() < 1e-12);
    }

    #[test]
    fn backward_steps_need_more_rows_than_columns_and_forward_steps_do_not() {
        let data = random(6, 9, 2, 1.0);
        let backward = StepwiseRegression { direction: Direction::Backward, ..Default::default() };
        assert_eq!(backward.fit(&data.view()).unwrap_err().code(), Code::TooFew);
        let best = BestSubsetRegression::default().fit(&data.view());
        assert_eq!(best.unwrap_err().code(), Code::TooFew);
        let forward = StepwiseRegression::default().fit(&data.view()).unwrap();
        assert!(
            forward.selected.len() <= 4 && forward.coef.as_slice().iter().all(|b| b.is_finite())
        );
    }

    #[test]
    fn equal_columns_are_settled_by_the_lowest_one() {
        // A full factorial: three orthogonal columns, of which the last two explain the same.
        let sign = |i: usize, j: usize| if i >> j & 1 == 1 { 1.0 } else { -1.0 };
        let x = Matrix::from_fn(16, 3, sign);
        let y = (0..16).map(|i| 5.0 + sign(i, 1) + sign(i, 2) + 0.1 * sign(i, 3)).collect();
        let data = OwnedDataset::regression(x, y);
        let best = BestSubsetRegression::default().fit(&data.view()).unwrap();
        assert_eq!(best.subsets[1], [1]);
        let forward = StepwiseRegression::default().fit(&data.view()).unwrap();
        assert_eq!(forward.path[..3], ["", "+ x1", "+ x2"]);
        let backward = StepwiseRegression {
            direction: Direction::Backward,
            criterion: StepwiseCriterion::Size,
            n_features: Some(0),
            ..Default::default()
        };
        assert_eq!(backward.fit(&data.view()).unwrap().path, ["", "- x0", "- x1", "- x2"]);
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let data = random(60, 16, 6, 20.0);
        let fits = [1, 2, 4].map(|threads| {
            let run = Context::default().with_threads(threads);
            BestSubsetRegression::default().fit_in(&data.view(), &run).unwrap().stored()
        });
        assert!(fits[0] == fits[1] && fits[1] == fits[2]);
    }

    #[test]
    fn more_than_forty_columns_need_force() {
        let data = random(90, 41, 6, 1.0);
        let refused = BestSubsetRegression::default().fit(&data.view()).unwrap_err();
        assert!(refused.message().contains("force"));
        let forced =
            BestSubsetRegression { force: true, n_features: Some(2), ..Default::default() };
        assert_eq!(forced.fit(&data.view()).unwrap().selected.len(), 2);
    }

    #[test]
    fn an_exact_fit_is_chosen_at_its_smallest_size_and_a_constant_target_needs_none() {
        let base = random(40, 8, 6, 1.0);
        let x = base.x.values().clone();
        let y: Vec<f64> = (0..40).map(|i| 3.0 * x[(i, 1)] - x[(i, 4)] + 2.0).collect();
        let exact = OwnedDataset::regression(x.clone(), y);
        let flat = OwnedDataset::regression(x, vec![0.3; 40]);
        let best = BestSubsetRegression::default();
        let model = best.fit(&exact.view()).unwrap();
        assert_eq!(model.selected, ["x1", "x4"]);
        assert!((model.coef[(0, 1)] - 3.0).abs() < 1e-12 && model.cp.is_none());
        let forward = StepwiseRegression::default();
        assert_eq!(forward.fit(&exact.view()).unwrap().selected.len(), 2);
        let model = best.fit(&flat.view()).unwrap();
        assert_eq!((model.selected.len(), model.intercept[0]), (0, 0.3));
        assert_eq!(forward.fit(&flat.view()).unwrap().selected.len(), 0);
        assert!(model.report(&Names::default()).is_some());
    }

    #[test]
    fn columns_given_by_others_are_left_out_with_a_warning() {
        let base = random(40, 3, 6, 1.0);
        let x = base.x.values();
        let wide = Matrix::from_fn(40, 5, |i, j| match j {
            3 => x[(i, 0)] - x[(i, 1)],
            4 => 7.0,
            j => x[(i, j)],
        });
        let data = OwnedDataset { x: Table::unnamed(wide), ..base.clone() };
        let recorder = Recorder::new(&learnt_core::context::Quiet);
        let run = Context::default().observed_by(&recorder);
        let model = BestSubsetRegression::default().fit_in(&data.view(), &run).unwrap();
        assert_eq!(model.rss.len(), 4);
        assert!(recorder.warnings()[0].message.contains("'x3', 'x4'"));
    }

    #[test]
    fn weights_that_sum_to_one_count_as_one_row_and_that_is_said() {
        let weights = Some(vec![1.0 / 40.0; 40]);
        let data = OwnedDataset { weights, ..random(40, 3, 6, 1.0) };
        let recorder = Recorder::new(&learnt_core::context::Quiet);
        let run = Context::default().observed_by(&recorder);
        let model = StepwiseRegression::default().fit_in(&data.view(), &run).unwrap();
        assert_eq!(model.selected.len(), 0);
        assert!(recorder.warnings()[0].message.contains("weights count rows"));
        let refused = BestSubsetRegression::default().fit(&data.view()).unwrap_err();
        assert!(refused.hint_text().unwrap().contains("weights count rows"));
    }

    #[test]
    fn without_an_intercept_the_origin_is_kept() {
        let data = random(40, 4, 8, 1.0);
        let learner =
            StepwiseRegression { fit_intercept: false, n_features: Some(1), ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        let column = data.x.values().column(model.subsets[1][0]);
        let y = data.view().real_target().unwrap().column(0);
        let product: f64 = column.iter().zip(&y).map(|(x, y)| x * y).sum();
        let square: f64 = column.iter().map(|x| x * x).sum();
        assert!((model.coef[(0, model.subsets[1][0])] - product / square).abs() < 1e-12);
        assert_eq!(model.intercept, [0.0]);
    }

    #[test]
    fn bic_finds_three_of_ten_nested_predictors_far_more_often_than_aic() {
        let text = include_str!("../../../../../tests/golden/select.json");
        let cases: Vec<serde_json::Value> = serde_json::from_str(text).unwrap();
        let case = cases.iter().find(|case| case["id"] == "bic-consistent-aic-not").unwrap();
        let (runs, mut rng) = (600, Context::default().rng(77));
        for n in [100, 400] {
            let mut right = [0, 0];
            for _ in 0..runs {
                let x = Matrix::from_fn(n, 10, |_, _| standard_normal(&mut rng));
                let real = |i: usize| 0.8 * x.row(i)[..3].iter().sum::<f64>();
                let y = (0..n).map(|i| real(i) + standard_normal(&mut rng)).collect();
                let reduced = reduced(&OwnedDataset::regression(x, y));
                let nested = (0..=10).map(|size| (0..size).collect()).collect();
                let table = SizeTable::new(&reduced, nested);
                for (count, measure) in right.iter_mut().zip([Measure::Bic, Measure::Aic]) {
                    *count += usize::from(table.preferred(measure).unwrap() == 3);
                }
            }
            for (count, name) in right.into_iter().zip(["bic", "aic"]) {
                let share = f64::from(count as u32) / f64::from(runs);
                let range = &case["expect"][n.to_string()][name];
                let end = |name: &str| range[name].as_f64().unwrap();
                assert!((end("min")..=end("max")).contains(&share), "{n} {name}: {share}");
            }
        }
    }

    #[test]
    fn cross_validation_repeats_the_selection_in_every_fold() {
        let data = random(120, 9, 31, 1.0);
        let learner =
            BestSubsetRegression { criterion: BestSubsetCriterion::Cv, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        let errors = model.cv_error.as_ref().unwrap();
        assert_eq!(errors.len(), 10);
        let best = errors.iter().copied().fold(f64::INFINITY, f64::min);
        assert_eq!(errors[model.selected.len()], best);
        // Honest errors exceed those on the training rows.
        assert!(errors[9] > model.rss[9] / 120.0);
        let careful = BestSubsetRegression { one_standard_error: true, ..learner.clone() };
        let small = careful.fit(&data.view()).unwrap();
        assert!(small.selected.len() <= model.selected.len());
        let run = Context::default().with_threads(1);
        assert_eq!(learner.fit_in(&data.view(), &run).unwrap().stored(), model.stored());
        for direction in [Direction::Forward, Direction::Backward] {
            let criterion = StepwiseCriterion::Cv;
            let steps = StepwiseRegression { direction, criterion, ..Default::default() };
            let model = steps.fit(&data.view()).unwrap();
            assert_eq!(model.subsets[model.chosen].len(), model.selected.len());
            assert_eq!(model.cv_error.unwrap().len(), 10);
        }
    }

    #[test]
    fn steps_in_both_directions_drop_what_later_columns_replace() {
        // x2 is nearly x0 + x1 and enters first; with both of those in, it says nothing more.
        let sign = |i: usize, j: usize| if i >> j & 1 == 1 { 1.0 } else { -1.0 };
        let x = Matrix::from_fn(64, 3, |i, j| match j {
            2 => sign(i, 0) + sign(i, 1) + 0.6 * sign(i, 2),
            j => sign(i, j),
        });
        let y = (0..64).map(|i| sign(i, 0) + sign(i, 1) + 0.2 * sign(i, 3)).collect();
        let data = OwnedDataset::regression(x, y);
        for criterion in [StepwiseCriterion::Aic, StepwiseCriterion::F] {
            let direction = Direction::Both;
            let steps = StepwiseRegression { direction, criterion, ..Default::default() };
            let model = steps.fit(&data.view()).unwrap();
            assert_eq!(model.path[1..], ["+ x2", "+ x0", "+ x1", "- x2"]);
            assert_eq!(model.selected, ["x0", "x1"]);
        }
        let whole = StepwiseRegression {
            direction: Direction::Both,
            criterion: StepwiseCriterion::Cv,
            ..Default::default()
        };
        assert!(whole.check().is_err());
    }

    #[test]
    fn columns_enter_while_their_f_is_large_enough() {
        let data = five_rows();
        let steps = |f_to_enter| {
            let criterion = StepwiseCriterion::F;
            let learner = StepwiseRegression { criterion, f_to_enter, ..Default::default() };
            learner.fit(&data.view()).unwrap().selected.len()
        };
        // F of x0 alone is 3 (10 - 3.6) / 3.6 = 5.33; of x1 beside it 40.9.
        assert_eq!([steps(5.3), steps(5.4), steps(0.0)], [2, 0, 2]);
    }

    #[test]
    fn a_search_can_be_stopped() {
        struct Impatient;
        impl learnt_core::context::Observer for Impatient {
            fn progress(
                &self,
                progress: &learnt_core::context::Progress,
            ) -> std::ops::ControlFlow<()> {
                match progress.stage == "best subsets" {
                    true => std::ops::ControlFlow::Break(()),
                    false => std::ops::ControlFlow::Continue(()),
                }
            }
        }
        let data = random(60, 20, 6, 50.0);
        let run = Context::default().observed_by(&Impatient);
        let stopped = BestSubsetRegression::default().fit_in(&data.view(), &run).unwrap_err();
        assert_eq!(stopped.code(), Code::Cancelled);
    }
}
