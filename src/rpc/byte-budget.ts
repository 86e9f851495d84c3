/** Memory for answers that have to be gathered whole before they can be passed on, shared by all clients. */
export class ByteBudget {
  private left: number;

  constructor(bytes: number) {
    this.left = bytes;
  }

  /** Takes so many bytes, or none and says no. */
  take(bytes: number): boolean {
    if (bytes > this.left) return false;
    this.left -= bytes;
    return true;
  }

  /** Gives back what was taken. */
  give(bytes: number): void {
    this.left += bytes;
  }
}
