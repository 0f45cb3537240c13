//! Which Python classes inherit what is written by hand.

/// Classes by hand with what scikit-learn's class of the same name also has, and who inherits them.
pub(super) const COMPANIONS: &[(&str, &[&str])] = &[
    ("Voters", &["VotingClassifier", "VotingRegressor"]),
    ("StackedClassifier", &["StackingClassifier"]),
    ("Stacked", &["StackingRegressor"]),
    ("Targeted", &["TransformedTargetRegressor"]),
    ("WeighedClassifier", &["AdaBoostClassifier"]),
    ("WeighedRegressor", &["AdaBoostRegressor"]),
    (
        "Forest",
        &[
            "RandomForestClassifier",
            "RandomForestRegressor",
            "ExtraTreesClassifier",
            "ExtraTreesRegressor",
        ],
    ),
    ("BaggedClassifier", &["BaggingClassifier"]),
    ("Bagged", &["BaggingRegressor"]),
    ("JudgedRounds", &["GradientBoostingClassifier", "GradientBoostingRegressor"]),
    ("ScoredRounds", &["HistGradientBoostingClassifier", "HistGradientBoostingRegressor"]),
    ("ClassifierRounds", &["GradientBoostingClassifier", "HistGradientBoostingClassifier"]),
    ("RegressorRounds", &["GradientBoostingRegressor", "HistGradientBoostingRegressor"]),
    ("Categorical", &["HistGradientBoostingClassifier", "HistGradientBoostingRegressor"]),
    ("Marked", &["SimpleImputer"]),
    ("Surrounded", &["RadiusNeighborsClassifier", "RadiusNeighborsRegressor"]),
    ("Components", &["DBSCAN"]),
    ("Connected", &["AgglomerativeClustering"]),
    ("Begun", &["KMeans", "MiniBatchKMeans"]),
    ("Hierarchy", &["HDBSCAN"]),
    ("Measured", &["HDBSCAN", "OPTICS"]),
    ("Inertia", &["KMeans", "MiniBatchKMeans", "BisectingKMeans"]),
    ("Resumed", &["GaussianMixture"]),
    ("Shares", &["OPTICS"]),
    ("Inverted", &["GaussianRandomProjection", "SparseRandomProjection"]),
];

/// More arguments of `fit`, which a class by hand reads: the learners, the names, and their type in stubs.
const FIT_ARGUMENTS: &[(&[&str], &[&str], &str)] = &[
    (&["GradientBoostingClassifier", "GradientBoostingRegressor"], &["monitor"], "Any"),
    (
        &["HistGradientBoostingClassifier", "HistGradientBoostingRegressor"],
        &["X_val", "y_val", "sample_weight_val"],
        "Any",
    ),
];

/// The further arguments of the `fit` of a learner: in its signature, in its stub, and as they are passed on.
pub(super) fn fit_arguments(learner: &str) -> [String; 3] {
    let found = FIT_ARGUMENTS.iter().find(|(learners, ..)| learners.contains(&learner));
    let (names, kind) = found.map_or((&[][..], ""), |(_, names, kind)| (*names, *kind));
    let each = |text: &dyn Fn(&str) -> String| names.iter().map(|name| text(name)).collect();
    [
        each(&|name| format!(", {name}=None")),
        each(&|name| format!(", {name}: {kind} = None")),
        each(&|name| format!(", {name}={name}")),
    ]
}
