// A search-and-ask box for any site: <script src="https://HOST/widget.js" data-agent="@shop" async></script>
// puts a <forecourt-ask> where it stands. It asks that host over NLWeb and shows what comes. It sends no cookies and
// keeps nothing but what is on the page; what answers say only ever becomes text. Styling: see the manual.
(() => {
"use strict";

const script = document.currentScript;
const HOST = script?.src ? script.src.replace(/\/[^/]*$/, "") : location.origin;
const MAX = { question: 500, results: 20, prev: 5, bytes: 2_000_000, options: 20, entries: 3, words: 24, group: 4, slow: 12000 };
const TYPING_MS = 250;

// The words of the box come with the data of the host; what cards tell is in this order.
const LANGUAGES = ["en", "de", "fr", "es"];
const STOCK = { SoldOut: "OutOfStock", Discontinued: "OutOfStock", InStoreOnly: "InStock", OnlineOnly: "InStock", BackOrder: "PreOrder", PreSale: "PreOrder" };

/* ---- style: adopted sheets, which no policy of the page forbids ---- */

const SHEET = new CSSStyleSheet();
SHEET.replaceSync(`
:host{display:block;position:relative;max-width:var(--forecourt-width,44rem);font-size:16px;line-height:1.5;font-family:var(--forecourt-font,inherit);text-align:start;color-scheme:light dark;--radius:var(--forecourt-radius,12px);
	--ink:var(--forecourt-ink,light-dark(#1d2322,#e6eae8));--soft:var(--forecourt-soft,light-dark(#5b6765,#a3b0ad));--paper:var(--forecourt-paper,light-dark(#fff,#1a1f1e));--tint:var(--forecourt-tint,light-dark(#f1f0ea,#262d2b));--line:var(--forecourt-line,light-dark(#8b9693,#6d7875));--hair:var(--forecourt-hair,light-dark(#e2e1da,#2d3533));--warn:var(--forecourt-warn,light-dark(#8a4f0c,#e0a561));
	--accent:var(--forecourt-accent,var(--own,light-dark(#1f6b58,#74c9b0)));--on:var(--forecourt-on-accent,var(--own-on,light-dark(#fff,#0d1f1a)))}
:host([theme=light]){color-scheme:light}
:host([theme=dark]){color-scheme:dark}
:host([hidden]), [hidden]{display:none !important}
*{box-sizing:border-box}
p, ol, ul, form, fieldset{margin:0;padding:0;border:0;list-style:none;min-width:0}
a{color:var(--accent);text-underline-offset:.15em}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:6px}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.box{display:flex;gap:.25rem;padding:.3rem;border:1px solid var(--line);border-radius:calc(var(--radius) + 6px);background:var(--paper);color:var(--ink)}
.box:focus-within{border-color:var(--accent);box-shadow:0 0 0 1px var(--accent)}
.box input{flex:1;min-width:0;padding:.5rem .75rem;border:0;background:none;color:inherit;font:inherit;outline:none;appearance:none}
.box input::placeholder{color:var(--soft);opacity:1}
button{padding:.45rem 1rem;border:1px solid transparent;border-radius:var(--radius);background:var(--accent);color:var(--on);font:inherit;font-size:.9375rem;font-weight:600;cursor:pointer}
button.quiet{padding:.3rem .8rem;border-color:var(--line);background:none;color:var(--ink);font-weight:500;font-size:.875rem}
button.link{padding:0;border:0;background:none;color:var(--accent);font-weight:500;font-size:inherit;text-decoration:underline}
.panel{margin-top:.5rem;padding:1rem;border:1px solid var(--hair);border-radius:var(--radius);background:var(--paper);color:var(--ink);container-type:inline-size}
:host(:not([mode=inline])) .panel{position:absolute;z-index:var(--forecourt-z,1000);inset:100% 0 auto;max-height:min(75vh,46rem);overflow:auto;overscroll-behavior:contain;box-shadow:0 12px 40px rgb(0 0 0 / .18)}
.panel > * + *{margin-top:.85rem}
.panel > :empty{display:none}
.busy .cards{opacity:.5}
.status, .trail, .foot{color:var(--soft);font-size:.8125rem}
.trail{display:flex;flex-wrap:wrap;gap:.25rem .6rem}
.said{text-wrap:pretty;overflow-wrap:anywhere}
.said > * + *{margin-top:.5rem}
.said ul{padding-inline-start:1.2em;list-style:disc}
.told{display:flex;flex-wrap:wrap;gap:.35rem;font-size:.8125rem}
.told li{padding:.1rem .6rem;border-radius:99px;background:var(--tint)}
.told li:has(button){padding:0}
.told button{border-radius:99px}
@media (pointer:coarse){button, .box input{min-height:2.75rem}}
.told .warn{border-radius:8px;color:var(--warn);flex-basis:100%}
.warn{color:var(--warn)}
.cards{display:grid;gap:.25rem;margin-inline:-.6rem}
.cards:not(:has(img)) .picture{display:none}
.card{position:relative;display:flex;gap:.85rem;padding:.6rem;border-radius:8px}
.card:hover, .card:focus-within{background:var(--tint)}
.card a::after{content:"";position:absolute;inset:0;border-radius:inherit}
.card a:focus-visible{outline:none}
.card:has(a:focus-visible){outline:2px solid var(--accent);outline-offset:-2px}
.picture{flex:none;width:5.25rem;height:5.25rem;border-radius:8px;background:var(--tint);object-fit:cover}
div.picture{display:grid;place-items:center;color:var(--soft);font-size:1.5rem;font-weight:600}
.about{flex:1;min-width:0;font-size:.875rem;line-height:1.45;overflow-wrap:anywhere}
.title{font-size:1rem;font-weight:600}
.title a{color:var(--ink);text-decoration:none}
.price{font-weight:600;font-size:.9375rem}
.price span{margin-inline-start:.6em;font-weight:500;font-size:.8125rem}
.stock{color:var(--accent)}
.soft{color:var(--soft)}
.soft > * + *::before{content:" · "}
.clamp{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:2;overflow:hidden}
mark{background:none;color:inherit;font-weight:650;text-decoration:underline;text-decoration-color:var(--accent);text-decoration-thickness:2px;text-underline-offset:2px}
.options{display:flex;flex-wrap:wrap;gap:.4rem;margin-top:.5rem}
.options label{font-size:.875rem}
.group{grid-column:1/-1}
.group > .title{padding:0 .6rem}
.group > .soft, .group > .status{margin:0 .6rem}
.group .cards{margin:0}
.foot{display:flex;flex-wrap:wrap;gap:.25rem 1rem}
@container (min-width:43rem){.cards{grid-template-columns:1fr 1fr}}
@media (max-width:26rem){.panel{padding:.75rem}.card{padding:.5rem .25rem}.picture{width:4.5rem;height:4.5rem}}
`);

/* ---- elements; text of others is only ever text ---- */

// el("p.soft", { lang: "de" }, …): a name, perhaps a class, perhaps attributes, and children.
function el(name, ...children) {
	const [tag, css] = name.split(".");
	const node = document.createElement(tag);
	if (css) node.className = css;
	const props = children[0]?.constructor === Object ? children.shift() : {};
	for (const [key, value] of Object.entries(props)) {
		if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
		else if (value ?? false) node.setAttribute(key, value === true ? "" : value);
	}
	node.append(...children.filter((child) => child ?? false));
	return node;
}

function address(text, schemes = ["https:", "http:"]) {
	if (typeof text !== "string" || text.length > 2000) return null;
	try {
		const url = new URL(text);
		return schemes.includes(url.protocol) ? url : null;
	} catch {
		return null;
	}
}

/* ---- which words were matched ---- */

const fold = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
// Two words are forms of one when they begin alike and differ in an ending of three letters at most.
function alike(a, b) {
	if (a === b) return true;
	let at = 0;
	while (at < a.length && a[at] === b[at]) at++;
	const [short, long] = [a.length - at, b.length - at].sort((one, other) => one - other);
	return (at > 3 && short < 2 && long < 4) || (at > 2 && !short && long === 1);
}
function wordsOf(text, common) {
	return (text.match(/[\p{L}\p{N}]+/gu) || []).map(fold).filter((word) => !common.includes(` ${word} `) && (word.length > 2 || /^\p{N}+$/u.test(word))).slice(0, MAX.words);
}
const matches = (word, words) => words.some((asked) => alike(fold(word), asked));
function marked(text, words) {
	return text.split(/([\p{L}\p{N}]+)/u).map((piece, at) => (at % 2 && matches(piece, words) ? el("mark", piece) : piece));
}
const holds = (text, words) => (text.match(/[\p{L}\p{N}]+/gu) || []).some((word) => matches(word, words));

// What of a longer text is near a matched word.
function excerpt(text, words) {
	const sentences = text.replace(/\s+/g, " ").trim().match(/[^.!?]+[.!?]*\s*/g) || [];
	const from = text.length > 180 ? Math.max(0, sentences.findIndex((sentence) => holds(sentence, words))) : 0;
	return (from ? "… " : "") + sentences.slice(from).join("").slice(0, 240);
}

/* ---- a safe little of markdown ---- */

function inline(text) {
	const nodes = [];
	let from = 0;
	for (const match of text.slice(0, 4000).matchAll(/\*\*(.+?)\*\*|\*([^*\s][^*]*)\*|`([^`]+)`|\[([^\]]*)\]\(<?([^\s)>]+)>?\)|\\([!-/:-@[-`{-~])/g)) {
		nodes.push(text.slice(from, match.index));
		const [whole, strong, em, code, words, url, escaped] = match;
		const to = url && address(url);
		if (strong) nodes.push(el("strong", ...inline(strong)));
		else if (em) nodes.push(el("em", ...inline(em)));
		else if (code) nodes.push(el("code", code));
		else if (escaped) nodes.push(escaped);
		else nodes.push(to ? el("a", { href: to.href, rel: "nofollow noopener" }, words || to.host) : words);
		from = match.index + whole.length;
	}
	return [...nodes, text.slice(from)];
}

function prose(text) {
	return text.slice(0, 20000).split(/\n{2,}/).map((block) => {
		const lines = block.split("\n");
		if (!lines.every((line) => /^\s*([-*+]|\d+[.)])\s/.test(line))) return el("p", ...inline(block.replace(/^#+\s*/, "")));
		return el("ul", ...lines.map((line) => el("li", ...inline(line.replace(/^\s*\S+\s+/, "")))));
	});
}

/* ---- items ---- */

const list = (value) => (Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]);
const word = (object, ...keys) => keys.map((key) => object?.[key]).find((value) => typeof value === "string" && value.trim()) || "";

function pictureOf(item) {
	for (const one of ["image", "thumbnailUrl", "thumbnail", "photo"].flatMap((key) => list(item[key]))) {
		const url = address(typeof one === "string" ? one : word(one, "contentUrl", "thumbnailUrl", "url", "@id"), ["https:", location.protocol === "http:" ? "http:" : "https:"]);
		if (url) return url.href;
	}
	return null;
}

function priceOf(item, lang, t) {
	const offer = list(item.offers)[0];
	const spec = list(offer?.priceSpecification)[0];
	const amount = offer?.price ?? offer?.lowPrice ?? spec?.price ?? "";
	const currency = word(offer, "priceCurrency") || word(spec, "priceCurrency");
	let said = `${amount} ${currency}`.trim();
	try {
		if (amount !== "" && currency) said = new Intl.NumberFormat(lang, { style: "currency", currency }).format(amount);
	} catch { /* A currency that nobody knows stays as it is written. */ }
	const stock = word(offer, "availability").split(/[/#:]/).pop();
	const known = STOCK[stock] || stock;
	const words = t.has(known) ? t(known) : known.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2");
	return said || words ? el("p.price", said, words && el(known === "OutOfStock" ? "span.warn" : "span.stock", words)) : null;
}

function duration(text) {
	const match = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?)?$/.exec(text) || [];
	return ["d", "h", "min"].map((unit, at) => (Number(match[at + 1]) ? `${Number(match[at + 1])} ${unit}` : "")).filter(Boolean).join(" ");
}

const unique = (all) => [...new Set(all.flat().filter(Boolean))];
const placeOf = (value) => (typeof value === "object" ? unique([word(value, "name"), word(value, "streetAddress"), word(value, "addressLocality"), ...list(value.address).slice(0, 1).map(placeOf)]) : [String(value)]).join(", ");

// A value in words, in one of the forms that the data of the host names.
function told(value, form, lang, say) {
	const one = list(value)[0], number = (text) => (Number(text) ? Number(text).toLocaleString(lang) : text);
	const day = form === "date" && new Date(one);
	if (form === "rating") return one?.ratingValue ? `★ ${number(one.ratingValue)}${one.ratingCount || one.reviewCount ? ` (${one.ratingCount || one.reviewCount})` : ""}` : "";
	if (form === "year") return String(one).slice(0, 4);
	if (day && !Number.isNaN(day.valueOf())) return day.toLocaleString(lang, { dateStyle: "medium", timeStyle: /T(?!00:00)/.test(one) ? "short" : undefined });
	if (form === "place") return placeOf(one);
	if (form === "money" || form === "area") {
		const inner = one?.value?.constructor === Object ? one.value : one;
		const amount = [inner?.minValue, inner?.maxValue].filter(Boolean).join("–") || number(inner?.value ?? inner?.strengthValue ?? "");
		const unit = form === "money" ? [one?.currency || inner?.currency, inner?.unitText && `/ ${say(inner.unitText)}`] : [say(inner?.unitText || inner?.strengthUnit || inner?.unitCode || "")];
		return typeof one === "object" ? [amount, ...unit].filter(Boolean).join(" ") : String(one);
	}
	return list(value).slice(0, 6).map((one) => (typeof one === "object" ? word(one, "name", "value") : duration(String(one)) || say(String(one).replace(/^https?:.*[/#]/, "")))).filter(Boolean).join(", ");
}

function factsOf(item, lang, data = {}) {
	const kind = String(list(item["@type"])[0] || "").split(/[/:#]/).pop(), at = Math.max(0, LANGUAGES.indexOf(lang.slice(0, 2)));
	const said = (words) => words?.[at];
	const known = list(data.kinds).flatMap(({ names, facts }) => names.map((name) => [name, facts])).filter(([name]) => kind.endsWith(name)).sort(([a], [b]) => b.length - a.length)[0];
	return (known?.[1] || []).map(({ of, as, label }) => {
		const text = told(of.map((key) => item[key]).find((one) => one ?? false) ?? "", as, lang, (name) => said(data.words[name]) || name);
		return text && [said(data.labels[label]), text].filter(Boolean).join(" ");
	}).filter(Boolean).slice(0, 4);
}

// Entries of lists that hold a matched word, such as parts and what something is made of.
function entriesOf(item, words) {
	for (const value of Object.values(item)) {
		if (!Array.isArray(value) || value.length < 2 || !value.every((one) => typeof one === "string" && !/^https?:/.test(one))) continue;
		const found = value.slice(0, 200).filter((one) => one.length < 120 && holds(one, words)).slice(0, MAX.entries);
		if (found.length) return found;
	}
	return [];
}

/* ---- server-sent events ---- */

async function* frames(body) {
	const reader = body.pipeThrough(new TextDecoderStream()).getReader();
	let [rest, event, data, size] = ["", "", [], 0];
	for (;;) {
		const { value, done } = await reader.read();
		if (done) return;
		size += value.length;
		if (size > MAX.bytes) return reader.cancel();
		const lines = (rest + value).split(/\r\n|\n|\r(?=[^])/);
		rest = lines.pop();
		for (const line of lines) {
			if (line.startsWith("event:")) event = line.slice(6).trim();
			if (line.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
			if (line) continue;
			if (data.length) yield { event, data: JSON.parse(data.join("\n")) };
			[event, data] = ["", []];
		}
	}
}

/* ---- the element ---- */

const asking = { credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store" };

class ForecourtAsk extends HTMLElement {
	#about = null; #running = null; #timer = 0; #prev = []; #asked = ""; #parts = null;
	#away = (event) => event.composedPath().includes(this) || this.#open(false);
	#slash = (event) => {
		const at = event.composedPath()[0];
		if (event.key !== "/" || at.isContentEditable || at.matches?.("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
		if (document.querySelector("forecourt-ask:not([hidden])") !== this) return;
		event.preventDefault();
		this.#parts.input.focus();
	};

	connectedCallback() {
		if (!this.#parts) this.#build();
		document.addEventListener("pointerdown", this.#away);
		document.addEventListener("keydown", this.#slash);
	}

	disconnectedCallback() {
		document.removeEventListener("pointerdown", this.#away);
		document.removeEventListener("keydown", this.#slash);
		this.#stop();
	}

	get #host() { return address(this.getAttribute("host"))?.href.replace(/\/+$/, "") || HOST; }
	get #lang() { return this.getAttribute("lang") || this.closest("[lang]")?.lang || navigator.language || "en"; }
	get #t() {
		const words = this.#about?.words || {};
		const say = (key, ...values) => values.reduce((text, value, at) => text.replace(`{${at}}`, () => value), words[key] || "");
		say.has = (key) => Object.hasOwn(words, key);
		return say;
	}

	#build() {
		const root = this.attachShadow({ mode: "open" });
		root.adoptedStyleSheets = [SHEET];
		const input = el("input", {
			type: "search", part: "input", id: "q", maxlength: MAX.question, autocomplete: "off", enterkeyhint: "search", "aria-controls": "panel", "aria-expanded": "false", oninput: () => this.#typing(), onclick: () => this.#asked && this.#open(true),
		});
		const label = el("label.unseen", { for: "q" });
		const box = el("form.box", { part: "box", role: "search", onsubmit: (event) => { event.preventDefault(); this.#begin(input.value.trim(), true); } }, label, input, el("button", { part: "button" }));
		const follow = el("input", { type: "text", maxlength: MAX.question, autocomplete: "off", enterkeyhint: "send" });
		const status = el("p.status", { role: "status" });
		const part = { input, label, follow, status, trail: el("p.trail"), said: el("div.said", { "aria-live": "polite" }), told: el("ul.told"), cards: el("ol.cards", { part: "cards" }), back: el("form"), foot: el("p.foot") };
		part.goes = el("form.follow", { hidden: true, onsubmit: (event) => { event.preventDefault(); this.#goOn(follow.value); } }, el("div.box", follow, el("button")));
		part.panel = el("section.panel", { part: "panel", id: "panel", hidden: true }, status, part.trail, part.said, part.told, part.back, part.cards, part.goes, part.foot);
		part.all = el("div", { onkeydown: (event) => this.#keys(event) }, box, part.panel);
		root.append(part.all);
		this.#parts = part;
		this.#meet();
	}

	// Who answers here, and whether this site may ask.
	async #meet() {
		const query = new URLSearchParams({ agent: this.getAttribute("agent") || "", lang: this.#lang });
		try {
			const response = await fetch(`${this.#host}/widget.json?${query}`, asking);
			const about = await response.json();
			if (!response.ok) return this.#refused(about.error?.message || `status ${response.status}`);
			this.#about = about;
		} catch (error) {
			return this.#refused(`${this.#host} can’t be reached (${error.message})`);
		}
		const t = this.#t, { input, label, follow, panel, all } = this.#parts;
		const asks = t("label", this.#about.name);
		label.textContent = asks;
		for (const button of all.querySelectorAll(".box button")) button.textContent = t("ask");
		follow.placeholder = follow.ariaLabel = t("follow");
		panel.ariaLabel = t("answers");
		input.placeholder = this.getAttribute("placeholder") || `${asks} …`;
		const pair = (pair) => (/^#\w{6},#\w{6}$/.test(pair) ? `light-dark(${pair})` : "");
		const [accent, on] = [pair(this.#about.accent), pair(this.#about.on_accent)];
		if (accent && on) {
			const own = new CSSStyleSheet();
			own.replaceSync(`:host { --own:${accent}; --own-on:${on}; }`);
			this.shadowRoot.adoptedStyleSheets = [SHEET, own];
		}
		if (input.value.trim()) this.#typing();
	}

	#refused(reason) {
		this.hidden = true;
		console.error(`forecourt-ask: ${reason}`);
		this.dispatchEvent(new CustomEvent("forecourt-refused", { bubbles: true, detail: { reason } }));
	}

	#open(on) {
		this.#parts.panel.hidden = !on;
		this.#parts.input.setAttribute("aria-expanded", String(on));
	}

	#stop() {
		clearTimeout(this.#timer);
		this.#running?.abort();
		this.#running = null;
		this.#parts.all.classList.remove("busy");
	}

	#typing() {
		clearTimeout(this.#timer);
		const text = this.#parts.input.value.trim();
		if (!text) { this.#stop(); this.#asked = ""; this.#prev = []; return this.#open(false); }
		if (text.length < 2) return;
		this.#timer = setTimeout(() => this.#begin(text, false), TYPING_MS);
	}

	#begin(text, full) {
		this.#prev = [];
		if (text) this.#run(text, full);
	}

	// On in the same conversation, which is kept here and nowhere else.
	#goOn(text, answers = {}) {
		if (!text.trim()) return;
		this.#prev = [...this.#prev, this.#asked].slice(-MAX.prev);
		this.#parts.follow.value = "";
		this.#run(text.trim().slice(0, MAX.question), true, answers);
	}

	async #run(text, full, answers = {}) {
		this.#stop();
		if (!this.#about) return;
		const own = (this.#running = new AbortController());
		const { all, status } = this.#parts;
		this.#asked = text;
		all.classList.add("busy");
		this.#open(true);
		status.textContent = this.#t("searching");
		const agents = this.#several(text);
		const count = agents.length ? MAX.group : Math.min(MAX.results, Math.max(1, Number(this.getAttribute("results")) || (full ? 8 : 6)));
		const body = {
			query: { ...answers, text, max_results: count },
			context: { "@type": "ConversationalContext", prev: this.#prev },
			prefer: { streaming: true, mode: full && !agents.length ? "list, summarize" : "list", "accept-language": this.#lang, "user-agent": "forecourt-ask" },
			meta: { version: "0.55", remember: false, "forecourt/asks_several": agents.length > 1 },
		};
		const view = this.#view(text, full, agents.length);
		const asked = agents.map((agent) => this.#stream(agent.ask, body, own, view.group(agent)));
		await Promise.all(agents.length ? asked : [this.#stream(this.#about.ask, body, own, view)]);
		if (this.#running === own) { this.#running = null; all.classList.remove("busy"); view.done(); }
	}

	// The agents that a question is for, where there are several: a mention chooses one.
	#several(text) {
		const { agents } = this.#about, name = text.startsWith("@") && text.slice(1).split(/[\s,:@]/)[0].toLowerCase();
		const named = agents.filter((agent) => agent.page === `/~${name}`);
		return named.length ? named : agents;
	}

	async #stream(path, body, own, view) {
		const signal = view.slow ? AbortSignal.any([own.signal, AbortSignal.timeout(view.slow)]) : own.signal;
		try {
			const response = await fetch(this.#host + path, {
				...asking, method: "POST", signal, headers: { "Content-Type": "application/json", Accept: "text/event-stream, application/json;q=0.5" }, body: JSON.stringify(body),
			});
			if (!(response.headers.get("content-type") || "").startsWith("text/event-stream")) {
				const failure = await response.json().catch(() => ({}));
				const wait = Number(response.headers.get("retry-after"));
				view.fail(response.status === 429 && wait ? this.#t("busy", wait) : failure.error?.message || this.#t("away"), failure);
			} else {
				let ended = false;
				for await (const { event, data } of frames(response.body)) {
					if (own.signal.aborted) return;
					if (event === "result") view.take(data.item);
					if (event === "error") view.fail(data.error?.message || this.#t("away"), data);
					if (event === "complete") { ended = true; view.end(data); }
				}
				if (!ended && !own.signal.aborted) view.fail(this.#t("broken"));
			}
		} catch (error) {
			if (own.signal.aborted) return;
			view.fail(this.#t(error instanceof TypeError ? "away" : "broken"));
		}
	}

	// One answer on its way into the panel. What was there stays until the first of it comes.
	#view(text, full, several) {
		const t = this.#t, lang = this.#lang;
		const { panel, status, trail, said, told, cards, back, goes, foot } = this.#parts;
		let [shown, begun, failed, asks, empty] = [0, false, false, false, false];
		const words = wordsOf([...this.#prev, text].join(" "), fold(` ${this.#about.function_words} `));
		const begin = () => {
			if (begun) return;
			begun = true;
			panel.scrollTop = 0;
			for (const part of [trail, said, told, cards, back, foot]) part.replaceChildren();
			if (this.#prev.length) trail.append(...[...this.#prev, text].map((one, at) => el("span", at ? `› ${one}` : one)), el("button.link", { type: "button", onclick: () => this.#over() }, t("over")));
		};
		const card = (given) => {
			const item = list(given.schema_object)[0] || given;
			const url = address(word(given, "url", "@id") || word(item, "url", "@id")) || address(list(given.grounding?.source_urls)[0]);
			const title = word(given, "name", "headline", "title") || word(item, "name", "headline", "title") || url?.host || "";
			const tile = () => el("div.picture", { "aria-hidden": "true" }, [...title.trim()][0]?.toUpperCase() || "·");
			const source = pictureOf(item);
			const picture = source ? el("img.picture", { src: source, alt: "", width: 84, height: 84, loading: "lazy", referrerpolicy: "no-referrer", onerror: (event) => event.target.replaceWith(tile()) }) : tile();
			const away = url && url.origin !== location.origin;
			const name = url ? el("a", { href: url.href, rel: "nofollow noopener", target: away ? "_blank" : undefined }, ...marked(title, words), away ? el("span.unseen", ` (${t("new")})`) : "") : el("span", ...marked(title, words));
			const about = word(given, "description", "abstract", "text") || word(item, "description", "abstract", "text");
			const entries = entriesOf(item, words);
			const facts = [...factsOf(item, lang, this.#about.kinds), away ? url.host.replace(/^www\./, "") : ""].filter(Boolean);
			return el("li.card", { part: "card" }, picture, el("div.about",
				el("p.title", name), priceOf(item, lang, t),
				about ? el("p.clamp", ...marked(excerpt(about, words), words)) : null,
				entries.length ? el("p.soft", ...entries.map((entry) => el("span", ...marked(entry, words)))) : null,
				facts.length ? el("p.soft", ...facts.map((fact) => el("span", fact))) : null));
		};
		const page = (path) => {
			const all = new URL(this.#host + path);
			all.searchParams.set("user", text);
			for (const one of this.#prev) all.searchParams.append("prev", one);
			return all.href;
		};
		const actionOf = (data) => {
			const part = data._meta?.mentionable?.policy?.part, to = address(part?.url);
			return to && el("a", { href: to.href, target: "_blank", rel: "noopener" }, word(part, "action_label") || to.host);
		};
		const isSummary = (item) => ["SearchSummary", "Summary", "Answer"].includes(list(item["@type"])[0]) && typeof item.text === "string";
		const note = (...nodes) => told.append(el("li.warn", ...nodes));
		// What was understood; a click asks the same without a limit that the question says.
		const limits = (meta) => {
			if (told.hasChildNodes()) return;
			const without = list(meta["forecourt/without"]);
			list(meta["forecourt/applied_limits"]).map(String).slice(0, 8).forEach((limit, at) => {
				const less = typeof without[at] === "string" && without[at];
				told.append(el("li", less ? el("button.quiet", { type: "button", "aria-label": t("remove", limit), onclick: () => this.#without(less) }, `${limit} ×`) : `✓ ${limit}`));
			});
			const missed = list(meta.not_understood).map(String).slice(0, 8);
			if (missed.length) note(t("missed", missed.map((one) => `“${one}”`).join(", ")));
			for (const left of list(meta.left_out).slice(0, 8)) note(typeof left === "object" ? t("left", left.items, left.limit) : String(left));
		};
		return {
			take(item) {
				if (!item || typeof item !== "object") return;
				begin();
				if (isSummary(item)) return said.replaceChildren(...prose(item.text));
				if (shown >= MAX.results) return;
				shown += 1;
				cards.append(card(item));
			},
			fail: (message, data = {}) => {
				begin();
				empty = data.error?.code === "NO_RESULTS";
				failed = !empty;
				const action = actionOf(data);
				said.replaceChildren(...(empty ? prose(message) : [el("p.warn", ...inline(message))]));
				if (empty) limits(data._meta || {});
				if (action) said.append(el("p", action));
				if (failed && !action) said.append(el("p", el("button.quiet", { type: "button", onclick: () => this.#run(text, full) }, t("retry"))));
			},
			end: (data) => {
				begin();
				const meta = data._meta || {};
				const read = word(meta, "decontextualized_query");
				if (read && fold(read) !== fold(text)) trail.append(el("span", t("read", read)));
				limits(meta);
				const asked = data.elicitation;
				if (asked) { asks = true; this.#askBack(asked); }
			},
			// One of several agents: its results under its name, and where it is asked alone.
			group: ({ name, page: path }) => {
				begin();
				const link = (words) => el("a", { href: page(path), target: "_blank", rel: "noopener" }, words);
				const line = el("p.soft", t("searching")), own = el("ol.cards");
				cards.append(el("li.group", el("p.title", name), line, own, el("p.status", link(t("on", name)))));
				let found = 0;
				const say = (words, ...more) => { line.hidden = !words; line.replaceChildren(el("span", words), ...more); };
				return {
					slow: MAX.slow,
					take(item) {
						if (!item || typeof item !== "object" || isSummary(item) || found >= MAX.group) return;
						found += 1;
						shown += 1;
						say("");
						own.append(card(item));
					},
					fail: (message, data = {}) => say(data.error?.code === "NO_RESULTS" ? t("none") : message, ...[actionOf(data)].filter(Boolean)),
					end: (data) => found || say(data.elicitation ? t("first", name) : t("none")),
				};
			},
			done: () => {
				begin();
				const counted = empty ? t("none") : shown === 1 ? t("one") : t("many", shown);
				status.textContent = failed || asks || (!shown && !empty) ? "" : counted;
				goes.hidden = !full || failed || several > 0;
				const by = this.#about.powered_by ? el("a", { href: this.#host + this.#about.page, target: "_blank", rel: "noopener" }, t("by", this.#about.address)) : null;
				foot.replaceChildren(...[shown && !several ? el("a", { href: page(this.#about.page), target: "_blank", rel: "noopener" }, t("all")) : null, by].filter(Boolean));
			},
		};
	}

	#without(text) {
		if (!this.#prev.length) this.#parts.input.value = text;
		this.#parts.input.focus();
		this.#run(text, true);
	}

	#over() {
		this.#parts.input.value = "";
		this.#typing();
		this.#parts.input.focus();
	}

	// A question back: one choice is a click, several are a form, and words go into the box below.
	#askBack(asked) {
		const t = this.#t, { said, back } = this.#parts;
		if (typeof asked.text === "string") said.replaceChildren(...prose(asked.text));
		const questions = list(asked.questions).filter((one) => one && typeof one === "object").slice(0, 5);
		let sends = false;
		back.replaceChildren(...questions.map((one) => {
			const name = word(one, "id", "text") || "answer";
			const options = one.type === "boolean" ? [t("yes"), t("no")] : list(one.options).map(String).slice(0, MAX.options);
			const several = one.type === "multi_select";
			const click = questions.length === 1 && !several;
			sends ||= !click && options.length > 0;
			const choice = (option) => click
				? el("button.quiet", { type: "button", onclick: () => this.#goOn(option, { [name]: option }) }, option)
				: el("label", el("input", { type: several ? "checkbox" : "radio", name, value: option }), option);
			return el("fieldset", el("legend", word(one, "text")), el("div.options", ...options.map(choice)));
		}));
		if (sends) back.append(el("p.options", el("button", t("answer"))));
		back.onsubmit = (event) => {
			event.preventDefault();
			const given = {};
			for (const [name, value] of new FormData(back)) given[name] = name in given ? [given[name], value].flat() : value;
			this.#goOn(Object.values(given).flat().join(", "), given);
		};
	}

	#keys(event) {
		const { input, panel, cards } = this.#parts;
		const at = this.shadowRoot.activeElement;
		if (event.key === "Escape") {
			if (panel.hidden && !this.#running) return;
			event.preventDefault();
			if (this.#running) { this.#stop(); this.#parts.status.textContent = ""; }
			else this.#open(false);
			return input.focus();
		}
		const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
		if (!step || event.isComposing || event.altKey) return;
		const stops = [input, ...cards.querySelectorAll("a")];
		const from = stops.indexOf(at);
		if (from < 0 || panel.hidden) { if (panel.hidden && at === input && this.#asked) this.#open(true); return; }
		const to = stops[Math.min(stops.length - 1, Math.max(0, from + step))];
		event.preventDefault();
		to.focus();
		to.closest("li")?.scrollIntoView({ block: "nearest" });
	}
}

if (!customElements.get("forecourt-ask")) customElements.define("forecourt-ask", ForecourtAsk);

/* ---- the tag itself becomes a box where it stands ---- */

if (script && "agent" in script.dataset) {
	const box = document.createElement("forecourt-ask");
	for (const [name, value] of Object.entries(script.dataset)) {
		if (name !== "target") box.setAttribute(name, value);
	}
	if (!box.hasAttribute("host")) box.setAttribute("host", HOST);
	const put = () => {
		const target = script.dataset.target && document.querySelector(script.dataset.target);
		if (target) target.append(box);
		else if (script.closest("body")) script.after(box);
		else document.body.prepend(box);
	};
	if (script.closest("body") && !script.dataset.target) put();
	else if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", put);
	else put();
}
})();
