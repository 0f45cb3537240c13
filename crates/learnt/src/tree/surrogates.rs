//! The surrogate splits of a grown tree: where rows go whose value is missing.
//!
//! Found again from the tree and its training rows, by the same rule as while it grew, so that trees
//! without surrogates are no larger.

use super::grow::{Columns as Prepared, Sides, Store, Surrogate, level, surrogates};
use super::kept::Kept;
use super::many::{Walks, leaves};
use super::nodes::{NONE, Tree, by_rows};
use super::text::set_of;
use learnt_core::answer::number;
use learnt_core::error::plain;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// Surrogates of each node of a tree.
#[derive(Stored, Clone, Debug, Default, PartialEq)]
pub(super) struct Surrogates {
    /// Where those of each node begin, and where the last end; empty without any.
    starts: Vec<u32>,
    list: Vec<Surrogate>,
    /// Weight of the rows that have the value of each node, and of the heavier side among them.
    known: Vec<f64>,
    heavier: Vec<f64>,
}

/// What trees with surrogates are asked.
pub(super) const SURROGATES: Question = Question {
    name: "surrogates",
    doc: "The cuts that stand for a split where its value is missing, with the share of rows that they send the same way.",
    needs: Needs::Nothing,
    arguments: || Box::new(NoArguments::default()),
};

/// A question without arguments.
#[derive(Params, Clone, Debug)]
struct NoArguments {}

impl Surrogates {
    /// At most `most` surrogates for each split of a tree that grew with them on these rows.
    pub(super) fn of(
        tree: &Tree,
        x: &Frame,
        weights: Option<&[f64]>,
        most: usize,
        run: &Context,
    ) -> Result<Self> {
        if most == 0 {
            return Ok(Self::default());
        }
        let columns = Prepared::ranked(x, run)?;
        let Store::Ranks(ranks) = &columns.store else {
            return Err(Error::internal("columns without ranks"));
        };
        let mut found = Surrogates {
            starts: vec![0],
            list: Vec::new(),
            known: vec![0.0; tree.len()],
            heavier: vec![0.0; tree.len()],
        };
        // Nodes stand in preorder, and so do the lists of rows on the stack.
        let mut open: Vec<Vec<u32>> = vec![(0..x.nrows() as u32).collect()];
        for node in 0..tree.len() {
            run.checkpoint()?;
            let rows = open.pop().unwrap_or_default();
            if !tree.is_leaf(node) {
                let feature = tree.feature[node] as usize;
                let side =
                    |&row: &u32| known_side(tree, node, x.values().at(row as usize, feature));
                let known: Vec<(u32, bool)> =
                    rows.iter().filter_map(|row| Some((*row, side(row)?))).collect();
                let own: Vec<u32> = known.iter().map(|(row, _)| *row).collect();
                let left: Vec<bool> = known.iter().map(|(_, left)| *left).collect();
                let weight = |&row: &u32| weights.map_or(1.0, |weights| weights[row as usize]);
                let own_weights: Vec<f64> = own.iter().map(weight).collect();
                let sides = Sides { rows: &own, left: &left, weights: &own_weights };
                let total: f64 = own_weights.iter().sum();
                let on_left: f64 =
                    left.iter().zip(&own_weights).filter(|(left, _)| **left).map(|(_, w)| w).sum();
                found.known[node] = total;
                found.heavier[node] = on_left.max(total - on_left);
                let more = surrogates(&sides, feature, most, &columns.codes, ranks);
                found.list.extend(more);
                let start = found.starts[node] as usize;
                let here = &found.list[start..];
                let goes_left =
                    |&row: &u32| routed(tree, node, here, |j| x.values().at(row as usize, j));
                let (lefts, rights) = rows.iter().partition(|row| goes_left(row));
                open.push(rights);
                open.push(lefts);
            }
            found.starts.push(found.list.len() as u32);
        }
        Ok(found)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    fn of_node(&self, node: usize) -> &[Surrogate] {
        &self.list[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// Those of a subtree with the same root.
    pub(super) fn of_subtree(&self, whole: &Tree, part: &Tree) -> Self {
        if self.is_empty() {
            return Self::default();
        }
        let mut found = Surrogates { starts: vec![0], ..Self::default() };
        let mut open = vec![0];
        for node in 0..part.len() {
            let old = open.pop().unwrap_or(0);
            found.known.push(self.known[old]);
            found.heavier.push(self.heavier[old]);
            if !part.is_leaf(node) {
                found.list.extend_from_slice(self.of_node(old));
                open.push(whole.right[old] as usize);
                open.push(whole.left[old] as usize);
            }
            found.starts.push(found.list.len() as u32);
        }
        found
    }

    /// The leaf of each row.
    pub(super) fn apply(
        &self,
        (tree, kept): (&Tree, &Kept<Walks>),
        x: &Frame,
        run: &Context,
    ) -> Result<Vec<u32>> {
        if self.is_empty() {
            return leaves(tree, kept, x, run);
        }
        tree.check_width(x)?;
        Ok(by_rows(x, run, |rows, i| {
            let mut node = 0;
            while !tree.is_leaf(node) {
                let left = routed(tree, node, self.of_node(node), |j| rows.at(i, j));
                node = if left { tree.left[node] } else { tree.right[node] } as usize;
            }
            node as u32
        }))
    }

    /// Refuses what does not fit a tree.
    pub(super) fn validate(&self, tree: &Tree) -> Result<()> {
        if self.is_empty() {
            return match self.list.is_empty() {
                true => Ok(()),
                false => Err(invalid("surrogates without their nodes")),
            };
        }
        let fits = self.starts.len() == tree.len() + 1
            && self.known.len() == tree.len()
            && self.heavier.len() == tree.len()
            && self.starts[0] == 0
            && self.starts.windows(2).all(|pair| pair[0] <= pair[1])
            && self.starts[tree.len()] as usize == self.list.len();
        let sound = |surrogate: &Surrogate| {
            let levels = tree.columns.get(surrogate.feature as usize);
            levels.is_some_and(|&levels| (levels == 0) == surrogate.seen_levels.is_empty())
                && !surrogate.threshold.is_nan()
                && surrogate.agreement.is_finite()
        };
        match fits && self.list.iter().all(sound) {
            true => Ok(()),
            false => Err(invalid("surrogates that do not fit the tree")),
        }
    }

    /// The answer to `surrogates`.
    pub(super) fn answer(&self, tree: &Tree, schema: &Schema) -> Answer {
        let heads =
            ["node", "splits on", "surrogate", "goes left if", "agreement", "over majority"];
        let mut table = Columns::new("Surrogates", &heads);
        for node in (0..tree.len()).filter(|&node| !self.is_empty() && !tree.is_leaf(node)) {
            let (known, heavier) = (self.known[node], self.heavier[node]);
            for surrogate in self.of_node(node) {
                let column = schema.column(surrogate.feature as usize);
                let over = (surrogate.agreement - heavier) / (known - heavier);
                table.push(vec![
                    Cell::Count(node as i64),
                    Cell::Text(plain(&schema.column(tree.feature[node] as usize).name)),
                    Cell::Text(plain(&column.name)),
                    Cell::Text(condition(surrogate, column)),
                    Cell::Number(surrogate.agreement / known),
                    Cell::Number(over),
                ]);
            }
        }
        let mut answer = Answer::new("Surrogate splits");
        answer.tables.push(table);
        if self.is_empty() {
            let note = "this tree was grown without surrogates; set max_surrogates";
            answer.notes.push(note.to_string());
        }
        answer
    }
}

fn condition(surrogate: &Surrogate, column: &Column) -> String {
    let Some(levels) = column.levels().filter(|_| !surrogate.seen_levels.is_empty()) else {
        let sign = if surrogate.reversed { ">" } else { "<=" };
        return format!("{sign} {}", number(surrogate.threshold));
    };
    let has = |bits: &[u32], k: usize| super::grow::has_level(bits, k as u32);
    let left = (0..levels.len())
        .filter(|&k| has(&surrogate.seen_levels, k) && has(&surrogate.left_levels, k));
    let names: Vec<String> = left.map(|k| plain(&levels[k])).collect();
    format!("in {}", set_of(&names))
}

/// The side of a value that the node knows: whether left.
fn known_side(tree: &Tree, node: usize, value: f64) -> Option<bool> {
    let levels = tree.columns[tree.feature[node] as usize] as usize;
    let unknown = match tree.level_start[node] {
        NONE => value.is_nan(),
        _ => level(value, levels).is_none(),
    };
    (!unknown).then(|| tree.next(node, value) == tree.left[node])
}

/// Whether a row goes left at a node with these surrogates.
fn routed(tree: &Tree, node: usize, list: &[Surrogate], value: impl Fn(usize) -> f64) -> bool {
    let said = |surrogate: &Surrogate| {
        let feature = surrogate.feature as usize;
        surrogate.sends_value_left(value(feature), tree.columns[feature])
    };
    known_side(tree, node, value(tree.feature[node] as usize))
        .or_else(|| list.iter().find_map(said))
        .unwrap_or(tree.missing_left[node])
}
