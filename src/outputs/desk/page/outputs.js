// The set-up step for outputs: for each output its last delivery, its problems, and a test.

import { button, make, say } from "/page/dom.js";
import { HEADERS, ask } from "./session.js";
import { fill, time, words } from "./words.js";

/** Timeout of a test, in milliseconds. */
const PATIENCE = 60000;

/** Kind of the test of an output, by the output's name. */
function kindOf(name) {
  if (name.startsWith("alarm ")) return "alarm";
  return { broker: "broker", Lichess: "lichess" }[name] ?? "place";
}

/** All outputs of a status, as a list of [name, label, report]. */
function outputsOf(status) {
  const { outputs } = words.setup;
  const kept = (state) => ({ ok: state?.ok ?? true, problems: state?.problem ? [state.problem] : [] });
  const { broker, ...others } = status.outputs ?? {};
  const lost = { ok: false, problems: [words.setup.wrong.broker] };
  const rows = [];
  if (status.journal) rows.push(["journal", outputs.journal, kept(status.journal)]);
  if (status.recordings) rows.push(["recordings", outputs.recordings, kept(status.recordings)]);
  // The status of the broker is unknown until it has answered.
  if (status.broker !== null) rows.push(["broker", outputs.broker, status.broker || broker?.problems ? broker ?? { ok: true } : lost]);
  for (const [name, report] of Object.entries(others)) rows.push([name, name, report]);
  return rows;
}

/** Tests an output; returns {ok, text}. */
async function test(name) {
  const { outputs } = words.setup;
  const headers = { ...HEADERS, "Content-Type": "application/json" };
  const options = { method: "POST", headers, body: JSON.stringify({ output: name }), signal: AbortSignal.timeout(PATIENCE) };
  const kind = kindOf(name);
  try {
    const answer = await ask("/outputs", options);
    const { ok = false, error = `${answer.status}`, answer: given } = await answer.json().catch(() => ({}));
    return { ok, text: fill(ok ? outputs.works[kind] : outputs.fails[kind], { error, answer: given ?? "" }) };
  } catch {
    return { ok: false, text: words.login.silent };
  }
}

class OutputRow {
  constructor(name, label, announce) {
    const { outputs } = words.setup;
    Object.assign(this, { name, label, announce });
    this.state = make("span", "chip");
    this.done = make("span", "facts", { hidden: "" });
    this.problems = make("div", "problems", { hidden: "" });
    this.button = button("", `${outputs.test}: ${label}`, outputs.test, () => this.test());
    this.answer = make("p", "answer", { hidden: "" });
    this.deeds = make("div", "row-deeds", { hidden: "" }, this.button);
    const head = make("div", "row-head", {}, make("b", "", {}, label), this.state);
    this.element = make("li", "", {}, head, this.done, this.problems, this.deeds, this.answer);
  }

  update({ ok, last = null, did = "", problems = [] }, mayTest) {
    const { outputs } = words.setup;
    say(this.state, ok ? words.health.fine : outputs.wrong);
    this.state.className = `chip ${ok ? "fine" : "bad"}`;
    say(this.done, last ? fill(outputs.last, { time: time(last), did }) : "");
    this.done.hidden = !last;
    const key = JSON.stringify(problems);
    if (key !== this.shown) this.problems.replaceChildren(...problems.map((problem) => make("p", "answer bad", {}, problem)));
    this.shown = key;
    this.problems.hidden = problems.length === 0;
    this.deeds.hidden = !mayTest;
  }

  async test() {
    if (this.isBusy) return;
    const { outputs } = words.setup;
    this.isBusy = true;
    // A disabled button would lose the focus.
    this.button.setAttribute("aria-disabled", "true");
    this.tell("", outputs.testing);
    const { ok, text } = await test(this.name);
    this.isBusy = false;
    this.button.removeAttribute("aria-disabled");
    this.tell(ok ? "good" : "bad", fill(outputs.tested, { time: time(Date.now()), text }));
    this.announce(`${this.label}: ${text}`);
  }

  tell(how, text) {
    this.answer.className = `answer ${how}`;
    this.answer.hidden = false;
    say(this.answer, text);
  }
}

export class Outputs {
  /** `announce` announces a text to screen readers. */
  constructor(announce) {
    this.announce = announce;
    this.rows = new Map();
    /** Names of the outputs that can be tested. */
    this.tested = new Set();
    this.element = make("ul", "rows");
  }

  /** Loads the names of the outputs that can be tested. */
  async load() {
    const answer = await ask("/outputs").catch(() => null);
    if (!answer?.ok) return;
    const { outputs = [] } = await answer.json().catch(() => ({}));
    this.tested = new Set(outputs);
  }

  update(status) {
    const all = outputsOf(status);
    const names = new Set(all.map(([name]) => name));
    for (const [name, { element }] of this.rows) {
      if (names.has(name)) continue;
      element.remove();
      this.rows.delete(name);
    }
    all.forEach(([name, label, report], at) => {
      if (!this.rows.has(name)) this.rows.set(name, new OutputRow(name, label, this.announce));
      const row = this.rows.get(name);
      row.update(report, this.tested.has(name));
      if (this.element.children[at] !== row.element) this.element.insertBefore(row.element, this.element.children[at] ?? null);
    });
  }
}
