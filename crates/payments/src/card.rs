//! Cards: a person pays on a page of a provider's, in the manner of Stripe's hosted checkout. No data of a card is ever
//! seen here.
//!
//! What a checkout authorises is always captured by a request of this host's own: `capture_method=manual`, whenever a
//! rule charges. So nothing is taken that was not written down before.

mod client;
mod currency;
mod offer;
mod scheme;
mod settings;
mod webhook;
mod wire;

pub use currency::{CURRENCIES, Currency};
pub use offer::CardOffers;
pub use scheme::Card;
pub use settings::CardSettings;
pub use webhook::SIGNATURE;

/// The family of schemes that this module knows, and the key of its offers in rules.
pub const FAMILY: &str = "card";
/// The one scheme of it.
pub(crate) const SCHEME: &str = "card.checkout";
