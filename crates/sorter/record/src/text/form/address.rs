//! Addresses of IP, with or without a mask: `10.0.0.2`, `10.0.0.0/8`, `fe80::1/64`.
//!
//! ```text
//! 10.0.0.0/8    4 | 10 0 0 0 | 8        the network before its hosts
//! 10.0.0.0      4 | 10 0 0 0 | 32
//! ::1           6 | 0 .. 0 1 | 128
//! ```

use std::net::IpAddr;
use std::str::FromStr;

use crate::text::row::ValueError;
use crate::text::words::Sink;

/// The version, sixteen bytes and the mask.
pub(super) const MOST_BYTES: usize = 18;

pub(super) fn encode(value: &[u8], out: &mut impl Sink) -> Result<(), ValueError> {
    let text = std::str::from_utf8(value.trim_ascii()).map_err(|_| ValueError::NotAnAddress)?;
    let (address, mask) = match text.split_once('/') {
        None => (text, None),
        Some((address, mask)) => (address, Some(mask)),
    };
    let address = IpAddr::from_str(address).map_err(|_| ValueError::NotAnAddress)?;
    let (version, most) = match address {
        IpAddr::V4(_) => (4, 32),
        IpAddr::V6(_) => (6, 128),
    };
    let mask = match mask {
        None => most,
        Some(mask) => {
            let is_number = mask.bytes().all(|byte| byte.is_ascii_digit());
            let bits = mask.parse::<u8>().ok();
            bits.filter(|bits| is_number && *bits <= most)
                .ok_or(ValueError::Mask { most })?
        }
    };
    out.push(version);
    match address {
        IpAddr::V4(address) => out.push_all(&address.octets()),
        IpAddr::V6(address) => out.push_all(&address.octets()),
    }
    out.push(mask);
    Ok(())
}
