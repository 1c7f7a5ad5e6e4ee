//! Ends of records: the same in pieces as at once, and as a plain reading of the format has them.

#![no_main]

use libfuzzer_sys::fuzz_target;
use record::{Framing, Prefix, Quoting};

const FORMATS: [&str; 7] = [
    "varlen:u8",
    "varlen:u16le",
    "varlen:u32be",
    "varlen:u64le",
    "kv:u16le",
    "kv:u64be",
    "rdw",
];

fn framing(choice: u8, other: u8) -> Framing {
    match choice % 12 {
        0 => Framing::Fixed(usize::from(other).max(1)),
        1 => Framing::Delimited(other),
        2 => Framing::Quoted(Quoting::CSV),
        3 => Framing::Quoted(Quoting {
            separator: b';',
            quote: b'\'',
        }),
        number => {
            let format = FORMATS[usize::from(number) % FORMATS.len()];
            Framing::Prefixed(format.parse::<Prefix>().expect("a known format"))
        }
    }
}

/// Bytes of the row at the front, byte by byte.
fn row(bytes: &[u8], quoting: Quoting) -> Option<usize> {
    let (mut begins, mut quoted, mut at) = (true, false, 0);
    while at < bytes.len() {
        let byte = bytes[at];
        match byte {
            _ if quoted && byte == quoting.quote && bytes.get(at + 1) == Some(&byte) => at += 1,
            _ if quoted => quoted = byte != quoting.quote,
            b'\n' => return Some(at + 1),
            _ => quoted = begins && byte == quoting.quote,
        }
        begins = !quoted && byte == quoting.separator;
        at += 1;
    }
    None
}

fuzz_target!(|data: &[u8]| {
    let [choice, other, piece, bytes @ ..] = data else {
        return;
    };
    let framing = framing(*choice, *other);
    let (records, length) = framing.whole(bytes);
    assert!(length <= bytes.len());
    let whole: Vec<&[u8]> = framing.split(&bytes[..length]).collect();
    assert_eq!(whole.len(), records);
    assert_eq!(whole.concat(), &bytes[..length]);
    let mut ends = Vec::new();
    for record in &whole {
        ends.push(ends.last().unwrap_or(&0) + record.len());
        assert!(record.len() >= framing.shortest());
        assert!(framing.body(record).len() <= record.len());
        assert!(framing.is_front(&framing.front(record, usize::from(*piece))));
    }
    if let Framing::Quoted(quoting) = framing {
        let mut at = 0;
        while let Some(end) = row(&bytes[at..], quoting) {
            at += end;
            assert!(ends.contains(&at), "a row ends at {at}: {ends:?}");
        }
        assert_eq!(at, length);
    }
    let (mut scanner, mut at, mut found) = (framing.scanner(), 0, Vec::new());
    'pieces: for piece in bytes.chunks(usize::from(*piece).max(1)) {
        let mut begin = 0;
        loop {
            match scanner.end(&piece[begin..]) {
                Ok(Some(end)) => {
                    begin += end;
                    found.push(at + begin);
                }
                Ok(None) => break,
                // No record begins there, so the whole ones end before.
                Err(_) => break 'pieces,
            }
        }
        at += piece.len();
    }
    assert_eq!(found, ends, "pieces change nothing");
    let last = framing.scanner().last_end(bytes);
    assert!(
        last.is_err() || last == Ok(length),
        "{last:?} is not {length}"
    );
});
