//! Steps forward and backward: one column at a time, while the rule says so.
//!
//! Forward adds the column with the largest fall of the residual sum, backward drops the column with
//! the smallest |t|, both takes whichever single move is better. Ties go to the lowest column.

use super::grow::Grow;
use super::reduced::Reduced;
use super::shrink::Shrink;
use super::table::{Judge, Measure, no_noise};
use learnt_core::prelude::*;

/// When steps go on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    /// While the criterion falls.
    Falls(Measure),
    /// While the F of the best column to add is at least `enter`, or of the worst to drop is below
    /// `remove`.
    F { enter: f64, remove: f64 },
    /// As long as there are columns, up to the limit.
    Always,
}

/// The models on the way: what each move was, and the set after it.
#[derive(Clone, Debug, Default)]
pub(super) struct Way {
    pub(super) moves: Vec<String>,
    pub(super) sets: Vec<Vec<usize>>,
    /// Residual sums of squares, as shares of the total.
    pub(super) rss: Vec<f64>,
}

impl Way {
    fn from(set: Vec<usize>, rss: f64) -> Way {
        Way { moves: vec![String::new()], sets: vec![set], rss: vec![rss] }
    }

    fn push(&mut self, sign: char, name: &str, set: &[usize], rss: f64) {
        self.moves.push(format!("{sign} {name}"));
        self.sets.push(set.to_vec());
        self.rss.push(rss);
    }
}

/// Steps on one table.
pub(super) struct Steps<'a> {
    reduced: &'a Reduced,
    judge: Judge,
    rule: Rule,
    /// Most columns of forward steps, fewest of backward ones.
    limit: Option<usize>,
    run: &'a Context<'a>,
}

impl<'a> Steps<'a> {
    pub(super) fn new(
        reduced: &'a Reduced,
        rule: Rule,
        limit: Option<usize>,
        run: &'a Context<'a>,
    ) -> Result<Steps<'a>> {
        let judge = Judge::new(reduced);
        if reduced.freedom(1) < 1.0 {
            let weight = reduced.weight;
            let message = format!(
                "rows of total weight {weight} leave no noise beside one column, so none can enter; weights count rows"
            );
            run.warn(Code::TooFew, message);
        }
        if rule == Rule::Falls(Measure::Cp) && judge.value(Measure::Cp, 0, 1.0).is_none() {
            return Err(no_noise());
        }
        Ok(Steps { reduced, judge, rule, limit, run })
    }

    /// Whether to move from one residual sum and size to another.
    fn goes(&self, from: (usize, f64), to: (usize, f64)) -> bool {
        let change = (from.1 - to.1).abs();
        match self.rule {
            Rule::Always => true,
            Rule::Falls(measure) => {
                let value = |(size, rss): (usize, f64)| self.judge.value(measure, size, rss);
                matches!((value(from), value(to)), (Some(from), Some(to)) if to < from)
            }
            Rule::F { enter, .. } if to.0 > from.0 => self.judge.f(change, to.0, to.1) >= enter,
            Rule::F { remove, .. } => self.judge.f(change, from.0, from.1) < remove,
        }
    }

    /// From no columns on; at least one degree of freedom stays for the noise.
    pub(super) fn forward(&self) -> Result<Way> {
        let mut grown = Grow::new(self.reduced);
        let mut way = Way::from(Vec::new(), grown.rss());
        while let Some((j, to)) = self.addition(&grown) {
            self.run.checkpoint()?;
            if !self.goes((grown.chosen.len(), grown.rss()), to) {
                break;
            }
            grown.add(j);
            way.push('+', &self.reduced.names[j], &grown.chosen, grown.rss());
        }
        Ok(way)
    }

    /// The best column to add, with the size and the residual sum after it.
    fn addition(&self, grown: &Grow) -> Option<(usize, (usize, f64))> {
        let size = grown.chosen.len() + 1;
        if self.reduced.freedom(size) < 1.0 || self.limit.is_some_and(|limit| size > limit) {
            return None;
        }
        let all: Vec<usize> = (0..self.reduced.width()).collect();
        let (j, gain) = grown.best(&all, self.reduced.tie())?;
        Some((j, (size, (grown.rss() - gain).max(0.0))))
    }

    /// From all independent columns on.
    pub(super) fn backward(&self) -> Result<Way> {
        let (columns, dependent) = self.reduced.independent();
        enough_rows(self.reduced, columns.len())?;
        warn_of(self.reduced, &dependent, self.run);
        let mut shrunk = Shrink::new(&Grow::with(self.reduced, &columns));
        let mut way = Way::from(columns, shrunk.rss);
        while let Some((i, to)) = self.removal(&shrunk) {
            self.run.checkpoint()?;
            if !self.goes((shrunk.columns.len(), shrunk.rss), to) {
                break;
            }
            let name = &self.reduced.names[shrunk.columns[i]];
            shrunk.drop(i);
            way.push('-', name, &shrunk.columns, shrunk.rss);
        }
        Ok(way)
    }

    /// The best place to drop, with the size and the residual sum after it.
    fn removal(&self, shrunk: &Shrink) -> Option<(usize, (usize, f64))> {
        let size = shrunk.columns.len().checked_sub(1)?;
        if self.limit.is_some_and(|limit| size < limit) {
            return None;
        }
        let (i, cost) = shrunk.cheapest(self.reduced.tie())?;
        Some((i, (size, shrunk.rss + cost)))
    }

    /// From no columns on, adding or dropping whichever is better.
    pub(super) fn both(&self) -> Result<Way> {
        let mut grown = Grow::new(self.reduced);
        let mut way = Way::from(Vec::new(), grown.rss());
        // Every criterion falls strictly along the way; the bound is for F alone.
        for _ in 0..4 * self.reduced.width() + 4 {
            self.run.checkpoint()?;
            let from = (grown.chosen.len(), grown.rss());
            let shrunk = Shrink::new(&grown);
            let drop = Steps { limit: None, judge: self.judge, ..*self }
                .removal(&shrunk)
                .filter(|&(_, to)| self.goes(from, to));
            let add = self.addition(&grown).filter(|&(_, to)| self.goes(from, to));
            match (drop, add) {
                (Some((i, to)), add) if add.is_none_or(|(_, other)| self.prefers(to, other)) => {
                    let name = &self.reduced.names[shrunk.columns[i]];
                    let mut kept = shrunk.columns.clone();
                    kept.remove(i);
                    grown = Grow::with(self.reduced, &kept);
                    way.push('-', name, &grown.chosen, grown.rss());
                }
                (_, Some((j, _))) => {
                    grown.add(j);
                    way.push('+', &self.reduced.names[j], &grown.chosen, grown.rss());
                }
                _ => break,
            }
        }
        Ok(way)
    }

    /// Whether a removal goes before an addition: by F always, else by the criterion.
    fn prefers(&self, removal: (usize, f64), addition: (usize, f64)) -> bool {
        let Rule::Falls(measure) = self.rule else { return true };
        let value = |(size, rss): (usize, f64)| self.judge.value(measure, size, rss);
        value(removal) <= value(addition)
    }
}

/// An error unless all columns leave a degree of freedom for the noise.
pub(super) fn enough_rows(reduced: &Reduced, columns: usize) -> Result<()> {
    if reduced.freedom(columns) > 0.0 {
        return Ok(());
    }
    let used = columns + usize::from(reduced.intercept);
    let message = format!(
        "rows of total weight {} leave no noise beside {used} coefficients, and this search starts from all columns",
        reduced.weight
    );
    Err(Error::new(Code::TooFew, message)
        .hint("use StepwiseRegression with direction 'forward'; weights count rows"))
}

/// Tells which columns were left out because others give them.
pub(super) fn warn_of(reduced: &Reduced, dependent: &[usize], run: &Context) {
    const SHOWN: usize = 10;
    if dependent.is_empty() {
        return;
    }
    let names: Vec<String> =
        dependent.iter().take(SHOWN).map(|&j| format!("'{}'", reduced.names[j])).collect();
    let more = match dependent.len() - names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message =
        format!("left out, constant or given by earlier columns: {}{more}", names.join(", "));
    run.warn(Code::Numeric, message);
}

/// How cross-validation chose, in words.
pub(super) fn cv_rule(folds: usize, one_standard_error: bool) -> String {
    match one_standard_error {
        false => format!("the size is that of the smallest error over {folds} folds"),
        true => format!(
            "the size is the smallest within one standard error of the smallest error over {folds} folds"
        ),
    }
}
