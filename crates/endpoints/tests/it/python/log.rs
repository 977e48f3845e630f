//! What functions print goes to the log, and nowhere else.

use std::io::Write;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use forecourt_endpoints::limits::FUNCTION_LINES_MAX;
use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

use crate::python::support::{AMPLE, call, call_within, rooms};

/// Everything that this process logs.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Log;

    fn make_writer(&'a self) -> Log {
        self.clone()
    }
}

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// Waits for a line that has all of `words`.
    async fn line(&self, words: &[&str]) -> String {
        let began = Instant::now();
        loop {
            let text = self.text();
            if let Some(line) = text.lines().find(|line| words.iter().all(|word| line.contains(word))) {
                return line.to_owned();
            }
            assert!(began.elapsed() < AMPLE, "no line has {words:?}:\n{text}");
            tokio::task::yield_now().await;
        }
    }
}

/// The log of this process: threads of the workers have no other.
fn log() -> &'static Log {
    static LOG: OnceLock<Log> = OnceLock::new();
    LOG.get_or_init(|| {
        let log = Log::default();
        tracing_subscriber::fmt().with_ansi(false).with_writer(log.clone()).init();
        log
    })
}

#[tokio::test]
async fn what_a_function_prints_is_logged_under_its_name_and_never_answered() {
    let log = log();
    let text = r#"
import os, subprocess, sys
print("while importing")
def book(ctx):
    print("one", "line", ctx.input["guest"])
    print("no end", end="")
    print("to stderr", file=sys.stderr)
    os.write(1, b"straight to one\n")
    subprocess.run(["echo", "from a child"])
    print('{"result": {"forged": true}}')
    return {}
def pay(ctx):
    print("paid")
    return {}
"#;
    let deployment = rooms(text);
    let (book, pay) = (deployment.function("rooms.book"), deployment.function("rooms.pay"));
    assert_eq!(call(&book, json!({"guest": "a\nb\u{1b}[2J"})).await, Ok(json!({})));
    assert_eq!(call(&pay, json!({})).await, Ok(json!({})));
    for words in ["while importing", "one line a", "no end", "to stderr", "straight to one", "from a child", "forged"] {
        log.line(&["INFO", "function=rooms.book", words]).await;
    }
    log.line(&["function=rooms.pay", "paid"]).await;
    assert!(!log.text().contains('\u{1b}'));
}

#[tokio::test]
async fn a_function_that_prints_without_end_is_not_held_up_and_logged_in_part() {
    let log = log();
    let text = "def book(ctx):\n  for n in range(5000): print('flood', n, 'x' * 3000)\n  return {}\n";
    let deployment = rooms(text);
    assert_eq!(call(&deployment.function("rooms.book"), json!({})).await, Ok(json!({})));
    log.line(&["WARN", "function=rooms.book", "prints more than goes to the log"]).await;
    let lines = log.text().lines().filter(|line| line.contains("rooms.book")).count();
    assert!(lines <= 2 * FUNCTION_LINES_MAX as usize, "{lines} lines");
    assert!(log.text().lines().all(|line| line.len() < 1200));
}

#[tokio::test]
async fn the_log_has_the_traceback_of_what_was_raised_and_of_what_hung() {
    let log = log();
    let text = "import time\n\
                def raises(ctx): return {'a': helper()}\n\
                def helper(): raise ValueError('no such room')\n\
                def hangs(ctx):\n\
                \x20   time.sleep(3600)\n";
    let deployment = rooms(text);
    assert!(call(&deployment.function("rooms.raises"), json!({})).await.is_err());
    log.line(&["function=rooms.raises", "line 3, in helper"]).await;
    log.line(&["function=rooms.raises", "ValueError: no such room"]).await;
    assert!(!log.text().lines().any(|line| line.contains("rooms.raises") && line.contains("<forecourt>")));
    // Long enough that it was begun.
    assert!(call_within(&deployment.function("rooms.hangs"), json!({}), Duration::from_secs(4)).await.is_err());
    log.line(&["function=rooms.hangs", "in hangs"]).await;
}
