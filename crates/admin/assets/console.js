// The console without it is whole; with it, pages follow what happens. Text is only ever set as text.
"use strict";
(() => {
  const csrf = document.querySelector("meta[name=csrf]")?.content ?? "";
  const pulse = document.getElementById("pulse");

  // Somebody who writes, chooses or reads a form must not lose it to a change elsewhere.
  const isBusy = (live) =>
    live.querySelector("details[open]") || (live.contains(document.activeElement) && document.activeElement !== document.body
      && /^(INPUT|SELECT|TEXTAREA|BUTTON|SUMMARY)$/.test(document.activeElement.tagName));

  async function look() {
    const live = document.getElementById("live");
    if (!live || isBusy(live)) return false;
    const answer = await fetch(location.href, { headers: { accept: "text/html" }, redirect: "error" });
    if (!answer.ok) return false;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById("live");
    if (!fresh || isBusy(live)) return false;
    const focused = document.activeElement?.getAttribute?.("href");
    live.replaceChildren(...fresh.childNodes);
    if (focused) live.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    return true;
  }

  const source = document.body.dataset.live;
  if (source && "EventSource" in window) {
    const events = new EventSource(source);
    let first = true, waits = false;
    const follow = async () => {
      try { waits = !(await look()); } catch { waits = false; }
    };
    events.addEventListener("changed", () => {
      if (first) { first = false; return; }
      follow();
    });
    document.addEventListener("focusout", () => { if (waits) setTimeout(follow, 300); });
    events.addEventListener("open", () => { pulse.hidden = false; pulse.classList.remove("off"); pulse.textContent = "live"; });
    events.addEventListener("error", () => { pulse.classList.add("off"); pulse.textContent = "not live"; });
  }

  function line(event) {
    const item = document.createElement("li"), kind = document.createElement("span"), text = document.createElement("span");
    item.value = event.number;
    kind.className = "badge plain";
    kind.textContent = event.kind;
    text.className = "text";
    text.textContent = event.text;
    item.append(kind, " ", text);
    return item;
  }

  const followed = document.querySelector("section[data-follow]");
  if (followed && "EventSource" in window) {
    const log = followed.querySelector(".log"), events = new EventSource(followed.dataset.follow);
    events.addEventListener("message", (message) => log.append(line(JSON.parse(message.data))));
    // Its state, its answer and what may be done are other ones now.
    events.addEventListener("end", () => { events.close(); location.reload(); });
    events.addEventListener("error", () => events.close());
  }

  // Server-sent events of an answer to a POST, one by one.
  async function* frames(answer) {
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let kept = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      kept += value;
      for (let end; (end = kept.indexOf("\n\n")) >= 0; kept = kept.slice(end + 2)) {
        let name = "message", data = [];
        for (const one of kept.slice(0, end).split("\n")) {
          if (one.startsWith("event: ")) name = one.slice(7);
          if (one.startsWith("data: ")) data.push(one.slice(6));
        }
        if (data.length) yield { name, data: data.join("\n") };
      }
    }
  }

  // In whose name a form asks; nobody's where nothing is said.
  function caller(form) {
    const said = (name) => form.elements[name]?.value.trim() || null;
    const scopes = said("scopes")?.split(/\s+/) ?? [], named = {};
    for (const name of ["subject", "issuer", "method", "assurance"]) named[name] = said(name);
    const met = said("met") !== null;
    return met || scopes.length || Object.values(named).some(Boolean) ? { ...named, scopes, as_if_met: met } : null;
  }

  const trial = document.querySelector("form.trial[data-stream]");
  trial?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = trial.querySelector("button.main"), shown = document.getElementById("answer");
    const words = document.createElement("div"), log = document.createElement("ol"), state = document.createElement("p");
    const conversation = trial.elements.conversation;
    words.className = "words";
    log.className = "log";
    state.className = "note";
    state.textContent = "Waiting for the answer …";
    shown.replaceChildren(words, state, log);
    words.hidden = true;
    button.disabled = true;
    const failed = (text) => { state.className = "told bad"; state.textContent = text; };
    try {
      const answer = await fetch(trial.dataset.stream, {
        method: "POST",
        headers: { "content-type": "application/json", "accept": "text/event-stream", "x-csrf-token": csrf },
        body: JSON.stringify({ text: trial.elements.text.value, conversation: conversation.value || null, caller: caller(trial) }),
      });
      if (!answer.ok) {
        const told = await answer.json();
        failed([told.error, told.hint].filter(Boolean).join(". "));
        return;
      }
      for await (const frame of frames(answer)) {
        const told = JSON.parse(frame.data);
        if (frame.name === "end") {
          state.textContent = `${told.ending.replaceAll("_", " ")} · ${told.took_ms} ms`;
          if (told.ending !== "complete") state.className = "told warn";
          if (told.conversation) conversation.value = told.conversation;
          if (told.refusal) {
            const refusal = document.createElement("pre");
            refusal.textContent = JSON.stringify(told.refusal, null, 2);
            state.after(refusal);
          }
        } else if (told.kind === "text") {
          words.hidden = false;
          words.append(told.text);
        } else {
          log.append(line(told));
        }
      }
    } catch {
      failed("The connection broke off.");
    } finally {
      button.disabled = false;
    }
  });
})();
