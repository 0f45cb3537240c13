//! Two-class splits by three impurities: what each says about splits of one node.
//!
//! A split of counts (a, b) into (a₁, b₁) and (a₂, b₂) scores Σ n_i/n I(p_i) with I the share of errors, the
//! Gini index or the entropy (nats). With 400 rows of each class, {(300, 100), (100, 300)} and
//! {(200, 400), (200, 0)} make the same errors; Gini and entropy prefer the second, which has a pure part.
//!
//! Reference: Hastie, Tibshirani and Friedman (2009), section 9.2.3.

use super::impurity::ImpurityKind;
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::prelude::*;

/// Scores of splits of a node of two classes by error, Gini and entropy.
#[derive(Params, Clone, Debug)]
pub struct TwoClassSplits {
    /// Splits: rows of the first and second class in the left part, then in the right.
    #[param(default = vec![vec![300.0, 100.0, 100.0, 300.0], vec![200.0, 400.0, 200.0, 0.0]])]
    pub splits: Vec<Vec<f64>>,
}

/// A row a split: mean impurity of its parts.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct SplitScores {
    /// The parts.
    pub split: Vec<String>,
    /// By the share of errors.
    pub error: Vec<f64>,
    /// By the Gini index.
    pub gini: Vec<f64>,
    /// By the entropy, in nats.
    pub entropy: Vec<f64>,
    /// Share of the first class in the left part.
    pub left_share: Vec<f64>,
    /// The same in the right part.
    pub right_share: Vec<f64>,
}

fn mean_impurity(kind: ImpurityKind, parts: [[f64; 2]; 2]) -> f64 {
    let total: f64 = parts.iter().flatten().sum();
    let of = |part: &[f64; 2]| part.iter().sum::<f64>() / total * kind.of(part);
    let bits = parts.iter().filter(|part| part.iter().sum::<f64>() > 0.0).map(of).sum::<f64>();
    if kind == ImpurityKind::Entropy { bits * std::f64::consts::LN_2 } else { bits }
}

impl Function for TwoClassSplits {
    type Inputs<'a> = ();
    type Output = SplitScores;
    const ABOUT: &'static Callable = &Callable::new("tree.two_class_splits", FunctionKind::Study)
        .reference("Hastie, Tibshirani and Friedman (2009), section 9.2.3");

    fn call(&self, (): (), _run: &Context) -> Result<SplitScores> {
        let mut found = SplitScores {
            split: Vec::new(),
            error: Vec::new(),
            gini: Vec::new(),
            entropy: Vec::new(),
            left_share: Vec::new(),
            right_share: Vec::new(),
        };
        for split in &self.splits {
            let counts = split.len() == 4 && split.iter().all(|x| x.is_finite() && *x >= 0.0);
            if !counts || split[0] + split[1] <= 0.0 || split[2] + split[3] <= 0.0 {
                let expected = "four counts a split, some rows in both parts";
                return Err(Error::parameter("splits", expected, format!("{split:?}")));
            }
            let parts = [[split[0], split[1]], [split[2], split[3]]];
            let words = parts.map(|[a, b]| format!("({a}, {b})"));
            found.split.push(words.join(" and "));
            found.error.push(mean_impurity(ImpurityKind::Error, parts));
            found.gini.push(mean_impurity(ImpurityKind::Gini, parts));
            found.entropy.push(mean_impurity(ImpurityKind::Entropy, parts));
            found.left_share.push(split[0] / (split[0] + split[1]));
            found.right_share.push(split[2] / (split[2] + split[3]));
        }
        Ok(found)
    }

    fn chart(&self, found: &SplitScores) -> Option<Chart> {
        let shares: Vec<f64> = (0..=100).map(|k| f64::from(k) / 100.0).collect();
        let impurity = |kind: ImpurityKind, p: f64| {
            let scale = if kind == ImpurityKind::Entropy { 0.5 } else { 1.0 };
            scale * kind.of(&[p, 1.0 - p])
        };
        let mut panel = Panel::new("share of the first class", "impurity");
        let kinds = [
            ("error", ImpurityKind::Error),
            ("Gini", ImpurityKind::Gini),
            ("entropy, scaled", ImpurityKind::Entropy),
        ];
        for (name, kind) in kinds {
            let y = shares.iter().map(|&p| impurity(kind, p)).collect();
            panel = panel.mark(Mark::line(name, shares.clone(), y));
        }
        // The line between the parts of a split lies below the curve where the split helps.
        for k in 0..found.split.len() {
            let ends = vec![found.left_share[k], found.right_share[k]];
            let y = ends.iter().map(|&p| impurity(ImpurityKind::Gini, p)).collect();
            panel = panel.mark(Mark::line(found.split[k].clone(), ends, y).dashed());
        }
        let about = "Curves bend, so parts of different shares have a lower mean impurity; errors only see who is in the majority.";
        Some(Chart::new("Splits of two classes", about).panel(panel))
    }
}

#[cfg(test)]
mod tests {
    use super::super::reference_tests::{case, near};
    use super::*;

    #[test]
    fn equal_errors_hide_the_better_split() {
        let expected = case("split-400-400")["expect"].clone();
        let found = TwoClassSplits::default().compute(()).unwrap();
        assert_eq!(found.error, [0.25, 0.25]);
        for (name, ours) in [("gini", &found.gini), ("entropy", &found.entropy)] {
            for (k, score) in ours.iter().enumerate() {
                near(*score, &expected[format!("split{}", k + 1)][name], name);
            }
        }
        assert!(TwoClassSplits { splits: vec![vec![1.0, 2.0]] }.compute(()).is_err());
    }
}
