//! Facts about this machine: memory, the limit of the control group, open files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Memory of the machine and of this process's control group, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// All memory of the machine.
    pub total_bytes: u64,
    /// Memory that the system can provide without swapping.
    pub available_bytes: u64,
    /// The smallest limit of the control group and the groups around it; `None` without a limit.
    pub cgroup_limit_bytes: Option<u64>,
}

/// Reads the kernel's figures for memory.
pub fn facts_of_memory() -> Memory {
    let meminfo = fs::read_to_string("/proc/meminfo");
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let (total_bytes, available_bytes) = meminfo.map_or_else(
        |_| memory_without_proc(),
        |text| {
            let bytes = |name| kernel_bytes(&text, name);
            (bytes("MemTotal:"), bytes("MemAvailable:"))
        },
    );
    Memory {
        total_bytes,
        available_bytes,
        cgroup_limit_bytes: cgroup_limits(&groups, Path::new("/sys/fs/cgroup"))
            .into_iter()
            .min(),
    }
}

/// All memory and the memory available, from a system call: a bare root directory has no /proc. The
/// page cache is missing in the second figure, so it is too small rather than too large.
fn memory_without_proc() -> (u64, u64) {
    let told = rustix::system::sysinfo();
    let bytes = |units: u64| units * u64::from(told.mem_unit);
    (bytes(told.totalram), bytes(told.freeram + told.bufferram))
}

/// The largest resident set of this process so far, in bytes.
pub fn peak_rss_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    kernel_bytes(&status, "VmHWM:")
}

/// Whether this is a virtual machine that gives free memory back to its host (virtio 1.2, 5.5.6.7,
/// free page reporting).
pub(crate) fn gives_free_memory_back() -> bool {
    // Looking takes a dozen system calls, and each input has buffers.
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| reports_free_pages(Path::new("/sys/bus/virtio/drivers/virtio_balloon")))
}

/// Whether a device of the driver whose directory this is has that feature. The kernel writes a
/// device's features as a digit each, the first one first.
fn reports_free_pages(driver: &Path) -> bool {
    const REPORTING: usize = 5;
    let devices = fs::read_dir(driver).into_iter().flatten().flatten();
    devices
        .filter_map(|device| fs::read_to_string(device.path().join("features")).ok())
        .any(|features| features.as_bytes().get(REPORTING) == Some(&b'1'))
}

/// The name of this host, or of this process's UTS namespace.
pub fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// The number of files that this process may have open.
pub fn open_file_limit() -> u64 {
    rustix::process::getrlimit(rustix::process::Resource::Nofile)
        .current
        .unwrap_or(u64::MAX)
}

/// Descriptors that this process may open beside those that are open. One above a limit that was lowered
/// later takes no place below it.
pub(crate) fn spare_descriptors() -> usize {
    let limit = usize::try_from(open_file_limit()).unwrap_or(usize::MAX);
    let is_below = |entry: &fs::DirEntry| {
        let number = entry.file_name().to_str().map(str::parse::<usize>);
        number.is_some_and(|number| number.is_ok_and(|number| number < limit))
    };
    let open =
        fs::read_dir("/proc/self/fd").map_or(0, |open| open.flatten().filter(is_below).count());
    limit.saturating_sub(open)
}

/// A figure that the kernel gives in KiB, in bytes; 0 if it is missing.
fn kernel_bytes(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

/// Limits of these groups and the groups around them, under both versions of control groups, which
/// are mounted in the directory `top`.
fn cgroup_limits(groups: &str, top: &Path) -> Vec<u64> {
    let mut limits = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else {
            continue;
        };
        let Some((root, file)) = hierarchy_of(controllers) else {
            continue;
        };
        let root = top.join(root);
        limits.extend(up_from(&root, group).filter_map(|place| limit(&place.join(file))));
    }
    limits
}

/// The directory of a hierarchy that limits memory, and the name of the files with the limits. The
/// hierarchy of version 2 has no list of controllers.
fn hierarchy_of(controllers: &str) -> Option<(&'static str, &'static str)> {
    if controllers.is_empty() {
        Some(("", "memory.max"))
    } else if controllers.split(',').any(|name| name == "memory") {
        Some(("memory", "memory.limit_in_bytes"))
    } else {
        None
    }
}

/// The group's directory and those above it, up to the root of the hierarchy.
fn up_from<'a>(root: &'a Path, group: &str) -> impl Iterator<Item = PathBuf> + use<'a> {
    let place = root.join(group.trim_start_matches('/'));
    let places: Vec<PathBuf> = place.ancestors().map(Path::to_owned).collect();
    places
        .into_iter()
        .take_while(move |place| place.starts_with(root))
}

/// Reads a limit. "No limit" is `max` in version 2, and a huge number in version 1.
fn limit(file: &Path) -> Option<u64> {
    const NO_LIMIT: u64 = 1 << 60;
    let text = fs::read_to_string(file).ok()?;
    text.trim().parse().ok().filter(|&bytes| bytes < NO_LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_pages_are_reported_by_a_balloon_with_that_feature() {
        let driver = tempfile::TempDir::new().unwrap();
        let device = driver.path().join("virtio0");
        assert!(!reports_free_pages(driver.path()));
        fs::create_dir(&device).unwrap();
        for (features, reports) in [("111110111", false), ("000001", true), ("1", false)] {
            fs::write(device.join("features"), format!("{features}\n")).unwrap();
            assert_eq!(reports_free_pages(driver.path()), reports, "{features}");
        }
        assert!(!reports_free_pages(&driver.path().join("missing")));
    }

    #[test]
    fn meminfo_is_in_kib() {
        let text = "MemTotal:       24000 kB\nMemAvailable:   1 kB\n";
        assert_eq!(kernel_bytes(text, "MemTotal:"), 24000 << 10);
        assert_eq!(kernel_bytes(text, "MemAvailable:"), 1 << 10);
        assert_eq!(kernel_bytes(text, "SwapTotal:"), 0);
    }

    #[test]
    fn memory_is_known_without_proc() {
        let (total, available) = memory_without_proc();
        let known = facts_of_memory();
        // The kernel's own memory may or may not count, by a per cent.
        assert!(total.abs_diff(known.total_bytes) < known.total_bytes / 50);
        assert!(available > 0 && available < total);
    }

    #[test]
    fn groups_are_looked_up_to_the_root() {
        let places: Vec<_> = up_from(Path::new("/sys/fs/cgroup"), "/a/b").collect();
        assert_eq!(places.len(), 3);
        assert_eq!(places[2], Path::new("/sys/fs/cgroup"));
    }

    #[test]
    fn the_groups_around_this_one_have_limits_too() {
        let top = tempfile::TempDir::new().unwrap();
        for (file, bytes) in [
            ("a/memory.max", "5"),
            ("a/b/memory.max", "4"),
            ("a/b/c/memory.max", "3"),
            ("memory/d/memory.limit_in_bytes", "2"),
            ("memory/e/memory.limit_in_bytes", "1"),
        ] {
            let file = top.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, bytes).unwrap();
        }
        for (groups, limits) in [
            ("0::/a/b\n", &[4, 5][..]),
            ("2:cpu:/e\n1:cpu,memory:/d\n", &[2]),
            ("1:memory:/d\n0::/a\n", &[2, 5]),
            ("1:cpu:/a\n", &[]),
            ("", &[]),
        ] {
            assert_eq!(cgroup_limits(groups, top.path()), limits, "{groups}");
        }
    }

    #[test]
    fn a_limit_is_a_number_of_bytes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (text, bytes) in [
            ("1048576\n", Some(1 << 20)),
            ("max\n", None),
            ("9223372036854771712", None),
            ("1152921504606846976", None),
        ] {
            fs::write(file.path(), text).unwrap();
            assert_eq!(limit(file.path()), bytes, "{text}");
        }
    }

    #[test]
    fn this_host_has_a_name() {
        let told = rustix::system::uname();
        assert_eq!(host_name(), told.nodename().to_string_lossy());
    }

    #[test]
    fn the_peak_includes_memory_that_was_touched() {
        const BYTES: usize = 32 << 20;
        let memory = std::hint::black_box(vec![1_u8; BYTES]);
        assert!(peak_rss_bytes() >= memory.len() as u64);
        assert!(peak_rss_bytes() <= facts_of_memory().total_bytes);
    }

    #[test]
    fn the_open_file_limit_is_the_soft_one() {
        let limits = fs::read_to_string("/proc/self/limits").unwrap();
        let mut lines = limits.lines();
        let limit = lines.find_map(|line| line.strip_prefix("Max open files"));
        let soft = limit.unwrap().split_whitespace().next().unwrap();
        assert_eq!(open_file_limit(), soft.parse().unwrap_or(u64::MAX));
    }

    /// Other tests open files meanwhile, but not that many.
    #[test]
    fn open_files_are_not_spare() {
        let before = spare_descriptors();
        let held: Vec<_> = (0..200).map(|_| fs::File::open("/dev/null")).collect();
        assert!(held.iter().all(Result::is_ok));
        assert!(spare_descriptors() < before - 100);
    }

    #[test]
    fn this_machine_has_memory() {
        let memory = facts_of_memory();
        assert!(memory.total_bytes >= memory.available_bytes && memory.available_bytes > 0);
    }
}
