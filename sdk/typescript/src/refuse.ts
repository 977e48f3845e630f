// Refusals: content that says why not, and what would help. Mentionable PolicyPart v0.1, section 3.

import { AgentError, Ending } from "./endings.js";
import type { Json, JsonObject } from "./wire.js";

/** What every refusal may say besides. */
export interface RefusalOptions {
  title?: string;
  /** The finer reason, namespaced, such as `oauth:consent_required`. */
  code?: string;
  /** Where a person can act; https, on the host's own name. */
  url?: string;
  actionLabel?: string;
  /** Title and message by BCP 47 tag. */
  messageTranslations?: Record<string, { title?: string; message: string }>;
  /** Further values, by prefixed keys such as `shop.order`. */
  data?: JsonObject;
}

/** A way to pay: the scheme's name, and the offer in its own words. */
export interface Payment {
  scheme: string;
  payload: JsonObject;
}

/** How a caller may prove who it is. RFC 9110, 11.6.1. */
export interface Challenge {
  scheme: string;
  params?: Record<string, string>;
}

/** A refusal. Throw it, or hand it to `ctx.refuse`. */
export class Refusal extends Ending {
  constructor(readonly part: JsonObject & { kind: string; message: string }) {
    super({ policy: part }, part.message);
    this.name = "Refusal";
  }
}

function refusal(kind: string, message: string, options: RefusalOptions, more: { [key: string]: unknown }): Refusal {
  if (!message.trim()) throw new AgentError(`a refusal (${kind}) needs a message`);
  if (options.url !== undefined && !options.url.startsWith("https://"))
    throw new AgentError("`url` of a refusal begins with https://");
  const fields = {
    kind,
    message,
    title: options.title,
    code: options.code,
    url: options.url,
    action_label: options.actionLabel,
    message_translations: options.messageTranslations,
    ...more,
  };
  const data = { ...options.data, ...(more.data as JsonObject | undefined) };
  const bare = Object.keys(data).find((key) => !/^[^.]+\../.test(key));
  if (bare !== undefined)
    throw new AgentError(`the key \`${bare}\` in \`data\` of a refusal needs a prefix, such as \`shop.${bare}\``);
  const part: { [key: string]: unknown } = { ...fields, data: Object.keys(data).length > 0 ? data : undefined };
  const said = Object.entries(part).filter(([, value]) => value !== undefined);
  return new Refusal(Object.fromEntries(said) as JsonObject & { kind: string; message: string });
}

/** A person must agree first. The host shows the page, and asks again with `ctx.resolution` once it is done. */
export function consentRequired(
  message: string,
  options: RefusalOptions & {
    /** What is agreed to, whole. Another scope is another consent. */
    scope?: JsonObject;
    /** Seconds for which the consent holds; for good where left out. */
    lifetimeSeconds?: number;
    /** For agents that keep states of their own; the host's without it. */
    state?: string;
    returnTo?: string;
  } = {},
): Refusal {
  const data = some({ "mentionable.scope": options.scope, "mentionable.lifetime_seconds": options.lifetimeSeconds });
  return refusal("consent_required", message, options, { state: options.state, return_to: options.returnTo, data });
}

/** The caller must prove who it is. */
export function unauthorized(message: string, challenges: Challenge[], options: RefusalOptions = {}): Refusal {
  if (challenges.length === 0) throw new AgentError("`unauthorized` needs one challenge at least");
  return refusal("unauthorized", message, options, { auth_challenges: challenges });
}

/** Somebody must pay first. The host shows the page, and asks again with `ctx.resolution` once it is paid. */
export function paymentRequired(
  message: string,
  accepted: Payment[],
  options: RefusalOptions & {
    /** What it costs, as a person reads it, such as `0.05 USDC`. */
    price?: string;
  } = {},
): Refusal {
  if (accepted.length === 0) throw new AgentError("`paymentRequired` needs one way to pay at least");
  if (accepted.some((way) => !way.scheme)) throw new AgentError("a way to pay needs the name of its scheme");
  return refusal("payment_required", message, options, {
    accepted_payments: accepted,
    data: some({ "mentionable.price": options.price }),
  });
}

/** Not for this caller. */
export function forbidden(message: string, options: RefusalOptions = {}): Refusal {
  return refusal("forbidden", message, options, {});
}

/** Too often; again later. */
export function tooManyRequests(
  message: string,
  options: RefusalOptions & { retryAfterSeconds?: number } = {},
): Refusal {
  return refusal("too_many_requests", message, options, { retry_after_seconds: options.retryAfterSeconds });
}

/** A law forbids it. */
export function unavailableForLegalReasons(message: string, options: RefusalOptions = {}): Refusal {
  return refusal("unavailable_for_legal_reasons", message, options, {});
}

/** Not now; again later. */
export function serviceUnavailable(
  message: string,
  options: RefusalOptions & { retryAfterSeconds?: number } = {},
): Refusal {
  return refusal("service_unavailable", message, options, { retry_after_seconds: options.retryAfterSeconds });
}

/** A way to pay in any scheme's words. */
export function payment(scheme: string, payload: JsonObject): Payment {
  return { scheme, payload };
}

/** A way to pay by x402: requirements as its specification has them. */
export function x402(requirements: JsonObject[], version = 1): Payment {
  if (requirements.length === 0) throw new AgentError("`x402` needs one requirement at least");
  return { scheme: "x402.exact", payload: { x402Version: version, accepts: requirements } };
}

function some(fields: Record<string, Json | undefined>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;
}
