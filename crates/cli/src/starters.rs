//! The starters of `forecourt init --with`: the files of each, and what to do before the first question.

use clap::ValueEnum;

/// What a new deployment begins with: an agent of one kind, with all that it needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Starter {
    /// Answers from your files; needs no model and no keys
    #[default]
    Search,
    /// A language model; preset for Ollama on this machine, without a key
    Model,
    /// A web service of yours, with a small one in Python
    Http,
    /// A Python program that answers messages, and an endpoint that is a Python function
    Python,
    /// An A2A agent elsewhere, with a second deployment that plays it
    #[value(name = "a2a")]
    RemoteAgent,
    /// A tool of an MCP server, with a small server in Python
    #[value(name = "mcp")]
    ToolServer,
}

type Files = &'static [(&'static str, &'static str)];

impl Starter {
    /// The agent that a person asks first.
    pub(crate) fn handle(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Model => "assistant",
            Self::Http => "service",
            Self::Python => "helper",
            Self::RemoteAgent => "remote",
            Self::ToolServer => "tool",
        }
    }

    /// A question to which its agent has an answer.
    pub(crate) fn question(self) -> &'static str {
        match self {
            Self::Search => "what is here?",
            Self::Model => "What can you do?",
            Self::Http | Self::RemoteAgent | Self::ToolServer => "hello",
            Self::Python => "count these words",
        }
    }

    /// Its files: the path within the deployment, and the text.
    pub(crate) fn files(self) -> Files {
        match self {
            Self::Search => &[
                ("agents/search.toml", include_str!("commands/init/search/search.toml")),
                ("agents/echo.toml", include_str!("commands/init/echo.toml")),
                ("content/welcome.md", include_str!("commands/init/search/welcome.md")),
            ],
            Self::Model => &[
                ("agents/assistant.toml", include_str!("commands/init/model/assistant.toml")),
                ("tests/recorded/ollama-answer.json", include_str!("commands/init/model/answer.json")),
                ("tests/recorded/ollama-loaded.json", include_str!("commands/init/model/loaded.json")),
                ("tests/recorded/ollama-window.json", include_str!("commands/init/model/window.json")),
            ],
            Self::Http => &[
                ("agents/service.toml", include_str!("commands/init/http/service.toml")),
                ("service.py", include_str!("commands/init/http/service.py")),
                ("tests/recorded/service.json", include_str!("commands/init/http/service.json")),
            ],
            Self::Python => &[
                ("agents/helper.toml", include_str!("commands/init/python/helper.toml")),
                ("agent.py", include_str!("commands/init/python/agent.py")),
                ("endpoints/book-room.toml", include_str!("commands/init/python/book-room.toml")),
                ("functions/rooms.py", include_str!("commands/init/python/rooms.py")),
            ],
            Self::RemoteAgent => &[
                ("agents/remote.toml", include_str!("commands/init/a2a/remote.toml")),
                ("elsewhere/forecourt.toml", include_str!("commands/init/a2a/elsewhere.toml")),
                ("elsewhere/agents/echo.toml", include_str!("commands/init/a2a/echo.toml")),
                ("tests/recorded/elsewhere-card.json", include_str!("commands/init/a2a/card.json")),
                ("tests/recorded/elsewhere-keys.json", include_str!("commands/init/a2a/keys.json")),
                ("tests/recorded/elsewhere-sent.json", include_str!("commands/init/a2a/sent.json")),
            ],
            Self::ToolServer => &[
                ("agents/tool.toml", include_str!("commands/init/mcp/tool.toml")),
                ("tools.py", include_str!("commands/init/mcp/tools.py")),
            ],
        }
    }

    /// A test of its agent, which holds with what was recorded.
    pub(crate) fn test(self) -> &'static str {
        match self {
            Self::Search => include_str!("commands/init/search/test.toml"),
            Self::Model => include_str!("commands/init/model/test.toml"),
            Self::Http => include_str!("commands/init/http/test.toml"),
            Self::Python => include_str!("commands/init/python/test.toml"),
            Self::RemoteAgent => include_str!("commands/init/a2a/test.toml"),
            Self::ToolServer => include_str!("commands/init/mcp/test.toml"),
        }
    }

    /// What to do before serving: what it is for, and the command or the place. `DIR` is the deployment.
    pub(crate) fn steps(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Search => &[("put your content under", "DIR/content")],
            Self::Model => &[("get the model running", "ollama serve; ollama pull qwen3:8b")],
            Self::Http => &[("start the service", "python3 DIR/service.py")],
            Self::Python => &[("edit the program", "DIR/agent.py")],
            Self::RemoteAgent => &[("start the other side", "forecourt serve DIR/elsewhere")],
            Self::ToolServer => &[("edit the tool", "DIR/tools.py")],
        }
    }
}
