//! Every bound of orders, with its unit.

use std::time::Duration;

/// Orders for one name within an hour, restarts and other nodes included. Let's Encrypt locks a name out after five
/// that failed.
pub const ORDERS_PER_NAME_AND_HOUR_MAX: usize = 5;
/// Orders for all names within an hour.
pub(crate) const ORDERS_PER_HOUR_MAX: usize = 50;
/// Names of one deployment that certificates are ordered for.
pub const NAMES_MAX: usize = 100;
/// How long one order may take from the first request to the chain.
pub(crate) const ORDER_TIME_MAX: Duration = Duration::from_secs(120);
/// How long is waited after the first order that failed; each further one doubles it.
pub const RETRY_FIRST: Duration = Duration::from_secs(60);
/// How long is waited at most after an order that failed.
pub(crate) const RETRY_MAX: Duration = Duration::from_secs(6 * 3600);
/// How long is waited where every order of the hour was made.
pub(crate) const RETRY_FULL: Duration = Duration::from_secs(10 * 60);
/// How often certificates that other nodes ordered are looked for, and those that are due.
pub const LOOK_EVERY: Duration = Duration::from_secs(30);
/// How often the authority is asked when it wants a certificate renewed.
pub(crate) const ADVICE_EVERY: Duration = Duration::from_secs(6 * 3600);
/// How long a token is kept where all nodes find it.
pub(crate) const TOKEN_TIME: Duration = Duration::from_secs(15 * 60);
/// Tokens that are looked up in a shared store at once. One more is answered as unknown.
pub(crate) const LOOKUPS_MAX: usize = 8;
/// Tokens that are kept at hand.
pub const TOKENS_MAX: usize = 100;
/// Bytes of what an authority sends.
pub const ANSWER_BYTES_MAX: usize = 256 * 1024;
/// Characters of what an authority says that go to the log.
pub const REASON_CHARS_MAX: usize = 500;
