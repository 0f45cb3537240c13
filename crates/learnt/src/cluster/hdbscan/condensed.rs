//! The condensed tree: from the top of single linkage down, a side smaller than `min_cluster_size`
//! is rows that fall out of their cluster, and two sides that are large enough are a split.
//!
//! λ = 1 / distance; where the distance is zero, the largest finite λ. The stability of a cluster is
//! Σ (λ_row - λ_birth) over its rows, λ_row where the row leaves it.

use crate::cluster::Tree;

/// A cluster of the condensed tree.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The cluster that it split from; its own number for the first.
    pub parent: u32,
    /// λ at which it split off.
    pub birth: f64,
    /// λ at which it split, or lost its last row.
    pub death: f64,
    /// Rows below it.
    pub size: u32,
    /// Σ (λ_row - λ_birth).
    pub stability: f64,
    /// Whether it splits into clusters.
    pub splits: bool,
}

/// Clusters from the top down, and where each row falls out.
#[derive(Clone, Debug)]
pub struct Condensed {
    /// The clusters; a parent comes before its children.
    pub branches: Vec<Branch>,
    /// The cluster that each row falls out of.
    pub last: Vec<u32>,
    /// λ at which it does.
    pub lambda: Vec<f64>,
}

impl Condensed {
    /// Of a tree of at least one row.
    pub fn new(tree: &Tree, min_cluster_size: usize) -> Condensed {
        let n = tree.rows();
        let finite = tree.heights.iter().map(|height| height.recip()).filter(|l| l.is_finite());
        let cap = finite.fold(0.0, f64::max);
        let cap = if cap > 0.0 { cap } else { 1.0 };
        let lambda_of = |merger: usize| tree.heights[merger].recip().min(cap);
        let mut out = Condensed {
            branches: vec![Branch::new(0, 0.0, n as u32)],
            last: vec![0; n],
            lambda: vec![0.0; n],
        };
        let top = (n + tree.children.len()).saturating_sub(1) as u32;
        let mut stack = vec![(top, 0_u32)];
        while let Some((node, branch)) = stack.pop() {
            let Some(merger) = (node as usize).checked_sub(n) else {
                // A cluster of one row, where that is large enough: it leaves at the end.
                out.drop_rows(tree, node, branch, cap);
                continue;
            };
            let lambda = lambda_of(merger);
            let pair = tree.children[merger];
            let large = pair.map(|node| tree.size(node) as usize >= min_cluster_size);
            match large {
                [true, true] => {
                    let rows = f64::from(tree.size(node));
                    let own = &mut out.branches[branch as usize];
                    own.stability += rows * (lambda - own.birth);
                    own.death = lambda;
                    own.splits = true;
                    for node in pair {
                        let new = out.branches.len() as u32;
                        out.branches.push(Branch::new(branch, lambda, tree.size(node)));
                        stack.push((node, new));
                    }
                }
                [first, second] => {
                    for (node, large) in pair.into_iter().zip([first, second]) {
                        match large {
                            true => stack.push((node, branch)),
                            false => out.drop_rows(tree, node, branch, lambda),
                        }
                    }
                }
            }
        }
        out
    }

    /// All rows below a node fall out of a cluster.
    fn drop_rows(&mut self, tree: &Tree, node: u32, branch: u32, lambda: f64) {
        let own = &mut self.branches[branch as usize];
        own.stability += f64::from(tree.size(node)) * (lambda - own.birth);
        own.death = own.death.max(lambda);
        for row in tree.below(node) {
            self.last[row as usize] = branch;
            self.lambda[row as usize] = lambda;
        }
    }

    /// Clusters of the largest total stability, none inside another; a parent stays on a tie.
    pub fn excess_of_mass(&self, allow_single: bool, largest: Option<usize>) -> Vec<bool> {
        let count = self.branches.len();
        let mut best: Vec<f64> = self.branches.iter().map(|branch| branch.stability).collect();
        let mut below = vec![0.0; count];
        let mut chosen = vec![true; count];
        for k in (0..count).rev() {
            let allowed = (k > 0 || allow_single)
                && largest.is_none_or(|largest| self.branches[k].size as usize <= largest);
            if self.branches[k].splits && (!allowed || best[k] < below[k]) {
                chosen[k] = false;
                best[k] = below[k];
            } else if !allowed {
                chosen[k] = false;
            }
            if k > 0 {
                below[self.branches[k].parent as usize] += best[k];
            }
        }
        self.topmost(chosen)
    }

    /// Clusters that do not split.
    pub fn leaves(&self, allow_single: bool) -> Vec<bool> {
        let chosen = |k: usize| !self.branches[k].splits && (k > 0 || allow_single);
        (0..self.branches.len()).map(chosen).collect()
    }

    /// Chosen clusters without those inside another chosen one.
    fn topmost(&self, mut chosen: Vec<bool>) -> Vec<bool> {
        let mut inside = vec![false; chosen.len()];
        for k in 0..chosen.len() {
            let parent = self.branches[k].parent as usize;
            inside[k] = k > 0 && (inside[parent] || chosen[parent]);
            if inside[k] {
                chosen[k] = false;
            }
        }
        chosen
    }

    /// Clusters born below `epsilon` give way to the ancestor that was born at or above it.
    pub fn merge_below(&self, chosen: &[bool], epsilon: f64, allow_single: bool) -> Vec<bool> {
        let born = |k: usize| self.branches[k].birth.recip();
        let mut out = vec![false; chosen.len()];
        for k in (0..chosen.len()).filter(|&k| chosen[k]) {
            let mut at = k;
            while born(at) < epsilon {
                let parent = self.branches[at].parent as usize;
                if parent == 0 && !allow_single {
                    break;
                }
                at = parent;
                if at == 0 {
                    break;
                }
            }
            out[at] = true;
        }
        self.topmost(out)
    }

    /// The chosen cluster of each row, none for noise. Rows that fall out of an ancestor of the
    /// chosen clusters are noise; if the first cluster alone is chosen, so are rows that leave it
    /// before `least`.
    pub fn assign(&self, chosen: &[bool], epsilon: f64) -> Vec<Option<u32>> {
        let mut home: Vec<Option<u32>> = vec![None; chosen.len()];
        for k in 0..chosen.len() {
            home[k] = match chosen[k] {
                true => Some(k as u32),
                false if k > 0 => home[self.branches[k].parent as usize],
                false => None,
            };
        }
        let single = chosen[0];
        let least = if epsilon > 0.0 { epsilon.recip() } else { self.branches[0].death };
        let assign = |row: usize| {
            let found = home[self.last[row] as usize]?;
            let early = single && self.last[row] == 0 && self.lambda[row] < least;
            (!early).then_some(found)
        };
        (0..self.last.len()).map(assign).collect()
    }

    /// The largest λ of a row in each cluster or below it.
    pub fn deepest(&self) -> Vec<f64> {
        let mut deepest = vec![0.0; self.branches.len()];
        for (&branch, &lambda) in self.last.iter().zip(&self.lambda) {
            let own: &mut f64 = &mut deepest[branch as usize];
            *own = own.max(lambda);
        }
        for k in (1..deepest.len()).rev() {
            let parent = self.branches[k].parent as usize;
            deepest[parent] = deepest[parent].max(deepest[k]);
        }
        deepest
    }
}

impl Branch {
    fn new(parent: u32, birth: f64, size: u32) -> Branch {
        Branch { parent, birth, death: birth, size, stability: 0.0, splits: false }
    }
}
