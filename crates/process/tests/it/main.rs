//! Programs that work for a host.

mod process;
