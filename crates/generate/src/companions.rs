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
    ("Projected", &["BisectingKMeans"]),
    ("Resumed", &["GaussianMixture"]),
    ("Shares", &["OPTICS"]),
    ("Inverted", &["GaussianRandomProjection", "SparseRandomProjection"]),
];
