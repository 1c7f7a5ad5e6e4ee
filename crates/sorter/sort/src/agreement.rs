//! Agreement: all ranks tell how a step ended, and none continues unless it ended well on all.

use crate::protocol::AGREEMENTS;
use node::{Collective, Node, Port, Rank, Undelivered};
use pipeline::{Control, Failure};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::SortError;

/// A rank's part in agreements of all ranks. A rank alone agrees at once.
pub(crate) struct Agreement {
    collective: Option<Collective>,
}

impl Agreement {
    /// If the run of `control` fails, this rank stops waiting for the others.
    pub(crate) fn new(node: &Node, control: &Control) -> Agreement {
        Agreement::over(node, control, AGREEMENTS)
    }

    /// Outside the sort, over a port of its caller.
    pub(crate) fn over(node: &Node, control: &Control, port: Port) -> Agreement {
        let collective = (node.nodes() > 1).then(|| Collective::new(node, port));
        if let Some(collective) = &collective {
            control.owns(collective.closer());
        }
        Agreement { collective }
    }

    /// Tells all ranks how a step ended here. Returns this rank's result if the step ended well on
    /// all.
    ///
    /// # Errors
    /// This rank's own failure; otherwise that of the first rank that failed.
    pub(crate) async fn agree<V>(
        &mut self,
        node: &Node,
        mine: Result<V, Failure>,
    ) -> Result<V, Failure> {
        let mine = mine.map(|own| (own, ()));
        Ok(self.agree_and_tell(node, mine).await?.0)
    }

    /// As [`Agreement::agree`]; each rank also sends the others a value. Returns those of all, by
    /// rank.
    ///
    /// # Errors
    /// As [`Agreement::agree`].
    pub(crate) async fn agree_and_tell<V, T: Serialize + DeserializeOwned>(
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
        let Some(collective) = &mut self.collective else {
            let (own, told) = (own?, told.expect("as its own result"));
            return Ok((own, vec![told]));
        };
        let all = share(collective, node, &told).await;
        // This rank's own failure says more than the others' report of it.
        let own = own?;
        let mut heard = Vec::new();
        for (rank, told) in (0..).zip(all?) {
            heard.push(told.map_err(|what| SortError::Elsewhere { rank, what })?);
        }
        Ok((own, heard))
    }

    /// Sends a message to the root, which alone gets those of all ranks; the others get nothing.
    pub(crate) async fn tell_root(
        &mut self,
        node: &Node,
        message: Vec<u8>,
    ) -> Result<Vec<Vec<u8>>, Undelivered> {
        match &mut self.collective {
            Some(collective) => collective.gather(node, Rank::ROOT, message).await,
            None => Ok(vec![message]),
        }
    }

    /// Sends each rank its message, and returns those of all ranks to this one.
    pub(crate) async fn all_to_all(
        &mut self,
        node: &Node,
        message: Vec<Vec<u8>>,
    ) -> Result<Vec<Vec<u8>>, Undelivered> {
        match &mut self.collective {
            Some(collective) => collective.all_to_all(node, message).await,
            None => Ok(message),
        }
    }

    /// The decision that the root makes from the messages of all ranks.
    pub(crate) async fn decide(
        &mut self,
        node: &Node,
        message: Vec<u8>,
        decide: impl FnOnce(Vec<Vec<u8>>) -> Vec<u8>,
    ) -> Result<Vec<u8>, Undelivered> {
        let Some(collective) = &mut self.collective else {
            return Ok(decide(vec![message]));
        };
        let all = collective.gather(node, Rank::ROOT, message).await?;
        let decided = if node.rank() == Rank::ROOT {
            decide(all)
        } else {
            Vec::new()
        };
        collective.broadcast(node, Rank::ROOT, decided).await
    }
}

/// Sends the values of all ranks to all, through the root. A value that the root cannot parse
/// becomes an error of its rank.
async fn share<T: Serialize + DeserializeOwned>(
    collective: &mut Collective,
    node: &Node,
    told: &Result<T, String>,
) -> Result<Vec<Result<T, String>>, Failure> {
    let messages = collective.gather(node, Rank::ROOT, text_of(told)).await?;
    let all: Vec<_> = messages.iter().map(|text| parsed::<T>(text)).collect();
    let all = collective
        .broadcast(node, Rank::ROOT, text_of(&all))
        .await?;
    let foreign = |what: String| SortError::Foreign {
        rank: Rank::ROOT.0,
        what,
    };
    let all: Vec<Result<T, String>> =
        serde_json::from_slice(&all).map_err(|cause| foreign(cause.to_string()))?;
    let (count, ranks) = (all.len(), node.nodes() as usize);
    if count != ranks {
        return Err(foreign(format!("{count} answers of {ranks} ranks")).into());
    }
    Ok(all)
}

fn text_of(told: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(told).expect("text and numbers")
}

fn parsed<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    serde_json::from_slice(text).unwrap_or_else(|cause| Err(unknown_version(&cause.to_string())))
}

fn unknown_version(cause: &str) -> String {
    format!("rank 0 cannot understand its message ({cause}); run the same version on all ranks")
}
