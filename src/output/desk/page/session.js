// Who sits at the desk.

import { compare } from "/page/clock.js";
import { make, say } from "/page/dom.js";
import { fill, words } from "./words.js";

export const HEADERS = { "Kiebitz-Desk": "1" };
/** What only an operator may do. */
const OPERATORS = ["set_table", "start_round", "forget"];

/** Asks the server; its clock is compared with ours on the way. */
export async function ask(address, options = {}) {
  const sent = Date.now();
  const answer = await fetch(address, { cache: "no-store", signal: AbortSignal.timeout(20000), ...options });
  compare(answer.headers.get("date"), sent, Date.now(), answer.headers.get("age"));
  return answer;
}

/** Who is logged in; null: nobody. */
export async function current() {
  const answer = await ask("/session");
  if (answer.status === 401) return null;
  // A proxy has let in somebody who may not work here.
  if (answer.status === 403) return { refused: true };
  if (!answer.ok) throw new TypeError(`session: ${answer.status}`);
  return answer.json();
}

export function logOut() {
  return ask("/session", { method: "DELETE", headers: HEADERS });
}

/** Whether somebody may give a command. */
export function may(session, command) {
  if (session.role === "operator") return true;
  return session.role === "arbiter" && !OPERATORS.includes(command);
}

async function logIn(user, password) {
  const answer = await ask("/session", {
    method: "POST",
    headers: { ...HEADERS, "Content-Type": "application/json" },
    body: JSON.stringify({ user, password }),
  });
  if (answer.ok) return { session: await answer.json() };
  if (answer.status === 429) {
    const seconds = Number(answer.headers.get("retry-after")) || 0;
    return { error: seconds ? fill(words.login.wait, { seconds }) : words.login.later };
  }
  if (answer.status === 401) return { error: words.login.wrong };
  const { error } = await answer.json().catch(() => ({}));
  return { error: error ?? fill(words.login.failed, { status: answer.status }) };
}

/** The form; `welcome` gets who has logged in. */
export function form(welcome, reason = "") {
  const field = (name, attributes) => {
    const input = make("input", "", { name, required: "", autocapitalize: "none", spellcheck: "false", ...attributes });
    return [input, make("label", "field", {}, make("span", "", {}, words.login[name]), input)];
  };
  const [user, userRow] = field("user", { autocomplete: "username" });
  const [password, passwordRow] = field("password", { type: "password", autocomplete: "current-password" });
  const go = make("button", "main", { type: "submit" }, words.login.go);
  const answer = make("p", "answer", { role: "alert" }, reason);
  const element = make("form", "login", {}, make("h1", "", {}, words.login.title), userRow, passwordRow, go, answer);
  element.addEventListener("submit", async (event) => {
    event.preventDefault();
    go.disabled = true;
    say(answer, "");
    const { session, error } = await logIn(user.value.trim(), password.value).catch(() => ({ error: words.login.silent }));
    go.disabled = false;
    password.value = "";
    if (session) welcome(session);
    else {
      say(answer, error);
      answer.classList.add("bad");
      password.focus();
    }
  });
  return { element, focus: () => user.focus() };
}
