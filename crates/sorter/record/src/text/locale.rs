//! The order of a language: the Unicode Collation Algorithm with the rules of a locale.
//!
//! ```text
//! text       Öl          öl          Zoo
//! levels     o l | ö | O   o l | ö | o   z o o | ..         letters, then accents, then case
//! de         o o z                                     ö is an o with an accent
//! sv               z ö                                 ö is a letter behind z
//! ```
//!
//! The collator of ICU4X writes a key that compares as bytes (UTS 10, "Form Sort Keys"). Bytes that are
//! not UTF-8 count as U+FFFD; the line keeps them. Text may be equal though its bytes differ, such as a
//! letter with its accent in one character or in two.

use std::fmt;
use std::hash::{Hash, Hasher};

use thiserror::Error;

use super::words::Sink;

#[cfg_attr(not(feature = "collation"), path = "locale/absent.rs")]
mod rules;

use rules::Rules;

/// The most bytes of a key for each byte of its text, with room to spare: the longest expansion, of
/// U+FDFA, makes 18 letters of three bytes, of at most 8 bytes each.
const MOST_EXPANSION: usize = 64;

/// The order of text that a language takes for equal. Descriptions of earlier versions, which had
/// another one, lack it.
pub(crate) const EQUAL_BYTES: &str = "equal:bytes";

/// Bytes between the levels of a key, and of its shortest levels.
const LEVELS: usize = 32;

/// The rules of a locale, which live as long as the process: few are ever asked for.
#[derive(Clone, Copy)]
pub struct Locale(&'static Rules);

/// A tag of a locale that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LocaleError {
    /// It is not a tag of BCP 47.
    #[error("\"{0}\" is not a tag of a language; write one such as de, sv or de-AT-u-kn")]
    Malformed(String),
    /// It is written as the system's locales are.
    #[error("\"{given}\" is a name of the C library; write {instead}")]
    Posix {
        /// The tag.
        given: String,
        /// The same language and region as a tag.
        instead: String,
    },
    /// This program is built without the rules of languages.
    #[error(
        "this program is built without the orders of languages; build it with the feature collation"
    )]
    NotBuilt,
    /// There are no rules for it.
    #[error("no order is known for \"{given}\" ({cause}); write a language, such as de")]
    Unknown {
        /// The tag.
        given: String,
        /// The reason.
        cause: String,
    },
}

impl Locale {
    /// The rules that a tag of BCP 47 names, such as `de`, `sv-FI` or `de-u-co-phonebk`. A language
    /// without rules of its own has those of the root, which suit most; a variant that it does not have
    /// is left out.
    ///
    /// # Errors
    /// If the text is no tag.
    pub fn new(tag: &str) -> Result<Locale, LocaleError> {
        Rules::load(tag).map(Locale)
    }

    /// The tag in its usual spelling.
    #[must_use]
    pub fn tag(&self) -> &'static str {
        self.0.tag()
    }

    /// The same rules, but digits count as numbers: those of the tag with `-u-kn`.
    pub(super) fn with_numbers(self) -> Locale {
        self.with("kn", "")
    }

    /// The same rules, but small and capital letters are alike: those of the tag with `-u-ks-level2`.
    pub(super) fn without_case(self) -> Locale {
        self.with("ks", "level2")
    }

    fn with(self, key: &str, value: &str) -> Locale {
        let tag = self.0.tag_with(key, value);
        Locale::new(&tag).expect("its language has rules")
    }

    /// The parts of a description that [`Locale::described`] reads.
    pub(crate) fn describe(self) -> [String; 2] {
        [format!("locale:{}", self.tag()), EQUAL_BYTES.to_owned()]
    }

    /// The locale of this tag in a description with these parts, or the reason why there is none.
    pub(crate) fn described<S: AsRef<str>>(tag: &str, parts: &[S]) -> Result<Locale, String> {
        if !parts.iter().any(|part| part.as_ref() == EQUAL_BYTES) {
            return Err(format!(
                "an earlier version had another order without {EQUAL_BYTES}; sort again"
            ));
        }
        Locale::new(tag).map_err(|error| error.to_string())
    }

    /// Writes bytes that compare as the texts do, until `out` is full.
    pub(super) fn encode(self, text: &[u8], out: &mut impl Sink) {
        self.0.encode(text, out);
    }

    /// The most bytes of the encoding of a key of so many bytes.
    pub(super) fn most_bytes(key: usize) -> usize {
        key.saturating_mul(MOST_EXPANSION).saturating_add(LEVELS)
    }
}

impl PartialEq for Locale {
    fn eq(&self, other: &Locale) -> bool {
        self.tag() == other.tag()
    }
}

impl Eq for Locale {}

impl Hash for Locale {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.tag().hash(state);
    }
}

impl fmt::Debug for Locale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Locale({})", self.tag())
    }
}

#[cfg(all(test, feature = "collation"))]
mod tests {
    use super::*;

    #[test]
    fn tags_have_one_spelling() {
        assert_eq!(Locale::new("DE-de").unwrap().tag(), "de-DE");
        assert_eq!(Locale::new("de-DE").unwrap(), Locale::new("De-De").unwrap());
        assert_ne!(Locale::new("de").unwrap(), Locale::new("sv").unwrap());
    }

    #[test]
    fn variants_that_a_language_lacks_are_left_out() {
        let key = |tag: &str| {
            let mut key = Vec::new();
            Locale::new(tag).unwrap().encode("ɛ".as_bytes(), &mut key);
            key
        };
        for variant in ["ee-u-co-phonebk", "ee-u-co-pinyin", "ee-u-co-nothing"] {
            assert_eq!(key(variant), key("ee"), "{variant}");
        }
        assert_ne!(key("ee"), key("de"));
    }

    #[test]
    fn wrong_tags_come_with_an_example() {
        for (tag, part) in [
            ("", "such as de"),
            ("C", "such as de"),
            ("und", "such as de"),
            ("german language", "such as de"),
            ("de_DE.UTF-8", "write de-DE"),
            ("sv_SE", "write sv-SE"),
            ("de.UTF-8", "write de"),
            ("\u{e4}", "such as de"),
        ] {
            let message = Locale::new(tag).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
    }

    /// No text makes a longer key than plans have room for.
    #[test]
    fn keys_are_not_longer_than_bounded() {
        for tag in ["de", "sv", "ja", "zh", "th", "de-u-kn"] {
            let locale = Locale::new(tag).unwrap();
            for code in (0..=0x10_FFFF_u32).filter_map(char::from_u32) {
                let text = code.to_string();
                let mut key = Vec::new();
                locale.encode(text.as_bytes(), &mut key);
                let most = Locale::most_bytes(text.len());
                assert!(key.len() <= most, "{tag} {code:?}: {} of {most}", key.len());
                assert!(
                    key.len() <= MOST_EXPANSION * text.len(),
                    "{tag} {code:?}: {}",
                    key.len()
                );
            }
        }
    }
}
