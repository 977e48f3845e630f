//! A homeserver of Matrix of a test's own: Synapse, with an application service.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long it may take to open its port: it is a program in Python that reads much before it does.
const OPEN_TIME_MAX: Duration = Duration::from_secs(120);
/// A key for signatures that nobody checks.
const SIGNING_KEY: &str = "ed25519 a_test U2lnbmVkLWluLXRlc3RzLWFuZC1ub3doZXJlLWVsc2U\n";

/// The name of the homeserver.
pub const SYNAPSE_NAME: &str = "demo.test";
/// By which accounts are made on it.
pub const SYNAPSE_SECRET: &str = "a-secret-for-accounts";

/// An application service, as it is registered.
#[derive(Debug, Clone)]
pub struct SynapseApplication {
    /// Where it is called.
    pub url: String,
    /// By which the homeserver knows it.
    pub as_token: String,
    /// By which it knows the homeserver.
    pub hs_token: String,
    /// The name of its bot.
    pub localpart: String,
}

/// Synapse on loopback, with SQLite in a temporary folder. It ends with the test.
#[derive(Debug)]
pub struct Synapse {
    child: Child,
    port: u16,
    folder: TempDir,
}

impl Synapse {
    /// Whether it is installed; says so where it is not.
    pub fn is_there() -> bool {
        let is_there = python().exists();
        if !is_there {
            eprintln!("skipped: dev/sdk/setup has not installed synapse");
        }
        is_there
    }

    /// Starts one on a port of loopback.
    ///
    /// # Panics
    /// When it does not come up.
    pub fn start(port: u16, application: &SynapseApplication) -> Self {
        let folder = tempfile::tempdir().expect("a folder for a test");
        write(folder.path(), port, application);
        let mut command = Command::new(python());
        command.args(["-m", "synapse.app.homeserver", "-c"]).arg(folder.path().join("homeserver.yaml"));
        let output = fs::File::create(folder.path().join("output")).expect("a file for a test");
        let complaints = output.try_clone().expect("a file for a test");
        let child = command.stdin(Stdio::null()).stdout(output).stderr(complaints).spawn().expect("synapse starts");
        let mut server = Self { child, port, folder };
        let until = Instant::now() + OPEN_TIME_MAX;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let is_over = server.child.try_wait().is_ok_and(|status| status.is_some());
            assert!(!is_over && Instant::now() < until, "synapse does not open its port: {}", server.log());
            std::thread::sleep(Duration::from_millis(20));
        }
        server
    }

    /// Where clients reach it.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What it wrote down.
    pub fn log(&self) -> String {
        let read = |name: &str| fs::read_to_string(self.folder.path().join(name)).unwrap_or_default();
        format!("{}{}", read("output"), read("log"))
    }
}

impl Drop for Synapse {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn python() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.cache/sdk/synapse/bin/python")
}

fn write(folder: &Path, port: u16, application: &SynapseApplication) {
    let SynapseApplication { url, as_token, hs_token, localpart } = application;
    let put = |name: &str, text: &str| fs::write(folder.join(name), text).expect("a file for a test");
    put("signing.key", SIGNING_KEY);
    put(
        "application.yaml",
        &format!(
            "id: forecourt-{localpart}\nurl: {url}\nas_token: {as_token}\nhs_token: {hs_token}\n\
             sender_localpart: {localpart}\nrate_limited: false\nnamespaces:\n  users:\n    \
             - {{exclusive: true, regex: '@{localpart}:.*'}}\n  aliases: []\n  rooms: []\n"
        ),
    );
    let at = folder.display();
    put(
        "log.yaml",
        &format!(
            "version: 1\nformatters: {{line: {{format: '%(levelname)s %(name)s %(message)s'}}}}\n\
             handlers: {{file: {{class: logging.FileHandler, formatter: line, filename: {at}/log}}}}\n\
             root: {{level: WARNING, handlers: [file]}}\ndisable_existing_loggers: false\n"
        ),
    );
    // Nobody is told to wait: that is for the double.
    let limits = ["rc_message", "rc_registration", "rc_admin_redaction"];
    let limits = limits.map(|limit| format!("{limit}: {{per_second: 1000, burst_count: 1000}}\n")).concat();
    let fast = "{per_second: 1000, burst_count: 1000}";
    put(
        "homeserver.yaml",
        &format!(
            "server_name: {SYNAPSE_NAME}\nreport_stats: false\nsigning_key_path: {at}/signing.key\n\
             pid_file: {at}/pid\nmedia_store_path: {at}/media\nregistration_shared_secret: {SYNAPSE_SECRET}\n\
             macaroon_secret_key: test\nform_secret: test\nbcrypt_rounds: 4\npresence: {{enabled: false}}\n\
             listeners:\n  - {{port: {port}, type: http, bind_addresses: ['127.0.0.1'], \
             resources: [{{names: [client, media]}}]}}\n\
             database: {{name: sqlite3, args: {{database: '{at}/homeserver.db'}}}}\ntrusted_key_servers: []\n\
             log_config: {at}/log.yaml\napp_service_config_files: ['{at}/application.yaml']\n{limits}\
             rc_login: {{address: {fast}, account: {fast}, failed_attempts: {fast}}}\n\
             rc_joins: {{local: {fast}, remote: {fast}}}\n\
             rc_invites: {{per_room: {fast}, per_user: {fast}, per_issuer: {fast}}}\n"
        ),
    );
}
