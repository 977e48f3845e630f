//! What a supervisor does.

use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::ExitCode;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawnp};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal, kill, raise};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, close};

/// The exit code when there is no such program, as of a shell.
pub(super) const NOT_STARTED: u8 = 127;

/// The signals on which everything ends.
const ENDING: [Signal; 4] = [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGQUIT];

/// Runs `command` until there is a reason to end, and exits as it did.
pub(super) fn supervise(command: Vec<OsString>) -> io::Result<ExitCode> {
    // What its children leave behind becomes ours, whatever group or session it is in.
    prctl::set_child_subreaper(true)?;
    // Only for `ps`.
    let _ = prctl::set_name(c"supervisor");
    let mut signals = SigSet::from_iter(ENDING);
    signals.add(Signal::SIGCHLD);
    signals.thread_block()?;
    let signals = SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
    let program = start(command)?;
    // These are the program's alone: their other ends see it close them.
    let _ = (close(0), close(1));
    let status = watch(&signals, program);
    end_all();
    Ok(status.map_or(ExitCode::FAILURE, repeat))
}

/// Starts the program with our streams and our surroundings, and no signal held back from it.
fn start(command: Vec<OsString>) -> io::Result<Pid> {
    let words: Vec<CString> =
        command.into_iter().map(|word| CString::new(word.into_vec())).collect::<Result<_, _>>()?;
    let file = words.first().ok_or(io::ErrorKind::InvalidInput)?;
    let variable = |(name, value): (OsString, OsString)| [name.as_bytes(), value.as_bytes()].join(&b'=');
    let variables: Vec<CString> = std::env::vars_os().map(variable).map(CString::new).collect::<Result<_, _>>()?;
    let mut attributes = PosixSpawnAttr::init()?;
    attributes.set_sigmask(&SigSet::empty())?;
    // Programs in Rust ignore it, and so would what they start.
    attributes.set_sigdefault(&SigSet::from(Signal::SIGPIPE))?;
    attributes.set_flags(PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK | PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF)?;
    Ok(posix_spawnp(file, &PosixSpawnFileActions::init()?, &attributes, &words, &variables)?)
}

/// Waits until the program has exited, and gives how; `None` when it has to end for another reason.
fn watch(signals: &SignalFd, program: Pid) -> Option<WaitStatus> {
    let complaints = io::stderr();
    loop {
        // The writing end of a pipe tells of nothing but that nobody reads.
        let mut ends =
            [PollFd::new(complaints.as_fd(), PollFlags::empty()), PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
        match poll(&mut ends, PollTimeout::NONE) {
            Ok(_) if ends[0].any().unwrap_or(true) => return None,
            Ok(_) | Err(Errno::EINTR) => {}
            Err(_) => return None,
        }
        while let Ok(Some(told)) = signals.read_signal() {
            let is_child = i32::try_from(told.ssi_signo).is_ok_and(|number| number == Signal::SIGCHLD as i32);
            if !is_child {
                return None;
            }
        }
        if let Some(status) = reap(program) {
            return Some(status);
        }
    }
}

/// Buries who has died, and says how if the program is among them.
fn reap(program: Pid) -> Option<WaitStatus> {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) | Err(_) => return None,
            Ok(status) if status.pid() == Some(program) => return Some(status),
            Ok(_) => {}
        }
    }
}

/// Kills all that came of the program: children, and what they leave behind becomes a child in turn.
fn end_all() {
    loop {
        for child in children() {
            // It may have died meanwhile; its number is nobody else's until it is waited for.
            let _ = kill(child, Signal::SIGKILL);
        }
        if waitpid(None, None).is_err() {
            return;
        }
    }
}

fn children() -> Vec<Pid> {
    let own = std::process::id();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter(|number| parent(*number) == Some(own)).map(Pid::from_raw).collect()
}

/// The process that a process is a child of.
fn parent(number: i32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
    parent_in(&stat)
}

/// The second field behind the name, which may hold anything, in parentheses.
fn parent_in(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Exits as the program did.
fn repeat(status: WaitStatus) -> ExitCode {
    match status {
        WaitStatus::Exited(_, code) => u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from),
        WaitStatus::Signaled(_, signal, _) => {
            // The program has left a core already, if it was to.
            let _ = prctl::set_dumpable(false);
            let _ = SigSet::from(signal).thread_unblock();
            // Twice: Rust's own handler of some takes itself away the first time.
            let _ = raise(signal).and_then(|()| raise(signal));
            ExitCode::FAILURE
        }
        _ => ExitCode::FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_found_behind_any_name() {
        assert_eq!(parent_in("12 (sh) S 7 12 12 0"), Some(7));
        assert_eq!(parent_in("12 (a) S 9 (b) R 7 12"), Some(7));
        for odd in ["", "12 (sh", "12 (sh)", "12 (sh) S x"] {
            assert_eq!(parent_in(odd), None, "{odd}");
        }
        assert_eq!(parent(std::process::id() as i32), Some(std::os::unix::process::parent_id()));
    }
}
