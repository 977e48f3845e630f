// Pages of the manual: a button at each block of code that copies it, and the same thing in several languages as tabs.
// Without this file the blocks stand below each other, each under the name of its language.
"use strict";

(() => {
  const prose = document.querySelector("article[data-copy]");
  if (!prose) return;
  const { copy, copied } = prose.dataset;
  const el = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };

  /* ---- tabs ---- */

  // Where a reader's language is kept. A browser may refuse to keep anything.
  const KEY = "language";
  const kept = {
    get: () => { try { return localStorage.getItem(KEY); } catch { return null; } },
    set: (language) => { try { localStorage.setItem(KEY, language); } catch { /* for this page alone */ } },
  };
  const groups = [];

  // The name of a language by itself, in bold, with its block behind it.
  const isLabel = (p) =>
    p?.tagName === "P" && p.childNodes.length === 1 && p.firstChild.nodeName === "STRONG" && p.nextElementSibling?.tagName === "PRE";

  function choose(language) {
    for (const { tabs, panels } of groups) {
      const at = tabs.findIndex((tab) => tab.textContent === language);
      if (at < 0) continue;
      tabs.forEach((tab, n) => {
        tab.setAttribute("aria-selected", n === at);
        tab.tabIndex = n === at ? 0 : -1;
        panels[n].hidden = n !== at;
      });
    }
  }

  function chooseAndKeep(tab) {
    // Groups above may change their height: what was chosen stays where it is.
    const before = tab.getBoundingClientRect().top;
    choose(tab.textContent);
    kept.set(tab.textContent);
    scrollBy(0, tab.getBoundingClientRect().top - before);
    tab.focus({ preventScroll: true });
  }

  function group(labels) {
    const number = groups.length;
    const list = el("div", { role: "tablist", "aria-label": "Language" });
    const holder = el("div", { class: "tabs" }, list);
    labels[0].before(holder);
    const tabs = labels.map((label, n) =>
      el("button", { type: "button", role: "tab", id: `tab-${number}-${n}`, "aria-controls": `panel-${number}-${n}` }, label.textContent));
    const panels = labels.map((label, n) =>
      el("div", { role: "tabpanel", id: `panel-${number}-${n}`, "aria-labelledby": `tab-${number}-${n}` }, label.nextElementSibling));
    list.append(...tabs);
    holder.append(...panels);
    labels.forEach((label) => label.remove());
    list.addEventListener("click", (event) => event.target.role === "tab" && chooseAndKeep(event.target));
    list.addEventListener("keydown", (event) => {
      const at = tabs.indexOf(event.target), last = tabs.length - 1;
      const to = { ArrowRight: at < last ? at + 1 : 0, ArrowLeft: at > 0 ? at - 1 : last, Home: 0, End: last }[event.key];
      if (at < 0 || to === undefined) return;
      event.preventDefault();
      chooseAndKeep(tabs[to]);
    });
    groups.push({ tabs, panels });
    choose(tabs[0].textContent);
  }

  for (const first of [...prose.children].filter(isLabel)) {
    const labels = [];
    for (let label = first; isLabel(label); label = label.nextElementSibling.nextElementSibling) labels.push(label);
    // Those that follow it have moved by the time that it would be their turn.
    if (labels.length > 1 && first.parentNode === prose) group(labels);
  }
  choose(kept.get());

  /* ---- copying ---- */

  // Browsers have a clipboard on secure origins and on this machine alone.
  if (!navigator.clipboard) return;
  const said = el("p", { class: "unseen", role: "status" });
  prose.after(said);
  for (const code of prose.querySelectorAll("pre > code")) {
    const button = el("button", { type: "button" }, copy);
    const holder = el("div", { class: "copy" });
    code.parentNode.replaceWith(holder);
    holder.append(code.parentNode, button);
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
      } catch {
        // A browser may refuse it. What is selected is copied by hand.
        getSelection().selectAllChildren(code);
        return;
      }
      button.textContent = said.textContent = copied;
      setTimeout(() => {
        button.textContent = copy;
        said.textContent = "";
      }, 2000);
    });
  }
})();
