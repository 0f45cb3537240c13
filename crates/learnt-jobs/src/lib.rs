//! Fits as jobs: whoever can run a function on bytes somewhere is a cluster.
//!
//! [`plan`] looks at a table of files and writes a [`Job`] into bytes: learner, parameters, files with their
//! digests. [`Job::tasks`] cuts a round into tasks, [`Job::answer`] does one anywhere, as often as it
//! takes, and [`Job::advance`] makes the next state of all answers, or the model, which has the bits of a fit
//! on one machine. Every message says which job and round it is of, and ends with its SHA-256. A worker
//! with another build, or other files, refuses. [`Folder`] keeps a job in files, for schedulers that know
//! commands only. [`Apply`] is a job of one round: the predictions of a model for every row.

mod apply;
mod build;
mod cost;
mod folder;
mod job;
mod message;
mod rehearsal;
mod score;

pub use apply::{Applied, Apply, ApplySettings, plan_apply};
pub use build::Build;
pub use cost::{Cluster, Estimate};
pub use folder::Folder;
pub use job::{Job, Settings, distributes, is_fit, plan};
pub use rehearsal::{Rehearsal, rehearse};
