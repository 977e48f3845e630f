"""A server of the Python library `mcp` 2.x whose tools give what is no object, on its standard streams."""

from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel

server = MCPServer('wrapping')


class Dish(BaseModel):
    title: str
    price: float


@server.tool()
def words(message: str) -> str:
    """Says something."""
    return f'You said {message}.'


@server.tool()
def dishes(message: str) -> list[Dish]:
    """Lists dishes."""
    return [Dish(title='Pea soup', price=4.5), Dish(title='Leek tart', price=6)]


@server.tool()
def names(message: str) -> list[str]:
    """Lists names."""
    return ['pea', 'leek']


server.run()
