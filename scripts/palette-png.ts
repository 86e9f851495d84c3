/** A picture of few colours as a PNG with a palette: a third of the bytes of one with three channels. */
import { crc32, deflateSync } from 'node:zlib';

/** Most entries of a palette. */
const COLOURS = 256;
/** How many of them are the commonest colours. */
const COMMONEST = 96;

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** `pixels`: red, green, blue and an ignored alpha of each, row by row. */
export function palettePng(width: number, height: number, pixels: Uint8Array): Buffer {
  const palette = paletteOf(pixels);
  const places = new Map(palette.map((colour, place) => [colour, place]));
  const rows = Buffer.alloc(height * (width + 1)); // each row begins with its filter, 0 for none
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const colour = colourAt(pixels, 4 * (y * width + x));
      let place = places.get(colour);
      if (place === undefined) {
        place = nearest(palette, colour);
        places.set(colour, place);
      }
      rows[y * (width + 1) + 1 + x] = place;
    }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8); // bits of an index, and that indices they are
  const entries = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', entries),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function colourAt(pixels: Uint8Array, at: number): number {
  return ((pixels[at] ?? 0) << 16) | ((pixels[at + 1] ?? 0) << 8) | (pixels[at + 2] ?? 0);
}

/** The commonest colours, and then those that are farthest from all before: the few green pixels of a gain count. */
function paletteOf(pixels: Uint8Array): number[] {
  const counts = new Map<number, number>();
  for (let at = 0; at < pixels.length; at += 4) {
    const colour = colourAt(pixels, at);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const byCount = [...counts].sort(([, a], [, b]) => b - a).map(([colour]) => colour);
  const palette = byCount.slice(0, COMMONEST);
  const rest = byCount
    .slice(COMMONEST)
    .map((colour) => ({ colour, distance: distanceTo(colour, palette[nearest(palette, colour)] ?? 0) }));
  while (palette.length < COLOURS) {
    const farthest = rest.reduce((most, one) => (one.distance > most.distance ? one : most), NONE);
    if (farthest.distance === 0) break;
    palette.push(farthest.colour);
    for (const one of rest) one.distance = Math.min(one.distance, distanceTo(one.colour, farthest.colour));
  }
  return palette;
}

const NONE = { colour: 0, distance: 0 };

function nearest(palette: readonly number[], colour: number): number {
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  for (const [place, entry] of palette.entries()) {
    const distance = distanceTo(entry, colour);
    if (distance < least) [best, least] = [place, distance];
  }
  return best;
}

function distanceTo(a: number, b: number): number {
  const square = (shift: number) => (((a >> shift) & 255) - ((b >> shift) & 255)) ** 2;
  return square(16) + square(8) + square(0);
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
