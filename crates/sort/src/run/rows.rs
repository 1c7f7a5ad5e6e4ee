//! The order of rows, which their header decides.

use std::sync::Arc;

use node::Node;
use pipeline::Failure;
use record::rows::{Header, RowCheck, RowOrder};
use record::{Framing, LineOrder};

use crate::error::SortError;
use crate::files::input::header::read_header;
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
    let framing = rows.dialect.framing();
    let (header, behind) = match rows.has_header {
        true => read_headers(node, sources, framing, reading).await?,
        false => (Vec::new(), sources.to_vec()),
    };
    let framing = match goes_on {
        true => framing,
        false => Framing::Delimited(b'\n'),
    };
    let contents = contents_of(rows, header, framing);
    let refused = |what: Box<dyn std::error::Error>| header_error(&sources[0], what.to_string());
    Ok(Resolved {
        contents: contents.map_err(refused)?,
        sources: behind,
    })
}

/// The header of all sources, and the sources behind it. Sources without a byte have none.
async fn read_headers(
    node: &Node,
    sources: &[Source],
    framing: Framing,
    reading: Reading,
) -> Result<(Vec<u8>, Vec<Source>), Failure> {
    let (mut first, mut behind): (Option<(&Source, Vec<u8>)>, _) = (None, Vec::new());
    for source in sources {
        let (header, rest) = read_header(node, source, framing, reading).await?;
        behind.push(rest);
        match &first {
            _ if header.is_empty() => {}
            None => first = Some((source, header)),
            Some((other, names)) if body(names) != body(&header) => {
                let what = format!("its header differs from that of {}", name(other));
                return Err(header_error(source, what).into());
            }
            Some(_) => {}
        }
    }
    Ok((first.map_or(Vec::new(), |(_, header)| header), behind))
}

/// A row without the bytes that end it.
fn body(row: &[u8]) -> &[u8] {
    let row = row.strip_suffix(b"\n").unwrap_or(row);
    row.strip_suffix(b"\r").unwrap_or(row)
}

fn contents_of(
    rows: &Rows,
    header: Vec<u8>,
    framing: Framing,
) -> Result<Arc<dyn Contents>, Box<dyn std::error::Error>> {
    // Without a byte there is no row to sort.
    let is_empty = rows.has_header && header.is_empty();
    let names = match rows.has_header && !is_empty {
        true => Some(Header::parse(rows.dialect, body(&header))?),
        false => None,
    };
    let keys = if is_empty { &[][..] } else { &rows.keys };
    let order = RowOrder::new(rows.dialect, names.as_ref(), keys, rows.ties)?;
    let check = RowCheck::new(&order, names.as_ref());
    let lines = Lines::rows(
        LineOrder {
            framing,
            ..LineOrder::rows(order)
        },
        check,
        header,
    );
    Ok(match rows.unique {
        true => Arc::new(lines.unique()),
        false => Arc::new(lines),
    })
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
