//! Pools of threads.

use crate::stop;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Calls `work` with 0..n on the threads of a pool. Compiled once: the loop of a pool is long code, and
/// callers are many.
pub(crate) fn side_by_side(pool: &rayon::ThreadPool, n: usize, work: &(dyn Fn(usize) + Sync)) {
    let flag = stop::current();
    let under = |i: usize| match &flag {
        Some(flag) => stop::within(flag, || work(i)),
        None => work(i),
    };
    pool.install(|| (0..n).into_par_iter().for_each(under));
}

/// Applies `f` to every element on the threads of a pool; the results are in order, with room for one more.
pub(crate) fn each<S: Sync, T: Send>(
    pool: &rayon::ThreadPool,
    from: &[S],
    least: usize,
    f: impl Fn(&S) -> T + Sync + Send,
) -> Vec<T> {
    let mut out = Vec::with_capacity(from.len() + 1);
    pool.install(|| from.par_iter().with_min_len(least).map(f).collect_into_vec(&mut out));
    out
}

/// The pool with this many threads. Pools are kept; a forked child makes its own, because threads
/// do not survive a fork.
pub(crate) fn pool(threads: usize) -> Option<Arc<rayon::ThreadPool>> {
    static POOLS: Mutex<BTreeMap<(u32, usize), Arc<rayon::ThreadPool>>> =
        Mutex::new(BTreeMap::new());
    if threads <= 1 {
        return None;
    }
    let key = (std::process::id(), threads);
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = pools.get(&key) {
        return Some(Arc::clone(pool));
    }
    let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok()?);
    pools.insert(key, Arc::clone(&pool));
    Some(pool)
}
