//! `cargo bench -p learnt`: how near the vector kernels come to what the processor can do.
//!
//! The bound is measured first: operations a second of a large product of matrices, and bytes a second
//! of reading a table that no cache holds. Each kernel is then set against whichever of them binds it: its
//! operations (a multiplication and an addition count two), or the bytes that it cannot but read and write.
//! One thread and all threads, with the widest vectors and, where those are AVX-512, with AVX2 too: products of the
//! backend cannot be held to AVX2, so that a loop of multiply-adds in registers is the bound there; the best of some turns counts. With one thread the time on the processor counts,
//! where the system tells it, so that other programs disturb less. Kernels that are private to a learner are
//! measured by a fit or a prediction that does little else. Words after the command choose kernels by name.

use learnt::author::*;
use learnt::bayes::GaussianNB;
use learnt::clock::Moment;
use learnt::ensemble::{HistGradientBoostingClassifier, HistGrowth};
use learnt::linalg::{
    Distances, Nearest, Projection, RankUpdate, matmul_into, matvec, vector_math,
};
use learnt::linear::{LogisticRegression, Ridge};
use learnt::prepare::StandardScaler;
use learnt_core::linalg::{Kernel, without_avx512};
use pulp::Simd;
use std::hint::black_box;

const TURNS: usize = 5;
/// Seconds that a turn is repeated for: some systems count the time on a processor in ticks of milliseconds.
const LEAST: f64 = 0.1;

/// What a kernel did in a turn.
struct Work {
    name: &'static str,
    operations: f64,
    bytes: f64,
    seconds: f64,
}

#[expect(clippy::print_stdout, reason = "this is a program for a terminal")]
fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let wanted =
        |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    let all = Context::default().threads();
    let narrower =
        if learnt_core::linalg::run(Fused(0)).1 == 8 { &[false, true][..] } else { &[false] };
    for (&narrow, threads) in narrower.iter().flat_map(|narrow| [(narrow, 1), (narrow, all)]) {
        without_avx512(narrow);
        let run = Context::default().with_threads(threads);
        let (peak, bandwidth) = bounds(&run, narrow);
        println!(
            "{threads} threads, {} lanes: {:.1} GFLOP/s, {:.1} GB/s",
            learnt_core::linalg::run(Fused(0)).1,
            peak / 1e9,
            bandwidth / 1e9
        );
        let tables = Tables::new();
        let kernels = arithmetic(&tables).into_iter().chain(learners(&tables));
        let kernels = kernels.filter(|(kernel, _)| wanted(kernel.name));
        for (kernel, mut turn) in kernels.filter(|(kernel, _)| !narrow || kernel.name != PANELS) {
            let work = Work { seconds: best(threads == 1, || turn(&run)), ..kernel };
            let least = (work.operations / peak).max(work.bytes / bandwidth);
            let binds =
                if work.operations / peak > work.bytes / bandwidth { "peak" } else { "bandwidth" };
            println!("  {:28} {:5.1} % of {binds}", work.name, 100.0 * least / work.seconds);
        }
    }
}

/// Multiply-adds in registers, this many times twelve: their sum, and the lanes of a register.
struct Fused(usize);

impl Kernel for Fused {
    type Output = (f64, usize);

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> (f64, usize) {
        let (factor, more) = (simd.splat_f64s(0.999), simd.splat_f64s(1e-3));
        // Not from 1, where a step changes nothing and the compiler leaves the loop out.
        let mut sums = [simd.splat_f64s(black_box(2.0)); 12];
        for _ in 0..self.0 {
            for sum in &mut sums {
                *sum = simd.mul_add_f64s(*sum, factor, more);
            }
        }
        let mut total = 0.0;
        for sum in sums {
            total += simd.reduce_sum_f64s(sum);
        }
        (total, S::F64_LANES)
    }
}

/// Seconds of a call in the best turn.
fn best(alone: bool, mut turn: impl FnMut()) -> f64 {
    turn();
    let timed = |_| {
        let (start, before) = (Moment::now(), on_processor());
        let mut times = 0.0;
        while start.seconds() < LEAST {
            turn();
            times += 1.0;
        }
        let elapsed = start.seconds();
        // The work of other threads is not in the time of this one.
        let seconds = match before.zip(on_processor()).map(|(before, after)| after - before) {
            Some(used) if alone => used.min(elapsed),
            _ => elapsed,
        };
        seconds / times
    };
    (0..TURNS).map(timed).fold(f64::INFINITY, f64::min)
}
/// Seconds that this thread has been on a processor, where the system tells.
fn on_processor() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds * 1e-9)
}

fn table(rows: usize, columns: usize) -> Matrix {
    Matrix::from_fn(rows, columns, |i, j| ((i * 7919 + j * 104_729) % 1013) as f64 / 500.0 - 1.0)
}

/// Operations a second of multiply-adds in registers.
fn fused_peak(run: &Context) -> f64 {
    const COUNT: usize = 1 << 20;
    let (threads, lanes) = (run.threads(), learnt_core::linalg::run(Fused(0)).1);
    let seconds = best(threads == 1, || {
        black_box(run.par_map(threads, |_| learnt_core::linalg::run(Fused(black_box(COUNT)))));
    });
    (threads * 2 * 12 * lanes * COUNT) as f64 / seconds
}

/// Operations a second of a product of matrices.
fn product_peak(run: &Context) -> f64 {
    const SIDE: usize = 768;
    let threads = run.threads();
    let (a, b) = (table(SIDE, SIDE), table(SIDE, SIDE));
    let seconds = best(threads == 1, || {
        run.par_map(threads, |_| {
            let mut out = vec![0.0; SIDE * SIDE];
            matmul_into(&mut out, false, 1.0, a.view(), b.view());
            black_box(out[0])
        });
    });
    threads as f64 * 2.0 * (SIDE as f64).powi(3) / seconds
}

/// Operations a second, bytes a second of reading.
fn bounds(run: &Context, narrow: bool) -> (f64, f64) {
    let threads = run.threads();
    let peak = if narrow { fused_peak(run) } else { product_peak(run) };
    let large = vec![1.0_f64; 1 << 25];
    let seconds = best(threads == 1, || {
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

const PANELS: &str = "panels, 100 x 32";
const BLOCK: usize = 8192;
const ROWS: usize = 40 * BLOCK;
const CLASSES: usize = 10;

/// What kernels work on.
struct Tables {
    wide: OwnedDataset,
    narrow: Matrix,
    classes: OwnedDataset,
    points: Matrix,
}

impl Tables {
    fn new() -> Tables {
        let wide = table(ROWS / 4, 100);
        let target = wide.rows().map(|row| row.iter().sum()).collect();
        let labels: Vec<Label> = (0..ROWS).map(|i| Label::Int((i * 31 % CLASSES) as i64)).collect();
        Tables {
            wide: OwnedDataset::regression(wide, target),
            narrow: table(ROWS, 16),
            classes: OwnedDataset::classification(table(ROWS, 16), &labels),
            points: table(32, 16),
        }
    }
}

type Measured<'a> = (Work, Box<dyn FnMut(&Context) + 'a>);

/// Calls `f` with blocks of rows on all threads.
fn by_blocks(matrix: &Matrix, run: &Context, f: impl Fn(MatRef) + Sync) {
    run.par_ranges(matrix.nrows(), BLOCK, |range| {
        f(matrix.view().rows(range.start, range.end));
    });
}

fn kernel<'a>(
    name: &'static str,
    operations: f64,
    bytes: f64,
    turn: impl FnMut(&Context) + 'a,
) -> Measured<'a> {
    (Work { name, operations, bytes, seconds: 0.0 }, Box::new(turn))
}

/// Kernels that anybody can call.
fn arithmetic(tables: &Tables) -> Vec<Measured<'_>> {
    let n = ROWS as f64;
    let products = n * 16.0 * 32.0 * 2.0;
    let read = n * 16.0 * 8.0;
    let (wide, narrow) = (tables.wide.x.values(), &tables.narrow);
    let nearest = Nearest::new(&tables.points);
    let distances = Distances::new(&tables.points);
    let projection = Projection::new(&tables.points, &[0.0; 16]);
    vec![
        kernel("rank update, 100 columns", n / 4.0 * 100.0 * 101.0, n / 4.0 * 800.0, move |run| {
            by_blocks(wide, run, |rows| {
                let mut sum = RankUpdate::new(100);
                for i in 0..rows.nrows() {
                    let row = rows.row_slice(i).unwrap_or_default();
                    sum.push(|out| out.copy_from_slice(row));
                }
                black_box(sum.finish());
            });
        }),
        kernel(PANELS, n / 4.0 * 6400.0, n / 4.0 * 1056.0, move |run| {
            let right = table(100, 32);
            by_blocks(wide, run, |rows| {
                let mut out = vec![0.0; rows.nrows() * 32];
                matmul_into(&mut out, false, 1.0, rows, right.view());
                black_box(out);
            });
        }),
        kernel("dot, 100 columns", n / 4.0 * 200.0, n / 4.0 * 800.0, move |run| {
            let right = vec![0.5; 100];
            by_blocks(wide, run, |rows| {
                black_box(matvec(rows, &right));
            });
        }),
        kernel("nearest of 32 points", products, read, move |run| {
            by_blocks(narrow, run, |rows| {
                let mut out = vec![0; rows.nrows()];
                nearest.of(rows, &mut out);
                black_box(out);
            });
        }),
        kernel("distances to 32 points", 1.5 * products, read + n * 256.0, move |run| {
            by_blocks(narrow, run, |rows| {
                let mut out = vec![0.0; rows.nrows() * 32];
                distances.of(rows, &mut out);
                black_box(out);
            });
        }),
        kernel("projection on 32 directions", products, read + n * 256.0, move |run| {
            by_blocks(narrow, run, |rows| {
                let mut out = vec![0.0; rows.nrows() * 32];
                projection.of(rows, &mut out);
                black_box(out);
            });
        }),
        // Thirteen multiplications with additions, and about as many other operations.
        kernel("exponentials", n * 16.0 * 40.0, 2.0 * read, move |run| {
            by_blocks(narrow, run, |rows| {
                let mut out = rows.memory()[..rows.nrows() * 16].to_vec();
                vector_math::exp_in_place(&mut out);
                black_box(out);
            });
        }),
    ]
}

/// Kernels inside learners.
fn learners(tables: &Tables) -> Vec<Measured<'_>> {
    let n = ROWS as f64;
    let read = n * 16.0 * 8.0;
    let (wide, classes) = (tables.wide.view(), tables.classes.view());
    let scaler = StandardScaler::default().fit(&classes).ok();
    let short = LogisticRegression { max_iter: 2, ..Default::default() };
    let softmax = short.fit(&classes).ok();
    let growth = HistGrowth { max_iter: 2, ..HistGrowth::default() };
    let boosting = HistGradientBoostingClassifier { growth, ..Default::default() };
    vec![
        kernel("ridge fit, 100 columns", n / 4.0 * 100.0 * 101.0, n / 4.0 * 808.0, move |run| {
            black_box(Ridge::default().fit_in(&wide, run).is_ok());
        }),
        kernel("moments: scaler fit", 0.0, read, move |run| {
            black_box(StandardScaler::default().fit_in(&classes, run).is_ok());
        }),
        kernel("scaler transform", 0.0, 2.0 * read, move |run| {
            let scaled = scaler.as_ref().map(|model| model.transform_in(&classes.x, run).is_ok());
            black_box(scaled);
        }),
        kernel("naive Bayes fit", 0.0, read + 4.0 * n, move |run| {
            black_box(GaussianNB::default().fit_in(&classes, run).is_ok());
        }),
        // Scores, exponentials and quotients of ten classes.
        kernel("softmax", n * 10.0 * (2.0 * 17.0 + 44.0), read + n * 80.0, move |run| {
            let given = softmax.as_ref().map(|model| model.probabilities_in(&classes.x, run));
            black_box(given.is_some());
        }),
        // Two rounds of ten trees: every row's bins of 16 columns are read about four times a tree.
        kernel("histograms, boosting", 0.0, 2.0 * 10.0 * 4.0 * n * (16.0 + 16.0), move |run| {
            black_box(boosting.fit_in(&classes, run).is_ok());
        }),
    ]
}
