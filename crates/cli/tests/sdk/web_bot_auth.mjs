// Signature agents that sign as the library of Web Bot Auth does, and the directories of their keys, some of which are
// of no use. Arguments: a certificate and its key. Says its port, then answers each line `{url, agent, ...}` with the
// headers of a GET of `url` that is signed by that agent.

import { generateKeyPairSync } from 'node:crypto';
import fs from 'node:fs';
import https from 'node:https';
import { createRequire } from 'node:module';
import path from 'node:path';
import readline from 'node:readline';
import { pathToFileURL } from 'node:url';

const library = createRequire(path.join(process.env.FORECOURT_SDK, 'package.json'));
const load = async (name) => import(pathToFileURL(library.resolve(name)));
const { directoryResponseHeaders, jwkToKeyID, signatureHeaders, helpers } = await load('web-bot-auth');
const { signerFromJWK } = await load('web-bot-auth/crypto');

const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
const signer = await signerFromJWK(jwk);
const { d: _, ...key } = jwk;
const kid = await jwkToKeyID(key, helpers.WEBCRYPTO_SHA256, helpers.BASE64URL_DECODE);
const TYPE = 'application/http-message-signatures-directory+json';
const keys = JSON.stringify({ keys: [{ ...key, kid, use: 'sig' }] });
const asked = {};

async function signed(request) {
  const now = new Date();
  const url = `https://${request.headers.host}${request.url}`;
  const message = { response: { status: 200, headers: {} }, request: { url, method: 'GET', headers: {} } };
  return directoryResponseHeaders(message, [signer], { created: now, expires: new Date(now.getTime() + 300_000) });
}

async function answer(request, response) {
  const host = request.headers.host.split('.')[0];
  asked[host] = (asked[host] ?? 0) + 1;
  const headers = { 'Content-Type': TYPE, 'Cache-Control': 'max-age=3600' };
  if (host === 'moved') return response.writeHead(302, { Location: 'https://127.0.0.1/' }).end();
  if (host === 'slow') return; // It never answers.
  if (host !== 'unsigned') Object.assign(headers, await signed(request));
  if (host === 'wrong') headers['Content-Type'] = 'application/json';
  const body = host === 'huge' ? keys + ' '.repeat(1024 * 1024) : keys;
  response.writeHead(200, headers).end(body);
}

const [certificate, secret] = process.argv.slice(2);
const server = https.createServer({ cert: fs.readFileSync(certificate), key: fs.readFileSync(secret) }, answer);
server.listen(0, '127.0.0.1', () => console.log(server.address().port));

for await (const line of readline.createInterface({ input: process.stdin })) {
  const { url, agent, age = 0 } = JSON.parse(line);
  if (agent === undefined) {
    console.log(JSON.stringify(asked));
    continue;
  }
  const created = new Date(Date.now() - age * 1000);
  const request = new Request(url, { headers: { 'Signature-Agent': JSON.stringify(agent) } });
  const headers = await signatureHeaders(request, signer, { created, expires: new Date(created.getTime() + 300_000) });
  console.log(JSON.stringify({ ...headers, 'Signature-Agent': JSON.stringify(agent) }));
}
