/** What a process that runs queries takes of the machine. */

import { execFileSync } from 'node:child_process';
import { fstatSync, openSync, readdirSync, readFileSync, readlinkSync, readSync, statSync } from 'node:fs';

const PAGE_BYTES = 4_096;

/** Resident memory, bytes; 0 once the process has ended. */
export function residentBytes(pid: number): number {
  try {
    if (process.platform === 'linux')
      return Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]) * PAGE_BYTES;
    return Number(execFileSync('/bin/ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) * 1_024;
  } catch {
    return 0;
  }
}

/**
 * Bytes of the nameless files that a process has open in a folder or below: SQLite's temporary files have no names, so
 * only the process's own descriptors lead to them. 0 where the system does not show them.
 */
export function namelessFileBytes(pid: number, folder: string): number {
  if (process.platform !== 'linux') return 0;
  const descriptors = `/proc/${pid}/fd`;
  return namesIn(descriptors).reduce((sum, name) => sum + namelessBytes(`${descriptors}/${name}`, folder), 0);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // the process has ended
  }
}

function namelessBytes(descriptor: string, folder: string): number {
  try {
    const path = readlinkSync(descriptor);
    return path.startsWith(`${folder}/`) && path.endsWith(' (deleted)') ? statSync(descriptor).size : 0;
  } catch {
    return 0; // closed meanwhile
  }
}

/** Offsets in the shared memory of the write-ahead log: the page size and the number of pages in the log. */
const PAGE_SIZE_AT = 14;
const PAGES_AT = 16;
const FRAME_HEADER = 24;

/**
 * Bytes in the write-ahead log of a database, without those of an earlier log that the file still has. 0 without one.
 * Read from the shared memory of the log: a connection would have to take part in it.
 */
export function logBytes(path: string): number {
  const header = Buffer.alloc(20);
  try {
    if (readSync(sharedMemoryOf(path), header, 0, header.length, 0) < header.length) return 0;
  } catch {
    return 0;
  }
  const isBigEndian = header.readUInt32BE(0) < header.readUInt32LE(0);
  const pageBytes = isBigEndian ? header.readUInt16BE(PAGE_SIZE_AT) : header.readUInt16LE(PAGE_SIZE_AT);
  const pages = isBigEndian ? header.readUInt32BE(PAGES_AT) : header.readUInt32LE(PAGES_AT);
  return pages * ((pageBytes === 1 ? 65_536 : pageBytes) + FRAME_HEADER);
}

/** Open descriptors of the shared memory of logs, and the inodes that they lead to. */
const sharedMemory = new Map<string, { file: number; inode: number }>();

/**
 * Never closes one: closing any descriptor of a file drops all locks that this process holds on it. Without those of
 * its own connections, the next process that opens the database would empty the shared memory under them.
 */
function sharedMemoryOf(path: string): number {
  const name = `${path}-shm`;
  const known = sharedMemory.get(name);
  if (known !== undefined && statSync(name).ino === known.inode) return known.file;
  const file = openSync(name, 'r');
  sharedMemory.set(name, { file, inode: fstatSync(file).ino });
  return file;
}
