//! What is worked out at the first question and kept beside a model.

use std::sync::{Arc, OnceLock};

/// No part of a model: files do not hold it, clones share it, and models that differ in it alone are equal.
pub(crate) struct Kept<T>(OnceLock<Arc<T>>);

impl<T> Kept<T> {
    /// What is there, if anybody has asked before.
    pub(crate) fn get(&self) -> Option<Arc<T>> {
        self.0.get().cloned()
    }

    /// What is there, or what is made now. Nobody waits: of those who ask at once each makes it, and one is kept.
    pub(crate) fn get_or_make(&self, make: impl FnOnce() -> T) -> Arc<T> {
        self.get().unwrap_or_else(|| {
            let made = Arc::new(make());
            let _ = self.0.set(made.clone());
            made
        })
    }
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept(OnceLock::new())
    }
}

impl<T> Clone for Kept<T> {
    fn clone(&self) -> Self {
        Kept(self.0.clone())
    }
}

impl<T> PartialEq for Kept<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> std::fmt::Debug for Kept<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(if self.0.get().is_some() { "Kept" } else { "nothing kept" })
    }
}
