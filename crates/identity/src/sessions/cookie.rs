//! This module reads and sets the session cookie, and decides on which requests it counts. RFC 6265, security sheet
//! section 2.
//!
//! A browser sends cookies by itself, whoever made it ask. So a cookie says who somebody is only where the
//! request comes from a page of ours, or is a person who opens a page.

use std::time::Duration;

use forecourt_core::ConsentToken;
use http::header::{COOKIE, ORIGIN};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use url::Url;

/// The cookie over https. Its prefix has browsers refuse one that is not from this very host over https.
pub const SESSION_COOKIE: &str = "__Host-session";
/// The same on plain loopback in development, where no browser takes that prefix.
pub const PLAIN_SESSION_COOKIE: &str = "forecourt-session";

/// The cookie by which a browser without an account keeps its consents. It proves who nobody is.
pub const CONSENTS_COOKIE: &str = "__Host-forecourt_consents";
/// The same on plain loopback in development.
pub const PLAIN_CONSENTS_COOKIE: &str = "forecourt-consents";

static SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
static SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
static SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// A request as far as cookies are concerned.
#[derive(Clone, Copy)]
pub struct BrowserRequest<'a> {
    /// Its method.
    pub method: &'a Method,
    /// Its fields.
    pub headers: &'a HeaderMap,
    /// The origin of this host as its listener knows it, never from `Host`.
    pub origin: &'a str,
}

impl<'a> BrowserRequest<'a> {
    /// Whether it came over plain http, which only loopback in development does.
    pub fn is_plain(&self) -> bool {
        self.origin.starts_with("http://")
    }

    /// The name that the cookie called `secure` over https has here.
    pub fn cookie_name(&self, secure: &'a str, plain: &'a str) -> &'a str {
        if self.is_plain() { plain } else { secure }
    }

    /// The value of a cookie. `None` also when there are two of its name: one of them was planted.
    pub fn cookie(&self, name: &str) -> Option<&'a str> {
        cookie_value(self.headers, name)
    }

    /// The token of its session, where the cookie counts.
    pub fn session_token(&self) -> Option<&'a str> {
        let token = self.cookie(self.cookie_name(SESSION_COOKIE, PLAIN_SESSION_COOKIE))?;
        self.is_own().then_some(token)
    }

    /// What it keeps its consents by, where the cookie counts.
    pub fn consent_token(&self) -> Option<ConsentToken> {
        let token = self.cookie(self.cookie_name(CONSENTS_COOKIE, PLAIN_CONSENTS_COOKIE))?;
        self.is_own().then(|| ConsentToken::parse(token)).flatten()
    }

    /// The `Set-Cookie` of the consents of this browser, kept for so long; without a token it is taken away.
    pub fn set_consents(&self, kept: Option<(&ConsentToken, Duration)>) -> Option<HeaderValue> {
        let name = self.cookie_name(CONSENTS_COOKIE, PLAIN_CONSENTS_COOKIE);
        let (value, time) = kept.map_or(("", None), |(token, time)| (token.expose(), Some(time)));
        set_cookie(name, value, time, self.is_plain())
    }

    /// Whether it comes from a page of ours, or is a person who opens a page: a link from elsewhere leads to a GET,
    /// which changes nothing (Mentionable REST 8.2.1). Whatever changes something must come from a page of ours, and
    /// must say so.
    pub fn is_own(&self) -> bool {
        let reads = matches!(*self.method, Method::GET | Method::HEAD);
        let says = |name: &HeaderName, value: &str| self.headers.get(name).is_some_and(|said| said == value);
        match self.headers.get(&SEC_FETCH_SITE).map(HeaderValue::as_bytes) {
            Some(b"same-origin") => true,
            Some(b"none") => reads,
            // `same-site` too: another host of the domain is not this one. An image or a frame of a foreign page is no
            // visit of the person.
            Some(_) => reads && says(&SEC_FETCH_MODE, "navigate") && says(&SEC_FETCH_DEST, "document"),
            // Browsers without Fetch Metadata send `Origin` with each POST: one without it is not from a page of ours.
            None => match self.headers.contains_key(ORIGIN) {
                true => self.has_own_origin(),
                false => reads,
            },
        }
    }

    fn has_own_origin(&self) -> bool {
        let mut origins = self.headers.get_all(ORIGIN).iter().map(|origin| origin.to_str().ok().and_then(origin_of));
        let own = origin_of(self.origin);
        own.is_some() && origins.all(|origin| origin == own)
    }
}

/// The value of a cookie. `None` also when there are two of its name: one of them was planted.
pub fn cookie_value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut values = pairs.filter(|(known, _)| *known == name).map(|(_, value)| value);
    let first = values.next()?;
    values.next().is_none().then_some(first)
}

/// Scheme, host and port. `None` for `null` and what has none.
fn origin_of(text: &str) -> Option<url::Origin> {
    let origin = Url::parse(text).ok()?.origin();
    origin.is_tuple().then_some(origin)
}

/// What sets a cookie of ours for this host alone, which no script reads; `None` when the value can't stand in one.
/// No time: it is taken away.
pub fn set_cookie(name: &str, value: &str, time: Option<Duration>, plain: bool) -> Option<HeaderValue> {
    let (value, seconds) = time.map_or(("", 0), |time| (value, time.as_secs()));
    let secure = if plain { "" } else { "; Secure" };
    let text = format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
    let mut field = HeaderValue::from_str(&text).ok()?;
    field.set_sensitive(true);
    Some(field)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OWN: &str = "https://demo.example:8443";

    fn fields(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    fn is_own(method: Method, pairs: &[(&'static str, &'static str)]) -> bool {
        BrowserRequest { method: &method, headers: &fields(pairs), origin: OWN }.is_own()
    }

    #[test]
    fn rest8_2_1_a_cookie_counts_on_a_post_from_our_own_pages_alone() {
        assert!(is_own(Method::POST, &[("sec-fetch-site", "same-origin")]));
        // Forms on pages that send no referrer say `null`.
        assert!(is_own(Method::POST, &[("sec-fetch-site", "same-origin"), ("origin", "null")]));
        assert!(is_own(Method::POST, &[("origin", OWN)]));
        for wrong in [
            &[][..],
            &[("origin", "null")],
            &[("origin", "https://evil.example")],
            &[("origin", "https://demo.example")],
            &[("origin", "http://demo.example:8443")],
            &[("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site"), ("origin", OWN)],
            &[("sec-fetch-site", "none")],
            &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")],
        ] {
            assert!(!is_own(Method::POST, wrong), "{wrong:?}");
        }
    }

    #[test]
    fn a_cookie_counts_on_a_get_by_a_person_or_by_our_own_pages() {
        for right in [
            &[][..],
            &[("sec-fetch-site", "same-origin")],
            &[("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate")],
            &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")],
            &[("origin", OWN)],
        ] {
            assert!(is_own(Method::GET, right), "{right:?}");
        }
        for wrong in [
            &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image")][..],
            &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")],
            &[("sec-fetch-site", "same-site"), ("sec-fetch-mode", "cors")],
            &[("origin", "https://evil.example")],
            &[("origin", "null")],
        ] {
            assert!(!is_own(Method::GET, wrong), "{wrong:?}");
        }
    }

    #[test]
    fn a_planted_second_cookie_takes_both_away() {
        let read = |line: &'static str| {
            let (headers, method) = (fields(&[("cookie", line)]), Method::GET);
            BrowserRequest { method: &method, headers: &headers, origin: OWN }.session_token().map(str::to_owned)
        };
        assert_eq!(read("a=b; __Host-session=one"), Some("one".to_owned()));
        assert_eq!(read("__Host-session=one; __Host-session=two"), None);
        for none in ["", "forecourt-session=one", "__host-session=one", "x__Host-session=one"] {
            assert_eq!(read(none), None, "{none}");
        }
    }

    #[test]
    fn consents_are_kept_where_a_cookie_counts_and_as_whole_tokens() {
        let (token, year) = ("A".repeat(43), Duration::from_secs(365 * 24 * 60 * 60));
        let read = |method: Method, more: (&'static str, &'static str), value: &str| {
            let mut headers = fields(&[more]);
            headers.insert(COOKIE, HeaderValue::from_str(&format!("{CONSENTS_COOKIE}={value}")).unwrap());
            BrowserRequest { method: &method, headers: &headers, origin: OWN }.consent_token()
        };
        let own = ("sec-fetch-site", "same-origin");
        let kept = read(Method::POST, own, &token);
        assert_eq!(kept.as_ref().map(ConsentToken::expose), Some(token.as_str()));
        assert!(read(Method::POST, ("origin", "https://evil.example"), &token).is_none());
        assert!(read(Method::POST, ("accept", "*/*"), &token).is_none(), "a program that says nothing of a page");
        assert!(read(Method::GET, ("sec-fetch-site", "cross-site"), &token).is_none());
        for short in ["", "A", &token[1..], "ÄÖ"] {
            assert!(read(Method::GET, own, short).is_none(), "{short}");
        }
        let (method, headers) = (Method::GET, HeaderMap::new());
        let browser = BrowserRequest { method: &method, headers: &headers, origin: OWN };
        let set = browser.set_consents(Some((kept.as_ref().unwrap(), year))).unwrap();
        let rest = "Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax; Secure";
        assert_eq!(set.to_str().unwrap(), format!("__Host-forecourt_consents={token}; {rest}"));
        assert!(browser.set_consents(None).unwrap().to_str().unwrap().contains("Max-Age=0"));
    }

    proptest! {
        #[test]
        fn nothing_but_a_whole_token_is_read(value in "\\PC{0,80}") {
            let Ok(field) = HeaderValue::from_str(&format!("{CONSENTS_COOKIE}={value}")) else { return Ok(()) };
            let (method, headers) = (Method::GET, HeaderMap::from_iter([(COOKIE, field)]));
            if let Some(token) = (BrowserRequest { method: &method, headers: &headers, origin: OWN }).consent_token() {
                prop_assert!(value.trim().starts_with(token.expose()) && token.expose().len() == 43);
            }
        }
    }

    #[test]
    fn a_cookie_is_for_this_host_and_no_script() {
        let hour = Some(Duration::from_secs(3_600));
        let set = set_cookie(SESSION_COOKIE, "x", hour, false).unwrap();
        assert_eq!(set.to_str().unwrap(), "__Host-session=x; Path=/; Max-Age=3600; HttpOnly; SameSite=Lax; Secure");
        assert!(set.is_sensitive());
        let gone = set_cookie(PLAIN_SESSION_COOKIE, "x", None, true).unwrap();
        assert_eq!(gone.to_str().unwrap(), "forecourt-session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax");
    }
}
