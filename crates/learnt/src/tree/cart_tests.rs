//! Surrogates, all partitions of levels, losses and the exponential criterion of single trees.

use super::grow::{Criterion, Gini, has_level};
use super::reference_tests::{agrees_with_rpart, case, dataset, decrease, near, rpart_classifier};
use super::*;
use learnt_core::stats::sample;

fn cell(answer: &Answer, column: &str, row: usize) -> f64 {
    answer.column(column).unwrap().reals().unwrap()[row]
}

fn surrogates_of(model: &dyn Model) -> Answer {
    let question = model.questions().iter().find(|q| q.name == "surrogates").unwrap();
    model.answer(&question.ask(&[], None, Context::default()).unwrap()).unwrap()
}

/// The eight points with two more columns.
fn eight_points() -> OwnedDataset {
    let (points, case) = (case("regression-tree-pruning"), case("surrogate-splits"));
    let column =
        |name: &str| -> Vec<f64> { serde_json::from_value(case["input"][name].clone()).unwrap() };
    let columns = ["x1", "x2", "x3"].map(column);
    let y: Vec<f64> = serde_json::from_value(points["input"]["y"].clone()).unwrap();
    OwnedDataset::regression(Matrix::from_fn(8, 3, |i, j| columns[j][i]), y)
}

fn stump(surrogates: usize) -> DecisionTreeRegressor {
    let growth = Growth { max_depth: Some(1), ..Growth::default() };
    DecisionTreeRegressor { growth, max_surrogates: surrogates, ..Default::default() }
}

#[test]
fn surrogates_of_eight_points_agree_as_in_the_notes() {
    let case = case("surrogate-splits");
    let data = eight_points();
    let model = stump(5).fit(&data.view()).unwrap();
    near(model.tree.threshold[0], &case["input"]["primary"]["cut"], "primary cut");
    let answer = surrogates_of(&model);
    near(8.0 * cell(&answer, "agreement", 0), &case["expect"]["x2"]["agree"], "x2");
    near(8.0 * cell(&answer, "agreement", 1), &case["expect"]["x3"]["agree"], "x3");
    let predict = |row: [f64; 3]| {
        let x = Matrix::from_vec(1, 3, row.to_vec()).unwrap();
        model.predict(&Table::unnamed(x).frame()).unwrap()[(0, 0)]
    };
    let (left, right, nan) = (5.5, 23.25, f64::NAN);
    assert_eq!(predict([1.0, 60.0, 8.0]), left);
    assert_eq!([predict([nan, 32.0, 8.0]), predict([nan, 33.0, 1.0])], [left, right]);
    // x3 goes by its first tied cut, 2.5.
    assert_eq!([predict([nan, nan, 2.0]), predict([nan, nan, 3.0])], [left, right]);
    assert_eq!(predict([nan, nan, nan]), right);
    assert!(
        surrogates_of(&stump(0).fit(&data.view()).unwrap()).notes[0].contains("max_surrogates")
    );
}

#[test]
fn the_surrogate_of_kyphosis_is_that_of_rpart() {
    let case = case("rpart-kyphosis");
    let data = dataset(&case);
    let learner = DecisionTreeClassifier { max_surrogates: 5, ..rpart_classifier(&case) };
    let model = learner.fit(&data.view()).unwrap();
    agrees_with_rpart(&case, &model.tree, data.x.schema(), decrease);
    let answer = surrogates_of(&model);
    let expected = &case["expect"]["root_surrogates"][0];
    near(cell(&answer, "agreement", 0), &expected["agree"], "agreement");
    near(cell(&answer, "over majority", 0), &expected["adj"], "over the majority");
    assert_eq!(
        answer.column("node").unwrap().reals().unwrap().iter().filter(|n| **n == 0.0).count(),
        1
    );
}

/// The rows of kyphosis with the holes of `surrogates.R`.
fn kyphosis_with_holes() -> OwnedDataset {
    let data = dataset(&case("rpart-kyphosis"));
    let x = Matrix::from_fn(81, 3, |i, j| match j {
        0 if i % 9 == 4 => f64::NAN,
        2 if i % 6 == 2 => f64::NAN,
        _ => data.x.values()[(i, j)],
    });
    OwnedDataset { x: Table::new(x, data.x.schema().clone()).unwrap(), ..data }
}

#[test]
fn surrogates_with_losses_count_rows_as_rpart_does() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/surrogates.json");
    let golden: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let cases = golden["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 4);
    for expected in cases {
        let list = |name: &str| expected[name].as_array().unwrap().clone();
        let weights = list("weights").iter().map(|w| w.as_f64().unwrap()).collect();
        let data = OwnedDataset { weights: Some(weights), ..kyphosis_with_holes() };
        let learner = DecisionTreeClassifier {
            loss: Some(vec![vec![0.0, 1.0], vec![expected["loss"].as_f64().unwrap(), 0.0]]),
            max_surrogates: 5,
            growth: Growth {
                max_depth: Some(2),
                min_samples_split: MinSamplesSplit::Count(12),
                min_samples_leaf: MinSamplesLeaf::Count(4),
                ..Growth::default()
            },
            ..Default::default()
        };
        let model = learner.fit(&data.view()).unwrap();
        let answer = surrogates_of(&model);
        // The two sides of a cut may stand in another order.
        let in_order = |agree: Vec<f64>, over: Vec<f64>| {
            let mut pairs: Vec<(f64, f64)> = agree.into_iter().zip(over).collect();
            pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
            pairs
        };
        let numbers = |name| list(name).iter().map(|x| x.as_f64().unwrap()).collect();
        let column = |name| answer.column(name).unwrap().reals().unwrap().to_vec();
        let ours = in_order(column("agreement"), column("over majority"));
        let theirs = in_order(numbers("agree"), numbers("adj"));
        assert_eq!(ours.len(), theirs.len());
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert!((ours.0 - theirs.0).abs() < 1e-12 && (ours.1 - theirs.1).abs() < 1e-12);
        }
        let shares = model.probabilities_in(&data.x.frame(), &Context::default()).unwrap();
        for (i, present) in list("present").iter().enumerate() {
            near(shares[(i, 1)], present, "share of a row that may have holes");
        }
    }
}

#[test]
fn training_rows_with_holes_reach_the_leaves_that_they_trained() {
    let iris = crate::datasets::load("iris").unwrap();
    let x = Matrix::from_fn(150, 4, |i, j| match (i * 7 + j * 3) % 5 {
        0 => f64::NAN,
        _ => iris.x.values()[(i, j)],
    });
    let data = OwnedDataset { x: Table::unnamed(x), ..iris };
    let learner = DecisionTreeClassifier { max_surrogates: 3, ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    let leaves = model.apply(&data.x.frame(), &Context::default()).unwrap();
    let mut rows = vec![0_u32; model.tree.len()];
    leaves.iter().for_each(|&leaf| rows[leaf as usize] += 1);
    for node in (0..model.tree.len()).filter(|&node| model.tree.is_leaf(node)) {
        assert_eq!(rows[node], model.tree.rows[node], "node {node}");
    }
    let pruned = model.pruned(0.02);
    assert!(pruned.n_leaves < model.n_leaves);
    pruned.apply(&data.x.frame(), &Context::default()).unwrap();
}

/// Rows of some levels and classes, drawn at random.
fn levels_and_classes(levels: usize, classes: usize, seed: usize) -> OwnedDataset {
    let mut rng = Context::default().with_seed(seed as u64).rng(3);
    let mut draw = |count: usize| (sample::uniform(&mut rng) * count as f64) as usize;
    let drawn: Vec<(usize, usize)> = (0..90).map(|_| (draw(levels), draw(classes))).collect();
    let names = (0..levels).map(|k| format!("level {k}")).collect();
    let schema = Schema::new(vec![Column::categorical("x", names)]).unwrap();
    let x = Matrix::from_fn(90, 1, |i, _| drawn[i].0 as f64);
    let y: Vec<Label> = (0..90).map(|i| Label::Int(drawn[i].1 as i64)).collect();
    OwnedDataset {
        x: Table::new(x, schema).unwrap(),
        y: Some(OwnedTarget::from_labels(&y)),
        ..OwnedDataset::default()
    }
}

#[test]
fn all_partitions_are_searched_and_two_classes_need_only_their_order() {
    let grown = |data: &OwnedDataset, categorical_splits, method| {
        let growth = Growth { max_depth: Some(1), method, ..Growth::default() };
        let learner = DecisionTreeClassifier { growth, categorical_splits, ..Default::default() };
        learner.fit(&data.view()).unwrap().tree
    };
    let mut strictly = 0;
    for seed in 0..20 {
        for classes in [2, 5] {
            let data = levels_and_classes(9, classes, seed);
            let (codes, names) = data.view().class_target().unwrap();
            if names.len() < 2 {
                continue;
            }
            let criterion = Gini::new(codes.to_vec(), names.len(), None);
            let node = criterion.summary(&(0..90).collect::<Vec<u32>>());
            // Every set of levels, also its complement.
            let naive = (1..511_u32).map(|mask| {
                let mut sums = vec![0.0; names.len()];
                let goes = |i: &usize| mask >> data.x.values()[(*i, 0)] as u32 & 1 == 1;
                let weight: f64 =
                    (0..90).filter(goes).map(|i| criterion.add(&node, &mut sums, i)).sum();
                let both = weight > 0.0 && weight < 90.0;
                if both { criterion.gain(&node, &sums, weight) } else { f64::NEG_INFINITY }
            });
            let best = naive.fold(f64::NEG_INFINITY, f64::max);
            let ordered = decrease(&grown(&data, CategoricalSplits::Ordered, Method::Exact), 0);
            for method in [Method::Exact, Method::Histogram] {
                let all = decrease(&grown(&data, CategoricalSplits::Exhaustive, method), 0);
                assert!((all - best).abs() < 1e-9, "{all} and {best}");
            }
            assert!(ordered <= best + 1e-9 && (classes > 2 || ordered >= best - 1e-9));
            strictly += usize::from(ordered < best - 1e-9);
        }
    }
    assert!(strictly > 0, "no table where the order of levels is only a heuristic");
    let many = levels_and_classes(21, 2, 1);
    let learner = DecisionTreeClassifier {
        categorical_splits: CategoricalSplits::Exhaustive,
        ..Default::default()
    };
    assert!(learner.fit(&many.view()).unwrap_err().to_string().contains("20 levels"));
}

#[test]
fn all_partitions_find_a_side_for_missing_values() {
    let mut data = levels_and_classes(5, 3, 4);
    for i in (0..90).step_by(4) {
        data.x.values_mut()[(i, 0)] = f64::NAN;
    }
    let learner = DecisionTreeClassifier {
        categorical_splits: CategoricalSplits::Exhaustive,
        ..Default::default()
    };
    let tree = learner.fit(&data.view()).unwrap().tree;
    let leaves = tree.apply(&data.x.frame(), &Context::default()).unwrap();
    let at = |leaf: u32| leaves.iter().filter(|&&l| l == leaf).count() as u32;
    assert!(
        (0..tree.len() as u32)
            .filter(|&n| tree.is_leaf(n as usize))
            .all(|n| at(n) == tree.rows[n as usize])
    );
    assert!((0..5).any(|code| has_level(tree.level_bits(0), code)));
}

#[test]
fn a_loss_matrix_gives_the_tree_of_rpart_and_the_labels_of_least_loss() {
    let mut case = case("rpart-kyphosis-loss");
    let data = dataset(&case);
    let loss = Some(vec![vec![0.0, 1.0], vec![4.0, 0.0]]);
    let learner = DecisionTreeClassifier { loss, max_surrogates: 5, ..rpart_classifier(&case) };
    let model = learner.fit(&data.view()).unwrap();
    let (answer, surrogate) = (surrogates_of(&model), &case["expect"]["root_surrogates"][0]);
    near(cell(&answer, "agreement", 0), &surrogate["agree"], "agreement");
    near(cell(&answer, "over majority", 0), &surrogate["adj"], "over the majority");
    let scale = 81.0 / 132.0;
    case["expect"]["nodes"].as_array_mut().unwrap().retain(|node| node["id"].as_u64().unwrap() < 8);
    agrees_with_rpart(&case, &model.tree, data.x.schema(), |tree, node| {
        decrease(tree, node) * scale
    });
    // Shares are those of the rows, not of their losses: 17 of 81 are present.
    near(model.tree.value(0)[1], &serde_json::json!(17.0 / 81.0), "share at the root");
    let shares = model.probabilities_in(&data.x.frame(), &Context::default()).unwrap();
    let called = model.classify(&data.x.frame()).unwrap();
    for (share, class) in shares.rows().zip(called) {
        assert_eq!(class, u32::from(4.0 * share[1] > share[0]));
    }
}

#[test]
fn losses_of_three_classes_change_splits_and_labels() {
    let criterion = grow::LossGini::new(vec![0, 0, 0, 1, 1, 1, 1, 1, 1, 1], 2, None, |k, l| {
        [[0.0, 5.0], [1.0, 0.0]][k][l]
    });
    let node = criterion.summary(&(0..10).collect::<Vec<u32>>());
    near(node.impurity, &case("loss-matrix-node")["expect"]["loss_gini"], "index with losses");
    let iris = crate::datasets::load("iris").unwrap();
    let growth = Growth { max_leaf_nodes: Some(2), ..Growth::default() };
    let plain = DecisionTreeClassifier { growth, ..Default::default() };
    // Calling a virginica anything else is what costs.
    let loss = vec![vec![0.0, 1.0, 1.0], vec![1.0, 0.0, 1.0], vec![20.0, 20.0, 0.0]];
    let costly = DecisionTreeClassifier { loss: Some(loss), ..plain.clone() };
    let (plain, costly) = (plain.fit(&iris.view()).unwrap(), costly.fit(&iris.view()).unwrap());
    assert!(plain.tree.threshold[0] < 3.0 && costly.tree.threshold[0] != plain.tree.threshold[0]);
    let (codes, _) = iris.view().class_target().unwrap();
    let missed = |model: &DecisionTreeClassifierModel| {
        let called = model.classify(&iris.x.frame()).unwrap();
        codes.iter().zip(&called).filter(|(code, called)| **code == 2 && **called != 2).count()
    };
    assert!(missed(&costly) < 5 && missed(&costly) < missed(&plain));
}

#[test]
fn exponential_leaves_have_half_the_log_odds_and_three_classes_are_refused() {
    let x = Matrix::from_fn(4, 1, |_, _| 1.0);
    let y = [1, 1, 1, 0].map(Label::Int);
    let data = OwnedDataset::classification(x, &y);
    let criterion = TreeClassifierCriterion::Exponential;
    let learner = DecisionTreeClassifier { criterion, ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    let share = model.tree.value(0)[1];
    // Half a row is added to both.
    assert!((0.5 * (share / (1.0 - share)).ln() - 0.5 * (3.5_f64 / 1.5).ln()).abs() < 1e-12);
    assert!((model.tree.impurity[0] - 2.0 * (0.75_f64 * 0.25).sqrt()).abs() < 1e-12);
    let iris = crate::datasets::load("iris").unwrap();
    assert!(learner.fit(&iris.view()).is_err());
    // A split by this criterion lowers the exponential loss more than any other of the column.
    let x = Matrix::from_fn(40, 1, |i, _| i as f64);
    let y: Vec<Label> = (0..40).map(|i| Label::Int(i64::from(i * i % 7 + i / 4 > 6))).collect();
    let data = OwnedDataset::classification(x, &y);
    let growth = Growth { max_depth: Some(1), ..Growth::default() };
    let tree = DecisionTreeClassifier { growth, ..learner }.fit(&data.view()).unwrap().tree;
    let (codes, _) = data.view().class_target().unwrap();
    let loss = |cut: usize| {
        let side = |codes: &[u32]| {
            let ones = codes.iter().filter(|&&c| c == 1).count() as f64;
            2.0 * (ones * (codes.len() as f64 - ones)).sqrt()
        };
        side(&codes[..cut]) + side(&codes[cut..])
    };
    let best = (1..40).map(loss).fold(f64::INFINITY, f64::min);
    assert!((loss(tree.rows[1] as usize) - best).abs() < 1e-9);
}

#[test]
fn rectangles_of_two_columns_cover_the_picture_once() {
    let iris = crate::datasets::load("iris").unwrap();
    let two = OwnedDataset { x: iris.x.frame().select(&[2, 3]), ..iris };
    let growth = Growth { max_leaf_nodes: Some(5), ..Growth::default() };
    let model = DecisionTreeClassifier { growth, ..Default::default() }.fit(&two.view()).unwrap();
    let names = Names::new(two.x.schema(), &[]);
    let report = Model::report(&model, &names).unwrap();
    let chart = report.charts.iter().find(|chart| chart.title == "Partition").unwrap();
    assert_eq!(chart.panels[0].marks.len(), 5);
    let area = |mark: &learnt_core::chart::Mark| (mark.x[1] - mark.x[0]) * (mark.y[2] - mark.y[1]);
    let all: f64 = chart.panels[0].marks.iter().map(area).sum();
    let side = |values: fn(&learnt_core::chart::Mark) -> &Vec<f64>| {
        let all = chart.panels[0].marks.iter().flat_map(values);
        let (low, high) =
            all.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(*x), h.max(*x)));
        high - low
    };
    assert!((all - side(|mark| &mark.x) * side(|mark| &mark.y)).abs() < 1e-9);
}
