//! The mark that ends chains of agents: each request of ours says how many stand in line.
//! Security sheet, section 6, step 9.

use forecourt_core::limits::HOPS_MAX;
use http::{HeaderMap, HeaderName, HeaderValue};

/// The field that carries the count.
pub const HEADER: HeaderName = HeaderName::from_static("forecourt-hops");

/// How many agents stood in line before the sender of these fields. 0 when nothing is said; what
/// can't be read counts as the longest line, and of several values the greatest counts.
pub fn read(headers: &HeaderMap) -> u32 {
    let one = |value: &HeaderValue| value.to_str().ok().and_then(|text| text.trim().parse().ok()).unwrap_or(HOPS_MAX);
    headers.get_all(HEADER).iter().map(one).max().unwrap_or(0)
}

/// Marks a request that is sent on behalf of a message with `hop` agents before it.
pub fn write(headers: &mut HeaderMap, hop: u32) {
    // Saturating: a caller may have said `u32::MAX`, which must not become a short chain.
    headers.insert(HEADER, HeaderValue::from(hop.saturating_add(1)));
}

/// Whether the line is too long to go on.
pub fn is_too_long(hop: u32) -> bool {
    hop >= HOPS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_counts_one_more_until_the_line_is_too_long() {
        let mut headers = HeaderMap::new();
        assert_eq!(read(&headers), 0);
        write(&mut headers, HOPS_MAX - 2);
        assert_eq!(read(&headers), HOPS_MAX - 1);
        assert!(!is_too_long(read(&headers)));
        write(&mut headers, HOPS_MAX - 1);
        assert!(is_too_long(read(&headers)));
    }

    #[test]
    fn what_can_not_be_read_ends_the_line() {
        for text in ["", "-1", "two", "99999999999999"] {
            let mut headers = HeaderMap::new();
            headers.insert(HEADER, HeaderValue::from_static(text));
            headers.append(HEADER, HeaderValue::from_static("0"));
            assert!(is_too_long(read(&headers)), "{text}");
        }
    }
}
