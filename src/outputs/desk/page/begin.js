// The form that begins a round on all boards. It names results that are missing in the round before.

import { make, say } from "/page/dom.js";
import { Deed, field, told } from "./deed.js";
import { checked, waiting } from "./ready.js";
import { Problems, Readiness } from "./readiness.js";
import { sheet } from "./asked.js";
import { isPlaying } from "./lines.js";
import { without } from "./round.js";
import { count, fill, hour, words } from "./words.js";

/** Maximum time until the pairings of a new round arrive, in milliseconds. */
const MAX_WAIT = 10000;

/** The round to begin: the current one until it has begun, then the next. */
export function next({ pairings, rounds }) {
  const { round, rounds: numbers } = pairings;
  if (round === null) return numbers[0] ?? null;
  const current = rounds.get(round);
  const hasBegun = current && (current.begun !== null || without(current).length < current.tables.size);
  return (hasBegun ? numbers.find((number) => number > round) : round) ?? round;
}

/** The last round before `number` that lacks results, and its tables without one; null if none does. */
export function incomplete({ rounds }, number) {
  const earlier = [...rounds.values()].filter(({ round }) => round < number).sort((one, other) => other.round - one.round);
  const found = earlier.find((round) => without(round).length);
  return found ? { round: found.round, tables: without(found) } : null;
}

export class Begin {
  /**
   * `announce` announces a text to screen readers; `readiness` has the problems of the set-up, which are loaded here if it
   * is missing; `done` is called after a round has begun.
   */
  constructor(source, announce, { isHub, readiness = null, done = () => this.begun.focus() }) {
    Object.assign(this, { source, isHub });
    this.loads = readiness === null;
    this.hasFailed = false;
    this.readiness = readiness ?? new Readiness(source, isHub);
    const { go } = words.setup;
    this.begun = make("p", "begun", { tabindex: "-1", hidden: "" });
    this.problems = new Problems();
    this.summary = make("p", "");
    this.round = make("select", "");
    const number = () => Number(this.round.value) || null;
    const lacks = () => incomplete(source, number());
    this.deed = new Deed(
      {
        send: (command) => this.begin(command),
        did: (job) => {
          this.hasFailed = !job.answer.ok;
          if (this.hasFailed) this.form.open = true;
          announce(`${job.label}: ${job.answer.ok ? told(job.answer) : job.answer.error}`);
        },
      },
      {
        label: go.beginNone,
        tone: "main",
        command: () => (number() ? { do: "start_round", round: number() } : null),
        ask: () => {
          const found = lacks();
          const parts = [found && count(words.round.lacking, found.tables.length, { round: found.round })];
          const open = this.readiness.open();
          if (open) parts.push(fill(go.open, { n: open }));
          const begun = source.rounds.get(number())?.begun;
          if (begun) parts.push(fill(go.askAgain, { round: number(), time: hour(begun) }));
          return [...parts, fill(go.ask, { round: number() })].filter(Boolean).join(" ");
        },
        answers: () => [[lacks() ? words.round.anyway : words.deeds.yes, {}]],
        more: () => {
          const found = lacks();
          if (!found) return [];
          const enter = make("a", "enter-them", { href: sheet(found.round, found.tables[0].table) }, words.round.enter);
          enter.addEventListener("click", () => this.deed.stop());
          return [enter];
        },
        done,
      },
    );
    this.round.addEventListener("change", () => {
      this.deed.stop();
      this.update();
    });
    const short = field(words.deeds.roundNumber, this.round);
    short.classList.add("short");
    // Without a further round, the form is folded away.
    this.fold = make("summary", "", { hidden: "" }, go.again);
    this.form = make("details", "again", { open: "" }, this.fold, make("div", "deeds", {}, short, this.deed.element));
    this.element = make("div", "deeds", {}, this.begun, this.problems.element, this.summary, this.form);
  }

  /** Begins a round on one board, which gives all boards their pairings, and then on the others. */
  async begin({ do: action, round }) {
    const { go } = words.setup;
    const all = () => [...this.source.boards.values()];
    const first = waiting(all(), this.source.pairings)[0] ?? all().find(({ connected }) => connected) ?? all()[0];
    if (!first) return { ok: false, note: null, error: words.setup.wrong.noBoards };
    const answer = await this.source.command(first.board, { do: action, round });
    if (!answer.ok) return answer;
    const since = Date.now();
    while (this.source.pairings.round !== round && Date.now() - since < MAX_WAIT) {
      await new Promise((done) => setTimeout(done, 100));
    }
    if (this.source.pairings.round !== round) return { ok: false, note: null, error: fill(go.other, { round }) };
    let boards = 1;
    let { kept = true } = answer;
    for (const { board } of waiting(all(), this.source.pairings)) {
      if (board === first.board) continue;
      const other = await this.source.command(board, { do: action, round });
      if (!other.ok) return { ok: false, note: null, error: `${board}: ${other.error}` };
      boards += 1;
      kept = kept && other.kept !== false;
    }
    return { ok: true, note: fill(go.begun, { round, n: boards }), error: null, kept };
  }

  /** Updates the choice of rounds, and selects the next one if `resets` or if another round has begun. */
  update(resets = false) {
    const { pairings, boards } = this.source;
    if (resets && this.loads) this.readiness.load().then(() => this.update());
    const key = JSON.stringify([pairings.rounds, pairings.round, next(this.source)]);
    const isUsed = document.activeElement === this.round || !this.deed.question.hidden;
    if ((resets || key !== this.key) && !isUsed) {
      this.key = key;
      this.round.replaceChildren(...pairings.rounds.map((number) => make("option", "", { value: number }, `${number}`)));
      const chosen = next(this.source);
      if (chosen !== null) this.round.value = chosen;
    }
    const { go } = words.setup;
    const label = this.round.value ? fill(go.begin, { round: this.round.value }) : go.beginNone;
    this.deed.label(label);
    this.deed.about.label = label;
    this.deed.button.disabled = !pairings.rounds.length || !boards.size;
    this.describe();
  }

  /** Shows the round that has begun, and what is not in order before the next one. */
  describe() {
    const { pairings, rounds } = this.source;
    const { go } = words.setup;
    const all = [...this.source.boards.values()];
    const begun = rounds.get(pairings.round)?.begun ?? null;
    const further = next(this.source);
    const isLast = begun !== null && further === pairings.round;
    this.begun.hidden = begun === null;
    if (begun !== null) {
      const then = isLast ? go.afterLast : fill(go.after, { next: further });
      say(this.begun, `${fill(go.hasBegun, { round: pairings.round, time: hour(begun) })} ${then}`);
    }
    if (this.isLast !== isLast) {
      this.isLast = isLast;
      // The form stays open if not all boards have begun the round.
      this.form.open = !isLast || this.hasFailed;
      this.fold.hidden = !isLast;
    }
    // Boards in use are not ready for a round, and need not be.
    const isPrepared = begun === null || (!isLast && !all.some(isPlaying));
    const problems = isPrepared ? this.readiness.problems() : {};
    this.problems.update(problems);
    this.summary.hidden = !isPrepared;
    const isReady = !Object.values(problems).some((found) => found === null || found.length);
    const what = Object.values(checked(all, pairings, this.readiness.status)).join("; ");
    const ready = this.isHub ? go.hubReady : fill(go.ready, { checked: what });
    const waits = fill(go.waiting, { n: waiting(all, pairings).length, tables: pairings.tables.length });
    say(this.summary, isReady ? `${ready} ${waits}` : waits);
  }
}
