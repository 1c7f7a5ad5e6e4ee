//! Counts the bytes of a file that are in the page cache.
//!
//! `mincore` does not change the cache. A read that must not wait (`RWF_NOWAIT`) would: newer
//! kernels start reading ahead, so a second call would find the pages that the first one loaded.

#![allow(unsafe_code)]

use std::ops::Range;
use std::os::fd::OwnedFd;
use std::ptr::null_mut;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

const PAGE_BYTES: u64 = 4096;

/// Bytes of the range that are in the page cache; 0 if the system does not say.
pub(crate) fn resident_bytes(fd: &OwnedFd, range: Range<u64>) -> u64 {
    let begin = range.start - range.start % PAGE_BYTES;
    let bytes = (range.end.next_multiple_of(PAGE_BYTES) - begin) as usize;
    if bytes == 0 || !is_answered(fd) {
        return 0;
    }
    let resident = resident_pages(fd, begin, bytes).unwrap_or(0);
    (resident * PAGE_BYTES).min(range.end - range.start)
}

fn resident_pages(fd: &OwnedFd, begin: u64, bytes: usize) -> Option<u64> {
    let (protection, flags) = (ProtFlags::READ, MapFlags::SHARED);
    // SAFETY: a new mapping at an address that the kernel chooses; it is never read or written.
    let start = unsafe { mmap(null_mut(), bytes, protection, flags, fd, begin) }.ok()?;
    let mut pages = vec![0_u8; bytes / PAGE_BYTES as usize];
    // SAFETY: the range is that mapping, and `pages` has a byte for each of its pages.
    let status = unsafe { libc::mincore(start, bytes, pages.as_mut_ptr()) };
    // SAFETY: exactly the mapping made above, and no pointer into it is left.
    let _ = unsafe { munmap(start, bytes) };
    let resident = pages.iter().filter(|&&page| page & 1 == 1).count() as u64;
    (status == 0).then_some(resident)
}

/// Whether `mincore` answers truthfully: the user owns the file or is root. Otherwise it may report
/// every page as resident, to hide the reads of other users.
fn is_answered(fd: &OwnedFd) -> bool {
    let user = rustix::process::geteuid();
    user.is_root() || rustix::fs::fstat(fd).is_ok_and(|stat| stat.st_uid == user.as_raw())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::FileExt;

    #[test]
    fn written_pages_are_resident() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![1; 100_000]).unwrap();
        let fd = OwnedFd::from(file);
        assert_eq!(resident_bytes(&fd, 0..100_000), 100_000);
        assert_eq!(resident_bytes(&fd, 4096..8192), 4096);
        assert_eq!(resident_bytes(&fd, 5000..6000), 1000);
        assert_eq!(resident_bytes(&fd, 0..0), 0);
    }

    #[test]
    fn holes_are_not_resident() {
        const HALF: u64 = 100 * PAGE_BYTES;
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&[1; HALF as usize], HALF).unwrap();
        let fd = OwnedFd::from(file);
        assert_eq!(resident_bytes(&fd, PAGE_BYTES..HALF), 0);
        assert_eq!(resident_bytes(&fd, 0..2 * HALF), HALF);
    }

    #[test]
    fn dropped_pages_are_not_resident() {
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
            "the count loads no pages"
        );
    }
}
