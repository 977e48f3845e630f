//! The draft that came before RFC 9421, as the Fediverse speaks it. draft-cavage-http-signatures-12.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use base64::{Engine, engine::general_purpose::STANDARD};
use forecourt_core::Timestamp;
use forecourt_jose::{Algorithm, MessageSigner, ProofError, RsaSigningKey};
use http::header::DATE;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use url::{Position, Url};

use super::{ArrivedRequest, UnprovenSignature};
use crate::iri::Iri;
use crate::limits::{COVERED_MAX, PARAMETERS_MAX, SIGNATURE_BYTES_MAX};

const SIGNATURE: HeaderName = HeaderName::from_static("signature");
const DIGEST: HeaderName = HeaderName::from_static("digest");
const MALFORMED: ProofError = ProofError::Malformed("signature");
/// How dates are written. RFC 9110 5.6.7.
const DATE_FORM: &str = "%a, %d %b %Y %H:%M:%S GMT";

/// The parameters of the field. 2.1.
#[derive(Debug, Default, PartialEq)]
struct Parameters {
    key_id: String,
    algorithm: String,
    created: Option<i64>,
    expires: Option<i64>,
    headers: String,
    signature: String,
}

/// Reads the signature of a request.
pub(super) fn read(request: &ArrivedRequest<'_>) -> Result<UnprovenSignature, ProofError> {
    let mut values = request.headers.get_all(SIGNATURE).iter();
    let text = values.next().ok_or(ProofError::Missing("Signature"))?.to_str().map_err(|_| MALFORMED)?;
    // Of two, another reader could take the other one.
    if values.next().is_some() || text.len() > SIGNATURE_BYTES_MAX {
        return Err(MALFORMED);
    }
    let parameters = Parameters::parse(text)?;
    let covered: Vec<&str> = parameters.headers.split(' ').filter(|name| !name.is_empty()).collect();
    if covered.len() > COVERED_MAX {
        return Err(MALFORMED);
    }
    check_coverage(&covered, request)?;
    check_times(&parameters, &covered, request)?;
    if !request.body.is_empty() || request.headers.contains_key(&DIGEST) {
        check_digest(request.headers, request.body)?;
    }
    Ok(UnprovenSignature {
        key_id: Iri::parse(&parameters.key_id).ok_or(ProofError::UnknownKey)?,
        algorithm: parameters.algorithm()?,
        base: base(&covered, &parameters, request)?,
        signature: STANDARD.decode(&parameters.signature).map_err(|_| MALFORMED)?,
    })
}

impl Parameters {
    fn parse(text: &str) -> Result<Self, ProofError> {
        let mut parameters = Self::default();
        let mut seen = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (name, behind) = rest.split_once('=').ok_or(MALFORMED)?;
            let name = name.trim();
            // What is there twice, readers understand differently.
            if seen.contains(&name) || seen.len() == PARAMETERS_MAX {
                return Err(MALFORMED);
            }
            seen.push(name);
            let (value, behind) = match behind.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"').ok_or(MALFORMED)?,
                None => behind.split_at(behind.find(',').unwrap_or(behind.len())),
            };
            parameters.set(name, value.trim())?;
            let behind = behind.trim_start();
            rest = match behind.strip_prefix(',') {
                Some(next) => next.trim_start(),
                None if behind.is_empty() => "",
                None => return Err(MALFORMED),
            };
        }
        match parameters.key_id.is_empty() || parameters.signature.is_empty() {
            true => Err(MALFORMED),
            false => Ok(parameters),
        }
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), ProofError> {
        // Parts of a second are allowed for `expires` and mean nothing here.
        let seconds = || value.split('.').next().and_then(|text| text.parse().ok()).ok_or(MALFORMED);
        match name {
            "keyId" => value.clone_into(&mut self.key_id),
            "algorithm" => value.clone_into(&mut self.algorithm),
            "headers" => self.headers = value.to_ascii_lowercase(),
            "signature" => value.clone_into(&mut self.signature),
            "created" => self.created = Some(seconds()?),
            "expires" => self.expires = Some(seconds()?),
            // 2.2: others are passed over.
            _ => {}
        }
        Ok(())
    }

    /// The algorithm, unless the key is to say it. E.1.
    fn algorithm(&self) -> Result<Option<Algorithm>, ProofError> {
        match self.algorithm.as_str() {
            "" | "hs2019" => Ok(None),
            "rsa-sha256" => Ok(Some(Algorithm::Rs256)),
            _ => Err(ProofError::WrongAlgorithm),
        }
    }
}

/// A signature must cover where the request goes, when it was made, and its body.
fn check_coverage(covered: &[&str], request: &ArrivedRequest<'_>) -> Result<(), ProofError> {
    let needs = |name: &'static str| covered.contains(&name).then_some(()).ok_or(ProofError::Uncovered(name));
    needs("(request-target)")?;
    needs("host")?;
    if request.method != Method::GET || !request.body.is_empty() {
        needs("digest")?;
    }
    if !covered.contains(&"date") && !covered.contains(&"(created)") {
        return Err(ProofError::Uncovered("date, or (created)"));
    }
    let twice = |(at, name): (usize, &&str)| covered[..at].contains(name);
    if covered.iter().enumerate().any(twice) { Err(MALFORMED) } else { Ok(()) }
}

fn check_times(parameters: &Parameters, covered: &[&str], request: &ArrivedRequest<'_>) -> Result<(), ProofError> {
    if covered.contains(&"date") {
        let date = request.headers.get(DATE).and_then(|date| date.to_str().ok()).ok_or(ProofError::Missing("Date"))?;
        let date = Timestamp::strptime("%a, %d %b %Y %H:%M:%S %z", date.replace("GMT", "+0000"));
        request.check_age(date.map_err(|_| MALFORMED)?.as_second())?;
    }
    if covered.contains(&"(created)") {
        request.check_age(parameters.created.ok_or(ProofError::Missing("created"))?)?;
    }
    match parameters.expires {
        Some(expires) if expires < request.now.as_second() => Err(ProofError::Expired),
        _ => Ok(()),
    }
}

/// The field `Digest` must have a hash of the body, and only those that match. RFC 3230 4.3.2.
fn check_digest(headers: &HeaderMap, body: &[u8]) -> Result<(), ProofError> {
    let malformed = ProofError::Malformed("digest");
    let mut known = 0;
    for value in headers.get_all(&DIGEST) {
        for one in value.to_str().map_err(|_| malformed)?.split(',') {
            let (algorithm, claimed) = one.trim().split_once('=').ok_or(malformed)?;
            if !algorithm.eq_ignore_ascii_case("sha-256") {
                continue;
            }
            let claimed = STANDARD.decode(claimed).map_err(|_| malformed)?;
            verify_slices_are_equal(digest(&SHA256, body).as_ref(), &claimed).map_err(|_| ProofError::WrongDigest)?;
            known += 1;
        }
    }
    if known > 0 { Ok(()) } else { Err(ProofError::Missing("Digest")) }
}

/// The text that is signed. 2.3.
fn base(covered: &[&str], parameters: &Parameters, request: &ArrivedRequest<'_>) -> Result<String, ProofError> {
    // 2.3: these belong to algorithms that do not carry their own times.
    let is_dated = parameters.algorithm.starts_with("rsa") || parameters.algorithm.starts_with("hmac");
    let moment = |moment: Option<i64>| moment.filter(|_| !is_dated).map(|seconds| seconds.to_string());
    let value = |name: &str| match name {
        "(request-target)" => Some(format!("{} {}", request.method.to_ascii_lowercase(), request.target)),
        "(created)" => moment(parameters.created),
        "(expires)" => moment(parameters.expires),
        "host" => Some(request.host().to_owned()),
        name => field(request.headers, name),
    };
    let line = |name: &&str| value(name).map(|value| format!("{name}: {value}"));
    let lines: Option<Vec<String>> = covered.iter().map(line).collect();
    Ok(lines.ok_or(MALFORMED)?.join("\n"))
}

/// All values of a field, trimmed and joined. `None` when it is not there.
fn field(headers: &HeaderMap, name: &str) -> Option<String> {
    let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
    let values: Option<Vec<_>> = headers.get_all(&name).iter().map(|value| Some(value.to_str().ok()?.trim())).collect();
    values.filter(|values| !values.is_empty()).map(|values| values.join(", "))
}

/// Adds `Date`, `Digest` (when there is a body) and `Signature`. Fails only when a name can't stand in a field.
pub(crate) fn sign(
    key: &RsaSigningKey,
    key_id: &str,
    method: &Method,
    url: &Url,
    headers: &mut HeaderMap,
    body: &[u8],
    now: Timestamp,
) -> Result<(), ProofError> {
    let field = |text: String| HeaderValue::from_str(&text).map_err(|_| MALFORMED);
    let mut covered = vec!["(request-target)", "host", "date"];
    headers.insert(DATE, field(now.strftime(DATE_FORM).to_string())?);
    if !body.is_empty() {
        headers.insert(DIGEST, field(format!("SHA-256={}", STANDARD.encode(digest(&SHA256, body))))?);
        covered.push("digest");
    }
    let request = ArrivedRequest {
        method: method.as_str(),
        origin: &url[..Position::AfterPort],
        // Without the fragment, which is never sent.
        target: &url[Position::BeforePath..Position::AfterQuery],
        headers,
        body,
        now,
    };
    let signature = key.signature(base(&covered, &Parameters::default(), &request)?.as_bytes()).ok_or(MALFORMED)?;
    let (covered, signature) = (covered.join(" "), STANDARD.encode(signature));
    let text = format!("keyId=\"{key_id}\",algorithm=\"rsa-sha256\",headers=\"{covered}\",signature=\"{signature}\"");
    headers.insert(SIGNATURE, field(text)?);
    Ok(())
}
