import sys

from fastmcp import Context, FastMCP
from fastmcp.tools import ToolResult
from fastmcp.utilities.types import File
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

PRICES = {"S": 12, "M": 14}
mcp = FastMCP("Shirts")


@mcp.tool
async def shirts(message: str, ctx: Context) -> ToolResult | InputRequiredResult:
    """Sells shirts."""
    if ctx.input_responses is None:
        await ctx.report_progress(0, message="With pleasure. ")
        await ctx.report_progress(1, message="There are two sizes. ")
    # The newest revision asks in the result and is called again, those before it ask within the call.
    if ctx.request_context.protocol_version >= "2026-07-28":
        answer = (ctx.input_responses or {}).get("size")
        if answer is None or (answer.action == "accept" and answer.content.get("size") not in PRICES):
            return question()
        size = answer.content["size"] if answer.action == "accept" else None
    else:
        answer = await ctx.elicit("Which size?", list(PRICES))
        size = answer.data if answer.action == "accept" else None
    if size is None:
        return ToolResult("Without a size there is no shirt.", is_error=True)
    order = File(data=f"size,price\n{size},{PRICES[size]}\n".encode(), format="csv", name="order")
    text = f"One shirt of size {size}: {PRICES[size]} euros."
    return ToolResult([text, order.to_resource_content()], meta={"cost": 0.02})


def question():
    schema = {
        "type": "object",
        "properties": {"size": {"type": "string", "enum": list(PRICES)}},
        "required": ["size"],
    }
    params = ElicitRequestFormParams(message="Which size?", requested_schema=schema)
    return InputRequiredResult(input_requests={"size": ElicitRequest(params=params)})


mcp.run("http", port=int(sys.argv[1]), show_banner=False, log_level="error")
