//! Design matrices from formulas, named and coded as in R.
//!
//! A formula is a sum of terms: `a`, interactions `a:b`, `a*b` for both and their interaction, powers
//! `a^2`, `.` for all columns, `1` and `0` (or `-1`) for the intercept; names with other characters
//! stand in backticks. Categories are coded by treatment: a column for each level but the first,
//! levels sorted unless ordered. A category is coded in full where the term without it is not in the
//! model, and so is the first category of a model without intercept. Terms stand by their order, then as written; in an interaction
//! the first category varies fastest. Missing values stay missing.

use learnt_core::prelude::*;

/// A column, or a power of it.
#[derive(Clone, Debug, PartialEq)]
struct Factor {
    column: usize,
    power: u32,
}

/// Factors that are multiplied; none is the intercept.
type Term = Vec<Factor>;

/// The columns of a formula's terms.
///
/// ```
/// use learnt::{prepare::design_matrix, prelude::*};
/// let table = Table::unnamed(Matrix::from_rows(&[[2.0, 3.0], [5.0, 7.0]])?);
/// let design = design_matrix(&table.frame(), "x0 * x1 + x0^2")?;
/// let names: Vec<&str> = design.schema().names().collect();
/// assert_eq!(names, ["(Intercept)", "x0", "x1", "I(x0^2)", "x0:x1"]);
/// assert_eq!(design.values().row(1), [1.0, 5.0, 7.0, 25.0, 35.0]);
/// # Ok::<(), Error>(())
/// ```
pub fn design_matrix(x: &Frame, formula: &str) -> Result<Table> {
    let terms = parse(formula, x.schema())?;
    let mut names: Vec<String> = Vec::new();
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let mut intercept_is_spanned = contains(&terms, &Term::new());
    for term in &terms {
        let (mut term_names, mut term_columns) = (vec![String::new()], vec![vec![1.0; x.nrows()]]);
        for factor in term {
            let without: Term = term.iter().filter(|other| *other != factor).cloned().collect();
            let categorical = x.schema().column(factor.column).levels().is_some();
            let spanned = !categorical || intercept_is_spanned;
            let margin = without.is_empty() || contains(&terms, &without);
            let (own_names, own) = coded(x, factor, spanned && margin);
            intercept_is_spanned |= categorical;
            (term_names, term_columns) = product(&term_names, &term_columns, &own_names, &own);
        }
        if term.is_empty() {
            term_names = vec!["(Intercept)".to_string()];
        }
        names.extend(term_names);
        columns.extend(term_columns);
    }
    if columns.is_empty() {
        return Err(Error::new(Code::Usage, "the formula has no terms"));
    }
    let values = Matrix::from_fn(x.nrows(), columns.len(), |i, j| columns[j][i]);
    Table::new(values, Schema::numeric(names)?)
}

/// Whether a term with these factors, in any order, is there.
fn contains(terms: &[Term], wanted: &Term) -> bool {
    let same = |term: &Term| {
        term.len() == wanted.len() && term.iter().all(|factor| wanted.contains(factor))
    };
    terms.iter().any(same)
}

/// Names and columns of one factor.
fn coded(x: &Frame, factor: &Factor, contrasts: bool) -> (Vec<String>, Vec<Vec<f64>>) {
    let column = x.schema().column(factor.column);
    let values = x.values().column(factor.column);
    let ColumnKind::Categorical { levels, ordered } = &column.kind else {
        let name = match factor.power {
            1 => column.name.clone(),
            power => format!("I({}^{power})", column.name),
        };
        let power = i32::try_from(factor.power).unwrap_or(i32::MAX);
        return (vec![name], vec![values.iter().map(|value| value.powi(power)).collect()]);
    };
    let mut order: Vec<usize> = (0..levels.len()).collect();
    if !ordered {
        order.sort_by(|&a, &b| levels[a].cmp(&levels[b]));
    }
    let shown = &order[usize::from(contrasts).min(order.len())..];
    let indicator = |&level: &usize| {
        let is =
            |&value: &f64| if value.is_nan() { value } else { f64::from(value == level as f64) };
        values.iter().map(is).collect()
    };
    let names = shown.iter().map(|&level| format!("{}{}", column.name, levels[level])).collect();
    (names, shown.iter().map(indicator).collect())
}

/// All products of two sets of columns, the first varying fastest.
fn product(
    names: &[String],
    columns: &[Vec<f64>],
    own_names: &[String],
    own: &[Vec<f64>],
) -> (Vec<String>, Vec<Vec<f64>>) {
    let (mut out_names, mut out) = (Vec::new(), Vec::new());
    for (own_name, own_column) in own_names.iter().zip(own) {
        for (name, column) in names.iter().zip(columns) {
            let separator = if name.is_empty() { "" } else { ":" };
            out_names.push(format!("{name}{separator}{own_name}"));
            out.push(column.iter().zip(own_column).map(|(a, b)| a * b).collect());
        }
    }
    (out_names, out)
}

/// A formula cut into names, numbers and signs.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Sign(char),
}

fn tokens(formula: &str) -> Result<Vec<Token>> {
    let mut out: Vec<Token> = Vec::new();
    let mut letters = formula.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '`' => {
                let word: String = letters.by_ref().take_while(|&c| c != '`').collect();
                out.push(Token::Word(word));
            }
            '+' | '-' | '*' | ':' | '^' => out.push(Token::Sign(letter)),
            c if c.is_whitespace() || c == '~' => {}
            c => {
                let mut word = c.to_string();
                let is_part = |c: &char| !c.is_whitespace() && !"+-*:^`~".contains(*c);
                while let Some(next) = letters.next_if(is_part) {
                    word.push(next);
                }
                out.push(Token::Word(word));
            }
        }
    }
    match out.is_empty() {
        true => Err(Error::new(Code::Usage, "the formula is empty")),
        false => Ok(out),
    }
}

/// The terms in order of their number of factors, each once.
fn parse(formula: &str, schema: &Schema) -> Result<Vec<Term>> {
    let mut terms: Vec<Term> = vec![Vec::new()];
    let mut sign = '+';
    let tokens = tokens(formula)?;
    let is_sum = |token: &Token| matches!(token, Token::Sign('+' | '-'));
    let mut rest = tokens.as_slice();
    while !rest.is_empty() {
        if let Some(Token::Sign(c @ ('+' | '-'))) = rest.first() {
            (sign, rest) = (*c, &rest[1..]);
        }
        let length = rest.iter().position(is_sum).unwrap_or(rest.len());
        let (own, later) = rest.split_at(length);
        for term in expanded(own, schema)? {
            let removes = (sign == '-') != (own == [Token::Word("0".to_string())]);
            match removes {
                true => terms.retain(|known| !contains(std::slice::from_ref(known), &term)),
                false if !contains(&terms, &term) => terms.push(term),
                false => {}
            }
        }
        rest = later;
    }
    terms.sort_by_key(Vec::len);
    Ok(terms)
}

/// The terms of one summand: `a*b:c` is a + b:c + a:b:c.
fn expanded(tokens: &[Token], schema: &Schema) -> Result<Vec<Term>> {
    match tokens {
        [Token::Word(word)] if word == "1" || word == "0" => return Ok(vec![Vec::new()]),
        [Token::Word(word)] if word == "." => {
            return Ok((0..schema.len()).map(|column| vec![Factor { column, power: 1 }]).collect());
        }
        _ => {}
    }
    let mut terms: Vec<Term> = vec![Vec::new()];
    for part in tokens.split(|token| *token == Token::Sign('*')) {
        let mut term = Term::new();
        for piece in part.split(|token| *token == Token::Sign(':')) {
            let found = factor(piece, schema)?;
            if !term.contains(&found) {
                term.push(found);
            }
        }
        let joined = terms.iter().map(|known| {
            let fresh = term.iter().filter(|factor| !known.contains(factor)).cloned();
            known.iter().cloned().chain(fresh).collect()
        });
        let joined: Vec<Term> = joined.collect();
        terms.extend(joined);
        if terms.len() > 4096 {
            return Err(Error::new(Code::Usage, "the formula has more than 4096 terms"));
        }
    }
    Ok(terms.into_iter().filter(|term| !term.is_empty()).collect())
}

/// `a` or `a^2`.
fn factor(tokens: &[Token], schema: &Schema) -> Result<Factor> {
    let (name, power) = match tokens {
        [Token::Word(name)] => (name, 1),
        [Token::Word(name), Token::Sign('^'), Token::Word(power)] => {
            let power: Option<u32> = power.parse().ok().filter(|power| (1..=1000).contains(power));
            let power = power.ok_or_else(|| {
                Error::new(Code::Usage, "a power in a formula is a whole number from 1 to 1000")
            })?;
            (name, power)
        }
        _ => {
            let message = "a formula is a sum of terms such as a, a:b, a*b and a^2";
            return Err(Error::new(Code::Usage, message));
        }
    };
    let column = schema.find(name)?;
    match schema.column(column).levels() {
        Some(_) if power > 1 => {
            let message = format!("column '{name}' is categorical and has no powers");
            Err(Error::new(Code::NotNumeric, message).column(name))
        }
        _ => Ok(Factor { column, power }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let columns = vec![
            Column::numeric("x"),
            Column::categorical("f", ["b", "a", "c"].map(String::from).to_vec()),
            Column::categorical("g g", ["u", "v"].map(String::from).to_vec()),
        ];
        let values = Matrix::from_fn(6, 3, |i, j| [i as f64, (i % 3) as f64, (i / 3) as f64][j]);
        Table::new(values, Schema::new(columns).unwrap()).unwrap()
    }

    fn names(formula: &str) -> Vec<String> {
        let design = design_matrix(&table().frame(), formula).unwrap();
        design.schema().names().map(String::from).collect()
    }

    #[test]
    fn the_first_level_in_sorted_order_is_the_reference() {
        assert_eq!(names("x + f"), ["(Intercept)", "x", "fb", "fc"]);
    }

    #[test]
    fn categories_are_coded_in_full_where_their_margin_is_absent() {
        assert_eq!(names("f - 1"), ["fa", "fb", "fc"]);
        assert_eq!(names("0 + f + `g g`"), ["fa", "fb", "fc", "g gv"]);
        assert_eq!(names("x:f"), ["(Intercept)", "x:fa", "x:fb", "x:fc"]);
        assert_eq!(names("x*f - x:f"), ["(Intercept)", "x", "fb", "fc"]);
    }

    #[test]
    fn the_first_category_of_an_interaction_varies_fastest() {
        let all = names("f * `g g`");
        assert_eq!(all, ["(Intercept)", "fb", "fc", "g gv", "fb:g gv", "fc:g gv"]);
    }

    #[test]
    fn mistakes_are_named() {
        let error = |formula: &str| design_matrix(&table().frame(), formula).unwrap_err();
        assert_eq!(error("x + y").code(), Code::Unknown);
        assert_eq!(error("f^2").code(), Code::NotNumeric);
        for broken in ["", "x +* f", "x^", "x^-1", "x:", "-1"] {
            assert_eq!(error(broken).code(), Code::Usage, "{broken}");
        }
    }
}
