"""An MCP server: what is in the store room."""

from mcp_server import schema, serve

STOCK = {"monitor": 4, "keyboard": 11, "dock": 0}
ITEM = schema(item={"type": "string"})


def count(item):
    return f"{STOCK[item]} of {item}"


def remove_item(item):
    del STOCK[item]
    return f"{item} is no longer listed"


serve(
    "stock",
    {
        "count_item": ("How many of an item are in the store room.", ITEM, count),
        "remove_item": ("Takes an item off the list.", ITEM, remove_item),
    },
)
