/** HTTP to the node in use: one client per configured node. A single node uses its client directly. */
import type { SelectedNode } from '../choice/selected-node.ts';
import type { ResponseListener } from './connection.ts';
import type { Exchange } from './exchange.ts';
import { type PostOptions, StreamingHttpClient, type StreamingHttpOptions } from './streaming-client.ts';

/** The subset of StreamingHttpClient that callers use. */
export type NodeHttp = Pick<StreamingHttpClient, 'post' | 'close' | 'origin'>;

export interface NodeHttpOptions extends Omit<StreamingHttpOptions, 'url'> {
  /** The address of one node, or the selection among several. */
  url: string | SelectedNode;
}

export function openNodeHttp({ url, ...options }: NodeHttpOptions): NodeHttp {
  if (typeof url === 'string') return new StreamingHttpClient({ ...options, url });
  const [only, ...others] = url.addresses;
  if (only !== undefined && others.length === 0)
    return new StreamingHttpClient({ ...options, url: only.http });
  return new SwitchingHttpClient(url, options);
}

/** Posts each request to the node in use at that time. */
class SwitchingHttpClient implements NodeHttp {
  private readonly clients: readonly StreamingHttpClient[];
  private readonly unsubscribe: () => void;
  private current: StreamingHttpClient;

  constructor(node: SelectedNode, options: Omit<StreamingHttpOptions, 'url'>) {
    this.clients = node.addresses.map(({ http }) => new StreamingHttpClient({ ...options, url: http }));
    this.current = this.clientAt(node.at);
    this.unsubscribe = node.onSelect((at, isAbandoned) => {
      const before = this.current;
      this.current = this.clientAt(at);
      if (isAbandoned) before.abandon();
    });
  }

  get origin(): string {
    return this.current.origin;
  }

  post(body: string, what: string, listener: ResponseListener, options?: PostOptions): Exchange {
    return this.current.post(body, what, listener, options);
  }

  close(): void {
    this.unsubscribe();
    for (const client of this.clients) client.close();
  }

  private clientAt(at: number): StreamingHttpClient {
    const client = this.clients[at];
    if (client === undefined) throw new RangeError(`there is no node ${at}`);
    return client;
  }
}
