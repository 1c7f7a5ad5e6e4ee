//! Barriers outside the sort itself: before it, whether all ranks can begin; after it, whether all
//! outputs were verified.
//!
//! As in the sort, a rank that is silent meanwhile ends it for all: others do not wait for a rank
//! that never comes.

use std::future::Future;

use node::{Node, Port};
use pipeline::{Control, Failure};

use crate::agreement::Agreement;
use crate::ranks::failure_detector::FailureDetector;

/// The first barrier, over `port` and the one after it, which no other code uses. If `refused`
/// gives a reason on one rank, all ranks refuse. It may take its time, since ranks watch each other
/// meanwhile: call this as soon as the ranks are connected.
///
/// # Errors
/// When a rank has refused, with its reason, or is silent.
pub async fn roll_call(
    node: &Node,
    control: &Control,
    port: Port,
    refused: impl Future<Output = Option<String>>,
) -> Result<(), Failure> {
    let detector = FailureDetector::over(node, control, Port(port.0 + 1))?;
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
    detector.end(node, agreed.is_ok()).await;
    agreed
}

/// The last barrier of a run of `control`: each rank's text goes to rank 0, which alone gets them.
///
/// # Errors
/// When a rank has failed: its own failure on that rank, its message on the others.
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
