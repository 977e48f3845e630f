//! Facilitators that fail on the way: who paid, paid once, and what nobody knows stays open.

use forecourt_core::policy::{PaymentScheme, Settlement};
use serde_json::json;

use super::{PAYEE, PAYER, Shop, later, payment, submitted};
use crate::facilitator::Fault;

fn transaction(settlement: &Settlement) -> Option<String> {
    match settlement {
        Settlement::Settled(receipt) => receipt.confirmation.transaction.clone(),
        other => panic!("{other:?}"),
    }
}

fn code(settlement: Settlement) -> String {
    match settlement {
        Settlement::Refused(fault) => fault.code,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_settled_payment_has_a_receipt() {
    let shop = Shop::open().await;
    let Settlement::Settled(receipt) = shop.scheme.settle(&shop.offers[0], &submitted(payment(1, 1))).await else {
        panic!("not settled")
    };
    assert_eq!(receipt.confirmation.scheme, "x402.exact");
    assert_eq!(receipt.confirmation.original_payload, shop.offers[0].payload);
    assert_eq!(receipt.confirmation.payer, Some(PAYER.to_lowercase()));
    assert_eq!(receipt.confirmation.network.as_deref(), Some("base-sepolia"));
    assert_eq!((receipt.amount.as_str(), &receipt.details["success"]), ("10000", &json!(true)));
    assert_eq!(shop.scripted.books.lock().transfers[0].1, PAYEE.to_lowercase());
}

#[tokio::test]
async fn a_replay_is_refused_by_the_token_itself() {
    let shop = Shop::open().await;
    let paid = submitted(payment(1, 1));
    transaction(&shop.scheme.settle(&shop.offers[0], &paid).await).unwrap();
    assert_eq!(code(shop.scheme.settle(&shop.offers[0], &paid).await), "DUPLICATE_NONCE");
    assert_eq!(shop.transfers(), 1);
}

#[tokio::test]
async fn two_at_once_are_charged_once() {
    let shop = Shop::open().await;
    let (one, two) = (submitted(payment(1, 1)), submitted(payment(2, 1)));
    let settle =
        futures::future::join(shop.scheme.settle(&shop.offers[0], &one), shop.scheme.settle(&shop.offers[1], &two));
    let (one, two) = settle.await;
    let settled = [&one, &two].iter().filter(|s| matches!(s, Settlement::Settled(_))).count();
    assert_eq!((settled, shop.transfers()), (1, 1), "{one:?} {two:?}");
}

#[tokio::test]
async fn a_settlement_without_an_answer_is_unknown_and_found_settled_later() {
    for chain in [false, true] {
        let shop = if chain { Shop::with_chain().await } else { Shop::open().await };
        shop.scripted.books.lock().settle_faults.push(Fault::SilentAfter);
        let paid = submitted(payment(1, 1));
        let unknown = shop.scheme.settle(&shop.offers[0], &paid).await;
        assert!(matches!(unknown, Settlement::Unknown(_)), "{unknown:?}");
        let found = shop.scheme.reconcile(&shop.offers[0], &paid).await;
        // The chain knows the transaction; the facilitator only that there was one.
        assert_eq!(transaction(&found).is_some(), chain);
        let Settlement::Settled(receipt) = found else { unreachable!() };
        assert_eq!((&receipt.details["success"], receipt.details.get("errorReason")), (&json!(true), None));
        assert_eq!((shop.transfers(), shop.settled()), (1, if chain { 1 } else { 2 }));
    }
}

#[tokio::test]
async fn a_settlement_that_never_began_is_made_up_for_once() {
    for chain in [false, true] {
        let shop = if chain { Shop::with_chain().await } else { Shop::open().await };
        shop.scripted.books.lock().settle_faults.push(Fault::SilentBefore);
        let paid = submitted(payment(1, 1));
        assert!(matches!(shop.scheme.settle(&shop.offers[0], &paid).await, Settlement::Unknown(_)));
        transaction(&shop.scheme.reconcile(&shop.offers[0], &paid).await).unwrap();
        transaction(&shop.scheme.reconcile(&shop.offers[0], &paid).await);
        assert_eq!(shop.transfers(), 1);
    }
}

#[tokio::test]
async fn answers_that_say_nothing_of_the_money_leave_it_open() {
    let pending = json!({"success": false, "errorReason": "settlement_pending", "transaction": "0xabc"});
    let failed = json!({"success": false, "errorReason": "invalid_exact_evm_transaction_failed", "transaction": ""});
    let unexpected = json!({"success": false, "errorReason": "unexpected_settle_error", "transaction": ""});
    for (status, body) in [
        (500, json!("oops")),
        (502, json!({})),
        (400, json!({"error": "Invalid request"})),
        (200, json!({"success": "yes"})),
        (200, pending),
        (400, failed),
        (500, unexpected),
        (200, json!({"success": false})),
    ] {
        let shop = Shop::open().await;
        shop.scripted.books.lock().settle_faults.push(Fault::AnswerAfter(status, body.clone()));
        let paid = submitted(payment(1, 1));
        let unknown = shop.scheme.settle(&shop.offers[0], &paid).await;
        assert!(matches!(unknown, Settlement::Unknown(_)), "{status} {body}: {unknown:?}");
        transaction(&shop.scheme.reconcile(&shop.offers[0], &paid).await);
        assert_eq!(shop.transfers(), 1, "{status} {body}");
    }
}

#[tokio::test]
async fn definite_refusals_are_refusals() {
    let reverted =
        json!({"success": false, "errorReason": "invalid_exact_evm_transaction_failed", "transaction": "0xa"});
    let poor = json!({"success": false, "errorReason": "insufficient_funds", "transaction": ""});
    for (status, body, code) in [
        (200, reverted, "SETTLEMENT_FAILED"),
        (402, poor, "INSUFFICIENT_FUNDS"),
        (401, json!({"error": "no key"}), "SETTLEMENT_FAILED"),
        (429, json!({}), "SETTLEMENT_FAILED"),
    ] {
        let shop = Shop::open().await;
        shop.scripted.books.lock().settle_faults.push(Fault::Answer(status, body));
        assert_eq!(self::code(shop.scheme.settle(&shop.offers[0], &submitted(payment(1, 1))).await), code);
        assert_eq!(shop.transfers(), 0);
    }
}

#[tokio::test]
async fn a_payer_who_spent_its_last_money_is_not_told_that_it_has_too_little() {
    let shop = Shop::open().await;
    shop.scripted.books.lock().balances.insert(PAYER.to_lowercase(), 10_000);
    shop.scripted.books.lock().settle_faults.push(Fault::SilentAfter);
    let paid = submitted(payment(1, 1));
    assert!(matches!(shop.scheme.settle(&shop.offers[0], &paid).await, Settlement::Unknown(_)));
    let still = shop.scheme.reconcile(&shop.offers[0], &paid).await;
    assert!(matches!(still, Settlement::Unknown(_)), "{still:?}");

    let shop = Shop::with_chain().await;
    shop.scripted.books.lock().balances.insert(PAYER.to_lowercase(), 10_000);
    shop.scripted.books.lock().settle_faults.push(Fault::SilentAfter);
    assert!(matches!(shop.scheme.settle(&shop.offers[0], &paid).await, Settlement::Unknown(_)));
    transaction(&shop.scheme.reconcile(&shop.offers[0], &paid).await).unwrap();
}

#[tokio::test]
async fn a_nonce_that_was_used_for_something_else_pays_for_nothing() {
    let shop = Shop::with_chain().await;
    shop.scripted.books.lock().settle_faults.push(Fault::SilentBefore);
    let signed = payment(1, 1);
    let paid = submitted(signed.clone());
    assert!(matches!(shop.scheme.settle(&shop.offers[0], &paid).await, Settlement::Unknown(_)));
    shop.scripted.books.lock().use_elsewhere(&signed["payload"]["authorization"], PAYER);
    assert_eq!(code(shop.scheme.reconcile(&shop.offers[0], &paid).await), "DUPLICATE_NONCE");
}

#[tokio::test]
async fn what_expired_unused_was_never_taken() {
    let shop = Shop::with_chain().await;
    shop.scripted.books.lock().settle_faults = vec![Fault::SilentBefore; 2];
    let paid = submitted(payment(1, 1));
    assert!(matches!(shop.scheme.settle(&shop.offers[0], &paid).await, Settlement::Unknown(_)));
    // Its time is over, though a block could still be taken back.
    shop.scripted.books.lock().chain_time += 300 + 15 * 60;
    shop.clock.set(later(1_200));
    assert!(matches!(shop.scheme.reconcile(&shop.offers[0], &paid).await, Settlement::Unknown(_)));
    shop.scripted.books.lock().chain_time += 1;
    assert_eq!(code(shop.scheme.reconcile(&shop.offers[0], &paid).await), "EXPIRED_PAYMENT");
    assert_eq!(shop.transfers(), 0);
}
