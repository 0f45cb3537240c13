//! Order, errors and streams of runs.

use super::*;
use rand_xoshiro::rand_core::Rng as _;

#[test]
fn results_come_in_order_on_any_number_of_threads() {
    for threads in [1, 2, 4] {
        let run = Context::default().with_threads(threads);
        assert_eq!(run.par_map(1000, |i| i * i), (0..1000).map(|i| i * i).collect::<Vec<_>>());
    }
}

#[test]
fn elements_are_mapped_in_order_on_any_number_of_threads() {
    for n in [0, 5, 100_000] {
        let numbers: Vec<usize> = (0..n).collect();
        for threads in [1, 2, 4] {
            let run = Context::default().with_threads(threads);
            assert!(run.par_each(&numbers, |i| i * 3).into_iter().eq((0..n).map(|i| i * 3)));
        }
    }
}

#[test]
fn the_first_error_wins() {
    let run = Context::default().with_threads(4);
    let fail = |i: usize| match i % 10 {
        7 => Err(Error::numeric(format!("{i}"))),
        _ => Ok(i),
    };
    assert_eq!(run.try_par_map(1000, fail).unwrap_err().message(), "7");
}

#[test]
fn streams_differ_and_repeat() {
    let run = Context::default();
    assert_eq!(run.rng(1).next_u64(), run.rng(1).next_u64());
    assert_ne!(run.rng(1).next_u64(), run.rng(2).next_u64());
    assert_ne!(run.child(0).rng(1).next_u64(), run.child(1).rng(1).next_u64());
    assert_ne!(run.row_rng(0, 1).next_u64(), run.row_rng(0, 2).next_u64());
}

#[test]
fn the_trace_has_each_iteration_of_this_fit_and_none_of_inner_fits() {
    let recorder = Recorder::new(&Quiet);
    let run = Context::default().observed_by(&recorder);
    let mut monitor = run.monitor("halving", 3);
    let mut x = 1.0;
    while monitor.advance().unwrap() {
        x /= 2.0;
        monitor.record(x);
        run.child(7).monitor("inner", 1).record(9.0);
    }
    let trace: Vec<(u64, f64)> =
        recorder.trace().iter().map(|t| (t.iteration, t.objective)).collect();
    assert_eq!(trace, [(1, 0.5), (2, 0.25), (3, 0.125)]);
}

#[test]
fn fits_side_by_side_have_the_sum_of_their_objectives_as_trace() {
    for threads in [1, 4] {
        let recorder = Recorder::new(&Quiet);
        let run = Context::default().with_threads(threads).observed_by(&recorder);
        let ends = run.try_par_fits(3, |k, run| {
            (1..=k as u64 + 1).for_each(|i| run.record("part", i, 1.0 / i as f64));
            Ok(k)
        });
        assert_eq!(ends.unwrap(), [0, 1, 2]);
        assert_eq!(loss_curve(&recorder.trace()), [3.0, 2.0, 1.0 + 0.5 + 1.0 / 3.0]);
        let silent = run.untraced().try_par_fits(2, |_, run| {
            run.record("part", 1, 9.0);
            Ok(())
        });
        assert!(silent.is_ok() && recorder.trace().len() == 3);
    }
}

#[test]
fn a_cancelled_run_stops() {
    struct Stop;
    impl Observer for Stop {
        fn cancelled(&self) -> bool {
            true
        }
    }
    let run = Context::default().observed_by(&Stop);
    assert_eq!(run.monitor("x", 5).advance().unwrap_err().code(), Code::Cancelled);
}

#[test]
fn too_much_memory_is_refused_before_it_is_taken() {
    let run = Context::default().with_memory_limit(Some(1 << 50));
    assert_eq!(run.claim(1 << 51, "the table").unwrap_err().code(), Code::Memory);
    assert!(run.claim(1 << 49, "the table").is_ok());
    let alone = Context::default();
    assert_eq!(alone.claim(1 << 60, "the table").unwrap_err().code(), Code::Memory);
    // The product of the sides does not wrap around to something small.
    let square = alone.claim_table(1 << 32, 1 << 32, "the table");
    assert_eq!(square.unwrap_err().code(), Code::Memory);
}

#[test]
fn a_list_of_results_that_is_too_long_is_refused() {
    let run = Context::default();
    let results = run.try_par_map(usize::MAX, |_| Ok(0.0));
    assert_eq!(results.unwrap_err().code(), Code::Memory);
}

#[test]
fn threads_are_bounded_by_the_machine() {
    let most = Context::default().with_threads(1_000_000).threads();
    assert!(most <= available_threads().max(16), "{most} threads");
}
