//! What all ranks must agree on before any goes on: what one refuses, all refuse.

use crate::protocol::AGREEMENTS;
use node::{Collective, Node, Port, Rank, Undelivered};
use pipeline::{Control, Failure};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::SortError;

/// Who decides, and speaks for all.
pub(crate) const ROOT: Rank = Rank(0);

/// A rank's part in agreements of all ranks. Alone it agrees at once.
pub(crate) struct Agreement {
    together: Option<Collective>,
}

impl Agreement {
    /// In a run that `control` watches: when that fails, no rank waits for others any more.
    pub(crate) fn new(node: &Node, control: &Control) -> Agreement {
        Agreement::over(node, control, AGREEMENTS)
    }

    /// Beside the sort, over another port.
    pub(crate) fn over(node: &Node, control: &Control, port: Port) -> Agreement {
        let together = (node.nodes() > 1).then(|| Collective::new(node, port));
        if let Some(together) = &together {
            control.owns(together.closer());
        }
        Agreement { together }
    }

    /// Tells all ranks how a step of this one ended; its result, if all went well everywhere.
    ///
    /// # Errors
    /// This rank's own failure, or else that of the first rank that failed.
    pub(crate) async fn agree<V>(
        &mut self,
        node: &Node,
        mine: Result<V, Failure>,
    ) -> Result<V, Failure> {
        let mine = mine.map(|own| (own, ()));
        Ok(self.agree_and_tell(node, mine).await?.0)
    }

    /// As [`Agreement::agree`]; each rank also tells the others something. Returns what all told,
    /// by rank.
    ///
    /// # Errors
    /// As of [`Agreement::agree`].
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
        let Some(together) = &mut self.together else {
            let (own, told) = (own?, told.expect("as its own result"));
            return Ok((own, vec![told]));
        };
        let all = exchange(together, node, &told).await;
        // One's own failure says more than what others make of it.
        let own = own?;
        let mut heard = Vec::new();
        for (rank, told) in (0..).zip(all?) {
            heard.push(told.map_err(|what| SortError::Elsewhere { rank, what })?);
        }
        Ok((own, heard))
    }

    /// What every rank says, told to the root alone; the others hear nothing.
    pub(crate) async fn tell_root(
        &mut self,
        node: &Node,
        said: Vec<u8>,
    ) -> Result<Vec<Vec<u8>>, Undelivered> {
        match &mut self.together {
            Some(together) => together.gather(node, ROOT, said).await,
            None => Ok(vec![said]),
        }
    }

    /// What every rank says to this one.
    pub(crate) async fn all_to_all(
        &mut self,
        node: &Node,
        said: Vec<Vec<u8>>,
    ) -> Result<Vec<Vec<u8>>, Undelivered> {
        match &mut self.together {
            Some(together) => together.all_to_all(node, said).await,
            None => Ok(said),
        }
    }

    /// What the root makes of what all say.
    pub(crate) async fn decide(
        &mut self,
        node: &Node,
        said: Vec<u8>,
        decide: impl FnOnce(Vec<Vec<u8>>) -> Vec<u8>,
    ) -> Result<Vec<u8>, Undelivered> {
        let Some(together) = &mut self.together else {
            return Ok(decide(vec![said]));
        };
        let all = together.gather(node, ROOT, said).await?;
        let decided = if node.rank() == ROOT {
            decide(all)
        } else {
            Vec::new()
        };
        together.broadcast(node, ROOT, decided).await
    }
}

/// What every rank says, by way of the root, who sees to it that it can be understood.
async fn exchange<T: Serialize + DeserializeOwned>(
    together: &mut Collective,
    node: &Node,
    told: &Result<T, String>,
) -> Result<Vec<Result<T, String>>, Failure> {
    let said = together.gather(node, ROOT, text_of(told)).await?;
    let all: Vec<_> = said.iter().map(|text| understood::<T>(text)).collect();
    let all = together.broadcast(node, ROOT, text_of(&all)).await?;
    let foreign = |what: String| SortError::Foreign { rank: ROOT.0, what };
    let all: Vec<Result<T, String>> =
        serde_json::from_slice(&all).map_err(|cause| foreign(cause.to_string()))?;
    let (count, ranks) = (all.len(), node.nodes() as usize);
    if count != ranks {
        return Err(foreign(format!("{count} statements of {ranks} ranks")).into());
    }
    Ok(all)
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
