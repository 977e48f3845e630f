//! Checks of the wire itself: framing, and the fields that every answer has. AGTP-API 5.6; base 1 and 2.

use super::draft::Draft;
use super::exchange::Exchange;
use super::peer::Peer;
use crate::check::{Check, Shortfall, Verdict, check};
use crate::evidence::Evidence;

pub(super) const CHECKS: &[Check<Peer>] = &[
    check!(
        "agtp-base-2.1-answer",
        "base 2.1",
        Must,
        "an answer is `AGTP/1.0 CODE REASON`, fields and a body of its Content-Length",
        answer
    ),
    check!("agtp-base-2.1-target", "base 2.1", Must, "a request line without a path is understood", no_target),
    check!(
        "agtp-base-2.1-order",
        "base 2.1",
        Should,
        "a request line in the order of HTTP is refused with 400",
        http_order
    ),
    check!(
        "agtp-base-2.1-length",
        "base 2.1",
        Should,
        "a Content-Length that is no number is refused with 400",
        bad_length
    ),
    check!(
        "agtp-base-2.1-lengths",
        "base 2.1",
        Should,
        "two different Content-Length are refused with 400",
        two_lengths
    ),
    check!(
        "agtp-5.6",
        "5.6",
        Must,
        "a `#` in the request line is refused with 400 and the code invalid-request-line",
        fragment
    ),
    check!("agtp-base-2.2-array", "base 2.2", Should, "a JSON body that is no object is refused with 400", array_body),
    check!("agtp-base-1-tls", "base 1, 16.3", Must, "without TLS nothing is answered where TLS is spoken", encrypted),
    check!(
        "agtp-base-1-sequence",
        "base 1",
        Should,
        "requests that follow each other on one connection are answered in their order",
        pipelined
    ),
    check!("agtp-base-2.5-server", "base 2.5", Must, "every answer has Server-ID, a refused framing too", server_id),
    check!("agtp-base-2.5-response", "base 2.5", Must, "every answer has a Response-ID of its own", response_id),
    check!("agtp-base-2.5-echo", "base 2.5", Should, "Task-ID and Request-ID come back as they were sent", echoed),
    check!("agtp-base-2.2-type", "base 2.2", Must, "a body has a Content-Type, and none has none", content_type),
    check!("agtp-17.4", "17.4, base 2.5", Should, "answers say AGTP-API-Version", api_version),
];

/// A request that any server can answer, to whomever.
fn plain() -> Draft {
    Draft::new("DISCOVER", "/methods")
}

/// A request that is refused before it is understood: what every answer has, this refusal has too.
const WRONG: &[u8] = b"AGTP/1.0 QUERY /a#b\r\n\r\n";

async fn answer(peer: &Peer) -> Verdict {
    peer.ask(plain()).await.map(drop)
}

async fn no_target(peer: &Peer) -> Verdict {
    let exchange = peer.anonymous(Draft::without_target("DISCOVER")).await?;
    match exchange.status() {
        // Who may have the manifest is another check's matter: any other answer shows that the line was understood.
        400 => Err(exchange.wrong("a request for the server itself is taken for a mistake")),
        _ => Ok(()),
    }
}

async fn http_order(peer: &Peer) -> Verdict {
    peer.raw(b"DISCOVER /methods AGTP/1.0\r\n\r\n").await?.expect(&[400])
}

async fn bad_length(peer: &Peer) -> Verdict {
    peer.raw(b"AGTP/1.0 DISCOVER /methods\r\nContent-Length: -1\r\n\r\n").await?.expect(&[400])
}

async fn two_lengths(peer: &Peer) -> Verdict {
    let bytes = b"AGTP/1.0 DISCOVER /methods\r\nContent-Length: 2\r\nContent-Length: 4\r\n\r\n{}{}";
    peer.raw(bytes).await?.expect(&[400])
}

async fn fragment(peer: &Peer) -> Verdict {
    let exchange = peer.raw(WRONG).await?;
    exchange.expect(&[400])?;
    match exchange.says("invalid-request-line") {
        true => Ok(()),
        false => Err(exchange.wrong("the code of the error is not invalid-request-line")),
    }
}

async fn array_body(peer: &Peer) -> Verdict {
    let draft = Draft::new("QUERY", "/").json(&serde_json::json!([1]));
    peer.ask(draft).await?.expect(&[400])
}

async fn encrypted(peer: &Peer) -> Verdict {
    match peer.without_tls(&plain().bytes()).await {
        None => Err(Shortfall::skip("the server is asked without TLS")),
        // A refusal in the clear gives nothing away.
        Some(Ok(exchange)) if exchange.status() < 400 => Err(exchange.wrong("it is answered without TLS")),
        Some(_) => Ok(()),
    }
}

async fn pipelined(peer: &Peer) -> Verdict {
    let request = |id: &str| plain().field("Task-ID", id).bytes();
    let both = [request("conform-1"), request("conform-2")].concat();
    let answers = peer.all(&both, 2).await?;
    let (first, second) = match answers.as_slice() {
        [first, second] => (first, second),
        [only, ..] => return Err(only.wrong("only one of two requests on a connection is answered")),
        [] => return Err(Shortfall::skip("neither of two requests on a connection is answered")),
    };
    match (first.field("Task-ID"), second.field("Task-ID")) {
        // A server need not send Task-ID back: only a wrong order is a fault.
        (Some("conform-2"), _) | (_, Some("conform-1")) => Err(second.wrong("the second request is answered first")),
        _ => Ok(()),
    }
}

/// One answer of each kind: fine, refused, and not understood.
async fn some_answers(peer: &Peer) -> Result<[Exchange; 3], Shortfall> {
    let fine = peer.ask(plain()).await?;
    let refused = peer.ask(Draft::new("QUERY", "/conform/nowhere")).await?;
    Ok([fine, refused, peer.raw(WRONG).await?])
}

async fn server_id(peer: &Peer) -> Verdict {
    let answers = some_answers(peer).await?;
    let without = answers.iter().find(|answer| answer.field("Server-ID").is_none_or(str::is_empty));
    without.map_or(Ok(()), |answer| Err(answer.wrong("there is no Server-ID")))
}

async fn response_id(peer: &Peer) -> Verdict {
    let answers = some_answers(peer).await?;
    let mut ids = Vec::new();
    for answer in &answers {
        match answer.field("Response-ID").filter(|id| !id.is_empty()) {
            None => return Err(answer.wrong("there is no Response-ID")),
            Some(id) if ids.contains(&id) => return Err(answer.wrong("two answers have the same Response-ID")),
            Some(id) => ids.push(id),
        }
    }
    Ok(())
}

async fn echoed(peer: &Peer) -> Verdict {
    let sent = [("Task-ID", "conform-task-1"), ("Request-ID", "0197a1b2-0000-7000-8000-000000000001")];
    let draft = sent.iter().fold(plain(), |draft, (name, value)| draft.field(name, value));
    let exchange = peer.ask(draft).await?;
    match sent.iter().find(|(name, value)| exchange.field(name) != Some(value)) {
        Some((name, _)) => Err(exchange.wrong(format!("{name} does not come back as it was sent"))),
        None => Ok(()),
    }
}

async fn content_type(peer: &Peer) -> Verdict {
    for answer in some_answers(peer).await? {
        let has_type = answer.field("Content-Type").is_some_and(|value| !value.is_empty());
        match (answer.response.body.is_empty(), has_type) {
            (false, false) => return Err(answer.wrong("the body has no Content-Type")),
            (true, true) => return Err(answer.wrong("there is a Content-Type without a body")),
            _ => {}
        }
    }
    Ok(())
}

async fn api_version(peer: &Peer) -> Verdict {
    let exchange = peer.ask(plain()).await?;
    match exchange.field("AGTP-API-Version") {
        Some(_) => Ok(()),
        None => Err(exchange.wrong("there is no AGTP-API-Version")),
    }
}
