use forecourt_core::NoBus;
use forecourt_store::content::MemoryContent;
use tempfile::TempDir;

use super::*;
use crate::deployment::Deployment;

/// A node with one agent that has content, and a data folder of its own.
struct Node {
    _folder: TempDir,
    content: Content,
    shared: SharedContent,
}

fn node(rows: &Arc<MemoryContent>) -> Node {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("forecourt.toml", "domain = \"demo.localhost\"");
    write(
        "agents/chef.toml",
        "handle = \"chef\"\nname = \"Chef\"\n[backend]\nkind = \"search\"\ncontent = [\"content\"]",
    );
    write("content/a.jsonl", "{\"@id\": \"urn:soup\", \"name\": \"pea soup\"}\n");
    let house = Deployment::read(folder.path()).unwrap().build().unwrap();
    let content = house.contents()[0].clone();
    content.indexing.index(&mut |_| {}).unwrap();
    Node { _folder: folder, content, shared: SharedContent::new(rows.clone(), Arc::new(NoBus)) }
}

fn line(id: &str, name: &str) -> String {
    format!("{{\"@id\": \"urn:{id}\", \"name\": \"{name}\"}}\n")
}

impl Node {
    async fn put(&self, lines: &str) -> PutOutcome {
        let media_type = "application/x-ndjson".to_owned();
        self.shared.put(&self.content, lines.as_bytes().to_vec(), media_type).await.unwrap()
    }

    async fn remove(&self, id: &str) -> RemoveOutcome {
        self.shared.remove(&self.content, vec![format!("urn:{id}")]).await.unwrap()
    }

    async fn catch_up(&self) {
        self.shared.catch_up_all(std::slice::from_ref(&self.content)).await.unwrap();
    }

    /// What the daemon does when the index is behind.
    fn index(&self) {
        self.content.indexing.index(&mut |_| {}).unwrap();
    }

    /// Which of these are found.
    fn has(&self, ids: &[&str]) -> Vec<String> {
        let names: Vec<String> = ids.iter().map(|id| format!("urn:{id}")).collect();
        let found = self.content.indexing.named_ids(&names).unwrap().ids;
        found.iter().map(|id| id.trim_start_matches("urn:").to_owned()).collect()
    }
}

#[tokio::test]
async fn what_is_pushed_on_one_node_is_found_on_the_others_and_by_one_that_starts_later() {
    let rows = Arc::new(MemoryContent::default());
    let (one, other) = (node(&rows), node(&rows));
    let done = one.put(&(line("stew", "bean stew") + &line("pie", "plum pie"))).await;
    assert_eq!((done.stored, done.unchanged), (2, 0));
    for node in [&one, &other] {
        node.catch_up().await;
        node.index();
        assert_eq!(node.has(&["soup", "stew", "pie"]), ["soup", "stew", "pie"]);
    }
    let again = other.put(&(line("stew", "bean stew") + &line("cake", "cake"))).await;
    assert_eq!((again.stored, again.unchanged, again.is_searchable), (1, 1, true));
    one.catch_up().await;
    assert_eq!(one.has(&["cake"]), ["cake"]);
    let late = node(&rows);
    late.catch_up().await;
    late.index();
    assert_eq!((late.has(&["stew", "pie", "cake"]).len(), late.content.indexing.items()), (3, 4));
}

#[tokio::test]
async fn removals_and_forgetting_reach_every_node() {
    let rows = Arc::new(MemoryContent::default());
    let (one, other) = (node(&rows), node(&rows));
    one.put(&line("stew", "bean stew")).await;
    one.index();
    let removed = other.remove("stew").await;
    assert_eq!(removed.removed, ["urn:stew"], "a node can remove what another was given a moment ago");
    assert_eq!(other.remove("nothing").await.unknown, ["urn:nothing"]);
    other.remove("soup").await;
    for node in [&one, &other] {
        node.catch_up().await;
        node.index();
        assert_eq!(node.has(&["stew", "soup"]), [""; 0]);
    }
    one.shared.forget(&one.content).await.unwrap();
    for node in [&one, &other] {
        node.catch_up().await;
        assert!(!node.content.indexing.has_what_was_pushed().unwrap(), "a run is due");
        node.index();
        assert_eq!(node.has(&["stew", "soup"]), ["soup"], "files count alone");
    }
}

#[tokio::test]
async fn a_call_of_many_items_is_taken_in_page_by_page() {
    let rows = Arc::new(MemoryContent::default());
    let (one, other) = (node(&rows), node(&rows));
    let count = forecourt_store::content::PAGE_ROWS_MAX + 1;
    one.put(&(0..count).map(|n| line(&n.to_string(), "thing")).collect::<String>()).await;
    other.catch_up().await;
    other.index();
    assert_eq!(other.content.indexing.items(), count as u64 + 1);
    let (followed, head) = (other.content.indexing.followed().unwrap(), rows.heads().await.unwrap()[0].1);
    assert_eq!((followed.epoch, followed.revision), (head.epoch, head.revision));
}

#[tokio::test]
async fn what_was_pushed_while_a_node_was_alone_is_brought_to_all() {
    let rows = Arc::new(MemoryContent::default());
    let (one, other, late) = (node(&rows), node(&rows), node(&rows));
    let put = |node: &Node, lines: &str| node.content.indexing.put(lines.as_bytes(), "application/x-ndjson").unwrap();
    put(&one, &(line("stew", "bean stew") + &line("pie", "plum pie")));
    one.content.indexing.remove(&["urn:soup".to_owned()]).unwrap();
    put(&late, &line("cake", "cake"));
    for node in [&one, &other, &late] {
        node.shared.bring_all(std::slice::from_ref(&node.content)).await.unwrap();
        node.catch_up().await;
        node.index();
        let (has, wanted) = (node.has(&["soup", "stew", "pie", "cake"]), ["stew", "pie"]);
        assert_eq!(has, wanted, "the second who was alone comes too late");
    }
    let before = rows.heads().await.unwrap();
    one.shared.bring_all(std::slice::from_ref(&one.content)).await.unwrap();
    assert_eq!(rows.heads().await.unwrap(), before, "and once");
}

#[tokio::test]
async fn a_node_that_followed_another_store_begins_from_nothing() {
    let (before, after) = (Arc::new(MemoryContent::default()), Arc::new(MemoryContent::default()));
    let one = node(&before);
    one.put(&line("stew", "bean stew")).await;
    one.put(&line("pie", "plum pie")).await;
    let moved = Node { shared: SharedContent::new(after.clone(), Arc::new(NoBus)), ..one };
    moved.put(&line("cake", "cake")).await;
    moved.index();
    assert_eq!(moved.has(&["stew", "pie", "cake"]), ["cake"]);
}

#[tokio::test]
async fn a_document_that_is_not_read_changes_nothing_anywhere() {
    let rows = Arc::new(MemoryContent::default());
    let one = node(&rows);
    let wrong = one.shared.put(&one.content, b"x".to_vec(), "image/png".to_owned()).await;
    assert!(matches!(wrong, Err(SharedContentError::Content(ContentError::Unreadable(_)))));
    assert!(rows.heads().await.unwrap().is_empty());
}
