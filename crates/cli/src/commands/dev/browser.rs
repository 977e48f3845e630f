//! This module opens a page in the browser of this machine.

use std::env::var_os;
use std::process::{Command, Stdio};

/// What opens pages here.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
/// The variables one of which a desktop sets.
const DISPLAYS: [&str; 2] = ["WAYLAND_DISPLAY", "DISPLAY"];

/// Opens a page. Nobody waits for the browser.
///
/// # Errors
/// A reason: there is no screen, or nothing that opens pages.
pub(super) fn open(url: &str) -> Result<(), String> {
    let has_display = DISPLAYS.iter().any(|name| var_os(name).is_some_and(|value| !value.is_empty()));
    if !has_display && !cfg!(target_os = "macos") {
        return Err("there is no display".to_owned());
    }
    let mut command = Command::new(OPENER);
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("{OPENER}: {error}"))?;
    // Waited for on a thread of its own, or it would stay a zombie for as long as this program runs.
    std::thread::spawn(move || child.wait());
    Ok(())
}
