/** Icons in place of words. */

const TURNS = { right: 0, down: 90, left: 180, up: 270 } as const;

/** An arrow as a drawing, because some fonts lack the character. */
export function Arrow({ to = 'right' }: { to?: keyof typeof TURNS }) {
  return (
    <svg class="arrow-icon" viewBox="0 0 16 16" width="12" height="12" aria-hidden="true">
      <path d="M2 8h11M9 4l4 4-4 4" transform={`rotate(${TURNS[to]} 8 8)`} />
    </svg>
  );
}

/** The program's mark, as in mark.svg. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
      <rect width="32" height="32" rx="7" />
      <path d="M8 24 16 7l8 17" />
      <circle cx="16" cy="7.6" r="2.9" />
      <circle cx="8" cy="24" r="2.9" />
      <circle class="third" cx="24" cy="24" r="2.9" />
    </svg>
  );
}
