//! Criteria: what makes a node impure, and how much a split helps.
//!
//! A criterion keeps the target of the rows and works on sums over them. `cost` of a node is its
//! weight times its impurity; the gain of a split is cost(node) - cost(left) - cost(right).
//!
//! - Gini: impurity 1 - Σ p_k², in `gini.rs`. Entropy (`log_loss`): -Σ p_k log2 p_k, 0 log 0 = 0, in bits.
//! - Gini with losses: Σ L_kl p_k p_l. Exponential loss of two classes: 2 √(p (1 - p)).
//! - Squared error and Poisson deviance are in `regression.rs`, absolute error in `absolute.rs`.

use super::scan::{self, Cut, Limits, Parted, Sequence};

/// What a node's rows add up to.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    /// Total weight.
    pub(crate) weight: f64,
    /// Impurity per unit of weight.
    pub(crate) impurity: f64,
    /// Whether nothing is left to separate.
    pub(crate) pure: bool,
    /// The prediction: class shares, or one number for each output.
    pub(crate) value: Vec<f64>,
    /// The sums that [`Criterion::add`] would give over all rows.
    pub(crate) sums: Vec<f64>,
}

/// A measure of impurity over rows that it knows by number.
pub(crate) trait Criterion: Clone + Send + Sync {
    /// The summary of these rows.
    fn summary(&self, rows: &[u32]) -> Summary;

    /// The same criterion over these rows alone, numbered anew in the given order.
    fn gather(&self, rows: &[u32]) -> Self;

    /// How many numbers a sum has.
    fn width(&self) -> usize;

    /// Adds a row of `node` to a sum; returns the row's weight.
    fn add(&self, node: &Summary, sums: &mut [f64], row: usize) -> f64;

    /// The gain of a split of `node` whose left side has these sums and this weight.
    fn gain(&self, node: &Summary, left: &[f64], left_weight: f64) -> f64;

    /// The weight of a row as a case, without what classes and losses add to it.
    fn case_weight(&self, node: &Summary, row: usize) -> f64 {
        self.add(node, &mut vec![0.0; self.width()], row)
    }

    /// The number by which levels of a category are put in order.
    fn response(&self, sums: &[f64], weight: f64) -> f64;

    /// What a side of `node` with these sums predicts: a number, or the share of the second class.
    fn prediction(&self, _node: &Summary, sums: &[f64], weight: f64) -> f64 {
        self.response(sums, weight)
    }

    /// The most rows of which sorting bins costs less than a histogram.
    fn few_rows(&self) -> usize {
        128
    }

    /// The best cut of a sequence of rows.
    fn best_cut(&self, node: &Summary, sequence: &Sequence, limits: &Limits) -> Option<Cut> {
        scan::best_cut(self, node, sequence, limits)
    }

    /// The cut that parts the rows so, unless it must not be.
    fn only_cut(&self, node: &Summary, parted: &Parted, limits: &Limits) -> Option<Cut> {
        scan::only_cut(self, node, parted, limits)
    }
}

/// A criterion whose rows have other weights as cases.
#[derive(Clone, Debug)]
pub(crate) struct WithCases<C> {
    pub(crate) inner: C,
    pub(crate) cases: Vec<f64>,
}

impl<C: Criterion> Criterion for WithCases<C> {
    fn summary(&self, rows: &[u32]) -> Summary {
        self.inner.summary(rows)
    }

    fn gather(&self, rows: &[u32]) -> Self {
        WithCases { inner: self.inner.gather(rows), cases: gathered(&self.cases, rows) }
    }

    fn width(&self) -> usize {
        self.inner.width()
    }

    #[inline(always)]
    fn add(&self, node: &Summary, sums: &mut [f64], row: usize) -> f64 {
        self.inner.add(node, sums, row)
    }

    fn gain(&self, node: &Summary, left: &[f64], left_weight: f64) -> f64 {
        self.inner.gain(node, left, left_weight)
    }

    fn case_weight(&self, _: &Summary, row: usize) -> f64 {
        self.cases[row]
    }

    fn response(&self, sums: &[f64], weight: f64) -> f64 {
        self.inner.response(sums, weight)
    }

    fn prediction(&self, node: &Summary, sums: &[f64], weight: f64) -> f64 {
        self.inner.prediction(node, sums, weight)
    }

    fn few_rows(&self) -> usize {
        self.inner.few_rows()
    }

    fn best_cut(&self, node: &Summary, sequence: &Sequence, limits: &Limits) -> Option<Cut> {
        self.inner.best_cut(node, sequence, limits)
    }

    fn only_cut(&self, node: &Summary, parted: &Parted, limits: &Limits) -> Option<Cut> {
        self.inner.only_cut(node, parted, limits)
    }
}

pub(super) fn gathered<T: Copy>(values: &[T], rows: &[u32]) -> Vec<T> {
    rows.iter().map(|&row| values[row as usize]).collect()
}

/// The class of each row, in a bit or a byte where that is enough: rows are asked in any order, and few bytes stay
/// near. Ten million rows of two classes are about one megabyte.
#[derive(Clone, Debug)]
pub(super) enum Labels {
    Bits(Vec<u64>, usize),
    Bytes(Vec<u8>),
    Words(Vec<u32>),
}

impl Labels {
    fn new(codes: Vec<u32>, count: usize) -> Self {
        match count {
            0..=2 => Self::bits(codes.into_iter().map(|code| code == 1)),
            3..=256 => Labels::Bytes(codes.into_iter().map(|code| code as u8).collect()),
            _ => Labels::Words(codes),
        }
    }

    fn bits(codes: impl ExactSizeIterator<Item = bool>) -> Self {
        let length = codes.len();
        let mut words = vec![0; length.div_ceil(64)];
        for (row, code) in codes.enumerate() {
            words[row / 64] |= u64::from(code) << (row % 64);
        }
        Labels::Bits(words, length)
    }

    #[inline(always)]
    pub(super) fn at(&self, row: usize) -> u32 {
        match self {
            Labels::Bits(words, _) => (words[row / 64] >> (row % 64) & 1) as u32,
            Labels::Bytes(codes) => u32::from(codes[row]),
            Labels::Words(codes) => codes[row],
        }
    }

    fn len(&self) -> usize {
        match self {
            Labels::Bits(_, length) => *length,
            Labels::Bytes(codes) => codes.len(),
            Labels::Words(codes) => codes.len(),
        }
    }

    fn gather(&self, rows: &[u32]) -> Self {
        match self {
            Labels::Bits(..) => Self::bits(rows.iter().map(|&row| self.at(row as usize) == 1)),
            Labels::Bytes(codes) => Labels::Bytes(gathered(codes, rows)),
            Labels::Words(codes) => Labels::Words(gathered(codes, rows)),
        }
    }
}

/// Classes of rows with their weights.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    pub(super) codes: Labels,
    pub(super) count: usize,
    weights: Option<Vec<f64>>,
    /// Whether sums of squares of weights are exact in any order: of whole numbers that are not too large.
    pub(super) exact: bool,
}

/// The largest whole number up to which all are numbers in double precision.
const WHOLE: f64 = 9_007_199_254_740_992.0;

impl Classes {
    pub(super) fn new(codes: Vec<u32>, count: usize, weights: Option<Vec<f64>>) -> Self {
        let exact = match &weights {
            None => (codes.len() as f64).powi(2) <= WHOLE,
            Some(weights) => {
                weights.iter().all(|weight| weight.fract() == 0.0)
                    && weights.iter().sum::<f64>().powi(2) <= WHOLE
            }
        };
        Classes { codes: Labels::new(codes, count), count, weights, exact }
    }

    #[inline(always)]
    pub(super) fn add(&self, sums: &mut [f64], row: usize) -> f64 {
        let weight = self.weights.as_ref().map_or(1.0, |weights| weights[row]);
        match (sums, self.codes.at(row)) {
            // Without an index that depends on data, both sums can stay in registers.
            ([first, second], code) => {
                let share = f64::from(code);
                *first += weight * (1.0 - share);
                *second += weight * share;
            }
            (sums, code) => sums[code as usize] += weight,
        }
        weight
    }

    pub(super) fn gather(&self, rows: &[u32]) -> Self {
        Classes {
            codes: self.codes.gather(rows),
            count: self.count,
            exact: self.exact,
            weights: self.weights.as_ref().map(|weights| gathered(weights, rows)),
        }
    }

    /// `impurity` is told the sums, their whole and their shares of it.
    pub(super) fn summary(
        &self,
        rows: &[u32],
        impurity: impl Fn(&[f64], f64, &[f64]) -> f64,
    ) -> Summary {
        let mut sums = vec![0.0; self.count];
        for &row in rows {
            self.add(&mut sums, row as usize);
        }
        let weight: f64 = sums.iter().sum();
        let value: Vec<f64> = sums.iter().map(|sum| sum / weight).collect();
        Summary {
            weight,
            impurity: impurity(&sums, weight, &value),
            pure: sums.iter().filter(|&&sum| sum > 0.0).count() <= 1,
            value,
            sums,
        }
    }

    /// Two classes: the share of the second, which makes the order of levels optimal.
    pub(super) fn response(sums: &[f64], weight: f64) -> f64 {
        sums.get(1).map_or(0.0, |second| second / weight)
    }
}

/// Entropy in bits.
#[derive(Clone, Debug)]
pub(crate) struct Entropy {
    classes: Classes,
    /// x log2 x for whole x, where every weight is one.
    table: Vec<f64>,
}

impl Entropy {
    pub(crate) fn new(codes: Vec<u32>, count: usize, weights: Option<Vec<f64>>) -> Self {
        Self::over(Classes::new(codes, count, weights))
    }

    fn over(classes: Classes) -> Self {
        let table = match classes.weights {
            Some(_) => Vec::new(),
            None => (0..=classes.codes.len()).map(|x| x_log_x(x as f64)).collect(),
        };
        Entropy { classes, table }
    }

    #[inline(always)]
    fn x_log_x(&self, x: f64) -> f64 {
        match self.classes.weights {
            None => self.table.get(x as usize).copied().unwrap_or(0.0),
            Some(_) => x_log_x(x),
        }
    }
}

fn x_log_x(x: f64) -> f64 {
    if x > 0.0 { x * x.log2() } else { 0.0 }
}

impl Criterion for Entropy {
    fn summary(&self, rows: &[u32]) -> Summary {
        self.classes.summary(rows, |_, _, shares| {
            (-shares.iter().map(|share| x_log_x(*share)).sum::<f64>()).max(0.0)
        })
    }

    fn gather(&self, rows: &[u32]) -> Self {
        Self::over(self.classes.gather(rows))
    }

    fn width(&self) -> usize {
        self.classes.count
    }

    #[inline(always)]
    fn add(&self, _node: &Summary, sums: &mut [f64], row: usize) -> f64 {
        self.classes.add(sums, row)
    }

    /// With h(x) = x log2 x: Σ h(l) - h(W_l) + Σ h(r) - h(W_r) - Σ h(s) + h(W).
    #[inline(always)]
    fn gain(&self, node: &Summary, left: &[f64], left_weight: f64) -> f64 {
        let mut gain = self.x_log_x(node.weight)
            - self.x_log_x(left_weight)
            - self.x_log_x(node.weight - left_weight);
        for (l, all) in left.iter().zip(&node.sums) {
            gain += self.x_log_x(*l) + self.x_log_x(all - l) - self.x_log_x(*all);
        }
        gain
    }

    fn response(&self, sums: &[f64], weight: f64) -> f64 {
        Classes::response(sums, weight)
    }
}

/// Gini's index with losses: Σ L_kl p_k p_l.
#[derive(Clone, Debug)]
pub(crate) struct LossGini {
    classes: Classes,
    /// L_kl + L_lk over two, a row a class.
    losses: Vec<f64>,
}

impl LossGini {
    /// `losses` are those of calling a row of a class (rows) another (columns).
    pub(crate) fn new(
        codes: Vec<u32>,
        count: usize,
        weights: Option<Vec<f64>>,
        losses: impl Fn(usize, usize) -> f64,
    ) -> Self {
        let both =
            |k: usize, l: usize| if k == l { 0.0 } else { 0.5 * (losses(k, l) + losses(l, k)) };
        let losses = (0..count * count).map(|place| both(place / count, place % count)).collect();
        LossGini { classes: Classes::new(codes, count, weights), losses }
    }

    /// Σ L_kl s_k s_l / W for the sums of a side.
    fn cost(&self, sum: impl Fn(usize) -> f64, weight: f64) -> f64 {
        let count = self.classes.count;
        let mut total = 0.0;
        for k in 0..count {
            for l in 0..k {
                total += 2.0 * self.losses[k * count + l] * sum(k) * sum(l);
            }
        }
        total / weight
    }
}

impl Criterion for LossGini {
    fn summary(&self, rows: &[u32]) -> Summary {
        self.classes.summary(rows, |sums, weight, _| self.cost(|k| sums[k], weight) / weight)
    }

    fn gather(&self, rows: &[u32]) -> Self {
        LossGini { classes: self.classes.gather(rows), losses: self.losses.clone() }
    }

    fn width(&self) -> usize {
        self.classes.count
    }

    #[inline(always)]
    fn add(&self, _node: &Summary, sums: &mut [f64], row: usize) -> f64 {
        self.classes.add(sums, row)
    }

    fn gain(&self, node: &Summary, left: &[f64], left_weight: f64) -> f64 {
        let right = |k: usize| node.sums[k] - left[k];
        node.weight * node.impurity
            - self.cost(|k| left[k], left_weight)
            - self.cost(right, node.weight - left_weight)
    }

    fn response(&self, sums: &[f64], weight: f64) -> f64 {
        Classes::response(sums, weight)
    }
}

/// Exponential loss of two classes: impurity 2 √(p (1 - p)), what the best score of a node loses.
#[derive(Clone, Debug)]
pub(crate) struct Exponential(Classes);

/// What is added to the weights of both classes in a leaf, so that its score stays finite.
const HALF_A_ROW: f64 = 0.5;

impl Exponential {
    /// The classes must be two.
    pub(crate) fn new(codes: Vec<u32>, weights: Option<Vec<f64>>) -> Self {
        Exponential(Classes::new(codes, 2, weights))
    }
}

impl Criterion for Exponential {
    /// Shares have half a row added to both classes; half their log-odds is the score of a leaf.
    fn summary(&self, rows: &[u32]) -> Summary {
        let mut summary = self.0.summary(rows, |sums, weight, _| {
            2.0 * (sums[0] / weight * (sums[1] / weight)).max(0.0).sqrt()
        });
        let whole = summary.weight + 2.0 * HALF_A_ROW;
        summary.value = summary.sums.iter().map(|sum| (sum + HALF_A_ROW) / whole).collect();
        summary
    }

    fn gather(&self, rows: &[u32]) -> Self {
        Exponential(self.0.gather(rows))
    }

    fn width(&self) -> usize {
        2
    }

    #[inline(always)]
    fn add(&self, _node: &Summary, sums: &mut [f64], row: usize) -> f64 {
        self.0.add(sums, row)
    }

    /// 2 √(W₊ W₋) of the node less that of both sides.
    #[inline(always)]
    fn gain(&self, node: &Summary, left: &[f64], _left_weight: f64) -> f64 {
        let cost = |a: f64, b: f64| 2.0 * (a * b).max(0.0).sqrt();
        let (right_a, right_b) = (node.sums[0] - left[0], node.sums[1] - left[1]);
        node.weight * node.impurity - cost(left[0], left[1]) - cost(right_a, right_b)
    }

    fn response(&self, sums: &[f64], weight: f64) -> f64 {
        Classes::response(sums, weight)
    }

    fn prediction(&self, _node: &Summary, sums: &[f64], weight: f64) -> f64 {
        (sums[1] + HALF_A_ROW) / (weight + 2.0 * HALF_A_ROW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::grow::{Gini, Poisson, Squared};

    fn impurities(counts: &[usize]) -> (f64, f64) {
        let codes: Vec<u32> = counts.iter().zip(0..).flat_map(|(&n, code)| vec![code; n]).collect();
        let rows: Vec<u32> = (0..codes.len() as u32).collect();
        let gini = Gini::new(codes.clone(), counts.len(), None).summary(&rows).impurity;
        (gini, Entropy::new(codes, counts.len(), None).summary(&rows).impurity)
    }

    #[test]
    fn impurities_equal_their_formulas() {
        let (gini, entropy) = impurities(&[5, 3, 2]);
        assert!((gini - 0.62).abs() < 1e-12);
        assert!((entropy * std::f64::consts::LN_2 - 1.029_653_014_06).abs() < 1e-10);
        for (counts, expected) in [([1, 9], 0.18), ([1, 3], 0.375), ([2, 2], 0.5)] {
            assert!((impurities(&counts).0 - expected).abs() < 1e-12);
        }
        assert!((impurities(&[29, 35]).1 - 0.993_650_7).abs() < 1e-7);
    }

    #[test]
    fn gini_and_entropy_prefer_the_split_with_a_pure_child() {
        let codes: Vec<u32> = (0..800).map(|i| u32::from(i >= 400)).collect();
        let rows: Vec<u32> = (0..800).collect();
        let (gini, entropy) = (Gini::new(codes.clone(), 2, None), Entropy::new(codes, 2, None));
        let node = gini.summary(&rows);
        let left_over = |gain: f64| 0.5 - gain / 800.0;
        assert!((left_over(gini.gain(&node, &[300.0, 100.0], 400.0)) - 0.375).abs() < 1e-12);
        assert!((left_over(gini.gain(&node, &[200.0, 400.0], 600.0)) - 1.0 / 3.0).abs() < 1e-12);
        let node = entropy.summary(&rows);
        let left_over = |gain: f64| (1.0 - gain / 800.0) * std::f64::consts::LN_2;
        let first = left_over(entropy.gain(&node, &[300.0, 100.0], 400.0));
        let second = left_over(entropy.gain(&node, &[200.0, 400.0], 600.0));
        assert!((first - 0.562_335_144_6).abs() < 1e-9 && (second - 0.477_386).abs() < 1e-6);
    }

    #[test]
    fn the_gain_is_what_the_costs_lose() {
        let y = vec![1.0, 4.0, 2.0, 8.0, 5.0, 7.0];
        let w = vec![1.0, 2.0, 0.5, 1.0, 3.0, 1.0];
        let rows: Vec<u32> = (0..6).collect();
        fn check<C: Criterion>(criterion: &C, rows: &[u32]) {
            let node = criterion.summary(rows);
            let mut sums = vec![0.0; criterion.width()];
            let left: f64 = (0..3).map(|row| criterion.add(&node, &mut sums, row)).sum();
            let cost = |rows: &[u32]| {
                let part = criterion.summary(rows);
                part.weight * part.impurity
            };
            let expected = cost(rows) - cost(&rows[..3]) - cost(&rows[3..]);
            assert!((criterion.gain(&node, &sums, left) - expected).abs() < 1e-12);
        }
        check(&Squared::new(y.clone(), 1, Some(w.clone())), &rows);
        check(&Poisson::new(y, 1, Some(w.clone())), &rows);
        check(&Gini::new(vec![0, 1, 2, 1, 0, 2], 3, Some(w.clone())), &rows);
        check(&Entropy::new(vec![0, 1, 2, 1, 0, 2], 3, Some(w)), &rows);
        check(&Entropy::new(vec![0, 1, 2, 1, 0, 2], 3, None), &rows);
        let losses = |k: usize, l: usize| (2 * k + l) as f64;
        check(&LossGini::new(vec![0, 1, 2, 1, 0, 2], 3, None, losses), &rows);
        check(&Exponential::new(vec![0, 1, 1, 1, 0, 1], None), &rows);
    }
}
