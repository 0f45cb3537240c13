//! Pipeline: transformers one after the other, then a learner.
//!
//! Each step is fitted on what the steps before it give, so preparation sees training rows only and
//! is part of the model. If every step is rounds of a mergeable summary, so is the pipeline: its
//! phases run one after the other, and later steps see rows through the fitted earlier ones.

use crate::learner::{Fitted, Learner, Named, offered};
use learnt_core::estimator::{Accepts, Described, Roles};
use learnt_core::part::FittedPart;
use learnt_core::persist::{Node, invalid};
use learnt_core::prelude::*;
use learnt_core::rounds::{Erased, InMemory, Job};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Chains transformers and a final learner into one model.
///
/// ```
/// use learnt::{baseline::DummyRegressor, compose::Pipeline, prepare::StandardScaler, prelude::*};
/// let pipeline = Pipeline::default()
///     .then("scale", StandardScaler::default())
///     .then("dummy", DummyRegressor::default());
/// let data = OwnedDataset::regression(Matrix::column_vector(vec![1.0, 2.0]), vec![3.0, 5.0]);
/// let model = pipeline.fit(&data.view())?;
/// let regressor = model.as_regressor().ok_or_else(|| Error::internal("not a regressor"))?;
/// assert_eq!(regressor.predict(&data.x.frame())?.as_slice(), [4.0, 4.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct Pipeline {
    /// The steps in order; all but the last must be transformers.
    #[param(positional, required, learner = any)]
    pub steps: Vec<Named<Learner>>,
}

/// A fitted [`Pipeline`]: plays the roles of its last step.
#[derive(Debug)]
pub struct PipelineModel {
    parts: Vec<Arc<Fitted>>,
}

impl Pipeline {
    /// The pipeline with one more step.
    #[must_use]
    pub fn then(mut self, name: &str, learner: impl Into<Learner>) -> Self {
        self.steps.push(Named::new(name, learner));
        self
    }

    fn constraints(&self) -> Result<()> {
        let before = self.steps.split_last().map_or(&[][..], |(_, before)| before);
        for Named { name, value: learner } in before {
            if !learner.any_roles().names().contains(&"transformer") {
                let message =
                    format!("step '{name}' ({}) is not a transformer", learner.about().name());
                return Err(Error::new(Code::Parameter, message)
                    .hint("only the last step may be another learner"));
            }
        }
        Ok(())
    }

    fn last(&self) -> Option<&Learner> {
        self.steps.last().map(|step| &step.value)
    }

    /// Steps one after the other on whole tables.
    fn train_in_turn(&self, data: &Dataset, run: &Context) -> Result<PipelineModel> {
        let mut parts: Vec<Arc<Fitted>> = Vec::new();
        let mut table: Option<Table> = None;
        for Named { name, value: learner } in &self.steps {
            if let Some(last) = parts.last() {
                let x = table.as_ref().map_or(data.x, Table::frame);
                table = Some(last.transformer()?.transform_in(&x, run)?);
            }
            let x = table.as_ref().map_or(data.x, Table::frame);
            parts.push(Arc::new(Fitted::fit(&**learner, name, &Dataset { x, ..*data }, run)?));
        }
        Ok(PipelineModel { parts })
    }

    fn rounds_job(&self) -> Option<PipelineJob> {
        let steps = self.steps.iter().map(|Named { name, value: learner }| {
            Some(JobStep { name: name.clone(), learner: learner.clone(), job: learner.any_job()? })
        });
        Some(PipelineJob { steps: steps.collect::<Option<_>>()? })
    }
}

impl Estimator for Pipeline {
    type Model = PipelineModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::new("pipeline.Pipeline", Roles::NONE)
        .weights()
        .missing()
        .categories()
        .many_outputs()
        .randomness()
        .threads()
        .iterations()
        .streaming()
        .complexity(60)
        .cost("the sum of its steps")
        .exempt(&[("trace", "its steps decide whether it iterates")]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<PipelineModel> {
        match self.rounds_job() {
            Some(job) => rounds::drive(&job, &InMemory::new(*data), run)?.take(),
            None => self.train_in_turn(data, run),
        }
    }

    /// The preparation stays as it was fitted; the last step goes on.
    fn update(
        &self,
        model: Option<&PipelineModel>,
        data: &Dataset,
        run: &Context,
    ) -> Result<PipelineModel> {
        let Some((Named { name, value: learner }, before)) = self.steps.split_last() else {
            return Err(Error::internal("a pipeline without steps"));
        };
        let mut parts = match model {
            Some(model) => model.parts[..model.parts.len().saturating_sub(1)].to_vec(),
            None => Pipeline { steps: before.to_vec() }.train_in_turn(data, run)?.parts,
        };
        let last = model.and_then(|model| model.parts.last()).map(|part| part.model.as_ref());
        let table = through(&parts, &data.x, run)?;
        let x = table.as_ref().map_or(data.x, Table::frame);
        let data = offered(data, x, learner.any_accepts());
        let updated = learner.update_any(last, &data, run).map_err(|error| error.within(name))?;
        parts.push(Arc::new(Fitted { name: name.clone(), about: learner.about(), model: updated }));
        Ok(PipelineModel { parts })
    }

    fn roles(&self) -> Roles {
        self.last().map_or(Roles::NONE, |learner| learner.any_roles())
    }

    fn accepts(&self) -> Accepts {
        let first = self.steps.first().map(|step| step.value.any_accepts()).unwrap_or_default();
        let last = self.last().map(|learner| learner.any_accepts()).unwrap_or_default();
        Accepts { missing: first.missing, categories: first.categories, ..last }
    }

    fn job(&self) -> Option<Box<dyn Job>> {
        self.rounds_job().map(|job| Box::new(job) as Box<dyn Job>)
    }
}

struct JobStep {
    name: String,
    learner: Learner,
    job: Box<dyn Job>,
}

/// The pipeline as rounds: the phases of its steps, one after the other.
struct PipelineJob {
    steps: Vec<JobStep>,
}

/// Which step is being fitted, the fitted ones before it, and the step's own state.
struct PipelineState {
    parts: Vec<Arc<Fitted>>,
    inner: Erased,
    first_round: bool,
    outline: OwnedOutline,
}

impl PipelineState {
    fn erased(self) -> Erased {
        Erased::stored_by(self, |state| {
            let parts = Node::List(state.parts.iter().map(|part| part.to_node()).collect());
            Ok(Node::Map(BTreeMap::from([
                ("parts".to_string(), parts),
                ("inner".to_string(), state.inner.to_node()?),
                ("first_round".to_string(), state.first_round.to_node()),
                ("outline".to_string(), state.outline.to_node()),
            ])))
        })
    }
}

/// Kept beside a block: its rows as the current step sees them, and the step's own memo.
#[derive(Default)]
struct PipelineMemo {
    step: usize,
    table: Option<Table>,
    inner: Memo,
}

/// The rows after the fitted transformers; `None` if there are none.
fn through(parts: &[Arc<Fitted>], x: &Frame, run: &Context) -> Result<Option<Table>> {
    let mut table: Option<Table> = None;
    for part in parts {
        let frame = table.as_ref().map_or(*x, Table::frame);
        if table.is_some() {
            part.check_rows(&frame, run)?;
        }
        table = Some(
            part.transformer()?
                .transform_in(&frame, run)
                .map_err(|error| error.within(&part.name))?,
        );
    }
    Ok(table)
}

impl Job for PipelineJob {
    fn begin(&self, outline: &Outline, run: &Context) -> Result<Erased> {
        let inner = self.steps[0]
            .job
            .begin(outline, run)
            .map_err(|error| error.within(&self.steps[0].name))?;
        let outline = outline.into();
        Ok(PipelineState { parts: Vec::new(), inner, first_round: true, outline }.erased())
    }

    fn summarize(
        &self,
        state: &Erased,
        block: &Block,
        memo: &mut Memo,
        run: &Context,
    ) -> Result<Erased> {
        let state: &PipelineState = state.get()?;
        let step = &self.steps[state.parts.len()];
        let memo: &mut PipelineMemo = memo.of();
        if memo.step != state.parts.len() || (memo.table.is_none() && !state.parts.is_empty()) {
            // A block's rows go through the one new transformer, or through all if they were lost.
            let one_more =
                memo.step + 1 == state.parts.len() && (memo.table.is_some() || memo.step == 0);
            let start = if one_more { memo.step } else { 0 };
            let x = memo.table.as_ref().filter(|_| one_more).map_or(block.data.x, Table::frame);
            let table = through(&state.parts[start..], &x, &run.with_threads(1))?;
            *memo = PipelineMemo { step: state.parts.len(), table, inner: Memo::default() };
        }
        let x = memo.table.as_ref().map_or(block.data.x, Table::frame);
        let accepts = step.learner.any_accepts();
        let data = offered(&block.data, x, accepts);
        if state.first_round {
            let needs_target = step.learner.any_roles().needs_target();
            data.check(accepts, needs_target, &run.with_threads(1))
                .map_err(|error| error.within(&step.name))?;
        }
        let inner = step
            .job
            .summarize(&state.inner, &Block { data, ..*block }, &mut memo.inner, run)
            .map_err(|error| error.within(&step.name))?;
        Ok(Summary { step: state.parts.len(), inner }.erased())
    }

    fn merge(&self, earlier: Erased, later: Erased) -> Result<Erased> {
        let (earlier, later): (Summary, Summary) = (earlier.take()?, later.take()?);
        if earlier.step != later.step {
            return Err(Error::internal("summaries of different steps"));
        }
        let inner = self.step(earlier.step)?.job.merge(earlier.inner, later.inner)?;
        Ok(Summary { step: earlier.step, inner }.erased())
    }

    fn advance(&self, state: Erased, all: Erased, run: &Context) -> Result<Step<Erased, Erased>> {
        let state: PipelineState = state.take()?;
        let all: Summary = all.take()?;
        let PipelineState { mut parts, inner, outline, .. } = state;
        let step = self.step(all.step)?;
        let next =
            step.job.advance(inner, all.inner, run).map_err(|error| error.within(&step.name))?;
        let done = match next {
            Step::Again(inner) => {
                let state = PipelineState { parts, inner, first_round: false, outline };
                return Ok(Step::Again(state.erased()));
            }
            Step::Done(done) => done,
        };
        let model = step.job.model(done)?;
        parts.push(Arc::new(Fitted {
            name: step.name.clone(),
            about: step.learner.about(),
            model,
        }));
        if parts.len() == self.steps.len() {
            return Ok(Step::Done(Erased::result(PipelineModel { parts })));
        }
        let next = &self.steps[parts.len()];
        let whole = outline.view();
        let no_rows = Matrix::zeros(0, whole.schema.len());
        let table = through(&parts, &Frame::new(no_rows.view(), whole.schema)?, run)?;
        let schema = table.map_or_else(Schema::default, |table| table.schema().clone());
        let inner = next
            .job
            .begin(&Outline { schema: &schema, ..whole }, run)
            .map_err(|error| error.within(&next.name))?;
        Ok(Step::Again(PipelineState { parts, inner, first_round: true, outline }.erased()))
    }

    fn model(&self, done: Erased) -> Result<Box<dyn Model>> {
        Ok(Box::new(done.take::<PipelineModel>()?))
    }

    fn read_state(&self, node: &Node) -> Result<Erased> {
        node.only("pipeline", &["parts", "inner", "first_round", "outline"])?;
        let parts: Vec<Fitted> = node.field("parts")?;
        let same = |(part, step): (&Fitted, &JobStep)| {
            part.name == step.name && part.about.path == step.learner.about().path
        };
        let step = self.step(parts.len())?;
        if !parts.iter().zip(&self.steps).all(same) {
            return Err(invalid("fitted steps of another pipeline"));
        }
        parts.iter().try_for_each(|part| part.transformer().map(|_| ()))?;
        let inner = step.job.read_state(node.child("inner")?)?;
        let parts = parts.into_iter().map(Arc::new).collect();
        let (first_round, outline) = (node.field("first_round")?, node.field("outline")?);
        Ok(PipelineState { parts, inner, first_round, outline }.erased())
    }

    fn read_summary(&self, node: &Node) -> Result<Erased> {
        node.only("summary", &["step", "inner"])?;
        let step: usize = node.field("step")?;
        let inner = self.step(step)?.job.read_summary(node.child("inner")?)?;
        Ok(Summary { step, inner }.erased())
    }
}

impl PipelineJob {
    fn step(&self, index: usize) -> Result<&JobStep> {
        self.steps.get(index).ok_or_else(|| invalid("a step that the pipeline does not have"))
    }
}

/// A step's own summary, and which step it is.
struct Summary {
    step: usize,
    inner: Erased,
}

impl Summary {
    fn erased(self) -> Erased {
        Erased::stored_by(self, |summary| {
            Ok(Node::Map(BTreeMap::from([
                ("step".to_string(), summary.step.to_node()),
                ("inner".to_string(), summary.inner.to_node()?),
            ])))
        })
    }
}

impl PipelineModel {
    pub(crate) fn last(&self) -> Option<&dyn Model> {
        self.parts.last().map(|part| part.model.as_ref())
    }

    /// Calls `f` with the rows as the last step sees them.
    pub(crate) fn prepared<T>(
        &self,
        x: &Frame,
        run: &Context,
        f: impl FnOnce(&Frame) -> Result<T>,
    ) -> Result<T> {
        let Some((last, before)) = self.parts.split_last() else {
            return Err(Error::internal("a pipeline without steps"));
        };
        match through(before, x, run)? {
            Some(table) => {
                last.check_rows(&table.frame(), run)?;
                f(&table.frame())
            }
            None => f(x),
        }
    }

    fn role<'m, T: ?Sized>(
        &'m self,
        role: impl FnOnce(&'m dyn Model) -> Option<&'m T>,
    ) -> Result<&'m T> {
        self.last()
            .and_then(role)
            .ok_or_else(|| Error::unsupported("the last step does not play this role"))
    }
}

/// The report of the last step, with the tables of those before it, and a note where its columns are
/// not in the units of the table that was given.
fn steps_report(parts: &[FittedPart], names: &Names) -> Option<Answer> {
    let (last, before) = parts.split_last()?;
    let own = |part: &FittedPart| part.model.report(&names.with_columns(&part.schema));
    let earlier: Vec<(&str, Answer)> =
        before.iter().filter_map(|part| Some((part.name.as_str(), own(part)?))).collect();
    let own = own(last);
    if own.is_none() && earlier.is_empty() {
        return None;
    }
    let mut report = own.unwrap_or_else(|| Answer::new(last.about.name()));
    if !report.tables.is_empty() && before.iter().any(|part| rescales(part.model)) {
        report.notes.push(
            "numbers were standardised before this step: its tables are in standard deviations"
                .to_string(),
        );
    }
    for (name, answer) in earlier {
        report.tables.extend(
            answer
                .tables
                .into_iter()
                .map(|table| Columns { title: format!("step '{name}': {}", table.title), ..table }),
        );
    }
    Some(report)
}

/// Whether a model, or one inside it, puts columns on another scale.
fn rescales(model: &dyn Model) -> bool {
    let any: &dyn Any = model;
    any.is::<crate::prepare::StandardScalerModel>()
        || any
            .downcast_ref::<PipelineModel>()
            .is_some_and(|pipeline| pipeline.parts.iter().any(|part| rescales(part.model.as_ref())))
        || any
            .downcast_ref::<super::ColumnTransformerModel>()
            .is_some_and(|columns| columns.fitted().any(|part| rescales(part.model.as_ref())))
}

impl Model for PipelineModel {
    fn as_regressor(&self) -> Option<&dyn Regressor> {
        self.last()?.as_regressor().map(|_| self as &dyn Regressor)
    }
    fn as_classifier(&self) -> Option<&dyn Classifier> {
        self.last()?.as_classifier().map(|_| self as &dyn Classifier)
    }
    fn as_decoder(&self) -> Option<&dyn Decoder> {
        self.last()?.as_decoder().map(|_| self as &dyn Decoder)
    }
    fn as_detector(&self) -> Option<&dyn Detector> {
        self.last()?.as_detector().map(|_| self as &dyn Detector)
    }
    fn as_density(&self) -> Option<&dyn Density> {
        self.last()?.as_density().map(|_| self as &dyn Density)
    }
    fn accepts(&self) -> Option<Accepts> {
        self.parts.first().map(|part| part.accepts())
    }
    fn as_transformer(&self) -> Option<&dyn Transformer> {
        self.last()?.as_transformer().map(|_| self as &dyn Transformer)
    }
    fn as_clusterer(&self) -> Option<&dyn Clusterer> {
        self.last()?.as_clusterer().map(|_| self as &dyn Clusterer)
    }
    fn attributes(&self) -> Vec<(&'static str, Node)> {
        self.last().map(Model::attributes).unwrap_or_default()
    }
    fn report(&self, names: &Names) -> Option<Answer> {
        steps_report(&self.parts(&names.schema, &[]).ok()?, names)
    }
    fn parts(&self, schema: &Schema, classes: &[Label]) -> Result<Vec<FittedPart<'_>>> {
        let no_rows = Matrix::zeros(0, schema.len());
        let (mut out, mut table) = (Vec::new(), Frame::new(no_rows.view(), schema)?.to_table());
        for (k, part) in self.parts.iter().enumerate() {
            out.push(part.part(table.schema().clone(), classes));
            if k + 1 < self.parts.len() {
                table = part.transformer()?.transform(&table.frame())?;
            }
        }
        Ok(out)
    }
    fn questions(&self) -> &'static [Question] {
        self.last().map(Model::questions).unwrap_or_default()
    }
    fn answer(&self, asked: &Asked) -> Result<Answer> {
        let last = self.last().ok_or_else(|| Error::internal("a pipeline without steps"))?;
        match &asked.data {
            None => last.answer(asked),
            Some(data) => self.prepared(&data.x, &asked.run, |x| {
                last.answer(&asked.with_data(Dataset { x: *x, ..*data }))
            }),
        }
    }
    fn stored(&self) -> Node {
        self.to_node()
    }
    fn version(&self) -> u32 {
        Self::VERSION
    }
    fn converged(&self) -> bool {
        self.parts.iter().all(|part| part.model.converged())
    }
}

impl Described for PipelineModel {
    const FIELDS: &'static [(&'static str, &'static str)] = &[];
    const VERSION: u32 = 1;
}

impl Stored for PipelineModel {
    fn to_node(&self) -> Node {
        Node::List(self.parts.iter().map(|part| part.to_node()).collect())
    }
    fn from_node(node: &Node) -> Result<Self> {
        let parts: Vec<Fitted> = Vec::from_node(node)?;
        let Some((_, before)) = parts.split_last() else {
            return Err(invalid("a pipeline without steps"));
        };
        before.iter().try_for_each(|part| part.transformer().map(|_| ()))?;
        Ok(PipelineModel { parts: parts.into_iter().map(Arc::new).collect() })
    }
}

impl Regressor for PipelineModel {
    fn predict_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let last = self.role(Model::as_regressor)?;
        self.prepared(x, run, |x| last.predict_in(x, run))
    }
}

impl Classifier for PipelineModel {
    fn probabilities_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let last = self.role(Model::as_classifier)?;
        self.prepared(x, run, |x| last.probabilities_in(x, run))
    }
    fn decision_scores_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let last = self.role(Model::as_classifier)?;
        self.prepared(x, run, |x| last.decision_scores_in(x, run))
    }
    fn classify_in(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        let last = self.role(Model::as_classifier)?;
        self.prepared(x, run, |x| last.classify_in(x, run))
    }
}

impl Transformer for PipelineModel {
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        through(&self.parts, x, run)?.ok_or_else(|| Error::internal("a pipeline without steps"))
    }
    fn inverse_transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        let mut table: Option<Table> = None;
        for part in self.parts.iter().rev() {
            let frame = table.as_ref().map_or(*x, Table::frame);
            table = Some(
                part.transformer()?
                    .inverse_transform_in(&frame, run)
                    .map_err(|error| error.within(&part.name))?,
            );
        }
        table.ok_or_else(|| Error::internal("a pipeline without steps"))
    }
}

impl Decoder for PipelineModel {
    fn decode_in(
        &self,
        x: &Frame,
        sequences: Option<Sequences>,
        run: &Context,
    ) -> Result<(Vec<u32>, Vec<f64>)> {
        let last = self.role(Model::as_decoder)?;
        self.prepared(x, run, |x| last.decode_in(x, sequences, run))
    }
    fn posteriors_in(
        &self,
        x: &Frame,
        sequences: Option<Sequences>,
        run: &Context,
    ) -> Result<Matrix> {
        let last = self.role(Model::as_decoder)?;
        self.prepared(x, run, |x| last.posteriors_in(x, sequences, run))
    }
    fn log_likelihood_in(
        &self,
        x: &Frame,
        sequences: Option<Sequences>,
        run: &Context,
    ) -> Result<Vec<f64>> {
        let last = self.role(Model::as_decoder)?;
        self.prepared(x, run, |x| last.log_likelihood_in(x, sequences, run))
    }
}

impl Detector for PipelineModel {
    fn scores_in(&self, x: &Frame, run: &Context) -> Result<Vec<f64>> {
        let last = self.role(Model::as_detector)?;
        self.prepared(x, run, |x| last.scores_in(x, run))
    }
    fn threshold(&self) -> f64 {
        self.last().and_then(Model::as_detector).map_or(f64::NAN, Detector::threshold)
    }
}

/// The density of the prepared rows; drawn rows are prepared rows, so none can be drawn.
impl Density for PipelineModel {
    fn log_density_in(&self, x: &Frame, run: &Context) -> Result<Vec<f64>> {
        let last = self.role(Model::as_density)?;
        self.prepared(x, run, |x| last.log_density_in(x, run))
    }
}

impl Clusterer for PipelineModel {
    fn labels(&self) -> Vec<Option<u32>> {
        self.last().and_then(Model::as_clusterer).map(Clusterer::labels).unwrap_or_default()
    }
    fn assign_in(&self, x: &Frame, run: &Context) -> Result<Vec<Option<u32>>> {
        let last = self.role(Model::as_clusterer)?;
        self.prepared(x, run, |x| last.assign_in(x, run))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::DummyRegressor;
    use crate::prepare::{PolynomialFeatures, SimpleImputer, StandardScaler};

    fn data(rows: usize) -> OwnedDataset {
        let hole = |i: usize, j: usize| {
            if (i * 3 + j).is_multiple_of(17) { f64::NAN } else { (i * i + j) as f64 }
        };
        OwnedDataset::regression(
            Matrix::from_fn(rows, 2, hole),
            (0..rows).map(|i| i as f64).collect(),
        )
    }

    #[test]
    fn rounds_and_turns_agree_to_the_bit_in_one_block() {
        let pipeline = Pipeline::default()
            .then("impute", SimpleImputer::default())
            .then("scale", StandardScaler::default());
        let data = data(100);
        let by_rounds = pipeline.fit(&data.view()).unwrap();
        let in_turn = pipeline.train_in_turn(&data.view(), &Context::default()).unwrap();
        assert_eq!(by_rounds.to_node(), in_turn.to_node());
        assert!(pipeline.job().is_some());
        assert!(pipeline.then("dummy", DummyRegressor::default()).job().is_none());
    }

    #[test]
    fn a_pipeline_goes_on_with_its_last_step() {
        use crate::bayes::GaussianNB;
        let x = Matrix::from_fn(40, 2, |i, j| (i * (j + 3) % 11) as f64 + (i % 2) as f64);
        let labels: Vec<Label> = (0..40).map(|i| Label::Int(i % 2)).collect();
        let data = OwnedDataset::classification(x, &labels);
        let pipeline = Pipeline::default()
            .then("scale", StandardScaler::default())
            .then("bayes", GaussianNB::default());
        let begun = pipeline.fit(&data.view()).unwrap();
        let run = Context::default();
        let more = pipeline.update_in(Some(&begun), &data.view(), &run).unwrap();
        let counts = |model: &PipelineModel| {
            let found = model.attributes().into_iter().find(|(name, _)| *name == "class_count");
            format!("{:?}", found.unwrap().1)
        };
        assert_ne!(counts(&begun), counts(&more));
        assert_eq!(begun.parts[0].model.stored(), more.parts[0].model.stored());
    }

    #[test]
    fn fitted_steps_can_be_reached_with_the_columns_they_see() {
        let pipeline = Pipeline::default()
            .then("impute", SimpleImputer::default())
            .then("poly", PolynomialFeatures::default());
        let data = data(30);
        let model = pipeline.fit(&data.view()).unwrap();
        let parts = model.parts(data.x.schema(), &[]).unwrap();
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["impute", "poly"]);
        assert_eq!((parts[0].schema.len(), parts[1].schema.len()), (2, 2));
        assert_eq!(parts[1].about.name(), "PolynomialFeatures");
    }

    #[test]
    fn tables_in_standard_deviations_say_so() {
        use crate::linear::Ridge;
        let rows = OwnedDataset::regression(
            Matrix::from_fn(20, 2, |i, j| (i * (j + 2) % 7) as f64),
            (0..20).map(|i| i as f64).collect(),
        );
        let scaled = Pipeline::default().then("scale", StandardScaler::default());
        let names = Names::new(rows.x.schema(), &[]);
        let scaled = scaled.then("ridge", Ridge::default()).fit(&rows.view()).unwrap();
        let report = scaled.report(&names);
        assert!(report.unwrap().notes.iter().any(|note| note.contains("standard deviations")));
        let plain = Pipeline::default().then("ridge", Ridge::default());
        let report = plain.fit(&rows.view()).unwrap().report(&names).unwrap();
        assert!(report.notes.iter().all(|note| !note.contains("standard deviations")));
    }

    #[test]
    fn a_regressor_in_the_middle_is_refused() {
        let pipeline = Pipeline::default()
            .then("dummy", DummyRegressor::default())
            .then("scale", StandardScaler::default());
        let error = pipeline.fit(&data(10).view()).unwrap_err();
        assert!(
            error.message().contains("step 'dummy' (DummyRegressor) is not a transformer"),
            "{error}"
        );
    }

    #[test]
    fn parameters_of_steps_are_reached_by_name() {
        let mut pipeline = Pipeline::default().then("poly", PolynomialFeatures::default());
        pipeline.set("poly__degree", &Value::Int(3)).unwrap();
        assert_eq!(pipeline.get("poly__degree").unwrap(), Value::Int(3));
        assert!(pipeline.set("pol__degree", &Value::Int(3)).is_err());
    }

    #[test]
    fn an_unknown_learner_in_the_steps_is_named() {
        let mut pipeline = Pipeline::default();
        let steps = Value::parse(r#"[["a", {"learner": "StandardScaller"}]]"#);
        let error = pipeline.set("steps", &steps).unwrap_err();
        assert!(error.to_string().contains("standard-scaler"), "{error}");
    }
}
