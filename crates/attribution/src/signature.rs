//! Signatures of records and statements, held against keys.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_identity::VerifyKey;
use serde::Deserialize;

use crate::keys::RecordKeys;
use crate::limits::KEYS_MAX;

/// What came of a signature.
pub(crate) enum SignatureOutcome {
    Good,
    /// It says itself that it has none.
    Unsigned,
    Bad(String),
}

/// Checks signatures; a header that was read is not read again.
pub(crate) struct SignatureCheck<'a> {
    keys: &'a RecordKeys,
    headers: HashMap<String, Header<'a>>,
}

enum Header<'a> {
    Unsigned,
    Signed { kid: String, keys: Vec<&'a VerifyKey> },
    Other,
}

impl<'a> SignatureCheck<'a> {
    pub(crate) fn new(keys: &'a RecordKeys) -> Self {
        Self { keys, headers: HashMap::new() }
    }

    /// Whether a compact JWS was signed with one of the keys.
    pub(crate) fn check(&mut self, jws: &str) -> SignatureOutcome {
        let bad = |message: &str| SignatureOutcome::Bad(message.to_owned());
        let Some((signed, signature)) = jws.rsplit_once('.') else { return bad("the record is no JWS") };
        let Some((protected, _)) = signed.split_once('.') else { return bad("the record is no JWS") };
        if !self.headers.contains_key(protected) {
            // Keys change rarely, and so do headers: more of them than keys are somebody's own.
            if self.headers.len() > KEYS_MAX {
                self.headers.clear();
            }
            self.headers.insert(protected.to_owned(), read_header(protected, self.keys));
        }
        match &self.headers[protected] {
            Header::Unsigned if signature.is_empty() => SignatureOutcome::Unsigned,
            Header::Unsigned => bad("the record says that it is not signed, and carries a signature"),
            Header::Other => bad("the record's header can't be read, or names another algorithm than EdDSA"),
            Header::Signed { kid, keys } if keys.is_empty() => {
                SignatureOutcome::Bad(format!("no key `{kid}` is known: name it with --keys"))
            }
            Header::Signed { keys, .. } => {
                let signature = URL_SAFE_NO_PAD.decode(signature).unwrap_or_default();
                match keys.iter().any(|key| key.verify(signed.as_bytes(), &signature)) {
                    true => SignatureOutcome::Good,
                    false => bad("the signature does not hold"),
                }
            }
        }
    }
}

/// Whether a statement on the log itself was signed with one of the keys. One that says of itself that nobody signed it
/// is as good as none: whoever cuts a log off can write it.
///
/// # Errors
/// What does not hold.
pub(crate) fn require_signed(jws: &str, keys: &RecordKeys) -> Result<(), String> {
    match SignatureCheck::new(keys).check(jws) {
        SignatureOutcome::Good => Ok(()),
        SignatureOutcome::Unsigned => {
            Err("it is not signed (its header says `alg: none`), so that anybody may have written it".to_owned())
        }
        SignatureOutcome::Bad(message) => Err(message),
    }
}

/// Whether a statement says of itself that nobody signed it.
pub(crate) fn says_unsigned(jws: &str) -> bool {
    matches!(SignatureCheck::new(&RecordKeys::default()).check(jws), SignatureOutcome::Unsigned)
}

fn read_header<'a>(protected: &str, keys: &'a RecordKeys) -> Header<'a> {
    #[derive(Deserialize)]
    struct JwsHeader {
        alg: String,
        kid: Option<String>,
    }
    let bytes = URL_SAFE_NO_PAD.decode(protected).unwrap_or_default();
    match serde_json::from_slice::<JwsHeader>(&bytes) {
        Ok(JwsHeader { alg, .. }) if alg == "none" => Header::Unsigned,
        Ok(JwsHeader { alg, kid: Some(kid) }) if alg == "EdDSA" => {
            let keys = keys.named(&kid);
            Header::Signed { kid, keys }
        }
        _ => Header::Other,
    }
}
