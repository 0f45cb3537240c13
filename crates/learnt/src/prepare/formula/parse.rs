//! From the text of a formula to its terms.
//!
//! Recursive descent; `:` binds closer than `*` and `/`, those closer than `+` and `-`. Terms stand
//! by their number of variables, then as written, each once.

use learnt_core::prelude::*;

/// Deepest nesting of parentheses, and most terms.
const DEEPEST: usize = 32;
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
}

/// The functions by name.
const FUNCTIONS: [(&str, Shape); 7] = [
    ("log", Shape::Log),
    ("log2", Shape::Log2),
    ("log10", Shape::Log10),
    ("exp", Shape::Exp),
    ("sqrt", Shape::Sqrt),
    ("abs", Shape::Abs),
    ("factor", Shape::Factor),
];

/// A column and what is done to it.
#[derive(Clone, Debug, PartialEq, Eq, Stored)]
pub struct Variable {
    /// Which column.
    pub column: usize,
    /// What is done to it.
    pub shape: Shape,
    /// The power; 1 for other shapes.
    pub power: u32,
    /// The level that others are compared with, if it is not the first.
    pub base: Option<String>,
}

/// Variables that are multiplied; none is the intercept.
pub(super) type Term = Vec<Variable>;

/// The terms of the right side.
#[derive(Clone, Debug, Stored)]
pub struct Formula {
    pub(super) terms: Vec<Vec<Variable>>,
}

/// The two sides of a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side<'a> {
    /// The target, without backticks; none without `~`.
    pub target: Option<String>,
    /// The terms.
    pub terms: &'a str,
}

impl<'a> Side<'a> {
    /// Cuts `target ~ terms` in two.
    pub fn split(formula: &'a str) -> Result<Side<'a>> {
        let Some((left, terms)) = formula.split_once('~') else {
            return Ok(Side { target: None, terms: formula });
        };
        let left = left.trim();
        let quoted = left.strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
        let target = quoted.unwrap_or(left);
        let plain = quoted.is_some() || !target.contains(|c: char| "+-*:^/()".contains(c));
        if target.is_empty() && !left.is_empty() || !plain || terms.contains('~') {
            return Err(Error::new(Code::Usage, "the left side of a formula is one column")
                .hint("write `target ~ a + b`; put a name with other characters in backticks, and transform a target before the fit"));
        }
        Ok(Side { target: (!target.is_empty()).then(|| target.to_string()), terms })
    }
}

impl Formula {
    /// Reads the terms of a formula; `.` means all columns of the schema.
    pub fn parse(terms: &str, schema: &Schema) -> Result<Formula> {
        let tokens = tokens(terms)?;
        let mut parser = Parser { tokens: &tokens, schema, depth: 0 };
        let mut terms = parser.sum(vec![Vec::new()])?;
        if !parser.tokens.is_empty() {
            return Err(misread(parser.tokens));
        }
        terms.sort_by_key(Vec::len);
        Ok(Formula { terms })
    }

    /// The names and numbers that the terms are written with, those that are taken away again too.
    pub fn words(terms: &str) -> Result<Vec<String>> {
        let word = |token: Token| match token {
            Token::Word(word) => Some(word),
            Token::Sign(_) => None,
        };
        Ok(tokens(terms)?.into_iter().filter_map(word).collect())
    }

    /// Whether there is an intercept.
    pub fn intercept(&self) -> bool {
        self.contains(&[])
    }

    /// The columns that the terms name, in order, each once.
    pub fn columns(&self) -> Vec<usize> {
        let mut out: Vec<usize> = self.terms.iter().flatten().map(|v| v.column).collect();
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

/// A formula cut into names, numbers and signs.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Sign(char),
}

fn tokens(formula: &str) -> Result<Vec<Token>> {
    const SIGNS: &str = "+-*:^/(),";
    let mut out: Vec<Token> = Vec::new();
    let mut letters = formula.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '`' => {
                let word: String = letters.by_ref().take_while(|&c| c != '`').collect();
                out.push(Token::Word(word));
            }
            c if SIGNS.contains(c) => out.push(Token::Sign(c)),
            c if c.is_whitespace() => {}
            '~' => return Err(Error::new(Code::Usage, "a second `~` in the formula")),
            c => {
                let mut word = c.to_string();
                let is_part =
                    |c: &char| !c.is_whitespace() && !"`~".contains(*c) && !SIGNS.contains(*c);
                while let Some(next) = letters.next_if(is_part) {
                    word.push(next);
                }
                out.push(Token::Word(word));
            }
        }
    }
    match out.is_empty() {
        true => Err(Error::new(Code::Usage, "the formula has no terms")
            .hint("write `target ~ a + b`, or `target ~ .` for all columns")),
        false => Ok(out),
    }
}

/// What is left to read.
struct Parser<'a> {
    tokens: &'a [Token],
    schema: &'a Schema,
    depth: usize,
}

impl Parser<'_> {
    /// Whether the next token is this sign; then it is taken.
    fn takes(&mut self, sign: char) -> bool {
        let found = self.tokens.first() == Some(&Token::Sign(sign));
        if found {
            self.tokens = &self.tokens[1..];
        }
        found
    }

    /// Terms added to and taken from those given.
    fn sum(&mut self, mut terms: Vec<Term>) -> Result<Vec<Term>> {
        let mut minus = self.takes('-');
        loop {
            let zero = self.tokens.first() == Some(&Token::Word("0".to_string()));
            let own = self.product()?;
            for term in own {
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
        let Some((Token::Word(word), rest)) = self.tokens.split_first() else {
            return Err(misread(self.tokens));
        };
        self.tokens = rest;
        if self.tokens.first() == Some(&Token::Sign('(')) {
            return Ok(vec![vec![self.function(word)?]]);
        }
        match word.as_str() {
            "0" | "1" => Ok(vec![Vec::new()]),
            "." => {
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
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Error::new(Code::Usage, "the formula is nested too deeply"));
        }
        let own = self.sum(Vec::new())?;
        self.depth -= 1;
        if !self.takes(')') {
            return Err(Error::new(Code::Usage, "a parenthesis is not closed in the formula"));
        }
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
        let power = match self.tokens.split_first() {
            Some((Token::Word(word), rest)) => {
                self.tokens = rest;
                word.parse().ok().filter(|power| (1..=1000).contains(power))
            }
            _ => None,
        };
        let message = "a power in a formula is a whole number from 1 to 1000";
        power.map(Some).ok_or_else(|| Error::new(Code::Usage, message))
    }

    /// A column, and its power.
    fn raised(&mut self, name: &str) -> Result<Variable> {
        let column = self.schema.find(name)?;
        let power = self.exponent()?.unwrap_or(1);
        if power == 1 {
            return Ok(plain(column));
        }
        self.numeric(column, "powers")?;
        Ok(Variable { column, shape: Shape::Power, power, base: None })
    }

    /// `name(` is read up to its `)`.
    fn function(&mut self, name: &str) -> Result<Variable> {
        self.takes('(');
        let Some((Token::Word(column), rest)) = self.tokens.split_first() else {
            return Err(misread(self.tokens));
        };
        self.tokens = rest;
        let mut variable = self.raised(column)?;
        if ["C", "factor"].contains(&name) && self.takes(',') {
            variable.base = Some(self.base(variable.column)?);
        }
        if !self.takes(')') {
            let message = format!("{name}() in a formula takes one column");
            return Err(Error::new(Code::Usage, message).hint("make a column of it before the fit"));
        }
        if name == "I" {
            return Ok(variable);
        }
        let name = if name == "C" { "factor" } else { name };
        let names = || FUNCTIONS.iter().map(|(known, _)| *known);
        let shape = FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, shape)| *shape);
        variable.shape = match shape.ok_or_else(|| Error::unknown("function", name, names()))? {
            Shape::Factor if self.schema.column(variable.column).levels().is_some() => Shape::Plain,
            Shape::Factor => Shape::Factor,
            shape => {
                self.numeric(variable.column, "functions")?;
                shape
            }
        };
        match variable.power {
            1 => Ok(variable),
            _ => Err(Error::new(
                Code::Usage,
                format!("{name}() in a formula takes a column, not its power"),
            )),
        }
    }

    /// The level of a category that others are compared with.
    fn base(&mut self, column: usize) -> Result<String> {
        let Some((Token::Word(word), rest)) = self.tokens.split_first() else {
            return Err(misread(self.tokens));
        };
        self.tokens = rest;
        match self.schema.column(column).levels() {
            Some(levels) if !levels.contains(word) => {
                Err(Error::unknown("level", word, levels.iter().map(String::as_str)))
            }
            _ => Ok(word.clone()),
        }
    }

    fn numeric(&self, column: usize, what: &str) -> Result<()> {
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

fn plain(column: usize) -> Variable {
    Variable { column, shape: Shape::Plain, power: 1, base: None }
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

fn misread(rest: &[Token]) -> Error {
    let place = match rest.first() {
        Some(Token::Word(word)) => format!("at '{word}'"),
        Some(Token::Sign(sign)) => format!("at '{sign}'"),
        None => "at its end".to_string(),
    };
    Error::new(Code::Usage, format!("the formula cannot be read {place}"))
        .hint("terms are a, a:b, a*b, a^2, log(a), factor(a), joined by + and -")
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn the_left_side_is_one_column() {
        let target = |text| Side::split(text).map(|side| side.target);
        assert_eq!(target("y ~ a").unwrap(), Some("y".to_string()));
        assert_eq!(target("`y 1` ~ a").unwrap(), Some("y 1".to_string()));
        assert_eq!(target("a + b").unwrap(), None);
        assert!(target("log(y) ~ a").is_err() && target("a + b ~ c").is_err());
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
            "log(a + b)",
            "log(a^2)",
            "a b",
            &deep,
        ] {
            assert_eq!(
                Formula::parse(text, &schema).unwrap_err().code(),
                Code::Usage,
                "{text:.20}"
            );
        }
        for text in ["a + z", "sin(a)"] {
            assert_eq!(Formula::parse(text, &schema).unwrap_err().code(), Code::Unknown);
        }
    }
}
