//! Where a person decides: what is asked, by whom, and what comes of either choice. PolicyPart 3.3.3, 3.3.4 and
//! PolicyResolution 5.3, pattern 2.

mod card;
mod terms;
mod wallet;

use std::borrow::Cow;
use std::time::Duration;

use askama::Template;
use forecourt_core::policy::{Demand, PaidFor, PaymentTerms, Requirement};
use forecourt_core::{AgentCard, Language, Part};
use forecourt_sentences::{Sentences, SpokenLanguage};
use serde_json::{Map, Value};

use crate::asked::AskedView;
use crate::branding::Branding;
use crate::clean;
use crate::escape;
use crate::span::span;
use crate::template::{self, Head};

pub use card::CardPanel;
use card::CardView;
pub(crate) use terms::{Term, terms};
pub use wallet::WalletPanel;
use wallet::{WalletPage, WalletView};

/// The state of a decision, as its page tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionStatus {
    /// It is still to be made.
    Open,
    /// It was done, and the answer waits.
    Done,
    /// A payment is checked, and is taken when the answer is complete.
    Reserved,
    /// The person said no.
    Declined,
    /// A payment was sent, and nobody knows yet whether it arrived.
    Pending,
}

/// Who looks at the page of a decision.
#[derive(Debug, Clone)]
pub enum DecisionVisitor<'a> {
    /// Somebody who may decide.
    MayDecide,
    /// Nobody knows who, where a person was asked who signs in to decide: there.
    SignedOut(String),
    /// Another person than was asked, by their name.
    AnotherPerson(&'a str),
}

/// The page of a consent or a payment, which of the two the requirement says. Send with [`Self::policy`],
/// and keep it nowhere: its address opens the decision.
pub struct DecisionPage<'a> {
    /// How pages look here.
    pub brand: &'a Branding,
    /// Who asks.
    pub card: &'a AgentCard,
    /// The URL of this page. A payment program may be given it.
    pub url: &'a str,
    /// The language wanted; the requirement's translations are searched for it.
    pub language: Option<&'a Language>,
    /// What is asked.
    pub requirement: &'a Requirement,
    /// What the person asked the agent; nothing of it when it was not kept.
    pub asked: &'a [Part],
    /// The path of the agent.
    pub agent_path: &'a str,
    /// The path of this page, to which its form is sent.
    pub path: &'a str,
    /// What the form sends along, so that it can be told from other pages' forms.
    pub token: &'a str,
    /// Where it goes on once it is done, the state echoed. `None` where it was asked elsewhere.
    pub return_to: Option<&'a str>,
    /// How long it can still be decided.
    pub time_left: Duration,
    /// Where it stands.
    pub status: DecisionStatus,
    /// Why the last payment was not taken, in a sentence.
    pub fault: Option<&'a str>,
    /// Where else a receipt is sent, as the address of the page asked for. Never a link.
    pub receipt_callback: Option<&'a str>,
    /// Who looks.
    pub visitor: DecisionVisitor<'a>,
    /// What people call the networks on which it may be paid.
    pub networks: &'a [String],
    /// How a wallet in the browser pays it. `None` where nobody can take such a payment here.
    pub wallet: Option<WalletPanel<'a>>,
    /// How it is paid by card. `None` where it can't be.
    pub by_card: Option<CardPanel<'a>>,
    /// What is left of what the person paid ahead, in words.
    pub credit: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "decision.html")]
struct DecisionTemplate {
    address: String,
    head: Head,
    /// The language of the page's own words.
    own: &'static str,
    /// The language of the requirement's words.
    worded: String,
    name: String,
    agent_path: String,
    title: String,
    message: String,
    status: DecisionStatus,
    asked: AskedView,
    time_left: String,
    path: String,
    token: String,
    return_to: Option<String>,
    demand: DemandView,
    /// The script of a page on which wallets pay.
    script: Option<String>,
}

enum DemandView {
    Consent(ConsentView),
    Payment(Box<PaymentView>),
}

struct ConsentView {
    /// `None` when it is more than a page can show: then nobody can agree to it here.
    terms: Option<Vec<Term>>,
    lifetime: String,
    visitor: VisitorView,
}

enum VisitorView {
    MayDecide,
    SignedOut { sign_in: String },
    AnotherPerson { name: String },
}

struct PaymentView {
    price: String,
    covers: String,
    is_charged_after: bool,
    /// Ways that programs alone know.
    ways: Vec<Way>,
    /// Whether programs can pay at the page's own address.
    takes_x402: bool,
    wallet: Option<WalletView>,
    card: Option<CardView>,
    credit: Option<String>,
    fault: Option<String>,
    receipt_callback: Option<String>,
}

/// One way to pay.
struct Way {
    name: String,
    terms: Vec<Term>,
}

impl DecisionPage<'_> {
    /// The whole page.
    pub fn render(&self) -> String {
        let (title, message, worded) = self.words();
        let language = self.language();
        let say = template::words_in(language);
        let demand = self.demand(message, say);
        template::finish(&DecisionTemplate {
            script: self.wallet_script().map(|_| self.brand.payment_script()),
            head: Head::new(
                Some(&self.card.address),
                self.url,
                language,
                self.brand,
                title.unwrap_or_default(),
                message,
            ),
            own: say.language().code(),
            worded: worded.as_str().to_owned(),
            address: self.card.address.to_string(),
            name: clean::line(&self.card.name),
            agent_path: self.agent_path.to_owned(),
            title: clean::line(title.unwrap_or_default()),
            message: clean::text(message).into_owned(),
            status: self.status,
            asked: AskedView::of(self.asked),
            time_left: span(self.time_left.as_secs(), say),
            path: self.path.to_owned(),
            token: self.token.to_owned(),
            return_to: self.return_to.map(str::to_owned),
            demand,
        })
    }

    /// What a browser may do with it.
    pub fn policy(&self) -> Cow<'_, str> {
        let policy = self.wallet_script().map_or(self.brand.asking_policy(), |_| self.brand.paying_policy());
        match self.card_panel() {
            Some(card) => Cow::Owned(card.policy(policy)),
            None => Cow::Borrowed(policy),
        }
    }

    /// How it is paid by card, where there is still something to pay.
    fn card_panel(&self) -> Option<&CardPanel<'_>> {
        self.by_card.as_ref().filter(|_| self.status == DecisionStatus::Open)
    }

    /// What its script is for, where there is still something to pay with a wallet.
    fn wallet_script(&self) -> Option<&WalletPanel<'_>> {
        self.wallet.as_ref().filter(|_| self.status == DecisionStatus::Open)
    }

    /// The language of the page: the reader's where there are words in it, else that of the requirement's words.
    pub fn language(&self) -> &Language {
        let wanted = self.language.filter(|wanted| SpokenLanguage::of(wanted).is_some());
        wanted.unwrap_or_else(|| self.words_language())
    }

    /// The language of the requirement's words, as [`Self::render`] tells them.
    pub fn words_language(&self) -> &Language {
        self.words().2
    }

    /// Title, message and their language: the translation that suits best (RFC 4647 3.4), else the requirement's
    /// own words, which are the agent's language.
    fn words(&self) -> (Option<&str>, &str, &Language) {
        let own = self.requirement.title.as_deref();
        let tagged =
            |range: &str| self.requirement.message_translations.iter().find(|(tag, _)| tag.eq_ignore_ascii_case(range));
        let found = self.language.and_then(|language| Some((language, language.ranges().find_map(tagged)?.1)));
        match found {
            Some((language, words)) => (words.title.as_deref().or(own), &words.message, language),
            None => (own, &self.requirement.message, &self.card.language),
        }
    }

    fn visitor_view(&self) -> VisitorView {
        match &self.visitor {
            DecisionVisitor::MayDecide => VisitorView::MayDecide,
            DecisionVisitor::SignedOut(sign_in) => VisitorView::SignedOut { sign_in: sign_in.clone() },
            DecisionVisitor::AnotherPerson(name) => VisitorView::AnotherPerson { name: clean::line(name) },
        }
    }

    fn demand(&self, message: &str, say: Sentences) -> DemandView {
        match &self.requirement.demand {
            Demand::Consent(consent) => DemandView::Consent(ConsentView {
                terms: terms(&consent.scope, say).map(|rows| without_repetition(rows, message)),
                lifetime: match consent.lifetime_seconds {
                    Some(seconds) => span(seconds, say),
                    None => say.decision_no_end(),
                },
                visitor: self.visitor_view(),
            }),
            Demand::Payment(payment) => DemandView::Payment(Box::new(self.payment_view(payment, say))),
        }
    }

    fn payment_view(&self, payment: &PaymentTerms, say: Sentences) -> PaymentView {
        let price = price_on(&clean::line(&payment.price), self.networks, say);
        let ask_again = self.ask_again();
        // A card pays on no network.
        let shown = if self.card_panel().is_some() { clean::line(&payment.price) } else { price.clone() };
        let page = WalletPage {
            url: self.url,
            path: self.path,
            return_to: self.return_to,
            ask_again: &ask_again,
            is_charged_after: payment.is_charged_after(),
            receipt_callback: self.receipt_callback,
        };
        let card = self.card_panel();
        let is_shown = |scheme: &str| scheme.starts_with(X402) || (card.is_some() && scheme.starts_with(CARD));
        let others = payment.accepted.iter().filter(|way| !is_shown(&way.scheme));
        PaymentView {
            covers: covers(payment.covers, say),
            is_charged_after: payment.is_charged_after(),
            ways: others.map(|way| Way::of(&way.scheme, &way.payload, say)).collect(),
            takes_x402: takes_x402(payment),
            wallet: self.wallet_script().map(|panel| WalletView::new(panel, &page, &price, say)),
            card: card.map(|panel| CardView::new(panel, say)),
            credit: self.credit.map(clean::line),
            fault: self.fault.map(clean::line),
            receipt_callback: self.receipt_callback.map(str::to_owned),
            price: shown,
        }
    }

    /// Where the same is asked again, for an offer that is good for a while; the agent's page where it was not kept.
    fn ask_again(&self) -> String {
        let asked = AskedView::of(self.asked);
        match asked.text.is_empty() || asked.is_long() {
            true => self.agent_path.to_owned(),
            false => format!("{}?user={}", self.agent_path, escape::query(&asked.text)),
        }
    }
}

/// A price with the networks on which it may be paid, as a person reads it: `0.05 USDC on Base or Polygon`.
pub(crate) fn price_on(price: &str, networks: &[String], say: Sentences) -> String {
    let networks = networks.iter().map(|network| clean::line(network));
    match networks.reduce(|one, other| say.pay_either(&one, &other)) {
        Some(networks) if !price.is_empty() => say.pay_price_on(price, &networks),
        _ => price.to_owned(),
    }
}

/// The rows but for the one that only says what stands above them already.
fn without_repetition(rows: Vec<Term>, message: &str) -> Vec<Term> {
    let message = clean::text(message);
    rows.into_iter().filter(|row| row.value != message).collect()
}

/// The prefix of the schemes that programs pay at the page's own address.
const X402: &str = "x402.";

/// The prefix of the schemes that are paid by card.
const CARD: &str = "card.";

fn takes_x402(terms: &PaymentTerms) -> bool {
    terms.accepted.iter().any(|way| way.scheme.starts_with(X402))
}

/// What a payment pays for, in words.
fn covers(covers: PaidFor, say: Sentences) -> String {
    match covers {
        PaidFor::Turn => say.decision_covers_turn(),
        PaidFor::Period { seconds } => say.decision_covers_period(&span(seconds, say)),
        PaidFor::Credit => say.decision_covers_credit(),
    }
}

impl Way {
    /// A way to pay by what its offer says.
    fn of(scheme: &str, payload: &Map<String, Value>, say: Sentences) -> Self {
        Self { name: clean::line(scheme), terms: terms(payload, say).unwrap_or_default() }
    }
}

#[cfg(test)]
mod tests;
