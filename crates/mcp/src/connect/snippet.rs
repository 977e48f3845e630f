//! What is pasted into each program.

use forecourt_client::output::Failure;
use serde_json::{Value, json};

use super::Connection;
use super::program::ConnectingProgram;

/// What stands where a token belongs, in settings that can't name a variable.
pub(super) fn placeholder(variable: &str) -> String {
    format!("<the token of {variable}>")
}

impl Connection {
    /// The server's entry in the settings of its program.
    pub(super) fn entry(&self) -> Result<Value, Failure> {
        let variable = self.token_variable.as_deref();
        if self.program == ConnectingProgram::ClaudeDesktop {
            let mut entry = json!({"command": self.forecourt, "args": ["mcp", self.server.piped()]});
            if let Some(variable) = variable {
                // This program knows no variables: it starts another one, which reads this.
                entry["env"] = json!({"FORECOURT_TOKEN": placeholder(variable)});
            }
            return Ok(entry);
        }
        let url = self.server.url()?;
        let mut entry = match self.program {
            ConnectingProgram::ClaudeCode | ConnectingProgram::Vscode => json!({"type": "http", "url": url}),
            ConnectingProgram::GeminiCli => json!({"httpUrl": url}),
            _ => json!({"url": url}),
        };
        if let Some(variable) = variable {
            let named = match self.program {
                ConnectingProgram::Cursor | ConnectingProgram::Vscode => format!("${{env:{variable}}}"),
                _ => format!("${{{variable}}}"),
            };
            entry["headers"] = json!({"Authorization": format!("Bearer {named}")});
        }
        Ok(entry)
    }

    /// What is printed: where it goes, and what to paste there.
    pub(super) fn words(&self) -> Result<String, Failure> {
        if let Some(place) = self.program.settings() {
            let settings = json!({place.table: {&self.name: self.entry()?}});
            let text = serde_json::to_string_pretty(&settings).map_err(|error| Failure::ours(error.to_string()))?;
            let command = match self.program {
                ConnectingProgram::ClaudeCode => format!("{}\n\nor, in {}:\n\n", self.claude_code()?, place.shown()),
                _ => format!("In {} (or say --write):\n\n", place.shown()),
            };
            let secret = self.secret().map(|words| format!("{words}\n")).unwrap_or_default();
            return Ok(format!("{command}{text}\n\n{secret}{}\n", place.next));
        }
        match self.program {
            ConnectingProgram::Openai => self.openai(),
            ConnectingProgram::Langchain => self.langchain(),
            ConnectingProgram::Adk => self.adk(),
            ConnectingProgram::Inspector => self.inspector(),
            _ => self.curl(),
        }
    }

    /// Arguments of a shell's command that send the token, with a space in front.
    fn shell_header(&self, flag: &str) -> String {
        let header = |variable: &String| format!(" {flag} \"Authorization: Bearer ${variable}\"");
        self.token_variable.as_ref().map(header).unwrap_or_default()
    }

    /// The header fields as a dict of Python; empty without a token.
    fn python_headers(&self, before: &str) -> String {
        let header =
            |variable: &String| format!("{before}{{\"Authorization\": f\"Bearer {{os.environ['{variable}']}}\"}}");
        self.token_variable.as_ref().map(header).unwrap_or_default()
    }

    fn python_import(&self) -> &'static str {
        if self.token_variable.is_some() { "import os\n\n" } else { "" }
    }

    fn claude_code(&self) -> Result<String, Failure> {
        let (name, url) = (shell(&self.name), shell(&self.server.url()?));
        // In single quotes, and for the project: there the program reads the variable each time. A shell would put the
        // token itself into its settings.
        let (scope, header) = match &self.token_variable {
            Some(variable) => (" --scope project", format!(" --header 'Authorization: Bearer ${{{variable}}}'")),
            None => ("", String::new()),
        };
        Ok(format!("claude mcp add{scope} --transport http {name} {url}{header}"))
    }

    fn openai(&self) -> Result<String, Failure> {
        let (url, headers) = (python(&self.server.url()?), self.python_headers(", \"headers\": "));
        Ok(format!(
            "# pip install openai-agents\n{}from agents import Agent, Runner\nfrom agents.mcp import MCPServerStreamableHttp\n\n\n\
             async def main() -> None:\n    async with MCPServerStreamableHttp(name={}, params={{\"url\": {url}{headers}}}) as \
             server:\n        agent = Agent(name=\"assistant\", mcp_servers=[server])\n        \
             print((await Runner.run(agent, \"What can you do?\")).final_output)\n",
            self.python_import(),
            python(&self.name),
        ))
    }

    fn langchain(&self) -> Result<String, Failure> {
        let (url, headers) = (python(&self.server.url()?), self.python_headers(", \"headers\": "));
        Ok(format!(
            "# pip install langchain-mcp-adapters\n{}from langchain_mcp_adapters.client import MultiServerMCPClient\n\n\
             client = MultiServerMCPClient({{\n    {}: {{\"transport\": \"streamable_http\", \"url\": {url}{headers}}},\n}})\n\
             # in a coroutine\ntools = await client.get_tools()\n",
            self.python_import(),
            python(&self.name),
        ))
    }

    fn adk(&self) -> Result<String, Failure> {
        let (url, headers) = (python(&self.server.url()?), self.python_headers(", headers="));
        Ok(format!(
            "# pip install \"google-adk[mcp]\"\n{}from google.adk.tools.mcp_tool.mcp_session_manager import \
             StreamableHTTPConnectionParams\nfrom google.adk.tools.mcp_tool.mcp_toolset import McpToolset\n\n\
             toolset = McpToolset(connection_params=StreamableHTTPConnectionParams(url={url}{headers}))\n\
             # then: LlmAgent(…, tools=[toolset])\n",
            self.python_import(),
        ))
    }

    fn inspector(&self) -> Result<String, Failure> {
        let (url, header) = (shell(&self.server.url()?), self.shell_header("--header"));
        Ok(format!(
            "# in a browser\nnpx @modelcontextprotocol/inspector --transport http --server-url {url}{header}\n\n\
             # in the terminal\nnpx @modelcontextprotocol/inspector --cli {url} --transport http --method tools/list{header}\n"
        ))
    }

    fn curl(&self) -> Result<String, Failure> {
        let (url, header) = (shell(&self.server.url()?), self.shell_header("-H"));
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "curl", "version": "1"},
        });
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}});
        Ok(format!(
            "curl {url}{header} \\\n  -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
             \\\n  -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/list' \\\n  -d '{call}'\n"
        ))
    }
}

/// A text as an argument of a shell's command.
fn shell(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// A text as a literal of Python, which JSON's texts are.
fn python(text: &str) -> String {
    Value::from(text).to_string()
}
