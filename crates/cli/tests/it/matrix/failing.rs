//! A homeserver that fails, is forged or sends again, as a double of it does.

use forecourt_testkit::{MATRIX_BOT, MATRIX_TOKEN, MatrixDouble, MatrixFault, MatrixMessage};
use serde_json::{Value, json};

use super::{HS_TOKEN, PATH, deployment, edit, in_thread, mention, text, with};
use crate::support::{FREE_PORTS, Served, within};
use crate::wire::Answer;

/// Bytes of a transaction, at most.
const TRANSACTION_BYTES_MAX: usize = 16 * 1024 * 1024;
const ROOM: &str = "!room:demo.test";
const DIRECT: &str = "!direct:demo.test";

/// A double, and a deployment that is its application service.
struct Village {
    homeserver: MatrixDouble,
    served: Served,
    /// On which the double answers.
    _runtime: tokio::runtime::Runtime,
}

impl Village {
    fn open() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let homeserver = MatrixDouble::default();
        let origin = format!("http://{}", runtime.block_on(homeserver.start()));
        homeserver.gather(ROOM, &["@ann:demo.test", "@bob:demo.test"]);
        homeserver.gather(DIRECT, &["@ann:demo.test"]);
        let variables = [("AS_TOKEN", MATRIX_TOKEN), ("HS_TOKEN", HS_TOKEN)];
        let served = deployment(&origin, "live = false\n").serve_with(&FREE_PORTS, &variables);
        Self { homeserver, served, _runtime: runtime }
    }

    /// Sends events in one transaction; the status that answers it.
    fn tell(&self, name: &str, events: &[Value]) -> u16 {
        transaction(&self.served, HS_TOKEN, name, events).status
    }

    /// The message of this number in a room, once it is there.
    #[track_caller]
    fn answer(&self, room: &str, number: usize, words: &str) -> MatrixMessage {
        within(&format!("message {number} says {words}"), || {
            let messages = self.homeserver.messages(room);
            messages.get(number).filter(|message| message.content.to_string().contains(words)).cloned()
        })
    }
}

/// Sends a transaction as a homeserver does.
pub(super) fn transaction(served: &Served, token: &str, name: &str, events: &[Value]) -> Answer {
    let body = json!({"events": events}).to_string();
    asked(served, "PUT", &format!("transactions/{name}"), &[&format!("authorization: Bearer {token}")], &body)
}

fn asked(served: &Served, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
    let mut arguments = vec!["-X", method, "-H", "content-type: application/json"];
    headers.iter().for_each(|header| arguments.extend(["-H", header]));
    if method != "GET" {
        arguments.extend(["--data-binary", body]);
    }
    served.curl(&format!("{PATH}/_matrix/app/v1/{path}"), &arguments)
}

fn message(id: &str, room: &str, content: Value) -> Value {
    json!({
        "type": "m.room.message", "event_id": id, "room_id": room, "sender": "@ann:demo.test", "content": content,
        "origin_server_ts": 1, "unsigned": {"age": 1},
    })
}

#[test]
fn forged_and_replayed_transactions_reach_no_agent_and_errors_are_those_of_matrix() {
    let village = Village::open();
    let served = &village.served;
    let event = message("$1", DIRECT, text("@echo forged"));
    for token in ["", "hs-another-0123456789abcdef", &HS_TOKEN[1..], MATRIX_TOKEN] {
        let refused = transaction(served, token, "1", std::slice::from_ref(&event)).with_status(401).json();
        assert_eq!(refused["errcode"], "M_UNAUTHORIZED", "{refused}");
    }
    // A token in the address stands in logs, and proves nothing.
    let body = json!({"events": [event]}).to_string();
    let in_query = format!("transactions/1?access_token={HS_TOKEN}");
    asked(served, "PUT", &in_query, &[], &body).with_status(401);
    let ours = format!("authorization: Bearer {HS_TOKEN}");
    asked(served, "PUT", "transactions/1", &[&ours, &ours], &body).with_status(401);
    let of = |method: &str, path: &str, body: &str| asked(served, method, path, &[&ours], body);
    assert_eq!(of("POST", "ping", "{\"transaction_id\":\"a\"}").with_status(200).json(), json!({}));
    assert_eq!(of("GET", "users/%40kitchen%3Ademo.test", "").with_status(200).json(), json!({}));
    for (method, path) in [("GET", "users/%40ann%3Ademo.test"), ("GET", "rooms/%23a%3Ademo.test"), ("POST", "nothing")]
    {
        assert_eq!(of(method, path, "{}").with_status(404).json()["errcode"], "M_NOT_FOUND", "{path}");
    }
    assert_eq!(of("PUT", "transactions/1", "{\"events\"").with_status(400).json()["errcode"], "M_NOT_JSON");
    let nowhere = served.curl("/connectors/matrix/nowhere/_matrix/app/v1/ping", &["-X", "POST", "-H", &ours]);
    assert_eq!(nowhere.with_status(404).json()["errcode"], "M_NOT_FOUND");

    // The same transaction, and the same event in another one; some that can't be read beside it.
    let odd = json!({"type": "m.room.message", "event_id": 7, "content": []});
    let events = [odd, message("$2", DIRECT, text("@echo the only one")), json!("x")];
    let answered = transaction(served, HS_TOKEN, "2", &events).with_status(200);
    assert_eq!(answered.json(), json!({}));
    assert_eq!((village.tell("2", &events), village.tell("3", &events)), (200, 200));
    village.answer(DIRECT, 0, "the only one");
    // Of others, of programs, and what the bot itself says.
    let mut of_bot = message("$4", DIRECT, text("@echo from the bot"));
    of_bot["sender"] = json!(MATRIX_BOT);
    let notice = message("$5", DIRECT, json!({"msgtype": "m.notice", "body": "@echo from a program"}));
    assert_eq!(village.tell("4", &[of_bot, notice, message("$6", DIRECT, text("@echo the last one"))]), 200);
    village.answer(DIRECT, 1, "the last one");
    assert_eq!(village.homeserver.messages(DIRECT).len(), 2);
}

#[test]
fn a_transaction_is_taken_up_to_its_bound_and_of_nobody_else_at_all() {
    let village = Village::open();
    let (served, ours) = (&village.served, format!("authorization: Bearer {HS_TOKEN}"));
    let sent = |bytes: usize, headers: &[&str]| {
        let body =
            format!("{{\"events\":[],\"more\":\"{}\"}}", "x".repeat(bytes - "{\"events\":[],\"more\":\"\"}".len()));
        assert_eq!(body.len(), bytes);
        served.deployment.write("transaction.json", &body);
        let file = format!("@{}", served.deployment.path().join("transaction.json").display());
        asked(served, "PUT", "transactions/1", headers, &file)
    };
    assert_eq!(sent(TRANSACTION_BYTES_MAX, &[&ours]).with_status(200).json(), json!({}));
    let larger = sent(TRANSACTION_BYTES_MAX + 1, &[&ours]).with_status(413);
    assert_eq!(larger.json()["errcode"], "M_TOO_LARGE");
    // Before any of it is read.
    assert_eq!(sent(TRANSACTION_BYTES_MAX + 1, &[]).with_status(401).json()["errcode"], "M_UNAUTHORIZED");
}

#[test]
fn a_homeserver_that_fails_is_asked_again_and_nothing_is_sent_twice() {
    let village = Village::open();
    let homeserver = &village.homeserver;
    // Too much at once, and then the answer to what was done is lost.
    homeserver.fail("send", MatrixFault::Status(429));
    homeserver.fail("send", MatrixFault::Lost);
    assert_eq!(village.tell("1", &[message("$1", ROOM, mention("@echo one"))]), 200);
    let answer = village.answer(ROOM, 0, "one");
    assert_eq!(answer.content["m.relates_to"]["event_id"], "$1");
    within("both faults", || homeserver.books.lock().faults.is_empty().then_some(()));
    // Who is in a room can't be asked: the events are to be sent again, and those that were done are not done twice.
    let unknown = "!unknown:demo.test";
    homeserver.gather(unknown, &["@ann:demo.test"]);
    homeserver.fail("members", MatrixFault::Status(503));
    let events = [message("$2", unknown, text("@echo two")), message("$3", DIRECT, text("@echo three"))];
    let again = transaction(&village.served, HS_TOKEN, "2", &events).with_status(503).json();
    assert_eq!(again["errcode"], "M_UNKNOWN");
    assert_eq!(village.tell("2", &events), 200);
    village.answer(unknown, 0, "two");
    village.answer(DIRECT, 0, "three");
    // A long answer, in messages that fit.
    let paragraph = "<wörd> ".repeat(300);
    let long = message("$4", DIRECT, text(&format!("@echo {paragraph}\n\n{paragraph}")));
    assert_eq!(village.tell("3", &[long]), 200);
    village.answer(DIRECT, 2, "wörd");
    // A room whose list of members is too long to be read is one with others.
    let (crowd, people) = ("!crowd:demo.test", (0..2_000).map(|at| format!("@u{at}:demo.test")));
    homeserver.gather(crowd, &people.collect::<Vec<_>>().iter().map(String::as_str).collect::<Vec<_>>());
    let asked = [message("$5", crowd, text("@echo for others")), message("$6", crowd, mention("@echo for us"))];
    assert_eq!(village.tell("4", &asked), 200);
    village.answer(crowd, 0, "for us");
    assert_eq!((homeserver.messages(ROOM).len(), homeserver.messages(unknown).len()), (1, 1));
    assert_eq!(homeserver.messages(DIRECT).len(), 3);
}

#[test]
fn edits_are_believed_of_who_wrote_the_message_alone() {
    let village = Village::open();
    let homeserver = &village.homeserver;
    let asked = message("$1", ROOM, mention("@echo one"));
    homeserver.books.lock().events.insert("$1".to_owned(), asked.clone());
    assert_eq!(village.tell("1", &[asked]), 200);
    village.answer(ROOM, 0, "one");
    let mut forged = message("$2", ROOM, edit("$1", mention("@echo forged")));
    forged["sender"] = json!("@bob:demo.test");
    // Of a message that nobody knows, and one that is not even edited.
    let of_nothing = message("$3", ROOM, edit("$nothing", mention("@echo nothing")));
    let no_words = message("$4", ROOM, with(text("x"), json!({"rel_type": "m.replace", "event_id": "$1"})));
    let fine = message("$5", ROOM, edit("$1", mention("@echo two")));
    assert_eq!(village.tell("2", &[forged, of_nothing, no_words, fine]), 200);
    let edited = village.answer(ROOM, 1, "two");
    assert_eq!(edited.content["m.relates_to"], json!({"rel_type": "m.replace", "event_id": "$message-0"}));
    assert_eq!(edited.content["m.new_content"]["body"], "two");
    // A thread that was there before goes on, and a redaction takes the answer back.
    assert_eq!(village.tell("3", &[message("$6", ROOM, in_thread("$1", "and salt?"))]), 200);
    village.answer(ROOM, 2, "and salt?");
    let redaction = json!({
        "type": "m.room.redaction", "event_id": "$7", "room_id": ROOM, "sender": "@ann:demo.test", "redacts": "$1",
        "content": {},
    });
    assert_eq!(village.tell("4", &[redaction]), 200);
    within("it is taken back", || (homeserver.books.lock().redacted == ["$message-1", "$message-0"]).then_some(()));
    assert_eq!(homeserver.messages(ROOM).len(), 3);
}

#[test]
fn a_file_is_had_from_an_older_homeserver_and_a_lost_room_is_made_again() {
    let village = Village::open();
    let books = || village.homeserver.books.lock();
    books().files.insert("soup".to_owned(), (b"water".to_vec().into(), true));
    let file = json!({"msgtype": "m.file", "body": "@echo look", "filename": "a.txt", "url": "mxc://demo.test/soup"});
    let foreign =
        json!({"msgtype": "m.file", "body": "@echo look", "filename": "b.txt", "url": "mxc://demo.test/../x"});
    assert_eq!(village.tell("1", &[message("$1", DIRECT, file), message("$2", DIRECT, foreign)]), 200);
    within("the second says so", || {
        let messages = village.homeserver.messages(DIRECT);
        messages.iter().any(|message| message.content.to_string().contains("b.txt could not")).then_some(())
    });
    assert_eq!(books().called.iter().filter(|call| *call == "GET media").count(), 2);
    within("the first comes back", || {
        let messages = village.homeserver.messages(DIRECT);
        messages.iter().any(|message| message.content["url"] == "mxc://demo.test/uploaded").then_some(())
    });
    // A link is for one person: it goes into a room that is made once.
    assert_eq!(village.tell("2", &[message("$3", ROOM, mention("@club one"))]), 200);
    village.answer("!room-2:demo.test", 0, "/consent/");
    village.answer(ROOM, 0, "I have written to you directly");
    assert_eq!(village.tell("3", &[message("$4", ROOM, mention("@club two"))]), 200);
    village.answer("!room-2:demo.test", 1, "/consent/");
    // Somebody came into it.
    village.homeserver.gather("!room-2:demo.test", &["@ann:demo.test", "@bob:demo.test"]);
    assert_eq!(village.tell("4", &[message("$5", ROOM, mention("@club three"))]), 200);
    village.answer("!room-3:demo.test", 0, "/consent/");
    // A room of two that anybody can come into is no place for it either.
    let open = "!open:demo.test";
    village.homeserver.gather(open, &["@ann:demo.test"]);
    books().open.push(open.to_owned());
    assert_eq!(village.tell("5", &[message("$6", open, text("@club four"))]), 200);
    village.answer("!room-3:demo.test", 1, "/consent/");
    village.answer(open, 0, "I have written to you directly");
    // Nor one of two into which somebody else may still come.
    let waiting = "!waiting:demo.test";
    village.homeserver.gather(waiting, &["@ann:demo.test"]);
    books().invited.insert(waiting.to_owned(), vec!["@bob:demo.test".to_owned()]);
    assert_eq!(village.tell("6", &[message("$7", waiting, text("@club five"))]), 200);
    village.answer("!room-3:demo.test", 2, "/consent/");
    village.answer(waiting, 0, "I have written to you directly");
    let in_room = village.homeserver.messages(ROOM);
    assert!(in_room.iter().all(|message| !message.content.to_string().contains("/consent/")), "{in_room:?}");
}

#[test]
fn an_answer_that_a_moderator_took_down_is_not_put_there_again() {
    let village = Village::open();
    let asked = message("$1", ROOM, mention("@echo one"));
    village.homeserver.books.lock().events.insert("$1".to_owned(), asked.clone());
    assert_eq!(village.tell("1", &[asked]), 200);
    let first = village.answer(ROOM, 0, "one");
    village.homeserver.books.lock().taken_down.insert(first.id, "@mod:demo.test".to_owned());
    assert_eq!(village.tell("2", &[message("$2", ROOM, edit("$1", mention("@echo two")))]), 200);
    // What is asked anew is answered, and nothing was before it.
    assert_eq!(village.tell("3", &[message("$3", ROOM, mention("@echo three"))]), 200);
    village.answer(ROOM, 1, "three");
    let asked_about = || village.homeserver.books.lock().called.iter().filter(|call| *call == "GET event").count();
    within("the answer was looked at before its edit", || (asked_about() >= 4).then_some(()));
    let said: Vec<String> = village.homeserver.messages(ROOM).iter().map(|it| it.content.to_string()).collect();
    assert!(said.len() == 2 && !said.iter().any(|words| words.contains("two")), "{said:?}");
}

#[test]
fn a_room_whose_making_was_not_answered_is_found_and_holds_up_nobody_else() {
    let village = Village::open();
    let made = || village.homeserver.books.lock().called.iter().filter(|call| *call == "POST create").count();
    village.homeserver.fail("create", MatrixFault::Lost);
    assert_eq!(village.tell("1", &[message("$1", ROOM, mention("@club one"))]), 200);
    within("a room is asked for", || (made() == 1).then_some(()));
    let room = "!room-2:demo.test";
    let invitation = json!({
        "type": "m.room.member", "event_id": "$2", "room_id": room, "sender": MATRIX_BOT, "origin_server_ts": 1,
        "state_key": "@ann:demo.test", "content": {"membership": "invite", "is_direct": true},
    });
    // Somebody else's says nothing about the rooms of the bot.
    let mut forged = invitation.clone();
    (forged["sender"], forged["room_id"]) = (json!("@bob:demo.test"), json!(ROOM));
    assert_eq!(village.tell("2", &[forged, invitation]), 200);
    village.answer(room, 0, "/consent/");
    assert_eq!(made(), 1);
    // One that is not answered at all: others have theirs meanwhile.
    village.homeserver.fail("create", MatrixFault::Hang);
    let of = |id: &str, who: &str| {
        let mut asked = message(id, ROOM, mention("@club two"));
        asked["sender"] = json!(who);
        asked
    };
    assert_eq!(village.tell("3", &[of("$4", "@carl:demo.test")]), 200);
    within("it hangs", || (made() == 2).then_some(()));
    assert_eq!(village.tell("4", &[of("$5", "@bob:demo.test")]), 200);
    village.answer("!room-3:demo.test", 0, "/consent/");
}
