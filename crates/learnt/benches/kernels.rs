//! `cargo bench -p learnt`: how near the vector kernels come to what the processor can do.
//!
//! Bounds are measured first: operations a second of a large product of matrices, bytes a second of reading a table
//! that no cache holds, and additions a second to the cells of histograms in the first cache. Each kernel is then set
//! against whichever of them binds it: its operations (a multiplication and an addition count two, a comparison or a
//! selection one), the bytes that it cannot but read and write, its additions to cells. What arithmetic binds is
//! measured on rows of a table that no cache holds, once each, and again on blocks that the cache holds: a kernel
//! that waits for memory shows in the difference.
//!
//! One thread and all threads, with the widest vectors and, where those are AVX-512, with AVX2 too: products of the
//! backend cannot be held to AVX2, so that a loop of multiply-adds in registers is the bound there; the best of some
//! turns counts. With one thread the time on the processor counts, where the system tells it, so that other programs
//! disturb less. Kernels that are private to a learner are measured by a fit or a prediction that does little else.
//! Words after the command choose kernels by name.

use learnt::author::*;
use learnt::bayes::GaussianNB;
use learnt::clock::Moment;
use learnt::ensemble::{HistGradientBoostingClassifier, HistGrowth};
use learnt::linalg::{
    Distances, Nearest, Projection, RankUpdate, matmul_into, matvec, prefetch_rows, rows_ahead,
    vector_math,
};
use learnt::linear::{LogisticRegression, Ridge};
use learnt::prepare::StandardScaler;
use learnt_core::linalg::{Kernel, limit_lanes};
use pulp::Simd;
use std::cell::RefCell;
use std::hint::black_box;

/// As the programs have it.
#[global_allocator]
static MEMORY: learnt::LargePages = learnt::LargePages;

const TURNS: usize = 5;
/// Seconds that a turn is repeated for: some systems count the time on a processor in ticks of milliseconds.
const LEAST: f64 = 0.1;

/// What a kernel did in a turn.
struct Work {
    name: String,
    /// Whether it runs as the backend likes.
    of_backend: bool,
    operations: f64,
    bytes: f64,
    adds: f64,
}

/// What the processor can do in a second.
struct Bounds {
    operations: f64,
    bytes: f64,
    adds: f64,
}

impl Bounds {
    /// The least seconds of some work, and what takes them.
    fn least(&self, work: &Work) -> (f64, &'static str) {
        let peak = (work.operations / self.operations, "peak");
        let bandwidth = (work.bytes / self.bytes, "bandwidth");
        let adds = (work.adds / self.adds, "additions to cells");
        [bandwidth, adds]
            .into_iter()
            .fold(peak, |most, next| if next.0 > most.0 { next } else { most })
    }
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
        limit_lanes(if narrow { 4 } else { u8::MAX });
        let run = Context::default().with_threads(threads);
        let bounds = Bounds::measure(&run, narrow);
        println!(
            "{threads} threads, {} lanes: {:.1} GFLOP/s, {:.1} GB/s, {:.2} G additions/s",
            learnt_core::linalg::run(Fused(0)).1,
            bounds.operations / 1e9,
            bounds.bytes / 1e9,
            bounds.adds / 1e9
        );
        let tables = Tables::new();
        let kernels = arithmetic(&tables, 1).into_iter().chain(arithmetic(&tables, PASSES));
        let kernels = kernels.chain(learners(&tables));
        let kernels = kernels.filter(|(kernel, _)| wanted(&kernel.name));
        for (kernel, mut turn) in kernels.filter(|(kernel, _)| !narrow || !kernel.of_backend) {
            let seconds = best(threads == 1, || turn(&run));
            let (least, binds) = bounds.least(&kernel);
            println!("  {:42} {:5.1} % of {binds}", kernel.name, 100.0 * least / seconds);
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

/// Bytes a second of reading what no cache holds.
fn read_peak(run: &Context) -> f64 {
    let large = vec![1.0_f64; 1 << 25];
    let seconds = best(run.threads() == 1, || {
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
    8.0 * large.len() as f64 / seconds
}

/// Additions a second of pairs of whole numbers to cells that bins of four columns choose, all in the first cache.
fn add_peak(run: &Context) -> f64 {
    const ROWS: usize = 512;
    const TIMES: usize = 256;
    let bins: Vec<[u8; 4]> =
        (0..ROWS).map(|i| [7, 11, 13, 29].map(|k| (i * k * k % 251) as u8)).collect();
    let rows: Vec<[i64; 2]> = (0..ROWS as i64).map(|i| [i, 1]).collect();
    let threads = run.threads();
    let seconds = best(threads == 1, || {
        black_box(run.par_map(threads, |_| {
            let mut cells = [[[0_i64; 2]; 256]; 4];
            for _ in 0..TIMES {
                for (bins, row) in black_box(&bins).iter().zip(&rows) {
                    for (cells, &bin) in cells.iter_mut().zip(bins) {
                        let cell = &mut cells[usize::from(bin)];
                        *cell = [cell[0].wrapping_add(row[0]), cell[1].wrapping_add(row[1])];
                    }
                }
            }
            cells[0][0][0]
        }));
    });
    (threads * TIMES * ROWS * 4) as f64 / seconds
}

impl Bounds {
    fn measure(run: &Context, narrow: bool) -> Bounds {
        let operations = if narrow { fused_peak(run) } else { product_peak(run) };
        Bounds { operations, bytes: read_peak(run), adds: add_peak(run) }
    }
}

const BLOCK: usize = 512;
const ROWS: usize = 640 * BLOCK;
/// Passes over each block where the cache is to hold it.
const PASSES: usize = 16;
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

type Turn<'a> = Box<dyn FnMut(&Context) + 'a>;
type Measured<'a> = (Work, Turn<'a>);

thread_local! {
    static OUT: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

/// Calls `f` so often with each block of rows, on all threads. It writes to memory that stays: the first touch of
/// new memory would take longer than most kernels.
fn by_blocks(
    matrix: &Matrix,
    width: usize,
    passes: usize,
    run: &Context,
    f: impl Fn(MatRef, &mut [f64]) + Sync,
) {
    run.par_ranges(matrix.nrows() / passes, BLOCK, |range| {
        let rows = matrix.view().rows(range.start, range.end);
        OUT.with_borrow_mut(|out| {
            out.resize(BLOCK * 128, 0.0);
            for _ in 0..passes {
                f(rows, &mut out[..rows.nrows() * width]);
                black_box(&out);
            }
        });
    });
}

fn kernel<'a>(
    name: &str,
    operations: f64,
    bytes: f64,
    turn: impl FnMut(&Context) + 'a,
) -> Measured<'a> {
    let work = Work { name: name.into(), of_backend: false, operations, bytes, adds: 0.0 };
    (work, Box::new(turn))
}

/// Kernels that anybody can call, so many times on each block.
fn arithmetic(tables: &Tables, passes: usize) -> Vec<Measured<'_>> {
    let n = ROWS as f64;
    let products = n * 16.0 * 32.0 * 2.0;
    let (wide, narrow) = (tables.wide.x.values(), &tables.narrow);
    let nearest = Nearest::new(&tables.points);
    let distances = Distances::new(&tables.points);
    let projection = Projection::new(&tables.points, &[0.0; 16]);
    let mut kernels = vec![
        kernel("rank update, 100 columns", n / 4.0 * 100.0 * 101.0, n / 4.0 * 800.0, move |run| {
            by_blocks(wide, 0, passes, run, |rows, _| {
                let mut sum = RankUpdate::new(100);
                for i in 0..rows.nrows() {
                    prefetch_rows(rows, i + rows_ahead(100), 1);
                    let row = rows.row_slice(i).unwrap_or_default();
                    sum.push(|out| out.copy_from_slice(row));
                }
                black_box(sum.finish());
            });
        }),
        kernel("panels, 100 x 32", n / 4.0 * 6400.0, n / 4.0 * 800.0, move |run| {
            let right = table(100, 32);
            by_blocks(wide, 32, passes, run, |rows, out| {
                matmul_into(out, false, 1.0, rows, right.view());
            });
        }),
        // A comparison and two selections a row and point.
        kernel("nearest of 32 points", products + n * 96.0, n * 128.0, move |run| {
            by_blocks(narrow, 0, passes, run, |rows, _| {
                let mut out = [0; BLOCK];
                nearest.of(rows, &mut out[..rows.nrows()]);
                black_box(out);
            });
        }),
        kernel("distances to 32 points", 1.5 * products, n * 128.0, move |run| {
            by_blocks(narrow, 32, passes, run, |rows, out| distances.of(rows, out));
        }),
        kernel("projection on 32 directions", products, n * 128.0, move |run| {
            by_blocks(narrow, 32, passes, run, |rows, out| projection.of(rows, out));
        }),
        // Seventeen multiplications with additions, and six other operations.
        kernel("exponentials", n * 16.0 * 40.0, n * 128.0, move |run| {
            by_blocks(narrow, 16, passes, run, |rows, out| {
                out.copy_from_slice(&rows.memory()[..out.len()]);
                vector_math::exp_in_place(out);
            });
        }),
    ];
    kernels[1].0.of_backend = true;
    if passes > 1 {
        for (work, _) in &mut kernels {
            work.name.push_str(", in cache");
            work.bytes = 0.0;
        }
    } else {
        kernels.push(kernel("dot, 100 columns", n / 4.0 * 200.0, n / 4.0 * 800.0, move |run| {
            let right = vec![0.5; 100];
            by_blocks(wide, 0, passes, run, |rows, _| {
                black_box(matvec(rows, &right));
            });
        }));
    }
    kernels
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
    let mut kernels = vec![
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
        // Two rounds of ten trees, with all that a fit does beside them.
        kernel("histograms: boosting fit", 0.0, 0.0, move |run| {
            black_box(boosting.fit_in(&classes, run).is_ok());
        }),
    ];
    // Every row goes into the cells of 16 columns at the root, and on each of about five levels below half of them.
    if let Some((boosting, _)) = kernels.last_mut() {
        boosting.adds = 2.0 * 10.0 * n * 16.0 * 3.5;
    }
    kernels
}
