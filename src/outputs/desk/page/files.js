// Pairing files: check, upload and list.

import { button, make, say } from "/page/dom.js";
import { tableName } from "/page/tables.js";
import { Deed } from "./deed.js";
import { byTable } from "./lines.js";
import { HEADERS, ask } from "./session.js";
import { fill, locale, words } from "./words.js";

/** Time in milliseconds after which the boards have the pairings of a stored file, even if nothing changes for them. */
const MAX_READING = 10000;
/** Maximum number of listed findings. */
const LISTED = 50;

/** Makes a file name that the server accepts. Other characters become hyphens. */
function safe(name) {
  const usual = name.normalize("NFC").replace(/[^\p{L}\p{N} ._()-]/gu, "-").replace(/\.{2,}/g, ".");
  return usual.slice(-80).replace(/^[^\p{L}\p{N}]+/u, "");
}

function address(name) {
  return `/pairings/${encodeURIComponent(name)}`;
}

/** Sends a request about files. Returns {ok, told}, with the answer or an {error} in `told`. */
async function request(path, options = {}) {
  try {
    const answer = await ask(path, { headers: HEADERS, ...options });
    const told = await answer.json().catch(() => ({}));
    return { ok: answer.ok, told: answer.ok ? told : { ...told, error: told.error ?? `${answer.status}` } };
  } catch {
    return { ok: false, told: { error: words.login.silent } };
  }
}

/** Lists the findings in a file, with their lines and columns. */
function report(told) {
  const { files } = words.setup;
  // The folder on the server is of no use to the reader.
  const place = ({ file, line, column }) => (line ? fill(files.place, { file: file.split("/").at(-1), line, column }) : "");
  if (told.error) return make("p", "answer bad", {}, [place(told), told.error].filter(Boolean).join(": "));
  const folders = new Set(told.findings.map(({ file }) => file?.slice(0, file.lastIndexOf("/") + 1)).filter(Boolean));
  const bare = (text) => [...folders].reduce((short, folder) => short.replaceAll(folder, ""), text);
  const texts = told.lost ? files.lost : told.findings.length ? files.usable : files.fine;
  const totals = make("p", told.lost ? "" : "answer good", {}, fill(texts, told));
  const listed = told.findings.slice(0, LISTED).map((finding) => {
    const sign = make("b", "", {}, files.severity[finding.severity] ?? finding.severity);
    return make("li", finding.severity, {}, sign, " ", make("span", "facts", {}, place(finding)), " ", bare(finding.text));
  });
  if (told.findings.length > LISTED) listed.push(make("li", "", {}, fill(files.more, { n: told.findings.length - LISTED })));
  return make("div", "report", {}, totals, make("ul", "findings", {}, ...listed));
}

/** Maximum number of listed changes. */
const CHANGES = 100;

/** Describes a change of the pairings. */
function described(change) {
  const { changed: texts, none } = words.setup.files;
  const unknown = change.kind === "time_control" ? none : words.nobody;
  const known = Object.entries(change).map(([name, value]) => [name, value ?? unknown]);
  return fill(texts[change.kind] ?? change.kind, Object.fromEntries(known));
}

/** Lists the changes of the pairings in use, by round. `more` is the number of those that the desk has left out. */
function listed(changes, more) {
  const { files } = words.setup;
  if (!changes.length) return [make("p", "", {}, files.same)];
  const shown = changes.slice(0, CHANGES).map((change) => make("li", "", {}, described(change)));
  const hidden = Math.max(changes.length - CHANGES, 0) + more;
  if (hidden) shown.push(make("li", "", {}, fill(files.more, { n: hidden })));
  return [make("h4", "", {}, files.changes), make("ul", "changes", { tabindex: "0", "aria-label": files.changes }, ...shown)];
}

export class Files {
  /** `say` announces a text to screen readers; `changed` is called when the list of files was loaded. */
  constructor({ say: announce, changed }) {
    Object.assign(this, { announce, changed });
    const { files } = words.setup;
    this.known = null;
    /** Name of a stored file whose pairings the boards do not have yet; else null. */
    this.reading = null;
    const input = make("input", "", { type: "file", accept: ".csv,.tsv,.pgn,.trf,.trfx,.txt" });
    input.addEventListener("change", () => {
      if (input.files[0]) this.look(input.files[0]);
      input.value = "";
    });
    this.drop = make("label", "drop", {}, make("span", "", {}, files.drop), input);
    this.listen();
    this.asked = make("div", "asked", { hidden: "" });
    this.list = make("ul", "files");
    this.said = make("div", "held");
    this.round = make("h4", "");
    this.tables = make("ol", "pairs");
    this.element = make("div", "", {}, make("p", "", {}, files.how), this.drop, this.asked, this.list, this.said, this.round, this.tables);
  }

  listen() {
    const over = (isOver) => (event) => {
      event.preventDefault();
      this.drop.classList.toggle("over", isOver);
    };
    this.drop.addEventListener("dragover", over(true));
    this.drop.addEventListener("dragleave", over(false));
    this.drop.addEventListener("drop", (event) => {
      over(false)(event);
      const [file] = event.dataTransfer.files;
      if (file) this.look(file);
    });
  }

  /** Has the server check a file, and asks whether to use it. */
  async look(file) {
    const { files } = words.setup;
    const name = safe(file.name);
    this.asked.hidden = false;
    this.asked.replaceChildren(make("p", "", {}, fill(files.looking, { name })));
    const { ok, told } = await request(`${address(name)}?check`, { method: "PUT", body: file });
    const close = () => {
      this.asked.hidden = true;
      this.drop.querySelector("input").focus();
    };
    const no = button("", files.leave, ok ? files.leave : files.close, close);
    const title = make("h4", "", { tabindex: "-1" }, name);
    const buttons = make("div", "buttons", {}, no);
    if (ok) {
      const yes = button("main", files.keep, files.keep, async () => {
        yes.disabled = true;
        await this.keep(name, file);
      });
      buttons.prepend(yes);
    }
    this.asked.replaceChildren(title, report(told), ...(ok ? listed(told.changes ?? [], told.more_changes ?? 0) : []), buttons);
    title.focus();
  }

  async keep(name, file) {
    const { files } = words.setup;
    const { ok, told } = await request(address(name), { method: "PUT", body: file });
    if (ok && (told.changes?.length || told.more_changes)) this.reads(name);
    else this.answer(ok ? fill(files.kept, { name }) : told.error, ok ? "good" : "bad");
    await this.load();
  }

  answer(text, how) {
    this.asked.replaceChildren(make("p", `answer ${how}`, {}, text));
    this.announce(text);
  }

  /** Shows that the file is being read, until its pairings arrive. */
  reads(name) {
    clearTimeout(this.later);
    this.reading = name;
    this.answer(fill(words.setup.files.reading, { name }), "");
    this.later = setTimeout(() => this.arrived(), MAX_READING);
  }

  /** Handles new pairings. */
  arrived() {
    if (this.reading === null) return;
    clearTimeout(this.later);
    const name = this.reading;
    this.reading = null;
    this.answer(fill(words.setup.files.kept, { name }), "good");
    this.changed();
  }

  stop() {
    clearTimeout(this.later);
  }

  /** Loads the list of files. */
  async load() {
    const { ok, told } = await request("/pairings");
    if (!ok) {
      say(this.said, told.error);
      return;
    }
    this.known = told;
    const { files } = words.setup;
    const rows = told.files.map(({ name, bytes, changed }) => {
      const link = make("a", "", { href: address(name), download: name }, name);
      const date = changed ? new Date(changed).toLocaleString(locale, { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" }) : "";
      const facts = fill(files.facts, { size: Math.max(1, Math.round(bytes / 1024)), date });
      const remove = new Deed(
        {
          send: async () => {
            const { ok: isDone, told: answer } = await request(address(name), { method: "DELETE" });
            return { ok: isDone, note: null, error: answer.error };
          },
          did: () => {},
        },
        { label: files.remove, command: () => ({}), ask: () => fill(files.removeAsk, { name }), done: () => this.load() },
      );
      remove.button.setAttribute("aria-label", `${files.remove}: ${name}`);
      return make("li", "", {}, link, make("span", "facts", {}, facts), remove.element);
    });
    const configured = told.configured.map((path) => make("li", "", {}, path, make("span", "facts", {}, files.configured)));
    this.list.replaceChildren(...rows, ...configured);
    const isAny = rows.length + configured.length > 0;
    this.said.replaceChildren(...(isAny ? [report(told)] : []));
    this.changed();
  }

  /** Shows the tables of the round, with the boards on them. */
  update(boards, { round, tables }) {
    const { files } = words.setup;
    const standing = byTable(boards);
    const rows = tables.map(({ table, white, black }) => [table, white, black, (standing.get(table) ?? []).map(({ board }) => board)]);
    const key = JSON.stringify([round, rows]);
    if (key === this.shown) return;
    this.shown = key;
    this.round.hidden = !rows.length;
    say(this.round, fill(files.round, { round }));
    this.tables.replaceChildren(
      ...rows.map(([table, white, black, there]) => {
        const board = make("span", there.length === 1 ? "facts" : "chip warn", {}, there.join(", ") || files.noBoard);
        return make("li", "", {}, make("b", "", {}, tableName(table)), make("span", "", {}, `${white ?? words.nobody} – ${black ?? words.nobody}`), board);
      }),
    );
  }
}
