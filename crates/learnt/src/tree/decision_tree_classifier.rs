//! Classification tree (CART): binary splits x <= s, or a set of levels, that lower the impurity
//! of the classes most, until nodes are pure or a limit is met.
//!
//! A split maximises W I(node) - W_l I(left) - W_r I(right) with I the Gini index or the entropy in
//! bits. Cuts are midpoints of adjacent distinct values (the lower value where a midpoint rounds
//! up). Ties go to the first column, then the smallest cut; missing values try both sides and
//! follow the larger child where training had none, as do levels that a node has not seen.
//! A leaf predicts its class shares; the most frequent class wins, the first of equals.
//!
//! Breiman, Friedman, Olshen and Stone, "Classification and Regression Trees" (1984).

use super::c45_classifier::{EXPORT, PRUNED_RULES, RULES, export_answer};
use super::grow::{Entropy, Gini};
use super::nodes::Tree;
use super::options::{Growth, Splitter};
use super::prune::{self, PruningPath};
use super::{rules, text};
use learnt_core::answer::number;
use learnt_core::estimator::first_maximum;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// Decision tree classifier (CART): splits on columns until the classes are pure enough.
///
/// Takes categories and missing values as they are. scikit-learn's `monotonic_cst` is left out;
/// `class_weight` takes no dictionary (use weights).
///
/// ```
/// use learnt::{prelude::*, tree::DecisionTreeClassifier};
/// let x = Matrix::from_fn(4, 1, |i, _| i as f64);
/// let data = OwnedDataset::classification(x, &["a", "a", "b", "b"].map(Label::from));
/// let model = DecisionTreeClassifier::default().fit(&data.view())?;
/// assert_eq!(model.classify(&data.x.frame())?, [0, 0, 1, 1]);
/// assert_eq!(model.n_leaves, 2);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct DecisionTreeClassifier {
    /// The impurity measure of a node: Gini or entropy.
    #[param(default = TreeClassifierCriterion::Gini, search = set("gini", "entropy"))]
    pub criterion: TreeClassifierCriterion,
    /// Which cut of a column is taken.
    #[param(default = Splitter::Best)]
    pub splitter: Splitter,
    /// When growing stops, what a node looks at, and what is pruned.
    #[param(flatten)]
    pub growth: Growth,
    /// Weights of classes: none, or `balanced` to make all classes count the same.
    #[param(default = None)]
    pub class_weight: Option<ClassWeight>,
}

/// The impurity measure of a node: Gini or entropy.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum TreeClassifierCriterion {
    /// 1 - Σ p².
    Gini,
    /// -Σ p log2 p, in bits.
    Entropy,
    /// The same as `entropy`.
    LogLoss,
}

/// Weights of classes.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum ClassWeight {
    /// n / (number of classes * n of the class).
    Balanced,
}

/// A fitted [`DecisionTreeClassifier`].
#[derive(Model, Clone, Debug, PartialEq)]
#[model(classifier, validate = validate, report = report, questions = QUESTIONS)]
pub struct DecisionTreeClassifierModel {
    /// Share of each column in the decrease of impurity.
    pub feature_importances: Vec<f64>,
    /// Number of leaves.
    pub n_leaves: usize,
    /// Depth of the deepest leaf; a single leaf has 0.
    pub depth: usize,
    pub(super) tree: Tree,
    schema: Schema,
    classes: Vec<Label>,
}

impl Estimator for DecisionTreeClassifier {
    type Model = DecisionTreeClassifierModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("tree.DecisionTreeClassifier")
        .alias(&["tree"])
        .weights()
        .missing()
        .categories()
        .randomness()
        .threads()
        .complexity(40)
        .cost("p n log n time to sort, p n a level; 16 bytes a value")
        .reference("Breiman, Friedman, Olshen, Stone (1984)")
        .exempt(&[("seeds_differ", "only `splitter` random and `max_features` draw")]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<DecisionTreeClassifierModel> {
        let (codes, classes) = data.class_target()?;
        let weights = class_weights(self.class_weight, codes, classes.len(), data.weights);
        let tree = match self.criterion {
            TreeClassifierCriterion::Gini => {
                let criterion = Gini::new(codes.to_vec(), classes.len(), weights);
                self.growth.grow(self.splitter, &data.x, &criterion, run)?
            }
            TreeClassifierCriterion::Entropy | TreeClassifierCriterion::LogLoss => {
                let criterion = Entropy::new(codes.to_vec(), classes.len(), weights);
                self.growth.grow(self.splitter, &data.x, &criterion, run)?
            }
        };
        Ok(DecisionTreeClassifierModel {
            feature_importances: tree.importances(),
            n_leaves: tree.leaves(),
            depth: tree.depth(),
            tree,
            schema: data.x.schema().clone(),
            classes: classes.to_vec(),
        })
    }
}

impl DecisionTreeClassifier {
    /// The subtrees that `ccp_alpha` chooses from.
    pub fn cost_complexity_pruning_path(&self, data: &Dataset) -> Result<PruningPath> {
        let mut full = self.clone();
        full.growth.ccp_alpha = 0.0;
        Ok(full.fit(data)?.pruning_path())
    }
}

/// Row weights times class weights; none where all are one.
pub(crate) fn class_weights(
    class_weight: Option<ClassWeight>,
    codes: &[u32],
    classes: usize,
    given: Option<&[f64]>,
) -> Option<Vec<f64>> {
    if class_weight.is_none() {
        return given.map(<[f64]>::to_vec);
    }
    let weight = |i: usize| given.map_or(1.0, |weights| weights[i]);
    let mut sums = vec![0.0; classes];
    for (i, &code) in codes.iter().enumerate() {
        sums[code as usize] += weight(i);
    }
    let present = sums.iter().filter(|&&sum| sum > 0.0).count() as f64;
    let total: f64 = sums.iter().sum();
    let balanced = |i: usize| weight(i) * total / (present * sums[codes[i] as usize]);
    Some((0..codes.len()).map(balanced).collect())
}

const QUESTIONS: &[Question] = &[EXPORT, RULES, PRUNED_RULES];

impl DecisionTreeClassifierModel {
    /// The leaf of each row.
    pub fn apply(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        self.tree.apply(x, run)
    }

    /// The subtrees of this tree that are optimal for some `ccp_alpha`.
    pub fn pruning_path(&self) -> PruningPath {
        prune::path(&self.tree)
    }

    /// The whole tree, one line a node.
    pub fn export_text(&self) -> String {
        text::export(&self.sketches())
    }

    fn answer_question(&self, asked: &Asked) -> Result<Answer> {
        let row = |node: usize| (self.label(node), self.tree.weight[node]);
        let found = || rules::of_binary(&self.tree);
        match asked.name {
            "export" => export_answer(&self.sketches(), asked),
            "rules" => Ok(rules::table(&found()?, &self.schema, row)),
            _ => {
                let label = |node: usize| first_maximum(self.tree.value(node));
                rules::pruned_answer(found()?, label, &self.schema, &self.classes, asked)
            }
        }
    }

    fn sketches(&self) -> Vec<text::Sketch> {
        text::sketches(&self.tree, &self.schema, |node| self.label(node), usize::MAX)
    }

    fn label(&self, node: usize) -> String {
        let shares = self.tree.value(node);
        let best = first_maximum(shares) as usize;
        let name = learnt_core::error::plain(&self.classes[best].to_string());
        format!("{name} ({})", number(shares[best]))
    }

    fn report(&self, _: &Names) -> Answer {
        let importance = text::importance_table(&self.schema, &self.feature_importances);
        text::report("Decision tree", &self.sketches(), Some(importance))
    }

    fn validate(&self) -> Result<()> {
        self.tree.validate(&self.schema, self.classes.len())?;
        let shares = self.tree.values.iter().all(|share| (0.0..=1.0).contains(share));
        let derived = self.feature_importances == self.tree.importances()
            && self.n_leaves == self.tree.leaves()
            && self.depth == self.tree.depth();
        match shares && derived && !self.classes.is_empty() {
            true => Ok(()),
            false => Err(invalid("a tree whose numbers do not fit its nodes")),
        }
    }
}

impl Classifier for DecisionTreeClassifierModel {
    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        self.tree.predict(x, run)
    }

    fn classify_in(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        let leaves = self.tree.apply(x, run)?;
        Ok(leaves.into_iter().map(|leaf| first_maximum(self.tree.value(leaf as usize))).collect())
    }
}
