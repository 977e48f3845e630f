//! Media types that a server and a client both name. AGTP-API 17.2.

/// Bodies in JSON.
pub const JSON: &str = "application/vnd.agtp+json";
/// Bodies in YAML.
pub const YAML: &str = "application/vnd.agtp+yaml";
/// A manifest.
pub const MANIFEST: &str = "application/vnd.agtp.manifest+json";
