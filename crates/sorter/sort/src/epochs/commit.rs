//! The commit: outputs get their names once every other step has succeeded on all ranks. Then saved
//! progress is removed.

use node::Node;
use pipeline::Failure;

use crate::agreement::Agreement;
use crate::epochs::checkpoint::Checkpoint;
use crate::epochs::phase_two::Sorted;
use crate::epochs::range::KeyRange;
use crate::epochs::sorting::RankSort;
use crate::files::manifest::ListedFile;
use crate::ranks::listing::Lister;
use crate::report::Warning;

impl RankSort<'_> {
    /// Commits the outputs of this rank together with those of all others, and lists them.
    ///
    /// # Errors
    /// When an output cannot be made durable or renamed, or when the list, which is written last,
    /// cannot be written.
    pub(crate) async fn commit(
        &self,
        agreement: &mut Agreement,
        ranges: Vec<KeyRange<'_>>,
        sorted: &[Sorted],
    ) -> Result<Vec<Warning>, Failure> {
        let (node, contents) = (self.node, &*self.job.contents);
        // A pipe is no file to list.
        let is_pipe = |range: &KeyRange<'_>| {
            range
                .run
                .output
                .as_ref()
                .is_some_and(|output| output.is_sequential())
        };
        let is_alone_to_pipe = node.nodes() == 1 && ranges.iter().any(is_pipe);
        let listing = self.job.listing.as_deref().filter(|_| !is_alone_to_pipe);
        let lister = Lister {
            node,
            contents,
            listing,
            host: &self.job.host,
        };
        let finished = async {
            let mut listed = Vec::new();
            for (range, sorted) in ranges.iter().zip(sorted) {
                let files = self.finish(range, sorted).await?;
                listed.push((range.number, lister.here(files)));
            }
            Ok(listed)
        };
        let lists = lister.gather(agreement, finished.await).await?;
        let named = async {
            if let Some(bad_rows) = &self.unfinished.bad_rows {
                bad_rows.commit(node).await?;
            }
            name_outputs(node, &ranges).await
        };
        let mut warnings = agreement.agree(node, named.await).await?;
        warnings.extend(lister.show(agreement, lists).await?);
        for KeyRange { notes, spill, .. } in ranges {
            if let Some(notes) = notes {
                notes.remove(node).await;
                spill.remove(node).await;
            }
        }
        Ok(warnings)
    }

    /// Makes the output of a range durable; its files, as a list has them.
    async fn finish(
        &self,
        range: &KeyRange<'_>,
        sorted: &Sorted,
    ) -> Result<Vec<ListedFile>, Failure> {
        let (node, contents) = (self.node, &*self.job.contents);
        if let Some(output) = &range.run.output {
            let (header, settled) = (contents.header(), &sorted.settled);
            let is_empty = if output.is_shared() {
                self.parts.total_out() == 0
            } else {
                settled.sum.size.records == 0
            };
            if is_empty && !header.is_empty() {
                output.write_header(node, header).await?;
            }
            output
                .finish(node, header.len() as u64 + settled.bytes())
                .await?;
            return Ok(output.list(node, contents, &sorted.spans).await);
        }
        let list = |notes: &Checkpoint| {
            let path = notes.site.target.to_string_lossy().into_owned();
            ListedFile::of(path, contents, &sorted.spans)
        };
        Ok(range.notes.iter().map(list).collect())
    }
}

async fn name_outputs(node: &Node, ranges: &[KeyRange<'_>]) -> Result<Vec<Warning>, Failure> {
    let mut warnings = Vec::new();
    for range in ranges {
        match (&range.run.output, &range.notes) {
            (Some(output), _) => warnings.extend(output.name(node).await?),
            // An earlier run may have died before the new name was durable; a rename to itself
            // makes it so.
            (None, Some(notes)) => {
                node.rename(&notes.site.target, &notes.site.target).await?;
            }
            (None, None) => {}
        }
    }
    Ok(warnings)
}
