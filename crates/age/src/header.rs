//! The head of a file: a line of its version, stanzas, and a code over all of that.

use std::io::{self, BufRead, Read, Write};

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use crate::error::AgeError;
use crate::limits::{HEAD_BYTES_MAX, LINE_BYTES_MAX};
use crate::stanza::Stanza;
use crate::{FileKey, MAGIC, derived};

const VERSION: &str = "age-encryption.org/v1";
/// Letters of one line of a stanza's body; a shorter one ends it.
const COLUMNS: usize = 64;

/// A head that was read.
pub(crate) struct Head {
    pub(crate) stanzas: Vec<Stanza>,
    /// What the code is over.
    text: Vec<u8>,
    code: Vec<u8>,
}

/// Writes a head.
pub(crate) fn write(out: &mut impl Write, stanzas: &[Stanza], key: &FileKey) -> io::Result<()> {
    let mut text = format!("{VERSION}\n");
    for stanza in stanzas {
        let body = STANDARD_NO_PAD.encode(&stanza.body);
        text.push_str(&format!("-> {}\n", stanza.arguments.join(" ")));
        let mut rest = body.as_str();
        while rest.len() >= COLUMNS {
            let (line, after) = rest.split_at(COLUMNS);
            text.push_str(&format!("{line}\n"));
            rest = after;
        }
        text.push_str(&format!("{rest}\n"));
    }
    text.push_str("---");
    let code = code_key(key).map(|key| hmac::sign(&key, text.as_bytes()));
    let code = code.ok_or_else(|| io::Error::other("no code can be made"))?;
    writeln!(out, "{text} {}", STANDARD_NO_PAD.encode(code))
}

/// Reads a head.
pub(crate) fn read(file: &mut impl BufRead) -> Result<Head, AgeError> {
    let mut text = Vec::new();
    match line(file, &mut text)?.as_str() {
        VERSION => {}
        other if other.as_bytes().starts_with(MAGIC) => return Err(AgeError::Unknown),
        _ => return Err(AgeError::Damaged),
    }
    let mut stanzas = Vec::new();
    loop {
        let begun = text.len();
        let first = line(file, &mut text)?;
        if let Some(code) = first.strip_prefix("--- ") {
            text.truncate(begun + "---".len());
            let code = STANDARD_NO_PAD.decode(code).map_err(|_| AgeError::Damaged)?;
            return Ok(Head { stanzas, text, code });
        }
        let arguments: Vec<String> =
            first.strip_prefix("-> ").ok_or(AgeError::Damaged)?.split(' ').map(str::to_owned).collect();
        if arguments.iter().any(|word| word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_graphic())) {
            return Err(AgeError::Damaged);
        }
        stanzas.push(Stanza { arguments, body: body(file, &mut text)? });
    }
}

fn body(file: &mut impl BufRead, text: &mut Vec<u8>) -> Result<Vec<u8>, AgeError> {
    let mut body = String::new();
    loop {
        let next = line(file, text)?;
        body.push_str(&next);
        match next.len() {
            COLUMNS => {}
            ..COLUMNS => return STANDARD_NO_PAD.decode(body).map_err(|_| AgeError::Damaged),
            _ => return Err(AgeError::Damaged),
        }
    }
}

/// The next line, without its end, which is added to `text` with it.
fn line(file: &mut impl BufRead, text: &mut Vec<u8>) -> Result<String, AgeError> {
    let begun = text.len();
    file.by_ref().take(LINE_BYTES_MAX as u64).read_until(b'\n', text)?;
    let (line, fits) = (&text[begun..], text.len() <= HEAD_BYTES_MAX);
    let line = line.strip_suffix(b"\n").filter(|_| fits).ok_or(AgeError::Damaged)?;
    String::from_utf8(line.to_vec()).map_err(|_| AgeError::Damaged)
}

impl Head {
    /// Whether nothing of it was changed.
    pub(crate) fn verify(&self, key: &FileKey) -> Result<(), AgeError> {
        let key = code_key(key).ok_or(AgeError::Damaged)?;
        hmac::verify(&key, &self.text, &self.code).map_err(|_| AgeError::Damaged)
    }
}

fn code_key(key: &FileKey) -> Option<hmac::Key> {
    Some(hmac::Key::new(hmac::HMAC_SHA256, derived(key.as_ref(), &[], b"header")?.as_ref()))
}
