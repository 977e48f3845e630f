//! `forecourt eval`: how good answers are, on judged questions or on those that people asked.

mod log;
mod measured;
mod table;

use std::path::Path;

use forecourt::House;
use forecourt::house::Content;
use forecourt_agents::JudgedCorpus;
use forecourt_eval::{FileProblem, JudgedQuestion, JudgedSet, write_items};

use self::measured::{EvalReport, measure};
use crate::args::{Eval, Place};
use crate::output::{Failure, Outcome, print_json, stderrln};

/// Measures, and compares when there is something to compare with.
pub(crate) async fn run(eval: &Eval) -> Outcome {
    let eval_place = eval.place.clone();
    let compared = eval.compare.clone().map(|dir| Place { dir, data: None, named_by: None });
    match &eval.judged {
        None => log::run(eval).await,
        Some(folder) => {
            let set = JudgedSet::read(folder).map_err(|problems| unreadable(&problems))?;
            if set.questions.is_empty() {
                return Err(Failure::yours(format!("{}: no question has a relevant document", folder.display())));
            }
            let first = of_set(&eval_place, eval.agent.as_deref(), &set).await?;
            let second = match &compared {
                Some(place) => Some(of_set(place, eval.agent.as_deref(), &set).await?),
                None => None,
            };
            show(eval, &set, &first, second.as_ref())
        }
    }
}

fn show(eval: &Eval, set: &JudgedSet, first: &EvalReport, second: Option<&EvalReport>) -> Outcome {
    if eval.json {
        return print_json(&table::as_json(set, first, second));
    }
    table::print(set, first, second);
    Ok(())
}

/// Asks one deployment all questions of a set.
async fn of_set(place: &Place, agent: Option<&str>, set: &JudgedSet) -> Result<EvalReport, Failure> {
    let house = house(place)?;
    let content = content(&house, agent)?;
    let name = format!("@{} of {}", content.handle, place.dir.display());
    let (indexing, corpus, questions) = (content.indexing.clone(), set.corpus.clone(), set.questions.clone());
    blocking(move || {
        let Some(corpus) = corpus else {
            let ranker = indexing.ranker(None).map_err(|error| in_use(&error.to_string()))?;
            return measure(name, &*ranker, &questions);
        };
        let folder = tempfile::tempdir().map_err(|error| Failure::ours(format!("no folder for an index: {error}")))?;
        // An index of its own: measuring must not touch the one that is served.
        let (items, index) = (folder.path().join("items.jsonl"), folder.path().join("index"));
        let count = write_items(&corpus, &items).map_err(|problems| unreadable(&problems))?;
        stderrln!("{name}: indexing {count} documents");
        let ranker = indexing.ranker(Some(JudgedCorpus { items: &items, index: &index }));
        let ranker = ranker.map_err(|error| Failure::yours(error.to_string()))?;
        measure(name, &*ranker, &questions)
    })
    .await
}

/// Asks the agent about its own items.
async fn of_items(content: &Content, dir: &Path, questions: Vec<JudgedQuestion>) -> Result<EvalReport, Failure> {
    let name = format!("@{} of {}", content.handle, dir.display());
    let indexing = content.indexing.clone();
    blocking(move || {
        let ranker = indexing.ranker(None).map_err(|error| in_use(&error.to_string()))?;
        measure(name, &*ranker, &questions)
    })
    .await
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Failure> + Send + 'static) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Failure::ours(error.to_string()))?
}

fn house(place: &Place) -> Result<House, Failure> {
    let deployment = super::load(place)?;
    let data = forecourt::data_folder::make(deployment.data_folder())?;
    forecourt::data_folder::keep_private();
    Ok(deployment.with_data_folder(data).build()?)
}

/// The content of the agent that is meant.
fn content<'h>(house: &'h House, agent: Option<&str>) -> Result<&'h Content, Failure> {
    let wanted = agent.map(|agent| agent.trim_start_matches('@'));
    let is_it = |content: &&Content| wanted.is_none_or(|wanted| content.handle.as_str() == wanted);
    house.contents().iter().find(is_it).ok_or_else(|| {
        let known: Vec<String> = house.contents().iter().map(|content| format!("@{}", content.handle)).collect();
        match (wanted, known.as_slice()) {
            (_, []) => Failure::yours("no agent of this deployment answers from content"),
            (Some(wanted), _) => Failure::yours(format!("no agent @{wanted} answers from content"))
                .hint(format!("there is {}", known.join(", "))),
            (None, _) => Failure::yours("no agent of this deployment answers from content"),
        }
    })
}

fn in_use(error: &str) -> Failure {
    Failure::yours(error).hint("an index that is being served is measured on a copy of its data folder: --data COPY")
}

fn unreadable(problems: &[FileProblem]) -> Failure {
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    Failure::yours(lines.join("\n"))
}
