//! Rows with targets, as the learners of this family see them: classes for classifiers, numbers for
//! regressors; and the loss of a model on each row.

use crate::Learner;
use crate::metrics::{self, Metric};
use learnt_core::function::Task;
use learnt_core::prelude::*;
use learnt_core::trained::check_rows;

/// Rows and their targets.
#[derive(Inputs, Clone, Copy)]
pub struct Examples<'a> {
    /// The inputs.
    #[input(name = "X", missing)]
    pub x: Frame<'a>,
    /// The target: classes for a classifier, numbers for a regressor.
    pub y: Classes<'a>,
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
}

/// Rows and their targets, and which of them belong together.
#[derive(Inputs, Clone, Copy)]
pub struct GroupedExamples<'a> {
    /// The inputs.
    #[input(name = "X", missing)]
    pub x: Frame<'a>,
    /// The target: classes for a classifier, numbers for a regressor.
    pub y: Classes<'a>,
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
    /// The group of each row; rows of a group stay on one side of a split.
    pub groups: Option<Classes<'a>>,
}

impl<'a> GroupedExamples<'a> {
    /// The target in the form that the learner predicts; labels of groups are no classes of it.
    pub(super) fn target(&self, learner: &Learner) -> Result<TargetFor> {
        let labels = self.y.codes.iter().map(|&code| self.y.classes[code as usize].clone());
        let (codes, classes) = Label::encode(&labels.collect::<Vec<_>>());
        let y = Classes { codes: &codes, classes: &classes };
        Examples { x: self.x, y, sample_weight: self.sample_weight }.target(learner)
    }

    /// Everything as one data set.
    pub(super) fn data<'b>(&self, target: &'b TargetFor) -> Dataset<'b>
    where
        'a: 'b,
    {
        let groups = self.groups.map(|groups| groups.codes);
        Dataset {
            y: Some(target.y.view()),
            weights: self.sample_weight,
            groups,
            ..Dataset::new(self.x)
        }
    }
}

/// The target as the learner wants it.
pub(super) struct TargetFor {
    y: OwnedTarget,
    task: Task,
}

impl<'a> Examples<'a> {
    /// The target in the form that the learner predicts.
    pub(super) fn target(&self, learner: &Learner) -> Result<TargetFor> {
        let roles = learner.any_roles();
        if roles.names().contains(&"classifier") {
            let classes = self.y.classes.to_vec();
            let y = OwnedTarget::Class { codes: self.y.codes.to_vec(), classes };
            return Ok(TargetFor { y, task: Task::Classification });
        }
        if !roles.names().contains(&"regressor") {
            let name = learner.about().name();
            return Err(Error::unsupported(format!("{name} predicts neither classes nor numbers"))
                .hint("give a classifier or a regressor"));
        }
        let number = |label: &Label| {
            label.as_real().ok_or_else(|| {
                Error::new(Code::Target, format!("'{label}' is not a number"))
                    .hint("a regressor needs a numeric target; take a classifier for classes")
            })
        };
        let numbers: Vec<f64> = self.y.classes.iter().map(number).collect::<Result<_>>()?;
        let y = self.y.codes.iter().map(|&code| numbers[code as usize]).collect();
        Ok(TargetFor { y: OwnedTarget::Real(Matrix::column_vector(y)), task: Task::Regression })
    }

    /// Everything as one data set.
    pub(super) fn data<'b>(&self, target: &'b TargetFor) -> Dataset<'b>
    where
        'a: 'b,
    {
        let weights = self.sample_weight;
        Dataset { y: Some(target.y.view()), weights, ..Dataset::new(self.x) }
    }
}

impl TargetFor {
    /// The metric of this name; without one accuracy or R², as a learner's own `score`.
    pub(super) fn metric(&self, scoring: Option<&str>) -> Result<&'static Metric> {
        metric_for(self.task, scoring)
    }
}

/// The metric of this name; without one accuracy or R².
pub(super) fn metric_for(task: Task, scoring: Option<&str>) -> Result<&'static Metric> {
    metrics::find(scoring.unwrap_or(match task {
        Task::Classification => "accuracy",
        Task::Regression | Task::Unsupervised => "r2",
    }))
}

/// A learner fitted to the rows of these numbers.
pub(super) fn fitted(
    learner: &Learner,
    data: &Dataset,
    rows: &[usize],
    run: &Context,
) -> Result<Box<dyn Model>> {
    let train = data.gather(rows);
    let train = train.view();
    learner.fit_any(&crate::learner::offered(&train, train.x, learner.any_accepts()), run)
}

/// What a model says of each row: a class or a number.
pub(super) fn predictions(
    learner: &Learner,
    model: &dyn Model,
    x: &Frame,
    run: &Context,
) -> Result<Vec<f64>> {
    check_rows(learner.about(), model, x, run)?;
    match (model.as_classifier(), model.as_regressor()) {
        (Some(classifier), _) => {
            Ok(classifier.classify_in(x, run)?.into_iter().map(f64::from).collect())
        }
        (_, Some(regressor)) => Ok(regressor.predict_in(x, run)?.view().column(0)),
        _ => Err(Error::unsupported("a model that predicts neither classes nor numbers")),
    }
}

/// What a learner that is fitted to the rows of these numbers says of every row.
pub(super) fn said_after(
    learner: &Learner,
    data: &Dataset,
    rows: &[usize],
    run: &Context,
) -> Result<Vec<f64>> {
    let model = fitted(learner, data, rows, run)?;
    predictions(learner, model.as_ref(), &data.x, run)
}

/// The mean loss on the rows of these numbers of what was said of every row; weights count.
pub(super) fn mean_loss(data: &Dataset, said: &[f64], rows: &[usize]) -> Result<f64> {
    let y = data.y.ok_or_else(|| Error::internal("rows without a target"))?;
    let total: f64 = rows.iter().map(|&i| data.weight(i)).sum();
    Ok(rows.iter().map(|&i| data.weight(i) * loss(y, i, said[i])).sum::<f64>() / total)
}

/// The loss of a prediction: 1 for a wrong class, the squared error for a number.
pub(super) fn loss(y: Target, row: usize, prediction: f64) -> f64 {
    match y {
        Target::Class { codes, .. } => f64::from(f64::from(codes[row]) != prediction),
        Target::Real(values) => (values.at(row, 0) - prediction).powi(2),
    }
}
