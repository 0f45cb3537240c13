//! Derivatives by differences, for functions that come without.
//!
//! Gradient: (f(x + h) - f(x - h)) / 2h with h = ε^(1/3) max(|x|, 1), whose error is about 1e-10 of
//! the function's scale; at a bound, the one-sided difference of second order
//! (-3 f(x) + 4 f(x + h) - f(x + 2h)) / 2h. Hessian: differences of the gradient in the same way,
//! made symmetric, or of the values with h = ε^(1/4) max(|x|, 1).
//!
//! Gill, Murray and Wright (1981), Practical Optimization, section 8.6.

use crate::data::Matrix;
use crate::error::{Error, Result};

/// The box that arguments must stay in; infinite where free.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    /// Smallest values.
    pub lower: Vec<f64>,
    /// Largest values.
    pub upper: Vec<f64>,
}

impl Bounds {
    /// No bounds.
    pub fn free(dimension: usize) -> Self {
        let (lower, upper) = (vec![f64::NEG_INFINITY; dimension], vec![f64::INFINITY; dimension]);
        Bounds { lower, upper }
    }

    /// Refuses bounds of another length, in the wrong order, or not numbers.
    pub fn check(&self, dimension: usize) -> Result<()> {
        if self.lower.len() != dimension || self.upper.len() != dimension {
            let got = format!("{} and {}", self.lower.len(), self.upper.len());
            return Err(Error::shape("bounds", format!("{dimension} values each"), got));
        }
        for (j, (low, high)) in self.lower.iter().zip(&self.upper).enumerate() {
            let ordered = low <= high && *low < f64::INFINITY && *high > f64::NEG_INFINITY;
            if !ordered {
                let got = format!("({low}, {high}) for parameter {j}");
                return Err(Error::parameter("bounds", "pairs with lower <= upper", got));
            }
        }
        Ok(())
    }

    /// The nearest value of coordinate `j` inside.
    pub(super) fn clamp(&self, j: usize, x: f64) -> f64 {
        x.max(self.lower[j]).min(self.upper[j])
    }
}

/// The gradient of a function of values.
///
/// ```
/// use learnt_core::optimize::numeric_gradient;
/// let gradient = numeric_gradient(|x| Ok(x[0] * x[0] * x[1]), &[3.0, 2.0], None)?;
/// assert!((gradient[0] - 12.0).abs() < 1e-8 && (gradient[1] - 9.0).abs() < 1e-8);
/// # Ok::<(), learnt_core::error::Error>(())
/// ```
pub fn numeric_gradient(
    mut function: impl FnMut(&[f64]) -> Result<f64>,
    x: &[f64],
    bounds: Option<&Bounds>,
) -> Result<Vec<f64>> {
    let jacobian = numeric_jacobian(|x| Ok(vec![function(x)?]), x, bounds)?;
    Ok(jacobian.into_vec())
}

/// The derivatives of a vector of values, one row a value.
pub fn numeric_jacobian(
    function: impl FnMut(&[f64]) -> Result<Vec<f64>>,
    x: &[f64],
    bounds: Option<&Bounds>,
) -> Result<Matrix> {
    jacobian_by_steps(function, x, &usual_steps(x, f64::EPSILON.cbrt()), bounds)
}

/// The same with given steps.
pub(super) fn jacobian_by_steps(
    mut function: impl FnMut(&[f64]) -> Result<Vec<f64>>,
    x: &[f64],
    steps: &[f64],
    bounds: Option<&Bounds>,
) -> Result<Matrix> {
    let mut columns = Vec::with_capacity(x.len());
    let mut point = x.to_vec();
    for j in 0..x.len() {
        let stencil = Stencil::at(x[j], j, steps[j], bounds);
        let mut sum: Vec<f64> = Vec::new();
        for (offset, weight) in stencil.terms() {
            point[j] = x[j] + offset;
            let values = function(&point)?;
            match sum.is_empty() {
                true => sum = values.iter().map(|value| weight * value).collect(),
                false => sum.iter_mut().zip(&values).for_each(|(s, v)| *s += weight * v),
            }
        }
        point[j] = x[j];
        columns.push(sum);
    }
    Matrix::from_rows(&columns).map(|by_column| by_column.transposed())
}

/// The second derivatives from the gradient, symmetric.
pub fn numeric_hessian_of_gradient(
    gradient: impl FnMut(&[f64]) -> Result<Vec<f64>>,
    x: &[f64],
    bounds: Option<&Bounds>,
) -> Result<Matrix> {
    let raw = numeric_jacobian(gradient, x, bounds)?;
    if raw.nrows() != x.len() {
        return Err(Error::shape("gradient", format!("{} values", x.len()), raw.nrows()));
    }
    Ok(Matrix::from_fn(x.len(), x.len(), |i, j| 0.5 * (raw[(i, j)] + raw[(j, i)])))
}

/// The second derivatives from the values; where a bound is near, they are taken around the nearest
/// point that has room.
pub fn numeric_hessian(
    function: impl FnMut(&[f64]) -> Result<f64>,
    x: &[f64],
    bounds: Option<&Bounds>,
) -> Result<Matrix> {
    hessian_by_steps(function, x, &usual_steps(x, f64::EPSILON.powf(0.25)), bounds)
}

/// The same with given steps.
pub(super) fn hessian_by_steps(
    mut function: impl FnMut(&[f64]) -> Result<f64>,
    x: &[f64],
    steps: &[f64],
    bounds: Option<&Bounds>,
) -> Result<Matrix> {
    let d = x.len();
    let step: Vec<f64> = (0..d).map(|j| room(x[j], j, steps[j], bounds)).collect();
    let center: Vec<f64> = (0..d)
        .map(|j| bounds.map_or(x[j], |b| x[j].max(b.lower[j] + step[j]).min(b.upper[j] - step[j])))
        .collect();
    let mut at = |moves: &[(usize, f64)]| {
        let mut point = center.clone();
        moves.iter().for_each(|&(j, sign)| point[j] += sign * step[j]);
        function(&point)
    };
    let middle = at(&[])?;
    let mut hessian = Matrix::zeros(d, d);
    let moving = |&j: &usize| step[j] > 0.0;
    for i in (0..d).filter(moving) {
        let bend = at(&[(i, 1.0)])? - 2.0 * middle + at(&[(i, -1.0)])?;
        hessian[(i, i)] = bend / (step[i] * step[i]);
        for j in (0..i).filter(moving) {
            let twist = at(&[(i, 1.0), (j, 1.0)])?
                - at(&[(i, 1.0), (j, -1.0)])?
                - at(&[(i, -1.0), (j, 1.0)])?
                + at(&[(i, -1.0), (j, -1.0)])?;
            hessian[(i, j)] = twist / (4.0 * step[i] * step[j]);
            hessian[(j, i)] = hessian[(i, j)];
        }
    }
    Ok(hessian)
}

/// Where a difference is taken.
enum Stencil {
    /// The bounds leave one value, so that there is no derivative to speak of.
    Fixed,
    Central(f64),
    OneSided(f64),
}

impl Stencil {
    fn at(x: f64, j: usize, wanted: f64, bounds: Option<&Bounds>) -> Stencil {
        let step = room(x, j, wanted, bounds);
        let Some(bounds) = bounds else { return Stencil::Central(step) };
        if step == 0.0 {
            return Stencil::Fixed;
        }
        match (x - step >= bounds.lower[j], x + step <= bounds.upper[j]) {
            (true, true) => Stencil::Central(step),
            (false, _) => Stencil::OneSided(0.5 * step),
            (true, false) => Stencil::OneSided(-0.5 * step),
        }
    }

    /// Offsets and the weights of the values there.
    fn terms(&self) -> Vec<(f64, f64)> {
        match *self {
            Stencil::Fixed => vec![(0.0, 0.0)],
            Stencil::Central(h) => vec![(h, 0.5 / h), (-h, -0.5 / h)],
            Stencil::OneSided(h) => vec![(0.0, -1.5 / h), (h, 2.0 / h), (2.0 * h, -0.5 / h)],
        }
    }
}

fn usual_steps(x: &[f64], share: f64) -> Vec<f64> {
    x.iter().map(|x| share * x.abs().max(1.0)).collect()
}

/// A step that x + h can represent and that fits twice between the bounds; zero if they are equal.
fn room(x: f64, j: usize, wanted: f64, bounds: Option<&Bounds>) -> f64 {
    let width = bounds.map_or(f64::INFINITY, |b| b.upper[j] - b.lower[j]);
    let wanted = wanted.min(0.25 * width);
    if wanted == 0.0 {
        return 0.0;
    }
    let step = (x + wanted) - x;
    if step > 0.0 { step } else { wanted.max(f64::MIN_POSITIVE) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(x: &[f64]) -> Result<f64> {
        Ok(x[0].exp() * x[1] + x[1].powi(3))
    }

    fn gradient(x: &[f64]) -> Vec<f64> {
        vec![x[0].exp() * x[1], x[0].exp() + 3.0 * x[1] * x[1]]
    }

    #[test]
    fn differences_agree_with_the_derivatives() {
        let x = [0.7, -1.3];
        let got = numeric_gradient(function, &x, None).unwrap();
        for (got, expected) in got.iter().zip(gradient(&x)) {
            assert!((got - expected).abs() < 1e-9, "{got} {expected}");
        }
        let expected = [[x[0].exp() * x[1], x[0].exp()], [x[0].exp(), 6.0 * x[1]]];
        let by_gradient = numeric_hessian_of_gradient(|x| Ok(gradient(x)), &x, None).unwrap();
        let by_value = numeric_hessian(function, &x, None).unwrap();
        for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            assert!((by_gradient[(i, j)] - expected[i][j]).abs() < 1e-8);
            assert!((by_value[(i, j)] - expected[i][j]).abs() < 1e-5);
        }
    }

    #[test]
    fn differences_stay_inside_the_bounds() {
        let bounds = Bounds { lower: vec![0.0], upper: vec![2.0] };
        for x in [0.0, 1e-9, 1.0, 2.0] {
            let inside = |x: &[f64]| match (0.0..=2.0).contains(&x[0]) {
                true => Ok(x[0] * x[0]),
                false => Err(Error::numeric("outside")),
            };
            let got = numeric_gradient(inside, &[x], Some(&bounds)).unwrap();
            assert!((got[0] - 2.0 * x).abs() < 1e-8, "{x} {got:?}");
            let second = numeric_hessian(inside, &[x], Some(&bounds)).unwrap();
            assert!((second[(0, 0)] - 2.0).abs() < 1e-5);
        }
    }

    #[test]
    fn bounds_in_the_wrong_order_are_refused() {
        assert!(Bounds { lower: vec![1.0], upper: vec![0.0] }.check(1).is_err());
        assert!(Bounds { lower: vec![f64::NAN], upper: vec![0.0] }.check(1).is_err());
        assert!(Bounds::free(2).check(3).is_err());
        assert!(Bounds::free(3).check(3).is_ok());
    }
}
