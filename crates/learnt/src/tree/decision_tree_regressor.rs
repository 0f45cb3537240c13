//! Regression tree (CART): binary splits x <= s, or a set of levels, that lower the error of one
//! number a leaf most; f(x) = Σ_m c_m I(x in R_m).
//!
//! A split maximises W I(node) - W_l I(left) - W_r I(right), with I the squared error around the
//! mean, the absolute error around the median, or half the Poisson deviance. Cuts are midpoints of
//! adjacent distinct values. Ties go to the first column, then the smallest cut; gains closer than
//! 1e-12 of the node's error are ties. Missing values try both sides and follow the larger child
//! where training had none, as do levels that a node has not seen.
//!
//! Breiman, Friedman, Olshen and Stone, "Classification and Regression Trees" (1984).

use super::grow::{Absolute, Poisson, Squared, check_one_number};
use super::kept::Kept;
use super::many::Walks;
use super::nodes::Tree;
use super::options::{Extras, Growth, Method, Splitter};
use super::prune::{self, PruningPath};
use super::questions::{
    EXPORT, LEAVES, NODES, PRUNING, RULES, export_answer, leaves_answer, nodes_answer,
    pruning_answer,
};
use super::surrogates::{SURROGATES, Surrogates};
use super::{rules, text};
use learnt_core::answer::number;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// Decision tree regressor (CART): splits on columns, with a mean in each leaf.
///
/// Takes categories, missing values and several targets as they are.
///
/// ```
/// use learnt::{prelude::*, tree::DecisionTreeRegressor};
/// let x = Matrix::from_fn(4, 1, |i, _| i as f64);
/// let data = OwnedDataset::regression(x, vec![1.0, 1.0, 5.0, 5.0]);
/// let model = DecisionTreeRegressor::default().fit(&data.view())?;
/// assert_eq!(model.predict(&data.x.frame())?.column(0), [1.0, 1.0, 5.0, 5.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct DecisionTreeRegressor {
    /// The error measure that splits reduce.
    #[param(default = TreeRegressorCriterion::SquaredError)]
    pub criterion: TreeRegressorCriterion,
    /// Which cut of a column is taken.
    #[param(default = Splitter::Best)]
    pub splitter: Splitter,
    /// When growing stops, what a node looks at, and what is pruned.
    #[param(flatten)]
    pub growth: Growth,
    /// Maximum number of surrogates of a split, which say where rows with a missing value go.
    #[param(default = 0)]
    pub max_surrogates: usize,
}

/// The error measure that splits reduce.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum TreeRegressorCriterion {
    /// Squared error; leaves predict the mean.
    SquaredError,
    /// Friedman's improvement score: for two children the same splits as `squared_error`.
    FriedmanMse,
    /// Absolute error; leaves predict the median.
    AbsoluteError,
    /// Half the Poisson deviance, for counts; leaves predict the mean.
    Poisson,
}

/// A fitted [`DecisionTreeRegressor`].
#[derive(Model, Clone, Debug, PartialEq)]
#[model(regressor, validate = validate, report = report, questions = QUESTIONS, looks, prepares)]
pub struct DecisionTreeRegressorModel {
    /// Share of each column in the decrease of impurity.
    pub feature_importances: Vec<f64>,
    /// Number of leaves.
    pub n_leaves: usize,
    /// Depth of the deepest leaf; a single leaf has 0.
    pub depth: usize,
    pub(super) tree: Tree,
    schema: Schema,
    #[model(later)]
    surrogates: Surrogates,
    #[model(transient)]
    walks: Kept<Walks>,
}

impl Estimator for DecisionTreeRegressor {
    type Model = DecisionTreeRegressorModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::regressor("tree.DecisionTreeRegressor")
        .alias(&["tree", "decision-tree", "cart"])
        .weights()
        .missing()
        .categories()
        .many_outputs()
        .randomness()
        .threads()
        .complexity(40)
        .cost("p n log n time to sort, p n a level; 16 bytes a value")
        .reference("Breiman, Friedman, Olshen, Stone (1984)")
        .exempt(&[("seeds_differ", "only `splitter` random and `max_features` draw")]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<DecisionTreeRegressorModel> {
        let y = data.real_target()?;
        let (values, outputs) = (y.to_matrix().into_vec(), y.ncols());
        check_one_number(self.growth.monotonic_cst.is_some(), 0, outputs)?;
        let weights = data.weights.map(<[f64]>::to_vec);
        let (growth, splitter, x) = (&self.growth, self.splitter, &data.x);
        let extras = Extras { surrogates: self.max_surrogates, ..Extras::default() };
        let tree = match self.criterion {
            TreeRegressorCriterion::SquaredError | TreeRegressorCriterion::FriedmanMse => {
                growth.grow(splitter, extras, x, &Squared::new(values, outputs, weights), run)?
            }
            TreeRegressorCriterion::AbsoluteError => {
                growth.grow(splitter, extras, x, &Absolute::new(values, outputs, weights), run)?
            }
            TreeRegressorCriterion::Poisson => {
                check_counts(&y)?;
                growth.grow(splitter, extras, x, &Poisson::new(values, outputs, weights), run)?
            }
        };
        Ok(DecisionTreeRegressorModel {
            feature_importances: tree.importances(),
            n_leaves: tree.leaves(),
            depth: tree.depth(),
            surrogates: Surrogates::of(&tree, x, data.weights, self.max_surrogates, run)?,
            tree,
            schema: data.x.schema().clone(),
            walks: Kept::default(),
        })
    }
}

/// Poisson deviance needs targets that are not negative and not all zero.
pub(crate) fn check_counts(y: &MatRef) -> Result<()> {
    check_not_negative(y, 0)?;
    let no_event = |j: usize| (0..y.nrows()).all(|i| y.at(i, j) == 0.0);
    if (0..y.ncols()).any(no_event) { Err(no_events()) } else { Ok(()) }
}

/// Refuses targets below zero, in rows from this number on.
pub(crate) fn check_not_negative(y: &MatRef, first_row: u64) -> Result<()> {
    for j in 0..y.ncols() {
        if let Some(i) = (0..y.nrows()).find(|&i| y.at(i, j) < 0.0) {
            let row = first_row + i as u64 + 1;
            let message = format!(
                "the target holds {} in row {row}, and the criterion 'poisson' needs values >= 0",
                y.at(i, j),
            );
            return Err(Error::new(Code::Target, message)
                .row(row)
                .hint("set criterion to 'squared_error'"));
        }
    }
    Ok(())
}

/// Targets without a single event.
pub(crate) fn no_events() -> Error {
    let message =
        "the target is zero in every row, and the criterion 'poisson' needs a positive sum";
    Error::new(Code::Target, message)
}

impl DecisionTreeRegressor {
    fn constraints(&self) -> Result<()> {
        let absolute = self.criterion == TreeRegressorCriterion::AbsoluteError;
        match absolute && self.growth.method == Method::Histogram {
            true => {
                let expected =
                    "'exact' with the criterion 'absolute_error', whose medians need all rows";
                Err(Error::parameter("method", expected, "'histogram'"))
            }
            false => Ok(()),
        }
    }

    /// The subtrees that `ccp_alpha` chooses from.
    pub fn cost_complexity_pruning_path(&self, data: &Dataset) -> Result<PruningPath> {
        let mut full = self.clone();
        full.growth.ccp_alpha = 0.0;
        Ok(full.fit(data)?.pruning_path())
    }
}

const QUESTIONS: &[Question] = &[EXPORT, RULES, NODES, LEAVES, PRUNING, SURROGATES];

impl DecisionTreeRegressorModel {
    /// One tree of many, as a model of its own.
    pub(crate) fn of_tree(tree: Tree, schema: &Schema) -> Self {
        DecisionTreeRegressorModel {
            feature_importances: tree.importances(),
            n_leaves: tree.leaves(),
            depth: tree.depth(),
            tree,
            schema: schema.clone(),
            surrogates: Surrogates::default(),
            walks: Kept::default(),
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
            _ => Ok(rules::table(&found()?, &self.schema, row)),
        }
    }

    fn sketches(&self) -> Vec<text::Sketch> {
        text::sketches(&self.tree, &self.schema, |node| self.label(node), usize::MAX)
    }

    fn label(&self, node: usize) -> String {
        let values: Vec<String> = self.tree.value(node).iter().map(|&x| number(x)).collect();
        values.join(", ")
    }

    fn report(&self, _: &Names) -> Answer {
        let importance = text::importance_table(&self.schema, &self.feature_importances);
        let mut report = text::report("Regression tree", &self.sketches(), Some(importance));
        report.charts.extend(text::partition(&self.tree, &self.schema, |node| self.label(node)));
        report
    }

    fn validate(&self) -> Result<()> {
        self.tree.validate(&self.schema, self.tree.outputs)?;
        self.surrogates.validate(&self.tree)?;
        let derived = self.feature_importances == self.tree.importances()
            && self.n_leaves == self.tree.leaves()
            && self.depth == self.tree.depth();
        match derived && self.tree.outputs > 0 {
            true => Ok(()),
            false => Err(invalid("a tree whose numbers do not fit its nodes")),
        }
    }
}

impl Regressor for DecisionTreeRegressorModel {
    fn predict_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let leaves = self.apply(x, run)?;
        self.tree.values_of(&leaves, run)
    }
}
