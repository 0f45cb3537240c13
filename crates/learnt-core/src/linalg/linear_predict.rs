//! Linear predictions.

use super::dot;
use crate::data::refuse_overflow;
use crate::prelude::*;
use crate::vectorized;
use std::sync::atomic::{AtomicBool, Ordering};

/// intercept + coef x for each row of `x`: coef is (n_outputs × n_features). A row gives the same
/// bits alone and among others, because each product is one sum in a fixed order. Sums that overflow are
/// refused.
pub fn linear_predict(
    x: &Frame,
    coef: &Matrix,
    intercept: &[f64],
    run: &Context,
) -> Result<Matrix> {
    const ROWS: usize = 1024;
    let (n, d, outputs) = (x.nrows(), coef.ncols(), coef.nrows());
    if x.ncols() != d || intercept.len() != outputs {
        let expected = format!("{d} columns as in training");
        return Err(Error::shape("input", expected, format!("{} columns", x.ncols())));
    }
    run.checkpoint()?;
    let mut out = Matrix::zeros(n, outputs);
    let finite = AtomicBool::new(true);
    run.par_fill(out.as_mut_slice(), ROWS * outputs.max(1), |start, piece| {
        let first = start / outputs.max(1);
        let end = first + piece.len() / outputs.max(1);
        vectorized!(predict_rows(x.values().rows(first, end), coef, intercept, piece));
        finite.fetch_and(x.noticed(first, end, piece), Ordering::Relaxed);
    });
    if !finite.into_inner() {
        refuse_overflow(&out, |t| !intercept[t].is_finite())?;
    }
    Ok(out)
}

#[inline(always)]
fn predict_rows(x: MatRef, coef: &Matrix, intercept: &[f64], out: &mut [f64]) {
    let outputs = intercept.len();
    let copy = (x.col_stride() != 1).then(|| x.to_matrix());
    let x = copy.as_ref().map_or(x, Matrix::view);
    for (i, out) in out.chunks_exact_mut(outputs).enumerate() {
        let Some(row) = x.row_slice(i) else { continue };
        for (t, out) in out.iter_mut().enumerate() {
            *out = intercept[t] + dot(row, coef.row(t));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_alone_and_among_others_gives_the_same_bits() {
        let x = Table::unnamed(Matrix::from_fn(3000, 13, |i, j| ((i * 31 + j * 17) as f64).sin()));
        let coef = Matrix::from_fn(2, 13, |t, j| ((t * 5 + j) as f64).cos());
        let intercept = [0.1, -7.0];
        let run = Context::default().with_threads(2);
        let all = linear_predict(&x.frame(), &coef, &intercept, &run).unwrap();
        let by_column = x.values().transposed();
        let view = by_column.view().transposed();
        let turned = Frame::new(view, x.schema()).unwrap();
        assert_eq!(linear_predict(&turned, &coef, &intercept, &run).unwrap(), all);
        for i in [0, 1, 1023, 1024, 2999] {
            let one = linear_predict(&x.frame().rows(i, i + 1), &coef, &intercept, &run).unwrap();
            assert_eq!(one.row(0), all.row(i));
        }
    }

    #[test]
    fn sums_that_overflow_are_refused_by_row() {
        let x =
            Table::unnamed(Matrix::from_fn(3000, 2, |i, _| if i == 2000 { 1e308 } else { 1.0 }));
        let coef = Matrix::from_rows(&[[1.0, 1.0]]).unwrap();
        let error = linear_predict(&x.frame(), &coef, &[0.0], &Context::default()).unwrap_err();
        assert_eq!((error.code(), error.row_number()), (Code::Numeric, Some(2001)));
    }

    #[test]
    fn another_width_is_refused() {
        let x = Table::unnamed(Matrix::zeros(2, 3));
        let error = linear_predict(&x.frame(), &Matrix::zeros(1, 4), &[0.0], &Context::default());
        assert_eq!(error.unwrap_err().code(), Code::Shape);
    }
}
