//! A root of a function between two places on its sides, by the Illinois rule: secants, where an end that stays is
//! given half its value, so that both ends move (Dowell and Jarratt, 1971, BIT 11, 168-174).

use learnt_core::prelude::*;

/// A place and the value there.
pub(super) type Place = (f64, f64);

/// Between a place below zero and one above it, until they are `width` apart or a value is `height` from zero.
pub(super) fn root(
    (mut low, mut at_low): Place,
    (mut high, mut at_high): Place,
    (width, height): (f64, f64),
    f: impl Fn(f64) -> Result<f64>,
) -> Result<f64> {
    let mut side = 0;
    for _ in 0..200 {
        let secant = (high * at_low - low * at_high) / (at_low - at_high);
        let inside = secant > low.min(high) && secant < low.max(high);
        let point = if inside { secant } else { 0.5 * (low + high) };
        if (high - low).abs() <= width {
            return Ok(point);
        }
        let value = f(point)?;
        if value.abs() <= height {
            return Ok(point);
        }
        if value < 0.0 {
            (low, at_low) = (point, value);
            at_high *= if side == -1 { 0.5 } else { 1.0 };
            side = -1;
        } else {
            (high, at_high) = (point, value);
            at_low *= if side == 1 { 0.5 } else { 1.0 };
            side = 1;
        }
    }
    Ok(0.5 * (low + high))
}
