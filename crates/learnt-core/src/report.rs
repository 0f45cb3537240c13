//! Reports: titled tables with notes, as text, Markdown or JSON.

use serde_json::{Value as Json, json};

/// Tables and notes about a model or a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// What it is about.
    pub title: String,
    /// The tables.
    pub tables: Vec<ReportTable>,
    /// Single figures: R², σ, AIC.
    pub figures: Vec<(String, f64)>,
    /// Sentences for the reader.
    pub notes: Vec<String>,
}

/// One table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportTable {
    /// What it shows.
    pub title: String,
    /// Column heads.
    pub head: Vec<String>,
    /// Rows of cells.
    pub rows: Vec<Vec<Cell>>,
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Text, left-aligned.
    Text(String),
    /// A number with six significant digits, right-aligned.
    Number(f64),
    /// A probability or p-value: never `0.000`.
    Probability(f64),
    /// A whole number.
    Count(i64),
    /// Nothing, with the reason.
    Empty(String),
}

impl Cell {
    fn text(&self) -> String {
        match self {
            Cell::Text(text) => crate::error::plain(text),
            Cell::Number(x) => number(*x),
            Cell::Probability(p) => probability(*p),
            Cell::Count(i) => i.to_string(),
            Cell::Empty(_) => "–".to_string(),
        }
    }

    fn json(&self) -> Json {
        match self {
            Cell::Text(text) => json!(text),
            Cell::Number(x) | Cell::Probability(x) => finite(*x),
            Cell::Count(i) => json!(i),
            Cell::Empty(_) => Json::Null,
        }
    }

    fn is_text(&self) -> bool {
        matches!(self, Cell::Text(_))
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(text.to_string())
    }
}

/// JSON has no NaN and no infinity: those become null.
pub fn finite(x: f64) -> Json {
    serde_json::Number::from_f64(x).map_or(Json::Null, Json::Number)
}

/// Six significant digits, without trailing zeros, scientific where plain would be long.
pub fn number(x: f64) -> String {
    if x == 0.0 {
        return "0".to_string();
    }
    if !x.is_finite() {
        return if x.is_nan() {
            "–"
        } else if x > 0.0 {
            "inf"
        } else {
            "-inf"
        }
        .to_string();
    }
    let magnitude = x.abs().log10().floor() as i32;
    if !(-5..7).contains(&magnitude) {
        return format!("{x:.4e}");
    }
    let decimals = (5 - magnitude).clamp(0, 10) as usize;
    let text = format!("{x:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

/// A figure with its name; one named `p of ...` is a p-value.
fn figure((name, x): &(String, f64)) -> String {
    let value = if name.starts_with("p of ") { probability(*x) } else { number(*x) };
    format!("{name} {value}")
}

/// A p-value: two digits, scientific below 0.001, never zero.
pub fn probability(p: f64) -> String {
    match p {
        p if p.is_nan() => "–".to_string(),
        0.0 => "<1e-300".to_string(),
        p if p < 1e-3 => format!("{p:.1e}"),
        p => format!("{p:.3}"),
    }
}

impl ReportTable {
    /// A table with these heads.
    pub fn new(title: &str, head: &[&str]) -> Self {
        let head = head.iter().map(|h| (*h).to_string()).collect();
        ReportTable { title: title.to_string(), head, rows: Vec::new() }
    }

    /// Lines of text with aligned columns.
    pub fn to_text(&self) -> String {
        let cells: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(Cell::text).collect()).collect();
        let width = |j: usize| {
            let body = cells.iter().filter_map(|row| row.get(j)).map(|cell| cell.chars().count());
            body.chain([self.head[j].chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let left: Vec<bool> = (0..self.head.len())
            .map(|j| self.rows.iter().all(|row| row.get(j).is_none_or(Cell::is_text)))
            .collect();
        let line = |cells: &[String]| {
            let padded: Vec<String> = cells
                .iter()
                .zip(widths.iter().zip(&left))
                .map(|(cell, (&width, &left))| {
                    let gap = " ".repeat(width.saturating_sub(cell.chars().count()));
                    if left { format!("{cell}{gap}") } else { format!("{gap}{cell}") }
                })
                .collect();
            format!(" {}\n", padded.join("  ")).trim_end().to_string() + "\n"
        };
        let title = if self.title.is_empty() { String::new() } else { format!("{}\n", self.title) };
        title + &line(&self.head) + &cells.iter().map(|row| line(row)).collect::<String>()
    }

    /// As a Markdown table.
    pub fn to_markdown(&self) -> String {
        let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let rule = row(self.head.iter().map(|_| "---".to_string()).collect());
        let body: String =
            self.rows.iter().map(|r| row(r.iter().map(Cell::text).collect())).collect();
        row(self.head.clone()) + &rule + &body
    }

    /// As JSON: one object a row. A missing number is null with a reason beside it.
    pub fn to_json(&self) -> Json {
        let object = |row: &Vec<Cell>| {
            let mut map = serde_json::Map::new();
            for (head, cell) in self.head.iter().zip(row) {
                map.insert(head.clone(), cell.json());
                if let Cell::Empty(why) = cell {
                    map.insert(format!("{head}_why"), json!(why));
                }
            }
            Json::Object(map)
        };
        Json::Array(self.rows.iter().map(object).collect())
    }
}

impl Report {
    /// A report with this title.
    pub fn new(title: impl Into<String>) -> Self {
        Report { title: title.into(), ..Self::default() }
    }

    /// As lines of text.
    pub fn to_text(&self) -> String {
        let mut out = format!("{}\n", self.title);
        for table in &self.tables {
            out += &format!("\n{}", table.to_text());
        }
        if !self.figures.is_empty() {
            let figures: Vec<String> = self.figures.iter().map(figure).collect();
            out += &format!("\n {}\n", figures.join("   "));
        }
        for note in &self.notes {
            out += &format!(" {}\n", crate::error::plain(note));
        }
        out
    }

    /// As JSON.
    pub fn to_json(&self) -> Json {
        let tables: Vec<Json> = self
            .tables
            .iter()
            .map(|table| json!({ "title": table.title, "rows": table.to_json() }))
            .collect();
        let figures: serde_json::Map<String, Json> =
            self.figures.iter().map(|(name, x)| (name.clone(), finite(*x))).collect();
        json!({ "title": self.title, "tables": tables, "figures": figures, "notes": self.notes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_p_value_is_never_printed_as_zero() {
        assert_eq!(probability(0.0), "<1e-300");
        assert_eq!(probability(2.6e-20), "2.6e-20");
        assert_eq!(probability(0.04999), "0.050");
        let figures = vec![("F".to_string(), 900.0), ("p of F".to_string(), 0.0)];
        let report = Report { figures, ..Report::new("a") };
        assert!(report.to_text().contains("F 900   p of F <1e-300"));
    }

    #[test]
    fn numbers_keep_six_digits() {
        assert_eq!(number(37.227_270_1), "37.2273");
        assert_eq!(number(-0.031_772_9), "-0.0317729");
        assert_eq!(number(1e-12), "1.0000e-12");
        assert_eq!(number(150.0), "150");
    }

    #[test]
    fn columns_line_up() {
        let mut table = ReportTable::new("", &["name", "value"]);
        table.rows.push(vec!["a".into(), Cell::Number(1.5)]);
        table.rows.push(vec!["long".into(), Cell::Number(-10.0)]);
        assert_eq!(table.to_text(), " name  value\n a       1.5\n long    -10\n");
    }
}
