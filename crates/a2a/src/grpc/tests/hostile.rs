//! Bytes that are no call.

use proptest::prelude::*;

use super::*;
use crate::model::Version::{V0_3, V1_0};

async fn client() -> Client {
    let script = |_: &GrpcCall| now(Err(crate::model::OperationError::TaskNotFound.into()));
    Client::of(Arc::new(Host { calls: Mutex::default(), script })).await
}

#[tokio::test]
async fn bytes_that_are_no_message_are_an_invalid_argument() {
    let mut client = client().await;
    for version in [V0_3, V1_0] {
        for message in [&[0xff_u8; 8][..], &[0x0a, 0x7f], &[0x12, 0x02, 0xc3, 0x28], &[0x08]] {
            let got = client.post(version, "GetTask", &[], framed(message)).await;
            assert_eq!((got.http, got.code()), (200, 3), "{message:?}");
        }
    }
}

#[tokio::test]
async fn framing_that_does_not_hold_is_refused() {
    let mut client = client().await;
    let message = framed(&[0x12, 0x01, b't']);
    let compressed = [&[1][..], &message[1..]].concat();
    for (body, code) in [
        (Bytes::new(), 13),
        (message.slice(..3), 13),
        (message.slice(..7), 13),
        (Bytes::from(compressed), 13),
        (Bytes::from_static(&[0, 0xff, 0xff, 0xff, 0xff]), 11),
    ] {
        let got = client.post(V1_0, "GetTask", &[], body.clone()).await;
        assert_eq!((got.http, got.code()), (200, code), "{body:?}");
    }
    let got = client.post(V1_0, "GetTask", &[("grpc-encoding", "gzip")], message.clone()).await;
    assert_eq!(got.code(), 12, "nothing is compressed here");
    assert_eq!(client.post(V1_0, "GetTask", &[("grpc-encoding", "identity")], message).await.code(), 5);
}

#[tokio::test]
async fn s0_a_body_is_read_up_to_its_limit() {
    let mut client = client().await;
    // A field that no version knows fills the message.
    let filled = |bytes: usize| {
        let mut message = vec![0x12, 0x01, b't', 0xfa, 0x01];
        let rest = bytes - 5 - message.len() - 2;
        message.extend([(rest & 0x7f) as u8 | 0x80, (rest >> 7) as u8]);
        message.resize(bytes - 5, b'x');
        framed(&message)
    };
    assert_eq!(filled(BODY_BYTES_MAX).len(), BODY_BYTES_MAX);
    assert_eq!(client.post(V1_0, "GetTask", &[], filled(BODY_BYTES_MAX)).await.code(), 5);
    assert_eq!(client.post(V1_0, "GetTask", &[], filled(BODY_BYTES_MAX + 1)).await.code(), 8);
}

/// `metadata` nested so deep.
fn nested(depth: usize) -> Vec<u8> {
    let wrap = |tag: u8, inner: Vec<u8>| {
        let mut bytes = vec![tag];
        prost_reflect::prost::encoding::encode_varint(inner.len() as u64, &mut bytes);
        bytes.extend(inner);
        bytes
    };
    // Value.list_value = ListValue { values: [Value] }.
    let value = (0..depth).fold(vec![0x20, 0x01], |inner, _| wrap(0x32, wrap(0x0a, inner)));
    let entry = [&[0x0a, 0x01, b'k'][..], &wrap(0x12, value)].concat();
    [wrap(0x12, vec![b't']), wrap(0x1a, wrap(0x0a, entry))].concat()
}

#[tokio::test]
async fn s0_nesting_is_bounded() {
    let mut client = client().await;
    assert_eq!(client.post(V1_0, "CancelTask", &[], framed(&nested(20))).await.code(), 5);
    for depth in [64, 100, 500] {
        assert_eq!(client.post(V1_0, "CancelTask", &[], framed(&nested(depth))).await.code(), 3, "{depth}");
    }
}

fn inputs() -> Vec<prost_reflect::MessageDescriptor> {
    let of = |version| Method::ALL.into_iter().filter_map(move |m: Method| Rpc::find(version, m.grpc_name(version)));
    [V0_3, V1_0].into_iter().flat_map(of).map(|rpc| rpc.input).collect()
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for kind in inputs() {
            let _ = transcode::read(&kind, bytes.as_slice());
        }
    }

    /// Bytes that look like fields reach deeper.
    #[test]
    fn no_fields_panic(fields in proptest::collection::vec((1_u8..8, any::<bool>(), proptest::collection::vec(any::<u8>(), 0..20)), 0..20)) {
        let mut bytes = Vec::new();
        for (number, is_length, payload) in fields {
            if is_length {
                bytes.extend([number << 3 | 2, payload.len() as u8]);
                bytes.extend(payload);
            } else {
                bytes.extend([number << 3, payload.len() as u8]);
            }
        }
        for kind in inputs() {
            let _ = transcode::read(&kind, bytes.as_slice());
        }
    }

    /// Any moment is read or refused, even one that no clock can show.
    #[test]
    fn no_moment_panics(seconds in any::<i64>(), nanos in any::<i32>()) {
        let kind = Rpc::find(V1_0, "ListTasks").expect("there is such a method").input;
        let mut moment = vec![0x08];
        prost_reflect::prost::encoding::encode_varint(seconds as u64, &mut moment);
        moment.push(0x10);
        prost_reflect::prost::encoding::encode_varint(nanos as u64, &mut moment);
        let message = [&[0x3a, moment.len() as u8][..], &moment].concat();
        let _ = transcode::read(&kind, message.as_slice());
    }

    /// What is read is written as it was.
    #[test]
    fn what_is_read_is_written(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
        for kind in inputs() {
            if let Ok(json) = transcode::read(&kind, bytes.as_slice()) {
                let written = transcode::write(&kind, json.clone()).expect("it fits").encode_to_vec();
                prop_assert_eq!(transcode::read(&kind, written.as_slice()), Ok(json));
            }
        }
    }
}
