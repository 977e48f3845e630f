//! The key that signs records: the host's own, whichever that is at the time, or one of the operator's. Base 10.

use std::fs;
use std::sync::Arc;

use arc_swap::ArcSwap;
use forecourt_attribution::{RecordSigner, SignerSource};
use forecourt_identity::{HostKeys, PublicKey, SigningKey};
use parking_lot::Mutex;

use crate::settings::SigningSettings;

/// The key that signs records.
#[derive(Clone)]
pub(crate) enum RecordKey {
    /// Always the same one.
    Fixed(Arc<RecordSigner>),
    /// None, but for statements on the log itself, which the host's own signs.
    Unsigned(Arc<UnsignedRecords>),
    /// The host's own.
    Host(Arc<HostSigner>),
}

/// Signs statements, and no record.
pub(crate) struct UnsignedRecords {
    unsigned: Arc<RecordSigner>,
    statements: HostSigner,
}

/// Signs with the host's key, also after it was rotated.
pub(crate) struct HostSigner {
    keys: Arc<ArcSwap<HostKeys>>,
    /// What it is called instead of its own name.
    kid: Option<String>,
    made: Mutex<Option<(Arc<HostKeys>, Arc<RecordSigner>)>>,
}

impl RecordKey {
    /// The key that the operator wants.
    ///
    /// # Errors
    /// Its file can't be read, in words.
    pub(crate) fn new(settings: &SigningSettings, keys: Arc<ArcSwap<HostKeys>>) -> Result<Self, String> {
        if !settings.enabled {
            return Ok(Self::unsigned(keys));
        }
        let kid = settings.key_id.clone();
        let Some(path) = &settings.key_path else {
            return Ok(Self::Host(Arc::new(HostSigner::new(keys, kid))));
        };
        let wrong = |error: &dyn std::fmt::Display| format!("[agtp.signing] key_path {}: {error}", path.display());
        let pem = fs::read_to_string(path).map_err(|error| wrong(&error))?;
        let key = SigningKey::from_pem(&pem).map_err(|_| wrong(&"it is no Ed25519 key in PEM (PKCS #8)"))?;
        Ok(Self::Fixed(Arc::new(RecordSigner::ed25519(key, kid.as_deref()))))
    }

    /// Signs no record.
    pub(crate) fn unsigned(keys: Arc<ArcSwap<HostKeys>>) -> Self {
        let (unsigned, statements) = (Arc::new(RecordSigner::unsigned()), HostSigner::new(keys, None));
        Self::Unsigned(Arc::new(UnsignedRecords { unsigned, statements }))
    }

    /// What the log asks for the key.
    pub(crate) fn source(&self) -> Arc<dyn SignerSource> {
        match self {
            Self::Fixed(signer) => Arc::new(Arc::clone(signer)),
            Self::Unsigned(unsigned) => unsigned.clone(),
            Self::Host(host) => host.clone(),
        }
    }

    /// The public half, where the host's own key set has none of that name: for the manifest. Base 6.6.
    pub(crate) fn beside(&self, keys: &HostKeys) -> Option<PublicKey> {
        match self {
            Self::Fixed(signer) => signer.public().cloned(),
            Self::Unsigned(_) => None,
            Self::Host(host) => {
                let kid = host.kid.clone()?;
                Some(PublicKey { kid, ..keys.current().public().clone() })
            }
        }
    }
}

impl SignerSource for UnsignedRecords {
    fn signer(&self) -> Arc<RecordSigner> {
        Arc::clone(&self.unsigned)
    }

    fn statement_signer(&self) -> Arc<RecordSigner> {
        self.statements.signer()
    }
}

impl HostSigner {
    fn new(keys: Arc<ArcSwap<HostKeys>>, kid: Option<String>) -> Self {
        Self { keys, kid, made: Mutex::new(None) }
    }
}

impl SignerSource for HostSigner {
    fn signer(&self) -> Arc<RecordSigner> {
        let keys = self.keys.load_full();
        let mut made = self.made.lock();
        // Made anew for each rotation and not for each record.
        if let Some((_, signer)) = made.as_ref().filter(|(of, _)| Arc::ptr_eq(of, &keys)) {
            return Arc::clone(signer);
        }
        let signer = Arc::new(RecordSigner::ed25519(keys.current().clone(), self.kid.as_deref()));
        *made = Some((keys, Arc::clone(&signer)));
        signer
    }
}
