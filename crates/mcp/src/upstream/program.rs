//! A program that is a server, at the other end of its pipes.

use forecourt_process::{Process, Program, RunningProgram, each_line, printable};
use rmcp::RoleClient;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::process::{ChildStdin, ChildStdout};

use super::bounded::Lines;
use crate::limits::{COMPLAINT_BYTES_MAX, MESSAGE_BYTES_MAX};

/// The pipes of a program, as the SDK speaks over them.
pub(crate) type Pipes = AsyncRwTransport<RoleClient, Lines<ChildStdout>, ChildStdin>;

/// Starts a program. It is killed, with its children, when the process that is given back is dropped.
///
/// # Errors
/// It can't be started.
pub(crate) fn start(program: &Program) -> std::io::Result<(Process, Pipes)> {
    let RunningProgram { process, stdin, stdout, stderr } = program.start()?;
    let complaint = |line: &[u8]| tracing::debug!("an MCP server's program says: {}", printable(line));
    // Read whether or not it is logged: a program whose pipe is full stands still.
    tokio::spawn(each_line(stderr, COMPLAINT_BYTES_MAX, complaint));
    let output = Lines::new(stdout, MESSAGE_BYTES_MAX);
    Ok((process, AsyncRwTransport::new_client(output, stdin)))
}
