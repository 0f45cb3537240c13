//! Answers as one HTML page: no script, no network, readable on a phone, light and dark, and never
//! larger than a megabyte. Long tables are cut, and the page says so.

use crate::colour::Theme;
use crate::svg::to_svg_in;
use crate::text::{count, escaped};
use learnt_core::answer::{Answer, Columns, html};

/// Rows of a table.
const MOST_ROWS: usize = 200;
/// Columns of a table.
const MOST_COLUMNS: usize = 40;
/// Cells of a table.
const MOST_CELLS: usize = 4000;
/// Letters of a cell.
const MOST_LETTERS: usize = 300;
/// Bytes after which no more tables and pictures are added.
const FULL: usize = 900_000;

const STYLE: &str = "\
:root{color-scheme:light dark;--text:#1f2328;--muted:#6a737d;--line:#d9dee4;--paper:#fff;--soft:#f6f8fa}
@media (prefers-color-scheme:dark){:root{--text:#e6e9ed;--muted:#9aa4b0;--line:#30363d;--paper:#0f1419;--soft:#171d24}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:1480px;color:var(--text);background:var(--paper);font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'DejaVu Sans',sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem;line-height:1.25;margin:.2rem 0 1rem}
h2{font-size:1.2rem;margin:2rem 0 .6rem;padding-top:.8rem;border-top:1px solid var(--line)}
nav a{margin-right:1rem;color:inherit}
.pictures{display:flex;flex-wrap:wrap;gap:1rem;align-items:flex-start}
figure{margin:0;max-width:100%;overflow-x:auto;border:1px solid var(--line);border-radius:8px}
figure svg{display:block;max-width:max(100%,420px)!important}
.table{overflow-x:auto;margin:.6rem 0;max-width:100%}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;overflow-wrap:normal}
caption{text-align:left;font-weight:600;padding:.3rem 0}
th,td{padding:.2rem .7rem;border-bottom:1px solid var(--line);vertical-align:top}
th{background:var(--soft);text-align:left;white-space:nowrap}
td.text{max-width:34rem;overflow-wrap:anywhere}
.number{text-align:right;white-space:nowrap}
dl{display:grid;grid-template-columns:minmax(8rem,max-content) 1fr;gap:.15rem 1rem;margin:.6rem 0}
dt{color:var(--muted)}
dd{margin:0;min-width:0}
p.note,footer{color:var(--muted);font-size:.9rem}
@media (max-width:480px){dl{grid-template-columns:1fr}dt{margin-top:.4rem}}
@media print{figure{break-inside:avoid}}";

/// A page with these sections.
///
/// ```
/// use learnt_core::answer::Answer;
/// let page = learnt_plot::to_page("A model", &[Answer::new("Scores")]);
/// assert!(page.starts_with("<!doctype html>") && page.contains("<h2 id=\"s0\">Scores</h2>"));
/// ```
pub fn to_page(title: &str, sections: &[Answer]) -> String {
    let title = escaped(title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{STYLE}\n</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
    );
    if sections.len() > 2 {
        out += "<nav>";
        for (k, section) in sections.iter().enumerate().take(20) {
            out += &format!("<a href=\"#s{k}\">{}</a>", html(&section.title));
        }
        out += "</nav>\n";
    }
    let mut left_out = 0;
    for (k, section) in sections.iter().enumerate() {
        out += &format!("<section>\n<h2 id=\"s{k}\">{}</h2>\n", html(&cut(&section.title)));
        left_out += add(section, &mut out);
        out += "</section>\n";
    }
    if left_out > 0 {
        out += &format!(
            "<p class=\"note\">{} more tables and pictures did not fit into this page.</p>\n",
            count(left_out)
        );
    }
    out += "</main>\n</body>\n</html>\n";
    out
}

/// Adds a section and returns how many of its tables and pictures had no room.
fn add(section: &Answer, out: &mut String) -> usize {
    let mut left_out = 0;
    let mut put = |part: String, out: &mut String| {
        if out.len() + part.len() > FULL {
            left_out += 1;
        } else {
            *out += &part;
        }
    };
    // The values and notes of an answer, without what is drawn here in another way.
    let plain =
        Answer { title: String::new(), tables: Vec::new(), charts: Vec::new(), ..section.clone() };
    let is_short = |name: &&(String, learnt_core::answer::Datum)| name.1.is_scalar();
    let plain = Answer {
        values: plain.values.iter().filter(is_short).cloned().collect(),
        notes: Vec::new(),
        ..plain
    };
    put(plain.to_html_within(0), out);
    if !section.charts.is_empty() {
        *out += "<div class=\"pictures\">\n";
        for chart in &section.charts {
            put(format!("<figure>{}</figure>\n", to_svg_in(chart, Theme::Auto)), out);
        }
        *out += "</div>\n";
    }
    for table in section.all_tables() {
        put(table_html(&table), out);
    }
    for note in section.notes.iter().take(100) {
        put(format!("<p class=\"note\">{}</p>\n", html(&cut(note))), out);
    }
    left_out
}

/// A table of bounded size in a box that scrolls by itself.
fn table_html(table: &Columns) -> String {
    let columns = table.columns.len();
    let rows = MOST_ROWS.min(MOST_CELLS / columns.clamp(1, MOST_COLUMNS)).min(table.len());
    let mut shown = Columns::titled(cut(&table.title));
    for column in table.columns.iter().take(MOST_COLUMNS) {
        let mut part = column.clone_rows(rows);
        part.name = cut(&part.name);
        shown = shown.with(part);
    }
    let mut out = format!("<div class=\"table\">{}</div>\n", shown.to_html_within(rows));
    if rows < table.len() {
        out += &format!("<p class=\"note\">The first {rows} of {} rows.</p>\n", count(table.len()));
    }
    if columns > MOST_COLUMNS {
        out += &format!(
            "<p class=\"note\">The first {MOST_COLUMNS} of {} columns.</p>\n",
            count(columns)
        );
    }
    out
}

fn cut(text: &str) -> String {
    match text.chars().nth(MOST_LETTERS) {
        Some(_) => text.chars().take(MOST_LETTERS).chain(['…']).collect(),
        None => text.to_string(),
    }
}

/// The first rows of a column, with cells of bounded length.
trait FirstRows {
    fn clone_rows(&self, rows: usize) -> Self;
}

impl FirstRows for learnt_core::answer::TableColumn {
    fn clone_rows(&self, rows: usize) -> Self {
        use learnt_core::answer::{Series, TableColumn};
        let data = match &self.data {
            Series::Reals(values) => Series::Reals(values.iter().take(rows).copied().collect()),
            Series::Counts(values) => Series::Counts(values.iter().take(rows).copied().collect()),
            Series::Texts(values) => {
                Series::Texts(values.iter().take(rows).map(|text| cut(text)).collect())
            }
        };
        let absent = self.absent.range(..rows).map(|(row, why)| (*row, cut(why))).collect();
        let head = self.head.clone();
        TableColumn { absent, head, ..TableColumn::new(self.name.clone(), data, self.style) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use learnt_core::chart::{Chart, Mark, Panel};

    #[test]
    fn a_page_stays_below_a_megabyte_whatever_it_holds() {
        let n = 100_000;
        let values: Vec<f64> = (0..n).map(f64::from).collect();
        let wide = (0..3000).fold(Columns::titled("wide"), |table, j| {
            table.reals(format!("c{j}"), values[..500].to_vec())
        });
        let long = Columns::titled("long")
            .texts("t", vec!["x".repeat(10_000); 1000])
            .reals("v", values[..1000].to_vec());
        let points = Chart::new("c", "d").panel(Panel::new("", "").mark(Mark::points(
            "",
            values.clone(),
            values.clone(),
        )));
        let mut section = Answer::new("s");
        section.push("array", values);
        section.tables = vec![wide; 20];
        section.tables.extend(vec![long; 20]);
        section.charts = vec![points; 100];
        section.notes = vec!["n".repeat(100_000); 1000];
        let page = to_page("t", &[section.clone(), section.clone(), section]);
        assert!(page.len() < 1_000_000, "{}", page.len());
        assert!(page.contains("did not fit") && page.contains("The first 40 of 3,000 columns."));
        assert!(page.ends_with("</html>\n"));
    }

    #[test]
    fn a_page_has_no_script_and_hostile_texts_are_texts() {
        let attack = "<script>alert(1)</script>";
        let mut section = Answer::new(attack);
        section.push(attack, attack);
        section.notes.push(attack.to_string());
        section.tables.push(Columns::titled(attack).texts(attack, vec![attack.to_string()]));
        section
            .charts
            .push(Chart::new(attack, attack).panel(Panel::new(attack, attack).title(attack)));
        let page = to_page(attack, &[section]);
        assert!(!page.contains("<script"), "{page}");
        assert!(
            !page.contains("http://")
                || page.matches("http://").count()
                    == page.matches("http://www.w3.org/2000/svg").count()
        );
        assert!(!page.contains("https://"));
    }
}
