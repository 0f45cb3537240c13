//! Model files at the command: refused when damaged, whole after a kill, streamed within bounds.

use crate::{command, fails, file, houses, ok};
use learnt::clock::Moment;
use std::process::Stdio;
use std::time::Duration;

#[test]
fn a_model_is_not_replaced_by_accident() {
    let folder = tempfile::tempdir().unwrap();
    let data = file(folder.path(), "houses.csv", houses());
    let model = file(folder.path(), "m.learnt", "old");
    fails(&["fit", "ridge", &data, "-t", "price", "-o", &model], 2, &["exists", "-f"]);
    assert_eq!(std::fs::read(&model).unwrap(), b"old");
    ok(&["fit", "ridge", &data, "-t", "price", "-o", &model, "-f"]);
    assert!(std::fs::read(&model).unwrap().starts_with(b"learnt\0"));
}

#[test]
fn damaged_foreign_and_newer_files_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let data = file(folder.path(), "houses.csv", houses());
    let model = folder.path().join("m.learnt").to_str().unwrap().to_string();
    ok(&["fit", "tree", &data, "-t", "price", "-o", &model]);
    let bytes = std::fs::read(&model).unwrap();
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 1;
    let mut newer = bytes.clone();
    newer[7] = 99;
    let cases: [(&str, Vec<u8>, &str); 5] = [
        ("flipped", flipped, "E050"),
        ("cut", bytes[..bytes.len() - 7].to_vec(), "E050"),
        ("start", bytes[..5].to_vec(), "E051"),
        ("newer", newer, "E053"),
        ("pickle", b"\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00.".to_vec(), "E054"),
    ];
    for (name, content, code) in cases {
        let path = file(folder.path(), name, content);
        fails(&["predict", &path, &data], 4, &[code]);
        fails(&["verify", &path], 4, &[code]);
    }
}

/// Kills a loop of saves at many moments: the path always holds a whole model.
#[cfg(unix)]
#[test]
fn a_kill_during_saving_leaves_the_old_file_or_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let data = file(folder.path(), "houses.csv", houses());
    let model = folder.path().join("m.learnt").to_str().unwrap().to_string();
    ok(&["fit", "knn", &data, "-t", "price", "-o", &model]);
    for delay in 0..40 {
        let words = [
            "fit",
            "knn",
            &data,
            "-t",
            "price",
            "-o",
            &model,
            "-f",
            "-q",
            "--seed",
            &delay.to_string(),
        ];
        let mut child =
            command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(1000 * delay));
        child.kill().unwrap();
        child.wait().unwrap();
        ok(&["verify", &model]);
    }
}

/// Ctrl-C stops a long fit soon, with its own exit code and without a file.
#[cfg(unix)]
#[test]
fn an_interrupt_stops_a_fit_and_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("blobs.csv").to_str().unwrap().to_string();
    ok(&["make", "blobs", "--rows", "30000", "-o", &data]);
    let model = folder.path().join("m.learnt");
    let words = [
        "fit",
        "k-means",
        &data,
        "--n-clusters",
        "200",
        "--n-init",
        "500",
        "--tol",
        "0",
        "-o",
        model.to_str().unwrap(),
    ];
    let child = command(&words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let interrupted = Moment::now();
    let status = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(status.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(interrupted.elapsed() < Duration::from_secs(20));
    assert!(!model.exists());
}

#[cfg(not(feature = "columnar"))]
#[test]
fn a_build_without_parquet_says_how_to_build_one_with_it() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.parquet", "a.csv.zst"] {
        let data = folder.path().join(name).to_str().unwrap().to_string();
        let done = super::learnt(&["dataset", "iris", "-o", &data]);
        assert_ne!(done.code, 0);
        assert!(done.err.contains("--features columnar"), "{}", done.err);
    }
}

/// Fits a file that is larger than the limit, and measures the peak of resident memory.
#[cfg(all(target_os = "linux", feature = "columnar"))]
#[test]
fn a_streamed_fit_stays_below_a_limit_smaller_than_its_file() {
    const LIMIT: u64 = 150_000_000;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("big.parquet").to_str().unwrap().to_string();
    ok(&["make", "regression", "--rows", "1000000", "--columns", "19", "-o", &data]);
    assert!(
        std::fs::metadata(&data).unwrap().len() > LIMIT,
        "the file must be larger than the limit"
    );
    let model = folder.path().join("m.learnt").to_str().unwrap().to_string();
    let words = [
        "fit",
        "ridge",
        &data,
        "-t",
        "y",
        "--stream",
        "--max-memory",
        "150MB",
        "-j",
        "2",
        "-o",
        &model,
    ];
    let (code, peak, said) = with_peak(&words);
    assert_eq!(code, Some(0), "{said}");
    assert!(peak > 0 && peak < LIMIT, "the peak was {peak} bytes");
    ok(&["verify", &model]);
}

/// Exit code, peak of resident memory, and standard error of a call.
#[cfg(target_os = "linux")]
fn with_peak(words: &[&str]) -> (Option<i32>, u64, String) {
    let mut child = command(words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        peak = peak.max(high_water_mark(&status).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(1));
    }
    let output = child.wait_with_output().unwrap();
    (output.status.code(), peak, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A model file with any header and data, and a right checksum.
#[cfg(target_os = "linux")]
fn forged(header: &[u8], data: &[u8]) -> Vec<u8> {
    use sha2::{Digest, Sha256};
    let mut bytes = b"learnt\0\x01".to_vec();
    bytes.extend_from_slice(&(header.len() as u64).to_le_bytes());
    bytes.extend_from_slice(header);
    bytes.extend_from_slice(data);
    let checksum = Sha256::digest(&bytes);
    bytes.extend_from_slice(&checksum);
    bytes
}

/// Headers made to exhaust memory or the stack, or to point outside the file.
#[cfg(target_os = "linux")]
#[test]
fn forged_headers_are_refused_within_bounded_memory() {
    let tensor = |name: &str, shape: &str, from: u64, to: u64| {
        format!("\"{name}\":{{\"dtype\":\"F64\",\"shape\":{shape},\"data_offsets\":[{from},{to}]}}")
    };
    let with = |tensors: &[String]| {
        format!("{{\"__metadata__\":{{\"learnt\":\"null\"}},{}}}", tensors.join(","))
    };
    let many: Vec<String> = (0..100_000).map(|i| tensor(&format!("t{i}"), "[0]", 0, 0)).collect();
    let cases: Vec<(&str, Vec<u8>)> = vec![
        (
            "a list of millions",
            forged(format!("{{\"a\":[{}0]}}", "0,".repeat(7_000_000)).as_bytes(), b""),
        ),
        ("a hundred thousand levels", forged("[".repeat(100_000).as_bytes(), b"")),
        ("a hundred thousand arrays", forged(with(&many).as_bytes(), b"")),
        (
            "a shape that overflows",
            forged(with(&[tensor("a", "[1099511627776,1099511627776]", 0, 8)]).as_bytes(), &[0; 8]),
        ),
        (
            "an array beyond the file",
            forged(with(&[tensor("a", "[1000000]", 0, 8_000_000)]).as_bytes(), &[0; 8]),
        ),
        (
            "arrays that overlap",
            forged(with(&[tensor("a", "[1]", 0, 8), tensor("b", "[1]", 0, 8)]).as_bytes(), &[0; 8]),
        ),
        ("a key twice", forged(b"{\"__metadata__\":{\"learnt\":\"1\",\"learnt\":\"2\"}}", b"")),
        ("no manifest", forged(b"{}", b"")),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in cases {
        let size = bytes.len() as u64;
        let path = file(folder.path(), "forged.learnt", bytes);
        let (code, peak, said) = with_peak(&["verify", &path]);
        assert_eq!(code, Some(4), "{name}: {said}");
        assert!(said.contains("E052"), "{name}: {said}");
        assert!(peak < 2 * size + 64_000_000, "{name}: {peak} bytes for a file of {size}");
    }
}

#[cfg(target_os = "linux")]
fn high_water_mark(status: &str) -> Option<u64> {
    let text = std::fs::read_to_string(status).ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// The same rows, streamed and whole, give models that predict the same bits.
#[test]
fn streamed_and_whole_fits_agree() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("rows.csv").to_str().unwrap().to_string();
    ok(&[
        "make",
        "regression",
        "--rows",
        "40000",
        "--columns",
        "3",
        "--n-informative",
        "2",
        "-o",
        &data,
    ]);
    let new = folder.path().join("new.csv").to_str().unwrap().to_string();
    ok(&[
        "make",
        "regression",
        "--rows",
        "100",
        "--columns",
        "3",
        "--n-informative",
        "2",
        "--seed",
        "9",
        "-o",
        &new,
    ]);
    let predict = |flags: &[&str]| {
        let model = folder.path().join("m.learnt").to_str().unwrap().to_string();
        let words = [&["fit", "ridge", &data, "-t", "y", "-f", "-o", &model], flags].concat();
        ok(&words);
        ok(&["predict", &model, &new]).out
    };
    assert_eq!(predict(&["--stream"]), predict(&[]));
    assert_eq!(predict(&["--stream", "--threads", "1"]), predict(&["--threads", "4"]));
}
