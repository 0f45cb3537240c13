//! Where rows begin: cuts a CSV file into pieces at line ends that are outside quotes.
//!
//! Every piece is surveyed on its own, for both cases: it starts outside quotes, or inside. The
//! number of quotes before it then decides. A quote inside an unquoted field misleads this; the
//! parser notices because a piece does not end with a row, and [`plan_exactly`] is asked instead.

use super::infer::Extent;
use crate::input::{Bytes, with_buffer};
use learnt_core::context::Context;
use learnt_core::error::{Code, Error, Result};

/// Bytes of a piece; it and its values fit the caches.
const PIECE: u64 = 1 << 20;
/// The longest field in quotes.
pub(crate) const LONGEST_FIELD: usize = 16 << 20;
/// The longest row.
const LONGEST_ROW: u64 = 1 << 30;

/// Whole rows of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Where it starts.
    pub(crate) start: u64,
    /// Where it ends.
    pub(crate) end: u64,
    /// The number of its first line.
    pub(crate) line: u64,
    /// Line ends in it.
    pub(crate) newlines: u64,
}

/// The first line end outside quotes: where the next line starts, and line ends up to there.
type Border = Option<(u64, u64)>;

struct Survey {
    newlines: u64,
    quotes: u64,
    outside: Border,
    inside: Border,
}

/// Pieces of the rows. Cut by size alone.
pub(crate) fn plan(bytes: &Bytes, extent: &Extent, run: &Context) -> Result<Vec<Piece>> {
    let &Extent { begin, end, line, .. } = extent;
    let count = end.saturating_sub(begin).div_ceil(PIECE) as usize;
    let bounds = |k: usize| {
        let start = begin + k as u64 * PIECE;
        (start, (start + PIECE).min(end))
    };
    let surveys = run.try_par_map(count, |k| {
        with_buffer(|buffer| Ok(survey(bytes.read(bounds(k).0, bounds(k).1, buffer)?)))
    })?;
    let (mut quotes, mut newlines) = (0, 0);
    let mut starts = vec![(begin, 0)];
    for (k, survey) in surveys.iter().enumerate() {
        let border = if quotes % 2 == 0 { survey.outside } else { survey.inside };
        if let (Some((offset, lines)), true) = (border, k > 0) {
            starts.push((bounds(k).0 + offset, newlines + lines));
        }
        quotes += survey.quotes;
        newlines += survey.newlines;
    }
    pieces_between(&starts, (end, newlines), line)
}

fn pieces_between(starts: &[(u64, u64)], end: (u64, u64), line: u64) -> Result<Vec<Piece>> {
    let ends = starts.iter().skip(1).chain([&end]);
    let cut = |(&(start, before), &(end, after)): (&(u64, u64), &(u64, u64))| Piece {
        start,
        end,
        line: line + before,
        newlines: after - before,
    };
    let pieces: Vec<Piece> =
        starts.iter().zip(ends).map(cut).filter(|piece| piece.start < piece.end).collect();
    match pieces.iter().find(|piece| piece.end - piece.start > LONGEST_ROW) {
        Some(piece) => {
            let message = format!("line {} is longer than 1 GB", piece.line);
            Err(Error::new(Code::Parse, message).row(piece.line))
        }
        None => Ok(pieces),
    }
}

fn survey(bytes: &[u8]) -> Survey {
    let newlines = memchr::memchr_iter(b'\n', bytes).count() as u64;
    let quotes = memchr::memchr_iter(b'"', bytes).count() as u64;
    if quotes == 0 {
        let outside = memchr::memchr(b'\n', bytes).map(|at| (at as u64 + 1, 1));
        return Survey { newlines, quotes, outside, inside: None };
    }
    let (mut outside, mut inside) = (None, None);
    let (mut odd, mut lines) = (false, 0);
    for at in memchr::memchr2_iter(b'\n', b'"', bytes) {
        if bytes[at] == b'"' {
            odd = !odd;
            continue;
        }
        lines += 1;
        let border = if odd { &mut inside } else { &mut outside };
        border.get_or_insert((at as u64 + 1, lines));
        if outside.is_some() && inside.is_some() {
            break;
        }
    }
    Survey { newlines, quotes, outside, inside }
}

/// The same by reading every field in order: a quote opens a field only at its start.
pub(crate) fn plan_exactly(
    bytes: &Bytes,
    extent: &Extent,
    delimiter: u8,
    run: &Context,
) -> Result<Vec<Piece>> {
    let &Extent { begin, end: last, line, .. } = extent;
    let mut starts = vec![(begin, 0)];
    let mut walker = Walker { delimiter, state: State::FieldStart, newlines: 0, opened: (0, 0) };
    let mut buffer = Vec::new();
    let mut start = begin;
    let mut wanted = begin + PIECE;
    while start < last {
        run.checkpoint()?;
        let end = (start + PIECE).min(last);
        let slice = bytes.read(start, end, &mut buffer)?;
        for (i, &byte) in slice.iter().enumerate() {
            let offset = start + i as u64;
            let row_ended = walker.step(byte, offset);
            if row_ended && offset + 1 >= wanted {
                starts.push((offset + 1, walker.newlines));
                wanted = offset + 1 + PIECE;
            }
        }
        if walker.state == State::Quoted && end - walker.opened.0 > LONGEST_FIELD as u64 {
            return Err(unterminated(line + walker.opened.1));
        }
        start = end;
    }
    if walker.state == State::Quoted {
        return Err(unterminated(line + walker.opened.1));
    }
    pieces_between(&starts, (last, walker.newlines), line)
}

/// The error for a quote that is not closed in time.
pub(crate) fn unterminated(line: u64) -> Error {
    let message = format!("the quote opened on line {line} is not closed within 16 MB or the file");
    Error::new(Code::Parse, message)
        .row(line)
        .hint("close it, or double it if it is part of the text")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    FieldStart,
    Plain,
    Quoted,
    QuoteInQuoted,
}

struct Walker {
    delimiter: u8,
    state: State,
    newlines: u64,
    opened: (u64, u64),
}

impl Walker {
    /// Takes one byte; true if it ended a row.
    fn step(&mut self, byte: u8, offset: u64) -> bool {
        let newline = byte == b'\n';
        self.newlines += u64::from(newline);
        self.state = match (self.state, byte) {
            (State::Quoted, b'"') => State::QuoteInQuoted,
            (State::Quoted, _) | (State::QuoteInQuoted, b'"') => State::Quoted,
            (State::FieldStart, b'"') => {
                self.opened = (offset, self.newlines);
                State::Quoted
            }
            (_, b'\n') => State::FieldStart,
            (_, byte) if byte == self.delimiter => State::FieldStart,
            _ => State::Plain,
        };
        newline && self.state != State::Quoted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(bytes: &Bytes) -> Extent {
        Extent { begin: 0, end: bytes.len(), line: 1, before: 0, after: 0 }
    }

    fn file_with_quotes() -> Vec<u8> {
        let mut text = String::new();
        for i in 0..60_000 {
            text += &format!("{i},\"a\nb{i}\",\"say \"\"hi\"\"\"\n");
        }
        text.into_bytes()
    }

    #[test]
    fn pieces_start_at_rows_even_inside_quoted_line_ends() {
        let bytes = Bytes::Memory(file_with_quotes());
        let run = Context::default();
        let pieces = plan(&bytes, &whole(&bytes), &run).unwrap();
        assert!(pieces.len() > 1);
        let Bytes::Memory(text) = &bytes else { unreachable!() };
        for piece in &pieces {
            let before = &text[..piece.start as usize];
            assert!(before.is_empty() || before.ends_with(b"\"\n"));
            assert_eq!(piece.line, 1 + memchr::memchr_iter(b'\n', before).count() as u64);
        }
        for pair in pieces.windows(2) {
            assert_eq!(pair[0].end, pair[1].start);
        }
        assert_eq!(plan(&bytes, &whole(&bytes), &run.with_threads(1)).unwrap(), pieces);
    }

    #[test]
    fn the_exact_plan_ignores_quotes_inside_fields() {
        let mut text = b"5\" pipe,1\n".repeat(150_000);
        text.extend(b"6\" pipe,\"x\ny\"\n".repeat(10));
        let bytes = Bytes::Memory(text.clone());
        let run = Context::default();
        let pieces = plan_exactly(&bytes, &whole(&bytes), b',', &run).unwrap();
        assert!(pieces.len() > 1);
        assert!(
            pieces.iter().all(|piece| piece.start == 0 || text[piece.start as usize - 1] == b'\n')
        );
    }

    #[test]
    fn an_open_quote_is_reported_where_it_was_opened() {
        let bytes = Bytes::Memory(b"a,b\n1,2\n3,\"x\n4,5\n".to_vec());
        let error = plan_exactly(&bytes, &whole(&bytes), b',', &Context::default()).unwrap_err();
        assert_eq!((error.code(), error.row_number()), (Code::Parse, Some(3)));
    }
}
