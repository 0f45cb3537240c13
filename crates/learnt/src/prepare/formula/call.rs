//! The functions of a formula: `log(a + 1)`, `I(a/b)`, `poly(a, 2)`, `C(a, base)`, `offset(a)`.

use super::expression::{Expression, FUNCTIONS, Function, read};
use super::parse::{Made, Parser, Shape, Variable, plain};
use super::token::{Token, misread};
use learnt_core::prelude::*;

/// Highest degree of a polynomial.
const HIGHEST: usize = 30;

/// The functions that are shapes of their own.
const SHAPES: [(Function, Shape); 6] = [
    (Function::Log, Shape::Log),
    (Function::Log2, Shape::Log2),
    (Function::Log10, Shape::Log10),
    (Function::Exp, Shape::Exp),
    (Function::Sqrt, Shape::Sqrt),
    (Function::Abs, Shape::Abs),
];

impl Parser<'_> {
    /// `name(` is read up to its `)`; none for an offset, which is no term.
    pub(super) fn function(&mut self, name: &str) -> Result<Option<Variable>> {
        match name {
            "C" | "factor" | "as.factor" | "relevel" => self.category(name).map(Some),
            "poly" => self.polynomial().map(Some),
            "offset" => {
                let inner = read(&mut self.tokens)?;
                self.tokens.closes()?;
                let offset = self.computed(&inner, format!("offset({inner})"))?;
                self.offsets.push(offset);
                Ok(None)
            }
            "ns" | "bs" | "s" => {
                let message =
                    format!("{name}() is not among the functions of formulas: no splines");
                Err(Error::new(Code::Usage, message).hint("poly(a, 3) is a smooth curve"))
            }
            _ => {
                let known = FUNCTIONS.iter().map(|(known, _)| *known);
                let names = known.chain(["factor", "C", "poly", "offset"]);
                let function =
                    Function::named(name).ok_or_else(|| Error::unknown("function", name, names))?;
                let inner = read(&mut self.tokens)?;
                self.tokens.closes()?;
                self.applied(function, inner).map(Some)
            }
        }
    }

    /// A function of an expression, in the shape that is simplest.
    fn applied(&self, function: Function, inner: Expression) -> Result<Variable> {
        if let Expression::Column(name) = &inner {
            let column = self.schema.find(name)?;
            let shape =
                SHAPES.iter().find(|(known, _)| *known == function).map(|(_, shape)| *shape);
            if function == Function::Identity {
                return Ok(plain(column));
            }
            if let Some(shape) = shape {
                self.numeric(column, "functions")?;
                return Ok(Variable { shape, ..plain(column) });
            }
        }
        if let (Function::Identity, Expression::Pair('^', a, b)) = (function, &inner)
            && let (Expression::Column(name), Expression::Number(power)) = (&**a, &**b)
            && power.fract() == 0.0
            && (1.0..=1000.0).contains(power)
        {
            let column = self.schema.find(name)?;
            self.numeric(column, "powers")?;
            let power = *power as u32;
            let shape = if power == 1 { Shape::Plain } else { Shape::Power };
            return Ok(Variable { shape, power, ..plain(column) });
        }
        let whole = Expression::Call(function, Box::new(inner));
        self.computed(&whole, whole.to_string())
    }

    /// The value of an expression as one number a row.
    fn computed(&self, expression: &Expression, text: String) -> Result<Variable> {
        let program = expression.compiled(self.schema)?;
        let Some(column) = program.columns().next() else {
            let message = format!("'{text}' in the formula names no column");
            return Err(Error::new(Code::Usage, message).hint("0 and 1 are the intercept"));
        };
        let made = Some(Made { text, program, degree: 0, raw: false });
        Ok(Variable { shape: Shape::Computed, made, ..plain(column) })
    }

    /// `poly(a, 2)` or `poly(a, degree = 2, raw = TRUE)`.
    fn polynomial(&mut self) -> Result<Variable> {
        let inner = read(&mut self.tokens)?;
        let (mut degree, mut raw) = (1, false);
        while self.takes(',') {
            match self.named_argument(&["degree", "raw"])?.as_deref() {
                Some("raw") => {
                    raw = match self.tokens.next() {
                        Some(Token::Word(word)) if ["TRUE", "T", "true"].contains(&&*word) => true,
                        Some(Token::Word(word)) if ["FALSE", "F", "false"].contains(&&*word) => {
                            false
                        }
                        _ => return Err(Error::new(Code::Usage, "raw in poly() is TRUE or FALSE")),
                    };
                }
                _ => degree = self.whole(HIGHEST as u32, "the degree of poly()")? as usize,
            }
        }
        self.tokens.closes()?;
        let ending = if raw { ", raw = TRUE" } else { "" };
        let variable = self.computed(&inner, format!("poly({inner}, {degree}{ending})"))?;
        let made = variable.made.map(|made| Made { degree, raw, ..made });
        Ok(Variable { shape: Shape::Basis, made, ..variable })
    }

    /// The name before a `=`, if one comes next; it must be one of these.
    fn named_argument(&mut self, names: &[&str]) -> Result<Option<String>> {
        if self.tokens.second() != Some(&Token::Sign('=')) {
            return Ok(None);
        }
        let Some(name) = self.tokens.next().and_then(|token| token.word().map(str::to_string))
        else {
            return Err(misread(&self.tokens));
        };
        self.tokens.next();
        match names.contains(&name.as_str()) {
            true => Ok(Some(name)),
            false => Err(Error::unknown("argument", &name, names.iter().copied())),
        }
    }

    /// `C(a, base)`, `factor(a)`, `relevel(a, ref = "b")`, `C(a, sum)`.
    fn category(&mut self, name: &str) -> Result<Variable> {
        let mut variable = match self.tokens.first().cloned() {
            Some(Token::Word(word)) if ["factor", "as.factor"].contains(&&*word) => {
                self.tokens.next();
                if !self.takes('(') {
                    return Err(misread(&self.tokens));
                }
                self.category(&word)?
            }
            Some(token) => {
                let word = token.word().ok_or_else(|| misread(&self.tokens))?.to_string();
                let column = self.schema.find(&word)?;
                self.tokens.next();
                plain(column)
            }
            None => return Err(misread(&self.tokens)),
        };
        if self.takes(',') {
            self.named_argument(&["base", "ref"])?;
            self.contrast(&mut variable)?;
        }
        if !self.takes(')') {
            let message = format!("{name}() in a formula takes one column and a level");
            return Err(Error::new(Code::Usage, message).hint("make a column of it before the fit"));
        }
        if self.schema.column(variable.column).levels().is_none() {
            variable.shape = Shape::Factor;
        }
        Ok(variable)
    }

    /// The level of a category that others are compared with, or contrasts that sum to zero.
    fn contrast(&mut self, variable: &mut Variable) -> Result<()> {
        let Some(word) = self.tokens.first().and_then(Token::word).map(str::to_string) else {
            return Err(misread(&self.tokens));
        };
        self.tokens.next();
        let levels = self.schema.column(variable.column).levels();
        let is_level = levels.is_some_and(|levels| levels.contains(&word));
        if !is_level && ["sum", "contr.sum", "Sum"].contains(&word.as_str()) {
            variable.sum = true;
            return Ok(());
        }
        match levels {
            Some(levels) if !is_level => {
                Err(Error::unknown("level", &word, levels.iter().map(String::as_str)))
            }
            _ => {
                variable.base = Some(word);
                Ok(())
            }
        }
    }
}
