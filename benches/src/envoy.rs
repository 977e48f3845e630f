//! Envoy with its A2A filter, when there is one on this machine.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::ensure;

use crate::arm::Arm;

const PATIENCE: Duration = Duration::from_secs(20);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Starts `program` in front of the agent at `to`, with as many threads as the others have.
pub(crate) fn start(name: &'static str, program: &Path, to: u16) -> anyhow::Result<Arm> {
    let port = free_port()?;
    let mut command = Command::new(program);
    command.args(["--config-yaml", &config(port, to), "--log-level", "error", "--disable-hot-restart"]);
    command.args(["--concurrency", &std::thread::available_parallelism()?.to_string()]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let arm = Arm::running(name, port, child);
    let begin = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        ensure!(begin.elapsed() < PATIENCE, "{name} did not start");
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(arm)
}

fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

fn config(port: u16, to: u16) -> String {
    format!(
        "static_resources:
  listeners:
  - address: {{ socket_address: {{ address: 127.0.0.1, port_value: {port} }} }}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          '@type': type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: bench
          route_config:
            virtual_hosts:
            - name: all
              domains: ['*']
              routes:
              - match: {{ prefix: '/' }}
                route: {{ cluster: remote }}
          http_filters:
          - name: envoy.filters.http.a2a
            typed_config:
              '@type': type.googleapis.com/envoy.extensions.filters.http.a2a.v3.A2a
          - name: envoy.filters.http.router
            typed_config:
              '@type': type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
  clusters:
  - name: remote
    type: STATIC
    connect_timeout: 1s
    load_assignment:
      cluster_name: remote
      endpoints:
      - lb_endpoints:
        - endpoint: {{ address: {{ socket_address: {{ address: 127.0.0.1, port_value: {to} }} }} }}
"
    )
}
