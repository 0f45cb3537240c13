//! One pass over rows for a logistic likelihood: value, gradient, and second derivatives.
//!
//! Parameters are one row of weights u_k for every class but the first, whose score is 0; the
//! intercept, if there is one, is the last column of z = (x, 1). With s_k = u_k · z and
//! p = softmax(0, s):  value Σ w (ln Σ exp s_k - s_y),  gradient Σ w (p_k - [y = k]) z,  Hessian
//! blocks Σ w p_k ([k = l] - p_l) z z'. Rows are copied in chunks that fit the cache, in one memory
//! order, so that the layout of the input changes no bit.

pub(crate) mod geometry;
pub(crate) mod inference;
pub(crate) mod kernels;
pub(crate) mod proximal;

use super::logistic_wide::KeptRows;
use kernels::{add_gradient, many_classes, padded, scores, two_classes};
use learnt_core::linalg::{self, Lines};
use learnt_core::prelude::*;
use std::borrow::Cow;

/// Bytes of a chunk of rows.
const CHUNK: usize = 1 << 16;

/// Which second derivatives a pass computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Stored)]
pub(crate) enum Second {
    /// None.
    Nothing,
    /// Σ w z z'.
    Gram,
    /// The diagonal of Σ w z z'.
    Diagonal,
    /// The blocks (k, l), l <= k, of the Hessian, one below the other.
    Hessian,
    /// Σ w p_k z z' of every class, one below the other.
    Classes,
}

/// Sums over rows.
#[derive(Clone, Debug, Stored)]
pub struct Summary {
    /// Σ w of each class.
    pub(crate) counts: Vec<f64>,
    /// The negative log-likelihood.
    pub(crate) value: f64,
    /// Its gradient, one row for every class but the first.
    pub(crate) gradient: Matrix,
    /// Second derivatives as asked for; of symmetric blocks the lower triangle.
    pub(crate) second: Matrix,
    /// Σ w of the rows that these are of.
    pub(crate) sampled: f64,
    /// The smallest difference between the score of a row's class and the best other.
    pub(crate) least_margin: f64,
    /// Smallest value of each class (row) in each column, if asked for.
    pub(crate) lows: Matrix,
    /// Largest value of each class (row) in each column, if asked for.
    pub(crate) highs: Matrix,
    /// The rows themselves, where they are kept instead of sums.
    pub(in crate::linear) rows: Option<KeptRows>,
}

impl Summary {
    /// Rows that are kept, with the weights of their classes.
    pub(in crate::linear) fn of_rows(rows: KeptRows, classes: usize) -> Summary {
        Summary {
            counts: rows.counts(classes),
            value: 0.0,
            gradient: Matrix::default(),
            second: Matrix::default(),
            sampled: 0.0,
            least_margin: f64::INFINITY,
            lows: Matrix::default(),
            highs: Matrix::default(),
            rows: Some(rows),
        }
    }
}

impl Merge for Summary {
    fn merge(mut self, later: Self) -> Result<Self> {
        let add = |a: &mut [f64], b: &[f64]| a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        add(&mut self.counts, &later.counts);
        add(self.gradient.as_mut_slice(), later.gradient.as_slice());
        add(self.second.as_mut_slice(), later.second.as_slice());
        self.value += later.value;
        self.sampled += later.sampled;
        self.least_margin = self.least_margin.min(later.least_margin);
        for (a, b) in self.lows.as_mut_slice().iter_mut().zip(later.lows.as_slice()) {
            *a = a.min(*b);
        }
        for (a, b) in self.highs.as_mut_slice().iter_mut().zip(later.highs.as_slice()) {
            *a = a.max(*b);
        }
        self.rows = self.rows.merge(later.rows)?;
        Ok(self)
    }
}

/// What to compute, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass<'a> {
    /// Weights, one row for every class but the first.
    pub(crate) weights: &'a Matrix,
    /// Whether the last column of the weights is the intercept.
    pub(crate) intercept: bool,
    /// A factor of the row weights for each class; empty for none.
    pub(crate) factors: &'a [f64],
    /// The second derivatives wanted.
    pub(crate) second: Second,
    /// `Gram` is taken of all chunks of rows at 1, of every second one at 2, and so on..
    pub(crate) every: usize,
    /// The input columns that they are wanted of, if not all; for `Hessian` and `Classes`.
    pub(crate) active: Option<&'a [usize]>,
    /// Whether the ranges of the columns are wanted.
    pub(crate) ranges: bool,
    /// Whether the smallest margin is wanted.
    pub(crate) margins: bool,
    /// What is added to the score of each row, for two classes.
    pub(crate) offsets: Option<&'a [f64]>,
}

/// Buffers for one chunk.
struct Chunk<'a> {
    width: usize,
    z: Lines<f64>,
    weights: Vec<f64>,
    scores: Vec<f64>,
    /// +1 for rows of the second class, -1 for others.
    signs: Vec<f64>,
    codes: &'a [u32],
    /// The smallest margin of the scores without offsets, where there are some.
    own_margin: Option<f64>,
}

impl Chunk<'_> {
    /// Adds offsets to the scores of the second class. Whether rows can be separated is a matter of the scores
    /// without them.
    fn shift(&mut self, offsets: &[f64]) {
        let margins = self.scores.iter().zip(&self.signs).map(|(score, sign)| score * sign);
        self.own_margin = Some(margins.fold(f64::INFINITY, f64::min));
        self.scores.iter_mut().zip(offsets).for_each(|(score, offset)| *score += offset);
    }
}

impl Pass<'_> {
    /// The sums over the rows of a data set.
    pub(crate) fn over(&self, data: &Dataset) -> Result<Summary> {
        let (codes, classes) = data.class_target()?;
        let (others, columns) = (self.weights.nrows(), self.weights.ncols());
        let inputs = columns - usize::from(self.intercept);
        if data.x.ncols() != inputs || classes.len() != others + 1 {
            return Err(Error::internal("a block of another shape than its state"));
        }
        let width = padded(columns);
        let weights = pad(self.weights, width);
        let mut total = self.empty();
        let mut gradient = vec![0.0; others * width];
        let rows = (CHUNK / (8 * width)).clamp(16, 256);
        let mut chunk = Chunk {
            width,
            z: Lines::zeros(0),
            weights: Vec::new(),
            scores: Vec::new(),
            signs: Vec::new(),
            codes: &[],
            own_margin: None,
        };
        for start in (0..data.nrows()).step_by(rows) {
            let end = (start + rows).min(data.nrows());
            self.load(&data.rows(start, end), &codes[start..end], &mut chunk);
            self.count(&chunk, &mut total);
            chunk.scores.resize(others * (end - start), 0.0);
            scores(&chunk.z, &weights, width, &mut chunk.scores);
            if let Some(offsets) = self.offsets {
                chunk.shift(&offsets[start..end]);
            }
            let sampled = (start / rows).is_multiple_of(self.every.max(1));
            self.differentiate(&mut chunk, sampled, &mut total);
            add_gradient(&chunk.z, &chunk.scores, width, &mut gradient);
        }
        for k in 0..others {
            total.gradient.row_mut(k).copy_from_slice(&gradient[k * width..k * width + columns]);
        }
        Ok(total)
    }

    fn empty(&self) -> Summary {
        let (others, columns) = (self.weights.nrows(), self.weights.ncols());
        let inputs = columns - usize::from(self.intercept);
        let active = self.active.map_or(inputs, <[usize]>::len) + columns - inputs;
        let second = match self.second {
            Second::Nothing => Matrix::default(),
            Second::Diagonal => Matrix::zeros(1, columns),
            Second::Gram => Matrix::zeros(columns, columns),
            Second::Hessian => Matrix::zeros(others * (others + 1) / 2 * active, active),
            Second::Classes => Matrix::zeros((others + 1) * active, active),
        };
        let range_rows = if self.ranges { others + 1 } else { 0 };
        Summary {
            counts: vec![0.0; others + 1],
            value: 0.0,
            gradient: Matrix::zeros(others, columns),
            second,
            sampled: 0.0,
            least_margin: f64::INFINITY,
            lows: Matrix::from_fn(range_rows, inputs, |_, _| f64::INFINITY),
            highs: Matrix::from_fn(range_rows, inputs, |_, _| f64::NEG_INFINITY),
            rows: None,
        }
    }

    /// The next rows; padding and intercepts stay where the rows before left them.
    fn load<'a>(&self, data: &Dataset, codes: &'a [u32], chunk: &mut Chunk<'a>) {
        let (inputs, width) = (data.x.ncols(), chunk.width);
        if chunk.z.len() < codes.len() * width {
            chunk.z = Lines::zeros(codes.len() * width);
            if self.intercept {
                chunk.z.iter_mut().skip(inputs).step_by(width).for_each(|z| *z = 1.0);
            }
        }
        chunk.z.truncate(codes.len() * width);
        copy_padded(data.x.values(), &mut chunk.z, width);
        chunk.codes = codes;
        chunk.weights.clear();
        match (data.weights, self.factors.is_empty()) {
            (None, true) => chunk.weights.resize(codes.len(), 1.0),
            _ => {
                let factor = |code: u32| self.factors.get(code as usize).copied().unwrap_or(1.0);
                let weights =
                    codes.iter().enumerate().map(|(i, &code)| data.weight(i) * factor(code));
                chunk.weights.extend(weights);
            }
        }
        if self.weights.nrows() == 1 {
            chunk.signs.clear();
            chunk.signs.extend(codes.iter().map(|&code| 2.0 * f64::from(code) - 1.0));
        }
    }

    fn count(&self, chunk: &Chunk, total: &mut Summary) {
        for (i, &code) in chunk.codes.iter().enumerate() {
            total.counts[code as usize] += chunk.weights[i];
        }
        if !self.ranges {
            return;
        }
        for (row, &code) in chunk.z.chunks_exact(chunk.width).zip(chunk.codes) {
            for (low, z) in total.lows.row_mut(code as usize).iter_mut().zip(row) {
                *low = low.min(*z);
            }
            for (high, z) in total.highs.row_mut(code as usize).iter_mut().zip(row) {
                *high = high.max(*z);
            }
        }
    }

    /// Scores become residuals; value, margins and second derivatives are added to the total.
    fn differentiate(&self, chunk: &mut Chunk, sampled: bool, total: &mut Summary) {
        if sampled {
            total.sampled += chunk.weights.iter().sum::<f64>();
        }
        match self.second {
            Second::Gram if sampled => {
                add_gram(chunk, self.weights.ncols(), total.second.as_mut_slice());
            }
            Second::Diagonal if sampled => add_diagonal(chunk, total.second.as_mut_slice()),
            _ => {}
        }
        if self.weights.nrows() == 1 {
            let (value, margin) = two_classes(&mut chunk.scores, &chunk.signs, &mut chunk.weights);
            total.value += value;
            total.least_margin = total.least_margin.min(chunk.own_margin.unwrap_or(margin));
            if self.second == Second::Hessian {
                let (z, width, columns) = self.narrowed(chunk);
                add_weighted(&z, width, columns, &chunk.weights, total.second.as_mut_slice());
            }
            return;
        }
        if self.margins {
            total.least_margin = total.least_margin.min(least_margin(chunk));
        }
        total.value += many_classes(&mut chunk.scores, chunk.codes, &chunk.weights);
        match self.second {
            Second::Hessian => self.add_blocks(chunk, total.second.as_mut_slice()),
            Second::Classes => self.add_classes(chunk, total.second.as_mut_slice()),
            _ => {}
        }
        residuals_of(chunk);
    }

    /// The active columns of a chunk with the intercept's, the length of its rows, their number.
    fn narrowed<'b>(&self, chunk: &'b Chunk) -> (Cow<'b, [f64]>, usize, usize) {
        let Some(active) = self.active else {
            return (Cow::Borrowed(&chunk.z), chunk.width, self.weights.ncols());
        };
        let columns = active.len() + usize::from(self.intercept);
        let width = padded(columns);
        let mut out = vec![0.0; chunk.codes.len() * width];
        for (out, row) in out.chunks_exact_mut(width).zip(chunk.z.chunks_exact(chunk.width)) {
            out.iter_mut().zip(active).for_each(|(out, &j)| *out = row[j]);
            if self.intercept {
                out[active.len()] = 1.0;
            }
        }
        (Cow::Owned(out), width, columns)
    }

    /// Adds Σ w p_k ([k = l] - p_l) z z' to block (k, l).
    fn add_blocks(&self, chunk: &Chunk, out: &mut [f64]) {
        let (z, width, columns) = self.narrowed(chunk);
        let (others, rows) = (self.weights.nrows(), chunk.codes.len());
        let pairs = (0..others).flat_map(|k| (0..=k).map(move |l| (k, l)));
        let mut scaled = Vec::new();
        for ((k, l), block) in pairs.zip(out.chunks_exact_mut(columns * columns)) {
            scaled.clear();
            scaled.extend_from_slice(&z);
            for (i, row) in scaled.chunks_exact_mut(width).enumerate() {
                let (p, q) = (chunk.scores[k * rows + i], chunk.scores[l * rows + i]);
                let factor = chunk.weights[i] * p * (f64::from(k == l) - q);
                row.iter_mut().for_each(|z| *z *= factor);
            }
            let view = |values| MatRef::strided(values, rows, columns, width, 1);
            if let (Ok(scaled), Ok(z)) = (view(&scaled), view(&z)) {
                linalg::matmul_into(block, true, 1.0, scaled.transposed(), z);
            }
        }
    }

    /// Adds Σ w p_k z z' to the lower triangle of block k.
    fn add_classes(&self, chunk: &Chunk, out: &mut [f64]) {
        let (z, width, columns) = self.narrowed(chunk);
        let rows = chunk.codes.len();
        let mut first = vec![1.0; rows];
        for class in chunk.scores.chunks_exact(rows.max(1)) {
            first.iter_mut().zip(class).for_each(|(first, p)| *first = (*first - p).max(0.0));
        }
        let classes = std::iter::once(&first[..]).chain(chunk.scores.chunks_exact(rows.max(1)));
        for (block, class) in out.chunks_exact_mut(columns * columns).zip(classes) {
            let weights: Vec<f64> = class.iter().zip(&chunk.weights).map(|(p, w)| p * w).collect();
            add_weighted(&z, width, columns, &weights, block);
        }
    }
}

/// Copies the rows of `x` into rows of `width` values.
pub(crate) fn copy_padded(x: MatRef, out: &mut [f64], width: usize) {
    const SHORT: usize = 32;
    if x.col_stride() == 1 && x.ncols() > SHORT {
        for (i, out) in out.chunks_exact_mut(width).enumerate() {
            let Some(row) = x.row_slice(i) else { continue };
            out[..row.len()].copy_from_slice(row);
        }
        return;
    }
    if x.col_stride() == 1 {
        // By fours, because a call for every short row costs more than the copy.
        for (i, out) in out.chunks_exact_mut(width).enumerate() {
            let Some(row) = x.row_slice(i) else { continue };
            let (fours, rest) = row.as_chunks::<4>();
            let (out, out_rest) = out.split_at_mut(4 * fours.len());
            for (out, x) in out.as_chunks_mut::<4>().0.iter_mut().zip(fours) {
                *out = *x;
            }
            for (out, x) in out_rest.iter_mut().zip(rest) {
                *out = *x;
            }
        }
        return;
    }
    for j in 0..x.ncols() {
        for (i, out) in out.iter_mut().skip(j).step_by(width).enumerate() {
            *out = x.at(i, j);
        }
    }
}

/// The rows of a matrix, each padded with zeros.
pub(crate) fn pad(matrix: &Matrix, width: usize) -> Lines<f64> {
    let mut out = Lines::zeros(matrix.nrows() * width);
    copy_padded(matrix.view(), &mut out, width);
    out
}

/// Adds Σ weights z z' to the lower triangle.
fn add_gram(chunk: &Chunk, columns: usize, out: &mut [f64]) {
    add_weighted(&chunk.z, chunk.width, columns, &chunk.weights, out);
}

/// The same for rows of `width` values.
fn add_weighted(z: &[f64], width: usize, columns: usize, weights: &[f64], out: &mut [f64]) {
    let mut scaled = z.to_vec();
    for (row, weight) in scaled.chunks_exact_mut(width).zip(weights) {
        let root = weight.sqrt();
        row.iter_mut().for_each(|z| *z *= root);
    }
    if let Ok(rows) = MatRef::strided(&scaled, weights.len(), columns, width, 1) {
        linalg::add_gram(out, rows);
    }
}

fn add_diagonal(chunk: &Chunk, out: &mut [f64]) {
    for (row, weight) in chunk.z.chunks_exact(chunk.width).zip(&chunk.weights) {
        out.iter_mut().zip(row).for_each(|(out, z)| *out += weight * z * z);
    }
}

/// Probabilities become residuals w (p_k - [y = k]).
fn residuals_of(chunk: &mut Chunk) {
    let rows = chunk.codes.len();
    for (i, &code) in chunk.codes.iter().enumerate() {
        if code > 0 {
            chunk.scores[(code as usize - 1) * rows + i] -= 1.0;
        }
    }
    for class in chunk.scores.chunks_exact_mut(rows.max(1)) {
        class.iter_mut().zip(&chunk.weights).for_each(|(residual, weight)| *residual *= weight);
    }
}

fn least_margin(chunk: &Chunk) -> f64 {
    let rows = chunk.codes.len();
    let others = chunk.scores.len() / rows.max(1);
    let score = |k: usize, i: usize| if k == 0 { 0.0 } else { chunk.scores[(k - 1) * rows + i] };
    let margin = |i: usize| {
        let own = chunk.codes[i] as usize;
        let best = (0..=others).filter(|&k| k != own).map(|k| score(k, i));
        score(own, i) - best.fold(f64::NEG_INFINITY, f64::max)
    };
    (0..rows).map(margin).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value as Json;

    fn pass(weights: &Matrix, second: Second) -> Pass<'_> {
        Pass {
            weights,
            intercept: false,
            factors: &[],
            second,
            every: 1,
            active: None,
            ranges: false,
            margins: true,
            offsets: None,
        }
    }

    fn golden(id: &str) -> Json {
        let text = include_str!("../../../../../tests/golden/linear.json");
        let cases: Vec<Json> = serde_json::from_str(text).unwrap();
        cases.into_iter().find(|case| case["id"] == id).unwrap()
    }

    fn numbers(json: &Json) -> Vec<f64> {
        match json {
            Json::Array(items) => items.iter().flat_map(numbers).collect(),
            one => vec![one.as_f64().unwrap()],
        }
    }

    fn rows(json: &Json) -> Matrix {
        let rows: Vec<Vec<f64>> = json.as_array().unwrap().iter().map(numbers).collect();
        Matrix::from_rows(&rows).unwrap()
    }

    fn close(got: &[f64], expected: &[f64], scale: f64) {
        assert_eq!(got.len(), expected.len());
        for (g, e) in got.iter().zip(expected) {
            assert!((g / scale - e).abs() < 1e-10, "{got:?} {expected:?}");
        }
    }

    #[test]
    fn the_error_at_zero_is_ln_two_and_the_gradient_is_the_worked_one() {
        let case = golden("logistic-gradient-step");
        let (input, expect) = (&case["input"], &case["expect"]);
        let classes: Vec<Label> =
            numbers(&input["y"]).iter().map(|&y| Label::Int(y as i64)).collect();
        let data = OwnedDataset::classification(rows(&input["X"]), &classes);
        let at = |w: &Json| {
            let weights = Matrix::from_rows(&[numbers(w)]).unwrap();
            pass(&weights, Second::Nothing).over(&data.view()).unwrap()
        };
        let zero = at(&case["params"]["start"]);
        close(&[zero.value], &numbers(&expect["e0"]), 4.0);
        close(zero.gradient.as_slice(), &numbers(&expect["grad0"]), 4.0);
        close(&[at(&expect["w1"]).value], &numbers(&expect["e1"]), 4.0);
        let there = at(&expect["grad_at"]["w"]);
        close(there.gradient.as_slice(), &numbers(&expect["grad_at"]["grad"]), 4.0);
    }

    #[test]
    fn the_softmax_likelihood_and_gradient_are_the_worked_ones() {
        let case = golden("softmax-nll-gradient");
        let (input, expect) = (&case["input"], &case["expect"]);
        let classes: Vec<Label> =
            numbers(&input["classes"]).iter().map(|&k| Label::Int(k as i64)).collect();
        let data = OwnedDataset::classification(rows(&input["X"]), &classes);
        // Scores relative to the first class.
        let w = rows(&input["W"]);
        let weights = Matrix::from_fn(2, 2, |k, j| w[(j, k + 1)] - w[(j, 0)]);
        let sums = pass(&weights, Second::Nothing).over(&data.view()).unwrap();
        close(&[sums.value], &numbers(&expect["nll"]), 1.0);
        let gradient = rows(&expect["grad"]);
        let expected = Matrix::from_fn(2, 2, |k, j| gradient[(j, k + 1)]);
        close(sums.gradient.as_slice(), expected.as_slice(), 1.0);
    }

    #[test]
    fn derivatives_are_those_of_the_value() {
        let x = Matrix::from_fn(40, 3, |i, j| ((i * 7 + j * 5) % 11) as f64 / 5.0 - 1.0);
        for classes in [2_u32, 4] {
            let labels: Vec<Label> =
                (0..40).map(|i| Label::Int(i64::from((i * 13 % 7) % classes))).collect();
            let data = OwnedDataset::classification(x.clone(), &labels);
            let others = classes as usize - 1;
            let weights = Matrix::from_fn(others, 3, |k, j| 0.3 * (k as f64 - 0.7 * j as f64));
            let sums = pass(&weights, Second::Hessian).over(&data.view()).unwrap();
            let step = 1e-6;
            for a in 0..others * 3 {
                let moved = |by: f64| {
                    let mut weights = weights.clone();
                    weights.as_mut_slice()[a] += by;
                    pass(&weights, Second::Nothing).over(&data.view()).unwrap()
                };
                let (up, down) = (moved(step), moved(-step));
                let slope = (up.value - down.value) / (2.0 * step);
                assert!((slope - sums.gradient.as_slice()[a]).abs() < 1e-6);
                for b in 0..=a {
                    let (k, i, l, j) = (a / 3, a % 3, b / 3, b % 3);
                    let bend =
                        (up.gradient.as_slice()[b] - down.gradient.as_slice()[b]) / (2.0 * step);
                    let got = sums.second[((k * (k + 1) / 2 + l) * 3 + i, j)];
                    assert!((bend - got).abs() < 1e-5, "{a} {b}: {bend} {got}");
                }
            }
        }
    }
}
