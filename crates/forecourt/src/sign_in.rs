//! Where people sign in, rules that ask who they are lead them there. PolicyPart 3.2, 3.3.1.

use forecourt_core::Handle;
use forecourt_host::{RuleSettings, Site};
use forecourt_identity::IdentityConfig;

use crate::registry::sign_in_path;

/// Gives every rule that asks for an identity, and names no page for that, the one on which people sign in; they come
/// back to the agent. Wires that know what was asked lead them back there.
pub(crate) fn offer(rules: &mut [RuleSettings], identity: &IdentityConfig, site: &Site, agent: &Handle) {
    if identity.oidc.is_none() {
        return;
    }
    for rule in rules {
        if let RuleSettings::RequireIdentity { url: url @ None, .. } = rule {
            *url = Some(site.url(&sign_in_path(&format!("/~{agent}"))));
        }
    }
}
