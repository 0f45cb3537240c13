//! The inner loops of a pass: scores, losses, gradients over a chunk of rows that is in cache.
//!
//! Rows of a chunk are `width` values long, a multiple of [`LANES`], padded with zeros. What is
//! computed per row and class lies class by class: value (k, i) at `k * rows + i`. Every sum has one
//! order, eight interleaved sums of fused products, whatever the vector width of the processor; only
//! one without fused multiply-adds rounds each product.

use learnt_core::linalg::vector_math::{exp, ln_1p_unit};
use learnt_core::linalg::{self, Kernel, run};
use learnt_core::vectorized;
use pulp::Simd;

/// Values that are worked on together: one vector of AVX-512, two of AVX2.
pub(crate) const LANES: usize = 8;

/// Length of a padded row.
pub(crate) fn padded(columns: usize) -> usize {
    columns.div_ceil(LANES) * LANES
}

/// scores(k, i) = z_i · weights_k.
pub(crate) fn scores(z: &[f64], weights: &[f64], width: usize, out: &mut [f64]) {
    run(Scores { z, weights, width, out });
}

struct Scores<'a> {
    z: &'a [f64],
    weights: &'a [f64],
    width: usize,
    out: &'a mut [f64],
}

impl Kernel for Scores<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        match S::F64_LANES {
            8 => self.tiles::<S, 1>(simd),
            4 => self.tiles::<S, 2>(simd),
            2 => self.tiles::<S, 4>(simd),
            _ => self.tiles::<S, 8>(simd),
        }
    }
}

impl Scores<'_> {
    /// Two rows by three classes in registers, four rows by one for the classes that are left.
    #[inline(always)]
    fn tiles<S: Simd, const N: usize>(mut self, simd: S) {
        let rows = self.z.len() / self.width;
        let classes = self.weights.len() / self.width;
        let triples = classes - classes % 3;
        for i in (0..rows).step_by(4) {
            for k in (0..triples).step_by(3) {
                for i in (i..rows.min(i + 4)).step_by(2) {
                    match i + 2 <= rows {
                        true => self.tile::<S, N, 2, 3>(simd, rows, i, k),
                        false => self.tile::<S, N, 1, 3>(simd, rows, i, k),
                    }
                }
            }
            for k in triples..classes {
                match i + 4 <= rows {
                    true => self.tile::<S, N, 4, 1>(simd, rows, i, k),
                    false => (i..rows).for_each(
                        #[inline(always)]
                        |i| self.tile::<S, N, 1, 1>(simd, rows, i, k),
                    ),
                }
            }
        }
    }

    #[inline(always)]
    fn tile<S: Simd, const N: usize, const R: usize, const K: usize>(
        &mut self,
        simd: S,
        rows: usize,
        i: usize,
        k: usize,
    ) {
        let width = self.width;
        let z = self.z[i * width..(i + R) * width].as_chunks::<LANES>().0;
        let weights = self.weights[k * width..(k + K) * width].as_chunks::<LANES>().0;
        let groups = width / LANES;
        let mut sums = [[[simd.splat_f64s(0.0); N]; K]; R];
        for g in 0..groups {
            for c in 0..K {
                let Some(w) = vectors::<S, N>(&weights[c * groups + g]) else { return };
                for r in 0..R {
                    let Some(z) = vectors::<S, N>(&z[r * groups + g]) else { return };
                    for v in 0..N {
                        sums[r][c][v] = simd.mul_add_e_f64s(z[v], w[v], sums[r][c][v]);
                    }
                }
            }
        }
        for r in 0..R {
            for c in 0..K {
                let s: &[f64] = pulp::bytemuck::cast_slice(&sums[r][c]);
                self.out[(k + c) * rows + i + r] =
                    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
            }
        }
    }
}

/// Eight values as vectors.
#[inline(always)]
fn vectors<S: Simd, const N: usize>(values: &[f64; LANES]) -> Option<&[S::f64s; N]> {
    S::as_simd_f64s(values).0.first_chunk::<N>()
}

/// gradient_k += Σ_i residuals(k, i) z_i.
pub(crate) fn add_gradient(z: &[f64], residuals: &[f64], width: usize, gradient: &mut [f64]) {
    run(AddGradient { z, residuals, width, gradient });
}

struct AddGradient<'a> {
    z: &'a [f64],
    residuals: &'a [f64],
    width: usize,
    gradient: &'a mut [f64],
}

impl Kernel for AddGradient<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        match S::F64_LANES {
            8 => self.tiles::<S, 1>(simd),
            4 => self.tiles::<S, 2>(simd),
            2 => self.tiles::<S, 4>(simd),
            _ => self.tiles::<S, 8>(simd),
        }
    }
}

impl AddGradient<'_> {
    /// Three classes by sixteen columns in registers, one by thirty-two for the classes that are left.
    #[inline(always)]
    fn tiles<S: Simd, const N: usize>(mut self, simd: S) {
        let classes = self.gradient.len() / self.width;
        let groups = self.width / LANES;
        let triples = classes - classes % 3;
        for k in (0..triples).step_by(3) {
            for g in (0..groups).step_by(2) {
                match g + 2 <= groups {
                    true => self.tile::<S, N, 3, 2>(simd, k, g),
                    false => self.tile::<S, N, 3, 1>(simd, k, g),
                }
            }
        }
        for k in triples..classes {
            let mut g = 0;
            while g < groups {
                match groups - g {
                    1 => self.tile::<S, N, 1, 1>(simd, k, g),
                    2 => self.tile::<S, N, 1, 2>(simd, k, g),
                    3 => self.tile::<S, N, 1, 3>(simd, k, g),
                    _ => self.tile::<S, N, 1, 4>(simd, k, g),
                }
                g += 4;
            }
        }
    }

    #[inline(always)]
    fn tile<S: Simd, const N: usize, const K: usize, const G: usize>(
        &mut self,
        simd: S,
        k: usize,
        g: usize,
    ) {
        let rows = self.z.len() / self.width;
        let groups = self.width / LANES;
        let z = self.z.as_chunks::<LANES>().0;
        let residuals = &self.residuals[k * rows..(k + K) * rows];
        let mut sums = [[[simd.splat_f64s(0.0); N]; G]; K];
        for i in 0..rows {
            let Some(z) = z[i * groups + g..].first_chunk::<G>() else { return };
            for c in 0..K {
                let factor = simd.splat_f64s(residuals[c * rows + i]);
                for b in 0..G {
                    let Some(z) = vectors::<S, N>(&z[b]) else { return };
                    for v in 0..N {
                        sums[c][b][v] = simd.mul_add_e_f64s(factor, z[v], sums[c][b][v]);
                    }
                }
            }
        }
        for c in 0..K {
            let out = &mut self.gradient[(k + c) * self.width + g * LANES..][..G * LANES];
            let sums: &[f64] = pulp::bytemuck::cast_slice(sums[c].as_flattened());
            for j in 0..G * LANES {
                out[j] += sums[j];
            }
        }
    }
}

/// Two classes. Scores become residuals w (p - y), `weights` become curvatures w p (1 - p);
/// `signs` are +1 for the second class, -1 for the first. Returns Σ w ln(1 + exp(-margin)) and the
/// smallest margin, sign times score.
pub(crate) fn two_classes(scores: &mut [f64], signs: &[f64], weights: &mut [f64]) -> (f64, f64) {
    vectorized!({
        let (mut total, mut smallest) = (0.0, f64::INFINITY);
        let parts = scores.chunks_mut(ROWS).zip(signs.chunks(ROWS)).zip(weights.chunks_mut(ROWS));
        for ((scores, signs), weights) in parts {
            // Row by row into memory first: sums and minima in the same loop would keep the compiler
            // from using vectors.
            let (mut losses, mut margins) = ([0.0; ROWS], [f64::INFINITY; ROWS]);
            let rows = scores.iter_mut().zip(signs).zip(weights.iter_mut());
            for (((score, sign), weight), (loss, margin)) in
                rows.zip(losses.iter_mut().zip(&mut margins))
            {
                (*loss, *margin) = two_class_row(score, *sign, weight);
            }
            total += total_of(&losses);
            smallest = lane_least(&margins).min(smallest);
        }
        (total, smallest)
    })
}

const ROWS: usize = 256;

#[inline(always)]
fn total_of(values: &[f64; ROWS]) -> f64 {
    let mut sums = [0.0; LANES];
    for values in values.as_chunks::<LANES>().0 {
        for l in 0..LANES {
            sums[l] += values[l];
        }
    }
    linalg::lane_sum(sums)
}

#[inline(always)]
fn lane_least(values: &[f64; ROWS]) -> f64 {
    let mut least = [f64::INFINITY; LANES];
    for values in values.as_chunks::<LANES>().0 {
        for l in 0..LANES {
            least[l] = if values[l] < least[l] { values[l] } else { least[l] };
        }
    }
    least.into_iter().fold(f64::INFINITY, f64::min)
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
    vectorized!(softmax_by_class(scores, &mut largest, &mut totals));
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
