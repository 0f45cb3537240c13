//! A smooth curve through points: locally weighted straight lines.
//!
//! Around every point the nearest two thirds of all points are fitted by a straight line with tricube weights
//! (1 - (r/h)³)³; three times more, points far from the curve count less, by the bisquare of their residual over six
//! times the median residual. Points of equal x share their height. n²/3 steps a pass for n points.
//!
//! Cleveland (1979), Journal of the American Statistical Association 74(368), 829-836: the default of `lowess` in R,
//! here without its interpolation between near points.

/// Share of the points that a line is fitted to.
const SHARE: f64 = 2.0 / 3.0;
/// Passes in which far points count less.
const PASSES: usize = 3;

/// Heights of the curve at `x`, which rises.
pub(super) fn lowess(x: &[f64], y: &[f64]) -> Vec<f64> {
    let n = x.len();
    if n < 3 {
        return y.to_vec();
    }
    let near = ((SHARE * n as f64 + 1e-7) as usize).clamp(2, n);
    let mut trust = vec![1.0; n];
    let mut out = curve(x, y, near, &trust);
    for _ in 0..PASSES {
        let sizes: Vec<f64> = y.iter().zip(&out).map(|(y, height)| (y - height).abs()).collect();
        let far = 6.0 * median(&sizes);
        if far < 1e-7 * sizes.iter().sum::<f64>() / n as f64 {
            break;
        }
        trust = sizes.iter().map(|size| bisquare(size / far)).collect();
        out = curve(x, y, near, &trust);
    }
    out
}

fn curve(x: &[f64], y: &[f64], near: usize, trust: &[f64]) -> Vec<f64> {
    let mut out: Vec<f64> = Vec::with_capacity(x.len());
    let mut left = 0;
    for i in 0..x.len() {
        if i > 0 && x[i] == x[i - 1] {
            out.push(out[i - 1]);
            continue;
        }
        while left + near < x.len() && x[i] - x[left] > x[left + near] - x[i] {
            left += 1;
        }
        let reach = (x[i] - x[left]).max(x[left + near - 1] - x[i]);
        out.push(height(x, y, (x[i], left, reach), trust).unwrap_or(y[i]));
    }
    out
}

/// The height at a place of the line through the points within reach, from the one at `left` on; none if no
/// point counts.
fn height(
    x: &[f64],
    y: &[f64],
    (place, left, reach): (f64, usize, f64),
    trust: &[f64],
) -> Option<f64> {
    let last = x[left..].partition_point(|other| other - place <= 0.999 * reach) + left;
    let mut weights: Vec<f64> =
        (left..last).map(|j| trust[j] * tricube((x[j] - place).abs(), reach)).collect();
    let total: f64 = weights.iter().sum();
    if total <= 0.0 {
        return None;
    }
    weights.iter_mut().for_each(|w| *w /= total);
    let sum = |of: &dyn Fn(usize) -> f64| -> f64 {
        weights.iter().enumerate().map(|(k, w)| w * of(left + k)).sum()
    };
    let (centre, level) = (sum(&|j| x[j]), sum(&|j| y[j]));
    let spread = sum(&|j| (x[j] - centre).powi(2));
    let all = x[x.len() - 1] - x[0];
    if spread.sqrt() <= 0.001 * all {
        return Some(level);
    }
    let slope = sum(&|j| (x[j] - centre) * y[j]) / spread;
    Some(level + slope * (place - centre))
}

fn tricube(distance: f64, reach: f64) -> f64 {
    match distance {
        r if r <= 0.001 * reach => 1.0,
        r if r <= 0.999 * reach => (1.0 - (r / reach).powi(3)).powi(3),
        _ => 0.0,
    }
}

fn bisquare(share: f64) -> f64 {
    match share {
        s if s <= 0.001 => 1.0,
        s if s <= 0.999 => (1.0 - s * s).powi(2),
        _ => 0.0,
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    if n.is_multiple_of(2) { 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]) } else { sorted[n / 2] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(found: &[f64], expected: &[f64]) {
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 1e-9 * b.abs(), "{a} {b}");
        }
    }

    /// `lowess(x, y, delta = 0)` of R 4.2 with one point far off.
    #[test]
    fn the_curve_is_that_of_r_and_a_far_point_moves_it_little() {
        let x: Vec<f64> = (1..=12).map(f64::from).collect();
        let y = [1.0, 4.0, 9.0, 2.0, 25.0, 36.0, 49.0, 200.0, 81.0, 100.0, 121.0, 144.0];
        let expected = [
            -1.72414534563,
            5.02306180378,
            11.9839167946,
            18.9688767331,
            27.3788394237,
            37.6066124183,
            51.3727673593,
            66.9841724564,
            83.7349980323,
            102.547377084,
            121.695056587,
            141.235696702,
        ];
        assert_close(&lowess(&x, &y), &expected);
    }

    /// Stopping distances of cars (Ezekiel 1930), `lowess(cars, delta = 0)` of R 4.2 at some rows.
    #[test]
    fn points_of_equal_x_share_their_height_as_in_r() {
        let speeds = "4 4 7 7 8 9 10 10 10 11 11 12 12 12 12 13 13 13 13 14 14 14 14 15 15 15 16 16 17 17 17 18 18 18 18 19 19 19 20 20 20 20 20 22 23 24 24 24 24 25";
        let distances = "2 10 4 22 16 10 18 26 34 17 28 14 20 24 28 26 34 34 46 26 36 60 80 20 26 54 32 40 32 40 50 42 56 76 84 36 46 68 32 48 52 56 64 66 54 70 92 93 120 85";
        let numbers = |text: &str| -> Vec<f64> {
            text.split(' ').map(|number| number.parse().unwrap()).collect()
        };
        let found = lowess(&numbers(speeds), &numbers(distances));
        let at = [0, 2, 9, 19, 29, 39, 48, 49].map(|i| found[i]);
        let expected = [
            4.96545927719,
            13.1244950397,
            24.1292771489,
            32.9625061362,
            43.4634917818,
            56.4912240929,
            78.6431635544,
            84.3286980968,
        ];
        assert_close(&at, &expected);
        assert_eq!(found[0], found[1]);
    }

    #[test]
    fn few_points_and_equal_points_have_finite_heights() {
        assert_eq!(lowess(&[1.0, 2.0], &[3.0, 4.0]), [3.0, 4.0]);
        assert_eq!(lowess(&[2.0; 5], &[1.0; 5]), [1.0; 5]);
        assert!(lowess(&[0.0, 0.0, 1.0], &[1.0, 2.0, 3.0]).iter().all(|y| y.is_finite()));
    }
}
