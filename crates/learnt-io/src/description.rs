//! A table of files in words: what another process needs to read the same blocks, without another look at
//! all rows. Paths, digests and row counts of the files, the columns with their levels, what the columns
//! are for, and how files are read. No secret is part of it: who reads uses rights of its own.

use crate::dataset::{Distinct, TargetTask, classes_of};
use crate::options::{Encoding, Format, Header, Ragged, ReadOptions, TypeRule};
use crate::report::{ColumnReport, Packing, ReadReport};
use crate::stream::{FileSequences, FileSource, blocks_of};
use crate::stream_counted::Counted;
use crate::stream_files::{Files, Part};
use crate::stream_kept::Kept;
use learnt_core::data::Schema;
use learnt_core::error::{Code, Error, Result};
use learnt_core::persist::{Node, Stored, invalid};
use std::collections::BTreeMap;

const FIELDS: &[&str] = &[
    "paths",
    "formats",
    "rows",
    "digests",
    "pieces",
    "piece_ends",
    "all",
    "schema",
    "inputs",
    "target",
    "weight",
    "task",
    "distinct",
    "whole",
    "sequences",
    "counted",
    "missing",
    "digest",
    "options",
];

impl FileSource {
    /// The table in words; an error for one that cannot be read again, such as standard input.
    pub fn describe(&self) -> Result<Node> {
        let again = |part: &Part| part.path != "-" && !part.digest.is_empty();
        if self.parts.is_empty() || !self.parts.iter().all(again) {
            let message =
                "only files can be read again by others: not standard input, not a bundled set";
            return Err(Error::new(Code::Usage, message)
                .hint("write it to a file first: `learnt convert` does"));
        }
        let mut ends = Vec::new();
        let mut pieces: Vec<u64> = Vec::new();
        for part in &self.parts {
            pieces.extend(&part.pieces);
            ends.push(pieces.len() as u64);
        }
        let text = |pick: fn(&Part) -> String| self.parts.iter().map(pick).collect::<Vec<String>>();
        let rows: Vec<u64> = self.parts.iter().map(|part| part.rows).collect();
        let task = self.task.map(|task| match task {
            TargetTask::Classify => "classify".to_string(),
            TargetTask::Regress => "regress".to_string(),
        });
        let missing: Vec<String> = self.report.columns.iter().map(|c| c.name.clone()).collect();
        let counts: Vec<u64> = self.report.columns.iter().map(|c| c.missing).collect();
        let offsets = self.sequences.as_ref().map(|sequences| sequences.offsets.clone());
        let counted = self.counted.clone().unwrap_or_default();
        let (ends_counted, sums_counted) = (counted.ends.to_node(), counted.sums.to_node());
        let nodes = [
            text(|part| part.path.clone()).to_node(),
            text(|part| part.format.name().to_string()).to_node(),
            rows.to_node(),
            text(|part| part.digest.clone()).to_node(),
            pieces.to_node(),
            ends.to_node(),
            self.all.to_node(),
            self.schema.to_node(),
            self.inputs.to_node(),
            self.target.to_node(),
            self.weight.to_node(),
            task.to_node(),
            self.distinct.values.to_node(),
            self.distinct.whole.to_node(),
            offsets.to_node(),
            Node::List(vec![ends_counted, sums_counted]),
            Node::List(vec![missing.to_node(), counts.to_node()]),
            self.report.digest.to_node(),
            options_node(&self.options),
        ];
        let named = FIELDS.iter().map(ToString::to_string).zip(nodes);
        Ok(Node::Map(named.collect::<BTreeMap<_, _>>()))
    }

    /// A table that was described elsewhere. Files are opened and compared when their rows are asked for.
    pub fn described(node: &Node) -> Result<FileSource> {
        node.only("table", FIELDS)?;
        let parts = read_parts(node)?;
        let (all, schema): (Schema, Schema) = (node.field("all")?, node.field("schema")?);
        let inputs: Vec<usize> = node.field("inputs")?;
        let (target, weight): (Option<usize>, Option<usize>) =
            (node.field("target")?, node.field("weight")?);
        let named = inputs.iter().all(|&j| j < all.len()) && inputs.len() == schema.len();
        if !named || target.into_iter().chain(weight).any(|j| j >= all.len()) {
            return Err(invalid("columns that the table does not have"));
        }
        let task: Option<String> = node.field("task")?;
        let task = task.map(|word| TargetTask::parse(&word)).transpose()?;
        let distinct = Distinct { values: node.field("distinct")?, whole: node.field("whole")? };
        let classes = match (task, target) {
            (Some(TargetTask::Classify), Some(j)) => Some(classes_of(all.column(j), &distinct)),
            _ => None,
        };
        let rows = parts.iter().map(|part| part.rows).fold(0, u64::saturating_add);
        let counted = read_counted(node, rows)?;
        let counting = counted.as_ref().map_or(rows, Counted::total);
        let offsets: Option<Vec<usize>> = node.field("sequences")?;
        let sequences = match offsets {
            None => None,
            Some(offsets) => {
                let rising = offsets.windows(2).all(|pair| pair[0] < pair[1]);
                if !rising
                    || offsets.first() != Some(&0)
                    || offsets.last() != Some(&(counting as usize))
                {
                    return Err(invalid("sequences that are not of the table"));
                }
                Some(FileSequences { blocks: blocks_of(&offsets, inputs.len()), offsets })
            }
        };
        let options = read_options(node.child("options")?)?;
        let report = read_report(node, rows, &parts)?;
        let reader = Box::new(Files::new(parts.clone(), all.clone(), options.clone()));
        Ok(FileSource {
            reader,
            report,
            notes: Vec::new(),
            task,
            schema,
            all,
            inputs,
            target,
            weight,
            distinct,
            classes,
            sequences,
            counted,
            parts,
            options,
            kept: Kept::default(),
        })
    }
}

fn read_counted(node: &Node, rows: u64) -> Result<Option<Counted>> {
    let refuse = || invalid("counts of rows that are not of the table");
    let [ends, sums] = node.child("counted")?.list()? else { return Err(refuse()) };
    let (ends, sums) = (Vec::<u64>::from_node(ends)?, Vec::<u64>::from_node(sums)?);
    match ends.is_empty() && sums.is_empty() {
        true => Ok(None),
        false => Counted::known(ends, sums, rows).map(Some).ok_or_else(refuse),
    }
}

fn read_parts(node: &Node) -> Result<Vec<Part>> {
    let (paths, formats): (Vec<String>, Vec<String>) =
        (node.field("paths")?, node.field("formats")?);
    let (rows, digests): (Vec<u64>, Vec<String>) = (node.field("rows")?, node.field("digests")?);
    let (pieces, ends): (Vec<u64>, Vec<u64>) = (node.field("pieces")?, node.field("piece_ends")?);
    let count = paths.len();
    if [formats.len(), rows.len(), digests.len(), ends.len()] != [count; 4] || count == 0 {
        return Err(invalid("files of a table without their facts"));
    }
    let mut start = 0;
    let mut parts = Vec::with_capacity(count);
    for k in 0..count {
        let own = pieces.get(start..ends[k] as usize).ok_or_else(|| invalid("pieces of a file"))?;
        start = ends[k] as usize;
        let format = Format::parse(&formats[k]).map_err(|error| invalid(error.message()))?;
        let (path, digest) = (paths[k].clone(), digests[k].clone());
        parts.push(Part::planned(path, format, rows[k], digest, own.to_vec()));
    }
    Ok(parts)
}

fn read_report(node: &Node, rows: u64, parts: &[Part]) -> Result<ReadReport> {
    let [names, counts] = node.child("missing")?.list()? else {
        return Err(invalid("missing values of a table"));
    };
    let (names, counts) = (Vec::<String>::from_node(names)?, Vec::<u64>::from_node(counts)?);
    let mut report = ReadReport::new(parts[0].format);
    report.rows = rows;
    report.packing = Packing::Plain;
    report.digest = node.field("digest")?;
    let column = |(name, missing)| ColumnReport { name, missing, ..ColumnReport::default() };
    report.columns = names.into_iter().zip(counts).map(column).collect();
    Ok(report)
}

const OPTIONS: &[&str] = &[
    "format",
    "delimiter",
    "skip_lines",
    "header",
    "na",
    "types",
    "encoding",
    "ragged",
    "dedupe_names",
    "decimal_comma",
    "thousands",
    "max_input",
    "max_ratio",
    "max_features",
    "columns",
    "strict",
];

fn options_node(options: &ReadOptions) -> Node {
    let header = match options.header {
        Header::Auto => "auto",
        Header::Yes => "yes",
        Header::No => "no",
    };
    let encoding = match options.encoding {
        Encoding::Utf8 => "utf-8",
        Encoding::Latin1 => "latin-1",
        Encoding::Utf16 => "utf-16",
    };
    let types: Vec<String> =
        options.types.iter().flat_map(|(name, rule)| [name.clone(), rule.to_string()]).collect();
    let byte = |byte: Option<u8>| byte.map(u64::from).to_node();
    let nodes = [
        options.format.map(|format| format.name().to_string()).to_node(),
        byte(options.delimiter),
        options.skip_lines.to_node(),
        header.to_string().to_node(),
        options.na.to_node(),
        types.to_node(),
        encoding.to_string().to_node(),
        (options.ragged == Ragged::Skip).to_node(),
        options.dedupe_names.to_node(),
        options.decimal_comma.to_node(),
        byte(options.thousands),
        options.max_input.to_node(),
        options.max_ratio.to_node(),
        options.max_features.to_node(),
        options.columns.to_node(),
        options.strict.to_node(),
    ];
    Node::Map(OPTIONS.iter().map(ToString::to_string).zip(nodes).collect())
}

fn read_options(node: &Node) -> Result<ReadOptions> {
    node.only("options", OPTIONS)?;
    let refuse = |error: Error| invalid(error.message());
    let format: Option<String> = node.field("format")?;
    let byte = |name: &str| -> Result<Option<u8>> {
        let byte: Option<u64> = node.field(name)?;
        byte.map(|byte| u8::try_from(byte).map_err(|_| invalid("a character"))).transpose()
    };
    let types: Vec<String> = node.field("types")?;
    let rule = |pair: &[String]| Ok((pair[0].clone(), TypeRule::parse(&pair[1]).map_err(refuse)?));
    Ok(ReadOptions {
        format: format.map(|name| Format::parse(&name)).transpose().map_err(refuse)?,
        delimiter: byte("delimiter")?,
        skip_lines: node.field("skip_lines")?,
        header: match node.field::<String>("header")?.as_str() {
            "yes" => Header::Yes,
            "no" => Header::No,
            _ => Header::Auto,
        },
        na: node.field("na")?,
        types: types.chunks_exact(2).map(rule).collect::<Result<_>>()?,
        encoding: Encoding::parse(&node.field::<String>("encoding")?).map_err(refuse)?,
        ragged: if node.field("ragged")? { Ragged::Skip } else { Ragged::Error },
        dedupe_names: node.field("dedupe_names")?,
        decimal_comma: node.field("decimal_comma")?,
        thousands: byte("thousands")?,
        max_input: node.field("max_input")?,
        max_ratio: node.field("max_ratio")?,
        max_features: node.field("max_features")?,
        columns: node.field("columns")?,
        strict: node.field("strict")?,
        digest: true,
        allow_empty: false,
    })
}
