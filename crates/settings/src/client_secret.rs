//! The secret of a client at another server, which stands in the settings or in a file of its own.

use std::path::Path;

use crate::environment::secret_of;

const INLINE: &str = "client_secret";
const FILE: &str = "client_secret_file";

/// The secret of the keys `client_secret` and `client_secret_file`, whose path is taken from `folder`. `None` with
/// neither: a public client.
///
/// # Errors
/// Both are given, one is blank, or the file can't be read: the key, and a sentence.
pub fn client_secret(
    inline: Option<String>,
    file: Option<&Path>,
    folder: &Path,
) -> Result<Option<String>, (&'static str, String)> {
    let (key, secret) = match (inline, file) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => return Err((INLINE, format!("give either `{INLINE}` or `{FILE}`"))),
        (Some(secret), None) => (INLINE, secret),
        (None, Some(file)) => {
            let read = secret_of(&folder.join(file));
            (FILE, read.map_err(|why| (FILE, format!("the file `{}` of `{FILE}` {why}", file.display())))?)
        }
    };
    // Blanks at its ends may be a part of it, and empty lines behind it are none.
    match secret.trim_end_matches(['\r', '\n']) {
        blank if blank.trim().is_empty() => Err((key, format!("`{key}` must not be empty"))),
        secret => Ok(Some(secret.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_stands_in_one_place_and_is_not_blank() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let of = |inline: Option<&str>, file: Option<&str>| {
            client_secret(inline.map(str::to_owned), file.map(Path::new), here).map_err(|(key, _)| key)
        };
        assert_eq!((of(None, None), of(Some(" hush "), None)), (Ok(None), Ok(Some(" hush ".to_owned()))));
        assert_eq!((of(Some(""), None), of(Some(" \n"), None)), (Err(INLINE), Err(INLINE)));
        assert_eq!((of(Some("a"), Some("Cargo.toml")), of(None, Some("none"))), (Err(INLINE), Err(FILE)));
        let read = of(None, Some("Cargo.toml")).unwrap().unwrap();
        assert!(read.starts_with("[package]") && !read.ends_with('\n'));
    }
}
