//! Trees against the numbers of rpart, scikit-learn and the notes.

use super::nodes::Tree;
use super::*;
use serde_json::Value as Json;
use std::collections::BTreeMap;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/");

pub(super) fn case(id: &str) -> Json {
    let text = std::fs::read_to_string(format!("{GOLDEN}tree.json")).unwrap();
    let cases: Vec<Json> = serde_json::from_str(&text).unwrap();
    cases.into_iter().find(|case| case["id"] == id).unwrap()
}

pub(super) fn near(got: f64, expected: &Json, what: &str) {
    let expected = expected.as_f64().unwrap();
    assert!(
        (got - expected).abs() <= 1e-8 + 1e-6 * expected.abs(),
        "{what}: {got}, not {expected}"
    );
}

/// The data set of a case.
pub(super) fn dataset(case: &Json) -> OwnedDataset {
    let input = &case["input"];
    let name = input["dataset"].as_str().unwrap();
    let text = std::fs::read_to_string(format!("{GOLDEN}data/{name}.csv")).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let rows: Vec<Vec<&str>> = lines.collect();
    let place = |name: &str| head.iter().position(|h| *h == name).unwrap();
    let target = place(input["target"].as_str().unwrap());
    let features: Vec<usize> = match input["features"].as_array() {
        Some(names) => names.iter().map(|name| place(name.as_str().unwrap())).collect(),
        None => (0..head.len()).filter(|&j| j != target).collect(),
    };
    let categorical = |j: usize| {
        let listed = input["categorical"].as_array();
        listed.is_some_and(|names| names.iter().any(|name| name == head[j]))
    };
    let mut columns = Vec::new();
    let mut values = Matrix::zeros(rows.len(), features.len());
    for (k, &j) in features.iter().enumerate() {
        let mut levels: Vec<String> = rows.iter().map(|row| row[j].to_string()).collect();
        levels.sort();
        levels.dedup();
        for (i, row) in rows.iter().enumerate() {
            values[(i, k)] = match categorical(j) {
                true => levels.iter().position(|level| level == row[j]).unwrap() as f64,
                false => row[j].parse().unwrap(),
            };
        }
        columns.push(match categorical(j) {
            true => Column::categorical(head[j], levels),
            false => Column::numeric(head[j]),
        });
    }
    let y: Vec<&str> = rows.iter().map(|row| row[target]).collect();
    let y = match y
        .iter()
        .map(|text| text.parse::<f64>())
        .collect::<std::result::Result<Vec<_>, _>>()
    {
        Ok(numbers) => OwnedTarget::Real(Matrix::column_vector(numbers)),
        Err(_) => OwnedTarget::from_labels(&y.into_iter().map(Label::from).collect::<Vec<_>>()),
    };
    let x = Table::new(values, Schema::new(columns).unwrap()).unwrap();
    OwnedDataset { x, y: Some(y), ..OwnedDataset::default() }
}

/// Compares rpart's inner nodes with ours. `gain` turns ours into rpart's improvement.
pub(super) fn agrees_with_rpart(
    case: &Json,
    tree: &Tree,
    schema: &Schema,
    gain: impl Fn(&Tree, usize) -> f64,
) {
    let nodes: BTreeMap<u64, &Json> = case["expect"]["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| (node["id"].as_u64().unwrap(), node))
        .collect();
    let mut ours = BTreeMap::from([(1_u64, 0_usize)]);
    for (&id, expected) in &nodes {
        let node = ours[&id];
        assert_eq!(u64::from(tree.rows[node]), expected["n"].as_u64().unwrap(), "rows of {id}");
        let Some(column) = expected["var"].as_str() else { continue };
        assert_eq!(schema.column(tree.feature[node] as usize).name, column, "column of {id}");
        let mut children = [tree.left[node] as usize, tree.right[node] as usize];
        if let Some(levels) = expected["left_levels"].as_array() {
            let names = schema.column(tree.feature[node] as usize).levels().unwrap();
            let present = |name: &Json| {
                let code = names.iter().position(|level| level == name).unwrap();
                grow::has_level(tree.level_bits(node), code as u32)
            };
            assert!(levels.iter().all(present), "levels of {id}");
        } else {
            near(tree.threshold[node], &expected["cut"], "cut");
            if expected["lower_goes"] == "right" {
                children.reverse();
            }
        }
        near(gain(tree, node), &expected["improve"], "improvement");
        ours.insert(2 * id, children[0]);
        ours.insert(2 * id + 1, children[1]);
    }
}

/// Weight times decrease of impurity.
pub(super) fn decrease(tree: &Tree, node: usize) -> f64 {
    let cost = |node: usize| tree.weight[node] * tree.impurity[node];
    cost(node) - cost(tree.left[node] as usize) - cost(tree.right[node] as usize)
}

fn rows_of(case: &Json, name: &str) -> usize {
    case["params"][name].as_u64().unwrap() as usize
}

pub(super) fn rpart_classifier(case: &Json) -> DecisionTreeClassifier {
    DecisionTreeClassifier {
        growth: Growth {
            min_samples_split: MinSamplesSplit::Count(rows_of(case, "minsplit")),
            min_samples_leaf: MinSamplesLeaf::Count(rows_of(case, "minbucket")),
            ..Growth::default()
        },
        ..Default::default()
    }
}

#[test]
fn classification_trees_agree_with_rpart() {
    for id in ["rpart-kyphosis", "rpart-iris"] {
        let case = case(id);
        let data = dataset(&case);
        let model = rpart_classifier(&case).fit(&data.view()).unwrap();
        agrees_with_rpart(&case, &model.tree, data.x.schema(), decrease);
    }
}

#[test]
fn entropy_trees_agree_with_rpart_up_to_the_base_of_the_logarithm() {
    let case = case("rpart-kyphosis-entropy");
    let data = dataset(&case);
    let criterion = TreeClassifierCriterion::Entropy;
    let learner = DecisionTreeClassifier { criterion, ..rpart_classifier(&case) };
    let model = learner.fit(&data.view()).unwrap();
    agrees_with_rpart(&case, &model.tree, data.x.schema(), |tree, node| {
        decrease(tree, node) * std::f64::consts::LN_2
    });
}

#[test]
fn class_weights_agree_with_the_loss_matrix_of_rpart() {
    let mut case = case("rpart-kyphosis-loss");
    let mut data = dataset(&case);
    let Some(OwnedTarget::Class { codes, .. }) = &data.y else { panic!("classes") };
    data.weights = Some(codes.iter().map(|&code| if code == 1 { 4.0 } else { 1.0 }).collect());
    let model = rpart_classifier(&case).fit(&data.view()).unwrap();
    // Priors keep the total at 81 rows, weights sum to 132.
    let scale = 81.0 / 132.0;
    case["expect"]["nodes"].as_array_mut().unwrap().retain(|node| node["id"].as_u64().unwrap() < 8);
    agrees_with_rpart(&case, &model.tree, data.x.schema(), |tree, node| {
        decrease(tree, node) * scale
    });
}

#[test]
fn regression_trees_agree_with_rpart_and_so_does_their_pruning() {
    for id in ["rpart-mtcars", "rpart-warpbreaks"] {
        let case = case(id);
        let data = dataset(&case);
        let learner = DecisionTreeRegressor {
            growth: Growth {
                min_samples_split: MinSamplesSplit::Count(rows_of(&case, "minsplit")),
                min_samples_leaf: MinSamplesLeaf::Count(rows_of(&case, "minbucket")),
                ..Growth::default()
            },
            ..Default::default()
        };
        let full = learner.fit(&data.view()).unwrap();
        let relative = |tree: &Tree, node: usize| {
            decrease(tree, node) / (tree.weight[node] * tree.impurity[node])
        };
        agrees_with_rpart(&case, &full.tree, data.x.schema(), relative);
        let path = full.pruning_path();
        let root = full.tree.impurity[0];
        let table = case["expect"]["cptable"].as_array().unwrap();
        for (i, row) in table.iter().enumerate() {
            let leaves = row[1].as_u64().unwrap() as usize + 1;
            let place = path.leaves.iter().position(|&l| l == leaves).unwrap();
            near(path.impurities[place] / root, &row[2], "relative error");
            if i + 1 < table.len() {
                near(path.ccp_alphas[place] / root, &row[0], "cp");
            }
        }
        let cp = case["params"]["cp"].as_f64().unwrap();
        let pruned = DecisionTreeRegressor {
            growth: Growth { ccp_alpha: cp * root, ..learner.growth.clone() },
            ..learner
        };
        let pruned = pruned.fit(&data.view()).unwrap();
        let splits = table[table.len() - 1][1].as_u64().unwrap() as usize;
        assert!(cp == 0.0 || pruned.n_leaves == splits + 1, "{}", pruned.n_leaves);
    }
}

fn check_path(case: &Json, path: &PruningPath, tree: &Tree, schema: &Schema, importances: &[f64]) {
    let expect = &case["expect"];
    assert_eq!(tree.leaves() as u64, expect["leaves"].as_u64().unwrap());
    assert_eq!(tree.depth() as u64, expect["depth"].as_u64().unwrap());
    assert_eq!(
        schema.column(tree.feature[0] as usize).name,
        expect["root"]["feature"].as_str().unwrap()
    );
    near(tree.threshold[0], &expect["root"]["cut"], "cut");
    near(tree.impurity[0], &expect["root"]["impurity"], "impurity");
    for (name, ours) in [
        ("ccp_alphas", &path.ccp_alphas),
        ("impurities", &path.impurities),
        ("importances", &importances.to_vec()),
    ] {
        // Splits of the classification trees tie between columns, and the reference does not take
        // the first: the path is the same, the columns that get the credit are not.
        if name == "importances" && case["id"] != "tree-path-diabetes" {
            continue;
        }
        let theirs = expect[name].as_array().unwrap();
        assert_eq!(ours.len(), theirs.len(), "{name}");
        ours.iter().zip(theirs).for_each(|(&got, expected)| near(got, expected, name));
    }
}

#[test]
fn pruning_paths_agree_with_scikit_learn() {
    let case_1 = case("tree-path-diabetes");
    let data = dataset(&case_1);
    let leaf = MinSamplesLeaf::Count(rows_of(&case_1, "min_samples_leaf"));
    let learner = DecisionTreeRegressor {
        growth: Growth { min_samples_leaf: leaf, ..Growth::default() },
        ..Default::default()
    };
    let model = learner.fit(&data.view()).unwrap();
    let path = learner.cost_complexity_pruning_path(&data.view()).unwrap();
    check_path(&case_1, &path, &model.tree, data.x.schema(), &model.feature_importances);
    for (id, criterion) in [
        ("tree-path-wine-entropy", TreeClassifierCriterion::Entropy),
        ("tree-path-pima-gini", TreeClassifierCriterion::Gini),
    ] {
        let case = case(id);
        let data = dataset(&case);
        let leaf = MinSamplesLeaf::Count(rows_of(&case, "min_samples_leaf"));
        let learner = DecisionTreeClassifier {
            criterion,
            growth: Growth { min_samples_leaf: leaf, ..Growth::default() },
            ..Default::default()
        };
        let model = learner.fit(&data.view()).unwrap();
        let path = learner.cost_complexity_pruning_path(&data.view()).unwrap();
        check_path(&case, &path, &model.tree, data.x.schema(), &model.feature_importances);
        for (place, &alpha) in path.ccp_alphas.iter().enumerate().skip(1) {
            let learner = DecisionTreeClassifier {
                growth: Growth { ccp_alpha: alpha * (1.0 + 1e-9), ..learner.growth.clone() },
                ..learner.clone()
            };
            let pruned = learner.fit(&data.view()).unwrap();
            assert_eq!(pruned.n_leaves, path.leaves[place]);
        }
    }
}

#[test]
fn eight_points_have_the_pruning_sequence_of_the_notes() {
    let case = case("regression-tree-pruning");
    let y: Vec<f64> = serde_json::from_value(case["input"]["y"].clone()).unwrap();
    let data = OwnedDataset::regression(Matrix::from_fn(8, 1, |i, _| (i + 1) as f64), y);
    let model = DecisionTreeRegressor::default().fit(&data.view()).unwrap();
    near(model.tree.impurity[0] * 8.0, &case["expect"]["root_sse"], "root");
    near(model.tree.threshold[0], &case["expect"]["best_cut"], "cut");
    let path = model.pruning_path();
    let sequence = case["expect"]["sequence"].as_array().unwrap();
    assert_eq!(path.leaves.len(), sequence.len());
    for (place, step) in sequence.iter().enumerate() {
        near(path.ccp_alphas[place] * 8.0, &step[0], "alpha");
        assert_eq!(path.leaves[place] as u64, step[1].as_u64().unwrap());
        near(path.impurities[place] * 8.0, &step[2], "error");
    }
}

#[test]
fn importances_are_shares_of_the_squared_error_removed() {
    let case = case("tree-importance");
    let x: Vec<Vec<f64>> = serde_json::from_value(case["input"]["X"].clone()).unwrap();
    let y: Vec<f64> = serde_json::from_value(case["input"]["y"].clone()).unwrap();
    let data = OwnedDataset::regression(Matrix::from_rows(&x).unwrap(), y);
    let learner = DecisionTreeRegressor {
        growth: Growth { max_leaf_nodes: Some(3), ..Growth::default() },
        ..Default::default()
    };
    let model = learner.fit(&data.view()).unwrap();
    let total = 56.0;
    for (j, share) in model.feature_importances.iter().enumerate() {
        near(share * total, &case["expect"]["squared_importance"][j], "importance");
    }
    let names = learnt_core::names::Names::new(data.x.schema(), &[]);
    let report = Model::report(&model, &names).unwrap();
    let relative = report.column("relative importance").unwrap().reals().unwrap();
    assert!((relative[0] - 100.0).abs() < 1e-9 && (relative[1] - 40.824_829).abs() < 1e-5);
}

#[test]
fn ordered_levels_find_the_best_of_all_partitions() {
    let case = case("categorical-ordered-shortcut");
    let counts = case["input"]["counts"].as_object().unwrap();
    let names: Vec<String> = counts.keys().cloned().collect();
    let (mut x, mut labels) = (Vec::new(), Vec::new());
    for (code, count) in counts.values().enumerate() {
        for class in 0..2_i64 {
            for _ in 0..count[class as usize].as_u64().unwrap() {
                x.push(code as f64);
                labels.push(Label::Int(class));
            }
        }
    }
    let schema = Schema::new(vec![Column::categorical("level", names.clone())]).unwrap();
    let data = OwnedDataset {
        x: Table::new(Matrix::column_vector(x), schema).unwrap(),
        y: Some(OwnedTarget::from_labels(&labels)),
        ..OwnedDataset::default()
    };
    for (criterion, key) in [
        (TreeClassifierCriterion::Gini, "best_gini"),
        (TreeClassifierCriterion::Entropy, "best_entropy"),
    ] {
        for method in [Method::Exact, Method::Histogram] {
            let learner = DecisionTreeClassifier {
                criterion,
                growth: Growth { method, max_depth: Some(1), ..Growth::default() },
                ..Default::default()
            };
            let tree = learner.fit(&data.view()).unwrap().tree;
            let mut expected: Vec<String> =
                serde_json::from_value(case["expect"][key]["left"].clone()).unwrap();
            expected.sort();
            let side = |wanted: bool| -> Vec<String> {
                let chosen = (0..names.len() as u32)
                    .filter(|&code| grow::has_level(tree.level_bits(0), code) == wanted);
                chosen.map(|code| names[code as usize].clone()).collect()
            };
            assert!(side(true) == expected || side(false) == expected);
        }
    }
}

#[test]
fn exclusive_or_is_fitted_although_no_first_split_gains() {
    let case = case("id3-xor");
    let pair = |row: &Json| [0, 1].map(|j| row[j].as_f64().unwrap());
    let rows: Vec<[f64; 2]> = case["input"]["X"].as_array().unwrap().iter().map(pair).collect();
    let y: Vec<i64> =
        case["input"]["y"].as_array().unwrap().iter().map(|y| y.as_i64().unwrap()).collect();
    let classes: Vec<Label> = y.iter().map(|&y| Label::Int(y)).collect();
    let data = OwnedDataset::classification(Matrix::from_rows(&rows).unwrap(), &classes);
    let model = DecisionTreeClassifier::default().fit(&data.view()).unwrap();
    let predicted = model.classify(&data.x.frame()).unwrap();
    let errors = predicted.iter().zip(&y).filter(|(a, b)| i64::from(**a) != **b).count();
    assert_eq!(case["expect"]["training_errors"], errors);
    assert_eq!(case["expect"]["leaves"], model.n_leaves);
    assert_eq!(case["expect"]["depth"], model.depth);
    // Equal gains, both zero: the first column.
    assert_eq!(case["expect"]["root_gain"], serde_json::json!([0.0, 0.0]));
    assert_eq!(model.tree.feature[0], 0);
}

// A naive search, and random tables for it.
