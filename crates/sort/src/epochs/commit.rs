//! Outputs get their names when those of all ranks have nothing left to fail but that; then saved
//! progress is removed.

use pipeline::Failure;

use crate::agreement::Agreement;
use crate::epochs::phase_two::Sorted;
use crate::epochs::range::Range;
use crate::epochs::sorting::Sorting;
use crate::files::manifest::ListedFile;
use crate::files::output::Output;
use crate::ranks::listing::Lister;
use crate::report::Warning;

impl Sorting<'_> {
    /// Commits the outputs of this rank, with those of all others, and lists them.
    ///
    /// # Errors
    /// When an output cannot be made durable, or cannot get its name; or when the list, which is
    /// written last, cannot be.
    pub(crate) async fn commit(
        &self,
        agreement: &mut Agreement,
        ranges: Vec<Range<'_>>,
        sorted: &[Sorted],
    ) -> Result<Vec<Warning>, Failure> {
        let (node, contents) = (self.node, &*self.job.contents);
        // A pipe is no file that could be listed.
        let is_pipe = |range: &Range<'_>| {
            range
                .run
                .output
                .as_ref()
                .is_some_and(|output| output.is_sequential())
        };
        let is_alone_to_pipe = node.nodes() == 1 && ranges.iter().any(is_pipe);
        let listing = self.job.listing.as_ref().filter(|_| !is_alone_to_pipe);
        let lister = Lister {
            node,
            contents,
            listing,
        };
        let finished = async {
            let mut listed = Vec::new();
            for (range, sorted) in ranges.iter().zip(sorted) {
                let bytes = sorted.settled.records * range.run.plan.record_bytes as u64;
                if let Some(output) = &range.run.output {
                    output.list(node, contents, &sorted.spans).await;
                    output.finish(node, bytes).await?;
                }
                listed.push((range.number, lister.here(self.files(range, sorted))));
            }
            Ok(listed)
        };
        let lists = lister.gather(agreement, finished.await).await?;
        let named = async {
            let mut warnings = Vec::new();
            for range in &ranges {
                match (&range.run.output, &range.notes) {
                    (Some(output), _) => {
                        warnings.extend(Output::clone(output).name(node).await?);
                    }
                    // An earlier run may have died before its new name was durable; a rename to
                    // itself makes it so.
                    (None, Some(notes)) => {
                        node.rename(&notes.site.target, &notes.site.target).await?;
                    }
                    (None, None) => {}
                }
            }
            Ok(warnings)
        };
        let mut warnings = agreement.agree(node, named.await).await?;
        warnings.extend(lister.show(agreement, lists).await?);
        for Range { notes, spill, .. } in ranges {
            if let Some(notes) = notes {
                notes.remove(node).await;
                spill.remove(node).await;
            }
        }
        Ok(warnings)
    }

    /// The files of a range, as a list has them.
    fn files(&self, range: &Range<'_>, sorted: &Sorted) -> Vec<ListedFile> {
        let contents = &*self.job.contents;
        match (&range.notes, &range.run.output) {
            (Some(notes), _) => {
                let path = notes.site.target.to_string_lossy().into_owned();
                vec![ListedFile::of(path, contents, &sorted.spans)]
            }
            (None, Some(output)) => output.listed(contents, &sorted.spans),
            (None, None) => Vec::new(),
        }
    }
}
