import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';

const CHUNK_BYTES = 1 << 20;
const NEWLINE = 10;

/** The non-empty lines of a file, `.gz` or plain, as bytes without the newline. Copy any line that you keep. */
export async function* readLines(path: string): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  for await (const chunk of readChunks(path)) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const piece = chunk.subarray(start, end);
      const line = rest.length > 0 ? Buffer.concat([...rest, piece]) : piece;
      if (line.length > 0) yield line;
      rest = [];
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}

function readChunks(path: string): AsyncIterable<Buffer> {
  const file = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  if (!path.endsWith('.gz')) return file;
  const plain = createGunzip({ chunkSize: CHUNK_BYTES });
  file.on('error', (error) => plain.destroy(error));
  return file.pipe(plain);
}
