// A server of the Fediverse made with fedify, with one person or bot on it. Says on its first line where it is, and then
// does what each line of JSON asks for, with a line of JSON for each.
//
// The environment says where the library is (FORECOURT_SDK), which form of signatures it begins with (KNOCK) and which
// one it refuses (REFUSES), of which type its actor is (KIND), and whose certificates it trusts (NODE_EXTRA_CA_CERTS).

import dns from 'node:dns';
import http from 'node:http';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

// Names below .localhost mean this machine; not every resolver knows that.
for (const resolver of [dns, dns.promises]) {
  const { lookup } = resolver;
  resolver.lookup = (host, ...rest) => lookup(host.endsWith('.localhost') ? '127.0.0.1' : host, ...rest);
}

const modules = path.join(process.env.FORECOURT_SDK, 'node_modules/@fedify');
const load = (file) => import(pathToFileURL(path.join(modules, file)));
const { createFederation, generateCryptoKeyPair, MemoryKvStore } = await load('fedify/dist/mod.js');
const vocab = await load('vocab/dist/mod.js');
const { Create, Follow, Mention, Note, PUBLIC_COLLECTION, Undo, Block } = vocab;
const Kind = vocab[process.env.KIND ?? 'Person'];

const pair = await generateCryptoKeyPair('RSASSA-PKCS1-v1_5');
const federation = createFederation({
  kv: new MemoryKvStore(),
  allowPrivateAddress: true,
  firstKnock: process.env.KNOCK ?? 'rfc9421',
});
federation
  .setActorDispatcher('/users/{identifier}', async (ctx, identifier) => {
    const [key] = await ctx.getActorKeyPairs(identifier);
    const endpoints = new vocab.Endpoints({ sharedInbox: ctx.getInboxUri() });
    const [id, inbox] = [ctx.getActorUri(identifier), ctx.getInboxUri(identifier)];
    return new Kind({ id, preferredUsername: identifier, name: 'Ann Other', inbox, endpoints, publicKey: key.cryptographicKey });
  })
  .setKeyPairsDispatcher(async () => [pair]);
federation
  .setInboxListeners('/users/{identifier}/inbox', '/inbox')
  .on(vocab.Activity, () => {})
  .onError((_, error) => console.error(error));

// Whatever came to an inbox and was believed, as it was sent.
const received = [];
const waiting = [];
let away = false;
// Whether every note that comes is replied to at once, as bots do.
let chatty = false;
const server = http.createServer(async (request, response) => {
  if (away) return response.writeHead(503).end();
  const isDraft = request.method === 'POST' && !request.headers['signature-input'];
  if (process.env.REFUSES === 'draft' && isDraft) return response.writeHead(401).end();
  const body = Buffer.concat(await request.toArray());
  const init = { method: request.method, headers: request.headers, body: body.length ? body : undefined };
  const answer = await federation.fetch(new Request(`${origin}${request.url}`, init), { contextData: undefined });
  if (request.method === 'POST' && answer.ok) {
    received.push(JSON.parse(body));
    waiting.splice(0).forEach((look) => look());
    const { type, actor: to, object } = received.at(-1);
    if (chatty && type === 'Create') commands.note({ to, text: 'and you?', reply: object.id }).catch(console.error);
  }
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()));
});
await new Promise((done) => server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', done));
const origin = `http://127.0.0.1:${server.address().port}`;
const ctx = federation.createContext(new URL(origin), undefined);
const me = ctx.getActorUri('ann');
let number = 0;

async function send(to, activity) {
  const recipient = await ctx.lookupObject(to);
  await ctx.sendActivity({ identifier: 'ann' }, recipient, activity, { immediate: true });
}

const commands = {
  /** Writes a note to an agent. */
  async note({ to, text, reply, open, id }) {
    const name = new URL(`${origin}/notes/${id ?? ++number}`);
    const agent = new URL(to);
    const note = new Note({
      id: name,
      attribution: me,
      content: `<p><span class="h-card"><a href="${to}" class="u-url mention">@<span>agent</span></a></span> ${text}</p>`,
      replyTarget: reply ? new URL(reply) : null,
      tos: open ? [PUBLIC_COLLECTION] : [agent],
      ccs: open ? [agent] : [],
      tags: [new Mention({ href: agent, name: '@agent@demo.localhost' })],
    });
    const activity = { actor: me, object: note, tos: note.toIds, ccs: note.ccIds };
    await send(to, new Create({ id: new URL(`${name}/activity`), ...activity }));
    return { sent: name.href };
  },
  async follow({ to }) {
    await send(to, new Follow({ id: new URL(`${origin}/follows/${++number}`), actor: me, object: new URL(to) }));
    return {};
  },
  async undo({ to }) {
    const follow = new Follow({ id: new URL(`${origin}/follows/${number}`), actor: me, object: new URL(to) });
    await send(to, new Undo({ id: new URL(`${origin}/undos/${++number}`), actor: me, object: follow }));
    return {};
  },
  async block({ to }) {
    await send(to, new Block({ id: new URL(`${origin}/blocks/${++number}`), actor: me, object: new URL(to) }));
    return {};
  },
  /** The `count`th activity that was received, once it is there. */
  async received({ count }) {
    while (received.length < count) await new Promise((look) => waiting.push(look));
    return received[count - 1];
  },
  async count() {
    return received.length;
  },
  /** Has the server answer nobody, or everybody. */
  async away({ is }) {
    away = is;
    return {};
  },
  /** Has every note be replied to at once. */
  async chat() {
    chatty = true;
    return {};
  },
  /** Reads a document as this actor, or as nobody. */
  async read({ url, unsigned }) {
    const loader = unsigned ? ctx.documentLoader : await ctx.getDocumentLoader({ identifier: 'ann' });
    return (await loader(url)).document;
  },
  /** What the library makes of the agent. */
  async look({ at }) {
    const actor = await ctx.lookupObject(at);
    return { id: actor?.id?.href, name: actor?.name?.toString(), username: actor?.preferredUsername?.toString(), inbox: actor?.inboxId?.href };
  },
};

console.log(JSON.stringify({ origin, actor: me.href }));
for await (const line of createInterface({ input: process.stdin })) {
  const { do: name, ...words } = JSON.parse(line);
  const said = await commands[name](words).catch((error) => ({ error: String(error), status: error.statusCode ?? error.response?.status }));
  console.log(JSON.stringify(said ?? null));
}
process.exit(0);
