//! Files that are written as a view has them.

use std::io;
use std::sync::Arc;

use crate::Time;
use crate::backend::{Control, FileHandle, Request};
use crate::opening::Metadata;
use crate::view::View;

/// A file that is written as a view has it.
pub(super) struct Hiding {
    pub handle: Arc<dyn FileHandle>,
    pub view: Arc<dyn View>,
}

impl FileHandle for Hiding {
    fn metadata(&self) -> io::Result<Metadata> {
        self.handle.metadata()
    }

    fn is_direct(&self) -> bool {
        self.handle.is_direct()
    }

    fn submit(&self, at: Time, mut request: Request) {
        match &mut request {
            Request::Write { range, buffer, .. } => {
                self.view.hide(&mut buffer.bytes_mut()[range.clone()]);
            }
            Request::WriteChain { buffers, .. } => {
                for buffer in buffers {
                    self.view.hide(buffer.bytes_mut());
                }
            }
            Request::Read { .. } | Request::ReadChain { .. } | Request::Sync { .. } => {}
        }
        self.handle.submit(at, request);
    }

    fn control(&self, control: Control) -> io::Result<u64> {
        self.handle.control(control)
    }
}
