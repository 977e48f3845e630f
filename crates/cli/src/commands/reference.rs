//! The reference of all settings, from the types that read them, and that of all errors.

mod errors;

use forecourt::telemetry::TelemetrySettings;
use forecourt_contract::{endpoint, meaning, recipe};
use forecourt_egress::EgressConfig;
use forecourt_endpoints::{policy, python};
use forecourt_host::LimitSettings;
use forecourt_identity::IdentityConfig;
use forecourt_identity::agents::AgentIdentitySettings;
use forecourt_payments::PaymentsSettings;
use forecourt_rules::{HostRuleSettings, HubRuleSettings, ServerRuleSettings};
use forecourt_server::HttpLimits;
use forecourt_settings::{DocumentedSection, Reference, document};
use schemars::schema_for;

use crate::args::{ReferenceArguments, ReferenceTopic};
use crate::output::{Outcome, stdout};
use forecourt::registry::{BACKENDS, CONNECTORS, PROTOCOLS, PagesSettings, SERVERS};
use forecourt::settings::{
    AdminSettings, AgentSettings, BusSettings, DomainEntry, DrainSettings, GeoSettings, HubSettings, Listen, Log,
    MetricsSettings, QuestionSettings, ReloadSettings, StoreSettings, Tls, TopSettings,
};

/// Prints a reference as markdown.
pub(crate) fn run(arguments: &ReferenceArguments) -> Outcome {
    match arguments.what {
        ReferenceTopic::Config => stdout(format_args!("{}", markdown())),
        ReferenceTopic::Errors => stdout(format_args!("{}", errors::markdown())),
        ReferenceTopic::Alerts => stdout(format_args!("{}", forecourt::alerts::prometheus_rules())),
    }
    Ok(())
}

/// The whole reference as markdown: `docs/reference/config.md` is this.
pub(crate) fn markdown() -> String {
    let intro = "# Configuration reference\n\nGenerated from the types that read each key. A deployment is a folder \
                 with `forecourt.toml` and one file for each agent in `agents/`. Unknown keys are errors. `${VAR}` in \
                 a value comes from the environment, `${file:PATH}` from a file and `${credential:NAME}` from systemd. \
                 `FORECOURT__TABLE__KEY` in the environment goes before a key of `forecourt.toml`.\n\n";
    format!("{intro}{}", reference().markdown())
}

/// Every section with all of its keys.
pub(crate) fn reference() -> Reference {
    document(&sections())
}

/// Every section and the type that reads it.
pub(super) fn sections() -> Vec<DocumentedSection> {
    let mut sections = vec![
        documented("forecourt.toml", "Who you are.", || schema_for!(TopSettings)),
        documented("forecourt.toml [[domain]]", "One of several domains of one daemon.", || schema_for!(DomainEntry)),
        documented("forecourt.toml [listen]", "Where the daemon listens. Flags go before these.", || {
            schema_for!(Listen)
        }),
        documented("forecourt.toml [tls]", "A certificate of your own.", || schema_for!(Tls)),
        documented("forecourt.toml [admin]", "Calls on the operator's listener that change something.", || {
            schema_for!(AdminSettings)
        }),
        documented("forecourt.toml [store]", "Where tasks and conversations are kept.", || schema_for!(StoreSettings)),
        documented("forecourt.toml [bus]", "What several nodes tell each other by.", || schema_for!(BusSettings)),
        documented("forecourt.toml [questions]", "A log of what people ask. Off unless you turn it on.", || {
            schema_for!(QuestionSettings)
        }),
        documented("forecourt.toml [limits]", "What one caller may do.", || schema_for!(LimitSettings)),
        documented("forecourt.toml [http]", "What one connection may use.", || schema_for!(HttpLimits)),
        documented("forecourt.toml [egress]", "What the daemon may connect to for a caller.", || {
            schema_for!(EgressConfig)
        }),
        documented("forecourt.toml [identity]", "Whose proofs are taken.", || schema_for!(IdentityConfig)),
        documented(
            "forecourt.toml [[policy]]",
            "Rules before several agents, which are asked before an agent's own.",
            || schema_for!(HostRuleSettings),
        ),
        documented("forecourt.toml [payments]", "How agents are paid with x402.", || schema_for!(PaymentsSettings)),
        documented("forecourt.toml [pages]", "How pages look, and who may embed the search box.", || {
            schema_for!(PagesSettings)
        }),
        documented("forecourt.toml [geo]", "Where network addresses are.", || schema_for!(GeoSettings)),
        documented("forecourt.toml [log]", "What is written to standard error.", || schema_for!(Log)),
        documented("forecourt.toml [metrics]", "Health and metrics for other machines.", || {
            schema_for!(MetricsSettings)
        }),
        documented("forecourt.toml [reload]", "Changes of the deployment's files while it is served.", || {
            schema_for!(ReloadSettings)
        }),
        documented("forecourt.toml [drain]", "How the daemon goes once it is told to stop.", || {
            schema_for!(DrainSettings)
        }),
        documented("forecourt.toml [telemetry]", "What a collector of OpenTelemetry is told.", || {
            schema_for!(TelemetrySettings)
        }),
    ];
    for protocol in PROTOCOLS {
        sections.push(documented(leak(format!("forecourt.toml [{}]", protocol.name)), protocol.about, protocol.schema));
    }
    sections.push(documented("agents/*.toml", "One agent.", || schema_for!(AgentSettings)));
    sections.push(documented("agents/*.toml [agtp]", "Who an agent is to other agents.", || {
        schema_for!(AgentIdentitySettings)
    }));
    for backend in BACKENDS {
        let name = leak(format!("agents/*.toml [backend] kind = \"{}\"", backend.kind));
        sections.push(documented(name, backend.about, backend.schema));
    }
    sections.extend(of_connectors().chain(of_other_folders()));
    sections
}

/// What files of `connectors/` say, by kind.
fn of_connectors() -> impl Iterator<Item = DocumentedSection> {
    CONNECTORS.iter().map(|kind| {
        let name = leak(format!("connectors/*.toml kind = \"{}\"", kind.protocol.name));
        documented(name, kind.protocol.about, kind.schema)
    })
}

/// What stands in other folders than that of agents, and the settings of all of it.
fn of_other_folders() -> [DocumentedSection; 10] {
    let rules = "Rules before a server, or before some of its tools.";
    [
        documented("servers/*.toml", "An MCP server behind the host.", SERVERS.schema),
        documented("servers/*.toml [[policy]]", rules, || schema_for!(ServerRuleSettings)),
        documented("hubs/*.toml", "A hub elsewhere whose agents answer here as well.", || schema_for!(HubSettings)),
        documented("hubs/*.toml [[policy]]", "Rules before the agents of a hub, or before some of them.", || {
            schema_for!(HubRuleSettings)
        }),
        policy::DOCUMENTED,
        python::DOCUMENTED,
        endpoint::DOCUMENTED,
        recipe::DOCUMENTED,
        meaning::DOCUMENTED,
        forecourt_acceptance::settings::DOCUMENTED,
    ]
}

fn documented(section: &'static str, about: &'static str, schema: fn() -> schemars::Schema) -> DocumentedSection {
    DocumentedSection { section, about, schema }
}

/// A name that lives as long as the process: there is one for each protocol and backend.
fn leak(name: String) -> &'static str {
    Box::leak(name.into_boxed_str())
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_key_is_documented() {
        assert_eq!(super::reference().undocumented(), Vec::<String>::new());
    }
}
