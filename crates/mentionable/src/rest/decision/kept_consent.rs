//! A consent that a browser without an account keeps, in a cookie that is no identity.
//!
//! Its conversation ends, and nothing else tells such a browser from others. So whoever agrees on the page gets a secret
//! under which the consent is written too. It counts for consents alone: [`forecourt_core::Message::consents`].

use forecourt_audit::RequestOrigin;
use forecourt_core::ConsentToken;
use forecourt_issuance::{BROWSER_CONSENT_KEPT, IssuanceOutcome};
use http::HeaderValue;

use super::super::answer::RestError;
use super::super::transport::Rest;
use super::super::visitor::browser;
use super::OpenDecision;

/// Has a person agree: what came of it, and the cookie that their browser is to keep.
pub(super) async fn accept(
    rest: &Rest,
    decision: &OpenDecision<'_>,
    origin: &RequestOrigin,
) -> Result<(IssuanceOutcome, Option<HeaderValue>), RestError> {
    let (host, state) = (&rest.host, &decision.state);
    let Some(token) = token(rest, decision).await? else {
        return Ok((host.accept_consent(state, origin).await?, None));
    };
    let outcome = host.accept_consent_with(state, &token, origin).await?;
    let is_kept = matches!(outcome, IssuanceOutcome::Verified(_));
    let cookie = || browser(&decision.responder.request).set_consents(Some((&token, BROWSER_CONSENT_KEPT)));
    Ok((outcome, is_kept.then(cookie).flatten()))
}

/// The secret of the browser that decides; `None` where there is somebody who keeps the consent: a person who is signed
/// in, or the subject that was asked.
async fn token(rest: &Rest, decision: &OpenDecision<'_>) -> Result<Option<ConsentToken>, RestError> {
    let browser = browser(&decision.responder.request);
    let is_known = decision.decider.subject.is_some() || decision.issuance.holder.subject.is_some();
    // What posts without being a page of this host is a program, and keeps its conversation.
    if is_known || !browser.is_own() {
        return Ok(None);
    }
    // One that this host did not give is replaced: whoever planted it would have what is agreed to here.
    let token = match browser.consent_token() {
        Some(token) if rest.host.knows_browser(&token).await? => token,
        _ => ConsentToken::mint(&**rest.host.entropy()),
    };
    Ok(Some(token))
}
