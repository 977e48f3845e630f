//! Where people finish: the pages of a consent and of a payment, and what is sent to them.
//! PolicyPart 3.3.4, PolicyResolution 5.3 pattern 2.
//!
//! A GET changes nothing. What is decided is decided by a POST, which leads back to the agent with the state
//! echoed. A state that is unknown, used or too old has no page, and nobody is told which of these it is.

mod checkout;
mod form;
mod kept_consent;
mod programs;
mod receipt;
mod wallet;

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use forecourt_audit::{Decider, RequestOrigin};
use forecourt_core::policy::{Demand, PaymentError};
use forecourt_core::{Clock, StateToken};
use forecourt_issuance::{Issuance, IssuanceOutcome, IssuanceStatus};
use forecourt_pages::{DecisionPage, DecisionStatus, DecisionVisitor, WalletPanel, sign_in_path};
use forecourt_surface::refusal::words;
use forecourt_surface::{credentials, same_origin};
use http::header::{CACHE_CONTROL, SET_COOKIE};
use http::{HeaderValue, Method};

use super::answer::{HttpAnswer, Outcome, RestError};
use super::conversation_cookie;
use super::errors::Failure;
use super::from_wire::TRANSPORT;
use super::media::Media;
use super::request::RequestHead;
use super::responder::Responder;
use super::signed_in::or_person;
use super::transport::Rest;

use form::{Decision, SubmittedForm};
use programs::json_of;
use wallet::WalletOffer;

pub(crate) const DECISION_METHODS: &str = "GET, HEAD, POST, OPTIONS";

/// Which of the two pages a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecisionKind {
    /// `/consent/{state}`
    Consent,
    /// `/pay/{state}`
    Payment,
}

impl DecisionKind {
    /// What its path begins with. Companion decision U16.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::Consent => "/consent/",
            Self::Payment => "/pay/",
        }
    }

    /// The page that an issuance has.
    pub(crate) fn of(issuance: &Issuance) -> Self {
        match issuance.requirement.demand {
            Demand::Consent(_) => Self::Consent,
            Demand::Payment(_) => Self::Payment,
        }
    }

    /// The path of the page of `state`.
    pub(crate) fn path(self, state: &StateToken) -> String {
        format!("{}{}", self.prefix(), state.expose())
    }

    /// Whether a consent or a payment, as refusals name it.
    fn name(self) -> &'static str {
        match self {
            Self::Consent => "consent_required",
            Self::Payment => "payment_required",
        }
    }
}

/// A decision that somebody looks at, with the state that opened it.
struct OpenDecision<'a> {
    rest: &'a Rest,
    kind: DecisionKind,
    state: StateToken,
    issuance: Issuance,
    /// Speaks in the name of the agent that asks.
    responder: Responder<'a>,
    clock: &'a dyn Clock,
    /// Who looks, as far as the request proves it.
    decider: Decider,
    /// Whether a person who signs in here was asked, and nobody else decides.
    is_personal: bool,
    /// Whether it may have been paid at a checkout, and nobody knows yet.
    is_unknown: bool,
    /// What is left of the credit of whoever was asked, where it is theirs to see.
    credit: Option<String>,
}

/// What a form sends along with it, so that it can be told from a form of another page.
fn form_token(kind: DecisionKind, state: &StateToken) -> String {
    forecourt_egress::signature::sign(state.expose().as_bytes(), kind.name().as_bytes())
}

/// Whether `token` is that of [`form_token`], in constant time.
fn is_form_token(kind: DecisionKind, state: &StateToken, token: &str) -> bool {
    forecourt_egress::signature::verify(state.expose().as_bytes(), kind.name().as_bytes(), token)
}

/// Answers a request to `/consent/{state}` or `/pay/{state}`.
pub(crate) async fn answer(rest: &Rest, responder: Responder<'_>, kind: DecisionKind, body: Body) -> HttpAnswer {
    let method = &responder.request.parts.method;
    if method == Method::OPTIONS {
        return responder.options(DECISION_METHODS);
    }
    let mut decision = match open(rest, responder, kind).await {
        Ok(decision) => decision,
        Err(error) => return private(responder.respond(Err(error))),
    };
    let outcome = match *method {
        Method::GET | Method::HEAD => decision.page_answer(None),
        Method::POST => Box::pin(decide(rest, &mut decision, body)).await,
        _ => Err(Failure::method(DECISION_METHODS).into()),
    };
    private(decision.responder.respond(outcome))
}

/// What the path names. Unknown, expired, used and malformed states look alike, as does one of the other kind.
async fn open<'a>(rest: &'a Rest, responder: Responder<'a>, kind: DecisionKind) -> Result<OpenDecision<'a>, RestError> {
    let request = responder.request;
    // First, so that guesses at states count against the caller's limits.
    rest.meter(&request)?;
    decision_media(&request)?;
    let text = request.parts.uri.path().strip_prefix(kind.prefix()).unwrap_or_default();
    let state = StateToken::parse(text).ok_or_else(Failure::no_such_decision)?;
    let mut issuance = rest.host.issuance(&state).await?.ok_or_else(Failure::no_such_decision)?;
    // Whoever comes back from a checkout may be here before its provider says so: it is asked, and nothing that the
    // request says counts.
    let is_unknown = issuance.is_at_checkout && is_read(&request) && !rest.host.look_again(&state).await?;
    if issuance.is_at_checkout {
        issuance = rest.host.issuance(&state).await?.ok_or_else(Failure::no_such_decision)?;
    }
    let is_over = matches!(issuance.status, IssuanceStatus::Consumed | IssuanceStatus::Expired);
    match !is_over && DecisionKind::of(&issuance) == kind {
        true => {
            let responder = responder.of(rest.door(&issuance.agent));
            let decider = decider(rest, &responder, &issuance).await?;
            let is_personal = kind == DecisionKind::Consent && rest.host.is_for_a_person(&issuance);
            let is_theirs = decider.proof == Decider::CONVERSATION
                || (decider.subject.is_some() && decider.subject == issuance.holder.subject);
            let is_shown = is_theirs && decision_media(&request)? == Media::Html;
            let credit = if is_shown { rest.host.credit_of(&issuance).await? } else { None };
            let clock = &**rest.host.clock();
            let of = OpenDecision {
                rest,
                kind,
                state,
                issuance,
                responder,
                clock,
                decider,
                is_personal,
                is_unknown,
                credit,
            };
            Ok(of)
        }
        false => Err(Failure::no_such_decision().into()),
    }
}

/// Who sent the request: by its own proof, which covers no body here, else by the cookie of who is signed in.
async fn decider(rest: &Rest, responder: &Responder<'_>, issuance: &Issuance) -> Result<Decider, RestError> {
    let Responder { request, route, person, .. } = responder;
    let (agent, now) = (&route.card.address, rest.host.clock().now());
    let proof = credentials::Request { head: request.parts, body: None, agent, now };
    let sender = or_person(credentials::sender(&rest.verifier, rest.host.site(), proof).await?, *person, agent);
    let has_conversation = conversation_cookie::waiting_thread(request.headers(), issuance).is_some();
    Ok(Decider::of(&sender, has_conversation))
}

/// A page, words or JSON; a stream of one decision is JSON, too.
fn decision_media(request: &RequestHead<'_>) -> Result<Media, Failure> {
    Ok(Media::of_error(Some(request.media()?)))
}

/// What a POST decides. Checked in this order: who posts, in what form, with which token.
async fn decide(rest: &Rest, decision: &mut OpenDecision<'_>, body: Body) -> Outcome {
    let (kind, state, request) = (decision.kind, &decision.state.clone(), &decision.responder.request);
    if same_origin::is_foreign_form(request.headers(), request.site) {
        return Err(Failure::cross_site().into());
    }
    let media = decision_media(request)?;
    let SubmittedForm { decision: choice, callback } = form::read(request.parts, body, kind, state).await?;
    let host = &rest.host;
    let origin = RequestOrigin::new(TRANSPORT, &rest.ids.next()).by(decision.decider.clone());
    let mut kept = None;
    let (outcome, paid) = match choice {
        Decision::Accept => {
            let (outcome, cookie) = kept_consent::accept(rest, decision, &origin).await?;
            kept = cookie;
            (outcome, None)
        }
        Decision::Decline => (host.decline(state, &origin).await?, None),
        Decision::CheckOut { times } => return checkout::begin(rest, decision, media, times, &origin).await,
        // Where nothing is paid a program is told what is to be, as a refusal tells it.
        Decision::Ask => return Ok(decision.payment_wanted(media, None)),
        Decision::Pay(payment) => (host.pay(state, &payment, &origin).await?, Some(payment)),
    };
    if let (IssuanceOutcome::Verified(receipt), Some(payment), Some(callback)) = (&outcome, &paid, &callback) {
        // What is only reserved stays here: whoever has it could have the money taken, and get the answer.
        let told = receipt.is_some().then_some(payment);
        receipt::hand_over(&rest.egress, callback, state, told).await;
    }
    if let (IssuanceOutcome::Refused(_), Some(_), Some(now)) = (&outcome, &paid, host.issuance(state).await?) {
        // What was let go of is offered anew, and what was offered before can't be paid any more.
        decision.issuance = now;
    }
    let mut answer = decision.decided(media, outcome, paid.is_some(), callback.is_some())?;
    answer.head.extend(kept.map(|cookie| (SET_COOKIE, cookie)));
    Ok(answer)
}

impl OpenDecision<'_> {
    /// What is answered to what came of a decision.
    fn decided(&self, media: Media, outcome: IssuanceOutcome, is_paid: bool, has_callback: bool) -> Outcome {
        let Self { kind, state, responder, .. } = self;
        match (media, outcome) {
            (_, IssuanceOutcome::Late(IssuanceStatus::Consumed | IssuanceStatus::Expired)) => {
                Err(Failure::no_such_decision().into())
            }
            (_, IssuanceOutcome::NotTheirs) => Err(Failure::not_the_person_asked().into()),
            (media, IssuanceOutcome::Refused(error)) if is_paid => Ok(self.payment_wanted(media, Some(&error))),
            (_, IssuanceOutcome::Refused(error)) => Err(Failure::bad_request(error.message).into()),
            (Media::Html, IssuanceOutcome::Verified(_)) if !has_callback => Ok(responder.see_other(&self.return_to())),
            (Media::Html, _) => Ok(responder.see_other(&kind.path(state))),
            (media, outcome) => Ok(self.outcome_answer(media, outcome)),
        }
    }
}

impl OpenDecision<'_> {
    /// The page itself, in the form that is wanted. `error`: why a payment was not taken.
    fn page_answer(&self, error: Option<&PaymentError>) -> Outcome {
        let callback = receipt::callback_of(self.responder.request.query());
        Ok(self.page(decision_media(&self.responder.request)?, error, callback.as_deref()))
    }

    fn page(&self, media: Media, error: Option<&PaymentError>, callback: Option<&str>) -> HttpAnswer {
        let Self { kind, state, issuance, responder, clock, .. } = self;
        let Responder { request, route, branding, .. } = responder;
        let (path, wanted) = (kind.path(state), request.language());
        let left = issuance.expires_at.duration_since(clock.now());
        let (url, return_to) = (request.base().url(&path), branding.path(&self.return_to()));
        // Whoever was merely given the address is not led to the answer.
        let holder = &issuance.holder;
        let waits = conversation_cookie::waiting_thread(request.headers(), issuance).is_some();
        let is_here = holder.subject.is_some() || waits;
        let offer = if media == Media::Html { self.wallet_offer() } else { WalletOffer::default() };
        let by_card = (media == Media::Html).then(|| self.card_options()).flatten();
        let wallet = WalletPanel {
            ways: serde_json::to_value(&offer.requests).unwrap_or_default(),
            payees: &offer.payees,
            amounts: &offer.amounts,
            now: clock.now().as_second(),
        };
        let page = DecisionPage {
            brand: branding,
            card: &route.card,
            url: &url,
            language: wanted.as_ref().or(issuance.language.as_ref()),
            requirement: &issuance.requirement,
            asked: &issuance.asked,
            agent_path: &route.link,
            path: &branding.path(&path),
            token: &form_token(*kind, state),
            return_to: is_here.then_some(return_to.as_str()),
            time_left: Duration::try_from(left).unwrap_or_default(),
            status: if self.is_unknown { DecisionStatus::Pending } else { status(issuance) },
            fault: error.map(|error| error.message.as_str()),
            receipt_callback: callback,
            visitor: self.visitor(),
            networks: &offer.networks,
            wallet: (!offer.requests.is_empty()).then_some(wallet),
            by_card: by_card.as_ref().map(|options| options.panel(issuance)),
            credit: self.credit.as_deref(),
        };
        // The page has words of its own; whatever else is sent is the requirement's words alone.
        let language = match media {
            Media::Html => page.language(),
            Media::Markdown | Media::Stream | Media::Json => page.words_language(),
        };
        let language = language.clone();
        let content: Bytes = match media {
            Media::Html => page.render().into(),
            Media::Markdown | Media::Stream => words(&self.refusal(), Some(&language)).into(),
            Media::Json => json_of(&self.to_json()),
        };
        responder.page(media, &page.policy(), &language, content)
    }

    /// Who looks, as the page tells it.
    fn visitor(&self) -> DecisionVisitor<'_> {
        let is_asked = self.decider.subject.is_some() && self.decider.subject == self.issuance.holder.subject;
        match (self.is_personal && !is_asked, self.responder.person) {
            (false, _) => DecisionVisitor::MayDecide,
            (true, Some(person)) => DecisionVisitor::AnotherPerson(&person.name),
            (true, None) => {
                let path = sign_in_path(&self.kind.path(&self.state));
                DecisionVisitor::SignedOut(self.responder.request.base().url(&path))
            }
        }
    }

    /// Where it goes on: the agent, with the state echoed. A path, so that a browser stays where its
    /// conversation is. PolicyPart 3.3.4.
    fn return_to(&self) -> String {
        format!("{}?state={}", self.responder.route.path, self.state.expose())
    }
}

/// Whether a request only reads.
fn is_read(request: &RequestHead<'_>) -> bool {
    matches!(request.parts.method, Method::GET | Method::HEAD)
}

fn status(issuance: &Issuance) -> DecisionStatus {
    match issuance.status {
        IssuanceStatus::Issued => DecisionStatus::Open,
        IssuanceStatus::Indeterminate => DecisionStatus::Pending,
        IssuanceStatus::Verified if issuance.is_reserved => DecisionStatus::Reserved,
        IssuanceStatus::Verified => DecisionStatus::Done,
        IssuanceStatus::Consumed | IssuanceStatus::Declined | IssuanceStatus::Expired => DecisionStatus::Declined,
    }
}

/// What no cache and no history may keep: the address opens what is on it. Security sheet, section 8.
fn private(mut answer: HttpAnswer) -> HttpAnswer {
    answer.head.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer.head.insert(http::header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    answer
}
