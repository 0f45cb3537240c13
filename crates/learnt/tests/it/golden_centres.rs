//! k-means and principal components against reference numbers.

use learnt::cluster::{Init, KMeans, Restarts};
use learnt::metrics::Compactness;
use learnt::prelude::*;
use learnt::reduce::{Components, PCA, PcaSolver};
use serde_json::Value as Json;
use std::path::PathBuf;

fn place(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(name)
}

fn case(file: &str, id: &str) -> Json {
    let text = std::fs::read_to_string(place(&format!("{file}.json"))).unwrap();
    let cases: Vec<Json> = serde_json::from_str(&text).unwrap();
    cases.into_iter().find(|case| case["id"] == id).unwrap()
}

/// All numbers of a nested list, in order.
fn numbers(json: &Json) -> Vec<f64> {
    match json {
        Json::Array(items) => items.iter().flat_map(numbers).collect(),
        one => vec![one.as_f64().unwrap()],
    }
}

fn rows(json: &Json) -> Vec<Vec<f64>> {
    json.as_array().unwrap().iter().map(numbers).collect()
}

fn inline(case: &Json) -> OwnedDataset {
    OwnedDataset::unsupervised(Matrix::from_rows(&rows(&case["input"]["X"])).unwrap())
}

fn file(input: &Json) -> OwnedDataset {
    let path = format!("data/{}.csv", input["dataset"].as_str().unwrap());
    let text = std::fs::read_to_string(place(&path)).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let wanted = |column: &str| match &input["features"] {
        Json::Array(names) => names.iter().any(|name| name == column),
        others => !others["all_except"].as_array().unwrap().iter().any(|name| name == column),
    };
    let places: Vec<usize> = (0..lines[0].len()).filter(|&j| wanted(lines[0][j])).collect();
    let x = Matrix::from_fn(lines.len() - 1, places.len(), |i, j| {
        lines[i + 1][places[j]].parse().unwrap()
    });
    OwnedDataset::unsupervised(x)
}

fn close(got: &[f64], expected: &[f64], rel: f64, abs: f64) {
    assert_eq!(got.len(), expected.len());
    for (g, e) in got.iter().zip(expected) {
        assert!((g - e).abs() <= abs + rel * e.abs(), "{got:?}\n{expected:?}");
    }
}

fn from_centres(centres: Vec<Vec<f64>>) -> KMeans {
    KMeans {
        n_clusters: centres.len(),
        init: Init::Centers(centres),
        tol: 0.0,
        ..Default::default()
    }
}

#[test]
fn nine_values_pass_through_the_known_centres() {
    let case = case("cluster", "kmeans-nine-values");
    let data = inline(&case);
    let learner = from_centres(rows(&case["input"]["start"]));
    let trace = rows(&case["expect"]["centres"]);
    for (step, centres) in trace.iter().enumerate() {
        let model = KMeans { max_iter: step + 1, ..learner.clone() }.fit(&data.view()).unwrap();
        close(model.cluster_centers.as_slice(), centres, 1e-9, 1e-12);
    }
    let model = learner.fit(&data.view()).unwrap();
    assert_eq!(model.n_iter, trace.len());
    let labels: Vec<f64> = model.labels.iter().map(|&label| f64::from(label)).collect();
    assert_eq!(labels, numbers(&case["expect"]["labels"]));
    close(&[model.inertia], &numbers(&case["expect"]["final_sse"]), 1e-9, 1e-12);
}

#[test]
fn a_bad_start_stays_in_its_local_optimum_and_a_good_one_does_not() {
    let corners = case("cluster", "kmeans-local-optimum");
    for (start, sse) in [("bad_start", "bad_sse"), ("good_start", "good_sse")] {
        let learner = from_centres(rows(&corners["input"][start]));
        let model = learner.fit(&inline(&corners).view()).unwrap();
        close(&[model.inertia], &numbers(&corners["expect"][sse]), 1e-9, 1e-12);
    }
    let four = case("cluster", "kmeans-four-values");
    let model = from_centres(rows(&four["input"]["start"])).fit(&inline(&four).view()).unwrap();
    close(model.cluster_centers.as_slice(), &numbers(&four["expect"]["centres"]), 1e-9, 1e-12);
}

#[test]
fn lloyd_from_given_rows_ends_where_scikit_learn_does() {
    for id in ["kmeans-iris", "kmeans-ruspini", "kmeans-digits"] {
        let case = case("cluster", id);
        let (data, expect) = (file(&case["input"]), &case["expect"]);
        let start = numbers(&case["input"]["start_rows"]);
        let start = start.iter().map(|&i| data.x.values().row(i as usize).to_vec()).collect();
        let model = from_centres(start).fit(&data.view()).unwrap();
        close(&[model.inertia], &numbers(&expect["sse"]), 1e-8, 0.0);
        assert_eq!(model.n_iter as u64, expect["updates"].as_u64().unwrap() + 1, "{id}");
        let mut sizes = vec![0.0; model.cluster_centers.nrows()];
        model.labels.iter().for_each(|&label| sizes[label as usize] += 1.0);
        assert_eq!(sizes, numbers(&expect["sizes"]), "{id}");
        if expect["centres"].is_array() {
            close(model.cluster_centers.as_slice(), &numbers(&expect["centres"]), 1e-8, 0.0);
        }
    }
}

#[test]
fn restarts_reach_the_best_known_sums_of_squares() {
    let case = case("cluster", "kmeans-best-wss");
    for name in ["ruspini", "iris"] {
        let data = file(&case["input"][name]);
        for (k, best) in numbers(&case["expect"][name]).into_iter().enumerate() {
            let learner =
                KMeans { n_clusters: k + 1, n_init: Restarts::Count(10), ..Default::default() };
            let inertia = learner.fit(&data.view()).unwrap().inertia;
            let rel = if k < 4 { 1e-4 } else { 0.02 };
            assert!((inertia / best - 1.0).abs() < rel, "{name} {}: {inertia} {best}", k + 1);
        }
    }
}

/// Scores of given clusters.
fn scored(x: &Matrix, labels: &[f64]) -> Compactness {
    let labels: Vec<Option<u32>> = labels.iter().map(|&label| Some(label as u32)).collect();
    Compactness::new(x.view(), &labels).unwrap()
}

#[test]
fn scatter_is_within_and_between() {
    let case = case("cluster", "scatter-identity");
    let x = Matrix::column_vector(numbers(&case["input"]["X"]));
    let found = scored(&x, &numbers(&case["input"]["clusters"]));
    // Half the sum of squared distances of pairs is n times the squares about the mean.
    let squares = |x: &Matrix| scored(x, &vec![0.0; x.nrows()]).inertia() * x.nrows() as f64;
    let within: f64 = [[0, 1].as_slice(), &[2, 3, 4]]
        .iter()
        .map(|rows| squares(&x.view().gather_rows(rows)))
        .sum();
    let expect = |key: &str| case["expect"][key].as_f64().unwrap();
    close(&[within], &[expect("W")], 1e-12, 0.0);
    close(&[squares(&x)], &[expect("T")], 1e-12, 0.0);
    close(&[squares(&x) - within], &[expect("B")], 1e-12, 0.0);
    let run = Context::default();
    assert_eq!(found.scatter(&run).unwrap().pairs_within, 4.0);
}

#[test]
fn an_assignment_lowers_the_plain_squares_and_may_raise_the_weighted() {
    let case = case("cluster", "kmeans-weighted-trap");
    let x = numbers(&case["input"]["X"]);
    let expect = &case["expect"];
    for (step, name) in ["before", "after"].into_iter().enumerate() {
        let (mut labels, mut weighted) = (vec![0.0; x.len()], 0.0);
        for (k, rows) in rows(&case["input"][name]).iter().enumerate() {
            rows.iter().for_each(|&i| labels[i as usize] = k as f64);
            let own = Matrix::column_vector(rows.iter().map(|&i| x[i as usize]).collect());
            weighted += scored(&own, &vec![0.0; rows.len()]).inertia() * rows.len() as f64;
        }
        let plain = scored(&Matrix::column_vector(x.clone()), &labels).inertia();
        close(&[plain], &[numbers(&expect["plain"])[step]], 1e-9, 0.0);
        close(&[weighted], &[numbers(&expect["weighted"])[step]], 1e-9, 0.0);
    }
}

#[test]
fn restarts_reach_the_best_of_all_partitions() {
    let case = case("cluster", "exhaustive-clustering");
    for n_clusters in [2, 3, 4] {
        let expect = &case["expect"][n_clusters.to_string()];
        let learner = KMeans { n_clusters, n_init: Restarts::Count(20), ..Default::default() };
        let model = learner.fit(&inline(&case).view()).unwrap();
        close(&[model.inertia], &numbers(&expect["sse"]), 1e-9, 0.0);
        // Clusters may have other numbers: the same rows are together. Into four parts, the outer
        // three values on either side can be the ones that are split.
        let mut best = vec![together(&numbers(&expect["labels"]))];
        if n_clusters == 4 {
            best.push(together(&[0, 1, 1, 2, 2, 3, 3, 3]));
        }
        assert!(best.contains(&together(&model.labels)), "{:?}", model.labels);
    }
}

/// Which pairs of rows are in one cluster.
fn together<T: PartialEq>(labels: &[T]) -> Vec<bool> {
    labels.iter().flat_map(|a| labels.iter().map(move |b| a == b)).collect()
}

#[test]
fn the_silhouette_of_medoids_is_that_of_r() {
    let case = case("cluster", "pam-ruspini");
    let data = file(&case["input"]);
    let medoids: Vec<usize> =
        numbers(&case["expect"]["medoid_rows"]).iter().map(|&i| i as usize).collect();
    let x = data.x.values();
    let nearest = |i: usize| {
        let away = |&m: &usize| learnt::linalg::squared_distance(x.row(i), x.row(m));
        let all: Vec<f64> = medoids.iter().map(away).collect();
        (0..all.len()).min_by(|&a, &b| all[a].total_cmp(&all[b])).unwrap() as f64
    };
    let labels: Vec<f64> = (0..x.nrows()).map(nearest).collect();
    let found = scored(x, &labels).silhouette(&Context::default()).unwrap();
    close(&[found], &numbers(&case["expect"]["avg_silhouette"]), 1e-9, 0.0);
    let size = |k: usize| labels.iter().filter(|&&label| label == k as f64).count() as f64;
    assert_eq!((0..4).map(size).collect::<Vec<_>>(), numbers(&case["expect"]["sizes"]));
}

fn solvers() -> [PCA; 2] {
    [PcaSolver::Full, PcaSolver::CovarianceEigh]
        .map(|svd_solver| PCA { svd_solver, ..Default::default() })
}

/// Columns divided by their sample standard deviations.
fn standardised(data: &OwnedDataset) -> OwnedDataset {
    let scaler = learnt::prepare::StandardScaler { ddof: 1, ..Default::default() };
    let x = scaler.fit(&data.view()).unwrap().transform(&data.x.frame()).unwrap();
    OwnedDataset { x, ..Default::default() }
}

/// Compares a row or its negative, and says which.
fn close_up_to_sign(got: &[f64], expected: &[f64], rel: f64, abs: f64) -> f64 {
    let sign = got.iter().zip(expected).map(|(g, e)| g * e).sum::<f64>().signum();
    let turned: Vec<f64> = got.iter().map(|g| g * sign).collect();
    close(&turned, expected, rel, abs);
    sign
}

#[test]
fn small_worked_examples() {
    for learner in solvers() {
        let four = case("pca", "pca-four-points");
        let model = learner.fit(&inline(&four).view()).unwrap();
        let of_n: Vec<f64> = model.explained_variance.iter().map(|v| v * 3.0 / 4.0).collect();
        close(&of_n, &numbers(&four["expect"]["eigenvalues"]), 0.0, 1e-9);
        let scores = model.transform(&inline(&four).x.frame()).unwrap();
        let first: Vec<f64> = scores.values().column(0).iter().map(|s| s.abs()).collect();
        close(&first, &numbers(&four["expect"]["scores_abs"]), 0.0, 1e-9);

        let wide = case("pca", "pca-fewer-points");
        let model = learner.fit(&inline(&wide).view()).unwrap();
        let of_n: Vec<f64> = model.explained_variance.iter().map(|v| v * 2.0 / 3.0).collect();
        close(&of_n, &[3.0, 1.0, 0.0], 0.0, 1e-9);

        let ten = case("pca", "pca-ten-points");
        let model = learner.fit(&inline(&ten).view()).unwrap();
        close(&model.explained_variance, &numbers(&ten["expect"]["eigenvalues"]), 1e-8, 0.0);
        close(model.components.row(0), &numbers(&ten["expect"]["first_axis"]), 1e-8, 0.0);
        close(&model.explained_variance_ratio[..1], &numbers(&ten["expect"]["share"]), 1e-8, 0.0);
    }
}

#[test]
fn iris_agrees_with_scikit_learn() {
    let case = case("pca", "pca-iris");
    let (data, expect) = (file(&case["input"]), &case["expect"]);
    for learner in solvers() {
        let model = learner.fit(&data.view()).unwrap();
        close(&model.mean, &numbers(&expect["mean"]), 1e-7, 1e-9);
        close(&model.explained_variance, &numbers(&expect["variances"]), 1e-7, 1e-9);
        close(&model.explained_variance_ratio, &numbers(&expect["shares"]), 1e-7, 1e-9);
        for (k, axis) in rows(&expect["axes"]).iter().enumerate() {
            close_up_to_sign(model.components.row(k), axis, 1e-7, 1e-9);
        }
    }
    for (k, error) in numbers(&expect["reconstruction_error"]).into_iter().enumerate() {
        let n_components = Components::Count(k + 1);
        let model = PCA { n_components, ..Default::default() }.fit(&data.view()).unwrap();
        let scores = model.transform(&data.x.frame()).unwrap();
        let back = model.inverse_transform_in(&scores.frame(), &Context::default()).unwrap();
        let (a, b) = (back.values().as_slice(), data.x.values().as_slice());
        let sum: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
        close(&[sum / 149.0], &[error], 1e-7, 1e-9);
        close(&[model.noise_variance * (3 - k) as f64], &[error], 1e-7, 1e-9);
    }
}

#[test]
fn correlation_components_agree_with_r() {
    let states = case("pca", "prcomp-usarrests");
    let (data, expect) = (standardised(&file(&states["input"])), &states["expect"]);
    for learner in solvers() {
        let model = learner.fit(&data.view()).unwrap();
        let sdev: Vec<f64> = model.explained_variance.iter().map(|v| v.sqrt()).collect();
        close(&sdev, &numbers(&expect["sdev"]), 1e-7, 1e-9);
        let scores = model.transform(&data.x.frame()).unwrap();
        for (k, loadings) in rows(&expect["loadings"]).iter().enumerate() {
            let sign = close_up_to_sign(model.components.row(k), loadings, 1e-7, 1e-9);
            for (i, expected) in [0, 1, 49].into_iter().zip(rows(&expect["scores"])) {
                close(&[sign * scores.values()[(i, k)]], &[expected[k]], 1e-7, 1e-9);
            }
        }
    }
    let events = case("pca", "pca-heptathlon");
    let model = PCA::default().fit(&standardised(&file(&events["input"])).view()).unwrap();
    close(&model.explained_variance, &numbers(&events["expect"]["variances"]), 1e-7, 0.0);
    let first: Vec<f64> = model.components.row(0).iter().map(|v| v.abs()).collect();
    close(&first, &numbers(&events["expect"]["first"]), 1e-7, 0.0);
}

#[test]
fn fewer_rows_than_columns_have_the_eigenvalues_of_the_small_problem() {
    let case = case("pca", "pca-dual-digits");
    let data = file(&case["input"]).view().gather(&(0..12).collect::<Vec<_>>());
    for learner in solvers() {
        let model = learner.fit(&data.view()).unwrap();
        let of_n: Vec<f64> = model.explained_variance.iter().map(|v| v * 11.0 / 12.0).collect();
        close(&of_n[..11], &numbers(&case["expect"]["eigenvalues"]), 1e-7, 0.0);
        assert!(of_n[11] < 1e-10);
    }
}

/// Numbers of scikit-learn 1.9.1: `PCA(n_components="mle")` on these tables.
#[test]
fn the_likeliest_number_of_components_is_scikit_learns() {
    let learner = PCA { n_components: Components::Mle, ..Default::default() };
    for (id, expected) in [("pca-iris", 3), ("prcomp-usarrests", 3), ("pca-heptathlon", 6)] {
        let data = file(&case("pca", id)["input"]);
        assert_eq!(learner.fit(&data.view()).unwrap().n_components, expected, "{id}");
    }
}
