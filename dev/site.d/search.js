// Searches the manual without a server, and leads to other versions of a page. The index is loaded when somebody searches.
"use strict";

(() => {
  const RESULTS_MAX = 12, WORDS_MAX = 8, SNIPPET_CHARS = 140;
  const form = document.querySelector(".find"), box = form.querySelector("input");
  const list = document.getElementById("found"), told = document.getElementById("told");
  const el = (name, ...children) => {
    const element = document.createElement(name);
    element.append(...children);
    return element;
  };
  let index = null, loading = false;

  window.manualIndex = ({ pages, sections }) => {
    index = sections.map(([page, anchor, heading, text]) => {
      const [file, title, group] = pages[page];
      const lower = { title: title.toLowerCase(), heading: heading.toLowerCase(), text: text.toLowerCase() };
      return { href: file + (anchor && heading !== title ? "#" + anchor : ""), title, group, heading, text, lower };
    });
    search();
  };

  function load() {
    if (loading) return;
    loading = true;
    const script = el("script");
    script.src = "search-index.js";
    script.onerror = () => {
      loading = false;
      told.textContent = "The index can’t be loaded.";
      list.replaceChildren(el("li", el("span", told.textContent)));
      list.hidden = false;
    };
    document.head.append(script);
  }

  const wordsOf = (text) => (text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []).slice(0, WORDS_MAX);

  // Words of headings count most; a word at the beginning of one of the text's counts more than one within.
  function scoreOf(word, { title, heading, text }) {
    const begins = (place) => {
      for (let at = place.indexOf(word); at >= 0; at = place.indexOf(word, at + 1))
        if (at === 0 || !/[\p{L}\p{N}]/u.test(place[at - 1])) return 2;
      return place.includes(word) ? 1 : 0;
    };
    return begins(heading) * 8 + begins(title) * 5 + begins(text);
  }

  function found(words) {
    const results = [];
    for (const section of index) {
      const scores = words.map((word) => scoreOf(word, section.lower));
      // All words are there, or it is none.
      if (scores.every(Boolean)) results.push([scores.reduce((a, b) => a + b), section]);
    }
    return results.sort(([a], [b]) => b - a).map(([, section]) => section);
  }

  // Around the first word that is in the text, with all of them marked. Everything is put in as text.
  function snippet({ text, lower }, words) {
    const first = Math.min(...words.map((word) => lower.text.indexOf(word)).filter((at) => at >= 0), text.length);
    const begin = first === text.length ? 0 : Math.max(0, text.lastIndexOf(" ", Math.max(0, first - 40)) + 1);
    const shown = text.slice(begin, begin + SNIPPET_CHARS);
    const any = new RegExp(`(${words.join("|")})`, "giu");
    const pieces = shown.split(any).map((piece, n) => (n % 2 ? el("mark", piece) : piece));
    return el("span", begin ? "…" : "", ...pieces, text.length > begin + SNIPPET_CHARS ? "…" : "");
  }

  function search() {
    if (!index) return load();
    const words = wordsOf(box.value);
    if (!words.length) {
      list.hidden = true;
      told.textContent = "";
      return;
    }
    const results = found(words);
    list.replaceChildren(...results.slice(0, RESULTS_MAX).map((section) => {
      const heading = section.heading === section.title ? "" : ` › ${section.heading}`;
      const link = el("a", el("strong", section.title + heading), el("span", section.group), snippet(section, words));
      link.href = section.href;
      return el("li", link);
    }));
    if (!results.length) list.append(el("li", el("span", `Nothing has all of these words: ${words.join(", ")}`)));
    list.hidden = false;
    told.textContent = results.length === 1 ? "1 result" : `${results.length} results`;
  }

  function move(event) {
    const stops = [box, ...list.querySelectorAll("a")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") {
      list.hidden = true;
      box.focus();
    } else if (step && !list.hidden) {
      event.preventDefault();
      stops[(stops.indexOf(document.activeElement) + step + stops.length) % stops.length].focus();
    }
  }

  form.hidden = false;
  box.addEventListener("focus", load);
  box.addEventListener("input", search);
  form.addEventListener("keydown", move);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  form.addEventListener("focusout", (event) => form.contains(event.relatedTarget) || (list.hidden = true));
  // Links take no focus in every browser when they are pressed: the list must not go before the click.
  list.addEventListener("mousedown", (event) => event.preventDefault());
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.closest("input, textarea, select") || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    box.focus();
  });

  // Without a server there is no list of versions: only this one is told.
  const page = location.pathname.split("/").pop() || "index.html";
  if (location.protocol === "file:") return;
  fetch("../versions.json").then((answer) => answer.json()).then(({ versions }) => {
    const own = document.getElementById("version"), menu = el("select");
    menu.id = own.id;
    menu.append(...versions.map(({ name }) => new Option(name, name, false, name === own.textContent)));
    own.replaceWith(menu);
    menu.addEventListener("change", () => {
      const { name, pages } = versions.find(({ name }) => name === menu.value);
      location.href = `../${name}/${pages.includes(page) ? page : "index.html"}`;
    });
  }, () => {});
})();
