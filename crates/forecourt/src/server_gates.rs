//! The servers behind a deployment, each behind its gate.

use std::sync::Arc;

use forecourt_core::{AgentCard, Handle, Language, Site};
use forecourt_egress::Egress;
use forecourt_host::ServerGate;
use forecourt_settings::Problems;
use forecourt_surface::ServerDefinition;

use crate::agents::context_of;
use crate::deployment::Deployment;
use crate::rules::{RuleBuilder, ServerRules};
use crate::servers::ServerFile;

/// The definitions of the servers of a deployment, each behind its gate. Fails with everything that is wrong with the
/// rules.
pub(crate) fn definitions(
    deployment: &Deployment,
    files: Vec<ServerFile>,
    site: &Site,
    egress: &Egress,
    rules: &RuleBuilder<'_>,
) -> Result<Vec<ServerDefinition>, Problems> {
    let mut problems = Problems::new();
    let define = |file: ServerFile| {
        let ServerRules { rules, guards } = problems.absorb(rules.build_server(&file))?;
        let gate = ServerGate::new(Arc::new(card(&file.name, site)), rules).guarded(guards);
        let context = context_of(&file.name, &deployment.dir, site, egress, &deployment.data);
        Some(ServerDefinition { name: file.name, section: file.section, gate, context })
    };
    let defined = files.into_iter().filter_map(define).collect();
    problems.into_result(defined)
}

/// What is said of a server where something is issued for it, such as a consent.
pub(crate) fn card(name: &Handle, site: &Site) -> AgentCard {
    AgentCard {
        address: site.address(name),
        name: name.to_string(),
        description: format!("The server `{name}` behind {}.", site.name),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        icon: None,
        skills: Vec::new(),
        input_modes: Vec::new(),
        output_modes: Vec::new(),
        homepage: None,
        language: Language::english(),
        streams: false,
        uses_tools: false,
        remembers: false,
        composes: false,
        finds: false,
        wants_token: false,
        cors: false,
        cache_control: None,
        examples: Vec::new(),
        endpoints: Vec::new(),
        via: Vec::new(),
    }
}
