//! Rows: their columns are those of a plain reading, rows that pass the check have an order, and the
//! order is one.

#![no_main]

use std::cmp::Ordering;

use libfuzzer_sys::fuzz_target;
use record::LineOrder;
use record::rows::{Dialect, Header, RowCheck, RowKey, RowOrder};
use record::Ties;

const DIALECTS: [Dialect; 4] = [
    Dialect::CSV,
    Dialect::Tsv,
    Dialect::JsonLines,
    Dialect::Csv {
        separator: b';',
        quote: b'\'',
    },
];

/// The fields of a row, byte by byte; none if quotes are wrong.
fn fields(row: &[u8], separator: u8, quote: Option<u8>) -> Option<Vec<Vec<u8>>> {
    let mut all = vec![Vec::new()];
    let mut rest = row.iter().copied().peekable();
    loop {
        let mut field = Vec::new();
        if quote.is_some() && rest.peek().copied() == quote {
            rest.next();
            loop {
                let byte = rest.next()?;
                match Some(byte) == quote {
                    true if rest.peek().copied() == quote => field.extend(rest.next()),
                    true => break,
                    false => field.push(byte),
                }
            }
        }
        while let Some(byte) = rest.next_if(|&byte| byte != separator) {
            field.push(byte);
        }
        *all.last_mut().expect("a field") = field;
        match rest.next() {
            Some(_) => all.push(Vec::new()),
            None => return Some(all),
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let [choice, rest @ ..] = data else {
        return;
    };
    let dialect = DIALECTS[usize::from(choice & 3)];
    let ties = [Ties::Record, Ties::Position][usize::from(choice >> 2 & 1)];
    let Some(end) = rest.iter().position(|&byte| byte == b'\n') else {
        return;
    };
    let (keys, rest) = (&rest[..end], &rest[end + 1..]);
    let keys = String::from_utf8_lossy(keys);
    let keys: Vec<RowKey> = keys
        .split(' ')
        .take(4)
        .filter_map(|key| key.parse().ok())
        .collect();
    let framing = dialect.framing();
    let (_, length) = framing.whole(rest);
    let mut rows = framing
        .split(&rest[..length])
        .map(|row| &row[..row.len() - 1]);
    let Some(first) = rows.next() else {
        return;
    };
    let header = Header::parse(dialect, first);
    if let (Some(separator), Ok(header)) = (dialect.separator(), &header) {
        let row = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first);
        let row = row.strip_suffix(b"\r").unwrap_or(row);
        let names = fields(row, separator, dialect.quote()).expect("its quotes end");
        let names: Vec<_> = names
            .iter()
            .map(|name| String::from_utf8_lossy(name))
            .collect();
        assert_eq!(header.names().collect::<Vec<_>>(), names);
    }
    let header = header.ok().filter(|_| choice & 8 > 0);
    let Ok(order) = RowOrder::new(dialect, header.as_ref(), &keys, ties) else {
        return;
    };
    let (format, keys) = order.describe();
    let again = RowOrder::parse(&format, &keys, ties)
        .expect("rows")
        .expect("its own words");
    assert_eq!(again.describe(), (format, keys));
    let check = RowCheck::new(&order, header.as_ref());
    let good: Vec<&[u8]> = rows
        .filter(|row| check.check(row).is_ok())
        .take(4)
        .collect();
    if let (Some(separator), Some(columns)) = (dialect.separator(), order.columns()) {
        for row in &good {
            let found = fields(row, separator, dialect.quote()).expect("its quotes end");
            assert_eq!(found.len(), columns, "{:?}", String::from_utf8_lossy(row));
        }
    }
    let text = order.text();
    let lines = LineOrder::rows(order);
    for a in &good {
        let _ = text.explain(a);
        for b in &good {
            let by_compare = text.compare(a, b);
            assert_eq!(by_compare.reverse(), text.compare(b, a));
            let most = text.most_words(a.len().max(b.len())).min(4096);
            let words = (0..most).map(|depth| text.word(a, depth).cmp(&text.word(b, depth)));
            let by_words = words
                .into_iter()
                .find(|it| it.is_ne())
                .unwrap_or(Ordering::Equal);
            assert_eq!(by_compare, by_words, "words decide as the order does");
            let ended = |row: &[u8]| [row, b"\n"].concat();
            assert_eq!(lines.compare(&ended(a), &ended(b)), by_compare);
            for c in &good {
                if by_compare.is_le() && text.compare(b, c).is_le() {
                    assert!(text.compare(a, c).is_le(), "it is transitive");
                }
            }
        }
    }
});
