// A button that sends a command, with an optional confirmation and the answer beside it.

import { button, make, say } from "/page/dom.js";
import { decided, fill, time, words } from "./words.js";

/** Time in milliseconds during which a confirmation ignores presses, so that a double press does not confirm. */
const HASTE = 300;

/** A labelled field with an optional help text. */
export function field(label, input, help = "") {
  const parts = [make("span", "", {}, label), input];
  if (help) {
    const id = `help-${(field.count = (field.count ?? 0) + 1)}`;
    input.setAttribute("aria-describedby", id);
    parts.push(make("small", "", { id }, help));
  }
  return make("label", "field", {}, ...parts);
}

/** A group of radio buttons for `choices`, a list of [value, text]. `value()` returns the chosen value. */
export function radios(label, choices, chosen) {
  const name = `radio-${(radios.count = (radios.count ?? 0) + 1)}`;
  const inputs = choices.map(([value]) => {
    const input = make("input", "", { type: "radio", name, value });
    input.checked = value === chosen;
    return input;
  });
  const labels = choices.map(([, text], at) => make("label", "", {}, inputs[at], " ", text));
  const element = make("fieldset", "radios", {}, make("legend", "", {}, label), ...labels);
  return { element, value: () => inputs.find((input) => input.checked)?.value ?? null };
}

/** A collapsed group of fields and deeds. */
export function fold(label, ...inside) {
  return make("details", "fold", { name: "deeds" }, make("summary", "", {}, label), make("div", "folded", {}, ...inside));
}

export class Deed {
  /**
   * `context` sends the command. `about` has these fields:
   * - `label`, and `tone`, a CSS class;
   * - `command` returns the command, or null if an entry is missing;
   * - `ask` returns the confirmation question, if any;
   * - `answers` returns the answers other than a plain yes, as a list of [text, fields to add to the command];
   * - `more` returns links to show beside the answers, the first of which gets the focus;
   * - `undo` is called before sending and returns the command that undoes this one, or a function that creates it;
   * - `undone` is called with the job that has undone this one, to show another answer than "Undone.";
   * - `done` is called after success.
   */
  constructor(context, about) {
    Object.assign(this, { context, about });
    this.button = button(about.tone ?? "", about.label, about.label, () => this.start());
    this.question = make("span", "question", { hidden: "" });
    this.answer = make("p", "answer", { hidden: "" });
    this.element = make("div", "deed", {}, this.button, this.question, this.answer);
  }

  label(text) {
    say(this.button, text);
  }

  show(isShown) {
    // A hidden deed with an answer stays visible, so that the answer can be read.
    this.button.hidden = !isShown;
    this.element.hidden = !isShown && this.answer.hidden;
  }

  start() {
    const command = this.about.command();
    if (!command) return;
    const question = this.about.ask?.();
    if (!question) {
      this.send(command);
      return;
    }
    this.ask(question, this.about.answers?.() ?? [[words.deeds.yes, {}]], command);
  }

  /** Asks a question. Each answer sends the command with the fields that the answer adds. */
  ask(question, answers, command) {
    const asked = Date.now();
    const links = this.about.more?.() ?? [];
    // A link is the better answer if there is one.
    const tone = links.length ? "" : "main";
    const choices = answers.map(([text, more]) =>
      button(tone, text, text, () => {
        if (Date.now() - asked < HASTE) return;
        this.stop();
        this.send({ ...command, ...more });
      }),
    );
    const no = button("", words.deeds.no, words.deeds.no, () => {
      this.stop();
      this.button.focus();
    });
    this.question.replaceChildren(make("span", "", {}, question), ...links, ...choices, no);
    this.question.onkeydown = (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      no.click();
    };
    this.question.hidden = false;
    this.button.hidden = true;
    (links[0] ?? choices[0]).focus();
    // The focus brings only the button into view.
    this.element.scrollIntoView({ block: "nearest" });
  }

  stop() {
    this.question.hidden = true;
    this.question.replaceChildren();
    this.button.hidden = false;
  }

  async send(command) {
    const undo = this.about.undo?.(command) ?? null;
    this.button.disabled = true;
    this.tell(words.deeds.sending, "");
    const answer = await this.context.send(command);
    this.button.disabled = false;
    const job = { label: this.about.label, answer, undo: answer.ok ? undo : null, at: Date.now() };
    this.tell(told(answer), answer.ok ? "good" : "bad", job.undo && undoing(this.context, job, this.about.undone));
    this.context.did(job);
    if (answer.ok) this.about.done?.();
    // Another arbiter has decided before. The decision is replaced only after it was shown.
    if (answer.standing) {
      this.ask(words.deeds.replaceAsk, [[words.deeds.replace, { replace: true }]], command);
      return;
    }
    // The disabled button lost the keyboard focus; give it back.
    if (document.activeElement === document.body) this.button.focus();
  }

  /** Removes the answer. */
  forget() {
    this.answer.hidden = true;
    this.answer.replaceChildren();
  }

  tell(text, how, undo = null) {
    this.answer.className = `answer ${how}`;
    this.answer.hidden = false;
    this.element.hidden = false;
    this.answer.replaceChildren(text, ...(undo ? [" ", undo] : []));
  }
}

/** Text that the server adds to the note of a command that is not stored yet. */
const UNKEPT = "done, but not stored yet: the disk does not answer";

/** Formats an answer for people. */
export function told({ ok, note, error, why, daemon, standing, kept = true }) {
  if (standing) return fill(words.deeds.standing, { by: standing.by, at: time(standing.at), decision: decided(standing.decision) });
  if (!ok && ["silent", "away", "no_broker"].includes(why)) return fill(words.deeds[why], { daemon });
  if (!ok) return fill(words.deeds.failed, { error: error ?? "" });
  if (!kept) {
    const own = (note ?? "").replace(UNKEPT, "").replace(/; $/, "");
    return own ? fill(words.deeds.unkeptNote, { note: own }) : words.deeds.unkept;
  }
  return note ? fill(words.deeds.doneNote, { note }) : words.deeds.done;
}

/** The button that undoes a command. `undone` is called with the job that has done so. */
export function undoing(context, job, undone = () => {}) {
  const element = button("undo", words.deeds.undo, words.deeds.undo, async () => {
    // The button is shown beside its deed and in the history; one press is enough for both.
    for (const one of job.buttons) one.disabled = true;
    const answer = await context.send(typeof job.undo === "function" ? job.undo() : job.undo);
    for (const one of job.buttons) one.replaceWith(answer.ok && answer.kept !== false ? words.deeds.undone : told(answer));
    job.undo = null;
    const undo = { label: `${words.deeds.undo}: ${job.label}`, answer, undo: null, at: Date.now() };
    context.did(undo);
    undone(undo);
  });
  job.buttons = [...(job.buttons ?? []), element];
  return element;
}
