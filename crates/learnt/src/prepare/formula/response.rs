//! The left side of a formula: a column, or a chain of steps from it, each with an inverse.

use super::expression::{Expression, Function, power, read};
use super::token::{Tokens, misread};
use learnt_core::prelude::*;

/// The two sides of a formula.
#[derive(Clone, Debug, PartialEq)]
pub struct Side<'a> {
    /// The target, without backticks; none without `~`.
    pub target: Option<String>,
    /// The function of the target that is modelled; none where it is the target itself.
    pub response: Option<Response>,
    /// The terms.
    pub terms: &'a str,
}

impl<'a> Side<'a> {
    /// Cuts `target ~ terms` in two.
    pub fn split(formula: &'a str) -> Result<Side<'a>> {
        let Some((left, terms)) = formula.split_once('~') else {
            return Ok(Side { target: None, response: None, terms: formula });
        };
        if terms.contains('~') {
            return Err(Error::new(Code::Usage, "a second `~` in the formula"));
        }
        let left = left.trim();
        if left.is_empty() {
            return Ok(Side { target: None, response: None, terms });
        }
        if let Some((function, _)) = left.split_once('(')
            && let Some(hint) = other_left_side(function.trim())
        {
            let message = format!("{}() cannot be the left side of a formula", function.trim());
            return Err(Error::new(Code::Usage, message).hint(hint));
        }
        let response = Response::parse(left)?;
        let target = Some(response.column().to_string());
        Ok(Side { target, response: Some(response).filter(|found| !found.is_plain()), terms })
    }

    /// The formula as R writes it: both sides.
    pub fn shown(&self, target: &str) -> String {
        let left = self.response.as_ref().map_or(target, Response::text);
        format!("{left} ~ {}", self.terms.trim())
    }
}

/// What to write for functions that stand on the left side in R.
fn other_left_side(function: &str) -> Option<&'static str> {
    match function {
        "cbind" => Some(
            "for successes and failures make a column of shares, name the totals with --weight, and fit glm with --family binomial; for several targets write -t a,b and no left side",
        ),
        "factor" | "as.factor" | "C" => Some("write the column alone, with --task classify"),
        "Surv" => Some("there is no survival analysis"),
        _ => None,
    }
}

/// A step of a response, which has an inverse.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    Apply(Function),
    Add(f64),
    Multiply(f64),
    Power(f64),
    /// A constant divided by it.
    Under(f64),
    /// A constant raised to it.
    Raise(f64),
}

impl Change {
    fn of(self, x: f64) -> f64 {
        match self {
            Change::Apply(function) => function.of(x),
            Change::Add(c) => x + c,
            Change::Multiply(c) => x * c,
            Change::Power(p) => power(x, p),
            Change::Under(c) => c / x,
            Change::Raise(base) => base.powf(x),
        }
    }

    fn inverse(self, y: f64) -> f64 {
        match self {
            Change::Apply(function) => function.inverse(y).unwrap_or(f64::NAN),
            Change::Add(c) => y - c,
            Change::Multiply(c) => y / c,
            // The positive root: a response is refused where that is not the one.
            Change::Power(2.0) => y.sqrt(),
            Change::Power(p) if p % 2.0 != 0.0 && p.fract() == 0.0 && y < 0.0 => {
                -(-y).powf(p.recip())
            }
            Change::Power(p) => y.powf(p.recip()),
            Change::Under(c) => c / y,
            Change::Raise(base) => y.ln() / base.ln(),
        }
    }
}

/// The left side of a formula: a column, or a function of it that has an inverse.
///
/// ```
/// use learnt::{prepare::Response, prelude::*};
/// let response = Response::parse("log(price + 1)")?;
/// assert_eq!(response.column(), "price");
/// assert!((response.of(6.0) - 7_f64.ln()).abs() < 1e-15);
/// assert!((response.inverse(response.of(6.0)) - 6.0).abs() < 1e-14);
/// assert!(Response::parse("abs(price)").is_err());
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    text: String,
    column: String,
    changes: Vec<Change>,
}

impl Response {
    /// Reads a column, or a function of one.
    pub fn parse(text: &str) -> Result<Response> {
        let mut tokens = Tokens::new(text)?;
        let expression = read(&mut tokens)?;
        if !tokens.is_empty() {
            return Err(misread(&tokens));
        }
        let mut changes = Vec::new();
        let column = chain(&expression, &mut changes)?;
        Ok(Response { text: expression.to_string(), column, changes })
    }

    /// The column.
    pub fn column(&self) -> &str {
        &self.column
    }

    /// The whole, as R writes it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is the column as it is.
    pub fn is_plain(&self) -> bool {
        self.changes.is_empty()
    }

    /// The response of a target.
    pub fn of(&self, target: f64) -> f64 {
        self.changes.iter().fold(target, |x, change| change.of(x))
    }

    /// The target of a response.
    pub fn inverse(&self, response: f64) -> f64 {
        self.changes.iter().rev().fold(response, |y, change| change.inverse(y))
    }

    /// The response of a target that must have one and be had back: else an error names the row.
    pub fn checked(&self, target: f64, row: u64) -> Result<f64> {
        let found = self.of(target);
        let back = self.inverse(found);
        let near = (back - target).abs() <= 1e-6 * (1.0 + target.abs());
        match found.is_finite() && near {
            true => Ok(found),
            false => {
                let why = if found.is_finite() { "cannot be undone" } else { "is not a number" };
                let message = format!("{} {why} where it is {target}, in row {row}", self.text);
                Err(Error::new(Code::Target, message).row(row).hint(
                    "log() needs numbers above 0, sqrt() and ^2 none below; log1p(y) takes zeros",
                ))
            }
        }
    }
}

/// The steps from the one column to the whole, and the column's name.
fn chain(expression: &Expression, out: &mut Vec<Change>) -> Result<String> {
    let (inner, change) = match expression {
        Expression::Column(name) => return Ok(name.clone()),
        Expression::Number(number) => {
            return Err(no_inverse(&format!("the number {number} is no target")));
        }
        Expression::Group(inner) | Expression::Call(Function::Identity, inner) => {
            return chain(inner, out);
        }
        Expression::Minus(inner) => (inner, Change::Multiply(-1.0)),
        Expression::Call(function, inner) => match function.inverse(0.5) {
            Some(_) => (inner, Change::Apply(*function)),
            None => return Err(no_inverse(&format!("{}() has no inverse", function.name()))),
        },
        Expression::Pair(sign, a, b) => match (sign, a.constant(), b.constant()) {
            ('+', None, Some(c)) => (a, Change::Add(c)),
            ('+', Some(c), None) => (b, Change::Add(c)),
            ('-', None, Some(c)) => (a, Change::Add(-c)),
            ('-', Some(c), None) => {
                let column = chain(b, out)?;
                out.extend([Change::Multiply(-1.0), Change::Add(c)]);
                return Ok(column);
            }
            ('*', None, Some(c)) if c != 0.0 => (a, Change::Multiply(c)),
            ('*', Some(c), None) if c != 0.0 => (b, Change::Multiply(c)),
            ('/', None, Some(c)) if c != 0.0 => (a, Change::Multiply(c.recip())),
            ('/', Some(c), None) if c != 0.0 => (b, Change::Under(c)),
            ('^', None, Some(p)) if p != 0.0 => (a, Change::Power(p)),
            ('^', Some(base), None) if base > 0.0 && base != 1.0 => (b, Change::Raise(base)),
            _ => {
                return Err(no_inverse(&format!(
                    "'{expression}' names other than one column once"
                )));
            }
        },
    };
    let column = chain(inner, out)?;
    out.push(change);
    Ok(column)
}

fn no_inverse(why: &str) -> Error {
    Error::new(Code::Usage, format!("the left side of a formula is one column or a function of it that can be undone: {why}"))
        .hint("write `target ~ a + b` or `log(target) ~ a + b`; a name with other characters stands in backticks")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_undone() {
        for text in [
            "y",
            "log(y)",
            "log2(y + 3)",
            "1/y",
            "sqrt(2 * y - 1)",
            "y^2",
            "I(y^3)",
            "-log10(y)",
            "5 - y",
            "2^y",
            "logit(y / 10)",
            "exp(-y)",
            "y^0.5",
            "(y - 1) / 4",
            "log1p(y)",
            "100 / (y + 1)",
        ] {
            let response = Response::parse(text).unwrap();
            assert_eq!(response.column(), "y");
            for target in [0.75, 1.5, 3.0] {
                let back = response.inverse(response.of(target));
                assert!((back - target).abs() < 1e-12, "{text} {target} {back}");
                assert!(response.checked(target, 1).is_ok());
            }
        }
        let odd = Response::parse("log(`y (1)`)").unwrap();
        assert_eq!(Response::parse(odd.text()).unwrap(), odd);
        for text in ["abs(y)", "y + y", "a * b", "3", "sin(y)", "0 * y", "log(y) + x", ""] {
            assert_eq!(Response::parse(text).unwrap_err().code(), Code::Usage, "{text}");
        }
        assert!(
            Response::parse("log(y)")
                .unwrap()
                .checked(0.0, 7)
                .unwrap_err()
                .message()
                .contains("row 7")
        );
        assert!(Response::parse("y^2").unwrap().checked(-2.0, 1).is_err());
        assert_eq!(Response::parse("y^3").unwrap().checked(-2.0, 1).unwrap(), -8.0);
    }
}
