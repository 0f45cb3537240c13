//! Forests as rounds: over files larger than memory, in other processes, on a cluster.
//!
//! 1. Bins, as those of a table in memory (`tree/binned/cuts.rs`), and the sums of targets.
//! 2. For each tree, the sums of the weights and targets of the rows that it draws; the grids of its sums
//!    follow from them.
//! 3. Groups of trees, level by level: every open node of more than 4,096 rows has its drawn columns added up
//!    by bin, and is split; of every other node the rows are gathered, in bins, and what hangs below is grown
//!    at once. A round asks for about 32 MB at most, and what has no room waits for the next.
//! 4. With `oob_score`, one round over the rows that trees did not draw.
//!
//! How often a tree draws a row, which columns a node looks at and where it cuts at random follow from
//! the seed and the numbers of tree, row and node, so no round has to remember them. Sums over rows of a node
//! are exact (`tree/binned/grid.rs`), others run along the one tree of rows: the bits are those of the fit in
//! memory. Beside a block stay its bins and the nodes of its rows in the trees of a group, about p + 16 + 6
//! bytes a row and tree, where memory allows; then its rows are not read again. Finished trees, and what hangs
//! below the large nodes of growing ones, are part of the state, and no task is told of them before the last round. The order of best-first growth (`max_leaf_nodes`), exact splits, medians, several targets and
//! more than 16 classes need the rows of a node side by side and stay in memory.
//!
//! Meng, Bradley, Yavuz et al., "MLlib: machine learning in Apache Spark" (2016), JMLR 17, 1-7; Panda, Herbach,
//! Basu and Bayardo, "PLANET: massively parallel learning of tree ensembles with MapReduce" (2009).

mod growing;
mod rows;
mod summary;

#[cfg(test)]
mod tests;

use super::out_of_bag::{Judge, OutOfBag};
use super::targets::{Aim, MOST_CLASSES, means};
use super::{ForestRounds, Goal};
use crate::tree::TreeRegressorCriterion;
use crate::tree::binned::{BinLimits, Kind, SUMMARY_BYTES, claim_counts};
use crate::tree::nodes::Tree;
use growing::{Decide, Field, Gathered, Growing, Task};
use learnt_core::context::Progress;
use learnt_core::prelude::*;
use rows::Held;
use summary::Summary;

/// About the most bytes of the nodes of rows in the trees of a group.
const GROUP_BYTES: u64 = 256 << 20;
/// The fewest trees of a group.
const FEW_TREES: u64 = 4;

/// What the last round leaves.
pub struct ForestOutput {
    pub(super) trees: Vec<Tree>,
    pub(super) outline: OwnedOutline,
    pub(super) out_of_bag: OutOfBag,
}

/// What a round asks of the rows.
#[derive(Stored, Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Counts of the values of columns from this one on.
    Cuts(usize),
    /// Ends of bins.
    Ends,
    /// Sums over the rows of each tree.
    Roots,
    /// Sums and rows of nodes.
    Trees,
    /// Errors of trees on rows that they did not draw.
    Judge,
}

/// What every block must know.
#[derive(Stored, Clone, Debug)]
pub struct ForestState {
    outline: OwnedOutline,
    phase: Phase,
    kinds: Vec<Kind>,
    /// Sums of targets.
    sums: Vec<f64>,
    aim: Option<Aim>,
    /// For each tree the draws of each segment of rows; nothing where every row counts once.
    draws: Vec<Vec<u32>>,
    /// For each tree what its grids follow from, and how many rows it has drawn.
    roots: Vec<f64>,
    drawn: Vec<u64>,
    /// Trees that are whole, and their number, which tasks know without them.
    trees: Vec<Tree>,
    whole: usize,
    /// The next trees, which grow together.
    growing: Vec<Growing>,
    tasks: Vec<Task>,
    /// Counts the rounds.
    stamp: u64,
}

impl ForestState {
    fn aim(&self) -> Result<Aim> {
        self.aim.ok_or_else(|| Error::internal("a forest without an aim"))
    }

    fn field<'a>(&'a self, rounds: &'a ForestRounds) -> Field<'a> {
        Field { rounds, kinds: &self.kinds, rows: self.outline.view().rows as usize }
    }

    /// What targets are measured from; nothing for classes.
    fn centres(&self) -> Vec<f64> {
        if self.outline.view().classes.is_empty() { means(&self.sums) } else { Vec::new() }
    }
}

impl ForestRounds {
    /// Whether targets count events.
    fn counts_events(&self) -> bool {
        self.goal == Goal::Reals(TreeRegressorCriterion::Poisson)
    }

    /// Bytes that the summaries of one round take at most, about.
    fn round_bytes(run: &Context) -> u64 {
        SUMMARY_BYTES * (run.threads() as u64 + 4)
    }

    /// Refuses tables whose trees need the rows of a node side by side.
    fn check_outline(&self, outline: &Outline) -> Result<()> {
        let what = match self.goal {
            Goal::Classes { .. } if outline.classes.len() > MOST_CLASSES => "more than 16 classes",
            Goal::Reals(_) if outline.outputs > 1 => "several targets",
            _ => return Ok(()),
        };
        let message = format!("a forest with {what} does not stream: it needs all rows in memory");
        Err(Error::unsupported(message).hint("fit it in memory, or use histogram boosting"))
    }

    /// Trees that grow together.
    fn group(&self, state: &ForestState) -> usize {
        let rows = state.outline.view().rows.max(1);
        let left = self.n_estimators - state.trees.len();
        ((GROUP_BYTES / (6 * rows)).max(FEW_TREES) as usize).min(left)
    }
}

impl Rounds for ForestRounds {
    type State = ForestState;
    type Summary = Summary;
    type Output = ForestOutput;
    const REMEMBERS: bool = true;

    fn whole_is_faster(&self) -> bool {
        true
    }

    fn begin(&self, outline: &Outline, run: &Context) -> Result<ForestState> {
        self.check_outline(outline)?;
        claim_counts(outline, run)?;
        let sampling = self.sampling(outline.rows as usize)?;
        let of_tree =
            4 * sampling.segments() as u64 + 8 * (outline.classes.len().max(3) as u64 + 1);
        let trees = self.n_estimators as u64;
        run.claim(trees.saturating_mul(of_tree), &format!("draws of {trees} trees"))?;
        let draws = run.par_map(self.n_estimators, |t| sampling.draws(&run.child(t as u64)));
        Ok(ForestState {
            outline: outline.into(),
            phase: Phase::Cuts(0),
            kinds: Vec::new(),
            sums: Vec::new(),
            aim: None,
            draws: draws.into_iter().flatten().collect(),
            roots: Vec::new(),
            drawn: Vec::new(),
            trees: Vec::new(),
            whole: 0,
            growing: Vec::new(),
            tasks: Vec::new(),
            stamp: 0,
        })
    }

    /// Only the trees that grow, and of them what leads rows to open nodes.
    fn for_tasks(&self, state: &ForestState) -> Option<ForestState> {
        if state.phase != Phase::Trees {
            return None;
        }
        let group = state.whole..state.whole + state.growing.len();
        let draws = state.draws.iter().enumerate();
        let of_group = |(t, draws): (usize, &Vec<u32>)| match group.contains(&t) {
            true => draws.clone(),
            false => Vec::new(),
        };
        Some(ForestState {
            outline: state.outline.clone(),
            phase: state.phase,
            kinds: state.kinds.clone(),
            sums: state.sums.clone(),
            aim: state.aim,
            draws: draws.map(of_group).collect(),
            roots: state.roots.clone(),
            drawn: Vec::new(),
            trees: Vec::new(),
            whole: state.whole,
            growing: state.growing.iter().map(Growing::for_tasks).collect(),
            tasks: state.tasks.clone(),
            stamp: state.stamp,
        })
    }

    fn summarize(
        &self,
        state: &ForestState,
        block: &Block,
        memo: &mut Memo,
        run: &Context,
    ) -> Result<Summary> {
        match state.phase {
            Phase::Cuts(first) => self.count_values(state, first, block, run),
            Phase::Ends => Ok(Self::find_ends(state, block)),
            Phase::Roots => self.find_roots(state, block, run),
            Phase::Trees => memo.of::<Held>().summarize(self, state, block, run),
            Phase::Judge => self.judge_rows(state, block, run),
        }
    }

    fn recall(
        &self,
        state: &ForestState,
        memo: &mut Memo,
        run: &Context,
    ) -> Option<Result<Summary>> {
        memo.of::<Held>().recall(self, state, run)
    }

    fn advance(
        &self,
        mut state: ForestState,
        all: Summary,
        run: &Context,
    ) -> Result<Step<ForestState, ForestOutput>> {
        state.stamp += 1;
        match state.phase {
            Phase::Cuts(first) => self.take_counts(&mut state, first, all)?,
            Phase::Ends => {
                all.ends.give(&mut state.kinds)?;
                state.phase = Phase::Roots;
            }
            Phase::Roots => {
                (state.roots, state.drawn) = (all.sums, all.drawn);
                state.phase = Phase::Trees;
                run.claim(Self::round_bytes(run), "histograms of nodes")?;
                self.plant(&mut state, run)?;
            }
            Phase::Trees => {
                self.take_parts(&mut state, &all, run)?;
                if state.growing.is_empty() {
                    match self.growth.oob_score {
                        true => state.phase = Phase::Judge,
                        false => return Ok(done(state, OutOfBag::default())),
                    }
                }
            }
            Phase::Judge => {
                let centres = state.centres();
                let classes = state.outline.view().classes.len();
                let judge = Judge { trees: &state.trees, classes, centres: &centres };
                if all.sums.len() != judge.width() {
                    return Err(Error::internal("errors of other trees"));
                }
                let found = judge.found(&all.sums, run);
                return Ok(done(state, found));
            }
        }
        Ok(Step::Again(state))
    }
}

fn done(state: ForestState, out_of_bag: OutOfBag) -> Step<ForestState, ForestOutput> {
    let ForestState { trees, outline, .. } = state;
    Step::Done(ForestOutput { trees, outline, out_of_bag })
}

impl ForestRounds {
    /// Bins from the counts of values; with the first of them, what targets say.
    fn take_counts(&self, state: &mut ForestState, first: usize, all: Summary) -> Result<()> {
        let outline = state.outline.clone();
        let outline = outline.view();
        if first == 0 {
            if self.counts_events() && all.sums[1] <= 0.0 {
                return Err(crate::tree::no_events());
            }
            let classes = outline.classes.len();
            state.aim = self.aim(classes, outline.outputs, &all.sums);
            state.sums = all.sums;
        }
        let limits = BinLimits::narrow(self.growth.max_bins);
        state.phase = match all.values.add_kinds(&outline, limits, &mut state.kinds)? {
            None => Phase::Ends,
            Some(next) => Phase::Cuts(next),
        };
        Ok(())
    }

    /// The roots of the next trees.
    fn plant(&self, state: &mut ForestState, run: &Context) -> Result<()> {
        let outputs = state.outline.view().classes.len().max(1);
        let first = state.trees.len();
        for t in first..first + self.group(state) {
            let rows = state.drawn.get(t).ok_or_else(|| Error::internal("rows of no tree"))?;
            state.growing.push(Growing::new(&state.kinds, outputs, *rows));
        }
        self.ask(state, run);
        Ok(())
    }

    /// What the next round is about: splits of large nodes first, then rows of small ones, as far as there is
    /// room. Without anything to ask, the trees of the group are whole.
    fn ask(&self, state: &mut ForestState, run: &Context) {
        let field = state.field(self);
        let first = state.trees.len();
        let tasks = run.par_map(state.growing.len(), |tree| {
            state.growing[tree].tasks(tree, &field, &run.child((first + tree) as u64))
        });
        let (gathers, splits): (Vec<Task>, Vec<Task>) =
            tasks.into_iter().flatten().partition(|task| task.rows);
        let mut room = SUMMARY_BYTES;
        let mut chosen: Vec<Task> = Vec::new();
        for task in splits.into_iter().chain(gathers) {
            let bytes = bytes(state, &task);
            if !chosen.is_empty() && bytes > room {
                continue;
            }
            room = room.saturating_sub(bytes);
            chosen.push(task);
        }
        chosen.sort_by_key(|task| (task.tree, task.node));
        state.tasks = chosen;
    }

    /// Splits nodes by their sums, grows what hangs below nodes whose rows are there.
    fn take_parts(&self, state: &mut ForestState, all: &Summary, run: &Context) -> Result<()> {
        if all.parts.len() != state.tasks.len() {
            return Err(Error::internal("parts of another round"));
        }
        let aim = state.aim()?;
        let first = state.trees.len();
        let tasks = std::mem::take(&mut state.tasks);
        let grown = {
            let (state, field) = (&*state, state.field(self));
            run.try_par_map(tasks.len(), |k| {
                let Task { tree, node, rows, .. } = tasks[k];
                if !rows {
                    return Ok(None);
                }
                let inner = run.child((first + tree) as u64);
                let (start, weight) = state.growing[tree].start(node);
                let work = Gathered { field, start, weight, part: &all.parts[k], run: &inner };
                aim.measured(&self.scales(state, first + tree)?, work).map(Some)
            })?
        };
        let mut growing = std::mem::take(&mut state.growing);
        for ((task, part), grown) in tasks.iter().zip(&all.parts).zip(grown) {
            let tree = &mut growing[task.tree];
            let Some(grown) = grown else {
                let inner = run.child((first + task.tree) as u64);
                let field = state.field(self);
                let work = Decide { field, growing: tree, task, part, run: &inner };
                aim.measured(&self.scales(state, first + task.tree)?, work)?;
                continue;
            };
            tree.hang(task.node, grown);
        }
        state.growing = growing;
        self.ask(state, run);
        if !state.tasks.is_empty() {
            return Ok(());
        }
        for growing in std::mem::take(&mut state.growing) {
            state.trees.push(growing.finish(self.growth.ccp_alpha));
        }
        state.whole = state.trees.len();
        run.progress(&Progress {
            stage: "trees",
            done: state.trees.len() as u64,
            total: Some(self.n_estimators as u64),
            objective: None,
        })?;
        if state.trees.len() < self.n_estimators {
            self.plant(state, run)?;
        }
        Ok(())
    }
}

/// Bytes of what a task asks for, as they travel.
fn bytes(state: &ForestState, task: &Task) -> u64 {
    /// Lengths of the lists of a part.
    const LENGTHS: u64 = 6 * 4;
    let width = state.aim.map_or(0, Aim::width) as u64 + 1;
    let rows = u64::from(state.growing[task.tree].tree.rows[task.node as usize]);
    let bins = |&column: &usize| state.kinds[column].bins() as u64 + 1;
    let of_all = LENGTHS + 8 * width + 16;
    match task.rows {
        true => of_all + rows * (state.kinds.len() as u64 + 16),
        false => of_all + 8 * width * task.columns.iter().map(bins).sum::<u64>(),
    }
}
