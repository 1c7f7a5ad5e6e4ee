//! A compressed file, written front to back on several cores: zstd as one frame, others in members.
//!
//! | format | level | members | why |
//! |---|---|---|---|
//! | zstd | 3 | | its default: compresses about as fast as a disk writes |
//! | gzip | 4 | 1 MiB | half the time of its default, for a few per cent more bytes |
//! | lz4 | its fast one | 1 MiB | the format is for speed |
//! | bzip2 | 9 | 900 kB | its default, whose blocks a member has one of; lower levels save memory, not time |
//! | xz | 1 | 1 MiB | a fifth of the time and a tenth of the memory of its default |
//!
//! Each frame or member ends with a checksum of its contents.

mod members;

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(feature = "lz4")]
use lz4_flex::frame::{BlockSize, FrameEncoder, FrameInfo};
use node::{CodingMemory, Compress, Compression};
#[cfg(feature = "zstd")]
use zstd::stream::raw::CParameter;

use crate::damaged::Damaged;
use members::Members;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

const ZSTD_LEVEL: i32 = 3;
const GZIP_LEVEL: u32 = 4;
const BZIP2_LEVEL: u32 = 9;
const XZ_LEVEL: u32 = 1;

/// Contents of a member at most: many windows of gzip, one block of lz4, the dictionary of that level of xz.
const MEMBER: usize = 1 << 20;
const BZIP2_MEMBER: usize = 900_000;

/// Workers may take this part of the memory limit.
const WORKERS_SHARE: u64 = 8;

/// Contents that a worker of zstd compresses at a time, and its window. Each takes part of the
/// input's and the output's memory, and the worker's tables.
const ZSTD_JOB: u64 = 2 * MIB;
const ZSTD_WINDOW_LOG: u32 = 20;
const ZSTD_WORKER: u64 = 7 * MIB;
const ZSTD_FIXED: u64 = 6 * MIB;

/// Without workers.
const ZSTD_ALONE: u64 = 4 * MIB;

/// A compressor. If it is dropped before its end, the file stays cut short: no library may end the
/// data of a sort that failed.
pub struct Encoder<W: Write> {
    /// None once it has ended.
    stream: Option<Box<dyn Stream<Gate<W>> + Send>>,
    is_open: Arc<AtomicBool>,
}

impl<W: Write> Drop for Encoder<W> {
    fn drop(&mut self) {
        self.is_open.store(false, Ordering::Relaxed);
    }
}

/// The way to the output, until it is closed.
struct Gate<W> {
    out: W,
    is_open: Arc<AtomicBool>,
}

impl<W: Write> Write for Gate<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_open.load(Ordering::Relaxed) {
            self.out.write(bytes)
        } else {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write + Send + 'static> Encoder<W> {
    /// A compressor into `out`.
    ///
    /// # Errors
    /// When the library refuses its settings, or there is no memory.
    pub fn new(how: Compress, out: W) -> io::Result<Encoder<W>> {
        let is_open = Arc::new(AtomicBool::new(true));
        let out = Gate {
            out,
            is_open: Arc::clone(&is_open),
        };
        let stream: Box<dyn Stream<Gate<W>> + Send> = match how.format {
            #[cfg(feature = "gzip")]
            Compression::Gzip => Box::new(Members::new(out, (gzip, MEMBER), workers(how))?),
            #[cfg(feature = "zstd")]
            Compression::Zstd => Box::new(zstd(how, out)?),
            #[cfg(feature = "lz4")]
            Compression::Lz4 => Box::new(Members::new(out, (lz4, MEMBER), workers(how))?),
            #[cfg(feature = "bzip2")]
            Compression::Bzip2 => Box::new(Members::new(out, (bzip2, BZIP2_MEMBER), workers(how))?),
            #[cfg(feature = "xz")]
            Compression::Xz => Box::new(Members::new(out, (xz, MEMBER), workers(how))?),
            #[allow(unreachable_patterns, reason = "where all formats are built")]
            format => return Err(Damaged::not_built(format)),
        };
        Ok(Encoder {
            stream: Some(stream),
            is_open,
        })
    }

    /// Compresses all of `contents`.
    ///
    /// # Errors
    /// When `out` refuses.
    pub fn write(&mut self, contents: &[u8]) -> io::Result<()> {
        let stream = self.stream.as_mut().expect("it has not ended");
        stream.write_all(contents)
    }

    /// Ends the data, and returns what it was written to.
    ///
    /// # Errors
    /// When `out` refuses.
    pub fn end(mut self) -> io::Result<W> {
        let stream = self.stream.take().expect("it has not ended");
        Ok(stream.end()?.out)
    }
}

/// Memory that a compressor takes.
pub fn encoder_memory(how: Compress) -> CodingMemory {
    let (fixed, each, alone) = memory_of(how.format);
    CodingMemory {
        fixed: 0,
        from: 0,
        share: WORKERS_SHARE,
        least: alone,
        most: fixed + how.cores as u64 * each,
    }
}

/// Memory with workers, of each worker, and without workers.
fn memory_of(format: Compression) -> (u64, u64, u64) {
    // A member that is filled, one that waits for a worker, and for each worker one, with its bytes
    // compressed: no more than it has, and a little.
    let members = |member: usize, state: u64| {
        let member = member as u64 + member as u64 / 8;
        (2 * member, 2 * member + state, 2 * member + state)
    };
    match format {
        Compression::Zstd => (ZSTD_FIXED, ZSTD_WORKER, ZSTD_ALONE),
        Compression::Gzip => members(MEMBER, MIB / 2),
        // A block, and as much for the compressed one.
        Compression::Lz4 => members(MEMBER, 3 * MIB),
        // Eight bytes for each byte of a block of 900 KB, and a little.
        Compression::Bzip2 => members(BZIP2_MEMBER, 8 * MIB),
        #[cfg(feature = "xz")]
        Compression::Xz => {
            let options = lzma_rust2::LzmaOptions::with_preset(XZ_LEVEL);
            let state = u64::from(options.get_memory_usage()) * KIB + MIB;
            members(MEMBER, state)
        }
        #[cfg(not(feature = "xz"))]
        Compression::Xz => members(MEMBER, MIB),
    }
}

/// Workers that memory allows; with one core there is none.
fn workers(how: Compress) -> usize {
    let (fixed, each, _) = memory_of(how.format);
    let room = (how.memory_bytes / WORKERS_SHARE).saturating_sub(fixed);
    let workers = (how.cores as u64).min(room / each);
    if workers < 2 { 0 } else { workers as usize }
}

#[cfg(feature = "gzip")]
fn gzip(contents: &[u8]) -> io::Result<Vec<u8>> {
    let level = flate2::Compression::new(GZIP_LEVEL);
    let mut member = flate2::write::GzEncoder::new(Vec::new(), level);
    member.write_all(contents)?;
    member.finish()
}

#[cfg(feature = "lz4")]
fn lz4(contents: &[u8]) -> io::Result<Vec<u8>> {
    let frame = FrameInfo::new()
        .block_size(BlockSize::Max1MB)
        .content_checksum(true);
    let mut member = FrameEncoder::with_frame_info(frame, Vec::new());
    member.write_all(contents)?;
    Ok(member.finish()?)
}

#[cfg(feature = "bzip2")]
fn bzip2(contents: &[u8]) -> io::Result<Vec<u8>> {
    let level = bzip2::Compression::new(BZIP2_LEVEL);
    let mut member = bzip2::write::BzEncoder::new(Vec::new(), level);
    member.write_all(contents)?;
    member.finish()
}

#[cfg(feature = "xz")]
fn xz(contents: &[u8]) -> io::Result<Vec<u8>> {
    let options = lzma_rust2::XzOptions::with_preset(XZ_LEVEL);
    let mut member = lzma_rust2::XzWriter::new(Vec::new(), options)?;
    member.write_all(contents)?;
    member.finish()
}

#[cfg(feature = "zstd")]
fn zstd<W: Write>(how: Compress, out: W) -> io::Result<zstd::stream::write::Encoder<'static, W>> {
    let mut stream = zstd::stream::write::Encoder::new(out, ZSTD_LEVEL)?;
    stream.include_checksum(true)?;
    stream.window_log(ZSTD_WINDOW_LOG)?;
    let workers = workers(how);
    if workers > 0 {
        stream.multithread(workers as u32)?;
        stream.set_parameter(CParameter::JobSize(ZSTD_JOB as u32))?;
    }
    Ok(stream)
}

/// A library's compressor.
trait Stream<W>: Write {
    fn end(self: Box<Self>) -> io::Result<W>;
}

#[cfg(feature = "zstd")]
impl<W: Write> Stream<W> for zstd::stream::write::Encoder<'static, W> {
    fn end(self: Box<Self>) -> io::Result<W> {
        self.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_cores_bound_the_workers() {
        for format in Compression::ALL {
            let (fixed, each, _) = memory_of(format);
            let allowed = |cores, memory_bytes| {
                workers(Compress {
                    format,
                    cores,
                    memory_bytes,
                })
            };
            for number in 2..7 {
                let enough = WORKERS_SHARE * (fixed + number as u64 * each);
                assert_eq!(allowed(16, enough), number, "{}", format.name());
                let fewer = if number == 2 { 0 } else { number - 1 };
                assert_eq!(allowed(16, enough - 1), fewer, "{}", format.name());
                assert_eq!(allowed(2, enough), 2, "{}", format.name());
            }
            assert_eq!(allowed(1, u64::MAX), 0, "{}", format.name());
        }
    }
}
