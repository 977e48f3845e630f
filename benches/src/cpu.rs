//! What a process costs, as the kernel counts it.

use std::fs;

/// Nanoseconds that all threads of a process have been on a CPU.
pub(crate) fn process_nanos(pid: u32) -> u64 {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return 0 };
    tasks.filter_map(Result::ok).filter_map(|task| nanos(&task.path().join("schedstat").to_string_lossy())).sum()
}

/// Seconds that this process has been on a CPU, threads that have ended included.
pub(crate) fn own_seconds() -> anyhow::Result<f64> {
    seconds(11)
}

/// Seconds that processes of ours have been on a CPU which have ended.
pub(crate) fn children_seconds() -> anyhow::Result<f64> {
    seconds(13)
}

/// Time in two fields of `/proc/self/stat`, counted behind the name: of the process, and of the kernel for it.
fn seconds(field: usize) -> anyhow::Result<f64> {
    /// What the kernel counts in, on every architecture that we run on.
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit(") ").next().unwrap_or_default();
    let ticks: f64 = fields.split(' ').skip(field).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    Ok(ticks / TICKS_PER_SECOND)
}

fn nanos(file: &str) -> Option<u64> {
    fs::read_to_string(file).ok()?.split_whitespace().next()?.parse().ok()
}

/// KiB of memory that a process holds.
pub(crate) fn resident_kib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    line.and_then(|line| line.split_whitespace().nth(1)).and_then(|kib| kib.parse().ok()).unwrap_or(0)
}
