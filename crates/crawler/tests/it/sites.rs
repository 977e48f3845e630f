//! Sites as a visitor meets them: a scripted server on loopback, which the way out is opened for.

use std::collections::HashMap;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use flate2::Compression;
use flate2::write::GzEncoder;
use forecourt_crawler::limits::{
    PAGE_BYTES_MAX, PAGE_FAILURES_MAX, PAGE_REDIRECTS_MAX, ROBOTS_BYTES_MAX, UNPACKED_BYTES_MAX, VISIT_TIME_MAX,
};
use forecourt_crawler::{Hosts, SiteRead, Visit, Visitor, WebSite};
use forecourt_egress::{Egress, EgressConfig};
use forecourt_testkit::HandClock;
use serde_json::Value;
use url::Url;

/// What the server says for each path: a status, a media type, a body, and further fields.
type Script = HashMap<String, (u16, &'static str, Vec<u8>, Vec<(&'static str, String)>)>;

#[derive(Default)]
struct Scripted {
    script: Script,
    asked: Vec<String>,
}

struct Web {
    origin: String,
    state: Arc<Mutex<Scripted>>,
    dir: tempfile::TempDir,
    visitor: Visitor,
}

async fn answer(State(state): State<Arc<Mutex<Scripted>>>, request: Request) -> (StatusCode, HeaderMap, Vec<u8>) {
    let mut state = state.lock().unwrap();
    let path = request.uri().path_and_query().unwrap().to_string();
    let condition = request.headers().get("if-none-match").map(|tag| tag.to_str().unwrap().to_owned());
    state.asked.push(path.clone());
    let Some((status, mime, body, more)) = state.script.get(&path).cloned() else {
        return (StatusCode::NOT_FOUND, HeaderMap::new(), Vec::new());
    };
    let mut headers = HeaderMap::new();
    headers.insert("content-type", mime.parse().unwrap());
    for (name, value) in &more {
        headers.insert(*name, value.parse().unwrap());
    }
    let is_known = condition.is_some_and(|tag| more.iter().any(|(name, value)| *name == "etag" && *value == tag));
    match is_known {
        true => (StatusCode::NOT_MODIFIED, headers, Vec::new()),
        false => (StatusCode::from_u16(status).unwrap(), headers, body),
    }
}

impl Web {
    async fn new() -> Self {
        let networks = vec!["127.0.0.0/8".parse().unwrap()];
        Self::with(EgressConfig { allow: networks, allow_http: true, ..EgressConfig::default() }).await
    }

    async fn with(config: EgressConfig) -> Self {
        let state = Arc::new(Mutex::new(Scripted::default()));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let app = Router::new().fallback(answer).with_state(state.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        let egress = Egress::builder(config).build().unwrap();
        let visitor = Visitor { egress, clock: Arc::new(HandClock::default()), hosts: Hosts::default() };
        Self { origin, state, dir: tempfile::tempdir().unwrap(), visitor }
    }

    fn put(&self, path: &str, mime: &'static str, body: impl Into<Vec<u8>>) {
        self.script(path, 200, mime, body, &[]);
    }

    fn script(
        &self,
        path: &str,
        status: u16,
        mime: &'static str,
        body: impl Into<Vec<u8>>,
        more: &[(&'static str, &str)],
    ) {
        let more = more.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        self.state.lock().unwrap().script.insert(path.to_owned(), (status, mime, body.into(), more));
    }

    fn page(&self, path: &str, name: &str, links: &[&str]) {
        let links: String = links.iter().map(|link| format!("<a href='{link}'>x</a>")).collect();
        let html = format!("<title>{name}</title><p>About {name}.</p>{links}");
        self.script(path, 200, "text/html", html, &[("etag", &format!("\"{name}\""))]);
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("site.jsonl")
    }

    async fn visit(&self, path: &str, read: SiteRead) -> Visit {
        self.visit_as(
            |url| WebSite { url, read, pages_max: 100, depth_max: 3, delay: Duration::ZERO, time_max: VISIT_TIME_MAX },
            path,
        )
        .await
    }

    async fn visit_as(&self, site: impl FnOnce(Url) -> WebSite, path: &str) -> Visit {
        self.state.lock().unwrap().asked.clear();
        let site = site(Url::parse(&format!("{}{path}", self.origin)).unwrap());
        self.visitor.visit(&site, &self.file(), &mut |_| {}, &|| false).await.unwrap()
    }

    fn items(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.file()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn names(&self) -> Vec<String> {
        self.items().iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
    }

    fn asked(&self) -> Vec<String> {
        self.state.lock().unwrap().asked.clone()
    }
}

fn sitemap(urls: &[&str]) -> String {
    let urls: String = urls.iter().map(|url| format!("<url><loc>{url}</loc></url>")).collect();
    format!("<?xml version='1.0'?><urlset>{urls}</urlset>")
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn pages_are_found_by_links_and_say_where_they_are_from() {
    let web = Web::new().await;
    web.page("/", "Home", &["a", "/b#part", "https://elsewhere.example/", "mailto:x@e.org", "/pic.jpg"]);
    web.page("/a", "Apples", &["/", "/b", "/c"]);
    web.page("/b", "Pears", &[]);
    web.page("/c", "Plums", &[]);
    let visit = web.visit("/", SiteRead::Pages).await;
    assert_eq!((visit.pages, visit.skipped, visit.gave_up), (4, 0, false), "{:?}", visit.reasons);
    assert_eq!(web.names(), ["Home", "Apples", "Pears", "Plums"]);
    assert_eq!(web.asked(), ["/robots.txt", "/", "/a", "/b", "/c"]);
    let apples = &web.items()[1];
    assert_eq!(apples["grounding"]["source_urls"][0], format!("{}/a", web.origin));
    assert!(apples["grounding"]["fetched_at"].is_string());
}

#[tokio::test]
async fn what_has_not_changed_is_not_sent_again_and_what_is_gone_goes() {
    let web = Web::new().await;
    web.page("/", "Home", &["/a", "/b"]);
    web.page("/a", "Apples", &["/c"]);
    web.page("/b", "Pears", &[]);
    web.page("/c", "Plums", &[]);
    web.visit("/", SiteRead::Pages).await;
    let before = std::fs::metadata(web.file()).unwrap().modified().unwrap();
    let again = web.visit("/", SiteRead::Pages).await;
    assert_eq!((again.pages, again.unchanged), (4, 4));
    assert_eq!(std::fs::metadata(web.file()).unwrap().modified().unwrap(), before);
    web.script("/b", 410, "text/html", "", &[]);
    web.page("/a", "Apples", &[]);
    web.script("/a", 200, "text/html", "<title>Apricots</title>", &[]);
    let last = web.visit("/", SiteRead::Pages).await;
    assert_eq!(web.names(), ["Home", "Apricots"], "one page is gone, and one is linked no more");
    assert!(last.reasons[0].contains("410"), "{:?}", last.reasons);
}

#[tokio::test]
async fn a_page_that_fails_once_stays_and_a_site_that_fails_stays_whole() {
    let web = Web::new().await;
    let names: Vec<String> = (0..PAGE_FAILURES_MAX + 5).map(|n| format!("/{n}")).collect();
    web.page("/", "Home", &names.iter().map(String::as_str).collect::<Vec<_>>());
    names.iter().for_each(|name| web.page(name, name, &[]));
    web.visit("/", SiteRead::Pages).await;
    web.script("/0", 503, "text/html", "", &[]);
    let visit = web.visit("/", SiteRead::Pages).await;
    assert!(!visit.gave_up && visit.skipped == 1 && web.names().contains(&"/0".to_owned()));
    names.iter().for_each(|name| web.script(name, 500, "text/html", "", &[]));
    let visit = web.visit("/", SiteRead::Pages).await;
    assert!(visit.gave_up);
    assert_eq!(web.asked().len(), 2 + PAGE_FAILURES_MAX);
    assert_eq!(web.names().len(), names.len() + 1);
    web.script("/robots.txt", 500, "text/plain", "", &[]);
    let visit = web.visit("/", SiteRead::Pages).await;
    assert!(visit.gave_up && visit.reasons[0].contains("robots.txt"));
    assert_eq!((web.asked().len(), web.names().len()), (1, names.len() + 1));
}

#[tokio::test]
async fn robots_are_heeded_on_redirects_too() {
    let web = Web::new().await;
    web.put("/robots.txt", "text/plain", "User-agent: *\nDisallow: /private\nAllow: /private/open");
    web.page("/", "Home", &["/private/a", "/private/open", "/moved"]);
    web.page("/private/a", "Secret", &[]);
    web.page("/private/open", "Open", &[]);
    web.script("/moved", 302, "text/html", "", &[("location", "/private/a")]);
    let visit = web.visit("/", SiteRead::Pages).await;
    assert_eq!(web.names(), ["Home", "Open"]);
    assert!(!web.asked().contains(&"/private/a".to_owned()));
    assert_eq!(visit.skipped, 2, "{:?}", visit.reasons);
}

#[tokio::test]
async fn redirects_stay_on_the_site_and_end() {
    let web = Web::new().await;
    let other = Web::new().await;
    other.page("/", "Elsewhere", &[]);
    let far: Vec<String> = (0..=PAGE_REDIRECTS_MAX).map(|n| format!("/far{n}")).collect();
    web.page("/", "Home", &["/off", "/metadata", "/loop", "/far1", "/far0"]);
    web.script("/off", 301, "text/html", "", &[("location", &other.origin)]);
    web.script("/metadata", 302, "text/html", "", &[("location", "http://169.254.169.254/")]);
    web.script("/loop", 302, "text/html", "", &[("location", "/loop")]);
    for (at, path) in far.iter().enumerate() {
        web.script(path, 307, "text/html", "", &[("location", &format!("/far{}", at + 1))]);
    }
    web.page(&format!("/far{}", PAGE_REDIRECTS_MAX + 1), "Far", &[]);
    let visit = web.visit("/", SiteRead::Pages).await;
    assert_eq!(web.names(), ["Home", "Far"]);
    assert_eq!(visit.skipped, 4, "{:?}", visit.reasons);
    assert!(other.asked().is_empty());
}

#[tokio::test]
async fn sitemaps_lead_to_sitemaps_and_pages() {
    let web = Web::new().await;
    let here = |path: &str| format!("{}{path}", web.origin);
    let index = format!(
        "<sitemapindex><sitemap><loc>{}</loc></sitemap><sitemap><loc>/2.xml</loc></sitemap><sitemap><loc>/index.xml</loc>\
         </sitemap><sitemap><loc>https://elsewhere.example/s.xml</loc></sitemap></sitemapindex>",
        here("/1.xml.gz")
    );
    web.put("/index.xml", "application/xml", index);
    web.put("/1.xml.gz", "application/gzip", packed(sitemap(&[&here("/a"), "https://elsewhere.example/x"]).as_bytes()));
    web.put("/2.xml", "text/xml; charset=utf-8", sitemap(&[&here("/b"), "/a"]));
    web.page("/a", "Apples", &["/not-followed"]);
    web.page("/b", "Pears", &[]);
    let visit = web.visit("/index.xml", SiteRead::Sitemap).await;
    assert_eq!(web.names(), ["Apples", "Pears"]);
    assert_eq!((visit.pages, visit.skipped, visit.gave_up), (2, 2, false), "{:?}", visit.reasons);
}

#[tokio::test]
async fn sitemaps_that_are_bombs_or_broken_take_nothing_away() {
    let web = Web::new().await;
    web.put("/s.xml", "text/xml", sitemap(&["/a"]));
    web.page("/a", "Apples", &[]);
    web.visit("/s.xml", SiteRead::Sitemap).await;
    let bomb = packed(&vec![b' '; UNPACKED_BYTES_MAX + 1]);
    for (body, reason) in
        [(bomb, "unpacked"), (b"<urlset><url><loc".to_vec(), ""), (b"\x1F\x8Bbroken".to_vec(), "unpacked")]
    {
        web.put("/s.xml", "text/xml", body);
        let visit = web.visit("/s.xml", SiteRead::Sitemap).await;
        assert!(visit.gave_up && visit.reasons[0].contains(reason), "{:?}", visit.reasons);
        assert_eq!(web.names(), ["Apples"]);
    }
}

#[tokio::test]
async fn a_sitemap_that_cannot_be_read_takes_its_pages_not_away() {
    let web = Web::new().await;
    let index = "<sitemapindex><sitemap><loc>/1.xml</loc></sitemap><sitemap><loc>/2.xml</loc></sitemap></sitemapindex>";
    web.put("/index.xml", "text/xml", index);
    web.put("/1.xml", "text/xml", sitemap(&["/a", "/b"]));
    web.put("/2.xml", "text/xml", sitemap(&["/c"]));
    ["/a", "/b", "/c"].iter().for_each(|path| web.page(path, path, &[]));
    web.visit("/index.xml", SiteRead::Sitemap).await;
    web.put("/1.xml", "text/xml", sitemap(&["/a", "/new"]));
    web.page("/new", "/new", &[]);
    for status in [503, 304] {
        web.script("/2.xml", status, "text/xml", "", &[]);
        let visit = web.visit("/index.xml", SiteRead::Sitemap).await;
        assert!(!visit.gave_up && visit.skipped == 1, "{status} {:?}", visit.reasons);
        assert_eq!((web.names().len(), visit.items), (4, 4), "{:?}", web.names());
    }
    web.put("/robots.txt", "text/plain", "user-agent: *\ndisallow: /a");
    web.visit("/index.xml", SiteRead::Sitemap).await;
    assert!(!web.names().contains(&"/a".to_owned()), "what is not to be read is not kept either");
    web.put("/robots.txt", "text/plain", "");
    web.put("/2.xml", "text/xml", sitemap(&["/c"]));
    web.visit("/index.xml", SiteRead::Sitemap).await;
    assert_eq!(web.names(), ["/a", "/new", "/c"], "what is listed no more goes when all lists are read");
}

#[tokio::test]
async fn rfc9309_2_5_a_robots_file_past_its_bound_is_not_passed_over() {
    let web = Web::new().await;
    web.page("/", "Home", &[]);
    let rules = "user-agent: *\nallow: /\n";
    let robots = |bytes: usize| format!("{rules}{}", "#".repeat(bytes - rules.len()));
    web.put("/robots.txt", "text/plain", robots(ROBOTS_BYTES_MAX));
    assert_eq!(web.visit("/", SiteRead::Pages).await.pages, 1);
    web.put("/robots.txt", "text/plain", robots(ROBOTS_BYTES_MAX + 1));
    let visit = web.visit("/", SiteRead::Pages).await;
    assert!(visit.gave_up && visit.reasons[0].contains("more than"), "{:?}", visit.reasons);
    assert_eq!((web.asked(), web.names()), (vec!["/robots.txt".to_owned()], vec!["Home".to_owned()]));
}

#[tokio::test]
async fn pages_depth_and_bytes_are_bounded() {
    let web = Web::new().await;
    (0..10).for_each(|n| web.page(&format!("/{n}"), &format!("Page {n}"), &[&format!("/{}", n + 1)]));
    let site = |depth_max, pages_max| {
        move |url| WebSite {
            url,
            read: SiteRead::Pages,
            pages_max,
            depth_max,
            delay: Duration::ZERO,
            time_max: VISIT_TIME_MAX,
        }
    };
    let near = web.visit_as(site(3, 100), "/0").await;
    assert_eq!((near.pages, near.skipped), (4, 1));
    assert!(near.reasons[0].contains("3 links away (`depth`)"), "{:?}", near.reasons);
    let all = web.visit_as(site(9, 100), "/0").await;
    assert_eq!((all.pages, all.skipped), (10, 1));
    assert!(all.reasons[0].contains("`depth`"), "the last page leads to one more: {:?}", all.reasons);
    let few = web.visit_as(site(9, 3), "/0").await;
    assert_eq!(few.pages, 3);
    assert!(few.reasons[0].contains("first 3 pages"));
    let page = |bytes: usize| format!("<title>Big</title>{}", " ".repeat(bytes - 18));
    web.put("/0", "text/html", page(PAGE_BYTES_MAX));
    assert_eq!(web.visit("/0", SiteRead::Pages).await.items, 1);
    web.put("/0", "text/html", page(PAGE_BYTES_MAX + 1));
    assert!(web.visit("/0", SiteRead::Pages).await.reasons[0].contains("more than"));
}

#[tokio::test]
async fn a_bound_is_told_before_everything_that_was_left_out() {
    let web = Web::new().await;
    let gone: Vec<String> = (0..150).map(|n| format!("/gone{n}")).collect();
    web.page("/", "Home", &gone.iter().map(String::as_str).collect::<Vec<_>>());
    let visit = web
        .visit_as(
            |url| WebSite {
                url,
                read: SiteRead::Pages,
                pages_max: 140,
                depth_max: 3,
                delay: Duration::ZERO,
                time_max: VISIT_TIME_MAX,
            },
            "/",
        )
        .await;
    assert_eq!((visit.skipped, visit.reasons.len()), (140, 100));
    assert!(visit.reasons[0].contains("only the first 140 pages are read (`pages`)"), "{}", visit.reasons[0]);
    let long = format!("/{}", "x".repeat(3_000));
    web.page("/", "Another home", &[&long]);
    let visit = web.visit("/", SiteRead::Pages).await;
    assert!(visit.reasons[0].contains("2048 bytes were not followed: 1"), "{:?}", visit.reasons);
}

#[tokio::test]
async fn the_first_pages_do_not_wait_for_the_last_sitemap() {
    let web = Web::new().await;
    let index: String = (0..5).map(|n| format!("<sitemap><loc>{}/s{n}.xml</loc></sitemap>", web.origin)).collect();
    web.put("/sitemap.xml", "application/xml", format!("<sitemapindex>{index}</sitemapindex>"));
    for n in 0..5 {
        let list = format!("<urlset><url><loc>{}/p{n}</loc></url></urlset>", web.origin);
        web.put(&format!("/s{n}.xml"), "application/xml", list);
        web.page(&format!("/p{n}"), &format!("Page {n}"), &[]);
    }
    let visit = web.visit("/sitemap.xml", SiteRead::Sitemap).await;
    assert_eq!((visit.pages, visit.skipped, visit.gave_up), (5, 0, false), "{:?}", visit.reasons);
    let asked = web.asked();
    let place = |path: &str| asked.iter().position(|asked| asked == path).unwrap();
    assert!(place("/p0") < place("/s1.xml") && place("/p1") < place("/s2.xml"), "{asked:?}");
}

#[tokio::test]
async fn one_page_under_two_addresses_is_one() {
    let web = Web::new().await;
    web.page("/", "Home", &["/x?sort=1", "/x?sort=2"]);
    ["/x?sort=1", "/x?sort=2"].iter().for_each(|path| {
        web.put(path, "text/html", "<link rel=canonical href=/x><title>X</title>");
    });
    web.visit("/", SiteRead::Pages).await;
    assert_eq!(web.names(), ["Home", "X"]);
    assert_eq!(web.items()[1]["url"], format!("{}/x", web.origin));
}

#[tokio::test]
async fn documents_are_read_in_their_format() {
    let web = Web::new().await;
    let feed = "<rss><channel><item><title>One</title><link>https://e.org/1</link></item><item><title>Tw";
    web.put("/feed", "application/rss+xml", feed);
    let visit = web.visit("/feed", SiteRead::Document).await;
    assert_eq!((web.names(), visit.skipped), (vec!["One".to_owned()], 1), "{:?}", visit.reasons);
    web.put("/items.jsonl", "application/octet-stream", "{\"name\":\"A\"}\nbroken\n{\"name\":\"B\"}\n");
    let visit = web.visit("/items.jsonl", SiteRead::Document).await;
    assert_eq!((web.names().len(), visit.skipped), (2, 1));
    web.put("/thing", "image/png", "png");
    assert!(web.visit("/thing", SiteRead::Document).await.reasons[0].contains("neither"));
    web.put("/caf", "text/html; charset=iso-8859-1", b"<title>caf\xE9</title>".to_vec());
    web.visit("/caf", SiteRead::Pages).await;
    assert_eq!(web.names(), ["café"]);
}

#[tokio::test]
async fn private_networks_are_closed_unless_they_are_opened() {
    let web = Web::with(EgressConfig::default()).await;
    web.page("/", "Home", &[]);
    let visit = web.visit("/", SiteRead::Pages).await;
    assert!(visit.gave_up && visit.reasons[0].contains("refused"), "{:?}", visit.reasons);
    assert!(web.asked().is_empty() && web.items().is_empty());
}

#[tokio::test]
async fn a_site_that_never_ends_is_left_when_the_time_is_up() {
    let web = Web::new().await;
    (0..20).for_each(|n| web.page(&format!("/{n}"), &format!("Page {n}"), &[&format!("/{}", n + 1)]));
    let within = |time_max| {
        move |url| WebSite { url, read: SiteRead::Pages, pages_max: 9, depth_max: 9, delay: Duration::ZERO, time_max }
    };
    assert_eq!(web.visit_as(within(VISIT_TIME_MAX), "/0").await.pages, 9);
    let late = web.visit_as(within(Duration::ZERO), "/0").await;
    assert!(late.gave_up && late.pages == 0 && late.reasons[0].contains("it has taken"), "{:?}", late.reasons);
    assert_eq!(web.names().len(), 9, "what is known stays");
}

#[tokio::test]
async fn an_entry_of_a_feed_says_where_it_is_and_where_it_was_read_and_goes_when_it_leaves() {
    let web = Web::new().await;
    let feed = |entries: &[&str]| {
        let entry = |name: &&str| format!("<item><title>{name}</title><link>https://blog.example/{name}</link></item>");
        format!("<rss><channel>{}</channel></rss>", entries.iter().map(entry).collect::<String>())
    };
    web.script("/feed", 200, "application/rss+xml", feed(&["a", "b"]), &[("etag", "\"1\"")]);
    web.visit("/feed", SiteRead::Document).await;
    let first = web.items();
    let sources = serde_json::json!(["https://blog.example/a", format!("{}/feed", web.origin)]);
    assert_eq!(first[0]["grounding"]["source_urls"], sources);
    let again = web.visit("/feed", SiteRead::Document).await;
    assert_eq!((again.unchanged, web.items()), (1, first));
    web.script("/feed", 200, "application/rss+xml", feed(&["b", "c"]), &[("etag", "\"2\"")]);
    web.visit("/feed", SiteRead::Document).await;
    assert_eq!(web.names(), ["b", "c"]);
    web.script("/feed", 410, "text/plain", "", &[]);
    web.visit("/feed", SiteRead::Document).await;
    assert!(web.names().is_empty());
}

#[tokio::test]
async fn a_visit_that_is_cancelled_keeps_what_was_known() {
    let one = NonZeroUsize::MIN.get();
    let web = Web::new().await;
    web.page("/", "Home", &["/a"]);
    web.page("/a", "Apples", &[]);
    web.visit("/", SiteRead::Pages).await;
    let url = Url::parse(&web.origin).unwrap();
    let site = WebSite {
        url,
        read: SiteRead::Pages,
        pages_max: 10,
        depth_max: 3,
        delay: Duration::ZERO,
        time_max: VISIT_TIME_MAX,
    };
    let pages = std::sync::atomic::AtomicUsize::new(0);
    let mut count = |visit: &Visit| pages.store(visit.pages, std::sync::atomic::Ordering::Relaxed);
    let stop = || pages.load(std::sync::atomic::Ordering::Relaxed) >= one;
    let visit = web.visitor.visit(&site, &web.file(), &mut count, &stop).await.unwrap();
    assert!(visit.gave_up && visit.pages == one);
    assert_eq!(web.names(), ["Home", "Apples"]);
}

#[tokio::test]
async fn pages_can_be_searched_before_the_visit_is_over_and_a_killed_visit_goes_on() {
    let web = Web::new().await;
    let names: Vec<String> = (0..30).map(|n| format!("/p{n}")).collect();
    web.page("/", "Home", &names.iter().map(String::as_str).collect::<Vec<_>>());
    names.iter().for_each(|name| web.page(name, &format!("Page{}", &name[2..]), &[]));
    let site = |url| WebSite {
        url,
        read: SiteRead::Pages,
        pages_max: 100,
        depth_max: 3,
        delay: Duration::ZERO,
        time_max: VISIT_TIME_MAX,
    };
    let url = Url::parse(&format!("{}/", web.origin)).unwrap();
    let mut seen = Vec::new();
    // It is stopped in the middle, as by a daemon that ends.
    let stop = std::sync::atomic::AtomicBool::new(false);
    let file = web.file();
    let mut progress = |visit: &Visit| {
        let lines = std::fs::read_to_string(&file).map_or(0, |text| text.lines().count());
        seen.push((visit.pages, lines));
        stop.store(visit.pages >= 15, std::sync::atomic::Ordering::SeqCst);
    };
    let cancel = || stop.load(std::sync::atomic::Ordering::SeqCst);
    let visit = web.visitor.visit(&site(url.clone()), &web.file(), &mut progress, &cancel).await.unwrap();
    assert!(visit.gave_up && visit.pages == 15, "{visit:?}");
    assert!(seen.iter().any(|(pages, lines)| *pages < 15 && *lines >= 10), "{seen:?}");
    assert_eq!(web.items().len(), 15);
    let rest = web.visit("/", SiteRead::Pages).await;
    assert_eq!((rest.pages, rest.resumed, rest.gave_up), (31, 15, false), "{:?}", rest.reasons);
    assert_eq!(web.asked().len(), 1 + 16, "{:?}", web.asked());
    assert_eq!(web.items().len(), 31);
    let again = web.visit("/", SiteRead::Pages).await;
    assert_eq!((again.resumed, again.unchanged), (0, 31), "what was gone on with is done");
}

#[tokio::test]
async fn servers_ask_robots_in_their_heads_too() {
    let web = Web::new().await;
    let page = |name: &str, links: &str| format!("<title>{name}</title><p>text{links}");
    let tag = |value: &'static str| vec![("x-robots-tag", value)];
    web.script("/", 200, "text/html", page("Home", "<a href=a>a</a><a href=b>b</a><a href=c>c</a>"), &[]);
    web.script("/a", 200, "text/html", page("Hidden", "<a href=d>d</a>"), &tag("noindex"));
    web.script("/b", 200, "text/html", page("Dead end", "<a href=e>e</a>"), &tag("nofollow"));
    web.script("/c", 200, "text/html", page("For others", ""), &tag("otherbot: noindex"));
    web.page("/d", "Behind", &[]);
    web.page("/e", "Never", &[]);
    web.visit("/", SiteRead::Pages).await;
    assert_eq!(web.names(), ["Home", "Dead end", "For others", "Behind"]);
}

#[tokio::test]
async fn a_server_that_asks_for_time_gets_it() {
    let web = Web::new().await;
    web.page("/", "Home", &["/busy", "/fine"]);
    web.script("/busy", 429, "text/plain", "later", &[("retry-after", "1")]);
    web.page("/fine", "Fine", &[]);
    let begun = std::time::Instant::now();
    let visit = web.visit("/", SiteRead::Pages).await;
    // It is asked once more after a second, and the next page waits for another one.
    assert!(begun.elapsed() >= Duration::from_secs(2), "{:?}", begun.elapsed());
    assert_eq!(web.asked(), ["/robots.txt", "/", "/busy", "/busy", "/fine"]);
    assert_eq!((visit.pages, visit.skipped), (2, 1));
}

#[tokio::test]
async fn documents_are_asked_for_as_robots_allow() {
    let web = Web::new().await;
    web.put("/robots.txt", "text/plain", "user-agent: *\ndisallow: /private\n");
    web.put("/private/feed.json", "application/json", "[{\"name\": \"Secret\"}]");
    web.put(
        "/feed.json",
        "application/json",
        "[{\"name\": \"Open\", \"@id\": \"https://elsewhere.example/1\", \"image\": \"/i.png\"}]",
    );
    let visit = web.visit("/private/feed.json", SiteRead::Document).await;
    assert_eq!((visit.pages, visit.skipped), (0, 1), "{:?}", visit.reasons);
    web.visit("/feed.json", SiteRead::Document).await;
    let item = web.items().remove(0);
    assert_eq!(
        item["@id"],
        format!("{}/feed.json#https://elsewhere.example/1", web.origin),
        "its id is its own here only"
    );
    assert_eq!(item["image"], format!("{}/i.png", web.origin));
}

#[tokio::test]
async fn packed_pages_are_unpacked_within_the_bound() {
    let web = Web::new().await;
    let coding = [("content-encoding", "gzip")];
    web.script("/", 200, "text/html", packed(b"<title>Home</title><p>x<a href=bomb>b</a>"), &coding);
    web.script("/bomb", 200, "text/html", packed(&vec![b'x'; PAGE_BYTES_MAX + 1]), &coding);
    let visit = web.visit("/", SiteRead::Pages).await;
    assert_eq!(web.names(), ["Home"]);
    assert!(visit.reasons[0].contains("more than"), "{:?}", visit.reasons);
}

#[tokio::test]
async fn a_page_of_text_is_its_sections() {
    let web = Web::new().await;
    let html = "<title>Help</title><main><h1>Help</h1><p>Ask us.</p><h2 id=returns>Returns</h2><p>Within 30 days, see <a href=/fees>fees</a>.</main>";
    web.put("/", "text/html", html);
    web.visit("/", SiteRead::Pages).await;
    assert_eq!(web.names(), ["Help", "Help › Returns"]);
    let item = web.items().remove(1);
    assert_eq!(item["url"], format!("{}/#returns", web.origin));
    assert_eq!(item["forecourt:section"]["markdown"], format!("Within 30 days, see [fees]({}/fees).", web.origin));
}
