//! This module reads `Signature-Input` and `Signature` into checked values. RFC 9421 4.1, 4.2.

use forecourt_core::Timestamp;
use forecourt_jose::ProofError;
use http::{HeaderMap, HeaderName};
use sfv::{BareItem, Dictionary, InnerList, Item, ListEntry, ListSerializer, Parser};

use crate::limits::{COMPONENTS_MAX, NONCE_BYTES_MAX, SIGNATURE_FIELDS_BYTES_MAX, SIGNATURES_MAX};

pub(crate) const SIGNATURE_INPUT: HeaderName = HeaderName::from_static("signature-input");
pub(crate) const SIGNATURE: HeaderName = HeaderName::from_static("signature");
const MALFORMED: ProofError = ProofError::Malformed("signature");

/// One signature of a request: what it covers and says, and its bytes.
#[derive(Debug, Clone)]
pub struct SignatureInput {
    /// Its key in both dictionaries, `Signature-Input` and `Signature`.
    pub label: String,
    /// The covered components, in order, each once.
    pub components: Vec<Component>,
    /// `created`: when it was made.
    pub created: Option<Timestamp>,
    /// `expires`: when it ends.
    pub expires: Option<Timestamp>,
    /// `keyid`: the name of the key.
    pub keyid: Option<String>,
    /// `alg`: the algorithm.
    pub alg: Option<String>,
    /// `tag`: what it is for.
    pub tag: Option<String>,
    /// The nonce, at most [`NONCE_BYTES_MAX`] bytes.
    pub nonce: Option<String>,
    /// The signature.
    pub signature: Vec<u8>,
    /// The member as it stands in the last line of the signature base.
    pub(crate) parameters: String,
}

/// The name of a covered component. RFC 9421 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Component {
    /// A field name in lower case, or a derived component such as `@method`.
    pub name: String,
    /// Which query parameter, for `@query-param`.
    pub query_parameter: Option<String>,
    /// Which member of a field that is a dictionary, for `key`.
    pub(crate) key: Option<String>,
    /// Whether it is that of the request which the signed message answers, for `req`.
    pub(crate) is_of_request: bool,
    /// The identifier as it stands in the signature base.
    pub(crate) identifier: String,
}

impl SignatureInput {
    /// The signatures of a message, at most [`SIGNATURES_MAX`]; empty when it has none.
    pub fn read(headers: &HeaderMap) -> Result<Vec<Self>, ProofError> {
        read(headers, SignedMessage::Request)
    }

    /// The same of an answer, whose signatures may cover the request that it answers.
    pub(crate) fn read_of_answer(headers: &HeaderMap) -> Result<Vec<Self>, ProofError> {
        read(headers, SignedMessage::Answer)
    }
}

/// What is signed. RFC 9421 2.4: only an answer's signature covers parts of another message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SignedMessage {
    Request,
    Answer,
}

fn read(headers: &HeaderMap, of: SignedMessage) -> Result<Vec<SignatureInput>, ProofError> {
    let (Some(inputs), Some(signatures)) = (combined(headers, &SIGNATURE_INPUT)?, combined(headers, &SIGNATURE)?)
    else {
        // One field without the other is an error: its sender meant to sign, and must not pass as unsigned.
        let some = headers.contains_key(&SIGNATURE_INPUT) || headers.contains_key(&SIGNATURE);
        return if some { Err(MALFORMED) } else { Ok(Vec::new()) };
    };
    let inputs: Dictionary = Parser::new(&inputs).parse().map_err(|_| MALFORMED)?;
    let signatures: Dictionary = Parser::new(&signatures).parse().map_err(|_| MALFORMED)?;
    let pairs =
        inputs.iter().take(SIGNATURES_MAX).filter_map(|(label, input)| Some((label, input, signatures.get(label)?)));
    let read: Vec<_> =
        pairs.map(|(label, input, signature)| one(label.as_str(), input, signature, of)).collect::<Result<_, _>>()?;
    if read.is_empty() { Err(MALFORMED) } else { Ok(read) }
}

/// All values of a field, joined as one list. RFC 9110 5.3.
fn combined(headers: &HeaderMap, name: &HeaderName) -> Result<Option<String>, ProofError> {
    let values: Result<Vec<_>, _> = headers.get_all(name).iter().map(|value| value.to_str()).collect();
    let joined = values.map_err(|_| MALFORMED)?.join(", ");
    match joined.len() {
        0 => Ok(None),
        length if length > SIGNATURE_FIELDS_BYTES_MAX => Err(MALFORMED),
        _ => Ok(Some(joined)),
    }
}

fn one(label: &str, input: &ListEntry, signature: &ListEntry, of: SignedMessage) -> Result<SignatureInput, ProofError> {
    let (ListEntry::InnerList(list), ListEntry::Item(Item { bare_item: BareItem::ByteSequence(bytes), .. })) =
        (input, signature)
    else {
        return Err(MALFORMED);
    };
    if list.items.len() > COMPONENTS_MAX {
        return Err(MALFORMED);
    }
    let components = list.items.iter().map(|item| component(item, of)).collect::<Result<Vec<_>, _>>()?;
    // RFC 9421 2: each component may be covered once.
    let twice = |(at, c): (usize, &Component)| components[..at].iter().any(|e| e.identifier == c.identifier);
    if components.iter().enumerate().any(twice) {
        return Err(MALFORMED);
    }
    Ok(SignatureInput {
        label: label.to_owned(),
        created: moment(list, "created")?,
        expires: moment(list, "expires")?,
        keyid: text(list, "keyid")?,
        alg: text(list, "alg")?,
        tag: text(list, "tag")?,
        nonce: nonce(list)?,
        signature: bytes.clone(),
        parameters: serialize(list).ok_or(MALFORMED)?,
        components,
    })
}

/// A component identifier. Parameters that change what a component means (`sf`, `bs`, `tr`, and `req` in a request)
/// are not supported, and a signature that uses one is refused rather than misread.
fn component(item: &Item, of: SignedMessage) -> Result<Component, ProofError> {
    let BareItem::String(name) = &item.bare_item else { return Err(MALFORMED) };
    let name = name.as_str();
    // RFC 9421 2.3: the parameters are signed anyway, and must not be among the components.
    if name.is_empty() || name == "@signature-params" || name.bytes().any(|b| b.is_ascii_uppercase()) {
        return Err(MALFORMED);
    }
    let (mut query_parameter, mut member, mut is_of_request) = (None, None, false);
    for (key, value) in &item.params {
        match (name, key.as_str(), value) {
            ("@query-param", "name", BareItem::String(value)) => query_parameter = Some(value.as_str().to_owned()),
            (field, "key", BareItem::String(value)) if !field.starts_with('@') => {
                member = Some(value.as_str().to_owned());
            }
            (_, "req", BareItem::Boolean(true)) if of == SignedMessage::Answer => is_of_request = true,
            _ => return Err(MALFORMED),
        }
    }
    if (name == "@query-param") != query_parameter.is_some() {
        return Err(MALFORMED);
    }
    let identifier = sfv::FieldType::serialize(item);
    Ok(Component { name: name.to_owned(), query_parameter, key: member, is_of_request, identifier })
}

fn moment(list: &InnerList, name: &str) -> Result<Option<Timestamp>, ProofError> {
    match list.params.get(name) {
        None => Ok(None),
        Some(BareItem::Integer(seconds)) => {
            Timestamp::from_second(i64::from(*seconds)).map(Some).map_err(|_| MALFORMED)
        }
        Some(_) => Err(MALFORMED),
    }
}

fn nonce(list: &InnerList) -> Result<Option<String>, ProofError> {
    match text(list, "nonce")? {
        Some(nonce) if nonce.len() > NONCE_BYTES_MAX => Err(MALFORMED),
        nonce => Ok(nonce),
    }
}

fn text(list: &InnerList, name: &str) -> Result<Option<String>, ProofError> {
    match list.params.get(name) {
        None => Ok(None),
        Some(BareItem::String(value)) => Ok(Some(value.as_str().to_owned())),
        Some(_) => Err(MALFORMED),
    }
}

/// The member as RFC 9421 2.3 wants it: the strict form, in the order in which it came.
pub(crate) fn serialize(list: &InnerList) -> Option<String> {
    let mut serializer = ListSerializer::new();
    serializer.members([&ListEntry::InnerList(list.clone())]);
    serializer.finish()
}
