// @modelcontextprotocol/sdk 1.x, as its users use it, against a served deployment.

import assert from 'node:assert/strict';
import dns from 'node:dns';
import { createRequire } from 'node:module';
import path from 'node:path';

const library = createRequire(path.join(process.env.FORECOURT_SDK, 'package.json'));
const { Client } = library('@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } = library('@modelcontextprotocol/sdk/client/streamableHttp.js');
const { ElicitRequestSchema } = library('@modelcontextprotocol/sdk/types.js');

// Names below .localhost mean this machine; not every resolver knows that.
for (const resolver of [dns, dns.promises]) {
  const { lookup } = resolver;
  resolver.lookup = (host, ...rest) => lookup(host.endsWith('.localhost') ? '127.0.0.1' : host, ...rest);
}

const asked = [];
const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: { form: {}, url: {} } } });
client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
  asked.push(params.url);
  return { action: 'decline' };
});
const transport = new StreamableHTTPClientTransport(new URL(`${process.env.FORECOURT_URL}/mcp`));
await client.connect(transport);
const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);

const { tools } = await client.listTools();
for (const name of ['ask', 'await', 'await_task', 'ask_echo']) assert.ok(tools.some((tool) => tool.name === name), name);

const echoed = await call('ask_echo', { message: 'hello' });
assert.deepEqual([echoed.isError, echoed.structuredContent.text], [false, 'hello']);

const told = [];
const slow = await call('ask_gate', { message: 'slow' }, { onprogress: ({ progress }) => told.push(progress) });
assert.equal(slow.structuredContent.state, 'completed');
assert.deepEqual(told, [...told].sort());
assert.ok(told.length > 1);

const refused = await call('ask_gate', { message: 'forbid' });
assert.deepEqual([refused.isError, refused.structuredContent.refusal.kind], [true, 'forbidden']);
assert.ok((await call('ask_gate', { message: 'pay' })).isError);
assert.equal(asked.length, 1);

const file = await call('ask_gate', { message: 'file' });
assert.ok(file.content.some(({ type }) => type === 'image'));
await assert.rejects(call('ask_nobody', {}), { code: -32602 });

// What is found has the shape that the tool promised: the library checks that itself.
const found = await call('ask', { query: { text: 'hello' } });
assert.equal(found.structuredContent._meta.response_type, 'answer');
assert.deepEqual(JSON.parse(found.content[0].text), found.structuredContent);

// Who gives up waiting ends the work, and the connection goes on.
const giveUp = new AbortController();
setTimeout(() => giveUp.abort(), 500);
await assert.rejects(call('ask_worker', { message: 'wait' }, { signal: giveUp.signal }));
assert.equal((await call('ask_echo', { message: 'still there' })).structuredContent.text, 'still there');

const { prompts } = await client.listPrompts();
const words = await client.getPrompt({ name: prompts[0].name });
assert.match(words.messages[0].content.text, /ask_/);

// The same over standard input and output.
const { StdioClientTransport } = library('@modelcontextprotocol/sdk/client/stdio.js');
const pipe = new Client({ name: 'test', version: '1' });
const [command, ...args] = JSON.parse(process.env.FORECOURT_PIPE);
await pipe.connect(new StdioClientTransport({ command, args }));
const piped = await pipe.callTool({ name: 'ask_echo', arguments: { message: 'over a pipe' } });
assert.equal(piped.structuredContent.text, 'over a pipe');
await pipe.close();

const { contents } = await client.readResource({ uri: 'ui://forecourt/results.html' });
assert.match(contents[0].text, /^<!doctype html>/);
assert.ok((await client.listPrompts()).prompts.length > 0);

await transport.terminateSession();
await client.close();
console.log('fine');
