//! Analysis of variance and of deviance: what each term of a model adds.
//!
//! Type I: each term after those before it. Type II: each after all that do not contain it. Type III: each after
//! all others, in the coding that the model has: with treatment coding a main effect beside its interaction is
//! tested at the reference level, and `C(a, sum)` gives the usual hypothesis, as in R. The sums of squares of least
//! squares come from XᵀX = (M Mᵀ)⁺ and Xᵀy = XᵀX b alone: a set S of columns explains c_Sᵀ G_SS⁻¹ c_S. Mean squares
//! are divided by that of the residuals of the whole model. Deviances come from a fit to each set of columns.
//!
//! Langsrud (2003), Statistics and Computing 13, 163-167, for the types.

use super::evidence::absent;
use super::inference::{Test, chi_squared_test, f_test_of};
use super::linear_regression::LinearRegressionModel;
use learnt_core::linalg::{dot, svd};
use learnt_core::prelude::*;
use learnt_core::question::Terms;

/// What a column may lose to earlier ones before it counts as one of their combinations.
const LEFT: f64 = 1e-10;

/// What each term is tested against.
#[derive(Choice, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnovaType {
    /// The terms before it.
    #[default]
    #[choice(name = "I")]
    First,
    /// All terms that do not contain it.
    #[choice(name = "II")]
    Second,
    /// All other terms.
    #[choice(name = "III")]
    Third,
}

impl AnovaType {
    /// By what a question says.
    pub(super) fn of(asked: &Asked) -> Result<AnovaType> {
        let types = [AnovaType::First, AnovaType::Second, AnovaType::Third];
        Ok(types[asked.choice("kind", &["I", "II", "III"])?])
    }

    fn word(self) -> &'static str {
        match self {
            AnovaType::First => "type I: each term after those before it",
            AnovaType::Second => "type II: each term after all that do not contain it",
            AnovaType::Third => "type III: each term after all others, in the coding of the model",
        }
    }

    /// The terms of the smaller and of the larger model that tell about a term.
    fn sides(self, terms: &Terms, term: usize) -> (Vec<usize>, Vec<usize>) {
        let all = 0..terms.len();
        let smaller: Vec<usize> = match self {
            AnovaType::First => (0..term).collect(),
            AnovaType::Second => all.filter(|&t| t != term && !terms.is_within(term, t)).collect(),
            AnovaType::Third => all.filter(|&t| t != term).collect(),
        };
        let larger = smaller.iter().copied().chain([term]).collect();
        (smaller, larger)
    }
}

/// How well a model with some columns fits: what is left, and its independent columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    pub(super) deviance: f64,
    pub(super) rank: f64,
}

/// What a term adds.
struct Added {
    name: String,
    df: f64,
    deviance: f64,
    /// After it.
    left: Left,
}

/// What each term adds by `fit`, which fits a set of columns.
fn added(
    kind: AnovaType,
    terms: &Terms,
    mut fit: impl FnMut(&[usize]) -> Result<Left>,
) -> Result<Vec<Added>> {
    if terms.is_empty() {
        return Err(absent("the model has no terms to test"));
    }
    let mut known: Vec<(Vec<usize>, Left)> = Vec::new();
    let mut cached = |own: &[usize]| -> Result<Left> {
        let mut columns: Vec<usize> =
            own.iter().flat_map(|&t| terms.columns[t].iter().copied()).collect();
        columns.sort_unstable();
        if let Some((_, left)) = known.iter().find(|(known, _)| *known == columns) {
            return Ok(*left);
        }
        let left = fit(&columns)?;
        known.push((columns, left));
        Ok(left)
    };
    let mut out = Vec::new();
    for (t, name) in terms.names.iter().enumerate() {
        let (smaller, larger) = kind.sides(terms, t);
        let (before, after) = (cached(&smaller)?, cached(&larger)?);
        let deviance = (before.deviance - after.deviance).max(0.0);
        out.push(Added { name: name.clone(), df: after.rank - before.rank, deviance, left: after });
    }
    Ok(out)
}

impl LinearRegressionModel {
    /// The analysis of variance of an output.
    pub(super) fn anova(&self, output: usize, kind: AnovaType, terms: &Terms) -> Result<Answer> {
        let (noise, df) = (self.evidence.noise(output)?, self.evidence.freedom()?);
        let (products, along) = self.products(output)?;
        let total: f64 = dot(&along, self.coef.row(output));
        let rows = added(kind, terms, |columns| {
            let (explained, rank) = explained(&products, &along, columns);
            Ok(Left { deviance: total - explained, rank })
        })?;
        let mut table =
            Columns::new("", &["term", "df", "sum of squares", "mean square", "F", "p"]);
        for row in rows {
            let mut cells = vec![Cell::Text(row.name.clone()), Cell::Number(row.df)];
            match row.df > 0.0 {
                false => cells
                    .extend((0..4).map(|_| Cell::Empty("it adds no independent column".into()))),
                true => {
                    let test = f_test_of(row.deviance / row.df / noise, row.df, df);
                    cells.extend(
                        [row.deviance, row.deviance / row.df, test.statistic].map(Cell::Number),
                    );
                    cells.push(Cell::Probability(test.p));
                }
            }
            table.push(cells);
        }
        let residual = self.evidence.residual[(output, output)];
        let none = || Cell::Empty("the residuals are what terms are tested against".into());
        let mut cells = vec![Cell::Text("residuals".to_string())];
        cells.extend([df, residual, noise].map(Cell::Number));
        cells.extend([none(), none()]);
        table.push(cells);
        let mut answer = Answer::new("Analysis of variance");
        answer.tables.push(table);
        answer.notes.push(kind.word().to_string());
        Ok(answer)
    }

    /// XᵀX and Xᵀy of the inputs, about their means with an intercept.
    fn products(&self, output: usize) -> Result<(Matrix, Vec<f64>)> {
        let root = self.evidence.root()?;
        let (d, full) = (root.nrows(), self.evidence.rank == root.nrows());
        // Columns on one scale where they are independent; the inverse of the rest has no other units.
        let size = |j: usize| dot(root.row(j), root.row(j)).sqrt();
        let unit: Vec<f64> = (0..d).map(|j| if full { size(j).recip() } else { 1.0 }).collect();
        let scaled = Matrix::from_fn(d, root.ncols(), |j, k| root[(j, k)] * unit[j]);
        let parts = svd(scaled.view())?;
        let half = Matrix::from_fn(d, parts.rank(), |j, k| parts.u[(j, k)] / parts.s[k] * unit[j]);
        let products = Matrix::from_fn(d, d, |i, j| dot(half.row(i), half.row(j)));
        let along = products.rows().map(|row| dot(row, self.coef.row(output))).collect();
        Ok((products, along))
    }
}

/// c_Sᵀ G_SS⁻¹ c_S and the rank of G_SS, columns in order, those that depend on earlier ones left out.
fn explained(products: &Matrix, along: &[f64], columns: &[usize]) -> (f64, f64) {
    let (mut lower, mut kept): (Vec<Vec<f64>>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut effects: Vec<f64> = Vec::new();
    for &j in columns {
        let mut row: Vec<f64> = Vec::with_capacity(kept.len() + 1);
        for (a, &k) in kept.iter().enumerate() {
            row.push((products[(j, k)] - dot(&lower[a][..a], &row)) / lower[a][a]);
        }
        let left = products[(j, j)] - dot(&row, &row);
        if left <= LEFT * products[(j, j)] || left <= 0.0 {
            continue;
        }
        let root = left.sqrt();
        effects.push((along[j] - dot(&row, &effects)) / root);
        row.push(root);
        lower.push(row);
        kept.push(j);
    }
    (dot(&effects, &effects), kept.len() as f64)
}

/// How deviances are tested: the dispersion, and its degrees of freedom where it is estimated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dispersion {
    pub(super) value: f64,
    pub(super) df: Option<f64>,
}

impl Dispersion {
    /// The test of a deviance on some degrees of freedom.
    fn test(self, deviance: f64, df: f64) -> Test {
        match self.df {
            None => chi_squared_test(deviance, df),
            Some(rest) => f_test_of(deviance / df / self.value, df, rest),
        }
    }

    fn letter(self) -> &'static str {
        if self.df.is_some() { "F" } else { "chi2" }
    }
}

/// The analysis of deviance of a likelihood; `rows` are those that it counts.
pub(super) fn deviance_answer(
    kind: AnovaType,
    terms: &Terms,
    dispersion: Dispersion,
    rows: f64,
    fit: impl FnMut(&[usize]) -> Result<Left>,
) -> Result<Answer> {
    let found = added(kind, terms, fit)?;
    let first = kind == AnovaType::First;
    let letter = dispersion.letter();
    let head = match first {
        true => vec!["term", "df", "deviance", "df left", "deviance left", letter, "p"],
        false => vec!["term", "df", "deviance", letter, "p"],
    };
    let mut table = Columns::new("", &head);
    for row in found {
        let mut cells = vec![Cell::Text(row.name.clone()), Cell::Number(row.df)];
        if row.df <= 0.0 {
            let none = || Cell::Empty("it adds no independent column".into());
            cells.extend((2..head.len()).map(|_| none()));
            table.push(cells);
            continue;
        }
        cells.push(Cell::Number(row.deviance));
        if first {
            cells.extend([rows - row.left.rank, row.left.deviance].map(Cell::Number));
        }
        let test = dispersion.test(row.deviance, row.df);
        cells.extend([Cell::Number(test.statistic), Cell::Probability(test.p)]);
        table.push(cells);
    }
    let mut answer = Answer::new("Analysis of deviance");
    answer.tables.push(table);
    answer.notes.push(kind.word().to_string());
    Ok(answer)
}

/// Compares fits of nested models to the same rows, the smallest first: each with the one before it. The fits are
/// answers to the question `goodness`. Where the dispersion is estimated, that of the largest model is used.
pub fn compare_fits(fits: &[(String, Answer)]) -> Result<Answer> {
    let number = |(name, fit): &(String, Answer), what: &str| {
        fit.number(what)
            .ok_or_else(|| Error::unsupported(format!("{name} has no {what} to compare by")))
    };
    let [first, rest @ ..] = fits else {
        return Err(Error::new(Code::Usage, "there is no model to compare"));
    };
    if rest.is_empty() {
        return Err(Error::new(Code::Usage, "one model cannot be compared with itself")
            .hint("name two models or more; `learnt ask MODEL anova` tests the terms of one"));
    }
    for other in rest {
        check_alike(first, other)?;
    }
    let mut dfs = Vec::new();
    for fit in fits {
        dfs.push(number(fit, "df")?);
    }
    let largest = (0..fits.len()).min_by(|&a, &b| dfs[a].total_cmp(&dfs[b])).unwrap_or(0);
    let known = number(&fits[largest], "known dispersion")? == 1.0;
    let dispersion = Dispersion {
        value: number(&fits[largest], "dispersion")?,
        df: (!known).then_some(dfs[largest]),
    };
    let letter = dispersion.letter();
    let head =
        ["model", "df of residuals", "deviance", "df", "deviance gained", letter, "p", "AIC"];
    let mut table = Columns::new("", &head);
    let mut notes = Vec::new();
    for (k, fit) in fits.iter().enumerate() {
        let deviance = number(fit, "deviance")?;
        let mut cells =
            vec![Cell::Text(fit.0.clone()), Cell::Number(dfs[k]), Cell::Number(deviance)];
        if k == 0 {
            cells.extend(
                (0..4).map(|_| Cell::Empty("the model that the next is compared with".into())),
            );
        } else {
            let (df, gained) = (dfs[k - 1] - dfs[k], number(&fits[k - 1], "deviance")? - deviance);
            cells.extend([df, gained].map(Cell::Number));
            match df != 0.0 && gained * df >= 0.0 {
                true => {
                    let test = dispersion.test(gained.abs(), df.abs());
                    cells.extend([Cell::Number(test.statistic), Cell::Probability(test.p)]);
                }
                false => {
                    cells.extend((0..2).map(|_| Cell::Empty("these two are not nested".into())));
                }
            }
            notes.extend(not_nested(&fits[k - 1], fit));
        }
        cells.push(fit.1.number("AIC").map_or(Cell::Empty("no likelihood".into()), Cell::Number));
        table.push(cells);
    }
    let mut answer = Answer::new("Comparison of nested models");
    answer.tables.push(table);
    answer.notes = notes;
    Ok(answer)
}

/// Refuses fits of other rows, targets or families.
fn check_alike(first: &(String, Answer), other: &(String, Answer)) -> Result<()> {
    let differ = |what: &str| {
        let message = format!("{} and {} were fitted to {what}", first.0, other.0);
        Err(Error::new(Code::Usage, message)
            .hint("fit both to the same rows and target; rows with missing values are left out by the columns that each formula names"))
    };
    let near = |what: &str| match (first.1.number(what), other.1.number(what)) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-8 * a.abs().max(b.abs()),
        _ => true,
    };
    if !near("rows") {
        let count = |fit: &Answer| fit.number("rows").unwrap_or(f64::NAN);
        return differ(&format!("{} and {} rows", count(&first.1), count(&other.1)));
    }
    match (near("known dispersion") && near("family"), near("null deviance")) {
        (false, _) => differ("different distributions"),
        (true, false) => differ("different targets or rows"),
        (true, true) => Ok(()),
    }
}

/// A sentence where the columns of neither model are among those of the other.
fn not_nested(a: &(String, Answer), b: &(String, Answer)) -> Option<String> {
    let names = |fit: &Answer| -> Vec<String> {
        let column = fit.column("term");
        column.map_or(Vec::new(), |c| (0..fit.tables[0].len()).map(|i| c.text(i)).collect())
    };
    let (first, second) = (names(&a.1), names(&b.1));
    let inside = |small: &[String], large: &[String]| small.iter().all(|name| large.contains(name));
    (!inside(&first, &second) && !inside(&second, &first)).then(|| {
        format!("the columns of neither {} nor {} are all in the other: the test is right only if one model is a case of the other", a.0, b.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::LinearRegression;

    /// Two factors and a number, unbalanced, with the columns of treatment coding.
    fn data() -> (OwnedDataset, Terms) {
        let level = |i: usize| (i % 3, (i / 5) % 2);
        let x = Matrix::from_fn(29, 5, |i, j| {
            let (a, b) = level(i);
            let (a1, a2, b1) = (f64::from(a == 1), f64::from(a == 2), f64::from(b == 1));
            [a1, a2, b1, a1 * b1, a2 * b1][j]
        });
        let y =
            (0..29).map(|i| ((i * 17) % 23) as f64 + 3.0 * x[(i, 0)] - 2.0 * x[(i, 2)]).collect();
        let mut terms = Terms::default();
        let word = |v: &str| v.to_string();
        terms.push(word("a"), vec![word("a")], vec![0, 1]);
        terms.push(word("b"), vec![word("b")], vec![2]);
        terms.push(word("a:b"), vec![word("a"), word("b")], vec![3, 4]);
        (OwnedDataset::regression(x, y), terms)
    }

    fn squares(answer: &Answer) -> Vec<f64> {
        answer.column("sum of squares").unwrap().reals().unwrap()
    }

    #[test]
    fn sums_of_squares_are_differences_of_fits() {
        let (data, terms) = data();
        let fit = |columns: &[usize]| {
            let x = data.x.frame().select(columns);
            let data = OwnedDataset { x, ..data.clone() };
            let model = LinearRegression::default().fit(&data.view()).unwrap();
            model.evidence.residual[(0, 0)]
        };
        let y = data.view().real_target().unwrap().column(0);
        let mean = y.iter().sum::<f64>() / 29.0;
        let total: f64 = y.iter().map(|y| (y - mean) * (y - mean)).sum();
        let whole = LinearRegression::default().fit(&data.view()).unwrap();
        let of = |kind| squares(&whole.anova(0, kind, &terms).unwrap());
        let (a, b, both) = (fit(&[0, 1]), fit(&[2]), fit(&[0, 1, 2]));
        let all = fit(&[0, 1, 2, 3, 4]);
        let expected = [
            (AnovaType::First, [total - a, a - both, both - all]),
            (AnovaType::Second, [b - both, a - both, both - all]),
            (AnovaType::Third, [fit(&[2, 3, 4]) - all, fit(&[0, 1, 3, 4]) - all, both - all]),
        ];
        for (kind, expected) in expected {
            for (found, expected) in of(kind).iter().zip(expected) {
                assert!((found - expected).abs() < 1e-9 * total, "{kind:?} {found} {expected}");
            }
        }
        let first: f64 = of(AnovaType::First).iter().sum();
        assert!((first - total).abs() < 1e-9 * total);
    }

    #[test]
    fn nested_models_are_compared_as_by_their_columns() {
        let (data, _) = data();
        let narrow = OwnedDataset { x: data.x.frame().select(&[0, 1]), ..data.clone() };
        let learner = LinearRegression::default();
        let small = learner.fit(&narrow.view()).unwrap();
        let large = learner.fit(&data.view()).unwrap();
        let fit = |name: &str, model: &LinearRegressionModel| {
            (name.to_string(), model.fit_answer(0).unwrap())
        };
        let answer = compare_fits(&[fit("small", &small), fit("large", &large)]).unwrap();
        let f = answer.column("F").unwrap().reals().unwrap()[1];
        let direct = large.test_columns(0, &["x2", "x3", "x4"]).unwrap();
        assert!((f - direct.statistic).abs() < 1e-9 * f);
        assert!(compare_fits(&[fit("small", &small)]).is_err());
        let fewer = data.view().gather(&(0..20).collect::<Vec<_>>());
        let other = learner.fit(&fewer.view()).unwrap();
        let error = compare_fits(&[fit("small", &small), fit("other", &other)]).unwrap_err();
        assert!(error.message().contains("29 and 20 rows"), "{error}");
    }
}
