//! Progress on standard error, Ctrl-C, warnings.

use crate::output::{say, typed};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use learnt::context::{Observer, Progress};
use learnt::error::Warning;
use learnt::select::CrossValidation;
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

static STOP: AtomicBool = AtomicBool::new(false);

/// How long work has to notice that it is to stop.
const PATIENCE: Duration = Duration::from_millis(150);

/// Ctrl-C asks the work to stop, which most of it notices at its next step. What does not (a long
/// factorisation, a read that waits) is ended: files are written beside the old ones, so nothing is half
/// done, and temporary ones are removed.
pub(crate) fn watch_interrupts() {
    let _ = ctrlc::set_handler(|| {
        STOP.store(true, Ordering::SeqCst);
        let clear = if std::io::stderr().is_terminal() { "\r\u{1b}[K" } else { "" };
        crate::output::say_at_once(clear, "stopping");
        std::thread::sleep(PATIENCE);
        learnt::persist::place::remove_temporaries();
        say("error[E062]: stopped by the user");
        std::process::exit(130);
    });
}

/// Shows progress as a bar after a second, or as NDJSON events, or not at all.
pub(crate) struct Terminal {
    bar: Option<ProgressBar>,
    events: bool,
    quiet: bool,
    comparing: AtomicBool,
    collected: Mutex<Vec<Collected>>,
    /// The last losses that were told: of training rows, and of rows set aside.
    losses: Mutex<Option<(f64, Option<f64>)>>,
}

/// Warnings of one kind: the first of them, how many there were, and where.
#[derive(Default)]
struct Collected {
    kind: String,
    first: String,
    count: usize,
    /// What stood in quotes: columns, levels, classes.
    names: BTreeSet<String>,
    folds: BTreeSet<usize>,
    models: BTreeSet<String>,
    /// Whether it came from a fit inside a comparison, whose folds may say the same with their numbers.
    inside: bool,
}

impl Collected {
    /// `warning: … (in 7 folds of 3 models, 5 columns)`.
    fn line(&self) -> String {
        let counted =
            |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
        let mut words = Vec::new();
        match (self.folds.len(), self.models.len()) {
            (0, _) if self.count > 1 => words.push(format!("{} times", self.count)),
            (0, _) => {}
            (folds, models) if models > 1 => {
                words.push(format!("in {} of {models} models", counted(folds, "fold")));
            }
            (folds, _) => words.push(format!("in {}", counted(folds, "fold"))),
        }
        if self.names.len() > 1 {
            let what = if self.first.contains("column") { "column" } else { "name" };
            words.push(counted(self.names.len(), what));
        }
        match words.is_empty() {
            true => format!("warning: {}", self.first),
            false => format!("warning: {} ({})", self.first, words.join(", ")),
        }
    }
}

impl Terminal {
    pub(crate) fn new(progress: &str, quiet: bool) -> Self {
        let show = progress == "auto" && !quiet && std::io::stderr().is_terminal();
        let bar = show.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4));
            if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
                bar.set_style(style);
            }
            bar
        });
        Terminal {
            bar,
            events: progress == "json",
            quiet,
            comparing: AtomicBool::new(false),
            collected: Mutex::default(),
            losses: Mutex::default(),
        }
    }
}

impl Terminal {
    /// Tells what was collected, one line a kind, and forgets it.
    pub(crate) fn tell(&self) {
        let mut collected = self.collected.lock().unwrap_or_else(PoisonError::into_inner);
        for one in collected.drain(..) {
            let line = typed(&one.line());
            match &self.bar {
                Some(bar) => bar.suspend(|| say(&line)),
                None => say(&line),
            }
        }
    }

    /// A comparison has ended: later warnings are told again as they come.
    pub(crate) fn ended(&self) {
        self.comparing.store(false, Ordering::Relaxed);
    }

    /// Collects what the folds of a model warned of.
    pub(crate) fn collect_folds(&self, model: &str, result: &CrossValidation) {
        if self.quiet || self.events {
            return;
        }
        let mut collected = self.collected.lock().unwrap_or_else(PoisonError::into_inner);
        collected.retain(|one| !one.inside);
        drop(collected);
        for (k, fold) in result.folds.iter().enumerate() {
            fold.warnings.iter().for_each(|warning| self.collect(warning, Some((model, k))));
        }
    }

    fn collect(&self, warning: &Warning, place: Option<(&str, usize)>) {
        let kind = kind_of(warning);
        let inside = place.is_none() && self.comparing.load(Ordering::Relaxed);
        let mut collected = self.collected.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |known: &Collected| known.kind == kind && known.inside == inside;
        let place_of = collected.iter().position(same);
        let known = place_of.unwrap_or_else(|| {
            let first = warning.to_string();
            collected.push(Collected { kind, first, inside, ..Collected::default() });
            collected.len() - 1
        });
        let known = &mut collected[known];
        known.count += 1;
        let quoted = warning.message.split('\'').skip(1).step_by(2);
        known.names.extend(quoted.map(ToString::to_string));
        if let Some((model, fold)) = place {
            known.models.insert(model.to_string());
            known.folds.insert(fold);
        }
    }
}

/// How the stages of comparisons begin, inside which nothing else is told.
const COMPARING: &str = "model ";

/// `fitting 40 of 100 · objective 1.2e3 · 00:12 left`; where losses were told, those; for comparisons
/// `model 4/13 ridge · fold 6/10 · 00:12 left`.
fn words(progress: &Progress, losses: Option<(f64, Option<f64>)>, elapsed: Duration) -> String {
    let mut text = progress.stage.to_string();
    if !progress.stage.starts_with(COMPARING) {
        text += &format!(" {}", progress.done);
        if let Some(total) = progress.total {
            text += &format!(" of {total}");
        }
    }
    match (losses, progress.objective) {
        (Some((training, aside)), _) => {
            text += &format!(" · training loss {training:.6}");
            text += &aside.map_or_else(String::new, |loss| format!(" · validation loss {loss:.6}"));
        }
        (None, Some(objective)) => text += &format!(" · objective {objective:.6e}"),
        (None, None) => {}
    }
    if let Some(total) = progress.total.filter(|total| progress.done > 0 && *total > progress.done)
    {
        let left = elapsed.as_secs_f64() * (total - progress.done) as f64 / progress.done as f64;
        text += &format!(" · {:02}:{:02} left", left as u64 / 60, left as u64 % 60);
    }
    text
}

/// Warnings that differ in numbers and names only are of one kind.
fn kind_of(warning: &Warning) -> String {
    let mut kind = warning.code.to_string();
    let mut quoted = false;
    for letter in warning.message.chars() {
        match letter {
            '\'' => quoted = !quoted,
            _ if quoted || letter.is_ascii_digit() || ".,- ".contains(letter) => {}
            _ => kind.push(letter),
        }
    }
    kind
}

impl Observer for Terminal {
    fn losses(&self, training: f64, aside: Option<f64>) {
        *self.losses.lock().unwrap_or_else(PoisonError::into_inner) = Some((training, aside));
    }

    fn progress(&self, progress: &Progress) -> ControlFlow<()> {
        let losses = self.losses.lock().unwrap_or_else(PoisonError::into_inner).take();
        let outer = progress.stage.starts_with(COMPARING);
        if outer {
            self.comparing.store(true, Ordering::Relaxed);
        }
        if let Some(bar) = self.bar.as_ref().filter(|bar| bar.elapsed() > Duration::from_secs(1)) {
            // Where models are compared, what happens inside one of their fits is not told.
            if outer || !self.comparing.load(Ordering::Relaxed) {
                bar.set_message(words(progress, losses, bar.elapsed()));
            }
            bar.tick();
        }
        if self.events {
            let mut event = serde_json::json!({
                "event": "progress", "stage": progress.stage, "done": progress.done,
                "total": progress.total, "objective": progress.objective.filter(|x| x.is_finite()),
            });
            if let Some((training, aside)) = losses {
                event["training_loss"] = serde_json::json!(training);
                event["validation_loss"] = serde_json::json!(aside);
            }
            say(&event.to_string());
        }
        ControlFlow::Continue(())
    }

    fn warning(&self, warning: &Warning) {
        if self.events {
            say(&serde_json::json!({ "event": "warning", "code": warning.code.to_string(), "message": warning.message }).to_string());
        } else if !self.quiet {
            self.collect(warning, None);
        }
    }

    fn cancelled(&self) -> bool {
        STOP.load(Ordering::Relaxed)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tell();
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt::error::Code;

    #[test]
    fn warnings_of_one_kind_are_one_line_with_folds_models_and_columns() {
        let terminal = Terminal::new("none", false);
        let warning = |column: &str, rows: usize| Warning {
            code: Code::Numeric,
            message: format!("column '{column}' is constant in {rows} rows"),
        };
        for (model, fold, column) in [("ridge", 0, "a"), ("ridge", 1, "b"), ("lasso", 1, "a")] {
            terminal.collect(&warning(column, 10 + fold), Some((model, fold)));
        }
        let mut collected = terminal.collected.lock().unwrap();
        assert_eq!(collected.len(), 1);
        let line = collected[0].line();
        assert!(line.ends_with("(in 2 folds of 2 models, 2 columns)"), "{line}");
        collected.clear();
    }

    #[test]
    fn a_comparison_says_model_fold_and_time_left() {
        let stage = "model 4/13 ridge · fold 6/10";
        let progress = Progress { stage, done: 65, total: Some(130), objective: None };
        let text = words(&progress, None, Duration::from_secs(12));
        assert_eq!(text, "model 4/13 ridge · fold 6/10 · 00:12 left");
    }
}
