//! What agents say of their work, as log messages: for clients that set a level, or name one in a request.
//! Deprecated since 2026-07-28, and still spoken.
#![expect(deprecated, reason = "the older revisions have it, and the newest still may")]

use forecourt_core::Handle;
use forecourt_core::reply::Progress;
use forecourt_surface::tool::Tool;
use rmcp::RoleServer;
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam, ProtocolVersion, SetLevelRequestParams};
use rmcp::service::RequestContext;

const V_2026_07_28: ProtocolVersion = ProtocolVersion::V_2026_07_28;

/// From which level on a client is told what is logged.
pub(crate) type Level = LoggingLevel;
/// A client that sets it.
pub(crate) type SetLevel = SetLevelRequestParams;

/// The level that a client sets.
pub(crate) fn level(set: &SetLevel) -> Level {
    set.level
}

/// Tells a client that wants at least `level` what a tool has come to, if there are words for it.
pub(crate) async fn tell(
    tool: &Tool,
    progress: &Progress,
    level: Option<LoggingLevel>,
    context: &RequestContext<RoleServer>,
) {
    let (Some(note), true) = (&progress.note, level.is_some_and(wants_info)) else { return };
    let logger = tool.agent.as_ref().map_or(tool.name.as_str(), Handle::as_str);
    let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, note.clone().into()).with_logger(logger);
    // A client that is gone is found out by the call itself.
    let _ = context.peer.notify_logging_message(message).await;
}

/// Passes on what a server logs during a call, to a client that wants messages of its level. One of the older revisions
/// that has set none hears what the server has chosen to tell (2025-11-25, logging); from 2026-07-28 on it hears nothing.
pub(crate) async fn pass_on(
    mut message: LoggingMessageNotificationParam,
    server: &str,
    level: Option<LoggingLevel>,
    context: &RequestContext<RoleServer>,
) {
    let chooses = || context.protocol_version().is_some_and(|spoken| spoken.as_str() < V_2026_07_28.as_str());
    if !level.map_or_else(chooses, |level| rank(message.level) >= rank(level)) {
        return;
    }
    message.logger.get_or_insert_with(|| server.to_owned());
    // A client that is gone is found out by the call itself.
    let _ = context.peer.notify_logging_message(message).await;
}

/// How grave a level is. RFC 5424.
fn rank(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}

/// Whether who wants messages of a level wants those of the level `info`.
fn wants_info(level: LoggingLevel) -> bool {
    rank(level) <= rank(LoggingLevel::Info)
}
