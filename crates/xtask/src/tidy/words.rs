//! No paths of one machine and no unfinished business in what is kept.

use super::Source;

/// Beginnings of paths that exist on one machine only. In pieces, so that this file passes.
const PATHS: &[&str] = &[
    concat!("/", "home/"),
    concat!("/", "root/"),
    concat!("/", "work/"),
    concat!("/", "Users/"),
    concat!(":\\", "Users"),
];
/// Marks of unfinished work.
const MARKS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X:")];

/// Lines with such a path or mark; a mark in backquotes is a mention.
pub(super) fn check(sources: &[Source]) -> Vec<String> {
    let mut out = Vec::new();
    for source in sources {
        for (number, line) in source.text.lines().enumerate() {
            let place = format!("{}:{}", source.path, number + 1);
            out.extend(
                PATHS
                    .iter()
                    .filter(|path| has_path(line, path))
                    .map(|path| format!("{place}: a path of one machine: {path}")),
            );
            let marked = |mark: &&&str| line.replace(&format!("`{mark}`"), "").contains(**mark);
            out.extend(MARKS.iter().filter(marked).map(|mark| format!("{place}: {mark}")));
        }
    }
    out
}

/// Whether the line has the path where a path begins: not inside a longer one or an address.
fn has_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back().unwrap_or(' ');
        path.starts_with(':') || !(before.is_alphanumeric() || "./_-<{".contains(before))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::files;
    use super::*;

    #[test]
    fn paths_of_one_machine_are_refused() {
        for path in PATHS {
            for line in [format!("see {path}x.csv"), format!("(\"{path}\")")] {
                let line = line.replace(":\\", "C:\\");
                assert_eq!(check(&files(&[("a.md", &line)])).len(), 1, "{line}");
            }
        }
        assert!(check(&files(&[("a.md", "https://x.org/home/page and a/work/x")])).is_empty());
    }

    #[test]
    fn unfinished_work_is_refused_and_may_be_mentioned() {
        let mark = MARKS[0];
        assert_eq!(
            check(&files(&[("a.rs", &format!("// {mark}: later"))])),
            [format!("a.rs:1: {mark}")]
        );
        assert!(check(&files(&[("a.md", &format!("no `{mark}`"))])).is_empty());
    }
}
