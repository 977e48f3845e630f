//! `[log]`: what is written to standard error.

use std::num::NonZeroU64;
use std::path::PathBuf;

use forecourt_server::access_log::{self, AccessFormat};
use schemars::JsonSchema;
use serde::Deserialize;

/// `[log]`: what is written to standard error.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Log {
    /// How much: `error`, `warn`, `info`, `debug`, or filters such as `info,forecourt_host=debug`. Libraries are
    /// heard no further than their warnings, whatever this says.
    pub level: String,
    /// One line for people, or one JSON object for machines.
    pub format: LogFormat,
    /// A line for each request, apart from all this: `off`, `common`, `combined` or `json`. Paths are written as
    /// patterns, and neither queries nor ids.
    pub access: AccessFormat,
    /// The file in which those are written, from the deployment's folder on; on standard error when absent. It may be
    /// moved away at any time, and is then created again.
    pub access_file: Option<PathBuf>,
    /// Bytes of that file before it is moved to `.1` and the next one is begun.
    pub access_size_max: NonZeroU64,
    /// How many files are kept that were moved so.
    pub access_files_kept: u32,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For machines.
    Json,
}

impl Default for Log {
    fn default() -> Self {
        Self {
            level: "info".to_owned(),
            format: LogFormat::Text,
            access: AccessFormat::Off,
            access_file: None,
            access_size_max: NonZeroU64::new(access_log::FILE_BYTES_MAX).unwrap_or(NonZeroU64::MIN),
            access_files_kept: access_log::FILES_KEPT,
        }
    }
}
