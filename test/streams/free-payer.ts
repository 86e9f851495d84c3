/** A key whose replays cost nothing. */
import type { Payer } from '../../src/streams/subscription.ts';

export const FREE: Payer = { key: 1, charge: () => null };
