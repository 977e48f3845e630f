//! The binding over real HTTP/2, with a scripted host behind it and frames made by hand before it.

mod descriptors;
mod errors;
mod hostile;
mod methods;
mod time;

use std::sync::Arc;

use axum::body::Body;
use bytes::{BufMut, Bytes, BytesMut};
use forecourt_surface::body::BodyLimits;
use futures::future::BoxFuture;
use http::{HeaderMap, Request, Response};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http2::SendRequest;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use parking_lot::Mutex;
use prost_reflect::prost::Message;
use serde_json::Value;

use super::schema::Rpc;
use super::{Carry, Denial, GrpcAnswer, GrpcCall, GrpcReply, routes, transcode};
use crate::codec::Method;
use crate::model::{OperationOutcome, Version};

/// Bytes of a request in these tests.
const BODY_BYTES_MAX: usize = 4096;

/// A host that keeps the calls and answers each as the script says.
struct Host<F> {
    calls: Mutex<Vec<GrpcCall>>,
    script: F,
}

impl<F: Fn(&GrpcCall) -> BoxFuture<'static, Result<GrpcReply, Denial>> + Send + Sync + 'static> Carry for Host<F> {
    fn carry(&self, call: GrpcCall) -> BoxFuture<'_, Result<GrpcReply, Denial>> {
        let answer = (self.script)(&call);
        self.calls.lock().push(call);
        answer
    }
}

fn now(result: Result<GrpcAnswer, Denial>) -> BoxFuture<'static, Result<GrpcReply, Denial>> {
    let reply = result.map(|answer| GrpcReply { extensions: Vec::new(), answer });
    Box::pin(std::future::ready(reply))
}

fn once(outcome: OperationOutcome) -> GrpcAnswer {
    GrpcAnswer::Once(Box::new(outcome))
}

fn path(version: Version, name: &str) -> String {
    let package = match version {
        Version::V0_3 => "a2a.v1",
        Version::V1_0 => "lf.a2a.v1",
    };
    format!("http://demo.localhost/{package}.A2AService/{name}")
}

/// Length-prefixed, uncompressed.
fn framed(message: &[u8]) -> Bytes {
    let mut bytes = BytesMut::new();
    bytes.put_u8(0);
    bytes.put_u32(u32::try_from(message.len()).expect("it is short"));
    bytes.put_slice(message);
    bytes.freeze()
}

/// A client with a server behind it, on one HTTP/2 connection.
struct Client(SendRequest<Body>);

impl Client {
    async fn of(carry: Arc<dyn Carry>) -> Self {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let router = routes(carry, BodyLimits::with_bytes_max(BODY_BYTES_MAX));
        let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        tokio::spawn(server.serve_connection(TokioIo::new(far), TowerToHyperService::new(router)));
        let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(near));
        let (sender, connection) = handshake.await.expect("HTTP/2 is spoken");
        tokio::spawn(connection);
        Self(sender)
    }

    async fn send(&mut self, request: Request<Body>) -> Response<Incoming> {
        self.0.send_request(request).await.expect("an answer comes")
    }

    /// Posts `body` as it is.
    async fn post(&mut self, version: Version, name: &str, fields: &[(&str, &str)], body: Bytes) -> Got {
        let mut request = Request::post(path(version, name)).header("content-type", "application/grpc");
        request = request.header("te", "trailers");
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        let response = self.send(request.body(Body::from(body)).expect("a request")).await;
        Got::read(response).await
    }

    /// Calls a method with a message in ProtoJSON.
    async fn call(&mut self, version: Version, method: Method, message: Value) -> Got {
        let name = method.grpc_name(version);
        let rpc = Rpc::find(version, name).expect("there is such a method");
        let message = transcode::write(&rpc.input, message).expect("the message fits").encode_to_vec();
        self.post(version, name, &[], framed(&message)).await
    }
}

/// All of an answer.
#[derive(Debug)]
struct Got {
    http: u16,
    head: HeaderMap,
    messages: Vec<Bytes>,
    trailers: Option<HeaderMap>,
}

impl Got {
    async fn read(response: Response<Incoming>) -> Self {
        let (parts, body) = response.into_parts();
        let body = body.collect().await.expect("the answer ends");
        let trailers = body.trailers().cloned();
        let messages = unframed(body.to_bytes());
        Self { http: parts.status.as_u16(), head: parts.headers, messages, trailers }
    }

    fn fields(&self) -> &HeaderMap {
        self.trailers.as_ref().unwrap_or(&self.head)
    }

    /// The status, which is in the trailers, or in the head when there is nothing else.
    fn code(&self) -> i32 {
        let code = self.fields().get("grpc-status").expect("there is a status");
        code.to_str().ok().and_then(|code| code.parse().ok()).expect("it is a number")
    }

    fn json(&self, version: Version, method: Method) -> Vec<Value> {
        let rpc = Rpc::find(version, method.grpc_name(version)).expect("there is such a method");
        let read = |message: &Bytes| transcode::read(&rpc.output, message.clone()).expect("it is the output");
        self.messages.iter().map(read).collect()
    }
}

fn unframed(mut bytes: Bytes) -> Vec<Bytes> {
    let mut messages = Vec::new();
    while !bytes.is_empty() {
        let head = bytes.split_to(5);
        assert_eq!(head[0], 0, "nothing is compressed");
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
        messages.push(bytes.split_to(length as usize));
    }
    messages
}
