//! Line search for the strong Wolfe conditions, one trial at a time.
//!
//! Seeks t > 0 with  f(t) <= f(0) + c1 t f'(0)  and  |f'(t)| <= c2 |f'(0)|, c1 = 1e-4, c2 = 0.9.
//! Steps grow until they bracket such a t, then the bracket shrinks by cubic interpolation, kept
//! inside its middle. After 30 trials the best step with a decrease is taken, if there is one.
//!
//! Nocedal and Wright (2006), Numerical Optimization, algorithms 3.5 and 3.6.

use learnt_derive::Stored;

const DECREASE: f64 = 1e-4;
const CURVATURE: f64 = 0.9;
const TRIALS: usize = 30;

/// Value and slope at a step.
#[derive(Clone, Copy, Debug, Stored)]
struct Trial {
    step: f64,
    value: f64,
    slope: f64,
}

/// A search along one direction.
#[derive(Clone, Debug, Stored)]
pub struct LineSearch {
    start: Trial,
    low: Trial,
    high: Option<Trial>,
    step: f64,
    trials: usize,
    settled: bool,
}

/// What follows from a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The step is good.
    Accept,
    /// Another step is to be tried.
    Again,
    /// No step lowers the value.
    Fail,
}

impl LineSearch {
    /// From value and (negative) slope at zero, trying `step` first.
    pub fn new(value: f64, slope: f64, step: f64) -> Self {
        let start = Trial { step: 0.0, value, slope };
        LineSearch { start, low: start, high: None, step, trials: 0, settled: false }
    }

    /// The step to try.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// Takes value and slope at the step.
    pub(super) fn tell(&mut self, value: f64, slope: f64) -> Outcome {
        let at = Trial { step: self.step, value, slope };
        if self.settled {
            return Outcome::Accept;
        }
        self.trials += 1;
        let decreases = self.decreases(&at) && slope.is_finite();
        if decreases && slope.abs() <= -CURVATURE * self.start.slope {
            return Outcome::Accept;
        }
        self.narrow(at, decreases);
        let width = self.high.map_or(f64::INFINITY, |high| (high.step - self.low.step).abs());
        if self.trials >= TRIALS || width <= 1e-14 * self.low.step.max(1e-300) {
            return self.settle();
        }
        self.step = self.next();
        Outcome::Again
    }

    /// Sufficient decrease, with room for the rounding of the value.
    fn decreases(&self, at: &Trial) -> bool {
        let rounding = 4.0 * f64::EPSILON * self.start.value.abs();
        at.value <= self.start.value + DECREASE * at.step * self.start.slope + rounding
    }

    fn narrow(&mut self, at: Trial, decreases: bool) {
        if !decreases || (at.value >= self.low.value && self.low.step > 0.0) {
            self.high = Some(at);
            return;
        }
        let beyond = match self.high {
            None => at.slope >= 0.0,
            Some(high) => at.slope * (high.step - self.low.step) >= 0.0,
        };
        if beyond {
            self.high = Some(self.low);
        }
        self.low = at;
    }

    fn next(&self) -> f64 {
        match self.high {
            None => self.step * 4.0,
            Some(high) => {
                let width = high.step - self.low.step;
                let inside = cubic_minimum(&self.low, &high).unwrap_or(0.5).clamp(0.1, 0.9);
                self.low.step + inside * width
            }
        }
    }

    fn settle(&mut self) -> Outcome {
        if self.low.step == 0.0 {
            return Outcome::Fail;
        }
        (self.step, self.settled) = (self.low.step, true);
        Outcome::Again
    }
}

/// Where between the two, as a share of the way from `a` to `b`, the cubic with their values and
/// slopes is smallest.
fn cubic_minimum(a: &Trial, b: &Trial) -> Option<f64> {
    let width = b.step - a.step;
    let (left, right) = (a.slope * width, b.slope * width);
    let bend = left + right - 3.0 * (b.value - a.value);
    let root = (bend * bend - left * right).sqrt();
    let share = 1.0 - (right + root - bend) / (right - left + 2.0 * root);
    share.is_finite().then_some(share)
}
