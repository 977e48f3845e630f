//! What people ask, as the operator sees it at `/questions`: as a page or as JSON.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use forecourt_core::{Clock, SystemClock};
use forecourt_pages::escape;
use forecourt_questions::{QuestionCount, QuestionLog, QuestionReport, ResultCount};
use http::{HeaderMap, StatusCode, header};
use serde_json::json;

use crate::live::LiveHouse;

/// Questions of each list that the operator is shown.
const SHOWN: usize = 100;

/// `GET /questions`, to be put behind the admin token.
pub(super) fn routes(live: Arc<LiveHouse>) -> Router {
    Router::new().route("/questions", get(report)).with_state(live)
}

async fn report(State(live): State<Arc<LiveHouse>>, headers: HeaderMap) -> Response {
    let log = live.now().and_then(|house| house.services.get::<QuestionLog>());
    let Some(log) = log else {
        let why = "no questions are kept: set `log = true` under [questions] in forecourt.toml";
        return (StatusCode::NOT_FOUND, Json(json!({"error": why}))).into_response();
    };
    let report = tokio::task::spawn_blocking(move || log.report(SHOWN, SystemClock.now())).await;
    let Ok(Ok(report)) = report else {
        return (StatusCode::INTERNAL_SERVER_ERROR, Json(json!({"error": "the log could not be read"})))
            .into_response();
    };
    let no_store = [(header::CACHE_CONTROL, "no-store")];
    let wanted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match wanted.contains("text/html") {
        true => {
            // Questions are strangers' words: if one got past the escaping, nothing in it would run.
            let policy = [(header::CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'")];
            let html = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
            (no_store, policy, html, page(&report)).into_response()
        }
        false => (no_store, Json(report)).into_response(),
    }
}

fn page(report: &QuestionReport) -> String {
    let QuestionReport { asked, unanswered, keep_days, top, without_good_answer, .. } = report;
    let (clicks, place) = (report.clicks, report.average_place);
    let place = place.map(|place| format!(", at place {place:.1} on average")).unwrap_or_default();
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>What people ask</title>\
         <style>body{{font:1rem system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem}}\
         table{{border-collapse:collapse;width:100%}}td,th{{text-align:left;padding:.3rem .6rem;\
         border-bottom:1px solid #8884}}td.n{{text-align:right}}:root{{color-scheme:light dark}}</style>\
         <h1>What people ask</h1><p>{asked} questions in the last {keep_days} days, {unanswered} without a good \
         answer. Results were clicked {clicks} times{place}.</p><h2>Asked most</h2>{}<h2>Without a good answer</h2>{}\
         <h2>Clicked most</h2>{}<h2>Shown and never clicked</h2>{}</html>",
        table(top),
        table(without_good_answer),
        results(&report.clicked_most),
        results(&report.never_clicked),
    )
}

fn table(questions: &[QuestionCount]) -> String {
    if questions.is_empty() {
        return "<p>None.</p>".to_owned();
    }
    let mut rows = String::from(
        "<table><tr><th>Question<th>Agent<th>Asked<th>Nothing found<th>Not understood<th>👍<th>👎<th>Clicks</tr>",
    );
    for one in questions {
        let numbers = [one.asked, one.nothing_found, one.not_understood, one.good, one.bad, one.clicked];
        let numbers: String = numbers.iter().map(|number| format!("<td class=\"n\">{number}")).collect();
        rows.push_str(&format!(
            "<tr><td>{}<td>@{}{numbers}</tr>",
            escape::text(&one.question),
            escape::text(&one.agent)
        ));
    }
    rows + "</table>"
}

fn results(results: &[ResultCount]) -> String {
    if results.is_empty() {
        return "<p>None.</p>".to_owned();
    }
    let mut rows = String::from("<table><tr><th>Result<th>Question<th>Agent<th>Shown<th>Clicked<th>Place</tr>");
    for one in results {
        rows.push_str(&format!(
            "<tr><td>{}<td>{}<td>@{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{:.1}</tr>",
            escape::text(&one.item),
            escape::text(&one.question),
            escape::text(&one.agent),
            one.shown,
            one.clicked,
            one.place,
        ));
    }
    rows + "</table>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_of_strangers_are_text_on_the_operators_page() {
        let question = QuestionCount { question: "<script>alert(1)</script>".to_owned(), ..QuestionCount::default() };
        let item = ResultCount { item: "<script>alert(2)</script>".to_owned(), ..ResultCount::default() };
        let page =
            page(&QuestionReport { top: vec![question], never_clicked: vec![item], ..QuestionReport::default() });
        assert!(page.contains("&lt;script&gt;") && !page.contains("<script"));
    }
}
