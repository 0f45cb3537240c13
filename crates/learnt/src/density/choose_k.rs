//! How many clusters, asked of four judges at once: elbow, gap statistic, silhouettes and BIC.
//!
//! Elbow, gaps and silhouettes are those of k-means; BIC = -2 ln L + p ln n is that of a normal mixture
//! with full covariances (AIC = -2 ln L + 2 p stands beside it and has no vote: it likes many components), ln L its log-likelihood and p its free parameters. The suggestion is the
//! number that most of them name, the lowest of equals. The judges need not agree, and that is an
//! answer too. Numbers of clusters stay below that of distinct rows.

use super::{GaussianMixture, MixtureCovariance};
use crate::cluster::{Elbow, GapRule, GapStatistic, RowsToCluster, SilhouetteCurve, distinct_rows};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::prelude::*;

/// Number of clusters by elbow, gap statistic, silhouettes and BIC in one answer.
#[derive(Params, Clone, Debug)]
pub struct ChooseK {
    /// Largest number of clusters.
    #[param(default = 8, range = 2..=1000)]
    pub k_max: usize,
    /// Number of uniform tables of the gap statistic.
    #[param(default = 20, range = 2..=100_000)]
    pub n_refs: usize,
    /// How the gap statistic chooses.
    #[param(default = GapRule::First)]
    pub gap_rule: GapRule,
    /// Form of the covariances of the mixtures whose BIC is compared.
    #[param(default = MixtureCovariance::Full)]
    pub covariance_type: MixtureCovariance,
}

/// What the four judges say.
#[derive(Output, Clone, Debug, PartialEq)]
pub struct NumberOfClusters {
    /// The number that most judges name, the lowest of equals.
    pub value: u64,
    /// The number at the elbow.
    pub elbow: u64,
    /// The number by the gap statistic.
    pub gap_choice: u64,
    /// The number of the largest mean silhouette.
    pub silhouette_choice: u64,
    /// The number of the least BIC.
    pub bic_choice: u64,
    /// The number of the least AIC.
    pub aic_choice: u64,
    /// Numbers of clusters.
    pub k: Vec<u64>,
    /// Sum of squared distances from the centres.
    pub inertia: Vec<f64>,
    /// Gap of each number.
    pub gap: Vec<f64>,
    /// Error of the gap.
    pub gap_error: Vec<f64>,
    /// Mean silhouette; none for one cluster.
    pub silhouette: Vec<f64>,
    /// BIC of the mixture; none where it could not be fitted.
    pub bic: Vec<f64>,
    /// AIC of the mixture; none where it could not be fitted.
    pub aic: Vec<f64>,
}

impl Function for ChooseK {
    type Inputs<'a> = RowsToCluster<'a>;
    type Output = NumberOfClusters;
    const ABOUT: &'static Callable = &Callable::new("cluster.choose_k", FunctionKind::Analysis)
        .randomness()
        .threads()
        .reference("Tibshirani, Walther and Hastie (2001); Rousseeuw (1987); Schwarz (1978)");

    fn call(&self, given: RowsToCluster, run: &Context) -> Result<NumberOfClusters> {
        let distinct = distinct_rows(&given.x.to_matrix());
        if distinct < 3 {
            let message =
                format!("{distinct} distinct rows have no numbers of clusters to compare");
            return Err(Error::new(Code::Undefined, message));
        }
        let k_max = self.k_max.min(distinct - 1);
        let elbow = Elbow { k_max }.call(given, run)?;
        let gaps = GapStatistic {
            k_max,
            n_refs: self.n_refs,
            rule: self.gap_rule,
            ..GapStatistic::default()
        }
        .call(given, run)?;
        let scores = SilhouetteCurve { k_max }.call(given, run)?;
        let criteria: Vec<(f64, f64)> = elbow
            .k
            .iter()
            .map(|&k| self.criteria(given.x, k as usize, run))
            .collect::<Result<_>>()?;
        let (aic, bic): (Vec<f64>, Vec<f64>) = criteria.into_iter().unzip();
        let score = |k: &u64| {
            scores.k.iter().position(|known| known == k).map_or(f64::NAN, |i| scores.score[i])
        };
        let silhouette = elbow.k.iter().map(score).collect();
        let least = first_least(&bic).ok_or_else(|| {
            Error::new(Code::Undefined, "no mixture could be fitted to these rows")
                .hint("another covariance_type has fewer parameters")
        })?;
        let choices = [elbow.value, gaps.value, scores.value, elbow.k[least]];
        Ok(NumberOfClusters {
            value: most_named(&choices),
            elbow: choices[0],
            gap_choice: choices[1],
            silhouette_choice: choices[2],
            bic_choice: choices[3],
            aic_choice: elbow.k[first_least(&aic).unwrap_or(least)],
            k: elbow.k,
            inertia: elbow.inertia,
            gap: gaps.gap,
            gap_error: gaps.error,
            silhouette,
            bic,
            aic,
        })
    }

    fn chart(&self, found: &NumberOfClusters) -> Option<Chart> {
        let k: Vec<f64> = found.k.iter().map(|&k| k as f64).collect();
        let panel = |title: &str, values: &[f64], choice: u64| {
            Panel::new("clusters", title)
                .title(format!("{title}: {choice}"))
                .size(260.0, 190.0)
                .mark(Mark::vertical("choice", vec![choice as f64]).dashed().unnamed())
                .mark(Mark::line(title, k.clone(), values.to_vec()).unnamed())
                .mark(Mark::points(title, k.clone(), values.to_vec()).unnamed())
        };
        let low = found.gap.iter().zip(&found.gap_error).map(|(gap, error)| gap - error).collect();
        let high = found.gap.iter().zip(&found.gap_error).map(|(gap, error)| gap + error).collect();
        let gap = panel("gap", &found.gap, found.gap_choice)
            .mark(Mark::band("gap", k.clone(), low, high).unnamed());
        let text = format!("Four judges of the number of clusters; most name {}.", found.value);
        let mut chart = Chart::new("Number of clusters", text)
            .panel(panel("sum of squares", &found.inertia, found.elbow))
            .panel(gap)
            .panel(panel("silhouette", &found.silhouette, found.silhouette_choice))
            .panel(panel("BIC", &found.bic, found.bic_choice));
        chart.columns = 2;
        Some(chart)
    }
}

impl ChooseK {
    /// AIC and BIC of a mixture of k components; not numbers where there is none.
    fn criteria(&self, x: MatRef, k: usize, run: &Context) -> Result<(f64, f64)> {
        let covariance_type = self.covariance_type;
        let learner =
            GaussianMixture { n_components: k, covariance_type, ..GaussianMixture::default() };
        let data = OwnedDataset::unsupervised(x.to_matrix());
        let model = match learner.fit_in(&data.view(), &run.untraced()) {
            Ok(model) => model,
            Err(error) if error.code() == Code::Cancelled => return Err(error),
            Err(_) => return Ok((f64::NAN, f64::NAN)),
        };
        let log_likelihood: f64 = model.log_density_in(&data.x.frame(), run)?.iter().sum();
        let count = model.n_parameters() as f64;
        let penalty = (x.nrows() as f64).ln();
        Ok((2.0 * count - 2.0 * log_likelihood, penalty * count - 2.0 * log_likelihood))
    }
}

fn first_least(values: &[f64]) -> Option<usize> {
    let known = (0..values.len()).filter(|&i| values[i].is_finite());
    known.reduce(|best, i| if values[i] < values[best] { i } else { best })
}

/// The most frequent number, the lowest of equals.
fn most_named(choices: &[u64]) -> u64 {
    let votes = |k: u64| choices.iter().filter(|&&choice| choice == k).count();
    let mut sorted = choices.to_vec();
    sorted.sort_unstable();
    sorted.into_iter().fold(0, |best, k| if votes(k) > votes(best) { k } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::stats::sample::standard_normal;

    fn groups(centres: &[[f64; 2]], each: usize) -> Matrix {
        let mut rng = Context::default().rng(7);
        Matrix::from_fn(each * centres.len(), 2, |i, j| {
            centres[i % centres.len()][j] + standard_normal(&mut rng)
        })
    }

    #[test]
    fn all_judges_name_the_number_of_groups_far_apart() {
        let x = groups(&[[0.0, 0.0], [12.0, 0.0], [6.0, 11.0]], 60);
        let found = ChooseK::default().compute(RowsToCluster { x: x.view() }).unwrap();
        let choices =
            [found.elbow, found.gap_choice, found.silhouette_choice, found.bic_choice, found.value];
        assert_eq!(choices, [3; 5]);
        assert!(
            found.silhouette[0].is_nan() && found.silhouette[1..].iter().all(|s| s.is_finite())
        );
        let chart = ChooseK::default().chart(&found).unwrap();
        assert_eq!(chart.panels.len(), 4);
    }

    #[test]
    fn each_curve_is_that_of_its_own_function() {
        let x = groups(&[[0.0, 0.0], [5.0, 5.0]], 40);
        let given = RowsToCluster { x: x.view() };
        let found = ChooseK { k_max: 5, ..Default::default() }.compute(given).unwrap();
        assert_eq!(found.inertia, Elbow { k_max: 5 }.compute(given).unwrap().inertia);
        let gaps = GapStatistic { k_max: 5, ..Default::default() }.compute(given).unwrap();
        assert_eq!((&found.gap, &found.gap_error), (&gaps.gap, &gaps.error));
        let curve = SilhouetteCurve { k_max: 5 }.compute(given).unwrap();
        assert_eq!(found.silhouette[1..], curve.score);
        // One component: the BIC of a normal law, by hand.
        let n = 80.0_f64;
        let mean: Vec<f64> = (0..2).map(|j| x.column(j).iter().sum::<f64>() / n).collect();
        let mut s = [[0.0; 2]; 2];
        for row in x.rows() {
            for a in 0..2 {
                for b in 0..2 {
                    s[a][b] += (row[a] - mean[a]) * (row[b] - mean[b]) / n;
                }
            }
        }
        let determinant = (s[0][0] + 1e-6) * (s[1][1] + 1e-6) - s[0][1] * s[1][0];
        let ln_l = -n / 2.0 * (2.0 * std::f64::consts::TAU.ln() + determinant.ln() + 2.0);
        let expected = 5.0 * n.ln() - 2.0 * ln_l;
        assert!((found.bic[0] - expected).abs() < 1e-3, "{} {expected}", found.bic[0]);
        let expected = 2.0 * 5.0 - 2.0 * ln_l;
        assert!((found.aic[0] - expected).abs() < 1e-3, "{} {expected}", found.aic[0]);
    }

    #[test]
    fn numbers_stay_below_that_of_distinct_rows() {
        let x = Matrix::from_fn(40, 1, |i, _| (i % 4) as f64 * 10.0);
        let found = ChooseK::default().compute(RowsToCluster { x: x.view() }).unwrap();
        assert_eq!(found.k, [1, 2, 3]);
        let two = Matrix::from_fn(40, 1, |i, _| (i % 2) as f64);
        let error = ChooseK::default().compute(RowsToCluster { x: two.view() }).unwrap_err();
        assert_eq!(error.code(), Code::Undefined);
    }
}
