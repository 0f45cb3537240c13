//! What looking at every value costs: the share of fits and predictions that goes to values which are not
//! finite. `cargo run --release -p learnt --example look_cost`
//!
//! A prediction through the gate is compared with the same prediction asked of the model itself, which looks at
//! nothing. For fits the share is that of a refusal, of rows whose last value is infinite; learners whose sums
//! show a bad value have no look of their own, and their refusal takes as long as a fit: "in the sums".
//! Times are medians of several turns, in which all take part, so that a busy machine disturbs all alike.

use learnt::clock::Moment;
use learnt::prelude::*;
use learnt_core::estimator::{Admitted, ROLES};
use learnt_core::params::LearnerSpec;

const ROWS: usize = 1_000_000;
const COLUMNS: usize = 20;
const TURNS: usize = 15;

#[expect(clippy::print_stdout, reason = "it is a program that prints")]
fn main() -> Result<()> {
    let x = Matrix::from_fn(ROWS, COLUMNS, noise);
    let numbers: Vec<f64> = x.rows().map(|row| row[0] + row[1]).collect();
    let labels: Vec<Label> =
        numbers.iter().zip(0..).map(|(y, i)| i64::from(*y + noise(i, 77) > 0.0).into()).collect();
    let classes = OwnedDataset::classification(x.clone(), &labels);
    let numbers = OwnedDataset::regression(x.clone(), numbers);
    let plain = OwnedDataset::unsupervised(x);
    println!(
        "{ROWS} x {COLUMNS}\n\n| call | seconds | of it the look | share |\n|---|---|---|---|"
    );
    for name in [
        "linear-regression",
        "ridge",
        "logistic-regression",
        "sgd-classifier",
        "linear-discriminant-analysis",
        "gaussian-nb",
        "k-means",
        "decision-tree-classifier",
        "standard-scaler",
        "pca",
    ] {
        let spec = LearnerSpec { learner: name.to_string(), params: Vec::new() };
        let learner = learnt::build(&spec)?;
        let roles = learner.any_roles();
        let data = match (roles.needs_classes(), roles.needs_target()) {
            (true, _) => &classes,
            (_, true) => &numbers,
            _ => &plain,
        };
        measure(name, learner.as_ref(), data)?;
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "it is a program that prints")]
fn measure(name: &str, learner: &dyn AnyEstimator, data: &OwnedDataset) -> Result<()> {
    let run = Context::default();
    let trained = Trained::fit(learner, &data.view(), &[], &run)?;
    let mut bad = data.clone();
    bad.x.values_mut()[(ROWS - 1, COLUMNS - 1)] = f64::INFINITY;
    let [fit, refusal] = medians(
        3,
        [&mut || drop(learner.fit_any(&data.view(), &run)), &mut || {
            drop(learner.fit_any(&bad.view(), &run))
        }],
    );
    let share = match refusal < 0.7 * fit {
        true => format!("{:.1} %", 100.0 * refusal / fit),
        false => "in the sums".to_string(),
    };
    println!("| {name} fit | {fit:.4} | {refusal:.4} | {share} |");
    let model = trained.model.as_ref();
    let Some(role) = ROLES.iter().find(|role| (role.played_by)(model)) else { return Ok(()) };
    let rows = Admitted { x: data.x.frame(), sequences: None };
    let frame = Frame::new(data.x.values().view(), &trained.history.schema)?;
    let [gate, alone] = medians(
        TURNS,
        [&mut || drop(trained.predict(&frame, &run)), &mut || {
            drop((role.methods[0].call)(model, &rows, &run))
        }],
    );
    let look = gate - alone;
    println!(
        "| {name} {} | {gate:.4} | {look:.4} | {:.1} % |",
        role.methods[0].name,
        100.0 * look / gate
    );
    Ok(())
}

/// The median seconds of each call, all of them called in every turn.
fn medians<const N: usize>(turns: usize, mut calls: [&mut dyn FnMut(); N]) -> [f64; N] {
    let mut times = [const { Vec::new() }; N];
    for _ in 0..turns {
        for (call, times) in calls.iter_mut().zip(&mut times) {
            let start = Moment::now();
            call();
            times.push(start.elapsed().as_secs_f64());
        }
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    })
}

fn noise(i: usize, j: usize) -> f64 {
    let z = ((i * 2_654_435_761 + j * 40_503 + 1) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (z ^ (z >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) as f64 / u64::MAX as f64 * 2.0 - 1.0
}
