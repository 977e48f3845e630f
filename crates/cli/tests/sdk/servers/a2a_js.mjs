// An agent of @a2a-js/sdk as its users write one, with JSON-RPC and HTTP+JSON. Says its address in its first line.

import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import path from 'node:path';

const library = createRequire(path.join(process.env.FORECOURT_SDK, 'package.json'));
const express = library('express');
const { DefaultRequestHandler, InMemoryTaskStore } = library('@a2a-js/sdk/server');
const { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } = library('@a2a-js/sdk/server/express');
const { AgentEvent } = library('@a2a-js/sdk/server');
const { AgentCard, TaskState } = library('@a2a-js/sdk');

const now = () => new Date().toISOString();

/** Says what it is told. */
const echo = {
  async execute({ taskId, contextId, userMessage, task }, bus) {
    const status = (state) => ({ state, message: undefined, timestamp: now() });
    if (!task) {
      const fresh = { id: taskId, contextId, status: status(TaskState.TASK_STATE_SUBMITTED), artifacts: [], history: [userMessage] };
      bus.publish(AgentEvent.task({ ...fresh, metadata: undefined }));
    }
    const artifact = {
      artifactId: randomUUID(), name: 'answer', description: '', parts: userMessage.parts, metadata: undefined, extensions: [],
    };
    bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined }));
    const end = { taskId, contextId, status: status(TaskState.TASK_STATE_COMPLETED), metadata: undefined };
    bus.publish(AgentEvent.statusUpdate(end));
    bus.finished();
  },
  async cancelTask() {},
};

const app = express();
const server = app.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${server.address().port}`;
  const agentInterface = (protocolBinding, at) => ({ url: url + at, protocolBinding, protocolVersion: '1.0', tenant: '' });
  const card = AgentCard.fromJSON({
    name: 'Echo',
    description: 'Says what it is told.',
    version: '1.0.0',
    supportedInterfaces: [agentInterface('JSONRPC', '/rpc'), agentInterface('HTTP+JSON', '/rest')],
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'echo', name: 'Echo', description: 'Says it again.', tags: ['echo'] }],
  });
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), echo);
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  app.use('/rest', restHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  console.log(url);
});
