//! Search for good parameters: settings are cross-validated on the same splits, and the best is chosen.
//!
//! Grids, random draws, successive halving and Parzen estimators propose settings; one engine fits them
//! ([`Trials`]): rows of a split are gathered once for all settings, preparations that settings share are
//! fitted once, also the first steps of pipelines, and threads are divided over splits and settings. A
//! setting that fails keeps its row with the reason. The work of a search is counted in fits of whole
//! training parts: a fit to a tenth of the rows is a tenth.
//!
//! The choice is the best mean of the first metric, the first of equals; or, by the rule of one standard
//! error, the simplest setting within one standard error of it, where values are listed from the simple end
//! to the complex one. Nested cross-validation repeats the whole search on the training part of each
//! outer split and scores its choice on the outer test rows, which the search never saw.
//!
//! References: Bergstra and Bengio (2012), Random search for hyper-parameter optimization; Varma and
//! Simon (2006), Bias in error estimation when using cross-validation for model selection.

mod each;
mod halving;
mod journal;
mod parzen;
mod report;
mod space;

pub use each::Each;
pub use halving::{Halving, Rung, smallest_rows, thinned};
pub use journal::Journal;
pub use parzen::suggest;
pub use space::{Domain, Setting, Space};

use super::cross_validate::{CrossValidation, Entrant, Fold, Ledger, Manner, Nobody, Trials};
use super::folds::{Split, Splitter};
use crate::metrics::Metric;
use learnt_core::context::Progress;
use learnt_core::function::Direction;
use learnt_core::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

/// How settings are proposed.
#[derive(Clone, Debug, PartialEq)]
pub enum Method {
    /// Every setting of a grid.
    Grid,
    /// This many settings at random.
    Random(usize),
    /// This many settings by Parzen estimators.
    Model(usize),
    /// Successive halving of the grid, or of this many settings at random.
    Halving {
        /// How many settings at random; none for the whole grid.
        draws: Option<usize>,
        /// The parameter that grows from rung to rung; rows if none.
        resource: Option<String>,
        /// The rungs.
        halving: Halving,
    },
}

/// What is searched, and how.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    /// The learner whose parameters are searched.
    pub learner: &'a dyn AnyEstimator,
    /// What is fitted in front of it on the training rows of each split.
    pub preparation: Option<&'a dyn AnyEstimator>,
    /// The space.
    pub space: &'a Space,
    /// How settings are proposed.
    pub method: Method,
    /// Work at most, in fits of whole training parts.
    pub budget: Option<f64>,
    /// Choose the simplest setting within one standard error of the best.
    pub one_standard_error: bool,
}

/// One setting, cross-validated.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The values of the parameters.
    pub setting: Setting,
    /// The rung of successive halving, from 0.
    pub rung: usize,
    /// What it was given there: rows of the whole table, or the value of the parameter.
    pub resource: Option<u64>,
    /// The folds, or why the learner could not start.
    pub result: Result<CrossValidation>,
}

impl Tried {
    /// The mean of the m-th metric, if every fold has a score.
    pub fn mean(&self, m: usize) -> Option<f64> {
        self.result.as_ref().ok()?.mean(m)
    }

    /// The standard error of that mean.
    pub fn standard_error(&self, m: usize) -> Option<f64> {
        self.result.as_ref().ok()?.standard_error(m)
    }

    /// Why there is no mean of the first metric: in how many folds, and the first reason.
    pub fn failure(&self) -> Option<(usize, &Error)> {
        match &self.result {
            Err(error) => Some((0, error)),
            Ok(cv) => cv.failed().or_else(|| cv.unscored(0)),
        }
    }
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Found {
    /// What was measured; the first metric decides.
    pub metrics: Vec<&'static Metric>,
    /// The space that was searched.
    pub space: Space,
    /// Every setting in the order in which it was tried; of successive halving once a rung.
    pub tried: Vec<Tried>,
    /// The place of the chosen setting.
    pub best: Option<usize>,
    /// The place of the setting with the best mean: another one by the rule of one standard error.
    pub top: Option<usize>,
    /// Work done, in fits of whole training parts.
    pub work: f64,
    /// Settings that were left out because the budget was spent.
    pub left_out: usize,
    /// The estimate of the whole search by nested cross-validation.
    pub nested: Option<Nested>,
}

/// Nested cross-validation: each outer split with the choice made on its training rows.
#[derive(Clone, Debug)]
pub struct Nested {
    /// What was chosen in each outer split.
    pub settings: Vec<Option<Setting>>,
    /// The scores of the choices on the outer test rows.
    pub scores: CrossValidation,
}

impl Found {
    /// Gives parameters other names, wherever they are shown.
    pub fn rename(&mut self, name: impl Fn(&str) -> String) {
        self.space.domains.iter_mut().for_each(|(own, _)| *own = name(own));
        let tried = self.tried.iter_mut().map(|tried| &mut tried.setting);
        let nested = self.nested.iter_mut().flat_map(|nested| nested.settings.iter_mut().flatten());
        for setting in tried.chain(nested) {
            setting.iter_mut().for_each(|(own, _)| *own = name(own));
        }
    }
}

impl Plan<'_> {
    /// What a search on these data is of, for its journal.
    pub fn identity(
        &self,
        data: &Dataset,
        splits: &[Split],
        metrics: &[&'static Metric],
        run: &Context,
    ) -> String {
        journal::identity(self.learner, self.preparation, data, splits, metrics, run)
    }

    /// The learner with a setting.
    pub fn with(&self, setting: &Setting) -> Result<Box<dyn AnyEstimator>> {
        let mut learner = self.learner.clone_any();
        for (name, value) in setting {
            learner.set(name, value)?;
        }
        learner.check().map_err(|error| error.within(learner.about().name()))?;
        Ok(learner)
    }

    /// Searches.
    pub fn run(
        &self,
        data: &Dataset,
        splits: &[Split],
        metrics: &[&'static Metric],
        journal: Option<&Journal>,
        run: &Context,
    ) -> Result<Found> {
        self.search(data, splits, metrics, Kept { journal, part: String::new() }, run)
    }

    /// Searches, and estimates the error of the whole search by nested cross-validation: `inner` splits the
    /// training rows of each outer split.
    pub fn run_nested(
        &self,
        data: &Dataset,
        (outer, inner): (&[Split], &Splitter),
        metrics: &[&'static Metric],
        journal: Option<&Journal>,
        run: &Context,
    ) -> Result<Nested> {
        let mut settings = Vec::with_capacity(outer.len());
        let mut folds = Vec::with_capacity(outer.len());
        for (k, split) in outer.iter().enumerate() {
            let child = run.child(k as u64).with_threads(run.threads());
            let train = data.gather(&split.train);
            let inside: Vec<Split> = inner.splits(&train.view(), &child)?.collect();
            let kept = Kept { journal, part: format!("outer {k}: ") };
            let found = self.search(&train.view(), &inside, metrics, kept, &child);
            let setting = found.and_then(|found| found.chosen());
            let fold = match &setting {
                Ok(setting) => self.scored(setting, data, split, metrics, &child)?,
                Err(error) if error.code() == Code::Cancelled => return Err(error.clone()),
                Err(error) => failed(split, error.clone()),
            };
            settings.push(setting.ok());
            folds.push(fold);
        }
        Ok(Nested { settings, scores: CrossValidation { metrics: metrics.to_vec(), folds } })
    }

    /// A setting on one split.
    fn scored(
        &self,
        setting: &Setting,
        data: &Dataset,
        split: &Split,
        metrics: &[&'static Metric],
        run: &Context,
    ) -> Result<Fold> {
        let learner = self.with(setting)?;
        let entrants = [Entrant { preparation: self.preparation, learner: learner.as_ref() }];
        let splits = std::slice::from_ref(split);
        let ledger = &Nobody;
        let manner = Manner::default();
        let trials =
            Trials { entrants: &entrants, data, splits, scoring: metrics.into(), ledger, manner };
        let fold = trials.run(run)?.pop().and_then(|mut cv| cv.folds.pop());
        fold.ok_or_else(|| Error::internal("an outer split without its fold"))
    }

    fn search(
        &self,
        data: &Dataset,
        splits: &[Split],
        metrics: &[&'static Metric],
        kept: Kept,
        run: &Context,
    ) -> Result<Found> {
        if metrics.is_empty() || splits.is_empty() {
            return Err(Error::new(Code::Usage, "a search needs a metric and splits"));
        }
        self.space.check(self.learner)?;
        let mut state = State {
            plan: self,
            data,
            splits,
            metrics,
            kept,
            run,
            whole: splits.iter().map(|split| split.train.len()).sum(),
            ended: AtomicU64::new(0),
            tried: Vec::new(),
            work: 0.0,
            left_out: 0,
        };
        let mut rng = run.rng(SETTINGS);
        match &self.method {
            Method::Grid => state.all(self.space.grid()?)?,
            Method::Random(count) => state.all(self.space.draw(*count, &mut rng))?,
            Method::Model(count) => state.by_model(*count, &mut rng)?,
            Method::Halving { draws, resource, halving } => {
                let settings = match draws {
                    Some(count) => self.space.draw(*count, &mut rng),
                    None => self.space.grid()?,
                };
                state.halve(settings, resource.as_deref(), halving)?;
            }
        }
        state.found()
    }
}

/// The stream of random numbers that settings use.
const SETTINGS: u64 = 0x7365_7474;

/// Where finished fits are kept, and of which part of the work they are.
#[derive(Clone)]
struct Kept<'a> {
    journal: Option<&'a Journal>,
    part: String,
}

/// A search under way.
struct State<'a> {
    plan: &'a Plan<'a>,
    data: &'a Dataset<'a>,
    splits: &'a [Split],
    metrics: &'a [&'static Metric],
    kept: Kept<'a>,
    run: &'a Context<'a>,
    /// Training rows of all splits.
    whole: usize,
    ended: AtomicU64,
    tried: Vec<Tried>,
    work: f64,
    left_out: usize,
}

/// What one rung gives to its settings.
struct Share<'a> {
    rung: usize,
    resource: Option<u64>,
    splits: &'a [Split],
}

impl State<'_> {
    fn all(&mut self, settings: Vec<Setting>) -> Result<()> {
        let splits = self.splits;
        self.batch(settings, &Share { rung: 0, resource: None, splits }).map(drop)
    }

    fn by_model(&mut self, count: usize, rng: &mut learnt_core::context::Rng) -> Result<()> {
        let metric = self.metrics[0];
        let loss = |tried: &Tried| match metric.direction {
            Direction::Higher => tried.mean(0).map(|mean| -mean),
            Direction::Lower => tried.mean(0),
        };
        while self.tried.len() < count && self.left_out == 0 {
            let left = count - self.tried.len();
            let settings = match self.tried.is_empty() {
                true => self.plan.space.draw(parzen::START.min(left), rng),
                false => {
                    let so_far: Vec<(Setting, Option<f64>)> =
                        self.tried.iter().map(|one| (one.setting.clone(), loss(one))).collect();
                    suggest(self.plan.space, &so_far, parzen::BATCH.min(left), rng)
                }
            };
            if settings.is_empty() {
                break;
            }
            self.all(settings)?;
        }
        Ok(())
    }

    fn halve(
        &mut self,
        mut settings: Vec<Setting>,
        resource: Option<&str>,
        halving: &Halving,
    ) -> Result<()> {
        if let Some(name) = resource {
            self.plan.learner.get(name).map_err(|error| error.within("resource"))?;
            if self.plan.space.domains.iter().any(|(known, _)| known == name) {
                let message = format!("`{name}` is the resource, and cannot be searched too");
                return Err(Error::new(Code::Usage, message));
            }
        }
        let smallest = match resource {
            None => smallest_rows(self.data, self.splits.len()),
            Some(_) => 1,
        };
        let n = self.data.nrows() as f64;
        for (rung, of) in halving.rungs(settings.len(), smallest)?.into_iter().enumerate() {
            settings.truncate(of.candidates);
            let (thin, with): (Vec<Split>, Vec<Setting>) = match resource {
                None => {
                    let share = of.resource as f64 / n;
                    (thinned(self.splits, self.data, share, self.run), settings.clone())
                }
                Some(name) => {
                    let value = Value::Int(of.resource as i64);
                    let more = |setting: &Setting| {
                        let mut setting = setting.clone();
                        setting.push((name.to_string(), value.clone()));
                        setting
                    };
                    (self.splits.to_vec(), settings.iter().map(more).collect())
                }
            };
            let share = Share { rung, resource: Some(of.resource), splits: &thin };
            let from = self.batch(with, &share)?;
            let mut order: Vec<usize> = (from..self.tried.len()).collect();
            order.sort_by(|&a, &b| by_mean(&self.tried[a], &self.tried[b], self.metrics[0]));
            settings = order.iter().map(|&i| settings[i - from].clone()).collect();
            if self.left_out > 0 {
                break;
            }
        }
        Ok(())
    }

    /// Cross-validates settings, as many as the budget allows; the place of the first.
    fn batch(&mut self, mut settings: Vec<Setting>, share: &Share) -> Result<usize> {
        let from = self.tried.len();
        let rows: usize = share.splits.iter().map(|split| split.train.len()).sum();
        let each = share.splits.len() as f64 * rows as f64 / self.whole.max(1) as f64;
        if let Some(budget) = self.plan.budget {
            let affordable = ((budget - self.work) / each + 1e-9).max(0.0) as usize;
            self.left_out += settings.len().saturating_sub(affordable);
            settings.truncate(affordable);
        }
        self.work += each * settings.len() as f64;
        let learners = settings.iter().map(|setting| self.plan.with(setting)).collect();
        let each = Each {
            preparation: self.plan.preparation,
            data: self.data,
            splits: share.splits,
            metrics: self.metrics,
            ledger: &Lines { state: self, keys: &settings, splits: share.splits },
            manner: Manner::default(),
        };
        let results = each.run(learners, self.run)?;
        let (rung, resource) = (share.rung, share.resource);
        let tried = |(setting, result)| Tried { setting, rung, resource, result };
        self.tried.extend(settings.into_iter().zip(results).map(tried));
        Ok(from)
    }

    fn found(self) -> Result<Found> {
        let metrics = self.metrics.to_vec();
        let last = self.tried.iter().map(|tried| tried.rung).max().unwrap_or(0);
        let mut found = Found {
            metrics,
            space: self.plan.space.clone(),
            tried: self.tried,
            best: None,
            top: None,
            work: self.work,
            left_out: self.left_out,
            nested: None,
        };
        // Scores of different rungs are of different fits, so only the last rung is compared.
        found.top = (0..found.tried.len())
            .filter(|&i| found.tried[i].rung == last && found.tried[i].mean(0).is_some())
            .min_by(|&a, &b| by_mean(&found.tried[a], &found.tried[b], found.metrics[0]));
        found.best = match self.plan.one_standard_error {
            true => found.top.map(|top| found.simplest(top, last)),
            false => found.top,
        };
        Ok(found)
    }
}

/// Reads finished fits from the journal, writes new ones to it, and tells how far the search is.
struct Lines<'a> {
    state: &'a State<'a>,
    keys: &'a [Setting],
    splits: &'a [Split],
}

impl Lines<'_> {
    fn key(&self, entrant: usize, split: usize) -> String {
        let setting = &self.keys[entrant];
        let values: serde_json::Map<String, serde_json::Value> =
            setting.iter().map(|(name, value)| (name.clone(), value.to_json())).collect();
        let rows = self.splits[split].train.len();
        let part = &self.state.kept.part;
        format!("{part}split {split} rows {rows} {}", serde_json::Value::Object(values))
    }
}

impl Ledger for Lines<'_> {
    fn known(&self, entrant: usize, split: usize) -> Option<Fold> {
        let journal = self.state.kept.journal?;
        let metrics = self.state.metrics.len();
        journal.known(&self.key(entrant, split), &self.splits[split], metrics)
    }

    fn ended(&self, entrant: usize, split: usize, fold: &Fold) -> Result<()> {
        if let Some(journal) = self.state.kept.journal {
            journal.keep(&self.key(entrant, split), fold)?;
        }
        let done = self.state.ended.fetch_add(1, Ordering::Relaxed) + 1;
        let progress = Progress { stage: "searching", done, total: None, objective: None };
        self.state.run.progress(&progress)
    }
}

fn failed(split: &Split, error: Error) -> Fold {
    Fold {
        train_rows: split.train.len(),
        test_rows: split.test.len(),
        result: Err(error),
        warnings: Vec::new(),
    }
}

/// The better mean of the first metric first; settings without a mean last.
fn by_mean(a: &Tried, b: &Tried, metric: &Metric) -> std::cmp::Ordering {
    use std::cmp::Ordering::{Equal, Greater, Less};
    match (a.mean(0), b.mean(0)) {
        (Some(x), Some(y)) if metric.better(x, y) => Less,
        (Some(x), Some(y)) if metric.better(y, x) => Greater,
        (Some(_), None) => Less,
        (None, Some(_)) => Greater,
        _ => Equal,
    }
}

impl Found {
    /// The chosen setting; the first reason why there is none.
    pub fn chosen(&self) -> Result<Setting> {
        if let Some(best) = self.best {
            return Ok(self.tried[best].setting.clone());
        }
        match self.tried.iter().find_map(Tried::failure) {
            Some((_, error)) => Err(error.clone().within("every setting failed")),
            None => Err(Error::new(Code::Usage, "the budget is less than one setting costs")
                .hint("a setting costs one fit a fold: raise --budget or take fewer folds")),
        }
    }

    /// The simplest setting of the last rung within one standard error of the best: the least sum
    /// of places in the domains, the first of equals.
    fn simplest(&self, top: usize, last: usize) -> usize {
        let metric = self.metrics[0];
        let (Some(mean), error) = (self.tried[top].mean(0), self.tried[top].standard_error(0))
        else {
            return top;
        };
        let error = error.unwrap_or(0.0);
        let near = |tried: &Tried| {
            let within = |value: f64| (value - mean).abs() <= error || metric.better(value, mean);
            tried.rung == last && tried.mean(0).is_some_and(within)
        };
        let simplicity = |i: usize| self.space.places(&self.tried[i].setting).iter().sum::<f64>();
        (0..self.tried.len())
            .filter(|&i| near(&self.tried[i]))
            .min_by(|&a, &b| simplicity(a).total_cmp(&simplicity(b)))
            .unwrap_or(top)
    }

    /// Places of all settings, the last rung before earlier ones, the best first.
    pub fn ranking(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.tried.len()).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (&self.tried[a], &self.tried[b]);
            b.rung.cmp(&a.rung).then_with(|| by_mean(a, b, self.metrics[0]))
        });
        order
    }

    /// Settings without a mean of the first metric.
    pub fn failures(&self) -> impl Iterator<Item = &Tried> {
        self.tried.iter().filter(|tried| tried.mean(0).is_none())
    }
}

#[cfg(test)]
mod tests;
