// Streams answers into the agent page, and adds copy buttons. Without this file the form still
// works: it then leads to the answer's own page. Text of agents only ever becomes text nodes.
"use strict";

// The page's own words, in its language.
const SAY = JSON.parse(document.getElementById("words").textContent);

/* ---- elements ---- */

function el(name, props = {}, ...children) {
  const node = Object.assign(document.createElement(name), props);
  node.append(...children);
  return node;
}

// A link target with a scheme that we follow, or null. The URL parser removes what hides a scheme.
function target(url) {
  try {
    const parsed = new URL(url, location.href);
    return ["http:", "https:", "mailto:"].includes(parsed.protocol) ? parsed.href : null;
  } catch {
    return null;
  }
}

function link(url, ...children) {
  const href = target(url);
  if (!href) return el("span", {}, ...children);
  return el("a", { href, rel: "nofollow noopener noreferrer", target: "_blank" }, ...children);
}

/* ---- markdown to nodes ---- */

const DEPTH_MAX = 20;
const INLINE_CHARS_MAX = 10000;

// In this order: escape, code, link or image, address in angles, bare address, strong emphasis,
// strong, emphasis, strikethrough, line break.
const INLINE = new RegExp(
  [
    /\\(?<escaped>[!-/:-@[-`{-~])/,
    /(?<ticks>`+)(?<code>[^`]|[^`].*?[^`])\k<ticks>(?!`)/,
    /!?\[(?<text>(?:[^[\]\\]|\\.|\[[^[\]]*\])*)\]\(\s*<?(?<url>[^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)*)>?(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/,
    /<(?<angle>https?:\/\/[^\s<>]+|mailto:[^\s<>]+)>/,
    /(?<bare>https?:\/\/[^\s<>"`]*[^\s<>"`.,:;!?)\]}*_~'])/,
    /\*{3}(?=[^\s*])(?<both>.+?)(?<=\S)\*{3}/,
    /(?<double>\*\*|(?<!\w)__)(?=\S)(?<strong>.+?)(?<=\S)\k<double>(?!\w*__)/,
    /(?<single>\*|(?<!\w)_)(?=[^\s*_])(?<em>.+?)(?<=\S)\k<single>(?!\w)/,
    /~~(?=\S)(?<del>.+?)(?<=\S)~~/,
    /(?: {2,}|\\)(?<hard>\n)/,
  ].map((part) => part.source).join("|"),
  "gs",
);

function inline(text, depth = 0) {
  if (text.length > INLINE_CHARS_MAX || depth > DEPTH_MAX) return [text];
  const nodes = [];
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index > from) nodes.push(text.slice(from, match.index));
    nodes.push(inlineNode(match.groups, depth + 1));
    from = match.index + match[0].length;
  }
  if (from < text.length) nodes.push(text.slice(from));
  return nodes;
}

function inlineNode(g, depth) {
  if (g.escaped) return g.escaped;
  if (g.code) return el("code", {}, g.code.replace(/^ (.*) $/s, "$1"));
  if (g.url !== undefined) return link(g.url, ...(g.text ? inline(g.text, depth) : [g.url]));
  if (g.angle || g.bare) return link(g.angle || g.bare, g.angle || g.bare);
  if (g.both) return el("strong", {}, el("em", {}, ...inline(g.both, depth)));
  if (g.strong) return el("strong", {}, ...inline(g.strong, depth));
  if (g.em) return el("em", {}, ...inline(g.em, depth));
  if (g.del) return el("del", {}, ...inline(g.del, depth));
  return el("br");
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*?))?(?:\s+#+)?\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3}(?:[-*+]|\d{1,9}[.)]))(?: +|$)/;
const DELIMITERS = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const startsBlock = (line) => [FENCE, HEADING, RULE, QUOTE, ITEM].some((start) => start.test(line));

function markdown(text) {
  return blocks(text.split(/\r\n|\r|\n/), 0);
}

function blocks(lines, depth) {
  const nodes = [];
  let at = 0;
  const takeWhile = (test) => {
    const from = at;
    while (at < lines.length && test(lines[at], at)) at++;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at];
    let match;
    if (!line.trim()) {
      at++;
    } else if (depth > DEPTH_MAX) {
      nodes.push(lines.slice(at).join("\n"));
      at = lines.length;
    } else if ((match = FENCE.exec(line))) {
      at++;
      const closes = (other) => other.trim().startsWith(match[1]) && !other.trim().replaceAll(match[1][0], "");
      const code = takeWhile((other) => !closes(other));
      at++;
      nodes.push(el("pre", {}, el("code", {}, code.join("\n"))));
    } else if ((match = HEADING.exec(line))) {
      at++;
      nodes.push(el(`h${Math.min(6, match[1].length + 1)}`, {}, ...inline(match[2] || "")));
    } else if (RULE.test(line)) {
      at++;
      nodes.push(el("hr"));
    } else if (QUOTE.test(line)) {
      const quoted = takeWhile((other) => QUOTE.test(other)).map((other) => other.replace(QUOTE, ""));
      nodes.push(el("blockquote", {}, ...blocks(quoted, depth + 1)));
    } else if (ITEM.test(line)) {
      nodes.push(list(takeWhile, line, depth));
    } else if (line.includes("|") && DELIMITERS.test(lines[at + 1] || "") && lines[at + 1].includes("-")) {
      nodes.push(table(takeWhile((other) => other.trim())));
    } else {
      const from = at;
      const words = takeWhile((other, index) => other.trim() && (index === from || !startsBlock(other)));
      nodes.push(el("p", {}, ...inline(words.map((word) => word.trimStart()).join("\n"))));
    }
  }
  return nodes;
}

// All items of one kind of marker. What is indented below an item, and lines that go on without a
// break, belong to it.
function list(takeWhile, first, depth) {
  const ordered = /\d/.test(ITEM.exec(first)[1]);
  const items = [];
  let [indent, blank, loose] = [0, false, false];
  takeWhile((line) => {
    const marker = ITEM.exec(line);
    const inside = items.length && (/^ */.exec(line)[0].length >= indent || !line.trim());
    if (inside) {
      items.at(-1).push(line.trim() ? line.slice(indent) : "");
    } else if (marker && /\d/.test(marker[1]) === ordered && !RULE.test(line)) {
      indent = Math.min(marker[0].length, marker[1].length + 4);
      loose ||= blank;
      items.push([line.slice(marker[0].length)]);
    } else if (blank || startsBlock(line)) {
      return false;
    } else {
      items.at(-1).push(line.trimStart());
    }
    blank = !line.trim();
    return true;
  });
  const start = ordered ? parseInt(first.trim(), 10) : 1;
  const entries = items.map((lines) => item(lines, loose, depth));
  return ordered ? el("ol", { start }, ...entries) : el("ul", {}, ...entries);
}

function item(lines, loose, depth) {
  const task = /^\[([ xX])\] +/.exec(lines[0]);
  if (task) lines[0] = lines[0].slice(task[0].length);
  const nodes = blocks(lines, depth + 1);
  const tight = nodes.flatMap((node, i) => (!loose && !i && node.nodeName === "P" ? [...node.childNodes] : [node]));
  const box = task ? [el("input", { type: "checkbox", disabled: true, checked: task[1] !== " " })] : [];
  return el("li", {}, ...box, ...tight);
}

function table([head, delimiters, ...rows]) {
  const cells = (row) => row.trim().replace(/^\||(?<!\\)\|$/g, "").split(/(?<!\\)\|/).map((c) => c.trim().replaceAll("\\|", "|"));
  const aligns = cells(delimiters).map((d) => (/:$/.test(d) ? (/^:/.test(d) ? "center" : "right") : ""));
  const row = (kind, line) =>
    el("tr", {}, ...cells(line).slice(0, aligns.length).map((text, i) => el(kind, { align: aligns[i] }, ...inline(text))));
  return el("table", {}, el("thead", {}, row("th", head)), el("tbody", {}, ...rows.map((line) => row("td", line))));
}

/* ---- server-sent events (WHATWG HTML 9.2) ---- */

async function* frames(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let [rest, event, data] = ["", "", []];
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    // A carriage return at the very end may be half of a pair: it waits for what follows.
    const lines = (rest + value).split(/\r\n|\n|\r(?=[^])/);
    rest = lines.pop();
    for (const line of lines) {
      const [, field, text] = /^([^:]*)(?:: ?(.*))?$/s.exec(line);
      // Comments are no events; those of our own hosts say what stands beside the words.
      if (!field && text) yield { event: "comment", data: text };
      if (field === "data") data.push(text ?? "");
      if (field === "event") event = text ?? "";
      if (line) continue;
      if (data.length) yield { event: event || "message", data: data.join("\n") };
      [event, data] = ["", []];
    }
  }
}

/* ---- the chat ---- */

// A sentence with its values.
const say = (key, ...values) => values.reduce((text, value, at) => text.replace(`{${at}}`, () => value), SAY[key]);
const inUnit = (value, unit) => new Intl.NumberFormat(SAY.language, { style: "unit", unit, unitDisplay: "long" }).format(value);

// In development this page may be plain, while refusals name the https address of the same host, whose local authority
// no browser knows: the same path is here.
function here(url) {
  const domain = document.querySelector('meta[name="mentionable:agent"]')?.content.split("@").pop();
  try {
    const { protocol, hostname, pathname, search, hash } = new URL(url);
    const isOwn = location.protocol === "http:" && protocol === "https:" && hostname === domain;
    return isOwn ? location.origin + pathname + search + hash : url;
  } catch {
    return url;
  }
}

function refusal(part) {
  const card = el("section", { className: "notice warn" }, el("h2", {}, part.title || SAY.titles[part.kind] || SAY.refused));
  card.append(el("p", { className: "said" }, part.message || SAY.declined));
  if (part.retry_after_seconds) card.append(el("p", { className: "meta" }, say("again_in", inUnit(part.retry_after_seconds, "second"))));
  if (part.url && target(part.url)) {
    const action = link(here(part.url), part.action_label || SAY.go_on);
    action.className = "button";
    card.append(el("p", { className: "next" }, action));
  }
  return card;
}

/* ---- what stands beside the words: files, links, questions ---- */

function bytesSaid(bytes) {
  if (bytes < 1024) return inUnit(bytes, "byte");
  return bytes < 1048576 ? `${(bytes / 1024).toFixed(1)} KiB` : `${(bytes / 1048576).toFixed(1)} MiB`;
}

function row(name, url, ...about) {
  const meta = about.filter(Boolean).map((words) => el("span", {}, words));
  const line = el("li", {}, url && target(url) ? link(url, name) : name);
  if (meta.length) line.append(" ", el("span", { className: "meta" }, ...meta));
  return line;
}

function rows(title, lines) {
  return lines.length ? [el("section", {}, el("h2", { className: "label" }, title), el("ul", { className: "rows" }, ...lines))] : [];
}

function made(part) {
  const words = /^text\/markdown/.test(part.mime) ? el("div", { className: "prose" }, ...markdown(part.content)) : el("pre", {}, part.content);
  const summary = el("summary", {}, `${part.name || SAY.file} `, el("span", { className: "meta" }, part.mime));
  return el("details", { className: "fold", open: true }, summary, words);
}

// Bytes that came with an answer, as something to open: a download, whatever they are.
function kept(part) {
  try {
    const bytes = Uint8Array.from(atob(part.bytes_ref.data), (letter) => letter.charCodeAt(0));
    const href = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
    return el("a", { href, download: part.name || "file" }, part.name || SAY.file);
  } catch {
    return null;
  }
}

function fileRow(part) {
  const about = [part.mime, part.size_bytes && bytesSaid(part.size_bytes)];
  const own = part.bytes_ref?.data && kept(part);
  if (!own) return row(part.name || SAY.file, part.bytes_ref?.url, ...about);
  const line = row("", null, ...about);
  line.prepend(own);
  return line;
}

function beside(parts) {
  const links = parts.filter(({ kind }) => kind === "link");
  const isWords = ({ kind, content }) => kind === "artifact" && typeof content === "string";
  const files = parts.filter((part) => ["file", "artifact"].includes(part.kind) && !isWords(part));
  return [
    ...rows(SAY.links, links.map((part) => row(part.title?.trim() || part.url, part.url, part.description))),
    ...rows(SAY.files, files.map(fileRow)),
    ...parts.filter(isWords).map(made),
  ];
}

// One question as a field; null when it can't be asked. The shapes are NLWeb's (4.1.3).
function fieldOf(question, name) {
  const text = [question.text, question.question, question.name].find((words) => typeof words === "string" && words.trim());
  if (!text) return null;
  const defaults = [question.default ?? []].flat().map(String);
  const choices = (several, options) =>
    el("fieldset", {}, el("legend", {}, text), ...options.map(([value, shown]) => {
      const input = el("input", { type: several ? "checkbox" : "radio", name, value, required: !several, checked: defaults.includes(shown) });
      return el("label", { className: "option" }, input, " ", el("span", {}, shown));
    }));
  if (["single_select", "multi_select"].includes(question.type)) {
    const options = (Array.isArray(question.options) ? question.options : []).map(String).slice(0, 50);
    return options.length ? choices(question.type === "multi_select", options.map((one) => [one, one])) : null;
  }
  if (question.type === "boolean") {
    if (typeof question.default === "boolean") defaults.push(question.default ? SAY.yes : SAY.no);
    return choices(false, [["yes", SAY.yes], ["no", SAY.no]]);
  }
  const id = `answer-${document.querySelectorAll(".entry").length}-${name}`;
  const input = el("input", { id, type: question.type === "number" ? "number" : "text", name, value: defaults[0] ?? "", maxLength: 2000 });
  if (question.type === "number") input.step = "any";
  return el("p", { className: "entry" }, el("label", { htmlFor: id }, text), input);
}

// The questions of an answer as a form; `send` takes what was filled in, and how that reads.
function questionForm(questions, send) {
  const all = questions.slice(0, 20).map((one) => (typeof one === "string" ? { text: one } : one)).filter((one) => one && typeof one === "object");
  const named = all.map((one) => ({ one, name: all.length === 1 ? "user" : `answer.${one.id || one.name || one.text}` }));
  const fields = named.map(({ one, name }) => fieldOf(one, name)).filter(Boolean);
  if (!fields.length) return [];
  const button = el("button", { className: "button", type: "submit" }, SAY.answer);
  const form = el("form", { className: "questions" }, ...fields, el("p", { className: "next" }, button));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = [...new FormData(form)].filter(([, value]) => value.trim());
    const words = named.flatMap(({ one, name }) => {
      const values = given.filter(([key]) => key === name).map(([, value]) => value);
      return values.length ? [all.length === 1 ? values.join(", ") : `${one.text || one.question || one.name} ${values.join(", ")}`] : [];
    });
    // Several choices of the only question are one message.
    if (given.length) send(all.length === 1 ? [["user", words[0]]] : given, words.join("\n"));
  });
  return [el("section", { className: "notice", ariaLabel: SAY.question }, form)];
}

function problem(message, retry) {
  const again = el("button", { type: "button", className: "button quiet", onclick: retry }, SAY.again);
  return el("section", { className: "notice warn" }, el("p", { className: "said" }, message), el("p", { className: "next" }, again));
}

// What a fault says, whichever shape its JSON has.
async function faultOf(response) {
  const json = await response.json().catch(() => ({}));
  const policy = json.policy || (json.part?.kind && json.part);
  const words = typeof json.error === "string" ? json.error : json.error?.message || json.message;
  const wait = Number(response.headers.get("retry-after"));
  const then = wait ? say("again_in", inUnit(wait, "second")) : json.hint || "";
  const said = words ? `${words[0].toUpperCase()}${words.slice(1)}` : `${SAY.failed} (${response.status})`;
  return { policy, message: `${said.replace(/[.!?]?$/, ".")}${then && `\n${then}`}` };
}

// One answer on the page: the steps taken, the words so far, then whatever ends it.
function replyView() {
  const steps = el("ul", { className: "steps", hidden: true });
  const words = el("div", { className: "prose" });
  const root = el("article", { className: "reply waiting" }, steps, words);
  const calls = new Map();
  let [text, waits] = ["", false];
  const draw = () => {
    waits = false;
    const began = performance.now();
    words.replaceChildren(...markdown(text));
    return performance.now() - began;
  };
  let cost = 0;
  return {
    root,
    parts: [],
    policy: undefined,
    text: () => text,
    say(fragment) {
      text += fragment;
      if (waits) return;
      waits = true;
      // The longer the drawing takes, the rarer it is.
      setTimeout(() => waits && (cost = draw()), Math.max(30, cost * 5));
    },
    step(call) {
      const state = "error" in call ? "failed" : "result" in call ? "done" : "running";
      const line = calls.get(call.id) || el("li");
      calls.set(call.id, line);
      line.className = state;
      line.replaceChildren(`${call.name}${{ running: " …", done: "", failed: ` ${SAY.step_failed}` }[state]}`);
      steps.append(line);
      steps.hidden = false;
    },
    end(...nodes) {
      draw();
      root.classList.remove("waiting");
      root.append(...nodes);
      root.ariaBusy = "false";
      return text !== "" || nodes.length > 0;
    },
  };
}

/* ---- what a reload keeps: this tab's conversation, until the tab is closed ---- */

const TURNS_KEPT_MAX = 30;
const CHARS_KEPT_MAX = 400000;

function memory(name) {
  const read = () => {
    try {
      const kept = JSON.parse(sessionStorage.getItem(name));
      return Array.isArray(kept?.turns) ? kept : { turns: [] };
    } catch {
      return { turns: [] };
    }
  };
  const write = (kept) => {
    const turns = kept.turns.slice(-TURNS_KEPT_MAX);
    while (turns.length && JSON.stringify(turns).length > CHARS_KEPT_MAX) turns.shift();
    try {
      sessionStorage.setItem(name, JSON.stringify({ ...kept, turns }));
    } catch { /* No room, or none is given: then a reload begins anew. */ }
  };
  return {
    read,
    add: (session, turn) => write({ session, turns: [...read().turns, turn] }),
    forget: () => { try { sessionStorage.removeItem(name); } catch { /* It was never kept. */ } },
  };
}

/* ---- files to send ---- */

const FILES_MAX = 10;
const FILES_BYTES_MAX = 900 * 1024;

// The files that go with the next message; `tell` says what can't go.
function attachments(form, tell) {
  const [input, shown] = ["files", "attached"].map((id) => document.getElementById(id));
  let files = [];
  const draw = () => {
    shown.hidden = !files.length;
    shown.replaceChildren(...files.map((file) => {
      const drop = el("button", { type: "button", ariaLabel: say("leave_out", file.name), onclick: () => { files = files.filter((one) => one !== file); draw(); } }, "×");
      return el("li", { className: "chip" }, file.name, el("span", { className: "meta" }, bytesSaid(file.size)), drop);
    }));
  };
  const add = (more) => {
    for (const file of more) {
      const bytes = files.reduce((sum, one) => sum + one.size, file.size);
      if (files.length >= FILES_MAX) tell(say("files_max", FILES_MAX));
      else if (bytes > FILES_BYTES_MAX) tell(say("too_large", file.name, bytesSaid(FILES_BYTES_MAX)));
      else files.push(file);
    }
    draw();
  };
  const takes = !!input;
  if (takes) {
    input.addEventListener("change", () => { add(input.files); input.value = ""; });
    document.getElementById("attach").hidden = false;
    for (const kind of ["dragover", "dragleave", "drop"]) {
      form.addEventListener(kind, (event) => {
        event.preventDefault();
        form.parentElement.classList.toggle("dropping", kind === "dragover");
        if (kind === "drop") add(event.dataTransfer.files);
      });
    }
  }
  return { take: () => { const taken = files; files = []; if (takes) draw(); return taken; } };
}

function startChat(form) {
  const [log, box, send, stop, status, fresh] = ["log", "user", "send", "stop", "status", "fresh"].map((id) => document.getElementById(id));
  const handed = new URLSearchParams(location.hash.slice(1));
  const past = memory(`conversation ${form.getAttribute("action")}`);
  const begun = form.elements.session?.value || handed.get("session");
  const before = begun && begun !== past.read().session ? { turns: [] } : past.read();
  const files = attachments(form, (words) => (status.textContent = words));
  let session = begun || before.session;
  let running = null;

  // Long text, files and their session travel in a body, since a query has a bound.
  const request = (said, signal) => {
    const fields = session ? [["session", session], ...said] : said;
    const options = { headers: { Accept: "text/event-stream, application/json;q=0.5" }, signal };
    const query = new URLSearchParams(fields).toString();
    const action = form.getAttribute("action");
    const hasFiles = said.some(([, value]) => value instanceof File);
    if (query.length < 6000 && !hasFiles) return fetch(`${action}?${query}`, options);
    const body = new FormData();
    fields.forEach(([name, value]) => body.append(name, value));
    return fetch(action, { ...options, method: "POST", body });
  };

  const stream = async (response, view) => {
    const parts = [];
    let failure = "";
    for await (const { event, data } of frames(response.body)) {
      if (event === "comment" && data.startsWith("error ")) failure = data.slice(6);
      if (event === "comment" && data.startsWith("part ")) parts.push(JSON.parse(data.slice(5)).part);
      if (event === "message") view.say(data);
      if (event === "tool_call") view.step(JSON.parse(data).part);
      if (event === "policy") {
        view.policy = JSON.parse(data).part;
        return [refusal(view.policy)];
      }
      if (event === "end") {
        view.parts = parts;
        const questions = parts.flatMap(({ kind, data }) => (kind === "data" && Array.isArray(data?.questions) ? data.questions : []));
        return [...beside(parts), ...questionForm(questions, (fields, words) => ask(words, fields))];
      }
    }
    throw new Error(failure ? say("cut", failure) : SAY.broken);
  };

  const answer = async (fields, view, retry) => {
    let response = await request(fields, running.signal);
    if (response.status === 404 && session) {
      session = null; // It has expired: the conversation begins anew.
      response = await request(fields, running.signal);
    }
    session = response.headers.get("x-mentionable-session") || session;
    if (response.ok && (response.headers.get("content-type") || "").startsWith("text/event-stream")) {
      return stream(response, view);
    }
    const { policy, message } = await faultOf(response);
    view.policy = policy;
    return [policy ? refusal(policy) : problem(message, retry)];
  };

  const busy = (on) => {
    [send.hidden, stop.hidden] = [on, !on];
    status.textContent = on ? SAY.answering : "";
    if (!on) running = null;
  };

  const turnOf = (text, names, view) => {
    const sent = names.map((name) => el("span", { className: "sent" }, name));
    return el("div", { className: "turn" }, el("p", { className: "question" }, text, ...sent), view.root);
  };

  const hash = (more) => `#${new URLSearchParams({ ...(document.body.classList.contains("search") && { chat: "1" }), ...more })}`;

  const ask = async (text, fields = [["user", text]], sent = []) => {
    if (running || (!text.trim() && !sent.length)) return;
    running = new AbortController();
    const view = replyView();
    const names = sent.map(({ name }) => name);
    const turn = turnOf(text, names, view);
    const retry = () => { turn.remove(); ask(text, fields, sent); };
    const all = [...fields.filter(([, value]) => value.trim()), ...sent.map((file) => ["user", file])];
    view.root.ariaBusy = "true";
    document.getElementById("suggestions")?.remove();
    log.append(turn);
    turn.scrollIntoView({ block: "start" });
    history.replaceState(null, "", hash({ q: text }));
    fresh.hidden = false;
    busy(true);
    try {
      const said = view.end(...(await answer(all, view, retry)));
      if (navigator.clipboard && view.text()) view.root.append(el("p", { className: "tools" }, copyButton(SAY.copy, view.text)));
      if (!said) view.root.append(el("p", { className: "meta" }, SAY.no_reply));
      past.add(session, { text, names, said: view.text(), parts: view.parts, policy: view.policy });
    } catch (error) {
      const stopped = error.name === "AbortError";
      const words = error instanceof TypeError ? SAY.away : error.message;
      past.add(session, { text, names, said: view.text(), failed: stopped ? "" : words });
      view.end(stopped ? el("p", { className: "meta" }, SAY.stopped) : problem(words, retry));
    } finally {
      busy(false);
    }
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (running) return;
    ask(box.value, [["user", box.value]], files.take());
    box.value = "";
    box.rows = 1;
  });
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  box.addEventListener("input", () => (box.rows = Math.min(8, box.value.split("\n").length)));
  document.addEventListener("keydown", (event) => event.key === "Escape" && running?.abort());
  stop.addEventListener("click", () => { running?.abort(); box.focus(); });
  document.getElementById("suggestions")?.addEventListener("click", (event) => {
    const chip = event.target.closest("a");
    if (!chip || event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    ask(chip.textContent);
    box.focus();
  });
  for (const { text, names = [], said, parts, policy, failed } of before.turns) {
    const view = replyView();
    const turn = turnOf(text, names, view);
    const retry = () => { turn.remove(); ask(text); };
    view.say(said || "");
    view.end(...(policy ? [refusal(policy)] : []), ...(failed ? [problem(failed, retry)] : []), ...beside(parts || []));
    log.append(turn);
  }
  if (before.turns.length) {
    document.getElementById("suggestions")?.remove();
    fresh.hidden = false;
    log.lastElementChild.scrollIntoView({ block: "start" });
  }
  fresh.addEventListener("click", () => {
    running?.abort();
    past.forget();
    location.replace(location.pathname);
  });
  const asked = handed.get("q");
  box.value = (asked !== before.turns.at(-1)?.text && asked) || box.value;
  if (handed.has("session")) history.replaceState(null, "", location.pathname + (hash({}).length > 1 ? hash({}) : ""));
  if (matchMedia("(hover: hover)").matches) box.focus();
}

/* ---- copying ---- */

// A button that copies what `text` gives, and says so for two seconds.
function copyButton(words, text) {
  const button = el("button", { type: "button" }, words);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text());
    button.textContent = SAY.copied;
    setTimeout(() => (button.textContent = words), 2000);
  });
  return button;
}

function addCopyButton(holder) {
  holder.append(copyButton(SAY.copy, () => holder.querySelector("code").textContent));
}
