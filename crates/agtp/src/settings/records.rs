//! Signed records of what was answered. Base 8, 10.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use std::time::Duration;

use forecourt_attribution::limits::{SEGMENT_BYTES_DEFAULT, SEGMENT_BYTES_MAX, SEGMENT_BYTES_MIN, SIZE_MAX_DEFAULT};
use forecourt_attribution::{LogOptions, SyncPolicy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The table `audit`: a signed record of every response, kept in `records` in the data folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AuditSettings {
    /// Whether responses carry `Attribution-Record` and `Audit-ID`, and are kept. `false`: neither.
    #[serde(alias = "attribution_records_enabled")]
    #[schemars(extend("x-alias" = "attribution_records_enabled"))]
    pub enabled: bool,
    /// When a record is synced to the disk: before its response leaves (`always`), or within a second (`interval`). It
    /// is always written before; what `interval` may lose is the last second before a power cut.
    pub sync: AuditSync,
    /// What is done with a response whose record can't be kept, since the disk is full or fails: it is refused with
    /// 503 (`refuse`), or sent without a record (`serve`).
    pub on_failure: AuditFailure,
    /// Days for which records are kept. Default: for good.
    pub retention_days: Option<NonZeroU32>,
    /// Bytes that all records may have together; the oldest go first, a whole file at a time.
    pub size_max: NonZeroU64,
    /// Bytes after which a file of records is sealed and another one begun; 65536 to 1073741824.
    pub segment_bytes: u64,
    /// A second place for the signed head of the records, once a minute: a file (better on another machine's disk, or one
    /// that only takes additions), relative to this one, or an http(s) address that takes each head by POST. A data folder
    /// that is set back as a whole is noticed by it alone: `forecourt audit verify --head-copy FILE`, and at the start.
    pub head_copy: Option<String>,
    /// Who may look records up with INSPECT: each agent its own (`owner`), everybody (`public`), or nobody but agents with
    /// the scope `inspect:all` (`operator`), who always may. `agent_only` and `operator_only` are the same as `owner` and
    /// `operator`. Records of others look like records that are not there.
    pub read_acl: ReadAcl,
    /// Keys of client certificates whose holders may look up everything, as SHA-256 of the raw key in hexadecimal.
    pub read_acl_operator_keys: Vec<String>,
}

/// When records are synced to the disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AuditSync {
    /// Before the response leaves.
    Always,
    /// Within a second.
    #[default]
    Interval,
}

/// What is done with a response whose record can't be kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AuditFailure {
    /// 503.
    #[default]
    Refuse,
    /// It is sent without a record.
    Serve,
}

/// Who may look records up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ReadAcl {
    /// Everybody.
    Public,
    /// Each agent its own.
    #[default]
    #[serde(alias = "agent_only")]
    #[schemars(extend("x-alias" = "agent_only"))]
    Owner,
    /// Operators.
    #[serde(alias = "operator_only")]
    #[schemars(extend("x-alias" = "operator_only"))]
    Operator,
}

/// The table `signing`: the key that signs records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SigningSettings {
    /// Whether records are signed. `false`: their header says `none`, and readers take them for unverified.
    pub enabled: bool,
    /// An Ed25519 key in a PEM file (PKCS #8), relative to this one. Default: the host's own key.
    #[schemars(with = "Option<String>")]
    pub key_path: Option<PathBuf>,
    /// What the key is called in records and in the manifest's `server.signing_keys`. Default: its RFC 7638
    /// thumbprint.
    pub key_id: Option<String>,
}

/// Characters of `key_id`.
const KEY_ID_CHARS_MAX: usize = 128;

impl Default for AuditSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            sync: AuditSync::default(),
            on_failure: AuditFailure::default(),
            retention_days: None,
            size_max: NonZeroU64::new(SIZE_MAX_DEFAULT).unwrap_or(NonZeroU64::MAX),
            segment_bytes: SEGMENT_BYTES_DEFAULT,
            head_copy: None,
            read_acl: ReadAcl::default(),
            read_acl_operator_keys: Vec::new(),
        }
    }
}

impl Default for SigningSettings {
    fn default() -> Self {
        Self { enabled: true, key_path: None, key_id: None }
    }
}

/// The second place for heads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HeadCopyPlace {
    /// A file that they are added to.
    File(PathBuf),
    /// An address that they are posted to.
    Url(String),
}

impl AuditSettings {
    /// Where heads are copied to.
    pub(crate) fn head_copy(&self) -> Option<HeadCopyPlace> {
        let text = self.head_copy.as_ref()?;
        let is_url = text.starts_with("https://") || text.starts_with("http://");
        Some(if is_url { HeadCopyPlace::Url(text.clone()) } else { HeadCopyPlace::File(PathBuf::from(text)) })
    }

    /// The same with a path that does not depend on where the program was started.
    pub(super) fn resolved(mut self, resolve: impl Fn(PathBuf) -> PathBuf) -> Self {
        if let Some(HeadCopyPlace::File(path)) = self.head_copy() {
            // A path that is no text is none that a settings file can hold.
            self.head_copy = resolve(path).to_str().map(str::to_owned);
        }
        self
    }

    pub(super) fn check(&self, wrong: &mut impl FnMut(&'static str, &str)) {
        if !(SEGMENT_BYTES_MIN..=SEGMENT_BYTES_MAX).contains(&self.segment_bytes) {
            wrong("audit", &format!("`segment_bytes` must be {SEGMENT_BYTES_MIN} to {SEGMENT_BYTES_MAX}"));
        }
        if self.head_copy.as_deref() == Some("") {
            wrong("audit", "`head_copy` must be a file or an http(s) address");
        }
        if self.size_max.get() < 2 * self.segment_bytes {
            wrong("audit", "`size_max` must be at least twice `segment_bytes`: the file that is written to stays");
        }
    }

    /// What the log goes by.
    pub(crate) fn options(&self, server_id: &str) -> LogOptions {
        let sync = match self.sync {
            AuditSync::Always => SyncPolicy::Always,
            AuditSync::Interval => SyncPolicy::Interval,
        };
        let days = |days: NonZeroU32| Duration::from_secs(u64::from(days.get()) * 24 * 60 * 60);
        LogOptions {
            server_id: server_id.to_owned(),
            sync,
            segment_bytes: self.segment_bytes,
            retention: self.retention_days.map(days),
            size_max: Some(self.size_max.get()),
        }
    }
}

impl SigningSettings {
    pub(super) fn check(&self, wrong: &mut impl FnMut(&'static str, &str)) {
        let is_name = |id: &str| (1..=KEY_ID_CHARS_MAX).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_graphic());
        if self.key_id.as_deref().is_some_and(|id| !is_name(id)) {
            wrong("signing", &format!("`key_id` must be 1 to {KEY_ID_CHARS_MAX} printable ASCII characters"));
        }
    }
}
