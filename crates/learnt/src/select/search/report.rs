//! A search as an answer: a row a setting, the best first, the chosen values, and pictures of the scores.

use super::{Found, Nested, Setting, Tried};
use crate::select::CrossValidation;
use learnt_core::answer::{Series, Style, TableColumn};
use learnt_core::chart::{Chart, Mark, Panel};
use learnt_core::error::plain;
use learnt_core::params::Value;
use learnt_core::prelude::*;

/// More parameters than this have no panel of their own.
const PANELS: usize = 4;

impl Found {
    /// One row a setting: rank, values, means with standard errors, time.
    pub fn report(&self, title: impl Into<String>) -> Answer {
        let mut answer = Answer::new(title);
        answer.push("metric", self.metrics[0].name);
        answer.push("settings", self.tried.len());
        answer.push("work", self.work);
        if let Some(best) = self.best {
            let chosen = &self.tried[best];
            answer.push("best", words(&chosen.setting));
            answer.push_some("best_score", chosen.mean(0));
            answer.push_some("best_standard_error", chosen.standard_error(0));
        }
        if let Some(nested) = &self.nested {
            nested.tell(&mut answer);
        }
        answer.tables.insert(0, self.table());
        answer.charts.push(self.chart());
        answer.notes.push(
            "± is the standard error over folds; work counts fits of whole training parts"
                .to_string(),
        );
        if let (Some(best), Some(top)) = (self.best, self.top)
            && best != top
        {
            let what = "chosen: the simplest setting within one standard error of the best";
            answer.notes.push(format!("{what} ({})", words(&self.tried[top].setting)));
        }
        if self.left_out > 0 {
            answer
                .notes
                .push(format!("{} settings were left out: the budget was spent", self.left_out));
        }
        for tried in self.failures() {
            if let Some((folds, error)) = tried.failure() {
                let (setting, why) = (words(&tried.setting), plain(error.message()));
                let place = if folds == 0 { String::new() } else { format!(" in {folds} folds") };
                let code = error.code();
                answer.notes.push(format!("{setting} failed{place}: {why} ({code})"));
            }
        }
        answer
    }

    fn table(&self) -> Columns {
        let order = self.ranking();
        let rows: Vec<&Tried> = order.iter().map(|&i| &self.tried[i]).collect();
        let ranks = (1..=rows.len() as i64).collect();
        let mut table = Columns::titled("").counts("rank", ranks);
        for (name, _) in &self.space.domains {
            let cells = rows.iter().map(|tried| cell(&tried.setting, name)).collect();
            table = table.texts(name.clone(), cells);
        }
        if rows.iter().any(|tried| tried.resource.is_some()) {
            let counts = |f: &dyn Fn(&Tried) -> i64| rows.iter().map(|tried| f(tried)).collect();
            table = table
                .counts("rung", counts(&|tried| tried.rung as i64))
                .counts("resource", counts(&|tried| tried.resource.unwrap_or(0) as i64));
        }
        let column = |name: &str, style: Style, m: usize, value: &dyn Fn(&Tried) -> Option<f64>| {
            let number = |tried: &&Tried| value(tried).ok_or_else(|| absence(tried, m));
            TableColumn::partly(name, style, rows.iter().map(number))
        };
        for (m, metric) in self.metrics.iter().enumerate() {
            let name = metric.name.replace('-', "_");
            let error = format!("{name}_se");
            table = table
                .with(column(&name, Style::Number, m, &|one| one.mean(m)).headed(metric.name))
                .with(column(&error, Style::Short, m, &|one| one.standard_error(m)).headed("±"));
        }
        let seconds = |one: &Tried| one.result.as_ref().ok().and_then(CrossValidation::fit_seconds);
        let notes = order.iter().map(|&i| self.note(i)).collect();
        table
            .with(column("fit_seconds", Style::Seconds, 0, &seconds).headed("fit"))
            .with(TableColumn::new("note", Series::Texts(notes), Style::Number).headed(""))
    }

    fn note(&self, place: usize) -> String {
        let mut words = Vec::new();
        if self.tried[place].mean(0).is_none() {
            words.push("failed");
        }
        if Some(place) == self.best {
            words.push("chosen");
        }
        if Some(place) == self.top && self.top != self.best {
            words.push("best mean");
        }
        words.join(" ")
    }

    /// Scores in the order of the search with the best so far, and against each parameter.
    pub fn chart(&self) -> Chart {
        let metric = self.metrics[0];
        let shown: Vec<(usize, &Tried, f64)> = self
            .tried
            .iter()
            .enumerate()
            .filter_map(|(i, tried)| Some((i, tried, tried.mean(0)?)))
            .collect();
        let means: Vec<f64> = shown.iter().map(|(_, _, mean)| *mean).collect();
        let turns: Vec<f64> = shown.iter().map(|(i, ..)| *i as f64 + 1.0).collect();
        let mut best: Vec<f64> = Vec::with_capacity(means.len());
        for &mean in &means {
            let last = best.last().copied().unwrap_or(mean);
            best.push(if metric.better(mean, last) { mean } else { last });
        }
        let name = metric.name;
        let about =
            "Each point is the mean score of a setting over folds; the line is the best so far.";
        let mut chart = Chart::new(format!("Search by {name}"), about).panel(
            Panel::new("setting", name)
                .mark(Mark::line("best so far", turns.clone(), best))
                .mark(Mark::points("settings", turns, means.clone())),
        );
        for (parameter, domain) in self.space.domains.iter().take(PANELS) {
            let value = |tried: &Tried| {
                let found = tried.setting.iter().find(|(known, _)| known == parameter);
                found.and_then(|(_, value)| value.as_real())
            };
            let numbers: Option<Vec<f64>> =
                shown.iter().map(|(_, tried, _)| value(tried)).collect();
            let Some(x) = numbers.filter(|x| !x.is_empty()) else { continue };
            let wide = x.iter().all(|&x| x > 0.0) && spread(&x) > 50.0;
            let mut panel = Panel::new(parameter.as_str(), name)
                .mark(Mark::points("settings", x, means.clone()).unnamed());
            if domain.is_log() || wide {
                panel = panel.log_x();
            }
            chart = chart.panel(panel);
        }
        chart
    }
}

/// The ratio of the largest to the least.
fn spread(x: &[f64]) -> f64 {
    let ends = x.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), &x| (a.min(x), b.max(x)));
    ends.1 / ends.0
}

impl Nested {
    fn tell(&self, answer: &mut Answer) {
        let name = self.scores.metrics[0].name.replace('-', "_");
        answer.push_some(format!("nested_{name}"), self.scores.mean(0));
        answer.push_some(format!("nested_{name}_se"), self.scores.standard_error(0));
        let settings = self.settings.iter().map(|setting| match setting {
            Some(setting) => words(setting),
            None => "none".to_string(),
        });
        let score = |k: usize| {
            let fold = &self.scores.folds[k];
            match &fold.result {
                Ok(scored) => scored.scores[0].as_ref().copied().map_err(|e| plain(e.message())),
                Err(error) => Err(plain(error.message())),
            }
        };
        let places = 0..self.settings.len();
        let table = Columns::titled("nested cross-validation")
            .counts("outer_split", places.clone().map(|k| k as i64 + 1).collect())
            .texts("chosen", settings.collect())
            .with(TableColumn::partly(name, Style::Number, places.map(score)));
        answer.tables.push(table);
        answer.notes.push(
            "nested: the search was repeated in each outer training part, and its choice scored on rows \
             that it never saw"
                .to_string(),
        );
        if let Some((folds, error)) = self.scores.failed() {
            let why = plain(error.message());
            answer.notes.push(format!("the search failed in {folds} outer splits: {why}"));
        }
    }
}

/// A setting in words.
pub(super) fn words(setting: &Setting) -> String {
    let pair = |(name, value): &(String, Value)| format!("{name}={}", shown(value));
    setting.iter().map(pair).collect::<Vec<_>>().join(" ")
}

fn cell(setting: &Setting, name: &str) -> String {
    setting.iter().find(|(known, _)| known == name).map_or(String::new(), |(_, value)| shown(value))
}

/// A value as it is typed: numbers with six digits.
fn shown(value: &Value) -> String {
    match value {
        Value::Real(x) => learnt_core::answer::number(*x),
        Value::Text(text) => plain(text),
        Value::Learner(spec) => spec.learner.rsplit('.').next().unwrap_or_default().to_string(),
        other => other.to_string(),
    }
}

fn absence(tried: &Tried, m: usize) -> String {
    let unscored = || tried.result.as_ref().ok().and_then(|cv| cv.unscored(m));
    match tried.failure().or_else(unscored) {
        Some((_, error)) => plain(error.message()),
        None => "one fold has no spread".to_string(),
    }
}
