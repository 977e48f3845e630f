//! The responses to one request: their fields, refusals, faults and pages, in the form that was wanted.

use bytes::Bytes;
use forecourt_core::policy::RefusalKind;
use forecourt_core::{Ending, Language, PolicyPart, ThreadId};
use forecourt_identity::Person;
use forecourt_pages::{Account, Branding, SIGN_IN};
use forecourt_sentences::SpokenLanguage;
use forecourt_surface::ending::add_challenges;
use forecourt_surface::negotiate;
use forecourt_surface::refusal::{add_fields, status};
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, LOCATION, RETRY_AFTER, SET_COOKIE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use super::agent_route::{AgentRoute, X_MENTIONABLE_SESSION, X_ROBOTS_TAG};
use super::answer::{HttpAnswer, Outcome, RestError};
use super::conversation_cookie;
use super::errors::Failure;
use super::limits::RETRY_AFTER_SECONDS;
use super::media::Media;
use super::payment;
use super::problem;
use super::refusal;
use super::render::{self, Frame};
use super::request::RequestHead;
use super::visitor::seen_by;

/// Writes responses to a request, in the name of an agent: the default one when the request addresses none.
#[derive(Clone, Copy)]
pub(crate) struct Responder<'a> {
    pub(crate) request: RequestHead<'a>,
    pub(crate) route: &'a AgentRoute,
    /// How pages look.
    pub(crate) branding: &'a Branding,
    /// Whether a refusal is told in a field as well. PolicyPart 4.5.
    pub(crate) policy_header: bool,
    /// Who is signed in, by the cookie of the browser.
    pub(crate) person: Option<&'a Person>,
}

impl<'a> Responder<'a> {
    /// The same for somebody who is signed in.
    pub(crate) fn to(self, person: Option<&'a Person>) -> Self {
        Self { person, ..self }
    }

    /// The same in the name of another agent.
    pub(crate) fn of(self, route: &'a AgentRoute) -> Self {
        Self { route, ..self }
    }

    /// The response to an outcome.
    pub(crate) fn respond(&self, outcome: Outcome) -> HttpAnswer {
        match outcome {
            Ok(answer) => answer,
            Err(RestError::Failure(failure)) => self.failed(&failure, None),
            Err(RestError::Refusal(part)) => self.refused(self.request.media.unwrap_or(Media::Markdown), &part, None),
        }
    }

    /// What every rendering needs to know beside its content.
    pub(crate) fn frame<'f>(
        &'f self,
        url: &'f str,
        language: &'f Language,
        session: Option<&'f str>,
        asked: &'f str,
    ) -> Frame<'f> {
        let account = seen_by(&self.request, self.person);
        Frame {
            door: self.route,
            url,
            language,
            session,
            brand: self.branding,
            asked,
            base: self.request.base(),
            account,
            transaction: None,
        }
    }

    /// The URL and the question that a page shows. Nothing else does, and they cost allocations.
    fn page_words(&self, media: Media) -> (String, String) {
        match media {
            Media::Html => (self.request.url(), self.request.question()),
            _ => (String::new(), String::new()),
        }
    }

    /// The fields of a whole answer.
    pub(crate) fn answer_head(&self, media: Media, language: &Language, thread: Option<&ThreadId>) -> HeaderMap {
        let mut head = self.head_of(media, language, thread);
        // A page that says who looks is for no cache that others share.
        let is_anybodys = matches!(seen_by(&self.request, self.person), Account::None);
        if let (Some(own), None, true) = (self.route.cache_control(), thread, is_anybodys) {
            head.insert(CACHE_CONTROL, own);
        }
        head
    }

    /// The fields of any response in `media`.
    pub(crate) fn head_of(&self, media: Media, language: &Language, thread: Option<&ThreadId>) -> HeaderMap {
        let mut head = self.route.head(media.content_type(), language);
        if media == Media::Html {
            render::security_fields(&mut head, self.branding.asking_policy());
        }
        if let Some(mut token) = thread.and_then(|thread| HeaderValue::from_str(thread.expose()).ok()) {
            // Who has the token continues the conversation: it stays out of printed headers.
            token.set_sensitive(true);
            head.insert(&X_MENTIONABLE_SESSION, token);
        }
        if let Some(cookie) = self.person.and_then(|person| person.cookie.clone()) {
            head.insert(SET_COOKIE, cookie);
        }
        head
    }

    /// A refusal. PolicyPart 4.5; in event streams it is a frame under 200.
    pub(crate) fn refused(&self, media: Media, part: &PolicyPart, thread: Option<&ThreadId>) -> HttpAnswer {
        let media = self.refusal_media(media, part);
        let worded = refusal::language(part, &self.request.languages(), &self.route.card.language);
        // A page has words of its own around those of the refusal.
        let language = if media == Media::Html { self.page_language() } else { worded.clone() };
        let mut head = self.head_of(media, &language, thread);
        let is_problem = self.is_problem(media);
        if is_problem {
            head.insert(CONTENT_TYPE, problem::CONTENT_TYPE);
        }
        self.keep_waiting(&mut head, part, thread);
        let status = if media == Media::Stream { StatusCode::OK } else { status(&part.kind) };
        // A stream tells its refusal in a frame under 200: fields of another status would contradict that.
        if media != Media::Stream {
            add_fields(&mut head, part, self.request.site.canonical_host());
            if status == StatusCode::SERVICE_UNAVAILABLE {
                // Design 36: also where the refusal itself does not know when.
                head.entry(RETRY_AFTER).or_insert(HeaderValue::from(RETRY_AFTER_SECONDS));
            }
        }
        if self.policy_header {
            refusal::add_policy_field(&mut head, part);
        }
        payment::add_offer(&mut head, part);
        if is_problem {
            return HttpAnswer::whole(status, head, problem::refusal(part, status, &language));
        }
        let (url, question) = self.page_words(media);
        let frame = self.frame(&url, &language, None, &question);
        let signs_in = |link: &&String| link.starts_with(&self.request.site.url(SIGN_IN));
        if let (Media::Html, Some(link), Some(_)) =
            (media, part.url.as_ref().filter(signs_in), self.request.base().plain())
        {
            // A person who came over the plain origin of development is signed in there.
            let here = PolicyPart { url: Some(self.request.base().rebase(link).into_owned()), ..part.clone() };
            return HttpAnswer::whole(status, head, render::refusal(media, &frame, &here, &worded));
        }
        HttpAnswer::whole(status, head, render::refusal(media, &frame, part, &worded))
    }

    /// The form of a refusal: that which was wanted, but JSON for a program that is to pay for its POST and names no page.
    /// Clients of x402 name no form, and read JSON. Who follows a link gets a page all the same: REST 4, 9.6.
    fn refusal_media(&self, media: Media, part: &PolicyPart) -> Media {
        let is_payment = matches!(part.kind, RefusalKind::PaymentRequired { .. });
        let names_html = negotiate::named_quality(self.request.headers(), "text/html") > 0;
        match media {
            Media::Html if is_payment && !names_html && self.request.parts.method == Method::POST => Media::Json,
            media => media,
        }
    }

    /// Whether an error in `media` is wanted as a problem. What is told in a stream stays there. RFC 9457.
    fn is_problem(&self, media: Media) -> bool {
        media != Media::Stream && problem::is_wanted(self.request.headers(), media.name())
    }

    /// Lets the browser of a person remember which conversation waits for a consent or a payment.
    pub(crate) fn keep_waiting(&self, head: &mut HeaderMap, part: &PolicyPart, thread: Option<&ThreadId>) {
        let is_resumed = matches!(part.kind, RefusalKind::ConsentRequired { .. } | RefusalKind::PaymentRequired { .. });
        if let (true, true, Some(thread)) =
            (is_resumed, conversation_cookie::is_browser(self.request.headers()), thread)
        {
            conversation_cookie::add(head, self.request.headers(), thread);
        }
    }

    /// An ending without an answer. Of one that waits for a sign-in the conversation goes on.
    pub(crate) fn unanswered(&self, failure: &Failure, ending: &Ending, thread: Option<&ThreadId>) -> HttpAnswer {
        let Ending::SignIn(wanted) = ending else { return self.failed(failure, None) };
        let mut answer = self.failed(failure, thread);
        add_challenges(&mut answer.head, wanted, self.request.site.canonical_host());
        answer
    }

    /// A fault, in the form that was wanted. Our own words are English, but for those of pages.
    fn failed(&self, failure: &Failure, thread: Option<&ThreadId>) -> HttpAnswer {
        let media = Media::of_error(self.request.media);
        let language = if media == Media::Html { self.page_language() } else { Language::english() };
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
        let (url, question) = self.page_words(media);
        let frame = self.frame(&url, &language, None, &question);
        HttpAnswer::whole(failure.status, head, render::failure(media, &frame, failure))
    }

    /// The language of a page of our own: the first one asked for that pages have words in, else that of the agent.
    pub(crate) fn page_language(&self) -> Language {
        let wanted = self.request.languages();
        let wanted = wanted.iter().find(|language| SpokenLanguage::of(language).is_some());
        let own = &self.route.card.language;
        SpokenLanguage::for_caller(wanted, own).tag(wanted, own)
    }

    /// A page of our own in the wanted form. HTML is sent with `policy`, one of [`forecourt_pages::csp`].
    pub(crate) fn page(&self, media: Media, policy: &str, language: &Language, content: Bytes) -> HttpAnswer {
        let mut head = self.head_of(media, language, None);
        if media == Media::Html {
            render::security_fields(&mut head, policy);
        }
        HttpAnswer::whole(StatusCode::OK, head, content)
    }

    /// A page about the site itself: search engines may list it where the operator says so.
    pub(crate) fn public_page(&self, media: Media, policy: &str, language: &Language, content: Bytes) -> HttpAnswer {
        let mut answer = self.page(media, policy, language, content);
        if media == Media::Html {
            answer.head.insert(&X_ROBOTS_TAG, HeaderValue::from_static(self.branding.robots()));
        }
        answer
    }

    /// What a resource can do: the answer to OPTIONS. RFC 9110 9.3.7.
    pub(crate) fn options(&self, allow: &'static str) -> HttpAnswer {
        let mut head = self.head_of(Media::of_error(self.request.media), &Language::english(), None);
        head.insert(ALLOW, HeaderValue::from_static(allow));
        HttpAnswer::empty(StatusCode::NO_CONTENT, head)
    }

    /// 303 to a path of this host, so that a reload does not post again. RFC 9110 15.4.4.
    pub(crate) fn see_other(&self, path: &str) -> HttpAnswer {
        self.see_other_url(&self.request.base().path(path))
    }

    /// The same to another host, by its whole address.
    pub(crate) fn see_other_url(&self, url: &str) -> HttpAnswer {
        let mut head = self.head_of(Media::Html, &Language::english(), None);
        render::security_fields(&mut head, self.branding.answer_policy());
        if let Ok(location) = HeaderValue::from_str(url) {
            head.insert(LOCATION, location);
        }
        head.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        HttpAnswer::empty(StatusCode::SEE_OTHER, head)
    }
}
