/** The partitions of one table during a session: made as blocks need them, indexed once they are full. */
import type { Partition } from './partitions.ts';
import type { PartitionedTable } from './schema.ts';
import type { Target } from './target.ts';

export class PartitionSet {
  private readonly target: Target;
  private readonly table: PartitionedTable;
  /** Blocks of each partition that the sink makes. */
  private readonly blocks: number;
  private readonly partitions: Partition[];

  private constructor(target: Target, table: PartitionedTable, blocks: number, partitions: Partition[]) {
    this.target = target;
    this.table = table;
    this.blocks = blocks;
    this.partitions = partitions;
  }

  static async read(target: Target, table: PartitionedTable, blocks: number): Promise<PartitionSet> {
    return new PartitionSet(target, table, blocks, await target.partitions(table, blocks));
  }

  /** The lowest block that has a partition, infinity without partitions. */
  get first(): number {
    return Math.min(...this.partitions.map(({ from }) => from));
  }

  /** The partition of a block, created if there is none. */
  async of(block: number): Promise<Partition> {
    const found = this.partitions.find(({ from, to }) => from <= block && block < to);
    if (found !== undefined) return found;
    const from = Math.floor(block / this.blocks) * this.blocks;
    const created = await this.target.addPartition(this.table, this.partitions, from, this.blocks);
    this.partitions.push(created);
    return created;
  }

  /** Builds the missing indexes of all but one that is being filled. */
  async index(except: Partition | null): Promise<void> {
    for (const partition of this.partitions) {
      if (partition.missing.length === 0 || partition === except) continue;
      await this.target.indexPartition(partition);
      partition.missing = [];
    }
  }
}
