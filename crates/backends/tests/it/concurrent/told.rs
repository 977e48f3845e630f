//! What a worker is told beside the message, and what it tells beside its answer: state, usage, calls, files.

use super::*;

#[tokio::test]
async fn a_message_says_what_it_belongs_to_and_how_long_there_is() {
    let worker = worker("total_seconds = 90\n");
    let seen = "seen conversation,deadline,timeout_ms,tools,state";
    let thread = ThreadId::mint(&CountedEntropy::default());
    let of = async |thread: Option<ThreadId>, state: AgentState| {
        let message = Message { thread, state, ..message(vec![Part::text(seen)]) };
        data(&collect(stream(&worker.built, message).await).await)
    };
    let kept = AgentState::of(Some(json!({"size": "M"})));
    let (first, second) = (of(Some(thread.clone()), kept).await, of(Some(thread.clone()), AgentState::default()).await);
    assert_eq!(first["conversation"], second["conversation"]);
    assert_ne!(first["conversation"], json!(thread.expose()), "it opens nothing");
    assert_eq!((&first["state"], &second["state"]), (&json!({"size": "M"}), &Value::Null));
    assert_eq!((&first["timeout_ms"], &first["tools"]), (&json!(90_000), &json!([])));
    assert_eq!(first["deadline"], json!("2026-01-01T00:01:30Z"));
    assert_eq!(of(None, AgentState::default()).await["conversation"], Value::Null);
}

#[tokio::test]
async fn a_state_is_kept_within_its_bound_and_only_in_a_conversation() {
    let worker = worker("");
    let keep = async |state: AgentState, kept: &Value| {
        let line = json!({"turn": "TURN", "state": kept, "end": true}).to_string().replace("\"TURN\"", "TURN");
        let message = Message { state, ..message(vec![Part::text(format!("say {line}"))]) };
        collect(stream(&worker.built, message).await).await
    };
    let state = AgentState::of(None);
    let fits = json!("x".repeat(AGENT_STATE_BYTES_MAX - 2));
    assert_eq!(keep(state.clone(), &fits).await.ending, Ending::Complete);
    assert_eq!(state.next(), Some(fits));
    let large = keep(state, &json!("x".repeat(AGENT_STATE_BYTES_MAX - 1))).await;
    assert!(failure(&large).contains("at most 65536 bytes"), "{large:?}");
    let nowhere = keep(AgentState::default(), &json!(1)).await;
    assert!(failure(&nowhere).contains("no conversation"), "{nowhere:?}");
}

#[tokio::test]
async fn usage_is_recorded_even_of_a_turn_that_was_cancelled() {
    let told = Arc::new(Recorded::default());
    let usage = told.clone();
    let worker = worker_in(&json!({"protocol": 2, "concurrency": 2}), "", |context| Context { usage, ..context });
    let line = r#"say {"turn": TURN, "usage": {"model": "gpt-x", "input_tokens": 120, "output_tokens": 4, "cost": 0.0012}, "end": true}"#;
    assert_eq!(worker.ask(line).await.ending, Ending::Complete);
    drop(worker.begun("hold").await);
    worker.file("cancel-caller_left").await;
    let both = async {
        while told.0.lock().unwrap().len() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), both).await.unwrap();
    assert_eq!(
        *told.0.lock().unwrap(),
        [("gpt-x".to_owned(), "answered", 120, 4, 1_200), ("m".to_owned(), "answered", 2, 0, 0)]
    );
    let malformed = r#"say {"turn": TURN, "usage": "much", "log": 7, "text": "fine", "end": true}"#;
    std::fs::write(worker.path("wrong"), "").unwrap();
    assert_eq!(worker.ask(malformed).await.text(), "fine");
}

#[tokio::test]
async fn what_a_worker_tells_counts_towards_its_budget_and_none_is_asked_once_that_is_used_up() {
    let (store, told): (Arc<dyn Store>, _) = (Arc::new(Memory::new()), Arc::new(Recorded::default()));
    let budget = BudgetSettings { tokens_per_day: Some(10), ..BudgetSettings::default() };
    let Context { budget, siblings, usage, .. } = with_budget(budget, told.clone(), &store);
    let worker = worker_in(&json!({"protocol": 2}), "", |context| Context { budget, siblings, usage, ..context });
    let line = r#"say {"turn": TURN, "usage": {"model": "m", "input_tokens": 8, "output_tokens": 2}, "end": true}"#;
    assert_eq!(worker.ask(line).await.ending, Ending::Complete);
    // What an answer came to is written behind it.
    let refused = async {
        loop {
            if let Ending::Refused(part) = worker.ask("pid").await.ending {
                return part;
            }
        }
    };
    let part = tokio::time::timeout(Duration::from_secs(30), refused).await.unwrap();
    assert_eq!(part.code.as_deref(), Some("mentionable:budget_exhausted"));
    assert_eq!(told.0.lock().unwrap().last().map(|last| last.1), Some("budget"));
}

#[tokio::test]
async fn usage_counts_as_it_is_told_and_an_answer_that_uses_up_all_is_ended() {
    for hello in ["{\"protocol\": 2, \"concurrency\": 8}", ""] {
        let (store, told): (Arc<dyn Store>, _) = (Arc::new(Memory::new()), Arc::new(Recorded::default()));
        let budget = BudgetSettings { tokens_per_day: Some(20), ..BudgetSettings::default() };
        let Context { budget, siblings, usage, .. } = with_budget(budget, told.clone(), &store);
        let greeting = if hello.is_empty() { String::new() } else { format!("raw(hello={hello})\n") };
        let worker = program(&format!("{WORKER}\n{greeting}main()\n"), "", |context| Context {
            budget,
            siblings,
            usage,
            ..context
        });
        let line = |tokens: u64| {
            let usage = json!({"model": "m", "input_tokens": tokens});
            format!("say {{\"turn\": TURN, \"text\": \"so far\", \"usage\": {usage}}}")
        };
        // While it is open, and with what is set aside for it.
        let open = worker.begun(&line(19)).await;
        let refused = async {
            loop {
                if let Ending::Refused(part) = worker.ask("pid").await.ending {
                    return part;
                }
            }
        };
        let part = tokio::time::timeout(Duration::from_secs(30), refused).await.unwrap();
        assert_eq!(part.code.as_deref(), Some("mentionable:budget_exhausted"), "{hello}");
        drop(open);
        // Nothing is set aside for it any more: one is admitted, and ended with more than there is.
        let ended = async {
            loop {
                let answer = worker.ask(&line(2)).await;
                if !answer.text().is_empty() {
                    return answer;
                }
            }
        };
        let ended = tokio::time::timeout(Duration::from_secs(30), ended).await.unwrap();
        assert!(
            matches!(&ended.ending, Ending::Refused(part) if part.code.as_deref() == Some("mentionable:budget_exhausted")),
            "{ended:?}"
        );
    }
}

#[tokio::test]
async fn a_worker_whose_budget_nobody_knows_is_not_asked() {
    // Without a store nobody can say what is left.
    let budget = BudgetSettings { tokens_per_day: Some(10), ..BudgetSettings::default() };
    let worker = worker_in(&json!({"protocol": 2}), "", |context| Context { budget, ..context });
    let refused = worker.ask("pid").await;
    assert!(matches!(&refused.ending, Ending::Refused(part) if part.kind() == "service_unavailable"), "{refused:?}");
    assert!(!worker.path("trace").exists());
}

#[tokio::test]
async fn a_call_goes_through_the_host_and_its_result_comes_back() {
    let others = Arc::new(Others::default().ending("pantry", Ending::Message("Three eggs.".to_owned())));
    let context = hosted(&["agent", "pantry"], way_to(others.clone()));
    let (siblings, endpoints) = (context.siblings, context.endpoints);
    let worker = worker_in(&json!({"protocol": 2, "concurrency": 4}), "siblings = true\n", |context| Context {
        siblings,
        endpoints,
        ..context
    });
    let tools = data(&worker.ask("seen tools").await)["tools"].clone();
    assert_eq!((&tools[0]["name"], tools[0]["input_schema"]["type"].as_str()), (&json!("ask_agent"), Some("object")));
    let calls = json!([
        {"tool": "ask_agent", "arguments": {"agent": "pantry", "message": "Eggs?"}},
        {"tool": "no_such_tool", "arguments": {}},
        {"tool": "ask_agent", "arguments": []},
    ]);
    let all = events(&worker.built, message(vec![Part::text(format!("call {calls}"))])).await;
    let shown: Vec<_> = all
        .iter()
        .filter_map(|event| match event {
            Event::ToolCall(call) => Some((call.id.as_str(), !matches!(call.outcome, ToolOutcome::Running))),
            _ => None,
        })
        .collect();
    assert_eq!(shown.iter().filter(|(_, is_done)| *is_done).count(), 3, "{shown:?}");
    let results = data(&collect(Box::pin(futures::stream::iter(all))).await);
    assert!(results[0]["content"].to_string().contains("Three eggs."), "{results}");
    assert!(results[1]["error"]["message"].as_str().unwrap().contains("there are: ask_agent"), "{results}");
    assert_eq!(results[2]["error"]["message"], "`arguments` must be an object");
    assert_eq!(others.sent().len(), 1);
}

#[tokio::test]
async fn calls_have_a_bound_and_the_turn_goes_on() {
    let worker = worker("");
    let calls: Vec<Value> = (0..202).map(|_| json!({"tool": "none"})).collect();
    let results = data(&worker.ask(&format!("call {}", Value::from(calls))).await);
    let over = results
        .as_array()
        .unwrap()
        .iter()
        .filter(|result| result["error"]["message"].as_str().unwrap().contains("at most 200 calls"));
    assert_eq!(over.count(), 2);
}

#[tokio::test]
async fn a_turn_that_is_left_during_a_call_is_cancelled_with_it() {
    // Never answers.
    let others = Others::default().with("pantry", || Ok(Box::pin(futures::stream::pending())));
    let context = hosted(&["agent", "pantry"], way_to(Arc::new(others)));
    let siblings = context.siblings;
    let worker =
        worker_in(&json!({"protocol": 2, "concurrency": 4}), "siblings = [\"pantry\"]\nprocesses = 1\n", |context| {
            Context { siblings, ..context }
        });
    let calls = json!([{"tool": "ask_agent", "arguments": {"agent": "pantry", "message": "Eggs?"}}]);
    let mut events = worker.stream(&format!("call {calls}")).await;
    assert!(matches!(events.next().await, Some(Event::ToolCall(_))));
    drop(events);
    let seen = async {
        while !worker.file("trace").await.contains("\"cancel\"") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), seen).await.unwrap();
    assert_eq!(worker.ask("pid").await.ending, Ending::Complete);
}

#[tokio::test]
async fn a_file_comes_in_pieces() {
    let worker = worker("");
    let lines = [
        json!({"id": "a", "name": "plan.txt", "mime": "text/plain", "data": "b25l"}),
        json!({"id": "a", "data": "IHR3bw==", "append": true, "last": true}),
    ];
    let lines = lines.map(|piece| format!("{{\"turn\": TURN, \"artifact\": {piece}}}"));
    let answer = worker.ask(&format!("say {}\n{{\"turn\": TURN, \"end\": true}}", lines.join("\n"))).await;
    let [Part::File(file)] = &answer.parts[..] else { panic!("{answer:?}") };
    assert_eq!((file.name.as_deref(), file.size_bytes), (Some("plan.txt"), Some(7)));
}

#[test]
fn what_workers_may_call_needs_a_worker() {
    for (more, wanted) in [
        ("siblings = true", "need `mode = \"worker\"`"),
        ("endpoints = [\"ADD /numbers\"]", "need `mode = \"worker\"`"),
        ("concurrency = 0", "`concurrency` must be between 1 and 256"),
        ("cancel_seconds = 0", "`cancel_seconds` must be between 1 and"),
    ] {
        let said = problems(&format!("[backend]\nkind = \"command\"\ncommand = [\"sh\"]\n{more}\n"));
        assert!(said.contains(wanted), "{more}: {said}");
    }
}
