//! 10,000 TLS connections that have asked once and say nothing more.

use std::time::Duration;

use super::{bare, daemon};
use crate::arm::{Arm, ECHO};
use crate::bench::idle::{Target, measure};

/// Prints what each connection holds.
pub(in crate::bench) fn run() -> anyhow::Result<()> {
    let (arm, tls) = daemon(Arm::forecourt("AGTP over TLS", ECHO)?)?;
    let target = Target { port: arm.port, tls: Some(&tls), request: bare("DISCOVER /") };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(measure(&arm, &target, Duration::ZERO))
}
