//! The arguments of `forecourt test`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Test {
    /// The folder of the deployment.
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Run the tests with this in their names; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Ask models and other services, and keep what they answer in tests/recorded: without keys and tokens. When all
    /// tests are recorded and pass, recordings that none of them needs are removed.
    #[arg(long)]
    pub record: bool,
    /// Ask models and other services, and keep nothing.
    #[arg(long, conflicts_with = "record")]
    pub live: bool,
    /// Have this agent of the deployment judge the answers that a test has a `judge` for. What it says is recorded, too.
    #[arg(long, value_name = "AGENT")]
    pub judge: Option<String>,
    /// Run no test: serve the deployment as tests see it until standard input ends, and print where it listens as JSON.
    /// For programs that test it, such as the libraries for Python and TypeScript.
    #[arg(long, conflicts_with_all = ["only", "judge", "junit"])]
    pub serve: bool,
    /// Write a report for continuous integration as JUnit XML.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}
