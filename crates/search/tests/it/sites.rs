//! `search` over sites of the web: visits, refreshes and settings.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::response::Html;
use axum::routing::get;
use forecourt_agents::{BuiltAgent, Context, FetchSummary, IndexReport, IndexedContent};
use forecourt_core::Part;
use forecourt_egress::{Egress, EgressConfig};
use forecourt_search::limits::{REFRESH_MINUTES_MAX, SITE_DEPTH_MAX, SITE_PAGES_MAX, SITES_MAX};
use forecourt_testkit::HandClock;

use crate::support::{ask, build, in_folder, problems};

/// A site of one page, which says what it was last told to.
struct Site {
    origin: String,
    page: Arc<Mutex<String>>,
    asked: Arc<AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
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
    let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    Site { origin, page, asked, task }
}

impl Site {
    /// Answers no more.
    fn stops(&self) {
        self.task.abort();
    }

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

/// Visits the sites if that is due, as the daemon does, and indexes what there is.
async fn look(built: &BuiltAgent) -> (FetchSummary, IndexReport) {
    let indexing = built.indexing.clone().unwrap();
    let work = move || {
        let fetched = if indexing.is_due() { visit(&*indexing) } else { FetchSummary::default() };
        (fetched, indexing.index(&mut |_| {}).unwrap())
    };
    tokio::task::spawn_blocking(work).await.unwrap()
}

fn visit(indexing: &dyn IndexedContent) -> FetchSummary {
    indexing.fetch(&mut |_| {}, &|| false).unwrap()
}

async fn index(built: &BuiltAgent) -> IndexReport {
    look(built).await.1
}

fn is_due(built: &BuiltAgent) -> bool {
    built.indexing.as_ref().unwrap().is_due()
}

fn is_current(built: &BuiltAgent) -> bool {
    let indexing = built.indexing.as_ref().unwrap();
    indexing.is_current(indexing.fingerprint().unwrap())
}

#[tokio::test]
async fn a_site_is_visited_when_it_is_due_or_wanted() {
    let (folder, site) = (tempfile::tempdir().unwrap(), site().await);
    let (context, clock) = deployment(folder.path());
    let built = build(&settings(&site.origin), &context);
    site.says("Lighthouses");
    assert!(is_due(&built));
    let still = ask(&built, "lighthouses").await;
    assert!(format!("{:?}", still.ending).contains("still reading"), "{:?}", still.ending);
    let indexed = index(&built).await;
    assert_eq!((indexed.items, indexed.loaded, indexed.skipped), (1, 1, 0), "{:?}", indexed.warnings);
    assert!(is_current(&built) && !is_due(&built));
    let answer = ask(&built, "lighthouses").await;
    let item = answer.parts.iter().find_map(|part| match part {
        Part::Data(data) => Some(&data.data),
        _ => None,
    });
    assert_eq!(item.unwrap()["grounding"]["source_urls"][0], format!("{}/", site.origin));
    site.says("Windmills");
    assert_eq!(index(&built).await.unchanged, 1, "it is not due yet");
    assert_eq!(site.asked.load(Ordering::SeqCst), 1);
    let indexing = built.indexing.clone().unwrap();
    let wanted = tokio::task::spawn_blocking(move || visit(&*indexing)).await.unwrap();
    assert_eq!((wanted.pages, wanted.unchanged, wanted.items), (1, 0, 1));
    assert!(!is_current(&built), "the visit has changed a file");
    let indexed = index(&built).await;
    assert_eq!((indexed.updated, indexed.items), (1, 1));
    clock.advance(Duration::from_secs(3_599));
    assert!(is_current(&built) && !is_due(&built));
    clock.advance(Duration::from_secs(1));
    assert!(is_current(&built) && is_due(&built));
    index(&built).await;
    assert!(!is_due(&built));
    assert_eq!(site.asked.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_site_that_is_closed_to_us_says_so_and_leaves_the_files() {
    let (folder, site) = (tempfile::tempdir().unwrap(), site().await);
    std::fs::write(folder.path().join("a.jsonl"), "{\"name\": \"Apples\"}\n").unwrap();
    let toml = settings(&site.origin).replace("refresh_minutes", "content = [\"a.jsonl\"]\nrefresh_minutes");
    let built = build(&toml, &in_folder(folder.path()));
    let (fetched, indexed) = look(&built).await;
    assert_eq!((indexed.items, fetched.skipped), (1, 1));
    assert!(fetched.warnings[0].contains("refused"), "{:?}", fetched.warnings);
    assert!(!is_due(&built), "it is tried again when it is due");
    assert_eq!(site.asked.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn several_sites_of_one_agent_all_count_and_items_can_be_asked_for_by_site() {
    let (folder, [one, other]) = (tempfile::tempdir().unwrap(), [site().await, site().await]);
    let (context, _) = deployment(folder.path());
    one.says("Lighthouses");
    other.says("Windmills");
    let second = settings(&other.origin).split_once("[[").unwrap().1.to_owned();
    let built = build(&format!("{}[[{second}", settings(&one.origin)), &context);
    let (fetched, indexed) = look(&built).await;
    assert_eq!((fetched.pages, fetched.items, indexed.items), (2, 2, 2), "{:?}", fetched.warnings);
    let text = ask(&built, "windmills").await.text();
    assert!(text.contains(&other.origin) && !text.contains(&one.origin), "{text}");
    other.stops();
    let indexing = built.indexing.clone().unwrap();
    let again = tokio::task::spawn_blocking(move || visit(&*indexing)).await.unwrap();
    assert_eq!((again.pages, again.skipped), (1, 1), "{:?}", again.warnings);
    assert_eq!(index(&built).await.items, 2, "one site that fails takes nothing away, and not the other");
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
