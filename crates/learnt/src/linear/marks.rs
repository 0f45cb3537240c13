//! Marks of significance beside p-values, on request.

use learnt_core::answer::{Series, Style, TableColumn};
use learnt_core::prelude::*;

/// What the marks mean.
const LEGEND: &str = "*** below 0.001, ** below 0.01, * below 0.05, . below 0.1";

/// The answer with a column of marks behind every column of p-values.
///
/// ```
/// use learnt::{linear::marked, prelude::*};
/// let mut table = Columns::new("", &["term", "p"]);
/// table.push(vec!["a".into(), Cell::Probability(0.003)]);
/// let answer = marked(Answer { tables: vec![table], ..Answer::default() });
/// assert_eq!(answer.tables[0].columns[2].text(0), "**");
/// ```
pub fn marked(mut answer: Answer) -> Answer {
    let mut any = false;
    for table in &mut answer.tables {
        let Some(at) = table.columns.iter().position(|column| column.name == "p") else { continue };
        let column = &table.columns[at];
        let mark = |(i, p): (usize, f64)| {
            if column.absent.contains_key(&i) { String::new() } else { mark(p).to_string() }
        };
        let values = column.reals().unwrap_or_default();
        let marks = values.into_iter().enumerate().map(mark).collect();
        let head = TableColumn::new("mark", Series::Texts(marks), Style::default());
        table.columns.insert(at + 1, TableColumn { head: Some(String::new()), ..head });
        any = true;
    }
    if any {
        answer.notes.push(LEGEND.to_string());
    }
    answer
}

fn mark(p: f64) -> &'static str {
    match p {
        p if p < 0.001 => "***",
        p if p < 0.01 => "**",
        p if p < 0.05 => "*",
        p if p < 0.1 => ".",
        _ => "",
    }
}
