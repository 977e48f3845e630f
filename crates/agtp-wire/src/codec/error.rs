//! This module lists the reasons why bytes are not a message, each with the code that the other side is told. Base 2.1.

use crate::message::BadField;

/// What is wrong with a head. The same bytes have the same fault, however they arrive in pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    /// It begins with something else than the version.
    #[error("a message begins with `AGTP/1.0 `")]
    Version,
    /// The start line has another form.
    #[error("the first line must be `AGTP/1.0 METHOD [/path]` with single spaces, and lines end with CRLF")]
    Line,
    /// A line ends with a line feed alone.
    #[error("lines end with CRLF, not with a line feed alone")]
    LineEnd,
    /// The start line is too long.
    #[error("the first line is too long")]
    StartLineTooLong,
    /// The fields are too many, or too long together.
    #[error("the header fields are too many or too large")]
    FieldsTooLarge,
    /// A field is no field.
    #[error(transparent)]
    Field(#[from] BadField),
    /// A field of which there can only be one is there twice.
    #[error("`{0}` may be given only once")]
    Repeated(&'static str),
    /// The length of the body is no number.
    #[error("`Content-Length` must be ASCII digits")]
    Length,
    /// The body is too large.
    #[error("the body is too large")]
    BodyTooLarge,
    /// The body is said to be coded.
    #[error("there are no transfer codings; send `Content-Length`")]
    TransferCoding,
}

impl HeadError {
    /// The name that the other side can go by.
    pub fn code(self) -> &'static str {
        match self {
            Self::Version | Self::Line => "invalid-request-line",
            Self::StartLineTooLong => "request-line-too-long",
            Self::FieldsTooLarge => "headers-too-large",
            Self::BodyTooLarge => "body-too-large",
            Self::LineEnd | Self::Field(_) | Self::Repeated(_) | Self::Length | Self::TransferCoding => {
                "invalid-wire-format"
            }
        }
    }
}
