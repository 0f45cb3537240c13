//! Root finding for the inverses of distribution functions.
//!
//! Method: Newton's iteration on the logarithm of a tail probability as a function of the
//! logarithm (or log odds) of the argument. For the gamma and beta families that function is
//! concave, so the iteration converges from one side; a bracket and a step limit guard it.

/// Longest step taken in the (logarithmic) variable.
const STEP_LIMIT: f64 = 30.0;

/// Solves `g(w) = 0` for a monotone `g`; `evaluate` returns `g(w)` and its derivative.
///
/// Each step is Newton's, or bisection when that leaves the bracket. It ends when steps no longer
/// shrink above the rounding level.
pub(super) fn solve_monotone(
    start: f64,
    increasing: bool,
    evaluate: impl Fn(f64) -> (f64, f64),
) -> f64 {
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let (mut point, mut previous) = (start, f64::INFINITY);
    for _ in 0..200 {
        let (value, slope) = evaluate(point);
        if value == 0.0 || value.is_nan() {
            return point;
        }
        let root_is_left = (value > 0.0) == increasing;
        if root_is_left {
            high = point
        } else {
            low = point
        }
        let step = newton_step(value, slope, root_is_left);
        let size = step.abs();
        if size <= f64::EPSILON * point.abs() || (size < 1e-9 && size >= 0.5 * previous) {
            return point + step;
        }
        previous = size;
        let next = point + step;
        let outside = !(next > low && next < high);
        point = if outside { low + 0.5 * (high - low) } else { next };
        if !point.is_finite() {
            point = if root_is_left { high - STEP_LIMIT } else { low + STEP_LIMIT };
        }
    }
    point
}

/// Newton's step `-value / slope`, limited in size; when it does not exist, the longest step
/// towards the root.
fn newton_step(value: f64, slope: f64, root_is_left: bool) -> f64 {
    let step = -value / slope;
    let towards = if root_is_left { -STEP_LIMIT } else { STEP_LIMIT };
    if step.is_finite() && (step < 0.0) == root_is_left {
        step.clamp(-STEP_LIMIT, STEP_LIMIT)
    } else {
        towards
    }
}
