//! The pages on which a person signs in at a server, comes back, and has it forgotten. All of them are for a person who
//! is signed in at this host.

use std::sync::Arc;

use forecourt_core::{ClientAddr, Handle, Language, Timestamp};
use forecourt_host::Host;
use forecourt_identity::sessions::{BrowserRequest, Sessions};
use forecourt_identity::{Person, Verifier};
use forecourt_oidc::delegated::DelegatedFlow;
use forecourt_oidc::limits::{FLOW_TIME_MAX, PARAMETER_BYTES_MAX};
use forecourt_pages::{AccountPage, Pages, csp, sign_in_path};
use forecourt_sentences::{Sentences, SpokenLanguage};
use forecourt_surface::answer::HttpAnswer;
use forecourt_surface::negotiate;
use forecourt_surface::refusal::add_fields;
use forecourt_surface::{BaseUrl, Mount};
use http::header::{CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, SET_COOKIE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde::{Deserialize, Serialize};
use url::form_urlencoded;

use crate::offer::Offer;
use crate::person::KnownPerson;
use crate::servers::sign_in::{Broker, SignInFailure, forget_path, page_path};
use crate::servers::upstream::Upstream;

/// The parameter of a page that has the sign-in begin.
const GO: &str = "go";

/// What the pages need.
pub(crate) struct SignInPages {
    offer: Arc<Offer>,
    verifier: Arc<Verifier>,
    pages: Arc<Pages>,
}

/// A sign-in on its way, kept for one use: whose it is and where it leads.
#[derive(Serialize, Deserialize)]
struct Attempt {
    server: String,
    /// The person who began it here: nobody else ends it.
    subject: String,
    flow: DelegatedFlow,
}

/// What a page says.
struct PageWords {
    status: StatusCode,
    title: String,
    message: String,
    /// Where to go on, and what that is called.
    link: (String, String),
    /// What can be done, where it is posted.
    posts: Option<(String, String)>,
}

impl SignInPages {
    pub(crate) fn new(offer: Arc<Offer>, mount: &Mount) -> Self {
        Self { offer, verifier: mount.verifier.clone(), pages: mount.pages.clone() }
    }
}

/// One request of a browser.
pub(super) struct Visit<'a> {
    pages: &'a SignInPages,
    head: &'a Parts,
    now: Timestamp,
}

impl<'a> Visit<'a> {
    /// A request that arrives now.
    pub(super) fn new(pages: &'a SignInPages, head: &'a Parts) -> Self {
        Self { pages, head, now: pages.offer.host.clock().now() }
    }

    /// The answer to what is not of the one method, or comes from a caller over its limits. `None`: it is taken.
    pub(super) fn turned_away(&self, method: &Method) -> Option<HttpAnswer> {
        let allow = if *method == Method::GET { "GET, OPTIONS" } else { "POST, OPTIONS" };
        if self.head.method == Method::OPTIONS {
            return Some(HttpAnswer::options(allow));
        }
        if self.head.method != *method {
            return Some(HttpAnswer::empty(StatusCode::METHOD_NOT_ALLOWED, HeaderMap::new()).allowing(allow));
        }
        let peer = self.head.extensions.get::<ClientAddr>().map(|client| client.0);
        let part = self.host().meter(peer).err()?;
        let mut head = HeaderMap::new();
        add_fields(&mut head, &part, self.host().site().canonical_host());
        Some(HttpAnswer::whole(StatusCode::TOO_MANY_REQUESTS, head, part.message.clone()))
    }

    /// The page of a server: what a sign-in there means, and whether there is one; with `go` the way there.
    pub(super) async fn page(&self, name: &str) -> HttpAnswer {
        let Some((upstream, broker)) = self.server(name) else { return self.nothing() };
        let (person, cookie) = match self.person(&page_path(&upstream.name)).await {
            Ok(person) => person,
            Err(answer) => return *answer,
        };
        if self.parameter(GO).is_some() {
            return match self.begin(upstream, broker, &person).await {
                Ok(url) => self.lead(&url, cookie),
                Err(failure) => self.failed(&failure, &upstream.name, cookie),
            };
        }
        let go = format!("{}?{GO}=1", page_path(&upstream.name));
        let has_signed_in = match broker.has_signed_in(&person).await {
            Ok(has) => has,
            Err(failure) => return self.failed(&failure, &upstream.name, cookie),
        };
        let (server, say) = (upstream.name.as_str(), self.words());
        let said = match has_signed_in {
            false => PageWords {
                status: StatusCode::OK,
                title: say.server_sign_in_title(),
                message: say.server_sign_in_why(server),
                link: (go, say.server_sign_in()),
                posts: None,
            },
            true => PageWords {
                status: StatusCode::OK,
                title: say.server_signed_in_title(),
                message: say.server_signed_in_why(server),
                link: (go, say.server_sign_in_anew()),
                posts: Some((forget_path(&upstream.name), say.server_forget())),
            },
        };
        self.page_of(&said, cookie)
    }

    /// Back from an authorization server. Whatever comes of it, the state is used up.
    pub(super) async fn callback(&self) -> HttpAnswer {
        let state = self.parameter("state").unwrap_or_default();
        let attempt = match self.taken(&state).await {
            Ok(attempt) => attempt,
            Err(failure) => return self.failed_somewhere(&failure),
        };
        let Some((upstream, broker)) = self.server(&attempt.server) else { return self.nothing() };
        let (person, cookie) = match self.person(&page_path(&upstream.name)).await {
            Ok(person) => person,
            Err(answer) => return *answer,
        };
        match self.finish(broker, &person, &attempt).await {
            Ok(()) => {
                upstream.list_for(person);
                let say = self.words();
                let said = PageWords {
                    status: StatusCode::OK,
                    title: say.server_signed_in_title(),
                    message: say.server_signed_in_now(upstream.name.as_str()),
                    link: (page_path(&upstream.name), say.server_see_sign_in()),
                    posts: None,
                };
                self.page_of(&said, cookie)
            }
            Err(failure) => self.failed(&failure, &upstream.name, cookie),
        }
    }

    /// Forgets the sign-in of the person. It changes something, so it takes a POST from a page of this host.
    pub(super) async fn forget(&self, name: &str) -> HttpAnswer {
        let Some((upstream, broker)) = self.server(name) else { return self.nothing() };
        // A page of another site could else sign people out (CSRF).
        if !self.browser().is_own() {
            return self.failed(&SignInFailure::Foreign, &upstream.name, None);
        }
        let (person, cookie) = match self.person(&page_path(&upstream.name)).await {
            Ok(person) => person,
            Err(answer) => return *answer,
        };
        match broker.forget(&person).await {
            Ok(()) => {
                let say = self.words();
                let said = PageWords {
                    status: StatusCode::OK,
                    title: say.server_forgotten_title(),
                    message: say.server_forgotten_why(upstream.name.as_str()),
                    link: (page_path(&upstream.name), say.server_sign_in_again()),
                    posts: None,
                };
                self.page_of(&said, cookie)
            }
            Err(failure) => self.failed(&failure, &upstream.name, cookie),
        }
    }

    async fn begin(&self, upstream: &Upstream, broker: &Broker, person: &KnownPerson) -> Result<String, SignInFailure> {
        let begun = broker.begin().await?;
        let attempt = Attempt { server: upstream.name.to_string(), subject: person.subject.clone(), flow: begun.flow };
        let kept = serde_json::to_value(&attempt).unwrap_or_default();
        let until = self.now.checked_add(FLOW_TIME_MAX).unwrap_or(self.now);
        let sessions = self.sessions()?;
        let kept = sessions.keep_once(&begun.state, kept, person.account.clone(), (self.now, until)).await;
        kept.map_err(|error| SignInFailure::Unkept(error.into()))?;
        Ok(begun.url.to_string())
    }

    /// The sign-in that a state names, which is used up by this.
    async fn taken(&self, state: &str) -> Result<Attempt, SignInFailure> {
        let kept = self.sessions()?.take_once(state, self.now).await;
        let kept = kept.map_err(|error| SignInFailure::Unkept(error.into()))?.ok_or(SignInFailure::Stale)?;
        serde_json::from_value(kept).map_err(|_| SignInFailure::Stale)
    }

    async fn finish(&self, broker: &Broker, person: &KnownPerson, attempt: &Attempt) -> Result<(), SignInFailure> {
        // Whoever was sent here with a sign-in of somebody else's would give away a token of theirs, or be given one
        // that is not theirs.
        if attempt.subject != person.subject {
            return Err(SignInFailure::Stale);
        }
        if self.parameter("error").is_some() {
            return Err(SignInFailure::Declined);
        }
        let code = self.parameter("code").filter(|code| !code.is_empty()).ok_or(SignInFailure::Invalid)?;
        broker.finish(person, &attempt.flow, (&code, self.parameter("iss").as_deref())).await
    }

    /// A server at which people sign in.
    fn server(&self, name: &str) -> Option<(&'a Arc<Upstream>, &'a Broker)> {
        let server = self.pages.offer.servers.find(&Handle::parse(name).ok()?)?;
        Some((&server.upstream, server.upstream.broker()?.as_ref()))
    }

    /// Who is signed in here, with the cookie that takes the place of theirs; else the way to sign in here first.
    async fn person(&self, back: &str) -> Result<(KnownPerson, Option<HeaderValue>), Box<HttpAnswer>> {
        let host = self.host();
        let agent = &host.directory().default_agent().card.address;
        let found = self.pages.verifier.person(self.browser(), agent, self.now, &**host.entropy()).await;
        let found = match found {
            Ok(found) => found.and_then(|Person { sender, cookie, .. }| Some((sender.owner()?.to_owned(), cookie))),
            Err(error) => return Err(Box::new(self.failed_somewhere(&SignInFailure::Unkept(error.into())))),
        };
        match found {
            Some((subject, cookie)) => Ok((KnownPerson::new(subject), cookie)),
            None => Err(Box::new(self.lead(&self.base().url(&sign_in_path(back)), None))),
        }
    }

    fn sessions(&self) -> Result<&'a Sessions, SignInFailure> {
        self.pages.verifier.sessions().ok_or(SignInFailure::Away)
    }

    fn host(&self) -> &'a Host {
        &self.pages.offer.host
    }

    fn base(&self) -> BaseUrl<'a> {
        BaseUrl::of(self.host().site(), &self.head.extensions)
    }

    fn browser(&self) -> BrowserRequest<'a> {
        BrowserRequest { method: &self.head.method, headers: &self.head.headers, origin: self.base().origin() }
    }

    /// A parameter of the query, if it is there. One that is there twice, or is too long, is read as nothing.
    fn parameter(&self, name: &str) -> Option<String> {
        let query = self.head.uri.query().unwrap_or_default();
        let mut values = form_urlencoded::parse(query.as_bytes()).filter(|(known, _)| known == name);
        let value = values.next()?.1;
        let fits = values.next().is_none() && value.len() <= PARAMETER_BYTES_MAX;
        Some(if fits { value.into_owned() } else { String::new() })
    }

    fn nothing(&self) -> HttpAnswer {
        let say = self.words();
        let said = PageWords {
            status: StatusCode::NOT_FOUND,
            title: say.server_none_title(),
            message: say.server_none_why(),
            link: ("/".to_owned(), say.page_all_agents()),
            posts: None,
        };
        self.page_of(&said, None)
    }

    fn failed(&self, failure: &SignInFailure, name: &Handle, cookie: Option<HeaderValue>) -> HttpAnswer {
        let link = (page_path(name), self.words().server_begin_anew());
        self.page_of(&said_of(failure, self.words(), link), cookie)
    }

    fn failed_somewhere(&self, failure: &SignInFailure) -> HttpAnswer {
        let link = ("/".to_owned(), self.words().page_all_agents());
        self.page_of(&said_of(failure, self.words(), link), None)
    }

    /// The words of the page, in the language that the browser asks for.
    fn words(&self) -> Sentences {
        let spoken = negotiate::languages(&self.head.headers).iter().find_map(SpokenLanguage::of);
        Sentences::in_language(spoken.unwrap_or(SpokenLanguage::English))
    }

    fn lead(&self, to: &str, cookie: Option<HeaderValue>) -> HttpAnswer {
        let mut head = fields(cookie);
        head.extend(HeaderValue::from_str(to).ok().map(|to| (LOCATION, to)));
        HttpAnswer::whole(StatusCode::SEE_OTHER, head, "")
    }

    fn page_of(&self, said: &PageWords, cookie: Option<HeaderValue>) -> HttpAnswer {
        let brand = &self.pages.pages.branding;
        let code = self.words().language().code();
        let (path, label) = &said.link;
        let shown = AccountPage {
            brand,
            host_name: &self.host().site().name,
            url: &self.base().url(self.head.uri.path()),
            language: &Language::parse(code).unwrap_or_else(Language::english),
            title: &said.title,
            message: &said.message,
            links: &[(path, label)],
            posts: said.posts.as_ref().map(|(path, label)| (path.as_str(), label.as_str())),
            signs_out: false,
            goes_on_to: None,
        };
        let mut head = fields(cookie);
        head.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        head.insert(CONTENT_LANGUAGE, HeaderValue::from_static(code));
        head.extend(HeaderValue::from_str(brand.asking_policy()).ok().map(|policy| (CONTENT_SECURITY_POLICY, policy)));
        HttpAnswer::whole(said.status, head, shown.render())
    }
}

fn said_of(failure: &SignInFailure, say: Sentences, link: (String, String)) -> PageWords {
    let (status, kind) = match failure {
        SignInFailure::Away => (StatusCode::SERVICE_UNAVAILABLE, "away"),
        SignInFailure::Foreign => (StatusCode::FORBIDDEN, "foreign"),
        SignInFailure::Invalid => (StatusCode::BAD_REQUEST, "invalid"),
        SignInFailure::Declined => (StatusCode::BAD_REQUEST, "declined"),
        SignInFailure::Stale => (StatusCode::BAD_REQUEST, "stale"),
        // What is wrong with the store is for the log.
        SignInFailure::Unkept(error) => {
            tracing::warn!(%error, "a sign-in at a server could not be kept");
            (StatusCode::SERVICE_UNAVAILABLE, "unkept")
        }
    };
    PageWords { status, title: say.server_failed_title(), message: say.server_failure(kind), link, posts: None }
}

/// The fields of pages that nobody keeps.
fn fields(cookie: Option<HeaderValue>) -> HeaderMap {
    let mut head: HeaderMap = csp::HEADERS
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
        .collect();
    head.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    head.extend(cookie.map(|cookie| (SET_COOKIE, cookie)));
    head
}
