//! Times of best subsets with 40 columns, and of stepwise selection and inference on many rows.

#![allow(clippy::unwrap_used, reason = "an example that cannot go on stops")]
#![expect(clippy::print_stdout, reason = "it is a program that prints")]

use learnt::linear::{
    BestSubsetRegression, Direction, LinearRegression, StepwiseCriterion, StepwiseRegression,
};
use learnt::prelude::*;
use learnt::stats::sample::standard_normal;
use std::time::Instant;

/// Columns with this correlation of neighbours, of which `real` count, and noise of variance one.
fn data(n: usize, p: usize, correlation: f64, real: usize, size: f64) -> OwnedDataset {
    let mut rng = Context::default().rng(5);
    let rest = (1.0 - correlation * correlation).sqrt();
    let mut x = Matrix::zeros(n, p);
    let mut y = Vec::with_capacity(n);
    for i in 0..n {
        let row = x.row_mut(i);
        for j in 0..p {
            let before = if j > 0 { row[j - 1] } else { standard_normal(&mut rng) };
            row[j] = correlation * before + rest * standard_normal(&mut rng);
        }
        let step = (p / real.max(1)).max(1);
        let signal: f64 = (0..real).map(|k| row[(k * step) % p] * (1.0 + k as f64 / 5.0)).sum();
        y.push(size * signal + standard_normal(&mut rng));
    }
    OwnedDataset::regression(x, y)
}

fn time<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let out = work();
    println!("{what}: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    out
}

fn main() {
    let p: usize = std::env::args().nth(1).map_or(40, |text| text.parse().unwrap());
    let best = BestSubsetRegression { force: true, ..Default::default() };
    for (n, correlation, real, size) in [
        (1000, 0.5, 10, 0.3),
        (1000, 0.9, 10, 0.3),
        (200, 0.5, 10, 0.3),
        (200, 0.0, 0, 0.0),
        (80, 0.0, 0, 0.0),
        (80, 0.7, 20, 0.3),
        (80, 0.95, 0, 0.0),
    ] {
        let set = data(n, p, correlation, real, size);
        let what = format!("best subsets {n} x {p}, correlation {correlation}, {real} real");
        let model = time(&what, || best.fit(&set.view()).unwrap());
        println!("   chosen {} ", model.selected.len());
    }
    let large = data(100_000, 50, 0.5, 10, 0.1);
    for direction in [Direction::Forward, Direction::Backward] {
        let steps = StepwiseRegression { direction, ..Default::default() };
        time(&format!("{direction:?} 100000 x 50"), || steps.fit(&large.view()).unwrap());
        let criterion = StepwiseCriterion::Cv;
        let folds = StepwiseRegression { direction, criterion, ..Default::default() };
        time(&format!("{direction:?} 100000 x 50, ten folds"), || {
            folds.fit(&large.view()).unwrap()
        });
    }
    drop(large);
    let wide = data(500_000, 100, 0.5, 10, 0.1);
    let learner = LinearRegression::default();
    for _ in 0..3 {
        let model = time("least squares 500000 x 100", || learner.fit(&wide.view()).unwrap());
        time("   its inference", || model.inference(0, 0.95).unwrap());
        time("   its report", || model.report().unwrap());
    }
}
