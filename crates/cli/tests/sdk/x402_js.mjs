// The JavaScript clients of x402 pay an agent as they are: @x402/fetch (version 2) and x402-fetch (version 1).

import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { URL as HERE, library } from './common.mjs';

const load = async (name) => import(pathToFileURL(library.resolve(name)));
const [version] = process.argv.slice(2);
const { FORECOURT_FACILITATOR: facilitator, FORECOURT_PAID: paid, FORECOURT_WALLET_KEY: key } = process.env;
const PRICE = 50_000n;

async function fetchOf(version) {
  if (version === '1') {
    const { createSigner, wrapFetchWithPayment } = await load('x402-fetch');
    return wrapFetchWithPayment(fetch, await createSigner('base-sepolia', key));
  }
  const { privateKeyToAccount } = await load('viem/accounts');
  const { wrapFetchWithPayment, x402Client } = await load('@x402/fetch');
  const { ExactEvmScheme } = await load('@x402/evm/exact/client');
  return wrapFetchWithPayment(fetch, new x402Client().register('eip155:*', new ExactEvmScheme(privateKeyToAccount(key))));
}

const balance = async () => BigInt((await (await fetch(`${facilitator}/balance/${paid}`)).json()).balance);
const paying = await fetchOf(version);
const form = (text) => {
  const form = new FormData();
  form.set('user', text);
  return form;
};
const ask = (fetch, text) => {
  return fetch(`${HERE}/~paid`, { method: 'POST', body: form(text), headers: { Accept: 'application/json' } });
};

const before = await balance();
const free = await ask(fetch, 'hello');
assert.equal(free.status, 402);
assert.equal(await balance(), before);
console.log('ok: nobody is answered for nothing');

const answer = await ask(paying, 'hello');
const text = await answer.text();
assert.equal(answer.status, 200, text);
assert.match(text, /hello/);
assert.equal(await balance(), before + PRICE);
console.log('ok: a payment is taken once, and answered');

const name = version === '1' ? 'X-PAYMENT-RESPONSE' : 'PAYMENT-RESPONSE';
const receipt = JSON.parse(Buffer.from(answer.headers.get(name), 'base64').toString());
assert.equal(receipt.success, true);
assert.match(receipt.transaction, /^0x[0-9a-f]{64}$/);
assert.equal(receipt.network, version === '1' ? 'base-sepolia' : 'eip155:84532');
console.log('ok: the receipt names the transaction');

let sent;
const original = globalThis.fetch;
globalThis.fetch = (input, init) => {
  const headers = new Headers(input instanceof Request ? input.headers : init?.headers);
  sent = headers.get('X-PAYMENT') ?? headers.get('PAYMENT-SIGNATURE') ?? sent;
  return original(input, init);
};
assert.equal((await ask(await fetchOf(version), 'again')).status, 200);
globalThis.fetch = original;
assert.equal(await balance(), before + 2n * PRICE);
const header = version === '1' ? 'X-PAYMENT' : 'PAYMENT-SIGNATURE';
const replay = () =>
  fetch(`${HERE}/~paid`, { method: 'POST', body: form('a replay'), headers: { Accept: 'application/json', [header]: sent } });
for (const again of await Promise.all([replay(), replay()])) assert.equal(again.status, 402);
assert.equal(await balance(), before + 2n * PRICE);
console.log('ok: a payment that was used pays for nothing');
