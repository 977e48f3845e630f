// A certified OpenID provider on a free port of this machine, at which anybody signs in by any name. Says its issuer
// on the first line. Over standard input, `rotate` gives it new keys, `slow` has it take its time, and `well` ends that.

import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { generateKeyPairSync } from "node:crypto";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// Standard output is for answers: what the library has to say about a development set-up is not among them.
console.info = () => {};

const require = createRequire(`${process.env.FORECOURT_SDK}/`);
const { Provider } = await import(pathToFileURL(require.resolve("oidc-provider")));

let [handle, slow] = [null, false];
const server = createServer((request, response) => {
  if (slow && !request.url.startsWith("/interaction")) return; // Never answered.
  handle(request, response);
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const issuer = `http://127.0.0.1:${server.address().port}`;

let count = 0;
const key = () => ({
  ...generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" }),
  kid: `key-${(count += 1)}`, use: "sig", alg: "RS256",
});

const claimsOf = (sub) => ({
  sub, name: sub.split("@")[0].replace(/^./, (c) => c.toUpperCase()), email: sub.includes("@") ? sub : `${sub}@acme.tld`,
  email_verified: !sub.startsWith("unverified"),
  groups: sub.startsWith("chief") ? ["chiefs", "staff"] : sub.startsWith("clerk") ? ["staff"] : ["others"],
});

function start() {
  const provider = new Provider(issuer, {
    clients: [{
      client_id: "forecourt", client_secret: "a-secret-of-the-test", grant_types: ["authorization_code"],
      redirect_uris: ["https://demo.localhost/sign-in/callback"], response_types: ["code"],
      post_logout_redirect_uris: ["https://demo.localhost/"],
    }],
    jwks: { keys: [key()] },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "groups"] },
    findAccount: (_, id) => ({ accountId: id, claims: () => claimsOf(id) }),
    cookies: { keys: ["not a secret"] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: true }, rpInitiatedLogout: { enabled: true } },
  });
  // The port of the host that is tested is not known yet.
  const isOurs = (...paths) => (uri) =>
    /^https?:\/\/(demo\.localhost|127\.0\.0\.1|localhost):\d+\//.test(uri) && paths.some((path) => uri.endsWith(path));
  provider.Client.prototype.redirectUriAllowed = isOurs("/sign-in/callback", "/console/login/callback");
  provider.Client.prototype.postLogoutRedirectUriAllowed = isOurs("/");
  handle = provider.callback();
}

start();
console.log(issuer);
createInterface({ input: process.stdin }).on("line", (line) => {
  if (line === "rotate") start();
  if (line === "slow") slow = true;
  if (line === "well") slow = false;
  console.log(line);
}).on("close", () => process.exit(0));
