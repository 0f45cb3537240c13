//! Gini's index of impurity.
//!
//! A cut needs the sums over classes of the squares of both sides. A row that changes sides changes one class, so
//! that the sums follow by one product each, however many classes there are. This is exact for whole weights, such as
//! the counts of a bootstrap sample; other weights take all classes at every cut, so that no rounding adds up.

use super::criterion::{Classes, Criterion, Summary};
use super::scan::{self, Cut, Left, Limits, Parted, Sequence};

/// Gini's index.
#[derive(Clone, Debug)]
pub(crate) struct Gini(Classes);

impl Gini {
    pub(crate) fn new(codes: Vec<u32>, count: usize, weights: Option<Vec<f64>>) -> Self {
        Gini(Classes::new(codes, count, weights))
    }

    /// Whether a row that changes sides changes the sums of squares by one product, and not by as many as classes.
    fn steps(&self) -> bool {
        self.0.exact && self.0.count > 2
    }

    /// A left side without rows, where the squares of the node's sums add up to `all`.
    fn nothing_left<'a>(&'a self, node: &'a Summary, all: f64) -> Squares<'a> {
        Squares { classes: &self.0, node, sums: vec![0.0; self.0.count], squares: (0.0, all) }
    }

    /// Σ l²/W_l + Σ r²/W_r - Σ s²/W, over one denominator.
    #[inline(always)]
    fn gain_of(node: &Summary, (left, right): (f64, f64), left_weight: f64) -> f64 {
        let right_weight = node.weight - left_weight;
        let both = left * right_weight + right * left_weight;
        both / (left_weight * right_weight) - (1.0 - node.impurity) * node.weight
    }
}

/// The left side of a cut by Gini's index, with the sums of squares of both sides.
struct Squares<'a> {
    classes: &'a Classes,
    node: &'a Summary,
    sums: Vec<f64>,
    squares: (f64, f64),
}

impl Left for Squares<'_> {
    /// (l + w)² - l² = w (2 l + w), and (r - w)² - r² = -w (2 r - w).
    #[inline(always)]
    fn add(&mut self, row: usize) -> f64 {
        let code = self.classes.codes.at(row) as usize;
        let before = self.sums[code];
        let weight = self.classes.add(&mut self.sums, row);
        let right = self.node.sums[code] - before;
        self.squares.0 += weight * (2.0 * before + weight);
        self.squares.1 -= weight * (2.0 * right - weight);
        weight
    }

    #[inline(always)]
    fn gain(&self, weight: f64) -> f64 {
        Gini::gain_of(self.node, self.squares, weight)
    }

    fn ordered(&self, _: &Limits, _: f64) -> bool {
        true
    }
}

/// Σ s² of whole numbers, in lanes, because their order changes nothing.
fn sum_of_squares(sums: &[f64]) -> f64 {
    let (eights, rest) = sums.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for eight in eights {
        for (lane, sum) in lanes.iter_mut().zip(eight) {
            *lane += sum * sum;
        }
    }
    lanes.iter().sum::<f64>() + rest.iter().map(|sum| sum * sum).sum::<f64>()
}

impl Criterion for Gini {
    fn summary(&self, rows: &[u32]) -> Summary {
        self.0.summary(rows, |_, _, shares| {
            (1.0 - shares.iter().map(|share| share * share).sum::<f64>()).max(0.0)
        })
    }

    fn gather(&self, rows: &[u32]) -> Self {
        Gini(self.0.gather(rows))
    }

    fn width(&self) -> usize {
        self.0.count
    }

    #[inline(always)]
    fn add(&self, _node: &Summary, sums: &mut [f64], row: usize) -> f64 {
        self.0.add(sums, row)
    }

    #[inline(always)]
    fn gain(&self, node: &Summary, left: &[f64], left_weight: f64) -> f64 {
        let squares = match (left, node.sums.as_slice()) {
            (&[a, b], &[all_a, all_b]) => {
                let (other_a, other_b) = (all_a - a, all_b - b);
                (a * a + b * b, other_a * other_a + other_b * other_b)
            }
            (left, all) => {
                left.iter().zip(all).fold((0.0, 0.0), |(squares_left, squares_right), (l, all)| {
                    (squares_left + l * l, squares_right + (all - l) * (all - l))
                })
            }
        };
        Gini::gain_of(node, squares, left_weight)
    }

    fn few_rows(&self) -> usize {
        // What a histogram costs for its size alone, in rows that change sides.
        if self.steps() { 64 * self.0.count } else { 128 }
    }

    fn best_cut(&self, node: &Summary, sequence: &Sequence, limits: &Limits) -> Option<Cut> {
        if !self.steps() || limits.monotone.is_some() {
            return scan::best_cut(self, node, sequence, limits);
        }
        let all = sum_of_squares(&node.sums);
        scan::both_sides(node, sequence, limits, || self.nothing_left(node, all))
    }

    fn only_cut(&self, node: &Summary, parted: &Parted, limits: &Limits) -> Option<Cut> {
        if !self.steps() || limits.monotone.is_some() {
            return scan::only_cut(self, node, parted, limits);
        }
        let all = sum_of_squares(&node.sums);
        scan::cut_of(node, parted, limits, || self.nothing_left(node, all))
    }

    fn response(&self, sums: &[f64], weight: f64) -> f64 {
        Classes::response(sums, weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_that_change_row_by_row_give_the_cut_of_sums_of_all_classes() {
        let codes: Vec<u32> = (0..500_u32).map(|row| (row * row + row / 90) % 7).collect();
        let rows: Vec<u32> = (0..500).collect();
        let ordered: Vec<u64> = rows.iter().map(|&row| scan::entry(row / 3, row)).collect();
        let (known, missing) = ordered.split_at(430);
        let limits = Limits { min_rows: 1, min_weight: 0.0, only: None, monotone: None };
        let whole: Vec<f64> = rows.iter().map(|row| f64::from(row % 4 + 1)).collect();
        for (weights, steps) in [(None, true), (Some(whole), true), (Some(vec![0.3; 500]), false)] {
            let gini = Gini::new(codes.clone(), 7, weights);
            assert_eq!(gini.steps(), steps);
            let node = gini.summary(&rows);
            for missing in [missing, &[]] {
                let sequence = Sequence { known, missing };
                let expected = scan::best_cut(&gini, &node, &sequence, &limits);
                assert!(expected.is_some_and(|cut| cut.gain > 0.0));
                assert_eq!(gini.best_cut(&node, &sequence, &limits), expected);
                let [left, right, missing] = [&known[..100], &known[100..], missing]
                    .map(|part| part.iter().map(|&entry| scan::row_of(entry) as u32).collect());
                let (left, right, missing): (Vec<u32>, Vec<u32>, Vec<u32>) = (left, right, missing);
                let parted = Parted { left: &left, right: &right, missing: &missing };
                let expected = scan::only_cut(&gini, &node, &parted, &limits);
                assert!(expected.is_some_and(|cut| cut.gain > 0.0));
                assert_eq!(gini.only_cut(&node, &parted, &limits), expected);
            }
        }
    }
}
