/** Lists that a proxy puts into an object. */
import { LazyJsonArray } from './projection.ts';
import { isObject } from './text.ts';

/** The only list of an object, such as `{"receipts": [...]}`; any other value as it is. */
export function unwrapList(value: unknown): unknown {
  if (!isObject(value) || value instanceof LazyJsonArray) return value;
  const lists = Object.values(value).filter((each) => Array.isArray(each));
  return lists.length === 1 ? lists[0] : value;
}
