// A pause is offered after so much work without one; nobody is made to take it.
"use strict";
{
  const REST_MS = 10 * 60 * 1000; // so long without a key or a click was a pause already
  const offer = document.getElementById("pause");
  const paused = document.getElementById("paused");
  const everyMs = Number(offer.dataset.everyS) * 1000;
  const name = `work/${offer.dataset.rater}`;

  const stand = () => JSON.parse(localStorage.getItem(name) ?? "null");
  const keep = (began) => localStorage.setItem(name, JSON.stringify({ began, last: Date.now() }));

  function work() {
    const before = stand();
    keep(before && Date.now() - before.last < REST_MS ? before.began : Date.now());
  }

  function look() {
    if (Date.now() - (stand()?.began ?? Date.now()) >= everyMs && !paused.open) offer.hidden = false;
  }

  function begin() {
    keep(Date.now());
    offer.hidden = true;
  }

  document.getElementById("no-pause").addEventListener("click", begin);
  document.getElementById("take-pause").addEventListener("click", () => {
    for (const video of document.querySelectorAll("video")) video.pause();
    offer.hidden = true;
    paused.showModal();
    // Kept as an event for those who look at times; where it is lost, the pause was taken all the same.
    const headers = { "Content-Type": "application/json", "X-CSRF-Token": offer.dataset.csrf };
    fetch("/api/pause", { method: "POST", headers, body: "{}" }).catch(() => {});
  });
  paused.addEventListener("close", begin);
  // The page's keys are not for somebody who pauses.
  paused.addEventListener("keydown", (event) => event.stopPropagation());

  work();
  for (const kind of ["keydown", "pointerdown"]) document.addEventListener(kind, work, { passive: true });
  setInterval(look, Math.min(everyMs, 10_000));
}
