//! `/metrics` in the two formats that scrapers read: OpenMetrics 1.0, and the text format 0.0.4 that came before it.

use std::borrow::Cow;

use http::HeaderMap;
use http::header::ACCEPT;

/// Bytes of an `Accept` that are looked at.
const ACCEPT_BYTES_MAX: usize = 1024;

/// A format of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exposition {
    /// OpenMetrics 1.0.
    OpenMetrics,
    /// The text format 0.0.4.
    Text,
}

impl Exposition {
    /// The one that a request wants: OpenMetrics, unless it wants text and does not want that as much.
    pub(crate) fn wanted_by(headers: &HeaderMap) -> Self {
        let accept = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let ranges: Vec<&str> = accept
            .filter(|value| value.len() <= ACCEPT_BYTES_MAX)
            .flat_map(|value| value.split(','))
            .map(str::trim)
            .collect();
        let weight = |media_type: &str| ranges.iter().filter_map(|range| weight_of(range, media_type)).max();
        match (weight("text/plain"), weight("application/openmetrics-text")) {
            (Some(text), other) if text > other.unwrap_or_default() => Self::Text,
            _ => Self::OpenMetrics,
        }
    }

    /// Its media type, as a field of an answer.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Text => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// What is in OpenMetrics, in this format.
    pub(crate) fn written(self, open_metrics: String) -> String {
        match self {
            Self::OpenMetrics => open_metrics,
            Self::Text => as_text(&open_metrics),
        }
    }
}

/// Thousandths of how much a range of `Accept` wants this type; `None` where it is another one. RFC 9110 12.5.1.
fn weight_of(range: &str, media_type: &str) -> Option<u16> {
    let mut parts = range.split(';').map(str::trim);
    if !parts.next()?.eq_ignore_ascii_case(media_type) {
        return None;
    }
    let quality = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
    let quality = quality.map_or(Some(1.0), |text| text.parse::<f32>().ok()).unwrap_or_default();
    // Out of `clamp` it fits, and what is no number is 0.
    Some((quality.clamp(0.0, 1.0) * 1000.0) as u16)
}

/// The same metrics in the older format: counters are named as their samples are, and there are neither units nor a word
/// that all is said. Exemplars, which it has not either, are written nowhere here.
fn as_text(open_metrics: &str) -> String {
    let mut counters: Vec<&str> = Vec::new();
    for line in open_metrics.lines() {
        if let Some(name) = line.strip_prefix("# TYPE ").and_then(|rest| rest.strip_suffix(" counter")) {
            counters.push(name);
        }
    }
    counters.sort_unstable();
    let mut text = String::with_capacity(open_metrics.len());
    for line in open_metrics.lines().filter_map(|line| line_as_text(line, &counters)) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn line_as_text<'a>(line: &'a str, counters: &[&str]) -> Option<Cow<'a, str>> {
    let Some(comment) = line.strip_prefix("# ") else { return Some(line.into()) };
    let (word, rest) = comment.split_once(' ')?;
    let (name, said) = rest.split_once(' ').unwrap_or((rest, ""));
    let name = match counters.binary_search(&name) {
        Ok(_) => format!("{name}_total"),
        Err(_) => name.to_owned(),
    };
    match (word, said) {
        ("HELP", said) => Some(format!("# HELP {name} {said}").into()),
        ("TYPE", "unknown") => Some(format!("# TYPE {name} untyped").into()),
        // Its samples have the suffix, and the older format has no such type.
        ("TYPE", "info") => Some(format!("# TYPE {name}_info gauge").into()),
        ("TYPE", said) => Some(format!("# TYPE {name} {said}").into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn wanted(accept: &str) -> Exposition {
        Exposition::wanted_by(&HeaderMap::from_iter([(ACCEPT, HeaderValue::from_str(accept).unwrap())]))
    }

    #[test]
    fn text_is_for_who_wants_it_more() {
        for text in ["text/plain", "text/plain;version=0.0.4;q=0.3", "text/html, text/plain;q=0.9, */*;q=0.1"] {
            assert_eq!(wanted(text), Exposition::Text, "{text}");
        }
        let prometheus = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1";
        for open in ["*/*", "", "application/openmetrics-text", prometheus, "text/plain;q=0", "text/plainer"] {
            assert_eq!(wanted(open), Exposition::OpenMetrics, "{open}");
        }
        assert_eq!(Exposition::wanted_by(&HeaderMap::new()), Exposition::OpenMetrics);
    }

    #[test]
    fn each_line_is_as_the_older_format_has_it() {
        let open = "# HELP a_requests Requests, by kind.\n# TYPE a_requests counter\na_requests_total{kind=\"x\"} 7\n\
                    # HELP a_bytes Bytes.\n# TYPE a_bytes gauge\n# UNIT a_bytes bytes\na_bytes 5\n\
                    # TYPE a_build info\na_build_info{version=\"1\"} 1\n# TYPE a_what unknown\na_what 1\n\
                    # TYPE a_seconds histogram\na_seconds_bucket{le=\"+Inf\"} 2\n# EOF\n";
        assert_eq!(
            as_text(open),
            "# HELP a_requests_total Requests, by kind.\n# TYPE a_requests_total counter\na_requests_total{kind=\"x\"} 7\n\
             # HELP a_bytes Bytes.\n# TYPE a_bytes gauge\na_bytes 5\n# TYPE a_build_info gauge\na_build_info{version=\"1\"} 1\n\
             # TYPE a_what untyped\na_what 1\n# TYPE a_seconds histogram\na_seconds_bucket{le=\"+Inf\"} 2\n"
        );
    }
}
