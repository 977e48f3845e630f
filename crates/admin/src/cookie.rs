//! The console's cookies, and the two ways in which a browser has them.
//!
//! Over https their names begin with `__Host-`: browsers take such a cookie only with `Secure`, from this very host and
//! for all of its paths. Over plain http not every browser takes it, so there the cookie is called otherwise and does
//! without; that is for names of the machine that the browser runs on, where no network lies in between, and for
//! nothing else. What was set in one way counts in that way alone: its session says which.

use std::time::Duration;

use forecourt_identity::sessions::{cookie_value, set_cookie};
use http::{HeaderMap, HeaderValue};

use crate::address::Way;
use crate::limits::SESSION_LIFETIME;
use crate::secret::SessionSecret;

/// What the cookie of a session is called.
fn session_name(way: Way) -> &'static str {
    match way {
        Way::Secure => "__Host-forecourt-console",
        Way::Plain => "forecourt-console",
    }
}

/// What the cookie of a login on its way is called, by the mark of its state.
fn login_name(way: Way, mark: &str) -> String {
    match way {
        Way::Secure => format!("__Host-forecourt-login-{mark}"),
        Way::Plain => format!("forecourt-login-{mark}"),
    }
}

/// What the cookie of a session holds, and in which way it came.
pub(crate) fn session(headers: &HeaderMap) -> Option<(Way, SessionSecret)> {
    Way::possible(headers)
        .iter()
        .find_map(|way| Some((*way, SessionSecret::read(cookie_value(headers, session_name(*way))?)?)))
}

/// Gives a browser its session, and takes what it may have of the other way.
pub(crate) fn give_session(way: Way, secret: &SessionSecret) -> Vec<HeaderValue> {
    let others = Way::ALL.into_iter().filter(|other| *other != way);
    let own = strict(way, secret.expose(), SESSION_LIFETIME);
    // The cookie of the other way is taken away: a stale one would be read first on some requests.
    own.into_iter().chain(others.filter_map(|way| strict(way, "", Duration::ZERO))).collect()
}

/// Takes a browser's session away.
pub(crate) fn forget_session() -> Vec<HeaderValue> {
    Way::ALL.into_iter().filter_map(|way| strict(way, "", Duration::ZERO)).collect()
}

/// The `Set-Cookie` of a session. Links of other sites lead to the login and not into the session.
fn strict(way: Way, value: &str, time: Duration) -> Option<HeaderValue> {
    let (name, seconds) = (session_name(way), time.as_secs());
    let secure = if way == Way::Secure { "; Secure" } else { "" };
    let text = format!("{name}={value}; Path=/; Max-Age={seconds}{secure}; HttpOnly; SameSite=Strict");
    let mut field = HeaderValue::from_str(&text).ok()?;
    field.set_sensitive(true);
    Some(field)
}

/// Marks the browser that begins a login, until `time` is over. A provider leads it back from another site, so that
/// this cookie must come along with that.
pub(crate) fn give_login(way: Way, mark: &str, value: &str, time: Duration) -> Option<HeaderValue> {
    set_cookie(&login_name(way, mark), value, Some(time), way == Way::Plain)
}

/// What marks the browser that began a login.
pub(crate) fn login<'a>(headers: &'a HeaderMap, way: Way, mark: &str) -> Option<&'a str> {
    cookie_value(headers, &login_name(way, mark))
}

/// Takes that mark away.
pub(crate) fn forget_login(way: Way, mark: &str) -> Option<HeaderValue> {
    set_cookie(&login_name(way, mark), "", None, way == Way::Plain)
}

#[cfg(test)]
mod tests {
    use http::header;

    use super::*;

    fn headers(pairs: &[(header::HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn a_plain_cookie_counts_within_one_machine_alone_and_one_that_came_twice_is_none() {
        let secret = "t".repeat(43);
        let read = |host: &str, cookie: &str| {
            let read = session(&headers(&[(header::HOST, host), (header::COOKIE, cookie)]));
            read.map(|(way, secret)| (way, secret.expose().to_owned()))
        };
        let (plain, secure) = (format!("forecourt-console={secret}"), format!("__Host-forecourt-console={secret}"));
        assert_eq!(read("localhost:1", &plain), Some((Way::Plain, secret.clone())));
        assert_eq!(read("console.example", &plain), None);
        for host in ["localhost:1", "console.example"] {
            assert_eq!(read(host, &secure), Some((Way::Secure, secret.clone())));
            assert_eq!(read(host, &format!("{secure}; {secure}")), None);
        }
        assert_eq!(read("localhost:1", &format!("{plain}; {plain}")), None);
        assert_eq!(read("localhost:1", "forecourt-console=short"), None);
        assert_eq!(read("localhost:1", &format!("x{plain}")), None);
    }

    #[test]
    fn a_secure_cookie_has_its_prefix_and_a_plain_one_has_neither() {
        let secret = SessionSecret::read(&"t".repeat(43)).unwrap();
        let given =
            |way| give_session(way, &secret).iter().map(|one| one.to_str().unwrap().to_owned()).collect::<Vec<_>>();
        let (secure, plain) = (given(Way::Secure), given(Way::Plain));
        assert!(secure[0].starts_with("__Host-forecourt-console=t") && secure[0].contains("; Secure;"), "{secure:?}");
        assert!(plain[0].starts_with("forecourt-console=t") && !plain[0].contains("Secure"), "{plain:?}");
        for set in [&secure, &plain] {
            assert!(set[0].contains("; Path=/; ") && set[0].ends_with("; HttpOnly; SameSite=Strict"), "{set:?}");
            assert!(!set[0].contains("Domain") && set[1].contains("Max-Age=0"), "{set:?}");
        }
        let login = give_login(Way::Secure, "abc", "v", Duration::from_secs(9)).unwrap();
        assert_eq!(login, "__Host-forecourt-login-abc=v; Path=/; Max-Age=9; HttpOnly; SameSite=Lax; Secure");
    }
}
