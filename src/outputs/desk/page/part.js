// Parts of the page whose modules, texts and styles are loaded when they are first opened.

import { button, make, say } from "/page/dom.js";
import { ask } from "./session.js";
import { VERSION } from "./version.js";
import { loadTexts, words } from "./words.js";

const VERSION_FILE = "/desk/version.js";

/** Loaded style sheets, by address. */
const styles = new Map();

/** Loads a style sheet once. The sheets of the diagram precede that of the page, which overrides some of their rules. */
function loadStyle(href) {
  if (!styles.has(href)) {
    const loading = new Promise((done, fail) => {
      const link = make("link", "", { rel: "stylesheet", href });
      link.onload = done;
      link.onerror = () => {
        styles.delete(href);
        link.remove();
        fail(new Error(href));
      };
      if (href.startsWith("/page/")) document.head.querySelector("link[rel=stylesheet]").before(link);
      else document.head.append(link);
    });
    styles.set(href, loading);
  }
  return styles.get(href);
}

const DIAGRAM = ["base", "brown", "cburnett"].map((name) => `/page/chessground/chessground.${name}.css`);

/** Loads a module with its texts and styles. */
async function load(module, { texts = [], styles: sheets = [] }) {
  const [loaded] = await Promise.all([module, ...texts.map(loadTexts), ...sheets.map(loadStyle)]);
  return loaded;
}

/** Functions that load each part, by its name. */
export const PARTS = {
  board: () => load(import("./board.js"), { styles: DIAGRAM }),
  games: () => load(import("./archive.js"), { texts: ["review"], styles: [...DIAGRAM, "/desk/review.css"] }),
  results: () => load(import("./results.js"), { texts: ["sheet"], styles: ["/desk/results.css"] }),
  setup: () => load(import("./setup.js"), { texts: ["setup"], styles: ["/desk/setup.css"] }),
  begin: () => load(import("./begin.js"), { texts: ["setup"], styles: ["/desk/setup.css"] }),
  halls: () => load(import("./halls.js"), {}),
};

/** Whether the server still has the version of the running page. Modules of another version may be incompatible. */
async function isCurrent() {
  const answer = await ask(VERSION_FILE);
  if (!answer.ok) throw new TypeError(`${VERSION_FILE}: ${answer.status}`);
  return (await answer.text()).includes(`"${VERSION}"`);
}

export class Part {
  /**
   * `load` is one of `PARTS`; `build` creates the part from the loaded module. `arrived` is called with this object
   * when the part's element has replaced the notice.
   */
  constructor(load, build, arrived) {
    Object.assign(this, { load, build, arrived });
    /** The part; null until it is loaded. */
    this.it = null;
    this.isShown = false;
    this.hasFailed = false;
    this.text = make("p", "", { role: "status" });
    this.again = button("", words.parts.again, words.parts.again, () => this.open());
    this.place = make("div", "part-place", { hidden: "" }, this.text, this.again);
  }

  /** Shows or hides the notice that the part is being loaded or could not be loaded. Starts to load it if it is shown. */
  show(isShown) {
    const isOpened = isShown && !this.isShown;
    this.isShown = isShown;
    this.place.hidden = !isShown || this.it !== null;
    if (isOpened || (isShown && !this.hasFailed)) this.open();
  }

  /** Loads the part unless it is loaded or being loaded. */
  async open() {
    if (this.it || this.isLoading) return;
    this.isLoading = true;
    this.tell(words.parts.loading, false);
    const { loaded, why, isOther } = await this.fetch();
    this.isLoading = false;
    if (isOther) {
      location.reload();
      return;
    }
    this.hasFailed = !loaded;
    if (!loaded) {
      this.tell(why, true);
      return;
    }
    this.it = this.build(loaded);
    if (this.it.element) this.place.after(this.it.element);
    this.place.hidden = true;
    this.arrived(this);
  }

  /** Returns the module as `loaded`, the error message as `why`, or `isOther` if the page must be reloaded. */
  async fetch() {
    let hasAnswered = false;
    try {
      if (!(await isCurrent())) return { isOther: true };
      hasAnswered = true;
      return { loaded: await this.load() };
    } catch {
      // Browsers may cache the failure of a module until the page is reloaded.
      return { isOther: hasAnswered && this.hasFailed, why: hasAnswered ? words.parts.failed : words.parts.silent };
    }
  }

  tell(text, hasFailed) {
    say(this.text, text);
    this.text.className = hasFailed ? "answer bad" : "quiet";
    this.again.hidden = !hasFailed;
  }
}
