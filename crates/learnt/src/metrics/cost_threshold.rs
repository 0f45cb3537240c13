//! The threshold of least cost, and the cost at every threshold.
//!
//! A row is called positive if its score is at least the threshold. The cost of a threshold is
//! (c_FP FP + c_FN FN) / n; equal scores move in one step, the highest of equally good thresholds wins, and
//! above all scores nothing is called. For probabilities that are right, the best threshold is
//! c_FP / (c_FP + c_FN) whatever the share of positives.

use super::Ranked;
use super::ranking::Steps;
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::prelude::*;

/// Cost of every threshold, and the threshold of least cost.
#[derive(Params, Clone, Debug)]
pub struct CostThreshold {
    /// Cost of a negative row that is called positive.
    #[param(positional, default = 1.0, range = 0.0..)]
    pub false_positive_cost: f64,
    /// Cost of a positive row that is not.
    #[param(positional, default = 1.0, range = 0.0..)]
    pub false_negative_cost: f64,
    /// The positive class of two; 1 by default.
    pub pos_label: Option<Value>,
}

/// Costs along thresholds.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct CostCurve {
    /// The threshold of least cost; infinite if nothing should be called.
    pub threshold: f64,
    /// The least mean cost.
    pub cost: f64,
    /// The threshold that would be best for probabilities that are right.
    pub theoretical: Option<f64>,
    /// Thresholds, falling; infinite first.
    pub thresholds: Vec<f64>,
    /// The mean cost of each.
    pub costs: Vec<f64>,
}

impl Function for CostThreshold {
    type Inputs<'a> = Ranked<'a>;
    type Output = CostCurve;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.cost_threshold", FunctionKind::Metric).reference("Elkan (2001)");

    fn call(&self, given: Ranked, run: &Context) -> Result<CostCurve> {
        let steps = Steps::of_two(&given, self.pos_label.as_ref(), run)?;
        let last = |counts: &[f64]| counts.last().copied().unwrap_or(0.0);
        let positives = last(&steps.true_positives);
        let total = positives + last(&steps.false_positives);
        let cost = |hits: f64, alarms: f64| {
            let missed = positives - hits;
            (self.false_positive_cost * alarms + self.false_negative_cost * missed) / total
        };
        let pairs = steps.true_positives.iter().zip(&steps.false_positives);
        let costs: Vec<f64> = std::iter::once(cost(0.0, 0.0))
            .chain(pairs.map(|(&hits, &alarms)| cost(hits, alarms)))
            .collect();
        let thresholds: Vec<f64> =
            std::iter::once(f64::INFINITY).chain(steps.thresholds.iter().copied()).collect();
        let best = (0..costs.len()).min_by(|&a, &b| costs[a].total_cmp(&costs[b])).unwrap_or(0);
        let sum = self.false_positive_cost + self.false_negative_cost;
        Ok(CostCurve {
            threshold: thresholds[best],
            cost: costs[best],
            theoretical: (sum > 0.0).then(|| self.false_positive_cost / sum),
            thresholds,
            costs,
        })
    }

    fn chart(&self, found: &CostCurve) -> Option<Chart> {
        let (x, y) = (found.thresholds[1..].to_vec(), found.costs[1..].to_vec());
        let mut panel = Panel::new("threshold", "mean cost").mark(Mark::line("cost", x, y));
        if found.threshold.is_finite() {
            let name = format!("least cost {:.4}", found.cost);
            panel = panel.mark(Mark::vertical(name, vec![found.threshold]).dashed());
        }
        let text =
            "The mean cost of calling every row positive whose score is at least the threshold.";
        Some(Chart::new("Cost of thresholds", text).panel(panel))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(function: &CostThreshold) -> CostCurve {
        let classes = [0, 1].map(Label::Int);
        let y_true = Classes { codes: &[0, 0, 1, 1, 0, 1], classes: &classes };
        let scores = Matrix::column_vector(vec![0.1, 0.3, 0.35, 0.8, 0.4, 0.9]);
        let given = Ranked { y_true, y_score: scores.view(), sample_weight: None };
        function.compute(given).unwrap()
    }

    #[test]
    fn missing_a_positive_dearly_lowers_the_threshold() {
        let equal = found(&CostThreshold::default());
        assert_eq!((equal.threshold, equal.cost), (0.8, 1.0 / 6.0));
        let dear = CostThreshold { false_negative_cost: 10.0, ..Default::default() };
        let dear = found(&dear);
        assert_eq!((dear.threshold, dear.cost), (0.35, 1.0 / 6.0));
        assert!((dear.theoretical.unwrap() - 1.0 / 11.0).abs() < 1e-15);
        let alarms = CostThreshold { false_positive_cost: 100.0, ..Default::default() };
        assert_eq!(found(&alarms).threshold, 0.8);
        let nothing = CostThreshold { false_negative_cost: 0.0, ..Default::default() };
        assert_eq!((found(&nothing).threshold, found(&nothing).cost), (f64::INFINITY, 0.0));
    }
}
