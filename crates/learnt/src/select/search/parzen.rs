//! Model-based search by tree-structured Parzen estimators.
//!
//! The settings so far are divided into good ones, the best quarter, and the others. For each
//! parameter the places of both groups have a density: on ranges a mixture of normal curves, cut to
//! the unit interval, around the points and one wide curve in the middle, with the distance to the
//! farther neighbour as width; on lists counts plus a share of one for each value. The next setting is
//! that of 24 draws from the good densities with the largest product of ratios good / other. Settings
//! come in batches of a fixed size, so that they can be fitted side by side; the rules do not look at
//! the number of threads. Settings that failed count as the worst.
//!
//! Reference: Bergstra, Bardenet, Bengio and Kégl (2011), Algorithms for hyper-parameter optimization.

use super::space::{Domain, Setting, Space};
use learnt_core::context::Rng;
use learnt_core::stats::distribution::{Continuous, Normal};
use learnt_core::stats::sample;

/// Draws from the good densities for each suggestion.
const DRAWS: usize = 24;

/// Settings at random before the first model.
pub(super) const START: usize = 10;

/// Settings that are suggested from one model.
pub(super) const BATCH: usize = 4;

/// Settings to try next, given those that were tried with their losses: smaller is better, `None`
/// where it failed.
pub fn suggest(
    space: &Space,
    tried: &[(Setting, Option<f64>)],
    count: usize,
    rng: &mut Rng,
) -> Vec<Setting> {
    let mut order: Vec<usize> = (0..tried.len()).collect();
    let loss = |i: usize| tried[i].1.unwrap_or(f64::INFINITY);
    order.sort_by(|&a, &b| loss(a).total_cmp(&loss(b)));
    let good = tried.len().div_ceil(4);
    let places: Vec<Vec<f64>> = order.iter().map(|&i| space.places(&tried[i].0)).collect();
    let (good, other) = places.split_at(good.min(places.len()));
    let models: Vec<(Density, Density)> = space
        .domains
        .iter()
        .enumerate()
        .map(|(j, (_, domain))| (Density::of(domain, good, j), Density::of(domain, other, j)))
        .collect();
    let mut seen: Vec<Setting> = tried.iter().map(|(setting, _)| setting.clone()).collect();
    let mut out = Vec::with_capacity(count);
    for _ in 0..count {
        let Some(setting) = next(space, &models, &seen, rng) else { break };
        seen.push(setting.clone());
        out.push(setting);
    }
    out
}

/// The best of some draws that were not tried; `None` if there were no new ones.
fn next(
    space: &Space,
    models: &[(Density, Density)],
    seen: &[Setting],
    rng: &mut Rng,
) -> Option<Setting> {
    let mut best: Option<(f64, Setting)> = None;
    // Small grids may have few settings left: the good densities may not reach them.
    for draw in 0..2 * DRAWS {
        let wide = draw >= DRAWS;
        if wide && best.is_some() {
            break;
        }
        let mut gain = 0.0;
        let mut setting = Setting::new();
        for ((name, domain), (good, other)) in space.domains.iter().zip(models) {
            let place = if wide { sample::uniform(rng) } else { good.draw(rng) };
            let value = domain.at(place);
            let place = domain.place(&value).unwrap_or(place);
            gain += good.ln(place) - other.ln(place);
            setting.push((name.clone(), value));
        }
        if !seen.contains(&setting) && best.as_ref().is_none_or(|(most, _)| gain > *most) {
            best = Some((gain, setting));
        }
    }
    best.map(|(_, setting)| setting)
}

/// How likely places of one parameter are.
enum Density {
    /// Of each value of a list.
    Shares(Vec<f64>),
    /// Centres and widths of curves on the unit interval.
    Curves(Vec<(f64, f64)>),
}

impl Density {
    fn of(domain: &Domain, rows: &[Vec<f64>], column: usize) -> Density {
        let mut places: Vec<f64> = rows.iter().map(|row| row[column]).collect();
        if let Domain::List(values) = domain {
            let mut shares = vec![1.0 / values.len() as f64; values.len()];
            for place in places {
                shares[index(place, values.len())] += 1.0;
            }
            let total: f64 = shares.iter().sum();
            return Density::Shares(shares.into_iter().map(|share| share / total).collect());
        }
        places.push(0.5);
        places.sort_by(f64::total_cmp);
        let middle = places.iter().position(|&place| place == 0.5).unwrap_or(0);
        let least = 1.0 / (1.0 + places.len() as f64).min(100.0);
        let curve = |i: usize| {
            let below = if i == 0 { 0.0 } else { places[i - 1] };
            let above = places.get(i + 1).copied().unwrap_or(1.0);
            let width = (places[i] - below).max(above - places[i]).clamp(least, 1.0);
            (places[i], if i == middle { 1.0 } else { width })
        };
        Density::Curves((0..places.len()).map(curve).collect())
    }

    fn draw(&self, rng: &mut Rng) -> f64 {
        match self {
            Density::Shares(shares) => {
                let index = sample::weighted_index(rng, shares).unwrap_or(0);
                (index as f64 + 0.5) / shares.len() as f64
            }
            Density::Curves(curves) => {
                let (centre, width) = curves[sample::below(rng, curves.len() as u64) as usize];
                for _ in 0..64 {
                    let place = centre + width * sample::standard_normal(rng);
                    if (0.0..1.0).contains(&place) {
                        return place;
                    }
                }
                centre
            }
        }
    }

    fn ln(&self, place: f64) -> f64 {
        match self {
            Density::Shares(shares) => shares[index(place, shares.len())].ln(),
            Density::Curves(curves) => {
                let one = |&(centre, width): &(f64, f64)| {
                    let Some(curve) = Normal::new(centre, width) else { return 0.0 };
                    curve.pdf(place) / (curve.cdf(1.0) - curve.cdf(0.0))
                };
                (curves.iter().map(one).sum::<f64>() / curves.len() as f64)
                    .max(f64::MIN_POSITIVE)
                    .ln()
            }
        }
    }
}

/// The value of a list that a place stands for.
fn index(place: f64, values: usize) -> usize {
    ((place * (values - 1).max(1) as f64).round() as usize).min(values - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::prelude::*;

    /// The least of a function that a search of 50 settings finds.
    fn search(f: &dyn Fn(&[f64]) -> f64, space: &Space, seed: u64, model: bool) -> f64 {
        let mut rng = Context::default().with_seed(seed).rng(0);
        let mut tried: Vec<(Setting, Option<f64>)> = Vec::new();
        let loss = |setting: &Setting| {
            let x: Vec<f64> = setting.iter().map(|(_, value)| value.as_real().unwrap()).collect();
            f(&x)
        };
        while tried.len() < 50 {
            let batch = match tried.len() < START || !model {
                true => space.draw(START, &mut rng),
                false => suggest(space, &tried, BATCH, &mut rng),
            };
            tried.extend(batch.into_iter().map(|setting| {
                let loss = loss(&setting);
                (setting, Some(loss))
            }));
        }
        tried.iter().filter_map(|(_, loss)| *loss).fold(f64::INFINITY, f64::min)
    }

    fn range(count: usize) -> Space {
        let domain = |j: usize| (format!("x{j}"), Domain::range("-5.0:10.0").unwrap());
        Space { domains: (0..count).map(domain).collect() }
    }

    #[test]
    fn models_find_better_settings_than_chance_on_three_functions() {
        let bowl = |x: &[f64]| x.iter().map(|x| (x - 2.0).powi(2)).sum::<f64>();
        let branin = |x: &[f64]| {
            let (x, y) = (x[0], x[1] + 5.0);
            let pi = std::f64::consts::PI;
            let bend = y - 5.1 / (4.0 * pi * pi) * x * x + 5.0 / pi * x - 6.0;
            bend * bend + 10.0 * (1.0 - 1.0 / (8.0 * pi)) * x.cos() + 10.0
        };
        let valley =
            |x: &[f64]| (x[0] - 1.0).abs() + 0.01 * x[1..].iter().map(|x| x * x).sum::<f64>();
        type Objective<'a> = &'a dyn Fn(&[f64]) -> f64;
        let functions: [(Objective, usize); 3] = [(&bowl, 3), (&branin, 2), (&valley, 4)];
        for (f, width) in functions {
            let space = range(width);
            let wins = (0..40)
                .filter(|&seed| search(f, &space, seed, true) < search(f, &space, seed, false))
                .count();
            assert!(wins >= 28, "{wins} of 40");
        }
    }

    #[test]
    fn small_grids_are_searched_to_the_end_and_no_setting_comes_twice() {
        let list = |values: &[i64]| Domain::List(values.iter().map(|&i| Value::Int(i)).collect());
        let space =
            Space { domains: vec![("a".into(), list(&[1, 2, 3])), ("b".into(), list(&[1, 2]))] };
        let mut rng = Context::default().rng(3);
        let mut tried: Vec<(Setting, Option<f64>)> = Vec::new();
        for _ in 0..20 {
            let batch = suggest(&space, &tried, 2, &mut rng);
            tried.extend(batch.into_iter().map(|setting| (setting, None)));
        }
        assert_eq!(tried.len(), 6);
    }
}
