//! Binning: numbers to the intervals they fall in.
//!
//! Cuts at equal widths, at quantiles, at given places, or where classes change (see
//! [`entropy_cuts`](super::entropy_cuts::entropy_cuts)). Bins are closed on the left as in
//! scikit-learn: a value at a cut goes to the upper bin; with `closed` = `right` it goes to the lower
//! one. Values beyond the first and last edge belong to the first and last bin. The inverse transform gives
//! the middle of the bin.

use super::affine::check_width;
use super::entropy_cuts::entropy_cuts;
use super::order::column_quantiles;
use learnt_core::prelude::*;
use learnt_core::stats::summary::{self, Quantiles};

/// Discretizes (bins) the numbers of each column into intervals.
///
/// Every row is looked at, so there is no `subsample`; `onehot` and `onehot-dense` give the same dense
/// table, so there is no `dtype`. There is no strategy `kmeans`. A constant column has one bin whose
/// edges both are its value.
///
/// ```
/// use learnt::prepare::{BinClosed, BinEncode, BinStrategy, KBinsDiscretizer};
/// use learnt::prelude::*;
/// let lengths = vec![30.0, 50.0, 70.0, 100.0, 120.0];
/// let data = OwnedDataset::unsupervised(Matrix::column_vector(lengths));
/// let bands = KBinsDiscretizer {
///     strategy: BinStrategy::Given,
///     edges: Some(vec![vec![50.0, 100.0]]),
///     closed: BinClosed::Right,
///     encode: BinEncode::Ordinal,
///     ..Default::default()
/// };
/// let codes = bands.fit(&data.view())?.transform(&data.x.frame())?;
/// assert_eq!(codes.values().as_slice(), [0.0, 0.0, 1.0, 1.0, 2.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct KBinsDiscretizer {
    /// Number of bins of each column; the strategies `given` and `entropy` find their own.
    #[param(positional, default = 5, range = 2.., search = set(3, 5, 10, 20))]
    pub n_bins: usize,
    /// How bins are encoded.
    #[param(default = BinEncode::Onehot)]
    pub encode: BinEncode,
    /// How the bin edges are found.
    #[param(default = BinStrategy::Quantile)]
    pub strategy: BinStrategy,
    /// How quantiles are computed.
    #[param(default = QuantileMethod::AveragedInvertedCdf)]
    pub quantile_method: QuantileMethod,
    /// The cuts between bins for the strategy `given`, one rising list for each column.
    #[param(default = None)]
    pub edges: Option<Vec<Vec<f64>>>,
    /// Which end of a bin belongs to it.
    #[param(default = BinClosed::Left)]
    pub closed: BinClosed,
}

/// How bins are encoded.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum BinEncode {
    /// A column of 0 and 1 for each bin.
    Onehot,
    /// The same.
    #[choice(name = "onehot-dense")]
    OnehotDense,
    /// The number of the bin.
    Ordinal,
}

/// How the bin edges are found.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum BinStrategy {
    /// At equal distances.
    Uniform,
    /// So that bins hold equally many rows.
    Quantile,
    /// Where `edges` says.
    Given,
    /// Where the classes of the target change, as far as the description gets shorter.
    Entropy,
}

/// How quantiles are computed.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum QuantileMethod {
    /// The inverse of the distribution function, averaged where it is flat.
    AveragedInvertedCdf,
    /// Linear interpolation, without weights only; with weights the other method is used.
    Linear,
}

/// Which end of a bin belongs to it.
#[derive(Choice, Clone, Copy, Debug, PartialEq)]
pub enum BinClosed {
    /// The lower end.
    Left,
    /// The upper end.
    Right,
}

/// A fitted [`KBinsDiscretizer`].
#[derive(Model, Clone, Debug)]
#[model(transformer, validate = validate)]
pub struct KBinsDiscretizerModel {
    /// Edges of the bins of each column, the outer ones included.
    pub bin_edges: Vec<Vec<f64>>,
    /// Number of bins of each column.
    pub n_bins: Vec<usize>,
    encode: BinEncode,
    closed: BinClosed,
}

impl KBinsDiscretizer {
    fn constraints(&self) -> Result<()> {
        match (self.strategy, &self.edges) {
            (BinStrategy::Given, None) => {
                Err(Error::parameter("edges", "given with the strategy 'given'", "none"))
            }
            (BinStrategy::Given, Some(edges)) => {
                let rising = |cuts: &Vec<f64>| cuts.windows(2).all(|pair| pair[0] < pair[1]);
                match edges.iter().all(|cuts| rising(cuts) && cuts.iter().all(|c| c.is_finite())) {
                    true => Ok(()),
                    false => Err(Error::parameter("edges", "lists of rising numbers", "others")),
                }
            }
            _ => Ok(()),
        }
    }

    /// The edges of all columns at once, for quantiles of a large table.
    fn edges_in_one_pass(&self, data: &Dataset, run: &Context) -> Result<Option<Vec<Vec<f64>>>> {
        if self.strategy != BinStrategy::Quantile || data.weights.is_some() {
            return Ok(None);
        }
        let kind = match self.quantile_method {
            QuantileMethod::Linear => Quantiles::Linear,
            QuantileMethod::AveragedInvertedCdf => Quantiles::Averaged,
        };
        let places: Vec<f64> = (1..self.n_bins).map(|k| k as f64 / self.n_bins as f64).collect();
        let found = column_quantiles(data.x.values(), &places, kind, run)?;
        let edges = |edges: Vec<f64>| match edges[0] == edges[edges.len() - 1] {
            true => vec![edges[0]; 2],
            false => wide_enough(&edges),
        };
        Ok(found.map(|columns| columns.into_iter().map(edges).collect()))
    }

    /// The edges of a column's bins.
    fn column_edges(&self, data: &Dataset, j: usize) -> Result<Vec<f64>> {
        let values = data.x.values().column(j);
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if low == high && self.strategy != BinStrategy::Given {
            return Ok(vec![low, high]);
        }
        let share = |k: usize| k as f64 / self.n_bins as f64;
        Ok(match self.strategy {
            BinStrategy::Uniform => {
                let inside = (1..self.n_bins).map(|k| low * (1.0 - share(k)) + high * share(k));
                around(low, inside, high)
            }
            BinStrategy::Quantile => {
                let places: Vec<f64> = (1..self.n_bins).map(share).collect();
                let inside = match (self.quantile_method, data.weights) {
                    (QuantileMethod::Linear, None) => summary::quantiles(&values, &places),
                    (_, weights) => summary::averaged_quantiles(&values, weights, &places),
                };
                let inside = inside.unwrap_or_default().into_iter();
                wide_enough(&around(low, inside, high))
            }
            BinStrategy::Given => {
                let cuts = self.edges.as_ref().map_or(&[][..], |edges| edges[j].as_slice());
                let low = cuts.first().map_or(low, |cut| cut.min(low));
                let high = cuts.last().map_or(high, |cut| cut.max(high));
                around(low, cuts.iter().copied(), high)
            }
            BinStrategy::Entropy => {
                let (codes, classes) = data.class_target()?;
                let cuts = entropy_cuts(&values, codes, classes.len(), data.weights);
                around(low, cuts.into_iter(), high)
            }
        })
    }
}

fn around(low: f64, inside: impl Iterator<Item = f64>, high: f64) -> Vec<f64> {
    std::iter::once(low).chain(inside).chain([high]).collect()
}

/// Leaves out edges that repeat the one before, as scikit-learn does.
fn wide_enough(edges: &[f64]) -> Vec<f64> {
    let mut kept: Vec<f64> = Vec::with_capacity(edges.len());
    for (k, &edge) in edges.iter().enumerate() {
        if k == 0 || edge - edges[k - 1] > 1e-8 {
            kept.push(edge);
        }
    }
    if kept.len() < 2 {
        kept.extend(edges.last());
    }
    kept
}

impl Estimator for KBinsDiscretizer {
    type Model = KBinsDiscretizerModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::transformer("preprocessing.KBinsDiscretizer")
        .alias(&["bins"])
        .weights()
        .inverse_transform()
        .threads()
        .complexity(5)
        .cost("n p time (n p log n with weights), n memory a thread")
        .reference("U. Fayyad, K. Irani, Multi-interval discretization (1993), for `entropy`")
        .exempt(&[("inverse", "the inverse transform gives the middle of the bin")]);

    fn train(&self, data: &Dataset, run: &Context) -> Result<KBinsDiscretizerModel> {
        let width = data.x.ncols();
        if let (BinStrategy::Given, Some(edges)) = (self.strategy, &self.edges)
            && edges.len() != width
        {
            let expected = format!("{width} lists, one for each column");
            return Err(Error::parameter("edges", expected, edges.len()));
        }
        if self.strategy == BinStrategy::Entropy {
            data.class_target()?;
        }
        let counted = matches!(self.strategy, BinStrategy::Uniform | BinStrategy::Quantile);
        if counted {
            let edges = (self.n_bins as u64).saturating_mul(width as u64);
            let what = format!("{} bins for each of {width} columns", self.n_bins);
            run.claim(edges.saturating_mul(4 * 8), &what)?;
        }
        let bin_edges = match self.edges_in_one_pass(data, run)? {
            Some(edges) => edges,
            None => run.try_par_map(width, |j| self.column_edges(data, j))?,
        };
        for (j, edges) in bin_edges.iter().enumerate() {
            let name = &data.x.schema().column(j).name;
            if self.strategy == BinStrategy::Quantile && edges.len() - 1 < self.n_bins {
                let message =
                    format!("column '{name}' has {} bins: some were too narrow", edges.len() - 1);
                run.warn(Code::TooFew, message);
            }
        }
        let n_bins = bin_edges.iter().map(|edges| edges.len() - 1).collect();
        Ok(KBinsDiscretizerModel { bin_edges, n_bins, encode: self.encode, closed: self.closed })
    }
}

impl KBinsDiscretizerModel {
    fn validate(&self) -> Result<()> {
        let sane = |edges: &Vec<f64>| {
            edges.len() >= 2
                && edges.iter().all(|edge| edge.is_finite())
                && edges.windows(2).all(|pair| pair[0] <= pair[1])
        };
        let counted = self.bin_edges.iter().map(|edges| edges.len().saturating_sub(1));
        match self.bin_edges.iter().all(sane) && counted.eq(self.n_bins.iter().copied()) {
            true => Ok(()),
            false => Err(learnt_core::persist::invalid("edges of bins must rise")),
        }
    }

    /// The number of the bin that a value falls in.
    fn bin(&self, j: usize, value: f64) -> usize {
        let edges = &self.bin_edges[j];
        let cuts = &edges[1..edges.len() - 1];
        match self.closed {
            BinClosed::Left => cuts.partition_point(|&cut| cut <= value),
            BinClosed::Right => cuts.partition_point(|&cut| cut < value),
        }
    }

    fn middle(&self, j: usize, bin: usize) -> f64 {
        let edges = &self.bin_edges[j];
        edges[bin] / 2.0 + edges[bin + 1] / 2.0
    }

    /// The bin of a row after encoding; `at` is where the columns of `j` begin.
    fn decode(&self, x: &Frame, i: usize, j: usize, at: usize) -> usize {
        let last = self.n_bins[j] - 1;
        match self.encode {
            BinEncode::Ordinal => (x.values().at(i, j).max(0.0) as usize).min(last),
            _ => (0..=last).find(|&k| x.values().at(i, at + k) > 0.5).unwrap_or(last),
        }
    }

    fn encoded_schema(&self, given: &Schema) -> Result<Schema> {
        let columns = given.names().zip(&self.n_bins);
        Schema::numeric(
            columns.flat_map(|(name, &bins)| (0..bins).map(move |k| format!("{name}_{k}.0"))),
        )
    }
}

impl Transformer for KBinsDiscretizerModel {
    fn transform_in(&self, x: &Frame, _run: &Context) -> Result<Table> {
        check_width(x, self.bin_edges.len())?;
        if self.encode == BinEncode::Ordinal {
            let codes = Matrix::from_fn(x.nrows(), x.ncols(), |i, j| {
                self.bin(j, x.values().at(i, j)) as f64
            });
            return Table::new(codes, x.schema().clone());
        }
        let mut out = Matrix::zeros(x.nrows(), self.n_bins.iter().sum());
        for i in 0..x.nrows() {
            let mut at = 0;
            for (j, &bins) in self.n_bins.iter().enumerate() {
                out[(i, at + self.bin(j, x.values().at(i, j)))] = 1.0;
                at += bins;
            }
        }
        Table::new(out, self.encoded_schema(x.schema())?)
    }

    fn inverse_transform_in(&self, x: &Frame, _run: &Context) -> Result<Table> {
        let width = match self.encode {
            BinEncode::Ordinal => self.n_bins.len(),
            _ => self.n_bins.iter().sum(),
        };
        check_width(x, width)?;
        let mut out = Matrix::zeros(x.nrows(), self.n_bins.len());
        for i in 0..x.nrows() {
            let mut at = 0;
            for (j, &bins) in self.n_bins.iter().enumerate() {
                out[(i, j)] = self.middle(j, self.decode(x, i, j, at));
                at += bins;
            }
        }
        Ok(Table::unnamed(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[f64]) -> OwnedDataset {
        OwnedDataset::unsupervised(Matrix::column_vector(values.to_vec()))
    }

    #[test]
    fn a_cut_belongs_to_the_bin_above_unless_bins_are_closed_on_the_right() {
        let data = column(&[0.0, 1.0, 2.0]);
        let learner = KBinsDiscretizer {
            n_bins: 2,
            strategy: BinStrategy::Uniform,
            encode: BinEncode::Ordinal,
            ..Default::default()
        };
        let codes = |learner: &KBinsDiscretizer| {
            let model = learner.fit(&data.view()).unwrap();
            model.transform(&data.x.frame()).unwrap().values().column(0)
        };
        assert_eq!(codes(&learner), [0.0, 1.0, 1.0]);
        let right = KBinsDiscretizer { closed: BinClosed::Right, ..learner };
        assert_eq!(codes(&right), [0.0, 0.0, 1.0]);
    }

    #[test]
    fn one_hot_goes_back_to_the_middle_of_the_bin() {
        let data = column(&[0.0, 1.0, 3.0, 4.0]);
        let learner =
            KBinsDiscretizer { n_bins: 2, strategy: BinStrategy::Uniform, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        let table = model.transform(&data.x.frame()).unwrap();
        assert_eq!(table.values().row(0), [1.0, 0.0]);
        assert_eq!(table.schema().column(1).name, "x0_1.0");
        let run = Context::default();
        let back = model.inverse_transform_in(&table.frame(), &run).unwrap();
        assert_eq!(back.values().column(0), [1.0, 1.0, 3.0, 3.0]);
    }

    #[test]
    fn quantile_edges_are_the_averaged_inverse_and_weights_only_their_shares() {
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        let learner = KBinsDiscretizer { n_bins: 4, ..Default::default() };
        let edges = [vec![1.0, 3.0, 5.5, 8.0, 10.0]];
        assert_eq!(learner.fit(&column(&ten).view()).unwrap().bin_edges, edges);
        let weighted = OwnedDataset { weights: Some(vec![0.1; 10]), ..column(&ten) };
        assert_eq!(learner.fit(&weighted.view()).unwrap().bin_edges, edges);
        let linear = KBinsDiscretizer { quantile_method: QuantileMethod::Linear, ..learner };
        let model = linear.fit(&column(&ten).view()).unwrap();
        assert_eq!(model.bin_edges, [vec![1.0, 3.25, 5.5, 7.75, 10.0]]);
    }

    #[test]
    fn repeated_quantiles_and_constant_columns_give_fewer_bins() {
        let learner = KBinsDiscretizer { n_bins: 4, ..Default::default() };
        let model = learner.fit(&column(&[1.0, 1.0, 1.0, 1.0, 2.0]).view()).unwrap();
        assert!(model.n_bins[0] < 4);
        assert_eq!(learner.fit(&column(&[3.0; 5]).view()).unwrap().n_bins, [1]);
    }

    #[test]
    fn classes_are_cut_where_they_change() {
        let values: Vec<f64> = (0..40).map(f64::from).collect();
        let labels: Vec<Label> =
            (0..40).map(|i| Label::Int(i64::from((12..27).contains(&i)))).collect();
        let data = OwnedDataset::classification(Matrix::column_vector(values), &labels);
        let learner = KBinsDiscretizer { strategy: BinStrategy::Entropy, ..Default::default() };
        let model = learner.fit(&data.view()).unwrap();
        assert_eq!(model.bin_edges, [vec![0.0, 11.5, 26.5, 39.0]]);
        let bare = column(&[1.0, 2.0]);
        assert_eq!(learner.fit(&bare.view()).unwrap_err().code(), Code::Target);
    }
}
