//! The program from the outside: the real binary, its real wires, and a real browser.
//!
//! | module | holds |
//! |---|---|
//! | `acceptance` | `forecourt test`: tests of deployments, recorded models |
//! | `development` | `forecourt dev`, and what `check` finds beside what is refused |
//! | `manual_site` | the manual as static pages |
//! | `rest` | the examples of Mentionable REST 9, and every status that it names |
//! | `tasks` | background tasks: polling, callbacks, webhooks, artifacts, kill -9, draining |
//! | `identity` | who is believed to be who |
//! | `api_keys` | keys of programs, over every protocol
//! | `domains` | several domains in one daemon |
//! | `discovery` | from an address to an answer, by hand and with `ask` and `discover` |
//! | `starters` | `init --with`: each starter is served and asked |
//! | `on_behalf_of` | services that are asked in the name of the caller |
//! | `on_lost` | killed daemons whose tasks go on: begun anew, or found again at a remote agent |
//! | `kills` | a daemon that is killed again and again under load, and agents whose tasks go on |
//! | `nodes` | several daemons that share a store and a bus |
//! | `operate` | check, init, limits, metrics, content that changes |
//! | `certificates` | certificates that are ordered from a real authority |
//! | `overrides` | variables of the environment that go before keys, secrets from files |
//! | `proxies` | behind nginx, Caddy and HAProxy, with the snippets of the manual |
//! | `leaving` | a daemon that is told to stop, and who is connected to it |
//! | `data` | the data folder, and what `serve` refuses of it |
//! | `export` | the documents of a deployment, as files |
//! | `evidence_carriers` | what proves who is speaking reaches nobody but the verifier
//! | `faults` | agents that break |
//! | `protected_resources` | where clients learn who gives out tokens
//! | `programs` | programs that work for a deployment end with it |
//! | `five_wires` | one question over every wire |
//! | `standing` | agents that are suspended and retired, over every protocol |
//! | `queue` | questions to the operator |
//! | `admin`, `console` | the operator's API and its attackers; its pages in Chromium |
//! | `agtp` | `agtp` and `manifest check` over TLS |
//! | `agtp_command`, `ask` | the same and `ask`, against servers that misbehave |
//! | `ask_decisions` | `ask` behind a consent or a payment: waits for its page, and goes on later |
//! | `catalog` | `catalog diff`: what changed, what breaks, and exit codes |
//! | `openapi` | `import openapi` and `export openapi` |
//! | `pipes` | standard output that nobody reads, and what exit codes mean |
//! | `chat_agents` | agents that are asked over several chats |
//! | `slack` | agents in Slack: mentions, refusals, edits, files, a daemon that is killed |
//! | `telegram` | the same in Telegram |
//! | `matrix` | the same in Matrix, on a real homeserver |
//! | `discord` | the same in Discord, with commands, and a connection that is lost |
//! | `email` | questions and answers by mail, with mail programs, DNS and DKIM of others |
//! | `trip` | an agent that books at three imported services under contracts that it proposes, and pays |
//! | `endpoints` | endpoints from their files to callers, over every protocol |
//! | `genesis` | `forecourt genesis`, and who the agents of a deployment are |
//! | `reload` | changes of a deployment while it is served |
//! | `rules` | rules before agents, each kind over REST |
//! | `sign_in` | people sign in at an OpenID provider, in Chromium too |
//! | `siblings` | an agent that asks the agents beside it |
//! | `sharpened` | a search with a real language model |
//! | `remote` | `ask --via a2a`, and agents that front others |
//! | `items` | `ask --via nlweb`, and promises |
//! | `crawlers` | rules before crawlers, signed by others' library, and people who meet none |
//! | `packages` | the Debian package, the chart and the image |
//! | `card_page` | people pay by card in Chromium, at a strict double of a provider |
//! | `pay_page` | people pay with wallets in Chromium, on a real chain |
//! | `pages` | what a person sees, in Chromium |
//! | `site_pages` | the pages about a site itself: front page, search engines, languages |
//! | `search_page` | an agent that finds things, as a person sees it |
//! | `pipe` | `forecourt mcp`: a deployment, or a server, over standard input and output |
//! | `mcp_servers` | MCP servers behind a deployment: what clients find, rules, reloads, a tool as an endpoint |
//! | `widget` | the widget of MCP, in Chromium |
//! | `three_nodes` | three daemons behind a balancer: tasks, promises, sessions, keys and content go on anywhere |
//! | `tool` | `ask --via mcp` |
//! | `contributing` | the pages for contributors: each example is built and asked |
//! | `conform` | `forecourt conform` against our own servers, over every wire |
//! | `foreign_hosts` | `forecourt conform` against hosts that others made, with lists of known faults |
//! | `conformance` | the conformance suite of MCP, with a list of known gaps |
//! | `stranger` | NLWeb by a client that knows the specification alone |
//! | `backup` | backups, restored and asked |
//! | `install` | completions, manual pages, schemas, probes |
//! | `crash` | what is found after the hard end of the daemon, and with damaged files |
//! | `logs` | what is in no log |
//! | `monitoring` | metrics by name, a real Prometheus, the access log |
//! | `telemetry` | traces, metrics and logs at a collector |
//! | `switches` | what callers write that must change nothing inside |
//! | `embed` | the search box on a site of another origin |
//! | `manual` | every command, file and program of the README and the manual |
//! | `plain_origin` | which addresses documents name that were fetched from a plain listener |
//! | `sdk_python` | the library for agents in Python, and an agent made with it |
//! | `sdk` | the client libraries of A2A and MCP in other languages |
//! | `sdk_typescript` | our own library for agents in TypeScript: its tests, and an agent of it behind the daemon |

mod acceptance;
mod admin;
mod admin_login;
mod agent_certificates;
mod agtp;
mod agtp_command;
mod api_keys;
mod ask;
mod ask_decisions;
mod backup;
mod browser;
mod card_page;
mod catalog;
mod certificates;
mod chat_agents;
mod conform;
mod conformance;
mod connect;
mod console;
mod contributing;
mod conventions;
mod conversations;
mod crash;
mod crawlers;
mod data;
mod decisions;
mod delegated;
mod development;
mod discord;
mod discovery;
mod domains;
mod editor;
mod email;
mod embed;
mod endings;
mod endpoints;
mod evidence_carriers;
mod export;
mod faults;
mod fediverse;
mod five_wires;
mod foreign_hosts;
mod genesis;
mod hubs;
mod identity;
mod import_server;
mod install;
mod items;
mod kills;
mod leaving;
mod logs;
mod manual;
mod manual_site;
mod matrix;
mod mcp_servers;
mod model_agents;
mod monitoring;
mod negotiation;
mod negotiation_attacks;
mod nodes;
mod oauth;
mod on_behalf_of;
mod on_lost;
mod openapi;
mod openid;
mod operate;
mod overrides;
mod packages;
mod pages;
mod pay_page;
mod payment;
mod pipe;
mod pipes;
mod plain_origin;
mod programs;
mod protected_resources;
mod proxies;
mod push;
mod queue;
mod receiver;
mod records;
mod reload;
mod reload_sections;
mod remote;
mod rest;
mod rules;
mod scripts;
mod sdk;
mod sdk_python;
mod sdk_typescript;
mod search_page;
mod sharpened;
mod siblings;
mod sign_in;
mod site_pages;
mod slack;
mod standing;
mod starters;
mod stranger;
mod support;
mod switches;
mod tasks;
mod telegram;
mod telemetry;
mod three_nodes;
mod tool;
mod trends;
mod tried_out;
mod trip;
mod usage;
mod vocabulary;
mod well_known;
mod widget;
mod wire;
mod wrong_clock;
