//! Metrics by name, as `score`, `cv`, `compare` and comparisons ask for them.
//!
//! The names come from the functions ([`Scorer`]); what a model says about rows ([`Predictions`]) beside
//! the truth ([`Outcome`]) is handed to a function input by input.

use super::{Decision, FUNCTIONS};
use learnt_core::function::{AnyFunction, Direction, Given, InputKind, InputSpec, Scorer, Task};
use learnt_core::prelude::*;
use std::sync::LazyLock;

/// The metric that needs costs.
const COST: &str = "cost";

/// A score by name.
#[derive(Clone, Copy)]
pub struct Metric {
    /// The name.
    pub name: &'static str,
    /// What is scored.
    pub task: Task,
    /// Which way is better.
    pub direction: Direction,
    scorer: &'static Scorer,
    entry: &'static FunctionEntry,
}

impl std::fmt::Debug for Metric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Metric({})", self.name)
    }
}

/// Every metric that models can be scored by, in the order of the functions.
pub fn all() -> &'static [Metric] {
    static ALL: LazyLock<Vec<Metric>> = LazyLock::new(|| {
        let of = |entry: &'static FunctionEntry| {
            entry.about.scorers.iter().map(move |scorer| Metric {
                name: scorer.name,
                task: scorer.task,
                direction: scorer.direction,
                scorer,
                entry,
            })
        };
        FUNCTIONS.iter().flat_map(of).collect()
    });
    &ALL
}

/// The metric with this name, another of its names, or that of its function; `_` and `-` are the same.
pub fn find(name: &str) -> Result<&'static Metric> {
    let wanted = name.to_lowercase().replace('_', "-");
    all()
        .iter()
        .find(|metric| {
            metric.name == wanted
                || metric.scorer.aliases.contains(&wanted.as_str())
                || metric.entry.about.command() == wanted
        })
        .ok_or_else(|| Error::unknown("metric", name, all().iter().map(|metric| metric.name)))
}

/// What is shown if nothing is asked for; the first decides.
pub fn usual(task: Task) -> Vec<&'static Metric> {
    let names: &[&str] = match task {
        Task::Classification => &["auc", "accuracy", "log-loss"],
        Task::Regression => &["rmse", "mae", "r2"],
        Task::Unsupervised => &["silhouette", "davies-bouldin", "calinski-harabasz"],
    };
    names.iter().filter_map(|name| find(name).ok()).collect()
}

/// The same for these rows: where classes are imbalanced, scores that a guess of the commonest class does not
/// win come first.
pub fn usual_for(task: Task, data: &Dataset) -> Vec<&'static Metric> {
    let Some(Target::Class { codes, classes }) = data.y else { return usual(task) };
    if task != Task::Classification || !imbalanced(codes, classes.len(), data.weights) {
        return usual(task);
    }
    let precision = if classes.len() == 2 { "average-precision" } else { "f1" };
    let names = ["auc", precision, "balanced-accuracy", "log-loss"];
    names.iter().filter_map(|name| find(name).ok()).collect()
}

/// Whether the commonest class is at least four times as common as the others on average.
fn imbalanced(codes: &[u32], classes: usize, weights: Option<&[f64]>) -> bool {
    if classes < 2 {
        return false;
    }
    let mut counts = vec![0.0; classes];
    codes
        .iter()
        .enumerate()
        .for_each(|(i, &code)| counts[code as usize] += super::weight_of(weights, i));
    let (most, all) = counts.iter().fold((0.0_f64, 0.0), |(most, all), &x| (most.max(x), all + x));
    most * (classes - 1) as f64 >= 4.0 * (all - most)
}

impl Metric {
    /// Whether score `a` is better than `b`.
    pub fn better(&self, a: f64, b: f64) -> bool {
        match self.direction {
            Direction::Higher => a > b,
            Direction::Lower => a < b,
        }
    }

    /// Other names.
    pub fn aliases(&self) -> &'static [&'static str] {
        self.scorer.aliases
    }

    /// One sentence.
    pub fn doc(&self) -> &'static str {
        self.scorer.doc
    }

    /// Whether clusters are compared with classes that are known.
    pub fn needs_labels(&self) -> bool {
        self.entry.inputs.iter().any(|input| input.name == "labels_true")
    }

    /// The score, or why there is none.
    pub fn score(&self, outcome: &Outcome, run: &Context) -> Result<f64> {
        let function = self.function(outcome)?;
        let turned = self.turned(function.as_ref(), outcome);
        let outcome = &Outcome {
            decision_scores: turned.as_ref().map(Matrix::view).or(outcome.decision_scores),
            ..*outcome
        };
        let clusters = outcome.clusters.map(ClusterCodes::of);
        let part = |spec: &InputSpec| outcome.part(spec, self.task, clusters.as_ref());
        let given = self.entry.inputs.iter().map(part).collect::<Result<Vec<_>>>()?;
        let answer = function.call_any(&given, run)?;
        let value = answer.values.first().and_then(|(_, datum)| datum.as_real());
        value.ok_or_else(|| Error::internal(format!("{} is no number", self.name)))
    }

    /// Scores of the first of two classes, where that is the positive one and the model has one column.
    fn turned(&self, function: &dyn AnyFunction, outcome: &Outcome) -> Option<Matrix> {
        let first = outcome.positive == Some(0) && function.get("pos_label").is_ok();
        let scores = outcome.decision_scores.filter(|scores| first && scores.ncols() == 1)?;
        Some(Matrix::from_fn(scores.nrows(), 1, |i, _| -scores.at(i, 0)))
    }

    /// The function with the scorer's parameters; the second of two classes is the positive one unless
    /// another is said, and several classes are averaged.
    fn function(&self, outcome: &Outcome) -> Result<Box<dyn AnyFunction>> {
        let mut function = (self.entry.build)();
        let specs = function.specs();
        for (name, word) in self.scorer.params {
            let spec = specs.iter().find(|spec| spec.name == *name);
            let value = spec.map_or_else(|| Value::parse(word), |spec| spec.parse(word));
            function.set(name, &value)?;
        }
        if self.name == COST {
            let costs = outcome.costs.ok_or_else(|| {
                Error::new(Code::Usage, "the mean cost needs costs of mistakes")
                    .hint("say what they cost, such as --cost Yes=5")
            })?;
            let row =
                |i: usize| Value::List(costs.row(i).iter().map(|&x| Value::Real(x)).collect());
            function.set("costs", &Value::List((0..costs.nrows()).map(row).collect()))?;
        }
        let Some(Target::Class { classes, .. }) = outcome.truth else { return Ok(function) };
        let has = |name: &str| specs.iter().any(|spec| spec.name == name);
        match classes {
            [_, _] if has("pos_label") => {
                let positive = &classes[outcome.positive.unwrap_or(1).min(1)];
                function.set("pos_label", &positive.to_value())?;
            }
            [_, _] => {}
            _ if has("average") && function.get("average")? == Value::Text("binary".into()) => {
                function.set("average", &Value::Text("macro".into()))?;
            }
            _ => {}
        }
        Ok(function)
    }
}

/// The truth about some rows, and what a model predicted about them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome<'a> {
    /// What is true, for supervised models and for clusters that are compared with classes.
    pub truth: Option<Target<'a>>,
    /// The inputs, for scores of clusterings.
    pub x: Option<Frame<'a>>,
    /// Predicted numbers.
    pub values: Option<MatRef<'a>>,
    /// Predicted class codes.
    pub codes: Option<&'a [u32]>,
    /// Predicted probabilities, one column a class.
    pub probabilities: Option<MatRef<'a>>,
    /// Predicted scores, one column for two classes, else one a class.
    pub decision_scores: Option<MatRef<'a>>,
    /// Clusters; `None` is noise.
    pub clusters: Option<&'a [Option<u32>]>,
    /// How much each row counts.
    pub weights: Option<&'a [f64]>,
    /// The place of the positive class of two; the second without this.
    pub positive: Option<usize>,
    /// What mistakes cost: rows are actual classes, columns predicted ones.
    pub costs: Option<&'a Matrix>,
}

/// Clusters as codes; noise is a cluster of its own.
struct ClusterCodes {
    codes: Vec<u32>,
    names: Vec<Label>,
}

impl ClusterCodes {
    fn of(clusters: &[Option<u32>]) -> ClusterCodes {
        let name = |cluster: &Option<u32>| Label::Int(cluster.map_or(-1, i64::from));
        let (codes, names) = Label::encode(&clusters.iter().map(name).collect::<Vec<_>>());
        ClusterCodes { codes, names }
    }
}

impl<'a> Outcome<'a> {
    /// One input of a metric, by its name and shape.
    fn part<'b>(
        &'b self,
        spec: &InputSpec,
        task: Task,
        clusters: Option<&'b ClusterCodes>,
    ) -> Result<Option<Given<'b>>> {
        let matrix = |part: Option<MatRef<'b>>| part.map(Given::Matrix);
        let of_classes = task == Task::Classification;
        let (part, what) = match (spec.name, spec.kind) {
            ("sample_weight", _) => return Ok(self.weights.map(Given::Numbers)),
            ("y_true", InputKind::Labels) | ("labels_true", _) => {
                (self.class_truth().map(Given::Labels), "classes that are known")
            }
            ("y_true", _) => (matrix(self.real_truth()), "a numeric target"),
            ("y_pred", InputKind::Labels) => {
                let known = self.class_truth().zip(self.codes);
                let predicted = |(truth, codes): (Classes<'b>, &'b [u32])| {
                    Given::Labels(Classes { codes, ..truth })
                };
                (known.map(predicted), "predicted classes")
            }
            ("y_pred" | "y_proba", _) if of_classes => {
                (matrix(self.probabilities), "probabilities")
            }
            ("y_pred", _) => (matrix(self.values), "predicted numbers"),
            ("y_score" | "pred_decision", _) => {
                let scores = self.probabilities.or(self.decision_scores);
                (matrix(scores), "probabilities or decision scores")
            }
            ("X", _) => (self.x.map(|x| Given::Matrix(x.values())), "the inputs"),
            ("labels", _) => (self.clusters.map(Given::Clusters), "clusters"),
            ("labels_pred", _) => {
                let coded = |found: &'b ClusterCodes| {
                    Given::Labels(Classes { codes: &found.codes, classes: &found.names })
                };
                (clusters.map(coded), "clusters")
            }
            _ => (None, "something that models do not predict"),
        };
        match part {
            Some(Given::Matrix(values)) if spec.kind == InputKind::Numbers => values
                .column_slice(0)
                .filter(|_| values.ncols() == 1)
                .map(|column| Some(Given::Numbers(column)))
                .ok_or_else(|| Error::unsupported("this score needs one output")),
            None if spec.optional => Ok(None),
            None => Err(Error::unsupported(format!("this score needs {what}"))),
            part => Ok(part),
        }
    }

    fn class_truth(&self) -> Option<Classes<'a>> {
        match self.truth {
            Some(Target::Class { codes, classes }) => Some(Classes { codes, classes }),
            _ => None,
        }
    }

    fn real_truth(&self) -> Option<MatRef<'a>> {
        match self.truth {
            Some(Target::Real(values)) => Some(values),
            _ => None,
        }
    }
}
/// The predictions of a model, kept so that an [`Outcome`] can point to them.
#[derive(Clone, Debug, Default)]
pub struct Predictions {
    values: Option<Matrix>,
    codes: Option<Vec<u32>>,
    probabilities: Option<Matrix>,
    decision_scores: Option<Matrix>,
    clusters: Option<Vec<Option<u32>>>,
    /// The rows in which distances between them mean what they meant to the clustering.
    rows: Option<Table>,
    positive: Option<usize>,
    costs: Option<Matrix>,
}

impl Predictions {
    /// All that the model says about the rows.
    pub fn of(model: &dyn Model, x: &Frame, run: &Context) -> Result<Predictions> {
        let mut predictions = Predictions::default();
        if let Some(regressor) = model.as_regressor() {
            predictions.values = Some(regressor.predict_in(x, run)?);
        }
        if let Some(classifier) = model.as_classifier() {
            predictions.codes = Some(classifier.classify_in(x, run)?);
            predictions.probabilities = offered(classifier.probabilities_in(x, run))?;
            if predictions.probabilities.is_none() {
                predictions.decision_scores = offered(classifier.decision_scores_in(x, run))?;
            }
        }
        if let Some(clusterer) = model.as_clusterer() {
            predictions.clusters = offered(clusterer.assign_in(x, run))?;
            predictions.rows = model.prepared_rows(x, run)?;
        }
        Ok(predictions)
    }

    /// The same with classes decided otherwise than by the model, which takes probabilities.
    pub fn decided(mut self, decision: &Decision) -> Result<Predictions> {
        if self.codes.is_none() {
            return Err(Error::unsupported("there are no classes to decide")
                .hint("a positive class, a threshold and costs are for classifiers"));
        }
        if !decision.is_own() {
            let probabilities = self.probabilities.as_ref().ok_or_else(|| {
                Error::unsupported("the model gives no probabilities to decide by").hint(
                    "leave out the threshold and the costs, or choose a learner with probabilities",
                )
            })?;
            self.codes = decision.classes(probabilities.view())?.or(self.codes);
        }
        self.mark(decision);
        Ok(self)
    }

    /// The same where the model has probabilities; others keep their own classes.
    pub fn decided_if_possible(mut self, decision: &Decision) -> Result<Predictions> {
        match self.probabilities {
            Some(_) => self.decided(decision),
            None => {
                self.mark(decision);
                Ok(self)
            }
        }
    }

    fn mark(&mut self, decision: &Decision) {
        self.positive = decision.positive_class();
        self.costs = decision.costs().cloned();
    }

    /// The predictions beside the truth.
    pub fn with_truth<'a>(&'a self, data: &Dataset<'a>) -> Outcome<'a> {
        Outcome {
            truth: data.y,
            x: Some(self.rows.as_ref().map_or(data.x, Table::frame)),
            values: self.values.as_ref().map(Matrix::view),
            codes: self.codes.as_deref(),
            probabilities: self.probabilities.as_ref().map(Matrix::view),
            decision_scores: self.decision_scores.as_ref().map(Matrix::view),
            clusters: self.clusters.as_deref(),
            weights: data.weights,
            positive: self.positive,
            costs: self.costs.as_ref(),
        }
    }
}

/// `None` for what a model does not offer.
fn offered<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.code() == Code::Unsupported => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_aliases_differ() {
        let mut names: Vec<&str> = all()
            .iter()
            .flat_map(|metric| metric.aliases().iter().copied().chain([metric.name]))
            .collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        assert_eq!(find("ROC_AUC").unwrap().name, "auc");
        assert_eq!(find("roc_auc_score").unwrap().name, "auc");
        assert_eq!(find("acuracy").unwrap_err().code(), Code::Unknown);
    }

    #[test]
    fn parameters_of_scorers_exist() {
        let costs = Matrix::from_fn(2, 2, |i, j| f64::from(i != j));
        let outcome = Outcome { costs: Some(&costs), ..Outcome::default() };
        for metric in all() {
            assert!(metric.function(&outcome).unwrap().check().is_ok(), "{metric:?}");
        }
        let error = find("cost").unwrap().function(&Outcome::default()).unwrap_err();
        assert_eq!(error.code(), Code::Usage);
    }

    #[test]
    fn the_first_class_can_be_the_positive_one() {
        let classes = ["a", "b"].map(Label::from);
        let truth = Some(Target::Class { codes: &[0, 1, 1, 1], classes: &classes });
        let decision_scores = Matrix::column_vector(vec![-1.0, -2.0, 0.5, 2.0]);
        let decision_scores = Some(decision_scores.view());
        let codes: Option<&[u32]> = Some(&[0, 0, 1, 1]);
        let outcome = Outcome { truth, codes, decision_scores, ..Outcome::default() };
        let first = Outcome { positive: Some(0), ..outcome };
        let run = Context::default();
        let score =
            |name: &str, outcome: &Outcome| find(name).unwrap().score(outcome, &run).unwrap();
        assert_eq!((score("precision", &outcome), score("precision", &first)), (1.0, 0.5));
        assert_eq!(score("auc", &outcome), score("auc", &first));
        // The only row of the first class has the second highest score of that class.
        assert_eq!(score("average-precision", &first), 0.5);
    }

    #[test]
    fn decision_scores_stand_in_for_probabilities() {
        let classes = ["a", "b"].map(Label::from);
        let decision_scores = Matrix::column_vector(vec![-1.0, 0.5, 2.0]);
        let truth = Target::Class { codes: &[0, 0, 1], classes: &classes };
        let outcome = Outcome {
            truth: Some(truth),
            decision_scores: Some(decision_scores.view()),
            ..Outcome::default()
        };
        let run = Context::default();
        for name in ["auc", "average-precision"] {
            assert_eq!(find(name).unwrap().score(&outcome, &run).unwrap(), 1.0);
        }
        let error = find("log-loss").unwrap().score(&outcome, &run).unwrap_err();
        assert_eq!(error.code(), Code::Unsupported);
    }
}
