//! Gradient descent: w ← w - η g, all coordinates at once, with momentum, Nesterov or Adam.
//!
//! The rate follows a [`Schedule`], or is found by backtracking: from twice the last accepted rate,
//! halved until  f(w - η g) <= f(w) - 1e-4 η |g|². A rate η on the gradient is the rate η |g| on
//! the unit direction, so there is no second form. A step is always taken, uphill or not, unless
//! backtracking forbids it; values or gradients that are not finite are [`Verdict::Diverged`]. On a
//! quadratic with largest curvature λ fixed rates above 2 / λ diverge.
//!
//! Cauchy (1847); Armijo (1966), Pacific Journal of Mathematics 16, 1–3.

use super::motion::Mover;
use super::{Evaluation, Minimizer, Motion, Schedule, Verdict, check};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::linalg::{add_scaled, dot};
use crate::stats::sample::standard_normal;
use learnt_derive::Stored;

const DECREASE: f64 = 1e-4;
const HALVINGS: usize = 100;

/// How long steps are.
#[derive(Clone, Copy, Debug, Stored)]
enum Pace {
    Scheduled(Schedule),
    Backtracking(Backtracking),
}

#[derive(Clone, Copy, Debug, Stored)]
struct Backtracking {
    rate: f64,
    halvings: usize,
}

/// The state of the method.
#[derive(Clone, Debug, Stored)]
pub struct GradientDescent {
    pace: Pace,
    mover: Mover,
    point: Vec<f64>,
    base: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
    started: bool,
    iterations: usize,
}

impl GradientDescent {
    /// From a start, with a fixed rate.
    pub fn new(start: Vec<f64>, rate: f64) -> Result<Self> {
        Self::scheduled(start, Schedule::Constant { rate }, Motion::Plain)
    }

    /// From a start, with a schedule of rates and a motion.
    pub fn scheduled(start: Vec<f64>, schedule: Schedule, motion: Motion) -> Result<Self> {
        schedule.check()?;
        motion.check()?;
        Ok(Self::with_pace(start, Pace::Scheduled(schedule), motion))
    }

    /// From a start, with backtracking whose first trial is `rate`.
    pub fn backtracking(start: Vec<f64>, rate: f64) -> Result<Self> {
        Schedule::Constant { rate }.check()?;
        let pace = Pace::Backtracking(Backtracking { rate, halvings: 0 });
        Ok(Self::with_pace(start, pace, Motion::Plain))
    }

    fn with_pace(start: Vec<f64>, pace: Pace, motion: Motion) -> Self {
        GradientDescent {
            pace,
            mover: Mover::new(motion, start.len()),
            base: start.clone(),
            point: start,
            value: f64::INFINITY,
            gradient: Vec::new(),
            started: false,
            iterations: 0,
        }
    }

    fn accept(&mut self, at: Evaluation) -> Verdict {
        self.iterations += usize::from(self.started);
        self.base.clone_from(&self.point);
        (self.value, self.gradient) = (at.value, at.gradient);
        let rate = match &mut self.pace {
            Pace::Scheduled(schedule) => schedule.rate(self.iterations + 1),
            Pace::Backtracking(pace) => {
                pace.rate *= if self.started { 2.0 } else { 1.0 };
                pace.halvings = 0;
                pace.rate
            }
        };
        self.started = true;
        let step = self.mover.step(&self.gradient, rate);
        self.place(&step)
    }

    /// Moves on from the base; the point stays where the step is zero.
    fn place(&mut self, step: &[f64]) -> Verdict {
        self.point.clone_from(&self.base);
        add_scaled(&mut self.point, 1.0, step);
        let finite = self.point.iter().all(|x| x.is_finite());
        match (step.iter().all(|&s| s == 0.0), finite) {
            (true, _) => Verdict::Converged,
            (_, false) => Verdict::Diverged,
            _ => Verdict::Again,
        }
    }

    /// Halves the rate of backtracking, if it can be halved further.
    fn shorten(&mut self) -> Verdict {
        let Pace::Backtracking(pace) = &mut self.pace else { return Verdict::Diverged };
        pace.rate *= 0.5;
        pace.halvings += 1;
        let (rate, halvings) = (pace.rate, pace.halvings);
        let step: Vec<f64> = self.gradient.iter().map(|g| -rate * g).collect();
        match self.place(&step) {
            Verdict::Again if halvings > HALVINGS || self.point == self.base => Verdict::Stalled,
            Verdict::Diverged => self.shorten_until_finite(),
            verdict => verdict,
        }
    }

    fn shorten_until_finite(&mut self) -> Verdict {
        for _ in 0..2 * f64::MAX_EXP {
            let Pace::Backtracking(pace) = &mut self.pace else { break };
            pace.rate *= 0.5;
            let step: Vec<f64> = self.gradient.iter().map(|g| -pace.rate * g).collect();
            let verdict = self.place(&step);
            if verdict != Verdict::Diverged {
                return verdict;
            }
        }
        Verdict::Stalled
    }

    fn acceptable(&self, value: f64) -> bool {
        match &self.pace {
            Pace::Backtracking(pace) if self.started => {
                let promised = DECREASE * pace.rate * dot(&self.gradient, &self.gradient);
                value <= self.value - promised
            }
            _ => true,
        }
    }
}

impl Minimizer for GradientDescent {
    fn point(&self) -> &[f64] {
        &self.point
    }

    fn best(&self) -> &[f64] {
        &self.base
    }

    fn tell(&mut self, at: Evaluation) -> Result<Verdict> {
        check(&at, self.point.len(), !self.started)?;
        let finite = at.value.is_finite() && at.gradient.iter().all(|g| g.is_finite());
        Ok(match finite && self.acceptable(at.value) {
            true => self.accept(at),
            false => self.shorten(),
        })
    }

    fn iterations(&self) -> usize {
        self.iterations
    }

    fn value(&self) -> f64 {
        self.value
    }

    fn gradient(&self) -> &[f64] {
        &self.gradient
    }
}

/// A start of independent normal numbers with mean 0 and the given deviation, for objectives whose
/// gradient is zero at zero.
pub fn normal_start(dimension: usize, deviation: f64, run: &Context) -> Result<Vec<f64>> {
    if !(deviation >= 0.0 && deviation.is_finite()) {
        return Err(Error::parameter("deviation", "zero or more", deviation));
    }
    let mut rng = run.rng(0x57a2);
    Ok((0..dimension).map(|_| deviation * standard_normal(&mut rng)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimize::{Rules, Stopped, minimize_until};

    fn square(x: &[f64]) -> Evaluation {
        Evaluation { value: x[0] * x[0], gradient: vec![2.0 * x[0]], hessian: None }
    }

    fn descend(mut method: GradientDescent, rules: Rules) -> crate::optimize::Minimum {
        let run = Context::default();
        minimize_until(&mut method, |x| Ok(square(x)), &rules, false, &run).unwrap()
    }

    #[test]
    fn a_falling_rate_goes_as_by_hand() {
        // x ← x (1 - 2 η / k): from 1 with η = 0.5 the first step ends at 0, so η = 0.4.
        let schedule = Schedule::Inverse { rate: 0.4, power: 1.0 };
        let method = GradientDescent::scheduled(vec![1.0], schedule, Motion::Plain).unwrap();
        let found = descend(method, Rules::steps(3));
        let expected = (1.0 - 0.8) * (1.0 - 0.4) * (1.0 - 0.8 / 3.0);
        assert!((found.x[0] - expected).abs() < 1e-15);
    }

    #[test]
    fn divergence_is_stated_and_everything_returned_is_finite() {
        let found = descend(GradientDescent::new(vec![1.0], 10.0).unwrap(), Rules::steps(10_000));
        assert_eq!(found.stopped, Stopped::Diverged);
        assert!(found.x[0].is_finite() && found.value.is_finite() && found.gradient[0].is_finite());
        assert!(found.stopped.to_string().contains("smaller rate"));
    }

    #[test]
    fn backtracking_descends_at_every_step_whatever_the_first_rate() {
        for rate in [1e-9, 1.0, 1e9, 1e20] {
            let method = GradientDescent::backtracking(vec![3.0], rate).unwrap();
            let found = descend(method, Rules { gradient: Some(1e-8), ..Rules::steps(1000) });
            assert_eq!(found.stopped, Stopped::Gradient, "{rate}");
            assert!(found.values.windows(2).all(|pair| pair[1] <= pair[0]));
        }
    }

    #[test]
    fn backtracking_with_a_wrong_gradient_stalls() {
        let wrong = |x: &[f64]| Evaluation { gradient: vec![-1.0], ..square(x) };
        let mut method = GradientDescent::backtracking(vec![1.0], 1.0).unwrap();
        let run = Context::default();
        let rules = Rules::steps(100);
        let found = minimize_until(&mut method, |x| Ok(wrong(x)), &rules, false, &run).unwrap();
        assert_eq!((found.stopped, found.iterations), (Stopped::Stalled, 0));
    }

    #[test]
    fn adam_and_nesterov_reach_the_minimum() {
        let schedule = Schedule::Exponential { rate: 0.3, factor: 0.99 };
        for motion in [Motion::ADAM, Motion::Nesterov { momentum: 0.5 }] {
            let method = GradientDescent::scheduled(vec![2.0], schedule, motion).unwrap();
            let found = descend(method, Rules { gradient: Some(1e-4), ..Rules::steps(5000) });
            assert_eq!(found.stopped, Stopped::Gradient);
        }
    }

    #[test]
    fn a_stored_state_resumes_with_the_same_bits() {
        use crate::persist::Stored;
        let mut straight =
            GradientDescent::scheduled(vec![2.0], Schedule::default(), Motion::ADAM).unwrap();
        let mut resumed = straight.clone();
        for _ in 0..5 {
            straight.tell(square(straight.point())).unwrap();
            resumed = GradientDescent::from_node(&resumed.to_node()).unwrap();
            resumed.tell(square(resumed.point())).unwrap();
            assert_eq!(straight.point(), resumed.point());
        }
    }

    #[test]
    fn a_normal_start_is_small_and_repeats() {
        let run = Context::default().with_seed(3);
        let start = normal_start(1000, 0.01, &run).unwrap();
        assert_eq!(start, normal_start(1000, 0.01, &run).unwrap());
        assert!(start.iter().all(|x| x.abs() < 0.06) && start.iter().any(|x| *x != start[0]));
    }
}
