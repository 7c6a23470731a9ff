// Alarms: each new line is raised once, by sound and by a browser notification, as the user has chosen.

import { button, make, say } from "/page/dom.js";
import { keysOf } from "./lines.js";
import { HEADERS, ask } from "./session.js";
import { fill, place, time, titleOf, words } from "./words.js";

const NAME = "kiebitz-desk-alarms";
const RAISED = "kiebitz-desk-raised";
const KEPT = 500;
/** Timeout of a test of all alarms, in milliseconds. */
const PATIENCE = 60000;
/** Kinds of incidents that can be graver than a hint. */
const KINDS = [
  "illegal_move", "promotion_not_replaced", "clock_pressed_without_move", "illegal_position", "flag_fall", "two_flags",
  "draw_claimed", "two_minute_claim", "early_draw", "second_game", "displaced_pieces", "promotion_exchanged", "wrong_start_position",
  "board_rotated", "colors_reversed", "continued_after_end", "record_uncertain", "clock_stopped", "clock_inconsistent",
  "late_start", "clock_setting", "time_trouble", "board_disconnected", "clock_disconnected", "sensor_fault", "missing",
];

function recall(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

function keep(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // Without storage, the value lasts until the page is closed.
  }
}

/** Sends a test through every alarm; returns a list of [CSS class, text]. */
async function tryAll() {
  const { alarms } = words;
  const options = { method: "POST", headers: HEADERS, signal: AbortSignal.timeout(PATIENCE) };
  try {
    const answer = await ask("/alarms", options);
    if (!answer.ok) return [["bad", fill(alarms.refused, { status: answer.status })]];
    const { alarms: tried } = await answer.json();
    if (!tried.length) return [["", alarms.noAlarms]];
    return tried.map(({ name, ok, answer: given, error }) => {
      const values = { name: name.replace(/^alarm /, ""), time: time(Date.now()), answer: given, error };
      return [ok ? "good" : "bad", fill(ok ? alarms.works : alarms.fails, values)];
    });
  } catch {
    return [["bad", words.login.silent]];
  }
}

export class Alarms {
  /**
   * `live` is an element that screen readers announce; `open` is called with the line of a clicked notification.
   * `mayTest` is whether the user may send tests through the alarms of the configuration.
   */
  constructor(live, open, mayTest) {
    this.live = live;
    this.open = open;
    this.mayTest = mayTest;
    this.raised = new Set(recall(RAISED, []));
    this.muted = new Set(recall(NAME, { muted: [] }).muted);
    this.isLoud = false;
    this.sound = button("sound", words.alarms.off, words.alarms.off, () => this.setLoud(!this.isLoud));
    this.dialog = this.build();
    this.settings = button("", words.alarms.title, words.alarms.title, () => this.dialog.showModal());
  }

  build() {
    const dialog = make("dialog", "settings", { "aria-labelledby": "alarms" });
    const kinds = make("ul", "choices");
    for (const kind of KINDS) {
      const box = make("input", "", { type: "checkbox" });
      box.checked = !this.muted.has(kind);
      box.addEventListener("change", () => {
        if (box.checked) this.muted.delete(kind);
        else this.muted.add(kind);
        keep(NAME, { muted: [...this.muted] });
      });
      kinds.append(make("li", "", {}, make("label", "", {}, box, " ", words.kinds[kind])));
    }
    this.permission = make("p", "", {});
    this.allow = button("", words.alarms.allow, words.alarms.allow, () => this.askPermission());
    const test = button("", words.alarms.test, words.alarms.test, () => {
      this.setLoud(true);
    });
    const close = button("main", words.alarms.close, words.alarms.close, () => dialog.close());
    dialog.append(
      make("h2", "", { id: "alarms" }, words.alarms.title),
      make("p", "buttons", {}, test, this.allow),
      this.permission,
      ...(this.mayTest ? this.testing() : []),
      make("h3", "", {}, words.alarms.which),
      kinds,
      make("p", "quiet", {}, words.alarms.kept),
      close,
    );
    this.showPermission();
    return dialog;
  }

  /** The button that sends a test through every alarm of the configuration, and what came back. */
  testing() {
    const { alarms } = words;
    const answers = make("ul", "tried", { role: "status" });
    const tell = (...rows) => answers.replaceChildren(...rows.map(([how, text]) => make("li", `answer ${how}`, {}, text)));
    const all = button("", alarms.tryAll, alarms.tryAll, async () => {
      // A disabled button would lose the focus.
      if (all.getAttribute("aria-disabled")) return;
      all.setAttribute("aria-disabled", "true");
      tell(["", alarms.trying]);
      tell(...(await tryAll()));
      all.removeAttribute("aria-disabled");
    });
    return [make("p", "buttons", {}, all), make("p", "quiet", {}, alarms.tryAllHow), answers];
  }

  showPermission() {
    const state = globalThis.Notification?.permission ?? "denied";
    this.allow.hidden = state !== "default";
    say(this.permission, state === "granted" ? words.alarms.allowed : state === "denied" ? words.alarms.denied : "");
  }

  async askPermission() {
    await Notification.requestPermission().catch(() => {});
    this.showPermission();
  }

  setLoud(isLoud) {
    this.isLoud = isLoud;
    say(this.sound, isLoud ? words.alarms.on : words.alarms.off);
    if (isLoud) this.ring("advice");
  }

  /** Plays two short tones, or three higher ones for a violation. */
  ring(severity) {
    this.audio ??= new AudioContext();
    this.audio.resume();
    const tones = severity === "violation" ? [880, 1175, 880] : [660, 880];
    tones.forEach((frequency, at) => {
      const start = this.audio.currentTime + at * 0.18;
      const tone = this.audio.createOscillator();
      const volume = this.audio.createGain();
      tone.frequency.value = frequency;
      volume.gain.setValueAtTime(0, start);
      volume.gain.linearRampToValueAtTime(0.25, start + 0.02);
      volume.gain.linearRampToValueAtTime(0, start + 0.16);
      tone.connect(volume).connect(this.audio.destination);
      tone.start(start);
      tone.stop(start + 0.17);
    });
  }

  /** Raises the new ones among these lines. */
  update(lines) {
    const grave = lines.filter(({ severity }) => severity !== "hint");
    const fresh = grave.filter((line) => keysOf(line).some((key) => !this.raised.has(key)));
    const now = new Set(grave.flatMap(keysOf));
    // The number of an incident is unique, but a board or a hall may be disconnected again.
    for (const key of this.raised) if (/ (board_disconnected|hall_away) /.test(key) && !now.has(key)) this.raised.delete(key);
    if (!fresh.length) return;
    for (const key of fresh.flatMap(keysOf)) this.raised.add(key);
    keep(RAISED, [...this.raised].slice(-KEPT));
    const wanted = fresh.filter(({ kind }) => !this.muted.has(kind));
    if (!wanted.length) return;
    const texts = wanted.map((line) => fill(words.alarms.raised, { place: place(line), what: titleOf(line) }));
    say(this.live, texts.slice(0, 3).join(". "));
    if (this.isLoud) this.ring(wanted.some(({ severity }) => severity === "violation") ? "violation" : "advice");
    if (globalThis.Notification?.permission === "granted") {
      wanted.slice(0, 3).forEach((line, at) => {
        const note = new Notification(texts[at], { body: line.text, tag: line.key, lang: document.documentElement.lang });
        note.addEventListener("click", () => {
          globalThis.focus();
          this.open(line);
        });
      });
    }
  }
}
