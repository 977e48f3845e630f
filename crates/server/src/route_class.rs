//! This module says which mounted route a request belongs to, so that metrics and spans tell the protocols
//! apart. Labels come from the routes alone: no path that a caller makes up becomes one.

use http::Method;
use matchit::Router;

/// Bytes of a handle. Mentionable addresses.
const HANDLE_BYTES_MAX: usize = 30;

/// The route that a request belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RouteClass {
    /// The protocol that mounted it.
    pub protocol: &'static str,
    /// The pattern that it was mounted under, in axum's syntax.
    pub route: &'static str,
}

impl RouteClass {
    /// What no route matches.
    pub(crate) const UNMATCHED: Self = Self { protocol: "none", route: "none" };

    /// The pattern, if there is one.
    pub(crate) fn pattern(self) -> Option<&'static str> {
        (self != Self::UNMATCHED).then_some(self.route)
    }
}

/// All routes that are mounted on a listener.
#[derive(Clone)]
pub struct RouteClasses(Router<Vec<Claim>>);

/// What one protocol claims of a path.
#[derive(Clone)]
struct Claim {
    /// `None`: every method that no other claim names.
    method: Option<Method>,
    class: RouteClass,
}

impl RouteClasses {
    /// Of protocols and what they claim: patterns in axum's syntax, or `POST /path` for one method alone. A
    /// pattern that contradicts an earlier one is passed over: the router that is mounted refuses it.
    pub fn new(claims: impl IntoIterator<Item = (&'static str, &'static str)>) -> Self {
        let mut by_path: Vec<(&'static str, Vec<Claim>)> = Vec::new();
        for (protocol, claimed) in claims {
            let (method, route) = match claimed.split_once(' ') {
                Some((method, route)) => (Method::from_bytes(method.as_bytes()).ok(), route),
                None => (None, claimed),
            };
            let claim = Claim { method, class: RouteClass { protocol, route } };
            match by_path.iter_mut().find(|(path, _)| *path == route) {
                Some((_, claims)) => claims.push(claim),
                None => by_path.push((route, vec![claim])),
            }
        }
        let mut router = Router::new();
        for (path, mut claims) in by_path {
            // Claims of one method go before those of all.
            claims.sort_by_key(|claim| claim.method.is_none());
            let _ = router.insert(path, claims);
        }
        Self(router)
    }

    /// The agent that a path names, where its route has one. Text that can be no handle is none.
    pub(crate) fn agent<'p>(&self, path: &'p str) -> Option<&'p str> {
        let handle = self.0.at(path).ok()?.params.get("handle")?;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        ((1..=HANDLE_BYTES_MAX).contains(&handle.len()) && handle.bytes().all(is_plain)).then_some(handle)
    }

    /// The class of a request. [`RouteClass::UNMATCHED`] where nothing is mounted.
    pub fn of(&self, method: &Method, path: &str) -> RouteClass {
        let Ok(found) = self.0.at(path) else { return RouteClass::UNMATCHED };
        let takes = |claim: &&Claim| claim.method.as_ref().is_none_or(|own| own == method);
        found.value.iter().find(takes).map_or(RouteClass::UNMATCHED, |claim| claim.class)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn classes() -> RouteClasses {
        RouteClasses::new([
            ("rest", "/~{handle}"),
            ("rest", "/tasks/{*path}"),
            ("nlweb", "POST /ask"),
            ("a2a", "/ask"),
            ("mcp", "/mcp"),
        ])
    }

    fn of(method: Method, path: &str) -> (&'static str, &'static str) {
        let RouteClass { protocol, route } = classes().of(&method, path);
        (protocol, route)
    }

    #[test]
    fn a_request_has_the_class_of_its_route() {
        assert_eq!(of(Method::GET, "/~chef"), ("rest", "/~{handle}"));
        assert_eq!(of(Method::POST, "/tasks/a/artifacts/b"), ("rest", "/tasks/{*path}"));
        assert_eq!(of(Method::GET, "/mcp"), ("mcp", "/mcp"));
    }

    #[test]
    fn a_claim_of_one_method_leaves_the_others() {
        assert_eq!(of(Method::POST, "/ask"), ("nlweb", "/ask"));
        assert_eq!(of(Method::GET, "/ask"), ("a2a", "/ask"));
    }

    #[test]
    fn the_agent_of_a_path_is_a_handle_or_nothing() {
        let agent = |path| classes().agent(path).map(str::to_owned);
        assert_eq!(agent("/~chef").as_deref(), Some("chef"));
        let longest = format!("/~{}", "x".repeat(HANDLE_BYTES_MAX));
        assert!(agent(&longest).is_some());
        for odd in ["/mcp", "/tasks/secret", "/~a%22b", "/~a b", &format!("{longest}x")] {
            assert_eq!(agent(odd), None, "{odd}");
        }
    }

    proptest! {
        #[test]
        fn made_up_paths_have_no_class_of_their_own(path in "/\\PC{0,60}") {
            let class = classes().of(&Method::GET, &path);
            let known = ["/~{handle}", "/tasks/{*path}", "/ask", "/mcp", "none"];
            prop_assert!(known.contains(&class.route));
        }
    }
}
