//! A provider that says what it is told to.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::State;
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_core::Timestamp;
use forecourt_identity::{SigningKey, jws};
use forecourt_testkit::CountedEntropy;
use parking_lot::Mutex;
use serde_json::{Value, json};

/// The name of the host there.
pub(crate) const CLIENT: &str = "us";

pub(crate) struct Provider {
    pub(crate) issuer: String,
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

impl Provider {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
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
    pub(crate) fn claims(&self, now: Timestamp, nonce: &str) -> Value {
        let now = now.as_second();
        json!({"iss": self.issuer, "aud": CLIENT, "sub": "u1", "name": "Ada", "email": "ada@acme.tld",
            "email_verified": true, "nonce": nonce, "iat": now, "exp": now + 300})
    }

    /// What the next ID token says.
    pub(crate) fn says(&self, claims: Value) {
        self.inside.lock().claims = claims;
    }

    /// How ID tokens are signed from now on.
    pub(crate) fn signs_by(&self, way: &str) {
        self.inside.lock().way = way.to_owned();
    }

    /// A new key in place of the one before.
    pub(crate) fn rotates(&self) {
        let mut inside = self.inside.lock();
        inside.key = SigningKey::generate(&inside.entropy);
    }

    /// What a code was exchanged with last.
    pub(crate) fn asked(&self) -> HashMap<String, String> {
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

async fn token(State(inside): State<Arc<Mutex<Inside>>>, body: String) -> Json<Value> {
    let mut inside = inside.lock();
    inside.asked = url::form_urlencoded::parse(body.as_bytes()).into_owned().collect();
    let payload = inside.claims.to_string();
    let unsigned =
        |head: Value| format!("{}.{}", URL_SAFE_NO_PAD.encode(head.to_string()), URL_SAFE_NO_PAD.encode(&payload));
    let id_token = match inside.way.as_str() {
        "none" => format!("{}.", unsigned(json!({"alg": "none"}))),
        "hs256" => format!("{}.{}", unsigned(json!({"alg": "HS256"})), URL_SAFE_NO_PAD.encode([7; 32])),
        "stranger" => jws::sign(&SigningKey::generate(&inside.entropy), "JWT", payload.as_bytes()),
        _ => jws::sign(&inside.key, "JWT", payload.as_bytes()),
    };
    Json(json!({"access_token": "a", "token_type": "Bearer", "expires_in": 60, "id_token": id_token}))
}
