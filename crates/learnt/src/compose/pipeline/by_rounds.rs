//! A pipeline as rounds: the phases of its steps, one after the other.

use super::model::{PipelineModel, through};
use crate::learner::{Fitted, Learner, offered};
use learnt_core::persist::{Node, invalid};
use learnt_core::prelude::*;
use learnt_core::rounds::{Erased, Job};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A step with its own rounds.
pub(super) struct JobStep {
    pub(super) name: String,
    pub(super) learner: Learner,
    pub(super) job: Box<dyn Job>,
}

/// The pipeline as rounds: the phases of its steps, one after the other.
pub(super) struct PipelineJob {
    pub(super) steps: Vec<JobStep>,
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

/// The rows of blocks stay as a step sees them where there is room for this many such tables.
const TABLES: u64 = 4;

/// Kept beside a block: its rows as the current step sees them, where memory allows, and the step's own memo.
#[derive(Default)]
struct PipelineMemo {
    step: usize,
    table: Option<Table>,
    inner: Memo,
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

    fn for_tasks(&self, state: &Erased) -> Result<Option<Erased>> {
        let state: &PipelineState = state.get()?;
        let inner = self.step(state.parts.len())?.job.for_tasks(&state.inner)?;
        let (parts, outline) = (state.parts.clone(), state.outline.clone());
        let told = |inner| PipelineState { parts, inner, first_round: state.first_round, outline };
        Ok(inner.map(|inner| told(inner).erased()))
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
            if memo.step != state.parts.len() {
                memo.inner = Memo::default();
            }
            (memo.step, memo.table) = (state.parts.len(), table);
        }
        let x = memo.table.as_ref().map_or(block.data.x, Table::frame);
        let accepts = step.learner.any_accepts();
        let data = offered(&block.data, x, accepts);
        if state.first_round {
            let needs_target = step.learner.any_roles().needs_target();
            data.check_block(block.first_row, accepts, needs_target, &run.with_threads(1))
                .map_err(|error| error.within(&step.name))?;
        }
        let inner = step
            .job
            .summarize(&state.inner, &Block { data, ..*block }, &mut memo.inner, run)
            .map_err(|error| error.within(&step.name))?;
        let rows = state.outline.view().rows;
        memo.table.take_if(|table| {
            let whole = rows.saturating_mul(8 * table.values().ncols() as u64);
            !run.has_room(whole.saturating_mul(TABLES))
        });
        Ok(Summary { step: state.parts.len(), inner }.erased())
    }

    /// A step that remembers a block needs its rows no more.
    fn recall(&self, state: &Erased, memo: &mut Memo, run: &Context) -> Option<Result<Erased>> {
        let state: &PipelineState = state.get().ok()?;
        let memo: &mut PipelineMemo = memo.of();
        let step = state.parts.len();
        if memo.step != step || state.first_round {
            return None;
        }
        let found = self.steps.get(step)?.job.recall(&state.inner, &mut memo.inner, run)?;
        memo.table = None;
        Some(match found {
            Ok(inner) => Ok(Summary { step, inner }.erased()),
            Err(error) => Err(error.within(&self.steps[step].name)),
        })
    }

    fn remembers(&self) -> bool {
        self.steps.last().is_some_and(|step| step.job.remembers())
    }

    fn whole_is_faster(&self) -> bool {
        self.steps.last().is_some_and(|step| step.job.whole_is_faster())
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
