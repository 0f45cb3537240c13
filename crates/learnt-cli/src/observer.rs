//! Progress on standard error, Ctrl-C, warnings.

use crate::output::say;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use learnt::context::{Observer, Progress};
use learnt::error::Warning;
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
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
        Terminal { bar, events: progress == "json", quiet }
    }
}

impl Observer for Terminal {
    fn progress(&self, progress: &Progress) -> ControlFlow<()> {
        if let Some(bar) = self.bar.as_ref().filter(|bar| bar.elapsed() > Duration::from_secs(1)) {
            let total = progress.total.map_or(String::new(), |total| format!(" of {total}"));
            let objective =
                progress.objective.map_or(String::new(), |x| format!(", objective {x:.6e}"));
            bar.set_message(format!("{}: {}{total}{objective}", progress.stage, progress.done));
            bar.tick();
        }
        if self.events {
            let event = serde_json::json!({
                "event": "progress", "stage": progress.stage, "done": progress.done,
                "total": progress.total, "objective": progress.objective.filter(|x| x.is_finite()),
            });
            say(&event.to_string());
        }
        ControlFlow::Continue(())
    }

    fn warning(&self, warning: &Warning) {
        if let Some(bar) = &self.bar {
            bar.suspend(|| say(&format!("warning: {warning}")));
        } else if self.events {
            say(&serde_json::json!({ "event": "warning", "code": warning.code.to_string(), "message": warning.message }).to_string());
        } else if !self.quiet {
            say(&format!("warning: {warning}"));
        }
    }

    fn cancelled(&self) -> bool {
        STOP.load(Ordering::Relaxed)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
