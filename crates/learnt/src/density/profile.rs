//! Windows of one's own: a profile K(u) over the length u of a difference, or any function of the
//! difference itself.
//!
//! A profile has values at equal steps of u from 0 to 1 and is straight between them, so that ∫ K over d
//! columns, d V_d ∫ u^(d-1) K(u) du, is a sum of powers, and a node of a tree has bounds: no row at a
//! length of at least u counts more than the largest value from there on.

use super::windows::{Window, direction, ln_ball_volume};
use learnt_core::context::Rng;
use learnt_core::prelude::*;
use learnt_core::stats::sample::uniform;

/// A profile over d columns.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    values: Vec<f64>,
    /// The largest value from each place on.
    highest: Vec<f64>,
    /// The smallest value up to each place.
    lowest: Vec<f64>,
    /// ∫ u^(d-1) K(u) du up to each place.
    masses: Vec<f64>,
    d: usize,
}

impl Profile {
    /// Values at equal steps from 0 to 1.
    pub(super) fn new(values: &[f64], d: usize) -> Profile {
        let mut highest = values.to_vec();
        for i in (0..values.len().saturating_sub(1)).rev() {
            highest[i] = highest[i].max(highest[i + 1]);
        }
        let mut lowest = values.to_vec();
        for i in 1..values.len() {
            lowest[i] = lowest[i].min(lowest[i - 1]);
        }
        let mut out = Profile { values: values.to_vec(), highest, lowest, masses: vec![0.0], d };
        for i in 1..values.len() {
            let mass = out.masses[i - 1] + out.mass_between(i - 1, out.place(i));
            out.masses.push(mass);
        }
        out
    }

    /// Refuses what is no window.
    pub(super) fn check(values: &[f64]) -> Result<()> {
        let good = values.len() > 1
            && values.iter().all(|v| *v >= 0.0 && v.is_finite())
            && values.iter().any(|v| *v > 0.0);
        match good {
            true => Ok(()),
            false => {
                let expected = "two or more finite numbers, none negative and not all 0";
                Err(Error::parameter("profile", expected, "others"))
            }
        }
    }

    fn place(&self, i: usize) -> f64 {
        i as f64 / (self.values.len() - 1) as f64
    }

    /// ∫ u^(d-1) K(u) du from a place to a length in the step after it.
    fn mass_between(&self, i: usize, end: f64) -> f64 {
        let (start, d) = (self.place(i), self.d as f64);
        let slope = (self.values[i + 1] - self.values[i]) / (self.place(i + 1) - start);
        // Of K(u) = K(start) - slope start + slope u.
        let power = |u: f64, k: f64| u.powf(k) / k;
        (self.values[i] - slope * start) * (power(end, d) - power(start, d))
            + slope * (power(end, d + 1.0) - power(start, d + 1.0))
    }

    fn ln_mass(&self) -> f64 {
        let total = self.masses.last().copied().unwrap_or(0.0);
        ln_ball_volume(self.d) + (self.d as f64).ln() + total.ln()
    }

    /// The step in which a length lies, and how far along it; none beyond the window.
    #[inline(always)]
    fn step(&self, square: f64) -> Option<(usize, f64)> {
        if square > 1.0 {
            return None;
        }
        let along = square.sqrt() * (self.values.len() - 1) as f64;
        let i = (along as usize).min(self.values.len() - 2);
        Some((i, along - i as f64))
    }

    #[inline(always)]
    fn value(&self, square: f64) -> f64 {
        match self.step(square) {
            Some((i, share)) => (1.0 - share) * self.values[i] + share * self.values[i + 1],
            None => 0.0,
        }
    }

    /// A length drawn in proportion to u^(d-1) K(u).
    fn length(&self, rng: &mut Rng) -> f64 {
        let total = self.masses.last().copied().unwrap_or(0.0);
        let wanted = uniform(rng) * total;
        let i = self.masses.partition_point(|mass| *mass <= wanted).clamp(1, self.masses.len() - 1);
        let (mut low, mut high) = (self.place(i - 1), self.place(i));
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            match self.masses[i - 1] + self.mass_between(i - 1, middle) <= wanted {
                true => low = middle,
                false => high = middle,
            }
        }
        0.5 * (low + high)
    }
}

/// A window with a name, or of one's own.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Named(Window),
    Own(Profile),
}

impl Shape {
    pub(super) fn new(window: Window, profile: Option<&[f64]>, d: usize) -> Shape {
        profile.map_or(Shape::Named(window), |values| Shape::Own(Profile::new(values, d)))
    }

    /// ln ∫ K over d columns.
    pub(super) fn ln_mass(&self, d: usize) -> f64 {
        match self {
            Shape::Named(window) => window.ln_mass(d),
            Shape::Own(profile) => profile.ln_mass(),
        }
    }

    pub(super) fn is_cube(&self) -> bool {
        matches!(self, Shape::Named(Window::Hypercube))
    }

    /// ln K of the squared length in bandwidths, where the window is endless.
    #[inline(always)]
    pub(super) fn ln_endless(&self, mut square: impl FnMut() -> f64) -> f64 {
        match self {
            Shape::Named(window) if window.is_endless() => window.ln_endless(square()),
            _ => 0.0,
        }
    }

    /// The largest K of lengths of at least this squared one.
    #[inline(always)]
    pub(super) fn highest(&self, square: f64, shift: f64) -> f64 {
        match self {
            Shape::Named(window) => window.value(square, shift),
            Shape::Own(profile) => {
                let from = profile.step(square).map(|(i, _)| profile.highest[i + 1]);
                from.map_or(0.0, |after| after.max(profile.value(square)))
            }
        }
    }

    /// The smallest K of lengths of at most this squared one.
    #[inline(always)]
    pub(super) fn lowest(&self, square: f64, shift: f64) -> f64 {
        match self {
            Shape::Named(window) => window.value(square, shift),
            Shape::Own(profile) => {
                let to = profile.step(square).map(|(i, _)| profile.lowest[i]);
                to.map_or(0.0, |before| before.min(profile.value(square)))
            }
        }
    }

    /// K of each squared length times `scale`, in place.
    #[inline(always)]
    pub(super) fn values(&self, squares: &mut [f64], scale: f64, shift: f64) {
        match self {
            Shape::Named(window) => window.values(squares, scale, shift),
            Shape::Own(profile) => {
                squares.iter_mut().for_each(|s| *s = profile.value(*s * scale));
            }
        }
    }

    /// A difference drawn from the window, in bandwidths.
    pub(super) fn draw(&self, out: &mut [f64], rng: &mut Rng) {
        match self {
            Shape::Named(window) => window.draw(out, rng),
            Shape::Own(profile) => {
                let length = profile.length(rng);
                direction(out, length, rng);
            }
        }
    }
}

/// Kernel density by any window of one's own: p(x) = Σ w_i K((x - x_i) / h) / (Σ w_i h^d), with K a density
/// of a difference in bandwidths. Every row is summed for every place.
///
/// ```
/// use learnt::{density::window_density, prelude::*};
/// let x = Matrix::column_vector(vec![2.0, 3.0, 4.0, 8.0, 10.0, 11.0, 12.0]);
/// let at = Matrix::column_vector(vec![1.0, 3.0]);
/// let cube = |u: &[f64]| f64::from(u8::from(u[0].abs() <= 0.5));
/// let found = window_density(x.view(), None, at.view(), 3.0, cube, &Context::default())?;
/// assert!((found[0] - 1.0 / 21.0).abs() < 1e-15 && (found[1] - 1.0 / 7.0).abs() < 1e-15);
/// # Ok::<(), Error>(())
/// ```
pub fn window_density(
    x: MatRef,
    weights: Option<&[f64]>,
    at: MatRef,
    bandwidth: f64,
    window: impl Fn(&[f64]) -> f64 + Sync,
    run: &Context,
) -> Result<Vec<f64>> {
    let d = x.ncols();
    if at.ncols() != d {
        let expected = format!("{d} columns as X has");
        return Err(Error::shape("at", expected, format!("{} columns", at.ncols())));
    }
    if !(bandwidth > 0.0 && bandwidth.is_finite()) || x.nrows() == 0 {
        return Err(Error::parameter("bandwidth", "above 0, and rows", bandwidth));
    }
    if weights.is_some_and(|weights| weights.len() != x.nrows()) {
        return Err(Error::shape("weights", "one a row", "another number"));
    }
    let rows = x.to_matrix();
    let total: f64 = weights.map_or(x.nrows() as f64, |weights| weights.iter().sum());
    let divisor = total * bandwidth.powi(d as i32);
    run.try_par_map(at.nrows(), |q| {
        let mut place = vec![0.0; d];
        at.copy_row(q, &mut place);
        let mut u = vec![0.0; d];
        let mut sum = 0.0;
        for (i, row) in rows.rows().enumerate() {
            u.iter_mut().zip(&place).zip(row).for_each(|((u, x), c)| *u = (x - c) / bandwidth);
            let value = window(&u);
            if value.is_nan() || value < 0.0 {
                let message = format!("the window is {value} at {u:?}, and must not be negative");
                return Err(Error::new(Code::Usage, message));
            }
            sum += weights.map_or(1.0, |weights| weights[i]) * value;
        }
        Ok(sum / divisor)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masses_and_draws_of_profiles_are_those_of_known_windows() {
        let linear = [1.0, 0.0];
        for d in [1, 2, 5, 40] {
            let profile = Profile::new(&linear, d);
            assert!((profile.ln_mass() - Window::Linear.ln_mass(d)).abs() < 1e-12, "{d}");
            let flat = Profile::new(&[3.0; 7], d);
            assert!((flat.ln_mass() - Window::Tophat.ln_mass(d) - 3_f64.ln()).abs() < 1e-12);
        }
        // Mean lengths: of the linear window over two columns 1/2, of the flat one 2/3.
        let mut rng = Context::default().rng(5);
        for (values, expected) in [(&linear[..], 0.5), (&[1.0, 1.0, 1.0][..], 2.0 / 3.0)] {
            let profile = Profile::new(values, 2);
            let mean = (0..20_000).map(|_| profile.length(&mut rng)).sum::<f64>() / 20_000.0;
            assert!((mean - expected).abs() < 0.01, "{mean} {expected}");
        }
    }

    #[test]
    fn bounds_hold_for_windows_that_rise_and_fall() {
        let shape = Shape::Own(Profile::new(&[0.2, 1.0, 0.4, 0.9, 0.1, 0.0], 2));
        let Shape::Own(profile) = &shape else { return };
        for a in 0..100 {
            for b in a..110 {
                let (near, far) = (f64::from(a) / 100.0, f64::from(b) / 100.0);
                let (high, low) = (shape.highest(near * near, 0.0), shape.lowest(far * far, 0.0));
                for k in a..=b {
                    let u = f64::from(k) / 100.0;
                    let value = profile.value(u * u);
                    assert!(value <= high + 1e-12 && value >= low - 1e-12, "{near} {u} {far}");
                }
            }
        }
    }
}
