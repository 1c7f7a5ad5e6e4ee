//! No two ranks write one output, by whatever names: links, or directories of one file system.
//!
//! Each rank tells what it has made in its directories, and looks for what the others have made in
//! its own.

use node::Node;
use pipeline::Failure;

use crate::agreement::Agreement;
use crate::error::SortError;
use crate::files::output::{Claim, Output};

/// Agrees that all outputs of all ranks, which are open, are different ones.
///
/// # Errors
/// On all ranks, when two are the same.
pub(crate) async fn apart(
    node: &Node,
    agreement: &mut Agreement,
    outputs: &[&Output],
) -> Result<(), Failure> {
    let own: Vec<Claim> = outputs.iter().flat_map(|output| output.claims()).collect();
    let ((), all) = agreement.agree_and_tell(node, Ok(((), own))).await?;
    let looked = look(node, outputs, &all).await;
    agreement.agree(node, looked).await
}

async fn look(node: &Node, outputs: &[&Output], all: &[Vec<Claim>]) -> Result<(), Failure> {
    for output in outputs {
        let (own, directories) = (output.claims(), output.directories());
        for (rank, claims) in (0..).zip(all) {
            let is_wanted = |other: &&Claim| own.iter().any(|own| own.becomes == other.becomes);
            for other in claims
                .iter()
                .filter(|other| !own.contains(other))
                .filter(is_wanted)
            {
                for directory in &directories {
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
