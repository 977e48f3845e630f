//! A decision as programs read it: what is asked once more, where it stands, and what came of a POST.

use bytes::Bytes;
use forecourt_core::policy::{Demand, PaymentError, RefusalKind};
use forecourt_core::{Language, PolicyPart};
use forecourt_issuance::{IssuanceOutcome, IssuanceStatus, with_fault};
use http::StatusCode;
use serde_json::{Value, json};

use super::super::answer::HttpAnswer;
use super::super::media::Media;
use super::super::payment;
use super::super::refusal::VERSION;
use super::{OpenDecision, receipt};

impl OpenDecision<'_> {
    /// The refusal once more, as it stands.
    pub(super) fn refusal(&self) -> PolicyPart {
        let Self { kind, state, issuance, responder, .. } = self;
        let site = responder.request.site;
        let demanded = match &issuance.requirement.demand {
            Demand::Consent(_) => RefusalKind::ConsentRequired {
                state: state.expose().to_owned(),
                return_to: site.url(&responder.route.path),
            },
            Demand::Payment(terms) => RefusalKind::PaymentRequired { accepted_payments: terms.accepted.clone() },
        };
        let mut part = PolicyPart::new(demanded, issuance.requirement.message.clone());
        part.title = issuance.requirement.title.clone();
        part.message_translations = issuance.requirement.message_translations.clone();
        part.url = Some(site.url(&kind.path(state)));
        part.data.insert("mentionable.state".to_owned(), state.expose().into());
        part
    }

    /// Where a decision stands, for programs.
    pub(super) fn to_json(&self) -> Value {
        let Self { issuance, responder, .. } = self;
        let mut fields = json!({
            "v": VERSION,
            "agent": responder.route.card.address,
            "status": issuance.status,
            "expires_at": issuance.expires_at.to_string(),
            "return_to": responder.request.base().url(&self.return_to()),
            "policy": self.refusal(),
        });
        if let Demand::Consent(consent) = &issuance.requirement.demand {
            fields["scope"] = Value::Object(consent.scope.clone());
        }
        fields
    }

    /// 402, as a refusal tells it: what a program needs to pay, or to pay again. To a person, the page.
    pub(super) fn payment_wanted(&self, media: Media, error: Option<&PaymentError>) -> HttpAnswer {
        if media == Media::Html {
            let callback = receipt::callback_of(self.responder.request.query());
            let page = self.page(media, error, callback.as_deref());
            return HttpAnswer { status: StatusCode::PAYMENT_REQUIRED, ..page };
        }
        let part = with_fault(self.refusal(), error.cloned());
        self.responder.refused(media, &part, None)
    }

    /// What came of a POST, for programs: done or declined 200, being looked into or decided before 409.
    pub(super) fn outcome_answer(&self, media: Media, outcome: IssuanceOutcome) -> HttpAnswer {
        let responder = &self.responder;
        let (status, stands, receipt) = match outcome {
            IssuanceOutcome::Verified(receipt) => (StatusCode::OK, IssuanceStatus::Verified, receipt),
            IssuanceOutcome::Declined => (StatusCode::OK, IssuanceStatus::Declined, None),
            IssuanceOutcome::Late(status) => (StatusCode::CONFLICT, status, None),
            IssuanceOutcome::NotTheirs | IssuanceOutcome::Refused(_) => {
                (StatusCode::BAD_REQUEST, self.issuance.status, None)
            }
        };
        let mut fields = json!({
            "v": VERSION,
            "agent": responder.route.card.address,
            "status": stands,
            "return_to": responder.request.base().url(&self.return_to()),
        });
        let receipt = receipt.map(|receipt| receipt.details);
        if let Some(receipt) = &receipt {
            fields["receipt"] = Value::Object(receipt.clone());
        }
        let language = Language::english();
        let content = match media {
            Media::Json => json_of(&fields),
            _ => format!("{}\n\n{}", fields["status"].as_str().unwrap_or_default(), self.return_to()).into(),
        };
        let mut answer = responder.page(media, responder.branding.answer_policy(), &language, content);
        if let Some(receipt) = &receipt {
            payment::add_receipt(&mut answer.head, responder.request.headers(), receipt);
        }
        HttpAnswer { status, ..answer }
    }
}

pub(super) fn json_of(value: &Value) -> Bytes {
    serde_json::to_vec(value).unwrap_or_default().into()
}
