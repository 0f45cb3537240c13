//! A streamed fit that is killed goes on where it was, with the same bits.

use super::{command, learnt, ok};
use learnt::clock::Moment;
use std::fmt::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// Four blocks of rows in three groups.
fn table(folder: &Path) -> String {
    let mut text = String::from("a,b,c,y\n");
    for i in 0..60_000_u64 {
        let noise = |k: u64| ((i * 7_919 + k * 104_729) % 1_009) as f64 / 300.0;
        let group = (i % 3) as f64;
        let _ = writeln!(
            text,
            "{:.3},{:.3},{:.3},{}",
            group + noise(1),
            2.0 * group - noise(2),
            noise(3),
            if noise(4) + group > 2.5 { "yes" } else { "no" }
        );
    }
    let path = folder.join("t.csv");
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// The words of a fit whose checkpoint is written after every few blocks.
fn fit<'a>(learner: &[&'a str], out: &'a str, kept: &'a str) -> Vec<&'a str> {
    let (name, rest) = learner.split_first().unwrap();
    let mut words = vec!["fit", name];
    words.extend(rest);
    words.extend(["--stream", "--threads", "1", "--seed", "4", "-o", out]);
    words.extend(["--checkpoint", kept, "--checkpoint-every", "0", "--resume"]);
    words
}

/// Starts a fit and kills it after its checkpoint has changed this often; false if it ended first.
fn killed_after(words: &[&str], kept: &Path, changes: usize) -> bool {
    let mut child = command(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let stamp = || std::fs::metadata(kept).and_then(|meta| meta.modified()).ok();
    let (mut last, mut seen, started) = (stamp(), 0, Moment::now());
    loop {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        let now = stamp();
        if now != last {
            (last, seen) = (now, seen + 1);
        }
        if seen >= changes || started.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            child.wait().unwrap();
            return true;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

#[test]
fn a_fit_that_is_killed_again_and_again_ends_with_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let data = table(folder.path());
    let learners: [&[&str]; 4] = [
        &["kmeans", &data, "--n-clusters", "3", "--ignore", "y"],
        &["logistic", &data, "-t", "y", "--C", "10"],
        &["boost", &data, "-t", "y", "--max-iter", "3"],
        &["forest", &data, "-t", "y", "--n-estimators", "3", "--oob-score", "true"],
    ];
    for (k, learner) in learners.iter().enumerate() {
        let at = |name: &str| folder.path().join(format!("{name}{k}")).display().to_string();
        let (whole, out, kept) = (at("whole"), at("out"), at("kept"));
        ok(&fit(learner, &whole, &at("other")));
        assert_eq!(std::fs::read_dir(at("other")).unwrap().count(), 0, "a checkpoint is left");
        let words = fit(learner, &out, &kept);
        let file = Path::new(&kept).join("fit.checkpoint");
        let mut kills = 0;
        while kills < 12 && killed_after(&words, &file, 1 + kills % 4) {
            kills += 1;
        }
        assert!(kills >= 3, "{learner:?} was killed {kills} times");
        if !Path::new(&out).exists() {
            ok(&words);
        }
        assert!(std::fs::read(&whole).unwrap() == std::fs::read(&out).unwrap(), "{learner:?}");
    }
}

#[test]
fn a_checkpoint_of_another_fit_and_a_damaged_one_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = table(folder.path());
    let kept = folder.path().join("kept");
    let (out, place) = (folder.path().join("m").display().to_string(), kept.display().to_string());
    let learner = ["kmeans", data.as_str(), "--n-clusters", "3", "--ignore", "y"];
    let words = fit(&learner, &out, &place);
    let file = kept.join("fit.checkpoint");
    assert!(killed_after(&words, &file, 2));

    let fresh: Vec<&str> = words.iter().copied().filter(|word| *word != "--resume").collect();
    let done = learnt(&fresh);
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("holds a checkpoint") && done.err.contains("--resume"));

    let seeded: Vec<&str> =
        words.iter().map(|word| if *word == "4" { "5" } else { word }).collect();
    let done = learnt(&seeded);
    assert_eq!(done.code, 2, "{}", done.err);
    assert!(done.err.contains("another fit") && done.err.contains("seed"), "{}", done.err);

    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let done = learnt(&words);
    assert_eq!(done.code, 4, "{}", done.err);
    assert!(done.err.contains("fit.checkpoint"), "{}", done.err);

    let done = learnt(&["fit", "kmeans", &data, "--checkpoint", &place]);
    assert_eq!(done.code, 2, "{}", done.err);
}
