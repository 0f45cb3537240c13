use super::*;
use crate::discriminant::SpheredCentroids;
use learnt_core::linalg::Scatter;
use learnt_core::stats::sample::standard_normal;

/// Three classes in four columns of different units.
fn sample(n: usize) -> OwnedDataset {
    let mut rng = Context::default().rng(11);
    let x = Matrix::from_fn(n, 4, |i, j| {
        let shift = [0.0, 1.0, -1.5][i % 3] * (1.0 + j as f64 * (i % 2) as f64);
        10_f64.powi(j as i32 - 2) * (50.0 + shift + standard_normal(&mut rng))
    });
    let labels: Vec<Label> = (0..n).map(|i| Label::Int((i % 3) as i64)).collect();
    OwnedDataset::classification(x, &labels)
}

fn with(solver: LinearDiscriminantSolver) -> LinearDiscriminantAnalysis {
    LinearDiscriminantAnalysis { solver, ..Default::default() }
}

#[test]
fn solvers_agree_and_so_do_sphered_centroids_and_all_coordinates() {
    let data = sample(500);
    let (frame, run) = (data.x.frame(), Context::default());
    let svd = with(LinearDiscriminantSolver::Svd).fit(&data.view()).unwrap();
    let expected = svd.classify(&frame).unwrap();
    for solver in [LinearDiscriminantSolver::Lsqr, LinearDiscriminantSolver::Eigen] {
        let other = with(solver).fit(&data.view()).unwrap();
        let (a, b) = (svd.probabilities(&frame).unwrap(), other.probabilities(&frame).unwrap());
        let gap = a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| (a - b).abs());
        assert!(gap.fold(0.0, f64::max) < 1e-9);
    }
    let centroids = SpheredCentroids::of(&data.view(), &run).unwrap();
    assert_eq!(centroids.nearest(&frame, &run).unwrap(), expected);
    assert_eq!(svd.classify_reduced_in(&frame, 2, &run).unwrap(), expected);
    assert_ne!(svd.classify_reduced_in(&frame, 1, &run).unwrap(), expected);
    assert!(svd.classify_reduced_in(&frame, 3, &run).is_err());
}

#[test]
fn reduced_scores_choose_the_nearest_mean_in_fewer_coordinates() {
    let data = sample(500);
    let (frame, run) = (data.x.frame(), Context::default());
    for solver in [LinearDiscriminantSolver::Svd, LinearDiscriminantSolver::Eigen] {
        let whole = with(solver).fit(&data.view()).unwrap();
        for count in [1, 2] {
            let n_components = Some(count);
            let learner =
                LinearDiscriminantAnalysis { reduced: true, n_components, ..with(solver) };
            let model = learner.fit(&data.view()).unwrap();
            let classes = model.classify(&frame).unwrap();
            assert_eq!(classes, whole.classify_reduced_in(&frame, count, &run).unwrap());
            // A class is chosen by the coordinates alone.
            assert_eq!(classes, model.classify_reduced_in(&frame, count, &run).unwrap());
        }
    }
}

#[test]
fn means_may_count_alike_for_the_coordinates() {
    // Two classes of many rows differ along the second column, the third of few along the first.
    let mut rng = Context::default().rng(4);
    let class = |i: usize| if i < 20 { 2 } else { i % 2 };
    let x = Matrix::from_fn(420, 2, |i, j| {
        let middle = [[0.0, -2.0], [0.0, 2.0], [6.0, 0.0]][class(i)][j];
        middle + standard_normal(&mut rng)
    });
    let labels: Vec<Label> = (0..420).map(|i| Label::Int(class(i) as i64)).collect();
    let data = OwnedDataset::classification(x, &labels);
    let first = |centroid_weights| {
        let learner = LinearDiscriminantAnalysis { centroid_weights, ..Default::default() };
        let scalings = learner.fit(&data.view()).unwrap().scalings.unwrap();
        (scalings[(0, 0)].abs(), scalings[(1, 0)].abs())
    };
    let (across, along) = first(CentroidWeights::Priors);
    assert!(along > 5.0 * across, "{across} {along}");
    let (across, along) = first(CentroidWeights::Equal);
    assert!(across > 5.0 * along, "{across} {along}");
}

#[test]
fn the_covariance_within_classes_is_the_identity_on_the_coordinates() {
    let data = sample(400);
    for solver in [LinearDiscriminantSolver::Svd, LinearDiscriminantSolver::Eigen] {
        let model = with(solver).fit(&data.view()).unwrap();
        let table = model.transform(&data.x.frame()).unwrap();
        let mut within = Matrix::zeros(2, 2);
        for class in 0..3 {
            let rows: Vec<usize> = (class..400).step_by(3).collect();
            let part = table.frame().gather(&rows);
            let scatter = Scatter::of(&Dataset::new(part.frame())).scatter;
            add_scaled(within.as_mut_slice(), 1.0 / 397.0, scatter.as_slice());
        }
        for i in 0..2 {
            for j in 0..2 {
                assert!((within[(i, j)] - f64::from(i == j)).abs() < 1e-9, "{within:?}");
            }
        }
    }
}

#[test]
fn dependent_columns_are_left_out_with_a_warning_or_refused_by_name() {
    let data = sample(90);
    let x = data.x.values();
    let wide = Matrix::from_fn(90, 5, |i, j| match j {
        4 => x[(i, 0)] + 100.0 * x[(i, 1)],
        j => x[(i, j)],
    });
    let wide = OwnedDataset { x: Table::unnamed(wide), ..data.clone() };
    let observer = learnt_core::context::Recorder::new(&learnt_core::context::Quiet);
    let run = Context::default().observed_by(&observer);
    let model = LinearDiscriminantAnalysis::default().fit_in(&wide.view(), &run).unwrap();
    assert!(observer.warnings()[0].message.contains("rank 4 of 5"));
    assert!(observer.warnings()[0].message.contains("'x4'"));
    let plain = LinearDiscriminantAnalysis::default().fit(&data.view()).unwrap();
    let (a, b) = (model.probabilities(&wide.x.frame()), plain.probabilities(&data.x.frame()));
    for (a, b) in a.unwrap().as_slice().iter().zip(b.unwrap().as_slice()) {
        assert!((a - b).abs() < 1e-7);
    }
    for solver in [LinearDiscriminantSolver::Lsqr, LinearDiscriminantSolver::Eigen] {
        let error = with(solver).fit(&wide.view()).unwrap_err();
        assert!(error.message().contains("'x4'"), "{error}");
        assert!(error.to_string().contains("RegularizedDiscriminantAnalysis"));
        let shrinkage = Shrinkage::Share(0.01);
        let cured = LinearDiscriminantAnalysis { shrinkage, ..with(solver) };
        assert!(cured.fit(&wide.view()).is_ok());
    }
}

#[test]
fn estimated_shrinkage_takes_two_passes_with_the_same_bits_on_any_number_of_threads() {
    let data = sample(40_000);
    let learner = LinearDiscriminantAnalysis {
        shrinkage: Shrinkage::Auto,
        ..with(LinearDiscriminantSolver::Eigen)
    };
    let run = Context::default();
    let fits = [1, 2, 3]
        .map(|threads| learner.fit_in(&data.view(), &run.with_threads(threads)).unwrap().stored());
    assert!(fits[0] == fits[1] && fits[1] == fits[2]);
}

#[test]
fn log_odds_are_the_logarithms_of_ratios_of_posteriors() {
    let data = sample(90);
    let two = data.view().rows(0, 90);
    let codes: Vec<u32> = two.class_target().unwrap().0.iter().map(|&c| c.min(1)).collect();
    let labels = [Label::Int(0), Label::Int(1)];
    let two = two.with_target(Target::Class { codes: &codes, classes: &labels });
    let (frame, run) = (data.x.frame(), Context::default());
    for (view, pair) in [(data.view(), (2, 1)), (two, (0, 1))] {
        let model = LinearDiscriminantAnalysis::default().fit(&view).unwrap();
        let odds = model.log_odds_in(&frame, pair, &run).unwrap();
        for (odds, row) in odds.iter().zip(model.probabilities(&frame).unwrap().rows()) {
            assert!((odds - (row[pair.0] / row[pair.1]).ln()).abs() < 1e-6 * (1.0 + odds.abs()));
        }
        assert!(model.log_odds_in(&frame, (0, 7), &run).is_err());
    }
}

#[test]
fn a_class_without_rows_is_never_chosen() {
    let data = sample(60);
    let codes = data.view().class_target().unwrap().0;
    let rows: Vec<usize> = (0..60).filter(|&i| codes[i] != 1).collect();
    let part = data.view().gather(&rows);
    let model = LinearDiscriminantAnalysis::default().fit(&part.view()).unwrap();
    assert_eq!(model.priors[1], 0.0);
    let probabilities = model.probabilities(&data.x.frame()).unwrap();
    assert!(probabilities.rows().all(|row| row[1] == 0.0));
}

#[test]
fn hopeless_input_is_an_error_with_its_reason() {
    let fit = |x: Matrix, labels: &[i64]| {
        let labels: Vec<Label> = labels.iter().map(|&l| Label::Int(l)).collect();
        let data = OwnedDataset::classification(x, &labels);
        LinearDiscriminantAnalysis::default().fit(&data.view()).map(|_| ()).unwrap_err()
    };
    let column = |values: &[f64]| Matrix::column_vector(values.to_vec());
    assert_eq!(fit(column(&[1.0, 2.0]), &[0, 0]).code(), Code::OneClass);
    assert_eq!(fit(column(&[1.0, 2.0]), &[0, 1]).code(), Code::TooFew);
    assert_eq!(fit(column(&[1.0, 1.0, 2.0]), &[0, 0, 1]).code(), Code::Numeric);
    let too_many = LinearDiscriminantAnalysis { n_components: Some(3), ..Default::default() };
    assert!(too_many.fit(&sample(30).view()).unwrap_err().message().contains("at most 2"));
    let priors = Some(vec![0.5, 0.2, 0.2]);
    let priors = LinearDiscriminantAnalysis { priors, ..Default::default() };
    assert!(priors.fit(&sample(30).view()).unwrap_err().message().contains("sum to 1"));
}
