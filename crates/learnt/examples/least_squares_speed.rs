//! Times the kernel of least squares on one block, and whole fits of 500,000 rows and 100 columns.

use learnt::clock::Moment;
use learnt::linalg::{self, RankUpdate};
use learnt::linear::{LinearRegression, Ridge};
use learnt::prelude::*;

type Work<'a> = (String, f64, Box<dyn FnMut() + 'a>);

/// The best of several times each, taken in turns so that all meet the same disturbances.
#[expect(clippy::print_stdout, reason = "it is a program that prints")]
fn race(times: usize, mut works: Vec<Work>) {
    let mut best = vec![f64::INFINITY; works.len()];
    for _ in 0..times {
        for ((_, _, work), best) in works.iter_mut().zip(&mut best) {
            let start = Moment::now();
            work();
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    for ((name, flops, _), best) in works.iter().zip(&best) {
        println!("{name:44} {:9.3} ms  {:6.1} GFLOP/s", best * 1e3, flops / best / 1e9);
    }
}

fn noise(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
}

fn main() -> Result<()> {
    let (n, d, block) = (500_000, 100, 16_384);
    let mut state = 1;
    let x = Matrix::from_fn(n, d, |_, _| noise(&mut state));
    let y: Vec<f64> = x.rows().map(|row| row.iter().sum::<f64>() + noise(&mut state)).collect();
    let data = OwnedDataset::regression(x, y);
    let view = data.view();
    let part = view.x.values().rows(0, block);
    let flops = |rows: usize| (rows * d * (d + 1)) as f64;
    let product = |chunk: usize| -> Work {
        let work = move || {
            let mut out = vec![0.0; d * d];
            for start in (0..block).step_by(chunk) {
                linalg::add_gram(&mut out, part.rows(start, start + chunk));
            }
        };
        (format!("backend's symmetric product, {chunk} rows"), flops(block), Box::new(work))
    };
    let update = move || {
        let mut sum = RankUpdate::new(d);
        for i in 0..block {
            sum.push(|row| part.copy_row(i, row));
        }
        sum.finish();
    };
    let train = |rows: usize, threads: usize| -> Work {
        let run = Context::default().with_threads(threads);
        let rows_of = view.rows(0, rows);
        let work = move || drop(LinearRegression::default().train(&rows_of, &run));
        (format!("LinearRegression {rows} rows, {threads} threads"), flops(rows), Box::new(work))
    };
    race(
        100,
        vec![
            product(256),
            product(1024),
            ("rank update with its copy".into(), flops(block), Box::new(update)),
            train(256, 1),
            train(block, 1),
        ],
    );
    let run = Context::default();
    let model = LinearRegression::default().fit(&view)?;
    race(
        10,
        vec![
            train(n, 1),
            train(n, 2),
            (
                "checks of the data".into(),
                0.0,
                Box::new(|| {
                    view.check(LinearRegression::ABOUT.accepts, true, &Context::default())
                        .unwrap_or_default()
                }),
            ),
            (
                "LinearRegression, checks and fit".into(),
                flops(n),
                Box::new(|| drop(LinearRegression::default().fit(&view))),
            ),
            (
                "Ridge, checks and fit".into(),
                flops(n),
                Box::new(|| drop(Ridge::default().fit(&view))),
            ),
            (
                "prediction".into(),
                (2 * n * d) as f64,
                Box::new(|| drop(model.predict_in(&view.x, &run))),
            ),
        ],
    );
    Ok(())
}
