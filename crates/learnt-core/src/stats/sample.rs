//! Samplers: the project's own, determined bit for bit by the stream of the generator.
//!
//! Method: the top 53 bits for uniforms; D. Lemire, "Fast random integer generation in an
//! interval" (2019), for whole numbers; Marsaglia's polar method for normals; G. Marsaglia and
//! W. W. Tsang (2000) for gammas; Fisher and Yates for permutations. Logarithms and exponentials
//! come from `libm`, so that draws are the same on every platform.

use rand_core::Rng;

/// A uniform draw from [0, 1): the top 53 bits divided by `2^53`.
pub fn uniform<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    (rng.next_u64() >> 11) as f64 * (0.5 * f64::EPSILON)
}

/// A uniform draw from (0, 1]: one minus [`uniform`].
pub fn uniform_positive<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    1.0 - uniform(rng)
}

/// An unbiased whole number below `bound`; zero when `bound` is zero.
///
/// The high half of the 128-bit product with a word, rejecting the words that would favour some
/// results.
pub fn below<R: Rng + ?Sized>(rng: &mut R, bound: u64) -> u64 {
    if bound == 0 {
        return 0;
    }
    let threshold = bound.wrapping_neg() % bound;
    loop {
        let product = u128::from(rng.next_u64()) * u128::from(bound);
        if product as u64 >= threshold {
            return (product >> 64) as u64;
        }
    }
}

/// How many of `count` independent draws succeed, each with chance `of / all`: a binomial draw, exact, by
/// whole numbers alone.
///
/// Each draw compares a uniform number with the chance bit by bit, and stops at the first bit that differs.
/// All draws that are still equal share one step, so two bits a draw are used on average.
pub fn binomial<R: Rng + ?Sized>(rng: &mut R, count: u64, of: u64, all: u64) -> u64 {
    if of >= all {
        return count;
    }
    let (mut taken, mut equal, mut rest) = (0, count, u128::from(of));
    while equal > 0 && rest > 0 {
        rest *= 2;
        let zeros = coins(rng, equal);
        if rest >= u128::from(all) {
            rest -= u128::from(all);
            taken += zeros;
            equal -= zeros;
        } else {
            equal = zeros;
        }
    }
    taken
}

/// How many of so many bits are one.
fn coins<R: Rng + ?Sized>(rng: &mut R, count: u64) -> u64 {
    let whole: u64 = (0..count / 64).map(|_| u64::from(rng.next_u64().count_ones())).sum();
    match count % 64 {
        0 => whole,
        rest => whole + u64::from((rng.next_u64() >> (64 - rest)).count_ones()),
    }
}

/// A draw from the normal distribution with mean zero and standard deviation one.
///
/// The first of a pair; its partner is dropped so that the sampler has no state.
pub fn standard_normal<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    normal_pair(rng)[0]
}

/// Fills a slice with draws from the standard normal distribution, in half the time of single draws.
pub fn fill_standard_normal<R: Rng + ?Sized>(rng: &mut R, out: &mut [f64]) {
    for places in out.chunks_mut(2) {
        places.copy_from_slice(&normal_pair(rng)[..places.len()]);
    }
}

/// Two independent draws from the standard normal distribution.
///
/// Polar method: a point uniform in the unit disc at squared radius `s`, times `sqrt(-2 ln(s) / s)`.
fn normal_pair<R: Rng + ?Sized>(rng: &mut R) -> [f64; 2] {
    loop {
        let (x, y) = (2.0 * uniform(rng) - 1.0, 2.0 * uniform(rng) - 1.0);
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            let stretch = (-2.0 * libm::log(square) / square).sqrt();
            return [x * stretch, y * stretch];
        }
    }
}

/// A draw from the exponential distribution with rate one: `-ln` of a uniform from (0, 1].
pub fn standard_exponential<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    exponential_at(uniform(rng))
}

/// The draw of [`standard_exponential`] for a [`uniform`] draw, which it is never below.
pub fn exponential_at(place: f64) -> f64 {
    -libm::log(1.0 - place)
}

/// A draw from the gamma distribution with the given shape and scale one; `NaN` unless the shape
/// is positive and finite.
///
/// `d v` with `d = shape - 1/3`, `v = (1 + z / (3 sqrt(d)))^3`, accepted when
/// `ln u < z^2/2 + d - d v + d ln v`; below shape one, the draw for `shape + 1` times
/// `u^(1/shape)`.
pub fn standard_gamma<R: Rng + ?Sized>(rng: &mut R, shape: f64) -> f64 {
    if !(shape > 0.0 && shape.is_finite()) {
        return f64::NAN;
    }
    if shape < 1.0 {
        let boost = libm::exp(libm::log(uniform_positive(rng)) / shape);
        return boost * standard_gamma(rng, shape + 1.0);
    }
    let offset = shape - 1.0 / 3.0;
    let spread = (9.0 * offset).sqrt().recip();
    loop {
        let normal = standard_normal(rng);
        let root = 1.0 + spread * normal;
        if root <= 0.0 {
            continue;
        }
        let cube = root * root * root;
        let bound = 0.5 * normal * normal + offset * (1.0 - cube + 3.0 * libm::log(root));
        if libm::log(uniform_positive(rng)) < bound {
            return offset * cube;
        }
    }
}

/// Puts the items in a uniformly random order.
pub fn shuffle<R: Rng + ?Sized, T>(rng: &mut R, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(rng, last as u64 + 1) as usize);
    }
}

/// `count` different numbers below `bound`, in random order, each subset equally likely; all of
/// them when `count` exceeds `bound`.
pub fn choose<R: Rng + ?Sized>(rng: &mut R, bound: usize, count: usize) -> Vec<usize> {
    let count = count.min(bound);
    let mut pool: Vec<usize> = (0..bound).collect();
    for index in 0..count {
        pool.swap(index, index + below(rng, (bound - index) as u64) as usize);
    }
    pool.truncate(count);
    pool
}

/// An index drawn with probability proportional to its weight; `None` unless the weights are
/// finite, not negative, and have a positive finite sum.
pub fn weighted_index<R: Rng + ?Sized>(rng: &mut R, weights: &[f64]) -> Option<usize> {
    let total: f64 = weights.iter().sum();
    if !(total > 0.0 && total.is_finite()) || weights.iter().any(|weight| *weight < 0.0) {
        return None;
    }
    let target = uniform(rng) * total;
    let mut reached = 0.0;
    for (index, weight) in weights.iter().enumerate() {
        reached += weight;
        if target < reached {
            return Some(index);
        }
    }
    weights.iter().rposition(|weight| *weight > 0.0)
}
