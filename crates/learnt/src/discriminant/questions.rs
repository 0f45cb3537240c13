//! What discriminants can be asked: whether the classes differ at all, which columns tell them apart, and whether
//! their covariances are alike.
//!
//! - Wilks' Λ = det W / det T of the scatters within classes and in all, with Rao's F. A column alone: Λ of it, an
//!   F on K - 1 and n - K degrees of freedom. A column beside the others: Λ / Λ₋ⱼ = (T⁻¹)ⱼⱼ / (W⁻¹)ⱼⱼ, an F on K - 1 and
//!   n - K - p + 1.
//! - Box's M = (n - K) ln det S - Σ (n_k - 1) ln det S_k, times 1 - c against χ² on p (p + 1) (K - 1) / 2.
//!
//! Rencher and Christensen (2012), Methods of Multivariate Analysis, sections 6.1, 7.1 and 8.9.

use learnt_core::linalg::Cholesky;
use learnt_core::prelude::*;
use learnt_core::stats::distribution::{ChiSquared, Continuous, FisherF};

/// A question without arguments.
#[derive(Params, Clone, Debug)]
struct NoArguments {}

pub(super) const QUESTIONS: &[Question] = &[
    Question {
        name: "tests",
        doc: "Wilks' lambda: whether the classes have one mean, and what each column adds, from the training data.",
        needs: Needs::RowsAndTarget,
        arguments: || Box::new(NoArguments::default()),
    },
    Question {
        name: "equal_covariances",
        doc: "Box's M test that the classes have one covariance, from the training data.",
        needs: Needs::RowsAndTarget,
        arguments: || Box::new(NoArguments::default()),
    },
];

/// The answer, which rows and classes alone decide.
pub(super) fn answer(asked: &Asked) -> Result<Answer> {
    let scatters = Scatters::of(asked.rows()?)?;
    match asked.name {
        "tests" => scatters.means_answer(),
        "equal_covariances" => scatters.covariances_answer(),
        other => Err(Error::unsupported(format!("no answer to '{other}'"))),
    }
}

/// Scatters about the means of the classes and of all rows.
struct Scatters {
    names: Vec<String>,
    /// Weight, mean and scatter of each class that has rows.
    classes: Vec<(f64, Vec<f64>, Matrix)>,
    within: Matrix,
    total: Matrix,
    weight: f64,
}

impl Scatters {
    fn of(data: &Dataset) -> Result<Scatters> {
        let (codes, labels) = data.class_target()?;
        let (x, p) = (data.x.values(), data.x.ncols());
        let mut sums = vec![(0.0, vec![0.0; p]); labels.len()];
        for (i, &code) in codes.iter().enumerate() {
            let (weight, sum) = &mut sums[code as usize];
            *weight += data.weight(i);
            (0..p).for_each(|j| sum[j] += data.weight(i) * x.at(i, j));
        }
        let weight: f64 = sums.iter().map(|(weight, _)| weight).sum();
        let grand: Vec<f64> =
            (0..p).map(|j| sums.iter().map(|(_, sum)| sum[j]).sum::<f64>() / weight).collect();
        let mut classes: Vec<(f64, Vec<f64>, Matrix)> = sums
            .into_iter()
            .map(|(weight, sum)| {
                let mean = sum.iter().map(|s| s / weight.max(f64::MIN_POSITIVE)).collect();
                (weight, mean, Matrix::zeros(p, p))
            })
            .collect();
        let mut total = Matrix::zeros(p, p);
        for (i, &code) in codes.iter().enumerate() {
            let (_, mean, scatter) = &mut classes[code as usize];
            add_outer(scatter, data.weight(i), |j| x.at(i, j) - mean[j]);
            add_outer(&mut total, data.weight(i), |j| x.at(i, j) - grand[j]);
        }
        classes.retain(|(weight, ..)| *weight > 0.0);
        let mut within = Matrix::zeros(p, p);
        for (_, _, scatter) in &classes {
            within.as_mut_slice().iter_mut().zip(scatter.as_slice()).for_each(|(w, s)| *w += s);
        }
        let names = data.x.schema().names().map(str::to_string).collect();
        let found = Scatters { names, classes, within, total, weight };
        match found.classes.len() > 1 && found.freedom() >= p as f64 {
            true => Ok(found),
            false => Err(Error::new(Code::TooFew, "too few rows or classes for these tests")),
        }
    }

    fn freedom(&self) -> f64 {
        self.weight - self.classes.len() as f64
    }

    fn means_answer(&self) -> Result<Answer> {
        let (within, total) = (Factor::of(&self.within)?, Factor::of(&self.total)?);
        let (p, q) = (self.names.len() as f64, self.classes.len() as f64 - 1.0);
        let ln_lambda = within.ln_det - total.ln_det;
        // Rao's approximation, exact for one or two columns or classes.
        let middle = self.freedom() - 0.5 * (p - q + 1.0);
        let square = p * p + q * q - 5.0;
        let power = if square > 0.0 { ((p * p * q * q - 4.0) / square).sqrt() } else { 1.0 };
        let rest = middle * power - 0.5 * (p * q - 2.0);
        let f = ((-ln_lambda / power).exp() - 1.0) * rest / (p * q);
        let tail = |f: f64, a: f64, b: f64| FisherF::new(a, b).map_or(f64::NAN, |law| law.sf(f));
        let mut answer = Answer::new("Tests that the classes have one mean");
        answer.push("Wilks' lambda", ln_lambda.exp());
        answer.push("F", f);
        answer.push("df", p * q);
        answer.push("df of residuals", rest);
        answer.push("p", Datum::P(tail(f, p * q, rest)));
        let head = ["column", "F alone", "p alone", "partial lambda", "F beside the others", "p"];
        let mut table = Columns::new("What each column tells", &head);
        for (j, name) in self.names.iter().enumerate() {
            let alone = (self.total[(j, j)] / self.within[(j, j)] - 1.0) * self.freedom() / q;
            let partial = total.inverse[(j, j)] / within.inverse[(j, j)];
            let left = self.freedom() - p + 1.0;
            let beside = (1.0 / partial - 1.0) * left / q;
            table.push(vec![
                Cell::Text(name.clone()),
                Cell::Number(alone),
                Cell::Probability(tail(alone, q, self.freedom())),
                Cell::Number(partial),
                Cell::Number(beside),
                Cell::Probability(tail(beside, q, left)),
            ]);
        }
        answer.tables.push(table);
        Ok(answer)
    }

    fn covariances_answer(&self) -> Result<Answer> {
        let (p, count, df) = (self.names.len() as f64, self.classes.len() as f64, self.freedom());
        let of_size = |scatter: &Matrix, df: f64| -> Result<f64> {
            Ok(Factor::of(scatter)?.ln_det - p * df.ln())
        };
        let mut statistic = df * of_size(&self.within, df)?;
        let mut reciprocals = -df.recip();
        for (weight, _, scatter) in &self.classes {
            let own = weight - 1.0;
            if own < p {
                let message = format!("a class of {weight} rows has no covariance of {p} columns");
                return Err(Error::new(Code::TooFew, message));
            }
            statistic -= own * of_size(scatter, own)?;
            reciprocals += own.recip();
        }
        let shrink =
            reciprocals * (2.0 * p * p + 3.0 * p - 1.0) / (6.0 * (p + 1.0) * (count - 1.0));
        let (chi2, freedom) = ((1.0 - shrink) * statistic, 0.5 * p * (p + 1.0) * (count - 1.0));
        let mut answer = Answer::new("Test that the classes have one covariance (Box's M)");
        answer.push("M", statistic);
        answer.push("chi2", chi2);
        answer.push("df", freedom);
        let tail = ChiSquared::new(freedom).map_or(f64::NAN, |law| law.sf(chi2));
        answer.push("p", Datum::P(tail));
        answer.notes.push("the test is as sensitive to distributions that are not normal as to unequal covariances".into());
        Ok(answer)
    }
}

fn add_outer(out: &mut Matrix, weight: f64, x: impl Fn(usize) -> f64) {
    for i in 0..out.nrows() {
        for j in 0..out.ncols() {
            out[(i, j)] += weight * x(i) * x(j);
        }
    }
}

/// ln det and inverse of a scatter.
struct Factor {
    ln_det: f64,
    inverse: Matrix,
}

impl Factor {
    fn of(scatter: &Matrix) -> Result<Factor> {
        let p = scatter.nrows();
        let unit: Vec<f64> = (0..p).map(|j| scatter[(j, j)].sqrt()).collect();
        let scaled = Matrix::from_fn(p, p, |i, j| scatter[(i, j)] / (unit[i] * unit[j]));
        let factor = Cholesky::new(&scaled).filter(|factor| factor.condition_bound() < 1e12);
        let factor = factor.ok_or_else(|| {
            Error::numeric("columns are constant within a class or depend on each other, so there is no such test")
                .hint("leave out such columns")
        })?;
        let inverse = factor.inverse();
        let ln = |j: usize| 2.0 * (factor.lower[(j, j)].ln() + unit[j].ln());
        let ln_det = (0..p).map(ln).sum();
        let inverse = Matrix::from_fn(p, p, |i, j| inverse[(i, j)] / (unit[i] * unit[j]));
        Ok(Factor { ln_det, inverse })
    }
}
