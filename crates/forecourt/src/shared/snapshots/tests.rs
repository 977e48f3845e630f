use std::path::Path;

use forecourt_egress::EgressConfig;
use forecourt_testkit::BucketServer;
use tempfile::TempDir;

use super::*;
use crate::deployment::Deployment;

const KEY: &[u8] = &[7; 32];

/// A node with this content and no index yet.
fn node(lines: &str) -> (TempDir, Content) {
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
    write("content/a.jsonl", lines);
    let house = Deployment::read(folder.path()).unwrap().build().unwrap();
    let content = house.contents()[0].clone();
    (folder, content)
}

fn egress() -> Egress {
    Egress::builder(EgressConfig::default()).build().unwrap()
}

fn line(id: &str) -> String {
    format!("{{\"@id\": \"urn:{id}\", \"name\": \"{id}\"}}\n")
}

fn snapshots(place: &TempDir) -> Snapshots {
    Snapshots::new(place.path().to_str().unwrap(), KEY, [], &egress()).unwrap()
}

async fn shared(place: &TempDir, lines: &str, at: &str) -> bool {
    let (_folder, content) = node(lines);
    content.indexing.index(&mut |_| {}).unwrap();
    snapshots(place).share(&content, &mut HashMap::new(), at.parse().unwrap()).await.unwrap()
}

fn files(place: &Path) -> Vec<std::path::PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(place.join("chef")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[tokio::test]
async fn a_node_that_starts_begins_with_the_index_of_another_and_catches_up() {
    let place = tempfile::tempdir().unwrap();
    assert!(shared(&place, &(line("soup") + &line("stew")), "2026-01-01T00:00:00Z").await);
    let (_folder, content) = node(&(line("soup") + &line("pie")));
    assert!(content.indexing.is_unbuilt());
    snapshots(&place).take_all(std::slice::from_ref(&content)).await;
    assert_eq!(content.indexing.items(), 2, "it answers at once");
    let fingerprint = content.indexing.fingerprint().unwrap();
    assert!(!content.indexing.is_current(fingerprint), "and is brought in line with what is here");
    let report = content.indexing.index(&mut |_| {}).unwrap();
    assert_eq!((report.unchanged, report.loaded, report.removed), (1, 1, 1));
}

#[tokio::test]
async fn who_has_an_index_takes_no_other_and_nobody_shares_what_was_just_shared() {
    let place = tempfile::tempdir().unwrap();
    assert!(shared(&place, &line("soup"), "2026-01-01T00:00:00Z").await);
    let before = files(place.path());
    assert_eq!(before.len(), 2);
    assert!(!shared(&place, &line("stew"), "2026-01-01T00:09:59Z").await);
    assert_eq!(files(place.path()), before);
    assert!(shared(&place, &(line("stew") + &line("pie")), "2026-01-01T00:10:00Z").await);
    assert_eq!(files(place.path()).len(), 2, "the one before is gone");
    let (_folder, content) = node(&line("cake"));
    content.indexing.index(&mut |_| {}).unwrap();
    snapshots(&place).take_all(std::slice::from_ref(&content)).await;
    assert_eq!(content.indexing.items(), 1);
}

#[tokio::test]
async fn what_is_damaged_changed_or_from_elsewhere_is_passed_over() {
    let place = tempfile::tempdir().unwrap();
    assert!(shared(&place, &line("soup"), "2026-01-01T00:00:00Z").await);
    let [archive, statement] = &files(place.path())[..] else { panic!("two files") };
    let (archive_bytes, text) = (std::fs::read(archive).unwrap(), std::fs::read_to_string(statement).unwrap());
    let mut flipped = archive_bytes.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let longer = [&archive_bytes[..], b"x"].concat();
    let taken = async |snapshots: Snapshots| {
        let (_folder, content) = node(&line("soup"));
        snapshots.take(&content).await
    };
    for bytes in [&flipped[..], &longer, &archive_bytes[1..], b""] {
        std::fs::write(archive, bytes).unwrap();
        assert!(taken(snapshots(&place)).await.is_err());
    }
    std::fs::write(archive, &archive_bytes).unwrap();
    let other = [text.replace("\"items\": 1", "\"items\": 2"), text.replace("\"code\"", "\"kode\""), "{}".into()];
    for wrong in other {
        std::fs::write(statement, wrong).unwrap();
        assert!(taken(snapshots(&place)).await.is_err());
    }
    std::fs::write(statement, &text).unwrap();
    let foreign = Snapshots::new(place.path().to_str().unwrap(), &[8; 32], [], &egress()).unwrap();
    assert!(taken(foreign).await.unwrap_err().contains("key"));
    assert_eq!(taken(snapshots(&place)).await, Ok(Some(1)));
    std::fs::remove_file(archive).unwrap();
    assert!(taken(snapshots(&place)).await.is_err());
    std::fs::remove_file(statement).unwrap();
    assert_eq!(taken(snapshots(&place)).await, Ok(None), "there is none");
}

#[test]
fn a_place_that_means_nothing_is_refused_with_what_would() {
    let wrong = Snapshots::new("ftp://example.com/x", KEY, [], &egress()).err().unwrap();
    assert!(wrong.next_step().unwrap().contains("s3://"), "{}", wrong.message());
}

#[tokio::test]
async fn a_bucket_serves_as_well_as_a_folder() {
    let Some(server) = BucketServer::start() else { return };
    let at = |bucket: &str| {
        Snapshots::new(&format!("s3://{bucket}/some/prefix"), KEY, server.variables(), &egress()).unwrap()
    };
    let (_folder, content) = node(&(line("soup") + &line("stew")));
    content.indexing.index(&mut |_| {}).unwrap();
    let now = "2026-01-01T00:00:00Z".parse().unwrap();
    let nowhere = at("bare").share(&content, &mut HashMap::new(), now).await.unwrap_err();
    assert!(nowhere.contains("NoSuchBucket") || nowhere.contains("404"), "{nowhere}");
    server.make("indexes");
    assert!(at("indexes").share(&content, &mut HashMap::new(), now).await.unwrap());
    let (_folder, other) = node(&(line("soup") + &line("stew")));
    at("indexes").take_all(std::slice::from_ref(&other)).await;
    assert_eq!(other.indexing.items(), 2);
    // A later one takes the place of the one before.
    let (_folder, later) = node(&line("pie"));
    later.indexing.index(&mut |_| {}).unwrap();
    let now = "2026-01-01T00:10:00Z".parse().unwrap();
    assert!(at("indexes").share(&later, &mut HashMap::new(), now).await.unwrap());
    let (_folder, last) = node(&line("pie"));
    assert_eq!(at("indexes").take(&last).await, Ok(Some(1)));
}

#[tokio::test(start_paused = true)]
async fn a_place_that_says_nothing_keeps_no_node_from_starting() {
    // Its port takes connections, and nobody reads them.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", silent.local_addr().unwrap());
    let variables = [("AWS_ENDPOINT", &*endpoint), ("AWS_ALLOW_HTTP", "true"), ("AWS_REGION", "us-east-1")];
    let keys = [("AWS_ACCESS_KEY_ID", "k"), ("AWS_SECRET_ACCESS_KEY", "s")];
    let variables = variables.iter().chain(&keys).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let (_folder, content) = node(&line("soup"));
    let snapshots = Snapshots::new("s3://indexes", KEY, variables, &egress()).unwrap();
    let passed_over = snapshots.take(&content).await.unwrap_err();
    assert!(passed_over.contains("10 s"), "{passed_over}");
}
