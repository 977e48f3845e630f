//! The programs that can be connected, and where each keeps its settings.

use std::path::PathBuf;

use clap::ValueEnum;
use forecourt_client::output::Failure;

/// A program or library that speaks MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ConnectingProgram {
    /// Claude Desktop
    ClaudeDesktop,
    /// Claude Code
    ClaudeCode,
    /// Cursor
    Cursor,
    /// Visual Studio Code
    Vscode,
    /// Gemini CLI
    GeminiCli,
    /// The Agents SDK of OpenAI, in Python
    Openai,
    /// LangChain, in Python
    Langchain,
    /// The Agent Development Kit of Google, in Python
    Adk,
    /// The inspector of MCP
    Inspector,
    /// curl, to look at the wire
    Curl,
}

/// Where a program keeps its servers.
pub(super) struct ProgramSettings {
    base: Base,
    /// The file below that.
    file: &'static str,
    /// The table of its servers.
    pub(super) table: &'static str,
    /// What to do once it is written.
    pub(super) next: &'static str,
}

/// The folder that a settings file is named from.
enum Base {
    /// The user's home.
    Home,
    /// Where programs of this system keep their settings.
    Settings,
    /// The folder that the user is in, for settings of a project.
    Here,
}

impl ConnectingProgram {
    /// What it is called on the command line.
    pub(super) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Where its settings are; `None` for what is connected in code or by a command.
    pub(super) fn settings(self) -> Option<ProgramSettings> {
        let servers = "mcpServers";
        Some(match self {
            Self::ClaudeDesktop => ProgramSettings {
                base: Base::Settings,
                file: "Claude/claude_desktop_config.json",
                table: servers,
                next: "quit Claude Desktop and start it again",
            },
            Self::ClaudeCode => ProgramSettings {
                base: Base::Here,
                file: ".mcp.json",
                table: servers,
                next: "start `claude` in this folder and say yes to the server",
            },
            Self::Cursor => ProgramSettings {
                base: Base::Home,
                file: ".cursor/mcp.json",
                table: servers,
                next: "Cursor shows it under Settings, MCP",
            },
            Self::Vscode => ProgramSettings {
                base: Base::Here,
                file: ".vscode/mcp.json",
                table: "servers",
                next: "open this folder in Visual Studio Code and start the server in that file",
            },
            Self::GeminiCli => ProgramSettings {
                base: Base::Home,
                file: ".gemini/settings.json",
                table: servers,
                next: "start `gemini`; /mcp lists the server",
            },
            Self::Openai | Self::Langchain | Self::Adk | Self::Inspector | Self::Curl => return None,
        })
    }
}

impl ProgramSettings {
    /// The file. Fails where this machine has no home folder.
    pub(super) fn path(&self) -> Result<PathBuf, Failure> {
        let folder = match self.base {
            Base::Here => Some(PathBuf::new()),
            Base::Home => variable("HOME").or_else(|| variable("USERPROFILE")),
            Base::Settings => settings_folder(),
        };
        let lost = || Failure::yours("there is no home folder: HOME is not set").hint("--file names the file");
        Ok(folder.ok_or_else(lost)?.join(self.file))
    }

    /// The file as people are told where it is.
    pub(super) fn shown(&self) -> String {
        self.path().map_or_else(|_| self.file.to_owned(), |path| path.display().to_string())
    }
}

fn settings_folder() -> Option<PathBuf> {
    if cfg!(target_os = "macos") {
        return variable("HOME").map(|home| home.join("Library/Application Support"));
    }
    if cfg!(windows) {
        return variable("APPDATA");
    }
    variable("XDG_CONFIG_HOME").or_else(|| variable("HOME").map(|home| home.join(".config")))
}

/// An absolute path in a variable of the environment.
fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}
