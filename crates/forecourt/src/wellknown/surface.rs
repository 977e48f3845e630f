//! The routes: the only file that knows the web framework.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::any;
use forecourt_host::Host;
use forecourt_pages::Pages;
use forecourt_surface::document::{DocumentError, ServedDocument, answer};
use forecourt_surface::{BaseUrl, HttpRoutes, Mount};
use http::HeaderValue;
use http::header::LINK;

use super::limits::FRESH;
use super::listing::SiteListing;
use super::public::public_file;
use super::robots::robots;
use super::sitemap::sitemap;
use super::{ai_catalog, api_catalog, llms};
use crate::crawl::{self, Crawl, LICENSE_PATH, LICENSE_TYPE};

const ROBOTS_PATH: &str = "/robots.txt";
const LLMS_PATH: &str = "/llms.txt";
const SITEMAP_PATH: &str = "/sitemap.xml";
const SECURITY_PATH: &str = "/.well-known/security.txt";
const PLAIN: &str = "text/plain; charset=utf-8";
const XML: &str = "application/xml; charset=utf-8";

/// What the handlers share.
struct WellKnown {
    host: Arc<Host>,
    /// Which pages there are, and who may list them.
    pages: Arc<Pages>,
    /// The operator's own files.
    robots: Option<String>,
    llms: Option<String>,
    security: Option<String>,
    license: Option<String>,
    /// What the rules say to crawlers.
    crawl: Arc<Crawl>,
}

/// The routes. The operator's files are read once: a deployment that is read again reads them again.
pub(crate) fn routes(mount: &Mount) -> HttpRoutes {
    let own = |name| public_file(&mount.folder, name);
    let (robots, llms, security) = (own("robots.txt"), own("llms.txt"), own("security.txt"));
    let license = own("license.xml");
    let crawl = mount.services.get::<Crawl>().unwrap_or_default();
    let (host, pages) = (mount.host.clone(), mount.pages.clone());
    let shared = Arc::new(WellKnown { host, pages, robots, llms, security, license, crawl });
    let paths =
        vec![ROBOTS_PATH, LLMS_PATH, LICENSE_PATH, SITEMAP_PATH, SECURITY_PATH, api_catalog::PATH, ai_catalog::PATH];
    let router = paths.iter().fold(Router::new(), |router, path| router.route(path, any(on_document)));
    HttpRoutes { paths, router: router.with_state(shared) }
}

async fn on_document(State(shared): State<Arc<WellKnown>>, request: Request) -> Response<Body> {
    let base = BaseUrl::of(shared.host.site(), request.extensions());
    let path = request.uri().path();
    let mut response = answer(request.method(), request.headers(), || shared.document(path, base));
    if path == api_catalog::PATH
        && let Ok(link) = HeaderValue::from_str(&format!("<{}>; rel=\"api-catalog\"", base.url(path)))
    {
        // RFC 9727 3.1: a HEAD tells as much.
        response.headers_mut().insert(LINK, link);
    }
    response
}

impl WellKnown {
    /// Whether search engines may list pages of this site.
    fn is_listed(&self) -> bool {
        self.pages.branding.is_indexed()
    }

    fn document(&self, path: &str, base: BaseUrl<'_>) -> Result<ServedDocument, DocumentError> {
        let listing = || SiteListing::of(&self.host, base);
        let plain = |text: String| Ok(ServedDocument::new(PLAIN, FRESH, text));
        match path {
            ROBOTS_PATH => plain(self.robots.clone().unwrap_or_else(|| {
                let sitemap = self.is_listed().then(|| base.url(SITEMAP_PATH));
                robots(&self.crawl.terms, &base.url(""), sitemap.as_deref())
            })),
            LLMS_PATH => plain(self.llms.clone().unwrap_or_else(|| llms::llms_txt(&listing(), &self.crawl.terms))),
            LICENSE_PATH => match &self.license {
                Some(own) => Ok(ServedDocument::new(LICENSE_TYPE, FRESH, own.clone())),
                None if self.crawl.terms.is_empty() => Err(DocumentError::Absent("this host publishes no licence")),
                None => {
                    let listing = listing();
                    let agents = listing.agents.iter().map(|card| card.handle());
                    let xml = crawl::license(&self.crawl.terms, &base.url(""), agents);
                    Ok(ServedDocument::new(LICENSE_TYPE, FRESH, xml))
                }
            },
            SITEMAP_PATH if self.is_listed() => {
                Ok(ServedDocument::new(XML, FRESH, sitemap(&listing(), self.pages.has_manual)))
            }
            SITEMAP_PATH => Err(DocumentError::Absent("this host lists no pages for search engines")),
            SECURITY_PATH => match &self.security {
                Some(text) => plain(text.clone()),
                None => Err(DocumentError::Absent("this host publishes no security.txt")),
            },
            api_catalog::PATH => {
                ServedDocument::json(api_catalog::MEDIA_TYPE, FRESH, &api_catalog::api_catalog(&listing()))
            }
            _ => ServedDocument::json(ai_catalog::MEDIA_TYPE, FRESH, &ai_catalog::ai_catalog(&listing())),
        }
    }
}
