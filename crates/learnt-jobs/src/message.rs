//! What driver and workers send each other, beside states and answers of the rounds.

use crate::build::Build;
use learnt_core::error::{Code, Error, Result};
use learnt_core::params::{LearnerSpec, Value};
use learnt_core::persist::{Node, Stored, file, invalid};
use std::ops::Range;

/// The mark of a job among files of learnt.
const TOOL: &str = "learnt job";

/// Named nodes as a tree.
pub(crate) fn tree(nodes: Vec<(&str, Node)>) -> Node {
    Node::Map(nodes.into_iter().map(|(name, node)| (name.to_string(), node)).collect())
}

/// The bytes of a plan: the mark, the build, and its own content.
pub(crate) fn plan_bytes(
    kind: &str,
    any_processor: bool,
    content: Vec<(&str, Node)>,
) -> Result<Vec<u8>> {
    let head = vec![
        ("tool", TOOL.to_string().to_node()),
        ("kind", kind.to_string().to_node()),
        ("build", Build::this().to_node()),
        ("any_processor", any_processor.to_node()),
        ("content", tree(content)),
    ];
    file::to_bytes(tree(head))
}

/// A plan that this build may run: its kind, its content, and the word that stands for it.
pub(crate) fn read_plan(bytes: &[u8]) -> Result<(String, Node, String)> {
    let root = file::from_bytes(bytes)?;
    let is_job = root.map("file")?.get("tool").is_some_and(|tool| *tool == Node::Text(TOOL.into()));
    if !is_job {
        return Err(Error::new(Code::FileKind, "this is a file of learnt, and no job")
            .hint("`learnt plan` writes one"));
    }
    let known = ["tool", "kind", "build", "any_processor", "content"];
    let planned: Build = root.field("build")?;
    Build::this().expect(&planned, root.field("any_processor").unwrap_or(false))?;
    root.only("job", &known)?;
    let end = &bytes[bytes.len().saturating_sub(32)..];
    let digest = end.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((root.field("kind")?, root.child("content")?.clone(), digest))
}

/// A learner with its parameters.
pub(crate) fn learner_node(spec: &LearnerSpec) -> Node {
    let (names, values): (Vec<String>, Vec<String>) =
        spec.params.iter().map(|(name, value)| (name.clone(), value.to_json().to_string())).unzip();
    tree(vec![
        ("path", spec.learner.to_node()),
        ("names", names.to_node()),
        ("values", values.to_node()),
    ])
}

/// The learner of [`learner_node`].
pub(crate) fn read_learner(node: &Node) -> Result<LearnerSpec> {
    node.only("learner", &["path", "names", "values"])?;
    let (names, values): (Vec<String>, Vec<String>) = (node.field("names")?, node.field("values")?);
    if names.len() != values.len() {
        return Err(invalid("parameters without values"));
    }
    let value = |(name, text): (String, String)| Ok((name, Value::from_node(&Node::Text(text))?));
    let params = names.into_iter().zip(values).map(value).collect::<Result<_>>()?;
    Ok(LearnerSpec { learner: node.field("path")?, params })
}

/// A task: some blocks of a round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) round: u64,
    pub(crate) number: u64,
    pub(crate) blocks: Range<u64>,
}

impl Task {
    /// `count` tasks of a round, as even as can be where that leaves few nodes of the tree that summaries merge
    /// along to each: a cut is up to an eighth of a task away from where it would be even, at the number that
    /// the largest power of two divides.
    pub(crate) fn cut(round: u64, blocks: u64, count: u64) -> Vec<Task> {
        let count = count.clamp(1, blocks.max(1));
        let slack = blocks / count / 8;
        let at = |k: u64| {
            let even = (u128::from(k) * u128::from(blocks) / u128::from(count)) as u64;
            match k == 0 || k == count {
                true => even,
                false => roundest(even - slack, even + slack),
            }
        };
        let task = |number| Task { round, number, blocks: at(number)..at(number + 1) };
        (0..count).map(task).collect()
    }

    pub(crate) fn to_bytes(&self, digest: &str) -> Result<Vec<u8>> {
        file::to_bytes(tree(vec![
            ("job", digest.to_string().to_node()),
            ("round", self.round.to_node()),
            ("task", self.number.to_node()),
            ("first", self.blocks.start.to_node()),
            ("end", self.blocks.end.to_node()),
        ]))
    }

    /// A task of this job, with blocks that there are.
    pub(crate) fn read(bytes: &[u8], digest: &str, blocks: u64) -> Result<Task> {
        let root = file::from_bytes(bytes)?;
        root.only("task", &["job", "round", "task", "first", "end"])?;
        check_job(&root, digest)?;
        let range = root.field("first")?..root.field("end")?;
        if range.start >= range.end || range.end > blocks {
            return Err(invalid("a task of blocks that there are not"));
        }
        Ok(Task { round: root.field("round")?, number: root.field("task")?, blocks: range })
    }
}

/// The number from `low` to `high` that the largest power of two divides.
fn roundest(low: u64, high: u64) -> u64 {
    (0..64).rev().map(|level| high >> level << level).find(|&number| number >= low).unwrap_or(high)
}

/// Refuses a message of another job.
pub(crate) fn check_job(root: &Node, digest: &str) -> Result<()> {
    match root.field::<String>("job")? == digest {
        true => Ok(()),
        false => Err(invalid("bytes of another job, or of another version of learnt")),
    }
}

/// Refuses addresses with a secret in them: a job is read by whoever runs it.
pub(crate) fn refuse_secrets<'a>(mut paths: impl Iterator<Item = &'a str>) -> Result<()> {
    paths.try_for_each(|path| match path.split_once("://") {
        Some((scheme, rest)) => learnt_io::refuse_secrets(scheme, rest),
        None => Ok(()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_cover_every_block_once() {
        for blocks in 1..40 {
            for count in 1..50 {
                let tasks = Task::cut(3, blocks, count);
                assert_eq!(tasks.len() as u64, count.min(blocks));
                let all: Vec<u64> = tasks.iter().flat_map(|task| task.blocks.clone()).collect();
                assert_eq!(all, (0..blocks).collect::<Vec<_>>());
                assert!(tasks.iter().all(|task| !task.blocks.is_empty()));
            }
        }
    }

    #[test]
    fn tasks_are_cut_where_their_summaries_merge() {
        let cut = |blocks, count| -> Vec<Range<u64>> {
            Task::cut(1, blocks, count).into_iter().map(|task| task.blocks).collect()
        };
        assert_eq!(cut(62, 2), [0..32, 32..62]);
        assert_eq!(cut(100, 3), [0..32, 32..64, 64..100]);
        assert_eq!(cut(5, 2), [0..2, 2..5]);
        for (blocks, count) in [(1000, 7), (61, 4), (12_345, 16)] {
            let even = blocks as f64 / count as f64;
            for task in cut(blocks, count) {
                let length = (task.end - task.start) as f64;
                assert!((length - even).abs() <= even / 4.0 + 1.0, "{task:?} of {blocks}");
            }
        }
    }

    #[test]
    fn a_task_of_another_job_and_of_blocks_that_there_are_not_is_refused() {
        let task = Task { round: 1, number: 0, blocks: 2..5 };
        let bytes = task.to_bytes("a").unwrap();
        assert_eq!(Task::read(&bytes, "a", 5).unwrap(), task);
        assert!(Task::read(&bytes, "b", 5).is_err());
        assert!(Task::read(&bytes, "a", 4).is_err());
        assert!(Task::read(&bytes[..bytes.len() - 1], "a", 5).is_err());
    }

    #[test]
    fn addresses_with_secrets_are_refused() {
        assert!(refuse_secrets(["/data/a.csv", "s3://bucket/a.parquet"].into_iter()).is_ok());
        for bad in ["s3://key:secret@bucket/a", "https://x.org/a.csv?token=abc"] {
            let error = refuse_secrets([bad].into_iter()).unwrap_err();
            assert!(!error.message().contains("secret") && !error.message().contains("abc"));
        }
    }
}
