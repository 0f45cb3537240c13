//! The structures against a plain sort, and against each other.

use super::*;
use learnt_core::stats::sample;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const METRICS: [Metric; 6] = [
    Metric::Euclidean,
    Metric::Manhattan,
    Metric::Chebyshev,
    Metric::Minkowski(3.0),
    Metric::Minkowski(0.5),
    Metric::Cosine,
];

fn structures(metric: Metric) -> Vec<Structure> {
    [Structure::Brute, Structure::KdTree, Structure::BallTree]
        .into_iter()
        .filter(|structure| structure.check(metric).is_ok())
        .collect()
}

/// Sum and row of every row for one query, in order.
fn sorted(rows: &Matrix, metric: Metric, query: &[f64]) -> Vec<(f64, u32)> {
    let (mut rows, mut query) = (rows.clone(), Matrix::from_rows(&[query]).unwrap());
    if metric == Metric::Cosine {
        to_unit_length(&mut rows).unwrap();
        to_unit_length(&mut query).unwrap();
    }
    let sum =
        |row: &[f64]| with_kernel!(metric, kernel => metric::between(kernel, row, query.row(0)));
    let mut all: Vec<(f64, u32)> = rows.rows().map(sum).zip(0..).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    all.iter()
        .map(|&(sum, row)| (with_kernel!(metric, kernel => kernel.distance(sum)), row))
        .collect()
}

/// The structure of an index, as many questions make it.
fn made(index: &Index, run: &Context) -> Arc<Engine> {
    index.rows.ready(usize::MAX, index.kind, run).unwrap()
}

/// All structures agree with the sort, for all metrics, in the bits.
fn agree(rows: &Matrix, queries: &Matrix, k: usize, leaf_size: usize) {
    for metric in METRICS {
        let expected: Vec<Vec<(f64, u32)>> =
            queries.rows().map(|query| sorted(rows, metric, query)).collect();
        let radius = expected[0][k - 1].0;
        for structure in structures(metric) {
            let run = Context::default().with_threads(2);
            let index = Index::build(rows.view(), metric, structure, leaf_size, &run).unwrap();
            let few = queries.view().rows(0, queries.nrows().min(7));
            let early = index.nearest(few, k, &run).unwrap();
            let early_within = index.within(few, radius, &run).unwrap();
            assert!(matches!(*index.rows.now(), Engine::Rows(_)));
            assert!(!matches!(*made(&index, &run), Engine::Rows(_)));
            let found = index.nearest(queries.view(), k, &run).unwrap();
            for i in 0..few.nrows() {
                assert_eq!(early.rows(i), found.rows(i), "{metric:?} {structure:?}");
                assert_eq!(early.distances(i), found.distances(i), "{metric:?} {structure:?}");
            }
            let within = index.within(queries.view(), radius, &run).unwrap();
            for (i, expected) in expected.iter().enumerate() {
                let pairs = found.distances(i).iter().copied().zip(found.rows(i).iter().copied());
                assert_eq!(pairs.collect::<Vec<_>>(), expected[..k], "{metric:?} {structure:?}");
                let mut inside: Vec<u32> =
                    expected.iter().filter(|pair| pair.0 <= radius).map(|pair| pair.1).collect();
                inside.sort_unstable();
                assert_eq!(within.rows(i), inside, "{metric:?} {structure:?}");
                if i < few.nrows() {
                    assert_eq!(early_within.rows(i), inside, "{metric:?} {structure:?}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

    /// Few distinct values, so that most distances are tied and many rows equal.
    #[test]
    fn ties_go_to_the_lower_row_in_every_structure(
        values in prop::collection::vec(1..4_i32, 3 * 40..3 * 90),
        k in 1..40_usize,
        leaf_size in 1..9_usize,
    ) {
        let rows = values.len() / 3;
        let rows = Matrix::from_fn(rows, 3, |i, j| f64::from(values[3 * i + j]));
        agree(&rows, &rows.view().rows(0, 7).to_matrix(), k, leaf_size);
    }

    #[test]
    fn structures_agree_in_the_bits_at_any_scale(
        seed in 0..u64::MAX,
        columns in 1..20_usize,
        offset in prop::sample::select(vec![0.0, 1.0, 1e6, -1e12]),
        scale in prop::sample::select(vec![1.0_f64, 1e-9, 1e-160, 1e150, 1e290]),
    ) {
        let mut rng = Context::default().with_seed(seed).rng(0);
        let mut draw = |_, _| (sample::uniform(&mut rng) - 0.5 + offset) * scale;
        let rows = Matrix::from_fn(150, columns, &mut draw);
        let queries = Matrix::from_fn(70, columns, &mut draw);
        agree(&rows, &queries, 9, 4);
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let mut rng = Context::default().rng(7);
    let rows = Matrix::from_fn(3000, 4, |_, _| sample::uniform(&mut rng));
    for structure in structures(Metric::Euclidean) {
        let search = |threads| {
            let run = Context::default().with_threads(threads);
            let index = Index::build(rows.view(), Metric::Euclidean, structure, 10, &run).unwrap();
            index.nearest(rows.view(), 6, &run).unwrap()
        };
        assert_eq!(search(1), search(3));
    }
}

#[test]
fn a_single_row_and_equal_rows_are_found() {
    let run = Context::default();
    for rows in [Matrix::from_fn(1, 2, |_, _| 3.0), Matrix::from_fn(100, 2, |_, _| 3.0)] {
        for structure in structures(Metric::Euclidean) {
            let index = Index::build(rows.view(), Metric::Euclidean, structure, 1, &run).unwrap();
            made(&index, &run);
            let found = index.nearest(rows.view().rows(0, 1), rows.nrows(), &run).unwrap();
            assert!(found.rows(0).iter().copied().eq(0..rows.nrows() as u32));
            assert!(found.distances(0).iter().all(|&distance| distance == 0.0));
        }
    }
}

#[test]
fn a_stored_index_is_built_again_the_same() {
    let run = Context::default();
    let rows = Matrix::from_fn(200, 3, |i, j| ((i * 37 + j * 11) % 101 + 1) as f64);
    for metric in METRICS {
        for structure in structures(metric) {
            let index = Index::build(rows.view(), metric, structure, 5, &run).unwrap();
            let again = Index::from_node(&index.to_node()).unwrap();
            let found = |index: &Index| index.nearest(rows.view(), 4, &run).unwrap();
            assert_eq!(found(&index), found(&again));
        }
    }
}

#[test]
fn an_index_that_is_asked_by_several_threads_at_once_gives_each_the_same() {
    let rows = Matrix::from_fn(2000, 4, |i, j| ((i * 37 + j * 11) % 1009) as f64);
    for metric in METRICS {
        for structure in structures(metric) {
            let rows = match metric {
                Metric::Cosine => Matrix::from_fn(2000, 4, |i, j| rows[(i, j)] + 1.0),
                _ => rows.clone(),
            };
            let run = Context::default().with_threads(4);
            let index = Index::build(rows.view(), metric, structure, 5, &run).unwrap();
            let queries = rows.view().rows(0, 40);
            let ask = |_| index.nearest(queries, 3, &Context::default().with_threads(1));
            let found = run.try_par_map(8, ask).unwrap();
            assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "{metric:?} {structure:?}");
        }
    }
}

#[test]
fn an_index_is_stored_the_same_before_and_after_it_is_asked() {
    let run = Context::default();
    let rows = Matrix::from_fn(500, 3, |i, j| ((i * 37 + j * 11) % 101 + 1) as f64);
    for metric in METRICS {
        for structure in structures(metric) {
            let index = Index::build(rows.view(), metric, structure, 5, &run).unwrap();
            let (before, copy) = (index.to_node(), index.clone());
            let found = index.nearest(rows.view(), 4, &run).unwrap();
            assert!(!matches!(*index.rows.now(), Engine::Rows(_)));
            assert_eq!(index.to_node(), before);
            let loaded = Index::from_node(&before).unwrap();
            for other in [copy, loaded] {
                assert_eq!(other.nearest(rows.view(), 4, &run).unwrap(), found);
            }
        }
    }
}

#[test]
fn a_value_that_is_not_finite_is_refused_in_any_memory_order() {
    for place in [(0, 0), (2999, 6), (1700, 3)] {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut rows = Matrix::from_fn(3000, 7, |i, j| (i + j) as f64);
            rows[place] = value;
            let turned = rows.transposed();
            for view in [rows.view(), turned.view().transposed()] {
                let run = Context::default().with_threads(2);
                let built = Index::build(view, Metric::Euclidean, Structure::Brute, 5, &run);
                assert_eq!(built.unwrap_err().code(), Code::NotFinite);
            }
        }
    }
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let run = Context::default();
    let rows = Matrix::from_fn(4, 2, |i, j| (i * (j + 1)) as f64);
    let build = |rows: &Matrix, metric, structure| {
        Index::build(rows.view(), metric, structure, 5, &run).map(|_| ()).unwrap_err()
    };
    assert_eq!(build(&rows, Metric::Cosine, Structure::Brute).code(), Code::Numeric);
    assert_eq!(build(&rows, Metric::Cosine, Structure::KdTree).code(), Code::Parameter);
    assert_eq!(build(&rows, Metric::Minkowski(0.5), Structure::BallTree).code(), Code::Parameter);
    assert_eq!(
        build(&Matrix::zeros(0, 2), Metric::Euclidean, Structure::Brute).code(),
        Code::Shape
    );

    let index = Index::build(rows.view(), Metric::Euclidean, Structure::Brute, 5, &run).unwrap();
    assert_eq!(index.nearest(rows.view(), 5, &run).unwrap_err().code(), Code::TooFew);
    assert_eq!(index.nearest(rows.view().columns(0, 1), 1, &run).unwrap_err().code(), Code::Shape);
    let missing = Matrix::from_fn(1, 2, |_, _| f64::NAN);
    assert_eq!(index.nearest(missing.view(), 1, &run).unwrap_err().code(), Code::NotFinite);
}
