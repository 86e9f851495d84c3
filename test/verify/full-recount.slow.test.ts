// Own process: its bounds are on the memory of the whole process.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { TransferKind } from '../../src/model/transfer-kind.ts';
import { checkCounters } from '../../src/verify/check-counters.ts';
import { RECOUNT_BYTES, TokenRecount, WalletRecount } from '../../src/verify/recount.ts';
import { Check } from '../../src/verify/report.ts';
import { FILE_SCOPE } from '../../src/verify/scope.ts';
import { address, createIndex } from '../support/index/index-fixture.ts';

test('a full recount reads transfers in passes of bounded memory, and compares every wallet and token', async (t) => {
  const index = createIndex(t);
  const wallets = 400;
  index.append([
    {
      transaction: Array.from({ length: wallets }, (_, i) => ({
        kind: 'erc20' as const,
        from: 'zero',
        to: `wallet ${i}`,
        token: `token ${i}`,
      })),
    },
  ]);
  index.damage(`
    UPDATE wallets SET transactions = 7 WHERE address IN
      (x'${address('wallet 3').slice(2)}', x'${address('wallet 399').slice(2)}');
    UPDATE tokens SET holders = 7 WHERE id = 400`);
  const most = 100; // wallets or tokens per pass
  const bytesPerPass = 2 * most * Math.min(RECOUNT_BYTES.wallet, RECOUNT_BYTES.token);
  let passes = 0;
  let recounted = 0;
  const checks = { wallets: new Check('wallets'), tokens: new Check('tokens') };
  await checkCounters(index.reader(t), checks, FILE_SCOPE, {
    signal: new AbortController().signal,
    onProgress: () => undefined,
    onPass: (ids) => {
      passes++;
      assert.ok(Math.max(ids.wallets.length, ids.tokens.length) <= most, 'no more than fit');
      recounted += ids.wallets.length;
    },
    bytesPerPass,
  });
  assert.ok(passes >= 8, `${passes} passes`);
  assert.equal(recounted, 1 + 2 * wallets, 'the zero address, the wallets and the contracts');
  assert.deepEqual(
    checks.wallets.differences.map(({ text }) => text),
    [3, 399].map((i) => `transactions of ${address(`wallet ${i}`)} is 7 in the index, must be 1`),
  );
  assert.match(
    checks.tokens.differences[0]?.text ?? '',
    /^holders of token 0x\w+ is 7 in the index, must be 1$/,
  );
});

test('a reorg between two passes removes wallets and tokens without a difference', async (t) => {
  const index = createIndex(t);
  const transfers = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => ({
      kind: 'erc20' as const,
      from: 'zero',
      to: `wallet ${from + i}`,
      token: `token ${from + i}`,
    }));
  index.append([{ a: transfers(0, 60) }, { b: transfers(60, 60) }]);
  const checks = { wallets: new Check('wallets'), tokens: new Check('tokens') };
  let passes = 0;
  await checkCounters(index.reader(t), checks, FILE_SCOPE, {
    signal: new AbortController().signal,
    onProgress: () => undefined,
    onPass: () => {
      if (++passes === 2) index.writer.rollback(1);
    },
    bytesPerPass: 100 * RECOUNT_BYTES.wallet,
  });
  assert.ok(passes > 2, `${passes} passes`);
  assert.deepEqual([...checks.wallets.differences, ...checks.tokens.differences], []);
});

test('a recount takes no more memory than a pass allows for it', () => {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  assert.ok(typeof collect === 'function');
  const heap = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const row = (id: number, receiver: number, token: number | null) => ({
    id,
    transaction: id,
    sender: 1,
    receiver,
    kind: token === null ? TransferKind.nativeDirect : TransferKind.erc20,
    token,
    amount: 10n ** 18n,
    tokenNumber: '',
  });
  /**
   * Bytes for each of `count` recounts; of several passes the least, because the first also allocates compiled code.
   */
  const measure = (count: number, make: (id: number) => unknown): number => {
    const passes = [1, 2, 3].map(() => {
      const before = heap();
      const kept = Array.from({ length: count }, (_, i) => make(i + 2));
      const bytes = heap() - before;
      assert.equal(kept.length, count);
      return bytes / count;
    });
    return Math.min(...passes);
  };
  for (const [entries, tokens] of [
    [1, 0],
    [1, 1],
    [20, 5],
    [128, 60],
  ] as const) {
    const bytes = measure(1_000, (id) => {
      const recount = new WalletRecount(id, { wallet: () => null, trades: null });
      for (let i = 0; i < entries; i++) recount.add(row(1_000 + i, id, i < tokens ? i + 1 : null));
      return recount;
    });
    const { wallet, entry, walletToken } = RECOUNT_BYTES;
    const allowed = wallet + entries * entry + tokens * walletToken;
    assert.ok(bytes <= allowed, `a wallet of ${entries} entries: ${Math.round(bytes)} of ${allowed} bytes`);
  }
  for (const holdings of [2, 50, 1_000]) {
    const bytes = measure(1_000, (id) => {
      const recount = new TokenRecount(id, true, null);
      for (let i = 1; i < holdings; i++) recount.add(row(i, 1 + i, id));
      return recount;
    });
    const { token, tokenEntry, holding } = RECOUNT_BYTES;
    const allowed = token + holdings * (tokenEntry + holding);
    assert.ok(bytes <= allowed, `a token of ${holdings} holdings: ${Math.round(bytes)} of ${allowed} bytes`);
  }
});
