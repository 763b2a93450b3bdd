// The overview, kept up to date: asks every few seconds whether something happened, and puts in only what changed.
"use strict";

const EVERY_MS = 4000;
const watch = document.getElementById("watch");

function tell(words) {
  watch.textContent = words;
  watch.hidden = !words;
}

// Where the reader is in a table stays; the place of the focus too.
function put(before, after) {
  if (!before || before.isEqualNode(after)) return;
  const tops = [...before.querySelectorAll(".scroll")].map((one) => [one.id, one.scrollTop]);
  const focused = before.contains(document.activeElement) ? document.activeElement.id : "";
  before.replaceWith(after);
  for (const [id, top] of tops) document.getElementById(id).scrollTop = top;
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

async function refresh() {
  const live = document.getElementById("live");
  const response = await fetch(`/api/monitor/page?since=${live.dataset.event}`);
  if (response.status === 401) {
    location.assign("/login");
    return;
  }
  if (!response.ok) throw new Error(String(response.status));
  if (response.status !== 204) {
    const made = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("live");
    for (const section of made.querySelectorAll(":scope > section")) {
      put(document.getElementById(section.id), document.importNode(section, true));
    }
    live.dataset.event = made.dataset.event;
  }
  tell("");
}

async function keepUp() {
  if (!document.hidden) {
    await refresh().catch(() => tell("No connection: these figures stand as of the time below."));
  }
  setTimeout(keepUp, EVERY_MS);
}

setTimeout(keepUp, EVERY_MS);
