//! A frame: one entry of a segment, with its length, its checksum and the hash of the frame before it.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | length of the body, little-endian |
//! | 4 | CRC-32 over all the others |
//! | 1 | what it is |
//! | 32 | the hash of the frame before it |
//! | 32 | the agent in whose chain it is; zeros for none |
//! | n | the body |

use crate::digest::{Hash, sha256};
use crate::limits::FRAME_BYTES_MAX;

/// Bytes before the body.
pub const HEAD_BYTES: usize = 4 + 4 + 1 + 32 + 32;

/// What a frame holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// The first of a segment: JSON.
    Header,
    /// The record of a response: a compact JWS.
    Record,
    /// An event of an agent's life: a line `jws:` with a compact JWS.
    Event,
    /// The last of a segment: JSON.
    Seal,
    /// What happened to the log itself: JSON.
    Note,
}

/// One entry of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// What it holds.
    pub kind: FrameKind,
    /// The hash of the frame before it.
    pub link: Hash,
    /// The agent in whose chain it is; zeros for none.
    pub agent: Hash,
    /// The body, of which the kind says what it is.
    pub body: &'a [u8],
}

/// Why bytes are no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The checksum is of other bytes.
    #[error("the checksum does not hold")]
    Checksum,
    /// The length is above [`FRAME_BYTES_MAX`].
    #[error("the length is above {FRAME_BYTES_MAX} bytes")]
    Length,
    /// Nothing of this kind is known.
    #[error("the kind of entry is unknown")]
    Kind,
}

/// What stands before an event's JWS.
pub(crate) const EVENT_PREFIX: &[u8] = b"jws:";

impl FrameKind {
    fn byte(self) -> u8 {
        match self {
            Self::Header => 1,
            Self::Record => 2,
            Self::Event => 3,
            Self::Seal => 4,
            Self::Note => 5,
        }
    }

    fn of(byte: u8) -> Option<Self> {
        Some(match byte {
            1 => Self::Header,
            2 => Self::Record,
            3 => Self::Event,
            4 => Self::Seal,
            5 => Self::Note,
            _ => return None,
        })
    }

    /// Whether it holds something signed.
    pub fn is_signed(self) -> bool {
        matches!(self, Self::Record | Self::Event)
    }
}

impl<'a> Frame<'a> {
    /// Reads the frame at the front of `bytes`, and how many of them it has. `None`: it is not whole.
    ///
    /// # Errors
    /// The bytes are no frame, however many follow.
    pub fn read(bytes: &'a [u8]) -> Result<Option<(Self, usize)>, FrameError> {
        let Some(head) = bytes.get(..HEAD_BYTES) else { return Ok(None) };
        let length = body_length(head)?;
        let Some(whole) = bytes.get(..HEAD_BYTES + length) else { return Ok(None) };
        if checksum(whole) != u32::from_le_bytes(array(&whole[4..8])) {
            return Err(FrameError::Checksum);
        }
        let kind = FrameKind::of(whole[8]).ok_or(FrameError::Kind)?;
        let frame = Frame { kind, link: array(&whole[9..41]), agent: array(&whole[41..73]), body: &whole[73..] };
        Ok(Some((frame, whole.len())))
    }

    /// Reads one that was written just now.
    pub(crate) fn unchecked(whole: &'a [u8]) -> Option<Self> {
        let body = whole.get(HEAD_BYTES..)?;
        let kind = FrameKind::of(whole[8])?;
        Some(Frame { kind, link: array(&whole[9..41]), agent: array(&whole[41..73]), body })
    }

    /// Writes it at the end of `out`. The body is at most [`FRAME_BYTES_MAX`].
    pub fn write(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.reserve(HEAD_BYTES + self.body.len());
        out.extend_from_slice(&(self.body.len() as u32).to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        out.push(self.kind.byte());
        out.extend_from_slice(&self.link);
        out.extend_from_slice(&self.agent);
        out.extend_from_slice(self.body);
        let sum = checksum(&out[start..]);
        out[start + 4..start + 8].copy_from_slice(&sum.to_le_bytes());
    }

    /// Bytes of the whole.
    pub fn bytes(&self) -> usize {
        HEAD_BYTES + self.body.len()
    }

    /// The JWS in it; empty when there is none.
    pub fn jws(&self) -> &'a [u8] {
        match self.kind {
            FrameKind::Record => self.body,
            FrameKind::Event => self.body.strip_prefix(EVENT_PREFIX).unwrap_or_default(),
            FrameKind::Header | FrameKind::Seal | FrameKind::Note => &[],
        }
    }

    /// The hash of what is in it: of a record or an event its Audit-ID.
    pub fn digest(&self) -> Hash {
        sha256(if self.kind.is_signed() { self.jws() } else { self.body })
    }

    /// The hash that the next frame carries. `digest` is [`Frame::digest`], which is known by then.
    pub fn next_link(&self, digest: &Hash) -> Hash {
        let mut bytes = [0; 97];
        // Over everything that a checksum alone would let be changed: the order, the kind, the chain and the content.
        bytes[..32].copy_from_slice(&self.link);
        bytes[32] = self.kind.byte();
        bytes[33..65].copy_from_slice(&self.agent);
        bytes[65..].copy_from_slice(digest);
        sha256(&bytes)
    }
}

/// The length of the body of the frame whose first bytes these are.
///
/// # Errors
/// It is above [`FRAME_BYTES_MAX`].
pub(crate) fn body_length(head: &[u8]) -> Result<usize, FrameError> {
    let length = u32::from_le_bytes(array(&head[..4])) as usize;
    if length > FRAME_BYTES_MAX { Err(FrameError::Length) } else { Ok(length) }
}

fn checksum(frame: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    // Around its own four bytes. It finds accidents; what finds forgers are the hashes and signatures.
    sum.update(&frame[..4]);
    sum.update(&frame[8..]);
    sum.finalize()
}

/// As many bytes as the array has; zeros for those that are not there.
pub(crate) fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    let length = bytes.len().min(N);
    out[..length].copy_from_slice(&bytes[..length]);
    out
}
