//! This module reads `[endpoints]` of `forecourt.toml`: what holds for all endpoints together, whichever
//! protocol a call comes by.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use forecourt_contract::policy::{MethodPolicySettings, SkippedSetting};
use forecourt_contract::{Catalog, Method, Rules, reserved};
use forecourt_settings::{DocumentedSection, Problem, Problems, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::load::{self, RegistrationTerms};

/// The section's name.
pub const SECTION: &str = "endpoints";

/// The section, for the generated reference.
pub const DOCUMENTED: DocumentedSection = DocumentedSection {
    section: "forecourt.toml [endpoints]",
    about: "What holds for all endpoints, whichever protocol a call comes by.",
    schema: || schemars::schema_for!(EndpointPolicySettings),
};

/// What holds for all endpoints together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EndpointPolicySettings {
    /// A catalog of methods to use in place of the one that comes with the program: a JSON file,
    /// relative to this one. The eighteen methods that every host answers stay.
    #[schemars(with = "Option<String>")]
    pub catalog: Option<PathBuf>,
    /// What to do with an endpoint that breaks a rule: serve the others, or fail to start.
    pub on_refused: OnRefused,
    /// Whether what endpoints give may hold no more than what they declare.
    pub strict_outputs: bool,
    /// Whether every call of an endpoint must say which scopes it uses: over AGTP in `Authority-Scope`.
    pub scope_required: bool,
    /// Whether calls beyond what is declared are consented to. Agents consent in their own documents;
    /// where exactly one side does, the call is refused.
    pub wildcards_accepted: bool,
    /// Methods that are refused without a bearer token, whatever the way in: as a call, as a tool or a
    /// skill, or as a step of a composition. A certificate proves an agent, and is no token.
    pub token_required: Vec<String>,
    /// Reserved paths, such as `/tools`, at which an endpoint of yours answers DISCOVER. It has to keep
    /// to what callers expect there.
    pub builtin_overrides: Vec<String>,
    /// Which methods are let in, and under which name.
    pub methods: MethodPolicySettings,
}

/// What becomes of the others when an endpoint breaks a rule. AGTP-API 13.2.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnRefused {
    /// They are served.
    #[default]
    Serve,
    /// The host does not start.
    Fail,
}

/// The section `[endpoints]`, read and checked.
pub struct EndpointPolicy {
    /// What endpoints are registered among.
    pub terms: RegistrationTerms,
    /// Whether one that is refused keeps the host from starting.
    pub must_be_whole: bool,
}

impl Default for EndpointPolicySettings {
    fn default() -> Self {
        Self {
            catalog: None,
            on_refused: OnRefused::default(),
            strict_outputs: false,
            scope_required: true,
            wildcards_accepted: false,
            token_required: Vec::new(),
            builtin_overrides: Vec::new(),
            methods: MethodPolicySettings::default(),
        }
    }
}

impl EndpointPolicy {
    /// Reads the section.
    ///
    /// # Errors
    /// Everything that keeps the host from starting: settings that are wrong, a catalog that can't be read,
    /// aliases that lead in circles. AGTP-API 9.2, 9.4.
    pub fn read(section: &Section) -> Result<Self, Problems> {
        let settings: EndpointPolicySettings = section.read()?;
        let mut problems = Problems::new();
        for path in &settings.builtin_overrides {
            if !path.strip_prefix('/').is_some_and(|name| reserved::ROOTS.contains(&name)) {
                let known = reserved::ROOTS.map(|name| format!("/{name}")).join(", ");
                let message = format!("`builtin_overrides` takes the reserved paths {known}, not `{path}`");
                problems.push(section.problem(Some("builtin_overrides"), message));
            }
        }
        problems.into_result(())?;
        let mut terms = RegistrationTerms::new(&settings.methods, catalog(&settings, section)?).map_err(|faults| {
            let mut problems = Problems::new();
            let at = |fault| section.problem(Some("methods"), format!("[endpoints.methods] {fault}"));
            problems.extend(faults.into_iter().map(at));
            problems
        })?;
        let rules = Rules {
            scope_required: settings.scope_required,
            wildcards_accepted: settings.wildcards_accepted,
            token_required: token_required(&settings.token_required, &mut terms, section)?,
        };
        let overrides = settings.builtin_overrides.into_iter().collect();
        Ok(Self {
            terms: RegistrationTerms { rules, overrides, is_output_strict: settings.strict_outputs, ..terms },
            must_be_whole: settings.on_refused == OnRefused::Fail,
        })
    }
}

/// The methods that need a token. One that is none here any more is told and skipped, like those of the
/// method policy; a word that no method can be would protect nothing.
fn token_required(
    names: &[String],
    terms: &mut RegistrationTerms,
    section: &Section,
) -> Result<BTreeSet<Method>, Problem> {
    let mut needed = BTreeSet::new();
    for name in names {
        let Ok(method) = Method::parse(name) else {
            let message = format!("`token_required` takes methods, 3 to 32 capital letters, not `{name}`");
            return Err(section.problem(Some("token_required"), message));
        };
        match terms.policy.resolve(name, &terms.catalog) {
            Some(_) => drop(needed.insert(method)),
            None => terms.skipped.push(SkippedSetting {
                directive: "token_required",
                method: name.clone(),
                reason: "is neither in the catalog nor under `custom`",
            }),
        }
    }
    Ok(needed)
}

/// The operator's catalog, or the program's own.
fn catalog(settings: &EndpointPolicySettings, section: &Section) -> Result<Arc<Catalog>, Problems> {
    match &settings.catalog {
        Some(path) => load::catalog(&section.folder().join(path)).map_err(Problems::from),
        None => Ok(Catalog::shipped()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn read(text: &str) -> Result<EndpointPolicy, Problems> {
        EndpointPolicy::read(&Section::parse(Path::new("forecourt.toml"), text, &|_: &str| None).unwrap())
    }

    #[test]
    fn each_mistake_is_named() {
        for (text, words) in [
            ("builtin_overrides = [\"/rooms\"]", "reserved paths /methods"),
            ("token_required = [\"BOOK\", \"pay\"]", "3 to 32 capital letters, not `pay`"),
            ("[methods.aliases]\nGET = \"LIST\"\nLIST = \"FETCH\"", "alias"),
            ("wildcards = true", "wildcards"),
            ("catalog = \"no-such-file.json\"", "no-such-file.json"),
        ] {
            let found = read(text).map(drop).expect_err(text).to_string();
            assert!(found.contains(words), "{text}: {found}");
        }
    }

    #[test]
    fn s9_4_the_policy_on_methods_is_read() {
        let text = "on_refused = \"fail\"\nscope_required = false\n\
            [methods]\ndisallow = [\"PURCHASE\", \"NONESUCH\", \"QUERY\"]\ncustom = [\"FROBNICATE\"]";
        let policy = read(text).unwrap();
        assert!(policy.must_be_whole && !policy.terms.rules.scope_required);
        assert_eq!(policy.terms.skipped.len(), 2);
        assert_eq!(policy.terms.policy.custom().count(), 1);
        assert!(!read("").unwrap().must_be_whole);
    }

    #[test]
    fn base_7_4_methods_that_need_a_token_are_read() {
        let terms = read("token_required = [\"BOOK\", \"POST\", \"NONESUCH\"]").unwrap().terms;
        let needed: Vec<_> = terms.rules.token_required.iter().map(|method| method.as_str()).collect();
        assert_eq!(needed, ["BOOK", "POST"]);
        assert_eq!(terms.skipped.iter().map(|one| one.method.as_str()).collect::<Vec<_>>(), ["NONESUCH"]);
    }
}
