//! A requirement becomes a refusal with a state of its own. PolicyPart 3.3.3, 3.3.4.

use std::time::Duration;

use forecourt_core::clock::after;
use forecourt_core::policy::{
    AcceptedPayment, Demand, PaymentError, PresentedTerms, RefusalKind, Requirement, STATE_KEY, Translation,
};
use forecourt_core::{AgentCard, Error, Handle, Language, Part, PolicyPart, StateToken, TaskId, Timestamp};
use forecourt_sentences::{Sentences, SpokenLanguage};
use futures::future::BoxFuture;
use serde_json::Value;

use crate::IssuanceStatus;
use crate::digest::canonical_hash;
use crate::holder::Holder;
use crate::limits::EXPIRED_KEPT;
use crate::record::{IssuanceRecord, kept_parts};
use crate::streams::{Issuances, StateHash};
use forecourt_audit::{AuditOutcome, RequestOrigin};

/// What a caller with too many open ones is told to wait, in seconds.
const RETRY_SECONDS: u64 = 60;

/// What is kept of the message that a refusal answers.
pub struct RefusedMessage<'a> {
    /// Whose the issuance will be.
    pub holder: Holder,
    /// The task that it goes on with.
    pub task: Option<TaskId>,
    /// What was said.
    pub parts: &'a [Part],
    /// The language that the caller asked for.
    pub language: Option<&'a Language>,
    /// The request that it came by.
    pub origin: RequestOrigin,
    /// The names of payments that stay good when their price changes: [`forecourt_core::gate::lasting_payments`].
    pub lasting: &'a [String],
}

impl Issuances {
    /// The refusal that asks for `requirement`, with a new state in it: written down before anybody sees it. Too
    /// many requests when its caller has [`IssuanceLimits::open_per_caller_max`] open already.
    ///
    /// [`IssuanceLimits::open_per_caller_max`]: crate::IssuanceLimits::open_per_caller_max
    pub fn issue<'a>(
        &'a self,
        requirement: &'a Requirement,
        card: &'a AgentCard,
        refused: RefusedMessage<'a>,
    ) -> BoxFuture<'a, Result<PolicyPart, Error>> {
        Box::pin(async move { Ok(self.issue_known(requirement, card, refused).await?.1) })
    }

    /// [`Self::issue`], with the state for the host itself. `None` where there are too many.
    pub(crate) async fn issue_known(
        &self,
        requirement: &Requirement,
        card: &AgentCard,
        refused: RefusedMessage<'_>,
    ) -> Result<(Option<StateToken>, PolicyPart), Error> {
        let now = self.clock.now();
        let expires_at = after(now, self.wait(requirement));
        // Before anything is made: a caller that asks again and again without paying fills no store.
        if !self.count(requirement.kind(), &refused.holder.account, expires_at).await? {
            return Ok((None, self.too_many()));
        }
        let state = StateToken::mint(&*self.entropy);
        let hash = StateHash::of(&state);
        let is_payment = matches!(requirement.demand, Demand::Payment(_));
        let record = IssuanceRecord {
            status: IssuanceStatus::Issued,
            terms: canonical_hash(&requirement.terms())?,
            offered: self.presented(requirement, &hash, expires_at),
            requirement: requirement.clone(),
            agent: card.handle().clone(),
            subject: refused.holder.subject,
            thread: refused.holder.thread,
            task: refused.task,
            account: refused.holder.account,
            asked: kept_parts(refused.parts),
            language: refused.language.cloned(),
            issued_at: now,
            expires_at,
            kept_until: after(expires_at, EXPIRED_KEPT),
            resolution: None,
            receipt: None,
            settling: None,
            settled_by: None,
            used: None,
            checkout: None,
            checkouts: 0,
            is_returning: false,
            holding_since: None,
            is_refunded: false,
            origin: refused.origin,
            is_lasting: is_payment && refused.lasting.contains(&requirement.rule),
            is_cut_off: false,
        };
        // At once, so that the store commits them together.
        let (written, marked) = futures::join!(self.write(&hash, &record, 0), self.mark(&hash, &record));
        marked?;
        written?.ok_or_else(Error::unavailable)?;
        self.note(&hash, &record, AuditOutcome::Issued);
        let part = self.refusal(&record, &state);
        Ok((Some(state), part))
    }

    /// The ways to pay as a state offers them; none where their schemes add nothing to those of the requirement.
    pub(crate) fn presented(
        &self,
        requirement: &Requirement,
        hash: &StateHash,
        until: Timestamp,
    ) -> Vec<AcceptedPayment> {
        // What an agent offers is its own to sign: this host signs what its operator sells, and nothing else.
        let Demand::Payment(terms) = &requirement.demand else { return Vec::new() };
        if requirement.is_agents() {
            return Vec::new();
        }
        let made_for = PresentedTerms { reference: hash.as_str(), at: self.clock.now(), until };
        let family = |offer: &AcceptedPayment| offer.scheme.split('.').next().and_then(|family| self.scheme(family));
        let present = |offer: &AcceptedPayment| match family(offer) {
            Some(scheme) => scheme.present(offer, &made_for),
            None => offer.clone(),
        };
        let presented: Vec<_> = terms.accepted.iter().map(present).collect();
        if presented == terms.accepted { Vec::new() } else { presented }
    }

    /// How long it may take to do what is required.
    fn wait(&self, requirement: &Requirement) -> Duration {
        match requirement.demand {
            Demand::Consent(_) => self.limits.consent_wait,
            Demand::Payment(_) => self.limits.payment_wait,
        }
    }

    /// What a state asks for once more, with why the payment that came for it was not taken.
    pub(crate) fn refusal_again(&self, record: &IssuanceRecord, state: &StateToken, fault: PaymentError) -> PolicyPart {
        with_fault(self.refusal(record, state), Some(fault))
    }

    /// What a caller is told who has to meet `requirement`, without a state: nothing is issued, and nobody can do it.
    /// For operators who try out what callers meet.
    pub fn without_state(&self, requirement: &Requirement, agent: &Handle) -> PolicyPart {
        let return_to = self.site.url(&format!("/~{agent}"));
        let kind = match &requirement.demand {
            Demand::Consent(_) => RefusalKind::ConsentRequired { state: String::new(), return_to },
            Demand::Payment(terms) => RefusalKind::PaymentRequired { accepted_payments: terms.accepted.clone() },
        };
        worded(PolicyPart::new(kind, requirement.message.clone()), requirement)
    }

    fn refusal(&self, record: &IssuanceRecord, state: &StateToken) -> PolicyPart {
        let (requirement, agent) = (&record.requirement, &record.agent);
        let page = |name: &str| self.site.url(&format!("/{name}/{}", state.expose()));
        let part = match &requirement.demand {
            Demand::Consent(_) => {
                // The page leads back to where a person talks to the agent, with the state added.
                let return_to = self.site.url(&format!("/~{agent}"));
                let kind = RefusalKind::ConsentRequired { state: state.expose().to_owned(), return_to };
                PolicyPart { url: Some(page("consent")), ..PolicyPart::new(kind, requirement.message.clone()) }
            }
            Demand::Payment(_) => {
                let kind = RefusalKind::PaymentRequired { accepted_payments: record.offers().to_vec() };
                let mut part =
                    PolicyPart { url: Some(page("pay")), ..PolicyPart::new(kind, requirement.message.clone()) };
                part.data.insert(STATE_KEY.to_owned(), Value::from(state.expose()));
                part
            }
        };
        worded(part, requirement)
    }

    fn too_many(&self) -> PolicyPart {
        let max = self.limits.open_per_caller_max;
        let kind = RefusalKind::TooManyRequests { retry_after_seconds: Some(RETRY_SECONDS) };
        let message = format!(
            "You have {max} consents or payments open, as many as one caller may (limits.open_issuances_per_caller_max). \
             Finish one of them, or try again in {RETRY_SECONDS} s."
        );
        PolicyPart { code: Some("mentionable:rate_limited".to_owned()), ..PolicyPart::new(kind, message) }
    }
}

/// A refusal with all that its rule says about it.
fn worded(part: PolicyPart, requirement: &Requirement) -> PolicyPart {
    let (title, message_translations) = (requirement.title.clone(), requirement.message_translations.clone());
    PolicyPart { title, message_translations, ..part }
}

/// A refusal, with why the payment that came for it was not taken: in each language that there is a sentence for it.
pub fn with_fault(mut refusal: PolicyPart, fault: Option<PaymentError>) -> PolicyPart {
    if let Some(fault) = fault {
        for language in SpokenLanguage::ALL {
            let Some(words) = Sentences::in_language(language).payment_fault(&fault.code) else { continue };
            let said = refusal.message_translations.get(language.code());
            let (title, message) = said.map_or((&refusal.title, &refusal.message), |said| (&said.title, &said.message));
            let told = Translation { title: title.clone(), message: format!("{words} {message}") };
            refusal.message_translations.insert(language.code().to_owned(), told);
        }
        refusal.message = format!("{} {}", sentence(&fault.message), refusal.message);
        refusal.code = Some(format!("payment:{}", fault.code));
    }
    refusal
}

/// A scheme's words as a sentence, to which another one can be added.
fn sentence(words: &str) -> String {
    let words = words.trim();
    let mut chars = words.chars();
    let mut sentence: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    sentence.push_str(chars.as_str());
    if !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}

/// Why a payment is not taken.
pub(crate) fn fault(code: &str, message: impl Into<String>, is_passing: bool) -> PaymentError {
    PaymentError { code: code.to_owned(), message: message.into(), is_passing }
}
