/** Whether the root frame of a trace is its transaction: the trace of another one has other internal transfers. */

import { isNone, type JsonObject, readAmount, readStatus } from './read-json.ts';
import { createdContract } from './receipts.ts';
import type { BlockCheck } from './tolerance.ts';
import type { RootFrame } from './traces.ts';

/** Types whose root frame repeats sender, receiver and value. Chains define others as they like. */
const PLAIN_TYPES = /^(?:0x)?0*[0-4]?$/;

/** How a root frame contradicts its transaction or receipt; null if it does not. */
export function rootFrameProblem(
  tx: JsonObject,
  receipt: JsonObject,
  root: RootFrame,
  hash: string,
): { check: BlockCheck; text: string } | null {
  if (isPlainlyRight(tx, receipt, root)) return null;
  if (!PLAIN_TYPES.test(String(tx['type'] ?? ''))) return null;
  const part = differingPart(tx, receipt, root);
  if (part !== null) return { check: 'root_frame', text: `the root frame of ${hash} has another ${part}` };
  if (readStatus(receipt['status']) !== root.failed) return null;
  const [status, frame] = root.failed ? ['succeeded', 'failed'] : ['failed', 'succeeded'];
  return { check: 'status', text: `${hash} ${status} by its receipt and ${frame} by its root frame` };
}

/** Nearly every frame, without reading its values. */
function isPlainlyRight(
  tx: JsonObject,
  receipt: JsonObject,
  { from, to, value, failed }: RootFrame,
): boolean {
  const hasStatus = failed ? receipt['status'] === '0x0' : receipt['status'] === '0x1';
  return hasStatus && to === tx['to'] && from === tx['from'] && value === tx['value'];
}

function differingPart(tx: JsonObject, receipt: JsonObject, root: RootFrame): string | null {
  if (isOtherAddress(root.from, tx['from'])) return 'sender';
  if (isOtherAddress(root.to, createdContract(tx['to'], receipt) ?? tx['to'])) return 'receiver';
  return isOtherAmount(root.value, tx['value']) ? 'value' : null;
}

/** Whether both are given and differ. The frame of a failed creation has no receiver on some nodes. */
function isOtherAddress(a: unknown, b: unknown): boolean {
  if (a === b || isNone(a) || isNone(b)) return false;
  return String(a).toLowerCase() !== String(b).toLowerCase();
}

function isOtherAmount(a: unknown, b: unknown): boolean {
  return (
    a !== b &&
    a !== undefined &&
    a !== null &&
    digitsOf(a, 'frame value') !== digitsOf(b, 'transaction value')
  );
}

function digitsOf(value: unknown, what: string): string {
  return readAmount(value, what).toLowerCase().replace(/^0x0*/, '');
}
