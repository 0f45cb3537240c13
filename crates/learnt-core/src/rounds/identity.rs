//! Which fit a state, a summary or a checkpoint is of.

use super::{Outline, OwnedOutline};
use crate::context::Context;
use crate::error::{Code, Error, Result, plain};
use crate::estimator::AnyEstimator;
use crate::params::all_values;
use crate::persist::{Node, Stored, file};
use std::collections::BTreeMap;
use std::fmt::Write;

/// All that decides the bits of a fit, in words: learner, parameters, seed, table and version.
#[derive(Clone, Debug, PartialEq)]
pub struct Identity(BTreeMap<String, String>);

impl Identity {
    /// Of a learner that is fitted to this table; `digest` is of the table's content, if known.
    pub fn new(
        learner: &dyn AnyEstimator,
        outline: &Outline,
        digest: Option<&str>,
        run: &Context,
    ) -> Result<Identity> {
        let mut parameters = String::new();
        for (name, value) in all_values(learner)? {
            let _ = writeln!(parameters, "{name}={}", value.to_json());
        }
        let columns = checksum(&OwnedOutline::from(outline).to_node())?;
        let words = [
            ("learner", learner.about().path.to_string()),
            ("parameters", parameters),
            ("seed", run.seed().to_string()),
            ("rows", outline.rows.to_string()),
            ("columns and classes", columns),
            ("data", digest.unwrap_or("unknown").to_string()),
            ("version of learnt", env!("CARGO_PKG_VERSION").to_string()),
        ];
        Ok(Identity(words.into_iter().map(|(name, word)| (name.to_string(), word)).collect()))
    }

    /// One word that stands for all of it.
    pub fn digest(&self) -> Result<String> {
        checksum(&self.to_node())
    }

    /// Refuses another fit, and says in what it differs.
    pub(super) fn expect(&self, found: &Identity) -> Result<()> {
        let differs = |name: &&String| self.0.get(*name) != found.0.get(*name);
        let Some(name) = self.0.keys().find(differs) else { return Ok(()) };
        let word = |identity: &Identity| match identity.0.get(name).map(String::as_str) {
            Some(word) if word.len() <= 40 && !word.contains('\n') => plain(word),
            _ => "other".to_string(),
        };
        let message = format!(
            "the checkpoint is of another fit: its {name} differ ({} there, {} here)",
            word(found),
            word(self)
        );
        Err(Error::new(Code::Usage, message)
            .hint("give the options of the fit that it is of, or another folder"))
    }
}

/// The SHA-256 at the end of the bytes of a tree.
fn checksum(node: &Node) -> Result<String> {
    let bytes = file::to_bytes(node.clone())?;
    let end = &bytes[bytes.len().saturating_sub(32)..];
    Ok(end.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl Stored for Identity {
    fn to_node(&self) -> Node {
        Node::Map(self.0.iter().map(|(name, word)| (name.clone(), word.to_node())).collect())
    }
    fn from_node(node: &Node) -> Result<Self> {
        let words = node.map("identity")?.iter();
        let words = words.map(|(name, word)| Ok((name.clone(), String::from_node(word)?)));
        words.collect::<Result<_>>().map(Identity)
    }
}
