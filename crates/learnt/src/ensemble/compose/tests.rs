//! Ensembles of any learners against worked examples and reference numbers.

use super::*;
use crate::bayes::GaussianNB;
use crate::ensemble::golden::{case, dataset, near, numbers};
use crate::ensemble::{ExtraTreesRegressor, RandomForestRegressor};
use crate::linear::{LinearRegression, LogisticRegression};
use crate::neighbors::KNeighborsClassifier;
use crate::tree::{DecisionTreeClassifier, DecisionTreeRegressor, Growth};
use learnt_core::answer::Series;
use learnt_core::estimator::Described;
use learnt_core::trained::Trained;

fn ten_points() -> OwnedDataset {
    let case = case("adaboost-m1-ten-points");
    let x = Matrix::column_vector(numbers(&case["input"]["x"]));
    let labels: Vec<Label> =
        numbers(&case["input"]["y"]).iter().map(|&y| Label::Int(y as i64)).collect();
    OwnedDataset::classification(x, &labels)
}

/// Numbers of a column of an answer.
fn column(answer: &Answer, name: &str) -> Vec<f64> {
    let found = answer.tables[0].columns.iter().find(|column| column.name == name).unwrap();
    match &found.data {
        Series::Reals(numbers) => numbers.clone(),
        _ => panic!("no numbers"),
    }
}

fn trace(model: &AdaBoostClassifierModel, data: &OwnedDataset) -> Answer {
    let question = &AdaBoostClassifierModel::QUESTIONS[0];
    let asked = question.ask(&[], Some(data.view()), Context::default()).unwrap();
    model.answer(&asked).unwrap()
}

#[test]
fn ten_points_are_boosted_as_in_the_notes() {
    let case = case("adaboost-m1-ten-points");
    let data = ten_points();
    let learner = AdaBoostClassifier { n_estimators: 3, ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    let expect = &case["expect"];
    let compare = |got: &[f64], key: &str| {
        let expected = numbers(&expect[key]);
        assert_eq!(got.len(), expected.len(), "{key}");
        got.iter().zip(expected).for_each(|(a, b)| near(*a, b, 1e-9, key));
    };
    compare(&model.estimator_errors, "err");
    compare(&model.estimator_weights, "alpha");
    let answer = trace(&model, &data);
    compare(&column(&answer, "half weight"), "half_alpha");
    compare(&column(&answer, "bound"), "product_Z");
    compare(&column(&answer, "training error"), "training_error");
    let shares = column(&answer, "wrong share after");
    assert!(shares.iter().all(|share| (share - 0.5).abs() < 1e-12), "{shares:?}");
    let question = model.questions().iter().find(|q| q.name == "row_weights").unwrap();
    let asked = question.ask(&[], Some(data.view()), Context::default()).unwrap();
    let answer = model.answer(&asked).unwrap();
    let Some(Datum::Matrix(weights)) = answer.value("weights") else { panic!("no matrix") };
    compare(weights.row(1), "weights_after_1");
    assert!(column(&answer, "margin").iter().all(|margin| *margin > 0.0));
}

#[test]
fn ten_rounds_on_breast_cancer_agree_with_scikit_learn() {
    let case = case("adaboost-breast-cancer");
    let mut input = case.clone();
    input["input"]["features"] = serde_json::Value::Null;
    let data = dataset(&input);
    let learner = AdaBoostClassifier { n_estimators: 10, ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    for (key, got) in [("err", &model.estimator_errors), ("alpha", &model.estimator_weights)] {
        let expected = numbers(&case["expect"][key]);
        got.iter().zip(expected).for_each(|(a, b)| near(*a, b, 1e-6, key));
    }
    let rows = data.nrows() as f64;
    let wrong = column(&trace(&model, &data), "training error");
    let expected = numbers(&case["expect"]["training_errors"]);
    wrong.iter().zip(expected).for_each(|(a, b)| near(a * rows, b, 1e-6, "training errors"));
}

trait Rows {
    fn nrows(&self) -> usize;
}

impl Rows for OwnedDataset {
    fn nrows(&self) -> usize {
        self.x.values().nrows()
    }
}

#[test]
fn stage_weights_are_functions_of_the_error() {
    let case = case("adaboost-stage-weights");
    let learner = AdaBoostClassifier::default();
    let errors = numbers(&case["input"]["err"]);
    for (error, expected) in errors.iter().zip(numbers(&case["expect"]["alpha"])) {
        near(0.5 * learner.weight(*error, 2), expected, 1e-9, "alpha");
    }
}

#[test]
fn with_two_classes_m1_is_samme() {
    let data = ten_points();
    let fit = |algorithm| {
        let learner = AdaBoostClassifier { algorithm, ..Default::default() };
        learner.fit(&data.view()).unwrap().probabilities(&data.x.frame()).unwrap()
    };
    assert_eq!(fit(AdaBoostAlgorithm::Samme), fit(AdaBoostAlgorithm::M1));
}

#[test]
fn samme_goes_on_where_m1_must_stop() {
    let x = Matrix::from_fn(90, 1, |i, _| (i % 6) as f64);
    let labels: Vec<Label> = (0..90).map(|i| Label::Int([0, 1, 2, 0, 1, 2][i % 6])).collect();
    let data = OwnedDataset::classification(x, &labels);
    let m1 = AdaBoostClassifier { algorithm: AdaBoostAlgorithm::M1, ..Default::default() };
    assert_eq!(m1.fit(&data.view()).unwrap_err().code(), Code::Undefined);
    let samme = AdaBoostClassifier::default().fit(&data.view()).unwrap();
    assert!(samme.estimator_weights.len() > 3);
}

#[test]
fn learners_that_count_weights_as_rows_are_boosted() {
    let data = crate::datasets::load("iris").unwrap();
    let estimator = Some(KNeighborsClassifier::default().into());
    let learner = AdaBoostClassifier { estimator, n_estimators: 5, ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    let view = data.view();
    let (codes, _) = view.class_target().unwrap();
    let found = model.classify(&data.x.frame()).unwrap();
    assert!(found.iter().zip(codes).filter(|(a, b)| a == b).count() > 140);
}

#[test]
fn voting_rules_agree_with_the_reference() {
    let case = case("voting-rules");
    let shares = numbers(&case["input"]["proba"]);
    // Members that always say a given distribution: priors of a dummy on four data sets.
    let data_of = |row: &[f64]| {
        let counts: Vec<usize> = row.iter().map(|p| (p * 20.0).round() as usize).collect();
        let labels: Vec<Label> =
            counts.iter().enumerate().flat_map(|(k, &n)| vec![Label::Int(k as i64); n]).collect();
        OwnedDataset::classification(Matrix::zeros(labels.len(), 1), &labels)
    };
    let dummy = crate::baseline::DummyClassifier::default();
    let parts = || -> Vec<Fitted> {
        shares
            .chunks(3)
            .map(|row| Fitted::fit(&dummy, "m", &data_of(row).view(), &Context::default()).unwrap())
            .collect()
    };
    let model = |voting, weights: Vec<f64>| VotingClassifierModel {
        voting,
        weights,
        parts: parts(),
        classes: [0, 1, 2].map(Label::Int).to_vec(),
    };
    let one = Table::unnamed(Matrix::zeros(1, 1));
    let votes = |voting, weights| model(voting, weights).classify(&one.frame()).unwrap()[0];
    assert_eq!(votes(Voting::Hard, vec![1.0; 4]), 1);
    assert_eq!(votes(Voting::Hard, numbers(&case["input"]["weights"])), 0);
    assert_eq!(votes(Voting::Soft, vec![1.0; 4]), 1);
    let mean = model(Voting::Soft, vec![1.0; 4]).probabilities(&one.frame()).unwrap();
    for (a, b) in mean.row(0).iter().zip(numbers(&case["expect"]["mean_probability"])) {
        near(*a, b, 1e-9, "mean");
    }
}

#[test]
fn wrong_weights_and_names_are_refused() {
    let data = crate::datasets::load("iris").unwrap();
    let named = |name: &str| Named::new(name, GaussianNB::default());
    let twice = VotingClassifier { estimators: vec![named("a"), named("a")], ..Default::default() };
    assert!(twice.fit(&data.view()).unwrap_err().message().contains("estimators"));
    let weights = Some(vec![1.0, -1.0]);
    let estimators = vec![named("a"), named("b")];
    let voting = VotingClassifier { estimators, weights, ..Default::default() };
    assert!(voting.fit(&data.view()).unwrap_err().message().contains("weights"));
    assert!(VotingClassifier::default().fit(&data.view()).is_err());
}

#[test]
fn fixed_resamples_give_the_reference_means_and_out_of_bag_means() {
    let case = case("bagging-fixed-resamples");
    let x = Matrix::column_vector(numbers(&case["input"]["X"]));
    let data = OwnedDataset::regression(x, numbers(&case["input"]["y"]));
    let growth = Growth { max_depth: Some(1), ..Default::default() };
    let stump = DecisionTreeRegressor { growth, ..Default::default() };
    let resamples: Vec<Vec<f64>> =
        case["input"]["resamples"].as_array().unwrap().iter().map(numbers).collect();
    let mut parts = Vec::new();
    let mut drawn = Vec::new();
    for (rows, expected) in
        resamples.iter().zip(case["expect"]["member_predictions"].as_array().unwrap())
    {
        let mut counts = vec![0_u32; 6];
        rows.iter().for_each(|&row| counts[row as usize] += 1);
        let weights: Vec<f64> = counts.iter().map(|&count| f64::from(count)).collect();
        let view = data.view();
        let part =
            Fitted::fit(&stump, "m", &view.with_weights(&weights), &Context::default()).unwrap();
        let found = predictions_of(&part, &data.x.frame(), &Context::default()).unwrap();
        found.iter().zip(numbers(expected)).for_each(|(a, b)| near(*a, b, 1e-9, "member"));
        parts.push(part);
        drawn.push(counts);
    }
    let columns = vec![vec![0]; 3];
    let mean = |out_of_bag: Option<&[Vec<u32>]>| {
        let run = Context::default();
        let frame = data.x.frame();
        bagging::mean_over(&parts, &columns, &frame, 1, out_of_bag, &run, |part, x, run| {
            predictions_of(part, x, run).map(Matrix::column_vector)
        })
        .unwrap()
        .column(0)
    };
    let all = mean(None);
    all.iter().zip(numbers(&case["expect"]["bagged"])).for_each(|(a, b)| near(*a, b, 1e-9, "all"));
    let out = mean(Some(&drawn));
    for (a, b) in out.iter().zip(case["expect"]["oob"].as_array().unwrap()) {
        match b.as_f64() {
            Some(b) => near(*a, b, 1e-9, "out of bag"),
            None => assert!(a.is_nan()),
        }
    }
}

#[test]
fn bagging_halves_the_error_of_an_unpruned_tree() {
    let case = case("bagging-gain");
    let data = dataset(&case);
    let view = data.view();
    let y = view.real_target().unwrap().column(0);
    let error = |model: &dyn Regressor, rows: &[usize]| {
        let found = model.predict(&data.x.frame().gather(rows).frame()).unwrap();
        let pairs = rows.iter().zip(found.as_slice());
        pairs.map(|(&i, f)| (y[i] - f).powi(2)).sum::<f64>()
    };
    let (mut single, mut bagged) = (0.0, 0.0);
    for repeat in 0..5 {
        let train: Vec<usize> = (0..442).filter(|i| (i * 7 + repeat * 3) % 9 < 6).collect();
        let test: Vec<usize> = (0..442).filter(|i| (i * 7 + repeat * 3) % 9 >= 6).collect();
        let part = view.gather(&train);
        single += error(&DecisionTreeRegressor::default().fit(&part.view()).unwrap(), &test);
        let share = BaggingShare { n_estimators: 100, ..Default::default() };
        let learner = BaggingRegressor { share, ..Default::default() };
        bagged += error(&learner.fit(&part.view()).unwrap(), &test);
    }
    let ratio = bagged / single;
    assert!((0.35..=0.75).contains(&ratio), "{ratio}");
}

#[test]
fn bags_score_the_rows_that_members_did_not_draw_and_draw_columns_too() {
    let data = crate::datasets::load("iris").unwrap();
    let share = BaggingShare { n_estimators: 15, oob_score: true, ..Default::default() };
    let learner = BaggingClassifier { share, ..Default::default() };
    let bag = learner.fit(&data.view()).unwrap();
    assert!(bag.oob_score.unwrap() > 0.9);
    assert_eq!(bag.oob_decision_function.nrows(), 150);
    let few = BaggingShare {
        max_features: BaggingSize::Count(2),
        max_samples: BaggingSize::Fraction(0.5),
        bootstrap: false,
        bootstrap_features: true,
        ..Default::default()
    };
    let learner = BaggingClassifier { share: few, ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    let parts = Model::parts(&model, data.x.schema(), &[]).unwrap();
    assert!(parts.iter().all(|part| part.schema.len() == 2));
    assert!(model.classify(&data.x.frame()).is_ok());
}

#[test]
fn a_member_that_fails_names_itself() {
    let data = crate::datasets::load("iris").unwrap();
    let share = BaggingShare { max_samples: BaggingSize::Count(1), ..Default::default() };
    let estimator = LogisticRegression::default().into();
    let learner = BaggingClassifier { estimator, share };
    let error = learner.fit(&data.view()).unwrap_err();
    assert!(error.to_string().contains("member"), "{error}");
}

#[test]
fn stacks_beat_their_weakest_member_and_pass_columns_through() {
    let data = crate::datasets::load("iris").unwrap();
    let estimators = vec![
        Named::new("tree", DecisionTreeClassifier::default()),
        Named::new("bayes", GaussianNB::default()),
    ];
    for passthrough in [false, true] {
        let learner = StackingClassifier {
            estimators: estimators.clone(),
            passthrough,
            ..Default::default()
        };
        let model = learner.fit(&data.view()).unwrap();
        let view = data.view();
        let (codes, _) = view.class_target().unwrap();
        let found = model.classify(&data.x.frame()).unwrap();
        assert!(found.iter().zip(codes).filter(|(a, b)| a == b).count() >= 143);
    }
}

#[test]
fn stacked_rows_are_predicted_by_members_that_did_not_see_them() {
    // A member that remembers its rows would stack perfectly if it had seen them.
    let rows = 200;
    let x = Matrix::from_fn(rows, 1, |i, _| i as f64);
    let y: Vec<f64> = (0..rows).map(|i| ((i * 7919) % 101) as f64).collect();
    let data = OwnedDataset::regression(x, y.clone());
    let estimators = vec![Named::new("tree", DecisionTreeRegressor::default())];
    let final_estimator = LinearRegression::default().into();
    let learner = StackingRegressor { estimators, final_estimator, ..Default::default() };
    let found = learner.fit(&data.view()).unwrap().predict(&data.x.frame()).unwrap();
    let error: f64 = y.iter().zip(found.as_slice()).map(|(y, f)| (y - f).powi(2)).sum();
    let mean = y.iter().sum::<f64>() / rows as f64;
    let spread: f64 = y.iter().map(|y| (y - mean).powi(2)).sum();
    assert!(error > 0.5 * spread, "{}", error / spread);
}

#[test]
fn boosted_regressors_beat_their_learner() {
    let x = Matrix::from_fn(400, 1, |i, _| i as f64);
    let y: Vec<f64> = (0..400).map(|i| (i as f64 / 25.0).sin()).collect();
    let data = OwnedDataset::regression(x, y.clone());
    let run = Context::default();
    let alone = ada_boost_regressor::small_tree();
    let alone = Fitted::fit(&*alone, "alone", &data.view(), &run).unwrap();
    let error = |found: Vec<f64>| y.iter().zip(found).map(|(y, f)| (y - f).powi(2)).sum::<f64>();
    let one = error(predictions_of(&alone, &data.x.frame(), &run).unwrap());
    for loss in [AdaBoostLoss::Linear, AdaBoostLoss::Square, AdaBoostLoss::Exponential] {
        let learner = AdaBoostRegressor { loss, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        let many = error(model.predict(&data.x.frame()).unwrap().column(0));
        assert!(many < 0.8 * one, "{loss:?}: {many} and {one}");
    }
}

#[test]
fn draws_are_the_rows_that_members_were_fitted_on() {
    // Nothing to split: every member predicts the mean of what it drew.
    let y: Vec<f64> = (0..40).map(|i| f64::from(i * i)).collect();
    let data = OwnedDataset::regression(Matrix::zeros(40, 1), y.clone());
    let bag = BaggingRegressor {
        share: BaggingShare { max_samples: BaggingSize::Count(25), ..Default::default() },
        ..Default::default()
    };
    let forest = RandomForestRegressor { n_estimators: 6, ..Default::default() };
    let all = ExtraTreesRegressor { n_estimators: 2, ..Default::default() };
    let mut large = bag.clone();
    large.share.max_samples = BaggingSize::Count(90);
    let learners: [(&dyn AnyEstimator, usize, usize); 4] =
        [(&bag, 10, 25), (&large, 10, 90), (&forest, 6, 40), (&all, 2, 40)];
    for (learner, members, rows) in learners {
        let run = Context::default().with_seed(7);
        let trained = Trained::fit(learner, &data.view(), &[], &run).unwrap();
        let draws = crate::draws(&trained).unwrap().unwrap();
        let parts = crate::parts(&trained).unwrap();
        assert_eq!((draws.len(), parts.len()), (members, members));
        for (drawn, part) in draws.iter().zip(&parts) {
            assert_eq!(drawn.len(), rows);
            let mean = drawn.iter().map(|&row| y[row as usize]).sum::<f64>() / rows as f64;
            let model = part.value.model.as_regressor().unwrap();
            let said = model.predict_in(&data.x.frame(), &run).unwrap();
            assert!((said[(0, 0)] - mean).abs() < 1e-9);
        }
    }
    large.share.bootstrap = false;
    assert!(large.fit(&data.view()).unwrap_err().message().contains("without replacement"));
}
