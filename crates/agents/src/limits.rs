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

/// Options of a question that a search asks back.
pub const ELICIT_OPTIONS_MAX: usize = 6;
/// Sites of one agent.
pub const SITES_MAX: usize = 50;
/// Pages of one visit to a site.
pub const SITE_PAGES_MAX: usize = 100_000;
/// Links from the first page of a site to the last one.
pub const SITE_DEPTH_MAX: u32 = 50;
/// Seconds between two requests to a site.
pub const SITE_DELAY_MAX: f64 = 60.0;
/// Minutes between two visits: a year.
pub const REFRESH_MINUTES_MAX: u64 = 525_600;
/// Bytes of one call that pushes items.
pub const PUSH_BYTES_MAX: usize = forecourt_content::limits::PUSH_BYTES_MAX;
/// Reasons of one run of indexing that are told.
pub const WARNINGS_MAX: usize = 100;
/// Files and folders of content of one agent.
pub const CONTENT_SOURCES_MAX: usize = 1_000;
/// Results of one answer.
pub const RESULTS_MAX: usize = 50;
/// Results of one answer to who asks for more at once.
pub const SHOWN_MAX: usize = 100;
/// Facets that are told of one answer.
pub const FACETS_MAX: usize = 6;
/// Earlier turns of the caller that a follow-up may build on.
pub const FOLLOW_UPS_MAX: usize = 20;
/// Items up to which a search is done where the question arrives; larger ones get a thread of their own.
pub const INLINE_ITEMS_MAX: u64 = 50_000;
/// Bytes of one fact of an item in an answer.
pub const FACT_BYTES_MAX: usize = 120;
/// Bytes of one text about a caller that are read beside the question.
pub const BACKGROUND_BYTES_MAX: usize = 4 * 1024;
/// Such texts that are read.
pub const BACKGROUND_TEXTS_MAX: usize = 16;
/// Clauses of one such text by which items may come earlier.
pub const BACKGROUND_CLAUSES_MAX: usize = 32;
/// Constraints that such texts may come to.
pub const BACKGROUND_CONSTRAINTS_MAX: usize = 24;
/// Words of such texts by which items come earlier.
pub const LEANINGS_MAX: usize = 32;
/// Items, from the first on, that words about a caller may put into another order.
pub const LEANING_ITEMS_MAX: usize = 50;
/// Values named to ask about, beside words: in one message, and by all turns of a question, of which the
/// newest hold.
pub const QUESTION_FILTERS_MAX: usize = 32;

/// Rounds of tool calls in one answer of a model.
pub const TOOL_ROUNDS_MAX: usize = 8;
/// Tool calls in one answer of a model. Security sheet, section 11.
pub const TOOL_CALLS_MAX: usize = 32;
/// Bytes of the arguments of one tool call.
pub const TOOL_ARGUMENTS_BYTES_MAX: usize = 64 * 1024;
/// Bytes of the result of one tool call, as a model reads it.
pub const TOOL_RESULT_BYTES_MAX: usize = 32 * 1024;
/// Bytes of text that a model may write in one answer.
pub const MODEL_TEXT_BYTES_MAX: usize = 512 * 1024;
/// Bytes of an answer of a model that comes in one piece.
pub const MODEL_BODY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of a model's instructions.
pub const SYSTEM_BYTES_MAX: usize = 256 * 1024;
/// Bytes of one attachment that a model reads as text.
pub const ATTACHMENT_TEXT_BYTES_MAX: usize = 64 * 1024;
/// Images of one message that a model sees.
pub const IMAGES_MAX: usize = 8;
/// Items that a model gets from one search.
pub const TOOL_ITEMS_MAX: usize = 10;
/// Bytes of an item that a model gets whole; of a larger one it gets the facts.
pub const TOOL_ITEM_BYTES_MAX: usize = 2 * 1024;
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

/// Bytes of a prompt that count as one token: fewer than any language takes, so that budgets hold.
pub const BYTES_PER_TOKEN: usize = 3;
/// Tokens that one question may be allowed.
pub const SHARPEN_TOKENS_MAX: usize = 1_000_000;
/// How long a model that sharpens an answer may be given.
pub const SHARPEN_TIME_MAX: Duration = Duration::from_secs(60);
/// Items of one answer that a model may rank.
pub const RANKED_MAX: usize = 100;
/// Items that a model ranks in one call.
pub const RANK_WINDOW_ITEMS: usize = 10;
/// Calls for one question that run at once.
pub const RANK_CALLS_MAX: usize = 4;
/// Calls of one agent's model that run at once. More wait.
pub const SHARPEN_CALLS_MAX: usize = 16;
/// Failures in a row after which a model is left alone for [`SHARPEN_REST`].
pub const SHARPEN_FAILURES_MAX: u32 = 5;
/// How long a model that fails is left alone.
pub const SHARPEN_REST: Duration = Duration::from_secs(30);
/// Bytes of one answer of a model that sharpens.
pub const SHARPEN_ANSWER_BYTES_MAX: usize = 64 * 1024;
/// Bytes of answers that are kept for those who ask the same.
pub const KEPT_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Minutes for which they are kept: a day.
pub const KEPT_MINUTES_MAX: u64 = 1_440;
/// Bytes of one text of an item, or of a turn, in a prompt.
pub const PROMPT_TEXT_BYTES_MAX: usize = 600;
/// Turns before the question in a prompt.
pub const PROMPT_TURNS_MAX: usize = 8;
/// Bytes of a question as a model words it.
pub const REWRITTEN_BYTES_MAX: usize = 400;
/// Further searches that a model may think of.
pub const FURTHER_SEARCHES_MAX: usize = 3;
/// Characters of why an item stands where it does.
pub const WHY_CHARS_MAX: usize = 160;
/// Items that a summary is made from.
pub const SUMMARIZED_MAX: usize = 10;
/// Bytes of a summary.
pub const SUMMARY_BYTES_MAX: usize = 4 * 1024;
