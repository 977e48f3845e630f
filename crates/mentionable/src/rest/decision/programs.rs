//! A decision as programs read it: what is asked once more, where it stands, and what came of a POST.

use bytes::Bytes;
use forecourt_core::policy::{Demand, PaymentError, RefusalKind};
use forecourt_core::{Language, PolicyPart};
use forecourt_issuance::{IssuanceOutcome, IssuanceStatus};
use http::StatusCode;
use serde_json::{Value, json};

use super::super::answer::HttpAnswer;
use super::super::media::Media;
use super::super::payment;
use super::super::refusal::VERSION;
use super::super::request::RestRequest;
use super::{OpenDecision, receipt};

impl RestRequest<'_> {
    /// The refusal once more, as it stands.
    pub(super) fn asked_for(&self, opened: &OpenDecision) -> PolicyPart {
        let OpenDecision { kind, state, issuance } = opened;
        let demanded = match &issuance.requirement.demand {
            Demand::Consent(_) => RefusalKind::ConsentRequired {
                state: state.expose().to_owned(),
                return_to: self.rest.host.site().url(&self.door.path),
            },
            Demand::Payment(terms) => RefusalKind::PaymentRequired { accepted_payments: terms.accepted.clone() },
        };
        let mut part = PolicyPart::new(demanded, issuance.requirement.message.clone());
        part.title = issuance.requirement.title.clone();
        part.message_translations = issuance.requirement.message_translations.clone();
        part.url = Some(self.rest.host.site().url(&kind.path(state)));
        part.data.insert("mentionable.state".to_owned(), state.expose().into());
        part
    }

    /// Where a decision stands, for programs.
    pub(super) fn told(&self, opened: &OpenDecision) -> Value {
        let issuance = &opened.issuance;
        let mut told = json!({
            "v": VERSION,
            "agent": self.door.card.address,
            "status": issuance.status,
            "expires_at": issuance.expires_at.to_string(),
            "return_to": self.base().url(&self.return_to(&opened.state)),
            "policy": self.asked_for(opened),
        });
        if let Demand::Consent(consent) = &issuance.requirement.demand {
            told["scope"] = Value::Object(consent.scope.clone());
        }
        told
    }

    /// 402, as a refusal tells it: what a program needs to pay, or to pay again. To a person, the page.
    pub(super) fn payment_wanted(
        &self,
        opened: &OpenDecision,
        media: Media,
        fault: Option<&PaymentError>,
    ) -> HttpAnswer {
        if media == Media::Html {
            let callback = receipt::callback_of(self.head.uri.query().unwrap_or_default());
            let page = self.shown_as(opened, media, fault, callback.as_deref());
            return HttpAnswer { status: StatusCode::PAYMENT_REQUIRED, ..page };
        }
        let mut part = self.asked_for(opened);
        if let Some(fault) = fault {
            part.code = Some(format!("payment:{}", fault.code));
            part.message = fault.message.clone();
        }
        self.refused(media, &part, None)
    }

    /// What came of a POST, for programs: done or declined 200, being looked into or decided before 409.
    pub(super) fn outcome_told(&self, opened: &OpenDecision, media: Media, outcome: IssuanceOutcome) -> HttpAnswer {
        let (status, stands, receipt) = match outcome {
            IssuanceOutcome::Verified(receipt) => (StatusCode::OK, IssuanceStatus::Verified, receipt),
            IssuanceOutcome::Declined => (StatusCode::OK, IssuanceStatus::Declined, None),
            IssuanceOutcome::Late(status) => (StatusCode::CONFLICT, status, None),
            IssuanceOutcome::Refused(_) => (StatusCode::BAD_REQUEST, opened.issuance.status, None),
        };
        let mut told = json!({
            "v": VERSION,
            "agent": self.door.card.address,
            "status": stands,
            "return_to": self.base().url(&self.return_to(&opened.state)),
        });
        let receipt = receipt.map(|receipt| receipt.details);
        if let Some(receipt) = &receipt {
            told["receipt"] = Value::Object(receipt.clone());
        }
        let language = Language::english();
        let content = match media {
            Media::Json => json_of(&told),
            _ => format!("{}\n\n{}", told["status"].as_str().unwrap_or_default(), self.return_to(&opened.state)).into(),
        };
        let mut answer = self.page(media, self.rest.pages.branding.answer_policy(), &language, content);
        if let Some(receipt) = &receipt {
            payment::add_receipt(&mut answer.head, &self.head.headers, receipt);
        }
        HttpAnswer { status, ..answer }
    }
}

pub(super) fn json_of(value: &Value) -> Bytes {
    serde_json::to_vec(value).unwrap_or_default().into()
}
