//! From the files of a deployment to what answers calls. Sections 4.5, 9.4 and 13.2, appendix A.1.
//!
//! Endpoints lie in `endpoints/`, one to a file; recipes in one file beside them. What is wrong is
//! refused with its file, its line and a short name; the rest is served. Whether that is good enough is
//! for the caller to say.

mod bind;
mod meanings;
mod recipes;
mod settle;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use forecourt_contract::catalog::CatalogError;
use forecourt_contract::endpoint::{self, RegistrationContext};
use forecourt_contract::limits::{CATALOG_BYTES_MAX, ENDPOINTS_MAX, SCHEMA_BYTES_MAX};
use forecourt_contract::policy::{MethodPolicyError, MethodPolicySettings, SkippedSetting};
use forecourt_contract::{Catalog, Dispatcher, Endpoint, HostHandle, MethodPolicy, RecipeBook, Registry, Rules};
use forecourt_egress::Egress;
use forecourt_settings::{Environment, Problem, Problems, Section, files};

use crate::function::Functions;

/// The folder of endpoints.
pub const FOLDER: &str = "endpoints";

/// What the settings say about all endpoints together.
pub struct RegistrationTerms {
    /// The vocabulary.
    pub catalog: Arc<Catalog>,
    /// Which methods are let in.
    pub policy: MethodPolicy,
    /// Entries of the policy without effect, which the operator should hear of. Section 9.4.
    pub skipped: Vec<SkippedSetting>,
    /// The operator's switches.
    pub rules: Rules,
    /// The paths of the host's own that the operator answers instead. Section 5.9.
    pub overrides: BTreeSet<String>,
    /// Whether outputs are held to what they declare and nothing more. Section 13.3.
    pub is_output_strict: bool,
}

/// What the kinds of handlers need.
pub struct Kinds {
    /// What services elsewhere are reached through.
    pub egress: Egress,
    /// Where functions are found.
    pub functions: Functions,
    /// The host in which the steps of compositions are called. Bound by whoever sets it to work.
    pub host: HostHandle,
}

/// What became of the files.
pub struct LoadReport {
    /// What answers calls: every endpoint that keeps all rules.
    pub dispatcher: Arc<Dispatcher>,
    /// What is wrong with the others. Each message begins with the short name of the fault where it is
    /// one of a rule, such as `recipe-not-found`.
    pub refused: Problems,
    /// Entries of the policy without effect.
    pub skipped: Vec<SkippedSetting>,
}

/// The vocabulary of a file of the operator's, with what no host can do without. Section 4.9.
///
/// # Errors
/// The file can't be read, or is no catalog.
pub fn catalog(file: &Path) -> Result<Arc<Catalog>, Problem> {
    let bytes = files::bytes_of(file, CATALOG_BYTES_MAX).map_err(|why| Problem::of_file(file, why))?;
    let read = Catalog::read(&bytes).map_err(|fault: CatalogError| Problem::of_file(file, fault.to_string()))?;
    Ok(Arc::new(read.with_floor()))
}

impl RegistrationTerms {
    /// The terms of a policy, and of everything else as it comes.
    ///
    /// # Errors
    /// Every setting of the policy that must be put right before the host may start.
    pub fn new(
        policy: &MethodPolicySettings,
        catalog: Arc<Catalog>,
    ) -> Result<RegistrationTerms, Vec<MethodPolicyError>> {
        let (policy, skipped) = MethodPolicy::new(policy, &catalog)?;
        Ok(RegistrationTerms {
            catalog,
            policy,
            skipped,
            rules: Rules::default(),
            overrides: BTreeSet::new(),
            is_output_strict: false,
        })
    }
}

impl LoadReport {
    /// Writes everything that was left out to the log, a line each.
    pub fn warn(&self) {
        for skipped in &self.skipped {
            tracing::warn!(%skipped, "a setting of the method policy is skipped");
        }
        for problem in self.refused.iter() {
            let (file, line) = (problem.file().display(), problem.line());
            tracing::warn!(%file, line, reason = problem.message(), "an endpoint or a recipe is refused");
        }
        let further = self.refused.len() - self.refused.iter().count();
        if further > 0 {
            tracing::warn!(further, "more is refused than is listed");
        }
    }
}

/// Loads the endpoints and recipes of the deployment in `folder`. A deployment without any is fine.
pub fn load(folder: &Path, terms: RegistrationTerms, environment: &dyn Environment, kinds: &Kinds) -> LoadReport {
    let mut refused = Problems::new();
    // Recipes first: endpoints name them.
    let recipes = recipes::load(folder, &terms, environment, &mut refused);
    let meanings = meanings::load(folder, environment, &mut refused);
    let makers = bind::Makers { kinds, recipes: &recipes };
    let mut bound = Vec::new();
    for file in refused.absorb(endpoint_files(folder)).unwrap_or_default() {
        let drafted = draft(&file, &terms, &recipes, kinds, environment);
        let made = drafted.and_then(|draft| bind::bind(draft, &makers).map_err(Problems::from));
        bound.extend(refused.absorb(made));
    }
    let RegistrationTerms { catalog, policy, skipped, rules, .. } = terms;
    let registry = Registry::default();
    let host = kinds.host.clone();
    let empty = Dispatcher { catalog, policy, registry, recipes, meanings, rules, host };
    let dispatcher = Arc::new(settle::settle(empty, bound, &mut refused));
    LoadReport { dispatcher, refused, skipped }
}

/// An endpoint as its file declares it, with the table for what is found out later.
struct Draft {
    endpoint: Endpoint,
    table: Section,
}

fn endpoint_files(folder: &Path) -> Result<Vec<std::path::PathBuf>, Problem> {
    let mut all = files::files_in(&folder.join(FOLDER), ENDPOINTS_MAX)?;
    all.retain(|file| !recipes::is_named_so(file));
    Ok(all)
}

fn draft(
    file: &Path,
    terms: &RegistrationTerms,
    recipes: &RecipeBook,
    kinds: &Kinds,
    environment: &dyn Environment,
) -> Result<Draft, Problems> {
    let section = Section::parse(file, &files::text_of(file)?, environment)?;
    let table = section.clone().take_or_empty("endpoint");
    let egress = kinds.egress.config();
    let around = RegistrationContext {
        catalog: &terms.catalog,
        policy: &terms.policy,
        recipes,
        overrides: &terms.overrides,
        is_output_strict: terms.is_output_strict,
        is_http_open: egress.allow_http && !egress.allow.is_empty(),
    };
    let schema = |path: &Path| files::bytes_of(path, SCHEMA_BYTES_MAX).map_err(|why| format!("the file {why}"));
    let endpoint = endpoint::read(section, &around, &schema)?;
    Ok(Draft { endpoint, table })
}
