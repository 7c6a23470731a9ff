// Elements. Whatever comes from outside goes in as text.

const SVG = "http://www.w3.org/2000/svg";

/** An element with a class, attributes, and texts or elements in it. */
export function make(tag, className, attributes = {}, ...inside) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...inside);
  return element;
}

/** An element of a drawing. */
export function draw(tag, attributes = {}, ...inside) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...inside);
  return element;
}

/** A button that does something. */
export function button(className, label, shown, act) {
  const element = make("button", className, { type: "button" }, shown);
  if (label !== shown) {
    element.setAttribute("aria-label", label);
    element.title = label;
  }
  element.addEventListener("click", act);
  return element;
}

/** Sets a text, unless it is there already: what is not touched is not drawn again. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** The same for an attribute; null takes it away. */
export function mark(element, name, value) {
  if (element.getAttribute(name) === value) return;
  if (value === null) element.removeAttribute(name);
  else element.setAttribute(name, value);
}

/** A choice of one of several: [value, text] each. */
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

/** Whether movement on the screen is unwanted. */
export function isCalm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
