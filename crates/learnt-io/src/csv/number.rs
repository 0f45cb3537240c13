//! Numbers in text. Leading zeros (`007`), words and anything else that a number would not give
//! back are not numbers.

/// How numbers are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NumberStyle {
    /// `1,5` is one and a half.
    pub(crate) decimal_comma: bool,
    /// What stands between groups of three digits.
    pub(crate) thousands: Option<u8>,
}

/// A number, and whether `f64` changed it: an integer that was rounded, a size that became infinity or zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Number {
    pub(crate) value: f64,
    pub(crate) rounded: bool,
}

/// Spaces of print, which stand between groups of digits in exported tables: no-break, narrow and thin.
pub(super) const WIDE_SPACES: [char; 3] = ['\u{a0}', '\u{202f}', '\u{2009}'];

impl NumberStyle {
    /// Those of some tokens that are numbers.
    pub(crate) fn numbers_among(self, tokens: &[String]) -> Vec<f64> {
        tokens.iter().filter_map(|token| self.parse(token)).map(|number| number.value).collect()
    }

    /// Whether numbers are written as in programs.
    pub(crate) fn is_plain(self) -> bool {
        self == NumberStyle::default()
    }

    /// The number that a text is, surrounding spaces aside.
    pub(crate) fn parse(self, text: &str) -> Option<Number> {
        let text = text.trim_ascii();
        if let Some(rest) = text.strip_prefix('−') {
            let good = rest.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == ',');
            let number = self.parse(rest).filter(|_| good)?;
            return Some(Number { value: -number.value, ..number });
        }
        if self.is_plain() {
            return parse_plain(text.as_bytes());
        }
        if self.thousands == Some(b' ') && text.contains(WIDE_SPACES) {
            return self.parse(&text.replace(WIDE_SPACES, " "));
        }
        let point = if self.decimal_comma { b',' } else { b'.' };
        let (whole, rest) = match text.bytes().position(|byte| byte == point) {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        if rest.is_some_and(|rest| self.decimal_comma && rest.contains(['.', ','])) {
            return None;
        }
        let mut plain = match self.thousands {
            Some(mark) if whole.as_bytes().contains(&mark) => ungroup(whole, mark)?,
            _ if self.decimal_comma && whole.contains('.') => return None,
            _ => whole.as_bytes().to_vec(),
        };
        if let Some(rest) = rest {
            plain.push(b'.');
            plain.extend_from_slice(rest.as_bytes());
        }
        parse_plain(&plain)
    }
}

/// A text with the digits of a number, and what stands around them: `$1000`, `12 kg`, `(3.5)`, `1.250,00-`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Measured<'a> {
    before: &'a str,
    digits: &'a str,
    after: &'a str,
}

/// The parts of a text that may hold a number with a unit.
pub(crate) fn measured(text: &str) -> Measured<'_> {
    let is_digit = |c: char| c.is_ascii_digit();
    let first = text.find(is_digit).unwrap_or(text.len());
    // A point or comma in front of the first digit belongs to it.
    let start = if text[..first].ends_with(['.', ',']) { first - 1 } else { first };
    let end = text.rfind(is_digit).map_or(first, |at| at + 1);
    Measured { before: &text[..start], digits: &text[start..end], after: &text[end..] }
}

impl<'a> Measured<'a> {
    /// The unit in front and behind, without marks of a sign.
    pub(crate) fn unit(self) -> (&'a str, &'a str) {
        let sign = |c: char| c.is_whitespace() || "-+−()".contains(c);
        (self.before.trim_matches(sign), self.after.trim_matches(sign))
    }

    /// Whether the sign is written as in accounts: parentheses, or a minus behind.
    pub(crate) fn is_signed_behind(self) -> bool {
        let minus = self.after.strip_prefix('-');
        let behind = minus.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        let inside = self.before.contains('(') && self.after.contains(')');
        !self.digits.is_empty() && (behind || inside)
    }

    /// The number, if there is one with at most one sign.
    pub(crate) fn number(self, style: NumberStyle) -> Option<Number> {
        let minuses = self.before.matches(['-', '−']).count();
        let marks = minuses + usize::from(self.is_signed_behind());
        let number = style.parse(self.digits).filter(|_| marks <= 1)?;
        let value = if marks == 1 { -number.value } else { number.value };
        Some(Number { value, ..number })
    }
}

/// Digits without their group marks, if every group but the first has three.
fn ungroup(whole: &str, mark: u8) -> Option<Vec<u8>> {
    let digits = whole.trim_start_matches(['-', '+']);
    let groups: Vec<&[u8]> = digits.as_bytes().split(|&byte| byte == mark).collect();
    let good = groups.iter().enumerate().all(|(i, group)| {
        let length = if i == 0 { (1..=3).contains(&group.len()) } else { group.len() == 3 };
        length && group.iter().all(u8::is_ascii_digit)
    });
    let sign = &whole.as_bytes()[..whole.len() - digits.len()];
    good.then(|| sign.iter().chain(groups.concat().iter()).copied().collect())
}

fn parse_plain(bytes: &[u8]) -> Option<Number> {
    let (number, used) = prefix(bytes)?;
    (used == bytes.len()).then_some(number)
}

/// The longest number at the start of `bytes`, and its length.
#[inline]
pub(crate) fn prefix(bytes: &[u8]) -> Option<(Number, usize)> {
    let (value, used) = fast_float2::parse_partial::<f64, _>(bytes).ok()?;
    let sign = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let leading_zero =
        bytes.get(sign) == Some(&b'0') && bytes.get(sign + 1).is_some_and(u8::is_ascii_digit);
    if leading_zero || value.is_nan() {
        return None;
    }
    let digits = &bytes[sign..used];
    let rounded = used > 15 && is_rounded(digits)
        || (value == 0.0 || value.is_infinite()) && is_out_of_range(value, digits);
    Some((Number { value, rounded }, used))
}

/// Whether digits that became infinity or zero say something else.
fn is_out_of_range(value: f64, digits: &[u8]) -> bool {
    let mantissa = digits.split(|byte| matches!(byte, b'e' | b'E')).next().unwrap_or_default();
    match value.is_infinite() {
        true => mantissa.iter().any(u8::is_ascii_digit),
        false => mantissa.iter().any(|byte| matches!(byte, b'1'..=b'9')),
    }
}

/// Whether digits are an integer that `f64` cannot hold.
fn is_rounded(digits: &[u8]) -> bool {
    if !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let Ok(text) = std::str::from_utf8(digits) else { return false };
    match text.parse::<u64>() {
        Ok(integer) => integer > 1 << 53 && (integer as f64) as u128 != u128::from(integer),
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Option<f64> {
        NumberStyle::default().parse(text).map(|number| number.value)
    }

    #[test]
    fn numbers_are_read_to_the_last_bit() {
        for text in
            ["0", "-0.0", "1e5", "+3", ".5", "5.", "0.1", "1.7976931348623157e308", "5e-324"]
        {
            let expected: f64 = text.parse().unwrap();
            assert_eq!(plain(text).unwrap().to_bits(), expected.to_bits(), "{text}");
        }
        assert_eq!(plain("-inf"), Some(f64::NEG_INFINITY));
    }

    #[test]
    fn codes_and_words_are_not_numbers() {
        for text in ["01234", "-007", "1e", "1.2.3", "", "-", "nan", "0x1f", "1_000", "12a", "1 2"]
        {
            assert_eq!(plain(text), None, "{text}");
        }
    }

    #[test]
    fn integers_that_lose_digits_are_known() {
        let rounded = |text: &str| NumberStyle::default().parse(text).unwrap().rounded;
        assert!(rounded("9007199254740993") && rounded("-12345678901234567890123"));
        assert!(!rounded("9007199254740992") && !rounded("0.12345678901234567890"));
        assert!(!rounded("18014398509481984"));
    }

    #[test]
    fn sizes_that_become_infinity_or_zero_are_known() {
        let rounded = |text: &str| NumberStyle::default().parse(text).unwrap().rounded;
        assert!(rounded("1e999") && rounded("-2E400") && rounded("1e-999") && rounded("-.5e-400"));
        let exact = ["inf", "-infinity", "0", "-0.0", "0e5", "0.000", "5e-324", "1.7e308"];
        assert!(exact.iter().all(|text| !rounded(text)));
    }

    #[test]
    fn units_stand_in_front_or_behind() {
        let cases = [("$1000", 1000.0), ("12 kg", 12.0), ("€ 1.234", 1.234), ("1e-3 m", 0.001)];
        let signs =
            [("-3.5 %", -3.5), ("-$5", -5.0), ("$-5", -5.0), ("+2 m", 2.0), ("−4 °C", -4.0)];
        let accounts = [("(3.5)", -3.5), ("$(12)", -12.0), ("($1.5)", -1.5), ("7.5-", -7.5)];
        let others = [("$.50", 0.5), ("12-pack", 12.0), ("9 (a)", 9.0)];
        for (text, number) in [&cases[..], &signs, &accounts, &others].concat() {
            let found = measured(text).number(NumberStyle::default());
            assert_eq!(found.map(|number| number.value), Some(number), "{text}");
        }
        for text in ["none", "", "(-5)", "--5", "3 to 5", "1.2.3 kg"] {
            assert_eq!(measured(text).number(NumberStyle::default()), None, "{text}");
        }
        assert_eq!(measured("($1,5) kg").unit(), ("$", "kg"));
    }

    #[test]
    fn commas_mean_something_only_when_asked() {
        let european = NumberStyle { decimal_comma: true, thousands: Some(b'.') };
        let value = |style: NumberStyle, text: &str| style.parse(text).map(|number| number.value);
        assert_eq!(value(european, "1.234,5"), Some(1234.5));
        assert_eq!(value(european, "-1.234.567"), Some(-1_234_567.0));
        assert_eq!(value(european, "1.23"), None);
        let english = NumberStyle { decimal_comma: false, thousands: Some(b',') };
        assert_eq!(value(english, "1,234.5"), Some(1234.5));
        assert_eq!(value(english, "12,34"), None);
        assert_eq!(plain("1,234"), None);
        let french = NumberStyle { decimal_comma: true, thousands: Some(b' ') };
        for text in ["1 234,5", "1\u{a0}234,5", "1\u{202f}234,5"] {
            assert_eq!(value(french, text), Some(1234.5), "{text}");
        }
        assert_eq!((plain("−3.5"), plain("−−3"), plain("−-3")), (Some(-3.5), None, None));
    }
}
