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
