//! Training that goes on with more rows: declared, deterministic, storable in between, and refused in
//! words where a learner cannot or the rows do not fit.

use super::{easy, for_each, learners, outputs, same_bits};
use learnt::prelude::*;
use learnt::trained::Trained;

fn update(before: Option<&Trained>, learner: &dyn AnyEstimator, data: &Dataset) -> Result<Trained> {
    Trained::update(before, learner, data, &[], &Context::default().with_threads(2))
}

#[test]
fn learners_go_on_training_exactly_where_they_say_so() {
    let mut online = 0;
    for (entry, learner) in learners() {
        let data = easy(60, learner.any_roles());
        let last = learner.learners().last().map(|inner| inner.learner.about().uses.online);
        let says = match entry.about.path {
            // A pipeline goes on where its last step does.
            "pipeline.Pipeline" => last.unwrap_or(false),
            _ => entry.about.uses.online,
        };
        match update(None, learner.as_ref(), &data.view()) {
            Ok(_) => assert!(says, "{} does not say so", entry.about.path),
            Err(error) => {
                assert!(!says, "{}: {error}", entry.about.path);
                assert_eq!(error.code(), Code::Unsupported, "{}: {error}", entry.about.path);
                assert!(error.hint_text().is_some());
            }
        }
        online += usize::from(entry.about.uses.online);
    }
    assert!(online >= 1, "no learner goes on training");
}

fn for_each_online(
    check: &str,
    test: impl Fn(&dyn AnyEstimator) -> std::result::Result<(), String>,
) {
    for_each(check, |entry, learner| match entry.about.uses.online {
        true => test(learner),
        false => Ok(()),
    });
}

#[test]
fn updates_give_the_same_bytes_on_any_number_of_threads_and_through_a_file() {
    for_each_online("same_updates", |learner| {
        let data = easy(120, learner.any_roles());
        let halves = [data.view().rows(0, 50), data.view().rows(50, 120)];
        let by = |threads: usize, through_a_file: bool| -> Result<Vec<u8>> {
            let run = Context::default().with_threads(threads).with_seed(5);
            let mut trained = Trained::update(None, learner, &halves[0], &[], &run)?;
            if through_a_file {
                trained = learnt::from_bytes(&trained.to_bytes()?)?;
            }
            Trained::update(Some(&trained), learner, &halves[1], &[], &run)?.to_bytes()
        };
        let first = by(1, false).map_err(|error| error.to_string())?;
        for (threads, through_a_file) in [(1, true), (2, false), (4, true)] {
            if by(threads, through_a_file).map_err(|error| error.to_string())? != first {
                return Err(format!("{threads} threads, through a file {through_a_file}"));
            }
        }
        Ok(())
    });
}

#[test]
fn many_updates_learn_easy_data() {
    for_each_online("updates_learn", |learner| {
        // Of three groups on a line the middle one has no line of its own against the others.
        let data = easy(300, Roles { two_classes: true, ..learner.any_roles() });
        let Some(Target::Class { codes, .. }) = data.view().y else { return Ok(()) };
        let mut trained = None;
        for pass in 0..6 {
            for start in (0..300).step_by(60) {
                let rows = data.view().rows(start, start + 60);
                let next = update(trained.as_ref(), learner, &rows);
                trained = Some(next.map_err(|error| format!("pass {pass}: {error}"))?);
            }
        }
        let trained = trained.ok_or("no model")?;
        if trained.history.rows != 1800 {
            return Err(format!("{} rows in the history", trained.history.rows));
        }
        let classifier = trained.model.as_classifier().ok_or("no classifier")?;
        let predicted = classifier.classify(&data.x.frame()).map_err(|error| error.to_string())?;
        let right = predicted.iter().zip(codes).filter(|(a, b)| a == b).count();
        if right < 270 { Err(format!("{right} of 300 right")) } else { Ok(()) }
    });
}

#[test]
fn columns_of_later_rows_are_matched_by_name_and_others_refused() {
    for_each_online("update_columns", |learner| {
        let data = easy(80, learner.any_roles());
        let (first, second) = (data.view().rows(0, 40), data.view().rows(40, 80));
        let begun = update(None, learner, &first).map_err(|error| error.to_string())?;
        let plain = update(Some(&begun), learner, &second).map_err(|error| error.to_string())?;
        let moved = second.x.select(&[2, 0, 3, 1]);
        let moved = update(Some(&begun), learner, &Dataset { x: moved.frame(), ..second })
            .map_err(|error| error.to_string())?;
        let (a, b) = (outputs(&plain, &data.x.frame()), outputs(&moved, &data.x.frame()));
        if !same_bits(&a.map_err(|e| e.to_string())?, &b.map_err(|e| e.to_string())?) {
            return Err("another order of columns gives another model".into());
        }
        let narrow = second.x.select(&[0, 1, 2]);
        match update(Some(&begun), learner, &Dataset { x: narrow.frame(), ..second }) {
            Err(error) if error.code() == Code::Schema => Ok(()),
            other => Err(format!("a column is missing: {:?}", other.map(|_| "a model"))),
        }
    });
}

#[test]
fn later_classes_are_a_part_of_the_first_ones() {
    for_each_online("update_classes", |learner| {
        let data = easy(60, learner.any_roles());
        if !learner.any_roles().classifier {
            return Ok(());
        }
        let begun = update(None, learner, &data.view()).map_err(|error| error.to_string())?;
        let one = vec![Label::from("red"); 5];
        let part =
            OwnedDataset::classification(data.view().rows(0, 5).x.to_table().into_parts().0, &one);
        update(Some(&begun), learner, &part.view()).map_err(|error| error.to_string())?;
        let new = vec![Label::from("violet"); 5];
        let other = OwnedDataset { y: Some(OwnedTarget::from_labels(&new)), ..part };
        match update(Some(&begun), learner, &other.view()) {
            Err(error) if error.code() == Code::Target && error.message().contains("violet") => {
                Ok(())
            }
            other => Err(format!("a new class: {:?}", other.map(|_| "a model"))),
        }
    });
}

#[test]
fn a_model_goes_on_only_with_its_own_learner() {
    let learner = learnt::bayes::GaussianNB::default();
    let data = easy(30, learner.any_roles());
    let begun = update(None, &learner, &data.view()).unwrap();
    let other = learnt::baseline::DummyClassifier::default();
    assert_eq!(update(Some(&begun), &other, &data.view()).unwrap_err().code(), Code::Usage);
}
