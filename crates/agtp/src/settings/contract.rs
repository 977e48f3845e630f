//! What the section says about endpoints, for whoever loads them.

use std::sync::Arc;

use forecourt_contract::{Catalog, Rules};
use forecourt_endpoints::{Terms, load};
use forecourt_settings::{Problems, Section};
use forecourt_surface::EndpointSettings;

use super::{OnRefused, Settings};

/// Reads what the section says about endpoints.
///
/// # Errors
/// Everything that keeps the host from starting: settings that are wrong, a catalog that can't be read,
/// aliases that lead in circles. AGTP-API 9.2, 9.4.
pub(crate) fn endpoint_settings(section: &Section) -> Result<EndpointSettings, Problems> {
    let settings = Settings::read(section)?;
    let catalog = catalog(&settings, section)?;
    let terms = Terms::new(&settings.policies.methods, catalog).map_err(|faults| {
        let mut problems = Problems::new();
        let at = |fault| section.problem(Some("policies"), format!("[policies.methods] {fault}"));
        problems.extend(faults.into_iter().map(at));
        problems
    })?;
    let rules = Rules {
        scope_required: settings.policies.scope_required_for_invocation,
        wildcards_accepted: settings.policies.wildcards_accepted,
    };
    let overrides = settings.policies.builtins.overrides.into_iter().collect();
    Ok(EndpointSettings {
        terms: Terms { rules, overrides, is_output_strict: settings.strict_outputs, ..terms },
        must_be_whole: settings.on_refused_endpoint == OnRefused::Fail,
    })
}

/// The operator's catalog, or the program's own.
fn catalog(settings: &Settings, section: &Section) -> Result<Arc<Catalog>, Problems> {
    match &settings.catalog {
        Some(path) => load::catalog(&section.folder().join(path)).map_err(Problems::from),
        None => Ok(Catalog::shipped()),
    }
}
