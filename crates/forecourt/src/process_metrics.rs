//! What the process uses, under the names that every program's are known by. Read from `/proc` when somebody asks.

use std::fmt;
use std::fs;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;

/// Ticks of the processor's time in a second, in what Linux tells programs.
const TICKS_PER_SECOND: f64 = 100.0;

/// Looks at the process.
#[derive(Debug)]
pub(crate) struct ProcessMetrics;

/// The figures of a process that Prometheus clients report.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Usage {
    processor_seconds: f64,
    resident_bytes: f64,
    virtual_bytes: f64,
    threads: f64,
    start_seconds: f64,
}

impl Collector for ProcessMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
        if let Some(usage) = usage(&text("/proc/self/stat"), &text("/proc/stat")) {
            let help = "Seconds of processor time";
            let metric = encoder.encode_descriptor("process_cpu", help, Some(&Unit::Seconds), MetricType::Counter)?;
            ConstCounter::new(usage.processor_seconds).encode(metric)?;
            let (bytes, seconds) = (Some(&Unit::Bytes), Some(&Unit::Seconds));
            for (name, help, unit, value) in [
                ("process_resident_memory", "Memory in use", bytes, usage.resident_bytes),
                ("process_virtual_memory", "Memory that was asked for", bytes, usage.virtual_bytes),
                ("process_start_time", "When it began, in Unix time", seconds, usage.start_seconds),
                ("process_threads", "Threads", None, usage.threads),
            ] {
                let metric = encoder.encode_descriptor(name, help, unit, MetricType::Gauge)?;
                ConstGauge::new(value).encode(metric)?;
            }
        }
        let files = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        for (name, help, value) in [
            ("process_open_fds", "Files that are open", files as f64),
            ("process_max_fds", "Files that may be open", files_max(&text("/proc/self/limits"))),
        ] {
            let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            ConstGauge::new(value).encode(metric)?;
        }
        Ok(())
    }
}

/// Reads `/proc/self/stat` and `/proc/stat`. See proc(5).
fn usage(own: &str, system: &str) -> Option<Usage> {
    // The name of the program, in brackets, may hold anything.
    let fields: Vec<&str> = own.rsplit_once(')')?.1.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<f64>().ok();
    let booted: f64 = system.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    Some(Usage {
        processor_seconds: (field(14)? + field(15)?) / TICKS_PER_SECOND,
        threads: field(20)?,
        start_seconds: booted + field(22)? / TICKS_PER_SECOND,
        virtual_bytes: field(23)?,
        resident_bytes: field(24)? * PAGE_BYTES,
    })
}

/// Bytes of a page of memory, on every machine that we are built for.
const PAGE_BYTES: f64 = 4096.0;

fn files_max(limits: &str) -> f64 {
    // `unlimited` is no number, and counts as infinite.
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_is_read_past() {
        let own = "7 (od) d) S 1 7 7 0 -1 0 0 0 0 0 150 50 0 0 20 0 4 0 1000 8192 3 0 0";
        let read = usage(own, "cpu 1\nbtime 1000\n").unwrap();
        assert_eq!((read.processor_seconds, read.threads, read.start_seconds), (2.0, 4.0, 1010.0));
        assert_eq!((read.virtual_bytes, read.resident_bytes), (8192.0, 3.0 * PAGE_BYTES));
        assert_eq!(usage("", ""), None);
    }

    #[test]
    fn this_process_is_known() {
        let mut registry = prometheus_client::registry::Registry::default();
        registry.register_collector(Box::new(ProcessMetrics));
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        for name in [
            "process_cpu_seconds_total ",
            "process_resident_memory_bytes ",
            "process_open_fds ",
            "process_start_time_seconds ",
        ] {
            assert!(text.contains(name), "{name}: {text}");
        }
        assert_eq!(files_max("Max open files            1024                 4096                 files\n"), 1024.0);
    }
}
