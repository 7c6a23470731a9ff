// The head of the page: the event, the round, and the controls.

import { choose, make, say } from "./dom.js";
import { address } from "./options.js";
import { date, duration, fill, lastName, locale, moment, outcome, points, words } from "./words.js";

/** The title of the browser's tab: a player, a game with its score, or the round. */
export function titleOf(event, round, known, { board, player }) {
  const name = event.name ?? "kiebitz";
  if (player) return `${player} · ${name}`;
  const game = board !== null && known?.games.find(({ table }) => table === board);
  if (game) {
    const score = outcome(game) || "–";
    return `${lastName(game.white.name)} ${score} ${lastName(game.black.name)} · ${name}`;
  }
  const [only, ...others] = known?.head.matches ?? [];
  if (only && !others.length) {
    const [first, second] = only.points.map(points);
    return `${only.teams[0]} ${first} : ${second} ${only.teams[1]} · ${name}`;
  }
  return round ? `${name} · ${words.round} ${round}` : name;
}

export class Head {
  /** `element` is the page's header; `changed` is called with the new value of a control. */
  constructor(element, changed) {
    this.element = element;
    this.changed = changed;
    this.time = make("p", "time");
    /** The page of boards that a projector shows. */
    this.turning = make("p", "turning");
    this.search = make("input", "", { type: "search", "aria-label": words.search, placeholder: words.search });
    this.search.addEventListener("input", () => changed("search", this.search.value));
    this.search.dataset.control = "search";
    /** Height of the part of the head above the search, in CSS pixels. */
    this.above = 0;
  }

  /** Draws the head if something in it has changed. */
  update(state) {
    const { list, round, known, isEmbedded, isProjector } = state;
    const about = list.rounds.find((one) => one.round === round);
    const text = JSON.stringify([list.event, list.rounds, Boolean(list.standings), { ...state, list: 0, known: known?.head }]);
    if (this.shown === text) return;
    this.shown = text;
    const { event } = list;
    const title = make("h1", "", {}, event.name ?? "kiebitz");
    const starts = known?.head.starts;
    const facts = [
      event.site,
      // The time of the start contains the date.
      starts ? fill(words.starts, { time: moment(starts) }) : date(known?.head.date),
      known?.head.time_control,
      about && `${about.games} ${about.games === 1 ? words.oneBoard : words.boards}`,
      about?.live > 0 && `${about.live} ${words.live}`,
      event.restarts && words.restarts,
      event.delay_ms > 0 && fill(words.delayed, { time: duration(event.delay_ms) }),
    ];
    if (isEmbedded) return this.element.replaceChildren(title);
    if (isProjector) {
      const of = make("p", "round", {}, round ? `${words.round} ${round}` : "");
      this.element.replaceChildren(title, of, this.turning, this.time, make("a", "leave", { href: address(round) }, words.leave));
      return this.tick();
    }
    const { activeElement } = document;
    const focused = activeElement?.dataset?.control;
    const rows = [title, make("p", "facts", {}, facts.filter(Boolean).join(" · "))];
    // Without a round, there is nothing to select yet.
    if (list.rounds.length) rows.push(this.tools(state));
    this.element.replaceChildren(...rows);
    if (focused) this.element.querySelector(`[data-control="${focused}"]`)?.focus();
    this.settle();
  }

  /** Measures the part of the head above the search, which a phone scrolls out of sight. */
  settle() {
    if (!this.search.isConnected) return;
    const offset = this.search.getBoundingClientRect().top - this.element.getBoundingClientRect().top;
    this.above = Math.max(0, Math.floor(offset) - 6);
    this.element.style.setProperty("--above", `${this.above}px`);
  }

  /** Draws the time of day on a projector. */
  tick() {
    say(this.time, new Date().toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }));
  }

  tools({ list, round, known, view, shown, team }) {
    const bar = make("nav", "tools", { "aria-label": words.views });
    const control = (name, element) => {
      element.dataset.control = name;
      bar.append(element);
    };
    const choices = list.rounds.map(({ round: one, live }) => [String(one), `${words.round} ${one}${live ? " ●" : ""}`]);
    // A player has games in all rounds.
    if (view !== "player") control("round", choose(words.round, choices, String(round), (value) => (location.hash = address(value, null, view))));
    const views = [null, "results", ...(list.standings ? ["standings"] : [])];
    const tabs = views.map((one) => {
      const link = make("a", "tab", { href: address(round, null, one) }, words[one ?? "grid"]);
      link.dataset.control = `view-${one ?? "grid"}`;
      if (one === view) link.setAttribute("aria-current", "page");
      return link;
    });
    bar.append(make("span", "tabs", {}, ...tabs));
    if (view === "player") return bar;
    if (!view) {
      const filters = [["all", words.all], ["boards", words.withBoard], ["playing", words.playing], ["pinned", words.pinned]];
      control("show", choose(words.show, filters, shown, (value) => this.changed("show", value)));
    }
    const names = new Set(known?.head.matches.flatMap(({ teams }) => teams));
    if (names.size && view !== "standings") {
      const all = [["", words.allTeams], ...[...names].sort().map((one) => [one, one])];
      control("team", choose(words.team, all, team, (value) => this.changed("team", value)));
    }
    control("projector", make("a", "", { href: `${address(round)}?projector` }, words.projector));
    if (round) {
      const long = make("span", "long", {}, words.pgnRound);
      bar.append(make("a", "pgn", { href: `round-${round}/games.pgn` }, long, make("span", "brief", { "aria-hidden": "true" }, "PGN")));
    }
    bar.append(this.search);
    return bar;
  }
}
