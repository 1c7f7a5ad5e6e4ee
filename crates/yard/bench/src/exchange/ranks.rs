//! The ranks of the job: they meet, and agree on what came of a step.

use std::sync::Arc;

use node::{Collective, Mutex, Node, Port};
use node_real::Cluster;
use pipeline::Failure;
use serde_json::{Value, json};
use sort::alone::{ExchangeAlone, Exchanged, Load};

use host::job::RankJob;
use terminal::ending::failure::CliFailure;

/// Agreements of the ranks of a benchmark; no port of a sort (`sort::protocol`).
const MEETING: Port = Port(112);

/// Places of samples are not drawn here, nor names of files.
const SEED: u64 = 1;

/// This rank among the others.
pub struct Ranks {
    cluster: Cluster,
    /// Kept from one program on this rank's node to the next.
    place: Arc<Mutex<Option<RankEnds>>>,
    own: u32,
    count: u32,
}

/// This rank's ends of what goes between ranks.
struct RankEnds {
    together: Collective,
    alone: ExchangeAlone,
}

impl RankEnds {
    fn new(node: &Node) -> RankEnds {
        RankEnds {
            together: Collective::new(node, MEETING),
            alone: ExchangeAlone::new(node),
        }
    }
}

impl Ranks {
    pub fn new(job: &RankJob) -> Ranks {
        let (own, count) = (job.rank().0, job.ranks());
        Ranks {
            cluster: Cluster::over(job.network(), SEED),
            place: Arc::default(),
            own,
            count,
        }
    }

    /// Runs a program on this rank's node.
    fn run<T, P>(&self, program: P) -> Result<T, CliFailure>
    where
        T: Send + 'static,
        P: AsyncFn(&Node, &mut RankEnds) -> Result<T, Failure> + Clone + Send + 'static,
    {
        let place = Arc::clone(&self.place);
        let mut ends = self.cluster.run(move |node| {
            let (place, program) = (Arc::clone(&place), program.clone());
            async move {
                let locked = || place.lock();
                let known = locked().take();
                let mut own = known.unwrap_or_else(|| RankEnds::new(&node));
                let end = program(&node, &mut own).await;
                *locked() = Some(own);
                end
            }
        });
        ends.pop()
            .expect("one node")
            .map_err(::host::failure::ended)
    }

    /// This one's number.
    pub fn own(&self) -> u32 {
        self.own
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The others, the next one first.
    pub fn others(&self) -> impl Iterator<Item = u32> + use<> {
        let (own, count) = (self.own, self.count);
        (1..count).map(move |step| (own + step) % count)
    }

    /// Waits for all.
    ///
    /// # Errors
    /// A failure of the network.
    pub fn meet(&mut self) -> Result<(), CliFailure> {
        self.tell(&Value::Null).map(drop)
    }

    /// Exchanges a value with all ranks.
    ///
    /// # Errors
    /// A failure of the network; a rank of another version.
    pub fn tell(&mut self, what: &Value) -> Result<Vec<Value>, CliFailure> {
        let said = what.to_string().into_bytes();
        let heard = self.run(async move |node: &Node, place: &mut RankEnds| {
            let each = vec![said.clone(); node.nodes() as usize];
            Ok(place.together.all_to_all(node, each).await?)
        })?;
        heard
            .iter()
            .map(|said| serde_json::from_slice(said).map_err(|_| foreign()))
            .collect()
    }

    /// This rank's result, if all have one; else the first failure.
    ///
    /// # Errors
    /// The first rank's failure.
    pub fn agree<T>(&mut self, result: Result<T, CliFailure>) -> Result<T, CliFailure> {
        let told = result
            .as_ref()
            .map_or_else(|failure| json!(failure.message), |_| Value::Null);
        let all = self.tell(&told)?;
        let result = result?;
        match all
            .iter()
            .enumerate()
            .find_map(|(rank, told)| Some((rank, told.as_str()?)))
        {
            Some((rank, told)) => Err(CliFailure::new("elsewhere", format!("rank {rank}: {told}"))),
            None => Ok(result),
        }
    }

    /// The longest of all ranks' times.
    ///
    /// # Errors
    /// A failure of the network.
    pub fn slowest(&mut self, seconds: f64) -> Result<f64, CliFailure> {
        let all = self.tell(&seconds.into())?;
        Ok(all.iter().filter_map(Value::as_f64).fold(0.0, f64::max))
    }

    /// The sum of all ranks' counts.
    ///
    /// # Errors
    /// A failure of the network.
    pub fn sum(&mut self, count: u64) -> Result<u64, CliFailure> {
        let all = self.tell(&count.into())?;
        Ok(all.iter().filter_map(Value::as_u64).sum())
    }

    /// An exchange of the sort.
    ///
    /// # Errors
    /// Too little memory; a chunk that did not come as it was sent.
    pub fn exchange(&self, load: Load) -> Result<Exchanged, CliFailure> {
        self.run(async move |node: &Node, place: &mut RankEnds| place.alone.run(node, load).await)
    }
}

/// The byte that a rank sends, again and again.
pub fn mark(rank: u32) -> u8 {
    (rank as u8).wrapping_add(1)
}

/// The failure when a rank of another version speaks.
fn foreign() -> CliFailure {
    CliFailure::new(
        "network",
        "cannot understand a message from another rank; run the same version on all ranks",
    )
}
