/**
 * Runs test files in one process, one after another, each as a suite of its name: loading the program's modules takes
 * longer than the tests of most files. A file fails that leaves its process changed for the next one.
 */
import { AsyncResource } from 'node:async_hooks';
import fs, { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';
import timers from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Sockets and threads that a test has closed are gone after this long, also on a busy machine. */
const CLOSE_TIMEOUT_MS = 60_000;

const OPEN = 'open ';
const LISTENERS = 'listeners of ';

/** What tests replace functions of. */
const REPLACEABLE = {
  globalThis,
  performance,
  Date,
  Math,
  process,
  stdout: process.stdout,
  stderr: process.stderr,
  fs,
  timers,
};

// Opened by Node when some module first needs it.
void process.stdin;

const { performance: clock } = globalThis;
const now = clock.now.bind(clock);
const sleep = timers.setTimeout;

setFlagsFromString('--expose-gc');
/** A response whose body a test did not read keeps its connection until it is collected. */
const collectGarbage = runInNewContext('gc');

/**
 * Takes the next file that no other process has taken, until none is left.
 * @param {{ files: string[], folder: string, timeout: number, closeTimeout?: number }} queue the files, relative to the
 *   working folder; where the processes note what they take; limits of a test and of what it leaves open, milliseconds
 */
export async function runQueue({ files, folder, timeout, closeTimeout = CLOSE_TIMEOUT_MS }) {
  for (const [index, file] of files.entries()) {
    if (take(join(folder, String(index)))) await runFile(file, timeout, closeTimeout);
  }
}

/** Whether this process is the first to ask. */
function take(claim) {
  try {
    closeSync(openSync(claim, 'wx'));
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Ends when the file's tests and hooks have ended, whatever their result. */
function runFile(file, timeout, closeTimeout) {
  return describe(file, { timeout }, async () => {
    // Bound to this suite: after an await, its hooks would belong to the root.
    const guard = AsyncResource.bind(() => guardProcess(closeTimeout));
    await import(pathToFileURL(file).href);
    guard();
  });
}

/** Declared after the file's own hooks, so that these have closed what they opened. */
function guardProcess(closeTimeout) {
  let given;
  before(() => {
    given = processState();
  });
  after(async () => {
    const deadline = now() + closeTimeout;
    let changes = differences(given, processState());
    while (changes.length > 0 && now() < deadline) {
      collectGarbage();
      await sleep(10);
      changes = differences(given, processState());
    }
    if (changes.length > 0) throw new Error(`the file left its process changed: ${changes.join('; ')}`);
  });
}

/** @returns {Record<string, unknown>} what a test may change for the files after it, by name */
function processState() {
  // Reads of files end by themselves.
  const open = process.getActiveResourcesInfo().filter((name) => name !== 'FSReqCallback');
  return {
    'the working folder': process.cwd(),
    'the umask': process.umask(),
    'the exit code': process.exitCode,
    ...prefixed(LISTENERS, process.eventNames(), (event) => process.listenerCount(event)),
    ...prefixed('environment variable ', Object.keys(process.env), (name) => process.env[name]),
    ...prefixed(OPEN, new Set(open), (name) => open.filter((other) => other === name).length),
    ...Object.assign({}, ...Object.entries(REPLACEABLE).map(([name, object]) => functionsOf(name, object))),
  };
}

function functionsOf(prefix, object) {
  const owners = [object, Object.getPrototypeOf(object)];
  const properties = Object.assign({}, ...owners.map((owner) => Object.getOwnPropertyDescriptors(owner)));
  const names = Object.keys(properties).filter((name) => typeof properties[name].value === 'function');
  return prefixed(`${prefix}.`, names, (name) => object[name]);
}

function prefixed(prefix, names, read) {
  return Object.fromEntries([...names].map((name) => [prefix + String(name), read(name)]));
}

function differences(given, found) {
  return [...new Set([...Object.keys(given), ...Object.keys(found)])]
    .filter((name) => isChanged(name, given[name], found[name]))
    .map((name) => `${name} was ${String(given[name])}, is ${String(found[name])}`);
}

/** A file may close what it opened while it was loaded, and what others left open, such as idle connections. */
function isChanged(name, given, found) {
  const isCount = name.startsWith(OPEN) || name.startsWith(LISTENERS);
  return isCount ? (found ?? 0) > (given ?? 0) : found !== given;
}
