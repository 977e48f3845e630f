//! Payments: what may be paid with, in the words of each family of schemes, and whether it was paid.
//!
//! One family is known, `x402`: a caller signs that a token may be moved, and a *facilitator* checks it and
//! moves it. Nothing here decides who must pay or what for; that is the host's.
//!
//! | file | holds |
//! |---|---|
//! | `units.rs` | amounts in the smallest unit of an asset, without a float |
//! | `hex.rs` | addresses and nonces |
//! | `x402/` | both versions of x402: what is asked for, what is signed, what a facilitator says |
//! | `x402/http.rs`, `x402/a2a.rs` | where these stand in requests and answers, as pure functions |

mod hex;
pub mod limits;
mod units;
pub mod x402;

pub use hex::{Address, Hex, HexError, Nonce};
pub use units::{Units, UnitsError};
