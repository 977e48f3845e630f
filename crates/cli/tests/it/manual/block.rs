//! Fenced blocks of a page, with what the comments before them say.

/// A fenced block, or commands in a comment that are run in its place.
#[derive(Debug)]
pub(super) struct Block {
    file: String,
    line: usize,
    /// The word behind the fence, such as `sh`.
    pub(super) language: String,
    pub(super) text: String,
    /// Why it is not run, if it is not.
    pub(super) not_run: Option<String>,
    /// The client library that a program needs, a folder of `.cache/sdk`.
    pub(super) library: Option<String>,
    /// The exit code that commands must end with.
    pub(super) exits: i32,
    /// Whether it shows what the commands before it print.
    pub(super) is_output: bool,
}

impl Block {
    /// Where it stands: file and line.
    pub(super) fn at(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }

    /// The file that the first line of its text names: all of the file, or a part of it (`# in FILE`).
    pub(super) fn named_file(&self) -> Option<(&str, bool)> {
        let line = self.text.lines().next()?;
        let name = line.strip_prefix("# ").or_else(|| line.strip_prefix("// "))?;
        let (name, is_part) = match name.strip_prefix("in ") {
            Some(name) => (name, true),
            None => (name, false),
        };
        let is_path = !name.contains(' ') && [".toml", ".py", ".mjs"].iter().any(|ending| name.ends_with(ending));
        is_path.then_some((name, is_part))
    }
}

/// All blocks of a page, in their order.
pub(super) fn blocks(file: &str, text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    let mut told = Told::default();
    while let Some((at, line)) = lines.next() {
        let block = |language: &str, text: String, told: Told| Block {
            file: file.to_owned(),
            line: at + 1,
            language: language.to_owned(),
            text,
            not_run: told.not_run,
            library: told.library,
            exits: told.exits,
            is_output: told.is_output,
        };
        let line = line.trim();
        if let Some(comment) = line.strip_prefix("<!--") {
            let mut comment = comment.to_owned();
            while !comment.contains("-->") {
                let (_, next) = lines.next().unwrap_or_else(|| panic!("{file}:{}: the comment has no end", at + 1));
                comment = format!("{comment}\n{next}");
            }
            let comment = comment.replace("-->", "");
            match comment.trim().split_once(':') {
                Some(("first", commands)) => found.push(block("sh", commands.trim().to_owned(), Told::default())),
                _ => told.take(comment.trim(), &format!("{file}:{}", at + 1)),
            }
        } else if let Some(language) = line.strip_prefix("```") {
            let inside = lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim() != "```");
            let text: Vec<&str> = inside.collect();
            found.push(block(language, text.join("\n"), std::mem::take(&mut told)));
        }
    }
    found
}

/// What comments say of the block behind them.
#[derive(Default)]
struct Told {
    not_run: Option<String>,
    library: Option<String>,
    exits: i32,
    is_output: bool,
}

impl Told {
    #[track_caller]
    fn take(&mut self, comment: &str, at: &str) {
        match comment.split_once(':').map_or((comment, ""), |(name, value)| (name, value.trim())) {
            ("not run", reason) => self.not_run = Some(reason.to_owned()),
            ("with", library) => self.library = Some(library.to_owned()),
            ("exits", code) => self.exits = code.parse().unwrap(),
            ("output", "") => self.is_output = true,
            _ => panic!("{at}: nobody understands this comment: {comment}"),
        }
    }
}

#[test]
fn blocks_know_their_place_and_what_is_said_of_them() {
    let page = "# A\n\n<!-- first:\nforecourt init x\n-->\n<!-- exits: 1 -->\n```sh\nfalse\n```\n\n- a\n\n  ```toml\n  # in a.toml\n  ```\n";
    let found = blocks("a.md", page);
    let shown: Vec<(String, &str, i32)> = found.iter().map(|b| (b.at(), b.text.trim(), b.exits)).collect();
    let expected = [
        ("a.md:3".to_owned(), "forecourt init x", 0),
        ("a.md:7".to_owned(), "false", 1),
        ("a.md:13".to_owned(), "# in a.toml", 0),
    ];
    assert_eq!(shown, expected);
}
