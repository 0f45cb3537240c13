//! The coordinates in play, with their own copy of the products and passes over them.

use super::quadratic::{Penalty, Products};
use learnt_core::context::Rng;
use learnt_core::linalg::{Cholesky, add_scaled, dot};
use learnt_core::prelude::*;
use learnt_core::stats::sample;
use learnt_core::vectorized;

/// Some coordinates, and G between them.
pub(super) struct WorkingSet {
    columns: Vec<usize>,
    inside: Vec<bool>,
    products: Vec<f64>,
    stride: usize,
}

impl WorkingSet {
    /// No coordinate of `size`.
    pub(super) fn new(size: usize) -> Self {
        WorkingSet {
            columns: Vec::new(),
            inside: vec![false; size],
            products: Vec::new(),
            stride: 0,
        }
    }

    pub(super) fn columns(&self) -> &[usize] {
        &self.columns
    }

    pub(super) fn contains(&self, j: usize) -> bool {
        self.inside[j]
    }

    fn row(&self, k: usize) -> &[f64] {
        &self.products[k * self.stride..][..self.columns.len()]
    }

    /// Takes more coordinates in.
    pub(super) fn extend(&mut self, columns: &[usize], products: &impl Products, run: &Context) {
        let held = self.columns.len();
        self.columns.extend_from_slice(columns);
        columns.iter().for_each(|&j| self.inside[j] = true);
        let size = self.columns.len();
        if size > self.stride {
            self.widen(held, size.next_multiple_of(8).max(2 * self.stride));
        }
        let fresh = products.rows(&self.columns[held..], &self.columns, run);
        for k in held..size {
            let row = &mut self.products[k * self.stride..][..=k];
            row.copy_from_slice(&fresh.row(k - held)[..=k]);
        }
        for i in 0..size {
            for k in held.max(i + 1)..size {
                self.products[i * self.stride + k] = self.products[k * self.stride + i];
            }
        }
    }

    fn widen(&mut self, held: usize, stride: usize) {
        let mut products = vec![0.0; stride * stride];
        for k in 0..held {
            let row = &self.products[k * self.stride..][..held];
            products[k * stride..][..held].copy_from_slice(row);
        }
        (self.products, self.stride) = (products, stride);
    }

    /// Lets coordinates at zero go, where they are most of the set.
    pub(super) fn compact(&mut self, b: &[f64]) {
        let kept: Vec<usize> =
            (0..self.columns.len()).filter(|&k| b[self.columns[k]] != 0.0).collect();
        if self.columns.len() < 2 * kept.len() + 16 {
            return;
        }
        for (to, &from) in kept.iter().enumerate() {
            for (column, &k) in kept.iter().enumerate() {
                // Never ahead of what is still to be read: `to <= from` and `column <= k`.
                self.products[to * self.stride + column] = self.products[from * self.stride + k];
            }
        }
        self.columns.iter().for_each(|&j| self.inside[j] = false);
        self.columns = kept.iter().map(|&k| self.columns[k]).collect();
        self.columns.iter().for_each(|&j| self.inside[j] = true);
    }
}

/// Coordinates, slopes and penalties of a working set, side by side.
pub(super) struct Local<'a> {
    set: &'a WorkingSet,
    b: Vec<f64>,
    slope: Vec<f64>,
    l1: Vec<f64>,
    l2: Vec<f64>,
    positive: bool,
}

/// How passes over the working set ended.
pub(super) struct Settled {
    pub(super) passes: usize,
    /// Whether any coordinate moved by more than rounding.
    pub(super) moved: bool,
}

impl<'a> Local<'a> {
    pub(super) fn new(set: &'a WorkingSet, penalty: &Penalty, b: &[f64], slope: &[f64]) -> Self {
        let gather = |from: &[f64]| set.columns.iter().map(|&j| from[j]).collect();
        Local {
            set,
            b: gather(b),
            slope: gather(slope),
            l1: gather(&penalty.l1),
            l2: gather(&penalty.l2),
            positive: penalty.positive,
        }
    }

    /// How far each coordinate is from its old value.
    pub(super) fn difference(&self, old: &[f64]) -> Vec<f64> {
        self.b.iter().zip(&self.set.columns).map(|(b, &j)| b - old[j]).collect()
    }

    pub(super) fn write(&self, out: &mut [f64]) {
        self.b.iter().zip(&self.set.columns).for_each(|(b, &j)| out[j] = *b);
    }

    /// Passes until the largest gain of a coordinate is a hundredth of the first pass's, and of the
    /// target of the last call.
    pub(super) fn settle(
        &mut self,
        max_iter: usize,
        target: &mut f64,
        mut rng: Option<&mut Rng>,
        run: &Context,
    ) -> Result<Settled> {
        let size = self.b.len();
        let patience = 8 + size / 8;
        let mut order: Vec<usize> = (0..size).collect();
        let mut settled = Settled { passes: 0, moved: false };
        while settled.passes < max_iter {
            run.checkpoint()?;
            if let Some(rng) = rng.as_deref_mut() {
                sample::shuffle(rng, &mut order);
            }
            let gain = vectorized!(self.pass(&order));
            settled.passes += 1;
            settled.moved |= gain > 0.0;
            if settled.passes == 1 {
                *target = 1e-2 * target.min(gain);
            }
            if gain <= *target {
                break;
            }
            if settled.passes.is_multiple_of(patience) {
                self.leap();
            }
        }
        Ok(settled)
    }

    /// One pass; the largest (G_jj + l2_j)(change of b_j)², or zero if all changes are rounding.
    #[inline(always)]
    fn pass(&mut self, order: &[usize]) -> f64 {
        let mut largest = 0.0_f64;
        let mut spread = 0.0_f64;
        for &k in order {
            let row = self.set.row(k);
            let (curvature, old) = (row[k], self.b[k]);
            let pull = curvature * old - self.slope[k];
            let outside = pull.abs() - self.l1[k];
            let stays = outside <= 0.0 || (self.positive && pull < 0.0);
            let new = if stays { 0.0 } else { outside.copysign(pull) / (curvature + self.l2[k]) };
            let change = new - old;
            if change != 0.0 {
                self.b[k] = new;
                add_scaled(&mut self.slope, change, row);
                largest = largest.max((curvature + self.l2[k]) * change * change);
                // The slope is a sum of terms whose sizes add up to at most √G_kk spread.
                spread += curvature.sqrt() * (old.abs() + new.abs());
            }
        }
        let rounding = 4.0 * f64::EPSILON * spread;
        if largest > rounding * rounding { largest } else { 0.0 }
    }

    /// Goes to the minimum over the coordinates other than zero with their signs; where a sign would
    /// change, that coordinate becomes zero and the others try again.
    fn leap(&mut self) {
        const MOST: usize = 8;
        for _ in 0..MOST {
            let free: Vec<usize> = (0..self.b.len()).filter(|&k| self.b[k] != 0.0).collect();
            match self.newton_step(&free) {
                Some((step, gradient)) if self.walk(&free, &step, &gradient) => {}
                _ => return,
            }
        }
    }

    /// The step to the minimum over the free coordinates, and the gradient; dependent coordinates
    /// get a long step along which only the penalty changes.
    fn newton_step(&self, free: &[usize]) -> Option<(Vec<f64>, Vec<f64>)> {
        const RIDGE: f64 = 1e-11;
        let mut matrix = Matrix::from_fn(free.len(), free.len(), |i, j| {
            let ridge = if i == j { self.l2[free[i]] } else { 0.0 };
            self.set.row(free[i])[free[j]] + ridge
        });
        let factor = Cholesky::new(&matrix).or_else(|| {
            (0..free.len()).for_each(|i| matrix[(i, i)] *= 1.0 + RIDGE);
            Cholesky::new(&matrix)
        })?;
        let slope =
            |&k: &usize| self.slope[k] + self.l2[k] * self.b[k] + self.l1[k] * self.b[k].signum();
        let gradient: Vec<f64> = free.iter().map(slope).collect();
        let mut step: Vec<f64> = gradient.iter().map(|g| -g).collect();
        factor.solve_in_place(&mut step);
        Some((step, gradient))
    }

    /// Walks along a step as far as the objective falls and no sign changes; whether a coordinate
    /// became zero there.
    fn walk(&mut self, free: &[usize], step: &[f64], gradient: &[f64]) -> bool {
        let mut change = vec![0.0; self.b.len()];
        free.iter().zip(step).for_each(|(&k, step)| change[k] = *step);
        let curve =
            |(&k, step): (&usize, &f64)| step * (dot(self.set.row(k), &change) + self.l2[k] * step);
        let curvature: f64 = free.iter().zip(step).map(curve).sum();
        let descent = -dot(gradient, step);
        if !(descent > 0.0 && descent.is_finite() && curvature >= 0.0) {
            return false;
        }
        let best = descent / curvature;
        let crossing = |(i, &k): (usize, &usize)| {
            let length = -self.b[k] / step[i];
            (length > 0.0 && length <= best).then_some((length, k))
        };
        let first = free.iter().enumerate().filter_map(crossing).min_by(|a, b| a.0.total_cmp(&b.0));
        let length = first.map_or(best, |(length, _)| length);
        if !length.is_finite() {
            return false;
        }
        for (i, &k) in free.iter().enumerate() {
            let blocked = first.is_some_and(|(_, at)| at == k);
            let change = if blocked { -self.b[k] } else { length * step[i] };
            self.b[k] = if blocked { 0.0 } else { self.b[k] + change };
            add_scaled(&mut self.slope, change, self.set.row(k));
        }
        first.is_some()
    }
}
