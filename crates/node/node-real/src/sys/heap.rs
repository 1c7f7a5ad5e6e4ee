//! The heap of the C library.

#![allow(unsafe_code)]

/// A block from this size on goes back to the system when it is freed.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const RETURNED_BYTES: libc::c_int = 1 << 20;

/// Has large blocks that are freed go back to the system at once. By default, GNU's library takes the
/// first one that is freed as a sign that others of its size follow, and keeps up to 32 MiB of them for
/// each thread, which no limit of memory counts.
pub fn return_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it sets a number of the allocator, under its lock.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, RETURNED_BYTES);
    }
}
