//! Payments: what may be paid with, in the words of each family of schemes, and whether it was paid.
//!
//! Four families are known. Of `x402` a caller signs that a token may be moved, and a *facilitator* checks it and
//! moves it; of `card` a person pays on a page of a provider's, which this host asks about it; of `ap2` a payer
//! signs a mandate, which x402 or a payment processor settles; of `crawler` a verified crawler owes what it is
//! charged. Nothing here decides who must pay or what for; that is the host's.
//!
//! | file | holds |
//! |---|---|
//! | `units.rs` | amounts in the smallest unit of an asset, without a float |
//! | `hex.rs`, `keccak.rs` | addresses, nonces, and Ethereum's hash |
//! | `x402/` | both versions of x402: what is asked for, what is signed, what a facilitator says |
//! | `x402/http.rs` | where these stand in requests and answers over HTTP, as pure functions; each protocol has its own keys |
//! | `card/` | cards: offers, the provider's interface, checkouts, its notices |
//! | `ap2/`, `ap2_settings.rs` | mandates: carts that this host signs, and payers' signatures that it verifies |
//! | `submission.rs` | of which family a payment is |
//! | `settings.rs`, `networks.rs`, `offer.rs` | `[payments]`, and a price into offers |
//! | `matching.rs` | which offer a payment means |
//! | `facilitator.rs`, `reason.rs` | the one who checks and settles, and what its words mean |
//! | `chain.rs` | what the chain knows of a settlement that nobody answered for |
//! | `scheme.rs` | all of it, as the host wants it |
//! | `crawl/` | prices for crawlers, and what verified ones owe |
//! | `quote.rs`, `wallet.rs` | the other side: who pays |
//! | `wallet_request.rs` | what a page has a wallet in a browser sign |

pub mod ap2;
mod ap2_settings;
pub mod card;
mod chain;
pub mod crawl;
mod facilitator;
mod hex;
mod keccak;
pub mod limits;
mod matching;
mod networks;
mod offer;
mod quote;
mod reason;
mod receipt;
mod scheme;
mod settings;
mod settings_error;
mod submission;
mod units;
mod wallet;
mod wallet_request;
pub mod x402;

pub use ap2_settings::{Ap2Issuer, Ap2Settings, SettledBy};
pub use facilitator::{Facilitator, FacilitatorError, FacilitatorQuestion, FacilitatorReply, SupportedKind};
pub use hex::{Address, Hex, HexError, Nonce};
pub use offer::{Price, X402Offers, offers};
pub use quote::Quote;
pub use receipt::receipt_field;
pub use scheme::X402;
pub use settings::{AssetSettings, NetworkSettings, PaymentsSettings};
pub use settings_error::SettingsError;
pub use submission::submission;
pub use units::{Units, UnitsError};
pub use wallet::{Wallet, WalletError};
pub use wallet_request::{PaymentNetworks, WalletRequest};
