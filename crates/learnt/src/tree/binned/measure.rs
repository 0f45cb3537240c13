//! What bins add up, and how good a division of a node is.
//!
//! A measure scores a set of rows so that the gain of a split is score(left) + score(right) -
//! score(node), which is the weight times the decrease of impurity:
//! Gini Σ_k s_k² / w, entropy Σ_k s_k log2(s_k / w), squared error s² / w with s = Σ w (y - c),
//! Poisson s ln(s / w) with s = Σ w y.

use super::grower::Item;

/// A measure of rows by their sums.
pub(crate) trait Measure: Sync {
    /// What a row contributes.
    type Point: Copy + Send + Sync;
    /// Sums over rows.
    type Cell: Copy + Default + Send + Sync;

    fn add(cell: &mut Self::Cell, point: &Self::Point);
    fn join(cell: &mut Self::Cell, other: &Self::Cell);
    fn without(whole: &Self::Cell, part: &Self::Cell) -> Self::Cell;
    fn weight(cell: &Self::Cell) -> f64;
    /// Larger is purer; minus infinity forbids a side.
    fn score(&self, cell: &Self::Cell) -> f64;
    /// Whether nothing is left to separate.
    fn pure(&self, cell: &Self::Cell, items: &[Item<Self::Point>]) -> bool;
    /// The prediction, added to `out`.
    fn value(&self, cell: &Self::Cell, out: &mut Vec<f64>);
    /// Weight times impurity.
    fn cost(&self, cell: &Self::Cell, items: &[Item<Self::Point>]) -> f64;
    /// The numbers that put levels of a category in order: one, or the share of each class.
    fn responses(&self, cell: &Self::Cell) -> Vec<f64>;
}

/// The class of a row and its weight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassPoint {
    pub(crate) class: u32,
    pub(crate) weight: f64,
}

/// Weights of up to `K` classes.
pub(crate) trait Counts: Sync {
    /// x, for Gini; or x log2 x summed apart, for the entropy.
    fn score<const K: usize>(sums: &[f64; K], weight: f64) -> f64;
    /// Weight times impurity.
    fn cost<const K: usize>(sums: &[f64; K], weight: f64) -> f64;
}

/// Gini's index.
pub(crate) struct ClassGini;
/// Entropy in bits.
pub(crate) struct ClassEntropy;

impl Counts for ClassGini {
    #[inline(always)]
    fn score<const K: usize>(sums: &[f64; K], weight: f64) -> f64 {
        sums.iter().map(|s| s * s).sum::<f64>() / weight
    }
    fn cost<const K: usize>(sums: &[f64; K], weight: f64) -> f64 {
        (weight - Self::score(sums, weight)).max(0.0)
    }
}

impl Counts for ClassEntropy {
    #[inline(always)]
    fn score<const K: usize>(sums: &[f64; K], weight: f64) -> f64 {
        sums.iter().filter(|s| **s > 0.0).map(|s| s * (s / weight).log2()).sum()
    }
    fn cost<const K: usize>(sums: &[f64; K], weight: f64) -> f64 {
        (-Self::score(sums, weight)).max(0.0)
    }
}

/// A measure of classes.
pub(crate) struct ClassMeasure<I, const K: usize> {
    classes: usize,
    impurity: std::marker::PhantomData<I>,
}

impl<I, const K: usize> ClassMeasure<I, K> {
    pub(crate) fn new(classes: usize) -> Self {
        ClassMeasure { classes, impurity: std::marker::PhantomData }
    }
}

impl<I: Counts, const K: usize> Measure for ClassMeasure<I, K> {
    type Point = ClassPoint;
    type Cell = Sums<K>;

    #[inline(always)]
    fn add(cell: &mut Sums<K>, point: &ClassPoint) {
        // The width is a power of two, so that no index needs a check.
        cell.0[point.class as usize & (K - 1)] += point.weight;
    }
    #[inline(always)]
    fn join(cell: &mut Sums<K>, other: &Sums<K>) {
        cell.0.iter_mut().zip(&other.0).for_each(|(sum, more)| *sum += more);
    }
    #[inline(always)]
    fn without(whole: &Sums<K>, part: &Sums<K>) -> Sums<K> {
        Sums(std::array::from_fn(|k| whole.0[k] - part.0[k]))
    }
    #[inline(always)]
    fn weight(cell: &Sums<K>) -> f64 {
        cell.0.iter().sum()
    }
    #[inline(always)]
    fn score(&self, cell: &Sums<K>) -> f64 {
        I::score(&cell.0, Self::weight(cell))
    }
    fn pure(&self, cell: &Sums<K>, items: &[Item<ClassPoint>]) -> bool {
        let heaviest = cell.0.iter().copied().fold(0.0, f64::max);
        heaviest >= 0.999 * Self::weight(cell)
            && items.iter().all(|item| item.point.class == items[0].point.class)
    }
    fn value(&self, cell: &Sums<K>, out: &mut Vec<f64>) {
        let weight = Self::weight(cell);
        out.extend(cell.0[..self.classes].iter().map(|sum| (sum / weight).clamp(0.0, 1.0)));
    }
    fn cost(&self, cell: &Sums<K>, _items: &[Item<ClassPoint>]) -> f64 {
        I::cost(&cell.0, Self::weight(cell))
    }
    fn responses(&self, cell: &Sums<K>) -> Vec<f64> {
        let weight = Self::weight(cell);
        match self.classes {
            0..=2 => vec![cell.0.get(1).map_or(0.0, |second| second / weight)],
            classes => cell.0[..classes].iter().map(|sum| sum / weight).collect(),
        }
    }
}

/// Sums that fit one another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sums<const K: usize>([f64; K]);

impl<const K: usize> Default for Sums<K> {
    fn default() -> Self {
        Sums([0.0; K])
    }
}

/// The target of a row and its weight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RealPoint {
    pub(crate) target: f64,
    pub(crate) weight: f64,
}

fn sums_of(items: &[Item<RealPoint>]) -> (f64, f64) {
    items.iter().fold((0.0, 0.0), |(weight, sum), item| {
        (weight + item.point.weight, sum + item.point.weight * item.point.target)
    })
}

fn constant(items: &[Item<RealPoint>]) -> bool {
    items.iter().all(|item| item.point.target == items[0].point.target)
}

macro_rules! real_sums {
    () => {
        type Point = RealPoint;
        type Cell = Sums<2>;

        #[inline(always)]
        fn add(cell: &mut Sums<2>, point: &RealPoint) {
            cell.0[0] += point.weight;
            cell.0[1] += point.weight * point.target;
        }
        #[inline(always)]
        fn join(cell: &mut Sums<2>, other: &Sums<2>) {
            cell.0[0] += other.0[0];
            cell.0[1] += other.0[1];
        }
        #[inline(always)]
        fn without(whole: &Sums<2>, part: &Sums<2>) -> Sums<2> {
            Sums([whole.0[0] - part.0[0], whole.0[1] - part.0[1]])
        }
        #[inline(always)]
        fn weight(cell: &Sums<2>) -> f64 {
            cell.0[0]
        }
        fn pure(&self, _cell: &Sums<2>, items: &[Item<RealPoint>]) -> bool {
            constant(items)
        }
        fn responses(&self, cell: &Sums<2>) -> Vec<f64> {
            vec![cell.0[1] / cell.0[0]]
        }
    };
}

/// Squared error of targets that were moved by `centre`, so that their mean is about zero.
pub(crate) struct SquaredError {
    pub(crate) centre: f64,
}

impl Measure for SquaredError {
    real_sums!();

    #[inline(always)]
    fn score(&self, cell: &Sums<2>) -> f64 {
        cell.0[1] * cell.0[1] / cell.0[0]
    }
    fn value(&self, cell: &Sums<2>, out: &mut Vec<f64>) {
        out.push(self.centre + cell.0[1] / cell.0[0]);
    }
    fn cost(&self, _cell: &Sums<2>, items: &[Item<RealPoint>]) -> f64 {
        let (weight, sum) = sums_of(items);
        let mean = sum / weight;
        let square =
            |item: &Item<RealPoint>| item.point.weight * (item.point.target - mean).powi(2);
        if constant(items) { 0.0 } else { items.iter().map(square).sum() }
    }
}

/// Half the Poisson deviance of targets that are not negative.
pub(crate) struct Poisson;

impl Measure for Poisson {
    real_sums!();

    #[inline(always)]
    fn score(&self, cell: &Sums<2>) -> f64 {
        let [weight, sum] = cell.0;
        // A side without a single event would predict zero, which no event may follow.
        if sum > 1e-12 * weight { sum * (sum / weight).ln() } else { f64::NEG_INFINITY }
    }
    fn value(&self, cell: &Sums<2>, out: &mut Vec<f64>) {
        out.push(cell.0[1] / cell.0[0]);
    }
    fn cost(&self, _cell: &Sums<2>, items: &[Item<RealPoint>]) -> f64 {
        let (weight, sum) = sums_of(items);
        let mean = sum / weight;
        let deviance = |item: &Item<RealPoint>| {
            let y = item.point.target;
            if y > 0.0 { item.point.weight * y * (y / mean).ln() } else { 0.0 }
        };
        items.iter().map(deviance).sum::<f64>().max(0.0)
    }
}
