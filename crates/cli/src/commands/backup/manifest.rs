//! What an archive says of itself. It is the last thing in it, so that what was cut short has none.

use serde::{Deserialize, Serialize};

/// The name of the manifest in an archive.
pub(crate) const NAME: &str = "MANIFEST.json";
/// The form of archives that this program writes, and the newest that it reads.
pub(crate) const FORMAT: u32 = 1;
/// Where the files of the deployment are in an archive.
pub(crate) const DEPLOYMENT: &str = "deployment";
/// Where the files of the data folder are.
pub(crate) const DATA: &str = "data";

/// What is in an archive.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// The form of the archive: [`FORMAT`].
    pub format: u32,
    /// The version of the program that wrote it.
    pub program: String,
    /// The domain of the deployment.
    pub domain: String,
    /// When it was made, RFC 3339.
    pub made_at: String,
    /// The store, when it is a database in the data folder.
    pub store: Option<StoreManifest>,
    /// Every file, in the order in which it is in the archive.
    pub files: Vec<KeptFile>,
    /// What is not in it.
    pub left_out: Vec<LeftOut>,
}

/// The store in an archive.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoreManifest {
    /// The version of its schema.
    pub schema: usize,
}

/// One file in an archive.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KeptFile {
    /// Its path in the archive.
    pub path: String,
    /// Its bytes.
    pub bytes: u64,
    /// SHA-256 of them, in hexadecimal digits.
    pub sha256: String,
}

/// What is not in an archive.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LeftOut {
    /// Its path.
    pub path: String,
    /// Why.
    pub why: String,
}
