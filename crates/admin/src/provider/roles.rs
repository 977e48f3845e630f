//! What a provider says of a person, into what they may do here.

use forecourt_oidc::verified_address;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::role::Role;

/// The claim that counts only where the provider has verified it.
const ADDRESS: &str = "email";

/// Which values of which claims give which role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RoleClaims {
    operators: ClaimRule,
    viewers: ClaimRule,
}

/// Values of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ClaimRule {
    claim: String,
    values: Vec<String>,
}

/// Something that a provider said of a person and that gave a role: kept with the session, and nothing else is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RoleEvidence {
    claim: String,
    value: String,
}

impl RoleClaims {
    /// Operators have one of `values` in `claim`, and so have viewers.
    pub(crate) fn new(operators: (String, Vec<String>), viewers: (String, Vec<String>)) -> Self {
        let rule = |(claim, values): (String, Vec<String>)| {
            let values =
                if claim == ADDRESS { values.iter().map(|one| one.to_ascii_lowercase()).collect() } else { values };
            ClaimRule { claim, values }
        };
        Self { operators: rule(operators), viewers: rule(viewers) }
    }

    /// What of these claims gives a role, as many as the settings name at most.
    pub(crate) fn held(&self, claims: &Map<String, Value>) -> Vec<RoleEvidence> {
        let mut held: Vec<RoleEvidence> = Vec::new();
        for rule in [&self.operators, &self.viewers] {
            let said = claim_values(claims, &rule.claim);
            for value in rule.values.iter().filter(|value| said.contains(value)) {
                let one = RoleEvidence { claim: rule.claim.clone(), value: value.clone() };
                if !held.contains(&one) {
                    held.push(one);
                }
            }
        }
        held
    }

    /// What whoever holds these may do, if anything.
    pub(crate) fn role(&self, held: &[RoleEvidence]) -> Option<Role> {
        let has = |rule: &ClaimRule| held.iter().any(|one| one.claim == rule.claim && rule.values.contains(&one.value));
        match (has(&self.operators), has(&self.viewers)) {
            (true, _) => Some(Role::Operator),
            (false, true) => Some(Role::Viewer),
            (false, false) => None,
        }
    }

    /// Whether a claim is missing that could give a role, and that the provider may tell elsewhere.
    pub(crate) fn wants_more(&self, claims: &Map<String, Value>) -> bool {
        [&self.operators, &self.viewers]
            .into_iter()
            .any(|rule| !rule.values.is_empty() && at(claims, &rule.claim).is_none())
    }

    /// A claim that the provider holds back because there is too much of it. OpenID Connect Core 5.6.2.
    pub(crate) fn held_back<'a>(&'a self, claims: &Map<String, Value>) -> Option<&'a str> {
        let names = claims.get("_claim_names").and_then(Value::as_object)?;
        [&self.operators, &self.viewers]
            .into_iter()
            .map(|rule| rule.claim.as_str())
            .find(|name| names.contains_key(*name))
    }
}

/// What a claim says: a text, or a list of texts.
fn claim_values(claims: &Map<String, Value>, claim: &str) -> Vec<String> {
    // Anybody may enter any address at a provider: only a verified one may give a role.
    if claim == ADDRESS {
        return verified_address(claims).map(str::to_ascii_lowercase).into_iter().collect();
    }
    match at(claims, claim) {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// The claim of a name, such as `groups` or `https://acme.example/roles`; else what is within others, such as
/// `realm_access.roles`.
fn at<'a>(claims: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    // The whole name first: claims with a namespace have dots in it, such as `https://acme.example/roles`.
    claims.get(name).or_else(|| {
        let mut parts = name.split('.');
        let first = claims.get(parts.next()?)?;
        parts.try_fold(first, |within, part| within.get(part))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rules(claim: &str) -> RoleClaims {
        let of = |values: &[&str]| (claim.to_owned(), values.iter().map(|one| (*one).to_owned()).collect());
        RoleClaims::new(of(&["chiefs", "Ann@acme.example"]), of(&["staff", "bob@acme.example"]))
    }

    fn role(claim: &str, claims: Value) -> Option<Role> {
        let rules = rules(claim);
        rules.role(&rules.held(claims.as_object().unwrap()))
    }

    #[test]
    fn a_claim_is_a_text_or_a_list_and_may_lie_within_others() {
        assert_eq!(role("groups", json!({"groups": ["staff", "chiefs"]})), Some(Role::Operator));
        assert_eq!(role("groups", json!({"groups": "staff"})), Some(Role::Viewer));
        assert_eq!(role("realm_access.roles", json!({"realm_access": {"roles": ["chiefs"]}})), Some(Role::Operator));
        let named = "https://acme.example/roles";
        assert_eq!(role(named, json!({named: ["staff"]})), Some(Role::Viewer));
        for nothing in [
            json!({}),
            json!({"groups": []}),
            json!({"groups": ["Staff"]}),
            json!({"groups": ["staff "]}),
            json!({"groups": "staff chiefs"}),
            json!({"groups": {"staff": true}}),
            json!({"groups": [["staff"]]}),
            json!({"groups": null}),
            json!({"roles": ["chiefs"]}),
        ] {
            assert_eq!(role("groups", nothing.clone()), None, "{nothing}");
        }
    }

    #[test]
    fn core5_7_an_address_gives_a_role_where_the_provider_has_verified_it() {
        let by = |address: &str, verified: Value| role("email", json!({"email": address, "email_verified": verified}));
        assert_eq!(by("ann@ACME.example", json!(true)), Some(Role::Operator));
        assert_eq!(by("bob@acme.example", json!("true")), Some(Role::Viewer));
        for not in [json!(false), Value::Null] {
            assert_eq!(by("ann@acme.example", not), None);
        }
        assert_eq!(role("email", json!({"email": "ann@acme.example"})), None);
        assert_eq!(by("eve@evil.example", json!(true)), None);
    }

    #[test]
    fn what_was_held_is_judged_anew_by_other_settings() {
        let claims = json!({"groups": ["chiefs", "staff", "others"]});
        let held = rules("groups").held(claims.as_object().unwrap());
        assert_eq!(held.len(), 2, "nothing is kept that gives no role");
        let other = |operators: &[&str], viewers: &[&str]| {
            let of = |values: &[&str]| ("groups".to_owned(), values.iter().map(|one| (*one).to_owned()).collect());
            RoleClaims::new(of(operators), of(viewers)).role(&held)
        };
        assert_eq!(other(&["few"], &["staff"]), Some(Role::Viewer));
        assert_eq!(other(&["few"], &["some"]), None);
        assert_eq!(rules("roles").role(&held), None, "another claim counts now");
    }

    #[test]
    fn core5_6_2_groups_that_are_held_back_are_told() {
        let claims = json!({"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {"endpoint": "https://x"}}});
        assert_eq!(rules("groups").held_back(claims.as_object().unwrap()), Some("groups"));
        assert_eq!(rules("roles").held_back(claims.as_object().unwrap()), None);
        assert!(rules("groups").wants_more(claims.as_object().unwrap()));
        assert!(!rules("groups").wants_more(json!({"groups": []}).as_object().unwrap()));
    }
}
