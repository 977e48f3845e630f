//! What an agent wants first, a consent or a payment: the terminal waits until somebody has finished on the page of
//! the refusal, and the question goes on with its state. PolicyPart 3.3.4, PolicyResolution 5.3 pattern 2.

use std::time::Duration;

use forecourt_client::ask::{AskArguments, AskTarget, JSON, pause};
use forecourt_client::output::{Failure, stderrln};
use forecourt_client::printable::line;
use forecourt_client::terminal::Terminal;
use forecourt_core::policy::RefusalKind;
use forecourt_core::{PolicyPart, json};
use forecourt_egress::UpstreamRequest;
use http::StatusCode;
use http::header::{ACCEPT, RETRY_AFTER};
use serde_json::Value;
use tokio::time::timeout;

use super::pay;

/// How long a person at a terminal is waited for.
const WAIT_TIME: Duration = Duration::from_secs(600);
/// Seconds between looks at the page.
const LOOK_SECONDS: u64 = 2;
/// Characters of a token.
const TOKEN_CHARS_MAX: usize = 300;

/// What a page says of where its decision stands.
enum Standing {
    /// It is to be decided still; look again after so many seconds.
    Open(u64),
    /// It was agreed to, or paid.
    Done,
    /// Somebody said no.
    Declined,
    /// There is nothing to decide any more.
    Over,
    /// It says nothing that a program can read.
    Unknown,
}

/// The question that goes on, once what `policy` asks for was done on its page. `None`: nobody waits for that, and how
/// to go on later is said. `session` is the conversation that was refused, `paid` one that was paid for.
///
/// # Errors
/// Somebody said no there, or it took too long.
pub(super) async fn done(
    ask: &AskArguments,
    to: &AskTarget,
    policy: &Value,
    session: Option<&str>,
    paid: Option<&str>,
) -> Result<Option<AskArguments>, Failure> {
    if let Some(session) = paid {
        pay::show_session(session);
        return Ok(None);
    }
    let part = policy.as_object().cloned().and_then(|policy| PolicyPart::from_json(policy).ok());
    // A link to anywhere else may be somebody's trap, and its state is not for us to send.
    let part = part.filter(|part| part.validate(&to.canonical_host).is_ok());
    let Some((url, state)) = part.as_ref().and_then(|part| Some((part.url.as_deref()?, part.state()?))) else {
        return Ok(None);
    };
    let state = state.expose().to_owned();
    let how = how_to_go_on(session, &state);
    let is_for_the_wallet = ask.pay && part.as_ref().is_some_and(is_payment);
    let time = match (ask.wait, is_for_the_wallet) {
        (_, true) => None,
        (Some(seconds), _) => Some(Duration::from_secs(seconds)),
        (None, _) => (!ask.json && Terminal::new().is_attended()).then_some(WAIT_TIME),
    };
    let Some(time) = time else {
        stderrln!("once that is done, {how}");
        return Ok(None);
    };
    stderrln!("waiting until that is done (at most {} s; Ctrl-C ends it)", time.as_secs());
    let later = |failure: Failure| failure.hint(format!("once that is done, {how}"));
    match timeout(time, decided(to, url)).await {
        Ok(Standing::Done) => {
            let session = session.map(str::to_owned).or_else(|| ask.session.clone());
            Ok(Some(AskArguments { session, state: Some(state), ..ask.clone() }))
        }
        Ok(Standing::Declined) => Err(Failure::yours("it was declined there: nothing was asked")),
        Ok(Standing::Over) => Err(Failure::yours("nothing is left to decide there: it was answered, or is too old")),
        Ok(Standing::Open(_) | Standing::Unknown) => {
            Err(later(Failure::yours("that page does not say when it is done")))
        }
        Err(_) => Err(later(Failure::yours(format!("nobody finished there within {} s", time.as_secs())))),
    }
}

fn is_payment(part: &PolicyPart) -> bool {
    matches!(part.kind, RefusalKind::PaymentRequired { .. })
}

/// The flags that go on with a state, as they are typed.
fn how_to_go_on(session: Option<&str>, state: &str) -> String {
    let session = session.map(|session| format!("--session {} ", line(session, TOKEN_CHARS_MAX)));
    format!("go on with: {}--state {}", session.unwrap_or_default(), line(state, TOKEN_CHARS_MAX))
}

/// Looks at the page of a decision until it is no longer open.
async fn decided(to: &AskTarget, url: &str) -> Standing {
    let mut seconds = LOOK_SECONDS;
    loop {
        // Before the first look, too: a page that is always done must not have the question asked without a pause.
        pause(seconds).await;
        match look(to, url).await {
            Standing::Open(later) => seconds = later,
            standing => return standing,
        }
    }
}

async fn look(to: &AskTarget, url: &str) -> Standing {
    let request = UpstreamRequest::get(url.to_owned()).header(ACCEPT, JSON);
    // A host that is away for a moment is back for the next look.
    let Ok(incoming) = to.send(request).await else { return Standing::Open(LOOK_SECONDS) };
    match incoming.status {
        StatusCode::NOT_FOUND | StatusCode::GONE => return Standing::Over,
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            let seconds = incoming.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
            return Standing::Open(seconds.unwrap_or(LOOK_SECONDS));
        }
        status if status.is_server_error() => return Standing::Open(LOOK_SECONDS),
        _ => {}
    }
    let Ok(bytes) = incoming.body.collect().await else { return Standing::Open(LOOK_SECONDS) };
    standing(json::parse(&bytes).ok().as_ref())
}

/// Where a decision stands, as hosts of this kind tell it.
fn standing(page: Option<&Value>) -> Standing {
    match page.and_then(|page| page["status"].as_str()) {
        Some("issued" | "indeterminate") => Standing::Open(LOOK_SECONDS),
        Some("verified") => Standing::Done,
        Some("declined") => Standing::Declined,
        Some("consumed" | "expired") => Standing::Over,
        _ => Standing::Unknown,
    }
}
