// A chain of this machine with one token, and a facilitator that is x402's own library. Says in one line of
// JSON where both are and who pays, and ends when its standard input does.
//
// The environment says where the libraries are: FORECOURT_X402 (x402, viem) and FORECOURT_CHAIN (ganache, solc).
// `GET /balance/ADDRESS` of the facilitator gives what an account has, `GET /asked` how often it was asked what. `POST
// /fault` with `{"settle": WORD}` or `{"verify": WORD}` has the next such question go wrong: `silent` (done, and not
// answered), `deaf` (neither), `error` (a status of 500, and nothing done), `no` (declined), `slow` (two seconds later),
// `late` (twelve), `held` (never answered, and nothing done), `lies` (a payment is good that nobody looked at; what was
// taken was not, by a reason that nobody knows). `{"down": SECONDS}` closes its socket for so long. `POST /wallet` with a
// request of EIP-1193 does what the wallet of who pays does once its owner agreed. With FORECOURT_CHAIN_LOG in the
// environment what was asked, of which nonce, and what was said are on standard error.

import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const of = (folder) => createRequire(path.join(process.env[folder], 'package.json'));
const [x402, chain] = [of('FORECOURT_X402'), of('FORECOURT_CHAIN')];
const load = async (name) => import(pathToFileURL(x402.resolve(name)));
const { createWalletClient, http: transport, publicActions } = await load('viem');
const { privateKeyToAccount } = await load('viem/accounts');
const { baseSepolia } = await load('viem/chains');
const { x402Facilitator } = await load('@x402/core/facilitator');
const { toFacilitatorEvmSigner } = await load('@x402/evm');
const { registerExactEvmScheme } = await load('@x402/evm/exact/facilitator');

const key = (digit) => `0x${digit.repeat(64)}`;
const [OPERATOR, PAYER] = [key('1'), key('2')];
const PAID = '0x209693bc6afc0c5328ba36faf03c514ef312287c';

function compiled() {
  const content = fs.readFileSync(new URL('token.sol', import.meta.url), 'utf8');
  const settings = { evmVersion: 'paris', outputSelection: { '*': { '*': ['abi', 'evm.deployedBytecode.object'] } } };
  const input = { language: 'Solidity', sources: { 'token.sol': { content } }, settings };
  const output = JSON.parse(chain('solc').compile(JSON.stringify(input)));
  const { Token } = output.contracts?.['token.sol'] ?? {};
  if (!Token) throw new Error(JSON.stringify(output.errors));
  return { abi: Token.abi, code: `0x${Token.evm.deployedBytecode.object}` };
}

const node = chain('ganache').server({
  chain: { chainId: baseSepolia.id, hardfork: 'shanghai' },
  wallet: { accounts: [{ secretKey: OPERATOR, balance: `0x${(10n ** 20n).toString(16)}` }] },
  logging: { quiet: true },
});
await node.listen(0, '127.0.0.1');
const rpc = `http://127.0.0.1:${node.address().port}`;

const account = privateKeyToAccount(OPERATOR);
const client = createWalletClient({ account, chain: baseSepolia, transport: transport(rpc), pollingInterval: 50 });
const wallet = client.extend(publicActions);
const { abi, code } = compiled();
// Where USDC is on this network: careful payers take no other token.
const token = '0x036cbd53842c5426634e7929541ec2318f3dcf7e';
await wallet.request({ method: 'evm_setAccountCode', params: [token, code] });
const payer = privateKeyToAccount(PAYER).address;
const minted = await wallet.writeContract({ address: token, abi, functionName: 'mint', args: [payer, 1_000_000n] });
await wallet.waitForTransactionReceipt({ hash: minted });

const facilitator = new x402Facilitator();
const signer = toFacilitatorEvmSigner({
  address: account.address,
  getCode: (args) => wallet.getCode(args),
  readContract: (args) => wallet.readContract({ ...args, args: args.args ?? [] }),
  verifyTypedData: (args) => wallet.verifyTypedData(args),
  writeContract: (args) => wallet.writeContract({ ...args, args: args.args ?? [] }),
  sendTransaction: (args) => wallet.sendTransaction(args),
  waitForTransactionReceipt: (args) => wallet.waitForTransactionReceipt(args),
});
registerExactEvmScheme(facilitator, { signer, networks: `eip155:${baseSepolia.id}` });

// What a wallet signs is what it was given: viem wants the types of a message without those of its domain.
async function walletDoes({ method, params }) {
  if (method === 'eth_requestAccounts') return [payer];
  if (method !== 'eth_signTypedData_v4') return wallet.request({ method, params });
  const { types: { EIP712Domain, ...types }, ...typed } = JSON.parse(params[1]);
  return privateKeyToAccount(PAYER).signTypedData({ types, ...typed });
}

const balance = (address) => wallet.readContract({ address: token, abi, functionName: 'balanceOf', args: [address] });
let faults = {};
const asked = { verify: 0, settle: 0 };
const seconds = (count) => new Promise((over) => setTimeout(over, count * 1000));

function tell(verb, body, fault, done) {
  if (!process.env.FORECOURT_CHAIN_LOG) return;
  const { nonce } = body.paymentPayload.payload.authorization;
  const { isValid, success, invalidReason, errorReason } = done ?? {};
  const said = { isValid, success, reason: (invalidReason ?? errorReason)?.slice(0, 100) };
  console.error(JSON.stringify({ at: new Date().toISOString(), verb, nonce, fault, ...(done && said) }));
}

async function answer(request, body) {
  const { pathname } = new URL(request.url, 'http://facilitator');
  if (pathname.startsWith('/balance/')) return { balance: (await balance(pathname.slice(9))).toString() };
  if (pathname === '/fault') return set(body);
  if (pathname === '/asked') return asked;
  if (pathname === '/wallet') return { result: await walletDoes(body) };
  if (pathname === '/supported') return facilitator.getSupported();
  const verb = pathname.slice(1);
  if (!(verb in asked)) return undefined;
  asked[verb] += 1;
  const fault = faults[verb];
  delete faults[verb];
  tell(verb, body, fault);
  const refused = { isValid: false, invalidReason: 'insufficient_funds', success: false, errorReason: 'insufficient_funds' };
  if (fault === 'no') return refused;
  if (fault === 'deaf') return null;
  if (fault === 'error') throw new Error('out of order');
  if (fault === 'held') await new Promise(() => {});
  if (fault === 'slow') await seconds(2);
  if (fault === 'late') await seconds(12);
  if (fault === 'lies' && verb === 'verify') return { isValid: true };
  const done = await facilitator[verb](body.paymentPayload, body.paymentRequirements);
  tell(verb, body, fault, done);
  if (fault === 'lies') return { success: false, errorReason: 'it_is_raining' };
  return fault === 'silent' ? null : done;
}

async function set({ down, ...wanted }) {
  Object.assign(faults, wanted);
  if (down) {
    const { port } = server.address();
    // After this was answered.
    setTimeout(() => {
      server.close();
      server.closeAllConnections();
      setTimeout(() => server.listen(port, '127.0.0.1'), down * 1000);
    }, 50);
  }
  return { faults };
}

const server = http.createServer(async (request, response) => {
  const chunks = await request.toArray();
  const body = chunks.length ? JSON.parse(Buffer.concat(chunks)) : {};
  try {
    const value = await answer(request, body);
    if (value === null) return request.socket.destroy();
    response.writeHead(value ? 200 : 404, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(value ?? {}));
  } catch (error) {
    response.writeHead(500, { 'Content-Type': 'application/json' }).end(JSON.stringify({ error: String(error) }));
  }
});
await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
const url = `http://127.0.0.1:${server.address().port}`;
console.log(JSON.stringify({ rpc, facilitator: url, token, payer, payerKey: PAYER, paid: PAID }));

process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
