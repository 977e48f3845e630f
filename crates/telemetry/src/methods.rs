//! Which methods of HTTP are told apart. A method that a caller makes up is [`OTHER_METHOD`].

use std::sync::OnceLock;

/// What a method is called that is not known. OpenTelemetry, HTTP.
pub const OTHER_METHOD: &str = "_OTHER";
/// Methods that may be told apart at most.
pub const METHODS_MAX: usize = 32;

/// Those of RFC 9110, and PATCH of RFC 5789.
const STANDARD: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];

static OWN: OnceLock<Vec<String>> = OnceLock::new();

/// From here on these methods are told apart, and no others. Said once; of two lists, the first counts. Of more than
/// [`METHODS_MAX`], those that come first.
pub fn know_methods(methods: impl IntoIterator<Item = String>) {
    let _ = OWN.set(bounded(methods));
}

fn bounded(methods: impl IntoIterator<Item = String>) -> Vec<String> {
    methods.into_iter().take(METHODS_MAX).collect()
}

/// The method as it is known, letter by letter, or [`OTHER_METHOD`].
pub fn known_method(method: &str) -> &'static str {
    match OWN.get() {
        Some(own) => known_among(own, method),
        None => STANDARD.iter().find(|known| **known == method).copied().unwrap_or(OTHER_METHOD),
    }
}

fn known_among<'a>(own: &'a [String], method: &str) -> &'a str {
    own.iter().find(|known| *known == method).map_or(OTHER_METHOD, String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_up_method_is_other() {
        for known in STANDARD {
            assert_eq!(known_method(known), known);
        }
        for other in ["BREW", "get", "", "QUERY"] {
            assert_eq!(known_method(other), OTHER_METHOD, "{other}");
        }
    }

    #[test]
    fn so_many_methods_are_told_apart_and_no_more() {
        let own = bounded((0..=METHODS_MAX).map(|n| format!("M{n}")));
        let last = format!("M{}", METHODS_MAX - 1);
        assert_eq!(known_among(&own, &last), last);
        assert_eq!(known_among(&own, &format!("M{METHODS_MAX}")), OTHER_METHOD);
        assert_eq!(known_among(&own, "GET"), OTHER_METHOD, "the list is whole, and not added to the usual one");
    }
}
