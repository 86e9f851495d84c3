/** Warns beside an address in a list, whose short form looks like that of another. */
import { lookalikeText, type WalletKnowledge } from './suspicion.ts';

/** `known` is null while it loads. */
export function LookalikeNote({ address, known }: { address: string; known: WalletKnowledge | null }) {
  const text = known === null ? null : lookalikeText(address, known);
  return text === null ? null : <small class="suspicion">Caution: {text}</small>;
}
