// All views on one clock, that of the first; a timeline with the moments; what has been played and what has not.
const FAR_S = 0.1;
const NEAR_S = 0.03;

const by = (id) => document.getElementById(id);
const videos = [...document.querySelectorAll("video[data-view]")];
const master = videos[0];
const clock = (time) => `${Math.floor(time / 60)}:${(time % 60).toFixed(1).padStart(4, "0")}`;

export class Player {
  // task: what the page was given. on: {moment(number), scored(id), stopped()}.
  constructor(task, on) {
    this.task = task;
    this.on = on;
    this.current = 0;
    this.isPlaying = false;
    this.waiting = new Set(); // views that are to play as soon as they may
    this.stopAt = null;
    this.marks = [];
    for (const video of videos) {
      video.addEventListener("volumechange", () => { if ("muted" in video.dataset && !video.muted) video.muted = true; });
      video.addEventListener("error", () => this.showPlayed());
    }
    // A page that hides itself gets no frames to draw, so that the clock of the medium has to do as well.
    master.addEventListener("timeupdate", () => this.tick());
    master.addEventListener("ended", () => this.pause());
    // Paused by something else, say a key of the keyboard for media.
    master.addEventListener("pause", () => { if (this.isPlaying && master.paused && !this.waiting.has(master)) this.pause(); });
    master.addEventListener("loadedmetadata", () => this.begin());
    by("play").addEventListener("click", () => this.toggle());
    this.listenToTrack();
    this.listMoments();
    if (master.readyState > 0) this.begin();
  }

  get start() { return this.task.ranges[master.dataset.view]?.[0] ?? 0; }
  get end() {
    const length = Number.isFinite(master.duration) ? master.duration : 0;
    return Math.min(this.task.ranges[master.dataset.view]?.[1] ?? length, length || Infinity);
  }

  begin() {
    if (this.start > 0 && master.currentTime < this.start) this.seek(this.start);
    this.task.moments.forEach((moment, number) => {
      const [band] = this.marks[number];
      band.style.left = `${this.share(moment.start_s)}%`;
      band.style.width = `${this.share(moment.end_s) - this.share(moment.start_s)}%`;
    });
    this.draw();
    const frame = () => { this.tick(); requestAnimationFrame(frame); };
    requestAnimationFrame(frame);
  }

  // --- playing ---

  toggle() { if (this.isPlaying) this.pause(); else this.play(); }

  play() {
    if (master.ended || master.currentTime >= this.end - 0.01) this.seek(this.start);
    this.isPlaying = true;
    this.waiting = new Set(videos);
    this.keepInStep();
  }

  pause() {
    this.isPlaying = false;
    this.waiting.clear();
    for (const video of videos) { video.pause(); video.playbackRate = master.playbackRate; }
    this.draw();
    this.on.stopped();
  }

  seek(time) {
    const within = Math.min(Math.max(time, this.start), this.end);
    this.stopAt = null;
    for (const video of videos) video.currentTime = within;
    if (this.isPlaying) this.waiting = new Set(videos); // one that had ended plays again
    this.draw();
  }

  skip(seconds) { this.seek(master.currentTime + seconds); }

  // To the middle of the frame before or after: a time on the border may show either.
  step(frames) {
    const frame = this.task.frame_s;
    if (!frame) return;
    if (this.isPlaying) this.pause();
    this.seek((Math.floor(master.currentTime / frame + 1e-6) + frames + 0.5) * frame);
  }

  // The first view leads; the others catch up by pace, and by a jump from a tenth of a second on. Whoever has nothing
  // to show yet is waited for.
  keepInStep() {
    if (!this.isPlaying) return;
    if (videos.some((video) => video.paused && !video.ended && !this.waiting.has(video))) {
      this.pause(); // something else paused it, say a key for media
      return;
    }
    const isStuck = (video) => !video.ended && (video.readyState < 3 || video.seeking);
    const stuck = videos.some(isStuck);
    for (const video of videos) {
      if (stuck && !isStuck(video)) {
        this.waiting.add(video);
        video.pause();
      } else if (this.waiting.has(video) && !(video.ended && video !== master)) {
        // One that is shorter than the first and has ended stays at its end: told to play, it would begin again.
        this.waiting.delete(video);
        video.play().catch((error) => { if (error.name !== "AbortError") this.pause(); });
      }
    }
    if (stuck) return;
    for (const video of videos.slice(1)) {
      const behind = master.currentTime - video.currentTime;
      if (video.ended) continue;
      if (Math.abs(behind) >= FAR_S) video.currentTime = master.currentTime;
      video.playbackRate = master.playbackRate * (Math.abs(behind) > NEAR_S ? 1 + Math.sign(behind) * 0.05 : 1);
    }
  }

  tick() {
    if (!this.isPlaying) {
      if (master.paused) return;
      this.isPlaying = true;
      this.waiting = new Set(videos);
    }
    const time = master.currentTime;
    const stop = this.stopAt ?? (this.task.ranges[master.dataset.view] ? this.end : null);
    if (stop !== null && time >= stop) {
      this.stopAt = null;
      this.pause();
    } else {
      this.keepInStep();
      this.follow(time);
    }
    this.draw();
  }

  // --- moments ---

  // In free play the moment under the playhead becomes the current one; where they overlap it stays what it was.
  follow(time) {
    const moments = this.task.moments;
    const holds = (one) => one && one.start_s <= time && time < one.end_s;
    if (this.stopAt !== null || holds(moments[this.current])) return;
    const found = moments.findIndex(holds);
    if (found >= 0) this.choose(found);
  }

  choose(number) {
    if (!this.task.moments[number]) return;
    this.current = number;
    this.on.moment(number);
    this.showPlayed();
  }

  // Jumped to, a moment plays to its end and waits there for its score.
  jump(number) {
    const moment = this.task.moments[number];
    if (!moment) return;
    this.choose(number);
    this.seek(moment.start_s);
    this.stopAt = Math.min(moment.end_s, this.end);
  }

  listMoments() {
    const moments = this.task.moments;
    by("moments").hidden = moments.length === 0;
    this.marks = moments.map((_, number) => {
      const band = document.createElement("div");
      band.className = "band";
      by("track").append(band);
      const button = document.createElement("button");
      button.type = "button";
      button.addEventListener("click", () => this.jump(number));
      by("moments").append(button);
      return [band, button];
    });
    if (moments.length) this.choose(this.current);
    this.showPlayed();
  }

  // --- the timeline ---

  share(time) { return Math.min(Math.max((time - this.start) / (this.end - this.start || 1), 0), 1) * 100; }

  draw() {
    const time = master.currentTime;
    by("head").style.left = `${this.share(time)}%`;
    const words = `${clock(Math.max(time - this.start, 0))} / ${clock(Math.max(this.end - this.start, 0))}`;
    if (by("clock").textContent !== words) by("clock").textContent = words;
    const label = this.isPlaying ? "Pause" : "Play";
    if (by("play").textContent !== label) by("play").textContent = label;
    const track = by("track");
    track.setAttribute("aria-valuemax", (this.end - this.start).toFixed(1));
    track.setAttribute("aria-valuenow", Math.max(time - this.start, 0).toFixed(1));
    track.setAttribute("aria-valuetext", words);
    const second = Math.floor(time * 4);
    if (second !== this.drawnAt) { this.drawnAt = second; this.showPlayed(); }
  }

  listenToTrack() {
    const track = by("track");
    const go = (event) => {
      const box = track.getBoundingClientRect();
      this.seek(this.start + ((event.clientX - box.left) / box.width) * (this.end - this.start));
    };
    track.addEventListener("pointerdown", (event) => { track.setPointerCapture(event.pointerId); go(event); });
    track.addEventListener("pointermove", (event) => { if (track.hasPointerCapture(event.pointerId)) go(event); });
  }

  // --- what was played: what the browser itself says of this visit, with what the server knows of earlier ones ---

  visit() {
    const views = {};
    for (const video of videos) {
      const list = [];
      for (let n = 0; n < video.played.length; n += 1) list.push([video.played.start(n), this.reached(video, video.played.end(n))]);
      if (list.length) views[video.dataset.view] = list;
    }
    return views;
  }

  // Players and files differ by a frame or two on where the end is: what has ended was played to its end.
  reached(video, time) {
    const ends = (this.task.parts[video.dataset.view] ?? []).map((part) => part.end_s);
    const end = Math.max(time, ...ends);
    return video.ended && time >= video.duration - 0.25 && end - time < 1 ? end : time;
  }

  // As work.covers does it: stretches that touch are one, and a little may be missing at either end.
  covers(stretches, part) {
    const merged = [];
    for (const [start, end] of [...stretches].sort((one, other) => one[0] - other[0])) {
      const last = merged.at(-1);
      if (last && start <= last[1] + this.task.touch_s) last[1] = Math.max(last[1], end);
      else merged.push([start, end]);
    }
    return merged.some(([start, end]) => start <= part.start_s + this.task.slack_s && end >= part.end_s - this.task.slack_s);
  }

  unplayed() {
    const visit = this.visit();
    const missing = [];
    for (const [view, parts] of Object.entries(this.task.parts)) {
      const stretches = [...(this.task.played[view] ?? []), ...(visit[view] ?? [])];
      for (const part of parts) if (!this.covers(stretches, part)) missing.push(part);
    }
    return missing;
  }

  showPlayed() {
    const missing = this.unplayed();
    const { moments } = this.task;
    const owed = new Set(missing.map((part) => part.start_s + "/" + part.name));
    moments.forEach((moment, number) => {
      const [band, button] = this.marks[number] ?? [];
      if (!button) return;
      const isOwed = owed.has(`${moment.start_s}/moment ${moment.id}`);
      const isScored = this.on.scored(moment.id);
      for (const one of [band, button]) {
        one.classList.toggle("is-current", number === this.current);
        one.classList.toggle("is-owed", isOwed);
        one.classList.toggle("is-scored", isScored);
      }
      const words = `${number + 1} ${isOwed ? "\u25b7" : "\u25b6"} ${isScored ? "\u2713" : "\u2013"}`;
      if (button.textContent !== words) button.textContent = words;
      button.setAttribute("aria-current", number === this.current ? "true" : "false");
      button.setAttribute("aria-label", `Moment ${number + 1} of ${moments.length}, ${isOwed ? "not played in full" : "played"}, ${isScored ? "scored" : "not scored"}`);
    });
    const box = by("unplayed");
    box.hidden = !this.task.rule;
    const numbers = moments.flatMap((moment, n) => (owed.has(`${moment.start_s}/moment ${moment.id}`) ? [n + 1] : []));
    const names = this.task.rule === "moments" ? [`moment ${numbers.join(", ")}`] : [...new Set(missing.map((part) => part.name))];
    const words = missing.length === 0 ? "Everything that has to be played was played." : `To be played in full before you submit: ${names.join(", ")}`;
    if (box.textContent !== words) box.textContent = words;
  }
}
