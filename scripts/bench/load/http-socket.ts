/** A keep-alive HTTP/1.1 connection with one request in flight at a time. Lean, as a load generator must be. */
import { Socket } from 'node:net';

/** Called with each answer: its status, and its head as text. */
type OnAnswer = (status: number, head: string) => void;

const HEAD_END = Buffer.from('\r\n\r\n');

export class HttpSocket {
  private readonly socket = new Socket();
  private readonly onAnswer: OnAnswer;
  private readonly onLost: (error: Error) => void;
  private closed = false;
  /** Head of the current answer; null until complete. */
  private head: string | null = null;
  /** The received part of an incomplete head. */
  private partial: Buffer | null = null;
  /** Bytes of the body still to arrive. */
  private remainingBytes = 0;

  /** `onLost` is called once when the connection breaks or anything other than an answer arrives. */
  constructor(port: number, onAnswer: OnAnswer, onLost: (error: Error) => void) {
    this.onAnswer = onAnswer;
    this.onLost = onLost;
    this.socket.setNoDelay(true);
    this.socket.on('error', (error) => this.fail(error));
    this.socket.on('close', () => this.fail(new Error('the server closed the connection')));
    this.socket.on('data', (chunk) => this.receive(chunk));
    this.socket.connect(port, '127.0.0.1');
  }

  /** Sends a whole request as it goes over the wire (Latin-1). The previous answer must have arrived. */
  send(request: string): void {
    this.socket.write(request, 'latin1');
  }

  close(): void {
    this.closed = true;
    this.socket.destroy();
  }

  private receive(chunk: Buffer): void {
    if (this.head === null) this.receiveHead(chunk);
    else this.remainingBytes -= chunk.length;
    if (this.head === null || this.remainingBytes > 0) return;
    if (this.remainingBytes < 0) return this.fail(new Error('the server sent more than one answer'));
    const { head } = this;
    this.head = null;
    this.onAnswer(Number(head.slice(9, 12)), head);
  }

  private receiveHead(chunk: Buffer): void {
    const bytes = this.partial === null ? chunk : Buffer.concat([this.partial, chunk]);
    const end = bytes.indexOf(HEAD_END);
    this.partial = end < 0 ? bytes : null;
    if (end < 0) return;
    const head = bytes.toString('latin1', 0, end);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined) return this.fail(new Error(`an answer without a length: ${head.slice(0, 80)}`));
    this.head = head;
    this.remainingBytes = end + HEAD_END.length + Number(length) - bytes.length;
  }

  private fail(error: Error): void {
    if (this.closed) return;
    this.close();
    this.onLost(error);
  }
}
