//! This module names every bound of the tools that models and programs may call.

use std::time::Duration;

/// Rounds of tool calls in one answer of a model.
pub const TOOL_ROUNDS_MAX: usize = 8;
/// Bytes of the result of one tool call, as a model reads it.
pub const TOOL_RESULT_BYTES_MAX: usize = 32 * 1024;
/// Other agents that a model or a program is told of, and may ask.
pub const SIBLINGS_MAX: usize = 50;
/// Endpoints that one model may call.
pub const ENDPOINTS_MAX: usize = 100;
/// Characters of the name, and of the description, by which another agent is introduced to a model.
pub(crate) const SIBLING_WORDS_CHARS_MAX: usize = 200;
/// How long another agent may take for an answer to a model.
pub(crate) const SIBLING_TIME_MAX: Duration = Duration::from_secs(60);
/// Bytes of JSON of another agent's answer that a model reads.
pub(crate) const SIBLING_ANSWER_BYTES_MAX: usize = 24 * 1024;
/// Domains whose agents a model may ask.
pub const ELSEWHERE_DOMAINS_MAX: usize = 50;
/// Questions to agents of other domains for one answer.
pub const ELSEWHERE_CALLS_MAX: usize = 32;
/// Bytes of a question to an agent of another domain.
pub(crate) const ELSEWHERE_WORDS_BYTES_MAX: usize = 64 * 1024;
/// Calls of tools that one answer of a program may make.
pub const PROGRAM_CALLS_MAX: usize = 200;
/// Calls of tools that one answer of a program may have open at once.
pub const PROGRAM_CALLS_OPEN_MAX: usize = 32;
