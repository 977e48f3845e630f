//! One task, whatever wire it was begun over. Design of tasks: ids, owners and what stands in them.

use forecourt_core::{Ending, Part, TaskId, TaskState};
use forecourt_host::{Run, TaskAccess};
use forecourt_testkit::ScriptedAgent;
use serde_json::Value;

use crate::hub::answer::{artifact_text, state};
use crate::hub::support::{InTurn, Place, alone, ask, bot, done, hanging, text, two};
use crate::hub::wire::{Op, Wire};

async fn background(place: &Place) -> TaskId {
    let reply = place.receive("bot", Run::in_background(None)).await;
    let id = reply.task.clone().unwrap();
    reply.collect().await;
    id
}

#[tokio::test]
async fn a_task_begun_here_is_read_by_the_host() {
    let place = bot(vec![text("made"), done()]).await;
    for wire in Wire::ALL {
        let task = wire.at(&place).says("hi").await.task(wire);
        let id = TaskId::parse(task["id"].as_str().unwrap()).expect("an id of the host's own");
        let kept = place.host.task(&id, TaskAccess::ById).await.unwrap();
        assert_eq!((kept.state, kept.received_via.as_str()), (TaskState::Completed, "a2a"));
        let outcome = kept.outcome.clone().unwrap();
        assert_eq!((outcome.text().as_str(), outcome.ending), ("made", Ending::Complete));
        assert_eq!(kept.turns[0].parts, [Part::text("hi")]);
    }
}

#[tokio::test]
async fn a_task_of_another_wire_is_read_in_both_versions() {
    let place = bot(vec![text("made"), done()]).await;
    let id = background(&place).await;
    let read = async |wire: Wire| wire.at(&place).about(Op::Get, id.expose()).await.task(wire);
    let mut contexts = Vec::new();
    for wire in Wire::ALL {
        let task = read(wire).await;
        assert_eq!((task["id"].as_str(), state(&task).as_str()), (Some(id.expose()), "completed"));
        assert_eq!(artifact_text(&task), "made");
        contexts.push(task["contextId"].as_str().unwrap().to_owned());
    }
    contexts.dedup();
    assert_eq!(contexts.len(), 1, "the same conversation in every version");
}

#[tokio::test]
async fn a_task_begun_in_one_version_is_read_in_the_other() {
    let place = bot(vec![text("made"), done()]).await;
    for from in Wire::ALL {
        let begun = from.at(&place).says("hi").await.task(from);
        for wire in Wire::ALL {
            let task = wire.at(&place).about(Op::Get, begun["id"].as_str().unwrap()).await.task(wire);
            let same = |key: &str| assert_eq!(task[key], begun[key], "{from:?} {wire:?}");
            same("id");
            same("contextId");
            let ids = |task: &Value| task["artifacts"][0]["artifactId"].clone();
            assert_eq!((ids(&task), artifact_text(&task)), (ids(&begun), artifact_text(&begun)));
            assert_eq!(task["status"]["timestamp"], begun["status"]["timestamp"]);
        }
    }
}

#[tokio::test]
async fn a_task_of_another_wire_is_followed_and_cancelled() {
    let agent = hanging();
    let place = alone(agent.clone()).await;
    for wire in Wire::ALL {
        let reply = place.receive("bot", Run::in_background(None)).await;
        let id = reply.task.clone().unwrap();
        let mut frames = wire.at(&place).follows(id.expose()).await;
        assert_eq!(frames.next().await.unwrap().kind, "task");
        let canceled = wire.at(&place).about(Op::Cancel, id.expose()).await.task(wire);
        assert_eq!(state(&canceled), "canceled");
        assert_eq!(state(&frames.rest().await.last().unwrap().value), "canceled");
        assert_eq!(reply.collect().await.ending, Ending::Canceled, "as the wire that began it sees it");
    }
}

#[tokio::test]
async fn a_question_asked_over_another_wire_is_answered_here() {
    for wire in Wire::ALL {
        let place = alone(InTurn::of([vec![ask("Which?")], vec![text("red"), done()]])).await;
        let id = background(&place).await;
        let waiting = wire.at(&place).about(Op::Get, id.expose()).await.task(wire);
        assert_eq!(state(&waiting), "input-required");
        let answer = serde_json::json!({"taskId": id.expose(), "contextId": waiting["contextId"]});
        let task = wire.at(&place).says_with("red", answer).await.task(wire);
        assert_eq!((task["id"].as_str(), artifact_text(&task).as_str()), (Some(id.expose()), "red"));
        assert_eq!(task["contextId"], waiting["contextId"]);
    }
}

#[tokio::test]
async fn a_conversation_of_another_wire_goes_on_here() {
    let (place, chef, _) = two().await;
    for wire in Wire::ALL {
        let session = place.begins_elsewhere("chef").await;
        let task = wire.at(&place).says_with("and then?", serde_json::json!({"contextId": session})).await.task(wire);
        assert_eq!(task["contextId"], session);
        assert_eq!(chef.heard().pop().unwrap().history.len(), 2, "{wire:?}");
    }
}

#[tokio::test]
async fn a_name_in_the_shape_of_a_session_opens_nothing() {
    let agent = ScriptedAgent::saying(["hi"]);
    let place = alone(agent.clone()).await;
    let planted = "A".repeat(43);
    for wire in Wire::ALL {
        let task = wire.at(&place).says_with("hi", serde_json::json!({"contextId": planted})).await.task(wire);
        assert_eq!(task["contextId"], planted, "kept, as any name");
        assert!(agent.heard().pop().unwrap().thread.unwrap().is_adopted(), "and not taken for one of ours");
    }
}

#[tokio::test]
async fn the_owner_of_a_task_is_who_began_it_in_any_version() {
    let place = bot(vec![text("made"), done()]).await;
    for from in Wire::ALL {
        let task = from.at(&place).by("ann").says("hi").await.task(from);
        let id = task["id"].as_str().unwrap();
        let kept = place.host.task(&TaskId::parse(id).unwrap(), TaskAccess::ById).await.unwrap();
        assert!(kept.owner.as_deref().is_some_and(|owner| owner.ends_with("ann")), "{:?}", kept.owner);
        for wire in Wire::ALL {
            wire.at(&place).by("ann").about(Op::Get, id).await.task(wire);
            wire.at(&place).by("bob").about(Op::Get, id).await.is_fault(wire, -32001);
            wire.at(&place).about(Op::Get, id).await.is_fault(wire, -32001);
        }
    }
}
