//! The tree of mergers: a table in scipy's form, its cuts, and what it says about pairs of rows.

use super::spanning::Edge;
use super::{Linkage, Merger};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::prelude::*;

/// Mergers from the lowest to the highest. Rows are nodes 0 to n - 1; merger i makes node n + i.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    rows: usize,
    /// The two nodes of each merger, the lower first.
    pub children: Vec<[u32; 2]>,
    /// The distance of each merger.
    pub heights: Vec<f64>,
    /// The rows below each merger.
    pub sizes: Vec<u32>,
}

impl Tree {
    /// From edges of a spanning tree.
    pub fn from_edges(rows: usize, mut edges: Vec<Edge>) -> Result<Tree> {
        edges.sort_by(|x, y| x.length.total_cmp(&y.length).then((x.a, x.b).cmp(&(y.a, y.b))));
        let pairs = edges.iter().map(|e| (e.a as usize, e.b as usize, e.length));
        Tree::build(rows, pairs)
    }

    /// From mergers of places; those of linkages that cannot invert are sorted by height.
    pub(super) fn from_mergers(rows: usize, all: &[Merger], linkage: Linkage) -> Result<Tree> {
        let mut all = all.to_vec();
        if !matches!(linkage, Linkage::Centroid | Linkage::Median) {
            all.sort_by(|x, y| x.height.total_cmp(&y.height));
        }
        Tree::build(rows, all.iter().map(|merger| (merger.a, merger.b, merger.height)))
    }

    /// From pairs of rows whose clusters merge, with their heights, the lowest clusters first.
    pub fn from_pairs(rows: usize, pairs: Vec<(usize, usize, f64)>) -> Result<Tree> {
        Tree::build(rows, pairs.into_iter())
    }

    fn build(rows: usize, pairs: impl Iterator<Item = (usize, usize, f64)>) -> Result<Tree> {
        let mut parent: Vec<u32> = (0..rows as u32).collect();
        let mut node: Vec<u32> = (0..rows as u32).collect();
        let mut size = vec![1_u32; rows];
        let mut tree = Tree { rows, children: Vec::new(), heights: Vec::new(), sizes: Vec::new() };
        for (a, b, height) in pairs {
            if !height.is_finite() {
                return Err(Error::numeric("distances overflow: the values are too large")
                    .hint("divide the columns by a large constant first"));
            }
            let (a, b) = (root(&mut parent, a), root(&mut parent, b));
            let (low, high) = (node[a].min(node[b]), node[a].max(node[b]));
            tree.children.push([low, high]);
            tree.heights.push(height);
            size[a] += size[b];
            tree.sizes.push(size[a]);
            parent[b] = a as u32;
            node[a] = (rows + tree.children.len() - 1) as u32;
        }
        Ok(tree)
    }

    /// From a table of mergers in scipy's form.
    pub fn from_matrix(z: MatRef) -> Result<Tree> {
        let wrong = |i: usize, what: &str| {
            let message = format!("row {} of the table of mergers {what}", i + 1);
            Error::new(Code::Usage, message).hint("pass what cluster.linkage gives")
        };
        if z.ncols() != 4 {
            let found = format!("{} columns", z.ncols());
            return Err(Error::shape("Z", "4 columns: two nodes, distance, rows", found));
        }
        let rows = z.nrows() + 1;
        let mut used = vec![false; rows + z.nrows()];
        let mut tree = Tree { rows, children: Vec::new(), heights: Vec::new(), sizes: Vec::new() };
        for i in 0..z.nrows() {
            let mut size = 0;
            let mut pair = [0; 2];
            for (place, pair) in pair.iter_mut().enumerate() {
                let node = z.at(i, place);
                if node.fract() != 0.0 || node < 0.0 || node >= (rows + i) as f64 {
                    return Err(wrong(i, "names a node that does not exist yet"));
                }
                if std::mem::replace(&mut used[node as usize], true) {
                    return Err(wrong(i, "names a node that has merged before"));
                }
                *pair = node as u32;
                size += tree.size(*pair);
            }
            if z.at(i, 2) < 0.0 || z.at(i, 2).is_nan() {
                return Err(wrong(i, "has a negative distance"));
            }
            tree.children.push(pair);
            tree.heights.push(z.at(i, 2));
            tree.sizes.push(size);
        }
        Ok(tree)
    }

    /// The table in scipy's form: two nodes, their distance, the rows below.
    pub fn to_matrix(&self) -> Matrix {
        Matrix::from_fn(self.children.len(), 4, |i, j| match j {
            0 | 1 => f64::from(self.children[i][j]),
            2 => self.heights[i],
            _ => f64::from(self.sizes[i]),
        })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Rows below a node.
    pub fn size(&self, node: u32) -> u32 {
        match (node as usize).checked_sub(self.rows) {
            Some(merger) => self.sizes[merger],
            None => 1,
        }
    }

    /// Whether no merger is lower than one of its parts.
    pub fn is_monotone(&self) -> bool {
        let height = |node: u32| {
            let merger = (node as usize).checked_sub(self.rows);
            merger.map_or(f64::NEG_INFINITY, |merger| self.heights[merger])
        };
        let pairs = self.children.iter().zip(&self.heights);
        pairs.into_iter().all(|(pair, &own)| pair.iter().all(|&node| height(node) <= own))
    }

    /// Mergers left out so that `clusters` clusters are left: the last ones.
    pub fn cut_count(&self, clusters: usize) -> Vec<u32> {
        let mergers = self.rows.saturating_sub(clusters.max(1));
        let joined: Vec<bool> = (0..self.children.len()).map(|i| i < mergers).collect();
        self.labels(&joined)
    }

    /// Clusters whose mergers are all at most this high.
    pub fn cut_height(&self, height: f64) -> Vec<u32> {
        self.labels(&self.within(|highest| highest <= height))
    }

    /// Clusters whose mergers are all lower than this.
    pub fn cut_below(&self, height: f64) -> Vec<u32> {
        self.labels(&self.within(|highest| highest < height))
    }

    /// Which mergers, with all below them, have heights that will do.
    fn within(&self, good: impl Fn(f64) -> bool) -> Vec<bool> {
        let mut highest = self.heights.clone();
        for i in 0..highest.len() {
            for &node in &self.children[i] {
                if let Some(merger) = (node as usize).checked_sub(self.rows) {
                    highest[i] = highest[i].max(highest[merger]);
                }
            }
        }
        highest.into_iter().map(good).collect()
    }

    /// The cluster of each row if only these mergers happen, numbered by first rows.
    fn labels(&self, joined: &[bool]) -> Vec<u32> {
        let mut parent: Vec<u32> = (0..self.rows as u32).collect();
        let mut first: Vec<u32> = (0..self.rows as u32).collect();
        for (pair, &joined) in self.children.iter().zip(joined) {
            let member = |node: u32, first: &[u32]| first[node as usize];
            let (a, b) = (member(pair[0], &first), member(pair[1], &first));
            first.push(a);
            if joined {
                let (a, b) = (root(&mut parent, a as usize), root(&mut parent, b as usize));
                parent[a.max(b)] = a.min(b) as u32;
            }
        }
        let mut number = vec![u32::MAX; self.rows];
        let mut count = 0;
        (0..self.rows)
            .map(|i| {
                let root = root(&mut parent, i);
                if number[root] == u32::MAX {
                    number[root] = count;
                    count += 1;
                }
                number[root]
            })
            .collect()
    }

    /// Rows in an order in which every cluster's rows are neighbours.
    pub fn leaves(&self) -> Vec<u32> {
        self.below((self.rows + self.children.len()).saturating_sub(1) as u32)
    }

    /// The rows below a node, in such an order.
    pub fn below(&self, node: u32) -> Vec<u32> {
        let mut out = Vec::with_capacity(self.size(node) as usize);
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            match (node as usize).checked_sub(self.rows) {
                Some(merger) => stack.extend([self.children[merger][1], self.children[merger][0]]),
                None => out.push(node),
            }
        }
        out
    }

    /// For each pair of rows, in the order (0,1), (0,2), ..., the height at which they merge.
    pub fn cophenetic(&self, run: &Context) -> Result<Vec<f64>> {
        let n = self.rows;
        run.claim(8 * (n * n.saturating_sub(1) / 2) as u64, "the heights of all pairs")?;
        let order = self.leaves();
        let mut start = vec![0_usize; n + self.children.len()];
        order.iter().enumerate().for_each(|(place, &row)| start[row as usize] = place);
        let mut out = vec![0.0; n * n.saturating_sub(1) / 2];
        for (i, pair) in self.children.iter().enumerate() {
            let [a, b] = pair.map(|node| {
                let begin = start[node as usize];
                begin..begin + self.size(node) as usize
            });
            start[n + i] = a.start.min(b.start);
            for &x in &order[a] {
                for &y in &order[b.clone()] {
                    let (x, y) = (x.min(y) as usize, x.max(y) as usize);
                    out[x * (2 * n - x - 1) / 2 + y - x - 1] = self.heights[i];
                }
            }
        }
        Ok(out)
    }

    /// The tree as a drawing: a bracket a merger, rows along the bottom.
    pub fn chart(&self, names: Option<&[String]>) -> Chart {
        let order = self.leaves();
        let nodes = self.rows + self.children.len();
        let (mut middle, mut top) = (vec![0.0; nodes], vec![0.0; nodes]);
        order.iter().enumerate().for_each(|(place, &row)| middle[row as usize] = place as f64);
        let (mut x, mut y, mut x2, mut y2) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (i, pair) in self.children.iter().enumerate() {
            let [a, b] = pair.map(|node| node as usize);
            let height = self.heights[i];
            x.extend([middle[a], middle[a], middle[b]]);
            y.extend([top[a], height, height]);
            x2.extend([middle[a], middle[b], middle[b]]);
            y2.extend([height, height, top[b]]);
            middle[self.rows + i] = (middle[a] + middle[b]) / 2.0;
            top[self.rows + i] = height;
        }
        let name = |row: u32| match names.and_then(|names| names.get(row as usize)) {
            Some(name) => name.clone(),
            None => (row + 1).to_string(),
        };
        let mut panel =
            Panel::new("row", "distance").mark(Mark::links("mergers", (x, y), (x2, y2)).unnamed());
        if self.rows <= 60 {
            panel = panel.categories_x(order.into_iter().map(name).collect());
        }
        let text = format!("The tree of {} rows: every bracket is a merger.", self.rows);
        Chart::new("Dendrogram", text).panel(panel)
    }
}

/// The root of a node, with paths halved.
fn root(parent: &mut [u32], mut i: usize) -> usize {
    while parent[i] as usize != i {
        parent[i] = parent[parent[i] as usize];
        i = parent[i] as usize;
    }
    i
}
