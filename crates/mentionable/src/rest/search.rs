//! A search in a browser: the page of an agent that finds things, written as the answer comes.
//!
//! The URL that asks an agent is the URL of the page of results: what a person shares, another person
//! opens, and a program reads the same results in the form that it wants. REST 3.1, 4.

use bytes::Bytes;
use forecourt_core::{Ending, Event, EventStream, Language, Part, Reply, SearchRefinement, ThreadId};
use forecourt_pages::{Account, SearchAnswer, SearchPage};
use forecourt_surface::ending::{self, add_challenges};
use forecourt_surface::refusal::add_fields;
use futures::{Stream, StreamExt};
use http::StatusCode;

use super::answer::{Content, HttpAnswer};
use super::media::Media;
use super::own_links::OwnLinks;
use super::payment;
use super::refusal;
use super::render;
use super::responder::Responder;
use super::wire::{Ask, Entry};
use crate::NAME;

/// Events that are written in one go when they are there at once.
const EVENTS_AT_ONCE: usize = 128;

/// What a page of results is about.
#[derive(Default)]
pub(crate) struct Search {
    question: String,
    /// What was asked before it, the oldest first.
    earlier: Vec<String>,
    narrowing: SearchRefinement,
}

impl Search {
    /// The search that a request is: by words alone, by a browser, in no conversation, and of an agent
    /// that finds things. Conversations are shown as answers, since a link says one turn only.
    ///
    /// One that goes on after a refusal with the question `asked` is one too.
    pub(crate) fn of(responder: &Responder<'_>, ask: &Ask, asked: &[Part]) -> Option<Search> {
        if !responder.route.card.finds || responder.request.media != Some(Media::Html) {
            return None;
        }
        if let [only] = asked {
            return Some(Search { question: only.as_text()?.to_owned(), ..Search::default() });
        }
        if ask.session.is_some() {
            return None;
        }
        let [run] = ask.runs.as_slice() else { return None };
        let [Entry::Text { text, .. }] = run.entries.as_slice() else { return None };
        Some(Search { question: text.clone(), earlier: ask.earlier.clone(), narrowing: ask.narrowing.clone() })
    }
}

/// The page of an agent that finds things, before anything is asked.
pub(crate) fn empty_page(responder: &Responder<'_>, account: Account<'_>) -> Bytes {
    let (url, language, search) = (responder.request.url(), responder.page_language(), Search::default());
    page_of(responder, account, &search, &url, &language).render().into()
}

/// What came of a search. The first event decides the status; the page is sent as the others come.
pub(crate) async fn answer(
    responder: &Responder<'_>,
    account: Account<'_>,
    search: Search,
    reply: Reply,
) -> HttpAnswer {
    let Reply { thread, language, mut events, .. } = reply;
    let canonical_host = responder.request.site.canonical_host();
    let url = responder.request.url();
    let page = page_of(responder, account, &search, &url, &language);
    let (begin, answer) = (page.begin(), page.answer());
    // Awaited before anything is sent: behind the first byte no status can change.
    let first = events.next().await;
    let mut head = responder.answer_head(Media::Html, &language, thread.as_ref());
    // This policy allows no script, so that what an item or a question says can't become one.
    render::security_fields(&mut head, responder.branding.found_policy());
    let status = match &first {
        Some(Event::Ending(Ending::Refused(part))) => {
            add_fields(&mut head, part, canonical_host);
            payment::add_offer(&mut head, part);
            responder.keep_waiting(&mut head, part, thread.as_ref());
            if responder.policy_header {
                refusal::add_policy_field(&mut head, part);
            }
            forecourt_surface::refusal::status(&part.kind)
        }
        Some(Event::Ending(ending)) => {
            if let Ending::SignIn(wanted) = ending {
                add_challenges(&mut head, wanted, canonical_host);
            }
            ending::status(ending)
        }
        None => StatusCode::BAD_GATEWAY,
        Some(_) => StatusCode::OK,
    };
    let answer = LedAnswer { answer, links: OwnLinks::of(responder) };
    HttpAnswer { status, head, content: Content::Frames(Box::pin(written(begin, answer, first, events, thread))) }
}

/// An answer whose refusals lead to the origin at which the page was asked for.
struct LedAnswer {
    answer: SearchAnswer,
    links: OwnLinks,
}

impl LedAnswer {
    fn take(&mut self, event: Event) -> String {
        self.answer.take(match event {
            Event::Ending(ending) => Event::Ending(self.links.ending(ending)),
            event => event,
        })
    }
}

fn page_of<'a>(
    responder: &Responder<'a>,
    account: Account<'a>,
    search: &'a Search,
    url: &'a str,
    language: &'a Language,
) -> SearchPage<'a> {
    let Responder { request, route, branding, .. } = *responder;
    SearchPage {
        brand: branding,
        earlier: &search.earlier,
        card: &route.card,
        url,
        language,
        path: &route.link,
        ask: route.card.endpoint(NAME),
        host_name: &request.site.name,
        question: &search.question,
        narrowing: &search.narrowing,
        account,
    }
}

/// The page in pieces: what is there at once is one of them.
fn written(
    begin: String,
    mut answer: LedAnswer,
    first: Option<Event>,
    events: EventStream,
    thread: Option<ThreadId>,
) -> impl Stream<Item = Bytes> + Send {
    let first = first.unwrap_or_else(|| Event::Ending(Ending::unfinished()));
    async_stream::stream! {
        let mut html = begin;
        let mut ended = matches!(first, Event::Ending(_));
        html.push_str(&answer.take(first));
        let mut events = events.ready_chunks(EVENTS_AT_ONCE);
        while !ended {
            // What is known so far is worth seeing before the rest is there.
            yield Bytes::from(std::mem::take(&mut html));
            let next = events.next().await.unwrap_or_else(|| vec![Event::Ending(Ending::unfinished())]);
            for event in next {
                ended |= matches!(event, Event::Ending(_));
                html.push_str(&answer.take(event));
            }
        }
        html.push_str(&answer.answer.end(thread.as_ref().map(ThreadId::expose)));
        yield Bytes::from(html);
    }
}
