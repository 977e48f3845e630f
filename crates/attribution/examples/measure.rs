//! What records cost: a signature alone, a record from its draft to the file, and verifying a million of them.
//!
//! `cargo run --release -p forecourt-attribution --example measure -- [RECORDS]`

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use forecourt_attribution::verify::verify;
use forecourt_attribution::{AttributionLog, LogOptions, RecordDraft, RecordKeys, RecordSigner, SignerSource, sha256};
use forecourt_core::{AgentId, SystemClock};
use forecourt_identity::SigningKey;
use forecourt_testkit::CountedEntropy;
use futures::future::join_all;

const SIGNATURES: u32 = 20_000;
/// Callers that wait for their records at the same time.
const CALLERS: usize = 64;

fn main() {
    let records: usize = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1_000_000);
    let key = SigningKey::generate(&CountedEntropy::default());
    let payload = vec![b'x'; 1_000];
    let each = |begun: Instant| begun.elapsed().as_secs_f64() * 1e6 / f64::from(SIGNATURES);
    let begun = Instant::now();
    (0..SIGNATURES).for_each(|_| {
        let _ = std::hint::black_box(key.sign(&payload));
    });
    println!("a signature alone             {:8.2} µs", each(begun));
    let begun = Instant::now();
    (0..SIGNATURES).for_each(|_| {
        let _ = std::hint::black_box(sha256(&payload));
    });
    println!("a hash alone                  {:8.2} µs", each(begun));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    for (name, signer) in [("unsigned", RecordSigner::unsigned()), ("signed", RecordSigner::ed25519(key.clone(), None))]
    {
        let folder = tempfile::tempdir().expect("a folder");
        let (wall, cpu) = runtime.block_on(record(folder.path(), signer, records / 20, 1));
        println!("a record, {name:9} 1 caller   {wall:8.2} µs, {cpu:.2} µs of CPU");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (wall, cpu) = runtime.block_on(record(folder.path(), RecordSigner::ed25519(key, None), records, CALLERS));
    println!("a record, signed, {CALLERS} callers  {wall:8.2} µs, {cpu:.2} µs of CPU");
    drop(runtime);
    let keys = RecordKeys::beside(folder.path()).expect("keys");
    let begun = Instant::now();
    let told = verify(folder.path(), &keys, &[], &|_| (), &|_| ()).expect("a log");
    assert!(told.is_fine(), "{told:?}");
    println!("verifying {} records in {} files: {:.1} s", told.records, told.segments, begun.elapsed().as_secs_f64());
}

/// Writes so many records; microseconds for each, and of CPU.
async fn record(folder: &Path, signer: RecordSigner, records: usize, callers: usize) -> (f64, f64) {
    let source: Arc<dyn SignerSource> = Arc::new(Arc::new(signer));
    let log = AttributionLog::open(folder, LogOptions::default(), source, Arc::new(SystemClock)).expect("a log");
    let (begun, cpu) = (Instant::now(), cpu_seconds());
    let all = (0..callers).map(|caller| {
        let log = Arc::clone(&log);
        tokio::spawn(async move {
            let agent = AgentId::of_hash(&[caller as u8 + 1; 32]);
            for _ in 0..records / callers {
                let draft = RecordDraft {
                    server_id: "srv.example",
                    status: 200,
                    agent: Some(&agent),
                    owner_id: "acme.tld",
                    request_id: "0197a1b2-0000-7000-8000-000000000001",
                    response_id: "0197a1b2-0000-7000-8000-000000000002",
                    request_hash: Some([7; 32]),
                    task_id: Some("task-1"),
                    identity_assurance: Some("unverified"),
                    ..RecordDraft::default()
                };
                log.record(draft).await.expect("a record");
            }
        })
    });
    join_all(all).await.into_iter().for_each(|done| done.expect("a caller"));
    let each = |seconds: f64| seconds * 1e6 / records as f64;
    (each(begun.elapsed().as_secs_f64()), each(cpu_seconds() - cpu))
}

/// Seconds that this process has been on a CPU.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default();
    let ticks: f64 = fields.split(' ').skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / 100.0
}
