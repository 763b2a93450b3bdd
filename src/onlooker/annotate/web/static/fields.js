// Fields to an answer and back. Of a field that is asked for every moment the page shows one moment at a time.
export const fieldsets = [...document.querySelectorAll("#answer fieldset[data-field]")];
const byMoment = new Map(fieldsets.filter((one) => one.dataset.per === "moment").map((one) => [one, {}]));
let moment = null;
let active = null;

const valueOf = (input) => JSON.parse(input.dataset.value);

function readInputs(scope) {
  const box = scope.querySelector("textarea");
  if (box) return box.value === "" ? undefined : box.value;
  if (scope.dataset.kind === "Checks") {
    const rows = [...scope.querySelectorAll(".check")].map((row) => [JSON.parse(row.dataset.criterion), row.querySelector("input:checked")]);
    const given = rows.filter(([, input]) => input).map(([name, input]) => [name, valueOf(input)]);
    return given.length ? Object.fromEntries(given) : undefined;
  }
  const picked = [...scope.querySelectorAll("input:checked")].map(valueOf);
  if (picked.length === 0) return undefined;
  return scope.dataset.kind === "Options" || scope.dataset.kind === "ManyOf" ? picked : picked[0];
}

function writeInputs(scope, value) {
  const box = scope.querySelector("textarea");
  if (box) box.value = value ?? "";
  for (const input of scope.querySelectorAll("input")) {
    const row = input.closest(".check");
    const given = row ? [value?.[JSON.parse(row.dataset.criterion)]] : [value].flat();
    input.checked = given.includes(valueOf(input));
  }
}

// What stands in the inputs goes to the moment that they are shown for.
function note() {
  for (const [fieldset, values] of byMoment) {
    if (moment === null) continue;
    const value = readInputs(fieldset);
    if (value === undefined) delete values[moment]; else values[moment] = value;
  }
}

export function read(fieldset) {
  const values = byMoment.get(fieldset);
  if (!values) return readInputs(fieldset);
  note();
  return Object.keys(values).length ? { ...values } : undefined;
}

export function gather() {
  const answer = {};
  for (const fieldset of fieldsets) {
    const value = fieldset.hidden ? undefined : read(fieldset);
    if (value !== undefined) answer[fieldset.dataset.field] = value;
  }
  return answer;
}

export function restore(answer) {
  for (const fieldset of fieldsets) {
    const value = answer[fieldset.dataset.field];
    if (byMoment.has(fieldset)) byMoment.set(fieldset, { ...value });
    writeInputs(fieldset, byMoment.has(fieldset) ? value?.[moment] : value);
  }
  showConditional();
}

export function showMoment(id, words) {
  note();
  moment = id;
  for (const [fieldset, values] of byMoment) {
    writeInputs(fieldset, values[id]);
    fieldset.querySelector(".of").textContent = words;
  }
  active = null;
  markActive();
}

export const isScored = (id) => byMoment.size > 0 && [...byMoment.values()].every((values) => values[id] !== undefined);

export function showConditional() {
  note();
  for (const fieldset of fieldsets) {
    if (!fieldset.dataset.when) continue;
    const other = fieldsets.find((one) => one.dataset.field === fieldset.dataset.when);
    const given = [other.hidden ? undefined : read(other)].flat();
    fieldset.hidden = !JSON.parse(fieldset.dataset.values).some((one) => given.includes(one));
  }
  markActive();
}

// --- the field that has the keys: the one last touched, else the first without an answer ---------------------------

const isChosen = (one) => !one.hidden && one.querySelector("input");
const isBlank = (one) => readInputs(one) === undefined || Boolean(openRow(one));
const openRow = (one) => [...one.querySelectorAll(".check")].find((row) => !row.querySelector("input:checked"));

function atHand() {
  const open = fieldsets.filter(isChosen);
  return (open.includes(active) && active) || open.find(isBlank) || open[0];
}

function markActive() {
  const field = atHand();
  for (const one of fieldsets) one.classList.toggle("has-keys", one === field);
}

document.getElementById("answer").addEventListener("focusin", (event) => {
  const fieldset = event.target.closest("fieldset[data-field]");
  if (fieldset && isChosen(fieldset)) { active = fieldset; markActive(); }
});

// Give the key to the field at hand; whether it meant anything there.
export function press(key) {
  const fieldset = atHand();
  if (!fieldset) return false;
  if (fieldset.dataset.kind === "Checks") return pressCheck(fieldset, key);
  const input = [...fieldset.querySelectorAll("input")].find((one) => one.dataset.key === key);
  if (!input) return false;
  input.click();
  // A choice of one is made: the keys go on to the next field. Of several, more may follow.
  active = fieldset.dataset.many === "yes" || fieldset.contains(document.activeElement) ? fieldset : null;
  markActive();
  atHand()?.scrollIntoView({ block: "nearest" });
  return true;
}

// y and n answer the row that has the focus, else the first open one; the row's digit goes from yes to no and back.
function pressCheck(fieldset, key) {
  const isWord = key === "y" || key === "n";
  const rows = [...fieldset.querySelectorAll(".check")];
  const focused = rows.find((one) => one.contains(document.activeElement));
  const row = isWord ? focused ?? openRow(fieldset) ?? rows[0] : rows.find((one) => one.dataset.key === key);
  if (!row) return false;
  const [yes, no] = row.querySelectorAll("input");
  (isWord ? (key === "y" ? yes : no) : yes.checked ? no : yes).click();
  active = isBlank(fieldset) ? fieldset : null;
  markActive();
  return true;
}
