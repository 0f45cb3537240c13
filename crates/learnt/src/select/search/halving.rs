//! Successive halving: all candidates with few resources, the best share of them with more, and so on.
//!
//! With factor f, c candidates, least and most resources m and M: 1 + floor(log_f c) rungs are needed
//! to be left with fewer than f candidates, 1 + floor(log_f(M/m)) are possible. Rung i has m f^i of
//! the resource, and ceil(c / f^i) candidates. `exhaust` raises m so that the last rung comes as near to
//! M as it can. Resources are rows, of which each larger part holds the smaller ones and all have the
//! shares of the classes, or a parameter such as the number of trees.
//!
//! Reference: Jamieson and Talwalkar (2016), Non-stochastic best arm identification and hyperparameter
//! optimization.

use crate::select::Split;
use learnt_core::prelude::*;
use learnt_core::stats::sample;
use std::collections::BTreeMap;

/// How candidates are halved.
#[derive(Clone, Debug, PartialEq)]
pub struct Halving {
    /// One in so many candidates goes on.
    pub factor: f64,
    /// Resources of the first rung; none for the least that rows allow.
    pub least: Option<u64>,
    /// Resources of the last rung at most.
    pub most: u64,
    /// Raise the first rung so that the last uses as much as it can.
    pub exhaust: bool,
    /// Repeat the first rung until few enough candidates are left.
    pub aggressive: bool,
}

/// One rung.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rung {
    /// How many candidates it has.
    pub candidates: usize,
    /// What each of them gets.
    pub resource: u64,
}

impl Halving {
    /// The rungs for this many candidates; `smallest` is the least that makes sense.
    pub fn rungs(&self, candidates: usize, smallest: u64) -> Result<Vec<Rung>> {
        if !(self.factor > 1.0 && self.factor.is_finite()) {
            return Err(Error::parameter("factor", "a number above 1", self.factor));
        }
        let mut least = self.least.unwrap_or(smallest).max(1);
        if least > self.most {
            let got = format!("{least}, and there are {}", self.most);
            return Err(Error::parameter("min_resources", "at most max_resources", got));
        }
        let required = 1 + whole_log(candidates as f64, self.factor);
        if self.exhaust {
            let last = self.factor.powi(required as i32 - 1);
            least = least.max((self.most as f64 / last) as u64);
        }
        let possible = 1 + whole_log((self.most / least) as f64, self.factor);
        let count = if self.aggressive { required } else { required.min(possible) };
        let mut left = candidates;
        let mut rungs = Vec::with_capacity(count);
        for rung in 0..count {
            let power = match self.aggressive {
                true => (rung + possible).saturating_sub(required),
                false => rung,
            };
            let resource = (self.factor.powi(power as i32) * least as f64) as u64;
            rungs.push(Rung { candidates: left, resource: resource.min(self.most) });
            left = (left as f64 / self.factor).ceil() as usize;
        }
        Ok(rungs)
    }
}

/// The largest whole power of the factor that is not above x.
fn whole_log(x: f64, factor: f64) -> usize {
    let mut power = 0;
    while factor.powi(power + 1) <= x * (1.0 + 1e-12) {
        power += 1;
    }
    power as usize
}

/// The least rows that make sense: two a fold, and of each class.
pub fn smallest_rows(data: &Dataset, folds: usize) -> u64 {
    let classes = match data.y {
        Some(Target::Class { classes, .. }) => classes.len(),
        _ => 1,
    };
    (folds * 2 * classes) as u64
}

/// Splits whose training parts have this share of the rows; test parts stay whole.
pub fn thinned(splits: &[Split], data: &Dataset, share: f64, run: &Context) -> Vec<Split> {
    let one = |(k, split): (usize, &Split)| {
        let mut order = spread(&split.train, data, &run.child(k as u64));
        order.truncate(((share * split.train.len() as f64) as usize).max(1));
        order.sort_unstable();
        Split { train: order, test: split.test.clone() }
    };
    match share < 1.0 {
        true => splits.iter().enumerate().map(one).collect(),
        false => splits.to_vec(),
    }
}

/// The rows in random order, in which every beginning has the shares of the classes.
fn spread(rows: &[usize], data: &Dataset, run: &Context) -> Vec<usize> {
    let mut classes: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for &row in rows {
        let class = match data.y {
            Some(Target::Class { codes, .. }) => codes[row],
            _ => 0,
        };
        classes.entry(class).or_default().push(row);
    }
    let mut rng = run.rng(THIN);
    let mut ranked: Vec<(f64, u32, usize)> = Vec::with_capacity(rows.len());
    for (class, mut members) in classes {
        sample::shuffle(&mut rng, &mut members);
        let size = members.len() as f64;
        ranked.extend(
            members.into_iter().enumerate().map(|(i, row)| ((i as f64 + 0.5) / size, class, row)),
        );
    }
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    ranked.into_iter().map(|(_, _, row)| row).collect()
}

/// The stream of random numbers that parts of training rows use.
const THIN: u64 = 0x0074_6869_6e21;

#[cfg(test)]
mod tests {
    use super::*;

    fn halving(least: Option<u64>, most: u64, exhaust: bool, aggressive: bool) -> Halving {
        Halving { factor: 3.0, least, most, exhaust, aggressive }
    }

    #[test]
    fn rungs_are_those_of_scikit_learn() {
        let pairs = |rungs: Vec<Rung>| -> Vec<(usize, u64)> {
            rungs.iter().map(|rung| (rung.candidates, rung.resource)).collect()
        };
        // HalvingGridSearchCV of 18 candidates on 1000 rows, factor 3.
        let exhaust = halving(None, 1000, true, false).rungs(18, 10).unwrap();
        assert_eq!(pairs(exhaust), [(18, 111), (6, 333), (2, 999)]);
        let small = halving(Some(20), 1000, false, false).rungs(18, 10).unwrap();
        assert_eq!(pairs(small), [(18, 20), (6, 60), (2, 180)]);
        let few = halving(Some(500), 1000, false, false).rungs(18, 10).unwrap();
        assert_eq!(pairs(few), [(18, 500)]);
        let aggressive = halving(Some(300), 1000, false, true).rungs(18, 10).unwrap();
        assert_eq!(pairs(aggressive), [(18, 300), (6, 300), (2, 900)]);
        assert!(halving(Some(2000), 1000, false, false).rungs(3, 10).is_err());
    }

    #[test]
    fn larger_parts_hold_smaller_ones_and_all_classes() {
        let labels: Vec<Label> = (0..200).map(|i| Label::Int(i64::from(i % 10 == 0))).collect();
        let data = OwnedDataset::classification(Matrix::zeros(200, 1), &labels);
        let split = Split { train: (0..150).collect(), test: (150..200).collect() };
        let part = |share| {
            thinned(std::slice::from_ref(&split), &data.view(), share, &Context::default())
                .remove(0)
        };
        let (small, large) = (part(0.2), part(0.6));
        assert_eq!((small.train.len(), large.train.len()), (30, 90));
        assert!(small.train.iter().all(|row| large.train.contains(row)));
        assert_eq!(small.train.iter().filter(|&&row| row % 10 == 0).count(), 3);
        assert_eq!(part(1.0), split);
    }
}
