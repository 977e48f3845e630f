//! A host, a caller and an issuer, with documents and directories made of maps.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use forecourt_core::{Address, Timestamp};
use forecourt_egress::EgressError;
use forecourt_identity::http_signature::KeyId;
use forecourt_identity::{
    DocumentFetcher, FoundKeys, IdentityConfig, KeyDirectory, KeySet, PresentedCredentials, ProofError, RequestProof,
    SigningKey, VerifiedSender, Verifier,
};
use forecourt_store::Memory;
use forecourt_testkit::CountedEntropy;
use futures::future::BoxFuture;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

pub(crate) const NOW: &str = "2026-01-01T00:00:00Z";

pub(crate) fn now() -> Timestamp {
    NOW.parse().unwrap()
}

pub(crate) fn later(seconds: i64) -> Timestamp {
    Timestamp::from_second(now().as_second() + seconds).unwrap()
}

pub(crate) fn agent() -> Address {
    Address::parse("@chef@demo.localhost").unwrap()
}

pub(crate) fn key() -> SigningKey {
    SigningKey::generate(&CountedEntropy::default())
}

pub(crate) fn other_key() -> SigningKey {
    let entropy = CountedEntropy::default();
    SigningKey::generate(&entropy);
    SigningKey::generate(&entropy)
}

/// Documents by URL; counts what is fetched.
#[derive(Default)]
pub(crate) struct Shelf {
    pub(crate) documents: Mutex<HashMap<String, Value>>,
    pub(crate) fetched: AtomicUsize,
}

impl Shelf {
    pub(crate) fn put(&self, url: &str, document: Value) {
        self.documents.lock().unwrap().insert(url.to_owned(), document);
    }

    pub(crate) fn count(&self) -> usize {
        self.fetched.load(Ordering::SeqCst)
    }
}

impl DocumentFetcher for Shelf {
    fn get<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Bytes, EgressError>> {
        self.fetched.fetch_add(1, Ordering::SeqCst);
        let found = self.documents.lock().unwrap().get(url).map(|document| document.to_string().into());
        Box::pin(async move { found.ok_or(EgressError::Failed("not here".to_owned())) })
    }
}

/// One agent and its keys.
pub(crate) struct Book {
    pub(crate) address: Address,
    pub(crate) keys: KeySet,
}

impl KeyDirectory for Book {
    fn find<'a>(&'a self, id: &'a KeyId, _: Timestamp) -> BoxFuture<'a, Result<FoundKeys, ProofError>> {
        let known = *id == KeyId::Agent(self.address.clone()) || *id == KeyId::Card("https://peer.example/card".into());
        let found = known.then(|| FoundKeys { address: self.address.clone(), keys: self.keys.clone() });
        Box::pin(std::future::ready(found.ok_or(ProofError::UnknownKey)))
    }
}

pub(crate) fn book(key: &SigningKey) -> Arc<Book> {
    let keys = KeySet::new(vec![key.verify_key().unwrap()]).unwrap();
    Arc::new(Book { address: Address::parse("@bot@peer.example").unwrap(), keys })
}

pub(crate) fn config(toml: &str) -> IdentityConfig {
    toml::from_str(toml).unwrap()
}

pub(crate) fn verifier(toml: &str, shelf: Arc<Shelf>) -> Verifier {
    Verifier::new(&config(toml), Path::new("."), shelf).unwrap().with_store(Arc::new(Memory::new()))
}

/// A POST to the agent, to be changed by each test.
#[derive(Clone)]
pub(crate) struct Sent {
    pub(crate) method: String,
    pub(crate) target_uri: String,
    pub(crate) path: String,
    pub(crate) query: Option<String>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) now: Timestamp,
}

impl Default for Sent {
    fn default() -> Self {
        Self {
            method: "POST".to_owned(),
            target_uri: "https://demo.localhost/~chef?a=1".to_owned(),
            path: "/~chef".to_owned(),
            query: Some("a=1".to_owned()),
            headers: HeaderMap::new(),
            body: Some(b"hello".to_vec()),
            now: now(),
        }
    }
}

impl Sent {
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.append(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        self
    }

    pub(crate) fn at(mut self, now: Timestamp) -> Self {
        self.now = now;
        self
    }

    pub(crate) async fn to(&self, verifier: &Verifier) -> VerifiedSender {
        let agent = agent();
        let request = RequestProof {
            method: &self.method,
            target_uri: &self.target_uri,
            authority: "demo.localhost",
            path: &self.path,
            query: self.query.as_deref(),
            headers: &self.headers,
            body: self.body.as_deref(),
            agent: &agent,
            now: self.now,
        };
        verifier.verify(&request).await
    }

    /// What became of the credentials; checks that the sender is nobody unless they hold.
    pub(crate) async fn presented(&self, verifier: &Verifier) -> PresentedCredentials {
        let verified = self.to(verifier).await;
        let anonymous = !verified.sender.verified && verified.sender.auth_method == "none";
        assert_eq!(anonymous, verified.presented != PresentedCredentials::Valid, "{verified:?}");
        verified.presented
    }
}
