//! The `[agtp]` section of `forecourt.toml`. Base 10.

mod limits;
mod negotiation;
mod oauth;
mod policies;
mod records;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use forecourt_agtp_wire::limits::PORT;
use forecourt_agtp_wire::uri::AgtpUri;
use forecourt_contract::Rules;
use forecourt_core::Site;
use forecourt_core::Timestamp;
use forecourt_identity::certificate::CRITICAL;
use forecourt_server::{Authorities, ClientCertificates};
use forecourt_settings::{MovedKey, Problem, Problems, Section};
use forecourt_surface::{Carries, Listen, Socket};
use forecourt_synthesis::settings::SynthesisSettings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) use limits::LimitSettings;
pub(crate) use oauth::{OauthSettings, TokenValidator};
pub(crate) use policies::PolicySettings;
pub(crate) use records::{AuditFailure, AuditSettings, HeadCopyPlace, ReadAcl, SigningSettings};

/// The protocol's name in a TLS handshake.
pub(crate) const ALPN: &[u8] = b"agtp";
/// The listener within TLS.
pub(crate) const TLS: &str = crate::NAME;
/// The listener without it.
pub(crate) const PLAINTEXT: &str = "agtp-plaintext";
/// The listener for HTTP.
pub(crate) const GATEWAY: &str = "gateway";

/// Where the section says that they are.
pub(crate) const SOCKETS: &[Socket] = &[
    Socket { name: TLS, key: "listen", help: "AGTP within TLS 1.3 on this address. [default: 127.0.0.1:4480]" },
    Socket {
        name: PLAINTEXT,
        key: "plaintext",
        help: "AGTP as it is, for development, on this address; loopback only",
    },
    Socket { name: GATEWAY, key: "gateway", help: "The HTTP gateway to AGTP endpoints on this address; loopback only" },
];

/// Keys that hold for the endpoints of all protocols, and stood here.
pub(crate) const MOVED: &[MovedKey] = &[
    MovedKey { old: "agtp.catalog", new: "endpoints.catalog" },
    MovedKey { old: "agtp.on_refused_endpoint", new: "endpoints.on_refused" },
    MovedKey { old: "agtp.strict_outputs", new: "endpoints.strict_outputs" },
    MovedKey { old: "agtp.policies.scope_required_for_invocation", new: "endpoints.scope_required" },
    MovedKey { old: "agtp.policies.wildcards_accepted", new: "endpoints.wildcards_accepted" },
    MovedKey { old: "agtp.policies.oauth.required_on_methods", new: "endpoints.token_required" },
    MovedKey { old: "agtp.policies.builtins.overrides", new: "endpoints.builtin_overrides" },
    MovedKey { old: "agtp.policies.methods", new: "endpoints.methods" },
];

/// How the host is served over AGTP.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AgtpSettings {
    /// Where AGTP is spoken, within TLS 1.3. While nobody chose it and it is taken, a free port is.
    #[schemars(with = "String")]
    pub listen: SocketAddr,
    /// Where AGTP is spoken without TLS, for development: a loopback address such as
    /// `127.0.0.1:4481`. Default: nowhere.
    #[schemars(with = "Option<String>")]
    pub plaintext: Option<SocketAddr>,
    /// Where HTTP clients such as curl may call endpoints: a loopback address such as `127.0.0.1:8088`.
    /// Default: nowhere.
    #[schemars(with = "Option<String>")]
    pub gateway: Option<SocketAddr>,
    /// Whether an agent must prove that its name is its own, by its certificate or a token. Default: not
    /// on loopback, and everywhere else.
    pub require_verified_identity: Option<bool>,
    /// Who may suspend, retire and reinstate agents: anybody (`open`, on loopback only), or who holds the
    /// key that issued the agent's genesis document, shown as a client certificate (`genesis_issuer`). Default:
    /// `open` on loopback, `genesis_issuer` everywhere else.
    lifecycle_auth: Option<LifecycleAuth>,
    /// What the host says about itself.
    pub server: ServerSettings,
    /// What callers may do.
    pub policies: PolicySettings,
    /// What is said about the agents here.
    pub agents: AgentSettings,
    /// Certificates of callers.
    pub mtls: MtlsSettings,
    /// What one request and one connection may take.
    pub limits: LimitSettings,
    /// HTTP services beside this host, for the manifest and `DISCOVER /apis`.
    pub apis: Vec<ApiSettings>,
    /// Other protocols that are spoken here, for the manifest.
    pub hosted_protocols: Vec<HostedProtocolSettings>,
    /// Signed records of what was answered.
    pub audit: AuditSettings,
    /// The key for those records.
    pub signing: SigningSettings,
    /// How endpoints are made while serving.
    pub synthesis: SynthesisSettings,
}

/// Who may change the state of agents. Base 3.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LifecycleAuth {
    /// Anybody.
    Open,
    /// Who holds the key that issued the agent's genesis document.
    GenesisIssuer,
}

/// The table `server`. AGTP-API 8.3.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ServerSettings {
    /// The name of this server in every answer, for good. Default: the domain.
    pub server_id: Option<String>,
    /// Who runs it. Default: the deployment's name.
    pub operator: Option<String>,
    /// An email address for what goes wrong.
    pub contact: Option<String>,
    /// The host to connect to, where `server_id` is not its name.
    pub domain: Option<String>,
    /// When the manifest was first published, such as `"2026-01-15T09:00:00Z"`. Default: when the host
    /// first started.
    #[schemars(with = "Option<String>")]
    pub issued: Option<Timestamp>,
}

/// The table `agents`. AGTP-API 8.5.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AgentSettings {
    /// Who learns which agents are here: everybody (`public`), agents that are known here
    /// (`authenticated`), or nobody (`private`).
    pub disclosure: Disclosure,
    /// A sentence on how to learn more, for those who don't.
    pub disclosure_notice: Option<String>,
}

/// Who learns which agents are here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Disclosure {
    /// Everybody.
    #[default]
    Public,
    /// Agents that are known here.
    Authenticated,
    /// Nobody.
    Private,
}

/// The table `mtls`. Base 6.7.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct MtlsSettings {
    /// Whether callers may (`optional`) or must (`required`) show a certificate.
    pub mode: MtlsMode,
    /// The authorities that are trusted for them: a PEM file, relative to this one. Needed unless `mode`
    /// is `disabled`.
    #[schemars(with = "Option<String>")]
    pub ca_bundle_path: Option<PathBuf>,
    /// Whether a certificate must be that of the agent which `Agent-ID` names.
    pub require_agent_id_match: bool,
}

/// Whether callers show certificates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MtlsMode {
    /// They are not asked to.
    #[default]
    Disabled,
    /// They may.
    Optional,
    /// They must.
    Required,
}

/// One of `apis`. AGTP-API 8.6.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApiSettings {
    /// Where it is: a path, or a whole URL.
    pub path: String,
    /// The methods that it takes.
    #[serde(default)]
    pub methods: Vec<String>,
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// What it is called. Default: its path.
    pub name: Option<String>,
    /// Where it is described: the URL of its OpenAPI document.
    pub http_documentation: Option<String>,
}

/// One of `hosted_protocols`. AGTP-API 8.6.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HostedProtocolSettings {
    /// Its name, such as `MCP`.
    pub protocol: String,
    /// Its version.
    pub version: Option<String>,
    /// The method and the path under which it is reached, or its URL.
    pub endpoint: Option<String>,
    /// Where what it offers is listed.
    pub catalog: Option<String>,
}

impl Default for AgtpSettings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)),
            plaintext: None,
            gateway: None,
            require_verified_identity: None,
            lifecycle_auth: None,
            server: ServerSettings::default(),
            policies: PolicySettings::default(),
            agents: AgentSettings::default(),
            mtls: MtlsSettings::default(),
            limits: LimitSettings::default(),
            apis: Vec::new(),
            hosted_protocols: Vec::new(),
            audit: AuditSettings::default(),
            signing: SigningSettings::default(),
            synthesis: SynthesisSettings::default(),
        }
    }
}

impl Default for MtlsSettings {
    fn default() -> Self {
        Self { mode: MtlsMode::default(), ca_bundle_path: None, require_agent_id_match: true }
    }
}

impl AgtpSettings {
    /// Reads the section.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub(crate) fn read(section: &Section) -> Result<Self, Problems> {
        let mut settings: Self = section.read()?;
        settings.signing.key_path = settings.signing.key_path.map(|path| section.resolve_path(path));
        settings.audit = settings.audit.resolved(|path| section.resolve_path(path));
        let mut problems = Problems::new();
        settings.settle_negotiation(section, &mut problems);
        let mut wrong = |key, words: &str| problems.push(section.problem(Some(key), words));
        for (key, address) in [("plaintext", settings.plaintext), ("gateway", settings.gateway)] {
            if address.is_some_and(|address| !address.ip().is_loopback()) {
                wrong(key, &format!("`{key}` must be a loopback address, such as 127.0.0.1:4481"));
            }
        }
        if settings.lifecycle_auth == Some(LifecycleAuth::Open) && !settings.listen.ip().is_loopback() {
            wrong("lifecycle_auth", "`open` lets anybody retire agents: it is for loopback only, use `genesis_issuer`");
        }
        if settings.mtls.mode != MtlsMode::Disabled && settings.mtls.ca_bundle_path.is_none() {
            wrong("mtls", "[agtp.mtls] needs `ca_bundle_path`: the authorities whose certificates count");
        }
        if settings
            .server
            .server_id
            .as_deref()
            .is_some_and(|id| id.is_empty() || !id.bytes().all(|b| b.is_ascii_graphic()))
        {
            wrong("server", "`server_id` must be printable ASCII without spaces");
        }
        if let Some(words) = settings.policies.oauth.problem(settings.listen.ip().is_loopback()) {
            wrong("policies", &words);
        }
        settings.limits.check(&mut wrong);
        settings.audit.check(&mut wrong);
        settings.signing.check(&mut wrong);
        problems.into_result(settings)
    }

    /// Fails when no call could ever show what `rules` want of it.
    pub(crate) fn fits(&self, rules: &Rules, section: &Section) -> Result<(), Problem> {
        match !self.policies.oauth.enabled && !rules.token_required.is_empty() {
            true => {
                let message = "`token_required` in [endpoints] needs `oauth.enabled`, or no such call is ever answered";
                Err(section.problem(Some("policies"), message))
            }
            false => Ok(()),
        }
    }

    /// Who may change the state of agents: as the operator said, else as fits where it listens.
    pub(crate) fn lifecycle_auth(&self) -> LifecycleAuth {
        let usual = match self.listen.ip().is_loopback() {
            true => LifecycleAuth::Open,
            false => LifecycleAuth::GenesisIssuer,
        };
        self.lifecycle_auth.unwrap_or(usual)
    }

    /// The host of this server for others, with its port unless it is the usual one. `None`: it listens on
    /// this machine alone, and others would look for the domain elsewhere.
    pub(crate) fn place(&self, site: &Site) -> Option<String> {
        let is_local = self.listen.ip().is_loopback() && !site.domain.is_local();
        let named = self.server.domain.as_deref();
        let host = named.or((!is_local).then_some(site.domain.as_str()))?;
        let place = match self.listen.port() {
            0 | PORT => host.to_owned(),
            port => format!("{host}:{port}"),
        };
        AgtpUri::parse(&format!("agtp://{place}")).ok().map(|_| place)
    }

    /// What the operator should know about these settings, in a sentence each.
    pub(crate) fn notices(&self) -> Vec<String> {
        self.negotiation_notice().into_iter().collect()
    }

    /// The sockets that the section asks for.
    pub(crate) fn listens(&self, section: &Section) -> Vec<Listen> {
        // Only the default gives way to a free port: an address that was written down is meant.
        let may_move = !section.has("listen");
        let tls = Carries::Tls { alpn: ALPN, clients: self.clients(section) };
        let fixed = |name, address, carries| Listen { name, address, may_move: false, carries };
        vec![
            Listen { name: TLS, address: Some(self.listen), may_move, carries: tls },
            fixed(PLAINTEXT, self.plaintext, Carries::Plain),
            fixed(GATEWAY, self.gateway, Carries::Http),
        ]
    }

    /// Takes notice of where the socket `name` was opened.
    pub(crate) fn bound(&mut self, name: &str, address: SocketAddr) {
        match name {
            TLS => self.listen = address,
            PLAINTEXT => self.plaintext = Some(address),
            GATEWAY => self.gateway = Some(address),
            _ => {}
        }
    }

    /// The certificates that callers show.
    fn clients(&self, section: &Section) -> ClientCertificates {
        let bundle = self.mtls.ca_bundle_path.as_ref().map(|path| section.folder().join(path));
        let authorities = bundle.map(|bundle| Authorities { bundle, understood: CRITICAL });
        match (self.mtls.mode, authorities) {
            (MtlsMode::Disabled, _) | (_, None) => ClientCertificates::Ignored,
            (MtlsMode::Optional, Some(authorities)) => ClientCertificates::Optional(authorities),
            (MtlsMode::Required, Some(authorities)) => ClientCertificates::Required(authorities),
        }
    }
}

#[cfg(test)]
mod tests;
