//! Questions about two sets of points: the closest pair, whether any point is near, whether any lies on
//! a line.
//!
//! Distances by the neighbour index. A point (x, y) lies on a x + b y + c = 0 if the sum is exactly
//! zero, found by sums of products without rounding.

use super::index::{Index, Metric, Structure};
use learnt_core::prelude::*;

/// Two sets of points.
#[derive(Inputs, Clone, Copy)]
pub struct TwoSets<'a> {
    /// The first set, one point a row.
    #[input(name = "A")]
    pub a: MatRef<'a>,
    /// The second set.
    #[input(name = "B", apart)]
    pub b: MatRef<'a>,
}

impl TwoSets<'_> {
    /// The nearest point of the second set for each of the first, with its distance.
    fn nearest(&self, run: &Context) -> Result<Vec<(usize, f64)>> {
        if self.a.ncols() != self.b.ncols() {
            let expected = format!("{} columns as A has", self.a.ncols());
            return Err(Error::shape("B", expected, format!("{} columns", self.b.ncols())));
        }
        let structure = Structure::suited(Metric::Euclidean, self.b.nrows(), self.b.ncols());
        let index = Index::build(self.b, Metric::Euclidean, structure, 30, run)?;
        let found = index.nearest(self.a, 1, run)?;
        Ok((0..self.a.nrows())
            .map(|i| (found.rows(i)[0] as usize, found.distances(i)[0]))
            .collect())
    }
}

/// The closest pair of a point of one set and a point of the other.
#[derive(Params, Clone, Debug)]
pub struct ClosestPair {}

/// Two points and their distance.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct PairOfPoints {
    /// Number of the point in A, from 0; the lowest of equals.
    pub a: u64,
    /// Number of the point in B, from 0; the lowest of equals.
    pub b: u64,
    /// Their distance.
    pub distance: f64,
}

impl Function for ClosestPair {
    type Inputs<'a> = TwoSets<'a>;
    type Output = PairOfPoints;
    const ABOUT: &'static Callable =
        &Callable::new("neighbors.closest_pair", FunctionKind::Statistic).threads();

    fn call(&self, given: TwoSets, run: &Context) -> Result<PairOfPoints> {
        let mut best = PairOfPoints { a: 0, b: 0, distance: f64::INFINITY };
        for (a, (b, distance)) in given.nearest(run)?.into_iter().enumerate() {
            if distance < best.distance {
                best = PairOfPoints { a: a as u64, b: b as u64, distance };
            }
        }
        match best.distance.is_finite() {
            true => Ok(best),
            false => Err(Error::numeric("distances overflow: the values are too large")),
        }
    }
}

/// Whether any point of one set lies within a radius of any point of the other.
#[derive(Params, Clone, Debug)]
pub struct AnyWithin {
    /// The radius; points on it are inside.
    #[param(positional, default = 1.0, range = 0.0..)]
    pub radius: f64,
}

impl Function for AnyWithin {
    type Inputs<'a> = TwoSets<'a>;
    type Output = bool;
    const ABOUT: &'static Callable =
        &Callable::new("neighbors.any_within", FunctionKind::Statistic).threads();

    fn call(&self, given: TwoSets, run: &Context) -> Result<bool> {
        Ok(given.nearest(run)?.iter().any(|(_, distance)| *distance <= self.radius))
    }
}

/// Points of the plane, and lines.
#[derive(Inputs, Clone, Copy)]
pub struct PointsAndLines<'a> {
    /// Points (x, y).
    pub points: MatRef<'a>,
    /// Lines (a, b, c): a x + b y + c = 0.
    #[input(apart)]
    pub lines: MatRef<'a>,
}

/// Whether any point of the plane lies on any line (Hopcroft's problem), exactly.
#[derive(Params, Clone, Debug)]
pub struct AnyOnLine {}

impl Function for AnyOnLine {
    type Inputs<'a> = PointsAndLines<'a>;
    type Output = bool;
    const ABOUT: &'static Callable =
        &Callable::new("neighbors.any_on_line", FunctionKind::Statistic).threads();

    fn call(&self, given: PointsAndLines, run: &Context) -> Result<bool> {
        if given.points.ncols() != 2 || given.lines.ncols() != 3 {
            let found = format!("{} and {} columns", given.points.ncols(), given.lines.ncols());
            return Err(Error::shape("points and lines", "2 and 3 columns", found));
        }
        let found = run.try_par_map(given.points.nrows(), |i| {
            let (x, y) = (given.points.at(i, 0), given.points.at(i, 1));
            let on = |l: usize| {
                let line = [0, 1, 2].map(|j| given.lines.at(l, j));
                is_zero(&[product(line[0], x), product(line[1], y), (line[2], 0.0)])
            };
            Ok((0..given.lines.nrows()).any(on))
        })?;
        Ok(found.contains(&true))
    }
}

/// A product as two numbers whose sum it is.
fn product(a: f64, b: f64) -> (f64, f64) {
    let high = a * b;
    (high, a.mul_add(b, -high))
}

/// Whether the sum of all numbers is zero, without rounding: parts that do not overlap are kept apart.
fn is_zero(pairs: &[(f64, f64)]) -> bool {
    let mut parts: Vec<f64> = Vec::new();
    for value in pairs.iter().flat_map(|&(high, low)| [high, low]) {
        let mut carry = value;
        for part in &mut parts {
            let sum = carry + *part;
            let back = sum - carry;
            let error = (carry - (sum - back)) + (*part - back);
            (*part, carry) = (error, sum);
        }
        parts.push(carry);
    }
    parts.iter().all(|part| *part == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_pair_is_that_of_all_pairs() {
        let a = Matrix::from_fn(90, 2, |i, j| ((i * (3 + j)) as f64 * 0.7).sin() * 9.0);
        let b = Matrix::from_fn(70, 2, |i, j| ((i * (5 + j)) as f64 * 0.9).cos() * 9.0);
        let found = ClosestPair {}.compute(TwoSets { a: a.view(), b: b.view() }).unwrap();
        let mut least = f64::INFINITY;
        for x in a.rows() {
            for y in b.rows() {
                least = least.min(Metric::Euclidean.distance(x, y));
            }
        }
        assert_eq!(found.distance, least);
        assert_eq!(
            Metric::Euclidean.distance(a.row(found.a as usize), b.row(found.b as usize)),
            least
        );
    }

    #[test]
    fn points_lie_on_lines_exactly_or_not() {
        let on = |points: &[[f64; 2]], lines: &[[f64; 3]]| {
            let (points, lines) =
                (Matrix::from_rows(points).unwrap(), Matrix::from_rows(lines).unwrap());
            AnyOnLine {}
                .compute(PointsAndLines { points: points.view(), lines: lines.view() })
                .unwrap()
        };
        assert!(on(&[[1.0, 1.0]], &[[1.0, -1.0, 0.0]]));
        assert!(!on(&[[1.0, 2.0]], &[[1.0, -1.0, 0.0]]));
        // 3 (1/3) is 1 when rounded, and not exactly.
        assert!(!on(&[[1.0 / 3.0, 0.0]], &[[3.0, 0.0, -1.0]]));
        assert!(on(&[[0.1, 0.1]], &[[7.0, -7.0, 0.0]]));
    }
}
