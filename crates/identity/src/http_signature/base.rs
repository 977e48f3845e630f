//! This module builds the signature base, the text that is signed. RFC 9421 2.

use forecourt_jose::ProofError;
use http::{HeaderMap, HeaderName};
use sfv::{Dictionary, ListSerializer, Parser};
use url::form_urlencoded;

use super::fields::{Component, SignatureInput};
use crate::request::RequestProof;

/// The parts of a message that a signature can cover.
#[derive(Debug, Clone, Copy)]
pub struct CoveredMessage<'a> {
    /// `@method`.
    pub method: &'a str,
    /// `@target-uri`.
    pub target_uri: &'a str,
    /// `@authority`.
    pub authority: &'a str,
    /// `@path`.
    pub path: &'a str,
    /// `@query`, without its question mark.
    pub query: Option<&'a str>,
    /// The fields.
    pub headers: &'a HeaderMap,
}

impl<'a> From<&RequestProof<'a>> for CoveredMessage<'a> {
    fn from(request: &RequestProof<'a>) -> Self {
        let RequestProof { method, target_uri, authority, path, query, headers, .. } = *request;
        Self { method, target_uri, authority, path, query, headers }
    }
}

/// The text that `input` signs in `message`. Fails when a component is not there, or is of a kind
/// that we don't know.
pub fn signature_base(input: &SignatureInput, message: &CoveredMessage<'_>) -> Result<String, ProofError> {
    let mut base = String::new();
    for component in &input.components {
        let value = message.value(component).ok_or(ProofError::Malformed("signature"))?;
        base.push_str(&format!("{}: {value}\n", component.identifier));
    }
    base.push_str("\"@signature-params\": ");
    base.push_str(&input.parameters);
    Ok(base)
}

impl CoveredMessage<'_> {
    /// The value of a component. RFC 9421 2.1, 2.2.
    pub(crate) fn value(&self, component: &Component) -> Option<String> {
        match component.name.as_str() {
            "@method" => Some(self.method.to_owned()),
            "@target-uri" => Some(self.target_uri.to_owned()),
            "@authority" => Some(self.authority.to_ascii_lowercase()),
            "@scheme" => Some(self.target_uri.split_once(':')?.0.to_ascii_lowercase()),
            "@request-target" => Some(match self.query {
                Some(query) => format!("{}?{query}", self.path()),
                None => self.path().to_owned(),
            }),
            "@path" => Some(self.path().to_owned()),
            "@query" => Some(format!("?{}", self.query.unwrap_or_default())),
            "@query-param" => self.query_parameter(component.query_parameter.as_deref()?),
            // An unknown derived component is refused, not left out: the signer meant it to be covered.
            derived if derived.starts_with('@') => None,
            field => match &component.key {
                Some(key) => self.member(field, key),
                None => self.field(field),
            },
        }
    }

    fn path(&self) -> &str {
        if self.path.is_empty() { "/" } else { self.path }
    }

    /// All values of a field, trimmed and joined. RFC 9421 2.1.
    fn field(&self, name: &str) -> Option<String> {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        let values: Option<Vec<_>> =
            self.headers.get_all(&name).iter().map(|v| Some(v.to_str().ok()?.trim())).collect();
        values.filter(|values| !values.is_empty()).map(|values| values.join(", "))
    }

    /// One member of a field that is a dictionary. RFC 9421 2.1.2.
    fn member(&self, name: &str, key: &str) -> Option<String> {
        let members: Dictionary = Parser::new(&self.field(name)?).parse().ok()?;
        let mut serializer = ListSerializer::new();
        serializer.members([members.get(key)?]);
        serializer.finish()
    }

    /// A parameter that occurs once, encoded anew. RFC 9421 2.2.8.
    fn query_parameter(&self, encoded: &str) -> Option<String> {
        let (wanted, _) = form_urlencoded::parse(encoded.as_bytes()).next().unwrap_or_default();
        let query = self.query.unwrap_or_default();
        let mut found = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| *name == wanted);
        let (_, value) = found.next()?;
        // RFC 9421 2.2.8: a parameter that occurs twice can't be covered by its name.
        found.next().is_none().then(|| percent_encode(&value))
    }
}

fn percent_encode(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'*' | b'-' | b'.' | b'_');
    text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}
