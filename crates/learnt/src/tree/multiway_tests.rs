//! C4.5 and ID3 against Weka's trees and the properties of the notes.

use super::reference_tests::case;
use super::*;
use learnt_core::stats::sample;
use serde_json::Value as Json;

/// The leaves of a fit as the rules that lead to them, with their class.
fn leaves(
    learner: &dyn Fn(&Dataset) -> MultiwayTreeModel,
    data: &OwnedDataset,
) -> Vec<(String, String)> {
    let model = learner(&data.view());
    let question = QUESTIONS.iter().find(|q| q.name == "rules").unwrap();
    let answer = model.answer(&question.ask(&[], None, Context::default()).unwrap()).unwrap();
    let table = &answer.tables[0];
    let text = |name: &str, row: usize| table.column(name).unwrap().text(row);
    let class = |row: usize| text("prediction", row).split(" (").next().unwrap().to_string();
    (0..table.len()).map(|row| (text("rule", row), class(row))).collect()
}

use super::questions::{PRUNED_RULES, RULES};
const QUESTIONS: &[Question] = &[RULES, PRUNED_RULES];

fn weka() -> C45Classifier {
    C45Classifier { cut_at: CutAt::Value, ..Default::default() }
}

fn c45(learner: C45Classifier) -> impl Fn(&Dataset) -> MultiwayTreeModel {
    move |data| learner.fit(data).unwrap()
}

fn id3(data: &Dataset) -> MultiwayTreeModel {
    ID3Classifier::default().fit(data).unwrap()
}

/// The tightest cuts of a path, as rules have them.
fn agrees(case_id: &str, got: &[(String, String)]) {
    let expected = case(case_id);
    let expected: Vec<(String, String)> = expected["expect"]["leaves"]
        .as_array()
        .unwrap()
        .iter()
        .map(|leaf| (path(&leaf["path"]), leaf["label"].as_str().unwrap().to_string()))
        .collect();
    let mut got = got.to_vec();
    let mut expected = expected;
    got.sort();
    expected.sort();
    assert_eq!(got, expected, "{case_id}");
}

fn path(path: &Json) -> String {
    let mut kept: Vec<String> = Vec::new();
    for condition in path.as_array().unwrap() {
        let condition = condition.as_str().unwrap();
        let (head, _) = condition.rsplit_once(' ').unwrap();
        match kept.iter().position(|known| known.rsplit_once(' ').unwrap().0 == head) {
            Some(place) => kept[place] = condition.to_string(),
            None => kept.push(condition.to_string()),
        }
    }
    kept.join(" and ")
}

fn load(name: &str) -> OwnedDataset {
    crate::datasets::load(name).unwrap()
}

#[test]
fn c45_grows_and_prunes_the_trees_of_weka() {
    for (id, name) in [
        ("j48-weather-numeric", "weather_numeric"),
        ("j48-contact-lenses", "contact_lenses"),
        ("j48-iris", "iris"),
    ] {
        agrees(id, &leaves(&c45(weka()), &load(name)));
    }
}

#[test]
fn id3_grows_the_trees_of_weka_and_of_the_notes() {
    agrees("id3-contact-lenses", &leaves(&id3, &load("contact_lenses")));
    let tennis = leaves(&id3, &load("weather_nominal"));
    let expected = [
        ("outlook = overcast", "yes"),
        ("outlook = rainy and windy = FALSE", "yes"),
        ("outlook = rainy and windy = TRUE", "no"),
        ("outlook = sunny and humidity = high", "no"),
        ("outlook = sunny and humidity = normal", "yes"),
    ];
    let mut tennis: Vec<(&str, &str)> =
        tennis.iter().map(|(rule, class)| (rule.as_str(), class.as_str())).collect();
    tennis.sort_unstable();
    assert_eq!(tennis, expected);
}

#[test]
fn id3_fits_exclusive_or_although_no_root_gains() {
    let x = Matrix::from_rows(&[[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]).unwrap();
    let data = OwnedDataset::classification(x, &["a", "b", "b", "a"].map(Label::from));
    let model = id3(&data.view());
    assert_eq!((model.n_leaves, model.depth), (4, 2));
    assert_eq!(model.classify(&data.x.frame()).unwrap(), [0, 1, 1, 0]);
}

/// Training errors of a fit.
fn errors(model: &MultiwayTreeModel, data: &OwnedDataset) -> usize {
    let (codes, _) = data.view().class_target().unwrap();
    let found = model.classify(&data.x.frame()).unwrap();
    found.iter().zip(codes).filter(|(a, b)| a != b).count()
}

#[test]
fn labour_contracts_with_many_holes_have_the_size_of_weka() {
    let data = load("labor");
    let model = C45Classifier { pruning: None, ..weka() }.fit(&data.view()).unwrap();
    assert!(model.n_leaves.abs_diff(13) <= 3, "{} leaves", model.n_leaves);
    assert!(errors(&model, &data).abs_diff(2) <= 1, "{} errors", errors(&model, &data));
}

#[test]
fn parts_of_rows_at_the_leaves_sum_to_the_rows() {
    let data = load("labor");
    let model = C45Classifier { pruning: None, ..weka() }.fit(&data.view()).unwrap();
    let tree = &model.tree;
    let sum: f64 = (0..tree.len()).filter(|&n| tree.is_leaf(n)).map(|n| tree.weight(n)).sum();
    assert!((sum - data.view().nrows() as f64).abs() < 1e-9, "{sum}");
    let shares = model.probabilities(&data.x.frame()).unwrap();
    assert!(shares.rows().all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-12));
}

/// Two columns; the second is missing in rows of one side of the first.
fn with_hole(missing_in_second_node: f64) -> OwnedDataset {
    // First column: node. Second: level, mostly 1 in node 0 and mostly 0 in node 1.
    let rows = [
        ([0.0, 1.0], "a"),
        ([0.0, 1.0], "a"),
        ([0.0, 1.0], "a"),
        ([0.0, 1.0], "a"),
        ([0.0, 0.0], "b"),
        ([0.0, missing_in_second_node], "a"),
        ([1.0, 0.0], "c"),
        ([1.0, 0.0], "c"),
        ([1.0, 0.0], "c"),
        ([1.0, 0.0], "c"),
        ([1.0, 0.0], "c"),
        ([1.0, 0.0], "c"),
        ([1.0, 0.0], "c"),
        ([1.0, 1.0], "d"),
    ];
    let x = Matrix::from_rows(&rows.map(|(x, _)| x)).unwrap();
    let levels = || vec!["zero".to_string(), "one".to_string()];
    let schema = Schema::new(vec![
        Column::categorical("node", levels()),
        Column::categorical("level", levels()),
    ])
    .unwrap();
    let y = OwnedTarget::from_labels(&rows.map(|(_, y)| Label::from(y)));
    OwnedDataset { x: Table::new(x, schema).unwrap(), y: Some(y), ..OwnedDataset::default() }
}

#[test]
fn a_hole_is_filled_with_the_mode_of_its_node_not_of_the_table() {
    let data = with_hole(f64::NAN);
    let settings = |missing| C45Classifier {
        missing,
        pruning: None,
        min_samples_leaf: 1,
        criterion: C45Criterion::Gain,
        ..Default::default()
    };
    for missing in [MissingAs::Mode, MissingAs::ClassMode] {
        let model = settings(missing).fit(&data.view()).unwrap();
        // Zero is the level of 8 of 13 rows, but one is the level of 4 of 5 rows of the node.
        let x = Matrix::from_rows(&[[0.0, f64::NAN], [1.0, f64::NAN]]).unwrap();
        let rows = Table::new(x, data.x.schema().clone()).unwrap();
        assert_eq!(model.classify(&rows.frame()).unwrap(), [0, 2], "{missing:?}");
        assert_eq!(errors(&model, &data), 0, "{missing:?}");
    }
    let parts = settings(MissingAs::Fractions).fit(&data.view()).unwrap();
    let x = Matrix::from_rows(&[[0.0, f64::NAN]]).unwrap();
    let rows = Table::new(x, data.x.schema().clone()).unwrap();
    let shares = parts.probabilities(&rows.frame()).unwrap();
    assert!(shares[(0, 1)] > 0.1 && shares[(0, 1)] < 0.3, "{shares:?}");
}

/// Rows of noise: columns of levels and random classes.
fn noise(rows: usize, columns: usize, seed: u64) -> OwnedDataset {
    let mut rng = Context::default().with_seed(seed).rng(7);
    let x = Matrix::from_fn(rows, columns, |_, _| sample::below(&mut rng, 2) as f64);
    let names = ["no", "yes"];
    let y: Vec<Label> =
        (0..rows).map(|_| Label::from(names[sample::below(&mut rng, 2) as usize])).collect();
    let levels = || vec!["f".to_string(), "t".to_string()];
    let schema =
        Schema::new((0..columns).map(|j| Column::categorical(format!("x{j}"), levels())).collect());
    let x = Table::new(x, schema.unwrap()).unwrap();
    OwnedDataset { x, y: Some(OwnedTarget::from_labels(&y)), ..OwnedDataset::default() }
}

#[test]
fn random_labels_give_one_leaf_nineteen_times_of_twenty() {
    let learner = ID3Classifier { significance: Some(0.05), ..Default::default() };
    let single = (0..400)
        .filter(|&seed| learner.fit(&noise(200, 1, seed).view()).unwrap().n_leaves == 1)
        .count();
    assert!((365..=395).contains(&single), "{single} of 400");
    let without = (0..50).filter(|&seed| id3(&noise(200, 1, seed).view()).n_leaves == 1).count();
    assert_eq!(without, 0);
}

#[test]
fn random_labels_are_pruned_to_the_root_by_description_length() {
    let learner =
        C45Classifier { pruning: Some(C45Pruning::DescriptionLength), ..Default::default() };
    let roots =
        (0..20).filter(|&s| learner.fit(&noise(200, 6, s).view()).unwrap().n_leaves == 1).count();
    assert!(roots >= 18, "{roots} of 20");
    let flowers = learner.fit(&load("iris").view()).unwrap().n_leaves;
    assert!((3..=5).contains(&flowers), "{flowers}");
}

#[test]
fn pruning_by_other_rows_never_raises_their_error_and_ties_prune() {
    let data = load("vote");
    let (codes, classes) = data.view().class_target().unwrap();
    let (codes, classes) = (codes.to_vec(), classes.len());
    let rows = data.view().nrows();
    let held = |odd: bool| {
        let mut held = multiway::Held::default();
        (0..rows).filter(|i| (i % 2 == 1) == odd).for_each(|i| held.push(i as u32, 1.0));
        held
    };
    let plan = multiway::Plan {
        ratio: true,
        any_gain: false,
        nominal: false,
        least: 1.0,
        correction: true,
        at_values: false,
        missing: MissingAs::Fractions,
        significance: None,
        max_depth: usize::MAX,
        costs: None,
    };
    let run = Context::default();
    let frame = data.x.frame();
    let full = multiway::grow(&plan, &frame, (&codes, classes), held(false), &run).unwrap();
    let loss = |tree: &multiway::MultiTree, losses: &loss::Losses| -> f64 {
        let shares = tree.predict(&frame, &run).unwrap();
        let wrong = |i: usize| {
            let mut counts = vec![0.0; classes];
            counts[codes[i] as usize] = 1.0;
            losses.expected(&counts)[losses.label(shares.row(i)) as usize]
        };
        (0..rows).filter(|i| i % 2 == 1).map(wrong).sum()
    };
    let plain = loss::Losses::default();
    let equal = loss::Losses::new(Some(&vec![vec![0.0, 1.0], vec![1.0, 0.0]]), 2).unwrap();
    let uneven = loss::Losses::new(Some(&vec![vec![0.0, 10.0], vec![1.0, 0.0]]), 2).unwrap();
    let pruned = |losses: &loss::Losses| {
        let mut tree = full.clone();
        multiway::by_validation(&mut tree, &frame, &codes, held(true), losses, &run).unwrap();
        tree.compacted()
    };
    assert_eq!(pruned(&plain), pruned(&equal));
    for losses in [&plain, &uneven] {
        let small = pruned(losses);
        assert!(small.leaves() < full.leaves());
        // Rows with holes reach several leaves, whose mix may vote otherwise than its parts.
        assert!(loss(&small, losses) <= loss(&full, losses) + 1.0, "{losses:?}");
    }
    assert_ne!(pruned(&plain), pruned(&uneven));
}

#[test]
fn costs_choose_the_cheap_column() {
    let data = load("weather_nominal");
    let root = |learner: C45Classifier| {
        let model = C45Classifier { pruning: None, min_samples_leaf: 1, ..learner }
            .fit(&data.view())
            .unwrap();
        data.x.schema().column(model.tree.feature[0] as usize).name.clone()
    };
    let costs = |costs: [f64; 4], cost_rule| C45Classifier {
        costs: Some(costs.to_vec()),
        cost_rule,
        ..Default::default()
    };
    assert_eq!(root(costs([1.0, 2.0, 3.0, 4.0], CostRule::Gain)), "outlook");
    for rule in [CostRule::Gain, CostRule::SquaredGain, CostRule::Information] {
        assert_eq!(root(costs([50.0, 50.0, 1.0, 50.0], rule)), "humidity", "{rule:?}");
    }
    let few = C45Classifier { costs: Some(vec![1.0]), ..Default::default() };
    assert!(few.fit(&data.view()).is_err());
}

#[test]
fn no_category_is_asked_for_twice_on_a_path() {
    let data = load("vote");
    let model = C45Classifier { pruning: None, min_samples_leaf: 1, ..Default::default() }
        .fit(&data.view())
        .unwrap();
    let parents = model.tree.parents();
    for leaf in 0..model.tree.len() {
        let mut asked = Vec::new();
        let mut node = leaf;
        while parents[node] != nodes::NONE {
            node = parents[node] as usize;
            asked.push(model.tree.feature[node]);
        }
        let count = asked.len();
        asked.sort_unstable();
        asked.dedup();
        assert_eq!(asked.len(), count);
    }
}

#[test]
fn unpruned_rules_say_what_the_tree_says_and_pruned_ones_are_shorter() {
    let data = load("breast_cancer");
    let model = C45Classifier::default().fit(&data.view()).unwrap();
    let found = rules::of_multiway(&model.tree).unwrap();
    let x = data.x.frame();
    let classes = model.classify(&x).unwrap();
    for i in 0..x.nrows() {
        let fires = |rule: &&rules::Rule| {
            rule.conditions.iter().all(|c| c.holds(x.values().at(i, c.column)))
        };
        let firing: Vec<&rules::Rule> = found.iter().filter(fires).collect();
        assert_eq!(firing.len(), 1, "row {i}");
        let shares = model.tree.shares(firing[0].node);
        assert_eq!(learnt_core::estimator::first_maximum(&shares), classes[i]);
    }
    let question = &QUESTIONS[1];
    let asked = question.ask(&[], Some(data.view()), Context::default()).unwrap();
    let answer = model.answer(&asked).unwrap();
    let words = |text: &str| text.matches(" and ").count() + 1;
    let before: usize = found.iter().map(|rule| rule.conditions.len()).sum();
    let table = &answer.tables[0];
    let after: usize =
        (0..table.len()).map(|k| words(&table.column("rule").unwrap().text(k))).sum();
    assert!(after < before, "{after} conditions, and {before} before");
    assert!(answer.number("accuracy of the list").unwrap() > 0.9);
}

#[test]
fn binary_trees_say_the_same_by_their_rules_also_where_values_are_missing() {
    for name in ["labor", "vote", "iris"] {
        let data = load(name);
        let model = DecisionTreeClassifier::default().fit(&data.view()).unwrap();
        let found = rules::of_binary(&model.tree).unwrap();
        let leaves = model.apply(&data.x.frame(), &Context::default()).unwrap();
        for (i, &leaf) in leaves.iter().enumerate() {
            let holds = |rule: &&rules::Rule| {
                let value = |c: &rules::Condition| data.x.values()[(i, c.column)];
                rule.conditions.iter().all(|c| c.holds(value(c)))
            };
            let firing: Vec<usize> = found.iter().filter(holds).map(|rule| rule.node).collect();
            assert_eq!(firing, [leaf as usize], "row {i} of {name}");
        }
    }
}
