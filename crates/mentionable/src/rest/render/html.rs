//! Pages for people. REST 4.1.

use forecourt_core::policy::RefusalKind;
use forecourt_core::{CollectedReply, Language, Part, PolicyPart};
use forecourt_pages::{ErrorPage, RefusalPage, ReplyPage, csp};
use forecourt_payments::PaymentNetworks;
use forecourt_sentences::{Sentences, SpokenLanguage};
use http::header::CONTENT_SECURITY_POLICY;
use http::{HeaderMap, HeaderName, HeaderValue};

use super::Frame;
use crate::rest::errors::Failure;
use crate::rest::failure_kind::FailureKind;

pub(super) fn answer(frame: &Frame<'_>, asked: &[Part], collected: &CollectedReply) -> String {
    ReplyPage {
        brand: frame.brand,
        card: &frame.door.card,
        url: frame.url,
        language: frame.language,
        collected,
        path: &frame.door.link,
        session: frame.session,
        asked,
        kept_under: None,
        account: frame.account.clone(),
        transaction: frame.transaction,
    }
    .render()
}

pub(super) fn refusal(frame: &Frame<'_>, part: &PolicyPart, worded: &Language) -> String {
    let asked: Vec<Part> = Some(frame.asked).filter(|asked| !asked.is_empty()).map(Part::text).into_iter().collect();
    // By what is known without settings: a refusal may be another host's, passed on by an agent.
    let (price, networks) = match &part.kind {
        RefusalKind::PaymentRequired { accepted_payments: ways } => {
            let known = PaymentNetworks::default();
            (known.price(ways).unwrap_or_default(), known.titles(ways))
        }
        _ => Default::default(),
    };
    RefusalPage {
        brand: frame.brand,
        card: &frame.door.card,
        url: frame.url,
        language: frame.language,
        worded,
        part: &frame.base.refusal(part),
        asked: &asked,
        path: &frame.door.link,
        account: frame.account.clone(),
        price: (&price, &networks),
    }
    .render()
}

pub(super) fn failure(frame: &Frame<'_>, failure: &Failure) -> String {
    let say = Sentences::in_language(SpokenLanguage::of(frame.language).unwrap_or(SpokenLanguage::English));
    // Our own messages are English, and what an agent says is in its words.
    let message = failure.kind.message_in(say).filter(|_| say.language() != SpokenLanguage::English);
    ErrorPage {
        brand: frame.brand,
        address: Some(&frame.door.card.address),
        url: frame.url,
        language: frame.language,
        title: &failure.kind.title_in(say),
        message: message.as_deref().unwrap_or(&failure.message),
        is_english: message.is_none() && !failure.is_agents_word,
        hint: failure.hint.as_deref(),
        asked: frame.asked,
        path: Some(frame.door.link.as_str())
            .filter(|_| !frame.asked.is_empty() && failure.kind != FailureKind::NoSuchAgent),
        may_work_again: failure.status.is_server_error() && !frame.asked.is_empty(),
    }
    .render()
}

/// Adds what a browser must know of a page. `policy` is one of [`csp`], or of [`forecourt_pages::Branding`]. REST 8.2.
pub(crate) fn security_fields(head: &mut HeaderMap, policy: &str) {
    if let Ok(policy) = HeaderValue::from_str(policy) {
        head.insert(CONTENT_SECURITY_POLICY, policy);
    }
    for (name, value) in csp::HEADERS {
        head.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}
