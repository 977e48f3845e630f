//! Messages as bytes and as JSON, and the same as a codec for framing.

use bytes::Buf;
use prost_reflect::prost::Message;
use prost_reflect::{DeserializeOptions, DynamicMessage, MessageDescriptor};
use serde_json::{Number, Value};
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

/// Whole numbers up to here are the same as floating-point numbers and as integers.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// Reads a message as ProtoJSON. Fields at their default are left out unless they are `optional`.
///
/// # Errors
/// With what is wrong, when the bytes are no such message or hold what JSON can't.
pub(crate) fn read(kind: &MessageDescriptor, bytes: impl Buf) -> Result<Value, String> {
    let message = DynamicMessage::decode(kind.clone(), bytes).map_err(|error| error.to_string())?;
    serde_json::to_value(&message).map(whole_numbers).map_err(|error| error.to_string())
}

/// Makes a message of ProtoJSON. Members that it has no field for are left out.
///
/// # Errors
/// When a member has a value that its field can't hold.
pub(crate) fn write(kind: &MessageDescriptor, value: Value) -> Result<DynamicMessage, serde_json::Error> {
    let options = DeserializeOptions::new().deny_unknown_fields(false);
    DynamicMessage::deserialize_with_options(kind.clone(), value, &options)
}

/// Integers where JSON would have had them: all numbers of `google.protobuf.Struct` are floating.
fn whole_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => Value::Number(whole(number)),
        Value::Array(items) => items.into_iter().map(whole_numbers).collect(),
        Value::Object(members) => members.into_iter().map(|(key, value)| (key, whole_numbers(value))).collect(),
        other => other,
    }
}

fn whole(number: Number) -> Number {
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() <= WHOLE_MAX => {
            Number::from(float as i64)
        }
        _ => number,
    }
}

/// Reads requests of one kind and writes answers of another, both as JSON.
#[derive(Debug, Clone)]
pub(crate) struct Transcoder {
    pub(crate) input: MessageDescriptor,
    pub(crate) output: MessageDescriptor,
}

impl Codec for Transcoder {
    type Encode = Value;
    type Decode = Value;
    type Encoder = Writer;
    type Decoder = Reader;

    fn encoder(&mut self) -> Writer {
        Writer(self.output.clone())
    }

    fn decoder(&mut self) -> Reader {
        Reader(self.input.clone())
    }
}

/// Decodes request messages of one kind into JSON.
#[derive(Debug)]
pub(crate) struct Reader(MessageDescriptor);

impl Decoder for Reader {
    type Item = Value;
    type Error = Status;

    fn decode(&mut self, bytes: &mut DecodeBuf<'_>) -> Result<Option<Value>, Status> {
        let name = self.0.name();
        let wrong = |error| Status::invalid_argument(format!("the message is no {name}: {error}"));
        read(&self.0, bytes).map(Some).map_err(wrong)
    }
}

/// Encodes JSON into answer messages of one kind.
#[derive(Debug)]
pub(crate) struct Writer(MessageDescriptor);

impl Encoder for Writer {
    type Item = Value;
    type Error = Status;

    fn encode(&mut self, value: Value, bytes: &mut EncodeBuf<'_>) -> Result<(), Status> {
        let unfit = |error: &dyn std::fmt::Display| {
            tracing::error!(%error, message = self.0.full_name(), "an answer could not be written");
            Status::internal("the host could not do it")
        };
        let message = write(&self.0, value).map_err(|error| unfit(&error))?;
        message.encode(bytes).map_err(|error| unfit(&error))
    }
}
