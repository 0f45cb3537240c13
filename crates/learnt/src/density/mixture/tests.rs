use super::*;

fn groups(rows: usize, width: usize) -> OwnedDataset {
    let noise = |i: usize, j: usize| {
        let z = ((i * 2_654_435_761 + j * 40_503 + 7) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (0..4).map(|k| (z.rotate_left(16 * k) >> 48) as f64 / 65_536.0 - 0.5).sum::<f64>()
    };
    OwnedDataset::unsupervised(Matrix::from_fn(rows, width, |i, j| {
        let shared = noise(i, 1000);
        (i % 3) as f64 * 3.0 * if j % 2 == 0 { 1.0 } else { -1.0 } + noise(i, j) + 0.7 * shared
    }))
}

const FORMS: [MixtureCovariance; 4] = [
    MixtureCovariance::Full,
    MixtureCovariance::Tied,
    MixtureCovariance::Diag,
    MixtureCovariance::Spherical,
];

/// ln p by the definition, with inverses and determinants.
fn by_definition(parts: &Components, row: &[f64]) -> f64 {
    let terms = (0..parts.count()).map(|k| {
        let factor = Cholesky::new(&parts.covariance(k)).unwrap();
        let d: Vec<f64> = row.iter().zip(parts.means.row(k)).map(|(x, m)| x - m).collect();
        let inverse = factor.inverse();
        let square: f64 = (0..d.len())
            .flat_map(|i| (0..d.len()).map(move |j| (i, j)))
            .map(|(i, j)| d[i] * inverse[(i, j)] * d[j])
            .sum();
        let constant = row.len() as f64 * std::f64::consts::TAU.ln() + factor.ln_determinant();
        parts.weights[k] * (-0.5 * (constant + square)).exp()
    });
    terms.sum::<f64>().ln()
}

#[test]
fn densities_are_those_of_the_definition_and_responsibilities_sum_to_one() {
    let data = groups(203, 3);
    let run = Context::default();
    for covariance_type in FORMS {
        let learner = GaussianMixture { n_components: 3, covariance_type, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        let logs = model.log_density_in(&data.x.frame(), &run).unwrap();
        let parts = model.components().unwrap();
        for (row, log) in data.x.values().rows().zip(&logs) {
            let expected = by_definition(&parts, row);
            assert!((log - expected).abs() < 1e-10 * expected.abs().max(1.0), "{log} {expected}");
        }
        for row in model.responsibilities(&data.x.frame(), &run).unwrap().rows() {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}

/// Narrow triangles are solved by columns, wide ones by blocks, the last of which may be part padding.
#[test]
fn wide_densities_are_those_of_the_definition_and_a_row_has_the_same_bits_alone() {
    let run = Context::default();
    for (covariance_type, width) in
        FORMS.into_iter().flat_map(|form| [12, 13, 40].map(|w| (form, w)))
    {
        let data = groups(301, width);
        let settings = GaussianMixture { n_components: 3, covariance_type, ..Default::default() };
        let learner = GaussianMixture { reg_covar: 0.1, max_iter: 5, ..settings };
        let model = learner.fit(&data.view()).unwrap();
        let logs = model.log_density_in(&data.x.frame(), &run).unwrap();
        let parts = model.components().unwrap();
        for (i, row) in data.x.values().rows().enumerate() {
            let (log, expected) = (logs[i], by_definition(&parts, row));
            assert!((log - expected).abs() < 1e-9 * expected.abs().max(1.0), "{log} {expected}");
            let alone = model.log_density_in(&data.x.frame().rows(i, i + 1), &run).unwrap();
            assert_eq!(alone, [log]);
        }
        let turned = data.x.values().transposed();
        let kernel = parts.kernel().unwrap();
        let (mut there, mut here) = (vec![0.0; 903], vec![0.0; 903]);
        kernel.joint(data.x.values().view(), &mut there);
        kernel.joint(turned.view().transposed(), &mut here);
        assert_eq!(there, here);
    }
}

#[test]
fn the_likelihood_never_falls_in_any_form_and_width() {
    for (covariance_type, width) in
        FORMS.into_iter().flat_map(|form| [(form, 2), (form, 37)].into_iter())
    {
        let data = groups(400, width);
        let mut before = f64::NEG_INFINITY;
        for max_iter in 1..8 {
            let learner = GaussianMixture {
                n_components: 3,
                covariance_type,
                max_iter,
                tol: 0.0,
                init_params: InitParams::Random,
                reg_covar: 1e-9,
                ..Default::default()
            };
            let bound = learner.fit(&data.view()).unwrap().lower_bound;
            assert!(bound >= before - 1e-9, "{covariance_type:?} {width}: {bound} < {before}");
            before = bound;
        }
    }
}

#[test]
fn a_step_has_the_weighted_moments_of_the_definition() {
    let data = groups(150, 3);
    let run = Context::default();
    for covariance_type in FORMS {
        let learner = |max_iter| GaussianMixture {
            n_components: 2,
            covariance_type,
            max_iter,
            tol: 0.0,
            reg_covar: 0.0,
            ..Default::default()
        };
        let before = learner(1).fit(&data.view()).unwrap();
        let after = learner(2).fit(&data.view()).unwrap().components().unwrap();
        let r = before.responsibilities(&data.x.frame(), &run).unwrap();
        let x = data.x.values();
        let mut within = Matrix::zeros(3, 3);
        for k in 0..2 {
            let total: f64 = (0..150).map(|i| r[(i, k)]).sum();
            assert!((after.weights[k] - total / 150.0).abs() < 1e-12);
            let mean = |j: usize| (0..150).map(|i| r[(i, k)] * x[(i, j)]).sum::<f64>() / total;
            let about = Matrix::from_fn(3, 3, |a, b| {
                let (ma, mb) = (mean(a), mean(b));
                (0..150).map(|i| r[(i, k)] * (x[(i, a)] - ma) * (x[(i, b)] - mb)).sum::<f64>()
            });
            within.as_mut_slice().iter_mut().zip(about.as_slice()).for_each(|(w, a)| *w += a);
            let trace = (0..3).map(|j| about[(j, j)]).sum::<f64>() / 3.0;
            let got = after.covariance(k);
            for (a, b) in (0..3).flat_map(|a| (0..3).map(move |b| (a, b))) {
                let expected = match covariance_type {
                    MixtureCovariance::Full => about[(a, b)] / total,
                    MixtureCovariance::Diag if a == b => about[(a, a)] / total,
                    MixtureCovariance::Spherical if a == b => trace / total,
                    MixtureCovariance::Tied => continue,
                    _ => 0.0,
                };
                assert!((got[(a, b)] - expected).abs() < 1e-10, "{covariance_type:?}");
            }
        }
        if covariance_type == MixtureCovariance::Tied {
            for (got, within) in after.covariances[0].as_slice().iter().zip(within.as_slice()) {
                assert!((got - within / 150.0).abs() < 1e-10);
            }
        }
    }
}

#[test]
fn parameters_are_counted_as_in_the_books() {
    let count = |form: MixtureCovariance, k: usize, p: usize| k - 1 + k * p + form.parameters(k, p);
    assert_eq!(count(MixtureCovariance::Full, 3, 2), 17);
    assert_eq!(count(MixtureCovariance::Full, 3, 10), 197);
    assert_eq!(count(MixtureCovariance::Diag, 3, 2), 14);
    assert_eq!(count(MixtureCovariance::Diag, 3, 10), 62);
}

#[test]
fn drawn_rows_have_the_moments_of_the_model() {
    let data = groups(600, 2);
    let model =
        GaussianMixture { n_components: 3, ..Default::default() }.fit(&data.view()).unwrap();
    let drawn = model.sample(60_000, &Context::default().with_seed(5)).unwrap();
    for j in 0..2 {
        let mean: f64 = (0..3).map(|k| model.weights[k] * model.means[(k, j)]).sum();
        let got = drawn.column(j).iter().sum::<f64>() / 60_000.0;
        assert!((mean - got).abs() < 0.05, "{mean} {got}");
    }
}

#[test]
fn a_small_known_variance_is_k_means() {
    let data = groups(90, 2);
    let start: Vec<Vec<f64>> = (0..3).map(|i| data.x.values().row(i).to_vec()).collect();
    let learner = GaussianMixture {
        n_components: 3,
        means_init: Some(start.clone()),
        known_variance: Some(1e-4),
        tol: 0.0,
        ..Default::default()
    };
    let model = learner.fit(&data.view()).unwrap();
    let init = crate::cluster::Init::Centers(start);
    let centres = crate::cluster::KMeans { n_clusters: 3, init, tol: 0.0, ..Default::default() };
    let centres = centres.fit(&data.view()).unwrap();
    for (a, b) in model.means.as_slice().iter().zip(centres.cluster_centers.as_slice()) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
}

#[test]
fn singular_covariances_and_too_few_rows_are_named() {
    let x = Matrix::from_fn(20, 2, |i, j| i as f64 * (j + 1) as f64);
    let data = OwnedDataset::unsupervised(x);
    let learner = GaussianMixture { n_components: 2, reg_covar: 0.0, ..Default::default() };
    let error = learner.fit(&data.view()).unwrap_err();
    assert!(error.to_string().contains("collapsed"), "{error}");
    assert!(error.to_string().contains("reg_covar"), "{error}");
    let many = GaussianMixture { n_components: 21, ..Default::default() };
    assert_eq!(many.fit(&data.view()).unwrap_err().code(), Code::TooFew);
}

#[test]
fn equal_rows_are_one_point_with_the_least_variance() {
    let data = OwnedDataset::unsupervised(Matrix::from_fn(50, 2, |_, j| 3.0 + j as f64));
    let model =
        GaussianMixture { n_components: 2, ..Default::default() }.fit(&data.view()).unwrap();
    let parts = model.components().unwrap();
    let alive = (0..2).find(|&k| parts.weights[k] > 0.5).unwrap();
    assert_eq!(parts.means.row(alive), [3.0, 4.0]);
    assert!((parts.covariance(alive)[(0, 0)] - 1e-6).abs() < 1e-18);
}

#[test]
fn starts_from_points_end_at_the_groups_and_components_may_be_sorted() {
    let data = groups(600, 2);
    for covariance_type in FORMS {
        for init_params in [InitParams::Uniform, InitParams::RandomPoints] {
            let learner = GaussianMixture {
                n_components: 3,
                covariance_type,
                init_params,
                n_init: 8,
                max_iter: 500,
                sort: true,
                ..Default::default()
            };
            let run = Context::default().with_seed(5);
            let model = learner.fit_in(&data.view(), &run).unwrap();
            for k in 0..3 {
                let expected = 3.0 * k as f64;
                assert!((model.means[(k, 0)] - expected).abs() < 0.3, "{:?}", model.means);
                assert!((model.means[(k, 1)] + expected).abs() < 0.3, "{:?}", model.means);
                assert!((model.weights[k] - 1.0 / 3.0).abs() < 0.05);
            }
            assert!(
                model.labels.iter().enumerate().filter(|(i, l)| **l as usize == i % 3).count()
                    > 560
            );
        }
    }
}

#[test]
fn a_uniform_start_has_unit_variances_and_points_have_those_of_all_rows() {
    // After one step of EM from one component both are the mean and the variance of all rows, so the
    // likelihood before that step tells the start.
    let values = vec![0.0, 2.0, 4.0, 10.0];
    let data = OwnedDataset::unsupervised(Matrix::column_vector(values.clone()));
    let bound = |init_params, seed| {
        let learner =
            GaussianMixture { init_params, max_iter: 1, reg_covar: 0.0, ..Default::default() };
        let run = Context::default().with_seed(seed);
        learner.fit_in(&data.view(), &run).unwrap().lower_bound
    };
    let at = |mean: f64, variance: f64| {
        let logs = values.iter().map(|x| {
            -0.5 * ((x - mean).powi(2) / variance + (std::f64::consts::TAU * variance).ln())
        });
        logs.sum::<f64>() / 4.0
    };
    let points = bound(InitParams::RandomPoints, 3);
    assert!(values.iter().any(|&mean| (points - at(mean, 14.0)).abs() < 1e-12), "{points}");
    for seed in 0..20 {
        let uniform = bound(InitParams::Uniform, seed);
        let (worst, best) = (at(10.0, 1.0), at(4.0, 1.0));
        assert!((worst..=best).contains(&uniform), "{uniform}");
    }
}

#[test]
fn iterations_may_end_when_the_means_stand_still() {
    let data = groups(300, 2);
    let learner = |tol, stop| GaussianMixture {
        n_components: 3,
        tol,
        stop,
        max_iter: 1000,
        ..Default::default()
    };
    let fit = |tol, stop| learner(tol, stop).fit(&data.view()).unwrap();
    let (loose, tight) = (fit(1e-2, MixtureStop::Means), fit(1e-12, MixtureStop::Means));
    assert!(loose.converged && tight.converged && loose.n_iter < tight.n_iter);
    let last = GaussianMixture { max_iter: tight.n_iter - 1, ..learner(0.0, MixtureStop::Means) };
    let before = last.fit(&data.view()).unwrap();
    let shift = squared(&before.means, &tight.means);
    assert!(shift <= 1e-12, "{shift}");
    let earlier = GaussianMixture { max_iter: tight.n_iter - 2, ..last };
    let earlier = earlier.fit(&data.view()).unwrap();
    assert!(squared(&earlier.means, &before.means) > 1e-12);
}

fn squared(a: &Matrix, b: &Matrix) -> f64 {
    a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| (a - b).powi(2)).sum()
}

#[test]
fn a_component_on_one_point_is_reported() {
    use learnt_core::context::{Quiet, Recorder};
    let mut rows = vec![[50.0, 50.0]; 10];
    rows.extend((0..40).map(|i| [(i as f64).sin(), (i as f64 * 1.7).cos()]));
    let data = OwnedDataset::unsupervised(Matrix::from_rows(&rows).unwrap());
    let recorder = Recorder::new(&Quiet);
    let run = Context::default().observed_by(&recorder);
    let learner = GaussianMixture { n_components: 2, ..Default::default() };
    learner.fit_in(&data.view(), &run).unwrap();
    let warnings = recorder.warnings();
    assert!(warnings.iter().any(|w| w.message.contains("1 of 2 components have collapsed")));
}
