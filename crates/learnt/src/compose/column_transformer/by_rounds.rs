//! A column transformer as rounds: all its transformers in the same rounds.

use super::model::{ColumnTransformerModel, Output};
use super::{ColumnTransformer, Placed};
use crate::learner::{Fitted, offered};
use learnt_core::persist::{Node, invalid};
use learnt_core::prelude::*;
use learnt_core::rounds::{Erased, Job};
use std::collections::BTreeMap;

/// All transformers in the same rounds; one job a group, none for groups that only pass or drop.
pub(super) struct ColumnsJob {
    pub(super) learner: ColumnTransformer,
    pub(super) jobs: Vec<Option<Box<dyn Job>>>,
}

struct ColumnsState {
    schema: Schema,
    first_round: bool,
    groups: Vec<GroupState>,
}

enum GroupState {
    Fitting(usize, Erased),
    Done(Option<Fitted>),
}

/// The summary of each group that is still being fitted, with the number of the group.
type Summaries = Vec<Option<(usize, Erased)>>;
type Memos = Vec<Memo>;

fn erased(summaries: Summaries) -> Erased {
    Erased::stored_by(summaries, |summaries| {
        let node = |summary: &Option<(usize, Erased)>| match summary {
            None => Ok(Node::Null),
            Some((group, summary)) => fitting(*group, summary),
        };
        summaries.iter().map(node).collect::<Result<_>>().map(Node::List)
    })
}

/// A state or summary with the number of its group.
fn fitting(group: usize, inner: &Erased) -> Result<Node> {
    Ok(Node::Map(BTreeMap::from([
        ("group".to_string(), group.to_node()),
        ("inner".to_string(), inner.to_node()?),
    ])))
}

impl ColumnsState {
    fn erased(self) -> Erased {
        Erased::stored_by(self, |state| {
            let node = |group: &GroupState| match group {
                GroupState::Fitting(group, inner) => fitting(*group, inner),
                GroupState::Done(part) => Ok(part.to_node()),
            };
            let groups = state.groups.iter().map(node).collect::<Result<_>>()?;
            Ok(Node::Map(BTreeMap::from([
                ("schema".to_string(), state.schema.to_node()),
                ("first_round".to_string(), state.first_round.to_node()),
                ("groups".to_string(), Node::List(groups)),
            ])))
        })
    }
}

impl ColumnsJob {
    /// A group from its stored form: `read` for what is being fitted, else what is done.
    fn read_group(
        &self,
        node: &Node,
        read: fn(&dyn Job, &Node) -> Result<Erased>,
    ) -> Result<GroupState> {
        if node.child("group").is_err() {
            return Option::from_node(node).map(GroupState::Done);
        }
        node.only("group", &["group", "inner"])?;
        let number = node.field("group")?;
        Ok(GroupState::Fitting(number, read(self.job(number)?, node.child("inner")?)?))
    }

    fn job(&self, number: usize) -> Result<&dyn Job> {
        let job = self.jobs.get(number).and_then(Option::as_deref);
        job.ok_or_else(|| Error::internal("a group that cannot stream"))
    }
}

impl Job for ColumnsJob {
    fn begin(&self, outline: &Outline, run: &Context) -> Result<Erased> {
        let mut groups = Vec::new();
        for placed in self.learner.place(outline.schema)? {
            let Some((number, _)) = placed.learner else {
                groups.push(GroupState::Done(None));
                continue;
            };
            let schema = outline.schema.select(&placed.columns);
            let inner = self
                .job(number)?
                .begin(&Outline { schema: &schema, ..*outline }, run)
                .map_err(|error| error.within(placed.name))?;
            groups.push(GroupState::Fitting(number, inner));
        }
        let schema = outline.schema.clone();
        Ok(ColumnsState { schema, first_round: true, groups }.erased())
    }

    fn summarize(
        &self,
        state: &Erased,
        block: &Block,
        memo: &mut Memo,
        run: &Context,
    ) -> Result<Erased> {
        let state: &ColumnsState = state.get()?;
        let placed = self.learner.place(&state.schema)?;
        let memos: &mut Memos = memo.of();
        memos.resize_with(placed.len(), Memo::default);
        let mut summaries = Summaries::new();
        for ((placed, group), memo) in placed.iter().zip(&state.groups).zip(memos) {
            let (GroupState::Fitting(number, inner), Some((_, learner))) = (group, placed.learner)
            else {
                summaries.push(None);
                continue;
            };
            let table = block.data.x.select(&placed.columns);
            let data = offered(&block.data, table.frame(), learner.any_accepts());
            if state.first_round {
                data.check_block(
                    block.first_row,
                    learner.any_accepts(),
                    false,
                    &run.with_threads(1),
                )
                .map_err(|error| error.within(placed.name))?;
            }
            let summary = self
                .job(*number)?
                .summarize(inner, &Block { data, ..*block }, memo, run)
                .map_err(|error| error.within(placed.name))?;
            summaries.push(Some((*number, summary)));
        }
        Ok(erased(summaries))
    }

    fn merge(&self, earlier: Erased, later: Erased) -> Result<Erased> {
        let (earlier, later): (Summaries, Summaries) = (earlier.take()?, later.take()?);
        let merged = earlier.into_iter().zip(later).map(|pair| match pair {
            (Some((number, a)), Some((_, b))) => Ok(Some((number, self.job(number)?.merge(a, b)?))),
            _ => Ok(None),
        });
        Ok(erased(merged.collect::<Result<Summaries>>()?))
    }

    fn advance(&self, state: Erased, all: Erased, run: &Context) -> Result<Step<Erased, Erased>> {
        let state: ColumnsState = state.take()?;
        let all: Summaries = all.take()?;
        let placed = self.learner.place(&state.schema)?;
        let mut groups = Vec::new();
        for ((group, summary), placed) in state.groups.into_iter().zip(all).zip(&placed) {
            groups.push(match (group, summary, placed.learner) {
                (GroupState::Fitting(number, inner), Some((_, summary)), Some((_, learner))) => {
                    let job = self.job(number)?;
                    match job
                        .advance(inner, summary, run)
                        .map_err(|error| error.within(placed.name))?
                    {
                        Step::Again(inner) => GroupState::Fitting(number, inner),
                        Step::Done(done) => {
                            let (name, model) = (placed.name.to_string(), job.model(done)?);
                            GroupState::Done(Some(Fitted { name, about: learner.about(), model }))
                        }
                    }
                }
                (group, _, _) => group,
            });
        }
        if groups.iter().any(|group| matches!(group, GroupState::Fitting(..))) {
            let state = ColumnsState { schema: state.schema, first_round: false, groups };
            return Ok(Step::Again(state.erased()));
        }
        let outputs = groups.into_iter().zip(placed).map(|(group, placed)| {
            let GroupState::Done(part) = group else {
                return Err(Error::internal("an unfinished group"));
            };
            Ok(Output { name: placed.name.to_string(), columns: placed.columns, part })
        });
        Ok(Step::Done(Erased::result(ColumnTransformerModel {
            width: state.schema.len(),
            outputs: outputs.collect::<Result<_>>()?,
            verbose: self.learner.verbose_feature_names_out,
        })))
    }

    fn model(&self, done: Erased) -> Result<Box<dyn Model>> {
        Ok(Box::new(done.take::<ColumnTransformerModel>()?))
    }

    fn read_state(&self, node: &Node) -> Result<Erased> {
        node.only("columns", &["schema", "first_round", "groups"])?;
        let schema: Schema = node.field("schema")?;
        let groups = node.child("groups")?.list()?.iter();
        let groups: Vec<GroupState> = groups
            .map(|group| self.read_group(group, |job, node| job.read_state(node)))
            .collect::<Result<_>>()?;
        let placed = self.learner.place(&schema)?;
        let fits = |(placed, group): (&Placed, &GroupState)| match (placed.learner, group) {
            (Some((wanted, _)), GroupState::Fitting(number, _)) => wanted == *number,
            (Some((_, learner)), GroupState::Done(Some(part))) => {
                part.about.path == learner.about().path && part.name == placed.name
            }
            (learner, GroupState::Done(None)) => learner.is_none(),
            _ => false,
        };
        if placed.len() != groups.len() || !placed.iter().zip(&groups).all(fits) {
            return Err(invalid("groups of another column transformer"));
        }
        Ok(ColumnsState { schema, first_round: node.field("first_round")?, groups }.erased())
    }

    fn read_summary(&self, node: &Node) -> Result<Erased> {
        let read = |node: &Node| match self.read_group(node, |job, node| job.read_summary(node))? {
            GroupState::Fitting(number, summary) => Ok(Some((number, summary))),
            GroupState::Done(None) => Ok(None),
            GroupState::Done(Some(_)) => Err(invalid("a model where a summary belongs")),
        };
        node.list()?.iter().map(read).collect::<Result<_>>().map(erased)
    }
}
