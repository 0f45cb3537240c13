//! The order in which levels of a category are cut into two sets.
//!
//! Two classes and numeric targets: by the share of the second class or the mean response, for
//! which some cut is the best of all two-way partitions (Gini, entropy, squared error, Poisson).
//! More classes or outputs: by the first principal direction of the class shares (Coppersmith,
//! Hong and Hosking 1999), a heuristic; so is the mean for absolute error. Equal levels keep
//! their own order.
//!
//! `best_partition` looks at all 2^(q - 1) - 1 partitions of q levels instead, level by level in the order
//! of a Gray code; the last level stays right. It is exact for any number of classes.

use super::criterion::{Criterion, Summary};
use super::scan::{Cut, Group, Limits, better, tolerance};

/// More levels than these are not partitioned in all ways.
pub(crate) const MOST_LEVELS: usize = 20;

/// Puts groups, one a level, in the order for cutting.
pub(super) fn arrange<C: Criterion>(criterion: &C, groups: &mut [Group]) {
    let responses: Vec<Vec<f64>> = match criterion.width() > 2 {
        true => groups.iter().map(|g| g.sums.iter().map(|s| s / g.weight).collect()).collect(),
        false => groups.iter().map(|g| vec![criterion.response(&g.sums, g.weight)]).collect(),
    };
    let weights: Vec<f64> = groups.iter().map(|group| group.weight).collect();
    let order = order_of_levels(&responses, &weights);
    let arranged: Vec<Group> = order.iter().map(|&i| groups[i].clone()).collect();
    groups.clone_from_slice(&arranged);
}

/// The best of all partitions; the groups that go left come first, and are as many as is said.
pub(super) fn best_partition<C: Criterion>(
    criterion: &C,
    node: &Summary,
    groups: &mut [Group],
    missing: Option<&Group>,
    limits: &Limits,
) -> Option<(Cut, usize)> {
    let total: usize = groups.iter().chain(missing).map(|group| group.rows).sum();
    let mut best: Option<(Cut, u32)> = None;
    for missing_left in [false, true] {
        if missing_left && missing.is_none() {
            break;
        }
        let mut left = Sums::new(criterion.width());
        if let (true, Some(group)) = (missing_left, missing) {
            left.add(group, 1.0);
        }
        let mut try_this = |mask: u32, left: &Sums| {
            let (rows, weight) = (left.rows, left.weight);
            if !limits.allow((rows, total - rows), (weight, node.weight - weight)) {
                return;
            }
            let gain = criterion.gain(node, &left.sums, weight);
            if better(gain, best.map(|(cut, _)| cut.gain), tolerance(node))
                && limits.ordered(criterion, node, &left.sums, weight)
            {
                let position = mask.count_ones() as usize;
                best = Some((Cut { position, missing_left, rows_left: rows, gain }, mask));
            }
        };
        let mut mask = 0_u32;
        for step in 1_u32..1 << (groups.len() - 1) {
            let place = step.trailing_zeros() as usize;
            mask ^= 1 << place;
            left.add(&groups[place], if mask >> place & 1 == 1 { 1.0 } else { -1.0 });
            try_this(mask, &left);
        }
        if let (false, Some(_)) = (missing_left, missing) {
            let mut all = Sums::new(criterion.width());
            groups.iter().for_each(|group| all.add(group, 1.0));
            try_this((1 << groups.len()) - 1, &all);
        }
    }
    let (cut, mask) = best?;
    let goes_left = |place: usize| mask >> place & 1 == 1;
    let order = (0..groups.len()).filter(|&k| goes_left(k));
    let order: Vec<usize> = order.chain((0..groups.len()).filter(|&k| !goes_left(k))).collect();
    let arranged: Vec<Group> = order.into_iter().map(|k| groups[k].clone()).collect();
    groups.clone_from_slice(&arranged);
    Some((cut, cut.position))
}

/// Groups added up.
struct Sums {
    sums: Vec<f64>,
    weight: f64,
    rows: usize,
}

impl Sums {
    fn new(width: usize) -> Self {
        Sums { sums: vec![0.0; width], weight: 0.0, rows: 0 }
    }

    fn add(&mut self, group: &Group, sign: f64) {
        self.sums.iter_mut().zip(&group.sums).for_each(|(sum, more)| *sum += sign * more);
        self.weight += sign * group.weight;
        self.rows = if sign > 0.0 { self.rows + group.rows } else { self.rows - group.rows };
    }
}

/// The order of levels for cutting, from the response of each or its shares of several classes.
pub(crate) fn order_of_levels(responses: &[Vec<f64>], weights: &[f64]) -> Vec<usize> {
    let scores: Vec<f64> = match responses.first().map_or(0, Vec::len) {
        0 | 1 => responses.iter().flatten().copied().collect(),
        _ => principal_scores(responses, weights),
    };
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]).then(a.cmp(&b)));
    order
}

/// Shares of each level along the direction in which they vary most, by power iteration from the
/// level that is farthest from the mean. The largest loading is positive.
fn principal_scores(responses: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
    const ROUNDS: usize = 100;
    let width = responses[0].len();
    let total: f64 = weights.iter().sum();
    let mean = |k: usize| responses.iter().zip(weights).map(|(r, w)| w * r[k]).sum::<f64>() / total;
    let mean: Vec<f64> = (0..width).map(mean).collect();
    let shares: Vec<Vec<f64>> =
        responses.iter().map(|r| r.iter().zip(&mean).map(|(r, m)| r - m).collect()).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let farthest = shares.iter().enumerate().fold((0, -1.0), |best, (i, share)| {
        let length = dot(share, share);
        if length > best.1 { (i, length) } else { best }
    });
    let mut direction = shares.get(farthest.0).cloned().unwrap_or_default();
    for _ in 0..ROUNDS {
        let mut next = vec![0.0; width];
        for (share, weight) in shares.iter().zip(weights) {
            let along = weight * dot(share, &direction);
            next.iter_mut().zip(share).for_each(|(sum, x)| *sum += along * x);
        }
        let length = dot(&next, &next).sqrt();
        if !(length > 0.0 && length.is_finite()) {
            break;
        }
        direction = next.into_iter().map(|x| x / length).collect();
    }
    let largest =
        direction.iter().fold(0.0_f64, |best, x| if x.abs() > best.abs() { *x } else { best });
    let sign = if largest < 0.0 { -1.0 } else { 1.0 };
    shares.iter().map(|share| sign * dot(share, &direction)).collect()
}
