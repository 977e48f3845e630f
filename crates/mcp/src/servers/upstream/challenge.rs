//! What a server says with 401: where callers sign in.

use crate::limits::CHALLENGE_URL_BYTES_MAX;

/// The address in a challenge at which a server says who gives out tokens for it. RFC 9728 5.1.
pub(super) fn resource_metadata(challenge: &str) -> Option<&str> {
    let (_, rest) = challenge.split_once("resource_metadata=")?;
    let address = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => rest.split([',', ' ']).next()?,
    };
    let is_plain = address.len() <= CHALLENGE_URL_BYTES_MAX && address.bytes().all(|byte| byte.is_ascii_graphic());
    (is_plain && (address.starts_with("https://") || address.starts_with("http://"))).then_some(address)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_challenge_leads_to_where_tokens_come_from() {
        let of = |challenge: &'static str| resource_metadata(challenge);
        assert_eq!(
            of("Bearer realm=\"x\", resource_metadata=\"https://far.example/m\", scope=\"a\""),
            Some("https://far.example/m")
        );
        assert_eq!(of("Bearer resource_metadata=https://far.example/m, a=b"), Some("https://far.example/m"));
        for none in ["Bearer", "Bearer resource_metadata=\"javascript:x\"", "Bearer resource_metadata=\"https://a b\""]
        {
            assert_eq!(of(none), None, "{none}");
        }
    }

    proptest! {
        #[test]
        fn challenges_can_be_anything(challenge in ".{0,200}") {
            resource_metadata(&challenge);
        }
    }
}
