//! Files of a deployment that give what they define their own name.

use std::path::Path;

use forecourt_core::Handle;
use forecourt_settings::Problem;

/// The name of what a file defines, which is called `what`: that of the file. Fails when it is none; `example` is a file
/// that is called rightly.
pub(crate) fn name_of_file(file: &Path, what: &str, example: &str) -> Result<Handle, Problem> {
    let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let named = Handle::parse(stem).ok().filter(|name| name.as_str() == stem);
    named.ok_or_else(|| {
        let problem = Problem::of_file(file, format!("`{stem}` is no name of a {what}, which is that of its file"));
        problem.hint(format!("call the file by 1 to 30 of a-z, 0-9, `_` and `-`, such as {example}"))
    })
}
