//! Both learners: cases by hand, and reference numbers from tests/golden.

use crate::neighbors::{
    Algorithm, KNeighborsClassifier, KNeighborsRegressor, Metric, MetricName, NeighborWeights,
};
use learnt_core::prelude::*;
use learnt_core::trained::Trained;
use serde_json::Value as Json;

fn golden(id: &str) -> Json {
    let text = include_str!("../../../../../tests/golden/neighbors.json");
    let cases: Vec<Json> = serde_json::from_str(text).unwrap();
    cases.into_iter().find(|case| case["id"] == id).unwrap()
}

fn numbers(json: &Json) -> Vec<f64> {
    json.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// The named columns, or all but the last, and the last column.
fn table(text: &str, columns: &[&str]) -> (Matrix, Vec<String>) {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let wanted = |name: &&str| columns.is_empty() || columns.contains(name);
    let last = header.len() - 1;
    let chosen: Vec<usize> = (0..last).filter(|&j| wanted(&header[j])).collect();
    let cells: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let x = Matrix::from_fn(cells.len(), chosen.len(), |i, j| cells[i][chosen[j]].parse().unwrap());
    (x, cells.iter().map(|row| row[last].to_string()).collect())
}

fn standardized(x: &Matrix) -> Matrix {
    let n = x.nrows() as f64;
    let moments: Vec<(f64, f64)> = (0..x.ncols())
        .map(|j| {
            let mean = x.column(j).iter().sum::<f64>() / n;
            let square = x.column(j).iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
            (mean, square.sqrt())
        })
        .collect();
    Matrix::from_fn(x.nrows(), x.ncols(), |i, j| (x[(i, j)] - moments[j].0) / moments[j].1)
}

fn labelled(x: Matrix, labels: &[String]) -> OwnedDataset {
    let labels: Vec<Label> = labels.iter().map(|text| Label::from(text.as_str())).collect();
    OwnedDataset::classification(x, &labels)
}

fn codes(data: &OwnedDataset) -> Vec<u32> {
    data.view().class_target().unwrap().0.to_vec()
}

fn training_errors(data: &OwnedDataset, k: usize) -> usize {
    let learner = KNeighborsClassifier { n_neighbors: k, ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    let said = model.classify(&data.x.frame()).unwrap();
    said.iter().zip(codes(data)).filter(|(said, code)| **said != *code).count()
}

fn left_out_errors(data: &OwnedDataset, k: usize) -> usize {
    let (n, codes) = (data.x.values().nrows(), codes(data));
    let learner = KNeighborsClassifier { n_neighbors: k, ..Default::default() };
    let wrong = |&i: &usize| {
        let others: Vec<usize> = (0..n).filter(|&row| row != i).collect();
        let model = learner.fit(&data.view().gather(&others).view()).unwrap();
        model.classify(&data.x.frame().rows(i, i + 1)).unwrap()[0] != codes[i]
    };
    (0..n).filter(wrong).count()
}

#[test]
fn distances_are_those_of_scipy() {
    let case = golden("distance-matrices-iris");
    let (x, _) = table(include_str!("../../../../../tests/golden/data/iris.csv"), &[]);
    let rows = [0, 40, 60, 100, 149];
    for (name, metric) in [
        ("euclidean", Metric::Euclidean),
        ("cityblock", Metric::Manhattan),
        ("chebyshev", Metric::Chebyshev),
        ("minkowski3", Metric::Minkowski(3.0)),
        ("cosine", Metric::Cosine),
    ] {
        let pairs = (0..5).flat_map(|a| (a + 1..5).map(move |b| (rows[a], rows[b])));
        let expected = numbers(&case["expect"][name]);
        for ((a, b), expected) in pairs.zip(expected) {
            let got = metric.distance(x.row(a), x.row(b));
            assert!((got - expected).abs() <= 1e-9 * expected + 1e-15, "{name} {got} {expected}");
        }
    }
}

#[test]
fn distances_of_the_right_triangle_are_known() {
    let expect = &golden("distances-3-4")["expect"];
    for (name, metric) in [
        ("euclidean", Metric::Euclidean),
        ("manhattan", Metric::Manhattan),
        ("chebyshev", Metric::Chebyshev),
        ("minkowski3", Metric::Minkowski(3.0)),
    ] {
        let got = metric.distance(&[0.0, 0.0], &[3.0, 4.0]);
        assert!((got - expect[name].as_f64().unwrap()).abs() < 1e-10, "{name}");
    }
    assert!(Metric::Cosine.distance(&[1.0, 2.0], &[3.0, 6.0]).abs() < 1e-15);
}

#[test]
fn one_neighbour_remembers_and_all_neighbours_take_the_majority() {
    let case = golden("knn-extremes");
    let points = |json: &Json| {
        Matrix::column_vector(json.as_array().unwrap().iter().flat_map(numbers).collect())
    };
    let texts = |json: &Json| -> Vec<String> {
        json.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_string()).collect()
    };
    let labels: Vec<Label> =
        texts(&case["input"]["y"]).iter().map(|text| Label::from(text.as_str())).collect();
    let data = OwnedDataset::classification(points(&case["input"]["X"]), &labels);
    assert_eq!(case["expect"]["training_errors_k1"], training_errors(&data, 1));
    let learner = KNeighborsClassifier { n_neighbors: 5, ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    let queries = Table::unnamed(points(&case["input"]["query"]));
    let predicted = model.classify(&queries.frame()).unwrap();
    let names: Vec<&str> = predicted.iter().map(|&code| ["a", "b"][code as usize]).collect();
    assert_eq!(names, texts(&case["expect"]["predictions_k5"]));
}

#[test]
fn the_posterior_is_the_share_of_the_neighbours() {
    let case = golden("nonparametric-posterior");
    let counts = numbers(&case["input"]["counts"]);
    let total = counts.iter().sum::<f64>() as usize;
    assert_eq!(case["input"]["k"], total);
    let classes: Vec<Label> =
        (0..total).map(|i| Label::Int(i64::from(i as f64 >= counts[0]))).collect();
    let x = Matrix::column_vector((0..total).map(|i| i as f64).collect());
    let data = OwnedDataset::classification(x, &classes);
    let learner = KNeighborsClassifier { n_neighbors: total, ..Default::default() };
    let shares = learner.fit(&data.view()).unwrap().probabilities(&data.x.frame()).unwrap();
    assert_eq!(shares.row(2), numbers(&case["expect"]["posterior"]));
}

#[test]
fn the_smoother_has_n_over_k_effective_parameters() {
    let case = golden("knn-effective-parameters");
    let x = Matrix::column_vector((1..=60).map(f64::from).collect());
    for (k, expected) in [1, 3, 5, 10].into_iter().zip(numbers(&case["expect"]["trace"])) {
        let identity = Matrix::from_fn(60, 60, |i, j| f64::from(u8::from(i == j)));
        let data = OwnedDataset {
            x: Table::unnamed(x.clone()),
            y: Some(OwnedTarget::Real(identity)),
            ..Default::default()
        };
        let learner = KNeighborsRegressor { n_neighbors: k, ..Default::default() };
        let smooth = learner.fit(&data.view()).unwrap().predict(&data.x.frame()).unwrap();
        let trace: f64 = (0..60).map(|i| smooth[(i, i)]).sum();
        assert!((trace - expected).abs() < 1e-9);
    }
}

#[test]
fn near_neighbours_can_overturn_the_majority() {
    let x = Matrix::column_vector(vec![0.0, 1.0, 1.5, 4.0]);
    let data = OwnedDataset::classification(x, &["a", "b", "b", "a"].map(Label::from));
    let query = Table::unnamed(Matrix::column_vector(vec![0.2]));
    let ask = |weights| {
        let learner = KNeighborsClassifier { n_neighbors: 3, weights, ..Default::default() };
        learner.fit(&data.view()).unwrap().probabilities(&query.frame()).unwrap()
    };
    let scores = &golden("distance-weighted-vote")["expect"]["scores"];
    let (a, b) = (scores["a"].as_f64().unwrap(), scores["b"].as_f64().unwrap());
    assert!((ask(NeighborWeights::DistanceSquared)[(0, 0)] - a / (a + b)).abs() < 1e-9);
    assert!(ask(NeighborWeights::Distance)[(0, 0)] > 0.5);
    assert!(ask(NeighborWeights::Uniform)[(0, 0)] < 0.5);
}

#[test]
fn kernels_weigh_by_the_share_of_the_distance_of_the_next_row() {
    let x = Matrix::column_vector(vec![0.0, 1.0, 2.0, 4.0, 9.0]);
    let y = [10.0, 20.0, 30.0, 40.0, 50.0];
    let data = OwnedDataset::regression(x, y.to_vec());
    let query = Table::unnamed(Matrix::column_vector(vec![0.0]));
    // Three neighbours at 0, 1 and 2; the next is at 4.
    let u: [f64; 3] = [0.0, 0.25, 0.5];
    type Kernel = fn(f64) -> f64;
    let cases: [(NeighborWeights, Kernel); 5] = [
        (NeighborWeights::Triangular, |u| 1.0 - u),
        (NeighborWeights::Epanechnikov, |u| 1.0 - u * u),
        (NeighborWeights::Biweight, |u| (1.0 - u * u).powi(2)),
        (NeighborWeights::Tricube, |u| (1.0 - u.powi(3)).powi(3)),
        (NeighborWeights::Gaussian, |u| (-2.0 * u * u).exp()),
    ];
    for (weights, kernel) in cases {
        let learner = KNeighborsRegressor { n_neighbors: 3, weights, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        let found = model.predict(&query.frame()).unwrap()[(0, 0)];
        let total: f64 = u.iter().map(|&u| kernel(u)).sum();
        let expected = u.iter().zip(y).map(|(&u, y)| kernel(u) * y).sum::<f64>() / total;
        assert!((found - expected).abs() < 1e-12, "{weights:?} {found} {expected}");
        // All rows vote: the farthest is the reach. Rows as far as the reach count alike.
        let all = KNeighborsRegressor { n_neighbors: 5, weights, ..Default::default() };
        assert!(all.fit(&data.view()).unwrap().predict(&query.frame()).unwrap()[(0, 0)] < 30.0);
        let equal = OwnedDataset::regression(Matrix::zeros(4, 1), vec![1.0, 2.0, 3.0, 6.0]);
        let model = learner.fit(&equal.view()).unwrap();
        assert_eq!(model.predict(&query.frame()).unwrap()[(0, 0)], 2.0);
    }
}

#[test]
fn rows_at_distance_zero_alone_count_and_ties_go_to_the_first_class() {
    let x = Matrix::column_vector(vec![1.0, 1.0, 1.1, 1.1, 1.1]);
    let data = OwnedDataset::regression(x, vec![3.0, 5.0, 100.0, 100.0, 100.0]);
    let learner = KNeighborsRegressor { weights: NeighborWeights::Distance, ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    assert_eq!(model.predict(&data.x.frame().rows(0, 1)).unwrap().row(0), [4.0]);

    let x = Matrix::column_vector(vec![0.0, 2.0]);
    let data = OwnedDataset::classification(x, &["b", "a"].map(Label::from));
    let model = KNeighborsClassifier { n_neighbors: 2, ..Default::default() }.fit(&data.view());
    assert_eq!(model.unwrap().classify(&data.x.frame()).unwrap(), [0, 0]);
}

#[test]
fn left_out_errors_on_iris_are_those_of_r() {
    let (x, labels) = table(include_str!("../../../../../tests/golden/data/iris.csv"), &[]);
    let data = labelled(x, &labels);
    let expected = numbers(&golden("knn-loo-iris")["expect"]["errors"]);
    for (k, expected) in [1, 3, 5, 9, 15].into_iter().zip(expected) {
        assert!((left_out_errors(&data, k) as f64 - expected).abs() <= 2.0);
    }
}

#[test]
fn scaling_decides_on_wine() {
    let (x, labels) = table(include_str!("../../../../../tests/golden/data/wine.csv"), &[]);
    let expect = &golden("knn-loo-wine-scaling")["expect"];
    for (name, x) in [("zscore", standardized(&x)), ("raw", x)] {
        let data = labelled(x, &labels);
        for (k, expected) in [1, 5, 11].into_iter().zip(numbers(&expect[name])) {
            assert!((left_out_errors(&data, k) as f64 - expected).abs() <= 1.0, "{name} {k}");
        }
    }
}

#[test]
fn errors_on_the_mixture_are_those_of_scikit_learn() {
    let (x, labels) = table(include_str!("../../../../../tests/golden/data/esl_mixture.csv"), &[]);
    let (data, expect) = (labelled(x, &labels), &golden("knn-mixture-errors")["expect"]);
    let (trained, left_out) = (numbers(&expect["training_errors"]), numbers(&expect["loo_errors"]));
    for (i, k) in [1, 5, 15, 45].into_iter().enumerate() {
        assert_eq!(training_errors(&data, k) as f64, trained[i]);
        assert_eq!(left_out_errors(&data, k) as f64, left_out[i]);
    }
}

#[test]
fn regression_on_diabetes_is_that_of_scikit_learn() {
    let text = include_str!("../../../../../tests/golden/data/diabetes.csv");
    let (x, y) = table(text, &["bmi", "bp", "s5"]);
    let y = y.iter().map(|text| text.parse().unwrap()).collect();
    let data = OwnedDataset::regression(standardized(&x), y);
    let queries = data.x.frame().gather(&[0, 100, 200, 300, 400]);
    let expect = &golden("knn-regression-diabetes")["expect"]["prediction"];
    for k in [1, 7, 25] {
        for algorithm in [Algorithm::Brute, Algorithm::KdTree, Algorithm::BallTree] {
            let learner = KNeighborsRegressor { n_neighbors: k, algorithm, ..Default::default() };
            let got = learner.fit(&data.view()).unwrap().predict(&queries.frame()).unwrap();
            for (got, expected) in got.as_slice().iter().zip(numbers(&expect[k.to_string()])) {
                assert!((got - expected).abs() < 1e-8);
            }
        }
    }
}

#[test]
fn weights_are_repetitions() {
    let x = Matrix::from_fn(40, 2, |i, j| ((i * 29 + j * 17) % 41) as f64 * 1.37);
    let y: Vec<f64> = (0..40).map(|i| f64::from(i * i % 23)).collect();
    let weights: Vec<f64> = (0..40).map(|i| f64::from(i % 3 + 1)).collect();
    let repeated: Vec<usize> = (0..40).flat_map(|i| vec![i; i % 3 + 1]).collect();
    let mut data = OwnedDataset::regression(x, y);
    let twice = data.view().gather(&repeated);
    data.weights = Some(weights.clone());
    let halves: Vec<f64> = weights.iter().map(|w| w / 2.0).collect();
    let kernel = NeighborWeights::Epanechnikov;
    for weights in [NeighborWeights::Uniform, NeighborWeights::Distance, kernel] {
        let ask = |data: &Dataset, n_neighbors| {
            let learner = KNeighborsRegressor { n_neighbors, weights, ..Default::default() };
            let queries = Table::unnamed(Matrix::from_fn(9, 2, |i, j| (i * 7 + j) as f64 + 0.3));
            learner.fit(data).unwrap().predict(&queries.frame()).unwrap()
        };
        let expected = ask(&twice.view(), 6);
        let halved = Dataset { weights: Some(&halves), ..data.view() };
        for got in [ask(&data.view(), 6), ask(&halved, 3)] {
            for (a, b) in got.as_slice().iter().zip(expected.as_slice()) {
                assert!((a - b).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn more_neighbours_than_rows_is_an_error_with_both_numbers() {
    let data = OwnedDataset::regression(Matrix::from_fn(3, 1, |i, _| i as f64), vec![0.0; 3]);
    let model = KNeighborsRegressor::default().fit(&data.view()).unwrap();
    let error = model.predict(&data.x.frame()).unwrap_err();
    assert!(error.message().contains("n_neighbors = 5, n_samples_fit = 3"));
    assert_eq!(model.neighbors(&data.x.frame(), 2, &Context::default()).unwrap().rows(2), [2, 1]);
}

#[test]
fn a_tree_that_cannot_search_by_the_metric_is_refused() {
    let learner = KNeighborsClassifier {
        algorithm: Algorithm::KdTree,
        metric: MetricName::Cosine,
        ..Default::default()
    };
    assert!(learner.check().unwrap_err().message().contains("`algorithm`"));
}

#[test]
fn a_stored_model_predicts_the_same_and_a_spoilt_one_is_refused() {
    use crate::neighbors::KNeighborsClassifierModel;
    use learnt_core::persist::Node;
    let x = Matrix::from_fn(300, 3, |i, j| ((i * 31 + j * 7) % 97) as f64);
    let labels: Vec<Label> = (0..300_i64).map(|i| Label::from(i % 3)).collect();
    let data = OwnedDataset::classification(x, &labels);
    let model = KNeighborsClassifier::default().fit(&data.view()).unwrap();
    let mut node = Stored::to_node(&model);
    let again = KNeighborsClassifierModel::from_node(&node).unwrap();
    let said = |model: &KNeighborsClassifierModel| model.probabilities(&data.x.frame()).unwrap();
    assert_eq!(said(&model), said(&again));
    if let Node::Map(map) = &mut node {
        map.insert("codes".into(), Node::Indices(vec![3; 300]));
    }
    assert_eq!(KNeighborsClassifierModel::from_node(&node).unwrap_err().code(), Code::FileInvalid);
}

/// Models of both learners by their learners, each fitted on the same rows.
fn fitted(learner: &dyn AnyEstimator, data: &Dataset) -> Trained {
    Trained::fit(learner, data, &[], &Context::default()).unwrap()
}

#[test]
fn a_model_that_was_never_asked_is_saved_with_the_bytes_of_one_that_was() {
    let x = Matrix::from_fn(700, 3, |i, j| ((i * 37 + j * 101) % 211) as f64);
    let labels: Vec<Label> = (0..700).map(|i| Label::from(["a", "b"][i % 2])).collect();
    let classes = OwnedDataset::classification(x.clone(), &labels);
    let numbers = OwnedDataset::regression(x, (0..700).map(|i| i as f64).collect());
    let weights = [NeighborWeights::Uniform, NeighborWeights::Distance];
    for (algorithm, weights) in
        [Algorithm::KdTree, Algorithm::Brute].into_iter().flat_map(|a| weights.map(|w| (a, w)))
    {
        let classifier = KNeighborsClassifier { algorithm, weights, ..Default::default() };
        let regressor = KNeighborsRegressor { algorithm, weights, ..Default::default() };
        let models = [fitted(&classifier, &classes.view()), fitted(&regressor, &numbers.view())];
        for model in models {
            let bytes = model.to_bytes().unwrap();
            let x = classes.x.frame();
            let found = model.predict(&x, &Context::default()).unwrap().into_matrix();
            assert_eq!(model.to_bytes().unwrap(), bytes);
            let loaded = crate::from_bytes(&bytes).unwrap();
            assert_eq!(loaded.verify().unwrap(), Some(true));
            assert_eq!(loaded.to_bytes().unwrap(), bytes);
            let again = loaded.predict(&x, &Context::default()).unwrap().into_matrix();
            assert_eq!(again, found);
        }
    }
}

#[test]
fn missing_values_are_refused_by_row_and_column_while_rows_are_copied() {
    let mut x = Matrix::from_fn(700, 3, |i, j| (i + j) as f64);
    x[(650, 2)] = f64::NAN;
    let data = OwnedDataset::regression(x, vec![0.5; 700]);
    let error = KNeighborsRegressor::default().fit(&data.view()).unwrap_err();
    assert_eq!(error.code(), Code::Missing);
    assert!(error.message().contains("row 651"), "{error}");
}
