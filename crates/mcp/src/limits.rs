//! Bounds of this protocol, each with its unit.

use std::ops::RangeInclusive;
use std::time::Duration;

/// Bytes of a request: what the SDK's servers take by default.
pub(crate) const BODY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Sessions of older clients at once.
pub(crate) const SESSIONS_MAX: usize = 2_000;
/// Sessions at once of one caller: an identity, else a network.
pub(crate) const SESSIONS_PER_CALLER_MAX: usize = 256;
/// Sessions at once from which on the host is crowded, and no caller is given many.
pub(crate) const SESSIONS_CROWDED: usize = 1_000;
/// Sessions at once of one caller where the host is crowded. Who has more keeps them.
pub(crate) const SESSIONS_PER_CALLER_CROWDED_MAX: usize = 20;
/// How long after its last request a session does not end so that another can begin.
pub(crate) const SESSION_RECENTLY_USED: Duration = Duration::from_secs(5 * 60);
/// When to come back who found no place for a session.
pub(crate) const SESSION_RETRY: Duration = Duration::from_secs(30);
/// How long clients wait before they take up a stream that broke.
pub(crate) const STREAM_RETRY: Duration = Duration::from_secs(3);
/// How long a session may be silent.
pub(crate) const SESSION_IDLE: Duration = Duration::from_secs(30 * 60);
/// How long a session that nodes share is kept after it was last noted that it is used.
pub(crate) const SESSION_KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// Sessions of other nodes that are made anew at once.
pub(crate) const RESTORES_MAX: usize = 64;
/// How often it is noted that a shared session is used, at most.
pub(crate) const SESSION_NOTED_EVERY: Duration = Duration::from_secs(60 * 60);
/// Events of all sessions that are kept for clients that lost a stream.
pub(crate) const EVENTS_KEPT_MAX: usize = 10_000;
/// Bytes of all events that are kept for clients that lost a stream.
pub(crate) const EVENT_BYTES_KEPT_MAX: usize = 64 * 1024 * 1024;
/// Entries on a page of a list.
pub(crate) const PAGE_SIZE: usize = 100;
/// Prompts that one agent's examples make.
pub(crate) const PROMPTS_PER_AGENT_MAX: usize = 20;
/// Bytes of a file that stands in the answer itself; a larger one is given by its address, if any.
pub(crate) const INLINE_FILE_BYTES_MAX: usize = 1024 * 1024;
/// How long the status of an answer to a call waits to learn that the caller must sign in.
pub(crate) const VERDICT_TIME_MAX: Duration = Duration::from_secs(2);
/// Bytes of a file of the deployment that clients may read.
pub(crate) const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Files in a prompt, and resources.
pub(crate) const PROMPT_PARTS_MAX: usize = 10;
/// How often files are looked at that somebody subscribes to.
pub(crate) const FILE_LOOK_EVERY: Duration = Duration::from_secs(2);
/// Resources that one client subscribes to.
pub(crate) const SUBSCRIPTIONS_MAX: usize = 100;
/// How long a reply has before it becomes a task, whose progress can be told.
pub(crate) const BECOMES_TASK_AFTER: Duration = Duration::from_secs(2);
/// Questions that are put to a person in one call. The next one is given as a result.
pub(crate) const QUESTIONS_PER_CALL_MAX: usize = 3;
/// How long a person may take to answer a question.
pub(crate) const ANSWER_TIME_MAX: Duration = Duration::from_secs(10 * 60);
/// Bytes of what is sealed in the state of a question.
pub(crate) const STATE_BYTES_MAX: usize = 16 * 1024;
/// Bytes of the words of a question.
pub(crate) const QUESTION_BYTES_MAX: usize = 4 * 1024;
/// Structured questions in one form.
pub(crate) const FIELDS_MAX: usize = 20;
/// Questions of tasks that are answered in part, all together.
pub(crate) const PARTIAL_ANSWERS_MAX: usize = 1_000;
/// How long clients may keep lists, which change when the host restarts.
pub(crate) const LIST_TTL: Duration = Duration::from_secs(60);
/// Tools that are named to who asked for one that is not there.
pub(crate) const TOOLS_NAMED_MAX: usize = 20;
/// How long a server has to name them.
pub(crate) const TOOL_LISTING_TIME_MAX: Duration = Duration::from_secs(10);
/// How often clients are asked to look at a task.
pub(crate) const TASK_POLL: Duration = Duration::from_secs(1);
/// Tools of the owner's naming, and prompts.
pub(crate) const NAMED_MAX: usize = 100;
/// Characters of the name of a tool or prompt of the owner's naming.
pub(crate) const NAME_CHARS_MAX: usize = 64;
/// Bytes of one message of a program behind an agent.
pub(crate) const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of a line of what such a program complains of, in the log.
pub(crate) const COMPLAINT_BYTES_MAX: usize = 1024;
/// Calls of one agent, each with its connection or program, that wait for an answer to their question.
pub(crate) const CALLS_WAITING_MAX: usize = 32;
/// Words of progress of one call that wait to be passed on; of more, the newest are left out.
pub(crate) const PROGRESS_WAITING_MAX: usize = 64;
/// Calls of one connection whose progress came before it was known whose it is.
pub(crate) const EARLY_PROGRESS_MAX: usize = 64;

/// Tools that a list may be allowed to have before they are found instead: the fewest are those that find others, and
/// one.
pub(crate) const TOOLS_LISTED: RangeInclusive<usize> = 4..=10_000;
/// The same, where the operator says nothing. Models choose worse among more, and some clients take no more than 100.
pub(crate) const TOOLS_LISTED_DEFAULT: usize = 60;
/// Names and patterns of tools that are always listed.
pub(crate) const PINNED_MAX: usize = 100;
/// Bytes of the output schemas in a list of tools; those after them are given by `describe_tool` alone.
pub(crate) const OUTPUT_SCHEMAS_BYTES_MAX: usize = 128 * 1024;
/// Characters of a question for tools.
pub(crate) const TOOL_QUERY_CHARS_MAX: usize = 500;
/// Tools that a search gives, unless told otherwise.
pub(crate) const TOOLS_FOUND_DEFAULT: usize = 10;
/// Tools that a search gives at most.
pub(crate) const TOOLS_FOUND_MAX: usize = 50;
/// Tools that are named to who asked for one that is not there and may have meant them.
pub(crate) const TOOLS_FOUND_NEAR: usize = 3;
/// Characters of what is said of a tool that was found.
pub(crate) const TOOL_SUMMARY_CHARS_MAX: usize = 300;
/// Names of arguments of a tool that was found.
pub(crate) const ARGUMENTS_NAMED_MAX: usize = 20;
/// Lists of endpoints of agents that are kept as they were searched last.
pub(crate) const LISTINGS_KEPT_MAX: usize = 64;

/// How long a server has that is asked what it has, to be imported. A program may have to be fetched first.
pub(crate) const SURVEY_TIME_MAX: Duration = Duration::from_secs(120);
/// Lines of what a program that gave no answer said last.
pub(crate) const LAST_WORDS_MAX: usize = 8;
/// How long such a program is listened to.
pub(crate) const LAST_WORDS_TIME_MAX: Duration = Duration::from_secs(1);

/// How long others may keep the card of a server.
pub(crate) const SERVER_CARD_FRESH: Duration = Duration::from_secs(300);
/// Bytes of what the SDK says when it refuses a request: longer words are left out.
pub(crate) const SDK_WORDS_BYTES_MAX: usize = 1_000;
/// Characters of the name of a server in a registry.
pub(crate) const REGISTRY_NAME_CHARS_MAX: usize = 200;
/// Characters of its title, and of what it says of itself.
pub(crate) const REGISTRY_WORDS_CHARS_MAX: usize = 100;
/// Characters of its version, and of the address of its picture.
pub(crate) const REGISTRY_VERSION_CHARS_MAX: usize = 255;
/// Bytes of the settings of another program, into which a server is written.
pub(crate) const SETTINGS_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Servers behind one host.
pub(crate) const SERVERS_MAX: usize = 200;
/// Entries of each list of one server; of more, the first count.
pub(crate) const LISTED_PER_SERVER_MAX: usize = 1_000;
/// Bytes of one entry in a list of a server; a larger one is left out, since clients are given all of it.
pub(crate) const LISTED_ENTRY_BYTES_MAX: usize = 256 * 1024;
/// Pages of one list of a server.
pub(crate) const LIST_PAGES_MAX: usize = 200;
/// Bytes of a file with the lists of a server.
pub(crate) const LISTS_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Patterns in one list of names of a server.
pub(crate) const PATTERNS_MAX: usize = 100;
/// Tools of one server that its file changes.
pub(crate) const TOOL_CHANGES_MAX: usize = 1_000;
/// How long a server has to tell what it has.
pub(crate) const SERVER_LISTING_TIME_MAX: Duration = Duration::from_secs(30);
/// How often a server is asked what it has, though it told of no change.
pub(crate) const SERVER_LISTED_EVERY: Duration = Duration::from_secs(10 * 60);
/// When a server is asked again that did not tell what it has; longer each time.
pub(crate) const SERVER_LISTED_AGAIN: Duration = Duration::from_secs(5);
/// How long is waited at most before it is asked again.
pub(crate) const SERVER_LISTED_AGAIN_MAX: Duration = Duration::from_secs(5 * 60);
/// Sessions with one server.
pub(crate) const SESSIONS_PER_SERVER_MAX: usize = 128;
/// Programs of one server that run at once.
pub(crate) const PROGRAMS_PER_SERVER_MAX: usize = 16;
/// Sessions of one caller with one server.
pub(crate) const SERVER_SESSIONS_PER_CALLER_MAX: usize = 8;
/// How long a session with a server is kept that nobody uses.
pub(crate) const SERVER_SESSION_IDLE: Duration = Duration::from_secs(10 * 60);
/// Calls of one server that are under way at once.
pub(crate) const CALLS_PER_SERVER_MAX: usize = 64;
/// Calls of one server and one caller that are under way at once: half of all, so that nobody has all.
pub(crate) const CALLS_PER_SERVER_AND_CALLER_MAX: usize = 32;
/// Requests of one session with a server that are under way at once.
pub(crate) const CALLS_PER_SESSION_MAX: usize = 64;
/// How long a call waits in line for a place with its server.
pub(crate) const SERVER_QUEUE_TIME_MAX: Duration = Duration::from_secs(5);
/// Failures in a row after which a server on HTTP is left alone for a while.
pub(crate) const SERVER_FAILURES_MAX: u32 = 5;
/// How long a server is left alone that failed so often; longer each time.
pub(crate) const SERVER_LEFT_ALONE: Duration = Duration::from_secs(5);
/// How long a program that died is waited for before it is started again; longer each time.
pub(crate) const PROGRAM_LEFT_ALONE: Duration = Duration::from_secs(1);
/// How long a server is left alone at most.
pub(crate) const SERVER_LEFT_ALONE_MAX: Duration = Duration::from_secs(60);
/// Calls of one host that wait for the answer of a person, in rounds.
pub(crate) const CALLS_PARKED_MAX: usize = 256;
/// The same of one caller.
pub(crate) const CALLS_PARKED_PER_CALLER_MAX: usize = 32;
/// How long a server may still speak in a call that was given up: what it says meanwhile and can't be told is heard by no
/// other caller.
pub(crate) const GIVEN_UP_HEARD_MAX: Duration = Duration::from_secs(10 * 60);
/// Callers of one session that gave calls up and are told apart.
pub(crate) const GIVEN_UP_OWNERS_MAX: usize = 64;
/// How long a program has to say that it is there, after a call that it left without an answer.
pub(crate) const PROGRAM_PING_TIME_MAX: Duration = Duration::from_secs(2);
/// Questions of a server in one call.
pub(crate) const SERVER_QUESTIONS_MAX: usize = 10;
/// Messages that a server logs during one call and that wait to be passed on; of more, the newest are left out.
pub(crate) const LOGS_WAITING_MAX: usize = 64;
/// Changes of a server's resources that wait to be told to one client; of more, the oldest are left out.
pub(crate) const UPDATES_WAITING_MAX: usize = 256;
/// Bytes of an address in the challenge of a server.
pub(crate) const CHALLENGE_URL_BYTES_MAX: usize = 2_048;
/// Requests of one session with a server that were posted without the SDK, and that it went on with: far more than may
/// be under way, so that those which were given up are known as well.
pub(crate) const RENAMED_IDS_MAX: usize = 256;
/// Bytes of the first event in the answer to a call that are looked at for the result; a longer one is read by the SDK.
pub(crate) const FIRST_EVENT_BYTES_MAX: usize = 256 * 1024;
/// Pieces in which those bytes may come; of more, the SDK reads the event.
pub(crate) const FIRST_EVENT_CHUNKS_MAX: usize = 64;
/// Scopes that are asked for at a server's authorization server.
pub(crate) const SCOPES_MAX: usize = 50;
/// How long a sign-in at a server is kept after it was refreshed last.
pub(crate) const SIGN_IN_KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How long before its end a token of a person is refreshed.
pub(crate) const REFRESH_BEFORE: Duration = Duration::from_secs(60);
/// How long a node has to refresh a token before another one may.
pub(crate) const REFRESH_TURN: Duration = Duration::from_secs(30);
/// How long to wait before a token is refreshed again after that failed.
pub(crate) const REFRESH_RETRY: Duration = Duration::from_secs(5);
/// How long to wait before it is looked whether another node has refreshed a token, and how often that is looked.
pub(crate) const REFRESH_LOOKED_FOR: Duration = Duration::from_millis(250);
/// How often it is looked whether another node has refreshed a token: ten seconds together.
pub(crate) const REFRESH_LOOKS_MAX: usize = 40;
