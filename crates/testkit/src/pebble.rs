//! A real certificate authority that speaks ACME: Pebble, with a DNS server of its own by which every name is this
//! machine.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::free_port;

/// How long the programs may take to listen.
const PATIENCE: Duration = Duration::from_secs(30);

/// What an authority is to be like.
#[derive(Clone, Debug)]
pub struct PebbleOptions {
    /// Where it asks over plain HTTP.
    pub http_port: u16,
    /// Where it asks within TLS.
    pub tls_port: u16,
    /// How long its certificates are good.
    pub life: Duration,
    /// The name that it signs for nobody.
    pub refused: String,
    /// Where it listens; `None`: on a free port.
    pub port: Option<u16>,
}

/// An authority at work, on loopback; it ends with this value.
#[derive(Debug)]
pub struct Pebble {
    children: Vec<Child>,
    port: u16,
    management: u16,
}

impl Pebble {
    /// Starts it with a certificate for 127.0.0.1 of its own, and files in `folder`. `None`, with a word on standard
    /// error, where it is not installed (Debian: `pebble`).
    ///
    /// # Panics
    /// When it is installed and does not come up.
    pub fn start(folder: &Path, certificate: &Path, key: &Path, options: &PebbleOptions) -> Option<Self> {
        let names = ["pebble", "pebble-challtestsrv"];
        if !names.iter().all(|name| installed(name)) {
            eprintln!("skipped: pebble is not installed");
            return None;
        }
        let (dns, management) = (free_port(), free_port());
        let port = options.port.unwrap_or_else(free_port);
        let config = json!({ "pebble": {
            "listenAddress": format!("127.0.0.1:{port}"),
            "managementListenAddress": format!("127.0.0.1:{management}"),
            "certificate": certificate, "privateKey": key,
            "httpPort": options.http_port, "tlsPort": options.tls_port,
            "ocspResponderURL": "", "externalAccountBindingRequired": false,
            "domainBlocklist": [options.refused],
            "certificateValidityPeriod": options.life.as_secs(),
        }});
        fs::create_dir_all(folder).expect("a folder");
        let file = folder.join("pebble.json");
        fs::write(&file, config.to_string()).expect("a config");
        let log = |name: &str| File::create(folder.join(format!("{name}.log"))).expect("a log");
        let begin = |command: &mut Command, name: &str| {
            command.stdin(Stdio::null()).stdout(log(name)).stderr(Stdio::null());
            command.spawn().expect("it is installed")
        };
        let mut names = Command::new("pebble-challtestsrv");
        names.args(["-http01", "", "-https01", "", "-tlsalpn01", "", "-defaultIPv6", ""]);
        names.args(["-dns01", &format!("127.0.0.1:{dns}"), "-management", &format!("127.0.0.1:{}", free_port())]);
        let mut authority = Command::new("pebble");
        authority.args(["-config", &file.display().to_string(), "-dnsserver", &format!("127.0.0.1:{dns}")]);
        // By default Pebble waits up to 15 s before it validates, and takes half of the authorizations as valid
        // already.
        authority.env("PEBBLE_VA_NOSLEEP", "1").env("PEBBLE_VA_ALWAYS_VALID", "0").env("PEBBLE_AUTHZREUSE", "0");
        let children = vec![begin(&mut names, "dns"), begin(&mut authority, "pebble")];
        let pebble = Self { children, port, management };
        [dns, port, management].into_iter().for_each(listens);
        Some(pebble)
    }

    /// Its directory.
    pub fn directory(&self) -> String {
        format!("https://127.0.0.1:{}/dir", self.port)
    }

    /// Where it gives the certificate that all of its own are signed by, PEM.
    pub fn root(&self) -> String {
        format!("https://127.0.0.1:{}/roots/0", self.management)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Pebble {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn installed(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder: PathBuf| folder.join(name).is_file())
}

fn listens(port: u16) {
    let until = Instant::now() + PATIENCE;
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        assert!(Instant::now() < until, "nobody listens on {port}");
        sleep(Duration::from_millis(10));
    }
}
