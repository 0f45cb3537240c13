//! Which build of learnt this is. Bits are the same only where the code is, so a worker with another build
//! refuses; mixed installations are the usual accident of clusters.

use learnt_core::error::{Code, Error, Result, plain};
use learnt_core::persist::{Node, Stored};
use std::collections::BTreeMap;

/// A build, and what of the processor decides last digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// The version.
    pub version: String,
    /// A word for the sources; empty for a released version.
    pub sources: String,
    /// Processor family and operating system.
    pub target: String,
    /// The widest vectors that kernels use.
    pub vectors: String,
}

impl Build {
    /// The build that is running.
    pub fn this() -> Build {
        let sources =
            learnt_derive::sources!("learnt-core learnt-derive learnt learnt-io learnt-jobs");
        Build {
            version: env!("CARGO_PKG_VERSION").to_string(),
            sources: sources.to_string(),
            target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
            vectors: vectors().to_string(),
        }
    }

    /// Refuses a job of another build, in words.
    pub(crate) fn expect(&self, planned: &Build, any_processor: bool) -> Result<()> {
        let same = |build: &Build| (build.version.clone(), build.sources.clone());
        if same(self) != same(planned) {
            let message = format!(
                "the job was planned by {}, and this is {}: another build may give other numbers",
                planned.name(),
                self.name()
            );
            return Err(Error::new(Code::FileVersion, message)
                .hint("install the same learnt on the driver and on every worker"));
        }
        let place = |build: &Build| format!("{} with {} vectors", build.target, build.vectors);
        if !any_processor && place(self) != place(planned) {
            let message = format!(
                "the job was planned on {}, and this is {}: last digits would differ",
                plain(&place(planned)),
                place(self)
            );
            return Err(Error::new(Code::FileVersion, message).hint(
                "use machines of one kind, or plan with --any-processor if last digits may differ",
            ));
        }
        Ok(())
    }

    fn name(&self) -> String {
        let short = plain(self.sources.get(..8).unwrap_or(&self.sources));
        match short.is_empty() {
            true => format!("learnt {}", plain(&self.version)),
            false => format!("learnt {} ({short})", plain(&self.version)),
        }
    }
}

impl Stored for Build {
    fn to_node(&self) -> Node {
        let Build { version, sources, target, vectors } = self;
        let words =
            [("version", version), ("sources", sources), ("target", target), ("vectors", vectors)];
        let words = words.into_iter().map(|(name, word)| (name.to_string(), word.to_node()));
        Node::Map(words.collect::<BTreeMap<_, _>>())
    }

    fn from_node(node: &Node) -> Result<Self> {
        node.only("build", &["version", "sources", "target", "vectors"])?;
        Ok(Build {
            version: node.field("version")?,
            sources: node.field("sources")?,
            target: node.field("target")?,
            vectors: node.field("vectors")?,
        })
    }
}

/// The vectors that kernels use on this processor.
#[cfg(target_arch = "x86_64")]
fn vectors() -> &'static str {
    let wide = std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512vl");
    match (wide, std::arch::is_x86_feature_detected!("avx2")) {
        (true, _) => "AVX-512",
        (_, true) => "AVX2",
        _ => "SSE2",
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn vectors() -> &'static str {
    "plain"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_build_and_another_processor_refuse_in_words() {
        let this = Build::this();
        assert_eq!(this.sources.len(), 32, "{}", this.sources);
        assert!(this.expect(&this, false).is_ok());
        let other = Build { sources: "0".repeat(32), ..this.clone() };
        let error = this.expect(&other, true).unwrap_err();
        assert!(error.message().contains("(00000000)"), "{error}");
        assert!(error.hint_text().unwrap().contains("same learnt"));
        let other = Build { vectors: "other".to_string(), ..this.clone() };
        let error = this.expect(&other, false).unwrap_err();
        assert!(error.message().contains("last digits"), "{error}");
        assert!(this.expect(&other, true).is_ok());
    }
}
