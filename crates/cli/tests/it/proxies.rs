//! Behind nginx, Caddy and HAProxy, each started with its snippet of the manual: an answer, a stream that arrives
//! piece by piece, the client's address in limits, published addresses, redirects, AGTP passed through.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use forecourt_testkit::free_port;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::{DOMAIN, Deployment, Served, within};
use crate::wire::{Answer, curl, raw_curl};

/// Milliseconds between the two pieces of the slow answer.
const BETWEEN: u64 = 1500;
/// How much of that must be left when the first piece arrives.
const LEFT: Duration = Duration::from_millis(700);
/// Messages that one address may send at once.
const BURST: usize = 20;

/// A deployment as the manual has it behind a proxy, with the proxy before it.
struct Scene {
    served: Served,
    /// What the host is published below: empty, or a path.
    prefix: &'static str,
    folder: tempfile::TempDir,
    proxy: Child,
    web: u16,
    tls: u16,
    agtp: u16,
}

impl Drop for Scene {
    fn drop(&mut self) {
        // The workers of nginx end with a master that is asked to, and outlive one that is killed.
        let _ = kill(Pid::from_raw(self.proxy.id().cast_signed()), Signal::SIGTERM);
        let until = Instant::now() + Duration::from_secs(5);
        while matches!(self.proxy.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.proxy.kill();
        let _ = self.proxy.wait();
        if std::thread::panicking() {
            let log = fs::read_to_string(self.folder.path().join("proxy.log")).unwrap_or_default();
            eprintln!("---- the proxy's log ----\n{log}");
        }
    }
}

/// The first block of the page in this language, or the first TOML block that has these words.
fn snippet(language: &str, words: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/manual/proxies.md");
    let page = fs::read_to_string(page).unwrap();
    let mut blocks = page.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    let found = blocks.find(|(name, text)| *name == language && text.contains(words));
    found.unwrap_or_else(|| panic!("the page has no {language} with {words}")).1.to_owned()
}

fn installed(name: &str) -> Option<PathBuf> {
    let path = format!("{}:/usr/sbin:/usr/local/sbin", std::env::var("PATH").unwrap_or_default());
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
    if found.is_none() {
        eprintln!("skipped: {name} is not installed");
    }
    found
}

impl Scene {
    /// Serves with the settings of the page, and lets `proxy` begin with the snippet of `language`, in which ports,
    /// paths and names are those of this run.
    fn new(language: &str, program: &str, proxy: impl FnOnce(&mut Begin) -> Command) -> Option<Self> {
        Self::below("", language, program, proxy)
    }

    /// The same, published below a path.
    fn below(
        prefix: &'static str,
        language: &str,
        program: &str,
        proxy: impl FnOnce(&mut Begin) -> Command,
    ) -> Option<Self> {
        let program = installed(program)?;
        let (web, tls, agtp) = (free_port(), free_port(), free_port());
        let deployment = Deployment::of_backend(&format!(
            "kind = \"script\"\n[[backend.rule]]\ntext = \"^slow\"\nevents = [{{ text = \"first \" }}, {{ wait_ms = {BETWEEN} \
             }}, {{ text = \"second\" }}]\n[[backend.rule]]\ntext = \".\"\nevents = [{{ text = \"Hello.\" }}]\n"
        ));
        let settings = snippet("toml", "trusted_proxies").replace("example.com", DOMAIN);
        let settings = settings.replace(&format!("https://{DOMAIN}\""), &format!("https://{DOMAIN}:{tls}{prefix}\""));
        let limits = format!("[limits]\nper_address = {{ per_second = 1, burst = {BURST} }}\n");
        deployment.write("forecourt.toml", &format!("{settings}\n{limits}"));
        let served = deployment.serve();
        let folder = tempfile::tempdir().unwrap();
        let data = served.deployment.data();
        let own_agtp = fs::read_to_string(data.join("serving.json")).unwrap_or_default();
        let text = snippet(language, "")
            .replace("example.com", DOMAIN)
            .replace("127.0.0.1:8080", &format!("127.0.0.1:{}", served.http))
            .replace("9080", &served.admin.to_string());
        let mut begin = Begin { text, program, folder: folder.path().to_owned(), data, web, tls, agtp, own_agtp };
        let mut command = proxy(&mut begin);
        let log = fs::File::create(folder.path().join("proxy.log")).unwrap();
        let (out, err) = (log.try_clone().unwrap(), log);
        let proxy = command.stdin(Stdio::null()).stdout(out).stderr(err).spawn().unwrap();
        let scene = Self { served, prefix, folder, proxy, web, tls, agtp };
        within("the proxy answers", || scene.try_get("/").filter(|status| *status == 200));
        Some(scene)
    }

    fn url(&self, path: &str) -> String {
        format!("https://{DOMAIN}:{}{}{path}", self.tls, self.prefix)
    }

    fn ca(&self) -> String {
        self.served.ca()
    }

    fn try_get(&self, path: &str) -> Option<u16> {
        let (ca, url) = (self.ca(), self.url(path));
        let arguments = ["-q", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--cacert", &ca, &url];
        let tried = Command::new("curl").args(arguments).output().unwrap();
        String::from_utf8_lossy(&tried.stdout).parse().ok().filter(|status| *status != 0)
    }

    fn get(&self, path: &str, more: &[&str]) -> Answer {
        let ca = self.ca();
        curl(&self.url(path), &[&["--http1.1", "--cacert", &ca], more].concat())
    }

    /// What the manual promises of every proxy.
    fn keeps_its_promises(&self) {
        self.answers_over_http2();
        self.redirects_to_https();
        self.publishes_the_outer_address();
        self.streams_piece_by_piece();
        self.tells_clients_apart();
    }

    /// What the manual promises of a host below a path.
    fn is_whole_below_its_path(&self) {
        let card: serde_json::Value = self.get("/.well-known/agent-card.json", &[]).with_status(200).json();
        assert_eq!(card["url"], self.url("/a2a"));
        let page = self.get("/", &["-H", "Accept: text/html"]).with_status(200).text();
        for attribute in ["href=\"/", "src=\"/", "action=\"/"] {
            for link in page.split(attribute).skip(1) {
                let link = format!("/{}", link.split('"').next().unwrap_or_default());
                let path = link.strip_prefix(self.prefix).unwrap_or_else(|| panic!("{link} leads elsewhere: {page}"));
                self.get(path, &["-H", "Accept: */*"]).with_status(200);
            }
        }
        let begun = self.get("/~agent", &["-F", "user=hello", "-H", "Prefer: respond-async"]).with_status(202);
        let task = begun.named("content-location").strip_prefix(self.prefix).expect("the path of the host").to_owned();
        within("the task ends", || (self.get(&task, &[]).status == 200).then_some(()));
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
        let json = ["-H", "Content-Type: application/json", "-H", "Accept: application/json, text/event-stream"];
        let answer = self.get("/mcp", &[&json[..], &["-d", body]].concat()).with_status(200).text();
        assert!(answer.contains("serverInfo"), "{answer}");
        assert_eq!(self.served.curl("/~agent?user=hello", &[]).status, 200, "also without the path");
    }

    fn answers_over_http2(&self) {
        let (ca, url) = (self.ca(), self.url("/~agent?user=hello"));
        let said =
            raw_curl(&["--http2", "--cacert", &ca, "-w", " over %{http_version}", "-H", "Accept: text/markdown", &url]);
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(said.contains("Hello.") && said.ends_with(" over 2"), "{said}");
        let answer = self.get("/~agent?user=hello", &[]).with_status(200);
        assert!(answer.named("strict-transport-security").contains("max-age=31536000"));
        assert!(answer.field("x-request-id").is_some_and(|id| id.len() >= 16), "{answer:?}");
    }

    fn redirects_to_https(&self) {
        let plain =
            curl(&format!("http://127.0.0.1:{}/~agent?user=a%20b", self.web), &["-H", &format!("Host: {DOMAIN}")]);
        let place = plain.with_status(308).named("location");
        assert!(place.starts_with(&format!("https://{DOMAIN}")) && place.ends_with("/~agent?user=a%20b"), "{place}");
    }

    fn publishes_the_outer_address(&self) {
        let card = self.get("/.well-known/agent-card.json", &[]).with_status(200).text();
        assert!(card.contains(&self.url("/a2a")), "{card}");
        assert!(!card.contains(&format!(":{}", self.served.http)), "{card}");
        let forged = self.get("/.well-known/agent-card.json", &["-H", "X-Forwarded-Host: evil.example"]).text();
        assert!(!forged.contains("evil.example"), "{forged}");
    }

    fn streams_piece_by_piece(&self) {
        let (ca, url) = (self.ca(), self.url("/~agent?user=slow"));
        let mut curl = Command::new("curl")
            .args(["-q", "-sSN", "--cacert", &ca, "-H", "Accept: text/event-stream", &url])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(curl.stdout.take().unwrap()).lines().map_while(Result::ok);
        let (mut first, mut last) = (None, None);
        for line in lines {
            if line.contains("first") {
                first.get_or_insert_with(Instant::now);
            }
            if line.contains("second") {
                last.get_or_insert_with(Instant::now);
            }
        }
        assert!(curl.wait().unwrap().success());
        let between = last.expect("the second piece").duration_since(first.expect("the first piece"));
        assert!(between >= LEFT, "the pieces arrived {between:?} apart: something buffers");
    }

    fn tells_clients_apart(&self) {
        // A client that could choose its address would never meet the bound of one.
        let met = (0..=2 * BURST).any(|n| {
            let (long, short) = (format!("Forwarded: for=10.0.0.{n}"), format!("X-Forwarded-For: 10.0.0.{n}"));
            self.ask_from("127.0.0.2", &["-H", &long, "-H", &short]) == 429
        });
        assert!(met, "one address has its bound, whatever it says of itself");
        assert_eq!(self.ask_from("127.0.0.3", &[]), 200, "another one is not concerned");
    }

    fn ask_from(&self, address: &str, more: &[&str]) -> u16 {
        self.get("/~agent?user=hello", &[&["--interface", address], more].concat()).status
    }
}

/// What a proxy begins with.
struct Begin {
    text: String,
    program: PathBuf,
    folder: PathBuf,
    /// The data folder of the deployment, whose certificate the proxy shows.
    data: PathBuf,
    web: u16,
    tls: u16,
    agtp: u16,
    own_agtp: String,
}

impl Begin {
    /// Puts something in the place of what the snippet must have.
    #[track_caller]
    fn put(&mut self, printed: &str, real: &str) {
        assert!(self.text.contains(printed), "the snippet has no {printed:?}:\n{}", self.text);
        self.text = self.text.replace(printed, real);
    }

    fn write(&self, name: &str, text: &str) -> String {
        let file = self.folder.join(name);
        fs::write(&file, text).unwrap();
        file.display().to_string()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.folder);
        command.env("HOME", &self.folder).env("XDG_DATA_HOME", &self.folder).env("XDG_CONFIG_HOME", &self.folder);
        command
    }
}

/// Nginx with its snippet.
fn begin_nginx(begin: &mut Begin) -> Command {
    let (web, tls, data) = (begin.web, begin.tls, begin.data.display().to_string());
    begin.put("    listen 80;\n", &format!("    listen 127.0.0.1:{web};\n"));
    begin.put("    listen [::]:80;\n", "");
    begin.put("    listen 443 ssl http2;", &format!("    listen 127.0.0.1:{tls} ssl http2;"));
    begin.put("    listen [::]:443 ssl http2;\n", "");
    begin.put(&format!("/etc/letsencrypt/live/{DOMAIN}/fullchain.pem"), &format!("{data}/cert.pem"));
    begin.put(&format!("/etc/letsencrypt/live/{DOMAIN}/privkey.pem"), &format!("{data}/key.pem"));
    let folder = begin.folder.display();
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let temporary: String = temporary.map(|name| format!("{name}_temp_path {folder}/{name};\n")).concat();
    let user = if nix::unistd::geteuid().is_root() { "user root;\n" } else { "" };
    let around = format!(
        "{user}daemon off;\npid {folder}/nginx.pid;\nerror_log stderr;\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}{}\n}}\n",
        begin.text
    );
    let file = begin.write("nginx.conf", &around);
    begin.command(&["-p", &folder.to_string(), "-c", &file])
}

#[test]
fn nginx() {
    let scene = Scene::new("nginx", "nginx", begin_nginx);
    if let Some(scene) = scene {
        scene.keeps_its_promises();
    }
}

/// Caddy with its snippet.
fn begin_caddy(begin: &mut Begin) -> Command {
    let (web, tls, data) = (begin.web, begin.tls, begin.data.display().to_string());
    let site = format!("{DOMAIN} {{\n    bind 127.0.0.1\n    tls {data}/cert.pem {data}/key.pem\n");
    begin.put(&format!("{DOMAIN} {{\n"), &site);
    let global = format!("{{\n    admin off\n    http_port {web}\n    https_port {tls}\n    skip_install_trust\n}}\n");
    let file = begin.write("Caddyfile", &(global + &begin.text));
    begin.command(&["run", "--adapter", "caddyfile", "--config", &file])
}

#[test]
fn caddy() {
    let scene = Scene::new("caddyfile", "caddy", begin_caddy);
    if let Some(scene) = scene {
        scene.keeps_its_promises();
    }
}

/// HAProxy with its snippet.
fn begin_haproxy(begin: &mut Begin) -> Command {
    let (web, tls, agtp) = (begin.web, begin.tls, begin.agtp);
    let read = |name: &str| fs::read_to_string(begin.data.join(name)).unwrap();
    let certificate = begin.write("both.pem", &(read("cert.pem") + &read("key.pem")));
    begin.put("bind :80\n", &format!("bind 127.0.0.1:{web}\n"));
    begin.put("bind :443 ssl", &format!("bind 127.0.0.1:{tls} ssl"));
    begin.put(&format!("/etc/haproxy/certs/{DOMAIN}.pem"), &certificate);
    begin.put("bind :4480\n", &format!("bind 127.0.0.1:{agtp}\n"));
    let own: serde_json::Value = serde_json::from_str(&begin.own_agtp).unwrap_or_default();
    let own = own["sockets"]["agtp"].as_u64().unwrap_or_default();
    begin.put("127.0.0.1:14480", &format!("127.0.0.1:{own}"));
    let file = begin.write("haproxy.cfg", &begin.text);
    begin.command(&["-db", "-f", &file])
}

#[test]
fn haproxy() {
    let scene = Scene::new("haproxy", "haproxy", begin_haproxy);
    let Some(scene) = scene else { return };
    scene.keeps_its_promises();
    let address = format!("agtp://{DOMAIN}:{}/agents", scene.agtp);
    let data = scene.served.deployment.data().display().to_string();
    let told = scene.served.deployment.run("agtp", ["DISCOVER", &address, "--data", &data]).fine();
    assert!(told.contains("agent"), "{told}");
}

/// The path of the manual's example.
const BELOW: &str = "/agents";

#[test]
fn nginx_below_a_path_that_it_keeps_or_takes_away() {
    for takes in [false, true] {
        let scene = Scene::below(BELOW, "nginx", "nginx", |begin| {
            begin.put("location / {", "location /agents/ {");
            if takes {
                begin.put("proxy_pass http://forecourt;", "proxy_pass http://forecourt/;");
            }
            begin_nginx(begin)
        });
        scene.iter().for_each(Scene::is_whole_below_its_path);
    }
}

#[test]
fn caddy_below_a_path_that_it_keeps_or_takes_away() {
    for takes in [false, true] {
        let scene = Scene::below(BELOW, "caddyfile", "caddy", |begin| {
            let before = if takes { "uri /agents/* strip_prefix /agents\n    " } else { "" };
            let matcher = if takes { "" } else { "/agents/* " };
            begin.put("reverse_proxy ", &format!("{before}reverse_proxy {matcher}"));
            begin_caddy(begin)
        });
        scene.iter().for_each(Scene::is_whole_below_its_path);
    }
}

#[test]
fn haproxy_below_a_path_that_it_keeps_or_takes_away() {
    for takes in [false, true] {
        let scene = Scene::below(BELOW, "haproxy", "haproxy", |begin| {
            // What follows is decided by the path as it is by then.
            let (before, then) = match takes {
                true => (
                    "http-request set-path %[path,regsub(^/agents/,/)] if { path_beg /agents/ }\n    ",
                    "default_backend forecourt",
                ),
                false => ("", "use_backend forecourt if { path_beg /agents/ }"),
            };
            begin.put("default_backend forecourt", &format!("{before}{then}"));
            begin_haproxy(begin)
        });
        scene.iter().for_each(Scene::is_whole_below_its_path);
    }
}

#[test]
fn a_path_that_could_be_read_in_two_ways_is_refused_before_anybody_is_answered() {
    let refused = |url: &str| {
        let deployment = Deployment::gatehouse();
        deployment.edit(
            "forecourt.toml",
            "domain =",
            &format!("public_url = \"https://demo.localhost{url}\"\ndomain ="),
        );
        deployment.run("check", ["."])
    };
    for path in ["/a/../b", "/~x", "/a?b", "/a#b", "/a%20b", "/.well-known", "/a//b", "/a b", "/ä"] {
        let words = refused(path).failed(1);
        assert!(
            words.contains("`https://host` with an optional port and path") && words.contains("forecourt.toml:"),
            "{words}"
        );
    }
    for path in ["/mcp", "/a2a/x", "/tasks", "/ask", "/consent/x", "/manual", "/sign-in", "/assets"] {
        let words = refused(path).failed(1);
        assert!(words.contains("one of the host's own"), "{path}: {words}");
    }
    for path in ["", "/", "/agents", "/agents/", "/one/two-three_4.5"] {
        refused(path).fine();
    }
}
