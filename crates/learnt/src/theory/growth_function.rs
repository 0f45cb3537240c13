//! The growth function m(N): the largest number of dichotomies of N points; the break point, the smallest
//! N that no points of are shattered; and the VC dimension, one less.
//!
//! | class | m(N) | VC dimension |
//! |---|---|---|
//! | positive rays | N + 1 | 1 |
//! | positive intervals | N(N + 1)/2 + 1 | 2 |
//! | half-spaces in d dimensions | 2 Σ_{i ≤ d} C(N - 1, i) | d + 1 |
//! | rectangles in d dimensions | by enumeration | 2d |
//! | convex sets (d ≥ 2) | 2^N | infinite |
//! | conjunctions of d literals | by enumeration | d, for d = 1 two |
//!
//! Where no closed form is known the dichotomies of random points are counted, and the largest number is
//! given: never too many, and enough if one draw is in the right position. Half-spaces over all
//! polynomials of degree q in d variables are half-spaces in C(d + q, q) - 1 dimensions; for nonlinear
//! transforms this is an upper bound.
//!
//! Reference: Abu-Mostafa, Magdon-Ismail and Lin (2012), sections 2.1 and 2.2; Natarajan (1991).

use super::HypothesisClass;
use learnt_core::prelude::*;
use learnt_core::stats::sample;
use learnt_core::stats::special::ln_choose;

/// Growth function of a class of hypotheses: the most ways in which it labels N points.
#[derive(Params, Clone, Debug)]
pub struct GrowthFunction {
    /// Numbers of points.
    #[param(required, positional, range = 1..)]
    pub n: Vec<u64>,
    /// The class of hypotheses.
    pub hypotheses: HypothesisClass,
    /// Dimension of the space.
    #[param(default = 2, range = 1..)]
    pub d: u64,
    /// Sets of points that are drawn where no closed form is known.
    #[param(default = 200, range = 1..)]
    pub draws: usize,
}

/// The growth function at the numbers of points.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct GrowthTable {
    /// Number of points.
    pub n: Vec<u64>,
    /// The most dichotomies.
    pub growth: Vec<f64>,
    /// All labellings, 2^N.
    pub labelings: Vec<f64>,
    /// Whether some points are shattered.
    pub shattered: Vec<bool>,
    /// Whether points were drawn, so that the numbers are lower bounds.
    pub by_enumeration: bool,
}

impl Function for GrowthFunction {
    type Inputs<'a> = ();
    type Output = GrowthTable;
    const ABOUT: &'static Callable = &Callable::new("theory.growth_function", FunctionKind::Theory)
        .randomness()
        .reference("Abu-Mostafa, Magdon-Ismail and Lin (2012)");

    fn call(&self, _inputs: (), run: &Context) -> Result<GrowthTable> {
        let by_enumeration = self.closed_form(1).is_none();
        let growth: Vec<f64> = match by_enumeration {
            false => self.n.iter().filter_map(|&n| self.closed_form(n)).collect(),
            true => self.n.iter().map(|&n| self.enumerate(n, run)).collect::<Result<_>>()?,
        };
        let labelings: Vec<f64> = self.n.iter().map(|&n| (n as f64).exp2()).collect();
        let shattered = growth.iter().zip(&labelings).map(|(m, all)| m == all).collect();
        Ok(GrowthTable { n: self.n.clone(), growth, labelings, shattered, by_enumeration })
    }

    fn notes(&self, found: &GrowthTable) -> Vec<String> {
        match found.by_enumeration {
            true => vec![format!("the most of {} draws of points: a lower bound", self.draws)],
            false => Vec::new(),
        }
    }
}

impl GrowthFunction {
    fn closed_form(&self, n: u64) -> Option<f64> {
        let points = n as f64;
        match (self.hypotheses, self.d) {
            (HypothesisClass::PositiveRays, _) => Some(points + 1.0),
            (HypothesisClass::PositiveIntervals, _) | (HypothesisClass::Rectangles, 1) => {
                Some(points * (points + 1.0) / 2.0 + 1.0)
            }
            (HypothesisClass::ConvexSets, 1) => Some(points * (points + 1.0) / 2.0 + 1.0),
            (HypothesisClass::ConvexSets, _) => Some(points.exp2()),
            (HypothesisClass::HalfSpaces, d) => Some(2.0 * binomial_sum(n - 1, d)),
            (HypothesisClass::Rectangles | HypothesisClass::Conjunctions, _) => None,
        }
    }

    /// The most dichotomies of so many points, over draws of them.
    fn enumerate(&self, n: u64, run: &Context) -> Result<f64> {
        const MOST: usize = 1 << 16;
        run.claim(MOST as u64 * n, "the dichotomies of the points")?;
        let boolean = self.hypotheses == HypothesisClass::Conjunctions;
        let mut most = 0;
        for draw in 0..self.draws as u64 {
            let mut rng = run.row_rng(n, draw);
            let points = Matrix::from_fn(n as usize, self.d as usize, |_, _| {
                let value = sample::uniform(&mut rng);
                if boolean { f64::from(value < 0.5) } else { value }
            });
            most = most.max(self.hypotheses.dichotomies(points.view(), MOST, run)?.len());
            if (most as f64).log2() == n as f64 {
                break;
            }
        }
        Ok(most as f64)
    }
}

/// Σ_{i ≤ d} C(n, i), exact while it fits into a number.
pub(super) fn binomial_sum(n: u64, d: u64) -> f64 {
    if d >= n {
        return (n as f64).exp2();
    }
    let (mut term, mut sum) = (1.0, 1.0);
    for i in 1..=d {
        // The product is a whole number times i, so that the division is exact while it fits.
        term = term * (n - i + 1) as f64 / i as f64;
        sum += term;
        if sum.is_infinite() {
            break;
        }
    }
    sum
}

/// VC dimension and break point of a class of hypotheses.
#[derive(Params, Clone, Debug)]
pub struct VcDimension {
    /// The class of hypotheses.
    #[param(positional)]
    pub hypotheses: HypothesisClass,
    /// Dimension of the space.
    #[param(default = 2, range = 1..)]
    pub d: u64,
    /// Degree of the polynomials that half-spaces are taken of.
    #[param(default = 1, range = 1..)]
    pub degree: u64,
}

/// The largest number of points that can be shattered.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct VcDimensionFound {
    /// The VC dimension; nothing if it is infinite.
    pub vc_dimension: Option<u64>,
    /// The smallest number of points that are never shattered.
    pub break_point: Option<u64>,
}

impl Function for VcDimension {
    type Inputs<'a> = ();
    type Output = VcDimensionFound;
    const ABOUT: &'static Callable = &Callable::new("theory.vc_dimension", FunctionKind::Theory)
        .reference("Vapnik and Chervonenkis (1971)");

    fn call(&self, _inputs: (), _run: &Context) -> Result<VcDimensionFound> {
        let found = match (self.hypotheses, self.d) {
            (HypothesisClass::PositiveRays, _) => Some(1),
            (HypothesisClass::PositiveIntervals, _) | (HypothesisClass::ConvexSets, 1) => Some(2),
            (HypothesisClass::ConvexSets, _) => None,
            (HypothesisClass::Rectangles, d) => Some(d.saturating_mul(2)),
            (HypothesisClass::Conjunctions, d) => Some(d.max(if d == 1 { 2 } else { d })),
            (HypothesisClass::HalfSpaces, d) => Some(polynomial_terms(d, self.degree)?),
        };
        Ok(VcDimensionFound {
            vc_dimension: found,
            break_point: found.map(|dimension| dimension.saturating_add(1)),
        })
    }
}

/// C(d + q, q): the terms of a polynomial of degree q in d variables, the constant among them.
fn polynomial_terms(d: u64, degree: u64) -> Result<u64> {
    let (small, large) = (d.min(degree), d.max(degree));
    if small.checked_add(large).is_none_or(|n| ln_choose(n, small) > 43.0) {
        return Err(Error::new(Code::Usage, "the polynomial has more terms than can be counted")
            .hint("take a lower degree"));
    }
    let terms =
        (1..=u128::from(small)).fold(1_u128, |terms, i| terms * (u128::from(large) + i) / i);
    Ok(terms as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growth(class: HypothesisClass, d: u64) -> Vec<f64> {
        let n = (1..=7).collect();
        GrowthFunction { n, hypotheses: class, d, ..Default::default() }.compute(()).unwrap().growth
    }

    #[test]
    fn closed_forms_are_those_of_the_table() {
        assert_eq!(growth(HypothesisClass::PositiveRays, 1), [2., 3., 4., 5., 6., 7., 8.]);
        assert_eq!(growth(HypothesisClass::PositiveIntervals, 1), [2., 4., 7., 11., 16., 22., 29.]);
        assert_eq!(growth(HypothesisClass::ConvexSets, 2), [2., 4., 8., 16., 32., 64., 128.]);
        assert_eq!(growth(HypothesisClass::HalfSpaces, 1), [2., 4., 6., 8., 10., 12., 14.]);
        assert_eq!(growth(HypothesisClass::HalfSpaces, 2), [2., 4., 8., 14., 22., 32., 44.]);
        assert_eq!(growth(HypothesisClass::HalfSpaces, 3), [2., 4., 8., 16., 30., 52., 84.]);
    }

    #[test]
    fn closed_forms_are_what_enumeration_finds() {
        let classes = [
            (HypothesisClass::PositiveRays, 1),
            (HypothesisClass::PositiveIntervals, 1),
            (HypothesisClass::HalfSpaces, 2),
            (HypothesisClass::HalfSpaces, 3),
        ];
        for (class, d) in classes {
            let function = GrowthFunction { n: vec![1], hypotheses: class, d, draws: 3 };
            for n in 1..=5 {
                let counted = function.enumerate(n, &Context::default()).unwrap();
                assert_eq!(Some(counted), function.closed_form(n), "{class:?} {n}");
            }
        }
    }

    #[test]
    fn enumeration_meets_the_vc_dimension_of_rectangles_and_conjunctions() {
        for (class, d) in [(HypothesisClass::Rectangles, 2), (HypothesisClass::Conjunctions, 3)] {
            let dimension = VcDimension { hypotheses: class, d, degree: 1 }.compute(()).unwrap();
            let dimension = dimension.vc_dimension.unwrap();
            let function = GrowthFunction {
                n: vec![dimension, dimension + 1],
                hypotheses: class,
                d,
                draws: 400,
            };
            assert_eq!(function.compute(()).unwrap().shattered, [true, false], "{class:?}");
        }
    }

    #[test]
    fn vc_dimensions_of_perceptrons_and_their_transforms() {
        let of = |d, degree| {
            let function = VcDimension { d, degree, ..Default::default() };
            let found = function.compute(()).unwrap();
            (found.vc_dimension, found.break_point)
        };
        assert_eq!(of(2, 1), (Some(3), Some(4)));
        assert_eq!(of(10, 1), (Some(11), Some(12)));
        assert_eq!(of(2, 2), (Some(6), Some(7)));
        let huge = VcDimension { d: 1_000_000, degree: 1_000_000, ..Default::default() };
        assert_eq!(huge.compute(()).unwrap_err().code(), Code::Usage);
    }
}
