/** The senders and receivers that the index has of a block's transactions. */
import type { Db } from '../open-database.ts';
import {
  PARTY_ROLES,
  type PackedPair,
  type PackedParty,
  PartiesCursor,
  PartyRole,
} from '../packed-parties.ts';
import { idList } from './id-list.ts';
import type { StoredTransfer } from './transfers.ts';

/** Reads the parties of blocks, by block number; of those of which the index has some. */
export function prepareBlockParties(db: Db): (blocks: readonly number[]) => Map<number, BlockParties> {
  const statement = db.prepare<[string], { number: number; hash: Buffer; parties: Buffer; before: number }>(
    /* sql */ `
    SELECT p.number, b.hash, p.parties,
      ifnull((SELECT last_transfer FROM blocks WHERE number = p.number - 1), 0) AS before
    FROM json_each(?) list CROSS JOIN block_parties p ON p.number = list.value
      CROSS JOIN blocks b ON b.number = p.number`,
  );
  return (blocks) => {
    const rows = statement.all(idList(blocks));
    return new Map(
      rows.map(({ number, hash, parties, before }) => [
        number,
        new BlockParties(hash.toString('hex'), parties, before + 1),
      ]),
    );
  };
}

/** The parties of a block's transactions; cheapest if they are asked for in chain order. */
export class BlockParties {
  /** 64 hex digits. */
  readonly blockHash: string;
  private readonly packed: Uint8Array;
  private readonly firstTransfer: number;
  private cursor: PartiesCursor;

  constructor(blockHash: string, packed: Uint8Array, firstTransfer: number) {
    this.blockHash = blockHash;
    this.packed = packed;
    this.firstTransfer = firstTransfer;
    this.cursor = new PartiesCursor(packed);
  }

  /** The parties of the transaction that begins with a transfer; null if unknown. */
  of(transfer: number): PackedPair | null {
    const wanted = transfer - this.firstTransfer;
    if (this.cursor.first > wanted) this.cursor = new PartiesCursor(this.packed);
    const { cursor } = this;
    while (cursor.first < wanted || cursor.count === 0) if (!cursor.next()) return null;
    return cursor.first === wanted ? cursor.parties() : null;
  }
}

/** What the places, wallets and tokens of a pair mean. */
export interface PartyAddresses {
  /** Transfer `i` of the transaction; undefined if it has fewer. `token` is 0 for the native coin. */
  transferAt(i: number): Pick<StoredTransfer, 'sender' | 'receiver' | 'token'> | undefined;
  /** Addresses, 40 lower-case hex digits. */
  walletAddress(wallet: number): string;
  contractOf(token: number): string;
}

/** Addresses of 40 lower-case hex digits; for a contract creation, `to` is the created contract. */
export interface Parties {
  from: string;
  to: string;
}

/** The wallets that a pair names by id, and by those of its places that `transferAt` knows. */
export function walletsOfPair(
  { from, to }: PackedPair,
  transferAt: PartyAddresses['transferAt'] = () => undefined,
): number[] {
  return [from, to].flatMap((party) => {
    const named = namedBy(party, transferAt);
    return named !== null && 'wallet' in named ? [named.wallet] : [];
  });
}

/** Null if they are damaged. */
export function addressesOfPair({ from, to }: PackedPair, addresses: PartyAddresses): Parties | null {
  const [sender, receiver] = [addressOf(from, addresses), addressOf(to, addresses)];
  return sender === null || receiver === null ? null : { from: sender, to: receiver };
}

function addressOf(
  party: PackedParty,
  { transferAt, walletAddress, contractOf }: PartyAddresses,
): string | null {
  const named = namedBy(party, transferAt);
  if (named === null) return null;
  if ('address' in named) return named.address;
  if ('wallet' in named) return walletAddress(named.wallet);
  return named.token === 0 ? null : contractOf(named.token);
}

/** What a party is; null if its place is unknown. */
function namedBy(
  party: PackedParty,
  transferAt: PartyAddresses['transferAt'],
): { wallet: number } | { token: number } | { address: string } | null {
  if (!('place' in party)) return party;
  const transfer = transferAt(Math.floor(party.place / PARTY_ROLES));
  if (transfer === undefined) return null;
  const role = party.place % PARTY_ROLES;
  if (role === PartyRole.token) return { token: transfer.token };
  return { wallet: role === PartyRole.sender ? transfer.sender : transfer.receiver };
}
