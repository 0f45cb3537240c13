use super::*;

fn rings(rows: usize) -> OwnedDataset {
    let x = Matrix::from_fn(rows, 2, |i, j| {
        let (angle, radius) = ((i / 2) as f64 * 2.399_963, 1.0 + 3.0 * (i % 2) as f64);
        radius * if j == 0 { angle.cos() } else { angle.sin() }
    });
    OwnedDataset::unsupervised(x)
}

#[test]
fn a_ring_inside_a_ring_is_two_clusters_by_every_search() {
    let data = rings(600);
    let expected: Vec<Option<u32>> = (0..600).map(|i| Some((i % 2) as u32)).collect();
    for algorithm in [Algorithm::Auto, Algorithm::Brute, Algorithm::KdTree, Algorithm::BallTree] {
        let model = DBSCAN { eps: 0.5, algorithm, ..Default::default() };
        assert_eq!(model.fit(&data.view()).unwrap().labels(), expected);
    }
}

#[test]
fn clusters_are_those_of_the_definition() {
    let x = Matrix::from_fn(120, 2, |i, j| ((i * (5 + 2 * j) % 37) as f64 * 0.21).sin() * 3.0);
    let data = OwnedDataset::unsupervised(x);
    let learner = DBSCAN { eps: 0.45, min_samples: 4, ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    let near = |a: usize, b: usize| {
        let (a, b) = (data.x.values().row(a), data.x.values().row(b));
        (a[0] - b[0]).hypot(a[1] - b[1]) <= 0.45
    };
    let core = |i: usize| (0..120).filter(|&k| near(i, k)).count() >= 4;
    // Labels by flooding from each core row in turn.
    let mut labels: Vec<Option<u32>> = vec![None; 120];
    let mut next = 0;
    for seed in 0..120 {
        if labels[seed].is_some() || !core(seed) {
            continue;
        }
        let mut stack = vec![seed];
        while let Some(i) = stack.pop() {
            if labels[i].is_some() {
                continue;
            }
            labels[i] = Some(next);
            if core(i) {
                stack.extend((0..120).filter(|&k| near(i, k)));
            }
        }
        next += 1;
    }
    assert!(next > 1 && labels.contains(&None), "{next} clusters");
    assert_eq!(model.labels(), labels);
}

#[test]
fn few_rows_of_many_columns_have_the_clusters_of_a_search() {
    let noise = |i: usize, j: usize| ((i * i * 7 + j * 11 + i * j) as f64).sin();
    let x = Matrix::from_fn(90, 120, |i, j| {
        4.0 * (i % 3) as f64 + (1.0 + (i % 7) as f64 / 7.0) * noise(i, j)
    });
    let data = OwnedDataset::unsupervised(x);
    let fit = |algorithm| {
        let learner = DBSCAN { eps: 13.0, algorithm, ..Default::default() };
        learner.fit(&data.view()).unwrap()
    };
    let (pairs, search) = (fit(Algorithm::Auto), fit(Algorithm::BallTree));
    assert!(pairs.cluster_sizes.len() > 1 && pairs.n_noise > 0, "{:?}", pairs.cluster_sizes);
    assert_eq!(pairs.labels(), search.labels());
    assert_eq!(pairs.core_sample_indices, search.core_sample_indices);
}

#[test]
fn a_shared_border_row_goes_to_the_first_the_nearest_or_all_clusters() {
    let values = vec![0.0, 0.5, 1.0, 2.0, 3.0, 3.5, 4.0];
    let fit = |values: &[f64], border, algorithm| {
        let data = OwnedDataset::unsupervised(Matrix::column_vector(values.to_vec()));
        let learner = DBSCAN { eps: 1.0, min_samples: 4, border, algorithm, ..Default::default() };
        learner.fit(&data.view()).unwrap()
    };
    for algorithm in [Algorithm::Auto, Algorithm::Brute] {
        let first = fit(&values, Border::First, algorithm);
        assert_eq!(first.core_sample_indices, [2, 4]);
        assert_eq!(first.labels()[3], Some(0));
        assert!(first.border_memberships.is_none());
        // As far from both: the lower row. A little nearer to the second core row: that one.
        assert_eq!(fit(&values, Border::Nearest, algorithm).labels()[3], Some(0));
        let closer: Vec<f64> =
            values.iter().map(|v| if *v > 2.5 { v - 0.125 } else { *v }).collect();
        let nearest = fit(&closer, Border::Nearest, algorithm);
        assert_eq!(nearest.labels()[3], nearest.labels()[4]);
        assert_eq!(nearest.cluster_sizes, [3, 4]);
        let all = fit(&values, Border::All, algorithm);
        assert_eq!(all.labels(), first.labels());
        let pairs = all.border_memberships.unwrap();
        let of = |row: f64| {
            let own = pairs.rows().filter(|pair| pair[0] == row);
            own.map(|pair| pair[1]).collect::<Vec<f64>>()
        };
        assert_eq!((of(3.0), of(0.0), of(6.0)), (vec![0.0, 1.0], vec![0.0], vec![1.0]));
    }
}

#[test]
fn given_distances_of_any_proximity_have_the_clusters_of_their_rows() {
    let x = Matrix::from_fn(90, 2, |i, j| ((i * (5 + 2 * j) % 37) as f64 * 0.21).sin() * 3.0);
    let length = |i: usize, j: usize| (x[(i, 0)] - x[(j, 0)]).hypot(x[(i, 1)] - x[(j, 1)]);
    let mut table = OwnedDataset::unsupervised(Matrix::from_fn(90, 90, length));
    table.weights = Some((0..90).map(|i| f64::from(i % 3 + 1) / 2.0).collect());
    let mut rows = OwnedDataset::unsupervised(x.clone());
    rows.weights = table.weights.clone();
    for border in [Border::First, Border::Nearest, Border::All] {
        let learner = DBSCAN { eps: 0.45, min_samples: 4, border, ..Default::default() };
        let given = DBSCAN { metric: RowDistance::Precomputed, ..learner.clone() };
        let (a, b) = (learner.fit(&rows.view()).unwrap(), given.fit(&table.view()).unwrap());
        assert_eq!(a.labels(), b.labels());
        assert_eq!(a.border_memberships, b.border_memberships);
        assert!(a.cluster_sizes.len() > 1);
    }
    let fit = |d: &[[f64; 3]]| {
        let data = OwnedDataset::unsupervised(Matrix::from_rows(d).unwrap());
        let metric = RowDistance::Precomputed;
        let learner = DBSCAN { eps: 1.0, min_samples: 2, metric, ..Default::default() };
        learner.fit(&data.view()).map(|model| model.labels())
    };
    // No triangle: 0 and 1, 1 and 2 are near, and 0 and 2 far beyond the sum.
    let chain = fit(&[[0.0, 1.0, 9.0], [1.0, 0.0, 1.0], [9.0, 1.0, 0.0]]).unwrap();
    assert_eq!(chain, [Some(0); 3]);
    let error = fit(&[[0.0, 1.0, 9.0], [2.0, 0.0, 1.0], [9.0, 1.0, 0.0]]).unwrap_err();
    assert!(error.to_string().contains("symmetric"), "{error}");
    assert!(fit(&[[0.0, -1.0, 9.0], [-1.0, 0.0, 1.0], [9.0, 1.0, 0.0]]).is_err());
    assert!(fit(&[[0.0, 1.0, 9.0], [1.0, 0.0, 1.0]]).is_err());
}

#[test]
fn the_largest_square_is_found_for_every_radius() {
    assert_eq!(largest_square(f64::INFINITY), f64::INFINITY);
    for radius in [1e-300, 3e-162, 0.1, 1.0, 7.3, 1e154, 1e200, f64::MAX] {
        let square = largest_square(radius);
        assert!(square.sqrt() <= radius && square.next_up().sqrt() > radius, "{radius}");
    }
}

#[test]
fn grid_and_boxes_give_what_the_searches_give() {
    let few = [(1, 0.003, 3), (2, 0.2, 4), (2, 0.02, 2), (3, 0.4, 5), (3, 1.2, 30), (2, 3.0, 9)];
    let more = [(4, 0.9, 4), (5, 1.2, 9), (6, 1.1, 3), (8, 1.5, 5), (4, 9.0, 600)];
    let mut several = 0;
    for (width, eps, min_samples) in few.into_iter().chain(more) {
        let x =
            Matrix::from_fn(700, width, |i, j| ((i * (5 + 2 * j) % 331) as f64 * 0.21).sin() * 3.0);
        let mut data = OwnedDataset::unsupervised(x);
        for weighted in [false, true] {
            if weighted {
                data.weights = Some((0..700).map(|i| f64::from(i % 3 + 1) / 2.0).collect());
            }
            let fit = |algorithm| {
                let learner = DBSCAN { eps, min_samples, algorithm, ..Default::default() };
                learner.fit(&data.view()).unwrap()
            };
            let (grid, tree) = (fit(Algorithm::Auto), fit(Algorithm::KdTree));
            assert_eq!(grid.labels(), tree.labels());
            assert_eq!(grid.core_sample_indices, tree.core_sample_indices);
            let mixed = grid.cluster_sizes.len() > 1 && grid.n_noise > 0;
            several += u32::from(width > 3 && mixed);
        }
    }
    assert!(several == 8, "{several} cases with clusters and noise");
}

#[test]
fn two_sets_are_near_where_a_cluster_of_single_rows_holds_both() {
    use crate::neighbors::{AnyWithin, TwoSets};
    let mut answers = [0, 0];
    for seed in 0..20 {
        let place = |i: usize, j: usize| ((i * (3 + j) + 17 * seed) as f64 * 1.3).sin() * 30.0;
        let a = Matrix::from_fn(9, 2, place);
        let b = Matrix::from_fn(8, 2, |i, j| place(i + 50, j));
        let both = Matrix::from_fn(17, 2, |i, j| if i < 9 { a[(i, j)] } else { b[(i - 9, j)] });
        let data = OwnedDataset::unsupervised(both);
        for eps in [0.5, 2.0, 5.0] {
            let near = AnyWithin { radius: eps };
            let near = near.compute(TwoSets { a: a.view(), b: b.view() }).unwrap();
            let learner = DBSCAN { eps, min_samples: 1, ..Default::default() };
            let labels = learner.fit(&data.view()).unwrap().labels();
            let mixed = (0..9).any(|i| (9..17).any(|j| labels[i] == labels[j]));
            assert_eq!(near, mixed, "{seed} {eps}");
            answers[usize::from(near)] += 1;
        }
    }
    assert!(answers.iter().all(|count| *count > 0));
}

#[test]
fn half_a_million_equal_rows_are_one_cluster() {
    let data = OwnedDataset::unsupervised(Matrix::from_fn(500_000, 2, |_, _| 0.1));
    let model = DBSCAN::default().fit(&data.view()).unwrap();
    assert_eq!((model.cluster_sizes.as_slice(), model.n_noise), (&[500_000][..], 0));
}

#[test]
fn a_weight_counts_as_so_many_rows() {
    let x = Matrix::column_vector(vec![0.0, 0.4, 5.0]);
    let mut data = OwnedDataset::unsupervised(x);
    let learner = DBSCAN { min_samples: 3, ..Default::default() };
    assert_eq!(learner.fit(&data.view()).unwrap().labels(), [None; 3]);
    data.weights = Some(vec![2.0, 1.0, 1.0]);
    assert_eq!(learner.fit(&data.view()).unwrap().labels(), [Some(0), Some(0), None]);
}

/// The copies of a row are all of its kind, and time grows with the different rows only.
#[test]
fn many_copies_have_the_clusters_of_a_few() {
    let few =
        Matrix::from_fn(12, 2, |i, j| [0.0, 0.3, 0.6, 4.0, 4.4, 9.0][i % 6] + (j * (i / 6)) as f64);
    let copies = 600;
    let many = Matrix::from_fn(12 * copies, 2, |i, j| few[(i % 12, j)] + 1.0);
    for metric in ["l1", "cosine", "chebyshev", "euclidean"] {
        for border in [Border::First, Border::Nearest, Border::All] {
            let mut learner =
                DBSCAN { eps: 0.5, border, min_samples: 2 * copies, ..DBSCAN::default() };
            learner.set("metric", &Value::Text(metric.into())).unwrap();
            let whole = learner.fit(&OwnedDataset::unsupervised(many.clone()).view()).unwrap();
            let weights = Some(vec![copies as f64; 12]);
            let moved = Matrix::from_fn(12, 2, |i, j| few[(i, j)] + 1.0);
            let small = OwnedDataset { weights, ..OwnedDataset::unsupervised(moved) };
            let small = learner.fit(&small.view()).unwrap();
            let labels: Vec<_> = (0..12 * copies).map(|i| small.labels()[i % 12]).collect();
            assert_eq!(whole.labels(), labels, "{metric} {border}");
            assert_eq!(whole.core_sample_indices.len(), copies * small.core_sample_indices.len());
            let pairs = |model: &DBSCANModel| model.border_memberships.as_ref().map(Matrix::nrows);
            assert_eq!(pairs(&whole), pairs(&small).map(|pairs| copies * pairs));
        }
    }
}
