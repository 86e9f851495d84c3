/** Where the visitor is in a view: at the section that the address names, or, back in its history, where they were. */

/** What a visitor does that ends the holding on to a place, and how long it goes on: a scroll bar tells of nothing. */
const ACTIONS = ['wheel', 'pointerdown', 'keydown'];
const HOLD_MS = 10_000;

/** A browser refuses more than 100 in half a minute. */
const KEEP_MS = 350;

/** @typedef {{ part: string, top: number }} Place the part at the top of the window, and how far from it */

/** @param {HTMLElement} main */
export function scrollPlace(main) {
  let holding = new AbortController();
  let timer = 0;

  const keep = () => {
    const part = [...main.querySelectorAll('.part')].findLast((one) => one.getBoundingClientRect().top < 100);
    /** @type {Place | null} */
    const place = part === undefined ? null : { part: part.id, top: part.getBoundingClientRect().top };
    history.replaceState(place, '');
  };
  history.scrollRestoration = 'manual'; // the browser would scroll before the parts are there
  addEventListener('scroll', () => {
    clearTimeout(timer);
    timer = setTimeout(keep, KEEP_MS);
  });

  return {
    /**
     * Holds on to the place also while parts above it come and grow, until the visitor goes elsewhere.
     * @param {string} section that the address names, or empty
     */
    show(section) {
      this.leave();
      /** @type {Place | null} */
      const place = history.state;
      const element = document.getElementById(place?.part ?? section);
      if (element === null) return;
      const go = () => {
        if (place === null) element.scrollIntoView();
        else scrollBy(0, element.getBoundingClientRect().top - place.top);
      };
      go();
      const held = new AbortController();
      holding = held;
      const observer = new ResizeObserver(go);
      observer.observe(main);
      held.signal.addEventListener('abort', () => observer.disconnect());
      for (const action of ACTIONS) addEventListener(action, () => held.abort(), { signal: held.signal });
      setTimeout(() => held.abort(), HOLD_MS);
    },
    /** The view goes: what is still to be kept is of another one. */
    leave() {
      holding.abort();
      clearTimeout(timer);
    },
  };
}
