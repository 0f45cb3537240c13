//! A hostile engine: tasks cut at random, run in any order, killed and run again, delivered twice,
//! their memory dropped, and everything between them bytes. The model has the bits of a fit in memory.

use super::{easy, fit_in, learners, noise};
use learnt::compose::{ColumnTransformer, Pipeline};
use learnt::prelude::*;
use learnt::rounds::{ByteJob, InMemory, Memo, Outline, Step, block_rows};
use std::collections::BTreeMap;

/// Every learner that streams, and compositions of them.
fn streaming() -> Vec<(String, Box<dyn AnyEstimator>)> {
    let mut all: Vec<(String, Box<dyn AnyEstimator>)> = learners()
        .into_iter()
        .filter(|(_, learner)| learner.any_job().is_some())
        .map(|(entry, learner)| (entry.about.path.to_string(), learner))
        .collect();
    let scaler = learnt::prepare::StandardScaler::default();
    let median = learnt::prepare::SimpleImputer {
        strategy: learnt::prepare::ImputeStrategy::Median,
        ..Default::default()
    };
    let columns = ColumnTransformer {
        remainder: learnt::compose::Remainder::Passthrough,
        ..Default::default()
    };
    let columns = columns.with("fill", median, &["x0", "x3"]).with(
        "unit",
        learnt::prepare::MinMaxScaler::default(),
        &["x1"],
    );
    all.push(("groups of unequal rounds".into(), Box::new(columns.clone())));
    let pca = learnt::reduce::PCA::default();
    let inner = Pipeline::default().then("z", scaler).then("pca", pca);
    let outer = Pipeline::default()
        .then("columns", columns)
        .then("inner", inner)
        .then("model", learnt::linear::LogisticRegression::default());
    all.push(("a pipeline of a pipeline".into(), Box::new(outer)));
    all
}

/// Deterministic draws for the engine's accidents.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// A fit by the engine.
fn hostile_fit(
    learner: &dyn AnyEstimator,
    data: &Dataset,
    run: &Context,
    dice: &mut Dice,
) -> Result<Box<dyn Model>> {
    let source = InMemory::new(*data);
    let open = || ByteJob::new(learner, &Outline::of(data), None, run);
    // Whoever drives and whoever works are other processes, and the driver is started again now and then.
    let (mut job, worker) = (open()?, open()?);
    let mut memos: BTreeMap<u64, Memo> = BTreeMap::new();
    let mut state = job.begin(run)?;
    for _ in 0..10_000 {
        let told = worker.told(&job.for_tasks(&state)?)?;
        let mut blocks: Vec<u64> = (0..job.blocks()).collect();
        dice.shuffle(&mut blocks);
        let mut outcomes: Vec<Vec<u8>> = Vec::new();
        while !blocks.is_empty() {
            let task: Vec<u64> = blocks.split_off(blocks.len() - 1 - dice.below(blocks.len()));
            if dice.below(3) == 0 {
                // Dies after its work: nothing arrives, and somebody else does it again.
                worker.task_with(&told, &source, &task, &mut memos, run)?;
            }
            if dice.below(3) == 0 {
                memos.retain(|block, _| block % 2 == 0);
            }
            outcomes.push(worker.task_with(&told, &source, &task, &mut memos, run)?);
            if dice.below(3) == 0 {
                outcomes.extend(outcomes.last().cloned());
            }
        }
        dice.shuffle(&mut outcomes);
        if outcomes.len() > 2 && dice.below(2) == 0 {
            let (a, b) = (outcomes.pop().unwrap(), outcomes.pop().unwrap());
            outcomes.push(job.merge(&[&a, &b])?);
        }
        let all: Vec<&[u8]> = outcomes.iter().map(Vec::as_slice).collect();
        if dice.below(3) == 0 {
            let kept = job.to_bytes(&state)?;
            job = open()?;
            state = job.read(&kept)?;
        }
        match job.advance(state, &all, run)? {
            Step::Again(next) => state = next,
            Step::Done(done) => return Ok(done.model),
        }
    }
    Err(Error::internal("rounds without end"))
}

#[test]
fn a_hostile_engine_gives_the_bits_of_a_fit_in_memory() {
    let run = Context::default().with_threads(1).with_seed(5);
    let mut dice = Dice(11);
    for (name, learner) in streaming() {
        let data = easy(3 * block_rows(4) + 500, learner.any_roles());
        let expected = fit_in(learner.as_ref(), &data.view(), &run).unwrap();
        let model = hostile_fit(learner.as_ref(), &data.view(), &run, &mut dice)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        // Bytes, because a missing number does not equal itself.
        let bytes = |model: &dyn Model| learnt::persist::file::to_bytes(model.stored()).unwrap();
        assert!(bytes(model.as_ref()) == bytes(expected.model.as_ref()), "{name}");
    }
}

/// Lengths of sequences from one row to more than a block.
fn uneven_sequences(rows: usize) -> Vec<usize> {
    let (mut offsets, mut at, mut k) = (vec![0], 0, 0);
    while at < rows {
        at = (at + [1, 700, 20_000, 13, 5_000][k % 5]).min(rows);
        offsets.push(at);
        k += 1;
    }
    offsets
}

#[test]
fn blocks_that_end_with_sequences_give_the_bits_of_a_fit_in_memory() {
    let run = Context::default().with_threads(1).with_seed(5);
    let mut dice = Dice(3);
    let mut tried = 0;
    for (entry, learner) in learners() {
        if !learner.any_accepts().sequences || learner.any_job().is_none() {
            continue;
        }
        let rows = 3 * block_rows(4) + 500;
        let data = OwnedDataset {
            sequences: Some(uneven_sequences(rows)),
            ..easy(rows, learner.any_roles())
        };
        let expected = fit_in(learner.as_ref(), &data.view(), &run).unwrap();
        let model = hostile_fit(learner.as_ref(), &data.view(), &run, &mut dice).unwrap();
        let bytes = |model: &dyn Model| learnt::persist::file::to_bytes(model.stored()).unwrap();
        let path = entry.about.path;
        assert!(bytes(model.as_ref()) == bytes(expected.model.as_ref()), "{path}");
        tried += 1;
    }
    assert!(tried > 0);
}

#[test]
fn damaged_bytes_and_those_of_another_fit_or_round_are_refused() {
    let run = Context::default().with_threads(1);
    for (name, learner) in streaming() {
        let data = easy(300, learner.any_roles());
        let source = InMemory::new(data.view());
        let job = ByteJob::new(learner.as_ref(), &Outline::of(&data.view()), None, &run).unwrap();
        let state = job.begin(&run).unwrap();
        let (state, told) = (job.to_bytes(&state).unwrap(), job.for_tasks(&state).unwrap());
        let outcome = job.task(&told, &source, &[0], &run).unwrap();
        let advance = |outcomes: &[&[u8]]| job.advance(job.read(&state)?, outcomes, &run);
        for k in 0..40 {
            let at = |length: usize| ((noise(k, 3) + 1.0) / 2.0 * length as f64) as usize;
            let mut damaged = state.clone();
            damaged[at(state.len())] ^= 0x10;
            assert!(job.read(&damaged).is_err(), "{name}");
            let mut damaged = told.clone();
            damaged[at(told.len())] ^= 0x10;
            assert!(job.task(&damaged, &source, &[0], &run).is_err(), "{name}");
            let mut damaged = outcome.clone();
            damaged[at(outcome.len())] ^= 0x10;
            assert!(advance(&[&damaged]).is_err(), "{name}");
            assert!(advance(&[&outcome[..at(outcome.len())]]).is_err(), "{name}");
        }
        assert!(advance(&[]).is_err(), "{name}: no outcome");
        assert!(job.task(&told, &source, &[7], &run).is_err(), "{name}: no such block");
        assert!(job.task(&state, &source, &[0], &run).is_err(), "{name}: a state for a task");
        assert!(job.read(&told).is_err(), "{name}: what tasks know for a state");
        let seeded = run.with_seed(9);
        let other = ByteJob::new(learner.as_ref(), &Outline::of(&data.view()), None, &seeded);
        assert!(other.unwrap().read(&state).is_err(), "{name}: another seed");
        if let Step::Again(next) = advance(&[&outcome]).unwrap() {
            assert!(job.advance(next, &[&outcome], &run).is_err(), "{name}: an earlier round");
        }
    }
}

#[test]
fn every_learner_that_says_it_streams_is_driven_by_the_engine() {
    let driven: Vec<String> = streaming().into_iter().map(|(name, _)| name).collect();
    for (entry, _) in learners().iter().filter(|(entry, _)| entry.about.uses.streaming) {
        assert!(driven.iter().any(|name| name == entry.about.path), "{}", entry.about.path);
    }
}
