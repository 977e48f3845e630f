//! Crawlers that sign their requests: Web Bot Auth, over RFC 9421.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bytes::Bytes;
use forecourt_egress::{EgressError, FetchedBody, Refusal};
use forecourt_identity::bots::{DIRECTORY_TYPE, DirectoryFetcher, METHOD, SignatureAgents};
use forecourt_identity::limits::{
    BOT_SIGNATURE_LIFETIME_MAX, DIRECTORIES_PER_MINUTE_MAX, DIRECTORY_KEPT_MAX, DIRECTORY_KEPT_MIN, KEYS_MAX,
};
use forecourt_identity::{PresentedCredentials, ProofError, SigningKey, Verifier};
use futures::future::BoxFuture;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::support::{Sent, Shelf, key, later, now, other_key};

const HOST: &str = "crawler.example";
const DIRECTORY_URL: &str = "https://crawler.example/.well-known/http-message-signatures-directory";

/// Answers of signature agents by URL; counts what is fetched.
#[derive(Default)]
struct Far {
    answers: Mutex<HashMap<String, FetchedBody>>,
    refused: Mutex<HashMap<String, Refusal>>,
    fetched: AtomicUsize,
}

impl DirectoryFetcher for Far {
    fn fetch<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<FetchedBody, EgressError>> {
        self.fetched.fetch_add(1, Ordering::SeqCst);
        let refused = self.refused.lock().unwrap().get(url).copied().map(EgressError::Refused);
        let found = self.answers.lock().unwrap().get(url).cloned();
        let answer = found.ok_or_else(|| refused.unwrap_or_else(|| EgressError::Failed("not here".to_owned())));
        Box::pin(async move {
            // As on a network, others get their turn before it is there.
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
            answer
        })
    }
}

impl Far {
    fn with(answer: FetchedBody) -> Arc<Self> {
        let far = Self::default();
        far.say(answer);
        Arc::new(far)
    }

    fn say(&self, answer: FetchedBody) {
        self.answers.lock().unwrap().insert(DIRECTORY_URL.to_owned(), answer);
    }

    fn count(&self) -> usize {
        self.fetched.load(Ordering::SeqCst)
    }
}

fn jwk(key: &SigningKey) -> Value {
    let bytes = key.verify_key().unwrap().edwards_bytes().unwrap();
    json!({"kty": "OKP", "crv": "Ed25519", "x": URL_SAFE_NO_PAD.encode(bytes)})
}

fn set(headers: &mut HeaderMap, name: &'static str, value: &str) {
    headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
}

/// The parameters of a signature over `covered`.
fn member(covered: &str, created: i64, expires: i64, keyid: &str, tag: &str, more: &str) -> String {
    let at = now().as_second();
    format!("({covered});created={};expires={};keyid=\"{keyid}\";tag=\"{tag}\"{more}", at + created, at + expires)
}

fn signature(key: &SigningKey, base: &str) -> String {
    format!("sig=:{}:", STANDARD.encode(key.sign(base.as_bytes())))
}

/// The answer of a host with this key set, signed by `signer` for `authority`.
fn directory(keys: Value, signer: &SigningKey, authority: &str, more: &[(&'static str, &str)]) -> FetchedBody {
    let mut headers = HeaderMap::new();
    set(&mut headers, "content-type", DIRECTORY_TYPE);
    let params = member("\"@authority\";req", 0, 3600, signer.kid(), "http-message-signatures-directory", "");
    let base = format!("\"@authority\";req: {authority}\n\"@signature-params\": {params}");
    set(&mut headers, "signature-input", &format!("sig={params}"));
    set(&mut headers, "signature", &signature(signer, &base));
    more.iter().for_each(|(name, value)| set(&mut headers, name, value));
    FetchedBody { mime: DIRECTORY_TYPE.to_owned(), bytes: Bytes::from(json!({"keys": keys}).to_string()), headers }
}

fn good() -> FetchedBody {
    directory(json!([jwk(&key())]), &key(), HOST, &[])
}

fn verifier(far: &Arc<Far>) -> Verifier {
    let verifier = crate::support::verifier("", Arc::new(Shelf::default()));
    verifier.with_signature_agents(Arc::new(SignatureAgents::new(far.clone())))
}

/// A GET that is signed as its crawler says: with these parameters over these components.
fn signed_as(key: &SigningKey, params: &str, agent: &str, base_of_agent: &str) -> Sent {
    let mut sent = Sent { method: "GET".to_owned(), body: None, ..Sent::default() };
    let base = format!("\"@authority\": demo.localhost\n{base_of_agent}\n\"@signature-params\": {params}");
    set(&mut sent.headers, "signature-agent", agent);
    set(&mut sent.headers, "signature-input", &format!("sig={params}"));
    set(&mut sent.headers, "signature", &signature(key, &base));
    sent
}

fn signed_with(key: &SigningKey, created: i64, expires: i64, more: &str) -> Sent {
    let params = member("\"@authority\" \"signature-agent\"", created, expires, key.kid(), "web-bot-auth", more);
    let agent = format!("\"https://{HOST}\"");
    signed_as(key, &params, &agent, &format!("\"signature-agent\": {agent}"))
}

fn signed() -> Sent {
    signed_with(&key(), 0, 300, "")
}

fn invalid(fault: ProofError) -> PresentedCredentials {
    PresentedCredentials::InvalidSignature(fault)
}

#[tokio::test]
async fn a_signed_crawler_is_verified_by_the_directory_of_its_agent() {
    let verified = signed().to(&verifier(&Far::with(good()))).await;
    assert_eq!(verified.presented, PresentedCredentials::Valid);
    let sender = verified.sender;
    assert_eq!((sender.auth_method.as_str(), sender.owner()), ("web-bot-auth", Some("bot:crawler.example")));
    let bot = sender.bot.unwrap();
    assert!(bot.is_verified);
    assert_eq!((bot.name.as_str(), bot.product, bot.purpose), (HOST, None, None));
    let evidence = &sender.identities[0];
    assert_eq!((evidence.method.as_str(), evidence.assurance.as_str()), (METHOD, "domain"));
}

#[tokio::test]
async fn the_agent_may_be_a_member_of_a_dictionary() {
    let params = member("\"@authority\" \"signature-agent\";key=\"sig\"", 0, 300, key().kid(), "web-bot-auth", "");
    let base = format!("\"signature-agent\";key=\"sig\": \"https://{HOST}\"");
    let sent = signed_as(&key(), &params, &format!("sig=\"https://{HOST}\", other=\"https://o.example\""), &base);
    let verified = sent.to(&verifier(&Far::with(good()))).await;
    assert_eq!(verified.sender.bot.unwrap().name, HOST);
}

#[tokio::test]
async fn what_does_not_hold_is_refused_with_the_check_that_failed() {
    let day = BOT_SIGNATURE_LIFETIME_MAX.as_secs() as i64;
    let over = |covered: &str| {
        let params = member(covered, 0, 300, key().kid(), "web-bot-auth", "");
        signed_as(&key(), &params, &format!("\"https://{HOST}\""), "")
    };
    let untimed = format!("(\"@authority\" \"signature-agent\");keyid=\"{}\";tag=\"web-bot-auth\"", key().kid());
    let agent = format!("\"https://{HOST}\"");
    let of_agent = |agent: &str| {
        let params = member("\"@authority\" \"signature-agent\"", 0, 300, key().kid(), "web-bot-auth", "");
        signed_as(&key(), &params, agent, &format!("\"signature-agent\": {agent}"))
    };
    for (sent, fault) in [
        (signed_with(&key(), -600, -1, ""), ProofError::Expired),
        (signed_with(&key(), 61, 300, ""), ProofError::NotYetValid),
        (signed_with(&key(), 0, day + 1, ""), ProofError::LivesTooLong),
        (signed_with(&key(), 0, 300, ";alg=\"hmac-sha256\""), ProofError::WrongAlgorithm),
        (signed_with(&other_key(), 0, 300, ""), ProofError::UnknownKey),
        (over("\"signature-agent\""), ProofError::Uncovered("@authority")),
        (over("\"@authority\""), ProofError::Uncovered("signature-agent")),
        (signed_as(&key(), &untimed, &agent, ""), ProofError::Missing("created")),
        (of_agent("\"http://crawler.example\""), ProofError::Malformed("Signature-Agent")),
        (of_agent("\"https://crawler.example:8443\""), ProofError::Malformed("Signature-Agent")),
        (of_agent("\"https://crawler.example/elsewhere\""), ProofError::Malformed("Signature-Agent")),
        (of_agent("\"https://127.0.0.1\""), ProofError::Malformed("Signature-Agent")),
        (of_agent("\"https://user@crawler.example\""), ProofError::Malformed("Signature-Agent")),
    ] {
        assert_eq!(sent.presented(&verifier(&Far::with(good()))).await, invalid(fault), "{:?}", sent.headers);
    }
    let longest = signed_with(&key(), 0, day, "");
    assert_eq!(longest.presented(&verifier(&Far::with(good()))).await, PresentedCredentials::Valid);
}

#[tokio::test]
async fn a_signature_for_another_authority_does_not_hold() {
    let params = member("\"@authority\" \"signature-agent\"", 0, 300, key().kid(), "web-bot-auth", "");
    let agent = format!("\"https://{HOST}\"");
    let base = format!("\"@authority\": other.example\n\"signature-agent\": {agent}\n\"@signature-params\": {params}");
    let mut sent = signed();
    set(&mut sent.headers, "signature", &signature(&key(), &base));
    assert_eq!(sent.presented(&verifier(&Far::with(good()))).await, invalid(ProofError::BadSignature));
}

#[tokio::test]
async fn a_nonce_is_good_for_one_request() {
    let verifier = verifier(&Far::with(good()));
    let sent = signed_with(&key(), 0, 300, ";nonce=\"one\"");
    assert_eq!(sent.presented(&verifier).await, PresentedCredentials::Valid);
    assert_eq!(sent.presented(&verifier).await, invalid(ProofError::Replayed));
    assert_eq!(signed_with(&key(), 0, 300, ";nonce=\"two\"").presented(&verifier).await, PresentedCredentials::Valid);
    let late = sent.at(later(301));
    assert_eq!(late.presented(&verifier).await, invalid(ProofError::Expired));
}

#[tokio::test]
async fn a_directory_that_is_not_one_has_no_keys() {
    let keys = || json!([jwk(&key())]);
    let many: Vec<Value> = (0..=KEYS_MAX).map(|_| jwk(&key())).collect();
    let mut unsigned = good();
    unsigned.headers.remove("signature");
    unsigned.headers.remove("signature-input");
    let mut expired = jwk(&key());
    expired["exp"] = json!(now().as_second() - 1);
    let mut later = jwk(&key());
    later["nbf"] = json!((now().as_second() + 60) * 1_000);
    let mut odd = jwk(&key());
    odd["exp"] = json!("soon");
    for wrong in [
        unsigned,
        directory(keys(), &other_key(), HOST, &[]),
        directory(keys(), &key(), "elsewhere.example", &[]),
        directory(keys(), &key(), HOST, &[("content-type", "application/json")]),
        directory(json!(many), &key(), HOST, &[]),
        directory(json!("keys"), &key(), HOST, &[]),
        directory(json!([]), &key(), HOST, &[]),
        directory(json!([expired]), &key(), HOST, &[]),
        directory(json!([later]), &key(), HOST, &[]),
        directory(json!([odd]), &key(), HOST, &[]),
    ] {
        let told = format!("{:?}", wrong.headers);
        assert_eq!(signed().presented(&verifier(&Far::with(wrong))).await, invalid(ProofError::UnknownKey), "{told}");
    }
    let far = Arc::new(Far::default());
    far.refused.lock().unwrap().insert(DIRECTORY_URL.to_owned(), Refusal::PrivateAddress);
    assert_eq!(signed().presented(&verifier(&far)).await, invalid(ProofError::UnknownKey));
    assert_eq!(signed().presented(&verifier(&Arc::default())).await, invalid(ProofError::KeysUnavailable));
}

#[tokio::test]
async fn a_directory_is_kept_as_long_as_its_server_says_within_bounds() {
    let (least, most) = (DIRECTORY_KEPT_MIN.as_secs() as i64, DIRECTORY_KEPT_MAX.as_secs() as i64);
    for (says, kept) in [("no-store", least), ("max-age=3600", 3600), ("max-age=999999999", most)] {
        let far = Far::with(directory(json!([jwk(&key())]), &key(), HOST, &[("cache-control", says)]));
        let verifier = verifier(&far);
        let at = |seconds: i64| signed_with(&key(), seconds, seconds + 300, "").at(later(seconds));
        for seconds in [0, kept - 1] {
            assert_eq!(at(seconds).presented(&verifier).await, PresentedCredentials::Valid, "{says} {seconds}");
        }
        assert_eq!(far.count(), 1, "{says}");
        let _ = at(kept).presented(&verifier).await;
        assert_eq!(far.count(), 2, "{says}");
    }
}

#[tokio::test]
async fn what_failed_is_kept_too_and_a_flood_of_unknown_agents_is_bounded() {
    let far = Far::with(good());
    let verifier = verifier(&far);
    let of = |host: &str| {
        let params = member("\"@authority\" \"signature-agent\"", 0, 300, key().kid(), "web-bot-auth", "");
        let agent = format!("\"https://{host}\"");
        signed_as(&key(), &params, &agent, &format!("\"signature-agent\": {agent}"))
    };
    assert_eq!(signed().presented(&verifier).await, PresentedCredentials::Valid);
    for _ in 0..3 {
        assert_eq!(of("gone.example").presented(&verifier).await, invalid(ProofError::KeysUnavailable));
    }
    assert_eq!(far.count(), 2, "that it could not be had is kept");
    for n in 2..DIRECTORIES_PER_MINUTE_MAX + 20 {
        let _ = of(&format!("n{n}.example")).presented(&verifier).await;
    }
    assert_eq!(far.count(), DIRECTORIES_PER_MINUTE_MAX);
    assert_eq!(signed().presented(&verifier).await, PresentedCredentials::Valid, "who is known is not shut out");
    let over = of(&format!("n{}.example", DIRECTORIES_PER_MINUTE_MAX + 1));
    let _ = over.at(later(60)).presented(&verifier).await;
    assert_eq!(far.count(), DIRECTORIES_PER_MINUTE_MAX + 1, "what was over the bound is asked later");
}

#[tokio::test]
async fn two_hundred_at_once_wait_for_one_fetch() {
    let far = Far::with(good());
    let verifier = verifier(&far);
    let all = (0..200).map(|n| {
        let sent = signed_with(&key(), 0, 300, &format!(";nonce=\"n{n}\""));
        let verifier = &verifier;
        async move { sent.presented(verifier).await }
    });
    let presented = futures::future::join_all(all).await;
    assert!(presented.iter().all(|one| *one == PresentedCredentials::Valid));
    assert_eq!(far.count(), 1);
}

#[tokio::test]
async fn without_signature_agents_such_a_signature_is_not_looked_at() {
    let without = crate::support::verifier("", Arc::new(Shelf::default()));
    assert_eq!(signed().presented(&without).await, PresentedCredentials::Nothing);
    let off = crate::support::verifier("[bots]\nsignatures = false\n", Arc::new(Shelf::default()));
    let far = Far::with(good());
    let off = off.with_signature_agents(Arc::new(SignatureAgents::new(far.clone())));
    assert_eq!(signed().presented(&off).await, PresentedCredentials::Nothing);
    assert_eq!(far.count(), 0);
}

#[test]
fn no_token_and_no_connector_may_name_a_crawler() {
    let problems = |toml: &str| {
        let config = crate::support::config(toml);
        Verifier::new(&config, std::path::Path::new("."), Arc::new(Shelf::default()))
            .err()
            .map(|all| all[0].to_string())
    };
    let bearer = "[[bearer]]\nissuer = \"https://l.example\"\naudience = [\"a\"]\njwks_url = \"https://l.example/k\"\n\
                  subject_prefix = \"bot:\"\n";
    assert!(problems(bearer).unwrap().contains("`bot:`"));
    let connector = "[[trusted_issuers]]\nissuer = \"c.example\"\nmethods = [\"m\"]\nassurance = [\"a\"]\n\
                     subject_prefixes = [\"bot:c\"]\n";
    assert!(problems(connector).unwrap().contains("crawlers"));
    let known = "[bots]\n[[bots.known]]\nname = \"two words\"\n";
    assert!(problems(known).unwrap().contains("bots.known[0]"));
}
