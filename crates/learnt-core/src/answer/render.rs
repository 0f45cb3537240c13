//! Answers as text, Markdown, CSV, JSON and HTML, all from the same columns.

use super::{Answer, Columns, Datum, Series, Style, TableColumn};
use crate::chart::Chart;
use crate::data::Label;
use crate::error::{plain, plain_within};
use serde_json::{Map, Value as Json, json};

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

/// Four significant digits, at most three decimals.
pub(super) fn short(x: f64) -> String {
    match x.abs() {
        a if a >= 1e7 => format!("{x:.3e}"),
        a if a >= 1000.0 => format!("{x:.0}"),
        a if a >= 100.0 => format!("{x:.1}"),
        a if a >= 10.0 => format!("{x:.2}"),
        _ => format!("{x:.3}"),
    }
}

/// Seconds in the unit that suits them.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s => format!("{s:.1} s"),
    }
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

impl Datum {
    /// As JSON; numbers that do not exist are null.
    pub fn to_json(&self) -> Json {
        match self {
            Datum::Missing => Json::Null,
            Datum::Flag(b) => json!(b),
            Datum::Count(i) => json!(i),
            Datum::Real(x) | Datum::P(x) => finite(*x),
            Datum::Text(text) => json!(text),
            Datum::Flags(values) => json!(values),
            Datum::Counts(values) => json!(values),
            Datum::Reals(values) => values.iter().map(|&x| finite(x)).collect(),
            Datum::Texts(values) => json!(values),
            Datum::Matrix(matrix) | Datum::CountMatrix(matrix) => {
                matrix.rows().map(|row| row.iter().map(|&x| finite(x)).collect::<Json>()).collect()
            }
            Datum::Labels { codes, classes } => {
                codes.iter().map(|&code| label_json(&classes[code as usize])).collect()
            }
            Datum::List(items) => items.iter().map(Datum::to_json).collect(),
            Datum::Data(data) => {
                let values = data.x.values();
                json!({
                    "columns": data.x.schema().names().collect::<Vec<_>>(),
                    "rows": Datum::Matrix(values.clone()).to_json(),
                })
            }
        }
    }

    /// One value as text; arrays are for tables.
    fn text(&self) -> String {
        match self {
            Datum::Missing => "–".to_string(),
            Datum::Flag(b) => if *b { "yes" } else { "no" }.to_string(),
            Datum::Count(i) => i.to_string(),
            Datum::Real(x) => number(*x),
            Datum::P(x) => probability(*x),
            Datum::Text(text) => plain(text),
            Datum::Data(data) => {
                format!("{} rows x {} columns", data.x.values().nrows(), data.x.values().ncols())
            }
            Datum::List(items) => format!("{} items", items.len()),
            _ => String::new(),
        }
    }

    /// An array as a column of a table.
    fn column(&self, name: &str) -> Option<TableColumn> {
        let data = match self {
            Datum::Reals(values) => Series::Reals(values.clone()),
            Datum::Counts(values) => Series::Counts(values.clone()),
            Datum::Texts(values) => Series::Texts(values.clone()),
            Datum::Flags(values) => {
                Series::Texts(values.iter().map(|&b| Datum::Flag(b).text()).collect())
            }
            Datum::Labels { codes, classes } => {
                let text = |&code: &u32| classes[code as usize].to_string();
                Series::Texts(codes.iter().map(text).collect())
            }
            _ => return None,
        };
        Some(TableColumn::new(name, data, Style::Number))
    }
}

fn label_json(label: &Label) -> Json {
    match label {
        Label::Bool(b) => json!(b),
        Label::Int(i) => json!(i),
        Label::Real(x) => finite(*x),
        Label::Text(text) => json!(text),
    }
}

impl Columns {
    /// As a Markdown table.
    pub fn to_markdown(&self) -> String {
        let safe = |text: &str| plain(text).replace('|', "\\|");
        let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let heads = row(self.columns.iter().map(|column| safe(column.head())).collect());
        let rule = |column: &TableColumn| if column.is_text() { "---" } else { "---:" }.to_string();
        let rule = row(self.columns.iter().map(rule).collect());
        let body: String = (0..self.len())
            .map(|i| row(self.columns.iter().map(|column| safe(&column.text(i))).collect()))
            .collect();
        heads + &rule + &body
    }

    /// As comma-separated values with a header; numbers have all their digits.
    pub fn to_csv(&self) -> String {
        let mut out = String::new();
        let heads: Vec<String> =
            self.columns.iter().map(|column| csv_field(&column.name)).collect();
        out += &(heads.join(",") + "\n");
        for i in 0..self.len() {
            for (j, column) in self.columns.iter().enumerate() {
                out.push_str(if j == 0 { "" } else { "," });
                if column.absent.contains_key(&i) {
                    continue;
                }
                match &column.data {
                    Series::Reals(values) if values[i].is_nan() => {}
                    Series::Reals(values) => out += &values[i].to_string(),
                    Series::Counts(values) => out += &values[i].to_string(),
                    Series::Texts(values) => out += &csv_field(&values[i]),
                }
            }
            out.push('\n');
        }
        out
    }

    /// As JSON: one object a row. A missing number is null with the reason beside it.
    pub fn to_json(&self) -> Json {
        (0..self.len()).map(|i| self.row_json(i)).collect()
    }

    fn row_json(&self, row: usize) -> Json {
        let mut map = Map::new();
        for column in &self.columns {
            let why = column.absent.get(&row);
            let value = match (&column.data, why) {
                (_, Some(_)) => Json::Null,
                (Series::Reals(values), _) => finite(values[row]),
                (Series::Counts(values), _) => json!(values[row]),
                (Series::Texts(values), _) => json!(values[row]),
            };
            map.insert(column.name.clone(), value);
            if let Some(why) = why.filter(|why| !why.is_empty()) {
                map.insert(format!("{}_why", column.name), json!(why));
            }
        }
        Json::Object(map)
    }

    /// As an HTML table with at most this many rows.
    pub fn to_html_within(&self, most: usize) -> String {
        let n = self.len();
        let side = |column: &TableColumn| if column.is_text() { "text" } else { "number" };
        let mut out = String::from("<table>");
        if !self.title.is_empty() {
            out += &format!("<caption>{}</caption>", html(&self.title));
        }
        out += "<thead><tr>";
        for column in &self.columns {
            out += &format!("<th class=\"{}\">{}</th>", side(column), html(column.head()));
        }
        out += "</tr></thead><tbody>";
        for i in 0..n.min(most) {
            out += "<tr>";
            for column in &self.columns {
                let why = column.absent.get(&i).filter(|why| !why.is_empty());
                let title = why.map_or(String::new(), |why| format!(" title=\"{}\"", html(why)));
                out += &format!(
                    "<td class=\"{}\"{title}>{}</td>",
                    side(column),
                    html(&column.text(i))
                );
            }
            out += "</tr>";
        }
        out += "</tbody></table>";
        if n > most {
            out += &format!("<p>The first {most} of {n} rows.</p>");
        }
        out
    }
}

/// Text that is safe inside HTML and SVG, in elements and in quoted attributes.
pub fn html(text: &str) -> String {
    let mut out = String::new();
    for c in plain(text).chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c => out.push(c),
        }
    }
    out
}

/// Text in lines of at most this many characters, cut at `between`; each begins with a space.
fn wrapped(text: &str, between: &str, line_width: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    for word in text.split(between) {
        let length = word.chars().count();
        if used > 0 && used + between.len() + length > line_width {
            out.push('\n');
            used = 0;
        }
        let before = if used == 0 { " " } else { between };
        out += before;
        out += word;
        used += before.len() + length;
    }
    out + "\n"
}

/// A title may have several lines of our own.
/// Characters of a note, which may list the levels of many columns.
const LONGEST_NOTE: usize = 2000;

pub(super) fn plain_lines(text: &str) -> String {
    text.lines().map(plain).collect::<Vec<_>>().join("\n")
}

fn csv_field(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_string(),
    }
}

impl Answer {
    /// Its tables, those made from its arrays first: arrays of one length are columns of one table,
    /// a matrix is a table of its own.
    pub fn all_tables(&self) -> Vec<Columns> {
        let mut out: Vec<Columns> = Vec::new();
        for (name, datum) in &self.values {
            if let Some(column) = datum.column(name) {
                let n = column.data.len();
                match out.iter_mut().find(|table| table.title.is_empty() && table.len() == n) {
                    Some(table) => table.columns.push(column),
                    None => out.push(Columns::titled("").with(column)),
                }
            }
            if let Datum::Matrix(matrix) | Datum::CountMatrix(matrix) = datum {
                let mut table = Columns::titled(name.as_str());
                for j in 0..matrix.ncols() {
                    table = table.reals(j.to_string(), matrix.view().column(j));
                }
                out.push(table);
            }
            if let Datum::Data(data) = datum {
                let mut table = Columns::titled(name.as_str());
                for (j, head) in data.x.schema().names().enumerate() {
                    table = table.reals(head, data.x.values().view().column(j));
                }
                out.push(table);
            }
        }
        out.extend(self.tables.iter().cloned());
        out
    }

    /// As lines of text.
    pub fn to_text(&self) -> String {
        self.to_text_within(usize::MAX)
    }

    /// The same with at most this many rows of each table.
    pub fn to_text_within(&self, most: usize) -> String {
        self.to_text_cut(most, usize::MAX, "")
    }

    /// The same in lines of at most this many characters, for the terminal: `--all` shows the rest.
    pub fn to_text_fitted(&self, most: usize, line_width: usize) -> String {
        self.to_text_cut(most, line_width, "--all")
    }

    /// The same; `whole` is what shows the rest of a table that is cut, if anything.
    pub fn to_text_cut(&self, most: usize, line_width: usize, whole: &str) -> String {
        let mut blocks: Vec<String> = Vec::new();
        if !self.title.is_empty() {
            blocks.push(format!("{}\n", plain_lines(&self.title)));
        }
        let text = |table: &Columns| table.to_text_cut(most, line_width, whole);
        blocks.extend(self.all_tables().iter().map(text));
        let scalars: Vec<String> = self
            .values
            .iter()
            .filter(|(_, datum)| datum.is_scalar())
            .map(|(name, datum)| format!("{} {}", plain(name), datum.text()))
            .collect();
        if !scalars.is_empty() {
            blocks.push(wrapped(&scalars.join("   "), "   ", line_width));
        }
        let mut out = blocks.join("\n");
        for note in &self.notes {
            out += &wrapped(&plain_within(note, LONGEST_NOTE), " ", line_width);
        }
        out
    }

    /// As Markdown.
    pub fn to_markdown(&self) -> String {
        let mut out = String::new();
        if !self.title.is_empty() {
            out += &format!("## {}\n\n", plain(&self.title));
        }
        for table in self.all_tables() {
            if !table.title.is_empty() {
                out += &format!("### {}\n\n", plain(&table.title));
            }
            out += &format!("{}\n", table.to_markdown());
        }
        for (name, datum) in self.values.iter().filter(|(_, datum)| datum.is_scalar()) {
            out += &format!("- {}: {}\n", plain(name), datum.text());
        }
        for note in &self.notes {
            out += &format!("\n{}\n", plain_within(note, LONGEST_NOTE));
        }
        out
    }

    /// As comma-separated values: the tables one after another, or the values if there is no table.
    pub fn to_csv(&self) -> String {
        let tables = self.all_tables();
        if tables.is_empty() {
            let (names, texts): (Vec<String>, Vec<String>) = self
                .values
                .iter()
                .map(|(name, d)| (csv_field(name), csv_field(&d.exact())))
                .unzip();
            return format!("{}\n{}\n", names.join(","), texts.join(","));
        }
        tables.iter().map(Columns::to_csv).collect::<Vec<_>>().join("\n")
    }

    /// As JSON.
    pub fn to_json(&self) -> Json {
        let tables: Vec<Json> = self
            .tables
            .iter()
            .map(|table| json!({ "title": table.title, "rows": table.to_json() }))
            .collect();
        let values: Map<String, Json> =
            self.values.iter().map(|(name, datum)| (name.clone(), datum.to_json())).collect();
        let charts: Vec<Json> = self.charts.iter().map(Chart::to_json).collect();
        json!({
            "title": self.title, "values": values, "tables": tables, "charts": charts,
            "notes": self.notes,
        })
    }

    /// As HTML without a page around it, with at most this many rows of each table.
    pub fn to_html_within(&self, most: usize) -> String {
        let mut out = String::new();
        if !self.title.is_empty() {
            out += &format!("<h3>{}</h3>", html(&self.title));
        }
        for table in self.all_tables() {
            out += &table.to_html_within(most);
        }
        let scalars: Vec<_> = self.values.iter().filter(|(_, datum)| datum.is_scalar()).collect();
        if !scalars.is_empty() {
            out += "<dl>";
            for (name, datum) in scalars {
                out += &format!("<dt>{}</dt><dd>{}</dd>", html(name), html(&datum.text()));
            }
            out += "</dl>";
        }
        for note in &self.notes {
            out += &format!("<p>{}</p>", html(note));
        }
        out
    }
}

impl Datum {
    /// A single value with all its digits.
    fn exact(&self) -> String {
        match self {
            Datum::Real(x) | Datum::P(x) if x.is_nan() => String::new(),
            Datum::Real(x) | Datum::P(x) => x.to_string(),
            Datum::Text(text) => text.clone(),
            Datum::Missing => String::new(),
            other => other.text(),
        }
    }
}

#[cfg(test)]
mod tests;
