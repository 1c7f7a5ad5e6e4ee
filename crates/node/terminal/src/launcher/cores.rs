//! The cores of this process.

use super::ranks_here;

/// The number of cores for this process. Unbound ranks share the cores of their host; cores that a
/// launcher has bound a rank to are its own.
pub fn cores() -> usize {
    let may_use = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    share(may_use, count(&online), ranks_here() as usize)
}

/// The cores of one of so many ranks. A control group's quota leaves fewer than are online, too.
fn share(may_use: usize, online: usize, ranks: usize) -> usize {
    if may_use < online {
        may_use
    } else {
        (may_use / ranks).max(1)
    }
}

/// The length of a list of numbers as the kernel writes it, such as `0-3,8`.
fn count(list: &str) -> usize {
    let numbers = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let [first, last]: [Option<usize>; 2] =
            [first, last].map(|number| number.trim().parse().ok());
        first
            .zip(last)
            .map_or(0, |(first, last)| last + 1 - first.min(last))
    };
    list.split(',').map(numbers).sum()
}

#[cfg(test)]
mod tests {
    #[test]
    fn ranks_share_the_cores_that_none_is_bound_to() {
        let large = [super::share(64, 64, 1), super::share(64, 64, 4)];
        assert_eq!(large, [64, 16]);
        let with_a_quota = super::share(4, 64, 1);
        assert_eq!(with_a_quota, 4);
        let (bound, many) = (super::share(2, 64, 32), super::share(8, 8, 20));
        assert_eq!((bound, many), (2, 1));
    }

    #[test]
    fn lists_of_cores_are_counted() {
        for (list, cores) in [("0", 1), ("0-3\n", 4), ("0-3,8,10-11\n", 7), ("", 0)] {
            assert_eq!(super::count(list), cores, "{list:?}");
        }
    }
}
