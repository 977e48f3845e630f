//! The field in which an answer over HTTP tells its receipt.

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use crate::crawl::{self, CRAWLER_CHARGED};
use crate::x402::http::{self as x402, PAYMENT_SIGNATURE};
use crate::x402::{Version, is_receipt};

/// The field for a receipt: what a crawler is charged, or a receipt of x402 in the words of the version that `asked` paid
/// with, version 1 where no field paid. `None` for one of another scheme, which would be misread: it is told with the
/// answer, and on the pages of the host.
pub fn receipt_field(asked: &HeaderMap, receipt: &Map<String, Value>) -> Option<(HeaderName, HeaderValue)> {
    if let Some(charged) = crawl::charged(receipt) {
        return Some((CRAWLER_CHARGED, charged.field()));
    }
    let version = if asked.contains_key(PAYMENT_SIGNATURE) { Version::V2 } else { Version::V1 };
    is_receipt(receipt).then(|| x402::receipt(version, receipt)).flatten()
}
