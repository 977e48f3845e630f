//! What the section says about endpoints, for whoever loads them.

use std::collections::BTreeSet;
use std::sync::Arc;

use forecourt_contract::policy::SkippedSetting;
use forecourt_contract::{Catalog, Method, Rules};
use forecourt_endpoints::{RegistrationTerms, load};
use forecourt_settings::{Problem, Problems, Section};
use forecourt_surface::EndpointSettings;

use super::{AgtpSettings, OauthSettings, OnRefused};

/// Reads what the section says about endpoints.
///
/// # Errors
/// Everything that keeps the host from starting: settings that are wrong, a catalog that can't be read,
/// aliases that lead in circles. AGTP-API 9.2, 9.4.
pub(crate) fn endpoint_settings(section: &Section) -> Result<EndpointSettings, Problems> {
    let settings = AgtpSettings::read(section)?;
    let catalog = catalog(&settings, section)?;
    let mut terms = RegistrationTerms::new(&settings.policies.methods, catalog).map_err(|faults| {
        let mut problems = Problems::new();
        let at = |fault| section.problem(Some("policies"), format!("[policies.methods] {fault}"));
        problems.extend(faults.into_iter().map(at));
        problems
    })?;
    let rules = Rules {
        scope_required: settings.policies.scope_required_for_invocation,
        wildcards_accepted: settings.policies.wildcards_accepted,
        token_required: token_required(&settings.policies.oauth, &mut terms, section)?,
    };
    let notices = settings.notices();
    let overrides = settings.policies.builtins.overrides.into_iter().collect();
    Ok(EndpointSettings {
        terms: RegistrationTerms { rules, overrides, is_output_strict: settings.strict_outputs, ..terms },
        must_be_whole: settings.on_refused_endpoint == OnRefused::Fail,
        notices,
    })
}

/// The methods that need a token. One that is none here any more is told and skipped, like those of the
/// method policy; a word that no method can be would protect nothing.
fn token_required(
    oauth: &OauthSettings,
    terms: &mut RegistrationTerms,
    section: &Section,
) -> Result<BTreeSet<Method>, Problem> {
    let mut needed = BTreeSet::new();
    for name in &oauth.required_on_methods {
        let Ok(method) = Method::parse(name) else {
            let message = format!("`oauth.required_on_methods` takes methods, 3 to 32 capital letters, not `{name}`");
            return Err(section.problem(Some("policies"), message));
        };
        match terms.policy.resolve(name, &terms.catalog) {
            Some(_) => drop(needed.insert(method)),
            None => terms.skipped.push(SkippedSetting {
                directive: "oauth.required_on_methods",
                method: name.clone(),
                reason: "is neither in the catalog nor under `custom`",
            }),
        }
    }
    Ok(needed)
}

/// The operator's catalog, or the program's own.
fn catalog(settings: &AgtpSettings, section: &Section) -> Result<Arc<Catalog>, Problems> {
    match &settings.catalog {
        Some(path) => load::catalog(&section.folder().join(path)).map_err(Problems::from),
        None => Ok(Catalog::shipped()),
    }
}
