//! A host that is asked over AGTP, on its own wire or by way of the gateway.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use bytes::BytesMut;
use forecourt_agtp_wire::codec::{Bounds, Decoder};
use forecourt_agtp_wire::message::{Response, StatusLine};
use forecourt_agtp_wire::status::Status;
use forecourt_server::{Speak, StreamListener, StreamSettings};
use forecourt_surface::{Protocol, Surface};
use forecourt_testhost::MountedHost;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::front::Front;
use crate::place::{Plan, blueprint};
use crate::script::Memory;

/// The gateway.
pub const GATEWAY: Plan = Plan { protocol: &forecourt_agtp::PROTOCOL, section: SECTION, routes: gateway };
/// The longest body of a response that is read.
const BODY_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Everything that can be switched on.
const SECTION: &str = r#"
[policies]
synthesis_enabled = true
[policies.rcns]
enabled = true
min_trust_tier = 2
rate_limit_per_minute = 1000000000
[synthesis]
policies = ["recipes", "schemas"]
"#;

/// A host on a socket of this machine.
pub struct Line {
    front: Front,
    /// What may be said from the start.
    pub memory: Memory,
}

fn gateway(mounted: &MountedHost, protocol: &Protocol) -> Router {
    let router = surfaces(mounted, protocol).into_iter().find_map(|surface| match surface {
        Surface::OwnHttp { router, .. } => Some(router),
        _ => None,
    });
    router.expect("a gateway")
}

fn speak(mounted: &MountedHost) -> Speak {
    let speak = surfaces(mounted, &forecourt_agtp::PROTOCOL).into_iter().find_map(|surface| match surface {
        Surface::Stream { speak, .. } => Some(speak),
        _ => None,
    });
    speak.expect("a wire")
}

fn surfaces(mounted: &MountedHost, protocol: &Protocol) -> Vec<Surface> {
    let wire = mounted.open(protocol).unwrap_or_else(|wrong| panic!("{wrong}"));
    wire.surfaces(&mounted.mount).unwrap_or_else(|wrong| panic!("{wrong}"))
}

impl Line {
    /// Starts it.
    pub fn open() -> Self {
        let mut memory = None;
        let front = Front::new(async {
            let mounted = blueprint(SECTION).start(Some(&forecourt_agtp::PROTOCOL)).await;
            memory = Some(Memory::of(&mounted));
            serve(mounted).await
        });
        Self { front, memory: memory.expect("a host") }
    }

    /// The responses on a connection on which this is said.
    pub fn responses(&self, said: &[u8]) -> Vec<Response> {
        let heard = self.front.connection(said);
        let mut buffer = BytesMut::from(heard.bytes.as_slice());
        let mut decoder = Decoder::<StatusLine>::new(Bounds { body_bytes: BODY_BYTES_MAX, ..Bounds::default() });
        let mut responses = Vec::new();
        while let Some(response) = decoder.decode(&mut buffer).unwrap_or_else(|error| panic!("no response: {error:?}"))
        {
            responses.push(response);
        }
        assert!(buffer.is_empty() || !heard.is_whole, "a response is cut off: {}", heard.bytes.escape_ascii());
        responses
    }
}

/// Answers connections for as long as the runtime goes on.
async fn serve(mounted: MountedHost) -> SocketAddr {
    let listener = StreamListener::plain(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.expect("a port");
    let (address, speak) = (listener.address(), speak(&mounted));
    let settings = StreamSettings {
        protocol: forecourt_agtp::PROTOCOL.name,
        connections_max: 100,
        connections_per_address_max: 100,
        handshake_time: Duration::from_secs(10),
        drain_time: Duration::from_secs(10),
        metrics: Arc::default(),
        entropy: mounted.entropy.clone(),
    };
    tokio::spawn(async move {
        listener.serve(settings, speak, CancellationToken::new()).await;
        drop(mounted);
    });
    address
}

/// Checks what holds of a code and its body, and gives the body where it is JSON.
pub fn check(code: u16, kind: Option<&str>, body: &[u8]) -> Option<Value> {
    let shown = || format!("{code}: {}", body.escape_ascii());
    assert!(Status::of(code).is_some(), "not ours to send: {}", shown());
    assert_ne!(code, 500, "something broke: {}", shown());
    let is_json = kind.is_some_and(|kind| kind.contains("json")) && !body.is_empty();
    let json =
        is_json.then(|| serde_json::from_slice::<Value>(body).unwrap_or_else(|error| panic!("{error}: {}", shown())));
    if code >= 400 && !body.is_empty() {
        let error = json.as_ref().map(|json| &json["error"]["code"]);
        assert!(error.is_some_and(Value::is_string), "a refusal without a word: {}", shown());
    }
    json
}
