//! Called, edited, broken, mended: without a restart.

use std::time::Duration;

use serde_json::json;

use crate::python::support::{AMPLE, call, call_within, crash, rooms, with};

#[tokio::test]
async fn an_edit_holds_from_the_next_call_on() {
    let deployment = rooms("def book(ctx): return {'edition': 1}\n");
    let book = deployment.function("rooms.book");
    assert_eq!(call(&book, json!({})).await, Ok(json!({"edition": 1})));
    deployment.write("functions/rooms.py", "def book(ctx): return {'edition': 'two'}\n");
    assert_eq!(call(&book, json!({})).await, Ok(json!({"edition": "two"})));
}

#[tokio::test]
async fn what_a_module_uses_may_be_edited_too() {
    let deployment = rooms("import prices\ndef book(ctx): return {'price': prices.NIGHT}\n");
    deployment.write("functions/prices.py", "NIGHT = 80\n");
    let book = deployment.function("rooms.book");
    assert_eq!(call(&book, json!({})).await, Ok(json!({"price": 80})));
    deployment.write("functions/prices.py", "NIGHT = 120\n");
    assert_eq!(call(&book, json!({})).await, Ok(json!({"price": 120})));
}

#[tokio::test]
async fn a_broken_edit_is_a_clear_failure_and_a_mended_one_heals() {
    let deployment = rooms("def book(ctx): return {'edition': 1}\n");
    deployment.write("functions/spa.py", "def open(ctx): return {}\n");
    let (book, spa) = (deployment.function("rooms.book"), deployment.function("spa.open"));
    deployment.write("functions/rooms.py", "def book(ctx) return {}\n");
    for _ in 0..2 {
        let cause = crash(&book, json!({})).await;
        assert!(cause.contains("rooms.book: functions/rooms.py line 1: SyntaxError: "), "{cause}");
        assert_eq!(call(&spa, json!({})).await, Ok(json!({})), "other files are not broken");
    }
    std::fs::remove_file(deployment.root.path().join("functions/rooms.py")).unwrap();
    let cause = crash(&book, json!({})).await;
    assert!(cause.contains("ModuleNotFoundError: No module named 'rooms'"), "{cause}");
    deployment.write("functions/rooms.py", "def book(ctx): return {'edition': 2}\n");
    assert_eq!(call(&book, json!({})).await, Ok(json!({"edition": 2})));
}

#[tokio::test]
async fn a_file_that_was_missing_is_found_once_it_is_there() {
    let deployment = rooms("def book(ctx):\n  import night\n  return {'night': night.PRICE}\n");
    let book = deployment.function("rooms.book");
    assert!(crash(&book, json!({})).await.contains("line 2: ModuleNotFoundError"));
    deployment.write("functions/night.py", "PRICE = 1\n");
    assert_eq!(call(&book, json!({})).await, Ok(json!({"night": 1})));
}

#[tokio::test]
async fn an_edit_that_hangs_or_ends_the_import_heals_too() {
    let fine = "def book(ctx): return {}\n";
    let deployment = with(fine, |options| options.import_time = Duration::from_secs(8));
    let book = deployment.function("rooms.book");
    deployment.write("functions/rooms.py", "import time\ntime.sleep(3600)\n");
    assert!(crash(&book, json!({})).await.contains("it was not imported in time"));
    deployment.write("functions/rooms.py", "import os\nos._exit(1)\n");
    assert!(crash(&book, json!({})).await.contains("it ended its worker (exit status: 1) while it was imported"));
    deployment.write("functions/rooms.py", fine);
    assert_eq!(call_within(&book, json!({}), AMPLE).await, Ok(json!({})));
}

#[tokio::test]
async fn a_slow_import_outlives_the_call_that_waits_for_it() {
    let text = "import time\ntime.sleep(0.6)\ndef book(ctx): return {}\n";
    let deployment = rooms(text);
    let book = deployment.function("rooms.book");
    deployment.write("functions/rooms.py", &format!("{text}\n"));
    assert!(call_within(&book, json!({}), Duration::from_millis(100)).await.is_err());
    let second = call_within(&book, json!({}), Duration::from_secs(20)).await;
    assert_eq!(second, Ok(json!({})));
}
