//! Experts that predict numbers: lines with normal noise, mixed by their gate.

use super::{
    ExpertSearch, GateChoice, LEAST_VARIANCE, QUESTIONS, Standard, State, coefficient_table,
    gate_answer, gated, linear,
};
use learnt_core::linalg::Cholesky;
use learnt_core::optimize::Stopped;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;

/// Mixture-of-experts regressor: linear models, each for its own part of the inputs.
///
/// ```
/// use learnt::{ensemble::MixtureOfExpertsRegressor, prelude::*};
/// let x = Matrix::from_fn(60, 1, |i, _| i as f64);
/// let y = (0..60).map(|i| if i < 30 { 2.0 * i as f64 } else { 120.0 - 2.0 * i as f64 }).collect();
/// let data = OwnedDataset::regression(x, y);
/// let model = MixtureOfExpertsRegressor::default().fit(&data.view())?;
/// assert_eq!(model.variances.len(), 2);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct MixtureOfExpertsRegressor {
    /// How experts are found.
    #[param(flatten)]
    pub search: ExpertSearch,
}

/// A fitted [`MixtureOfExpertsRegressor`].
#[derive(Model, Clone, Debug, PartialEq)]
#[model(regressor, validate = validate, report = report, questions = QUESTIONS)]
pub struct MixtureOfExpertsRegressorModel {
    /// Variance of the noise of each expert.
    #[positive]
    pub variances: Vec<f64>,
    /// Penalised log-likelihood, of the standardised target.
    pub log_likelihood: f64,
    /// Steps of the best start.
    pub n_iter: usize,
    /// Whether they ended by themselves.
    pub converged: bool,
    hard: bool,
    pub(super) standard: Standard,
    /// Mean and scale of the target.
    pub(super) target: Vec<f64>,
    /// An intercept and a coefficient a column, for each expert.
    #[finite]
    gate: Matrix,
    #[finite]
    pub(super) experts: Matrix,
    schema: Schema,
}

impl Estimator for MixtureOfExpertsRegressor {
    type Model = MixtureOfExpertsRegressorModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::regressor("ensemble.MixtureOfExpertsRegressor")
        .alias(&["experts", "mixture-of-experts"])
        .weights()
        .only_by_name()
        .randomness()
        .iterations()
        .complexity(66)
        .cost("n p k a step for each gradient of the gate, n p² k for the experts")
        .reference("Jacobs, Jordan, Nowlan and Hinton (1991); Jordan and Jacobs (1994)")
        .check_with(&[("n_init", "1"), ("max_iter", "30")])
        .exempt(&[
            ("weights_scale", "the penalty is absolute"),
            (
                "sklearn:check_sample_weight_equivalence_on_dense_data",
                "steps end within the tolerance, not at the same digits",
            ),
            ("seeds_differ", "different starts may end at the same experts"),
        ]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<MixtureOfExpertsRegressorModel> {
        let search = &self.search;
        search.claim(data, run)?;
        let y = data.real_target()?.column(0);
        let column = Matrix::column_vector(y.clone());
        let table = Table::unnamed(column);
        let of_target = Standard::of(&Dataset { x: table.frame(), ..*data });
        let (centre, scale) = (of_target.means[0], of_target.scales[0]);
        let y: Vec<f64> = y.iter().map(|y| (y - centre) / scale).collect();
        let standard = Standard::of(data);
        let z = standard.rows(&data.x);
        if !z.as_slice().iter().chain(&y).all(|x| x.is_finite()) {
            return Err(Error::numeric("values too large to be standardised"));
        }
        let maximize = |(shares, state): &(Matrix, State)| {
            let gate = search.gate_step(&z, shares, data, &state.gate, run)?;
            let (experts, variances) = self.expert_step(&z, &y, shares, state, data)?;
            Ok(State { gate, experts, variances })
        };
        let flat = State {
            gate: Matrix::zeros(search.n_experts, z.ncols()),
            experts: Matrix::zeros(search.n_experts, z.ncols()),
            variances: vec![1.0; search.n_experts],
        };
        let start = |start: usize| maximize(&(search.drawn_shares(&z, start, run), flat.clone()));
        let expect = |state: &State| {
            let density = |k: usize, i: usize| {
                let apart = y[i] - linear(&z, &state.experts, i, k);
                let variance = state.variances[k];
                -0.5 * (apart * apart / variance + (std::f64::consts::TAU * variance).ln())
            };
            let (shares, likelihood) = search.expect(&z, state, data, density);
            Ok(((shares, state.clone()), likelihood))
        };
        let fit = search.driver().run(start, expect, maximize, run)?;
        Ok(MixtureOfExpertsRegressorModel {
            variances: fit.parameters.variances.iter().map(|v| v * scale * scale).collect(),
            log_likelihood: fit.log_likelihood,
            n_iter: fit.iterations,
            converged: fit.stopped == Stopped::Decrease,
            hard: search.gate == GateChoice::Hard,
            standard,
            target: vec![centre, scale],
            gate: fit.parameters.gate,
            experts: fit.parameters.experts,
            schema: data.x.schema().clone(),
        })
    }
}

impl MixtureOfExpertsRegressor {
    /// Every expert by its weights; its noise after its line, so that each step only gains.
    fn expert_step(
        &self,
        z: &Matrix,
        y: &[f64],
        shares: &Matrix,
        state: &State,
        data: &Dataset,
    ) -> Result<(Matrix, Vec<f64>)> {
        let (mut experts, mut variances) = (state.experts.clone(), state.variances.clone());
        for k in 0..self.search.n_experts {
            let weights: Vec<f64> = (0..y.len()).map(|i| data.weight(i) * shares[(i, k)]).collect();
            let total: f64 = weights.iter().sum();
            if total <= 1e-12 {
                continue;
            }
            let line = ridge(z, y, &weights, self.search.alpha * variances[k])?;
            experts.row_mut(k).copy_from_slice(&line);
            let apart = |i: usize| y[i] - linear(z, &experts, i, k);
            let squares: f64 = (0..y.len()).map(|i| weights[i] * apart(i).powi(2)).sum();
            variances[k] = (squares / total).max(LEAST_VARIANCE);
        }
        Ok((experts, variances))
    }
}

/// Coefficients of least Σ w (y - b z)²/(2 variance) + α/2 Σ b².
fn ridge(z: &Matrix, y: &[f64], weights: &[f64], penalty: f64) -> Result<Vec<f64>> {
    let width = z.ncols();
    let mut gram = Matrix::zeros(width, width);
    let mut right = vec![0.0; width];
    for (i, &weight) in weights.iter().enumerate() {
        let row = z.row(i);
        for a in 0..width {
            let weighted = weight * row[a];
            right[a] += weighted * y[i];
            for b in 0..=a {
                gram[(a, b)] += weighted * row[b];
            }
        }
    }
    for a in 0..width {
        gram[(a, a)] += if a == 0 { f64::MIN_POSITIVE.sqrt() } else { penalty };
        for b in 0..a {
            gram[(b, a)] = gram[(a, b)];
        }
    }
    let factor = Cholesky::new(&gram)
        .ok_or_else(|| Error::numeric("columns too close to each other for an expert"))?;
    factor.solve_in_place(&mut right);
    Ok(right)
}

impl MixtureOfExpertsRegressorModel {
    fn answer_question(&self, asked: &Asked) -> Result<Answer> {
        gate_answer(&self.standard, &self.gate, asked)
    }

    fn report(&self, _: &Names) -> Answer {
        let names: Vec<String> = (1..=self.gate.nrows()).map(|k| format!("expert {k}")).collect();
        let mut report = Answer::new("Mixture of experts");
        let (standard, schema) = (&self.standard, &self.schema);
        let mut experts = self.experts.clone();
        for k in 0..experts.nrows() {
            experts[(k, 0)] += self.target[0] / self.target[1];
        }
        let scale = self.target[1];
        report.tables.push(coefficient_table("Experts", &names, &experts, standard, schema, scale));
        report.tables.push(coefficient_table("Gate", &names, &self.gate, standard, schema, 1.0));
        report.push("penalised log-likelihood", self.log_likelihood);
        report.push("steps", self.n_iter);
        report
    }

    fn validate(&self) -> Result<()> {
        self.standard.validate(&self.schema)?;
        let (experts, width) = (self.variances.len(), self.schema.len() + 1);
        let sides = [&self.gate, &self.experts].map(|m| (m.nrows(), m.ncols()));
        let target = matches!(self.target[..], [mean, scale] if mean.is_finite() && scale > 0.0 && scale.is_finite());
        match experts > 0 && target && sides == [(experts, width); 2] {
            true => Ok(()),
            false => Err(invalid("experts that do not fit the columns")),
        }
    }
}

impl Regressor for MixtureOfExpertsRegressorModel {
    fn predict_in(&self, x: &Frame, _run: &Context) -> Result<Matrix> {
        let (expected, got) = (self.schema.len(), x.ncols());
        if expected != got {
            return Err(Error::shape("x", format!("{expected} columns"), got));
        }
        let z = self.standard.rows(x);
        let shares = gated(&z, &self.gate, self.hard);
        let mean = |i: usize| {
            let said =
                (0..shares.ncols()).map(|k| shares[(i, k)] * linear(&z, &self.experts, i, k));
            self.target[0] + self.target[1] * said.sum::<f64>()
        };
        let found: Vec<f64> = (0..x.nrows()).map(mean).collect();
        match found.iter().all(|x| x.is_finite()) {
            true => Ok(Matrix::column_vector(found)),
            false => Err(Error::numeric("predictions of experts that are too large")),
        }
    }
}
