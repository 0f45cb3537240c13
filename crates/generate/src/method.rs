//! What a learner minimises and how, from the header of the file that it stands in.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Headers of source files by the path of the learner that they declare.
pub(super) struct Headers(BTreeMap<String, String>);

impl Headers {
    /// Reads the sources of all families.
    pub(super) fn read(root: &Path) -> Headers {
        let mut out = Headers(BTreeMap::new());
        out.folder(&root.join("crates").join("learnt").join("src"));
        out
    }

    /// The header for a learner, without its first line, which is a title.
    pub(super) fn of(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    fn folder(&mut self, folder: &Path) {
        let mut places: Vec<_> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect();
        places.sort();
        for place in places {
            if place.is_dir() {
                self.folder(&place);
            } else if place.extension().is_some_and(|ending| ending == "rs") {
                self.file(&fs::read_to_string(&place).unwrap_or_default());
            }
        }
    }

    fn file(&mut self, text: &str) {
        let header = header(text);
        // `About::classifier("tree.C45Classifier")`, with or without a line break inside.
        for piece in text.split("About::").skip(1) {
            let Some((_, rest)) = piece.split_once('(') else { continue };
            let Some(rest) = rest.trim_start().strip_prefix('"') else { continue };
            let Some((path, _)) = rest.split_once('"') else { continue };
            let declares = path.contains('.') && !path.contains(' ');
            if declares && !header.is_empty() {
                self.0.entry(path.to_string()).or_insert_with(|| header.clone());
            }
        }
    }
}

/// The comment at the head of a file: all paragraphs, links to Rust items as plain names.
fn header(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    let lines: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    super::text::unlink(lines.join("\n").trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_belongs_to_every_learner_of_its_file() {
        let text = "//! Ridge.\n//!\n//! Minimises Σ, see [`x`](y).\n\nuse a;\nAbout::regressor(\n \"m.A\")\nAbout::new(\"m.B\", r)";
        let mut headers = Headers(BTreeMap::new());
        headers.file(text);
        assert_eq!(headers.of("m.A"), Some("Ridge.\n\nMinimises Σ, see `x`."));
        assert_eq!(headers.of("m.A"), headers.of("m.B"));
    }
}
