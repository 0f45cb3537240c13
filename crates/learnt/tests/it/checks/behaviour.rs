//! What a fitted learner does: same bits on any number of threads, weights that repeat, rows that do not
//! influence each other, columns by name, streams that equal memory.

use super::{easy, fit, fit_in, for_each, noise, outputs, per_row_methods, same_bits};
use learnt::context::Observer;
use learnt::prelude::*;
use learnt::rounds::{Block, InMemory, Outline, Source, block_rows};
use learnt::trained::{Missing, Prediction, Trained};

#[test]
fn fitting_gives_the_same_bytes_twice_and_on_one_two_and_four_threads() {
    for_each("same_bytes", |_, learner| {
        let data = easy(300, learner.any_roles());
        let bytes = |threads| {
            let run = Context::default().with_threads(threads).with_seed(7);
            let trained = fit_in(learner, &data.view(), &run).map_err(|error| error.to_string())?;
            trained.to_bytes().map_err(|error| error.to_string())
        };
        let first: Vec<u8> = bytes(1)?;
        for threads in [1, 2, 4] {
            if bytes(threads)? != first {
                return Err(format!("other bytes on {threads} threads"));
            }
        }
        Ok(())
    });
}

#[test]
fn the_seed_that_nobody_names_is_zero() {
    for_each("default_seed", |_, learner| {
        let data = easy(80, learner.any_roles());
        let bytes = |run: Context| {
            let trained = fit_in(learner, &data.view(), &run).map_err(|error| error.to_string())?;
            trained.to_bytes().map_err(|error| error.to_string())
        };
        match bytes(Context::default())? == bytes(Context::default().with_seed(0))? {
            true => Ok(()),
            false => Err("other bytes with seed 0".into()),
        }
    });
}

/// More rows than a block, so that merging and threads matter.
#[test]
fn large_data_gives_the_same_bytes_on_any_number_of_threads() {
    for_each("same_bytes_large", |_, learner| {
        let data = easy(block_rows(4) * 2 + 1000, learner.any_roles());
        let bytes = |threads| {
            let run = Context::default().with_threads(threads);
            let trained = fit_in(learner, &data.view(), &run).map_err(|error| error.to_string())?;
            trained.to_bytes().map_err(|error| error.to_string())
        };
        match bytes(1)? == bytes(3)? {
            true => Ok(()),
            false => Err("other bytes on 3 threads".into()),
        }
    });
}

/// The same blocks, lent from a source that says it is not in memory.
struct Streamed<'a>(InMemory<'a>);

impl Source for Streamed<'_> {
    fn outline(&self) -> Outline<'_> {
        self.0.outline()
    }
    fn with(&self, index: u64, f: &mut dyn FnMut(&Block) -> Result<()>) -> Result<()> {
        self.0.with(index, f)
    }
}

#[test]
fn a_streamed_fit_has_the_bits_of_a_fit_in_memory() {
    let mut streamed = 0;
    for (entry, learner) in super::learners() {
        assert_eq!(entry.about.uses.streaming, learner.any_job().is_some(), "{}", entry.about.path);
        if !entry.about.uses.streaming {
            continue;
        }
        streamed += 1;
        let data = easy(block_rows(4) * 2 + 1000, learner.any_roles());
        let run = Context::default().with_threads(2);
        let in_memory = fit_in(learner.as_ref(), &data.view(), &run).unwrap();
        let from_stream =
            Trained::fit_source(learner.as_ref(), &Streamed(InMemory::new(data.view())), &[], &run)
                .unwrap();
        let rows = data.x.frame().rows(0, 200);
        let same =
            same_bits(&outputs(&in_memory, &rows).unwrap(), &outputs(&from_stream, &rows).unwrap());
        assert!(same, "{}: the stream gave another model", entry.about.path);
    }
    assert!(streamed >= 5, "only {streamed} learners stream");
}

/// Models have no state that a prediction changes: threads that ask one at the same time get what one gets alone.
#[test]
fn one_model_answers_many_threads_at_once_with_the_same_bits() {
    for_each("many_askers", |_, learner| {
        let data = easy(90, learner.any_roles());
        let trained = fit(learner, &data.view()).map_err(|error| error.to_string())?;
        let frame = data.x.frame();
        let alone = outputs(&trained, &frame).map_err(|error| error.to_string())?;
        let askers = Context::default().with_threads(4);
        for found in askers.par_map(8, |_| outputs(&trained, &frame)) {
            if !same_bits(&alone, &found.map_err(|error| error.to_string())?) {
                return Err("other bits beside other threads".into());
            }
        }
        Ok(())
    });
}

#[test]
fn a_row_gets_the_same_bits_alone_in_a_batch_and_in_any_order() {
    for_each("row_by_row", |_, learner| {
        let data = easy(120, learner.any_roles());
        let trained = fit(learner, &data.view()).map_err(|error| error.to_string())?;
        let frame = data.x.frame();
        let all = outputs(&trained, &frame).map_err(|error| error.to_string())?;
        if all.is_empty() {
            return Ok(());
        }
        let reversed: Vec<usize> = (0..120).rev().collect();
        let backwards = outputs(&trained, &frame.gather(&reversed).frame())
            .map_err(|error| error.to_string())?;
        // Outputs are matrices one after the other; take each apart by its width.
        let widths = output_widths(&trained, &frame);
        let mut start = 0;
        for &width in &widths {
            for i in 0..120 {
                let row = &all[start + i * width..start + (i + 1) * width];
                let mirrored = &backwards[start + (119 - i) * width..start + (120 - i) * width];
                if !same_bits(row, mirrored) {
                    return Err(format!("row {i} depends on the order of rows"));
                }
            }
            start += 120 * width;
        }
        for i in [0, 57, 119] {
            let single =
                outputs(&trained, &frame.rows(i, i + 1)).map_err(|error| error.to_string())?;
            let from_all = row_of(&all, i, 120, &widths);
            if !same_bits(&single, &from_all) {
                return Err(format!("row {i} alone differs from row {i} among others"));
            }
        }
        Ok(())
    });
}

/// Widths of the matrices that `outputs` puts one after the other.
fn output_widths(trained: &Trained, x: &Frame) -> Vec<usize> {
    let run = Context::default();
    let one = x.rows(0, 1);
    let rows = trained.admit(&one, None, Missing::Error, &run).unwrap();
    per_row_methods(trained)
        .filter_map(|method| trained.call(method, &rows, &run).ok())
        .map(|prediction| prediction.into_matrix().ncols())
        .collect()
}

fn row_of(all: &[f64], i: usize, rows: usize, widths: &[usize]) -> Vec<f64> {
    let mut out = Vec::new();
    let mut start = 0;
    for width in widths {
        out.extend_from_slice(&all[start + i * width..start + (i + 1) * width]);
        start += rows * width;
    }
    out
}

#[test]
fn weights_equal_repetition() {
    let mut weighted = 0;
    for_each("weights_repeat", |_, learner| {
        if !learner.any_accepts().weights {
            return Ok(());
        }
        let data = easy(60, learner.any_roles());
        let weights: Vec<f64> = (0..60).map(|i| (i % 4) as f64).collect();
        let repeated: Vec<usize> = (0..60).flat_map(|i| vec![i; i % 4]).collect();
        let run = Context::default();
        let with_weights = OwnedDataset { weights: Some(weights), ..data.clone() };
        let a = fit_in(learner, &with_weights.view(), &run).map_err(|error| error.to_string())?;
        let b = fit_in(learner, &data.view().gather(&repeated).view(), &run)
            .map_err(|error| error.to_string())?;
        let frame = data.x.frame();
        let (a, b) = (outputs(&a, &frame).unwrap(), outputs(&b, &frame).unwrap());
        let near = |(x, y): (&f64, &f64)| {
            (x - y).abs() <= 1e-7 * (1.0 + x.abs()) || x.to_bits() == y.to_bits()
        };
        match a.iter().zip(&b).position(|pair| !near(pair)) {
            None if a.len() == b.len() => Ok(()),
            None => Err(format!("{} outputs with weights, {} with rows", a.len(), b.len())),
            Some(k) => {
                Err(format!("output {k}: {} with weights, {} with repeated rows", a[k], b[k]))
            }
        }
    });
    weighted +=
        super::learners().iter().filter(|(_, learner)| learner.any_accepts().weights).count();
    assert!(weighted >= 3);
}

#[test]
fn weights_times_a_constant_change_nothing() {
    for_each("weights_scale", |_, learner| {
        if !learner.any_accepts().weights {
            return Ok(());
        }
        let data = easy(60, learner.any_roles());
        let said = |scale: f64| {
            let weights = (0..60).map(|i| scale * (0.25 + 0.5 * (i % 4) as f64)).collect();
            let weighted = OwnedDataset { weights: Some(weights), ..data.clone() };
            let run = Context::default();
            fit_in(learner, &weighted.view(), &run)
                .and_then(|trained| outputs(&trained, &data.x.frame()))
                .map_err(|error| format!("weights times {scale}: {error}"))
        };
        let plain = said(1.0)?;
        for scale in [7.3, 0.001] {
            let scaled = said(scale)?;
            let far = |(a, b): (&f64, &f64)| (a - b).abs() > 1e-9 * (1.0 + a.abs());
            if let Some(k) = plain.iter().zip(&scaled).position(far) {
                let (a, b) = (plain[k], scaled[k]);
                return Err(format!("output {k}: {a}, and {b} with weights times {scale}"));
            }
        }
        Ok(())
    });
}

#[test]
fn learners_without_weights_refuse_them_by_name() {
    for_each("weights_refused", |entry, learner| {
        if learner.any_accepts().weights {
            return Ok(());
        }
        let data = OwnedDataset { weights: Some(vec![1.0; 30]), ..easy(30, learner.any_roles()) };
        match fit(learner, &data.view()) {
            Err(error)
                if error.code() == Code::Weights
                    && error.message().contains(entry.about.name()) =>
            {
                Ok(())
            }
            Err(error) => Err(error.to_string()),
            Ok(_) => Err("weights were ignored".into()),
        }
    });
}

#[test]
fn columns_are_matched_by_name() {
    for_each("columns_by_name", |_, learner| {
        let data = easy(60, learner.any_roles());
        let trained = fit(learner, &data.view()).map_err(|error| error.to_string())?;
        let frame = data.x.frame();
        let moved = frame.select(&[3, 1, 0, 2]);
        let a = outputs(&trained, &frame).map_err(|error| error.to_string())?;
        let b = outputs(&trained, &moved.frame()).map_err(|error| error.to_string())?;
        match same_bits(&a, &b) {
            true => Ok(()),
            false => Err("another order of columns gives another result".into()),
        }
    });
}

#[test]
fn probabilities_sum_to_one_and_agree_with_the_prediction() {
    let mut classifiers = 0;
    for (entry, learner) in super::learners() {
        if !entry.about.roles.classifier || !entry.about.offers.probabilities {
            continue;
        }
        classifiers += 1;
        let data = easy(90, learner.any_roles());
        let trained = fit(learner.as_ref(), &data.view()).unwrap();
        let run = Context::default();
        let probabilities = trained.probabilities(&data.x.frame(), &run).unwrap();
        let Prediction::Class(codes) = trained.predict(&data.x.frame(), &run).unwrap() else {
            panic!("no classes")
        };
        for (row, code) in probabilities.rows().zip(codes) {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{}: {row:?}", entry.about.path);
            assert!(row.iter().all(|p| (0.0..=1.0).contains(p)));
            assert_eq!(learnt::estimator::first_maximum(row), code, "{}", entry.about.path);
        }
    }
    assert!(classifiers > 0);
}

#[test]
fn learners_beat_the_dummy_on_easy_data() {
    for_each("beats_the_dummy", |_, learner| {
        let roles = learner.any_roles();
        let (train, test) = (easy(150, roles), easy(300, roles));
        let trained = fit(learner, &train.view()).map_err(|error| error.to_string())?;
        let predicted = match trained.predict(&test.x.frame(), &Context::default()) {
            Ok(predicted) => predicted,
            Err(_) => return Ok(()),
        };
        match (predicted, test.view().y) {
            (Prediction::Class(codes), Some(Target::Class { codes: truth, .. })) => {
                let right = codes.iter().zip(truth).filter(|(a, b)| a == b).count();
                if right < 270 { Err(format!("{right} of 300 right")) } else { Ok(()) }
            }
            (Prediction::Real(values), Some(Target::Real(truth))) => {
                let error: f64 = (0..300).map(|i| (values[(i, 0)] - truth.at(i, 0)).powi(2)).sum();
                let mean = (0..300).map(|i| truth.at(i, 0)).sum::<f64>() / 300.0;
                let spread: f64 = (0..300).map(|i| (mean - truth.at(i, 0)).powi(2)).sum();
                if error > 0.2 * spread {
                    Err(format!("R² {}", 1.0 - error / spread))
                } else {
                    Ok(())
                }
            }
            _ => Ok(()),
        }
    });
}

#[test]
fn a_cancelled_fit_says_so_and_leaves_nothing() {
    struct Stop;
    impl Observer for Stop {
        fn cancelled(&self) -> bool {
            true
        }
    }
    for_each("cancel", |_, learner| {
        let data = easy(60, learner.any_roles());
        match fit_in(learner, &data.view(), &Context::default().observed_by(&Stop)) {
            Err(error) if error.code() == Code::Cancelled => Ok(()),
            other => Err(format!("{:?}", other.map(|_| "a model"))),
        }
    });
}

#[test]
fn the_way_back_from_a_transformation_is_the_identity() {
    for (entry, learner) in super::learners() {
        let exempt = super::exempt(entry, "inverse");
        if exempt || !entry.about.offers.inverse_transform {
            continue;
        }
        let data = easy(40, learner.any_roles());
        let trained = fit(learner.as_ref(), &data.view()).unwrap();
        let transformer = trained.model.as_transformer().unwrap();
        let run = Context::default();
        let there = transformer.transform_in(&data.x.frame(), &run).unwrap();
        let back = transformer.inverse_transform_in(&there.frame(), &run).unwrap();
        for (a, b) in back.values().as_slice().iter().zip(data.x.values().as_slice()) {
            assert!((a - b).abs() < 1e-9, "{}: {a} is not {b}", entry.about.path);
        }
    }
}

#[test]
fn different_seeds_differ_where_a_learner_says_it_draws() {
    for_each("seeds_differ", |entry, learner| {
        if !entry.about.uses.randomness
            || entry.about.path.ends_with("Pipeline")
            || entry.about.path.ends_with("ColumnTransformer")
        {
            return Ok(());
        }
        let rows = 60;
        let x = Matrix::from_fn(rows, 4, noise);
        let mut data = easy(rows, learner.any_roles());
        data.x = Table::unnamed(x);
        let model = |seed| {
            fit_in(learner, &data.view(), &Context::default().with_seed(seed))
                .map(|trained| trained.model.stored())
        };
        let first = model(0).map_err(|error| error.to_string())?;
        match (1..12).any(|seed| model(seed).is_ok_and(|other| other != first)) {
            true => Ok(()),
            false => Err("twelve seeds give one model".into()),
        }
    });
}
