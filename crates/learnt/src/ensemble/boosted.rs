//! Fitted boosting: a start and the sum of many trees, one a round or one a class and round.

use super::beginning::Beginning;
use super::forest::members_of;
use super::loss::Loss;
use crate::inspect::{Attentive, Contributions, QUESTIONS, answer, check_output};
use crate::tree::contributions::contributions;
use crate::tree::dependence::traversed;
use crate::tree::kept::Kept;
use crate::tree::many::{Walks, add_up, check_finite, total_importances};
use crate::tree::nodes::Tree;
use crate::tree::text::importance_table;
use learnt_core::estimator::Accepts;
use learnt_core::part::FittedPart;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// What boosting leaves behind.
#[derive(Stored, Clone, Debug)]
pub(super) struct Boosted {
    pub(super) start: Vec<f64>,
    pub(super) trees: Vec<Tree>,
    pub(super) train_score: Vec<f64>,
    pub(super) validation_score: Vec<f64>,
}

impl Boosted {
    /// The scores of rows, one row a row.
    pub(super) fn scores_by_row(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        add_up((&self.trees, &Kept::default()), &self.start, x, run, |_, _| true)
    }

    /// The scores of rows: the first of all rows, then the second.
    pub(super) fn scores(&self, x: &Frame, run: &Context) -> Result<Vec<f64>> {
        let scores = self.scores_by_row(x, run)?;
        Ok((0..scores.ncols())
            .flat_map(|k| (0..scores.nrows()).map(move |i| (i, k)))
            .map(|place| scores[place])
            .collect())
    }

    /// Refuses to go on with fewer rounds than there are, or with other columns.
    pub(super) fn check_rounds(&self, parameter: &str, rounds: usize) -> Result<()> {
        let made = self.trees.len() / self.start.len().max(1);
        match rounds < made {
            true => Err(fewer(parameter, made, rounds)),
            false => Ok(()),
        }
    }

    /// Refuses sums that left the range of numbers.
    fn check(&self) -> Result<()> {
        let mut told = self.start.iter().chain(&self.train_score).chain(&self.validation_score);
        match told.all(|x| x.is_finite()) {
            true => check_finite(&self.trees),
            false => Err(Error::numeric("the target is too large for this loss; divide it first")),
        }
    }
}

/// What gradient boosting with exact trees leaves behind beside its trees.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Beside {
    pub(super) beginning: Beginning,
    pub(super) oob_scores: Vec<f64>,
    pub(super) oob_improvement: Vec<f64>,
}

/// The scores of rows, one row a row: the beginning, then tree after tree.
pub(super) fn scores_of(
    (trees, kept): (&[Tree], &Kept<Walks>),
    start: &[f64],
    beginning: &Beginning,
    loss: Loss,
    x: &Frame,
    run: &Context,
) -> Result<Matrix> {
    let Some(mut scores) = beginning.scores(loss, x, run)? else {
        return add_up((trees, kept), start, x, run, |_, _| true);
    };
    for (t, tree) in trees.iter().enumerate() {
        for (i, leaf) in tree.apply(x, run)?.into_iter().enumerate() {
            scores[(i, t % start.len())] += tree.values[leaf as usize];
        }
    }
    Ok(scores)
}

/// The first trees, with what is kept of all where these are all.
fn first_of<'a>(
    (trees, kept): (&'a [Tree], &'a Kept<Walks>),
    count: usize,
    none: &'a Kept<Walks>,
) -> (&'a [Tree], &'a Kept<Walks>) {
    if count >= trees.len() { (trees, kept) } else { (&trees[..count], none) }
}

/// Fewer members or rounds than the model to go on from has.
pub(super) fn fewer(parameter: &str, made: usize, asked: usize) -> Error {
    let expected = format!("at least {made}, as many as the model to go on from has");
    Error::parameter(parameter, expected, asked)
}

/// A fitted boosting classifier.
#[derive(Model, Clone, Debug, PartialEq)]
#[model(classifier, validate = validate, report = report, questions = QUESTIONS, looks, prepares)]
#[model(members = members, parts = parts, accepts = accepts)]
pub struct BoostedClassifierModel {
    /// Number of rounds.
    pub n_iter: usize,
    /// Mean training loss at the start and after each round, on at most 10,000 rows (of those that the round drew). In
    /// Python it is counted as scikit-learn counts it: with exact trees without the start and squares and two-class log
    /// loss twice, with histograms as scores, the negative losses.
    #[finite]
    pub train_score: Vec<f64>,
    /// Mean loss on the rows set aside, at the start and after each round; empty without any.
    #[finite]
    pub validation_score: Vec<f64>,
    /// Share of each column in the gain of all splits.
    pub feature_importances: Vec<f64>,
    exponential: bool,
    #[finite]
    start: Vec<f64>,
    trees: Vec<Tree>,
    schema: Schema,
    classes: Vec<Label>,
    /// Mean loss on the rows that a round did not draw, after each round; empty without `subsample`.
    #[finite]
    #[model(later)]
    pub oob_scores: Vec<f64>,
    /// Decrease of that loss by each round.
    #[finite]
    #[model(later)]
    pub oob_improvement: Vec<f64>,
    #[model(later)]
    beginning: Beginning,
    #[model(transient)]
    walks: Kept<Walks>,
}

/// A fitted boosting regressor.
#[derive(Model, Clone, Debug, PartialEq)]
#[model(regressor, validate = validate, report = report, questions = QUESTIONS, looks, prepares)]
#[model(members = members, parts = parts, accepts = accepts)]
pub struct BoostedRegressorModel {
    /// Number of rounds.
    pub n_iter: usize,
    /// Mean training loss at the start and after each round, on at most 10,000 rows (of those that the round drew). In
    /// Python it is counted as scikit-learn counts it: with exact trees without the start and squares and two-class log
    /// loss twice, with histograms as scores, the negative losses.
    #[finite]
    pub train_score: Vec<f64>,
    /// Mean loss on the rows set aside, at the start and after each round; empty without any.
    #[finite]
    pub validation_score: Vec<f64>,
    /// Share of each column in the gain of all splits.
    pub feature_importances: Vec<f64>,
    /// Whether scores are logarithms of means.
    logarithmic: bool,
    #[finite]
    start: Vec<f64>,
    trees: Vec<Tree>,
    schema: Schema,
    /// Mean loss on the rows that a round did not draw, after each round; empty without `subsample`.
    #[finite]
    #[model(later)]
    pub oob_scores: Vec<f64>,
    /// Decrease of that loss by each round.
    #[finite]
    #[model(later)]
    pub oob_improvement: Vec<f64>,
    #[model(later)]
    beginning: Beginning,
    #[model(transient)]
    walks: Kept<Walks>,
}

/// Trees of several scores: rounds, importances and the trees fit one another.
fn check(
    trees: &[Tree],
    scores: usize,
    n_iter: usize,
    shares: &[f64],
    schema: &Schema,
) -> Result<()> {
    trees.iter().try_for_each(|tree| tree.validate(schema, 1))?;
    let fits = n_iter.checked_mul(scores) == Some(trees.len())
        && shares == total_importances(trees, schema.len());
    if fits { Ok(()) } else { Err(invalid("rounds that do not fit the trees")) }
}

/// The contributions to one score.
fn explain(
    trees: &[Tree],
    start: &[f64],
    output: usize,
    x: &Frame,
    run: &Context,
) -> Result<Contributions> {
    check_output(output, start.len())?;
    let (mean, found) = contributions(trees, (output, start.len()), x, run)?;
    Ok((start[output] + mean, found))
}

/// Every score where some columns are given: its start and what its trees add.
fn walked(trees: &[Tree], start: &[f64], given: &dyn Fn(usize) -> Option<f64>) -> Vec<f64> {
    let mut scores = start.to_vec();
    for (k, tree) in trees.iter().enumerate() {
        scores[k % start.len()] += traversed(tree, given)[0];
    }
    scores
}

fn report_of(schema: &Schema, importances: &[f64], trees: &[Tree], n_iter: usize) -> Answer {
    let mut report = Answer::new("Boosting");
    report.tables.push(importance_table(schema, importances));
    report.push("rounds", n_iter);
    report.push("trees", trees.len());
    report.push("leaves", trees.iter().map(Tree::leaves).sum::<usize>());
    report
}

impl BoostedClassifierModel {
    fn members(&self) -> Vec<(String, &'static About, Box<dyn Model>)> {
        members_of(&self.trees, &self.schema)
    }

    fn answer_question(&self, asked: &Asked) -> Result<Answer> {
        self.beginning.check_question(asked.name)?;
        answer(self, asked)
    }

    fn parts(&self, schema: &Schema, classes: &[Label]) -> Result<Vec<FittedPart<'_>>> {
        Ok(self.beginning.parts(schema, classes))
    }

    fn accepts(&self) -> Accepts {
        let own = Accepts { missing: true, categories: true, weights: true, ..Accepts::default() };
        self.beginning.accepts(own)
    }

    /// The model with what stands beside its trees.
    pub(super) fn with(self, beside: Beside) -> Self {
        let Beside { beginning, oob_scores, oob_improvement } = beside;
        Self { beginning, oob_scores, oob_improvement, ..self }
    }

    /// What stands beside the trees, to go on.
    pub(super) fn beside(&self) -> Beside {
        Beside {
            beginning: self.beginning.clone(),
            oob_scores: self.oob_scores.clone(),
            oob_improvement: self.oob_improvement.clone(),
        }
    }

    pub(super) fn new(
        boosted: Boosted,
        loss: Loss,
        schema: &Schema,
        classes: &[Label],
    ) -> Result<Self> {
        boosted.check()?;
        Ok(BoostedClassifierModel {
            n_iter: boosted.trees.len() / loss.scores(),
            train_score: boosted.train_score,
            validation_score: boosted.validation_score,
            feature_importances: total_importances(&boosted.trees, schema.len()),
            exponential: loss == Loss::Exponential,
            start: boosted.start,
            trees: boosted.trees,
            schema: schema.clone(),
            classes: classes.to_vec(),
            oob_scores: Vec::new(),
            oob_improvement: Vec::new(),
            beginning: Beginning::default(),
            walks: Kept::default(),
        })
    }

    /// What boosting left behind, to go on.
    pub(super) fn boosted(&self) -> Boosted {
        Boosted {
            start: self.start.clone(),
            trees: self.trees.clone(),
            train_score: self.train_score.clone(),
            validation_score: self.validation_score.clone(),
        }
    }

    fn loss(&self) -> Loss {
        match (self.start.len(), self.exponential) {
            (1, true) => Loss::Exponential,
            (1, false) => Loss::Logistic,
            (classes, _) => Loss::Multinomial(classes),
        }
    }

    fn validate(&self) -> Result<()> {
        let scores = self.start.len();
        let expected = if self.classes.len() <= 2 { 1 } else { self.classes.len() };
        let exponential = self.exponential && scores != 1;
        let fits = scores == expected && self.beginning.fits(true);
        if !fits || self.classes.is_empty() || exponential {
            return Err(invalid("scores that do not fit the classes"));
        }
        check(&self.trees, scores, self.n_iter, &self.feature_importances, &self.schema)
    }

    fn report(&self, _: &Names) -> Answer {
        report_of(&self.schema, &self.feature_importances, &self.trees, self.n_iter)
    }

    /// The probabilities after this many rounds.
    pub fn staged_probabilities(&self, x: &Frame, round: usize, run: &Context) -> Result<Matrix> {
        self.probabilities_of(&self.scores_of(round * self.start.len(), x, run)?)
    }

    /// Twice the mean log loss of rows with their classes, at the start and after each round.
    pub(super) fn staged_deviances(&self, data: &Dataset, run: &Context) -> Result<Vec<f64>> {
        let (codes, _) = data.class_target()?;
        let (outputs, rows) = (self.start.len(), data.nrows());
        let mut scores = self.scores_of(0, &data.x, run)?;
        let deviance = |scores: &Matrix| -> Result<f64> {
            let shares = self.probabilities_of(scores)?;
            let loss = |i: usize| -shares[(i, codes[i] as usize)].max(f64::MIN_POSITIVE).ln();
            Ok(2.0 * (0..rows).map(loss).sum::<f64>() / rows as f64)
        };
        let mut staged = vec![deviance(&scores)?];
        for round in self.trees.chunks(outputs) {
            for (k, tree) in round.iter().enumerate() {
                for (i, leaf) in tree.apply(&data.x, run)?.into_iter().enumerate() {
                    scores[(i, k)] += tree.values[leaf as usize];
                }
            }
            staged.push(deviance(&scores)?);
        }
        Ok(staged)
    }

    /// The scores by the first trees.
    fn scores_of(&self, first: usize, x: &Frame, run: &Context) -> Result<Matrix> {
        let none = Kept::default();
        let trees = first_of((&self.trees, &self.walks), first, &none);
        scores_of(trees, &self.start, &self.beginning, self.loss(), x, run)
    }

    fn probabilities_of(&self, scores: &Matrix) -> Result<Matrix> {
        let mut out = Matrix::zeros(scores.nrows(), self.classes.len());
        for i in 0..scores.nrows() {
            self.loss().probabilities(scores.row(i), out.row_mut(i));
        }
        if self.classes.len() == 1 {
            out.as_mut_slice().fill(1.0);
        }
        Ok(out)
    }
}

impl Classifier for BoostedClassifierModel {
    fn decision_scores_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        self.scores_of(self.trees.len(), x, run)
    }

    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        self.probabilities_of(&self.decision_scores_in(x, run)?)
    }
}

impl BoostedRegressorModel {
    fn members(&self) -> Vec<(String, &'static About, Box<dyn Model>)> {
        members_of(&self.trees, &self.schema)
    }

    fn answer_question(&self, asked: &Asked) -> Result<Answer> {
        self.beginning.check_question(asked.name)?;
        answer(self, asked)
    }

    fn parts(&self, schema: &Schema, classes: &[Label]) -> Result<Vec<FittedPart<'_>>> {
        Ok(self.beginning.parts(schema, classes))
    }

    fn accepts(&self) -> Accepts {
        let own = Accepts { missing: true, categories: true, weights: true, ..Accepts::default() };
        self.beginning.accepts(own)
    }

    /// The model with what stands beside its trees.
    pub(super) fn with(self, beside: Beside) -> Self {
        let Beside { beginning, oob_scores, oob_improvement } = beside;
        Self { beginning, oob_scores, oob_improvement, ..self }
    }

    /// What stands beside the trees, to go on.
    pub(super) fn beside(&self) -> Beside {
        Beside {
            beginning: self.beginning.clone(),
            oob_scores: self.oob_scores.clone(),
            oob_improvement: self.oob_improvement.clone(),
        }
    }

    /// What boosting left behind, to go on.
    pub(super) fn boosted(&self) -> Boosted {
        Boosted {
            start: self.start.clone(),
            trees: self.trees.clone(),
            train_score: self.train_score.clone(),
            validation_score: self.validation_score.clone(),
        }
    }

    pub(super) fn new(boosted: Boosted, loss: Loss, schema: &Schema) -> Result<Self> {
        boosted.check()?;
        Ok(BoostedRegressorModel {
            n_iter: boosted.trees.len(),
            train_score: boosted.train_score,
            validation_score: boosted.validation_score,
            feature_importances: total_importances(&boosted.trees, schema.len()),
            logarithmic: matches!(loss, Loss::Poisson | Loss::Gamma),
            start: boosted.start,
            trees: boosted.trees,
            schema: schema.clone(),
            oob_scores: Vec::new(),
            oob_improvement: Vec::new(),
            beginning: Beginning::default(),
            walks: Kept::default(),
        })
    }

    fn validate(&self) -> Result<()> {
        if self.start.len() != 1 || !self.beginning.fits(false) {
            return Err(invalid("boosting of numbers has one score"));
        }
        check(&self.trees, 1, self.n_iter, &self.feature_importances, &self.schema)
    }

    fn report(&self, _: &Names) -> Answer {
        report_of(&self.schema, &self.feature_importances, &self.trees, self.n_iter)
    }

    /// The predictions after this many rounds.
    pub fn staged_predict(&self, x: &Frame, round: usize, run: &Context) -> Result<Matrix> {
        let loss = if self.logarithmic { Loss::Poisson } else { Loss::Squared };
        let none = Kept::default();
        let trees = first_of((&self.trees, &self.walks), round, &none);
        let mut out = scores_of(trees, &self.start, &self.beginning, loss, x, run)?;
        out.as_mut_slice().iter_mut().for_each(|f| *f = loss.mean_of_score(*f));
        Ok(out)
    }
}

impl Regressor for BoostedRegressorModel {
    fn predict_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        self.staged_predict(x, self.n_iter, run)
    }
}

impl Attentive for BoostedClassifierModel {
    fn explain(&self, output: usize, x: &Frame, run: &Context) -> Result<Contributions> {
        explain(&self.trees, &self.start, output, x, run)
    }

    fn walked(&self, given: &dyn Fn(usize) -> Option<f64>) -> Vec<f64> {
        walked(&self.trees, &self.start, given)
    }
}

impl Attentive for BoostedRegressorModel {
    fn explain(&self, output: usize, x: &Frame, run: &Context) -> Result<Contributions> {
        explain(&self.trees, &self.start, output, x, run)
    }

    fn walked(&self, given: &dyn Fn(usize) -> Option<f64>) -> Vec<f64> {
        walked(&self.trees, &self.start, given)
    }
}
