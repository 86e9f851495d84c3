/** An arrow as a drawing: fonts without the character would leave it out. */

const TURNS = { right: 0, down: 90, left: 180, up: 270 } as const;

export function Arrow({ to = 'right' }: { to?: keyof typeof TURNS }) {
  return (
    <svg class="arrow-icon" viewBox="0 0 16 16" width="12" height="12" aria-hidden="true">
      <path d="M2 8h11M9 4l4 4-4 4" transform={`rotate(${TURNS[to]} 8 8)`} />
    </svg>
  );
}
