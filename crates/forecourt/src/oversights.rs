//! What serving passes over and a check tells: settings that do nothing or can't work, and files that nobody reads.

use std::path::Path;

use forecourt_egress::EgressConfig;
use forecourt_payments::PaymentsSettings;
use forecourt_settings::{Problem, Section};

/// Endings with which people write settings that are in another language.
const OTHER_LANGUAGES: [&str; 2] = ["yaml", "yml"];
/// The ending of settings.
const ENDING: &str = "toml";
/// Files of one folder that are looked at.
const FILES_MAX: usize = 20_000;

/// `[questions]` that turns nothing on: questions are counted with `log` alone.
pub(crate) fn idle_questions(section: Option<&Section>) -> Option<Problem> {
    let section = section.filter(|section| !section.has("log"))?;
    let text = "[questions] does nothing without `log = true`: no question is counted, kept or suggested";
    Some(section.problem(None, text).hint("set `log = true`, or `log = false` to say that it is meant so"))
}

/// A facilitator over plain http that the way out is closed to: nobody could ever pay.
pub(crate) fn plain_facilitator(
    section: &Section,
    payments: &PaymentsSettings,
    egress: &EgressConfig,
) -> Option<Problem> {
    let url = payments.facilitator.as_deref().filter(|url| url.trim().to_ascii_lowercase().starts_with("http://"))?;
    // Public addresses are never asked over plain http, so one that is opened is private.
    if egress.allow_http && !egress.allow.is_empty() {
        return None;
    }
    let text =
        format!("the facilitator {url} would be asked over plain http, which is closed: no payment could be made");
    let hint =
        "use https; one on this machine or in a private network is opened by `allow` and `allow_http` in [egress]";
    Some(section.problem(Some("facilitator"), text).hint(hint))
}

/// Files of a folder of settings whose endings are nearly right, or of another language: nobody reads them.
pub(crate) fn unread_files(folder: &Path) -> Vec<Problem> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(FILES_MAX);
    let mut problems: Vec<Problem> = entries.filter_map(|entry| unread(&entry.path())).collect();
    problems.sort_by(|one, other| one.file().cmp(other.file()));
    problems
}

fn unread(file: &Path) -> Option<Problem> {
    let is_hidden = file.file_name()?.to_str()?.starts_with('.');
    let ending = file.extension()?.to_str()?;
    if is_hidden || ending == ENDING || file.is_dir() {
        return None;
    }
    let other = OTHER_LANGUAGES.into_iter().find(|language| ending.eq_ignore_ascii_case(language));
    let text = match other {
        Some(language) => format!("nobody reads this file: settings are TOML, and not {language}"),
        None if is_misspelt(ending) => {
            format!("nobody reads this file: it ends in .{ending}, and settings end in .{ENDING}")
        }
        None => return None,
    };
    let right = file.with_extension(ENDING);
    let name = right.file_name()?.to_string_lossy().into_owned();
    let hint = match other {
        Some(_) => format!("write it as {name}, or move it out of this folder"),
        None => format!("rename it to {name}"),
    };
    Some(Problem::of_file(file, text).hint(hint))
}

/// Whether an ending is that of settings but for its case, one letter, or the order of its letters. One with another sign
/// in it, such as `toml~`, is of what an editor keeps beside a file.
fn is_misspelt(ending: &str) -> bool {
    let letters = |text: &str| {
        let mut letters: Vec<char> = text.chars().collect();
        letters.sort_unstable();
        letters
    };
    let without_one = |text: &str, other: &str| {
        let mut ends = text.char_indices().map(|(at, letter)| (at, at + letter.len_utf8()));
        ends.any(|(begin, end)| format!("{}{}", &text[..begin], &text[end..]) == other)
    };
    let ending = ending.to_ascii_lowercase();
    let is_near = letters(&ending) == letters(ENDING) || without_one(&ending, ENDING) || without_one(ENDING, &ending);
    is_near && ending.chars().all(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(text: &str) -> Section {
        Section::parse(Path::new("forecourt.toml"), text, &|_: &str| None).unwrap()
    }

    #[test]
    fn questions_that_turn_nothing_on_are_told_with_their_line() {
        let told = |text: &str| idle_questions(section(text).take("questions").as_ref()).and_then(|told| told.line());
        assert_eq!(told("domain = 'a'\n[questions]\nsuggest = true"), Some(2));
        assert_eq!(told("[questions]"), Some(1));
        for fine in ["[questions]\nlog = true", "[questions]\nlog = false\nkeep_days = 3", "domain = 'a'"] {
            assert_eq!(told(fine), None, "{fine}");
        }
    }

    #[test]
    fn a_facilitator_over_plain_http_is_told_unless_the_way_is_opened() {
        let told = |url: &str, egress: &str| {
            let payments = section(&format!("[payments]\nfacilitator = '{url}'")).take("payments").unwrap();
            let egress = section(egress).read::<EgressConfig>().unwrap();
            plain_facilitator(&payments, &payments.read().unwrap(), &egress).and_then(|told| told.line())
        };
        let opened = "allow = ['127.0.0.0/8']\nallow_http = true";
        assert_eq!(told("http://pay.example", ""), Some(2));
        assert_eq!(told("HTTP://pay.example", "allow_http = true"), Some(2), "only public addresses are left");
        assert_eq!(told("http://127.0.0.1:4021", opened), None);
        assert_eq!(told("https://pay.example", ""), None);
    }

    #[test]
    fn files_that_nobody_reads_are_told_and_those_beside_settings_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let wrong = ["a.tml", "b.yaml", "c.YML", "d.TOML"];
        let fine = ["e.toml", "e.toml~", "f.md", "g.json", "h.py", ".i.yaml", "j", "k.html"];
        wrong.iter().chain(&fine).for_each(|name| std::fs::write(folder.path().join(name), "").unwrap());
        let told = unread_files(folder.path());
        let names: Vec<_> = told.iter().map(|told| told.file().file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, wrong);
        assert!(told[0].next_step().unwrap().contains("a.toml") && told[1].message().contains("not yaml"));
        assert!(unread_files(&folder.path().join("none")).is_empty());
    }
}
