//! DESCRIBE: who an agent is, or what it can do. Base 3.1, 6.3.

use arc_swap::ArcSwap;
use forecourt_agtp_wire::status::Status;
use forecourt_contract::catalog::EMBEDDED;
use forecourt_core::store::Span;
use forecourt_core::{AgentCard, ContentMode, Timestamp};
use forecourt_host::LifecycleView;
use forecourt_identity::HostKeys;
use forecourt_identity::agents::{AgentIdentity, Current, Issuer};
use serde_json::{Map, Value, json};

use super::agents::{HostAgents, no_agent};
use super::call::MethodCall;
use super::document::{Form, render};
use crate::reply::{Problem, Reply};
use crate::service::lifecycle_state;

/// What can be asked about.
const DOMAINS: [&str; 6] = ["methods", "modalities", "tools", "version", "budget", "zones"];

/// DESCRIBE: the identity document of an agent, or its capabilities.
pub(super) struct DescribeMethod<'a> {
    pub call: MethodCall<'a>,
    pub agents: HostAgents<'a>,
    /// The media types that are taken, as sent.
    pub accept: Option<&'a str>,
    pub lifecycle: LifecycleView<'a>,
    /// The keys that sign the document.
    pub keys: &'a ArcSwap<HostKeys>,
}

impl DescribeMethod<'_> {
    /// The identity document; with `capability_domains` or `version_min`, what the agent can do.
    pub(super) async fn run(&self) -> Result<Reply, Problem> {
        let form = Form::wanted(self.call.given.one_of(&["format"], &Form::WORDS)?, self.accept);
        let agent = self.described()?;
        let handle = agent.handle.as_ref().ok_or_else(|| no_agent(None))?;
        let card = self.agents.card(handle).ok_or_else(|| no_agent(None))?;
        let asks_for_capabilities =
            self.call.given.get(&["capability_domains"]).or(self.call.given.get(&["version_min"])).is_some();
        let document = match asks_for_capabilities {
            true => self.capabilities(agent, card)?,
            false => self.document(agent).await?,
        };
        Ok(render(&document, &card.name, form).with("X-AGTP-Document-Type", "agtp.agent.document"))
    }

    /// The agent that is asked about: one that is named, else the one that is addressed.
    fn described(&self) -> Result<&AgentIdentity, Problem> {
        let Some(id) = self.call.given.agent(&["agent_id"])? else { return Ok(self.agents.addressed()?.0) };
        self.agents.get(&id)
    }

    /// The identity document as it is now, signed by this host unless somebody else did.
    async fn document(&self, agent: &AgentIdentity) -> Result<Map<String, Value>, Problem> {
        let document = agent.document().ok_or_else(|| no_agent(Some(agent.agent_id.as_str())))?;
        let (status, updated_at) = (lifecycle_state(self.lifecycle, agent).await?, self.changed_at(agent).await?);
        let keys = self.keys.load();
        let issuer = Issuer { name: self.agents.site.domain.as_str(), key: keys.current() };
        let current = Current { status: status.name(), updated_at, methods: &EMBEDDED };
        let current = document.current(current, issuer).map_err(|error| {
            tracing::error!(fault = %error, agent = %agent.agent_id, "an identity document could not be signed");
            Problem::new(Status::SERVER_ERROR, "server-error", "the document could not be written")
        })?;
        Ok(current.fields().clone())
    }

    /// When it changed last where the agent stands; `None`: never.
    async fn changed_at(&self, agent: &AgentIdentity) -> Result<Option<Timestamp>, Problem> {
        let Some(handle) = &agent.handle else { return Ok(None) };
        let newest = self.lifecycle.changes(handle, Span::Before(u64::MAX), 1).await?;
        Ok(newest.first().map(|(_, kept)| kept.change.at))
    }

    /// The capability document, of the domains that were asked for.
    fn capabilities(&self, agent: &AgentIdentity, card: &AgentCard) -> Result<Map<String, Value>, Problem> {
        let domains = self.domains()?;
        let least = self.call.given.text(&["version_min"])?;
        let trust = agent.document().and_then(|document| document.fields().get("trust_score").cloned());
        let all = [
            ("methods", "methods", json!(EMBEDDED)),
            (
                "modalities",
                "modalities",
                json!({"input": modes(&card.input_modes), "output": modes(&card.output_modes)}),
            ),
            ("tools", "tools", card.skills.iter().map(|skill| Value::from(skill.id.as_str())).collect()),
            ("version", "version", card.version.as_str().into()),
            ("budget", "budget_units_accepted", json!([])),
            ("zones", "zones_accepted", agent.governance_zone.iter().map(|zone| Value::from(zone.as_str())).collect()),
        ];
        let mut document = Map::new();
        document.insert("agent_id".to_owned(), agent.agent_id.as_str().into());
        let wanted = all.into_iter().filter(|(domain, ..)| domains.contains(domain));
        document.extend(wanted.map(|(_, name, value)| (name.to_owned(), value)));
        document
            .extend(least.map(|least| ("version_min_satisfied".to_owned(), is_at_least(&card.version, least).into())));
        document.extend(trust.map(|trust| ("trust_score".to_owned(), trust.clone())));
        Ok(document)
    }

    fn domains(&self) -> Result<Vec<&'static str>, Problem> {
        let Some(list) = self.call.given.text(&["capability_domains"])? else { return Ok(DOMAINS.to_vec()) };
        let known = |word: &str| DOMAINS.into_iter().find(|domain| *domain == word.trim());
        let wrong = || self.call.given.wrong(&["capability_domains"], &format!("is a list of {}", DOMAINS.join(", ")));
        list.split(',').map(|word| known(word).ok_or_else(wrong)).collect()
    }
}

fn modes(modes: &[ContentMode]) -> Vec<&str> {
    let name = |mode| match mode {
        &ContentMode::Link => "link",
        ContentMode::Text { mime } | ContentMode::File { mime } | ContentMode::Artifact { mime } => mime,
    };
    modes.iter().map(name).collect()
}

/// Whether a version is another one or a later one, number by number.
fn is_at_least(version: &str, least: &str) -> bool {
    let numbers = |text: &str| -> Vec<u64> {
        let numbers = text.trim_start_matches('v').split(['.', '-', '+']).map_while(|part| part.parse().ok());
        numbers.chain(std::iter::repeat(0)).take(3).collect()
    };
    numbers(version) >= numbers(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s3_1_versions_are_compared_by_number() {
        for (version, least, holds) in
            [("1.10.0", "1.9", true), ("1.2.3", "1.2.3", true), ("1.2", "1.2.1", false), ("v2", "1.9.9", true)]
        {
            assert_eq!(is_at_least(version, least), holds, "{version} {least}");
        }
    }
}
