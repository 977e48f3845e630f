//! Small pieces that sections of several backends share, here and in other crates.

use std::time::Duration;

use forecourt_settings::{Problems, Section};
use url::Url;

pub use crate::http::settings::fields;

/// A number of seconds that is at least one and at most [`crate::limits::WAIT_TIME_MAX`].
pub fn seconds(section: &Section, key: &str, value: u64, problems: &mut Problems) -> Duration {
    let max = crate::limits::WAIT_TIME_MAX.as_secs();
    if !(1..=max).contains(&value) {
        problems.push(section.problem(Some(key), format!("`{key}` must be between 1 and {max} seconds")));
    }
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
