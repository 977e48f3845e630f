//! How long an answer may be kept. RFC 9111.

use std::time::Duration;

use http::HeaderMap;
use http::header::CACHE_CONTROL;

/// How long an answer may be kept; not at all when it does not say. RFC 9111 5.2.2.
pub fn freshness(headers: &HeaderMap) -> Duration {
    let lines = headers.get_all(CACHE_CONTROL).iter().filter_map(|line| line.to_str().ok());
    let mut fresh = Duration::ZERO;
    for directive in lines.flat_map(|line| line.split(',')).map(|one| one.trim().to_ascii_lowercase()) {
        match directive.split_once('=') {
            None if directive == "no-store" || directive == "no-cache" => return Duration::ZERO,
            Some(("max-age", seconds)) => {
                fresh = Duration::from_secs(seconds.trim_matches('"').parse().unwrap_or_default());
            }
            _ => {}
        }
    }
    fresh
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn rfc9111_5_2_2_what_does_not_say_so_is_not_kept() {
        for (lines, seconds) in [
            (&["max-age=60"][..], 60),
            (&["public, Max-Age=\"60\""], 60),
            (&["public", "max-age=60"], 60),
            (&["max-age=60", "no-store"], 0),
            (&["no-cache, max-age=60"], 0),
            (&["max-age=soon"], 0),
            (&["max-age=-1"], 0),
            (&["max-age=99999999999999999999999"], 0),
            (&[], 0),
        ] {
            let mut headers = HeaderMap::new();
            headers.extend(lines.iter().map(|line| (CACHE_CONTROL, line.parse::<HeaderValue>().unwrap())));
            assert_eq!(freshness(&headers), Duration::from_secs(seconds), "{lines:?}");
        }
    }
}
