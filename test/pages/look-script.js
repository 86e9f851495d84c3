// Run inside a page: what is wrong with its look. The value of the last expression is a list of faults.
(() => {
  const faults = [];

  const overflow = document.documentElement.scrollWidth - innerWidth;
  if (overflow > 0) faults.push(`the page is ${overflow} px wider than the window`);

  for (const nav of document.querySelectorAll('nav')) {
    if (nav.scrollWidth > nav.clientWidth) faults.push(`a part of it is out of sight: ${describe(nav)}`);
  }
  for (const element of textElements()) {
    const ratio = contrast(element);
    if (ratio !== null && ratio < minimum(element)) {
      faults.push(`contrast ${ratio.toFixed(2)}: ${describe(element)}`);
    }
  }
  for (const control of document.querySelectorAll('a, button, input, select, summary')) {
    if (!isVisible(control)) continue;
    if (!nameOf(control)) faults.push(`no name: ${describe(control)}`);
  }
  for (const element of document.querySelectorAll('[aria-hidden=""]')) {
    faults.push(`aria-hidden hides nothing without "true": ${describe(element)}`);
  }
  scrollTo(0, 0);
  return faults;

  /** Elements that have text of their own and can be seen. */
  function textElements() {
    return [...document.querySelectorAll('body *')].filter(
      (element) =>
        isVisible(element) &&
        [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== ''),
    );
  }

  function isVisible(element) {
    const { width, height } = element.getBoundingClientRect();
    return (
      width > 2 &&
      height > 2 &&
      element.checkVisibility({ visibilityProperty: true }) &&
      !element.closest('.hidden-text, option, title, .skip')
    );
  }

  /** Null for text that something else covers. */
  function contrast(element) {
    element.scrollIntoView({ block: 'center', inline: 'center' });
    const box = element.getBoundingClientRect();
    const at = [box.left + Math.min(box.width / 2, 20), box.top + box.height / 2];
    const stack = document.elementsFromPoint(...at);
    const own = stack.findIndex((one) => one === element || element.contains(one));
    if (own < 0) return null;
    const text = parse(getComputedStyle(element)[element instanceof SVGElement ? 'fill' : 'color']);
    const ground = stack
      .slice(own)
      .filter((one) => one === element || !element.contains(one))
      .map((one) => paint(one, element))
      .find((color) => color !== null && color[3] > 0.99);
    const [dark, light] = [luminance(text), luminance(ground ?? [255, 255, 255, 1])].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  }

  /** What an element puts behind the text. */
  function paint(element, text) {
    if (element instanceof SVGElement) {
      if (element === text || !/^(rect|circle|path)$/.test(element.tagName)) return null;
      return parse(getComputedStyle(element).fill);
    }
    return parse(getComputedStyle(element).backgroundColor);
  }

  function parse(color) {
    const numbers = color.match(/[\d.]+/g)?.map(Number);
    if (!numbers || !color.startsWith('rgb')) return null;
    return [...numbers.slice(0, 3), numbers[3] ?? 1];
  }

  function luminance([r, g, b]) {
    const [x, y, z] = [r, g, b].map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  }

  /** Large text may have less, and what is disabled is meant to stand back. */
  function minimum(element) {
    if (element.closest(':disabled')) return 0;
    return Number.parseFloat(getComputedStyle(element).fontSize) >= 24 ? 3 : 4.5;
  }

  function nameOf(control) {
    const text =
      control.getAttribute('aria-label') || control.textContent.trim() || control.getAttribute('title');
    return text || control.labels?.[0]?.textContent.trim();
  }

  function describe(element) {
    return `<${element.tagName.toLowerCase()} class="${element.getAttribute('class') ?? ''}"> ${element.textContent.trim().slice(0, 40)}`;
  }
})();
