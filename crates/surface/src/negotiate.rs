//! This module chooses media types and languages by quality: RFC 9110 sections 12.5.1 and 12.5.4.
//!
//! The rules are those of the `negotiator` library that Mentionable REST 4 names: the most specific
//! range decides the quality of a type; among equal qualities the more specific match wins, then
//! the order in the header, then our own. Linear, and nothing is allocated for media types.

use std::iter;

use forecourt_core::Language;
use http::HeaderMap;
use http::header::{ACCEPT, ACCEPT_LANGUAGE};

/// Bytes of one header field that are looked at. What lies beyond is not read.
pub(crate) const HEADER_BYTES_MAX: usize = 4 * 1024;
/// Ranges of a request that are looked at. What comes after them is not read.
pub(crate) const RANGES_MAX: usize = 64;
/// Types that can be on offer at once.
pub const OFFERS_MAX: usize = 8;

/// The place in `offers` of the type that `headers` ask for most, or `None` when none is acceptable.
///
/// Without an `Accept` header the first offer is chosen. `offers` are lower-case media types without
/// parameters, the preferred one first; only the first [`OFFERS_MAX`] count. A range with parameters
/// other than `q` matches nothing, since no offer has any. What is malformed matches nothing.
pub fn media_type(headers: &HeaderMap, offers: &[&str]) -> Option<usize> {
    let mut fields = headers.get_all(ACCEPT).iter().map(|field| field.as_bytes());
    let first = fields.next()?;
    match (only(first, offers), fields.next()) {
        (Some(offer), None) => Some(offer),
        (_, second) => accepted(iter::once(first).chain(second).chain(fields), offers),
    }
}

/// The answer for a field that is one offered type, or `*/*`, as most programs send: the same as [`accepted`] gives.
/// Reading it as a list of ranges took 3,600 of the 60,000 instructions of a GET.
fn only(field: &[u8], offers: &[&str]) -> Option<usize> {
    let mut offers = offers.iter().take(OFFERS_MAX);
    match field {
        b"*/*" => offers.next().map(|_| 0),
        named => offers.position(|offer| named.eq_ignore_ascii_case(offer.as_bytes())),
    }
}

/// [`media_type`], with the first offer when there is no `Accept` header at all.
pub fn media_type_or_first(headers: &HeaderMap, offers: &[&str]) -> Option<usize> {
    match headers.contains_key(ACCEPT) {
        true => media_type(headers, offers),
        false => (!offers.is_empty()).then_some(0),
    }
}

/// [`media_type`] for the values of `Accept` alone.
pub fn accepted<'a>(fields: impl Iterator<Item = &'a [u8]>, offers: &[&str]) -> Option<usize> {
    let mut best = [Match::NONE; OFFERS_MAX];
    let ranges = fields.flat_map(|field| Items::of(field, b',')).filter(|item| !item.is_empty()).take(RANGES_MAX);
    for (order, range) in ranges.enumerate().filter_map(|(order, item)| Some((order, Range::read(item)?))) {
        for (slot, offer) in best.iter_mut().zip(offers) {
            let found = range.matches(offer).map(|specificity| Match { specificity, quality: range.quality, order });
            *slot = found.filter(|found| found.decides_over(slot)).unwrap_or(*slot);
        }
    }
    let offered = best.iter().zip(offers).enumerate().filter(|(_, (found, _))| found.quality > 0);
    offered.min_by_key(|(index, (found, _))| found.rank(*index)).map(|(index, _)| index)
}

/// How much `offer` is wanted, in thousandths: 0 when it is excluded or nothing is said of it, full without `Accept`.
pub fn quality(headers: &HeaderMap, offer: &str) -> u16 {
    match headers.contains_key(ACCEPT) {
        true => found(headers, offer).quality,
        false => QUALITY_FULL,
    }
}

/// The same when `offer` is named, and not only meant by a wildcard; else 0.
pub fn named_quality(headers: &HeaderMap, offer: &str) -> u16 {
    let found = found(headers, offer);
    if found.specificity == SPECIFICITY_FULL { found.quality } else { 0 }
}

/// The range that decides about one offer.
fn found(headers: &HeaderMap, offer: &str) -> Match {
    let fields = headers.get_all(ACCEPT).iter().map(|field| field.as_bytes());
    let ranges = fields.flat_map(|field| Items::of(field, b',')).filter(|item| !item.is_empty()).take(RANGES_MAX);
    let matches = ranges.enumerate().filter_map(|(order, item)| {
        let range = Range::read(item)?;
        Some(Match { specificity: range.matches(offer)?, quality: range.quality, order })
    });
    matches.fold(Match::NONE, |best, next| if next.decides_over(&best) { next } else { best })
}

/// The language that is asked for most, if any is: `*` and malformed tags are passed over.
pub fn language(headers: &HeaderMap) -> Option<Language> {
    let fields = headers.get_all(ACCEPT_LANGUAGE).iter().map(|field| field.as_bytes());
    let ranges = fields.flat_map(|field| Items::of(field, b',')).take(RANGES_MAX).filter_map(tag);
    let wanted = ranges.filter(|(_, quality)| *quality > 0);
    // `>`: the first of equals. RFC 9110 12.5.4 leaves it open; browsers list languages in the order of preference.
    wanted.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(language, _)| language)
}

/// All languages that are asked for, the most wanted first; at most as many as ranges are read. Of those that are
/// wanted alike, the one that stands first comes first.
pub fn languages(headers: &HeaderMap) -> Vec<Language> {
    let fields = headers.get_all(ACCEPT_LANGUAGE).iter().map(|field| field.as_bytes());
    let ranges = fields.flat_map(|field| Items::of(field, b',')).take(RANGES_MAX).filter_map(tag);
    let mut wanted: Vec<(Language, u16)> = ranges.filter(|(_, quality)| *quality > 0).collect();
    wanted.sort_by_key(|(_, quality)| std::cmp::Reverse(*quality));
    wanted.into_iter().map(|(language, _)| language).collect()
}

fn tag(item: &[u8]) -> Option<(Language, u16)> {
    let mut pieces = Items::of(item, b';');
    let language = Language::parse(std::str::from_utf8(pieces.next()?).ok()?)?;
    Some((language, pieces.find_map(quality_of).unwrap_or(QUALITY_FULL)))
}

/// How well one offer is matched, and by which range.
#[derive(Clone, Copy)]
struct Match {
    specificity: u8,
    /// In thousandths; 0 excludes.
    quality: u16,
    order: usize,
}

impl Match {
    const NONE: Self = Self { specificity: 0, quality: 0, order: 0 };

    /// Whether this range, and not the earlier `other`, says what the quality of the type is.
    fn decides_over(&self, other: &Self) -> bool {
        // `>=`: of two ranges alike the later one decides, as in the reference negotiator, whose cases are among the
        // tests.
        (self.specificity, self.quality) >= (other.specificity, other.quality)
    }

    /// Lower is better.
    fn rank(&self, index: usize) -> (u16, u8, usize, usize) {
        (u16::MAX - self.quality, u8::MAX - self.specificity, self.order, index)
    }
}

const QUALITY_FULL: u16 = 1_000;
/// Of a range that names type and subtype.
const SPECIFICITY_FULL: u8 = 6;

/// One media range.
struct Range<'a> {
    kind: &'a [u8],
    subkind: &'a [u8],
    quality: u16,
}

impl<'a> Range<'a> {
    /// `None` when it is malformed or has parameters of its own.
    fn read(item: &'a [u8]) -> Option<Self> {
        let mut pieces = Items::of(item, b';');
        let mut sides = pieces.next()?.splitn(2, |b| *b == b'/');
        let (kind, subkind) = (sides.next()?, sides.next()?);
        if kind.is_empty()
            || subkind.is_empty()
            || [kind, subkind].iter().any(|s| s.iter().any(u8::is_ascii_whitespace))
        {
            return None;
        }
        let mut quality = QUALITY_FULL;
        for piece in pieces.filter(|piece| !piece.is_empty()) {
            // Any other parameter: no offer has one, so that the range matches nothing.
            quality = quality_of(piece)?;
        }
        Some(Self { kind, subkind, quality })
    }

    /// How specific the match is, if it is one.
    fn matches(&self, offer: &str) -> Option<u8> {
        let (kind, subkind) = offer.as_bytes().split_at_checked(offer.find('/')?)?;
        let side = |range: &[u8], own: &[u8], weight| match range {
            range if range.eq_ignore_ascii_case(own) => Some(weight),
            b"*" => Some(0),
            _ => None,
        };
        Some(side(self.kind, kind, 4)? + side(self.subkind, &subkind[1..], 2)?)
    }
}

/// The quality in thousandths, if `piece` is the parameter `q`. An empty one is the default, a
/// malformed one excludes; digits beyond the third are not read.
fn quality_of(piece: &[u8]) -> Option<u16> {
    let (name, rest) = piece.split_first()?;
    let value = rest.trim_ascii_start().strip_prefix(b"=")?.trim_ascii();
    name.eq_ignore_ascii_case(&b'q').then(|| match value {
        [] => QUALITY_FULL,
        // Malformed excludes: a range whose weight can't be read must not win.
        [b'0', rest @ ..] => thousandths(rest).unwrap_or(0),
        [b'1', ..] => QUALITY_FULL,
        _ => 0,
    })
}

/// `.25` as 250; nothing at all as 0.
fn thousandths(text: &[u8]) -> Option<u16> {
    let Some(digits) = text.strip_prefix(b".") else { return text.is_empty().then_some(0) };
    let mut sum = 0;
    for (digit, weight) in digits.iter().zip([100, 10, 1]) {
        sum += u16::from(char::from(*digit).to_digit(10)? as u8) * weight;
    }
    Some(sum)
}

/// The trimmed pieces of a list between separators, those inside quotes not counted.
struct Items<'a> {
    rest: Option<&'a [u8]>,
    separator: u8,
}

impl<'a> Items<'a> {
    fn of(field: &'a [u8], separator: u8) -> Self {
        // Bytes, so that the cut may fall inside a character: whatever is not ASCII matches no offer.
        Self { rest: Some(&field[..field.len().min(HEADER_BYTES_MAX)]), separator }
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest?;
        let (mut quoted, mut escaped) = (false, false);
        let end = rest.iter().position(|&byte| {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                _ => return !quoted && byte == self.separator,
            }
            false
        });
        let (item, after) = match end {
            Some(end) => (&rest[..end], Some(&rest[end + 1..])),
            None => (rest, None),
        };
        self.rest = after;
        Some(item.trim_ascii())
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    const OFFERS: [&str; 4] = ["text/html", "text/markdown", "application/json", "text/event-stream"];

    fn chosen(accept: &[u8]) -> Option<&'static str> {
        accepted(std::iter::once(accept), &OFFERS).map(|index| OFFERS[index])
    }

    #[test]
    fn the_cases_of_the_reference_negotiator() {
        let Some(bytes) = forecourt_testkit::vectors("accept/cases.json") else { return };
        let file: serde_json::Value = serde_json::from_slice(&bytes).expect("the vectors are JSON");
        for case in file["cases"].as_array().expect("there are cases") {
            let accept = case["accept"].as_str().expect("a case has a header");
            assert_eq!(chosen(accept.as_bytes()), case["chosen"].as_str(), "{accept:?}");
        }
    }

    #[test]
    fn no_header_is_not_an_empty_one() {
        let mut headers = HeaderMap::new();
        assert_eq!(media_type_or_first(&headers, &OFFERS), Some(0));
        headers.insert(ACCEPT, HeaderValue::from_static(""));
        assert_eq!(media_type_or_first(&headers, &OFFERS), None);
    }

    #[test]
    fn one_type_alone_is_found_as_a_list_finds_it() {
        let alone =
            ["*/*", "text/markdown", "TEXT/Markdown", "application/json", "image/png", "text/*", "text", "/", "*"];
        for (accept, offers) in alone.iter().flat_map(|accept| (0..=OFFERS.len()).map(|n| (*accept, &OFFERS[..n]))) {
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]);
            let listed = accepted(iter::once(accept.as_bytes()), offers);
            assert_eq!(media_type(&headers, offers), listed, "{accept} of {offers:?}");
        }
    }

    #[test]
    fn one_type_is_wanted_as_much_as_its_most_specific_range_says() {
        for (accept, wanted, named) in [
            ("text/html;q=0.5, */*;q=0.1", 500, 500),
            ("text/*;q=0.3, */*", 300, 0),
            ("*/*", 1_000, 0),
            ("*/*, text/html;q=0", 0, 0),
            ("application/json", 0, 0),
            ("TEXT/HTML", 1_000, 1_000),
            ("", 0, 0),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]);
            assert_eq!(
                (quality(&headers, "text/html"), named_quality(&headers, "text/html")),
                (wanted, named),
                "{accept}"
            );
        }
        assert_eq!(
            (quality(&HeaderMap::new(), "text/html"), named_quality(&HeaderMap::new(), "text/html")),
            (1_000, 0)
        );
    }

    #[test]
    fn several_fields_are_one_list() {
        let mut headers = HeaderMap::new();
        headers.append(ACCEPT, HeaderValue::from_static("text/html;q=0.1"));
        headers.append(ACCEPT, HeaderValue::from_static("application/json"));
        assert_eq!(media_type(&headers, &OFFERS), Some(2));
    }

    #[test]
    fn ranges_beyond_the_limit_are_not_read() {
        let header = |before: usize| format!("{}text/markdown", "image/png,".repeat(before));
        assert_eq!(chosen(header(RANGES_MAX - 1).as_bytes()), Some("text/markdown"));
        assert_eq!(chosen(header(RANGES_MAX).as_bytes()), None);
        let padded = |spaces: usize| format!("{}text/markdown", " ".repeat(spaces));
        assert_eq!(chosen(padded(HEADER_BYTES_MAX - 13).as_bytes()), Some("text/markdown"));
        assert_eq!(chosen(padded(HEADER_BYTES_MAX).as_bytes()), None);
    }

    #[test]
    fn the_language_asked_for_most_is_the_first_of_the_highest_quality() {
        for (header, expected) in [
            ("de", Some("de")),
            ("en;q=0.5, pt-br", Some("pt-BR")),
            ("fr, de", Some("fr")),
            ("*, ko;q=0.2", Some("ko")),
            ("en;q=0", None),
            ("<script>", None),
            ("", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_LANGUAGE, HeaderValue::from_static(header));
            assert_eq!(language(&headers).as_ref().map(Language::as_str), expected, "{header:?}");
        }
    }

    #[test]
    fn languages_come_in_the_order_in_which_they_are_wanted() {
        let mut headers = HeaderMap::new();
        headers.append(ACCEPT_LANGUAGE, HeaderValue::from_static("en;q=0.5, fr, *;q=0.1, ko;q=0"));
        headers.append(ACCEPT_LANGUAGE, HeaderValue::from_static("de-at, it;q=0.5"));
        let tags: Vec<String> = languages(&headers).iter().map(ToString::to_string).collect();
        assert_eq!(tags, ["fr", "de-AT", "en", "it"]);
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            chosen(&bytes);
            tag(&bytes);
        }
    }
}
