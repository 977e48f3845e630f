//! What crawlers pay: the fields in which a price is told and agreed to, and what verified ones owe until the operator
//! bills them.
//!
//! | field | in | says |
//! |---|---|---|
//! | `crawler-price` | a 402 | what it costs |
//! | `crawler-max-price`, `crawler-exact-price` | a request | what its crawler agrees to pay |
//! | `crawler-charged` | an answer | what it is charged |
//!
//! Each has a currency and an amount: `USD 0.01`.

mod accounts;
mod fields;

pub use accounts::{CrawlerAccounts, Debt, DebtError, DebtLedger, submission};
pub use fields::{
    Agreement, AgreementError, CRAWLER_CHARGED, CRAWLER_EXACT_PRICE, CRAWLER_MAX_PRICE, CRAWLER_PRICE, Dollars,
    charged, decimal as dollars, price,
};

/// The family of such payments.
pub const FAMILY: &str = "crawler";
/// What is owed until it is billed.
const ACCOUNT: &str = "crawler.account";
/// A price alone, for crawlers that pay in another way.
const PRICE: &str = "crawler.price";
/// The only currency.
const CURRENCY: &str = "USD";
