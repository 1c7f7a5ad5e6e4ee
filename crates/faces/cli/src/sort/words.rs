//! The words of a command line as getopt reads them, which is how scripts write those of sort.
//!
//! ```text
//! -rnk2,2 -t= +1 -2 in       ->       -r -n -k 2,2 -t = --key "obsolete:+1 -2" in
//! ```
//!
//! The parser of the other commands reads `-t=` as an empty separator, and has no word for keys in
//! the old form. So bundles are taken apart first, and each value becomes a word of its own.

use std::ffi::OsString;
use std::iter::Peekable;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::vec::IntoIter;

use clap::{Arg, Command};
use record::OBSOLETE;
use record::text::TextKey;

/// The words of `gristmill sort ...` with each option on its own. `sort` is the command with its
/// options.
pub(crate) fn of_getopt(words: Vec<OsString>, sort: &Command) -> Vec<OsString> {
    let old_keys = sorts_lines(&words);
    let mut words = words.into_iter();
    let plain = words.by_ref().take(2).collect();
    let mut reader = Reader {
        sort,
        old_keys,
        words: words.peekable(),
        plain,
    };
    reader.read();
    reader.plain
}

/// Whether records are lines: other formats have no keys in the old form, but may have inputs whose
/// names look like one.
fn sorts_lines(words: &[OsString]) -> bool {
    let mut format = None;
    for (at, word) in words.iter().enumerate() {
        match word.as_bytes().strip_prefix(b"--format") {
            Some([]) => format = words.get(at + 1).map(|next| next.as_bytes()),
            Some([b'=', value @ ..]) => format = Some(value),
            _ => {}
        }
    }
    format.is_none_or(|format| format == b"lines")
}

struct Reader<'a> {
    sort: &'a Command,
    old_keys: bool,
    words: Peekable<IntoIter<OsString>>,
    plain: Vec<OsString>,
}

impl Reader<'_> {
    fn read(&mut self) {
        while let Some(word) = self.words.next() {
            match word.as_bytes() {
                b"--" => {
                    self.plain.push(word);
                    self.plain.extend(self.words.by_ref());
                }
                [b'-', b'-', long @ ..] => {
                    let takes_next = !long.contains(&b'=') && self.takes_value(long);
                    self.plain.push(word);
                    if takes_next {
                        self.plain.extend(self.words.next());
                    }
                }
                [b'-', bundle @ ..] if !bundle.is_empty() => self.bundle(bundle),
                [b'+', ..] if self.old_keys => self.old_key(word),
                _ => self.plain.push(word),
            }
        }
    }

    /// Whether the value of a long option, which may be abbreviated, is the next word.
    fn takes_value(&self, long: &[u8]) -> bool {
        let begins = |name: &str| name.as_bytes().starts_with(long);
        let is_named = |arg: &&Arg| {
            let mut names = arg.get_all_aliases().unwrap_or_default();
            names.extend(arg.get_long());
            names.into_iter().any(begins)
        };
        let takes = |arg: &Arg| arg.get_action().takes_values() && !arg.is_require_equals_set();
        let mut named = self.sort.get_arguments().filter(is_named);
        named.next().is_some_and(takes)
    }

    /// Short options in one word; the last may have its value there.
    fn bundle(&mut self, bundle: &[u8]) {
        for (at, &letter) in bundle.iter().enumerate() {
            let short = char::from(letter);
            let mut known = self.sort.get_arguments();
            let Some(arg) = known.find(|arg| arg.get_short() == Some(short)) else {
                // The parser says what is wrong with it.
                self.push(&[b"-", &bundle[at..]]);
                return;
            };
            self.push(&[b"-", &[letter]]);
            if !arg.get_action().takes_values() || arg.is_require_equals_set() {
                continue;
            }
            match &bundle[at + 1..] {
                [] => self.plain.extend(self.words.next()),
                // A size never begins so; people write it.
                [b'=', value @ ..] if letter == b'S' => self.push(&[value]),
                value => self.push(&[value]),
            }
            return;
        }
    }

    /// `+POS1` with the `-POS2` that may follow, or an input of that name.
    fn old_key(&mut self, word: OsString) {
        let is_key = |plus: &&str| TextKey::obsolete(plus, None).is_ok();
        let Some(plus) = word.to_str().filter(is_key) else {
            return self.plain.push(word);
        };
        let is_end = |word: &OsString| matches!(word.as_bytes(), [b'-', b'0'..=b'9', ..]);
        let mut key = format!("{OBSOLETE}{plus}");
        if let Some(minus) = self.words.next_if(is_end) {
            key += " ";
            key += &minus.to_string_lossy();
        }
        self.plain.push("--key".into());
        self.plain.push(key.into());
    }

    fn push(&mut self, parts: &[&[u8]]) {
        self.plain.push(OsString::from_vec(parts.concat()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Args;

    fn plain(line: &str) -> String {
        let words = ["gristmill", "sort"].into_iter();
        let words = words.chain(line.split_whitespace()).map(OsString::from);
        let sort = super::super::Arguments::augment_args(Command::new("sort"));
        let plain = of_getopt(words.collect(), &sort);
        let plain: Vec<&str> = plain[2..].iter().filter_map(|word| word.to_str()).collect();
        plain.join("|")
    }

    #[test]
    fn bundles_are_taken_apart() {
        for (line, expected) in [
            ("-rnk2 a", "-r|-n|-k|2|a"),
            ("-k 2,2nr -t, a", "-k|2,2nr|-t|,|a"),
            ("-t= -o=x -S=1G", "-t|=|-o|=x|-S|1G"),
            ("-cu - -", "-c|-u|-|-"),
            ("-rxn a", "-r|-xn|a"),
            ("-- -r +1", "--|-r|+1"),
            ("--key +1 --rev +1", "--key|+1|--rev|--key|obsolete:+1"),
            ("+1 -2 +3b +x", "--key|obsolete:+1 -2|--key|obsolete:+3b|+x"),
            ("--format fixed:3 +1", "--format|fixed:3|+1"),
            ("-o -r -t -- -n", "-o|-r|-t|--|-n"),
        ] {
            assert_eq!(plain(line), expected, "{line}");
        }
    }
}
