/** One thread's view of the node in use. The serving thread decides and tells the other threads. */

export interface NodeAddress {
  http: string;
  /** Empty if the node has no WebSocket. */
  ws: string;
}

/** `isAbandoned`: the previous node gives no usable answers, so calls in flight to it fail at once. */
type SelectListener = (at: number, isAbandoned: boolean) => void;

export class SelectedNode {
  readonly addresses: readonly NodeAddress[];
  private selected = 0;
  private readonly listeners = new Set<SelectListener>();

  /** At least one address. */
  constructor(addresses: readonly NodeAddress[]) {
    this.addresses = addresses;
  }

  /** Index of the node in use. */
  get at(): number {
    return this.selected;
  }

  get current(): NodeAddress {
    const address = this.addresses[this.selected];
    if (address === undefined) throw new RangeError(`there is no node ${this.selected}`);
    return address;
  }

  select(at: number, isAbandoned: boolean): void {
    if (at === this.selected) return;
    this.selected = at;
    for (const listener of [...this.listeners]) listener(at, isAbandoned);
  }

  /** Calls the listener after each change. Returns a function that unsubscribes. */
  onSelect(listener: SelectListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
