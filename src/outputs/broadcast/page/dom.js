// Helpers for creating and updating elements. External strings are always inserted as text, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

/** Creates an element with a class, attributes, and texts or elements as children. */
export function make(tag, className, attributes = {}, ...inside) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...inside);
  return element;
}

/** Creates an SVG element. */
export function draw(tag, attributes = {}, ...inside) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...inside);
  return element;
}

/** Creates a button. `label` is its name for screen readers and its tooltip, if it differs from `shown`. */
export function button(className, label, shown, act) {
  const element = make("button", className, { type: "button" }, shown);
  if (label !== shown) {
    element.setAttribute("aria-label", label);
    element.title = label;
  }
  element.addEventListener("click", act);
  return element;
}

/** Sets the text of an element if it differs, to avoid needless redraws. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Sets an attribute if it differs. Null removes it. */
export function mark(element, name, value) {
  if (element.getAttribute(name) === value) return;
  if (value === null) element.removeAttribute(name);
  else element.setAttribute(name, value);
}

/** Creates a select element. `choices` are pairs [value, text]. */
export function choose(label, choices, chosen, act) {
  const select = make("select", "", { "aria-label": label });
  for (const [value, text] of choices) {
    const option = make("option", "", { value }, text);
    option.selected = value === chosen;
    select.append(option);
  }
  select.addEventListener("change", () => act(select.value));
  return select;
}

/** Whether the viewer prefers reduced motion. */
export function isCalm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
