//! A server of AGTP that keeps every rule that is checked, in as few words as that takes; and the place where a
//! test breaks one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forecourt_contract::Catalog;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::{AGENT, OTHER};

/// A request as it was read.
#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: Option<String>,
    fields: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Why it can't be one.
    fault: Option<&'static str>,
}

/// An answer in the making.
#[derive(Clone, Default)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// What a test changes of an answer: before it gets what every answer has, or after.
pub(crate) type Change = fn(&Request, &mut Reply);

#[derive(Clone, Copy)]
pub(crate) struct Script {
    pub(crate) early: Change,
    pub(crate) late: Change,
    /// Whether contracts are negotiated.
    pub(crate) negotiates: bool,
}

impl Default for Script {
    fn default() -> Self {
        Self { early: |_, _| {}, late: |_, _| {}, negotiates: false }
    }
}

#[derive(Default)]
struct State {
    count: u64,
    records: HashMap<String, String>,
    heads: HashMap<String, String>,
    contracts: HashMap<String, bool>,
    keys: HashMap<String, String>,
    evaluations: usize,
}

impl Request {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub(crate) fn path(&self) -> &str {
        self.target.as_deref().unwrap_or("/").split('?').next().unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| json!({}))
    }

    /// Whether it is this one.
    pub(crate) fn is(&self, method: &str, path: &str) -> bool {
        self.method == method && self.path() == path
    }
}

impl Reply {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        let fields = vec![("Content-Type".to_owned(), "application/vnd.agtp+json".to_owned())];
        Self { status, fields, body: body.to_string().into_bytes() }
    }

    pub(crate) fn error(status: u16, code: &str, more: Value) -> Self {
        let mut error = json!({"code": code, "reason": code});
        error.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Self::json(status, &json!({"error": error}))
    }

    /// Changes the body as JSON.
    pub(crate) fn edit(&mut self, edit: impl FnOnce(&mut Value)) {
        let mut body: Value = serde_json::from_slice(&self.body).unwrap();
        edit(&mut body);
        self.body = body.to_string().into_bytes();
    }

    pub(crate) fn without(&mut self, name: &str) {
        self.fields.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.without(name);
        self.fields.push((name.to_owned(), value.to_owned()));
    }

    fn bytes(&self) -> Vec<u8> {
        let mut head = format!("AGTP/1.0 {} Said\r\n", self.status);
        for (name, value) in &self.fields {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", self.body.len()));
        [head.into_bytes(), self.body.clone()].concat()
    }
}

/// Listens on a free port.
pub(crate) async fn listen(script: Script) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let state = Arc::new(Mutex::new(State::default()));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, state.clone(), script));
        }
    });
    port
}

async fn serve(mut stream: TcpStream, state: Arc<Mutex<State>>, script: Script) {
    let mut buffer = Vec::new();
    loop {
        while let Some((request, length)) = read(&buffer) {
            buffer.drain(..length);
            let is_fatal = request.fault.is_some();
            let reply = answer(&request, &mut state.lock().unwrap(), script);
            if stream.write_all(&reply.bytes()).await.is_err() || is_fatal {
                return;
            }
        }
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk).await {
            Ok(count) if count > 0 => buffer.extend_from_slice(&chunk[..count]),
            _ => return,
        }
    }
}

fn read(bytes: &[u8]) -> Option<(Request, usize)> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let mut start = lines.next().unwrap().split(' ');
    let version = start.next().unwrap_or_default();
    let method = start.next().unwrap_or_default().to_owned();
    let target = start.next().map(str::to_owned);
    let split = |line: &str| line.split_once(':').map(|(name, value)| (name.to_owned(), value.trim().to_owned()));
    let fields: Vec<_> = lines.filter_map(split).collect();
    let lengths: Vec<_> = fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-length")).collect();
    let length = lengths.first().map_or(Some(0), |(_, text)| text.parse().ok());
    let fault = match (version, length, head.lines().next().unwrap().contains('#')) {
        ("AGTP/1.0", Some(_), false) if lengths.len() < 2 => None,
        _ => Some("invalid-request-line"),
    };
    let whole = end + 4 + if fault.is_some() { 0 } else { length.unwrap_or(0) };
    let body = bytes.get(end + 4..whole)?.to_vec();
    Some((Request { method, target, fields, body, fault }, whole))
}

fn answer(request: &Request, state: &mut State, script: Script) -> Reply {
    let mut reply = content(request, state, script);
    (script.early)(request, &mut reply);
    state.count += 1;
    let count = state.count;
    reply.set("Server-ID", "scripted.example");
    reply.set("Response-ID", &format!("response-{count}"));
    reply.set("AGTP-API-Version", "1.0.1");
    for name in ["Task-ID", "Request-ID"] {
        if let Some(value) = request.field(name) {
            reply.set(name, value);
        }
    }
    record(request, &mut reply, state);
    (script.late)(request, &mut reply);
    reply
}

/// Adds the Attribution-Record, and keeps it.
fn record(request: &Request, reply: &mut Reply, state: &mut State) {
    let agent = request.field("Agent-ID").unwrap_or_default().to_owned();
    let head = state.heads.get(&agent).cloned().unwrap_or_else(|| "0".repeat(64));
    let mut payload = json!({
        "audit_record_version": "1", "server_id": "scripted.example", "status": reply.status,
        "issued_at": "2026-01-15T09:00:01Z", "agent_id": agent, "owner_id": "",
        "request_id": request.field("Request-ID").unwrap_or_default(),
        "response_id": format!("response-{}", state.count), "previous_audit_id": head
    });
    if let Some(id) = request.field("Contract-Synthesized").filter(|id| state.contracts.get(*id) == Some(&true)) {
        payload["synthesis_id"] = json!(id);
        payload["contract_hash"] = json!("0".repeat(64));
        payload["negotiation_origin"] = json!("rcns-gate");
    }
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let jws = format!("{}.{}.", part(&json!({"alg": "none", "typ": "JWT"})), part(&payload));
    let id = sha256(&jws);
    reply.set("Attribution-Record", &jws);
    reply.set("Audit-ID", &id);
    state.records.insert(id.clone(), jws);
    if !agent.is_empty() {
        state.heads.insert(agent, id);
    }
}

fn sha256(text: &str) -> String {
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, text.as_bytes());
    digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn endpoint(method: &str, path: &str, more: Value) -> Value {
    let mut endpoint = json!({
        "method": method, "path": path, "description": "An endpoint.",
        "semantic": {"intent": "Do it.", "actor": "agent", "outcome": "It is done.", "capability": "discovery",
            "confidence": 1.0, "impact": "informational", "is_idempotent": true},
        "input_schema": {"type": "object", "properties": {}, "additionalProperties": false},
        "output_schema": {"type": "object", "properties": {"items": {"type": "array"}}, "required": ["items"]},
        "errors": [], "handler": {"type": "registered_function"}
    });
    endpoint.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    endpoint
}

fn endpoints() -> Vec<Value> {
    let built_in =
        ["/", "/methods", "/agents", "/patterns", "/contracts"].map(|path| endpoint("DISCOVER", path, json!({})));
    let named = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false});
    let old = json!({"deprecated": {"deprecated_in": "1", "successor": {"method": "QUERY", "path": "/catalog"}}});
    let upstream = [
        "upstream_timeout",
        "upstream_connection_error",
        "upstream_malformed_response",
        "upstream_authentication_failed",
        "upstream_error",
    ];
    let own = [
        endpoint("QUERY", "/catalog", json!({})),
        endpoint("FETCH", "/named", json!({"input_schema": named})),
        endpoint("FETCH", "/secret", json!({"required_scopes": ["vault:read"]})),
        endpoint("QUERY", "/old", old),
        endpoint("FETCH", "/composed", json!({"handler": {"type": "composition"}, "errors": ["composition_failed"]})),
        endpoint("FETCH", "/service", json!({"handler": {"type": "external_service"}, "errors": upstream})),
    ];
    built_in.into_iter().chain(own).collect()
}

fn manifest(negotiates: bool) -> Value {
    let catalog = Catalog::shipped();
    json!({
        "agtp_version": "1.0", "agtp_api_version": "1.0", "document_version": "1", "catalog_version": "1.0.0",
        "catalog_versions_supported": ["1.0.0"],
        "server": {"server_id": "scripted.example", "operator": "Scripted", "issued": "2026-01-15T09:00:00Z",
            "updated": "2026-01-15T09:00:00Z"},
        "embedded_methods": catalog.embedded().map(|name| json!({"name": name})).collect::<Vec<_>>(),
        "endpoints": endpoints(), "agent_disclosure": "public", "hosted_agents": [{"agent_id": AGENT}],
        "policies": {"wildcards_accepted": false, "anonymous_discovery": true, "scope_required_for_invocation": true,
            "synthesis_enabled": true, "max_synthesis_depth": 10,
            "methods": {"allow": "*", "disallow": ["TRANSFER"], "legacy": "NONE", "aliases": {"GET": "FETCH"},
                "redirects": []}},
        "manifest_signature": null, "negotiates": negotiates
    })
}

fn content(request: &Request, state: &mut State, script: Script) -> Reply {
    if let Some(code) = request.fault {
        return Reply::error(400, code, json!({}));
    }
    if !request.body.is_empty() && !serde_json::from_slice::<Value>(&request.body).is_ok_and(|body| body.is_object()) {
        return Reply::error(400, "invalid-body", json!({}));
    }
    let (method, path) = (request.method.as_str(), request.path());
    let catalog = Catalog::shipped();
    let method = if method == "GET" { "FETCH" } else { method };
    if catalog.verb(method).is_none() {
        return Reply::error(459, "method-violation", json!({"suggestions": ["QUERY"], "catalog_version": "1.0.0"}));
    }
    let offending = path.split('/').skip(1).find(|part| catalog.verb_in(part).is_some());
    if offending.is_some() || (path.len() > 1 && path.ends_with('/')) {
        return Reply::error(460, "endpoint-violation", json!({"segment": offending.unwrap_or_default()}));
    }
    if method == "TRANSFER" {
        return Reply::error(405, "disallowed", json!({"allowed_methods_for_path": [], "redirects_for_path": {}}));
    }
    match request.field("Agent-ID") {
        Some(id) if id != AGENT && id != OTHER => return Reply::error(401, "agent-unauthenticated", json!({})),
        _ => {}
    }
    match (method, path) {
        ("DISCOVER", path) => discover(request, path, script.negotiates, state),
        ("INSPECT", "/") => inspect(request, state),
        ("PROPOSE", "/") => propose(request),
        ("SUSPEND", "/") => {
            if let Some(id) = request.json()["synthesis_id"].as_str() {
                state.contracts.insert(id.to_owned(), false);
            }
            Reply::json(200, &json!({"status": "suspended"}))
        }
        (_, "/") if catalog.embedded().any(|name| name == method) => Reply::json(200, &json!({"ok": true})),
        ("QUERY", "/proposals/conform-no-such-proposal") => Reply::error(404, "proposal-not-found", json!({})),
        _ => call(request, method, path, script.negotiates, state),
    }
}

fn discover(request: &Request, path: &str, negotiates: bool, state: &State) -> Reply {
    if request.json()["target"].as_str().is_some_and(|target| path != format!("/{target}")) {
        return Reply::error(400, "conflict", json!({}));
    }
    let listed = || {
        endpoints()
            .into_iter()
            .map(|one| {
                let tier = if one["method"] == "DISCOVER" { "A" } else { "B" };
                json!({"method": one["method"], "path": one["path"], "description": "An endpoint.", "tier": tier})
            })
            .collect::<Vec<_>>()
    };
    let entry = |path: &str| json!({"path": path, "tier": "A"});
    match path {
        "/" if request.target.is_none() => {
            let mut reply = Reply::json(200, &manifest(negotiates));
            reply.set("Content-Type", "application/vnd.agtp.manifest+json");
            reply.set("Cache-Control", "max-age=60");
            reply.set("ETag", "\"1\"");
            reply
        }
        "/" => {
            let paths = ["/methods", "/agents", "/patterns", "/contracts"];
            Reply::json(200, &json!({"directory": paths.map(entry).to_vec()}))
        }
        "/methods" => Reply::json(200, &json!(listed())),
        "/agents" => Reply::json(
            200,
            &json!([{"agent_id": AGENT, "name": "lauren", "trust_tier": 2,
            "verification_path": "org-asserted", "trust_warning": "verification-incomplete"}]),
        ),
        "/patterns" => Reply::json(
            200,
            &json!({"rcns_enabled": negotiates, "patterns": [
            {"recipe_name": "book", "recipe_version": "1", "method": "BOOK", "path_exact": "/made"}]}),
        ),
        "/contracts" => Reply::json(
            200,
            &json!(
                state
                    .contracts
                    .iter()
                    .filter(|(_, is_active)| **is_active)
                    .map(|(id, _)| json!({
                        "synthesis_id": id, "method": "BOOK", "path": "/made", "originating_agent_id": AGENT,
                        "recipe_lineage": null, "contract_hash": "0".repeat(64), "negotiation_origin": "rcns-gate"
                    }))
                    .collect::<Vec<_>>()
            ),
        ),
        _ => Reply::error(404, "endpoint-not-found", json!({})),
    }
}

fn inspect(request: &Request, state: &State) -> Reply {
    let body = request.json();
    match (body["target"].as_str(), body["audit_id"].as_str().and_then(|id| state.records.get(id))) {
        (Some("audit"), Some(jws)) => Reply::json(200, &json!({"jws": jws})),
        (Some("lifecycle"), _) => Reply::json(200, &json!({"events": []})),
        _ => Reply::error(404, "not-found", json!({})),
    }
}

fn propose(request: &Request) -> Reply {
    let parameters = &request.json()["parameters"];
    let endpoint = &parameters["endpoint"];
    let catalog = Catalog::shipped();
    let leaks = |path: &str| path.split('/').any(|part| catalog.verb_in(part).is_some());
    if parameters.get("name").is_some() {
        return Reply::error(400, "ambiguous-body", json!({}));
    }
    match endpoint["method"].as_str().and_then(|name| catalog.verb(name)) {
        None => Reply::error(459, "method-violation", json!({})),
        _ if leaks(endpoint["path"].as_str().unwrap()) => Reply::error(460, "endpoint-violation", json!({})),
        _ if endpoint["semantic"]["actor"].is_null() => Reply::error(400, "bad-request", json!({})),
        _ if endpoint["input_schema"]["properties"]["a"]["type"] == "no-such-type" => {
            Reply::error(400, "bad-request", json!({}))
        }
        _ if !endpoint["required_scopes"].as_array().unwrap().is_empty() => {
            Reply::error(262, "scope-required", json!({}))
        }
        _ if endpoint["path"] == "/made" => Reply::json(
            263,
            &json!({
            "status": 263, "method": "BOOK", "path": "/made", "synthesis_id": "proposed", "endpoint": endpoint}),
        ),
        _ => Reply::error(463, "composition-impossible", json!({})),
    }
}

fn call(request: &Request, method: &str, path: &str, negotiates: bool, state: &mut State) -> Reply {
    let all = endpoints();
    let at_path: Vec<&Value> = all.iter().filter(|one| one["path"] == path).collect();
    let Some(endpoint) = at_path.iter().find(|one| one["method"] == method) else {
        return unregistered(request, path, &at_path, negotiates, state);
    };
    let Some(scope) = request.field("Authority-Scope").or(Some("")).filter(|_| request.field("Agent-ID").is_some())
    else {
        return Reply::error(401, "agent-unauthenticated", json!({}));
    };
    let mut input = request.json();
    if let Some((name, value)) =
        request.target.as_deref().and_then(|t| t.split_once('?')).and_then(|(_, q)| q.split_once('='))
    {
        input[name] = json!(value);
    }
    let required = endpoint["required_scopes"].as_array().cloned().unwrap_or_default();
    let mut reply = if required.iter().any(|one| !scope.contains(one.as_str().unwrap())) {
        Reply::error(455, "scope-violation", json!({"missing_scopes": required}))
    } else if let Err(fault) =
        forecourt_contract::Schema::input(endpoint["input_schema"].clone()).unwrap().check(&input)
    {
        Reply::error(422, "input-validation-failed", json!({"field": fault.field}))
    } else if scope.is_empty() {
        Reply::error(262, "scope-required", json!({}))
    } else {
        Reply::json(200, &json!({"items": []}))
    };
    if endpoint["deprecated"].is_object() {
        reply.set("AGTP-Endpoint-Warning", "deprecated; successor=QUERY /catalog");
    }
    reply
}

fn unregistered(request: &Request, path: &str, at_path: &[&Value], negotiates: bool, state: &mut State) -> Reply {
    if let Some(id) = request.field("Contract-Synthesized") {
        return match state.contracts.get(id) {
            Some(true) if request.field("Agent-ID") == Some(OTHER) => {
                Reply::error(464, "contract-not-yours", json!({}))
            }
            Some(true) => Reply::json(200, &json!({"booked": true})),
            _ => Reply::error(404, "contract-not-found", json!({})),
        };
    }
    let is_willing = request.field("Allow-RCNS") == Some("true") && request.field("Agent-ID").is_some();
    let attempted = |mut reply: Reply| {
        reply.set("RCNS-Attempt-Id", "attempt-1");
        reply
    };
    match (is_willing, negotiates) {
        (true, false) => return attempted(Reply::error(464, "rcns-disabled", json!({}))),
        (true, true) if request.field("Authority-Scope") != Some("rcns:negotiate") => {
            return Reply::error(262, "scope-required", json!({"scope": "rcns:negotiate"}));
        }
        (true, true) => {
            state.evaluations += 1;
            if state.evaluations > 30 {
                return Reply::error(429, "rate-limited", json!({"scope": "rcns"}));
            }
            if path != "/made" {
                return attempted(Reply::error(464, "composition-impossible", json!({})));
            }
            return offered(request, state);
        }
        (false, _) => {}
    }
    if at_path.is_empty() {
        return Reply::error(404, "endpoint-not-found", json!({}));
    }
    let methods: Vec<&Value> = at_path.iter().map(|one| &one["method"]).collect();
    Reply::error(405, "method-not-allowed", json!({"allowed_methods_for_path": methods, "redirects_for_path": {}}))
}

fn offered(request: &Request, state: &mut State) -> Reply {
    let fresh = format!("contract-{}", state.count);
    let id = match request.field("Idempotency-Key") {
        Some(key) => state.keys.entry(key.to_owned()).or_insert(fresh).clone(),
        None => fresh,
    };
    state.contracts.insert(id.clone(), true);
    Reply::json(
        461,
        &json!({
            "synthesis_id": id, "method": "BOOK", "path": "/made", "endpoint": {}, "recipe_lineage": null,
            "contract_hash": "0".repeat(64), "expires_at": "2027-01-01T00:00:00Z"
        }),
    )
}
