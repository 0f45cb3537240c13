use super::*;
use crate::baseline::{DummyRegressor, RegressorStrategy};
use crate::compose::Pipeline;
use crate::linear::Ridge;
use crate::metrics::find;
use crate::neighbors::KNeighborsClassifier;
use crate::prepare::StandardScaler;
use crate::select::{cross_validate, usual_splitter};
use crate::tree::DecisionTreeClassifier;
use learnt_core::context::Observer;
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;

fn cpu() -> OwnedDataset {
    crate::datasets::load("cpu").unwrap()
}

fn iris() -> OwnedDataset {
    crate::datasets::load("iris").unwrap()
}

fn folds(data: &OwnedDataset, k: usize) -> Vec<Split> {
    let view = data.view();
    usual_splitter(&view, k).splits(&view, &Context::default()).unwrap().collect()
}

fn list(name: &str, values: &[f64]) -> (String, Domain) {
    (name.to_string(), Domain::List(values.iter().map(|&x| Value::Real(x)).collect()))
}

fn whole(name: &str, values: &[i64]) -> (String, Domain) {
    (name.to_string(), Domain::List(values.iter().map(|&x| Value::Int(x)).collect()))
}

fn plan<'a>(learner: &'a dyn AnyEstimator, space: &'a Space, method: Method) -> Plan<'a> {
    Plan { learner, preparation: None, space, method, budget: None, one_standard_error: false }
}

#[test]
fn a_grid_has_the_scores_of_direct_calls_on_any_number_of_threads() {
    let data = cpu();
    let splits = folds(&data, 5);
    let metrics = [find("rmse").unwrap(), find("r2").unwrap()];
    let pipeline = Pipeline::default()
        .then("scale", StandardScaler::default())
        .then("model", Ridge::default());
    let space = Space { domains: vec![list("model__alpha", &[0.1, 10.0, 1000.0])] };
    let search = |threads: usize| {
        let run = Context::default().with_threads(threads);
        plan(&pipeline, &space, Method::Grid)
            .run(&data.view(), &splits, &metrics, None, &run)
            .unwrap()
    };
    let found = search(1);
    for tried in &found.tried {
        let mut direct = pipeline.clone();
        direct.set("model__alpha", &tried.setting[0].1).unwrap();
        let direct =
            cross_validate(&direct, &data.view(), &splits, &metrics, &Context::default()).unwrap();
        for m in 0..2 {
            assert_eq!(direct.scores(m), tried.result.as_ref().unwrap().scores(m));
        }
    }
    let means: Vec<f64> = found.tried.iter().map(|tried| tried.mean(0).unwrap()).collect();
    let least = means.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(found.tried[found.best.unwrap()].mean(0), Some(least));
    assert_eq!(found.work, 15.0);
    let again: Vec<Option<f64>> = search(4).tried.iter().map(|tried| tried.mean(0)).collect();
    assert_eq!(again, means.into_iter().map(Some).collect::<Vec<_>>());
}

#[test]
fn a_setting_that_fails_is_a_row_with_its_reason_and_never_the_choice() {
    let data = cpu();
    let splits = folds(&data, 3);
    let metrics = [find("rmse").unwrap()];
    let space = Space { domains: vec![list("alpha", &[-1.0, 1.0])] };
    let ridge = Ridge::default();
    let run = Context::default();
    let search = |space: &Space| {
        plan(&ridge, space, Method::Grid).run(&data.view(), &splits, &metrics, None, &run)
    };
    let found = search(&space).unwrap();
    assert_eq!(found.failures().count(), 1);
    assert_eq!(found.chosen().unwrap()[0].1, Value::Real(1.0));
    let report = found.report("ridge");
    assert!(report.notes.iter().any(|note| note.contains("alpha=-1 failed")), "{report:?}");
    let hopeless = Space { domains: vec![list("alpha", &[-1.0, -2.0])] };
    let error = search(&hopeless).unwrap().chosen().unwrap_err();
    assert!(error.to_string().contains("every setting failed"), "{error}");
    let unknown = Space { domains: vec![list("alhpa", &[1.0])] };
    assert!(search(&unknown).unwrap_err().to_string().contains("alpha"));
}

#[test]
fn one_standard_error_chooses_the_simplest_of_those_near_the_best() {
    let y = (0..40).map(|i| f64::from(i * i % 17)).collect();
    let data = OwnedDataset::regression(Matrix::zeros(40, 1), y);
    let splits = folds(&data, 5);
    let metrics = [find("mae").unwrap()];
    let constants = [40.0, 7.5, 8.0].map(|x| Value::List(vec![Value::Real(x)])).to_vec();
    let space = Space { domains: vec![("constant".to_string(), Domain::List(constants))] };
    let learner =
        DummyRegressor { strategy: RegressorStrategy::Constant, ..DummyRegressor::default() };
    let run = Context::default();
    let best = plan(&learner, &space, Method::Grid);
    let simple = Plan { one_standard_error: true, ..best.clone() };
    let found = simple.run(&data.view(), &splits, &metrics, None, &run).unwrap();
    let (mean, error) =
        (found.tried[2].mean(0).unwrap(), found.tried[2].standard_error(0).unwrap());
    assert!((found.tried[1].mean(0).unwrap() - mean).abs() <= error);
    assert!((found.tried[0].mean(0).unwrap() - mean).abs() > error);
    assert_eq!((found.top, found.best), (Some(2), Some(1)));
    let plain = best.run(&data.view(), &splits, &metrics, None, &run).unwrap();
    assert_eq!(plain.best, Some(2));
}

#[test]
fn the_choice_of_a_nested_search_never_sees_the_outer_test_rows() {
    let data = iris();
    let outer = folds(&data, 3);
    let inner = Splitter::StratifiedKFold { n_splits: 4, shuffle: true };
    let metrics = [find("log-loss").unwrap()];
    let space = Space { domains: vec![whole("max_depth", &[1, 2, 5])] };
    let learner = DecisionTreeClassifier::default();
    let run = Context::default();
    let plan = plan(&learner, &space, Method::Grid);
    let nested = plan.run_nested(&data.view(), (&outer, &inner), &metrics, None, &run).unwrap();
    for (k, split) in outer.iter().enumerate() {
        let child = run.child(k as u64);
        let train = data.view().gather(&split.train);
        let inside: Vec<Split> = inner.splits(&train.view(), &child).unwrap().collect();
        let found = plan.run(&train.view(), &inside, &metrics, None, &child).unwrap();
        let chosen = found.chosen().unwrap();
        assert_eq!(nested.settings[k], Some(chosen.clone()));
        let direct = plan.with(&chosen).unwrap();
        let splits = std::slice::from_ref(split);
        let direct =
            cross_validate(direct.as_ref(), &data.view(), splits, &metrics, &child).unwrap();
        assert_eq!(direct.scores(0)[0], nested.scores.scores(0)[k]);
    }
    // Targets of outer test rows that are all wrong change the score and no choice.
    let mut other = data.clone();
    if let Some(OwnedTarget::Class { codes, .. }) = &mut other.y {
        outer[0].test.iter().for_each(|&row| codes[row] = (codes[row] + 1) % 3);
    }
    let first = &outer[..1];
    let again = plan.run_nested(&other.view(), (first, &inner), &metrics, None, &run).unwrap();
    assert_eq!(again.settings[0], nested.settings[0]);
    assert_ne!(again.scores.scores(0)[0], nested.scores.scores(0)[0]);
}

struct Counter(AtomicUsize);
impl Observer for Counter {
    fn progress(&self, progress: &Progress) -> std::ops::ControlFlow<()> {
        if progress.stage == "searching" {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        std::ops::ControlFlow::Continue(())
    }
}

fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("learnt-search-{}-{name}", std::process::id()))
}

#[test]
fn a_search_that_stopped_goes_on_with_the_same_bits_and_fits_nothing_twice() {
    let data = cpu();
    let splits = folds(&data, 4);
    let metrics = [find("rmse").unwrap()];
    let domain = Domain::range("0.001:1000:real-log").unwrap();
    let space = Space { domains: vec![("alpha".to_string(), domain)] };
    let ridge = Ridge::default();
    let plan = plan(&ridge, &space, Method::Model(16));
    let path = scratch("resume");
    let search = |resume: bool| {
        let counter = Counter(AtomicUsize::new(0));
        let run = Context::default().observed_by(&counter);
        let identity = plan.identity(&data.view(), &splits, &metrics, &run);
        let journal = Journal::open(&path, &identity, resume).unwrap();
        let found = plan.run(&data.view(), &splits, &metrics, Some(&journal), &run).unwrap();
        let scores: Vec<_> =
            found.tried.iter().map(|tried| (tried.setting.clone(), tried.mean(0))).collect();
        (scores, found.best, counter.0.into_inner())
    };
    let (scores, best, fits) = search(false);
    assert_eq!(fits, 64);
    // A kill in the middle of the line of the 31st fit.
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let cut = format!("{}\n{}", lines[..31].join("\n"), &lines[31][..20]);
    std::fs::write(&path, cut).unwrap();
    let again = search(true);
    assert_eq!((&again.0, again.1, again.2), (&scores, best, 34));
    assert_eq!(search(true).2, 0);
    let run = Context::default().with_seed(1);
    let other = plan.identity(&data.view(), &splits, &metrics, &run);
    let error = Journal::open(&path, &other, true).unwrap_err();
    assert_eq!(error.code(), Code::Usage);
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn halving_ends_with_few_settings_on_many_rows_for_less_work() {
    let data = iris();
    let splits = folds(&data, 3);
    let metrics = [find("accuracy").unwrap()];
    let space = Space { domains: vec![whole("n_neighbors", &[1, 2, 3, 4, 5, 6, 7, 8, 9])] };
    let learner = KNeighborsClassifier::default();
    let halving =
        Halving { factor: 3.0, least: Some(16), most: 150, exhaust: true, aggressive: false };
    let method = Method::Halving { draws: None, resource: None, halving: halving.clone() };
    let run = Context::default();
    let found =
        plan(&learner, &space, method).run(&data.view(), &splits, &metrics, None, &run).unwrap();
    let of = |rung: usize| found.tried.iter().filter(|tried| tried.rung == rung).count();
    assert_eq!((of(0), of(1), of(2)), (9, 3, 1));
    assert_eq!(found.tried[found.best.unwrap()].rung, 2);
    assert!(found.work < 27.0 / 2.0, "{}", found.work);
    // Those that go on are the best of their rung.
    let worst_kept = found.tried.iter().filter(|t| t.rung == 1).map(|t| t.setting.clone());
    let means = |setting: &Setting| {
        let tried = found.tried.iter().find(|t| t.rung == 0 && t.setting == *setting);
        tried.and_then(|t| t.mean(0)).unwrap()
    };
    let least = worst_kept.map(|setting| means(&setting)).fold(1.0, f64::min);
    let above = found.tried.iter().filter(|t| t.rung == 0 && t.mean(0).unwrap() > least).count();
    assert!(above < 3);
    // A parameter as resource: the learner gets its value.
    let space = Space { domains: vec![whole("min_samples_leaf", &[1, 5, 20])] };
    let tree = DecisionTreeClassifier::default();
    let halving = Halving { most: 6, least: Some(2), ..halving };
    let method = Method::Halving { draws: None, resource: Some("max_depth".to_string()), halving };
    let found =
        plan(&tree, &space, method).run(&data.view(), &splits, &metrics, None, &run).unwrap();
    let last = &found.tried[found.best.unwrap()];
    assert_eq!((last.rung, last.resource), (1, Some(6)));
    assert_eq!(last.setting.last().unwrap(), &("max_depth".to_string(), Value::Int(6)));
}

#[test]
fn a_budget_is_never_passed_and_what_was_left_out_is_said() {
    let data = cpu();
    let splits = folds(&data, 5);
    let metrics = [find("rmse").unwrap()];
    let space = Space { domains: vec![list("alpha", &[0.1, 1.0, 10.0, 100.0])] };
    let ridge = Ridge::default();
    let plan = Plan { budget: Some(13.0), ..plan(&ridge, &space, Method::Grid) };
    let run = Context::default();
    let found = plan.run(&data.view(), &splits, &metrics, None, &run).unwrap();
    assert_eq!((found.tried.len(), found.left_out, found.work), (2, 2, 10.0));
    let poor = Plan { budget: Some(4.0), ..plan };
    let found = poor.run(&data.view(), &splits, &metrics, None, &run).unwrap();
    assert!(found.chosen().unwrap_err().to_string().contains("budget"));
}
