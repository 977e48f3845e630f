//! Programs of `command` that note how far they came, and go on from there in another try.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use forecourt_agents::{BuiltAgent, Context};
use forecourt_backends::limits::PROGRAM_NOTES_MAX;
use forecourt_core::reply::collect;
use forecourt_core::{CollectedReply, EarlierTry, Ending, FailureCause, Message, Part};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::notebook::Notebook;
use crate::support::{ask, build, failure, in_folder, message, stream};

/// Does three steps, each once, however often it is begun: a step is noted, and done when it hears that the note is kept.
/// In a worker it names its turn.
const STEPS: &str = r#"
import json, sys
while True:
    line = sys.stdin.readline()
    if not line:
        break
    asked = json.loads(line)
    turn = {"turn": asked["turn"]} if "turn" in asked else {}
    say = lambda **fields: print(json.dumps({**turn, **fields}), flush=True)
    done = asked.get("journal", [])
    say(text=f"{asked.get('work', 'none')[:8]} after {len(done)}:")
    for count, step in enumerate(range(len(done), 3), 1):
        say(journal={"step": step})
        heard = json.loads(sys.stdin.readline())
        assert heard == {**turn, "journal": count}, heard
        say(text=f" {step}")
    say(end=True)
"#;

fn steps(mode: &str) -> (TempDir, BuiltAgent) {
    program(STEPS, mode)
}

fn program(text: &str, mode: &str) -> (TempDir, BuiltAgent) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("agent.py"), text).unwrap();
    let settings = format!(
        "[backend]\nkind = \"command\"\ncommand = [\"python3\", \"agent.py\"]\nprocesses = 1\nmode = \"{mode}\"\n"
    );
    let built = build(&settings, &Context { goes_on: true, ..in_folder(folder.path()) });
    (folder, built)
}

fn hi() -> Message {
    message(vec![Part::text("hi")])
}

async fn answer(built: &BuiltAgent, journal: &Arc<Notebook>) -> CollectedReply {
    collect(stream(built, journal.with(hi())).await).await
}

fn notes(steps: impl IntoIterator<Item = u64>) -> Vec<Value> {
    steps.into_iter().map(|step| json!({ "step": step })).collect()
}

#[tokio::test]
async fn a_program_goes_on_behind_its_notes() {
    for mode in ["each", "worker"] {
        let (_folder, built) = steps(mode);
        assert!(built.attaches);
        let first = Notebook::behind(EarlierTry::None);
        assert_eq!(answer(&built, &first).await.text(), "01980000 after 0: 0 1 2", "{mode}");
        assert_eq!((first.notes(), first.is_written()), (notes(0..3), true));
        for kept in 0..=3 {
            let later = Notebook::behind(EarlierTry::Left(notes(0..kept)));
            let said = answer(&built, &later).await;
            let rest: Vec<_> = (kept..3).map(|step| format!(" {step}")).collect();
            assert_eq!(said.text(), format!("01980000 after {kept}:{}", rest.concat()), "{mode}");
            assert_eq!((later.notes(), said.ending), (notes(kept..3), Ending::Complete));
        }
    }
}

#[tokio::test]
async fn what_can_not_be_kept_is_not_done() {
    for mode in ["each", "worker"] {
        let (_folder, built) = steps(mode);
        let journal = Notebook::behind(EarlierTry::None);
        journal.is_full.store(true, Ordering::SeqCst);
        let said = answer(&built, &journal).await;
        assert_eq!(said.text(), "01980000 after 0:", "{mode}");
        assert!(matches!(&said.ending, Ending::Failed { cause: FailureCause::CutOff, .. }), "{:?}", said.ending);
        assert!(failure(&said).contains("can't be kept"));
        // The next caller has a process of its own.
        assert_eq!(answer(&built, &Notebook::behind(EarlierTry::None)).await.text(), "01980000 after 0: 0 1 2");
    }
}

#[tokio::test]
async fn of_a_message_that_nobody_goes_on_with_notes_are_acknowledged() {
    for mode in ["each", "worker"] {
        let (_folder, built) = steps(mode);
        assert_eq!(ask(&built, "hi").await.text(), "none after 0: 0 1 2", "{mode}");
    }
}

#[tokio::test]
async fn a_program_that_notes_though_its_agent_is_not_set_so_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("agent.py"), STEPS).unwrap();
    let settings = "[backend]\nkind = \"command\"\ncommand = [\"python3\", \"agent.py\"]\nmode = \"worker\"\n";
    let said = ask(&build(settings, &in_folder(folder.path())), "hi").await;
    assert_eq!(
        (said.text().as_str(), failure(&said)),
        ("none after 0:", "The agent's program gave an answer that could not be read.")
    );
}

#[tokio::test]
async fn a_line_may_note_and_say_something_and_elsewhere_the_key_means_nothing() {
    let text = "import sys\nsys.stdin.readline()\nprint('{\"text\": \"one\", \"journal\": 1}', flush=True)\n";
    let (folder, built) = program(text, "each");
    let journal = Notebook::behind(EarlierTry::None);
    assert_eq!((answer(&built, &journal).await.text().as_str(), journal.notes()), ("one", vec![json!(1)]));
    let settings = "[backend]\nkind = \"command\"\ncommand = [\"python3\", \"agent.py\"]\n";
    assert_eq!(ask(&build(settings, &in_folder(folder.path())), "hi").await.text(), "one");
}

#[tokio::test]
async fn an_answer_has_so_many_notes() {
    let text = |notes: u64| {
        format!(
            "import json, sys\nsys.stdin.readline()\nfor step in range({notes}):\n    \
             print(json.dumps({{\"journal\": step}}), flush=True)\nprint('{{\"text\": \"done\"}}', flush=True)\n"
        )
    };
    for (notes, fits) in [(PROGRAM_NOTES_MAX, true), (PROGRAM_NOTES_MAX + 1, false)] {
        let (_folder, built) = program(&text(notes), "each");
        let said = answer(&built, &Notebook::behind(EarlierTry::None)).await;
        match fits {
            true => assert_eq!((said.text().as_str(), said.ending), ("done", Ending::Complete)),
            false => assert!(failure(&said).contains(&PROGRAM_NOTES_MAX.to_string()), "{}", failure(&said)),
        }
    }
}

#[tokio::test]
async fn text_alone_has_no_room_for_notes() {
    let folder = tempfile::tempdir().unwrap();
    let settings = "[backend]\nkind = \"command\"\ncommand = [\"cat\"]\nformat = \"text\"\n";
    assert!(!build(settings, &in_folder(folder.path())).attaches);
}

#[tokio::test]
async fn a_program_that_hears_nothing_of_its_notes_is_not_held_up() {
    // It writes more notes than a pipe holds answers to, and reads none.
    let text = r#"
import json, sys
sys.stdin.readline()
for step in range(100):
    print(json.dumps({"journal": {"step": step}}), flush=True)
print(json.dumps({"text": "done", "end": True}), flush=True)
"#;
    let (_folder, built) = program(text, "each");
    let journal = Notebook::behind(EarlierTry::None);
    let said = answer(&built, &journal).await;
    assert_eq!((said.text().as_str(), journal.notes()), ("done", notes(0..100)));
}
