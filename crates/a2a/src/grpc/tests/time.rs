//! Clients that do not wait for ever.

use std::time::Duration;

use futures::StreamExt;
use serde_json::json;
use tokio::sync::oneshot;

use super::*;
use crate::model::Version::V1_0;
use crate::model::{Item, Message, Metadata, Part, Role};

const GET: &[u8] = &[0x12, 0x01, b't'];

fn said(words: &str) -> Item {
    Item::Message(Message {
        id: "m".to_owned(),
        role: Role::Agent,
        parts: vec![Part::text(words)],
        context: None,
        task: None,
        references: Vec::new(),
        extensions: Vec::new(),
        metadata: Metadata::new(),
    })
}

/// Tells when it is dropped.
struct Dropped(Option<oneshot::Sender<()>>);

impl Drop for Dropped {
    fn drop(&mut self) {
        if let Some(told) = self.0.take() {
            let _ = told.send(());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_takes_longer_than_the_client_waits_is_given_up() {
    let script = |_: &GrpcCall| -> BoxFuture<'static, Result<GrpcReply, Denial>> { Box::pin(std::future::pending()) };
    let mut client = Client::of(Arc::new(Host { calls: Mutex::default(), script })).await;
    let start = tokio::time::Instant::now();
    let got = client.post(V1_0, "GetTask", &[("grpc-timeout", "1500m")], framed(GET)).await;
    assert_eq!((got.code(), start.elapsed().as_secs()), (4, 1));
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_takes_longer_than_the_client_waits_ends_with_an_error() {
    let script = |_: &GrpcCall| {
        now(Ok(GrpcAnswer::Stream(futures::stream::iter([said("a")]).chain(futures::stream::pending()).boxed())))
    };
    let mut client = Client::of(Arc::new(Host { calls: Mutex::default(), script })).await;
    let got = client.post(V1_0, "SubscribeToTask", &[("grpc-timeout", "2S")], framed(GET)).await;
    assert_eq!((got.code(), got.messages.len()), (4, 1));
    assert!(got.trailers.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_says_nothing_waits_as_long_as_it_takes() {
    let script = |_: &GrpcCall| -> BoxFuture<'static, Result<GrpcReply, Denial>> {
        Box::pin(async {
            tokio::time::sleep(Duration::from_secs(600)).await;
            Ok(GrpcReply { extensions: Vec::new(), answer: once(OperationOutcome::Sent(said("late"))) })
        })
    };
    let mut client = Client::of(Arc::new(Host { calls: Mutex::default(), script })).await;
    let message = json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}});
    assert_eq!(client.call(V1_0, Method::Send, message).await.code(), 0);
}

#[tokio::test]
async fn messages_of_a_stream_arrive_as_they_come() {
    let (send, items) = futures::channel::mpsc::unbounded();
    let items = Mutex::new(Some(items));
    let script =
        move |_: &GrpcCall| now(Ok(GrpcAnswer::Stream(items.lock().take().expect("it is called once").boxed())));
    let mut client = Client::of(Arc::new(Host { calls: Mutex::default(), script })).await;
    let request = Request::post(path(V1_0, "SubscribeToTask")).header("content-type", "application/grpc");
    let response = client.send(request.body(Body::from(framed(GET))).expect("a request")).await;
    let mut body = response.into_body();
    for words in ["one", "two"] {
        send.unbounded_send(said(words)).expect("somebody listens");
        let frame = body.frame().await.expect("a frame comes").expect("it arrives").into_data().expect("it is data");
        assert!(String::from_utf8_lossy(&frame).contains(words));
    }
    drop(send);
    let trailers = body.frame().await.expect("a frame comes").expect("it arrives").into_trailers();
    assert_eq!(trailers.expect("they are trailers")["grpc-status"], "0");
}

#[tokio::test]
async fn a_client_that_goes_away_ends_its_stream() {
    let (tell, told) = oneshot::channel();
    let dropped = Mutex::new(Some(Dropped(Some(tell))));
    let script = move |_: &GrpcCall| {
        let dropped = dropped.lock().take();
        let items = async_stream::stream! {
            let _dropped = dropped;
            yield said("a");
            std::future::pending::<()>().await;
        };
        now(Ok(GrpcAnswer::Stream(items.boxed())))
    };
    let mut client = Client::of(Arc::new(Host { calls: Mutex::default(), script })).await;
    let request = Request::post(path(V1_0, "SubscribeToTask")).header("content-type", "application/grpc");
    let mut response = client.send(request.body(Body::from(framed(GET))).expect("a request")).await;
    assert!(response.body_mut().frame().await.is_some());
    drop(response);
    told.await.expect("the stream is dropped");
}
