//! Values of arguments that take any word, for completions.

/// Formats, as far as they have no numbers of one's own.
const FORMATS: [&str; 13] = [
    "lines",
    "csv",
    "tsv",
    "jsonl",
    "gensort",
    "fixed:",
    "rdw",
    "varlen:u8",
    "varlen:u16le",
    "varlen:u16be",
    "varlen:u32le",
    "varlen:u32be",
    "kv:u32le",
];

/// Languages with an order of their own.
const LOCALES: [&str; 20] = [
    "cs",
    "da",
    "de",
    "de-u-co-phonebk",
    "en",
    "es",
    "et",
    "fi",
    "fr",
    "hu",
    "is",
    "ja",
    "ko",
    "nb",
    "pl",
    "sk",
    "sv",
    "tr",
    "vi",
    "zh",
];

/// The values of an argument, by the names of its command and of itself.
pub(crate) fn values(command: &str, argument: &str) -> Vec<&'static str> {
    match (command, argument) {
        ("sort" | "check" | "explain", "format") => FORMATS.to_vec(),
        ("sort" | "check" | "explain", "locale") => LOCALES.to_vec(),
        #[cfg(feature = "simulator")]
        (_, "machine" | "NAME|FILE") => lab::machines().into_iter().map(|(name, _)| name).collect(),
        #[cfg(feature = "simulator")]
        ("run", "name") | ("report", "names") => lab::experiment::Experiment::names().collect(),
        _ => Vec::new(),
    }
}
