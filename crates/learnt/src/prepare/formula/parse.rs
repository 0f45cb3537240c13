//! From the text of a formula to its terms.
//!
//! Recursive descent; `:` binds closer than `*` and `/`, those closer than `+` and `-`. Terms stand
//! by their number of variables, then as written, each once; the variables of a term stand in the order in which
//! the formula names them. Inside functions stands arithmetic.

use super::expression::Program;
use super::token::{Token, Tokens, misread};
use learnt_core::prelude::*;

/// Most terms.
const MOST_TERMS: usize = 4096;

/// What is done to a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Stored)]
pub enum Shape {
    /// Nothing; a categorical column is coded.
    Plain,
    /// A whole power.
    Power,
    /// Natural logarithm.
    Log,
    /// Logarithm to base 2.
    Log2,
    /// Logarithm to base 10.
    Log10,
    /// Exponential.
    Exp,
    /// Square root.
    Sqrt,
    /// Absolute value.
    Abs,
    /// Its numbers are categories.
    Factor,
    /// The value of an expression.
    Computed,
    /// Columns of a basis over the value of an expression.
    Basis,
}

/// A column and what is done to it.
#[derive(Clone, Debug, PartialEq, Stored)]
pub struct Variable {
    /// Which column; the first of an expression.
    pub column: usize,
    /// What is done to it.
    pub shape: Shape,
    /// The power; 1 for other shapes.
    pub power: u32,
    /// The level that others are compared with, if it is not the first.
    pub base: Option<String>,
    /// Whether levels are compared with the mean of all, by contrasts that sum to zero.
    pub sum: bool,
    pub(super) made: Option<Made>,
}

/// A variable that is computed.
#[derive(Clone, Debug, PartialEq, Stored)]
pub(super) struct Made {
    /// As it is written.
    pub(super) text: String,
    pub(super) program: Program,
    /// The degree of a polynomial; 0 for a number.
    pub(super) degree: usize,
    /// Whether the polynomial is of powers as they are.
    pub(super) raw: bool,
}

/// Variables that are multiplied; none is the intercept.
pub(super) type Term = Vec<Variable>;

/// The terms of the right side.
#[derive(Clone, Debug, Stored)]
pub struct Formula {
    pub(super) terms: Vec<Vec<Variable>>,
    /// What is added to the linear predictor as it is.
    pub(super) offsets: Vec<Variable>,
}

impl Formula {
    /// Reads the terms of a formula; `.` means all columns of the schema.
    pub fn parse(terms: &str, schema: &Schema) -> Result<Formula> {
        let mut parser =
            Parser { tokens: Tokens::new(terms)?, schema, offsets: Vec::new(), named: Vec::new() };
        let mut terms = parser.sum(vec![Vec::new()])?;
        if !parser.tokens.is_empty() {
            return Err(misread(&parser.tokens));
        }
        for term in &mut terms {
            term.sort_by_key(|variable| parser.named.iter().position(|known| known == variable));
        }
        terms.sort_by_key(Vec::len);
        Ok(Formula { terms, offsets: parser.offsets })
    }

    /// Reads the terms that predict these targets from the columns of the schema, and says what is wrong with
    /// terms that cannot: those of a target itself, and the intercept alone.
    pub fn predicting(terms: &str, schema: &Schema, targets: &[String]) -> Result<Formula> {
        let formula = Formula::parse(terms, schema).map_err(|error| {
            let words = Formula::words(terms).unwrap_or_default();
            match targets.iter().find(|target| words.contains(target)) {
                Some(target) => {
                    let message = format!("'{target}' stands on both sides of the formula");
                    Error::new(Code::Usage, message)
                        .hint("take it from the right side: `.` means all columns but the target")
                }
                None => error,
            }
        })?;
        let named = formula.variables().next().is_some();
        match named {
            true => Ok(formula),
            false => Err(Error::new(Code::Usage, "the formula has no column beside the target")
                .hint("the mean alone is `learnt fit dummy`; the summary of a model tests it against the mean")),
        }
    }

    /// The names and numbers that the terms are written with, those that are taken away again too.
    pub fn words(terms: &str) -> Result<Vec<String>> {
        Ok(Tokens::new(terms)?.words().map(ToString::to_string).collect())
    }

    /// Whether something is added to the linear predictor as it is.
    pub fn has_offset(&self) -> bool {
        !self.offsets.is_empty()
    }

    /// All variables.
    pub(super) fn variables(&self) -> impl Iterator<Item = &Variable> {
        self.terms.iter().flatten().chain(&self.offsets)
    }

    /// The polynomials whose basis comes from the rows, each once.
    pub(super) fn bases(&self) -> Vec<&Made> {
        let mut out: Vec<&Made> = Vec::new();
        for made in self.variables().filter_map(|variable| variable.made.as_ref()) {
            if made.degree > 0 && !made.raw && !out.contains(&made) {
                out.push(made);
            }
        }
        out
    }

    /// Whether there is an intercept.
    pub fn intercept(&self) -> bool {
        self.contains(&[])
    }

    /// The columns that the terms name, in order, each once.
    pub fn columns(&self) -> Vec<usize> {
        let made = |v: &Variable| v.made.iter().flat_map(|m| m.program.columns()).collect();
        let own = |v: &Variable| -> Vec<usize> {
            if v.made.is_some() { made(v) } else { vec![v.column] }
        };
        let mut out: Vec<usize> = self.variables().flat_map(own).collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    /// Whether a term with these variables, in any order, is there.
    pub(super) fn contains(&self, wanted: &[Variable]) -> bool {
        self.terms.iter().any(|term| same(term, wanted))
    }
}

fn same(term: &[Variable], other: &[Variable]) -> bool {
    term.len() == other.len() && term.iter().all(|variable| other.contains(variable))
}

/// What is left to read.
pub(super) struct Parser<'a> {
    pub(super) tokens: Tokens,
    pub(super) schema: &'a Schema,
    pub(super) offsets: Vec<Variable>,
    /// Variables of terms, those that are taken away again too, in the order in which they are named.
    named: Vec<Variable>,
}

impl Parser<'_> {
    pub(super) fn takes(&mut self, sign: char) -> bool {
        self.tokens.takes(sign)
    }

    /// Terms added to and taken from those given.
    fn sum(&mut self, mut terms: Vec<Term>) -> Result<Vec<Term>> {
        let mut minus = self.takes('-');
        loop {
            let zero = self.tokens.first() == Some(&Token::Word("0".to_string()));
            let own = self.product()?;
            for term in own {
                for variable in &term {
                    if !self.named.contains(variable) {
                        self.named.push(variable.clone());
                    }
                }
                match minus != zero {
                    true => terms.retain(|known| !same(known, &term)),
                    false if !terms.iter().any(|known| same(known, &term)) => terms.push(term),
                    false => {}
                }
            }
            minus = match (self.takes('+'), self.takes('-')) {
                (_, true) => true,
                (true, false) => false,
                (false, false) => return Ok(terms),
            };
        }
    }

    fn product(&mut self) -> Result<Vec<Term>> {
        let mut terms = self.interaction()?;
        loop {
            if self.takes('*') {
                let other = self.interaction()?;
                let both = crossed(&terms, &other)?;
                terms.extend(other);
                terms.extend(both);
            } else if self.takes('/') {
                let other = self.interaction()?;
                let all: Term = terms.iter().flatten().cloned().collect();
                terms.extend(crossed(&[all], &other)?);
            } else {
                return Ok(terms);
            }
        }
    }

    fn interaction(&mut self) -> Result<Vec<Term>> {
        let mut terms = self.operand()?;
        while self.takes(':') {
            terms = crossed(&terms, &self.operand()?)?;
        }
        Ok(terms)
    }

    fn operand(&mut self) -> Result<Vec<Term>> {
        if self.takes('(') {
            return self.group();
        }
        let (word, quoted) = match self.tokens.first().cloned() {
            Some(Token::Word(word)) => (word, false),
            Some(Token::Quoted(word)) => (word, true),
            Some(Token::Sign(_)) | None => return Err(misread(&self.tokens)),
        };
        self.tokens.next();
        if !quoted && self.takes('(') {
            return Ok(self.function(&word)?.map(|variable| vec![variable]).into_iter().collect());
        }
        match word.as_str() {
            "0" | "1" if !quoted => Ok(vec![Vec::new()]),
            "." if !quoted => {
                let all = (0..self.schema.len()).map(|column| vec![plain(column)]).collect();
                self.powers(all)
            }
            name => {
                let variable = self.raised(name)?;
                Ok(vec![vec![variable]])
            }
        }
    }

    /// What stands in parentheses, with its powers.
    fn group(&mut self) -> Result<Vec<Term>> {
        let schema = self.schema;
        let mut offsets = std::mem::take(&mut self.offsets);
        let own = self.tokens.nested(|tokens| {
            let mut inner =
                Parser { tokens: tokens.clone(), schema, offsets: Vec::new(), named: Vec::new() };
            let own = inner.sum(Vec::new())?;
            inner.tokens.closes()?;
            offsets.append(&mut inner.offsets);
            *tokens = inner.tokens;
            Ok(own)
        })?;
        self.offsets = offsets;
        self.powers(own)
    }

    /// The terms, and with `^2` their pairs.
    fn powers(&mut self, own: Vec<Term>) -> Result<Vec<Term>> {
        let order: Vec<Variable> = own.iter().flatten().cloned().collect();
        let mut terms = own.clone();
        for _ in 1..self.exponent()?.unwrap_or(1) {
            let mut fresh: Vec<Term> = Vec::new();
            for mut term in crossed(&terms, &own)? {
                term.sort_by_key(|variable| order.iter().position(|known| known == variable));
                if !terms.iter().chain(&fresh).any(|known| same(known, &term)) {
                    fresh.push(term);
                }
            }
            if fresh.is_empty() {
                break;
            }
            terms.extend(fresh);
        }
        Ok(terms)
    }

    /// The power that follows, if one does.
    fn exponent(&mut self) -> Result<Option<u32>> {
        if !self.takes('^') {
            return Ok(None);
        }
        self.whole(1000, "a power").map(Some)
    }

    /// A whole number from 1 on.
    pub(super) fn whole(&mut self, most: u32, what: &str) -> Result<u32> {
        let found = match self.tokens.first() {
            Some(Token::Word(word)) => word.parse().ok().filter(|n| (1..=most).contains(n)),
            _ => None,
        };
        let message = format!("{what} in a formula is a whole number from 1 to {most}");
        let found = found.ok_or_else(|| Error::new(Code::Usage, message))?;
        self.tokens.next();
        Ok(found)
    }

    /// A column, and its power.
    fn raised(&mut self, name: &str) -> Result<Variable> {
        let column = self.schema.find(name)?;
        let power = self.exponent()?.unwrap_or(1);
        if power == 1 {
            return Ok(plain(column));
        }
        self.numeric(column, "powers")?;
        Ok(Variable { shape: Shape::Power, power, ..plain(column) })
    }

    pub(super) fn numeric(&self, column: usize, what: &str) -> Result<()> {
        let column = self.schema.column(column);
        match column.levels() {
            None => Ok(()),
            Some(_) => {
                let message = format!("column '{}' is categorical and has no {what}", column.name);
                Err(Error::new(Code::NotNumeric, message).column(&column.name))
            }
        }
    }
}

pub(super) fn plain(column: usize) -> Variable {
    Variable { column, shape: Shape::Plain, power: 1, base: None, sum: false, made: None }
}

/// Every term of one with every term of the other.
fn crossed(terms: &[Term], others: &[Term]) -> Result<Vec<Term>> {
    if terms.len().saturating_mul(others.len()) > MOST_TERMS {
        let message = format!("the formula has more than {MOST_TERMS} terms");
        return Err(Error::new(Code::Usage, message));
    }
    let joined = |a: &Term, b: &Term| -> Term {
        let fresh = b.iter().filter(|variable| !a.contains(variable)).cloned();
        a.iter().cloned().chain(fresh).collect()
    };
    Ok(others.iter().flat_map(|b| terms.iter().map(move |a| joined(a, b))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prepare::Side;

    fn terms(formula: &str) -> Vec<String> {
        let schema = Schema::numeric(["a", "b", "c"]).unwrap();
        let formula = Formula::parse(formula, &schema).unwrap();
        let name = |v: &Variable| {
            ["a", "b", "c"][v.column].to_string()
                + match v.shape {
                    Shape::Plain => "",
                    Shape::Power => "^",
                    Shape::Factor => "#",
                    _ => "!",
                }
        };
        let text = |term: &Term| match term.len() {
            0 => "1".to_string(),
            _ => term.iter().map(name).collect::<Vec<_>>().join(":"),
        };
        formula.terms.iter().map(text).collect()
    }

    #[test]
    fn operators_mean_what_they_mean_in_r() {
        assert_eq!(terms("a + b"), ["1", "a", "b"]);
        assert_eq!(terms("a * b"), ["1", "a", "b", "a:b"]);
        assert_eq!(terms("a * b * c"), terms("(a + b + c)^3"));
        assert_eq!(terms("a / b"), ["1", "a", "a:b"]);
        assert_eq!(terms("(a + b + c)^2 - a:b"), ["1", "a", "b", "c", "a:c", "b:c"]);
        assert_eq!(terms(". - c"), ["1", "a", "b"]);
        assert_eq!(terms(".^2"), terms("(a + b + c)^2"));
        assert_eq!(terms(".^2 - a:c"), ["1", "a", "b", "c", "a:b", "b:c"]);
        assert_eq!(terms("a:b:a"), ["1", "a:b"]);
        assert_eq!(terms("a*b:c"), ["1", "a", "b:c", "a:b:c"]);
        assert_eq!(terms("a + b %in% a"), ["1", "a", "a:b"]);
        assert_eq!(terms("b:a + c:a"), ["1", "b:a", "a:c"]);
        assert_eq!(terms("a * b - a"), ["1", "b", "a:b"]);
        assert_eq!(terms("a/(b + c)"), ["1", "a", "a:b", "a:c"]);
    }

    #[test]
    fn targets_on_the_right_side_and_the_mean_alone_are_named() {
        let schema = Schema::numeric(["a", "b"]).unwrap();
        let message = |terms: &str| {
            let targets = ["y".to_string()];
            Formula::predicting(terms, &schema, &targets).unwrap_err().message().to_string()
        };
        assert!(message("a + y").contains("'y' stands on both sides"));
        assert!(message("log(y)").contains("'y' stands on both sides"));
        assert!(message("1").contains("no column beside the target"));
        assert!(message("a + z").contains("'z'"));
        let named = Schema::numeric(["log"]).unwrap();
        assert!(Formula::predicting("log(log)", &named, &["y".to_string()]).is_ok());
    }

    #[test]
    fn intercepts_are_removed_in_every_spelling() {
        for text in ["a - 1", "0 + a", "-1 + a", "a + 0"] {
            assert_eq!(terms(text), ["a"], "{text}");
        }
        assert_eq!(terms("1"), ["1"]);
        assert_eq!(terms("a - 1 + 1"), ["1", "a"]);
    }

    #[test]
    fn columns_may_be_changed() {
        assert_eq!(
            terms("log(a) + b^2 + I(c^3) + factor(c) + a"),
            ["1", "a!", "b^", "c^", "c#", "a"]
        );
    }

    #[test]
    fn the_left_side_is_one_column_or_a_function_of_it() {
        let target = |text| Side::split(text).map(|side| side.target);
        assert_eq!(target("y ~ a").unwrap(), Some("y".to_string()));
        assert_eq!(target("`y 1` ~ a").unwrap(), Some("y 1".to_string()));
        assert_eq!(target("a + b").unwrap(), None);
        let log = Side::split("log(y + 1) ~ a").unwrap();
        assert_eq!((log.target.as_deref(), log.shown("y").as_str()), (Some("y"), "log(y + 1) ~ a"));
        assert_eq!(log.response.unwrap().of(0.0), 0.0);
        assert!(target("a + b ~ c").is_err() && target("y ~ a ~ b").is_err());
        let counts = Side::split("cbind(a, b) ~ c").unwrap_err();
        assert!(counts.hint_text().unwrap().contains("--weight"));
    }

    #[test]
    fn expressions_polynomials_and_offsets_are_read() {
        let schema = Schema::numeric(["a", "b", "c"]).unwrap();
        let formula = Formula::parse("log(a + 1) + poly(b, 2) + I(a/b) + offset(log(c))", &schema);
        let formula = formula.unwrap();
        let made: Vec<&str> =
            formula.variables().filter_map(|v| v.made.as_ref()).map(|m| m.text.as_str()).collect();
        assert_eq!(made, ["log(a + 1)", "poly(b, 2)", "I(a/b)", "offset(log(c))"]);
        assert_eq!((formula.columns(), formula.bases().len()), (vec![0, 1, 2], 1));
        assert!(formula.has_offset() && formula.terms.len() == 4);
        let nested = Formula::parse("(a + offset(b)) * c", &schema).unwrap();
        assert_eq!((nested.terms.len(), nested.offsets.len()), (4, 1));
    }

    #[test]
    fn broken_formulas_are_refused() {
        let schema = Schema::numeric(["a", "b"]).unwrap();
        let deep = "(".repeat(100_000);
        for text in [
            "",
            "a +",
            "a +* b",
            "a^",
            "a^-1",
            "a:",
            "(a",
            "a)",
            "log(a + )",
            "I(2)",
            "poly(a, 0)",
            "poly(a, 2",
            "offset()",
            "ns(a, 3)",
            "a b",
            &deep,
        ] {
            assert_eq!(
                Formula::parse(text, &schema).unwrap_err().code(),
                Code::Usage,
                "{text:.20}"
            );
        }
        for text in ["a + z", "sinh(a)", "log(z)", "poly(a, order = 2)"] {
            assert_eq!(Formula::parse(text, &schema).unwrap_err().code(), Code::Unknown);
        }
    }
}
