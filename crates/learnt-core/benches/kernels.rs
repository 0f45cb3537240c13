//! `cargo bench -p learnt-core`: how near the vector kernels come to what the processor can do.
//!
//! The bound is measured first: operations a second of a large product of matrices, and bytes a second
//! of reading a table that no cache holds. Each kernel is then set against whichever of them binds it.
//! One thread and all threads; the best of some turns counts.

use learnt_core::clock::Moment;
use learnt_core::context::Context;
use learnt_core::data::{MatRef, Matrix};
use learnt_core::linalg::{Distances, Nearest, Projection, RankUpdate, matmul_into, vector_math};
use std::hint::black_box;

const TURNS: usize = 5;

/// What a kernel did in a turn.
struct Work {
    name: &'static str,
    operations: f64,
    bytes: f64,
    seconds: f64,
}

#[expect(clippy::print_stdout, reason = "this is a program for a terminal")]
fn main() {
    for threads in [1, Context::default().threads()] {
        let run = Context::default().with_threads(threads);
        let (peak, bandwidth) = bounds(&run);
        println!("{threads} threads: {:.1} GFLOP/s, {:.1} GB/s", peak / 1e9, bandwidth / 1e9);
        for work in kernels(&run) {
            let least = (work.operations / peak).max(work.bytes / bandwidth);
            let binds =
                if work.operations / peak > work.bytes / bandwidth { "peak" } else { "bandwidth" };
            println!("  {:28} {:5.1} % of {binds}", work.name, 100.0 * least / work.seconds);
        }
    }
}

/// Seconds of the best turn.
fn best(mut turn: impl FnMut()) -> f64 {
    turn();
    let timed = |_| {
        let start = Moment::now();
        turn();
        start.seconds()
    };
    (0..TURNS).map(timed).fold(f64::INFINITY, f64::min)
}

fn table(rows: usize, columns: usize) -> Matrix {
    Matrix::from_fn(rows, columns, |i, j| ((i * 7919 + j * 104_729) % 1013) as f64 / 500.0 - 1.0)
}

/// Operations a second of products, bytes a second of reading.
fn bounds(run: &Context) -> (f64, f64) {
    const SIDE: usize = 768;
    let threads = run.threads();
    let (a, b) = (table(SIDE, SIDE), table(SIDE, SIDE));
    let seconds = best(|| {
        run.par_map(threads, |_| {
            let mut out = vec![0.0; SIDE * SIDE];
            matmul_into(&mut out, false, 1.0, a.view(), b.view());
            black_box(out[0])
        });
    });
    let peak = threads as f64 * 2.0 * (SIDE as f64).powi(3) / seconds;
    let large = vec![1.0_f64; 1 << 25];
    let seconds = best(|| {
        let sums = run.par_ranges(large.len(), 1 << 18, |range| {
            learnt_core::vectorized!({
                let mut sums = [0.0; 32];
                for chunk in large[range.clone()].as_chunks::<32>().0 {
                    for k in 0..32 {
                        sums[k] += chunk[k];
                    }
                }
                sums.iter().sum::<f64>()
            })
        });
        black_box(sums);
    });
    (peak, 8.0 * large.len() as f64 / seconds)
}

fn kernels(run: &Context) -> Vec<Work> {
    const BLOCK: usize = 8192;
    let rows = 40 * BLOCK;
    let (wide, narrow) = (table(rows / 4, 100), table(rows, 16));
    let points = table(32, 16);
    let over = |matrix: &Matrix, f: &(dyn Fn(MatRef) + Sync)| {
        best(|| {
            run.par_ranges(matrix.nrows(), BLOCK, |range| {
                f(matrix.view().rows(range.start, range.end));
            });
        })
    };
    let n = rows as f64;
    let products = n * 16.0 * 32.0 * 2.0;
    let read = n * 16.0 * 8.0;
    let nearest = Nearest::new(&points);
    let distances = Distances::new(&points);
    let projection = Projection::new(&points, &[0.0; 16]);
    vec![
        Work {
            name: "rank update, 100 columns",
            operations: n / 4.0 * 100.0 * 101.0,
            bytes: n / 4.0 * 800.0,
            seconds: over(&wide, &|rows| {
                let mut sum = RankUpdate::new(100);
                for i in 0..rows.nrows() {
                    let row = rows.row_slice(i).unwrap_or_default();
                    sum.push(|out| out.copy_from_slice(row));
                }
                black_box(sum.finish());
            }),
        },
        Work {
            name: "nearest of 32 points",
            operations: products,
            bytes: read,
            seconds: over(&narrow, &|rows| {
                let mut out = vec![0; rows.nrows()];
                nearest.of(rows, &mut out);
                black_box(out);
            }),
        },
        Work {
            name: "distances to 32 points",
            operations: 1.5 * products,
            bytes: read + n * 256.0,
            seconds: over(&narrow, &|rows| {
                let mut out = vec![0.0; rows.nrows() * 32];
                distances.of(rows, &mut out);
                black_box(out);
            }),
        },
        Work {
            name: "projection on 32 directions",
            operations: products,
            bytes: read + n * 256.0,
            seconds: over(&narrow, &|rows| {
                let mut out = vec![0.0; rows.nrows() * 32];
                projection.of(rows, &mut out);
                black_box(out);
            }),
        },
        Work {
            name: "exponentials",
            // A fused multiply-add counts two: eighteen of them, and as many plain operations.
            operations: n * 16.0 * 40.0,
            bytes: 2.0 * read,
            seconds: over(&narrow, &|rows| {
                let mut out = rows.memory()[..rows.nrows() * 16].to_vec();
                vector_math::exp_in_place(&mut out);
                black_box(out);
            }),
        },
    ]
}
