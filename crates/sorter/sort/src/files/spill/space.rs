//! Disk space of spill files: taken, reserved, and given up where a directory is full.

use std::io::ErrorKind;
use std::ops::Range;

use node::{Closed, DiskError, Node};
use pipeline::Failure;

use super::log::LogRoom;
use super::{Extent, Slot, Spill, State};
use crate::records::block::BLOCK_BYTES;

impl Spill {
    /// Space for `bytes` bytes.
    ///
    /// # Errors
    /// When every directory is full, with the error of the last one, or the limit is reached.
    pub(crate) async fn extent(
        &self,
        node: &Node,
        to: Slot,
        bytes: u64,
    ) -> Result<Extent, Failure> {
        self.make(node).await?;
        loop {
            let step = |state: &mut State| {
                if state.closed {
                    Some(Err(Closed))
                } else {
                    state.logs.take(to, bytes).map(Ok)
                }
            };
            match self.shared.wait_for(node, step).await? {
                LogRoom::Now(extent) => return Ok(extent),
                LogRoom::Full => return Err(self.all_full()),
                LogRoom::Beyond(limit) => return Err(limit.into()),
                LogRoom::Reserve(extent, range) => match self.reserve(node, extent, range).await {
                    Ok(()) => return Ok(extent),
                    Err(error) => self.is_full(node, extent, error).await?,
                },
            }
        }
    }

    /// Reserves a range of the file. If the disk has less space, halves the part behind the extent
    /// until it fits.
    async fn reserve(
        &self,
        node: &Node,
        extent: Extent,
        Range {
            start,
            end: mut upto,
        }: Range<u64>,
    ) -> Result<(), DiskError> {
        let (file, end) = (self.file(extent), extent.offset + extent.bytes);
        loop {
            match file.preallocate(node, start..upto).await {
                Err(error) if is_full(&error) && upto > end => {
                    upto = end + (upto - end) / 2 / BLOCK_BYTES * BLOCK_BYTES;
                    let step = upto - end;
                    self.shared
                        .change(node, |state| state.logs.is_tight(extent.file, step))
                        .await;
                }
                reserved => {
                    reserved?;
                    break;
                }
            }
        }
        self.shared
            .change(node, |state| state.logs.reserved(extent.file, upto))
            .await;
        Ok(())
    }

    /// Gives back reserved space that is not used, once no more runs are expected.
    pub(crate) async fn trim(&self, node: &Node) {
        self.give_up_areas(node).await;
        for (file, end) in self.shared.change(node, |state| state.logs.spare()).await {
            let file = self.shared.look(|state| state.files[file].file.clone());
            // If this fails, the space comes back with the file.
            let _ = file.truncate(node, end).await;
        }
    }

    /// Makes holes of the parts of areas that nothing was written to.
    async fn give_up_areas(&self, node: &Node) {
        let step = |state: &mut State| state.logs.without_areas();
        let idle = self.shared.change(node, step).await;
        for (file, range) in &idle {
            let file = self.shared.look(|state| state.files[*file].file.clone());
            // If this fails, the space comes back with the file.
            let _ = file.release(node, range.clone()).await;
        }
    }

    /// Notes that there was no space for an extent, or that its directory is lost and stripes do without it, so
    /// that the next one goes elsewhere. Returns any other error, and that of the last directory.
    pub(crate) async fn is_full(
        &self,
        node: &Node,
        extent: Extent,
        error: DiskError,
    ) -> Result<(), Failure> {
        if !is_full(&error) && !self.gives_up(node, extent, &error).await {
            return Err(error.into());
        }
        self.give_up_areas(node).await;
        let others = self
            .shared
            .change(node, |state| state.logs.is_full(extent))
            .await;
        if others { Ok(()) } else { Err(error.into()) }
    }

    fn all_full(&self) -> Failure {
        let path = self
            .directories
            .last()
            .expect("there is a temporary directory");
        DiskError::new("write", path, ErrorKind::StorageFull.into()).into()
    }
}

pub(super) fn is_full(error: &DiskError) -> bool {
    matches!(
        error.cause.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded
    )
}
