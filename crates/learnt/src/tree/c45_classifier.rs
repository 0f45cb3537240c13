//! C4.5: a tree with one branch a category and two a quantity, grown by gain ratio and pruned.
//!
//! A node takes the column with the largest gain ratio among those with at least average gain (less
//! 0.001), quantities at their best cut with the gain less log2(cuts)/n. A column is a candidate if two
//! branches have `min_samples_leaf` rows (both sides of a cut a tenth of the rows over classes, between
//! that and 25). Rows without a value go down every branch with parts of their weight. Leaves that save no
//! training error are merged; then a subtree becomes a leaf, or gives way to its largest branch, if the
//! upper confidence bound of its errors does not fall by more than 0.1. Growth ends when no column gains.
//! Ties go to the first column, then the smallest cut; the most frequent class wins, the first of equals.
//!
//! Quinlan, "C4.5: Programs for Machine Learning" (1993); Quinlan (1996), Journal of Artificial
//! Intelligence Research 4, 77-90.

use super::impurity::ImpurityKind;
use super::loss::Losses;
use super::multiway::{
    CostRule, Held, MissingAs, MultiTree, Plan, by_estimate, by_length, by_validation, collapse,
    grow,
};
use super::questions::{EXPORT, PRUNED_RULES, RULES, export_answer};
use super::rules;
use super::text::{self, Sketch};
use learnt_core::answer::number;
use learnt_core::error::plain;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;
use learnt_core::stats::sample;

/// The random stream of rows that are kept for pruning.
const PRUNING_STREAM: u64 = 0x6334_3570;

/// C4.5 decision tree: gain ratio, a branch a category, parts of rows for missing values, pruning.
///
/// Weights count as rows. With `pruning` `reduced_error` a share of the rows is kept from growing.
///
/// ```
/// use learnt::{prelude::*, tree::C45Classifier};
/// let data = learnt::datasets::load("weather_nominal")?;
/// let model = C45Classifier::default().fit(&data.view())?;
/// assert_eq!(model.n_leaves, 5);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct C45Classifier {
    /// What a split must raise: the gain ratio, or the information gain.
    #[param(default = C45Criterion::GainRatio, search = set("gain_ratio", "gain"))]
    pub criterion: C45Criterion,
    /// Minimum number of rows in at least two branches of a split.
    #[param(default = 2, range = 1.., search = set(2, 5, 20))]
    pub min_samples_leaf: usize,
    /// Maximum depth of the tree; none means no limit.
    #[param(default = None, range = 1..)]
    pub max_depth: Option<usize>,
    /// How the tree is pruned; none leaves it as it was grown.
    #[param(default = Some(C45Pruning::Pessimistic))]
    pub pruning: Option<C45Pruning>,
    /// Confidence of the bound on errors, for pruning `pessimistic`: smaller prunes more.
    #[param(default = 0.25, above = 0.0, range = ..=0.5, search = set(0.05, 0.25, 0.5))]
    pub confidence: f64,
    /// Whether the largest branch may take the place of its parent, for pruning `pessimistic`.
    #[param(default = true)]
    pub subtree_raising: bool,
    /// Share of the rows that pruning `reduced_error` keeps from growing.
    #[param(default = 0.33, above = 0.0, below = 1.0)]
    pub validation_fraction: f64,
    /// Whether the gain of a quantity pays log2(cuts)/n for the choice of its cut.
    #[param(default = true)]
    pub cut_penalty: bool,
    /// Where a quantity is cut.
    #[param(default = CutAt::Midpoint)]
    pub cut_at: CutAt,
    /// What a missing value stands for.
    #[param(default = MissingAs::Fractions)]
    pub missing: MissingAs,
    /// Splits are taken only where a chi-squared test (Fisher's for few rows) rejects at this level that
    /// class and branch are independent; none takes all.
    #[param(default = None, above = 0.0, below = 1.0)]
    pub significance: Option<f64>,
    /// Loss of calling a row of a class (rows) another (columns): labels have the least expected loss, and
    /// pruning `reduced_error` lowers it.
    #[param(default = None)]
    pub loss: Option<Vec<Vec<f64>>>,
    /// Cost of measuring each column; splits are then chosen by `cost_rule` instead of `criterion`.
    #[param(default = None)]
    pub costs: Option<Vec<f64>>,
    /// How costs enter.
    #[param(default = CostRule::Gain)]
    pub cost_rule: CostRule,
    /// How much costs count in the rule `information`, from 0 to 1.
    #[param(default = 1.0, range = 0.0..=1.0)]
    pub cost_weight: f64,
}

/// What a split must raise.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum C45Criterion {
    /// Gain over split information, among columns with at least average gain.
    GainRatio,
    /// Information gain.
    Gain,
}

/// How a tree is pruned.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum C45Pruning {
    /// By upper confidence bounds of the errors in leaves.
    Pessimistic,
    /// By the loss on rows that were kept from growing; ties prune.
    ReducedError,
    /// By the bits that tree and exceptions need.
    DescriptionLength,
}

/// Where a quantity is cut.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum CutAt {
    /// Halfway between two values.
    Midpoint,
    /// At the largest value of the table up to there.
    Value,
}

/// A fitted [`C45Classifier`] or [`ID3Classifier`](super::ID3Classifier).
#[derive(Model, Clone, Debug, PartialEq)]
#[model(classifier, validate = validate, report = report, questions = QUESTIONS)]
pub struct MultiwayTreeModel {
    /// Number of leaves.
    pub n_leaves: usize,
    /// Depth of the deepest leaf; a single leaf has 0.
    pub depth: usize,
    pub(super) tree: MultiTree,
    losses: Losses,
    schema: Schema,
    classes: Vec<Label>,
}

impl Estimator for C45Classifier {
    type Model = MultiwayTreeModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("tree.C45Classifier")
        .alias(&["c45", "c4.5", "j48"])
        .weights()
        .missing()
        .categories()
        .randomness()
        .threads()
        .complexity(42)
        .cost("p n log n time a level; 4 bytes a value")
        .reference("Quinlan (1993)")
        .exempt(&[
            ("seeds_differ", "only pruning by rows kept from growing draws"),
            ("weights_scale", "weights count as rows, which bound leaves and errors"),
        ]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<MultiwayTreeModel> {
        let (codes, classes) = data.class_target()?;
        let losses = Losses::new(self.loss.as_ref(), classes.len())?;
        let costs = self.checked_costs(data.x.ncols())?;
        let plan = Plan {
            ratio: self.criterion == C45Criterion::GainRatio,
            any_gain: false,
            nominal: false,
            least: self.min_samples_leaf as f64,
            correction: self.cut_penalty,
            at_values: self.cut_at == CutAt::Value,
            missing: self.missing,
            significance: self.significance,
            max_depth: self.max_depth.unwrap_or(usize::MAX),
            costs: costs.map(|costs| (costs, self.cost_rule, self.cost_weight)),
        };
        let (grown, kept) = self.kept_from_growing(data, run);
        let target = (codes, classes.len());
        let mut tree = grow(&plan, &data.x, target, grown.clone(), run)?;
        match self.pruning {
            None => collapse(&mut tree),
            Some(C45Pruning::Pessimistic) => {
                collapse(&mut tree);
                let how = (self.confidence, self.subtree_raising);
                by_estimate(&mut tree, &data.x, codes, grown, how, run)?;
            }
            Some(C45Pruning::ReducedError) => {
                by_validation(&mut tree, &data.x, codes, kept, &losses, run)?;
            }
            Some(C45Pruning::DescriptionLength) => by_length(&mut tree),
        }
        Ok(MultiwayTreeModel::new(&tree, losses, data, classes))
    }
}

impl C45Classifier {
    fn checked_costs(&self, columns: usize) -> Result<Option<&[f64]>> {
        let Some(costs) = &self.costs else { return Ok(None) };
        match costs.len() == columns && costs.iter().all(|c| c.is_finite() && *c > 0.0) {
            true => Ok(Some(costs)),
            false => {
                let expected = format!("{columns} numbers above 0, one a column");
                Err(Error::parameter("costs", expected, format!("{costs:?}")))
            }
        }
    }

    /// The rows that the tree grows from and those that prune it.
    fn kept_from_growing(&self, data: &Dataset, run: &Context) -> (Held, Held) {
        let mut order: Vec<usize> = (0..data.nrows()).collect();
        let mut kept = 0;
        if self.pruning == Some(C45Pruning::ReducedError) {
            sample::shuffle(&mut run.rng(PRUNING_STREAM), &mut order);
            let wanted = (self.validation_fraction * order.len() as f64).round() as usize;
            kept = wanted.min(order.len() - 1);
        }
        let held = |rows: &[usize]| {
            let mut rows = rows.to_vec();
            rows.sort_unstable();
            let mut held = Held::default();
            rows.into_iter().for_each(|row| held.push(row as u32, data.weight(row)));
            held
        };
        let (pruning, growing) = order.split_at(kept);
        (held(growing), held(pruning))
    }
}

const QUESTIONS: &[Question] = &[EXPORT, RULES, PRUNED_RULES];

impl MultiwayTreeModel {
    pub(super) fn new(tree: &MultiTree, losses: Losses, data: &Dataset, classes: &[Label]) -> Self {
        let tree = tree.compacted();
        MultiwayTreeModel {
            n_leaves: tree.leaves(),
            depth: tree.depth(),
            tree,
            losses,
            schema: data.x.schema().clone(),
            classes: classes.to_vec(),
        }
    }

    /// The whole tree, one line a node.
    pub fn export_text(&self) -> String {
        text::export(&self.sketches())
    }

    fn answer_question(&self, asked: &Asked) -> Result<Answer> {
        let row = |node: usize| (self.label(node), self.tree.weight(node));
        let found = || rules::of_multiway(&self.tree);
        match asked.name {
            "export" => export_answer(&self.sketches(), asked),
            "rules" => Ok(rules::table(&found()?, &self.schema, row)),
            _ => {
                let label = |node: usize| self.losses.label(self.tree.counts_of(node));
                rules::pruned_answer(found()?, label, &self.schema, &self.classes, asked)
            }
        }
    }

    fn label(&self, node: usize) -> String {
        let shares = self.tree.shares(node);
        let best = self.losses.label(&shares) as usize;
        format!("{} ({})", plain(&self.classes[best].to_string()), number(shares[best]))
    }

    /// What leads from a parent to a node.
    fn condition(&self, parent: usize, node: usize) -> String {
        let column = self.schema.column(self.tree.feature[parent] as usize);
        let name = plain(&column.name);
        if self.tree.is_multiway(parent) {
            let value = self.tree.value[node];
            let level = column.levels().and_then(|levels| levels.get(value as usize));
            return format!("{name} = {}", level.map_or_else(|| number(value), |l| plain(l)));
        }
        let sign = if self.tree.first[parent] as usize == node { "<=" } else { ">" };
        format!("{name} {sign} {}", number(self.tree.threshold[parent]))
    }

    fn sketches(&self) -> Vec<Sketch> {
        let (tree, parents) = (&self.tree, self.tree.parents());
        let mut place = vec![0; tree.len()];
        let mut out: Vec<Sketch> = Vec::with_capacity(tree.len());
        for node in tree.in_order() {
            place[node] = out.len();
            let parent = (node > 0).then(|| parents[node] as usize);
            let weight = tree.weight(node);
            let column = (!tree.is_leaf(node)).then(|| tree.feature[node] as usize);
            out.push(Sketch {
                parent: parent.map(|parent| place[parent]),
                depth: parent.map_or(0, |parent| out[place[parent]].depth + 1),
                condition: parent.map_or("root".into(), |parent| self.condition(parent, node)),
                question: column.map(|column| plain(&self.schema.column(column).name)),
                rows: weight,
                weight,
                impurity: ImpurityKind::Entropy.of(tree.counts_of(node)),
                prediction: self.label(node),
                values: tree.shares(node),
            });
        }
        out
    }

    fn report(&self, _: &Names) -> Answer {
        text::report("Decision tree with a branch a category", &self.sketches(), None)
    }

    fn validate(&self) -> Result<()> {
        self.tree.validate(self.schema.len(), self.classes.len())?;
        let derived = self.n_leaves == self.tree.leaves() && self.depth == self.tree.depth();
        match derived && !self.classes.is_empty() && self.losses.fits(self.classes.len()) {
            true => Ok(()),
            false => Err(invalid("a tree whose numbers do not fit its nodes")),
        }
    }
}

impl Classifier for MultiwayTreeModel {
    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        self.tree.predict(x, run)
    }

    fn classify_in(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        Ok(self.tree.predict(x, run)?.rows().map(|shares| self.losses.label(shares)).collect())
    }
}
