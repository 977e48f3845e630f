//! Agents in Slack through the whole program: events as Slack signs them, answers to a double of its Web API.

use std::thread;

use forecourt_core::Timestamp;
use forecourt_testkit::{SLACK_SECRET, SLACK_TOKEN, SlackDouble, SlackMessage, slack_event, slack_signature};
use serde_json::{Value, json};

use crate::admin::{TOKEN as OPERATOR_TOKEN, api};
use crate::chat_agents::{CLUB, SLOW};
use crate::support::{Deployment, FREE_PORTS, Served, within};

/// Wants everybody to sign in with it first.
const DOOR: &str = r#"
handle = "door"
name = "Door"

[backend]
kind = "script"

[[backend.rule]]
text = ".*"
events = [{ sign_in = "Sign in at https://door.example/?for=you first." }]
"#;

const PATH: &str = "/connectors/slack/kitchen";

/// A workspace, and a deployment whose agents are mentioned there.
struct Workspace {
    slack: SlackDouble,
    served: Served,
    /// On which the double answers.
    _runtime: tokio::runtime::Runtime,
}

impl Workspace {
    fn open() -> Self {
        Self::of(Deployment::kitchen(), "")
    }

    fn of(deployment: Deployment, more: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let slack = SlackDouble::default();
        let origin = format!("http://{}", runtime.block_on(slack.start()));
        let connector = format!(
            "kind = \"slack\"\nsigning_secret = \"${{SECRET}}\"\nbot_token = \"${{TOKEN}}\"\napi = \"{origin}/api\"\n{more}"
        );
        let deployment = deployment.open_to_loopback().and("connectors/kitchen.toml", &connector);
        let deployment =
            deployment.and("agents/slow.toml", SLOW).and("agents/club.toml", CLUB).and("agents/door.toml", DOOR);
        let served = serve(deployment);
        Self { slack, served, _runtime: runtime }
    }

    /// Tells of an event as Slack does; the status that answers it.
    fn tell(&self, event: &Value) -> u16 {
        let now = Timestamp::now().as_second();
        post(&self.served, SLACK_SECRET, now, &slack_event(event))
    }

    /// Somebody mentions the app in a channel.
    fn mention(&self, ts: &str, text: &str) {
        let text = format!("<@UBOT> {text}");
        let event = json!({"type": "app_mention", "channel": "C1", "user": "U1", "text": text, "ts": ts});
        assert_eq!(self.tell(&event), 200);
    }

    /// Somebody replies in the thread of `root`.
    fn reply(&self, root: &str, ts: &str, text: &str) {
        let event = json!({
            "type": "message", "channel": "C1", "channel_type": "channel", "user": "U1", "text": text, "ts": ts,
            "thread_ts": root,
        });
        assert_eq!(self.tell(&event), 200);
    }

    /// The message of this number, once it holds these words.
    #[track_caller]
    fn answer(&self, number: usize, words: &str) -> SlackMessage {
        within(&format!("message {number} says {words}"), || {
            self.slack.messages().get(number).filter(|message| text(message).contains(words)).cloned()
        })
    }
}

fn serve(deployment: Deployment) -> Served {
    deployment.serve_with(&FREE_PORTS, &[("SECRET", SLACK_SECRET), ("TOKEN", SLACK_TOKEN)])
}

fn post(served: &Served, secret: &str, time: i64, body: &str) -> u16 {
    let signature = format!("x-slack-signature: {}", slack_signature(secret, time, body));
    let time = format!("x-slack-request-timestamp: {time}");
    let kind = "content-type: application/json";
    served.curl(PATH, &["-X", "POST", "-H", &signature, "-H", &time, "-H", kind, "--data-binary", body]).status
}

fn text(message: &SlackMessage) -> String {
    message.fields["text"].as_str().unwrap_or_default().to_owned()
}

fn events_of(served: &Served) -> usize {
    let metrics = served.operator("/metrics").text();
    metrics.lines().filter(|line| line.contains("via=\"slack\"")).count()
}

#[test]
fn an_agent_answers_in_the_thread_which_stays_with_it_until_another_is_mentioned() {
    let workspace = Workspace::open();
    workspace.mention("1.1", "something with chickpeas");
    let first = workspace.answer(0, "hickpea");
    assert_eq!((first.method.as_str(), &first.fields["thread_ts"]), ("chat.postMessage", &json!("1.1")));
    // The same message is told of twice: as a mention, and as a message of the channel.
    let again = json!({
        "type": "message", "channel": "C1", "channel_type": "channel", "user": "U1",
        "text": "<@UBOT> something with chickpeas", "ts": "1.1",
    });
    assert_eq!(workspace.tell(&again), 200);
    workspace.reply("1.1", "1.2", "with lemon?");
    workspace.answer(1, "");
    // What others tell each other is not for it, nor is a thread that it is not in, nor what programs say.
    workspace.reply("1.1", "1.3", "<@U2> shall we?");
    workspace.reply("7.7", "7.8", "anybody here?");
    let program = json!({"type": "message", "channel": "C1", "bot_id": "B2", "text": "<@UBOT> hi", "ts": "8.1"});
    assert_eq!(workspace.tell(&program), 200);
    workspace.reply("1.1", "1.4", "<@UBOT> @echo do you know *what* I said &lt;before&gt;?");
    let echo = workspace.answer(2, "do you know");
    assert!(text(&echo).contains("&lt;before&gt;"), "{echo:?}");
    workspace.reply("1.1", "1.5", "and you again");
    workspace.answer(3, "and you again");
    // Nobody of that name: the person is told who is here, and nobody else.
    workspace.reply("1.1", "1.6", "@nobody hello");
    let nobody = workspace.answer(4, "Nobody here is called @nobody");
    assert_eq!((nobody.method.as_str(), &nobody.fields["user"]), ("chat.postEphemeral", &json!("U1")));
    let direct = json!({"type": "message", "channel": "D1", "channel_type": "im", "user": "U1", "text": "@echo hi you", "ts": "2.1"});
    assert_eq!(workspace.tell(&direct), 200);
    let direct = workspace.answer(5, "hi you");
    assert!(direct.fields["thread_ts"].is_null() && direct.fields["channel"] == "D1", "{direct:?}");
    assert_eq!(workspace.slack.messages().len(), 6);
    // Where to sign in is for who asked alone.
    workspace.mention("9.1", "@door hello");
    let wanted = workspace.answer(6, "Sign in at");
    assert_eq!((wanted.method.as_str(), &wanted.fields["user"]), ("chat.postEphemeral", &json!("U1")));
}

#[test]
fn a_refusal_has_a_button_whose_page_is_finished_and_its_answer_comes_into_the_thread() {
    let workspace = Workspace::open();
    workspace.mention("1.1", "@club What is the secret?");
    let refusal = workspace.answer(0, "Bitte stimmen Sie zu.");
    assert_eq!((refusal.method.as_str(), &refusal.fields["user"]), ("chat.postEphemeral", &json!("U1")));
    assert_eq!(refusal.fields["blocks"][0]["text"]["verbatim"], true, "names in it are not linked");
    let button = &refusal.fields["blocks"][1]["elements"][0];
    assert_eq!(button["text"]["text"], "Zustimmen");
    let url = button["url"].as_str().unwrap();
    let path = &url[url.find("/consent/").unwrap()..];
    let page = workspace.served.curl(path, &["-H", "Accept: text/html"]).with_status(200).text();
    assert!(page.contains("I will not tell anybody."), "{page}");
    let (served, own_page) = (&workspace.served, ["-H", "Accept: text/html", "-H", "Sec-Fetch-Site: same-origin"]);
    let token = page.split("name=\"token\" value=\"").nth(1).map(|rest| rest.split('"').next().unwrap());
    let token = format!("token={}", token.unwrap_or_default());
    let decided = [&own_page[..], &["--data-urlencode", &token, "-d", "decision=accept"]].concat();
    served.curl(path, &decided).with_status(303);
    let answer = workspace.answer(1, "What is the secret?");
    assert_eq!((answer.method.as_str(), &answer.fields["thread_ts"]), ("chat.postMessage", &json!("1.1")));
    // The button is pressed: Slack tells of that, too.
    let body = "payload=%7B%22type%22%3A%22block_actions%22%7D";
    let now = Timestamp::now().as_second();
    let signature = format!("x-slack-signature: {}", slack_signature(SLACK_SECRET, now, body));
    let time = format!("x-slack-request-timestamp: {now}");
    served.curl(PATH, &["-X", "POST", "-H", &signature, "-H", &time, "--data-binary", body]).with_status(200);
    let state = path.rsplit('/').next().unwrap().to_owned();
    let Workspace { served, slack, .. } = workspace;
    served.signal(nix::sys::signal::Signal::SIGTERM);
    let (_, log, _) = served.ended();
    assert!(!log.contains(&state) && !log.contains(SLACK_TOKEN), "{log}");
    assert_eq!(slack.messages().len(), 2);
}

#[test]
fn a_daemon_that_is_killed_between_acknowledgement_and_answer_answers_once() {
    let mut workspace = Workspace::open();
    workspace.mention("1.1", "@slow hello");
    // Its words are shown while they are written.
    workspace.answer(0, "Well.");
    workspace.served = serve(workspace.served.killed());
    let answer = workspace.answer(0, "Done.");
    assert_eq!(text(&answer).matches("Done.").count(), 1);
    // Slack did not hear the acknowledgement, and tells of it again.
    workspace.mention("1.1", "@slow hello");
    // Killed between an answer and its message: Slack is away, then comes back.
    (0..3).for_each(|_| workspace.slack.fail("chat.postMessage", 503));
    workspace.mention("2.1", "@echo here I am");
    within("it is tried", || (workspace.slack.books.lock().faults.len() < 3).then_some(()));
    workspace.slack.books.lock().faults.clear();
    workspace.served = serve(workspace.served.killed());
    workspace.answer(1, "here I am");
    assert_eq!(workspace.slack.messages().len(), 2);
}

#[test]
fn forged_and_replayed_events_reach_no_agent() {
    let workspace = Workspace::open();
    let now = Timestamp::now().as_second();
    let of = |ts: &str| {
        slack_event(&json!({"type": "app_mention", "channel": "C1", "user": "U1", "text": "@echo hi", "ts": ts}))
    };
    for number in 0..20 {
        assert_eq!(post(&workspace.served, "another secret", now, &of(&format!("{number}.1"))), 401);
    }
    // Signed by Slack, and too long ago.
    assert_eq!(post(&workspace.served, SLACK_SECRET, now - 301, &of("30.1")), 401);
    assert_eq!(workspace.served.curl(PATH, &["-X", "POST", "-d", &of("31.1")]).status, 401);
    assert_eq!(workspace.served.curl("/connectors/slack/nowhere", &["-X", "POST", "-d", "{}"]).status, 404);
    assert_eq!(events_of(&workspace.served), 0);
    // One event, forty times at once.
    thread::scope(|scope| {
        for _ in 0..40 {
            // Slack sends again what is put off, and finds it done.
            scope.spawn(|| assert!([200, 503].contains(&post(&workspace.served, SLACK_SECRET, now, &of("40.1")))));
        }
    });
    assert_eq!(post(&workspace.served, SLACK_SECRET, now, &of("40.1")), 200);
    workspace.answer(0, "hi");
    workspace.mention("41.1", "@echo the last one");
    workspace.answer(1, "the last one");
    assert_eq!(workspace.slack.messages().len(), 2);
}

#[test]
fn edits_deletions_files_and_long_answers_are_those_of_slack() {
    let workspace = Workspace::open();
    workspace.mention("1.1", "@echo one");
    let answer = workspace.answer(0, "one");
    let edit = |text: &str| {
        json!({
            "type": "message", "subtype": "message_changed", "channel": "C1", "channel_type": "channel", "ts": "1.9",
            "message": {"type": "message", "user": "U1", "text": format!("<@UBOT> @echo {text}"), "ts": "1.1"},
        })
    };
    // An edit that changes nothing, such as a preview of a link.
    assert_eq!(workspace.tell(&edit("one")), 200);
    // The words of an edit mention nobody either.
    assert_eq!(workspace.tell(&edit("two for @channel")), 200);
    assert_eq!(workspace.answer(0, "two for @channel").ts, answer.ts);
    // Back, and forth again.
    for words in ["one", "two for @channel"] {
        assert_eq!(workspace.tell(&edit(words)), 200);
        assert_eq!(workspace.answer(0, words).ts, answer.ts);
    }
    assert_eq!(workspace.tell(&deletion("1.1")), 200);
    within("the answer is gone", || workspace.slack.messages().is_empty().then_some(()));

    let url = workspace.slack.share("soup.txt", b"water and salt");
    let file =
        json!({"id": "F9", "name": "soup.txt", "mimetype": "text/plain", "size": 14, "url_private_download": url});
    let foreign = json!({"id": "F8", "name": "x.txt", "mimetype": "text/plain", "size": 1, "url_private": "https://evil.example/x"});
    let with_files = json!({
        "type": "message", "subtype": "file_share", "channel": "D1", "channel_type": "im", "user": "U1", "ts": "3.1",
        "text": "@echo look", "files": [file, foreign],
    });
    assert_eq!(workspace.tell(&with_files), 200);
    workspace.answer(0, "The file x.txt could not be handed on");
    let (name, bytes, fields) = within("the file comes back", || workspace.slack.books.lock().files.first().cloned());
    assert_eq!(
        (name.as_str(), bytes.as_ref(), &fields["channel_id"]),
        ("soup.txt", &b"water and salt"[..], &json!("D1"))
    );

    // Slack wants to be asked again later, once; the answer comes, in two messages, parted between paragraphs.
    workspace.slack.fail("chat.postMessage", 429);
    let paragraph = "word ".repeat(500);
    workspace.mention("4.1", &format!("@echo {paragraph}\n\n{paragraph}"));
    let first = workspace.answer(1, "word");
    workspace.answer(2, "word");
    assert!(text(&first).chars().count() <= 3_900);
    assert_eq!(workspace.slack.messages().len(), 3);
}

/// What Slack tells when the message `ts` of a channel is deleted.
fn deletion(ts: &str) -> Value {
    json!({
        "type": "message", "subtype": "message_deleted", "channel": "C1", "channel_type": "channel", "ts": "9.95",
        "deleted_ts": ts, "previous_message": {"type": "message", "user": "U1", "text": "x", "ts": ts},
    })
}

#[test]
fn a_question_that_is_deleted_while_its_answer_waits_for_slack_is_not_answered() {
    let workspace = Workspace::open();
    workspace.slack.fail("chat.postMessage", 429);
    workspace.mention("5.1", "@echo never mind");
    within("it is tried", || workspace.slack.books.lock().faults.is_empty().then_some(()));
    assert_eq!(workspace.tell(&deletion("5.1")), 200);
    // Waits as long, and so is sent after it.
    workspace.slack.fail("chat.postMessage", 429);
    workspace.mention("6.1", "@echo but this");
    workspace.answer(0, "but this");
    assert_eq!(workspace.slack.messages().len(), 1);
}

#[test]
fn a_connector_is_checked_and_its_credentials_are_tried() {
    let workspace = Workspace::open();
    let deployment = &workspace.served.deployment;
    let variables = [("SECRET", SLACK_SECRET.to_owned()), ("TOKEN", SLACK_TOKEN.to_owned())];
    let said = deployment.run_with("check", [deployment.path().to_str().unwrap(), "--connect"], &variables).fine();
    assert!(said.contains("connectors/kitchen.toml: cook in Kitchen"), "{said}");
    let wrong = [("SECRET", SLACK_SECRET.to_owned()), ("TOKEN", "xoxb-wrong".to_owned())];
    let said = deployment.run_with("check", [deployment.path().to_str().unwrap(), "--connect"], &wrong);
    assert!(said.code == Some(1) && format!("{said:?}").contains("invalid_auth"), "{said:?}");
    let empty = Deployment::gatehouse();
    empty.write("connectors/a.toml", "kind = \"smoke\"\n");
    empty.write(
        "connectors/b.toml",
        "kind = \"slack\"\nsigning_secret = \"\"\nbot_token = \"x\"\nagents = [\"ghost\"]\n",
    );
    let nobody = "kind = \"slack\"\nsigning_secret = \"0123456789abcdef\"\nbot_token = \"xoxb-1\"\nagents = []\n";
    empty.write("connectors/c.toml", nobody);
    let said = empty.run("check", [empty.path().to_str().unwrap()]).failed(1);
    for piece in [
        "unknown kind `smoke` (known: slack, telegram, discord, matrix)",
        "connectors/b.toml",
        "`signing_secret` is empty",
        "xoxb-",
        "connectors/c.toml",
        "`agents` is empty",
    ] {
        assert!(said.contains(piece), "{piece}: {said}");
    }
    let folder = deployment.path().to_str().unwrap();
    let steps = deployment.run_with("connect", ["slack", folder, "--name", "team"], &variables).fine();
    assert!(steps.contains("/connectors/slack/team") && steps.contains("app_mentions:read"), "{steps}");
}

#[test]
fn the_operator_sees_what_comes_what_is_refused_and_what_waits_and_never_the_words() {
    let deployment = Deployment::kitchen().with("admin", &format!("token = \"{OPERATOR_TOKEN}\""));
    let workspace = Workspace::of(deployment, "agents = [\"echo\", \"slow\"]\n");
    let served = &workspace.served;
    let chat = || api(served, "/chats", &[]).with_status(200).json();
    assert_eq!(
        chat()["chats"][0],
        json!({
            "platform": "slack", "name": "kitchen", "agents": ["echo", "slow"], "last_event_at": null, "taken": 0,
            "refused": 0, "last_refusal": null, "last_refusal_at": null,
        })
    );
    let now = Timestamp::now().as_second();
    for number in 0..3 {
        assert_eq!(post(served, "another secret", now, &slack_event(&json!({"ts": number}))), 401);
    }
    assert_eq!(post(served, SLACK_SECRET, now, "{"), 400);
    workspace.mention("1.1", "@echo a word that nobody else reads");
    workspace.answer(0, "a word");
    workspace.mention("1.1", "@echo a word that nobody else reads");
    let seen = chat();
    let of = &seen["chats"][0];
    assert_eq!((&of["taken"], &of["refused"], &of["last_refusal"]), (&json!(1), &json!(4), &json!("malformed")));
    assert!(of["last_event_at"].is_string(), "{seen}");
    assert_eq!((&seen["threads"][0]["agent"], &seen["threads"][0]["owner"]), (&json!("echo"), &Value::Null));
    // It is away: an answer waits.
    (0..20).for_each(|_| workspace.slack.fail("chat.postMessage", 503));
    workspace.mention("2.1", "@echo a word that nobody else reads");
    let waits = || Some(chat()).filter(|seen| seen["platforms"][0]["failing"] == 1);
    let seen = within("an answer waits", waits);
    assert!(!seen.to_string().contains("nobody else reads"), "{seen}");
    let metrics = served.operator("/metrics").text();
    for (outcome, count) in [("forged", 3), ("malformed", 1), ("taken", 2), ("repeated", 1)] {
        let line = format!("forecourt_platform_events_total{{platform=\"slack\",outcome=\"{outcome}\"}} {count}\n");
        assert!(metrics.contains(&line), "{line}: {metrics}");
    }
    let line = "forecourt_platform_answers_total{platform=\"slack\",kind=\"answer\",outcome=\"delivered\"} 1\n";
    assert!(metrics.contains(line) && metrics.contains("forecourt_platform_answer_seconds_count"), "{metrics}");
    let words = served.deployment.run("admin", ["chats"]).fine();
    for piece in ["kitchen", "echo, slow", "malformed", "GIVEN UP"] {
        assert!(words.contains(piece), "{piece}: {words}");
    }
}
