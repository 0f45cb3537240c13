//! When to use a learner and when not: two sentences each, in the file `when.txt` of its family.

/// What `learnt show`, the reference pages and Python's docstrings say about the choice of a learner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The class name.
    pub name: &'static str,
    /// When it is the right one.
    pub use_when: &'static str,
    /// When another is better, and which.
    pub not_when: &'static str,
}

/// One file a family.
const FAMILIES: &[&str] = &[
    include_str!("baseline/when.txt"),
    #[cfg(feature = "linear")]
    include_str!("linear/when.txt"),
    #[cfg(feature = "discriminant")]
    include_str!("discriminant/when.txt"),
    #[cfg(feature = "bayes")]
    include_str!("bayes/when.txt"),
    #[cfg(feature = "neighbors")]
    include_str!("neighbors/when.txt"),
    #[cfg(feature = "tree")]
    include_str!("tree/when.txt"),
    #[cfg(feature = "ensemble")]
    include_str!("ensemble/when.txt"),
    #[cfg(feature = "cluster")]
    include_str!("cluster/when.txt"),
    #[cfg(feature = "density")]
    include_str!("density/when.txt"),
    #[cfg(feature = "sequence")]
    include_str!("sequence/when.txt"),
    #[cfg(feature = "reduce")]
    include_str!("reduce/when.txt"),
    #[cfg(feature = "prepare")]
    include_str!("prepare/when.txt"),
    #[cfg(feature = "compose")]
    include_str!("compose/when.txt"),
];

/// Every piece of advice.
pub fn advice() -> impl Iterator<Item = Advice> {
    FAMILIES.iter().flat_map(|text| text.split("\n\n")).filter_map(|block| {
        let mut lines = block.trim().lines();
        let name = lines.next()?;
        let use_when = lines.next()?.strip_prefix("+ ")?;
        let not_when = lines.next()?.strip_prefix("- ")?;
        Some(Advice { name, use_when, not_when })
    })
}

/// The advice about a learner by its class name.
pub fn advice_on(name: &str) -> Option<Advice> {
    advice().find(|advice| advice.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_is_read_and_names_a_learner_and_other_learners_that_exist() {
        let blocks = FAMILIES.iter().flat_map(|text| text.split("\n\n")).count();
        assert_eq!(advice().count(), blocks);
        for one in advice() {
            assert!(crate::find(one.name).is_some(), "{} is no learner", one.name);
            let text = format!("{} {}", one.use_when, one.not_when);
            for word in text.split('`').skip(1).step_by(2) {
                let learner = crate::find(word).is_some();
                let own = crate::find(one.name).map(|entry| (entry.build)());
                let parameter = own.is_some_and(|learner| learner.get(word).is_ok());
                let call = word.starts_with("learnt ");
                assert!(learner || parameter || call, "{}: `{word}` does not exist", one.name);
            }
        }
    }

    #[test]
    fn learners_have_advice() {
        let silent: Vec<&str> = crate::entries()
            .map(|entry| entry.about.name())
            .filter(|name| advice_on(name).is_none())
            .collect();
        assert!(silent.is_empty(), "no advice in when.txt: {silent:?}");
    }
}
