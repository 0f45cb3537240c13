//! Minimising a function of one number.
//!
//! [`bracket`] walks downhill in growing steps until the function rises; [`golden_section`] keeps a
//! third of the bracket at each step; [`brent`] takes the minimum of the parabola through the three
//! best points where that is inside and shrinking, and a golden section elsewhere.
//!
//! All end when the bracket is within `tol` (relative, floored at the root of the rounding error,
//! below which values cannot tell points apart). Of equal values the first one found wins.
//!
//! Brent (1973), Algorithms for Minimization without Derivatives, chapter 5.

use crate::error::{Error, Result};

/// (3 - √5) / 2.
const GOLDEN: f64 = 0.381_966_011_250_105_1;
const LONGEST: f64 = 1e100;
const TRIALS: usize = 200;

/// A minimum of a function of one number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lowest {
    /// Where it is.
    pub x: f64,
    /// The value there.
    pub value: f64,
}

/// An interval that holds a local minimum, found by walking downhill from `start` in steps that
/// begin at `step` and double.
///
/// A function that falls for ever is an error.
pub fn bracket(
    mut function: impl FnMut(f64) -> Result<f64>,
    start: f64,
    step: f64,
) -> Result<(f64, f64)> {
    if !(step.is_finite() && step != 0.0 && start.is_finite()) {
        return Err(Error::parameter("step", "finite and not zero", step));
    }
    let at_start = function(start)?;
    if at_start.is_nan() {
        return Err(Error::numeric(format!("the function is not a number at {start}")));
    }
    let mut step = step;
    let (mut behind, mut here) = (start, start + step);
    let mut value = function(here)?;
    // A rise means the other side; NaN counts as a rise.
    if value.is_nan() || value >= at_start {
        (behind, here, step) = (here, start, -step);
        value = at_start;
    }
    while step.abs() < LONGEST {
        let ahead = here + step;
        let next = function(ahead)?;
        if next.is_nan() || next >= value {
            return Ok((behind.min(ahead), behind.max(ahead)));
        }
        (behind, here, value) = (here, ahead, next);
        step *= 2.0;
    }
    Err(Error::numeric(format!("the function falls without end from {start}"))
        .hint("give bounds, or check the sign of the objective"))
}

/// The minimum inside an interval by golden sections.
pub fn golden_section(
    mut function: impl FnMut(f64) -> Result<f64>,
    low: f64,
    high: f64,
    tol: f64,
) -> Result<Lowest> {
    let (mut low, mut high) = ordered(low, high)?;
    let (mut left, mut right) = (low + GOLDEN * (high - low), high - GOLDEN * (high - low));
    let (mut at_left, mut at_right) = (function(left)?, function(right)?);
    for _ in 0..TRIALS {
        if high - low <= 2.0 * tolerance(tol, 0.5 * (low + high)) {
            break;
        }
        if at_left <= at_right || at_right.is_nan() {
            (high, right, at_right) = (right, left, at_left);
            left = low + GOLDEN * (high - low);
            at_left = function(left)?;
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = high - GOLDEN * (high - low);
            at_right = function(right)?;
        }
    }
    Ok(match at_left <= at_right {
        true => Lowest { x: left, value: at_left },
        false => Lowest { x: right, value: at_right },
    })
}

/// The minimum inside an interval by parabolas and golden sections.
///
/// ```
/// use learnt_core::optimize::brent;
/// let found = brent(|x| Ok((x - 2.0) * (x - 2.0)), 0.0, 10.0, 1e-10)?;
/// assert!((found.x - 2.0).abs() < 1e-8);
/// # Ok::<(), learnt_core::error::Error>(())
/// ```
pub fn brent(
    mut function: impl FnMut(f64) -> Result<f64>,
    low: f64,
    high: f64,
    tol: f64,
) -> Result<Lowest> {
    let (mut low, mut high) = ordered(low, high)?;
    let x = low + GOLDEN * (high - low);
    let mut best = Lowest { x, value: function(x)? };
    let (mut second, mut third) = (best, best);
    let (mut step, mut before_last) = (0.0_f64, 0.0_f64);
    for _ in 0..TRIALS {
        let middle = 0.5 * (low + high);
        let tol = tolerance(tol, best.x);
        if (best.x - middle).abs() <= 2.0 * tol - 0.5 * (high - low) {
            break;
        }
        let parabola = parabola_step(&best, &second, &third).filter(|step| {
            let target = best.x + step;
            step.abs() < 0.5 * before_last.abs() && target > low && target < high
        });
        (before_last, step) = match parabola {
            Some(found) => {
                let target = best.x + found;
                let edge = target - low < 2.0 * tol || high - target < 2.0 * tol;
                (step, if edge { tol.copysign(middle - best.x) } else { found })
            }
            None => {
                let rest = if best.x < middle { high - best.x } else { low - best.x };
                (rest, GOLDEN * rest)
            }
        };
        let x = best.x + if step.abs() >= tol { step } else { tol.copysign(step) };
        let trial = Lowest { x, value: function(x)? };
        if trial.value <= best.value {
            if x < best.x {
                high = best.x
            } else {
                low = best.x
            }
            (third, second, best) = (second, best, trial);
        } else {
            if x < best.x {
                low = x
            } else {
                high = x
            }
            if trial.value <= second.value || second.x == best.x {
                (third, second) = (second, trial);
            } else if trial.value <= third.value || third.x == best.x || third.x == second.x {
                third = trial;
            }
        }
    }
    Ok(best)
}

/// From the best point to the minimum of the parabola through three.
fn parabola_step(best: &Lowest, second: &Lowest, third: &Lowest) -> Option<f64> {
    let r = (best.x - second.x) * (best.value - third.value);
    let q = (best.x - third.x) * (best.value - second.value);
    let numerator = (best.x - third.x) * q - (best.x - second.x) * r;
    let step = -0.5 * numerator / (q - r);
    (step.is_finite() && q != r).then_some(step)
}

fn ordered(low: f64, high: f64) -> Result<(f64, f64)> {
    match low.is_finite() && high.is_finite() && low <= high {
        true => Ok((low, high)),
        false => {
            Err(Error::parameter("bracket", "two finite ends in order", format!("({low}, {high})")))
        }
    }
}

fn tolerance(tol: f64, x: f64) -> f64 {
    tol.max(1.5e-8) * x.abs().max(1e-3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_methods_agree_and_parabolas_need_fewer_values() {
        for (function, minimum) in [
            ((|x: f64| x.exp() - 3.0 * x) as fn(f64) -> f64, 3.0_f64.ln()),
            (|x| (x - 0.3).abs(), 0.3),
            (|x| -(-x * x).exp(), 0.0),
            (|x| x.cos(), std::f64::consts::PI),
        ] {
            let mut counts = [0, 0];
            let (low, high) = bracket(|x| Ok(function(x)), 0.9, 0.1).unwrap();
            let count = |which: usize, counts: &mut [usize; 2], x| {
                counts[which] += 1;
                Ok(function(x))
            };
            let golden = golden_section(|x| count(0, &mut counts, x), low, high, 1e-8).unwrap();
            let brent = brent(|x| count(1, &mut counts, x), low, high, 1e-8).unwrap();
            assert!((golden.x - minimum).abs() < 1e-6, "{} {minimum}", golden.x);
            assert!((brent.x - minimum).abs() < 1e-6, "{} {minimum}", brent.x);
            assert!(counts[1] <= counts[0] + 10, "{counts:?}");
        }
    }

    #[test]
    fn a_bracket_is_found_on_either_side() {
        for start in [-50.0, 0.0, 49.0] {
            let (low, high) = bracket(|x| Ok((x - 7.0) * (x - 7.0)), start, 1.0).unwrap();
            assert!(low <= 7.0 && 7.0 <= high);
        }
    }

    #[test]
    fn a_function_without_a_minimum_is_an_error() {
        let error = bracket(|x| Ok(-x), 0.0, 1.0).unwrap_err();
        assert!(error.message().contains("falls without end"));
    }
}
