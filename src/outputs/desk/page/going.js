// Who is on the way to a board, and the button with which an arbiter says so or takes it back.

import { now } from "/page/clock.js";
import { button, make, mark, say } from "/page/dom.js";
import { told } from "./deed.js";
import { ago, fill, place, words } from "./words.js";

/** The arbiters of some entries, each once and with the earliest time, the first one first. */
function arbiters(going) {
  const first = new Map();
  for (const { by, at } of [...going].sort((one, other) => Date.parse(one.at) - Date.parse(other.at))) {
    if (!first.has(by)) first.set(by, Date.parse(at));
  }
  return first;
}

export class Going {
  /** `attend` is called with a line and whether the user goes there; `user` is the user's name, null if read-only. */
  constructor(attend, user) {
    Object.assign(this, { attend, user, line: null });
    this.who = make("span", "who");
    this.button = button("go", words.going.go, words.going.go, () => this.toggle());
    this.button.hidden = user === null;
    this.answer = make("span", "answer bad", { hidden: "" });
    this.element = make("div", "going", {}, this.who, this.button, this.answer);
  }

  update(line) {
    const isOther = this.line?.key !== line.key;
    this.line = line;
    if (isOther) this.answer.hidden = true;
    this.arbiters = arbiters(line.going);
    this.isMine = this.arbiters.has(this.user);
    const { go, stop, goTo, stopTo } = words.going;
    say(this.button, this.isMine ? stop : go);
    mark(this.button, "aria-label", fill(this.isMine ? stopTo : goTo, { place: place(line) }));
    this.element.classList.toggle("taken", this.arbiters.size > 0);
    this.pass();
  }

  /** Updates the age. */
  pass() {
    const names = [...this.arbiters.keys()].map((by) => (by === this.user ? words.going.me : by));
    const [since = 0] = this.arbiters.values();
    const text = names.length ? fill(words.going.who, { names: names.join(", "), time: ago(since, now()) }) : "";
    say(this.who, text);
    this.element.hidden = this.user === null && !text;
  }

  async toggle() {
    // A disabled button would lose the focus.
    if (this.button.getAttribute("aria-disabled")) return;
    this.button.setAttribute("aria-disabled", "true");
    const answer = await this.attend(this.line, !this.isMine);
    this.button.removeAttribute("aria-disabled");
    this.answer.hidden = answer.ok && answer.kept !== false;
    say(this.answer, told(answer));
  }
}

/** Sends that the user goes to a line, or no longer, for all of its boards. Returns the first refusal, if any. */
export async function attend(source, line, isGoing) {
  const answers = await Promise.all(
    (line.members ?? [line]).map(({ board, incident, game }) =>
      source.command(board, {
        do: "attend",
        ...(incident === null ? {} : { incident }),
        ...(isGoing ? {} : { going: false }),
        ...(game ? { game } : {}),
      }),
    ),
  );
  return answers.find(({ ok }) => !ok) ?? answers.find(({ kept }) => kept === false) ?? answers[0];
}
