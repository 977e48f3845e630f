//! The `forecourt` command: parse, load, run one command, exit.

// What is printed goes through `output`, where a reader that went away ends nothing.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod commands;
mod starters;

use std::process::ExitCode;

use forecourt_client::output;

use crate::output::Failure;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Before anything else: this program also runs as the supervisor of other programs and as a reader of PDF files,
    // with arguments that are none of the command line's.
    if let Some(code) = forecourt_process::supervise_if_asked().or_else(forecourt::read_pdf_if_asked) {
        return code;
    }
    keep_pages_small();
    let invocation = match args::parse() {
        Ok(invocation) => invocation,
        // Help and versions come this way too; they are what was asked for.
        Err(answer) => {
            let _ = answer.print();
            return ExitCode::from(if answer.use_stderr() { 2 } else { 0 });
        }
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return Failure::ours(format!("the runtime did not start: {error}")).report(),
    };
    let code = match output::finished(runtime.block_on(commands::run(invocation))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    };
    // Content that is being read would keep us for as long as that takes; what was indexed stands.
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    code
}

/// Without huge pages, what a connection's buffers do not use is not resident: with 10,000 idle ones
/// that is a third of it all (benches, `idle`). Failing to say so costs memory only.
fn keep_pages_small() {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_thp_disable(true);
}
