//! Coordinate descent on a quadratic with an L1 and an L2 penalty of each coordinate.
//!
//! Minimises ½ bᵀGb - cᵀb + Σ l1_j |b_j| + ½ Σ l2_j b_j² for a positive semidefinite G, which is a
//! matrix or products on demand ([`Products`]). The slope Gb - c is kept beside b.
//!
//! A working set holds the coordinates that are not zero or want to leave zero, with their own copy
//! of the products, which the cache holds. Passes b_j ← S(G_jj b_j - slope_j, l1_j)/(G_jj + l2_j), S
//! the soft threshold, run over that set alone; after many slow passes the linear equations of the
//! coordinates other than zero are solved, as far as no sign changes. Then the slope is brought up to
//! date, violators of optimality enter the set, and the caller's criterion decides whether to stop.
//!
//! Friedman, Hastie and Tibshirani (2010), Journal of Statistical Software 33(1), 1-22.

use super::working_set::{Local, WorkingSet};
use learnt_core::context::Ended;
use learnt_core::linalg::{add_scaled, dot};
use learnt_core::prelude::*;
use learnt_core::vectorized;

/// A symmetric positive semidefinite matrix G, whole or computed on demand.
pub(crate) trait Products: Sync {
    /// Number of coordinates.
    fn size(&self) -> usize;
    /// G_jj.
    fn diagonal(&self, j: usize) -> f64;
    /// G_jk for each j of `new` (rows) and k of `others` (columns).
    fn rows(&self, new: &[usize], others: &[usize], run: &Context) -> Matrix;
    /// slope += Σ change_k G_k over the given columns.
    fn add(&self, slope: &mut [f64], columns: &[usize], change: &[f64], run: &Context);
    /// How many coordinates may enter a working set of this size at once.
    fn most_new(&self, _held: usize) -> usize {
        usize::MAX
    }
}

impl Products for Matrix {
    fn size(&self) -> usize {
        self.nrows()
    }

    fn diagonal(&self, j: usize) -> f64 {
        self[(j, j)]
    }

    fn rows(&self, new: &[usize], others: &[usize], _: &Context) -> Matrix {
        Matrix::from_fn(new.len(), others.len(), |i, k| self[(new[i], others[k])])
    }

    fn add(&self, slope: &mut [f64], columns: &[usize], change: &[f64], _run: &Context) {
        vectorized!({
            for (&j, &change) in columns.iter().zip(change) {
                if change != 0.0 {
                    add_scaled(slope, change, Matrix::row(self, j));
                }
            }
        });
    }
}

/// The penalties of the coordinates, and whether these must not be negative.
#[derive(Clone, Debug)]
pub(crate) struct Penalty {
    pub(crate) l1: Vec<f64>,
    pub(crate) l2: Vec<f64>,
    pub(crate) positive: bool,
}

impl Penalty {
    /// The same penalties for all coordinates.
    pub(crate) fn uniform(size: usize, l1: f64, l2: f64, positive: bool) -> Penalty {
        Penalty { l1: vec![l1; size], l2: vec![l2; size], positive }
    }

    /// How far the slope of coordinate j, at zero, is outside what its L1 penalty holds.
    fn excess(&self, j: usize, slope: f64, share: f64) -> f64 {
        let pull = if self.positive { -slope } else { slope.abs() };
        pull - share * self.l1[j]
    }

    /// Distance of zero from the subdifferential in coordinate j.
    #[allow(dead_code, reason = "for solvers that take this descent as their inner step")]
    fn violation(&self, j: usize, b: f64, slope: f64) -> f64 {
        let smooth = slope + self.l2[j] * b;
        match b == 0.0 {
            true => self.excess(j, smooth, 1.0).max(0.0),
            false => (smooth + self.l1[j] * b.signum()).abs(),
        }
    }
}

/// How to search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    /// Most passes over the working set.
    pub(crate) max_iter: usize,
    /// Coordinates at zero whose slope reaches this share of their L1 penalty enter the first
    /// working set. 1 admits violators only; after a step from penalty λ₀ down to λ, the strong rule
    /// is 2 - λ₀/λ.
    pub(crate) reach: f64,
    /// Passes in random order, from this stream of random numbers; in order of the columns if none.
    pub(crate) random: Option<u64>,
}

impl Default for Search {
    fn default() -> Self {
        Search { max_iter: 1000, reach: 1.0, random: None }
    }
}

/// A point on its way to the minimum. It may be sent on with other penalties: a warm start.
pub(crate) struct Descent<'a, P> {
    products: &'a P,
    /// The coordinates.
    pub(crate) b: Vec<f64>,
    /// Gb - c.
    pub(crate) slope: Vec<f64>,
    set: WorkingSet,
}

impl<'a, P: Products> Descent<'a, P> {
    /// At zero.
    pub(crate) fn new(products: &'a P, linear: &[f64]) -> Self {
        Descent {
            products,
            b: vec![0.0; linear.len()],
            slope: linear.iter().map(|c| -c).collect(),
            set: WorkingSet::new(linear.len()),
        }
    }

    /// At a point.
    #[allow(dead_code, reason = "for solvers that take this descent as their inner step")]
    pub(crate) fn at(products: &'a P, linear: &[f64], b: Vec<f64>, run: &Context) -> Self {
        let mut out = Self::new(products, linear);
        let columns: Vec<usize> = (0..b.len()).filter(|&j| b[j] != 0.0).collect();
        let values: Vec<f64> = columns.iter().map(|&j| b[j]).collect();
        products.add(&mut out.slope, &columns, &values, run);
        out.b = b;
        out
    }

    /// Largest distance of zero from the subdifferential of a coordinate: zero at the minimum.
    #[allow(dead_code, reason = "for solvers that take this descent as their inner step")]
    pub(crate) fn violation(&self, penalty: &Penalty) -> f64 {
        let pairs = self.b.iter().zip(&self.slope).enumerate();
        pairs.fold(0.0, |most, (j, (b, slope))| most.max(penalty.violation(j, *b, *slope)))
    }

    /// The objective, with the c it was started with.
    #[allow(dead_code, reason = "for solvers that take this descent as their inner step")]
    pub(crate) fn objective(&self, linear: &[f64], penalty: &Penalty) -> f64 {
        let smooth = 0.5 * (dot(&self.b, &self.slope) - dot(&self.b, linear));
        let size = |(j, b): (usize, &f64)| penalty.l1[j] * b.abs() + 0.5 * penalty.l2[j] * b * b;
        smooth + self.b.iter().enumerate().map(size).sum::<f64>()
    }

    /// Goes on until `optimal` holds for the coordinates and their slope, nothing moves any more, or
    /// the passes are used up.
    pub(crate) fn minimize(
        &mut self,
        penalty: &Penalty,
        search: &Search,
        optimal: &mut dyn FnMut(&[f64], &[f64]) -> bool,
        run: &Context,
    ) -> Result<Ended> {
        let mut rng = search.random.map(|stream| run.rng(stream));
        let mut ended = Ended { n_iter: 0, converged: false };
        let (mut target, mut reach) = (f64::INFINITY, search.reach);
        self.set.compact(&self.b);
        loop {
            let entered = self.admit(penalty, reach, run);
            reach = 1.0;
            if entered > 0 {
                // Another set: how near passes came to the minimum over the last one says nothing about it.
                target = f64::INFINITY;
            }
            let mut local = Local::new(&self.set, penalty, &self.b, &self.slope);
            let left = search.max_iter - ended.n_iter;
            let settled = local.settle(left, &mut target, rng.as_mut(), run)?;
            let change = local.difference(&self.b);
            local.write(&mut self.b);
            self.products.add(&mut self.slope, self.set.columns(), &change, run);
            ended.n_iter += settled.passes;
            let still = !settled.moved && entered == 0;
            ended.converged = optimal(&self.b, &self.slope) || still;
            if ended.converged || ended.n_iter >= search.max_iter {
                ended.n_iter = ended.n_iter.max(1);
                return Ok(ended);
            }
        }
    }

    /// Takes coordinates into the working set; how many.
    fn admit(&mut self, penalty: &Penalty, reach: f64, run: &Context) -> usize {
        let mut wanted: Vec<(f64, usize)> = Vec::new();
        for j in 0..self.b.len() {
            if self.set.contains(j) || self.products.diagonal(j) + penalty.l2[j] <= 0.0 {
                continue;
            }
            let excess = match self.b[j] == 0.0 {
                true => penalty.excess(j, self.slope[j], reach),
                false => f64::INFINITY,
            };
            if excess > 0.0 {
                wanted.push((excess, j));
            }
        }
        let most = self.products.most_new(self.set.columns().len());
        if wanted.len() > most {
            wanted.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            wanted.truncate(most);
            wanted.sort_by_key(|&(_, j)| j);
        }
        let columns: Vec<usize> = wanted.into_iter().map(|(_, j)| j).collect();
        self.set.extend(&columns, self.products, run);
        columns.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::linalg::{gram, matvec};
    use learnt_core::stats::sample::standard_normal;

    fn problem(n: usize, p: usize) -> (Matrix, Vec<f64>) {
        let mut rng = Context::default().rng(5);
        let x = Matrix::from_fn(n, p, |_, _| standard_normal(&mut rng) + 0.3);
        let y: Vec<f64> =
            (0..n).map(|i| 2.0 * x[(i, 0)] - x[(i, p / 2)] + standard_normal(&mut rng)).collect();
        let c = matvec(x.view().transposed(), &y);
        (gram(x.view()), c)
    }

    fn solved(g: &Matrix, c: &[f64], penalty: &Penalty, random: Option<u64>) -> Vec<f64> {
        let run = Context::default();
        let mut descent = Descent::new(g, c);
        let search = Search { max_iter: 5000, random, ..Search::default() };
        let mut never = |_: &[f64], _: &[f64]| false;
        let ended = descent.minimize(penalty, &search, &mut never, &run).unwrap();
        assert!(ended.converged);
        let largest = c.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
        assert!(descent.violation(penalty) < 1e-9 * largest, "{}", descent.violation(penalty));
        let fresh = Descent::at(g, c, descent.b.clone(), &run);
        assert!(fresh.violation(penalty) < 1e-9 * largest);
        descent.b
    }

    #[test]
    fn one_coordinate_is_a_soft_threshold() {
        let g = Matrix::from_rows(&[[2.0]]).unwrap();
        for (c, l1, l2, expected) in
            [(5.0, 1.0, 0.0, 2.0), (-5.0, 1.0, 2.0, -1.0), (0.5, 1.0, 0.0, 0.0)]
        {
            let penalty = Penalty::uniform(1, l1, l2, false);
            assert_eq!(solved(&g, &[c], &penalty, None), [expected]);
        }
        assert_eq!(solved(&g, &[-5.0], &Penalty::uniform(1, 1.0, 0.0, true), None), [0.0]);
    }

    #[test]
    fn the_minimum_has_no_violation_in_any_order_of_passes() {
        for (n, p) in [(60, 12), (20, 40), (200, 90)] {
            let (g, c) = problem(n, p);
            for (l1, l2, positive) in [(3.0, 0.0, false), (3.0, 5.0, false), (1.0, 0.1, true)] {
                let penalty = Penalty::uniform(p, l1, l2, positive);
                let cyclic = solved(&g, &c, &penalty, None);
                let random = solved(&g, &c, &penalty, Some(1));
                assert!(!positive || cyclic.iter().all(|b| *b >= 0.0));
                if n > p || l2 > 0.0 {
                    for (a, b) in cyclic.iter().zip(&random) {
                        assert!((a - b).abs() < 1e-8, "{a} {b}");
                    }
                }
            }
        }
    }

    #[test]
    fn without_l1_it_solves_the_linear_equations() {
        let (g, c) = problem(100, 10);
        let b = solved(&g, &c, &Penalty::uniform(10, 0.0, 1.0, false), None);
        for j in 0..10 {
            assert!((dot(g.row(j), &b) + b[j] - c[j]).abs() < 1e-8);
        }
    }

    #[test]
    fn nearly_dependent_coordinates_still_end_at_the_minimum() {
        let mut rng = Context::default().rng(9);
        let x = Matrix::from_fn(50, 6, |i, j| (i as f64 * 0.1).powi(j as i32 % 3 + 1) * 0.01);
        let x = Matrix::from_fn(50, 6, |i, j| x[(i, j)] + 1e-4 * standard_normal(&mut rng));
        let g = gram(x.view());
        let c: Vec<f64> = (0..6).map(|j| g[(j, 0)] + 0.01 * j as f64).collect();
        solved(&g, &c, &Penalty::uniform(6, 1e-3, 0.0, false), None);
    }

    #[test]
    fn a_warm_start_ends_where_a_cold_one_does() {
        let (g, c) = problem(80, 30);
        let run = Context::default();
        let mut warm = Descent::new(&g, &c);
        let mut never = |_: &[f64], _: &[f64]| false;
        let search = Search { max_iter: 5000, ..Search::default() };
        for l1 in [60.0, 30.0, 10.0, 2.0, 20.0] {
            let penalty = Penalty::uniform(30, l1, 0.0, false);
            let reach = Search { reach: 0.5, ..search };
            warm.minimize(&penalty, &reach, &mut never, &run).unwrap();
            let cold = solved(&g, &c, &penalty, None);
            for (a, b) in warm.b.iter().zip(&cold) {
                assert!((a - b).abs() < 1e-8);
            }
            assert!(warm.objective(&c, &penalty) <= 0.0);
        }
    }

    #[test]
    fn running_out_of_passes_is_said() {
        let (g, c) = problem(40, 30);
        let search = Search { max_iter: 1, ..Search::default() };
        let mut never = |_: &[f64], _: &[f64]| false;
        let penalty = Penalty::uniform(30, 0.1, 0.0, false);
        let ended =
            Descent::new(&g, &c).minimize(&penalty, &search, &mut never, &Context::default());
        assert_eq!(ended.unwrap(), Ended { n_iter: 1, converged: false });
    }
}
