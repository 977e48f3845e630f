//! This module signs our own requests. RFC 9421 3.1.

use forecourt_core::{Entropy, Timestamp, ids};
use forecourt_jose::encoding::to_base64;
use forecourt_jose::{MessageSigner, ProofError, SigningKey};
use http::{HeaderMap, HeaderValue, Method};
use sfv::{BareItem, InnerList, Integer, Item, Key, Parameters};
use url::{Position, Url};

use super::base::{CoveredMessage, signature_base};
use super::digest::{CONTENT_DIGEST, content_digest};
use super::fields::{Component, SIGNATURE, SIGNATURE_INPUT, SignatureInput, serialize};
use crate::limits::SIGNATURE_AGE_MAX;

const LABEL: &str = "agent";

/// Signs requests for one of our agents.
#[derive(Debug, Clone)]
pub struct RequestSigner<K = SigningKey> {
    /// The key.
    pub key: K,
    /// The `keyid` by which receivers find the key, such as `acct:local@domain`.
    pub keyid: String,
}

impl<K: MessageSigner> RequestSigner<K> {
    /// Adds `Content-Digest` (when there is a body), `Signature-Input` and `Signature` to `headers`.
    /// Covers the method, the whole URL and the body; holds for five minutes and one use. Fails only
    /// when the key's name can't stand in a field.
    pub fn sign(
        &self,
        method: &Method,
        url: &Url,
        headers: &mut HeaderMap,
        body: &[u8],
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Result<(), ProofError> {
        let malformed = ProofError::Malformed("signature");
        let mut covered = vec!["@method", "@target-uri"];
        if !body.is_empty() {
            let digest = HeaderValue::from_str(&content_digest(body)).map_err(|_| malformed)?;
            headers.insert(CONTENT_DIGEST, digest);
            covered.push("content-digest");
        }
        let list = self.member(&covered, now, entropy).ok_or(malformed)?;
        let input = SignatureInput {
            label: LABEL.to_owned(),
            components: covered.iter().map(|name| Component::plain(name)).collect(),
            parameters: serialize(&list).ok_or(malformed)?,
            created: None,
            expires: None,
            keyid: None,
            alg: None,
            tag: None,
            nonce: None,
            signature: Vec::new(),
        };
        let message = CoveredMessage {
            method: method.as_str(),
            // Without the fragment, which is never sent.
            target_uri: &url[..Position::AfterQuery],
            authority: &url[Position::BeforeHost..Position::AfterPort],
            path: url.path(),
            query: url.query(),
            headers,
        };
        let signature = self.key.signature(signature_base(&input, &message)?.as_bytes()).ok_or(malformed)?;
        let field = |text: String| HeaderValue::from_str(&text).map_err(|_| malformed);
        headers.insert(SIGNATURE_INPUT, field(format!("{LABEL}={}", input.parameters))?);
        headers.insert(SIGNATURE, field(format!("{LABEL}=:{}:", to_base64(&signature)))?);
        Ok(())
    }

    fn member(&self, covered: &[&str], now: Timestamp, entropy: &dyn Entropy) -> Option<InnerList> {
        let text = |text: &str| Some(BareItem::String(sfv::String::from_string(text.to_owned()).ok()?));
        let seconds = |moment: Timestamp| Some(BareItem::Integer(Integer::try_from(moment.as_second()).ok()?));
        let items = covered.iter().map(|name| Some(Item::new(text(name)?))).collect::<Option<Vec<_>>>()?;
        let parameters: [(&str, BareItem); 5] = [
            ("created", seconds(now)?),
            ("expires", seconds(now.checked_add(SIGNATURE_AGE_MAX).ok()?)?),
            ("nonce", text(&ids::mint(entropy))?),
            ("keyid", text(&self.keyid)?),
            ("alg", text(self.key.algorithm().http_name()?)?),
        ];
        let named = |(name, value): (&str, BareItem)| Some((Key::from_string(name.to_owned()).ok()?, value));
        let parameters = parameters.into_iter().map(named).collect::<Option<Parameters>>()?;
        Some(InnerList::with_params(items, parameters))
    }
}

impl Component {
    /// A component without parameters.
    fn plain(name: &str) -> Self {
        let identifier = format!("\"{name}\"");
        Self { name: name.to_owned(), query_parameter: None, key: None, is_of_request: false, identifier }
    }
}
