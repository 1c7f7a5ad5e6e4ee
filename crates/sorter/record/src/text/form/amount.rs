//! Amounts as people write them.
//!
//! ```text
//! $1,234.50    1 234.50 EUR    1'234.5    groups of digits, a currency before or behind
//! -5    5-    (5.00)    −5                below zero
//! 5.-   99.–                              a dash for no cents
//! 12.5 %    3 ‰                           hundredths, thousandths
//! 1.234,50                                with a decimal comma (`amount=,`)
//! ```

use crate::text::decimal;
use crate::text::row::ValueError;
use crate::text::words::Sink;

/// Currencies by their signs (Unicode, general category Sc) and some by their letters.
const SIGNS: &str = "$¢£¤¥֏؋৲৳૱௹฿៛₠₡₢₣₤₥₦₧₨₩₪₫€₭₮₯₰₱₲₳₴₵₸₹₺₻₼₽₾₿";
const LETTERS: [&str; 15] = [
    "US$", "NZ$", "HK$", "R$", "A$", "C$", "S$", "kr.", "kr", "zł", "Kč", "Ft", "Fr.", "лв", "руб.",
];

/// Codes of ISO 4217, each of three letters.
const CODES: &str = "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD \
    CAD CDF CHF CLF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD \
    HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD \
    MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON \
    RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX \
    USD UYU UZS VED VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG";

/// Separators of groups of digits beside a comma and a point: blanks that do not break, apostrophes.
const BETWEEN: [char; 7] = [' ', '\u{a0}', '\u{2009}', '\u{202f}', '\'', '’', '_'];

pub(super) fn encode(
    value: &[u8],
    decimal_comma: bool,
    out: &mut impl Sink,
) -> Result<(), ValueError> {
    // Most amounts are plain numbers.
    let is_plain = |byte: &u8| byte.is_ascii_digit() || *byte == b'.' && !decimal_comma;
    let points = value.iter().filter(|byte| **byte == b'.').count();
    if value.iter().all(is_plain) && points <= 1 && value.len() > points {
        decimal::encode(value, out);
        return Ok(());
    }
    let text = std::str::from_utf8(value).map_err(|_| ValueError::NotAnAmount { decimal_comma })?;
    let number =
        read(text.trim(), decimal_comma).ok_or(ValueError::NotAnAmount { decimal_comma })?;
    decimal::encode(number.as_bytes(), out);
    Ok(())
}

/// The amount as people write a plain number.
pub(super) fn plainly(value: &[u8], decimal_comma: bool) -> Option<String> {
    let number = read(std::str::from_utf8(value).ok()?.trim(), decimal_comma)?;
    Some(number.trim_end_matches('.').replace(".e", "e"))
}

/// The amount as a plain number; `None` if it is none.
fn read(text: &str, decimal_comma: bool) -> Option<String> {
    let (point, group) = if decimal_comma {
        (',', '.')
    } else {
        ('.', ',')
    };
    let mut rest = text;
    let (mut sign, mut currency, mut share) = (None, false, None);
    // Each of these may stand once, before or behind the digits.
    loop {
        let before = rest;
        rest = without_dash(rest, point);
        if let Some((is_below, inner)) = sign_of(rest).filter(|_| sign.is_none()) {
            (sign, rest) = (Some(is_below), inner);
        }
        let inside = rest
            .strip_prefix('(')
            .and_then(|rest| rest.strip_suffix(')'));
        if let Some(inner) = inside.filter(|_| sign.is_none()) {
            (sign, rest) = (Some(true), inner);
        }
        if let Some(inner) = without_currency(rest).filter(|_| !currency) {
            (currency, rest) = (true, inner);
        }
        for (mark, power) in [('%', "e-2"), ('‰', "e-3")] {
            if let Some(inner) = rest.strip_suffix(mark).filter(|_| share.is_none()) {
                (share, rest) = (Some(power), inner);
            }
        }
        rest = rest.trim();
        if rest == before {
            break;
        }
    }
    let (whole, fraction) = rest.split_once(point).unwrap_or((rest, ""));
    let whole = without_groups(whole, group)?;
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !are_digits(fraction) || whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let minus = if sign == Some(true) { "-" } else { "" };
    Some(format!(
        "{minus}{whole}.{fraction}{}",
        share.unwrap_or_default()
    ))
}

const MINUS: [char; 6] = ['-', '−', '\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}'];

/// The text without a dash in the place of a fraction: `5,-` is 5.
fn without_dash(text: &str, point: char) -> &str {
    let dashed = text.trim_end_matches(MINUS);
    let whole = dashed
        .strip_suffix(point)
        .filter(|_| dashed.len() < text.len());
    whole.unwrap_or(text)
}

/// Whether a sign at either end is a minus, and the text without it.
fn sign_of(text: &str) -> Option<(bool, &str)> {
    let below = text
        .strip_prefix(MINUS)
        .or_else(|| text.strip_suffix(MINUS));
    let above = || text.strip_prefix('+').or_else(|| text.strip_suffix('+'));
    below
        .map(|rest| (true, rest))
        .or_else(|| above().map(|rest| (false, rest)))
}

/// The text without a currency at one of its ends: a sign, some letters, or a code.
fn without_currency(text: &str) -> Option<&str> {
    let is_sign = |letter: char| SIGNS.contains(letter);
    let signed = text
        .strip_prefix(is_sign)
        .or_else(|| text.strip_suffix(is_sign));
    let lettered = || {
        let mut letters = LETTERS.iter();
        letters.find_map(|word| text.strip_prefix(word).or_else(|| text.strip_suffix(word)))
    };
    let coded = || {
        let is_code = |code: &str| CODES.split(' ').any(|known| known == code);
        let front = text.get(..3).filter(|code| is_code(code));
        let back = text.len().checked_sub(3).and_then(|at| text.get(at..));
        let back = back.filter(|code| is_code(code));
        front
            .map(|_| &text[3..])
            .or_else(|| back.map(|_| &text[..text.len() - 3]))
    };
    lettered().or(signed).or_else(coded)
}

/// The digits without what stands between their groups: of three digits, but for the first; in the way of India
/// also of two, but for the last. `None` if they are no such groups.
fn without_groups(whole: &str, group: char) -> Option<String> {
    let Some(between) = whole.chars().find(|letter| !letter.is_ascii_digit()) else {
        return Some(whole.to_owned());
    };
    if between != group && !BETWEEN.contains(&between) {
        return None;
    }
    let groups: Vec<&str> = whole.split(between).collect();
    let fits = |(number, digits): (usize, &&str)| {
        let are_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
        // 0,500 is a half with a decimal comma.
        let is_fraction = number == 0 && digits.starts_with('0');
        let lengths = match number {
            0 => 1..=3,
            _ if number + 1 == groups.len() => 3..=3,
            _ => 2..=3,
        };
        are_digits && !is_fraction && lengths.contains(&digits.len())
    };
    groups.iter().enumerate().all(fits).then(|| groups.concat())
}
