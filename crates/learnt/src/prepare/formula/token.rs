//! A formula cut into names, numbers and signs.

use learnt_core::prelude::*;

/// Deepest nesting of parentheses.
const DEEPEST: usize = 32;
const SIGNS: &str = "+-*:^/(),";

/// A name, a number or a sign.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Word(String),
    /// A name in backticks or quotes: never a number or a function.
    Quoted(String),
    Sign(char),
}

impl Token {
    /// The name or number, whatever it stands in.
    pub(super) fn word(&self) -> Option<&str> {
        match self {
            Token::Word(word) | Token::Quoted(word) => Some(word),
            Token::Sign(_) => None,
        }
    }
}

/// What is left to read.
#[derive(Clone, Debug)]
pub(super) struct Tokens {
    all: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Tokens {
    /// Cuts a text.
    pub(super) fn new(text: &str) -> Result<Tokens> {
        let all = cut(text)?;
        match all.is_empty() {
            true => Err(Error::new(Code::Usage, "the formula has no terms")
                .hint("write `target ~ a + b`, or `target ~ .` for all columns")),
            false => Ok(Tokens { all, at: 0, depth: 0 }),
        }
    }

    /// The names and numbers.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.all.iter().filter_map(Token::word)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.at == self.all.len()
    }

    /// What comes next, which stays.
    pub(super) fn first(&self) -> Option<&Token> {
        self.all.get(self.at)
    }

    /// What comes after the next.
    pub(super) fn second(&self) -> Option<&Token> {
        self.all.get(self.at + 1)
    }

    /// Takes what comes next.
    pub(super) fn next(&mut self) -> Option<Token> {
        let found = self.first().cloned();
        self.at += usize::from(found.is_some());
        found
    }

    /// Whether the next token is this sign; then it is taken.
    pub(super) fn takes(&mut self, sign: char) -> bool {
        let found = self.first() == Some(&Token::Sign(sign));
        self.at += usize::from(found);
        found
    }

    /// The next token, taken, if it is one of these signs.
    pub(super) fn takes_one(&mut self, signs: &str) -> Option<char> {
        signs.chars().find(|&sign| self.takes(sign))
    }

    /// Takes the `)` that must come next.
    pub(super) fn closes(&mut self) -> Result<()> {
        match self.takes(')') {
            true => Ok(()),
            false if self.is_empty() => {
                Err(Error::new(Code::Usage, "a parenthesis is not closed in the formula"))
            }
            false => Err(misread(self)),
        }
    }

    /// Reads one level deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Error::new(Code::Usage, "the formula is nested too deeply"));
        }
        let found = read(self)?;
        self.depth -= 1;
        Ok(found)
    }
}

fn cut(text: &str) -> Result<Vec<Token>> {
    let mut out: Vec<Token> = Vec::new();
    let mut letters = text.chars().peekable();
    let mut depth = 0_usize;
    while let Some(letter) = letters.next() {
        match letter {
            '`' | '"' | '\'' => {
                let word: String = letters.by_ref().take_while(|&c| c != letter).collect();
                out.push(Token::Quoted(word));
            }
            // A name may hold `=` outside of a function's arguments.
            '=' if depth > 0 => out.push(Token::Sign('=')),
            c if SIGNS.contains(c) => {
                depth = match c {
                    '(' => depth + 1,
                    ')' => depth.saturating_sub(1),
                    _ => depth,
                };
                out.push(Token::Sign(c));
            }
            c if c.is_whitespace() => {}
            '~' => return Err(Error::new(Code::Usage, "a second `~` in the formula")),
            c => {
                let mut word = c.to_string();
                let inside = depth > 0;
                let is_part = |c: &char| {
                    let other = "`~".contains(*c) || SIGNS.contains(*c);
                    !(c.is_whitespace() || other || inside && *c == '=')
                };
                loop {
                    while let Some(next) = letters.next_if(is_part) {
                        word.push(next);
                    }
                    // 1e-3 is one number.
                    let stem = word.strip_suffix(['e', 'E']);
                    let number = stem.is_some_and(|stem| stem.parse().is_ok_and(f64::is_finite));
                    match letters.next_if(|c| number && "+-".contains(*c)) {
                        Some(sign) => word.push(sign),
                        None => break,
                    }
                }
                // `b %in% a` is `b:a`, whatever stands between.
                out.push(if word == "%in%" { Token::Sign(':') } else { Token::Word(word) });
            }
        }
    }
    Ok(out)
}

/// An error that names the place.
pub(super) fn misread(rest: &Tokens) -> Error {
    let place = match rest.first() {
        Some(Token::Word(word) | Token::Quoted(word)) => format!("at '{word}'"),
        Some(Token::Sign(sign)) => format!("at '{sign}'"),
        None => "at its end".to_string(),
    };
    Error::new(Code::Usage, format!("the formula cannot be read {place}"))
        .hint("terms are a, a:b, a*b, a^2, log(a), I(a/b), factor(a), poly(a, 2), offset(a), joined by + and -")
}
