//! Progress on standard error, Ctrl-C, warnings.

use crate::output::say;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use learnt::context::{Observer, Progress};
use learnt::error::Warning;
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

static STOP: AtomicBool = AtomicBool::new(false);

/// How long work has to notice that it is to stop.
const PATIENCE: Duration = Duration::from_millis(600);

/// Ctrl-C asks the work to stop, which most of it notices at its next step. What does not (a long
/// factorisation, a read that waits) is ended: files are written beside the old ones, so nothing is half
/// done, and temporary ones are removed.
pub(crate) fn watch_interrupts() {
    let _ = ctrlc::set_handler(|| {
        STOP.store(true, Ordering::SeqCst);
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

/// Warnings of one kind: the first of them, and how many there were.
struct Collected {
    kind: String,
    first: String,
    count: usize,
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
        for Collected { first, count, .. } in collected.drain(..) {
            let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
            let line = format!("warning: {first}{times}");
            match &self.bar {
                Some(bar) => bar.suspend(|| say(&line)),
                None => say(&line),
            }
        }
    }

    fn collect(&self, warning: &Warning) {
        let (kind, first) = (kind_of(warning), warning.to_string());
        let mut collected = self.collected.lock().unwrap_or_else(PoisonError::into_inner);
        match collected.iter_mut().find(|known| known.kind == kind) {
            Some(known) => known.count += 1,
            None => collected.push(Collected { kind, first, count: 1 }),
        }
    }
}

/// `fitting 40 of 100 · objective 1.2e3 · 00:12 left`; where losses were told, those.
fn words(progress: &Progress, losses: Option<(f64, Option<f64>)>, elapsed: Duration) -> String {
    let mut text = format!("{} {}", progress.stage, progress.done);
    if let Some(total) = progress.total {
        text += &format!(" of {total}");
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
        if let Some(bar) = self.bar.as_ref().filter(|bar| bar.elapsed() > Duration::from_secs(1)) {
            // Where models are compared, what happens inside one of their fits is not told.
            let outer = progress.stage.starts_with("model ");
            if outer || !self.comparing.load(Ordering::Relaxed) {
                self.comparing.store(outer, Ordering::Relaxed);
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
            self.collect(warning);
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
