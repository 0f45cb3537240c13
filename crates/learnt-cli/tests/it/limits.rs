//! Memory and time: a limit is held by measurement, and Ctrl-C is answered within a second.

use crate::{command, fails, file, learnt, ok};
use learnt::clock::Moment;
use std::io::Write;
use std::process::{Child, Stdio};
use std::time::Duration;

/// The largest resident set of a child until it ends, its exit code and what it said.
#[cfg(target_os = "linux")]
fn watched(words: &[&str], input: Option<Vec<u8>>) -> (u64, i32, String) {
    let mut child = command(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let _ = stdin.write_all(&input.unwrap_or_default());
        });
        while child.try_wait().unwrap().is_none() {
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
            peak = kilobytes.map_or(peak, |kilobytes: u64| peak.max(kilobytes << 10));
            std::thread::sleep(Duration::from_millis(2));
        }
    });
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (peak, output.status.code().unwrap_or(-1), said)
}

/// Rows with numbers and a text.
#[cfg(target_os = "linux")]
fn rows(count: usize) -> String {
    let mut text = String::from("a,b,c,d,id\n");
    for i in 0..count {
        let x = (i * 7919) % 1000;
        text += &format!("{x}.125,{i},{},{},name{i}\n", x * 3, i % 17);
    }
    text
}

/// Every reader keeps to a limit, or says what it would need: 25 % above it is the most.
#[cfg(target_os = "linux")]
#[test]
fn readers_keep_to_the_memory_they_may_have() {
    let folder = tempfile::tempdir().unwrap();
    let csv = file(folder.path(), "t.csv", rows(150_000));
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let mut sources = vec![csv.clone()];
    for name in ["t.ndjson", "t.arff", "t.csv.gz", "t.csv.zst", "t.arrow", "t.parquet"] {
        ok(&["convert", &csv, &place(name)]);
        sources.push(place(name));
    }
    let mut told = Vec::new();
    for limit in [40_u64, 60, 100, 400] {
        let flag = format!("{limit}MB");
        for source in sources.iter().map(String::as_str).chain(["-"]) {
            let input = (source == "-").then(|| rows(150_000).into_bytes());
            let (peak, code, said) = watched(&["describe", source, "--max-memory", &flag], input);
            let share = peak as f64 / (limit * 1_000_000) as f64;
            told.push(format!("{source} under {limit} MB: peak {share:.2}, exit {code}"));
            assert!(code == 0 || code == 7, "{source} under {limit} MB: {said}");
            assert!(code == 7 || limit < 400 || said.is_empty() || !said.contains("error"));
            assert!(share <= 1.25, "{source} took {share:.2} of {limit} MB, exit {code}: {said}");
        }
    }
    assert!(told.iter().any(|line| line.ends_with("exit 0")), "{}", told.join("\n"));
    assert!(told.iter().any(|line| line.ends_with("exit 7")), "{}", told.join("\n"));
}

#[test]
fn what_needs_too_much_is_refused_with_the_count_that_caused_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("id,y\n");
    (0..100_000).for_each(|i| text += &format!("name{i},{}\n", i % 7));
    let ids = file(folder.path(), "ids.csv", text);
    let words = ["fit", "ridge", &ids, "-t", "y", "--task", "regress"];
    let hashed = ["--text", "id=hash:1000000"];
    fails(&[&words[..], &hashed].concat(), 7, &["E060", "1000000"]);
    let many = "2000000000";
    fails(&["make", "blobs", "--rows", many], 7, &["E060", "2000000"]);
    fails(&["fit", "lasso-cv", "cpu", "--alphas", "2147483647"], 7, &["E060", "2147483647"]);
    fails(&["fit", "lasso-cv", "cpu", "--alphas", "9223372036854775807"], 7, &["E060"]);
    fails(
        &["fit", "k-bins-discretizer", "iris", "--n-bins", "2147483647"],
        7,
        &["E060", "2147483647"],
    );
    let wide: Vec<String> = (0..20_000).map(|j| format!("x{j}")).collect();
    let mut text = wide.join(",") + ",y\n";
    for i in 0..6 {
        text += &(0..20_000).map(|j| ((i * j) % 7).to_string()).collect::<Vec<_>>().join(",");
        text += &format!(",{}\n", ["a", "b"][i % 2]);
    }
    let wide = file(folder.path(), "wide.csv", text);
    for learner in ["qda", "regularized-discriminant-analysis", "gaussian-density"] {
        let words = ["fit", learner, &wide, "-t", "y", "--max-memory", "600MB", "--keep", "all"];
        let done = learnt(&words);
        assert_eq!(done.code, 7, "{learner}: {}", done.err);
        assert!(done.err.contains("20000"), "{learner}: {}", done.err);
    }
}

#[test]
fn more_threads_than_the_machine_has_are_not_started() {
    let most = learnt::context::most_threads();
    let said = ok(&["fit", "forest", "iris", "--n-estimators", "3", "-j", "5000"]).err;
    assert!(said.contains(&format!("{most} threads")), "{said}");
}

#[cfg(unix)]
fn interrupted(mut child: Child) -> (Duration, Option<i32>) {
    // Kept open: waiting for a child closes what was not taken.
    let _input = child.stdin.take();
    std::thread::sleep(Duration::from_millis(400));
    let started = Moment::now();
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let status = child.wait().unwrap();
    (started.elapsed(), status.code())
}

/// Every verb that reads, waiting for input; and verbs that compute for long.
#[cfg(unix)]
#[test]
fn an_interrupt_is_answered_at_once_or_a_fifth_of_a_second_later() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let model = place("m.learnt");
    ok(&["fit", "tree", "iris", "-o", &model]);
    let line = place("line.learnt");
    ok(&["fit", "ols", "cpu", "-o", &line]);
    let (csv, many) = (place("o.csv"), "3000000");
    let wide = place("wide.csv");
    ok(&["make", "blobs", "--n-samples", "3000", "--n-features", "1200", "-o", &wide]);
    let all: Vec<Vec<&str>> = vec![
        vec!["describe", "-"],
        vec!["convert", "-", &csv],
        vec!["fit", "tree", "-", "-t", "y"],
        vec!["fit", "tree", "-", "-t", "y", "--stream"],
        vec!["cv", "tree", "-", "-t", "y"],
        vec!["compare", "-", "-t", "y"],
        vec!["path", "lasso", "-", "-t", "y"],
        vec!["predict", &model, "-"],
        vec!["predict", "-", "iris"],
        vec!["score", &model, "-"],
        vec!["update", &model, "-"],
        vec!["ask", &line, "influence", "-"],
        vec!["report", &model, "-", "-o", "r.html"],
        vec!["inspect", "-"],
        vec!["metric", "accuracy-score", "-"],
        vec!["make", "blobs", "--n-samples", many, "--n-features", "20", "-o", &csv],
        vec!["study", "bias-variance", "--data-sets", "100000000"],
        vec!["fit", "pca", &wide],
        vec!["fit", "k-means", &wide, "--n-clusters", "900"],
    ];
    let mut interrupted_verbs = 0;
    let mut times = Vec::new();
    for words in all {
        let child = command(&words)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir(folder.path())
            .spawn()
            .unwrap();
        let (took, code) = interrupted(child);
        times.push(took);
        // A verb that was done was not interrupted. One that is slow on a busy machine is not one of many.
        assert!(took < Duration::from_millis(1500), "{words:?} took {took:?}");
        assert!(matches!(code, Some(130 | 0)), "{words:?}: {code:?}");
        interrupted_verbs += usize::from(code == Some(130));
        let left = std::fs::read_dir(folder.path()).unwrap().flatten();
        let names: Vec<_> = left.map(|entry| entry.file_name()).collect();
        assert!(!names.iter().any(|name| name.to_string_lossy().ends_with(".tmp")), "{words:?}");
    }
    assert!(interrupted_verbs > 12, "only {interrupted_verbs} verbs were interrupted");
    times.sort();
    let middle = times[times.len() / 2];
    assert!(middle < Duration::from_millis(400), "half of the verbs took {middle:?} or more");
}
