// A ruling on one case: begun from one of the answers or blank, sent once, kept beside the originals.
"use strict";

const root = document.getElementById("ruling");
const ruling = JSON.parse(root.dataset.ruling);
const form = document.getElementById("answer");
const faultBox = document.getElementById("fault");
const fieldsets = [...form.querySelectorAll("fieldset[data-path]")].map((box) => ({ box, path: JSON.parse(box.dataset.path) }));

function read({ box }) {
  const area = box.querySelector("textarea");
  if (area) return area.value === "" ? undefined : area.value;
  const picked = [...box.querySelectorAll("input:checked")].map((one) => JSON.parse(one.dataset.value));
  if (picked.length === 0) return undefined;
  return box.dataset.kind === "one" ? picked[0] : picked;
}

function write({ box }, value) {
  const area = box.querySelector("textarea");
  if (area) area.value = value ?? "";
  const values = Array.isArray(value) ? value : [value];
  for (const input of box.querySelectorAll("input")) input.checked = values.includes(JSON.parse(input.dataset.value));
}

// A value's place in the answer: its field, then moment and criterion where there are any.
function gather() {
  const answer = {};
  for (const one of fieldsets) {
    const value = one.box.hidden ? undefined : read(one);
    if (value === undefined) continue;
    const inner = one.path.slice(0, -1).reduce((part, step) => (part[step] ??= {}), answer);
    inner[one.path.at(-1)] = value;
  }
  return answer;
}

function fill(answer) {
  for (const one of fieldsets) write(one, one.path.reduce((part, step) => part?.[step], answer));
  showConditional();
}

function showConditional() {
  for (const { box } of fieldsets) {
    if (!box.dataset.when) continue;
    const given = fieldsets.filter((one) => one.path[0] === box.dataset.when && !one.box.hidden).flatMap((one) => read(one));
    box.hidden = !JSON.parse(box.dataset.values).some((one) => given.includes(one));
  }
}

function fault(words) {
  faultBox.textContent = words;
  faultBox.hidden = !words;
}

async function send() {
  const button = document.getElementById("submit");
  if (button.disabled) return;
  button.disabled = true;
  fault("");
  try {
    const { case: token, key, base, csrf } = ruling;
    const says = document.getElementById("says").value || null;
    const response = await fetch("/api/adjudicate", {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf },
      body: JSON.stringify({ case: token, key, base, answer: gather(), says }),
    });
    const told = await response.json().catch(() => ({}));
    if (response.ok) {
      location.assign("/adjudicate");
      return;
    }
    fault([told.error ?? "The server did not take this; try again.", ...Object.values(told.faults ?? {})].join("\n"));
  } catch {
    fault("No connection. What you chose is still here; try again.");
  }
  button.disabled = false;
}

form.addEventListener("input", showConditional);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  send();
});
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    event.preventDefault();
    form.requestSubmit();
  }
});
for (const button of root.querySelectorAll("[data-take]")) {
  button.addEventListener("click", () => fill(ruling.answers[Number(button.dataset.take)]));
}

let stopAt_s = Infinity;
const videos = [...root.querySelectorAll("video")];
for (const button of root.querySelectorAll("[data-start]")) {
  button.addEventListener("click", () => {
    stopAt_s = Number(button.dataset.end);
    for (const video of videos) {
      video.currentTime = Number(button.dataset.start);
      video.play();
    }
  });
}
for (const video of videos) {
  video.addEventListener("timeupdate", () => {
    if (video.currentTime < stopAt_s) return;
    for (const one of videos) one.pause();
    stopAt_s = Infinity;
  });
}

fill(ruling.standing ?? {});
