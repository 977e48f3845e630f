//! Small pieces that sections of several backends share, here and in other crates.

use std::collections::BTreeMap;
use std::time::Duration;

use forecourt_settings::{Problems, Section};
use http::header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

use crate::limits::HEADERS_MAX;

/// A number of seconds that is at least one and at most [`crate::limits::WAIT_TIME_MAX`].
pub fn seconds(section: &Section, key: &str, value: u64, problems: &mut Problems) -> Duration {
    let max = crate::limits::WAIT_TIME_MAX.as_secs();
    if !(1..=max).contains(&value) {
        problems.push(section.problem(Some(key), format!("`{key}` must be between 1 and {max} seconds")));
    }
    // Clamped although the problem is noted: later checks of the same section go on with a usable duration.
    Duration::from_secs(value.clamp(1, max))
}

/// A count between `min` and `max`.
pub fn count(section: &Section, key: &str, value: usize, min: usize, max: usize, problems: &mut Problems) {
    if !(min..=max).contains(&value) {
        problems.push(section.problem(Some(key), format!("`{key}` must be between {min} and {max}")));
    }
}

/// An absolute http or https URL. The operator wrote it, so any host will do.
pub fn upstream_url(section: &Section, key: &str, text: &str, problems: &mut Problems) {
    let fits = Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    if !fits {
        problems.push(section.problem(Some(key), format!("`{key}` must be an absolute http:// or https:// URL")));
    } else if forecourt_egress::CheckedUrl::parse(text).is_err() {
        let message = format!("`{key}` must be a plain URL, without a name, a password or spaces");
        problems.push(section.problem(Some(key), message).hint("credentials go into a header of their own"));
    }
}

/// Fields that are the client's to set.
const FRAMING: [HeaderName; 5] = [HOST, CONTENT_LENGTH, CONTENT_TYPE, CONNECTION, TRANSFER_ENCODING];

/// Fields that the settings add to each request, from the key `headers`, checked. Their values are
/// sensitive: nothing prints them.
pub fn fields(section: &Section, settings: &BTreeMap<String, String>, problems: &mut Problems) -> HeaderMap {
    count(section, "headers", settings.len(), 0, HEADERS_MAX, problems);
    let mut headers = HeaderMap::new();
    for (name, value) in settings {
        // The value is never shown: it may be a secret.
        match (HeaderName::try_from(name.as_str()), HeaderValue::from_str(value)) {
            (Ok(name), _) if FRAMING.contains(&name) => {
                problems
                    .push(section.problem(Some("headers"), format!("the field `{name}` is set by the client itself")));
            }
            (Ok(name), Ok(mut value)) => {
                // Such fields hold API keys: a sensitive value is not printed by `Debug`, and HTTP/2 does not index it.
                value.set_sensitive(true);
                headers.insert(name, value);
            }
            _ => {
                problems.push(section.problem(Some("headers"), format!("the field `{name}` can't be sent like this")));
            }
        }
    }
    headers
}
