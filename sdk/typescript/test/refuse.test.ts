import assert from "node:assert/strict";
import { test } from "node:test";

import { agent, refuse } from "forecourt-agent";
import { host } from "forecourt-agent/testing";

test("s3 each kind has its fields", () => {
  const parts = [
    refuse.consentRequired("Agree first.", { scope: { text: "all" }, lifetimeSeconds: 60, title: "Consent" }),
    refuse.unauthorized("Who are you?", [{ scheme: "Bearer", params: { realm: "a" } }], {
      code: "oauth:invalid_token",
    }),
    refuse.paymentRequired(
      "Pay first.",
      [refuse.payment("stripe.intent", { a: 1 }), refuse.x402([{ scheme: "exact" }])],
      { price: "0.05 USDC" },
    ),
    refuse.forbidden("No.", { messageTranslations: { de: { message: "Nein." } }, data: { "shop.order": 1 } }),
    refuse.tooManyRequests("Later.", { retryAfterSeconds: 5 }),
    refuse.unavailableForLegalReasons("Not here.", { url: "https://a.example/law", actionLabel: "Why" }),
    refuse.serviceUnavailable("Closed."),
  ].map((refusal) => refusal.part);
  assert.deepEqual(parts, [
    {
      kind: "consent_required",
      message: "Agree first.",
      title: "Consent",
      data: { "mentionable.scope": { text: "all" }, "mentionable.lifetime_seconds": 60 },
    },
    {
      kind: "unauthorized",
      message: "Who are you?",
      code: "oauth:invalid_token",
      auth_challenges: [{ scheme: "Bearer", params: { realm: "a" } }],
    },
    {
      kind: "payment_required",
      message: "Pay first.",
      accepted_payments: [
        { scheme: "stripe.intent", payload: { a: 1 } },
        { scheme: "x402.exact", payload: { x402Version: 1, accepts: [{ scheme: "exact" }] } },
      ],
      data: { "mentionable.price": "0.05 USDC" },
    },
    {
      kind: "forbidden",
      message: "No.",
      message_translations: { de: { message: "Nein." } },
      data: { "shop.order": 1 },
    },
    { kind: "too_many_requests", message: "Later.", retry_after_seconds: 5 },
    { kind: "unavailable_for_legal_reasons", message: "Not here.", url: "https://a.example/law", action_label: "Why" },
    { kind: "service_unavailable", message: "Closed." },
  ]);
});

test("s3_6 a malformed refusal fails where it is made", () => {
  assert.throws(() => refuse.unauthorized("?", []), /one challenge/);
  assert.throws(() => refuse.paymentRequired("?", []), /one way to pay/);
  assert.throws(() => refuse.paymentRequired("?", [{ scheme: "", payload: {} }]), /name of its scheme/);
  assert.throws(() => refuse.forbidden(" "), /needs a message/);
  assert.throws(() => refuse.forbidden("No.", { url: "http://a.example" }), /https/);
  assert.throws(() => refuse.forbidden("No.", { data: { order: 1 } }), /`order`.*shop\.order/);
});

test("a refusal ends the turn, thrown or handed over", async () => {
  const thrown = await host(
    agent(() => {
      throw refuse.forbidden("No.");
    }),
  ).say("hi");
  const given = await host(
    agent(async function* (_message, ctx) {
      yield "well ";
      ctx.refuse(refuse.forbidden("No."));
    }),
  ).say("hi");
  assert.deepEqual(
    [thrown.ending, thrown.refusal?.kind, given.text, given.refusal?.message],
    ["refused", "forbidden", "well ", "No."],
  );
});
