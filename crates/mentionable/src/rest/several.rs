//! One question of the front page to several agents: each is asked behind its own rules, all at once, and their answers
//! come grouped, as a page.
//!
//! Nobody has chosen one of them, so nothing is used up, paid or asked for, and nothing is recorded:
//! [`forecourt_core::SearchOptions::asks_several`]. An agent that wants something first says so in a line, beside the
//! link that asks it alone.

use std::sync::Arc;

use bytes::Bytes;
use forecourt_core::{AgentCard, Allowance, CollectedReply, Ending, Error, Message, Role, SearchRefinement};
use forecourt_host::{Host, OWN_QUESTION_NEEDED, Run as HostRun};
use forecourt_pages::{AskedAgent, GROUP_RESULTS_SHOWN, GroupAnswer, GroupWriter, SeveralPage};
use forecourt_sentences::{Sentences, SpokenLanguage};
use forecourt_surface::credentials;
use futures::future::BoxFuture;
use futures::{Stream, StreamExt, stream};
use http::StatusCode;
use http::header::ACCESS_CONTROL_ALLOW_ORIGIN;
use tokio::time::timeout;

use super::agent_route::{AgentRoute, X_MENTIONABLE_AGENT};
use super::answer::{Content, HttpAnswer, Outcome, RestError};
use super::errors::Failure;
use super::exchange::envelope;
use super::from_wire::{Envelope, message};
use super::limits::{ASKED_TOGETHER_MAX, ASKED_TOGETHER_TIME_MAX};
use super::media::Media;
use super::own_links::OwnLinks;
use super::render;
use super::responder::Responder;
use super::signed_in::{account, or_person};
use super::transport::Rest;
use super::wire::{Ask, Entry, Run};

/// A question, and who is asked it.
pub(crate) struct QuestionToSeveral<'a> {
    question: String,
    routes: Vec<&'a AgentRoute>,
}

impl<'a> QuestionToSeveral<'a> {
    /// A question to all agents that find things, [`ASKED_TOGETHER_MAX`] at most. `None` where there are not several.
    pub(crate) fn new(rest: &'a Rest, question: &str) -> Option<Self> {
        let routes = asked_together(rest);
        (routes.len() > 1).then(|| Self { question: question.to_owned(), routes })
    }
}

/// The agents that the box of the front page asks.
pub(crate) fn asked_together(rest: &Rest) -> Vec<&AgentRoute> {
    let routes = rest.listed.iter().map(|handle| rest.door(handle));
    routes.filter(|route| route.card.finds).take(ASKED_TOGETHER_MAX).collect()
}

/// An agent that is being asked.
struct BegunAgent {
    card: Arc<AgentCard>,
    path: String,
    answer: BoxFuture<'static, GroupAnswer>,
}

/// The page of all answers. The status is 200, whatever single agents say.
pub(crate) async fn answer(rest: &Rest, responder: &Responder<'_>, asked: QuestionToSeveral<'_>) -> Outcome {
    let (language, url) = (responder.page_language(), responder.request.url());
    let say = Sentences::in_language(SpokenLanguage::of(&language).unwrap_or(SpokenLanguage::English));
    let mut begun = Vec::with_capacity(asked.routes.len());
    for route in &asked.routes {
        let message = message_to(rest, &responder.of(route), &asked.question).await?;
        let answer = Box::pin(answer_of(rest.host.clone(), message, OwnLinks::of(responder), say));
        begun.push(BegunAgent { card: route.card.clone(), path: route.link.clone(), answer });
    }
    let agents: Vec<AskedAgent<'_>> = begun.iter().map(BegunAgent::asked).collect();
    let page = SeveralPage {
        brand: responder.branding,
        name: &responder.request.site.name,
        url: &url,
        language: &language,
        question: &asked.question,
        agents: &agents,
        account: account(responder, &rest.verifier),
    };
    let (begin, groups) = (page.begin(), page.groups());
    // Not with the default agent's own cache control: that is for its answers alone.
    let mut head = responder.head_of(Media::Html, &language, None);
    render::security_fields(&mut head, responder.branding.found_policy());
    // It is the answer of no single agent, and holds more than the default one may show to other sites.
    head.remove(&X_MENTIONABLE_AGENT);
    head.remove(ACCESS_CONTROL_ALLOW_ORIGIN);
    let content = Content::Frames(Box::pin(written(begin, groups, begun)));
    Ok(HttpAnswer { status: StatusCode::OK, head, content })
}

impl BegunAgent {
    fn asked(&self) -> AskedAgent<'_> {
        AskedAgent { card: &self.card, path: &self.path }
    }
}

/// The question as a message to the agent of `responder`, from whoever sent the request.
async fn message_to(rest: &Rest, responder: &Responder<'_>, question: &str) -> Result<Message, RestError> {
    let (now, address) = (rest.host.clock().now(), &responder.route.card.address);
    let proof = credentials::Request { head: responder.request.parts, body: None, agent: address, now };
    let sender = credentials::sender(&rest.verifier, rest.host.site(), proof).await?;
    let sender = or_person(sender, responder.person, address);
    let ask = Ask {
        runs: vec![Run { role: Role::User, entries: vec![Entry::text(question)] }],
        narrowing: SearchRefinement {
            results: Some(GROUP_RESULTS_SHOWN),
            // A question back has its place where one agent is asked.
            decided: true,
            ..SearchRefinement::default()
        },
        ..Ask::default()
    };
    let envelope = envelope(rest, responder, sender, now);
    Ok(message(
        ask,
        Envelope { with_facets: true, asks_several: true, allowance: Allowance::WithoutCredit, ..envelope },
    )?)
}

/// What an agent says in its time. What it says later is not waited for, and the work for it ends.
async fn answer_of(host: Arc<Host>, message: Message, links: OwnLinks, say: Sentences) -> GroupAnswer {
    let reply = async { Ok::<_, Error>(host.receive(message, HostRun::without_task()).await?.collect().await) };
    match timeout(ASKED_TOGETHER_TIME_MAX, reply).await {
        Err(_) => GroupAnswer::Late,
        Ok(Err(error)) => GroupAnswer::Failed(Failure::from(error).kind.words_in(say)),
        Ok(Ok(reply)) => told(reply, &links),
    }
}

fn told(reply: CollectedReply, links: &OwnLinks) -> GroupAnswer {
    match &reply.ending {
        Ending::Refused(part) if part.code.as_deref() == Some(OWN_QUESTION_NEEDED) => GroupAnswer::NeedsOwnQuestion,
        _ => GroupAnswer::Reply(Box::new(CollectedReply { ending: links.ending(reply.ending), ..reply })),
    }
}

/// The page in pieces: each group follows as soon as those before it are there.
fn written(begin: String, mut groups: GroupWriter, begun: Vec<BegunAgent>) -> impl Stream<Item = Bytes> + Send {
    let (agents, answers): (Vec<_>, Vec<_>) =
        begun.into_iter().map(|BegunAgent { card, path, answer }| ((card, path), answer)).unzip();
    async_stream::stream! {
        yield Bytes::from(begin);
        // All at once, and in the order of the page.
        let mut answers = stream::iter(answers).buffered(ASKED_TOGETHER_MAX);
        for (card, path) in &agents {
            let Some(answer) = answers.next().await else { break };
            yield Bytes::from(groups.group(AskedAgent { card, path }, &answer));
        }
        yield Bytes::from(groups.end());
    }
}
