//! The fields of a request, each as what it means. Base 2.4.

use forecourt_agtp_wire::message::Fields;
use forecourt_contract::ScopeSet;
use forecourt_contract::call::{ContractTerms, Thread};
use forecourt_core::StateToken;
use forecourt_core::limits::HOPS_MAX;

use crate::limits::{NAME_CHARS_MAX, OWNER_CHARS_MAX};
use crate::problem::{STATE, bad_field};
use crate::reply::Problem;

/// How many of us stand in line before the request, so that services and agents that lead back here come
/// to an end. Not of the protocol.
const HOPS: &str = "Forecourt-Hops";

/// What the fields of a request say. Those that mean nothing here are passed over.
#[derive(Debug, Default)]
pub(crate) struct RequestFields<'a> {
    /// The calling agent.
    pub agent_id: Option<&'a str>,
    /// The scopes that the call claims.
    pub claimed: Option<ScopeSet>,
    /// The task, the session and the request that the call belongs to.
    pub thread: Thread,
    /// What it says of contracts. AGTP-API 10.1.5.
    pub contract: ContractTerms,
    /// The key by which the caller knows a repetition.
    pub idempotency_key: Option<String>,
    /// The owner of the calling agent, who answers for it.
    pub owner_id: Option<&'a str>,
    /// Whom the calling agent acts for. Only compared with what a certificate says.
    pub principal_id: Option<&'a str>,
    /// The zone that the call is for.
    pub zone: Option<&'a str>,
    /// A token.
    pub authorization: Option<&'a str>,
    /// The media type of the body.
    pub content_type: Option<&'a str>,
    /// The media types that are taken.
    pub accept: Option<&'a str>,
    /// The tags of documents that the caller has.
    pub if_none_match: Option<&'a str>,
    /// Agents and services in line before it. What can't be read counts as the longest line.
    pub hops: u32,
    /// The refusal that the caller goes on after.
    pub state: Option<StateToken>,
}

impl<'a> RequestFields<'a> {
    /// Reads the fields.
    ///
    /// # Errors
    /// A field that has another form than it must.
    pub(crate) fn read(fields: &'a Fields) -> Result<Self, Problem> {
        let get = |name| fields.get(name);
        let claimed = get("Authority-Scope").map(ScopeSet::parse_list).transpose();
        let thread = Thread {
            task_id: name(fields, "Task-ID")?,
            session_id: name(fields, "Session-ID")?,
            request_id: name(fields, "Request-ID")?,
            connection: None,
        };
        let presented = one_of(fields, "Contract-Synthesized", "Synthesis-Id")?;
        let contract = ContractTerms {
            presented: presented.map(|id| fitting("Contract-Synthesized", id)).transpose()?,
            // Exactly this word: nothing else may have a contract made. AGTP-API 10.1.5.
            allows_new: get("Allow-RCNS") == Some("true"),
        };
        let key = one_of(fields, "Idempotency-Key", "RCNS-Idempotency-Key")?;
        Ok(Self {
            agent_id: one_of(fields, "Agent-ID", "Target-Agent")?,
            claimed: claimed.map_err(|error| bad_field("Authority-Scope", &format!("can't be read: {error}")))?,
            thread,
            contract,
            idempotency_key: key.map(|key| fitting("Idempotency-Key", key)).transpose()?,
            owner_id: get("Owner-ID").map(owner).transpose()?,
            principal_id: get("Principal-ID"),
            zone: get("AGTP-Zone-ID"),
            authorization: get("Authorization"),
            content_type: get("Content-Type"),
            accept: get("Accept"),
            if_none_match: get("If-None-Match"),
            hops: get(HOPS).map_or(0, |hops| hops.parse().unwrap_or(HOPS_MAX)),
            state: get(STATE).and_then(StateToken::parse),
        })
    }
}

/// A field by its name, or by the name that it had before. Two that differ are refused.
fn one_of<'a>(fields: &'a Fields, name: &'static str, former: &'static str) -> Result<Option<&'a str>, Problem> {
    match (fields.get(name), fields.get(former)) {
        (Some(now), Some(before)) if now != before => {
            Err(bad_field(name, &format!("and `{former}` differ: send `{name}` alone")))
        }
        (now, before) => Ok(now.or(before).filter(|value| !value.is_empty())),
    }
}

/// A name that the caller gave to something; none when it is empty.
fn name(fields: &Fields, field: &'static str) -> Result<Option<String>, Problem> {
    fields.get(field).filter(|value| !value.is_empty()).map(|value| fitting(field, value)).transpose()
}

fn fitting(field: &'static str, value: &str) -> Result<String, Problem> {
    match value.len() <= NAME_CHARS_MAX {
        true => Ok(value.to_owned()),
        false => Err(bad_field(field, &format!("has more than {NAME_CHARS_MAX} characters"))),
    }
}

fn owner(value: &str) -> Result<&str, Problem> {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"-_:.".contains(&byte);
    match (1..=OWNER_CHARS_MAX).contains(&value.len()) && value.bytes().all(known) {
        true => Ok(value),
        false => Err(bad_field("Owner-ID", "must be 1 to 256 of letters, digits, `-`, `_`, `:` and `.`")),
    }
}
