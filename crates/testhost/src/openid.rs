//! An OpenID provider that says what it is told to.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_core::Timestamp;
use forecourt_identity::{SigningKey, jws};
use forecourt_testkit::CountedEntropy;
use parking_lot::Mutex;
use serde_json::{Value, json};

/// Bytes of an answer that is too long for anybody.
const HUGE: usize = 64 * 1024 * 1024;
/// What the host that is tested is called there.
pub const CLIENT: &str = "us";

/// An OpenID provider on a free port of this machine, for as long as the runtime of its test runs.
pub struct OpenIdProvider {
    /// Its issuer.
    pub issuer: String,
    inside: Arc<Mutex<Inside>>,
}

struct Inside {
    issuer: String,
    entropy: CountedEntropy,
    key: SigningKey,
    way: String,
    claims: Value,
    asked: HashMap<String, String>,
}

impl OpenIdProvider {
    /// Starts one.
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let issuer = format!("http://{}", listener.local_addr().expect("an address"));
        let entropy = CountedEntropy::default();
        let key = SigningKey::generate(&entropy);
        let inside = Inside {
            issuer: issuer.clone(),
            entropy,
            key,
            way: "well".to_owned(),
            claims: Value::Null,
            asked: HashMap::new(),
        };
        let inside = Arc::new(Mutex::new(inside));
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(discovery))
            .route("/jwks", get(keys))
            .route("/token", post(token))
            .with_state(inside.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { issuer, inside }
    }

    /// The claims of an ID token that holds.
    pub fn claims(&self, now: Timestamp, nonce: &str) -> Value {
        let now = now.as_second();
        json!({"iss": self.issuer, "aud": CLIENT, "sub": "u1", "name": "Ada", "email": "ada@acme.tld",
            "email_verified": true, "nonce": nonce, "iat": now, "exp": now + 300})
    }

    /// What the next ID token says.
    pub fn says(&self, claims: Value) {
        self.inside.lock().claims = claims;
    }

    /// How it answers for a code from now on: `well`; with an ID token that is signed by `stranger`, `hs256` or `none`;
    /// or with something else, `garbage`, `huge` or `down`.
    pub fn answers(&self, way: &str) {
        self.inside.lock().way = way.to_owned();
    }

    /// A new key in place of the one before.
    pub fn rotates(&self) {
        let mut inside = self.inside.lock();
        inside.key = SigningKey::generate(&inside.entropy);
    }

    /// What a code was exchanged with last.
    pub fn asked(&self) -> HashMap<String, String> {
        self.inside.lock().asked.clone()
    }
}

async fn discovery(State(inside): State<Arc<Mutex<Inside>>>) -> Json<Value> {
    let issuer = &inside.lock().issuer;
    Json(json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "jwks_uri": format!("{issuer}/jwks"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["EdDSA", "HS256", "none"],
    }))
}

async fn keys(State(inside): State<Arc<Mutex<Inside>>>) -> Json<Value> {
    Json(json!({"keys": [inside.lock().key.public().to_jwk()]}))
}

async fn token(State(inside): State<Arc<Mutex<Inside>>>, body: String) -> Response {
    let mut inside = inside.lock();
    inside.asked = url::form_urlencoded::parse(body.as_bytes()).into_owned().collect();
    let payload = inside.claims.to_string();
    let unsigned =
        |head: Value| format!("{}.{}", URL_SAFE_NO_PAD.encode(head.to_string()), URL_SAFE_NO_PAD.encode(&payload));
    match inside.way.as_str() {
        "garbage" => return "<html>Welcome!</html>".into_response(),
        "huge" => return format!("{{\"access_token\": \"{}\"}}", "a".repeat(HUGE)).into_response(),
        "down" => return StatusCode::BAD_GATEWAY.into_response(),
        _ => {}
    }
    let id_token = match inside.way.as_str() {
        "none" => format!("{}.", unsigned(json!({"alg": "none"}))),
        "hs256" => format!("{}.{}", unsigned(json!({"alg": "HS256"})), URL_SAFE_NO_PAD.encode([7; 32])),
        "stranger" => jws::sign(&SigningKey::generate(&inside.entropy), "JWT", payload.as_bytes()),
        _ => jws::sign(&inside.key, "JWT", payload.as_bytes()),
    };
    Json(json!({"access_token": "a", "token_type": "Bearer", "expires_in": 60, "id_token": id_token})).into_response()
}
