//! `gristmill-bench exchange`: the rate of links between ranks, by the way they are used.
//!
//! ```text
//! alltoallv                 MPI's own exchange of all with all, once for everything: the floor
//! alltoallv in pieces       the same, a chunk for each rank at a time
//! streams, rounds           the sort's two exchanges over node-mpi, between a source and a sink
//! udp rounds                datagrams in rounds, sent again when they are lost (psort)
//! tcp, one thread           a bounded window; one thread visits all peers (TritonSort, Figure 9) ...
//! tcp, a thread a peer      ... against one for each
//! ```
//!
//! All ranks do the same at the same time; the slowest one's time counts. Every contender carries
//! the same bytes from each rank to each other one, and checks that they came. Nothing goes from a
//! rank to itself. Sockets are opened between the ranks of the job alone.

mod address;
mod datagrams;
mod mpi;
mod ranks;
mod streams;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use sort::ExchangeKind;

use crate::Common;
use crate::race::Race;
use crate::table::{Column, Report, Section};
use address::{Network, Sockets};
use host::job::RankJob;
use mpi::{Alltoallv, of_the_sort};
use ranks::Ranks;
use terminal::ending::failure::{CliFailure, Exit};
use units::{amount, size};

/// Measure the exchange between ranks: the sort's two kinds, MPI_Alltoallv, and plain
/// sockets.
///
/// Start it with mpirun. The ratio is to the time of MPI_Alltoallv. Sockets go over --interface
/// where a host has several addresses.
#[derive(Args)]
pub struct Arguments {
    /// Bytes that each rank sends to each other one [default: 128M]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    size: Option<u64>,
    /// Bytes of a chunk [default: 1M, the largest that the sort uses]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    chunk: Option<u64>,
    /// The TCP receive window of a pair, as far as the system can have it so [default: 16K, as
    /// TritonSort's]
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "16K")]
    window: u64,
    /// The network for sockets, like 10.1.0.0/16 [default: the only one; the loopback on one host]
    #[arg(long, value_name = "CIDR", value_parser = address::network)]
    interface: Option<Network>,
    /// A contender in addition to MPI_Alltoallv, repeatable [default: all]
    #[arg(long = "contender", value_enum, value_name = "NAME")]
    contenders: Vec<Contender>,
    #[command(flatten)]
    pub common: Common,
}

const SIZE: u64 = 128 << 20;
const SMOKE_SIZE: u64 = 1 << 20;

const CHUNK: u64 = 1 << 20;
const SMOKE_CHUNK: u64 = 64 << 10;

/// The sort's smallest chunk; a page is the least that a window can be.
const LEAST_CHUNK: u64 = 16 << 10;
const LEAST_WINDOW: u64 = 4 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Contender {
    #[value(hide = true)]
    Alltoallv,
    /// MPI_Alltoallv of a chunk for each rank at a time
    AlltoallvInPieces,
    /// The sort's exchange of all pairs at once
    Streams,
    /// The sort's exchange in rounds
    Rounds,
    /// Datagrams in rounds, sent again when lost
    UdpRounds,
    /// TCP, one thread that visits all peers, on each side
    TcpOneThread,
    /// TCP, a thread for each peer, on each side
    TcpThreads,
}

impl Contender {
    fn uses_sockets(self) -> bool {
        matches!(
            self,
            Contender::UdpRounds | Contender::TcpOneThread | Contender::TcpThreads
        )
    }

    fn name(self) -> &'static str {
        match self {
            Contender::Alltoallv => "alltoallv",
            Contender::AlltoallvInPieces => "alltoallv in pieces",
            Contender::Streams => "streams",
            Contender::Rounds => "rounds",
            Contender::UdpRounds => "udp rounds",
            Contender::TcpOneThread => "tcp, one thread",
            Contender::TcpThreads => "tcp, a thread a peer",
        }
    }

    fn command(self) -> &'static str {
        match self {
            Contender::Alltoallv => "MPI_Alltoallv",
            Contender::AlltoallvInPieces => "MPI_Alltoallv, a chunk for each rank at a time",
            Contender::Streams => "sort --exchange streams, between a source and a sink",
            Contender::Rounds => "sort --exchange rounds, between a source and a sink",
            Contender::UdpRounds => "UDP, P-1 rounds, lost datagrams sent again",
            Contender::TcpOneThread => {
                "TCP, a thread that sends to all, one that receives from all"
            }
            Contender::TcpThreads => "TCP, a thread for each peer to send, one to receive",
        }
    }
}

/// The bytes that each rank sends to each other one.
#[derive(Clone, Copy, Debug)]
struct Load {
    chunks: u64,
    chunk_bytes: usize,
    window_bytes: usize,
}

impl Load {
    fn bytes(self) -> usize {
        self.chunks as usize * self.chunk_bytes
    }
}

/// Measures; rank 0 tells.
///
/// # Errors
/// No job of ranks; sizes that are too small; a failure of the network, on any rank.
pub fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    let json = arguments.common.json;
    let with_json = |failure: CliFailure| failure.with_json(json);
    let Some(job) = RankJob::join(json).map_err(with_json)? else {
        return Err(with_json(CliFailure::usage(
            "exchange measures what goes between ranks: start it with mpirun, as in \
             `mpirun -n 4 gristmill-bench exchange`",
        )));
    };
    let told = measured(arguments, &job).and_then(|report| {
        if job.is_first() {
            report.tell(json)
        } else {
            Ok(())
        }
    });
    job.leave(told.map(|()| Exit::Done).map_err(with_json))
}

fn load(arguments: &Arguments) -> Result<Load, CliFailure> {
    let common = arguments.common;
    let chunk = common.size(arguments.chunk, CHUNK, SMOKE_CHUNK);
    let bytes = common.size(arguments.size, SIZE, SMOKE_SIZE);
    for (option, given, least) in [
        ("--chunk", chunk, LEAST_CHUNK),
        ("--window", arguments.window, LEAST_WINDOW),
        ("--size", bytes, chunk),
    ] {
        if given < least {
            let message = format!(
                "{option} {given} is too little; give at least {}",
                amount(least)
            );
            return Err(CliFailure::usage(message));
        }
    }
    let load = Load {
        chunks: bytes / chunk,
        chunk_bytes: chunk as usize,
        window_bytes: arguments.window as usize,
    };
    Ok(load)
}

fn measured(arguments: &Arguments, job: &RankJob) -> Result<Report, CliFailure> {
    let mut ranks = Ranks::new(job);
    let load = ranks.agree(load(arguments))?;
    let contenders = arguments.contenders();
    let sockets = if contenders.iter().any(|who| who.uses_sockets()) {
        Some(Sockets::open(&mut ranks, arguments.interface, load)?)
    } else {
        None
    };
    let mut field = Field {
        at_once: ranks.agree(Alltoallv::new(job, load.bytes(), 1))?,
        in_pieces: ranks.agree(Alltoallv::new(job, load.chunk_bytes, load.chunks))?,
        ranks,
        sockets,
        load,
        resent: 0,
    };
    let mut race = Race::new();
    for who in contenders {
        race.enter(who.name(), who.command(), move |field: &mut Field| {
            let seconds = field.time(who)?;
            field.ranks.slowest(seconds)
        });
    }
    let runs = arguments.common.runs;
    let mut rows = race.run(runs, &mut field)?;
    let count = field.ranks.count();
    let bytes = (u64::from(count) - 1) * load.bytes() as u64;
    for row in &mut rows {
        let per_rank = bytes as f64 / row.median() / 1e6;
        row.add(json!({
            "mb_per_s_per_rank": per_rank,
            "mb_per_s": per_rank * f64::from(count),
        }));
    }
    let title = format!(
        "from each of {count} ranks to each other one, {}",
        amount(load.bytes() as u64)
    );
    Ok(Report {
        bench: "exchange",
        facts: field.facts(job, runs)?,
        sections: vec![Section::new(title, (bytes, "byte"), rows).with_columns(&COLUMNS)],
    })
}

impl Arguments {
    /// The floor, and the contenders that are asked for.
    fn contenders(&self) -> Vec<Contender> {
        let asked = &self.contenders;
        let takes_part = |who: &Contender| {
            *who == Contender::Alltoallv || asked.is_empty() || asked.contains(who)
        };
        let all = Contender::value_variants().iter().copied();
        all.filter(takes_part).collect()
    }
}

/// All ways to exchange, ready on this rank.
struct Field {
    ranks: Ranks,
    at_once: Alltoallv,
    in_pieces: Alltoallv,
    /// Open where a contender uses them.
    sockets: Option<Sockets>,
    load: Load,
    /// Datagrams that were lost, in all runs.
    resent: u64,
}

impl Field {
    /// The facts of all rows, after that many runs on all ranks.
    fn facts(&mut self, job: &RankJob, runs: u16) -> Result<Value, CliFailure> {
        let resent = self.ranks.sum(self.resent)?;
        let mut facts = json!({
            "ranks": self.ranks.count(),
            "bytes_per_pair": self.load.bytes(),
            "chunk_bytes": self.load.chunk_bytes,
            "window_bytes": self.load.window_bytes,
            "library": job.library().split(',').next().unwrap_or_default(),
        });
        if let Some(sockets) = &self.sockets {
            facts["addresses"] = sockets.addresses().join(" ").into();
            facts["datagrams_sent_again_a_run"] = (resent / u64::from(runs)).into();
        }
        Ok(facts)
    }

    /// The seconds of an exchange on this rank.
    fn time(&mut self, who: Contender) -> Result<f64, CliFailure> {
        let (load, ranks) = (self.load, &mut self.ranks);
        let sockets = || self.sockets.as_ref().expect("opened for this contender");
        match who {
            Contender::Alltoallv => self.at_once.exchange(ranks),
            Contender::AlltoallvInPieces => self.in_pieces.exchange(ranks),
            Contender::Streams => of_the_sort(ranks, load, ExchangeKind::Streams),
            Contender::Rounds => of_the_sort(ranks, load, ExchangeKind::Rounds),
            Contender::UdpRounds => {
                let (seconds, resent) = datagrams::exchange(ranks, sockets(), load)?;
                self.resent += resent;
                Ok(seconds)
            }
            Contender::TcpOneThread => {
                streams::exchange(ranks, sockets(), (load, streams::Threads::One))
            }
            Contender::TcpThreads => {
                streams::exchange(ranks, sockets(), (load, streams::Threads::EachPeer))
            }
        }
    }
}

const COLUMNS: [Column; 6] = [
    Column("median ms", |_, row| format!("{:.1}", row.median() * 1e3)),
    Column("min ms", |_, row| format!("{:.1}", row.least() * 1e3)),
    Column("max ms", |_, row| format!("{:.1}", row.most() * 1e3)),
    Column("MB/s a rank", |_, row| {
        format!("{:.0}", row.figure("mb_per_s_per_rank"))
    }),
    Column("MB/s in all", |_, row| {
        format!("{:.0}", row.figure("mb_per_s"))
    }),
    Column("of alltoallv", |section, row| {
        format!("{:.2}", section.floor() / row.median())
    }),
];
