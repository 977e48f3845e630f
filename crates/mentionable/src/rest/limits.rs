//! The bounds of this transport, each with its unit. Those that several protocols share are in
//! [`forecourt_core::limits`].

use std::time::Duration;

/// Bytes of a raw query string. REST 3.1.
pub(crate) const QUERY_BYTES_MAX: usize = 8 * 1024;
/// Bytes of a raw request body. REST 3.2.
pub(crate) const BODY_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of a multipart boundary. RFC 2046 5.1.1.
pub(crate) const BOUNDARY_BYTES_MAX: usize = 70;
/// Bytes of the header fields of one multipart part.
pub(crate) const PART_HEAD_BYTES_MAX: usize = 8 * 1024;
/// Parts of one multipart body, and entries of one query.
pub(crate) const ENTRIES_MAX: usize = forecourt_core::limits::PARTS_MAX;
/// Values that one query narrows a search down to.
pub(crate) const FILTERS_MAX: usize = 16;
/// `data:` URLs among the entries of one turn.
pub(crate) const DATA_URLS_MAX: usize = 16;
/// Bytes of a webhook registration.
pub(crate) const WEBHOOK_BODY_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a webhook secret.
pub(crate) const SECRET_BYTES_MAX: usize = forecourt_egress::limits::SECRET_BYTES_MAX;
/// Bytes of an artifact's id in a path. Ours are much shorter.
pub(crate) const ARTIFACT_ID_BYTES_MAX: usize = forecourt_core::limits::CLIENT_ID_BYTES_MAX;
/// Bytes of all `Link` fields of one answer together, so that no proxy refuses its head; further files and links are
/// in the JSON form only.
pub(crate) const LINK_BYTES_MAX: usize = 4 * 1024;
/// Bytes of `X-Mentionable-Policy`, and of an offer or a receipt in a header, so that no proxy refuses the head of an
/// answer; the body has them whatever their length.
pub(crate) const POLICY_FIELD_BYTES_MAX: usize = 4 * 1024;
/// Bytes of a payment as it is sent, in a header or a form.
pub(crate) const PAYMENT_BYTES_MAX: usize = 16 * 1024;
/// Bytes of what a provider of payments sends by itself.
pub(crate) const NOTICE_BODY_BYTES_MAX: usize = forecourt_payments::limits::NOTICE_BYTES_MAX;
/// Bytes of what is posted to the page of a consent or a payment: a payment, percent-encoded.
pub(crate) const DECISION_BODY_BYTES_MAX: usize = 64 * 1024;
/// Bytes of the address that a receipt is sent to.
pub(crate) const CALLBACK_BYTES_MAX: usize = forecourt_core::limits::URL_BYTES_MAX;
/// Conversations of one browser that were asked for a consent or a payment.
pub(crate) const CONVERSATIONS_WAITING_MAX: usize = 8;
/// Bytes of a `Cookie` field that is looked into.
pub(crate) const COOKIE_BYTES_MAX: usize = 8 * 1024;
/// Bytes of a file that travels in a stream of words.
pub(crate) const FILE_IN_STREAM_BYTES_MAX: usize = 256 * 1024;
/// Agents on one page of the front page.
pub(crate) const AGENTS_PER_PAGE: usize = 100;
/// Agents that one question of the front page is asked of.
pub(crate) const ASKED_TOGETHER_MAX: usize = 8;
/// How long each of them has. Whoever asks one alone waits as long as that agent may take.
pub(crate) const ASKED_TOGETHER_TIME_MAX: Duration = Duration::from_secs(12);
/// Seconds after which to come back, where nothing better is known.
pub(crate) const RETRY_AFTER_SECONDS: u64 = 5;
/// Questions of one turn that are put in words.
pub(crate) const QUESTIONS_SHOWN_MAX: usize = 20;
/// Options of one question that are put in words.
pub(crate) const OPTIONS_SHOWN_MAX: usize = 50;
/// Bytes of the path that has people sign in, with where they come back to. It has to fit a query.
pub(crate) const SIGN_IN_PATH_BYTES_MAX: usize = 6 * 1024;
