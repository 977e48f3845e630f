//! The manual as pages of this host, under `/manual/`: what links in the answers of a guide lead to. HTML for who
//! takes it, the markdown itself for others.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::any;
use forecourt_host::Host;
use forecourt_pages::{Branding, ManualGroup, ManualLink, ManualPage, Pages, csp};
use forecourt_surface::document::{DocumentError, ServedDocument, answer};
use forecourt_surface::{BaseUrl, HttpRoutes, Mount};
use http::header::{ACCEPT, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName};
use http::{HeaderMap, HeaderValue};

use crate::manual::{ManualPageText, drawing, groups, pages};

const INDEX_PATH: &str = "/manual/";
const SHORT_PATH: &str = "/manual";
static X_ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");
const PAGE_PATH: &str = "/manual/{page}";
/// The handle of an agent whose content is the manual.
const GUIDE: &str = "guide";
/// How long others may keep a page. It changes with the program alone.
const FRESH: Duration = Duration::from_secs(3_600);
const HTML: &str = "text/html; charset=utf-8";
const MARKDOWN: &str = "text/markdown; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// The routes.
pub(crate) fn routes(mount: &Mount) -> HttpRoutes {
    if !mount.pages.has_manual {
        return HttpRoutes { paths: Vec::new(), router: Router::new() };
    }
    let paths = vec![INDEX_PATH, SHORT_PATH, PAGE_PATH];
    let router = paths.iter().fold(Router::new(), |router, path| router.route(path, any(on_page)));
    let policy = HeaderValue::from_str(&mount.pages.branding.manual_policy()).ok();
    let manual = Manual { host: mount.host.clone(), pages: mount.pages.clone(), policy };
    HttpRoutes { paths, router: router.with_state(manual) }
}

#[derive(Clone)]
struct Manual {
    host: Arc<Host>,
    pages: Arc<Pages>,
    /// What a browser may do with a page.
    policy: Option<HeaderValue>,
}

async fn on_page(State(Manual { host, pages, policy }): State<Manual>, request: Request) -> Response<Body> {
    let base = BaseUrl::of(host.site(), request.extensions());
    let (path, headers) = (request.uri().path(), request.headers());
    let url = base.url(path);
    let guide = guide(&host).map(|handle| pages.branding.path(&format!("/~{handle}")));
    let mut response = answer(request.method(), headers, || {
        document(path, &url, takes_html(headers), guide.as_deref(), &pages.branding)
    });
    let kind = response.headers().get(CONTENT_TYPE).cloned();
    if kind.as_ref().is_some_and(|kind| kind == SVG) {
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(csp::PICTURE));
    }
    if kind.is_some_and(|kind| kind == HTML) {
        let head = response.headers_mut();
        if let Some(policy) = policy {
            head.insert(CONTENT_SECURITY_POLICY, policy);
        }
        head.insert(&X_ROBOTS_TAG, HeaderValue::from_static(pages.branding.robots()));
        for (name, value) in csp::HEADERS {
            head.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
    }
    response
}

/// The agent that answers from the manual, as starters and examples call it.
fn guide(host: &Host) -> Option<String> {
    let guide = host.directory().iter().find(|agent| agent.card.finds && agent.card.handle().as_str() == GUIDE);
    guide.map(|agent| agent.card.handle().to_string())
}

/// Whether a caller takes HTML: it names it, as browsers do.
fn takes_html(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.into_iter().any(|value| value.contains("text/html"))
}

fn document(
    path: &str,
    url: &str,
    html: bool,
    guide: Option<&str>,
    brand: &Branding,
) -> Result<ServedDocument, DocumentError> {
    let name = path.strip_prefix(INDEX_PATH).unwrap_or_default();
    if let Some(svg) = drawing(name) {
        return Ok(ServedDocument::new(SVG, FRESH, svg));
    }
    let name = name.strip_suffix(".md").unwrap_or(name);
    let markdown = match name {
        "" => index(brand),
        name => {
            linked(pages().find(|page| page.name == name).ok_or(DocumentError::Absent("no such page"))?.text, brand)
        }
    };
    let document = match html {
        false => ServedDocument::new(MARKDOWN, FRESH, markdown),
        true => {
            let link = |page: ManualPageText| ManualLink { name: page.name, title: page.title };
            let groups: Vec<ManualGroup<'_>> =
                groups().map(|(title, pages)| ManualGroup { title, pages: pages.map(link).collect() }).collect();
            let page = ManualPage { name, markdown: &markdown, url, groups: &groups, guide, brand };
            ServedDocument::new(HTML, FRESH, page.render())
        }
    };
    // The same URL is HTML or markdown: a cache must not give one for the other.
    Ok(document.varying_by("Accept"))
}

/// All pages as a list.
fn index(brand: &Branding) -> String {
    let link = |page: ManualPageText| format!("- [{}]({}{})\n", page.title, brand.path(INDEX_PATH), page.name);
    let list = groups().map(|(subject, pages)| format!("\n## {subject}\n\n{}", pages.map(link).collect::<String>()));
    format!("# Manual\n{}", list.collect::<String>())
}

/// A page whose links lead to pages here, not to files of the source.
fn linked(text: &str, brand: &Branding) -> String {
    let here = format!("]({}", brand.path(INDEX_PATH));
    // Of one page the file has another name.
    let text = text.replace("](../reference/config.md", &format!("{here}configuration"));
    let text = text.replace("](../pictures/", &here);
    let text = pages().fold(text, |text, page| {
        let to = format!("{here}{}", page.name);
        // Pages of the manual and of the reference name each other by their folders.
        ["](", "](../manual/", "](../reference/"]
            .iter()
            .fold(text, |text, from| text.replace(&format!("{from}{}.md", page.name), &to))
    });
    // What is left is the list of them.
    text.replace("](../manual/", &here)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(path: &str, html: bool) -> Result<String, DocumentError> {
        let document = document(path, "https://h.example/", html, None, &Branding::default())?;
        Ok(String::from_utf8_lossy(document.body()).into_owned())
    }

    #[test]
    fn every_page_is_served_and_its_links_lead_to_pages() {
        let index = served("/manual/", true).unwrap();
        for page in pages() {
            assert!(index.contains(&format!("href=\"/manual/{}\"", page.name)), "{}", page.name);
            let html = served(&format!("/manual/{}", page.name), true).unwrap();
            assert_eq!(Ok(html.clone()), served(&format!("/manual/{}.md", page.name), true));
            for link in html.split("href=\"/manual/").skip(1) {
                let to = link.split(['"', '#']).next().unwrap_or_default();
                assert!(to.is_empty() || pages().any(|page| page.name == to), "{}: /manual/{to}", page.name);
            }
            assert!(!html.contains(".md\"") && !html.contains(".md#"), "{}", page.name);
            assert!(!html.contains("href=\"../"), "{}: a link to a file of the repository", page.name);
        }
        assert_eq!(served("/manual/nothing", true), Err(DocumentError::Absent("no such page")));
        assert!(served("/manual/operating", false).unwrap().starts_with("# Operating"));
    }

    #[test]
    fn every_drawing_that_a_page_shows_is_served() {
        let mut shown = 0;
        for page in pages() {
            for name in page.text.split("](").skip(1).filter_map(|link| link.split(')').next()) {
                if !name.ends_with(".svg") {
                    continue;
                }
                let name = name.trim_start_matches("../pictures/");
                let text = served(&format!("/manual/{name}"), true).unwrap();
                assert!(text.starts_with("<svg ") && text.contains("prefers-color-scheme: dark"), "{name}");
                // Names of classes alone would leave nothing to read aloud, to search and to copy.
                assert!(text.contains("<text ") && text.contains("aria-label"), "{name}");
                shown += 1;
            }
        }
        assert!(shown >= 4, "{shown}");
    }
}
