//! A compressed file, written front to back as one frame.
//!
//! | format | level | why |
//! |---|---|---|
//! | zstd | 3, on several cores | its default: compresses about as fast as a disk writes |
//! | gzip | 4 | half the time of its default, for a few per cent more bytes |
//! | lz4 | its fast one | the format is for speed |
//! | bzip2 | 9 | its default; lower levels save memory, not time |
//! | xz | 1 | a fifth of the time and a tenth of the memory of its default |
//!
//! Each frame ends with a checksum of the contents.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(feature = "lz4")]
use lz4_flex::frame::{BlockSize, FrameEncoder, FrameInfo};
use node::{CodingMemory, Compress, Compression};
#[cfg(feature = "zstd")]
use zstd::stream::raw::CParameter;

use crate::damaged::Damaged;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

const ZSTD_LEVEL: i32 = 3;
const GZIP_LEVEL: u32 = 4;
const BZIP2_LEVEL: u32 = 9;
const XZ_LEVEL: u32 = 1;

/// Workers of zstd may take this part of the memory limit.
const ZSTD_SHARE: u64 = 8;

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
            Compression::Gzip => {
                let level = flate2::Compression::new(GZIP_LEVEL);
                Box::new(flate2::write::GzEncoder::new(out, level))
            }
            #[cfg(feature = "zstd")]
            Compression::Zstd => Box::new(zstd(how, out)?),
            #[cfg(feature = "lz4")]
            Compression::Lz4 => {
                let frame = FrameInfo::new()
                    .block_size(BlockSize::Max1MB)
                    .content_checksum(true);
                Box::new(FrameEncoder::with_frame_info(frame, out))
            }
            #[cfg(feature = "bzip2")]
            Compression::Bzip2 => {
                let level = bzip2::Compression::new(BZIP2_LEVEL);
                Box::new(bzip2::write::BzEncoder::new(out, level))
            }
            #[cfg(feature = "xz")]
            Compression::Xz => {
                let options = lzma_rust2::XzOptions::with_preset(XZ_LEVEL);
                Box::new(lzma_rust2::XzWriter::new(out, options)?)
            }
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
    let fixed = |fixed| CodingMemory {
        fixed,
        ..CodingMemory::default()
    };
    match how.format {
        Compression::Gzip => fixed(MIB),
        Compression::Zstd => CodingMemory {
            fixed: 0,
            from: 0,
            share: ZSTD_SHARE,
            least: ZSTD_ALONE,
            most: ZSTD_FIXED + how.cores as u64 * ZSTD_WORKER,
        },
        // A block, and as much for the compressed one.
        Compression::Lz4 => fixed(3 * MIB),
        // Eight bytes for each byte of a block of 900 KB, and a little.
        Compression::Bzip2 => fixed(8 * MIB),
        #[cfg(feature = "xz")]
        Compression::Xz => {
            let options = lzma_rust2::LzmaOptions::with_preset(XZ_LEVEL);
            fixed(u64::from(options.get_memory_usage()) * KIB + MIB)
        }
        #[cfg(not(feature = "xz"))]
        Compression::Xz => fixed(MIB),
    }
}

/// Workers that memory allows; with one core there is none.
fn zstd_workers(how: Compress) -> u32 {
    let room = (how.memory_bytes / ZSTD_SHARE).saturating_sub(ZSTD_FIXED);
    let workers = (how.cores as u64).min(room / ZSTD_WORKER);
    if workers < 2 { 0 } else { workers as u32 }
}

#[cfg(feature = "zstd")]
fn zstd<W: Write>(how: Compress, out: W) -> io::Result<zstd::stream::write::Encoder<'static, W>> {
    let mut stream = zstd::stream::write::Encoder::new(out, ZSTD_LEVEL)?;
    stream.include_checksum(true)?;
    stream.window_log(ZSTD_WINDOW_LOG)?;
    let workers = zstd_workers(how);
    if workers > 0 {
        stream.multithread(workers)?;
        stream.set_parameter(CParameter::JobSize(ZSTD_JOB as u32))?;
    }
    Ok(stream)
}

/// A library's compressor.
trait Stream<W>: Write {
    fn end(self: Box<Self>) -> io::Result<W>;
}

#[cfg(feature = "gzip")]
impl<W: Write> Stream<W> for flate2::write::GzEncoder<W> {
    fn end(self: Box<Self>) -> io::Result<W> {
        self.finish()
    }
}

#[cfg(feature = "zstd")]
impl<W: Write> Stream<W> for zstd::stream::write::Encoder<'static, W> {
    fn end(self: Box<Self>) -> io::Result<W> {
        self.finish()
    }
}

#[cfg(feature = "lz4")]
impl<W: Write> Stream<W> for FrameEncoder<W> {
    fn end(self: Box<Self>) -> io::Result<W> {
        Ok(self.finish()?)
    }
}

#[cfg(feature = "bzip2")]
impl<W: Write> Stream<W> for bzip2::write::BzEncoder<W> {
    fn end(self: Box<Self>) -> io::Result<W> {
        self.finish()
    }
}

#[cfg(feature = "xz")]
impl<W: Write> Stream<W> for lzma_rust2::XzWriter<W> {
    fn end(self: Box<Self>) -> io::Result<W> {
        self.finish()
    }
}
