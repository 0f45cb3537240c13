//! Polynomial features: all products of columns up to a total degree.
//!
//! Graded order: degree by degree, and within a degree products in the order of their columns
//! (x1², x1 x2, x2²). With d columns and degree Q there are C(d+Q, Q) - 1 without the constant. Scale
//! columns before raising them to powers.
//!
//! Each product is one multiplication: the product without its last column, times that column ([`Plan`]). Products
//! that follow each other mostly begin with the same one, so that a row is a few runs of a number times
//! consecutive numbers. Powers above the eighth are made by squaring. The order of multiplications decides the last
//! digits of products of three factors or more.

use super::affine::check_width;
use learnt_core::prelude::*;
use learnt_core::vectorized;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Polynomial and interaction features: products of columns up to a total degree.
///
/// ```
/// use learnt::{prepare::PolynomialFeatures, prelude::*};
/// let data = OwnedDataset::unsupervised(Matrix::from_rows(&[[2.0, 3.0]])?);
/// let model = PolynomialFeatures { include_bias: false, ..Default::default() }.fit(&data.view())?;
/// let out = model.transform(&data.x.frame())?;
/// assert_eq!(out.values().row(0), [2.0, 3.0, 4.0, 6.0, 9.0]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Params, Clone, Debug)]
#[params(constraints = constraints)]
pub struct PolynomialFeatures {
    /// Maximum degree of the polynomial.
    #[param(positional, default = 2, range = 0.., search = set(1, 2, 3))]
    pub degree: usize,
    /// Smallest total degree of the products; columns themselves have degree 1.
    #[param(default = 0)]
    pub min_degree: usize,
    /// Only products of different columns.
    #[param(default = false)]
    pub interaction_only: bool,
    /// Only powers of single columns.
    #[param(default = false)]
    pub powers_only: bool,
    /// Include the constant 1 (degree 0).
    #[param(default = true)]
    pub include_bias: bool,
}

/// More products than this are refused.
const MOST_PRODUCTS: u64 = 10_000_000;

/// A fitted [`PolynomialFeatures`].
#[derive(Model, Clone, Debug)]
#[model(transformer, validate = validate)]
pub struct PolynomialFeaturesModel {
    /// Exponents (n_output_features × n_features).
    pub powers: Matrix,
    /// Number of products.
    pub n_output_features: usize,
}

impl PolynomialFeatures {
    fn constraints(&self) -> Result<()> {
        match self.min_degree <= self.degree {
            true => Ok(()),
            false => Err(Error::parameter(
                "min_degree",
                format!("at most degree {}", self.degree),
                self.min_degree,
            )),
        }
    }

    /// Calls `f` with each product as a list of columns in rising order, degree by degree.
    fn each_term(&self, columns: usize, mut f: impl FnMut(&[usize])) {
        // Terms of the degree before, one after the other.
        let mut last: Vec<usize> = Vec::new();
        if self.include_bias {
            f(&[]);
        }
        for degree in 1..=self.degree {
            let mut terms = Vec::with_capacity(last.len());
            let mut extend = |term: &[usize]| {
                for column in self.extensions(term, columns) {
                    terms.extend_from_slice(term);
                    terms.push(column);
                }
            };
            match degree {
                1 => extend(&[]),
                _ => last.chunks_exact(degree - 1).for_each(extend),
            }
            if degree >= self.min_degree {
                terms.chunks_exact(degree).for_each(&mut f);
            }
            if terms.is_empty() {
                return;
            }
            last = terms;
        }
    }

    /// How many products there will be, at most; saturates instead of overflowing.
    fn count(&self, columns: u64) -> u64 {
        let degree = self.degree as u64;
        if self.powers_only {
            return columns.saturating_mul(degree);
        }
        if !self.interaction_only {
            return polynomial_feature_count(columns, degree).unwrap_or(u64::MAX);
        }
        let (mut total, mut of_degree) = (0_u64, 1_u64);
        for k in 1..=degree.min(columns) {
            of_degree = of_degree.saturating_mul(columns + 1 - k) / k;
            total = total.saturating_add(of_degree);
        }
        total
    }

    /// The columns that a product may be multiplied by.
    fn extensions(&self, term: &[usize], columns: usize) -> std::ops::Range<usize> {
        match term.last() {
            None => 0..columns,
            Some(&column) if self.powers_only => column..column + 1,
            Some(&column) => column + usize::from(self.interaction_only)..columns,
        }
    }
}

/// C(d+Q, Q) - 1: products of degree 1 to Q of d columns; `None` if that overflows.
pub fn polynomial_feature_count(columns: u64, degree: u64) -> Option<u64> {
    let mut count = 1_u64;
    for k in 1..=degree {
        count = count.checked_mul(columns.checked_add(k)?)? / k;
    }
    Some(count - 1)
}

impl Estimator for PolynomialFeatures {
    type Model = PolynomialFeaturesModel;
    type Fit = Whole;
    const ABOUT: &'static About = &About::transformer("preprocessing.PolynomialFeatures")
        .alias(&["polynomial"])
        .threads()
        .complexity(15)
        .cost("n C(p+Q, Q) time and memory");

    fn train(&self, data: &Dataset, run: &Context) -> Result<PolynomialFeaturesModel> {
        let columns = data.x.ncols();
        let count = self.count(columns as u64);
        if count > MOST_PRODUCTS {
            let message =
                format!("{columns} columns and degree {} give {count} products", self.degree);
            return Err(
                Error::new(Code::Memory, message).hint("lower the degree or choose columns")
            );
        }
        run.claim(count * 8 * columns as u64, "the table of exponents")?;
        let mut powers = Vec::with_capacity(count as usize * columns);
        self.each_term(columns, |term| {
            let start = powers.len();
            powers.resize(start + columns, 0.0);
            term.iter().for_each(|&column| powers[start + column] += 1.0);
        });
        let terms = powers.len() / columns.max(1);
        if terms == 0 {
            return Err(Error::parameter("degree", "at least 1 without include_bias", self.degree));
        }
        if terms > data.nrows() && self.degree > 1 {
            let message = format!(
                "{terms} products for {} rows: a linear fit on them cannot be unique",
                data.nrows()
            );
            run.warn(Code::TooFew, message);
        }
        let powers = Matrix::from_vec(terms, columns, powers)?;
        Ok(PolynomialFeaturesModel { n_output_features: terms, powers })
    }
}

impl PolynomialFeaturesModel {
    fn validate(&self) -> Result<()> {
        let whole = |p: &f64| *p >= 0.0 && p.fract() == 0.0 && *p <= 1e6;
        match self.n_output_features == self.powers.nrows()
            && self.powers.as_slice().iter().all(whole)
        {
            true => Ok(()),
            false => Err(learnt_core::persist::invalid("exponents must be whole numbers")),
        }
    }

    /// The columns of each product with their powers.
    fn factors(&self) -> Vec<Vec<Factor>> {
        let factors = |row: &[f64]| {
            let powers = row.iter().enumerate().filter(|(_, power)| **power > 0.0);
            powers.map(|(column, &power)| (column as u32, power as u32)).collect()
        };
        self.powers.rows().map(factors).collect()
    }
}

/// A column and its power.
type Factor = (u32, u32);

/// `a^2 b` for the exponents (2, 1).
fn name(factors: &[Factor], schema: &Schema) -> String {
    if factors.is_empty() {
        return "1".to_string();
    }
    let mut out = String::new();
    for &(column, power) in factors {
        let space = if out.is_empty() { "" } else { " " };
        out += space;
        out += &schema.column(column as usize).name;
        if power > 1 {
            out += &format!("^{power}");
        }
    }
    out
}

/// Powers up to this are made by multiplying with the column.
const CHAIN: u32 = 8;

/// How a row of products is made: from numbers that are 1, the row, and after it the products that others begin with.
struct Plan {
    columns: usize,
    /// Runs that make the products after the row.
    inner: Vec<Run>,
    /// Runs that make the products that are asked for.
    outer: Vec<Run>,
    /// How many numbers products are made from.
    length: usize,
}

/// Consecutive products: one number times consecutive ones.
struct Run {
    factor: u32,
    from: u32,
    length: u32,
}

impl Plan {
    fn new(columns: usize, terms: &[Vec<Factor>]) -> Plan {
        let mut parts =
            Parts { columns: columns as u32, places: BTreeMap::new(), pairs: Vec::new() };
        let outer: Vec<[u32; 2]> = terms.iter().map(|term| parts.pair(term)).collect();
        let length = 1 + columns + parts.pairs.len();
        let inner = runs(&parts.pairs, 1 + columns as u32);
        // What is asked for is written elsewhere, so that no run reads what it makes.
        Plan { columns, inner, outer: runs(&outer, u32::MAX - outer.len() as u32), length }
    }

    /// Fills rows of products for the rows of `x`; the first row with one that is not finite.
    #[inline(always)]
    fn fill(&self, x: MatRef, out: &mut [f64]) -> Option<usize> {
        let mut numbers = vec![1.0; self.length];
        let width = out.len() / x.nrows().max(1);
        for (i, out) in out.chunks_exact_mut(width.max(1)).enumerate() {
            x.copy_row(i, &mut numbers[1..=self.columns]);
            let mut made = 1 + self.columns;
            for run in &self.inner {
                let (known, next) = numbers.split_at_mut(made);
                run.fill(known, &mut next[..run.length as usize]);
                made += run.length as usize;
            }
            let mut rest = &mut *out;
            for run in &self.outer {
                let (next, later) = rest.split_at_mut(run.length as usize);
                run.fill(&numbers, next);
                rest = later;
            }
            if !out.iter().fold(true, |finite, product| finite & product.is_finite()) {
                return Some(i);
            }
        }
        None
    }
}

impl Run {
    #[inline(always)]
    fn fill(&self, known: &[f64], out: &mut [f64]) {
        let factor = known[self.factor as usize];
        for (out, number) in out.iter_mut().zip(&known[self.from as usize..]) {
            *out = factor * number;
        }
    }
}

/// Pairs of places in the numbers whose products are numbers themselves.
struct Parts {
    columns: u32,
    places: BTreeMap<Vec<Factor>, u32>,
    pairs: Vec<[u32; 2]>,
}

impl Parts {
    /// The places of two numbers whose product is the term.
    fn pair(&mut self, term: &[Factor]) -> [u32; 2] {
        match *term {
            [] => [0, 0],
            [(column, 1)] => [0, column + 1],
            [ref before @ .., (column, 1)] => [self.place(before), column + 1],
            [ref before @ .., (column, power)] if power <= CHAIN => {
                let before = before.iter().copied().chain([(column, power - 1)]);
                [self.place(&before.collect::<Vec<_>>()), column + 1]
            }
            [(column, power)] => {
                let half = [(column, power / 2)];
                let rest = [(column, power - power / 2)];
                [self.place(&half), self.place(&rest)]
            }
            [ref before @ .., power] => [self.place(before), self.place(&[power])],
        }
    }

    fn place(&mut self, term: &[Factor]) -> u32 {
        match *term {
            [] => return 0,
            [(column, 1)] => return column + 1,
            _ => {}
        }
        if let Some(&place) = self.places.get(term) {
            return place;
        }
        let pair = self.pair(term);
        let place = 1 + self.columns + self.pairs.len() as u32;
        self.pairs.push(pair);
        self.places.insert(term.to_vec(), place);
        place
    }
}

/// Pairs of places as runs; the product of the first has the place `start`, and no run reads what it makes.
fn runs(pairs: &[[u32; 2]], start: u32) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut first = start;
    for (k, &[factor, from]) in pairs.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if run.factor == factor && run.from + run.length == from && from < first => {
                run.length += 1;
            }
            _ => {
                first = start + k as u32;
                runs.push(Run { factor, from, length: 1 });
            }
        }
    }
    runs
}

impl Transformer for PolynomialFeaturesModel {
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        check_width(x, self.powers.ncols())?;
        let width = self.n_output_features;
        let bytes = (width as u64).saturating_mul(8 * x.nrows() as u64);
        let what = format!("a table of {} rows and {width} products", x.nrows());
        run.claim(bytes, &what)?;
        let factors = self.factors();
        let plan = Plan::new(x.ncols(), &factors);
        let mut out = Matrix::zeros(x.nrows(), width);
        let rows = 1 + 65_536 / width.max(1);
        let overflow = AtomicUsize::new(usize::MAX);
        run.par_fill(out.as_mut_slice(), rows * width, |start, piece| {
            let (first, end) = (start / width, (start + piece.len()) / width);
            let x = x.values().rows(first, end);
            if let Some(row) = vectorized!(plan.fill(x, piece)) {
                overflow.fetch_min(first + row, Ordering::Relaxed);
            }
        });
        let overflow = overflow.into_inner();
        if overflow < x.nrows() {
            let place = out.row(overflow).iter().position(|product| !product.is_finite());
            let name = name(&factors[place.unwrap_or(0)], x.schema());
            return Err(Error::numeric(format!("the product '{name}' overflows"))
                .hint("scale the columns first"));
        }
        let names = factors.iter().map(|factors| name(factors, x.schema()));
        Table::new(out, Schema::numeric(names)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(learner: &PolynomialFeatures, columns: usize) -> Vec<Vec<usize>> {
        let mut terms = Vec::new();
        learner.each_term(columns, |term| terms.push(term.to_vec()));
        terms
    }

    /// Products of whole numbers that a float holds are the same in any order of multiplication.
    #[test]
    fn every_product_is_that_of_its_powers_in_any_kind_and_memory_order() {
        let x = Matrix::from_fn(9, 4, |i, j| ((i * 5 + j * 3) % 7) as f64 - 3.0);
        let turned = x.transposed();
        let kinds = [(0, false, false), (3, false, false), (2, true, false), (4, false, true)];
        for (degree, (min_degree, interaction_only, powers_only)) in
            [1, 2, 3, 4, 11].into_iter().flat_map(|degree| kinds.map(|kind| (degree, kind)))
        {
            if min_degree > degree {
                continue;
            }
            let learner = PolynomialFeatures {
                degree,
                min_degree,
                interaction_only,
                powers_only,
                include_bias: true,
            };
            let data = OwnedDataset::unsupervised(x.clone());
            let model = learner.fit(&data.view()).unwrap();
            let plan = Plan::new(4, &model.factors());
            for view in [x.view(), turned.view().transposed()] {
                let mut out = Matrix::zeros(9, model.n_output_features);
                assert_eq!(plan.fill(view, out.as_mut_slice()), None);
                for (i, k) in (0..9).flat_map(|i| (0..out.ncols()).map(move |k| (i, k))) {
                    let powers = model.powers.row(k).iter().zip(x.row(i));
                    let expected: f64 = powers.map(|(&power, x)| x.powi(power as i32)).product();
                    assert_eq!(out[(i, k)], expected, "{learner:?} {i} {k}");
                }
            }
        }
    }

    #[test]
    fn a_product_that_overflows_is_named() {
        let mut x = Matrix::from_fn(200, 2, |i, _| i as f64);
        x[(150, 1)] = 1e200;
        let data = OwnedDataset::unsupervised(x);
        let model = PolynomialFeatures::default().fit(&data.view()).unwrap();
        let error = model.transform(&data.x.frame()).unwrap_err();
        assert!(error.to_string().contains("'x1^2'"), "{error}");
    }

    #[test]
    fn three_columns_of_degree_two_have_nine_products() {
        let data = OwnedDataset::unsupervised(Matrix::from_rows(&[[2.0, 3.0, 5.0]]).unwrap());
        let learner = PolynomialFeatures { include_bias: false, ..Default::default() };
        let table = learner.fit(&data.view()).unwrap().transform(&data.x.frame()).unwrap();
        assert_eq!(table.values().row(0), [2.0, 3.0, 5.0, 4.0, 6.0, 10.0, 9.0, 15.0, 25.0]);
        assert_eq!(table.schema().column(7).name, "x1 x2");
    }

    #[test]
    fn the_count_formula_agrees_with_the_terms() {
        let counts: Vec<_> = [1, 2, 3, 4, 10, 50].map(|q| polynomial_feature_count(2, q)).to_vec();
        assert_eq!(counts, [2, 5, 9, 14, 65, 1325].map(Some));
        assert_eq!(polynomial_feature_count(10, 3), Some(285));
        let learner = PolynomialFeatures { degree: 3, include_bias: false, ..Default::default() };
        assert_eq!(terms(&learner, 10).len(), 285);
    }

    #[test]
    fn an_exploding_degree_is_refused_before_memory_is_taken() {
        let data = OwnedDataset::unsupervised(Matrix::zeros(2, 100));
        let learner = PolynomialFeatures { degree: 50, ..Default::default() };
        assert_eq!(learner.fit(&data.view()).unwrap_err().code(), Code::Memory);
    }

    #[test]
    fn powers_only_leaves_products_out() {
        let learner = PolynomialFeatures {
            degree: 3,
            powers_only: true,
            include_bias: false,
            ..Default::default()
        };
        assert_eq!(
            terms(&learner, 2),
            [vec![0], vec![1], vec![0, 0], vec![1, 1], vec![0, 0, 0], vec![1, 1, 1]]
        );
    }
}
