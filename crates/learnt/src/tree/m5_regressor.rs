//! M5 model tree: a regression tree with a linear model in every node.
//!
//! Splits maximise sd(T) - Σ n_i/n sd(T_i) until the standard deviation of a node is below a share of the
//! root's or a side would have too few rows. Every node gets a least-squares model in the quantities that
//! its subtree asks for, without those whose removal does not raise the estimated error
//! rmse (n + v)/(n - v), v parameters. From the leaves up, a subtree whose estimated error, with the
//! parameters of its leaves and one for each split, is no smaller than that of the model of its root becomes
//! a leaf. Smoothing mixes the prediction p of a node with n rows
//! with that of its parent, q: (n p + k q)/(n + k), up to the root. In models a missing value is the mean
//! of its column. Growth ends when nothing can be split; ties go to the first column, the smallest cut.
//!
//! Quinlan (1992), Learning with continuous classes; Wang and Witten (1997).

use super::grow::{Columns as Prepared, Deviation, Limits, Settings, grow};
use super::nodes::{NONE, Tree};
use super::questions::{EXPORT, RULES, export_answer};
use super::{rules, text};
use learnt_core::answer::number;
use learnt_core::error::plain;
use learnt_core::linalg::triangle_of;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// M5 model tree regressor: a tree with linear models in its leaves.
///
/// Categories split nodes and take no part in the linear models. Weights count as rows.
///
/// ```
/// use learnt::{prelude::*, tree::M5Regressor};
/// let x = Matrix::from_fn(40, 1, |i, _| i as f64);
/// let y = (0..40).map(|i| if i < 20 { 2.0 * i as f64 } else { 160.0 - 2.0 * i as f64 }).collect();
/// let data = OwnedDataset::regression(x, y);
/// let model = M5Regressor { smoothing: false, ..Default::default() }.fit(&data.view())?;
/// assert_eq!(model.n_leaves, 2);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct M5Regressor {
    /// Minimum number of rows on both sides of a split; nodes with less than twice as many stay leaves.
    #[param(default = 2, range = 1.., search = set(2, 4, 10))]
    pub min_samples_leaf: usize,
    /// Maximum depth of the tree; none means no limit.
    #[param(default = None, range = 1..)]
    pub max_depth: Option<usize>,
    /// Nodes whose standard deviation is below this share of the root's are not split.
    #[param(default = 0.05, range = 0.0..1.0)]
    pub min_deviation: f64,
    /// Whether subtrees that are no better than a linear model become leaves.
    #[param(default = true)]
    pub pruning: bool,
    /// Whether predictions are mixed with those of the nodes above.
    #[param(default = true)]
    pub smoothing: bool,
    /// How many rows the prediction of the node above counts for.
    #[param(default = 15.0, range = 0.0..)]
    pub smoothing_rows: f64,
}

/// A fitted [`M5Regressor`].
#[derive(Model, Clone, Debug, PartialEq)]
#[model(regressor, validate = validate, report = report, questions = QUESTIONS)]
pub struct M5RegressorModel {
    /// Number of leaves.
    pub n_leaves: usize,
    /// Depth of the deepest leaf; a single leaf has 0.
    pub depth: usize,
    tree: Tree,
    /// Where the terms of each node's model begin.
    starts: Vec<u32>,
    /// Columns of the terms, and their coefficients.
    terms: Vec<u32>,
    #[finite]
    coefficients: Vec<f64>,
    #[finite]
    intercepts: Vec<f64>,
    /// Means of the columns, for missing values.
    #[finite]
    means: Vec<f64>,
    /// Rows that a parent counts for; 0 without smoothing.
    smoothing: f64,
    schema: Schema,
}

const QUESTIONS: &[Question] = &[EXPORT, RULES];

/// A linear model of a node.
#[derive(Clone, Debug, Default)]
struct Line {
    columns: Vec<u32>,
    coefficients: Vec<f64>,
    intercept: f64,
    /// The estimated error, and the sum of squares that is left.
    error: f64,
    squares: f64,
}

impl Estimator for M5Regressor {
    type Model = M5RegressorModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::regressor("tree.M5Regressor")
        .alias(&["m5", "m5p"])
        .weights()
        .missing()
        .categories()
        .threads()
        .complexity(44)
        .cost("p n log n time to sort, p n a level, n p² a level for models; 16 bytes a value")
        .reference("Quinlan (1992); Wang and Witten (1997)")
        .exempt(&[("weights_scale", "weights count as rows, which bound leaves and errors")]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<M5RegressorModel> {
        let target = data.real_target()?.column(0);
        let rows: Vec<u32> = (0..data.nrows() as u32).collect();
        let weights = data.weights.map(<[f64]>::to_vec);
        let mut criterion = Deviation::new(target.clone(), weights.clone(), 0.0);
        let root = super::grow::Criterion::summary(&criterion, &rows);
        if root.impurity > 0.0 {
            criterion = Deviation::new(target.clone(), weights, self.min_deviation * root.impurity);
        }
        let settings = Settings {
            max_depth: self.max_depth.unwrap_or(usize::MAX),
            min_samples_split: 2,
            limits: Limits {
                min_rows: 1,
                min_weight: self.min_samples_leaf as f64 * (1.0 - 1e-12),
                only: None,
                monotone: None,
            },
            max_features: data.x.ncols(),
            max_leaf_nodes: None,
            min_impurity_decrease: 0.0,
            random: false,
            exhaustive: false,
            surrogates: 0,
            directions: Vec::new(),
            columns_once: false,
        };
        let tree = grow(Prepared::sorted(&data.x, run)?, &criterion, &settings, run)?;
        let fitting = Fitting::new(&tree, data, &target, run)?;
        let (tree, lines) = fitting.pruned(&tree, self.pruning, run)?;
        let mut model = M5RegressorModel {
            n_leaves: tree.leaves(),
            depth: tree.depth(),
            tree,
            starts: vec![0],
            terms: Vec::new(),
            coefficients: Vec::new(),
            intercepts: Vec::new(),
            means: fitting.means,
            smoothing: if self.smoothing { self.smoothing_rows } else { 0.0 },
            schema: data.x.schema().clone(),
        };
        for line in lines {
            model.terms.extend(line.columns);
            model.coefficients.extend(line.coefficients);
            model.intercepts.push(line.intercept);
            model.starts.push(model.terms.len() as u32);
        }
        Ok(model)
    }
}

/// What models of nodes are fitted from: the rows of a node stand side by side in `order`.
struct Fitting<'a> {
    x: Frame<'a>,
    y: &'a [f64],
    weights: Option<&'a [f64]>,
    order: Vec<u32>,
    /// Where the rows of each node begin and end.
    ranges: Vec<(usize, usize)>,
    means: Vec<f64>,
}

impl<'a> Fitting<'a> {
    fn new(tree: &Tree, data: &Dataset<'a>, y: &'a [f64], run: &Context) -> Result<Self> {
        let leaves = tree.apply(&data.x, run)?;
        let mut order: Vec<u32> = (0..data.nrows() as u32).collect();
        order.sort_by_key(|&row| leaves[row as usize]);
        let mut ranges = vec![(0, 0); tree.len()];
        let mut start = 0;
        for group in order.chunk_by(|&a, &b| leaves[a as usize] == leaves[b as usize]) {
            ranges[leaves[group[0] as usize] as usize] = (start, start + group.len());
            start += group.len();
        }
        // A subtree is a run of nodes, so its rows are a run too.
        for node in (0..tree.len()).rev().filter(|&node| !tree.is_leaf(node)) {
            let (left, right) = (tree.left[node] as usize, tree.right[node] as usize);
            ranges[node] = (ranges[left].0, ranges[right].1);
        }
        let mean = |j: usize| {
            let known = (0..data.nrows()).filter(|&i| !data.x.values().at(i, j).is_nan());
            let (sum, weight) = known.fold((0.0, 0.0), |(sum, weight), i| {
                (sum + data.weight(i) * data.x.values().at(i, j), weight + data.weight(i))
            });
            if weight > 0.0 && (sum / weight).is_finite() { sum / weight } else { 0.0 }
        };
        let means = (0..data.x.ncols()).map(mean).collect();
        Ok(Fitting { x: data.x, y, weights: data.weights, order, ranges, means })
    }

    fn value(&self, row: u32, column: u32) -> f64 {
        let value = self.x.values().at(row as usize, column as usize);
        if value.is_nan() { self.means[column as usize] } else { value }
    }

    /// Fits every node, from the last to the first, and prunes on the way.
    fn pruned(&self, tree: &Tree, pruning: bool, run: &Context) -> Result<(Tree, Vec<Line>)> {
        let n = tree.len();
        let asked = asked_below(tree);
        let lines = run.try_par_map(n, |node| {
            run.checkpoint()?;
            self.fit(node, &asked[node], run)
        })?;
        let mut tree = tree.clone();
        let mut squares: Vec<f64> = lines.iter().map(|line| line.squares).collect();
        let mut parameters: Vec<f64> =
            lines.iter().map(|line| line.columns.len() as f64 + 1.0).collect();
        for node in (0..n).rev().filter(|&node| !tree.is_leaf(node)).collect::<Vec<_>>() {
            let (left, right) = (tree.left[node] as usize, tree.right[node] as usize);
            let below = squares[left] + squares[right];
            // A split is a parameter too.
            let count = parameters[left] + parameters[right] + 1.0;
            let total = tree.weight[node];
            let subtree = (below / total).sqrt() * factor(total, count);
            // A subtree without any error left is no better than a model without any.
            if pruning && lines[node].error <= subtree + 1e-9 * tree.impurity[0] {
                tree.feature[node] = NONE;
                tree.level_start[node] = NONE;
                tree.threshold[node] = 0.0;
                tree.missing_left[node] = false;
            } else {
                squares[node] = below;
                parameters[node] = count;
            }
        }
        let kept = kept_in_preorder(&tree);
        Ok((tree.in_preorder(), kept.into_iter().map(|node| lines[node].clone()).collect()))
    }

    /// The model of a node in these columns, without those that it does not need.
    fn fit(&self, node: usize, columns: &[u32], run: &Context) -> Result<Line> {
        let rows = &self.order[self.ranges[node].0..self.ranges[node].1];
        let weight = |row: u32| self.weights.map_or(1.0, |weights| weights[row as usize]);
        let total: f64 = rows.iter().map(|&row| weight(row)).sum();
        let mean = |value: &dyn Fn(u32) -> f64| {
            let first = rows.first().map_or(0.0, |&row| value(row));
            first + rows.iter().map(|&row| weight(row) * (value(row) - first)).sum::<f64>() / total
        };
        let spread = |value: &dyn Fn(u32) -> f64, mean: f64| {
            let squares = rows.iter().map(|&row| weight(row) * (value(row) - mean).powi(2));
            (squares.sum::<f64>() / total).sqrt()
        };
        let target = |row: u32| self.y[row as usize];
        let centre = mean(&target);
        let mut used: Vec<(u32, f64, f64)> = Vec::new();
        for &column in columns {
            let value = |row: u32| self.value(row, column);
            let middle = mean(&value);
            let scale = spread(&value, middle);
            if scale.is_finite() && scale > 1e-12 * middle.abs() && scale > 0.0 {
                used.push((column, middle, scale));
            }
        }
        let width = used.len() + 1;
        run.claim(8 * (rows.len() * width) as u64, "rows of a linear model")?;
        let table = Matrix::from_fn(rows.len(), width, |i, k| {
            let root = weight(rows[i]).sqrt();
            match used.get(k) {
                Some(&(column, middle, scale)) => {
                    root * (self.value(rows[i], column) - middle) / scale
                }
                None => root * (target(rows[i]) - centre),
            }
        });
        let triangle = triangle_of(table.view());
        let solved = Chosen::eliminate(&triangle, total);
        let squares = left_over(&triangle, &reduced(&triangle, &solved.columns)).powi(2);
        let plain = Line { intercept: centre, error: solved.error, squares, ..Line::default() };
        let mut line = plain.clone();
        for (&k, beta) in solved.columns.iter().zip(solved.solution(&triangle)) {
            let (column, middle, scale) = used[k];
            line.columns.push(column);
            line.coefficients.push(beta / scale);
            line.intercept -= beta / scale * middle;
        }
        match line.intercept.is_finite() && line.coefficients.iter().all(|c| c.is_finite()) {
            true => Ok(line),
            false => Ok(plain),
        }
    }
}

/// Some columns of a least-squares problem, given by its triangle.
struct Chosen {
    columns: Vec<usize>,
    error: f64,
}

impl Chosen {
    /// Columns are dropped one at a time while the estimated error does not rise.
    fn eliminate(triangle: &Matrix, total: f64) -> Self {
        let all: Vec<usize> = (0..triangle.ncols() - 1).collect();
        let mut best = Chosen { error: estimate(triangle, &all, total), columns: all };
        while !best.columns.is_empty() {
            let without = |k: usize| {
                let mut columns = best.columns.clone();
                columns.remove(k);
                (estimate(triangle, &columns, total), columns)
            };
            let fewer = (0..best.columns.len()).map(without);
            let lowest = fewer.reduce(|a, b| if b.0 < a.0 { b } else { a });
            match lowest {
                Some((error, columns)) if error <= best.error => best = Chosen { columns, error },
                _ => break,
            }
        }
        best
    }

    /// The coefficients, by substitution from the last.
    fn solution(&self, triangle: &Matrix) -> Vec<f64> {
        let r = reduced(triangle, &self.columns);
        let v = self.columns.len();
        let mut beta = vec![0.0; v];
        for i in (0..v).rev() {
            let rest: f64 = (i + 1..v).map(|j| r[(i, j)] * beta[j]).sum();
            beta[i] = (r[(i, v)] - rest) / r[(i, i)];
        }
        beta
    }
}

/// The triangle of some columns and the target.
fn reduced(triangle: &Matrix, columns: &[usize]) -> Matrix {
    let target = triangle.ncols() - 1;
    let mut kept = columns.to_vec();
    kept.push(target);
    triangle_of(triangle.view().gather_columns(&kept).view())
}

/// rmse (n + v)/(n - v); infinite for columns that depend on each other or are too many.
fn estimate(triangle: &Matrix, columns: &[usize], total: f64) -> f64 {
    let r = reduced(triangle, columns);
    let v = columns.len();
    let parameters = v as f64 + 1.0;
    let scale = total.sqrt();
    if total <= parameters && v > 0 || (0..v).any(|i| r[(i, i)] <= 1e-9 * scale) {
        return f64::INFINITY;
    }
    left_over(triangle, &r) / scale * factor(total, parameters)
}

/// The root of the sum of squares that a triangle leaves; less than rounding is nothing.
fn left_over(triangle: &Matrix, reduced: &Matrix) -> f64 {
    let v = reduced.ncols() - 1;
    let whole = triangle.column(triangle.ncols() - 1).iter().map(|x| x * x).sum::<f64>().sqrt();
    if reduced[(v, v)] <= 1e-10 * whole { 0.0 } else { reduced[(v, v)] }
}

/// (n + v)/(n - v); 10 where there are as many parameters as rows.
fn factor(total: f64, parameters: f64) -> f64 {
    match total > parameters {
        true => (total + parameters) / (total - parameters),
        false => 10.0,
    }
}

/// The quantities that each node or its descendants ask for.
fn asked_below(tree: &Tree) -> Vec<Vec<u32>> {
    let mut asked: Vec<Vec<u32>> = vec![Vec::new(); tree.len()];
    for node in (0..tree.len()).rev().filter(|&node| !tree.is_leaf(node)) {
        let mut all = asked[tree.left[node] as usize].clone();
        all.extend(&asked[tree.right[node] as usize]);
        if tree.level_start[node] == NONE {
            all.push(tree.feature[node]);
        }
        all.sort_unstable();
        all.dedup();
        asked[node] = all;
    }
    asked
}

/// The nodes that are still reached, in the order that [`Tree::in_preorder`] gives them.
fn kept_in_preorder(tree: &Tree) -> Vec<usize> {
    let mut kept = Vec::new();
    let mut open = vec![0];
    while let Some(node) = open.pop() {
        kept.push(node);
        if !tree.is_leaf(node) {
            open.push(tree.right[node] as usize);
            open.push(tree.left[node] as usize);
        }
    }
    kept
}

impl M5RegressorModel {
    /// What the model of a node says.
    fn line(&self, node: usize, value: impl Fn(usize) -> f64) -> f64 {
        let terms = self.starts[node] as usize..self.starts[node + 1] as usize;
        let pairs = self.terms[terms.clone()].iter().zip(&self.coefficients[terms]);
        let term = |(&column, coefficient): (&u32, &f64)| {
            let x = value(column as usize);
            coefficient * if x.is_nan() { self.means[column as usize] } else { x }
        };
        self.intercepts[node] + pairs.map(term).sum::<f64>()
    }

    fn predict_row(&self, value: impl Fn(usize) -> f64, way: &mut Vec<usize>) -> f64 {
        way.clear();
        way.push(0);
        let mut node = 0;
        while !self.tree.is_leaf(node) {
            node = self.tree.next(node, value(self.tree.feature[node] as usize)) as usize;
            way.push(node);
        }
        let mut prediction = self.line(node, &value);
        if self.smoothing > 0.0 {
            for pair in way.windows(2).rev() {
                let n = self.tree.weight[pair[1]];
                let above = self.line(pair[0], &value);
                prediction = (n * prediction + self.smoothing * above) / (n + self.smoothing);
            }
        }
        prediction
    }

    fn label(&self, node: usize) -> String {
        let terms = self.starts[node] as usize..self.starts[node + 1] as usize;
        let mut words = number(self.intercepts[node]);
        for k in terms {
            let (sign, size) = if self.coefficients[k] < 0.0 { ("-", -1.0) } else { ("+", 1.0) };
            let name = plain(&self.schema.column(self.terms[k] as usize).name);
            words += &format!(" {sign} {} {name}", number(size * self.coefficients[k]));
        }
        words
    }

    fn sketches(&self) -> Vec<text::Sketch> {
        text::sketches(&self.tree, &self.schema, |node| self.label(node), usize::MAX)
    }

    fn answer_question(&self, asked: &Asked) -> Result<Answer> {
        match asked.name {
            "export" => export_answer(&self.sketches(), asked),
            _ => {
                let row = |node: usize| (self.label(node), self.tree.weight[node]);
                Ok(rules::table(&rules::of_binary(&self.tree)?, &self.schema, row))
            }
        }
    }

    fn report(&self, _: &Names) -> Answer {
        let mut report = text::report("Model tree", &self.sketches(), None);
        report.push("rows that the node above counts for", self.smoothing);
        report
    }

    fn validate(&self) -> Result<()> {
        self.tree.validate(&self.schema, 1)?;
        let (nodes, terms) = (self.tree.len(), self.terms.len());
        let fits = self.starts.len() == nodes + 1
            && self.intercepts.len() == nodes
            && self.coefficients.len() == terms
            && self.means.len() == self.schema.len()
            && self.starts[0] == 0
            && self.starts.windows(2).all(|pair| pair[0] <= pair[1])
            && self.starts[nodes] as usize == terms
            && self.terms.iter().all(|&column| (column as usize) < self.schema.len())
            && self.smoothing.is_finite()
            && self.smoothing >= 0.0
            && self.n_leaves == self.tree.leaves()
            && self.depth == self.tree.depth();
        if fits { Ok(()) } else { Err(invalid("models that do not fit the tree")) }
    }
}

impl Regressor for M5RegressorModel {
    fn predict_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        self.tree.check_width(x)?;
        let values = x.values();
        let mut out = vec![0.0; x.nrows()];
        run.par_fill(&mut out, 1024, |first, rows| {
            let mut way = Vec::new();
            for (i, prediction) in rows.iter_mut().enumerate() {
                *prediction = self.predict_row(|j| values.at(first + i, j), &mut way);
            }
        });
        match out.iter().all(|p| p.is_finite()) {
            true => Ok(Matrix::column_vector(out)),
            false => Err(Error::numeric("predictions of linear models that are too large")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::reference_tests::{case, near};

    fn mean_square(model: &M5RegressorModel, data: &OwnedDataset) -> (f64, f64) {
        let y = data.view().real_target().unwrap().column(0);
        let found = model.predict(&data.x.frame()).unwrap().into_vec();
        let squares: f64 = y.iter().zip(&found).map(|(a, b)| (a - b).powi(2)).sum();
        let r = learnt_core::stats::summary::correlation(&y, &found, None).unwrap();
        ((squares / y.len() as f64).sqrt(), r)
    }

    #[test]
    fn two_lines_are_two_leaves_without_error() {
        let x = Matrix::from_fn(60, 2, |i, j| ((i * (7 + 6 * j)) % 60) as f64);
        let y = (0..60)
            .map(|i| if x[(i, 0)] < 30.0 { 2.0 * x[(i, 0)] } else { 240.0 - 2.0 * x[(i, 0)] })
            .collect();
        let data = OwnedDataset::regression(x, y);
        let plain = M5Regressor { smoothing: false, ..Default::default() };
        let model = plain.fit(&data.view()).unwrap();
        assert_eq!(model.n_leaves, 2);
        assert!(mean_square(&model, &data).0 < 1e-9, "{:?}", mean_square(&model, &data));
        let unpruned = M5Regressor { pruning: false, ..plain }.fit(&data.view()).unwrap();
        assert!(unpruned.n_leaves > 10, "{} leaves", unpruned.n_leaves);
    }

    #[test]
    fn processors_are_fitted_as_well_as_by_weka() {
        let case = case("m5p-cpu");
        let data = crate::datasets::load("cpu").unwrap();
        let model = M5Regressor::default().fit(&data.view()).unwrap();
        let first = data.x.schema().column(model.tree.feature[0] as usize);
        let expected = &case["expect"];
        assert_eq!(first.name, expected["first_split"]["variable"].as_str().unwrap());
        near(model.tree.threshold[0], &expected["first_split"]["cut"], "first cut");
        let (rmse, correlation) = mean_square(&model, &data);
        assert!(model.n_leaves <= 11, "{} leaves", model.n_leaves);
        assert!(
            correlation >= expected["training_correlation"]["min"].as_f64().unwrap(),
            "{correlation}"
        );
        assert!(rmse <= expected["training_rmse"]["max"].as_f64().unwrap(), "{rmse}");
    }

    #[test]
    fn smoothing_mixes_a_leaf_with_the_node_above() {
        let x = Matrix::from_fn(40, 1, |i, _| i as f64);
        let y =
            (0..40).map(|i| if i < 20 { 2.0 * i as f64 } else { 160.0 - 2.0 * i as f64 }).collect();
        let data = OwnedDataset::regression(x, y);
        let model = M5Regressor::default().fit(&data.view()).unwrap();
        let value = |_| 5.0;
        let (leaf, root) = (model.line(1, value), model.line(0, value));
        let expected = (20.0 * leaf + 15.0 * root) / 35.0;
        let x = Matrix::from_fn(1, 1, |_, _| 5.0);
        let found = model.predict(&Table::unnamed(x).frame()).unwrap()[(0, 0)];
        assert!((leaf - 10.0).abs() < 1e-9 && (found - expected).abs() < 1e-9, "{found}");
    }
}
