//! A front at work. Its time passes when nothing else happens: waits of an hour are over at once, and every connection
//! is followed to its end.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

/// How long a connection may go on whose client says nothing more: longer than any deadline of a front.
const SILENCE: Duration = Duration::from_secs(3_600);
/// How long it may go on once its client has ended it.
const FAREWELL: Duration = Duration::from_secs(120);

/// A front, and where it is.
pub struct Front {
    runtime: Runtime,
    address: SocketAddr,
}

/// What a connection brought.
pub struct Heard {
    /// All bytes.
    pub bytes: Vec<u8>,
    /// Whether the front ended the connection in order, so that nothing of its last answer can be missing.
    pub is_whole: bool,
}

impl Front {
    /// The front that `start` starts, which says its address.
    pub fn new(start: impl Future<Output = SocketAddr>) -> Self {
        let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().expect("a runtime");
        let address = runtime.block_on(start);
        Self { runtime, address }
    }

    /// All that a connection brings whose client says `said`. The front has to end it.
    pub fn connection(&self, said: &[u8]) -> Heard {
        self.runtime.block_on(async {
            let mut stream = TcpStream::connect(self.address).await.expect("a listener");
            let (mut reader, mut writer) = stream.split();
            let mut bytes = Vec::new();
            let talk = async {
                // Read while it is written: neither side waits for the other for ever.
                let (_, read) = tokio::join!(writer.write_all(said), reader.read_to_end(&mut bytes));
                read.is_ok()
            };
            if let Ok(is_whole) = timeout(SILENCE, talk).await {
                return Heard { bytes, is_whole };
            }
            let _ = writer.shutdown().await;
            let ended = timeout(FAREWELL, reader.read_to_end(&mut bytes)).await;
            assert!(ended.is_ok(), "the connection goes on after its client ended it");
            Heard { bytes, is_whole: false }
        })
    }
}
