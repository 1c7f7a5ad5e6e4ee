//! How much of a file lies in the page cache.
//!
//! `mincore` looks without touching. A read that must not wait (`RWF_NOWAIT`) would not do: newer
//! kernels start reading ahead then, so asking twice would find what the first question brought in.

#![allow(unsafe_code)]

use std::ops::Range;
use std::os::fd::OwnedFd;
use std::ptr::null_mut;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

const PAGE_BYTES: u64 = 4096;

/// Bytes of the range that lie in the page cache; 0 where the system does not tell.
pub(crate) fn resident_bytes(fd: &OwnedFd, range: Range<u64>) -> u64 {
    let begin = range.start - range.start % PAGE_BYTES;
    let bytes = (range.end.next_multiple_of(PAGE_BYTES) - begin) as usize;
    if bytes == 0 {
        return 0;
    }
    if !tells(fd) {
        return 0;
    }
    let mut pages = vec![0_u8; bytes / PAGE_BYTES as usize];
    // SAFETY: a new mapping at an address the kernel chooses; it is never read or written.
    let mapped = unsafe {
        mmap(
            null_mut(),
            bytes,
            ProtFlags::READ,
            MapFlags::SHARED,
            fd,
            begin,
        )
    };
    let Ok(start) = mapped else { return 0 };
    // SAFETY: the range is that mapping, and `pages` has a byte for each of its pages.
    let told = unsafe { libc::mincore(start, bytes, pages.as_mut_ptr()) };
    // SAFETY: exactly the mapping made above, of which nothing is kept.
    let _ = unsafe { munmap(start, bytes) };
    if told != 0 {
        return 0;
    }
    let resident = pages.iter().filter(|&&page| page & 1 == 1).count() as u64;
    (resident * PAGE_BYTES).min(range.end - range.start)
}

/// Of a file that this user neither owns nor is root for, `mincore` may say that all is resident,
/// so as not to tell what others read.
fn tells(fd: &OwnedFd) -> bool {
    let user = rustix::process::geteuid();
    user.is_root() || rustix::fs::fstat(fd).is_ok_and(|stat| stat.st_uid == user.as_raw())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::FileExt;

    #[test]
    fn what_was_just_written_is_resident() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![1; 100_000]).unwrap();
        let fd = OwnedFd::from(file);
        assert_eq!(resident_bytes(&fd, 0..100_000), 100_000);
        assert_eq!(resident_bytes(&fd, 4096..8192), 4096);
        assert_eq!(resident_bytes(&fd, 5000..6000), 1000);
        assert_eq!(resident_bytes(&fd, 0..0), 0);
    }

    #[test]
    fn what_was_never_written_or_read_is_not_resident() {
        const HALF: u64 = 100 * PAGE_BYTES;
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&[1; HALF as usize], HALF).unwrap();
        let fd = OwnedFd::from(file);
        assert_eq!(resident_bytes(&fd, PAGE_BYTES..HALF), 0);
        assert_eq!(resident_bytes(&fd, 0..2 * HALF), HALF);
    }

    #[test]
    fn what_was_dropped_is_not() {
        let mut file = tempfile::tempfile_in(".").unwrap();
        file.write_all(&vec![1; 400_000]).unwrap();
        file.sync_all().unwrap();
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
        let fd = OwnedFd::from(file);
        let resident = resident_bytes(&fd, 0..400_000);
        if resident == 400_000 {
            // Past the test runner's capture: a skip is never silent.
            let _ = writeln!(std::io::stderr(), "skipped: files live in memory here");
            return;
        }
        assert_eq!(
            resident_bytes(&fd, 0..400_000),
            resident,
            "asking brings nothing in"
        );
    }
}
