
/* ---- the search page ---- */

// Every state of a search has a URL, and the server writes its page. Here that page is put into this
// one, as it comes, so that nothing jumps and focus stays. Without this the same links and forms just
// lead there. The only markup that is ever parsed is the page that our own origin wrote.
const PAGES_KEPT_MAX = 20;
const DRAW_EVERY_MS = 80;
const SUGGEST_AFTER_MS = 200;

// The address of what a form asks.
const asked = (form) => `${form.getAttribute("action")}?${new URLSearchParams(new FormData(form))}`;

function startSearch(form) {
  const [found, box, status] = ["found", "q", "searched"].map((id) => document.getElementById(id));
  const wide = matchMedia("(min-width: 56rem)");
  const kept = new Map();
  let running = null;
  let shown = location.pathname + location.search;

  // On a wide page the facets are always there; on a narrow one they are folded.
  const unfold = () => found.querySelectorAll(".facets > details").forEach((facets) => (facets.open = wide.matches));

  const show = (html) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    const fresh = page.getElementById("found");
    if (!fresh) return false;
    document.title = page.title;
    document.body.className = page.body.className;
    document.getElementById("along").replaceChildren(...document.importNode(page.getElementById("along"), true).childNodes);
    if (running) document.body.classList.add("busy");
    found.replaceChildren(...document.importNode(fresh, true).childNodes);
    unfold();
    addTools();
    addClicks();
    return true;
  };

  const busy = (on) => {
    document.body.classList.toggle("busy", on);
    found.ariaBusy = String(on);
    if (on) status.textContent = SAY.searching;
    if (on && !found.querySelector(".result, .summary")) found.replaceChildren(skeleton());
  };

  // What was found takes the place of as many cards as fit into a window, so that nothing jumps.
  const skeleton = () => {
    const card = () => el("li", { className: "card" }, el("i", { className: "picture" }), el("div", { className: "about-it" }, el("i"), el("i"), el("i")));
    document.body.classList.add("asked");
    return el("ol", { className: "cards skeleton", ariaHidden: "true" }, card(), card(), card(), card());
  };

  // The answer with its sources and its address, and what a result says, to take along.
  const sourceOf = (card) => {
    const name = card.querySelector("h3");
    return [name.dataset.number, name.textContent.trim(), name.querySelector("a")?.href].filter(Boolean);
  };
  const answerOf = (summary) => {
    const cited = [...summary.querySelectorAll(".prose .cite")].map((link) => document.getElementById(link.hash.slice(1)));
    const sources = [...new Set(cited)].filter(Boolean).map((card) => sourceOf(card).join(" ").replace(/^\d+/, "[$&]"));
    return [summary.querySelector(".prose").innerText.trim(), ...sources].join("\n");
  };
  const quoteOf = (card) => {
    const [, ...source] = sourceOf(card);
    return [`“${card.querySelector(".snippet").innerText.trim()}”`, ...source].join("\n");
  };
  const addTools = () => {
    if (!navigator.clipboard) return;
    const tools = [...found.querySelectorAll(".summary")].at(-1)?.querySelector(".tools");
    tools?.prepend(copyButton(SAY.copy, () => answerOf(tools.parentElement)), copyButton(SAY.share, () => location.href.split("#")[0]));
    for (const card of found.querySelectorAll(".result:has(.snippet)")) {
      const button = copyButton(SAY.copy_quote, () => quoteOf(card));
      button.className = "quote";
      (card.querySelector(".meta") || card.querySelector(".about-it")).append(button);
    }
  };

  // A click on a result is a number at the host and nothing else. Not every browser sends the pings of its link.
  const addClicks = () => found.querySelectorAll("a[ping]").forEach((link) => {
    link.dataset.click = link.getAttribute("ping");
    link.removeAttribute("ping");
  });
  const countClick = ({ target, button }) => {
    const to = button < 2 && target.closest?.("a[data-click]")?.dataset.click;
    if (to) fetch(to, { method: "POST", keepalive: true, credentials: "omit" }).catch(() => {});
  };
  found.addEventListener("click", countClick);
  found.addEventListener("auxclick", countClick);

  // A thumb is a number at the host and nothing else; it does not lead anywhere.
  const rate = async (of, choice) => {
    const { question } = Object.fromEntries(new FormData(of));
    const body = JSON.stringify({ question, good: choice.value === "true" });
    const counted = await fetch(of.getAttribute("action"), { method: "POST", headers: { "Content-Type": "application/json" }, body }).catch(() => null);
    const said = counted?.ok ? SAY.thanks : { 404: SAY.unrated, 429: SAY.rate_later }[counted?.status] || SAY.away;
    of.replaceChildren(el("span", { className: "meta", role: "status" }, said));
  };

  const announce = () => {
    const said = found.querySelector(".notice h2, .asking legend, #count");
    status.textContent = said ? said.textContent : "";
  };

  const keep = (url, html) => {
    kept.delete(url);
    kept.set(url, html);
    if (kept.size > PAGES_KEPT_MAX) kept.delete(kept.keys().next().value);
  };

  const load = async (url, signal) => {
    const response = await fetch(url, { headers: { Accept: "text/html" }, signal });
    if (!(response.headers.get("content-type") || "").startsWith("text/html")) throw new Error("This is no page.");
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let [html, drawn] = ["", 0];
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      html += value;
      if (performance.now() - drawn < DRAW_EVERY_MS) continue;
      show(html);
      drawn = performance.now();
    }
    if (response.ok) keep(url, html);
    return html;
  };

  // Where the reader was: the value that was clicked, or the first of the results that are new.
  const place = () => document.activeElement?.closest?.(".facet a")?.querySelector(".value").textContent;
  const settle = (url, value) => {
    const hash = new URL(url, location.href).hash;
    const fresh = hash && found.querySelector(`${CSS.escape(hash).replace("\\#", "#")} a`);
    const values = [...found.querySelectorAll(".facet a")];
    const same = value && values.find((link) => link.querySelector(".value").textContent === value);
    (fresh || same)?.focus({ preventScroll: true });
    if (!fresh && found.getBoundingClientRect().top < 0) found.scrollIntoView();
  };

  const visit = async (url, push) => {
    running?.abort();
    const own = (running = new AbortController());
    const value = place();
    box.value = new URL(url, location.href).searchParams.get("user") || "";
    if (push) history.pushState(null, "", url);
    shown = location.pathname + location.search;
    // Who has asked is offered nothing more: the arrows are for the results now.
    clearTimeout(typing);
    typing = 0;
    offered.replaceChildren();
    busy(true);
    try {
      const html = await load(url.split("#")[0], own.signal);
      if (running !== own) return;
      running = null;
      busy(false);
      // A page of another kind, such as an error, is shown as itself.
      if (!show(html)) return location.replace(url);
      recent.add(box.value, url);
      announce();
      if (push) settle(url, value);
    } catch (error) {
      if (running !== own) return;
      running = null;
      busy(false);
      const words = error instanceof TypeError ? SAY.away : error.message;
      found.replaceChildren(problem(words, () => visit(url, false)));
    }
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!wide.matches) box.blur();
    visit(asked(form), true);
  });
  found.addEventListener("submit", (event) => {
    event.preventDefault();
    if (event.target.matches(".rate")) return rate(event.target, event.submitter);
    visit(asked(event.target), true);
  });
  document.querySelector("main").addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    if (link.getAttribute("href").startsWith("#")) return;
    const here = link.origin === location.origin && link.pathname === location.pathname;
    if (!here || !new URLSearchParams(link.search).has("user") || link.hash.startsWith("#session")) return;
    event.preventDefault();
    visit(link.pathname + link.search + link.hash, true);
  });
  addEventListener("popstate", () => {
    const url = location.pathname + location.search;
    if (url === shown) return;
    const html = kept.get(url);
    if (!html) return visit(url, false);
    running?.abort();
    running = null;
    busy(false);
    shown = url;
    box.value = new URLSearchParams(location.search).get("user") || "";
    show(html);
    announce();
  });
  // What the question may become, once nothing was typed for a moment. Where it does not come, nothing is missed.
  const offered = el("datalist", { id: "offered" });
  let typing = 0;
  form.append(offered);
  box.setAttribute("list", offered.id);
  const suggest = async (typed) => {
    const query = new URLSearchParams({ user: typed, complete: "yes" });
    const response = await fetch(`${form.getAttribute("action")}?${query}`, { headers: { Accept: "application/json" } });
    const { suggestions } = response.ok ? await response.json() : { suggestions: [] };
    if (typing && box.value.trim() === typed) offered.replaceChildren(...suggestions.map(({ text }) => el("option", { value: text })));
  };
  box.addEventListener("input", (event) => {
    clearTimeout(typing);
    const typed = box.value.trim();
    // A choice from the list is no typing.
    if (typed.length > 1 && event.inputType) typing = setTimeout(() => suggest(typed).catch(() => {}), SUGGEST_AFTER_MS);
  });
  // As in the search box for other sites: arrows go from the box through the results and back, and Escape stops.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && running) {
      running.abort();
      running = null;
      busy(false);
      found.querySelector(".skeleton")?.remove();
      status.textContent = SAY.stopped;
      return box.focus();
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
    const stops = [box, ...found.querySelectorAll(".result h3 a")];
    // In the box the arrows are the list's while there is one.
    if (document.activeElement === box && offered.children.length) return;
    const from = stops.indexOf(document.activeElement);
    const to = from < 0 ? null : stops[from + step];
    if (!to) return;
    event.preventDefault();
    to.focus();
    to.closest("li")?.scrollIntoView({ block: "nearest" });
  });
  // A picture that does not come leaves no hole.
  found.addEventListener("error", (event) => {
    const name = event.target.closest(".result")?.querySelector("h3")?.textContent.trim() || "";
    event.target.replaceWith(el("span", { className: "picture letter", ariaHidden: "true" }, [...name][0] || ""));
  }, true);
  wide.addEventListener("change", unfold);
  unfold();
  if (matchMedia("(hover: hover)").matches && !box.value) box.focus();
}

/* ---- what was asked with this browser: kept in it alone ---- */

const RECENT_MAX = 20;
const RECENT_SHOWN = 5;
const RECENT_KEY = "asked";

const recent = {
  read() {
    try {
      const all = JSON.parse(localStorage.getItem(RECENT_KEY));
      return Array.isArray(all) ? all.filter((one) => typeof one?.question === "string" && typeof one.url === "string") : [];
    } catch {
      return [];
    }
  },
  write(all) {
    try {
      if (all.length) localStorage.setItem(RECENT_KEY, JSON.stringify(all.slice(0, RECENT_MAX)));
      else localStorage.removeItem(RECENT_KEY);
    } catch { /* No room, or none is given: then nothing is kept. */ }
  },
  add(question, url) {
    const own = { question: question.trim().slice(0, 200), url: new URL(url, location.href).pathname + new URL(url, location.href).search };
    if (own.question) this.write([own, ...this.read().filter((one) => one.question !== own.question)]);
  },
  // The list under a box, with a button that forgets all of it.
  show(behind) {
    // Whoever else wrote into the store of this origin leads nowhere else.
    const isOurs = ({ url }) => URL.canParse(url, location.href) && new URL(url, location.href).origin === location.origin;
    const own = this.read().filter(isOurs).slice(0, RECENT_SHOWN);
    if (!own.length) return;
    const list = el("ul", { className: "chips" }, ...own.map((one) => el("li", {}, el("a", { className: "chip", href: one.url }, one.question))));
    const clear = el("button", { type: "button", className: "plain", onclick: () => { this.write([]); section.remove(); document.getElementById("q").focus(); } }, SAY.clear);
    const section = el("section", { id: "recent", ariaLabel: SAY.recent }, el("p", { className: "meta" }, SAY.recent), list, clear);
    behind.after(section);
  },
};

/* ---- beginning ---- */

// A slash leads to the box, from anywhere but where one writes.
document.addEventListener("keydown", (event) => {
  const box = document.querySelector("#q, #user");
  if (!box || event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  event.preventDefault();
  box.focus();
});

if (navigator.clipboard) document.querySelectorAll(".copy").forEach(addCopyButton);
const [chat, search] = ["ask", "search"].map((id) => document.getElementById(id));
const begins = new URLSearchParams(location.hash.slice(1));
const talks = !search || begins.has("session") || begins.has("chat");
if (search && talks) {
  document.body.classList.add("chat");
  document.getElementById("chat").hidden = false;
}
if (chat && talks) startChat(chat);
if (search && !talks) startSearch(search);
// The box of the front page leads to a page without a script, so that it is noted here what was asked.
document.querySelector(".hero > form")?.addEventListener("submit", ({ target }) => recent.add(target.elements.user.value, asked(target)));
// Under the examples, else under the box: where nothing was asked yet.
const under = [".hero > .chips", ".hero > form", "body.search:not(.asked, .chat) > main > .chips", "body.search:not(.asked, .chat) > main > form"];
const behind = under.map((one) => document.querySelector(one)).find(Boolean);
if (behind) recent.show(behind);
