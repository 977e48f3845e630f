//! Contracts as they are written, and read back.

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use forecourt_contract::endpoint::{Binding, Deprecation};
use forecourt_contract::negotiation::RecipeLineage;
use forecourt_contract::schema::SchemaError;
use forecourt_contract::semantic::Semantic;
use forecourt_contract::{Endpoint, Method, Recipe, Schema, Scope, Template};
use forecourt_core::json;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::record::{Contract, ContractEnd, ContractRecord};
use crate::Synthesis;
use crate::explanation::Explanation;

/// An entry as it is written. The first one of a stream stays for good, so that numbers are never given twice.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(super) enum NewEntry<'a> {
    /// The first entry of the stream, which holds nothing.
    Begun,
    /// A contract was made.
    Made { record: &'a ContractRecord, definition: &'a Definition },
    /// An offer was accepted.
    Accepted { synthesis_id: &'a str },
    /// A contract ended.
    Ended { synthesis_id: &'a str, end: &'a ContractEnd },
}

/// An entry as whoever follows the stream reads it: of contracts, what is kept at hand.
#[derive(Debug)]
pub(super) enum ContractEntry {
    /// The first entry of the stream, which changes nothing.
    Begun,
    /// A contract was made.
    Made(Box<ContractRecord>),
    /// An offer was accepted.
    Accepted(Arc<str>),
    /// A contract ended.
    Ended(Arc<str>, ContractEnd),
}

/// What a contract promises, and the calls that keep the promise.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Definition {
    /// The endpoint as others may see it.
    pub endpoint: Value,
    /// The calls.
    pub plan: Arc<Recipe>,
    /// How long all of them may take together, in milliseconds.
    timeout_millis: u64,
    /// The calls in words. None in what older programs wrote.
    #[serde(default)]
    pub explanation: Option<Explanation>,
}

/// The hashes of a contract.
pub(super) struct Hashes {
    /// Of its endpoint and its lineage. Section 10.1.6.
    pub contract: Arc<str>,
    /// Of its definition and its lineage.
    pub plan: Arc<str>,
}

/// An endpoint as its projection has it.
#[derive(Deserialize)]
struct Projection {
    method: Method,
    description: String,
    #[serde(default)]
    namespace: Option<String>,
    semantic: Semantic,
    input_schema: Value,
    output_schema: Value,
    errors: Vec<String>,
    #[serde(default)]
    required_scopes: Vec<Scope>,
    #[serde(default)]
    deprecated: Option<Deprecation>,
}

/// Why a definition that was written is none any more.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DefinitionError {
    /// It was written by a program that has endpoints of another kind.
    #[error("its endpoint can't be read: {0}")]
    Form(#[from] serde_json::Error),
    /// A schema of it breaks today's rules.
    #[error("its schema breaks a rule: {0}")]
    Schema(#[from] SchemaError),
}

impl ContractEntry {
    /// Reads an entry.
    ///
    /// # Errors
    /// It is none that this program knows.
    pub(super) fn read(body: &Value) -> Result<ContractEntry, serde_json::Error> {
        let name = || Arc::<str>::deserialize(&body["synthesis_id"]);
        match body["kind"].as_str() {
            Some("begun") => Ok(Self::Begun),
            Some("made") => Ok(Self::Made(Box::new(ContractRecord::deserialize(&body["record"])?))),
            Some("accepted") => Ok(Self::Accepted(name()?)),
            Some("ended") => Ok(Self::Ended(name()?, ContractEnd::deserialize(&body["end"])?)),
            _ => Err(serde::de::Error::custom("an entry of another kind")),
        }
    }
}

impl Definition {
    /// The definition of a synthesis that was found.
    pub(super) fn of(synthesis: &Synthesis) -> Definition {
        let timeout = synthesis.endpoint.binding.timeout();
        Definition {
            endpoint: synthesis.endpoint.projection(),
            plan: Arc::clone(&synthesis.plan),
            timeout_millis: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
            explanation: Some(synthesis.explanation.clone()),
        }
    }

    /// Reads the definition in an entry that made a contract.
    pub(super) fn read(body: &Value) -> Result<Definition, serde_json::Error> {
        Definition::deserialize(&body["definition"])
    }

    /// The hashes over the canonical JSON (RFC 8785). Fails on numbers that have no canonical form.
    pub(super) fn hashes(&self, lineage: Option<&RecipeLineage>) -> Result<Hashes, String> {
        // Only the endpoint and the lineage: section 10.1.6 says what `contract_hash` covers, so the plan has a hash of
        // its own.
        let contract = serde_json::json!({"endpoint": self.endpoint, "recipe_lineage": lineage});
        let plan = serde_json::json!({"contract": contract, "plan": self.plan, "timeout": self.timeout_millis});
        Ok(Hashes { contract: hash(&contract)?, plan: hash(&plan)? })
    }

    /// The contract of a record.
    pub(super) fn contract(self, record: Arc<ContractRecord>) -> Contract {
        let explanation = self.explanation.unwrap_or_else(|| Explanation::of_recipe(&self.plan));
        Contract { record, endpoint: self.endpoint, plan: self.plan, explanation }
    }

    /// How long all calls may take together.
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_millis)
    }

    /// The endpoint at the path of its contract, as calls are held to it.
    pub(super) fn endpoint(&self, path: &Template) -> Result<Endpoint, DefinitionError> {
        let projection = Projection::deserialize(&self.endpoint)?;
        Ok(Endpoint {
            method: projection.method,
            path: path.clone(),
            description: projection.description,
            namespace: projection.namespace,
            semantic: projection.semantic,
            input: Schema::input(projection.input_schema)?,
            output: Schema::output(projection.output_schema, false)?,
            errors: projection.errors,
            required_scopes: projection.required_scopes,
            deprecated: projection.deprecated,
            offers: Vec::new(),
            binding: Binding::Composition { recipe: self.plan.name.clone(), timeout: self.timeout() },
        })
    }
}

fn hash(value: &Value) -> Result<Arc<str>, String> {
    let bytes = json::canonical(value)?;
    Ok(digest(&SHA256, &bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect::<String>().into())
}
