//! Tables as lines of text that fit a terminal.

use super::render::plain_lines;
use super::{Columns, Series};
use crate::error::plain;

/// Coefficients from which on a cut table shows the largest.
const LONG: usize = 200;

impl Columns {
    /// Lines of text with aligned columns.
    pub fn to_text(&self) -> String {
        self.to_text_within(usize::MAX)
    }

    /// The rows that a short table shows, at which of them some are left out, and the line that says so:
    /// the largest of very many coefficients, of other tables the first and the last rows.
    fn chosen(&self, most: usize, hint: &str) -> (Vec<usize>, usize, String) {
        let n = self.len();
        if n <= most {
            return ((0..n).collect(), n, String::new());
        }
        let coefficients = self.column("coefficient").filter(|_| n > LONG);
        if let Some(Series::Reals(values)) = coefficients.map(|column| &column.data) {
            let free = usize::from(self.columns[0].text(0).starts_with("(intercept"));
            let mut order: Vec<usize> = (free..n).collect();
            // What is not determined comes last.
            let size = |i: usize| if values[i].is_nan() { -1.0 } else { values[i].abs() };
            order.sort_by(|&a, &b| size(b).total_cmp(&size(a)));
            order.truncate(most.saturating_sub(free));
            let zeros = values[free..].iter().filter(|&&value| value == 0.0).count();
            let (shown, all) = (order.len(), n - free);
            let text =
                format!(" … the {shown} largest of {all} coefficients; {zeros} are zero{hint}\n");
            let rows: Vec<usize> = (0..free).chain(order).collect();
            return (rows, usize::MAX, text);
        }
        let head = most.div_ceil(2);
        (
            (0..head).chain(n - (most - head)..n).collect(),
            head,
            format!(" … {n} rows in all{hint}\n"),
        )
    }

    /// The same with at most this many rows: the first and the last.
    pub fn to_text_within(&self, most: usize) -> String {
        self.to_text_cut(most, usize::MAX, "")
    }

    /// The same in lines of at most this many characters, for the terminal: `--all` shows the rest.
    pub fn to_text_fitted(&self, most: usize, line_width: usize) -> String {
        self.to_text_cut(most, line_width, "--all")
    }

    /// The same in lines of at most this many characters: long texts are cut, then the last columns are
    /// left out and counted. `whole` is what shows the rest, if anything.
    pub fn to_text_cut(&self, most: usize, line_width: usize, whole: &str) -> String {
        let hint = if whole.is_empty() { String::new() } else { format!("; {whole}") };
        let (shown, gap, left_out) = self.chosen(most, &hint);
        let mut cells: Vec<Vec<String>> = self
            .columns
            .iter()
            .map(|column| shown.iter().map(|&row| column.text(row)).collect())
            .collect();
        let width = |text: &str| text.chars().count();
        let mut widths: Vec<usize> = self
            .columns
            .iter()
            .zip(&cells)
            .map(|(column, cells)| {
                let body = cells.iter().map(|cell| width(cell));
                body.chain([width(&plain(column.head()))]).max().unwrap_or(0)
            })
            .collect();
        let kept = self.fit(&mut widths, &mut cells, line_width);
        let pad = |j: usize, text: &str| {
            let gap = " ".repeat(widths[j].saturating_sub(width(text)));
            match self.columns[j].is_text() {
                true => format!("{text}{gap}"),
                false => format!("{gap}{text}"),
            }
        };
        let line = |cell: &dyn Fn(usize) -> String| {
            let padded: Vec<String> = (0..kept).map(|j| pad(j, &cell(j))).collect();
            format!(" {}", padded.join("  ")).trim_end().to_string() + "\n"
        };
        let mut out = if self.title.is_empty() {
            String::new()
        } else {
            format!("{}\n", plain_lines(&self.title))
        };
        out += &line(&|j| plain(self.columns[j].head()));
        for i in 0..shown.len() {
            if i == gap {
                out += &left_out;
            }
            out += &line(&|j| cells[j][i].clone());
        }
        if gap >= shown.len() {
            out += &left_out;
        }
        if kept < self.columns.len() {
            out += &format!(" {kept} of {} columns shown{hint}\n", self.columns.len());
        }
        out
    }

    /// Cuts the longest texts until lines are short enough, and says how many columns are then left.
    fn fit(&self, widths: &mut [usize], cells: &mut [Vec<String>], line_width: usize) -> usize {
        const SHORTEST: usize = 12;
        let total = |widths: &[usize]| {
            1 + widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)
        };
        while total(widths) > line_width {
            let texts = (0..widths.len()).filter(|&j| self.columns[j].is_text());
            let Some(longest) = texts.max_by_key(|&j| widths[j]).filter(|&j| widths[j] > SHORTEST)
            else {
                break;
            };
            let head = plain(self.columns[longest].head()).chars().count();
            let excess = total(widths) - line_width;
            let wanted = widths[longest].saturating_sub(excess).max(SHORTEST).max(head);
            if wanted >= widths[longest] {
                break;
            }
            widths[longest] = wanted;
            for cell in cells[longest].iter_mut().filter(|cell| cell.chars().count() > wanted) {
                *cell = cell.chars().take(wanted - 1).chain(['…']).collect();
            }
        }
        let fits = |&kept: &usize| total(&widths[..kept]) <= line_width;
        (1..=widths.len()).rev().find(fits).unwrap_or(widths.len().min(1))
    }
}
