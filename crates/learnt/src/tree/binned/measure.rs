//! What bins add up, and how good a division of a node is.
//!
//! A measure scores a set of rows so that the gain of a split is score(left) + score(right) -
//! score(node), which is the weight times the decrease of impurity:
//! Gini Σ_k s_k² / w, entropy Σ_k s_k log2(s_k / w), squared error s² / w with s = Σ w (y - c),
//! Poisson s ln(s / w) with s = Σ w y. What is added up lies on a grid, so that sums have no rounding.

use super::grid::Grid;
use super::grower::Item;

/// Costs of nodes with more rows come from sums; of the others row by row, with less rounding.
pub(crate) const FEW_ROWS: usize = 4096;

/// A measure of rows by their sums.
pub(crate) trait Measure: Sync {
    /// What a row contributes.
    type Point: Copy + Send + Sync;
    /// Sums over rows.
    type Cell: Copy + Default + Send + Sync;

    /// Of a row with this target and this weight, which lies on a grid.
    fn point(&self, target: f64, weight: f64) -> Self::Point;
    /// The target of a row.
    fn target(point: &Self::Point) -> f64;
    fn add(&self, cell: &mut Self::Cell, point: &Self::Point);
    fn join(cell: &mut Self::Cell, other: &Self::Cell);
    fn without(whole: &Self::Cell, part: &Self::Cell) -> Self::Cell;
    fn weight(cell: &Self::Cell) -> f64;
    /// Larger is purer; minus infinity forbids a side.
    fn score(&self, cell: &Self::Cell) -> f64;
    /// The prediction, added to `out`.
    fn value(&self, cell: &Self::Cell, out: &mut Vec<f64>);
    /// What a row adds to the cost of a node beyond its sums.
    fn spread(&self, point: &Self::Point) -> f64;
    /// Weight times impurity of a node by the rows.
    fn cost_of_rows(&self, cell: &Self::Cell, items: &[Item<Self::Point>]) -> f64;
    /// Weight times impurity of a node by the sums of its rows and of their spreads.
    fn cost_of_sums(&self, cell: &Self::Cell, spread: f64) -> f64;
    /// The numbers that put levels of a category in order: one, or the share of each class.
    fn responses(&self, cell: &Self::Cell) -> Vec<f64>;
    /// Numbers in a cell.
    fn width(&self) -> usize;
    /// Adds the numbers of a cell to `out`.
    fn store(&self, cell: &Self::Cell, out: &mut Vec<f64>);
    /// The cell of these numbers.
    fn load(&self, numbers: &[f64]) -> Self::Cell;

    /// Whether nothing is left to separate.
    fn pure(&self, items: &[Item<Self::Point>]) -> bool {
        let target = |item: &Item<Self::Point>| Self::target(&item.point);
        items.iter().all(|item| target(item) == target(&items[0]))
    }

    /// Weight times impurity.
    fn cost(&self, cell: &Self::Cell, items: &[Item<Self::Point>]) -> f64 {
        if items.len() <= FEW_ROWS {
            return self.cost_of_rows(cell, items);
        }
        let spread = items.iter().map(|item| self.spread(&item.point)).sum();
        if self.pure(items) { 0.0 } else { self.cost_of_sums(cell, spread) }
    }
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

    fn point(&self, target: f64, weight: f64) -> ClassPoint {
        ClassPoint { class: target as u32, weight }
    }
    fn target(point: &ClassPoint) -> f64 {
        f64::from(point.class)
    }
    #[inline(always)]
    fn add(&self, cell: &mut Sums<K>, point: &ClassPoint) {
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
    fn value(&self, cell: &Sums<K>, out: &mut Vec<f64>) {
        let weight = Self::weight(cell);
        out.extend(cell.0[..self.classes].iter().map(|sum| (sum / weight).clamp(0.0, 1.0)));
    }
    fn spread(&self, _: &ClassPoint) -> f64 {
        0.0
    }
    fn cost_of_rows(&self, cell: &Sums<K>, _: &[Item<ClassPoint>]) -> f64 {
        self.cost_of_sums(cell, 0.0)
    }
    fn cost_of_sums(&self, cell: &Sums<K>, _: f64) -> f64 {
        I::cost(&cell.0, Self::weight(cell))
    }
    fn width(&self) -> usize {
        self.classes
    }
    fn store(&self, cell: &Sums<K>, out: &mut Vec<f64>) {
        out.extend_from_slice(&cell.0[..self.classes]);
    }
    fn load(&self, numbers: &[f64]) -> Sums<K> {
        Sums(std::array::from_fn(|k| numbers.get(k).copied().unwrap_or(0.0)))
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

/// The mean target of rows.
fn mean_of(items: &[Item<RealPoint>]) -> f64 {
    let (weight, sum) = items.iter().fold((0.0, 0.0), |(weight, sum), item| {
        (weight + item.point.weight, sum + item.point.weight * item.point.target)
    });
    sum / weight
}

macro_rules! real_sums {
    () => {
        type Point = RealPoint;
        type Cell = Sums<2>;

        fn point(&self, target: f64, weight: f64) -> RealPoint {
            RealPoint { target, weight }
        }
        fn target(point: &RealPoint) -> f64 {
            point.target
        }
        #[inline(always)]
        fn add(&self, cell: &mut Sums<2>, point: &RealPoint) {
            cell.0[0] += point.weight;
            cell.0[1] += self.moments.round(point.weight * point.target);
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
        fn responses(&self, cell: &Sums<2>) -> Vec<f64> {
            vec![cell.0[1] / cell.0[0]]
        }
        fn spread(&self, point: &RealPoint) -> f64 {
            self.spreads.round(point.weight * Self::spread_of(point.target))
        }
        fn width(&self) -> usize {
            2
        }
        fn store(&self, cell: &Sums<2>, out: &mut Vec<f64>) {
            out.extend(cell.0);
        }
        fn load(&self, numbers: &[f64]) -> Sums<2> {
            Sums(std::array::from_fn(|k| numbers.get(k).copied().unwrap_or(0.0)))
        }
    };
}

/// Squared error of targets that were moved by `centre`, so that their mean is about zero.
pub(crate) struct SquaredError {
    pub(crate) centre: f64,
    /// Grids of weights times targets, and times their squares.
    pub(crate) moments: Grid,
    pub(crate) spreads: Grid,
}

impl SquaredError {
    /// What a target adds to the cost of a node.
    pub(crate) fn spread_of(target: f64) -> f64 {
        target * target
    }
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
    fn cost_of_rows(&self, _: &Sums<2>, items: &[Item<RealPoint>]) -> f64 {
        let mean = mean_of(items);
        let square =
            |item: &Item<RealPoint>| item.point.weight * (item.point.target - mean).powi(2);
        if self.pure(items) { 0.0 } else { items.iter().map(square).sum() }
    }
    fn cost_of_sums(&self, cell: &Sums<2>, spread: f64) -> f64 {
        (spread - self.score(cell)).max(0.0)
    }
}

/// Half the Poisson deviance of targets that are not negative.
pub(crate) struct Poisson {
    /// Grids of weights times targets, and times y ln y.
    pub(crate) moments: Grid,
    pub(crate) spreads: Grid,
}

impl Poisson {
    /// What a target adds to the cost of a node.
    pub(crate) fn spread_of(target: f64) -> f64 {
        if target > 0.0 { target * target.ln() } else { 0.0 }
    }
}

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
    fn cost_of_rows(&self, _: &Sums<2>, items: &[Item<RealPoint>]) -> f64 {
        let mean = mean_of(items);
        let deviance = |item: &Item<RealPoint>| {
            let y = item.point.target;
            if y > 0.0 { item.point.weight * y * (y / mean).ln() } else { 0.0 }
        };
        items.iter().map(deviance).sum::<f64>().max(0.0)
    }
    fn cost_of_sums(&self, cell: &Sums<2>, spread: f64) -> f64 {
        let [weight, sum] = cell.0;
        if sum > 0.0 { (spread - sum * (sum / weight).ln()).max(0.0) } else { 0.0 }
    }
}
