//! Descent methods, Lagrangian tools and quadratic programmes against hand calculations and peers.

use crate::golden_case::{Case, matrix, numbers};
use learnt::data::Matrix;
use learnt::linalg::{Cholesky, dot, eigh, gram, matvec, norm};
use learnt::optimize::{
    BoundedNewton, Bounds, CoordinateDescent, Evaluation, GradientDescent, Lbfgs, Minimizer,
    Minimum, Motion, Newton, QuadraticProgram, RowOrder, Rules, Schedule, StochasticDescent, Stop,
    Stopped, equality_quadratic, learning_rate_study, mean_squares_hessian, minimize_until,
    numeric_gradient, stability_limit,
};
use learnt::prelude::*;

const NEVER: Stop = Stop { gradient: 0.0, decrease: 0.0 };

fn case(id: &str) -> Case {
    Case::new("optimize.json", id)
}

fn run() -> Context<'static> {
    Context::default()
}

fn search(
    method: &mut dyn Minimizer,
    function: impl Fn(&[f64]) -> Evaluation,
    rules: Rules,
) -> Minimum {
    minimize_until(method, |x| Ok(function(x)), &rules, true, &run()).unwrap()
}

fn square(x: &[f64]) -> Evaluation {
    Evaluation { value: x[0] * x[0], gradient: vec![2.0 * x[0]], hessian: None }
}

/// The houses with a column of ones, and their prices.
struct Houses {
    design: Matrix,
    y: Vec<f64>,
}

impl Houses {
    fn of(case: &Case) -> Houses {
        let x = matrix(case.input("X"));
        let y = numbers(case.input("y"));
        Houses { design: Matrix::from_fn(x.nrows(), 2, |i, j| [1.0, x[(i, 0)]][j]), y }
    }

    fn errors(&self, theta: &[f64]) -> Vec<f64> {
        let fitted = matvec(self.design.view(), theta);
        fitted.iter().zip(&self.y).map(|(h, y)| h - y).collect()
    }

    /// Half the mean squared error.
    fn cost(&self, theta: &[f64]) -> Evaluation {
        let n = self.y.len() as f64;
        let errors = self.errors(theta);
        let gradient = matvec(self.design.view().transposed(), &errors);
        Evaluation {
            value: dot(&errors, &errors) / (2.0 * n),
            gradient: gradient.iter().map(|g| g / n).collect(),
            hessian: None,
        }
    }

    /// The sum of the gradients of some rows, times a factor.
    fn batch(&self, theta: &[f64], rows: &[usize], factor: f64) -> Vec<f64> {
        let errors = self.errors(theta);
        let part = |j: usize| rows.iter().map(|&i| factor * errors[i] * self.design[(i, j)]).sum();
        vec![part(0), part(1)]
    }
}

fn descend(houses: &Houses, batch_size: usize, rate: f64, factor: f64) -> Vec<f64> {
    let method = StochasticDescent {
        batch_size,
        order: RowOrder::Listed,
        schedule: Schedule::Constant { rate },
        rules: Rules::steps(1),
        ..StochasticDescent::default()
    };
    let gradient = |theta: &[f64], rows: &[usize]| Ok(houses.batch(theta, rows, factor));
    method.run(vec![0.0, 0.0], houses.y.len(), gradient, None, &run()).unwrap().x
}

#[test]
fn fixed_rates_on_a_square() {
    let case = case("gd-square");
    let x: Vec<f64> = numbers(case.input("eta"))
        .into_iter()
        .map(|rate| {
            let mut method = GradientDescent::new(vec![1.0], rate).unwrap();
            search(&mut method, square, Rules::steps(20)).x[0]
        })
        .collect();
    case.close("x", x);
}

#[test]
fn the_limit_of_stability() {
    let case = case("gd-stability-limit");
    let houses = Houses::of(&case);
    let start = houses.cost(&[0.0, 0.0]);
    case.close("J0", [start.value]);
    case.close("grad0", &start.gradient);
    let hessian = mean_squares_hessian(houses.design.view().columns(1, 2), true).unwrap();
    case.close("hessian_eigenvalues", eigh(&hessian).unwrap().values);
    let limit = stability_limit(&hessian).unwrap();
    case.close("alpha_limit", [limit]);
    let rates = [0.95 * limit, 1.05 * limit];
    let cost = |theta: &[f64]| Ok(houses.cost(theta));
    let curves = learning_rate_study(cost, &[0.0, 0.0], &rates, 200, &run()).unwrap();
    case.close("J_at_1_9", [curves[0].values[200]]);
    case.close("J_at_2_1", [curves[1].values[200]]);
}

#[test]
fn batches_of_all_one_and_two() {
    let case = case("batch-sgd-minibatch-step");
    let houses = Houses::of(&case);
    for (size, name) in [(4, "batch"), (1, "sgd"), (2, "minibatch")] {
        let theta = descend(&houses, size, 1e-7, 1.0);
        case.close(&format!("{name}.theta"), &theta);
        case.close(&format!("{name}.J"), [houses.cost(&theta).value]);
    }
}

#[test]
fn scaled_inputs_need_181_steps() {
    let case = case("gd-scaled-steps");
    let mut houses = Houses::of(&case);
    let column = houses.design.column(1);
    let mean = column.iter().sum::<f64>() / 4.0;
    let deviation = (column.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 4.0).sqrt();
    (0..4).for_each(|i| houses.design[(i, 1)] = (column[i] - mean) / deviation);
    let mut method = GradientDescent::new(vec![0.0, 0.0], 0.1).unwrap();
    let rules = Rules { gradient: Some(1e-6), ..Rules::steps(1000) };
    let found = search(&mut method, |theta| houses.cost(theta), rules);
    assert_eq!(found.stopped, Stopped::Gradient);
    case.close("steps", [found.iterations as f64]);
    case.close("theta", found.x);
}

#[test]
fn squares_without_their_half_have_a_factor_two() {
    let case = case("lms-factor-two");
    let houses = Houses::of(&case);
    case.close("lms_one_pass", descend(&houses, 1, 0.01, 2.0));
    case.close("batch_one_step", descend(&houses, 5, 0.01, 2.0));
}

#[test]
fn one_coordinate_after_the_other() {
    let case = case("coordinate-ascent");
    let value = |x: &[f64]| Ok(x[0] * x[0] + x[1] * x[1] + x[0] * x[1] - 3.0 * x[0]);
    let step = |x: &[f64], j: usize| Ok(if j == 0 { (3.0 - x[1]) / 2.0 } else { -x[0] / 2.0 });
    let rules = Rules { change: Some(1e-12), ..Rules::steps(100) };
    let method = CoordinateDescent { rules, keep_path: true, ..CoordinateDescent::default() };
    let found = method.minimize_by(vec![0.0, 0.0], value, step, &run()).unwrap();
    let path = found.path.unwrap();
    case.close("path", &path.as_slice()[2..10]);
    case.close("limit", &found.x);
    case.close("value", [-found.value]);
}

/// ln(1 + exp(-y w'x)), one row.
fn logistic(w: &[f64], x: &[f64], y: f64) -> Vec<f64> {
    let factor = -y / (1.0 + (y * dot(w, x)).exp());
    x.iter().map(|x| factor * x).collect()
}

#[test]
fn the_gradient_of_one_logistic_example() {
    let case = case("logistic-sgd-gradient");
    let (w, x) = (numbers(case.input("w")), numbers(case.input("x")));
    case.close("grad", logistic(&w, &x, 1.0));
    let loss = |w: &[f64]| Ok((-dot(w, &x)).exp().ln_1p());
    case.close("grad", numeric_gradient(loss, &w, None).unwrap());
}

#[test]
fn fifty_alternating_steps() {
    let case = case("logistic-sgd-50");
    let (x, y) = (matrix(case.input("X")), numbers(case.input("y")));
    let method = StochasticDescent {
        batch_size: 1,
        order: RowOrder::Listed,
        rules: Rules::steps(25),
        ..StochasticDescent::default()
    };
    let gradient = |w: &[f64], rows: &[usize]| Ok(logistic(w, x.row(rows[0]), y[rows[0]]));
    let fit = method.run(vec![0.0, 0.0], 2, gradient, None, &run()).unwrap();
    assert_eq!(fit.steps, 50);
    case.close("w1", [fit.x[1]]);
    let loss = |i: usize| (-y[i] * dot(&fit.x, x.row(i))).exp().ln_1p();
    case.close("e_in", [0.5 * (loss(0) + loss(1))]);
}

#[test]
fn momentum_on_a_square_by_hand() {
    let case = case("momentum-quadratic");
    let motion = Motion::Momentum { momentum: 0.9 };
    let mut method = GradientDescent::scheduled(vec![2.0], Schedule::default(), motion).unwrap();
    let path = search(&mut method, square, Rules::steps(6)).path.unwrap();
    case.close("path", &path.as_slice()[1..]);
}

/// Σ 100 (x_{i+1} - x_i²)² + (1 - x_i)².
fn rosenbrock(x: &[f64]) -> Evaluation {
    let mut gradient = vec![0.0; x.len()];
    let mut hessian = Matrix::zeros(x.len(), x.len());
    let mut value = 0.0;
    for i in 0..x.len() - 1 {
        let (gap, rest) = (x[i + 1] - x[i] * x[i], 1.0 - x[i]);
        value += 100.0 * gap * gap + rest * rest;
        gradient[i] -= 400.0 * gap * x[i] + 2.0 * rest;
        gradient[i + 1] += 200.0 * gap;
        hessian[(i, i)] += 800.0 * x[i] * x[i] - 400.0 * gap + 2.0;
        hessian[(i + 1, i)] -= 400.0 * x[i];
        hessian[(i + 1, i + 1)] += 200.0;
    }
    Evaluation { value, gradient, hessian: Some(hessian) }
}

#[test]
fn momentum_and_nesterov_follow_torch() {
    let case = case("rosenbrock-momentum-nesterov");
    let schedule = Schedule::Constant { rate: 0.0002 };
    for (motion, name) in [
        (Motion::Momentum { momentum: 0.9 }, "momentum"),
        (Motion::Nesterov { momentum: 0.9 }, "nesterov"),
    ] {
        let mut method = GradientDescent::scheduled(vec![-1.2, 1.0], schedule, motion).unwrap();
        let path = search(&mut method, rosenbrock, Rules::steps(50)).path.unwrap();
        let kept: Vec<f64> = [1, 2, 5, 50].iter().flat_map(|&k| path.row(k).to_vec()).collect();
        case.close(name, kept);
    }
}

#[test]
fn rosenbrock_in_four_dimensions() {
    let case = case("rosenbrock-4d-minimum");
    let start = numbers(case.input("start"));
    // There is a second minimum near (-0.78, 0.61, 0.38, 0.15), where Newton's steps lead.
    let mut method = Lbfgs::new(start, NEVER);
    let rules = Rules { gradient: Some(1e-8), ..Rules::steps(500) };
    let found = search(&mut method, rosenbrock, rules);
    assert_eq!(found.stopped, Stopped::Gradient);
    case.close("x", &found.x);
    assert!(found.value <= case.expect("f.max").as_f64().unwrap());
}

#[test]
fn newton_steps_of_a_logistic_regression() {
    let case = case("irls-birthwt-steps");
    let data = case.regression();
    let frame = data.view().x;
    let x = frame.values();
    let y: Vec<f64> = match data.view().y {
        Some(Target::Real(y)) => y.column(0),
        _ => panic!("a numeric target is needed"),
    };
    let design = Matrix::from_fn(x.nrows(), 4, |i, j| if j == 0 { 1.0 } else { x.at(i, j - 1) });
    let half_deviance = |b: &[f64]| {
        let scores = matvec(design.view(), b);
        let mut at = Evaluation { value: 0.0, gradient: vec![0.0; 4], hessian: None };
        let mut hessian = Matrix::zeros(4, 4);
        for (i, score) in scores.iter().enumerate() {
            let p = 1.0 / (1.0 + (-score).exp());
            at.value += score.exp().ln_1p() - y[i] * score;
            for j in 0..4 {
                at.gradient[j] += (p - y[i]) * design[(i, j)];
                for k in 0..=j {
                    hessian[(j, k)] += p * (1.0 - p) * design[(i, j)] * design[(i, k)];
                }
            }
        }
        Evaluation { hessian: Some(hessian), ..at }
    };
    let mut method = Newton::new(vec![0.0; 4], NEVER);
    let found = search(&mut method, half_deviance, Rules::steps(6));
    let path = found.path.unwrap();
    let steps = case.expect("newton_from_zero").as_array().unwrap();
    for (k, step) in steps.iter().enumerate() {
        // A step below rounding may not be made at all.
        let at = (k + 1).min(path.nrows() - 1);
        for (got, expected) in path.row(at).iter().zip(numbers(&step["coef"])) {
            assert!((got - expected).abs() <= 1e-9 + 1e-6 * expected.abs(), "{k}");
        }
        let deviance = 2.0 * found.values[at];
        assert!((deviance - step["deviance"].as_f64().unwrap()).abs() < 1e-6 * deviance);
    }
    case.close("final", &found.x);
}

#[test]
fn nonnegative_least_squares() {
    let case = case("nnls-diabetes");
    let data = case.regression();
    let x = data.view().x.values();
    let y: Vec<f64> = match data.view().y {
        Some(Target::Real(y)) => y.column(0),
        _ => panic!("a numeric target is needed"),
    };
    let problem = QuadraticProgram::nonnegative_least_squares(x, &y);
    let solution = problem.solve(&run()).unwrap().solution().unwrap();
    case.close("coef", &solution.x);
    let fitted = matvec(x, &solution.x);
    let residuals: Vec<f64> = fitted.iter().zip(&y).map(|(a, b)| a - b).collect();
    case.close("residual_norm", [norm(&residuals)]);
}

#[test]
fn a_ball_on_a_line() {
    let case = case("lagrange-equality");
    let two = Matrix::from_fn(2, 2, |i, j| if i == j { 2.0 } else { 0.0 });
    let line = Matrix::from_rows(&[[1.0, 2.0]]).unwrap();
    let (x, multipliers) = equality_quadratic(&two, &[0.0, 0.0], &line, &[4.0]).unwrap();
    case.close("x", &x);
    case.close("value", [dot(&x, &x)]);
    case.close("beta", multipliers);
}

#[test]
fn least_squares_in_a_ball_by_its_multiplier() {
    // min |Xw - y|² subject to w'w <= C, through the dual function of λ >= 0: it is concave, with
    // slope w'w - C and curvature -2 w'(X'X + λI)⁻¹w at the ridge solution w.
    let case = case("soft-order-bisection");
    let (x, y) = (matrix(case.input("X")), numbers(case.input("y")));
    let ridge = |lambda: f64| {
        let mut gram = gram(x.view());
        (0..2).for_each(|j| gram[(j, j)] += lambda);
        let factor = Cholesky::new(&gram).unwrap();
        let mut w = matvec(x.view().transposed(), &y);
        factor.solve_in_place(&mut w);
        (w, factor)
    };
    let negative_dual = |lambda: f64, limit: f64| {
        let (w, factor) = ridge(lambda);
        let residuals: Vec<f64> = matvec(x.view(), &w).iter().zip(&y).map(|(a, b)| a - b).collect();
        let mut bent = w.clone();
        factor.solve_in_place(&mut bent);
        Evaluation {
            value: lambda * (limit - dot(&w, &w)) - dot(&residuals, &residuals),
            gradient: vec![limit - dot(&w, &w)],
            hessian: Some(Matrix::from_fn(1, 1, |_, _| 2.0 * dot(&w, &bent))),
        }
    };
    let multiplier = |limit: f64| {
        let bounds = Bounds { lower: vec![0.0], upper: vec![f64::INFINITY] };
        let mut method = BoundedNewton::new(vec![0.0], bounds, NEVER).unwrap();
        let rules = Rules { gradient: Some(1e-12), ..Rules::steps(100) };
        search(&mut method, |lambda| negative_dual(lambda[0], limit), rules).x[0]
    };
    let found: Vec<f64> = numbers(case.input("C")).into_iter().map(multiplier).collect();
    case.close("lam", &found);
    case.close("w", found.iter().flat_map(|&lambda| ridge(lambda).0).collect::<Vec<_>>());
}
