//! Every bound of the operator's surface, with its unit.

use std::time::Duration;

/// Bytes of a body of a call.
pub const BODY_BYTES_MAX: usize = 256 * 1024;
/// Characters of a reason that somebody gives.
pub const REASON_CHARS_MAX: usize = 500;
/// Things in a list that does not say how many it wants.
pub(crate) const PAGE_DEFAULT: usize = 50;
/// Things in a list.
pub(crate) const PAGE_MAX: usize = 200;
/// Tasks that are looked at for those that were asked over chats.
pub(crate) const CHAT_TASKS_MAX: usize = 1_000;
/// Tasks of chats that are listed.
pub(crate) const CHAT_THREADS_MAX: usize = 50;
/// Deliveries that are looked at for those of chats.
pub(crate) const CHAT_DELIVERIES_MAX: usize = 1_000;
/// Events of a task that are shown at once.
pub(crate) const EVENTS_MAX: usize = 500;
/// Characters of a text of an event, or of an answer, that are shown.
pub(crate) const TEXT_CHARS_MAX: usize = 20_000;
/// How long a session of the console lasts, whatever happens.
pub const SESSION_LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);
/// How long it lasts without a request.
pub const SESSION_IDLE: Duration = Duration::from_secs(30 * 60);
/// How long it has gone on when it is written down that it does.
pub const SESSION_TOUCH: Duration = Duration::from_secs(5 * 60);
/// Sessions of the console that are listed, and as many of people who signed in.
pub(crate) const SESSIONS_LISTED_MAX: usize = 200;
/// Logins at a provider that are begun within [`ATTEMPTS_WITHIN`], by everybody together: each is kept for ten minutes.
pub const LOGINS_BEGUN_MAX: usize = 60;
/// Bytes of the query that a provider's answer comes back with.
pub const CALLBACK_BYTES_MAX: usize = 16 * 1024;
/// Values of a claim that give a role.
pub(crate) const ROLE_VALUES_MAX: usize = 100;
/// Characters of what a provider is called on the login.
pub(crate) const LOGIN_NAME_CHARS_MAX: usize = 60;
/// Characters of what somebody is called who was let in.
pub const NAME_CHARS_MAX: usize = 200;
/// Wrong tokens that may be shown within [`ATTEMPTS_WITHIN`], by everybody together. Over it, nobody logs in until
/// that time is over; programs that carry the token are not bounded.
pub const ATTEMPTS_MAX: usize = 10;
/// See [`ATTEMPTS_MAX`].
pub const ATTEMPTS_WITHIN: Duration = Duration::from_secs(60);
/// Days for which it is kept what operators did.
pub(crate) const ACTIONS_DAYS: i64 = 365;
/// Streams of changes that are open at once.
pub(crate) const STREAMS_MAX: usize = 32;
/// How often it is looked whether something has changed.
pub const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long a stream stays open; a browser comes again by itself.
pub(crate) const STREAM_TIME_MAX: Duration = Duration::from_secs(10 * 60);
/// Answers of the playground in the making at once, and looks through much of what is kept.
pub(crate) const TRIALS_MAX: usize = 8;
/// Characters of each thing that is said of a caller whose place an operator takes in the playground.
pub(crate) const TRIAL_CALLER_CHARS_MAX: usize = 500;
/// Scopes of such a caller.
pub(crate) const TRIAL_SCOPES_MAX: usize = 50;
/// Characters of what is said in the playground.
pub(crate) const TRIAL_CHARS_MAX: usize = 20_000;
/// Bytes of a file of settings that is shown.
pub(crate) const SETTINGS_BYTES_MAX: usize = 256 * 1024;
/// Lines that are shown before and after a line that differs.
pub(crate) const DIFF_LINES_AROUND: usize = 3;
/// Nodes that the choice of the trends page has: the last ones, since each start of one has a name of its own.
pub(crate) const NODES_TOLD_MAX: usize = 32;
/// Files of settings that are shown.
pub(crate) const SETTINGS_FILES_MAX: usize = 500;
/// Records of the audit that are looked through for one page of a list that is filtered.
pub(crate) const AUDIT_ENTRIES_LOOKED_AT_MAX: usize = 400;
/// Characters of a question whose answer is looked into, and of what names an item.
pub const WHY_CHARS_MAX: usize = 1_000;
/// Days for which an alert is silenced at most.
pub const SILENCE_DAYS_MAX: u32 = 30;
/// Silences that are read, the last ones.
pub(crate) const SILENCES_READ_MAX: usize = 500;
/// Nodes that the page of nodes has side by side.
pub(crate) const NODES_BESIDE_MAX: usize = 12;
/// Alerts that the head of a page names.
pub(crate) const ALERTS_NAMED_MAX: usize = 3;
/// Characters of each text that is searched for.
pub const SEARCH_TEXT_CHARS_MAX: usize = 200;
/// Records of each kind that one page of a search looks at. `next` goes on behind them.
pub(crate) const SEARCH_LOOKED_AT_MAX: usize = 10_000;
/// The same of consents, and of payments: for each one it is read where it stands.
pub(crate) const SEARCH_HOLDINGS_LOOKED_AT_MAX: usize = 2_000;
/// Deliveries that wait and that a search looks at.
pub(crate) const DELIVERIES_LOOKED_AT_MAX: usize = 10_000;
/// Records of the audit that are looked at for one task.
pub(crate) const HISTORY_LOOKED_AT_MAX: usize = 50_000;
/// Characters of a caller's name in records of the audit, which has no more of it ([`forecourt_audit::AuditRecord::who`]).
pub(crate) const WHO_CHARS_MAX: usize = 256;
/// Things of a kind that the history of a task tells.
pub(crate) const HISTORY_TOLD_MAX: usize = 100;
/// Crawlers that are counted, each by its name and whether that is proven; those beyond together, as one more.
pub const CRAWLERS_MAX: usize = 1_000;
/// How long it is kept what a crawler did that comes no more.
pub const CRAWLERS_KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How often what crawlers did is added to the store.
pub const CRAWLERS_FLUSHED_EVERY: Duration = Duration::from_secs(60);
/// How often a count is written anew that another node's came before.
pub(crate) const CRAWLER_TRIES_MAX: usize = 8;
