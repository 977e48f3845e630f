//! Files of the deployment, changed on pages and by the API.

use std::sync::Arc;

use forecourt_admin::editor::{
    DeploymentEditor, EditError, EditProblem, EditReport, EditedBy, HouseVersion, TextChange, Texts, changed_files,
    state_of,
};
use forecourt_core::Timestamp;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::Method;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::desk::{Console, TOKEN};

/// Files in memory. A text with "wrong" in it is wrong.
pub(crate) struct MemoryEditor(Mutex<Vec<(HouseVersion, Texts)>>);

impl Default for MemoryEditor {
    fn default() -> Self {
        let texts = [("agents/a.toml", "name = \"<b>A</b>\"\n"), ("forecourt.toml", "domain = \"a.example\"\n")];
        let texts: Texts = texts.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
        let first = Self(Mutex::default());
        first.keep(texts, EditedBy { who: "start".to_owned(), reason: None });
        first
    }
}

impl MemoryEditor {
    fn now(&self) -> Texts {
        self.0.lock().last().map(|(_, texts)| texts.clone()).unwrap_or_default()
    }

    fn keep(&self, texts: Texts, by: EditedBy) {
        let changed = changed_files(&self.now(), &texts);
        let number = self.0.lock().len() as u64 + 1;
        let version = HouseVersion { number, at: Timestamp::UNIX_EPOCH, by: by.who, reason: by.reason, changed };
        self.0.lock().push((version, texts));
    }

    fn looked_at(&self, change: &TextChange) -> Result<EditReport, EditError> {
        let before = self.now();
        if change.based_on.as_ref().is_some_and(|based_on| *based_on != state_of(&before)) {
            return Err(EditError::Stale);
        }
        let texts = change.made_to(&before);
        let wrong = texts.iter().filter(|(_, text)| text.contains("wrong"));
        let problem = |(file, _): (&String, &String)| EditProblem {
            file: file.clone(),
            line: Some(1),
            message: "`wrong` is wrong".to_owned(),
            hint: Some("write what is right".to_owned()),
        };
        Ok(EditReport { problems: wrong.map(problem).collect(), before, texts })
    }
}

impl DeploymentEditor for MemoryEditor {
    fn texts(&self) -> BoxFuture<'static, Result<Texts, EditError>> {
        std::future::ready(Ok(self.now())).boxed()
    }

    fn check(&self, change: TextChange) -> BoxFuture<'static, Result<EditReport, EditError>> {
        std::future::ready(self.looked_at(&change)).boxed()
    }

    fn apply(&self, change: TextChange, by: EditedBy) -> BoxFuture<'static, Result<EditReport, EditError>> {
        let report = self.looked_at(&change);
        if let Ok(EditReport { problems, before, texts }) = &report
            && problems.is_empty()
            && texts != before
        {
            self.keep(texts.clone(), by);
        }
        std::future::ready(report).boxed()
    }

    fn versions(&self) -> BoxFuture<'static, Result<Vec<HouseVersion>, EditError>> {
        let all = self.0.lock().iter().rev().map(|(version, _)| version.clone()).collect();
        std::future::ready(Ok(all)).boxed()
    }

    fn version(&self, number: u64) -> BoxFuture<'static, Result<(HouseVersion, Texts), EditError>> {
        let found = self.0.lock().iter().find(|(version, _)| version.number == number).cloned();
        std::future::ready(found.ok_or(EditError::NoVersion(number))).boxed()
    }
}

async fn call(console: &Console, method: Method, path: &str, body: Value) -> (u16, Value) {
    let bearer = format!("Bearer {TOKEN}");
    let fields = [(AUTHORIZATION, bearer.as_str()), (CONTENT_TYPE, "application/json")];
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let answer = console.send(method, &format!("/api/v1{path}"), &fields, &body).await;
    (answer.status, serde_json::from_str(&answer.body).unwrap_or_default())
}

#[tokio::test]
async fn a_change_is_checked_applied_written_down_and_put_back() {
    let console = Console::open().await;
    let (_, files) = call(&console, Method::GET, "/deployment", Value::Null).await;
    assert_eq!(files["files"][1], json!({"name": "forecourt.toml", "text": "domain = \"a.example\"\n"}));
    let edit = |text: Value, state: &Value| json!({"change": {"files": {"agents/a.toml": text}, "based_on": state}, "reason": "new name"});
    let (_, checked) =
        call(&console, Method::POST, "/deployment/check", edit("wrong = 1".into(), &files["state"])).await;
    assert_eq!((&checked["is_applied"], &checked["problems"][0]["line"]), (&json!(false), &json!(1)));
    let wrong = call(&console, Method::POST, "/deployment/apply", edit("wrong = 1".into(), &files["state"])).await.1;
    assert_eq!((&wrong["is_applied"], wrong["problems"].as_array().unwrap().len()), (&json!(false), 1));
    let right = edit("name = \"B\"\n".into(), &files["state"]);
    let (_, applied) = call(&console, Method::POST, "/deployment/apply", right.clone()).await;
    assert_eq!(applied["is_applied"], true, "{applied}");
    assert_eq!(applied["differences"][0]["lines"], "@@ -1 +1 @@\n-name = \"<b>A</b>\"\n+name = \"B\"\n");
    let (status, stale) = call(&console, Method::POST, "/deployment/apply", right).await;
    assert_eq!((status, &stale["code"]), (409, &json!("conflict")), "{stale}");
    let (_, version) = call(&console, Method::GET, "/deployment/versions/1", Value::Null).await;
    assert_eq!(
        (&version["version"]["by"], &version["differences"][0]["file"]),
        (&json!("start"), &json!("agents/a.toml"))
    );
    let (_, back) = call(&console, Method::POST, "/deployment/versions/1/put-back", json!({})).await;
    assert_eq!(back["is_applied"], true, "{back}");
    for (status, path) in [(404, "/deployment/versions/9"), (404, "/deployment/versions/x")] {
        assert_eq!(call(&console, Method::GET, path, Value::Null).await.0, status, "{path}");
    }
    let (_, told) = call(&console, Method::GET, "/actions", Value::Null).await;
    let told: Vec<_> = told["actions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|action| {
            ["by", "action", "target", "reason", "outcome"]
                .map(|name| action[name].as_str().unwrap_or_default().to_owned())
        })
        .collect();
    assert_eq!(told[0], ["operator", "put back", "agents/a.toml", "back to version 1", "done"]);
    assert_eq!(told[1], ["operator", "edit", "agents/a.toml", "new name", "refused"]);
    assert_eq!(told[2], ["operator", "edit", "agents/a.toml", "new name", "done"]);
    assert_eq!(told[3][4], "refused");
}

#[tokio::test]
async fn a_page_keeps_what_was_written_beside_what_is_wrong_with_it() {
    let console = Console::open().await;
    let chief = console.log_in(&["chiefs"]).await;
    let csrf = console.csrf(&chief).await;
    let list = console.get("/console/deployment", &[&chief]).await.body;
    assert!(list.contains("href=\"/console/edit?file=agents%2Fa.toml\"") && list.contains("start"), "{list}");
    let opened = console.get("/console/edit?file=agents%2Fa.toml", &[&chief]).await.body;
    assert!(opened.contains("name = &#34;&#60;b&#62;A&#60;/b&#62;&#34;"), "{opened}");
    let state = opened.split("name=\"state\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let sent = async |does: &str, text: &str| {
        let form = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs([("csrf", csrf.as_str()), ("file", "agents/a.toml"), ("text", text), ("state", state)])
            .append_pair("do", does)
            .finish();
        console.form("/console/edit", &[&chief], &form).await.body
    };
    let wrong = sent("apply", "wrong = 1\r\nkept = 2\r\n").await;
    assert!(wrong.contains("nothing has changed") && wrong.contains("kept = 2"), "{wrong}");
    assert!(wrong.contains("write what is right") && wrong.contains("<ins>+wrong = 1</ins>"), "{wrong}");
    assert!(sent("check", "name = 'B'").await.contains("It is not served yet."));
    assert!(sent("check", "name = \"<b>A</b>\"\r\n").await.contains("Nothing differs"), "ends of lines are no change");
    assert!(sent("apply", "name = 'B'").await.contains("It is served now."));
    let stale = sent("apply", "name = 'C'").await;
    assert!(stale.contains("The files have changed since") && stale.contains("name = &#39;C&#39;"), "{stale}");
    assert!(stale.contains("<del>-name = &#39;B&#39;</del>"), "what others changed is seen: {stale}");
}

#[tokio::test]
async fn where_files_are_not_changed_from_here_it_is_said_what_turns_that_on() {
    let console = Console::open_with(None).await;
    let (status, told) = call(&console, Method::GET, "/deployment", Value::Null).await;
    assert_eq!(status, 404);
    assert!(told["hint"].as_str().unwrap().contains("`editor = true` under [admin]"), "{told}");
    let edit = json!({"change": {"files": {"agents/a.toml": "x"}}});
    assert_eq!(call(&console, Method::POST, "/deployment/apply", edit).await.0, 404);
    let chief = console.log_in(&["chiefs"]).await;
    let page = console.get("/console/deployment", &[&chief]).await;
    assert!(page.status == 200 && page.body.contains("editor = true"), "{page:?}");
    let file = Arc::new(MemoryEditor::default());
    let viewer = Console::open_with(Some(file)).await;
    let staff = viewer.log_in(&["staff"]).await;
    for path in ["/console/deployment", "/console/edit?file=forecourt.toml", "/console/deployment/versions/1"] {
        let page = viewer.get(path, &[&staff]).await.body;
        assert!(
            page.contains("is a viewer") && !page.contains("a.example\"") && !page.contains("name=\"text\""),
            "{path}: {page}"
        );
    }
}
