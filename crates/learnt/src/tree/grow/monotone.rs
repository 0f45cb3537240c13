//! Predictions that may only rise, or only fall, with a column.
//!
//! A split of such a column needs sides in that order, and what grows below a side stays on its own side of the
//! middle between both. So every node has bounds: a split of such a column needs both sides within them, and the
//! predictions of nodes that other columns make are moved to the nearest bound. Of two classes it is the share of
//! the second that is bounded.

use super::columns::unordered_levels;
use super::criterion::{Criterion, Summary};
use learnt_core::error::plain;
use learnt_core::prelude::*;

/// What the predictions of a node and of all below it lie between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bounds {
    low: f64,
    high: f64,
}

impl Bounds {
    /// Any prediction.
    pub(super) const NONE: Bounds = Bounds { low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// The bounds of both sides of a split of a column with this direction.
    pub(super) fn divided(self, direction: i8, sides: &[Summary; 2]) -> [Bounds; 2] {
        let [left, right] = [predicted(&sides[0]), predicted(&sides[1])];
        let middle = 0.5 * left + 0.5 * right;
        match direction {
            0 => [self; 2],
            1.. => [Bounds { high: middle, ..self }, Bounds { low: middle, ..self }],
            _ => [Bounds { low: middle, ..self }, Bounds { high: middle, ..self }],
        }
    }

    /// Moves a prediction to the nearest bound.
    pub(super) fn confine(self, value: &mut [f64]) {
        match value {
            [number] => *number = number.clamp(self.low, self.high),
            [first, second] if *second < self.low || *second > self.high => {
                *second = second.clamp(self.low, self.high);
                *first = 1.0 - *second;
            }
            _ => {}
        }
    }
}

/// The one number that is bounded.
fn predicted(summary: &Summary) -> f64 {
    summary.value.last().copied().unwrap_or(0.0)
}

/// What the predictions of both sides of a cut must respect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Monotone {
    pub(super) direction: i8,
    pub(super) bounds: Bounds,
}

impl Monotone {
    /// Whether predictions of the left and the right side are in order and within bounds.
    pub(super) fn allows(&self, left: f64, right: f64) -> bool {
        let Bounds { low, high } = self.bounds;
        let within = left.min(right) >= low && left.max(right) <= high;
        within && (left - right) * f64::from(self.direction) <= 0.0
    }

    /// The same for a left side with these sums and this weight.
    pub(super) fn allows_sums<C: Criterion>(
        &self,
        criterion: &C,
        node: &Summary,
        sums: &[f64],
        weight: f64,
    ) -> bool {
        let others: Vec<f64> = node.sums.iter().zip(sums).map(|(all, left)| all - left).collect();
        let left = criterion.prediction(node, sums, weight);
        let right = criterion.prediction(node, &others, node.weight - weight);
        self.allows(left, right)
    }
}

/// The direction of each column, checked: none at all where no column has one.
pub(crate) fn directions(given: Option<&[i64]>, schema: &Schema) -> Result<Vec<i8>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    let wrong = |got: String| {
        let expected = format!("{} numbers, each -1, 0 or 1, one a column", schema.len());
        Err(Error::parameter("monotonic_cst", expected, got))
    };
    if given.len() != schema.len() {
        return wrong(format!("{} numbers", given.len()));
    }
    for (column, &direction) in schema.columns().iter().zip(given) {
        if !(-1..=1).contains(&direction) {
            return wrong(direction.to_string());
        }
        if direction != 0 && unordered_levels(column).is_some() {
            let name = plain(&column.name);
            let expected = format!("0 for '{name}', whose levels have no order");
            return Err(Error::parameter("monotonic_cst", expected, direction));
        }
    }
    match given.iter().all(|&direction| direction == 0) {
        true => Ok(Vec::new()),
        false => Ok(given.iter().map(|&direction| direction as i8).collect()),
    }
}

/// Refuses directions where there is not one number that could follow them; 0 classes are none.
pub(crate) fn check_one_number(given: bool, classes: usize, outputs: usize) -> Result<()> {
    let got = match (given, classes, outputs) {
        (true, 3.., _) => format!("directions with multiclass classification: {classes} classes"),
        (true, _, 2..) => format!("directions with multiple outputs: {outputs} targets"),
        _ => return Ok(()),
    };
    let expected = "none: monotonicity constraints need two classes or one number";
    Err(Error::parameter("monotonic_cst", expected, got))
}
