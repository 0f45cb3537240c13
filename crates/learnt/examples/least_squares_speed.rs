//! Times least squares and ridge on 500,000 rows of 100 columns, and the sum of products alone.

use learnt::linalg::{self, RankUpdate};
use learnt::linear::{LinearRegression, Ridge};
use learnt::prelude::*;
use std::time::Instant;

#[expect(clippy::print_stdout, reason = "it is a program that prints")]
fn best(name: &str, flops: f64, mut work: impl FnMut()) {
    let mut best = f64::INFINITY;
    for _ in 0..7 {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{name:44} {best:8.4} s  {:6.1} GFLOP/s", flops / best / 1e9);
}

fn noise(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
}

fn main() -> Result<()> {
    let (n, d) = (500_000, 100);
    let mut state = 1;
    let x = Matrix::from_fn(n, d, |_, _| noise(&mut state));
    let y: Vec<f64> = x.rows().map(|row| row.iter().sum::<f64>() + noise(&mut state)).collect();
    let flops = (n * d * (d + 1)) as f64;
    let part = x.view().rows(0, 16_384);
    let part_flops = (16_384 * d * (d + 1)) as f64;
    for chunk in [256, 1024] {
        best(&format!("backend's symmetric product, {chunk} rows"), part_flops, || {
            let mut out = vec![0.0; d * d];
            for start in (0..16_384).step_by(chunk) {
                linalg::add_gram(&mut out, part.rows(start, start + chunk));
            }
        });
    }
    best("rank update with its copy", part_flops, || {
        let mut sum = RankUpdate::new(d);
        for i in 0..16_384 {
            sum.push(|row| part.copy_row(i, row));
        }
        sum.finish();
    });
    let data = OwnedDataset::regression(x, y);
    let view = data.view();
    best("checks of the data alone", flops, || {
        view.check(LinearRegression::ABOUT.accepts, true).unwrap_or_default();
    });
    for threads in [1, 2] {
        let run = Context::default().with_threads(threads);
        best(&format!("LinearRegression train, {threads} threads"), flops, || {
            drop(LinearRegression::default().train(&view, &run));
        });
        best(&format!("LinearRegression fit, {threads} threads"), flops, || {
            drop(LinearRegression::default().fit_in(&view, &run));
        });
        best(&format!("Ridge fit, {threads} threads"), flops, || {
            drop(Ridge::default().fit_in(&view, &run));
        });
        let model = LinearRegression::default().fit_in(&view, &run)?;
        best(&format!("predict, {threads} threads"), (2 * n * d) as f64, || {
            drop(model.predict_in(&view.x, &run));
        });
    }
    Ok(())
}
