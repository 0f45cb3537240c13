//! Tables as lines of text that fit a terminal.

use super::render::plain_lines;
use super::{Columns, Series, TableColumn};
use crate::error::plain;

/// Coefficients from which on a cut table shows the largest.
const LONG: usize = 200;
/// Characters that a cut text keeps.
const SHORTEST: usize = 12;
/// Characters that a cut text in the first column keeps.
const LABEL: usize = 20;

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
        let sizes = self.sizes().filter(|_| n > LONG);
        if let Some(sizes) = sizes {
            let free = usize::from(self.columns[0].text(0).starts_with("(intercept"));
            let mut order: Vec<usize> = (free..n).collect();
            order.sort_by(|&a, &b| sizes[b].total_cmp(&sizes[a]));
            order.truncate(most.saturating_sub(free));
            let zeros = sizes[free..].iter().filter(|&&size| size == 0.0).count();
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

    /// The largest weight in each row of a table of coefficients; what is not determined is below all.
    fn sizes(&self) -> Option<Vec<f64>> {
        let own = self.column("coefficient").map(std::slice::from_ref);
        let columns = own.or(self.weights.then_some(self.columns.as_slice()))?;
        let mut sizes = vec![-1.0_f64; self.len()];
        for column in columns {
            if let Series::Reals(values) = &column.data {
                for (size, value) in sizes.iter_mut().zip(values) {
                    *size = size.max(value.abs());
                }
            }
        }
        Some(sizes)
    }

    /// The same with at most this many rows: the first and the last.
    pub fn to_text_within(&self, most: usize) -> String {
        self.to_text_cut(most, usize::MAX, "")
    }

    /// The same in lines of at most this many characters, for the terminal: `--all` shows the rest.
    pub fn to_text_fitted(&self, most: usize, line_width: usize) -> String {
        self.to_text_cut(most, line_width, "--all")
    }

    /// The same in lines of at most this many characters: long texts are cut, and columns for which there is
    /// no room are left out and counted. `whole` is what shows the rest, if anything.
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
            let padded: Vec<String> = kept.iter().map(|&j| pad(j, &cell(j))).collect();
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
        if kept.len() < self.columns.len() {
            let (shown, all) = (kept.len(), self.columns.len());
            out += &format!(" {shown} of {all} columns shown{hint}\n");
        }
        out
    }

    /// Cuts texts until lines are short enough, and says which columns are then left. The first column says which
    /// row is which: it is never cut so far that two rows look alike. A text at the end is a note, and stays;
    /// numbers before it are left out.
    fn fit(
        &self,
        widths: &mut [usize],
        cells: &mut [Vec<String>],
        line_width: usize,
    ) -> Vec<usize> {
        let least: Vec<usize> = (0..widths.len())
            .map(|j| {
                let head = plain(self.columns[j].head()).chars().count();
                match (self.columns[j].is_text(), j) {
                    (false, _) => widths[j],
                    (true, 0) => apart(&cells[0]).clamp(LABEL, LABEL.max(line_width / 2)),
                    (true, _) => SHORTEST,
                }
                .max(head)
                .min(widths[j])
            })
            .collect();
        let total = |widths: &[usize], kept: &[usize]| {
            1 + kept.iter().map(|&j| widths[j] + 2).sum::<usize>().saturating_sub(2)
        };
        let mut kept: Vec<usize> = (0..widths.len()).collect();
        let noted = self.columns.last().is_some_and(TableColumn::is_text);
        while total(&least, &kept) > line_width && kept.len() > 1 {
            let last = kept.len() - 1;
            kept.remove(if noted && last > 1 { last - 1 } else { last });
        }
        let mut order: Vec<usize> =
            kept.iter().copied().filter(|&j| widths[j] > least[j]).collect();
        order.sort_by_key(|&j| std::cmp::Reverse(widths[j]));
        for j in order {
            let excess = total(widths, &kept).saturating_sub(line_width);
            widths[j] = widths[j].saturating_sub(excess).max(least[j]);
            for cell in cells[j].iter_mut().filter(|cell| cell.chars().count() > widths[j]) {
                *cell = cell.chars().take(widths[j] - 1).chain(['…']).collect();
            }
        }
        kept
    }
}

/// The fewest characters of these texts that tell them apart, with the sign that they go on.
fn apart(texts: &[String]) -> usize {
    let mut sorted: Vec<&String> = texts.iter().collect();
    sorted.sort_unstable();
    let shared = |a: &str, b: &str| a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let pairs = sorted.windows(2).filter(|pair| pair[0] != pair[1]);
    pairs.map(|pair| shared(pair[0], pair[1]) + 2).max().unwrap_or(0)
}
