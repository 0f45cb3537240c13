//! The engine against a naive search, itself, and hard data.

use super::grow::{
    Absolute, Columns, Criterion, Entropy, Gini, Limits, Poisson, Settings, Squared, grow,
};
use super::nodes::{NONE, Tree};
use super::reference_tests::decrease;
use super::*;
use learnt_core::context::Rng;
use learnt_core::persist::{Node, Stored};
use learnt_core::stats::sample;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

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
        limits: Limits { min_rows: 1, min_weight: 0.0, only: None, monotone: None },
        max_features: columns,
        max_leaf_nodes: None,
        min_impurity_decrease: 0.0,
        random: false,
        exhaustive: false,
        surrogates: 0,
        directions: Vec::new(),
        columns_once: false,
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
    fn cuts_that_are_drawn_need_no_order(seed in 0_u64..1_000_000, rows in 2_usize..200, missing: bool, categories: bool, few: bool) {
        let rng = &mut Context::default().with_seed(seed).rng(4);
        let x = random_table(rng, rows, missing, categories);
        let codes: Vec<u32> = (0..rows).map(|_| sample::below(rng, 5) as u32).collect();
        let y: Vec<f64> = (0..rows).map(|_| sample::below(rng, 6) as f64).collect();
        let mut settings = Settings { random: true, max_features: if few { 1 } else { 3 }, ..settings(3) };
        settings.limits.min_rows = 1 + sample::below(rng, 3) as usize;
        let run = Context::default().with_seed(seed);
        let check = |criterion: &dyn Fn(Columns) -> Tree| {
            let sorted = criterion(Columns::sorted(&x.frame(), &run).unwrap());
            assert_eq!(criterion(Columns::unsorted(&x.frame(), &run).unwrap()), sorted);
        };
        check(&|columns| grow(columns, &Gini::new(codes.clone(), 5, None), &settings, &run).unwrap());
        let two: Vec<u32> = codes.iter().map(|code| code % 2).collect();
        check(&|columns| grow(columns, &Gini::new(two.clone(), 2, None), &settings, &run).unwrap());
        check(&|columns| grow(columns, &Entropy::new(codes.clone(), 5, None), &settings, &run).unwrap());
        check(&|columns| grow(columns, &Squared::new(y.clone(), 1, None), &settings, &run).unwrap());
        check(&|columns| grow(columns, &Absolute::new(y.clone(), 1, None), &settings, &run).unwrap());
    }

    #[test]
    fn a_weight_of_two_is_a_repeated_row(seed in 0_u64..1_000_000, rows in 2_usize..60) {
        let rng = &mut Context::default().with_seed(seed).rng(3);
        let x = random_table(rng, rows, true, true);
        let y: Vec<f64> = (0..rows).map(|_| sample::below(rng, 6) as f64).collect();
        let weights: Vec<f64> = (0..rows).map(|_| (1 + sample::below(rng, 3)) as f64).collect();
        let repeated: Vec<usize> = (0..rows).flat_map(|i| vec![i; weights[i] as usize]).collect();
        let target = OwnedTarget::Real(Matrix::column_vector(y));
        let once = OwnedDataset { x, y: Some(target), weights: Some(weights), ..OwnedDataset::default() };
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
        DecisionTreeClassifier {
            growth: Growth { method: Method::Histogram, ..Growth::default() },
            ..Default::default()
        },
        DecisionTreeClassifier {
            growth: Growth { max_features: MaxFeatures::Count(1), ..Growth::default() },
            ..Default::default()
        },
        DecisionTreeClassifier { splitter: Splitter::Random, ..Default::default() },
        DecisionTreeClassifier {
            growth: Growth { max_leaf_nodes: Some(50), ..Growth::default() },
            ..Default::default()
        },
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

/// Of many columns few are looked at, and small nodes grow where they are.
#[test]
fn any_number_of_threads_gives_the_same_tree_of_many_columns() {
    let mut rng = Context::default().rng(0);
    let x = Matrix::from_fn(9000, 300, |_, _| sample::uniform(&mut rng));
    let labels: Vec<Label> =
        x.rows().map(|row| Label::Bool(row[0] + row[7] > row[150] + row[1])).collect();
    let data = OwnedDataset::classification(x, &labels);
    for splitter in [Splitter::Best, Splitter::Random] {
        for count in [1, 17, 300] {
            let growth = Growth { max_features: MaxFeatures::Count(count), ..Growth::default() };
            let learner = DecisionTreeClassifier { splitter, growth, ..Default::default() };
            let fit = |threads| {
                learner.fit_in(&data.view(), &Context::default().with_threads(threads)).unwrap()
            };
            let one = fit(1);
            assert!(one.n_leaves > 100);
            assert_eq!(one, fit(3), "{count} columns, {splitter:?}");
        }
    }
}

#[test]
fn rows_reach_the_leaf_that_they_trained() {
    let data = large(3_000);
    for splitter in [Splitter::Best, Splitter::Random] {
        for method in [Method::Exact, Method::Histogram] {
            let learner = DecisionTreeClassifier {
                splitter,
                growth: Growth { method, max_bins: 40, ..Growth::default() },
                ..Default::default()
            };
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
    let few = DecisionTreeClassifier {
        growth: Growth { max_features: MaxFeatures::Sqrt, ..Growth::default() },
        ..Default::default()
    };
    assert_ne!(fit(&few, 0), fit(&few, 1));
}

#[test]
fn best_first_without_a_real_limit_is_depth_first() {
    let data = large(2_000);
    let depth_first = DecisionTreeClassifier::default().fit(&data.view()).unwrap();
    let limit = DecisionTreeClassifier {
        growth: Growth { max_leaf_nodes: Some(100_000), ..Growth::default() },
        ..Default::default()
    };
    assert_eq!(limit.fit(&data.view()).unwrap(), depth_first);
    let ten = DecisionTreeClassifier {
        growth: Growth { max_leaf_nodes: Some(10), ..Growth::default() },
        ..Default::default()
    };
    assert_eq!(ten.fit(&data.view()).unwrap().n_leaves, 10);
}

#[test]
fn limits_on_nodes_hold() {
    let data = large(1_000);
    let learner = DecisionTreeClassifier {
        growth: Growth {
            min_samples_split: MinSamplesSplit::Fraction(0.05),
            min_samples_leaf: MinSamplesLeaf::Count(7),
            min_weight_fraction_leaf: 0.02,
            max_depth: Some(6),
            ..Growth::default()
        },
        ..Default::default()
    };
    let tree = learner.fit(&data.view()).unwrap().tree;
    assert!(tree.depth() <= 6 && tree.len() > 5);
    for node in 0..tree.len() {
        assert!(tree.rows[node] >= 20);
        assert!(tree.is_leaf(node) || tree.rows[node] >= 50);
    }
    let five = DecisionTreeClassifier {
        growth: Growth { min_samples_split: MinSamplesSplit::Count(5), ..Growth::default() },
        ..Default::default()
    };
    let tree = five.fit(&data.view()).unwrap().tree;
    assert!((0..tree.len()).all(|node| tree.is_leaf(node) || tree.rows[node] >= 5));
    let strict = DecisionTreeClassifier {
        growth: Growth { min_impurity_decrease: 0.01, ..Growth::default() },
        ..Default::default()
    };
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
    assert!(!again.report().unwrap().to_text().is_empty());
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
        let learner = DecisionTreeRegressor {
            growth: Growth { method, ..Growth::default() },
            ..Default::default()
        };
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
        let learner = DecisionTreeClassifier {
            growth: Growth { method, ..Growth::default() },
            ..Default::default()
        };
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
        growth: Growth { method: Method::Histogram, ..Growth::default() },
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
