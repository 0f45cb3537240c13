//! Histogram boosting as rounds: over files larger than memory, in other processes, on a cluster.
//!
//! 1. Cuts of bins, some columns at a time, from counts of distinct values and of levels: whole numbers on
//!    the finest grid there is, so they merge in any order.
//! 2. The smallest and largest value of each bin, the sums that the start follows from, and the keys of the
//!    rows on the border of those set aside.
//! 3. For each tree: where its derivatives have no bounds, their sums; the histogram of the root; then, round
//!    by round, the histograms of the smaller child of every node that the split with the largest gain, taken
//!    again and again, may still reach; that of the other is its parent's without it. So a tree takes as many rounds as it is deep, and is the one that
//!    growth in memory gives. The losses after a tree come with the first round of the next.
//!
//! Histograms are whole numbers, other sums run along the one tree of rows: the bits are those of the fit
//! in memory. Where leaves are quantiles of residuals (absolute error, quantile), they are found exactly, bits first
//! (`quantiles.rs`): two to four rounds more for the start and for each tree. Beside a block stay its bins, scores and nodes, about p + 36 bytes a row, where memory allows;
//! then its rows are not read again.

mod growing;
mod quantiles;
mod rows;
mod summary;

use super::blocks::Layout;
use super::options::HistGrowth;
use super::plan::{Shape, Splitter};
use super::{MANY_ROWS, Scale};
use crate::ensemble::boosted::Boosted;
use crate::ensemble::loss::{Loss, all_zero};
use crate::ensemble::stopping::{KEY_BITS, aside_count, groups, tell, told_step};
use crate::tree::binned::{BinLimits, Kind, SUMMARY_BYTES, claim_counts};
use crate::tree::bundle::Bundle;
use growing::{Finished, Growing, Waiting};
use learnt_core::prelude::*;
use quantiles::Quantiles;
use rows::Held;
use std::borrow::Cow;
use summary::Summary;

/// Parts of the range of keys that are counted first.
const KEY_PARTS: usize = 1 << 10;

/// Histogram boosting as rounds.
#[derive(Clone, Debug)]
pub struct HistRounds {
    pub(super) growth: HistGrowth,
    /// The loss of numbers; classes have their own.
    pub(super) loss: Option<Loss>,
    /// Whether classes count the same.
    pub(super) balanced: bool,
}

/// What the last round leaves.
pub struct HistOutput {
    pub(in crate::ensemble) boosted: Boosted,
    pub(in crate::ensemble) outline: OwnedOutline,
}

/// What a round asks of the rows.
#[derive(Stored, Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Counts of the values of columns from this one on.
    Cuts(usize),
    /// Ends of bins, and sums of targets.
    Ends,
    /// Where the start is a quantile, its bits.
    Start,
    /// Losses, sums of derivatives and histograms.
    Trees,
}

/// What every block must know.
#[derive(Stored, Clone, Debug)]
pub struct HistState {
    outline: OwnedOutline,
    phase: Phase,
    kinds: Vec<Kind>,
    /// Rows that count.
    rows: u64,
    /// Sum of the weights of each class, where classes are balanced.
    classes: Vec<f64>,
    /// For each group of rows, the part of keys in which those set aside end, and how many are in it.
    border: Vec<u64>,
    inside: Vec<u64>,
    /// For each group, the smallest key that is not set aside; empty if none is.
    limits: Vec<u64>,
    /// Sum of all weights.
    total: f64,
    boosted: Boosted,
    /// Its trees, where tasks are told of them.
    bundle: Option<Bundle>,
    /// Counts the rounds of this phase.
    stamp: u64,
    /// Whether losses and sums of derivatives are asked for.
    asks_losses: bool,
    asks_sums: bool,
    /// Bounds of the sums of both derivatives.
    sums: Vec<f64>,
    /// A tree for each score, and the nodes of each whose histograms are asked for.
    growing: Vec<Growing>,
    wanted: Vec<Vec<u32>>,
    /// Trees that were finished in the round before, one for each score.
    finished: Vec<Finished>,
    /// Whether one of the last trees has a split.
    split: bool,
    /// The quantile that the start or leaves are, as far as it is known.
    quantiles: Option<Quantiles>,
    /// A tree whose leaves wait for their quantiles.
    waiting: Option<Waiting>,
}

impl HistState {
    fn scale(&self) -> Scale {
        Scale::new(self.rows as usize, self.sums[0], self.sums[1])
    }

    /// What tasks must know, with these trees.
    fn told(&self, growing: Vec<Growing>) -> HistState {
        HistState {
            outline: self.outline.clone(),
            phase: self.phase,
            kinds: self.kinds.clone(),
            rows: self.rows,
            classes: self.classes.clone(),
            border: Vec::new(),
            inside: Vec::new(),
            limits: self.limits.clone(),
            total: self.total,
            boosted: Boosted {
                start: self.boosted.start.clone(),
                trees: Vec::new(),
                train_score: Vec::new(),
                validation_score: Vec::new(),
            },
            bundle: Some(Bundle::of(&self.boosted.trees)),
            stamp: self.stamp,
            asks_losses: self.asks_losses,
            asks_sums: self.asks_sums,
            sums: self.sums.clone(),
            growing,
            wanted: self.wanted.clone(),
            finished: self.finished.clone(),
            split: self.split,
            quantiles: self.quantiles.clone(),
            waiting: self.waiting.clone(),
        }
    }

    /// The trees so far: in a bundle where tasks are told of them.
    fn boosted(&self) -> Result<Cow<'_, Boosted>> {
        Ok(match &self.bundle {
            None => Cow::Borrowed(&self.boosted),
            Some(bundle) => Cow::Owned(Boosted { trees: bundle.trees()?, ..self.boosted.clone() }),
        })
    }

    /// Cells of the histograms of one node.
    fn cells(&self) -> usize {
        self.kinds.iter().map(|kind| kind.bins() + 1).sum()
    }
}

impl HistRounds {
    fn loss(&self, outline: &Outline) -> Loss {
        self.loss.unwrap_or_else(|| Loss::of_classes(outline.classes.len()))
    }

    fn shape(&self, state: &HistState) -> Result<Shape> {
        let unit = state.total / state.rows as f64;
        let outline = state.outline.view();
        self.growth.shape(outline.schema, self.loss(&outline), unit)
    }

    /// The share of rows that may be set aside; whether it is depends on their number.
    fn share(&self) -> Option<f64> {
        self.growth.validation_fraction.filter(|_| self.growth.early_stopping.is_on(true))
    }

    fn stops(&self, rows: u64) -> bool {
        self.growth.early_stopping.is_on(rows > MANY_ROWS as u64)
    }

    /// Bytes that the summaries of one round take at most, about.
    fn round_bytes(&self, state: &HistState, run: &Context) -> u64 {
        let nodes = 2 * self.growth.max_leaf_nodes.unwrap_or(usize::MAX / 2) as u64;
        let one =
            nodes.saturating_mul(16 * state.cells() as u64 * state.boosted.start.len() as u64);
        // A round's summaries, and the histograms of nodes that may be split.
        one.min(SUMMARY_BYTES) * (run.threads() as u64 + 5)
    }
}

impl Rounds for HistRounds {
    type State = HistState;
    type Summary = Summary;
    type Output = HistOutput;
    const REMEMBERS: bool = true;

    fn whole_is_faster(&self) -> bool {
        true
    }

    fn begin(&self, outline: &Outline, run: &Context) -> Result<HistState> {
        // Parameters that do not fit the columns are refused before the first row is read.
        self.growth.shape(outline.schema, self.loss(outline), 1.0)?;
        claim_counts(outline, run)?;
        Ok(HistState {
            outline: outline.into(),
            phase: Phase::Cuts(0),
            kinds: Vec::new(),
            rows: 0,
            classes: Vec::new(),
            border: Vec::new(),
            inside: Vec::new(),
            limits: Vec::new(),
            total: 0.0,
            boosted: Boosted {
                start: Vec::new(),
                trees: Vec::new(),
                train_score: Vec::new(),
                validation_score: Vec::new(),
            },
            bundle: None,
            stamp: 0,
            asks_losses: false,
            asks_sums: false,
            sums: vec![0.0; 2],
            growing: Vec::new(),
            wanted: Vec::new(),
            finished: Vec::new(),
            split: false,
            quantiles: None,
            waiting: None,
        })
    }

    /// Without the histograms of nodes, and with the trees so far as few arrays: rows that nobody remembers need them.
    fn for_tasks(&self, state: &HistState) -> Option<HistState> {
        let growing = state.growing.iter().map(Growing::for_tasks).collect();
        (state.phase == Phase::Trees).then(|| state.told(growing))
    }

    fn summarize(
        &self,
        state: &HistState,
        block: &Block,
        memo: &mut Memo,
        run: &Context,
    ) -> Result<Summary> {
        match state.phase {
            Phase::Cuts(first) => self.count_values(state, first, block, run),
            Phase::Ends => self.find_ends(state, block, run),
            Phase::Start => self.find_start(state, block),
            Phase::Trees => memo.of::<Held>().summarize(self, state, block, run),
        }
    }

    fn recall(&self, state: &HistState, memo: &mut Memo, _: &Context) -> Option<Result<Summary>> {
        match state.phase {
            Phase::Trees => memo.of::<Held>().recall(self, state),
            _ => None,
        }
    }

    fn advance(
        &self,
        mut state: HistState,
        all: Summary,
        run: &Context,
    ) -> Result<Step<HistState, HistOutput>> {
        match state.phase {
            Phase::Cuts(first) => self.take_counts(&mut state, first, &all)?,
            Phase::Ends => {
                self.take_ends(&mut state, all)?;
                run.claim(self.round_bytes(&state, run), "histograms of nodes")?;
            }
            Phase::Start => self.take_start(&mut state, &all)?,
            Phase::Trees => {
                if self.take_trees(&mut state, &all, run)? {
                    let HistState { boosted, outline, .. } = state;
                    return Ok(Step::Done(HistOutput { boosted, outline }));
                }
            }
        }
        Ok(Step::Again(state))
    }
}

impl HistRounds {
    /// Bins from the counts of values; with the first of them, what classes and keys say.
    fn take_counts(&self, state: &mut HistState, first: usize, all: &Summary) -> Result<()> {
        let outline = state.outline.clone();
        let outline = outline.view();
        if first == 0 {
            state.rows = all.rows;
            state.classes = all.sums.clone();
            self.find_border(state, &all.key_counts);
        }
        let limits = BinLimits::wide(self.growth.max_bins);
        state.phase = match all.values.add_kinds(&outline, limits, &mut state.kinds)? {
            None => Phase::Ends,
            Some(next) => Phase::Cuts(next),
        };
        Ok(())
    }

    /// For each group of rows the part of keys in which those set aside end.
    fn find_border(&self, state: &mut HistState, counts: &[u64]) {
        let Some(share) = self.share().filter(|_| self.stops(state.rows)) else { return };
        for counts in counts.chunks_exact(KEY_PARTS) {
            let mut left = aside_count(counts.iter().sum(), share);
            let mut part = 0;
            while part + 1 < KEY_PARTS && left >= counts[part] {
                left -= counts[part];
                part += 1;
            }
            state.border.push(part as u64);
            state.inside.push(left);
        }
    }

    /// Ends of bins, the rows set aside, the start; then the first tree begins.
    fn take_ends(&self, state: &mut HistState, mut all: Summary) -> Result<()> {
        let loss = self.loss(&state.outline.view());
        all.ends.give(&mut state.kinds)?;
        for (group, &inside) in state.inside.iter().enumerate() {
            let keys = all.keys.get_mut(group).ok_or_else(|| Error::internal("no keys"))?;
            keys.sort_unstable();
            // A group without rows has no key.
            let floor = state.border[group] << (KEY_BITS - KEY_PARTS.ilog2());
            state.limits.push(keys.get(inside as usize).copied().unwrap_or(floor));
        }
        if loss == Loss::Poisson && all.sums[1] <= 0.0 {
            return Err(all_zero());
        }
        state.total = all.sums[0];
        if let Some(share) = loss.leaf_quantile() {
            state.phase = Phase::Start;
            state.quantiles = Some(Quantiles::new(share, 1));
            return Ok(());
        }
        self.begin_trees(state, loss.start_of_moments(&all.sums), loss);
        Ok(())
    }

    /// A start that is a quantile; then the first tree begins.
    fn take_start(&self, state: &mut HistState, all: &Summary) -> Result<()> {
        let loss = self.loss(&state.outline.view());
        let quantiles = state.quantiles.as_mut().ok_or_else(|| Error::internal("no quantile"))?;
        if quantiles.take(&all.pieces)? {
            let start = quantiles.values();
            state.quantiles = None;
            self.begin_trees(state, start, loss);
        }
        Ok(())
    }

    fn begin_trees(&self, state: &mut HistState, start: Vec<f64>, loss: Loss) {
        state.boosted.start = start;
        state.phase = Phase::Trees;
        state.stamp = 1;
        self.ask(state, loss);
    }

    /// Asks for the losses so far and for what the next trees begin with.
    fn ask(&self, state: &mut HistState, loss: Loss) {
        state.asks_losses = true;
        state.growing.clear();
        state.wanted.clear();
        if state.boosted.trees.len() >= self.growth.max_iter * loss.scores() {
            return;
        }
        match loss.bounds() {
            Some((first, second)) => {
                state.sums = vec![first * state.total, second * state.total];
                self.ask_roots(state, loss);
            }
            None => state.asks_sums = true,
        }
    }

    fn ask_roots(&self, state: &mut HistState, loss: Loss) {
        let growing = Growing::new(&state.kinds);
        state.growing = vec![growing; loss.scores()];
        state.wanted = vec![vec![0]; loss.scores()];
    }

    /// Takes what came back in the phase of trees; whether boosting has ended.
    fn take_trees(&self, state: &mut HistState, all: &Summary, run: &Context) -> Result<bool> {
        let loss = self.loss(&state.outline.view());
        state.stamp += 1;
        state.finished.clear();
        let shape = self.shape(state)?;
        if state.asks_losses {
            state.asks_losses = false;
            let boosted = &mut state.boosted;
            boosted.train_score.push(all.sums[1] / all.sums[0]);
            if !state.limits.is_empty() && all.sums[2] > 0.0 {
                boosted.validation_score.push(all.sums[3] / all.sums[2]);
            }
            let round = boosted.train_score.len() - 1;
            if round > 0 {
                let rounds = self.growth.max_iter;
                tell(round, rounds, (&boosted.train_score, &boosted.validation_score), run)?;
                let may_split = state.split || shape.max_features < state.kinds.len();
                if round == rounds || self.growth.ends(boosted, self.stops(state.rows), may_split) {
                    return Ok(true);
                }
            }
        }
        if state.asks_sums {
            state.asks_sums = false;
            state.sums = all.sums[4..6].to_vec();
            self.ask_roots(state, loss);
            return Ok(false);
        }
        match state.quantiles.is_some() {
            true => self.take_leaves(state, &shape, all, loss)?,
            false => self.take_histograms(state, &shape, &all.cells, loss, run)?,
        }
        Ok(false)
    }

    /// The quantiles of leaves; once they are known, the tree is finished.
    fn take_leaves(
        &self,
        state: &mut HistState,
        shape: &Shape,
        all: &Summary,
        loss: Loss,
    ) -> Result<()> {
        let quantiles = state.quantiles.as_mut().ok_or_else(|| Error::internal("no quantile"))?;
        if !quantiles.take(&all.pieces)? {
            return Ok(());
        }
        let values: Vec<f64> =
            quantiles.values().into_iter().map(|value| shape.learning_rate * value).collect();
        state.quantiles = None;
        let waiting = state.waiting.take().ok_or_else(|| Error::internal("no tree waits"))?;
        let (tree, finished) = waiting.finish(&values)?;
        state.split = tree.len() > 1;
        state.boosted.trees.push(tree);
        state.finished.push(finished);
        self.ask(state, loss);
        Ok(())
    }

    /// Splits by the histograms that came back; trees that need no more are finished.
    fn take_histograms(
        &self,
        state: &mut HistState,
        shape: &Shape,
        cells: &[i64],
        loss: Loss,
        run: &Context,
    ) -> Result<()> {
        let width = 2 * state.cells();
        let layout = Layout::new(&state.kinds);
        let mut parts = cells.chunks_exact(width.max(1));
        let most = (SUMMARY_BYTES / (8 * width as u64).max(1)).max(2) as usize;
        let mut left = most;
        let scale = state.scale();
        let kept: u64 = state.growing.iter().map(Growing::kept_bytes).sum();
        let mut room = SUMMARY_BYTES.saturating_sub(kept);
        for k in 0..state.growing.len() {
            let number = state.boosted.trees.len() + k;
            let kinds = &state.kinds;
            let splitter = Splitter { kinds, layout: &layout, shape, scale, number, run: *run };
            let growing = &mut state.growing[k];
            for &node in &state.wanted[k] {
                let part = parts.next().ok_or_else(|| Error::internal("a histogram is missing"))?;
                growing.evaluate(node, part, &splitter, &mut room);
            }
            state.wanted[k] = growing.expand(&splitter, &mut left);
        }
        if state.wanted.iter().any(|wanted| !wanted.is_empty()) || left == 0 {
            return Ok(());
        }
        state.split = false;
        for growing in std::mem::take(&mut state.growing) {
            if let Some(share) = loss.leaf_quantile() {
                let waiting = Waiting::new(growing, shape.max_leaves);
                state.quantiles = Some(Quantiles::new(share, waiting.leaves()));
                state.waiting = Some(waiting);
                return Ok(());
            }
            let (tree, finished) = growing.finish(shape.max_leaves);
            state.split |= tree.len() > 1;
            state.boosted.trees.push(tree);
            state.finished.push(finished);
        }
        self.ask(state, loss);
        Ok(())
    }

    /// The training rows whose numbers are multiples of this tell the loss.
    fn told_step(state: &HistState) -> u64 {
        told_step(state.rows)
    }
}

/// Parts of keys that a group of rows is counted in.
fn key_counts(loss: Loss) -> usize {
    groups(loss) * KEY_PARTS
}

/// The part that a key lies in.
fn key_part(key: u64) -> usize {
    (key >> (KEY_BITS - KEY_PARTS.ilog2())) as usize
}
