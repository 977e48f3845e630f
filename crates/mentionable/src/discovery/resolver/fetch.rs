//! One JSON document over https, within its bounds.

use std::time::Duration;

use forecourt_core::json;
use forecourt_egress::{Deadlines, Egress, Purpose, UpstreamRequest};
use http::HeaderMap;
use http::header::CACHE_CONTROL;
use serde_json::Value;

use super::super::limits::DOCUMENT_TIME_MAX;
use super::error::{ResolveError, ResolveSource};

/// Something that was fetched, and how long its server lets it be kept.
pub(super) struct FetchedDocument<T> {
    pub(super) value: T,
    pub(super) fresh: Duration,
}

/// Fetches an object. Its media type does not matter: static hosts get that wrong, and what is not
/// JSON shows itself.
pub(super) async fn json(
    egress: &Egress,
    purpose: Purpose,
    what: ResolveSource,
    url: &str,
) -> Result<FetchedDocument<Value>, ResolveError> {
    let bounds = purpose.deadlines(egress.config());
    let bounds = Deadlines { total: bounds.total.min(DOCUMENT_TIME_MAX), ..bounds };
    let fetched = egress.fetch(purpose, UpstreamRequest::get(url).within(bounds)).await;
    let fetched = fetched.map_err(|error| ResolveError::unavailable(what, url, error))?;
    let value = json::parse(&fetched.bytes).ok().filter(Value::is_object);
    let value = value.ok_or_else(|| ResolveError::Unreadable { what, url: url.to_owned() })?;
    Ok(FetchedDocument { value, fresh: freshness(&fetched.headers) })
}

/// How long an answer may be kept; not at all when it does not say. RFC 9111 5.2.2.
fn freshness(headers: &HeaderMap) -> Duration {
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

    fn of(text: &'static str) -> u64 {
        let mut headers = HeaderMap::new();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(text));
        freshness(&headers).as_secs()
    }

    #[test]
    fn servers_say_how_long_their_answers_hold() {
        assert_eq!(of("public, max-age=3600"), 3600);
        assert_eq!(of("Max-Age=\"60\", public"), 60);
        assert_eq!(of("max-age=3600, no-store"), 0);
        assert_eq!(of("no-cache"), 0);
        assert_eq!(of("max-age=-1"), 0);
        assert_eq!(of("max-age=99999999999999999999999"), 0);
        assert_eq!(freshness(&HeaderMap::new()).as_secs(), 0);
    }
}
