//! Every bound of the HTTP listeners, with its unit. All are settings; none can be switched off.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Entries of `X-Forwarded-For` or `Forwarded` that are looked at, from the right.
pub(crate) const FORWARDED_ENTRIES_MAX: usize = 64;

/// Bytes of an `X-Request-Id` that a trusted proxy gives. A longer one is passed over.
pub(crate) const REQUEST_ID_BYTES_MAX: usize = 64;

/// Frames of HTTP/2 that ask for nothing, such as pings, settings, priorities and resets, which a client may
/// send at once; one more ends the connection.
pub(crate) const IDLE_FRAMES_MAX: u32 = 500;

/// How many of these a client may send each second, from then on.
pub(crate) const IDLE_FRAMES_PER_SECOND: u32 = 50;

/// How long a request that is half sent may take to be whole once its connection was told to end.
pub const ARRIVING_MAX: Duration = Duration::from_secs(5);

/// How long a connection that said nothing yet has for its first byte once it was told to end: what is on its way
/// from a client that connected just before is read.
pub(crate) const FIRST_BYTE_MAX: Duration = Duration::from_millis(100);

/// How long a connection of HTTP/2 that was told to end is kept for its client to take notice, after anything went on:
/// up to twice as long.
pub(crate) const FAREWELL_MAX: Duration = Duration::from_secs(2);

/// Bytes of a method's name.
pub(crate) const METHOD_BYTES_MAX: usize = 32;

/// Bytes of a client's own certificate.
pub(crate) const CLIENT_CERTIFICATE_BYTES_MAX: usize = 16 * 1024;

/// Authorities whose certificates of clients are taken.
pub const AUTHORITIES_MAX: usize = 100;

/// The longest wait that can be configured.
const SECONDS_MAX: f64 = 24.0 * 3600.0;

/// What one client may use of the HTTP listeners.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HttpLimits {
    /// Bytes of a request's head, request line and fields together; more is 431.
    #[serde(deserialize_with = "bounded::<_, 1024, 1_048_576>")]
    pub head_bytes_max: usize,
    /// Fields of a request's head; more is 431.
    #[serde(deserialize_with = "bounded::<_, 8, 1000>")]
    pub head_fields_max: usize,
    /// Bytes of a request's target; more is 414.
    #[serde(deserialize_with = "bounded::<_, 256, 65_536>")]
    pub target_bytes_max: usize,
    /// Seconds from the first byte of a head to its last, and from the start of a connection to its
    /// first byte.
    #[serde(rename = "head_seconds", with = "seconds")]
    #[schemars(with = "f64")]
    pub head_time: Duration,
    /// Seconds that a connection may be open with no request in flight.
    #[serde(rename = "idle_seconds", with = "seconds")]
    #[schemars(with = "f64")]
    pub idle_time: Duration,
    /// Seconds that a client may leave an answer unread, or a body that is being read unsent.
    #[serde(rename = "stall_seconds", with = "seconds")]
    #[schemars(with = "f64")]
    pub stall_time: Duration,
    /// Seconds that a TLS handshake may take.
    #[serde(rename = "handshake_seconds", with = "seconds")]
    #[schemars(with = "f64")]
    pub handshake_time: Duration,
    /// Seconds that requests in flight have to finish once their listener is closed. Longer than the 30 that running
    /// work has then, so that who waits for it hears its end.
    #[serde(rename = "drain_seconds", with = "seconds")]
    #[schemars(with = "f64")]
    pub drain_time: Duration,
    /// Connections open at once, on each listener.
    #[serde(deserialize_with = "bounded::<_, 1, 1_000_000>")]
    pub connections_max: usize,
    /// Connections open at once from one IPv4 address or one IPv6 /64. An IPv4 /24 or an IPv6 /56 may have as many, and
    /// at least a quarter of `connections_max`; a /20 or a /48 at least half of it. Trusted proxies are exempt.
    #[serde(deserialize_with = "bounded::<_, 1, 1_000_000>")]
    pub connections_per_address_max: usize,
    /// HTTP/2 streams open at once on one connection.
    #[serde(deserialize_with = "bounded::<_, 1, 10_000>")]
    pub streams_max: usize,
    /// Bytes that an HTTP/2 client may send on one stream before they are read.
    #[serde(deserialize_with = "bounded::<_, 65_535, 16_777_216>")]
    pub stream_window_bytes: usize,
    /// Bytes that an HTTP/2 client may send on one connection before they are read.
    #[serde(deserialize_with = "bounded::<_, 65_535, 67_108_864>")]
    pub connection_window_bytes: usize,
    /// HTTP/2 streams that were reset before they were answered; one more ends the connection.
    #[serde(deserialize_with = "bounded::<_, 1, 10_000>")]
    pub pending_resets_max: usize,
}

impl Default for HttpLimits {
    fn default() -> HttpLimits {
        HttpLimits {
            // Security sheet 0, unless a line says otherwise.
            head_bytes_max: 32 * 1024,
            head_fields_max: 100,
            target_bytes_max: 16 * 1024,
            head_time: Duration::from_secs(10),
            idle_time: Duration::from_secs(60),
            stall_time: Duration::from_secs(30),
            handshake_time: Duration::from_secs(10),
            drain_time: Duration::from_secs(35),
            connections_max: 10_000,
            // More than the 256 answers that one caller may hold open, each on a connection of its own.
            connections_per_address_max: 512,
            // As many as one caller may hold answers open; the sheet's 100 would make one HTTP/2 client wait for
            // itself.
            streams_max: 256,
            stream_window_bytes: 64 * 1024,
            connection_window_bytes: 1024 * 1024,
            pending_resets_max: 20,
        }
    }
}

fn bounded<'de, D: Deserializer<'de>, const MIN: usize, const MAX: usize>(input: D) -> Result<usize, D::Error> {
    let value = usize::deserialize(input)?;
    if (MIN..=MAX).contains(&value) {
        Ok(value)
    } else {
        Err(de::Error::custom(format_args!("{value} is not between {MIN} and {MAX}")))
    }
}

/// A duration as a number of seconds, fractions included.
mod seconds {
    use super::*;

    pub(super) fn serialize<S: Serializer>(value: &Duration, output: S) -> Result<S::Ok, S::Error> {
        output.serialize_f64(value.as_secs_f64())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Duration, D::Error> {
        let value = f64::deserialize(input)?;
        if (0.001..=SECONDS_MAX).contains(&value) {
            Ok(Duration::from_secs_f64(value))
        } else {
            Err(de::Error::custom(format_args!("{value} is not between 0.001 and {SECONDS_MAX} seconds")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<HttpLimits, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn nothing_can_be_unlimited() {
        for json in [
            r#"{"head_bytes_max": 0}"#,
            r#"{"head_bytes_max": 1048577}"#,
            r#"{"head_seconds": 0}"#,
            r#"{"idle_seconds": 86401}"#,
            r#"{"idle_seconds": -1}"#,
            r#"{"connections_max": 0}"#,
        ] {
            assert!(read(json).is_err_and(|error| error.contains("is not between")), "{json}");
        }
        assert!(read(r#"{"head_bytes": 1}"#).is_err_and(|error| error.contains("unknown field")));
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        let limits = read(r#"{"head_seconds": 2, "idle_seconds": 0.5}"#).unwrap_or_default();
        assert_eq!((limits.head_time, limits.idle_time), (Duration::from_secs(2), Duration::from_millis(500)));
        assert_eq!(limits.head_bytes_max, HttpLimits::default().head_bytes_max);
    }
}
