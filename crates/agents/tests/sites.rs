//! `search` over sites of the web: visits, refreshes and settings.
#![allow(missing_docs)]

mod support;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::response::Html;
use axum::routing::get;
use forecourt_agents::limits::{REFRESH_MINUTES_MAX, SITE_DEPTH_MAX, SITE_PAGES_MAX, SITES_MAX};
use forecourt_agents::{Built, Context, Indexed};
use forecourt_core::Part;
use forecourt_egress::{Egress, EgressConfig};
use forecourt_testkit::HandClock;
use support::{ask, build, in_folder, problems};

/// A site of one page, which says what it was last told to.
struct Site {
    origin: String,
    page: Arc<Mutex<String>>,
    asked: Arc<AtomicUsize>,
}

async fn site() -> Site {
    let (page, asked) = (Arc::new(Mutex::new(String::new())), Arc::new(AtomicUsize::new(0)));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let answer = |State((page, asked)): State<(Arc<Mutex<String>>, Arc<AtomicUsize>)>| async move {
        asked.fetch_add(1, Ordering::SeqCst);
        Html(page.lock().unwrap().clone())
    };
    let app = Router::new().route("/", get(answer)).with_state((page.clone(), asked.clone()));
    tokio::spawn(async move { axum::serve(listener, app).await });
    Site { origin, page, asked }
}

impl Site {
    fn says(&self, name: &str) {
        *self.page.lock().unwrap() = format!("<title>{name}</title><p>All about {name}.");
    }
}

/// A deployment for which loopback is opened, and its clock.
fn deployment(folder: &Path) -> (Context, Arc<HandClock>) {
    let allow = vec!["127.0.0.0/8".parse().unwrap()];
    let egress = EgressConfig { allow, allow_http: true, ..EgressConfig::default() };
    let clock = Arc::new(HandClock::new());
    let context = in_folder(folder);
    (Context { egress: Egress::builder(egress).build().unwrap(), clock: clock.clone(), ..context }, clock)
}

fn settings(origin: &str) -> String {
    format!(
        "[backend]\nkind = \"search\"\nrefresh_minutes = 60\n\
         [[backend.sites]]\nurl = \"{origin}/\"\nread = \"pages\"\ndelay_seconds = 0\n"
    )
}

async fn index(built: &Built) -> Indexed {
    let indexing = built.indexing.clone().unwrap();
    tokio::task::spawn_blocking(move || indexing.index(&mut |_| {})).await.unwrap().unwrap()
}

fn is_current(built: &Built) -> bool {
    let indexing = built.indexing.as_ref().unwrap();
    indexing.is_current(indexing.fingerprint().unwrap())
}

#[tokio::test]
async fn a_site_is_visited_when_it_is_due_or_wanted() {
    let (folder, site) = (tempfile::tempdir().unwrap(), site().await);
    let (context, clock) = deployment(folder.path());
    let built = build(&settings(&site.origin), &context);
    site.says("Lighthouses");
    assert!(!is_current(&built));
    let indexed = index(&built).await;
    assert_eq!((indexed.items, indexed.loaded, indexed.skipped), (1, 1, 0), "{:?}", indexed.warnings);
    assert!(is_current(&built));
    let answer = ask(&built, "lighthouses").await;
    let item = answer.parts.iter().find_map(|part| match part {
        Part::Data(data) => Some(&data.data),
        _ => None,
    });
    assert_eq!(item.unwrap()["grounding"]["source_urls"][0], format!("{}/", site.origin));
    site.says("Windmills");
    assert_eq!(index(&built).await.unchanged, 1, "it is not due yet");
    assert_eq!(site.asked.load(Ordering::SeqCst), 1);
    built.indexing.as_ref().unwrap().fetch_again();
    let wanted = index(&built).await;
    assert_eq!((wanted.updated, wanted.items), (1, 1));
    clock.advance(Duration::from_secs(3_599));
    assert!(is_current(&built));
    clock.advance(Duration::from_secs(1));
    assert!(!is_current(&built));
    index(&built).await;
    assert!(is_current(&built));
    assert_eq!(site.asked.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_site_that_is_closed_to_us_says_so_and_leaves_the_files() {
    let (folder, site) = (tempfile::tempdir().unwrap(), site().await);
    std::fs::write(folder.path().join("a.jsonl"), "{\"name\": \"Apples\"}\n").unwrap();
    let toml = settings(&site.origin).replace("refresh_minutes", "content = [\"a.jsonl\"]\nrefresh_minutes");
    let built = build(&toml, &in_folder(folder.path()));
    let indexed = index(&built).await;
    assert_eq!((indexed.items, indexed.skipped), (1, 1));
    assert!(indexed.warnings[0].contains("refused"), "{:?}", indexed.warnings);
    assert!(is_current(&built), "it is tried again when it is due");
    assert_eq!(site.asked.load(Ordering::SeqCst), 0);
}

#[test]
fn settings_of_sites_are_checked() {
    let fine = "url = \"https://e.org/\"\nread = \"pages\"\n";
    let one = |more: &str| format!("[backend]\nkind = \"search\"\n[[backend.sites]]\n{more}");
    let bad_url = "url = \"ftp://e.org/\"\nread = \"pages\"\n";
    let secret = "url = \"https://a:b@e.org/\"\nread = \"pages\"\n";
    let with = |key: &str, value: String| format!("{fine}{key} = {value}\n");
    for (more, wanted) in [
        (bad_url.to_owned(), "whole https:// URL"),
        (secret.to_owned(), "without a password"),
        ("url = \"https://e.org/\"\nread = \"everything\"\n".to_owned(), "sitemap"),
        (with("pages", "0".to_owned()), "`pages` must be"),
        (with("pages", (SITE_PAGES_MAX + 1).to_string()), "`pages` must be"),
        (with("depth", (SITE_DEPTH_MAX + 1).to_string()), "`depth` must be"),
        (with("delay_seconds", "60.5".to_owned()), "`delay_seconds` must be"),
        (with("delay_seconds", "-1.0".to_owned()), "`delay_seconds` must be"),
    ] {
        let said = problems(&one(&more));
        assert!(said.contains(wanted), "{said}");
    }
    let refresh =
        |minutes: u64| format!("[backend]\nkind = \"search\"\ncontent = [\"a\"]\nrefresh_minutes = {minutes}\n");
    assert!(problems(&refresh(0)).contains("`refresh_minutes` must be"));
    assert!(problems(&refresh(REFRESH_MINUTES_MAX + 1)).contains("`refresh_minutes` must be"));
    let folder = tempfile::tempdir().unwrap();
    let (context, _) = deployment(folder.path());
    build(&refresh(REFRESH_MINUTES_MAX), &context);
    let many =
        |count: usize| format!("[backend]\nkind = \"search\"\n{}", format!("[[backend.sites]]\n{fine}").repeat(count));
    build(&many(SITES_MAX), &context);
    assert!(problems(&many(SITES_MAX + 1)).contains("`sites` must be"));
    build(&one(&with("pages", SITE_PAGES_MAX.to_string())), &context);
}
