// One case: drafts as they are typed, what was played, sending once, and the keys.
import * as fields from "./fields.js";
import { Player } from "./player.js";

const SKIP_S = 5;

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

// --- drafts ---------------------------------------------------------------------------------------
// A draft stands in the browser at once and at the server soon after, so that neither a lost connection nor an ended
// session loses a word.

let draftTimer = 0;

function keepDraft() {
  fields.showConditional();
  player?.showPlayed();
  localStorage.setItem(mirror, JSON.stringify({ version: task.version, draft: fields.gather() }));
  savedBox.textContent = "Not saved yet";
  clearTimeout(draftTimer);
  draftTimer = setTimeout(saveDraft, 500);
}

async function saveDraft() {
  try {
    const told = await send("/api/draft", { draft: fields.gather() });
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
  fields.restore(words);
  if (draft) savedBox.textContent = "Your draft is back";
}

form.addEventListener("input", keepDraft);

// --- what was played ------------------------------------------------------------------------------

const player = root.querySelector("video") && new Player(task, {
  moment: (number) => fields.showMoment(task.moments[number].id, `moment ${number + 1} of ${task.moments.length}`),
  scored: fields.isScored,
  stopped: () => sendPlayed(),
});
let stored = "{}";

async function sendPlayed() {
  const views = player?.visit() ?? {};
  const words = JSON.stringify(views);
  if (words === stored) return;
  try {
    const told = await send("/api/played", { views });
    if (told.ok) stored = words;
  } catch {
    // The browser still knows: it is sent again with what comes.
  }
}

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
  deliver("/api/submit", { base: task.version, answer: fields.gather() });
});
for (const button of form.querySelectorAll("[data-opt-out]")) {
  button.addEventListener("click", () => deliver("/api/submit", { base: task.version, opt_out: button.dataset.optOut }));
}
document.getElementById("skip")?.addEventListener("click", () => deliver("/api/skip", {}));
document.getElementById("cannot-play")?.addEventListener("click", () => deliver("/api/cannot-play", { says: [...root.querySelectorAll("video")].map((one) => one.error?.message ?? "").join(" ").trim() || null }));

// --- keys -----------------------------------------------------------------------------------------

// What the page does on a key; whether it did anything.
function act(event) {
  const { key, shiftKey, target } = event;
  const isOwn = target.matches("button, a, summary, input[type=checkbox]");
  // On a choice that is made already, Space has nothing to do and may play.
  if (key === " ") return Boolean(player) && !isOwn && !(target.matches("input") && !target.checked) && (player.toggle(), true);
  if (player && (key === "ArrowLeft" || key === "ArrowRight")) {
    const way = key === "ArrowRight" ? 1 : -1;
    if (shiftKey) player.jump(player.current + way); else player.skip(way * SKIP_S);
    return true;
  }
  if (player && (key === "," || key === ".")) return player.step(key === "." ? 1 : -1), true;
  const optOut = [...form.querySelectorAll("button[data-key]")].find((one) => one.dataset.key === key);
  return optOut ? (optOut.click(), true) : fields.press(key);
}

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    event.preventDefault();
    form.requestSubmit();
    return;
  }
  const isTyping = event.target.matches("textarea, select, [contenteditable], input:not([type=radio]):not([type=checkbox])");
  if (isTyping || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (act(event)) event.preventDefault();
});

restore();
player?.showPlayed();
