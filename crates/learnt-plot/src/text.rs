//! Texts in pictures and pages: escaping, widths, shortening, wrapping.

/// Text with what XML and HTML give a meaning replaced, and control characters as spaces.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c if is_unprintable(c) => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Controls, marks that change the direction of text, and characters that XML refuses.
pub(crate) fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{ffff}')
}

/// About how wide a text is drawn: an upper estimate for common sans-serif fonts.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(em).sum::<f64>() * size
}

fn em(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' => 0.33,
        'f' | 't' | 'r' | ' ' | '(' | ')' | '[' | ']' | '-' | '/' => 0.42,
        'm' | 'M' | 'w' | 'W' | '@' | '%' => 0.97,
        'A'..='Z' | '+' | '=' | '<' | '>' | '≤' | '≥' | '−' | '±' => 0.76,
        c if (c as u32) < 0x1100 => 0.63,
        c if (0x2000..0x2600).contains(&(c as u32)) => 0.8,
        _ => 1.0,
    }
}

/// Cut in the middle to a width, so that names with a common start stay apart.
pub(crate) fn shortened(text: &str, size: f64, most: f64) -> String {
    if width(text, size) <= most {
        return text.to_string();
    }
    let chars: Vec<char> = text.chars().take(400).collect();
    let length = text.chars().count();
    let last: Vec<char> = match length > chars.len() {
        true => text.chars().skip(length - 200).collect(),
        false => chars.clone(),
    };
    let room = most / size - 0.8;
    let (mut used, mut head, mut tail) = (0.0, 0, 0);
    loop {
        let from_head = tail * 3 >= head * 2;
        let next = if from_head { chars.get(head) } else { last.get(last.len() - 1 - tail) };
        let Some(&next) = next else { break };
        used += em(next);
        if used > room || head + tail + 1 >= length {
            break;
        }
        if from_head { head += 1 } else { tail += 1 }
    }
    let head: String = chars[..head].iter().collect();
    let tail: String = last[last.len() - tail..].iter().collect();
    format!("{}…{}", head.trim_end(), tail.trim_start())
}

/// Lines no wider than asked for, broken at spaces.
pub(crate) fn wrapped(text: &str, size: f64, most: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let word = shortened(word, size, most);
        if !line.is_empty() && width(&line, size) + width(&word, size) + 0.42 * size > most {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += &word;
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// A count with separators, `1,000,000`.
pub(crate) fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_is_harmless() {
        let text = escaped("<script>\"&'\u{0}\u{1b}[31m\u{202e}\u{ffff}</script>");
        assert_eq!(text, "&lt;script&gt;&quot;&amp;&#39;  [31m  &lt;/script&gt;");
    }

    #[test]
    fn shortened_names_keep_their_start_and_end() {
        assert_eq!(shortened("age", 12.0, 100.0), "age");
        let a = shortened("measurement_of_the_left_leg_0017", 12.0, 120.0);
        let b = shortened("measurement_of_the_left_leg_0018", 12.0, 120.0);
        assert!(a != b && a.starts_with("meas") && a.ends_with("0017"), "{a}");
        assert!(width(&a, 12.0) <= 120.0);
        let long = "x".repeat(1_000_000);
        assert!(width(&shortened(&long, 12.0, 120.0), 12.0) <= 120.0);
        assert_eq!(shortened("abc", 12.0, 0.0), "…");
    }

    #[test]
    fn lines_are_broken_at_spaces() {
        let lines = wrapped("one two three four five six seven", 12.0, 80.0);
        assert!(lines.len() > 2 && lines.iter().all(|line| width(line, 12.0) <= 80.0));
        assert_eq!(lines.join(" "), "one two three four five six seven");
    }

    #[test]
    fn counts_have_separators() {
        assert_eq!(
            (count(7), count(1000), count(1_234_567)),
            ("7".into(), "1,000".into(), "1,234,567".into())
        );
    }
}
