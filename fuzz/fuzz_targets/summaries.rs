//! Summaries of valsort: those that are taken are written as they were read.

#![no_main]

use libfuzzer_sys::fuzz_target;
use record::{SUMMARY_BYTES, Summary};

fuzz_target!(|data: &[u8]| {
    for bytes in data.chunks_exact(SUMMARY_BYTES) {
        let bytes: &[u8; SUMMARY_BYTES] = bytes.try_into().expect("a chunk");
        match Summary::from_bytes(bytes) {
            Ok(summary) => {
                let written = summary.to_bytes().expect("it was read");
                assert_eq!(Summary::from_bytes(&written).as_ref(), Ok(&summary));
                assert!(!summary.report_lines().is_empty());
            }
            Err(error) => assert!(!error.to_string().contains('\n')),
        }
    }
});
