// @a2a-js/sdk 1.x, as its users use it, against a served deployment.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

import {
  ALICE,
  ALICE_WHEN_ASKED,
  PIECES,
  Receiver,
  URL,
  WHOLE,
  agree,
  all,
  library,
  on,
  publicKey,
  run,
} from './common.mjs';

const { Role, SendMessageRequest, TaskPushNotificationConfig, TaskState, verifyAgentCardSignature } =
  library('@a2a-js/sdk');
const {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
  createAuthenticatingFetchWithRetry,
} = library('@a2a-js/sdk/client');
const { TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } = library('@a2a-js/sdk/errors');

const { GrpcTransportFactory } = library('@a2a-js/sdk/client/grpc');
const grpc = library('@grpc/grpc-js');

const TRANSPORTS = { jsonrpc: JsonRpcTransportFactory, rest: RestTransportFactory, grpc: GrpcTransportFactory };
const WIRES = Object.keys(TRANSPORTS);
const HTTP = ['jsonrpc', 'rest'];

/** A client of one agent, or of the hub, made from its card. */
async function client(wire, agent, clientConfig, handler) {
  const fetchImpl = handler && createAuthenticatingFetchWithRetry(fetch, handler);
  const grpcChannelCredentials = grpc.credentials.createSsl(readFileSync(process.env.NODE_EXTRA_CA_CERTS));
  const options = { transports: [new TRANSPORTS[wire]({ fetchImpl, grpcChannelCredentials })], clientConfig };
  const found = await new ClientFactory(options).createFromUrl(agent ? `${URL}/a2a/${agent}/` : URL);
  assert.equal(found.protocolVersion, '1.0');
  return found;
}

function request(text, { task, context, more = [], ...configuration } = {}) {
  const parts = [{ text }, ...more];
  const message = { role: 'ROLE_USER', messageId: randomUUID(), parts, taskId: task, contextId: context };
  return SendMessageRequest.fromJSON({ message, configuration });
}

const textOf = (holder) => holder.parts.map((part) => part.content.value).join('');
const words = (task) => task.artifacts.map(textOf).join('');
const policy = (status) => status.message.metadata.mentionable.policy;

/** A stream of @worker at work, begun anywhere in it. */
function assertWorked(items) {
  const of = (kind) => items.filter(({ payload }) => payload.$case === kind).map(({ payload }) => payload.value);
  assert.equal(items[0].payload.$case, 'task');
  const updates = of('artifactUpdate');
  const pieces = updates.map((update) => textOf(update.artifact));
  assert.equal(pieces.at(-1), WHOLE);
  assert.ok(updates.at(-1).lastChunk && !updates.at(-1).append);
  assert.equal(words(of('task')[0]) + pieces.slice(0, -1).join(''), WHOLE);
  assert.equal(items.at(-1).payload.$case, 'statusUpdate');
  assert.equal(of('statusUpdate').at(-1).status.state, TaskState.TASK_STATE_COMPLETED);
  return pieces;
}

on(['discovery'], 'card_is_at_the_well_known_path', async () => {
  const card = await new DefaultAgentCardResolver().resolve(URL);
  assert.equal(card.name, 'Demo');
  assert.ok(card.capabilities.streaming && card.capabilities.pushNotifications);
  const faces = card.supportedInterfaces;
  assert.deepEqual(
    faces.map((face) => `${face.protocolBinding} ${face.protocolVersion}`),
    ['JSONRPC 1.0', 'HTTP+JSON 1.0', 'JSONRPC 0.3', 'HTTP+JSON 0.3'],
  );
  assert.ok(faces.every((face) => face.url.startsWith(`${URL}/`)));
});

// It talks of every signature that it passes over.
console.debug = () => {};
const verify = verifyAgentCardSignature((kid, jku) => publicKey(jku, kid));

/** What is at an address, for one who speaks 1.0 and for anybody. */
async function documents(address, headers = {}) {
  const forms = [{ 'A2A-Version': '1.0' }, {}].map((version) => fetch(address, { headers: { ...version, ...headers } }));
  return Promise.all(forms.map(async (form) => (await form).json()));
}

async function assertSigned(card) {
  await verify(card);
  await assert.rejects(verify({ ...card, name: 'Another' }));
}

on(['discovery'], 'signatures_hold_for_cards_of_the_resolver', async () => {
  for (const base of [URL, `${URL}/a2a/worker/`]) await assertSigned(await new DefaultAgentCardResolver().resolve(base));
});

// The resolver of 1.3 unfolds security schemes into a form that its verifier does not read, so where
// a card has them it is what was sent that is verified.
on(['discovery', 'identity'], 'signatures_hold_for_cards_as_they_are_sent', async () => {
  for (const base of [URL, `${URL}/a2a/worker`]) {
    for (const card of await documents(`${base}/.well-known/agent-card.json`)) await assertSigned(card);
  }
});

on(['discovery'], 'factory_connects_by_address_alone', async () => {
  const found = await new ClientFactory().createFromUrl(URL);
  const answer = await found.sendMessage(request('hello'));
  assert.equal(answer.role, Role.ROLE_AGENT);
  assert.equal(textOf(answer), 'hello');
});

on(WIRES, 'sends', async (wire) => {
  const task = await (await client(wire, 'worker')).sendMessage(request('work'));
  assert.equal(task.status.state, TaskState.TASK_STATE_COMPLETED);
  assert.equal(words(task), WHOLE);
  assert.ok(task.id && task.contextId);
});

on(WIRES, 'is_answered_with_a_message', async (wire) => {
  const found = await client(wire, 'echo');
  const [item, ...more] = await all(found.sendMessageStream(request('hello')));
  assert.deepEqual([item.payload.$case, textOf(item.payload.value), more], ['message', 'hello', []]);
  assert.equal(textOf(await found.sendMessage(request('hello'))), 'hello');
});

on(WIRES, 'streams', async (wire) => {
  const pieces = assertWorked(await all((await client(wire, 'worker')).sendMessageStream(request('work'))));
  assert.deepEqual(pieces, [...PIECES, WHOLE]);
});

on(WIRES, 'sends_and_gets_files_and_data', async (wire) => {
  const noise = Buffer.alloc(1000, Buffer.from([0, 255]));
  const file = { raw: noise.toString('base64'), filename: 'noise.bin', mediaType: 'application/octet-stream' };
  const data = { list: [1, 'two', null, { three: 3.5 }] };
  const task = await (await client(wire, 'echo')).sendMessage(request('Look:', { more: [file, { data }] }));
  const of = (kind) => task.artifacts.flatMap(({ parts }) => parts).filter((part) => part.content.$case === kind);
  assert.deepEqual(of('text').map((part) => part.content.value), ['Look:']);
  const [back] = of('raw');
  assert.deepEqual([back.filename, back.mediaType], [file.filename, file.mediaType]);
  assert.ok(noise.equals(back.content.value));
  assert.deepEqual(of('data').map((part) => part.content.value), [data]);
});

on(WIRES, 'sees_tools_at_work', async (wire) => {
  const items = await all((await client(wire, 'gate')).sendMessageStream(request('tool')));
  const of = (kind) => items.filter(({ payload }) => payload.$case === kind).map(({ payload }) => payload.value);
  const parts = of('statusUpdate').flatMap(({ status }) => status.message?.parts ?? []);
  const tools = parts.filter((part) => part.content.$case === 'data').map((part) => part.content.value);
  assert.deepEqual(tools.map((tool) => tool.type), ['tool-call', 'tool-result']);
  assert.deepEqual(tools[1].output, { hits: 3 });
  assert.equal(textOf(of('artifactUpdate').at(-1).artifact), 'Let me look that up. There are three.');
});

on(WIRES, 'learns_of_failures', async (wire) => {
  const { status } = await (await client(wire, 'gate')).sendMessage(request('fail'));
  assert.equal(status.state, TaskState.TASK_STATE_FAILED);
  assert.ok(textOf(status.message));
});

on(WIRES, 'gets_tasks', async (wire) => {
  const found = await client(wire, 'worker');
  const task = await found.sendMessage(request('work'));
  const again = await found.getTask({ id: task.id, tenant: '' });
  assert.deepEqual(again.status, task.status);
  assert.deepEqual([words(again), textOf(again.history[0])], [WHOLE, 'work']);
  assert.deepEqual((await found.getTask({ id: task.id, tenant: '', historyLength: 0 })).history, []);
  await assert.rejects(found.getTask({ id: randomUUID(), tenant: '' }), TaskNotFoundError);
});

on(WIRES, 'lists_tasks_of_a_conversation', async (wire) => {
  const found = await client(wire, 'worker');
  const first = await found.sendMessage(request('work'));
  const contextId = first.contextId;
  const second = await found.sendMessage(request('work', { context: contextId }));
  const asked = { tenant: '', contextId, status: TaskState.TASK_STATE_UNSPECIFIED, pageSize: 1, pageToken: '' };
  const page = await found.listTasks(asked);
  assert.deepEqual([page.tasks.map((task) => task.id), page.totalSize], [[second.id], 2]);
  const rest = await found.listTasks({ ...asked, pageToken: page.nextPageToken });
  assert.deepEqual([rest.tasks.map((task) => task.id), rest.nextPageToken], [[first.id], '']);
  const failed = await found.listTasks({ ...asked, status: TaskState.TASK_STATE_FAILED });
  assert.deepEqual(failed.tasks, []);
});

on(WIRES, 'cancels', async (wire) => {
  const found = await client(wire, 'worker');
  const task = await found.sendMessage(request('wait', { returnImmediately: true }));
  assert.ok([TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING].includes(task.status.state));
  const asked = { id: task.id, tenant: '', metadata: undefined };
  assert.equal((await found.cancelTask(asked)).status.state, TaskState.TASK_STATE_CANCELED);
  await assert.rejects(found.cancelTask(asked), TaskNotCancelableError);
  await assert.rejects(found.cancelTask({ ...asked, id: randomUUID() }), TaskNotFoundError);
});

on(WIRES, 'follows_a_task_again', async (wire) => {
  const found = await client(wire, 'worker');
  const task = await found.sendMessage(request('work', { returnImmediately: true }));
  assertWorked(await all(found.resubscribeTask({ id: task.id, tenant: '' })));
  await assert.rejects(all(found.resubscribeTask({ id: task.id, tenant: '' })), UnsupportedOperationError);
});

on(WIRES, 'is_notified', async (wire) => {
  const receiver = await Receiver.start();
  const pushNotificationConfig = TaskPushNotificationConfig.fromJSON({ url: receiver.url('/told'), token: 's3cret' });
  const found = await client(wire, 'worker', { pushNotificationConfig });
  const task = await found.sendMessage(request('work', { returnImmediately: true }));
  const { path, head, body } = await receiver.post();
  assert.deepEqual([path, head['x-a2a-notification-token']], ['/told', 's3cret']);
  assert.equal(head['content-type'], 'application/a2a+json');
  assert.deepEqual([body.task.id, body.task.status.state], [task.id, 'TASK_STATE_COMPLETED']);
});

on(WIRES, 'keeps_notification_settings', async (wire) => {
  const receiver = await Receiver.start();
  const found = await client(wire, 'worker');
  const { id: taskId } = await found.sendMessage(request('wait', { returnImmediately: true }));
  const authentication = { scheme: 'Bearer', credentials: 'abc' };
  const wanted = { tenant: '', id: 'one', taskId, url: receiver.url('/one'), token: 't', authentication };
  // Secrets are written, and never read.
  const shown = { ...wanted, token: '', authentication: { ...authentication, credentials: '' } };
  assert.deepEqual(await found.createTaskPushNotificationConfig(wanted), shown);
  const named = { tenant: '', taskId, id: 'one' };
  assert.deepEqual(await found.getTaskPushNotificationConfig(named), shown);
  const asked = { tenant: '', taskId, pageSize: 10, pageToken: '' };
  assert.deepEqual((await found.listTaskPushNotificationConfig(asked)).configs, [shown]);
  await found.cancelTask({ id: taskId, tenant: '', metadata: undefined });
  const { path, head, body } = await receiver.post();
  assert.deepEqual([path, head.authorization], ['/one', 'Bearer abc']);
  assert.equal(body.task.status.state, 'TASK_STATE_CANCELED');
  await found.deleteTaskPushNotificationConfig(named);
  assert.deepEqual((await found.listTaskPushNotificationConfig(asked)).configs, []);
});

on(WIRES, 'is_refused', async (wire) => {
  const found = await client(wire, 'gate');
  const expected = {
    pay: ['payment_required', TaskState.TASK_STATE_INPUT_REQUIRED],
    login: ['unauthorized', TaskState.TASK_STATE_AUTH_REQUIRED],
    forbid: ['forbidden', TaskState.TASK_STATE_REJECTED],
    flood: ['too_many_requests', TaskState.TASK_STATE_FAILED],
  };
  for (const [asked, [kind, state]] of Object.entries(expected)) {
    const { status } = await found.sendMessage(request(asked));
    const { part } = policy(status);
    assert.deepEqual([status.state, part.kind], [state, kind]);
    assert.ok(textOf(status.message).includes(part.message), asked);
  }
});

on(WIRES, 'is_refused_in_a_stream', async (wire) => {
  const items = await all((await client(wire, 'gate')).sendMessageStream(request('pay')));
  const { status } = items.at(-1).payload.value;
  assert.deepEqual([status.state, policy(status).part.kind], [TaskState.TASK_STATE_INPUT_REQUIRED, 'payment_required']);
  assert.equal(status.message.metadata['x402.payment.status'], 'payment-required');
});

on(WIRES, 'goes_on_after_a_refusal', async (wire) => {
  const found = await client(wire, 'gate');
  const task = await found.sendMessage(request('pay'));
  const again = await found.sendMessage(request('paid', { task: task.id, context: task.contextId }));
  assert.deepEqual([again.id, again.status.state], [task.id, TaskState.TASK_STATE_COMPLETED]);
  assert.ok(words(again).includes('Thank you'));
});

on(HTTP, 'mentions_agents_on_the_hub', async (wire) => {
  const found = await client(wire);
  assert.equal(textOf(await found.sendMessage(request('forbid'))), 'forbid');
  const rejected = await found.sendMessage(request('@gate forbid'));
  assert.equal(rejected.status.state, TaskState.TASK_STATE_REJECTED);
  const later = await found.sendMessage(request('pay', { context: rejected.contextId }));
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
  const [card] = await documents(`${URL}/a2a/extendedAgentCard`, await ALICE.headers());
  await assertSigned(card);
});

on(['identity'], 'tasks_are_their_owner_s', async () => {
  const asked = { tenant: '', contextId: '', status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: '' };
  for (const wire of HTTP) {
    const alice = await client(wire, 'worker', undefined, ALICE);
    const { id } = await alice.sendMessage(request('work'));
    assert.ok((await alice.listTasks(asked)).tasks.some((task) => task.id === id));
    const stranger = await client(wire, 'worker');
    await assert.rejects(stranger.getTask({ id, tenant: '' }), TaskNotFoundError);
    assert.deepEqual((await stranger.listTasks(asked)).tasks, []);
  }
});

on(['identity'], 'rules_of_agents_know_the_caller', async () => {
  for (const wire of HTTP) {
    const answer = await (await client(wire, 'vip', undefined, ALICE)).sendMessage(request('hello'));
    assert.equal(textOf(answer), 'hello');
    const { status } = await (await client(wire, 'vip')).sendMessage(request('hello'));
    assert.deepEqual([status.state, policy(status).part.kind], [TaskState.TASK_STATE_AUTH_REQUIRED, 'unauthorized']);
  }
});

on(['identity'], 'who_signs_in_goes_on_with_the_task', async () => {
  for (const wire of HTTP) {
    const asked = await (await client(wire, 'vip')).sendMessage(request('hello'));
    assert.equal(asked.status.state, TaskState.TASK_STATE_AUTH_REQUIRED);
    const known = await client(wire, 'vip', undefined, ALICE);
    const done = await known.sendMessage(request('hello again', { task: asked.id }));
    assert.deepEqual([done.id, done.status.state], [asked.id, TaskState.TASK_STATE_COMPLETED]);
    assert.equal(textOf(done.status.message), 'hello again');
  }
});

on(['identity'], 'who_agrees_goes_on_with_the_task', async () => {
  for (const wire of HTTP) {
    const found = await client(wire, 'terms');
    const asked = await found.sendMessage(request('hello'));
    const { part } = policy(asked.status);
    assert.deepEqual([asked.status.state, part.kind], [TaskState.TASK_STATE_INPUT_REQUIRED, 'consent_required']);
    await agree(part.state);
    const done = await found.sendMessage(request('I agreed', { task: asked.id }));
    assert.deepEqual([done.id, done.status.state], [asked.id, TaskState.TASK_STATE_COMPLETED]);
    assert.equal(textOf(done.status.message), 'I agreed');
    const another = await found.sendMessage(request('hello'));
    assert.equal(another.status.state, TaskState.TASK_STATE_INPUT_REQUIRED);
  }
});

await run();
