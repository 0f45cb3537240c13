//! Kernel density: p(x) = Σ w_i K((x - x_i) / h) / (Σ w_i h^d ∫ K).
//!
//! Over a tree of boxes: a node whose rows' kernels differ by at most 2 (atol' + r s) / W adds its
//! weight times their middle, where s is the sum so far, W all weight, r the larger of `rtol` and
//! 1e-14. So the density is within `atol` plus r times itself of the sum over all rows. Endless
//! windows are summed relative to the nearest row, so that far tails have finite logarithms; beyond
//! the reach of the others the density is 0 and its logarithm -∞. Rows are drawn as a row at random
//! plus a difference from the window. A window of one's own is a profile over the length (`profile.rs`).
//!
//! M. Rosenblatt (1956); E. Parzen (1962); A. Gray and A. Moore (2003), SIAM Data Mining.

use super::profile::{Profile, Shape};
use super::windows::Window;
use crate::neighbors::BoxTree;
use learnt_core::persist::{Node, invalid};
use learnt_core::prelude::*;
use learnt_core::stats::sample::uniform;
use learnt_core::vectorized;

/// Kernel density estimation (KDE, Parzen windows): a bump around every row.
///
/// Distances are Euclidean; `metric`, `algorithm` and `breadth_first` do not exist.
///
/// ```
/// use learnt::{density::KernelDensity, prelude::*};
/// let x = Matrix::column_vector(vec![2.0, 3.0, 4.0, 8.0, 10.0, 11.0, 12.0]);
/// let model = KernelDensity::default().fit(&OwnedDataset::unsupervised(x).view())?;
/// let at = Table::unnamed(Matrix::column_vector(vec![3.0]));
/// let density = model.log_density_in(&at.frame(), &Context::default())?[0].exp();
/// assert!((density - 0.1261264595).abs() < 1e-9);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct KernelDensity {
    /// Width of the window.
    #[param(default = Bandwidth::Width(1.0), search = log(1e-2, 1e2))]
    pub bandwidth: Bandwidth,
    /// The window.
    #[param(default = Window::Gaussian)]
    pub kernel: Window,
    /// A window of one's own instead of `kernel`: its values at equal steps of the length of a difference
    /// from 0 to one bandwidth, straight between them; it is scaled to be a density.
    pub profile: Option<Vec<f64>>,
    /// Absolute error of a density that is allowed.
    #[param(default = 0.0, range = 0.0.., below = f64::INFINITY)]
    pub atol: f64,
    /// Relative error of a density that is allowed.
    #[param(default = 0.0, range = 0.0.., below = 1.0)]
    pub rtol: f64,
    /// Rows in a leaf of the tree; only time depends on it.
    #[param(default = 40, range = 1..)]
    pub leaf_size: usize,
}

impl KernelDensity {
    fn constraints(&self) -> Result<()> {
        self.profile.as_deref().map_or(Ok(()), Profile::check)
    }
}

/// Width of the window.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum Bandwidth {
    /// n^(-1 / (d + 4)).
    Scott,
    /// (n (d + 2) / 4)^(-1 / (d + 4)).
    Silverman,
    /// This wide.
    #[choice(above = 0.0, below = f64::INFINITY)]
    Width(f64),
}

impl Bandwidth {
    /// The width for this weight of rows and number of columns.
    pub fn width(self, n: f64, d: usize) -> f64 {
        let d = d as f64;
        match self {
            Bandwidth::Scott => n.powf(-1.0 / (d + 4.0)),
            Bandwidth::Silverman => (n * (d + 2.0) / 4.0).powf(-1.0 / (d + 4.0)),
            Bandwidth::Width(width) => width,
        }
    }
}

/// A fitted [`KernelDensity`].
#[derive(Model, Clone, Debug)]
#[model(density, validate = validate)]
pub struct KernelDensityModel {
    /// Width of the window.
    #[positive]
    #[finite]
    pub bandwidth: f64,
    /// Number of training rows.
    pub n_samples: usize,
    window: Window,
    #[model(later)]
    profile: Option<Vec<f64>>,
    atol: f64,
    rtol: f64,
    rows: Bumps,
}

/// The rows with their weights; the tree over them is built again when they are read.
#[derive(Clone, Debug)]
pub struct Bumps {
    x: Matrix,
    weights: Vec<f64>,
    leaf_size: usize,
    tree: BoxTree,
    /// Weight of each node of the tree.
    sums: Vec<f64>,
    /// Weights in the order of the tree.
    ordered: Vec<f64>,
}

impl Bumps {
    fn new(x: Matrix, weights: Vec<f64>, leaf_size: usize, run: &Context) -> Result<Bumps> {
        let tree = BoxTree::new(x.view(), leaf_size, run)?;
        let ordered: Vec<f64> = tree.order().iter().map(|&row| weights[row as usize]).collect();
        let mut sums = vec![0.0; tree.nodes()];
        for node in (1..tree.nodes()).rev() {
            sums[node] = match tree.is_leaf(node) {
                true => ordered[tree.range(node)].iter().sum(),
                false => sums[2 * node] + sums[2 * node + 1],
            };
        }
        Ok(Bumps { x, weights, leaf_size, tree, sums, ordered })
    }
}

impl Stored for Bumps {
    fn to_node(&self) -> Node {
        Node::List(vec![self.x.to_node(), self.weights.to_node(), self.leaf_size.to_node()])
    }

    fn from_node(node: &Node) -> Result<Self> {
        let [x, weights, leaf_size] = node.list()? else {
            return Err(invalid("rows of a density that are not three parts"));
        };
        let x = Matrix::from_node(x)?;
        let weights = Vec::<f64>::from_node(weights)?;
        let leaf_size = usize::from_node(leaf_size)?;
        let good = x.nrows() > 0
            && x.ncols() > 0
            && x.nrows() < u32::MAX as usize
            && leaf_size > 0
            && weights.len() == x.nrows()
            && x.as_slice().iter().all(|v| v.is_finite())
            && weights.iter().all(|w| *w > 0.0 && w.is_finite());
        match good {
            true => Bumps::new(x, weights, leaf_size, &Context::default()),
            false => Err(invalid("rows of a density")),
        }
    }
}

impl Estimator for KernelDensity {
    type Model = KernelDensityModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::density("neighbors.KernelDensity")
        .alias(&["kde", "parzen"])
        .weights()
        .threads()
        .scaling()
        .rows_stored()
        .complexity(50)
        .cost("n p log n time to fit, up to n p a query; n p memory")
        .reference("Rosenblatt (1956); Parzen (1962)");

    fn train(&self, data: &Dataset, run: &Context) -> Result<KernelDensityModel> {
        let weights: Vec<f64> = (0..data.nrows()).map(|i| data.weight(i)).collect();
        let total: f64 = weights.iter().sum();
        if !total.is_finite() {
            return Err(Error::new(Code::Weights, "the sum of the weights overflows")
                .hint("divide all weights by a number: only their shares count"));
        }
        let bandwidth = self.bandwidth.width(total, data.x.ncols());
        let largest = data.x.values().to_matrix();
        let reach = largest.as_slice().iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let square = 4.0 * (reach / bandwidth).powi(2) * data.x.ncols() as f64;
        if !square.is_finite() || bandwidth <= 0.0 {
            return Err(Error::numeric("differences overflow: the values are too large")
                .hint("scale the columns, or take a wider window"));
        }
        Ok(KernelDensityModel {
            bandwidth,
            n_samples: data.nrows(),
            window: self.kernel,
            profile: self.profile.clone(),
            atol: self.atol,
            rtol: self.rtol,
            rows: Bumps::new(largest, weights, self.leaf_size, run)?,
        })
    }
}

/// A relative error that is no more than rounding.
const ROUNDING: f64 = 1e-14;

impl KernelDensityModel {
    fn validate(&self) -> Result<()> {
        let tolerances = [self.atol, self.rtol];
        let good = self.n_samples == self.rows.x.nrows()
            && tolerances.iter().all(|tol| *tol >= 0.0 && tol.is_finite())
            && self.profile.as_deref().is_none_or(|values| Profile::check(values).is_ok());
        if good { Ok(()) } else { Err(invalid("numbers of a kernel density")) }
    }

    fn shape(&self) -> Shape {
        Shape::new(self.window, self.profile.as_deref(), self.rows.x.ncols())
    }

    /// ln of what a sum of kernels is divided by.
    fn ln_divisor(&self, shape: &Shape) -> f64 {
        let d = self.rows.x.ncols();
        shape.ln_mass(d) + d as f64 * self.bandwidth.ln() + self.rows.sums[1].ln()
    }

    /// ln p at a point.
    #[inline(always)]
    fn ln_density(&self, shape: &Shape, point: &[f64], divisor: f64, work: &mut Work) -> f64 {
        let shift = -shape.ln_endless(|| self.nearest(shape, point, work));
        let sum = self.sum(shape, point, shift, divisor, work);
        sum.ln() - shift - divisor
    }

    /// The squared distance in bandwidths to the nearest row.
    #[inline(always)]
    fn nearest(&self, shape: &Shape, point: &[f64], work: &mut Work) -> f64 {
        let tree = &self.rows.tree;
        let mut best = f64::INFINITY;
        work.stack.clear();
        work.stack.push((0.0, 1));
        while let Some((bound, node)) = work.stack.pop() {
            if bound >= best {
                continue;
            }
            if tree.is_leaf(node) {
                self.measure(shape.is_cube(), node, point, work);
                best = work.squares.iter().fold(best, |best, &square| best.min(square));
                continue;
            }
            let [a, b] = [2 * node, 2 * node + 1].map(|c| (tree.nearest_square(c, point), c));
            work.stack.extend(if a.0 <= b.0 { [b, a] } else { [a, b] });
        }
        best / (self.bandwidth * self.bandwidth)
    }

    /// Squared distances of the rows of a leaf; largest differences squared for a hypercube.
    #[inline(always)]
    fn measure(&self, cube: bool, node: usize, point: &[f64], work: &mut Work) {
        let range = self.rows.tree.range(node);
        work.squares.clear();
        work.squares.resize(range.len(), 0.0);
        for (j, &x) in point.iter().enumerate() {
            let column = &self.rows.tree.column(j)[range.clone()];
            for (square, y) in work.squares.iter_mut().zip(column) {
                let d = y - x;
                *square = if cube { square.max(d * d) } else { *square + d * d };
            }
        }
    }

    /// Σ w K exp(shift), nearest nodes first.
    #[inline(always)]
    fn sum(&self, shape: &Shape, point: &[f64], shift: f64, divisor: f64, work: &mut Work) -> f64 {
        let Bumps { tree, sums, ordered, .. } = &self.rows;
        let scale = (self.bandwidth * self.bandwidth).recip();
        let relative = self.rtol.max(ROUNDING);
        // The error of a density that is allowed, as a part of the sum.
        let absolute = if self.atol > 0.0 { self.atol * (divisor + shift).exp() } else { 0.0 };
        // The shift makes the kernel of the nearest row one, however near a box is.
        let most = if shift > 0.0 { 1.0 } else { f64::INFINITY };
        let cube = shape.is_cube();
        let mut total = 0.0;
        work.stack.clear();
        work.stack.push((0.0, 1));
        while let Some((near, node)) = work.stack.pop() {
            let high = match cube {
                // No row is nearer along any column than the box is over all of them by √d.
                true => shape.highest(near * scale / point.len() as f64, 0.0),
                false => shape.highest(near * scale, shift).min(most),
            };
            if high == 0.0 {
                continue;
            }
            let low = match cube {
                true => 0.0,
                false => shape.lowest(tree.farthest_square(node, point) * scale, shift),
            };
            let allowed = 2.0 * (absolute + relative * total) / sums[1];
            if high - low <= allowed && total > 0.0 {
                total += sums[node] * 0.5 * (high + low);
                continue;
            }
            if tree.is_leaf(node) {
                self.measure(shape.is_cube(), node, point, work);
                let weights = &ordered[tree.range(node)];
                let mut part = 0.0;
                shape.values(&mut work.squares, scale, shift);
                for (value, weight) in work.squares.iter().zip(weights) {
                    part += value * weight;
                }
                total += part;
                continue;
            }
            let [a, b] = [2 * node, 2 * node + 1].map(|c| (tree.nearest_square(c, point), c));
            work.stack.extend(if a.0 <= b.0 { [b, a] } else { [a, b] });
        }
        total
    }
}

/// Working memory of a query.
#[derive(Default)]
struct Work {
    stack: Vec<(f64, usize)>,
    squares: Vec<f64>,
}

impl Density for KernelDensityModel {
    fn log_density_in(&self, x: &Frame, run: &Context) -> Result<Vec<f64>> {
        const ROWS: usize = 64;
        let width = self.rows.x.ncols();
        if x.ncols() != width {
            let expected = format!("{width} columns as in training");
            return Err(Error::shape("x", expected, format!("{} columns", x.ncols())));
        }
        run.checkpoint()?;
        let shape = self.shape();
        let divisor = self.ln_divisor(&shape);
        let mut out = vec![0.0; x.nrows()];
        run.par_fill(&mut out, ROWS, |first, piece| {
            let mut point = vec![0.0; width];
            let mut work = Work::default();
            for (i, out) in piece.iter_mut().enumerate() {
                x.values().copy_row(first + i, &mut point);
                *out = vectorized!(self.ln_density(&shape, &point, divisor, &mut work));
            }
        });
        Ok(out)
    }

    fn sample(&self, rows: usize, run: &Context) -> Result<Matrix> {
        const STREAM: u64 = 0x6b64_6531;
        let width = self.rows.x.ncols();
        run.claim_table(rows, width, "the drawn rows")?;
        let shape = self.shape();
        let mut reached = 0.0;
        let ends: Vec<f64> = self
            .rows
            .weights
            .iter()
            .map(|weight| {
                reached += weight;
                reached
            })
            .collect();
        let mut out = Matrix::zeros(rows, width);
        run.par_fill(out.as_mut_slice(), 256 * width, |start, piece| {
            for (i, row) in piece.chunks_exact_mut(width).enumerate() {
                let mut rng = run.row_rng(STREAM, (start / width + i) as u64);
                let at = uniform(&mut rng) * reached;
                let from = ends.partition_point(|&end| end <= at).min(ends.len() - 1);
                shape.draw(row, &mut rng);
                for (value, x) in row.iter_mut().zip(self.rows.x.row(from)) {
                    *value = x + self.bandwidth * *value;
                }
            }
        });
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> OwnedDataset {
        OwnedDataset::unsupervised(Matrix::from_fn(700, 2, |i, j| {
            ((i * (7 + j)) as f64 * 0.618).sin() * 3.0 + (i % 2) as f64 * 5.0
        }))
    }

    fn by_definition(x: &Matrix, window: Window, h: f64, at: &[f64]) -> f64 {
        let sum: f64 = x
            .rows()
            .map(|row| {
                let squares = row.iter().zip(at).map(|(a, b)| ((a - b) / h).powi(2));
                let square = match window {
                    Window::Hypercube => squares.fold(0.0, f64::max),
                    _ => squares.sum(),
                };
                window.value(square, 0.0)
            })
            .sum();
        let mass = window.ln_mass(at.len()) + at.len() as f64 * h.ln();
        sum.ln() - (x.nrows() as f64).ln() - mass
    }

    #[test]
    fn every_window_gives_the_sum_over_all_rows_within_the_stated_error() {
        let data = rows();
        let run = Context::default();
        for kernel in [
            Window::Gaussian,
            Window::Tophat,
            Window::Epanechnikov,
            Window::Exponential,
            Window::Linear,
            Window::Cosine,
            Window::Hypercube,
        ] {
            for (h, rtol) in [(0.3, 0.0), (2.0, 0.0), (0.7, 1e-3)] {
                let bandwidth = Bandwidth::Width(h);
                let learner =
                    KernelDensity { bandwidth, kernel, rtol, leaf_size: 8, ..Default::default() };
                let model = learner.fit(&data.view()).unwrap();
                let got = model.log_density_in(&data.x.frame().rows(0, 60), &run).unwrap();
                for (i, got) in got.iter().enumerate() {
                    let expected =
                        by_definition(data.x.values(), kernel, h, data.x.values().row(i));
                    let error = (got - expected).exp() - 1.0;
                    assert!(error.abs() <= rtol + 1e-11, "{kernel:?} {h}: {got} {expected}");
                }
            }
        }
    }

    #[test]
    fn a_window_of_ones_own_is_that_of_the_sum_and_of_its_name_where_it_has_one() {
        let data = rows();
        let run = Context::default();
        let of = |kernel, profile: Option<Vec<f64>>, width, leaf_size| {
            let bandwidth = Bandwidth::Width(width);
            let learner =
                KernelDensity { bandwidth, kernel, profile, leaf_size, ..Default::default() };
            let model = learner.fit(&data.view()).unwrap();
            model.log_density_in(&data.x.frame().rows(0, 60), &run).unwrap()
        };
        let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-10);
        let linear = of(Window::Linear, None, 1.5, 8);
        assert!(same(&linear, &of(Window::Gaussian, Some(vec![7.0, 3.5, 0.0]), 1.5, 8)));
        // One that rises and falls, against the sum over all rows by a function.
        let own = |u: &[f64]| {
            let length = (u[0] * u[0] + u[1] * u[1]).sqrt();
            let value = if length <= 0.5 { 2.0 * length } else { 2.0 - 2.0 * length };
            // Its mass over the plane: 2π (1/12 + 1/6) = π/2.
            if length <= 1.0 { value / std::f64::consts::FRAC_PI_2 } else { 0.0 }
        };
        let (x, at) = (data.x.values(), data.x.values().view().rows(0, 60));
        let expected = super::super::profile::window_density(x.view(), None, at, 0.8, own, &run);
        let expected: Vec<f64> = expected.unwrap().iter().map(|p| p.ln()).collect();
        for leaf_size in [2, 8, 1000] {
            let found = of(Window::Gaussian, Some(vec![0.0, 1.0, 0.0]), 0.8, leaf_size);
            assert!(same(&found, &expected), "{leaf_size}");
        }
        let bad = KernelDensity { profile: Some(vec![1.0, -1.0]), ..Default::default() };
        assert!(bad.fit(&data.view()).unwrap_err().to_string().contains("profile"));
    }

    #[test]
    fn far_tails_have_finite_logarithms() {
        let model = KernelDensity::default().fit(&rows().view()).unwrap();
        let far = Table::unnamed(Matrix::from_rows(&[[1e4, 0.0]]).unwrap());
        let log = model.log_density_in(&far.frame(), &Context::default()).unwrap()[0];
        assert!(log < -1e7 && log.is_finite(), "{log}");
    }

    #[test]
    fn an_error_that_is_allowed_is_kept_far_from_all_rows() {
        let data = rows();
        let between = Matrix::from_fn(50, 2, |i, j| ((i * (5 + 3 * j)) as f64 * 0.37).cos() * 4.0);
        for kernel in [Window::Gaussian, Window::Exponential] {
            let bandwidth = Bandwidth::Width(0.002);
            let learner =
                KernelDensity { bandwidth, kernel, atol: 1e-6, leaf_size: 8, ..Default::default() };
            let model = learner.fit(&data.view()).unwrap();
            let frame = Table::unnamed(between.clone());
            let got = model.log_density_in(&frame.frame(), &Context::default()).unwrap();
            for (got, at) in got.iter().zip(between.rows()) {
                let expected = by_definition(data.x.values(), kernel, 0.002, at).exp();
                assert!((got.exp() - expected).abs() <= 1e-6, "{kernel:?}: {got} {expected}");
            }
        }
    }

    #[test]
    fn weights_count_as_repeated_rows() {
        let x = Matrix::column_vector(vec![0.0, 1.0, 4.0]);
        let twice = Matrix::column_vector(vec![0.0, 1.0, 1.0, 4.0]);
        let mut data = OwnedDataset::unsupervised(x);
        data.weights = Some(vec![1.0, 2.0, 1.0]);
        let bandwidth = Bandwidth::Scott;
        let learner = KernelDensity { bandwidth, ..Default::default() };
        let a = learner.fit(&data.view()).unwrap();
        let b = learner.fit(&OwnedDataset::unsupervised(twice).view()).unwrap();
        let run = Context::default();
        let (a, b) = (
            a.log_density_in(&data.x.frame(), &run).unwrap(),
            b.log_density_in(&data.x.frame(), &run).unwrap(),
        );
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn drawn_rows_have_the_mean_of_the_rows() {
        let data = rows();
        let model = KernelDensity::default().fit(&data.view()).unwrap();
        let drawn = model.sample(30_000, &Context::default().with_seed(2)).unwrap();
        for j in 0..2 {
            let mean = |m: &Matrix| m.column(j).iter().sum::<f64>() / m.nrows() as f64;
            let (a, b) = (mean(data.x.values()), mean(&drawn));
            assert!((a - b).abs() < 0.08, "{a} {b}");
        }
    }
}
