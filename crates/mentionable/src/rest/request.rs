//! One request in hand: whom it addresses, what it wants back, and the responses it can get.

use std::borrow::Cow;

use bytes::Bytes;
use forecourt_core::policy::RefusalKind;
use forecourt_core::{ClientAddr, Ending, Event, Handle, Language, Part, PolicyPart, Reply, ThreadId};
use forecourt_identity::Person;
use forecourt_pages::SIGN_IN;
use forecourt_surface::BaseUrl;
use forecourt_surface::ending::add_challenges;
use forecourt_surface::negotiate;
use forecourt_surface::refusal::{add_fields, status};
use forecourt_surface::sse::{HEARTBEAT, KeepAlive};
use futures::{StreamExt, stream};
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_LOCATION, CONTENT_TYPE, RETRY_AFTER, SET_COOKIE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use super::agent_route::{AgentRoute, X_MENTIONABLE_SESSION};
use super::answer::{Content, HttpAnswer, Outcome, RestError};
use super::callback::{PREFERENCE_APPLIED, RESPOND_ASYNC};
use super::conversation_cookie;
use super::errors::Failure;
use super::limits::RETRY_AFTER_SECONDS;
use super::links;
use super::media::Media;
use super::payment;
use super::problem;
use super::query;
use super::refusal;
use super::render::{self, Frame, ReplyStart};
use super::transport::Rest;

/// Asks proxies not to hold a stream back.
static X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// A request, with the agent it addresses: the default one when it addresses none.
pub(crate) struct RestRequest<'a> {
    pub(crate) rest: &'a Rest,
    pub(crate) door: &'a AgentRoute,
    pub(crate) head: &'a Parts,
    /// What it wants back. `None`: nothing that we have.
    pub(crate) media: Option<Media>,
    /// Who is signed in, by the cookie of the browser.
    pub(crate) person: Option<&'a Person>,
}

impl<'a> RestRequest<'a> {
    /// A request to an agent, a page or an asset.
    pub(crate) fn of_agent(rest: &'a Rest, door: &'a AgentRoute, head: &'a Parts) -> Self {
        Self { rest, door, head, media: Media::wanted(&head.headers), person: None }
    }

    /// The same request of somebody who is signed in.
    pub(crate) fn by(self, person: Option<&'a Person>) -> Self {
        Self { person, ..self }
    }

    /// A request about a task, whose errors are JSON unless something else is wanted.
    pub(crate) fn of_task(rest: &'a Rest, head: &'a Parts) -> Self {
        Self { rest, door: &rest.default, head, media: Some(Media::wanted_of_task(&head.headers)), person: None }
    }

    /// The same request, now that its agent is known.
    pub(crate) fn at(&self, agent: &Handle) -> Self {
        RestRequest { door: self.rest.door(agent), ..*self }
    }

    /// What it wants back, or 406.
    pub(crate) fn media(&self) -> Result<Media, Failure> {
        self.media.ok_or_else(Failure::not_acceptable)
    }

    /// The network address behind it, when a listener said so.
    pub(crate) fn peer(&self) -> Option<std::net::IpAddr> {
        self.head.extensions.get::<ClientAddr>().map(|client| client.0)
    }

    /// The language that it asks for: that of its header, or of the parameter `lang` where the header names
    /// none. REST 3.1, companion decision C20.
    pub(crate) fn language(&self) -> Option<Language> {
        negotiate::language(&self.head.headers).or_else(|| query::language(self.head.uri.query()?))
    }

    /// All languages that its header asks for, the most wanted first; where it names none, the `hint`.
    fn languages(&self, hint: Option<Language>) -> Vec<Language> {
        let wanted = negotiate::languages(&self.head.headers);
        if wanted.is_empty() { hint.into_iter().collect() } else { wanted }
    }

    /// What URLs begin with in its answer.
    pub(crate) fn base(&self) -> BaseUrl<'_> {
        BaseUrl::of(self.rest.host.site(), &self.head.extensions)
    }

    /// Its absolute URL, from configuration or its listener and never from `Host`.
    pub(crate) fn url(&self) -> String {
        let target = self.head.uri.path_and_query().map_or("/", |target| target.as_str());
        self.base().url(target)
    }

    fn frame_url(&self, media: Media) -> Cow<'a, str> {
        // Only pages show it, and it costs an allocation.
        if media == Media::Html { self.url().into() } else { "".into() }
    }

    /// What the query of its URL asks, for pages that say it.
    fn question(&self, media: Media) -> String {
        let query = self.head.uri.query().filter(|_| media == Media::Html).unwrap_or_default();
        query::questions(query).join("\n")
    }

    fn frame<'f>(
        &'f self,
        url: &'f str,
        language: &'f Language,
        session: Option<&'f str>,
        asked: &'f str,
    ) -> Frame<'f> {
        Frame { door: self.door, url, language, session, brand: &self.rest.pages.branding, asked }
    }

    /// Counts a request that carries no message against its caller's limits. REST 8.4.
    pub(crate) fn meter(&self) -> Result<(), RestError> {
        Ok(self.rest.host.meter(self.peer())?)
    }
}

/// The responses.
impl RestRequest<'_> {
    /// The response to an outcome.
    pub(crate) fn respond(&self, outcome: Outcome) -> HttpAnswer {
        match outcome {
            Ok(answer) => answer,
            Err(RestError::Failure(failure)) => self.failed(&failure, None),
            Err(RestError::Refusal(part)) => self.refused(self.media.unwrap_or(Media::Markdown), &part, None),
        }
    }

    /// What came of a message.
    ///
    /// `asked` is what it answers, where that was not in the request.
    pub(crate) async fn replied(&self, media: Media, reply: Reply, asked: &[Part]) -> HttpAnswer {
        if reply.task.is_some() {
            return self.accepted(media, &reply);
        }
        if media == Media::Stream {
            return Box::pin(self.streamed(reply)).await;
        }
        let (thread, language) = (reply.thread.clone(), reply.language.clone());
        let receipt = reply.receipt.clone();
        let collected = reply.collect().await;
        if let Some(failure) = Failure::of_ending(&collected.ending) {
            return self.unanswered(&failure, &collected.ending, thread.as_ref());
        }
        if let Ending::Refused(part) = &collected.ending {
            return self.refused(media, part, thread.as_ref());
        }
        let url = self.frame_url(media);
        let session = thread.as_ref().map(ThreadId::expose);
        let frame = self.frame(&url, &language, session, "");
        let mut head = self.answer_head(media, &language, thread.as_ref());
        if let Some(receipt) = &receipt {
            payment::add_receipt(&mut head, &self.head.headers, receipt);
        }
        if media == Media::Markdown {
            links::add(&mut head, &collected.parts);
        }
        HttpAnswer::whole(StatusCode::OK, head, render::answer(media, &frame, asked, collected))
    }

    /// The fields of a whole answer.
    pub(crate) fn answer_head(&self, media: Media, language: &Language, thread: Option<&ThreadId>) -> HeaderMap {
        let mut head = self.head_of(media, language, thread);
        if let (Some(own), None, None) = (self.door.cache_control(), thread, self.person) {
            head.insert(CACHE_CONTROL, own);
        }
        head
    }

    /// The fields of any response in `media`.
    pub(crate) fn head_of(&self, media: Media, language: &Language, thread: Option<&ThreadId>) -> HeaderMap {
        let mut head = self.door.head(media.content_type(), language);
        if media == Media::Html {
            render::security_fields(&mut head, self.rest.pages.branding.asking_policy());
        }
        if let Some(mut token) = thread.and_then(|thread| HeaderValue::from_str(thread.expose()).ok()) {
            token.set_sensitive(true);
            head.insert(&X_MENTIONABLE_SESSION, token);
        }
        if let Some(cookie) = self.person.and_then(|person| person.cookie.clone()) {
            head.insert(SET_COOKIE, cookie);
        }
        head
    }

    /// An answer that is made in the background: nothing but where it will be. REST 5.4.
    fn accepted(&self, media: Media, reply: &Reply) -> HttpAnswer {
        let mut head = self.head_of(media, &reply.language, reply.thread.as_ref());
        let task = reply.task.as_ref().map(|task| format!("/tasks/{}", task.expose()));
        if let Some(location) = task.and_then(|path| HeaderValue::from_str(&path).ok()) {
            head.insert(CONTENT_LOCATION, location);
        }
        head.insert(&PREFERENCE_APPLIED, RESPOND_ASYNC);
        HttpAnswer::empty(StatusCode::ACCEPTED, head)
    }

    /// An answer as it comes. Until its first byte it can still fail with a status; from then on it is 200,
    /// whatever comes. REST 4.3.
    async fn streamed(&self, reply: Reply) -> HttpAnswer {
        let Reply { thread, language, receipt, mut events, .. } = reply;
        let ReplyStart { events: begun, is_late } = render::begin(&mut events, self.door.card.streams).await;
        if let Some(Event::Ending(ending)) = begun.last()
            && let Some(failure) = Failure::of_ending(ending)
        {
            return self.unanswered(&failure, ending, thread.as_ref());
        }
        let mut head = self.head_of(Media::Stream, &language, thread.as_ref());
        if let Some(Event::Ending(Ending::Refused(part))) = begun.last() {
            self.keep_waiting(&mut head, part, thread.as_ref());
        }
        if let Some(receipt) = &receipt {
            payment::add_receipt(&mut head, &self.head.headers, receipt);
        }
        head.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        head.insert(&X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
        links::add(
            &mut head,
            begun.iter().filter_map(|event| match event {
                Event::Part(part) => Some(part),
                _ => None,
            }),
        );
        let sign = stream::iter(is_late.then(|| Bytes::from_static(HEARTBEAT)));
        let events = Box::pin(stream::iter(begun).chain(events));
        let frames = sign.chain(render::frames(events, self.door.card.streams));
        let frames = KeepAlive::new(Box::pin(frames));
        HttpAnswer { status: StatusCode::OK, head, content: Content::Frames(Box::pin(frames)) }
    }

    /// A refusal. PolicyPart 4.5; in event streams it is a frame under 200.
    pub(crate) fn refused(&self, media: Media, part: &PolicyPart, thread: Option<&ThreadId>) -> HttpAnswer {
        let media = self.refusal_media(media, part);
        let wanted = self.language();
        let language = refusal::language(part, &self.languages(wanted), &self.door.card.language);
        let mut head = self.head_of(media, &language, thread);
        let is_problem = self.is_problem(media);
        if is_problem {
            head.insert(CONTENT_TYPE, problem::CONTENT_TYPE);
        }
        self.keep_waiting(&mut head, part, thread);
        let status = if media == Media::Stream { StatusCode::OK } else { status(&part.kind) };
        if media != Media::Stream {
            add_fields(&mut head, part, self.rest.host.site().canonical_host());
            if status == StatusCode::SERVICE_UNAVAILABLE {
                // Design 36: also where the refusal itself does not know when.
                head.entry(RETRY_AFTER).or_insert(HeaderValue::from(RETRY_AFTER_SECONDS));
            }
        }
        if self.rest.settings.policy_header {
            refusal::add_policy_field(&mut head, part);
        }
        payment::add_offer(&mut head, part);
        if is_problem {
            return HttpAnswer::whole(status, head, problem::refusal(part, status, &language));
        }
        let (url, asked) = (self.frame_url(media), self.question(media));
        let frame = self.frame(&url, &language, None, &asked);
        let signs_in = |link: &&String| link.starts_with(&self.rest.host.site().url(SIGN_IN));
        if let (Media::Html, Some(link), Some(_)) = (media, part.url.as_ref().filter(signs_in), self.base().plain()) {
            // A person who came over the plain origin of development is signed in there.
            let here = PolicyPart { url: Some(self.base().rebase(link).into_owned()), ..part.clone() };
            return HttpAnswer::whole(status, head, render::refusal(media, &frame, &here));
        }
        HttpAnswer::whole(status, head, render::refusal(media, &frame, part))
    }

    /// The form of a refusal: that which was wanted, but JSON for a program that pays with x402 and names no other.
    fn refusal_media(&self, media: Media, part: &PolicyPart) -> Media {
        let is_payment = matches!(part.kind, RefusalKind::PaymentRequired { .. });
        let names_html = negotiate::named_quality(&self.head.headers, "text/html") > 0;
        match media {
            Media::Html if is_payment && !names_html && payment::is_x402(&self.head.headers) => Media::Json,
            media => media,
        }
    }

    /// Whether an error in `media` is wanted as a problem. What is told in a stream stays there. RFC 9457.
    fn is_problem(&self, media: Media) -> bool {
        media != Media::Stream && problem::is_wanted(&self.head.headers, media.name())
    }

    /// Lets the browser of a person remember which conversation waits for a consent or a payment.
    pub(crate) fn keep_waiting(&self, head: &mut HeaderMap, part: &PolicyPart, thread: Option<&ThreadId>) {
        let is_resumed = matches!(part.kind, RefusalKind::ConsentRequired { .. } | RefusalKind::PaymentRequired { .. });
        if let (true, true, Some(thread)) = (is_resumed, conversation_cookie::is_browser(&self.head.headers), thread) {
            conversation_cookie::add(head, &self.head.headers, thread);
        }
    }

    /// An ending without an answer. Of one that waits for a sign-in the conversation goes on.
    fn unanswered(&self, failure: &Failure, ending: &Ending, thread: Option<&ThreadId>) -> HttpAnswer {
        let Ending::SignIn(wanted) = ending else { return self.failed(failure, None) };
        let mut answer = self.failed(failure, thread);
        add_challenges(&mut answer.head, wanted, self.rest.host.site().canonical_host());
        answer
    }

    /// A fault, in the form that was wanted. Our own words are English.
    fn failed(&self, failure: &Failure, thread: Option<&ThreadId>) -> HttpAnswer {
        let media = Media::of_error(self.media);
        let language = Language::english();
        let mut head = self.head_of(media, &language, thread);
        if let Some(allow) = failure.allow {
            head.insert(ALLOW, HeaderValue::from_static(allow));
        }
        if let Some(wait) = failure.retry_after_value() {
            head.insert(RETRY_AFTER, wait);
        }
        if self.is_problem(media) {
            head.insert(CONTENT_TYPE, problem::CONTENT_TYPE);
            return HttpAnswer::whole(failure.status, head, problem::failure(failure));
        }
        let (url, asked) = (self.frame_url(media), self.question(media));
        let frame = self.frame(&url, &language, None, &asked);
        HttpAnswer::whole(failure.status, head, render::failure(media, &frame, failure))
    }

    /// A page of our own in the wanted form. HTML is sent with `policy`, one of [`csp`].
    pub(crate) fn page(&self, media: Media, policy: &str, language: &Language, content: Bytes) -> HttpAnswer {
        let mut head = self.head_of(media, language, None);
        if media == Media::Html {
            render::security_fields(&mut head, policy);
        }
        HttpAnswer::whole(StatusCode::OK, head, content)
    }

    /// What a resource can do: the answer to OPTIONS. RFC 9110 9.3.7.
    pub(crate) fn options(&self, allow: &'static str) -> HttpAnswer {
        let mut head = self.head_of(Media::of_error(self.media), &Language::english(), None);
        head.insert(ALLOW, HeaderValue::from_static(allow));
        HttpAnswer::empty(StatusCode::NO_CONTENT, head)
    }
}
