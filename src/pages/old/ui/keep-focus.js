/** Changing a part of the page under the hands of whoever uses the keyboard. */

const CONTROLS = 'a, button, input, select, summary, [tabindex="0"]';

/**
 * Runs a change of what a place holds. Where the focus was in it, it goes to the control that came in place of the one
 * that had it, or, if there is none, to the section around: lost, it would begin anew at the top of the page.
 * @param {Element} place
 * @param {() => void} change
 */
export function keepFocus(place, change) {
  const { activeElement } = document;
  const held = activeElement !== null && place.contains(activeElement) ? nameOf(activeElement) : null;
  change();
  if (held === null || (activeElement !== null && place.contains(activeElement))) return;
  const heir = [...place.querySelectorAll(CONTROLS)].find((control) => nameOf(control) === held);
  const next = heir ?? place.closest('section');
  if (next instanceof HTMLElement || next instanceof SVGElement) next.focus({ preventScroll: true });
}

/** @param {Element} control */
function nameOf(control) {
  const text = control.getAttribute('aria-label') ?? control.textContent;
  return [control.tagName, control.getAttribute('name'), control.getAttribute('value'), text].join();
}
