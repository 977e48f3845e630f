//! Bounds of the backends. Those with a key are its default.

use std::time::Duration;

/// How long any single wait of a backend may be set to.
pub const WAIT_TIME_MAX: Duration = Duration::from_secs(3_600);
/// Bytes of one server-sent event, or of one line of a program's output: an artifact of the largest
/// size in base64, and its frame.
pub const FRAME_BYTES_MAX: usize = forecourt_core::limits::ARTIFACT_BYTES_MAX / 3 * 4 + 64 * 1024;
/// Bytes that one answer of a program or a webhook may take on its way to us.
pub const ANSWER_BYTES_MAX: usize = forecourt_core::limits::REPLY_BYTES_MAX / 3 * 4 + 4 * 1024 * 1024;

/// Rules of one script.
pub const SCRIPT_RULES_MAX: usize = 1_000;
/// Events of one rule.
pub const SCRIPT_EVENTS_MAX: usize = 10_000;
/// Bytes of a rule's pattern.
pub const SCRIPT_PATTERN_BYTES_MAX: usize = 4 * 1024;
/// Bytes of memory of one compiled pattern.
pub const SCRIPT_PATTERN_SIZE_MAX: usize = 1024 * 1024;

/// Seconds that a service may make callers wait.
pub const RETRY_AFTER_SECONDS_MAX: u64 = 24 * 60 * 60;
/// Retries of a request whose connection could not be made.
pub const RETRIES_MAX: usize = 5;
/// Fields that the settings add to each request.
pub const HEADERS_MAX: usize = 32;

/// Programs of one agent that run at once.
pub const PROCESSES_MAX: usize = 256;
/// Messages of one agent that wait for a program. One more is told to try again later.
pub const PROCESSES_WAITING_MAX: usize = 64;
/// Words of a command, the program included.
pub const COMMAND_WORDS_MAX: usize = 256;
/// Variables that the settings give to a program.
pub const VARIABLES_MAX: usize = 256;
/// How long a program that has answered may go on before it is ended.
pub const TIDY_TIME_MAX: Duration = Duration::from_secs(5);
/// Lines of a program's standard error that reach the log during one answer.
pub const STDERR_LINES_MAX: u32 = 100;
/// Bytes of such a line.
pub const STDERR_LINE_BYTES_MAX: usize = 1024;

/// Bytes of one call that pushes items.
pub const PUSH_BYTES_MAX: usize = forecourt_index::limits::PUSH_BYTES_MAX;

/// Tool calls in one answer of a model. Security sheet, section 11.
pub const TOOL_CALLS_MAX: usize = 32;
/// Bytes of the arguments of one tool call.
pub const TOOL_ARGUMENTS_BYTES_MAX: usize = 64 * 1024;
/// Bytes of an answer of a model that comes in one piece.
pub const MODEL_BODY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Other agents that a model is told of, and may ask.
pub const SIBLINGS_MAX: usize = 50;
/// Endpoints that one model may call.
pub const ENDPOINTS_MAX: usize = 100;
/// Characters of the name, and of the description, by which another agent is introduced to a model.
pub const SIBLING_WORDS_CHARS_MAX: usize = 200;
/// How long another agent may take for an answer to a model.
pub const SIBLING_TIME_MAX: Duration = Duration::from_secs(60);
/// Bytes of JSON of another agent's answer that a model reads.
pub const SIBLING_ANSWER_BYTES_MAX: usize = 24 * 1024;

/// Domains whose agents a model may ask.
pub const ELSEWHERE_DOMAINS_MAX: usize = 50;
/// Questions to agents of other domains for one answer.
pub const ELSEWHERE_CALLS_MAX: usize = 32;
/// Bytes of a question to an agent of another domain.
pub const ELSEWHERE_WORDS_BYTES_MAX: usize = 64 * 1024;
/// Bytes of the answer of an agent of another domain, as it comes over the wire.
pub const ELSEWHERE_ANSWER_BYTES_MAX: usize = 512 * 1024;

/// How often content is looked at, while there are at most [`CONTENT_LOOKS_MAX`] agents with content.
pub const CONTENT_LOOK_EVERY: Duration = Duration::from_secs(2);
/// Agents whose content is looked at in one round. A look is about 50 µs for a small folder, so that looking takes
/// a quarter of a percent of a processor at most; a thousand agents are seen to change within 20 s.
pub const CONTENT_LOOKS_MAX: usize = 100;
/// Agents whose content is indexed at once.
pub const CONTENT_RUNS_MAX: usize = 2;
/// Agents whose sites are visited at once. A visit is mostly waiting.
pub const CONTENT_FETCHES_MAX: usize = 32;
/// Agents whose content is embedded at once: one uses all processors.
pub const CONTENT_EMBEDDINGS_MAX: usize = 1;
/// The longest time between two tries to index what could not be indexed.
pub const CONTENT_RETRY_AFTER_MAX: Duration = Duration::from_secs(5 * 60);
/// How often a long run of indexing says in the log how far it is.
pub const CONTENT_PROGRESS_EVERY: Duration = Duration::from_secs(10);
/// Reasons of one agent that are remembered, so that each is logged once.
pub const CONTENT_REASONS_KEPT: usize = 1_000;
/// Reasons of one visit, or of one run of indexing, that reach the log.
pub const CONTENT_WARNINGS_LOGGED: usize = 10;

/// Tokens for services behind one agent that are kept, one for each caller's token.
pub const EXCHANGED_TOKENS_MAX: usize = 1_000;
/// How long such a token is kept at most.
pub const EXCHANGED_TOKEN_TIME_MAX: Duration = Duration::from_secs(3_600);
/// How long a token endpoint may take.
pub const TOKEN_EXCHANGE_TIME_MAX: Duration = Duration::from_secs(15);
/// Bytes of the answer of a token endpoint.
pub const TOKEN_ANSWER_BYTES_MAX: usize = 64 * 1024;
