//! The run: seed, threads, progress, cancellation, warnings, memory. Everything about executing,
//! nothing about modelling.
//!
//! Results never depend on the number of threads: work is cut by size alone and put together in
//! order. Random draws come from (seed, stream) and nowhere else.

use crate::error::{Code, Error, Result, Warning};
use crate::memory::{self, Held};
use crate::pool::{each, side_by_side};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use std::ops::{ControlFlow, Range};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The generator of every random stream.
pub type Rng = Xoshiro256PlusPlus;

/// Seed, threads, memory limit and observer of a run.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    seed: u64,
    threads: usize,
    memory: Option<u64>,
    observer: &'a dyn Observer,
    inner: bool,
    lenient: bool,
}

/// Watches a run: progress bars, Ctrl-C, warnings.
pub trait Observer: Sync {
    /// Something advanced; `Break` asks the run to stop.
    fn progress(&self, _progress: &Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
    /// Something the user should know.
    fn warning(&self, _warning: &Warning) {}
    /// The objective after an iteration.
    fn objective(&self, _traced: &Traced) {}
    /// The mean loss of the training rows and of the rows set aside, told before the progress of a round.
    fn losses(&self, _training: f64, _aside: Option<f64>) {}
    /// Whether the run should stop.
    fn cancelled(&self) -> bool {
        false
    }
}

/// How far the work is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// What is being done.
    pub stage: &'a str,
    /// How much of it.
    pub done: u64,
    /// Out of how much, if known.
    pub total: Option<u64>,
    /// The objective, if there is one.
    pub objective: Option<f64>,
}

/// The objective after an iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Traced {
    /// What iterates.
    pub stage: String,
    /// Which iteration; 0 is the start.
    pub iteration: u64,
    /// The objective, which the method makes small or large.
    pub objective: f64,
}

/// An observer that looks away.
pub struct Quiet;
impl Observer for Quiet {}

/// The objectives of the last stage of a trace, which is the learner's own.
pub fn loss_curve(trace: &[Traced]) -> Vec<f64> {
    let last = trace.last().map(|traced| &traced.stage);
    trace.iter().filter(|t| Some(&t.stage) == last).map(|t| t.objective).collect()
}

/// An observer that keeps warnings and the trace of objectives, and passes everything on to another.
pub struct Recorder<'a> {
    outer: &'a dyn Observer,
    /// Whether objectives are passed on too.
    passes: bool,
    warnings: Mutex<Vec<Warning>>,
    trace: Mutex<Vec<Traced>>,
}

impl<'a> Recorder<'a> {
    /// In front of another observer.
    pub fn new(outer: &'a dyn Observer) -> Self {
        Recorder { outer, passes: true, warnings: Mutex::default(), trace: Mutex::default() }
    }

    /// The same, for one of several fits side by side: its objectives are not passed on.
    fn of_part(outer: &'a dyn Observer) -> Self {
        Recorder { passes: false, ..Self::new(outer) }
    }

    /// The warnings so far, each once.
    pub fn warnings(&self) -> Vec<Warning> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Recorder<'_> {
    /// The objectives so far, in the order of the iterations.
    pub fn trace(&self) -> Vec<Traced> {
        self.trace.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Observer for Recorder<'_> {
    fn objective(&self, traced: &Traced) {
        let mut trace = self.trace.lock().unwrap_or_else(PoisonError::into_inner);
        match trace.last_mut() {
            Some(last) if last.stage == traced.stage && last.iteration == traced.iteration => {
                last.objective = traced.objective;
            }
            _ => trace.push(traced.clone()),
        }
        drop(trace);
        if self.passes {
            self.outer.objective(traced);
        }
    }
    fn progress(&self, progress: &Progress) -> ControlFlow<()> {
        self.outer.progress(progress)
    }
    fn losses(&self, training: f64, aside: Option<f64>) {
        self.outer.losses(training, aside);
    }
    fn warning(&self, warning: &Warning) {
        let mut kept = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        if !kept.contains(warning) {
            kept.push(warning.clone());
            self.outer.warning(warning);
        }
    }
    fn cancelled(&self) -> bool {
        self.outer.cancelled()
    }
}

impl Default for Context<'static> {
    /// Seed 0, all threads that this process may use, no limit, no observer.
    fn default() -> Self {
        Context {
            seed: 0,
            threads: available_threads(),
            memory: None,
            observer: &Quiet,
            inner: false,
            lenient: false,
        }
    }
}

/// The number of threads that this process may use: cores, less what affinity and quotas took when it was
/// first asked for. Asking the system reads several files, which takes longer than predicting a row.
pub fn available_threads() -> usize {
    static AVAILABLE: OnceLock<usize> = OnceLock::new();
    *AVAILABLE.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// The most threads that a run starts: one a core, or 16 where that is more.
pub fn most_threads() -> usize {
    available_threads().max(16)
}

impl<'a> Context<'a> {
    /// A run with this seed.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Context { seed, ..self }
    }

    /// A run with this many threads; 0 means all. More than [`most_threads`] are not started: results do
    /// not depend on the number.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        let threads = if threads == 0 { available_threads() } else { threads.min(most_threads()) };
        Context { threads, ..self }
    }

    /// A run in which this process holds at most this many bytes; without a limit what the machine has
    /// left, less a margin, is the limit.
    #[must_use]
    pub fn with_memory_limit(self, bytes: Option<u64>) -> Self {
        Context { memory: bytes, ..self }
    }

    /// A run watched by this observer.
    #[must_use]
    pub fn observed_by<'b>(self, observer: &'b dyn Observer) -> Context<'b>
    where
        'a: 'b,
    {
        Context { observer, ..self }
    }

    /// The observer.
    pub fn observer(&self) -> &'a dyn Observer {
        self.observer
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The memory limit in bytes.
    pub fn memory_limit(&self) -> Option<u64> {
        self.memory
    }

    /// A generator made from (seed, stream).
    pub fn rng(&self, stream: u64) -> Rng {
        Rng::seed_from_u64(mix(self.seed, stream))
    }

    /// A generator for one row of the whole table, whichever block it is met in.
    pub fn row_rng(&self, stream: u64, row: u64) -> Rng {
        Rng::seed_from_u64(mix(mix(self.seed, stream), row.wrapping_add(1) << 1 | 1))
    }

    /// The run of the index-th inner fit: its own seed, one thread, because the outer loop already
    /// uses the others. Its objectives are not part of the outer fit's trace.
    #[must_use]
    pub fn child(&self, index: u64) -> Context<'a> {
        Context { seed: mix(self.seed, index ^ 0x5bf0_3635), threads: 1, inner: true, ..*self }
    }

    /// Applies `f` to 0..n on all threads; the results are in order.
    pub fn par_map<T: Send>(&self, n: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let f: &(dyn Fn(usize) -> T + Sync) = &f;
        if self.threads <= 1 || n <= 1 {
            return (0..n).map(f).collect();
        }
        let slots: Vec<Mutex<Option<T>>> = (0..n).map(|_| Mutex::new(None)).collect();
        side_by_side(self.threads, n, &|i| {
            let found = f(i);
            *slots[i].lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
        });
        let value =
            |slot: Mutex<Option<T>>| slot.into_inner().unwrap_or_else(PoisonError::into_inner);
        slots.into_iter().filter_map(value).collect()
    }

    /// The same for work that can fail or be cancelled; the error of the lowest index wins. Room for the
    /// results is claimed first, because their number is often a parameter.
    pub fn try_par_map<T: Send>(
        &self,
        n: usize,
        f: impl Fn(usize) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        const FEW: usize = 1024;
        if n > FEW {
            let bytes = (n as u64).saturating_mul(size_of::<Result<T>>() as u64);
            self.claim(bytes, &format!("a list of {n} results"))?;
        }
        self.par_map(n, |i| self.checkpoint().and_then(|()| f(i))).into_iter().collect()
    }

    /// The same for fits side by side, each in its own child run. The trace of the whole has the
    /// sums of their objectives; one that ended early stays at its last.
    pub fn try_par_fits<T: Send>(
        &self,
        n: usize,
        f: impl Fn(usize, &Context) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let parts = self.try_par_map(n, |k| {
            let recorder = Recorder::of_part(self.observer);
            let child = Context { inner: self.inner, ..self.child(k as u64) };
            let part = f(k, &child.observed_by(&recorder))?;
            Ok((part, recorder.trace()))
        })?;
        let (parts, traces): (Vec<T>, Vec<Vec<Traced>>) = parts.into_iter().unzip();
        let stage = traces.iter().find_map(|trace| trace.last()).map(|traced| &traced.stage);
        if let Some(stage) = stage {
            let curves: Vec<Vec<f64>> = traces.iter().map(|trace| loss_curve(trace)).collect();
            let longest = curves.iter().map(Vec::len).max().unwrap_or(0);
            let at = |curve: &Vec<f64>, i: usize| curve.get(i).or(curve.last()).copied();
            for i in 0..longest {
                let sum = curves.iter().filter_map(|curve| at(curve, i)).sum();
                self.record(stage, i as u64 + 1, sum);
            }
        }
        Ok(parts)
    }

    /// The same run for a fit inside another, whose objectives are not part of the trace.
    #[must_use]
    pub fn untraced(&self) -> Context<'a> {
        Context { inner: true, ..*self }
    }

    /// Applies `f` to consecutive ranges of at most `size` rows; the results are in order.
    pub fn par_ranges<T: Send>(
        &self,
        n: usize,
        size: usize,
        f: impl Fn(Range<usize>) -> T + Sync,
    ) -> Vec<T> {
        let size = size.max(1);
        self.par_map(n.div_ceil(size), |k| f(k * size..((k + 1) * size).min(n)))
    }

    /// Applies `f` to every element on all threads; the results are in order. Their memory is written once, where
    /// [`Context::par_fill`] wants it filled before; the vector has room for one more.
    pub fn par_each<S: Sync, T: Send>(
        &self,
        from: &[S],
        f: impl Fn(&S) -> T + Sync + Send,
    ) -> Vec<T> {
        const LEAST: usize = 1 << 12;
        each(self.threads, from, LEAST, f)
    }

    /// Lets `f` fill consecutive pieces of `out`, each `size` long but the last.
    pub fn par_fill<T: Send>(
        &self,
        out: &mut [T],
        size: usize,
        f: impl Fn(usize, &mut [T]) + Sync,
    ) {
        let size = size.max(1);
        let f: &(dyn Fn(usize, &mut [T]) + Sync) = &f;
        if self.threads <= 1 || out.len() <= size {
            return out.chunks_mut(size).enumerate().for_each(|(k, piece)| f(k * size, piece));
        }
        let pieces: Vec<Mutex<&mut [T]>> = out.chunks_mut(size).map(Mutex::new).collect();
        side_by_side(self.threads, pieces.len(), &|k| {
            f(k * size, &mut pieces[k].lock().unwrap_or_else(PoisonError::into_inner));
        });
    }

    /// An error if the user asked to stop.
    pub fn checkpoint(&self) -> Result<()> {
        match self.observer.cancelled() {
            true => Err(cancelled()),
            false => Ok(()),
        }
    }

    /// Tells the observer the losses of a round, before its progress.
    pub fn losses(&self, training: f64, aside: Option<f64>) {
        if !self.inner {
            self.observer.losses(training, aside);
        }
    }

    /// Tells the observer how far the work is, and adds the objective to the trace of the fit; an
    /// error if the user asked to stop.
    pub fn progress(&self, progress: &Progress) -> Result<()> {
        if let Some(objective) = progress.objective {
            self.record(progress.stage, progress.done, objective);
        }
        match self.observer.progress(progress) {
            ControlFlow::Break(()) => Err(cancelled()),
            ControlFlow::Continue(()) => self.checkpoint(),
        }
    }

    /// Adds the objective after an iteration to the trace of the fit.
    pub fn record(&self, stage: &str, iteration: u64, objective: f64) {
        if !self.inner {
            self.observer.objective(&Traced { stage: stage.to_string(), iteration, objective });
        }
    }

    /// Lets scores that do not exist for these rows be the value that is usual instead, with a
    /// warning, where they would be errors.
    #[must_use]
    pub fn lenient(self) -> Self {
        Context { lenient: true, ..self }
    }

    /// Whether scores that do not exist are warnings and no errors.
    pub fn is_lenient(&self) -> bool {
        self.lenient
    }

    /// Tells the user something.
    pub fn warn(&self, code: Code, message: impl Into<String>) {
        self.observer.warning(&Warning::new(code, message));
    }

    /// Refuses what would need more memory than there is, before it is taken. `what` names the width
    /// or count that it grows with.
    pub fn claim(&self, bytes: u64, what: &str) -> Result<()> {
        memory::claim(self.memory, bytes, what)
    }

    /// The same for a table of numbers, however large.
    pub fn claim_table(&self, rows: usize, columns: usize, what: &str) -> Result<()> {
        let numbers = (rows as u64).saturating_mul(columns as u64);
        self.claim(numbers.saturating_mul(size_of::<f64>() as u64), what)
    }

    /// The same as `claim`, and counts it until what this gives is dropped: for memory that several threads
    /// take at once, or that is taken long before it is filled.
    pub fn hold(&self, bytes: u64, what: &str) -> Result<Held> {
        memory::hold(self.memory, bytes, what)
    }

    /// Whether this much memory is free, for what a fit can do without.
    pub fn has_room(&self, bytes: u64) -> bool {
        memory::has_room(self.memory, bytes)
    }

    /// Bytes that could be claimed now. For work that can be cut smaller where memory is short; results must not
    /// depend on it.
    pub fn room(&self) -> u64 {
        memory::room(self.memory)
    }

    /// Counts iterations of `stage` up to `max_iter`, reports them and notices cancellation.
    pub fn monitor(&self, stage: &'static str, max_iter: usize) -> Monitor<'a> {
        Monitor { run: *self, stage, max_iter, n_iter: 0, converged: false, objective: None }
    }
}

/// Rows of a piece of work that reads or writes `width` numbers of each: some 65,536 numbers, which are worth a thread
/// and leave wide tables several pieces.
pub fn piece_rows(width: usize) -> usize {
    const NUMBERS: usize = 1 << 16;
    (NUMBERS / width.max(1)).clamp(16, 4096)
}

/// What a run that was stopped ends with.
pub(crate) fn cancelled() -> Error {
    Error::new(Code::Cancelled, "stopped by the user")
}

/// Two numbers into one that looks random (the finaliser of SplitMix64, applied twice).
fn mix(a: u64, b: u64) -> u64 {
    let scramble = |mut z: u64| {
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    scramble(scramble(a.wrapping_add(0x9e37_79b9_7f4a_7c15)).wrapping_add(b))
}

/// Counts the iterations of a method.
///
/// ```
/// # use learnt_core::context::Context;
/// let run = Context::default();
/// let mut monitor = run.monitor("halving", 100);
/// let mut x = 1.0;
/// while monitor.advance()? {
///     x /= 2.0;
///     monitor.record(x);
///     if x < 1e-6 {
///         monitor.converge();
///     }
/// }
/// let ended = monitor.finish();
/// assert!(ended.converged && ended.n_iter == 20);
/// # Ok::<(), learnt_core::error::Error>(())
/// ```
pub struct Monitor<'a> {
    run: Context<'a>,
    stage: &'static str,
    max_iter: usize,
    n_iter: usize,
    converged: bool,
    objective: Option<f64>,
}

/// How an iteration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Iterations made.
    pub n_iter: usize,
    /// Whether the criterion was met.
    pub converged: bool,
}

impl Monitor<'_> {
    /// Starts the next iteration; false after convergence or at the limit.
    pub fn advance(&mut self) -> Result<bool> {
        self.run.progress(&Progress {
            stage: self.stage,
            done: self.n_iter as u64,
            total: Some(self.max_iter as u64),
            objective: self.objective,
        })?;
        let again = !self.converged && self.n_iter < self.max_iter;
        self.n_iter += usize::from(again);
        Ok(again)
    }

    /// Notes the objective of this iteration: for the trace, for progress and for the warning.
    pub fn record(&mut self, objective: f64) {
        self.objective = Some(objective);
        self.run.record(self.stage, self.n_iter as u64, objective);
    }

    /// The criterion is met: this iteration is the last.
    pub fn converge(&mut self) {
        self.converged = true;
    }

    /// Ends the count; not having converged is a warning with the numbers in it.
    pub fn finish(self) -> Ended {
        if !self.converged {
            let objective =
                self.objective.map_or(String::new(), |value| format!(", objective {value:.6e}"));
            self.run.warn(
                Code::NotConverged,
                format!(
                    "{} did not converge in {} iterations{objective}; raise max_iter or scale the columns",
                    self.stage, self.n_iter
                ),
            );
        }
        Ended { n_iter: self.n_iter, converged: self.converged }
    }
}

#[cfg(test)]
mod tests;
