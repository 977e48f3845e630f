//! Conversations over the wires: whichever protocol carries them, what was said before still counts.

use serde_json::{Value, json};

use crate::support::{Deployment, Served};

/// Forty soups and pies, half of them with nuts, each with chicken or beef.
fn dishes() -> String {
    let dish = |n: usize| {
        let (meat, kind) = (["Chicken", "Beef"][n % 2], ["Soup", "Pie"][n / 2 % 2]);
        let more = if n % 4 < 2 { "walnuts" } else { "rice" };
        json!({
            "@type": "Recipe", "@id": format!("https://dishes.example/{n}"), "url": format!("https://dishes.example/{n}"),
            "name": format!("{meat} {kind} {n}"), "recipeCategory": kind, "recipeCuisine": (["Thai", "Greek", "Indian"][n % 3]),
            "totalTime": format!("PT{}M", 10 + n), "recipeIngredient": [format!("500 g {}", meat.to_lowercase()), more, "salt"],
        })
    };
    (0..40).map(|n| dish(n).to_string() + "\n").collect()
}

fn canteen(more: &str) -> Served {
    let settings =
        format!("kind = \"search\"\ncontent = [\"dishes.jsonl\"]\nitem_label = \"dishes\"\nresults = 4\n{more}");
    Deployment::of_backend(&settings).and("dishes.jsonl", &dishes()).serve()
}

fn post(served: &Served, path: &str, body: &Value) -> Value {
    served.curl(path, &["-H", "Content-Type: application/json", "-d", &body.to_string()]).json()
}

fn nlweb(served: &Served, text: &str, more: Value) -> Value {
    let mut body = json!({"query": {"text": text}, "prefer": {"streaming": false}});
    for (key, value) in more.as_object().cloned().unwrap_or_default() {
        body[&key] = value;
    }
    post(served, "/~agent/ask", &body)
}

fn names(answer: &Value) -> Vec<String> {
    let results = answer["results"].as_array().cloned().unwrap_or_default();
    results.iter().filter_map(|item| item["name"].as_str().map(str::to_owned)).collect()
}

#[test]
fn nlweb_keeps_subject_and_limits_by_session_and_by_prev() {
    let served = canteen("");
    let first = nlweb(&served, "chicken soup", json!({}));
    assert!(names(&first)[0].starts_with("Chicken Soup"), "{first}");
    assert_eq!(first["_meta"]["decontextualized_query"], Value::Null);
    let session = json!({"session_context": first["_meta"]["session_context"]});
    let mut with_rice = Vec::new();
    for more in [json!({"context": {"prev": ["chicken soup"]}}), json!({"meta": session})] {
        let answer = nlweb(&served, "with rice", more.clone());
        with_rice = names(&answer);
        assert_eq!(answer["_meta"]["decontextualized_query"], "chicken soup with rice", "{answer}");
        assert!(answer["results"][0]["recipeIngredient"].to_string().contains("rice"), "{answer}");
    }
    // What was shown last is another answer in the session.
    let shown =
        [(json!({"context": {"prev": ["chicken soup"]}}), names(&first)), (json!({"meta": session}), with_rice)];
    for (more, shown) in shown {
        let chosen = nlweb(&served, "the second one", more);
        assert_eq!(names(&chosen), shown[1..2], "{chosen}");
    }
    let told = nlweb(&served, "pie", json!({"context": {"prev": ["I'm allergic to nuts"]}}));
    assert_eq!(told["_meta"]["forecourt/applied_limits"].as_array().map(Vec::len), Some(1), "{told}");
    assert!(told["results"].as_array().unwrap().iter().all(|item| !item.to_string().contains("walnut")), "{told}");
}

#[test]
fn s4_1_4_a_value_that_no_item_has_finds_nothing_and_a_property_that_none_has_is_named() {
    let served = canteen("");
    let ask = |filters: Value| {
        let mut query = json!({"text": "soup"});
        filters.as_object().unwrap().iter().for_each(|(name, value)| query[name] = value.clone());
        post(&served, "/~agent/ask", &json!({"query": query, "prefer": {"streaming": false}}))
    };
    for (filters, named) in [
        (json!({"recipeCuisine": "Klingon"}), "Thai"),
        (json!({"recipeCuisine": "Indien"}), "Indian"),
        (json!({"cuisine": "Klingon"}), "Greek"),
        (json!({"itemType": "Starship"}), "Recipe"),
    ] {
        let answer = ask(filters.clone());
        assert_eq!(answer["error"]["code"], "NO_RESULTS", "{filters}: {answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(named), "{filters}: {message}");
    }
    let ignored = ask(json!({"warpFactor": "9"}));
    assert_eq!(ignored["_meta"]["forecourt/ignored_filters"], json!(["warpFactor"]), "{ignored}");
    assert_eq!(names(&ignored).len(), 4);
    assert_eq!(names(&ask(json!({"recipeCuisine": "Thai"}))).len(), 4);
}

#[test]
fn what_has_no_answer_here_gets_a_short_honest_one_in_the_callers_language() {
    let served = canteen("");
    for (text, language, said) in [
        ("thanks!", "en", "welcome"),
        ("tell me a joke", "en", "jokes"),
        ("Erzähl mir einen Witz", "de", "Witze"),
        ("merci beaucoup", "fr", "vous en prie"),
        ("¿Qué tiempo hace hoy?", "es", "tiempo"),
        ("I am vegan", "en", "Noted"),
    ] {
        let prefer = json!({"streaming": false, "accept-language": language});
        let answer = nlweb(&served, text, json!({"prefer": prefer}));
        let results = answer["results"].to_string();
        assert!(names(&answer).is_empty() && results.contains(said), "{text}: {answer}");
    }
    let nonsense = nlweb(&served, "asdf qwer", json!({}));
    assert_eq!(nonsense["error"]["code"], "NO_RESULTS", "{nonsense}");
}

#[test]
fn s4_1_3_an_answer_to_our_question_counts_on_every_wire() {
    let served = canteen("elicit = { over = 30 }");
    let asked = nlweb(&served, "dishes with salt", json!({}));
    let question = &asked["elicitation"]["questions"][0];
    let options = question["options"].as_array().unwrap_or_else(|| panic!("{asked}"));
    assert_eq!(options.last(), Some(&json!("no preference")), "{asked}");
    assert_eq!(question["id"], "recipeCuisine", "{asked}");
    let session = json!({"session_context": asked["_meta"]["session_context"]});
    let prev = json!({"context": {"prev": ["dishes with salt"]}});
    for (text, more) in
        [("thai please", json!({"meta": session})), ("thai please", prev.clone()), ("Thai", prev.clone())]
    {
        let answer = nlweb(&served, text, more);
        let cuisines = answer["results"].as_array().unwrap_or_else(|| panic!("{text}: {answer}")).iter();
        assert!(cuisines.clone().all(|item| item["recipeCuisine"] == "Thai"), "{text}: {answer}");
    }
    for text in ["no preference", "egal", "something with chicken", "both"] {
        let answer = nlweb(&served, text, prev.clone());
        assert_eq!(answer["_meta"]["response_type"], "answer", "{text}: the same is not asked twice: {answer}");
    }
    let chicken = nlweb(&served, "something with chicken", prev);
    assert!(names(&chicken).iter().all(|name| name.contains("Chicken")), "{chicken}");
    // A2A, by a data part.
    let send = |message: Value| {
        let call =
            json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}).to_string();
        let arguments = ["-H", "Content-Type: application/json", "-H", "A2A-Version: 1.0", "-d", &call];
        served.curl("/a2a/agent", &arguments).json()
    };
    let begun = send(json!({"messageId": "1", "role": "ROLE_USER", "parts": [{"text": "dishes with salt"}]}));
    let task = &begun["result"]["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "{begun}");
    let parts = json!([{"data": {"recipeCuisine": "Greek"}}]);
    let answered = send(
        json!({"messageId": "2", "role": "ROLE_USER", "taskId": task["id"], "contextId": task["contextId"], "parts": parts}),
    );
    let text = answered.to_string();
    assert!(text.contains("Greek") && !text.contains("\"Thai\""), "{answered}");
}
