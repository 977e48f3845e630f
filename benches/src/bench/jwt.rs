//! Bearer tokens with keys at hand: the whole of what the verifier does with a request, beside the bare verification
//! of the same signature. On one core.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair as RsaKeyPair, KeySize};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, ParsedPublicKey,
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use forecourt_core::{Address, Clock, SystemClock, Timestamp};
use forecourt_egress::EgressError;
use forecourt_identity::{DocumentFetcher, PresentedCredentials, RequestProof, Verifier};
use futures::future::BoxFuture;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::report::{median, spread};
use crate::run::Run;

const ROUNDS: usize = 10;
/// How long each of the two is done in a round.
const VISIT: Duration = Duration::from_millis(500);
/// Operations between two looks at the clock.
const BATCH: u32 = 10;

/// RS256, ES256 and EdDSA.
pub(super) fn run(run: &Run) -> anyhow::Result<()> {
    for signer in [Signer::rsa()?, Signer::p256()?, Signer::ed25519()?] {
        signer.compare(run)?;
    }
    Ok(())
}

/// A token of one algorithm, the keys that it is verified with, and the signature bare.
struct Signer {
    name: &'static str,
    jwk: Value,
    token: String,
    bare: Box<dyn Fn() -> bool>,
}

impl Signer {
    fn rsa() -> anyhow::Result<Self> {
        let pair = RsaKeyPair::generate(KeySize::Rsa2048)?;
        let public = pair.public_key();
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let (n, e) =
            (public.modulus().big_endian_without_leading_zero(), public.exponent().big_endian_without_leading_zero());
        let jwk = json!({"kty": "RSA", "alg": "RS256", "kid": "k", "n": text(n), "e": text(e)});
        let sign = |input: &[u8]| {
            let mut signature = vec![0; pair.public_modulus_len()];
            pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), input, &mut signature).map(|()| signature)
        };
        let parsed = ParsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, public.as_ref())?;
        Self::new("RS256", jwk, sign, parsed)
    }

    fn p256() -> anyhow::Result<Self> {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING)?;
        let point = pair.public_key().as_ref();
        let (x, y) = (URL_SAFE_NO_PAD.encode(&point[1..33]), URL_SAFE_NO_PAD.encode(&point[33..]));
        let jwk = json!({"kty": "EC", "crv": "P-256", "alg": "ES256", "kid": "k", "x": x, "y": y});
        let sign = |input: &[u8]| pair.sign(&SystemRandom::new(), input).map(|signed| signed.as_ref().to_vec());
        let parsed = ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)?;
        Self::new("ES256", jwk, sign, parsed)
    }

    fn ed25519() -> anyhow::Result<Self> {
        let pair = Ed25519KeyPair::generate()?;
        let x = URL_SAFE_NO_PAD.encode(pair.public_key());
        let jwk = json!({"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "kid": "k", "x": x});
        let bytes: [u8; 32] = pair.public_key().as_ref().try_into()?;
        let key = ed25519_dalek::VerifyingKey::from_bytes(&bytes)?;
        let (token, input, signature) = token("EdDSA", |input| Ok(pair.sign(input).as_ref().to_vec()))?;
        let signature = ed25519_dalek::Signature::from_slice(&signature)?;
        let bare = Box::new(move || key.verify_strict(input.as_bytes(), &signature).is_ok());
        Ok(Self { name: "EdDSA", jwk, token, bare })
    }

    fn new(
        name: &'static str,
        jwk: Value,
        sign: impl Fn(&[u8]) -> Result<Vec<u8>, aws_lc_rs::error::Unspecified>,
        key: ParsedPublicKey,
    ) -> anyhow::Result<Self> {
        let (token, input, signature) = token(name, sign)?;
        let bare = Box::new(move || key.verify_sig(input.as_bytes(), &signature).is_ok());
        Ok(Self { name, jwk, token, bare })
    }

    fn compare(self, run: &Run) -> anyhow::Result<()> {
        let config = json!({"bearer": [{"issuer": "https://idp.example", "audience": ["https://demo.localhost"],
            "jwks_url": "https://idp.example/jwks"}]});
        let keys = Arc::new(Shelf(json!({"keys": [self.jwk]}).to_string().into()));
        let verifier = Verifier::new(&serde_json::from_value(config)?, Path::new("."), keys);
        let verifier = verifier.map_err(|problems| anyhow::anyhow!("{problems:?}"))?;
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let agent = Address::parse("@chef@demo.localhost")?;
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::from_str(&format!("Bearer {}", self.token))?);
        let whole = |now: Timestamp| {
            let proof = RequestProof {
                method: "GET",
                target_uri: "https://demo.localhost/~chef",
                authority: "demo.localhost",
                path: "/~chef",
                query: None,
                headers: &headers,
                body: None,
                agent: &agent,
                now,
            };
            runtime.block_on(verifier.verify(&proof)).presented == PresentedCredentials::Valid
        };
        anyhow::ensure!(whole(SystemClock.now()) && (self.bare)(), "a good token holds");
        let (mut ours, mut ratios, mut again) = (Vec::new(), Vec::new(), Vec::new());
        let visit = run.visit(VISIT);
        for _ in 0..run.rounds(ROUNDS) {
            let bare = rate(visit, || (self.bare)());
            let whole = rate(visit, || whole(SystemClock.now()));
            again.push(bare / rate(visit, || (self.bare)()));
            ours.push(whole);
            ratios.push(bare / whole);
        }
        let (name, tokens) = (self.name, median(&ours));
        println!("{name:<6} {tokens:8.0} tokens/s on a core; that takes the bare signature {} times", spread(&ratios));
        run.keep(format_args!("{name}, tokens a second"), &ours, &again)?;
        run.keep(format_args!("{name}, ratio to the bare signature"), &ratios, &again)
    }
}

/// How often something is done in a second.
fn rate(visit: Duration, mut work: impl FnMut() -> bool) -> f64 {
    let (begin, mut done) = (Instant::now(), 0_u32);
    while begin.elapsed() < visit {
        for _ in 0..BATCH {
            std::hint::black_box(work());
        }
        done += BATCH;
    }
    f64::from(done) / begin.elapsed().as_secs_f64()
}

/// A token as identity providers write them, what of it is signed, and the signature.
fn token(
    algorithm: &str,
    sign: impl Fn(&[u8]) -> Result<Vec<u8>, aws_lc_rs::error::Unspecified>,
) -> anyhow::Result<(String, String, Vec<u8>)> {
    let now = SystemClock.now().as_second();
    let claims = json!({"iss": "https://idp.example", "sub": "ada", "aud": "https://demo.localhost", "iat": now,
        "exp": now + 3_600, "scope": "booking:room documents:query", "azp": "desk", "jti": "2f9c1b0e7a", "name": "Ada"});
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let input = format!("{}.{}", part(&json!({"alg": algorithm, "typ": "at+jwt", "kid": "k"})), part(&claims));
    let signature = sign(input.as_bytes()).ok().context("a key that was just made signs")?;
    Ok((format!("{input}.{}", URL_SAFE_NO_PAD.encode(&signature)), input, signature))
}

/// The keys of the issuer.
struct Shelf(Bytes);

impl DocumentFetcher for Shelf {
    fn get<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Bytes, EgressError>> {
        let bytes = self.0.clone();
        Box::pin(async move { Ok(bytes) })
    }
}
