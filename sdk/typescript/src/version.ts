// What this library calls itself to the host.

export const VERSION = "0.1.0";
export const SDK = `forecourt-agent-typescript/${VERSION}`;
