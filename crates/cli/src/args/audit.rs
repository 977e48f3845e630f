//! The flags of `forecourt audit`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Place;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Audit {
    #[command(subcommand)]
    pub what: Option<AuditWhat>,
    #[command(flatten)]
    pub place: Place,
    /// From when on: a moment such as 2026-11-23T08:00:00Z, or so long ago, such as 2h or 7d.
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Of one agent alone, by its handle.
    #[arg(long, value_name = "HANDLE")]
    pub agent: Option<String>,
    /// Print each record as a line of JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditWhat {
    /// Verify the signed records of what AGTP answered: that none was changed, removed, added or swapped.
    ///
    /// Every response over AGTP has a signed record (Attribution-Record), which names the record before it of the same
    /// agent. This looks at every checksum, every hash from one entry to the next, every signature, and each agent's
    /// chain from its first record to its last, while the deployment is served or not. What is wrong is named by file,
    /// byte and Audit-ID, and the command exits with 1. Half an entry at the very end, which a crash leaves, is told
    /// and not wrong.
    ///
    /// Signatures are held against the keys that are kept beside the records. Whoever can write that folder can
    /// replace those too: to be sure, name keys from elsewhere, such as a manifest that you saved.
    #[command(
        after_help = "Examples:\n  forecourt audit verify mysite\n  forecourt agtp DISCOVER agtp://example.com > manifest.json\n  forecourt audit verify mysite --keys manifest.json\n  forecourt audit verify --data /backup/forecourt --json"
    )]
    Verify(VerifyRecords),
    /// Write signed records as lines of JSON, with a signed statement of how many they are as the last line.
    ///
    /// Each line is {"audit_id": …, "kind": "record" or "event", "jws": …}: `audit_id` is SHA-256 of `jws`, and `jws`
    /// can be verified by anybody who has the keys of the manifest. The last line is {"checkpoint": …}, a JWS over the
    /// number of lines and SHA-256 of them all. Works while the deployment is served.
    #[command(
        after_help = "Examples:\n  forecourt audit export mysite --out records.jsonl\n  forecourt audit export mysite --agent 27f2…ee42 --since 7d | jq -r .jws"
    )]
    Export(ExportRecords),
}

#[derive(Debug, Args)]
pub(crate) struct VerifyRecords {
    #[command(flatten)]
    pub place: Place,
    /// Hold signatures against the keys in this file: a key set (JWKS), or a manifest with `server.signing_keys`.
    #[arg(long, value_name = "FILE", visible_alias = "manifest")]
    pub keys: Option<PathBuf>,
    /// Print what was found as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportRecords {
    #[command(flatten)]
    pub place: Place,
    /// Those in the chain of one agent, by its Agent-ID (64 hexadecimal digits).
    #[arg(long, value_name = "ID")]
    pub agent: Option<String>,
    /// From when on: a moment such as 2026-11-23T08:00:00Z, or so long ago, such as 2h or 7d.
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// The file to write; replaced if it is there. [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}
