//! Checks of methods: the catalog, the floor, and the server's own policy. AGTP-API 3, 4, 9, 11 and 13.1 items 2,
//! 4 and 8.

use forecourt_contract::Catalog;
use serde_json::{Value, json};

use super::draft::Draft;
use super::exchange::Exchange;
use super::peer::Peer;
use crate::check::{Check, Shortfall, Verdict, check};
use crate::evidence::Evidence;

pub(super) const CHECKS: &[Check<Peer>] = &[
    check!("agtp-13.1-2a", "13.1 item 2, 3, 11", Must, "a method outside the catalog is refused with 459", unknown),
    check!("agtp-13.1-2b", "13.1 item 2, 3.2", Must, "a method of 33 letters is refused with 459", too_long),
    check!("agtp-3.2-case", "3.2", Should, "a method in small letters is refused with 459", small),
    check!("agtp-13.1-2c", "4.4", Must, "a method of the catalog is never refused with 459", of_catalog),
    check!("agtp-4.5", "4.5", Should, "459 says which catalog was looked into", cites_catalog),
    check!("agtp-3.1-suggestion", "base 14", Should, "459 says which methods were perhaps meant", suggestions),
    check!(
        "agtp-3.1-floor",
        "3.1, 6.1",
        Must,
        "the methods of the floor that only look are answered at the root",
        floor
    ),
    check!("agtp-9.2-floor", "9.2, base 3", Must, "no policy takes a method of the floor away", floor_not_disallowed),
    check!("agtp-13.1-4a", "13.1 item 4, 9.2", Must, "a disallowed method is refused with 405", disallowed),
    check!(
        "agtp-13.1-4b",
        "13.1 item 4, 9.2",
        Must,
        "with a list of allowed methods, another is refused with 405",
        not_allowed
    ),
    check!("agtp-9.2-alias", "9.2", Must, "a method with an alias is taken for the method it stands for", aliased),
    check!("agtp-9.2-legacy", "3.6, 9.2", Must, "a method of HTTP that nobody opted into is refused with 459", legacy),
];

/// A path at which nothing is, on any server.
pub(super) const NOWHERE: &str = "/conform-nowhere";

async fn unknown(peer: &Peer) -> Verdict {
    peer.ask(Draft::new("QEURYX", NOWHERE)).await?.expect(&[459])
}

async fn too_long(peer: &Peer) -> Verdict {
    peer.ask(Draft::new(&"Q".repeat(33), NOWHERE)).await?.expect(&[459])
}

async fn small(peer: &Peer) -> Verdict {
    peer.ask(Draft::new("query", NOWHERE)).await?.expect(&[459])
}

async fn of_catalog(peer: &Peer) -> Verdict {
    let catalog = Catalog::shipped();
    let version = &peer.manifest().await?["catalog_version"];
    // Another catalog may lack these methods, and be right to refuse them.
    if version != catalog.version() {
        return Err(Shortfall::skip(format!("the server has the catalog {version}, which is not known here")));
    }
    for method in ["NOTARIZE", "QUERY", "BOOK"] {
        let exchange = peer.ask(Draft::new(method, NOWHERE)).await?;
        if exchange.status() == 459 {
            return Err(exchange.wrong(format!("{method} is in the catalog")));
        }
    }
    Ok(())
}

/// The refusal of a method that is in no catalog.
async fn refused(peer: &Peer) -> Result<Exchange, Shortfall> {
    let exchange = peer.ask(Draft::new("QEURY", NOWHERE)).await?;
    match exchange.status() {
        459 => Ok(exchange),
        _ => Err(Shortfall::skip("there is no 459; agtp-13.1-2a says so")),
    }
}

async fn cites_catalog(peer: &Peer) -> Verdict {
    let version = peer.manifest().await?["catalog_version"].as_str().unwrap_or_default();
    let exchange = refused(peer).await?;
    let text = String::from_utf8_lossy(&exchange.response.body);
    match !version.is_empty() && text.contains(version) {
        true => Ok(()),
        false => Err(exchange.wrong("the body does not name the version of the catalog")),
    }
}

async fn suggestions(peer: &Peer) -> Verdict {
    let exchange = refused(peer).await?;
    match exchange.member("suggestions").as_ref().and_then(Value::as_array) {
        Some(names) if names.iter().any(|name| name == "QUERY") => Ok(()),
        _ => Err(exchange.wrong("`suggestions` does not have QUERY for QEURY")),
    }
}

async fn floor(peer: &Peer) -> Verdict {
    let calls = [
        ("DISCOVER", json!({})),
        ("DESCRIBE", json!({})),
        ("QUERY", json!({"intent": "a question of a conformance test"})),
        ("SUMMARIZE", json!({"source": "One sentence. Another sentence."})),
        ("PLAN", json!({"goal": "a goal of a conformance test"})),
        ("INSPECT", json!({"target": "lifecycle"})),
    ];
    for (method, body) in calls {
        let exchange = peer.ask(Draft::new(method, "/").json(&body)).await?;
        if [405, 459, 460, 501].contains(&exchange.status()) {
            return Err(exchange.wrong(format!("{method} is a method of the floor")));
        }
    }
    Ok(())
}

async fn floor_not_disallowed(peer: &Peer) -> Verdict {
    let manifest = peer.manifest().await?;
    let disallowed = &manifest["policies"]["methods"]["disallow"];
    let catalog = Catalog::shipped();
    let of_floor = disallowed.as_array().into_iter().flatten().filter_map(Value::as_str);
    let taken = of_floor.filter(|name| catalog.embedded().any(|known| known == *name)).collect::<Vec<_>>();
    match taken.is_empty() {
        true => Ok(()),
        false => Err(manifest.wrong(format!("policies.methods.disallow has {}", taken.join(", ")))),
    }
}

async fn disallowed(peer: &Peer) -> Verdict {
    let disallowed = &peer.manifest().await?["policies"]["methods"]["disallow"];
    let first = disallowed.as_array().into_iter().flatten().find_map(Value::as_str);
    let method = first.ok_or_else(|| Shortfall::skip("policies.methods.disallow is empty"))?;
    let exchange = peer.ask(Draft::new(method, NOWHERE)).await?;
    exchange.expect(&[405])
}

async fn not_allowed(peer: &Peer) -> Verdict {
    let allow = &peer.manifest().await?["policies"]["methods"]["allow"];
    let Some(allowed) = allow.as_array() else { return Err(Shortfall::skip("all methods are allowed")) };
    let catalog = Catalog::shipped();
    // The floor is always allowed, whatever the list says.
    let is_other = |name: &&str| !allowed.iter().any(|one| one == name) && !catalog.embedded().any(|one| one == *name);
    let method = catalog.verbs().map(|(name, _)| name).find(is_other);
    let method = method.ok_or_else(|| Shortfall::skip("every method of the catalog is allowed"))?;
    let exchange = peer.ask(Draft::new(method, NOWHERE)).await?;
    exchange.expect(&[405])
}

/// The aliases in force: those of the manifest, or the seed of 9.2.
fn aliases(manifest: &Value) -> Vec<(String, String)> {
    match manifest["policies"]["methods"]["aliases"].as_object() {
        Some(aliases) => {
            aliases.iter().filter_map(|(from, to)| Some((from.clone(), to.as_str()?.to_owned()))).collect()
        }
        None => vec![("GET".to_owned(), "FETCH".to_owned())],
    }
}

async fn aliased(peer: &Peer) -> Verdict {
    let manifest = peer.manifest().await?;
    let policy = &manifest["policies"]["methods"];
    let is_disallowed = |name: &str| policy["disallow"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    // What is disallowed is refused with 405 whether or not the alias is followed.
    let fine = |(from, to): &&(String, String)| !is_disallowed(from) && !is_disallowed(to);
    let all = aliases(manifest);
    let (from, _) = all.iter().find(fine).ok_or_else(|| Shortfall::skip("there are no aliases"))?;
    let exchange = peer.ask(Draft::new(from, NOWHERE)).await?;
    match exchange.status() {
        459 => Err(exchange.wrong(format!("{from} has an alias and is refused as unknown"))),
        _ => Ok(()),
    }
}

async fn legacy(peer: &Peer) -> Verdict {
    let manifest = peer.manifest().await?;
    let opted = &manifest["policies"]["methods"]["legacy"];
    let all = aliases(manifest);
    let names = ["GET", "POST", "PUT", "DELETE", "PATCH"];
    let is_in = |name: &str| opted == "*" || opted.as_array().is_some_and(|list| list.iter().any(|one| one == name));
    let closed = names.into_iter().find(|name| !is_in(name) && !all.iter().any(|(from, _)| from == name));
    let method = closed.ok_or_else(|| Shortfall::skip("every method of HTTP has an alias or was opted into"))?;
    // A policy may disallow it by name as well, which is told with 405.
    peer.ask(Draft::new(method, NOWHERE)).await?.expect(&[405, 459])
}
