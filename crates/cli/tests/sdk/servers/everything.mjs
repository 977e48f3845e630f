// @modelcontextprotocol/server-everything on a free port. Says its address in its first line.

import { createRequire } from 'node:module';
import net from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = path.join(process.env.FORECOURT_SDK, 'node_modules/@modelcontextprotocol/server-everything');
const { bin } = createRequire(path.join(folder, 'package.json'))('./package.json');

/** A port that is free now: the server takes its port from the environment alone. */
const port = await new Promise((resolve) => {
  const probe = net.createServer().listen(0, '127.0.0.1', () => {
    const { port } = probe.address();
    probe.close(() => resolve(port));
  });
});

const say = console.log;
// What the server itself has to say is not what is waited for.
console.log = console.error;
process.env.PORT = String(port);
process.argv.splice(2, process.argv.length, 'streamableHttp');
// In this process, so that the server ends with it.
await import(pathToFileURL(path.join(folder, Object.values(bin)[0])));

const answers = () =>
  new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => resolve(socket.end() && true)).on('error', () => resolve(false));
  });
while (!(await answers())) await new Promise((resolve) => setTimeout(resolve, 50));
say(`http://127.0.0.1:${port}`);
