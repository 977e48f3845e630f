//! Chromium, driven over WebDriver: as much of it as these tests need.

use std::cell::RefCell;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{PATIENCE, lines_of, within};
use crate::wire::raw_curl;

/// How WebDriver calls the reference of an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// The key that sends a message.
pub(crate) const ENTER: &str = "\u{e007}";
/// The key that stops an answer.
pub(crate) const ESCAPE: &str = "\u{e00c}";
/// Programs that are Chromium.
const CHROMIUMS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// Times that the driver is started at most.
const DRIVER_STARTS: u32 = 5;

/// Who is looking.
#[derive(Clone, Copy)]
pub(crate) enum View {
    /// A person at a desk.
    Desk,
    /// The same at night.
    Dark,
    /// A person with a phone.
    Phone,
    /// A person whose browser runs no script.
    NoScript,
}

/// One browser with a profile of its own. Closed when dropped.
pub(crate) struct Browser {
    driver: Child,
    /// The URL of its session.
    session: String,
    _profile: TempDir,
}

/// Something on a page.
pub(crate) struct Element<'a> {
    browser: &'a Browser,
    id: RefCell<String>,
    /// What it is found by again when another page takes its place.
    selector: Option<String>,
}

/// Why the driver does not do something: its code and its words.
struct Refusal {
    code: String,
    message: String,
}

impl Refusal {
    /// Whether what was found is no longer there: its page gave way to another one.
    fn is_of_another_page(&self) -> bool {
        matches!(self.code.as_str(), "stale element reference" | "detached shadow root")
            || self.message.contains("does not belong to the document")
            || self.message.contains("No node with given id")
    }
}

impl Browser {
    /// Opens a browser. `None`, and says so, where there is none; with `CI` set there must be one.
    pub(crate) fn open(view: View) -> Option<Self> {
        let Some((driver, port)) = driver() else {
            assert!(std::env::var_os("CI").is_none(), "chromium and chromedriver are not installed");
            eprintln!("SKIPPED: chromium and chromedriver are not installed");
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        let mut browser = Self { driver, session: format!("http://127.0.0.1:{port}/session"), _profile: profile };
        let opened = browser.send("POST", "", &json!({"capabilities": {"alwaysMatch": browser.capabilities(view)}}));
        browser.session = format!("{}/{}", browser.session, opened["sessionId"].as_str().unwrap());
        if matches!(view, View::Dark) {
            let features = json!([{"name": "prefers-color-scheme", "value": "dark"}]);
            let command = json!({"cmd": "Emulation.setEmulatedMedia", "params": {"features": features}});
            browser.send("POST", "/goog/cdp/execute", &command);
        }
        Some(browser)
    }

    fn capabilities(&self, view: View) -> Value {
        let mut options = json!({
            "binary": chromium(),
            "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic",
                "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
                "--no-proxy-server", "--window-size=1100,900",
                format!("--user-data-dir={}", self._profile.path().display()),
            ],
        });
        match view {
            View::Desk | View::Dark => {}
            View::Phone => {
                let metrics = json!({"width": 360, "height": 740, "pixelRatio": 2, "touch": true, "mobile": true});
                options["mobileEmulation"] = json!({"deviceMetrics": metrics});
            }
            View::NoScript => {
                options["prefs"] = json!({"profile.managed_default_content_settings.javascript": 2});
            }
        }
        // Our own certificates are by an authority that no browser knows.
        json!({
            "browserName": "chrome", "acceptInsecureCerts": true,
            "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"},
        })
    }

    /// Opens a page, and waits until it is loaded.
    #[track_caller]
    pub(crate) fn go(&self, url: &str) {
        self.send("POST", "/url", &json!({"url": url}));
    }

    /// Has a script run at the beginning of every page that this tab opens from now on.
    #[track_caller]
    pub(crate) fn on_new_pages(&self, script: &str) {
        let params = json!({"source": script});
        let command = json!({"cmd": "Page.addScriptToEvaluateOnNewDocument", "params": params});
        self.send("POST", "/goog/cdp/execute", &command);
    }

    /// Cuts the tab off from every network, or lets it in again.
    #[track_caller]
    pub(crate) fn offline(&self, is_offline: bool) {
        let params = json!({"offline": is_offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1});
        self.send("POST", "/goog/cdp/execute", &json!({"cmd": "Network.enable", "params": {}}));
        let command = json!({"cmd": "Network.emulateNetworkConditions", "params": params});
        self.send("POST", "/goog/cdp/execute", &command);
    }

    /// Opens another tab, and looks at it. Gives the one that was looked at before.
    #[track_caller]
    pub(crate) fn open_tab(&self) -> String {
        let before = self.get("/window").as_str().unwrap().to_owned();
        let opened = self.send("POST", "/window/new", &json!({"type": "tab"}));
        self.look_at(opened["handle"].as_str().unwrap());
        before
    }

    /// Looks at another tab.
    #[track_caller]
    pub(crate) fn look_at(&self, tab: &str) {
        self.send("POST", "/window", &json!({"handle": tab}));
    }

    /// Goes back, as with the button.
    #[track_caller]
    pub(crate) fn back(&self) {
        self.send("POST", "/back", &json!({}));
    }

    /// The URL of the page.
    #[track_caller]
    pub(crate) fn url(&self) -> String {
        self.get("/url").as_str().unwrap().to_owned()
    }

    /// The element of a CSS selector, as soon as there is one.
    #[track_caller]
    pub(crate) fn find(&self, selector: &str) -> Element<'_> {
        let found = within(&format!("the page has {selector}"), || self.all(selector).into_iter().next());
        Element { selector: Some(selector.to_owned()), ..found }
    }

    /// Clicks on the first element of a CSS selector; not when there is none, or when its page has just gone.
    #[track_caller]
    pub(crate) fn click_if_there(&self, selector: &str) -> bool {
        let Some(found) = self.all(selector).into_iter().next() else { return false };
        match self.attempt("POST", &format!("/element/{}/click", found.id.borrow()), &json!({})) {
            Ok(_) => true,
            Err(refusal) if refusal.is_of_another_page() => false,
            Err(refusal) => panic!("{selector}: {}: {}", refusal.code, refusal.message),
        }
    }

    /// All elements of a CSS selector that are there now.
    #[track_caller]
    pub(crate) fn all(&self, selector: &str) -> Vec<Element<'_>> {
        let found = self.send("POST", "/elements", &json!({"using": "css selector", "value": selector}));
        let ids = found.as_array().unwrap().iter().map(|element| element[ELEMENT].as_str().unwrap().to_owned());
        ids.map(|id| Element { browser: self, id: RefCell::new(id), selector: None }).collect()
    }

    /// What an expression of JavaScript is on the page.
    #[track_caller]
    pub(crate) fn value(&self, expression: &str) -> Value {
        self.send("POST", "/execute/sync", &json!({"script": format!("return {expression}"), "args": []}))
    }

    /// What the console has been told since it was last read: errors, and broken content security
    /// policies at any level.
    #[track_caller]
    pub(crate) fn complaints(&self) -> Vec<String> {
        let entries = self.send("POST", "/se/log", &json!({"type": "browser"}));
        let is_bad = |entry: &&Value| entry["level"] == "SEVERE" || entry.to_string().contains("Security Policy");
        entries.as_array().unwrap().iter().filter(is_bad).map(|entry| entry["message"].to_string()).collect()
    }

    /// Presses keys one after the other, wherever the focus is: in a shadow tree too.
    #[track_caller]
    pub(crate) fn press(&self, keys: &str) {
        let press = |key: char| [json!({"type": "keyDown", "value": key}), json!({"type": "keyUp", "value": key})];
        let actions: Vec<Value> = keys.chars().flat_map(press).collect();
        self.send("POST", "/actions", &json!({"actions": [{"type": "key", "id": "keys", "actions": actions}]}));
    }

    /// Keeps a picture of the page beside the build, for people.
    #[track_caller]
    pub(crate) fn picture(&self, name: &str) {
        let png = STANDARD.decode(self.get("/screenshot").as_str().unwrap()).unwrap();
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pictures");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{name}.png")), png).unwrap();
    }

    #[track_caller]
    fn get(&self, path: &str) -> Value {
        self.send("GET", path, &Value::Null)
    }

    #[track_caller]
    fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let done = self.attempt(method, path, body);
        done.unwrap_or_else(|refusal| panic!("{path}: {}: {}", refusal.code, refusal.message))
    }

    #[track_caller]
    fn attempt(&self, method: &str, path: &str, body: &Value) -> Result<Value, Refusal> {
        let (url, body) = (format!("{}{path}", self.session), body.to_string());
        let json = ["-H", "Content-Type: application/json", "--data-binary", &body];
        let sent = if method == "GET" { &[][..] } else { &json[..] };
        let mut answer: Value = serde_json::from_slice(&raw_curl(&[&["-X", method, &url], sent].concat())).unwrap();
        let value = answer["value"].take();
        let word = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        if value.get("error").is_some() {
            return Err(Refusal { code: word("error"), message: word("message") });
        }
        Ok(value)
    }
}

impl Element<'_> {
    /// Clicks on it.
    #[track_caller]
    pub(crate) fn click(&self) {
        self.ask("POST", "click", &json!({}));
    }

    /// Types into it.
    #[track_caller]
    pub(crate) fn r#type(&self, text: &str) {
        self.ask("POST", "value", &json!({"text": text}));
    }

    /// Its text as a person sees it.
    #[track_caller]
    pub(crate) fn text(&self) -> String {
        self.ask("GET", "text", &Value::Null).as_str().unwrap().to_owned()
    }

    /// A property, such as an absolute `href`.
    #[track_caller]
    pub(crate) fn property(&self, name: &str) -> String {
        self.ask("GET", &format!("property/{name}"), &Value::Null).as_str().unwrap_or_default().to_owned()
    }

    /// Does something with it. What was found as soon as it was there is looked for again where its page gave way to
    /// another one in between, as a person's eyes do.
    #[track_caller]
    fn ask(&self, method: &str, what: &str, body: &Value) -> Value {
        within(&format!("{what} is done with {:?}", self.selector), || {
            let path = format!("/element/{}/{what}", self.id.borrow());
            match (self.browser.attempt(method, &path, body), &self.selector) {
                (Ok(value), _) => return Some(value),
                (Err(refusal), Some(selector)) if refusal.is_of_another_page() => {
                    if let Some(other) = self.browser.all(selector).into_iter().next() {
                        self.id.replace(other.id.into_inner());
                    }
                }
                (Err(refusal), _) => panic!("{path}: {}: {}", refusal.code, refusal.message),
            }
            None
        })
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver closes the browser; both are gone then, whatever the test came to.
        let mut close = Command::new("curl");
        close.args(["-q", "-sS", "--noproxy", "*", "--max-time", "10", "-X", "DELETE", &self.session]);
        let _ = close.stdout(Stdio::null()).stderr(Stdio::null()).status();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn chromium() -> Option<String> {
    let path = std::env::var_os("PATH")?;
    let files = || std::env::split_paths(&path).flat_map(|folder| CHROMIUMS.map(|name| folder.join(name)));
    let found = files().find(|file| file.is_file())?;
    Some(found.display().to_string())
}

/// Starts the driver on a free port. It takes the port on both families of addresses, one after the other:
/// where somebody was quicker with the second, it ends, and is started again.
fn driver() -> Option<(Child, u16)> {
    chromium()?;
    for _ in 0..DRIVER_STARTS {
        let started = Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut driver = match started {
            Ok(driver) => driver,
            Err(error) if error.kind() == ErrorKind::NotFound => return None,
            Err(error) => panic!("chromedriver: {error}"),
        };
        if let Some(port) = port_of(&mut driver) {
            return Some((driver, port));
        }
        driver.wait().unwrap();
    }
    panic!("chromedriver ended {DRIVER_STARTS} times before it named its port");
}

/// The port that a driver names, or nothing when it ends before.
fn port_of(driver: &mut Child) -> Option<u16> {
    let lines = lines_of(driver.stdout.take().unwrap());
    let until = Instant::now() + PATIENCE;
    loop {
        let line = match lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(line) => line,
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => panic!("chromedriver does not start"),
        };
        if let Some(port) = line.split("started successfully on port ").nth(1) {
            return Some(port.trim_end_matches('.').parse().unwrap());
        }
    }
}
