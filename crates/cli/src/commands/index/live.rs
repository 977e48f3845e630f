//! How far it has come, while it goes on: a bar on a terminal, a line now and then in a pipe.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use crate::output::stderrln;
use forecourt_index::LoadProgress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The time between two lines in a pipe. What takes less says only what came of it.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Shows how far something has come, on standard error.
pub(super) struct Live {
    what: String,
    begun: Instant,
    shown: IndexDisplay,
}

enum IndexDisplay {
    Bar(ProgressBar),
    /// When the last line was.
    Lines(Duration),
    Nothing,
}

impl Live {
    /// Begins. `in_pipes` says whether there are lines where there is no terminal.
    pub(super) fn begin(what: String, in_pipes: bool) -> Self {
        let shown = match (std::io::stderr().is_terminal(), in_pipes) {
            (true, _) => IndexDisplay::Bar(bar(&what)),
            (false, true) => IndexDisplay::Lines(Duration::ZERO),
            (false, false) => IndexDisplay::Nothing,
        };
        Self { what, begun: Instant::now(), shown }
    }

    /// It has come this far.
    pub(super) fn show(&mut self, progressed: &LoadProgress) {
        let elapsed = self.begun.elapsed();
        match &mut self.shown {
            IndexDisplay::Bar(bar) => {
                let (at, total) = match progressed.bytes_total {
                    0 => (progressed.files as u64, progressed.files_total as u64),
                    bytes => (progressed.bytes, bytes),
                };
                bar.set_length(total);
                bar.set_position(at);
                bar.set_message(words(progressed, elapsed));
            }
            IndexDisplay::Lines(last) if elapsed.saturating_sub(*last) >= LINE_EVERY => {
                *last = elapsed;
                stderrln!("{}: {}", self.what, words(progressed, elapsed));
            }
            IndexDisplay::Lines(_) | IndexDisplay::Nothing => {}
        }
    }

    /// It has come to its end; the bar makes room for what came of it.
    pub(super) fn end(self) {
        if let IndexDisplay::Bar(bar) = self.shown {
            bar.finish_and_clear();
        }
    }
}

fn bar(what: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} {bar:14} {percent:>3} %  {wide_msg}");
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.set_prefix(what.to_owned());
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// What was done, how fast, what was left out and what is to come. Files are measured by their bytes; pages
/// have none before they are read.
fn words(progressed: &LoadProgress, elapsed: Duration) -> String {
    let LoadProgress { files, files_total, items, skipped, bytes, bytes_total } = *progressed;
    let rate = items as f64 / elapsed.as_secs_f64().max(0.001);
    let left = match (bytes_total, bytes) {
        (0, _) => format!("{files} pages, {} to go", files_total.saturating_sub(files)),
        (_, 0) => format!("0 kB of {}", size(bytes_total)),
        _ if bytes >= bytes_total => format!("{} read, writing the index", size(bytes_total)),
        _ => {
            let seconds = elapsed.as_secs_f64() * bytes_total.saturating_sub(bytes) as f64 / bytes as f64;
            format!("{} left, {} of {}", time(seconds), size(bytes), size(bytes_total))
        }
    };
    format!("{items} items, {rate:.0}/s, {skipped} skipped, {left}")
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1_000)),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

fn time(seconds: f64) -> String {
    let seconds = seconds.ceil() as u64;
    if seconds < 120 { format!("{seconds} s") } else { format!("{} min", seconds.div_ceil(60)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_by_their_bytes_and_pages_by_their_number() {
        let files = LoadProgress {
            files: 1,
            files_total: 3,
            items: 5_000,
            skipped: 2,
            bytes: 2_500_000,
            bytes_total: 10_000_000,
        };
        let told = words(&files, Duration::from_secs(2));
        assert_eq!(told, "5000 items, 2500/s, 2 skipped, 6 s left, 2.5 MB of 10.0 MB");
        let read = LoadProgress { bytes: 10_000_000, ..files };
        assert!(words(&read, Duration::from_secs(2)).ends_with("10.0 MB read, writing the index"));
        let pages = LoadProgress { files: 4, files_total: 10, items: 8, ..LoadProgress::default() };
        assert_eq!(words(&pages, Duration::from_secs(4)), "8 items, 2/s, 0 skipped, 4 pages, 6 to go");
        assert!(words(&LoadProgress::default(), Duration::ZERO).contains("0/s"));
        assert_eq!([time(118.5), time(121.0), size(1)], ["119 s", "3 min", "1 kB"]);
    }
}
