//! 10,000 TLS connections that have asked once and say nothing more.

use super::{bare, daemon};
use crate::arm::{Arm, ECHO};
use crate::bench::idle::{Target, hold};
use crate::run::Run;

/// Prints what each connection holds, of two daemons.
pub(in crate::bench) fn run(run: &Run) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut each = Vec::new();
    for name in ["AGTP over TLS", "again"] {
        let (arm, tls) = daemon(Arm::forecourt(name, ECHO)?)?;
        let target = Target { port: arm.port, tls: Some(&tls), request: bare("DISCOVER /") };
        each.push(runtime.block_on(hold(run, &arm, &target))?.kib_each);
    }
    run.keep("KiB a connection", &each[..1], &[each[1] / each[0]])
}
