//! What a caller must hold, where the document has no scopes: made up from the path, so that nothing is
//! open by oversight.

use forecourt_contract::Scope;

use super::words::snake;
use super::words::without_format;

/// Characters of the first word of a scope that is made up.
const DOMAIN_CHARS_MAX: usize = 40;

/// Collections that hold everything else of one customer, so that what lies below them is what is served.
const TENANTS: [&str; 7] = ["account", "accounts", "organizations", "orgs", "tenants", "workspaces", "companies"];

/// A scope for what a path serves: `calls:read` for `/2010-04-01/Accounts/{sid}/Calls`.
pub(super) fn made_up(path: &str, namespace: Option<&str>, reads: bool) -> String {
    let literals = path.split('/').filter(|segment| !segment.is_empty() && !segment.contains('{'));
    let mut named = literals.map(without_format).filter(|literal| !is_version(literal)).peekable();
    let first = named.next_if(|first| TENANTS.contains(&first.to_lowercase().as_str()));
    let name = named.next().or(first).or(namespace).map(snake);
    let name = name.map(|name| name.chars().take(DOMAIN_CHARS_MAX).collect::<String>());
    let domain = name.filter(|name| Scope::parse(&format!("{name}:read")).is_ok());
    format!("{}:{}", domain.as_deref().unwrap_or("api"), if reads { "read" } else { "write" })
}

/// `v1`, `2010-04-01`, or what goes before them: no name of what is served.
pub(super) fn is_version(literal: &str) -> bool {
    let numbers = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-'));
    literal.eq_ignore_ascii_case("api") || literal.strip_prefix(['v', 'V']).is_some_and(numbers) || numbers(literal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_named_after_what_is_served() {
        let made = |path: &str| made_up(path, None, true);
        assert_eq!(made("/v1/rooms/{id}/keys"), "rooms:read");
        assert_eq!(made("/2010-04-01/Accounts/{sid}/Calls"), "calls:read");
        assert_eq!(made("/2010-04-01/Accounts"), "accounts:read");
        assert_eq!(made("/api/v2"), "api:read");
    }
}
