//! Calls that are made once, however many nodes they are sent to.

use forecourt_host::{IdempotencyOwner, IdempotencyState};
use forecourt_testkit::ScriptedAgent;
use serde_json::json;

use super::Cluster;

const ANN: IdempotencyOwner<'_> = IdempotencyOwner { name: "ann", session: None, is_proven: true };

#[tokio::test(start_paused = true)]
async fn a_call_that_is_sent_to_every_node_at_once_is_made_by_one_and_answered_alike_by_all() {
    let cluster = Cluster::new();
    let mut nodes = Vec::new();
    for _ in 0..3 {
        nodes.push(cluster.node(ScriptedAgent::saying(["soup"])).await);
    }
    let begin = |n: usize| nodes[n % 3].host.idempotency(ANN).begin("k", b"one");
    let found = futures::future::try_join_all((0..24).map(begin)).await.unwrap();
    let mut first = found.into_iter().enumerate().filter_map(|(n, state)| match state {
        IdempotencyState::First(permit) => Some((n % 3, permit)),
        IdempotencyState::Unsettled { .. } => None,
        other => panic!("{other:?}"),
    });
    let (by, permit) = first.next().expect("one of them is the first");
    assert!(first.next().is_none(), "and no other");
    drop(first);
    nodes[by].host.idempotency(ANN).settle(permit, Some(json!("the answer"))).await.unwrap();
    for (n, node) in nodes.iter().enumerate() {
        let IdempotencyState::Again(answer) = begin(n).await.unwrap() else { panic!("node {n} makes it again") };
        assert_eq!(answer, "the answer");
        let other = node.host.idempotency(ANN).begin("k", b"two").await.unwrap();
        assert!(matches!(other, IdempotencyState::Other), "the key is used on every node");
    }
}
