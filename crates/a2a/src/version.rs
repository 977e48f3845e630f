//! Which version a request speaks. The field decides; the query may stand in for it.

use http::request::Parts;

use crate::model::{OperationError, Version};

/// The field, and the parameter, that name a version.
pub(crate) const A2A_VERSION: &str = "a2a-version";

/// The version that a request names; `None` when it names none, which means 0.3. Fails when it is one
/// that is not spoken here.
pub(crate) fn asked(head: &Parts) -> Result<Option<Version>, OperationError> {
    // Bytes that are no text become `?`, an unknown version: as an absent field they would mean 0.3.
    let field = head.headers.get(A2A_VERSION).map(|value| value.to_str().unwrap_or("?"));
    let said = field.or_else(|| parameter(head.uri.query()?)).map(str::trim).unwrap_or_default();
    read(said)
}

fn parameter(query: &str) -> Option<&str> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(A2A_VERSION)).map(|(_, value)| value)
}

/// Patch numbers mean nothing on the wire, and are passed over.
fn read(said: &str) -> Result<Option<Version>, OperationError> {
    let mut numbers = said.split('.');
    let minor = (numbers.next(), numbers.next());
    let patch = numbers.next().is_none_or(|patch| patch.parse::<u32>().is_ok()) && numbers.next().is_none();
    match minor {
        _ if said.is_empty() => Ok(None),
        (Some("0"), Some("3")) if patch => Ok(Some(Version::V0_3)),
        (Some("1"), Some("0")) if patch => Ok(Some(Version::V1_0)),
        _ => Err(OperationError::VersionNotSupported("this host speaks A2A 1.0 and 0.3".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(uri: &str, field: Option<&str>) -> Result<Option<Version>, OperationError> {
        let mut request = http::Request::builder().uri(uri);
        if let Some(field) = field {
            request = request.header("A2A-Version", field);
        }
        asked(&request.body(()).unwrap().into_parts().0)
    }

    #[test]
    fn absent_or_empty_names_none_and_the_field_goes_before_the_query() {
        assert_eq!(of("/a2a", None), Ok(None));
        assert_eq!(of("/a2a", Some(" ")), Ok(None));
        assert_eq!(of("/a2a?A2A-Version=1.0", None), Ok(Some(Version::V1_0)));
        assert_eq!(of("/a2a?a2a-version=1.0", Some("0.3")), Ok(Some(Version::V0_3)));
        assert_eq!(of("/a2a", Some("1.0.1")), Ok(Some(Version::V1_0)));
        assert_eq!(of("/a2a", Some("0.3.0")), Ok(Some(Version::V0_3)));
    }

    #[test]
    fn other_versions_are_not_supported() {
        for said in ["2.0", "1", "0.2", "1.0.x", "1.0.0.0", "one", "0.3 ,1.0", "1.1"] {
            assert!(matches!(of("/a2a", Some(said)), Err(OperationError::VersionNotSupported(_))), "{said}");
        }
    }
}
