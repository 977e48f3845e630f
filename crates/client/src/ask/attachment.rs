//! Files that go with a question.

use std::path::Path;

use crate::output::Failure;

/// Bytes of a whole question with its files. Mentionable REST 3.2: no agent takes more.
pub const QUESTION_BYTES_MAX: usize = 1024 * 1024;

/// The bytes of a file to attach, which is not read when it is too large for any agent.
///
/// # Errors
/// The file can't be read, or has more than [`QUESTION_BYTES_MAX`].
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let name = path.display();
    let unreadable = |error: std::io::Error| Failure::usage(format!("{name}: {error}"));
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    if size > QUESTION_BYTES_MAX as u64 {
        return Err(too_large(&format!("{name} has {size} bytes")));
    }
    std::fs::read(path).map_err(unreadable)
}

/// That a question is larger than [`QUESTION_BYTES_MAX`]. `what` is a clause that says which part of it.
pub fn too_large(what: &str) -> Failure {
    Failure::usage(format!("{what}, and agents take 1 MiB at most")).hint("a link in the text can say where it is")
}

/// The media type that a file's name suggests.
pub fn media_type(path: &Path) -> &'static str {
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    match extension.as_deref().unwrap_or_default() {
        "txt" | "log" => "text/plain; charset=utf-8",
        "md" => "text/markdown; charset=utf-8",
        "csv" => "text/csv; charset=utf-8",
        "html" | "htm" => "text/html; charset=utf-8",
        "json" => "application/json",
        "pdf" => "application/pdf",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "mp3" => "audio/mpeg",
        "wav" => "audio/wav",
        "mp4" => "video/mp4",
        "zip" => "application/zip",
        _ => "application/octet-stream",
    }
}
