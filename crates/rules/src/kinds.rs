//! The kinds of rules: the one list of them. A new kind is a row here, and a file with its settings and what they
//! become.

use std::sync::Arc;

use forecourt_settings::JsonProblem;
use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::callers::CallerRule;
use crate::consent::ConsentRule;
use crate::guard::Guardrail;
use crate::guardrail::GuardrailRule;
use crate::identity::IdentityRule;
use crate::legal::LegalRule;
use crate::limit::LimitRule;
use crate::maintenance::MaintenanceRule;
use crate::overload::OverloadRule;
use crate::payment::PaymentRule;
use crate::words::RuleWords;
use crate::{BuiltRule, RuleContext, RuleProblem};

/// What a kind of rule makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RuleProduct {
    /// A rule of the gate before an agent.
    Gate,
    /// What judges texts where messages enter and replies leave.
    Guardrail,
}

/// What was made.
pub(crate) enum BuiltKind {
    Gate(BuiltRule),
    Guardrail(Arc<Guardrail>),
}

/// Each row: the kind as it is written, its settings, what it makes, and the method of the settings that makes it.
macro_rules! rule_kinds {
    ($($(#[doc = $doc:literal])* $name:literal $kind:ident($settings:ty) => $product:ident by $build:ident,)+) => {
        /// What a rule wants, by its kind.
        #[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
        #[serde(tag = "kind")]
        pub enum RuleKind {
            $($(#[doc = $doc])* #[serde(rename = $name)] $kind($settings),)+
        }

        /// The kinds, as they are written.
        const KINDS: &[&str] = &[$($name),+];

        impl RuleKind {
            /// Reads the settings of the kind that is called `name`.
            fn read(name: &str, fields: Map<String, Value>) -> Result<Self, String> {
                match name {
                    $($name => read(fields).map(Self::$kind),)+
                    other => Err(format!("`kind`: there is no rule `{other}` (known: {})", KINDS.join(", "))),
                }
            }

            /// Its `kind`.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => $name,)+
                }
            }

            /// What it makes.
            pub(crate) fn product(&self) -> RuleProduct {
                match self {
                    $(Self::$kind(_) => RuleProduct::$product,)+
                }
            }

            /// Makes it.
            pub(crate) fn build(
                &self,
                words: &RuleWords,
                context: &RuleContext<'_>,
            ) -> Result<BuiltKind, RuleProblem> {
                match self {
                    $(Self::$kind(rule) => rule.$build(words, context).map(BuiltKind::$product),)+
                }
            }

            /// What it wants in a few words, for `forecourt check`.
            pub(crate) fn summary(&self) -> String {
                match self {
                    $(Self::$kind(rule) => rule.summary(),)+
                }
            }
        }
    };
}

rule_kinds! {
    /// Nobody passes unless this host verified who it is.
    "require_identity" RequireIdentity(IdentityRule) => Gate by build,
    /// Nobody passes before a person agreed to a text.
    "require_consent" RequireConsent(ConsentRule) => Gate by build,
    /// Nobody passes before somebody paid.
    "require_payment" RequirePayment(PaymentRule) => Gate by build,
    /// Only some callers pass.
    "allow" Allow(CallerRule) => Gate by build_allow,
    /// Some callers do not pass.
    "deny" Deny(CallerRule) => Gate by build_deny,
    /// Nobody passes more often than this.
    "limit" Limit(LimitRule) => Gate by build,
    /// Closed for now.
    "maintenance" Maintenance(MaintenanceRule) => Gate by build,
    /// Nobody passes while too much is under way.
    "overload" Overload(OverloadRule) => Gate by build,
    /// A law forbids it.
    "legal" Legal(LegalRule) => Gate by build,
    /// What messages and replies may say.
    "guardrail" Guardrail(GuardrailRule) => Guardrail by build,
}

/// By hand, since the derived reader of a tagged choice does not know the key at which something is wrong.
impl<'de> Deserialize<'de> for RuleKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Map::<String, Value>::deserialize(deserializer)?;
        let kind = match fields.remove("kind") {
            Some(Value::String(kind)) => kind,
            Some(_) => return Err(D::Error::custom("`kind`: expected a string")),
            None => return Err(D::Error::missing_field("kind")),
        };
        Self::read(&kind, fields).map_err(D::Error::custom)
    }
}

/// Reads what a kind has. A problem begins with the key that it is at, but for keys that are missing or unknown,
/// which name themselves.
fn read<T: DeserializeOwned>(fields: Map<String, Value>) -> Result<T, String> {
    forecourt_settings::from_json(&Value::Object(fields)).map_err(|JsonProblem { path, message }| {
        // The key that is missing or unknown is not part of `path`, which leads to the table around it.
        let names_itself = ["unknown field", "missing field"].iter().any(|start| message.starts_with(start));
        if names_itself || path.is_empty() { message } else { format!("`{path}`: {message}") }
    })
}
