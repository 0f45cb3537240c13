//! Rounds against the fit in memory, where trees have large nodes, small ones, and little room.

use super::super::options::ForestClassWeight;
use super::super::tests::mixed;
use super::super::{
    ExtraTreesClassifier, ExtraTreesRegressor, ForestModel, RandomForestClassifier,
};
use super::super::{ForestGrowth, MaxSamples, RandomForestRegressor};
use super::*;
use crate::ensemble::DrawFeatures;
use crate::tree::{MaxFeatures, MinSamplesLeaf, TreeClassifierCriterion};
use learnt_core::rounds::{ByteJob, InMemory};

/// Rows of more than one block, whose roots are large nodes.
const ROWS: usize = 20_000;

fn numbers(rows: usize) -> OwnedDataset {
    let data = mixed(rows);
    let at = |i: usize, j: usize| data.x.values()[(i, j)];
    let y: Vec<f64> = (0..rows)
        .map(|i| (3.0 * at(i, 0) + at(i, 3) + at(i, 1) * 0.7).sin() + at(i, 0).powi(2) + 2.0)
        .collect();
    OwnedDataset { x: data.x.clone(), ..OwnedDataset::regression(Matrix::zeros(rows, 1), y) }
}

fn weighted(data: OwnedDataset) -> OwnedDataset {
    let rows = data.view().nrows();
    let weights = (0..rows).map(|i| 0.1 + (i % 13) as f64 / 7.0).collect();
    OwnedDataset { weights: Some(weights), ..data }
}

/// Trees by rounds and in memory, and both scores of rows that trees did not draw.
fn both<E: FitBy<ForestRounds>>(learner: &E, data: &OwnedDataset) -> [E::Model; 2]
where
    E::Model: ForestModel,
{
    let run = Context::default().with_seed(4).with_threads(2);
    let memory = learner.fit_in(&data.view(), &run).unwrap();
    let job = learner.job().unwrap();
    let streamed =
        learnt_core::rounds::drive(job.as_ref(), &InMemory::new(data.view()), &run).unwrap();
    [memory, streamed.take::<E::Model>().unwrap()]
}

fn agree<E: FitBy<ForestRounds>>(learner: &E, data: &OwnedDataset, what: &str)
where
    E::Model: ForestModel,
{
    let [memory, streamed] = both(learner, data);
    for (t, (a, b)) in memory.grown().iter().zip(streamed.grown()).enumerate() {
        assert_eq!(a.feature, b.feature, "{what}: tree {t}");
        assert_eq!(a, b, "{what}: tree {t}");
    }
    assert_eq!(memory.stored(), streamed.stored(), "{what}");
}

#[test]
fn classes_by_rounds_have_the_bits_of_memory() {
    let growth = ForestGrowth { oob_score: true, ..Default::default() };
    let forest = RandomForestClassifier { n_estimators: 3, growth, ..Default::default() };
    agree(&forest, &mixed(ROWS), "defaults");
    agree(&forest, &weighted(mixed(ROWS)), "weights");
    for class_weight in [ForestClassWeight::Balanced, ForestClassWeight::BalancedSubsample] {
        let criterion = TreeClassifierCriterion::Entropy;
        let forest = RandomForestClassifier {
            class_weight: Some(class_weight),
            criterion,
            max_features: MaxFeatures::All,
            ..forest.clone()
        };
        agree(&forest, &weighted(mixed(ROWS)), "balanced");
    }
    let extra = ExtraTreesClassifier { n_estimators: 3, ..Default::default() };
    agree(&extra, &mixed(ROWS), "random cuts");
    agree(&forest, &mixed(300), "few rows");
}

#[test]
fn numbers_by_rounds_have_the_bits_of_memory() {
    let growth = ForestGrowth {
        oob_score: true,
        min_samples_leaf: MinSamplesLeaf::Count(5),
        max_samples: Some(MaxSamples::Fraction(0.8)),
        draw_features: DrawFeatures::Tree,
        ccp_alpha: 1e-4,
        ..Default::default()
    };
    let forest = RandomForestRegressor {
        n_estimators: 3,
        max_features: MaxFeatures::Count(3),
        growth: growth.clone(),
        ..Default::default()
    };
    agree(&forest, &numbers(ROWS), "columns of a tree");
    agree(&forest, &weighted(numbers(ROWS)), "weights");
    // Leaves with more rows than are gathered.
    let shallow = ForestGrowth {
        max_depth: Some(2),
        min_weight_fraction_leaf: 0.01,
        min_impurity_decrease: 1e-4,
        ..Default::default()
    };
    for criterion in [TreeRegressorCriterion::SquaredError, TreeRegressorCriterion::Poisson] {
        let forest = RandomForestRegressor {
            criterion,
            bootstrap: false,
            growth: shallow.clone(),
            ..forest.clone()
        };
        agree(&forest, &weighted(numbers(ROWS)), "large leaves");
    }
    let extra = ExtraTreesRegressor { n_estimators: 3, ..Default::default() };
    agree(&extra, &numbers(ROWS), "random cuts");
}

#[test]
fn columns_that_do_not_vary_are_passed_over_by_rounds_too() {
    let data = mixed(ROWS);
    let x = Matrix::from_fn(ROWS, 8, |i, j| match j {
        2 => data.x.values()[(i, 0)],
        6 => data.x.values()[(i, 1)],
        _ => 1.0,
    });
    let data = OwnedDataset { x: Table::unnamed(x), ..data };
    let forest = RandomForestClassifier {
        n_estimators: 4,
        max_features: MaxFeatures::Count(1),
        ..Default::default()
    };
    agree(&forest, &data, "constant columns");
}

#[test]
fn what_needs_rows_side_by_side_has_no_rounds() {
    let forest = RandomForestClassifier::default();
    assert!(forest.job().is_some());
    let mut exact = forest.clone();
    exact.growth.method = crate::tree::Method::Exact;
    let mut best_first = forest.clone();
    best_first.growth.max_leaf_nodes = Some(9);
    let mut importance = forest;
    importance.growth.oob_importance = true;
    assert!([exact, best_first, importance].iter().all(|forest| forest.job().is_none()));
    let median = RandomForestRegressor {
        criterion: TreeRegressorCriterion::AbsoluteError,
        ..Default::default()
    };
    assert!(median.job().is_none());
    let labels: Vec<Label> = (0..400).map(|i| Label::Int(i % 20)).collect();
    let many =
        OwnedDataset::classification(Matrix::from_fn(400, 2, |i, j| (i * j) as f64), &labels);
    let job = RandomForestClassifier::default().job().unwrap();
    let error =
        learnt_core::rounds::drive(job.as_ref(), &InMemory::new(many.view()), &Context::default());
    assert!(error.err().unwrap().to_string().contains("16 classes"));
}

#[test]
fn tasks_hear_of_no_subtree_and_answer_in_the_bytes_that_a_round_may_ask_for() {
    let growth = ForestGrowth { min_samples_leaf: MinSamplesLeaf::Count(20), ..Default::default() };
    let forest = RandomForestRegressor { n_estimators: 260, growth, ..Default::default() };
    let data = numbers(ROWS);
    let run = Context::default().with_seed(4).with_threads(2);
    let job = ByteJob::new(&forest, &Outline::of(&data.view()), None, &run).unwrap();
    let source = InMemory::new(data.view());
    let blocks: Vec<u64> = (0..job.blocks()).collect();
    let mut state = job.begin(&run).unwrap();
    let (mut sizes, mut answers) = (Vec::new(), Vec::new());
    loop {
        let told = job.for_tasks(&state).unwrap();
        sizes.push((job.to_bytes(&state).unwrap().len(), told.len()));
        let answer = job.task(&told, &source, &blocks, &run).unwrap();
        answers.push(answer.len() as f64 / SUMMARY_BYTES as f64);
        match job.advance(state, &[&answer], &run).unwrap() {
            Step::Again(next) => state = next,
            Step::Done(_) => break,
        }
    }
    let largest = answers.iter().copied().fold(0.0, f64::max);
    assert!((0.95..1.01).contains(&largest), "{answers:?}");
    // The last round asks for the rows that had no room before, when most trees are whole but for these.
    let (whole, told) = sizes[sizes.len() - 1];
    assert!(whole > 4 * told, "{sizes:?}");
}
