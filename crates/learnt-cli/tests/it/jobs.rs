//! A fit as commands: whatever starts commands is the cluster, and the model has the bytes of a streamed fit.

use super::{command, fails, learnt, ok};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Five files of one table: numbers, a column of text, a target. Levels and rows differ from file to file.
fn folder_of(place: &Path, ending: &str) -> String {
    let folder = place.join("parts");
    std::fs::create_dir_all(&folder).unwrap();
    for (k, rows) in [30_000_u64, 9_000, 25_000, 1, 14_000].into_iter().enumerate() {
        let mut text = String::from("a,b,kind,c,y\n");
        for i in 0..rows {
            let i = i + 100_000 * k as u64;
            let noise = |m: u64| ((i * 7_919 + m * 104_729) % 1_009) as f64 / 300.0;
            let kind = ["red", "blue", "green"][((i / 3) as usize + k) % (2 + k % 2)];
            let y = 2.0 * noise(1) - noise(2) + f64::from(u8::from(kind == "red")) + noise(5);
            let _ = writeln!(
                text,
                "{:.3},{:.3},{kind},{:.3},{y:.4}",
                noise(1) + (i % 3) as f64,
                noise(2),
                noise(3)
            );
        }
        let csv = folder.join(format!("part-{k}.csv"));
        std::fs::write(&csv, text).unwrap();
        if ending != "csv" {
            let other = folder.join(format!("part-{k}.{ending}"));
            ok(&["convert", &csv.display().to_string(), &other.display().to_string()]);
            std::fs::remove_file(csv).unwrap();
        }
    }
    folder.display().to_string()
}

/// Plans a fit and runs its rounds, several commands at a time.
pub(crate) fn scheduled(words: &[&str], place: &Path, tasks: usize) -> Vec<u8> {
    let job = place.join(format!("job-{tasks}")).display().to_string();
    let count = tasks.to_string();
    let mut plan = vec!["plan"];
    plan.extend(words);
    plan.extend(["--seed", "4", "--tasks", &count, "-o", &job]);
    ok(&plan);
    let out = place.join(format!("model-{tasks}")).display().to_string();
    for round in 1..200 {
        let mut order: Vec<usize> = (0..tasks).collect();
        order.rotate_left(round % tasks);
        let children: Vec<_> = order
            .iter()
            .map(|k| command(&["task", &job, &k.to_string(), "-q"]).spawn().unwrap())
            .collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        let done = learnt(&["advance", &job, "-o", &out]);
        match done.code {
            0 => return std::fs::read(out).unwrap(),
            9 => assert!(done.err.contains("another one is to be run"), "{}", done.err),
            _ => panic!("{}", done.err),
        }
    }
    panic!("rounds without end")
}

#[test]
fn commands_as_a_cluster_give_the_bytes_of_a_streamed_fit() {
    for ending in ["csv", "parquet"] {
        let place = tempfile::tempdir().unwrap();
        let data = folder_of(place.path(), ending);
        let clusters = ["kmeans", &data, "--n-clusters", "3", "--ignore", "y", "--max-iter", "6"];
        let all = match ending {
            "csv" => vec![clusters.to_vec()],
            _ => vec![
                vec!["ridge", &data, "-t", "y"],
                vec!["logistic", &data, "-t", "kind", "--max-iter", "8"],
                vec!["boost", &data, "-t", "y", "--max-iter", "2", "--max-leaf-nodes", "6"],
                vec!["forest", &data, "-t", "y", "--n-estimators", "2"],
            ],
        };
        for words in all {
            let work = tempfile::tempdir().unwrap();
            let streamed = work.path().join("streamed").display().to_string();
            let mut fit = vec!["fit"];
            fit.extend(&words);
            fit.extend(["--stream", "--seed", "4", "-o", &streamed]);
            ok(&fit);
            let expected = std::fs::read(&streamed).unwrap();
            for tasks in [1, 4] {
                assert!(scheduled(&words, work.path(), tasks) == expected, "{words:?} {tasks}");
            }
        }
    }
}

#[test]
fn make_is_a_cluster() {
    let place = tempfile::tempdir().unwrap();
    if Command::new("make").arg("--version").stdout(Stdio::null()).status().is_err() {
        return;
    }
    let data = folder_of(place.path(), "parquet");
    let job = place.path().join("job").display().to_string();
    ok(&["plan", "ridge", &data, "-t", "y", "--tasks", "3", "-o", &job]);
    let rule = "LEARNT ?= learnt\nTASKS := 0 1 2\nround: $(TASKS:%=task-%)\n$(TASKS:%=task-%): task-%:\n\t$(LEARNT) task $(JOB) $* -q\n.PHONY: round $(TASKS:%=task-%)\n";
    let file = place.path().join("Makefile");
    std::fs::write(&file, rule).unwrap();
    let out = place.path().join("m.learnt").display().to_string();
    let make = || {
        let learnt = format!("LEARNT={}", env!("CARGO_BIN_EXE_learnt"));
        let status = Command::new("make")
            .args(["-s", "-j", "2", "-f"])
            .arg(&file)
            .args([&learnt, &format!("JOB={job}")])
            .status()
            .unwrap();
        assert!(status.success());
        learnt_code(&["advance", &job, "-o", &out])
    };
    while make() == 9 {}
    let streamed = place.path().join("s.learnt").display().to_string();
    ok(&["fit", "ridge", &data, "-t", "y", "--stream", "-o", &streamed]);
    assert!(std::fs::read(out).unwrap() == std::fs::read(streamed).unwrap());
}

/// A scheduler of arrays of tasks, as far as `sbatch --wait --array` goes.
const SBATCH: &str = r#"#!/bin/sh
for word; do
  case $word in --array=*) range=${word#--array=} ;; esac
  command=$word
done
for k in $(seq "${range%-*}" "${range#*-}"); do
  SLURM_ARRAY_TASK_ID=$k sh -c "$command" &
done
wait
"#;

/// The blocks of a kind of the guide to clusters.
fn blocks_of_the_guide(kind: &str) -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/clusters.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mark = format!("```{kind}\n");
    let blocks = page.split(&mark).skip(1);
    blocks.map(|block| block.split("```").next().unwrap_or_default().to_string()).collect()
}

/// Runs text of the guide where `learnt` and `sbatch` are programs, and a job of 8 tasks is planned.
#[cfg(unix)]
fn run_the_guide(text: &str, place: &Path) -> std::process::ExitStatus {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let programs = place.join("programs");
    if !programs.exists() {
        std::fs::create_dir(&programs).unwrap();
        symlink(env!("CARGO_BIN_EXE_learnt"), programs.join("learnt")).unwrap();
        std::fs::write(programs.join("sbatch"), SBATCH).unwrap();
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(programs.join("sbatch"), mode).unwrap();
    }
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", text]).env("PATH", path).current_dir(place).stderr(Stdio::null());
    shell.status().unwrap()
}

#[test]
#[cfg(unix)]
fn the_loops_of_the_guide_with_slurm_and_kubernetes_are_clusters() {
    let place = tempfile::tempdir().unwrap();
    let data = folder_of(place.path(), "parquet");
    // Eight tasks need as many blocks.
    let parts: Vec<_> =
        std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().path()).collect();
    for part in parts {
        let name = part.file_name().unwrap().to_string_lossy().into_owned();
        std::fs::copy(&part, part.with_file_name(format!("again-{name}"))).unwrap();
    }
    let at = |name: &str| place.path().join(name).display().to_string();
    let words = ["logistic", &data, "-t", "kind", "--max-iter", "5"];
    let mut fit = vec!["fit"];
    fit.extend(words);
    let streamed = at("streamed");
    fit.extend(["--stream", "-o", &streamed]);
    ok(&fit);
    let mut loops = blocks_of_the_guide("sh");
    assert!(loops.len() == 2 && loops[1].contains("sbatch"), "{loops:?}");
    // A round of an indexed job is its command for every index.
    let yaml = blocks_of_the_guide("yaml").concat();
    let field = |name: &str| {
        let line = yaml.lines().find_map(|line| line.trim().strip_prefix(name)).unwrap();
        line.trim().to_string()
    };
    let command: Vec<String> = serde_json::from_str(&field("command:")).unwrap();
    let task = command[2].replace("/jobs/", "");
    loops.push(format!(
        "while :; do for k in $(seq 0 $(({} - 1))); do JOB_COMPLETION_INDEX=$k sh -c '{task}' || exit; done; \
         learnt advance job -o model.learnt && break; [ $? = 9 ] || exit; done",
        field("completions:")
    ));
    for text in loops {
        let mut plan = vec!["plan"];
        plan.extend(words);
        let job = at("job");
        plan.extend(["--tasks", "8", "-o", &job]);
        ok(&plan);
        assert!(run_the_guide(&text, place.path()).success(), "{text}");
        let model = std::fs::read(at("model.learnt")).unwrap();
        assert!(model == std::fs::read(&streamed).unwrap(), "{text}");
        std::fs::remove_file(at("model.learnt")).unwrap();
        std::fs::remove_dir_all(job).unwrap();
    }
}

fn learnt_code(words: &[&str]) -> i32 {
    let done = learnt(words);
    assert!([0, 9].contains(&done.code), "{}", done.err);
    done.code
}

#[test]
fn a_task_that_is_killed_is_done_again_and_the_rest_is_known() {
    let place = tempfile::tempdir().unwrap();
    let data = folder_of(place.path(), "csv");
    let job = place.path().join("job").display().to_string();
    ok(&["plan", "ridge", &data, "-t", "y", "--tasks", "4", "-o", &job]);
    ok(&["task", &job, "2"]);
    for _ in 0..3 {
        let mut child = command(&["task", &job, "1"]).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(15));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let missing = learnt(&["advance", &job]);
    assert_eq!(missing.code, 3);
    assert!(missing.err.contains("of round 1 have no answer: 0"), "{}", missing.err);
    fails(&["task", &job, "4"], 2, &["from 0 to 3"]);
    // The rest, and a task once more.
    ok(&["task", &job]);
    ok(&["task", &job, "3"]);
    while learnt_code(&["advance", &job]) == 9 {
        ok(&["task", &job]);
    }
    let streamed = place.path().join("s.learnt").display().to_string();
    ok(&["fit", "ridge", &data, "-t", "y", "--stream", "-o", &streamed]);
    let model = Path::new(&job).join("model.learnt");
    assert!(std::fs::read(model).unwrap() == std::fs::read(streamed).unwrap());
    let log = std::fs::read_to_string(Path::new(&job).join("log.ndjson")).unwrap();
    assert!(log.lines().all(|line| line.contains("\"round\":")) && log.contains("\"done\":true"));
}

#[test]
fn files_that_change_or_vanish_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let data = folder_of(place.path(), "csv");
    let job = place.path().join("job").display().to_string();
    ok(&["plan", "ridge", &data, "-t", "y", "--tasks", "1", "-o", &job]);
    let part = Path::new(&data).join("part-1.csv");
    let old = std::fs::read_to_string(&part).unwrap();
    std::fs::write(&part, old.replacen('7', "8", 1)).unwrap();
    fails(&["task", &job, "0"], 3, &["part-1.csv", "SHA-256 differs", "plan the fit again"]);
    std::fs::remove_file(&part).unwrap();
    fails(&["task", &job, "0"], 3, &["part-1.csv"]);
    std::fs::write(&part, old).unwrap();
    ok(&["task", &job, "0"]);
}

#[test]
fn files_of_a_table_must_agree() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("parts");
    std::fs::create_dir_all(&folder).unwrap();
    let data = folder.display().to_string();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    fails(&["plan", "ridge", &data, "-t", "y"], 3, &["holds no CSV, Parquet or Arrow file"]);
    write("a.csv", "x,z,y\n1,2,3.5\n2,3,4\n5,1,2\n");
    let tries: &[(&str, &[&str])] = &[
        ("x,y\n1,2\n", &["b.csv has no column 'z', and a.csv has"]),
        ("x,z,y,w\n1,2,3,4\n", &["b.csv has a column 'w', and a.csv has none"]),
        ("z,x,y\n1,2,3\n", &["column 'z' is number 1 in b.csv and 2 in a.csv"]),
        ("x,z,y\nred,2,3\n", &["column 'x' is text in b.csv and numbers in a.csv"]),
        ("x,z,y\n", &["b.csv", "no rows"]),
        ("", &["b.csv"]),
    ];
    for (text, parts) in tries {
        write("b.csv", text);
        fails(&["plan", "ridge", &data, "-t", "y"], 3, parts);
        fails(&["fit", "ridge", &data, "-t", "y", "--stream"], 3, parts);
    }
    write("b.csv", "x,z,y\n4,4,4\n");
    ok(&["plan", "ridge", &data, "-t", "y"]);
    // Names that begin with an underscore or a dot are no tables, nor are other endings.
    write("_SUCCESS", "");
    write(".x.csv", "broken");
    write("notes.md", "x");
    ok(&["plan", "ridge", &data, "-t", "y"]);
}

#[test]
fn a_learner_that_does_not_distribute_names_others() {
    fails(
        &["plan", "k-neighbors-classifier", "iris"],
        2,
        &["needs the whole table at once", "logistic", "sample of the rows"],
    );
    fails(&["plan", "dbscan", "iris"], 2, &["k-means"]);
    fails(
        &["fit", "k-neighbors-classifier", "iris", "--stream"],
        2,
        &["KNeighborsClassifier", "logistic"],
    );
    fails(&["plan", "ridge", "cpu"], 2, &["not a bundled set", "learnt convert"]);
}

#[test]
fn another_build_and_forged_bytes_are_refused_in_words() {
    let place = tempfile::tempdir().unwrap();
    let data = folder_of(place.path(), "csv");
    let job = place.path().join("job").display().to_string();
    ok(&["plan", "ridge", &data, "-t", "y", "--tasks", "2", "-o", &job]);
    let path = Path::new(&job).join("job");
    let good = std::fs::read(&path).unwrap();
    let signed = |mut bytes: Vec<u8>| {
        bytes.truncate(bytes.len() - 32);
        let sum = Sha256::digest(&bytes);
        bytes.extend_from_slice(&sum);
        bytes
    };
    let replaced = |from: &str, to: &str| {
        let at = good.windows(from.len()).position(|w| w == from.as_bytes()).expect("a place");
        let mut bytes = good.clone();
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        bytes
    };
    let version = format!("\\\"version\\\":\\\"{}", env!("CARGO_PKG_VERSION"));
    let other = version.replace(env!("CARGO_PKG_VERSION"), "9.9.9");
    std::fs::write(&path, signed(replaced(&version, &other))).unwrap();
    fails(&["task", &job, "0"], 4, &["planned by learnt 9.9.9", "install the same learnt"]);
    // The checksum alone shows damage.
    std::fs::write(&path, replaced(&version, &other)).unwrap();
    fails(&["task", &job, "0"], 4, &["checksum"]);
    std::fs::write(&path, &good[..good.len() / 2]).unwrap();
    fails(&["task", &job, "0"], 4, &[]);
    // A plan of the same files with another seed is another job: states do not mix.
    std::fs::write(&path, &good).unwrap();
    let second = place.path().join("second").display().to_string();
    ok(&["plan", "ridge", &data, "-t", "y", "--tasks", "2", "--alpha", "3", "-o", &second]);
    let round = |job: &str, name: &str| Path::new(job).join("round-00001").join(name);
    std::fs::copy(round(&second, "told"), round(&job, "told")).unwrap();
    fails(&["task", &job, "0"], 4, &["another fit"]);
    // Without what tasks are told, a task reads the state: an engine that went on before wrote no more.
    std::fs::remove_file(round(&job, "told")).unwrap();
    ok(&["task", &job, "rest"]);
    std::fs::copy(round(&second, "state"), round(&job, "state")).unwrap();
    fails(&["task", &job, "0"], 4, &["another fit"]);
    fails(&["advance", &job], 4, &["another fit"]);
}

#[test]
fn a_plan_says_what_it_will_cost() {
    let place = tempfile::tempdir().unwrap();
    let data = folder_of(place.path(), "parquet");
    let small =
        ok(&["plan", "kmeans", &data, "--n-clusters", "3", "--ignore", "y", "--nodes", "1000"]);
    for word in ["rounds", "bytes a round", "memory of a worker", "one machine", "spark"] {
        assert!(small.out.contains(word), "{word}\n{}", small.out);
    }
    assert!(
        small.err.contains("one machine with 16 cores would be as fast or faster"),
        "{}",
        small.err
    );
    let large = ok(&[
        "plan",
        "kmeans",
        &data,
        "--n-clusters",
        "3",
        "--ignore",
        "y",
        "--nodes",
        "1000",
        "--rows",
        "1e11",
        "--json",
    ]);
    let found: serde_json::Value = serde_json::from_str(&large.out).unwrap();
    assert_eq!(found["one_machine_is_enough"], false, "{}", large.out);
    assert!(found["rehearsal"]["rounds"].as_u64().unwrap() > 2);
    assert_eq!(found["job"]["rows"], 78_001);
}

#[test]
fn an_engine_needs_the_python_package_and_says_so() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("t.csv").display().to_string();
    std::fs::write(&data, "x,y\n1,2.5\n2,3\n3,5\n4,4\n").unwrap();
    let kept = place.path().join("kept").display().to_string();
    let words = ["fit", "ridge", &data, "-t", "y", "--engine", "ray", "--checkpoint", &kept];
    let mut command = command(&words);
    let done = command.env("LEARNT_PYTHON", "no-such-python").output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(3), "{said}");
    assert!(said.contains("no-such-python") && said.contains("learnt[ray]"), "{said}");
    // What was planned is there to go on from, and only for the same fit.
    assert!(Path::new(&kept).join("job").exists());
    fails(&words, 2, &["holds a job"]);
    let mut other = words.to_vec();
    other.extend(["--resume", "--alpha", "7"]);
    fails(&other, 2, &["holds another fit"]);
    fails(&["fit", "knn", &data, "-t", "y", "--engine", "ray"], 2, &["whole table at once"]);
    fails(&["fit", "ridge", &data, "-t", "y", "--checkpoint", &kept], 2, &["--stream or --engine"]);
}
