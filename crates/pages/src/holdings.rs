//! Renders what a person agreed to and paid for, with a button that takes a consent back. Works without a script.

use askama::Template;
use forecourt_core::policy::{Demand, Requirement};
use forecourt_core::{Language, Timestamp};
use forecourt_sentences::Sentences;

use crate::branding::Branding;
use crate::decision::{Term, price_on, terms};
use crate::template::{self, Head};
use crate::{ACCOUNT, clean, sign_in_path};

/// Whose consents and payments a page shows.
#[derive(Debug, Clone, Copy)]
pub enum HoldingsOwner<'a> {
    /// Somebody who is signed in. What they are called.
    Person(&'a str),
    /// A browser without an account, which has consents alone.
    Browser,
    /// Nobody that this host knows.
    Nobody,
}

/// Where a consent or a payment stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldStatus {
    /// It holds.
    Holds,
    /// It ran out, was used, or was taken back.
    Ended,
    /// A payment of which nobody knows yet whether it arrived, or was given back.
    Pending,
    /// A payment that was given back.
    GivenBack,
}

/// A consent or a payment, which of the two the requirement says.
#[derive(Debug, Clone, Copy)]
pub struct HeldRow<'a> {
    /// The name of the agent.
    pub agent: &'a str,
    /// Its handle, by which it is taken back.
    pub handle: &'a str,
    /// Its path.
    pub agent_path: &'a str,
    /// What was asked.
    pub requirement: &'a Requirement,
    /// When it was given or paid.
    pub at: Timestamp,
    /// Until when it holds; `None` without an end.
    pub until: Option<Timestamp>,
    /// Where it stands.
    pub status: HeldStatus,
    /// What names it, to take it back.
    pub name: &'a str,
    /// The receipt's transaction.
    pub transaction: Option<&'a str>,
    /// What people call the networks on which it could be paid.
    pub networks: &'a [String],
}

/// The page of what somebody agreed to and paid for. Send with [`Branding::asking_policy`], and keep it nowhere.
pub struct HoldingsPage<'a> {
    /// How pages look here.
    pub brand: &'a Branding,
    /// The name of the host.
    pub host_name: &'a str,
    /// The URL that was asked for.
    pub url: &'a str,
    /// The language of what it says.
    pub language: &'a Language,
    /// Whose they are.
    pub owner: HoldingsOwner<'a>,
    /// Whether people sign in here.
    pub signs_in: bool,
    /// Consents and payments, the newest first.
    pub rows: &'a [HeldRow<'a>],
    /// What is left of what was paid ahead: the agent and the amount with its unit.
    pub credit: &'a [(&'a str, String)],
    /// How many of each are listed at most.
    pub listed_max: usize,
}

#[derive(Template)]
#[template(path = "holdings.html")]
struct HoldingsTemplate {
    head: Head,
    host_name: String,
    /// Who looks, in a sentence.
    owner: String,
    person: bool,
    is_known: bool,
    sign_in: Option<String>,
    consents: Vec<HeldView>,
    payments: Vec<HeldView>,
    credit: Vec<(String, String)>,
    can_withdraw: bool,
    listed_max: Option<usize>,
    path: String,
}

struct HeldView {
    agent: String,
    handle: String,
    agent_path: String,
    title: String,
    message: String,
    terms: Vec<Term>,
    at: String,
    until: String,
    state: String,
    holds: bool,
    name: String,
    price: String,
    transaction: Option<String>,
}

impl HoldingsPage<'_> {
    /// The whole page.
    pub fn render(&self) -> String {
        let say = template::words_in(self.language);
        let is_payment = |row: &&HeldRow<'_>| matches!(row.requirement.demand, Demand::Payment(_));
        let view = |row: &HeldRow<'_>| HeldView::of(row, self.language, say);
        let (payments, consents): (Vec<_>, Vec<_>) = self.rows.iter().partition(is_payment);
        let consents: Vec<HeldView> = consents.into_iter().map(view).collect();
        let payments: Vec<HeldView> = payments.into_iter().map(view).collect();
        let is_full = consents.len().max(payments.len()) >= self.listed_max;
        let owner = match self.owner {
            HoldingsOwner::Person(name) => say.decision_signed_in_as(&clean::line(name)),
            HoldingsOwner::Browser => say.held_by_browser(),
            HoldingsOwner::Nobody => say.held_by_nobody(),
        };
        let (person, is_known) = match self.owner {
            HoldingsOwner::Person(_) => (true, true),
            HoldingsOwner::Browser => (false, true),
            HoldingsOwner::Nobody => (false, false),
        };
        let sign_in = (self.signs_in && !person).then(|| self.brand.path(&sign_in_path(ACCOUNT)));
        template::finish(&HoldingsTemplate {
            head: Head::new(None, self.url, self.language, self.brand, &say.held_title(), &owner),
            host_name: clean::line(self.host_name),
            owner,
            person,
            is_known,
            sign_in,
            can_withdraw: consents.iter().any(|held| held.holds),
            consents,
            payments,
            credit: self.credit.iter().map(|(agent, left)| (clean::line(agent), clean::line(left))).collect(),
            listed_max: is_full.then_some(self.listed_max),
            path: self.brand.path(ACCOUNT),
        })
    }
}

impl HeldView {
    fn of(row: &HeldRow<'_>, language: &Language, say: Sentences) -> Self {
        let HeldRow { requirement, status, .. } = row;
        let translated = |range: &str| {
            requirement.message_translations.iter().find(|(tag, _)| tag.eq_ignore_ascii_case(range)).map(|(_, it)| it)
        };
        let found = language.ranges().find_map(translated);
        let title = found.and_then(|words| words.title.as_ref()).or(requirement.title.as_ref());
        let message = found.map_or(&requirement.message, |words| &words.message);
        let (shown, price) = match &requirement.demand {
            Demand::Consent(terms_of) => (terms(&terms_of.scope, say).unwrap_or_default(), String::new()),
            Demand::Payment(terms_of) => (Vec::new(), price_on(&clean::line(&terms_of.price), row.networks, say)),
        };
        let message = clean::text(message).into_owned();
        Self {
            agent: clean::line(row.agent),
            handle: row.handle.to_owned(),
            agent_path: row.agent_path.to_owned(),
            title: title.map(|title| clean::line(title)).unwrap_or_default(),
            // What stands above them already is not said again.
            terms: shown.into_iter().filter(|term| term.value != message).collect(),
            message,
            at: day(row.at),
            until: row.until.map_or_else(|| say.decision_no_end(), day),
            state: state(requirement, *status, say),
            holds: *status == HeldStatus::Holds,
            name: row.name.to_owned(),
            price,
            transaction: row.transaction.map(clean::line),
        }
    }
}

fn state(requirement: &Requirement, status: HeldStatus, say: Sentences) -> String {
    let is_payment = matches!(requirement.demand, Demand::Payment(_));
    say.held_state(match (is_payment, status) {
        (false, HeldStatus::Holds) => "holds",
        (false, _) => "over",
        (true, HeldStatus::Holds) => "unused",
        (true, HeldStatus::Ended) => "paid",
        (true, HeldStatus::Pending) => "pending",
        (true, HeldStatus::GivenBack) => "given_back",
    })
}

/// A day of UTC as ISO 8601 writes it, which is the same in every language.
fn day(at: Timestamp) -> String {
    at.to_string().chars().take_while(|c| *c != 'T').collect()
}

#[cfg(test)]
mod tests {
    use forecourt_core::policy::ConsentTerms;
    use serde_json::Map;

    use super::*;

    fn agreed(words: &str) -> Requirement {
        let scope = Map::from_iter([("text".to_owned(), words.into())]);
        Requirement {
            rule: "terms".to_owned(),
            title: None,
            message: words.to_owned(),
            message_translations: Default::default(),
            demand: Demand::Consent(ConsentTerms { scope, lifetime_seconds: None }),
        }
    }

    fn page(owner: HoldingsOwner<'_>, words: &str, status: HeldStatus, language: &str) -> String {
        let requirement = agreed(words);
        let row = HeldRow {
            agent: words,
            handle: "shop",
            agent_path: "/~shop",
            requirement: &requirement,
            at: Timestamp::UNIX_EPOCH,
            until: None,
            status,
            name: "5a",
            transaction: None,
            networks: &[],
        };
        let page = HoldingsPage {
            brand: &Branding::default(),
            host_name: words,
            url: "https://demo.example/account",
            language: &Language::parse(language).unwrap(),
            owner,
            signs_in: true,
            rows: &[row],
            credit: &[(words, "5".to_owned())],
            listed_max: 1,
        };
        page.render()
    }

    #[test]
    fn what_holds_is_taken_back_with_a_form_and_what_is_over_is_not() {
        let held = page(HoldingsOwner::Browser, "We keep it.", HeldStatus::Holds, "en");
        for part in ["We keep it.", "1970-01-01", "name=\"consent\" value=\"5a\"", "value=\"withdraw\"", "/sign-in?"] {
            assert!(held.contains(part), "{part} in {held}");
        }
        let over = page(HoldingsOwner::Person("Ada"), "We keep it.", HeldStatus::Ended, "de");
        assert!(over.contains("lang=\"de\"") && over.contains("Ada"), "{over}");
        assert!(!over.contains("value=\"withdraw\"") && !over.contains("<script"), "{over}");
    }

    #[test]
    fn rest8_2_words_of_others_are_escaped() {
        let html = page(HoldingsOwner::Person("<b>Ada"), "\"><script>alert(1)</script>", HeldStatus::Holds, "fr");
        assert!(!html.contains("<script") && !html.contains("<b>Ada"), "{html}");
    }
}
