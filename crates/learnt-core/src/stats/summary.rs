//! Summaries of samples, with optional weights.
//!
//! Method: Neumaier's compensated summation; two-pass variance and covariance with the correction
//! of T. F. Chan, G. H. Golub and R. J. LeVeque, "Algorithms for computing the sample variance"
//! (1983); quantiles of R. J. Hyndman and Y. Fan, "Sample quantiles in statistical packages"
//! (1996): type 7, which interpolates, without weights, and type 2, which depends on shares of the
//! total weight alone, with weights.
//!
//! A summary is `None`, never `NaN`, when it does not exist: for an empty sample, a value that is
//! not finite, weights of another length, that are negative or sum to zero, or an overflow.
//! Weights count repetitions: an observation of weight two equals two observations.

/// Sums terms with a running compensation of the rounding error.
#[derive(Default)]
struct Accumulator {
    sum: f64,
    compensation: f64,
}

impl Accumulator {
    fn add(&mut self, term: f64) {
        let next = self.sum + term;
        self.compensation += if self.sum.abs() >= term.abs() {
            (self.sum - next) + term
        } else {
            (term - next) + self.sum
        };
        self.sum = next;
    }

    fn total(terms: impl Iterator<Item = f64>) -> f64 {
        let mut accumulator = Self::default();
        terms.for_each(|term| accumulator.add(term));
        accumulator.sum + accumulator.compensation
    }
}

/// The compensated sum; `None` for a value or a total that is not finite, zero for no values.
pub fn sum(values: &[f64]) -> Option<f64> {
    finite(Accumulator::total(values.iter().copied()))
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

/// The total weight: the count without weights; `None` for a sample without a summary.
fn total_weight(values: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    if values.is_empty() || !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let Some(weights) = weights else { return Some(values.len() as f64) };
    let usable = weights.iter().all(|weight| *weight >= 0.0 && weight.is_finite());
    let total = Accumulator::total(weights.iter().copied());
    (usable && weights.len() == values.len() && total > 0.0 && total.is_finite()).then_some(total)
}

fn weight_at(weights: Option<&[f64]>, index: usize) -> f64 {
    weights.and_then(|weights| weights.get(index)).copied().unwrap_or(1.0)
}

/// `sum_i w_i term(i)`, compensated.
fn weighted_total(count: usize, weights: Option<&[f64]>, term: impl Fn(usize) -> f64) -> f64 {
    Accumulator::total((0..count).map(|index| weight_at(weights, index) * term(index)))
}

/// `sum w x / sum w`.
pub fn mean(values: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    let total = total_weight(values, weights)?;
    finite(weighted_total(values.len(), weights, |index| values[index]) / total)
}

/// `sum w (x - mean)^2 / (sum w - ddof)`; `None` unless the total weight exceeds `ddof`.
pub fn variance(values: &[f64], weights: Option<&[f64]>, ddof: f64) -> Option<f64> {
    let value = covariance(values, values, weights, ddof)?;
    Some(if is_constant(values, weights) { 0.0 } else { value.max(0.0) })
}

/// The square root of [`variance`].
pub fn sd(values: &[f64], weights: Option<&[f64]>, ddof: f64) -> Option<f64> {
    variance(values, weights, ddof).map(f64::sqrt)
}

/// `sum w (x - mean x)(y - mean y) / (sum w - ddof)`; `None` unless the total weight exceeds
/// `ddof` and both samples have one length.
pub fn covariance(x: &[f64], y: &[f64], weights: Option<&[f64]>, ddof: f64) -> Option<f64> {
    let divisor = total_weight(x, weights)? - ddof;
    if divisor > 0.0 { finite(cross_deviation(x, y, weights)? / divisor) } else { None }
}

/// `sum w (x - mean x)(y - mean y)` minus the product of the two sums of deviations, which
/// rounding keeps from being zero, over the total weight.
fn cross_deviation(x: &[f64], y: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    if x.len() != y.len() {
        return None;
    }
    let total = total_weight(x, weights)?;
    let (mean_x, mean_y) = (mean(x, weights)?, mean(y, weights)?);
    let product = |index: usize| (x[index] - mean_x) * (y[index] - mean_y);
    let rest_x = weighted_total(x.len(), weights, |index| x[index] - mean_x);
    let rest_y = weighted_total(x.len(), weights, |index| y[index] - mean_y);
    Some(weighted_total(x.len(), weights, product) - rest_x * (rest_y / total))
}

/// Pearson's correlation, the covariance over the product of the standard deviations, in [-1, 1];
/// `None` when a sample is constant where it has weight.
pub fn correlation(x: &[f64], y: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    let cross = cross_deviation(x, y, weights)?;
    if is_constant(x, weights) || is_constant(y, weights) {
        return None;
    }
    let spread_x = cross_deviation(x, x, weights)?.sqrt();
    let spread_y = cross_deviation(y, y, weights)?.sqrt();
    finite(cross / spread_x / spread_y).map(|value| value.clamp(-1.0, 1.0))
}

fn is_constant(values: &[f64], weights: Option<&[f64]>) -> bool {
    let mut used = (0..values.len()).filter(|index| weight_at(weights, *index) > 0.0);
    match used.next() {
        Some(first) => used.all(|index| values[index] == values[first]),
        None => true,
    }
}

/// The middle of the sorted values, the average of both middles for an even count.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The type-7 quantile: linear interpolation of the sorted values at the position
/// `p (count - 1)`; `None` outside [0, 1].
pub fn quantile(values: &[f64], p: f64) -> Option<f64> {
    quantiles(values, &[p]).and_then(|result| result.first().copied())
}

/// Several type-7 quantiles by one selection; `None` when one of them does not exist.
pub fn quantiles(values: &[f64], probabilities: &[f64]) -> Option<Vec<f64>> {
    Quantiles::Linear.select(values, probabilities)
}

/// How quantiles of values that count alike are made of ordered ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantiles {
    /// Linear interpolation at `p (count - 1)`: [`quantiles`].
    Linear,
    /// The inverse of the distribution function, averaged where it is flat: [`averaged_quantiles`].
    Averaged,
}

impl Quantiles {
    fn place(self, count: usize, p: f64) -> usize {
        let last = count.saturating_sub(1) as f64;
        let place = match self {
            Quantiles::Linear => (p * last).floor(),
            // With weights of 1 the weight reached at a place is its number.
            Quantiles::Averaged => (p * count as f64 - slack(count as f64)).ceil() - 1.0,
        };
        place.clamp(0.0, last) as usize
    }

    /// The places, among this many ordered values, of those that the quantiles are made of; some twice.
    pub fn places(self, count: usize, probabilities: &[f64]) -> Vec<usize> {
        let places = probabilities.iter().map(|&p| self.place(count, p));
        places.flat_map(|place| [place, place + 1]).filter(|&place| place < count).collect()
    }

    /// The quantiles of this many values, given those at [`Self::places`]; `None` when one does not exist.
    pub fn of_ordered(
        self,
        count: usize,
        probabilities: &[f64],
        at: impl Fn(usize) -> f64,
    ) -> Option<Vec<f64>> {
        let last = count.checked_sub(1)?;
        let one = |&p: &f64| {
            if !(0.0..=1.0).contains(&p) {
                return None;
            }
            let place = self.place(count, p);
            let (low, next) = (at(place), at(last.min(place + 1)));
            match self {
                Quantiles::Linear => between(low, next, p * last as f64 - place as f64),
                Quantiles::Averaged => {
                    let total = count as f64;
                    let flat = p > 0.0 && (place + 1) as f64 <= p * total + slack(total);
                    finite(0.5 * low + 0.5 * if flat { next } else { low })
                }
            }
        };
        probabilities.iter().map(one).collect()
    }

    fn select(self, values: &[f64], probabilities: &[f64]) -> Option<Vec<f64>> {
        total_weight(values, None)?;
        let ordered = with_places(values, self.places(values.len(), probabilities));
        self.of_ordered(values.len(), probabilities, |place| ordered[place])
    }
}

/// What rounding of weights and of p W can amount to.
fn slack(total: f64) -> f64 {
    4.0 * f64::EPSILON * total
}

/// The value this share of the way from one to the next.
fn between(low: f64, high: f64, share: f64) -> Option<f64> {
    finite(if share == 0.5 { 0.5 * low + 0.5 * high } else { low + share * (high - low) })
}

/// A copy of the values with those at the given places where sorting would put them: n ln m steps for m places.
fn with_places(values: &[f64], mut wanted: Vec<usize>) -> Vec<f64> {
    wanted.sort_unstable();
    wanted.dedup();
    let mut out = values.to_vec();
    select(&mut out, &wanted, 0);
    out
}

/// Puts the values at the wanted places, less `offset`, where sorting would put them.
fn select(values: &mut [f64], wanted: &[usize], offset: usize) {
    let middle = wanted.len() / 2;
    let Some(&place) = wanted.get(middle) else { return };
    let (low, _, high) = values.select_nth_unstable_by(place - offset, f64::total_cmp);
    select(low, &wanted[..middle], offset);
    select(high, &wanted[middle + 1..], place + 1);
}

/// The type-7 quantile of values that are already sorted, at least around its place, and finite.
pub fn sorted_quantile(sorted: &[f64], p: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&p) || sorted.is_empty() {
        return None;
    }
    let position = p * (sorted.len() - 1) as f64;
    let index = (position.floor() as usize).min(sorted.len() - 1);
    let low = sorted[index];
    let high = sorted.get(index + 1).copied().unwrap_or(low);
    between(low, high, position - index as f64)
}

/// The quantile of the weighted distribution: [`averaged_quantiles`] at one probability.
pub fn weighted_quantile(values: &[f64], weights: &[f64], p: f64) -> Option<f64> {
    averaged_quantiles(values, Some(weights), &[p]).and_then(|result| result.first().copied())
}

/// Inverses of the distribution function, averaged where it is flat (type 2): the
/// first value at which the weight reaches `p W`, and the middle between it and the next one where
/// the weight is `p W` exactly; W is the total weight. Only shares of W count, so that weights times
/// a constant give the same. `None` when one of them does not exist.
pub fn averaged_quantiles(
    values: &[f64],
    weights: Option<&[f64]>,
    probabilities: &[f64],
) -> Option<Vec<f64>> {
    let Some(weights) = weights else {
        return Quantiles::Averaged.select(values, probabilities);
    };
    let total = total_weight(values, Some(weights))?;
    if probabilities.iter().any(|p| !(0.0..=1.0).contains(p)) {
        return None;
    }
    let slack = slack(total);
    let (sorted, reached) = sorted_with_weights(values, weights);
    let last = sorted.len().checked_sub(1)?;
    let at = |&p: &f64| {
        let place = reached.partition_point(|sum| *sum < p * total - slack).min(last);
        let low = sorted[place];
        let flat = p > 0.0 && reached[place] <= p * total + slack;
        let next = sorted.get(place + 1).filter(|_| flat).copied().unwrap_or(low);
        finite(0.5 * low + 0.5 * next)
    };
    probabilities.iter().map(at).collect()
}

/// The values with weight in order, and the weight that is reached at each.
fn sorted_with_weights(values: &[f64], weights: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let mut pairs: Vec<(f64, f64)> = values.iter().copied().zip(weights.iter().copied()).collect();
    pairs.retain(|(_, weight)| *weight > 0.0);
    pairs.sort_by(|left, right| left.0.total_cmp(&right.0));
    let mut reached = Accumulator::default();
    pairs
        .into_iter()
        .map(|(value, weight)| {
            reached.add(weight);
            (value, reached.sum + reached.compensation)
        })
        .unzip()
}

/// The largest value minus the smallest.
pub fn range(values: &[f64]) -> Option<f64> {
    let (low, high) = extremes(values)?;
    finite(high - low)
}

/// The smallest and the largest value.
pub fn extremes(values: &[f64]) -> Option<(f64, f64)> {
    total_weight(values, None)?;
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some((low, high))
}

/// `exp(sum w ln x / sum w)`; zero when a value with weight is zero, `None` for negative values.
pub fn geometric_mean(values: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    total_weight(values, weights)?;
    if values.iter().any(|value| *value < 0.0) {
        return None;
    }
    if (0..values.len()).any(|index| values[index] == 0.0 && weight_at(weights, index) > 0.0) {
        return Some(0.0);
    }
    let logarithms: Vec<f64> =
        values.iter().map(|value| if *value > 0.0 { value.ln() } else { 0.0 }).collect();
    mean(&logarithms, weights).map(f64::exp)
}
