/** The functions, events and errors that are known: those of standards, and those of the operator's ABI files. */
import { LruMap } from '../lib/lru-map.ts';
import { type Declaration, parseDeclaration } from './declaration.ts';
import { type DecodeBudget, type DecodedArg, decodeArgs, decodeEvent } from './decode.ts';
import { KNOWN_ERRORS } from './known/errors.ts';
import { KNOWN_EVENTS } from './known/events.ts';
import { KNOWN_METHODS } from './known/methods.ts';
import { readTable, type SignatureTable } from './known/table.ts';

/** A declaration of the operator, with the selector or topic that it hashes to. */
export interface AddedSignature {
  kind: 'method' | 'event' | 'error';
  hash: string;
  /** As in the tables: `transfer(address to, uint256 value)`. */
  declaration: string;
}

/** What a selector or topic means. */
export interface Decoded {
  name: string;
  /** What is hashed: `transfer(address,uint256)`. */
  signature: string;
  /** Null where the data does not hold them, or holds too much. */
  args: DecodedArg[] | null;
}

/** Most parsed declarations kept. */
const PARSED_KEPT = 512;

/** Digits of a selector, with its prefix. */
const SELECTOR_LENGTH = 10;

export class Signatures {
  private readonly tables: Record<AddedSignature['kind'], SignatureTable>;
  private readonly parsed = new LruMap<string, Declaration>(PARSED_KEPT);

  /** Declarations of the operator come before those of standards. */
  constructor(added: readonly AddedSignature[] = []) {
    this.tables = {
      method: readTable(KNOWN_METHODS),
      event: readTable(KNOWN_EVENTS),
      error: readTable(KNOWN_ERRORS),
    };
    for (const { kind, hash, declaration } of added.toReversed()) {
      const table = this.tables[kind];
      table.set(hash, [declaration, ...(table.get(hash) ?? [])]);
    }
  }

  /** The function of a selector; null if it is unknown. */
  methodOf(selector: string): Pick<Decoded, 'name' | 'signature'> | null {
    const [first] = this.candidates('method', selector);
    return first === undefined ? null : { name: first.name, signature: first.signature };
  }

  /** What a call does; null if its function is unknown. Input is hex in lower case. */
  decodeMethod(input: string, budget?: DecodeBudget): Decoded | null {
    return this.decode('method', input, budget);
  }

  /** What a revert says, from the data that it returned. */
  decodeError(data: string): Decoded | null {
    return this.decode('error', data);
  }

  /** What a log says; null if its event is unknown. Of events with one topic, the one that fits topics and data. */
  decodeEvent(topics: readonly string[], data: string): Decoded | null {
    const candidates = this.candidates('event', topics[0] ?? '');
    return firstThatFits(candidates, (declaration) => decodeEvent(declaration, topics, data.slice(2)));
  }

  private decode(kind: 'method' | 'error', data: string, budget?: DecodeBudget): Decoded | null {
    const candidates = this.candidates(kind, data.slice(0, SELECTOR_LENGTH));
    return firstThatFits(candidates, ({ params }) => decodeArgs(params, data.slice(SELECTOR_LENGTH), budget));
  }

  private candidates(kind: AddedSignature['kind'], hash: string): Declaration[] {
    return (this.tables[kind].get(hash) ?? []).map((text) => {
      const known = this.parsed.get(text);
      if (known !== undefined) return known;
      const declaration = parseDeclaration(text);
      this.parsed.set(text, declaration);
      return declaration;
    });
  }
}

/** The first whose arguments the data holds, else the first; null without any. */
function firstThatFits(
  candidates: readonly Declaration[],
  argsOf: (candidate: Declaration) => DecodedArg[] | null,
): Decoded | null {
  for (const candidate of candidates) {
    const args = argsOf(candidate);
    if (args !== null) return { name: candidate.name, signature: candidate.signature, args };
  }
  const [first] = candidates;
  return first === undefined ? null : { name: first.name, signature: first.signature, args: null };
}
