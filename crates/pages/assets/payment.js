"use strict";
// The page of a payment, with the wallets of the browser: EIP-6963, and EIP-1193 at window.ethereum.
// What is signed comes from the host's own offer. This script adds who pays, until when, and how many times the price;
// the host then holds it against the offer as any other payment.

(() => {
  const data = JSON.parse(document.getElementById("payment-data").textContent);
  const { words } = data;
  const [box, choice, told] = ["pay", "choice", "told"].map((id) => document.getElementById(id));
  const [again, onward, cancel] = ["again", "onward", "cancel"].map((id) => document.getElementById(id));
  const begun = performance.now();
  const WALLETS_MAX = 12;
  const NAME_CHARS_MAX = 40;
  const ICON_CHARS_MAX = 64 * 1024;
  const SILENT_AFTER_MS = 15_000;
  const wallets = new Map();
  // The try that is under way: what a cancelled one brings is dropped.
  let attempt = null;
  // A payment that is signed, until the host has answered for it.
  let signed = null;
  let isOver = false;

  const say = (text, ...values) => text.replace(/\{(\d)\}/g, (_, at) => values[at] ?? "");
  const hex = (number) => `0x${number.toString(16)}`;
  const word = (value) => value.toString(16).padStart(64, "0");
  const now = () => data.now + Math.floor((performance.now() - begun) / 1000);

  function tell(text, { fault = false, waits = false, repeat = null, label = words.again, link = null } = {}) {
    told.textContent = text;
    told.className = fault ? "fault" : waits ? "waits" : "";
    told.hidden = !text;
    cancel.hidden = !waits;
    again.hidden = !repeat;
    again.textContent = label;
    again.onclick = repeat;
    onward.hidden = !link;
    if (link) [onward.href, onward.textContent] = link;
    for (const control of box.querySelectorAll("#choice button, fieldset input")) control.disabled = waits || isOver || !!signed;
  }

  // ---- wallets ----

  // A wallet names itself: text without what turns or hides it, and a picture that is data and nothing else.
  function nameOf(info) {
    const name = String(info?.name ?? "").replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "").trim();
    return [...name].slice(0, NAME_CHARS_MAX).join("") || words.browser_wallet;
  }

  function iconOf(info) {
    const icon = info?.icon;
    const isPicture = typeof icon === "string" && icon.length <= ICON_CHARS_MAX && /^data:image\/(png|jpeg|gif|webp|svg\+xml)[;,]/.test(icon);
    return isPicture ? icon : null;
  }

  function addWallet(id, info, provider) {
    if (typeof provider?.request !== "function" || wallets.has(id) || wallets.size >= WALLETS_MAX) return;
    // The same wallet says itself by both ways: the one with a name stays.
    if ([...wallets.values()].some((known) => known.provider === provider)) return;
    wallets.set(id, { name: nameOf(info), icon: iconOf(info), provider });
    show();
  }

  function show() {
    const buttons = [...wallets.values()].map((wallet) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "button wallet-choice";
      if (wallet.icon) {
        const icon = document.createElement("img");
        Object.assign(icon, { src: wallet.icon, alt: "", width: 24, height: 24 });
        button.append(icon);
      }
      button.append(`${wallet.name} – ${say(words.pay, price().words)}`);
      button.disabled = !!attempt || !!signed || isOver;
      button.onclick = () => pay(wallet);
      return button;
    });
    if (buttons.length) choice.replaceChildren(...buttons);
  }

  // ---- what is paid ----

  const chosen = (name) => Number(box.querySelector(`input[name="${name}"]:checked`)?.value ?? 0);
  const way = () => data.ways[chosen("way")] ?? data.ways[0];

  function decimal(units, decimals) {
    const digits = units.toString().padStart(decimals + 1, "0");
    const part = digits.slice(digits.length - decimals).replace(/0+$/, "");
    const whole = digits.slice(0, digits.length - decimals);
    return decimals && part ? `${whole}.${part}` : whole;
  }

  // Of a token that the host does not know nothing but the offered price is said.
  const amountOf = (units, of) => (of.symbol === null ? null : `${decimal(units, of.decimals)} ${of.symbol}`);

  function price() {
    const of = way();
    // What is signed is what is said: of a token that can't be named, the offered price.
    const times = (of.symbol !== null && of.mayPayMore && chosen("times")) || 1;
    const units = BigInt(of.amount) * BigInt(times);
    const amount = amountOf(units, of);
    return { units, words: amount ? say(words.price_on, amount, of.network) : data.price };
  }

  function typedData(of, units, from, until) {
    const field = (name, type) => ({ name, type });
    return {
      types: {
        EIP712Domain: [field("name", "string"), field("version", "string"), field("chainId", "uint256"), field("verifyingContract", "address")],
        TransferWithAuthorization: [
          field("from", "address"), field("to", "address"), field("value", "uint256"), field("validAfter", "uint256"),
          field("validBefore", "uint256"), field("nonce", "bytes32"),
        ],
      },
      primaryType: "TransferWithAuthorization",
      domain: { name: of.domain[0], version: of.domain[1], chainId: of.chain, verifyingContract: of.token },
      message: { from, to: of.payTo, value: units.toString(), validAfter: "0", validBefore: String(until), nonce: of.nonce },
    };
  }

  // ---- one try ----

  class Told extends Error {}

  function begin(wallet) {
    let stop;
    let isStopped = false;
    const stopped = new Promise((_, reject) => {
      stop = () => {
        isStopped = true;
        reject(new Told(words.cancelled));
      };
    });
    stopped.catch(() => {});
    const own = { wallet, stop: () => stop() };
    own.ask = async (text, method, params) => {
      // A window of the wallet must not open behind "cancelled".
      if (isStopped) throw new Told(words.cancelled);
      tell(text, { waits: true });
      const silent = setTimeout(() => attempt === own && tell(`${text} ${say(words.silent, wallet.name)}`, { waits: true }), SILENT_AFTER_MS);
      try {
        return await Promise.race([wallet.provider.request({ method, params }), stopped]);
      } finally {
        clearTimeout(silent);
      }
    };
    return own;
  }

  const codeOf = (error) => error?.data?.originalError?.code ?? error?.code;

  // What a wallet's refusal means. EIP-1193, EIP-1474.
  function reason(error) {
    if (error instanceof Told) return error;
    const text = { 4001: words.declined, "-32002": words.busy, 4100: words.locked, 4900: words.locked, 4901: words.locked }[codeOf(error)];
    return new Told(text ?? words.failed);
  }

  async function account(own) {
    const accounts = await own.ask(say(words.connecting, own.wallet.name), "eth_requestAccounts");
    const from = Array.isArray(accounts) ? accounts[0] : null;
    if (!/^0x[0-9a-fA-F]{40}$/.test(from ?? "")) throw new Told(words.locked);
    return from;
  }

  async function network(own, of) {
    const wanted = hex(of.chain);
    const is = async () => Number(await own.ask(words.checking, "eth_chainId")) === of.chain;
    if (await is()) return;
    const change = () => own.ask(say(words.switching, own.wallet.name, of.network), "wallet_switchEthereumChain", [{ chainId: wanted }]);
    try {
      await change();
    } catch (error) {
      if (codeOf(error) !== 4902) {
        const told = reason(error);
        throw told.message === words.failed ? new Told(say(words.wrong_network, of.network)) : told;
      }
      if (!of.add) throw new Told(say(words.unknown_network, of.network));
      await own.ask(say(words.adding, own.wallet.name, of.network), "wallet_addEthereumChain", [of.add]);
      if (!(await is())) await change();
    }
    if (!(await is())) throw new Told(say(words.wrong_network, of.network));
  }

  async function balance(own, of, from, units, said) {
    const call = { to: of.token, data: `0x70a08231${word(BigInt(from))}` };
    let has;
    try {
      has = BigInt(await own.ask(words.checking, "eth_call", [call, "latest"]));
    } catch (error) {
      // A wallet that can't say it keeps nobody from paying: who checks the payment looks, too.
      if (error instanceof Told) throw error;
      return;
    }
    if (has < units) throw new Told(say(words.too_little, amountOf(has, of) ?? has.toString(), said));
  }

  async function pay(wallet) {
    if (attempt || signed || isOver) return;
    const own = (attempt = begin(wallet));
    const [of, { units, words: said }] = [way(), price()];
    try {
      const from = await account(own);
      await network(own, of);
      await balance(own, of, from, units, said);
      if (await stands()) return;
      const until = now() + of.seconds;
      const time = new Intl.DateTimeFormat(words.language, { timeStyle: "short" }).format(new Date(Date.now() + of.seconds * 1000));
      const typed = typedData(of, units, from, until);
      const text = say(words.signing, wallet.name, said, of.payTo, time);
      const signature = await own.ask(text, "eth_signTypedData_v4", [from, JSON.stringify(typed)]);
      if (now() >= until) throw new Told(words.too_late);
      if (!/^0x[0-9a-fA-F]+$/.test(signature ?? "")) throw new Told(words.failed);
      const { to, value, validAfter, validBefore, nonce } = typed.message;
      signed = { ...of.payment, payload: { signature, authorization: { from, to, value, validAfter, validBefore, nonce } } };
    } catch (error) {
      // It was decided elsewhere meanwhile, which is told already.
      if (isOver) return;
      attempt = null;
      const { message } = reason(error);
      // Asked for again with another click: what is chosen may be changed before.
      return tell(message, { fault: true });
    }
    attempt = null;
    await send();
  }

  // ---- with the host ----

  async function ask(options) {
    const headers = { Accept: "application/json", ...options?.headers };
    const response = await fetch(data.path, { cache: "no-store", credentials: "same-origin", redirect: "error", ...options, headers });
    return { status: response.status, body: await response.json().catch(() => ({})) };
  }

  async function send() {
    tell(words.sending, { waits: true });
    cancel.hidden = true;
    const body = JSON.stringify({ payment: signed, receipt_callback: data.callback ?? undefined });
    let answer;
    try {
      answer = await ask({ method: "POST", body, headers: { "Content-Type": "application/json" } });
    } catch {
      return tell(words.unsent, { fault: true, repeat: send, label: words.send_again });
    }
    const { status, body: { policy, ...said } } = answer;
    if (status === 402) {
      signed = null;
      const code = String(policy?.code ?? "").replace("payment:", "");
      return tell(words.refused[code] ?? words.refused.other, { fault: true });
    }
    // Taken or not, it is the same payment: sent again it is taken once at most.
    if (status === 429 || status >= 500) return tell(words.unanswered, { fault: true, repeat: send, label: words.send_again });
    if (status === 200 && said.status === "verified") return finish(data.after ? words.reserved : words.paid, true);
    signed = null;
    if (!(await stands())) tell(words.refused.other, { fault: true });
  }

  function finish(text, isHere) {
    isOver = true;
    attempt?.stop();
    attempt = null;
    const onTo = data.returnTo ? [data.returnTo, words.get_answer] : [data.path, words.look_again];
    tell(text, { link: onTo });
    if (isHere) {
      channel?.postMessage("paid");
      location.assign(onTo[0]);
    }
  }

  // Whether it is decided already, and says so: in another tab, by a program, or by time.
  async function stands() {
    let answer;
    try {
      answer = await ask();
    } catch {
      return false;
    }
    const { status, body } = answer;
    if (status === 200 && body.status === "issued") return false;
    if (status === 200 && body.status === "verified") finish(words.elsewhere);
    else if (status === 200 && body.status === "indeterminate") {
      isOver = true;
      tell(words.pending, { link: [data.path, words.look_again] });
    } else if (status === 200 || status === 404) {
      isOver = true;
      tell(words.over, { fault: true, link: [data.askAgain, words.ask_again] });
    } else return false;
    attempt?.stop();
    attempt = null;
    return true;
  }

  // ---- begins ----

  const channel = "BroadcastChannel" in window ? new BroadcastChannel(`forecourt:${data.path}`) : null;
  const look = () => !attempt && !signed && !isOver && stands();
  if (channel) channel.onmessage = () => !isOver && stands();
  addEventListener("pageshow", (event) => event.persisted && look());
  document.addEventListener("visibilitychange", () => !document.hidden && look());
  cancel.onclick = () => attempt?.stop();

  if (data.ways.length > 1) {
    const networks = document.getElementById("networks");
    for (const [at, { network: name, symbol }] of data.ways.entries()) {
      const input = Object.assign(document.createElement("input"), { type: "radio", name: "way", value: at, checked: !at });
      const label = Object.assign(document.createElement("label"), { className: "option" });
      label.append(input, ` ${symbol ? say(words.price_on, symbol, name) : name}`);
      networks.append(label);
    }
    networks.hidden = false;
  }
  box.addEventListener("change", show);
  addEventListener("eip6963:announceProvider", ({ detail }) => addWallet(`6963:${detail?.info?.uuid}`, detail?.info, detail?.provider));
  dispatchEvent(new Event("eip6963:requestProvider"));
  // Wallets announce themselves at once; what stands at window.ethereum counts where none did.
  setTimeout(() => {
    if (!wallets.size && window.ethereum) addWallet("1193", {}, window.ethereum);
    if (!wallets.size) choice.replaceChildren(Object.assign(document.createElement("p"), { className: "meta", textContent: words.none }));
  }, 300);
  box.hidden = false;
})();
