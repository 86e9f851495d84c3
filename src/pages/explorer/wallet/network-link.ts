/** The state of a graph in the page's URL: which addresses were expanded, by which role of their neighbours. */

/** What neighbours of an address can be. */
export const NEIGHBOUR_ROLES = ['funder', 'recipient', 'counterparty'] as const;

export type NeighbourRole = (typeof NEIGHBOUR_ROLES)[number];

/** Neighbours that were added to the graph: of an address, in some roles. */
export interface Expansion {
  address: string;
  roles: readonly NeighbourRole[];
}

/** Expansions in a link: more would make it too long for some programs. */
const MOST = 30;

/** Roles by letter. The digits before it are always 40. */
const LETTERS: Record<NeighbourRole, string> = { funder: 'f', recipient: 'r', counterparty: 'c' };

/** The expansions of a URL parameter, in their order. Skips what is none. */
export function expansionsIn(text: string | null): Expansion[] {
  return (text ?? '')
    .split('.')
    .slice(0, MOST)
    .flatMap((part) => {
      const [, digits, letters] = /^([0-9a-f]{40})([frc]{1,3})$/.exec(part) ?? [];
      if (digits === undefined || letters === undefined) return [];
      const roles = NEIGHBOUR_ROLES.filter((role) => letters.includes(LETTERS[role]));
      return [{ address: `0x${digits}`, roles }];
    });
}

/** The parameter for expansions; null for none. */
export function expansionsText(expansions: readonly Expansion[]): string | null {
  const parts = expansions
    .slice(0, MOST)
    .map(({ address, roles }) => address.slice(2) + roles.map((role) => LETTERS[role]).join(''));
  return parts.length === 0 ? null : parts.join('.');
}
