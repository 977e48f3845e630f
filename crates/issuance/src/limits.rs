//! How long refusals and what was done about them are kept, and how much of each.

use std::time::Duration;

/// Seconds in which a consent may be given, unless the operator says otherwise.
pub const CONSENT_WAIT_SECONDS: u64 = 60 * 60;
/// Seconds in which a payment may be made, unless the operator says otherwise.
pub const PAYMENT_WAIT_SECONDS: u64 = 15 * 60;
/// Consents and payments of one caller that may be open at once, unless the operator says otherwise: those that
/// were asked for and whose time is not over.
pub const OPEN_ISSUANCES_PER_CALLER_MAX: u64 = 4_096;
/// How long an issuance is remembered after its time is over, so that its page can say so.
pub const EXPIRED_KEPT: Duration = Duration::from_secs(60 * 60);
/// How long what was done may be used, and how long it is remembered that it was.
pub const VERIFIED_KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// How long the host goes on asking what came of a settlement.
pub const INDETERMINATE_KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Entries of the list of such settlements that are read in one go.
pub(crate) const INDETERMINATE_READ_MAX: usize = 500;
/// How long it is remembered which payments were used: longer than a signed payment is good for.
pub const PAYMENT_CLAIM_KEPT: Duration = Duration::from_secs(366 * 24 * 60 * 60);
/// How long consents and credit are kept whose holder is a conversation and nobody who proved who it is.
pub const CONVERSATION_GRANT_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How long a browser without an account keeps its consents, and how long they are kept for it.
pub const BROWSER_CONSENT_KEPT: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// Entries of a holder's list whose status is looked up at once.
pub(crate) const STATUSES_READ_AT_ONCE: usize = 16;
/// Consents of one holder that are listed, and as many payments, the newest first. Older ones hold, and are not listed.
pub const HOLDINGS_LISTED_MAX: usize = 200;
/// Consents and payments of everybody that are looked through for one answer to an operator.
pub const HOLDINGS_LOOKED_AT_MAX: usize = 2_000;
/// Bytes of what was said, as JSON, that are kept with an issuance. Longer messages have to be said again.
pub const ASKED_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a payment, as JSON.
pub const PAYMENT_BYTES_MAX: usize = 32 * 1024;
/// Marks of one holder that are looked through for something that was done, the newest first.
pub(crate) const HOLDER_MARKS_READ_MAX: usize = 64;
/// Things that may be required of one message, one after another.
pub const REQUIREMENTS_MAX: usize = 8;
/// How long checking a payment may take.
pub const VERIFY_TIME_MAX: Duration = Duration::from_secs(20);
/// How long settling a payment, or asking what came of it, may take. Over it, nobody knows.
pub const SETTLE_TIME_MAX: Duration = Duration::from_secs(60);
/// How long a run that settles a payment is left alone with it, as long as it lives: twice as long as settling may take,
/// since who settled has written what it knows by then.
pub const SETTLER_ALONE_MAX: Duration = SETTLE_TIME_MAX.saturating_mul(2);
/// How often a reserved payment is settled whose facilitator can't be reached, within [`SETTLE_TIME_MAX`].
pub const SETTLE_TRIES_MAX: usize = 3;
/// How long is waited between such tries.
pub(crate) const SETTLE_RETRY_WAIT: Duration = Duration::from_secs(2);
/// How long a checkout is open. Providers close none within half an hour, by their clocks.
pub const CHECKOUT_TIME: Duration = Duration::from_secs(35 * 60);
/// How long after that its payment is waited for.
pub(crate) const CHECKOUT_GRACE: Duration = Duration::from_secs(10 * 60);
/// Checkouts that are opened for one state, one after another.
pub const CHECKOUTS_MAX: u32 = 16;
/// How long it is remembered which notices of a provider came. Providers send one again for three days.
pub const NOTICE_KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How often a step is written anew that something else came before.
pub(crate) const TRIES_MAX: usize = 8;
