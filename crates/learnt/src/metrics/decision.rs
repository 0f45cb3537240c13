//! Decisions: from class probabilities to classes, by a threshold or by what mistakes cost.
//!
//! With a threshold t a row is called positive if p ≥ t, else the most probable of the other classes. With
//! costs c(j, k) of calling a row of class j class k, a row is called the class of least expected cost
//! Σ_j p_j c(j, k). Of equals the positive class wins, then the first. For two classes that is the threshold
//! c_FP / (c_FP + c_FN).
//!
//! Elkan (2001), IJCAI, 973-978.

use learnt_core::error::plain;
use learnt_core::prelude::*;

/// Which class is the positive one, and how classes follow from probabilities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    positive: Option<usize>,
    rule: Rule,
}

/// How classes follow from probabilities.
#[derive(Clone, Debug, Default, PartialEq)]
enum Rule {
    /// As the model has it.
    #[default]
    Own,
    /// Positive from this probability on.
    Threshold(f64),
    /// Least expected cost: rows are actual classes, columns what they are called.
    Costs(Matrix),
}

impl Decision {
    /// The class of this place is the positive one. Of two classes the second is without this.
    pub fn positive(classes: &[Label], place: Option<usize>) -> Result<Decision> {
        let positive = place.or((classes.len() == 2).then_some(1));
        match positive {
            Some(place) if place >= classes.len() => Err(Error::internal("no such class")),
            positive => Ok(Decision { positive, rule: Rule::Own }),
        }
    }

    /// The same with the name of the class as it is written.
    pub fn named(classes: &[Label], name: Option<&str>) -> Result<Decision> {
        let place = name.map(|name| place_of(classes, name)).transpose()?;
        Decision::positive(classes, place)
    }

    /// Calls a row positive if its probability of that class is at least this.
    pub fn with_threshold(self, threshold: f64) -> Result<Decision> {
        if !(0.0..=1.0).contains(&threshold) {
            return Err(Error::parameter("threshold", "a probability in [0, 1]", threshold));
        }
        if self.positive.is_none() {
            let message = "a threshold is of one class, and there are several";
            return Err(Error::new(Code::Usage, message).hint("say which one is positive"));
        }
        Ok(Decision { rule: Rule::Threshold(threshold), ..self })
    }

    /// Calls rows the class of least expected cost: rows are actual classes, columns what they are called.
    pub fn with_costs(self, costs: Matrix) -> Result<Decision> {
        let right = |i: usize, j: usize| costs[(i, j)].is_finite() && costs[(i, j)] >= 0.0;
        let (rows, columns) = (costs.nrows(), costs.ncols());
        match (0..rows).all(|i| (0..columns).all(|j| right(i, j))) {
            true => Ok(Decision { rule: Rule::Costs(costs), ..self }),
            false => Err(Error::parameter("costs", "numbers >= 0", "another number")),
        }
    }

    /// The same with costs in words: `Yes=5` is what a row of that class costs when it is called another,
    /// `Yes:No=5` when it is called that one. Other mistakes cost 1, and what is right costs nothing.
    pub fn with_cost_words(self, classes: &[Label], words: &[String]) -> Result<Decision> {
        let k = classes.len();
        let mut costs = Matrix::from_fn(k, k, |i, j| f64::from(i != j));
        for word in words {
            let bad = || {
                Error::parameter("cost", "of the form CLASS=X or CLASS:CALLED=X", format!("'{word}'"))
                .hint("Yes=5 says that a row of class Yes costs 5 where it is called another; all else costs 1")
            };
            let (pair, cost) = word.rsplit_once('=').ok_or_else(bad)?;
            let cost: f64 = cost.trim().parse().map_err(|_| bad())?;
            if let Ok(actual) = place_of(classes, pair) {
                (0..k).filter(|&j| j != actual).for_each(|j| costs[(actual, j)] = cost);
                continue;
            }
            let known = |(at, _): (usize, &str)| {
                let (actual, called) =
                    (place_of(classes, &pair[..at]), place_of(classes, &pair[at + 1..]));
                actual.ok().zip(called.ok())
            };
            match pair.match_indices(':').find_map(known) {
                Some((actual, called)) if actual != called => costs[(actual, called)] = cost,
                _ => {
                    return Err(place_of(classes, pair.split(':').next().unwrap_or(pair))
                        .err()
                        .unwrap_or_else(bad));
                }
            }
        }
        self.with_costs(costs)
    }

    /// The place of the positive class.
    pub fn positive_class(&self) -> Option<usize> {
        self.positive
    }

    /// The costs, rows actual and columns called, if there are any.
    pub fn costs(&self) -> Option<&Matrix> {
        match &self.rule {
            Rule::Costs(costs) => Some(costs),
            _ => None,
        }
    }

    /// Whether the model's own classes stay.
    pub fn is_own(&self) -> bool {
        self.rule == Rule::Own
    }

    /// The threshold on the probability of the positive class: the one said, or of two classes the one of
    /// least expected cost.
    pub fn threshold(&self) -> Option<f64> {
        match (&self.rule, self.positive) {
            (Rule::Threshold(threshold), _) => Some(*threshold),
            (Rule::Costs(costs), Some(positive)) if costs.nrows() == 2 => {
                let alarm = costs[(1 - positive, positive)];
                let sum = alarm + costs[(positive, 1 - positive)];
                (sum > 0.0).then(|| alarm / sum)
            }
            _ => None,
        }
    }

    /// The class of each row from its probabilities, one column a class; `None` where the model's own stay.
    pub fn classes(&self, probabilities: MatRef) -> Result<Option<Vec<u32>>> {
        let k = probabilities.ncols();
        let at = |i: usize, j: usize| probabilities.at(i, j);
        // The class of the largest value, the first of equals.
        let best = |of: &dyn Fn(usize) -> f64, all: &mut dyn Iterator<Item = usize>| {
            let first = |best: Option<(usize, f64)>, j: usize| match best {
                Some((_, value)) if of(j) <= value => best,
                _ => Some((j, of(j))),
            };
            all.fold(None, first).map_or(0, |(j, _)| j as u32)
        };
        let rows = 0..probabilities.nrows();
        match &self.rule {
            Rule::Own => Ok(None),
            Rule::Threshold(threshold) => {
                let positive = self.positive.unwrap_or(1);
                let one = |i: usize| match at(i, positive) >= *threshold {
                    true => positive as u32,
                    false => best(&|j| at(i, j), &mut (0..k).filter(|&j| j != positive)),
                };
                Ok(Some(rows.map(one).collect()))
            }
            Rule::Costs(costs) => {
                if costs.nrows() != k || costs.ncols() != k {
                    let got = format!("{} x {}", costs.nrows(), costs.ncols());
                    return Err(Error::shape("costs", format!("{k} x {k}"), got));
                }
                let order = || {
                    self.positive.into_iter().chain((0..k).filter(|&j| Some(j) != self.positive))
                };
                let saved = |i: usize, called: usize| {
                    -(0..k).map(|j| at(i, j) * costs[(j, called)]).sum::<f64>()
                };
                Ok(Some(rows.map(|i| best(&|j| saved(i, j), &mut order())).collect()))
            }
        }
    }
}

/// The place of a class by its name as it is written.
fn place_of(classes: &[Label], name: &str) -> Result<usize> {
    let known: Vec<String> = classes.iter().map(ToString::to_string).collect();
    known
        .iter()
        .position(|known| known == name)
        .ok_or_else(|| Error::unknown("class", &plain(name), known.iter().map(String::as_str)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{CostThreshold, Ranked};

    fn labels(names: &[&str]) -> Vec<Label> {
        names.iter().map(|name| Label::from(*name)).collect()
    }

    #[test]
    fn costs_of_two_classes_are_the_threshold_of_the_cost_curve() {
        let classes = labels(&["No", "Yes"]);
        let decision = Decision::named(&classes, None).unwrap();
        let decision = decision.with_cost_words(&classes, &["Yes=4".to_string()]).unwrap();
        assert_eq!(decision.threshold(), Some(0.2));
        let p: Vec<f64> = (0..=20).map(|i| f64::from(i) / 20.0).collect();
        let both = Matrix::from_fn(21, 2, |i, j| if j == 1 { p[i] } else { 1.0 - p[i] });
        let called = decision.classes(both.view()).unwrap().unwrap();
        let by_threshold =
            Decision::named(&classes, Some("Yes")).unwrap().with_threshold(0.2).unwrap();
        assert_eq!(called, by_threshold.classes(both.view()).unwrap().unwrap());
        assert_eq!(called.iter().filter(|&&code| code == 1).count(), 17);
        let truth: Vec<u32> = (0..21).map(|i| u32::from(i > 3)).collect();
        let given = Ranked {
            y_true: Classes { codes: &truth, classes: &classes },
            y_score: both.view(),
            sample_weight: None,
        };
        let curve = CostThreshold {
            false_negative_cost: 4.0,
            pos_label: Some(Value::Text("Yes".into())),
            ..Default::default()
        };
        assert_eq!(curve.compute(given).unwrap().theoretical, decision.threshold());
    }

    #[test]
    fn the_first_class_may_be_the_positive_one() {
        let classes = labels(&["bad", "good"]);
        let p = Matrix::from_rows(&[[0.3, 0.7], [0.2, 0.8]]).unwrap();
        let decision =
            Decision::named(&classes, Some("bad")).unwrap().with_threshold(0.25).unwrap();
        assert_eq!(decision.classes(p.view()).unwrap().unwrap(), [0, 1]);
        assert_eq!(decision.positive_class(), Some(0));
    }

    #[test]
    fn several_classes_take_costs_of_pairs_and_thresholds_of_one() {
        let classes = labels(&["a", "b", "c:d"]);
        let p = Matrix::from_rows(&[[0.5, 0.3, 0.2], [0.1, 0.6, 0.3]]).unwrap();
        let own = Decision::named(&classes, None).unwrap();
        assert_eq!(own.positive_class(), None);
        assert_eq!(own.clone().with_threshold(0.2).unwrap_err().code(), Code::Usage);
        let costs =
            own.clone().with_cost_words(&classes, &["c:d:a=9".into(), "b=1".into()]).unwrap();
        assert_eq!(costs.costs().unwrap()[(2, 0)], 9.0);
        // a costs 0.3 + 9 * 0.2, b 0.5 + 0.2, c:d 0.8.
        assert_eq!(costs.classes(p.view()).unwrap().unwrap(), [1, 1]);
        let one = Decision::named(&classes, Some("c:d")).unwrap().with_threshold(0.25).unwrap();
        assert_eq!(one.classes(p.view()).unwrap().unwrap(), [0, 2]);
        for wrong in ["x=1", "a:x=2", "a=-1", "a", "a=b"] {
            assert!(own.clone().with_cost_words(&classes, &[wrong.into()]).is_err(), "{wrong}");
        }
    }
}
