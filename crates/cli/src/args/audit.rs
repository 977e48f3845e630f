//! The flags of `forecourt audit`.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
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
    /// The records have to be as far as the signed mark beside them (mark.jws), the head that the store keeps, and each
    /// file named by --head-copy say: an end that was cut off, a folder that was emptied, and one that was given back
    /// from an older copy are told. A deployment that never wrote a record is told as such, if its store says so too.
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
    /// Go on without records that are gone: a server whose records end before what its mark or its store says writes no
    /// more of them, and refuses requests over AGTP, until this was done.
    ///
    /// Signs where the records end now, with the reason, beside them and in the store. `forecourt audit verify` tells it
    /// from then on. Look with `forecourt audit verify` first, and keep what is left of the folder.
    #[command(
        after_help = "Example:\n  forecourt audit accept mysite --reason \"the disk broke, restored from Monday\""
    )]
    Accept(AcceptRecords),
}

#[derive(Debug, Args)]
pub(crate) struct AcceptRecords {
    #[command(flatten)]
    pub place: Place,
    /// Why records are gone, for whoever verifies them.
    #[arg(long, value_name = "WORDS", value_parser = NonEmptyStringValueParser::new())]
    pub reason: String,
    /// The file elsewhere that heads are copied to (`head_copy` in [agtp.audit]). May be given several times.
    #[arg(long = "head-copy", value_name = "FILE")]
    pub head_copies: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyRecords {
    #[command(flatten)]
    pub place: Place,
    /// Hold signatures against the keys in this file: a key set (JWKS), or a manifest with `server.signing_keys`.
    #[arg(long, value_name = "FILE", visible_alias = "manifest")]
    pub keys: Option<PathBuf>,
    /// Hold the records also against the last head in this file (`head_copy` in [agtp.audit]). May be given several times.
    #[arg(long = "head-copy", value_name = "FILE")]
    pub head_copies: Vec<PathBuf>,
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
