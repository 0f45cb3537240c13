//! The ROC curve and the area under it.
//!
//! True positive rate TP / (TP + FN) against false positive rate FP / (FP + TN) as the threshold falls.
//! The area by trapezoids is P(s⁺ > s⁻) + P(s⁺ = s⁻) / 2. Several classes: each against the rest, or mean
//! over pairs of classes of the two areas among their rows (Hand and Till, 2001). A partial area up to a
//! false positive rate is rescaled to [0.5, 1] (McClish, 1989).
//!
//! Reference: Fawcett (2006), An introduction to ROC analysis.

use super::precision_recall::Average;
use super::ranking::{Steps, column_of};
use super::{Ranked, Score, class_of, position, weighted_mean};
use crate::charts::classification::{self, Curve};
use learnt_core::chart::Chart;
use learnt_core::function::{Scorer, Task};
use learnt_core::prelude::*;

/// ROC curve: true against false positive rate over all thresholds.
#[derive(Params, Clone, Debug)]
pub struct RocCurve {
    /// The positive class of two; 1 by default.
    pub pos_label: Option<Value>,
    /// Whether to leave out points on straight lines between others.
    #[param(default = true)]
    pub drop_intermediate: bool,
}

/// Points of the ROC curve.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct RocPoints {
    /// False positive rates, rising from 0 to 1.
    pub fpr: Vec<f64>,
    /// True positive rates.
    pub tpr: Vec<f64>,
    /// Thresholds, falling; infinite first, for nothing called positive.
    pub thresholds: Vec<f64>,
}

impl Function for RocCurve {
    type Inputs<'a> = Ranked<'a>;
    type Output = RocPoints;
    const ABOUT: &'static Callable =
        &Callable::new("metrics.roc_curve", FunctionKind::Metric).reference("Fawcett (2006)");

    fn call(&self, given: Ranked, run: &Context) -> Result<RocPoints> {
        let steps = Steps::of_two(&given, self.pos_label.as_ref(), run)?;
        let (hits, misses) = steps.both_classes("the ROC curve", run)?;
        let (t, f) = (&steps.true_positives, &steps.false_positives);
        let n = t.len();
        let bends = |k: usize| {
            let bend = |v: &[f64]| v[k + 1] - v[k] != v[k] - v[k - 1];
            bend(t) || bend(f)
        };
        let kept: Vec<usize> = (0..n)
            .filter(|&k| !self.drop_intermediate || k == 0 || k + 1 == n || bends(k))
            .collect();
        let rates = |counts: &[f64], total: f64| -> Vec<f64> {
            // 0 / 0 where there are no such rows, which a lenient run lets pass.
            let first = if total > 0.0 { 0.0 } else { f64::NAN };
            std::iter::once(first).chain(kept.iter().map(|&k| counts[k] / total)).collect()
        };
        let thresholds =
            std::iter::once(f64::INFINITY).chain(kept.iter().map(|&k| steps.thresholds[k]));
        Ok(RocPoints {
            fpr: rates(f, misses),
            tpr: rates(t, hits),
            thresholds: thresholds.collect(),
        })
    }

    fn chart(&self, found: &RocPoints) -> Option<Chart> {
        let curve = Curve {
            class: String::new(),
            x: found.fpr.clone(),
            y: found.tpr.clone(),
            sum: trapezoids(&found.fpr, &found.tpr),
        };
        Some(classification::roc(&[curve]))
    }
}

/// Area under a curve by trapezoids.
#[derive(Params, Clone, Debug)]
pub struct Auc {}

/// Points of a curve.
#[derive(Inputs, Clone, Copy)]
pub struct CurvePoints<'a> {
    /// Rising or falling numbers.
    pub x: &'a [f64],
    /// The height at each.
    pub y: &'a [f64],
}

impl Function for Auc {
    type Inputs<'a> = CurvePoints<'a>;
    type Output = f64;
    const ABOUT: &'static Callable = &Callable::new("metrics.auc", FunctionKind::Metric);

    fn call(&self, given: CurvePoints, _run: &Context) -> Result<f64> {
        if given.x.len() < 2 {
            return Err(Error::new(Code::TooFew, "an area needs at least two points"));
        }
        let rises = given.x.windows(2).all(|pair| pair[0] <= pair[1]);
        let falls = given.x.windows(2).all(|pair| pair[0] >= pair[1]);
        match (rises, falls) {
            (true, _) => Ok(trapezoids(given.x, given.y)),
            (_, true) => Ok(-trapezoids(given.x, given.y)),
            _ => Err(Error::new(Code::Usage, "x must rise or fall all along")
                .hint("sort the points by x")),
        }
    }
}

fn trapezoids(x: &[f64], y: &[f64]) -> f64 {
    let pieces = x.windows(2).zip(y.windows(2));
    pieces.map(|(x, y)| (x[1] - x[0]) * (y[0] + y[1]) / 2.0).sum()
}

/// Area under the ROC curve: how often a positive row has a higher score than a negative one.
#[derive(Params, Clone, Debug)]
pub struct RocAucScore {
    /// How the areas of several classes become one.
    #[param(default = Average::Macro)]
    pub average: Average,
    /// Where to end, as a false positive rate; the area up to there is rescaled.
    #[param(above = 0.0, range = ..=1.0)]
    pub max_fpr: Option<f64>,
    /// What several classes mean.
    #[param(default = MultiClass::Raise)]
    pub multi_class: MultiClass,
    /// The classes in the order of the columns of several; sorted by default.
    pub labels: Option<Vec<Value>>,
}

/// What several classes mean.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub enum MultiClass {
    /// An error.
    Raise,
    /// Each class against the rest.
    Ovr,
    /// Each class against each other.
    Ovo,
}

impl Function for RocAucScore {
    type Inputs<'a> = Ranked<'a>;
    type Output = Score;
    const ABOUT: &'static Callable = &Callable::new("metrics.roc_auc_score", FunctionKind::Metric)
        .reference("Fawcett (2006); Hand and Till (2001)")
        .threads()
        .scores(&[Scorer::higher(
            "auc",
            Task::Classification,
            "Area under the ROC curve; mean over each class against the rest if there are several.",
        )
        .alias(&["roc-auc", "roc-auc-ovr"])
        .set(&[("multi_class", "ovr")])]);

    fn call(&self, given: Ranked, run: &Context) -> Result<Score> {
        let classes = given.y_true.classes.len();
        let columns = given.y_score.ncols();
        if classes <= 2 && columns <= 2 {
            let codes = given.y_true.codes;
            let scores = column_of(given.y_score, columns - 1);
            // The second class is positive; rows of one class alone count as neither.
            let positive = |i: usize| codes[i] == 1;
            let steps = Steps::new(positive, &scores, given.sample_weight, run);
            return self.area(&steps, run).map(Score::One);
        }
        if self.max_fpr.is_some_and(|rate| rate < 1.0) {
            return Err(Error::parameter("max_fpr", "1 or None for several classes", "less"));
        }
        let places = self.places(&given)?;
        match self.multi_class {
            MultiClass::Raise => Err(Error::new(Code::Usage, "there are several classes")
                .hint("choose multi_class: ovr or ovo")),
            MultiClass::Ovr => self.one_against_rest(&given, &places, run),
            MultiClass::Ovo => self.one_against_one(&given, &places, run),
        }
    }
}

impl RocAucScore {
    fn area(&self, steps: &Steps, run: &Context) -> Result<f64> {
        let (hits, misses) = steps.both_classes("auc", run)?;
        if hits * misses == 0.0 {
            return Ok(f64::NAN);
        }
        match self.max_fpr {
            Some(rate) if rate < 1.0 => Ok(partial_area(steps, hits, misses, rate)),
            _ => Ok(steps.area() / hits / misses),
        }
    }

    /// The code of the class of each column.
    fn places(&self, given: &Ranked) -> Result<Vec<Option<usize>>> {
        let classes = given.y_true.classes;
        let places = match &self.labels {
            None => (0..classes.len()).map(Some).collect(),
            Some(labels) => labels
                .iter()
                .map(|value| Ok(position(classes, &class_of("labels", value)?)))
                .collect::<Result<Vec<_>>>()?,
        };
        if self.labels.is_some() {
            check_labels(&places, given)?;
        }
        match places.len() == given.y_score.ncols() {
            true => Ok(places),
            false => {
                let expected = format!("{} columns, one a class", places.len());
                Err(Error::shape("y_score", expected, given.y_score.ncols()))
            }
        }
    }

    fn one_against_rest(
        &self,
        given: &Ranked,
        places: &[Option<usize>],
        run: &Context,
    ) -> Result<Score> {
        one_against_rest(self.average, given, places, run, |steps| self.area(steps, run))
    }

    fn one_against_one(
        &self,
        given: &Ranked,
        places: &[Option<usize>],
        run: &Context,
    ) -> Result<Score> {
        if given.sample_weight.is_some() {
            return Err(Error::unsupported("pairs of classes take no weights"));
        }
        let codes = given.y_true.codes;
        let rows_of = |place: Option<usize>| -> Vec<usize> {
            (0..codes.len()).filter(|&i| place == Some(codes[i] as usize)).collect()
        };
        let rows: Vec<Vec<usize>> = places.iter().map(|&place| rows_of(place)).collect();
        let (mut areas, mut sizes) = (Vec::new(), Vec::new());
        for a in 0..places.len() {
            for b in a + 1..places.len() {
                let both: Vec<usize> = rows[a].iter().chain(&rows[b]).copied().collect();
                let one = |own: usize| {
                    let scores: Vec<f64> = both.iter().map(|&i| given.y_score.at(i, own)).collect();
                    let positive = |k: usize| places[own] == Some(codes[both[k]] as usize);
                    self.area(&Steps::new(positive, &scores, None, run), run)
                };
                areas.push((one(a)? + one(b)?) / 2.0);
                sizes.push(both.len() as f64);
            }
        }
        match self.average {
            Average::Macro => Ok(Score::One(weighted_mean(&areas, None))),
            Average::Weighted => Ok(Score::One(weighted_mean(&areas, Some(&sizes)))),
            _ => Err(Error::parameter("average", "macro or weighted for pairs", self.average)),
        }
    }
}

/// Refuses labels that are named twice, and rows of classes that none of them names.
fn check_labels(places: &[Option<usize>], given: &Ranked) -> Result<()> {
    let classes = given.y_true.classes;
    let mut columns = vec![0_usize; classes.len()];
    places.iter().flatten().for_each(|&place| columns[place] += 1);
    if let Some(twice) = columns.iter().position(|&count| count > 1) {
        return Err(Error::parameter("labels", "each class once", classes[twice].to_string()));
    }
    match given.y_true.codes.iter().find(|&&code| columns[code as usize] == 0) {
        None => Ok(()),
        Some(&code) => {
            let missing = format!("none for class '{}', which rows have", classes[code as usize]);
            Err(Error::parameter("labels", "a column for every class of `y_true`", missing))
        }
    }
}

/// A score of each class against the rest, one column a class, and the average of these.
pub(super) fn one_against_rest(
    average: Average,
    given: &Ranked,
    places: &[Option<usize>],
    run: &Context,
    score: impl Fn(&Steps) -> Result<f64>,
) -> Result<Score> {
    let (codes, weights) = (given.y_true.codes, given.sample_weight);
    if average == Average::Micro {
        let (n, k) = (codes.len(), places.len());
        let all: Vec<f64> = (0..n * k).map(|cell| given.y_score.at(cell / k, cell % k)).collect();
        let positive = |cell: usize| places[cell % k] == Some(codes[cell / k] as usize);
        let repeated: Option<Vec<f64>> =
            weights.map(|weights| (0..n * k).map(|cell| weights[cell / k]).collect());
        return score(&Steps::new(positive, &all, repeated.as_deref(), run)).map(Score::One);
    }
    let mut scores = Vec::with_capacity(places.len());
    let mut sizes = Vec::with_capacity(places.len());
    for (j, &place) in places.iter().enumerate() {
        let positive = |i: usize| place == Some(codes[i] as usize);
        let steps = Steps::new(positive, &column_of(given.y_score, j), weights, run);
        scores.push(score(&steps)?);
        sizes.push(steps.totals().0);
    }
    Ok(match average {
        Average::Each => Score::Each(scores),
        Average::Weighted => Score::One(weighted_mean(&scores, Some(&sizes))),
        _ => Score::One(weighted_mean(&scores, None)),
    })
}

/// The area up to a false positive rate, from 0.5 for chance to 1.
fn partial_area(steps: &Steps, hits: f64, misses: f64, limit: f64) -> f64 {
    let (mut area, mut last) = (0.0, (0.0, 0.0));
    for (t, f) in steps.true_positives.iter().zip(&steps.false_positives) {
        let (x, y) = (f / misses, t / hits);
        if x > limit {
            let height = last.1 + (y - last.1) * (limit - last.0) / (x - last.0);
            area += (limit - last.0) * (last.1 + height) / 2.0;
            break;
        }
        area += (x - last.0) * (y + last.1) / 2.0;
        last = (x, y);
    }
    let least = 0.5 * limit * limit;
    0.5 * (1.0 + (area - least) / (limit - least))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_class_has_no_area() {
        let classes = [0, 1].map(Label::Int);
        let y_true = Classes { codes: &[1, 1], classes: &classes };
        let scores = Matrix::column_vector(vec![1.0, 2.0]);
        let given = Ranked { y_true, y_score: scores.view(), sample_weight: None };
        let error = RocAucScore::default().compute(given).unwrap_err();
        assert_eq!(error.code(), Code::Undefined);
        let lenient = Context::default().lenient();
        let found = RocAucScore::default().compute_in(given, &lenient).unwrap();
        assert!(found.one().unwrap().is_nan());
    }

    #[test]
    fn points_on_a_line_are_left_out() {
        let classes = [0, 1].map(Label::Int);
        let y_true = Classes { codes: &[1, 1, 1, 0, 0], classes: &classes };
        let scores = Matrix::column_vector(vec![5.0, 4.0, 3.0, 2.0, 1.0]);
        let given = Ranked { y_true, y_score: scores.view(), sample_weight: None };
        let found = RocCurve::default().compute(given).unwrap();
        assert_eq!(found.thresholds, [f64::INFINITY, 5.0, 3.0, 1.0]);
        let all = RocCurve { drop_intermediate: false, ..Default::default() };
        assert_eq!(all.compute(given).unwrap().fpr.len(), 6);
    }
}
