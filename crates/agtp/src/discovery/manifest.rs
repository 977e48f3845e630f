//! The manifest, or that the caller has it. AGTP-API 8.10, 8.11; base 2.5.

use forecourt_agtp_wire::media_types::MANIFEST;
use forecourt_agtp_wire::status::Status;
use forecourt_surface::document::is_listed;

use crate::inventory::{Audience, Inventory};
use crate::limits::MANIFEST_FRESH;
use crate::manifest::{Publisher, View};
use crate::reply::{Body, Reply};
use crate::settings::Disclosure;

/// The manifest of a view, unless `known`, the caller's tags, lists it.
pub(super) async fn reply(publisher: &Publisher, inventory: &Inventory, view: View, known: Option<&str>) -> Reply {
    let manifest = publisher.manifest(inventory, view).await;
    let (status, body) = match known.is_some_and(|known| is_listed(known, &manifest.tag)) {
        true => (Status::NOT_MODIFIED, Body::Empty),
        false => (Status::OK, Body::Made { media_type: MANIFEST, bytes: manifest.body }),
    };
    let reply = Reply { status, fields: Vec::new(), body }
        .with("ETag", manifest.tag)
        .with("Cache-Control", cache_control(inventory.disclosure(), view.audience));
    match status {
        Status::OK => reply.with("X-AGTP-Document-Type", "agtp.server.manifest"),
        _ => reply,
    }
}

/// Who else may be given what this caller was given, and how long.
fn cache_control(disclosure: Disclosure, audience: Audience) -> String {
    let is_for_all = disclosure.reaches(audience) == disclosure.reaches(Audience::Stranger);
    format!("{}, max-age={}", if is_for_all { "public" } else { "private" }, MANIFEST_FRESH.as_secs())
}
