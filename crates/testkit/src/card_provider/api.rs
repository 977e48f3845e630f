//! What the interface does.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::form::Form;
use super::{Answer, CardBooks, refused};

const EXPIRES_AFTER: std::ops::RangeInclusive<i64> = 30 * 60..=24 * 60 * 60;

fn fine(body: &Value) -> Answer {
    (StatusCode::OK, axum::Json(body.clone()))
}

fn missing() -> Answer {
    refused(404, "resource_missing", "No such object")
}

pub(super) fn get(books: &CardBooks, path: &str) -> Answer {
    let (list, id) = match path.rsplit_once('/') {
        Some(("checkout/sessions", id)) => (&books.sessions, id),
        Some(("payment_intents", id)) => (&books.intents, id),
        _ => return missing(),
    };
    let now = books.now();
    match list.iter().find(|one| one["id"] == id) {
        Some(one) if one["status"] == "open" && one["expires_at"].as_i64().unwrap() <= now => {
            let mut over = one.clone();
            over["status"] = json!("expired");
            fine(&over)
        }
        Some(one) => fine(one),
        None => missing(),
    }
}

pub(super) fn post(books: &mut CardBooks, path: &str, form: &mut Form) -> Answer {
    let parts: Vec<&str> = path.split('/').collect();
    let done = match parts[..] {
        ["checkout", "sessions"] => open(books, form),
        ["checkout", "sessions", id, "expire"] => expire(books, id, form),
        ["payment_intents", id, "capture"] => capture(books, id, form),
        ["payment_intents", id, "cancel"] => cancel(books, id, form),
        ["refunds"] => refund(books, form),
        _ => Err(missing()),
    };
    done.map_or_else(|error| error, |body| fine(&body))
}

fn open(books: &mut CardBooks, form: &mut Form) -> Result<Value, Answer> {
    form.need_word("mode", "payment")?;
    form.need_word("payment_method_types[0]", "card")?;
    form.need_word("payment_intent_data[capture_method]", "manual")?;
    form.need_word("line_items[0][quantity]", "1")?;
    let currency = form.need("line_items[0][price_data][currency]")?;
    let amount = form.need_number("line_items[0][price_data][unit_amount]")?;
    let product = form.need("line_items[0][price_data][product_data][name]")?;
    let (success, cancel) = (form.need("success_url")?, form.need("cancel_url")?);
    let (reference, metadata) = (form.take("client_reference_id"), form.take("metadata[reference]"));
    let of_intent = form.take("payment_intent_data[metadata][reference]");
    let until = form.need_number("expires_at")?;
    let locale = form.take("locale").unwrap_or_else(|| "auto".to_owned());
    form.end()?;
    if currency.len() != 3 || currency.to_lowercase() != currency {
        return Err(refused(400, "parameter_invalid", &format!("Invalid currency: {currency}")));
    }
    if !["auto", "de", "en", "es", "fr"].contains(&locale.as_str()) {
        return Err(refused(400, "parameter_invalid", &format!("Invalid locale: {locale}")));
    }
    if amount < 50 {
        return Err(refused(400, "amount_too_small", "Amount must be at least €0.50 eur"));
    }
    let now = books.now();
    if !EXPIRES_AFTER.contains(&(until - now)) {
        let message = "The `expires_at` timestamp must be at least 30 minutes and less than 24 hours from creation";
        return Err(refused(400, "parameter_invalid", message));
    }
    let id = books.name("cs");
    let session = json!({
        "id": id, "object": "checkout.session", "status": "open", "payment_status": "unpaid", "payment_intent": null,
        "url": format!("{}/c/pay/{id}", books.origin), "amount_total": amount, "currency": currency, "created": now,
        "expires_at": until, "client_reference_id": reference, "metadata": {"reference": metadata}, "product": product,
        "success_url": success, "cancel_url": cancel, "locale": locale, "intent_metadata": {"reference": of_intent},
    });
    books.sessions.push(session.clone());
    Ok(session)
}

fn expire(books: &mut CardBooks, id: &str, form: &Form) -> Result<Value, Answer> {
    form.end()?;
    books.expire();
    let session = books.sessions.iter_mut().find(|session| session["id"] == id).ok_or_else(missing)?;
    if session["status"] != "open" {
        let message = "Only Checkout Sessions with a status in [\"open\"] can be expired";
        return Err(refused(400, "checkout_session_not_open", message));
    }
    session["status"] = json!("expired");
    let told = session.clone();
    books.tell("checkout.session.expired", &told);
    Ok(told)
}

fn intent<'a>(books: &'a mut CardBooks, id: &str) -> Result<&'a mut Value, Answer> {
    books.intents.iter_mut().find(|intent| intent["id"] == id).ok_or_else(missing)
}

fn unexpected(intent: &Value) -> Answer {
    let message = format!("This PaymentIntent has a status of {}", intent["status"]);
    refused(400, "payment_intent_unexpected_state", &message)
}

fn capture(books: &mut CardBooks, id: &str, form: &mut Form) -> Result<Value, Answer> {
    let amount = form.need_number("amount_to_capture")?;
    form.end()?;
    let intent = intent(books, id)?;
    if intent["status"] != "requires_capture" {
        return Err(unexpected(intent));
    }
    if amount <= 0 || amount > intent["amount_capturable"].as_i64().unwrap() {
        return Err(refused(400, "amount_too_large", "The amount is more than can be captured"));
    }
    (intent["status"], intent["amount_capturable"], intent["amount_received"]) =
        (json!("succeeded"), json!(0), json!(amount));
    let told = intent.clone();
    books.tell("payment_intent.succeeded", &told);
    Ok(told)
}

fn cancel(books: &mut CardBooks, id: &str, form: &Form) -> Result<Value, Answer> {
    form.end()?;
    let intent = intent(books, id)?;
    if intent["status"] != "requires_capture" {
        return Err(unexpected(intent));
    }
    (intent["status"], intent["amount_capturable"]) = (json!("canceled"), json!(0));
    let told = intent.clone();
    books.tell("payment_intent.canceled", &told);
    Ok(told)
}

fn refund(books: &mut CardBooks, form: &mut Form) -> Result<Value, Answer> {
    let (of, amount) = (form.need("payment_intent")?, form.need_number("amount")?);
    form.end()?;
    let paid = intent(books, &of)?.clone();
    if paid["status"] != "succeeded" {
        return Err(unexpected(&paid));
    }
    let is_of = |refund: &&Value| refund["payment_intent"] == of.as_str();
    let given: i64 = books.refunds.iter().filter(is_of).map(|refund| refund["amount"].as_i64().unwrap()).sum();
    let left = paid["amount_received"].as_i64().unwrap() - given;
    if left == 0 {
        return Err(refused(400, "charge_already_refunded", "Charge has already been refunded."));
    }
    if amount <= 0 || amount > left {
        return Err(refused(400, "amount_too_large", "Refund amount is greater than unrefunded amount on charge"));
    }
    let id = books.name("re");
    let refund = json!({
        "id": id, "object": "refund", "status": "succeeded", "amount": amount, "currency": paid["currency"],
        "payment_intent": of,
    });
    books.refunds.push(refund.clone());
    books.tell("charge.refunded", &json!({"id": "ch_1", "metadata": paid["metadata"], "payment_intent": of}));
    Ok(refund)
}
