//! The files that the manual shows are ones.

use std::path::Path;

use forecourt_contract::{Call, HostHandle, Refusal, ScopeSet};
use forecourt_endpoints::{Functions, Kinds, load};
use serde_json::json;

use crate::support::{alone, answer, call, caller, deployment, opened, problems, terms};
use crate::upstream::Upstream;

/// The pages about endpoints, whose files are of one deployment.
const PAGES: [&str; 4] = ["endpoints", "endpoints-python", "endpoints-service", "endpoints-composition"];

/// The files of the manual: the blocks of TOML that begin with their name.
fn files() -> Vec<(String, String)> {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/manual");
    let pages = PAGES.map(|page| std::fs::read_to_string(manual.join(page).with_extension("md")).unwrap());
    let pages = pages.concat();
    let blocks = pages.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let named =
        blocks.filter_map(|block| Some((block.lines().next()?.strip_prefix("# ")?.to_owned(), block.to_owned())));
    named.collect()
}

#[tokio::test]
async fn what_the_manual_shows_works() {
    let upstream = Upstream::answering("200 OK", r#"{"bedCount": 2}"#).await;
    let files: Vec<(String, String)> = files()
        .into_iter()
        .map(|(name, text)| (name, text.replace("https://rooms.example.com", &upstream.url(""))))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let folder = deployment(&files);
    let functions = Functions::new()
        .with("rooms.book", |call| async move { Ok(json!({"reservation_id": "r-1", "nights": call.input["nights"]})) });
    let environment = |name: &str| (name == "ROOMS_TOKEN").then(|| "t".to_owned());
    let loaded = {
        let kinds = Kinds { egress: opened(), functions, host: HostHandle::default() };
        alone(load(folder.path(), terms(json!({})), &environment, &kinds))
    };
    let endpoints = files.iter().filter(|(name, _)| name.starts_with("endpoints/")).count();
    assert_eq!((problems(&loaded), loaded.dispatcher.registry.len()), (Vec::new(), endpoints));

    let reserve = || call("RESERVE", "/weekends/7", json!({"guest": "Ada"}));
    assert!(matches!(answer(&loaded, reserve()).await, Err(Refusal::Scope { .. })));
    let allowed = Call { caller: caller("booking:room"), ..reserve() };
    let allowed = allowed.claiming(ScopeSet::parse_list("booking:room").unwrap());
    let merged = json!({"beds": 2, "reservation_id": "r-1", "nights": 2});
    assert_eq!(answer(&loaded, allowed).await, Ok(merged));
    assert!(upstream.request().0.starts_with("GET /v1/rooms/7 "));
}
