//! Stochastic and mini-batch descent on a sum over rows.
//!
//! w ← w - η_k (1/|B|) Σ_{i ∈ B} g_i(w)  for one batch B of rows after the other; the last batch of
//! an epoch may be short and is divided by its own size. Batch size 1 is stochastic descent, n is
//! batch descent. Rows come shuffled anew in every epoch, in their own order, or drawn with
//! replacement. Averaging returns the mean of the points after every step of the later epochs.
//!
//! Rules are looked at after every epoch; those about the objective need one, those about the
//! gradient do not apply. The order of an epoch depends on seed and epoch alone.
//! Robbins and Monro (1951); Polyak and Juditsky (1992), SIAM J. Control and Optimization 30.

use super::motion::Mover;
use super::rules::Watch;
use super::{Motion, Rules, Schedule, Stopped};
use crate::context::Context;
use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::linalg::add_scaled;
use crate::stats::sample::{below, shuffle};
use learnt_derive::Stored;

/// The objective at a point.
pub type Objective<'a> = &'a mut dyn FnMut(&[f64]) -> Result<f64>;

/// The order in which rows are met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Stored)]
pub enum RowOrder {
    /// Shuffled anew in every epoch.
    Shuffled,
    /// As they are.
    Listed,
    /// Every row of every batch drawn from all.
    Replacement,
}

/// How descent goes over the rows.
#[derive(Clone, Copy, Debug)]
pub struct StochasticDescent {
    /// Rows in a batch.
    pub batch_size: usize,
    /// The order of rows.
    pub order: RowOrder,
    /// Rates; a step is a batch.
    pub schedule: Schedule,
    /// How gradients become steps.
    pub motion: Motion,
    /// The first epoch, counted from 0, whose points enter the average that is returned.
    pub average_from: Option<usize>,
    /// Whether gradients come as means over their batch, rather than sums.
    pub means: bool,
    /// When to stop; a step is an epoch.
    pub rules: Rules,
    /// Whether to keep the point after every batch.
    pub keep_path: bool,
}

impl Default for StochasticDescent {
    /// 50 rows, shuffled, at 0.1, for 100 epochs.
    fn default() -> Self {
        StochasticDescent {
            batch_size: 50,
            order: RowOrder::Shuffled,
            schedule: Schedule::default(),
            motion: Motion::Plain,
            average_from: None,
            means: false,
            rules: Rules::steps(100),
            keep_path: false,
        }
    }
}

/// Where descent ended.
#[derive(Clone, Debug)]
pub struct StochasticFit {
    /// The last point, or the average of the later ones if asked for.
    pub x: Vec<f64>,
    /// The last point.
    pub last: Vec<f64>,
    /// Epochs made.
    pub epochs: usize,
    /// Batches used.
    pub steps: usize,
    /// The rule that fired.
    pub stopped: Stopped,
    /// The objective at the start and after every epoch; empty without an objective.
    pub values: Vec<f64>,
    /// The start and the point after every batch, one a row, if asked for.
    pub path: Option<Matrix>,
}

/// The state of the method: asks for the gradient of a batch, and is told.
#[derive(Clone, Debug, Stored)]
pub struct StochasticState {
    mover: Mover,
    schedule: Schedule,
    order: RowOrder,
    batch_size: usize,
    rows: Vec<usize>,
    next: usize,
    point: Vec<f64>,
    epoch: usize,
    steps: usize,
}

impl StochasticState {
    /// At a start, before the first epoch over `n` rows.
    pub fn new(
        start: Vec<f64>,
        n: usize,
        method: &StochasticDescent,
        run: &Context,
    ) -> Result<Self> {
        method.schedule.check()?;
        method.motion.check()?;
        if n == 0 {
            return Err(Error::parameter("n", "a number of rows above 0", 0));
        }
        if method.batch_size == 0 {
            return Err(Error::parameter("batch_size", "at least 1", 0));
        }
        let mut state = StochasticState {
            mover: Mover::new(method.motion, start.len()),
            schedule: method.schedule,
            order: method.order,
            batch_size: method.batch_size.min(n),
            rows: (0..n).collect(),
            next: 0,
            point: start,
            epoch: 0,
            steps: 0,
        };
        state.deal(run);
        Ok(state)
    }

    /// Where the gradient is wanted.
    pub fn point(&self) -> &[f64] {
        &self.point
    }

    /// The rows whose gradient is wanted.
    pub fn batch(&self) -> &[usize] {
        let rest = self.rows.get(self.next..).unwrap_or_default();
        &rest[..self.batch_size.min(rest.len())]
    }

    /// Takes the mean gradient over the batch; whether the epoch has ended.
    pub fn tell(&mut self, gradient: &[f64], run: &Context) -> Result<bool> {
        if gradient.len() != self.point.len() {
            let expected = format!("{} values", self.point.len());
            return Err(Error::shape("gradient", expected, gradient.len()));
        }
        self.steps += 1;
        let step = self.mover.step(gradient, self.schedule.rate(self.steps));
        add_scaled(&mut self.point, 1.0, &step);
        self.next += self.batch_size;
        let ended = self.next >= self.rows.len();
        if ended {
            self.epoch += 1;
            self.deal(run);
        }
        Ok(ended)
    }

    /// The rows of the next epoch.
    fn deal(&mut self, run: &Context) {
        self.next = 0;
        let mut rng = run.rng(0x0e9c ^ ((self.epoch as u64) << 16));
        let n = self.rows.len();
        match self.order {
            RowOrder::Listed => {}
            RowOrder::Shuffled => {
                self.rows = (0..n).collect();
                shuffle(&mut rng, &mut self.rows);
            }
            RowOrder::Replacement => {
                self.rows.iter_mut().for_each(|row| *row = below(&mut rng, n as u64) as usize);
            }
        }
    }
}

impl StochasticDescent {
    /// Descends. `gradient(w, rows)` gives the sum of the gradients of these rows (or their mean,
    /// see [`StochasticDescent::means`]); `objective` is asked once an epoch.
    ///
    /// ```
    /// use learnt_core::context::Context;
    /// use learnt_core::optimize::{Schedule, StochasticDescent};
    /// let y = [1.0, 2.0, 3.0, 6.0];
    /// let gradient = |w: &[f64], rows: &[usize]| Ok(vec![rows.iter().map(|&i| w[0] - y[i]).sum()]);
    /// let schedule = Schedule::Inverse { rate: 1.0, power: 1.0 };
    /// let method = StochasticDescent { batch_size: 1, schedule, ..Default::default() };
    /// let fit = method.run(vec![0.0], 4, gradient, None, &Context::default())?;
    /// assert!((fit.x[0] - 3.0).abs() < 1e-9, "rates 1/k make it the mean");
    /// # Ok::<(), learnt_core::error::Error>(())
    /// ```
    pub fn run(
        &self,
        start: Vec<f64>,
        n: usize,
        mut gradient: impl FnMut(&[f64], &[usize]) -> Result<Vec<f64>>,
        mut objective: Option<Objective>,
        run: &Context,
    ) -> Result<StochasticFit> {
        if objective.is_none() && self.rules.target.or(self.rules.decrease).is_some() {
            let message = "rules about the objective need an objective";
            return Err(Error::new(crate::error::Code::Usage, message));
        }
        let mut state = StochasticState::new(start, n, self, run)?;
        let mut watch = Watch::new(&self.rules, self.keep_path, run)?;
        let mut average = Average::new(self.average_from, state.point.len());
        let mut value = measure(&mut objective, state.point())?.unwrap_or(0.0);
        let mut fired = watch.see(state.point(), value, None)?;
        let mut finite = state.point().to_vec();
        while fired.is_none() {
            let ended = match self.step(&mut state, &mut gradient, run)? {
                Some(ended) => ended,
                None => {
                    fired = Some(Stopped::Diverged);
                    break;
                }
            };
            finite.clone_from(&state.point);
            average.add(&finite, state.epoch - usize::from(ended));
            match ended {
                false => {
                    run.checkpoint()?;
                    watch.pass(&finite);
                }
                true => {
                    value = measure(&mut objective, average.or(&finite))?.unwrap_or(0.0);
                    fired = watch.see(&finite, value, None)?;
                }
            }
        }
        let (epochs, steps) = (state.epoch, state.steps);
        let stopped = fired.unwrap_or(Stopped::Converged);
        let found = watch.finish(finite, value, Vec::new(), steps, stopped);
        let values = if objective.is_some() { found.values } else { Vec::new() };
        let x = average.or(&found.x).to_vec();
        Ok(StochasticFit { x, last: found.x, epochs, steps, stopped, values, path: found.path })
    }

    /// One batch; whether its epoch has ended, or nothing if the gradient or point is not finite.
    fn step(
        &self,
        state: &mut StochasticState,
        gradient: &mut impl FnMut(&[f64], &[usize]) -> Result<Vec<f64>>,
        run: &Context,
    ) -> Result<Option<bool>> {
        let mut told = gradient(state.point(), state.batch())?;
        if !self.means {
            let size = state.batch().len() as f64;
            told.iter_mut().for_each(|g| *g /= size);
        }
        let ended = state.tell(&told, run)?;
        let finite = state.point().iter().all(|x| x.is_finite());
        Ok(finite.then_some(ended))
    }
}

/// The objective, if there is one; it must be a number.
fn measure(objective: &mut Option<Objective>, x: &[f64]) -> Result<Option<f64>> {
    match objective {
        None => Ok(None),
        Some(objective) => match objective(x)? {
            value if value.is_nan() => Err(Error::numeric("the objective is not a number")
                .hint("use a smaller rate or scale the columns")),
            value => Ok(Some(value)),
        },
    }
}

/// The running mean of points.
struct Average {
    from: Option<usize>,
    mean: Vec<f64>,
    count: f64,
}

impl Average {
    fn new(from: Option<usize>, dimension: usize) -> Self {
        Average { from, mean: vec![0.0; dimension], count: 0.0 }
    }

    fn add(&mut self, point: &[f64], epoch: usize) {
        if self.from.is_some_and(|from| epoch >= from) {
            self.count += 1.0;
            for (mean, x) in self.mean.iter_mut().zip(point) {
                *mean += (x - *mean) / self.count;
            }
        }
    }

    fn or<'a>(&'a self, point: &'a [f64]) -> &'a [f64] {
        if self.count > 0.0 { &self.mean } else { point }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const Y: [f64; 7] = [1.0, 4.0, 2.0, 8.0, 5.0, 7.0, 1.0];

    /// Half squared distances to Y; the mean is the minimum.
    fn gradient(w: &[f64], rows: &[usize]) -> Result<Vec<f64>> {
        Ok(vec![rows.iter().map(|&i| w[0] - Y[i]).sum()])
    }

    fn descend(method: StochasticDescent) -> StochasticFit {
        method.run(vec![0.0], 7, gradient, None, &Context::default()).unwrap()
    }

    #[test]
    fn all_rows_in_one_batch_is_gradient_descent() {
        let method = StochasticDescent { rules: Rules::steps(3), ..Default::default() };
        let fit = descend(method);
        assert!((fit.x[0] - 4.0 * (1.0 - 0.9_f64.powi(3))).abs() < 1e-14);
        assert_eq!((fit.epochs, fit.steps, fit.stopped), (3, 3, Stopped::MaxIterations));
    }

    #[test]
    fn a_short_batch_is_divided_by_its_own_size() {
        let order = RowOrder::Listed;
        let rules = Rules::steps(1);
        let fit = descend(StochasticDescent {
            batch_size: 4,
            order,
            rules,
            keep_path: true,
            ..Default::default()
        });
        let first = 0.1 * 15.0 / 4.0;
        let second = first + 0.1 * (13.0 / 3.0 - first);
        assert!((fit.x[0] - second).abs() < 1e-15);
        let path = fit.path.unwrap();
        assert!(path.nrows() == 3 && (path[(1, 0)] - first).abs() < 1e-15);
    }

    #[test]
    fn an_epoch_meets_every_row_once_unless_drawn_with_replacement() {
        for order in [RowOrder::Shuffled, RowOrder::Listed, RowOrder::Replacement] {
            let mut met = Vec::new();
            let method = StochasticDescent {
                batch_size: 2,
                order,
                rules: Rules::steps(1),
                ..Default::default()
            };
            let note = |w: &[f64], rows: &[usize]| {
                met.extend_from_slice(rows);
                gradient(w, rows)
            };
            method.run(vec![0.0], 7, note, None, &Context::default()).unwrap();
            let listed = met == [0, 1, 2, 3, 4, 5, 6];
            assert_eq!(listed, order == RowOrder::Listed);
            met.sort_unstable();
            assert_eq!(met == [0, 1, 2, 3, 4, 5, 6], order != RowOrder::Replacement);
        }
    }

    #[test]
    fn averaging_is_nearer_than_the_last_point() {
        let method = StochasticDescent {
            batch_size: 1,
            average_from: Some(10),
            rules: Rules::steps(400),
            ..Default::default()
        };
        let fit = descend(method);
        assert!((fit.x[0] - 4.0).abs() < 0.05, "{}", fit.x[0]);
        assert!((fit.last[0] - 4.0).abs() > (fit.x[0] - 4.0).abs());
    }

    #[test]
    fn divergence_is_stated() {
        let schedule = Schedule::Constant { rate: 5.0 };
        let rules = Rules::steps(10_000);
        let fit = descend(StochasticDescent { schedule, rules, ..Default::default() });
        assert_eq!(fit.stopped, Stopped::Diverged);
        assert!(fit.x[0].is_finite());
    }

    #[test]
    fn the_objective_can_stop_it_and_the_seed_decides_the_order() {
        let mut objective =
            |w: &[f64]| Ok(Y.iter().map(|y| (w[0] - y) * (w[0] - y)).sum::<f64>() / 14.0);
        let method = StochasticDescent {
            batch_size: 2,
            rules: Rules { target: Some(3.6), ..Rules::steps(500) },
            ..Default::default()
        };
        let mut runs = Vec::new();
        for seed in [1, 1, 2] {
            let run = Context::default().with_seed(seed);
            let fit = method.run(vec![0.0], 7, gradient, Some(&mut objective), &run).unwrap();
            assert_eq!(fit.stopped, Stopped::Target);
            runs.push(fit.x);
        }
        assert_eq!(runs[0], runs[1]);
        assert_ne!(runs[0], runs[2]);
        assert!(method.run(vec![0.0], 7, gradient, None, &Context::default()).is_err());
    }
}
