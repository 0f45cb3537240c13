//! Experts that tell classes apart: multinomial logistic models, mixed by their gate.

use super::{
    ExpertSearch, GateChoice, QUESTIONS, Standard, State, coefficient_table, gate_answer, gated,
    linear, soft_logistic,
};
use learnt_core::error::plain;
use learnt_core::optimize::Stopped;
use learnt_core::persist::invalid;
use learnt_core::prelude::*;
use learnt_core::stats::special::{log_sum_exp, softmax_in_place};

/// Mixture-of-experts classifier: logistic models, each for its own part of the inputs.
///
/// ```
/// use learnt::{ensemble::MixtureOfExpertsClassifier, prelude::*};
/// let data = learnt::datasets::load("iris")?;
/// let model = MixtureOfExpertsClassifier::default().fit(&data.view())?;
/// assert_eq!(model.n_experts, 2);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
pub struct MixtureOfExpertsClassifier {
    /// How experts are found.
    #[param(flatten)]
    pub search: ExpertSearch,
}

/// A fitted [`MixtureOfExpertsClassifier`].
#[derive(Model, Clone, Debug, PartialEq)]
#[model(classifier, validate = validate, report = report, questions = QUESTIONS)]
pub struct MixtureOfExpertsClassifierModel {
    /// Number of experts.
    pub n_experts: usize,
    /// Penalised log-likelihood.
    pub log_likelihood: f64,
    /// Steps of the best start.
    pub n_iter: usize,
    /// Whether they ended by themselves.
    pub converged: bool,
    hard: bool,
    standard: Standard,
    #[finite]
    gate: Matrix,
    /// A row an expert and class.
    #[finite]
    experts: Matrix,
    schema: Schema,
    classes: Vec<Label>,
}

impl Estimator for MixtureOfExpertsClassifier {
    type Model = MixtureOfExpertsClassifierModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::classifier("ensemble.MixtureOfExpertsClassifier")
        .alias(&["experts", "mixture-of-experts"])
        .weights()
        .only_by_name()
        .randomness()
        .iterations()
        .complexity(66)
        .cost("n p k a step for each gradient of the gate, and of each expert and class")
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

    fn train(&self, data: &Dataset, run: &Context) -> Result<MixtureOfExpertsClassifierModel> {
        let search = &self.search;
        search.claim(data, run)?;
        let (codes, classes) = data.class_target()?;
        let count = classes.len();
        let standard = Standard::of(data);
        let z = standard.rows(&data.x);
        if !z.as_slice().iter().all(|x| x.is_finite()) {
            return Err(Error::numeric("values too large to be standardised"));
        }
        let expert = |state: &State, k: usize| -> Result<Matrix> {
            let rows = state.experts.as_slice();
            let size = count * z.ncols();
            Matrix::from_vec(count, z.ncols(), rows[k * size..(k + 1) * size].to_vec())
        };
        let maximize = |(shares, state): &(Matrix, State)| {
            let gate = search.gate_step(&z, shares, data, &state.gate, run)?;
            let mut experts = Vec::with_capacity(search.n_experts * count * z.ncols());
            for k in 0..search.n_experts {
                let target = |i: usize, c: usize| match codes[i] as usize == c {
                    true => data.weight(i) * shares[(i, k)],
                    false => 0.0,
                };
                let targets = Matrix::from_fn(z.nrows(), count, target);
                let found = soft_logistic(&z, &targets, &expert(state, k)?, search.alpha, run)?;
                experts.extend_from_slice(found.as_slice());
            }
            let experts = Matrix::from_vec(search.n_experts * count, z.ncols(), experts)?;
            Ok(State { gate, experts, variances: Vec::new() })
        };
        let flat = State {
            gate: Matrix::zeros(search.n_experts, z.ncols()),
            experts: Matrix::zeros(search.n_experts * count, z.ncols()),
            variances: Vec::new(),
        };
        let start = |start: usize| maximize(&(search.drawn_shares(&z, start, run), flat.clone()));
        let expect = |state: &State| {
            let density = |k: usize, i: usize| {
                let scores: Vec<f64> =
                    (0..count).map(|c| linear(&z, &state.experts, i, k * count + c)).collect();
                scores[codes[i] as usize] - log_sum_exp(&scores)
            };
            let (shares, likelihood) = search.expect(&z, state, data, density);
            Ok(((shares, state.clone()), likelihood))
        };
        let fit = search.driver().run(start, expect, maximize, run)?;
        Ok(MixtureOfExpertsClassifierModel {
            n_experts: search.n_experts,
            log_likelihood: fit.log_likelihood,
            n_iter: fit.iterations,
            converged: fit.stopped == Stopped::Decrease,
            hard: search.gate == GateChoice::Hard,
            standard,
            gate: fit.parameters.gate,
            experts: fit.parameters.experts,
            schema: data.x.schema().clone(),
            classes: classes.to_vec(),
        })
    }
}

impl MixtureOfExpertsClassifierModel {
    fn answer_question(&self, asked: &Asked) -> Result<Answer> {
        gate_answer(&self.standard, &self.gate, asked)
    }

    fn report(&self, _: &Names) -> Answer {
        let gate: Vec<String> = (1..=self.n_experts).map(|k| format!("expert {k}")).collect();
        let count = self.classes.len();
        let name = |row: usize| {
            let class = plain(&self.classes[row % count].to_string());
            format!("expert {}, {class}", row / count + 1)
        };
        let names: Vec<String> = (0..self.experts.nrows()).map(name).collect();
        let (standard, schema) = (&self.standard, &self.schema);
        let mut report = Answer::new("Mixture of experts");
        let experts = coefficient_table("Experts", &names, &self.experts, standard, schema, 1.0);
        report.tables.push(experts);
        report.tables.push(coefficient_table("Gate", &gate, &self.gate, standard, schema, 1.0));
        report.push("penalised log-likelihood", self.log_likelihood);
        report.push("steps", self.n_iter);
        report
    }

    fn validate(&self) -> Result<()> {
        self.standard.validate(&self.schema)?;
        let width = self.schema.len() + 1;
        let rows = self.n_experts.checked_mul(self.classes.len());
        let fits = self.n_experts > 0
            && !self.classes.is_empty()
            && (self.gate.nrows(), self.gate.ncols()) == (self.n_experts, width)
            && (Some(self.experts.nrows()), self.experts.ncols()) == (rows, width);
        if fits { Ok(()) } else { Err(invalid("experts that do not fit the columns")) }
    }
}

impl Classifier for MixtureOfExpertsClassifierModel {
    fn probabilities_in(&self, x: &Frame, _run: &Context) -> Result<Matrix> {
        let (expected, got) = (self.schema.len(), x.ncols());
        if expected != got {
            return Err(Error::shape("x", format!("{expected} columns"), got));
        }
        let z = self.standard.rows(x);
        let shares = gated(&z, &self.gate, self.hard);
        let count = self.classes.len();
        let mut out = Matrix::zeros(x.nrows(), count);
        let mut scores = vec![0.0; count];
        for i in 0..x.nrows() {
            for k in 0..self.n_experts {
                for (c, score) in scores.iter_mut().enumerate() {
                    *score = linear(&z, &self.experts, i, k * count + c);
                }
                softmax_in_place(&mut scores);
                for (p, score) in out.row_mut(i).iter_mut().zip(&scores) {
                    *p += shares[(i, k)] * score;
                }
            }
        }
        match out.as_slice().iter().all(|p| p.is_finite()) {
            true => Ok(out),
            false => Err(Error::numeric("rows too large for the experts")),
        }
    }
}
