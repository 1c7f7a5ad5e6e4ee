//! Disks that fail under every way to sort.

use crate::common::run;
use crate::common::survival::{Case, Output, WAYS, Way};
use record::Ties;
use rehearsal::Fault;

/// Disk operation 1, 2, 3 ... fails until none fails any more: the input is intact, the output is
/// the old one or the complete new one, nothing else is left, and the error names a file or its
/// directory.
#[test]
fn every_disk_fault_is_survived() {
    // Sorts of lines have many operations.
    const STRIDE: u64 = 3;
    let records = WAYS.map(|way| (way, Case::new(way, 2000), 1));
    let lines = |way: Way| Case::of_lines("/out", way, way.records, Ties::Record);
    let lines = WAYS.map(|way| (way, lines(way), STRIDE));
    for (way, case, stride) in records.into_iter().chain(lines) {
        for fault in [Fault::Device, Fault::Full, Fault::Short] {
            let (mut fired, mut nth) = (0, 1);
            loop {
                let driver = case.driver(nth);
                driver.disks(0).fail(nth, fault);
                let here = format!("{}, {fault:?} at operation {nth}", way.name);
                let expected = match run(&driver, &case.job()) {
                    Ok(report) => {
                        assert!(
                            report.passes >= way.passes,
                            "{here}: {} passes",
                            report.passes
                        );
                        Output::New
                    }
                    Err(failure) => {
                        fired += 1;
                        let said = failure.to_string();
                        assert!(case.names_a_place(&said), "{here}: {said}");
                        Output::Old
                    }
                };
                let checked = case.check(&driver, expected);
                let checked = checked.and_then(|_| case.check_alone(&driver));
                checked.unwrap_or_else(|wrong| panic!("{here}: {wrong}"));
                if driver.disks(0).operations() < nth {
                    break;
                }
                nth += stride;
            }
            assert!(
                fired > 50 / stride,
                "{}: {fired} of {nth} faults were noticed",
                way.name
            );
        }
    }
}
