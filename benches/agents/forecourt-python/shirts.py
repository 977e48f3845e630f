from forecourt_agent import agent

PRICES = {"S": 12, "M": 14}


@agent
async def shirts(message, ctx):
    yield "With pleasure. "
    yield "There are two sizes. "
    size = await ctx.ask("Which size?", options=list(PRICES))
    await ctx.file("order.csv", f"size,price\n{size},{PRICES[size]}\n")
    ctx.usage(model="press", input=0, output=0, cost=0.02)
    yield f"One shirt of size {size}: {PRICES[size]} euros."
