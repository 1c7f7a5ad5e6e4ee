//! No rules: a build without the feature `collation` refuses each locale by name.

use super::{LocaleError, Sink};

/// There are none.
pub(super) enum Rules {}

impl Rules {
    pub(super) fn load(_tag: &str) -> Result<&'static Rules, LocaleError> {
        Err(LocaleError::NotBuilt)
    }

    pub(super) fn tag(&self) -> &'static str {
        match *self {}
    }

    pub(super) fn tag_with(&self, _key: &str, _value: &str) -> String {
        match *self {}
    }

    pub(super) fn encode(&self, _text: &[u8], _out: &mut impl Sink) {
        match *self {}
    }
}
