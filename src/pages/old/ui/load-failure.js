/** Says so when a script of the page could not be loaded: none that needs it runs then. Needs no other itself. */
addEventListener(
  'error',
  ({ target }) => {
    if (!(target instanceof HTMLScriptElement)) return;
    const notice = document.createElement('p');
    notice.className = 'notice bad';
    notice.role = 'alert';
    notice.textContent = 'A part of this page could not be loaded. Reload it to try again.';
    document.querySelector('main')?.replaceChildren(notice);
  },
  { capture: true }, // failures to load do not rise from their element
);
