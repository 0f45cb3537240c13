//! The number of components of largest evidence.
//!
//! T. Minka (2000), "Automatic choice of dimensionality for PCA".

use learnt_core::stats::special::ln_gamma;

/// The rank of largest evidence, the lowest of equals.
pub(super) fn likeliest_rank(variances: &[f64], n: f64) -> usize {
    let mut best = (1, f64::NEG_INFINITY);
    for rank in 1..variances.len() {
        let evidence = ln_evidence(variances, rank, n);
        if evidence > best.1 {
            best = (rank, evidence);
        }
    }
    best.0
}

/// Minka's Laplace approximation of ln p(data | rank): uniform directions, then variances kept,
/// variance left, and the curvature at the best rotation.
fn ln_evidence(variances: &[f64], rank: usize, n: f64) -> f64 {
    const TINY: f64 = 1e-15;
    let p = variances.len();
    if variances[rank - 1] < TINY {
        return f64::NEG_INFINITY;
    }
    let (kept, left) = variances.split_at(rank);
    let noise = (left.iter().sum::<f64>() / left.len() as f64).max(TINY);
    let half = |i: usize| (p - i) as f64 / 2.0;
    let directions: f64 =
        (0..rank).map(|i| ln_gamma(half(i)) - half(i) * std::f64::consts::PI.ln()).sum::<f64>()
            - rank as f64 * std::f64::consts::LN_2;
    let of_kept = -0.5 * n * kept.iter().map(|v| v.ln()).sum::<f64>();
    let of_left = -0.5 * n * left.len() as f64 * noise.ln();
    let free = (p * rank - rank * (rank + 1) / 2 + rank) as f64;
    let mut curvature = 0.0;
    for i in 0..rank {
        for j in i + 1..p {
            let modelled = if j < rank { variances[j] } else { noise };
            let gap = (variances[i] - variances[j]) * (1.0 / modelled - 1.0 / variances[i]);
            curvature += gap.ln() + n.ln();
        }
    }
    directions + of_kept + of_left + 0.5 * free * std::f64::consts::TAU.ln()
        - 0.5 * curvature
        - 0.5 * rank as f64 * n.ln()
}
