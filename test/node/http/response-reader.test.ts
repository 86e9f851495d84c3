import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UpstreamError } from '../../../src/lib/errors.ts';
import type { ResponseHead } from '../../../src/node/http/response-head.ts';
import { ResponseReader } from '../../../src/node/http/response-reader.ts';

interface Read {
  status: number;
  body: string;
  /** Whether the body was complete without a closed connection. */
  isWhole: boolean;
  reusable: boolean;
}

/** Reads answers in pieces of this many bytes, until the connection closes. */
function read(text: string, pieceBytes = text.length): Read[] {
  const reader = new ResponseReader();
  const answers: Read[] = [];
  let head: ResponseHead | undefined;
  let body = '';
  let isClosed = false;
  const consumer = {
    begin(received: ResponseHead) {
      head = received;
    },
    write(piece: Buffer) {
      body += piece.toString('latin1');
      return true;
    },
    end(last: Buffer) {
      body += last.toString('latin1');
      assert.ok(head !== undefined, 'a body without a head');
      answers.push({ status: head.status, body, isWhole: !isClosed, reusable: reader.reusable });
      head = undefined;
      body = '';
    },
  };
  for (let at = 0; at < text.length; at += pieceBytes)
    reader.read(Buffer.from(text.slice(at, at + pieceBytes), 'latin1'), consumer);
  isClosed = true;
  reader.finish(consumer);
  return answers;
}

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;

/** Answers and their parsed form. */
const ANSWERS: Record<string, [text: string, expected: Partial<Read>]> = {
  'a length': [`${OK}Content-Length: 5\r\n\r\nhello`, { body: 'hello', reusable: true }],
  'the same length twice': [
    `${OK}Content-Length: 5\r\ncontent-length: 5\r\n\r\nhello`,
    { body: 'hello', reusable: true },
  ],
  'nothing but a head': [`${OK}Content-Length: 0\r\n\r\n`, { body: '', reusable: true }],
  'a connection that is closed after the answer': [
    `${OK}Connection: Close\r\nContent-Length: 5\r\n\r\nhello`,
    { body: 'hello', reusable: false },
  ],
  'HTTP/1.0': ['HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello', { body: 'hello', reusable: false }],
  'HTTP/1.0 that keeps the connection': [
    'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello',
    { body: 'hello', reusable: true },
  ],
  'the end of the connection': [`${OK}\r\nhello`, { body: 'hello', isWhole: false, reusable: false }],
  'no content': ['HTTP/1.1 204 No Content\r\n\r\n', { status: 204, body: '', reusable: true }],
  'an interim answer before the real one': [
    `HTTP/1.1 100 Continue\r\n\r\n${OK}Content-Length: 5\r\n\r\nhello`,
    { body: 'hello', reusable: true },
  ],
  'no coding, said in so many words': [
    `${OK}Content-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello`,
    { body: 'hello', reusable: true },
  ],
  chunks: [`${CHUNKED}5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n`, { body: 'hello world', reusable: true }],
  'chunks beside a length, which then says nothing': [
    `${OK}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    { body: 'hello', reusable: true },
  ],
  'chunks with hex sizes of either case, zeros before them, spaces and extensions': [
    `${CHUNKED}0000000a\r\n0123456789\r\nA \r\n0123456789\r\n1;name="x"\r\n!\r\n00;last\r\n\r\n`,
    { body: '01234567890123456789!', reusable: true },
  ],
  'lines that end without a carriage return': [
    'HTTP/1.1 200 OK\nContent-Length: 5\nX: y\n\nhello',
    { body: 'hello', reusable: true },
  ],
  'lines that end in either way': [
    'HTTP/1.1 200 OK\r\nContent-Length: 5\n\r\nhello',
    { body: 'hello', reusable: true },
  ],
  'a body that looks like the end of a head': [
    'HTTP/1.1 200 OK\nContent-Length: 5\n\n\r\n\r\n!',
    { body: '\r\n\r\n!', reusable: true },
  ],
  'a field over two lines, and a space before a colon': [
    `${OK}X: y\r\n\tContent-Length: 3\r\nContent-Length : 5\r\n\r\nhello`,
    { body: 'hello', reusable: true },
  ],
  'a length that a proxy has joined with itself': [
    `${OK}Content-Length: 5, 5\r\n\r\nhello`,
    { body: 'hello', reusable: true },
  ],
  'an empty line before it': [`\r\n\n${OK}Content-Length: 5\r\n\r\nhello`, { body: 'hello', reusable: true }],
  'a status that says the same as 200': [
    'HTTP/1.1 201 Created\r\nContent-Length: 5\r\n\r\nhello',
    { body: 'hello', reusable: true },
  ],
  'a status of a part, although none was asked for': [
    'HTTP/1.1 206 Partial Content\r\nContent-Length: 5\r\n\r\nhello',
    { body: 'hello', reusable: true },
  ],
  'chunks, said in two fields': [
    `${OK}Transfer-Encoding: identity\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    { body: 'hello', reusable: true },
  ],
  'chunks whose lines end without a carriage return': [
    `${CHUNKED}5\nhello\n0\n\n`,
    { body: 'hello', reusable: true },
  ],
  'chunks and trailers': [
    `${CHUNKED}5\r\nhello\r\n0\r\nExpires: 0\r\nX: y\r\n\r\n`,
    { body: 'hello', reusable: true },
  ],
};

test('an answer is read the same however it is split', () => {
  for (const [name, [text, expected]] of Object.entries(ANSWERS)) {
    const wanted = [{ status: 200, isWhole: true, ...expected }];
    for (let pieceBytes = 1; pieceBytes <= text.length; pieceBytes++)
      assert.deepEqual(read(text, pieceBytes), wanted, `${name}, ${pieceBytes} bytes at a time`);
  }
});

test('bytes after an answer are not part of it, and no other answer may follow', () => {
  for (const text of [`${OK}Content-Length: 5\r\n\r\nhello?`, `${CHUNKED}5\r\nhello\r\n0\r\n\r\n?`])
    assert.deepEqual(read(text), [{ status: 200, body: 'hello', isWhole: true, reusable: false }]);
});

test('a connection carries several answers in turn', () => {
  const reader = new ResponseReader();
  const bodies: string[] = [];
  const consumer = {
    begin() {},
    write: (piece: Buffer) => bodies.push(piece.toString()) > 0,
    end: (last: Buffer) => void bodies.push(last.toString()),
  };
  for (const text of [
    `${CHUNKED}1\r\na\r\n0\r\nX: y\r\n\r\n`,
    `${OK}Content-Length: 1\r\n\r\nb`,
    `${CHUNKED}1\r\nc\r\n0\r\n\r\n`,
  ]) {
    reader.read(Buffer.from(text), consumer);
    assert.equal(reader.reusable, true);
  }
  assert.deepEqual(
    bodies.filter((body) => body !== ''),
    ['a', 'b', 'c'],
  );
});

test('an answer cut by the connection is incomplete', () => {
  for (const text of [
    `${OK}Content-Length: 5\r\n\r\nhell`,
    `${CHUNKED}5\r\nhello\r\n`,
    `${CHUNKED}5\r\nhello\r\n0\r\n`,
    'HTTP/1.1 200 OK\r\nContent-Le',
  ])
    assert.deepEqual(read(text), [], text);
});

test('a coding that is none is none', () => {
  for (const field of [
    'Content-Encoding: utf-8',
    'Content-Encoding: UTF8',
    'Content-Encoding: none',
    'Content-Encoding:',
    'Content-Encoding: identity, identity',
    'Transfer-Encoding: identity',
  ])
    for (const pieceBytes of [1, 1_000])
      assert.deepEqual(
        read(`${OK}${field}\r\nContent-Length: 5\r\n\r\nhello`, pieceBytes),
        read(`${OK}Content-Length: 5\r\n\r\nhello`),
        field,
      );
});

test('anything but HTTP/1.1 in a known coding is refused', () => {
  const refused: [text: string, message: RegExp][] = [
    ['SSH-2.0-OpenSSH_9.6\r\n\r\n', /not a status line/],
    ['HTTP/2 200 OK\r\nContent-Length: 0\r\n\r\n', /not a status line/],
    ['HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n', /not a status line/],
    [`${OK}no colon\r\n\r\n`, /without a colon/],
    [`${OK}no colon\r\nX: y\r\n\r\n`, /without a colon/],
    [`${OK}Content-Length: -1\r\n\r\n`, /Content-Length/],
    [`${OK}Content-Length: 0x5\r\n\r\nhello`, /Content-Length/],
    [`${OK}Content-Length: 99999999999999999\r\n\r\n`, /Content-Length/],
    [`${OK}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`, /Content-Length/],
    [`${OK}Content-Encoding: compress\r\nContent-Length: 5\r\n\r\nhello`, /content coding compress/],
    [`${OK}Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n\r\nhello`, /content coding gzip/],
    [`${OK}Content-Length: 5, 6\r\n\r\nhello`, /Content-Length/],
    [`${OK}Content-Length: \r\n\r\nhello`, /Content-Length/],
    [`${OK}Transfer-Encoding: compress, chunked\r\n\r\n`, /transfer coding compress/],
    [`${OK}Transfer-Encoding: chunked, gzip\r\n\r\n`, /transfer coding chunked, gzip/],
    [`${OK}Content-Encoding: gzip\r\nTransfer-Encoding: gzip, chunked\r\n\r\n`, /transfer coding gzip/],
    [`${CHUNKED}\r\nhello`, /no chunk size/],
    [`${CHUNKED}5hello`, /no chunk size/],
    [`${CHUNKED}5\r\nhello!\r\n0\r\n\r\n`, /no line end after a chunk/],
    [`${CHUNKED}000000005\r\nhello\r\n0\r\n\r\n`, /more than 4 GiB/],
  ];
  for (const [text, message] of refused) {
    const isMalformed = (error: unknown) =>
      error instanceof UpstreamError && error.reason === 'malformed' && message.test(error.message);
    assert.throws(() => read(text), isMalformed, text);
    assert.throws(() => read(text, 1), isMalformed, `${text}, a byte at a time`);
  }
});

test('heads, chunk extensions and trailers are bounded', () => {
  const head = (bytes: number) => {
    const rest = `${OK}Content-Length: 0\r\nX: `;
    return `${rest}${'x'.repeat(bytes - rest.length)}\r\n\r\n`;
  };
  const extension = (bytes: number) => `${CHUNKED}1;${'x'.repeat(bytes)}\r\n!\r\n0\r\n\r\n`;
  const trailer = (bytes: number) => `${CHUNKED}0\r\nX: ${'x'.repeat(bytes)}\r\n\r\n`;
  for (const pieceBytes of [1_000, 1_000_000]) {
    assert.equal(read(head(32 * 1024), pieceBytes).length, 1);
    assert.throws(() => read(head(32 * 1024 + 1), pieceBytes), /a head of over 32768 bytes/);
    for (const text of [extension, trailer]) {
      assert.equal(read(text(4_000), pieceBytes).length, 1);
      assert.throws(() => read(text(4_096), pieceBytes), /a line of more than 4096 bytes/);
    }
  }
});
