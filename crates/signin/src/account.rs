//! `/account`: what somebody agreed to and paid for here, and the way to take consents back. A person who is signed in
//! sees their own, and a browser without an account the consents that it keeps.

use forecourt_audit::{Decider, RequestOrigin};
use forecourt_core::{ConsentToken, Handle, MessageId, Sender};
use forecourt_host::Host;
use forecourt_identity::Person;
use forecourt_issuance::{HOLDINGS_LISTED_MAX, HoldingStatus, Holdings, HoldingsOf};
use forecourt_pages::{ACCOUNT, HeldRow, HeldStatus, HoldingsOwner, HoldingsPage};
use forecourt_surface::answer::HttpAnswer;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, SET_COOKIE};
use http::{HeaderValue, StatusCode};
use serde_json::{Map, Value, json};
use url::form_urlencoded;

use crate::answer::{fields, html, lead};
use crate::error::SignInError;
use crate::limits::SESSIONS_ENDED_MAX;
use crate::visit::Visit;

/// Who looks, as far as the cookies say it.
enum Visitor {
    Person(Box<Person>),
    Browser(ConsentToken),
    Nobody,
}

impl Visitor {
    fn of(&self) -> Option<HoldingsOf<'_>> {
        match self {
            Self::Person(person) => person.sender.owner().map(HoldingsOf::Subject),
            Self::Browser(token) => Some(HoldingsOf::Browser(token)),
            Self::Nobody => None,
        }
    }

    fn owner(&self) -> HoldingsOwner<'_> {
        match self {
            Self::Person(person) => HoldingsOwner::Person(&person.name),
            Self::Browser(_) => HoldingsOwner::Browser,
            Self::Nobody => HoldingsOwner::Nobody,
        }
    }

    /// The cookie that takes the place of the session's, when that is due.
    fn cookie(&self) -> Option<HeaderValue> {
        match self {
            Self::Person(person) => person.cookie.clone(),
            Self::Browser(_) | Self::Nobody => None,
        }
    }
}

impl Visit<'_> {
    /// The page, or the same as data.
    pub(crate) async fn account(&self) -> Result<HttpAnswer, SignInError> {
        let visitor = self.visitor().await?;
        let held = match visitor.of() {
            Some(of) => self.host().holdings(of).await?,
            None => Holdings::default(),
        };
        match self.parameter("format").as_deref() {
            Some("json") => Ok(exported(&visitor, &held)),
            _ => Ok(self.account_page(&visitor, &held)),
        }
    }

    /// A button of the page. It changes something, so it takes a POST from a page of this host.
    pub(crate) async fn change_account(&self, form: &[u8]) -> Result<HttpAnswer, SignInError> {
        if !self.browser().is_own() {
            return Err(SignInError::Foreign);
        }
        let visitor = self.visitor().await?;
        let of = visitor.of();
        let value = |name: &str| form_urlencoded::parse(form).find(|(known, _)| known == name).map(|(_, value)| value);
        let origin = self.origin(&visitor);
        let mut cookies: Vec<HeaderValue> = visitor.cookie().into_iter().collect();
        match (value("action").as_deref(), of) {
            (Some("withdraw"), Some(of)) => {
                let agent = value("agent").and_then(|agent| Handle::parse(&agent).ok());
                if let (Some(agent), Some(consent)) = (agent, value("consent")) {
                    self.host().withdraw(of, &agent, &consent, &origin).await?;
                }
            }
            (Some("forget"), Some(of)) => {
                self.host().withdraw_all(of, &origin).await?;
                if let Visitor::Browser(_) = visitor {
                    cookies.extend(self.browser().set_consents(None));
                }
            }
            (Some("sign-out-everywhere"), Some(HoldingsOf::Subject(subject))) => {
                // This session first: the way out of the provider is told by it while it is open.
                let answer = self.sign_out().await?;
                self.end_sessions(subject).await?;
                return Ok(answer);
            }
            _ => {}
        }
        Ok(lead(&self.url(ACCOUNT), cookies))
    }

    async fn visitor(&self) -> Result<Visitor, SignInError> {
        if let Some(person) = self.person().await? {
            return Ok(Visitor::Person(Box::new(person)));
        }
        Ok(match self.browser().consent_token() {
            // One that this host does not know leads to nothing, and is told as none.
            Some(token) if self.host().knows_browser(&token).await? => Visitor::Browser(token),
            _ => Visitor::Nobody,
        })
    }

    fn origin(&self, visitor: &Visitor) -> RequestOrigin {
        let id = MessageId::mint(self.ambient().1);
        let decider = match visitor {
            Visitor::Person(person) => Decider::of(&person.sender, false),
            Visitor::Browser(_) | Visitor::Nobody => {
                Decider { proof: Decider::BROWSER.to_owned(), ..Decider::of(&Sender::anonymous(), false) }
            }
        };
        RequestOrigin::new(crate::NAME, &id).by(decider)
    }

    /// Ends the sessions of a person, in every process at once: those of the [`SESSIONS_ENDED_MAX`] that were begun
    /// last here.
    async fn end_sessions(&self, subject: &str) -> Result<(), SignInError> {
        let (_, sessions) = self.parts()?;
        for session in sessions.open(SESSIONS_ENDED_MAX, self.now()).await? {
            if session.person.subject == subject {
                sessions.end_named(&session.name, self.now()).await?;
            }
        }
        Ok(())
    }

    fn account_page(&self, visitor: &Visitor, held: &Holdings) -> HttpAnswer {
        let directory = self.host().directory();
        let name = |handle: &Handle| {
            directory.find(handle).map_or_else(|| handle.to_string(), |resident| resident.card.name.clone())
        };
        // Named once, so that rows borrow them.
        let named: Vec<(String, String, String)> = held
            .entries
            .iter()
            .map(|one| (name(&one.agent), one.agent.to_string(), self.brand().path(&format!("/~{}", one.agent))))
            .collect();
        let rows: Vec<HeldRow<'_>> = held
            .entries
            .iter()
            .zip(&named)
            .map(|(one, (agent, handle, agent_path))| HeldRow {
                agent,
                handle,
                agent_path,
                requirement: &one.requirement,
                at: one.at,
                until: one.until,
                status: match one.status {
                    HoldingStatus::Holds => HeldStatus::Holds,
                    HoldingStatus::Ended => HeldStatus::Ended,
                    HoldingStatus::Pending => HeldStatus::Pending,
                    HoldingStatus::GivenBack => HeldStatus::GivenBack,
                },
                name: &one.name,
                networks: &one.networks,
                transaction: one.receipt.as_ref().and_then(transaction),
            })
            .collect();
        let lenders: Vec<String> = held.credit.iter().map(|credit| name(&credit.agent)).collect();
        let credit: Vec<(&str, String)> =
            held.credit.iter().zip(&lenders).map(|(credit, agent)| (agent.as_str(), credit.words.clone())).collect();
        let language = self.language();
        let page = HoldingsPage {
            brand: self.brand(),
            host_name: &self.site().name,
            url: &self.url(ACCOUNT),
            language: &language,
            owner: visitor.owner(),
            signs_in: self.parts().is_ok(),
            rows: &rows,
            credit: &credit,
            listed_max: HOLDINGS_LISTED_MAX,
        };
        html(StatusCode::OK, self.brand(), &language, page.render(), visitor.cookie())
    }

    fn host(&self) -> &Host {
        self.sign_in_host()
    }
}

/// The name of the transaction, in a receipt of x402 or of a card. Other schemes have words of their own, which the
/// export holds.
fn transaction(receipt: &Map<String, Value>) -> Option<&str> {
    forecourt_core::policy::transaction(receipt)
}

/// Everything as JSON, to be kept elsewhere.
fn exported(visitor: &Visitor, held: &Holdings) -> HttpAnswer {
    let (subject, kept_by) = match visitor {
        Visitor::Person(person) => (person.sender.owner(), "subject"),
        Visitor::Browser(_) => (None, "browser"),
        Visitor::Nobody => (None, "nobody"),
    };
    let entries: Vec<Value> = held
        .entries
        .iter()
        .map(|one| {
            let mut value = one.requirement.terms();
            value["agent"] = json!(one.agent.to_string());
            value["message"] = json!(one.requirement.message);
            value["at"] = json!(one.at.to_string());
            value["until"] = json!(one.until.map(|until| until.to_string()));
            value["status"] = json!(match one.status {
                HoldingStatus::Holds => "holds",
                HoldingStatus::Ended => "ended",
                HoldingStatus::Pending => "pending",
                HoldingStatus::GivenBack => "given_back",
            });
            if let Some(receipt) = &one.receipt {
                value["receipt"] = json!(receipt);
            }
            value
        })
        .collect();
    let credit: Vec<Value> = held
        .credit
        .iter()
        .map(|left| json!({"agent": left.agent.to_string(), "unit": left.unit, "amount": left.amount}))
        .collect();
    let body = json!({"kept_by": kept_by, "subject": subject, "entries": entries, "credit": credit});
    let mut head = fields([]);
    head.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    head.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment; filename=\"account.json\""));
    head.extend(visitor.cookie().map(|cookie| (SET_COOKIE, cookie)));
    HttpAnswer::whole(StatusCode::OK, head, serde_json::to_string_pretty(&body).unwrap_or_default())
}
