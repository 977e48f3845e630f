//! One client that asks the same again and again, on one connection and one thread with the server.

use std::time::Duration;

use anyhow::{Context, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{sleep, timeout};

use crate::arm::{Arm, Question};

/// Requests before the count begins, so that caches are warm and buffers have grown.
const WARM_UP: u32 = 100;
/// Requests that are counted.
pub(crate) const REQUESTS: u32 = 500;
/// How long may pass until it answers as it should.
const READY_TIME_MAX: Duration = Duration::from_secs(60);
/// Bytes of an answer, at most.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// Serves `arm` and asks it.
///
/// # Errors
/// When an answer is not the one that is expected.
pub(crate) fn ask_again_and_again(arm: Arm) -> anyhow::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let (question, mut connection) = runtime.block_on(async {
        let question = arm.serve().await?;
        let mut connection = TcpStream::connect(question.address).await?;
        connection.set_nodelay(true)?;
        timeout(READY_TIME_MAX, until_ready(&mut connection, &question)).await?;
        ask(&mut connection, &question, WARM_UP).await?;
        anyhow::Ok((question, connection))
    })?;
    measured_requests(&runtime, &mut connection, &question)
}

/// Asks until the answer is the one that is expected: what a server behind the host has is known a moment later.
async fn until_ready(connection: &mut TcpStream, question: &Question) {
    while ask(connection, question, 1).await.is_err() {
        sleep(Duration::from_millis(10)).await;
    }
}

/// What callgrind looks for by its name.
#[inline(never)]
fn measured_requests(runtime: &Runtime, connection: &mut TcpStream, question: &Question) -> anyhow::Result<()> {
    runtime.block_on(ask(connection, question, REQUESTS))
}

async fn ask(connection: &mut TcpStream, question: &Question, times: u32) -> anyhow::Result<()> {
    let mut answer = Vec::with_capacity(16 * 1024);
    for _ in 0..times {
        answer.clear();
        connection.write_all(question.request.as_bytes()).await?;
        while !is_whole(&answer)? {
            ensure!(answer.len() < ANSWER_BYTES_MAX, "an answer without an end");
            ensure!(connection.read_buf(&mut answer).await? > 0, "the server hung up: {}", lossy(&answer));
        }
        if !lossy(&answer).contains(&question.expects) {
            bail!("an answer without `{}`:\n{}", question.expects, lossy(&answer));
        }
    }
    Ok(())
}

fn lossy(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// Whether head and body are there, by `Content-Length` or by the last chunk.
fn is_whole(answer: &[u8]) -> anyhow::Result<bool> {
    let Some(head) = answer.windows(4).position(|four| four == b"\r\n\r\n") else { return Ok(false) };
    let text = std::str::from_utf8(&answer[..head]).context("a head is text")?;
    let field = |name: &str| {
        text.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    };
    match field("content-length") {
        Some(length) => Ok(answer.len() - head - 4 >= length.parse::<usize>()?),
        None => Ok(answer.ends_with(b"0\r\n\r\n")),
    }
}
