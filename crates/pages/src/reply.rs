//! The answer of an agent as a page. Mentionable REST 4.1.

use askama::Template;
use forecourt_core::{AgentCard, CollectedReply, Ending, Language, Part};

use crate::decision::AskedView;
use crate::part::PartView;
use crate::question::{Kind, QuestionView};
use crate::template::{self, Head};
use crate::{clean, markdown};

/// A finished answer. Send with [`crate::csp::answer`], or [`crate::csp::asking`] when it asks back.
///
/// A reply that was refused is shown by [`crate::RefusalPage`] instead; given here, its refusal
/// stands under what was said before it.
pub struct ReplyPage<'a> {
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
    /// The conversation, to ask on in: the page with `#session=…` does that.
    pub session: Option<&'a str>,
    /// What it answers, where that is not in the URL: shown before it. Mentionable REST 6.
    pub asked: &'a [Part],
    /// The path under which kept files are served, with its last slash, such as
    /// `/tasks/…/artifacts/`. Without it they are named but not linked.
    pub kept_under: Option<String>,
}

#[derive(Template)]
#[template(path = "reply.html")]
struct ReplyTemplate {
    head: Head,
    name: String,
    asked: AskedView,
    article: String,
    question: Option<QuestionView>,
    failure: Option<String>,
    parts: PartView,
    session_link: Option<String>,
}

impl ReplyPage<'_> {
    /// The whole page.
    pub fn render(&self) -> String {
        template::finish(&ReplyTemplate {
            head: Head::new(&self.card.address.to_string(), self.url, self.language),
            name: clean::line(&self.card.name),
            asked: AskedView::of(self.asked),
            article: markdown::to_html(&self.collected.text()),
            question: QuestionView::turn(&self.collected.ending, self.path, self.session),
            failure: failure(&self.collected.ending),
            parts: PartView::of(self.collected, self.kept_under.as_deref()),
            session_link: self.session.and_then(|session| clean::href(&format!("{}#session={session}", self.path))),
        })
    }
}

/// What to say when the answer did not come to its end.
fn failure(ending: &Ending) -> Option<String> {
    match ending {
        Ending::Failed { reason } => Some(clean::line(reason)),
        Ending::Canceled => Some("This answer was cancelled before its end.".to_owned()),
        Ending::Complete | Ending::Message(_) | Ending::Question(_) | Ending::Refused(_) => None,
    }
}
