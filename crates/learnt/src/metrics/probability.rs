//! Scores of predicted probabilities.
//!
//! Log loss -Σ w ln p(actual) / Σ w with p clipped to [ε, 1 - ε], ε the machine precision; Brier score
//! Σ w Σ_k (p_k - [k = actual])² / Σ w, halved for two classes, so that it is the squared error of one
//! column. Probabilities are taken as they are, not rescaled. A single column is that of the second class.

use super::{class_of, position, positive_class};
use learnt_core::function::{Scorer, Task};
use learnt_core::prelude::*;

/// Rows that one task of a sum over rows takes.
const ROWS: usize = 16_384;

/// Classes and predicted probabilities.
#[derive(Inputs, Clone, Copy)]
pub struct Foretold<'a> {
    /// The actual class of each row.
    pub y_true: Classes<'a>,
    /// Probabilities: one column a class in sorted order, or the one of the second of two classes.
    pub y_pred: MatRef<'a>,
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
}

/// Log loss: the mean of -ln p of the actual class.
#[derive(Params, Clone, Debug)]
pub struct LogLoss {
    /// Whether to give the mean; otherwise the sum.
    #[param(default = true)]
    pub normalize: bool,
    /// All classes, where some do not occur; those that occur by default.
    pub labels: Option<Vec<Value>>,
}

impl Function for LogLoss {
    type Inputs<'a> = Foretold<'a>;
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.log_loss", FunctionKind::Metric).threads().scores(&[
            Scorer::lower("log-loss", Task::Classification, "Mean of -ln p of the actual class.")
                .alias(&["neg-log-loss", "cross-entropy"]),
        ]);

    fn call(&self, given: Foretold, run: &Context) -> Result<f64> {
        let columns = columns_of(self.labels.as_deref(), &given)?;
        let clip = |p: f64| p.clamp(f64::EPSILON, 1.0 - f64::EPSILON);
        let p = given.y_pred;
        let (sum, total) = match p.ncols() {
            1 => sums(&given, run, |i, code| {
                let second = p.at(i, 0);
                -clip(if columns[code] == 1 { second } else { 1.0 - second }).ln()
            }),
            _ => sums(&given, run, |i, code| -clip(p.at(i, columns[code])).ln()),
        };
        Ok(if self.normalize { sum / total } else { sum })
    }
}

/// Brier score: the mean squared distance of probabilities from the truth; half of it for two classes.
#[derive(Params, Clone, Debug)]
pub struct BrierScoreLoss {
    /// The class whose probabilities a single column holds; 1 by default.
    pub pos_label: Option<Value>,
    /// All classes, where some do not occur; those that occur by default.
    pub labels: Option<Vec<Value>>,
    /// Whether to halve; for two classes by default.
    pub scale_by_half: Half,
}

/// Whether to halve.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Half {
    /// For two classes.
    #[default]
    Auto,
    /// Yes or no.
    Always(bool),
}

/// Classes and predicted probabilities, as scikit-learn names them here.
#[derive(Inputs, Clone, Copy)]
pub struct Probable<'a> {
    /// The actual class of each row.
    pub y_true: Classes<'a>,
    /// Probabilities: one column a class in sorted order, or the one of the positive class of two.
    pub y_proba: MatRef<'a>,
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
}

impl Function for BrierScoreLoss {
    type Inputs<'a> = Probable<'a>;
    type Output = f64;
    const ABOUT: &'static Callable = &Callable::new(
        "metrics.brier_score_loss",
        FunctionKind::Metric,
    )
    .reference("Brier (1950)")
    .threads()
    .scores(&[Scorer::lower(
        "brier",
        Task::Classification,
        "Mean squared distance of probabilities from the truth; half of it for two classes.",
    )
    .alias(&["brier-score", "neg-brier-score"])]);

    fn call(&self, given: Probable, run: &Context) -> Result<f64> {
        let Probable { y_true, y_proba: p, sample_weight } = given;
        let given = Foretold { y_true, y_pred: p, sample_weight };
        let (sum, total) = match p.ncols() {
            1 => {
                check_range(p)?;
                let positive = positive_class(self.pos_label.as_ref(), &y_true)?;
                sums(&given, run, |i, code| {
                    let difference = p.at(i, 0) - f64::from(Some(code as u32) == positive);
                    2.0 * difference * difference
                })
            }
            classes => {
                let columns = columns_of(self.labels.as_deref(), &given)?;
                sums(&given, run, |i, code| {
                    let square = |j: usize| {
                        let difference = p.at(i, j) - f64::from(j == columns[code]);
                        difference * difference
                    };
                    (0..classes).map(square).sum()
                })
            }
        };
        let halved = match self.scale_by_half {
            Half::Auto => p.ncols() < 3,
            Half::Always(halved) => halved,
        };
        Ok(if halved { 0.5 * (sum / total) } else { sum / total })
    }
}

/// The column of each class.
fn columns_of(labels: Option<&[Value]>, given: &Foretold) -> Result<Vec<usize>> {
    check_range(given.y_pred)?;
    let classes = given.y_true.classes;
    let known = match labels {
        None => classes.to_vec(),
        Some(labels) => {
            let all = labels.iter().map(|value| class_of("labels", value));
            Label::encode(&all.collect::<Result<Vec<_>>>()?).1
        }
    };
    if known.len() < 2 {
        let message = "there is one class, so its probability says nothing";
        return Err(Error::new(Code::OneClass, message).hint("name all classes: labels"));
    }
    let columns = given.y_pred.ncols();
    if columns != known.len() && !(columns == 1 && known.len() == 2) {
        let expected = format!("{} columns, one a class", known.len());
        return Err(
            Error::shape("probabilities", expected, columns).hint("name all classes: labels")
        );
    }
    let place = |class: &Label| {
        position(&known, class)
            .ok_or_else(|| Error::parameter("labels", "all classes that occur", "others"))
    };
    classes.iter().map(place).collect()
}

fn check_range(p: MatRef) -> Result<()> {
    let outside = |value: f64| !(0.0..=1.0).contains(&value);
    for i in 0..p.nrows() {
        if (0..p.ncols()).any(|j| outside(p.at(i, j))) {
            let message = format!("a probability of row {} is not between 0 and 1", i + 1);
            return Err(Error::new(Code::Parse, message).row(i as u64 + 1));
        }
    }
    Ok(())
}

/// Sum of a term over the rows, and of their weights.
fn sums(given: &Foretold, run: &Context, term: impl Fn(usize, usize) -> f64 + Sync) -> (f64, f64) {
    let codes = given.y_true.codes;
    let parts = run.par_ranges(codes.len(), ROWS, |rows| match given.sample_weight {
        None => {
            let size = rows.len() as f64;
            (rows.map(|i| term(i, codes[i] as usize)).sum::<f64>(), size)
        }
        Some(weights) => rows.fold((0.0, 0.0), |(sum, total), i| {
            (sum + weights[i] * term(i, codes[i] as usize), total + weights[i])
        }),
    });
    parts.into_iter().fold((0.0, 0.0), |(sum, total), part| (sum + part.0, total + part.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(codes: &[u32], p: &Matrix) -> Result<f64> {
        let classes = [0, 1].map(Label::Int);
        let y_true = Classes { codes, classes: &classes };
        LogLoss::default().compute(Foretold { y_true, y_pred: p.view(), sample_weight: None })
    }

    #[test]
    fn a_certain_mistake_costs_a_finite_amount() {
        let p = Matrix::from_rows(&[[1.0, 0.0]]).unwrap();
        assert!((loss(&[1], &p).unwrap() + f64::EPSILON.ln()).abs() < 1e-9);
    }

    #[test]
    fn a_column_for_each_class_is_needed_and_shares_only() {
        let three = Matrix::from_rows(&[[0.2, 0.3, 0.5]]).unwrap();
        assert_eq!(loss(&[1], &three).unwrap_err().code(), Code::Shape);
        let above = Matrix::from_rows(&[[-0.2, 1.2]]).unwrap();
        assert_eq!(loss(&[1], &above).unwrap_err().code(), Code::Parse);
    }
}
