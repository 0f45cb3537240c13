use super::*;
use crate::context::Rng;
use crate::stats::sample::standard_normal;

fn run() -> Context<'static> {
    Context::default()
}

fn identity(n: usize) -> Matrix {
    Matrix::from_fn(n, n, |i, j| f64::from(i == j))
}

fn random(n: usize, d: usize, rng: &mut Rng) -> Matrix {
    Matrix::from_fn(n, d, |_, _| standard_normal(rng))
}

fn solved(problem: &QuadraticProgram) -> QuadraticSolution {
    problem.solve(&run()).unwrap().solution().unwrap()
}

/// Largest violation of the conditions of Karush, Kuhn and Tucker.
fn residual(problem: &QuadraticProgram, solution: &QuadraticSolution) -> f64 {
    let mut sum = matvec(problem.quadratic.view(), &solution.x);
    add_scaled(&mut sum, 1.0, &problem.linear);
    let mut worst = 0.0_f64;
    if let Some((rows, values)) = &problem.equalities {
        for (i, row) in rows.rows().enumerate() {
            add_scaled(&mut sum, solution.equalities[i], row);
            worst = worst.max((dot(row, &solution.x) - values[i]).abs());
        }
    }
    if let Some((rows, values)) = &problem.inequalities {
        for (i, row) in rows.rows().enumerate() {
            let (a, g) = (solution.inequalities[i], dot(row, &solution.x) - values[i]);
            add_scaled(&mut sum, a, row);
            worst = worst.max(g).max(-a).max((a * g).abs());
        }
    }
    if let Some(bounds) = &problem.bounds {
        for j in 0..sum.len() {
            let (low, high) = (bounds.lower[j] - solution.x[j], solution.x[j] - bounds.upper[j]);
            let (a, b) = (solution.lower[j], solution.upper[j]);
            sum[j] += b - a;
            worst = worst.max(low).max(high).max(-a).max(-b);
            let slack = |a: f64, g: f64| if a == 0.0 { 0.0 } else { (a * g).abs() };
            worst = worst.max(slack(a, low)).max(slack(b, high));
        }
    }
    worst.max(norm(&sum))
}

#[test]
fn a_box_by_hand() {
    // ½ x² + ½ y² - 2x + y over [0, 1]²: x at its upper bound with multiplier 1, y at 0 with 1.
    let bounds = Bounds { lower: vec![0.0; 2], upper: vec![1.0; 2] };
    let problem = QuadraticProgram {
        bounds: Some(bounds),
        ..QuadraticProgram::new(identity(2), vec![-2.0, 1.0])
    };
    let solution = solved(&problem);
    assert_eq!(solution.x, [1.0, 0.0]);
    assert!((solution.upper[0] - 1.0).abs() < 1e-14 && (solution.lower[1] - 1.0).abs() < 1e-14);
    assert!((solution.value + 1.5).abs() < 1e-14);
}

#[test]
fn random_programmes_of_every_kind_meet_the_conditions() {
    for seed in 0..60 {
        let mut rng = run().with_seed(seed).rng(1);
        let n = 3 + (seed as usize % 12);
        // Every third has a singular Q.
        let rank = if seed % 3 == 0 { n / 2 } else { n + 2 };
        let quadratic = gram(random(rank, n, &mut rng).view());
        let linear: Vec<f64> = (0..n).map(|_| standard_normal(&mut rng)).collect();
        let inside: Vec<f64> = (0..n).map(|_| 0.3 * standard_normal(&mut rng).tanh()).collect();
        let rows = random(2 * n, n, &mut rng);
        let values = matvec(rows.view(), &inside).iter().map(|v| v + 0.1).collect();
        let ties = random(1 + n / 4, n, &mut rng);
        let targets = matvec(ties.view(), &inside);
        let problem = QuadraticProgram {
            equalities: (seed % 2 == 0).then_some((ties, targets)),
            inequalities: (seed % 5 != 0).then_some((rows, values)),
            bounds: Some(Bounds { lower: vec![-0.4; n], upper: vec![0.5; n] }),
            ..QuadraticProgram::new(quadratic, linear)
        };
        let solution = solved(&problem);
        let residual = residual(&problem, &solution);
        assert!(residual < 1e-8, "{seed}: {residual}");
    }
}

#[test]
fn repeated_constraints_do_not_cycle() {
    let row = [1.0, 1.0, 1.0];
    let rows = Matrix::from_rows(&[row, row, [2.0, 2.0, 2.0], [1.0, 0.0, 0.0]]).unwrap();
    let problem = QuadraticProgram {
        equalities: Some((Matrix::from_rows(&[row, row]).unwrap(), vec![1.0, 1.0])),
        inequalities: Some((rows, vec![1.0, 1.0, 2.0, 0.0])),
        bounds: Some(Bounds { lower: vec![0.0; 3], upper: vec![1.0; 3] }),
        ..QuadraticProgram::new(identity(3), vec![-1.0, -2.0, 0.0])
    };
    let solution = solved(&problem);
    assert!(residual(&problem, &solution) < 1e-12);
    assert!((solution.x[1] - 1.0).abs() < 1e-12, "{:?}", solution.x);
}

#[test]
fn infeasible_and_unbounded_are_stated() {
    let rows = Matrix::from_rows(&[[1.0, 1.0]]).unwrap();
    let bounds = Bounds { lower: vec![0.0; 2], upper: vec![f64::INFINITY; 2] };
    let mut problem = QuadraticProgram {
        inequalities: Some((rows, vec![-1.0])),
        bounds: Some(bounds),
        ..QuadraticProgram::new(identity(2), vec![0.0, 0.0])
    };
    assert!(matches!(problem.solve(&run()).unwrap(), Programme::Infeasible));
    problem.quadratic = Matrix::zeros(2, 2);
    assert!(matches!(problem.solve(&run()).unwrap(), Programme::Infeasible));
    problem.inequalities = None;
    problem.linear = vec![-1.0, 1.0];
    match problem.solve(&run()).unwrap() {
        Programme::Unbounded(direction) => assert!(direction[0] > 0.0 && direction[1].abs() < 1e-6),
        other => panic!("{other:?}"),
    }
    problem.bounds = Some(Bounds { lower: vec![0.0; 2], upper: vec![7.0; 2] });
    let solution = solved(&problem);
    assert!((solution.x[0] - 7.0).abs() < 1e-9 && solution.x[1].abs() < 1e-9);
}

#[test]
fn contradicting_equalities_are_infeasible() {
    let rows = Matrix::from_rows(&[[1.0, 1.0], [1.0, 1.0]]).unwrap();
    let problem = QuadraticProgram {
        equalities: Some((rows, vec![1.0, 2.0])),
        ..QuadraticProgram::new(identity(2), vec![0.0, 0.0])
    };
    assert!(matches!(problem.solve(&run()).unwrap(), Programme::Infeasible));
}

#[test]
fn a_programme_that_is_not_convex_is_refused() {
    let saddle = Matrix::from_rows(&[[1.0, 0.0], [0.0, -1.0]]).unwrap();
    let error = QuadraticProgram::new(saddle, vec![0.0, 0.0]).solve(&run()).unwrap_err();
    assert!(error.message().contains("not convex"));
    let lopsided = Matrix::from_rows(&[[1.0, 0.5], [0.0, 1.0]]).unwrap();
    assert!(QuadraticProgram::new(lopsided, vec![0.0, 0.0]).solve(&run()).is_err());
}

#[test]
fn a_minimum_of_zero_is_found_where_only_rounding_is_left() {
    let row = [[1e3, -2e3, 0.7e3]];
    let quadratic = gram(Matrix::from_rows(&row).unwrap().view());
    let ties = Matrix::from_rows(&[[0.3, 1.0, 0.2]]).unwrap();
    let problem = QuadraticProgram {
        equalities: Some((ties, vec![1.7])),
        bounds: Some(Bounds { lower: vec![-1.0; 3], upper: vec![f64::INFINITY; 3] }),
        ..QuadraticProgram::new(quadratic, vec![0.0; 3])
    };
    assert!(solved(&problem).value.abs() < 1e-8);
}

#[test]
fn three_hundred_variables_on_the_simplex() {
    let mut rng = run().rng(7);
    let n = 300;
    let quadratic = gram(random(20, n, &mut rng).view());
    let problem = QuadraticProgram::simplex(quadratic, (0..n).map(|i| (i % 7) as f64).collect());
    let solution = solved(&problem);
    assert!(residual(&problem, &solution) < 1e-7);
    assert!((solution.x.iter().sum::<f64>() - 1.0).abs() < 1e-10);
}

/// Sequential minimal optimisation: the most violating pair to its minimum until none is left.
fn pairs(q: &Matrix, y: &[f64], limit: f64) -> Vec<f64> {
    let n = y.len();
    let mut a = vec![0.0; n];
    for _ in 0..100_000 {
        let gradient: Vec<f64> = matvec(q.view(), &a).iter().map(|g| g - 1.0).collect();
        let score = |i: usize| -y[i] * gradient[i];
        let up = |i: &usize| if y[*i] > 0.0 { a[*i] < limit } else { a[*i] > 0.0 };
        let down = |i: &usize| if y[*i] > 0.0 { a[*i] > 0.0 } else { a[*i] < limit };
        let i = (0..n).filter(up).max_by(|&i, &j| score(i).total_cmp(&score(j))).unwrap();
        let j = (0..n).filter(down).min_by(|&i, &j| score(i).total_cmp(&score(j))).unwrap();
        if score(i) - score(j) < 1e-12 {
            break;
        }
        let curve = q[(i, i)] + q[(j, j)] - 2.0 * y[i] * y[j] * q[(i, j)];
        let room_i = if y[i] > 0.0 { limit - a[i] } else { a[i] };
        let room_j = if y[j] > 0.0 { a[j] } else { limit - a[j] };
        let step = ((score(i) - score(j)) / curve).min(room_i).min(room_j);
        a[i] += y[i] * step;
        a[j] -= y[j] * step;
    }
    a
}

#[test]
fn a_support_vector_machine_on_twenty_points_agrees_with_moving_pairs() {
    let mut rng = run().rng(3);
    let points = random(20, 2, &mut rng);
    let y: Vec<f64> = (0..20).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let shifted = Matrix::from_fn(20, 2, |i, j| points[(i, j)] + 0.8 * y[i]);
    let kernel = |i: usize, j: usize| {
        let distance = crate::linalg::squared_distance(shifted.row(i), shifted.row(j));
        (-0.5 * distance).exp()
    };
    let gaussian = Matrix::from_fn(20, 20, |i, j| y[i] * y[j] * kernel(i, j));
    let linear = Matrix::from_fn(20, 20, |i, j| y[i] * y[j] * dot(shifted.row(i), shifted.row(j)));
    for (q, limit) in [(gaussian, 1.0), (linear, 1.0)] {
        let problem = QuadraticProgram {
            equalities: Some((Matrix::from_rows(&[&y]).unwrap(), vec![0.0])),
            bounds: Some(Bounds { lower: vec![0.0; 20], upper: vec![limit; 20] }),
            ..QuadraticProgram::new(q.clone(), vec![-1.0; 20])
        };
        let solution = solved(&problem);
        let other = pairs(&q, &y, limit);
        let value = 0.5 * dot(&other, &matvec(q.view(), &other)) - other.iter().sum::<f64>();
        assert!((solution.value - value).abs() < 1e-8 * value.abs(), "{} {value}", solution.value);
        // The weights are unique even where a singular Q leaves the multipliers free.
        let (ours, theirs) = (matvec(q.view(), &solution.x), matvec(q.view(), &other));
        for (a, b) in ours.iter().zip(theirs) {
            assert!((a - b).abs() < 1e-5, "{a} {b}");
        }
    }
}
