// Login and session of the desk.

import { compare } from "/page/clock.js";
import { make, say } from "/page/dom.js";
import { fill, words } from "./words.js";

export const HEADERS = { "Kiebitz-Desk": "1" };
/** Commands that only operators may give. */
const OPERATORS = ["set_table", "start_round", "forget"];

/** Sends a request to the server, and compares the server's clock with the browser's. */
export async function ask(address, options = {}) {
  const sent = Date.now();
  const answer = await fetch(address, { cache: "no-store", signal: AbortSignal.timeout(20000), ...options });
  compare(answer.headers.get("date"), sent, Date.now(), answer.headers.get("age"));
  return answer;
}

/** The current session; null if nobody is logged in. */
export async function current() {
  const answer = await ask("/session", { headers: HEADERS });
  if (answer.status === 401) {
    const { first } = await answer.json().catch(() => ({}));
    return first ? { first } : null;
  }
  // The proxy has authenticated a user who is not listed for this desk.
  if (answer.status === 403) return { refused: true };
  if (!answer.ok) throw new TypeError(`session: ${answer.status}`);
  return answer.json();
}

export function logOut() {
  return ask("/session", { method: "DELETE", headers: HEADERS });
}

/** Whether the session's user may give a command. */
export function may(session, command) {
  if (session.role === "operator") return true;
  return session.role === "arbiter" && !OPERATORS.includes(command);
}

/** Logs in at "/session", or creates the first operator at "/first". */
async function logIn(where, said) {
  const answer = await ask(where, {
    method: "POST",
    headers: { ...HEADERS, "Content-Type": "application/json" },
    body: JSON.stringify(said),
  });
  if (answer.ok) return { session: await answer.json() };
  // 429: too many attempts; 503: the server checks other passwords first.
  if (answer.status === 429 || (answer.status === 503 && answer.headers.has("retry-after"))) {
    const seconds = Number(answer.headers.get("retry-after")) || 0;
    return { error: seconds ? fill(words.login.wait, { seconds }) : words.login.later };
  }
  if (answer.status === 401) return { error: said.code === undefined ? words.login.wrong : words.first.wrong };
  const { error } = await answer.json().catch(() => ({}));
  return { error: error ?? fill(words.login.failed, { status: answer.status }) };
}

/** The login form. `welcome` is called with the session. With `isFirst`, it is the form for the first operator. */
export function form(welcome, reason = "", isFirst = false) {
  const field = (name, attributes, help = "") => {
    const input = make("input", "", { name, required: "", autocapitalize: "none", spellcheck: "false", ...attributes });
    const label = make("label", "field", {}, make("span", "", {}, words.login[name] ?? words.first[name]), input);
    if (help) {
      const id = `help-${name}`;
      input.setAttribute("aria-describedby", id);
      label.append(make("small", "", { id }, help));
    }
    return [input, label];
  };
  const [user, userRow] = field("user", { autocomplete: "username" });
  const kind = isFirst ? "new-password" : "current-password";
  const [password, passwordRow] = field("password", { type: "password", autocomplete: kind }, isFirst ? words.first.rule : "");
  const [code, codeRow] = field("code", { autocomplete: "off" }, words.first.log);
  const { title, go: label } = isFirst ? words.first : words.login;
  const go = make("button", "main", { type: "submit" }, label);
  const first = isFirst ? [make("p", "", {}, words.first.how), codeRow] : [];
  const answer = make("p", "answer", { role: "alert" }, reason);
  const element = make("form", "login", {}, make("h1", "", {}, title), ...first, userRow, passwordRow, go, answer);
  const enter = () => {
    const said = { user: user.value.trim(), password: password.value };
    return isFirst ? logIn("/first", { ...said, code: code.value }) : logIn("/session", said);
  };
  element.addEventListener("submit", async (event) => {
    event.preventDefault();
    go.disabled = true;
    say(answer, "");
    const { session, error } = await enter().catch(() => ({ error: words.login.silent }));
    go.disabled = false;
    password.value = "";
    if (session) welcome(session);
    else {
      say(answer, error);
      answer.classList.add("bad");
      (isFirst ? code : password).focus();
    }
  });
  return { element, focus: () => (isFirst ? code : user).focus() };
}
