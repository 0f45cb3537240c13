//! How well predictions meet a target, as a sum over blocks: the share of rows whose class is predicted, or
//! R². Summed along the tree of the blocks, so that it does not depend on how tasks were cut.

use learnt_core::data::{Dataset, Label, Target};
use learnt_core::error::{Code, Error, Result};
use learnt_core::trained::Prediction;

/// The sum over some rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Score {
    weight: f64,
    /// Rows whose class is predicted; else the sum of squared residuals.
    met: f64,
    mean: f64,
    /// The sum of squared distances from the mean.
    spread: f64,
}

impl Score {
    /// Of the predictions for the rows of a block.
    pub(crate) fn of(data: &Dataset, found: &Prediction, classes: &[Label]) -> Result<Score> {
        let weight = |i: usize| data.weight(i);
        let mut score = Score::default();
        match (data.y, found) {
            (Some(Target::Class { codes, classes: known }), Prediction::Class(predicted)) => {
                for (i, (&code, &guess)) in codes.iter().zip(predicted).enumerate() {
                    let hit = known.get(code as usize) == classes.get(guess as usize);
                    score.weight += weight(i);
                    score.met += if hit { weight(i) } else { 0.0 };
                }
            }
            (Some(Target::Real(values)), Prediction::Real(predicted)) if predicted.ncols() == 1 => {
                for i in 0..values.nrows() {
                    let (y, guess, w) = (values.at(i, 0), predicted[(i, 0)], weight(i));
                    let before = y - score.mean;
                    score.weight += w;
                    if score.weight > 0.0 {
                        score.mean += before * w / score.weight;
                    }
                    score.spread += w * before * (y - score.mean);
                    score.met += w * (y - guess) * (y - guess);
                }
            }
            _ => {
                let message = "only predictions of one target of the files can be scored";
                return Err(Error::new(Code::Target, message).hint("name the target"));
            }
        }
        Ok(score)
    }

    /// Of both; `self` is of earlier rows.
    pub(crate) fn merge(self, later: Score) -> Result<Score> {
        let weight = self.weight + later.weight;
        if weight == 0.0 {
            return Ok(self);
        }
        let step = later.mean - self.mean;
        Ok(Score {
            weight,
            met: self.met + later.met,
            mean: self.mean + step * later.weight / weight,
            spread: self.spread + later.spread + step * step * self.weight * later.weight / weight,
        })
    }

    /// The score: accuracy, or R².
    pub(crate) fn value(&self, classes: bool) -> f64 {
        match classes {
            true => self.met / self.weight,
            false => 1.0 - self.met / self.spread,
        }
    }

    pub(crate) fn numbers(&self) -> [f64; 4] {
        [self.weight, self.met, self.mean, self.spread]
    }

    pub(crate) fn from_numbers(numbers: &[f64]) -> Option<Score> {
        match numbers {
            &[weight, met, mean, spread] => Some(Score { weight, met, mean, spread }),
            _ => None,
        }
    }
}
