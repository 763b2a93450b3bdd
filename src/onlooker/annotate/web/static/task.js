// One case: fields to an answer and back, drafts as they are typed, what was played, and sending once.
"use strict";

const root = document.getElementById("task");
const task = JSON.parse(root.dataset.task);
const form = document.getElementById("answer");
const faultBox = document.getElementById("fault");
const savedBox = document.getElementById("saved");
const mirror = `draft/${task.rater}/${task.case}`;

async function send(path, body) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRF-Token": task.csrf },
    body: JSON.stringify({ case: task.case, ...body }),
  });
  const told = await response.json().catch(() => ({}));
  return { ok: response.ok, status: response.status, ...told };
}

// --- fields ---------------------------------------------------------------------------------------

const fieldsets = [...form.querySelectorAll("fieldset[data-field]")];

function read(fieldset) {
  const box = fieldset.querySelector("textarea");
  if (box) return box.value === "" ? undefined : box.value;
  const picked = [...fieldset.querySelectorAll("input:checked")].map((one) => JSON.parse(one.dataset.value));
  if (picked.length === 0) return undefined;
  const isList = fieldset.dataset.kind === "Options" || fieldset.dataset.kind === "ManyOf";
  return isList ? picked : picked[0];
}

function write(fieldset, value) {
  const box = fieldset.querySelector("textarea");
  if (box) box.value = value ?? "";
  const values = Array.isArray(value) ? value : [value];
  for (const input of fieldset.querySelectorAll("input")) input.checked = values.includes(JSON.parse(input.dataset.value));
}

function gather() {
  const answer = {};
  for (const fieldset of fieldsets) {
    const value = fieldset.hidden ? undefined : read(fieldset);
    if (value !== undefined) answer[fieldset.dataset.field] = value;
  }
  return answer;
}

function showConditional() {
  for (const fieldset of fieldsets) {
    if (!fieldset.dataset.when) continue;
    const other = fieldsets.find((one) => one.dataset.field === fieldset.dataset.when);
    const given = [read(other)].flat();
    fieldset.hidden = !JSON.parse(fieldset.dataset.values).some((one) => given.includes(one));
  }
}

// --- drafts ---------------------------------------------------------------------------------------
// A draft stands in the browser at once and at the server soon after, so that neither a lost connection nor an ended
// session loses a word.

let draftTimer = 0;

function keepDraft() {
  showConditional();
  localStorage.setItem(mirror, JSON.stringify({ version: task.version, draft: gather() }));
  savedBox.textContent = "Not saved yet";
  clearTimeout(draftTimer);
  draftTimer = setTimeout(saveDraft, 500);
}

async function saveDraft() {
  try {
    const told = await send("/api/draft", { draft: gather() });
    savedBox.textContent = told.ok ? "Draft saved" : `Draft kept in this browser only: ${told.error ?? "the server did not answer"}`;
  } catch {
    savedBox.textContent = "No connection: the draft is kept in this browser";
    draftTimer = setTimeout(saveDraft, 5000);
  }
}

function restore() {
  const local = JSON.parse(localStorage.getItem(mirror) ?? "null");
  const draft = local && local.version === task.version ? local.draft : task.draft;
  const words = draft ?? task.answer ?? {};
  for (const fieldset of fieldsets) write(fieldset, words[fieldset.dataset.field]);
  if (draft) savedBox.textContent = "Your draft is back";
  showConditional();
}

form.addEventListener("input", keepDraft);

// --- what was played ------------------------------------------------------------------------------

const videos = [...root.querySelectorAll("video")];
const stretches = new Map();
let unsent = {};

// Players and files differ by a frame or two on where the end is: what has ended was played to its end.
function reached(video) {
  const ends = (task.parts[video.dataset.view] ?? []).map((part) => part.end_s);
  const end = Math.max(video.currentTime, ...ends);
  return video.ended && end - video.currentTime < 1 ? end : video.currentTime;
}

function follow(video) {
  const view = video.dataset.view;
  const close = () => {
    const begin = stretches.get(view);
    stretches.delete(view);
    if (begin !== undefined && video.currentTime > begin) (unsent[view] ??= []).push([begin, reached(video)]);
  };
  let last = 0;
  video.addEventListener("play", () => stretches.set(view, video.currentTime));
  video.addEventListener("timeupdate", () => { if (!video.seeking) last = video.currentTime; });
  video.addEventListener("seeking", () => {
    const begin = stretches.get(view);
    stretches.delete(view);
    if (begin !== undefined && last > begin) (unsent[view] ??= []).push([begin, last]);
  });
  video.addEventListener("seeked", () => { if (!video.paused) stretches.set(view, video.currentTime); });
  for (const name of ["pause", "ended"]) video.addEventListener(name, () => { close(); sendPlayed(); });
}

function flush() {
  for (const video of videos) {
    const view = video.dataset.view;
    const begin = stretches.get(view);
    if (begin !== undefined && video.currentTime > begin && !video.seeking) {
      (unsent[view] ??= []).push([begin, video.currentTime]);
      stretches.set(view, video.currentTime);
    }
  }
}

async function sendPlayed() {
  flush();
  if (Object.keys(unsent).length === 0) return;
  const views = unsent;
  unsent = {};
  try {
    const told = await send("/api/played", { views });
    if (told.status >= 500) throw new Error("not stored");
  } catch {
    for (const [view, list] of Object.entries(views)) unsent[view] = [...list, ...(unsent[view] ?? [])];
  }
}

videos.forEach(follow);
setInterval(sendPlayed, 5000);

// --- sending --------------------------------------------------------------------------------------

function fault(words) {
  faultBox.textContent = words;
  faultBox.hidden = !words;
}

let isSending = false;
let key = task.key;

async function deliver(path, body) {
  if (isSending) return;
  isSending = true;
  clearTimeout(draftTimer);
  fault("");
  for (const button of form.querySelectorAll("button")) button.disabled = true;
  try {
    await sendPlayed();
    const told = await send(path, { key, ...body });
    if (told.ok) {
      localStorage.removeItem(mirror);
      location.assign("/task");
      return;
    }
    fault([told.error ?? "The server did not take this. What you typed is kept; try again.", ...Object.values(told.faults ?? {})].join("\n"));
    if (told.status === 409) {
      // What was typed here stays; sent once more it replaces the other tab's answer, and both stay on record.
      task.version = told.standing.version;
      key = crypto.randomUUID();
      fault(`${told.error}\nThere: ${JSON.stringify(told.standing.answer ?? told.standing.opt_out)}\nSubmit again to replace it with what stands here.`);
    }
  } catch {
    fault("No connection. What you typed is kept in this browser; try again.");
  }
  isSending = false;
  for (const button of form.querySelectorAll("button")) button.disabled = false;
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  deliver("/api/submit", { base: task.version, answer: gather() });
});
for (const button of form.querySelectorAll("[data-opt-out]")) {
  button.addEventListener("click", () => deliver("/api/submit", { base: task.version, opt_out: button.dataset.optOut }));
}
document.getElementById("skip")?.addEventListener("click", () => deliver("/api/skip", {}));
document.getElementById("cannot-play")?.addEventListener("click", () => deliver("/api/cannot-play", { says: videos.map((one) => one.error?.message ?? "").join(" ").trim() || null }));

// --- keys -----------------------------------------------------------------------------------------

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    event.preventDefault();
    form.requestSubmit();
    return;
  }
  const isTyping = event.target.matches("textarea, input:not([type=radio]):not([type=checkbox])");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const video = videos[0];
  if (/^[1-9]$/.test(event.key)) {
    const open = fieldsets.filter((one) => !one.hidden && one.querySelector("input"));
    const fieldset = open.find((one) => one.contains(document.activeElement)) ?? open.find((one) => read(one) === undefined) ?? open[0];
    const input = fieldset?.querySelectorAll("input")[Number(event.key) - 1];
    if (!input) return;
    event.preventDefault();
    input.focus();
    input.click();
  } else if (event.key === " " && video && !event.target.matches("button, a, input, summary, video")) {
    event.preventDefault();
    if (video.paused) video.play(); else video.pause();
  }
});

restore();
