//! The answer of an agent as a page. Mentionable REST 4.1.

use askama::Template;
use forecourt_core::{AgentCard, CollectedReply, Ending, Language, Part};
use forecourt_sentences::Sentences;

use crate::asked::{AskOnView, AskedView};
use crate::branding::Branding;
use crate::part::PartView;
use crate::question::{Kind, QuestionView};
use crate::template::{self, Head};
use crate::visitor::Account;
use crate::{clean, markdown};

/// A finished answer. Send with [`Branding::asking_policy`].
///
/// A reply that was refused is shown by [`crate::RefusalPage`] instead; given here, its refusal
/// stands under what was said before it.
pub struct ReplyPage<'a> {
    /// How pages look here.
    pub brand: &'a Branding,
    /// Who answers.
    pub card: &'a AgentCard,
    /// The URL of this very answer, which `rel="alternate"` points back at.
    pub url: &'a str,
    /// The language of the answer.
    pub language: &'a Language,
    /// What was answered.
    pub collected: &'a CollectedReply,
    /// The path of the agent's page.
    pub path: &'a str,
    /// The conversation, to ask on in: by a form, and on the page with `#session=…`.
    pub session: Option<&'a str>,
    /// What it answers: the heading of the page, or quoted below it when it is long.
    pub asked: &'a [Part],
    /// The path under which kept files are served, with its last slash, such as
    /// `/tasks/…/artifacts/`. Without it they are named but not linked.
    pub kept_under: Option<String>,
    /// Who is signed in.
    pub account: Account<'a>,
    /// The transaction by which it was paid for.
    pub transaction: Option<&'a str>,
}

#[derive(Template)]
#[template(path = "reply.html")]
struct ReplyTemplate {
    head: Head,
    name: String,
    path: String,
    heading: String,
    asked: AskedView,
    ask_on: Option<AskOnView>,
    article: String,
    question: Option<QuestionView>,
    failure: Option<String>,
    parts: PartView,
    session_link: Option<String>,
    transaction: Option<String>,
}

impl ReplyPage<'_> {
    /// The whole page.
    pub fn render(&self) -> String {
        let (mut asked, text, name) = (AskedView::of(self.asked), self.collected.text(), clean::line(&self.card.name));
        let say = template::words_in(self.language);
        let heading = asked.heading().unwrap_or_else(|| say.page_answer_of(&name));
        let label = if self.session.is_some() { say.page_follow_up() } else { say.page_ask_else() };
        let has_form = self.collected.ending.question().is_none();
        template::finish(&ReplyTemplate {
            head: Head::new(Some(&self.card.address), self.url, self.language, self.brand, &heading, &text)
                .seen_by(&self.account),
            path: clean::href(self.path).unwrap_or_default(),
            ask_on: AskOnView::new(self.path, self.session, &label, "").filter(|_| has_form),
            name,
            heading,
            asked,
            article: markdown::to_html_below(&text),
            question: QuestionView::turn(&self.collected.ending, self.path, self.session, say),
            failure: failure(&self.collected.ending, say),
            parts: PartView::of(self.collected, self.kept_under.as_deref(), say),
            transaction: self.transaction.map(clean::line),
            session_link: self.session.and_then(|session| clean::href(&format!("{}#session={session}", self.path))),
        })
    }
}

/// What to say when the answer did not come to its end. What is asked back has a form of its own.
pub(crate) fn failure(ending: &Ending, say: Sentences) -> Option<String> {
    match ending {
        Ending::Canceled => Some(say.page_cancelled()),
        ending if ending.question().is_some() => None,
        ending => ending.reason().map(|reason| clean::line(&reason)),
    }
}
