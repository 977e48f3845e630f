// A certified authorization server over TLS on a free port of this machine, which gives access tokens (JWT) to the
// client `desk`. Says its issuer on the first line. Over standard input, `rotate` gives it new keys, and `forge KIND`
// has it say a token that nobody should take: one that is signed with its own key and wrong otherwise, or not signed.

import { createHmac, createPublicKey, createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

console.info = () => {};

const require = createRequire(`${process.env.FORECOURT_SDK}/`);
const { Provider } = await import(pathToFileURL(require.resolve("oidc-provider")));

let handle = null;
const [cert, key] = ["cert.pem", "key.pem"].map((name) => readFileSync(`${process.env.TLS_FOLDER}/${name}`));
const server = createServer({ cert, key }, (request, response) => handle(request, response));
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const issuer = `https://127.0.0.1:${server.address().port}`;
const audience = "https://demo.localhost";

let [count, current] = [0, null];
const fresh = (kid) => ({
  ...generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" }), kid, use: "sig", alg: "RS256",
});

function start() {
  current = fresh(`key-${(count += 1)}`);
  const provider = new Provider(issuer, {
    clients: [{
      client_id: "desk", client_secret: "a-secret-of-the-test", grant_types: ["client_credentials"],
      redirect_uris: [], response_types: [],
    }],
    jwks: { keys: [current] },
    cookies: { keys: ["not a secret"] },
    extraTokenClaims: () => ({ email: "desk@acme.tld" }),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, resource) => ({
          scope: "documents:query booking:room", audience: resource, accessTokenFormat: "jwt", accessTokenTTL: 300,
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
  });
  handle = provider.callback();
}

const now = () => Math.floor(Date.now() / 1000);
const packed = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
const claims = (more) => ({ iss: issuer, sub: "desk", aud: audience, iat: now() - 10, exp: now() + 300, email: "e@acme.tld", ...more });

function token(more, header = {}, jwk = current) {
  const signed = `${packed({ alg: "RS256", typ: "at+jwt", kid: current.kid, ...header })}.${packed(claims(more))}`;
  return `${signed}.${sign("RSA-SHA256", Buffer.from(signed), createPrivateKey({ key: jwk, format: "jwk" })).toString("base64url")}`;
}

const forgeries = {
  good: () => token({}),
  expired: () => token({ iat: now() - 900, exp: now() - 600 }),
  early: () => token({ nbf: now() + 600 }),
  issuer: () => token({ iss: "https://127.0.0.1:9" }),
  audience: () => token({ aud: "https://other.example" }),
  "no-audience": () => token({ aud: undefined }),
  "no-email": () => token({ email: undefined }),
  "id-token": () => token({}, { typ: "id+jwt" }),
  key: () => token({}, {}, fresh("another")),
  none: () => `${packed({ alg: "none", typ: "at+jwt" })}.${packed(claims({}))}.`,
  hs256: () => {
    const signed = `${packed({ alg: "HS256", typ: "at+jwt", kid: current.kid })}.${packed(claims({}))}`;
    const pem = createPublicKey(createPrivateKey({ key: current, format: "jwk" })).export({ type: "spki", format: "pem" });
    return `${signed}.${createHmac("sha256", pem).update(signed).digest("base64url")}`;
  },
};

start();
console.log(issuer);
createInterface({ input: process.stdin }).on("line", (line) => {
  if (line === "rotate") start();
  const [word, kind] = line.split(" ");
  console.log(word === "forge" ? forgeries[kind]() : line);
}).on("close", () => process.exit(0));
