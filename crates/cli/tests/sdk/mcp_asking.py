"""A server of the Python library `mcp` 2.x whose tool asks in the middle of a call, on its standard streams."""

from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel, Field

server = MCPServer('asking')


class Choice(BaseModel):
    place: str = Field(title='Where?')
    guests: int = Field(title='How many guests?')


@server.tool()
async def book(message: str, ctx: Context) -> str:
    """Books a table."""
    asked = await ctx.elicit('Two things.', Choice)
    if asked.action != 'accept':
        return f'{message}: nobody said where'
    return f'{message}: {asked.data.place}, {asked.data.guests} guests'


server.run()
