//! The one way to write a vector kernel.
//!
//! A kernel is compiled once for each set of vector instructions and the processor's best one runs: AVX-512, AVX2
//! with fused multiply-add, NEON, or the plain instructions of the target. That works only for code that is
//! *inlined* into the function with the instructions; what is called from there and not inlined has the two lanes of
//! every x86-64 processor. So:
//!
//! - Loops that the compiler turns into vectors by itself stand in [`vectorized!`](crate::vectorized). Write sums as
//!   several interleaved ones that [`lane_sum`](super::lane_sum) adds up, as [`dot`](super::dot) does: then the order
//!   of additions is part of the source and bits are the same on every processor.
//! - Loops with lanes of their own implement [`Kernel`], `run` marked `#[inline(always)]`. Fused multiply-adds and
//!   sums over lanes give other last bits on processors with other vectors; say so at the kernel.
//! - Helpers of both are `#[inline(always)]`. What takes a closure takes `impl FnMut`, never `impl FnOnce`: a call
//!   through `FnOnce` goes by way of a function that carries no instructions and is not inlined. Such closures are
//!   `#[inline(always)]` too where they are called from more than one place.
//! - Sums stay in registers only if every index of them is known when the kernel is compiled: plain loops over
//!   constants, and values written out one by one at the end of the same function. An iterator over the sums, a slice of
//!   them, or an early return between their steps sends all of them through memory in every step.
//!
//! `cargo xtask kernels` reads the compiled code of every kernel and refuses one without wide registers. Clippy
//! refuses the backend's own dispatch everywhere else. `LEARNT_LANES=4` and `LEARNT_LANES=1` in the environment run all
//! kernels as on an x86-64 processor without AVX-512, and without AVX2: `cargo xtask test` tests them so too.

use pulp::{Simd, WithSimd};
use std::sync::atomic::{AtomicU8, Ordering};

/// The most numbers in a vector; 0 before the environment was asked.
static MOST_LANES: AtomicU8 = AtomicU8::new(0);

/// Lets all kernels of this process run with vectors of at most so many numbers: `cargo bench` measures several.
/// Learners have no business here.
#[doc(hidden)]
pub fn limit_lanes(most: u8) {
    MOST_LANES.store(most.max(1), Ordering::Relaxed);
}

#[inline]
fn most_lanes() -> u8 {
    match MOST_LANES.load(Ordering::Relaxed) {
        0 => lanes_of_environment(),
        most => most,
    }
}

#[cold]
fn lanes_of_environment() -> u8 {
    let said = std::env::var("LEARNT_LANES").ok().and_then(|lanes| lanes.parse().ok());
    limit_lanes(said.unwrap_or(u8::MAX));
    MOST_LANES.load(Ordering::Relaxed)
}

/// Work that is compiled for every set of vector instructions.
pub trait Kernel {
    /// What it gives.
    type Output;

    /// The work; always `#[inline(always)]`.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

/// Runs a kernel with the best vectors of this processor.
#[inline]
#[allow(clippy::disallowed_methods, reason = "the one place")]
pub fn run<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    match (most_lanes(), pulp::x86::V3::try_new()) {
        (8.., _) => {}
        (4.., Some(simd)) => return Simd::vectorize(simd, Dispatched(kernel)),
        _ => return Dispatched(kernel).with_simd(pulp::Scalar),
    }
    pulp::Arch::new().dispatch(Dispatched(kernel))
}

/// The backend's view of a kernel. Its name marks kernels in compiled code.
struct Dispatched<K>(K);

impl<K: Kernel> WithSimd for Dispatched<K> {
    type Output = K::Output;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> K::Output {
        self.0.run(simd)
    }
}

/// A loop without lanes of its own: what [`vectorized!`](crate::vectorized) makes of its argument.
///
/// A closure that may be called more than once is called directly; one that may not goes through a function of the
/// compiler's that is not inlined, which is why this wants `FnMut`.
#[doc(hidden)]
pub struct Loop<F>(pub F);

impl<R, F: FnMut() -> R> Kernel for Loop<F> {
    type Output = R;

    #[inline(always)]
    fn run<S: Simd>(mut self, _simd: S) -> R {
        (self.0)()
    }
}

/// Runs an expression with the best vectors of this processor, and gives its value.
///
/// ```
/// let (x, mut y) = ([1.0, 2.0, 3.0], [0.0; 3]);
/// learnt_core::vectorized!({
///     for (y, x) in y.iter_mut().zip(&x) {
///         *y += 2.0 * x;
///     }
/// });
/// assert_eq!(y, [2.0, 4.0, 6.0]);
/// ```
#[macro_export]
macro_rules! vectorized {
    ($work:expr) => {
        $crate::linalg::run($crate::linalg::Loop(
            #[inline(always)]
            || $work,
        ))
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Lanes;

    impl Kernel for Lanes {
        type Output = usize;

        #[inline(always)]
        fn run<S: Simd>(self, _simd: S) -> usize {
            S::F64_LANES
        }
    }

    #[test]
    fn kernels_run_with_the_widest_vectors_of_the_processor() {
        #[cfg(target_arch = "x86_64")]
        {
            let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl");
            let expected = match (wide, is_x86_feature_detected!("avx2")) {
                (true, _) => 8,
                (_, true) => 4,
                _ => 1,
            };
            assert_eq!(run(Lanes), expected.min(usize::from(most_lanes())));
        }
        assert!(run(Lanes) >= 1);
    }
}
