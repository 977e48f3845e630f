//! The receipt of the payment for an answer: known before the answer, or told by its ending.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

/// The receipt of the payment for one answer, in the words of its scheme. Clones share it. Empty for an answer that
/// was not paid for, and until the ending for one that is charged for when it is complete. PolicyPart 5.3.
#[derive(Clone, Default)]
pub struct PaymentReceipt(Option<Arc<ReceiptPlace>>);

enum ReceiptPlace {
    Known(Map<String, Value>),
    AtTheEnd(OnceLock<Map<String, Value>>),
}

impl PaymentReceipt {
    /// The receipt of what was paid before the answer.
    pub fn known(receipt: Map<String, Value>) -> Self {
        Self(Some(Arc::new(ReceiptPlace::Known(receipt))))
    }

    /// A receipt that the ending of the answer fills in.
    pub fn at_the_end() -> Self {
        Self(Some(Arc::new(ReceiptPlace::AtTheEnd(OnceLock::new()))))
    }

    /// Fills in what was paid at the end. Nothing happens where it is known already.
    pub fn fill(&self, receipt: Map<String, Value>) {
        if let Some(ReceiptPlace::AtTheEnd(place)) = self.0.as_deref() {
            // The first one stands: an answer is charged for once.
            let _ = place.set(receipt);
        }
    }

    /// The receipt, as far as it is known: surely after the ending.
    pub fn get(&self) -> Option<&Map<String, Value>> {
        match self.0.as_deref()? {
            ReceiptPlace::Known(receipt) => Some(receipt),
            ReceiptPlace::AtTheEnd(place) => place.get(),
        }
    }

    /// The receipt of what was paid at the end, and not before.
    pub fn paid_at_the_end(&self) -> Option<&Map<String, Value>> {
        match self.0.as_deref()? {
            ReceiptPlace::Known(_) => None,
            ReceiptPlace::AtTheEnd(place) => place.get(),
        }
    }
}

impl fmt::Debug for PaymentReceipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PaymentReceipt").field(&self.get().is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn receipt(number: u64) -> Map<String, Value> {
        Map::from_iter([("number".to_owned(), json!(number))])
    }

    #[test]
    fn what_is_paid_at_the_end_is_seen_by_everybody_and_filled_in_once() {
        let place = PaymentReceipt::at_the_end();
        let shared = place.clone();
        assert_eq!((shared.get(), shared.paid_at_the_end()), (None, None));
        place.fill(receipt(1));
        place.fill(receipt(2));
        assert_eq!((shared.get(), shared.paid_at_the_end()), (Some(&receipt(1)), Some(&receipt(1))));
    }

    #[test]
    fn what_was_paid_before_stays_and_an_unpaid_answer_has_none() {
        let known = PaymentReceipt::known(receipt(1));
        known.fill(receipt(2));
        assert_eq!((known.get(), known.paid_at_the_end()), (Some(&receipt(1)), None));
        let none = PaymentReceipt::default();
        none.fill(receipt(2));
        assert_eq!(none.get(), None);
    }
}
