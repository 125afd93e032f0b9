// Keeps a page up to date: one stream while the page is visible, and none while it is hidden or held still.
"use strict";
(() => {
  const main = document.getElementById("main");
  const stream = main.dataset.stream;
  const [live, hold, strip, spoken] = ["live", "hold", "strip", "spoken"].map((id) => document.getElementById(id));
  const SILENCE = 5000; // milliseconds without an event before the page is called stale
  // A browser has six connections for all its windows. PLACES of them are for streams. Other windows look in every LOOK_IN milliseconds.
  const PLACES = 4, LOOK_IN = 3000;
  const AGAIN = 2000, LATER = 10000; // milliseconds until the page asks again for a refused stream
  let source = null, isAsking = false, leave = null, heardAt = Date.now(), lastId = "", held = false, said = "", saidAt = 0, wasStale = false;
  let storeTrouble = strip.textContent;

  // ---- keys
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = event.target.closest("input, select, textarea");
    if (field) { if (event.key === "Escape") field.blur(); return; }
    if (event.key === "/") { const box = document.querySelector("input[type=search]"); if (box) { event.preventDefault(); box.focus(); box.select(); } }
    if (event.key === "h" && stream) setHeld(!held);
    if (event.key === "r") location.reload();
    if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1);
    if (event.key === "Escape") { const up = document.querySelector(".crumb a"); if (up) up.click(); }
  });
  document.getElementById("sort")?.addEventListener("change", (event) => event.target.form.submit());

  function step(by) {
    const rows = [...main.querySelectorAll("tbody th a")];
    const at = rows.indexOf(document.activeElement);
    rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by))]?.focus();
  }

  if (!stream || !window.EventSource) return;

  // ---- the stream
  live.hidden = hold.hidden = false;
  hold.addEventListener("click", () => setHeld(!held));
  document.addEventListener("visibilitychange", renew);
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", renew);
  setInterval(judge, 1000);
  renew();

  function setHeld(to) {
    held = to;
    hold.firstChild.nodeValue = held ? "Catch up " : "Hold still ";
    renew();
  }

  function close() {
    if (source) { source.close(); source = null; }
    if (leave) { leave(); leave = null; }
  }

  async function renew() {
    if (document.hidden || held) { close(); judge(); return; }
    if (source || isAsking) return;
    heardAt = Date.now();
    isAsking = true;
    const stays = await hasPlace();
    isAsking = false;
    if (document.hidden || held) close(); else listen(stays);
    judge();
  }

  // Returns whether this window has one of the places. In a browser without locks, every window has one.
  async function hasPlace() {
    for (let at = 0; navigator.locks && !leave && at < PLACES; at += 1) {
      const isTaken = await new Promise((tell) => {
        const take = (lock) => (lock ? new Promise((end) => { leave = end; tell(false); }) : tell(true));
        navigator.locks.request("seinpaal-stream-" + at, { ifAvailable: true }, take).catch(() => tell(true));
      });
      if (!isTaken) return true;
    }
    return Boolean(leave) || !navigator.locks;
  }

  function listen(stays) {
    const from = lastId ? (stream.includes("?") ? "&" : "?") + "from=" + encodeURIComponent(lastId) : "";
    source = new EventSource(stream + from);
    source.addEventListener("parts", (event) => { heard(event); apply(JSON.parse(event.data)); if (!stays) lookInLater(); });
    source.addEventListener("beat", (event) => { heard(event); trouble(JSON.parse(event.data).trouble); if (!stays) lookInLater(); });
    source.onerror = () => { if (source && source.readyState === 2) { close(); refused(); } };
  }

  // An EventSource does not say why it was refused, so this function asks for the stream once more to read the answer.
  async function refused() {
    const answer = await fetch(stream).catch(() => null);
    const isFull = answer?.status === 503;
    if (isFull) trouble(await answer.text()); else answer?.body?.cancel();
    setTimeout(renew, isFull ? LATER : AGAIN);
  }

  function lookInLater() { close(); setTimeout(renew, LOOK_IN); }

  function heard(event) { heardAt = Date.now(); if (event.lastEventId) lastId = event.lastEventId; judge(); }

  function trouble(words) { storeTrouble = words || ""; judge(); }

  function judge() {
    const silent = Date.now() - heardAt;
    const isStale = !held && source && silent > SILENCE;
    live.textContent = held ? "Held still" : isStale || storeTrouble ? "Stale" : "Live";
    live.classList.toggle("off", held || isStale || Boolean(storeTrouble));
    document.body.classList.toggle("stale", Boolean(isStale || storeTrouble));
    const words = isStale ? "Stale: this page has heard nothing for " + Math.round(silent / 1000) + " s. This page shows old data." : storeTrouble;
    if (strip.textContent !== words) strip.textContent = words;
    strip.hidden = !words;
    if (Boolean(words) !== wasStale) { wasStale = !wasStale; spoken.textContent = words || "Up to date again"; }
  }

  // ---- changes
  function apply(message) {
    trouble(message.trouble);
    for (const [id, html] of Object.entries(message.parts)) {
      const part = main.querySelector('[data-part="' + id + '"]');
      if (!part) continue;
      const fresh = document.createElement("template");
      fresh.innerHTML = html;
      morph(part, fresh.content);
    }
    say(main.querySelector("[data-say] b")?.textContent || "");
  }

  function say(words) {
    if (!said) said = words;
    if (words === said || Date.now() - saidAt < 10000) return;
    said = words; saidAt = Date.now(); spoken.textContent = words;
  }

  const keyOf = (node) => (node.nodeType === 1 ? node.getAttribute("data-key") : null);

  // Makes the children of `old` like those of `fresh`, and keeps nodes with the same key.
  function morph(old, fresh) {
    if (old.nodeType === 1 && old.dataset.order === "still") { morphStill(old, fresh); return; }
    const keyed = new Map([...old.children].filter(keyOf).map((node) => [keyOf(node), node]));
    let at = old.firstChild;
    for (const want of [...fresh.childNodes]) {
      const key = keyOf(want);
      const have = key ? keyed.get(key) : at && !keyOf(at) && alike(at, want) ? at : null;
      if (!have) { old.insertBefore(want.cloneNode(true), at); continue; }
      if (have === at) at = at.nextSibling; else old.insertBefore(have, at);
      keyed.delete(key);
      become(have, want);
    }
    while (at) { const next = at.nextSibling; at.remove(); at = next; }
  }

  const alike = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName;

  function become(have, want) {
    if (have.nodeType !== 1) { if (have.nodeValue !== want.nodeValue && !isSelected(have)) have.nodeValue = want.nodeValue; return; }
    for (const name of have.getAttributeNames()) if (!want.hasAttribute(name) && !(name === "open" && have.nodeName === "DETAILS")) have.removeAttribute(name);
    for (const name of want.getAttributeNames()) if (have.getAttribute(name) !== want.getAttribute(name)) have.setAttribute(name, want.getAttribute(name));
    morph(have, want);
  }

  function isSelected(node) { const selection = getSelection(); return selection && !selection.isCollapsed && selection.containsNode(node, true); }

  // Rows stay where they are: those that end are dimmed, and those that would move are only counted.
  function morphStill(old, fresh) {
    const rows = new Map([...old.children].map((row) => [keyOf(row), row]));
    let moved = 0;
    [...fresh.children].forEach((want, place) => {
      const have = rows.get(keyOf(want));
      if (!have) { moved += 1; return; }
      if ([...old.children].indexOf(have) !== place) moved += 1;
      rows.delete(keyOf(want));
      become(have, want);
    });
    for (const row of rows.values()) row.classList.add("gone");
    queueMicrotask(() => resort(moved));
  }

  function resort(moved) {
    const place = document.getElementById("resort");
    if (!place) return;
    if (!moved) { place.textContent = ""; return; }
    const words = moved === 1 ? "1 row is new or would move. " : moved + " rows are new or would move. ";
    let link = place.querySelector("a");
    if (!link) { link = document.createElement("a"); link.href = location.href; link.textContent = "Sort again"; }
    place.replaceChildren(words, link);
  }
})();
