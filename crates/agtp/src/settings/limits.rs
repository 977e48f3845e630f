//! What one request and one connection may take. Base 1, 2.1.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use forecourt_agtp_wire::codec::Bounds;
use forecourt_agtp_wire::limits::{BODY_BYTES_MAX, FIELDS_BYTES_MAX, START_LINE_BYTES_MAX};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::connection::Patience;
use crate::limits::{BODY_BYTES_SETTABLE, HEAD_BYTES_SETTABLE};

/// The table `limits`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LimitSettings {
    /// Bytes of a request line; at most 1048576.
    pub start_line_bytes_max: NonZeroUsize,
    /// Bytes of all header fields of a request together; at most 1048576.
    pub fields_bytes_max: NonZeroUsize,
    /// Bytes of a body; at most 9999999, the longest that the protocol can say.
    pub body_bytes_max: NonZeroUsize,
    /// Seconds for the first byte of a connection, and from the first byte of a head to its last.
    pub head_seconds: NonZeroU32,
    /// Seconds for a body.
    pub body_seconds: NonZeroU32,
    /// Seconds for which a connection without requests is kept.
    pub idle_seconds: NonZeroU32,
    /// Seconds for a client to take what is written.
    pub write_seconds: NonZeroU32,
}

impl Default for LimitSettings {
    fn default() -> Self {
        let bytes = |number| NonZeroUsize::new(number).unwrap_or(NonZeroUsize::MIN);
        let seconds = |number| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        Self {
            start_line_bytes_max: bytes(START_LINE_BYTES_MAX),
            fields_bytes_max: bytes(FIELDS_BYTES_MAX),
            body_bytes_max: bytes(BODY_BYTES_MAX),
            head_seconds: seconds(10),
            body_seconds: seconds(30),
            idle_seconds: seconds(60),
            write_seconds: seconds(30),
        }
    }
}

impl LimitSettings {
    pub(super) fn check(&self, wrong: &mut impl FnMut(&'static str, &str)) {
        for (name, found, most) in [
            ("start_line_bytes_max", self.start_line_bytes_max, HEAD_BYTES_SETTABLE),
            ("fields_bytes_max", self.fields_bytes_max, HEAD_BYTES_SETTABLE),
            ("body_bytes_max", self.body_bytes_max, BODY_BYTES_SETTABLE),
        ] {
            if found.get() > most {
                wrong("limits", &format!("`{name}` may be at most {most}"));
            }
        }
    }

    /// How much of a request is taken.
    pub(crate) fn bounds(&self) -> Bounds {
        Bounds {
            start_line_bytes: self.start_line_bytes_max.get(),
            fields_bytes: self.fields_bytes_max.get(),
            body_bytes: self.body_bytes_max.get(),
        }
    }

    /// How long a client may take.
    pub(crate) fn patience(&self) -> Patience {
        let seconds = |number: NonZeroU32| Duration::from_secs(number.get().into());
        Patience {
            head: seconds(self.head_seconds),
            body: seconds(self.body_seconds),
            idle: seconds(self.idle_seconds),
            write: seconds(self.write_seconds),
        }
    }
}
