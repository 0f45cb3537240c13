//! Text from doc comments, for readers without Rust.

/// A doc comment without its examples in Rust and without links to Rust items.
pub(super) fn plain(doc: &str) -> String {
    let mut out: Vec<&str> = Vec::new();
    let mut inside = false;
    for line in doc.lines().map(str::trim_end) {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if !inside {
            out.push(line.strip_prefix(' ').unwrap_or(line));
        }
    }
    unlink(out.join("\n").trim())
}

/// ``[`Name`](target)`` and ``[`Name`]`` become `` `Name` ``.
pub(super) fn unlink(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("[`") {
        let Some(length) = rest[start..].find("`]") else { break };
        out.push_str(&rest[..start]);
        let name = &rest[start + 2..start + length];
        out.push_str(&format!("`{}`", name.rsplit("::").next().unwrap_or(name)));
        rest = &rest[start + length + 2..];
        if rest.starts_with('(')
            && let Some(end) = rest.find(')')
        {
            rest = &rest[end + 1..];
        }
    }
    out + rest
}

/// Lines of at most `width` characters with this many spaces before each; paragraphs are kept.
/// Lists and other lines that begin with a sign or a space stay as they are.
pub(super) fn wrap(text: &str, indent: usize, width: usize) -> String {
    let margin = " ".repeat(indent);
    let mut lines: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        let starts_anew =
            line.is_empty() || line.starts_with([' ', '-', '*', '|', '#', '1', '2', '3']);
        if line.is_empty() {
            lines.push(String::new());
            open = false;
            continue;
        }
        if starts_anew || !open {
            lines.push(String::new());
        }
        for word in line.split(' ') {
            let last = lines.len() - 1;
            let length = lines[last].chars().count() + word.chars().count() + 1;
            if lines[last].is_empty() {
                lines[last].push_str(word);
            } else if length + indent <= width {
                lines[last].push(' ');
                lines[last].push_str(word);
            } else {
                lines.push(word.to_string());
            }
        }
        open = true;
    }
    let place = |line: &String| match line.is_empty() {
        true => String::new(),
        false => format!("{margin}{line}"),
    };
    lines.iter().map(place).collect::<Vec<_>>().join("\n")
}

/// The first paragraph on one line.
pub(super) fn first_sentence(doc: &str) -> String {
    plain(doc).lines().take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_in_rust_are_left_out() {
        assert_eq!(plain("One.\n\n```\nlet x = 1;\n```\nSee [`a::B`](c)."), "One.\n\nSee `B`.");
    }

    #[test]
    fn long_lines_are_broken_and_paragraphs_kept() {
        assert_eq!(wrap("aa bb\ncc\n\ndd", 2, 7), "  aa bb\n  cc\n\n  dd");
    }
}
