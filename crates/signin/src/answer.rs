//! Pages and redirects about signing in. None of them is kept by anybody.

use forecourt_core::Language;
use forecourt_pages::{AccountPage, Branding, csp};
use forecourt_surface::answer::HttpAnswer;
use http::header::{CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, SET_COOKIE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

/// Leads the browser on, with `cookies` to set.
pub(crate) fn lead(to: &str, cookies: impl IntoIterator<Item = HeaderValue>) -> HttpAnswer {
    let mut head = fields(cookies);
    if let Ok(to) = HeaderValue::from_str(to) {
        head.insert(LOCATION, to);
    }
    HttpAnswer::whole(StatusCode::SEE_OTHER, head, "")
}

/// A page.
pub(crate) fn page(
    status: StatusCode,
    page: &AccountPage<'_>,
    cookies: impl IntoIterator<Item = HeaderValue>,
) -> HttpAnswer {
    html(status, page.brand, page.language, page.render(), cookies)
}

/// A page that was rendered.
pub(crate) fn html(
    status: StatusCode,
    brand: &Branding,
    language: &Language,
    content: String,
    cookies: impl IntoIterator<Item = HeaderValue>,
) -> HttpAnswer {
    let mut head = fields(cookies);
    head.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    head.extend(HeaderValue::from_str(language.as_str()).ok().map(|language| (CONTENT_LANGUAGE, language)));
    if let Ok(policy) = HeaderValue::from_str(brand.asking_policy()) {
        head.insert(CONTENT_SECURITY_POLICY, policy);
    }
    HttpAnswer::whole(status, head, content)
}

/// The fields of whatever is kept nowhere.
pub(crate) fn fields(cookies: impl IntoIterator<Item = HeaderValue>) -> HeaderMap {
    let mut head: HeaderMap = csp::HEADERS
        .iter()
        .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
        .collect();
    head.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    for cookie in cookies {
        head.append(SET_COOKIE, cookie);
    }
    head
}
