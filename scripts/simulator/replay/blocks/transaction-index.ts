import type { StoredBlock } from './block.ts';
import type { BlockReader } from './block-reader.ts';
import type { ReplayChain } from './chain.ts';

interface TransactionLocation {
  block: StoredBlock;
  index: number;
  /** Lower case. */
  hash: string;
}

/** Finds transactions by hash. Built on the first lookup. */
export class TransactionIndex {
  private readonly chain: ReplayChain;
  private readonly reader: BlockReader;
  private locations: Map<string, { number: number; index: number }> | null = null;

  constructor(chain: ReplayChain, reader: BlockReader) {
    this.chain = chain;
    this.reader = reader;
    chain.onReplaced = (old, current) => this.replace(old, current);
  }

  /** The location of a transaction in a visible block. */
  find(hash: unknown): TransactionLocation | null {
    const key = String(hash).toLowerCase();
    if (!this.locations) {
      this.locations = new Map();
      this.add(this.chain.from(0));
    }
    const location = this.locations.get(key);
    const block = location && this.chain.byNumber(location.number);
    return block ? { block, index: location.index, hash: key } : null;
  }

  private replace(old: readonly StoredBlock[], current: readonly StoredBlock[]): void {
    for (const block of old) {
      for (const hash of this.hashes(block)) this.locations?.delete(hash);
    }
    this.add(current);
  }

  private add(blocks: readonly StoredBlock[]): void {
    for (const block of blocks) {
      this.hashes(block).forEach((hash, index) => {
        this.locations?.set(hash, { number: block.number, index });
      });
    }
  }

  /** Empty until the index is built, so that blocks need not be parsed for it. */
  private hashes(block: StoredBlock): string[] {
    if (!this.locations) return [];
    return this.reader.transactionHashes(block).map((hash) => hash.toLowerCase());
  }
}
