/**
 * Name, symbol and decimals as token contracts return them, and the view kind that follows from their answers: the
 * table `token_metadata`. It does not follow from the indexed blocks and is keyed by address, so a rollback leaves it
 * alone.
 */

import { bytesToHex, type Hex, hexToBytes } from '../../lib/hex.ts';
import { TransferKind, type ViewKind } from '../../model/transfer-kind.ts';
import { walletByStoredAddress } from '../addresses.ts';
import { rowChecksum } from '../checksum.ts';
import type { Db, Statement } from '../open-database.ts';
import { ADDRESS_PREFIX_BYTES } from '../schema.ts';

/** A token contract whose metadata is due to be read. */
export interface UnreadToken {
  address: Hex;
  /** Kind of its first transfer. */
  kind: number;
  /** How often it was called before. */
  tries: number;
}

/** What is known of a token that was read before. */
export interface ReadToken {
  kind: number;
  tries: number;
  decimals: number | null;
}

/** The outcome of one call. */
export interface TokenMetadata {
  address: Hex;
  name: string | null;
  symbol: string | null;
  decimals: number | null;
  /** See `shownKind`; absent if this call did not settle it. */
  viewKind?: ViewKind;
  tries: number;
  /** Unix seconds; null when a retry is pointless. */
  retryAt: number | null;
}

type KnownMetadata = Pick<TokenMetadata, 'name' | 'symbol' | 'decimals'> & { viewKind: ViewKind };

interface UnreadRow {
  id: number;
  address: Buffer;
  kind: number;
  read: number;
}

/** Transfers from a token's first one on, of any token, that `logsUnits` reads. */
const FIRST_TRANSFERS = 256;

/** How many tokens may be scanned to find one that was never called. */
const MAX_SCANNED_TOKENS = 1_000;

/** Finds the tokens to call and stores their answers. */
/** Longest time until a retry, seconds. One further away was noted by a clock that was ahead. */
export const LONGEST_RETRY_S = 86_400;

export class TokenMetadataTable {
  private readonly tokensAfter: Statement<[number, number], UnreadRow>;
  /** Retries between two times. */
  private readonly due: Statement<[number, number, number], { address: Buffer; kind: number; tries: number }>;
  private readonly upsert: Statement;
  private readonly ofAddress: Statement<[Uint8Array], ReadToken>;
  private readonly known: Statement<[Uint8Array], KnownMetadata>;
  private readonly unitsBeside: Statement<[Uint8Array], number>;
  /** All tokens up to this id have been called once. */
  private calledUpTo = 0;

  constructor(db: Db) {
    this.tokensAfter = db.prepare(/* sql */ `
      SELECT t.id, c.address, t.kind, m.address IS NOT NULL AS read
      FROM tokens t CROSS JOIN wallets c ON c.id = t.wallet LEFT JOIN token_metadata m ON m.address = c.address
      WHERE t.id > ? ORDER BY t.id LIMIT ?`);
    this.due = db.prepare(/* sql */ `
      SELECT m.address, t.kind, m.tries
      FROM token_metadata m CROSS JOIN addresses a ON a.key IN (substr(m.address, 1, ${ADDRESS_PREFIX_BYTES}),
      m.address)
        CROSS JOIN wallets c ON c.id = a.wallet AND c.address = m.address CROSS JOIN tokens t ON t.wallet = c.id
      WHERE m.retry_at BETWEEN ? AND ? ORDER BY m.retry_at LIMIT ?`);
    this.ofAddress = db.prepare(/* sql */ `
      SELECT t.kind, m.tries, m.decimals
      FROM token_metadata m CROSS JOIN addresses a ON a.key IN (substr(m.address, 1, ${ADDRESS_PREFIX_BYTES}),
      m.address)
        CROSS JOIN wallets c ON c.id = a.wallet AND c.address = m.address CROSS JOIN tokens t ON t.wallet = c.id
      WHERE m.address = ?`);
    this.upsert = db.prepare(/* sql */ `
      REPLACE INTO token_metadata (address, name, symbol, decimals, view_kind, tries, retry_at, checksum)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
    this.known = db.prepare(
      'SELECT name, symbol, decimals, view_kind AS viewKind FROM token_metadata WHERE address = ?',
    );
    this.unitsBeside = db
      .prepare<[Uint8Array], number>(/* sql */ `
        SELECT 1 FROM (SELECT ? AS address) m CROSS JOIN ${walletByStoredAddress('m.address')}
          CROSS JOIN tokens t ON t.wallet = w.id
          CROSS JOIN transfers x ON x.id >= t.first_transfer AND x.id < t.first_transfer + ${FIRST_TRANSFERS}
        WHERE x.token = t.id AND x.kind = ${TransferKind.erc20} LIMIT 1`)
      .pluck();
  }

  /** Tokens never called, in order of appearance, then those due for a retry at `now` (Unix seconds). */
  unread(now: number, limit: number): UnreadToken[] {
    const unread: UnreadToken[] = [];
    for (const { id, address, kind, read } of this.tokensAfter.iterate(this.calledUpTo, MAX_SCANNED_TOKENS)) {
      if (unread.length === limit) break;
      if (read === 0) unread.push({ address: bytesToHex(address), kind, tries: 0 });
      else if (unread.length === 0) this.calledUpTo = id;
    }
    const due = this.due.all(0, now, limit - unread.length);
    const free = limit - unread.length - due.length;
    const ahead = free > 0 ? this.due.all(now + LONGEST_RETRY_S + 1, Number.MAX_SAFE_INTEGER, free) : [];
    return [...unread, ...[...due, ...ahead].map((row) => ({ ...row, address: bytesToHex(row.address) }))];
  }

  /** A token that was read before; undefined for any other contract. */
  read(address: Hex): ReadToken | undefined {
    return this.ofAddress.get(hexToBytes(address));
  }

  /** Whether a token logs ERC-20 transfers soon after its first transfer. */
  logsUnits(address: Hex): boolean {
    return this.unitsBeside.get(hexToBytes(address)) !== undefined;
  }

  /** Stores the outcome. Keeps a known value that the contract did not return this time. */
  save({ address, name, symbol, decimals, viewKind, tries, retryAt }: TokenMetadata): void {
    const key = hexToBytes(address);
    const known = this.known.get(key);
    const row = [
      key,
      name ?? known?.name ?? null,
      symbol ?? known?.symbol ?? null,
      decimals ?? known?.decimals ?? null,
      viewKind === undefined ? (known?.viewKind ?? null) : viewKind,
      tries,
      retryAt,
    ];
    this.upsert.run(...row, rowChecksum(...row));
  }

  /** Ids above `last`, the highest remaining id, may be reassigned to other tokens after a rollback. */
  rollback(last: number): void {
    this.calledUpTo = Math.min(this.calledUpTo, last);
  }
}
