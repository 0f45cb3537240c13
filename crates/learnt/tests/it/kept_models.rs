//! Models that were written once and must load in every later build (`tests/golden/models`).
//!
//! `cargo run -p learnt --example keep_models` writes one for each learner that has none yet.

use std::path::PathBuf;

fn kept() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/models");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Models that load and have no number to compare: clusterings that say nothing about new rows, neighbours within a radius in
/// which the rows of the self-test have none, encoders of columns that hold no categories.
const SILENT: &[&str] = &[
    "cluster.AgglomerativeClustering",
    "cluster.ApproximateDBSCAN",
    "cluster.DBSCAN",
    "cluster.HDBSCAN",
    "cluster.OPTICS",
    "neighbors.RadiusNeighborsClassifier",
    "neighbors.RadiusNeighborsRegressor",
    "preprocessing.OneHotEncoder",
    "preprocessing.OrdinalEncoder",
];

#[test]
fn every_learner_has_a_kept_model() {
    for entry in learnt::entries() {
        let name = format!("{}-{}.learnt", entry.about.path, env!("CARGO_PKG_VERSION"));
        let found = kept().iter().any(|path| path.ends_with(&name));
        assert!(found, "{name} is missing: cargo run -p learnt --example keep_models");
    }
}

/// Bits are promised on one kind of processor; across kinds a small difference is allowed.
#[test]
fn kept_models_load_and_give_their_stored_outputs() {
    let mut silent = Vec::new();
    for path in kept() {
        let trained = learnt::load(&path).unwrap_or_else(|error| panic!("{error}"));
        let outputs = trained.self_test().unwrap().unwrap_or_default();
        if !outputs.iter().any(|(_, then)| then.is_finite()) {
            silent.push(trained.about.path);
        }
        for (now, then) in outputs {
            let near = (now - then).abs() <= 1e-9 * (1.0 + then.abs());
            assert!(
                near || (now.is_nan() && then.is_nan()),
                "{}: {now} and not {then}",
                path.display()
            );
        }
    }
    assert_eq!(silent, SILENT, "models without outputs to compare");
}
