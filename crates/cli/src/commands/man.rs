//! `forecourt man`: the manual pages, out of the same words as `--help`.

use crate::args::{self, Man};
use crate::output::{Failure, Outcome, stderrln, stdout};

/// Prints the first page, or writes all of them.
pub(crate) fn run(man: &Man) -> Outcome {
    let command = args::command();
    let Some(folder) = &man.out else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        stdout(format_args!("{}", String::from_utf8_lossy(&page)));
        return Ok(());
    };
    let wrong = |error: std::io::Error| Failure::yours(format!("{}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(wrong)?;
    clap_mangen::generate_to(command, folder).map_err(wrong)?;
    stderrln!("wrote the pages into {}", folder.display());
    Ok(())
}
