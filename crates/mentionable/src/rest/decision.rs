//! Where people finish: the pages of a consent and of a payment, and what is sent to them.
//! PolicyPart 3.3.4, PolicyResolution 5.3 pattern 2.
//!
//! A GET changes nothing. What is decided is decided by a POST, which leads back to the agent with the state
//! echoed. A state that is unknown, used or too old has no page, and nobody is told which of these it is.

mod form;
mod programs;
mod receipt;

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use forecourt_audit::RequestOrigin;
use forecourt_core::StateToken;
use forecourt_core::policy::{Demand, PaymentError};
use forecourt_issuance::{Issuance, IssuanceOutcome, IssuanceStatus};
use forecourt_pages::{DecisionPage, DecisionStatus};
use forecourt_surface::refusal::words;
use http::header::{CACHE_CONTROL, LOCATION};
use http::{HeaderValue, Method, StatusCode};

use super::answer::{HttpAnswer, Outcome};
use super::errors::Failure;
use super::from_wire::TRANSPORT;
use super::media::Media;
use super::render;
use super::request::RestRequest;
use super::same_origin;

use form::{Decision, SubmittedForm};
use programs::json_of;

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
struct OpenDecision {
    kind: DecisionKind,
    state: StateToken,
    issuance: Issuance,
}

/// What a form sends along with it, so that it can be told from a form of another page.
fn form_token(kind: DecisionKind, state: &StateToken) -> String {
    forecourt_egress::signature::sign(state.expose().as_bytes(), kind.name().as_bytes())
}

/// Whether `token` is that of [`form_token`], in constant time.
fn is_form_token(kind: DecisionKind, state: &StateToken, token: &str) -> bool {
    forecourt_egress::signature::verify(state.expose().as_bytes(), kind.name().as_bytes(), token)
}

impl RestRequest<'_> {
    /// Answers a request to `/consent/{state}` or `/pay/{state}`.
    pub(crate) async fn decision(&self, kind: DecisionKind, body: Body) -> HttpAnswer {
        if self.head.method == Method::OPTIONS {
            return self.options(DECISION_METHODS);
        }
        let opened = match self.opened(kind).await {
            Ok(opened) => opened,
            Err(error) => return private(self.respond(Err(error))),
        };
        // In the name of the agent that asks.
        let asked = self.at(&opened.issuance.agent);
        let outcome = match self.head.method {
            Method::GET | Method::HEAD => asked.shown(&opened, None),
            Method::POST => Box::pin(asked.decided(&opened, body)).await,
            _ => Err(Failure::method(DECISION_METHODS).into()),
        };
        private(asked.respond(outcome))
    }

    /// What the path names. Unknown, expired, used and malformed states look alike, as does one of the other kind.
    async fn opened(&self, kind: DecisionKind) -> Result<OpenDecision, super::answer::RestError> {
        self.meter()?;
        self.decision_media()?;
        let text = self.head.uri.path().strip_prefix(kind.prefix()).unwrap_or_default();
        let state = StateToken::parse(text).ok_or_else(Failure::no_such_decision)?;
        let issuance = self.rest.host.issuance(&state).await?.ok_or_else(Failure::no_such_decision)?;
        let is_over = matches!(issuance.status, IssuanceStatus::Consumed | IssuanceStatus::Expired);
        match !is_over && DecisionKind::of(&issuance) == kind {
            true => Ok(OpenDecision { kind, state, issuance }),
            false => Err(Failure::no_such_decision().into()),
        }
    }

    /// A page, words or JSON; a stream of one decision is JSON, too.
    fn decision_media(&self) -> Result<Media, Failure> {
        Ok(Media::of_error(Some(self.media()?)))
    }

    /// The page itself.
    fn shown(&self, opened: &OpenDecision, fault: Option<&PaymentError>) -> Outcome {
        let callback = receipt::callback_of(self.head.uri.query().unwrap_or_default());
        Ok(self.shown_as(opened, self.decision_media()?, fault, callback.as_deref()))
    }

    fn shown_as(
        &self,
        opened: &OpenDecision,
        media: Media,
        fault: Option<&PaymentError>,
        callback: Option<&str>,
    ) -> HttpAnswer {
        let OpenDecision { kind, state, issuance } = opened;
        let (path, wanted) = (kind.path(state), self.language());
        let left = issuance.expires_at.duration_since(self.rest.host.clock().now());
        let (url, return_to) = (self.base().url(&path), self.return_to(state));
        // Whoever was merely given the address is not led to the answer.
        let holder = &issuance.holder;
        let is_here = holder.subject.is_some() || self.waiting_thread(issuance).is_some();
        let page = DecisionPage {
            brand: &self.rest.pages.branding,
            card: &self.door.card,
            url: &url,
            language: wanted.as_ref().or(issuance.language.as_ref()),
            requirement: &issuance.requirement,
            asked: &issuance.asked,
            agent_path: &self.door.path,
            path: &path,
            token: &form_token(*kind, state),
            return_to: is_here.then_some(return_to.as_str()),
            time_left: Duration::try_from(left).unwrap_or_default(),
            status: status(issuance.status),
            fault: fault.map(|fault| fault.message.as_str()),
            receipt_callback: callback,
        };
        let language = page.language().clone();
        let content: Bytes = match media {
            Media::Html => page.render().into(),
            Media::Markdown | Media::Stream => words(&self.asked_for(opened), Some(&language)).into(),
            Media::Json => json_of(&self.told(opened)),
        };
        self.page(media, self.rest.pages.branding.asking_policy(), &language, content)
    }

    /// Where it goes on: the agent, with the state echoed. A path, so that a browser stays where its
    /// conversation is. PolicyPart 3.3.4.
    fn return_to(&self, state: &StateToken) -> String {
        format!("{}?state={}", self.door.path, state.expose())
    }

    /// What a POST decides. Checked in this order: who posts, in what form, with which token.
    async fn decided(&self, opened: &OpenDecision, body: Body) -> Outcome {
        if same_origin::is_foreign_form(&self.head.headers, self.rest.host.site()) {
            return Err(Failure::cross_site().into());
        }
        let media = self.decision_media()?;
        let OpenDecision { kind, state, .. } = opened;
        let SubmittedForm { decision, callback } = form::read(self.head, body, *kind, state).await?;
        let host = &self.rest.host;
        let origin = RequestOrigin::new(TRANSPORT, &self.rest.ids.next());
        let (outcome, paid) = match decision {
            Decision::Accept => (host.accept_consent(state, &origin).await?, None),
            Decision::Decline => (host.decline(state, &origin).await?, None),
            // Where nothing is paid a program is told what is to be, as a refusal tells it.
            Decision::Ask => return Ok(self.payment_wanted(opened, media, None)),
            Decision::Pay(payment) => (host.pay(state, &payment, &origin).await?, Some(payment)),
        };
        if let (IssuanceOutcome::Verified(_), Some(payment), Some(callback)) = (&outcome, &paid, &callback) {
            receipt::hand_over(&self.rest.egress, callback, state, payment).await;
        }
        match (media, outcome) {
            (_, IssuanceOutcome::Late(IssuanceStatus::Consumed | IssuanceStatus::Expired)) => {
                Err(Failure::no_such_decision().into())
            }
            (media, IssuanceOutcome::Refused(fault)) if paid.is_some() => {
                Ok(self.payment_wanted(opened, media, Some(&fault)))
            }
            (_, IssuanceOutcome::Refused(fault)) => Err(Failure::bad_request(fault.message).into()),
            (Media::Html, IssuanceOutcome::Verified(_)) if callback.is_none() => {
                Ok(self.see_other(&self.return_to(state)))
            }
            (Media::Html, _) => Ok(self.see_other(&kind.path(state))),
            (media, outcome) => Ok(self.outcome_told(opened, media, outcome)),
        }
    }

    /// 303, so that a reload does not post again. RFC 9110 15.4.4.
    pub(crate) fn see_other(&self, path: &str) -> HttpAnswer {
        let mut head = self.head_of(Media::Html, &forecourt_core::Language::english(), None);
        render::security_fields(&mut head, self.rest.pages.branding.answer_policy());
        if let Ok(location) = HeaderValue::from_str(path) {
            head.insert(LOCATION, location);
        }
        head.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        HttpAnswer::empty(StatusCode::SEE_OTHER, head)
    }
}

fn status(status: IssuanceStatus) -> DecisionStatus {
    match status {
        IssuanceStatus::Issued => DecisionStatus::Open,
        IssuanceStatus::Indeterminate => DecisionStatus::Pending,
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
