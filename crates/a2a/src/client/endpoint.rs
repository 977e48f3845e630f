//! Where and how a remote agent is spoken to.

use url::{Origin, Url};

use crate::codec::Dialect;
use crate::model::Version;

/// The bindings of A2A that this client speaks; gRPC is not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// JSON-RPC over one URL.
    JsonRpc,
    /// HTTP+JSON: a path for each operation.
    Rest,
}

/// One interface of a remote agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Its URL, or the base of its paths.
    pub url: Url,
    /// How requests are framed.
    pub binding: Binding,
    /// Which generation it speaks.
    pub version: Version,
    /// What the card wants repeated in each request. 1.0 only.
    pub tenant: Option<String>,
}

impl Endpoint {
    /// How its JSON is spelled.
    pub(super) fn dialect(&self) -> Dialect {
        match (self.version, self.binding) {
            (Version::V1_0, _) => Dialect::Json10,
            (Version::V0_3, Binding::JsonRpc) => Dialect::Json03,
            (Version::V0_3, Binding::Rest) => Dialect::Proto03,
        }
    }

    /// The lower the better: JSON-RPC of 1.0, JSON-RPC of 0.3, then HTTP+JSON.
    pub(super) fn rank(&self) -> u8 {
        match (self.binding, self.version) {
            (Binding::JsonRpc, Version::V1_0) => 0,
            (Binding::JsonRpc, Version::V0_3) => 1,
            (Binding::Rest, Version::V1_0) => 2,
            (Binding::Rest, Version::V0_3) => 3,
        }
    }

    /// The host that links of refusals must lead to when nothing else says so: with its port, unless
    /// that is the usual one. PolicyPart 3.2.
    pub fn canonical_host(&self) -> String {
        self.url[url::Position::BeforeHost..url::Position::AfterPort].to_owned()
    }
}

/// The best of `offered` that is on one of `origins`; of equals the first. `Err` names an origin
/// that was offered and is not among them.
pub(crate) fn choose(offered: &[Endpoint], origins: &[Origin]) -> Result<Endpoint, Option<String>> {
    let stranger = offered.iter().map(|one| one.url.origin()).find(|origin| !origins.contains(origin));
    let own = offered.iter().filter(|one| origins.contains(&one.url.origin()));
    own.min_by_key(|one| one.rank()).cloned().ok_or_else(|| stranger.map(|origin| origin.ascii_serialization()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(url: &str, binding: Binding, version: Version) -> Endpoint {
        Endpoint { url: Url::parse(url).unwrap(), binding, version, tenant: None }
    }

    #[test]
    fn the_preferred_interface_is_taken_wherever_it_stands() {
        let order = [
            endpoint("https://a.example/0", Binding::JsonRpc, Version::V1_0),
            endpoint("https://a.example/1", Binding::JsonRpc, Version::V0_3),
            endpoint("https://a.example/2", Binding::Rest, Version::V1_0),
            endpoint("https://a.example/3", Binding::Rest, Version::V0_3),
        ];
        let origins = [order[0].url.origin()];
        for best in 0..order.len() {
            let mut offered = order[best..].to_vec();
            offered.reverse();
            assert_eq!(choose(&offered, &origins), Ok(order[best].clone()));
        }
    }

    #[test]
    fn other_origins_are_taken_only_when_somebody_named_them() {
        let own = Url::parse("https://a.example/").unwrap().origin();
        let stranger = endpoint("https://b.example/a2a", Binding::JsonRpc, Version::V1_0);
        let plain = endpoint("http://a.example/a2a", Binding::JsonRpc, Version::V1_0);
        assert_eq!(
            choose(std::slice::from_ref(&stranger), std::slice::from_ref(&own)),
            Err(Some("https://b.example".to_owned()))
        );
        assert_eq!(choose(&[plain], std::slice::from_ref(&own)), Err(Some("http://a.example".to_owned())));
        assert_eq!(choose(&[], std::slice::from_ref(&own)), Err(None));
        let named = [own, stranger.url.origin()];
        assert_eq!(choose(std::slice::from_ref(&stranger), &named), Ok(stranger));
    }
}
