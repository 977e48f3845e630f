//! AP2 v0.1: a host that signs what it sells, and a payer whose signature says that it is bought.
//!
//! The host offers a *cart mandate*. Its payer answers with a *payment mandate*, whose signature covers both, and perhaps
//! with an *intent mandate*. Verified here, from these and from keys that the operator trusts, and then handed to what
//! moves the money, since AP2 moves none: x402, or a payment processor of the operator's.
//!
//! | file | holds |
//! |---|---|
//! | `offer.rs` | a price into the terms of a cart |
//! | `cart.rs` | these terms as a cart that is signed, and as it is read again |
//! | `mandate.rs`, `intent.rs`, `amount.rs` | what a payer sends, and amounts in it |
//! | `authorization.rs`, `keys.rs` | the signature of a payer, and whose keys count |
//! | `chain.rs` | whether all of it is of one piece |
//! | `processor.rs` | the client of a payment processor |
//! | `scheme.rs`, `claim.rs`, `code.rs` | the scheme, and why a mandate is refused |

mod amount;
mod authorization;
mod cart;
mod chain;
mod claim;
mod code;
mod intent;
mod keys;
mod mandate;
mod offer;
mod processor;
mod scheme;

pub use mandate::submission;
pub use offer::Ap2Offers;
pub use scheme::{Ap2, CartSigner};

/// The family of schemes that this module knows, and the key of its offers in rules.
pub const FAMILY: &str = "ap2";
/// The one scheme of it that a host offers.
pub(crate) const SCHEME: &str = "ap2.cart_mandate";
/// The keys under which mandates travel. AP2 v0.1, extension of A2A.
pub(crate) const CART_KEY: &str = "ap2.mandates.CartMandate";
/// The same of what a payer signs.
pub const PAYMENT_KEY: &str = "ap2.mandates.PaymentMandate";
/// The same of what a payer wished for.
pub const INTENT_KEY: &str = "ap2.mandates.IntentMandate";
/// The payment method of carts that are settled by x402. x402 over A2A v0.2, 4.2.
pub(crate) const X402_METHOD: &str = "https://www.x402.org/";
/// The payment method of carts that a payment processor settles.
pub(crate) const PROCESSOR_METHOD: &str = "CARD";
