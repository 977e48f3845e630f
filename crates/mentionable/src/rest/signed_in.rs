//! Who is signed in, and the way there and back. REST 7.2, PolicyPart 3.3.1.

use forecourt_core::policy::RefusalKind;
use forecourt_core::{Address, Ending, Event, PolicyPart, Reply, Sender};
use forecourt_identity::sessions::BrowserRequest;
use forecourt_identity::{Person, Verifier};
use forecourt_pages::{Account, sign_in_path};
use forecourt_surface::BaseUrl;
use futures::StreamExt;
use http::Method;
use http::request::Parts;
use url::form_urlencoded;

use super::answer::RestError;
use super::limits::SIGN_IN_PATH_BYTES_MAX;
use super::responder::Responder;
use super::transport::Rest;
use super::visitor::seen_by;
use super::wire::{Ask, Entry};

/// The person whose browser sent a request, by its cookie. Fails when nobody knows.
pub(crate) async fn person(rest: &Rest, head: &Parts) -> Result<Option<Person>, RestError> {
    if rest.verifier.sessions().is_none() {
        return Ok(None);
    }
    let origin = BaseUrl::of(rest.host.site(), &head.extensions).origin();
    let browser = BrowserRequest { method: &head.method, headers: &head.headers, origin };
    let agent = &rest.door_at(head.uri.path()).unwrap_or(&rest.default).card.address;
    let (now, entropy) = (rest.host.clock().now(), &**rest.host.entropy());
    let found = rest.verifier.person(browser, agent, now, entropy).await;
    found.map_err(|error| forecourt_core::Error::from(error).into())
}

/// The sender to `agent`, or who is signed in where nothing in the request itself proves who sent it.
pub(crate) fn or_person(sender: Sender, person: Option<&Person>, agent: &Address) -> Sender {
    match person {
        // A cookie is sent without being asked; what the request proves by itself counts before it.
        Some(person) if !sender.verified => {
            let Sender { peer, claimed_address, .. } = sender;
            Sender { peer, claimed_address, ..person.asking(agent) }
        }
        _ => sender,
    }
}

/// Who is signed in, as the host's own pages say it.
pub(crate) fn account<'a>(responder: &Responder<'a>, verifier: &Verifier) -> Account<'a> {
    let here = responder.request.parts.uri.path_and_query().map_or("/", |here| here.as_str());
    match (responder.person, verifier.sessions()) {
        (Some(person), _) => Account::SignedIn(&person.name),
        (None, Some(_)) => {
            let path = Some(sign_in_path(here)).filter(|path| path.len() <= SIGN_IN_PATH_BYTES_MAX);
            // Whole: a development host has names that the provider does not know.
            let url = responder.request.base().url(&path.unwrap_or_else(|| sign_in_path(&responder.route.path)));
            match seen_by(&responder.request, responder.person) {
                Account::Browser(_) => Account::Browser(Some(url)),
                _ => Account::SignedOut(url),
            }
        }
        (None, None) => seen_by(&responder.request, responder.person),
    }
}

/// Where a person comes back to who has to sign in first: to the question, where an address can say it, else to
/// the agent. `None` where nobody signs in, or somebody has.
pub(crate) fn way_back(responder: &Responder<'_>, verifier: &Verifier, ask: &Ask) -> Option<WayBack> {
    let Responder { request, route, person, .. } = responder;
    verifier.sessions().filter(|_| person.is_none())?;
    let path = match request.parts.method {
        Method::GET | Method::HEAD => request.parts.uri.path_and_query()?.as_str().to_owned(),
        _ => question(&route.path, ask).unwrap_or_else(|| route.path.clone()),
    };
    let to = |path: &str| request.site.url(&sign_in_path(path));
    // The query of the page that signs in has the usual bound.
    let fits = |path: &String| sign_in_path(path).len() <= SIGN_IN_PATH_BYTES_MAX;
    let url = if fits(&path) { to(&path) } else { to(&route.path) };
    Some(WayBack { usual: to(&route.path), url })
}

/// The address that asks what a POST asked, if one can: a single turn of words.
fn question(path: &str, ask: &Ask) -> Option<String> {
    let [run] = ask.runs.as_slice() else { return None };
    if ask.parts.is_some() || ask.history.is_some() {
        return None;
    }
    let mut query = form_urlencoded::Serializer::new(String::new());
    for entry in &run.entries {
        match entry {
            Entry::Text { mime, text } if mime == "text/plain" => drop(query.append_pair("user", text)),
            Entry::Text { .. } | Entry::File { .. } => return None,
        }
    }
    if let Some(session) = &ask.session {
        query.append_pair("session", session);
    }
    Some(format!("{path}?{}", query.finish()))
}

/// How a refusal that has people sign in leads them back to what they asked.
pub(crate) struct WayBack {
    /// The page as rules name it, which know the agent alone.
    usual: String,
    /// The same with the question.
    url: String,
}

impl WayBack {
    /// The same reply, whose refusal leads back.
    pub(crate) fn of(self, reply: Reply) -> Reply {
        let events = reply.events.map(move |mut event| {
            if let Event::Ending(Ending::Refused(part)) = &mut event {
                self.lead(part);
            }
            event
        });
        Reply { events: Box::pin(events), ..reply }
    }

    fn lead(&self, part: &mut PolicyPart) {
        let is_ours = part.url.as_ref() == Some(&self.usual);
        if is_ours && matches!(part.kind, RefusalKind::Unauthorized { .. }) {
            part.url = Some(self.url.clone());
        }
    }
}
