//! The order of rows, which their header decides.

use std::sync::Arc;

use node::Node;
use pipeline::Failure;
use record::rows::{Header, RowCheck, RowOrder};
use record::{Framing, LineOrder};

use crate::agreement::Agreement;
use crate::error::SortError;
use crate::files::input::header::{body, read_headers_of};
use crate::job::{Reading, Rows, Source};
use crate::records::contents::{Contents, Lines};

/// Rows whose header was read.
pub struct Resolved {
    /// The rows in their order.
    pub contents: Arc<dyn Contents>,
    /// The sources behind their headers.
    pub sources: Vec<Source>,
}

/// Reads the headers of rows. A row `goes_on` behind a newline inside of quotes, if those are
/// expected.
///
/// # Errors
/// When a source cannot be read, headers differ, or a key has no column.
pub async fn resolve(
    node: &Node,
    rows: &Rows,
    sources: &[Source],
    goes_on: bool,
    reading: Reading,
) -> Result<Resolved, Failure> {
    let (header, behind) = read_headers(node, rows, sources, reading).await?;
    Ok(Resolved {
        contents: contents_of(rows, header, goes_on, sources)?,
        sources: behind,
    })
}

/// The header of all sources, and the sources behind it. Sources without a byte have none.
pub(super) async fn read_headers(
    node: &Node,
    rows: &Rows,
    sources: &[Source],
    reading: Reading,
) -> Result<(Vec<u8>, Vec<Source>), Failure> {
    if !rows.has_header {
        return Ok((Vec::new(), sources.to_vec()));
    }
    let framing = rows.dialect.framing();
    let (mut first, mut behind): (Option<(Source, Vec<u8>)>, _) = (None, Vec::new());
    for source in sources {
        let (headers, rest) = read_headers_of(node, source, framing, reading).await?;
        behind.push(rest);
        for (file, header) in headers {
            match &first {
                _ if header.is_empty() => {}
                None => first = Some((file, header)),
                Some((other, names)) if body(names) != body(&header) => {
                    return Err(differs(&file, &name(other)).into());
                }
                Some(_) => {}
            }
        }
    }
    Ok((first.map_or(Vec::new(), |(_, header)| header), behind))
}

/// The header of all ranks, which must be the same where ranks have inputs of their own.
pub(super) async fn same_header(
    node: &Node,
    own: Result<(Vec<u8>, Vec<Source>), Failure>,
    agreement: &mut Agreement,
) -> Result<(Vec<u8>, Vec<Source>), Failure> {
    let told = own.map(|own| (own.clone(), own.0));
    let ((header, sources), all) = agreement.agree_and_tell(node, told).await?;
    let mut ranks = (0..).zip(all);
    let Some((rank, first)) = ranks.find(|(_, header)| !header.is_empty()) else {
        return Ok((header, sources));
    };
    let has_one = sources.iter().find(|source| source.header_bytes() > 0);
    let same = match has_one.filter(|_| body(&first) != body(&header)) {
        Some(source) => Err(differs(source, &format!("rank {rank}")).into()),
        None => Ok(()),
    };
    agreement.agree(node, same).await?;
    Ok((first, sources))
}

fn differs(source: &Source, other: &str) -> SortError {
    header_error(source, format!("its header differs from that of {other}"))
}

/// Rows in the order that their header decides.
pub(super) fn contents_of(
    rows: &Rows,
    header: Vec<u8>,
    goes_on: bool,
    sources: &[Source],
) -> Result<Arc<dyn Contents>, SortError> {
    let framing = match goes_on {
        true => rows.dialect.framing(),
        false => Framing::Delimited(b'\n'),
    };
    let lines = lines_of(rows, header, framing);
    let lines = lines.map_err(|what| header_error(&sources[0], what.to_string()))?;
    Ok(match rows.unique {
        true => Arc::new(lines.unique()),
        false => Arc::new(lines),
    })
}

fn lines_of(
    rows: &Rows,
    header: Vec<u8>,
    framing: Framing,
) -> Result<Lines, Box<dyn std::error::Error>> {
    // Without a byte there is no row to sort.
    let is_empty = rows.has_header && header.is_empty();
    let names = match rows.has_header && !is_empty {
        true => Some(Header::parse(rows.dialect, body(&header))?),
        false => None,
    };
    let keys = if is_empty { &[][..] } else { &rows.keys };
    let order = RowOrder::new(rows.dialect, names.as_ref(), keys, rows.ties)?;
    let check = RowCheck::new(&order, names.as_ref());
    let order = LineOrder {
        framing,
        ..LineOrder::rows(order)
    };
    Ok(Lines::rows(order, check, header))
}

fn header_error(source: &Source, what: String) -> SortError {
    let file = name(source).into();
    SortError::Header { file, what }
}

fn name(source: &Source) -> String {
    source
        .path()
        .map_or("-".to_owned(), |path| path.display().to_string())
}
