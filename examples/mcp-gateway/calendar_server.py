"""An MCP server: the calendar of the team."""

from mcp_server import schema, serve

ENTRIES = {"2031-03-03": ["10:00 planning"], "2031-03-04": ["14:00 demo"]}
DAY = {"type": "string", "description": "A day, such as 2031-03-03."}


def list_entries(day):
    return ", ".join(ENTRIES.get(day, [])) or "nothing"


def add_entry(day, text):
    ENTRIES.setdefault(day, []).append(text)
    return f"added to {day}: {text}"


serve(
    "calendar",
    {
        "list_entries": ("What is on a day.", schema(day=DAY), list_entries),
        "add_entry": ("Adds an entry to a day.", schema(day=DAY, text={"type": "string"}), add_entry),
    },
)
