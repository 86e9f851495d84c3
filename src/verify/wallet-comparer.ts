/** Compares a wallet's row and its packed activity with the sums of its transfers. */
import { ActivityCursor, ActivityFlag, ENTRIES_PER_RUN } from '../store/activity.ts';
import { type AddressKeys, getByAddress, WALLET_BY_ADDRESS } from '../store/address-table.ts';
import { blockOfTransfer } from '../store/chain.ts';
import type { Db, Statement } from '../store/open-database.ts';
import { isNativeKind, TRANSFER_KIND_NAMES } from '../types.ts';
import { describeWallet } from './read-transaction.ts';
import { type ActivityEntry, decodeAmount, type WalletRecount } from './recount.ts';
import type { Check } from './report.ts';

type Row = Record<string, number | null> & { funded: number };
type Bytes = { address: Buffer; native_received: Buffer; native_sent: Buffer; recent: Buffer };

export class WalletComparer {
  private readonly db: Db;
  private readonly row: Statement<[number], Row>;
  private readonly bytes: Statement<[number], Bytes>;
  private readonly runs: Statement<[number], { first_transfer: number; entries: Buffer }>;
  private readonly fundedBy: Statement<[number], number>;
  private readonly listed: Statement<[number, number | null], unknown>;
  private readonly byAddress: Statement<AddressKeys, number>;

  constructor(db: Db) {
    this.db = db;
    this.row = db.prepare(/* sql */ `
      SELECT transfers, transactions, tokens, token_transfers, internal_received, first_transfer, last_transfer,
        first_direct, first_internal, latest_direct, latest_internal, funder, funding, funded
      FROM wallets WHERE id = ?`);
    this.bytes = db.prepare('SELECT address, native_received, native_sent, recent FROM wallets WHERE id = ?');
    this.runs = db.prepare(
      'SELECT first_transfer, entries FROM activity WHERE wallet = ? ORDER BY first_transfer',
    );
    this.fundedBy = db.prepare<[number], number>('SELECT count(*) FROM fundings WHERE funder = ?').pluck();
    this.listed = db.prepare('SELECT 1 FROM fundings WHERE funder = ? AND funding = ?');
    this.byAddress = db.prepare<AddressKeys, number>(`SELECT w.id FROM ${WALLET_BY_ADDRESS}`).pluck();
  }

  /** Reports every difference between a wallet's rows and the recount of all its transfers. */
  compare(recount: WalletRecount, check: Check): void {
    const row = this.row.get(recount.id);
    const bytes = this.bytes.get(recount.id);
    const name = `of ${describeWallet(this.db, recount.id)}`;
    if (row === undefined || bytes === undefined) {
      if (recount.activity.length > 0) check.addDifference(`wallet ${recount.id} has transfers but no row`);
      return;
    }
    const { funded, ...columns } = row;
    for (const [column, expected] of Object.entries(recount.expectedColumns()))
      check.expect(`${column} ${name}`, columns[column] ?? null, expected);
    check.expect(`native_received ${name}`, decodeAmount(bytes.native_received), recount.nativeReceived);
    check.expect(`native_sent ${name}`, decodeAmount(bytes.native_sent), recount.nativeSent);
    check.expect(`funded ${name}`, funded, this.fundedBy.get(recount.id));
    const { funder = null, funding = null } = columns;
    if (funder !== null && this.listed.get(funder, funding) === undefined)
      check.addDifference(`the funding ${name} is not among those of its funder`);
    check.expect(`wallet by address ${name}`, getByAddress(this.byAddress, bytes.address), recount.id);
    const difference = this.activityDifference(recount, bytes.recent, row.first_transfer ?? 0);
    if (difference !== null)
      check.addDifference(`the activity ${name}: ${difference.text}`, difference.block);
  }

  private activityDifference(
    recount: WalletRecount,
    recent: Buffer,
    base: number,
  ): { text: string; block: number | null } | null {
    const lines: string[] = [];
    for (const { first_transfer, entries } of this.runs.iterate(recount.id)) {
      const run = decodeRun(entries, base);
      if (run.length !== ENTRIES_PER_RUN || run[0]?.transfer !== first_transfer)
        return this.atTransfer(first_transfer, `the run at ${first_transfer} holds ${run.length} entries`);
      for (const entry of run) lines.push(formatEntry(entry));
    }
    const last = decodeRun(recent, base);
    const due = recount.activity.length === 0 ? 0 : ((recount.activity.length - 1) % ENTRIES_PER_RUN) + 1;
    if (last.length !== due)
      return { text: `the unfinished run holds ${last.length} entries, must hold ${due}`, block: null };
    for (const entry of last) lines.push(formatEntry(entry));
    for (const [i, entry] of recount.activity.entries()) {
      const expected = formatEntry(entry);
      if (lines[i] !== expected)
        return this.atTransfer(
          entry.transfer,
          `entry ${i + 1} is ${lines[i] ?? 'missing'}, must be ${expected}`,
        );
    }
    return null;
  }

  private atTransfer(transfer: number, text: string): { text: string; block: number | null } {
    return { text, block: blockOfTransfer(this.db, transfer) };
  }
}

function decodeRun(bytes: Uint8Array, base: number): ActivityEntry[] {
  const cursor = new ActivityCursor().open(bytes, base);
  const entries: ActivityEntry[] = [];
  while (cursor.next()) {
    const kind = cursor.flags & ActivityFlag.kindMask;
    const wei = Buffer.from(bytes.subarray(cursor.amountStart, cursor.amountEnd));
    entries.push({
      transfer: cursor.transfer,
      kind,
      out: (cursor.flags & ActivityFlag.out) !== 0,
      in: (cursor.flags & ActivityFlag.in) !== 0,
      zero: (cursor.flags & ActivityFlag.zero) !== 0 && !isNativeKind(kind),
      other: cursor.counterparty,
      wei: isNativeKind(kind) ? decodeAmount(wei) : null,
    });
  }
  return entries;
}

function formatEntry(entry: ActivityEntry): string {
  const direction = `${entry.out ? 'out' : ''}${entry.in ? 'in' : ''}`;
  const amount = entry.wei === null ? (entry.zero ? 'of zero' : '') : `of ${entry.wei} wei`;
  return `${entry.transfer} ${TRANSFER_KIND_NAMES[entry.kind]} ${direction} ${amount} with wallet ${entry.other}`;
}
