//! Best subsets of every size by branch and bound.
//!
//! A node is a set of columns of which the first few are fixed; below it lie the sets without some
//! of the others. Taking out a set of columns raises the residual sum at least as much as taking out
//! its dearest column alone, and at least by Σ b²/(v λ) over the set, where v are the variances of
//! the whole model and λ is the largest eigenvalue of the correlations of its coefficients. A branch
//! is cut where these bounds are no better than the sets known for all sizes that it reaches.
//! Columns are taken out from the cheapest to the dearest, so that large branches lose dear columns.
//! Known sets to start from: forward, backward, and exchanges of single columns.
//!
//! Branches are cut by number alone and run in batches of fixed size: the result has the same bits
//! on any number of threads. Ties go to lower columns, as far as exchanges of one column find them.
//!
//! Furnival and Wilson (1974), Technometrics 16(4), 499-511; Gatu and Kontoghiorghes (2006), JCGS
//! 15(1), 139-156.

use super::grow::Grow;
use super::reduced::Reduced;
use super::shrink::Shrink;
use learnt_core::context::Progress;
use learnt_core::linalg::singular_values;
use learnt_core::prelude::*;

/// The best sets known, by size; residual sums are shares of the total.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) rss: Vec<f64>,
    pub(super) sets: Vec<Vec<usize>>,
    tie: f64,
}

/// The best set of each size from none to `most`, out of these independent columns.
pub(super) fn best_subsets(
    reduced: &Reduced,
    candidates: &[usize],
    most: usize,
    run: &Context,
) -> Result<Vec<Vec<usize>>> {
    let full = Shrink::new(&Grow::with(reduced, candidates));
    let mut known = Known::new(reduced, candidates, &full, most, run)?;
    let search =
        Search { shrinkage: shrinkage(&full)?, variance: by_column(&full, reduced.width()) };
    search.run(full, &mut known, run)?;
    for set in &mut known.sets {
        exchange(reduced, candidates, set);
    }
    Ok(known.sets)
}

/// 1/λ, λ the largest eigenvalue of the correlations of the coefficients.
fn shrinkage(full: &Shrink) -> Result<f64> {
    let m = full.columns.len();
    let mut scaled = Vec::with_capacity(m * m);
    for (row, variance) in full.rows().zip(&full.variances) {
        scaled.extend(row.iter().map(|t| t / variance.sqrt()));
    }
    let values = singular_values(Matrix::from_vec(m, m, scaled)?.view())?;
    // A little less than 1/λ, so that rounding cannot cut the best set off.
    Ok(values.first().map_or(1.0, |s| (1.0 - 1e-9) / (s * s)))
}

fn by_column(full: &Shrink, width: usize) -> Vec<f64> {
    let mut out = vec![1.0; width];
    full.columns.iter().zip(&full.variances).for_each(|(&j, v)| out[j] = *v);
    out
}

impl Known {
    /// Sets by forward and backward steps, each improved by exchanges.
    fn new(
        reduced: &Reduced,
        candidates: &[usize],
        full: &Shrink,
        most: usize,
        run: &Context,
    ) -> Result<Known> {
        let sizes = most.min(candidates.len()) + 1;
        let mut known = Known {
            rss: vec![f64::INFINITY; sizes],
            sets: vec![Vec::new(); sizes],
            tie: reduced.tie(),
        };
        let mut grown = Grow::new(reduced);
        known.offer(grown.rss(), &[]);
        while let Some((j, _)) = grown.best(candidates, known.tie) {
            grown.add(j);
            known.offer(grown.rss(), &grown.chosen);
        }
        let mut shrunk = full.clone();
        known.offer(shrunk.rss, &shrunk.columns);
        while let Some((i, _)) = shrunk.cheapest(known.tie) {
            shrunk.drop(i);
            known.offer(shrunk.rss, &shrunk.columns);
        }
        let improved = run.try_par_map(sizes, |size| {
            let mut set = known.sets[size].clone();
            let rss = exchange(reduced, candidates, &mut set);
            Ok((rss, set))
        })?;
        improved.iter().for_each(|(rss, set)| known.offer(*rss, set));
        Ok(known)
    }

    /// Keeps a set that is better than the one known, or ties with it and has lower columns.
    fn offer(&mut self, rss: f64, set: &[usize]) {
        let size = set.len();
        let Some(&best) = self.rss.get(size) else { return };
        if rss > best + self.tie {
            return;
        }
        let mut sorted = set.to_vec();
        sorted.sort_unstable();
        if rss < best - self.tie || sorted < self.sets[size] {
            (self.rss[size], self.sets[size]) = (rss, sorted);
        }
    }

    /// Whether a set of this size and at least this residual sum could be better.
    #[inline]
    fn open(&self, size: usize, bound: f64) -> bool {
        self.rss.get(size).is_some_and(|best| bound < best - self.tie)
    }
}

/// Exchanges single columns of a sorted set while that lowers the residual sum, or ties with a lower
/// column; gives the residual sum.
fn exchange(reduced: &Reduced, candidates: &[usize], set: &mut [usize]) -> f64 {
    const SWEEPS: usize = 20;
    let tie = reduced.tie();
    let mut rss = Grow::with(reduced, set).rss();
    for _ in 0..SWEEPS {
        let mut moved = false;
        for i in 0..set.len() {
            let others: Vec<usize> = set.iter().copied().filter(|&j| j != set[i]).collect();
            let grown = Grow::with(reduced, &others);
            let Some((j, gain)) = grown.best(candidates, tie) else { continue };
            let after = (grown.rss() - gain).max(0.0);
            if j != set[i] && (after < rss - tie || (after <= rss + tie && j < set[i])) {
                set[i] = j;
                rss = after;
                moved = true;
            }
        }
        set.sort_unstable();
        if !moved {
            break;
        }
    }
    rss
}

fn progress(run: &Context, done: usize, total: Option<usize>) -> Result<()> {
    run.progress(&Progress {
        stage: "best subsets",
        done: done as u64,
        total: total.map(|total| total as u64),
        objective: None,
    })
}

/// What every node must know.
struct Search {
    /// 1/λ.
    shrinkage: f64,
    /// Variances of the whole model, by column.
    variance: Vec<f64>,
}

/// A node with its free columns, dearest first, and the child to look at next.
#[derive(Default)]
struct Branch {
    node: Shrink,
    /// Positions of the free columns, dearest first.
    free: Vec<usize>,
    costs: Vec<f64>,
    /// Lower bound of the rise by how many free columns are taken out.
    rise: Vec<f64>,
    /// Children not looked at yet.
    left: usize,
}

impl Search {
    /// Branches until there are enough of them, then batches of them on all threads.
    fn run(&self, full: Shrink, known: &mut Known, run: &Context) -> Result<()> {
        const BRANCHES: usize = 256;
        const BATCH: usize = 16;
        progress(run, 0, None)?;
        let mut queue = std::collections::VecDeque::from([full]);
        while let Some(node) = queue.pop_front() {
            let mut branch = Branch { node, ..Branch::default() };
            self.open(&mut branch);
            let mut child = Branch::default();
            while self.next(&mut branch, known, &mut child) {
                queue.push_back(std::mem::take(&mut child.node));
            }
            run.checkpoint()?;
            if queue.len() >= BRANCHES {
                break;
            }
        }
        let nodes: Vec<Shrink> = queue.into();
        for (k, batch) in nodes.chunks(BATCH).enumerate() {
            progress(run, k * BATCH, Some(nodes.len()))?;
            let found = run.try_par_map(batch.len(), |i| {
                let mut own = known.clone();
                self.descend(batch[i].clone(), &mut own, run)?;
                Ok(own)
            })?;
            for own in found {
                own.rss.iter().zip(&own.sets).for_each(|(rss, set)| known.offer(*rss, set));
            }
        }
        Ok(())
    }

    /// All sets below a node, depth first.
    fn descend(&self, node: Shrink, known: &mut Known, run: &Context) -> Result<()> {
        const OFTEN: u64 = 4096;
        let mut stack = vec![Branch { node, ..Branch::default() }];
        let mut depth = 0;
        let mut nodes = 0_u64;
        self.open(&mut stack[0]);
        loop {
            if stack.len() == depth + 1 {
                stack.push(Branch::default());
            }
            let (above, below) = stack.split_at_mut(depth + 1);
            if self.next(&mut above[depth], known, &mut below[0]) {
                self.open(&mut below[0]);
                depth += 1;
            } else if depth == 0 {
                return Ok(());
            } else {
                depth -= 1;
            }
            nodes += 1;
            if nodes.is_multiple_of(OFTEN) {
                run.checkpoint()?;
            }
        }
    }

    /// Orders the free columns of a node and bounds what lies below.
    fn open(&self, branch: &mut Branch) {
        let Branch { node, free, costs, rise, left } = branch;
        let all: Vec<f64> = (0..node.columns.len()).map(|i| node.cost(i)).collect();
        free.clear();
        free.extend(node.fixed..node.columns.len());
        free.sort_by(|&a, &b| {
            all[b].total_cmp(&all[a]).then_with(|| node.columns[a].cmp(&node.columns[b]))
        });
        costs.clear();
        costs.extend(free.iter().map(|&i| all[i]));
        let mut parts: Vec<f64> = free
            .iter()
            .map(|&i| {
                let b = node.coefficients[i];
                self.shrinkage * b * b / self.variance[node.columns[i]]
            })
            .collect();
        parts.sort_by(f64::total_cmp);
        rise.clear();
        let mut sum = 0.0;
        rise.push(0.0);
        for (count, part) in parts.iter().enumerate() {
            sum += part;
            rise.push(f64::max(sum, costs[free.len() - 1 - count]));
        }
        *left = free.len();
    }

    /// The next child worth looking at, if there is one.
    fn next(&self, branch: &mut Branch, known: &mut Known, child: &mut Branch) -> bool {
        while branch.left > 0 {
            branch.left -= 1;
            let Branch { node, free, costs, rise, left: i } = &*branch;
            let (m, i) = (node.columns.len(), *i);
            let rss = node.rss + costs[i];
            if known.open(m - 1, rss) {
                let set: Vec<usize> =
                    (0..m).filter(|&k| k != free[i]).map(|k| node.columns[k]).collect();
                known.offer(rss, &set);
            }
            // The child reaches sizes from its fixed columns on.
            let smallest = node.fixed + i;
            let open = |size: usize| known.open(size, (node.rss + rise[m - size]).max(rss));
            if (smallest..m - 1).any(open) {
                let mut order: Vec<usize> = (0..node.fixed).collect();
                order.extend(free.iter().copied().filter(|&k| k != free[i]));
                node.without(free[i], &order, smallest, &mut child.node);
                return true;
            }
        }
        false
    }
}
