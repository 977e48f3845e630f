//! Programs that work for this one: started in clean surroundings, read within bounds, and ended with
//! all of their children, at the latest when this one ends.
//!
//! A program sees `PATH`, `LANG` and the variables that it was given, and nothing else of our
//! environment, where secrets are. No shell is involved.

mod lines;
mod process;
mod program;
mod queue;
mod supervisor;

pub use lines::{LineError, each_line, is_readable, line, printable};
pub use process::Process;
pub use program::{Program, RunningProgram, find};
pub use queue::{QueuePlace, WaitQueue};
pub use supervisor::supervise_if_asked;
