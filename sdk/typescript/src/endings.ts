// What a function throws to end its turn, and what is thrown into it.

import type { JsonObject, Line } from "./wire.js";

/** An ending of a turn. `ctx.refuse` and its like throw one; anything else that a function throws is a failure. */
export class Ending extends Error {
  constructor(
    /** The line by which the turn ends. */
    readonly line: Line,
    message: string,
  ) {
    super(message);
    this.name = "Ending";
  }
}

/** A question was not answered as often as it was asked. Where nobody catches it, the conversation begins anew. */
export class Unanswered extends Ending {
  constructor(question: string) {
    // A whole answer and no refusal: of a turn that is refused the host keeps nothing, so that the question would stay.
    super({ message: `That is no answer to “${question}”, so let us begin anew.` }, `no usable answer to: ${question}`);
    this.name = "Unanswered";
  }
}

/** A call of a tool failed or was refused. */
export class CallError extends Error {
  constructor(
    message: string,
    /** The refusal, where a rule of the host said no. */
    readonly policy?: JsonObject,
  ) {
    super(message);
    this.name = "CallError";
  }
}

/** The turn is over before its function is: the caller left, time is up, or an answer will be waited for elsewhere. */
export class Cancelled extends Error {
  constructor(
    /** `caller_left`, `cancelled`, `timeout`, `shutdown`; `suspended` where it will be replayed. */
    readonly reason: string,
  ) {
    super(`the turn was cancelled: ${reason}`);
    this.name = "AbortError";
  }
}

/** A mistake of the author's, told in the log and never to callers. */
export class AgentError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "AgentError";
  }
}

/** An error that an endpoint declares. */
export class EndpointError extends Error {
  constructor(
    /** One of the endpoint's `errors`. */
    readonly code: string,
    message: string,
    readonly details?: JsonObject,
  ) {
    super(message);
    this.name = "EndpointError";
  }
}
