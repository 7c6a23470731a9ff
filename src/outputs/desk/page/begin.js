// The form that begins a round on all boards. It names results that are missing in the round before.

import { make } from "/page/dom.js";
import { Deed, field, told } from "./deed.js";
import { waiting } from "./ready.js";
import { sheet } from "./asked.js";
import { without } from "./round.js";
import { count, fill, words } from "./words.js";

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
   * `announce` announces a text to screen readers; `open` returns the number of open steps of the set-up; `done` is called
   * after a round has begun.
   */
  constructor(source, announce, { open = () => 0, done = () => {} }) {
    this.source = source;
    const { go } = words.setup;
    this.round = make("select", "");
    const number = () => Number(this.round.value) || null;
    const lacks = () => incomplete(source, number());
    this.deed = new Deed(
      {
        send: (command) => this.begin(command),
        did: (job) => announce(`${job.label}: ${job.answer.ok ? told(job.answer) : job.answer.error}`),
      },
      {
        label: go.begin,
        tone: "main",
        command: () => (number() ? { do: "start_round", round: number() } : null),
        ask: () => {
          const found = lacks();
          const parts = [found && count(words.round.lacking, found.tables.length, { round: found.round })];
          if (open()) parts.push(fill(go.open, { n: open() }));
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
    this.round.addEventListener("change", () => this.deed.stop());
    const short = field(words.deeds.roundNumber, this.round);
    short.classList.add("short");
    this.element = make("div", "deeds", {}, short, this.deed.element);
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
    const key = JSON.stringify([pairings.rounds, pairings.round, next(this.source)]);
    const isUsed = document.activeElement === this.round || !this.deed.question.hidden;
    if ((resets || key !== this.key) && !isUsed) {
      this.key = key;
      this.round.replaceChildren(...pairings.rounds.map((number) => make("option", "", { value: number }, `${number}`)));
      const chosen = next(this.source);
      if (chosen !== null) this.round.value = chosen;
    }
    this.deed.button.disabled = !pairings.rounds.length || !boards.size;
  }
}
