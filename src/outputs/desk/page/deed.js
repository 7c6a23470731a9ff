// A button that gives a command: asks once more where that is wise, and shows the answer beside it.

import { button, make, say } from "/page/dom.js";
import { decided, fill, time, words } from "./words.js";

/** Who presses twice without reading has not said yes. */
const HASTE = 300;

/** A field with its name, and with what helps to fill it in. */
export function field(label, input, help = "") {
  const parts = [make("span", "", {}, label), input];
  if (help) {
    const id = `help-${(field.count = (field.count ?? 0) + 1)}`;
    input.setAttribute("aria-describedby", id);
    parts.push(make("small", "", { id }, help));
  }
  return make("label", "field", {}, ...parts);
}

/** A choice by buttons of a radio group: [value, text] each; `value()` says which. */
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

/** A group of fields and deeds that is folded away. */
export function fold(label, ...inside) {
  return make("details", "fold", { name: "deeds" }, make("summary", "", {}, label), make("div", "folded", {}, ...inside));
}

export class Deed {
  /**
   * `context` gives the commands. Of `about`: `label`; `tone` (a class); `command` returns what is to be sent, null where
   * something is missing; `ask` returns the question to be answered first, if any; `answers` returns what can be answered
   * in place of yes, [text, what the answer adds to the command] each; `undo` returns the command that makes
   * it undone, or what returns that when it comes to it, and is asked before it is sent; `done` is called after it was.
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
    // What was answered stays until it was read.
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

  /** Asks a question; each answer sends the command with what it adds. */
  ask(question, answers, command) {
    const asked = Date.now();
    const choices = answers.map(([text, more]) =>
      button("main", text, text, () => {
        if (Date.now() - asked < HASTE) return;
        this.stop();
        this.send({ ...command, ...more });
      }),
    );
    const no = button("", words.deeds.no, words.deeds.no, () => {
      this.stop();
      this.button.focus();
    });
    this.question.replaceChildren(make("span", "", {}, question), ...choices, no);
    this.question.onkeydown = (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      no.click();
    };
    this.question.hidden = false;
    this.button.hidden = true;
    choices[0].focus();
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
    this.tell(told(answer), answer.ok ? "good" : "bad", job.undo && undoing(this.context, job));
    this.context.did(job);
    if (answer.ok) this.about.done?.();
    // Another arbiter was first: theirs is replaced only by who has read it.
    if (answer.standing) {
      this.ask(words.deeds.replaceAsk, [[words.deeds.replace, { replace: true }]], command);
      return;
    }
    // Who pressed the button has not lost their place.
    if (document.activeElement === document.body) this.button.focus();
  }

  tell(text, how, undo = null) {
    this.answer.className = `answer ${how}`;
    this.answer.hidden = false;
    this.element.hidden = false;
    this.answer.replaceChildren(text, ...(undo ? [" ", undo] : []));
  }
}

/** What kiebitz adds to the note of a command that the disk does not have yet. */
const UNKEPT = "done, but not stored yet: the disk does not answer";

/** An answer in words. */
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

/** The button that makes a command undone. */
export function undoing(context, job) {
  const element = button("undo", words.deeds.undo, words.deeds.undo, async () => {
    // It stands beside the button and among what was done: one of them is enough.
    for (const one of job.buttons) one.disabled = true;
    const answer = await context.send(typeof job.undo === "function" ? job.undo() : job.undo);
    for (const one of job.buttons) one.replaceWith(answer.ok && answer.kept !== false ? words.deeds.undone : told(answer));
    job.undo = null;
    context.did({ label: `${words.deeds.undo}: ${job.label}`, answer, undo: null, at: Date.now() });
  });
  job.buttons = [...(job.buttons ?? []), element];
  return element;
}
