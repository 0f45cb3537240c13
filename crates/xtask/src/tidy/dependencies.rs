//! Every dependency that a crate names is used by its sources, and every one of the workspace by a crate.

use super::{Source, in_name, text_of};

/// Dependencies that no source names, each with the reason.
const UNNAMED: &[(&str, &str, &str)] = &[
    ("learnt-core", "bitflags", "its features, so that all selections of packages share one build"),
    ("learnt-core", "memchr", "its features, so that all selections of packages share one build"),
    (
        "learnt-core",
        "num-complex",
        "its features, so that all selections of packages share one build",
    ),
    (
        "learnt-core",
        "num-traits",
        "its features, so that all selections of packages share one build",
    ),
    (
        "learnt-core",
        "once_cell",
        "its features, so that all selections of packages share one build",
    ),
];

/// Dependencies that nothing uses.
pub(super) fn check(sources: &[Source]) -> Vec<String> {
    problems(sources, UNNAMED)
}

fn problems(sources: &[Source], unnamed: &[(&str, &str, &str)]) -> Vec<String> {
    let mut out = Vec::new();
    let mut used_somewhere: Vec<String> = Vec::new();
    for manifest in sources.iter().filter(|source| is_manifest(&source.path)) {
        let folder = manifest.path.trim_end_matches("Cargo.toml");
        let name = folder.trim_end_matches('/').rsplit('/').next().unwrap_or("");
        for (section, dependency) in declared(&manifest.text) {
            used_somewhere.push(dependency.clone());
            // Tests use what is declared for tests; the library must use the rest itself.
            let place = if section == "dependencies" {
                format!("{folder}src/")
            } else {
                folder.to_string()
            };
            let mut code = sources
                .iter()
                .filter(|source| source.path.starts_with(&place) && source.path.ends_with(".rs"));
            let allowed = unnamed.iter().any(|(at, what, _)| *at == name && *what == dependency);
            match (code.any(|source| names(&source.text, &dependency)), allowed) {
                (false, false) => out.push(format!("{}: nothing uses {dependency}", manifest.path)),
                (true, true) => {
                    out.push(format!("{}: {dependency} is used after all", manifest.path))
                }
                _ => {}
            }
        }
    }
    for (section, dependency) in declared(text_of(sources, "Cargo.toml")) {
        if section == "workspace.dependencies" && !used_somewhere.contains(&dependency) {
            out.push(format!("Cargo.toml: no crate uses {dependency}"));
        }
    }
    out
}

fn is_manifest(path: &str) -> bool {
    path.starts_with("crates/") && path.ends_with("/Cargo.toml")
}

/// Sections of dependencies with the names in them.
fn declared(manifest: &str) -> Vec<(String, String)> {
    let mut section = String::new();
    let mut out = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if let Some(head) = line.strip_prefix('[') {
            section = head.trim_end_matches(']').to_string();
        } else if section.ends_with("dependencies") && !line.starts_with('#') {
            let end = line.find(|c: char| !(in_name(c) || c == '-')).unwrap_or(line.len());
            if end > 0 {
                out.push((section.clone(), line[..end].to_string()));
            }
        }
    }
    out
}

/// Whether code names the crate: in a path or in a `use`.
fn names(code: &str, dependency: &str) -> bool {
    let name = dependency.replace('-', "_");
    code.match_indices(&name).any(|(at, _)| {
        let before = code[..at].chars().next_back().unwrap_or(' ');
        let after = &code[at + name.len()..];
        let used = code[..at].ends_with("use ") && after.starts_with([';', ' ']);
        !in_name(before) && (after.starts_with("::") || used)
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::files;
    use super::*;

    const MANIFEST: &str = "[package]\nname = \"a\"\n[dependencies]\nmem-map = \"1\"\n[dev-dependencies]\ntempfile.workspace = true\n";

    fn check_with(library: &str, test: &str) -> Vec<String> {
        let sources = files(&[
            ("crates/a/Cargo.toml", MANIFEST),
            ("crates/a/src/lib.rs", library),
            ("crates/a/tests/it.rs", test),
        ]);
        problems(&sources, &[])
    }

    #[test]
    fn a_dependency_that_no_source_names_is_refused() {
        assert!(check_with("use mem_map::Map;", "tempfile::tempdir()").is_empty());
        let found = check_with("let not_mem_map::x = 1;", "");
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0], "crates/a/Cargo.toml: nothing uses mem-map");
        // What only tests use is a dependency of the tests.
        assert_eq!(check_with("", "mem_map::x(); tempfile::y()").len(), 1);
    }

    #[test]
    fn a_reason_for_a_dependency_that_is_used_is_refused() {
        let sources = files(&[
            ("crates/a/Cargo.toml", "[dependencies]\nx = \"1\"\n"),
            ("crates/a/src/lib.rs", "x::y()"),
        ]);
        assert_eq!(problems(&sources, &[("a", "x", "features")]).len(), 1);
    }

    #[test]
    fn a_dependency_of_the_workspace_that_no_crate_takes_is_refused() {
        let sources = files(&[("Cargo.toml", "[workspace.dependencies]\nmemmap2 = \"0.9\"\n")]);
        assert_eq!(problems(&sources, &[]), ["Cargo.toml: no crate uses memmap2"]);
    }
}
