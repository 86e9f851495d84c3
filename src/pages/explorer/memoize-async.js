/** Asking once for what several parts of a view need. */

/**
 * A function that runs `ask` at its first call and gives the same answer from then on; a failure is forgotten.
 * @template T
 * @param {() => Promise<T>} ask
 * @returns {() => Promise<T>}
 */
export function memoizeAsync(ask) {
  /** @type {Promise<T> | null} */
  let asked = null;
  return () => {
    asked ??= ask().catch((error) => {
      asked = null;
      throw error;
    });
    return asked;
  };
}
