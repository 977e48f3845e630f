// What the checks of the JavaScript clients share: a name that means this machine, a place that
// notifications arrive at, and one line for each check.
//
// The environment says where the deployment is: FORECOURT_URL, with the certificate of its local
// authority in NODE_EXTRA_CA_CERTS; who we are there: FORECOURT_TOKEN; and where the library is:
// FORECOURT_SDK.

import assert from 'node:assert/strict';
import dns from 'node:dns';
import http from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import { inspect } from 'node:util';

export const URL = process.env.FORECOURT_URL;
/** Gives a module of the library. */
export const library = createRequire(path.join(process.env.FORECOURT_SDK, 'package.json'));

const proof = { Authorization: `Bearer ${process.env.FORECOURT_TOKEN}` };
/** Proves, where callers can prove that, that this is alice. */
export const ALICE = { headers: async () => proof, shouldRetryWithHeaders: async () => undefined };
/** The same, once it is asked for. */
export const ALICE_WHEN_ASKED = {
  headers: async () => ({}),
  shouldRetryWithHeaders: async (_, { status }) => (status === 401 ? proof : undefined),
};

// Far above what anything here takes, so that a busy machine fails no check.
const PATIENCE = 60_000;

// What @worker says when it is asked to work, piece by piece.
export const PIECES = ['One, ', 'two, ', 'three.'];
export const WHOLE = PIECES.join('');

// Names below .localhost mean this machine; not every resolver knows that.
for (const resolver of [dns, dns.promises]) {
  const { lookup } = resolver;
  resolver.lookup = (host, ...rest) => lookup(host.endsWith('.localhost') ? '127.0.0.1' : host, ...rest);
}

/** What a person does at the address of a consent. */
export async function agree(state) {
  const url = `${URL}/consent/${state}`;
  const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text();
  const [, token] = page.match(/name="token" value="([^"]+)"/);
  const body = new URLSearchParams({ token, decision: 'accept' });
  const decided = await fetch(url, { method: 'POST', body, redirect: 'manual', headers: { accept: 'text/html' } });
  assert.equal(decided.status, 303, await decided.text());
}

/** The items of a stream, as they come. */
export async function all(stream) {
  const items = [];
  for await (const item of stream) items.push(item);
  return items;
}

/** The key with this id out of the key set at this address. */
export async function publicKey(jku, kid) {
  assert.ok(jku.startsWith(`${URL}/`), jku);
  const { keys } = await (await fetch(jku)).json();
  return keys.find((key) => key.kid === kid);
}

/** A web server of the caller that takes notifications, on plain loopback. */
export class Receiver {
  #posts = [];
  #waiting = [];
  #server = http.createServer(async (request, response) => {
    const chunks = await request.toArray();
    response.writeHead(204).end();
    const post = { path: request.url, head: request.headers, body: JSON.parse(Buffer.concat(chunks)) };
    const waiting = this.#waiting.shift();
    if (waiting) waiting(post);
    else this.#posts.push(post);
  });

  static async start() {
    const receiver = new Receiver();
    await new Promise((done) => receiver.#server.listen(0, '127.0.0.1', done));
    receiver.#server.unref();
    return receiver;
  }

  url(path) {
    return `http://127.0.0.1:${this.#server.address().port}${path}`;
  }

  /** The next notification. */
  post() {
    return new Promise((take) => (this.#posts.length ? take(this.#posts.shift()) : this.#waiting.push(take)));
  }
}

const checks = [];

/** A check for these wires. It is given the wire. */
export function on(wires, name, check) {
  checks.push({ wires, name, check });
}

/** Runs the checks of the wire that is the first argument, and ends the program. */
export async function run() {
  const wire = process.argv[2];
  const chosen = checks.filter(({ wires }) => wires.includes(wire));
  assert.ok(chosen.length, `no checks for ${wire}`);
  let failed = 0;
  for (const { name, check } of chosen) {
    const begun = performance.now();
    try {
      await within(check(wire));
      console.log(`ok ${name} (${((performance.now() - begun) / 1000).toFixed(1)} s)`);
    } catch (error) {
      failed += 1;
      console.log(`not ok ${name}: ${inspect(error, { depth: 6 })}`);
    }
  }
  process.exit(failed ? 1 : 0);
}

function within(promise) {
  let timer;
  const late = new Promise((_, refuse) => (timer = setTimeout(refuse, PATIENCE, new Error('it takes too long'))));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
