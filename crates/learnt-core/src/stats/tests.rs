//! Tests against the high-precision references of `tests/golden/generate/distributions.py`.

use super::distribution::{
    Beta, Binomial, ChiSquared, Continuous, Discrete, Exponential, FisherF, Gamma, Moments, Normal,
    Poisson, StudentT, Uniform,
};
use super::{sample, special, summary};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde_json::Value;

const GOLDEN: &str = include_str!("../../../../tests/golden/distributions.json");

fn number(record: &Value, key: &str) -> Option<f64> {
    record.get(key).and_then(Value::as_f64)
}

fn numbers(record: &Value, key: &str) -> Vec<f64> {
    record[key].as_array().unwrap().iter().filter_map(Value::as_f64).collect()
}

fn relative_error(value: f64, expected: f64) -> f64 {
    if value == expected { 0.0 } else { ((value - expected) / expected).abs() }
}

/// What a distribution says at one point, in the keys of the reference file.
fn continuous(law: &impl Continuous, record: &Value) -> Vec<(&'static str, f64)> {
    let x = number(record, "x").unwrap();
    let mut found = vec![
        ("pdf", law.pdf(x)),
        ("ln_pdf", law.ln_pdf(x)),
        ("cdf", law.cdf(x)),
        ("sf", law.sf(x)),
        ("ln_cdf", law.ln_cdf(x)),
        ("ln_sf", law.ln_sf(x)),
    ];
    if number(record, "quantile").is_some() {
        found.push(("quantile", law.quantile(number(record, "cdf").unwrap())));
    }
    if number(record, "upper_quantile").is_some() {
        found.push(("upper_quantile", law.upper_quantile(number(record, "sf").unwrap())));
    }
    found
}

fn discrete(law: &impl Discrete, record: &Value) -> Vec<(&'static str, f64)> {
    let k = record["x"].as_u64().unwrap();
    assert_eq!(
        law.quantile(law.cdf(k)),
        Some(k).filter(|_| law.cdf(k) < 1.0).or(law.quantile(1.0))
    );
    assert_eq!(law.upper_quantile(law.sf(k)), Some(k).filter(|_| law.sf(k) < 1.0).or(Some(0)));
    vec![
        ("pdf", law.pmf(k)),
        ("ln_pdf", law.ln_pmf(k)),
        ("cdf", law.cdf(k)),
        ("sf", law.sf(k)),
        ("ln_cdf", law.ln_cdf(k)),
        ("ln_sf", law.ln_sf(k)),
    ]
}

fn evaluate(record: &Value) -> Vec<(&'static str, f64)> {
    let p = numbers(record, "parameters");
    match record["name"].as_str().unwrap() {
        "normal" => continuous(&Normal::new(p[0], p[1]).unwrap(), record),
        "gamma" => continuous(&Gamma::new(p[0], p[1]).unwrap(), record),
        "chi_squared" => continuous(&ChiSquared::new(p[0]).unwrap(), record),
        "student_t" => continuous(&StudentT::new(p[0]).unwrap(), record),
        "beta" => continuous(&Beta::new(p[0], p[1]).unwrap(), record),
        "fisher_f" => continuous(&FisherF::new(p[0], p[1]).unwrap(), record),
        "binomial" => discrete(&Binomial::new(p[0] as u64, p[1]).unwrap(), record),
        "poisson" => discrete(&Poisson::new(p[0]).unwrap(), record),
        other => panic!("unknown distribution {other}"),
    }
}

/// A reference value; logarithms follow from the stored probabilities without loss.
fn reference(record: &Value, key: &str) -> f64 {
    let ln = |own: f64, other: f64| if own <= 0.5 { own.ln() } else { (-other).ln_1p() };
    let stored = |key| number(record, key).unwrap();
    match key {
        "ln_pdf" => stored("pdf").ln(),
        "ln_cdf" => ln(stored("cdf"), stored("sf")),
        "ln_sf" => ln(stored("sf"), stored("cdf")),
        _ => stored(key),
    }
}

/// The promised relative error of one reference value.
fn tolerance(record: &Value, key: &str) -> f64 {
    let largest = numbers(record, "parameters").into_iter().fold(0.0, f64::max);
    if record["name"] == "normal" {
        return 1e-15;
    }
    let smallest = reference(record, "cdf").min(reference(record, "sf"));
    match key {
        "ln_pdf" => 1e-14,
        "quantile" | "upper_quantile" => 1e-13,
        _ if smallest >= 1e-10 && largest <= 1e4 => 2e-14,
        _ if smallest >= 1e-30 => 1e-13,
        _ => 5e-13,
    }
}

#[test]
fn distributions_match_references() {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let mut worst: std::collections::BTreeMap<String, (f64, String)> = Default::default();
    let mut failures = Vec::new();
    for record in golden["distributions"].as_array().unwrap() {
        for (key, value) in evaluate(record) {
            let expected = reference(record, key);
            let error = match key {
                "ln_pdf" => (value - expected).abs() / expected.abs().max(1.0),
                _ => relative_error(value, expected),
            };
            let what = format!(
                "{key} of {} {} at {}: {value:e}, not {expected:e}, error {error:.1e}",
                record["name"], record["parameters"], record["x"]
            );
            let entry = worst.entry(format!("{}.{key}", record["name"])).or_default();
            if error > entry.0 || error.is_nan() {
                *entry = (error, what.clone());
            }
            if error.is_nan() || error > tolerance(record, key) {
                failures.push(what);
            }
        }
    }
    for (error, what) in worst.values() {
        println!("{error:.1e}  {what}");
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn special_functions_match_references() {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let mut failures = Vec::new();
    for record in golden["special"].as_array().unwrap() {
        let a = numbers(record, "arguments");
        let value = match record["name"].as_str().unwrap() {
            "digamma" => special::digamma(a[0]),
            "stirling_error" => special::stirling_error(a[0]),
            "ln_beta" => special::ln_beta(a[0], a[1]),
            "erfcx" => special::erfcx(a[0]),
            "ln_gamma_one_plus" => special::ln_gamma_one_plus(a[0]),
            "ln_choose" => special::ln_choose(a[0] as u64, a[1] as u64),
            other => panic!("unknown function {other}"),
        };
        let expected = number(record, "value").unwrap();
        let error = (value - expected).abs();
        if error.is_nan() || error > 1e-14 * expected.abs() + 2e-16 {
            failures.push(format!("{record}: {value:e}, error {error:.1e}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn logistic_functions_survive_extremes() {
    assert_eq!(special::sigmoid(-800.0), 0.0);
    assert_eq!(special::sigmoid(800.0), 1.0);
    assert!(relative_error(special::sigmoid(-700.0), (-700.0_f64).exp()) < 1e-15);
    assert_eq!(special::logit(0.0), None);
    assert_eq!(special::logit(1.0), None);
    assert_eq!(special::logit(f64::NAN), None);
    assert_eq!(special::logit(0.5), Some(0.0));
    for x in [-30.0, -2.0, -1e-9, 1e-9, 0.3, 5.0] {
        let back = special::logit(special::sigmoid(x)).unwrap();
        assert!((back - x).abs() < 1e-13 * (1.0 + x.abs()), "{x} came back as {back}");
    }
    assert_eq!(special::softplus(1000.0), 1000.0);
    assert!(relative_error(special::softplus(-50.0), (-50.0_f64).exp()) < 1e-15);
    assert_eq!(special::log_sum_exp(&[]), f64::NEG_INFINITY);
    assert_eq!(special::log_sum_exp(&[f64::NEG_INFINITY; 2]), f64::NEG_INFINITY);
    let expected = 1000.0 + std::f64::consts::LN_2;
    assert!(relative_error(special::log_sum_exp(&[1000.0, 1000.0]), expected) < 1e-15);
    let mut values = [1000.0, 1000.0 + std::f64::consts::LN_2, f64::NEG_INFINITY];
    special::softmax_in_place(&mut values);
    assert!((values[0] - 1.0 / 3.0).abs() < 1e-13 && values[2] == 0.0);
    special::softmax_in_place(&mut []);
}

#[test]
fn normal_has_its_textbook_quantile() {
    assert!(relative_error(Normal::standard().quantile(0.975), 1.959963984540054) < 3e-16);
    assert!(relative_error(Normal::standard().upper_quantile(0.025), 1.959963984540054) < 3e-16);
    let twice = Normal::new(3.0, 2.0).unwrap();
    assert!(relative_error(twice.upper_quantile(0.025), 3.0 + 2.0 * 1.959963984540054) < 1e-15);
    assert!(relative_error(Normal::standard().ln_sf(100.0), -5005.524208694205) < 1e-14);
}

#[test]
fn logarithms_of_tails_reach_beyond_underflow() {
    let chi = ChiSquared::new(2.0).unwrap();
    assert!(relative_error(chi.ln_sf(4000.0), -2000.0) < 1e-14);
    let t = StudentT::new(1.0).unwrap();
    let expected = -(1e300_f64.ln() + std::f64::consts::PI.ln());
    assert!(relative_error(t.ln_sf(1e300), expected) < 1e-14);
    let binomial = Binomial::new(10_000, 0.5).unwrap();
    assert!(relative_error(binomial.ln_sf(9999), -10_000.0 * std::f64::consts::LN_2) < 1e-13);
}

/// Every method at awkward arguments, for the absence of panics and of stray `NaN`.
fn probe(law: &(impl Continuous + std::fmt::Debug)) {
    let awkward = [f64::NEG_INFINITY, -1e308, -1.0, -0.0, 0.0, 5e-324, 1e-200, 1.0, 1e308];
    for x in awkward.into_iter().chain([f64::INFINITY, 0.3, 1e4, 1e-20]) {
        let (lower, upper) = (law.cdf(x), law.sf(x));
        assert!((0.0..=1.0).contains(&lower), "{law:?} cdf({x}) = {lower}");
        assert!((0.0..=1.0).contains(&upper), "{law:?} sf({x}) = {upper}");
        assert!((lower + upper - 1.0).abs() < 1e-12, "{law:?} tails at {x}: {lower} and {upper}");
        assert!(law.pdf(x) >= 0.0, "{law:?} pdf({x}) = {}", law.pdf(x));
        assert!(!law.ln_pdf(x).is_nan(), "{law:?} ln_pdf({x})");
        assert!(law.ln_cdf(x) <= 0.0 && law.ln_sf(x) <= 0.0, "{law:?} logarithms at {x}");
    }
    for value in [law.pdf(f64::NAN), law.cdf(f64::NAN), law.sf(f64::NAN), law.ln_pdf(f64::NAN)] {
        assert!(value.is_nan());
    }
    for p in [-0.1, 1.1, f64::NAN] {
        assert!(law.quantile(p).is_nan() && law.upper_quantile(p).is_nan(), "{law:?} p = {p}");
    }
    for p in [0.0, 5e-324, 1e-300, 1e-10, 0.25, 0.5, 0.75, 1.0 - f64::EPSILON / 2.0, 1.0] {
        assert!(!law.quantile(p).is_nan(), "{law:?} quantile({p})");
        assert!(!law.upper_quantile(p).is_nan(), "{law:?} upper_quantile({p})");
    }
}

#[test]
fn awkward_arguments_do_not_panic() {
    probe(&Normal::standard());
    probe(&Uniform::new(-1.0, 2.0).unwrap());
    probe(&Exponential::new(0.5).unwrap());
    for size in [1e-300, 1e-8, 0.5, 1.0, 2.0, 30.0, 1e6, 1e12, 1e18, 1e300] {
        probe(&StudentT::new(size).unwrap());
        probe(&ChiSquared::new(size).unwrap());
        for other in [1e-300, 1e-8, 1.0, 40.0, 1e18, 1e300] {
            probe(&Beta::new(size, other).unwrap());
            probe(&FisherF::new(size, other).unwrap());
        }
    }
}

#[test]
fn invalid_parameters_are_refused() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Normal::new(0.0, bad).is_none());
        assert!(StudentT::new(bad).is_none());
        assert!(ChiSquared::new(bad).is_none());
        assert!(FisherF::new(bad, 1.0).is_none() && FisherF::new(1.0, bad).is_none());
        assert!(Beta::new(bad, 1.0).is_none() && Beta::new(1.0, bad).is_none());
        assert!(Gamma::new(bad, 1.0).is_none() && Gamma::new(1.0, bad).is_none());
        assert!(Poisson::new(bad).is_none());
        assert!(Exponential::new(bad).is_none());
    }
    assert!(Normal::new(f64::NAN, 1.0).is_none());
    assert!(Binomial::new(3, 1.5).is_none() && Binomial::new(3, f64::NAN).is_none());
    assert!(Uniform::new(1.0, 1.0).is_none());
    assert!(special::ln_beta(-1.0, 2.0).is_nan());
    assert!(special::regularised_beta_lower(1.0, f64::NAN, 0.5).is_nan());
    assert!(special::digamma(-3.0).is_nan());
    assert!(special::stirling_error(-1e18).is_nan());
    assert!(special::ln_gamma_ratio(-1e18, 1.0).is_nan());
}

#[test]
fn discrete_ends_are_exact() {
    let certain = Binomial::new(7, 1.0).unwrap();
    assert_eq!((certain.pmf(7), certain.cdf(6), certain.quantile(0.5)), (1.0, 0.0, Some(7)));
    let none = Binomial::new(0, 0.4).unwrap();
    assert_eq!(
        (none.pmf(0), none.cdf(0), none.sf(0), none.quantile(1.0)),
        (1.0, 1.0, 0.0, Some(0))
    );
    let coin = Binomial::new(3, 0.5).unwrap();
    assert_eq!(coin.quantile(0.0), Some(0));
    assert_eq!(coin.upper_quantile(0.0), Some(3));
    assert_eq!(coin.pmf(4), 0.0);
    let poisson = Poisson::new(2.0).unwrap();
    assert_eq!((poisson.quantile(1.0), poisson.quantile(-1.0)), (None, None));
    assert_eq!(poisson.quantile(0.0), Some(0));
    assert!(relative_error(poisson.pmf(0), (-2.0_f64).exp()) < 1e-15);
}

/// Mean and variance of many draws against the moments, at five standard errors.
fn check_draws(name: &str, draws: &[f64], law: &impl Moments) {
    let (mean, variance) = (law.mean().unwrap(), law.variance().unwrap());
    let count = draws.len() as f64;
    let found = summary::mean(draws, None).unwrap();
    assert!((found - mean).abs() < 5.0 * (variance / count).sqrt(), "{name} mean {found}");
    let found = summary::variance(draws, None, 1.0).unwrap();
    assert!((found / variance - 1.0).abs() < 0.1, "{name} variance {found}");
}

/// Moments, and the empirical distribution function at three quartiles.
fn check_continuous_draws(name: &str, law: &impl Continuous) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let draws: Vec<f64> = (0..20_000).map(|_| law.sample(&mut rng)).collect();
    check_draws(name, &draws, law);
    for p in [0.25, 0.5, 0.9] {
        let limit = law.quantile(p);
        let share = draws.iter().filter(|draw| **draw <= limit).count() as f64 / 20_000.0;
        assert!((share - p).abs() < 0.016, "{name}: {share} below the quantile of {p}");
    }
}

fn check_discrete_draws(name: &str, law: &impl Discrete) {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let draws: Vec<f64> = (0..20_000).map(|_| law.sample(&mut rng) as f64).collect();
    check_draws(name, &draws, law);
    let middle = law.mean().unwrap().floor();
    let share = draws.iter().filter(|draw| **draw <= middle).count() as f64 / 20_000.0;
    assert!((share - law.cdf(middle as u64)).abs() < 0.018, "{name}: {share} up to {middle}");
}

#[test]
fn draws_follow_their_distributions() {
    check_continuous_draws("normal", &Normal::new(1.0, 2.0).unwrap());
    check_continuous_draws("uniform", &Uniform::new(-1.0, 4.0).unwrap());
    check_continuous_draws("exponential", &Exponential::new(3.0).unwrap());
    check_continuous_draws("gamma below one", &Gamma::new(0.4, 2.0).unwrap());
    check_continuous_draws("gamma", &Gamma::new(5.5, 0.5).unwrap());
    check_continuous_draws("chi-squared", &ChiSquared::new(3.0).unwrap());
    check_continuous_draws("t", &StudentT::new(12.0).unwrap());
    check_continuous_draws("F", &FisherF::new(5.0, 30.0).unwrap());
    check_continuous_draws("beta", &Beta::new(0.7, 2.0).unwrap());
    check_discrete_draws("binomial", &Binomial::new(10, 0.3).unwrap());
    check_discrete_draws("large binomial", &Binomial::new(100_001, 0.03).unwrap());
    check_discrete_draws("poisson", &Poisson::new(3.5).unwrap());
    check_discrete_draws("large poisson", &Poisson::new(1234.5).unwrap());
}

#[test]
fn filled_draws_are_normal_and_partners_are_independent() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut draws = vec![0.0; 20_001];
    sample::fill_standard_normal(&mut rng, &mut draws);
    check_draws("filled", &draws, &Normal::new(0.0, 1.0).unwrap());
    let fourth = draws.iter().map(|z| z.powi(4)).sum::<f64>() / draws.len() as f64;
    assert!((fourth - 3.0).abs() < 0.35, "{fourth}");
    let product = |pair: &[f64]| pair[0] * pair[1];
    let squares = |pair: &[f64]| (pair[0].powi(2) - 1.0) * (pair[1].powi(2) - 1.0);
    for (what, bound) in [
        (draws.chunks_exact(2).map(product).sum::<f64>(), 5.0),
        (draws.chunks_exact(2).map(squares).sum(), 10.0),
    ] {
        assert!((what / 100.0).abs() < bound, "{what}");
    }
}

#[test]
fn binomial_draws_have_the_moments_of_their_distribution() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(17);
    for (count, of, all) in [(10, 1, 2), (1000, 1, 3), (77, 9, 10), (5000, 1, 700)] {
        let chance = of as f64 / all as f64;
        let (mean, variance) = (count as f64 * chance, count as f64 * chance * (1.0 - chance));
        let draws: Vec<f64> =
            (0..20_000).map(|_| sample::binomial(&mut rng, count, of, all) as f64).collect();
        let found = draws.iter().sum::<f64>() / draws.len() as f64;
        let spread = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        assert!((found - mean).abs() < 4.0 * (variance / 20_000.0).sqrt(), "{found} for {mean}");
        assert!((spread / variance - 1.0).abs() < 0.06, "{spread} for {variance}");
    }
    assert_eq!(sample::binomial(&mut rng, 9, 0, 5), 0);
    assert_eq!(sample::binomial(&mut rng, 9, 5, 5), 9);
}

#[test]
fn samplers_are_unbiased_and_bounded() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    assert_eq!((sample::below(&mut rng, 0), sample::below(&mut rng, 1)), (0, 0));
    let mut counts = [0_u32; 6];
    for _ in 0..60_000 {
        counts[sample::below(&mut rng, 6) as usize] += 1;
    }
    assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
    let mut order: Vec<usize> = (0..50).collect();
    sample::shuffle(&mut rng, &mut order);
    assert_ne!(order, (0..50).collect::<Vec<_>>());
    order.sort_unstable();
    assert_eq!(order, (0..50).collect::<Vec<_>>());
    let mut chosen = sample::choose(&mut rng, 20, 8);
    chosen.sort_unstable();
    chosen.dedup();
    assert!(chosen.len() == 8 && chosen.iter().all(|index| *index < 20));
    assert_eq!(sample::choose(&mut rng, 3, 9).len(), 3);
    let drawn: usize = (0..10_000)
        .filter(|_| sample::weighted_index(&mut rng, &[1.0, 0.0, 3.0]) == Some(2))
        .count();
    assert!((7_250..7_750).contains(&drawn), "{drawn}");
    for bad in [&[][..], &[0.0], &[1.0, -1.0], &[f64::NAN, 1.0], &[f64::INFINITY]] {
        assert_eq!(sample::weighted_index(&mut rng, bad), None);
    }
    assert!((0..1000).all(|_| (0.0..1.0).contains(&sample::uniform(&mut rng))));
}

/// The shared fixtures `sample-statistics` and `covariance-two-forms`.
#[test]
fn summaries_match_the_fixtures() {
    let x = [2.0, 4.0, 4.0, 5.0, 10.0];
    assert_eq!(summary::mean(&x, None), Some(5.0));
    assert_eq!(summary::median(&x), Some(4.0));
    assert_eq!(summary::variance(&x, None, 1.0), Some(9.0));
    assert_eq!(summary::sd(&x, None, 1.0), Some(3.0));
    assert_eq!(summary::range(&x), Some(8.0));
    assert!((summary::geometric_mean(&x, None).unwrap() - 4.37344829577).abs() < 1e-10);
    let (x, y) = ([1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 4.0, 5.0, 4.0, 5.0]);
    assert_eq!(summary::covariance(&x, &y, None, 1.0), Some(1.5));
    assert_eq!(summary::variance(&x, None, 1.0), Some(2.5));
    assert_eq!(summary::variance(&y, None, 1.0), Some(1.5));
    assert!((summary::correlation(&x, &y, None).unwrap() - 0.774596669241).abs() < 1e-11);
}

#[test]
fn weights_count_repetitions() {
    let (x, y, w) = ([1.0, 4.0, 2.5], [0.5, -1.0, 7.0], [2.0, 1.0, 3.0]);
    let (many_x, many_y) = ([1.0, 1.0, 4.0, 2.5, 2.5, 2.5], [0.5, 0.5, -1.0, 7.0, 7.0, 7.0]);
    let close = |left: Option<f64>, right: Option<f64>| {
        assert!(relative_error(left.unwrap(), right.unwrap()) < 1e-14, "{left:?}, {right:?}");
    };
    close(summary::mean(&x, Some(&w)), summary::mean(&many_x, None));
    close(summary::variance(&x, Some(&w), 1.0), summary::variance(&many_x, None, 1.0));
    close(summary::correlation(&x, &y, Some(&w)), summary::correlation(&many_x, &many_y, None));
    close(summary::geometric_mean(&x, Some(&w)), summary::geometric_mean(&many_x, None));
    assert_eq!(summary::weighted_quantile(&x, &w, 0.5), summary::median(&many_x));
    assert_eq!(summary::weighted_quantile(&x, &[1.0; 3], 0.5), Some(2.5));
    assert_eq!(summary::weighted_quantile(&[1.0, 2.0], &[1.0; 2], 0.5), Some(1.5));
    assert_eq!(summary::weighted_quantile(&x, &w, 0.0), Some(1.0));
    assert_eq!(summary::weighted_quantile(&x, &w, 1.0), Some(4.0));
}

#[test]
fn weighted_quantiles_depend_on_shares_of_the_weight_alone() {
    let values: Vec<f64> = (1..=101).map(f64::from).collect();
    for weight in [1.0, 1.0 / 101.0, 1e-9, 7.3e11] {
        let median = summary::weighted_quantile(&values, &[weight; 101], 0.5);
        assert_eq!(median, Some(51.0), "{weight}");
    }
    let (x, w) = ([3.0, 1.0, 7.0, 2.0, 5.0], [2.0, 1.0, 3.0, 0.0, 4.0]);
    let repeated = [3.0, 3.0, 1.0, 7.0, 7.0, 7.0, 5.0, 5.0, 5.0, 5.0];
    let places: Vec<f64> = (0..=20).map(|k| f64::from(k) / 20.0).collect();
    let whole = summary::averaged_quantiles(&repeated, None, &places).unwrap();
    for scale in [1.0, 7.3, 0.001, 1.0 / 3.0] {
        let scaled = w.map(|weight| weight * scale);
        assert_eq!(summary::averaged_quantiles(&x, Some(&scaled), &places).unwrap(), whole);
    }
    let ten: Vec<f64> = (1..=10).map(f64::from).collect();
    let found = summary::averaged_quantiles(&ten, None, &[0.25, 0.5, 0.75]);
    assert_eq!(found, Some(vec![3.0, 5.5, 8.0]));
    assert_eq!(summary::averaged_quantiles(&ten, None, &[1.5]), None);
}

#[test]
fn summaries_that_do_not_exist_are_none() {
    assert_eq!(summary::mean(&[], None), None);
    assert_eq!(summary::mean(&[1.0, f64::NAN], None), None);
    assert_eq!(summary::mean(&[1.0], Some(&[0.0])), None);
    assert_eq!(summary::mean(&[1.0], Some(&[1.0, 2.0])), None);
    assert_eq!(summary::mean(&[f64::MAX, f64::MAX], None), None);
    assert_eq!(summary::variance(&[1.0], None, 1.0), None);
    assert_eq!(summary::variance(&[1.0], None, 0.0), Some(0.0));
    assert_eq!(summary::correlation(&[0.1; 7], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], None), None);
    assert_eq!(summary::covariance(&[1.0], &[1.0, 2.0], None, 0.0), None);
    assert_eq!(summary::geometric_mean(&[-1.0, 2.0], None), None);
    assert_eq!(summary::geometric_mean(&[0.0, 2.0], None), Some(0.0));
    assert_eq!(summary::quantile(&[1.0, 2.0], 1.5), None);
    assert_eq!(summary::quantiles(&[4.0, 1.0, 3.0, 2.0], &[0.25, 1.0]), Some(vec![1.75, 4.0]));
    assert_eq!(summary::range(&[]), None);
    assert_eq!(summary::sd(&[0.1; 7], None, 1.0), Some(0.0));
    let shifted: Vec<f64> = [4.0, 7.0, 13.0, 16.0].iter().map(|x| x + 1e9).collect();
    assert_eq!(summary::variance(&shifted, None, 1.0), Some(30.0));
    assert_eq!(summary::sum(&[1e100, 1.0, -1e100]), Some(1.0));
}

#[test]
fn selected_quantiles_are_those_of_sorted_values_and_of_weights_of_one() {
    for count in [1_usize, 2, 3, 10, 1000] {
        let values: Vec<f64> = (0..count).map(|i| ((i * 7919) % 613) as f64 / 8.0 - 20.0).collect();
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let places = [0.9, 0.0, 0.1, 0.5, 0.25, 0.251, 1.0, 0.5];
        let expected: Vec<f64> =
            places.iter().map(|p| summary::sorted_quantile(&sorted, *p).unwrap()).collect();
        assert_eq!(summary::quantiles(&values, &places).unwrap(), expected);
        let ones = vec![1.0; count];
        assert_eq!(
            summary::averaged_quantiles(&values, None, &places),
            summary::averaged_quantiles(&values, Some(&ones), &places)
        );
    }
    assert_eq!(summary::averaged_quantiles(&[1.0, 2.0], None, &[1.5]), None);
}
