//! Bounds of payments, with their units.

use std::time::Duration;

/// Bytes of a payment in a header, as it stands there. A signed authorization has about 700.
pub const PAYMENT_HEADER_BYTES_MAX: usize = 16 * 1024;
/// Digits of an amount in the smallest unit: what 128 bits hold. More than any supply of any token.
pub const AMOUNT_DIGITS_MAX: usize = 39;
/// Decimals of an asset. ERC-20 allows 255; a unit smaller than this one is not money.
pub const DECIMALS_MAX: u8 = 30;
/// Requirements in one offer that are read.
pub(crate) const ACCEPTS_MAX: usize = 32;
/// Ways to pay that a page offers to a wallet.
pub const WALLET_REQUESTS_MAX: usize = 8;
/// Seconds for which a payer signs. The default of `payments.timeout_seconds`: an answer of an ordinary agent (120 s),
/// its settlement (60 s), and some minutes in between.
pub const TIMEOUT_SECONDS: u64 = 600;
/// Seconds for which a payer may be asked to sign.
pub(crate) const TIMEOUT_SECONDS_MAX: u64 = 24 * 60 * 60;
/// How long a facilitator may take to check a payment, connection included.
pub const VERIFY_TIME_MAX: Duration = Duration::from_secs(15);
/// How long a facilitator may take to settle one: what a transaction needs to be in a block. After it, nobody
/// knows whether the money was taken.
pub const SETTLE_TIME_MAX: Duration = Duration::from_secs(60);
/// Bytes of what a facilitator or a network answers.
pub const ANSWER_BYTES_MAX: usize = 256 * 1024;
/// Characters of a reason or a transaction that are kept.
pub const WORD_CHARS_MAX: usize = 256;
/// How many times the price may be bought ahead at once, as credit.
pub const CREDIT_TIMES: [u32; 4] = [1, 5, 20, 50];
/// How long a provider of cards may take to answer, connection included: less than the host waits for it.
pub const CARD_TIME_MAX: Duration = Duration::from_secs(15);
/// How often a provider is asked once more that is at work on the same request, and how long is waited before.
pub(crate) const CARD_TRIES_MAX: usize = 4;
pub(crate) const CARD_RETRY_WAIT: Duration = Duration::from_millis(300);
/// How long what a card authorised can be captured, by the shortest time of any card network, and a day less.
pub(crate) const AUTHORIZATION_SECONDS: i64 = 4 * 24 * 60 * 60;
/// Seconds by which the time of a notice may differ from ours.
pub const NOTICE_TOLERANCE_SECONDS: i64 = 300;
/// Bytes of a notice.
pub const NOTICE_BYTES_MAX: usize = 256 * 1024;
/// Signatures of a notice that are looked at.
pub(crate) const NOTICE_SIGNATURES_MAX: usize = 8;
/// Characters of a provider's name for something.
pub(crate) const PROVIDER_ID_CHARS_MAX: usize = 255;
/// Characters of what is paid for, as a checkout shows it.
pub(crate) const PRODUCT_CHARS_MAX: usize = 200;
/// Who may vouch for payers of mandates.
pub(crate) const AP2_ISSUERS_MAX: usize = 64;
/// Bytes of the signature of a mandate.
pub(crate) const AUTHORIZATION_BYTES_MAX: usize = 24 * 1024;
/// Claims that a signature discloses by hash.
pub(crate) const DISCLOSURES_MAX: usize = 64;
/// Hashes that one signature covers.
pub(crate) const TRANSACTION_DATA_MAX: usize = 8;
/// Seconds by which the clock of a payer may differ from ours.
pub(crate) const MANDATE_SKEW_SECONDS: i64 = 300;
/// How long fetching the keys of an issuer may take: less than the host waits for a payment to be checked.
pub(crate) const KEYS_TIME_MAX: Duration = Duration::from_secs(5);
/// How long a payment processor may take to answer: less than the host waits for it.
pub const PROCESSOR_TIME_MAX: Duration = Duration::from_secs(15);
/// Seconds after which a network does not take a block back.
pub(crate) const FINALITY_SECONDS: u128 = 15 * 60;
/// Blocks in which a settlement is looked up. Providers answer for no more at once.
pub(crate) const LOG_BLOCKS_MAX: u128 = 9_000;
/// US dollars of one price for crawlers, and of what one may owe.
pub const CRAWLER_PRICE_MAX: u64 = 1_000;
/// Bytes of a price in a field.
pub const CRAWLER_PRICE_BYTES_MAX: usize = 64;
/// How long it is remembered what a crawler owes that comes no more.
pub const DEBT_KEPT: Duration = Duration::from_secs(400 * 24 * 60 * 60);
/// Entries of the list of crawlers that owe: one for each, and another one after half of [`DEBT_KEPT`].
pub const DEBTORS_MAX: usize = 4_000;
/// Steps of a debt that are looked through for a payment that was added already.
pub(crate) const DEBTS_LOOKED_AT_MAX: usize = 64;
/// How often a step of a debt is written anew that another node's came before.
pub(crate) const DEBT_TRIES_MAX: usize = 8;
