//! Fronts that lines share: dates of one year, pages of one host, one heavy key.
//!
//! ```text
//! -k1,1     https://example.org/a/1f3e ..     shared: 22 bytes of key 1
//!           https://example.org/a/9a01 ..     the order behind: "1f3e", "9a01", then what follows the key
//!
//! -k1,1     heavy 17 ..                       shared: all of key 1, and 6 bytes of the line, which follows it
//!           heavy 94 ..
//! ```
//!
//! Words of the order behind tell lines apart that share the words before. It is for those lines alone: each
//! is compared with what they share, in the search that finds its next word.

use super::TextOrder;
use crate::text::part::Part;

/// More is compared as lines are.
const MOST_BYTES: usize = 256;

/// The front that some lines share: whole keys, then the first bytes of the next one, which is text.
#[derive(Clone, Debug)]
pub struct Lead {
    /// The keys that lines share whole, with their bytes, of text alone.
    keys: Vec<(Part, Vec<u8>)>,
    /// The first bytes of the key behind those, without them.
    bytes: Vec<u8>,
    next: Part,
    order: TextOrder,
    /// Whether these are all keys, so that lines with equal keys differ behind them.
    is_behind_keys: bool,
}

impl TextOrder {
    /// The front that these lines share. None if that is less than `least` bytes of keys, if they are alike in all
    /// keys, or if a key is not text that stands in the line as it is.
    pub fn lead_of(&self, lines: &[&[u8]], least: usize) -> Option<Lead> {
        let (&first, others) = lines.split_first()?;
        let (mut keys, mut bytes) = (Vec::new(), 0);
        for (number, part) in self.all().enumerate() {
            let key = part.text_in(first)?;
            let most = MOST_BYTES - bytes;
            let mut shared = key.len().min(most);
            let mut are_same = key.len() <= most;
            for other in others {
                let other = part.text_in(other)?;
                let same = key.iter().zip(other).take_while(|(a, b)| a == b).count();
                are_same &= same == key.len() && same == other.len();
                shared = shared.min(same);
            }
            bytes += shared;
            if are_same {
                keys.push((part.clone(), key.to_vec()));
                continue;
            }
            let next = part.behind(shared);
            let lead = Lead {
                keys,
                bytes: key[..shared].to_vec(),
                order: self.without(number, &next),
                next,
                is_behind_keys: number >= self.parts.len(),
            };
            return Some(lead).filter(|_| bytes >= least);
        }
        None
    }

    /// The order of lines whose first keys are equal up to some bytes of the next, which is `next` behind them.
    fn without(&self, keys: usize, next: &Part) -> TextOrder {
        let mut order = self.clone();
        let of_rest = keys.saturating_sub(self.parts.len());
        order.parts.drain(..keys.min(self.parts.len()));
        order.rest.drain(..of_rest);
        let first = order.parts.first_mut().or(order.rest.first_mut());
        *first.expect("the key that lines do not share") = next.clone();
        order.line_only = None;
        order
    }
}

impl Lead {
    /// The order of lines that share this, for their words from 0 on and for comparisons. Others make it panic.
    #[must_use]
    pub fn order(&self) -> &TextOrder {
        &self.order
    }

    /// Whether the first key is not all that lines share.
    #[must_use]
    pub fn is_in_first_key(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether all keys are shared: words of the order behind tell lines with equal keys apart.
    #[must_use]
    pub fn is_behind_keys(&self) -> bool {
        self.is_behind_keys
    }

    /// The first word of a line in the order behind; `None` if it does not share this, or not as plain text.
    #[inline]
    #[must_use]
    pub fn word_behind(&self, line: &[u8]) -> Option<u64> {
        for (part, key) in &self.keys {
            if part.text_in(line)? != &key[..] {
                return None;
            }
        }
        // The search of the next part is behind these bytes.
        self.next.word_behind(line, &self.bytes)
    }
}
