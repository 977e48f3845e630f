//! This module opens and pools connections to PostgreSQL.

use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime, Timeouts};
use forecourt_core::StoreError;
use tokio_postgres::config::Host;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Config, Row};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::{exhausted, is_lost, no_connection, to_store_error, unusable};
use super::tls::{Opener, Security};
use crate::PoolLoad;
use crate::limits::{POSTGRES_ATTEMPTS, POSTGRES_CONNECT_MAX, POSTGRES_LANES, POSTGRES_OPERATION_MAX};

/// The TCP keep-alive of idle connections: firewalls and balancers drop connections that are silent for minutes.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// A few connections to one database.
pub(super) struct Connections {
    pool: Pool,
    max: usize,
    /// The database in words, without a password.
    place: String,
    tls: MakeRustlsConnect,
    /// Whether transactions that nobody begins are other ones than [`super::batch`] is written for, as far as is known.
    must_begin: AtomicBool,
    /// How often one was lent.
    lent: AtomicU64,
    /// Microseconds that were waited for them.
    waited: AtomicU64,
}

impl Connections {
    /// At most `max` connections to `url`; none is opened yet. Fails when the URL is none.
    pub(super) fn new(url: &str, max: usize) -> Result<Self, StoreError> {
        // One for each lane, one for what is written alone, and at least one to read with.
        let max = max.max(POSTGRES_LANES + 2);
        let (mut config, security) = read_url(url)?;
        let tls = security.connector()?;
        config.connect_timeout(POSTGRES_CONNECT_MAX).keepalives_idle(KEEPALIVE).application_name("forecourt");
        let place = place(&config);
        // Only asks whether it is closed: a query as a test would cost each operation a round trip. A dead connection
        // is found by its first statement.
        let recycling_method = RecyclingMethod::Fast;
        let opener = Opener { tls: tls.clone(), otherwise: security.otherwise };
        let manager = Manager::from_connect(config, opener, ManagerConfig { recycling_method });
        let wait = Some(POSTGRES_CONNECT_MAX);
        let pool = Pool::builder(manager)
            .max_size(max)
            .runtime(Runtime::Tokio1)
            .timeouts(Timeouts { wait, create: wait, recycle: wait })
            .build()
            .map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let (lent, waited) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Self { pool, max, place, tls, must_begin: AtomicBool::new(false), lent, waited })
    }

    /// How many there are at most.
    pub(super) fn max(&self) -> usize {
        self.max
    }

    /// The database in words, without a password.
    pub(super) fn place(&self) -> &str {
        &self.place
    }

    /// Lends a connection.
    pub(super) async fn lend(&self) -> Result<Object, StoreError> {
        let begun = Instant::now();
        let lent = self.pool.get().await;
        self.lent.fetch_add(1, Ordering::Relaxed);
        self.waited.fetch_add(u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
        lent.map_err(|error| no_connection(error, &self.place, self.max))
    }

    /// The number of connections in use, and of operations that wait for one.
    pub(super) fn load(&self) -> PoolLoad {
        let status = self.pool.status();
        PoolLoad {
            in_use: status.size.saturating_sub(status.available) as u64,
            idle: status.available as u64,
            max: status.max_size as u64,
            waiting: status.waiting as u64,
            lent: self.lent.load(Ordering::Relaxed),
            waited_seconds: Duration::from_micros(self.waited.load(Ordering::Relaxed)).as_secs_f64(),
        }
    }

    /// The error of an operation for which no connection became free.
    pub(super) fn exhausted(&self) -> StoreError {
        exhausted(self.max)
    }

    /// Whether a transaction must be begun, and not left to the statement.
    pub(super) fn must_begin(&self) -> bool {
        self.must_begin.load(Ordering::Relaxed)
    }

    /// Remembers that it must.
    pub(super) fn begin_from_now_on(&self) {
        self.must_begin.store(true, Ordering::Relaxed);
    }

    /// Gives up a connection that does not answer, and asks the database to stop what it does on it.
    pub(super) fn give_up(&self, connection: Object) -> StoreError {
        let (cancel, tls) = (connection.cancel_token(), self.tls.clone());
        // In the background: a database that does not answer may not take the cancellation either, and the caller has
        // waited enough.
        tokio::spawn(async move { in_time(cancel.cancel_query(tls)).await });
        drop(Object::take(connection));
        let seconds = POSTGRES_OPERATION_MAX.as_secs();
        StoreError::Unavailable(format!("the database at {} did not answer within {seconds} s", self.place))
    }

    /// Runs one statement that changes nothing: on another connection when one is lost.
    pub(super) async fn query(
        &self,
        sql: &str,
        params: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Vec<Row>, StoreError> {
        let mut tried = 1;
        loop {
            match self.attempt(sql, params).await? {
                Err(error) if is_lost(&error) && tried < POSTGRES_ATTEMPTS => tried += 1,
                rows => return rows.map_err(|error| to_store_error(&error)),
            }
        }
    }

    /// Runs one statement once.
    pub(super) async fn query_once(
        &self,
        sql: &str,
        params: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Vec<Row>, StoreError> {
        self.attempt(sql, params).await?.map_err(|error| to_store_error(&error))
    }

    /// Runs one statement on one connection. The inner error is that of the statement; a connection that it lost is
    /// dropped from the pool.
    async fn attempt(
        &self,
        sql: &str,
        params: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Result<Vec<Row>, tokio_postgres::Error>, StoreError> {
        let connection = self.lend().await?;
        match tokio::time::timeout(POSTGRES_OPERATION_MAX, connection.query_typed(sql, params)).await {
            Err(_) => Err(self.give_up(connection)),
            Ok(Err(error)) if is_lost(&error) => {
                drop(Object::take(connection));
                Ok(Err(error))
            }
            Ok(rows) => Ok(rows),
        }
    }
}

/// The result of `work` within [`POSTGRES_CONNECT_MAX`]. `None`: it took longer.
pub(super) async fn in_time<T>(work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(POSTGRES_CONNECT_MAX, work).await.ok()
}

/// The database in words.
fn place(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.display().to_string(),
        None => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    format!("{host}:{port}/{}", config.get_dbname().unwrap_or_default())
}

/// Reads a URL. `sslrootcert` and the modes that verify are ours to understand.
fn read_url(url: &str) -> Result<(Config, Security), StoreError> {
    if !(url.starts_with("postgres://") || url.starts_with("postgresql://")) {
        return Err(unusable("it begins with postgres://"));
    }
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let (mut mode, mut roots, mut rest) = (None, None, Vec::new());
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("sslmode", value)) => mode = Some(value),
            Some(("sslrootcert", path)) => roots = Some(path.to_owned()),
            _ => rest.push(pair),
        }
    }
    let security = Security::of(mode, roots)?;
    let rest = rest.join("&");
    let url = if rest.is_empty() { base.to_owned() } else { format!("{base}?{rest}") };
    let mut config = Config::from_str(&url).map_err(|error| unusable(described(&error)))?;
    config.ssl_mode(security.mode);
    Ok((config, security))
}

fn described(error: &tokio_postgres::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use tokio_postgres::config::SslMode;

    use super::super::tls::Trust;
    use super::*;

    #[test]
    fn what_a_url_says_of_tls_is_understood_as_libpq_does() {
        use SslMode::{Disable, Prefer, Require};
        let read = |query: &str| {
            let (config, is) = read_url(&format!("postgres://a:b@db/x?{query}"))?;
            Ok::<_, StoreError>((config.get_ssl_mode(), is.otherwise, is.trust))
        };
        assert_eq!(read("").unwrap(), (Prefer, Some(Disable), Trust::Anybody));
        assert_eq!(read("sslmode=prefer&sslrootcert=/a").unwrap(), (Prefer, Some(Disable), Trust::Anybody));
        assert_eq!(read("sslmode=allow").unwrap(), (Disable, Some(Require), Trust::Anybody));
        assert_eq!(read("sslmode=disable").unwrap(), (Disable, None, Trust::Anybody));
        assert_eq!(read("application_name=y&sslmode=require").unwrap(), (Require, None, Trust::Anybody));
        assert_eq!(read("sslrootcert=/a&sslmode=require").unwrap(), (Require, None, Trust::Authority));
        assert_eq!(read("sslmode=verify-full&sslrootcert=system").unwrap(), (Require, None, Trust::Host));
        let refusal = |query| read(query).unwrap_err().to_string();
        assert!(refusal("sslmode=verify").contains("verify-full"));
        assert!(refusal("sslmode=require&sslrootcert=system").contains("verify-full"));
        assert!(refusal("nonsense=1").contains("nonsense"));
        let nowhere = Connections::new("postgres://a:b@db/x?sslmode=verify-full&sslrootcert=/nowhere", 4);
        assert!(nowhere.map(drop).unwrap_err().to_string().contains("/nowhere"));
    }

    #[test]
    fn no_refusal_tells_the_password() {
        for url in ["mysql://a:secret@db/x", "postgres://a:secret@db/x?y=z", "postgres://a:secret@db:port/x"] {
            let refusal = read_url(url).map(drop).unwrap_err().to_string();
            assert!(!refusal.contains("secret"), "{refusal}");
        }
        let (config, _) = read_url("postgres://a:secret@db:7/x").unwrap();
        assert_eq!(place(&config), "db:7/x");
    }
}
