/** One keep-alive connection to the node, carrying one exchange at a time. */
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { UpstreamError } from '../../lib/errors.ts';
import { guarded, reportFailure } from '../../lib/guard.ts';
import { CLOSED_UNANSWERED, socketErrorText } from '../endpoint.ts';
import { DecompressedResponse } from './decompressed-response.ts';
import type { ResponseHead } from './response-head.ts';
import { type ResponseConsumer, ResponseReader } from './response-reader.ts';

/** The server to connect to. */
export interface Target {
  host: string;
  port: number;
  tls: boolean;
}

export interface ConnectionOwner {
  /** The connection is free for another exchange. Called before the consumer gets the last piece. */
  onFree(connection: Connection): void;
  /** The connection is closed. Called once. */
  onGone(connection: Connection): void;
}

/** Bytes per read from a socket. */
const READ_BYTES = 256 * 1024;

/** All plain sockets of a thread share one read buffer, because each read is processed before the next. */
const READ_BUFFER = Buffer.allocUnsafeSlow(READ_BYTES);

export class Connection implements Omit<ResponseConsumer, 'abort'> {
  /** End of the last exchange, by the owner's clock. */
  idleSince = 0;
  /** Requests sent so far. */
  requests = 0;
  private readonly owner: ConnectionOwner;
  private readonly socket: Socket;
  private readonly reader = new ResponseReader();
  private consumer: ResponseConsumer | null = null;
  private error: UpstreamError | null = null;
  private gone = false;
  /** The connection is plain and has received nothing so far. */
  private mayExpectTls: boolean;

  constructor(target: Target, owner: ConnectionOwner) {
    this.owner = owner;
    this.mayExpectTls = !target.tls;
    this.socket = this.open(target);
    this.socket.on('error', (error: NodeJS.ErrnoException) => {
      const message = socketErrorText(error, this.mayExpectTls);
      this.error ??= new UpstreamError('connection', message, undefined, { cause: error });
    });
    const cut = () => void this.socket.destroy();
    const onEnd = guarded('end of an answer of the node', () => this.onEnd(), cut);
    const onClose = guarded('end of a connection to the node', () => this.onClose());
    this.socket.on('end', onEnd).on('close', onClose);
  }

  /** Sends a whole request, given as Latin-1 text. The answer goes to the consumer. */
  send(request: string, consumer: ResponseConsumer): void {
    this.consumer = consumer;
    this.requests++;
    this.socket.write(request, 'latin1');
  }

  resume(): void {
    this.socket.resume();
  }

  /** Closes at once. The consumer is not called again. */
  destroy(): void {
    this.consumer = null;
    this.reportClosed();
    this.socket.destroy();
  }

  private open({ host, port, tls }: Target): Socket {
    if (tls) {
      const servername = isIP(host) ? '' : host;
      const socket = connectTls({ host, port, servername, ALPNProtocols: ['http/1.1'] });
      socket.setNoDelay(true);
      return socket.on('data', (piece: Buffer) => this.onData(piece));
    }
    const callback = (bytes: number): boolean => {
      this.onData(READ_BUFFER.subarray(0, bytes));
      return true;
    };
    return connect({ host, port, noDelay: true, onread: { buffer: READ_BUFFER, callback } });
  }

  /** Only the ResponseReader calls this, `write` and `end`. */
  begin(head: ResponseHead): void {
    if (head.coding !== null && this.consumer !== null)
      this.consumer = new DecompressedResponse(this.consumer, head.coding);
    this.consumer?.begin(head);
  }

  write(piece: Buffer): boolean {
    if (this.consumer === null || this.consumer.write(piece)) return true; // null: cancelled at an earlier piece
    this.socket.pause();
    return false;
  }

  end(last: Buffer): void {
    const { consumer } = this;
    if (consumer === null) return;
    this.consumer = null;
    if (this.reader.reusable) this.owner.onFree(this);
    else this.destroy();
    consumer.end(last);
  }

  private onData(piece: Buffer): void {
    this.mayExpectTls = false;
    if (this.consumer === null) return this.destroy(); // unexpected bytes
    try {
      this.reader.read(piece, this);
    } catch (error) {
      if (error instanceof UpstreamError) this.error = error;
      else reportFailure('answer of the node', error);
      this.socket.destroy();
    }
  }

  /** The node closed its side, so a pending request will never be answered. */
  private onEnd(): void {
    if (this.consumer !== null) this.reader.finish(this);
    this.socket.destroy();
  }

  private onClose(): void {
    this.reportClosed();
    const { consumer } = this;
    this.consumer = null;
    const closed = this.mayExpectTls
      ? CLOSED_UNANSWERED
      : 'the node closed the connection before it answered';
    consumer?.abort(this.error ?? new UpstreamError('connection', closed));
  }

  private reportClosed(): void {
    if (this.gone) return;
    this.gone = true;
    this.owner.onGone(this);
  }
}
