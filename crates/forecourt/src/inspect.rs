//! What `serve` refuses before a port opens, found in one place: `check` runs the same.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;

use forecourt_agents::ContentFileError;
use forecourt_core::Timestamp;
use forecourt_host::SystemEntropy;
use forecourt_identity::HostKeys;
use forecourt_server::{local_ca, tls};
use forecourt_settings::{Problem, Problems};
use forecourt_store::Sqlite;
use forecourt_surface::Carries;

use crate::certificates::CertificateSource;
use crate::content::Content;
use crate::deployment::Deployment;
use crate::settings::StoreKind;
use crate::storage::{DATABASE, SIGNED};

/// Characters of a line of content that are shown.
const EXCERPT_CHARS_MAX: usize = 120;
/// Bytes of a file in which a line is looked for that is shown.
const EXCERPT_FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Everything that stands in the way beside the settings themselves: where it would listen, its
/// certificate, and what is in the data folder. Changes nothing.
pub fn inspect(deployment: &Deployment) -> Problems {
    let data = deployment.data_folder();
    let mut problems = Problems::new();
    // One that is worked on is on loopback and shows no certificate.
    if deployment.development.is_none() {
        listeners(deployment, &mut problems);
        certificate(deployment, data, &mut problems);
    }
    // A shared store is looked at when it is opened: `check` connects to nothing.
    if deployment.store.kind() == StoreKind::Sqlite {
        state(data, &mut problems);
    }
    problems
}

/// Only TLS leaves this machine, and with a certificate that strangers can trust.
fn listeners(deployment: &Deployment, problems: &mut Problems) {
    let file = deployment.root.file();
    let plain = |name: &str, address: SocketAddr| {
        let text = format!("{name} on {address} would leave this machine in plain text");
        Problem::of_file(file, text).hint("listen on 127.0.0.1, and put what leaves the machine behind TLS")
    };
    // Where there is HTTPS for strangers, plain HTTP off loopback only says where that is.
    let redirects = !matches!(deployment.certificate_source(), CertificateSource::Local);
    let http = Some(("HTTP", deployment.listen.http)).filter(|_| !redirects);
    let shared = http.into_iter().chain([("the admin listener", deployment.listen.admin)]);
    for (name, address) in shared.filter(|(_, address)| !is_here(*address)) {
        problems.push(plain(name, address));
    }
    let mut tls = vec![("HTTPS", deployment.listen.https)];
    for listen in deployment.wires.listens() {
        match (listen.carries, listen.address) {
            (Carries::Tls { .. }, Some(address)) => tls.push((listen.name, address)),
            (_, Some(address)) if !is_here(address) => problems.push(plain(listen.name, address)),
            _ => {}
        }
    }
    for (name, address) in tls {
        problems.absorb(deployment.suits(name, address).map_err(|failure| failure.into_problem(file)));
    }
}

fn is_here(address: SocketAddr) -> bool {
    // `to_canonical`: `::ffff:127.0.0.1` is loopback too.
    address.ip().to_canonical().is_loopback()
}

fn certificate(deployment: &Deployment, data: &Path, problems: &mut Problems) {
    let (looked, hint) = match deployment.certificate_source() {
        CertificateSource::Files(files) => (
            tls::inspect(&files, Timestamp::now()).map_err(|error| (files.certificate, error.to_string())),
            "`cert` and `key` in [tls] name a chain and its private key, both in PEM form",
        ),
        CertificateSource::Local => (
            local_ca::inspect(data).map_err(|error| (local_ca::ca_certificate(data), error.to_string())),
            "remove ca.pem and ca.key: a new authority is made, which clients must be told to trust",
        ),
        CertificateSource::Acme(acme) => (
            deployment.way_to_authority(&acme).map(drop).map_err(|error| (deployment.root.file().into(), error)),
            "`ca_file` in [tls.acme] and `ca_files` in [egress] name certificates of authorities in PEM form",
        ),
    };
    if let Err((file, text)) = looked {
        problems.push(Problem::of_file(&file, text).hint(hint));
    }
}

/// What an earlier run left behind: its database, with the key that opens it, and the key that signs.
fn state(data: &Path, problems: &mut Problems) {
    let (database, key) = (data.join(DATABASE), data.join(HostKeys::FILE));
    let signed = match Sqlite::inspect(&database, SIGNED) {
        Ok(signed) => signed,
        Err(error) => {
            let problem = Problem::of_file(&database, error.to_string());
            problems.push(problem.hint("put the folder back from a backup, or name another one with --data DIR"));
            false
        }
    };
    if !key.exists() {
        if signed {
            let text = "the key that signs is gone, and this deployment has signed with it";
            problems.push(Problem::of_file(&key, text).hint(
                "put the file back from a backup; or make a new key with `forecourt keys`: what was signed until now \
                 can't be verified any more",
            ));
        }
    } else if let Err(error) = HostKeys::load_or_create(data, &SystemEntropy) {
        problems.push(Problem::of_file(&key, error.to_string()).hint("put the file back from a backup"));
    }
}

/// Content that is not there, or that can't be read.
pub(crate) fn contents<'a>(contents: impl IntoIterator<Item = &'a Content>) -> Problems {
    let manual = Path::new(crate::manual::NAME);
    let mut problems = Problems::new();
    for content in contents {
        // The manual is unpacked by whoever serves, so it may not be there yet.
        for path in content.indexing.sources().iter().filter(|path| !path.ends_with(manual)) {
            let readable = match path.is_dir() {
                true => path.read_dir().map(drop),
                false => File::open(path).map(drop),
            };
            if let Err(error) = readable {
                let text = match error.kind() {
                    std::io::ErrorKind::NotFound => {
                        format!("@{}: there is no content at {}", content.handle, path.display())
                    }
                    _ => format!("@{}: the content at {} can't be read: {error}", content.handle, path.display()),
                };
                problems.push(Problem::of_file(path, text));
            }
        }
    }
    problems
}

/// Files of content that can't be read as what they are, each with the line.
pub(crate) fn file_errors(contents: &[Content]) -> Problems {
    let mut problems = Problems::new();
    for ContentFileError { file, line, reason } in contents.iter().flat_map(|content| content.indexing.file_errors()) {
        let problem = match line {
            Some(line) => Problem::of_line(&file, line, line_of(&file, line).unwrap_or_default(), reason),
            None => Problem::of_file(&file, reason),
        };
        problems.push(problem.hint("what can't be read is left out, and nobody finds it"));
    }
    problems
}

/// The beginning of a line of a file, from 1; `None` where it is no text, or too far into the file.
fn line_of(file: &Path, line: usize) -> Option<String> {
    let mut lines = BufReader::new(File::open(file).ok()?.take(EXCERPT_FILE_BYTES_MAX)).lines();
    let line = lines.nth(line.checked_sub(1)?)?.ok()?;
    Some(line.chars().take(EXCERPT_CHARS_MAX).collect())
}
