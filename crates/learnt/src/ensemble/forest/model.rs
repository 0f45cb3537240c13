//! Fitted forests: the mean of the shares or numbers in the leaves of their trees.

use super::ForestModel;
use super::out_of_bag::OutOfBag;
use crate::inspect::{self, Attentive, Contributions, answer, check_output};
use crate::tree::contributions::contributions;
use crate::tree::dependence::traversed;
use crate::tree::kept::Kept;
use crate::tree::many::{Walks, add_up, check_finite, mean_importances};
use crate::tree::nodes::Tree;
use crate::tree::{
    DecisionTreeClassifier, DecisionTreeClassifierModel, DecisionTreeRegressor,
    DecisionTreeRegressorModel,
};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// A fitted forest of classification trees.
#[derive(Model, Clone, Debug, PartialEq)]
#[model(classifier, validate = validate, report = report, questions = QUESTIONS, looks, prepares)]
#[model(members = members)]
pub struct ForestClassifierModel {
    /// Share of each column in the decrease of impurity, the mean over trees.
    pub feature_importances: Vec<f64>,
    /// Share of training rows that trees which did not draw them classify right, if asked for.
    pub oob_score: Option<f64>,
    /// Share of wrong classes by the trees that did not draw a row, after each tree; empty unless `oob_score`.
    #[model(later)]
    #[finite]
    pub oob_curve: Vec<f64>,
    /// Rise of that error of single trees when a column is shuffled; empty unless `oob_importance`.
    #[model(later)]
    #[finite]
    pub oob_importances: Vec<f64>,
    /// Class shares of each training row by the trees that did not draw it; missing where all did.
    #[model(transient)]
    pub oob_decision_function: Matrix,
    trees: Vec<Tree>,
    #[model(transient)]
    walks: Kept<Walks>,
    schema: Schema,
    classes: Vec<Label>,
}

/// A fitted forest of regression trees.
#[derive(Model, Clone, Debug, PartialEq)]
#[model(regressor, validate = validate, report = report, questions = QUESTIONS, looks, prepares)]
#[model(members = members)]
pub struct ForestRegressorModel {
    /// Share of each column in the decrease of impurity, the mean over trees.
    pub feature_importances: Vec<f64>,
    /// R² over training rows of trees which did not draw them, if asked for.
    pub oob_score: Option<f64>,
    /// Mean squared error by the trees that did not draw a row, after each tree; empty unless `oob_score`.
    #[model(later)]
    #[finite]
    pub oob_curve: Vec<f64>,
    /// Rise of that error of single trees when a column is shuffled; empty unless `oob_importance`.
    #[model(later)]
    #[finite]
    pub oob_importances: Vec<f64>,
    /// The prediction for each training row by the trees that did not draw it; missing where all did.
    #[model(transient)]
    pub oob_prediction: Matrix,
    trees: Vec<Tree>,
    #[model(transient)]
    walks: Kept<Walks>,
    schema: Schema,
    outputs: usize,
}

/// What forests are asked: what other models of trees are, and how near rows are.
const QUESTIONS: &[Question] = &{
    let mut all = [PROXIMITIES; inspect::QUESTIONS.len() + 1];
    let mut k = 0;
    while k < inspect::QUESTIONS.len() {
        all[k] = inspect::QUESTIONS[k];
        k += 1;
    }
    all
};

/// A question without arguments.
#[derive(Params, Clone, Debug)]
struct NoArguments {}

const PROXIMITIES: Question = Question {
    name: "proximities",
    doc: "Share of the trees in which two rows are in one leaf, for each pair of rows.",
    needs: Needs::Rows,
    arguments: || Box::new(NoArguments::default()),
};

/// The share of trees in which two rows meet.
fn proximities(trees: &[Tree], x: &Frame, run: &Context) -> Result<Answer> {
    let rows = x.nrows();
    let cells = (rows as u64).saturating_mul(rows as u64).saturating_mul(8);
    run.claim(cells + 4 * (rows * trees.len()) as u64, "pairs of rows")?;
    let leaves: Vec<Vec<u32>> =
        trees.iter().map(|tree| tree.apply(x, run)).collect::<Result<_>>()?;
    let mut out = Matrix::zeros(rows, rows);
    run.par_fill(out.as_mut_slice(), rows.max(1), |first, row| {
        let i = first / rows.max(1);
        for (j, share) in row.iter_mut().enumerate() {
            let meet = leaves.iter().filter(|leaf| leaf[i] == leaf[j]).count();
            *share = meet as f64 / trees.len() as f64;
        }
    });
    let mut answer = Answer::new("Proximities");
    answer.push("proximities", out);
    Ok(answer)
}

/// The mean over trees of what they say where some columns are given.
fn walked(trees: &[Tree], outputs: usize, given: &dyn Fn(usize) -> Option<f64>) -> Vec<f64> {
    let mut sums = vec![0.0; outputs];
    for tree in trees {
        let said = traversed(tree, given);
        sums.iter_mut().zip(said).for_each(|(sum, x)| *sum += x / trees.len() as f64);
    }
    sums
}

/// The mean over trees.
fn mean(
    (trees, walks): (&[Tree], &Kept<Walks>),
    outputs: usize,
    x: &Frame,
    run: &Context,
) -> Result<Matrix> {
    let mut sums = add_up((trees, walks), &vec![0.0; outputs], x, run, |_, _| true)?;
    let count = trees.len() as f64;
    sums.as_mut_slice().iter_mut().for_each(|sum| *sum /= count);
    match sums.as_slice().iter().all(|mean| mean.is_finite()) {
        true => Ok(sums),
        false => Err(Error::numeric("predictions too large to be added up")),
    }
}

/// The contributions to the mean over trees.
fn explain(
    trees: &[Tree],
    (output, outputs): (usize, usize),
    x: &Frame,
    run: &Context,
) -> Result<Contributions> {
    check_output(output, outputs)?;
    let (mean, mut found) = contributions(trees, (output, outputs), x, run)?;
    let count = trees.len() as f64;
    found.as_mut_slice().iter_mut().for_each(|part| *part /= count);
    Ok((mean / count, found))
}

fn check_trees(trees: &[Tree], schema: &Schema, outputs: usize, shares: &[f64]) -> Result<()> {
    if trees.is_empty() || outputs == 0 {
        return Err(invalid("a forest without trees"));
    }
    trees.iter().try_for_each(|tree| tree.validate(schema, outputs))?;
    match shares == mean_importances(trees, schema.len()) {
        true => Ok(()),
        false => Err(invalid("importances that do not fit the trees")),
    }
}

fn report_of(title: &str, trees: &[Tree], schema: &Schema, importances: &[f64]) -> Answer {
    let mut report = Answer::new(title);
    report.tables.push(crate::tree::text::importance_table(schema, importances));
    report.push("trees", trees.len());
    report.push("leaves", trees.iter().map(Tree::leaves).sum::<usize>());
    report.push("deepest leaf", trees.iter().map(Tree::depth).max().unwrap_or(0));
    report
}

/// Regression trees as models of their own.
pub(in crate::ensemble) fn members_of(
    trees: &[Tree],
    schema: &Schema,
) -> Vec<(String, &'static About, Box<dyn Model>)> {
    let member = |(t, tree): (usize, &Tree)| {
        let model: Box<dyn Model> =
            Box::new(DecisionTreeRegressorModel::of_tree(tree.clone(), schema));
        (format!("tree {}", t + 1), DecisionTreeRegressor::ABOUT, model)
    };
    trees.iter().enumerate().map(member).collect()
}

/// The picture of the out-of-bag error by the number of trees.
fn add_curve(report: &mut Answer, errors: &[f64], name: &str) {
    if errors.is_empty() {
        return;
    }
    let x = (1..=errors.len()).map(|trees| trees as f64).collect();
    let panel = Panel::new("trees", name).mark(Mark::line(name, x, errors.to_vec()).unnamed());
    let about = "Error on the rows that trees did not draw, by the number of trees.";
    report.charts.push(Chart::new("Out-of-bag error", about).panel(panel));
}

impl ForestClassifierModel {
    fn members(&self) -> Vec<(String, &'static About, Box<dyn Model>)> {
        let member = |(t, tree): (usize, &Tree)| {
            let model =
                DecisionTreeClassifierModel::of_tree(tree.clone(), &self.schema, &self.classes);
            let model: Box<dyn Model> = Box::new(model);
            (format!("tree {}", t + 1), DecisionTreeClassifier::ABOUT, model)
        };
        self.trees.iter().enumerate().map(member).collect()
    }

    fn answer_question(&self, asked: &Asked) -> Result<Answer> {
        match asked.name {
            "proximities" => proximities(&self.trees, &asked.rows()?.x, &asked.run),
            _ => answer(self, asked),
        }
    }

    pub(super) fn outline(&self) -> Outline<'_> {
        let outline = Outline::of_rows(&self.schema, 0, None, false);
        Outline { classes: &self.classes, ..outline }
    }

    /// Number of trees.
    pub fn len(&self) -> usize {
        self.trees.len()
    }

    /// Whether there are no trees.
    pub fn is_empty(&self) -> bool {
        self.trees.is_empty()
    }

    #[cfg(test)]
    pub(super) fn trees(&self) -> &[Tree] {
        &self.trees
    }

    fn validate(&self) -> Result<()> {
        let classes = self.classes.len();
        check_trees(&self.trees, &self.schema, classes, &self.feature_importances)?;
        let shares = |tree: &Tree| {
            let rows = tree.values.chunks_exact(classes);
            let sums_to_one = |row: &[f64]| (row.iter().sum::<f64>() - 1.0).abs() < 1e-9;
            tree.values.iter().all(|share| (0.0..=1.0).contains(share))
                && rows.into_iter().all(sums_to_one)
        };
        let scored = self.oob_score.is_none_or(|score| (0.0..=1.0).contains(&score));
        match scored && self.trees.iter().all(shares) {
            true => Ok(()),
            false => Err(invalid("a forest whose leaves hold no shares")),
        }
    }

    fn report(&self, _: &Names) -> Answer {
        let mut report = report_of("Forest", &self.trees, &self.schema, &self.feature_importances);
        if let Some(score) = self.oob_score {
            report.push("out-of-bag accuracy", score);
        }
        add_curve(&mut report, &self.oob_curve, "out-of-bag error");
        report
    }
}

impl ForestModel for ForestClassifierModel {
    fn assembled(trees: Vec<Tree>, outline: &Outline, out_of_bag: OutOfBag) -> Result<Self> {
        check_finite(&trees)?;
        Ok(ForestClassifierModel {
            feature_importances: mean_importances(&trees, outline.schema.len()),
            oob_score: out_of_bag.score,
            oob_curve: out_of_bag.curve,
            oob_importances: out_of_bag.importances,
            oob_decision_function: out_of_bag.predictions,
            trees,
            walks: Kept::default(),
            schema: outline.schema.clone(),
            classes: outline.classes.to_vec(),
        })
    }

    fn grown(&self) -> &[Tree] {
        &self.trees
    }
}

impl Classifier for ForestClassifierModel {
    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        mean((&self.trees, &self.walks), self.classes.len(), x, run)
    }
}

impl ForestRegressorModel {
    fn members(&self) -> Vec<(String, &'static About, Box<dyn Model>)> {
        members_of(&self.trees, &self.schema)
    }

    fn answer_question(&self, asked: &Asked) -> Result<Answer> {
        match asked.name {
            "proximities" => proximities(&self.trees, &asked.rows()?.x, &asked.run),
            _ => answer(self, asked),
        }
    }

    pub(super) fn outline(&self) -> Outline<'_> {
        let outline = Outline::of_rows(&self.schema, 0, None, false);
        Outline { outputs: self.outputs, ..outline }
    }

    /// Number of trees.
    pub fn len(&self) -> usize {
        self.trees.len()
    }

    /// Whether there are no trees.
    pub fn is_empty(&self) -> bool {
        self.trees.is_empty()
    }

    pub(crate) fn trees(&self) -> &[Tree] {
        &self.trees
    }

    fn validate(&self) -> Result<()> {
        check_trees(&self.trees, &self.schema, self.outputs, &self.feature_importances)?;
        match self.oob_score.is_none_or(f64::is_finite) {
            true => Ok(()),
            false => Err(invalid("an out-of-bag score that is no number")),
        }
    }

    fn report(&self, _: &Names) -> Answer {
        let mut report = report_of("Forest", &self.trees, &self.schema, &self.feature_importances);
        if let Some(score) = self.oob_score {
            report.push("out-of-bag R²", score);
        }
        add_curve(&mut report, &self.oob_curve, "out-of-bag mean squared error");
        report
    }
}

/// R², the mean over targets, over the rows that have a prediction; none if a target is constant.
pub(crate) fn determination(
    predicted: &Matrix,
    y: &MatRef,
    weight: impl Fn(usize) -> f64,
) -> Option<f64> {
    let rows: Vec<usize> = (0..y.nrows()).filter(|&i| !predicted[(i, 0)].is_nan()).collect();
    let total: f64 = rows.iter().map(|&i| weight(i)).sum();
    let mut sum = 0.0;
    for j in 0..y.ncols() {
        let mean = rows.iter().map(|&i| weight(i) * y.at(i, j)).sum::<f64>() / total;
        let spread: f64 = rows.iter().map(|&i| weight(i) * (y.at(i, j) - mean).powi(2)).sum();
        let error: f64 =
            rows.iter().map(|&i| weight(i) * (y.at(i, j) - predicted[(i, j)]).powi(2)).sum();
        sum += 1.0 - error / spread;
    }
    Some(sum / y.ncols() as f64).filter(|score| score.is_finite())
}

impl ForestModel for ForestRegressorModel {
    fn assembled(trees: Vec<Tree>, outline: &Outline, out_of_bag: OutOfBag) -> Result<Self> {
        check_finite(&trees)?;
        Ok(ForestRegressorModel {
            feature_importances: mean_importances(&trees, outline.schema.len()),
            oob_score: out_of_bag.score,
            oob_curve: out_of_bag.curve,
            oob_importances: out_of_bag.importances,
            oob_prediction: out_of_bag.predictions,
            trees,
            walks: Kept::default(),
            schema: outline.schema.clone(),
            outputs: outline.outputs,
        })
    }

    fn grown(&self) -> &[Tree] {
        &self.trees
    }
}

impl Regressor for ForestRegressorModel {
    fn predict_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        mean((&self.trees, &self.walks), self.outputs, x, run)
    }
}

impl Attentive for ForestClassifierModel {
    fn explain(&self, output: usize, x: &Frame, run: &Context) -> Result<Contributions> {
        explain(&self.trees, (output, self.classes.len()), x, run)
    }

    fn walked(&self, given: &dyn Fn(usize) -> Option<f64>) -> Vec<f64> {
        walked(&self.trees, self.classes.len(), given)
    }
}

impl Attentive for ForestRegressorModel {
    fn explain(&self, output: usize, x: &Frame, run: &Context) -> Result<Contributions> {
        explain(&self.trees, (output, self.outputs), x, run)
    }

    fn walked(&self, given: &dyn Fn(usize) -> Option<f64>) -> Vec<f64> {
        walked(&self.trees, self.outputs, given)
    }
}
