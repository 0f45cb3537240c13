use super::*;
use crate::cluster::DBSCAN;
use crate::neighbors::Metric;

fn groups(n: usize, width: usize) -> Matrix {
    Matrix::from_fn(n, width, |i, j| {
        let spread = 0.3 + 0.2 * (i % 3) as f64;
        (i % 3) as f64 * 4.0 + spread * ((i * (7 + 4 * j) + 3 * j) as f64 * 0.618).sin()
    })
}

#[test]
fn the_tree_of_boxes_gives_a_tree_as_short_as_prims() {
    let run = Context::default();
    for (n, width, k) in [(300, 2, 5), (500, 3, 1), (257, 5, 9), (40, 1, 3)] {
        let x = groups(n, width);
        let fast = reachability(x.view(), Metric::Euclidean, k, 1.0, &run).unwrap();
        let cores = fast.cores.clone();
        let slow = crate::cluster::prim(x.view(), Metric::Euclidean, Some(&cores), &run).unwrap();
        let total: f64 = slow.iter().map(|edge| edge.length).sum();
        let got: f64 = fast.tree.heights.iter().sum();
        assert!((total - got).abs() < 1e-9 * total, "{n} {width} {k}: {got} {total}");
        let mut lengths: Vec<f64> = slow.iter().map(|edge| edge.length).collect();
        lengths.sort_by(f64::total_cmp);
        for (a, b) in fast.tree.heights.iter().zip(&lengths) {
            assert!((a - b).abs() < 1e-12 * (1.0 + b), "{a} {b}");
        }
    }
}

#[test]
fn core_distances_count_the_row_itself_and_copies() {
    let x = Matrix::column_vector(vec![0.0, 0.0, 0.0, 1.0, 3.0]);
    let run = Context::default();
    let of = |k| reachability(x.view(), Metric::Euclidean, k, 1.0, &run).unwrap().cores;
    assert_eq!(of(1), [0.0; 5]);
    assert_eq!(of(3), [0.0, 0.0, 0.0, 1.0, 3.0]);
    assert_eq!(of(4), [1.0, 1.0, 1.0, 1.0, 3.0]);
}

#[test]
fn every_row_leaves_the_condensed_tree_once_and_sizes_add_up() {
    let x = groups(200, 2);
    let run = Context::default();
    let reach = reachability(x.view(), Metric::Euclidean, 4, 1.0, &run).unwrap();
    let tree = Condensed::new(&reach.tree, 7);
    assert!(tree.branches.iter().filter(|branch| branch.size >= 7).count() >= 3);
    for (k, branch) in tree.branches.iter().enumerate() {
        let fallen = tree.last.iter().filter(|&&last| last as usize == k).count() as u32;
        let children: u32 = (1..tree.branches.len())
            .filter(|&c| tree.branches[c].parent as usize == k)
            .map(|c| tree.branches[c].size)
            .sum();
        assert_eq!(fallen + children, branch.size, "cluster {k}");
        assert!(branch.death >= branch.birth && branch.stability >= 0.0);
    }
}

#[test]
fn a_cut_without_border_rows_is_dbscan() {
    let x = groups(150, 2);
    let run = Context::default();
    let k = 5;
    let reach = reachability(x.view(), Metric::Euclidean, k, 1.0, &run).unwrap();
    for eps in [0.05, 0.1, 0.2, 0.4, 1.0] {
        let data = OwnedDataset::unsupervised(x.clone());
        let model = DBSCAN { eps, min_samples: k, ..Default::default() }.fit(&data.view()).unwrap();
        let cut = reach.tree.cut_height(eps);
        let core: Vec<usize> = (0..150).filter(|&i| reach.cores[i] <= eps).collect();
        let of_dbscan: Vec<usize> =
            model.core_sample_indices.iter().map(|&row| row as usize).collect();
        assert_eq!(core, of_dbscan, "eps {eps}");
        let labels = model.labels();
        for (&i, &j) in core.iter().flat_map(|i| core.iter().map(move |j| (i, j))) {
            assert_eq!(cut[i] == cut[j], labels[i] == labels[j], "eps {eps}");
        }
    }
}

#[test]
fn equal_rows_by_the_hundred_thousand_and_single_rows_have_an_answer() {
    let data = OwnedDataset::unsupervised(Matrix::from_fn(200_000, 2, |_, _| 0.1));
    let model = HDBSCAN::default().fit(&data.view()).unwrap();
    assert_eq!((model.cluster_sizes.len(), model.n_noise), (0, 200_000));
    let one = HDBSCAN { allow_single_cluster: true, ..Default::default() };
    assert_eq!(one.fit(&data.view()).unwrap().cluster_sizes, [200_000]);
    let single = OwnedDataset::unsupervised(Matrix::zeros(1, 2));
    let error = HDBSCAN::default().fit(&single.view()).unwrap_err();
    assert_eq!(error.code(), Code::TooFew);
}

#[test]
fn leaves_are_inside_the_clusters_of_the_excess_of_mass() {
    let data = OwnedDataset::unsupervised(groups(240, 2));
    let of = |cluster_selection_method| {
        let learner = HDBSCAN { cluster_selection_method, ..Default::default() };
        learner.fit(&data.view()).unwrap().labels()
    };
    let (leaves, mass) = (of(Selection::Leaf), of(Selection::Eom));
    for i in 0..240 {
        for j in 0..i {
            if leaves[i].is_some() && leaves[i] == leaves[j] {
                assert_eq!(mass[i], mass[j]);
            }
        }
    }
    let mut merged = HDBSCAN { cluster_selection_epsilon: 3.0, ..Default::default() };
    merged.cluster_selection_method = Selection::Leaf;
    let merged = merged.fit(&data.view()).unwrap();
    assert_eq!(merged.cluster_sizes.len(), 3);
}

#[test]
fn given_distances_have_the_tree_of_the_rows_that_they_are_of() {
    let x = groups(90, 2);
    let distances = Matrix::from_fn(90, 90, |i, j| Metric::Euclidean.distance(x.row(i), x.row(j)));
    let (rows, table) = (OwnedDataset::unsupervised(x), OwnedDataset::unsupervised(distances));
    for alpha in [1.0, 1.3] {
        let learner = HDBSCAN { alpha, ..Default::default() };
        let given = HDBSCAN { metric: RowDistance::Precomputed, ..learner.clone() };
        let (own, given) = (learner.fit(&rows.view()).unwrap(), given.fit(&table.view()).unwrap());
        assert_eq!(own.labels(), given.labels());
        for (a, b) in
            own.single_linkage_tree.column(2).iter().zip(given.single_linkage_tree.column(2))
        {
            assert!((a - b).abs() < 1e-12);
        }
    }
    let given = HDBSCAN { metric: RowDistance::Precomputed, ..Default::default() };
    assert_eq!(given.fit(&rows.view()).unwrap_err().code(), Code::Shape);
}
