//! Payments within a task, as x402 over A2A spells them: flat keys of metadata. x402 over A2A v0.2, 5, 7.

use forecourt_core::policy::{AcceptedPayment, PaymentSubmission, RefusalKind};
use forecourt_core::{Ending, Part, PolicyPart, Role, StateToken, Task};
use forecourt_host::Host;
use forecourt_issuance::sha256_hex;
use serde_json::{Map, Value};

use crate::card::names;
use crate::mandates;
use crate::model::{Metadata, OperationError};

/// What the keys begin with; none of a caller's is passed on.
const KEYS: &str = "x402.payment.";
/// Where a payment stands. On every message about it.
pub(crate) const STATUS: &str = "x402.payment.status";
/// The key of the payment requirements of a refusal.
pub(crate) const REQUIRED: &str = "x402.payment.required";
/// A signed payment: a bearer of money.
const PAYLOAD: &str = "x402.payment.payload";
/// Every settlement of a task, oldest first.
const RECEIPTS: &str = "x402.payment.receipts";
/// Why a payment failed, in a short code.
const ERROR: &str = "x402.payment.error";

const PAYMENT_REQUIRED: &str = "payment-required";
const PAYMENT_SUBMITTED: &str = "payment-submitted";
const PAYMENT_REJECTED: &str = "payment-rejected";
const PAYMENT_COMPLETED: &str = "payment-completed";
const PAYMENT_FAILED: &str = "payment-failed";

/// What the code of a refusal begins with that says why a payment was not taken.
const FAULT: &str = "payment:";
/// What the schemes of x402 begin with.
const SCHEME: &str = "x402.";
/// The family of these schemes, as `PaymentScheme::family` names it.
pub(crate) const FAMILY: &str = "x402";

/// The family of mandates of AP2, as `PaymentScheme::family` names it.
pub(crate) const MANDATE_FAMILY: &str = "ap2";

/// The extensions by which agents of a host are paid. Both names of x402 are looked for, and neither says which of its
/// versions is meant: envelopes do. AP2 v0.1; x402 over A2A v0.2, 2.
pub(crate) fn extensions(host: &Host) -> Vec<&'static str> {
    let families = [(FAMILY, &[names::X402, names::X402_TRANSPORT][..]), (MANDATE_FAMILY, &[names::AP2])];
    families.into_iter().filter(|(family, _)| host.takes_payments(family)).flat_map(|(_, uris)| uris).copied().collect()
}

/// Whether an offer is to be paid by x402.
pub(crate) fn is_x402(offer: &AcceptedPayment) -> bool {
    offer.scheme.starts_with(SCHEME)
}

/// Asks for a payment: by `offer`, or by what lies within a mandate when there is none.
pub(crate) fn require(metadata: &mut Metadata, offer: Option<&Map<String, Value>>) {
    metadata.insert(STATUS.to_owned(), PAYMENT_REQUIRED.into());
    if let Some(offer) = offer {
        metadata.insert(REQUIRED.to_owned(), Value::Object(offer.clone()));
    }
}

/// What a caller answers to a wish for a payment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PaymentAnswer {
    /// It pays.
    Submitted(PaymentSubmission),
    /// It does not.
    Rejected,
}

/// Takes every key about payments out of a message's metadata, so that no payment is kept or shown and no receipt is
/// made up, and reads what the caller answers. `request` is the metadata of the request around it, where some callers
/// put theirs. Fails for a payment that is no object.
pub(crate) fn take(metadata: &mut Metadata, request: &Metadata) -> Result<Option<PaymentAnswer>, OperationError> {
    let said = match metadata.contains_key(STATUS) {
        true => Some(metadata[STATUS].clone()),
        false => request.get(STATUS).cloned(),
    };
    let payload = metadata.remove(PAYLOAD).or_else(|| request.get(PAYLOAD).cloned());
    metadata.retain(|key, _| !key.starts_with(KEYS));
    match (said.as_ref().and_then(Value::as_str), payload) {
        (Some(PAYMENT_REJECTED), _) => Ok(Some(PaymentAnswer::Rejected)),
        (Some(PAYMENT_SUBMITTED), Some(Value::Object(payload))) => {
            Ok(Some(PaymentAnswer::Submitted(PaymentSubmission { family: FAMILY, payload })))
        }
        (Some(PAYMENT_SUBMITTED), Some(_)) => Err(OperationError::param(
            format!("message.metadata[\"{PAYLOAD}\"]"),
            "must be an object, the signed payment",
        )),
        // Without its payload it lies in a mandate, which is for the agent to read.
        _ => Ok(None),
    }
}

/// Takes the mandates out of what was said to a task that waits for a payment by them: the keyed data of its parts,
/// joined. `None` where none pays, or where an agent offered a cart of its own, whose mandates are for it to read. Fails
/// where nobody asked for the mandate: it is a bearer of money, and no agent is to see or keep it. AP2 v0.1.
pub(crate) fn take_mandates(
    parts: &mut Vec<Part>,
    task: Option<&Task>,
) -> Result<Option<PaymentSubmission>, OperationError> {
    let is_paid = |part: &Part| matches!(part, Part::Data(data) if data.data.has_member(mandates::PAYMENT));
    if !parts.iter().any(is_paid) {
        return Ok(None);
    }
    match task.map(open_cart) {
        Some(OpenCart::Ours) => Ok(Some(mandates_of(parts))),
        Some(OpenCart::Agents) => Ok(None),
        Some(OpenCart::None) | None => {
            Err(OperationError::param("message.taskId", "must name the task that asks for this payment mandate"))
        }
    }
}

/// Whose cart a task waits to be paid.
enum OpenCart {
    Ours,
    Agents,
    None,
}

fn open_cart(task: &Task) -> OpenCart {
    let Some(RefusalKind::PaymentRequired { accepted_payments }) = refusal(task).map(|part| &part.kind) else {
        return OpenCart::None;
    };
    // The host's own carts go by the name of their state.
    let name = state(task).map(|state| sha256_hex(state.expose().as_bytes()));
    let is_ours = |offer: &AcceptedPayment| {
        let id = offer.payload.get("contents").and_then(|cart| cart["id"].as_str());
        id.is_some() && id == name.as_deref()
    };
    if accepted_payments.iter().any(is_ours) {
        return OpenCart::Ours;
    }
    match accepted_payments.iter().any(|offer| mandates::Mandate::of(offer).is_some()) {
        true => OpenCart::Agents,
        false => OpenCart::None,
    }
}

fn mandates_of(parts: &mut Vec<Part>) -> PaymentSubmission {
    let mut payload = Map::new();
    parts.retain(|part| match part {
        Part::Data(data) => match data.data.as_object() {
            Some(said) if said.keys().any(|key| key.starts_with(mandates::KEY)) => {
                let keyed = said.iter().filter(|(key, _)| key.starts_with(mandates::KEY));
                payload.extend(keyed.map(|(key, value)| (key.clone(), value.clone())));
                false
            }
            _ => true,
        },
        _ => true,
    });
    PaymentSubmission { family: MANDATE_FAMILY, payload }
}

/// Hands a payment on to an agent that asked for it.
pub(crate) fn submit(metadata: &mut Metadata, payment: &PaymentSubmission) {
    if payment.family == FAMILY {
        metadata.insert(STATUS.to_owned(), PAYMENT_SUBMITTED.into());
        metadata.insert(PAYLOAD.to_owned(), Value::Object(payment.payload.clone()));
    }
}

/// Whether an ending asks for a payment.
pub(crate) fn is_wish(ending: &Ending) -> bool {
    matches!(ending, Ending::Refused(part) if matches!(part.kind, RefusalKind::PaymentRequired { .. }))
}

/// Whether a task waits for a payment.
pub(crate) fn is_wanted(task: &Task) -> bool {
    task.outcome.as_ref().is_some_and(|outcome| is_wish(&outcome.ending))
}

/// The state of the refusal that a task stands at.
pub(crate) fn state(task: &Task) -> Option<StateToken> {
    refusal(task)?.state()
}

/// What was said that is to be paid for.
pub(crate) fn paid_words(task: &Task) -> Option<Vec<Part>> {
    let last = task.turns.iter().rev().find(|turn| turn.role == Role::User)?;
    (is_wanted(task) && !last.parts.is_empty()).then(|| last.parts.clone())
}

fn refusal(task: &Task) -> Option<&PolicyPart> {
    match &task.outcome.as_ref()?.ending {
        Ending::Refused(part) => Some(part),
        _ => None,
    }
}

/// Notes that its caller does not pay.
pub(crate) fn reject(metadata: &mut Metadata) {
    metadata.insert(STATUS.to_owned(), PAYMENT_REJECTED.into());
}

/// Whether metadata says that a payment was asked for, and by what.
pub(crate) fn required(metadata: &Metadata) -> (Option<&Value>, bool) {
    let status = metadata.get(STATUS);
    (metadata.get(REQUIRED), status.is_none_or(|status| status == PAYMENT_REQUIRED))
}

/// Whether a receipt is one of x402, which says whether it succeeded; those of other schemes are told with the answer
/// alone. x402 section 7.2.
pub(crate) fn is_receipt(receipt: &Map<String, Value>) -> bool {
    receipt.contains_key("success")
}

/// Tells of what was settled within a task. Nothing when nothing was. Where something more is asked for, that is how
/// the payment stands.
pub(crate) fn complete(metadata: &mut Metadata, receipts: Vec<Value>) {
    if !receipts.is_empty() {
        metadata.entry(STATUS).or_insert_with(|| PAYMENT_COMPLETED.into());
        metadata.insert(RECEIPTS.to_owned(), receipts.into());
    }
}

/// Tells why the last payment was not taken, where a refusal says so. What it offers is open, so that its status is
/// that of the offer. PolicyPart 4.2; x402 over A2A v0.2, 9.
pub(crate) fn fault(metadata: &mut Metadata, part: &PolicyPart) {
    if let Some(code) = part.code.as_deref().and_then(|code| code.strip_prefix(FAULT)) {
        metadata.entry(STATUS).or_insert_with(|| PAYMENT_FAILED.into());
        metadata.insert(ERROR.to_owned(), code.into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn taken(metadata: Value, request: Value) -> (Result<Option<PaymentAnswer>, OperationError>, Metadata) {
        let (Value::Object(mut metadata), Value::Object(request)) = (metadata, request) else { panic!("objects") };
        let answer = take(&mut metadata, &request);
        (answer, metadata)
    }

    #[test]
    fn ax5_5_a_payment_is_read_and_leaves_nothing_behind() {
        let sent = json!({"x402.payment.status": "payment-submitted", "x402.payment.payload": {"a": 1}, "kept": 1,
            "x402.payment.receipts": [{"success": true}], "x402.payment.required": {}});
        let (answer, left) = taken(sent, json!({}));
        let Ok(Some(PaymentAnswer::Submitted(payment))) = answer else { panic!("{answer:?}") };
        assert_eq!((payment.family, &payment.payload["a"]), ("x402", &json!(1)));
        assert_eq!(Value::Object(left), json!({"kept": 1}));
    }

    #[test]
    fn ax5_4_a_payer_may_say_no() {
        let (answer, left) = taken(json!({"x402.payment.status": "payment-rejected"}), json!({}));
        assert_eq!((answer.expect("read"), left.len()), (Some(PaymentAnswer::Rejected), 0));
    }

    #[test]
    fn u11_what_the_message_says_counts_before_what_its_request_says() {
        let paid = json!({"x402.payment.status": "payment-submitted", "x402.payment.payload": {}});
        let (answer, _) = taken(json!({}), paid.clone());
        assert!(matches!(answer, Ok(Some(PaymentAnswer::Submitted(_)))), "{answer:?}");
        let (answer, _) = taken(json!({"x402.payment.status": "payment-rejected"}), paid);
        assert_eq!(answer.expect("read"), Some(PaymentAnswer::Rejected));
    }

    #[test]
    fn ax7_what_is_no_payers_to_say_is_passed_over() {
        for status in ["payment-completed", "payment-verified", "payment-required", "payment-failed", "x"] {
            let (answer, left) = taken(json!({"x402.payment.status": status, "x402.payment.payload": {}}), json!({}));
            assert_eq!((answer.expect("read"), left.len()), (None, 0), "{status}");
        }
        let (answer, _) =
            taken(json!({"x402.payment.status": "payment-submitted", "x402.payment.payload": "x"}), json!({}));
        assert!(matches!(answer, Err(OperationError::InvalidParams(_))));
    }

    proptest::proptest! {
        #[test]
        fn ax7_nothing_about_payments_is_left_in_any_metadata(
            keys in proptest::collection::vec("(x402\\.payment\\.)?[a-z]{0,9}", 0..6),
            status in "payment-(submitted|rejected|completed|required)|[a-z]{0,4}",
            is_object in proptest::bool::ANY,
        ) {
            let mut metadata: Metadata = keys.iter().map(|key| (key.clone(), json!({"secret": key}))).collect();
            metadata.insert(STATUS.to_owned(), status.clone().into());
            metadata.insert(PAYLOAD.to_owned(), if is_object { json!({"secret": 1}) } else { json!("secret") });
            let others: usize = metadata.keys().filter(|key| !key.starts_with(KEYS)).count();
            let taken = take(&mut metadata, &Metadata::new());
            proptest::prop_assert_eq!(metadata.len(), others);
            let is_paid = matches!(taken, Ok(Some(PaymentAnswer::Submitted(_))));
            proptest::prop_assert_eq!(is_paid, status == "payment-submitted" && is_object);
            proptest::prop_assert_eq!(taken.is_err(), status == "payment-submitted" && !is_object);
        }
    }
}
