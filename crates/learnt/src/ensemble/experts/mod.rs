//! Mixtures of experts: f(x) = Σ_k g_k(x) f_k(x), a gate that says who knows, and experts that say what.
//!
//! Gate: softmax of linear functions of x. Experts: linear with normal noise (regression), multinomial
//! logistic (classes). Fitted by EM on the penalised log-likelihood
//! Σ w ln Σ_k g_k(x) p_k(y|x) - α/2 (Σ v² + Σ b²), v and b without intercepts, columns and numeric target
//! standardised: the E step gives each expert its share of each row, the M step fits every expert with
//! those weights (ridge, L-BFGS) and the gate to the shares (L-BFGS, from where it was). The objective
//! never falls. Noise has at least 1e-6 of the target's variance. Starts are random hyperplanes, the best
//! of `n_init` counts. Ends when the objective changes by less than `tol` of itself, or at `max_iter`.
//!
//! Jacobs, Jordan, Nowlan and Hinton (1991), Neural Computation 3, 79-87; Jordan and Jacobs (1994), Neural
//! Computation 6, 181-214.

mod classifier;
mod regressor;

#[cfg(test)]
mod tests;

pub use classifier::{MixtureOfExpertsClassifier, MixtureOfExpertsClassifierModel};
pub use regressor::{MixtureOfExpertsRegressor, MixtureOfExpertsRegressorModel};

use learnt_core::error::plain;
use learnt_core::estimator::first_maximum;
use learnt_core::optimize::{Evaluation, ExpectationMaximization, Lbfgs, Minimizer, Stop, Verdict};
use learnt_core::persist::invalid;
use learnt_core::prelude::*;
use learnt_core::stats::sample;
use learnt_core::stats::special::{log_sum_exp, softmax_in_place};

/// The least variance of noise, with a target of variance one.
const LEAST_VARIANCE: f64 = 1e-6;
/// Steps of the gate and of logistic experts in an M step.
const INNER_STEPS: usize = 20;
/// The random stream of the starts.
const START_STREAM: u64 = 0x6578_7065;

/// What both mixtures share.
#[derive(Params, Clone, Debug, PartialEq)]
pub struct ExpertSearch {
    /// Number of experts.
    #[param(default = 2, range = 1..=1000, search = set(2, 4, 8))]
    pub n_experts: usize,
    /// Whether all experts are mixed, or the one decides that the gate prefers.
    #[param(default = GateChoice::Soft)]
    pub gate: GateChoice,
    /// Penalty on squared coefficients of gate and experts, of standardised columns.
    #[param(default = 1e-3, above = 0.0)]
    pub alpha: f64,
    /// Number of random starts.
    #[param(default = 5, range = 1..)]
    pub n_init: usize,
    /// Maximum number of steps of each start.
    #[param(default = 200, range = 1..)]
    pub max_iter: usize,
    /// Relative change of the objective that ends the steps.
    #[param(default = 1e-6, range = 0.0..)]
    pub tol: f64,
}

/// How the gate is used.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum GateChoice {
    /// Experts are mixed by their shares.
    Soft,
    /// The expert with the largest share decides alone.
    Hard,
}

/// Columns on one scale.
#[derive(Stored, Clone, Debug, Default, PartialEq)]
struct Standard {
    means: Vec<f64>,
    scales: Vec<f64>,
}

impl Standard {
    fn of(data: &Dataset) -> Self {
        let (rows, columns) = (data.nrows(), data.x.ncols());
        let total: f64 = (0..rows).map(|i| data.weight(i)).sum();
        let mean = |f: &dyn Fn(usize) -> f64| {
            (0..rows).map(|i| data.weight(i) / total * f(i)).sum::<f64>()
        };
        let at = |i: usize, j: usize| data.x.values().at(i, j);
        let means: Vec<f64> = (0..columns).map(|j| mean(&|i| at(i, j))).collect();
        let scale = |j: usize| {
            let scale = mean(&|i| (at(i, j) - means[j]).powi(2)).sqrt();
            if scale.is_finite() && scale > 1e-12 * means[j].abs() { scale } else { 1.0 }
        };
        let scales = (0..columns).map(|j| scale(j).max(f64::MIN_POSITIVE)).collect();
        Standard { means, scales }
    }

    /// Rows with a first column of ones.
    fn rows(&self, x: &Frame) -> Matrix {
        let value = |i: usize, j: usize| match j {
            0 => 1.0,
            j => (x.values().at(i, j - 1) - self.means[j - 1]) / self.scales[j - 1],
        };
        Matrix::from_fn(x.nrows(), x.ncols() + 1, value)
    }

    fn validate(&self, schema: &Schema) -> Result<()> {
        let fits = self.means.len() == schema.len()
            && self.scales.len() == schema.len()
            && self.means.iter().all(|x| x.is_finite())
            && self.scales.iter().all(|x| x.is_finite() && *x > 0.0);
        if fits { Ok(()) } else { Err(invalid("scales that do not fit the columns")) }
    }
}

/// Linear functions of rows: a row of scores each.
fn linear(z: &Matrix, coefficients: &Matrix, i: usize, k: usize) -> f64 {
    z.row(i).iter().zip(coefficients.row(k)).map(|(z, c)| z * c).sum()
}

/// Shares of experts at each row.
fn gate_shares(z: &Matrix, gate: &Matrix) -> Matrix {
    let mut shares = Matrix::from_fn(z.nrows(), gate.nrows(), |i, k| linear(z, gate, i, k));
    (0..shares.nrows()).for_each(|i| softmax_in_place(shares.row_mut(i)));
    shares
}

/// Squares of coefficients without intercepts, times half the penalty.
fn penalty(coefficients: &Matrix, alpha: f64) -> f64 {
    0.5 * alpha * coefficients.rows().flat_map(|row| row[1..].iter()).map(|c| c * c).sum::<f64>()
}

/// The largest of Σ_i Σ_k t_ik ln softmax_k(z_i) less the penalty, from a start that it never falls below.
fn soft_logistic(
    z: &Matrix,
    targets: &Matrix,
    start: &Matrix,
    alpha: f64,
    run: &Context,
) -> Result<Matrix> {
    let (outputs, width) = (start.nrows(), start.ncols());
    let weight: f64 = targets.as_slice().iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let loss = |point: &[f64]| {
        let mut value = 0.0;
        let mut gradient = vec![0.0; outputs * width];
        let mut scores = vec![0.0; outputs];
        for i in 0..z.nrows() {
            let row = z.row(i);
            for (k, score) in scores.iter_mut().enumerate() {
                let own = &point[k * width..(k + 1) * width];
                *score = row.iter().zip(own).map(|(z, c)| z * c).sum();
            }
            let all = log_sum_exp(&scores);
            let total: f64 = targets.row(i).iter().sum();
            for k in 0..outputs {
                value -= targets[(i, k)] * (scores[k] - all);
                let slope = total * (scores[k] - all).exp() - targets[(i, k)];
                let own = gradient[k * width..(k + 1) * width].iter_mut();
                own.zip(row).for_each(|(sum, z)| *sum += slope * z);
            }
        }
        for (place, c) in point.iter().enumerate().filter(|(place, _)| place % width > 0) {
            value += 0.5 * alpha * c * c;
            gradient[place] += alpha * c;
        }
        gradient.iter_mut().for_each(|g| *g /= weight);
        Evaluation { value: value / weight, gradient, hessian: None }
    };
    let stop = Stop { gradient: 1e-9, decrease: 0.0 };
    let mut method = Lbfgs::new(start.as_slice().to_vec(), stop);
    // A step that gains is enough: EM comes back.
    for _ in 0..2 * INNER_STEPS {
        run.checkpoint()?;
        let verdict = method.tell(loss(method.point()))?;
        if verdict != Verdict::Again || method.iterations() >= INNER_STEPS {
            break;
        }
    }
    Matrix::from_vec(outputs, width, method.best().to_vec())
}

/// What EM moves.
#[derive(Clone, Debug)]
struct State {
    gate: Matrix,
    experts: Matrix,
    variances: Vec<f64>,
}

impl ExpertSearch {
    fn driver(&self) -> ExpectationMaximization {
        ExpectationMaximization {
            max_iter: self.max_iter,
            tol: self.tol,
            n_init: self.n_init,
            strict: true,
        }
    }

    /// Shares of rows by random hyperplanes.
    fn drawn_shares(&self, z: &Matrix, start: usize, run: &Context) -> Matrix {
        let mut rng = run.child(start as u64).rng(START_STREAM);
        let planes = Matrix::from_fn(self.n_experts, z.ncols(), |_, _| {
            3.0 * sample::standard_normal(&mut rng)
        });
        gate_shares(z, &planes)
    }

    /// Rows shared by what gate and experts say, and the log-likelihood; `log_density` is of expert and row.
    fn expect(
        &self,
        z: &Matrix,
        state: &State,
        data: &Dataset,
        log_density: impl Fn(usize, usize) -> f64,
    ) -> (Matrix, f64) {
        let mut shares =
            Matrix::from_fn(z.nrows(), self.n_experts, |i, k| linear(z, &state.gate, i, k));
        let mut likelihood =
            -penalty(&state.gate, self.alpha) - penalty(&state.experts, self.alpha);
        for i in 0..z.nrows() {
            let row = shares.row_mut(i);
            let all = log_sum_exp(row);
            row.iter_mut().enumerate().for_each(|(k, s)| *s += log_density(k, i) - all);
            likelihood += data.weight(i) * log_sum_exp(row);
            softmax_in_place(row);
        }
        (shares, likelihood)
    }

    fn gate_step(
        &self,
        z: &Matrix,
        shares: &Matrix,
        data: &Dataset,
        start: &Matrix,
        run: &Context,
    ) -> Result<Matrix> {
        let targets =
            Matrix::from_fn(z.nrows(), self.n_experts, |i, k| data.weight(i) * shares[(i, k)]);
        soft_logistic(z, &targets, start, self.alpha, run)
    }

    fn claim(&self, data: &Dataset, run: &Context) -> Result<()> {
        let width = data.x.ncols() as u64 + 1 + 3 * self.n_experts as u64;
        run.claim(8 * (data.nrows() as u64).saturating_mul(width), "rows of the experts")
    }
}

/// A question without arguments.
#[derive(Params, Clone, Debug)]
struct NoArguments {}

const QUESTIONS: &[Question] = &[Question {
    name: "gate_shares",
    doc: "The share of each expert at each row.",
    needs: Needs::Rows,
    arguments: || Box::new(NoArguments::default()),
}];

/// Shares of experts; with a hard gate 1 for the largest.
fn gated(z: &Matrix, gate: &Matrix, hard: bool) -> Matrix {
    let mut shares = gate_shares(z, gate);
    if hard {
        for i in 0..shares.nrows() {
            let best = first_maximum(shares.row(i)) as usize;
            let row = shares.row_mut(i);
            row.iter_mut().enumerate().for_each(|(k, share)| {
                *share = f64::from(u8::from(k == best));
            });
        }
    }
    shares
}

fn gate_answer(standard: &Standard, gate: &Matrix, asked: &Asked) -> Result<Answer> {
    let shares = gate_shares(&standard.rows(&asked.rows()?.x), gate);
    let mut table = Columns::titled("Shares of experts");
    for k in 0..gate.nrows() {
        table = table.reals(format!("expert {}", k + 1), shares.column(k));
    }
    let mut answer = Answer::new("Gate");
    answer.tables.push(table);
    Ok(answer)
}

/// Coefficients in the units of the columns, a row a function.
fn coefficient_table(
    title: &str,
    names: &[String],
    coefficients: &Matrix,
    standard: &Standard,
    schema: &Schema,
    factor: f64,
) -> Columns {
    let mut heads = vec!["function".to_string(), "intercept".to_string()];
    heads.extend(schema.names().map(plain));
    let mut table = Columns::with_heads(title, heads);
    for (name, row) in names.iter().zip(coefficients.rows()) {
        let slopes: Vec<f64> =
            row[1..].iter().zip(&standard.scales).map(|(c, scale)| factor * c / scale).collect();
        let shift: f64 = slopes.iter().zip(&standard.means).map(|(slope, mean)| slope * mean).sum();
        let mut cells = vec![Cell::Text(name.clone()), Cell::Number(factor * row[0] - shift)];
        cells.extend(slopes.into_iter().map(Cell::Number));
        table.push(cells);
    }
    table
}
