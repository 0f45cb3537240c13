//! Times stochastic descent on 200,000 rows of 50 columns, five passes, one thread.

use learnt::linear::{ClassLoss, Perceptron, SGDClassifier, SGDRegressor, linear_separability};
use learnt::prelude::*;
use learnt::stats::sample;
use std::time::Instant;

fn main() -> Result<()> {
    let (n, p) = (200_000, 50);
    let mut rng = Context::default().rng(0);
    let x = Matrix::from_fn(n, p, |_, _| sample::standard_normal(&mut rng));
    let score = |i: usize| x.row(i).iter().enumerate().map(|(j, v)| v * (j as f64).sin()).sum();
    let y: Vec<f64> = (0..n).map(score).collect();
    let labels: Vec<Label> = y.iter().map(|&y| Label::Int(i64::from(y > 0.0))).collect();
    let classes = OwnedDataset::classification(x.clone(), &labels);
    let numbers = OwnedDataset::regression(x, y);
    let run = Context::default().with_threads(1);
    let base = SGDClassifier { max_iter: 5, tol: None, ..Default::default() };
    for loss in [ClassLoss::Hinge, ClassLoss::LogLoss, ClassLoss::Multinomial] {
        let learner = SGDClassifier { loss, ..base.clone() };
        timed(&format!("SGDClassifier {loss}"), || {
            learner.fit_in(&classes.view(), &run).map(drop)
        })?;
    }
    let batches = SGDClassifier { batch_size: 32, ..base };
    timed("SGDClassifier hinge, batches of 32", || {
        batches.fit_in(&classes.view(), &run).map(drop)
    })?;
    let regressor = SGDRegressor { max_iter: 5, tol: None, ..Default::default() };
    timed("SGDRegressor", || regressor.fit_in(&numbers.view(), &run).map(drop))?;
    let perceptron = Perceptron { max_iter: 5, tol: None, ..Default::default() };
    timed("Perceptron", || perceptron.fit_in(&classes.view(), &run).map(drop))?;
    let few = classes.x.frame().select(&[0, 1, 2, 3, 4]);
    let hundred_thousand = classes.view().rows(0, 100_000);
    let touching = Dataset { x: few.frame().rows(0, 100_000), ..hundred_thousand };
    timed("linear_separability, 100,000 rows of 5 columns, not separable", || {
        linear_separability(&touching, &run).map(drop)
    })?;
    timed("linear_separability, 100,000 rows of 50 columns, separable", || {
        linear_separability(&hundred_thousand, &run).map(drop)
    })
}

/// The best of three.
#[expect(clippy::print_stdout, reason = "it is a program that prints")]
fn timed(what: &str, mut work: impl FnMut() -> Result<()>) -> Result<()> {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        work()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{what}: {best:.3} s");
    Ok(())
}
