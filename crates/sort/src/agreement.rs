//! What all ranks must agree on before any goes on: what one refuses, all refuse.

use crate::protocol::AGREEMENTS;
use node::{Collective, Node, Port, Rank, Undelivered};
use pipeline::{Control, Failure};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::SortError;

/// Who decides, and speaks for all.
pub(crate) const ROOT: Rank = Rank(0);

/// A node's voice.
pub(crate) struct Agreement {
    together: Collective,
}

impl Agreement {
    /// A voice in a run that `control` watches: if that fails, nobody waits for others any more.
    pub(crate) fn new(node: &Node, control: &Control) -> Agreement {
        Agreement::over(node, control, AGREEMENTS)
    }

    /// The same beside the sort.
    pub(crate) fn over(node: &Node, control: &Control, port: Port) -> Agreement {
        let together = Collective::new(node, port);
        control.owns(together.closer());
        Agreement { together }
    }

    /// Tells all ranks how a step of this one ended, and what they should know of it: what they
    /// told, if all went well everywhere.
    ///
    /// # Errors
    /// This rank's own failure, or else the first one's.
    pub(crate) async fn with<V, T: Serialize + DeserializeOwned>(
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

    /// What every rank says, by way of the root, who sees to it that it can be understood.
    async fn exchange<T: Serialize + DeserializeOwned>(
        &mut self,
        node: &Node,
        told: &Result<T, String>,
    ) -> Result<Vec<Result<T, String>>, Failure> {
        let said = self.together.gather(node, ROOT, text_of(told)).await?;
        let all: Vec<_> = said.iter().map(|text| understood::<T>(text)).collect();
        let all = self.together.broadcast(node, ROOT, text_of(&all)).await?;
        let foreign = |what: String| SortError::Foreign { rank: ROOT.0, what };
        let all: Vec<Result<T, String>> =
            serde_json::from_slice(&all).map_err(|cause| foreign(cause.to_string()))?;
        let (count, ranks) = (all.len(), node.nodes() as usize);
        if count != ranks {
            return Err(foreign(format!("{count} statements of {ranks} ranks")).into());
        }
        Ok(all)
    }

    /// What every rank says, told to the root alone; the others hear nothing.
    pub(crate) async fn tell_root(
        &mut self,
        node: &Node,
        said: Vec<u8>,
    ) -> Result<Vec<Vec<u8>>, Undelivered> {
        self.together.gather(node, ROOT, said).await
    }

    /// What every rank says to this one.
    pub(crate) async fn all_to_all(
        &mut self,
        node: &Node,
        said: Vec<Vec<u8>>,
    ) -> Result<Vec<Vec<u8>>, Undelivered> {
        self.together.all_to_all(node, said).await
    }

    /// What the root makes of what all say.
    pub(crate) async fn decide(
        &mut self,
        node: &Node,
        said: Vec<u8>,
        decide: impl FnOnce(Vec<Vec<u8>>) -> Vec<u8>,
    ) -> Result<Vec<u8>, Undelivered> {
        let all = self.together.gather(node, ROOT, said).await?;
        let decided = if node.rank() == ROOT {
            decide(all)
        } else {
            Vec::new()
        };
        self.together.broadcast(node, ROOT, decided).await
    }
}

fn text_of(told: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(told).expect("text and numbers")
}

/// What a rank says; of one that another version runs on, that it cannot be understood.
fn understood<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    serde_json::from_slice(text).unwrap_or_else(|cause| Err(foreign_words(&cause.to_string())))
}

/// What one says in the place of a rank that cannot be understood.
fn foreign_words(cause: &str) -> String {
    format!("it says what rank 0 does not understand ({cause}); run the same version on all ranks")
}
