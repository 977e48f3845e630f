//! The actor of an agent, and what lies below it. ActivityPub 4, 5.

use forecourt_core::{AgentCard, Site};
use serde_json::{Map, Value, json};

use crate::html::{escape, narrow};
use crate::names::{self, CONTEXT, SECURITY_CONTEXT};

/// Characters of the summary.
const SUMMARY_CHARS_MAX: usize = 500;

/// The actor of an agent, which signs with this key.
pub(crate) fn actor(site: &Site, card: &AgentCard, public_pem: &str) -> Value {
    let agent = card.handle();
    let (id, of) = (names::actor(site, agent), |what: &str| names::of_actor(site, agent, what));
    let mut actor = json!({
        "@context": [CONTEXT, SECURITY_CONTEXT, terms()],
        "id": id,
        "type": "Service",
        "preferredUsername": agent,
        "name": card.name,
        "summary": narrow(&format!("<p>{}</p>", escape(&card.description)), SUMMARY_CHARS_MAX).html,
        "url": page(site, card),
        "webfinger": format!("{agent}@{}", site.domain),
        "inbox": of("inbox"),
        "outbox": of("outbox"),
        "followers": of("followers"),
        "following": of("following"),
        "featured": of("featured"),
        "endpoints": {"sharedInbox": names::shared_inbox(site)},
        "manuallyApprovesFollowers": false,
        "discoverable": true,
        "publicKey": {"id": names::key(site, agent), "owner": id, "publicKeyPem": public_pem},
    });
    if let Some(icon) = &card.icon {
        actor["icon"] = json!({"type": "Image", "url": icon.url});
        if let Some(mime) = &icon.mime {
            actor["icon"]["mediaType"] = json!(mime);
        }
    }
    actor
}

/// Terms that the context does not have. FEP-2c59 for `webfinger`; the others are Mastodon's.
fn terms() -> Value {
    json!({
        "toot": "http://joinmastodon.org/ns#",
        "discoverable": "toot:discoverable",
        "featured": {"@id": "toot:featured", "@type": "@id"},
        "manuallyApprovesFollowers": "as:manuallyApprovesFollowers",
        "webfinger": "https://purl.archive.org/socialweb/webfinger#webfinger",
    })
}

/// The page of an agent for people.
pub(crate) fn page(site: &Site, card: &AgentCard) -> String {
    card.homepage.clone().unwrap_or_else(|| site.url(&format!("/~{}", card.handle())))
}

/// A collection of which no more is told than how many there are, and perhaps which.
pub(crate) fn collection(id: &str, total: u64, items: Option<Vec<Value>>) -> Value {
    let mut collection = Map::new();
    collection.insert("@context".to_owned(), CONTEXT.into());
    collection.insert("id".to_owned(), id.into());
    collection.insert("type".to_owned(), "OrderedCollection".into());
    collection.insert("totalItems".to_owned(), total.into());
    if let Some(items) = items {
        collection.insert("orderedItems".to_owned(), items.into());
    }
    Value::Object(collection)
}

/// What the server says of itself. NodeInfo 2.1, FEP-f1d5.
pub(crate) fn nodeinfo(site: &Site, agents: usize) -> Value {
    json!({
        "version": "2.1",
        "software": {"name": "forecourt", "version": env!("CARGO_PKG_VERSION")},
        "protocols": ["activitypub"],
        "services": {"inbound": [], "outbound": []},
        "openRegistrations": false,
        "usage": {"users": {"total": agents}},
        "metadata": {"nodeName": site.name},
    })
}

/// Where that is. NodeInfo, FEP-f1d5.
pub(crate) fn nodeinfo_links(site: &Site) -> Value {
    let schema = "http://nodeinfo.diaspora.software/ns/schema/2.1";
    json!({"links": [{"rel": schema, "href": site.url(names::routes::NODEINFO)}]})
}
