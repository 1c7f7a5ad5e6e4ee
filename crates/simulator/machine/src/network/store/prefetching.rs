//! Prefetching, for state that will be needed soon.

#![allow(unsafe_code)]

/// Brings a value's first line to the cache.
#[inline]
pub fn prefetch<T>(soon: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing, for any address.
        unsafe { _mm_prefetch(std::ptr::from_ref(soon).cast(), _MM_HINT_T0) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = soon;
}
