//! Classification tree with linear-combination splits: a node asks whether Σ a_j x_j <= s.
//!
//! The best cut of single columns is compared with cuts along directions: S⁻¹ (m_k - m) for each class k,
//! with S the scatter within classes and m_k, m the means of the class and of the others (`discriminant`), or
//! the best single column (`search`); from there, coordinate steps of falling size are kept if they gain. A direction is taken only if it gains more than the best column. Growth ends when nodes are
//! pure, a limit is met or nothing can be cut; ties go to columns, then to the first class.
//!
//! Breiman, Friedman, Olshen and Stone (1984), section 5.2; Murthy, Kasif and Salzberg (1994), Journal of
//! Artificial Intelligence Research 2, 1-32.

use super::decision_tree_classifier::TreeClassifierCriterion;
use super::grow::{Columns as Prepared, Criterion, Entropy, Gini, Limits, Settings, Summary, grow};
use super::nodes::NONE;
use super::questions::{EXPORT, export_answer};
use super::text::{self, Sketch};
use learnt_core::answer::number;
use learnt_core::error::plain;
use learnt_core::estimator::first_maximum;
use learnt_core::linalg::{Cholesky, mirror_lower};
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// Rounds of coordinate steps.
const CYCLES: usize = 12;

/// Oblique decision tree: splits on weighted sums of columns where they are better than single ones.
///
/// ```
/// use learnt::{prelude::*, tree::ObliqueTreeClassifier};
/// let x = Matrix::from_fn(100, 2, |i, j| ((i * (7 + 12 * j)) % 50) as f64);
/// let y: Vec<Label> = (0..100).map(|i| Label::Bool(x[(i, 0)] + x[(i, 1)] > 49.5)).collect();
/// let data = OwnedDataset::classification(x, &y);
/// let model = ObliqueTreeClassifier::default().fit(&data.view())?;
/// assert_eq!(model.n_leaves, 2);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct ObliqueTreeClassifier {
    /// The impurity measure of a node: Gini or entropy.
    #[param(default = TreeClassifierCriterion::Gini, search = set("gini", "entropy"))]
    pub criterion: TreeClassifierCriterion,
    /// Where directions come from.
    #[param(default = SplitDirection::Discriminant)]
    pub direction: SplitDirection,
    /// Maximum depth of the tree; none means no limit.
    #[param(default = None, range = 1.., search = set(none, 2, 4, 8))]
    pub max_depth: Option<usize>,
    /// Minimum number of rows to split a node.
    #[param(default = 2, range = 2..)]
    pub min_samples_split: usize,
    /// Minimum number of rows in a leaf.
    #[param(default = 1, range = 1.., search = set(1, 5, 20))]
    pub min_samples_leaf: usize,
}

/// Where the directions of splits come from.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum SplitDirection {
    /// Between the means of classes, by the scatter within them.
    Discriminant,
    /// Coordinate steps from the best single column.
    Search,
}

/// A fitted [`ObliqueTreeClassifier`].
#[derive(Model, Clone, Debug, PartialEq)]
#[model(classifier, validate = validate, report = report, questions = QUESTIONS)]
pub struct ObliqueTreeClassifierModel {
    /// Number of leaves.
    pub n_leaves: usize,
    /// Depth of the deepest leaf; a single leaf has 0.
    pub depth: usize,
    left: Vec<u32>,
    right: Vec<u32>,
    /// Sums up to it go left.
    #[finite]
    threshold: Vec<f64>,
    /// Coefficients of a node's sum, a row a node; zeros in leaves.
    #[finite]
    directions: Matrix,
    /// Shares of classes, a row a node.
    #[share]
    shares: Matrix,
    rows: Vec<u32>,
    #[positive]
    weight: Vec<f64>,
    #[nonnegative]
    impurity: Vec<f64>,
    schema: Schema,
    classes: Vec<Label>,
}

const QUESTIONS: &[Question] = &[EXPORT];

impl Estimator for ObliqueTreeClassifier {
    type Model = ObliqueTreeClassifierModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("tree.ObliqueTreeClassifier")
        .alias(&["oblique-tree"])
        .weights()
        .only_by_name()
        .threads()
        .complexity(46)
        .cost("p n log n a level to sort, p² n for directions")
        .reference("Breiman, Friedman, Olshen, Stone (1984); Murthy, Kasif and Salzberg (1994)");

    fn train(&self, data: &Dataset, run: &Context) -> Result<ObliqueTreeClassifierModel> {
        let (codes, classes) = data.class_target()?;
        let columns = data.x.ncols();
        run.claim_table(columns, columns, "the scatter within classes")?;
        let weights = data.weights.map(<[f64]>::to_vec);
        match self.criterion {
            TreeClassifierCriterion::Gini => {
                let criterion = Gini::new(codes.to_vec(), classes.len(), weights);
                Growing { learner: self, data, codes, classes, criterion, run: *run }.grown()
            }
            _ => {
                let criterion = Entropy::new(codes.to_vec(), classes.len(), weights);
                Growing { learner: self, data, codes, classes, criterion, run: *run }.grown()
            }
        }
    }
}

impl ObliqueTreeClassifier {
    fn constraints(&self) -> Result<()> {
        match self.criterion {
            TreeClassifierCriterion::Exponential => {
                Err(Error::parameter("criterion", "'gini' or 'entropy'", "'exponential'"))
            }
            _ => Ok(()),
        }
    }
}

/// What growing needs.
struct Growing<'a, C: Criterion> {
    learner: &'a ObliqueTreeClassifier,
    data: &'a Dataset<'a>,
    codes: &'a [u32],
    classes: &'a [Label],
    criterion: C,
    run: Context<'a>,
}

/// A cut along a direction.
#[derive(Clone, Debug)]
struct Oblique {
    direction: Vec<f64>,
    threshold: f64,
    gain: f64,
}

impl<C: Criterion> Growing<'_, C> {
    fn grown(&self) -> Result<ObliqueTreeClassifierModel> {
        let columns = self.data.x.ncols();
        let mut model = ObliqueTreeClassifierModel {
            n_leaves: 0,
            depth: 0,
            left: Vec::new(),
            right: Vec::new(),
            threshold: Vec::new(),
            directions: Matrix::default(),
            shares: Matrix::default(),
            rows: Vec::new(),
            weight: Vec::new(),
            impurity: Vec::new(),
            schema: self.data.x.schema().clone(),
            classes: self.classes.to_vec(),
        };
        let (mut directions, mut shares): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        let all: Vec<u32> = (0..self.data.nrows() as u32).collect();
        let mut open = vec![(all, 0, NONE)];
        while let Some((rows, depth, parent)) = open.pop() {
            self.run.checkpoint()?;
            let id = model.left.len() as u32;
            if parent != NONE {
                let parent = parent as usize;
                let side =
                    if model.left[parent] == NONE { &mut model.left } else { &mut model.right };
                side[parent] = id;
            }
            let summary = self.criterion.summary(&rows);
            model.left.push(NONE);
            model.right.push(NONE);
            model.rows.push(rows.len() as u32);
            model.weight.push(summary.weight);
            model.impurity.push(summary.impurity);
            model.depth = model.depth.max(depth);
            shares.extend_from_slice(&summary.value);
            let Some(cut) = self.split(&rows, &summary, depth)? else {
                model.n_leaves += 1;
                model.threshold.push(0.0);
                directions.extend(vec![0.0; columns]);
                continue;
            };
            let goes_left = |&row: &u32| self.along(&cut.direction, row) <= cut.threshold;
            let (lefts, rights) = rows.iter().partition(|row| goes_left(row));
            model.threshold.push(cut.threshold);
            directions.extend(cut.direction);
            open.push((rights, depth + 1, id));
            open.push((lefts, depth + 1, id));
        }
        let nodes = model.left.len();
        model.directions = Matrix::from_vec(nodes, columns, directions)?;
        model.shares = Matrix::from_vec(nodes, self.classes.len(), shares)?;
        Ok(model)
    }

    fn along(&self, direction: &[f64], row: u32) -> f64 {
        let values = self.data.x.values();
        let term = |(j, a): (usize, &f64)| a * values.at(row as usize, j);
        direction.iter().enumerate().filter(|(_, a)| **a != 0.0).map(term).sum()
    }

    /// The split of a node: the best column, or a direction that gains more.
    fn split(&self, rows: &[u32], summary: &Summary, depth: usize) -> Result<Option<Oblique>> {
        let ObliqueTreeClassifier { max_depth, min_samples_split, .. } = *self.learner;
        if summary.pure
            || max_depth.is_some_and(|most| depth >= most)
            || rows.len() < min_samples_split
        {
            return Ok(None);
        }
        let places: Vec<usize> = rows.iter().map(|&row| row as usize).collect();
        let axis = self.stump(&self.data.x.gather(&places), rows)?.map(|(column, cut, gain)| {
            let mut direction = vec![0.0; self.data.x.ncols()];
            direction[column] = 1.0;
            Oblique { direction, threshold: cut, gain }
        });
        let mut best = axis.clone();
        let whole = summary.weight * summary.impurity;
        // A tie stays with the column.
        let tolerance = 1e-9 * whole;
        let mut offer = |found: Option<Oblique>| {
            let bar = best.as_ref().map_or(f64::NEG_INFINITY, |best| best.gain + tolerance);
            if found.as_ref().is_some_and(|found| found.gain > bar) {
                best = found;
            }
        };
        match self.learner.direction {
            SplitDirection::Discriminant => {
                let mut first: Option<Oblique> = None;
                for direction in self.discriminants(rows)? {
                    let found = self.cut(direction, rows)?;
                    let gain = |cut: &Option<Oblique>| {
                        cut.as_ref().map_or(f64::NEG_INFINITY, |cut| cut.gain)
                    };
                    if gain(&found) > gain(&first) + tolerance {
                        first = found;
                    }
                }
                offer(self.searched(first, rows, whole)?);
            }
            SplitDirection::Search => offer(self.searched(axis, rows, whole)?),
        }
        Ok(best.filter(|best| best.gain > f64::NEG_INFINITY))
    }

    /// The best cut of a table's columns: column, cut and gain.
    fn stump(&self, table: &Table, rows: &[u32]) -> Result<Option<(usize, f64, f64)>> {
        let settings = Settings {
            max_depth: 1,
            min_samples_split: 2,
            limits: Limits {
                min_rows: self.learner.min_samples_leaf,
                min_weight: 0.0,
                only: None,
                monotone: None,
            },
            max_features: table.schema().len(),
            max_leaf_nodes: None,
            min_impurity_decrease: 0.0,
            random: false,
            exhaustive: false,
            surrogates: 0,
            directions: Vec::new(),
            columns_once: false,
        };
        let prepared = Prepared::sorted(&table.frame(), &self.run)?;
        let tree = grow(prepared, &self.criterion.gather(rows), &settings, &self.run)?;
        if tree.is_leaf(0) {
            return Ok(None);
        }
        let cost = |node: usize| tree.weight[node] * tree.impurity[node];
        let gain = cost(0) - cost(tree.left[0] as usize) - cost(tree.right[0] as usize);
        Ok(Some((tree.feature[0] as usize, tree.threshold[0], gain)))
    }

    /// The best cut along a direction.
    fn cut(&self, direction: Vec<f64>, rows: &[u32]) -> Result<Option<Oblique>> {
        let column: Vec<f64> = rows.iter().map(|&row| self.along(&direction, row)).collect();
        if !column.iter().all(|x| x.is_finite()) {
            return Ok(None);
        }
        let table = Table::unnamed(Matrix::column_vector(column));
        let found = self.stump(&table, rows)?;
        Ok(found.map(|(_, threshold, gain)| Oblique { direction, threshold, gain }))
    }

    /// S⁻¹ (m_k - m) for each class of the node; with two classes one of them.
    fn discriminants(&self, rows: &[u32]) -> Result<Vec<Vec<f64>>> {
        let (columns, values) = (self.data.x.ncols(), self.data.x.values());
        let weight = |row: u32| self.data.weight(row as usize);
        let mean = |wanted: &dyn Fn(u32) -> bool| -> Option<Vec<f64>> {
            let own: Vec<u32> = rows.iter().copied().filter(|&row| wanted(row)).collect();
            let total: f64 = own.iter().map(|&row| weight(row)).sum();
            let sum = |j: usize| {
                own.iter().map(|&row| weight(row) * values.at(row as usize, j)).sum::<f64>()
            };
            (total > 0.0).then(|| (0..columns).map(|j| sum(j) / total).collect())
        };
        let code = |row: u32| self.codes[row as usize];
        let present: Vec<u32> = (0..self.classes.len() as u32)
            .filter(|&k| rows.iter().any(|&row| code(row) == k))
            .collect();
        let means: Vec<Vec<f64>> =
            present.iter().filter_map(|&k| mean(&|row| code(row) == k)).collect();
        let mut scatter = Matrix::zeros(columns, columns);
        for (count, &row) in rows.iter().enumerate() {
            if count.is_multiple_of(256) {
                self.run.checkpoint()?;
            }
            let place = present.iter().position(|&k| k == code(row)).unwrap_or(0);
            let apart: Vec<f64> =
                (0..columns).map(|j| values.at(row as usize, j) - means[place][j]).collect();
            for a in 0..columns {
                for b in 0..=a {
                    scatter[(a, b)] += weight(row) * apart[a] * apart[b];
                }
            }
        }
        mirror_lower(&mut scatter);
        let trace: f64 = (0..columns).map(|j| scatter[(j, j)]).sum();
        (0..columns).for_each(|j| {
            scatter[(j, j)] += (1e-6 * scatter[(j, j)]).max(1e-12 * trace).max(f64::MIN_POSITIVE);
        });
        let Some(factor) = Cholesky::new(&scatter) else { return Ok(Vec::new()) };
        let asked = if present.len() == 2 { &present[1..] } else { &present[..] };
        let direction = |&k: &u32| {
            let own = mean(&|row| code(row) == k)?;
            let others = mean(&|row| code(row) != k)?;
            let mut apart: Vec<f64> = own.iter().zip(&others).map(|(a, b)| a - b).collect();
            factor.solve_in_place(&mut apart);
            let length = apart.iter().map(|a| a.abs()).fold(0.0, f64::max);
            let sound = length > 0.0 && apart.iter().all(|a| a.is_finite());
            sound.then(|| apart.iter().map(|a| a / length).collect::<Vec<f64>>())
        };
        Ok(asked.iter().filter_map(direction).collect())
    }

    /// Coordinate steps from a direction, in units of the spreads of columns; `whole` is all there is to gain.
    fn searched(
        &self,
        start: Option<Oblique>,
        rows: &[u32],
        whole: f64,
    ) -> Result<Option<Oblique>> {
        let Some(mut best) = start else { return Ok(None) };
        let values = self.data.x.values();
        let spread = |j: usize| {
            let column = rows.iter().map(|&row| values.at(row as usize, j));
            let (low, high) =
                column.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
            high - low
        };
        let spreads: Vec<f64> = (0..self.data.x.ncols()).map(spread).collect();
        let size = |j: usize| best.direction[j].abs() * spreads[j];
        let largest = (0..spreads.len()).map(size).fold(0.0, f64::max);
        for cycle in 0..CYCLES {
            if best.gain >= whole * (1.0 - 1e-12) {
                break;
            }
            let step = largest * 0.5_f64.powi(cycle as i32 / 2);
            for j in (0..spreads.len()).filter(|&j| spreads[j] > 0.0) {
                for sign in [1.0, -1.0] {
                    let mut direction = best.direction.clone();
                    direction[j] += sign * step / spreads[j];
                    let found = self.cut(direction, rows)?;
                    best = match found {
                        Some(found) if found.gain > best.gain * (1.0 + 1e-9) => found,
                        _ => best,
                    };
                }
            }
        }
        Ok(Some(best))
    }
}

impl ObliqueTreeClassifierModel {
    fn is_leaf(&self, node: usize) -> bool {
        self.left[node] == NONE
    }

    fn leaves(&self, x: &Frame, run: &Context) -> Vec<u32> {
        let values = x.values();
        let mut leaves = vec![0; x.nrows()];
        run.par_fill(&mut leaves, 1024, |first, leaves| {
            for (i, leaf) in leaves.iter_mut().enumerate() {
                let mut node = 0;
                while !self.is_leaf(node) {
                    let terms = self.directions.row(node).iter().enumerate();
                    let used = terms.filter(|(_, a)| **a != 0.0);
                    let sum: f64 = used.map(|(j, a)| a * values.at(first + i, j)).sum();
                    let left = sum <= self.threshold[node];
                    node = if left { self.left[node] } else { self.right[node] } as usize;
                }
                *leaf = node as u32;
            }
        });
        leaves
    }

    /// What a node asks, in words.
    fn question(&self, node: usize) -> String {
        let mut words = String::new();
        for (j, &a) in self.directions.row(node).iter().enumerate().filter(|(_, a)| **a != 0.0) {
            let name = plain(&self.schema.column(j).name);
            let sign = match (words.is_empty(), a < 0.0) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            words += &match a.abs() == 1.0 {
                true => format!("{sign}{name}"),
                false => format!("{sign}{} {name}", number(a.abs())),
            };
        }
        words
    }

    fn sketches(&self) -> Vec<Sketch> {
        let mut parents = vec![None; self.left.len()];
        let mut out: Vec<Sketch> = Vec::with_capacity(self.left.len());
        for node in 0..self.left.len() {
            let parent: Option<usize> = parents[node];
            let condition = parent.map_or("root".to_string(), |parent| {
                let sign = if self.left[parent] as usize == node { "<=" } else { ">" };
                format!("{} {sign} {}", self.question(parent), number(self.threshold[parent]))
            });
            if !self.is_leaf(node) {
                parents[self.left[node] as usize] = Some(node);
                parents[self.right[node] as usize] = Some(node);
            }
            let shares = self.shares.row(node);
            let best = first_maximum(shares) as usize;
            let name = plain(&self.classes[best].to_string());
            out.push(Sketch {
                parent,
                depth: parent.map_or(0, |parent| out[parent].depth + 1),
                condition,
                question: (!self.is_leaf(node)).then(|| {
                    format!("{} <= {}", self.question(node), number(self.threshold[node]))
                }),
                rows: f64::from(self.rows[node]),
                weight: self.weight[node],
                impurity: self.impurity[node],
                prediction: format!("{name} ({})", number(shares[best])),
                values: shares.to_vec(),
            });
        }
        out
    }

    fn answer_question(&self, asked: &Asked) -> Result<Answer> {
        export_answer(&self.sketches(), asked)
    }

    fn report(&self, _: &Names) -> Answer {
        text::report("Oblique tree", &self.sketches(), None)
    }

    fn validate(&self) -> Result<()> {
        let nodes = self.left.len();
        let lengths = [self.right.len(), self.threshold.len(), self.rows.len(), self.weight.len()];
        let fits = nodes > 0
            && nodes < NONE as usize
            && !self.classes.is_empty()
            && lengths.iter().all(|&length| length == nodes)
            && self.impurity.len() == nodes
            && (self.directions.nrows(), self.directions.ncols()) == (nodes, self.schema.len())
            && (self.shares.nrows(), self.shares.ncols()) == (nodes, self.classes.len());
        if !fits {
            return Err(invalid("a tree whose arrays differ in length"));
        }
        let (mut depths, mut parents, mut leaves) = (vec![0; nodes], vec![0_u8; nodes], 0);
        for node in 0..nodes {
            match (self.left[node], self.right[node]) {
                (NONE, NONE) => leaves += 1,
                (left, right) => {
                    for child in [left as usize, right as usize] {
                        if child <= node || child >= nodes {
                            return Err(invalid("a child that is not after its parent"));
                        }
                        parents[child] = parents[child].saturating_add(1);
                        depths[child] = depths[node] + 1;
                    }
                }
            }
        }
        let tree = parents[0] == 0 && parents[1..].iter().all(|&count| count == 1);
        let derived =
            self.n_leaves == leaves && self.depth == depths.into_iter().max().unwrap_or(0);
        if tree && derived { Ok(()) } else { Err(invalid("nodes that are no tree")) }
    }
}

impl Classifier for ObliqueTreeClassifierModel {
    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let (expected, got) = (self.schema.len(), x.ncols());
        if expected != got {
            return Err(Error::shape("x", format!("{expected} columns"), got));
        }
        let leaves = self.leaves(x, run);
        let shares = leaves.iter().flat_map(|&leaf| self.shares.row(leaf as usize).iter().copied());
        Matrix::from_vec(x.nrows(), self.classes.len(), shares.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::DecisionTreeClassifier;

    fn oblique_line(rows: usize) -> OwnedDataset {
        // Points on both sides of 2 a - b = 30, none nearer than 8.
        let first = |i: usize| ((i * 37 + i / 9) % 101) as f64;
        let apart =
            |i: usize| (8 + i * 64 % 90) as f64 * if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        let x = Matrix::from_fn(rows, 2, |i, j| match j {
            0 => first(i),
            _ => 2.0 * first(i) - 30.0 - apart(i),
        });
        let y: Vec<Label> = (0..rows).map(|i| Label::Int(i64::from(apart(i) > 0.0))).collect();
        OwnedDataset::classification(x, &y)
    }

    #[test]
    fn an_oblique_line_is_one_split_and_many_of_single_columns() {
        let data = oblique_line(300);
        let model = ObliqueTreeClassifier::default().fit(&data.view()).unwrap();
        let (codes, _) = data.view().class_target().unwrap();
        let plain = DecisionTreeClassifier::default().fit(&data.view()).unwrap();
        assert!(plain.n_leaves > 8, "{}", plain.n_leaves);
        let first = model.directions.row(0);
        assert!((first[0] / first[1] + 2.0).abs() < 0.4, "{first:?}");
        assert_eq!(model.n_leaves, 2);
        assert_eq!(model.classify(&data.x.frame()).unwrap(), codes);
        let learner =
            ObliqueTreeClassifier { direction: SplitDirection::Search, ..Default::default() };
        let searched = learner.fit(&data.view()).unwrap();
        assert!(searched.n_leaves < plain.n_leaves);
        assert_eq!(searched.classify(&data.x.frame()).unwrap(), codes);
    }

    #[test]
    fn columns_are_kept_where_a_direction_gains_nothing() {
        let x = Matrix::from_fn(40, 2, |i, j| if j == 0 { i as f64 } else { (i * 7 % 11) as f64 });
        let y: Vec<Label> = (0..40).map(|i| Label::Bool(i >= 20)).collect();
        let data = OwnedDataset::classification(x, &y);
        let model = ObliqueTreeClassifier::default().fit(&data.view()).unwrap();
        assert_eq!((model.directions.row(0), model.threshold[0]), (&[1.0, 0.0][..], 19.5));
        let asked = EXPORT.ask(&[], None, Context::default()).unwrap();
        let text = model.answer(&asked).unwrap();
        assert!(format!("{:?}", text.value("text")).contains("<= 19.5"));
    }
}
