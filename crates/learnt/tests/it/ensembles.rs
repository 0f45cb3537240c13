//! Ensembles as a whole: boosting by rounds has the bits of boosting in memory whatever is asked for, larger
//! models have the bits of fits from the start, and odd input has a defined answer or is refused in words.

use learnt::author::*;
use learnt::persist::file;
use learnt::rounds::{InMemory, Source, drive};
use learnt::trained::Trained;

/// Deterministic numbers from 0 to 1.
fn noise(i: usize, j: usize) -> f64 {
    let mut z = (i as u64 * 131 + j as u64 * 29 + 7).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((z ^ (z >> 27)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Two quantities with gaps, a category of many levels, a constant and an empty column; `classes` of 0 means
/// numbers above zero.
fn mixed(rows: usize, levels: usize, classes: usize) -> OwnedDataset {
    let names: Vec<String> = (0..levels).map(|l| format!("level {l}")).collect();
    let schema = Schema::new(vec![
        Column::numeric("a"),
        Column::numeric("b"),
        Column::categorical("c", names),
        Column::numeric("constant"),
        Column::numeric("empty"),
    ]);
    let value = |i: usize, j: usize| match j {
        0 if i.is_multiple_of(13) => f64::NAN,
        1 => (noise(i, 1) * 40.0).floor(),
        2 if i.is_multiple_of(17) => f64::NAN,
        2 => ((noise(i, 2) * noise(i, 3)) * levels as f64).floor(),
        3 => 4.5,
        4 => f64::NAN,
        _ => noise(i, j),
    };
    let x = Matrix::from_fn(rows, 5, value);
    let known = |value: f64| if value.is_nan() { 0.3 } else { value };
    let f = |i: usize| {
        let level = known(x[(i, 2)]) as usize;
        known(x[(i, 0)]) + 0.02 * x[(i, 1)] + noise(level, 5) + 0.3 * noise(i, 6)
    };
    let y = match classes {
        0 => OwnedTarget::Real(Matrix::column_vector((0..rows).map(f).collect())),
        _ => {
            let label = |i: usize| Label::Int((f(i) * classes as f64 / 3.2) as i64);
            OwnedTarget::from_labels(&(0..rows).map(label).collect::<Vec<_>>())
        }
    };
    let x = Table::new(x, schema.unwrap()).unwrap();
    OwnedDataset { x, y: Some(y), ..OwnedDataset::default() }
}

fn learner(path: &str, params: &[(&str, &str)]) -> Box<dyn AnyEstimator> {
    let mut learner = (learnt::find(path).unwrap().build)();
    for (name, value) in params {
        learner.set(name, &Value::parse(value)).unwrap();
    }
    learner
}

fn bytes(model: &dyn Model) -> Vec<u8> {
    file::to_bytes(model.stored()).unwrap()
}

/// Blocks that cannot be asked for again: whatever is needed later must be remembered or read once more.
struct Once<'a> {
    inner: InMemory<'a>,
    reads: std::sync::Mutex<usize>,
}

impl Source for Once<'_> {
    fn outline(&self) -> Outline<'_> {
        self.inner.outline()
    }
    fn with(&self, index: u64, f: &mut dyn FnMut(&Block) -> Result<()>) -> Result<()> {
        *self.reads.lock().unwrap() += 1;
        self.inner.with(index, f)
    }
}

/// A learner, its number of classes, and parameters.
type Case<'a> = (&'a str, usize, &'a [(&'a str, &'a str)]);

#[test]
fn boosting_by_rounds_has_the_bits_of_boosting_in_memory_whatever_is_asked_for() {
    let classifier = "ensemble.HistGradientBoostingClassifier";
    let regressor = "ensemble.HistGradientBoostingRegressor";
    let few = ("max_iter", "6");
    let cases: &[Case] = &[
        (classifier, 2, &[few, ("class_weight", "balanced")]),
        (classifier, 3, &[few, ("max_features", "0.5")]),
        (classifier, 2, &[few, ("max_leaf_nodes", "none"), ("max_depth", "3")]),
        (
            classifier,
            4,
            &[few, ("early_stopping", "true"), ("n_iter_no_change", "1"), ("tol", "0.02")],
        ),
        (regressor, 0, &[few, ("max_bins", "16"), ("max_leaf_nodes", "4")]),
        (regressor, 0, &[few, ("loss", "poisson"), ("l2_regularization", "1.5")]),
        (regressor, 0, &[few, ("loss", "gamma"), ("early_stopping", "false")]),
        (regressor, 0, &[few, ("monotonic_cst", "[1, -1, 0, 0, 0]")]),
        (regressor, 0, &[few, ("interaction_cst", "[[0, 1], [2]]"), ("min_samples_leaf", "200")]),
        (regressor, 0, &[few, ("validation_fraction", "none"), ("early_stopping", "true")]),
    ];
    let rows = 37_000;
    for (case, &(path, classes, params)) in cases.iter().enumerate() {
        let mut data = mixed(rows, if case % 2 == 0 { 12 } else { 400 }, classes);
        if case % 3 == 0 {
            data.weights = Some((0..rows).map(|i| 0.25 + noise(i, 8)).collect());
        }
        let learner = learner(path, params);
        let run = Context::default().with_threads(2).with_seed(3);
        let whole = learner.fit_any(&data.view(), &run).unwrap();
        let job = learner.any_job().unwrap();
        let source = Once { inner: InMemory::new(data.view()), reads: std::sync::Mutex::new(0) };
        let done = drive(job.as_ref(), &source, &run).unwrap();
        let model = job.model(done).unwrap();
        assert!(bytes(model.as_ref()) == bytes(whole.as_ref()), "{path} {params:?}");
        // Once for cuts, once for ends, once to be put into bins.
        let reads = *source.reads.lock().unwrap();
        assert_eq!(reads as u64, 3 * source.blocks(), "{path} {params:?}");
    }
}

#[test]
fn more_than_the_sampled_rows_give_the_same_cuts_by_rounds() {
    let data = mixed(230_000, 9, 2);
    let learner = learner("ensemble.HistGradientBoostingClassifier", &[("max_iter", "2")]);
    let run = Context::default().with_threads(2);
    let whole = learner.fit_any(&data.view(), &run).unwrap();
    let job = learner.any_job().unwrap();
    let done = drive(job.as_ref(), &InMemory::new(data.view()), &run).unwrap();
    assert!(bytes(job.model(done).unwrap().as_ref()) == bytes(whole.as_ref()));
}

#[test]
fn a_pipeline_before_boosting_has_the_same_bits_in_memory_and_from_a_stream() {
    let data = mixed(17_500, 150, 2);
    let boost = learnt::ensemble::HistGradientBoostingClassifier {
        growth: learnt::ensemble::HistGrowth {
            max_iter: 2,
            max_depth: Some(2),
            ..Default::default()
        },
        ..Default::default()
    };
    // One-hot makes the table wider than that of the source, whose blocks are longer then. Quantities stay one
    // column each.
    let columns = learnt::compose::ColumnTransformer {
        remainder: learnt::compose::Remainder::Passthrough,
        ..Default::default()
    };
    let pipeline = learnt::compose::Pipeline::default()
        .then(
            "fill",
            learnt::prepare::SimpleImputer { keep_empty_features: true, ..Default::default() },
        )
        .then("levels", columns.with("one-hot", learnt::prepare::OneHotEncoder::default(), &["c"]))
        .then("boost", boost);
    let run = Context::default().with_threads(2);
    let whole = pipeline.fit_any(&data.view(), &run).unwrap();
    let job = pipeline.any_job().unwrap();
    let done = drive(job.as_ref(), &InMemory::new(data.view()), &run).unwrap();
    assert!(bytes(job.model(done).unwrap().as_ref()) == bytes(whole.as_ref()));
}

#[test]
fn quantiles_of_leaves_have_the_same_bits_in_memory_and_from_a_stream() {
    let run = Context::default().with_threads(2).with_seed(2);
    let median = [("loss", "absolute_error"), ("max_iter", "5")];
    let upper = [("loss", "quantile"), ("quantile", "0.9"), ("max_iter", "5")];
    for settings in [&median[..], &upper[..]] {
        let learner = learner("ensemble.HistGradientBoostingRegressor", settings);
        let plain = mixed(17_500, 6, 0);
        let weights = (0..17_500).map(|i| 0.25 + (i % 7) as f64 / 3.0).collect();
        let weighted = OwnedDataset { weights: Some(weights), ..mixed(17_500, 6, 0) };
        for data in [plain, weighted] {
            let whole = learner.fit_any(&data.view(), &run).unwrap();
            let job = learner.any_job().unwrap();
            let done = drive(job.as_ref(), &InMemory::new(data.view()), &run).unwrap();
            assert!(bytes(job.model(done).unwrap().as_ref()) == bytes(whole.as_ref()));
        }
    }
}

#[test]
fn larger_models_have_the_bits_of_fits_from_the_start() {
    let cases = [
        ("ensemble.HistGradientBoostingClassifier", "max_iter", 3),
        ("ensemble.HistGradientBoostingRegressor", "max_iter", 0),
        ("ensemble.GradientBoostingClassifier", "n_estimators", 3),
        ("ensemble.GradientBoostingRegressor", "n_estimators", 0),
        ("ensemble.RandomForestClassifier", "n_estimators", 3),
        ("ensemble.RandomForestRegressor", "n_estimators", 0),
        ("ensemble.ExtraTreesClassifier", "n_estimators", 3),
        ("ensemble.ExtraTreesRegressor", "n_estimators", 0),
        ("ensemble.BaggingClassifier", "n_estimators", 3),
        ("ensemble.BaggingRegressor", "n_estimators", 0),
    ];
    let run = Context::default().with_threads(2).with_seed(4);
    for (path, count, classes) in cases {
        let data = mixed(400, 6, classes);
        let entry = learnt::find(path).unwrap();
        assert!(entry.about.uses.extends, "{path}");
        let fit =
            |n: &str| Trained::fit(learner(path, &[(count, n)]).as_ref(), &data.view(), &[], &run);
        let (small, large) = (fit("3").unwrap(), fit("8").unwrap());
        let bigger = learner(path, &[(count, "8")]);
        let grown = small.extended(bigger.as_ref(), &data.view(), &[], &run).unwrap();
        assert!(bytes(grown.model.as_ref()) == bytes(large.model.as_ref()), "{path}");
        let refused =
            large.extended(learner(path, &[(count, "3")]).as_ref(), &data.view(), &[], &run);
        let error = refused.unwrap_err().to_string();
        assert!(error.contains(count) && error.contains("at least 8"), "{path}: {error}");
    }
    let plain = learner("linear_model.Ridge", &[]);
    let numbers = OwnedDataset::regression(Matrix::from_fn(50, 2, noise), vec![1.0; 50]);
    let trained = Trained::fit(plain.as_ref(), &numbers.view(), &[], &run).unwrap();
    let refused = trained.extended(plain.as_ref(), &numbers.view(), &[], &run).unwrap_err();
    assert_eq!(refused.code(), Code::Unsupported);
}

const OF_TREES: [&str; 7] = [
    "ensemble.HistGradientBoostingClassifier",
    "ensemble.GradientBoostingClassifier",
    "ensemble.RandomForestClassifier",
    "ensemble.ExtraTreesClassifier",
    "ensemble.BaggingClassifier",
    "ensemble.AdaBoostClassifier",
    "tree.DecisionTreeClassifier",
];

/// Fits with few members.
fn fitted(path: &str, params: &[(&str, &str)], data: &Dataset) -> Result<Trained> {
    let mut learner = learner(path, &[]);
    for (name, value) in params.iter().copied().chain([("n_estimators", "5"), ("max_iter", "5")]) {
        if learner.specs().iter().any(|spec| spec.name == name) {
            learner.set(name, &Value::parse(value))?;
        }
    }
    Trained::fit(learner.as_ref(), data, &[], &Context::default())
}

fn shares_are_sound(trained: &Trained, x: &Frame) {
    let shares = trained.model.as_classifier().unwrap().probabilities_in(x, &Context::default());
    for row in shares.unwrap().rows() {
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{:?}", trained.about.path);
    }
}

#[test]
fn odd_tables_have_defined_answers_or_are_refused_in_words() {
    let data = mixed(300, 5, 3);
    for path in OF_TREES {
        // A constant column, an empty one, gaps.
        let trained = fitted(path, &[], &data.view()).unwrap();
        shares_are_sound(&trained, &data.x.frame());
        // A level that training did not see goes where missing values go, or is refused by name.
        let mut unseen = data.x.clone();
        unseen.values_mut()[(0, 2)] = 99.0;
        let said = trained.model.as_classifier().unwrap();
        if let Ok(shares) = said.probabilities_in(&unseen.frame(), &Context::default()) {
            assert!(shares.as_slice().iter().all(|share| share.is_finite()), "{path}");
        }
        // Infinite values.
        let mut infinite = data.clone();
        infinite.x.values_mut()[(7, 0)] = f64::INFINITY;
        let error = fitted(path, &[], &infinite.view()).unwrap_err().to_string();
        assert!(error.contains("infinity") && error.contains("row 8"), "{path}: {error}");
        // One class.
        let one = OwnedDataset {
            y: Some(OwnedTarget::from_labels(&vec![Label::Int(1); 300])),
            ..data.clone()
        };
        match fitted(path, &[], &one.view()) {
            Ok(trained) => shares_are_sound(&trained, &data.x.frame()),
            Err(error) => assert!(error.to_string().contains("class"), "{path}: {error}"),
        }
        // Weights of zero: as if the rows were not there; all of them: refused.
        let half: Vec<f64> = (0..300).map(|i| f64::from(u8::from(i % 2 == 0))).collect();
        let weighted = OwnedDataset { weights: Some(half), ..data.clone() };
        shares_are_sound(&fitted(path, &[], &weighted.view()).unwrap(), &data.x.frame());
        let nothing = OwnedDataset { weights: Some(vec![0.0; 300]), ..data.clone() };
        let error = fitted(path, &[], &nothing.view()).unwrap_err().to_string();
        assert!(error.contains("weight"), "{path}: {error}");
        // Zero members, and a depth beyond any tree.
        if learner(path, &[]).specs().iter().any(|spec| spec.name == "max_depth") {
            let deep = fitted(path, &[("max_depth", "1000000")], &data.view()).unwrap();
            shares_are_sound(&deep, &data.x.frame());
        }
        for name in ["n_estimators", "max_iter"] {
            let mut none = learner(path, &[]);
            if none.specs().iter().any(|spec| spec.name == name) {
                let refused = none.set(name, &Value::Int(0)).and_then(|()| none.check());
                let error = refused.unwrap_err().to_string();
                assert!(error.contains(name) && error.contains('1'), "{path}: {error}");
            }
        }
    }
}

#[test]
fn a_million_levels_are_learnt_or_refused_for_memory() {
    let levels = 1_000_000;
    let names: Vec<String> = (0..levels).map(|l| l.to_string()).collect();
    let schema = Schema::new(vec![Column::categorical("id", names), Column::numeric("a")]).unwrap();
    let rows = 4000;
    let x = Matrix::from_fn(rows, 2, |i, j| match j {
        0 => ((i * 7919) % levels) as f64,
        _ => noise(i, 1),
    });
    let labels: Vec<Label> = (0..rows).map(|i| Label::Bool(x[(i, 1)] > 0.5)).collect();
    let data = OwnedDataset {
        x: Table::new(x, schema).unwrap(),
        y: Some(OwnedTarget::from_labels(&labels)),
        ..OwnedDataset::default()
    };
    for path in ["ensemble.HistGradientBoostingClassifier", "ensemble.RandomForestClassifier"] {
        match fitted(path, &[("max_depth", "3")], &data.view()) {
            Ok(trained) => shares_are_sound(&trained, &data.x.frame().rows(0, 50)),
            Err(error) => assert_eq!(error.code(), Code::Memory, "{path}: {error}"),
        }
    }
}

#[test]
fn a_base_learner_that_fails_in_one_member_says_which() {
    // Gamma regression refuses a target of zero; which members draw that row is chance.
    let rows = 40;
    let x = Matrix::from_fn(rows, 2, noise);
    let y = (0..rows).map(|i| if i == 11 { 0.0 } else { 1.0 + noise(i, 4) }).collect();
    let data = OwnedDataset::regression(x, y);
    let mut bag = learner("ensemble.BaggingRegressor", &[("n_estimators", "6")]);
    bag.set("max_samples", &Value::Real(0.2)).unwrap();
    let gamma = learnt::params::LearnerSpec {
        learner: "linear_model.GammaRegressor".into(),
        params: Vec::new(),
    };
    bag.set("estimator", &Value::Learner(gamma)).unwrap();
    let error = (0..20)
        .find_map(|seed| bag.fit_any(&data.view(), &Context::default().with_seed(seed)).err())
        .unwrap()
        .to_string();
    assert!(error.contains("member ") && error.contains("target"), "{error}");
}

#[test]
fn trees_with_directions_and_boosting_with_a_beginning_have_the_same_bytes_on_any_number_of_threads()
 {
    let directions = ("monotonic_cst", "[1, -1, 0, 0, 0]");
    let cases: &[Case] = &[
        ("tree.DecisionTreeRegressor", 0, &[directions]),
        ("ensemble.RandomForestRegressor", 0, &[directions, ("n_estimators", "4")]),
        ("ensemble.ExtraTreesClassifier", 2, &[directions, ("n_estimators", "4")]),
        (
            "ensemble.GradientBoostingClassifier",
            3,
            &[("init", "boost"), ("n_estimators", "3"), ("subsample", "0.7")],
        ),
        ("ensemble.GradientBoostingRegressor", 0, &[("init", "zero"), ("n_estimators", "3")]),
    ];
    for &(path, classes, params) in cases {
        let data = mixed(3000, 12, classes);
        let learner = learner(path, params);
        let fit = |threads| {
            let run = Context::default().with_threads(threads).with_seed(5);
            bytes(learner.fit_any(&data.view(), &run).unwrap().as_ref())
        };
        assert!(fit(1) == fit(3), "{path} {params:?}");
    }
}
