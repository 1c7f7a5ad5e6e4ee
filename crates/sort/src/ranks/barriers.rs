//! Steps beside the sort itself that all ranks take together: before it, can all begin; after it,
//! was all that they wrote as it should be.
//!
//! As in the sort, who is silent meanwhile ends it for all: a rank that never comes is not waited
//! for.

use std::future::Future;

use node::{Node, Port};
use pipeline::{Control, Failure};

use crate::agreement::Agreement;
use crate::ranks::failure_detector::{Hours, Watch};

/// Ranks come to the first step after they have looked at their files and their machine; one that
/// has not come after so many seconds is not waited for.
const COMING_S: f64 = 60.0;

/// The first step, over a port and the one after it, which nobody else owns. What `refused` says on
/// one of the ranks, if it says something, all refuse. Ranks may come at different times.
///
/// # Errors
/// When any has refused, with what it said, or is silent.
pub async fn roll_call(
    node: &Node,
    control: &Control,
    port: Port,
    refused: impl Future<Output = Option<String>>,
) -> Result<(), Failure> {
    let hours = Hours {
        port: Port(port.0 + 1),
        coming_s: COMING_S,
    };
    let watch = Watch::during(node, control, hours)?;
    let mut agreement = Agreement::over(node, control, port);
    let mine = refused
        .await
        .map_or(Ok(((), ())), |what| Err(Failure::Program(what.into())));
    let agreed = agreement
        .agree_and_tell(node, mine)
        .await
        .map(drop)
        .map_err(|failure| match failure {
            Failure::Closed => control.take_failure().unwrap_or(Failure::Closed),
            failure => failure,
        });
    watch.end(node, agreed.is_ok()).await;
    agreed
}

/// The last step of a run that `control` watches: what each rank says goes to the first one, which
/// alone hears it.
///
/// # Errors
/// When any has failed: its own failure on that rank, what it said on the others.
pub async fn parting(
    node: &Node,
    control: &Control,
    port: Port,
    mine: Result<String, Failure>,
) -> Result<Vec<String>, Failure> {
    let mut agreement = Agreement::over(node, control, port);
    let (said, _) = agreement
        .agree_and_tell(node, mine.map(|said| (said, ())))
        .await?;
    let all = agreement.tell_root(node, said.into_bytes()).await?;
    Ok(all
        .iter()
        .map(|said| String::from_utf8_lossy(said).into_owned())
        .collect())
}
