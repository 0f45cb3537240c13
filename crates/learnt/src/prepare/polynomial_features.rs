//! Polynomial features: all products of columns up to a total degree.
//!
//! Graded order: degree by degree, and within a degree products in the order of their columns
//! (x1², x1 x2, x2²). With d columns and degree Q there are C(d+Q, Q) - 1 without the constant. Scale
//! columns before raising them to powers.

use super::affine::check_width;
use learnt_core::prelude::*;

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

    /// Products as lists of columns in rising order, degree by degree.
    fn terms(&self, columns: usize) -> Vec<Vec<usize>> {
        let mut all = Vec::new();
        let mut last: Vec<Vec<usize>> = vec![Vec::new()];
        for degree in 0..=self.degree {
            let kept = if degree == 0 { self.include_bias } else { degree >= self.min_degree };
            if kept {
                all.extend(last.iter().cloned());
            }
            last = last.iter().flat_map(|term| self.extended(term, columns)).collect();
        }
        all
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

    fn extended(&self, term: &[usize], columns: usize) -> Vec<Vec<usize>> {
        let (first, end) = match term.last() {
            None => (0, columns),
            Some(&column) if self.powers_only => (column, column + 1),
            Some(&column) => (column + usize::from(self.interaction_only), columns),
        };
        (first..end).map(|column| term.iter().copied().chain([column]).collect()).collect()
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
        let terms = self.terms(columns);
        if terms.is_empty() {
            return Err(Error::parameter("degree", "at least 1 without include_bias", self.degree));
        }
        if terms.len() > data.nrows() && self.degree > 1 {
            run.warn(
                Code::TooFew,
                format!(
                    "{} products for {} rows: a linear fit on them cannot be unique",
                    terms.len(),
                    data.nrows()
                ),
            );
        }
        let mut powers = Matrix::zeros(terms.len(), columns);
        for (k, term) in terms.iter().enumerate() {
            term.iter().for_each(|&column| powers[(k, column)] += 1.0);
        }
        Ok(PolynomialFeaturesModel { n_output_features: powers.nrows(), powers })
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

    /// `a^2 b` for the exponents (2, 1).
    fn name(&self, k: usize, schema: &Schema) -> String {
        let factors: Vec<String> = self
            .powers
            .row(k)
            .iter()
            .zip(schema.names())
            .filter(|(power, _)| **power > 0.0)
            .map(
                |(&power, name)| {
                    if power == 1.0 { name.to_string() } else { format!("{name}^{power}") }
                },
            )
            .collect();
        if factors.is_empty() { "1".to_string() } else { factors.join(" ") }
    }
}

impl Transformer for PolynomialFeaturesModel {
    fn transform_in(&self, x: &Frame, run: &Context) -> Result<Table> {
        check_width(x, self.powers.ncols())?;
        let width = self.n_output_features;
        let bytes = (width as u64).saturating_mul(8 * x.nrows() as u64);
        let what = format!("a table of {} rows and {width} products", x.nrows());
        run.claim(bytes, &what)?;
        let factors: Vec<Vec<(usize, i32)>> = self
            .powers
            .rows()
            .map(|row| {
                row.iter()
                    .enumerate()
                    .filter(|(_, p)| **p > 0.0)
                    .map(|(j, p)| (j, *p as i32))
                    .collect()
            })
            .collect();
        let mut out = Matrix::zeros(x.nrows(), width);
        let rows = 1 + 65_536 / width.max(1);
        run.par_fill(out.as_mut_slice(), rows * width, |start, piece| {
            for (k, row) in piece.chunks_mut(width).enumerate() {
                let i = start / width + k;
                for (value, factors) in row.iter_mut().zip(&factors) {
                    *value = factors.iter().map(|&(j, p)| x.values().at(i, j).powi(p)).product();
                }
            }
        });
        let names = (0..width).map(|k| self.name(k, x.schema()));
        let table = Table::new(out, Schema::numeric(names)?)?;
        match table.values().as_slice().iter().position(|v| !v.is_finite()) {
            None => Ok(table),
            Some(place) => {
                let name = table.schema().column(place % width).name.clone();
                Err(Error::numeric(format!("the product '{name}' overflows"))
                    .hint("scale the columns first"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(learner.terms(10).len(), 285);
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
            learner.terms(2),
            [vec![0], vec![1], vec![0, 0], vec![1, 1], vec![0, 0, 0], vec![1, 1, 1]]
        );
    }
}
