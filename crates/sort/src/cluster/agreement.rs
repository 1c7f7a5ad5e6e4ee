//! What all ranks must agree on before any goes on: what one refuses, all refuse.

use node::{Closed, Collective, Node, Port, Rank};
use pipeline::{Control, Failure};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::SortError;

/// Where agreements are made.
const AGREEMENTS: Port = Port(100);

/// Who decides, and speaks for all.
const ROOT: Rank = Rank(0);

/// A node's voice.
pub(super) struct Agreement {
    together: Collective,
}

impl Agreement {
    /// A voice where nothing else is under way.
    pub(super) fn over(node: &Node, port: Port) -> Agreement {
        Agreement { together: Collective::new(node, port) }
    }

    /// A voice in a run that `control` watches: if that fails, nobody waits for others any more.
    pub(super) fn new(node: &Node, control: &Control) -> Agreement {
        Agreement::owned(node, control, AGREEMENTS)
    }

    /// The same over another port.
    pub(super) fn owned(node: &Node, control: &Control, port: Port) -> Agreement {
        let together = Collective::new(node, port);
        control.owns(together.closer());
        Agreement { together }
    }

    /// Tells all ranks how a step of this one ended, and what they should know of it: what they told, if all
    /// went well everywhere.
    ///
    /// # Errors
    /// This rank's own failure, or else the first one's.
    pub(super) async fn with<V, T: Serialize + DeserializeOwned>(
        &mut self,
        node: &Node,
        mine: Result<(V, T), Failure>,
    ) -> Result<(V, Vec<T>), Failure> {
        let (own, told) = match mine {
            Ok((own, told)) => (Ok(own), Ok(told)),
            Err(failure) => {
                let what = failure.to_string();
                (Err(failure), Err(what))
            }
        };
        let all = self.exchange(node, &told).await;
        // One's own failure says more than what others make of it.
        let own = own?;
        let mut heard = Vec::new();
        for (rank, told) in (0..).zip(all?) {
            heard.push(told.map_err(|what| SortError::Elsewhere { rank, what })?);
        }
        Ok((own, heard))
    }

    /// What every rank says, by way of the root.
    async fn exchange<T: Serialize + DeserializeOwned>(
        &mut self,
        node: &Node,
        told: &Result<T, String>,
    ) -> Result<Vec<Result<T, String>>, Failure> {
        let text = serde_json::to_vec(told).expect("text and numbers");
        let said = self.together.gather(node, ROOT, text).await?;
        let all = said.iter().map(|text| String::from_utf8_lossy(text));
        let all = format!("[{}]", all.collect::<Vec<_>>().join(","));
        let all = self.together.broadcast(node, ROOT, all.into_bytes()).await?;
        // Another version may say other things.
        let foreign = |cause: serde_json::Error| SortError::Different {
            rank: ROOT.0,
            what: format!("it says what this version does not understand ({cause})"),
        };
        Ok(serde_json::from_slice(&all).map_err(foreign)?)
    }

    /// What every rank says, told to the root alone; the others hear nothing.
    pub(super) async fn tell_root(
        &mut self,
        node: &Node,
        said: Vec<u8>,
    ) -> Result<Vec<Vec<u8>>, Closed> {
        self.together.gather(node, ROOT, said).await
    }

    /// What every rank says to this one.
    pub(super) async fn all_to_all(
        &mut self,
        node: &Node,
        said: Vec<Vec<u8>>,
    ) -> Result<Vec<Vec<u8>>, Closed> {
        self.together.all_to_all(node, said).await
    }

    /// What the root makes of what all say.
    pub(super) async fn decide(
        &mut self,
        node: &Node,
        said: Vec<u8>,
        decide: impl FnOnce(Vec<Vec<u8>>) -> Vec<u8>,
    ) -> Result<Vec<u8>, Closed> {
        let all = self.together.gather(node, ROOT, said).await?;
        let decided = if node.rank() == ROOT { decide(all) } else { Vec::new() };
        self.together.broadcast(node, ROOT, decided).await
    }
}
