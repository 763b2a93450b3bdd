"use strict";
// Filters, keys and links to items. Without this script every item is listed and opens by itself.
(() => {
  const browsers = [...document.querySelectorAll("[data-browser]")].map(start);

  // Words, and phrases in quotes; a quote that is not closed yet holds to the end.
  function terms(text) {
    const found = text.replace(/[“”„]/g, '"').matchAll(/"([^"]*)"?|([^\s"]+)/g);
    return [...found].map(([, phrase, word]) => plain(phrase ?? word)).filter(Boolean);
  }

  // What the search looks at: the item's own texts, each on a line.
  function textOf(node) {
    return [...node.querySelectorAll("[data-text]")].map((part) => plain(part.textContent)).join("\n");
  }

  function plain(text) {
    return text.toLowerCase().replace(/\s+/g, " ").trim();
  }

  function start(root) {
    const form = root.querySelector(".filters");
    const count = root.querySelector(".count");
    const none = root.querySelector(".none-left");
    const items = [...root.querySelectorAll("article.item")].map((node) => ({
      node,
      row: node.parentElement,
      summary: node.querySelector("summary"),
      answers: JSON.parse(node.dataset.answers),
      labels: JSON.parse(node.dataset.labels),
      text: null,
    }));

    function apply() {
      const words = terms(form.elements.text.value);
      const model = form.elements.model ? form.elements.model.value : "";
      const condition = form.elements.condition ? form.elements.condition.value : "";
      const verdicts = [...form.querySelectorAll("[name=verdict]:checked")].map((box) => box.value);
      const labels = [...form.querySelectorAll("[data-label]")].filter((box) => box.value);
      let shown = 0;
      for (const item of items) {
        const answered = item.answers.some(
          ([m, c, v]) =>
            (!model || m === Number(model)) && (!condition || c === Number(condition)) && (!verdicts.length || verdicts.includes(v)),
        );
        const asked = model || condition || verdicts.length;
        const labelled = labels.every((box) => item.labels[box.dataset.place].includes(Number(box.value)));
        if (words.length && item.text === null) item.text = textOf(item.node);
        const found = words.every((word) => item.text.includes(word));
        item.row.hidden = !((answered || !asked) && labelled && found);
        if (!item.row.hidden) shown += 1;
      }
      count.textContent = shown === items.length ? `${shown} items` : `${shown} of ${items.length} items`;
      none.hidden = shown > 0;
    }

    form.hidden = false;
    form.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(apply));
    apply();  // a reloaded page keeps what was typed
    return { root, form, items };
  }

  function move(browser, step) {
    const open = browser.items.filter((item) => !item.row.hidden);
    const at = open.findIndex((item) => item.node.contains(document.activeElement));
    const next = open[at < 0 ? (step > 0 ? 0 : open.length - 1) : at + step];
    if (next) {
      next.summary.focus();
      next.node.scrollIntoView({ block: "nearest" });
    }
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    const step = { j: 1, k: -1 }[event.key];
    if (!step && event.key !== "/") return;
    const browser = nearest();
    if (!browser || !browser.form.elements.keys.checked) return;
    event.preventDefault();
    if (step) move(browser, step);
    else browser.form.elements.text.focus();
  });

  // The browser that has the focus, else the one on screen, else the first.
  function nearest() {
    const focused = browsers.find((b) => b.root.contains(document.activeElement));
    const onScreen = browsers.find((b) => b.root.getBoundingClientRect().bottom > 0);
    return focused || onScreen || browsers[0];
  }

  function openTarget() {
    const target = document.getElementById(location.hash.slice(1));
    if (!target) return;
    const details = target.matches("details") ? target : target.querySelector(":scope > details");
    if (!details) return;
    const row = target.closest("li[hidden]");
    if (row) row.hidden = false;
    details.open = true;
    target.scrollIntoView();
    details.querySelector("summary").focus({ preventScroll: true });
  }
  addEventListener("hashchange", openTarget);
  // After the browser's own jump to the address, which takes the focus away.
  addEventListener("load", () => setTimeout(openTarget));
})();
