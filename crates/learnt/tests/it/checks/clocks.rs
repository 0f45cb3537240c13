//! A clock that stands still, runs back or leaps ahead changes lengths of time and nothing else.

use super::easy;
use learnt::author::*;
use learnt::linear::LogisticRegression;
use learnt::metrics::find;
use learnt::rounds::{Checkpoint, Identity, InMemory, Source, block_rows};
use learnt::select::{Split, Splitter, cross_validate};
use learnt::trained::Trained;
use learnt_core::faults::{Clock, with_clock};
use std::time::Duration;

const CLOCKS: [Clock; 3] = [Clock::Stands, Clock::RunsBack, Clock::Leaps];

#[test]
fn scores_do_not_depend_on_the_clock_and_times_are_never_below_zero() {
    let learner = LogisticRegression::default();
    let data = easy(200, learner.any_roles());
    let run = Context::default().with_threads(1);
    let splitter = Splitter::KFold { n_splits: 4, shuffle: false };
    let splits: Vec<Split> = splitter.splits(&data.view(), &run).unwrap().collect();
    let metrics = [find("accuracy").unwrap()];
    let validate = || cross_validate(&learner, &data.view(), &splits, &metrics, &run).unwrap();
    let expected = validate().complete(0).unwrap();
    for clock in CLOCKS {
        let found = with_clock(clock, validate);
        assert_eq!(found.complete(0).unwrap(), expected, "{clock:?}");
        let seconds = found.fit_seconds().unwrap();
        assert!(seconds.is_finite() && seconds >= 0.0, "{clock:?}: {seconds}");
    }
}

#[test]
fn a_fit_goes_on_from_its_checkpoint_whatever_the_clock_did() {
    let learner = LogisticRegression::default();
    let data = easy(block_rows(4) * 3, learner.any_roles());
    let source = InMemory::new(data.view());
    let run = Context::default().with_threads(1);
    let expected = Trained::fit(&learner, &data.view(), &[], &run).unwrap().to_bytes().unwrap();
    for clock in CLOCKS {
        let name = format!("learnt-clocks-{}-{clock:?}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let kept = |resume| {
            let identity = Identity::new(&learner, &source.outline(), None, &run).unwrap();
            let kept = Checkpoint::new(&folder, identity, resume).unwrap();
            kept.every(Duration::from_secs(5))
        };
        for resume in [false, true] {
            let checkpoint = kept(resume);
            let fit = || Trained::fit_source_kept(&learner, &source, &[], Some(&checkpoint), &run);
            let found = with_clock(clock, fit).unwrap().to_bytes().unwrap();
            assert!(checkpoint.found(), "{clock:?}: nothing was kept");
            assert!(found == expected, "{clock:?}: another model");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
