//! ID3: a tree with one branch a value, grown by information gain until leaves are pure.
//!
//! A node asks for the column with the largest H(S) - Σ_v n_v/n H(S_v), also where that is 0, and no path
//! asks for a column twice. A node without columns left, or with rows that are all alike, is a leaf of its
//! most frequent class; a value that no row of a node had gets the class of the node. Each distinct value
//! of a quantity is a value like those of a category. Ties go to the first column and the first class.
//!
//! Quinlan (1986), Machine Learning 1, 81-106.

use super::c45_classifier::MultiwayTreeModel;
use super::loss::Losses;
use super::multiway::{Held, MissingAs, Plan, grow};
use learnt_core::prelude::*;

/// ID3 decision tree: a branch a value by information gain, without pruning.
///
/// Quantities are taken as categories, a branch for each distinct value; C4.5 cuts them.
///
/// ```
/// use learnt::{prelude::*, tree::ID3Classifier};
/// let data = learnt::datasets::load("weather_nominal")?;
/// let model = ID3Classifier::default().fit(&data.view())?;
/// assert_eq!((model.n_leaves, model.depth), (5, 2));
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct ID3Classifier {
    /// Maximum depth of the tree; none means no limit.
    #[param(default = None, range = 1..)]
    pub max_depth: Option<usize>,
    /// Splits are taken only where a chi-squared test (Fisher's for few rows) rejects at this level that
    /// class and branch are independent; none takes all.
    #[param(default = None, above = 0.0, below = 1.0)]
    pub significance: Option<f64>,
}

impl Estimator for ID3Classifier {
    type Model = MultiwayTreeModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("tree.ID3Classifier")
        .alias(&["id3"])
        .weights()
        .categories()
        .threads()
        .complexity(38)
        .cost("p n log n time a level; 4 bytes a value")
        .reference("Quinlan (1986)")
        .exempt(&[(
            "beats_the_dummy",
            "new rows of the check have values that no training row has",
        )]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<MultiwayTreeModel> {
        let (codes, classes) = data.class_target()?;
        let plan = Plan {
            ratio: false,
            any_gain: true,
            nominal: true,
            least: 0.0,
            correction: false,
            at_values: false,
            missing: MissingAs::Fractions,
            significance: self.significance,
            max_depth: self.max_depth.unwrap_or(usize::MAX),
            costs: None,
        };
        let mut held = Held::default();
        (0..data.nrows()).for_each(|row| held.push(row as u32, data.weight(row)));
        let tree = grow(&plan, &data.x, (codes, classes.len()), held, run)?;
        Ok(MultiwayTreeModel::new(&tree, Losses::default(), data, classes))
    }
}
