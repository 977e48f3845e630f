//! This module has the flags of `forecourt genesis`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use forecourt_contract::scope::Scope;
use forecourt_core::{AgentId, Timestamp};
use forecourt_identity::genesis::{Archetype, TrustTier};

/// Make and check origins of agents: the documents whose hashes are their ids over AGTP.
#[derive(Debug, Parser)]
#[command(name = "genesis")]
pub(crate) struct GenesisArguments {
    #[command(subcommand)]
    pub what: GenesisWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GenesisWhat {
    /// Make an origin: the signed document whose hash is an agent's id.
    ///
    /// An origin is never changed: another one is another agent. `serve` makes one for each agent that has
    /// none, so this is for agents that live elsewhere, and for origins that belong in version control,
    /// as agents/HANDLE.genesis.json.
    #[command(
        after_help = "Example:\n  forecourt genesis create --owner acme.tld --archetype executor --zone production \\\n    --scope booking:room --key acme.pem --out agents/desk.genesis.json"
    )]
    Create(GenesisCreate),
    /// Show what an origin says, and whether it holds.
    Show(GenesisShow),
    /// Check an origin: its signature, and the agent and the issuer that are expected.
    ///
    /// Prints the agent's id when it holds, and exits with 1 when it does not.
    #[command(after_help = "Example:\n  forecourt genesis verify desk.genesis.json --issuer acme-public.pem")]
    Verify(GenesisVerify),
    /// Print the agent id of an origin, signed or not: SHA-256 of its canonical form.
    Hash(GenesisHash),
    /// Make an authority that issues certificates of agents.
    ///
    /// Writes NAME.pem, which `ca_bundle_path` in [agtp.mtls] of every server names that is to believe it, and
    /// NAME.key, which signs: keep that one away from servers.
    #[command(
        after_help = "Example:\n  forecourt genesis authority --name 'Agents of acme.tld' --out agent-ca\n  forecourt genesis certificate helper.genesis.json --authority agent-ca --out helper.pem"
    )]
    Authority(GenesisAuthority),
    /// Make a client certificate for an agent, which proves its id over AGTP.
    ///
    /// The certificate says what the origin says: the agent's id, its owner as the principal, its scopes, its zone,
    /// its trust tier and its archetype. Flags say otherwise, but for the id. The file has the certificate and its key,
    /// as `forecourt agtp --certificate FILE` takes them. A server compares every request with it: another Agent-ID or
    /// Principal-ID is 401, a scope beyond --scope is 455, another zone is 457.
    #[command(
        visible_alias = "cert",
        after_help = "Examples:\n  forecourt genesis certificate helper.genesis.json --authority agent-ca --out helper.pem\n  forecourt genesis certificate helper.genesis.json --authority agent-ca --scope documents:query --days 7 \\\n    --out helper-reads.pem\n  forecourt agtp QUERY agtp://demo.localhost --agent-id $(forecourt genesis hash helper.genesis.json) \\\n    --certificate helper.pem -d '{\"intent\": \"soup\"}'"
    )]
    Certificate(GenesisCertificate),
}

#[derive(Debug, Args)]
pub(crate) struct GenesisCreate {
    /// Who answers for the agent: a domain or another name.
    #[arg(long)]
    pub owner: String,
    /// What kind of work it does: assistant, analyst, executor, orchestrator or monitor.
    #[arg(long)]
    pub archetype: Archetype,
    /// Under whose rules it runs.
    #[arg(long)]
    pub zone: String,
    /// What it may do, as tokens such as booking:room; may be repeated, or have commas.
    #[arg(long, required = true, value_delimiter = ',', value_parser = Scope::parse)]
    pub scope: Vec<Scope>,
    /// How well it is vouched for: 1 verified, 2 on its owner's word, 3 an experiment.
    #[arg(long, default_value = "2", value_parser = tier)]
    pub tier: TrustTier,
    /// By what it is vouched for: org-asserted; for tier 1 dns-anchored, log-anchored or hybrid.
    #[arg(long, default_value = "org-asserted", value_name = "PATH")]
    pub verification_path: String,
    /// A short name for the agent, such as its handle.
    #[arg(long)]
    pub name: Option<String>,
    /// When it is issued, such as 2026-01-15T09:00:00Z. [default: now]
    #[arg(long, value_name = "TIME")]
    pub issued_at: Option<Timestamp>,
    /// The Ed25519 key that signs, a PEM file (PKCS #8); made when it is not there. [default: the key in the data
    /// folder]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// The data folder of a deployment, whose key signs.
    #[arg(long, env = "FORECOURT_DATA_DIR", default_value = ".forecourt")]
    pub data: PathBuf,
    /// Write it to this file, which must not be there yet, and print the agent id. [default: print it]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct GenesisShow {
    /// The file, or - for standard input.
    pub file: PathBuf,
    /// Print the document itself, with the agent id in it.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GenesisVerify {
    /// The file, or - for standard input.
    pub file: PathBuf,
    /// The agent that it must be.
    #[arg(long, value_name = "ID", value_parser = AgentId::parse)]
    pub agent_id: Option<AgentId>,
    /// The key that must have signed it: a PEM file, or the key itself in base64url.
    #[arg(long, value_name = "KEY")]
    pub issuer: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct GenesisHash {
    /// The file, or - for standard input.
    pub file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct GenesisAuthority {
    /// What it is called in its certificates.
    #[arg(long)]
    pub name: String,
    /// How many days it is good for.
    #[arg(long, default_value = "3650", value_parser = clap::value_parser!(u16).range(1..))]
    pub days: u16,
    /// The files that are written, without `.pem` and `.key`. Neither may be there yet.
    #[arg(long, value_name = "NAME")]
    pub out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct GenesisCertificate {
    /// The agent's origin, or - for standard input.
    pub file: PathBuf,
    /// The authority that signs: its files without `.pem` and `.key`. Its key is Ed25519.
    #[arg(long, value_name = "NAME")]
    pub authority: PathBuf,
    /// How many days it is good for.
    #[arg(long, default_value = "30", value_parser = clap::value_parser!(u16).range(1..))]
    pub days: u16,
    /// The scopes that the agent may claim with it at most; may be repeated, or have commas. [default: those of the
    /// origin]
    #[arg(long, value_delimiter = ',', value_parser = Scope::parse)]
    pub scope: Vec<Scope>,
    /// For whom the agent acts. [default: the owner in the origin]
    #[arg(long)]
    pub principal: Option<String>,
    /// The zone that it is for. [default: the one in the origin]
    #[arg(long)]
    pub zone: Option<String>,
    /// How well it is vouched for, 1 to 3. It may weaken what servers know of the agent, and never strengthens it.
    /// [default: the one in the origin]
    #[arg(long, value_parser = tier)]
    pub tier: Option<TrustTier>,
    /// The certificate by which the agent was put into service (activation-certificate-id).
    #[arg(long, value_name = "ID")]
    pub activation: Option<String>,
    /// A file with the receipt of a log of certificates (agtp-ctl-sct), which is put in as it is.
    #[arg(long, value_name = "FILE")]
    pub receipt: Option<PathBuf>,
    /// The agent's Ed25519 key, a PEM file (PKCS #8). [default: a new one]
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// The file that is written, which must not be there yet: certificate and key.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

fn tier(text: &str) -> Result<TrustTier, &'static str> {
    text.parse::<u8>().map_err(|_| "a trust tier is 1, 2 or 3").and_then(TrustTier::try_from)
}
