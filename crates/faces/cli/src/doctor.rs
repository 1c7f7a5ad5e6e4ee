//! `gristmill doctor`: what this machine offers a sort, alone or as a rank of a cluster.

pub(crate) mod measure;
mod mpi;

use std::path::{Path, PathBuf};

use clap::Args;
use node::{DiskError, Filled, Node, Open};
use node_real::{facts_of_memory, open_file_limit};
use pipeline::{Control, Failure};
use serde_json::json;

use host::failure::ended;
use host::machine;
use terminal::ending::failure::{CliFailure, Exit};
use terminal::ending::say;
use terminal::{launcher, progress};
use units::{amount, binary};

const EXAMPLES: &str = "\
Examples:
  gristmill doctor
  gristmill doctor /tmp .     # free space and direct I/O of these directories
  gristmill doctor --measure --seconds 0.2 > my.toml  # for gristmill plan
  gristmill doctor --json";

/// Show what this machine offers a sort.
///
/// That is cores, memory, limits, free space, direct I/O, and MPI for a sort on several hosts.
#[derive(Args)]
#[command(before_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Directories to examine
    #[arg(value_name = "DIR", default_value = ".")]
    directories: Vec<PathBuf>,
    /// Measure the disks of DIR and the stages of a sort, and print a machine file for gristmill plan
    #[arg(long, conflicts_with = "json")]
    measure: bool,
    /// With --measure, a directory for temporary files; repeat it for several [default: those of DIR]
    #[arg(
        short = 'T',
        long = "temporary-directory",
        value_name = "DIR",
        requires = "measure"
    )]
    temporary: Vec<PathBuf>,
    /// With --measure, how long each disk is read, and written: longer than caches of drives hide
    #[arg(long, value_name = "S", default_value_t = measure::SECONDS, value_parser = seconds, requires = "measure")]
    seconds: f64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().unwrap_or(f64::NAN);
    if (0.01..=600.0).contains(&seconds) {
        return Ok(seconds);
    }
    Err("give 0.01 to 600".to_owned())
}

struct Directory {
    path: PathBuf,
    /// Why a sort cannot use it, otherwise.
    offer: Result<Offer, CliFailure>,
}

#[derive(Clone, Copy)]
struct Offer {
    free_bytes: u64,
    direct_io: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, CliFailure> {
    if arguments.measure {
        let (files, temporary) = (&arguments.directories, &arguments.temporary);
        let measured = measure::Measured::new(files, temporary, arguments.seconds)?;
        return say::out(measured.text().trim_end()).map(|()| Exit::Done);
    }
    let paths = arguments.directories.clone();
    let control = Control::default();
    let directories = machine::run(&control, progress::Mode::Never, move |node| {
        let paths = paths.clone();
        async move {
            let mut directories = Vec::new();
            for path in paths {
                let offer = look(&node, &path)
                    .await
                    .map_err(|failure| refusal(failure, &path));
                directories.push(Directory { path, offer });
            }
            Ok(directories)
        }
    })
    .map_err(|failure| failure.with_json(arguments.json))?;
    if arguments.json {
        tell_programs(&directories)?
    } else {
        tell_people(&directories)?
    }
    let refused = directories.into_iter().find_map(|place| place.offer.err());
    refused.map_or(Ok(Exit::Done), Err)
}

/// The failure with the name the user gave instead of the probe's.
fn refusal(failure: Failure, path: &Path) -> CliFailure {
    ended(match failure {
        Failure::Disk(error) => Failure::Disk(DiskError {
            verb: "sort into",
            path: path.to_owned(),
            ..error
        }),
        other => other,
    })
}

async fn look(node: &Node, path: &Path) -> Result<Offer, Failure> {
    let free_bytes = node.space(path).await?;
    let probe = path.join(format!(".gristmill-{:016x}.probe", node.random()));
    let file = node
        .open(
            &probe,
            Open::Create {
                direct: true,
                mode: 0o600,
            },
        )
        .await?;
    let direct_io = write_directly(node, &file, &probe).await;
    node.remove(&probe).await?;
    Ok(Offer {
        free_bytes,
        direct_io: direct_io?,
    })
}

/// Some file systems accept the flag and refuse the writes, so only a write tells.
async fn write_directly(node: &Node, file: &node::File, probe: &Path) -> Result<bool, Failure> {
    const BLOCK_BYTES: usize = 4096;
    let buffers = node.buffers(1, BLOCK_BYTES, Filled::Once);
    let mut buffers = buffers.map_err(|cause| DiskError::new("try", probe, cause))?;
    let buffer = buffers.pop().expect("one was asked for");
    file.write(node, 0, buffer, 0..BLOCK_BYTES)
        .wait(node)
        .await
        .1?;
    Ok(file.is_direct())
}

fn tell_programs(directories: &[Directory]) -> Result<(), CliFailure> {
    let memory = facts_of_memory();
    let mpi = mpi::Mpi::look();
    let places = directories.iter().map(|place| {
        json!({
            "path": place.path.display().to_string(),
            "free_bytes": place.offer.as_ref().ok().map(|offer| offer.free_bytes),
            "direct_io": place.offer.as_ref().ok().map(|offer| offer.direct_io),
            "error": place.offer.as_ref().err().map(|failure| &failure.message),
        })
    });
    let mut value = json!({
        "cores": launcher::cores(),
        "memory_bytes": memory.total_bytes,
        "available_bytes": memory.available_bytes,
        "cgroup_limit_bytes": memory.cgroup_limit_bytes,
        "default_memory_limit_bytes": host::memory::memory_limit(None),
        "open_file_limit": open_file_limit(),
        "directories": places.collect::<Vec<_>>(),
        "mpi": mpi.json(),
    });
    if let Some(failure) = directories
        .iter()
        .find_map(|place| place.offer.as_ref().err())
    {
        value["error"] = failure.to_json()["error"].take();
    }
    say::out(format!("{value:#}"))
}

fn tell_people(directories: &[Directory]) -> Result<(), CliFailure> {
    let memory = facts_of_memory();
    let limit = host::memory::memory_limit(None);
    let cgroup = memory.cgroup_limit_bytes.map_or("none".to_owned(), binary);
    say::out(format!("cores                 {}", launcher::cores()))?;
    say::out(format!(
        "memory                {}",
        binary(memory.total_bytes)
    ))?;
    say::out(format!(
        "  available now       {}",
        binary(memory.available_bytes)
    ))?;
    say::out(format!("  control group limit {cgroup}"))?;
    say::out(format!("  default of -S       {}", binary(limit)))?;
    say::out(format!("open files            {}", open_file_limit()))?;
    for place in directories {
        say::out(place.path.display())?;
        let Ok(offer) = &place.offer else {
            say::out("  cannot be used, see below")?;
            continue;
        };
        let direct = if offer.direct_io {
            "yes"
        } else {
            "no: sorts go through the page cache"
        };
        say::out(format!(
            "  free space          {}",
            amount(offer.free_bytes)
        ))?;
        say::out(format!("  direct I/O          {direct}"))?;
    }
    say::out(mpi::Mpi::look().text())
}
