//! The rules of a language, by the collator of ICU4X.

use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use icu_collator::options::{AlternateHandling, CaseLevel, CollatorOptions, Strength};
use icu_collator::{CollationKeySink, CollatorBorrowed, CollatorPreferences};
use icu_locale_core::extensions::unicode::key;

use super::{LocaleError, Sink};

pub(super) struct Rules {
    tag: String,
    collator: CollatorBorrowed<'static>,
}

/// Takes the bytes of a key. Letters come first, so the first word of a long text is written after a few
/// of them.
struct Key<'a, S>(&'a mut S);

/// No more bytes are wanted.
struct Full;

impl<S: Sink> CollationKeySink for Key<'_, S> {
    type Error = Full;
    type State = ();
    type Output = ();

    fn write(&mut self, (): &mut (), bytes: &[u8]) -> Result<(), Full> {
        self.0.push_all(bytes);
        if self.0.is_full() { Err(Full) } else { Ok(()) }
    }

    fn finish(&mut self, (): ()) -> Result<(), Full> {
        Ok(())
    }
}

static LOADED: Mutex<Vec<&'static Rules>> = Mutex::new(Vec::new());

impl Rules {
    pub(super) fn load(tag: &str) -> Result<&'static Rules, LocaleError> {
        let parsed = icu_locale_core::Locale::from_str(tag).map_err(|_| malformed(tag))?;
        if parsed.id.language.is_unknown() {
            return Err(malformed(tag));
        }
        let spelled = parsed.to_string();
        // Nothing that panics runs while it is locked.
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = loaded.iter().find(|rules| rules.tag == spelled) {
            return Ok(known);
        }
        let mut preferences = CollatorPreferences::from(&parsed);
        let options = options_of(&parsed);
        let collator = CollatorBorrowed::try_new(preferences, options).or_else(|_| {
            // The data names a variant of this language, and lacks it.
            preferences.collation_type = None;
            CollatorBorrowed::try_new(preferences, options)
        });
        let collator = collator.map_err(|error| LocaleError::Unknown {
            given: tag.to_owned(),
            cause: error.to_string(),
        })?;
        let tag = spelled;
        let rules: &'static Rules = Box::leak(Box::new(Rules { tag, collator }));
        loaded.push(rules);
        Ok(rules)
    }

    pub(super) fn tag(&self) -> &str {
        &self.tag
    }

    /// The tag with a keyword of Unicode's extension and its value, such as `ks` and `level2`.
    pub(super) fn tag_with(&self, key: &str, value: &str) -> String {
        let mut tag: icu_locale_core::Locale = self.tag.parse().expect("its own spelling");
        let key = key.parse().expect("a keyword");
        let value = value.parse().expect("a value");
        tag.extensions.unicode.keywords.set(key, value);
        tag.to_string()
    }

    pub(super) fn encode(&self, text: &[u8], out: &mut impl Sink) {
        // The only error is that it is full.
        let _ = (self.collator).write_sort_key_utf8_to(text, &mut Key(out));
    }
}

/// The keywords of a tag that the collator does not take as preferences (UTS 35, collation settings).
fn options_of(tag: &icu_locale_core::Locale) -> CollatorOptions {
    let keywords = &tag.extensions.unicode.keywords;
    let value = |key| keywords.get(&key).map(ToString::to_string);
    let mut options = CollatorOptions::default();
    options.strength = match value(key!("ks")).as_deref() {
        Some("level1") => Some(Strength::Primary),
        Some("level2") => Some(Strength::Secondary),
        Some("level4") => Some(Strength::Quaternary),
        Some("identic") => Some(Strength::Identical),
        _ => None,
    };
    if value(key!("ka")).as_deref() == Some("shifted") {
        options.alternate_handling = Some(AlternateHandling::Shifted);
    }
    if matches!(value(key!("kc")).as_deref(), Some("" | "true")) {
        options.case_level = Some(CaseLevel::On);
    }
    options
}

fn malformed(tag: &str) -> LocaleError {
    let given = tag.to_owned();
    let name = tag.split(['.', '@']).next().unwrap_or_default();
    let instead = name.replace('_', "-");
    let is_posix = name != tag || name.contains('_');
    let parsed = icu_locale_core::Locale::from_str(&instead);
    if is_posix && parsed.is_ok_and(|parsed| !parsed.id.language.is_unknown()) {
        LocaleError::Posix { given, instead }
    } else {
        LocaleError::Malformed(given)
    }
}
