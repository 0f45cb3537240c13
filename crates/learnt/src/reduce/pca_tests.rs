use super::*;
use learnt_core::rounds::{InMemory, Source, block_rows};
use learnt_core::trained::Trained;

fn sample(n: usize, d: usize) -> OwnedDataset {
    let noise = |i: usize, j: usize| {
        let z = ((i * 7_919 + j * 104_729 + 13) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (z >> 40) as f64 / (1_u64 << 24) as f64 - 0.5
    };
    OwnedDataset::unsupervised(Matrix::from_fn(n, d, |i, j| {
        100.0 + noise(i, 99) * (j + 1) as f64 + noise(i, j) / (1 + j) as f64
    }))
}

fn with(svd_solver: PcaSolver) -> PCA {
    PCA { svd_solver, ..Default::default() }
}

struct Streamed<'a>(InMemory<'a>);
impl Source for Streamed<'_> {
    fn outline(&self) -> Outline<'_> {
        self.0.outline()
    }
    fn with(&self, index: u64, f: &mut dyn FnMut(&Block) -> Result<()>) -> Result<()> {
        self.0.with(index, f)
    }
}

#[test]
fn streams_and_threads_give_the_same_bits() {
    let data = sample(2 * block_rows(5) + 777, 5);
    for (solver, n_components) in [
        (PcaSolver::Full, Components::All),
        (PcaSolver::CovarianceEigh, Components::All),
        (PcaSolver::Randomized, Components::Count(2)),
    ] {
        let with = |svd_solver| PCA { svd_solver, n_components, ..Default::default() };
        let run = Context::default();
        let first = with(solver).fit_in(&data.view(), &run.with_threads(1)).unwrap();
        for threads in [2, 4] {
            let other = with(solver).fit_in(&data.view(), &run.with_threads(threads)).unwrap();
            assert_eq!(other.stored(), first.stored());
        }
        let source = Streamed(InMemory::new(data.view()));
        let streamed = Trained::fit_source(&with(solver), &source, &[], &run).unwrap();
        assert_eq!(streamed.model.stored(), first.stored());
    }
}

#[test]
fn solvers_agree_on_tall_and_wide_tables() {
    for (n, d) in [(200, 6), (7, 20), (2, 3), (20, 20)] {
        let data = sample(n, d);
        let full = with(PcaSolver::Full).fit(&data.view()).unwrap();
        let eigh = with(PcaSolver::CovarianceEigh).fit(&data.view()).unwrap();
        assert_eq!(full.n_components, n.min(d));
        for k in 0..n.min(d) {
            let (a, b) = (full.explained_variance[k], eigh.explained_variance[k]);
            assert!((a - b).abs() < 1e-10 * full.explained_variance[0], "{n} x {d}: {a} {b}");
        }
        let gap: f64 = (0..d).map(|j| full.components[(0, j)] - eigh.components[(0, j)]).sum();
        assert!(gap.abs() < 1e-8);
    }
}

#[test]
fn few_components_are_the_first_of_all_with_their_shares_and_noise() {
    for (n, d) in [(400, 30), (60, 90)] {
        let data = sample(n, d);
        let n_components = Components::Count(3);
        let full = PCA { n_components, ..with(PcaSolver::Full) }.fit(&data.view()).unwrap();
        for solver in [PcaSolver::Randomized, PcaSolver::Arpack] {
            let few = PCA { n_components, ..with(solver) }.fit(&data.view()).unwrap();
            let close = |a: &[f64], b: &[f64]| {
                a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-7 * (1.0 + b.abs()))
            };
            assert!(close(&few.explained_variance_ratio, &full.explained_variance_ratio));
            assert!(close(&[few.noise_variance], &[full.noise_variance]));
            assert!(close(few.components.row(0), full.components.row(0)));
        }
    }
}

#[test]
fn scores_are_uncorrelated_white_if_asked_and_lead_back() {
    let data = sample(300, 4);
    for whiten in [false, true] {
        let form = ComponentForm { whiten, ..Default::default() };
        let model = PCA { form, ..Default::default() }.fit(&data.view()).unwrap();
        let scores = model.transform(&data.x.frame()).unwrap();
        let again = Scatter::of(&Dataset::new(scores.frame()));
        for i in 0..4 {
            for j in 0..4 {
                let expected = match (i == j, whiten) {
                    (false, _) => 0.0,
                    (true, true) => 1.0,
                    (true, false) => model.explained_variance[i],
                };
                assert!((again.scatter[(i, j)] / 299.0 - expected).abs() < 1e-10);
            }
        }
        let back = model.inverse_transform_in(&scores.frame(), &Context::default()).unwrap();
        for (a, b) in back.values().as_slice().iter().zip(data.x.values().as_slice()) {
            assert!((a - b).abs() < 1e-10);
        }
    }
}

#[test]
fn a_share_keeps_just_enough_components() {
    assert_eq!(enough(&[0.6, 0.3, 0.1], 0.5), 1);
    assert_eq!(enough(&[0.6, 0.3, 0.1], 0.6), 2);
    assert_eq!(enough(&[0.6, 0.3, 0.1], 0.95), 3);
    let data = sample(100, 5);
    let learner = PCA { n_components: Components::Share(0.99), ..Default::default() };
    let model = learner.fit(&data.view()).unwrap();
    let sum: f64 = model.explained_variance_ratio.iter().sum();
    assert!(sum > 0.99 && sum - model.explained_variance_ratio[model.n_components - 1] <= 0.99);
}

#[test]
fn weights_equal_repeated_rows() {
    let data = sample(90, 4);
    let weights: Vec<f64> = (0..90).map(|i| f64::from(1 + i % 3)).collect();
    let repeated: Vec<usize> = (0..90).flat_map(|i| vec![i; 1 + i % 3]).collect();
    for solver in [PcaSolver::Full, PcaSolver::CovarianceEigh] {
        let a = with(solver).fit(&data.view().with_weights(&weights)).unwrap();
        let b = with(solver).fit(&data.view().gather(&repeated).view()).unwrap();
        for (x, y) in a.components.as_slice().iter().zip(b.components.as_slice()) {
            assert!((x - y).abs() < 1e-9);
        }
    }
}

#[test]
fn a_constant_table_has_no_variance_and_no_missing_numbers() {
    let data = OwnedDataset::unsupervised(Matrix::from_fn(50, 3, |_, _| 0.1));
    for solver in [PcaSolver::Full, PcaSolver::CovarianceEigh] {
        let model = with(solver).fit(&data.view()).unwrap();
        assert_eq!(model.explained_variance, [0.0; 3]);
        assert_eq!(model.explained_variance_ratio, [0.0; 3]);
    }
}

#[test]
fn the_triangle_keeps_variances_that_the_covariance_loses() {
    let x = Matrix::from_fn(400, 2, |i, j| {
        let along = f64::from(i as i32 % 20 - 10);
        if j == 0 { along } else { along + 1e-9 * f64::from(i as i32 / 20 % 2) }
    });
    let data = OwnedDataset::unsupervised(x);
    let model = with(PcaSolver::Full).fit(&data.view()).unwrap();
    let expected = 1e-18 / 4.0 / 2.0 * 400.0 / 399.0;
    assert!((model.explained_variance[1] / expected - 1.0).abs() < 1e-3);
}

#[test]
fn too_many_components_are_refused_with_the_numbers() {
    let learner = PCA { n_components: Components::Count(5), ..Default::default() };
    let error = learner.fit(&sample(4, 9).view()).unwrap_err();
    assert!(error.message().contains("at most 4"), "{error}");
}

#[test]
fn the_divisor_may_be_n_and_small_eigenvalues_may_be_left_out() {
    // Eigenvalues 4 and 1 with the divisor n.
    let x = Matrix::from_rows(&[[2.0, 2.0], [-2.0, -2.0], [1.0, -1.0], [-1.0, 1.0]]).unwrap();
    let data = OwnedDataset::unsupervised(x);
    for svd_solver in [PcaSolver::Full, PcaSolver::CovarianceEigh] {
        let form = ComponentForm { ddof: 0, ..Default::default() };
        let learner = PCA { form, svd_solver, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        assert!((model.explained_variance[0] - 4.0).abs() < 1e-12);
        assert!((model.explained_variance[1] - 1.0).abs() < 1e-12);
        assert!((model.singular_values[0] - 4.0).abs() < 1e-12);
        let few = |least| PCA { min_variance: Some(least), ..learner.clone() };
        assert_eq!(few(1.5).fit(&data.view()).unwrap().n_components, 1);
        assert_eq!(few(0.5).fit(&data.view()).unwrap().n_components, 2);
        let error = few(4.5).fit(&data.view()).unwrap_err();
        assert!(error.to_string().contains("min_variance"), "{error}");
    }
}

#[test]
fn components_can_be_made_a_rotation_and_nothing_else_changes() {
    let mut turned = 0;
    for d in 2..9 {
        let data = sample(40, d);
        let plain = PCA::default().fit(&data.view()).unwrap();
        let form = ComponentForm { proper_rotation: true, ..Default::default() };
        let proper = PCA { form, ..Default::default() }.fit(&data.view()).unwrap();
        let determinant = |m: &Matrix| {
            // Of an orthogonal matrix: the product of the pivots of elimination without exchanges.
            let mut left = m.clone();
            let mut product = 1.0;
            for k in 0..d {
                product *= left[(k, k)];
                for i in k + 1..d {
                    let factor = left[(i, k)] / left[(k, k)];
                    for j in k..d {
                        left[(i, j)] -= factor * left[(k, j)];
                    }
                }
            }
            product
        };
        assert!((determinant(&proper.components) - 1.0).abs() < 1e-6, "{d}");
        turned += u32::from(plain.components != proper.components);
        assert_eq!(plain.explained_variance, proper.explained_variance);
        assert_eq!(plain.components.row(0), proper.components.row(0));
        let scores = proper.transform(&data.x.frame()).unwrap();
        let back = proper.inverse_transform_in(&scores.frame(), &Context::default()).unwrap();
        for (a, b) in back.values().as_slice().iter().zip(data.x.values().as_slice()) {
            assert!((a - b).abs() < 1e-9);
        }
    }
    assert!((1..7).contains(&turned), "{turned}");
}

#[test]
fn values_that_are_not_finite_are_named_on_every_route() {
    for (n, d, solver, n_components) in [
        (300, 5, PcaSolver::CovarianceEigh, Components::All),
        (300, 5, PcaSolver::Full, Components::All),
        (20, 60, PcaSolver::Full, Components::All),
        (400, 60, PcaSolver::Randomized, Components::Count(3)),
        (400, 60, PcaSolver::Arpack, Components::Count(3)),
    ] {
        for (value, code) in [(f64::NAN, Code::Missing), (f64::NEG_INFINITY, Code::NotFinite)] {
            for row in [0, n - 1] {
                let mut data = sample(n, d);
                data.x.values_mut()[(row, 3)] = value;
                let learner = PCA { svd_solver: solver, n_components, ..Default::default() };
                let error = learner.fit(&data.view()).unwrap_err();
                assert_eq!(error.code(), code, "{solver:?} {error}");
                assert!(error.to_string().contains(&format!("row {}", row + 1)), "{error}");
            }
        }
    }
}
