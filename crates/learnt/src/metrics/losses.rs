//! Losses of a margin z = y f with y = ±1, and of a residual r = y - f.
//!
//! Scaled so that every margin loss is 1 at z = 0; only the squared loss rises again beyond z = 1.

/// 1 if z ≤ 0.
pub fn zero_one(z: f64) -> f64 {
    f64::from(z <= 0.0)
}

/// max(0, 1 - z).
pub fn hinge(z: f64) -> f64 {
    (1.0 - z).max(0.0)
}

/// log₂(1 + e⁻ᶻ), without overflow.
pub fn logistic(z: f64) -> f64 {
    softplus(-z) / std::f64::consts::LN_2
}

/// ln(1 + e⁻²ᶻ) / ln 2, without overflow.
pub fn deviance(z: f64) -> f64 {
    softplus(-2.0 * z) / std::f64::consts::LN_2
}

/// e⁻ᶻ.
pub fn exponential(z: f64) -> f64 {
    (-z).exp()
}

/// (1 - z)².
pub fn squared(z: f64) -> f64 {
    (1.0 - z) * (1.0 - z)
}

/// (1 - z)² below z = 1, else 0.
pub fn truncated_squared(z: f64) -> f64 {
    hinge(z) * hinge(z)
}

/// r²/2 for |r| ≤ δ, else δ|r| - δ²/2.
pub fn huber(r: f64, delta: f64) -> f64 {
    let size = r.abs();
    if size <= delta { 0.5 * r * r } else { delta * (size - 0.5 * delta) }
}

/// Derivative of [`huber`] in r: r, at most δ in size.
pub fn huber_slope(r: f64, delta: f64) -> f64 {
    r.clamp(-delta, delta)
}

/// ln(1 + eᵗ) without overflow.
fn softplus(t: f64) -> f64 {
    t.max(0.0) + (-t.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margin_losses_are_one_at_zero_and_bound_the_zero_one_loss() {
        for loss in [zero_one, hinge, logistic, deviance, exponential, squared, truncated_squared] {
            assert!((loss(0.0) - 1.0).abs() < 1e-15);
            assert!((-40..40).all(|k| loss(f64::from(k) / 8.0) >= zero_one(f64::from(k) / 8.0)));
        }
        assert!((deviance(-1.0) - 3.068_51).abs() < 1e-5);
        assert_eq!(logistic(-1e4), 1e4 / std::f64::consts::LN_2);
    }

    #[test]
    fn the_huber_loss_on_full_scale() {
        let full: Vec<f64> = [0.5, 1.0, -2.0, 5.0].map(|r| 2.0 * huber(r, 1.0)).to_vec();
        assert_eq!(full, [0.25, 1.0, 3.0, 9.0]);
        assert_eq!(huber_slope(-3.0, 1.0), -1.0);
    }
}
