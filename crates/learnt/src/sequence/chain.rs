//! Inference in a chain of hidden states, given the logarithms of the emission densities.
//!
//! Forward and backward recursions are scaled in every row: α̂_n(k) c_n = b_n(k) Σ_j α̂_{n-1}(j) A_jk with
//! c_n so that α̂_n sums to one; ln p(X) = Σ ln c_n; the posterior of a state is α̂ β̂. Densities b are
//! divided by their largest in the row first, so that nothing underflows. Viterbi's path is found in
//! logarithms; equal paths go to the lowest state. O(N K²) time.
//!
//! L. Rabiner (1989), Proceedings of the IEEE 77(2), 257-286.

use learnt_core::prelude::*;

/// The probabilities of a chain of K states.
pub(super) struct Chain<'a> {
    /// Of the first state.
    pub(super) start: &'a [f64],
    /// Of the next state, a row for each state.
    pub(super) transitions: &'a Matrix,
}

impl Chain<'_> {
    /// The most probable states and the logarithm of their joint probability with the rows. The
    /// error is the row from which on no path is possible.
    pub(super) fn viterbi(&self, emissions: &[f64]) -> std::result::Result<(Vec<u32>, f64), usize> {
        let states = self.start.len();
        let rows = emissions.len() / states;
        let log = Matrix::from_fn(states, states, |j, k| self.transitions[(j, k)].ln());
        let mut best: Vec<f64> =
            self.start.iter().zip(emissions).map(|(start, e)| start.ln() + e).collect();
        let mut before = vec![0_u32; rows * states];
        let mut next = vec![0.0; states];
        for n in 0..rows {
            if n > 0 {
                for k in 0..states {
                    let (from, value) = highest(states, |j| best[j] + log[(j, k)]);
                    before[n * states + k] = from as u32;
                    next[k] = value + emissions[n * states + k];
                }
                std::mem::swap(&mut best, &mut next);
            }
            if best.iter().all(|value| *value == f64::NEG_INFINITY) {
                return Err(n);
            }
        }
        let (mut state, value) = highest(states, |k| best[k]);
        let mut path = vec![0_u32; rows];
        for n in (0..rows).rev() {
            path[n] = state as u32;
            state = before[n * states + state] as usize;
        }
        Ok((path, value))
    }

    /// Fills the scaled forward probabilities, and gives the log-likelihood. The error is the first
    /// row that is impossible.
    pub(super) fn forward(
        &self,
        emissions: &[f64],
        alpha: &mut [f64],
    ) -> std::result::Result<f64, usize> {
        let states = self.start.len();
        let mut total = 0.0;
        for n in 0..emissions.len() / states {
            let (past, row) = alpha.split_at_mut(n * states);
            let densities = &emissions[n * states..(n + 1) * states];
            let largest = densities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            for k in 0..states {
                let reached = match n {
                    0 => self.start[k],
                    _ => {
                        let past = &past[(n - 1) * states..];
                        (0..states).map(|j| past[j] * self.transitions[(j, k)]).sum()
                    }
                };
                row[k] = reached * (densities[k] - largest).exp();
            }
            let scale: f64 = row[..states].iter().sum();
            if !(scale > 0.0 && largest.is_finite()) {
                return Err(n);
            }
            row[..states].iter_mut().for_each(|a| *a /= scale);
            total += scale.ln() + largest;
        }
        Ok(total)
    }

    /// Turns scaled forward probabilities into posteriors, from the last row back.
    pub(super) fn posteriors(&self, emissions: &[f64], alpha: &mut [f64]) {
        let states = self.start.len();
        let mut beta = vec![1.0; states];
        let mut weighted = vec![0.0; states];
        for n in (0..emissions.len() / states).rev() {
            let row = &mut alpha[n * states..(n + 1) * states];
            let total: f64 = row.iter().zip(&beta).map(|(a, b)| a * b).sum();
            row.iter_mut().zip(&beta).for_each(|(a, b)| *a *= b / total);
            let densities = &emissions[n * states..(n + 1) * states];
            let largest = densities.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            for k in 0..states {
                weighted[k] = (densities[k] - largest).exp() * beta[k];
            }
            let scale = weighted.iter().copied().fold(0.0, f64::max);
            for (j, beta) in beta.iter_mut().enumerate() {
                let reached: f64 =
                    (0..states).map(|k| self.transitions[(j, k)] * weighted[k]).sum();
                *beta = reached / scale;
            }
        }
    }
}

/// The place of the largest value, the first of equals, and the value.
fn highest(count: usize, value: impl Fn(usize) -> f64) -> (usize, f64) {
    let mut best = (0, value(0));
    for i in 1..count {
        let candidate = value(i);
        if candidate > best.1 {
            best = (i, candidate);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logs(table: &[[f64; 2]], observed: &[usize]) -> Vec<f64> {
        observed.iter().flat_map(|&x| table.iter().map(move |row| row[x].ln())).collect()
    }

    fn umbrella(check: impl Fn(&Chain, &[f64])) {
        let transitions = Matrix::from_rows(&[[0.7, 0.3], [0.3, 0.7]]).unwrap();
        let chain = Chain { start: &[0.5, 0.5], transitions: &transitions };
        check(&chain, &logs(&[[0.9, 0.1], [0.2, 0.8]], &[0, 0, 1, 0, 0]));
    }

    #[test]
    fn the_umbrella_model_by_enumeration() {
        umbrella(|chain, emissions| {
            let (path, value) = chain.viterbi(emissions).unwrap();
            assert_eq!(path, [0, 0, 1, 0, 0]);
            assert!((value.exp() - 0.011_573_604).abs() < 1e-12);
            let mut alpha = vec![0.0; emissions.len()];
            let likelihood = chain.forward(emissions, &mut alpha).unwrap();
            assert!((likelihood + 3.372_502_044_33).abs() < 1e-10);
            assert!((alpha[2] - 0.883_357_041_252).abs() < 1e-10);
            chain.posteriors(emissions, &mut alpha);
            let expected =
                [0.867_338_889_575, 0.820_419_053_624, 0.307_483_576_007, 0.820_419_053_624];
            for (n, expected) in expected.iter().enumerate() {
                assert!((alpha[2 * n] - expected).abs() < 1e-10);
                assert!((alpha[2 * n] + alpha[2 * n + 1] - 1.0).abs() < 1e-14);
            }
        });
    }

    #[test]
    fn long_sequences_do_not_underflow() {
        let transitions = Matrix::from_rows(&[[0.7, 0.3], [0.3, 0.7]]).unwrap();
        let chain = Chain { start: &[0.5, 0.5], transitions: &transitions };
        let observed: Vec<usize> = (0..2000).map(|i| usize::from(i % 5 == 2)).collect();
        let emissions = logs(&[[0.9, 0.1], [0.2, 0.8]], &observed);
        let likelihood = chain.forward(&emissions, &mut vec![0.0; emissions.len()]).unwrap();
        assert!((likelihood + 1_270.959_801_83).abs() < 1e-5, "{likelihood}");
    }

    #[test]
    fn an_impossible_row_is_named() {
        let transitions = Matrix::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
        let chain = Chain { start: &[1.0, 0.0], transitions: &transitions };
        let emissions = logs(&[[1.0, 0.0], [0.0, 1.0]], &[0, 0, 1]);
        assert_eq!(chain.viterbi(&emissions), Err(2));
        assert_eq!(chain.forward(&emissions, &mut [0.0; 6]), Err(2));
    }
}
