//! Cross-entropy from scores, with weights of classes, and the multinomial deviance.
//!
//! The loss of a row of class c is α_c (ln Σ_k exp s_k - s_c), computed from the scores without forming
//! probabilities; its slope by the scores is α_c (softmax(s) - e_c). One column of scores is the log odds
//! of the second class: the scores of the first are 0. From probabilities it is -α_c ln p_c with p clipped
//! to [10⁻¹⁵, 1]. The deviance is -2 Σ w ln p of the actual class.

use super::{position, weight_of};
use learnt_core::prelude::*;
use learnt_core::stats::special::log_sum_exp;

/// Least probability that is told from 0.
const LEAST: f64 = 1e-15;

/// Classes and scores or probabilities.
#[derive(Inputs, Clone, Copy)]
pub struct ClassesAndScores<'a> {
    /// The actual class of each row.
    pub y_true: Classes<'a>,
    /// Scores or probabilities: one column a class in sorted order, or one for the second of two.
    pub y_score: MatRef<'a>,
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
}

/// Cross-entropy of scores or probabilities: its mean, the loss of each row and its slopes.
#[derive(Params, Clone, Debug)]
pub struct CrossEntropy {
    /// Whether the columns are probabilities; otherwise scores whose softmax they are.
    #[param(default = false)]
    pub probabilities: bool,
    /// The factor of each class, in sorted order; 1 for all by default.
    pub class_weight: Option<Vec<f64>>,
    /// All classes, where some do not occur; those that occur by default.
    pub labels: Option<Vec<Value>>,
}

/// Losses with their slopes.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct Entropies {
    /// The mean over rows.
    pub mean: f64,
    /// The loss of each row.
    pub loss: Vec<f64>,
    /// Derivatives of each row's loss by its scores or probabilities, in the shape they were given.
    pub slope: Matrix,
}

impl Function for CrossEntropy {
    type Inputs<'a> = ClassesAndScores<'a>;
    type Output = Entropies;
    const ABOUT: &'static Callable = &Callable::new("metrics.cross_entropy", FunctionKind::Metric);

    fn call(&self, given: ClassesAndScores, _run: &Context) -> Result<Entropies> {
        let places = class_columns(&given, self.labels.as_deref())?;
        let columns = given.y_score.ncols();
        let classes = columns.max(2);
        let factors = match &self.class_weight {
            None => vec![1.0; classes],
            Some(given) if given.len() == classes && given.iter().all(|a| *a >= 0.0) => {
                given.clone()
            }
            Some(given) => {
                let expected = format!("{classes} numbers >= 0, one for each class");
                return Err(Error::parameter("class_weight", expected, format!("{given:?}")));
            }
        };
        let n = given.y_true.codes.len();
        let mut loss = Vec::with_capacity(n);
        let mut slope = Matrix::zeros(n, columns);
        let mut row = vec![0.0; columns];
        for i in 0..n {
            given.y_score.copy_row(i, &mut row);
            let class = places[given.y_true.codes[i] as usize];
            let (value, slopes) = match self.probabilities {
                true => of_probabilities(&row, class, i)?,
                false => of_scores(&row, class),
            };
            loss.push(factors[class] * value);
            for (cell, s) in slope.row_mut(i).iter_mut().zip(slopes) {
                *cell = factors[class] * s;
            }
        }
        let mean = super::weighted_mean(&loss, given.sample_weight);
        Ok(Entropies { mean, loss, slope })
    }
}

/// Loss and slopes of a row of scores.
fn of_scores(scores: &[f64], class: usize) -> (f64, Vec<f64>) {
    if let [second] = scores {
        let sum = log_sum_exp(&[0.0, *second]);
        let own = if class == 1 { *second } else { 0.0 };
        return (sum - own, vec![(second - sum).exp() - f64::from(class == 1)]);
    }
    let sum = log_sum_exp(scores);
    let slope = |(k, s): (usize, &f64)| (s - sum).exp() - f64::from(k == class);
    (sum - scores[class], scores.iter().enumerate().map(slope).collect())
}

/// Loss and slopes of a row of probabilities.
fn of_probabilities(p: &[f64], class: usize, row: usize) -> Result<(f64, Vec<f64>)> {
    if let Some(value) = p.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        let message = format!("the probability {value} of row {} is not in [0, 1]", row + 1);
        return Err(Error::new(Code::Usage, message).row(row as u64 + 1));
    }
    Ok(match p {
        [second] => {
            let (own, sign) = if class == 1 { (*second, -1.0) } else { (1.0 - second, 1.0) };
            let own = own.max(LEAST);
            (-own.ln(), vec![sign / own])
        }
        all => {
            let own = all[class].max(LEAST);
            let slope = |k: usize| if k == class { -1.0 / own } else { 0.0 };
            (-own.ln(), (0..all.len()).map(slope).collect())
        }
    })
}

/// The column of each class that occurs; a single column belongs to the second of two classes.
fn class_columns(given: &ClassesAndScores, labels: Option<&[Value]>) -> Result<Vec<usize>> {
    let columns = given.y_score.ncols().max(2);
    let classes = given.y_true.classes;
    let places = match labels {
        None => (0..classes.len()).collect(),
        Some(labels) => {
            let mut known =
                labels.iter().map(|v| super::class_of("labels", v)).collect::<Result<Vec<_>>>()?;
            known.sort_by(Label::order);
            let place = |class: &Label| {
                position(&known, class).ok_or_else(|| {
                    Error::parameter("labels", "all classes that occur", format!("no '{class}'"))
                })
            };
            classes.iter().map(place).collect::<Result<Vec<_>>>()?
        }
    };
    let known = labels.map_or(classes.len(), <[Value]>::len);
    match known == columns || (labels.is_none() && known == 1) {
        true => Ok(places),
        false => {
            let message = format!("{columns} columns for {known} classes");
            Err(Error::new(Code::Shape, message).hint("name all classes with labels"))
        }
    }
}

/// Classes and probabilities.
#[derive(Inputs, Clone, Copy)]
pub struct ClassesAndProbabilities<'a> {
    /// The actual class of each row.
    pub y_true: Classes<'a>,
    /// Probabilities: one column a class in sorted order, or the one of the second of two classes.
    pub y_pred: MatRef<'a>,
    /// How much each row counts.
    pub sample_weight: Option<&'a [f64]>,
}

/// Multinomial deviance: -2 Σ ln p of the actual class, twice the summed cross-entropy.
#[derive(Params, Clone, Debug)]
pub struct MultinomialDeviance {
    /// Whether to divide by the weight of all rows.
    #[param(default = false)]
    pub normalize: bool,
    /// All classes, where some do not occur; those that occur by default.
    pub labels: Option<Vec<Value>>,
}

impl Function for MultinomialDeviance {
    type Inputs<'a> = ClassesAndProbabilities<'a>;
    type Output = f64;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.multinomial_deviance", FunctionKind::Metric)
            .exempt(&[("scaled weights", "it is a sum over weights")]);

    fn call(&self, given: ClassesAndProbabilities, run: &Context) -> Result<f64> {
        let ClassesAndProbabilities { y_true, y_pred, sample_weight } = given;
        let inner = CrossEntropy {
            probabilities: true,
            labels: self.labels.clone(),
            ..CrossEntropy::default()
        };
        let given = ClassesAndScores { y_true, y_score: y_pred, sample_weight };
        let loss = inner.call(given, run)?.loss;
        let weight = |i: usize| weight_of(sample_weight, i);
        let sum: f64 = loss.iter().enumerate().map(|(i, e)| 2.0 * weight(i) * e).sum();
        let total: f64 = (0..loss.len()).map(weight).sum();
        Ok(if self.normalize { sum / total } else { sum })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes() -> [Label; 3] {
        [1, 2, 3].map(Label::Int)
    }

    fn scores(row: &[f64], code: u32, function: &CrossEntropy) -> Entropies {
        let (classes, codes) = (classes(), [code]);
        let y_true = Classes { codes: &codes, classes: &classes[..row.len().max(2)] };
        let y_score = Matrix::from_rows(&[row]).unwrap();
        let given = ClassesAndScores { y_true, y_score: y_score.view(), sample_weight: None };
        function.compute(given).unwrap()
    }

    #[test]
    fn scores_one_two_three_of_the_third_class() {
        let function = CrossEntropy::default();
        let found = scores(&[1.0, 2.0, 3.0], 2, &function);
        assert!((found.mean - 0.407_606_0).abs() < 1e-7);
        assert!((found.slope.row(0).iter().sum::<f64>()).abs() < 1e-15, "slopes cancel");
        let doubled = CrossEntropy { class_weight: Some(vec![1.0, 1.0, 2.0]), ..function.clone() };
        assert!((scores(&[1.0, 2.0, 3.0], 2, &doubled).mean - 2.0 * found.mean).abs() < 1e-15);
        // Scores that overflow as probabilities are exact as differences.
        assert_eq!(scores(&[1e4, 0.0, 0.0], 1, &function).mean, 1e4);
    }

    #[test]
    fn slopes_are_those_of_differences_and_one_column_is_two() {
        let function = CrossEntropy::default();
        let h = 1e-6;
        let at = |s: f64| scores(&[s], 1, &function).mean;
        let slope = scores(&[0.7], 1, &function).slope[(0, 0)];
        assert!((slope - (at(0.7 + h) - at(0.7 - h)) / (2.0 * h)).abs() < 1e-8);
        assert!((at(0.7) - scores(&[0.0, 0.7], 1, &function).mean).abs() < 1e-15);
        let p = CrossEntropy { probabilities: true, ..CrossEntropy::default() };
        assert!((scores(&[0.25, 0.75], 1, &p).mean + 0.75_f64.ln()).abs() < 1e-15);
        assert_eq!(scores(&[0.25, 0.75], 1, &p).slope.row(0), [0.0, -1.0 / 0.75]);
    }

    #[test]
    fn the_deviance_is_twice_the_summed_cross_entropy() {
        let labels = classes();
        let y_true = Classes { codes: &[0, 2, 1], classes: &labels };
        let p = Matrix::from_rows(&[[0.5, 0.25, 0.25], [0.1, 0.2, 0.7], [0.0, 1.0, 0.0]]).unwrap();
        let given = ClassesAndProbabilities { y_true, y_pred: p.view(), sample_weight: None };
        let found = MultinomialDeviance::default().compute(given).unwrap();
        assert!((found + 2.0 * (0.5_f64.ln() + 0.7_f64.ln())).abs() < 1e-12);
    }
}
