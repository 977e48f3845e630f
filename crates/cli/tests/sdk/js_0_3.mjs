// @a2a-js/sdk 0.3.x, as its users use it, against a served deployment.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { ALICE, ALICE_WHEN_ASKED, PIECES, Receiver, URL, WHOLE, all, library, on, run } from './common.mjs';

const {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  createAuthenticatingFetchWithRetry,
} = library('@a2a-js/sdk/client');

const { GrpcTransportFactory } = library('@a2a-js/sdk/client/grpc');
const grpc = library('@grpc/grpc-js');

const TRANSPORTS = { jsonrpc: JsonRpcTransportFactory, rest: RestTransportFactory, grpc: GrpcTransportFactory };
const WIRES = Object.keys(TRANSPORTS);
const HTTP = ['jsonrpc', 'rest'];

/** A client of one agent, or of the hub, made from its card. */
async function client(wire, agent, clientConfig, handler) {
  const fetchImpl = handler && createAuthenticatingFetchWithRetry(fetch, handler);
  const grpcChannelCredentials = grpc.credentials.createSsl(readFileSync(process.env.NODE_EXTRA_CA_CERTS));
  const transports = [new TRANSPORTS[wire]({ fetchImpl, grpcChannelCredentials })];
  if (wire !== 'grpc') {
    return new ClientFactory({ transports, clientConfig }).createFromUrl(agent ? `${URL}/a2a/${agent}/` : URL);
  }
  const card = await new DefaultAgentCardResolver().resolve(URL);
  const hub = { ...card, url: URL.split('//')[1], preferredTransport: 'GRPC', additionalInterfaces: [] };
  const config = { ...clientConfig, interceptors: [mentioning(agent)] };
  return new ClientFactory({ transports, clientConfig: config }).createFromAgentCard(hub);
}

/** Over gRPC 0.3 knows the hub alone, so there a message that begins a task mentions its agent. */
function mentioning(agent) {
  const before = async ({ input: { value } }) => {
    if (value?.message && !value.message.taskId) value.message.parts[0].text = `@${agent} ${value.message.parts[0].text}`;
  };
  return { before, after: async () => {} };
}

function params(text, { task, context, more = [], ...configuration } = {}) {
  const parts = [{ kind: 'text', text }, ...more];
  const message = { kind: 'message', role: 'user', messageId: randomUUID(), parts, taskId: task, contextId: context };
  return Object.keys(configuration).length ? { message, configuration } : { message };
}

const textOf = (holder) => holder.parts.map((part) => part.text).join('');
const words = (task) => (task.artifacts ?? []).map(textOf).join('');
const policy = (status) => status.message.metadata.mentionable.policy;

/** A stream of @worker at work, begun anywhere in it. */
function assertWorked(items) {
  assert.equal(items[0].kind, 'task');
  const updates = items.filter((item) => item.kind === 'artifact-update');
  const pieces = updates.map((update) => textOf(update.artifact));
  assert.equal(pieces.at(-1), WHOLE);
  assert.equal(updates.at(-1).lastChunk, true);
  assert.ok(!updates.at(-1).append);
  assert.equal(words(items[0]) + pieces.slice(0, -1).join(''), WHOLE);
  assert.equal(items.at(-1).status.state, 'completed');
  assert.equal(items.at(-1).final, true);
}

on(['discovery'], 'card_is_at_the_well_known_path', async () => {
  const card = await new DefaultAgentCardResolver().resolve(URL);
  assert.equal(card.name, 'Demo');
  assert.equal(card.protocolVersion, '0.3.0');
  assert.equal(card.preferredTransport, 'JSONRPC');
  assert.ok(card.url.startsWith(`${URL}/`) && card.capabilities.streaming && card.capabilities.pushNotifications);
  assert.deepEqual(card.additionalInterfaces.map((face) => face.transport).sort(), ['HTTP+JSON', 'JSONRPC']);
});

on(['discovery'], 'factory_connects_by_address_alone', async () => {
  const found = await new ClientFactory().createFromUrl(URL);
  const answer = await found.sendMessage(params('hello'));
  assert.equal(answer.kind, 'message');
  assert.equal(textOf(answer), 'hello');
});

on(WIRES, 'sends', async (wire) => {
  const task = await (await client(wire, 'worker')).sendMessage(params('work'));
  assert.equal(task.status.state, 'completed');
  assert.equal(words(task), WHOLE);
  assert.ok(task.id && task.contextId);
});

on(WIRES, 'is_answered_with_a_message', async (wire) => {
  const found = await client(wire, 'echo');
  for (const answers of [[await found.sendMessage(params('hello'))], await all(found.sendMessageStream(params('hello')))]) {
    assert.deepEqual(answers.map((answer) => textOf(answer).replace('@echo ', '')), ['hello']);
    assert.equal(answers[0].role, 'agent');
  }
});

on(WIRES, 'streams', async (wire) => {
  const items = await all((await client(wire, 'worker')).sendMessageStream(params('work')));
  assertWorked(items);
  const updates = items.filter((item) => item.kind === 'artifact-update');
  assert.deepEqual(updates.map((update) => textOf(update.artifact)), [...PIECES, WHOLE]);
});

on(WIRES, 'sends_and_gets_files_and_data', async (wire) => {
  const bytes = Buffer.alloc(1000, Buffer.from([0, 255])).toString('base64');
  const file = { bytes, name: 'noise.bin', mimeType: 'application/octet-stream' };
  // Over gRPC the library can't write what is null.
  const data = { list: [1, 'two', wire === 'grpc' ? 2.5 : null, { three: 3.5 }] };
  const more = [{ kind: 'file', file }, { kind: 'data', data }];
  const task = await (await client(wire, 'echo')).sendMessage(params('Look:', { more }));
  const of = (kind) => task.artifacts.flatMap(({ parts }) => parts).filter((part) => part.kind === kind);
  assert.deepEqual(of('text').map((part) => part.text.replace('@echo ', '')), ['Look:']);
  const [back] = of('file');
  assert.deepEqual([back.file.bytes, back.file.mimeType], [bytes, file.mimeType]);
  assert.deepEqual(of('data').map((part) => part.data), [data]);
});

on(WIRES, 'sees_tools_at_work', async (wire) => {
  const items = await all((await client(wire, 'gate')).sendMessageStream(params('tool')));
  const parts = items.flatMap((item) => (item.kind === 'status-update' && item.status.message?.parts) || []);
  const tools = parts.filter((part) => part.kind === 'data').map((part) => part.data);
  assert.deepEqual(tools.map((tool) => tool.type), ['tool-call', 'tool-result']);
  assert.deepEqual(tools[1].output, { hits: 3 });
  const last = items.filter((item) => item.kind === 'artifact-update').at(-1);
  assert.equal(textOf(last.artifact), 'Let me look that up. There are three.');
});

on(WIRES, 'learns_of_failures', async (wire) => {
  const { status } = await (await client(wire, 'gate')).sendMessage(params('fail'));
  assert.equal(status.state, 'failed');
  assert.ok(textOf(status.message));
});

on(WIRES, 'gets_tasks', async (wire) => {
  const found = await client(wire, 'worker');
  const task = await found.sendMessage(params('work'));
  const again = await found.getTask({ id: task.id });
  assert.deepEqual(again.status, task.status);
  assert.equal(words(again), WHOLE);
  assert.ok(textOf(again.history[0]).endsWith('work'));
  await assert.rejects(found.getTask({ id: randomUUID() }), { name: 'TaskNotFoundError' });
});

on(WIRES, 'cancels', async (wire) => {
  const found = await client(wire, 'worker');
  const task = await found.sendMessage(params('wait', { blocking: false }));
  assert.ok(['submitted', 'working'].includes(task.status.state), task.status.state);
  assert.equal((await found.cancelTask({ id: task.id })).status.state, 'canceled');
  await assert.rejects(found.cancelTask({ id: task.id }), { name: 'TaskNotCancelableError' });
  await assert.rejects(found.cancelTask({ id: randomUUID() }), { name: 'TaskNotFoundError' });
});

on(WIRES, 'follows_a_task_again', async (wire) => {
  const found = await client(wire, 'worker');
  const task = await found.sendMessage(params('work', { blocking: false }));
  assertWorked(await all(found.resubscribeTask({ id: task.id })));
});

on(WIRES, 'is_notified', async (wire) => {
  const receiver = await Receiver.start();
  const pushNotificationConfig = { url: receiver.url('/told'), token: 's3cret' };
  const found = await client(wire, 'worker', { pushNotificationConfig });
  const task = await found.sendMessage(params('work', { blocking: false }));
  const { path, head, body } = await receiver.post();
  assert.deepEqual([path, head['x-a2a-notification-token']], ['/told', 's3cret']);
  assert.deepEqual([body.kind, body.id, body.status.state], ['task', task.id, 'completed']);
});

on(WIRES, 'keeps_notification_settings', async (wire) => {
  const receiver = await Receiver.start();
  const found = await client(wire, 'worker');
  const task = await found.sendMessage(params('wait', { blocking: false }));
  const authentication = { schemes: ['Bearer'], credentials: 'abc' };
  const pushNotificationConfig = { id: 'one', url: receiver.url('/one'), token: 't', authentication };
  const wanted = { taskId: task.id, pushNotificationConfig };
  // Secrets are written, and never read: some bindings leave them out, others leave them empty.
  const shown = (config) => {
    const { id, url, token, authentication: { schemes, credentials } } = config.pushNotificationConfig;
    assert.deepEqual([token || '', credentials || ''], ['', '']);
    return { taskId: config.taskId, id, url, schemes };
  };
  const open = { taskId: task.id, id: 'one', url: receiver.url('/one'), schemes: ['Bearer'] };
  assert.deepEqual(shown(await found.setTaskPushNotificationConfig(wanted)), open);
  const named = { id: task.id, pushNotificationConfigId: 'one' };
  assert.deepEqual(shown(await found.getTaskPushNotificationConfig(named)), open);
  assert.deepEqual((await found.listTaskPushNotificationConfig({ id: task.id })).map(shown), [open]);
  await found.cancelTask({ id: task.id });
  const { path, head, body } = await receiver.post();
  assert.deepEqual([path, head.authorization, body.status.state], ['/one', 'Bearer abc', 'canceled']);
  await found.deleteTaskPushNotificationConfig(named);
  assert.deepEqual(await found.listTaskPushNotificationConfig({ id: task.id }), []);
});

on(WIRES, 'is_refused', async (wire) => {
  const found = await client(wire, 'gate');
  const expected = {
    pay: ['payment_required', 'input-required'],
    login: ['unauthorized', 'auth-required'],
    forbid: ['forbidden', 'rejected'],
    flood: ['too_many_requests', 'failed'],
  };
  for (const [asked, [kind, state]] of Object.entries(expected)) {
    const { status } = await found.sendMessage(params(asked));
    const { part } = policy(status);
    assert.deepEqual([status.state, part.kind], [state, kind]);
    assert.ok(textOf(status.message).includes(part.message), asked);
  }
});

on(WIRES, 'is_refused_in_a_stream', async (wire) => {
  const items = await all((await client(wire, 'gate')).sendMessageStream(params('pay')));
  const { status, final } = items.at(-1);
  assert.deepEqual([status.state, final, policy(status).part.kind], ['input-required', true, 'payment_required']);
  assert.equal(status.message.metadata['x402.payment.status'], 'payment-required');
});

on(WIRES, 'goes_on_after_a_refusal', async (wire) => {
  const found = await client(wire, 'gate');
  const task = await found.sendMessage(params('pay'));
  const again = await found.sendMessage(params('paid', { task: task.id, context: task.contextId }));
  assert.deepEqual([again.id, again.status.state], [task.id, 'completed']);
  assert.ok(words(again).includes('Thank you'));
});

on(HTTP, 'mentions_agents_on_the_hub', async (wire) => {
  const found = await client(wire);
  assert.equal(textOf(await found.sendMessage(params('forbid'))), 'forbid');
  const rejected = await found.sendMessage(params('@gate forbid'));
  assert.equal(rejected.status.state, 'rejected');
  const later = await found.sendMessage(params('pay', { context: rejected.contextId }));
  assert.equal(policy(later.status).part.kind, 'payment_required');
});

on(['identity'], 'extended_card_is_for_callers_that_are_known', async () => {
  for (const wire of HTTP) {
    for (const handler of [ALICE, ALICE_WHEN_ASKED]) {
      const card = await (await client(wire, undefined, undefined, handler)).getAgentCard();
      const skills = card.skills.map((skill) => skill.id);
      assert.ok(['worker/work', 'gate/refuse', 'echo/echo'].every((skill) => skills.includes(skill)), skills);
    }
    await assert.rejects((await client(wire)).getAgentCard());
  }
});

on(['identity'], 'tasks_are_their_owner_s', async () => {
  for (const wire of HTTP) {
    const task = await (await client(wire, 'worker', undefined, ALICE)).sendMessage(params('work'));
    await assert.rejects((await client(wire, 'worker')).getTask({ id: task.id }), { name: 'TaskNotFoundError' });
  }
});

on(['identity'], 'rules_of_agents_know_the_caller', async () => {
  for (const wire of HTTP) {
    const answer = await (await client(wire, 'vip', undefined, ALICE)).sendMessage(params('hello'));
    assert.equal(textOf(answer), 'hello');
    const { status } = await (await client(wire, 'vip')).sendMessage(params('hello'));
    assert.deepEqual([status.state, policy(status).part.kind], ['auth-required', 'unauthorized']);
  }
});

await run();
