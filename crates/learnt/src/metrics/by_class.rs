//! What a classifier does with each class: the confusion matrix and a line a class, as tables for people.

use super::ConfusionCounts;
use learnt_core::prelude::*;

/// The tables of a classifier's predictions.
#[derive(Clone, Debug)]
pub struct ByClass {
    /// Rows are actual classes, columns predicted ones.
    pub confusion: Columns,
    /// Precision, recall, F1 and rows of each class.
    pub classes: Columns,
    /// The class that is predicted for every row, where the rows have several.
    pub only: Option<usize>,
}

/// Above this many classes the confusion matrix is left out.
pub const SHOWN: usize = 12;

/// The tables of counted classes, of which one may be the positive one.
pub fn by_class(counts: &ConfusionCounts, classes: &[Label], positive: Option<usize>) -> ByClass {
    let names: Vec<String> = classes.iter().map(ToString::to_string).collect();
    let title = "Rows are actual classes, columns predicted ones";
    let mut head = vec!["actual"];
    head.extend(names.iter().map(String::as_str));
    let mut confusion = Columns::new(title, &head);
    let number = |x: f64| if x.fract() == 0.0 { Cell::Count(x as i64) } else { Cell::Number(x) };
    for (k, name) in names.iter().enumerate() {
        let mut cells = vec![Cell::Text(name.clone())];
        cells.extend(counts.counts().row(k).iter().map(|&count| number(count)));
        confusion.push(cells);
    }
    let mut table =
        Columns::new("", &["class", "precision", "recall", "f1", "rows", "predicted", "note"]);
    let ratio = |value: Option<f64>| {
        value.map_or_else(|| Cell::Empty("nothing to divide by".to_string()), Cell::Number)
    };
    for (k, name) in names.iter().enumerate() {
        let note = if positive == Some(k) { "positive" } else { "" };
        table.push(vec![
            Cell::Text(name.clone()),
            ratio(counts.precision(k)),
            ratio(counts.recall(k)),
            ratio(counts.f_score(k, 1.0)),
            number(counts.actual(k)),
            number(counts.predicted(k)),
            note.into(),
        ]);
    }
    let total = counts.total();
    let only = (0..names.len()).find(|&k| total > 0.0 && counts.predicted(k) == total);
    ByClass { confusion, classes: table, only: only.filter(|&k| counts.actual(k) < total) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_predicted_class_is_named_and_has_no_precision_elsewhere() {
        let classes = ["no", "yes"].map(Label::from);
        let counts = ConfusionCounts::new(&[0, 0, 1], &[0, 0, 0], 2, None).unwrap();
        let found = by_class(&counts, &classes, Some(1));
        assert_eq!(found.only, Some(0));
        let text = found.classes.to_text();
        assert!(text.contains("positive") && text.contains("0.666667"), "{text}");
        let weights = [1.0, 2.0, 1.0];
        let counts = ConfusionCounts::new(&[0, 0, 1], &[0, 1, 1], 2, Some(&weights)).unwrap();
        let mixed = by_class(&counts, &classes, Some(0));
        assert_eq!(mixed.only, None);
        assert!(mixed.confusion.to_text().contains('2'));
    }
}
