//! Mixtures, trees of clusters and density clusters against reference numbers.

use crate::golden_case::{Case, matrix, numbers};
use learnt::cluster::{
    Cophenet, Criterion, DBSCAN, FlatClusters, HDBSCAN, Linkage, LinkageTable, Mergers, RowsToLink,
};
use learnt::cluster::{
    Diana, ExhaustiveClustering, GapStatistic, Image, KMedoids, LanceWilliams, RowDistance,
    RowsToCluster, Tree, VectorQuantization, reachability,
};
use learnt::density::{GaussianMixture, GaussianMixtureModel};
use learnt::neighbors::Metric;
use learnt::prelude::*;
use serde_json::Value as Json;

fn case(id: &str) -> Case {
    Case::new("cluster.json", id)
}

fn close(got: &[f64], expected: &[f64], rel: f64, abs: f64) {
    assert_eq!(got.len(), expected.len(), "{got:?}\n{expected:?}");
    for (g, e) in got.iter().zip(expected) {
        assert!((g - e).abs() <= abs + rel * e.abs(), "{got:?}\n{expected:?}");
    }
}

fn column(json: &Json) -> OwnedDataset {
    OwnedDataset::unsupervised(Matrix::column_vector(numbers(json)))
}

/// A mixture of one column from given means, variances and shares.
fn one_column(case: &Case, steps: usize) -> GaussianMixture {
    let list = |key: &str| numbers(case.input(key));
    let precisions = list("var").iter().map(|v| vec![vec![1.0 / v]]).collect();
    GaussianMixture {
        n_components: list("mu").len(),
        means_init: Some(list("mu").iter().map(|m| vec![*m]).collect()),
        precisions_init: Some(precisions),
        weights_init: Some(list("P")),
        reg_covar: 0.0,
        tol: 0.0,
        max_iter: steps,
        ..Default::default()
    }
}

fn total(model: &GaussianMixtureModel, data: &OwnedDataset) -> f64 {
    model.log_density_in(&data.x.frame(), &Context::default()).unwrap().iter().sum()
}

#[test]
fn eleven_values_pass_through_the_known_mixtures() {
    let case = case("em-eleven-values");
    let data = column(case.input("x"));
    for (steps, name) in [(1, "step1"), (2, "step2"), (5, "step5"), (2000, "limit")] {
        let model = one_column(&case, steps).fit(&data.view()).unwrap();
        let expected = |key: &str| numbers(&case.expect(name)[key]);
        let rel = if name == "limit" { 1e-6 } else { 1e-7 };
        close(model.means.as_slice(), &expected("mu"), rel, 1e-8);
        close(model.covariances.values(), &expected("var"), rel, 1e-8);
        close(&model.weights, &expected("P"), rel, 1e-8);
        close(&[total(&model, &data)], &expected("loglik"), 1e-7, 1e-8);
        if steps == 1 {
            let start = model.lower_bound * data.x.values().nrows() as f64;
            close(&[start], &numbers(case.expect("start_loglik")), 1e-7, 1e-8);
        }
    }
}

#[test]
fn four_values_have_the_known_responsibilities_and_steps() {
    let case = case("em-four-values");
    let data = column(case.input("x"));
    let mut logs = Vec::new();
    for steps in 1..=3 {
        let model = one_column(&case, steps).fit(&data.view()).unwrap();
        logs.push(model.lower_bound * 4.0);
        if steps == 1 {
            let expected = |key: &str| numbers(&case.expect("step1")[key]);
            close(model.means.as_slice(), &expected("mu"), 1e-7, 1e-6);
            close(model.covariances.values(), &expected("var"), 1e-7, 1e-6);
            close(&model.weights, &expected("P"), 1e-7, 1e-6);
        }
    }
    close(&logs, &numbers(case.expect("loglik")), 1e-7, 1e-6);
    let limit = one_column(&case, 500).fit(&data.view()).unwrap();
    close(limit.means.as_slice(), &numbers(case.expect("limit_mu")), 1e-7, 1e-6);
    close(limit.covariances.values(), &numbers(case.expect("limit_var")), 1e-7, 1e-6);
}

#[test]
fn a_known_variance_moves_the_means_alone() {
    let case = case("em-means-only");
    let data = column(case.input("x"));
    for (steps, key) in [(1, "mu1"), (2, "mu2")] {
        let learner = GaussianMixture {
            n_components: 2,
            means_init: Some(numbers(case.input("mu")).iter().map(|m| vec![*m]).collect()),
            known_variance: Some(1.0),
            max_iter: steps,
            tol: 0.0,
            ..Default::default()
        };
        let model = learner.fit(&data.view()).unwrap();
        close(model.means.as_slice(), &numbers(case.expect(key)), 1e-9, 1e-12);
        assert_eq!(model.weights, [0.5, 0.5]);
    }
}

#[test]
fn twenty_values_reach_one_mixture_from_any_two_of_them() {
    let case = case("em-esl-mixture");
    let data = column(case.input("x"));
    let values = numbers(case.input("x"));
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    for (a, b) in [(0, 9), (3, 4), (10, 19), (7, 2)] {
        let learner = GaussianMixture {
            n_components: 2,
            means_init: Some(vec![vec![values[a]], vec![values[b]]]),
            precisions_init: Some(vec![vec![vec![1.0 / variance]]; 2]),
            reg_covar: 0.0,
            tol: 1e-12,
            max_iter: 5000,
            ..Default::default()
        };
        let model = learner.fit(&data.view()).unwrap();
        let low = usize::from(model.means[(1, 0)] < model.means[(0, 0)]);
        let at = |v: &[f64]| [v[low], v[1 - low]];
        close(&at(model.means.as_slice()), &numbers(case.expect("mu")), 1e-4, 1e-4);
        close(&at(model.covariances.values()), &numbers(case.expect("var")), 1e-4, 1e-4);
        close(&[model.weights[low]], &numbers(case.expect("weight_low")), 1e-4, 1e-4);
        close(&[total(&model, &data)], &numbers(case.expect("loglik")), 1e-4, 1e-4);
    }
}

#[test]
fn old_faithful_passes_through_the_known_mixtures() {
    let case = case("gmm-faithful");
    let data = OwnedDataset::unsupervised(case.features().into_parts().0);
    let inverse = |m: &Json| {
        let m = matrix(m);
        vec![vec![1.0 / m[(0, 0)], 0.0], vec![0.0, 1.0 / m[(1, 1)]]]
    };
    let covariances = case.input("covariance").as_array().unwrap();
    let learner = |max_iter| GaussianMixture {
        n_components: 2,
        means_init: Some(case.input("mean").as_array().unwrap().iter().map(numbers).collect()),
        precisions_init: Some(covariances.iter().map(inverse).collect()),
        weights_init: Some(numbers(case.input("weight"))),
        reg_covar: 0.0,
        tol: 0.0,
        max_iter,
        ..Default::default()
    };
    let n = data.x.values().nrows() as f64;
    let trace: Vec<f64> =
        (1..=6).map(|steps| learner(steps).fit(&data.view()).unwrap().lower_bound * n).collect();
    close(&trace, &numbers(case.expect("loglik_trace")), 1e-6, 1e-7);
    for (steps, name) in [(1, "step1"), (500, "limit")] {
        let model = learner(steps).fit(&data.view()).unwrap();
        let expected = |key: &str| numbers(&case.expect(name)[key]);
        close(model.means.as_slice(), &expected("mean"), 1e-6, 1e-7);
        close(model.covariances.values(), &expected("covariance"), 1e-6, 1e-7);
        close(&model.weights, &expected("weight"), 1e-6, 1e-7);
        close(&[total(&model, &data)], &expected("loglik"), 1e-6, 1e-7);
        if name == "limit" {
            let bic = model.n_parameters() as f64 * n.ln() - 2.0 * total(&model, &data);
            close(&[bic], &numbers(case.expect("bic")), 1e-6, 1e-7);
        }
    }
}

#[test]
fn velocities_of_galaxies_have_three_known_components() {
    let case = case("gmm-galaxies");
    let mut x = case.features().into_parts().0;
    x.as_mut_slice().iter_mut().for_each(|value| *value /= 1000.0);
    let data = OwnedDataset::unsupervised(x);
    let model = one_column(&case, 5000).fit(&data.view()).unwrap();
    close(model.means.as_slice(), &numbers(case.expect("mu")), 1e-5, 1e-5);
    close(model.covariances.values(), &numbers(case.expect("var")), 1e-5, 1e-5);
    close(&model.weights, &numbers(case.expect("P")), 1e-5, 1e-5);
    let log = total(&model, &data);
    let (k, n) = (model.n_parameters() as f64, data.x.values().nrows() as f64);
    let got = [log, 2.0 * k - 2.0 * log, k * n.ln() - 2.0 * log];
    let expected: Vec<f64> =
        ["loglik", "aic", "bic"].iter().flat_map(|key| numbers(case.expect(key))).collect();
    close(&got, &expected, 1e-5, 1e-5);
}

fn method(name: &str) -> Linkage {
    match name {
        "single" => Linkage::Single,
        "complete" => Linkage::Complete,
        "average" => Linkage::Average,
        "weighted" => Linkage::Weighted,
        "centroid" | "mean_squared" => Linkage::Centroid,
        "median" => Linkage::Median,
        _ => Linkage::Ward,
    }
}

fn linked(x: &Matrix, linkage: Linkage, metric: RowDistance) -> Matrix {
    LinkageTable { method: linkage, metric, ..Default::default() }
        .compute(RowsToLink { x: x.view() })
        .unwrap()
}

#[test]
fn small_trees_have_the_known_heights() {
    let five = case("linkage-five-objects");
    for name in ["single", "complete", "average"] {
        let z = linked(&matrix(five.input("D")), method(name), RowDistance::Precomputed);
        close(&z.column(2), &numbers(five.expect(name)), 1e-9, 1e-12);
    }
    for id in ["linkage-six-points", "linkage-1d-six", "linkage-1d-five"] {
        let case = case(id);
        let x = matrix(case.input("X"));
        for (name, expected) in case.expect("").as_object().unwrap() {
            if name == "total_sse" {
                continue;
            }
            let heights = linked(&x, method(name), RowDistance::EUCLIDEAN).column(2);
            let squared = name.ends_with("_squared");
            let got: Vec<f64> = heights.iter().map(|h| if squared { h * h } else { *h }).collect();
            close(&got, &numbers(expected), 1e-9, 1e-12);
        }
    }
    let inversion = case("centroid-inversion");
    let z = linked(&matrix(inversion.input("X")), Linkage::Centroid, RowDistance::EUCLIDEAN);
    close(&z.column(2), &numbers(inversion.expect("heights")), 1e-9, 1e-12);
}

#[test]
fn coefficients_of_lance_and_williams_are_those_of_the_table() {
    let case = case("lance-williams-coefficients");
    for (name, linkage) in [
        ("single", Linkage::Single),
        ("complete", Linkage::Complete),
        ("average", Linkage::Average),
        ("mean", Linkage::Centroid),
        ("ward", Linkage::Ward),
    ] {
        let found = LanceWilliams { method: linkage, n_i: 2, n_j: 3, n_r: 4 }.compute(()).unwrap();
        let got = [found.alpha_i, found.alpha_j, found.beta, found.gamma];
        close(&got, &numbers(case.expect(name)), 1e-9, 1e-12);
    }
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    learnt::stats::summary::correlation(a, b, None).unwrap()
}

fn sizes(labels: impl IntoIterator<Item = i64>) -> Vec<f64> {
    let mut labels: Vec<i64> = labels.into_iter().filter(|&label| label >= 0).collect();
    labels.sort_unstable();
    let mut sizes: Vec<f64> =
        labels.chunk_by(|a, b| a == b).map(|part| part.len() as f64).collect();
    sizes.sort_by(f64::total_cmp);
    sizes
}

#[test]
fn fifteen_states_have_the_trees_of_scipy() {
    let case = case("linkage-usarrests-15");
    let x = case.features().into_parts().0.view().rows(0, 15).to_matrix();
    let mut pairs = Vec::new();
    for i in 0..15 {
        pairs.extend((i + 1..15).map(|j| Metric::Euclidean.distance(x.row(i), x.row(j))));
    }
    for (name, expected) in case.expect("").as_object().unwrap() {
        let z = linked(&x, method(name), RowDistance::EUCLIDEAN);
        close(&z.column(2), &numbers(&expected["heights"]), 1e-7, 1e-9);
        close(&z.column(3), &numbers(&expected["sizes"]), 0.0, 0.0);
        let heights = Cophenet {}.compute(Mergers { z: z.view() }).unwrap();
        let got = correlation(&heights, &pairs);
        close(&[got], &numbers(&expected["cophenetic_correlation"]), 1e-7, 1e-9);
        if expected["sizes_at_4"].is_array() {
            let cut = FlatClusters { t: Some(4.0), criterion: Criterion::Maxclust };
            let labels = cut.compute(Mergers { z: z.view() }).unwrap();
            close(&sizes(labels), &numbers(&expected["sizes_at_4"]), 0.0, 0.0);
        }
    }
}

fn labels(model: &dyn Clusterer) -> Vec<i64> {
    model.labels().iter().map(|label| label.map_or(-1, i64::from)).collect()
}

#[test]
fn dbscan_has_the_known_clusters_and_core_rows() {
    let ten = case("dbscan-ten-points");
    let data = OwnedDataset::unsupervised(matrix(ten.input("X")));
    for (pair, expected) in ten.expect("").as_object().unwrap() {
        let (eps, min_samples) = pair.split_once(',').unwrap();
        let learner = DBSCAN {
            eps: eps.parse().unwrap(),
            min_samples: min_samples.parse().unwrap(),
            ..Default::default()
        };
        let model = learner.fit(&data.view()).unwrap();
        let got: Vec<f64> = labels(&model).iter().map(|&label| label as f64).collect();
        assert_eq!(got, numbers(&expected["labels"]), "{pair}");
        let core: Vec<f64> = model.core_sample_indices.iter().map(|&i| f64::from(i)).collect();
        assert_eq!(core, numbers(&expected["core"]), "{pair}");
    }
    for (id, key) in [("dbscan-shared-border", "first_wins"), ("dbscan-exactly-minpts", "labels")] {
        let case = case(id);
        let data = OwnedDataset::unsupervised(matrix(case.input("X")));
        let min_samples = numbers(case.param("minpts"))[0] as usize;
        let learner = DBSCAN { eps: 1.0, min_samples, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        let got: Vec<f64> = labels(&model).iter().map(|&label| label as f64).collect();
        assert_eq!(got, numbers(case.expect(key)), "{id}");
    }
    let iris = case("dbscan-iris");
    let data = OwnedDataset::unsupervised(iris.features().into_parts().0);
    let model = DBSCAN { eps: 0.505, ..Default::default() }.fit(&data.view()).unwrap();
    close(&sizes(labels(&model)), &numbers(iris.expect("sizes")), 0.0, 1.0);
    assert_eq!(model.n_noise as f64, numbers(iris.expect("noise"))[0]);
    assert_eq!(model.core_sample_indices.len() as f64, numbers(iris.expect("core"))[0]);
}

#[test]
fn moons_have_the_known_clusters_at_every_radius() {
    let case = case("dbscan-moons");
    let data = OwnedDataset::unsupervised(case.features().into_parts().0);
    for (eps, expected) in case.expect("").as_object().unwrap() {
        let model =
            DBSCAN { eps: eps.parse().unwrap(), ..Default::default() }.fit(&data.view()).unwrap();
        close(&sizes(labels(&model)), &numbers(&expected["sizes"]), 0.0, 0.0);
        assert_eq!(model.n_noise as f64, numbers(&expected["noise"])[0]);
    }
}

#[test]
fn hdbscan_has_the_known_trees_sizes_and_stabilities() {
    let moons = case("hdbscan-moons");
    let data = OwnedDataset::unsupervised(moons.features().into_parts().0);
    // The row itself counts as one of `min_samples`.
    for (name, min_samples) in [("not_counting_itself", 6), ("counting_itself", 5)] {
        let learner = HDBSCAN { min_samples: Some(min_samples), ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        let expected = |key: &str| numbers(&moons.expect(name)[key]);
        let weight: f64 = model.single_linkage_tree.column(2).iter().sum();
        close(&[weight], &expected("mst_weight"), 1e-6, 0.0);
        close(&sizes(labels(&model)), &expected("sizes"), 0.0, 0.0);
        assert_eq!(model.n_noise as f64, expected("noise")[0]);
        let mut stabilities = model.cluster_persistence.clone();
        stabilities.sort_by(|a, b| b.total_cmp(a));
        close(&stabilities, &expected("stabilities"), 1e-6, 0.0);
        close(&[model.condensed_tree[(0, 4)]], &expected("root_stability"), 1e-6, 0.0);
    }
    let ruspini = case("hdbscan-ruspini");
    let data = OwnedDataset::unsupervised(ruspini.features().into_parts().0);
    let model = HDBSCAN { min_samples: Some(5), ..Default::default() }.fit(&data.view()).unwrap();
    let weight: f64 = model.single_linkage_tree.column(2).iter().sum();
    close(&[weight], &numbers(ruspini.expect("mst_weight")), 1e-6, 0.0);
    close(&sizes(labels(&model)), &numbers(ruspini.expect("sizes")), 0.0, 1.0);
    close(&[model.n_noise as f64], &numbers(ruspini.expect("noise")), 0.0, 2.0);
}

#[test]
fn the_hierarchy_cut_at_any_radius_is_dbscan_without_borders() {
    let case = case("hdbscan-cut-equals-dbscan");
    let data = OwnedDataset::unsupervised(case.features().into_parts().0);
    let x = data.x.values();
    let reach = reachability(x.view(), Metric::Euclidean, 5, 1.0, &Context::default()).unwrap();
    let tree: &Tree = &reach.tree;
    for eps in numbers(case.input("eps")) {
        let model = DBSCAN { eps, ..Default::default() }.fit(&data.view()).unwrap();
        let (cut, labels) = (tree.cut_height(eps), labels(&model));
        let core: Vec<usize> = (0..x.nrows()).filter(|&i| reach.cores[i] <= eps).collect();
        let from_dbscan: Vec<usize> =
            model.core_sample_indices.iter().map(|&row| row as usize).collect();
        assert_eq!(core, from_dbscan);
        for &i in &core {
            for &j in &core {
                assert_eq!(cut[i] == cut[j], labels[i] == labels[j], "eps {eps}");
            }
        }
    }
}

#[test]
fn medoids_of_ruspini_are_those_of_pam() {
    let case = case("pam-ruspini");
    let data = OwnedDataset::unsupervised(case.features().into_parts().0);
    let n = data.x.values().nrows() as f64;
    let learner = KMedoids { n_clusters: 4, ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    let medoids: Vec<f64> = model.medoid_indices.iter().map(|&row| f64::from(row)).collect();
    assert_eq!(medoids, numbers(case.expect("medoid_rows")));
    close(&[model.inertia / n], &numbers(case.expect("objective_swap")), 1e-6, 0.0);
    let mut expected = numbers(case.expect("sizes"));
    expected.sort_by(f64::total_cmp);
    assert_eq!(sizes(labels(&model)), expected);
    let built = KMedoids { max_iter: 0, ..learner }.fit(&data.view()).unwrap();
    close(&[built.inertia / n], &numbers(case.expect("objective_build")), 1e-6, 0.0);
}

#[test]
fn the_best_partitions_are_those_of_enumeration() {
    let case = case("exhaustive-clustering");
    let x = matrix(case.input("X"));
    for (k, expected) in case.expect("").as_object().unwrap() {
        let found = ExhaustiveClustering { n_clusters: k.parse().unwrap() }
            .compute(RowsToCluster { x: x.view() })
            .unwrap();
        assert_eq!(found.partitions, expected["partitions"].as_u64().unwrap());
        close(&[found.inertia], &numbers(&expected["sse"]), 0.0, 1e-9);
        let got: Vec<f64> = found.value.iter().map(|&label| label as f64).collect();
        assert_eq!(got, numbers(&expected["labels"]));
    }
}

#[test]
fn fifteen_states_split_as_in_r() {
    let case = case("diana-usarrests-15");
    let x = case.features().into_parts().0.view().rows(0, 15).to_matrix();
    let found = Diana::default().compute(RowsToLink { x: x.view() }).unwrap();
    let mut heights = found.value.column(2);
    heights.sort_by(|a, b| b.total_cmp(a));
    close(&heights, &numbers(case.expect("heights_sorted")), 1e-6, 0.0);
    close(&[found.coefficient], &numbers(case.expect("divisive_coefficient")), 1e-6, 0.0);
    let cut = FlatClusters { t: Some(4.0), criterion: Criterion::Maxclust };
    let labels = cut.compute(Mergers { z: found.value.view() }).unwrap();
    close(&sizes(labels), &numbers(case.expect("cut4_sizes")), 0.0, 0.0);
}

#[test]
fn the_gap_of_ruspini_chooses_four() {
    let case = case("gap-statistic-ruspini");
    let x = case.features().into_parts().0;
    let learner = GapStatistic { k_max: 7, n_refs: 50, power: 1, ..Default::default() };
    let found = learner.compute(RowsToCluster { x: x.view() }).unwrap();
    assert_eq!(found.value, case.expect("k").as_u64().unwrap());
    close(&found.log_w[..5], &numbers(case.expect("logW")), 1e-4, 0.0);
    let range = case.expect("gap_at_4");
    let gap = found.gap[3];
    assert!(
        gap >= range["min"].as_f64().unwrap() && gap <= range["max"].as_f64().unwrap(),
        "{gap}"
    );
}

#[test]
fn an_image_has_the_known_codes() {
    let case = case("vector-quantisation");
    let image = matrix(case.input("image"));
    let start = numbers(case.input("start_blocks")).iter().map(|&block| block as usize).collect();
    let learner = VectorQuantization { n_codes: 3, block: 2, start_blocks: Some(start) };
    let found = learner.compute(Image { image: image.view() }).unwrap();
    close(found.codebook.as_slice(), &numbers(case.expect("codebook")), 1e-6, 1e-8);
    let codes: Vec<f64> = found.codes.iter().map(|&code| f64::from(code)).collect();
    assert_eq!(codes, numbers(case.expect("codes")));
    close(&[found.mse], &numbers(case.expect("mse")), 1e-6, 1e-8);
}
