//! A provider of a chat completions API that gives the answers it is told to give, by their order or by what
//! it is asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::future::{BoxFuture, ready};
use futures::{FutureExt, Stream, StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// Answers a request by what it holds.
type Answering = Arc<dyn Fn(&Value) -> BoxFuture<'static, Response> + Send + Sync>;

/// A provider, and what it was asked.
pub struct Server {
    pub url: String,
    pub asked: mpsc::UnboundedReceiver<(HeaderMap, Value)>,
}

impl Server {
    /// Gives these answers, one for each request.
    pub async fn new(answers: Vec<Response>) -> Self {
        let answers = Mutex::new(VecDeque::from(answers));
        Self::answering(move |_| answers.lock().unwrap().pop_front().expect("a request that the test expects")).await
    }

    /// Gives each request the answer that fits it.
    pub async fn answering(answer: impl Fn(&Value) -> Response + Send + Sync + 'static) -> Self {
        Self::answering_later(move |asked| ready(answer(asked)).boxed()).await
    }

    /// The same, after a while.
    pub async fn answering_later(
        answer: impl Fn(&Value) -> BoxFuture<'static, Response> + Send + Sync + 'static,
    ) -> Self {
        let (sender, asked) = mpsc::unbounded_channel();
        let answer: Answering = Arc::new(answer);
        let app = Router::new().route(
            "/v1/chat/completions",
            axum::routing::post(move |request: Request| {
                let (sender, answer) = (sender.clone(), answer.clone());
                async move {
                    let (head, body) = request.into_parts();
                    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
                    let asked: Value = serde_json::from_slice(&body).unwrap();
                    sender.send((head.headers, asked.clone())).ok();
                    answer(&asked).await
                }
            }),
        );
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        tokio::spawn(async { axum::serve(listener, app).await });
        Self { url, asked }
    }

    /// Everything that was asked by now.
    pub fn all(&mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.asked.try_recv().ok()).map(|(_, asked)| asked).collect()
    }

    pub async fn next(&mut self) -> Value {
        self.asked.recv().await.expect("a request").1
    }
}

/// The settings of a model behind `url`. Nothing is asked again unless `more` says so.
pub fn settings(url: &str, more: &str) -> String {
    let retries = if more.contains("retries =") { "" } else { "retries = 0\n" };
    format!("[backend]\nkind = \"model\"\nbase_url = \"{url}\"\nmodel = \"tiny\"\n{retries}{more}")
}

pub fn sse(chunks: impl Stream<Item = Result<Bytes, std::io::Error>> + Send + 'static) -> Response {
    ([(header::CONTENT_TYPE, "text/event-stream; charset=utf-8")], Body::from_stream(chunks)).into_response()
}

/// These bytes, then the end of the stream.
pub fn raw(text: &str) -> Response {
    sse(stream::iter([Ok(Bytes::copy_from_slice(text.as_bytes()))]))
}

/// These bytes, then silence.
pub fn silent(text: &'static str) -> Response {
    let first = (!text.is_empty()).then(|| Ok(Bytes::from_static(text.as_bytes())));
    sse(stream::iter(first).chain(stream::pending()))
}

pub fn chunk(delta: &Value) -> String {
    format!("data: {}\n\n", json!({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]}))
}

pub fn says(text: &str) -> String {
    chunk(&json!({"content": text}))
}

pub fn stop(reason: &str) -> String {
    format!("data: {}\n\ndata: [DONE]\n\n", json!({"choices": [{"delta": {}, "finish_reason": reason}]}))
}

/// A whole streamed answer.
pub fn text(text: &str) -> Response {
    raw(&format!("{}{}", says(text), stop("stop")))
}

/// A reply that asks for tools: name and arguments of each.
pub fn calls(list: &[(&str, &str)]) -> Response {
    let call = |(at, (name, arguments)): (usize, &(&str, &str))| json!({"index": at, "id": format!("id{at}"), "type": "function", "function": {"name": name, "arguments": arguments}});
    let calls: Vec<Value> = list.iter().enumerate().map(call).collect();
    raw(&format!("{}{}", chunk(&json!({"tool_calls": calls})), stop("tool_calls")))
}
