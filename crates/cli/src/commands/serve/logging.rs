//! Structured lines on standard error.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::output::Failure;
use crate::settings::{Log, LogFormat};

/// Libraries that tell more than an operator wants to know of every request.
const TALKATIVE: &str = "rmcp=error";

/// Starts to log as `[log]` says; `FORECOURT_LOG` goes before its level.
pub(crate) fn start(log: &Log) -> Result<(), Failure> {
    let level = std::env::var("FORECOURT_LOG").unwrap_or_else(|_| log.level.clone());
    let filter = EnvFilter::try_new(format!("{TALKATIVE},{level}"))
        .map_err(|error| Failure::yours(format!("[log] level `{level}` is no filter: {error}")))?;
    let colours = std::io::stderr().is_terminal();
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(colours).with_writer(std::io::stderr);
    let started = match log.format {
        LogFormat::Text => lines.with_target(false).try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| Failure::ours(error.to_string()))
}
