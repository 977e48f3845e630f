//! Which session the calls of one terminal belong to. Design 31: contracts of a session outlive one
//! connection.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use aws_lc_rs::hmac;
use forecourt_client::serving::user_folder;
use forecourt_core::Entropy;
use forecourt_core::ids::mint;
use nix::unistd::getsid;

use crate::client::Server;

/// The file of the secret in the user's state folder.
const FILE: &str = "agtp-session.key";
/// Bytes of an id: 128 bits, as sessions need. Base 1.
const ID_BYTES: usize = 16;

/// The session of this terminal at `server`: the same for every call, and nothing that another server,
/// or whoever knows it, could tell another session from. A fresh one when nothing can be kept.
pub(super) fn of_terminal(server: &Server, entropy: &dyn Entropy) -> String {
    let secret = user_folder().and_then(|folder| secret(&folder, entropy));
    match (secret, getsid(None)) {
        (Some(secret), Ok(terminal)) => derived(&secret, server, terminal.as_raw()),
        _ => mint(entropy),
    }
}

fn derived(secret: &str, server: &Server, terminal: i32) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    // With the server in it: two servers can't tell that the same terminal calls both.
    let tag = hmac::sign(&key, format!("{}:{}\0{terminal}", server.host, server.port).as_bytes());
    tag.as_ref()[..ID_BYTES].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The secret in `folder`, made at first need. Readable by its owner alone.
fn secret(folder: &Path, entropy: &dyn Entropy) -> Option<String> {
    let file = folder.join(FILE);
    let read = || fs::read_to_string(&file).ok().filter(|text| !text.is_empty());
    read().or_else(|| {
        fs::create_dir_all(folder).ok()?;
        let made = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&file);
        match made.and_then(|mut file| file.write_all(mint(entropy).as_bytes())) {
            Ok(()) => read(),
            // Another call was first, or nothing can be kept here.
            Err(_) => read(),
        }
    })
}

#[cfg(test)]
mod tests {
    use forecourt_testkit::CountedEntropy;

    use super::*;

    #[test]
    fn a_session_is_of_one_terminal_and_one_server() {
        let server = |port| Server { host: "a.example".to_owned(), port };
        let first = derived("s", &server(1), 7);
        assert_eq!((first.len(), &first), (32, &derived("s", &server(1), 7)));
        for other in [derived("t", &server(1), 7), derived("s", &server(2), 7), derived("s", &server(1), 8)] {
            assert_ne!(first, other);
        }
    }

    #[test]
    fn the_secret_is_made_once_and_is_its_owners() {
        use std::os::unix::fs::PermissionsExt;
        let (folder, entropy) = (tempfile::tempdir().unwrap(), CountedEntropy::default());
        let deep = folder.path().join("a/b");
        let made = secret(&deep, &entropy).unwrap();
        assert_eq!(secret(&deep, &entropy), Some(made));
        assert_eq!(fs::metadata(deep.join(FILE)).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(secret(Path::new("/dev/null/x"), &entropy), None);
    }
}
