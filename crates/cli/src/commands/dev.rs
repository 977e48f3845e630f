//! `forecourt dev`: a deployment while it is worked on, with every request on the terminal.
//!
//! What is shown is more than a log may hold: who asks, and the beginning of what is said. That is what a developer
//! looks for, it is their own machine alone that is listened on, and it goes to their terminal and nowhere else. Header
//! fields, and with them everything that opens something, are never shown.
//!
//! | file | holds |
//! |---|---|
//! | `report.rs`, `steps.rs` | a request in a line, and its steps as a tree |
//! | `repeat.rs` | the last message, sent again as it came |
//! | `keys.rs` | the keys of the terminal |
//! | `browser.rs` | the browser of this machine |

mod browser;
mod keys;
mod repeat;
mod report;
mod steps;

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::sync::Arc;

use forecourt::development::{Development, FinishedTrace, KeptRequest};
use forecourt::domains::deployment_folders;
use forecourt::reload::{ReloadSource, ReloadTrigger};
use forecourt::telemetry::TelemetryLayers;
use forecourt::{Problems, Server};
use forecourt_client::printable::has_styles;
use forecourt_core::{SystemClock, ids};
use forecourt_host::SystemEntropy;
use forecourt_server::AdminToken;
use tokio::task::JoinHandle;

use self::keys::{Key, Keyboard};
use self::report::Report;
use super::serve::signals::{SignalAction, Signals};
use super::serve::{going, logging, open};
use crate::args::Dev;
use crate::output::{Failure, Outcome, stderrln, stdout, stdoutln};

/// Agents that are shown at the start.
const AGENTS_SHOWN: usize = 10;

/// Serves until it is told to stop.
pub(crate) async fn run(dev: Dev) -> Outcome {
    let folders = deployment_folders(&dev.place.dir)?;
    if folders.first().is_some_and(|first| *first != dev.place.dir) {
        let text = format!("{} has several deployments, and one is worked on at a time", dev.place.dir.display());
        return Err(Failure::yours(text).hint("name the folder of one of them"));
    }
    let secret = ids::mint(&SystemEntropy);
    let token = AdminToken::new(&secret).ok_or_else(|| Failure::ours("the token of the console can't be one"))?;
    let (development, mut events) = Development::begin(token, Arc::new(SystemClock));
    // Made before the folder is read: what changes in between is taken up.
    let source = source(&dev, &development);
    let deployment = source.read()?;
    logging::start(deployment.log(), TelemetryLayers { traces: Some(events.layer), logs: None })?;
    let mut signals = Signals::listen()?;
    tell(&deployment.code_problems().await);
    let server = open(deployment).await?;
    server.reload_from(source);
    // On every way out of here the terminal is as it was: the value is dropped.
    let mut keyboard = Keyboard::open();
    let mut desk = Desk::new(&dev, &server, development, secret);
    desk.greet(&server, keyboard.is_open());
    if !dev.no_open {
        desk.open_browser(false);
    }
    loop {
        tokio::select! {
            Some(trace) = events.traces.recv() => desk.show(&trace),
            key = keyboard.next() => match key {
                Key::Quit => break,
                key => desk.press(key),
            },
            signal = signals.told() => match signal {
                SignalAction::Stop => break,
                // What came of it is in the log.
                SignalAction::Reload => drop(server.reload_all(ReloadTrigger::Signal).await),
            },
        }
    }
    drop(keyboard);
    stderrln!("stopping: {}", going(server.leaves_within()));
    tokio::select! {
        () = server.shutdown() => Ok(()),
        () = signals.stop() => Err(Failure::yours("stopped before everything was finished")),
    }
}

/// The deployment with its flags, each time it is read.
fn source(dev: &Dev, development: &Arc<Development>) -> ReloadSource {
    let (place, flags, development) = (dev.place.clone(), dev.listen(), development.clone());
    let dir = place.dir.clone();
    let source = ReloadSource::new(dir, move |folder| {
        Ok::<_, Problems>(place.at(folder).read(&flags)?.for_development(&development))
    });
    source.with_code().with_applied(|deployment| logging::follow(deployment.log()))
}

/// Tells what is wrong, though it keeps nothing from being served.
fn tell(problems: &Problems) {
    for problem in problems.iter() {
        let line = problem.line().map(|line| format!(":{line}")).unwrap_or_default();
        tracing::error!("{}{line}: {}", problem.file().display(), problem.message());
    }
}

/// What is on the terminal, and what a key does.
struct Desk {
    report: Report,
    development: Arc<Development>,
    /// Where requests go.
    address: SocketAddr,
    /// Where a browser finds the deployment, and its playground.
    site: String,
    playground: String,
    /// What opens the console.
    secret: String,
    /// The last message, if its request was kept.
    last: Option<KeptRequest>,
    /// The one that is sent again now.
    repeating: Option<JoinHandle<()>>,
}

impl Desk {
    fn new(dev: &Dev, server: &Server, development: Arc<Development>, secret: String) -> Self {
        let addresses = server.addresses().shared;
        let host = server.host();
        let domain = &host.site().domain;
        // Names under `.localhost` are this machine's for browsers (RFC 6761 6.3); of any other one DNS may say anything.
        let name = if domain.is_local() { domain.as_str() } else { "localhost" };
        let has_styles = has_styles(std::io::stdout().is_terminal());
        Self {
            report: Report { has_styles, has_trees: !dev.no_tree },
            development,
            address: addresses.http,
            site: format!("http://{name}:{}/", addresses.http.port()),
            playground: format!("http://localhost:{}/console/playground", addresses.admin.port()),
            secret,
            last: None,
            repeating: None,
        }
    }

    fn greet(&self, server: &Server, has_keys: bool) {
        let host = server.host();
        let mut out = String::new();
        // Writing to a string never fails.
        let _ = writeln!(out, "{} on this machine, for development\n", host.site().name);
        let _ = writeln!(out, "  in a browser  {}", self.site);
        let _ = writeln!(out, "  playground    {}  (as any caller; token {})", self.playground, self.secret);
        for resident in host.directory().iter().take(AGENTS_SHOWN) {
            let handle = resident.card.handle();
            let _ = writeln!(out, "  {:<13} forecourt ask {}~{handle} \"hello\"", format!("@{handle}"), self.site);
        }
        let more = host.directory().iter().count().saturating_sub(AGENTS_SHOWN);
        if more > 0 {
            let _ = writeln!(out, "  and {more} more agents");
        }
        let keys = if has_keys { keys::HELP } else { "" };
        stdoutln!("{out}\nSave a file, and the next message meets it. {keys}");
    }

    fn show(&mut self, trace: &FinishedTrace) {
        if let Some(text) = self.report.text(trace) {
            stdout(format_args!("{text}"));
        }
        self.last = repeat::last_message(self.last.take(), trace, self.development.request(&trace.id));
    }

    fn press(&mut self, key: Key) {
        match key {
            Key::Repeat => self.repeat(),
            Key::OpenBrowser => self.open_browser(true),
            Key::OpenPlayground => open_at(&self.playground, true),
            // The cursor home, then the screen and what was scrolled off it (ECMA-48 8.3.39; xterm for the last).
            Key::Clear => stdout(format_args!("\x1b[H\x1b[2J\x1b[3J")),
            Key::Help => stdoutln!("{}", keys::HELP),
            Key::Quit | Key::Other => {}
        }
    }

    fn repeat(&mut self) {
        let Some(request) = self.last.clone() else {
            return stdoutln!("there is no message to send again: none has come yet, or the last one was not kept");
        };
        if self.repeating.as_ref().is_some_and(|running| !running.is_finished()) {
            return stdoutln!("the last message is being sent again already");
        }
        let address = self.address;
        self.repeating = Some(tokio::spawn(async move {
            if let Err(error) = repeat::send(address, &request).await {
                stdoutln!("the last message could not be sent again: {error}");
            }
        }));
    }

    fn open_browser(&self, is_asked_for: bool) {
        open_at(&self.site, is_asked_for);
    }
}

/// Opens a browser; that there is none is only worth a word where somebody asked for it.
fn open_at(url: &str, is_asked_for: bool) {
    match browser::open(url) {
        Err(reason) if is_asked_for => stdoutln!("no browser was opened: {reason}; {url}"),
        _ => {}
    }
}
