/** Who is signed in to the panel. In memory only: a restart signs everybody out. */
import { hash, randomBytes } from 'node:crypto';

/** How long a sign-in lasts, seconds. */
export const SESSION_SECONDS = 12 * 3600;

/** Sessions at the same time; beyond it the oldest ends. */
const MAX_SESSIONS = 100;

const ID_BYTES = 32;

export class AdminSessions {
  private readonly clock: () => number;
  /** End of each session, milliseconds of the clock, by the SHA-256 of its id: the time of a look-up tells nothing. */
  private readonly expiries = new Map<string, number>();

  constructor(clock: () => number) {
    this.clock = clock;
  }

  /** Begins a session; the id is for its holder alone. */
  begin(): string {
    const id = randomBytes(ID_BYTES).toString('base64url');
    this.expiries.set(digest(id), this.clock() + SESSION_SECONDS * 1000);
    if (this.expiries.size > MAX_SESSIONS) this.expiries.delete(this.expiries.keys().next().value ?? '');
    return id;
  }

  isValid(id: string): boolean {
    const end = this.expiries.get(digest(id));
    return end !== undefined && this.clock() < end;
  }

  end(id: string): void {
    this.expiries.delete(digest(id));
  }
}

function digest(id: string): string {
  return hash('sha256', id, 'base64url');
}
