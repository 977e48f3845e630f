// A crawler pays for a page with the client of x402, as it is: a GET, and the same again with a payment.

import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { URL as HERE, library } from './common.mjs';

const load = async (name) => import(pathToFileURL(library.resolve(name)));
const { privateKeyToAccount } = await load('viem/accounts');
const { wrapFetchWithPayment, x402Client } = await load('@x402/fetch');
const { ExactEvmScheme } = await load('@x402/evm/exact/client');
const account = privateKeyToAccount(process.env.FORECOURT_WALLET_KEY);
const paying = wrapFetchWithPayment(fetch, new x402Client().register('eip155:*', new ExactEvmScheme(account)));
const read = (fetch, agent) => fetch(`${HERE}/manual/agents`, { headers: { 'User-Agent': agent } });

assert.equal((await read(fetch, 'Mozilla/5.0 Firefox/140.0')).status, 200);
const priced = await read(fetch, 'CCBot/2.0');
assert.equal(priced.status, 402);
assert.equal(priced.headers.get('crawler-price'), 'USD 0.05');
console.log('ok: a crawler is told the price, and a person is not');

const page = await read(paying, 'CCBot/2.0');
assert.equal(page.status, 200, await page.clone().text());
assert.match(await page.text(), /agent/);
const receipt = JSON.parse(Buffer.from(page.headers.get('PAYMENT-RESPONSE'), 'base64').toString());
assert.equal(receipt.success, true);
console.log('ok: who pays has the page');
