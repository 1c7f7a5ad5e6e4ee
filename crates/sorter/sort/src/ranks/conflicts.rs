//! No two ranks may write one output, under any name: through links, or directories of one file
//! system.
//!
//! Each rank tells the others the names of its drafts, and looks for theirs in its own directories.

use node::Node;
use pipeline::Failure;

use crate::agreement::Agreement;
use crate::error::SortError;
use crate::files::output::{Claim, Output};

/// Agrees that the outputs of all ranks, which are open, are different files.
///
/// # Errors
/// When two outputs are the same file, on all ranks.
pub(crate) async fn check_distinct(
    node: &Node,
    agreement: &mut Agreement,
    outputs: &[&Output],
) -> Result<(), Failure> {
    let own: Vec<Claim> = outputs.iter().filter_map(|output| output.claim()).collect();
    let ((), all) = agreement.agree_and_tell(node, Ok(((), own))).await?;
    let found = find_conflict(node, outputs, &all).await;
    agreement.agree(node, found).await
}

async fn find_conflict(
    node: &Node,
    outputs: &[&Output],
    all: &[Vec<Claim>],
) -> Result<(), Failure> {
    for output in outputs {
        let Some(own) = output.claim() else { continue };
        let is_other = |other: &&Claim| own.becomes == other.becomes && own != **other;
        for (rank, claims) in (0..).zip(all) {
            for other in claims.iter().filter(is_other) {
                for directory in &output.directories() {
                    if node.metadata(&directory.join(&other.draft)).await.is_ok() {
                        let file = directory.join(&other.becomes);
                        return Err(SortError::SameOutput { file, rank }.into());
                    }
                }
            }
        }
    }
    Ok(())
}
