//! This module says who may post from a browser, and where a callback may go: comparisons of hosts. Ports do not count
//! (Mentionable REST 8.2.1, design 7, item 14), and our own names come from configuration.

use forecourt_core::Site;
use http::header::{HOST, ORIGIN};
use http::{HeaderMap, HeaderName, Uri};
use url::Url;

static SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// Other names of a development host. Design 7, item 18.
const LOCAL_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Whether a POST comes from a page of another site, as far as a browser tells. REST 8.2.1.
/// Who is no browser sends neither field and passes.
pub fn is_cross_site(headers: &HeaderMap, site: &Site) -> bool {
    let foreign_fetch = headers.get(&SEC_FETCH_SITE).is_some_and(|value| value == "cross-site");
    let foreign_origin = headers.get_all(ORIGIN).iter().any(|origin| {
        // `null`, the origin of sandboxed frames and `data:` pages, has no host and is foreign.
        let host = origin.to_str().ok().and_then(host_of);
        host.is_none_or(|host| !is_ours(&host, site))
    });
    foreign_fetch || foreign_origin
}

/// Whether a form of a page of ours may have been posted by another site. As [`is_cross_site`], but for pages that
/// send no referrer: browsers then hide the origin too, and say in a field of their own that it is the same.
pub fn is_foreign_form(headers: &HeaderMap, site: &Site) -> bool {
    let says_same = headers.get(&SEC_FETCH_SITE).is_some_and(|value| value == "same-origin");
    let is_hidden = headers.get_all(ORIGIN).iter().all(|origin| origin == "null");
    !(says_same && is_hidden) && is_cross_site(headers, site)
}

/// Whether a callback has the host of the request's `Origin`, or of its `Host` where there is none.
/// The server answers only to hosts of ours, so that the second is never a stranger's. REST 5.4.
pub fn is_callback_of(callback: &str, headers: &HeaderMap, uri: &Uri) -> bool {
    let asked = match headers.get(ORIGIN) {
        Some(origin) => origin.to_str().ok().and_then(host_of),
        None => authority(headers, uri).and_then(|authority| host_of(&format!("https://{authority}"))),
    };
    asked.is_some() && asked == host_of(callback)
}

fn authority<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Option<&'a str> {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    uri.authority().map(|authority| authority.as_str()).or(host)
}

/// The host of a URL or origin, normalized. `None` for `null` and everything else without one.
fn host_of(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    Some(url.host_str()?.trim_end_matches('.').to_owned())
}

fn is_ours(host: &str, site: &Site) -> bool {
    let published = host_of(site.origin()).is_some_and(|own| own == host);
    published || host == site.domain.as_str() || (site.domain.is_local() && LOCAL_NAMES.contains(&host))
}
