//! A facilitator with a token of its own, on loopback: it keeps who paid, and fails as it is told to.

use std::collections::{HashMap, HashSet};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use forecourt_egress::{Egress, EgressConfig};
use parking_lot::Mutex;
use serde_json::{Value, json};

/// What happens to one request.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// The work is done, and no answer comes.
    SilentAfter,
    /// Nothing is done, and no answer comes.
    SilentBefore,
    /// The work is done, and the answer is this status and body.
    AnswerAfter(u16, Value),
    /// Nothing is done, and the answer is this status and body.
    Answer(u16, Value),
}

#[derive(Debug, Default)]
pub(crate) struct Books {
    /// What is to happen to the next requests to `/verify` and `/settle`, in turn; afterwards all is well.
    pub(crate) verify_faults: Vec<Fault>,
    pub(crate) settle_faults: Vec<Fault>,
    /// Bodies that were asked about.
    pub(crate) verified: Vec<Value>,
    pub(crate) settled: Vec<Value>,
    /// Who paid, whom, and how much.
    pub(crate) transfers: Vec<(String, String, String)>,
    used: HashSet<String>,
    /// Logs of the token, as the chain gives them.
    pub(crate) logs: Vec<Value>,
    /// What payers have; without an entry, enough.
    pub(crate) balances: HashMap<String, u128>,
    /// The time of the chain.
    pub(crate) chain_time: u64,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Scripted {
    pub(crate) books: Arc<Mutex<Books>>,
}

impl Scripted {
    /// Listens, and gives the address.
    pub(crate) async fn start(&self) -> SocketAddr {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let routes = Router::new()
            .route("/verify", post(verify))
            .route("/settle", post(settle))
            .route("/supported", get(supported))
            .route("/rpc", post(rpc))
            .with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        address
    }
}

/// A client that may reach this machine, because the operator opened it.
pub(crate) fn opened() -> Egress {
    let allow = vec!["127.0.0.1/32".parse().unwrap()];
    Egress::builder(EgressConfig { allow, allow_http: true, ..EgressConfig::default() }).build().unwrap()
}

fn authorization(body: &Value) -> &Value {
    &body["paymentPayload"]["payload"]["authorization"]
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_lowercase()
}

async fn verify(State(scripted): State<Scripted>, Json(body): Json<Value>) -> Response {
    let fault = {
        let mut books = scripted.books.lock();
        books.verified.push(body.clone());
        if books.verify_faults.is_empty() { None } else { Some(books.verify_faults.remove(0)) }
    };
    let payer = authorization(&body)["from"].clone();
    reply(fault, json!({"isValid": true, "payer": payer})).await
}

async fn settle(State(scripted): State<Scripted>, Json(body): Json<Value>) -> Response {
    let fault = {
        let mut books = scripted.books.lock();
        books.settled.push(body.clone());
        if books.settle_faults.is_empty() { None } else { Some(books.settle_faults.remove(0)) }
    };
    let does_work = !matches!(fault, Some(Fault::SilentBefore | Fault::Answer(..)));
    let done = if does_work { scripted.books.lock().transfer(&body) } else { json!(null) };
    reply(fault, done).await
}

async fn reply(fault: Option<Fault>, fine: Value) -> Response {
    match fault {
        None => Json(fine).into_response(),
        Some(Fault::Answer(status, body) | Fault::AnswerAfter(status, body)) => {
            (StatusCode::from_u16(status).unwrap(), body.to_string()).into_response()
        }
        Some(Fault::SilentBefore | Fault::SilentAfter) => {
            // Whoever waits sees the deadline at once.
            tokio::time::pause();
            std::future::pending().await
        }
    }
}

impl Books {
    /// Moves the money as a token with EIP-3009 does: once.
    pub(crate) fn transfer(&mut self, body: &Value) -> Value {
        let signed = authorization(body);
        let (from, to, value) = (text(&signed["from"]), text(&signed["to"]), text(&signed["value"]));
        let network = &body["paymentRequirements"]["network"];
        let no = |reason: &str| json!({"success": false, "errorReason": reason, "transaction": "", "network": network, "payer": from});
        // As the official ones do: the balance is looked at before the nonce is.
        let units: u128 = value.parse().unwrap();
        if self.balances.get(&from).is_some_and(|balance| *balance < units) {
            return no("insufficient_funds");
        }
        if !self.used.insert(format!("{from}{}", text(&signed["nonce"]))) {
            return no("invalid_exact_evm_nonce_already_used");
        }
        self.balances.entry(from.clone()).and_modify(|balance| *balance -= units);
        let transaction = format!("0x{:064x}", self.transfers.len() + 1);
        self.log(signed, &transaction, &to, units);
        self.transfers.push((from.clone(), to, value));
        json!({"success": true, "transaction": transaction, "network": network, "payer": from})
    }

    /// The payer uses the nonce of an authorization for a transfer to somebody else.
    pub(crate) fn use_elsewhere(&mut self, signed: &Value, to: &str) {
        self.used.insert(format!("{}{}", text(&signed["from"]), text(&signed["nonce"])));
        self.log(signed, &format!("0x{:064x}", 99), to, 1);
    }

    fn log(&mut self, signed: &Value, transaction: &str, to: &str, units: u128) {
        let padded = |address: &str| format!("0x{:0>64}", address.trim_start_matches("0x"));
        let asset = "0x036cbd53842c5426634e7929541ec2318f3dcf7e";
        self.logs.push(json!({
            "address": asset, "transactionHash": transaction, "data": format!("0x{units:064x}"),
            "topics": [
                "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
                padded(&text(&signed["from"])), padded(to),
            ],
        }));
        self.logs.push(json!({
            "address": asset, "transactionHash": transaction, "data": "0x",
            "topics": [
                "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5",
                padded(&text(&signed["from"])), signed["nonce"],
            ],
        }));
    }
}

async fn supported() -> Response {
    Json(json!({"kinds": [{"x402Version": 1, "scheme": "exact", "network": "base-sepolia"}]})).into_response()
}

/// The chain, as far as it is asked.
async fn rpc(State(scripted): State<Scripted>, Json(body): Json<Value>) -> Response {
    let books = scripted.books.lock();
    let result = match body["method"].as_str().unwrap() {
        "eth_blockNumber" => json!("0x10"),
        "eth_getBlockByNumber" => json!({"timestamp": format!("0x{:x}", books.chain_time)}),
        "eth_call" => {
            let data = text(&body["params"][0]["data"]);
            assert_eq!(&data[..10], "0xe94a0102", "authorizationState(address,bytes32)");
            let is_used = books.used.contains(&format!("0x{}0x{}", &data[34..74], &data[74..]));
            json!(format!("0x{:064x}", u8::from(is_used)))
        }
        "eth_getLogs" => {
            let asked = &body["params"][0]["topics"];
            let matches = |log: &&Value| {
                let is_kind = asked[0].as_array().unwrap().contains(&log["topics"][0]);
                is_kind && log["topics"][1] == asked[1] && log["topics"][2] == asked[2]
            };
            books.logs.iter().filter(matches).cloned().collect()
        }
        "eth_getTransactionReceipt" => {
            let of = |log: &&Value| log["transactionHash"] == body["params"][0];
            json!({"logs": books.logs.iter().filter(of).collect::<Vec<_>>()})
        }
        other => panic!("{other}"),
    };
    Json(json!({"jsonrpc": "2.0", "id": body["id"], "result": result})).into_response()
}
