//! The pages of this host: who lives here, and one agent with a box to talk to it. Design 5.

use std::borrow::Cow;

use bytes::Bytes;
use forecourt_core::{AgentCard, Language, Site, first_mention};
use forecourt_pages::{AgentListItem, AgentPage, FAVICON, FrontPage, csp};
use headers::{ETag, HeaderMapExt, IfNoneMatch};
use http::header::CACHE_CONTROL;
use http::{HeaderValue, Method, StatusCode};
use serde_json::{Value, json};
use url::form_urlencoded;

use super::agent_route;
use super::answer::{HttpAnswer, Outcome};
use super::errors::Failure;
use super::failure_kind::FailureKind;
use super::from_wire::is_words;
use super::limits::{AGENTS_PER_PAGE, QUERY_BYTES_MAX};
use super::media::Media;
use super::refusal::VERSION;
use super::render;
use super::responder::Responder;
use super::search;
use super::several::{QuestionToSeveral, asked_together};
use super::signed_in::account;
use super::transport::Rest;
use crate::{NAME, discovery};

/// The front page of the host: its agents, at most [`AGENTS_PER_PAGE`] a page, in each of the four forms.
pub(crate) fn front_page(rest: &Rest, responder: &Responder<'_>) -> Outcome {
    let request = &responder.request;
    rest.meter(request)?;
    let media = request.media()?;
    let (base, site) = (request.base(), request.base().site());
    let number = page_number(request.query()).ok_or_else(Failure::no_such_page)?;
    let count = rest.listed.len();
    let before = (number - 1).saturating_mul(AGENTS_PER_PAGE);
    if before > 0 && before >= count {
        return Err(Failure::no_such_page().into());
    }
    // Only these are rendered: a host may have thousands.
    let cards: Vec<Cow<'_, AgentCard>> = rest
        .listed
        .iter()
        .skip(before)
        .take(AGENTS_PER_PAGE)
        .map(|handle| base.card(&rest.door(handle).card))
        .collect();
    let previous_page = (number > 1).then(|| page_url(number - 1));
    let next_page = (before + cards.len() < count).then(|| page_url(number + 1));
    let paths: Vec<String> = cards.iter().map(|card| responder.branding.path(&agent_route::path(card))).collect();
    let agents: Vec<AgentListItem<'_>> = cards
        .iter()
        .zip(&paths)
        .map(|(card, path)| AgentListItem { card, page: path, ask: card.endpoint(NAME) })
        .collect();
    let (language, url) = (responder.page_language(), site.url("/"));
    let link = |path: &String| responder.branding.path(path);
    let (previous_link, next_link) = (previous_page.as_ref().map(link), next_page.as_ref().map(link));
    let json_ld = discovery::json_ld(&site, cards.iter().map(|card| &**card));
    let page = FrontPage {
        brand: responder.branding,
        name: &site.name,
        ask: agents.first().filter(|_| number == 1),
        asks_several: asked_together(rest).len() > 1,
        domain: &site.domain,
        url: &url,
        language: &language,
        agents: &agents,
        json_ld: Some(&json_ld),
        manual_url: None,
        previous_page: previous_link.as_deref(),
        next_page: next_link.as_deref(),
        account: account(responder, &rest.verifier),
    };
    let content = match media {
        Media::Html => page.render().into(),
        Media::Markdown => page.render_markdown().into(),
        Media::Stream => render::one_message(&page.render_markdown()),
        Media::Json => written(&listing(&site, &cards, next_page.as_deref())),
    };
    Ok(responder.public_page(media, csp::PAGE, &language, content))
}

/// The page of the addressed agent, for a request that asks nothing yet. Design 7, item 1.
pub(crate) fn agent_page(rest: &Rest, responder: &Responder<'_>) -> Outcome {
    let Responder { request, route, .. } = responder;
    rest.meter(request)?;
    let media = request.media()?;
    let (base, site) = (request.base(), request.base().site());
    let card = &*base.card(&route.card);
    let account = account(responder, &rest.verifier);
    let language = responder.page_language();
    let url = site.url(&route.path);
    let page = AgentPage {
        brand: responder.branding,
        card,
        url: &url,
        language: &language,
        action: &route.link,
        ask: card.endpoint(NAME),
        host_name: &site.name,
        session: None,
        json_ld: None,
        account,
    };
    let content = match media {
        Media::Html if card.finds => {
            let content = search::empty_page(responder, page.account);
            return Ok(responder.public_page(media, csp::SEARCH, &language, content));
        }
        Media::Html => page.render().into(),
        Media::Markdown => page.render_markdown().into(),
        Media::Stream => render::one_message(&page.render_markdown()),
        Media::Json => {
            let mut about = about(card);
            about["v"] = VERSION.into();
            written(&about)
        }
    };
    Ok(responder.public_page(media, csp::PAGE, &language, content))
}

/// A file of the host's own pages. Its address changes with its content, so it may be kept.
pub(crate) fn asset(responder: &Responder<'_>) -> Outcome {
    let request = &responder.request;
    let missing = || Failure::new(StatusCode::NOT_FOUND, FailureKind::NotFound, "there is no such file");
    let asset = responder.branding.asset(request.parts.uri.path()).ok_or_else(missing)?;
    let mut head = responder.route.head(HeaderValue::from_static(asset.mime), &Language::english());
    // The icon is asked for by a name that stays when it changes.
    let is_icon = request.parts.uri.path() == FAVICON;
    let kept = if is_icon { "public, max-age=86400" } else { "public, max-age=31536000, immutable" };
    head.insert(CACHE_CONTROL, HeaderValue::from_static(kept));
    if let Ok(tag) = asset.etag.parse::<ETag>() {
        head.typed_insert(tag.clone());
        if request.headers().typed_get::<IfNoneMatch>().is_some_and(|known| !known.precondition_passes(&tag)) {
            return Ok(HttpAnswer::empty(StatusCode::NOT_MODIFIED, head));
        }
    }
    // A picture may be an SVG, which runs scripts when it is opened by itself.
    if asset.mime.starts_with("image/") {
        render::security_fields(&mut head, csp::PICTURE);
    }
    Ok(HttpAnswer::whole(StatusCode::OK, head, asset.bytes.clone()))
}

/// The agents of a page for machines, and where the next ones are.
fn listing(site: &Site, cards: &[Cow<'_, AgentCard>], next_page: Option<&str>) -> Value {
    let agents: Vec<Value> = cards.iter().map(|card| about(card)).collect();
    let mut listed = json!({"v": VERSION, "domain": site.domain, "name": site.name, "agents": agents});
    if let Some(next) = next_page {
        listed["next"] = site.url(next).into();
    }
    listed
}

/// What the box of this page asks.
pub(crate) enum BoxQuestion<'a> {
    /// One agent, whose page this is.
    OfOne(String),
    /// All that find things.
    OfSeveral(QuestionToSeveral<'a>),
}

/// The question of the box, if there is one: to the agent that was chosen beside it or that it mentions, else to all that
/// find things, else to the default one.
pub(crate) fn box_question<'a>(rest: &'a Rest, responder: &Responder<'_>) -> Option<BoxQuestion<'a>> {
    let pairs = || form_urlencoded::parse(responder.request.query().as_bytes());
    let named = |name: &str| pairs().find(|(known, _)| known == name).map(|(_, value)| value);
    let question = named("user").filter(|question| !question.trim().is_empty())?;
    if responder.request.media != Some(Media::Html) || responder.request.parts.method != Method::GET {
        return None;
    }
    let door = |handle: &str| rest.door_at(&format!("/~{handle}"));
    let mentioned = || first_mention(&question, &responder.request.site.domain).and_then(|it| door(it.as_str()));
    let chosen = named("agent").and_then(|handle| door(&handle)).or_else(mentioned);
    // What is an address is fetched: once, for one agent. What is too long is refused where one agent is asked.
    let fits = responder.request.query().len() <= QUERY_BYTES_MAX && is_words(&question);
    let several = || QuestionToSeveral::new(rest, &question).filter(|_| fits);
    if let (None, Some(several)) = (chosen, several()) {
        return Some(BoxQuestion::OfSeveral(several));
    }
    let route = chosen.unwrap_or(&rest.default);
    let query: String = form_urlencoded::Serializer::new(String::new()).append_pair("user", &question).finish();
    Some(BoxQuestion::OfOne(format!("{}?{query}", route.path)))
}

/// The page that a query asks for, from 1 on: the first where it names none. `None` for what is no page.
fn page_number(query: &str) -> Option<usize> {
    let asked = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "page");
    match asked {
        Some((_, number)) => number.parse().ok().filter(|number| *number > 0),
        None => Some(1),
    }
}

fn page_url(number: usize) -> String {
    if number == 1 { "/".to_owned() } else { format!("/?page={number}") }
}

/// An agent for machines that came without a question.
fn about(card: &AgentCard) -> Value {
    json!({
        "agent": card.address,
        "name": card.name,
        "description": card.description,
        "version": card.version,
        "language": card.language,
        "skills": card.skills,
        "examples": card.examples,
        "endpoints": card.endpoints,
    })
}

fn written(value: &Value) -> Bytes {
    serde_json::to_vec(value).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_names_a_page_from_1_on() {
        assert_eq!(
            ["", "page=1", "x=y&page=7", "page=2&page=3"].map(page_number),
            [Some(1), Some(1), Some(7), Some(2)]
        );
        for none in ["page=", "page=0", "page=-1", "page=two", "page=99999999999999999999"] {
            assert_eq!(page_number(none), None, "{none}");
        }
        assert_eq!([1, 2].map(page_url), ["/", "/?page=2"]);
    }
}
