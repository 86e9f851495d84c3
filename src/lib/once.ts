/** Makes a function that calls `action` the first time only: what is counted must not be released twice. */
export function once(action: () => void): () => void {
  let called = false;
  return () => {
    if (called) return;
    called = true;
    action();
  };
}
