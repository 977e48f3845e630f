// Every bound of this library, named once with its unit.

/** Suspended functions of one process that wait for an answer; the oldest is closed for one more. */
export const SUSPENDED_MAX = 1_000;
/** Bytes of `ctx.state` as JSON. */
export const STATE_BYTES_MAX = 64 * 1024;
/** Bytes of the first message's parts that are kept for a replay, as JSON; files lose their bytes first. */
export const REPLAYED_BYTES_MAX = 16 * 1024;
/** Characters of a question by which a replay knows it. */
export const ASKED_CHARS_MAX = 200;
/** Characters of options that are named in the words of a question. */
export const OPTIONS_CHARS_MAX = 200;
/** Bytes that a replay holds until its next answered question. */
export const HELD_BYTES_MAX = 4 * 1024 * 1024;
/** Calls of tools that may be open at once in one turn. */
export const CALLS_OPEN_MAX = 32;
/** Calls of tools in one turn. */
export const CALLS_MAX = 200;
/** Lines of the log in one turn: as many as the host keeps. */
export const LOG_LINES_MAX = 100;
/** Characters of one line of the log, and of its fields as JSON. */
export const LOG_CHARS_MAX = 1_000;
/** Bytes of one piece of a file, before base64. A multiple of three, so that pieces can be joined. */
export const PIECE_BYTES_MAX = 255 * 1024;
/** Bytes of one line that the host may send. */
export const LINE_BYTES_MAX = 64 * 1024 * 1024;
/** Bytes of one line to the host. */
export const LINE_OUT_BYTES_MAX = 16 * 1024 * 1024;
/** Messages that one process answers at once, by itself and at most. */
export const CONCURRENCY = 16;
export const CONCURRENCY_MAX = 256;
/** Milliseconds that open turns have once the host is gone. */
export const LEAVE_MS_MAX = 5_000;
/** Share of the host's grace after which a cancelled turn ends, whatever its function does. */
export const GRACE_SHARE = 0.8;
/** Values that a generator may still yield from its `finally` blocks. */
export const LAST_YIELDS_MAX = 1_000;
/** Bytes of the body of a request. */
export const BODY_BYTES_MAX = 32 * 1024 * 1024;
/** Bytes of the head of a request. */
export const HEAD_BYTES_MAX = 32 * 1024;
/** Connections of the HTTP server. */
export const CONNECTIONS_MAX = 256;
/** Milliseconds in which a request must have come. */
export const REQUEST_MS_MAX = 30_000;
