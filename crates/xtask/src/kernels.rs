//! `cargo xtask kernels`: looks at the compiled code of every vector kernel.
//!
//! A kernel that the compiler did not inline into the function with the vector instructions still gives right
//! numbers, with two lanes instead of four or eight, on every processor. No test of numbers sees that and no
//! measurement of time says why. The assembly does: each kernel has a function for AVX2 and one for AVX-512, and
//! these must do arithmetic on whole wide registers.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::{say, venv};

/// The crates with kernels.
const CRATES: [&str; 2] = ["learnt-core", "learnt"];
/// Part of the name of every kernel's functions (`learnt_core::linalg::kernel`).
const MARK: &str = "10Dispatched";
/// The backend's functions with AVX2 and with AVX-512.
const SETS: [(&str, &str); 2] = [("2V39vectorize", "AVX2"), ("2V49vectorize", "AVX-512")];

/// Compiles the two crates as they are shipped, of the families only those with kernels and what these need, and
/// refuses a kernel without wide arithmetic.
pub(crate) fn check() -> Result<(), String> {
    if !cfg!(target_arch = "x86_64") {
        say("kernels: nothing is known about the registers of this processor; not checked");
        return Ok(());
    }
    let mut kernels = Kernels::default();
    for name in CRATES {
        for file in assembly(name, &families(name)?)? {
            let text = fs::read_to_string(&file)
                .map_err(|error| format!("{}: {error}", file.display()))?;
            kernels.read(&text);
        }
    }
    let mut wrong = kernels.narrow();
    for name in CRATES {
        let folder = venv::root().join("crates").join(name).join("src");
        wrong.extend(kernels.missing(&writers(&folder)?));
    }
    match wrong.is_empty() {
        true => {
            say(&format!("kernels: {} functions, all with wide registers", kernels.wide.len()));
            Ok(())
        }
        false => Err(format!(
            "{}\nwrite them as crates/learnt-core/src/linalg/kernel.rs says",
            wrong.join("\n")
        )),
    }
}

/// The folders of a crate that hold kernels, where every folder is a feature.
fn families(name: &str) -> Result<Vec<String>, String> {
    let folder = venv::root().join("crates").join(name).join("src");
    let manifest = venv::root().join("crates").join(name).join("Cargo.toml");
    let manifest = fs::read_to_string(&manifest)
        .map_err(|error| format!("{}: {error}", manifest.display()))?;
    let mut out = Vec::new();
    let listed = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in listed.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
        let family = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_feature = manifest.lines().any(|line| line.starts_with(&format!("{family} = [")));
        if path.is_dir() && is_feature && !writers(&path)?.is_empty() {
            out.push(family);
        }
    }
    out.sort();
    Ok(out)
}

/// The files of assembly that a crate compiles to, with these features and full optimisation.
fn assembly(name: &str, features: &[String]) -> Result<Vec<PathBuf>, String> {
    let mut command = venv::cargo_command(&["rustc", "--quiet", "--package", name, "--lib"]);
    if !features.is_empty() {
        command.args(["--no-default-features", "--features", &features.join(",")]);
    }
    command
        .args(["--message-format=json-render-diagnostics", "--", "--cap-lints=allow"])
        .args(["--emit=asm", "-Copt-level=3", "-Ccodegen-units=16"])
        .arg("-Csymbol-mangling-version=v0");
    // What an incremental build takes over from the one before has no assembly.
    command.env("CARGO_INCREMENTAL", "0");
    // Cargo keeps what is compiled through a program apart: the next build finds its own files as they were.
    if cfg!(unix) {
        command.env("RUSTC_WORKSPACE_WRAPPER", "env");
    }
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", output.status));
    }
    let crate_name = name.replace('-', "_");
    let library = String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == crate_name.as_str())
        .flat_map(|message| message["filenames"].as_array().cloned().unwrap_or_default())
        .filter_map(|file| file.as_str().map(PathBuf::from))
        .find(|file| file.extension().is_some_and(|kind| kind == "rmeta"))
        .ok_or_else(|| format!("cargo did not say where it put {name}"))?;
    let stem = library.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let stem = stem.strip_prefix("lib").unwrap_or(&stem).to_string();
    let folder = library.parent().unwrap_or(Path::new("."));
    let listed = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    // Assembly is written after the interface of the crate; what is older is of an earlier build.
    let written = |file: &Path| fs::metadata(file).and_then(|facts| facts.modified()).ok();
    let begun = written(&library);
    let mut files: Vec<PathBuf> = listed
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|file| written(file) >= begun)
        .filter(|file| file.extension().is_some_and(|kind| kind == "s"))
        .filter(|file| file.file_name().is_some_and(|f| f.to_string_lossy().starts_with(&stem)))
        .collect();
    files.sort();
    match files.is_empty() {
        true => Err(format!("no assembly of {name} in {}", folder.display())),
        false => Ok(files),
    }
}

/// The functions of kernels by their symbols: instruction set, and lines of wide arithmetic.
#[derive(Default)]
struct Kernels {
    wide: BTreeMap<String, (&'static str, usize)>,
}

impl Kernels {
    /// Takes in one file of assembly.
    fn read(&mut self, text: &str) {
        let mut current: Option<String> = None;
        for line in text.lines() {
            if let Some(symbol) = line.strip_suffix(':').filter(|label| !label.starts_with(".L")) {
                let set = SETS.iter().find(|(set, _)| symbol.contains(set));
                current = set.filter(|_| symbol.contains(MARK)).map(|&(_, set)| {
                    self.wide.entry(symbol.to_string()).or_insert((set, 0));
                    symbol.to_string()
                });
            } else if let Some(symbol) = &current
                && is_wide(line)
                && let Some((_, count)) = self.wide.get_mut(symbol)
            {
                *count += 1;
            }
        }
    }

    /// A sentence for each function without wide arithmetic.
    fn narrow(&self) -> Vec<String> {
        let narrow = self.wide.iter().filter(|(_, (_, count))| *count == 0);
        narrow
            .map(|(symbol, (set, _))| {
                format!("no wide arithmetic with {set} in {}", words(symbol).join("::"))
            })
            .collect()
    }

    /// A sentence for each module that writes a kernel and has none in the compiled code.
    fn missing(&self, modules: &[String]) -> Vec<String> {
        // In a symbol every name stands after its length.
        let has = |module: &String| {
            let name = format!("{}{module}", module.len());
            self.wide.keys().any(|symbol| symbol.contains(&name))
        };
        let missing = modules.iter().filter(|module| !has(module));
        missing.map(|module| format!("no compiled kernel of module {module}")).collect()
    }
}

/// Whether a line is arithmetic on packed numbers in registers of four or eight.
fn is_wide(line: &str) -> bool {
    const ARITHMETIC: [&str; 11] =
        ["vadd", "vsub", "vmul", "vdiv", "vmax", "vmin", "vfma", "vfnma", "vfms", "vcmp", "vcvt"];
    let line = line.trim_start();
    let (name, operands) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let packed = name.ends_with("pd") || name.ends_with("ps");
    let wide = operands.contains("%ymm") || operands.contains("%zmm");
    packed && wide && ARITHMETIC.iter().any(|prefix| name.starts_with(prefix))
}

/// The identifiers in a symbol, more or less: numbers that are no lengths may add some.
fn words(symbol: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = symbol;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        rest = &rest[start..];
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let length: usize = rest[..digits].parse().unwrap_or(0);
        let after = rest[digits..].strip_prefix('_').unwrap_or(&rest[digits..]);
        match after.get(..length) {
            Some(word) if length > 1 && word.chars().all(|c| c.is_alphanumeric() || c == '_') => {
                out.push(word.to_string());
                rest = &after[length..];
            }
            _ => rest = &rest[digits..],
        }
    }
    out
}

/// The modules below a folder that write kernels.
fn writers(folder: &Path) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    let listed = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in listed.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
        if path.is_dir() {
            out.extend(writers(&path)?);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            let text = fs::read_to_string(&path)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            let mut lines =
                text.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
            if lines.any(|line| line.contains(" vectorized!(") || line.starts_with("vectorized!("))
            {
                let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let parent = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
                out.push(if stem == "mod" { parent } else { stem });
            }
        }
    }
    out.sort();
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "_RINvMNtNtC4pulp3x862v32V39vectorize12imp_fastcallINtNt6kernel10DispatchedNCNvNtC6learnt7kernels6scores0EE";
    const BAD: &str = "_RINvMNtNtC4pulp3x862v42V49vectorize3impINtNt6kernel10DispatchedNCNvNtC6learnt7moments5about0EE";

    fn kernels() -> Kernels {
        let text = format!(
            "{GOOD}:\n.LBB0_1:\n\tvmulpd\t(%rdi), %ymm0, %ymm1\n\tvmovupd %ymm1, (%rsi)\n\
             {BAD}:\n\tvmovups\t(%rdi), %ymm0\n\tvmulpd\t%xmm0, %xmm1, %xmm1\n\
             main:\n\taddpd\t%xmm0, %xmm1\n"
        );
        let mut kernels = Kernels::default();
        kernels.read(&text);
        kernels
    }

    #[test]
    fn a_kernel_that_only_moves_wide_registers_is_refused() {
        let narrow = kernels().narrow();
        assert_eq!(narrow.len(), 1);
        assert!(
            narrow[0].contains("AVX-512") && narrow[0].contains("moments::about"),
            "{narrow:?}"
        );
    }

    #[test]
    fn a_module_whose_kernel_was_not_compiled_is_named() {
        let missing = kernels().missing(&["kernels".to_string(), "softmax".to_string()]);
        assert_eq!(missing, ["no compiled kernel of module softmax"]);
    }

    #[test]
    fn this_checkout_has_kernels_to_look_at() {
        let found = writers(&venv::root().join("crates/learnt/src")).unwrap();
        assert!(found.contains(&"kernels".to_string()), "{found:?}");
    }

    #[test]
    fn families_with_kernels_are_compiled_and_no_others() {
        let found = families("learnt").unwrap();
        assert!(found.contains(&"linear".to_string()), "{found:?}");
        assert!(!found.contains(&"plot".to_string()), "{found:?}");
        assert!(families("learnt-core").unwrap().is_empty());
    }
}
