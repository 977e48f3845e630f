//! `forecourt vocabulary`: words that a deployment could add.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use forecourt::House;
use forecourt::house::Content;
use forecourt_core::{Clock, SystemClock};

use super::index;
use crate::args::SuggestWords;
use crate::output::{Failure, Outcome, stderrln, stdoutln};

/// Questions without a good answer that are looked at.
const QUESTIONS: usize = 1_000;

const HEAD: &str = "\
# Words that this deployment could add, proposed by `forecourt vocabulary suggest`. Keep what is right, complete it, and
# delete the rest; `forecourt check` finds mistakes.
about = \"Proposed words\"
";

/// Prints the proposals, or writes them into a new file.
pub(crate) async fn suggest(suggest: &SuggestWords) -> Outcome {
    let deployment = super::load(&suggest.place)?;
    let data = forecourt::data_folder::make(deployment.data_folder())?;
    forecourt::data_folder::keep_private();
    let house = deployment.with_data_folder(data).build()?;
    let wanted = suggest.agent.as_deref().map(|agent| agent.trim_start_matches('@'));
    let is_it = |content: &&Content| wanted.is_none_or(|wanted| content.handle.as_str() == wanted);
    let contents: Vec<&Content> = house.contents().iter().filter(is_it).collect();
    if let (Some(wanted), true) = (wanted, contents.is_empty()) {
        return Err(Failure::yours(format!("there is no agent @{wanted} with content here")));
    }
    index::index_new(house.contents()).await?;
    let mut file = HEAD.to_owned();
    let mut is_empty = true;
    for content in contents {
        let unanswered = unanswered(&house, content)?;
        let proposed = content.indexing.proposed_words(&unanswered);
        let proposed = proposed.map_err(|error| Failure::yours(format!("@{}: {error}", content.handle)))?;
        if !proposed.is_empty() {
            is_empty = false;
            file.push_str(&format!("\n# @{}\n\n{proposed}", content.handle));
        }
    }
    if is_empty {
        stderrln!("nothing to propose: what items state and what was asked has its words");
        return Ok(());
    }
    match &suggest.write {
        None => stdoutln!("{}", file.trim_end()),
        Some(path) => {
            write_new(path, &file).map_err(|error| unwritten(path, &error))?;
            stderrln!("wrote {}: edit it, then `forecourt check`", path.display());
        }
    }
    Ok(())
}

/// The questions to an agent that had no good answer, each with how often it was asked. None without a log.
fn unanswered(house: &House, content: &Content) -> Result<Vec<(String, u64)>, Failure> {
    let Some(log) = house.questions() else { return Ok(Vec::new()) };
    let report = log.report(QUESTIONS, SystemClock.now()).map_err(|error| Failure::ours(error.to_string()))?;
    let own = report.without_good_answer.into_iter().filter(|one| one.agent == content.handle.as_str());
    Ok(own.map(|one| (one.question, one.asked)).collect())
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder)?;
    }
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(text.as_bytes())
}

fn unwritten(path: &Path, error: &io::Error) -> Failure {
    let failure = Failure::yours(format!("{} was not written: {error}", path.display()));
    match error.kind() {
        io::ErrorKind::AlreadyExists => {
            failure.hint("name another file, or move that one away: nothing is overwritten")
        }
        _ => failure,
    }
}
