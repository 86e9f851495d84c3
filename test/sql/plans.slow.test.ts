/** Which conditions lead to an index, and that they change no answer. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { type QueryAnswer, SqlSession } from '../../src/sql/session.ts';
import { SHAPES } from '../../src/sql/tables/tables.ts';
import { randomSource } from '../support/chain/random-chain.ts';
import { suiteCleanup } from '../support/cleanup.ts';
import { createIndex } from '../support/index/index-fixture.ts';
import { grow } from '../support/sink/sink.ts';

const LIMITS = { rows: 100_000, bytes: 2 ** 26 };

describe('queries', () => {
  const cleanup = suiteCleanup();
  /** By index, and with every table read whole. */
  let indexed: SqlSession;
  let scanning: SqlSession;
  let wallets: string[];
  let tokens: string[];

  before(() => {
    const fixture = createIndex(cleanup, 1);
    grow(fixture, 40, 1);
    indexed = new SqlSession(fixture.path);
    scanning = new SqlSession(
      fixture.path,
      {},
      SHAPES.map((shape) => ({ ...shape, indexed: {}, ordered: [] })),
    );
    cleanup.after(() => {
      indexed.close();
      scanning.close();
    });
    wallets = texts('SELECT address FROM wallets ORDER BY transfers DESC LIMIT 8');
    tokens = texts('SELECT token_address FROM tokens ORDER BY transfers DESC LIMIT 6');
    for (const token of tokens.slice(0, 2))
      fixture.damage(`INSERT INTO token_metadata (address, symbol, name, tries, checksum)
        VALUES (x'${token.slice(2)}', 'DEMO', 'Demo', 1, 0)`);
  });

  function texts(query: string): string[] {
    return indexed.run(query, LIMITS).rows.map(([value]) => String(value));
  }

  /** How each table of a query is read. */
  function plan(query: string): string {
    const { plan } = indexed.run(query, LIMITS);
    return plan
      .map(
        ({ alias, by, scannedRows }) =>
          `${alias}: ${[...by, ...(scannedRows === null ? [] : ['scan'])].join(', ')}`,
      )
      .join('; ');
  }

  /** The answer, which must be that of the same query without indexes. */
  function same(query: string): QueryAnswer {
    const answer = indexed.run(query, LIMITS);
    const expected = scanning.run(query, LIMITS);
    const sorted = ({ rows }: QueryAnswer) => rows.map((row) => JSON.stringify(row)).sort();
    assert.deepEqual(sorted(answer), sorted(expected), query);
    return answer;
  }

  test('find the transfers of a wallet, on one side or either', () => {
    const [a, b] = wallets;
    const cases: [condition: string, by: string][] = [
      [`from_address = '${a}'`, 'from_address'],
      [`'${a}' = to_address`, 'to_address'],
      [`from_address = '${a}' OR to_address = '${a}'`, 'from_address or to_address'],
      [
        `(t.from_address = '${a}' OR '${a}' = t.to_address) AND amount_real > 0`,
        'from_address or to_address',
      ],
      [`'${a}' IN (from_address, to_address)`, 'from_address or to_address'],
      [`from_address = '${a}' AND to_address = '${b}'`, 'from_address, to_address'],
      [
        `(from_address = '${a}' AND to_address = '${b}') OR (from_address = '${b}' AND to_address = '${a}')`,
        'from_address or to_address',
      ],
      [`from_address IN ('${a}', '${b}')`, 'from_address'],
      [`from_address = '${a}' OR from_address = '${b}'`, 'from_address'],
      [`from_address = '0x${a?.slice(2).toUpperCase()}'`, 'from_address'],
      [`from_address = address('${a?.toUpperCase()}')`, 'from_address'],
      [`from_address IN (SELECT holder_address FROM holders WHERE holder_address = '${a}')`, 'from_address'],
    ];
    for (const [condition, by] of cases) {
      const query = `SELECT id FROM transfers t WHERE ${condition}`;
      assert.match(plan(query), new RegExp(`(^|; )t: ${by}(;|$)`), condition);
      assert.ok(same(query).rows.length > 0, condition);
    }
  });

  test('find the transfers of a token, a transaction, a block and a time', () => {
    const [token] = tokens;
    const [[tx, block, time] = []] = indexed.run(
      'SELECT tx_hash, block_number, block_timestamp FROM transfers ORDER BY id DESC LIMIT 1 OFFSET 100',
      LIMITS,
    ).rows;
    const cases: [condition: string, by: string][] = [
      [`token_address = '${token}'`, 'token_address'],
      [`tx_hash = '${tx}' AND block_number = ${block}`, 'tx_hash, block_number'],
      [`block_number = ${block}`, 'block_number'],
      [`block_number BETWEEN ${Number(block) - 2} AND ${block}`, 'block_number'],
      [`block_number > ${Number(block) - 2} AND ${block} >= block_number`, 'block_number'],
      [`block_timestamp >= '${time}'`, 'block_timestamp'],
      [`block_timestamp >= '${String(time).replace(' ', 'T')}.000Z'`, 'block_timestamp'],
      [`block_timestamp > (SELECT datetime(max(timestamp), '-5 seconds') FROM blocks)`, 'block_timestamp'],
      ['id = 17', 'id'],
      ['id IN (3, 17, 17, 99999999)', 'id'],
    ];
    for (const [condition, by] of cases) {
      const query = `SELECT * FROM transfers t WHERE ${condition}`;
      assert.match(plan(query), new RegExp(`(^|; )t: ${by}(;|$)`), condition);
      assert.ok(same(query).rows.length > 0, condition);
    }
  });

  test('find a token by its symbol, which several may share', () => {
    const froms = ['named_transfers t', 'named_trades t', 'tokens t'];
    for (const from of froms) {
      const column = from === 'tokens t' ? 'symbol' : 'token_symbol';
      for (const [condition, by] of [
        [`${column} = 'DEMO'`, column],
        [`${column} IN ('DEMO', 'none', NULL, 5)`, column],
        [`${column} = 'demo'`, column],
        [`${column} = 'DEMO' AND token_address = '${tokens[1]}'`, `${column}, token_address`],
        [`${column} = (SELECT max(symbol) FROM tokens)`, column],
        [`${column} = 'DEMO' COLLATE NOCASE`, 'scan'],
        [`${column} IS NULL`, 'scan'],
      ] as const) {
        const query = `SELECT * FROM ${from} WHERE ${condition}`;
        assert.match(plan(query), new RegExp(`(^|; )t: ${by}(;|$)`), query);
        same(query);
      }
    }
    const count = (condition: string) =>
      same(`SELECT count(*) FROM named_transfers WHERE ${condition}`).rows[0]?.[0];
    assert.ok(Number(count("token_symbol = 'DEMO'")) > 0);
    assert.equal(count("token_symbol = 'DEMO'"), count(`token_address IN ('${tokens[0]}', '${tokens[1]}')`));
    assert.equal(count("token_symbol = 'demo'"), 0);
    same('SELECT t.id FROM named_transfers t JOIN tokens k ON k.symbol = t.token_symbol WHERE t.id < 90');
    same("SELECT count(*) FROM transfers JOIN tokens USING (token_address) WHERE symbol = 'DEMO'");
    same("SELECT * FROM named_trades WHERE quote_symbol = 'DEMO'");
  });

  test('take lists of any length, also with values that no column has', () => {
    const [a] = wallets;
    const others = Array.from({ length: 20_000 }, (_, i) => `'0xA${i.toString(16).padStart(39, '0')}'`);
    for (const list of [
      others.join(', '),
      `'${a}', ${others.slice(0, 2_000).join(', ')}`,
      `x'00', NULL, 1.5, '${a}'`,
      `SELECT zeroblob(20) UNION ALL SELECT '${a}'`,
    ]) {
      const query = `SELECT count(*) FROM transfers t WHERE from_address IN (${list})`;
      assert.equal(plan(query), 't: from_address');
      const expected = list.includes(`'${a}'`)
        ? `SELECT count(*) FROM transfers WHERE from_address = '${a}'`
        : null;
      assert.deepEqual(
        indexed.run(query, LIMITS).rows,
        expected === null ? [[0]] : indexed.run(expected, LIMITS).rows,
      );
    }
  });

  test('aggregate the transfers of a token in portions, with the same answer and the same names', () => {
    const folded = [
      'count(*)',
      'COUNT(*) AS n, sum_amount(amount) total',
      'sum_amount(t.amount), min(id), max(t.id), min(block_number), max(block_number)',
      'max(id), max(id)',
    ];
    const plain = [
      'count(*) + 1',
      'count(amount)',
      'count(DISTINCT from_address), count(*)',
      'sum_amount(id)',
      'sum_amount(DISTINCT amount)',
      'count(*) FILTER (WHERE id > 9)',
      'min(amount)',
      'max(block_timestamp), count(*)',
      'from_address, count(*)',
    ];
    const wanted = [...tokens, wallets[0], '0x', ''];
    const uses = (results: string, token: string | undefined) =>
      `SELECT ${results} FROM transfers t WHERE token_address = '${token}'`;
    for (const token of wanted)
      for (const results of [...folded, ...plain]) {
        const { columns } = same(uses(results, token));
        assert.deepEqual(columns, scanning.run(uses(results, token), LIMITS).columns);
      }
    for (const query of [
      `SELECT symbol, (SELECT count(*) FROM transfers t WHERE t.token_address = k.token_address) FROM tokens k`,
      `SELECT count(*), max(id) FROM named_transfers WHERE '${tokens[0]}' = token_address`,
      `SELECT count(*) FROM transfers WHERE token_address = '${tokens[0]}' AND id > 50`,
      `SELECT count(*) FROM transfers WHERE token_address = '${tokens[0]}' GROUP BY from_address`,
      `SELECT count(*) FROM transfers WHERE token_address = '${tokens[0]}' HAVING count(*) > 3`,
      `SELECT count(*) FROM transfers WHERE token_address = '${tokens[0]}' UNION ALL SELECT 1`,
      `SELECT count(*) FROM transfers WHERE token_address = '${tokens[0]}' LIMIT 1 OFFSET 1`,
      `SELECT count(*) OVER () FROM transfers WHERE token_address = '${tokens[0]}'`,
      `SELECT count(*) FROM transfers WHERE token_address = from_address`,
      'SELECT count(*), sum_amount(amount), max(id) FROM transfers WHERE token_address = NULL',
      `SELECT count(*) FROM transfers WHERE token_address = (SELECT max(token_address) FROM tokens)`,
      `SELECT sum(n) FROM (SELECT count(*) AS n FROM transfers WHERE token_address IN ('${tokens[1]}'))`,
    ])
      same(query);
  });

  test('read the table whole where a condition may be false for rows that an index leaves out', () => {
    const [a] = wallets;
    for (const condition of [
      `NOT from_address = '${a}'`,
      `from_address <> '${a}'`,
      `from_address = '${a}' OR amount_real > 5`,
      `from_address || '' = '${a}'`,
      `from_address = '${a}' COLLATE NOCASE`,
      `(from_address = '${a}') IS NOT 1`,
      `from_address LIKE '${a}'`,
      `CASE WHEN from_address = '${a}' AND id = 1 THEN 1 ELSE 1 END`,
      `from_address = to_address`,
      `coalesce(from_address = '${a}', 1)`,
      `(from_address, to_address) = ('${a}', '${a}')`,
    ]) {
      assert.match(plan(`SELECT id FROM transfers t WHERE ${condition}`), /t: scan/, condition);
      same(`SELECT id FROM transfers t WHERE ${condition}`);
    }
  });

  test('join by index, whichever table comes first', () => {
    const [token] = tokens;
    const [a] = wallets;
    const cases: [query: string, plan: string][] = [
      [
        `SELECT t.id, k.transfers FROM transfers t JOIN tokens k USING (token_address)
         WHERE token_address = '${token}'`,
        't: token_address; k: token_address',
      ],
      [
        `SELECT t.id FROM transfers t LEFT JOIN tokens k USING (token_address) WHERE t.from_address = '${a}'`,
        't: from_address; k: token_address',
      ],
      [
        `SELECT t.id FROM transfers t, wallets w WHERE t.to_address = w.address AND w.address = '${a}'`,
        't: to_address; w: address',
      ],
      [
        `SELECT w.address, t.id FROM wallets w JOIN fundings f ON f.wallet_address = w.address
         JOIN transfers t ON t.id = f.transfer_id WHERE w.first_funder = '${a}'`,
        'w: first_funder; f: wallet_address; t: id',
      ],
      [
        `SELECT t.id, b.hash FROM blocks b JOIN transfers t ON t.block_number = b.number WHERE b.number > 30`,
        'b: number; t: block_number',
      ],
      [
        `WITH busy AS (SELECT address FROM wallets WHERE transfers > 40)
         SELECT t.id FROM busy JOIN transfers t ON t.from_address = busy.address`,
        'wallets: scan; t: from_address',
      ],
      [
        `SELECT address, (SELECT count(*) FROM transfers t WHERE t.from_address = w.address)
         FROM wallets w WHERE w.address IN ('${a}', '${wallets[1]}')`,
        't: from_address; w: address',
      ],
      [
        `SELECT h.holder_address FROM holders h WHERE h.token_address = '${token}'
         AND EXISTS (SELECT 1 FROM fundings WHERE wallet_address = h.holder_address)`,
        'fundings: wallet_address; h: token_address',
      ],
      [
        `SELECT * FROM transfers a RIGHT JOIN tokens b ON a.token_address = b.token_address`,
        'a: scan; b: scan',
      ],
    ];
    for (const [query, expected] of cases) {
      assert.equal(plan(query), expected, query);
      assert.ok(same(query).rows.length > 0, query);
    }
  });

  test('stop reading at their LIMIT where the order is that of the chain', () => {
    const [a] = wallets;
    const explain = (query: string) =>
      indexed
        .run(`EXPLAIN QUERY PLAN ${query}`, LIMITS)
        .rows.map((row) => row.at(-1))
        .join('; ');
    for (const query of [
      `SELECT * FROM transfers WHERE from_address = '${a}' ORDER BY block_number DESC, id DESC LIMIT 5`,
      `SELECT * FROM transfers t WHERE '${a}' IN (t.from_address, t.to_address) ORDER BY t.id DESC LIMIT 5`,
      'SELECT number FROM blocks ORDER BY number LIMIT 5',
      'SELECT id FROM transfers WHERE block_number > 20 ORDER BY id ASC LIMIT 5',
      'SELECT id FROM transfers ORDER BY id DESC LIMIT 5',
    ]) {
      assert.doesNotMatch(explain(query), /TEMP B-TREE/, query);
      assert.doesNotMatch(plan(query), /scan/, query);
      assert.deepEqual(indexed.run(query, LIMITS).rows, scanning.run(query, LIMITS).rows, query);
    }
    for (const query of [
      'SELECT count(*) FROM transfers LIMIT 5',
      'SELECT DISTINCT token_address FROM transfers LIMIT 5',
      'SELECT id FROM transfers ORDER BY amount_real LIMIT 5',
      'SELECT id FROM transfers WHERE amount_real > 5 LIMIT 5',
    ])
      assert.match(plan(query), /scan/, query);
    assert.equal(plan('SELECT max(number) FROM blocks'), 'blocks: ');
    for (const query of [
      `SELECT id FROM transfers WHERE from_address = '${a}' ORDER BY id LIMIT 5`,
      `SELECT id FROM transfers WHERE from_address IN ('${a}', '${wallets[1]}') ORDER BY id DESC LIMIT 5`,
      'SELECT amount AS id FROM transfers WHERE block_number > 30 ORDER BY id DESC LIMIT 5',
      'SELECT id, row_number() OVER (ORDER BY amount) FROM transfers ORDER BY id DESC LIMIT 5',
      'SELECT id FROM transfers UNION SELECT number FROM blocks ORDER BY id DESC LIMIT 5',
    ]) {
      assert.match(explain(query), /TEMP B-TREE|MERGE/, query);
      assert.deepEqual(indexed.run(query, LIMITS).rows, scanning.run(query, LIMITS).rows, query);
    }
  });

  test('give the same rows as without any index, for conditions at random', () => {
    const random = randomSource(7);
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
    const wallet = () => `'${pick(wallets)}'`;
    const token = () => `'${pick(tokens)}'`;
    const condition = (depth: number): string => {
      if (depth > 0 && random() < 0.5) {
        const [left, right] = [condition(depth - 1), condition(depth - 1)];
        return pick([
          `(${left} AND ${right})`,
          `(${left} OR ${right})`,
          `NOT (${left})`,
          `${left} AND ${right}`,
          `${left} OR ${right}`,
        ]);
      }
      return pick([
        () => `from_address = ${wallet()}`,
        () => `t.to_address = ${wallet()}`,
        () => `${wallet()} IN (t.from_address, to_address)`,
        () => `from_address IN (${wallet()}, ${wallet()})`,
        () => `token_address = ${token()}`,
        () =>
          `token_address IN (SELECT token_address FROM tokens WHERE transfers > ${Math.floor(random() * 60)})`,
        () => `token_address IS NULL`,
        () => `block_number ${pick(['>', '<=', '=', '<>'])} ${Math.floor(random() * 45)}`,
        () => `block_number BETWEEN ${Math.floor(random() * 25)} AND ${Math.floor(random() * 50)}`,
        () => `${Math.floor(random() * 500)} ${pick(['<', '>=', '='])} t.id`,
        () =>
          `block_timestamp ${pick(['<', '>', '<='])} '2023-11-14 22:1${pick([3, 4])}:${pick([1, 3, 5])}0'`,
        () => `transfer_type = 'erc20'`,
        () => `event_index = 0`,
      ])();
    };
    const froms = [
      'transfers t',
      'transfers t LEFT JOIN tokens k USING (token_address)',
      'transfers t JOIN blocks b ON b.number = t.block_number',
      'wallets w JOIN transfers t ON t.to_address = w.address AND w.transfers > 20',
      `blocks b LEFT JOIN transfers t ON t.block_number = b.number AND t.from_address = ${wallet()}`,
      'named_transfers t, wallets w',
    ];
    for (let i = 0; i < 25; i++) {
      const from = pick(froms);
      const joined = from.endsWith('f')
        ? 'w.address = t.from_address AND f.wallet_address = w.address AND '
        : '';
      const inner = pick([
        `EXISTS (SELECT 1 FROM holders h WHERE h.token_address = t.token_address AND h.holder_address = ${wallet()})`,
        'from_address = (SELECT first_funder FROM wallets w WHERE w.address = t.to_address)',
        '(SELECT count(*) FROM fundings WHERE funder_address = t.from_address) > 3',
      ]);
      if (i % 20 === 0) same(`SELECT id FROM transfers t WHERE (${condition(1)}) AND ${inner}`);
      same(`SELECT t.id, t.amount, t.event_index FROM ${from} WHERE ${joined}(${condition(2)})`);
      same(
        `SELECT count(*), sum_amount(t.amount) FROM ${from}
         WHERE ${joined === '' ? condition(1) : `${joined}(${condition(1)})`} ORDER BY t.id DESC`,
      );
    }
  });
});
