//! The upper part of a tree that grows round by round, and the subtrees that hang below it.

use super::super::ForestRounds;
use super::super::targets::Work;
use super::summary::Part;
use crate::tree::binned::{
    FEW_ROWS, Found, Ground, Item, Kind, MISSING, Measure, Order, ROOT_PATH, Search, Sought, Start,
    View, give_impurities, grow_binned, helps, must_stay, way,
};
use crate::tree::grow::Settings;
use crate::tree::nodes::Tree;
use crate::tree::prune::prune;
use learnt_core::prelude::*;

/// A node of a growing tree.
#[derive(Stored, Clone, Debug)]
struct Node {
    depth: usize,
    /// Stands for the way from the root.
    path: u64,
    /// How many columns of its order were looked at; none of them varies.
    looked: usize,
    /// Whether it is not known yet what becomes of it.
    open: bool,
}

/// What hangs below a node.
#[derive(Stored, Clone, Debug)]
struct Subtree {
    node: u32,
    tree: Tree,
}

/// A tree whose large nodes are split by sums over blocks.
#[derive(Stored, Clone, Debug)]
pub(super) struct Growing {
    pub(super) tree: Tree,
    nodes: Vec<Node>,
    gains: Vec<f64>,
    costs: Vec<f64>,
    /// Weight of all rows, once it is known.
    weight: f64,
    subtrees: Vec<Subtree>,
}

/// What is asked about a node.
#[derive(Stored, Clone, Debug)]
pub(super) struct Task {
    /// The tree's place in its group.
    pub(super) tree: usize,
    pub(super) node: u32,
    /// Columns whose bins are added up.
    pub(super) columns: Vec<usize>,
    /// Whether the rows themselves are asked for.
    pub(super) rows: bool,
}

/// The table that trees grow on.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) rounds: &'a ForestRounds,
    pub(super) kinds: &'a [Kind],
    /// Rows of the table.
    pub(super) rows: usize,
}

impl Field<'_> {
    fn settings(&self, weight: f64) -> Settings {
        self.rounds.settings(self.rows, self.kinds.len(), weight)
    }
}

impl Growing {
    /// A root of so many rows, whose sums are not known yet.
    pub(super) fn new(kinds: &[Kind], outputs: usize, rows: u64) -> Self {
        let mut tree = Tree::new(outputs, kinds.iter().map(Kind::levels).collect());
        tree.push_leaf(rows as usize, 0.0, |out| out.extend(std::iter::repeat_n(0.0, outputs)));
        let root = Node { depth: 0, path: ROOT_PATH, looked: 0, open: true };
        let (gains, costs) = (vec![0.0], vec![0.0]);
        Growing { tree, nodes: vec![root], gains, costs, weight: 0.0, subtrees: Vec::new() }
    }

    /// What leads rows to open nodes, and no more.
    pub(super) fn for_tasks(&self) -> Self {
        Growing {
            tree: self.tree.clone(),
            nodes: Vec::new(),
            gains: Vec::new(),
            costs: Vec::new(),
            weight: self.weight,
            subtrees: Vec::new(),
        }
    }

    /// What is to be asked about its open nodes.
    pub(super) fn tasks(&self, tree: usize, field: &Field, run: &Context) -> Vec<Task> {
        let settings = field.settings(self.weight);
        let all = field.kinds.len();
        let mut order = Order::new(all, &settings, run);
        let mut tasks = Vec::new();
        for (id, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.open) {
            let rows = self.tree.rows[id] as usize;
            let gathers = rows <= FEW_ROWS;
            let weight = self.tree.weight[id];
            let stays = self.weight > 0.0 && must_stay(&settings, node.depth, rows, weight);
            let columns = match gathers || stays {
                true => Vec::new(),
                false => {
                    let end = (node.looked + settings.max_features.max(1)).min(all);
                    order.columns(&settings, node.path, node.looked..end, run)
                }
            };
            tasks.push(Task { tree, node: id as u32, columns, rows: gathers });
        }
        tasks
    }

    /// Where a node whose rows are gathered is in the tree, and the weight of the tree if it is not the root.
    pub(super) fn start(&self, node: u32) -> (Start, Option<f64>) {
        let Node { depth, path, .. } = self.nodes[node as usize];
        (Start { depth, path }, (node > 0).then_some(self.weight))
    }

    /// Takes what hangs below a node.
    pub(super) fn hang(&mut self, node: u32, (tree, cost): (Tree, f64)) {
        let id = node as usize;
        self.tree.weight[id] = tree.weight[0];
        let outputs = tree.outputs;
        self.tree.values[id * outputs..(id + 1) * outputs].copy_from_slice(tree.value(0));
        self.close(node, cost);
        self.subtrees.push(Subtree { node, tree });
    }

    fn close(&mut self, node: u32, cost: f64) {
        self.nodes[node as usize].open = false;
        self.costs[node as usize] = cost;
    }

    /// Divides a node by what was found.
    fn split<M: Measure>(
        &mut self,
        node: u32,
        found: &Found,
        measure: &M,
        sides: [(M::Cell, usize); 2],
        kinds: &[Kind],
    ) {
        let at = node as usize;
        let rows = self.tree.rows[at] as usize;
        found.ask(&mut self.tree, node, kinds, (sides[0].1, rows));
        self.nodes[at].open = false;
        self.gains[at] = found.gain;
        let Node { depth, path, .. } = self.nodes[at];
        for (right, (cell, rows)) in [false, true].into_iter().zip(sides) {
            let id = self.tree.len() as u32;
            self.tree.adopt(node, id);
            self.tree.push_leaf(rows, M::weight(&cell), |out| measure.value(&cell, out));
            let path = way(path, right);
            self.nodes.push(Node { depth: depth + 1, path, looked: 0, open: true });
            self.gains.push(0.0);
            self.costs.push(0.0);
        }
    }

    /// The whole tree, pruned.
    pub(super) fn finish(mut self, ccp_alpha: f64) -> Tree {
        give_impurities(&mut self.tree, &mut self.costs, &self.gains);
        let parts: Vec<(u32, Tree)> =
            self.subtrees.into_iter().map(|Subtree { node, tree }| (node, tree)).collect();
        prune(self.tree.with_parts(&parts), ccp_alpha)
    }
}

/// Decides about a node by the sums of its rows.
pub(super) struct Decide<'a> {
    pub(super) field: Field<'a>,
    pub(super) growing: &'a mut Growing,
    pub(super) task: &'a Task,
    pub(super) part: &'a Part,
    pub(super) run: &'a Context<'a>,
}

impl Work for Decide<'_> {
    type Out = Result<()>;

    fn run<M: Measure>(self, measure: &M) -> Result<()> {
        let Decide { field, growing, task, part, run } = self;
        let Field { kinds, .. } = field;
        let width = measure.width();
        let (Some(sums), &[low, high]) = (part.sums.get(..width + 1), &*part.ends) else {
            return Err(Error::internal("a node's sums are missing"));
        };
        let id = task.node as usize;
        let cell = measure.load(&sums[..width]);
        if id == 0 {
            growing.weight = M::weight(&cell);
            growing.tree.weight[0] = growing.weight;
            growing.tree.values.clear();
            measure.value(&cell, &mut growing.tree.values);
        }
        let settings = field.settings(growing.weight);
        let Node { depth, path, looked, .. } = growing.nodes[id];
        let rows = growing.tree.rows[id] as usize;
        let pure = low == high;
        let cost = if pure { 0.0 } else { measure.cost_of_sums(&cell, sums[width]) };
        if pure || task.columns.is_empty() || must_stay(&settings, depth, rows, M::weight(&cell)) {
            growing.close(task.node, cost);
            return Ok(());
        }
        let columns = Columns::of(task, part, kinds, measure)?;
        let node = Sought { measure, kinds, settings: &settings, cell, rows, path, run };
        let mut search = Search::new(Order::new(kinds.len(), &settings, run));
        let places = looked..looked + task.columns.len();
        let (found, enough) = search.best(&node, places, |bins, feature| {
            for (bin, cell, rows) in columns.bins(feature) {
                bins.put(bin, cell, rows);
            }
        });
        match found.filter(|found| helps(&settings, growing.weight, found.gain)) {
            Some(found) => {
                let mut left = (M::Cell::default(), 0);
                for (bin, cell, rows) in columns.bins(found.feature) {
                    if found.goes_left[bin as usize] {
                        M::join(&mut left.0, &cell);
                        left.1 += rows as usize;
                    }
                }
                let right = (M::without(&cell, &left.0), rows - left.1.min(rows));
                growing.split(task.node, &found, measure, [left, right], kinds);
            }
            None if !enough => growing.nodes[id].looked += task.columns.len(),
            None => growing.close(task.node, cost),
        }
        Ok(())
    }
}

/// The histograms of a node.
struct Columns<'a, M> {
    task: &'a Task,
    kinds: &'a [Kind],
    measure: &'a M,
    /// Where each column begins.
    starts: Vec<usize>,
    cells: &'a [f64],
}

impl<'a, M: Measure> Columns<'a, M> {
    fn of(task: &'a Task, part: &'a Part, kinds: &'a [Kind], measure: &'a M) -> Result<Self> {
        let record = measure.width() + 1;
        let (mut starts, mut end) = (Vec::with_capacity(task.columns.len()), 0);
        for &column in &task.columns {
            starts.push(end);
            end += record * (kinds[column].bins() + 1);
        }
        match end == part.cells.len() {
            true => Ok(Columns { task, kinds, measure, starts, cells: &part.cells }),
            false => Err(Error::internal("histograms of other columns")),
        }
    }

    /// Bins of a column with their sums and numbers of rows.
    fn bins(&self, feature: usize) -> impl Iterator<Item = (u8, M::Cell, u32)> {
        let place = self.task.columns.iter().position(|&column| column == feature).unwrap_or(0);
        let bins = self.kinds[feature].bins();
        let width = self.measure.width();
        let records = self.cells[self.starts[place]..].chunks_exact(width + 1);
        records.take(bins + 1).enumerate().map(move |(bin, record)| {
            let bin = if bin == bins { MISSING } else { bin as u8 };
            (bin, self.measure.load(&record[..width]), record[width] as u32)
        })
    }
}

/// Grows what hangs below a node from its rows.
pub(super) struct Gathered<'a> {
    pub(super) field: Field<'a>,
    pub(super) start: Start,
    /// Weight of all rows of the tree; none where these are all.
    pub(super) weight: Option<f64>,
    pub(super) part: &'a Part,
    pub(super) run: &'a Context<'a>,
}

impl Work for Gathered<'_> {
    type Out = Result<(Tree, f64)>;

    fn run<M: Measure>(self, measure: &M) -> Result<(Tree, f64)> {
        let Gathered { field, start, weight, part, run } = self;
        let (rows, columns) = (part.targets.len(), field.kinds.len());
        if part.weights.len() != rows || part.bins.len() != rows * columns || rows == 0 {
            return Err(Error::internal("rows of a node are missing"));
        }
        // Bins came row by row.
        let mut bins = vec![0; part.bins.len()];
        for (i, row) in part.bins.chunks_exact(columns.max(1)).enumerate() {
            row.iter().enumerate().for_each(|(j, &bin)| bins[j * rows + i] = bin);
        }
        let items: Vec<Item<M::Point>> = (part.targets.iter().zip(&part.weights).enumerate())
            .map(|(row, (&y, &weight))| Item { row: row as u32, point: measure.point(y, weight) })
            .collect();
        let own = || M::weight(&crate::tree::binned::total(measure, &items));
        let weight = weight.unwrap_or_else(own);
        let settings = &field.settings(weight);
        let ground = Ground { kinds: field.kinds, measure, settings, weight, run };
        grow_binned(&ground, View { bins: &bins, rows }, items, start)
    }
}
