//! Every promise of `SECURITY.md` names what checks it, and what it names exists.
//!
//! In the last cell of a promise's line, a crate is named first and then its tests: `it::…` are those of its
//! test binary, others stand in its sources. A name may be a test, the beginning of one (`a_kill…`), or a
//! file with tests. Tests of Python are named by their files. `unsafe` stays denied: every crate takes the lints of
//! the workspace, and no source allows it but those of a list.

use super::{Source, text_of};

const PAGE: &str = "SECURITY.md";
/// The promises that there must be.
const PROMISES: usize = 20;

/// Promises without a test, and names of tests that do not exist.
pub(super) fn check(sources: &[Source]) -> Vec<String> {
    let page = text_of(sources, PAGE);
    let mut out = unsafe_code(sources);
    for k in 1..=PROMISES {
        let start = format!("| P{k} |");
        match page.lines().filter(|line| line.starts_with(&start)).count() {
            1 => {}
            count => out.push(format!("{PAGE}: promise P{k} stands there {count} times")),
        }
    }
    for line in page.lines().filter(|line| line.starts_with("| P")) {
        let cells: Vec<&str> = line.trim_matches(['|', ' ']).split(" | ").collect();
        let (name, checks) = (cells[0], cells.last().copied().unwrap_or_default());
        let mut place = "";
        let mut found = 0;
        for span in checks.split('`').skip(1).step_by(2) {
            if span.ends_with(".py") && !span.contains(' ') {
                found += 1;
                if text_of(sources, span).is_empty() {
                    out.push(format!("{PAGE}: {name}: there is no {span}"));
                }
            } else if span.contains("::") {
                found += 1;
                if !stands(sources, place, span) {
                    out.push(format!("{PAGE}: {name}: {place} has no test {span}"));
                }
            } else if is_crate(sources, span) {
                place = span;
            }
        }
        if found == 0 {
            out.push(format!("{PAGE}: {name} names no test"));
        }
    }
    out
}

fn is_crate(sources: &[Source], name: &str) -> bool {
    !text_of(sources, &format!("crates/{name}/Cargo.toml")).is_empty()
}

/// Whether a crate has a test, or a file with tests, of this name.
fn stands(sources: &[Source], place: &str, name: &str) -> bool {
    let mut parts: Vec<&str> = name.split("::").collect();
    let folder = match parts[0] {
        "it" => {
            parts.remove(0);
            format!("crates/{place}/tests/it")
        }
        _ => format!("crates/{place}/src"),
    };
    // The longest beginning that is a file; what is left is inside it.
    for length in (0..=parts.len()).rev() {
        let inside = [&[folder.as_str()], &parts[..length]].concat().join("/");
        let files =
            [format!("{inside}.rs"), format!("{inside}/mod.rs"), format!("{inside}/main.rs")];
        let text = files.iter().map(|file| text_of(sources, file)).find(|text| !text.is_empty());
        let Some(text) = text else { continue };
        let rest = parts[length..].iter().rfind(|part| **part != "tests");
        let folder_has = || {
            let below = format!("{inside}/");
            let with = |source: &&Source| source.text.contains("#[test]");
            sources.iter().filter(|source| source.path.starts_with(&below)).any(|s| with(&s))
        };
        return match rest {
            Some(test) => has_test(text, test),
            None => text.contains("#[test]") || folder_has(),
        };
    }
    false
}

/// Whether a text has a test of this name, or one that begins so.
fn has_test(text: &str, name: &str) -> bool {
    let (start, whole) = match name.strip_suffix('…') {
        Some(start) => (start, false),
        None => (name, true),
    };
    text.match_indices(&format!("fn {start}")).any(|(at, found)| {
        let ends = !whole || text[at + found.len()..].starts_with('(');
        // Attributes stand right above.
        let above = text[..at].lines().rev().skip_while(|line| line.trim().is_empty());
        let attributes: Vec<&str> =
            above.map(str::trim).take_while(|line| line.starts_with("#[")).collect();
        let runs = !attributes.iter().any(|attribute| attribute.starts_with("#[ignore"));
        ends && runs && attributes.contains(&"#[test]")
    })
}

/// The files that have `unsafe` code; clippy asks for the reason at each place (`undocumented_unsafe_blocks`).
const UNSAFE: &[&str] = &[
    "crates/learnt-core/src/large_pages.rs",
    "crates/learnt-core/src/linalg/prefetch.rs",
    "crates/learnt-core/src/pool.rs",
];

/// Where `unsafe` is not denied, and is not meant to be.
fn unsafe_code(sources: &[Source]) -> Vec<String> {
    let mut out = Vec::new();
    if !text_of(sources, "Cargo.toml").contains("unsafe_code = \"deny\"") {
        out.push("Cargo.toml does not deny unsafe_code".to_string());
    }
    for source in sources {
        let own = source.path.starts_with("crates/");
        if own && source.path.ends_with("/Cargo.toml") {
            let lints = source.text.split("[lints]\n").nth(1).unwrap_or_default();
            if !lints.starts_with("workspace = true") {
                out.push(format!("{} does not take the lints of the workspace", source.path));
            }
        }
        let allows = ["allow", "expect", "warn"].map(|word| format!("{word}(unsafe_{}", "code"));
        let may = UNSAFE.contains(&source.path.as_str());
        // Attributes may stand on several lines.
        let text: String = source.text.split_whitespace().collect();
        let does = allows.iter().any(|allow| text.contains(allow));
        if own && source.path.ends_with(".rs") && does != may {
            let verb = if does { "allows" } else { "is listed and does not allow" };
            out.push(format!("{} {verb} unsafe code", source.path));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::files;
    use super::*;

    fn problems(checked_by: &str) -> Vec<String> {
        let mut page = String::from("| # | promise | checked by |\n");
        for k in 1..=PROMISES {
            let by = if k == 2 { checked_by } else { "`one` `it::good`" };
            page += &format!("| P{k} | a promise | {by} |\n");
        }
        let test = "#[test]\n#[cfg(unix)]\nfn nothing_is_lost() {}\nfn helper() {}\n\
                    #[test]\n#[ignore = \"slow\"]\nfn left_out() {}\n";
        check(&files(&[
            (PAGE, &page),
            ("Cargo.toml", "[workspace.lints.rust]\nunsafe_code = \"deny\"\n"),
            ("crates/one/Cargo.toml", "[lints]\nworkspace = true\n"),
            ("crates/one/tests/it/main.rs", "mod good;"),
            ("crates/one/tests/it/good.rs", test),
            ("crates/one/tests/it/deep/mod.rs", "mod inner;"),
            ("crates/one/tests/it/deep/inner.rs", test),
            ("crates/one/src/a/b.rs", "mod tests {\n    #[test]\n    fn inside() {}\n}"),
            ("crates/one/src/c.rs", "pub fn c() {}"),
            ("python/tests/test_x.py", "def test_x(): ..."),
        ]))
    }

    #[test]
    fn tests_that_exist_are_fine() {
        for good in [
            "`one` `it::good`, `it::good::nothing_is_lost`",
            "`one` `it::good::nothing…` and `a::b::tests::inside`, `a::b::tests`",
            "`one` `it::deep::inner::nothing_is_lost`, `it::deep`",
            "the lint; `python/tests/test_x.py`",
        ] {
            assert_eq!(problems(good), Vec::<String>::new(), "{good}");
        }
    }

    #[test]
    fn tests_that_do_not_exist_are_refused() {
        for bad in [
            "by construction",
            "`one` `it::bad`",
            "`one` `it::good::nothing`",
            "`one` `it::good::helper`",
            "`one` `it::good::left_out`",
            "`one` `it::good::lost…`",
            "`one` `c`, `c::tests`",
            "`two` `it::good`",
            "`python/tests/test_y.py`",
        ] {
            assert_eq!(problems(bad).len(), 1, "{bad}: {:?}", problems(bad));
        }
    }

    #[test]
    fn unsafe_code_and_absent_promises_are_refused() {
        let allowed = format!("#![allow(\n    unsafe_{},\n    reason = \"x\"\n)]", "code");
        let found = check(&files(&[
            (
                PAGE,
                "| P1 | x | `python/tests/test_x.py` |\n| P1 | x | `python/tests/test_x.py` |\n",
            ),
            ("Cargo.toml", ""),
            ("crates/one/Cargo.toml", "[package]"),
            ("crates/one/src/lib.rs", &allowed),
            (UNSAFE[0], &allowed),
            ("python/tests/test_x.py", "def test_x(): ..."),
        ]));
        assert_eq!(found.len(), 3 + PROMISES, "{found:?}");
    }
}
