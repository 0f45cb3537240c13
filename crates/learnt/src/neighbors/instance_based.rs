//! Instance-based learning: IB1, IB2 and IB3, a memory of cases and rules for what it keeps.
//!
//! Similarity is -√Σ d², d the difference of numbers over the range of their column in training, 0 or 1
//! for categories, and 1 where a value is missing. A row has the class of the most similar case, the
//! earliest of equals. `ib1` keeps every row. `ib2` keeps a row only if the memory so far misclassifies
//! it. `ib3` also keeps records: of every case at least as similar as the one that decided, how often
//! it would have been right. A case is acceptable if the interval of its accuracy (`z_accept`) lies
//! above that of its class's frequency so far, and is dropped if it lies below (`z_drop`), each interval
//! with its own number; the most similar acceptable case decides, or one of random rank if there is
//! none. Rows are met in their order, and the first is always kept. Intervals are Wilson's by default;
//! Wald's have no width after one success.
//!
//! D. Aha, D. Kibler and M. Albert (1991), Machine Learning 6, 37-66; E. Wilson (1927), JASA 22.

use learnt_core::persist::invalid;
use learnt_core::prelude::*;
use learnt_core::stats::sample::below;

/// Instance-based learning (IB1, IB2, IB3): a memory of cases, the most similar decides.
///
/// Takes categories and missing values. The order of the rows matters for `ib2` and `ib3`.
///
/// ```
/// use learnt::{neighbors::{InstanceBasedClassifier, InstanceRule}, prelude::*};
/// let x = Matrix::column_vector(vec![0.0, 1.0, 2.0, 8.0, 9.0, 10.0]);
/// let data = OwnedDataset::classification(x, &["a", "a", "a", "b", "b", "b"].map(Label::from));
/// let learner = InstanceBasedClassifier { algorithm: InstanceRule::Ib2, ..Default::default() };
/// let model = learner.fit(&data.view())?;
/// assert_eq!(model.cases.as_slice(), [0.0, 8.0]);
/// assert_eq!(model.classify(&data.x.frame())?, [0, 0, 0, 1, 1, 1]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct InstanceBasedClassifier {
    /// Which cases are kept.
    #[param(positional, default = InstanceRule::Ib1, search = set("ib1", "ib2", "ib3"))]
    pub algorithm: InstanceRule,
    /// The intervals of `ib3`.
    #[param(default = AccuracyInterval::Wilson)]
    pub interval: AccuracyInterval,
    /// Half width, in deviations, of the intervals by which `ib3` accepts a case.
    #[param(default = 1.645, range = 0.0..)]
    pub z_accept: f64,
    /// Half width, in deviations, of the intervals by which `ib3` drops a case.
    #[param(default = 1.15, range = 0.0..)]
    pub z_drop: f64,
}

/// Which cases are kept.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum InstanceRule {
    /// Every row.
    Ib1,
    /// Rows that the memory misclassifies.
    Ib2,
    /// The same, less cases whose record is poor; those with a good record decide.
    Ib3,
}

/// The interval of a share.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum AccuracyInterval {
    /// Wilson's score interval.
    Wilson,
    /// The share and its estimated deviation.
    Wald,
}

impl AccuracyInterval {
    /// Both ends of the interval of `hits` among `trials`; the whole range without trials.
    pub fn ends(self, hits: f64, trials: f64, z: f64) -> (f64, f64) {
        if trials <= 0.0 {
            return (0.0, 1.0);
        }
        let p = hits / trials;
        match self {
            AccuracyInterval::Wald => {
                let half = z * (p * (1.0 - p) / trials).sqrt();
                (p - half, p + half)
            }
            AccuracyInterval::Wilson => {
                let square = z * z / trials;
                let middle = p + square / 2.0;
                let half = z * (p * (1.0 - p) / trials + square / (4.0 * trials)).sqrt();
                ((middle - half) / (1.0 + square), (middle + half) / (1.0 + square))
            }
        }
    }
}

/// A fitted [`InstanceBasedClassifier`].
#[derive(Model, Clone, Debug)]
#[model(classifier, validate = validate, report = table)]
pub struct InstanceBasedClassifierModel {
    /// The cases that are kept (n_cases × n_features), in the order in which they were met.
    #[shape(cases, columns)]
    pub cases: Matrix,
    /// Class of each case, as a code.
    #[shape(cases)]
    #[below(classes)]
    pub case_classes: Vec<u32>,
    /// Whether each case decides; where none does, all do.
    #[shape(cases)]
    pub acceptable: Vec<bool>,
    /// Number of rows that were met.
    pub n_samples: u64,
    #[shape(columns)]
    scale: Vec<f64>,
    #[shape(classes)]
    class_counts: Vec<u64>,
}

/// Cases met so far.
struct Memory {
    values: Vec<f64>,
    width: usize,
    codes: Vec<u32>,
    /// Hits and trials of each case.
    records: Vec<(f64, f64)>,
    acceptable: Vec<bool>,
}

impl Memory {
    fn case(&self, i: usize) -> &[f64] {
        &self.values[i * self.width..(i + 1) * self.width]
    }

    fn keep(&mut self, row: &[f64], code: u32) {
        self.values.extend(row);
        self.codes.push(code);
        self.records.push((0.0, 0.0));
        self.acceptable.push(false);
    }

    /// Keeps the cases that are not marked.
    fn drop_marked(&mut self, marked: &[bool]) {
        let width = self.width;
        let mut place = 0;
        for i in (0..self.codes.len()).filter(|&i| !marked.get(i).copied().unwrap_or(false)) {
            self.values.copy_within(i * width..(i + 1) * width, place * width);
            self.codes[place] = self.codes[i];
            self.records[place] = self.records[i];
            self.acceptable[place] = self.acceptable[i];
            place += 1;
        }
        self.values.truncate(place * width);
        self.codes.truncate(place);
        self.records.truncate(place);
        self.acceptable.truncate(place);
    }
}

/// The squared difference of two rows: `scale` is one over the range of a column, or negative for
/// categories.
fn difference(a: &[f64], b: &[f64], scale: &[f64]) -> f64 {
    let one = |((a, b), scale): ((&f64, &f64), &f64)| {
        let apart = match (a.is_nan() || b.is_nan(), *scale < 0.0) {
            (true, _) => 1.0,
            (false, true) => f64::from(u8::from(a != b)),
            (false, false) => (a - b) * scale,
        };
        apart * apart
    };
    a.iter().zip(b).zip(scale).map(one).sum()
}

/// One over the range of each column; 0 for constant ones and -1 for categories.
fn scales(x: &Frame) -> Result<Vec<f64>> {
    let scale = |j: usize| {
        if x.schema().column(j).levels().is_some() {
            return Ok(-1.0);
        }
        let column = x.values().column(j);
        let known = || column.iter().copied().filter(|value| !value.is_nan());
        let range =
            known().fold(f64::NEG_INFINITY, f64::max) - known().fold(f64::INFINITY, f64::min);
        match range {
            range if range > 0.0 && range.is_finite() => Ok(range.recip().min(f64::MAX)),
            range if range == f64::INFINITY => {
                Err(Error::numeric("the range of a column overflows: its values are too large"))
            }
            _ => Ok(0.0),
        }
    };
    (0..x.ncols()).map(scale).collect()
}

impl Estimator for InstanceBasedClassifier {
    type Model = InstanceBasedClassifierModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("neighbors.InstanceBasedClassifier")
        .alias(&["instance-based", "ibl"])
        .decision_scores()
        .without_probabilities()
        .missing()
        .categories()
        .randomness()
        .threads()
        .rows_stored()
        .only_by_name()
        .complexity(45)
        .cost("n p time for ib1, n p times the cases kept for ib2 and ib3; p memory a case")
        .reference("Aha, Kibler and Albert (1991), Machine Learning 6, 37-66")
        .exempt(&[("seeds_differ", "only ib3 draws, and only while no case is acceptable")]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<InstanceBasedClassifierModel> {
        let (codes, classes) = data.class_target()?;
        let x = &data.x;
        let (n, width) = (x.nrows(), x.ncols());
        run.claim((n * (8 * width + 32)) as u64, "the cases")?;
        let scale = scales(x)?;
        let mut class_counts = vec![0_u64; classes.len()];
        let mut memory = Memory {
            values: Vec::new(),
            width,
            codes: Vec::new(),
            records: Vec::new(),
            acceptable: Vec::new(),
        };
        let mut row = vec![0.0; width];
        let mut rng = run.rng(0x6962_3131);
        for (i, &code) in codes.iter().enumerate() {
            if i % 256 == 0 {
                run.checkpoint()?;
            }
            x.values().copy_row(i, &mut row);
            class_counts[code as usize] += 1;
            match self.algorithm {
                _ if memory.codes.is_empty() => memory.keep(&row, code),
                InstanceRule::Ib1 => memory.keep(&row, code),
                InstanceRule::Ib2 => {
                    let nearest = nearest(&memory, &row, &scale, |_| true);
                    if nearest.is_some_and(|case| memory.codes[case] != code) {
                        memory.keep(&row, code);
                    }
                }
                InstanceRule::Ib3 => {
                    let draw = |count: usize| below(&mut rng, count as u64) as usize;
                    self.meet(&mut memory, &row, code, &scale, &class_counts, draw);
                }
            }
        }
        let cases = memory.codes.len();
        let acceptable = match self.algorithm {
            InstanceRule::Ib3 => memory.acceptable,
            _ => vec![true; cases],
        };
        Ok(InstanceBasedClassifierModel {
            cases: Matrix::from_vec(cases, width, memory.values)?,
            case_classes: memory.codes,
            acceptable,
            n_samples: n as u64,
            scale,
            class_counts,
        })
    }
}

/// The most similar case among some, the earliest of equals.
fn nearest(
    memory: &Memory,
    row: &[f64],
    scale: &[f64],
    allowed: impl Fn(usize) -> bool,
) -> Option<usize> {
    let mut best: Option<(f64, usize)> = None;
    for i in (0..memory.codes.len()).filter(|&i| allowed(i)) {
        let apart = difference(memory.case(i), row, scale);
        if best.is_none_or(|(least, _)| apart < least) {
            best = Some((apart, i));
        }
    }
    best.map(|(_, i)| i)
}

impl InstanceBasedClassifier {
    /// A step of `ib3`.
    fn meet(
        &self,
        memory: &mut Memory,
        row: &[f64],
        code: u32,
        scale: &[f64],
        class_counts: &[u64],
        mut draw: impl FnMut(usize) -> usize,
    ) {
        let count = memory.codes.len();
        let apart: Vec<f64> = (0..count).map(|i| difference(memory.case(i), row, scale)).collect();
        let accepted = (0..count).filter(|&i| memory.acceptable[i]);
        let best = accepted.reduce(|best, i| if apart[i] < apart[best] { i } else { best });
        let decides = best.unwrap_or_else(|| {
            let mut order: Vec<usize> = (0..count).collect();
            order.sort_by(|&a, &b| apart[a].total_cmp(&apart[b]).then(a.cmp(&b)));
            order[draw(count)]
        });
        let wrong = memory.codes[decides] != code;
        let reach = apart[decides];
        let met: u64 = class_counts.iter().sum();
        let mut poor = vec![false; count];
        for i in (0..count).filter(|&i| apart[i] <= reach) {
            let own = memory.codes[i];
            let record = &mut memory.records[i];
            record.0 += f64::from(u8::from(own == code));
            record.1 += 1.0;
            let class = (class_counts[own as usize] as f64, met as f64);
            memory.acceptable[i] = self.accepts(*record, class);
            poor[i] = self.drops(*record, class);
        }
        if wrong {
            memory.keep(row, code);
        }
        if poor.contains(&true) {
            memory.drop_marked(&poor);
            if memory.codes.is_empty() {
                memory.keep(row, code);
            }
        }
    }

    /// Whether a record of (hits, trials) lies above the frequency of its class.
    pub fn accepts(&self, record: (f64, f64), class: (f64, f64)) -> bool {
        let (low, _) = self.interval.ends(record.0, record.1, self.z_accept);
        let (_, high) = self.interval.ends(class.0, class.1, self.z_accept);
        low > high
    }

    /// Whether a record of (hits, trials) lies below the frequency of its class.
    pub fn drops(&self, record: (f64, f64), class: (f64, f64)) -> bool {
        let (_, high) = self.interval.ends(record.0, record.1, self.z_drop);
        let (low, _) = self.interval.ends(class.0, class.1, self.z_drop);
        high < low
    }
}

impl InstanceBasedClassifierModel {
    fn validate(&self) -> Result<()> {
        let infinite = self.cases.as_slice().iter().any(|value| value.is_infinite());
        match self.cases.nrows() > 0 && !infinite && self.scale.iter().all(|s| s.is_finite()) {
            true => Ok(()),
            false => Err(invalid("cases that are none")),
        }
    }

    fn table(&self, names: &Names) -> Answer {
        let mut table = Columns::new("Cases", &["class", "rows", "kept", "acceptable"]);
        for (code, &rows) in self.class_counts.iter().enumerate() {
            let own = |i: &usize| self.case_classes[*i] as usize == code;
            let kept = (0..self.case_classes.len()).filter(own).count();
            let good =
                (0..self.acceptable.len()).filter(own).filter(|&i| self.acceptable[i]).count();
            let name = names.classes.get(code).map_or_else(String::new, ToString::to_string);
            table.push(vec![
                Cell::Text(name),
                Cell::Count(rows as i64),
                Cell::Count(kept as i64),
                Cell::Count(good as i64),
            ]);
        }
        let mut answer = Answer::new("Instance-based learning");
        answer.tables.push(table);
        answer
    }
}

impl InstanceBasedClassifierModel {
    /// Calls `f` with the differences of each row from all cases that decide, in pieces on all threads.
    fn each_row<T: Send + Clone + Default>(
        &self,
        x: &Frame,
        run: &Context,
        f: impl Fn(&[(usize, f64)]) -> T + Sync,
    ) -> Result<Vec<T>> {
        let width = self.cases.ncols();
        if x.ncols() != width {
            let expected = format!("{width} columns as in training");
            return Err(Error::shape("x", expected, format!("{} columns", x.ncols())));
        }
        run.checkpoint()?;
        let any = self.acceptable.contains(&true);
        let deciding: Vec<usize> =
            (0..self.acceptable.len()).filter(|&i| self.acceptable[i] || !any).collect();
        let mut out = vec![T::default(); x.nrows()];
        run.par_fill(&mut out, 256, |start, piece| {
            let mut row = vec![0.0; width];
            for (k, out) in piece.iter_mut().enumerate() {
                x.values().copy_row(start + k, &mut row);
                let apart =
                    |&case: &usize| (case, difference(self.cases.row(case), &row, &self.scale));
                *out = f(&deciding.iter().map(apart).collect::<Vec<_>>());
            }
        });
        Ok(out)
    }

    /// The class of the most similar case, the earliest of equals.
    fn class_of_nearest(&self, apart: &[(usize, f64)]) -> u32 {
        let nearest = apart.iter().reduce(|best, one| if one.1 < best.1 { one } else { best });
        nearest.map_or(0, |&(case, _)| self.case_classes[case])
    }
}

impl Classifier for InstanceBasedClassifierModel {
    fn classify_in(&self, x: &Frame, run: &Context) -> Result<Vec<u32>> {
        self.each_row(x, run, |apart| self.class_of_nearest(apart))
    }

    /// How much more similar: for two classes to a case of the second than of the first, else the
    /// distances less than zero. A class without cases is one farther than the farthest; of equals the
    /// class of the earliest case is a little nearer.
    fn decision_scores_in(&self, x: &Frame, run: &Context) -> Result<Matrix> {
        let classes = self.class_counts.len();
        let rows = self.each_row(x, run, |apart| {
            let mut nearest = vec![f64::INFINITY; classes];
            for &(case, square) in apart {
                let own = &mut nearest[self.case_classes[case] as usize];
                *own = own.min(square.sqrt());
            }
            let farthest = nearest.iter().copied().filter(|d| d.is_finite()).fold(0.0, f64::max);
            nearest.iter_mut().for_each(|d| *d = d.min(farthest + 1.0));
            let chosen = &mut nearest[self.class_of_nearest(apart) as usize];
            *chosen = chosen.next_down();
            nearest
        })?;
        Ok(match classes {
            2 => Matrix::from_fn(rows.len(), 1, |i, _| rows[i][0] - rows[i][1]),
            _ => Matrix::from_fn(rows.len(), classes, |i, k| -rows[i][k]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::stats::sample::uniform;

    /// Uniform points of the unit square, class x + y > 1, some labels flipped.
    fn square(rows: usize, noise: f64, run: &Context) -> OwnedDataset {
        let mut rng = run.rng(5);
        let x = Matrix::from_fn(rows, 2, |_, _| uniform(&mut rng));
        let labels: Vec<Label> = x
            .rows()
            .map(|row| {
                let above = row[0] + row[1] > 1.0;
                Label::Bool(above != (uniform(&mut rng) < noise))
            })
            .collect();
        OwnedDataset::classification(x, &labels)
    }

    /// Mean accuracy on clean rows, and cases that decide, over 20 draws.
    fn study(algorithm: InstanceRule, interval: AccuracyInterval, noise: f64) -> (f64, f64) {
        let (mut right, mut stored) = (0.0, 0.0);
        for draw in 0..20 {
            let run = Context::default().child(draw);
            let train = square(400, noise, &run);
            let test = square(300, 0.0, &run.child(1));
            let learner = InstanceBasedClassifier { algorithm, interval, ..Default::default() };
            let model = learner.fit_in(&train.view(), &run).unwrap();
            let said = model.classify(&test.x.frame()).unwrap();
            let view = test.view();
            let (codes, _) = view.class_target().unwrap();
            right += said.iter().zip(codes).filter(|(a, b)| a == b).count() as f64 / 300.0 / 20.0;
            stored += model.acceptable.iter().filter(|good| **good).count() as f64 / 20.0;
        }
        (right, stored)
    }

    #[test]
    fn ib2_keeps_little_and_suffers_from_noise_and_ib3_tolerates_it() {
        use AccuracyInterval::{Wald, Wilson};
        use InstanceRule::{Ib1, Ib2, Ib3};
        // Accuracy and cases that a simulation of the published rules gave, as ranges.
        let expected = [
            (0.0, Ib1, Wilson, [0.947, 1.0, 300.0, 520.0]),
            (0.0, Ib2, Wilson, [0.935, 0.996, 20.2, 35.1]),
            (0.0, Ib3, Wald, [0.920, 0.981, 17.3, 30.1]),
            (0.0, Ib3, Wilson, [0.904, 0.965, 19.4, 33.8]),
            (0.1, Ib1, Wilson, [0.852, 0.913, 300.0, 520.0]),
            (0.1, Ib2, Wilson, [0.738, 0.799, 84.0, 145.6]),
            (0.1, Ib3, Wald, [0.888, 0.949, 17.1, 29.8]),
            (0.1, Ib3, Wilson, [0.9, 0.96, 18.0, 31.3]),
            (0.2, Ib1, Wilson, [0.767, 0.828, 300.0, 520.0]),
            (0.2, Ib2, Wilson, [0.662, 0.723, 115.7, 200.7]),
            (0.2, Ib3, Wald, [0.842, 0.903, 15.9, 27.7]),
            (0.2, Ib3, Wilson, [0.891, 0.952, 15.0, 26.0]),
        ];
        for (noise, rule, interval, range) in expected {
            let (accuracy, stored) = study(rule, interval, noise);
            let inside = accuracy >= range[0] && accuracy <= range[1];
            assert!(inside, "{noise} {rule:?} {interval:?}: accuracy {accuracy}, {range:?}");
            let inside = stored >= range[2] && stored <= range[3];
            assert!(inside, "{noise} {rule:?} {interval:?}: {stored} cases, {range:?}");
        }
    }

    #[test]
    fn records_are_accepted_and_dropped_as_their_intervals_say() {
        let wald =
            InstanceBasedClassifier { interval: AccuracyInterval::Wald, ..Default::default() };
        let (low, _) = AccuracyInterval::Wald.ends(9.0, 10.0, 1.645);
        let (_, high) = AccuracyInterval::Wald.ends(40.0, 100.0, 1.645);
        assert!((low - 0.743_941_597).abs() < 1e-6 && (high - 0.480_588_213).abs() < 1e-6);
        assert!(wald.accepts((9.0, 10.0), (40.0, 100.0)), "ib3-acceptance-wald");
        assert!(!wald.drops((2.0, 10.0), (40.0, 100.0)), "ib3-acceptance-wald");
        let run_length = |learner: &InstanceBasedClassifier, hit: bool| {
            (1..50).find(|&n| {
                let record = (if hit { f64::from(n) } else { 0.0 }, f64::from(n));
                let class = (50.0, 100.0);
                if hit { learner.accepts(record, class) } else { learner.drops(record, class) }
            })
        };
        let wilson = InstanceBasedClassifier::default();
        for (learner, runs) in [(&wald, (Some(1), Some(1))), (&wilson, (Some(4), Some(2)))] {
            let found = (run_length(learner, true), run_length(learner, false));
            assert_eq!(found, runs, "ib3-degenerate-interval");
        }
    }

    #[test]
    fn categories_count_as_one_and_missing_values_are_far() {
        let schema = Schema::new(vec![
            Column::categorical("colour", vec!["red".into(), "blue".into()]),
            Column::numeric("size"),
        ])
        .unwrap();
        let x = Matrix::from_rows(&[[0.0, 0.0], [1.0, 10.0], [0.0, f64::NAN]]).unwrap();
        let x = Table::new(x, schema).unwrap();
        let classes =
            OwnedDataset::classification(Matrix::zeros(3, 1), &["a", "b", "c"].map(Label::from));
        let data = OwnedDataset { x, ..classes };
        let model = InstanceBasedClassifier::default().fit(&data.view()).unwrap();
        let query = Matrix::from_rows(&[[0.0, 2.0], [1.0, 6.0], [0.0, 9.9]]).unwrap();
        let query = Table::new(query, data.x.schema().clone()).unwrap();
        // The last: 0.99 from the first case, √(1 + 0.01²) from the second, 1 from the third.
        assert_eq!(model.classify(&query.frame()).unwrap(), [0, 1, 0]);
        let scores = model.decision_scores_in(&query.frame(), &Context::default()).unwrap();
        assert!((scores[(2, 0)] + 0.99).abs() < 1e-12 && (scores[(2, 2)] + 1.0).abs() < 1e-12);
    }
}
