/** Making elements. Whatever is not a node becomes text; there is no way here to turn a string into markup. */

/** @typedef {Node | string | number | null | undefined | false | Child[]} Child */
/** @typedef {Record<string, unknown>} Props attributes; `onclick` and the like are listeners; null and false leave one out, true is an empty one, or "true" where ARIA wants the word */

const SVG = 'http://www.w3.org/2000/svg';

/**
 * An HTML element.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Props} [props]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/**
 * An SVG element.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Props} [props]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function s(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

/**
 * Puts other children in the place of those an element has.
 * @param {Element} element
 * @param {...Child} children
 */
export function replace(element, ...children) {
  element.replaceChildren(...nodes(children));
}

/**
 * Makes the children of an element equal to others and touches only what differs, so that a text which is selected stays
 * so and an alert is not read out again. For content without listeners: those of the others are lost.
 * @param {Element} element
 * @param {...Child} children
 */
export function patch(element, ...children) {
  const others = nodes(children).map((child) => (child instanceof Node ? child : new Text(child)));
  makeEqual(element, others);
}

/**
 * @param {Node} parent
 * @param {Node[]} others
 */
function makeEqual(parent, others) {
  const present = [...parent.childNodes];
  for (const [i, other] of others.entries()) {
    const node = present[i];
    if (node === undefined) parent.appendChild(other);
    else if (node.isEqualNode(other)) continue;
    else if (node.hasChildNodes() && node.cloneNode().isEqualNode(other.cloneNode()))
      makeEqual(node, [...other.childNodes]);
    else parent.replaceChild(other, node);
  }
  for (const node of present.slice(others.length)) parent.removeChild(node);
}

/**
 * The element of the page with this id; throws where the page has none.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no element ${id}`);
  return element;
}

/** The element that holds all that can be used and read at the moment: an open dialog, or else the page. */
export function frontmost() {
  return document.querySelector('dialog[open]') ?? document.body;
}

/**
 * @template {Element} E
 * @param {E} element
 * @param {Props} props
 * @param {Child[]} children
 * @returns {E}
 */
function fill(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else element.setAttribute(name, value === true && !name.startsWith('aria-') ? '' : String(value));
  }
  element.append(...nodes(children));
  return element;
}

/**
 * @param {Child[]} children
 * @returns {(Node | string)[]}
 */
function nodes(children) {
  return children.flatMap((child) => {
    if (Array.isArray(child)) return nodes(child);
    if (child === null || child === undefined || child === false) return [];
    return child instanceof Node ? child : String(child);
  });
}
