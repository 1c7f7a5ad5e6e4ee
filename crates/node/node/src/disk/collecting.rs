//! Files that are written from front to back, without the lots of their records.

use std::io;
use std::sync::Arc;

use crate::backend::{Control, FileHandle, Request};
use crate::lots::Collector;
use crate::opening::{FileKind, Metadata};
use crate::{Mutex, Time};

/// A file that is written without the lots of its records.
pub(super) struct Collecting {
    pub handle: Arc<dyn FileHandle>,
    pub collector: Mutex<Collector>,
}

impl FileHandle for Collecting {
    fn metadata(&self) -> io::Result<Metadata> {
        Ok(Metadata {
            kind: FileKind::Sequential,
            ..self.handle.metadata()?
        })
    }

    fn is_direct(&self) -> bool {
        false
    }

    fn submit(&self, at: Time, request: Request) {
        let refused = || Err(io::ErrorKind::Unsupported.into());
        match request {
            Request::Write {
                range,
                mut buffer,
                done,
                ..
            } => {
                let bytes = &mut buffer.bytes_mut()[range.clone()];
                let collected = self.collector.lock().collect(bytes);
                match collected {
                    Ok(0) => done.complete((buffer, Ok(()))),
                    Ok(kept) => {
                        let range = range.start..range.start + kept;
                        let offset = None;
                        self.handle.submit(
                            at,
                            Request::Write {
                                offset,
                                range,
                                buffer,
                                done,
                            },
                        );
                    }
                    Err(cause) => done.complete((buffer, Err(cause))),
                }
            }
            Request::Sync { done } => {
                let ended = self.collector.lock().end();
                match ended {
                    Ok(()) => self.handle.submit(at, Request::Sync { done }),
                    Err(cause) => done.complete(Err(cause)),
                }
            }
            Request::Read { buffer, done, .. } => done.complete((buffer, refused())),
            Request::ReadChain { buffers, done, .. }
            | Request::WriteChain { buffers, done, .. } => done.complete((buffers, refused())),
        }
    }

    fn control(&self, control: Control) -> io::Result<u64> {
        self.handle.control(control)
    }
}
