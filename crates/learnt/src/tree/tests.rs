//! The engine against reference numbers, a naive search and hard data.

use super::grow::{
    Absolute, Columns, Criterion, Entropy, Gini, Limits, Poisson, Settings, Squared, grow,
};
use super::nodes::{NONE, Tree};
use super::*;
use learnt_core::context::Rng;
use learnt_core::persist::{Node, Stored};
use learnt_core::stats::sample;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::Value as Json;
use std::collections::BTreeMap;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/");

fn case(id: &str) -> Json {
    let text = std::fs::read_to_string(format!("{GOLDEN}tree.json")).unwrap();
    let cases: Vec<Json> = serde_json::from_str(&text).unwrap();
    cases.into_iter().find(|case| case["id"] == id).unwrap()
}

fn near(got: f64, expected: &Json, what: &str) {
    let expected = expected.as_f64().unwrap();
    assert!(
        (got - expected).abs() <= 1e-8 + 1e-6 * expected.abs(),
        "{what}: {got}, not {expected}"
    );
}

/// The data set of a case.
fn dataset(case: &Json) -> OwnedDataset {
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
fn agrees_with_rpart(
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
fn decrease(tree: &Tree, node: usize) -> f64 {
    let cost = |node: usize| tree.weight[node] * tree.impurity[node];
    cost(node) - cost(tree.left[node] as usize) - cost(tree.right[node] as usize)
}

fn rows_of(case: &Json, name: &str) -> usize {
    case["params"][name].as_u64().unwrap() as usize
}

fn rpart_classifier(case: &Json) -> DecisionTreeClassifier {
    DecisionTreeClassifier {
        min_samples_split: MinSamplesSplit::Count(rows_of(case, "minsplit")),
        min_samples_leaf: MinSamplesLeaf::Count(rows_of(case, "minbucket")),
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
            min_samples_split: MinSamplesSplit::Count(rows_of(&case, "minsplit")),
            min_samples_leaf: MinSamplesLeaf::Count(rows_of(&case, "minbucket")),
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
        let pruned = DecisionTreeRegressor { ccp_alpha: cp * root, ..learner };
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
    let learner = DecisionTreeRegressor { min_samples_leaf: leaf, ..Default::default() };
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
        let learner =
            DecisionTreeClassifier { criterion, min_samples_leaf: leaf, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        let path = learner.cost_complexity_pruning_path(&data.view()).unwrap();
        check_path(&case, &path, &model.tree, data.x.schema(), &model.feature_importances);
        for (place, &alpha) in path.ccp_alphas.iter().enumerate().skip(1) {
            let learner =
                DecisionTreeClassifier { ccp_alpha: alpha * (1.0 + 1e-9), ..learner.clone() };
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
    let learner = DecisionTreeRegressor { max_leaf_nodes: Some(3), ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    let total = 56.0;
    for (j, share) in model.feature_importances.iter().enumerate() {
        near(share * total, &case["expect"]["squared_importance"][j], "importance");
    }
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
                method,
                max_depth: Some(1),
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
    let x = Matrix::from_rows(&[[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]).unwrap();
    let data = OwnedDataset::classification(x, &[0, 1, 1, 0].map(Label::Int));
    let model = DecisionTreeClassifier::default().fit(&data.view()).unwrap();
    assert_eq!(model.classify(&data.x.frame()).unwrap(), [0, 1, 1, 0]);
    assert_eq!((model.n_leaves, model.depth, model.tree.feature[0]), (4, 2, 0));
}

// A naive search, and random tables for it.

/// Small tables with ties, and missing values and categories if asked for.
fn random_table(rng: &mut Rng, rows: usize, missing: bool, categories: bool) -> Table {
    let columns = 3;
    let schema = (0..columns).map(|j| match categories && j == 1 {
        true => Column::categorical("c", (0..5).map(|l| format!("l{l}")).collect()),
        false => Column::numeric(format!("x{j}")),
    });
    let schema = Schema::new(schema.collect()).unwrap();
    let values = Matrix::from_fn(rows, columns, |_, _| {
        let value = sample::below(rng, 5) as f64;
        if missing && sample::below(rng, 5) == 0 { f64::NAN } else { value }
    });
    Table::new(values, schema).unwrap()
}

/// All two-way divisions that a tree may make, in the order that decides ties.
fn divisions(x: &Table) -> Vec<Vec<bool>> {
    let mut all = Vec::new();
    for j in 0..x.schema().len() {
        let values = x.values().column(j);
        let unknown = values.iter().any(|v| v.is_nan());
        let mut sets: Vec<Box<dyn Fn(f64) -> bool>> = Vec::new();
        match x.schema().column(j).levels() {
            Some(levels) => {
                for bits in 0..1_u32 << levels.len() {
                    sets.push(Box::new(move |v| bits >> v as u32 & 1 == 1));
                }
            }
            None => {
                let mut distinct: Vec<f64> =
                    values.iter().copied().filter(|v| !v.is_nan()).collect();
                distinct.sort_by(f64::total_cmp);
                distinct.dedup();
                sets.extend(
                    distinct
                        .into_iter()
                        .map(|cut| Box::new(move |v| v <= cut) as Box<dyn Fn(f64) -> bool>),
                );
            }
        }
        for missing_left in if unknown { vec![false, true] } else { vec![false] } {
            for set in &sets {
                let goes = |v: &f64| if v.is_nan() { missing_left } else { set(*v) };
                all.push(values.iter().map(goes).collect());
            }
        }
    }
    all
}

fn naive_gain<C: Criterion>(criterion: &C, left: &[bool], min_rows: usize) -> Option<f64> {
    let side = |wanted: bool| -> Vec<u32> {
        (0..left.len() as u32).filter(|&i| left[i as usize] == wanted).collect()
    };
    let (l, r) = (side(true), side(false));
    if l.len().min(r.len()) < min_rows {
        return None;
    }
    let all: Vec<u32> = (0..left.len() as u32).collect();
    let cost = |rows: &[u32]| {
        let part = criterion.summary(rows);
        part.impurity * part.weight
    };
    Some(cost(&all) - cost(&l) - cost(&r))
}

fn settings(columns: usize) -> Settings {
    Settings {
        max_depth: usize::MAX,
        min_samples_split: 2,
        limits: Limits { min_rows: 1, min_weight: 0.0, only: None },
        max_features: columns,
        max_leaf_nodes: None,
        min_impurity_decrease: 0.0,
        random: false,
    }
}

/// The root's split is as good as any, and the first of the best where order is defined.
fn check_naive<C: Criterion>(criterion: &C, x: &Table, min_rows: usize, optimal_sets: bool) {
    let run = Context::default().with_threads(1);
    let mut settings = Settings { max_depth: 1, ..settings(3) };
    settings.limits.min_rows = min_rows;
    let rows = x.values().nrows();
    let all: Vec<u32> = (0..rows as u32).collect();
    let node = criterion.summary(&all);
    let tolerance = 1e-9 * (1.0 + node.weight * node.impurity);
    let mut best: Option<(f64, Vec<bool>)> = None;
    for division in divisions(x) {
        let Some(gain) = naive_gain(criterion, &division, min_rows) else { continue };
        if best.as_ref().is_none_or(|(most, _)| gain > most + tolerance) {
            best = Some((gain, division));
        }
    }
    for columns in [Columns::sorted(&x.frame(), &run), Columns::ranked(&x.frame(), &run)] {
        let tree = grow(columns.unwrap(), criterion, &settings, &run).unwrap();
        if node.pure || best.is_none() {
            assert_eq!(tree.len(), 1);
            continue;
        }
        let (most, division) = best.as_ref().unwrap();
        if !optimal_sets && tree.len() == 1 {
            continue;
        }
        assert_eq!(tree.len(), 3);
        let leaves = tree.apply(&x.frame(), &run).unwrap();
        let ours: Vec<bool> = leaves.iter().map(|&leaf| leaf == tree.left[0]).collect();
        let gain = naive_gain(criterion, &ours, min_rows).unwrap();
        if optimal_sets {
            assert!((gain - most).abs() <= 2.0 * tolerance, "{gain} and not {most}");
        }
        if x.schema().all_numeric() {
            assert_eq!(&ours, division);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_exact_search_agrees_with_a_naive_one(
        seed in 0_u64..1_000_000,
        rows in 2_usize..24,
        missing: bool,
        categories: bool,
        weighted: bool,
        min_rows in 1_usize..3,
    ) {
        let rng = &mut Context::default().with_seed(seed).rng(1);
        let x = random_table(rng, rows, missing, categories);
        let codes: Vec<u32> = (0..rows).map(|_| sample::below(rng, 2) as u32).collect();
        let y: Vec<f64> = (0..rows).map(|_| (1 + sample::below(rng, 6)) as f64).collect();
        let w = weighted.then(|| (0..rows).map(|_| 0.5 * (1 + sample::below(rng, 4)) as f64).collect::<Vec<_>>());
        // Levels in the order of their mean contain the best set of all only if every set is allowed:
        // with a smallest leaf another set may be the best of those that are left.
        let ordered_is_best = !categories || min_rows == 1;
        check_naive(&Gini::new(codes.clone(), 2, w.clone()), &x, min_rows, ordered_is_best);
        check_naive(&Entropy::new(codes, 2, w.clone()), &x, min_rows, ordered_is_best);
        check_naive(&Squared::new(y.clone(), 1, w.clone()), &x, min_rows, ordered_is_best);
        check_naive(&Poisson::new(y.clone(), 1, w.clone()), &x, min_rows, ordered_is_best);
        check_naive(&Absolute::new(y, 1, w), &x, min_rows, !categories);
    }

    #[test]
    fn enough_bins_give_the_exact_tree(seed in 0_u64..1_000_000, rows in 2_usize..200, missing: bool, categories: bool) {
        let rng = &mut Context::default().with_seed(seed).rng(2);
        let x = random_table(rng, rows, missing, categories);
        let codes: Vec<u32> = (0..rows).map(|_| sample::below(rng, 3) as u32).collect();
        let y: Vec<f64> = (0..rows).map(|_| sample::below(rng, 6) as f64).collect();
        let run = Context::default();
        fn check<C: Criterion>(criterion: &C, x: &Table, run: &Context) {
            let settings = settings(3);
            let exact = grow(Columns::sorted(&x.frame(), run).unwrap(), criterion, &settings, run).unwrap();
            let ranked = grow(Columns::ranked(&x.frame(), run).unwrap(), criterion, &settings, run).unwrap();
            let binned = grow(Columns::binned(&x.frame(), 255, run).unwrap(), criterion, &settings, run).unwrap();
            assert_eq!(exact, ranked);
            assert_eq!(exact, binned);
        }
        check(&Gini::new(codes.clone(), 3, None), &x, &run);
        check(&Entropy::new(codes, 3, None), &x, &run);
        check(&Squared::new(y, 1, None), &x, &run);
    }

    #[test]
    fn a_weight_of_two_is_a_repeated_row(seed in 0_u64..1_000_000, rows in 2_usize..60) {
        let rng = &mut Context::default().with_seed(seed).rng(3);
        let x = random_table(rng, rows, true, true);
        let y: Vec<f64> = (0..rows).map(|_| sample::below(rng, 6) as f64).collect();
        let weights: Vec<f64> = (0..rows).map(|_| (1 + sample::below(rng, 3)) as f64).collect();
        let repeated: Vec<usize> = (0..rows).flat_map(|i| vec![i; weights[i] as usize]).collect();
        let target = OwnedTarget::Real(Matrix::column_vector(y));
        let once = OwnedDataset { x, y: Some(target), weights: Some(weights), groups: None };
        let twice = OwnedDataset { weights: None, ..once.view().gather(&repeated) };
        for criterion in [TreeRegressorCriterion::SquaredError, TreeRegressorCriterion::AbsoluteError] {
            let learner = DecisionTreeRegressor { criterion, ..Default::default() };
            let (a, b) = (learner.fit(&once.view()).unwrap(), learner.fit(&twice.view()).unwrap());
            let (p, q) = (a.predict(&once.x.frame()).unwrap(), b.predict(&once.x.frame()).unwrap());
            for (p, q) in p.as_slice().iter().zip(q.as_slice()) {
                assert!((p - q).abs() < 1e-9);
            }
        }
    }
}

/// Rows in noisy classes, with everything that a column can have.
fn large(rows: usize) -> OwnedDataset {
    let rng = &mut Context::default().rng(4);
    let schema = Schema::new(vec![
        Column::numeric("a"),
        Column::categorical("b", (0..40).map(|l| format!("l{l}")).collect()),
        Column::numeric("c"),
        Column::numeric("d"),
    ])
    .unwrap();
    let mut values = Matrix::zeros(rows, 4);
    let mut labels = Vec::new();
    for i in 0..rows {
        let level = sample::below(rng, 40);
        let a = sample::standard_normal(rng);
        values.row_mut(i).copy_from_slice(&[
            a,
            level as f64,
            sample::uniform(rng),
            sample::below(rng, 9) as f64,
        ]);
        if sample::below(rng, 10) == 0 {
            values[(i, sample::below(rng, 4) as usize)] = f64::NAN;
        }
        let noise = sample::standard_normal(rng);
        labels.push(Label::Int((a + (level % 3) as f64 + 0.5 * noise > 1.0) as i64));
    }
    let x = Table::new(values, schema).unwrap();
    OwnedDataset { x, y: Some(OwnedTarget::from_labels(&labels)), ..OwnedDataset::default() }
}

#[test]
fn any_number_of_threads_gives_the_same_tree() {
    let data = large(20_000);
    for learner in [
        DecisionTreeClassifier::default(),
        DecisionTreeClassifier { method: Method::Histogram, ..Default::default() },
        DecisionTreeClassifier { max_features: MaxFeatures::Count(1), ..Default::default() },
        DecisionTreeClassifier { splitter: Splitter::Random, ..Default::default() },
        DecisionTreeClassifier { max_leaf_nodes: Some(50), ..Default::default() },
    ] {
        let fit = |threads| {
            learner.fit_in(&data.view(), &Context::default().with_threads(threads)).unwrap()
        };
        let one = fit(1);
        assert!(one.n_leaves > 20);
        assert_eq!(one, fit(2));
        assert_eq!(one, fit(4));
        assert_eq!(DecisionTreeClassifierModel::from_node(&one.to_node()).unwrap(), one);
    }
}

#[test]
fn rows_reach_the_leaf_that_they_trained() {
    let data = large(3_000);
    for splitter in [Splitter::Best, Splitter::Random] {
        for method in [Method::Exact, Method::Histogram] {
            let learner =
                DecisionTreeClassifier { splitter, method, max_bins: 40, ..Default::default() };
            let model = learner.fit(&data.view()).unwrap();
            let mut counts = vec![0; model.tree.len()];
            for leaf in model.apply(&data.x.frame(), &Context::default()).unwrap() {
                counts[leaf as usize] += 1;
            }
            for leaf in (0..model.tree.len()).filter(|&node| model.tree.is_leaf(node)) {
                assert_eq!(counts[leaf], model.tree.rows[leaf]);
            }
        }
    }
}

#[test]
fn seeds_matter_only_where_something_is_drawn() {
    let data = large(500);
    let fit = |learner: &DecisionTreeClassifier, seed| {
        learner.fit_in(&data.view(), &Context::default().with_seed(seed)).unwrap()
    };
    let best = DecisionTreeClassifier::default();
    assert_eq!(fit(&best, 0), fit(&best, 1));
    let random = DecisionTreeClassifier { splitter: Splitter::Random, ..Default::default() };
    assert_ne!(fit(&random, 0), fit(&random, 1));
    let few = DecisionTreeClassifier { max_features: MaxFeatures::Sqrt, ..Default::default() };
    assert_ne!(fit(&few, 0), fit(&few, 1));
}

#[test]
fn best_first_without_a_real_limit_is_depth_first() {
    let data = large(2_000);
    let depth_first = DecisionTreeClassifier::default().fit(&data.view()).unwrap();
    let limit = DecisionTreeClassifier { max_leaf_nodes: Some(100_000), ..Default::default() };
    assert_eq!(limit.fit(&data.view()).unwrap(), depth_first);
    let ten = DecisionTreeClassifier { max_leaf_nodes: Some(10), ..Default::default() };
    assert_eq!(ten.fit(&data.view()).unwrap().n_leaves, 10);
}

#[test]
fn limits_on_nodes_hold() {
    let data = large(1_000);
    let learner = DecisionTreeClassifier {
        min_samples_split: MinSamplesSplit::Fraction(0.05),
        min_samples_leaf: MinSamplesLeaf::Count(7),
        min_weight_fraction_leaf: 0.02,
        max_depth: Some(6),
        ..Default::default()
    };
    let tree = learner.fit(&data.view()).unwrap().tree;
    assert!(tree.depth() <= 6 && tree.len() > 5);
    for node in 0..tree.len() {
        assert!(tree.rows[node] >= 20);
        assert!(tree.is_leaf(node) || tree.rows[node] >= 50);
    }
    let five = DecisionTreeClassifier {
        min_samples_split: MinSamplesSplit::Count(5),
        ..Default::default()
    };
    let tree = five.fit(&data.view()).unwrap().tree;
    assert!((0..tree.len()).all(|node| tree.is_leaf(node) || tree.rows[node] >= 5));
    let strict = DecisionTreeClassifier { min_impurity_decrease: 0.01, ..Default::default() };
    let tree = strict.fit(&data.view()).unwrap().tree;
    let share = |node: usize| decrease(&tree, node) / tree.weight[0];
    assert!((0..tree.len()).all(|node| tree.is_leaf(node) || share(node) >= 0.01 - 1e-12));
}

#[test]
fn a_tree_as_deep_as_its_rows_fits_predicts_prints_and_returns_from_its_file() {
    let rows = 20_000;
    let x = Matrix::from_fn(rows, 1, |i, _| i as f64);
    let labels: Vec<Label> = (0..rows as i64).map(|i| Label::Int(i % 2)).collect();
    let data = OwnedDataset::classification(x, &labels);
    let learner = DecisionTreeClassifier::default();
    let run = Context::default();
    let trained = learnt_core::trained::Trained::fit(&learner, &data.view(), &[], &run).unwrap();
    let bytes = trained.to_bytes().unwrap();
    let again = crate::from_bytes(&bytes).unwrap();
    assert_eq!(again.to_bytes().unwrap(), bytes);
    assert!(!again.model.report().unwrap().to_text().is_empty());
    let model = DecisionTreeClassifierModel::from_node(&again.model.stored()).unwrap();
    assert!(model.depth > 4_000, "{}", model.depth);
    assert_eq!(model.n_leaves, rows);
    assert!(model.export_text().lines().count() == 2 * rows - 1);
    let found = model.classify(&data.x.frame()).unwrap();
    assert!(found.iter().enumerate().all(|(i, &code)| code as usize == i % 2));
    assert_eq!(*model.pruning_path().leaves.last().unwrap(), 1);
}

#[test]
fn degenerate_tables_give_a_leaf_or_use_what_is_left() {
    let labels = ["a", "b", "a", "b"].map(Label::from);
    let constant = OwnedDataset::classification(Matrix::zeros(4, 2), &labels);
    let model = DecisionTreeClassifier::default().fit(&constant.view()).unwrap();
    assert_eq!((model.n_leaves, model.depth), (1, 0));
    assert_eq!(model.classify(&constant.x.frame()).unwrap(), [0; 4]);
    let one = OwnedDataset::regression(Matrix::zeros(1, 1), vec![3.0]);
    for method in [Method::Exact, Method::Histogram] {
        let learner = DecisionTreeRegressor { method, ..Default::default() };
        assert_eq!(
            learner.fit(&one.view()).unwrap().predict(&one.x.frame()).unwrap().row(0),
            [3.0]
        );
    }
    let same = OwnedDataset::classification(
        Matrix::from_fn(3, 1, |i, _| i as f64),
        &["a"; 3].map(Label::from),
    );
    let model = DecisionTreeClassifier::default().fit(&same.view()).unwrap();
    assert_eq!((model.n_leaves, model.feature_importances[0]), (1, 0.0));
    let missing = Matrix::from_fn(4, 2, |i, j| if j == 0 { f64::NAN } else { i as f64 });
    let missing = OwnedDataset::classification(missing, &labels);
    for method in [Method::Exact, Method::Histogram] {
        let learner = DecisionTreeClassifier { method, ..Default::default() };
        let model = learner.fit(&missing.view()).unwrap();
        assert_eq!(model.classify(&missing.x.frame()).unwrap(), [0, 1, 0, 1]);
    }
}

#[test]
fn being_missing_can_be_the_split() {
    let x = Matrix::column_vector(vec![1.0, f64::NAN, 2.0, f64::NAN, 3.0]);
    let data = OwnedDataset::regression(x, vec![1.0, 9.0, 1.0, 9.0, 1.0]);
    let model = DecisionTreeRegressor::default().fit(&data.view()).unwrap();
    assert_eq!(model.predict(&data.x.frame()).unwrap().column(0), [1.0, 9.0, 1.0, 9.0, 1.0]);
    assert_eq!(model.n_leaves, 2);
    assert!(model.export_text().contains("x0 is missing"));
    assert_eq!(DecisionTreeRegressorModel::from_node(&model.to_node()).unwrap(), model);
}

#[test]
fn what_training_did_not_see_goes_with_the_larger_child() {
    let schema =
        Schema::new(vec![Column::categorical("c", ["p", "q", "r"].map(String::from).to_vec())])
            .unwrap();
    let x = Table::new(Matrix::column_vector(vec![0.0, 1.0, 1.0, 1.0]), schema.clone()).unwrap();
    let y = Some(OwnedTarget::Real(Matrix::column_vector(vec![1.0, 5.0, 5.0, 5.0])));
    let data = OwnedDataset { x, y, ..OwnedDataset::default() };
    let model = DecisionTreeRegressor::default().fit(&data.view()).unwrap();
    let new =
        Table::new(Matrix::column_vector(vec![2.0, f64::NAN, 77.0, -1.0, 0.5]), schema).unwrap();
    assert_eq!(model.predict(&new.frame()).unwrap().column(0), [5.0; 5]);
    assert!(model.predict(&Table::unnamed(Matrix::zeros(1, 2)).frame()).is_err());
}

#[test]
fn balanced_classes_count_the_same() {
    let x = Matrix::column_vector(vec![0.0, 0.0, 0.0, 0.0]);
    let data = OwnedDataset::classification(x, &["a", "a", "a", "b"].map(Label::from));
    let learner =
        DecisionTreeClassifier { class_weight: Some(ClassWeight::Balanced), ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    assert_eq!(model.probabilities(&data.x.frame()).unwrap().row(0), [0.5, 0.5]);
}

#[test]
fn poisson_refuses_negative_targets_and_medians_refuse_histograms() {
    let data = OwnedDataset::regression(Matrix::from_fn(2, 1, |i, _| i as f64), vec![1.0, -1.0]);
    let poisson =
        DecisionTreeRegressor { criterion: TreeRegressorCriterion::Poisson, ..Default::default() };
    assert!(poisson.fit(&data.view()).unwrap_err().message().contains("row 2"));
    let median = DecisionTreeRegressor {
        criterion: TreeRegressorCriterion::AbsoluteError,
        method: Method::Histogram,
        ..Default::default()
    };
    assert!(median.fit(&data.view()).unwrap_err().message().contains("`method`"));
}

#[test]
fn several_targets_share_one_tree() {
    let x = Matrix::from_fn(6, 1, |i, _| i as f64);
    let y = Matrix::from_fn(6, 2, |i, j| if j == 0 { (i / 3) as f64 } else { (i / 2) as f64 });
    let data = OwnedDataset {
        x: Table::unnamed(x),
        y: Some(OwnedTarget::Real(y.clone())),
        ..OwnedDataset::default()
    };
    for criterion in [TreeRegressorCriterion::SquaredError, TreeRegressorCriterion::AbsoluteError] {
        let learner = DecisionTreeRegressor { criterion, ..Default::default() };
        assert_eq!(learner.fit(&data.view()).unwrap().predict(&data.x.frame()).unwrap(), y);
    }
}

#[test]
fn hostile_files_are_refused() {
    let data = large(300);
    let model = DecisionTreeClassifier::default().fit(&data.view()).unwrap();
    let levels_node = (0..model.tree.len()).find(|&n| model.tree.level_start[n] != NONE).unwrap();
    let last = model.tree.len() - 1;
    type Damage = Box<dyn Fn(&mut Tree)>;
    let damages: Vec<Damage> = vec![
        Box::new(|tree| tree.left[0] = 0),
        Box::new(|tree| tree.right[0] = u32::MAX),
        Box::new(|tree| tree.right[0] = tree.left[0]),
        Box::new(|tree| tree.feature[0] = 4),
        Box::new(|tree| tree.threshold.iter_mut().for_each(|t| *t = f64::NAN)),
        Box::new(|tree| tree.values[0] = f64::NAN),
        Box::new(|tree| tree.values[0] = 2.0),
        Box::new(|tree| tree.values.truncate(3)),
        Box::new(|tree| tree.outputs = 0),
        Box::new(|tree| tree.columns[0] = 5),
        Box::new(|tree| tree.weight[1] = 0.0),
        Box::new(move |tree| tree.left[last] = 1),
        Box::new(move |tree| tree.level_start[levels_node] = u32::MAX - 1),
        Box::new(move |tree| tree.level_start[levels_node] = NONE),
        Box::new(|tree| tree.levels.iter_mut().for_each(|word| *word = u32::MAX)),
        Box::new(|tree| *tree = Tree::default()),
    ];
    for (i, damage) in damages.iter().enumerate() {
        let mut broken = model.clone();
        damage(&mut broken.tree);
        let Node::Map(_) = broken.to_node() else { panic!("a model is a map") };
        let error = DecisionTreeClassifierModel::from_node(&broken.to_node());
        assert!(error.is_err(), "damage {i} went unnoticed");
    }
    assert_eq!(DecisionTreeClassifierModel::from_node(&model.to_node()).unwrap(), model);
}
