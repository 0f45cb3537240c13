//! Arithmetic inside the functions of a formula: from text to a program over the columns of a row.
//!
//! `+ - * / ^`, numbers, columns, parentheses and functions of one argument, with R's precedence: `-a^2` is
//! `-(a^2)`. A program is the expression in postfix order.

use super::token::{Token, Tokens, misread};
use learnt_core::prelude::*;

/// Most numbers that a program holds at once.
const DEEPEST: usize = 24;

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Stored)]
pub(super) enum Function {
    /// The number itself.
    Identity,
    /// Natural logarithm.
    Log,
    /// Logarithm to base 2.
    Log2,
    /// Logarithm to base 10.
    Log10,
    /// Natural logarithm of one more.
    Log1p,
    /// Exponential.
    Exp,
    /// Exponential less one.
    Expm1,
    /// Square root.
    Sqrt,
    /// Absolute value.
    Abs,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Logarithm of the odds.
    Logit,
    /// Share of the odds' logarithm.
    Sigmoid,
}

/// The functions by name.
pub(super) const FUNCTIONS: [(&str, Function); 13] = [
    ("I", Function::Identity),
    ("log", Function::Log),
    ("log2", Function::Log2),
    ("log10", Function::Log10),
    ("log1p", Function::Log1p),
    ("exp", Function::Exp),
    ("expm1", Function::Expm1),
    ("sqrt", Function::Sqrt),
    ("abs", Function::Abs),
    ("sin", Function::Sin),
    ("cos", Function::Cos),
    ("logit", Function::Logit),
    ("plogis", Function::Sigmoid),
];

impl Function {
    /// The function of this name.
    pub(super) fn named(name: &str) -> Option<Function> {
        FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
    }

    pub(super) fn name(self) -> &'static str {
        FUNCTIONS.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }

    pub(super) fn of(self, x: f64) -> f64 {
        match self {
            Function::Identity => x,
            Function::Log => x.ln(),
            Function::Log2 => x.log2(),
            Function::Log10 => x.log10(),
            Function::Log1p => x.ln_1p(),
            Function::Exp => x.exp(),
            Function::Expm1 => x.exp_m1(),
            Function::Sqrt => x.sqrt(),
            Function::Abs => x.abs(),
            Function::Sin => x.sin(),
            Function::Cos => x.cos(),
            Function::Logit => (x / (1.0 - x)).ln(),
            Function::Sigmoid => learnt_core::stats::special::sigmoid(x),
        }
    }

    /// The function that undoes it.
    pub(super) fn inverse(self, y: f64) -> Option<f64> {
        Some(match self {
            Function::Identity => y,
            Function::Log => y.exp(),
            Function::Log2 => y.exp2(),
            Function::Log10 => 10_f64.powf(y),
            Function::Log1p => y.exp_m1(),
            Function::Exp => y.ln(),
            Function::Expm1 => y.ln_1p(),
            Function::Sqrt => y * y,
            Function::Logit => learnt_core::stats::special::sigmoid(y),
            Function::Sigmoid => (y / (1.0 - y)).ln(),
            Function::Abs | Function::Sin | Function::Cos => return None,
        })
    }
}

/// An expression as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Column(String),
    Number(f64),
    Minus(Box<Expression>),
    Group(Box<Expression>),
    Call(Function, Box<Expression>),
    Pair(char, Box<Expression>, Box<Expression>),
}

/// Reads an expression up to a sign that is none of its own.
pub(super) fn read(tokens: &mut Tokens) -> Result<Expression> {
    tokens.nested(|tokens| {
        let mut left = product(tokens)?;
        while let Some(sign) = tokens.takes_one("+-") {
            left = Expression::Pair(sign, Box::new(left), Box::new(product(tokens)?));
        }
        Ok(left)
    })
}

fn product(tokens: &mut Tokens) -> Result<Expression> {
    let mut left = factor(tokens)?;
    while let Some(sign) = tokens.takes_one("*/") {
        left = Expression::Pair(sign, Box::new(left), Box::new(factor(tokens)?));
    }
    Ok(left)
}

fn factor(tokens: &mut Tokens) -> Result<Expression> {
    if tokens.takes('-') {
        return tokens.nested(|tokens| Ok(Expression::Minus(Box::new(factor(tokens)?))));
    }
    let base = atom(tokens)?;
    match tokens.takes('^') {
        false => Ok(base),
        true => tokens
            .nested(|tokens| Ok(Expression::Pair('^', Box::new(base), Box::new(factor(tokens)?)))),
    }
}

fn atom(tokens: &mut Tokens) -> Result<Expression> {
    if tokens.takes('(') {
        let inner = read(tokens)?;
        tokens.closes()?;
        return Ok(Expression::Group(Box::new(inner)));
    }
    let (word, quoted) = match tokens.first().cloned() {
        Some(Token::Word(word)) => (word, false),
        Some(Token::Quoted(word)) => (word, true),
        Some(Token::Sign(_)) | None => return Err(misread(tokens)),
    };
    tokens.next();
    if !quoted && tokens.takes('(') {
        let names = FUNCTIONS.iter().map(|(known, _)| *known);
        let function =
            Function::named(&word).ok_or_else(|| Error::unknown("function", &word, names))?;
        let inner = read(tokens)?;
        tokens.closes()?;
        return Ok(Expression::Call(function, Box::new(inner)));
    }
    match word.parse::<f64>() {
        Ok(number) if !quoted && number.is_finite() => Ok(Expression::Number(number)),
        _ => Ok(Expression::Column(word)),
    }
}

impl std::fmt::Display for Expression {
    /// As R writes it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Expression::Column(name) if is_plain(name) => write!(f, "{name}"),
            Expression::Column(name) => write!(f, "`{name}`"),
            Expression::Number(number) => write!(f, "{number}"),
            Expression::Minus(inner) => write!(f, "-{inner}"),
            Expression::Group(inner) => write!(f, "({inner})"),
            Expression::Call(function, inner) => write!(f, "{}({inner})", function.name()),
            Expression::Pair(sign @ ('^' | '/'), a, b) => write!(f, "{a}{sign}{b}"),
            Expression::Pair(sign, a, b) => write!(f, "{a} {sign} {b}"),
        }
    }
}

/// Whether a name can be read without backticks.
fn is_plain(name: &str) -> bool {
    let letters = name.chars().all(|c| c.is_alphanumeric() || "._".contains(c));
    letters && name.parse::<f64>().is_err()
}

impl Expression {
    /// The names of its columns, as often as they stand there.
    pub(super) fn names(&self) -> Vec<&str> {
        match self {
            Expression::Column(name) => vec![name],
            Expression::Number(_) => Vec::new(),
            Expression::Minus(inner) | Expression::Group(inner) | Expression::Call(_, inner) => {
                inner.names()
            }
            Expression::Pair(_, a, b) => [a.names(), b.names()].concat(),
        }
    }

    /// The program over the columns of a schema.
    pub(super) fn compiled(&self, schema: &Schema) -> Result<Program> {
        let mut program = Program { operations: Vec::new() };
        self.compile(schema, &mut program)?;
        match program.is_sound(schema.len()) {
            true => Ok(program),
            false => {
                let message = format!("'{self}' in the formula is too long");
                Err(Error::new(Code::Usage, message).hint("make a column of it before the fit"))
            }
        }
    }

    fn compile(&self, schema: &Schema, out: &mut Program) -> Result<()> {
        let operation = match self {
            Expression::Column(name) => {
                let column = schema.find(name)?;
                if schema.column(column).levels().is_some() {
                    let message = format!("column '{name}' is categorical and has no functions");
                    return Err(Error::new(Code::NotNumeric, message).column(name));
                }
                Operation::Column(column)
            }
            Expression::Number(number) => Operation::Number(*number),
            Expression::Group(inner) => return inner.compile(schema, out),
            Expression::Minus(inner) => {
                inner.compile(schema, out)?;
                Operation::Negate
            }
            Expression::Call(function, inner) => {
                inner.compile(schema, out)?;
                Operation::Apply(*function)
            }
            Expression::Pair(sign, a, b) => {
                a.compile(schema, out)?;
                b.compile(schema, out)?;
                match sign {
                    '+' => Operation::Add,
                    '-' => Operation::Subtract,
                    '*' => Operation::Multiply,
                    '/' => Operation::Divide,
                    _ => Operation::Power,
                }
            }
        };
        out.operations.push(operation);
        Ok(())
    }

    /// The number that it is, if no column is in it.
    pub(super) fn constant(&self) -> Option<f64> {
        match self.names().is_empty() {
            true => Some(self.compiled(&Schema::default()).ok()?.value(|_| f64::NAN)),
            false => None,
        }
    }
}

/// One step of a program.
#[derive(Clone, Copy, Debug, PartialEq, Stored)]
pub(super) enum Operation {
    Column(usize),
    Number(f64),
    Apply(Function),
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
}

/// An expression in postfix order.
#[derive(Clone, Debug, Default, PartialEq, Stored)]
pub(super) struct Program {
    pub(super) operations: Vec<Operation>,
}

impl Program {
    /// The columns that it reads.
    pub(super) fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.operations.iter().filter_map(|operation| match operation {
            Operation::Column(column) => Some(*column),
            _ => None,
        })
    }

    /// Whether it leaves one number, holds no more than it may, and reads columns below a number.
    pub(super) fn is_sound(&self, columns: usize) -> bool {
        let mut depth = 0_usize;
        for operation in &self.operations {
            let (takes, finite) = match operation {
                Operation::Column(column) => (0, *column < columns),
                Operation::Number(number) => (0, number.is_finite()),
                Operation::Apply(_) | Operation::Negate => (1, true),
                _ => (2, true),
            };
            if depth < takes || !finite {
                return false;
            }
            depth = depth - takes + 1;
            if depth > DEEPEST {
                return false;
            }
        }
        depth == 1
    }

    /// Its value for a row.
    #[inline]
    pub(super) fn value(&self, at: impl Fn(usize) -> f64) -> f64 {
        let mut held = [0.0_f64; DEEPEST + 1];
        let mut depth = 0;
        for operation in &self.operations {
            match operation {
                Operation::Column(column) => {
                    held[depth] = at(*column);
                    depth += 1;
                }
                Operation::Number(number) => {
                    held[depth] = *number;
                    depth += 1;
                }
                Operation::Apply(function) => held[depth - 1] = function.of(held[depth - 1]),
                Operation::Negate => held[depth - 1] = -held[depth - 1],
                pair => {
                    let (a, b) = (held[depth - 2], held[depth - 1]);
                    held[depth - 2] = match pair {
                        Operation::Add => a + b,
                        Operation::Subtract => a - b,
                        Operation::Multiply => a * b,
                        Operation::Divide => a / b,
                        _ => power(a, b),
                    };
                    depth -= 1;
                }
            }
        }
        held[0]
    }
}

/// Whole powers by multiplication, so that they are exact where they can be.
pub(super) fn power(base: f64, exponent: f64) -> f64 {
    match exponent.fract() == 0.0 && exponent.abs() <= 1000.0 {
        true => base.powi(exponent as i32),
        false => base.powf(exponent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> f64 {
        let schema = Schema::numeric(["a", "b"]).unwrap();
        let expression = read(&mut Tokens::new(text).unwrap()).unwrap();
        let row = [3.0, 4.0];
        expression.compiled(&schema).unwrap().value(|j| row[j])
    }

    #[test]
    fn signs_bind_as_in_r() {
        assert_eq!(value("a + b * 2"), 11.0);
        assert_eq!(value("(a + b) * 2"), 14.0);
        assert_eq!(value("-a^2"), -9.0);
        assert_eq!(value("2^a^2"), 512.0);
        assert_eq!(value("a - b - 1"), -2.0);
        assert_eq!(value("b / 2 / 2"), 1.0);
        assert_eq!(value("sqrt(a^2 + b^2)"), 5.0);
        assert_eq!(value("1e-2 * a"), 0.03);
    }

    #[test]
    fn expressions_are_written_as_r_writes_them() {
        let text = |text: &str| read(&mut Tokens::new(text).unwrap()).unwrap().to_string();
        assert_eq!(text("log(a+1)"), "log(a + 1)");
        assert_eq!(text("a/100*b ^2"), "a/100 * b^2");
        assert_eq!(text("-(a - b)"), "-(a - b)");
        assert_eq!(text("log(`a (b)` + \"c\")"), "log(`a (b)` + c)");
    }
}
