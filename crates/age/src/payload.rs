//! The content: chunks of 64 KiB, each sealed under its number and under whether it is the last one.

use std::io::{self, BufRead, Read, Write};

use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};

use crate::limits::CHUNK_BYTES;
use crate::{FileKey, derived};

/// Bytes before the content, by which its key differs from that of any other.
pub(crate) const NONCE: usize = 16;
/// Bytes of a chunk's tag.
const TAG: usize = 16;

/// Seals or opens one chunk after the other.
struct Chunks {
    /// `None` never happens with a key of the right length.
    key: Option<LessSafeKey>,
    number: u128,
}

impl Chunks {
    fn new(key: &FileKey, nonce: &[u8; NONCE]) -> Self {
        let key = derived(key.as_ref(), nonce, b"payload");
        let key = key.and_then(|key| UnboundKey::new(&CHACHA20_POLY1305, key.as_ref()).ok());
        Self { key: key.map(LessSafeKey::new), number: 0 }
    }

    /// What the next chunk is sealed with.
    fn next(&mut self, is_last: bool) -> io::Result<(&LessSafeKey, Nonce)> {
        let mut nonce = [0; 12];
        // The number has eleven bytes, the mark of the last one is the twelfth.
        nonce[..11].copy_from_slice(&self.number.to_be_bytes()[5..]);
        nonce[11] = u8::from(is_last);
        self.number += 1;
        let key = self.key.as_ref().ok_or_else(|| io::Error::other("there is no key"))?;
        Ok((key, Nonce::assume_unique_for_key(nonce)))
    }
}

/// Encrypts what is written to it. It must be [finished](Writer::finish).
pub struct Writer<W: Write> {
    out: W,
    chunks: Chunks,
    held: Vec<u8>,
}

impl<W: Write> Writer<W> {
    pub(crate) fn new(out: W, key: &FileKey, nonce: &[u8; NONCE]) -> Self {
        Self { out, chunks: Chunks::new(key, nonce), held: Vec::with_capacity(CHUNK_BYTES + TAG) }
    }

    /// Writes what is left and ends the content: without that it can't be read.
    ///
    /// # Errors
    /// It can't be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.seal(true)?;
        Ok(self.out)
    }

    fn seal(&mut self, is_last: bool) -> io::Result<()> {
        let (key, nonce) = self.chunks.next(is_last)?;
        let sealed = key.seal_in_place_append_tag(nonce, Aad::empty(), &mut self.held);
        sealed.map_err(|_| io::Error::other("a chunk can't be sealed"))?;
        self.out.write_all(&self.held)?;
        self.held.clear();
        Ok(())
    }
}

impl<W: Write> Write for Writer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A full chunk waits until it is known whether it is the last one.
        if self.held.len() == CHUNK_BYTES && !bytes.is_empty() {
            self.seal(false)?;
        }
        let length = bytes.len().min(CHUNK_BYTES - self.held.len());
        self.held.extend_from_slice(&bytes[..length]);
        Ok(length)
    }

    /// Chunks that are not full stay here.
    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Decrypts what is read from it. Nothing is given that was not verified, and the end only where the content ended.
pub struct Reader<R: BufRead> {
    file: R,
    chunks: Chunks,
    held: Vec<u8>,
    given: usize,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    More,
    Over,
    Damaged,
}

impl<R: BufRead> Reader<R> {
    pub(crate) fn new(file: R, key: &FileKey, nonce: &[u8; NONCE]) -> Self {
        Self { file, chunks: Chunks::new(key, nonce), held: Vec::new(), given: 0, state: State::More }
    }

    fn open(&mut self) -> io::Result<()> {
        let is_first = self.chunks.number == 0;
        self.held.clear();
        // Until it is known to be more than that.
        (self.given, self.state) = (0, State::Damaged);
        self.file.by_ref().take((CHUNK_BYTES + TAG) as u64).read_to_end(&mut self.held)?;
        let is_last = self.file.fill_buf()?.is_empty();
        let (key, nonce) = self.chunks.next(is_last)?;
        let opened = key.open_in_place(nonce, Aad::empty(), &mut self.held).map(|opened| opened.len());
        match opened {
            // Only nothing at all ends with an empty chunk.
            Ok(length) if length > 0 || is_first => {
                self.held.truncate(length);
                self.state = if is_last { State::Over } else { State::More };
                Ok(())
            }
            _ => {
                self.held.clear();
                Err(damaged())
            }
        }
    }
}

impl<R: BufRead> Read for Reader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.given == self.held.len() && !into.is_empty() {
            match self.state {
                State::More => self.open()?,
                State::Over => {}
                // For whoever reads on: it never looks like the end.
                State::Damaged => return Err(damaged()),
            }
        }
        let rest = &self.held[self.given..];
        let length = rest.len().min(into.len());
        into[..length].copy_from_slice(&rest[..length]);
        self.given += length;
        Ok(length)
    }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the encrypted content is damaged, or cut short")
}
