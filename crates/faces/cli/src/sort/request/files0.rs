//! `--files0-from`: the names of the inputs from a file, each followed by a NUL.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::sort::options::Arguments;
use terminal::ending::failure::CliFailure;

/// The command line with the inputs that the file names.
pub(crate) fn expanded(arguments: &Arguments) -> Result<Arguments, CliFailure> {
    let Some(list) = &arguments.files0_from else {
        return Ok(arguments.clone());
    };
    if let Some(input) = arguments.inputs.first() {
        return Err(CliFailure::usage(format!(
            "{}: an input beside --files0-from, which names all inputs; leave one of them out",
            input.display()
        )));
    }
    let inputs = names(list)?;
    Ok(Arguments {
        inputs,
        ..arguments.clone()
    })
}

fn names(list: &Path) -> Result<Vec<PathBuf>, CliFailure> {
    let refused = |what: String| CliFailure {
        file: Some(list.to_owned()),
        ..CliFailure::usage(format!("--files0-from {}: {what}", list.display()))
    };
    let is_stdin = list == Path::new("-");
    let mut bytes = Vec::new();
    let read = if is_stdin {
        io::stdin().lock().read_to_end(&mut bytes)
    } else {
        File::open(list).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    read.map_err(|cause| refused(format!("cannot be read: {cause}; check the name")))?;
    let names = bytes.strip_suffix(b"\0").unwrap_or(&bytes);
    if bytes.is_empty() {
        return Err(refused(
            "it names no input; write each name with a NUL after it".to_owned(),
        ));
    }
    let mut found = Vec::new();
    for (number, name) in names.split(|&byte| byte == 0).enumerate() {
        let number = number + 1;
        if name.is_empty() {
            return Err(refused(format!("name {number} is empty; remove it")));
        }
        if is_stdin && name == b"-" {
            return Err(refused(format!(
                "name {number} is -, but the names come from standard input; name files"
            )));
        }
        found.push(OsString::from_vec(name.to_vec()).into());
    }
    Ok(found)
}
