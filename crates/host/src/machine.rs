//! The clocks of the machine.

use std::fs;
use std::time::Duration;

use forecourt_core::{MachineClock, Timestamp};
use nix::time::{ClockId, clock_gettime};

/// Where Linux says which start of the machine this is.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// A clock that nobody sets and that counts while the machine sleeps.
#[cfg(target_os = "linux")]
const UPTIME: ClockId = ClockId::CLOCK_BOOTTIME;
#[cfg(not(target_os = "linux"))]
const UPTIME: ClockId = ClockId::CLOCK_MONOTONIC;

/// The clocks of this machine.
#[derive(Debug, Clone)]
pub struct SystemMachine {
    boot: Option<String>,
}

impl SystemMachine {
    /// The clocks of this machine, and which start of it this is, as far as it says so.
    pub fn new() -> Self {
        Self { boot: fs::read_to_string(BOOT_ID).ok().map(|id| id.trim().to_owned()) }
    }
}

impl Default for SystemMachine {
    fn default() -> Self {
        Self::new()
    }
}

impl MachineClock for SystemMachine {
    fn wall(&self) -> Timestamp {
        Timestamp::now()
    }

    fn uptime(&self) -> Duration {
        // It fails where there is no such clock, and Linux has had it since 2.6.39.
        clock_gettime(UPTIME).map(Duration::from).expect("a machine without a steady clock cannot serve")
    }

    fn boot(&self) -> Option<String> {
        self.boot.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_uptime_goes_on_and_a_start_of_the_machine_has_one_name() {
        let machine = SystemMachine::new();
        let before = machine.uptime();
        assert!(machine.uptime() >= before && !before.is_zero());
        assert_eq!(machine.boot(), SystemMachine::new().boot());
        assert!(!cfg!(target_os = "linux") || machine.boot().is_some_and(|boot| !boot.is_empty()));
    }
}
