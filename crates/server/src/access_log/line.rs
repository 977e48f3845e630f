//! One request as a line: what is known of it, in the formats that other programs read.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::time::Duration;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes of what a client says of itself that are written.
const AGENT_BYTES_MAX: usize = 256;

/// How a line looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AccessFormat {
    /// No lines.
    #[default]
    Off,
    /// The Common Log Format, with the request id, the wire and the milliseconds behind it.
    Common,
    /// The same with where the client came from and what it calls itself, as Apache and nginx write it.
    Combined,
    /// A JSON object in each line, with everything.
    Json,
}

/// What is known of a request when its answer is at its end.
#[derive(Debug, Clone, Serialize, Default)]
pub struct AccessEntry {
    /// Where it came from: the client that a trusted proxy names, else the peer.
    pub client: Option<IpAddr>,
    /// The wire.
    pub protocol: &'static str,
    /// The pattern that its path was mounted under.
    pub route: String,
    /// The agent in the path, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The method; of a closed set.
    pub method: &'static str,
    /// The version of HTTP, or none.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub version: &'static str,
    /// The status.
    pub status: u16,
    /// Bytes of the body of the answer that were handed to the connection.
    pub bytes: u64,
    /// From the head of the request to the end of the answer.
    #[serde(serialize_with = "seconds")]
    pub seconds: Duration,
    /// Whether the client went away before the answer was at its end.
    pub is_cut: bool,
    /// The id of the request.
    pub request_id: String,
    /// The id of its trace, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// Where the client came from, without a query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub referer: Option<String>,
    /// What the client calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
}

fn seconds<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    // Microseconds are as exact as it is of any use.
    serializer.serialize_f64((time.as_secs_f64() * 1e6).round() / 1e6)
}

/// A line of JSON.
#[derive(Serialize)]
struct Json<'a> {
    time: String,
    #[serde(flatten)]
    entry: &'a AccessEntry,
}

impl AccessEntry {
    /// What of a `Referer` is written: where its page is, without the query, which may hold a token.
    pub(crate) fn referer_of(text: &str) -> String {
        clean(text.split(['?', '#']).next().unwrap_or_default())
    }

    /// What of a `User-Agent` is written.
    pub(crate) fn agent_of(text: &str) -> String {
        clean(text)
    }

    /// The line, with its end.
    pub(crate) fn line(&self, format: AccessFormat, now: Timestamp) -> String {
        match format {
            AccessFormat::Off => String::new(),
            AccessFormat::Json => {
                let json = Json { time: format!("{now:.3}"), entry: self };
                let mut line = serde_json::to_string(&json).unwrap_or_default();
                line.push('\n');
                line
            }
            AccessFormat::Common => self.common(now, false),
            AccessFormat::Combined => self.common(now, true),
        }
    }

    fn common(&self, now: Timestamp, is_combined: bool) -> String {
        let client = self.client.map_or_else(|| "-".to_owned(), |client| client.to_string());
        let at = now.strftime("%d/%b/%Y:%H:%M:%S +0000");
        let path = match &self.agent {
            Some(agent) => self.route.replace("{handle}", agent),
            None => self.route.clone(),
        };
        // Readers of the format want three words in the quotes; protocols without HTTP's versions give their name.
        let version = if self.version.is_empty() { self.protocol } else { self.version };
        let mut line =
            format!("{client} - - [{at}] \"{} {path} {version}\" {} {}", self.method, self.status, self.bytes);
        let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        // Writing to a text never fails.
        let _ = match is_combined {
            true => write!(line, " \"{}\" \"{}\"", or_dash(&self.referer), or_dash(&self.user_agent)),
            false => Ok(()),
        };
        let milliseconds = self.seconds.as_secs_f64() * 1e3;
        let trace = or_dash(&self.trace_id);
        let _ = writeln!(line, " {} {trace} {} {milliseconds:.3}", self.request_id, self.protocol);
        line
    }
}

/// Nothing that ends a line or a quoted text, and not too much.
fn clean(text: &str) -> String {
    let plain = text.chars().filter(|c| !c.is_control() && !matches!(c, '"' | '\\'));
    let mut kept = String::new();
    for character in plain {
        if kept.len() + character.len_utf8() > AGENT_BYTES_MAX {
            break;
        }
        kept.push(character);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> AccessEntry {
        AccessEntry {
            client: Some("192.0.2.7".parse().unwrap()),
            protocol: "mentionable",
            route: "/~{handle}".to_owned(),
            agent: Some("chef".to_owned()),
            method: "GET",
            version: "HTTP/1.1",
            status: 200,
            bytes: 512,
            seconds: Duration::from_micros(12_345),
            is_cut: false,
            request_id: "00ff".to_owned(),
            trace_id: None,
            referer: Some(AccessEntry::referer_of("https://a.example/page?token=secret#x")),
            user_agent: Some(AccessEntry::agent_of("curl/8 \"quoted\"\r\nInjected: yes")),
        }
    }

    fn at() -> Timestamp {
        "2026-03-04T05:06:07.891Z".parse().unwrap()
    }

    #[test]
    fn a_line_of_each_format() {
        let common = "192.0.2.7 - - [04/Mar/2026:05:06:07 +0000] \"GET /~chef HTTP/1.1\" 200 512";
        assert_eq!(entry().line(AccessFormat::Common, at()), format!("{common} 00ff - mentionable 12.345\n"));
        let more = "\"https://a.example/page\" \"curl/8 quotedInjected: yes\"";
        assert_eq!(entry().line(AccessFormat::Combined, at()), format!("{common} {more} 00ff - mentionable 12.345\n"));
        let json: serde_json::Value = serde_json::from_str(&entry().line(AccessFormat::Json, at())).unwrap();
        assert_eq!(json["time"], "2026-03-04T05:06:07.891Z");
        assert_eq!((&json["route"], &json["agent"]), (&"/~{handle}".into(), &"chef".into()));
        assert_eq!((&json["seconds"], &json["status"]), (&0.012_345.into(), &200.into()));
        assert_eq!(json.get("trace_id"), None);
    }

    #[test]
    fn nothing_that_a_client_says_ends_a_line_or_fills_the_disk() {
        let odd = AccessEntry { user_agent: Some(AccessEntry::agent_of(&"\u{7f}\n\t\"é".repeat(1_000))), ..entry() };
        for format in [AccessFormat::Combined, AccessFormat::Json] {
            let line = odd.line(format, at());
            assert_eq!(line.matches('\n').count(), 1, "{line}");
            assert!(line.len() < 1_000);
        }
        assert_eq!(AccessEntry::agent_of(&"x".repeat(AGENT_BYTES_MAX + 1)).len(), AGENT_BYTES_MAX);
    }
}
