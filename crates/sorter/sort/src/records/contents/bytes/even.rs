//! Records at even places among all keys, for splitters without a sample.

use std::iter::repeat;

use record::{Endian, Key, Kind, Order};

use crate::records::sample::Sample;

/// Records whose keys lie at these places among all keys, in 2^64ths.
pub(super) fn records_at(order: &Order, places: &mut dyn Iterator<Item = u64>) -> Sample {
    let (mut sample, mut record) = (Sample::default(), vec![0; order.record_bytes()]);
    for place in places {
        let mut digits = place.to_be_bytes().into_iter().chain(repeat(0));
        for key in order.keys() {
            let encoded: Vec<u8> = digits.by_ref().take(key.bytes).collect();
            record[key.offset..][..key.bytes].copy_from_slice(&decoded(key, encoded));
        }
        sample.push(&record, place);
    }
    sample
}

/// The bytes of a key from bytes that compare as it does; those of decimal and collated keys stay as they are,
/// and are in another order.
fn decoded(key: &Key, mut bytes: Vec<u8>) -> Vec<u8> {
    const SIGN: u8 = 0x80;
    let complement = |bytes: &mut [u8]| bytes.iter_mut().for_each(|byte| *byte = !*byte);
    if key.descending {
        complement(&mut bytes);
    }
    match key.kind {
        Kind::Signed(_) => bytes[0] ^= SIGN,
        Kind::Float(_) if bytes[0] < SIGN => complement(&mut bytes),
        Kind::Float(_) => bytes[0] ^= SIGN,
        _ => {}
    }
    let is_little = matches!(
        key.kind,
        Kind::Unsigned(Endian::Little) | Kind::Signed(Endian::Little) | Kind::Float(Endian::Little)
    );
    if is_little {
        bytes.reverse();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use record::Ties;

    use super::*;

    #[test]
    fn records_at_ascending_places_ascend() {
        for keys in [
            &["0+10"][..],
            &["3+2:u16le", "8+4"],
            &["8+8:i64le:desc"],
            &["2+1:i8", "4+8:f64be"],
            &["0+4:f32le", "6+3:bytes:desc"],
            &["5+8:f64le:desc"],
        ] {
            let keys: Vec<Key> = keys.iter().map(|key| key.parse().unwrap()).collect();
            let order = Order::new(16, &keys, Ties::Record).unwrap();
            let places = (0..500_u64).map(|place| place * (u64::MAX / 499));
            let sample = records_at(&order, &mut places.clone());
            assert_eq!(sample.len(), 500);
            let records: Vec<&[u8]> = sample.elements().map(|element| element.record).collect();
            assert!(
                records.is_sorted_by(|a, b| order.compare(a, b).is_lt()),
                "{keys:?}"
            );
            // The first word of the order is the place, as far as keys have bytes for it.
            let bytes: usize = keys.iter().map(|key| key.bytes).sum::<usize>().min(8);
            for (record, place) in records.iter().zip(places) {
                let differs = order.word(record, 0) ^ place;
                assert_eq!(differs.checked_shr(64 - 8 * bytes as u32).unwrap_or(0), 0);
            }
        }
    }
}
