//! A refusal as a page. Mentionable REST 5.1, PolicyPart 3.2 and 3.3.

use askama::Template;
use forecourt_core::policy::{AuthChallenge, RefusalKind};
use forecourt_core::{AgentCard, Language, Part, PolicyPart};
use forecourt_sentences::{Sentences, SpokenLanguage};

use crate::asked::{AskOnView, AskedView};
use crate::branding::Branding;
use crate::clean;
use crate::decision::price_on;
use crate::span::span;
use crate::template::{self, Head, words_in};
use crate::visitor::Account;

/// Why an agent declined, and what a person can do about it. Send with [`Branding::asking_policy`].
pub struct RefusalPage<'a> {
    /// How pages look here.
    pub brand: &'a Branding,
    /// Who declined.
    pub card: &'a AgentCard,
    /// The URL that was asked for.
    pub url: &'a str,
    /// The language of the page.
    pub language: &'a Language,
    /// The language of the refusal's words; the part's translations are searched for it.
    pub worded: &'a Language,
    /// The refusal, validated against the agent's host.
    pub part: &'a PolicyPart,
    /// What was asked.
    pub asked: &'a [Part],
    /// The path of the agent's page.
    pub path: &'a str,
    /// Who is signed in.
    pub account: Account<'a>,
    /// What is to be paid, and what people call the networks on which it may be: empty where nothing is, or nobody knows.
    pub price: (&'a str, &'a [String]),
}

#[derive(Template)]
#[template(path = "refusal.html")]
struct RefusalTemplate {
    head: Head,
    name: String,
    path: String,
    asked: AskedView,
    ask_on: Option<AskOnView>,
    refusal: RefusalView,
}

impl RefusalPage<'_> {
    /// The whole page.
    pub fn render(&self) -> String {
        let (asked, say) = (AskedView::of(self.asked), words_in(self.language));
        let price = Some(price_on(&clean::line(self.price.0), self.price.1, say)).filter(|price| !price.is_empty());
        let refusal = RefusalView { price, ..RefusalView::new(self.part, Some(self.worded), say) };
        // The box has one line; a text of several would be sent back without its line ends.
        let question = if asked.text.contains('\n') { "" } else { asked.text.as_str() };
        template::finish(&RefusalTemplate {
            head: Head::new(
                Some(&self.card.address),
                self.url,
                self.language,
                self.brand,
                &refusal.title,
                &refusal.message,
            )
            .seen_by(&self.account),
            name: clean::line(&self.card.name),
            path: clean::href(self.path).unwrap_or_default(),
            ask_on: AskOnView::new(self.path, None, &say.page_ask_again(), question),
            asked,
            refusal,
        })
    }
}

/// The code of the host's own refusal of who asks too often. How long to wait is told beside it.
const RATE_LIMITED: &str = "mentionable:rate_limited";

/// A refusal, ready to be written into any page.
pub(crate) struct RefusalView {
    pub(crate) kind: String,
    /// The language of its words, where it is known.
    pub(crate) worded: Option<String>,
    pub(crate) title: String,
    pub(crate) message: String,
    pub(crate) action: Option<Action>,
    /// What is to be paid, and where.
    pub(crate) price: Option<String>,
    pub(crate) challenges: Vec<String>,
    pub(crate) wait: Option<String>,
}

/// The one link of a refusal.
pub(crate) struct Action {
    pub(crate) url: String,
    pub(crate) label: String,
    /// `blocked-by` where a law forbids it (RFC 7725), else nothing.
    pub(crate) relation: &'static str,
}

impl RefusalView {
    /// A refusal in `language`, where its words are there in it, and with the page's own words.
    pub(crate) fn new(part: &PolicyPart, language: Option<&Language>, say: Sentences) -> Self {
        let (title, message) = part.in_language(language);
        // What a kind is called is the host's own word, unless the refusal has a better one.
        let title = if title == part.kind.title() { say.refusal_title(part.kind()) } else { clean::line(title) };
        let message =
            if message.trim().is_empty() { say.refusal_declined() } else { clean::text(message).into_owned() };
        let own = own_words(part, say);
        Self {
            kind: clean::line(part.kind()),
            worded: language.filter(|_| own.is_none()).map(|language| language.as_str().to_owned()),
            title,
            message: own.unwrap_or(message),
            action: action(part, say),
            price: None,
            challenges: challenges(&part.kind),
            wait: part.kind.retry_after_seconds().map(|seconds| span(seconds, say)),
        }
    }
}

/// What the host itself says in English alone, in the language of the page. `None`: the refusal has its own words, or the
/// page is English.
fn own_words(part: &PolicyPart, say: Sentences) -> Option<String> {
    let is_own = part.code.as_deref() == Some(RATE_LIMITED) && part.message_translations.is_empty();
    (is_own && say.language() != SpokenLanguage::English).then(|| say.refusal_too_fast())
}

fn action(part: &PolicyPart, say: Sentences) -> Option<Action> {
    let url = clean::href(part.url.as_deref()?)?;
    let label = clean::line(part.action_label.as_deref().unwrap_or_default());
    let relation = match part.kind {
        RefusalKind::UnavailableForLegalReasons => "blocked-by",
        _ => "",
    };
    let label = if label.is_empty() { say.refusal_action(part.kind()) } else { label };
    Some(Action { url, label, relation })
}

fn challenges(kind: &RefusalKind) -> Vec<String> {
    let RefusalKind::Unauthorized { auth_challenges } = kind else { return Vec::new() };
    auth_challenges.iter().map(challenge).collect()
}

fn challenge(challenge: &AuthChallenge) -> String {
    match challenge.params.get("realm") {
        Some(realm) => clean::line(&format!("{} for {realm}", challenge.scheme)),
        None => clean::line(&challenge.scheme),
    }
}
