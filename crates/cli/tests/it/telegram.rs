//! Agents in Telegram through the whole program: events with the secret of the webhook, answers to a double of the Bot
//! API.

use forecourt_testkit::{TELEGRAM_BOT, TELEGRAM_TOKEN, TelegramDouble, TelegramMessage};
use serde_json::{Value, json};

use crate::chat_agents::CLUB;
use crate::support::{Deployment, FREE_PORTS, Served, within};

const SECRET: &str = "a-secret-of-the-webhook";
const PATH: &str = "/connectors/telegram/kitchen";

/// A bot, and a deployment whose agents it stands for.
struct Chats {
    telegram: TelegramDouble,
    served: Served,
    /// On which the double answers.
    _runtime: tokio::runtime::Runtime,
}

impl Chats {
    fn open() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let telegram = TelegramDouble::default();
        let origin = format!("http://{}", runtime.block_on(telegram.start()));
        let connector = format!(
            "kind = \"telegram\"\nusername = \"{TELEGRAM_BOT}\"\nbot_token = \"${{TOKEN}}\"\n\
             webhook_secret = \"${{SECRET}}\"\napi = \"{origin}\"\nagent = \"echo\"\n"
        );
        let deployment = Deployment::gatehouse().open_to_loopback().and("connectors/kitchen.toml", &connector);
        let served = serve(deployment.and("agents/club.toml", CLUB));
        Self { telegram, served, _runtime: runtime }
    }

    /// Tells of a message as Telegram does; the status that answers it.
    fn tell(&self, kind: &str, message: Value) -> u16 {
        let mut event = json!({"update_id": 1});
        event[kind] = message;
        post(&self.served, SECRET, &event)
    }

    #[track_caller]
    fn hears(&self, message: Value) {
        assert_eq!(self.tell("message", message), 200);
    }

    /// The message of this number, once it holds these words.
    #[track_caller]
    fn answer(&self, number: usize, words: &str) -> TelegramMessage {
        within(&format!("message {number} says {words}"), || {
            let messages = self.telegram.messages();
            messages.get(number).filter(|message| text(message).contains(words)).cloned()
        })
    }
}

fn serve(deployment: Deployment) -> Served {
    deployment.serve_with(&FREE_PORTS, &[("SECRET", SECRET), ("TOKEN", TELEGRAM_TOKEN)])
}

fn post(served: &Served, secret: &str, event: &Value) -> u16 {
    let secret = format!("x-telegram-bot-api-secret-token: {secret}");
    let (kind, body) = ("content-type: application/json", event.to_string());
    served.curl(PATH, &["-X", "POST", "-H", &secret, "-H", kind, "--data-binary", &body]).status
}

fn text(message: &TelegramMessage) -> String {
    message.fields["text"].as_str().unwrap_or_default().to_owned()
}

/// A message of Ann: to the bot alone, or in a group.
fn ann(id: i64, is_direct: bool, more: Value) -> Value {
    let chat = if is_direct { json!({"id": 5, "type": "private"}) } else { json!({"id": -100, "type": "supergroup"}) };
    let from = json!({"id": 5, "is_bot": false, "first_name": "Ann", "language_code": "de"});
    let mut message = json!({"message_id": id, "date": 1, "chat": chat, "from": from});
    message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    message
}

fn mention(text: &str) -> Value {
    let length = TELEGRAM_BOT.len() + 1;
    json!({"text": format!("@{TELEGRAM_BOT} {text}"), "entities": [{"type": "mention", "offset": 0, "length": length}]})
}

#[test]
fn an_agent_answers_directly_and_in_groups_where_it_is_meant() {
    let chats = Chats::open();
    chats.hears(ann(1, true, json!({"text": "hi *there* <b>"})));
    let first = chats.answer(0, "hi <i>there</i> &lt;b&gt;");
    assert_eq!((&first.fields["chat_id"], &first.fields["reply_parameters"]), (&json!("5"), &Value::Null));
    // Sent again, since its acknowledgement was not heard.
    chats.hears(ann(1, true, json!({"text": "hi *there* <b>"})));
    chats.hears(ann(2, false, json!({"text": "what others say"})));
    chats.hears(ann(3, false, mention("soup?")));
    let group = chats.answer(1, "soup?");
    assert_eq!(
        (&group.fields["chat_id"], &group.fields["reply_parameters"]["message_id"]),
        (&json!("-100"), &json!(3))
    );
    let to_us = json!({"message_id": group.id, "from": {"id": 42, "is_bot": true, "first_name": "Cook"}});
    chats.hears(ann(4, false, json!({"text": "and salt?", "reply_to_message": to_us})));
    chats.answer(2, "and salt?");
    chats.hears(ann(
        5,
        true,
        json!({"text": "/nobody hello", "entities": [{"type": "bot_command", "offset": 0, "length": 7}]}),
    ));
    chats.answer(3, "Nobody here is called");
    // An edit replaces its answer, and Telegram is waited for as long as it says.
    chats.telegram.books.lock().faults.push(("editMessageText".to_owned(), 429));
    assert_eq!(chats.tell("edited_message", ann(1, true, json!({"text": "hi you"}))), 200);
    assert_eq!(chats.answer(0, "hi you").id, first.id);
    // A file comes back as a document, and a long answer in two messages.
    chats.telegram.share("F1", b"water and salt");
    let file = json!({"file_id": "F1", "file_name": "soup.txt", "mime_type": "text/plain", "file_size": 14});
    chats.hears(ann(6, true, json!({"caption": "look", "document": file})));
    chats.answer(4, "look");
    let document = within("the file comes back", || chats.telegram.books.lock().documents.first().cloned());
    let document = String::from_utf8_lossy(&document).into_owned();
    assert!(document.contains("filename=\"soup.txt\"") && document.contains("water and salt"), "{document}");
    let paragraph = "<word> ".repeat(300);
    chats.hears(ann(7, true, json!({"text": format!("{paragraph}\n\n{paragraph}")})));
    chats.answer(6, "word");
    assert_eq!(chats.telegram.messages().len(), 7);
}

#[test]
fn a_refusal_goes_to_the_person_and_its_answer_to_where_it_was_asked() {
    let chats = Chats::open();
    chats.telegram.books.lock().strangers.insert("5".to_owned());
    chats.hears(ann(1, false, mention("@club What is the secret?")));
    let told = chats.answer(0, "Bitte stimmen Sie zu.");
    let button = &told.fields["reply_markup"]["inline_keyboard"][0][0];
    assert_eq!(
        (&told.fields["chat_id"], &button["url"]),
        (&json!("-100"), &json!(format!("https://t.me/{TELEGRAM_BOT}")))
    );
    // Now the person has opened the chat.
    chats.telegram.books.lock().strangers.clear();
    chats.hears(ann(2, false, mention("@club What is the secret?")));
    let refusal = chats.answer(1, "Bitte stimmen Sie zu.");
    assert_eq!(refusal.fields["chat_id"], "5");
    let button = &refusal.fields["reply_markup"]["inline_keyboard"][0][0];
    assert_eq!(button["text"], "Zustimmen");
    let url = button["url"].as_str().unwrap();
    let path = &url[url.find("/consent/").unwrap()..];
    let own_page = ["-H", "Accept: text/html", "-H", "Sec-Fetch-Site: same-origin"];
    let page = chats.served.curl(path, &own_page).with_status(200).text();
    let token = page.split("name=\"token\" value=\"").nth(1).map(|rest| rest.split('"').next().unwrap());
    let token = format!("token={}", token.unwrap_or_default());
    let decided = [&own_page[..], &["--data-urlencode", &token, "-d", "decision=accept"]].concat();
    chats.served.curl(path, &decided).with_status(303);
    let answer = chats.answer(2, "What is the secret?");
    assert_eq!(
        (&answer.fields["chat_id"], &answer.fields["reply_parameters"]["message_id"]),
        (&json!("-100"), &json!(2))
    );
}

#[test]
fn events_without_the_secret_reach_no_agent_and_the_token_is_tried() {
    let chats = Chats::open();
    let event = json!({"update_id": 1, "message": ann(1, true, json!({"text": "hi"}))});
    for secret in ["", "another-secret-of-it", "a-secret-of-the-webhookx"] {
        assert_eq!(post(&chats.served, secret, &event), 401, "{secret}");
    }
    chats.hears(ann(2, true, json!({"text": "the only one"})));
    chats.answer(0, "the only one");
    assert_eq!(chats.telegram.messages().len(), 1);
    let deployment = &chats.served.deployment;
    let folder = deployment.path().to_str().unwrap();
    let variables = [("SECRET", SECRET.to_owned()), ("TOKEN", TELEGRAM_TOKEN.to_owned())];
    let said = deployment.run_with("check", [folder, "--connect"], &variables).fine();
    assert!(said.contains("connectors/kitchen.toml: @cook_bot"), "{said}");
    let steps = deployment.run_with("connect", ["telegram", folder, "--name", "team"], &variables).fine();
    assert!(steps.contains("/connectors/telegram/team") && steps.contains("setWebhook"), "{steps}");
}
