//! Classification tree (CART): binary splits x <= s, or a set of levels, that lower the impurity
//! of the classes most, until nodes are pure or a limit is met.
//!
//! A split maximises W I(node) - W_l I(left) - W_r I(right) with I the Gini index or the entropy in
//! bits. Cuts are midpoints of adjacent distinct values (the lower value where a midpoint rounds
//! up). Ties go to the first column, then the smallest cut; missing values try both sides and
//! follow the larger child where training had none, as do levels that a node has not seen.
//! A leaf predicts its class shares; the most frequent class wins, the first of equals. With losses the
//! label of least expected loss wins, and splits know them: with two classes or the entropy the rows of a
//! class weigh the sum of its losses, with more classes the index is Σ L_kl p_k p_l. With the criterion
//! `exponential` a node of weights W₊ and W₋ costs 2 √(W₊ W₋), the least exponential loss of a score, and
//! half the log-odds of a leaf's shares, to which half a row is added, is that score.
//!
//! Breiman, Friedman, Olshen and Stone, "Classification and Regression Trees" (1984).

use super::grow::{Criterion, Entropy, Exponential, Gini, LossGini, WithCases, check_one_number};
use super::kept::Kept;
use super::loss::Losses;
use super::many::Walks;
use super::nodes::Tree;
use super::options::{Extras, Growth, Splitter};
use super::prune::{self, PruningPath};
use super::questions::{
    EXPORT, LEAVES, NODES, PRUNED_RULES, PRUNING, RULES, export_answer, leaves_answer,
    nodes_answer, pruning_answer,
};
use super::surrogates::{SURROGATES, Surrogates};
use super::{rules, text};
use learnt_core::answer::number;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// Decision tree classifier (CART): splits on columns until the classes are pure enough.
///
/// Takes categories and missing values as they are. `class_weight` takes no dictionary (use weights).
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
    /// Loss of calling a row of a class (rows) another (columns): splits and labels know it.
    #[param(default = None)]
    pub loss: Option<Vec<Vec<f64>>>,
    /// How levels of a category are parted.
    #[param(default = CategoricalSplits::Ordered)]
    pub categorical_splits: CategoricalSplits,
    /// Maximum number of surrogates of a split, which say where rows with a missing value go.
    #[param(default = 0)]
    pub max_surrogates: usize,
}

/// How levels of a category are parted.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum CategoricalSplits {
    /// Sorted by the share of a class, then cut: the best partition with two classes.
    Ordered,
    /// All partitions of at most 20 levels: the best with any number of classes.
    Exhaustive,
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
    /// 2 √(p (1 - p)), the exponential loss; for two classes.
    Exponential,
}

/// Weights of classes.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum ClassWeight {
    /// n / (number of classes * n of the class).
    Balanced,
}

/// A fitted [`DecisionTreeClassifier`].
#[derive(Model, Clone, Debug, PartialEq)]
#[model(classifier, validate = validate, report = report, questions = QUESTIONS, looks, prepares)]
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
    #[model(later)]
    losses: Losses,
    #[model(later)]
    surrogates: Surrogates,
    #[model(transient)]
    walks: Kept<Walks>,
    /// The label of each node.
    #[model(transient)]
    labels: Kept<Vec<u32>>,
}

impl Estimator for DecisionTreeClassifier {
    type Model = DecisionTreeClassifierModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("tree.DecisionTreeClassifier")
        .alias(&["tree", "decision-tree", "cart"])
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
        check_one_number(self.growth.monotonic_cst.is_some(), classes.len(), 1)?;
        let losses = Losses::new(self.loss.as_ref(), classes.len())?;
        let plain = class_weights(self.class_weight, codes, classes.len(), data.weights);
        let weights = self.loss_weights(&losses, codes, plain.clone());
        let mut tree = self.grown(data, (codes, classes.len()), &losses, weights, run)?;
        let surrogates = Surrogates::of(&tree, &data.x, data.weights, self.max_surrogates, run)?;
        if losses.is_given() {
            let leaves = surrogates.apply((&tree, &Kept::default()), &data.x, run)?;
            set_shares(&mut tree, &leaves, codes, plain.as_deref());
        }
        Ok(DecisionTreeClassifierModel {
            feature_importances: tree.importances(),
            n_leaves: tree.leaves(),
            depth: tree.depth(),
            tree,
            schema: data.x.schema().clone(),
            classes: classes.to_vec(),
            losses,
            surrogates,
            walks: Kept::default(),
            labels: Kept::default(),
        })
    }
}

impl DecisionTreeClassifier {
    fn grown(
        &self,
        data: &Dataset,
        (codes, classes): (&[u32], usize),
        losses: &Losses,
        weights: Option<Vec<f64>>,
        run: &Context,
    ) -> Result<Tree> {
        let codes = codes.to_vec();
        let extras = Extras {
            exhaustive: self.categorical_splits == CategoricalSplits::Exhaustive,
            surrogates: self.max_surrogates,
        };
        let grow = Grow { learner: self, extras, data, run };
        match self.criterion {
            TreeClassifierCriterion::Gini if losses.is_given() && classes > 2 => {
                let loss = |k: usize, l: usize| losses.matrix[(k, l)];
                grow.by(LossGini::new(codes, classes, weights, loss))
            }
            TreeClassifierCriterion::Gini => grow.by(Gini::new(codes, classes, weights)),
            TreeClassifierCriterion::Entropy | TreeClassifierCriterion::LogLoss => {
                grow.by(Entropy::new(codes, classes, weights))
            }
            TreeClassifierCriterion::Exponential if classes > 2 => {
                let expected = "'gini' or 'entropy' with more than two classes";
                Err(Error::parameter("criterion", expected, "'exponential'"))
            }
            TreeClassifierCriterion::Exponential => grow.by(Exponential::new(codes, weights)),
        }
    }

    /// Row weights times the losses of their class, where the criterion does not know losses itself.
    fn loss_weights(
        &self,
        losses: &Losses,
        codes: &[u32],
        weights: Option<Vec<f64>>,
    ) -> Option<Vec<f64>> {
        let classes = losses.matrix.nrows();
        if classes == 0 || (classes > 2 && self.criterion == TreeClassifierCriterion::Gini) {
            return weights;
        }
        let off_diagonal = |k: usize| (0..classes).filter(move |&l| l != k);
        let class: Vec<f64> =
            (0..classes).map(|k| off_diagonal(k).map(|l| losses.matrix[(k, l)]).sum()).collect();
        let weight = |i: usize| weights.as_ref().map_or(1.0, |weights| weights[i]);
        // A class whose rows cost nothing must not vanish.
        let least = 1e-6 * class.iter().copied().fold(0.0, f64::max);
        let factor = |i: usize| class[codes[i] as usize].max(least).max(f64::MIN_POSITIVE);
        Some((0..codes.len()).map(|i| weight(i) * factor(i)).collect())
    }

    /// The subtrees that `ccp_alpha` chooses from.
    pub fn cost_complexity_pruning_path(&self, data: &Dataset) -> Result<PruningPath> {
        let mut full = self.clone();
        full.growth.ccp_alpha = 0.0;
        Ok(full.fit(data)?.pruning_path())
    }
}

/// Grows a tree by any criterion.
struct Grow<'a> {
    learner: &'a DecisionTreeClassifier,
    extras: Extras,
    data: &'a Dataset<'a>,
    run: &'a Context<'a>,
}

impl Grow<'_> {
    fn by<C: Criterion>(&self, inner: C) -> Result<Tree> {
        let Grow { learner, extras, data, run } = *self;
        let (growth, splitter) = (&learner.growth, learner.splitter);
        let altered = learner.loss.is_some() || learner.class_weight.is_some();
        if extras.surrogates == 0 || !altered {
            return growth.grow(splitter, extras, &data.x, &inner, run);
        }
        // Surrogates count rows by their own weights.
        let cases = (0..data.nrows()).map(|i| data.weight(i)).collect();
        growth.grow(splitter, extras, &data.x, &WithCases { inner, cases }, run)
    }
}

/// Sets the shares of classes in all nodes from the leaves of rows.
fn set_shares(tree: &mut Tree, leaves: &[u32], codes: &[u32], weights: Option<&[f64]>) {
    let outputs = tree.outputs;
    let mut sums = vec![0.0; tree.values.len()];
    for (i, &leaf) in leaves.iter().enumerate() {
        sums[leaf as usize * outputs + codes[i] as usize] += weights.map_or(1.0, |w| w[i]);
    }
    for node in (0..tree.len()).rev().filter(|&node| !tree.is_leaf(node)) {
        for k in 0..outputs {
            let child = |child: u32| sums[child as usize * outputs + k];
            sums[node * outputs + k] = child(tree.left[node]) + child(tree.right[node]);
        }
    }
    for node in sums.chunks_mut(outputs) {
        let total: f64 = node.iter().sum();
        node.iter_mut().for_each(|sum| *sum = (*sum / total).min(1.0));
    }
    tree.values = sums;
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
    Some(balanced_weights(&sums, codes, given))
}

/// Weights by which all classes with these sums of weights count the same.
pub(crate) fn balanced_weights(sums: &[f64], codes: &[u32], given: Option<&[f64]>) -> Vec<f64> {
    let weight = |i: usize| given.map_or(1.0, |weights| weights[i]);
    let present = sums.iter().filter(|&&sum| sum > 0.0).count() as f64;
    let total: f64 = sums.iter().sum();
    let balanced = |i: usize| weight(i) * total / (present * sums[codes[i] as usize]);
    (0..codes.len()).map(balanced).collect()
}

const QUESTIONS: &[Question] = &[EXPORT, RULES, PRUNED_RULES, NODES, LEAVES, PRUNING, SURROGATES];

impl DecisionTreeClassifierModel {
    /// One tree of many, as a model of its own.
    pub(crate) fn of_tree(tree: Tree, schema: &Schema, classes: &[Label]) -> Self {
        DecisionTreeClassifierModel {
            feature_importances: tree.importances(),
            n_leaves: tree.leaves(),
            depth: tree.depth(),
            tree,
            schema: schema.clone(),
            classes: classes.to_vec(),
            losses: Losses::default(),
            surrogates: Surrogates::default(),
            walks: Kept::default(),
            labels: Kept::default(),
        }
    }

    /// The leaf of each row.
    pub fn apply(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        self.surrogates.apply((&self.tree, &self.walks), x, run)
    }

    /// The subtrees of this tree that are optimal for some `ccp_alpha`.
    pub fn pruning_path(&self) -> PruningPath {
        prune::path(&self.tree)
    }

    /// The smallest subtree that is optimal for this alpha.
    #[must_use]
    pub fn pruned(&self, alpha: f64) -> Self {
        let tree = prune::prune(self.tree.clone(), alpha);
        Self {
            feature_importances: tree.importances(),
            n_leaves: tree.leaves(),
            depth: tree.depth(),
            surrogates: self.surrogates.of_subtree(&self.tree, &tree),
            tree,
            walks: Kept::default(),
            labels: Kept::default(),
            ..self.clone()
        }
    }

    /// The whole tree, one line a node.
    pub fn export_text(&self) -> String {
        text::export(&self.sketches())
    }

    fn answer_question(&self, asked: &Asked) -> Result<Answer> {
        let row = |node: usize| (self.label(node), self.tree.weight[node]);
        let found = || rules::of_binary(&self.tree);
        match asked.name {
            "nodes" => Ok(nodes_answer(&self.tree)),
            "pruning_path" => Ok(pruning_answer(self.pruning_path())),
            "leaves" => Ok(leaves_answer(self.apply(&asked.rows()?.x, &asked.run)?)),
            "surrogates" => Ok(self.surrogates.answer(&self.tree, &self.schema)),
            "export" => export_answer(&self.sketches(), asked),
            "rules" => Ok(rules::table(&found()?, &self.schema, row)),
            _ => {
                let label = |node: usize| self.losses.label(self.tree.value(node));
                rules::pruned_answer(found()?, label, &self.schema, &self.classes, asked)
            }
        }
    }

    fn sketches(&self) -> Vec<text::Sketch> {
        text::sketches(&self.tree, &self.schema, |node| self.label(node), usize::MAX)
    }

    fn label(&self, node: usize) -> String {
        let shares = self.tree.value(node);
        let best = self.losses.label(shares) as usize;
        let name = learnt_core::error::plain(&self.classes[best].to_string());
        format!("{name} ({})", number(shares[best]))
    }

    fn report(&self, _: &Names) -> Answer {
        let importance = text::importance_table(&self.schema, &self.feature_importances);
        let mut report = text::report("Decision tree", &self.sketches(), Some(importance));
        report.charts.extend(text::partition(&self.tree, &self.schema, |node| self.label(node)));
        report
    }

    fn validate(&self) -> Result<()> {
        self.tree.validate(&self.schema, self.classes.len())?;
        self.surrogates.validate(&self.tree)?;
        let shares = self.tree.values.iter().all(|share| (0.0..=1.0).contains(share));
        let derived = self.feature_importances == self.tree.importances()
            && self.n_leaves == self.tree.leaves()
            && self.depth == self.tree.depth();
        match shares && derived && !self.classes.is_empty() && self.losses.fits(self.classes.len())
        {
            true => Ok(()),
            false => Err(invalid("a tree whose numbers do not fit its nodes")),
        }
    }
}

impl Classifier for DecisionTreeClassifierModel {
    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let leaves = self.apply(x, run)?;
        self.tree.values_of(&leaves, run)
    }

    fn classify_in(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        let leaves = self.apply(x, run)?;
        let label = |node: usize| self.losses.label(self.tree.value(node));
        if self.labels.get().is_none() && leaves.len() < self.tree.len() {
            return Ok(leaves.into_iter().map(|leaf| label(leaf as usize)).collect());
        }
        let labels = self.labels.get_or_make(|| (0..self.tree.len()).map(label).collect());
        Ok(leaves.into_iter().map(|leaf| labels[leaf as usize]).collect())
    }
}
