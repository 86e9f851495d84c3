import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { createLogger, type LogOptions } from '../../src/log/logger.ts';
import { prettyLine } from '../../src/log/pretty.ts';
import { maskUrl, redact, redactNodeText } from '../../src/log/redact.ts';
import { cpuMs } from '../support/cpu-time.ts';
import { PINNED_NODE, ROOT, run, SOURCE_FLAGS } from '../support/daemon/command.ts';
import { tempDir } from '../support/temp-dir.ts';

const KEY = 'atlas_0123456789abcdefghijABCDEFGHIJ01234567';

/** A logger and the lines it has written. */
function collect(options: Partial<LogOptions> = {}) {
  const lines: string[] = [];
  const write = (line: string) => lines.push(line);
  return { log: createLogger({ level: 'info', format: 'json', write, ...options }), lines };
}

test('a line is one JSON object: message first, then level, time and the fields', () => {
  const { log, lines } = collect({ fields: { thread: 'writer' } });
  log.info({ block: 12, note: 'tricky ,"msg":"text' }, 'block indexed');
  assert.equal(lines.length, 1);
  assert.ok(lines[0]?.endsWith('}\n'));
  const record = JSON.parse(lines[0] ?? '');
  assert.deepEqual(Object.keys(record), ['msg', 'level', 'time', 'thread', 'block', 'note']);
  assert.match(record.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(
    { ...record, time: 0 },
    {
      msg: 'block indexed',
      level: 'info',
      time: 0,
      thread: 'writer',
      block: 12,
      note: 'tricky ,"msg":"text',
    },
  );
});

test('levels below the chosen one are left out', () => {
  const { log, lines } = collect({ level: 'warn' });
  log.debug({}, 'a');
  log.info({}, 'b');
  log.warn({}, 'c');
  log.error({}, 'd');
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).msg),
    ['c', 'd'],
  );
});

test('keys and passwords are masked everywhere, even in errors and nested fields', () => {
  const { log, lines } = collect();
  const error = new Error(`bad ${KEY}`, { cause: new Error(`GET /x?api_key=${KEY}`) });
  log.error(
    {
      err: error,
      url: `wss://h/ws?a=1&api_key=other-form&b=2`,
      list: [{ headers: { 'x-api-key': 's3cret' } }],
    },
    KEY,
  );
  log.info(
    { node: 'https://user:pa55@node.example/', key: KEY.slice(0, 30), query: `api%5Fkey=${KEY}` },
    'x',
  );
  const text = lines.join('');
  for (const secret of [KEY, KEY.slice(6, 24), 'other-form', 's3cret', 'pa55']) {
    assert.ok(!text.includes(secret), `${secret} is in ${text}`);
  }
  assert.match(text, /a=1&api_key=\*\*\*&b=2/);
  for (const line of lines) assert.doesNotThrow(() => JSON.parse(line));
});

test('names that only look like keys stay', () => {
  for (const name of [
    'atlas_subscribe',
    'atlas_subscription',
    'atlas_unsubscribe',
    'atlas_index_skipped_logs_total',
  ]) {
    assert.equal(redact(name), name);
  }
});

test('a node’s URL is shown without password, query values and key-like parts of its path', () => {
  assert.equal(maskUrl('http://127.0.0.1:8545'), 'http://127.0.0.1:8545');
  assert.equal(maskUrl('http://h:1/rpc/mainnet/'), 'http://h:1/rpc/mainnet/');
  assert.equal(
    maskUrl('https://u:p@h/v2/abcdef0123456789abcd?k=v&z=1#f'),
    'https://***@h/v2/***?k=***&z=***',
  );
  assert.equal(maskUrl('not a url'), '***');
  assert.equal(maskUrl('http://::1:8545'), 'http://::1:8545');
  assert.equal(maskUrl('http://u:p@127.0.0.1:99999/v2/k?k=v'), 'http://***@127.0.0.1:99999/***');
  for (const url of [
    'http://u:p/w@127.0.0.1:99999',
    'http://u:secret',
    'http://abc:dead',
    'http://u:p w@h:99999',
  ])
    assert.equal(maskUrl(url), '***', url);
});

test('a pretty line has time, level, message and fields; the stack of an error follows', () => {
  const json = JSON.stringify({
    msg: 'fetch failed',
    level: 'warn',
    time: '2026-11-21T08:00:00.123Z',
    block: 7,
    note: 'two words',
    err: { message: 'refused', stack: 'Error: refused\n    at here' },
  });
  const plain = prettyLine(json, { colour: false, clearLine: false });
  assert.match(
    plain,
    /^\d\d:\d\d:00\.123 WARN {2}fetch failed {2}block=7 note="two words" error=refused\n {4}at here\n$/,
  );
  assert.ok(prettyLine(json, { colour: false, clearLine: true }).startsWith('\r\x1b[K'));
  assert.ok(
    prettyLine(json, { colour: true, clearLine: false }).includes('\x1b[33mWARN \x1b[0m fetch failed'),
  );
});

test('a pretty line contains no terminal control characters, whatever a field contains', () => {
  const text = 'a\x1b[2J\x07b\x7f\x9b31m';
  for (const value of [text, `two ${text}`, { [text]: text }]) {
    const json = JSON.stringify({
      msg: 'm',
      level: 'warn',
      time: '2026-11-21T08:00:00.123Z',
      value,
      err: { message: text, stack: `Error: ${text}\n    at ${text}` },
    });
    const line = prettyLine(json, { colour: false, clearLine: false });
    assert.doesNotMatch(line.replaceAll('\n', ''), /\p{Cc}/u);
    assert.equal(line.split('\n').length, 3);
    assert.ok(line.includes('a\\u001b[2J\\u0007b\\u007f\\u009b31m'), line);
  }
});

test('lines of several threads are whole, and none is lost when the process ends at once', async (t) => {
  const thread = `import { createLogger } from '${pathToFileURL(ROOT)}src/log/logger.ts';
    const log = createLogger({ level: 'info', format: 'auto', fields: { thread: process.argv[2] ?? 'main' } });
    for (let i = 0; i < 300; i++) log.info({ i, pad: 'x'.repeat(500) }, 'line');`;
  const main = `import { Worker } from 'node:worker_threads';
    ${thread}
    const url = 'data:text/javascript,' + encodeURIComponent(${JSON.stringify(thread)});
    let left = 2;
    for (const name of ['a', 'b']) 
      new Worker(new URL(url), { argv: [name] }).on('exit', () => --left || process.exit(3));`;
  const flags = [...SOURCE_FLAGS, '--input-type=module', '-e', main];
  const { code, stderr } = await run(t, [PINNED_NODE, ...flags], { cwd: tempDir(t) });
  const records = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(code, 3);
  assert.equal(records.length, 900);
});

test('a log whose file cannot grow takes bounded memory, and goes on when it can be written again', async (t) => {
  const cwd = tempDir(t);
  const script = `
    import { truncateSync } from 'node:fs';
    import { createLogger } from '${pathToFileURL(`${ROOT}src/log/logger.ts`)}';
    const log = createLogger({ level: 'info', format: 'json' });
    for (let i = 0; i < 6_000; i++) log.info({ i, pad: 'x'.repeat(1_000) }, 'filling');
    truncateSync('log');
    for (let i = 0; i < 2; i++) log.info({ pad: 'x'.repeat(2_000) }, 'there is room again');`;
  const limit = 'ulimit -f 2048; exec "$@" 2>>log'; // 1,024-byte units: the fifth and sixth MiB do not fit
  const flags = [...SOURCE_FLAGS, '--input-type=module', '-e', script];
  const { code } = await run(t, ['/bin/bash', '-c', limit, 'bash', PINNED_NODE, ...flags], { cwd });
  assert.equal(code, 0);
  const text = readFileSync(join(cwd, 'log'), 'utf8');
  assert.match(text, /\n\{"msg":"there is room again"[^\n]+\n$/);
  assert.ok(text.length < 1.1 * 1024 ** 2, `${text.length} bytes had waited`);
});

test('in the systemd journal a line is for people, with its level as a priority and without a time', async (t) => {
  const cwd = tempDir(t);
  const script = `
    const { fstatSync } = await import('node:fs');
    const { createLogger } = await import('${pathToFileURL(`${ROOT}src/log/logger.ts`)}');
    const { dev, ino } = fstatSync(2);
    const write = (format, stream) => {
      process.env.JOURNAL_STREAM = stream;
      createLogger({ level: 'debug', format }).warn({ block: 7, err: new Error('lost') }, 'cannot go on');
    };
    write('auto', dev + ':' + ino);
    write('auto', dev + ':' + (ino + 1));
    write('json', dev + ':' + ino);
  `;
  const { stderr } = await run(t, [PINNED_NODE, '--input-type=module', '-e', script], { cwd });
  const lines = stderr.trim().split('\n');
  const firstJson = lines.findIndex((line) => line.startsWith('{'));
  assert.equal(lines[0], '<4>cannot go on  block=7 error=lost');
  assert.ok(firstJson > 1);
  for (const frame of lines.slice(1, firstJson)) assert.match(frame, /^<4> {4}at /);
  assert.equal(lines.slice(firstJson).length, 2);
  for (const line of lines.slice(firstJson)) assert.equal(JSON.parse(line).msg, 'cannot go on');
});

test('masks keys in the text of a node and nothing else', () => {
  const key = 'aB3_dE6-gH9jK2mN5pQ8';
  const masked = [
    [
      `project at https://eth.example/v2/${key} is over its limit`,
      'project at https://eth.example/*** is over its limit',
    ],
    [`see wss://user:${key}@eth.example:8546`, 'see wss://***@eth.example:8546'],
    [`cut: https://eth.example/v2/${key.slice(0, 3)}`, 'cut: https://eth.example/***'],
    [`no route to eth.example/v2/${key}`, 'no route to eth.example/***'],
    [`invalid apikey=${key}`, 'invalid apikey=***'],
    [`{"access_token": "${key}"}`, '{"access_token": "***"}'],
    [`project id: ${key}`, 'project id: ***'],
  ] as const;
  for (const [text, expected] of masked) assert.equal(redactNodeText(text), expected);
  for (const text of [
    `header 0x${'a1'.repeat(32)} not found (-32000)`,
    'eth_x: connect ECONNREFUSED 10.1.2.3:8080; asked http://10.1.2.3:8080',
    'WebSocket to ws://[fd00::1]:8546: closed',
    'reth/v1.1.0-1ba631b/x86_64-unknown-linux-gnu',
    'Geth/v1.17.5-stable-02b73d4e/linux-amd64/go1.25.1',
    'Nethermind/v1.25.4+20b10b35/linux-x64/dotnet8.0.2',
    'unexpected token < at position 12',
  ])
    assert.equal(redactNodeText(text), text);
});

test('masking a text of a node takes time in proportion to its length', () => {
  const parts = [
    'a.',
    'a-',
    '-key',
    'aa.',
    'aa.aa/',
    'a.aa:1/',
    'key=',
    'key ',
    'http://',
    '://a',
    'token"',
    '/',
  ];
  for (const part of parts) {
    for (const start of ['', 'host.example/', 'key=']) {
      const text = start + part.repeat(500_000 / part.length);
      const startedAt = cpuMs();
      redactNodeText(`${text}!`);
      const ms = cpuMs() - startedAt;
      assert.ok(ms < 2_000, `${start}${part}: ${ms.toFixed(0)} ms; quadratic time would take minutes`);
    }
  }
});
