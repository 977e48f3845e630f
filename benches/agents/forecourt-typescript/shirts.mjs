import { agent } from "forecourt-agent";

const PRICES = { S: 12, M: 14 };

export default agent(async function* shirts(message, ctx) {
  yield "With pleasure. ";
  yield "There are two sizes. ";
  const size = await ctx.ask("Which size?", { options: Object.keys(PRICES) });
  await ctx.file("order.csv", `size,price\n${size},${PRICES[size]}\n`);
  ctx.usage({ model: "press", input: 0, output: 0, cost: 0.02 });
  yield `One shirt of size ${size}: ${PRICES[size]} euros.`;
});
