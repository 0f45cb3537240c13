//! Special functions of arrays by scipy's names: logistic and softmax, gamma, beta and error
//! functions. Each is computed without overflow where its value is finite.

use learnt_core::prelude::*;
use learnt_core::stats::distribution::{Beta, Continuous, Gamma};
use learnt_core::stats::special;

/// Numbers.
#[derive(Inputs, Clone, Copy)]
pub struct Arguments<'a> {
    /// The numbers.
    pub x: &'a [f64],
}

/// Makes a function without parameters of a function of arrays.
macro_rules! of_arrays {
    ($($(#[$doc:meta])* $type:ident, $path:literal, $aliases:expr, $output:ty, |$x:ident| $body:expr;)*) => {
        $($(#[$doc])*
        #[derive(Params, Clone, Debug)]
        pub struct $type {}

        impl Function for $type {
            type Inputs<'a> = Arguments<'a>;
            type Output = $output;
            const ABOUT: &'static Callable =
                &Callable::new($path, FunctionKind::Statistic).alias($aliases);

            fn call(&self, given: Arguments, _run: &Context) -> Result<$output> {
                let $x = given.x;
                $body
            }
        })*

        /// Special functions.
        pub const SPECIAL_FUNCTIONS: &[FunctionEntry] = &[
            $(function::<$type>(),)*
            function::<BetaLn>(),
            function::<BetaInc>(),
            function::<GammaInc>(),
        ];
    };
}

fn each(x: &[f64], f: impl Fn(f64) -> f64) -> Result<Vec<f64>> {
    Ok(x.iter().map(|&x| f(x)).collect())
}

of_arrays! {
    /// The logistic function 1 / (1 + exp(-x)).
    Expit, "stats.expit", &["sigmoid", "logistic"], Vec<f64>, |x| each(x, special::sigmoid);
    /// The slope of the logistic function: s (1 - s) at s = 1 / (1 + exp(-x)).
    LogisticSlope, "stats.logistic_slope", &[], Vec<f64>, |x| each(x, |x| special::sigmoid(x) * special::sigmoid(-x));
    /// The log odds ln(p / (1 - p)): -inf at 0, inf at 1, not a number outside.
    Logit, "stats.logit", &["log-odds"], Vec<f64>, |x| each(x, |p| match p {
        0.0 => f64::NEG_INFINITY,
        1.0 => f64::INFINITY,
        p => special::logit(p).unwrap_or(f64::NAN),
    });
    /// ln(1 + exp(x)).
    Softplus, "stats.softplus", &[], Vec<f64>, |x| each(x, special::softplus);
    /// Probabilities exp(x) / Σ exp(x).
    Softmax, "stats.softmax", &[], Vec<f64>, |x| {
        let mut out = x.to_vec();
        special::softmax_in_place(&mut out);
        Ok(out)
    };
    /// Logarithms of the softmax: x - ln Σ exp(x).
    LogSoftmax, "stats.log_softmax", &[], Vec<f64>, |x| {
        let sum = special::log_sum_exp(x);
        each(x, |x| x - sum)
    };
    /// ln Σ exp(x), without overflow.
    LogSumExp, "stats.logsumexp", &["log-sum-exp"], f64, |x| Ok(special::log_sum_exp(x));
    /// Slopes of the softmax: diag(p) - p pᵀ at p = softmax(x).
    SoftmaxJacobian, "stats.softmax_jacobian", &[], Matrix, |x| {
        let mut p = x.to_vec();
        special::softmax_in_place(&mut p);
        Ok(Matrix::from_fn(p.len(), p.len(), |i, j| {
            if i == j { p[i] * (1.0 - p[i]) } else { -p[i] * p[j] }
        }))
    };
    /// Logarithm of the gamma function's size.
    GammaLn, "stats.gammaln", &["ln-gamma"], Vec<f64>, |x| each(x, special::ln_gamma);
    /// Slope of the logarithm of the gamma function.
    Digamma, "stats.digamma", &["psi"], Vec<f64>, |x| each(x, special::digamma);
    /// Error function: 2/√π ∫₀ˣ exp(-t²) dt.
    Erf, "stats.erf", &[], Vec<f64>, |x| each(x, special::erf);
    /// Complementary error function: 1 - erf(x), with all its digits.
    Erfc, "stats.erfc", &[], Vec<f64>, |x| each(x, special::erfc);
}

/// Logarithm of the beta function.
#[derive(Params, Clone, Debug)]
pub struct BetaLn {}

/// Two parameters of the beta function for each value.
#[derive(Inputs, Clone, Copy)]
pub struct TwoShapes<'a> {
    /// First parameter, above 0.
    pub a: &'a [f64],
    /// Second parameter, above 0.
    pub b: &'a [f64],
}

impl Function for BetaLn {
    type Inputs<'a> = TwoShapes<'a>;
    type Output = Vec<f64>;
    const ABOUT: &'static Callable =
        &Callable::new("stats.betaln", FunctionKind::Statistic).alias(&["ln-beta"]);

    fn call(&self, given: TwoShapes, _run: &Context) -> Result<Vec<f64>> {
        Ok(given.a.iter().zip(given.b).map(|(&a, &b)| special::ln_beta(a, b)).collect())
    }
}

/// Regularised incomplete beta function: the probability below x of a beta distribution.
#[derive(Params, Clone, Debug)]
pub struct BetaInc {}

/// Two shapes and a place for each value.
#[derive(Inputs, Clone, Copy)]
pub struct ShapesAndPlace<'a> {
    /// First parameter, above 0.
    pub a: &'a [f64],
    /// Second parameter, above 0.
    pub b: &'a [f64],
    /// Upper end of the integral, from 0 to 1.
    pub x: &'a [f64],
}

impl Function for BetaInc {
    type Inputs<'a> = ShapesAndPlace<'a>;
    type Output = Vec<f64>;
    const ABOUT: &'static Callable = &Callable::new("stats.betainc", FunctionKind::Statistic);

    fn call(&self, given: ShapesAndPlace, _run: &Context) -> Result<Vec<f64>> {
        let at = |i: usize| {
            let (a, b, x) = (given.a[i], given.b[i], given.x[i]);
            let inside = Beta::new(a, b).filter(|_| (0.0..=1.0).contains(&x));
            inside.map_or(f64::NAN, |beta| beta.cdf(x))
        };
        Ok((0..given.x.len()).map(at).collect())
    }
}

/// Regularised incomplete gamma function: the probability below x of a gamma distribution.
#[derive(Params, Clone, Debug)]
pub struct GammaInc {}

/// A shape and a place for each value.
#[derive(Inputs, Clone, Copy)]
pub struct ShapeAndPlace<'a> {
    /// Parameter, above 0.
    pub a: &'a [f64],
    /// Upper end of the integral, at least 0.
    pub x: &'a [f64],
}

impl Function for GammaInc {
    type Inputs<'a> = ShapeAndPlace<'a>;
    type Output = Vec<f64>;
    const ABOUT: &'static Callable = &Callable::new("stats.gammainc", FunctionKind::Statistic);

    fn call(&self, given: ShapeAndPlace, _run: &Context) -> Result<Vec<f64>> {
        let at = |(&a, &x): (&f64, &f64)| {
            let inside = Gamma::new(a, 1.0).filter(|_| x >= 0.0);
            inside.map_or(f64::NAN, |gamma| gamma.cdf(x))
        };
        Ok(given.a.iter().zip(given.x).map(at).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_ends_neither_overflow_nor_lose_the_sum() {
        let x = [-800.0, 0.0, 800.0];
        assert_eq!(Expit {}.compute(Arguments { x: &x }).unwrap()[1..], [0.5, 1.0]);
        assert_eq!(LogSumExp {}.compute(Arguments { x: &x }).unwrap(), 800.0);
        assert_eq!(Softmax {}.compute(Arguments { x: &x }).unwrap(), [0.0, 0.0, 1.0]);
        let slopes = SoftmaxJacobian {}.compute(Arguments { x: &[0.0, 1.0] }).unwrap();
        assert!((slopes[(0, 0)] + slopes[(0, 1)]).abs() < 1e-16);
        let odds = Logit {}.compute(Arguments { x: &[0.0, 0.5, 1.0] }).unwrap();
        assert_eq!(odds, [f64::NEG_INFINITY, 0.0, f64::INFINITY]);
    }
}
