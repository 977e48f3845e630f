//! Limits of all nodes together.

use std::num::NonZeroU32;

use forecourt_host::Rate;

use super::*;

/// How many of `count` requests of one caller pass, whose turns go round the nodes.
async fn passed(nodes: &[Node], count: usize) -> usize {
    let mut passed = 0;
    for request in 0..count {
        let peer = Some("192.0.2.7".parse().unwrap());
        passed += usize::from(nodes[request % nodes.len()].host.meter(peer).is_ok());
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
    }
    passed
}

#[tokio::test(start_paused = true)]
async fn one_caller_has_its_burst_of_three_nodes_once_and_by_shares_while_the_bus_is_away() {
    let mut cluster = Cluster::new();
    let number = |n| NonZeroU32::new(n).unwrap();
    cluster.setup.limits.per_address = Rate { per_second: number(1), burst: number(60) };
    let mut nodes = Vec::new();
    for _ in 0..3 {
        nodes.push(cluster.node(ScriptedAgent::saying(["x"])).await);
    }
    pass(LEASE).await;
    let together = passed(&nodes, 400).await;
    assert!((60..=60 + 60 / 8).contains(&together), "{together}");
    cluster.bus.is_away.store(true, Ordering::SeqCst);
    pass(Duration::from_secs(300)).await;
    assert_eq!(passed(&nodes, 400).await, 60, "each gives out its third");
    cluster.bus.is_away.store(false, Ordering::SeqCst);
    pass(Duration::from_secs(300)).await;
    let together = passed(&nodes, 400).await;
    assert!((60..=60 + 60 / 8).contains(&together), "{together}");
}
