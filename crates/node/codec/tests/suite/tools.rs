//! Files of the system's tools, at their lowest and highest levels. A tool that is not installed is
//! left out.

use std::io::Write;
use std::process::Stdio;
use std::thread;

use children::Command;
use codec::Encoder;
use node::{Compress, Compression};

use crate::common::{decompressed, lines};

/// The output of a tool for this input; none if it is not installed.
pub fn piped(tool: &str, options: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    let mut child = Command::new(tool)
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut into = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feeding = thread::spawn(move || into.write_all(&input));
    let output = child.wait_with_output().unwrap();
    feeding.join().unwrap().unwrap();
    assert!(output.status.success(), "{tool} {options:?}");
    Some(output.stdout)
}

#[test]
fn files_of_the_tools_are_read() {
    let contents = lines(1_000_000, 2);
    let mut read = 0;
    for format in Compression::ALL {
        let options: &[&[&str]] = match format {
            Compression::Gzip => &[&["-1"], &["-9"], &["-n"]],
            Compression::Zstd => &[&["-1"], &["-19"], &["-T2"], &["--long=27"], &["--no-check"]],
            Compression::Lz4 => &[
                &["-1"],
                &["-9"],
                &["-B4"],
                &["-BD"],
                &["-BX", "--no-frame-crc"],
            ],
            Compression::Bzip2 => &[&["-1"], &["-9"]],
            Compression::Xz => &[&["-0"], &["-6"], &["-T2"], &["-Cnone"], &["-Csha256"]],
        };
        for options in options {
            let all = [&["-c"][..], options].concat();
            let Some(file) = piped(format.name(), &all, &contents) else {
                continue;
            };
            let got = decompressed(&file).unwrap_or_else(|error| panic!("{all:?}: {error}"));
            assert!(got == contents, "{format:?} {options:?}");
            let twice = decompressed(&[file.clone(), file].concat()).unwrap();
            assert!(twice == [&contents[..], &contents].concat(), "{format:?}");
            read += 1;
        }
    }
    eprintln!("{read} files of tools were read");
}

#[test]
fn the_tools_read_what_the_encoder_writes() {
    let contents = lines(1_000_000, 3);
    for format in Compression::ALL {
        let how = Compress {
            format,
            cores: 2,
            memory_bytes: 1 << 30,
        };
        let mut encoder = Encoder::new(how, Vec::new()).unwrap();
        encoder.write(&contents).unwrap();
        let file = encoder.end().unwrap();
        if let Some(got) = piped(format.name(), &["-dc"], &file) {
            assert!(got == contents, "{format:?}");
        }
    }
}
