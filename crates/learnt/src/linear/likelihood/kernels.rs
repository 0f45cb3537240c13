//! The inner loops of a pass: scores, losses, gradients over a chunk of rows that is in cache.
//!
//! Rows of a chunk are `width` values long, a multiple of [`LANES`], padded with zeros. What is
//! computed per row and class lies class by class: value (k, i) at `k * rows + i`. Every sum has one
//! order, whatever the vector width of the processor.

use learnt_core::linalg::vector_math::{exp, ln_1p_unit};
use pulp::Arch;

/// Values that are worked on together.
pub(crate) const LANES: usize = 4;
const TILE: usize = 4;

/// Length of a padded row.
pub(crate) fn padded(columns: usize) -> usize {
    columns.div_ceil(LANES) * LANES
}

/// scores(k, i) = z_i · weights_k.
pub(crate) fn scores(z: &[f64], weights: &[f64], width: usize, out: &mut [f64]) {
    let rows = z.len() / width;
    Arch::new().dispatch(
        #[inline(always)]
        || {
            for (i, row) in z.chunks_exact(width).enumerate() {
                for (k, weights) in weights.chunks_exact(width).enumerate() {
                    out[k * rows + i] = lane_dot(row, weights);
                }
            }
        },
    );
}

#[inline(always)]
fn lane_dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    for (a, b) in a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0) {
        for l in 0..LANES {
            sums[l] += a[l] * b[l];
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// gradient_k += Σ_i residuals(k, i) z_i.
pub(crate) fn add_gradient(z: &[f64], residuals: &[f64], width: usize, gradient: &mut [f64]) {
    let rows = z.len() / width;
    Arch::new().dispatch(
        #[inline(always)]
        || {
            let classes = residuals.chunks_exact(rows.max(1)).zip(gradient.chunks_exact_mut(width));
            for (residuals, gradient) in classes {
                for start in (0..width).step_by(TILE * LANES) {
                    let end = (start + TILE * LANES).min(width);
                    add_columns(z, residuals, width, start, &mut gradient[start..end]);
                }
            }
        },
    );
}

/// The part of [`add_gradient`] for up to sixteen columns, summed in registers.
#[inline(always)]
fn add_columns(z: &[f64], residuals: &[f64], width: usize, start: usize, out: &mut [f64]) {
    let end = start + out.len();
    if out.len() == TILE * LANES {
        let mut sums = [0.0; TILE * LANES];
        for (row, &residual) in z.chunks_exact(width).zip(residuals) {
            for (sum, z) in sums.iter_mut().zip(&row[start..start + TILE * LANES]) {
                *sum += residual * z;
            }
        }
        out.iter_mut().zip(&sums).for_each(|(out, sum)| *out += sum);
        return;
    }
    for at in (start..end).step_by(LANES) {
        let mut sums = [0.0; LANES];
        for (row, &residual) in z.chunks_exact(width).zip(residuals) {
            for (sum, z) in sums.iter_mut().zip(&row[at..at + LANES]) {
                *sum += residual * z;
            }
        }
        out[at - start..].iter_mut().zip(&sums).for_each(|(out, sum)| *out += sum);
    }
}

/// Two classes. Scores become residuals w (p - y), `weights` become curvatures w p (1 - p);
/// `signs` are +1 for the second class, -1 for the first. Returns Σ w ln(1 + exp(-margin)) and the
/// smallest margin, sign times score.
pub(crate) fn two_classes(scores: &mut [f64], signs: &[f64], weights: &mut [f64]) -> (f64, f64) {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            let mut loss = [0.0; LANES];
            let mut least = [f64::INFINITY; LANES];
            let (scores, scores_rest) = scores.as_chunks_mut::<LANES>();
            let (signs, signs_rest) = signs.as_chunks::<LANES>();
            let (weights, weights_rest) = weights.as_chunks_mut::<LANES>();
            for ((s, t), w) in scores.iter_mut().zip(signs).zip(weights) {
                for l in 0..LANES {
                    let (lost, margin) = two_class_row(&mut s[l], t[l], &mut w[l]);
                    loss[l] += lost;
                    least[l] = if margin < least[l] { margin } else { least[l] };
                }
            }
            let mut total = (loss[0] + loss[2]) + (loss[1] + loss[3]);
            let mut smallest = least.into_iter().fold(f64::INFINITY, f64::min);
            for ((s, t), w) in scores_rest.iter_mut().zip(signs_rest).zip(weights_rest) {
                let (lost, margin) = two_class_row(s, *t, w);
                total += lost;
                smallest = smallest.min(margin);
            }
            (total, smallest)
        },
    )
}

#[inline(always)]
fn two_class_row(score: &mut f64, sign: f64, weight: &mut f64) -> (f64, f64) {
    let margin = *score * sign;
    let odds = exp(-margin.abs());
    let likely = 1.0 / (1.0 + odds);
    let unlikely = odds * likely;
    let wrong = if margin >= 0.0 { unlikely } else { likely };
    let shortfall = if margin >= 0.0 { 0.0 } else { -margin };
    let loss = *weight * (shortfall + ln_1p_unit(odds));
    *score = -sign * wrong * *weight;
    *weight *= unlikely * likely;
    (loss, margin)
}

/// Several classes, of which the first has score 0. Scores (k, i) of the others become their
/// probabilities. Returns Σ w (ln Σ exp(score) - score of the row's class).
pub(crate) fn many_classes(scores: &mut [f64], codes: &[u32], weights: &[f64]) -> f64 {
    let rows = codes.len();
    let mut largest = vec![0.0_f64; rows];
    let mut own = vec![0.0; rows];
    for (i, &code) in codes.iter().enumerate() {
        if code > 0 {
            own[i] = scores[(code as usize - 1) * rows + i];
        }
    }
    let mut totals = vec![0.0; rows];
    Arch::new().dispatch(
        #[inline(always)]
        || softmax_by_class(scores, &mut largest, &mut totals),
    );
    (0..rows).map(|i| weights[i] * ((largest[i] - own[i]) + totals[i].ln())).sum()
}

/// Scores become probabilities, `totals` the sums of exponentials after the shift by `largest`.
#[inline(always)]
pub(crate) fn softmax_by_class(scores: &mut [f64], largest: &mut [f64], totals: &mut [f64]) {
    let rows = largest.len().max(1);
    for class in scores.chunks_exact(rows) {
        for (largest, &score) in largest.iter_mut().zip(class) {
            *largest = if score > *largest { score } else { *largest };
        }
    }
    for (total, largest) in totals.iter_mut().zip(&*largest) {
        *total = exp(-largest);
    }
    for class in scores.chunks_exact_mut(rows) {
        for ((score, largest), total) in class.iter_mut().zip(&*largest).zip(&mut *totals) {
            *score = exp(*score - largest);
            *total += *score;
        }
    }
    for class in scores.chunks_exact_mut(rows) {
        for (score, total) in class.iter_mut().zip(&*totals) {
            *score /= total;
        }
    }
}
