//! Failures of sorts as those of the command.

use node::backend::NetworkError;
use pipeline::Failure;
use sort::SortError;
use terminal::ending::codes::READER_GONE_CODE;
use terminal::ending::failure::{CliFailure, READER_GONE, is_reader_gone};

use crate::glance;

/// How a command ends with the failure of a sort.
pub fn ended(failure: Failure) -> CliFailure {
    let message = failure.to_string();
    match failure {
        Failure::Disk(error) if is_reader_gone(&error) => {
            CliFailure::new(READER_GONE, message).with_code(READER_GONE_CODE)
        }
        Failure::Disk(error) => CliFailure {
            file: Some(error.path),
            offset: error.offset,
            ..CliFailure::new("io", message)
        },
        Failure::Program(error) => match error.downcast::<SortError>() {
            Ok(error) => CliFailure {
                file: error.file().cloned(),
                offset: error.offset(),
                ..CliFailure::new(error.kind(), glance::truncated(&error).unwrap_or(message))
            },
            Err(error) if error.is::<NetworkError>() => CliFailure::new("network", message),
            Err(_) => CliFailure::new("program", message),
        },
        Failure::Stopped(_) => CliFailure::new("stopped", message),
        Failure::Closed => CliFailure::new("stopped", message),
        Failure::NoThread { .. } => CliFailure::new("no_thread", message),
        Failure::Panic { .. } => CliFailure::new("bug", message),
    }
}
