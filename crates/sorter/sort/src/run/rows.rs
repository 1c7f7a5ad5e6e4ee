//! The lines on top of inputs, and the order of rows, which they decide.

use std::sync::Arc;

use node::Node;
use pipeline::Failure;
use record::rows::{Header, RowCheck};
use record::{Framing, Headed, LineOrder, RowSpec};

use crate::agreement::Agreement;
use crate::error::SortError;
use crate::files::input::header::{Front, body, read_fronts_of};
use crate::job::{ReadOptions, Source};
use crate::records::contents::{Contents, Lines};

/// Rows whose header was read.
pub struct Resolved {
    /// The rows in their order.
    pub contents: Arc<dyn Contents>,
    /// The sources behind their headers.
    pub sources: Vec<Source>,
}

/// Reads the headers of inputs. A row `goes_on` behind a newline inside of quotes, if those are
/// expected.
///
/// # Errors
/// When a source cannot be read, headers differ, or a key has no column.
pub async fn resolve(
    node: &Node,
    headed: &Headed,
    sources: &[Source],
    goes_on: bool,
    reading: &ReadOptions,
) -> Result<Resolved, Failure> {
    let headers = read_headers(node, headed, sources, reading).await?;
    let contents = resolved(headed, &headers, goes_on, sources)?;
    let sources = headers.behind;
    Ok(Resolved { contents, sources })
}

/// The fronts of all sources.
#[derive(Clone, Debug, Default)]
pub(super) struct Headers {
    /// The header of all, or their byte order mark. Sources without a byte have none.
    pub header: Vec<u8>,
    /// The sources behind it.
    pub behind: Vec<Source>,
    /// The most columns of a first row, where there is no header.
    columns: usize,
}

/// Reads the fronts of all sources.
pub(super) async fn read_headers(
    node: &Node,
    headed: &Headed,
    sources: &[Source],
    reading: &ReadOptions,
) -> Result<Headers, Failure> {
    let (mut first, mut all): (Option<Front>, _) = (None, Headers::default());
    for (number, source) in sources.iter().enumerate() {
        if headed.head().is_none() && is_gone(node, source).await {
            all.behind.push(source.clone());
            continue;
        }
        let reading = reading.of_input(number);
        let (fronts, rest) = read_fronts_of(node, source, headed, &reading).await?;
        all.behind.push(rest);
        for front in fronts {
            all.columns = all.columns.max(front.columns);
            match &first {
                _ if front.header.is_empty() => {}
                None => first = Some(front),
                Some(first) if !is_same(headed, &first.header, &front.header) => {
                    return Err(differs(&front.file, &name(&first.file)).into());
                }
                Some(_) => {}
            }
        }
    }
    all.header = first.map_or(Vec::new(), |first| first.header);
    Ok(all)
}

/// Whether two headers are the same, but for marked lines that one of them lacks.
fn is_same(headed: &Headed, one: &[u8], other: &[u8]) -> bool {
    let lacks_marks =
        |header: &[u8]| headed.names(header).len() + headed.mark_of(header) == header.len();
    let is_named = headed.head().lines() == 1 && (lacks_marks(one) || lacks_marks(other));
    body(one) == body(other) || is_named && body(headed.names(one)) == body(headed.names(other))
}

/// Whether a file is not there. A sort that goes on may not need it; any other says so when it opens
/// it.
async fn is_gone(node: &Node, source: &Source) -> bool {
    match source.path() {
        Some(path) => node.metadata(path).await.is_err(),
        None => false,
    }
}

/// The header of all ranks, which must be the same where ranks have inputs of their own.
pub(super) async fn same_header(
    node: &Node,
    headed: &Headed,
    own: Result<Headers, Failure>,
    agreement: &mut Agreement,
) -> Result<Headers, Failure> {
    let told = own.map(|own| (own.clone(), own.header));
    let (own, all) = agreement.agree_and_tell(node, told).await?;
    let mut ranks = (0..).zip(all);
    let Some((rank, first)) = ranks.find(|(_, header)| !header.is_empty()) else {
        return Ok(own);
    };
    let has_one = own.behind.iter().find(|source| source.header_bytes() > 0);
    let same = match has_one.filter(|_| !is_same(headed, &first, &own.header)) {
        Some(source) => Err(differs(source, &format!("rank {rank}")).into()),
        None => Ok(()),
    };
    agreement.agree(node, same).await?;
    Ok(Headers {
        header: first,
        ..own
    })
}

fn differs(source: &Source, other: &str) -> SortError {
    let what = format!("its header differs from that of {other}; all inputs have the same header");
    header_error(source, what)
}

/// Records behind their header, rows in the order that it decides.
pub(super) fn resolved(
    headed: &Headed,
    headers: &Headers,
    goes_on: bool,
    sources: &[Source],
) -> Result<Arc<dyn Contents>, SortError> {
    let rows = match headed {
        Headed::Rows(rows) => rows,
        Headed::Lines {
            order,
            keep,
            totals,
            ..
        } => {
            let lines = Lines::new(order.clone()).under(headers.header.clone());
            return Ok(Arc::new(lines.keeping(*keep).summing(totals)));
        }
    };
    let framing = if goes_on {
        rows.dialect.framing()
    } else {
        Framing::Delimited(b'\n')
    };
    let names = headed.names(&headers.header);
    let lines = lines_of(rows, (headers, names), framing);
    let lines = lines.map_err(|what| header_error(&sources[0], what.to_string()))?;
    Ok(Arc::new(lines))
}

fn lines_of(
    rows: &RowSpec,
    (headers, names): (&Headers, &[u8]),
    framing: Framing,
) -> Result<Lines, Box<dyn std::error::Error>> {
    // Without a byte there is no row to sort.
    let is_empty = headers.header.is_empty();
    let names = if rows.has_header() && !is_empty {
        Some(Header::parse(rows.dialect, body(names))?)
    } else {
        None
    };
    let order = rows.order(names.as_ref())?;
    let check = RowCheck::new(&order, names.as_ref()).beside(headers.columns);
    let totals = rows.totals(&order, names.as_ref())?;
    let order = LineOrder {
        framing,
        ..LineOrder::rows(order)
    };
    let lines = Lines::rows(order, check).under(headers.header.clone());
    Ok(lines.keeping(rows.keep).summing(&totals))
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

#[cfg(test)]
mod tests {
    use record::{Given, RecordSpec};

    use super::*;

    #[test]
    fn headers_are_the_same_but_for_marked_lines() {
        let headed = |words: &[&str], format: &str| {
            let spec = RecordSpec::new(&Given {
                format: format.to_owned(),
                head: words.iter().map(|&word| word.to_owned()).collect(),
                ..Given::default()
            });
            spec.unwrap().headed().unwrap().clone()
        };
        for (words, one, other, is) in [
            (&["2"][..], &b"a\nb\n"[..], &b"a\nb\n"[..], true),
            (&["2"], b"a\nb\n", b"a\nc\n", false),
            (&["#", "1"], b"# x\nb\n", b"b\n", true),
            (&["#", "1"], b"# x\nb\n", b"# y\nb\n", false),
            (&["#", "1"], b"# x\nb\n", b"c\n", false),
        ] {
            for format in ["lines", "csv"] {
                let headed = headed(words, format);
                assert_eq!(is_same(&headed, one, other), is, "{words:?} {format}");
            }
        }
    }
}
