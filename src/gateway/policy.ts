/** Decides which JSON-RPC methods a key may call. */

import { ConfigError } from '../lib/errors.ts';
import { settingName } from '../lib/setting-name.ts';
import { NODE_CONTROL_NAMESPACES } from '../model/node-control.ts';
import { KNOWN_METHODS } from './methods.ts';

const NAMESPACES = ['eth', 'net', 'web3'];

/**
 * Methods of those namespaces that are not offered: they use the node's accounts, control its mining, install a filter
 * in it, or need a persistent connection. This server keeps filters itself.
 */
const DENIED = [
  'eth_accounts',
  'eth_requestAccounts',
  'eth_coinbase',
  'eth_resend',
  'eth_mining',
  'eth_getWork',
  'eth_submitWork',
  'eth_submitHashrate',
  'eth_setEtherbase',
  'eth_newPendingTransactionFilter',
  'eth_subscribe',
  'eth_unsubscribe',
];
/** Answered here, under this exact name only: in other capitals it would reach the node. */
const PENDING_FILTER = 'eth_newPendingTransactionFilter';
/** In lower case, because a node may accept names in any case. */
const DENIED_METHODS = new Set(DENIED.map((method) => method.toLowerCase()));
/** Exact names by lower case. On a node that accepts any case, another spelling would bypass the handling of a name. */
const EXACT_NAMES = new Map([...KNOWN_METHODS].map((method) => [method.toLowerCase(), method]));
/** Includes variants, such as anvil's eth_sendTransactionSync. */
const SIGNING = /^eth_(sign|send(unsigned)?transaction)/;

/**
 * `debug_*` allows the methods that read the chain. Others rewind the head or delete blocks (geth, Nethermind, Besu),
 * access files on the node's machine, or change its profiler and memory limits.
 */
const DEBUG_READING = [
  /^debug_(account|code|db(Get|Ancient)|dump|executionWitness|get|intermediateRoots)/,
  /^debug_(preimage|printBlock|simulate|stateRoot|storageRangeAt|trace)/,
];
/** Exceptions, in any case, because a node may accept names in any case. */
const DEBUG_OTHER = /^debug_(getConfigValue|traceBlockFromFile)/i;

interface PolicyOptions {
  /** Methods or `namespace_*` offered in addition to the default ones (`rpc.allow`). */
  allow: readonly string[];
  /** Also permits `anvil_*`, for a development chain. */
  development?: boolean;
}

/** A predicate for the permitted methods. Throws ConfigError when `allow` names a method that is never permitted. */
export function methodPolicy({ allow, development = false }: PolicyOptions): (method: string) => boolean {
  const never = NODE_CONTROL_NAMESPACES.filter((namespace) => !(development && namespace === 'anvil'));
  const extra = new Set<string>();
  const extraNamespaces = new Set<string>();
  for (const entry of allow) {
    const namespace = namespaceOf(entry);
    if (namespace === '' || never.includes(namespace.toLowerCase())) {
      throw new ConfigError(
        `${settingName('rpc.allow')}: "${entry}" cannot be offered; name a method such as debug_traceCall, or trace_*`,
      );
    }
    if (entry.endsWith('_*')) extraNamespaces.add(namespace);
    else extra.add(entry);
  }
  return (method) => {
    if (method === PENDING_FILTER || extra.has(method)) return true;
    const namespace = namespaceOf(method);
    const name = method.toLowerCase();
    if ((EXACT_NAMES.get(name) ?? method) !== method) return false;
    if (extraNamespaces.has(namespace)) return namespace !== 'debug' || isReading(method);
    if (!NAMESPACES.includes(namespace)) return false;
    return !DENIED_METHODS.has(name) && !SIGNING.test(name);
  };
}

/** The part before the first underscore, empty without one. */
function namespaceOf(method: string): string {
  return method.slice(0, Math.max(0, method.indexOf('_')));
}

function isReading(debugMethod: string): boolean {
  return DEBUG_READING.some((form) => form.test(debugMethod)) && !DEBUG_OTHER.test(debugMethod);
}
